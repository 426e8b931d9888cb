/* The world behind its door. Bodies live in slots, arrays side by side, one idea an array; what a stage reads
 * in its loop lies together. Private to runtime/. */
#ifndef SAC_RUNTIME_WORLD_INTERNAL_H
#define SAC_RUNTIME_WORLD_INTERNAL_H

#include "runtime/broad_internal.h"
#include "runtime/tape_internal.h"
#include "runtime/world.h"

enum { SAC_COOKIE_WORLD = 0x5ac0a001, SAC_COOKIE_BODY, SAC_COOKIE_STEP, SAC_COOKIE_GRAB };

enum sac_body_flags {
    SAC_BODY_USED = 1,
    SAC_BODY_AWAKE = 2,
    SAC_BODY_SENSOR = 4,
    SAC_BODY_NEVER_SLEEPS = 8,
    SAC_BODY_CHOSEN = 16,   /* simulated this frame */
    SAC_BODY_TOLD = 32,     /* kinematic with a target for this step */
    SAC_BODY_HELD = 64,     /* by a grab */
    SAC_BODY_STOPPED = 128, /* not simulated and kept where it is */
    SAC_BODY_MOVED = 256,   /* this frame */
    SAC_BODY_SLEPT = 512,   /* fell asleep this frame */
    SAC_BODY_NEAR_HAND = 1024,
    SAC_BODY_STRUCK = 2048, /* in the way of a kinematic body this frame */
    SAC_BODY_SOFT = 4096,
    SAC_BODY_YIELDS = 8192,  /* dynamic, where the frame's loops see it at once */
    SAC_BODY_PLAIN = 16384,  /* falls as most do: two of these that touch nothing fall together */
    SAC_BODY_PASSES = 32768, /* may come through something thin this frame */
    SAC_BODY_BORNE = 65536   /* by what it touches: it does not fall while it goes on by itself */
};

enum { SAC_WORLD_MOST_STRUCK = 64 };
#define SAC_BODY_SIGHT 0.01f /* metres */

/* One that wants a turn, as the frame's choice knows it: choose.c. */
typedef struct sac_waiter {
    uint32_t slot, rank, waited; /* frames */
    float quiet_price;           /* ns: of all but its pairs under way */
    float busy_pairs;            /* and these */
    float at[2];                 /* across the way things fall */
} sac_waiter;

/* What the frame's loops read of a body: the first cache line, and what the solver tells in the second. */
typedef struct sac_body_hot {
    _Alignas(SAC_CACHE_LINE) float centre[3]; /* of mass, world */
    float radius;                             /* about the centre, holds all of it */
    float v[3];
    float reach; /* how far any point of it may move this frame; 0 for those that are not simulated */
    float w[3];
    float thickness;           /* world units: moving less passes through nothing */
    _Alignas(8) double travel; /* how far any point of it may have moved, ever: drift of pairs is a difference
                                  of these */
    uint32_t jolt;             /* last frame its velocity changed faster than its acceleration bound */
    uint32_t halt; /* last frame in which it was to begin to move otherwise than its velocity says */
    float inverse_mass;
    float moved[3], turned[3]; /* this step, by the solver */
    float slack;               /* how far it may move, any way, before its placed box may not hold it */
    float share;               /* fast ones: part of this step they can move */
} sac_body_hot;

typedef struct sac_body_cold {
    uint32_t shape;
    sac_body_kind kind;
    float local_centre[3];    /* scaled, in the shape's axes */
    float inverse_inertia[6]; /* local */
    float mass;
    sac_material material;
    sac_filter filter;
    float gravity_scale, linear_damping, angular_damping, most_speed, most_spin;
    float target_position[3], target_rotation[4]; /* kinematic: where to be after the step */
    uint64_t user;
    uint32_t soft; /* of the world's soft bodies; used with SAC_BODY_SOFT */
} sac_body_cold;

/* How far a body is drawn behind where it is: shown.c. */
typedef struct sac_body_lag {
    float way[3], turn[3];  /* from where it was after its turn to where it was drawn before it */
    uint32_t since, frames; /* the frame of that turn; over so many it is made up for */
} sac_body_lag;

