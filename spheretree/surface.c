/* Distance to a mesh: an eight-wide hierarchy of boxes, closest point first. The sign comes from
 * angle-weighted pseudo-normals (Baerentzen & Aanaes), exact for closed meshes that do not fold over
 * themselves; next to a fold the generalised winding number decides, with far parts of the mesh taken as
 * dipoles (Barill et al.). */
#include "spheretree/build_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

enum { WIDE = 8, LEAF_TRIANGLES = 4, STACK = 512 };

/* Boxes of eight children; float, rounded outwards. child: node index, or ~first triangle with its count. */
typedef struct node {
    _Alignas(SAC_CACHE_LINE) float low[3][WIDE];
    float high[3][WIDE];
    int32_t child[WIDE];
    uint8_t count[WIDE]; /* triangles of a leaf, 0 for a node; child < 0 marks a leaf */
} node;

/* A node's child seen from afar, for the winding number: the sum of its area vectors at their common centre.
 */
typedef struct dipole {
    double centre[3], moment[3], reach; /* the child is within `reach` of the centre */
} dipole;

/* A triangle ready for the test: corner and two edges, relative to the origin of the surface. */
typedef struct triangle {
    double a[3], ab[3], ac[3];
    double middle[3], reach; /* a ball that holds it */
    uint32_t index;          /* in the mesh */
} triangle;

struct sac_surface {
    node *nodes;
    dipole (*dipoles)[WIDE]; /* by node */
    triangle *triangles;     /* in leaf order */
    uint32_t *slot_of;       /* mesh triangle -> place in `triangles` */
    float (*face)[3];        /* unit normals by mesh triangle */
    float (*edge)[3][3];     /* pseudo-normals of ab, bc, ca */
    float (*vertex)[3];      /* pseudo-normals by mesh vertex */
    bool *doubtful;          /* by mesh triangle: a corner is on a fold, where pseudo-normals may mislead */
    uint32_t (*corner)[3];
    double origin[3];
    uint32_t node_count, node_room, triangle_count, vertex_count;
    bool closed;
    bool folded;  /* somewhere, so that a claim of being inside may be wrong elsewhere too */
    bool crossed; /* parts run through each other: only the winding number tells inside */
};

/* ---- building ---- */

typedef struct item {
    float low[3], high[3];
    uint32_t triangle;
} item;

static double middle(const item *i, int axis) { return 0.5 * ((double)i->low[axis] + i->high[axis]); }

/* Order items so that [0, half) have the smaller middles; ties by triangle, so the result is unique. */
static bool before(const item *a, const item *b, int axis)
{
    double x = middle(a, axis), y = middle(b, axis);
    return x < y || (x == y && a->triangle < b->triangle);
}

static void select_half(item *items, size_t count, size_t half, int axis)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        item pivot = items[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (before(&items[i], &pivot, axis)) i++;
            while (before(&pivot, &items[j], axis)) j--;
            if (i >= j) break;
            item swap = items[i];
            items[i++] = items[j];
            items[j--] = swap;
        }
        /* [low..j] <= pivot <= [i..high] */
        if (half <= j)
            high = j;
        else
            low = j + 1;
    }
}

static void bounds(const item *items, size_t count, float low[3], float high[3])
{
    for (int k = 0; k < 3; k++) low[k] = FLT_MAX, high[k] = -FLT_MAX;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], items[i].low[k]);
            high[k] = fmaxf(high[k], items[i].high[k]);
        }
}

static int longest_axis(const item *items, size_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], middle(&items[i], k));
            high[k] = fmax(high[k], middle(&items[i], k));
        }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    return axis;
}

