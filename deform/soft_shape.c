/* Soft shapes: points or a finer surface over them, checked, weighed and given normals, with the model and
 * the hierarchy made of them. */
#include "deform/soft_shape.h"

#include <float.h>
#include <math.h>

#include "deform/meshless_internal.h"
#include "deform/soft_tree_internal.h"

#define COOKIE 0x5f7a9e01u

/* Where there are no neighbours to measure: a centimetre. */
#define LONE_THICKNESS 0.01

struct sac_soft_shape {
    sac_arena arena;
    sac_soft_model *model;
    sac_soft_tree *tree;
    sac_meshless_model *surface;
    sac_soft_shape_parts parts;
    sac_soft_skin skin;
    float volume;
};

sac_soft_shape_def sac_default_soft_shape_def(void)
{
    return (sac_soft_shape_def){.soft = sac_default_soft_def(),
                                .tree = sac_default_soft_tree_def(),
                                .meshless = sac_default_meshless_def(),
                                .density = 300,
                                .cookie = COOKIE};
}

static sac_result bad(sac_error *error, const char *remedy, const char *name, float value)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "%s of a soft shape is %g", name, (double)value);
}

static sac_result check(const sac_soft_shape_def *def, sac_error *error)
{
    if (def->cookie != COOKIE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_soft_shape_def()",
                             "the definition was not initialised");
    if (!def->points || !def->point_count)
        return sac_error_set(error, SAC_ERROR_EMPTY, "set points and point_count",
                             "a soft shape needs points");
    if (def->point_count > SAC_SOFT_MOST_POINTS)
        return sac_error_set(error, SAC_ERROR_LIMIT, "at most 4 million", "%u points", def->point_count);
    for (uint32_t i = 0; i < def->point_count; i++)
        for (int k = 0; k < 3; k++)
            if (!(fabsf(def->points[i][k]) <= SAC_SOFT_REACH))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "finite, within 1e6 of the origin",
                                     "point %u has the coordinate %g", i, (double)def->points[i][k]);
    if (def->triangle_count && !def->triangles)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "set triangles too", "%u triangles, but NULL",
                             def->triangle_count);
    if (def->triangle_count > 4 * SAC_SOFT_MOST_POINTS)
        return sac_error_set(error, SAC_ERROR_LIMIT, "at most 16 million", "%u triangles",
                             def->triangle_count);
    for (uint32_t i = 0; i < def->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            if (def->triangles[i][k] >= def->point_count)
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "triangles are over the points",
                                     "triangle %u has point %u of %u", i, def->triangles[i][k],
                                     def->point_count);
    if (!(def->mass >= 0 && def->mass <= 1e12f)) return bad(error, "0 (find it) or above", "mass", def->mass);
    if (!(def->density > 0 && def->density <= 1e9f)) return bad(error, "above 0", "density", def->density);
    if (!(def->thickness >= 0 && def->thickness <= SAC_SOFT_REACH))
        return bad(error, "0 (find it) or above", "thickness", def->thickness);
    for (uint32_t i = 0; def->masses && i < def->point_count; i++)
        if (!(def->masses[i] >= 1e-12f && def->masses[i] <= 1e12f))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "give it a mass above 0; to fix a point, hold it",
                                 "point %u has the mass %g", i, (double)def->masses[i]);
    return SAC_OK;
}

/* Volume of closed triangles; 0 for open ones. Turned over where they are inside out, so that normals point
 * outwards. */
static sac_result enclosed(const float (*points)[3], uint32_t count, uint32_t (*triangles)[3],
                           uint32_t triangle_count, double *out, sac_error *error)
{
    *out = 0;
    if (!triangle_count) return SAC_OK;
    sac_mesh *mesh = NULL;
    sac_mass mass;
    sac_result result =
        sac_mesh_create(points, count, (const uint32_t(*)[3])triangles, triangle_count, NULL, &mesh, error);
    if (result != SAC_OK) return result;
    if (sac_mesh_mass(mesh, &mass, NULL) == SAC_ERROR_ARGUMENT) { /* inside out: the triangles were checked */
        for (uint32_t i = 0; i < triangle_count; i++) {
            uint32_t swap = triangles[i][1];
            triangles[i][1] = triangles[i][2], triangles[i][2] = swap;
        }
        memcpy(mesh->triangles, triangles, triangle_count * sizeof *triangles);
    }
    if (sac_mesh_mass(mesh, &mass, NULL) == SAC_OK) *out = mass.volume;
    sac_mesh_destroy(&mesh);
    return SAC_OK;
}