/* What a soft body has besides its slot. There `w` is as large as its fastest point moves about the centre,
 * so that whoever bounds its motion need not know. */
typedef struct sac_soft_slot {
    sac_soft *soft;
    sac_soft_cover *cover;
    const sac_soft_shape *shape;
    /* Where a finer surface is met: it follows the points. */
    sac_meshless *surface;
    sac_meshless_cover *skin;
    sac_form form; /* as it is now, in world space */
    uint32_t body; /* slot; UINT32_MAX: nobody's */
    uint32_t points;
    uint32_t skipped; /* steps since it last found its shape */
    float mass_scale; /* kg for each kg of the model */
    float thickness;
} sac_soft_slot;

/* What decides whether a pair is looked at: two to a cache line, because most are not. */
typedef struct sac_pair_watch {
    double travel;       /* of both bodies when it was last read */
    float margin;        /* and how far apart things counted */
    uint32_t skip_until; /* frame before which they cannot meet */
    uint32_t skip_set;   /* frame in which that was found */
    uint32_t seen;       /* last frame it was considered */
    bool apart;          /* when it was last read */
    bool touching;       /* as events told */
    bool together;       /* that they cannot meet holds while both go on as their velocities say */
} sac_pair_watch;

/* What else the world remembers of a pair besides its manifold: one cache line. */
typedef struct sac_pair_memory {
    float uncertainty; /* it was read with */
    uint32_t refined;  /* last frame it was read from a front */
    float jnd, priority;
    float region[3];
    float depth;   /* deepest, as the solver was told; -FLT_MAX: none */
    float impulse; /* of the last step, all points */
    uint8_t level, levels, group;
    bool known : 1; /* read at least once */
    bool sensor : 1;
    bool inside : 1;              /* far into each other when first read: somebody put them there */
    float point_a[3], point_b[3]; /* deepest when it was read, local to both bodies */
} sac_pair_memory;
_Static_assert(sizeof(sac_pair_memory) == SAC_CACHE_LINE, "a pair's memory is one cache line");

typedef struct sac_shape_slot {
    sac_form form;
    uint32_t generation;
    uint32_t users;
    bool used;
} sac_shape_slot;

typedef struct sac_grab_slot {
    sac_grab_def def;
    uint32_t body; /* slot */
    uint32_t generation;
    bool used, moved;
    float local_anchor[3]; /* from the centre of mass, body axes; soft: from that of the points held */
    uint32_t node;         /* soft: whose points are held */
    float relative[4];     /* hand's rotation to body's */
    float last_target[3], last_rotation[4];
    float impulse[3], angular_impulse[3];
    float force, distance;
} sac_grab_slot;

/* The slow sweep that finds islands at rest, a bounded piece each frame. */
typedef enum sac_sweep_phase {
    SAC_SWEEP_RESET,
    SAC_SWEEP_UNITE,
    SAC_SWEEP_JUDGE,
    SAC_SWEEP_SLEEP
} sac_sweep_phase;
typedef struct sac_rest_sweep {
    sac_sweep_phase phase;
    uint32_t at;
    bool any; /* some body is slow enough to make the sweep worth it */
} sac_rest_sweep;

/* Costs learned online, in ns. */
/* Node tests of a pair's first look: its roots and one level. */
enum { SAC_LOOK_TESTS = 45 };

