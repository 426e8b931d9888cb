/* Built-in tubes: a circle swept along a curve. Torus and knot close on themselves, the spring ends in two
 * half spheres. Segments along and around the tube are chosen so that the quads are about square. */
#include "spheretree/mesh_internal.h"

#define TWO_PI 6.283185307179586

typedef void curve_point(double s, double out[3]); /* s in [0, 1] */

typedef struct tube {
    curve_point *curve;
    double length, radius;
    uint32_t least_along;
} tube;

static void torus_curve(double s, double out[3])
{
    out[0] = cos(TWO_PI * s);
    out[1] = sin(TWO_PI * s);
    out[2] = 0;
}

/* The (2, 3) torus knot, strands kept apart by a generous inner circle. */
static void knot_curve(double s, double out[3])
{
    double ring = 2 + 0.9 * cos(3 * TWO_PI * s), angle = 2 * TWO_PI * s;
    out[0] = ring * cos(angle);
    out[1] = ring * sin(angle);
    out[2] = 0.9 * sin(3 * TWO_PI * s);
}

enum { SPRING_TURNS = 4 };

static void spring_curve(double s, double out[3])
{
    double angle = SPRING_TURNS * TWO_PI * s;
    out[0] = 0.33 * cos(angle);
    out[1] = 0.33 * sin(angle);
    out[2] = 0.84 * s;
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void normalize(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++) v[i] /= length;
}

/* Direction of the curve by a central difference; both ends of an open curve just look past them. */
static void tangent_at(const tube *t, double s, double out[3])
{
    double before[3], after[3];
    t->curve(s - 1e-4, before);
    t->curve(s + 1e-4, after);
    for (int i = 0; i < 3; i++) out[i] = after[i] - before[i];
    normalize(out);
}

typedef struct frame {
    double origin[3], tangent[3], side[3], up[3];
} frame;

/* The next frame of least twist: carry the side along and make it perpendicular again. */
static void carry_frame(const tube *t, double s, frame *f)
{
    t->curve(s, f->origin);
    tangent_at(t, s, f->tangent);
    double along = dot(f->side, f->tangent);
    for (int i = 0; i < 3; i++) f->side[i] -= along * f->tangent[i];
    normalize(f->side);
    cross(f->tangent, f->side, f->up);
}

static frame first_frame(const tube *t)
{
    frame f = {.side = {0.1, 0.2, 1}};
    carry_frame(t, 0, &f);
    return f;
}

/* A ring of points around the frame, `radius` wide, `ahead` along the tangent; returns its first index. */
static uint32_t add_ring(sac_soup *soup, const frame *f, double radius, double ahead, double turn,
                         uint32_t around)
{
    uint32_t first = (uint32_t)soup->points.count;
    for (uint32_t j = 0; j < around; j++) {
        double angle = TWO_PI * j / around + turn, p[3];
        for (int i = 0; i < 3; i++)
            p[i] = f->origin[i] + ahead * f->tangent[i] +
                   radius * (cos(angle) * f->side[i] + sin(angle) * f->up[i]);
        sac_soup_add_point(soup, p[0], p[1], p[2]);
    }
    return first;
}

static void join_rings(sac_soup *soup, uint32_t first, uint32_t second, uint32_t around, uint32_t shift)
{
    for (uint32_t j = 0; j < around; j++) {
        uint32_t k = (j + 1) % around;
        sac_soup_add_quad(soup, first + j, first + k, second + (k + shift) % around,
                          second + (j + shift) % around);
    }
}

/* 2 * along * around = triangles with square quads: along / around = length / circumference. */
static void choose_segments(const tube *t, uint32_t triangles, uint32_t *along, uint32_t *around)
{
    double ratio = t->length / (TWO_PI * t->radius);
    *around = (uint32_t)fmax(3, round(sqrt(0.5 * triangles / ratio)));
    *along = (uint32_t)fmax(t->least_along, round(0.5 * triangles / *around));
}

static double curve_length(curve_point *curve)
{
    double sum = 0, last[3], p[3];
    curve(0, last);
    for (int i = 1; i <= 4096; i++, memcpy(last, p, sizeof p)) {
        curve(i / 4096.0, p);
        double d[3] = {p[0] - last[0], p[1] - last[1], p[2] - last[2]};
        sum += sqrt(dot(d, d));
    }
    return sum;
}

/* The frame comes back turned by some angle; that angle is spread over the tube, less the whole steps that a
 * shifted last join takes up. */
