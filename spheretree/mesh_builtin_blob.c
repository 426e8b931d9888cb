/* Built-in blob: a sitting rabbit as an implicit surface, the smooth union of rounded cones, polygonised by
 * marching tetrahedra (closed and manifold whatever the grid) and remeshed. */
#include "spheretree/mesh_internal.h"

typedef struct limb {
    double from[3], to[3], from_radius, to_radius;
} limb;

/* x forward, z up; those off the middle plane have a mirror image. They overlap where they touch, so that no
 * crack stays open between, say, foot and belly. */
static const limb limbs[] = {
    {{-0.18, 0, 0.31}, {0.12, 0, 0.33}, 0.31, 0.25},         /* body */
    {{-0.12, 0, 0.18}, {0.12, 0, 0.18}, 0.18, 0.17},         /* belly */
    {{0.12, 0, 0.38}, {0.26, 0, 0.56}, 0.20, 0.165},         /* neck */
    {{0.29, 0, 0.70}, {0.40, 0, 0.67}, 0.19, 0.165},         /* head */
    {{0.47, 0, 0.62}, {0.525, 0, 0.61}, 0.115, 0.085},       /* muzzle */
    {{-0.50, 0, 0.27}, {-0.54, 0, 0.31}, 0.10, 0.09},        /* tail */
    {{-0.17, 0.19, 0.23}, {-0.06, 0.21, 0.18}, 0.20, 0.155}, /* haunch */
    {{-0.12, 0.23, 0.08}, {0.13, 0.23, 0.068}, 0.08, 0.068}, /* hind foot */
    {{0.19, 0.12, 0.32}, {0.25, 0.135, 0.08}, 0.105, 0.075}, /* foreleg */
    {{0.26, 0.14, 0.07}, {0.36, 0.15, 0.063}, 0.07, 0.06},   /* forepaw */
    {{0.42, 0.085, 0.63}, {0.43, 0.085, 0.62}, 0.10, 0.10},  /* cheek */
    {{0.24, 0.085, 0.84}, {0.14, 0.155, 1.08}, 0.058, 0.08}, /* ear */
    {{0.14, 0.155, 1.08}, {0.05, 0.2, 1.29}, 0.08, 0.042},   /* tip of the ear */
};
enum { LIMBS = sizeof limbs / sizeof *limbs };
#define BLEND 0.035 /* how wide limbs melt into one another */
static const double domain_low[3] = {-0.78, -0.48, -0.14}, domain_high[3] = {0.76, 0.48, 1.48};

/* Distance to a limb and its direction, by symmetry on the y >= 0 side. */
static double limb_distance(const limb *l, const double p[3], double gradient[3])
{
    double axis[3], away[3], along = 0, length2 = 0, distance = 0;
    for (int i = 0; i < 3; i++) {
        axis[i] = l->to[i] - l->from[i];
        along += axis[i] * (p[i] - l->from[i]);
        length2 += axis[i] * axis[i];
    }
    double t = fmin(1, fmax(0, along / length2));
    for (int i = 0; i < 3; i++) {
        away[i] = p[i] - (l->from[i] + t * axis[i]);
        distance += away[i] * away[i];
    }
    distance = sqrt(distance);
    double taper = t > 0 && t < 1 ? (l->to_radius - l->from_radius) / length2 : 0;
    for (int i = 0; i < 3; i++) gradient[i] = away[i] / fmax(distance, 1e-12) - taper * axis[i];
    return distance - (l->from_radius + t * (l->to_radius - l->from_radius));
}

/* -b log(sum exp(-d / b)): below zero inside, nearly a distance outside. */
static double blob_value(const double p[3], double gradient[3])
{
    double d[2 * LIMBS], g[2 * LIMBS][3], nearest = INFINITY;
    int count = 0;
    for (int l = 0; l < LIMBS; l++)
        for (int side = 0; side < (limbs[l].from[1] != 0 ? 2 : 1); side++, count++) {
            double q[3] = {p[0], side ? -p[1] : p[1], p[2]};
            d[count] = limb_distance(&limbs[l], q, g[count]);
            if (side) g[count][1] = -g[count][1];
            nearest = fmin(nearest, d[count]);
        }
    double sum = 0;
    gradient[0] = gradient[1] = gradient[2] = 0;
    for (int l = 0; l < count; l++) {
        if (d[l] - nearest > 16 * BLEND) continue; /* e^-16 moves nothing one can see */
        double weight = exp((nearest - d[l]) / BLEND);
        sum += weight;
        for (int i = 0; i < 3; i++) gradient[i] += weight * g[l][i];
    }
    for (int i = 0; i < 3; i++) gradient[i] /= sum;
    return nearest - BLEND * log(sum);
}

