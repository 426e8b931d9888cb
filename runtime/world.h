/* The door of runtime/: a world whose step takes no longer than its budget, and spends it where the eye is.
 *
 *   #include <saccade/runtime/world.h>
 *
 *   sac_world_def def = sac_default_world_def();
 *   sac_body_def ground = sac_default_body_def(), ball = ground;
 *   sac_step_def step = sac_default_step_def();         // 1/90 s, 2 ms
 *   sac_form plane, sphere;
 *   sac_world *world;
 *   sac_form_plane(&plane, (float[3]){0, 1, 0}, 0, NULL);
 *   sac_form_sphere(&sphere, 0.1f, NULL);
 *   sac_world_create(&def, &world, NULL);
 *   sac_world_add_shape(world, &plane, &ground.shape, NULL);
 *   sac_world_add_shape(world, &sphere, &ball.shape, NULL);
 *   ground.kind = SAC_BODY_STATIC, ball.position[1] = 2;
 *   sac_body_create(world, &ground, NULL, NULL);
 *   sac_body_create(world, &ball, NULL, NULL);
 *   for (int frame = 0; frame < 900; frame++) sac_world_step(world, &step, NULL, NULL);
 *
 * Ids are numbers, not pointers: 0 is nobody, and an id of something destroyed is recognised. A world belongs
 * to one thread at a time; several worlds may run on several threads. Lengths are metres, masses kilograms,
 * times seconds or _ns, angles radians.
 *
 * Index:
 *   world   sac_default_world_def  sac_world_create  sac_world_destroy  sac_world_set_gravity
 *           sac_world_set_policy  sac_world_counters  sac_world_hash  sac_world_energy
 *           sac_world_bodies
 *   shape   sac_world_add_shape  sac_world_remove_shape  sac_world_shape_form
 *   body    sac_default_body_def  sac_body_create  sac_body_destroy  sac_body_exists
 *           sac_body_get  sac_body_set_pose  sac_body_set_velocity  sac_body_set_kind
 *           sac_body_set_filter  sac_body_set_material  sac_body_set_motion  sac_body_move_to
 *           sac_body_push  sac_body_wake  sac_body_sleep
 *   soft    sac_body_soft  sac_body_soft_shape  sac_body_pin  sac_body_unpin
 *   grab    sac_default_grab_def  sac_grab_create  sac_grab_move  sac_grab_destroy  sac_grab_get
 *   step    sac_default_step_def  sac_world_step
 *   events  sac_world_contact_events  sac_world_move_events
 *   query   sac_world_ray  sac_world_overlap  sac_world_closest  sac_world_sweep
 *   look    sac_world_pairs  sac_world_contacts  sac_world_front
 *   record  record.h
 */
#ifndef SAC_RUNTIME_WORLD_H
#define SAC_RUNTIME_WORLD_H

#include "../base/tasks.h"
#include "../deform/deform.h"
#include "../response/response.h"
#include "../scheduler/scheduler.h"
#include "../spheretree/spheretree.h"

typedef struct sac_world sac_world;

typedef struct sac_body_id {
    uint64_t value; /* 0: nobody */
} sac_body_id;
typedef struct sac_shape_id {
    uint64_t value;
} sac_shape_id;
typedef struct sac_grab_id {
    uint64_t value;
} sac_grab_id;

/* ---- the world ---- */

/* One line, for people: what went wrong or cost time though no call failed. A recording that could not be
 * written, bodies that were about to be not finite, room for bodies or pairs that had to be made because too
 * little was asked for. Mostly inside a step; must be quick, must not call the world. */
typedef void sac_log_hook(const char *text, void *user);
/* How much a pair matters beyond what is seen of it: times its priority, 0 to 1000. Called for pairs under
 * way, inside the step; must be quick, must not call the world. */
typedef float sac_weight_hook(sac_body_id a, sac_body_id b, void *user);

