/* Replay: the operations of a recording done again, one frame a call, each compared with what was. */
#include "base/clock.h"
#include "runtime/operations_internal.h"
#include "runtime/record_file_internal.h"

/* A tree, terrain or soft shape of the recording. */
typedef struct replay_file {
    sac_tree *tree;
    sac_terrain *terrain;
    sac_soft_shape *soft;
} replay_file;

struct sac_replay {
    sac_chunk_reader file;
    size_t at; /* in the chunk */
    uint32_t threads;
    sac_replay_limits most;
    sac_world *world;
    sac_array(replay_file) files;
    sac_viewer viewer;
    sac_array(sac_eye) more_eyes; /* of the viewer */
    bool looked;                  /* a viewer for the next step is there */
    sac_op_took took;             /* of the next step; no threads: not told */
    bool stepped;
    uint64_t frames;
    sac_replay_frame frame;
    sac_result result; /* once something went wrong it stays so */
    sac_error error;
};

static sac_result wrong(sac_error *error, const char *what)
{
    return sac_error_set(error, SAC_ERROR_CORRUPT, "record again with this version", "%s", what);
}

/* ---- fields ---- */

typedef struct field_reader {
    const unsigned char *bytes;
    size_t left;
    bool bad; /* ends too early, or holds what cannot be */
} field_reader;

static void take(field_reader *in, void *out, size_t size)
{
    if (size > in->left) {
        memset(out, 0, size);
        in->bad = true;
        in->left = 0;
        return;
    }
    if (size) memcpy(out, in->bytes, size);
    in->bytes += size;
    in->left -= size;
}

#define PLAIN(type)                                                                  \
    static void get_##type(field_reader *in, sac_field_##type *values, size_t count) \
    {                                                                                \
        take(in, values, count * sizeof *values);                                    \
    }
PLAIN(u32)
PLAIN(u64)
PLAIN(f32)
#undef PLAIN

static void get_text(field_reader *in, char *text, size_t size)
{
    take(in, text, size);
    if (text[size - 1]) in->bad = true;
    text[size - 1] = 0;
}

static void get_flag(field_reader *in, bool *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char byte;
        take(in, &byte, 1);
        if (byte > 1) in->bad = true;
        values[i] = byte == 1;
    }
}

static void get_bytes(field_reader *in, sac_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        take(in, &spans[i].size, sizeof spans[i].size);
        if (spans[i].size > in->left) {
            in->bad = true;
            spans[i].size = 0;
        }
        spans[i].data = in->bytes;
        in->bytes += spans[i].size;
        in->left -= spans[i].size;
    }
}

#define F(type, name, dims) \
    get_##type(in, (sac_field_##type *)&op->name, sizeof op->name / sizeof(sac_field_##type));

#define STRUCT(type, ctype, FIELDS)                                       \
    static void get_##type(field_reader *in, ctype *values, size_t count) \
    {                                                                     \
        for (size_t i = 0; i < count; i++) {                              \
            ctype *op = &values[i];                                       \
            FIELDS(F)                                                     \
        }                                                                 \
    }
SAC_RECORD_STRUCTS(STRUCT)
#undef STRUCT

/* ---- operations that need more than a call ---- */

bool sac_replay_fits(const sac_world_def *def, const sac_replay_limits *most, sac_error *error)
{
    if (def->bodies <= most->bodies && def->pairs <= most->pairs && def->agenda.pairs <= most->pairs &&
        def->agenda.entries <= most->entries && def->solver.bodies <= most->bodies + 1 &&
        def->solver.contacts <= most->pairs && def->solver.grabs <= most->bodies)
        return true;
    sac_error_set(error, SAC_ERROR_LIMIT, "ask for less room when the world is created",
                  "a recorded world has room for at most %u bodies and %u pairs", most->bodies, most->pairs);
    return false;
}

static sac_result sac_again_world(sac_replay *replay, sac_op_world *op, sac_error *error)
{
    if (replay->world) return wrong(error, "the world is created twice");
    sac_world_def *def = &op->def;
    if (!sac_replay_fits(def, &replay->most, error)) return SAC_ERROR_LIMIT;
    def->clock = sac_clock_monotonic();
    def->policy = op->policy;
    def->tasks = (sac_tasks_def){.threads = replay->threads};
    sac_result result = sac_world_create(def, &replay->world, error);
    if (result != SAC_OK) return result;
    replay->world->tape.replay = true;
    replay->world->tape.weigh = op->weighted;
    return SAC_OK;
}

static sac_result keep_file(sac_replay *replay, replay_file file, sac_error *error)
{
    if (sac_array_push(&replay->files, file)) return SAC_OK;
    sac_tree_destroy(&file.tree);
    sac_terrain_destroy(&file.terrain);
    sac_soft_shape_destroy(&file.soft);
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for one more shape");
}

