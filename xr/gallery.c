/* The gallery: meshes with smooth normals and coarser versions of themselves. All levels of a model share its
 * vertices, because simplification only ever moves to a vertex that exists; a coarse corner takes, of the
 * normals its vertex has, the one nearest its face, so creases stay sharp and curves stay smooth far away. */
#include "xr/renderer_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <meshoptimizer.h>

/* Cosines of 40 and of 80 degrees: what is soft has no edges as sharp as what is turned. */
static const float CREASE = 0.76604444f, SOFT_CREASE = 0.17364818f;

/* A vertex's normals: runs of `vertices`, by original vertex. */
typedef struct work {
    const sac_mesh *mesh;
    uint32_t *first_corner;  /* vertex_count + 1: into corners */
    uint32_t *corners;       /* triangle * 3 + corner, by vertex */
    uint32_t *first_normal;  /* vertex_count + 1: into the gallery's vertices */
    float (*faces)[3];       /* normal times twice the area */
    uint32_t *fine, *coarse; /* indices of the original vertices */
} work;

static void work_fini(work *w)
{
    const sac_mesh *m = w->mesh;
    sac_free(w->first_corner, (size_t)m->vertex_count + 1, sizeof *w->first_corner);
    sac_free(w->corners, (size_t)m->triangle_count * 3, sizeof *w->corners);
    sac_free(w->first_normal, (size_t)m->vertex_count + 1, sizeof *w->first_normal);
    sac_free(w->faces, m->triangle_count, sizeof *w->faces);
    sac_free(w->fine, (size_t)m->triangle_count * 3, sizeof *w->fine);
    sac_free(w->coarse, (size_t)m->triangle_count * 3, sizeof *w->coarse);
}

static bool work_init(work *w, const sac_mesh *m)
{
    *w = (work){.mesh = m};
    w->first_corner = sac_alloc_zero((size_t)m->vertex_count + 1, sizeof *w->first_corner);
    w->corners = sac_alloc((size_t)m->triangle_count * 3, sizeof *w->corners);
    w->first_normal = sac_alloc((size_t)m->vertex_count + 1, sizeof *w->first_normal);
    w->faces = sac_alloc(m->triangle_count, sizeof *w->faces);
    w->fine = sac_alloc((size_t)m->triangle_count * 3, sizeof *w->fine);
    w->coarse = sac_alloc((size_t)m->triangle_count * 3, sizeof *w->coarse);
    if (w->first_corner && w->corners && w->first_normal && w->faces && w->fine && w->coarse) return true;
    work_fini(w);
    return false;
}

static void face_normal(const sac_mesh *m, const uint32_t v[3], float out[3])
{
    float a[3], b[3];
    glm_vec3_sub(m->vertices[v[1]], m->vertices[v[0]], a);
    glm_vec3_sub(m->vertices[v[2]], m->vertices[v[0]], b);
    glm_vec3_cross(a, b, out);
}

static void list_corners(work *w)
{
    const sac_mesh *m = w->mesh;
    for (uint32_t t = 0; t < m->triangle_count; t++) {
        face_normal(m, m->triangles[t], w->faces[t]);
        for (int k = 0; k < 3; k++) w->first_corner[m->triangles[t][k] + 1]++;
    }
    for (uint32_t v = 0; v < m->vertex_count; v++) w->first_corner[v + 1] += w->first_corner[v];
    /* Filling moves each start to the next vertex's; they are put back after. */
    for (uint32_t t = 0; t < m->triangle_count; t++)
        for (uint32_t k = 0; k < 3; k++) w->corners[w->first_corner[m->triangles[t][k]]++] = t * 3 + k;
    for (uint32_t v = m->vertex_count; v > 0; v--) w->first_corner[v] = w->first_corner[v - 1];
    w->first_corner[0] = 0;
}

