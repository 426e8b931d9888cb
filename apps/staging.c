#include "apps/staging.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "apps/figure.h"
#include "apps/tree_open.h"

void sac_staging_init(sac_staging *staging, const char *name)
{
    *staging = (sac_staging){.gravity = {0, -9.81f, 0},
                             .frames = 900,
                             .eye = {0, 1.7f, 4},
                             .target = {0, 0.8f, 0},
                             .ipd = 0.063f,
                             .fov = {100, 90}};
    snprintf(staging->name, sizeof staging->name, "%s", name);
}

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = sac_alloc(n, 1);
    if (copy) memcpy(copy, text, n);
    return copy;
}

void sac_staging_fini(sac_staging *staging)
{
    for (size_t i = 0; i < staging->props.count; i++) {
        sac_prop *prop = &staging->props.data[i];
        sac_tree_destroy(&prop->tree);
        if (prop->terrain) sac_terrain_destroy(&prop->terrain);
        sac_soft_shape_destroy(&prop->soft);
        sac_shape_close(&prop->shape);
        if (prop->source) sac_free(prop->source, strlen(prop->source) + 1, 1);
        sac_free(prop->heights, (size_t)prop->columns * prop->rows, sizeof *prop->heights);
    }
    sac_array_fini(&staging->props);
    sac_array_fini(&staging->actors);
    sac_array_fini(&staging->cues);
    sac_array_fini(&staging->strings);
    sac_array_fini(&staging->script_bodies);
}

uint32_t sac_staging_add_prop(sac_staging *staging, const sac_prop *prop)
{
    sac_prop copy = *prop;
    if (prop->source && !(copy.source = copy_text(prop->source))) return UINT32_MAX;
    if (prop->heights) {
        size_t count = (size_t)prop->columns * prop->rows;
        copy.heights = sac_alloc(count, sizeof *copy.heights);
        if (copy.heights) memcpy(copy.heights, prop->heights, count * sizeof *copy.heights);
    }
    if ((!prop->heights || copy.heights) && sac_array_push(&staging->props, copy))
        return (uint32_t)staging->props.count - 1;
    if (copy.source) sac_free(copy.source, strlen(copy.source) + 1, 1);
    sac_free(copy.heights, (size_t)copy.columns * copy.rows, sizeof *copy.heights);
    return UINT32_MAX;
}

uint32_t sac_staging_add_actor(sac_staging *staging, const char *name, uint32_t prop, const sac_body_def *def)
{
    sac_actor actor = {.prop = prop, .def = *def};
    snprintf(actor.name, sizeof actor.name, "%s", name ? name : "");
    return sac_array_push(&staging->actors, actor) ? (uint32_t)staging->actors.count - 1 : UINT32_MAX;
}

bool sac_staging_add_cue(sac_staging *staging, const sac_cue *cue)
{
    return sac_array_push(&staging->cues, *cue);
}

/* An error inside a scene file's business is told where the scene file speaks of it. */
static sac_result place_error(const sac_staging *staging, int64_t line, const char *what, const char *name,
                              sac_error *error)
{
    if (!error) return SAC_ERROR_ARGUMENT;
    sac_error inner = *error;
    if (!line) return inner.code;
    char text[sizeof inner.message];
    if (inner.line > 0)
        snprintf(text, sizeof text, "%.100s:%lld: %.120s", inner.file, (long long)inner.line, inner.message);
    else
        snprintf(text, sizeof text, "%.100s%s%.120s", inner.file, inner.file[0] ? ": " : "", inner.message);
    sac_error_set(error, inner.code, inner.remedy, "%s%s%.60s%s: %s", what, name[0] ? " \"" : "", name,
                  name[0] ? "\"" : "", text);
    sac_error_at_line(error, line);
    sac_error_in_file(error, staging->file);
    return inner.code;
}

/* ---- opening ---- */

static sac_result bake_prop(sac_prop *prop, uint32_t threads, sac_error *error)
{
    char doing[96];
    sac_build_def def = sac_default_build_def();
    sac_result result = sac_shape_open(prop->source, prop->triangles, false, &prop->shape, error);
    if (result != SAC_OK) return result;
    snprintf(doing, sizeof doing, "baking %.60s", prop->shape.name);
    def.threads = threads;
    if (prop->depth) def.depth = prop->depth;
    def.optimise = !prop->quick;
    def.progress = sac_console_progress;
    def.user = doing;
    result = sac_shape_build(&prop->shape, &def, &prop->tree, error);
    sac_console_progress_end();
    if (result == SAC_OK) result = sac_form_from_tree(&prop->form, prop->tree, error);
    return result;
}

