#include "apps/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/prop_mesh.h"
#include "apps/scene.h"

/* Calm, then warmer as more of the error shows. Told apart by lightness too. */
static const struct {
    float from;
    uint32_t srgb;
    const char *name;
} jnd_colours[] = {{0, 0x7f9fbd, "below 1 JND: nobody can tell"},
                   {1, 0xe9cf6a, "1 to 3"},
                   {3, 0xe59a4a, "3 to 10"},
                   {10, 0xcf5a3c, "10 to 30"},
                   {30, 0x8e2f45, "more"}};
enum { JND_COLOURS = sizeof jnd_colours / sizeof *jnd_colours };
static const uint32_t group_colours[] = {0x8e2f45, 0xcf5a3c, 0xe59a4a, 0xe9cf6a,
                                         0x9fc58a, 0x5fae9b, 0x6d93bd, 0x8b8fb5};
enum { GROUP_COLOURS = sizeof group_colours / sizeof *group_colours };
static const uint32_t ASLEEP = 0xb9bcc2, GROUND = 0xc9c2b6;

static uint32_t colour_of(const sac_snapshot_body *body, sac_snapshot_colouring colouring)
{
    uint32_t srgb = jnd_colours[0].srgb;
    if (!body->dynamic) return GROUND;
    if (!body->awake) return ASLEEP;
    if (colouring == SAC_COLOUR_GROUP)
        return group_colours[body->group < GROUP_COLOURS ? body->group : GROUP_COLOURS - 1];
    for (int i = 0; i < JND_COLOURS; i++)
        if (body->jnd >= jnd_colours[i].from) srgb = jnd_colours[i].srgb;
    return srgb;
}

void sac_snapshot_legend(sac_page *page, sac_snapshot_colouring colouring)
{
    char name[32];
    int count = colouring == SAC_COLOUR_JND ? JND_COLOURS : GROUP_COLOURS;
    sac_page_add(page, "<p class=\"swatches\" "
                       "style=\"font-size:14px;max-width:none;display:flex;flex-wrap:wrap;gap:6px 18px\">");
    for (int i = 0; i <= count; i++) {
        snprintf(name, sizeof name, "%s",
                 i == count                    ? "asleep"
                 : colouring == SAC_COLOUR_JND ? jnd_colours[i].name
                                               : "");
        if (colouring == SAC_COLOUR_GROUP && i < count)
            snprintf(name, sizeof name, i == 0 ? "group %d: first" : "%d", i);
        sac_page_add(page,
                     "<span style=\"display:inline-flex;align-items:center;gap:7px\"><span "
                     "style=\"width:13px;height:13px;border-radius:50%%;background:#%06x\"></span>%s</span>",
                     i == count                    ? ASLEEP
                     : colouring == SAC_COLOUR_JND ? jnd_colours[i].srgb
                                                   : group_colours[i],
                     name);
    }
    sac_page_add(page, "</p>\n");
}

/* The skin of a soft body as it is now. */
static bool take_skin(sac_snapshot *out, const sac_soft_shape *shape, const sac_soft *soft,
                      sac_snapshot_body *body)
{
    const sac_soft_skin skin = sac_soft_shape_skin(shape);
    const uint32_t points = sac_soft_view(soft).count;
    float(*joints)[3][4] = sac_alloc(points, sizeof *joints);
    size_t first = out->vertices.count;
    bool ok = joints && sac_array_reserve(&out->vertices, first + skin.vertex_count);
    if (ok) sac_soft_joints(soft, joints);
    for (uint32_t i = 0; ok && i < skin.vertex_count; i++) {
        const float *r = skin.vertices[i];
        sac_snapshot_vertex *v = &out->vertices.data[out->vertices.count++];
        *v = (sac_snapshot_vertex){{0, 0, 0}};
        for (uint32_t j = skin.first[i]; j < skin.first[i + 1]; j++)
            for (int k = 0; k < 3; k++) {
                const float *row = joints[skin.node[j]][k];
                v->at[k] += skin.weight[j] * (row[0] * r[0] + row[1] * r[1] + row[2] * r[2] + row[3]);
            }
    }
    body->first_vertex = (uint32_t)first, body->vertex_count = skin.vertex_count;
    sac_free(joints, points, sizeof *joints);
    return ok;
}

