#include "apps/render_internal.h"

#include <string.h>

/* Area-weighted face normals, world space. */
static void face_normals(const sac_scene_triangle *triangles, size_t count, float (*out)[3])
{
    for (size_t i = 0; i < count; i++) {
        const float(*c)[3] = triangles[i].corner;
        float e[3], f[3];
        for (int k = 0; k < 3; k++) e[k] = c[1][k] - c[0][k], f[k] = c[2][k] - c[0][k];
        cross3(e, f, out[i]);
    }
}

/* A corner's normal is the mean over the faces around its vertex that turn less than the crease angle. */
static void smooth_normals(const sac_mesh *mesh, sac_scene_triangle *triangles, const float (*faces)[3],
                           const uint32_t *first, const uint32_t *around)
{
    const float crease = 0.766f; /* cos 40 degrees */
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        float own[3];
        memcpy(own, faces[i], sizeof own);
        unit3(own);
        for (int k = 0; k < 3; k++) {
            uint32_t v = mesh->triangles[i][k];
            float sum[3] = {0, 0, 0};
            for (uint32_t j = first[v]; j < first[v + 1]; j++) {
                const float *f = faces[around[j]];
                float length = sqrtf(dot3(f, f));
                if (dot3(f, own) < crease * length) continue;
                for (int m = 0; m < 3; m++) sum[m] += f[m];
            }
            if (dot3(sum, sum) > 0)
                unit3(sum);
            else
                memcpy(sum, own, sizeof sum);
            memcpy(triangles[i].normal[k], sum, sizeof sum);
        }
    }
}

bool sac_scene_add_mesh(sac_scene *scene, const sac_mesh *mesh, const sac_transform *transform,
                        const float albedo[3])
{
    uint32_t n = mesh->triangle_count, m = mesh->vertex_count;
    size_t start = scene->triangles.count;
    if (!sac_array_reserve(&scene->triangles, start + n)) return false;
    float(*faces)[3] = sac_alloc(n, sizeof *faces);
    uint32_t *first = sac_alloc_zero((size_t)m + 2, sizeof *first);
    uint32_t *around = sac_alloc((size_t)n * 3, sizeof *around);
    bool ok = faces && first && around;
    if (ok) {
        sac_scene_triangle *out = scene->triangles.data + start;
        for (uint32_t i = 0; i < n; i++) {
            for (int k = 0; k < 3; k++) {
                const float *p = mesh->vertices[mesh->triangles[i][k]];
                if (transform)
                    sac_transform_point(transform, p, out[i].corner[k]);
                else
                    memcpy(out[i].corner[k], p, sizeof out[i].corner[k]);
                first[mesh->triangles[i][k] + 2]++;
            }
            memcpy(out[i].albedo, albedo, sizeof out[i].albedo);
        }
        for (uint32_t v = 2; v < m + 2; v++) first[v] += first[v - 1];
        for (uint32_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) around[first[mesh->triangles[i][k] + 1]++] = i;
        face_normals(out, n, faces);
        smooth_normals(mesh, out, (const float(*)[3])faces, first, around);
        scene->triangles.count += n;
    }
    sac_free(faces, n, sizeof *faces);
    sac_free(first, (size_t)m + 2, sizeof *first);
    sac_free(around, (size_t)n * 3, sizeof *around);
    return ok;
}

bool sac_scene_add_ball(sac_scene *scene, sac_ball_look look, const float centre[3], float radius,
                        const float albedo[3])
{
    sac_scene_ball ball = {{centre[0], centre[1], centre[2]}, radius, {albedo[0], albedo[1], albedo[2]}};
    return sac_array_push(&scene->balls[look], ball);
}

bool sac_scene_add_arrow(sac_scene *scene, const float from[3], const float direction[3], float length,
                         float radius, const float albedo[3])
{
    enum { BEADS = 24 };
    for (int i = 0; i <= BEADS; i++) {
        float t = (float)i / BEADS, p[3];
        for (int k = 0; k < 3; k++) p[k] = from[k] + direction[k] * length * t;
        if (!sac_scene_add_ball(scene, SAC_BALL_MARK, p, radius * (1.0f - 0.7f * t), albedo)) return false;
    }
    return true;
}

void sac_scene_fini(sac_scene *scene)
{
    sac_array_fini(&scene->triangles);
    for (int i = 0; i < SAC_BALL_LOOKS; i++) sac_array_fini(&scene->balls[i]);
}

/* ---- framing ---- */

typedef struct frame {
    float low[2], high[2]; /* of the projection, as tangents */
    float nearest;
} frame;

