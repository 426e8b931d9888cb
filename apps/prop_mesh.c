#include "apps/prop_mesh.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586;

sac_mesh *sac_prop_mesh_torus(uint32_t steps, uint32_t around)
{
    enum { MOST = 48 * 24 };
    float vertices[MOST][3];
    uint32_t triangles[2 * MOST][3], count = 0;
    sac_mesh *mesh = NULL;
    for (uint32_t i = 0; i < steps; i++)
        for (uint32_t j = 0; j < around; j++) {
            double u = TURN * i / steps, v = TURN * j / around, out = 0.3 + 0.1 * cos(v);
            float *p = vertices[i * around + j];
            p[0] = (float)(out * cos(u)), p[1] = (float)(0.1 * sin(v)), p[2] = (float)(out * sin(u));
            uint32_t a = i * around + j, b = (i + 1) % steps * around + j,
                     c = (i + 1) % steps * around + (j + 1) % around, d = i * around + (j + 1) % around;
            const uint32_t quad[2][3] = {{a, c, b}, {a, d, c}};
            memcpy(triangles[count], quad, sizeof quad);
            count += 2;
        }
    sac_mesh_create((const float(*)[3])vertices, steps * around, (const uint32_t(*)[3])triangles, count,
                    "torus", &mesh, NULL);
    return mesh;
}

sac_mesh *sac_prop_mesh_heights(const sac_prop *prop)
{
    uint32_t columns = prop->columns, rows = prop->rows, n = columns * rows,
             m = 2 * (columns - 1) * (rows - 1), k = 0;
    float(*vertices)[3] = sac_alloc(n, sizeof *vertices);
    uint32_t(*triangles)[3] = sac_alloc(m, sizeof *triangles);
    sac_mesh *mesh = NULL;
    if (vertices && triangles) {
        for (uint32_t i = 0; i < n; i++) {
            vertices[i][0] = ((float)(i % columns) - 0.5f * (float)(columns - 1)) * prop->spacing;
            vertices[i][1] = prop->heights[i];
            vertices[i][2] = ((float)(i / columns) - 0.5f * (float)(rows - 1)) * prop->spacing;
        }
        for (uint32_t r = 0; r + 1 < rows; r++)
            for (uint32_t c = 0; c + 1 < columns; c++) {
                uint32_t a = r * columns + c,
                         quad[2][3] = {{a, a + columns, a + 1}, {a + 1, a + columns, a + columns + 1}};
                memcpy(triangles[k], quad, sizeof quad);
                k += 2;
            }
        sac_mesh_create((const float(*)[3])vertices, n, (const uint32_t(*)[3])triangles, m, "heights", &mesh,
                        NULL);
    }
    sac_free(vertices, n, sizeof *vertices);
    sac_free(triangles, m, sizeof *triangles);
    return mesh;
}

static sac_mesh *sharp_box(const float half[3])
{
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                          {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    float corners[8][3];
    sac_mesh *mesh = NULL;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) corners[i][k] = (i >> k & 1 ? half[k] : -half[k]);
    sac_mesh_create((const float(*)[3])corners, 8, faces, 12, "box", &mesh, NULL);
    return mesh;
}

/* Six faces, twelve cut edges, eight cut corners. Vertex (corner, axis) is the corner's point on the face
 * across that axis. */