/* Faces within the angle smooth into one another; nearly equal normals of a vertex become one. */
static bool add_normals(sac_gallery *gallery, work *w, float crease)
{
    static const float same = 0.9995f;
    const sac_mesh *m = w->mesh;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        uint32_t from = w->first_corner[v], to = w->first_corner[v + 1];
        w->first_normal[v] = (uint32_t)gallery->vertices.count;
        for (uint32_t i = from; i < to; i++) {
            float *mine = w->faces[w->corners[i] / 3];
            float length = glm_vec3_norm(mine), sum[3] = {0, 0, 0};
            if (length == 0) continue;
            /* A vertex with a great many faces is a fan; looking at a few neighbours of each is enough. */
            uint32_t step = (to - from) / 256 + 1;
            for (uint32_t j = from; j < to; j += step) {
                float *other = w->faces[w->corners[j] / 3];
                if (glm_vec3_dot(mine, other) >= crease * length * glm_vec3_norm(other))
                    glm_vec3_add(sum, other, sum);
            }
            if (glm_vec3_norm(sum) == 0) glm_vec3_copy(mine, sum);
            glm_vec3_normalize(sum);
            bool known = false;
            for (size_t k = w->first_normal[v]; k < gallery->vertices.count && !known; k++)
                known = glm_vec3_dot(gallery->vertices.data[k].normal, sum) > same;
            sac_gallery_vertex vertex;
            memcpy(vertex.position, m->vertices[v], sizeof vertex.position);
            memcpy(vertex.normal, sum, sizeof vertex.normal);
            if (!known && !sac_array_push(&gallery->vertices, vertex)) return false;
        }
    }
    w->first_normal[m->vertex_count] = (uint32_t)gallery->vertices.count;
    return true;
}

/* Appends one level; its triangles name vertices of the mesh. */
static bool add_level(sac_gallery *gallery, const work *w, uint32_t *indices, size_t count,
                      sac_gallery_model *model, float error)
{
    const sac_mesh *m = w->mesh;
    sac_gallery_level *level = &model->levels[model->level_count];
    *level = (sac_gallery_level){.first_index = (uint32_t)gallery->indices.count, .error = error};
    if (!sac_array_reserve(&gallery->indices, gallery->indices.count + count)) return false;
    uint32_t *out = gallery->indices.data + gallery->indices.count;
    double area = 0;
    uint32_t n = 0;
    for (size_t i = 0; i + 2 < count; i += 3) {
        float normal[3];
        face_normal(m, indices + i, normal);
        float twice = glm_vec3_norm(normal);
        if (twice == 0) continue;
        area += 0.5 * twice;
        uint32_t corner[3];
        bool whole = true;
        for (int k = 0; k < 3; k++) {
            uint32_t v = indices[i + (size_t)k];
            float best = -2 * twice;
            corner[k] = UINT32_MAX;
            for (uint32_t j = w->first_normal[v]; j < w->first_normal[v + 1]; j++) {
                float d = glm_vec3_dot(gallery->vertices.data[j].normal, normal);
                if (d > best) best = d, corner[k] = j;
            }
            whole &= corner[k] != UINT32_MAX;
        }
        if (whole) memcpy(out + n, corner, sizeof corner), n += 3;
    }
    if (!n) return true;
    meshopt_optimizeVertexCache(out, out, n, gallery->vertices.count);
    gallery->indices.count += n;
    level->index_count = n;
    level->edge = (float)sqrt(2.3094 * area / (n / 3)); /* equilateral triangles of that area */
    model->level_count++;
    return true;
}

static bool add_levels(sac_gallery *gallery, work *w, sac_gallery_model *model)
{
    const sac_mesh *m = w->mesh;
    size_t count = (size_t)m->triangle_count * 3;
    memcpy(w->fine, m->triangles, count * sizeof *w->fine);
    if (!add_level(gallery, w, w->fine, count, model, 0)) return false;
    const float scale = meshopt_simplifyScale(m->vertices[0], m->vertex_count, sizeof *m->vertices);
    size_t last = count;
    float farthest = 0;
    while (model->level_count && model->level_count < SAC_GALLERY_LEVELS) {
        size_t target = last / 12 * 3; /* a quarter of the triangles */
        if (target < 12 * 3) break;
        float error = 0;
        size_t got = meshopt_simplify(w->coarse, w->fine, count, m->vertices[0], m->vertex_count,
                                      sizeof *m->vertices, target, 0.25f, 0, &error);
        if (got < 4 * 3 || got > last / 10 * 7) break;
        farthest = fmaxf(farthest, error * scale);
        if (!add_level(gallery, w, w->coarse, got, model, farthest)) return false;
        last = got;
    }
    return true;
}

