/* The recorder: operations as bytes, into the chunks of a file. */
#include "base/clock.h"
#include "base/crc32c.h"
#include "runtime/operations_internal.h"
#include "runtime/record_file_internal.h"

struct sac_recorder {
    sac_chunk_writer file;
    sac_array(const void *) files; /* trees, terrains and soft shapes already written, by their number */
    uint64_t wall_ns, cpu_ns;      /* of the last frame */
    bool told;                     /* the log, that it could not be written */
};

/* ---- fields ---- */

#define PLAIN(type)                                                                             \
    static void put_##type(sac_chunk_writer *out, const sac_field_##type *values, size_t count) \
    {                                                                                           \
        sac_chunk_writer_put(out, values, count * sizeof *values);                              \
    }
PLAIN(u32)
PLAIN(u64)
PLAIN(f32)
PLAIN(text)
#undef PLAIN

static void put_flag(sac_chunk_writer *out, const bool *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = values[i];
        sac_chunk_writer_put(out, &byte, 1);
    }
}

static void put_bytes(sac_chunk_writer *out, const sac_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sac_chunk_writer_put(out, &spans[i].size, sizeof spans[i].size);
        sac_chunk_writer_put(out, spans[i].data, spans[i].size);
    }
}

#define F(type, name, dims) \
    put_##type(out, (const sac_field_##type *)&op->name, sizeof op->name / sizeof(sac_field_##type));

#define STRUCT(type, ctype, FIELDS)                                                  \
    static void put_##type(sac_chunk_writer *out, const ctype *values, size_t count) \
    {                                                                                \
        for (size_t i = 0; i < count; i++) {                                         \
            const ctype *op = &values[i];                                            \
            FIELDS(F)                                                                \
        }                                                                            \
    }
SAC_RECORD_STRUCTS(STRUCT)
#undef STRUCT

/* ---- operations ---- */

#define OP(number, name, FIELDS, again)                                            \
    void sac_record_##name(struct sac_recorder *recorder, const sac_op_##name *op) \
    {                                                                              \
        sac_chunk_writer *out = &recorder->file;                                   \
        const unsigned char code = number;                                         \
        sac_chunk_writer_put(out, &code, 1);                                       \
        FIELDS(F)                                                                  \
        sac_chunk_writer_settle(out, number == SAC_OP_step);                       \
    }
SAC_OPERATIONS(OP)
#undef OP
#undef F

#define F(type, name, dims) #type " " #name #dims ";"
#define STRUCT(type, ctype, FIELDS) #type "{" FIELDS(F) "}"
#define OP(number, name, FIELDS, again) #number " " #name "{" FIELDS(F) "}"
uint32_t sac_operations_checksum(void)
{
    static const char text[] = SAC_RECORD_STRUCTS(STRUCT) SAC_OPERATIONS(OP);
    return sac_crc32c(0, text, sizeof text);
}

uint32_t sac_operations_checksum_before(void)
{
    static const char text[] = SAC_RECORD_STRUCTS(STRUCT) SAC_OPERATIONS_BEFORE(OP);
    return sac_crc32c(0, text, sizeof text);
}
#undef F
#undef STRUCT
#undef OP

/* ---- shapes ---- */

static void give_up(struct sac_recorder *recorder, sac_result code, const char *remedy, const char *what)
{
    sac_error error;
    sac_error_set(&error, code, remedy, "%s", what);
    sac_chunk_writer_fail(&recorder->file, &error);
}