/* Area weighted; zero where a point is in no triangle that has an area. */
static const float (*normals_of(sac_arena *arena, const float (*points)[3], uint32_t count,
                                const uint32_t (*triangles)[3], uint32_t triangle_count))[3]
{
    float(*out)[3] = sac_arena_alloc(arena, count, sizeof *out);
    double(*sum)[3] = sac_alloc_zero(count, sizeof *sum);
    if (out && sum) {
        for (uint32_t i = 0; i < triangle_count; i++) {
            const uint32_t *t = triangles[i];
            double a[3], b[3], n[3];
            for (int k = 0; k < 3; k++)
                a[k] = (double)points[t[1]][k] - points[t[0]][k],
                b[k] = (double)points[t[2]][k] - points[t[0]][k];
            for (int k = 0; k < 3; k++)
                n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 3; k++) sum[t[c]][k] += n[k];
        }
        for (uint32_t i = 0; i < count; i++) {
            double length = sqrt(sum[i][0] * sum[i][0] + sum[i][1] * sum[i][1] + sum[i][2] * sum[i][2]);
            for (int k = 0; k < 3; k++) out[i][k] = length > 1e-30 ? (float)(sum[i][k] / length) : 0;
        }
    }
    const float(*done)[3] = out && sum ? (const float(*)[3])out : NULL;
    sac_free(sum, count, sizeof *sum);
    return done;
}

static double apart(const float a[3], const float b[3])
{
    double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* Mean length of the edges, or from a thousand points the mean distance to the nearest other one. */
static double neighbour_distance(const float (*points)[3], uint32_t count, const uint32_t (*triangles)[3],
                                 uint32_t triangle_count)
{
    double sum = 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < triangle_count; i++)
        for (int c = 0; c < 3; c++) sum += apart(points[triangles[i][c]], points[triangles[i][(c + 1) % 3]]);
    if (sum > 0) return sum / (3.0 * triangle_count);
    uint32_t stride = count / 1000 + 1;
    for (uint32_t i = 0; i < count; i += stride) {
        double least = INFINITY;
        for (uint32_t j = 0; j < count; j++) {
            double d = apart(points[i], points[j]);
            if (d > 0 && d < least) least = d; /* coincident points are one */
        }
        if (least < INFINITY) sum += least, n++;
    }
    return n ? sum / (double)n : 0;
}

static sac_result copy_in(sac_soft_shape *s, const sac_soft_shape_def *def, uint32_t (**out_triangles)[3],
                          sac_error *error)
{
    float(*points)[3] = sac_arena_alloc(&s->arena, def->point_count, sizeof *points);
    uint32_t(*triangles)[3] = sac_arena_alloc(&s->arena, def->triangle_count + (size_t)1, sizeof *triangles);
    if (!points || !triangles)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft shape of %u points",
                             def->point_count);
    memcpy(points, def->points, def->point_count * sizeof *points);
    if (def->triangle_count) memcpy(triangles, def->triangles, def->triangle_count * sizeof *triangles);
    s->parts.points = (const float(*)[3])points, s->parts.point_count = def->point_count;
    s->parts.triangles = def->triangle_count ? (const uint32_t(*)[3])triangles : NULL;
    s->parts.triangle_count = def->triangle_count;
    *out_triangles = triangles;
    return SAC_OK;
}