static sac_result sac_again_tree(sac_replay *replay, const sac_op_tree *op, sac_error *error)
{
    replay_file file = {0};
    sac_result result = sac_tree_load_memory(op->file.data, op->file.size, &file.tree, error);
    return result == SAC_OK ? keep_file(replay, file, error) : result;
}

static sac_result sac_again_terrain(sac_replay *replay, const sac_op_terrain *op, sac_error *error)
{
    replay_file file = {0};
    sac_result result = sac_terrain_load_memory(op->file.data, op->file.size, &file.terrain, error);
    return result == SAC_OK ? keep_file(replay, file, error) : result;
}

static sac_result sac_again_soft(sac_replay *replay, const sac_op_soft *op, sac_error *error)
{
    replay_file file = {0};
    sac_result result = sac_soft_shape_load_memory(op->file.data, op->file.size, &file.soft, error);
    return result == SAC_OK ? keep_file(replay, file, error) : result;
}

static bool near(float a, float b) { return a - b <= 1e-5f && b - a <= 1e-5f; }

/* The form as it was: made from its numbers by those who check them, then what a caller may have changed. */
static sac_result form_of(sac_replay *replay, const sac_op_add_shape *op, sac_form *form, sac_error *error)
{
    const float *n = op->numbers;
    const replay_file *file = op->file < replay->files.count ? &replay->files.data[op->file] : NULL;
    sac_result result;
    switch (op->kind) {
    case SAC_FORM_TREE:
        if (!file || !file->tree) return wrong(error, "a shape has no tree");
        result = sac_form_from_tree(form, file->tree, error);
        break;
    case SAC_FORM_TERRAIN:
        if (!file || !file->terrain) return wrong(error, "a shape has no terrain");
        result = sac_form_from_terrain(form, file->terrain, error);
        break;
    case SAC_FORM_SOFT:
        if (!file || !file->soft) return wrong(error, "a shape has no soft shape");
        result = sac_form_from_soft(form, file->soft, error);
        break;
    case SAC_FORM_SPHERE:
        result = sac_form_sphere(form, n[0], error);
        break;
    case SAC_FORM_CAPSULE:
        result = sac_form_capsule(form, n[0], n[2], error);
        break;
    case SAC_FORM_BOX:
        result = sac_form_box(form, n + 1, error);
        break;
    case SAC_FORM_PLANE:
        result = sac_form_plane(form, n, n[3], error);
        if (result != SAC_OK) break;
        /* Already of length 1, and not to be rounded again. */
        if (!near(form->normal[0], n[0]) || !near(form->normal[1], n[1]) || !near(form->normal[2], n[2]))
            return wrong(error, "a plane's normal is not of length 1");
        memcpy(form->normal, n, sizeof form->normal);
        form->offset = n[3];
        break;
    default:
        return wrong(error, "a shape is of no known kind");
    }
    if (result != SAC_OK) return result;
    const sac_mass *m = &op->mass;
    bool fine = op->thickness > 0 && op->thickness <= FLT_MAX && m->volume >= 0 && m->volume <= FLT_MAX &&
                sac_vec3_is_finite(m->centre) && sac_vec3_is_finite(m->inertia) &&
                sac_vec3_is_finite(m->inertia + 3);
    if (!fine) return wrong(error, "a shape's mass or thickness is out of range");
    form->thickness = op->thickness;
    form->mass = op->mass;
    return SAC_OK;
}

static sac_result sac_again_add_shape(sac_replay *replay, const sac_op_add_shape *op, sac_error *error)
{
    sac_form form;
    sac_shape_id made = {0};
    sac_result result = form_of(replay, op, &form, error);
    if (result == SAC_OK) result = sac_world_add_shape(replay->world, &form, &made, error);
    if (result == SAC_OK && made.value != op->made) result = wrong(error, "a shape gets another id");
    return result;
}

static sac_result sac_again_body_create(sac_world *world, const sac_op_body_create *op, sac_error *error)
{
    sac_body_id made;
    sac_result result = sac_body_create(world, &op->def, &made, error);
    if (result == SAC_OK && made.value != op->made) result = wrong(error, "a body gets another id");
    return result;
}

static sac_result sac_again_grab_create(sac_world *world, const sac_op_grab_create *op, sac_error *error)
{
    sac_grab_id made;
    sac_result result = sac_grab_create(world, &op->def, &made, error);
    if (result == SAC_OK && made.value != op->made) result = wrong(error, "a grab gets another id");
    return result;
}