typedef struct sac_costs {
    sac_predictor agenda;   /* a: pairs looked at, b: bodies simulated */
    sac_predictor descend;  /* a: agenda entries, b: node tests */
    sac_predictor contacts; /* a: agenda entries, b: contacts */
    sac_predictor solve;    /* a: manifolds * sub-steps, b: manifolds */
    sac_predictor finish;   /* a: awake bodies and soft points that fly, b: simulated ones */
    sac_predictor place;    /* a: boxes placed */
    sac_predictor deform;   /* a: points pulled, b: points moved */
    sac_predictor touch;    /* a: node pairs of soft fronts, b: pairs of bodies */
    sac_predictor soften;   /* a: contacts of soft bodies, b: those times rounds */
    double pairs_per_body, manifolds_per_pair, points_per_manifold, places_per_body;
    double deform_pull_ns; /* of this step */
    /* Of soft bodies, for each of their points: contacts, and node pairs they are made of. */
    double touches_per_point, fronts_per_point;
    double unseen_ns;         /* of boxes of those that fly on by themselves */
    double sweep_ns_per_body; /* of fast bodies, over all simulated ones */
    double read_ns;           /* a pair of a front, beyond those of a usual one */
    double early_ns;          /* before the deadline: when to be done */
    uint32_t whole;           /* so many bodies were simulated last time, if these were all there are */
    double whole_ns;          /* and took so long */
    double throttle;          /* 0 to 1: share of what prediction would allow, from misses and leftovers */
    double lift;              /* the same of the time for boxes, which decides how many fly on */
} sac_costs;

struct sac_world {
    sac_world_def def;
    sac_clock clock;
    char policy_name[32];
    const sac_policy *policy;
    bool exhaustive;

    /* bodies */
    uint32_t slot_count, slot_room, body_count, first_free;
    uint32_t *generation; /* of each slot; odd while in use */
    uint32_t *next_free;
    uint32_t *flags;
    sac_transform *pose; /* of the shape */
    sac_body_hot *hot;
    sac_body_cold *cold;
    float *rest_seconds;   /* slow for so long */
    uint32_t *simulated;   /* frame it was last simulated in */
    uint32_t *served;      /* the same, later by so many frames as it has gone on by itself since */
    uint32_t *clear_until; /* frame up to which it meets nobody, whatever the others do */
    uint32_t *box_until;   /* frame before which its box holds it, if it flies by itself all the way */
    float *turn;           /* of those chosen: how fast turning moves the farthest point of it */
    sac_body_lag *lag;
    uint32_t *lags_until;   /* frame from which it is drawn where it is */
    uint8_t *steady;        /* of those that had a turn: frames it would go on alike after it */
    uint32_t *gathered;     /* frame in which its pairs were last looked at */
    uint16_t *touches;      /* manifolds with contacts */
    uint16_t *listed;       /* pairs it had when last simulated */
    uint16_t *active;       /* of those, in the agenda */
    uint32_t *island_next;  /* ring of bodies that sleep together */
    uint32_t *root;         /* union-find of the sweep */
    float *island_rest;     /* least rest_seconds of the island, at its root */
    uint32_t *set_root;     /* union-find of this frame's response */
    float *set_rank;        /* what is most visible of the island, at its root */
    uint32_t *solver_index; /* of this set */
    uint32_t *solver_stamp;
    uint32_t *extra; /* bodies of this set that fly on by themselves and feel what hits them */
    uint32_t extra_count;
    uint32_t *sweep_round; /* of fast ones: in which they look again */
    bool *sweep_stopped;   /* in the round before */
    float *may_lift;       /* out of others in this step, whoever pays: J/kg; of those balanced */
    float *seen_jnd;       /* largest visible error of its pairs */
    uint8_t *seen_group, *seen_level;
    uint32_t *awake; /* slots of awake bodies that can move, dense */
    uint32_t *awake_at;
    uint32_t awake_count;
    uint32_t *chosen; /* simulated this frame */
    uint32_t chosen_count;
    float *urgency; /* how well it is seen: JNDs of SAC_BODY_SIGHT, weighed; as old as the last short frame */
    sac_waiter *waiters;
    uint32_t waiter_count;
    /* How many bodies are between it and what does not yield, by contacts that bear; SAC_NO_GROUND: none
     * known, or too many to be true. As it was after its last turn, and as it is being found. */
    uint8_t *ground, *ground_next;

    sac_shape_slot *shapes;
    uint32_t shape_count, shape_room;
    sac_grab_slot *grabs;
    uint32_t grab_count, grab_room, grabs_used;