static void closed_tube(sac_soup *soup, tube t, uint32_t triangles)
{
    uint32_t along, around;
    t.length = curve_length(t.curve);
    choose_segments(&t, triangles, &along, &around);
    frame start = first_frame(&t), f = start;
    for (uint32_t i = 1; i <= along; i++) carry_frame(&t, (double)i / along, &f);
    double turned = atan2(dot(f.side, start.up), dot(f.side, start.side)) / TWO_PI * around;
    double steps = round(turned), rest = (turned - steps) * TWO_PI / around;
    uint32_t shift = (uint32_t)((int64_t)steps + around) % around, previous = 0;
    f = start;
    for (uint32_t i = 0; i < along; i++) {
        if (i) carry_frame(&t, (double)i / along, &f);
        uint32_t ring = add_ring(soup, &f, t.radius, 0, -rest * i / along, around);
        if (i) join_rings(soup, previous, ring, around, 0);
        previous = ring;
    }
    join_rings(soup, previous, 0, around, shift);
}

/* Rings of fewer points the nearer the pole: between two rings always advance on the side that lags. */
static void zip_rings(sac_soup *soup, uint32_t outer, uint32_t outer_count, uint32_t inner,
                      uint32_t inner_count, bool outward)
{
    uint32_t i = 0, j = 0;
    while (i < outer_count || j < inner_count) {
        uint32_t a = outer + i % outer_count, b = inner + j % inner_count, c;
        if (j == inner_count ||
            (i < outer_count && (uint64_t)(2 * i + 1) * inner_count <= (uint64_t)(2 * j + 1) * outer_count))
            c = outer + ++i % outer_count;
        else
            c = inner + ++j % inner_count;
        if (outward)
            sac_soup_add_triangle(soup, a, c, b);
        else
            sac_soup_add_triangle(soup, a, b, c);
    }
}

static void half_sphere(sac_soup *soup, const frame *f, double radius, uint32_t ring, uint32_t around,
                        bool end)
{
    uint32_t rings = (uint32_t)fmax(1, round(around / 4.0)), count = around;
    double sign = end ? 1 : -1;
    for (uint32_t k = 1; k < rings; k++) {
        double latitude = TWO_PI / 4 * k / rings;
        uint32_t next_count = (uint32_t)fmax(3, round(around * cos(latitude)));
        uint32_t next =
            add_ring(soup, f, radius * cos(latitude), sign * radius * sin(latitude), 0, next_count);
        zip_rings(soup, ring, count, next, next_count, end);
        ring = next;
        count = next_count;
    }
    double pole[3];
    for (int i = 0; i < 3; i++) pole[i] = f->origin[i] + sign * radius * f->tangent[i];
    uint32_t top = sac_soup_add_point(soup, pole[0], pole[1], pole[2]);
    for (uint32_t j = 0; j < count; j++) {
        uint32_t a = ring + j, b = ring + (j + 1) % count;
        sac_soup_add_triangle(soup, end ? a : b, end ? b : a, top);
    }
}

void sac_shape_torus(sac_soup *soup, uint32_t triangles)
{
    closed_tube(soup, (tube){torus_curve, 0, 1.0 / 3, 3}, triangles);
}

void sac_shape_knot(sac_soup *soup, uint32_t triangles)
{
    closed_tube(soup, (tube){knot_curve, 0, 0.5, 32}, triangles);
}

void sac_shape_spring(sac_soup *soup, uint32_t triangles)
{
    tube t = {spring_curve, curve_length(spring_curve), 0.08, SPRING_TURNS * 6};
    uint32_t along, around;
    /* The two half spheres are as long as two radii of tube, by area. */
    tube whole = t;
    whole.length += 2 * t.radius;
    choose_segments(&whole, triangles, &along, &around);
    along = (uint32_t)fmax(t.least_along, round(along * t.length / whole.length));
    frame f = first_frame(&t);
    uint32_t previous = add_ring(soup, &f, t.radius, 0, 0, around);
    half_sphere(soup, &f, t.radius, previous, around, false);
    for (uint32_t i = 1; i <= along; i++) {
        carry_frame(&t, (double)i / along, &f);
        uint32_t ring = add_ring(soup, &f, t.radius, 0, 0, around);
        join_rings(soup, previous, ring, around, 0);
        previous = ring;
    }
    half_sphere(soup, &f, t.radius, previous, around, true);
}
