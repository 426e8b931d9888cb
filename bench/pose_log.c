#include "bench/pose_log.h"

bool sac_pose_log_init(sac_pose_log *log, uint32_t bodies, uint64_t looks, size_t most_bytes)
{
    size_t fits = most_bytes / ((bodies ? bodies : 1) * sizeof *log->poses);
    *log = (sac_pose_log){.bodies = bodies};
    log->room = looks < fits ? (size_t)looks : fits;
    if (!log->room) log->room = 1;
    log->poses = sac_alloc_zero(log->room * bodies, sizeof *log->poses);
    log->looks = sac_alloc_zero(log->room, sizeof *log->looks);
    return log->poses && log->looks;
}

sac_peer_pose *sac_pose_log_next(sac_pose_log *log)
{
    return log->count < log->room ? log->poses + log->count * log->bodies : NULL;
}

void sac_pose_log_keep(sac_pose_log *log, uint32_t count, uint32_t who)
{
    log->looks[log->count++] = (sac_pose_look){count, who};
}

const sac_peer_pose *sac_pose_log_at(const sac_pose_log *log, size_t look)
{
    return log->poses + look * log->bodies;
}

void sac_pose_log_clear(sac_pose_log *log) { log->count = 0; }

void sac_pose_log_fini(sac_pose_log *log)
{
    sac_free(log->poses, log->room * log->bodies, sizeof *log->poses);
    sac_free(log->looks, log->room, sizeof *log->looks);
    *log = (sac_pose_log){0};
}