/* Three rounds of halving give up to eight parts; parts of a leaf's size are left whole. */
static uint32_t split_eight(item *items, size_t count, size_t starts[WIDE + 1])
{
    uint32_t parts = 1;
    starts[0] = 0, starts[1] = count;
    for (int round = 0; round < 3; round++)
        for (uint32_t p = 0, now = parts; p < now; p++) {
            uint32_t widest = 0;
            for (uint32_t q = 1; q < parts; q++)
                if (starts[q + 1] - starts[q] > starts[widest + 1] - starts[widest]) widest = q;
            size_t first = starts[widest], n = starts[widest + 1] - first;
            if (n <= LEAF_TRIANGLES || parts == WIDE) return parts;
            select_half(items + first, n, n / 2, longest_axis(items + first, n));
            for (uint32_t q = parts; q > widest; q--) starts[q + 1] = starts[q];
            starts[widest + 1] = first + n / 2;
            parts++;
        }
    return parts;
}

static uint32_t build_node(sac_surface *s, item *items, size_t first, size_t count)
{
    uint32_t index = s->node_count++;
    size_t starts[WIDE + 1];
    uint32_t parts = split_eight(items + first, count, starts);
    node *n = &s->nodes[index];
    for (uint32_t p = 0; p < WIDE; p++) {
        float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
        n->child[p] = 0, n->count[p] = 0;
        if (p < parts) {
            size_t begin = first + starts[p], size = starts[p + 1] - starts[p];
            bounds(items + begin, size, low, high);
            if (size <= LEAF_TRIANGLES) {
                n->child[p] = -(int32_t)begin - 1;
                n->count[p] = (uint8_t)size;
            } else {
                n->child[p] = (int32_t)build_node(s, items, begin, size);
            }
        }
        for (int k = 0; k < 3; k++) n->low[k][p] = low[k], n->high[k][p] = high[k];
    }
    return index;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double unit(double v[3])
{
    double length = sqrt(dot(v, v));
    if (length > 0)
        for (int k = 0; k < 3; k++) v[k] /= length;
    return length;
}

/* An edge of a triangle, for pairing neighbours. */
typedef struct edge_use {
    uint32_t low, high, triangle, side;
} edge_use;

static int compare_edges(const void *a, const void *b)
{
    const edge_use *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

/* A vertex is on a fold when its pseudo-normal looks away from a face it belongs to, too. */
static void find_folds(sac_surface *s, const sac_mesh *mesh, bool *folded)
{
    for (uint32_t t = 0; t < s->triangle_count; t++)
        for (int i = 0; i < 3; i++) {
            const float *v = s->vertex[mesh->triangles[t][i]], *f = s->face[t];
            if (v[0] * f[0] + v[1] * f[1] + v[2] * f[2] <= 0)
                folded[mesh->triangles[t][i]] = s->folded = true;
        }
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        const uint32_t *c = mesh->triangles[t];
        s->doubtful[t] = folded[c[0]] || folded[c[1]] || folded[c[2]];
    }
}

static bool make_normals(sac_surface *s, const sac_mesh *mesh)
{
    uint32_t n = s->triangle_count;
    edge_use *edges = sac_alloc((size_t)n * 3, sizeof *edges);
    bool *folded = sac_alloc_zero(mesh->vertex_count, sizeof *folded);
    if (!edges || !folded) {
        sac_free(edges, (size_t)n * 3, sizeof *edges);
        sac_free(folded, mesh->vertex_count, sizeof *folded);
        return false;
    }
    memset(s->vertex, 0, (size_t)mesh->vertex_count * sizeof *s->vertex);
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t *c = mesh->triangles[t];
        double p[3][3], e[3][3], normal[3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) p[i][k] = mesh->vertices[c[i]][k];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) e[i][k] = p[(i + 1) % 3][k] - p[i][k];
        cross(e[0], e[1], normal);
        unit(normal);
        for (int k = 0; k < 3; k++) s->face[t][k] = (float)normal[k];
        for (int i = 0; i < 3; i++) unit(e[i]);
        for (int i = 0; i < 3; i++) {
            double angle = acos(fmax(-1, fmin(1, -dot(e[i], e[(i + 2) % 3]))));
            for (int k = 0; k < 3; k++) s->vertex[c[i]][k] += (float)(angle * normal[k]);
            uint32_t a = c[i], b = c[(i + 1) % 3];
            edges[t * 3 + (uint32_t)i] = (edge_use){a < b ? a : b, a < b ? b : a, t, (uint32_t)i};
        }
    }
    qsort(edges, (size_t)n * 3, sizeof *edges, compare_edges);
    for (size_t i = 0; i < (size_t)n * 3;) {
        size_t j = i;
        float sum[3] = {0};
        for (; j < (size_t)n * 3 && edges[j].low == edges[i].low && edges[j].high == edges[i].high; j++)
            for (int k = 0; k < 3; k++) sum[k] += s->face[edges[j].triangle][k];
        /* Normals more than 150 degrees apart: a blade's edge, or a fold. */
        if (j - i == 2 && sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] < 0.27f)
            folded[edges[i].low] = folded[edges[i].high] = true;
        for (; i < j; i++) memcpy(s->edge[edges[i].triangle][edges[i].side], sum, sizeof sum);
    }
    sac_free(edges, (size_t)n * 3, sizeof *edges);
    find_folds(s, mesh, folded);
    sac_free(folded, mesh->vertex_count, sizeof *folded);
    return true;
}

