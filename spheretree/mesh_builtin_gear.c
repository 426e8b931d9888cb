/* Built-in gear: twelve involute teeth on a disc with a bore. The flat side is a ring of quads from the bore
 * to the root circle and a patch of quads for every tooth; the walls follow its two outlines. */
#include "spheretree/mesh_internal.h"

#define TWO_PI 6.283185307179586

/* Standard proportions for a pressure angle of 20 degrees: module m = 2 * pitch radius / teeth, addendum m,
 * dedendum 1.25 m. */
enum { TEETH = 12 };
#define PITCH_RADIUS 0.86
#define MODULE (2 * PITCH_RADIUS / TEETH)
#define TIP_RADIUS (PITCH_RADIUS + MODULE)
#define ROOT_RADIUS (PITCH_RADIUS - 1.25 * MODULE)
#define BASE_RADIUS (PITCH_RADIUS * 0.9396926207859084)
#define BORE_RADIUS 0.28
#define THICKNESS 0.4

static double involute(double radius)
{
    double angle = acos(fmin(1, BASE_RADIUS / radius));
    return tan(angle) - angle;
}

/* Half the angle a tooth takes at this radius; below the base circle the flank runs to the centre. */
static double half_tooth(double radius)
{
    return TWO_PI / (4 * TEETH) + involute(PITCH_RADIUS) - involute(fmax(radius, BASE_RADIUS));
}

typedef struct gear {
    uint32_t across, gap;        /* quads along a tooth's foot and between two feet */
    uint32_t inward, up, layers; /* from bore to root, from root to tip, through the thickness */
} gear;

static gear gear_of_size(double size)
{
    double foot = 2 * half_tooth(ROOT_RADIUS), pitch = TWO_PI / TEETH;
    /* Quads in the ring narrow towards the bore, so measure it in the middle. */
    double middle = 0.5 * (BORE_RADIUS + ROOT_RADIUS);
    return (gear){.across = (uint32_t)fmax(1, round(foot * middle / size)),
                  .gap = (uint32_t)fmax(1, round((pitch - foot) * middle / size)),
                  .inward = (uint32_t)fmax(1, round((ROOT_RADIUS - BORE_RADIUS) / size)),
                  .up = (uint32_t)fmax(1, round((TIP_RADIUS - ROOT_RADIUS) / size)),
                  .layers = (uint32_t)fmax(1, round(THICKNESS / size))};
}

static double count_gear(const void *unused, double size)
{
    (void)unused;
    gear g = gear_of_size(size);
    double flat = (double)(g.across + g.gap) * g.inward + (double)g.across * g.up;
    double wall = (double)(g.across + g.gap) * 2 + 2.0 * g.up;
    return 2.0 * TEETH * (2 * flat + wall * g.layers);
}

static uint32_t add_polar(sac_soup *soup, double radius, double angle)
{
    return sac_soup_add_point(soup, radius * cos(angle), radius * sin(angle), 0);
}

/* The flat side at z = 0, facing up. Ring points come first, row by row from the bore; then tooth by tooth
 * its rows above the root circle. */
static void add_flat(sac_soup *flat, const gear *g)
{
    uint32_t step = g->across + g->gap, around = TEETH * step;
    double foot = half_tooth(ROOT_RADIUS), pitch = TWO_PI / TEETH;
    for (uint32_t r = 0; r <= g->inward; r++)
        for (uint32_t s = 0; s < around; s++) {
            double i = s % step, centre = pitch * (s / step);
            double angle = i <= g->across ? centre + foot * (2 * i / g->across - 1)
                                          : centre + foot + (pitch - 2 * foot) * (i - g->across) / g->gap;
            add_polar(flat, BORE_RADIUS + (ROOT_RADIUS - BORE_RADIUS) * r / g->inward, angle);
        }
    for (uint32_t r = 0; r < g->inward; r++)
        for (uint32_t s = 0; s < around; s++) {
            uint32_t a = r * around + s, b = r * around + (s + 1) % around;
            sac_soup_add_quad(flat, a, a + around, b + around, b);
        }
    for (uint32_t t = 0; t < TEETH; t++)
        for (uint32_t r = 1; r <= g->up; r++)
            for (uint32_t i = 0; i <= g->across; i++) {
                double radius = ROOT_RADIUS + (TIP_RADIUS - ROOT_RADIUS) * r / g->up;
                add_polar(flat, radius, pitch * t + half_tooth(radius) * (2.0 * i / g->across - 1));
            }
}