/* Masses that sum to the mass of the shape. */
static sac_result weigh(sac_soft_shape *s, const sac_soft_shape_def *def, float **out, sac_error *error)
{
    sac_box box = sac_box_empty();
    uint32_t count = def->point_count;
    double sum = 0, sides = 1, mass = def->mass;
    for (uint32_t i = 0; i < count; i++) {
        sac_box_add(&box, def->points[i]);
        sum += def->masses ? def->masses[i] : 1;
    }
    if (!(s->volume > 0)) {
        for (int k = 0; k < 3; k++) sides *= fmax((double)box.high[k] - box.low[k], 2.0 * s->parts.thickness);
        s->volume = (float)fmin(fmax(sides, FLT_MIN), 1e30);
    }
    if (!(mass > 0)) mass = def->masses ? sum : (double)def->density * s->volume;
    float *masses = *out = sac_arena_alloc(&s->arena, count, sizeof *masses);
    if (!masses)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft shape of %u points", count);
    for (uint32_t i = 0; i < count; i++) masses[i] = (float)((def->masses ? def->masses[i] : 1) * mass / sum);
    s->parts.mass = (float)mass;
    if (!(masses[0] >= 1e-12f && mass <= 1e12))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give the shape a mass", "%u points weigh %g kg",
                             count, mass);
    return SAC_OK;
}

/* Points that are drawn themselves: each follows itself. */
static bool skin_points(sac_soft_shape *s)
{
    uint32_t count = s->parts.point_count;
    uint32_t *first = sac_arena_alloc(&s->arena, count + (size_t)1, sizeof *first);
    float *weight = sac_arena_alloc(&s->arena, count, sizeof *weight);
    if (!first || !weight) return false;
    for (uint32_t i = 0; i < count; i++) first[i] = i, weight[i] = 1;
    first[count] = count;
    s->skin = (sac_soft_skin){
        s->parts.points, s->parts.normals, count, s->parts.triangles, s->parts.triangle_count, first, first,
        weight};
    return true;
}

static bool skin_surface(sac_soft_shape *s)
{
    const sac_meshless_model *m = s->surface;
    const float(*vertices)[3] = (const float(*)[3])m->given.vertices;
    const uint32_t(*triangles)[3] = m->triangle_count ? (const uint32_t(*)[3])m->given.triangles : NULL;
    s->skin = (sac_soft_skin){vertices,          NULL,           m->vertex_count, triangles,
                              m->triangle_count, m->given.first, m->given.node,   m->given.weight};
    if (!triangles) return true;
    s->skin.normals = normals_of(&s->arena, vertices, m->vertex_count, triangles, m->triangle_count);
    return s->skin.normals;
}

static sac_result add_surface(sac_soft_shape *s, const sac_soft_shape_def *def, sac_error *error)
{
    sac_meshless_surface surface = *def->surface;
    if (surface.triangles && surface.triangle_count && surface.vertices) { /* ours, to turn over */
        uint32_t(*turned)[3] = sac_alloc(surface.triangle_count, sizeof *turned);
        double volume = 0;
        if (!turned)
            return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a surface of %u triangles",
                                 surface.triangle_count);
        memcpy(turned, surface.triangles, surface.triangle_count * sizeof *turned);
        sac_result result =
            enclosed(surface.vertices, surface.vertex_count, turned, surface.triangle_count, &volume, error);
        if (result == SAC_OK) {
            surface.triangles = (const uint32_t(*)[3])turned;
            result = sac_meshless_model_create(&surface, def->points, def->point_count, NULL, &def->meshless,
                                               &s->surface, error);
        }
        sac_free(turned, surface.triangle_count, sizeof *turned);
        if (!(s->volume > 0)) s->volume = (float)volume;
        if (result != SAC_OK) return result;
    } else {
        sac_result result = sac_meshless_model_create(&surface, def->points, def->point_count, NULL,
                                                      &def->meshless, &s->surface, error);
        if (result != SAC_OK) return result;
    }
    s->parts.surface = s->surface;
    return SAC_OK;
}

