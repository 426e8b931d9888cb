/* An engine running one of the shared scenes: ours and the others behind one small interface, so that all are
 * stepped, timed and looked at by the same code.
 *
 *   const sac_peer_engine *engine = sac_peer_engine_named("bullet");
 *   sac_peer *peer;
 *   engine->create(&scene, NULL, &peer, &error);
 *   engine->step(peer, 1.0f / 90.0f);
 *   engine->read(peer, poses);
 *   engine->destroy(peer);
 *
 * Index: sac_peer_engine_at  sac_peer_engine_named  sac_peer_missing
 */
#ifndef SAC_BENCH_PEER_H
#define SAC_BENCH_PEER_H

#include <stdint.h>

#include "apps/shared_scene.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sac_peer sac_peer;

typedef struct sac_peer_pose {
    float position[3], rotation[4]; /* x, y, z, w */
} sac_peer_pose;

/* Of our own engine; the others have no such thing and leave it unread. */
typedef struct sac_peer_def {
    const char *policy; /* NULL: exhaustive */
    uint64_t budget_ns; /* 0: no limit */
} sac_peer_def;

typedef struct sac_peer_engine {
    const char *name, *version;
    bool budgeted; /* knows policies and budgets */
    sac_result (*create)(const sac_shared_scene *scene, const sac_peer_def *def, sac_peer **out_peer,
                         sac_error *error);
    void (*step)(sac_peer *peer, float dt);
    /* One pose for each body of the scene. */
    void (*read)(sac_peer *peer, sac_peer_pose *out_poses);
    void (*throw_body)(sac_peer *peer, uint32_t body, const float velocity[3]);
    void (*destroy)(sac_peer *peer); /* NULL is fine */
    /* Share of all bodies that stood still in mid-motion in the last step, for want of time; NULL: nobody
     * ever does. */
    float (*waiting)(const sac_peer *peer);
} sac_peer_engine;

/* Where the viewer of a scene stands and looks: at eye height before the heap, or outside the burst, at the
 * middle of what happens. The direction is unit. */
void sac_peer_viewpoint(const sac_shared_scene *scene, float out_eye[3], float out_direction[3]);

extern const sac_peer_engine sac_peer_saccade, sac_peer_bullet, sac_peer_ode;

/* The engines of this build, ours first; NULL past the last. */
const sac_peer_engine *sac_peer_engine_at(uint32_t index);
/* NULL for a name that is not in this build. */
const sac_peer_engine *sac_peer_engine_named(const char *name);
/* What to say about engines that are not in this build; NULL when all are. */
const char *sac_peer_missing(void);

#ifdef __cplusplus
}
#endif

#endif