static sac_result open_terrain(sac_prop *prop, sac_error *error)
{
    sac_result result = prop->figure
                            ? sac_figure_mesh(prop->source, prop->triangles / 2, &prop->shape.mesh, error)
                            : sac_shape_open(prop->source, prop->triangles, false, &prop->shape, error);
    if (result == SAC_OK && !prop->shape.mesh)
        result = sac_error_set(error, SAC_ERROR_ARGUMENT, "give a mesh",
                               "'%.100s' is a set of spheres, not triangles", prop->source);
    if (result == SAC_OK) result = sac_terrain_from_mesh(prop->shape.mesh, &prop->terrain, error);
    if (result == SAC_OK) result = sac_form_from_terrain(&prop->form, prop->terrain, error);
    return result;
}

/* A mesh of about so many vertices. */
static sac_result soft_mesh(const sac_prop *prop, uint32_t vertices, sac_mesh **out_mesh, sac_error *error)
{
    sac_shape shape;
    sac_box box = sac_box_empty();
    if (prop->figure) return sac_figure_mesh(prop->source, vertices, out_mesh, error);
    sac_result result = sac_shape_open(prop->source, 2 * vertices, false, &shape, error);
    if (result != SAC_OK) return result;
    if (!shape.mesh) {
        sac_shape_close(&shape);
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a mesh",
                             "'%.100s' is a set of spheres; only a mesh can bend", prop->source);
    }
    for (uint32_t i = 0; i < shape.mesh->vertex_count; i++) sac_box_add(&box, shape.mesh->vertices[i]);
    float largest =
        fmaxf(box.high[0] - box.low[0], fmaxf(box.high[1] - box.low[1], box.high[2] - box.low[2]));
    float(*vertex)[3] = sac_alloc(shape.mesh->vertex_count, sizeof *vertex);
    if (!vertex)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for '%.100s'", prop->source);
    for (uint32_t i = 0; vertex && i < shape.mesh->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            vertex[i][k] =
                (shape.mesh->vertices[i][k] - 0.5f * (box.low[k] + box.high[k])) * prop->across / largest;
    if (result == SAC_OK)
        result = sac_mesh_create((const float(*)[3])vertex, shape.mesh->vertex_count,
                                 (const uint32_t(*)[3])shape.mesh->triangles, shape.mesh->triangle_count,
                                 shape.name, out_mesh, error);
    sac_free(vertex, shape.mesh->vertex_count, sizeof *vertex);
    sac_shape_close(&shape);
    return result;
}

typedef float point[3];

static bool is_pinned(const sac_prop *prop, const float at[3])
{
    bool inside = prop->pinned;
    for (int k = 0; k < 3; k++) inside = inside && at[k] >= prop->pins.low[k] && at[k] <= prop->pins.high[k];
    return inside;
}

/* So many of the vertices, each as far as can be from those before. */
static bool spread(const sac_mesh *mesh, uint32_t count, point *out)
{
    float *near = sac_alloc(mesh->vertex_count, sizeof *near);
    uint32_t next = 0;
    for (uint32_t i = 0; near && i < mesh->vertex_count; i++) near[i] = FLT_MAX;
    for (uint32_t n = 0; near && n < count; n++) {
        memcpy(out[n], mesh->vertices[next], sizeof *out);
        float most = -1;
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            float d2 = 0;
            for (int k = 0; k < 3; k++)
                d2 += (mesh->vertices[i][k] - out[n][k]) * (mesh->vertices[i][k] - out[n][k]);
            near[i] = fminf(near[i], d2);
            if (near[i] > most) most = near[i], next = i;
        }
    }
    sac_free(near, mesh->vertex_count, sizeof *near);
    return near != NULL;
}

/* Points are the vertices of a mesh, or, under a finer surface or in a file of many, spread over it. What is
 * pinned carries the rest, and is heavy enough to. */
