/* A union of spheres as a model: each sphere an icosphere, less the triangles another sphere swallows whole.
 * The levels are rougher icospheres, so the normals are the spheres' own at every distance. */
#include "xr/renderer_internal.h"

#include <math.h>
#include <string.h>

/* Subdivisions 0 to 4 of the icosahedron: 20 * 4^n triangles. */
enum { FINEST = 4, MOST_POINTS = 10 * 256 + 2, MOST_FACES = 20 * 256 };

typedef struct ico {
    float points[MOST_POINTS][3];
    uint32_t faces[MOST_FACES][3];
    uint32_t point_count, face_count;
    float sag; /* farthest a triangle lies below the unit sphere */
} ico;

/* The point halfway, found or made; few enough that looking through all of them once at start is fine. */
static uint32_t halfway(ico *s, uint32_t first, uint32_t a, uint32_t b)
{
    float p[3];
    glm_vec3_add(s->points[a], s->points[b], p);
    glm_vec3_normalize(p);
    for (uint32_t i = first; i < s->point_count; i++)
        if (glm_vec3_distance2(s->points[i], p) < 1e-8f) return i;
    memcpy(s->points[s->point_count], p, sizeof p);
    return s->point_count++;
}

static void ico_make(ico *s, uint32_t subdivisions)
{
    const float g = 1.618034f;
    static const uint32_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                          {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                          {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                          {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const float points[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                                 {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    memcpy(s->points, points, sizeof points);
    memcpy(s->faces, faces, sizeof faces);
    s->point_count = 12, s->face_count = 20;
    for (uint32_t i = 0; i < 12; i++) glm_vec3_normalize(s->points[i]);
    for (uint32_t n = 0; n < subdivisions; n++) {
        uint32_t first = s->point_count;
        for (uint32_t f = s->face_count; f-- > 0;) {
            uint32_t v[3], m[3];
            memcpy(v, s->faces[f], sizeof v);
            for (int k = 0; k < 3; k++) m[k] = halfway(s, first, v[k], v[(k + 1) % 3]);
            /* From the last face on, so that nothing unread is written over. */
            const uint32_t parts[4][3] = {
                {v[0], m[0], m[2]}, {v[1], m[1], m[0]}, {v[2], m[2], m[1]}, {m[0], m[1], m[2]}};
            memcpy(s->faces[f * 4], parts, sizeof parts);
        }
        s->face_count *= 4;
    }
    s->sag = 0;
    for (uint32_t f = 0; f < s->face_count; f++) {
        float middle[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) glm_vec3_add(middle, s->points[s->faces[f][k]], middle);
        s->sag = fmaxf(s->sag, 1 - glm_vec3_norm(middle) / 3);
    }
}

static bool swallowed(const float (*corners)[3], const float sphere[4])
{
    for (int k = 0; k < 3; k++) {
        float d[3] = {corners[k][0] - sphere[0], corners[k][1] - sphere[1], corners[k][2] - sphere[2]};
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > sphere[3] * sphere[3]) return false;
    }
    return true;
}

static bool add_sphere(sac_gallery *gallery, const ico *s, const float (*spheres)[4], uint32_t i,
                       const uint32_t *near, uint32_t near_count)
{
    const float *sphere = spheres[i];
    uint32_t renamed[MOST_POINTS];
    memset(renamed, 0xFF, s->point_count * sizeof *renamed);
    for (uint32_t f = 0; f < s->face_count; f++) {
        float corners[3][3];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) corners[k][a] = sphere[a] + sphere[3] * s->points[s->faces[f][k]][a];
        bool hidden = false;
        for (uint32_t j = 0; j < near_count && !hidden; j++)
            hidden = swallowed((const float(*)[3])corners, spheres[near[j]]);
        for (int k = 0; k < 3 && !hidden; k++) {
            uint32_t p = s->faces[f][k];
            if (renamed[p] == UINT32_MAX) {
                sac_gallery_vertex vertex;
                memcpy(vertex.position, corners[k], sizeof vertex.position);
                memcpy(vertex.normal, s->points[p], sizeof vertex.normal);
                renamed[p] = (uint32_t)gallery->vertices.count;
                if (!sac_array_push(&gallery->vertices, vertex)) return false;
            }
            if (!sac_array_push(&gallery->indices, renamed[p])) return false;
        }
    }
    return true;
}

static bool add_level(sac_gallery *gallery, const ico *s, const float (*spheres)[4], uint32_t count,
                      uint32_t *near, sac_gallery_model *model)
{
    sac_gallery_level *level = &model->levels[model->level_count];
    *level = (sac_gallery_level){.first_index = (uint32_t)gallery->indices.count};
    double radii = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t near_count = 0;
        for (uint32_t j = 0; j < count; j++) {
            float d[3] = {spheres[i][0] - spheres[j][0], spheres[i][1] - spheres[j][1],
                          spheres[i][2] - spheres[j][2]};
            float reach = spheres[i][3] + spheres[j][3];
            /* Of two equal spheres the first is the one that is drawn. */
            bool twin = j > i && !memcmp(spheres[i], spheres[j], sizeof spheres[i]);
            if (j != i && !twin && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < reach * reach)
                near[near_count++] = j;
        }
        if (!add_sphere(gallery, s, spheres, i, near, near_count)) return false;
        level->error = fmaxf(level->error, s->sag * spheres[i][3]);
        radii += spheres[i][3];
    }
    level->index_count = (uint32_t)gallery->indices.count - level->first_index;
    level->edge = (float)(radii / count) * sqrtf(2.3094f * 12.566f / (float)s->face_count);
    model->level_count += level->index_count > 0;
    return true;
}

static sac_result check(const float (*spheres)[4], uint32_t count, sac_error *error)
{
    if (!count) return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "no spheres");
    if (count > SAC_GALLERY_MOST_SPHERES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "draw them as balls instead",
                             "%u spheres in one model; %u can be drawn", count, SAC_GALLERY_MOST_SPHERES);
    for (uint32_t i = 0; i < count; i++)
        if (!isfinite(spheres[i][0]) || !isfinite(spheres[i][1]) || !isfinite(spheres[i][2]) ||
            !(spheres[i][3] > 0) || !isfinite(spheres[i][3]))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "sphere %u is not finite or has no radius",
                                 i);
    return SAC_OK;
}