void sac_surface_destroy(sac_surface **surface)
{
    sac_surface *s = surface ? *surface : NULL;
    if (!s) return;
    sac_free(s->nodes, s->node_room, sizeof *s->nodes);
    sac_free(s->dipoles, s->node_room, sizeof *s->dipoles);
    sac_free(s->doubtful, s->triangle_count, sizeof *s->doubtful);
    sac_free(s->triangles, s->triangle_count, sizeof *s->triangles);
    sac_free(s->slot_of, s->triangle_count, sizeof *s->slot_of);
    sac_free(s->face, s->triangle_count, sizeof *s->face);
    sac_free(s->edge, s->triangle_count, sizeof *s->edge);
    sac_free(s->corner, s->triangle_count, sizeof *s->corner);
    sac_free(s->vertex, s->vertex_count, sizeof *s->vertex);
    sac_free(s, 1, sizeof *s);
    *surface = NULL;
}

/* Float bounds that surely hold the double. */
static float down(double x)
{
    float f = (float)x;
    return f > x ? nextafterf(f, -INFINITY) : f;
}

static float up(double x)
{
    float f = (float)x;
    return f < x ? nextafterf(f, INFINITY) : f;
}

static void place_triangles(sac_surface *s, const sac_mesh *mesh, item *items)
{
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        items[t].triangle = t;
        for (int k = 0; k < 3; k++) {
            double x[3];
            for (int i = 0; i < 3; i++)
                x[i] = (double)mesh->vertices[mesh->triangles[t][i]][k] - s->origin[k];
            items[t].low[k] = down(fmin(x[0], fmin(x[1], x[2])));
            items[t].high[k] = up(fmax(x[0], fmax(x[1], x[2])));
        }
    }
    s->node_count = 0;
    build_node(s, items, 0, s->triangle_count);
    for (uint32_t slot = 0; slot < s->triangle_count; slot++) {
        uint32_t t = items[slot].triangle;
        triangle *out = &s->triangles[slot];
        s->slot_of[t] = slot;
        out->index = t;
        for (int k = 0; k < 3; k++) {
            out->a[k] = (double)mesh->vertices[mesh->triangles[t][0]][k] - s->origin[k];
            out->ab[k] = (double)mesh->vertices[mesh->triangles[t][1]][k] - s->origin[k] - out->a[k];
            out->ac[k] = (double)mesh->vertices[mesh->triangles[t][2]][k] - s->origin[k] - out->a[k];
        }
        double far2 = 0;
        for (int k = 0; k < 3; k++) out->middle[k] = out->a[k] + (out->ab[k] + out->ac[k]) / 3;
        for (int i = 0; i < 3; i++) {
            double d2 = 0;
            for (int k = 0; k < 3; k++) {
                double corner = out->a[k] + (i == 1 ? out->ab[k] : i == 2 ? out->ac[k] : 0);
                d2 += (corner - out->middle[k]) * (corner - out->middle[k]);
            }
            far2 = fmax(far2, d2);
        }
        out->reach = sqrt(far2) * (1 + 1e-9);
    }
}