bool sac_snapshot_take(sac_snapshot *out, const sac_staging *staging, const sac_world *world,
                       const sac_viewer *viewer, uint64_t frame)
{
    *out = (sac_snapshot){.frame = frame, .viewer = *viewer};
    uint32_t count = sac_world_bodies(world, NULL, 0);
    sac_body_id *ids = sac_alloc(count ? count : 1, sizeof *ids);
    bool ok = ids && sac_array_reserve(&out->bodies, count);
    if (ok) sac_world_bodies(world, ids, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        sac_body_state state;
        if (sac_body_get(world, ids[i], &state, NULL) != SAC_OK) continue;
        sac_snapshot_body body = {.pose = state.shown,
                                  .jnd = state.jnd,
                                  .group = state.group,
                                  .awake = state.awake,
                                  .dynamic = state.kind == SAC_BODY_DYNAMIC};
        while (body.prop < staging->props.count &&
               staging->props.data[body.prop].id.value != state.shape.value)
            body.prop++;
        const sac_soft *soft = sac_body_soft(world, ids[i]);
        if (soft) ok = take_skin(out, sac_body_soft_shape(world, ids[i]), soft, &body);
        if (ok && body.prop < staging->props.count) ok = sac_array_push(&out->bodies, body);
    }
    sac_free(ids, count ? count : 1, sizeof *ids);
    if (!ok) sac_snapshot_fini(out);
    return ok;
}

void sac_snapshot_fini(sac_snapshot *snapshot)
{
    sac_array_fini(&snapshot->bodies);
    sac_array_fini(&snapshot->vertices);
}

/* ---- forms as triangles and balls ---- */

typedef struct drawing {
    const sac_staging *staging;
    const sac_snapshot_vertex *vertices;
    sac_scene scene;
    sac_camera camera;
    sac_mesh **meshes; /* of each prop, made when first needed; NULL: drawn otherwise */
    bool *tried;
    uint32_t many; /* bodies in the picture: more of them, coarser ones */
} drawing;

/* What a prop is drawn with: as many triangles as so many bodies can have. */
static const sac_mesh *mesh_of(drawing *d, uint32_t index)
{
    const sac_prop *prop = &d->staging->props.data[index];
    sac_mesh **mesh = &d->meshes[index];
    if (d->tried[index]) return *mesh;
    d->tried[index] = true;
    uint32_t room = 600000 / (d->many ? d->many : 1);
    if (prop->kind == SAC_PROP_BOX) *mesh = sac_prop_mesh_box(prop->half, 0);
    if (prop->kind == SAC_PROP_HEIGHTS) *mesh = sac_prop_mesh_heights(prop);
    bool spheres = prop->kind == SAC_PROP_BAKED && prop->builtin && prop->shape.spheres;
    if (spheres && strcmp(prop->source, "cube56") == 0)
        *mesh = sac_prop_mesh_box((float[3]){0.5f, 0.5f, 0.5f}, 0);
    else if (spheres)
        *mesh = room > 1500  ? sac_prop_mesh_torus(36, 18)
                : room > 700 ? sac_prop_mesh_torus(26, 12)
                             : sac_prop_mesh_torus(18, 9);
    if (prop->kind == SAC_PROP_BAKED && prop->builtin && prop->shape.mesh)
        sac_mesh_builtin(prop->source, room < 400 ? 400 : room > 4000 ? 4000 : room, mesh, NULL);
    return *mesh;
}

static bool in_front(const sac_camera *camera, const float p[3], float least)
{
    float z = 0;
    for (int k = 0; k < 3; k++) z += (p[k] - camera->eye[k]) * camera->forward[k];
    return z > least;
}

/* Triangles that reach behind the eye are left out: the renderer does not cut them. */
static bool add_mesh(drawing *d, const sac_mesh *mesh, const sac_transform *pose, const float albedo[3])
{
    size_t start = d->scene.triangles.count, keep = start;
    if (!sac_scene_add_mesh(&d->scene, mesh, pose, albedo)) return false;
    for (size_t i = start; i < d->scene.triangles.count; i++) {
        const sac_scene_triangle *t = &d->scene.triangles.data[i];
        if (in_front(&d->camera, t->corner[0], 0.1f) && in_front(&d->camera, t->corner[1], 0.1f) &&
            in_front(&d->camera, t->corner[2], 0.1f))
            d->scene.triangles.data[keep++] = *t;
    }
    d->scene.triangles.count = keep;
    return true;
}