static void frame_ball(const sac_camera *camera, const float centre[3], float radius, frame *f)
{
    float d[3] = {centre[0] - camera->eye[0], centre[1] - camera->eye[1], centre[2] - camera->eye[2]};
    float x = dot3(d, camera->right), y = dot3(d, camera->up), z = dot3(d, camera->forward);
    float reach = radius / fmaxf(z, 1e-6f);
    z = fmaxf(z, 1e-6f);
    f->low[0] = fminf(f->low[0], x / z - reach), f->high[0] = fmaxf(f->high[0], x / z + reach);
    f->low[1] = fminf(f->low[1], y / z - reach), f->high[1] = fmaxf(f->high[1], y / z + reach);
    f->nearest = fminf(f->nearest, z - radius);
}

static frame frame_scenes(const sac_camera *camera, const sac_scene *const *scenes, uint32_t count)
{
    frame f = {{1e9f, 1e9f}, {-1e9f, -1e9f}, 1e30f};
    for (uint32_t s = 0; s < count; s++) {
        for (size_t i = 0; i < scenes[s]->triangles.count; i++)
            for (int k = 0; k < 3; k++) frame_ball(camera, scenes[s]->triangles.data[i].corner[k], 0, &f);
        for (int look = 0; look < SAC_BALL_LOOKS; look++)
            for (size_t i = 0; i < scenes[s]->balls[look].count; i++)
                frame_ball(camera, scenes[s]->balls[look].data[i].centre,
                           scenes[s]->balls[look].data[i].radius, &f);
    }
    return f;
}

static void scene_box(const sac_scene *const *scenes, uint32_t count, sac_box *box)
{
    *box = sac_box_empty();
    for (uint32_t s = 0; s < count; s++) {
        for (size_t i = 0; i < scenes[s]->triangles.count; i++)
            for (int k = 0; k < 3; k++) sac_box_add(box, scenes[s]->triangles.data[i].corner[k]);
        for (int look = 0; look < SAC_BALL_LOOKS; look++)
            for (size_t i = 0; i < scenes[s]->balls[look].count; i++) {
                const sac_scene_ball *b = &scenes[s]->balls[look].data[i];
                float low[3], high[3];
                for (int k = 0; k < 3; k++)
                    low[k] = b->centre[k] - b->radius, high[k] = b->centre[k] + b->radius;
                sac_box_add(box, low);
                sac_box_add(box, high);
            }
    }
    if (!(box->low[0] <= box->high[0])) *box = (sac_box){{-1, -1, -1}, {1, 1, 1}};
}

sac_camera sac_camera_frame(const sac_scene *const *scenes, uint32_t count, sac_view view, uint32_t width,
                            uint32_t height)
{
    const float radians = 0.01745329252f, margin = 0.95f, tangent = 0.21f; /* half height of the view */
    float azimuth = (float)view.azimuth * radians, elevation = (float)view.elevation * radians;
    float side = sinf(azimuth), back = cosf(azimuth), flat = cosf(elevation), rise = sinf(elevation);
    sac_camera camera = {0};
    sac_box box;
    float to_eye[3], middle[3];
    scene_box(scenes, count, &box);
    camera.upright[view.z_up ? 2 : 1] = 1;
    to_eye[0] = side * flat;
    to_eye[1] = view.z_up ? -back * flat : rise;
    to_eye[2] = view.z_up ? rise : back * flat;
    for (int k = 0; k < 3; k++) camera.forward[k] = -to_eye[k];
    cross3(camera.forward, camera.upright, camera.right);
    unit3(camera.right);
    cross3(camera.right, camera.forward, camera.up);

    float diagonal = fmaxf(sac_box_diagonal(&box), 1e-6f), distance = diagonal / (2 * tangent);
    float aspect = (float)width / (float)height;
    for (int k = 0; k < 3; k++) middle[k] = 0.5f * (box.low[k] + box.high[k]);
    /* Move sideways to centre the projection, forwards or back to fill the frame, until it settles. */
    for (int round = 0; round < 8; round++) {
        for (int k = 0; k < 3; k++) camera.eye[k] = middle[k] + to_eye[k] * distance;
        frame f = frame_scenes(&camera, scenes, count);
        float x = 0.5f * (f.low[0] + f.high[0]) * distance, y = 0.5f * (f.low[1] + f.high[1]) * distance;
        float half_x = 0.5f * (f.high[0] - f.low[0]), half_y = 0.5f * (f.high[1] - f.low[1]);
        float grow = fmaxf(half_x / aspect, half_y) / (tangent * margin);
        for (int k = 0; k < 3; k++) middle[k] += camera.right[k] * x + camera.up[k] * y;
        distance = fmaxf(distance * grow, distance - 0.5f * f.nearest);
    }
    for (int k = 0; k < 3; k++) camera.eye[k] = middle[k] + to_eye[k] * distance;
    camera.focal = 0.5f * (float)height / tangent;
    camera.middle_x = 0.5f * (float)width;
    camera.middle_y = 0.5f * (float)height;
    return camera;
}