/* Number of a tree or terrain in the recording; written when it comes for the first time. */
static uint32_t file_number(struct sac_recorder *recorder, const sac_form *form)
{
    bool is_tree = form->kind == SAC_FORM_TREE, is_soft = form->kind == SAC_FORM_SOFT;
    const void *thing = is_tree   ? (const void *)form->tree
                        : is_soft ? (const void *)form->soft
                                  : (const void *)form->terrain;
    for (size_t i = 0; i < recorder->files.count; i++)
        if (recorder->files.data[i] == thing) return (uint32_t)i;
    void *bytes = NULL;
    size_t size = 0;
    sac_error error;
    sac_result result = is_tree   ? sac_tree_save_memory(form->tree, &bytes, &size, &error)
                        : is_soft ? sac_soft_shape_save_memory(form->soft, &bytes, &size, &error)
                                  : sac_terrain_save_memory(form->terrain, &bytes, &size, &error);
    if (result != SAC_OK) {
        sac_chunk_writer_fail(&recorder->file, &error);
        return 0;
    }
    if (size > SAC_CHUNK_MOST / 2 || !sac_array_push(&recorder->files, thing)) {
        give_up(recorder, SAC_ERROR_LIMIT, NULL, "a shape is too large to be recorded");
    } else if (is_tree) {
        sac_record_tree(recorder, &(sac_op_tree){.file = {bytes, (uint32_t)size}});
    } else if (is_soft) {
        sac_record_soft(recorder, &(sac_op_soft){.file = {bytes, (uint32_t)size}});
    } else {
        sac_record_terrain(recorder, &(sac_op_terrain){.file = {bytes, (uint32_t)size}});
    }
    sac_free(bytes, 1, size);
    return (uint32_t)recorder->files.count - 1u;
}

void sac_record_shape(sac_world *world, const sac_form *form, sac_shape_id made)
{
    struct sac_recorder *recorder = world->recorder;
    if (!recorder || recorder->file.file < 0) return;
    sac_op_add_shape op = {
        .kind = (uint32_t)form->kind, .thickness = form->thickness, .mass = form->mass, .made = made.value};
    if (form->kind == SAC_FORM_TREE || form->kind == SAC_FORM_TERRAIN || form->kind == SAC_FORM_SOFT) {
        op.file = file_number(recorder, form);
    } else if (form->kind == SAC_FORM_PLANE) {
        memcpy(op.numbers, form->normal, sizeof form->normal);
        op.numbers[3] = form->offset;
    } else {
        op.numbers[0] = form->radius;
        memcpy(op.numbers + 1, form->half, sizeof form->half);
    }
    sac_record_add_shape(recorder, &op);
}

void sac_record_policy(sac_world *world)
{
    if (!world->recorder) return;
    sac_op_set_policy op = {0};
    memcpy(op.name, world->policy_name, sizeof op.name);
    sac_record_set_policy(world->recorder, &op);
}

/* ---- the frame ---- */

static void record_frame(sac_world *world, struct sac_recorder *recorder, const sac_step_def *def,
                         uint64_t start_cpu_ns)
{
    uint64_t cpu = sac_time_thread_cpu_ns(), wall = sac_time_now_ns();
    const sac_tape *tape = &world->tape;
    if (tape->short_of) {
        give_up(recorder, SAC_ERROR_LIMIT, NULL, "a step took more decisions than a recording holds");
        return;
    }
    sac_op_step op = {
        .dt = def->dt,
        .substeps = def->substeps,
        .budget_ns = def->budget_ns,
        .deadline_ns = def->deadline_ns,
        .seen = def->viewer != NULL,
        .viewer_now_ns = def->viewer_now_ns,
        .tape = {tape->values, tape->count * (uint32_t)sizeof *tape->values},
        .weights = {tape->weights.data, (uint32_t)(tape->weights.count * sizeof *tape->weights.data)},
        .hash = sac_world_hash(world)};
    if (def->viewer) {
        sac_op_look look = {.viewer = *def->viewer};
        uint32_t eyes = look.viewer.eye_count;
        for (uint32_t i = eyes; i < SAC_VIEWER_OWN_EYES; i++) look.viewer.eyes[i] = (sac_eye){0};
        if (eyes > SAC_VIEWER_OWN_EYES) {
            uint64_t size = (uint64_t)(eyes - SAC_VIEWER_OWN_EYES) * sizeof *look.viewer.more_eyes;
            if (size > SAC_CHUNK_MOST / 2) {
                give_up(recorder, SAC_ERROR_LIMIT, NULL, "a viewer has more eyes than a recording holds");
                return;
            }
            look.more = (sac_span){look.viewer.more_eyes, (uint32_t)size};
        }
        sac_record_look(recorder, &look);
    }
    /* Work credits are no time a host could take away. */
    sac_op_took took = {.cpu_ns = cpu - start_cpu_ns,
                        .budget_ns = world->clock.kind == SAC_CLOCK_CREDITS ? 0 : world->report.budget_ns,
                        .threads = sac_tasks_threads(world->tasks)};
    sac_record_took(recorder, &took);
    sac_record_step(recorder, &op);
    recorder->wall_ns = sac_time_now_ns() - wall, recorder->cpu_ns = sac_time_thread_cpu_ns() - cpu;
}