static uint32_t tooth_point(const gear *g, uint32_t tooth, uint32_t row, uint32_t i)
{
    uint32_t step = g->across + g->gap, around = TEETH * step;
    if (row == 0) return g->inward * around + tooth * step + i;
    return (g->inward + 1) * around + (tooth * g->up + row - 1) * (g->across + 1) + i;
}

static void add_teeth(sac_soup *flat, const gear *g)
{
    for (uint32_t t = 0; t < TEETH; t++)
        for (uint32_t r = 0; r < g->up; r++)
            for (uint32_t i = 0; i < g->across; i++)
                sac_soup_add_quad(flat, tooth_point(g, t, r, i), tooth_point(g, t, r + 1, i),
                                  tooth_point(g, t, r + 1, i + 1), tooth_point(g, t, r, i + 1));
}

/* The wall over the outline's edge from p to q, outside on the right. */
static void add_wall(sac_soup *soup, const sac_soup *flat, const gear *g, uint32_t p, uint32_t q)
{
    if (soup->failed || flat->failed) return;
    const double *a = flat->points.data[p].at, *b = flat->points.data[q].at;
    uint32_t first = (uint32_t)soup->points.count;
    for (uint32_t k = 0; k <= g->layers; k++) {
        double z = k == g->layers ? THICKNESS : THICKNESS * k / g->layers;
        sac_soup_add_point(soup, a[0], a[1], z);
        sac_soup_add_point(soup, b[0], b[1], z);
    }
    for (uint32_t k = 0; k < g->layers; k++, first += 2)
        sac_soup_add_quad(soup, first, first + 1, first + 3, first + 2);
}

static void add_walls(sac_soup *soup, const sac_soup *flat, const gear *g)
{
    uint32_t step = g->across + g->gap, around = TEETH * step;
    for (uint32_t s = 0; s < around; s++) add_wall(soup, flat, g, (s + 1) % around, s);
    for (uint32_t t = 0; t < TEETH; t++) {
        for (uint32_t r = 0; r < g->up; r++) {
            add_wall(soup, flat, g, tooth_point(g, t, r, 0), tooth_point(g, t, r + 1, 0));
            add_wall(soup, flat, g, tooth_point(g, t, r + 1, g->across), tooth_point(g, t, r, g->across));
        }
        for (uint32_t i = 0; i < g->across; i++)
            add_wall(soup, flat, g, tooth_point(g, t, g->up, i), tooth_point(g, t, g->up, i + 1));
        for (uint32_t s = t * step + g->across; s < (t + 1) * step; s++)
            add_wall(soup, flat, g, g->inward * around + s, g->inward * around + (s + 1) % around);
    }
}

void sac_shape_gear(sac_soup *soup, uint32_t triangles)
{
    gear g = gear_of_size(sac_shape_size(count_gear, NULL, triangles));
    sac_soup flat = {0};
    add_flat(&flat, &g);
    add_teeth(&flat, &g);
    soup->failed = flat.failed;
    for (int top = 0; top < 2 && !soup->failed; top++) {
        uint32_t first = (uint32_t)soup->points.count;
        for (size_t v = 0; v < flat.points.count; v++)
            sac_soup_add_point(soup, flat.points.data[v].at[0], flat.points.data[v].at[1],
                               top ? THICKNESS : 0);
        for (size_t t = 0; t < flat.triangles.count; t++) {
            const uint32_t *c = flat.triangles.data[t].corners;
            sac_soup_add_triangle(soup, first + c[0], first + c[top ? 1 : 2], first + c[top ? 2 : 1]);
        }
    }
    add_walls(soup, &flat, &g);
    sac_soup_fini(&flat);
}
