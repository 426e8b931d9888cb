/* Everything that can be done to a world, in one list: recorder, reader and dispatcher are made from it.
 * Private to runtime/.
 *
 * A public call that changes the world and has succeeded says so in one line:
 *
 *   SAC_RECORD(world, body_wake, .body = id.value);
 *
 * F(type, name, dims): a field. Types are u32, u64, f32, flag (a bool), text (a terminated char array),
 * bytes, and the structs below, whose own fields are listed like those of an operation. OP(number, name,
 * FIELDS, again): an operation, its fields, and the expression that does it again on `world` from `op`.
 * Numbers are never given to another operation. A changed list changes the checksum in the file's header, so
 * that an old recording is recognised. One that lacks nothing but what was added behind SAC_OPERATIONS_BEFORE
 * has the checksum of that part, and is read.
 */
#ifndef SAC_RUNTIME_OPERATIONS_INTERNAL_H
#define SAC_RUNTIME_OPERATIONS_INTERNAL_H

#include "runtime/world_internal.h"

typedef struct sac_span {
    const void *data;
    uint32_t size;
} sac_span;

/* ---- structs of the doors ---- */

/* Lists that the formatter cannot settle on. */
/* clang-format off */
#define SAC_FIELDS_AGENDA(F) \
    F(u32, pairs, )          \
    F(u32, entries, )        \
    F(u32, groups, ) F(f32, share, ) F(u32, age_frames, ) F(f32, stop_jnd, ) F(u64, seed, ) F(u32, cookie, )

#define SAC_FIELDS_SOLVER(F)                                                               \
    F(u32, bodies, )                                                                       \
    F(u32, contacts, )                                                                     \
    F(u32, grabs, ) F(f32, contact_hertz, ) F(f32, contact_damping, ) F(f32, push_speed, ) \
        F(f32, restitution_speed, ) F(f32, slop, ) F(u32, cookie, )

#define SAC_FIELDS_PERCEPTION(F) \
    F(f32, out_of_view, )        \
    F(f32, speed_weight, ) F(f32, speed_ref, ) F(f32, distractor_weight, ) F(f32, most_jnd, )

#define SAC_FIELDS_GAZE_DEF(F)                                                                           \
    F(f32, saccade_degrees_s, )                                                                          \
    F(f32, saccade_end_degrees_s, )                                                                      \
    F(f32, tracker_error_degrees, ) F(f32, photon_latency_s, ) F(f32, lost_after_s, ) F(f32, return_s, ) \
        F(f32, flat_zone_degrees, ) F(f32, least_confidence, )

/* Without clock, tasks and hooks, which are the caller's, and the policy, which is a pointer. */
#define SAC_FIELDS_WORLD_DEF(F)                                                                             \
    F(f32, gravity, [3])                                                                                    \
    F(u32, bodies, )                                                                                        \
    F(u32, pairs, ) F(agenda, agenda, ) F(solver, solver, ) F(perception, perception, ) F(gaze_def, gaze, ) \
        F(f32, margin, ) F(f32, gap_bias, ) F(flag, single_impulse, ) F(flag, chance, ) F(u64, seed, )      \
            F(flag, sleep, ) F(f32, sleep_speed, ) F(f32, sleep_seconds, ) F(f32, far, ) F(u32, cookie, )

#define SAC_FIELDS_MATERIAL(F) F(f32, friction, ) F(f32, restitution, ) F(f32, rolling, )
#define SAC_FIELDS_FILTER(F) F(u32, category, ) F(u32, mask, ) F(u32, group, )
#define SAC_FIELDS_MASS(F) F(f32, volume, ) F(f32, centre, [3]) F(f32, inertia, [6])