typedef struct sac_world_def {
    float gravity[3]; /* default 0, -9.81, 0 */
    uint32_t
        bodies; /* room made at the start; default 1024. More can be created, at the price of allocation. */
    uint32_t pairs;     /* default 0: 28 for each body, which a dense heap of rings needs */
    sac_clock clock;    /* default: monotonic */
    const char *policy; /* default "jnd" */
    sac_agenda_def agenda;
    sac_solver_def solver;
    sac_perception_def perception;
    sac_gaze_def gaze;
    sac_tasks_def tasks; /* default: one thread */
    float margin;        /* contacts are looked for this far apart; default 0.01 m */
    float gap_bias;      /* see sac_manifold_correct; default 0.5 */
    bool single_impulse; /* the reference response: no friction, and overlap is not undone */
    bool chance;         /* the non-deterministic contact model */
    uint64_t seed;
    bool sleep;              /* default true */
    float sleep_speed;       /* slower than this for sleep_seconds: asleep; default 0.05 m/s */
    float sleep_seconds;     /* default 0.5 */
    float far;               /* bodies beyond this from the origin are held there; default 1e5 m */
    sac_log_hook *log;       /* may be NULL */
    sac_weight_hook *weight; /* may be NULL */
    void *user;              /* handed to the hooks */
    uint32_t cookie;
} sac_world_def;

sac_world_def sac_default_world_def(void);
sac_result sac_world_create(const sac_world_def *def, sac_world **out_world, sac_error *error);
void sac_world_destroy(sac_world **world);

/* The form is copied; the tree or terrain it points to must outlive the world. */
sac_result sac_world_add_shape(sac_world *world, const sac_form *form, sac_shape_id *out_shape,
                               sac_error *error);
/* ERROR_ARGUMENT while a body has it. */
sac_result sac_world_remove_shape(sac_world *world, sac_shape_id shape, sac_error *error);
/* NULL for an unknown id. */
const sac_form *sac_world_shape_form(const sac_world *world, sac_shape_id shape);
sac_result sac_world_set_gravity(sac_world *world, const float gravity[3], sac_error *error);
/* By name, see agenda.h. */
sac_result sac_world_set_policy(sac_world *world, const char *policy, sac_error *error);

/* ---- bodies ---- */

typedef enum sac_body_kind {
    SAC_BODY_STATIC,    /* never moves */
    SAC_BODY_KINEMATIC, /* moves as told, pushes, is not pushed */
    SAC_BODY_DYNAMIC
} sac_body_kind;

typedef struct sac_material {
    float friction;    /* 0 to 10; default 0.5. Two meet with the geometric mean. */
    float restitution; /* 0 to 1; default 0. Two meet with the larger. */
    float rolling;     /* lever of rolling resistance, metres; default 0. Two meet with the larger. */
} sac_material;

typedef struct sac_filter {
    uint32_t category; /* default 1 */
    uint32_t mask;     /* categories it meets; default all. Both sides must agree. */
    int32_t group;     /* same group: negative never meets, positive always; 0: category and mask decide */
} sac_filter;

typedef struct sac_body_def {
    sac_body_kind kind; /* default dynamic */
    sac_shape_id shape;
    float scale;       /* of the shape, uniform; default 1 */
    float position[3]; /* of the shape's origin */
    float rotation[4]; /* x, y, z, w; within one per cent of length 1 */
    float velocity[3]; /* of the centre of mass */
    float spin[3];     /* radians a second, world */
    float density;     /* default 1000; used when mass is 0 */
    float mass;        /* 0: from the shape and density */
    float inertia[6];  /* about the centre of mass, local: xx, yy, zz, xy, xz, yz; all 0: from the shape,
                          scaled to mass */
    float centre[3];   /* of mass, local unscaled; used when `centre_given` */
    bool centre_given;
    sac_material material;
    sac_filter filter;
    bool sensor;                           /* meets, tells, does not push */
    float gravity_scale;                   /* default 1 */
    float linear_damping, angular_damping; /* 1/s; default 0, 0.05 */
    float most_speed, most_spin; /* of a dynamic one, also when told more; default 100 m/s, 100 rad/s */
    bool asleep;                 /* starts asleep */
    bool never_sleeps;
    uint64_t user; /* the caller's */
    uint32_t cookie;
} sac_body_def;

