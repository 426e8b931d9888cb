/* The rest shape: checked, cut into clusters, its moments inverted. */
#include "deform/soft_internal.h"

#include <math.h>
#include <stdlib.h>

#define COOKIE 0x50f7b0d1u

/* Directions of the rest shape this much thinner than its longest are left to the rotation; squared, and of
 * the nine terms together. Thinner ones would amplify the rounding of positions. */
#define CUT_SMALL 1e-5
#define CUT_FULL 1e-4
/* Smaller clusters have no shape to match. */
#define LEAST_REACH 1e-6

sac_soft_def sac_default_soft_def(void)
{
    return (sac_soft_def){.mode = SAC_SOFT_QUADRATIC,
                          .beta = 0.7f,
                          .settle_time = 0.03f,
                          .damping = 0.3f,
                          .keep_volume = true,
                          .yield = 0.1f,
                          .creep = 0,
                          .most_plastic = 0.5f,
                          .overlap = 0.2f,
                          .most_speed = 100,
                          .cookie = COOKIE};
}

static sac_result out_of_range(sac_error *error, const char *name, float value, const char *range)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, range, "%s is %g", name, (double)value);
}

static sac_result check_def(const sac_soft_def *def, sac_error *error)
{
    if (def->cookie != COOKIE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_soft_def()",
                             "the definition was not initialised");
    if ((unsigned)def->mode >= SAC_SOFT_MODES)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "rigid, linear or quadratic", "mode %d",
                             (int)def->mode);
    if (!(def->beta >= 0 && def->beta <= 1)) return out_of_range(error, "beta", def->beta, "0 to 1");
    if (!(def->settle_time >= 0 && def->settle_time <= 1e3f))
        return out_of_range(error, "settle_time", def->settle_time, "0 to 1000 s");
    if (!(def->damping >= 0 && def->damping <= 1e3f))
        return out_of_range(error, "damping", def->damping, "0 to 1000");
    if (!(def->yield >= 0 && def->yield <= 1e3f))
        return out_of_range(error, "yield", def->yield, "0 to 1000");
    if (!(def->creep >= 0 && def->creep <= 1e3f))
        return out_of_range(error, "creep", def->creep, "0 to 1000");
    if (!(def->most_plastic >= 0 && def->most_plastic <= 10))
        return out_of_range(error, "most_plastic", def->most_plastic, "0 to 10");
    if (!(def->overlap >= 0 && def->overlap <= 10))
        return out_of_range(error, "overlap", def->overlap, "0 to 10");
    if (!(def->most_speed > 0 && def->most_speed <= 1e5f))
        return out_of_range(error, "most_speed", def->most_speed, "above 0, to 100000 m/s");
    if (def->clusters > SAC_SOFT_MOST_CLUSTERS)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "at most 4096", "%u clusters", def->clusters);
    return SAC_OK;
}

static sac_result check_points(const float (*points)[3], const float *masses, uint32_t count,
                               sac_error *error)
{
    if (!points || !count) return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "a soft body needs points");
    if (count > SAC_SOFT_MOST_POINTS)
        return sac_error_set(error, SAC_ERROR_LIMIT, "at most 4 million", "%u points", count);
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++)
            if (!(fabsf(points[i][k]) <= SAC_SOFT_REACH))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "finite, within 1e6 of the origin",
                                     "point %u has the coordinate %g", i, (double)points[i][k]);
        if (masses && !(masses[i] >= 1e-12f && masses[i] <= 1e12f))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "give it a mass above 0; to fix a point, hold it",
                                 "point %u has the mass %g", i, (double)masses[i]);
    }
    return SAC_OK;
}

static void terms_of(const double q[3], double out[9])
{
    for (int k = 0; k < 3; k++) out[k] = q[k], out[3 + k] = q[k] * q[k], out[6 + k] = q[k] * q[(k + 1) % 3];
}