/* ---- marching tetrahedra ---- */

typedef struct lattice {
    double step;
    uint32_t n[3]; /* points */
} lattice;

static lattice lattice_of_step(double step)
{
    lattice l = {.step = step};
    for (int i = 0; i < 3; i++) l.n[i] = (uint32_t)ceil((domain_high[i] - domain_low[i]) / step) + 1;
    return l;
}

enum { BLOCK = 8 }; /* lattice points per side of a block that is skipped when the surface is far */

/* Values of one layer. The value is nearly a distance, so a block whose middle is far from the surface gets
 * that value everywhere; `far` remembers for a layer of blocks. */
static void sample_layer(const lattice *l, uint32_t z, double *far, double *values)
{
    double gradient[3], reach = 1.1 * BLOCK * l->step * sqrt(3.0);
    uint32_t across = l->n[0] / BLOCK + 1;
    for (uint32_t y = 0; y < l->n[1]; y++)
        for (uint32_t x = 0; x < l->n[0]; x++) {
            double *block = &far[(y / BLOCK) * across + x / BLOCK];
            if (z % BLOCK == 0 && y % BLOCK == 0 && x % BLOCK == 0) {
                double middle[3] = {domain_low[0] + (x + 0.5 * BLOCK) * l->step,
                                    domain_low[1] + (y + 0.5 * BLOCK) * l->step,
                                    domain_low[2] + (z + 0.5 * BLOCK) * l->step};
                double value = blob_value(middle, gradient);
                *block = fabs(value) > reach ? value : 0;
            }
            double p[3] = {domain_low[0] + x * l->step, domain_low[1] + y * l->step,
                           domain_low[2] + z * l->step};
            values[(size_t)y * l->n[0] + x] = *block != 0 ? *block : blob_value(p, gradient);
        }
}

/* A cube is cut into the six tetrahedra that go from corner 0 to corner 7 along its edges, one for each order
 * of the axes. Corners are bit masks xyz; lattice edges run from a corner to a superset of its bits. */
static const uint8_t tetrahedra[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                         {0, 2, 3, 7}, {0, 4, 6, 7}, {0, 1, 5, 7}};

typedef struct march {
    lattice l;
    double *values[2];   /* two layers */
    uint32_t *points[2]; /* per lattice point of a layer and direction 1..7: the vertex on that edge */
    double *far;
    sac_soup *soup; /* NULL: only count */
    uint64_t triangles;
} march;

static uint32_t edge_point(march *m, uint32_t x, uint32_t y, uint32_t z, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, direction = a ^ b;
    uint32_t at[3] = {x + (low & 1), y + (low >> 1 & 1), low >> 2};
    size_t here = (size_t)at[1] * m->l.n[0] + at[0];
    uint32_t *slot = &m->points[(z + at[2]) & 1][here * 8 + direction];
    if (*slot == UINT32_MAX) {
        size_t there = here + (direction & 1) + (direction >> 1 & 1) * (size_t)m->l.n[0];
        double from = m->values[(z + at[2]) & 1][here];
        double to = m->values[(z + at[2] + (direction >> 2)) & 1][there];
        double t = fmin(0.9, fmax(0.1, from / (from - to))), p[3];
        at[2] += z;
        for (int i = 0; i < 3; i++) p[i] = domain_low[i] + (at[i] + t * (direction >> i & 1)) * m->l.step;
        *slot = sac_soup_add_point(m->soup, p[0], p[1], p[2]);
    }
    return *slot;
}