sac_mesh *sac_prop_mesh_box(const float half[3], float bevel)
{
    if (!(bevel > 0)) return sharp_box(half);
    float vertices[24][3], cut = fminf(bevel, 0.5f * fminf(half[0], fminf(half[1], half[2])));
    uint32_t triangles[44][3], count = 0;
    sac_mesh *mesh = NULL;
    for (uint32_t corner = 0; corner < 8; corner++)
        for (int axis = 0; axis < 3; axis++)
            for (int k = 0; k < 3; k++) {
                float size = k == axis ? half[k] : half[k] - cut;
                vertices[corner * 3 + (uint32_t)axis][k] = corner >> k & 1 ? size : -size;
            }
#define POINT(corner, axis) ((uint32_t)((corner)*3 + (axis)))
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t u = 1u << (axis + 1) % 3, v = 1u << (axis + 2) % 3, w = 1u << axis;
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t base = side ? w : 0, a = POINT(base, axis), b = POINT(base | u, axis),
                     c = POINT(base | u | v, axis), d = POINT(base | v, axis);
            const uint32_t out[2][3] = {{a, b, c}, {a, c, d}}, in[2][3] = {{a, c, b}, {a, d, c}};
            memcpy(triangles[count], side ? out : in, sizeof out);
            count += 2;
        }
        /* Edges along `axis`: between the faces across the other two. */
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t base = (k & 1 ? u : 0) | (k & 2 ? v : 0), fu = (axis + 1) % 3, fv = (axis + 2) % 3;
            uint32_t a = POINT(base, fu), b = POINT(base | w, fu), c = POINT(base | w, fv),
                     d = POINT(base, fv);
            bool turn = (k & 1) == (k >> 1);
            const uint32_t one[2][3] = {{a, b, c}, {a, c, d}}, other[2][3] = {{a, c, b}, {a, d, c}};
            memcpy(triangles[count], turn ? other : one, sizeof one);
            count += 2;
        }
    }
    for (uint32_t corner = 0; corner < 8; corner++) {
        uint32_t ones = (corner & 1) + (corner >> 1 & 1) + (corner >> 2);
        uint32_t *t = triangles[count++];
        t[0] = POINT(corner, 0), t[1] = POINT(corner, ones & 1 ? 1 : 2),
        t[2] = POINT(corner, ones & 1 ? 2 : 1);
    }
#undef POINT
    sac_mesh_create((const float(*)[3])vertices, 24, (const uint32_t(*)[3])triangles, count, "box", &mesh,
                    NULL);
    return mesh;
}

/* Circles of latitude from pole to pole; the two at the equator are as far apart as the axis is long. */
sac_mesh *sac_prop_mesh_capsule(float radius, float half_length)
{
    enum { AROUND = 40, RINGS = 10, ROWS = 2 * RINGS, VERTICES = ROWS * AROUND + 2 };
    float vertices[VERTICES][3];
    uint32_t triangles[2 * ROWS * AROUND][3], count = 0;
    sac_mesh *mesh = NULL;
    for (uint32_t row = 0; row < ROWS; row++) {
        bool upper = row >= RINGS;
        double latitude =
            TURN / 4 * (upper ? (double)(row - RINGS) / RINGS : (double)row / RINGS - 1 + 1.0 / RINGS);
        if (half_length <= 0 && upper) latitude = TURN / 4 * (row - RINGS + 0.5) / RINGS;
        if (half_length <= 0 && !upper) latitude = TURN / 4 * (row + 0.5 - RINGS) / RINGS;
        for (uint32_t i = 0; i < AROUND; i++) {
            float *p = vertices[row * AROUND + i];
            double angle = TURN * i / AROUND, out = radius * cos(latitude);
            p[0] = (float)(out * cos(angle)), p[2] = (float)(out * sin(angle));
            p[1] = (float)(radius * sin(latitude) + (upper ? half_length : -half_length));
        }
    }
    const uint32_t south = ROWS * AROUND, north = south + 1;
    for (int k = 0; k < 3; k++) vertices[south][k] = vertices[north][k] = 0;
    vertices[south][1] = -half_length - radius, vertices[north][1] = half_length + radius;
    for (uint32_t i = 0; i < AROUND; i++) {
        uint32_t next = (i + 1) % AROUND, last = (ROWS - 1) * AROUND;
        const uint32_t caps[2][3] = {{south, i, next}, {north, last + next, last + i}};
        memcpy(triangles[count], caps, sizeof caps);
        count += 2;
        for (uint32_t row = 0; row + 1 < ROWS; row++) {
            uint32_t a = row * AROUND + i, b = row * AROUND + next;
            const uint32_t quad[2][3] = {{a, b + AROUND, b}, {a, a + AROUND, b + AROUND}};
            memcpy(triangles[count], quad, sizeof quad);
            count += 2;
        }
    }
    sac_mesh_create((const float(*)[3])vertices, VERTICES, (const uint32_t(*)[3])triangles, count, "capsule",
                    &mesh, NULL);
    return mesh;
}
