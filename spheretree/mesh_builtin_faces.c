/* Built-in polyhedra with every face cut into n * n triangles: the sphere from an icosahedron, the star from
 * the dodecahedron whose faces grew into spikes (the small stellated one, 60 faces). */
#include "spheretree/mesh_internal.h"

/* Shared edges are computed from the same two corners with the same weights, one of the three terms being
 * zero, so neighbouring faces agree to the last bit and weld. */
static void add_face(sac_soup *soup, double corners[3][3], uint32_t n, bool round_off)
{
    uint32_t first = (uint32_t)soup->points.count;
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double p[3], length = 0;
            for (int k = 0; k < 3; k++) {
                p[k] = corners[0][k] * (n - i) + corners[1][k] * (i - j) + corners[2][k] * j;
                length += p[k] * p[k];
            }
            length = round_off ? sqrt(length) : n;
            sac_soup_add_point(soup, p[0] / length, p[1] / length, p[2] / length);
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            uint32_t a = first + i * (i + 1) / 2 + j, b = first + (i + 1) * (i + 2) / 2 + j;
            sac_soup_add_triangle(soup, a, b, b + 1);
            if (j < i) sac_soup_add_triangle(soup, a, b + 1, a + 1);
        }
}

#define GOLDEN 1.618033988749895

static const double icosahedron[12][3] = {{-1, GOLDEN, 0}, {1, GOLDEN, 0}, {-1, -GOLDEN, 0}, {1, -GOLDEN, 0},
                                          {0, -1, GOLDEN}, {0, 1, GOLDEN}, {0, -1, -GOLDEN}, {0, 1, -GOLDEN},
                                          {GOLDEN, 0, -1}, {GOLDEN, 0, 1}, {-GOLDEN, 0, -1}, {-GOLDEN, 0, 1}};
static const int icosahedron_faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                             {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                             {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                             {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

static uint32_t cuts(uint32_t triangles, uint32_t faces)
{
    return (uint32_t)fmax(1, round(sqrt((double)triangles / faces)));
}

void sac_shape_sphere(sac_soup *soup, uint32_t triangles)
{
    uint32_t n = cuts(triangles, 20);
    for (int f = 0; f < 20; f++) {
        double corners[3][3];
        for (int i = 0; i < 3; i++)
            memcpy(corners[i], icosahedron[icosahedron_faces[f][i]], sizeof corners[i]);
        add_face(soup, corners, n, true);
    }
}

/* 0.708 would make the spikes' sides meet in whole pentagrams; less makes a slimmer star. */
#define STAR_WAIST 0.55

/* The spikes' tips are the icosahedron's corners, their feet the middles of its faces. Over the edge from p
 * to q, with the face middles l on its left and r on its right, spike p owns the triangle (p, r, l). */
void sac_shape_star(sac_soup *soup, uint32_t triangles)
{
    uint32_t n = cuts(triangles, 60);
    double middles[20][3];
    for (int f = 0; f < 20; f++)
        for (int k = 0; k < 3; k++) {
            const int *corner = icosahedron_faces[f];
            double sum = icosahedron[corner[0]][k] + icosahedron[corner[1]][k] + icosahedron[corner[2]][k];
            middles[f][k] = sum / 3 * STAR_WAIST;
        }
    for (int f = 0; f < 20; f++)
        for (int i = 0; i < 3; i++) {
            int p = icosahedron_faces[f][i], q = icosahedron_faces[f][(i + 1) % 3], other = 0;
            for (int g = 0; g < 20; g++)
                for (int j = 0; j < 3; j++)
                    if (icosahedron_faces[g][j] == q && icosahedron_faces[g][(j + 1) % 3] == p) other = g;
            double corners[3][3];
            memcpy(corners[0], icosahedron[p], sizeof corners[0]);
            memcpy(corners[1], middles[other], sizeof corners[1]);
            memcpy(corners[2], middles[f], sizeof corners[2]);
            add_face(soup, corners, n, false);
        }
}
