#include "apps/scene_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/options.h"
#include "apps/scene_fields_internal.h"
#include "apps/tree_open.h"
#include "base/map.h"

enum { MOST_NAMES = 48, MOST_POSTS = 2048 };
#define MOST_AWAY 1e5f /* metres from the origin on each axis: as far as a world goes */
#define FIELDS(list) list, sizeof list / sizeof *list

typedef struct file_reader {
    sac_scene_reader r;
    sac_staging *staging;
    sac_map names; /* of actors */
} file_reader;

static bool no_memory(file_reader *f)
{
    f->r.result =
        sac_error_set(f->r.error, SAC_ERROR_MEMORY, "make the scene smaller", "no memory for the scene");
    return false;
}

/* ---- shapes ---- */

static bool is_builtin(const char *name)
{
    for (uint32_t i = 0; sac_mesh_builtin_name(i); i++)
        if (strcmp(name, sac_mesh_builtin_name(i)) == 0) return true;
    for (uint32_t i = 0; sac_spheres_builtin_name(i); i++)
        if (strcmp(name, sac_spheres_builtin_name(i)) == 0) return true;
    return false;
}

/* A built-in's name, or a file beside the scene file. */
static bool read_source(file_reader *f, const sac_lined_value *v, const char *what, bool builtins,
                        sac_prop *prop)
{
    if (!sac_scene_want(&f->r, v, what, SAC_LINED_TEXT)) return false;
    if (!v->text[0]) return sac_scene_wrong(&f->r, v, "name a file or a built-in mesh", "%s is empty", what);
    prop->builtin = builtins && is_builtin(v->text);
    bool file = strchr(v->text, '.') || strchr(v->text, '/');
    if (builtins && !prop->builtin && !file) {
        const char *names[MOST_NAMES + 1] = {0};
        uint32_t n = 0;
        for (uint32_t i = 0; sac_mesh_builtin_name(i) && n < MOST_NAMES; i++)
            names[n++] = sac_mesh_builtin_name(i);
        for (uint32_t i = 0; sac_spheres_builtin_name(i) && n < MOST_NAMES; i++)
            names[n++] = sac_spheres_builtin_name(i);
        sac_scene_choice(&f->r, v, what, names);
        return false;
    }
    const char *slash = strrchr(f->r.file, '/');
    bool beside = !prop->builtin && v->text[0] != '/' && slash;
    size_t folder = beside ? (size_t)(slash - f->r.file) + 1 : 0, length = strlen(v->text),
           size = folder + length + 1;
    if (size > SAC_SOURCE_MOST)
        return sac_scene_wrong(&f->r, v, "use a shorter path", "the path of %s is too long", what);
    if (!(prop->source = sac_alloc(size, 1))) return no_memory(f);
    /* What is wrong with a file, or with the use of a built-in, is told where its name stands. */
    prop->line = v->starts;
    memcpy(prop->source, f->r.file, folder);
    memcpy(prop->source + folder, v->text, length + 1);
    return true;
}

static bool read_heights(file_reader *f, const sac_lined_value *v, sac_prop *prop)
{
    if (!sac_scene_want(&f->r, v, "\"heights\"", SAC_LINED_LIST)) return false;
    if (v->count < 2 || v->count > MOST_POSTS)
        return sac_scene_wrong(&f->r, v, "write 2 to 2048 rows", "\"heights\" has %u rows", v->count);
    for (const sac_lined_value *row = v->first; row; row = row->next) {
        if (!sac_scene_want(&f->r, row, "a row of \"heights\"", SAC_LINED_LIST)) return false;
        if (row == v->first && (row->count < 2 || row->count > MOST_POSTS))
            return sac_scene_wrong(&f->r, row, "write 2 to 2048 heights a row", "the row has %u heights",
                                   row->count);
        if (row->count != v->first->count)
            return sac_scene_wrong(&f->r, row, "make all rows the same length",
                                   "the row has %u heights, the first one %u", row->count, v->first->count);
    }
    prop->rows = v->count, prop->columns = v->first->count;
    prop->heights = sac_alloc((size_t)prop->rows * prop->columns, sizeof *prop->heights);
    if (!prop->heights) return no_memory(f);
    float *out = prop->heights;
    for (const sac_lined_value *row = v->first; row; row = row->next, out += prop->columns)
        if (!sac_scene_vector(&f->r, row, "a height", prop->columns, -1e4, 1e4, out)) return false;
    return true;
}

static bool read_plane(file_reader *f, const sac_lined_value *v, sac_prop *prop)
{
    static const sac_scene_field fields[] = {
        {"normal", SAC_SCENE_VECTOR, offsetof(sac_prop, normal), -1e6, 1e6},
        {"offset", SAC_SCENE_FLOAT, offsetof(sac_prop, offset), -1e5, 1e5}};
    double square = 0;
    prop->normal[1] = 1;
    if (!sac_scene_fields_read(&f->r, v, "\"plane\"", FIELDS(fields), prop)) return false;
    for (int k = 0; k < 3; k++) square += (double)prop->normal[k] * prop->normal[k];
    if (!(square > 1e-12)) /* not the default, so it was given */
        return sac_scene_wrong(&f->r, sac_lined_get(v, "normal"), "write the way up, e.g. [0, 1, 0]",
                               "the plane's normal has no length");
    for (int k = 0; k < 3; k++) prop->normal[k] = (float)(prop->normal[k] / sqrt(square));
    return true;
}