/* Moments in units of the cluster's size, so that the cut means the same for linear and quadratic terms. */
static void invert_moments(sac_soft_model *m, sac_soft_cluster *c)
{
    double mean[9] = {0}, sum[9][9] = {{0}}, unit = c->reach > LEAST_REACH ? c->reach : 1, q[3], t[9];
    for (uint32_t s = c->first; s < c->first + c->count; s++) c->weight_sum += m->weight[s];
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t s = c->first; s < c->first + c->count; s++) {
            q[0] = m->qx[s] / unit, q[1] = m->qy[s] / unit, q[2] = m->qz[s] / unit;
            terms_of(q, t);
            for (int i = 0; i < 9; i++) {
                if (pass == 0) mean[i] += m->weight[s] * t[i] / c->weight_sum;
                for (int k = 0; pass == 1 && k < 9; k++)
                    sum[i][k] += (double)m->weight[s] * (t[i] - mean[i]) * (t[k] - mean[k]);
            }
        }
    for (int i = 0; i < 9; i++) c->term_mean[i] = mean[i] * (i < 3 ? unit : unit * unit);
    if (!(c->reach > LEAST_REACH)) return; /* all zero: nothing but the rotation */
    double corner[9], inverse[81];
    for (int i = 0; i < 9; i++) corner[i] = sum[i / 3][i % 3];
    sac_pseudo_inverse(corner, 3, CUT_SMALL, inverse);
    for (int i = 0; i < 9; i++) c->small[i / 3][i % 3] = inverse[i] / (unit * unit);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 9; k++) c->rest[i][k] = sum[i][k] * unit * (k < 3 ? unit : unit * unit);
    if (m->def.mode != SAC_SOFT_QUADRATIC) return;
    sac_pseudo_inverse(&sum[0][0], 9, CUT_FULL, inverse);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++)
            c->full[i][k] =
                inverse[i * 9 + k] / ((i < 3 ? unit : unit * unit) * (k < 3 ? unit : unit * unit));
}

static void fill_cluster(sac_soft_model *m, sac_soft_cluster *c, const uint32_t *members, const float *share)
{
    double total = 0, centre[3] = {0}, reach = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t p = members[i];
        double w = (double)m->mass[p] * share[p];
        total += w;
        centre[0] += w * m->x[p], centre[1] += w * m->y[p], centre[2] += w * m->z[p];
    }
    for (int k = 0; k < 3; k++) c->rest_centre[k] = (float)(centre[k] / total);
    for (uint32_t i = 0; i < c->lanes; i++) {
        /* Lanes beyond the last weigh nothing and repeat the last point, or the first where all repeat. */
        uint32_t s = c->first + i, p = members[i < c->count ? i : c->count - 1];
        m->point[s] = p;
        m->qx[s] = m->x[p] - c->rest_centre[0];
        m->qy[s] = m->y[p] - c->rest_centre[1];
        m->qz[s] = m->z[p] - c->rest_centre[2];
        m->weight[s] = i < c->count ? (float)((double)m->mass[p] * share[p] / total) : 0;
        double q2 = (double)m->qx[s] * m->qx[s] + (double)m->qy[s] * m->qy[s] + (double)m->qz[s] * m->qz[s];
        reach = q2 > reach ? q2 : reach;
    }
    c->reach = (float)sqrt(reach);
    invert_moments(m, c);
}

/* For each eight points the slots of their clusters, row by row. */
static bool fill_rows(sac_soft_model *m, const uint32_t *degree)
{
    uint32_t eights = m->lanes / 8, rows = 0;
    for (uint32_t e = 0; e < eights; e++) {
        uint32_t most = 0;
        for (uint32_t k = 0; k < 8; k++) most = degree[e * 8 + k] > most ? degree[e * 8 + k] : most;
        m->row_first[e] = rows, rows += most;
    }
    m->row_first[eights] = rows;
    m->row_slot = sac_arena_alloc(&m->arena, (size_t)rows * 8, sizeof *m->row_slot);
    uint32_t *used = sac_alloc_zero(m->lanes, sizeof *used);
    if (m->row_slot && used) {
        for (size_t i = 0; i < (size_t)rows * 8; i++) m->row_slot[i] = m->slot_count;
        for (uint32_t c = 0; c < m->cluster_count; c++)
            for (uint32_t i = 0; i < m->clusters[c].count; i++) {
                uint32_t slot = m->clusters[c].first + i, p = m->point[slot], last = p + 1 == m->count;
                for (uint32_t lane = p; lane == p || (last && lane < m->lanes); lane++)
                    m->row_slot[((size_t)m->row_first[lane / 8] + used[lane]++) * 8 + lane % 8] = slot;
            }
    }
    bool ok = m->row_slot && used;
    sac_free(used, m->lanes, sizeof *used);
    return ok;
}