#define SAC_FIELDS_BODY_DEF(F)                                                                              \
    F(u32, kind, )                                                                                          \
    F(u64, shape.value, )                                                                                   \
    F(f32, scale, ) F(f32, position, [3]) F(f32, rotation, [4]) F(f32, velocity, [3]) F(f32, spin, [3])     \
        F(f32, density, ) F(f32, mass, ) F(f32, inertia, [6]) F(f32, centre, [3]) F(flag, centre_given, )   \
            F(material, material, ) F(filter, filter, ) F(flag, sensor, ) F(f32, gravity_scale, )           \
                F(f32, linear_damping, ) F(f32, angular_damping, ) F(f32, most_speed, ) F(f32, most_spin, ) \
                    F(flag, asleep, ) F(flag, never_sleeps, ) F(u64, user, ) F(u32, cookie, )

#define SAC_FIELDS_GRAB_DEF(F)                                                                       \
    F(u64, body.value, )                                                                             \
    F(f32, anchor, [3])                                                                              \
    F(f32, target, [3]) F(f32, rotation, [4]) F(f32, hertz, ) F(f32, damping, ) F(f32, most_force, ) \
        F(f32, most_torque, ) F(f32, most_distance, ) F(u32, cookie, )

#define SAC_FIELDS_EYE(F) \
    F(f32, position, [3]) \
    F(f32, rotation, [4]) F(f32, fov_left, ) F(f32, fov_right, ) F(f32, fov_up, ) F(f32, fov_down, )
#define SAC_FIELDS_GAZE(F) \
    F(flag, valid, )       \
    F(f32, origin, [3]) F(f32, direction, [3]) F(u64, time_ns, ) F(f32, confidence, ) F(f32, error_degrees, )
#define SAC_FIELDS_HAND(F) F(flag, valid, ) F(f32, position, [3]) F(f32, radius, )
#define SAC_FIELDS_VIEWER(F) \
    F(u32, eye_count, ) F(eye, eyes, [SAC_VIEWER_OWN_EYES]) F(gaze, gaze, ) F(hand, hands, [2])

/* STRUCT(type, C type, FIELDS), those used by others first. */
#define SAC_RECORD_STRUCTS(STRUCT)                                \
    STRUCT(agenda, sac_agenda_def, SAC_FIELDS_AGENDA)             \
    STRUCT(solver, sac_solver_def, SAC_FIELDS_SOLVER)             \
    STRUCT(perception, sac_perception_def, SAC_FIELDS_PERCEPTION) \
    STRUCT(gaze_def, sac_gaze_def, SAC_FIELDS_GAZE_DEF)           \
    STRUCT(world_def, sac_world_def, SAC_FIELDS_WORLD_DEF)        \
    STRUCT(material, sac_material, SAC_FIELDS_MATERIAL)           \
    STRUCT(filter, sac_filter, SAC_FIELDS_FILTER)                 \
    STRUCT(mass, sac_mass, SAC_FIELDS_MASS)                       \
    STRUCT(body_def, sac_body_def, SAC_FIELDS_BODY_DEF)           \
    STRUCT(grab_def, sac_grab_def, SAC_FIELDS_GRAB_DEF)           \
    STRUCT(eye, sac_eye, SAC_FIELDS_EYE)                          \
    STRUCT(gaze, sac_gaze_sample, SAC_FIELDS_GAZE)                \
    STRUCT(hand, sac_hand, SAC_FIELDS_HAND)                       \
    STRUCT(viewer, sac_viewer, SAC_FIELDS_VIEWER)

/* A field added to one of these must be recorded: list it above, then correct the size here. */
#if UINTPTR_MAX == UINT64_MAX
#define SAC_RECORDED_SIZE(type, size) _Static_assert(sizeof(type) == (size), "record what is new in " #type)
SAC_RECORDED_SIZE(sac_world_def, 296);
SAC_RECORDED_SIZE(sac_agenda_def, 40);
SAC_RECORDED_SIZE(sac_solver_def, 36);
SAC_RECORDED_SIZE(sac_perception_def, 20);
SAC_RECORDED_SIZE(sac_gaze_def, 32);
SAC_RECORDED_SIZE(sac_body_def, 192);
SAC_RECORDED_SIZE(sac_grab_def, 72);
SAC_RECORDED_SIZE(sac_step_def, 48);
SAC_RECORDED_SIZE(sac_viewer, 280);
SAC_RECORDED_SIZE(sac_eye, 44);
#undef SAC_RECORDED_SIZE
#endif