    /* soft bodies */
    sac_soft_slot **softs;
    uint32_t soft_count, soft_room;
    struct sac_softening *softening; /* soften.c: contacts of this frame; NULL until there is a soft body */
    uint64_t soft_points;            /* of those that were chosen */

    /* pairs */
    sac_broad *broad;
    sac_pair_watch *watch;
    sac_pair_memory *memory;
    sac_manifold *manifolds;
    uint32_t memory_room;
    sac_agenda *agenda; /* tag: pair number */

    /* response */
    sac_solver *solver;
    uint32_t *contact_pair; /* pair of each solver contact */
    uint32_t *contact_root; /* union-find over solver contacts of this frame */
    uint32_t contact_room, contact_count;
    uint32_t contact_grab[64]; /* grab of each solver grab */

    /* the frame */
    uint32_t frame;
    double time;
    sac_gaze_filter gaze;
    sac_focus focus;
    uint32_t unpack_at; /* in the list of those awake: whose turn it is to be set apart */
    uint32_t packed;    /* frames in which many are looked at for that */
    sac_tape tape;
    sac_pace pace;
    sac_costs costs;
    sac_rest_sweep rest;
    uint32_t islands; /* awake ones, when they were last told apart */
    sac_tasks *tasks;
    sac_step_report report;
    uint64_t step_start_ns, step_deadline_ns, step_start_cost;
    uint64_t step_limit_ns; /* the caller's; step_deadline_ns is when to be done */
    float step_dt;
    float longest_dt; /* that frames to come are expected to have */
    uint32_t step_substeps;
    uint32_t struck[SAC_WORLD_MOST_STRUCK], struck_count;
    uint32_t starved; /* last frame in which bodies had to wait; 0: never */
    uint32_t aloft;   /* bodies that go on by themselves in this frame */
    double dues_ns;   /* what the turns of this frame's due bodies take, as predicted */
    double coldness;  /* what this frame's first stages cost against what they mostly do, 1 to 2 */
    uint32_t pioneer; /* has waited so long that it goes now, time or not; UINT32_MAX: nobody */
    uint32_t halts;   /* bodies that had to stop in this frame */
    uint32_t looks;   /* boxes of bodies without a turn that were looked at closely in this frame */
    uint32_t alarms;  /* so many of either there is time for */
    sac_box alarmed;  /* where bodies had to stop that could not tell those about them */
    bool jammed;      /* in the last frame many had to stand still, or met others */
    uint32_t pressed; /* pairs that wanted much more than they got */
    uint32_t unseen;  /* bodies chosen for this frame that could not be looked at */
    float gravity_size;

    sac_array(sac_contact_event) contact_events;
    sac_array(sac_move_event) move_events;
    bool move_events_made;
    sac_array(uint32_t) moved;
    sac_array(sac_contact_event) pending_ends; /* of pairs that ended between steps */
    bool stepping;                             /* inside sac_world_step */

    struct sac_recorder *recorder;
    size_t bytes;
    uint32_t allocations;
};

/* ---- ids ---- */

static inline uint64_t sac_id_make(uint32_t slot, uint32_t generation)
{
    return (uint64_t)generation << 32 | (uint64_t)(slot + 1u);
}
static inline sac_body_id sac_body_id_of(const sac_world *world, uint32_t slot)
{
    return (sac_body_id){sac_id_make(slot, world->generation[slot])};
}
/* UINT32_MAX for an id that is stale or nobody's. */
static inline uint32_t sac_body_slot(const sac_world *world, sac_body_id id)
{
    uint32_t slot = (uint32_t)id.value - 1u;
    if (slot >= world->slot_count || world->generation[slot] != (uint32_t)(id.value >> 32) ||
        !(world->flags[slot] & SAC_BODY_USED))
        return UINT32_MAX;
    return slot;
}

static inline bool sac_body_dynamic(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_YIELDS;
}

static inline sac_soft_slot *sac_soft_of(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_SOFT ? world->softs[world->cold[slot].soft] : NULL;
}