void sac_record_frame(sac_world *world, const sac_step_def *def, uint64_t start_cpu_ns)
{
    struct sac_recorder *recorder = world->recorder;
    char text[600];
    if (!recorder) return;
    recorder->wall_ns = recorder->cpu_ns = 0;
    if (recorder->file.file >= 0) record_frame(world, recorder, def, start_cpu_ns);
    if (recorder->file.error.code == SAC_OK || recorder->told) return;
    recorder->told = true;
    sac_world_log(world, "the recording ends: %s", sac_error_text(&recorder->file.error, text, sizeof text));
}

void sac_record_cost(const sac_world *world, uint64_t *out_wall_ns, uint64_t *out_cpu_ns)
{
    const struct sac_recorder *recorder = world ? world->recorder : NULL;
    if (out_wall_ns) *out_wall_ns = recorder ? recorder->wall_ns : 0;
    if (out_cpu_ns) *out_cpu_ns = recorder ? recorder->cpu_ns : 0;
}

/* ---- start and stop ---- */

static bool untouched(const sac_world *world)
{
    return world->frame == 0 && world->slot_count == 0 && world->shape_count == 0 && world->grab_count == 0;
}

sac_result sac_record_start(sac_world *world, const char *path, sac_error *error)
{
    SAC_NEED(error, world, path);
    if (world->recorder)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "stop that one first",
                             "the world is already being recorded");
    if (!untouched(world))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start right after sac_world_create",
                             "a recording begins with an empty world");
    if (!sac_replay_fits(&world->def, &SAC_REPLAY_MOST, error)) return SAC_ERROR_LIMIT;
    struct sac_recorder *recorder = sac_alloc_zero(1, sizeof *recorder);
    if (!recorder) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to record");
    bool weigh = world->def.weight != NULL;
    sac_result result = SAC_OK;
    if (weigh && !sac_array_reserve(&world->tape.weights, world->agenda->capacity))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to record");
    if (result == SAC_OK)
        result = sac_chunk_writer_open(&recorder->file, path, sac_operations_checksum(), error);
    if (result != SAC_OK) {
        sac_free(recorder, 1, sizeof *recorder);
        return result;
    }
    sac_op_world op = {.def = world->def, .weighted = weigh};
    memcpy(op.policy, world->policy_name, sizeof op.policy);
    sac_record_world(recorder, &op);
    world->recorder = recorder;
    world->tape.weigh = weigh;
    return SAC_OK;
}

sac_result sac_record_stop(sac_world *world, sac_error *error)
{
    SAC_NEED(error, world);
    struct sac_recorder *recorder = world->recorder;
    if (!recorder)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start with sac_record_start",
                             "the world is not being recorded");
    sac_result result = sac_chunk_writer_close(&recorder->file, error);
    sac_array_fini(&recorder->files);
    sac_free(recorder, 1, sizeof *recorder);
    world->recorder = NULL;
    world->tape.weigh = false;
    return result;
}

sac_result sac_record_status(const sac_world *world, sac_error *error)
{
    SAC_NEED(error, world);
    if (!world->recorder || world->recorder->file.error.code == SAC_OK) return SAC_OK;
    if (error) *error = world->recorder->file.error;
    return world->recorder->file.error.code;
}
