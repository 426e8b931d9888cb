/* From parts to a mesh: the zero of a distance that is melted from those of the parts, by surface nets on a
 * grid as fine as the wished number of vertices needs, then drawn onto the surface and evened out. */
#include "apps/figure_internal.h"

#include <math.h>
#include <string.h>

static float dot3(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static float norm3(const float a[3]) { return sqrtf(dot3(a, a)); }

static float cone_distance(const sac_part *part, const float at[3])
{
    float d[3], r[3], length2 = 0, along = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = part->b[k] - part->a[k], r[k] = at[k] - part->a[k];
        length2 += d[k] * d[k], along += d[k] * r[k];
    }
    float t = length2 > 0 ? along / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int k = 0; k < 3; k++) r[k] -= t * d[k];
    return norm3(r) - (part->ra + t * (part->rb - part->ra));
}

/* Along a to b from their middle, to the side, and along `up` made square to that. */
static float in_frame(const sac_part *part, const float at[3], float out[3])
{
    float axis[3], side[3], up[3], r[3];
    for (int k = 0; k < 3; k++) {
        axis[k] = 0.5f * (part->b[k] - part->a[k]);
        r[k] = at[k] - 0.5f * (part->a[k] + part->b[k]);
    }
    float half = norm3(axis);
    for (int k = 0; k < 3; k++) axis[k] /= half;
    float tilt = dot3(axis, part->up);
    for (int k = 0; k < 3; k++) up[k] = part->up[k] - tilt * axis[k];
    float n = norm3(up);
    for (int k = 0; k < 3; k++) up[k] /= n;
    for (int k = 0; k < 3; k++)
        side[k] = up[(k + 1) % 3] * axis[(k + 2) % 3] - up[(k + 2) % 3] * axis[(k + 1) % 3];
    out[0] = dot3(r, axis), out[1] = dot3(r, side), out[2] = dot3(r, up);
    return half;
}

static float egg_distance(const sac_part *part, const float at[3])
{
    float f[3], half = in_frame(part, at, f);
    float p[3] = {f[0] / half, f[1] / part->ra, f[2] / part->rb};
    float q[3] = {p[0] / half, p[1] / part->ra, p[2] / part->rb};
    float scaled = norm3(p), slope = norm3(q);
    if (!(slope > 0)) return -fminf(half, fminf(part->ra, part->rb));
    return scaled * (scaled - 1) / slope;
}

/* A flat outline, made thick: the edge is round. */
static float blade_distance(const sac_part *part, const float at[3])
{
    float f[3], half = in_frame(part, at, f), flat;
    const float along = fabsf(f[0]), side = fabsf(f[1]), thick = part->thick;
    if (part->kind == SAC_PART_LEAF) {
        /* Two arcs that meet in the tips. */
        float h = half - thick, w = part->ra - thick, r = (h * h + w * w) / (2 * w), d = r - w;
        flat = (along - h) * d > side * h ? sqrtf(side * side + (along - h) * (along - h))
                                          : sqrtf((side + d) * (side + d) + along * along) - r;
    } else {
        float t = 0.5f + 0.5f * f[0] / half;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        float off = f[0] - (2 * t - 1) * half;
        flat = sqrtf(off * off + side * side) - (part->ra + t * (part->rb - part->ra) - thick);
    }
    flat = fmaxf(flat, 0);
    return sqrtf(flat * flat + f[2] * f[2]) - thick;
}

static float ring_distance(const sac_part *part, const float at[3])
{
    float r[3], high, flat2 = 0;
    for (int k = 0; k < 3; k++) r[k] = at[k] - part->a[k];
    high = dot3(r, part->up);
    for (int k = 0; k < 3; k++) r[k] -= high * part->up[k], flat2 += r[k] * r[k];
    float out = sqrtf(flat2) - part->ra;
    return sqrtf(out * out + high * high) - part->rb;
}

static float part_distance(const sac_part *part, const float at[3])
{
    switch (part->kind) {
    case SAC_PART_EGG:
        return egg_distance(part, at);
    case SAC_PART_LEAF:
    case SAC_PART_TONGUE:
        return blade_distance(part, at);
    case SAC_PART_RING:
        return ring_distance(part, at);
    default:
        return cone_distance(part, at);
    }
}

/* The lesser of two, with the corner between them filled up over a width. */
static float melted(float a, float b, float width)
{
    float h = width > 0 ? fmaxf(width - fabsf(a - b), 0) / width : 0;
    return fminf(a, b) - 0.25f * h * h * width;
}