/* The form of a body and the pose it is in: a soft one's lies in world space. */
static inline const sac_form *sac_body_form(const sac_world *world, uint32_t slot)
{
    const sac_soft_slot *soft = sac_soft_of(world, slot);
    return soft ? &soft->form : &world->shapes[world->cold[slot].shape].form;
}
extern const sac_transform sac_world_identity;
static inline const sac_transform *sac_body_form_pose(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_SOFT ? &sac_world_identity : &world->pose[slot];
}

/* ---- stages, in the order of a frame ---- */

/* Some bodies had to wait lately. */
static inline bool sac_world_starves(const sac_world *world)
{
    return world->starved && world->frame - world->starved < 90;
}
/* tumble.c: the spin its momentum has in the pose it turns to, before it gets there. */
void sac_body_tumble(sac_world *world, uint32_t slot, bool closely);
void sac_world_strike(sac_world *world); /* strike.c: who is in the way of a kinematic body */
void sac_world_choose(sac_world *world); /* choose.c: who is simulated */
/* Once it is known what there is to do: gives up the least urgent bodies when response would not fit; once
 * more when contacts have been `read`. */
void sac_world_shed(sac_world *world, bool read);
/* All but the first `keep` bodies wait, unless they must not. */
void sac_world_drop(sac_world *world, uint32_t keep);
/* This one waits, unless it must not; the list of those chosen is then to be tidied up. */
void sac_body_defer(sac_world *world, uint32_t slot);
void sac_world_forget_deferred(sac_world *world);
void sac_world_bound(sac_world *world);         /* bounds.c: boxes that no longer hold their body */
void sac_world_strike_comers(sac_world *world); /* strike.c: who runs into a kinematic body by itself */
void sac_world_gather(sac_world *world);        /* gather.c: pairs into the agenda */
/* touch.c: fronts and memory into manifolds. Returns how many pairs of fronts were read beyond the usual. */
uint64_t sac_world_read_contacts(sac_world *world);
/* soften.c: contacts and goals of soft bodies, before the solver; response and motion after it. */
void sac_world_pull_soft(sac_world *world);
void sac_world_respond(sac_world *world, uint32_t substeps); /* respond.c: manifolds into motion */
void sac_world_respond_soft(sac_world *world);
/* seams.c: contacts with a piece of a floor that another piece bears the body over are taken off the list of
 * so many; returns how many are left. */
uint32_t sac_world_cross_seams(sac_world *world, uint32_t count);
/* balance.c: what the contacts of a set made out of nothing is taken back; `cut`: no sub-step was finished.
 */
void sac_world_balance(sac_world *world, uint32_t contacts, uint32_t stamp, bool cut);
/* The end of the frame as it mostly is: all that are awake, with the points of soft ones that fly on by
 * themselves, and those simulated. */
double sac_world_finish_ns(const sac_world *world);
/* What comes after the solver: fast bodies, a quarter of what is `left` at the most, and the end. */
double sac_world_tail_ns(const sac_world *world, double left);
void sac_world_limit_fast(sac_world *world); /* fast.c: nobody tunnels */
/* One that goes on by itself along others goes no farther in a crowd than they do in their turns: what it
 * moves is cut. */
void sac_body_keep_pace(sac_world *world, uint32_t slot);
void sac_world_finish(sac_world *world); /* finish.c: motion into poses */
/* shown.c: its turn moves it, after so many frames in which it stood; it was put where it is; where to draw
 * it. */
void sac_body_lag_behind(sac_world *world, uint32_t slot, uint32_t waited);
void sac_body_lag_no_more(sac_world *world, uint32_t slot);
void sac_body_shown(const sac_world *world, uint32_t slot, sac_transform *out_pose);
void sac_world_unpack(sac_world *world); /* unpack.c: many in one place */
void sac_world_rest(sac_world *world);   /* rest.c: islands at rest fall asleep */

/* ---- soft bodies, soft.c and soften.c ---- */