static bool read_capsule(file_reader *f, const sac_lined_value *v, sac_prop *prop)
{
    static const sac_scene_field fields[] = {
        {"radius", SAC_SCENE_FLOAT, offsetof(sac_prop, radius), 1e-4, 1e3},
        {"length", SAC_SCENE_FLOAT, offsetof(sac_prop, half[1]), 1e-4, 1e3}};
    if (!sac_scene_fields_read(&f->r, v, "\"capsule\"", FIELDS(fields), prop)) return false;
    for (size_t i = 0; i < 2; i++)
        if (!sac_lined_get(v, fields[i].name))
            return sac_scene_wrong(&f->r, v, "write {\"radius\": 0.1, \"length\": 0.4}",
                                   "\"capsule\" needs a \"%s\"", fields[i].name);
    prop->half[1] *= 0.5f;
    return true;
}

static const char *const shape_kinds[] = {"mesh", "spheres", "tree",    "sphere",  "capsule",
                                          "box",  "plane",   "heights", "terrain", NULL};
enum { MESH, SPHERES, TREE, SPHERE, CAPSULE, BOX, PLANE, HEIGHTS, TERRAIN };

static bool read_shape_kind(file_reader *f, const sac_lined_value *v, int kind, sac_prop *prop)
{
    static const sac_prop_kind kinds[] = {SAC_PROP_BAKED,  SAC_PROP_BAKED,   SAC_PROP_TREE,
                                          SAC_PROP_SPHERE, SAC_PROP_CAPSULE, SAC_PROP_BOX,
                                          SAC_PROP_PLANE,  SAC_PROP_HEIGHTS, SAC_PROP_TERRAIN};
    char what[32];
    double number;
    snprintf(what, sizeof what, "\"%s\"", shape_kinds[kind]);
    prop->kind = kinds[kind];
    switch (kind) {
    case MESH:
    case TERRAIN:
        return read_source(f, v, what, true, prop);
    case SPHERES:
        if (!read_source(f, v, what, true, prop)) return false;
        if (prop->builtin
                ? prop->source[0] == 't' && prop->source[1] < 'A'
                : sac_text_ends_in(prop->source, ".spheres") || sac_text_ends_in(prop->source, ".xyzr"))
            return true;
        return sac_scene_wrong(&f->r, v, "use t24, t100, t500 or a file *.spheres or *.xyzr",
                               "\"%.60s\" is no set of spheres", v->text);
    case TREE:
        return read_source(f, v, what, false, prop);
    case SPHERE:
        if (!sac_scene_number(&f->r, v, "the radius of \"sphere\"", 1e-4, 1e4, &number)) return false;
        prop->radius = (float)number;
        return true;
    case CAPSULE:
        return read_capsule(f, v, prop);
    case BOX:
        if (!sac_scene_vector(&f->r, v, "\"box\"", 3, 1e-4, 1e4, prop->half)) return false;
        for (int k = 0; k < 3; k++) prop->half[k] *= 0.5f;
        return true;
    case PLANE:
        return read_plane(f, v, prop);
    default:
        return read_heights(f, v, prop);
    }
}