static float figure_distance(const sac_figure *figure, const float at[3])
{
    float d = 1e3f;
    for (uint32_t i = 0; i < figure->count; i++) {
        const sac_part *part = &figure->parts[i];
        float own = part_distance(part, at);
        d = part->kind == SAC_PART_CUT ? -melted(-d, own, part->melt) : melted(d, own, part->melt);
    }
    return d;
}

static void figure_slope(const sac_figure *figure, const float at[3], float step, float out[3])
{
    for (int k = 0; k < 3; k++) {
        float p[3] = {at[0], at[1], at[2]}, q[3] = {at[0], at[1], at[2]};
        p[k] += step, q[k] -= step;
        out[k] = (figure_distance(figure, p) - figure_distance(figure, q)) / (2 * step);
    }
}

/* ---- the grid ---- */

typedef float point[3];
typedef uint32_t triangle[3];

typedef struct net {
    const sac_figure *figure;
    float low[3], cell;
    uint32_t size[3]; /* corners */
    float *values;
    uint32_t *vertex; /* of each cell; UINT32_MAX: none */
    sac_array(point) points;
    sac_array(triangle) triangles;
} net;

static size_t corner_at(const net *n, uint32_t x, uint32_t y, uint32_t z)
{
    return ((size_t)z * n->size[1] + y) * n->size[0] + x;
}

static void net_fini(net *n)
{
    size_t corners = (size_t)n->size[0] * n->size[1] * n->size[2];
    sac_free(n->values, corners, sizeof *n->values);
    sac_free(n->vertex, corners, sizeof *n->vertex);
    sac_array_fini(&n->points);
    sac_array_fini(&n->triangles);
}

static void figure_box(const sac_figure *figure, sac_box *out)
{
    *out = sac_box_empty();
    for (uint32_t i = 0; i < figure->count; i++) {
        const sac_part *p = &figure->parts[i];
        float reach = p->kind == SAC_PART_RING ? p->ra + p->rb : fmaxf(p->ra, p->rb);
        if (p->kind == SAC_PART_CUT) continue;
        for (int end = 0; end < 2; end++)
            for (int side = -1; side <= 1; side += 2) {
                float c[3];
                const float *e = end && p->kind != SAC_PART_RING ? p->b : p->a;
                for (int k = 0; k < 3; k++) c[k] = e[k] + (float)side * (reach + p->melt);
                sac_box_add(out, c);
            }
    }
}

/* Blocks of 8 cells that are farther from the surface than across are filled with one value. */
static void fill_values(net *n)
{
    enum { BLOCK = 8 };
    const float far = 1.8f * BLOCK * n->cell; /* twice half the diagonal: melting lengthens distances a bit */
    for (uint32_t z0 = 0; z0 < n->size[2]; z0 += BLOCK)
        for (uint32_t y0 = 0; y0 < n->size[1]; y0 += BLOCK)
            for (uint32_t x0 = 0; x0 < n->size[0]; x0 += BLOCK) {
                float middle[3] = {n->low[0] + ((float)x0 + 0.5f * (BLOCK - 1)) * n->cell,
                                   n->low[1] + ((float)y0 + 0.5f * (BLOCK - 1)) * n->cell,
                                   n->low[2] + ((float)z0 + 0.5f * (BLOCK - 1)) * n->cell};
                float guess = figure_distance(n->figure, middle);
                for (uint32_t z = z0; z < z0 + BLOCK && z < n->size[2]; z++)
                    for (uint32_t y = y0; y < y0 + BLOCK && y < n->size[1]; y++)
                        for (uint32_t x = x0; x < x0 + BLOCK && x < n->size[0]; x++) {
                            float at[3] = {n->low[0] + (float)x * n->cell, n->low[1] + (float)y * n->cell,
                                           n->low[2] + (float)z * n->cell};
                            n->values[corner_at(n, x, y, z)] =
                                fabsf(guess) > far ? guess : figure_distance(n->figure, at);
                        }
            }
}