sac_body_def sac_default_body_def(void);
/* ERROR_ARGUMENT names the field. out_body may be NULL. Nothing is changed on error. */
sac_result sac_body_create(sac_world *world, const sac_body_def *def, sac_body_id *out_body,
                           sac_error *error);
/* What it held on to or touched ends, with events at the next step. */
sac_result sac_body_destroy(sac_world *world, sac_body_id body, sac_error *error);
bool sac_body_exists(const sac_world *world, sac_body_id body);

#define SAC_BODY_ALONE 255u

typedef struct sac_body_state {
    sac_body_kind kind;
    sac_shape_id shape;
    sac_transform pose; /* of the shape */
    sac_transform
        shown;       /* what to draw: the pose, but for a body that has to wait for its turn in a crowd that
                        does not fit. Its step is drawn over as many frames as it waited for it, at most 30 */
    float centre[3]; /* of mass, world */
    float velocity[3], spin[3];
    float mass;
    bool awake, sensor, held;
    uint32_t staleness; /* frames since it was last simulated in full; between, its motion is extrapolated */
    float jnd;          /* the largest visible error left in its pairs */
    uint8_t group;      /* of its most visible pair; SAC_BODY_ALONE: it is in none */
    uint8_t
        level; /* the contacts of the most visible one that touches were read at; SAC_BODY_ALONE: none does */
    uint64_t user;
} sac_body_state;

sac_result sac_body_get(const sac_world *world, sac_body_id body, sac_body_state *out_state,
                        sac_error *error);
/* All below wake the body (and what it touches wakes with it); ERROR_ARGUMENT for stale ids and numbers that
 * are not finite or out of range, ERROR_MEMORY when there is none for its pairs; nothing is changed then. */
sac_result sac_body_set_pose(sac_world *world, sac_body_id body, const float position[3],
                             const float rotation[4], sac_error *error);
sac_result sac_body_set_velocity(sac_world *world, sac_body_id body, const float velocity[3],
                                 const float spin[3], sac_error *error);
/* A kinematic body is at this pose after the next step, and pushes on its way there. */
sac_result sac_body_move_to(sac_world *world, sac_body_id body, const float position[3],
                            const float rotation[4], sac_error *error);
/* An impulse (N s) at a world point; point NULL: at the centre of mass. */
sac_result sac_body_push(sac_world *world, sac_body_id body, const float impulse[3], const float *point,
                         sac_error *error);
sac_result sac_body_set_kind(sac_world *world, sac_body_id body, sac_body_kind kind, sac_error *error);
sac_result sac_body_set_filter(sac_world *world, sac_body_id body, const sac_filter *filter,
                               sac_error *error);
sac_result sac_body_set_material(sac_world *world, sac_body_id body, const sac_material *material,
                                 sac_error *error);
sac_result sac_body_set_motion(sac_world *world, sac_body_id body, float gravity_scale, float linear_damping,
                               float angular_damping, float most_speed, float most_spin, sac_error *error);
sac_result sac_body_wake(sac_world *world, sac_body_id body, sac_error *error);
/* With all it touches; wakes again when something moves it. */
sac_result sac_body_sleep(sac_world *world, sac_body_id body, sac_error *error);

/* ---- soft bodies ---- */

/* A body whose shape is soft (sac_form_from_soft) is made, pushed, grabbed and destroyed like any other; it
 * is always dynamic, its scale is 1, and its pose is that of its rest shape moved along. Its points as they
 * are now, and what was made of its shape; NULL for a rigid body. Valid until the body is destroyed. */