static bool fill_homes(sac_soft_model *m)
{
    uint32_t n = m->cluster_count, total = 0;
    m->home_first = sac_arena_alloc(&m->arena, n + (size_t)1, sizeof *m->home_first);
    uint32_t *used = sac_arena_alloc(&m->arena, n, sizeof *used);
    if (!m->home_first || !used) return false;
    memset(used, 0, n * sizeof *used);
    for (uint32_t i = 0; i < m->count; i++) used[m->home[i]]++;
    for (uint32_t c = 0; c < n; c++) m->home_first[c] = total, total += (used[c] + 7) & ~7u, used[c] = 0;
    m->home_first[n] = total;
    m->home_point = sac_arena_alloc(&m->arena, total, sizeof *m->home_point);
    float **floats[] = {&m->hx, &m->hy, &m->hz};
    for (int k = 0; k < 3; k++)
        if (!(*floats[k] = sac_arena_alloc(&m->arena, total, sizeof(float)))) return false;
    if (!m->home_point) return false;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t c = m->home[i], slot = m->home_first[c] + used[c]++;
        for (; slot < m->home_first[c + 1]; slot++) { /* and on to the end, until the next is written */
            m->home_point[slot] = i;
            m->hx[slot] = m->x[i] - m->clusters[c].rest_centre[0];
            m->hy[slot] = m->y[i] - m->clusters[c].rest_centre[1];
            m->hz[slot] = m->z[i] - m->clusters[c].rest_centre[2];
        }
    }
    return true;
}

/* Down to single points: whatever the fans of a hierarchy, its nodes are halves of halves. */
static void halve(const float (*points)[3], sac_keyed *all, uint32_t count)
{
    if (count < 2) return;
    int axis = 0;
    float widest = -1;
    for (int k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            float x = points[all[i].point][k];
            low = x < low ? x : low, high = x > high ? x : high;
        }
        if (high - low > widest) widest = high - low, axis = k;
    }
    for (uint32_t i = 0; i < count; i++) all[i].key = points[all[i].point][axis];
    qsort(all, count, sizeof *all, sac_keyed_order);
    halve(points, all, count / 2);
    halve(points, all + count / 2, count - count / 2);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Gives every point its place, and writes the lists of members anew. */
static bool order_points(sac_soft_model *m, const float (*points)[3], sac_cluster_lists *lists)
{
    uint32_t n = lists->count;
    m->place = sac_arena_alloc(&m->arena, m->count, sizeof *m->place);
    m->name = sac_arena_alloc(&m->arena, m->count, sizeof *m->name);
    m->home = sac_arena_alloc(&m->arena, m->count, sizeof *m->home);
    sac_keyed *all = sac_alloc(m->count, sizeof *all);
    uint32_t *end = sac_alloc_zero(n + (size_t)1, sizeof *end);
    bool ok = m->place && m->name && m->home && all && end;
    if (ok) {
        for (uint32_t i = 0; i < m->count; i++) end[lists->home[i] + 1]++;
        for (uint32_t c = 0; c < n; c++) end[c + 1] += end[c];
        for (uint32_t i = 0; i < m->count; i++) all[end[lists->home[i]]++].point = i;
        for (uint32_t c = 0, first = 0; c < n; first = end[c++]) halve(points, all + first, end[c] - first);
        for (uint32_t i = 0; i < m->count; i++) {
            m->name[i] = all[i].point, m->place[all[i].point] = i;
            m->home[i] = lists->home[all[i].point];
        }
        for (uint32_t i = 0; i < lists->first[n]; i++) lists->point[i] = m->place[lists->point[i]];
        for (uint32_t c = 0; c < n; c++)
            qsort(lists->point + lists->first[c], lists->first[c + 1] - lists->first[c], sizeof *lists->point,
                  by_number);
    }
    sac_free(all, m->count, sizeof *all);
    sac_free(end, n + (size_t)1, sizeof *end);
    return ok;
}