/* The mean of where the surface cuts the cell's edges. */
static bool place_vertex(net *n, uint32_t x, uint32_t y, uint32_t z)
{
    float value[8], sum[3] = {0, 0, 0};
    uint32_t cuts = 0;
    for (uint32_t c = 0; c < 8; c++)
        value[c] = n->values[corner_at(n, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))];
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t axis = 0; axis < 3; axis++) {
            uint32_t b = a | 1u << axis;
            if (a == b || (value[a] < 0) == (value[b] < 0)) continue;
            float t = value[a] / (value[a] - value[b]);
            for (uint32_t k = 0; k < 3; k++) sum[k] += (float)(a >> k & 1) + (k == axis ? t : 0);
            cuts++;
        }
    if (!cuts) return true;
    point at = {n->low[0] + ((float)x + sum[0] / (float)cuts) * n->cell,
                n->low[1] + ((float)y + sum[1] / (float)cuts) * n->cell,
                n->low[2] + ((float)z + sum[2] / (float)cuts) * n->cell};
    n->vertex[corner_at(n, x, y, z)] = (uint32_t)n->points.count;
    if (!sac_array_reserve(&n->points, n->points.count + 1)) return false;
    memcpy(n->points.data[n->points.count++], at, sizeof at);
    return true;
}

static bool add_triangle(net *n, uint32_t a, uint32_t b, uint32_t c)
{
    triangle t = {a, b, c};
    if (!sac_array_reserve(&n->triangles, n->triangles.count + 1)) return false;
    memcpy(n->triangles.data[n->triangles.count++], t, sizeof t);
    return true;
}

/* Four cells around an edge that is cut: split along the shorter diagonal. */
static bool add_quad(net *n, const uint32_t q[4], bool turned)
{
    float d[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        float u = n->points.data[q[0]][k] - n->points.data[q[2]][k],
              v = n->points.data[q[1]][k] - n->points.data[q[3]][k];
        d[0] += u * u, d[1] += v * v;
    }
    uint32_t s = d[1] < d[0], a = q[s], b = q[s + 1], c = q[s + 2], e = q[(s + 3) % 4];
    return turned ? add_triangle(n, a, c, b) && add_triangle(n, a, e, c)
                  : add_triangle(n, a, b, c) && add_triangle(n, a, c, e);
}

static bool weave(net *n)
{
    for (uint32_t z = 0; z + 1 < n->size[2]; z++)
        for (uint32_t y = 0; y + 1 < n->size[1]; y++)
            for (uint32_t x = 0; x + 1 < n->size[0]; x++)
                if (!place_vertex(n, x, y, z)) return false;
    for (uint32_t z = 1; z + 1 < n->size[2]; z++)
        for (uint32_t y = 1; y + 1 < n->size[1]; y++)
            for (uint32_t x = 1; x + 1 < n->size[0]; x++) {
                float here = n->values[corner_at(n, x, y, z)];
                for (int axis = 0; axis < 3; axis++) {
                    uint32_t next[3] = {x, y, z}, p[3], q[4];
                    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
                    next[axis]++;
                    float there = n->values[corner_at(n, next[0], next[1], next[2])];
                    if ((here < 0) == (there < 0)) continue;
                    for (uint32_t i = 0; i < 4; i++) {
                        p[0] = x, p[1] = y, p[2] = z;
                        p[u] -= i == 0 || i == 3, p[v] -= i < 2;
                        q[i] = n->vertex[corner_at(n, p[0], p[1], p[2])];
                    }
                    if (!add_quad(n, q, here >= 0)) return false;
                }
            }
    return true;
}

/* Each vertex goes half way to the middle of its neighbours and back onto the surface, a few times over. */
static bool even_out(net *n, int rounds)
{
    const size_t count = n->points.count;
    point *sum = sac_alloc(count, sizeof *sum);
    float *share = sac_alloc(count, sizeof *share);
    for (int round = 0; sum && share && round < rounds; round++) {
        memset(sum, 0, count * sizeof *sum);
        memset(share, 0, count * sizeof *share);
        for (size_t t = 0; t < n->triangles.count; t++)
            for (int i = 0; i < 3; i++) {
                uint32_t a = n->triangles.data[t][i], b = n->triangles.data[t][(i + 1) % 3];
                for (int k = 0; k < 3; k++) {
                    sum[a][k] += n->points.data[b][k];
                    sum[b][k] += n->points.data[a][k];
                }
                share[a] += 1, share[b] += 1;
            }
        for (size_t i = 0; i < count; i++) {
            float *at = n->points.data[i], slope[3];
            for (int k = 0; k < 3 && share[i] > 0; k++) at[k] += 0.5f * (sum[i][k] / share[i] - at[k]);
            for (int back = 0; back < 2; back++) {
                float d = figure_distance(n->figure, at);
                figure_slope(n->figure, at, 0.1f * n->cell, slope);
                float square = dot3(slope, slope), move = square > 0.04f ? d / square : 0;
                move = fmaxf(-n->cell, fminf(n->cell, move)); /* seams are not smooth: no leaps */
                for (int k = 0; k < 3; k++) at[k] -= 0.9f * move * slope[k];
            }
        }
    }
    bool done = sum && share;
    sac_free(sum, count, sizeof *sum);
    sac_free(share, count, sizeof *share);
    return done;
}

