/* Recording and replay: everything that was done to a world, and where each of its frames was interrupted. A
 * replay does it again and compares the state after every frame, bit for bit, whatever the threads and the
 * SIMD path.
 *
 *   sac_record_start(world, "run.sacrec", NULL);         // before anything is created in the world
 *   ...
 *   sac_record_stop(world, NULL);
 *
 *   sac_replay *replay;
 *   sac_replay_open("run.sacrec", 1, &replay, &error);
 *   while (sac_replay_step(replay, &frame, &error) == SAC_OK && !frame.end) draw(sac_replay_world(replay));
 *   sac_replay_close(&replay);
 *
 * What a step took is recorded beside it, and a replayed step is timed: the same work again, so that a frame
 * that was late then and is not now was not late by its own doing (saccade replay --time).
 *
 * What the caller's weight hook says is recorded too; his clock, log and task system are not needed again. A
 * step that is recorded takes as long as ever, and then the time of the record itself, most of it the hash of
 * the state: it comes after the report and is not in it; sac_record_cost tells how much.
 *
 * The file is append-only and made of chunks with a checksum each; see docs/files.md. What is lost by a crash
 * is the last chunk: what has not been written for at most 30 frames or 64 KB. Trees and terrains are stored
 * inside, so that a recording needs nothing else.
 *
 * Index: sac_record_start  sac_record_stop  sac_record_status  sac_record_cost  sac_replay_open
 *        sac_replay_step  sac_replay_world  sac_replay_progress  sac_replay_close
 */
#ifndef SAC_RUNTIME_RECORD_H
#define SAC_RUNTIME_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"

struct sac_world;
struct sac_world_def;

/* Right after sac_world_create: ERROR_ARGUMENT when the world already has shapes or bodies or is being
 * recorded. ERROR_LIMIT for a world with room for more than 262,144 bodies. The file is made anew. */
sac_result sac_record_start(struct sac_world *world, const char *path, sac_error *error);
/* Writes what is left and closes the file. ERROR_IO when anything could not be written, also earlier.
 * sac_world_destroy does it too. */
sac_result sac_record_stop(struct sac_world *world, sac_error *error);
/* SAC_OK, or what went wrong while writing; the world goes on without the recording. */
sac_result sac_record_status(const struct sac_world *world, sac_error *error);

/* What recording the last step took behind its report, wall time and CPU time of the thread that called; both
 * 0 when it was not recorded. */
void sac_record_cost(const struct sac_world *world, uint64_t *out_wall_ns, uint64_t *out_cpu_ns);

typedef struct sac_replay sac_replay;
typedef struct sac_replay_frame {
    uint64_t frame; /* 1 is the first */
    uint64_t hash, recorded_hash;
    bool same; /* both hashes, and the step decided as often as it did then */
    bool end;  /* no further frame */
    /* CPU time of the step on the thread that called, now and when it was recorded. */
    uint64_t cpu_ns, recorded_cpu_ns;
    /* 0: no limit, one that had passed before the step, or one in work credits. */
    uint64_t recorded_budget_ns;
    uint32_t recorded_threads; /* of the world then; 0: the file is of before steps were timed */
} sac_replay_frame;

/* `threads` for the replaying world; 0: one. ERROR_FORMAT, ERROR_VERSION, ERROR_CORRUPT name file and byte.
 */
sac_result sac_replay_open(const char *path, uint32_t threads, sac_replay **out_replay, sac_error *error);
/* The next frame. ERROR_CORRUPT where the file is damaged: all frames before have been replayed. */
sac_result sac_replay_step(sac_replay *replay, sac_replay_frame *out_frame, sac_error *error);
/* To look at; changing it changes what follows. */
struct sac_world *sac_replay_world(sac_replay *replay);
/* Part of the file that has been replayed, 0 to 1. */
double sac_replay_progress(const sac_replay *replay);
void sac_replay_close(sac_replay **replay);

#endif