static sac_result open_soft(sac_prop *prop, sac_error *error)
{
    static const float ANCHOR = 60; /* times the mass of all */
    sac_soft_shape_def def = sac_default_soft_shape_def();
    sac_mesh *mesh = NULL;
    sac_result result = soft_mesh(prop, prop->surface ? prop->surface : prop->points, &mesh, error);
    if (result != SAC_OK) return result;
    bool finer = mesh->vertex_count > 2 * prop->points;
    uint32_t count = finer ? prop->points : mesh->vertex_count, pinned = 0;
    point *points = sac_alloc(count, sizeof *points);
    float *masses = sac_alloc(count, sizeof *masses);
    sac_meshless_surface surface = {.vertices = (const float(*)[3])mesh->vertices,
                                    .vertex_count = mesh->vertex_count,
                                    .triangles = (const uint32_t(*)[3])mesh->triangles,
                                    .triangle_count = mesh->triangle_count};
    if (!points || !masses || (finer && !spread(mesh, count, points))) {
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for '%.100s'", prop->source);
    } else {
        if (!finer) memcpy(points, mesh->vertices, count * sizeof *points);
        for (uint32_t i = 0; i < count; i++) pinned += is_pinned(prop, points[i]);
        for (uint32_t i = 0; i < count; i++)
            masses[i] = is_pinned(prop, points[i]) ? ANCHOR * prop->mass / (float)pinned
                                                   : prop->mass / (float)(count - pinned);
        def.soft = prop->matter;
        def.points = (const float(*)[3])points, def.point_count = count, def.masses = masses;
        if (finer)
            def.surface = &surface;
        else
            def.triangles = surface.triangles, def.triangle_count = surface.triangle_count;
        result = sac_soft_shape_create(&def, &prop->soft, error);
    }
    sac_free(points, count, sizeof *points);
    sac_free(masses, count, sizeof *masses);
    sac_mesh_destroy(&mesh);
    if (result == SAC_OK && prop->skin) result = soft_mesh(prop, prop->skin, &prop->shape.mesh, error);
    return result == SAC_OK ? sac_form_from_soft(&prop->form, prop->soft, error) : result;
}

static sac_result open_prop(sac_prop *prop, uint32_t threads, sac_error *error)
{
    sac_result result;
    switch (prop->kind) {
    case SAC_PROP_BAKED:
        return bake_prop(prop, threads, error);
    case SAC_PROP_TREE:
        result = sac_tree_open(prop->source, &prop->tree, error);
        return result == SAC_OK ? sac_form_from_tree(&prop->form, prop->tree, error) : result;
    case SAC_PROP_SPHERE:
        return sac_form_sphere(&prop->form, prop->radius, error);
    case SAC_PROP_CAPSULE:
        return sac_form_capsule(&prop->form, prop->radius, prop->half[1], error);
    case SAC_PROP_BOX:
        return sac_form_box(&prop->form, prop->half, error);
    case SAC_PROP_PLANE:
        return sac_form_plane(&prop->form, prop->normal, prop->offset, error);
    case SAC_PROP_HEIGHTS:
        result = sac_terrain_from_heights(prop->heights, prop->columns, prop->rows, prop->spacing,
                                          &prop->terrain, error);
        return result == SAC_OK ? sac_form_from_terrain(&prop->form, prop->terrain, error) : result;
    case SAC_PROP_TERRAIN:
        return open_terrain(prop, error);
    case SAC_PROP_SOFT:
        return open_soft(prop, error);
    }
    return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "a prop of no kind");
}