/* Children of a node are made after it, so going backwards meets them first. */
static void make_dipoles(sac_surface *s)
{
    for (uint32_t n = s->node_count; n-- > 0;)
        for (int i = 0; i < WIDE; i++) {
            const node *from = &s->nodes[n];
            dipole *d = &s->dipoles[n][i];
            *d = (dipole){0};
            if (from->child[i] == 0 && from->count[i] == 0) continue;
            double half = 0;
            if (from->child[i] < 0) {
                for (uint32_t t = 0; t < from->count[i]; t++) {
                    const triangle *tri = &s->triangles[(uint32_t)(-from->child[i] - 1) + t];
                    double area[3];
                    cross(tri->ab, tri->ac, area);
                    for (int k = 0; k < 3; k++) d->moment[k] += 0.5 * area[k];
                }
            } else {
                for (int k = 0; k < WIDE; k++)
                    for (int a = 0; a < 3; a++) d->moment[a] += s->dipoles[from->child[i]][k].moment[a];
            }
            for (int k = 0; k < 3; k++) {
                d->centre[k] = 0.5 * ((double)from->low[k][i] + from->high[k][i]);
                double side = (double)from->high[k][i] - d->centre[k];
                half += side * side;
            }
            d->reach = sqrt(half);
        }
}

/* ---- asking ---- */

typedef enum feature { FACE, EDGE_AB, EDGE_BC, EDGE_CA, VERTEX_A, VERTEX_B, VERTEX_C } feature;

/* Closest point of a triangle (Ericson's regions): q = a + v ab + w ac. */
static double closest_on_triangle(const triangle *t, const double p[3], double *out_v, double *out_w,
                                  feature *out)
{
    double ap[3] = {p[0] - t->a[0], p[1] - t->a[1], p[2] - t->a[2]};
    double aa = dot(t->ab, t->ab), cc = dot(t->ac, t->ac), ac = dot(t->ab, t->ac);
    double d1 = dot(t->ab, ap), d2 = dot(t->ac, ap), v, w;
    double d3 = d1 - aa, d4 = d2 - ac, d5 = d1 - ac, d6 = d2 - cc; /* of bp and cp */
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (d1 <= 0 && d2 <= 0) {
        v = 0, w = 0, *out = VERTEX_A;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1, w = 0, *out = VERTEX_B;
    } else if (d6 >= 0 && d5 <= d6) {
        v = 0, w = 1, *out = VERTEX_C;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3), w = 0, *out = EDGE_AB;
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        v = 0, w = d2 / (d2 - d6), *out = EDGE_CA;
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6)), v = 1 - w, *out = EDGE_BC;
    } else {
        double scale = 1 / (va + vb + vc);
        v = vb * scale, w = vc * scale, *out = FACE;
    }
    *out_v = v, *out_w = w;
    double x = ap[0] - v * t->ab[0] - w * t->ac[0], y = ap[1] - v * t->ab[1] - w * t->ac[1],
           z = ap[2] - v * t->ab[2] - w * t->ac[2];
    return x * x + y * y + z * z;
}

typedef struct best {
    double d2, d, v, w;
    const triangle *triangle;
    feature feature;
} best;

static void try_triangle(const triangle *t, const double p[3], best *b)
{
    double x = p[0] - t->middle[0], y = p[1] - t->middle[1], z = p[2] - t->middle[2],
           within = b->d + t->reach;
    if (x * x + y * y + z * z > within * within * (1 + 1e-9)) return;
    double v, w;
    feature f;
    double d2 = closest_on_triangle(t, p, &v, &w, &f);
    if (d2 < b->d2 || (d2 == b->d2 && b->triangle && t->index < b->triangle->index))
        *b = (best){d2, sqrt(d2), v, w, t, f};
}

/* max(a, b, 0) in a form that compiles to vector code; fmaxf's care for NaN does not. */
static inline float above_zero(float a, float b)
{
    float m = a > b ? a : b;
    return m > 0.0f ? m : 0.0f;
}

