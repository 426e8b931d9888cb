/* A ring of hanging figures. */
#include "bench/figure_ring.h"

#include <math.h>

#include "base/memory.h"

static const double pi = 3.14159265358979323846;

/* A body with head, arms and legs: how far its surface is from its middle along a unit vector, as a share of
 * an ellipsoid, with a bump for each limb. */
static void surface_at(const double u[3], double out[3])
{
    static const double limbs[5][5] = {{0, 1, 0.1, 0.55, 14},      /* head */
                                       {0.93, 0.3, 0.2, 0.95, 22}, /* arms */
                                       {-0.93, 0.3, 0.2, 0.95, 22},
                                       {0.4, -0.91, 0.1, 0.8, 26}, /* legs */
                                       {-0.4, -0.91, 0.1, 0.8, 26}};
    static const double half[3] = {0.3, 0.42, 0.26};
    double r = 1;
    for (int i = 0; i < 5; i++) {
        double d2 = 0;
        for (int k = 0; k < 3; k++) d2 += (u[k] - limbs[i][k]) * (u[k] - limbs[i][k]);
        r += limbs[i][3] * exp(-limbs[i][4] * d2);
    }
    for (int k = 0; k < 3; k++) out[k] = u[k] * half[k] * r;
}

static sac_result make_surface(sac_figure_ring *f, uint32_t rings, uint32_t segments, sac_error *error)
{
    f->vertex_count = 2 + rings * segments, f->triangle_count = 2 * rings * segments;
    f->vertices = sac_alloc(f->vertex_count, sizeof *f->vertices);
    f->triangles = sac_alloc(f->triangle_count, sizeof *f->triangles);
    if (!f->vertices || !f->triangles)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a figure of %u vertices",
                             f->vertex_count);
    for (uint32_t v = 0; v < f->vertex_count; v++) {
        double up = v == 0 ? 0 : v == f->vertex_count - 1 ? pi : pi * (1 + (v - 1) / segments) / (rings + 1);
        double around = 2 * pi * ((v - 1) % segments) / segments, at[3];
        surface_at((double[3]){sin(up) * cos(around), cos(up), sin(up) * sin(around)}, at);
        for (int k = 0; k < 3; k++) f->vertices[v][k] = (float)at[k];
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i <= rings; i++)
        for (uint32_t s = 0; s < segments; s++) {
            uint32_t a = 1 + (i - 1) * segments + s, b = 1 + (i - 1) * segments + (s + 1) % segments;
            uint32_t c = a + segments, d = b + segments;
            if (i == 0) {
                memcpy(f->triangles[n++], (uint32_t[3]){0, 1 + (s + 1) % segments, 1 + s},
                       sizeof *f->triangles);
            } else if (i == rings) {
                memcpy(f->triangles[n++], (uint32_t[3]){f->vertex_count - 1, a, b}, sizeof *f->triangles);
            } else {
                memcpy(f->triangles[n++], (uint32_t[3]){a, b, c}, sizeof *f->triangles);
                memcpy(f->triangles[n++], (uint32_t[3]){b, d, c}, sizeof *f->triangles);
            }
        }
    return SAC_OK;
}

