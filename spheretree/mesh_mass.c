/* Exact polyhedral integrals. The signed tetrahedra from one origin to every triangle add up to the solid
 * (divergence theorem); over the tetrahedron (0, a, b, c) with d = a . (b x c) and s = a + b + c
 *   volume          d / 6
 *   integral x_i    d / 24 * s_i
 *   integral x_i x_j  d / 120 * (a_i a_j + b_i b_j + c_i c_j + s_i s_j)
 * The origin is the middle of the box, so that a small part far from the world's origin keeps its digits. */
#include "spheretree/mesh_internal.h"

/* Neumaier's running sum: millions of terms that cancel lose nothing. */
typedef struct exact_sum {
    double sum, lost;
} exact_sum;

static void add(exact_sum *s, double term)
{
    double sum = s->sum + term;
    s->lost += fabs(s->sum) >= fabs(term) ? (s->sum - sum) + term : (term - sum) + s->sum;
    s->sum = sum;
}

static double total(const exact_sum *s) { return s->sum + s->lost; }

sac_result sac_mesh_mass(const sac_mesh *mesh, sac_mass *out_mass, sac_error *error)
{
    SAC_NEED(error, mesh, out_mass);
    *out_mass = (sac_mass){0};
    sac_edge_counts counts;
    sac_result result = sac_mesh_edges(mesh, NULL, &counts, error);
    if (result != SAC_OK) return result;
    if (!counts.balanced)
        return sac_error_set(error, SAC_ERROR_OPEN_MESH,
                             "repair the mesh, close its holes, or use the mass of the spheres",
                             "the mesh is not closed: %u boundary edges, %u used by three or more triangles, "
                             "%u with clashing directions",
                             counts.boundary, counts.crowded, counts.clashing);

    sac_box box = sac_box_empty();
    for (uint32_t v = 0; v < mesh->vertex_count; v++) sac_box_add(&box, mesh->vertices[v]);
    double origin[3], extent = 0;
    for (int i = 0; i < 3; i++) {
        origin[i] = 0.5 * ((double)box.low[i] + box.high[i]);
        extent = fmax(extent, (double)box.high[i] - box.low[i]);
    }
    exact_sum volume = {0}, first[3] = {{0}}, second[6] = {{0}};
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        double p[3][3], s[3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) p[k][i] = mesh->vertices[mesh->triangles[t][k]][i] - origin[i];
        for (int i = 0; i < 3; i++) s[i] = p[0][i] + p[1][i] + p[2][i];
        double d = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                   p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                   p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        add(&volume, d);
        for (int i = 0; i < 3; i++) add(&first[i], d * s[i]);
        for (int k = 0; k < 6; k++) {
            int i = k % 3, j = k < 3 ? i : (i + 1) % 3; /* xx yy zz xy yz zx */
            add(&second[k], d * (p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j] + s[i] * s[j]));
        }
    }
    double v = total(&volume) / 6;
    if (v < -1e-15 * extent * extent * extent)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "repair the mesh first",
                             "the mesh is inside out: its volume is %g", v);
    if (!(v > 1e-15 * extent * extent * extent))
        return sac_error_set(error, SAC_ERROR_EMPTY, "use the mass of the spheres",
                             "the mesh is closed but encloses no volume");

    double c[3], m[6];
    for (int i = 0; i < 3; i++) c[i] = total(&first[i]) / 24 / v;
    for (int k = 0; k < 6; k++) {
        int i = k % 3, j = k < 3 ? i : (i + 1) % 3;
        m[k] = total(&second[k]) / 120 - v * c[i] * c[j];
    }
    double inertia[6] = {m[1] + m[2], m[0] + m[2], m[0] + m[1], -m[3], -m[4], -m[5]};
    bool fits = v <= FLT_MAX && v >= FLT_MIN;
    for (int k = 0; k < 3; k++) fits = fits && inertia[k] <= FLT_MAX && inertia[k] >= FLT_MIN;
    if (!fits)
        return sac_error_set(error, SAC_ERROR_LIMIT, "scale the mesh to a size nearer 1",
                             "the mass properties do not fit a float: volume %g, inertia %g %g %g", v,
                             inertia[0], inertia[1], inertia[2]);
    out_mass->volume = (float)v;
    for (int i = 0; i < 3; i++) out_mass->centre[i] = (float)(origin[i] + c[i]);
    for (int k = 0; k < 6; k++) out_mass->inertia[k] = (float)inertia[k];
    return SAC_OK;
}