static sac_result sac_again_look(sac_replay *replay, const sac_op_look *op, sac_error *error)
{
    uint32_t eyes = op->viewer.eye_count, own = eyes < SAC_VIEWER_OWN_EYES ? eyes : SAC_VIEWER_OWN_EYES;
    if (op->more.size != (uint64_t)(eyes - own) * sizeof(sac_eye))
        return wrong(error, "a viewer has not as many eyes as it says");
    if (!sac_array_reserve(&replay->more_eyes, eyes - own))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u eyes", eyes);
    if (op->more.size) memcpy(replay->more_eyes.data, op->more.data, op->more.size);
    replay->viewer = op->viewer;
    replay->viewer.more_eyes = replay->more_eyes.data;
    replay->looked = true;
    return SAC_OK;
}

static sac_result sac_again_took(sac_replay *replay, const sac_op_took *op, sac_error *error)
{
    if (op->threads == 0) return wrong(error, "a step was taken by no thread");
    replay->took = *op;
    return SAC_OK;
}

static sac_result sac_again_step(sac_replay *replay, const sac_op_step *op, sac_error *error)
{
    sac_world *world = replay->world;
    sac_tape *tape = &world->tape;
    size_t weights = op->weights.size / sizeof(float);
    if (op->tape.size % sizeof *tape->values || op->tape.size > sizeof tape->values ||
        op->weights.size % sizeof(float) || (weights && !tape->weigh) || op->seen != replay->looked)
        return wrong(error, "a step has a tape, weights or a viewer that cannot be");
    if (!sac_array_reserve(&tape->weights, weights))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the weights of a step");
    if (op->tape.size) memcpy(tape->values, op->tape.data, op->tape.size);
    if (weights) memcpy(tape->weights.data, op->weights.data, op->weights.size);
    tape->count = op->tape.size / (uint32_t)sizeof *tape->values;
    tape->weights.count = weights;
    /* The largest number means "live" to a stop, and nobody decided it. */
    for (uint32_t i = 0; i < tape->count; i++)
        if (tape->values[i] == UINT64_MAX) return wrong(error, "a step has a tape that cannot be");
    for (size_t i = 0; i < weights; i++)
        if (!(tape->weights.data[i] >= 0 && tape->weights.data[i] <= 1000))
            return wrong(error, "a weight is out of range");
    sac_step_def def = sac_default_step_def();
    def.dt = op->dt;
    def.substeps = op->substeps;
    def.budget_ns = op->budget_ns;
    def.deadline_ns = op->deadline_ns;
    def.viewer_now_ns = op->viewer_now_ns;
    if (op->seen) def.viewer = &replay->viewer;
    uint64_t cpu = sac_time_thread_cpu_ns();
    sac_result result = sac_world_step(world, &def, NULL, error);
    cpu = sac_time_thread_cpu_ns() - cpu;
    if (result != SAC_OK) return result;
    replay->looked = false;
    replay->stepped = true;
    uint64_t hash = sac_world_hash(world);
    replay->frame = (sac_replay_frame){.frame = ++replay->frames,
                                       .hash = hash,
                                       .recorded_hash = op->hash,
                                       .same = hash == op->hash && !tape->short_of &&
                                               tape->at == tape->count && tape->weight_at == weights,
                                       .cpu_ns = cpu,
                                       .recorded_cpu_ns = replay->took.cpu_ns,
                                       .recorded_budget_ns = replay->took.budget_ns,
                                       .recorded_threads = replay->took.threads};
    replay->took = (sac_op_took){0};
    return SAC_OK;
}

/* ---- one after the other ---- */

/* The next operation of the chunk. */
static sac_result next_operation(sac_replay *replay, sac_error *error)
{
    field_reader reader = {replay->file.bytes + replay->at, replay->file.count - replay->at, false},
                 *in = &reader;
    sac_world *world = replay->world;
    unsigned char code = 0;
    take(in, &code, 1);
    if (!world && code != SAC_OP_world) return wrong(error, "something is done before there is a world");
    sac_result result = SAC_OK;
    switch (code) {
#define OP(number, name, FIELDS, again)                                                            \
    case number: {                                                                                 \
        sac_op_##name fields = {0}, *op = &fields;                                                 \
        FIELDS(F)                                                                                  \
        result = in->bad ? wrong(error, "an operation is not complete or not possible") : (again); \
        break;                                                                                     \
    }
        SAC_OPERATIONS(OP)
#undef OP
    default:
        return wrong(error, "there is an operation nobody knows");
    }
    if (result == SAC_OK) replay->at = replay->file.count - in->left;
    return result;
}
#undef F

/* Any failure of an operation that succeeded when it was recorded means that the bytes are not of this
 * program: say where they are. Memory is the exception. */
static sac_result at_operation(sac_replay *replay, sac_result result)
{
    sac_error *error = &replay->error;
    if (result != SAC_ERROR_MEMORY && result != SAC_ERROR_LIMIT) error->code = SAC_ERROR_CORRUPT;
    error->byte = (int64_t)(replay->file.bytes_at + replay->at);
    error->file[0] = 0;
    sac_error_in_file(error, replay->file.path);
    return error->code;
}