const sac_soft *sac_body_soft(const sac_world *world, sac_body_id body);
const sac_soft_shape *sac_body_soft_shape(const sac_world *world, sac_body_id body);
/* Holds one point at a place until it is let go: roots a plant, hangs a figure. Call again to move it. */
sac_result sac_body_pin(sac_world *world, sac_body_id body, uint32_t point, const float target[3],
                        sac_error *error);
sac_result sac_body_unpin(sac_world *world, sac_body_id body, uint32_t point, sac_error *error);

/* Bodies in the order of their slots: ids of up to `capacity` to out_bodies (may be NULL); returns how many
 * there are. */
uint32_t sac_world_bodies(const sac_world *world, sac_body_id *out_bodies, uint32_t capacity);

/* ---- grabbing ---- */

typedef struct sac_grab_def {
    sac_body_id body;
    float anchor[3];     /* on the body, world */
    float target[3];     /* of the hand, world; where the anchor is drawn to */
    float rotation[4];   /* of the hand; the body keeps its rotation relative to it */
    float hertz;         /* default 12 */
    float damping;       /* ratio; default 1 */
    float most_force;    /* N; default 500 */
    float most_torque;   /* N m; default 50 */
    float most_distance; /* the hold breaks when the anchor is farther from the target; default 0.5 m */
    uint32_t cookie;
} sac_grab_def;
sac_grab_def sac_default_grab_def(void);
/* ERROR_LIMIT when 64 are held already. */
sac_result sac_grab_create(sac_world *world, const sac_grab_def *def, sac_grab_id *out_grab,
                           sac_error *error);
/* Where the hand is now. */
sac_result sac_grab_move(sac_world *world, sac_grab_id grab, const float target[3], const float rotation[4],
                         sac_error *error);
sac_result sac_grab_destroy(sac_world *world, sac_grab_id grab, sac_error *error);
typedef struct sac_grab_state {
    sac_body_id body;
    float distance; /* anchor to target */
    float force;    /* N, mean of the last step */
} sac_grab_state;
/* ERROR_ARGUMENT once it broke or its body is gone or no longer dynamic. */
sac_result sac_grab_get(const sac_world *world, sac_grab_id grab, sac_grab_state *out_state,
                        sac_error *error);

/* ---- the step ---- */

typedef struct sac_step_def {
    float dt;                 /* seconds, 0.001 to 0.1; default 1/90 */
    uint32_t substeps;        /* 1 to 16; default 4 */
    uint64_t budget_ns;       /* for the whole step; 0: no limit; default 2,000,000 */
    uint64_t deadline_ns;     /* on the world's clock; 0: from the budget. The earlier of the two counts. */
    const sac_viewer *viewer; /* NULL: nobody looks */
    uint64_t viewer_now_ns;   /* now, on the clock of the gaze samples; 0: the world's own time */
    uint32_t cookie;
} sac_step_def;
sac_step_def sac_default_step_def(void);

/* Rungs of the ladder, taken in this order when time is short; each counts how often. */
typedef enum sac_rung {
    SAC_RUNG_LEVELS,     /* pairs whose descent was cut before 1 JND */
    SAC_RUNG_CONTACTS,   /* pairs with fewer contacts than they have */
    SAC_RUNG_ITERATIONS, /* sub-steps saved, times bodies */
    SAC_RUNG_BODIES,     /* bodies whose turn did not come: they lie still, fly or glide on, or are held */
    SAC_RUNG_HELD, /* of those, bodies in mid-motion that stood still, since something may be in their way */
    SAC_RUNG_BOUNDS, /* bodies whose bounds could not be renewed; they wait */
    SAC_RUNG_SHAPES, /* soft bodies that were moved on without finding their shape anew */
    SAC_RUNGS
} sac_rung;