static bool read_shape(file_reader *f, const sac_lined_value *shape, sac_prop *prop)
{
    static const sac_scene_field fields[] = {
        {"mesh", SAC_SCENE_OTHER, 0, 0, 0},
        {"spheres", SAC_SCENE_OTHER, 0, 0, 0},
        {"tree", SAC_SCENE_OTHER, 0, 0, 0},
        {"sphere", SAC_SCENE_OTHER, 0, 0, 0},
        {"capsule", SAC_SCENE_OTHER, 0, 0, 0},
        {"box", SAC_SCENE_OTHER, 0, 0, 0},
        {"plane", SAC_SCENE_OTHER, 0, 0, 0},
        {"heights", SAC_SCENE_OTHER, 0, 0, 0},
        {"terrain", SAC_SCENE_OTHER, 0, 0, 0},
        {"triangles", SAC_SCENE_UINT, offsetof(sac_prop, triangles), 4, 1000000},
        {"depth", SAC_SCENE_UINT, offsetof(sac_prop, depth), 1, 6},
        {"spacing", SAC_SCENE_FLOAT, offsetof(sac_prop, spacing), 1e-3, 1e3},
        {"hidden", SAC_SCENE_BOOL, offsetof(sac_prop, hidden), 0, 0}};
    const sac_lined_value *found = NULL, *extra;
    int kind = -1;
    char what[SAC_NAME_MOST + 16];
    snprintf(what, sizeof what, "shape \"%s\"", prop->name);
    if (!sac_scene_fields_read(&f->r, shape, what, FIELDS(fields), prop)) return false;
    for (int i = 0; shape_kinds[i]; i++) {
        const sac_lined_value *v = sac_lined_get(shape, shape_kinds[i]);
        if (v && found)
            return sac_scene_wrong(&f->r, v, "keep one of them, or make two shapes",
                                   "%s is both \"%s\" and \"%s\"", what, found->key, v->key);
        if (v) found = v, kind = i;
    }
    if (!found)
        return sac_scene_wrong(
            &f->r, shape, "give it one of mesh, spheres, tree, sphere, capsule, box, plane, heights, terrain",
            "%s has no geometry", what);
    if ((extra = sac_lined_get(shape, "spacing")) && kind != HEIGHTS)
        return sac_scene_wrong(&f->r, extra, "take it out", "\"spacing\" belongs to \"heights\" only");
    if (!extra && kind == HEIGHTS)
        return sac_scene_wrong(&f->r, shape, "add \"spacing\": 0.5",
                               "%s needs the \"spacing\" of its heights", what);
    if ((extra = sac_lined_get(shape, "depth")) && kind != MESH)
        return sac_scene_wrong(&f->r, extra, "take it out", "\"depth\" belongs to \"mesh\" only");
    if ((extra = sac_lined_get(shape, "triangles")) && kind != MESH && kind != TERRAIN)
        return sac_scene_wrong(&f->r, extra, "take it out",
                               "\"triangles\" belongs to \"mesh\" and \"terrain\" only");
    return read_shape_kind(f, found, kind, prop);
}

static bool read_shapes(file_reader *f, const sac_lined_value *shapes)
{
    if (!sac_scene_want(&f->r, shapes, "\"shapes\"", SAC_LINED_OBJECT)) return false;
    for (const sac_lined_value *v = shapes->first; v; v = v->next) {
        sac_prop prop = {.line = v->line};
        if (!v->key[0] || strlen(v->key) >= SAC_NAME_MOST)
            return sac_scene_wrong(&f->r, v, "use 1 to 47 bytes", "a shape's name is empty or too long");
        strcpy(prop.name, v->key);
        bool ok = read_shape(f, v, &prop);
        if (ok && sac_staging_add_prop(f->staging, &prop) == UINT32_MAX) ok = no_memory(f);
        if (prop.source) sac_free(prop.source, strlen(prop.source) + 1, 1);
        sac_free(prop.heights, (size_t)prop.rows * prop.columns, sizeof *prop.heights);
        if (!ok) return false;
    }
    return true;
}

static bool find_shape(file_reader *f, const sac_lined_value *v, uint32_t *out)
{
    const char *names[MOST_NAMES + 1] = {0};
    char name[SAC_NAME_MOST];
    uint32_t n = 0, i = 0;
    if (!sac_scene_name(&f->r, v, "\"shape\"", name)) return false;
    for (; i < f->staging->props.count; i++) {
        if (strcmp(f->staging->props.data[i].name, name) == 0) break;
        if (n < MOST_NAMES) names[n++] = f->staging->props.data[i].name;
    }
    *out = i;
    if (i < f->staging->props.count) return true;
    const char *meant = sac_options_suggest(name, names);
    char remedy[128];
    snprintf(remedy, sizeof remedy, meant ? "did you mean \"%s\"?" : "describe it under \"shapes\"", meant);
    return sac_scene_wrong(&f->r, v, remedy, "there is no shape \"%s\"", name);
}

/* ---- bodies ---- */

typedef struct repeat {
    uint32_t count[3];
    float spacing[3], jitter;
    bool turned;
    uint32_t seed;
} repeat;

static bool read_repeat(file_reader *f, const sac_lined_value *v, repeat *out)
{
    static const sac_scene_field fields[] = {
        {"count", SAC_SCENE_OTHER, 0, 0, 0},
        {"spacing", SAC_SCENE_VECTOR, offsetof(repeat, spacing), -1e4, 1e4},
        {"jitter", SAC_SCENE_FLOAT, offsetof(repeat, jitter), 0, 1e3},
        {"turned", SAC_SCENE_BOOL, offsetof(repeat, turned), 0, 0},
        {"seed", SAC_SCENE_UINT, offsetof(repeat, seed), 0, 4294967295.0}};
    float counts[3];
    const sac_lined_value *count;
    if (!sac_scene_fields_read(&f->r, v, "\"repeat\"", FIELDS(fields), out)) return false;
    if (!(count = sac_lined_get(v, "count")))
        return sac_scene_wrong(&f->r, v, "add \"count\": [4, 4, 4]", "\"repeat\" needs a \"count\"");
    if (!sac_scene_vector(&f->r, count, "\"count\"", 3, 1, 1000, counts)) return false;
    for (int k = 0; k < 3; k++) {
        if (counts[k] != floorf(counts[k]))
            return sac_scene_wrong(&f->r, count, "round it", "\"count\" must be whole numbers");
        out->count[k] = (uint32_t)counts[k];
    }
    return true;
}