sac_result sac_gallery_add_spheres(sac_gallery *gallery, const float (*spheres)[4], uint32_t count,
                                   uint32_t *out_model, sac_error *error)
{
    sac_result result = check(spheres, count, error);
    if (result != SAC_OK) return result;
    size_t vertices = gallery->vertices.count, indices = gallery->indices.count;
    uint32_t *near = sac_alloc(count, sizeof *near);
    ico *s = sac_alloc(1, sizeof *s);
    sac_gallery_model model = {0};
    uint32_t finest = count > 256 ? 2 : count > 8 ? 3 : FINEST;
    bool fine = near && s;
    for (uint32_t n = 0; fine && n <= finest && n < SAC_GALLERY_LEVELS; n++) {
        ico_make(s, finest - n);
        fine = add_level(gallery, s, spheres, count, near, &model);
    }
    sac_free(s, 1, sizeof *s);
    sac_free(near, count, sizeof *near);
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            low[a] = fminf(low[a], spheres[i][a] - spheres[i][3]);
            high[a] = fmaxf(high[a], spheres[i][a] + spheres[i][3]);
        }
    glm_vec3_center(low, high, model.centre);
    for (uint32_t i = 0; i < count; i++) {
        float at[3] = {spheres[i][0], spheres[i][1], spheres[i][2]};
        model.radius = fmaxf(model.radius, glm_vec3_distance(at, model.centre) + spheres[i][3]);
    }
    if (!fine || !sac_array_push(&gallery->models, model)) {
        gallery->vertices.count = vertices, gallery->indices.count = indices;
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    }
    *out_model = (uint32_t)gallery->models.count - 1;
    return SAC_OK;
}