/* ---- operations ---- */

#define SAC_FIELDS_WORLD(F) F(world_def, def, ) F(text, policy, [32]) F(flag, weighted, )
/* A tree or terrain, as the bytes of its file; numbered from 0 in the order they come. */
#define SAC_FIELDS_TREE(F) F(bytes, file, )
/* `numbers`: radius and half sides, or normal and offset; the rest of the form follows from them. */
#define SAC_FIELDS_ADD_SHAPE(F) \
    F(u32, kind, ) F(u32, file, ) F(f32, numbers, [4]) F(f32, thickness, ) F(mass, mass, ) F(u64, made, )
#define SAC_FIELDS_SHAPE(F) F(u64, shape, )
#define SAC_FIELDS_GRAVITY(F) F(f32, gravity, [3])
#define SAC_FIELDS_POLICY(F) F(text, name, [32])
#define SAC_FIELDS_BODY_CREATE(F) F(body_def, def, ) F(u64, made, )
#define SAC_FIELDS_BODY(F) F(u64, body, )
#define SAC_FIELDS_BODY_POSE(F) F(u64, body, ) F(f32, position, [3]) F(f32, rotation, [4])
#define SAC_FIELDS_BODY_VELOCITY(F) F(u64, body, ) F(f32, velocity, [3]) F(f32, spin, [3])
#define SAC_FIELDS_BODY_PUSH(F) F(u64, body, ) F(f32, impulse, [3]) F(flag, aimed, ) F(f32, point, [3])
#define SAC_FIELDS_BODY_KIND(F) F(u64, body, ) F(u32, kind, )
#define SAC_FIELDS_BODY_FILTER(F) F(u64, body, ) F(filter, filter, )
#define SAC_FIELDS_BODY_MATERIAL(F) F(u64, body, ) F(material, material, )
#define SAC_FIELDS_BODY_MOTION(F) \
    F(u64, body, )                \
    F(f32, gravity_scale, )       \
    F(f32, linear_damping, ) F(f32, angular_damping, ) F(f32, most_speed, ) F(f32, most_spin, )
#define SAC_FIELDS_BODY_PIN(F) F(u64, body, ) F(u32, point, ) F(f32, target, [3])
#define SAC_FIELDS_BODY_POINT(F) F(u64, body, ) F(u32, point, )
#define SAC_FIELDS_GRAB_CREATE(F) F(grab_def, def, ) F(u64, made, )
#define SAC_FIELDS_GRAB_MOVE(F) F(u64, grab, ) F(f32, target, [3]) F(f32, rotation, [4])
#define SAC_FIELDS_GRAB(F) F(u64, grab, )
/* Who looks in the step that follows. `more`: f32s, the viewer's eyes beyond its own. */
#define SAC_FIELDS_LOOK(F) F(viewer, viewer, ) F(bytes, more, )
/* `tape`: u64s, what the clock decided; `weights`: f32s, what the caller's hook said of pairs; `hash`: of the
 * world after the step. */
#define SAC_FIELDS_STEP(F)                                                                             \
    F(f32, dt, )                                                                                       \
    F(u32, substeps, )                                                                                 \
    F(u64, budget_ns, ) F(u64, deadline_ns, ) F(flag, seen, ) F(u64, viewer_now_ns, ) F(bytes, tape, ) \
        F(bytes, weights, ) F(u64, hash, )

/* What the step that follows took when it was recorded. `cpu_ns`: of the thread that called; `budget_ns`: 0
 * when there was none in machine time; `threads`: of the world. Told to whoever asks, never to the world. */