static void walk(const sac_surface *s, const double p[3], best *b)
{
    struct {
        float d2;
        int32_t node;
    } stack[STACK];
    int top = 0;
    float x = (float)p[0], y = (float)p[1], z = (float)p[2];
    /* Float distances may be off by rounding: compare with a little slack, so nothing closer is lost. */
    const float slack = 1.00001f;
    int32_t at = 0;
    for (;;) {
        const node *n = &s->nodes[at];
        float d2[WIDE];
        for (int i = 0; i < WIDE; i++) {
            float dx = above_zero(n->low[0][i] - x, x - n->high[0][i]);
            float dy = above_zero(n->low[1][i] - y, y - n->high[1][i]);
            float dz = above_zero(n->low[2][i] - z, z - n->high[2][i]);
            d2[i] = dx * dx + dy * dy + dz * dz;
        }
        float limit = (float)b->d2 * slack;
        int first = top;
        for (int i = 0; i < WIDE; i++) {
            if (!(d2[i] <= limit)) continue;
            int place = top++;
            for (; place > first && stack[place - 1].d2 < d2[i]; place--) stack[place] = stack[place - 1];
            stack[place].d2 = d2[i];
            stack[place].node = n->child[i] < 0 ? n->child[i] * WIDE - n->count[i] + 1 : n->child[i];
        }
        for (;;) {
            if (top == 0) return;
            top--;
            if (stack[top].d2 > (float)b->d2 * slack) continue;
            int32_t child = stack[top].node;
            if (child >= 0) {
                at = child;
                break;
            }
            /* Packed as -(first + 1) * 8 - (count - 1). */
            uint32_t packed = (uint32_t)-child, begin = packed / WIDE - 1, count = packed % WIDE + 1;
            for (uint32_t i = 0; i < count; i++) try_triangle(&s->triangles[begin + i], p, b);
        }
    }
}

/* Solid angle of a triangle seen from p (van Oosterom & Strackee), over 4 pi. */
static double winding_of_triangle(const triangle *t, const double p[3])
{
    double a[3], b[3], c[3], bc[3];
    for (int k = 0; k < 3; k++) {
        a[k] = t->a[k] - p[k];
        b[k] = a[k] + t->ab[k];
        c[k] = a[k] + t->ac[k];
    }
    double la = sqrt(dot(a, a)), lb = sqrt(dot(b, b)), lc = sqrt(dot(c, c));
    cross(b, c, bc);
    return atan2(dot(a, bc), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb) /
           6.283185307179586;
}

static double winding_of_node(const sac_surface *s, uint32_t index, const double p[3])
{
    double sum = 0;
    for (int i = 0; i < WIDE; i++) {
        const node *n = &s->nodes[index];
        const dipole *d = &s->dipoles[index][i];
        if (n->child[i] == 0 && n->count[i] == 0) continue;
        double away[3] = {d->centre[0] - p[0], d->centre[1] - p[1], d->centre[2] - p[2]},
               r2 = dot(away, away);
        if (r2 > 4 * d->reach * d->reach) {
            sum += dot(d->moment, away) / (12.566370614359172 * r2 * sqrt(r2));
        } else if (n->child[i] < 0) {
            for (uint32_t t = 0; t < n->count[i]; t++)
                sum += winding_of_triangle(&s->triangles[(uint32_t)(-n->child[i] - 1) + t], p);
        } else {
            sum += winding_of_node(s, (uint32_t)n->child[i], p);
        }
    }
    return sum;
}

bool sac_surface_encloses(const sac_surface *s, const double point[3])
{
    double p[3] = {point[0] - s->origin[0], point[1] - s->origin[1], point[2] - s->origin[2]};
    return s->closed && winding_of_node(s, 0, p) > 0.5;
}