static sac_result advance(sac_replay *replay, bool *out_end)
{
    *out_end = false;
    while (replay->at == replay->file.count) {
        bool last = replay->file.last;
        replay->at = 0;
        sac_result result = sac_chunk_reader_next(&replay->file, &replay->error);
        if (result != SAC_OK) return result;
        if (last) {
            *out_end = true;
            return SAC_OK;
        }
        if (replay->file.frame != replay->frames)
            return at_operation(replay, wrong(&replay->error, "the chunk is of another frame"));
    }
    sac_result result = next_operation(replay, &replay->error);
    return result == SAC_OK ? SAC_OK : at_operation(replay, result);
}

/* ---- the door ---- */

static sac_result begin(sac_replay **out_replay, sac_replay *replay, sac_error *error)
{
    bool end = false;
    sac_result result = advance(replay, &end);
    if (result == SAC_OK && !replay->world)
        result = at_operation(replay, wrong(&replay->error, "there is no world in the recording"));
    if (result == SAC_OK) {
        *out_replay = replay;
        return SAC_OK;
    }
    if (error) *error = replay->error;
    sac_replay_close(&replay);
    return result;
}

static sac_replay *fresh(uint32_t threads, const sac_replay_limits *most, sac_error *error)
{
    sac_replay *replay = sac_alloc_zero(1, sizeof *replay);
    if (!replay) {
        sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a replay");
        return NULL;
    }
    replay->threads = threads ? threads : 1;
    replay->most = *most;
    return replay;
}

static const uint32_t *lists_read(uint32_t out[2])
{
    out[0] = sac_operations_checksum(), out[1] = sac_operations_checksum_before();
    return out;
}

sac_result sac_replay_open(const char *path, uint32_t threads, sac_replay **out_replay, sac_error *error)
{
    SAC_NEED(error, out_replay);
    *out_replay = NULL;
    SAC_NEED(error, path);
    sac_replay *replay = fresh(threads, &SAC_REPLAY_MOST, error);
    if (!replay) return SAC_ERROR_MEMORY;
    uint32_t lists[2];
    sac_result result = sac_chunk_reader_open(&replay->file, path, lists_read(lists), error);
    if (result == SAC_OK) return begin(out_replay, replay, error);
    sac_free(replay, 1, sizeof *replay);
    return result;
}

sac_result sac_replay_open_memory(const void *bytes, size_t size, uint32_t threads,
                                  const sac_replay_limits *most, sac_replay **out_replay, sac_error *error)
{
    *out_replay = NULL;
    sac_replay *replay = fresh(threads, most, error);
    if (!replay) return SAC_ERROR_MEMORY;
    uint32_t lists[2];
    sac_result result = sac_chunk_reader_open_memory(&replay->file, bytes, size, lists_read(lists), error);
    if (result == SAC_OK) return begin(out_replay, replay, error);
    sac_free(replay, 1, sizeof *replay);
    return result;
}

sac_result sac_replay_step(sac_replay *replay, sac_replay_frame *out_frame, sac_error *error)
{
    SAC_NEED(error, replay, out_frame);
    *out_frame = (sac_replay_frame){.frame = replay->frames};
    bool end = false;
    replay->stepped = false;
    while (replay->result == SAC_OK && !end && !replay->stepped) replay->result = advance(replay, &end);
    if (replay->result != SAC_OK) {
        if (error) *error = replay->error;
        return replay->result;
    }
    if (end)
        out_frame->end = true;
    else
        *out_frame = replay->frame;
    return SAC_OK;
}

sac_world *sac_replay_world(sac_replay *replay) { return replay ? replay->world : NULL; }

double sac_replay_progress(const sac_replay *replay)
{
    if (!replay) return 0;
    const sac_chunk_reader *file = &replay->file;
    return file->size ? (double)(file->at - file->count + replay->at) / (double)file->size : 1;
}

void sac_replay_close(sac_replay **pointer)
{
    sac_replay *replay = pointer ? *pointer : NULL;
    if (!replay) return;
    *pointer = NULL;
    sac_world_destroy(&replay->world);
    for (size_t i = 0; i < replay->files.count; i++) {
        sac_tree_destroy(&replay->files.data[i].tree);
        sac_terrain_destroy(&replay->files.data[i].terrain);
        sac_soft_shape_destroy(&replay->files.data[i].soft);
    }
    sac_array_fini(&replay->files);
    sac_array_fini(&replay->more_eyes);
    sac_chunk_reader_close(&replay->file);
    sac_free(replay, 1, sizeof *replay);
}