static void bound(const sac_mesh *mesh, sac_gallery_model *model)
{
    float low[3], high[3], most = 0;
    glm_vec3_copy(mesh->vertices[0], low);
    glm_vec3_copy(mesh->vertices[0], high);
    for (uint32_t i = 1; i < mesh->vertex_count; i++) {
        glm_vec3_minv(low, mesh->vertices[i], low);
        glm_vec3_maxv(high, mesh->vertices[i], high);
    }
    glm_vec3_center(low, high, model->centre);
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        most = fmaxf(most, glm_vec3_distance(mesh->vertices[i], model->centre));
    model->radius = most;
}

sac_result sac_gallery_create(sac_gallery **out_gallery, sac_error *error)
{
    *out_gallery = sac_alloc_zero(1, sizeof **out_gallery);
    return *out_gallery ? SAC_OK : sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
}

void sac_gallery_destroy(sac_gallery **gallery)
{
    if (!gallery || !*gallery) return;
    sac_array_fini(&(*gallery)->vertices);
    sac_array_fini(&(*gallery)->skin_vertices);
    sac_array_fini(&(*gallery)->indices);
    sac_array_fini(&(*gallery)->models);
    sac_free(*gallery, 1, sizeof **gallery);
    *gallery = NULL;
}

static sac_result check_mesh(const sac_mesh *mesh, sac_error *error)
{
    if (!mesh || !mesh->triangle_count || !mesh->vertex_count)
        return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "the mesh has no triangles");
    if (mesh->triangle_count > SAC_GALLERY_MOST_TRIANGLES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "simplify the mesh first",
                             "a mesh of %u triangles; %u can be drawn", mesh->triangle_count,
                             SAC_GALLERY_MOST_TRIANGLES);
    for (uint32_t i = 0; i < mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            if (mesh->triangles[i][k] >= mesh->vertex_count)
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "sac_mesh_create checks a mesh",
                                     "triangle %u names vertex %u of %u", i, mesh->triangles[i][k],
                                     mesh->vertex_count);
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        if (!sac_vec3_is_finite(mesh->vertices[i]))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "sac_mesh_create checks a mesh",
                                 "vertex %u is not finite", i);
    return SAC_OK;
}

static sac_result check_skin(const sac_mesh *mesh, const sac_gallery_skin *skin, sac_error *error)
{
    if (!skin->first || !skin->joint || !skin->weight || !skin->joint_count)
        return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "the skin follows no joints");
    if (skin->joint_count > SAC_GALLERY_MOST_JOINTS)
        return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "a skin of %u joints; %u can be drawn",
                             skin->joint_count, (unsigned)SAC_GALLERY_MOST_JOINTS);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        float sum = 0;
        if (skin->first[v] > skin->first[v + 1])
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "vertex %u follows joints %u to %u", v,
                                 skin->first[v], skin->first[v + 1]);
        for (uint32_t i = skin->first[v]; i < skin->first[v + 1]; i++) {
            if (skin->joint[i] >= skin->joint_count)
                return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "vertex %u follows joint %u of %u", v,
                                     skin->joint[i], skin->joint_count);
            if (!(skin->weight[i] >= 0 && skin->weight[i] <= FLT_MAX))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "weights are from 0 to 1",
                                     "vertex %u follows joint %u with weight %g", v, skin->joint[i],
                                     (double)skin->weight[i]);
            sum += skin->weight[i];
        }
        if (!(sum > 0 && sum <= FLT_MAX))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "the weights of vertex %u sum to %g", v,
                                 (double)sum);
    }
    return SAC_OK;
}

