/* Two forms meet: which code knows this pair of kinds, and the scratch all of it shares. */
#include "spheretree/meeting_internal.h"

#include <math.h>

sac_result sac_workspace_create(sac_workspace **out_workspace, sac_error *error)
{
    SAC_NEED(error, out_workspace);
    *out_workspace = NULL;
    sac_workspace *w = sac_alloc_zero(1, sizeof *w);
    if (w) {
        w->kernel = sac_kernel_active();
        w->jobs = sac_alloc_zero(1, sizeof *w->jobs);
        w->scratch = sac_alloc_zero(4 * (size_t)SAC_MEETING_SCRATCH, sizeof *w->scratch);
    }
    if (!w || !w->jobs || !w->scratch) {
        sac_workspace_destroy(&w);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a workspace");
    }
    *out_workspace = w;
    return SAC_OK;
}

void sac_workspace_destroy(sac_workspace **workspace)
{
    sac_workspace *w = workspace ? *workspace : NULL;
    if (!w) return;
    sac_free(w->jobs, 1, sizeof *w->jobs);
    sac_free(w->scratch, 4 * (size_t)SAC_MEETING_SCRATCH, sizeof *w->scratch);
    sac_free(w, 1, sizeof *w);
    *workspace = NULL;
}

static bool both_trees(const sac_meeting *m)
{
    return m->a->kind == SAC_FORM_TREE && m->b->kind == SAC_FORM_TREE;
}

/* A form's ball about its pose's translation, turned into world directions. */
static void ball_offset(const sac_form *form, const sac_transform *pose, float out[3])
{
    /* c + 2 w (q x c) + 2 q x (q x c), shorter than by rows */
    const float *c = form->ball, *q = pose->rotation;
    float tx = 2 * (q[1] * c[2] - q[2] * c[1]), ty = 2 * (q[2] * c[0] - q[0] * c[2]),
          tz = 2 * (q[0] * c[1] - q[1] * c[0]);
    out[0] = (c[0] + q[3] * tx + (q[1] * tz - q[2] * ty)) * pose->scale;
    out[1] = (c[1] + q[3] * ty + (q[2] * tx - q[0] * tz)) * pose->scale;
    out[2] = (c[2] + q[3] * tz + (q[0] * ty - q[1] * tx)) * pose->scale;
}

static float sum_of_sides(const float v[3]) { return fabsf(v[0]) + fabsf(v[1]) + fabsf(v[2]); }

bool sac_meeting_balls_apart(const sac_meeting *m)
{
    /* Rounding is a few parts in ten million of these numbers: the translations are subtracted first. */
    const float slack = 1.00001f;
    const float *ta = m->pose_a->translation, *tb = m->pose_b->translation;
    float x = tb[0] - ta[0], y = tb[1] - ta[1], z = tb[2] - ta[2];
    float sum = (m->a->ball[3] * m->pose_a->scale + m->b->ball[3] * m->pose_b->scale) + m->margin;
    /* However they are turned, the balls' centres are not farther from the translations than this. */
    float reach = sum_of_sides(m->a->ball) * m->pose_a->scale + sum_of_sides(m->b->ball) * m->pose_b->scale;
    float most = (sum + reach) * slack;
    if (!((x * x + y * y) + z * z <= most * most)) return true;
    /* For balls about their own origin turning changes little. */
    if (reach <= 0.01f * sum) return false;
    float a[3], b[3];
    ball_offset(m->a, m->pose_a, a);
    ball_offset(m->b, m->pose_b, b);
    x += b[0] - a[0], y += b[1] - a[1], z += b[2] - a[2];
    most = sum * slack + reach * (slack - 1);
    return !((x * x + y * y) + z * z <= most * most);
}

bool sac_meeting_begin(sac_meeting *m, const sac_form *a, const sac_transform *pose_a, const sac_form *b,
                       const sac_transform *pose_b, float margin, sac_pairs *out_root)
{
    if (!m || !a || !pose_a || !b || !pose_b || !out_root) return false;
    m->a = a;
    m->b = b;
    m->pose_a = pose_a;
    m->pose_b = pose_b;
    m->margin = margin;
    m->swapped = false;
    out_root->count = 0;
    return both_trees(m) ? sac_tree_meeting_begin(m, out_root) : sac_field_meeting_begin(m, out_root);
}

/* Nothing below: what stands is final as it is. */
static sac_opened hand_over(const sac_pairs *front, sac_pairs *done)
{
    sac_opened opened = {0};
    for (; opened.used < front->count && done->count < done->room; opened.used++, done->count++) {
        done->a[done->count] = front->a[opened.used];
        done->b[done->count] = front->b[opened.used];
    }
    return opened;
}

sac_opened sac_meeting_open(sac_workspace *workspace, const sac_meeting *m, uint32_t level,
                            const sac_pairs *front, uint64_t credits, sac_pairs *next, sac_pairs *done)
{
    if (!workspace || !m || !front || !next || !done) return (sac_opened){0};
    if (front->count == 0 || credits == 0) return (sac_opened){0};
    if (level >= m->levels) return hand_over(front, done);
    if (!both_trees(m)) return sac_field_meeting_open(workspace, m, level, front, credits, next, done);
    return sac_tree_meeting_open(workspace, m, level, front, credits, next, done);
}

uint32_t sac_meeting_contacts(const sac_meeting *m, const sac_pairs *pending, const sac_pairs *done,
                              uint32_t most, sac_contact *out, uint64_t *out_tests)
{
    if (!m || !out) return 0;
    const sac_pairs none = {0};
    uint64_t tests = 0;
    if (!pending) pending = &none;
    if (!done) done = &none;
    if (most > SAC_CONTACT_MOST) most = SAC_CONTACT_MOST;
    uint32_t count = both_trees(m) ? sac_tree_meeting_contacts(m, pending, done, most, out, &tests)
                                   : sac_field_meeting_contacts(m, pending, done, most, out, &tests);
    if (out_tests) *out_tests += tests;
    return count;
}

uint32_t sac_meeting_refresh_all(const sac_meeting *m, const sac_pairs *nodes, sac_contact *out)
{
    if (!m || !nodes || !out) return 0;
    uint32_t count = 0;
    if (both_trees(m)) return sac_tree_meeting_refresh(m, nodes, out);
    for (uint32_t i = 0; i < nodes->count; i++)
        count += sac_field_meeting_refresh(m, nodes->a[i], nodes->b[i], &out[count]);
    return count;
}

bool sac_meeting_refresh(const sac_meeting *m, uint32_t node_a, uint32_t node_b, sac_contact *out)
{
    return sac_meeting_refresh_all(m, &(sac_pairs){&node_a, &node_b, 1, 1}, out);
}