typedef enum sac_stage {
    SAC_STAGE_PREPARE, /* gaze, choice of bodies, prediction */
    SAC_STAGE_BROAD,
    SAC_STAGE_PERCEIVE, /* pairs into the agenda, perception, groups */
    SAC_STAGE_DESCEND,
    SAC_STAGE_CONTACTS,
    SAC_STAGE_SOLVE,
    SAC_STAGE_SWEEP,  /* fast bodies */
    SAC_STAGE_FINISH, /* poses, sleep, events */
    SAC_STAGES
} sac_stage;

/* What a step did and did not do. Plain memory, filled every step. */
typedef struct sac_step_report {
    uint64_t frame;
    uint64_t start_ns, budget_ns, spent_ns,
        returned_ns;      /* on the world's clock; returned: left of the budget */
    int64_t overshoot_ns; /* past the deadline, also one that had passed before; negative: in time; 0: none */
    uint64_t stage_ns[SAC_STAGES];
    uint64_t reserved_ns;   /* kept for response, by prediction */
    uint64_t response_ns;   /* what it took */
    float prediction_error; /* (response - predicted mean) / response */
    uint64_t credits;       /* work in all */
    sac_agenda_report descent;
    uint32_t pairs;         /* boxes that overlap */
    uint32_t pairs_active;  /* looked at this frame */
    uint32_t pairs_skipped; /* cannot meet yet */
    uint32_t pairs_begun, pairs_ended;
    uint32_t manifolds, contacts; /* solved this frame */
    uint32_t bodies, awake, simulated, fast;
    uint32_t islands; /* of awake bodies, when they were last told apart: a sweep of some frames */
    uint32_t colours, substeps;
    uint64_t rungs[SAC_RUNGS];
    uint32_t soft_contacts, soft_rounds; /* of soft bodies, and how often they were gone through */
    uint64_t soft_points;                /* of the soft bodies simulated */
    uint64_t refits;      /* spheres of soft bodies refitted because a descent looked at them */
    uint32_t flips;       /* pairs whose contacts changed level since the frame before */
    uint32_t allocations; /* made in this step: 0 after warm-up */
    uint32_t not_finite;  /* bodies that were about to be not finite, put back where they were */
    sac_gaze_state gaze;
} sac_step_report;

/* ERROR_ARGUMENT: dt, sub-steps or viewer out of range, nothing is changed. A deadline already passed is no
 * error: the step does the least it can, and says so. */
sac_result sac_world_step(sac_world *world, const sac_step_def *def, sac_step_report *out_report,
                          sac_error *error);

typedef struct sac_counters {
    uint32_t bodies, awake, shapes, grabs, pairs, manifolds;
    uint64_t frame;
    double time;  /* simulated seconds */
    size_t bytes; /* held by the world */
} sac_counters;
void sac_world_counters(const sac_world *world, sac_counters *out_counters);
/* Of all that decides how the world goes on: poses, velocities, contacts, sleep. The same on every machine.
 */
uint64_t sac_world_hash(const sac_world *world);
/* Kinetic and potential energy of all dynamic bodies, J. */
double sac_world_energy(const sac_world *world);

/* ---- events of the last step ---- */

typedef enum sac_contact_event_kind {
    SAC_CONTACT_BEGIN,
    SAC_CONTACT_END,
    SAC_CONTACT_HIT
} sac_contact_event_kind;
typedef struct sac_contact_event {
    sac_contact_event_kind kind;
    sac_body_id a, b;
    uint64_t user_a, user_b;
    bool sensor;
    float point[3], normal[3]; /* a to b; begin and hit */
    float impulse;             /* N s of the whole step; hit */
    float speed;               /* at which they met; begin and hit */
} sac_contact_event;
/* In the order they happened; an end comes with the step that parts the two, of what is done between steps
 * with the next. Valid until the next call that changes the world. */
uint32_t sac_world_contact_events(const sac_world *world, const sac_contact_event **out_events);