static bool allocate(sac_soft_model *m)
{
    float **floats[] = {&m->x, &m->y, &m->z, &m->mass, &m->inverse_mass, &m->share};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (!(*floats[i] = sac_arena_alloc(&m->arena, m->lanes, sizeof(float)))) return false;
    float **members[] = {&m->qx, &m->qy, &m->qz, &m->weight};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!(*members[i] = sac_arena_alloc(&m->arena, m->slot_count, sizeof(float)))) return false;
    m->point = sac_arena_alloc(&m->arena, m->slot_count, sizeof *m->point);
    m->row_first = sac_arena_alloc(&m->arena, m->lanes / 8 + 1, sizeof *m->row_first);
    return m->point && m->row_first;
}

static sac_result fill_model(sac_soft_model *m, const float (*points)[3], const float *masses,
                             sac_error *error)
{
    sac_cluster_lists lists;
    uint32_t wanted = m->def.clusters;
    if (!wanted) wanted = m->count / 150 > 8 ? 8 : m->count / 150 < 1 ? 1 : m->count / 150;
    sac_result result = sac_clusters_make(&m->arena, points, m->count, wanted, m->def.overlap, &lists, error);
    if (result != SAC_OK) return result;
    m->cluster_count = lists.count;
    m->lanes = (m->count + 7) & ~7u;
    m->clusters = sac_arena_alloc(&m->arena, lists.count, sizeof *m->clusters);
    uint32_t *degree = sac_arena_alloc(&m->arena, m->lanes, sizeof *degree);
    if (!m->clusters || !degree || !order_points(m, points, &lists)) goto no_memory;
    memset(m->clusters, 0, lists.count * sizeof *m->clusters);
    for (uint32_t c = 0; c < lists.count; c++) {
        sac_soft_cluster *cluster = &m->clusters[c];
        cluster->first = m->slot_count;
        cluster->count = lists.first[c + 1] - lists.first[c];
        cluster->lanes = (cluster->count + 7) & ~7u;
        cluster->whole = lists.count == 1;
        m->slot_count += cluster->lanes;
    }
    if (!allocate(m)) goto no_memory;
    memset(degree, 0, m->lanes * sizeof *degree);
    for (uint32_t i = 0; i < lists.first[lists.count]; i++) degree[lists.point[i]]++;
    for (uint32_t i = 0; i < m->lanes; i++) {
        uint32_t p = i < m->count ? i : m->count - 1;
        const float *rest = points[m->name[p]];
        m->x[i] = rest[0], m->y[i] = rest[1], m->z[i] = rest[2];
        m->mass[i] = masses ? masses[m->name[p]] : 1;
        m->inverse_mass[i] = 1 / m->mass[i];
        if (i < m->count) m->mass_sum += m->mass[i];
        degree[i] = degree[p];
        m->share[i] = 1.0f / (float)degree[p];
    }
    for (uint32_t c = 0; c < lists.count; c++)
        fill_cluster(m, &m->clusters[c], lists.point + lists.first[c], m->share);
    if (!fill_rows(m, degree) || !fill_homes(m)) goto no_memory;
    return SAC_OK;
no_memory:
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft body of %u points", m->count);
}

sac_result sac_soft_model_create(const float (*points)[3], const float *masses, uint32_t count,
                                 const sac_soft_def *def, sac_soft_model **out_model, sac_error *error)
{
    SAC_NEED(error, def, out_model);
    if (count) SAC_NEED(error, points);
    sac_result result = check_def(def, error);
    if (result == SAC_OK) result = check_points(points, masses, count, error);
    if (result != SAC_OK) return result;
    sac_soft_model *m = sac_alloc_zero(1, sizeof *m);
    if (!m)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a soft body of %u points", count);
    sac_arena_init(&m->arena);
    m->def = *def;
    m->count = count;
    result = fill_model(m, points, masses, error);
    if (result != SAC_OK) sac_soft_model_destroy(&m);
    *out_model = m;
    return result;
}

void sac_soft_model_destroy(sac_soft_model **model)
{
    if (!model || !*model) return;
    sac_arena_fini(&(*model)->arena);
    sac_free(*model, 1, sizeof **model);
    *model = NULL;
}

uint32_t sac_soft_model_points(const sac_soft_model *model) { return model ? model->count : 0; }
uint32_t sac_soft_model_clusters(const sac_soft_model *model) { return model ? model->cluster_count : 0; }