static sac_result fill(sac_soft_shape *s, const sac_soft_shape_def *def, sac_error *error)
{
    uint32_t(*triangles)[3] = NULL;
    float *masses = NULL;
    double volume = 0;
    sac_soft_tree_def tree_def = def->tree;
    sac_result result = copy_in(s, def, &triangles, error);
    if (result == SAC_OK)
        result = enclosed(def->points, def->point_count, triangles, def->triangle_count, &volume, error);
    if (result != SAC_OK) return result;
    s->volume = (float)volume;
    s->parts.thickness = def->thickness;
    if (!(def->thickness > 0)) {
        double near =
            neighbour_distance(def->points, def->point_count, s->parts.triangles, s->parts.triangle_count);
        s->parts.thickness = near > 0 ? (float)(near / 4) : (float)LONE_THICKNESS;
    }
    if (def->triangle_count) {
        s->parts.normals =
            normals_of(&s->arena, s->parts.points, def->point_count, s->parts.triangles, def->triangle_count);
        if (!s->parts.normals) goto no_memory;
        if (!tree_def.normals) tree_def.normals = s->parts.normals;
        if (!tree_def.triangle_count)
            tree_def.triangles = s->parts.triangles, tree_def.triangle_count = s->parts.triangle_count;
    }
    if (def->surface) result = add_surface(s, def, error);
    if (result == SAC_OK) result = weigh(s, def, &masses, error);
    if (result == SAC_OK)
        result = sac_soft_model_create(def->points, masses, def->point_count, &def->soft, &s->model, error);
    if (result == SAC_OK) result = sac_soft_tree_create(s->model, &tree_def, &s->tree, error);
    if (result != SAC_OK) return result;
    s->parts.model = s->model, s->parts.tree = s->tree;
    s->parts.mass = (float)s->model->mass_sum; /* of the masses as they are stored */
    if (!(s->surface ? skin_surface(s) : skin_points(s))) goto no_memory;
    return SAC_OK;
no_memory:
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft shape of %u points",
                         def->point_count);
}

sac_result sac_soft_shape_create(const sac_soft_shape_def *def, sac_soft_shape **out_shape, sac_error *error)
{
    SAC_NEED(error, out_shape);
    *out_shape = NULL;
    SAC_NEED(error, def);
    sac_result result = check(def, error);
    if (result != SAC_OK) return result;
    sac_soft_shape *s = sac_alloc_zero(1, sizeof *s);
    if (!s) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft shape");
    sac_arena_init(&s->arena);
    result = fill(s, def, error);
    if (result != SAC_OK) sac_soft_shape_destroy(&s);
    *out_shape = s;
    return result;
}

void sac_soft_shape_destroy(sac_soft_shape **shape)
{
    sac_soft_shape *s = shape ? *shape : NULL;
    if (!s) return;
    sac_soft_tree_destroy(&s->tree);
    sac_soft_model_destroy(&s->model);
    sac_meshless_model_destroy(&s->surface);
    sac_arena_fini(&s->arena);
    sac_free(s, 1, sizeof *s);
    *shape = NULL;
}

sac_soft_shape_parts sac_soft_shape_parts_of(const sac_soft_shape *shape)
{
    return shape ? shape->parts : (sac_soft_shape_parts){0};
}

sac_soft_skin sac_soft_shape_skin(const sac_soft_shape *shape)
{
    return shape ? shape->skin : (sac_soft_skin){0};
}

/* Where there is no sphere at rest: one about the middle of the points' box. */
static float ball_about(const sac_soft_shape *s, sac_soft_range range)
{
    sac_box box = sac_box_empty();
    const uint32_t *name = s->model->name;
    float middle[3];
    double most = 0;
    for (uint32_t i = range.first; i < range.first + range.count; i++)
        sac_box_add(&box, s->parts.points[name[i]]);
    for (int k = 0; k < 3; k++) middle[k] = (box.low[k] + box.high[k]) * 0.5f;
    for (uint32_t i = range.first; i < range.first + range.count; i++)
        most = fmax(most, apart(s->parts.points[name[i]], middle));
    return (float)most;
}