static bool read_turning(file_reader *f, const sac_lined_value *v, float out[4])
{
    typedef struct turning {
        float axis[3], degrees;
    } turning;
    static const sac_scene_field fields[] = {
        {"axis", SAC_SCENE_VECTOR, offsetof(turning, axis), -1e6, 1e6},
        {"degrees", SAC_SCENE_FLOAT, offsetof(turning, degrees), -3600, 3600}};
    turning t = {.axis = {0, 1, 0}};
    if (!sac_scene_fields_read(&f->r, v, "\"turn\"", FIELDS(fields), &t)) return false;
    if (!sac_lined_get(v, "degrees"))
        return sac_scene_wrong(&f->r, v, "write {\"axis\": [0, 1, 0], \"degrees\": 90}",
                               "\"turn\" needs \"degrees\"");
    double length =
        sqrt((double)t.axis[0] * t.axis[0] + (double)t.axis[1] * t.axis[1] + (double)t.axis[2] * t.axis[2]);
    if (!(length > 1e-6))
        return sac_scene_wrong(&f->r, sac_lined_get(v, "axis"), "write e.g. [0, 1, 0]",
                               "the \"axis\" of \"turn\" has no length");
    double half = t.degrees * 0.5 * 0.017453292519943295;
    for (int k = 0; k < 3; k++) out[k] = (float)(t.axis[k] / length * sin(half));
    out[3] = (float)cos(half);
    return true;
}

static bool read_inertia(file_reader *f, const sac_lined_value *v, float out[6])
{
    if (!sac_scene_want(&f->r, v, "\"inertia\"", SAC_LINED_LIST)) return false;
    if (v->count != 3 && v->count != 6)
        return sac_scene_wrong(&f->r, v, "write [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]",
                               "\"inertia\" needs 3 or 6 numbers, not %u", v->count);
    if (!sac_scene_vector(&f->r, v, "\"inertia\"", v->count, -1e9, 1e9, out)) return false;
    for (int k = 0; k < 3; k++)
        if (!(out[k] > 0))
            return sac_scene_wrong(&f->r, v, "give it moments above 0",
                                   "the moments of \"inertia\" must be positive");
    for (int k = 0; k < 3; k++)
        if (out[k] > 1.0001f * (out[(k + 1) % 3] + out[(k + 2) % 3]))
            return sac_scene_wrong(&f->r, v, "no moment can be more than the other two together",
                                   "no body has this \"inertia\"");
    double xx = out[0], yy = out[1], zz = out[2], xy = out[3], xz = out[4], yz = out[5];
    double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    if (!(xx * yy > xy * xy && xx * zz > xz * xz && yy * zz > yz * yz && det > 0))
        return sac_scene_wrong(&f->r, v, "make xy, xz and yz smaller", "no body has this \"inertia\"");
    return true;
}

#define BODY(member) offsetof(sac_actor, def.member)
static const sac_scene_field body_fields[] = {
    {"shape", SAC_SCENE_OTHER, 0, 0, 0},
    {"position", SAC_SCENE_VECTOR, BODY(position), -1e5, 1e5},
    {"rotation", SAC_SCENE_TURN, BODY(rotation), 0, 0},
    {"turn", SAC_SCENE_OTHER, 0, 0, 0},
    {"name", SAC_SCENE_NAME, offsetof(sac_actor, name), 0, 0},
    {"kind", SAC_SCENE_OTHER, 0, 0, 0},
    {"velocity", SAC_SCENE_SPEED, BODY(velocity), 0, 1e4},
    {"spin", SAC_SCENE_SPEED, BODY(spin), 0, 1e4},
    {"mass", SAC_SCENE_FLOAT, BODY(mass), 1e-6, 1e9},
    {"density", SAC_SCENE_FLOAT, BODY(density), 1e-6, 1e6},
    {"inertia", SAC_SCENE_OTHER, 0, 0, 0},
    {"centre", SAC_SCENE_VECTOR, BODY(centre), -1e4, 1e4},
    {"scale", SAC_SCENE_FLOAT, BODY(scale), 1e-3, 1e3},
    {"friction", SAC_SCENE_FLOAT, BODY(material.friction), 0, 10},
    {"restitution", SAC_SCENE_FLOAT, BODY(material.restitution), 0, 1},
    {"rolling", SAC_SCENE_FLOAT, BODY(material.rolling), 0, 10},
    {"repeat", SAC_SCENE_OTHER, 0, 0, 0},
    {"sensor", SAC_SCENE_BOOL, BODY(sensor), 0, 0},
    {"asleep", SAC_SCENE_BOOL, BODY(asleep), 0, 0},
    {"never_sleeps", SAC_SCENE_BOOL, BODY(never_sleeps), 0, 0},
    {"gravity_scale", SAC_SCENE_FLOAT, BODY(gravity_scale), -100, 100},
    {"linear_damping", SAC_SCENE_FLOAT, BODY(linear_damping), 0, 1000},
    {"angular_damping", SAC_SCENE_FLOAT, BODY(angular_damping), 0, 1000},
    {"most_speed", SAC_SCENE_FLOAT, BODY(most_speed), 1e-3, 1e4},
    {"most_spin", SAC_SCENE_FLOAT, BODY(most_spin), 1e-3, 1e4},
    {"category", SAC_SCENE_UINT, BODY(filter.category), 0, 4294967295.0},
    {"mask", SAC_SCENE_UINT, BODY(filter.mask), 0, 4294967295.0},
    {"group", SAC_SCENE_INT, BODY(filter.group), -2147483648.0, 2147483647.0},
    {"later", SAC_SCENE_BOOL, offsetof(sac_actor, later), 0, 0},
};

