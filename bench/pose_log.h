/* Poses put aside while a clock runs, to be measured when it has stopped: measuring overlaps walks through
 * more memory than the caches hold, and the next timed step would pay for it.
 *
 *   sac_pose_log log = {0};
 *   sac_pose_log_init(&log, bodies, looks, SAC_POSE_LOG_BYTES);
 *   sac_peer_pose *poses = sac_pose_log_next(&log);          // NULL: full, measure what is there and clear
 *   sac_pose_log_keep(&log, count, who);
 *   for (size_t i = 0; i < log.count; i++) measure(sac_pose_log_at(&log, i), log.looks[i].count);
 *   sac_pose_log_fini(&log);
 *
 * Index: sac_pose_log_init  sac_pose_log_next  sac_pose_log_keep  sac_pose_log_at  sac_pose_log_clear
 *        sac_pose_log_fini
 */
#ifndef SAC_BENCH_POSE_LOG_H
#define SAC_BENCH_POSE_LOG_H

#include "base/memory.h"
#include "bench/peer.h"

/* 900 frames of 5,000 bodies, looked at every 45, are 3 MB. */
#define SAC_POSE_LOG_BYTES ((size_t)64 << 20)

typedef struct sac_pose_look {
    uint32_t count; /* poses */
    uint32_t who;   /* whatever the caller says */
} sac_pose_look;

typedef struct sac_pose_log {
    sac_peer_pose *poses;
    sac_pose_look *looks;
    size_t count, room; /* looks */
    uint32_t bodies;    /* most in a look */
} sac_pose_log;

/* Room for `looks` of `bodies` poses each, no more than fits into `most_bytes`, at least one; touched now,
 * not while the clock runs. False when out of memory. */
bool sac_pose_log_init(sac_pose_log *log, uint32_t bodies, uint64_t looks, size_t most_bytes);
/* Where the next look goes; NULL when the log is full. */
sac_peer_pose *sac_pose_log_next(sac_pose_log *log);
/* What was written there counts. */
void sac_pose_log_keep(sac_pose_log *log, uint32_t count, uint32_t who);
const sac_peer_pose *sac_pose_log_at(const sac_pose_log *log, size_t look);
/* Forgets the looks, keeps the room. */
void sac_pose_log_clear(sac_pose_log *log);
void sac_pose_log_fini(sac_pose_log *log);

#endif