static int by_time(const void *a, const void *b)
{
    const sac_cue *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* ---- rehearsal ---- */

/* A body enters an empty world, has done to it what the cue says, and leaves. */
static sac_result try_cue(const sac_staging *staging, sac_world *world, const sac_cue *cue, sac_error *error)
{
    const sac_actor *actor = &staging->actors.data[cue->actor];
    sac_body_def def = actor->def;
    sac_body_id body;
    sac_result result = sac_world_add_shape(world, &staging->props.data[actor->prop].form, &def.shape, error);
    if (result != SAC_OK) return place_error(staging, cue->line, "event", "", error);
    memset(def.velocity, 0, sizeof def.velocity);
    result = sac_body_create(world, &def, &body, error);
    if (result != SAC_OK) {
        sac_world_remove_shape(world, def.shape, NULL);
        return place_error(staging, actor->line, "body", actor->name, error);
    }
    if (cue->kind == SAC_CUE_PUSH) result = sac_body_push(world, body, cue->vector, NULL, error);
    if (result != SAC_OK) place_error(staging, cue->line, "event", "", error);
    sac_body_destroy(world, body, NULL);
    sac_world_remove_shape(world, def.shape, NULL);
    return result;
}

/* What depends on what a body weighs shows when it is pushed or comes in, which may be late in a long run:
 * all of that is tried now. The reader of scene files knows the rest. */
static sac_result rehearse(const sac_staging *staging, sac_error *error)
{
    sac_world_def def = sac_default_world_def();
    sac_world *world = NULL;
    sac_result result = SAC_OK;
    if (!staging->file[0]) return SAC_OK;
    def.bodies = 16;
    for (size_t i = 0; i < staging->cues.count && result == SAC_OK; i++) {
        const sac_cue *cue = &staging->cues.data[i];
        if (cue->kind != SAC_CUE_PUSH && cue->kind != SAC_CUE_CREATE) continue;
        if (!world) result = sac_world_create(&def, &world, error);
        if (result == SAC_OK) result = try_cue(staging, world, cue, error);
    }
    sac_world_destroy(&world);
    return result;
}

sac_result sac_staging_open(sac_staging *staging, uint32_t threads, sac_error *error)
{
    for (size_t i = 0; i < staging->props.count; i++) {
        sac_prop *prop = &staging->props.data[i];
        if (prop->opened) continue;
        if (open_prop(prop, threads, error) != SAC_OK)
            return place_error(staging, prop->line, "shape", prop->name, error);
        prop->opened = true;
    }
    if (staging->cues.count)
        qsort(staging->cues.data, staging->cues.count, sizeof *staging->cues.data, by_time);
    return rehearse(staging, error);
}

/* ---- raising ---- */

static sac_result pin(const sac_prop *prop, sac_world *world, sac_body_id body, sac_error *error)
{
    const sac_soft *soft = sac_body_soft(world, body);
    if (!prop->soft || !soft) return SAC_OK;
    const sac_soft_shape_parts parts = sac_soft_shape_parts_of(prop->soft);
    const sac_soft_points now = sac_soft_view(soft);
    sac_result result = SAC_OK;
    for (uint32_t i = 0; i < parts.point_count && result == SAC_OK; i++) {
        const uint32_t lies = now.place[i];
        const float at[3] = {now.x[lies], now.y[lies], now.z[lies]};
        if (is_pinned(prop, parts.points[i])) result = sac_body_pin(world, body, i, at, error);
    }
    return result;
}

static sac_result enter(sac_staging *staging, sac_world *world, sac_actor *actor, sac_error *error)
{
    sac_body_def def = actor->def;
    def.shape = staging->props.data[actor->prop].id;
    def.user = (uint64_t)(actor - staging->actors.data) + 1;
    if (sac_body_create(world, &def, &actor->id, error) == SAC_OK &&
        pin(&staging->props.data[actor->prop], world, actor->id, error) == SAC_OK)
        return SAC_OK;
    return place_error(staging, actor->line, "body", actor->name, error);
}

sac_result sac_staging_raise(sac_staging *staging, sac_world *world, sac_error *error)
{
    sac_result result = sac_world_set_gravity(world, staging->gravity, error);
    for (size_t i = 0; i < staging->props.count && result == SAC_OK; i++) {
        sac_prop *prop = &staging->props.data[i];
        result = sac_world_add_shape(world, &prop->form, &prop->id, error);
        if (result != SAC_OK) place_error(staging, prop->line, "shape", prop->name, error);
    }
    for (size_t i = 0; i < staging->actors.count && result == SAC_OK; i++) {
        sac_actor *actor = &staging->actors.data[i];
        actor->id = (sac_body_id){0};
        if (!actor->later) result = enter(staging, world, actor, error);
    }
    staging->next_cue = 0;
    staging->rng = staging->first_rng;
    staging->script_bodies.count = 0;
    staging->script_first = 0;
    staging->script_owed = 0;
    return result;
}

static sac_result play(sac_staging *staging, sac_world *world, const sac_cue *cue, sac_error *error)
{
    sac_actor *actor = cue->kind == SAC_CUE_GRAVITY ? NULL : &staging->actors.data[cue->actor];
    /* A cue for somebody who is not on stage (any more) is passed over: destroying may be early by intention.
     */
    if (actor && cue->kind != SAC_CUE_CREATE && !sac_body_exists(world, actor->id)) return SAC_OK;
    switch (cue->kind) {
    case SAC_CUE_PUSH:
        return sac_body_push(world, actor->id, cue->vector, NULL, error);
    case SAC_CUE_THROW:
        return sac_body_set_velocity(world, actor->id, cue->vector, cue->turn, error);
    case SAC_CUE_MOVE:
        return sac_body_set_pose(world, actor->id, cue->vector, cue->turn, error);
    case SAC_CUE_CREATE:
        return sac_body_exists(world, actor->id) ? SAC_OK : enter(staging, world, actor, error);
    case SAC_CUE_DESTROY:
        return sac_body_destroy(world, actor->id, error);
    case SAC_CUE_GRAVITY:
        return sac_world_set_gravity(world, cue->vector, error);
    }
    return SAC_OK;
}

sac_result sac_staging_cue(sac_staging *staging, sac_world *world, uint64_t frame, double hz,
                           sac_error *error)
{
    sac_result result = SAC_OK;
    while (result == SAC_OK && staging->next_cue < staging->cues.count) {
        const sac_cue *cue = &staging->cues.data[staging->next_cue];
        if (floor(cue->time * hz + 0.5) > (double)frame) break;
        result = play(staging, world, cue, error);
        if (result != SAC_OK) place_error(staging, cue->line, "event", "", error);
        staging->next_cue++;
    }
    if (result == SAC_OK && staging->script) result = staging->script(staging, world, frame, hz, error);
    return result;
}

/* ---- who watches ---- */

void sac_look_rotation(const float direction[3], float out[4])
{
    double d[3] = {direction[0], direction[1], direction[2]};
    double flat = sqrt(d[0] * d[0] + d[2] * d[2]), length = sqrt(flat * flat + d[1] * d[1]);
    out[0] = out[1] = out[2] = 0, out[3] = 1;
    if (!(length > 0)) return;
    /* Turn about y, then tip about x: half angles. */
    double turn = flat > 0 ? 0.5 * atan2(-d[0], -d[2]) : 0, tip = 0.5 * atan2(d[1], flat);
    out[0] = (float)(cos(turn) * sin(tip));
    out[1] = (float)(sin(turn) * cos(tip));
    out[2] = (float)(-sin(turn) * sin(tip));
    out[3] = (float)(cos(turn) * cos(tip));
}

sac_viewer sac_staging_viewer(const sac_staging *staging)
{
    sac_viewer viewer = sac_default_viewer();
    const float radians = 0.01745329252f;
    float direction[3], rotation[4];
    for (int k = 0; k < 3; k++) direction[k] = staging->target[k] - staging->eye[k];
    sac_look_rotation(direction, rotation);
    sac_transform head = {.scale = 1};
    memcpy(head.translation, staging->eye, sizeof staging->eye);
    memcpy(head.rotation, rotation, sizeof rotation);
    viewer.eye_count = staging->nobody ? 0 : staging->ipd > 0 ? 2 : 1;
    for (uint32_t i = 0; i < viewer.eye_count; i++) {
        sac_eye *eye = &viewer.eyes[i];
        float offset[3] = {viewer.eye_count == 2 ? (i ? 0.5f : -0.5f) * staging->ipd : 0, 0, 0};
        sac_transform_point(&head, offset, eye->position);
        memcpy(eye->rotation, rotation, sizeof rotation);
        eye->fov_left = -0.5f * staging->fov[0] * radians, eye->fov_right = -eye->fov_left;
        eye->fov_down = -0.5f * staging->fov[1] * radians, eye->fov_up = -eye->fov_down;
    }
    memcpy(viewer.gaze.origin, staging->eye, sizeof viewer.gaze.origin);
    return viewer;
}

void sac_census_count(sac_census *census, const sac_staging *staging, const sac_body_state *state)
{
    if (state->kind != SAC_BODY_DYNAMIC) return;
    bool finite = sac_vec3_is_finite(state->centre) && sac_vec3_is_finite(state->velocity) &&
                  sac_vec3_is_finite(state->spin),
         out = false;
    for (int k = 0; k < 3 && finite; k++)
        out = out || fabsf(state->centre[k]) > 1e5f ||
              (staging->bounded &&
               !(state->centre[k] >= staging->bounds.low[k] && state->centre[k] <= staging->bounds.high[k]));
    census->dynamic++;
    census->lost += out || !finite;
    census->not_finite += !finite;
}