static bool add_ball(drawing *d, const sac_transform *pose, const float centre[3], float radius,
                     const float albedo[3])
{
    float at[3];
    sac_transform_point(pose, centre, at);
    radius *= pose->scale;
    return !in_front(&d->camera, at, radius + 0.05f) ||
           sac_scene_add_ball(&d->scene, SAC_BALL_SOLID, at, radius, albedo);
}

/* A level of the tree with no more spheres than a picture of many bodies can bear. */
static bool add_tree(drawing *d, const sac_tree *tree, const sac_transform *pose, const float albedo[3])
{
    uint32_t room = 200000 / (d->many ? d->many : 1), level = 1;
    while (level < tree->depth && tree->level_nodes[level + 1] <= (room > 24 ? room : 24)) level++;
    for (uint32_t id = 0; id < tree->level_block[level + 1] * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node) || (node.level < level && !node.leaf)) continue;
        if (!add_ball(d, pose, node.centre, node.radius, albedo)) return false;
    }
    return true;
}

static bool add_body(drawing *d, const sac_snapshot_body *body, sac_snapshot_colouring colouring)
{
    const sac_prop *prop = &d->staging->props.data[body->prop];
    static const float origin[3];
    float albedo[3];
    sac_colour_from_srgb(colour_of(body, colouring), albedo);
    for (int k = 0; k < 3; k++)
        if (!(fabsf(body->pose.translation[k]) < 1e4f)) return true;
    if (body->vertex_count && prop->soft) {
        const sac_soft_skin skin = sac_soft_shape_skin(prop->soft);
        const sac_transform here = sac_transform_identity();
        const sac_mesh bent = {.vertices = (float(*)[3])(d->vertices + body->first_vertex),
                               .vertex_count = body->vertex_count,
                               .triangles = (uint32_t(*)[3])skin.triangles,
                               .triangle_count = skin.triangle_count};
        return add_mesh(d, &bent, &here, albedo);
    }
    const sac_mesh *mesh = prop->shape.mesh && (uint64_t)prop->shape.mesh->triangle_count * d->many < 600000
                               ? prop->shape.mesh
                               : mesh_of(d, body->prop);
    if (mesh) return add_mesh(d, mesh, &body->pose, albedo);
    if (prop->tree) return add_tree(d, prop->tree, &body->pose, albedo);
    if (prop->kind == SAC_PROP_SPHERE) return add_ball(d, &body->pose, origin, prop->radius, albedo);
    if (prop->kind == SAC_PROP_CAPSULE) {
        enum { BEADS = 16 };
        for (int i = 0; i <= BEADS; i++) {
            const float at[3] = {0, prop->half[1] * (2.0f * (float)i / BEADS - 1), 0};
            if (!add_ball(d, &body->pose, at, prop->radius, albedo)) return false;
        }
    }
    return true; /* a plane is the ground of the picture */
}

/* ---- the room and the gaze ---- */

static bool add_edge(drawing *d, const float from[3], const float to[3], float thick)
{
    float half[3], albedo[3];
    sac_transform pose = sac_transform_identity();
    for (int k = 0; k < 3; k++)
        half[k] = fmaxf(thick, 0.5f * fabsf(to[k] - from[k])), pose.translation[k] = 0.5f * (from[k] + to[k]);
    sac_colour_from_srgb(0x8d949c, albedo);
    sac_mesh *mesh = sac_prop_mesh_box(half, 0);
    bool ok = mesh && add_mesh(d, mesh, &pose, albedo);
    sac_mesh_destroy(&mesh);
    return ok;
}

/* The edges of a box whose walls are glass. */
static bool add_glass(drawing *d)
{
    const sac_box *g = &d->staging->glass;
    float thick = 0.004f * (g->high[0] - g->low[0]);
    bool ok = true;
    for (int axis = 0; axis < 3 && ok; axis++)
        for (int corner = 0; corner < 4 && ok; corner++) {
            float from[3], to[3];
            int other = (axis + 1) % 3, third = (axis + 2) % 3;
            from[axis] = g->low[axis], to[axis] = g->high[axis];
            from[other] = to[other] = corner & 1 ? g->high[other] : g->low[other];
            from[third] = to[third] = corner & 2 ? g->high[third] : g->low[third];
            ok = add_edge(d, from, to, thick);
        }
    return ok;
}