/* A body's points at rest in its pose; the slot's flags, shape and hot velocities are set. */
sac_result sac_soft_slot_fill(sac_world *world, uint32_t slot, sac_error *error);
void sac_soft_slot_empty(sac_world *world, uint32_t slot);
void sac_soft_slots_destroy(sac_world *world);
uint64_t sac_soft_refits_of(const sac_world *world); /* so far, of all soft bodies */
/* Centre, velocity, reach and bounds from the points. */
void sac_soft_slot_renew(sac_world *world, uint32_t slot);
/* Its points at rest in the slot's pose. What it was before is the caller's, to be given back or dropped. */
sac_result sac_soft_slot_place(sac_world *world, uint32_t slot, sac_soft_slot *out_before, sac_error *error);
void sac_soft_slot_give_back(sac_world *world, uint32_t slot, const sac_soft_slot *before);
void sac_soft_slot_drop(sac_soft_slot *before);
void sac_soft_slot_velocity(sac_world *world, uint32_t slot, const float v[3], const float w[3]);
void sac_soft_slot_push(sac_world *world, uint32_t slot, const float impulse[3], const float *point);
/* So often a body may move on without finding its shape: after that its points would part. */
enum { SAC_SOFT_MOST_SKIPPED = 2 };
/* Flies on without being simulated: gravity alone. */
void sac_soft_slot_fall(sac_world *world, uint32_t slot);
/* So many points of bodies that are not chosen may do so in this frame. */
uint32_t sac_soft_points_aloft(const sac_world *world);
void sac_soft_slot_grabbed(sac_world *world, sac_grab_slot *grab);
/* One step of the grabs that hold soft bodies. */
void sac_soft_grabs_pull(sac_world *world);
/* What contacts of two bodies are looked for beyond the world's margin. */
float sac_world_soft_margin(const sac_world *world, uint32_t a, uint32_t b);
/* Room for the contacts of so many soft bodies. */
bool sac_softening_reserve(sac_world *world);
void sac_softening_destroy(sac_world *world);
/* What pulling, response and moving of the chosen soft bodies will take, at the least and as it mostly is. */
double sac_world_soft_ns(const sac_world *world, bool least);
/* A pair of which the solver says so much: events, and who touches. */
void sac_pair_met(sac_world *world, uint32_t pair, float impulse, float total, float met);

/* ---- shared by several stages ---- */

/* Room for the list of contacts of a frame. */
bool sac_world_fit_contacts(sac_world *world, uint32_t count);
/* Room for pair memory up to the broad phase's room. */
bool sac_world_fit_pairs(sac_world *world);
void sac_pairs_begun_and_ended(sac_world *world); /* events.c: memory of new and gone pairs */
/* Do their filters agree? `world`: a sac_world, as the broad phase calls it. */
bool sac_bodies_may_meet(uint32_t a, uint32_t b, void *world);
void sac_body_wake_slot(sac_world *world, uint32_t slot);
void sac_body_remove_awake(sac_world *world, uint32_t slot);
void sac_body_add_awake(sac_world *world, uint32_t slot);
/* Pose from the centre of mass and rotation. */
void sac_body_place_shape(sac_world *world, uint32_t slot);
/* From the shape's origin to the centre of mass in this pose. */
void sac_body_centre_offset(const sac_world *world, uint32_t slot, const sac_transform *pose, float out[3]);
/* Placed box for where it is and is going. Returns credits. */
uint64_t sac_body_place_bounds(sac_world *world, uint32_t slot, float dt);
/* Placed box grown by where the solver sends it; nobody it was near is forgotten. Pairs follow with
 * sac_broad_settle. Returns credits. */
uint64_t sac_body_widen_bounds(sac_world *world, uint32_t slot);
/* Does the placed box hold the body through this frame? */
bool sac_body_bounds_hold(sac_world *world, uint32_t slot, float dt);
/* How far any point of it may move in a time, as fast as it is. */
float sac_body_motion(const sac_body_hot *hot, float time);
/* How much room the placed box leaves when the body has moved on for a time; less than 0: it does not hold
 * it.
 */