/* Each node as far as can be from those before it, among points on and below the surface. */
static sac_result spread_nodes(sac_figure_ring *f, uint32_t count, sac_error *error)
{
    enum { SHELLS = 3 };
    uint32_t step = f->vertex_count / 6000 + 1, places = (f->vertex_count + step - 1) / step * SHELLS;
    f->node_count = count;
    f->nodes = sac_alloc(count, sizeof *f->nodes);
    float *nearest = sac_alloc(places, sizeof *nearest);
    if (!f->nodes || !nearest) {
        sac_free(nearest, places, sizeof *nearest);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u nodes", count);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < places; i++) nearest[i] = INFINITY;
    for (uint32_t j = 0; j < count; j++) {
        uint32_t far = 0;
        for (int k = 0; k < 3; k++)
            f->nodes[j][k] = f->vertices[next / SHELLS * step][k] * (1 - 0.3f * (float)(next % SHELLS));
        for (uint32_t i = 0; i < places; i++) {
            float d2 = 0;
            for (int k = 0; k < 3; k++) {
                float d =
                    f->vertices[i / SHELLS * step][k] * (1 - 0.3f * (float)(i % SHELLS)) - f->nodes[j][k];
                d2 += d * d;
            }
            if (d2 < nearest[i]) nearest[i] = d2;
            if (nearest[i] > nearest[far]) far = i;
        }
        next = far;
    }
    sac_free(nearest, places, sizeof *nearest);
    return SAC_OK;
}

sac_result sac_figure_ring_begin(sac_figure_ring *ring, uint32_t vertices, uint32_t nodes, float radius,
                                 const sac_meshless_def *def, sac_error *error)
{
    *ring = (sac_figure_ring){0};
    uint32_t segments = (uint32_t)sqrt(vertices * 1.05), rings = (vertices + segments / 2) / segments;
    sac_result result = make_surface(ring, rings, segments, error);
    if (result == SAC_OK) result = spread_nodes(ring, nodes, error);
    if (result != SAC_OK) return result;
    float low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < ring->vertex_count; i++)
        low = fminf(low, ring->vertices[i][0]), high = fmaxf(high, ring->vertices[i][0]);
    ring->radius = radius * (high - low);
    sac_meshless_surface surface = {(const float(*)[3])ring->vertices, ring->vertex_count,
                                    (const uint32_t(*)[3])ring->triangles, ring->triangle_count};
    result = sac_meshless_model_create(&surface, (const float(*)[3])ring->nodes, nodes, NULL, def,
                                       &ring->model, error);
    for (int i = 0; i < SAC_FIGURES && result == SAC_OK; i++) {
        result = sac_meshless_create(ring->model, &ring->bodies[i], error);
        if (result == SAC_OK) result = sac_meshless_create(ring->model, &ring->others[i], error);
    }
    return result;
}

void sac_figure_ring_end(sac_figure_ring *ring)
{
    for (int i = 0; i < SAC_FIGURES; i++)
        sac_meshless_destroy(&ring->bodies[i]), sac_meshless_destroy(&ring->others[i]);
    sac_meshless_model_destroy(&ring->model);
    sac_free(ring->vertices, ring->vertex_count, sizeof *ring->vertices);
    sac_free(ring->triangles, ring->triangle_count, sizeof *ring->triangles);
    sac_free(ring->nodes, ring->node_count, sizeof *ring->nodes);
}

/* Hung by its head: what is deeper swings and turns farther. Then to its place on the ring. */
typedef struct hang {
    double aside, out, twist, turn, radius;
} hang;

static void move(const hang *h, const double p[3], double to[3])
{
    double depth = (0.65 - p[1]) / 1.35, angle = h->twist * depth;
    double x = p[0] * cos(angle) + p[2] * sin(angle) + h->aside * depth * depth;
    double z = p[2] * cos(angle) - p[0] * sin(angle) + h->out * depth * depth + h->radius;
    to[0] = x * cos(h->turn) + z * sin(h->turn), to[2] = z * cos(h->turn) - x * sin(h->turn);
    to[1] = p[1];
}

/* A node takes its neighbourhood along as the map does at its place. */
static void pose(const sac_figure_ring *ring, sac_meshless *body, const hang *h)
{
    const double step = 1e-5;
    for (uint32_t j = 0; j < ring->node_count; j++) {
        double p[3], at[3], plus[3], minus[3];
        float rows[3][4];
        for (int k = 0; k < 3; k++) p[k] = ring->nodes[j][k];
        move(h, p, at);
        for (int c = 0; c < 3; c++) {
            double q[3] = {p[0], p[1], p[2]};
            q[c] = p[c] + step, move(h, q, plus);
            q[c] = p[c] - step, move(h, q, minus);
            for (int r = 0; r < 3; r++) rows[r][c] = (float)((plus[r] - minus[r]) / (2 * step));
        }
        for (int r = 0; r < 3; r++)
            rows[r][3] = (float)(at[r] - rows[r][0] * p[0] - rows[r][1] * p[1] - rows[r][2] * p[2]);
        sac_meshless_set_node(body, j, (const float(*)[4])rows, NULL);
    }
}

void sac_figure_ring_pose(const sac_figure_ring *ring, sac_meshless *const *bodies, double time)
{
    for (int i = 0; i < SAC_FIGURES; i++) {
        double phase = 4 * time + 1.3 * i;
        hang h = {0.05 * sin(phase), 0.06 * cos(phase), 0.15 * sin(0.7 * phase), pi / 3 * i + 0.3 * time,
                  ring->radius};
        pose(ring, bodies[i], &h);
    }
}

void sac_figure_bend(const sac_figure_ring *ring, sac_meshless *body, double much)
{
    pose(ring, body, &(hang){much, 0.5 * much, much, 0, 0});
}