typedef struct sac_move_event {
    sac_body_id body;
    uint64_t user;
    sac_transform pose, shown; /* as in its state */
    bool fell_asleep;
} sac_move_event;
/* One for each body that moved, is drawn elsewhere than before, or fell asleep. */
uint32_t sac_world_move_events(const sac_world *world, const sac_move_event **out_events);

/* ---- queries, between steps ---- */

typedef struct sac_world_hit {
    sac_body_id body; /* 0: none */
    float t, point[3], normal[3], uncertainty;
} sac_world_hit;
/* The first body along origin + t * direction, t in [0, most]. `mask`: categories to look at. */
sac_result sac_world_ray(const sac_world *world, const float origin[3], const float direction[3], float most,
                         uint32_t mask, sac_world_hit *out_hit, sac_error *error);
/* Bodies that overlap a sphere; the first `capacity` of them, in the order of their slots; *out_count is
 * their number in all. */
sac_result sac_world_overlap(const sac_world *world, const float centre[3], float radius, uint32_t mask,
                             sac_body_id *out_bodies, uint32_t capacity, uint32_t *out_count,
                             sac_error *error);
/* The body nearest to a point, no farther than `most`; out_hit->t is the distance, negative inside: a sphere
 * about the point overlaps it from that radius on. */
sac_result sac_world_closest(const sac_world *world, const float point[3], float most, uint32_t mask,
                             sac_world_hit *out_hit, sac_error *error);

#define SAC_KIND_BIT(kind) (1u << (kind))
/* How far a ball can go from `centre` by `motion` before it touches a body of these kinds (bits, see
 * SAC_KIND_BIT; sensors do not count): out_hit->t is the share of the way, 1 and no body when all of it is
 * free. It stops within a hundredth of its radius of the surface. Starting at or inside one, it may leave and
 * slide, not go deeper. */
sac_result sac_world_sweep(const sac_world *world, const float centre[3], float radius, const float motion[3],
                           uint32_t mask, uint32_t kinds, sac_world_hit *out_hit, sac_error *error);

/* ---- looking inside ---- */

/* A pair as it stands after the last step, for views, measurements and experiments. */
typedef struct sac_pair_view {
    sac_body_id a, b;
    uint32_t number; /* stable while the pair lasts */
    bool touching, active, sensor;
    uint8_t level, levels; /* contacts were read at, of so many */
    uint8_t group;
    float uncertainty; /* world units */
    float jnd, priority;
    float region[3];
    float depth; /* of the deepest contact as the solver was told; negative: apart; -FLT_MAX: none */
    uint32_t contacts;
} sac_pair_view;
/* The first `capacity` to out_pairs; returns how many there are. */
uint32_t sac_world_pairs(const sac_world *world, sac_pair_view *out_pairs, uint32_t capacity);

typedef struct sac_contact_view {
    sac_body_id a, b;
    float point[3], normal[3], depth, uncertainty, impulse;
    uint32_t node_a, node_b;
} sac_contact_view;
uint32_t sac_world_contacts(const sac_world *world, sac_contact_view *out_contacts, uint32_t capacity);

/* A sphere of a front: what a pair's descent has reached, or its contacts were read at. */
typedef struct sac_front_view {
    sac_body_id body;
    uint32_t pair; /* number of */
    uint32_t node; /* of the body's tree; 0 for a ball */
    float centre[3], radius;
    sac_box box;           /* of a piece of meshless surface: what its sphere is about; else low > high */
    uint8_t level, levels; /* of the node, of the tree */
} sac_front_view;
/* The first `capacity` to out_spheres; returns how many there are. The same node is named once for each pair
 * and reason it stands in. Boxes, capsules, planes and terrain have none. */
uint32_t sac_world_front(const sac_world *world, sac_front_view *out_spheres, uint32_t capacity);

#include "record.h"

#endif