/* The tetrahedra are listed so that the first three turn the one way and the last three the other. */
static void march_tetrahedron(march *m, uint32_t x, uint32_t y, uint32_t z, int which, uint32_t inside)
{
    const uint8_t *c = tetrahedra[which];
    uint32_t in[4], out[4], in_count = 0, out_count = 0;
    /* `even`: (in..., out...) is an even permutation of the tetrahedron's corners. */
    bool even = which < 3;
    for (int i = 0; i < 4; i++) {
        if (inside >> c[i] & 1) {
            in[in_count++] = c[i];
            even ^= out_count & 1;
        } else {
            out[out_count++] = c[i];
        }
    }
    if (in_count == 0 || out_count == 0) return;
    m->triangles += in_count == 2 ? 2 : 1;
    if (!m->soup) return;
    if (in_count == 2) {
        uint32_t q[4] = {edge_point(m, x, y, z, in[0], out[0]), edge_point(m, x, y, z, in[0], out[1]),
                         edge_point(m, x, y, z, in[1], out[1]), edge_point(m, x, y, z, in[1], out[0])};
        if (even)
            sac_soup_add_quad(m->soup, q[0], q[1], q[2], q[3]);
        else
            sac_soup_add_quad(m->soup, q[3], q[2], q[1], q[0]);
        return;
    }
    uint32_t t[3];
    for (int i = 0; i < 3; i++)
        t[i] = in_count == 1 ? edge_point(m, x, y, z, in[0], out[i]) : edge_point(m, x, y, z, in[i], out[0]);
    sac_soup_add_triangle(m->soup, t[0], t[even ? 1 : 2], t[even ? 2 : 1]);
}

static void march_slab(march *m, uint32_t z)
{
    const uint32_t *n = m->l.n;
    for (uint32_t y = 0; y + 1 < n[1]; y++)
        for (uint32_t x = 0; x + 1 < n[0]; x++) {
            uint32_t inside = 0;
            for (uint32_t c = 0; c < 8; c++) {
                size_t at = (size_t)(y + (c >> 1 & 1)) * n[0] + x + (c & 1);
                if (m->values[(z + (c >> 2)) & 1][at] < 0) inside |= 1u << c;
            }
            if (inside == 0 || inside == 255) continue;
            for (int t = 0; t < 6; t++) march_tetrahedron(m, x, y, z, t, inside);
        }
}

/* Polygonise into `soup`, or only count when it is NULL. Zero: out of memory. */
static uint64_t polygonise(double step, sac_soup *soup)
{
    march m = {.l = lattice_of_step(step), .soup = soup};
    size_t layer = (size_t)m.l.n[0] * m.l.n[1];
    size_t blocks = (size_t)(m.l.n[0] / BLOCK + 1) * (m.l.n[1] / BLOCK + 1);
    bool enough = (m.far = sac_alloc(blocks, sizeof *m.far)) != NULL;
    for (int i = 0; i < 2; i++) {
        enough = (m.values[i] = sac_alloc(layer, sizeof(double))) && enough;
        enough = (m.points[i] = sac_alloc(layer, 8 * sizeof(uint32_t))) && enough;
    }
    for (uint32_t z = 0; z < m.l.n[2] && enough; z++) {
        sample_layer(&m.l, z, m.far, m.values[z & 1]);
        memset(m.points[z & 1], 0xff, layer * 8 * sizeof(uint32_t));
        if (z) march_slab(&m, z - 1);
    }
    for (int i = 0; i < 2; i++) {
        sac_free(m.values[i], layer, sizeof(double));
        sac_free(m.points[i], layer, 8 * sizeof(uint32_t));
    }
    sac_free(m.far, blocks, sizeof *m.far);
    if (!enough && soup) soup->failed = true;
    return enough ? m.triangles : 0;
}

/* Small meshes are thinned out from one that is fine enough to show the ears; large ones are marched at the
 * size wanted, where all there is to do is to even them out. */
enum { FINE_ENOUGH = 16000, THIN_UP_TO = 200000 };

void sac_shape_blob(sac_soup *soup, uint32_t triangles)
{
    double wanted = triangles;
    if (triangles <= THIN_UP_TO) wanted = fmax(FINE_ENOUGH, 2.5 * triangles);
    /* The count goes with 1 / step^2. */
    double step = sqrt(17.0 / FINE_ENOUGH);
    uint64_t count = polygonise(step, NULL);
    if (count == 0) {
        soup->failed = true;
        return;
    }
    polygonise(step * sqrt((double)count / wanted), soup);
    sac_soup_remesh(soup, blob_value, triangles);
}