/* How far a level's spheres are from the points, at rest: their radii. */
static void fill_gaps(const sac_soft_shape *s, sac_form *form)
{
    const sac_soft_tree *tree = s->tree;
    for (uint32_t level = 0; level <= tree->depth; level++)
        for (uint32_t id = tree->level_block[level] * SAC_LANES;
             id < tree->level_block[level + 1] * SAC_LANES; id++) {
            sac_soft_range range = tree->range[id];
            if (!range.count) continue;
            float r = tree->rest[id / SAC_LANES].r[id % SAC_LANES];
            if (tree->lane_cluster[id] == SAC_SOFT_SPANS) r = ball_about(s, range);
            form->level_gap[level] = fmaxf(form->level_gap[level], r);
            if (tree->links[id / SAC_LANES].link[id % SAC_LANES] & SAC_LINK_LEAF)
                for (uint32_t below = level + 1; below <= SAC_TREE_MOST_DEPTH; below++)
                    form->level_gap[below] = fmaxf(form->level_gap[below], r);
        }
}

/* Of density 1, as all forms; points are balls as thick as the shape, so that one alone can turn. */
static void fill_mass(const sac_soft_shape *s, sac_mass *out)
{
    double sum = 0, centre[3] = {0}, second[6] = {0}, volume = s->volume;
    const sac_soft_model *m = s->model;
    for (uint32_t i = 0; i < m->count; i++) {
        sum += m->mass[i];
        centre[0] += (double)m->mass[i] * m->x[i], centre[1] += (double)m->mass[i] * m->y[i];
        centre[2] += (double)m->mass[i] * m->z[i];
    }
    for (int k = 0; k < 3; k++) centre[k] /= sum;
    for (uint32_t i = 0; i < m->count; i++) {
        double d[3] = {m->x[i] - centre[0], m->y[i] - centre[1], m->z[i] - centre[2]};
        for (int k = 0; k < 3; k++) {
            second[k] += m->mass[i] * d[k] * d[k];
            second[3 + k] += m->mass[i] * d[k] * d[(k + 1) % 3];
        }
    }
    double own = 0.4 * volume * s->parts.thickness * s->parts.thickness;
    out->volume = s->volume;
    for (int k = 0; k < 3; k++) {
        out->centre[k] = (float)centre[k];
        out->inertia[k] = (float)((second[(k + 1) % 3] + second[(k + 2) % 3]) * volume / sum + own);
        out->inertia[3 + k] = (float)(-second[3 + k] * volume / sum);
    }
}

/* A comparison because gcc 12 for aarch64 breaks down over fmax in this loop. */
static double farthest(const float (*points)[3], uint32_t count, const float from[3], double most)
{
    for (uint32_t i = 0; i < count; i++) {
        double d = apart(points[i], from);
        if (d > most) most = d;
    }
    return most;
}

sac_result sac_form_from_soft(sac_form *out_form, const sac_soft_shape *shape, sac_error *error)
{
    SAC_NEED(error, out_form, shape);
    sac_form form = {.kind = SAC_FORM_SOFT, .levels = shape->tree->depth, .soft = shape};
    const sac_soft_shape_parts *p = &shape->parts;
    const sac_soft_skin *skin = &shape->skin;
    double most;
    form.box = sac_box_empty();
    for (uint32_t i = 0; i < p->point_count; i++) sac_box_add(&form.box, p->points[i]);
    for (uint32_t i = 0; i < skin->vertex_count; i++) sac_box_add(&form.box, skin->vertices[i]);
    for (int k = 0; k < 3; k++) form.ball[k] = (float)(((double)form.box.low[k] + form.box.high[k]) / 2);
    most = farthest(p->points, p->point_count, form.ball, 0);
    most = farthest(skin->vertices, skin->vertex_count, form.ball, most);
    form.ball[3] = (float)((most + p->thickness) * (1 + 2e-7));
    for (int k = 0; k < 3; k++) {
        form.box.low[k] = nextafterf(form.box.low[k] - p->thickness, -FLT_MAX);
        form.box.high[k] = nextafterf(form.box.high[k] + p->thickness, FLT_MAX);
    }
    fill_gaps(shape, &form);
    fill_mass(shape, &form.mass);
    form.thickness = fmaxf(p->thickness, 1e-3f * form.ball[3]);
    *out_form = form;
    return SAC_OK;
}