void sac_surface_closest(const sac_surface *s, const double point[3], uint32_t hint, sac_surface_hit *out)
{
    double p[3] = {point[0] - s->origin[0], point[1] - s->origin[1], point[2] - s->origin[2]};
    best b = {.d2 = INFINITY, .d = INFINITY};
    if (hint < s->triangle_count) try_triangle(&s->triangles[s->slot_of[hint]], p, &b);
    walk(s, p, &b);
    const triangle *t = b.triangle;
    double away[3];
    for (int k = 0; k < 3; k++) {
        double q = t->a[k] + b.v * t->ab[k] + b.w * t->ac[k];
        away[k] = p[k] - q;
        out->point[k] = q + s->origin[k];
    }
    out->distance = b.d;
    out->triangle = t->index;
    out->inside = false;
    out->sure = true;
    if (!s->closed) return;
    const float *n = s->face[t->index];
    if (b.feature >= VERTEX_A)
        n = s->vertex[s->corner[t->index][b.feature - VERTEX_A]];
    else if (b.feature != FACE)
        n = s->edge[t->index][b.feature - EDGE_AB];
    bool inward = away[0] * n[0] + away[1] * n[1] + away[2] * n[2] < 0;
    bool ask = s->crossed || s->doubtful[t->index];
    out->sure = ask || !s->folded;
    out->inside = ask ? sac_surface_encloses(s, point) : inward;
}

/* A mesh whose parts run through each other misleads pseudo-normals anywhere; a few points all over tell. */
static void find_crossings(sac_surface *s, const sac_box *box)
{
    sac_rng rng = sac_rng_seed(1);
    for (int i = 0; i < 400 && !s->crossed; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = box->low[k] + sac_rng_double(&rng) * ((double)box->high[k] - box->low[k]);
        sac_surface_hit hit;
        sac_surface_closest(s, p, UINT32_MAX, &hit);
        s->crossed = hit.inside != sac_surface_encloses(s, p);
    }
}

sac_result sac_surface_create(const sac_mesh *mesh, bool closed, sac_surface **out_surface, sac_error *error)
{
    *out_surface = NULL;
    if (mesh->triangle_count == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "the mesh has no triangles");
    uint32_t n = mesh->triangle_count;
    sac_surface *s = sac_alloc_zero(1, sizeof *s);
    item *items = sac_alloc(n, sizeof *items);
    if (s) {
        s->closed = closed;
        s->triangle_count = n;
        s->vertex_count = mesh->vertex_count;
        /* Every inner node has at least three children of more than two triangles each. */
        s->node_room = n + 2;
        s->nodes = sac_alloc(s->node_room, sizeof *s->nodes);
        s->dipoles = sac_alloc(s->node_room, sizeof *s->dipoles);
        s->doubtful = sac_alloc(n, sizeof *s->doubtful);
        s->triangles = sac_alloc(n, sizeof *s->triangles);
        s->slot_of = sac_alloc(n, sizeof *s->slot_of);
        s->face = sac_alloc(n, sizeof *s->face);
        s->edge = sac_alloc(n, sizeof *s->edge);
        s->corner = sac_alloc(n, sizeof *s->corner);
        s->vertex = sac_alloc(mesh->vertex_count, sizeof *s->vertex);
    }
    if (!s || !items || !s->nodes || !s->dipoles || !s->doubtful || !s->triangles || !s->slot_of ||
        !s->face || !s->edge || !s->corner || !s->vertex || !make_normals(s, mesh)) {
        sac_free(items, n, sizeof *items);
        sac_surface_destroy(&s);
        return sac_error_set(error, SAC_ERROR_MEMORY, "use a smaller mesh", "no memory for %u triangles", n);
    }
    sac_box box = sac_box_empty();
    for (uint32_t v = 0; v < mesh->vertex_count; v++) sac_box_add(&box, mesh->vertices[v]);
    for (int k = 0; k < 3; k++) s->origin[k] = 0.5 * ((double)box.low[k] + box.high[k]);
    memcpy(s->corner, mesh->triangles, (size_t)n * sizeof *s->corner);
    place_triangles(s, mesh, items);
    make_dipoles(s);
    sac_free(items, n, sizeof *items);
    if (closed) find_crossings(s, &box);
    *out_surface = s;
    return SAC_OK;
}