/* The heaviest few, in whole 65535ths that sum to 1 exactly: what rounding left over goes to the first. */
static void weigh(const sac_gallery_skin *skin, uint32_t vertex, sac_gallery_skin_vertex *out)
{
    float kept[SAC_GALLERY_INFLUENCES] = {0}, sum = 0;
    uint32_t count = 0, left = 65535;
    for (uint32_t i = skin->first[vertex]; i < skin->first[vertex + 1]; i++) {
        uint32_t at = count < SAC_GALLERY_INFLUENCES ? count++ : SAC_GALLERY_INFLUENCES;
        while (at > 0 && kept[at - 1] < skin->weight[i]) {
            if (at < SAC_GALLERY_INFLUENCES) kept[at] = kept[at - 1], out->joints[at] = out->joints[at - 1];
            at--;
        }
        if (at < SAC_GALLERY_INFLUENCES) kept[at] = skin->weight[i], out->joints[at] = skin->joint[i];
    }
    for (uint32_t i = 0; i < count; i++) sum += kept[i];
    for (uint32_t i = count; i < SAC_GALLERY_INFLUENCES; i++)
        out->joints[i] = out->joints[0], out->weights[i] = 0;
    for (uint32_t i = 1; i < count; i++) {
        out->weights[i] = (uint16_t)(kept[i] / sum * 65535);
        left -= out->weights[i];
    }
    out->weights[0] = (uint16_t)left;
}

/* The vertices added last, from `first` on, move over to those that bend; indices from `index` on follow. */
static bool bend(sac_gallery *gallery, const work *w, const sac_gallery_skin *skin, size_t first,
                 size_t index)
{
    const uint32_t base = (uint32_t)gallery->skin_vertices.count;
    if (!sac_array_reserve(&gallery->skin_vertices, base + gallery->vertices.count - first)) return false;
    for (uint32_t v = 0; v < w->mesh->vertex_count; v++)
        for (uint32_t i = w->first_normal[v]; i < w->first_normal[v + 1]; i++) {
            sac_gallery_skin_vertex vertex = {0};
            memcpy(vertex.position, gallery->vertices.data[i].position, sizeof vertex.position);
            memcpy(vertex.normal, gallery->vertices.data[i].normal, sizeof vertex.normal);
            weigh(skin, v, &vertex);
            if (skin->colours) vertex.colour = skin->colours[v];
            gallery->skin_vertices.data[gallery->skin_vertices.count++] = vertex;
        }
    for (size_t i = index; i < gallery->indices.count; i++)
        gallery->indices.data[i] = gallery->indices.data[i] - (uint32_t)first + base;
    gallery->vertices.count = first;
    return true;
}

static sac_result add(sac_gallery *gallery, const sac_mesh *mesh, const sac_gallery_skin *skin,
                      uint32_t *out_model, sac_error *error)
{
    sac_result result = check_mesh(mesh, error);
    if (result == SAC_OK && skin) result = check_skin(mesh, skin, error);
    if (result != SAC_OK) return result;
    work w;
    if (!work_init(&w, mesh)) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    size_t vertices = gallery->vertices.count, indices = gallery->indices.count;
    sac_gallery_model model = {.joint_count = skin ? skin->joint_count : 0};
    size_t skinned = gallery->skin_vertices.count;
    list_corners(&w);
    bool fine = add_normals(gallery, &w, skin ? SOFT_CREASE : CREASE) && add_levels(gallery, &w, &model);
    if (fine && skin) fine = bend(gallery, &w, skin, vertices, indices);
    work_fini(&w);
    bound(mesh, &model);
    if (fine && !model.level_count)
        result = sac_error_set(error, SAC_ERROR_EMPTY, NULL, "no triangle of the mesh has an area");
    else if (!fine || !sac_array_push(&gallery->models, model))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    if (result != SAC_OK) {
        gallery->vertices.count = vertices, gallery->indices.count = indices;
        gallery->skin_vertices.count = skinned;
        return result;
    }
    *out_model = (uint32_t)gallery->models.count - 1;
    return SAC_OK;
}

sac_result sac_gallery_add_mesh(sac_gallery *gallery, const sac_mesh *mesh, uint32_t *out_model,
                                sac_error *error)
{
    return add(gallery, mesh, NULL, out_model, error);
}

sac_result sac_gallery_add_skin(sac_gallery *gallery, const sac_mesh *mesh, const sac_gallery_skin *skin,
                                uint32_t *out_model, sac_error *error)
{
    return add(gallery, mesh, skin, out_model, error);
}