/* The actor of this name; with `enter` not UINT32_MAX, that one if there was none. NULL when there is none.
 */
static const sac_actor *find_actor(file_reader *f, const char *name, uint32_t enter)
{
    uint64_t key = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++) key = (key ^ (uint8_t)*c) * 0x100000001b3u;
    for (key |= 1;; key += 2) {
        bool fresh;
        uint32_t *value = sac_map_at(&f->names, key, &fresh);
        if (!value) return NULL;
        if (fresh || *value == UINT32_MAX) *value = enter, fresh = true;
        if (*value == UINT32_MAX) return NULL;
        const sac_actor *actor = &f->staging->actors.data[*value];
        if (fresh || strcmp(actor->name, name) == 0) return actor;
    }
}

static bool add_repeated(file_reader *f, const sac_lined_value *at, const sac_actor *actor, const repeat *rep)
{
    uint32_t total = rep->count[0] * rep->count[1] * rep->count[2], number = 0; /* at most 10^9 */
    if (f->staging->actors.count + total > SAC_STAGING_MOST_BODIES)
        return sac_scene_wrong(&f->r, at, "repeat less often", "this makes more than %u bodies",
                               SAC_STAGING_MOST_BODIES);
    if (total > 1 && strlen(actor->name) > 35)
        return sac_scene_wrong(&f->r, at, "at most 35 bytes: its number follows",
                               "the name \"%s\" is too long to be repeated", actor->name);
    sac_rng rng = sac_rng_seed(rep->seed);
    for (uint32_t y = 0; y < rep->count[1]; y++)
        for (uint32_t z = 0; z < rep->count[2]; z++)
            for (uint32_t x = 0; x < rep->count[0]; x++) {
                sac_actor copy = *actor;
                const uint32_t cell[3] = {x, y, z};
                float square;
                for (int k = 0; k < 3; k++) {
                    copy.def.position[k] +=
                        (float)cell[k] * rep->spacing[k] + sac_rng_range(&rng, -rep->jitter, rep->jitter);
                    if (!(fabsf(copy.def.position[k]) <= MOST_AWAY))
                        return sac_scene_wrong(&f->r, at, "make it smaller: a body is at most 100,000 m away",
                                               "the block reaches %g m from the origin",
                                               (double)fabsf(copy.def.position[k]));
                }
                while (rep->turned) {
                    square = 0;
                    for (int k = 0; k < 4; k++)
                        copy.def.rotation[k] = sac_rng_range(&rng, -1, 1),
                        square += copy.def.rotation[k] * copy.def.rotation[k];
                    if (square > 1 || square < 0.01f) continue;
                    for (int k = 0; k < 4; k++) copy.def.rotation[k] /= sqrtf(square);
                    break;
                }
                number++;
                if (copy.name[0] && total > 1)
                    snprintf(copy.name, sizeof copy.name, "%.35s %u", actor->name, number);
                if (!sac_array_push(&f->staging->actors, copy)) return no_memory(f);
                uint32_t index = (uint32_t)f->staging->actors.count - 1;
                if (copy.name[0] && find_actor(f, copy.name, index) != &f->staging->actors.data[index])
                    return sac_scene_wrong(&f->r, at, "choose another name", "there is a body \"%s\" already",
                                           copy.name);
            }
    return true;
}