#define SAC_FIELDS_TOOK(F) F(u64, cpu_ns, ) F(u64, budget_ns, ) F(u32, threads, )

#define SAC_ID(type, field) ((type){op->field})

#define SAC_OPERATIONS_BEFORE(OP)                                                                            \
    OP(1, world, SAC_FIELDS_WORLD, sac_again_world(replay, op, error))                                       \
    OP(2, tree, SAC_FIELDS_TREE, sac_again_tree(replay, op, error))                                          \
    OP(3, terrain, SAC_FIELDS_TREE, sac_again_terrain(replay, op, error))                                    \
    OP(4, add_shape, SAC_FIELDS_ADD_SHAPE, sac_again_add_shape(replay, op, error))                           \
    OP(5, remove_shape, SAC_FIELDS_SHAPE, sac_world_remove_shape(world, SAC_ID(sac_shape_id, shape), error)) \
    OP(6, set_gravity, SAC_FIELDS_GRAVITY, sac_world_set_gravity(world, op->gravity, error))                 \
    OP(7, set_policy, SAC_FIELDS_POLICY, sac_world_set_policy(world, op->name, error))                       \
    OP(8, body_create, SAC_FIELDS_BODY_CREATE, sac_again_body_create(world, op, error))                      \
    OP(9, body_destroy, SAC_FIELDS_BODY, sac_body_destroy(world, SAC_ID(sac_body_id, body), error))          \
    OP(10, body_set_pose, SAC_FIELDS_BODY_POSE,                                                              \
       sac_body_set_pose(world, SAC_ID(sac_body_id, body), op->position, op->rotation, error))               \
    OP(11, body_set_velocity, SAC_FIELDS_BODY_VELOCITY,                                                      \
       sac_body_set_velocity(world, SAC_ID(sac_body_id, body), op->velocity, op->spin, error))               \
    OP(12, body_move_to, SAC_FIELDS_BODY_POSE,                                                               \
       sac_body_move_to(world, SAC_ID(sac_body_id, body), op->position, op->rotation, error))                \
    OP(13, body_push, SAC_FIELDS_BODY_PUSH,                                                                  \
       sac_body_push(world, SAC_ID(sac_body_id, body), op->impulse, op->aimed ? op->point : NULL, error))    \
    OP(14, body_set_kind, SAC_FIELDS_BODY_KIND,                                                              \
       sac_body_set_kind(world, SAC_ID(sac_body_id, body), (sac_body_kind)op->kind, error))                  \
    OP(15, body_set_filter, SAC_FIELDS_BODY_FILTER,                                                          \
       sac_body_set_filter(world, SAC_ID(sac_body_id, body), &op->filter, error))                            \
    OP(16, body_set_material, SAC_FIELDS_BODY_MATERIAL,                                                      \
       sac_body_set_material(world, SAC_ID(sac_body_id, body), &op->material, error))                        \
    OP(17, body_set_motion, SAC_FIELDS_BODY_MOTION,                                                          \
       sac_body_set_motion(world, SAC_ID(sac_body_id, body), op->gravity_scale, op->linear_damping,          \
                           op->angular_damping, op->most_speed, op->most_spin, error))                       \
    OP(18, body_wake, SAC_FIELDS_BODY, sac_body_wake(world, SAC_ID(sac_body_id, body), error))               \
    OP(19, body_sleep, SAC_FIELDS_BODY, sac_body_sleep(world, SAC_ID(sac_body_id, body), error))             \
    OP(20, grab_create, SAC_FIELDS_GRAB_CREATE, sac_again_grab_create(world, op, error))                     \
    OP(21, grab_move, SAC_FIELDS_GRAB_MOVE,                                                                  \
       sac_grab_move(world, SAC_ID(sac_grab_id, grab), op->target, op->rotation, error))                     \
    OP(22, grab_destroy, SAC_FIELDS_GRAB, sac_grab_destroy(world, SAC_ID(sac_grab_id, grab), error))         \
    OP(23, look, SAC_FIELDS_LOOK, sac_again_look(replay, op, error))                                         \
    OP(24, step, SAC_FIELDS_STEP, sac_again_step(replay, op, error))                                         \
    OP(25, soft, SAC_FIELDS_TREE, sac_again_soft(replay, op, error))                                         \
    OP(26, body_pin, SAC_FIELDS_BODY_PIN,                                                                    \
       sac_body_pin(world, SAC_ID(sac_body_id, body), op->point, op->target, error))                         \
    OP(27, body_unpin, SAC_FIELDS_BODY_POINT,                                                                \
       sac_body_unpin(world, SAC_ID(sac_body_id, body), op->point, error))

