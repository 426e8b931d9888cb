/* Built-in carpentry: box, L, table and chair as unions of cells of a rectilinear grid. Every grid interval
 * is cut evenly, and each cut runs through the whole grid, so there are no T-junctions; boards always meet in
 * whole cell faces, so there is one skin without crowded edges. */
#include "spheretree/mesh_internal.h"

enum { MOST_LINES = 8, MOST_BOARDS = 16 };

typedef struct carpentry {
    double lines[3][MOST_LINES]; /* grid lines along x, y and z */
    int line_count[3];
    int boards[MOST_BOARDS][3][2]; /* from line, to line, on each axis */
    int board_count;
} carpentry;

static bool filled(const carpentry *c, const int cell[3])
{
    for (int b = 0; b < c->board_count; b++) {
        bool in = true;
        for (int i = 0; i < 3; i++) in = in && cell[i] >= c->boards[b][i][0] && cell[i] < c->boards[b][i][1];
        if (in) return true;
    }
    return false;
}

static uint32_t cuts(const carpentry *c, int axis, int interval, double size)
{
    return (uint32_t)fmax(1, round((c->lines[axis][interval + 1] - c->lines[axis][interval]) / size));
}

/* The k-th of n cuts of an interval; the last is exactly the next line, so that neighbours weld. */
static double cut_at(const carpentry *c, int axis, int interval, uint32_t k, uint32_t n)
{
    double from = c->lines[axis][interval], to = c->lines[axis][interval + 1];
    return k == n ? to : from + (to - from) * k / n;
}

/* One face of a cell as a grid of quads with its normal along +axis or -axis. */
static void add_face(sac_soup *soup, const carpentry *c, const int cell[3], int axis, bool positive,
                     double size)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    uint32_t nu = cuts(c, u, cell[u], size), nv = cuts(c, v, cell[v], size);
    uint32_t first = (uint32_t)soup->points.count;
    for (uint32_t j = 0; j <= nv; j++)
        for (uint32_t i = 0; i <= nu; i++) {
            double p[3];
            p[axis] = c->lines[axis][cell[axis] + positive];
            p[u] = cut_at(c, u, cell[u], i, nu);
            p[v] = cut_at(c, v, cell[v], j, nv);
            sac_soup_add_point(soup, p[0], p[1], p[2]);
        }
    for (uint32_t j = 0; j < nv; j++)
        for (uint32_t i = 0; i < nu; i++) {
            uint32_t a = first + j * (nu + 1) + i, b = a + 1, d = a + nu + 1, e = d + 1;
            /* Diagonals alternate like a union jack: no direction is preferred. */
            bool even = (i + j) % 2 == 0;
            uint32_t q[4] = {even ? a : b, even ? b : e, even ? e : d, even ? d : a};
            sac_soup_add_triangle(soup, q[0], positive ? q[1] : q[2], positive ? q[2] : q[1]);
            sac_soup_add_triangle(soup, q[0], positive ? q[2] : q[3], positive ? q[3] : q[2]);
        }
}

/* Every face between wood and air; with no soup only the triangles are counted. */
static uint64_t walk_faces(sac_soup *soup, const carpentry *c, double size)
{
    uint64_t count = 0;
    int cell[3];
    for (cell[2] = 0; cell[2] + 1 < c->line_count[2]; cell[2]++)
        for (cell[1] = 0; cell[1] + 1 < c->line_count[1]; cell[1]++)
            for (cell[0] = 0; cell[0] + 1 < c->line_count[0]; cell[0]++) {
                if (!filled(c, cell)) continue;
                for (int face = 0; face < 6; face++) {
                    int axis = face / 2, next[3] = {cell[0], cell[1], cell[2]};
                    next[axis] += face % 2 ? 1 : -1;
                    if (filled(c, next)) continue;
                    int u = (axis + 1) % 3, v = (axis + 2) % 3;
                    count += 2 * (uint64_t)cuts(c, u, cell[u], size) * cuts(c, v, cell[v], size);
                    if (soup) add_face(soup, c, cell, axis, face % 2, size);
                }
            }
    return count;
}

static double count_faces(const void *shape, double size) { return (double)walk_faces(NULL, shape, size); }

static void build(sac_soup *soup, const carpentry *c, uint32_t triangles)
{
    walk_faces(soup, c, sac_shape_size(count_faces, c, triangles));
}

void sac_shape_box(sac_soup *soup, uint32_t triangles)
{
    static const carpentry box = {.lines = {{0, 1.0}, {0, 0.7}, {0, 0.5}},
                                  .line_count = {2, 2, 2},
                                  .boards = {{{0, 1}, {0, 1}, {0, 1}}},
                                  .board_count = 1};
    build(soup, &box, triangles);
}

void sac_shape_l(sac_soup *soup, uint32_t triangles)
{
    static const carpentry l = {.lines = {{0, 0.3, 0.8}, {0, 0.3}, {0, 0.3, 1.0}},
                                .line_count = {3, 2, 3},
                                .boards = {{{0, 2}, {0, 1}, {0, 1}}, {{0, 1}, {0, 1}, {1, 2}}},
                                .board_count = 2};
    build(soup, &l, triangles);
}

void sac_shape_table(sac_soup *soup, uint32_t triangles)
{
    /* A top that stands out beyond four legs. */
    static const carpentry table = {
        .lines = {{0, 0.06, 0.14, 1.06, 1.14, 1.2}, {0, 0.06, 0.14, 0.66, 0.74, 0.8}, {0, 0.69, 0.75}},
        .line_count = {6, 6, 3},
        .boards = {{{0, 5}, {0, 5}, {1, 2}},
                   {{1, 2}, {1, 2}, {0, 1}},
                   {{3, 4}, {1, 2}, {0, 1}},
                   {{1, 2}, {3, 4}, {0, 1}},
                   {{3, 4}, {3, 4}, {0, 1}}},
        .board_count = 5};
    build(soup, &table, triangles);
}

void sac_shape_chair(sac_soup *soup, uint32_t triangles)
{
    /* Four legs flush with the seat, two posts, a wide top rail and a narrow one below it. */
    static const carpentry chair = {
        .lines = {{0, 0.055, 0.385, 0.44}, {0, 0.055, 0.375, 0.43}, {0, 0.43, 0.48, 0.60, 0.66, 0.78, 0.95}},
        .line_count = {4, 4, 7},
        .boards = {{{0, 1}, {0, 1}, {0, 1}},
                   {{2, 3}, {0, 1}, {0, 1}},
                   {{0, 1}, {2, 3}, {0, 1}},
                   {{2, 3}, {2, 3}, {0, 1}},
                   {{0, 3}, {0, 3}, {1, 2}},
                   {{0, 1}, {2, 3}, {2, 6}},
                   {{2, 3}, {2, 3}, {2, 6}},
                   {{0, 3}, {2, 3}, {5, 6}},
                   {{0, 3}, {2, 3}, {3, 4}}},
        .board_count = 9};
    build(soup, &chair, triangles);
}