static bool read_body(file_reader *f, const sac_lined_value *body)
{
    static const char *const kinds[] = {"static", "kinematic", "dynamic", NULL};
    static const sac_body_kind kind_of[] = {SAC_BODY_STATIC, SAC_BODY_KINEMATIC, SAC_BODY_DYNAMIC};
    sac_actor actor = {.def = sac_default_body_def(), .line = body->line};
    repeat rep = {.count = {1, 1, 1}, .spacing = {1, 1, 1}, .seed = 1};
    const sac_lined_value *v, *shape;
    if (!sac_scene_fields_read(&f->r, body, "a body", FIELDS(body_fields), &actor)) return false;
    if (!(shape = sac_lined_get(body, "shape")))
        return sac_scene_wrong(&f->r, body, "add \"shape\": \"name\"", "the body has no \"shape\"");
    if (!find_shape(f, shape, &actor.prop)) return false;
    sac_prop_kind form = f->staging->props.data[actor.prop].kind;
    bool still = form == SAC_PROP_PLANE || form == SAC_PROP_HEIGHTS || form == SAC_PROP_TERRAIN;
    if (still) actor.def.kind = SAC_BODY_STATIC;
    if ((v = sac_lined_get(body, "kind"))) {
        int kind = sac_scene_choice(&f->r, v, "\"kind\"", kinds);
        if (kind < 0) return false;
        actor.def.kind = kind_of[kind];
        if (still && actor.def.kind != SAC_BODY_STATIC)
            return sac_scene_wrong(&f->r, v, "make it static, or give it another shape",
                                   "planes, heights and terrain cannot move");
    }
    if (sac_lined_get(body, "turn") && sac_lined_get(body, "rotation"))
        return sac_scene_wrong(&f->r, sac_lined_get(body, "turn"), "keep one of them",
                               "a body has both \"turn\" and \"rotation\"");
    if ((v = sac_lined_get(body, "turn")) && !read_turning(f, v, actor.def.rotation)) return false;
    if ((v = sac_lined_get(body, "density")) && sac_lined_get(body, "mass"))
        return sac_scene_wrong(&f->r, v, "keep one of them", "a body has both \"mass\" and \"density\"");
    if ((v = sac_lined_get(body, "inertia"))) {
        if (!sac_lined_get(body, "mass"))
            return sac_scene_wrong(&f->r, v, "add a \"mass\"", "\"inertia\" goes with a \"mass\"");
        if (!read_inertia(f, v, actor.def.inertia)) return false;
    }
    actor.def.centre_given = sac_lined_get(body, "centre") != NULL;
    if (actor.name[0]) {
        const sac_actor *before = find_actor(f, actor.name, UINT32_MAX);
        if (before)
            return sac_scene_wrong(&f->r, sac_lined_get(body, "name"), "choose another name",
                                   "there is a body \"%s\" already, in line %lld", actor.name,
                                   (long long)before->line);
    }
    if ((v = sac_lined_get(body, "repeat")) && !read_repeat(f, v, &rep)) return false;
    return add_repeated(f, v ? v : body, &actor, &rep);
}

/* ---- events ---- */

static bool find_body(file_reader *f, const sac_lined_value *event, uint32_t *out)
{
    const char *names[MOST_NAMES + 1] = {0};
    char name[SAC_NAME_MOST], remedy[128];
    const sac_lined_value *v = sac_lined_get(event, "body");
    if (!v) return sac_scene_wrong(&f->r, event, "add \"body\": \"name\"", "the event names no \"body\"");
    if (!sac_scene_name(&f->r, v, "\"body\"", name)) return false;
    const sac_actor *actor = find_actor(f, name, UINT32_MAX);
    if (actor) {
        *out = (uint32_t)(actor - f->staging->actors.data);
        return true;
    }
    for (size_t i = 0, n = 0; i < f->staging->actors.count && n < MOST_NAMES; i++)
        if (f->staging->actors.data[i].name[0]) names[n++] = f->staging->actors.data[i].name;
    const char *meant = sac_options_suggest(name, names);
    snprintf(remedy, sizeof remedy,
             meant ? "did you mean \"%s\"?"
                   : "give a body this \"name\"; a repeated one is called \"name 1\", \"name 2\", ...",
             meant);
    return sac_scene_wrong(&f->r, v, remedy, "there is no body \"%s\"", name);
}