#define SAC_OPERATIONS(OP)    \
    SAC_OPERATIONS_BEFORE(OP) \
    OP(28, took, SAC_FIELDS_TOOK, sac_again_took(replay, op, error))

/* ---- what the list becomes ---- */

typedef uint32_t sac_field_u32;
typedef uint64_t sac_field_u64;
typedef float sac_field_f32;
typedef bool sac_field_flag;
typedef char sac_field_text;
typedef sac_span sac_field_bytes;
#define STRUCT(type, ctype, FIELDS) typedef ctype sac_field_##type;
SAC_RECORD_STRUCTS(STRUCT)
#undef STRUCT

#define F(type, name, dims) sac_field_##type name dims;
#define OP(number, name, FIELDS, again) \
    typedef struct sac_op_##name {      \
        FIELDS(F)                       \
    } sac_op_##name;
SAC_OPERATIONS(OP)
#undef OP
#undef F

#define OP(number, name, FIELDS, again) SAC_OP_##name = number,
typedef enum sac_operation { SAC_OPERATIONS(OP) } sac_operation;
#undef OP

/* Recorders, record.c. */
#define OP(number, name, FIELDS, again) \
    void sac_record_##name(struct sac_recorder *recorder, const sac_op_##name *op);
SAC_OPERATIONS(OP)
#undef OP

/* The line in a public function. Fields not named are zero. */
#define SAC_RECORD(world, name, ...)                                                                \
    do {                                                                                            \
        if ((world)->recorder) sac_record_##name((world)->recorder, &(sac_op_##name){__VA_ARGS__}); \
    } while (0)
#define SAC_XYZ(v)             \
    {                          \
        (v)[0], (v)[1], (v)[2] \
    }
#define SAC_XYZW(v)                    \
    {                                  \
        (v)[0], (v)[1], (v)[2], (v)[3] \
    }

/* Those that need more than a line: record.c. */
void sac_record_shape(sac_world *world, const sac_form *form, sac_shape_id made);
void sac_record_policy(sac_world *world);
/* `start_cpu_ns`: of this thread, when the step began. */
void sac_record_frame(sac_world *world, const sac_step_def *def, uint64_t start_cpu_ns);

/* What a replay may be asked to make room for; a recording of more is refused when it starts. */
typedef struct sac_replay_limits {
    uint32_t bodies, pairs, entries;
} sac_replay_limits;
#define SAC_REPLAY_MOST ((sac_replay_limits){1u << 18, 1u << 22, 1u << 27})
bool sac_replay_fits(const sac_world_def *def, const sac_replay_limits *most, sac_error *error);
/* As sac_replay_open, of bytes that must stay. */
sac_result sac_replay_open_memory(const void *bytes, size_t size, uint32_t threads,
                                  const sac_replay_limits *most, sac_replay **out_replay, sac_error *error);

/* Of the list above, for the file's header; and of its older part, which is still read. */
uint32_t sac_operations_checksum(void);
uint32_t sac_operations_checksum_before(void);

/* clang-format on */

#endif