static bool net_make(net *n, const sac_figure *figure, float cell)
{
    sac_box box;
    figure_box(figure, &box);
    *n = (net){.figure = figure, .cell = cell};
    size_t corners = 1;
    for (int k = 0; k < 3; k++) {
        n->low[k] = box.low[k] - 2.37f * cell; /* not on a plane a figure may be symmetric to */
        n->size[k] = (uint32_t)((box.high[k] - box.low[k]) / cell) + 6;
        corners *= n->size[k];
    }
    n->values = sac_alloc(corners, sizeof *n->values);
    n->vertex = sac_alloc(corners, sizeof *n->vertex);
    if (!n->values || !n->vertex) return false;
    memset(n->vertex, 0xFF, corners * sizeof *n->vertex);
    fill_values(n);
    return weave(n);
}

sac_result sac_figure_mesh(const char *name, uint32_t vertices, sac_mesh **out_mesh, sac_error *error)
{
    sac_figure figure;
    *out_mesh = NULL;
    if (!sac_figure_parts(name, &figure))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "there is no figure '%.60s'", name);
    if (vertices < 64 || vertices > 200000)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "ask for 64 to 200000", "a figure of %u vertices",
                             vertices);
    sac_box box;
    figure_box(&figure, &box);
    float size = fmaxf(box.high[0] - box.low[0], fmaxf(box.high[1] - box.low[1], box.high[2] - box.low[2]));
    float cell = size / (0.6f * sqrtf((float)vertices));
    net n;
    bool fine = net_make(&n, &figure, cell);
    /* Vertices are about as many as cells fit onto the surface. */
    for (int i = 0; i < 4 && fine && n.points.count; i++) {
        float ratio = (float)n.points.count / (float)vertices;
        if (fabsf(ratio - 1) < 0.02f) break;
        cell *= sqrtf(ratio);
        net_fini(&n);
        fine = net_make(&n, &figure, cell);
    }
    fine = fine && even_out(&n, 6);
    sac_result result =
        fine ? sac_mesh_create((const float(*)[3])n.points.data, (uint32_t)n.points.count,
                               (const uint32_t(*)[3])n.triangles.data, (uint32_t)n.triangles.count, name,
                               out_mesh, error)
             : sac_error_set(error, SAC_ERROR_MEMORY, "ask for fewer vertices", "no memory for the %s", name);
    net_fini(&n);
    return result;
}

/* Across a seam colours run into one another over about a triangle. */
uint32_t sac_figure_colour(const char *name, const float at[3])
{
    static const float SEAM = 0.005f;
    sac_figure figure;
    float best = 1e30f, second = 1e30f;
    uint32_t colour = 0, other = 0, out = 0;
    if (!sac_figure_parts(name, &figure)) return 0;
    for (uint32_t i = 0; i < figure.count; i++) {
        const sac_part *part = &figure.parts[i];
        if (part->kind == SAC_PART_CUT) continue;
        float d = part_distance(part, at);
        if (d < best) {
            if (part->colour != colour) second = best, other = colour;
            best = d, colour = part->colour;
        } else if (d < second && part->colour != colour) {
            second = d, other = part->colour;
        }
    }
    if (!colour && !other) return 0;
    float share = fminf(1, 0.5f + 0.5f * (second - best) / SEAM), alpha = 1;
    if (!colour) alpha = 1 - share, colour = other;
    if (!other) alpha = share, other = colour;
    for (int k = 0; k < 3; k++) {
        float a = (float)(colour >> (16 - 8 * k) & 255), b = (float)(other >> (16 - 8 * k) & 255);
        out |= (uint32_t)(b + (a - b) * share + 0.5f) << 8 * k;
    }
    return out | (uint32_t)(255 * alpha + 0.5f) << 24;
}