static bool add_gaze(drawing *d, const sac_viewer *viewer)
{
    enum { BEADS = 72 };
    const float tangent = 0.0874887f, distance = 2; /* 5 degrees */
    float g[3], across[3], along[3], colour[3], length = 0, flat;
    if (!viewer->gaze.valid || !viewer->eye_count) return true;
    for (int k = 0; k < 3; k++) length += viewer->gaze.direction[k] * viewer->gaze.direction[k];
    for (int k = 0; k < 3; k++) g[k] = viewer->gaze.direction[k] / sqrtf(length);
    across[0] = -g[2], across[1] = 0, across[2] = g[0];
    flat = sqrtf(across[0] * across[0] + across[2] * across[2]);
    if (!(flat > 1e-4f)) return true;
    for (int k = 0; k < 3; k++) across[k] /= flat;
    for (int k = 0; k < 3; k++)
        along[k] = across[(k + 1) % 3] * g[(k + 2) % 3] - across[(k + 2) % 3] * g[(k + 1) % 3];
    sac_colour_from_srgb(0x1d4f91, colour);
    for (int i = 0; i < BEADS; i++) {
        float angle = 6.2831853f * (float)i / BEADS, p[3];
        for (int k = 0; k < 3; k++)
            p[k] = d->camera.eye[k] +
                   distance * (g[k] + tangent * (cosf(angle) * across[k] + sinf(angle) * along[k]));
        if (in_front(&d->camera, p, 0.5f) && !sac_scene_add_ball(&d->scene, SAC_BALL_MARK, p, 0.009f, colour))
            return false;
    }
    return true;
}

/* From between the eyes, as wide as a picture can be without stretching its corners. */
static void aim(drawing *d, uint32_t width, uint32_t height)
{
    const sac_staging *s = d->staging;
    sac_camera *c = &d->camera;
    float length = 0, flat;
    for (int k = 0; k < 3; k++)
        c->eye[k] = s->eye[k], c->forward[k] = s->target[k] - s->eye[k],
        length += c->forward[k] * c->forward[k];
    for (int k = 0; k < 3; k++) c->forward[k] /= sqrtf(length);
    c->upright[1] = 1;
    c->right[0] = -c->forward[2], c->right[2] = c->forward[0];
    flat = sqrtf(c->right[0] * c->right[0] + c->right[2] * c->right[2]);
    for (int k = 0; k < 3; k++) c->right[k] = flat > 1e-4f ? c->right[k] / flat : (float)(k == 0);
    for (int k = 0; k < 3; k++)
        c->up[k] =
            c->right[(k + 1) % 3] * c->forward[(k + 2) % 3] - c->right[(k + 2) % 3] * c->forward[(k + 1) % 3];
    c->focal = 0.5f * (float)width / 0.90f; /* 84 degrees across */
    c->middle_x = 0.5f * (float)width;
    c->middle_y = 0.5f * (float)height;
}

sac_result sac_snapshot_draw(const sac_snapshot *snapshot, const sac_staging *staging,
                             sac_snapshot_colouring colouring, uint32_t width, uint32_t height,
                             uint32_t threads, sac_picture *out, sac_error *error)
{
    size_t props = staging->props.count;
    drawing d = {
        .staging = staging, .vertices = snapshot->vertices.data, .many = (uint32_t)snapshot->bodies.count};
    *out = (sac_picture){0};
    d.meshes = sac_alloc_zero(props + 1, sizeof *d.meshes);
    d.tried = sac_alloc_zero(props + 1, sizeof *d.tried);
    d.scene.framed = d.scene.busy = true;
    aim(&d, width, height);
    bool ok = d.meshes && d.tried && (!staging->glazed || add_glass(&d));
    for (size_t i = 0; i < snapshot->bodies.count && ok; i++) {
        const sac_snapshot_body *body = &snapshot->bodies.data[i];
        if (staging->props.data[body->prop].hidden) continue;
        ok = add_body(&d, body, colouring);
    }
    ok = ok && add_gaze(&d, &snapshot->viewer) && sac_picture_init(out, width, height);
    ok = ok && sac_scene_render(&d.scene, &d.camera, out, 0, 0, width, height, threads);
    for (size_t i = 0; d.meshes && i < props; i++) sac_mesh_destroy(&d.meshes[i]);
    sac_free(d.meshes, props + 1, sizeof *d.meshes);
    sac_free(d.tried, props + 1, sizeof *d.tried);
    sac_scene_fini(&d.scene);
    if (ok) return SAC_OK;
    sac_picture_fini(out);
    return sac_error_set(error, SAC_ERROR_MEMORY, "make the picture smaller", "no memory for the picture");
}