float sac_body_room_after(const sac_world *world, uint32_t slot, float time);
/* So little beyond its placed box may be who found no time for another. */
bool sac_body_little_beyond(const sac_world *world, uint32_t slot, float dt);
/* R I^-1 R^T of a body now. */
void sac_body_world_inertia(const sac_world *world, uint32_t slot, float out[6]);
/* Room for the viewer's eyes, before anything of a step is done. */
sac_result sac_world_fit_eyes(sac_world *world, const sac_viewer *viewer, sac_error *error);
/* flight.c: grows the box of a body to hold it while it falls freely, and says for how many frames; 0: it
 * does not, or is too fast for more than one. */
uint32_t sac_body_flight_box(const sac_world *world, uint32_t slot, sac_box *box);
/* Its velocity changes in its turn: otherwise than as it flies? */
void sac_body_strayed(sac_world *world, uint32_t slot, const float change[3]);
/* How fast the two come together where they touch, m/s; 0 when they part. Solved pairs are told by the
 * solver.
 */
float sac_pair_approach(const sac_world *world, uint32_t pair);
/* To the caller's log hook, if he has one. */
void sac_world_log(const sac_world *world, const char *format, ...) SAC_PRINTF(2, 3);
void sac_world_event(sac_world *world, sac_contact_event_kind kind, uint32_t pair, float impulse,
                     float speed);
void sac_grab_break(sac_world *world, uint32_t grab);
void sac_grabs_of_body_end(sac_world *world, uint32_t slot);

/* For learning what things cost: not the time others took from this thread. */
static inline uint64_t sac_world_cost_now(const sac_world *world)
{
    return world->clock.kind == SAC_CLOCK_MONOTONIC ? sac_time_thread_cpu_ns() : sac_clock_now(&world->clock);
}
/* A running mean of what something costs. What a clock says that jumped, or a core that was stolen, is
 * believed up to eightfold. */
static inline double sac_cost_learned(double mean, double actual_ns, double rate)
{
    double most = 8 * fmax(mean, 100);
    return mean + rate * (fmin(fmax(actual_ns, 0), most) - mean);
}
/* What is foreseen is foreseen in frames, and nobody knows how long these will be. Before the first, as long
 * as this, say; from then on as long as they are and a little more. When one is longer, nothing foreseen
 * holds. */
#define SAC_LONGEST_USUAL_STEP (1.0f / 72)
void sac_world_expect(sac_world *world, float dt);
/* foresee.c: what a new pair lets its bodies do unseen. */
void sac_pair_foresee(sac_world *world, uint32_t pair);
/* Its velocity is not what those about it counted on: what they concluded from that is void. */
void sac_body_startle(sac_world *world, uint32_t slot);
/* The same between steps, for one that may fly on: what it and those about it may do unseen is found out at
 * once, because who is pushed every frame would otherwise need a turn in each. */
void sac_body_look_again(sac_world *world, uint32_t slot);
/* Nor does it move as its velocity says: it has to stop, or does not get far. Each tells those about it, as
 * many as there is time for; the others leave word for all who fly where they are. */
/* The same before anybody has moved in this frame: whoever would run into it stops too, and is added to the
 * `count` of the list. Returns how many there are then. Not `closely`: whoever touches it. */
uint32_t sac_body_stop(sac_world *world, uint32_t slot, bool closely, uint32_t *list, uint32_t count);
enum { SAC_MOST_ALARMS = 20000 };
void sac_world_allow_alarms(sac_world *world);
void sac_body_halt(sac_world *world, uint32_t slot);
enum { SAC_NO_GROUND = 255 };
/* Not only on others that wait for their turn to fall; without weight nobody needs a ground. */
static inline bool sac_body_grounded(const sac_world *world, uint32_t slot)
{
    return world->ground[slot] != SAC_NO_GROUND || !(world->gravity_size > 0);
}
/* Lies on what bears it and hardly moves: when it has to wait, it stays where it is and nobody can tell. */
static inline bool sac_body_lies(const sac_world *world, uint32_t slot)
{
    const sac_body_hot *h = &world->hot[slot];
    if (!sac_body_grounded(world, slot)) return false;
    float v = h->v[0] * h->v[0] + h->v[1] * h->v[1] + h->v[2] * h->v[2];
    float w = h->w[0] * h->w[0] + h->w[1] * h->w[1] + h->w[2] * h->w[2];
    const float slow = 3 * world->def.sleep_speed;
    return world->touches[slot] && v + w * h->radius * h->radius < slow * slow;
}
/* So long that it may sleep, also where no time is asked for: who moves has not rested at all. */
static inline bool sac_world_long_enough(const sac_world *world, float rest_seconds)
{
    return rest_seconds > 0 && rest_seconds >= world->def.sleep_seconds;
}
/* Has lain still for so long that it would sleep but for others: to simulate it beside those that wait would
 * only stir it. */
