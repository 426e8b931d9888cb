/* What a run looks at every 45 frames: who is lost, the energy, and how far bodies overlap. Overlaps are
 * measured after the run, from poses put aside: measuring them between two timed steps leaves the caches cold
 * and the next step late.
 *
 *   sac_run_looks looks = {0};
 *   sac_run_looks_init(&looks, &staging, frames, SAC_POSE_LOG_BYTES, &error);
 *   sac_run_looks_take(&looks, &staging, world, &run, &error);       // between two frames
 *   sac_run_looks_measure(&looks, &run, true, &error);                     // when no clock runs any more
 *   sac_run_looks_fini(&looks);
 *
 * Index: sac_run_looks_init  sac_run_looks_due  sac_run_looks_take  sac_run_looks_measure  sac_run_looks_fini
 */
#ifndef SAC_APPS_RUN_LOOKS_H
#define SAC_APPS_RUN_LOOKS_H

#include "apps/run.h"
#include "bench/pose_log.h"

typedef struct sac_run_looks {
    bool overlaps;                 /* some body that moves is made of rigid spheres */
    sac_penetration_shape *shapes; /* of each prop; without spheres: it is not measured */
    uint32_t shape_count;
    float side; /* of the glass box */
    sac_pose_log log;
    sac_penetration_wear *wear; /* beside each pose of the log */
    sac_array(sac_body_id) ids;
    sac_penetration_room room;
    sac_array(double) depths;
} sac_run_looks;

/* For a run of so many frames; the staging must be open. */
sac_result sac_run_looks_init(sac_run_looks *looks, const sac_staging *staging, uint64_t frames,
                              size_t log_bytes, sac_error *error);
bool sac_run_looks_due(uint64_t frame, uint64_t frames);
/* Census and energy into the run, poses into the log. Measures in mid-run only when the log is full, and
 * counts that in `run->drains`. */
sac_result sac_run_looks_take(sac_run_looks *looks, const sac_staging *staging, const sac_world *world,
                              sac_run *run, sac_error *error);
/* The overlaps of all looks into the run; with a bar, and ERROR_CANCELLED after Ctrl-C, when it is shown. */
sac_result sac_run_looks_measure(sac_run_looks *looks, sac_run *run, bool show, sac_error *error);
void sac_run_looks_fini(sac_run_looks *looks);

#endif