static bool read_event(file_reader *f, const sac_lined_value *event)
{
    static const char *const kinds[] = {"push", "throw", "move", "create", "destroy", "gravity", NULL};
    static const char *const vectors[] = {"impulse", "velocity", "position", NULL, NULL, "gravity"};
    static const char *const turns[] = {NULL, "spin", "rotation", NULL, NULL, NULL};
    static const sac_scene_field fields[] = {
        {"time", SAC_SCENE_OTHER, 0, 0, 0},
        {"do", SAC_SCENE_OTHER, 0, 0, 0},
        {"body", SAC_SCENE_OTHER, 0, 0, 0},
        {"impulse", SAC_SCENE_VECTOR, offsetof(sac_cue, vector), -1e7, 1e7},
        {"velocity", SAC_SCENE_SPEED, offsetof(sac_cue, vector), 0, 1e4},
        {"position", SAC_SCENE_VECTOR, offsetof(sac_cue, vector), -1e5, 1e5},
        {"gravity", SAC_SCENE_VECTOR, offsetof(sac_cue, vector), -1e3, 1e3},
        {"spin", SAC_SCENE_SPEED, offsetof(sac_cue, turn), 0, 1e4},
        {"rotation", SAC_SCENE_TURN, offsetof(sac_cue, turn), 0, 0}};
    sac_cue cue = {.line = event->line};
    const sac_lined_value *v;
    if (!sac_scene_fields_read(&f->r, event, "an event", FIELDS(fields), &cue)) return false;
    if (!(v = sac_lined_get(event, "do")))
        return sac_scene_wrong(&f->r, event, "add \"do\": \"push\", throw, move, create, destroy or gravity",
                               "the event does nothing");
    int kind = sac_scene_choice(&f->r, v, "\"do\"", kinds);
    if (kind < 0) return false;
    cue.kind = (sac_cue_kind)kind;
    if (!(v = sac_lined_get(event, "time")))
        return sac_scene_wrong(&f->r, event, "add \"time\": seconds", "the event has no \"time\"");
    if (!sac_scene_number(&f->r, v, "\"time\"", 0, 1e6, &cue.time)) return false;
    for (v = event->first; v; v = v->next) {
        bool fits = strcmp(v->key, "time") == 0 || strcmp(v->key, "do") == 0 ||
                    (strcmp(v->key, "body") == 0 && cue.kind != SAC_CUE_GRAVITY) ||
                    (vectors[kind] && strcmp(v->key, vectors[kind]) == 0) ||
                    (turns[kind] && strcmp(v->key, turns[kind]) == 0);
        if (!fits)
            return sac_scene_wrong(&f->r, v, "take it out", "\"%s\" does not go with \"do\": \"%s\"", v->key,
                                   kinds[kind]);
    }
    if (vectors[kind] && !sac_lined_get(event, vectors[kind]))
        return sac_scene_wrong(&f->r, event, "write [x, y, z]", "\"do\": \"%s\" needs %s \"%s\"", kinds[kind],
                               cue.kind == SAC_CUE_PUSH ? "an" : "a", vectors[kind]);
    if (cue.kind != SAC_CUE_GRAVITY && !find_body(f, event, &cue.actor)) return false;
    /* Now: the run may be long, and a body's kind never changes in it. */
    sac_body_kind moves =
        cue.kind == SAC_CUE_GRAVITY ? SAC_BODY_DYNAMIC : f->staging->actors.data[cue.actor].def.kind;
    if (cue.kind == SAC_CUE_PUSH && moves != SAC_BODY_DYNAMIC)
        return sac_scene_wrong(&f->r, event, "make the body dynamic, or move it",
                               "\"push\" is for dynamic bodies");
    if (cue.kind == SAC_CUE_THROW && moves == SAC_BODY_STATIC)
        return sac_scene_wrong(&f->r, event, "make the body dynamic or kinematic",
                               "a static body cannot be thrown");
    if (cue.kind == SAC_CUE_CREATE && !f->staging->actors.data[cue.actor].later)
        return sac_scene_wrong(&f->r, event, "give the body \"later\": true",
                               "the body is there from the start");
    if (cue.kind == SAC_CUE_MOVE && !sac_lined_get(event, "rotation"))
        memcpy(cue.turn, f->staging->actors.data[cue.actor].def.rotation, sizeof cue.turn);
    return sac_staging_add_cue(f->staging, &cue) || no_memory(f);
}

/* ---- the whole ---- */

static bool read_list(file_reader *f, const sac_lined_value *list, const char *what,
                      bool (*item)(file_reader *, const sac_lined_value *))
{
    if (!sac_scene_want(&f->r, list, what, SAC_LINED_LIST)) return false;
    for (const sac_lined_value *v = list->first; v; v = v->next)
        if (!item(f, v)) return false;
    return true;
}

static bool read_viewer(file_reader *f, const sac_lined_value *v)
{
    static const sac_scene_field fields[] = {
        {"position", SAC_SCENE_VECTOR, offsetof(sac_staging, eye), -1e4, 1e4},
        {"look_at", SAC_SCENE_VECTOR, offsetof(sac_staging, target), -1e4, 1e4},
        {"ipd", SAC_SCENE_FLOAT, offsetof(sac_staging, ipd), 0, 0.2},
        {"fov", SAC_SCENE_OTHER, 0, 0, 0}};
    sac_staging *s = f->staging;
    const sac_lined_value *fov;
    s->nobody = v->kind == SAC_LINED_NULL;
    if (s->nobody) return true;
    if (!sac_scene_fields_read(&f->r, v, "\"viewer\"", FIELDS(fields), s)) return false;
    if ((fov = sac_lined_get(v, "fov")) && !sac_scene_vector(&f->r, fov, "\"fov\"", 2, 10, 170, s->fov))
        return false;
    float square = 0;
    for (int k = 0; k < 3; k++) square += (s->target[k] - s->eye[k]) * (s->target[k] - s->eye[k]);
    return square > 1e-6f ||
           sac_scene_wrong(&f->r, v, "move one of them", "the viewer looks at its own \"position\"");
}

static bool read_bounds(file_reader *f, const sac_lined_value *v)
{
    static const sac_scene_field fields[] = {
        {"low", SAC_SCENE_VECTOR, offsetof(sac_staging, bounds.low), -1e5, 1e5},
        {"high", SAC_SCENE_VECTOR, offsetof(sac_staging, bounds.high), -1e5, 1e5}};
    sac_staging *s = f->staging;
    if (!sac_scene_fields_read(&f->r, v, "\"bounds\"", FIELDS(fields), s)) return false;
    for (int i = 0; i < 2; i++)
        if (!sac_lined_get(v, fields[i].name))
            return sac_scene_wrong(&f->r, v, "write {\"low\": [x, y, z], \"high\": [x, y, z]}",
                                   "\"bounds\" needs a \"%s\"", fields[i].name);
    for (int k = 0; k < 3; k++)
        if (!(s->bounds.low[k] < s->bounds.high[k]))
            return sac_scene_wrong(&f->r, v, "swap the numbers",
                                   "\"low\" must be below \"high\" on every axis");
    s->bounded = true;
    return true;
}