static inline bool sac_body_rested(const sac_world *world, uint32_t slot)
{
    return world->def.sleep && sac_world_long_enough(world, world->rest_seconds[slot]);
}
/* Between a half and one, each body its own: what began together is not due together. */
static inline float sac_body_spread(uint32_t slot) { return 1 - (float)(slot * 0x9e3779b1u >> 24) / 512; }
/* Its box was made for so many frames of free flight, from this one on. */
static inline bool sac_body_box_lasts(const sac_world *world, uint32_t slot, uint32_t frames)
{
    const uint32_t flags = world->flags[slot] & (SAC_BODY_YIELDS | SAC_BODY_HELD);
    return world->box_until[slot] >= world->frame + frames && flags == SAC_BODY_YIELDS;
}
/* Goes on by itself this frame: it flies, or glides along what it touches, and meets nobody else. */
static inline bool sac_body_flies(const sac_world *world, uint32_t slot)
{
    return world->clear_until[slot] > world->frame && !(world->flags[slot] & SAC_BODY_STOPPED) &&
           (!world->touches[slot] || !sac_body_lies(world, slot));
}
/* glide.c: after its turn, from how it changed its velocity; and for how many frames two that touch need not
 * be looked at. */
void sac_body_steady(sac_world *world, uint32_t slot, const float change[3], const float spin_change[3]);
uint32_t sac_pair_glides(const sac_world *world, uint32_t p);
/* Whatever the time: held, told where to be, moved by nobody but the caller, or kept waiting too long. */
static inline bool sac_body_must_go(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & (SAC_BODY_HELD | SAC_BODY_TOLD | SAC_BODY_NEAR_HAND | SAC_BODY_STRUCK) ||
           !sac_body_dynamic(world, slot) || slot == world->pioneer;
}
/* Kinematic and under way: it goes on whatever is in its way. */
static inline bool sac_body_strikes(const sac_world *world, uint32_t slot)
{
    if (sac_body_dynamic(world, slot) || world->cold[slot].kind != SAC_BODY_KINEMATIC) return false;
    const float *v = world->hot[slot].v, *w = world->hot[slot].w;
    return v[0] != 0 || v[1] != 0 || v[2] != 0 || w[0] != 0 || w[1] != 0 || w[2] != 0;
}
/* Frames a body has stood still since it was simulated. */
static inline uint32_t sac_body_waited(const sac_world *world, uint32_t slot)
{
    return world->frame - world->served[slot];
}

static inline uint64_t sac_world_now(const sac_world *world) { return sac_clock_now(&world->clock); }
/* What is left, ns. A clock that jumps may say anything; no sum with this leaves 64 bits. */
static inline double sac_ns_until(uint64_t deadline, uint64_t now)
{
    return deadline > now ? fmin((double)(deadline - now), 1e18) : 0;
}
static inline double sac_world_left_ns(const sac_world *world, uint64_t now)
{
    return sac_ns_until(world->step_deadline_ns, now);
}
static inline void sac_world_spend(sac_world *world, uint64_t credits)
{
    sac_clock_spend(&world->clock, credits);
}

/* Quaternion q turned by the rotation vector r (small or large), normalised, without trigonometry that
 * differs between machines. */
void sac_turn(float q[4], const float r[3]);

#endif