static bool read_scene(file_reader *f, const sac_lined_value *root)
{
    static const sac_scene_field fields[] = {
        {"name", SAC_SCENE_NAME, offsetof(sac_staging, name), 0, 0},
        {"about", SAC_SCENE_OTHER, 0, 0, 0},
        {"gravity", SAC_SCENE_VECTOR, offsetof(sac_staging, gravity), -1e3, 1e3},
        {"frames", SAC_SCENE_UINT, offsetof(sac_staging, frames), 1, 10000000},
        {"viewer", SAC_SCENE_OTHER, 0, 0, 0},
        {"bounds", SAC_SCENE_OTHER, 0, 0, 0},
        {"shapes", SAC_SCENE_OTHER, 0, 0, 0},
        {"bodies", SAC_SCENE_OTHER, 0, 0, 0},
        {"events", SAC_SCENE_OTHER, 0, 0, 0}};
    const sac_lined_value *v;
    if (!sac_scene_fields_read(&f->r, root, "the scene", FIELDS(fields), f->staging)) return false;
    if ((v = sac_lined_get(root, "about")) && !sac_scene_want(&f->r, v, "\"about\"", SAC_LINED_TEXT))
        return false;
    if ((v = sac_lined_get(root, "viewer")) && !read_viewer(f, v)) return false;
    if ((v = sac_lined_get(root, "bounds")) && !read_bounds(f, v)) return false;
    if (!(v = sac_lined_get(root, "shapes")))
        return sac_scene_wrong(&f->r, root, "add \"shapes\": {\"ball\": {\"sphere\": 0.1}}",
                               "the scene has no \"shapes\"");
    if (!read_shapes(f, v)) return false;
    if (!(v = sac_lined_get(root, "bodies")))
        return sac_scene_wrong(&f->r, root, "add \"bodies\": [{\"shape\": \"ball\"}]",
                               "the scene has no \"bodies\"");
    if (!read_list(f, v, "\"bodies\"", read_body)) return false;
    if (!f->staging->actors.count)
        return sac_scene_wrong(&f->r, v, "add a body, {\"shape\": \"name\"}", "the scene has no bodies");
    return !(v = sac_lined_get(root, "events")) || read_list(f, v, "\"events\"", read_event);
}

/* The file's own name without its endings, as far as there is room for whole characters. */
static void name_of_file(const char *base, char name[SAC_NAME_MOST])
{
    base += strspn(base, "."); /* of a hidden file */
    if (!*base) base = "scene";
    size_t length = strcspn(base, "."), n = length < 40 ? length : 40;
    while (n < length && n > 0 && ((unsigned char)base[n] & 0xc0) == 0x80) n--;
    memcpy(name, base, n);
    name[n] = 0;
}

sac_result sac_scene_file_parse(sac_staging *out, const char *text, size_t size, const char *path,
                                sac_error *error)
{
    sac_lined_json json;
    file_reader f = {.r = {.file = path, .error = error}, .staging = out};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char name[SAC_NAME_MOST];
    name_of_file(base, name);
    sac_result result = sac_lined_json_parse(&json, text, size, error);
    if (result != SAC_OK) {
        sac_error_in_file(error, path);
        return result;
    }
    sac_staging_init(out, name);
    snprintf(out->file, sizeof out->file, "%s", path);
    read_scene(&f, json.root);
    sac_map_fini(&f.names);
    out->most_bodies = (uint32_t)out->actors.count;
    sac_lined_json_fini(&json);
    if (f.r.result != SAC_OK) sac_staging_fini(out);
    return f.r.result;
}

sac_result sac_scene_file_read(sac_staging *out, const char *path, sac_error *error)
{
    sac_result result = SAC_OK;
    FILE *file = fopen(path, "rb");
    char *text = file ? sac_alloc(SAC_SCENE_FILE_MOST_BYTES + 1, 1) : NULL;
    errno = file ? 0 : errno;
    size_t size = text ? fread(text, 1, SAC_SCENE_FILE_MOST_BYTES + 1, file) : 0;
    if (!file || ferror(file))
        result =
            sac_error_set(error, SAC_ERROR_IO, "check the name and the permissions", "%s", strerror(errno));
    else if (!text)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to read it");
    else if (size > SAC_SCENE_FILE_MOST_BYTES)
        result =
            sac_error_set(error, SAC_ERROR_LIMIT, "use \"repeat\" for many bodies and files for large shapes",
                          "it is larger than 16 MB");
    if (result == SAC_OK)
        result = sac_scene_file_parse(out, text, size, path, error);
    else
        sac_error_in_file(error, path);
    if (file) fclose(file);
    sac_free(text, SAC_SCENE_FILE_MOST_BYTES + 1, 1);
    return result;
}
