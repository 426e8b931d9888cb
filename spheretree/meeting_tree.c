/* Two trees meet. The same kernels as a front's, on arrays of the caller: a level of one meeting is opened,
 * then a level of another, and nothing is remembered in between. */
#include "spheretree/faces_internal.h"

#include <math.h>

static sac_descent descent_of(const sac_meeting *m)
{
    sac_descent d = {.a = m->a->tree, .b = m->b->tree, .scale = m->scale};
    memcpy(d.m, m->m, sizeof d.m);
    d.margin = m->margin / m->pose_a->scale;
    d.level_tells = sac_descent_level_tells(d.a, d.b);
    return d;
}

static sac_ball root_of(const sac_form *form)
{
    return (sac_ball){form->ball[0], form->ball[1], form->ball[2], form->ball[3]};
}

bool sac_tree_meeting_begin(sac_meeting *m, sac_pairs *out_root)
{
    out_root->count = 0;
    if (sac_meeting_balls_apart(m)) return false;
    m->scale = sac_transform_between(m->pose_a, m->pose_b, m->m);
    m->levels = m->a->levels > m->b->levels ? m->a->levels : m->b->levels;
    sac_ball b = sac_ball_move(m->m, m->scale, root_of(m->b));
    b.r += m->margin / m->pose_a->scale;
    if (!sac_balls_touch(root_of(m->a), b)) return false;
    out_root->a[0] = m->levels ? sac_node_link(m->a->tree, 0) : 0;
    out_root->b[0] = m->levels ? sac_node_link(m->b->tree, 0) : 0;
    out_root->count = 1;
    return true;
}

/* As sac_descent_direct, from the size of this level alone: as many as if every pair above had found eight.
 */
static bool opens_direct(const sac_descent *d, uint32_t level, uint32_t count)
{
    if (level == 0) return true;
    uint32_t many = level < 6 ? 1u << 3 * level : UINT32_MAX;
    return d->b->level_fill[level < d->b->depth ? level : d->b->depth] > SAC_DIRECT_FILL || count >= many;
}

static sac_span span_of(const sac_pairs *pairs)
{
    return (sac_span){pairs->a, pairs->b, pairs->count, pairs->room};
}

/* Would whatever these jobs find fit? */
static bool surely_fits(const sac_job_list *jobs, const sac_pairs *pairs, sac_open_kind other)
{
    uint64_t most = (uint64_t)jobs->count * sac_job_most(jobs);
    return jobs->kind == other || pairs->count + most <= pairs->room;
}

static void append(sac_pairs *to, const sac_span *from)
{
    memcpy(to->a + to->count, from->a, from->count * sizeof *to->a);
    memcpy(to->b + to->count, from->b, from->count * sizeof *to->b);
    to->count += from->count;
}

/* The prepared jobs, into the lists; false, and the lists are as before, when what they find has no room. */
static bool run_jobs_into(sac_workspace *w, const sac_descent *d, sac_pairs *next, sac_pairs *done)
{
    if (surely_fits(w->jobs, next, SAC_OPEN_TO_DONE) && surely_fits(w->jobs, done, SAC_OPEN_TO_QUEUE)) {
        sac_span queue = span_of(next), finished = span_of(done);
        /* Where nothing goes the room is not looked at. */
        w->kernel->run(d, w->jobs, &queue, &finished);
        next->count = queue.count;
        done->count = finished.count;
        return true;
    }
    const uint32_t room = SAC_MEETING_SCRATCH - SAC_LANES;
    uint32_t *s = w->scratch;
    sac_span queue = {s, s + SAC_MEETING_SCRATCH, 0, room};
    sac_span finished = {s + 2 * SAC_MEETING_SCRATCH, s + 3 * SAC_MEETING_SCRATCH, 0, room};
    w->kernel->run(d, w->jobs, &queue, &finished);
    if (queue.count > next->room - next->count || finished.count > done->room - done->count) return false;
    append(next, &queue);
    append(done, &finished);
    return true;
}

sac_opened sac_tree_meeting_open(sac_workspace *w, const sac_meeting *m, uint32_t level,
                                 const sac_pairs *front, uint64_t credits, sac_pairs *next, sac_pairs *done)
{
    const sac_descent d = descent_of(m);
    const sac_open_kind kind = sac_descent_kind(&d, level);
    const bool direct = opens_direct(&d, level, front->count);
    const uint32_t refits = sac_form_open_cost(m->a) + sac_form_open_cost(m->b);
    const uint32_t worst = sac_descent_most_tests(&d) + refits;
    sac_opened opened = {0};
    uint32_t most = SAC_OPEN_BATCH;
    while (opened.used < front->count && opened.tests < credits) {
        uint64_t affordable = (credits - opened.tests) / worst;
        uint32_t count = front->count - opened.used;
        if (count > most) count = most;
        if (count > affordable) count = affordable ? (uint32_t)affordable : 1;
        sac_form_open(m->a, front->a + opened.used, count);
        sac_form_open(m->b, front->b + opened.used, count);
        uint64_t tests = w->kernel->prepare(&d, front->a + opened.used, front->b + opened.used, count, kind,
                                            direct, w->jobs);
        opened.tests += tests + (uint64_t)refits * count;
        if (run_jobs_into(w, &d, next, done)) {
            opened.used += count;
        } else if (count == 1) {
            break;
        } else {
            most = 1; /* short of room: pair by pair, so that as many as possible are opened */
        }
    }
    return opened;
}

/* ---- contacts ---- */

/* The smaller of the two, in a's unit. */
static float size_of(const sac_meeting *m) { return fminf(m->a->ball[3], m->b->ball[3] * m->scale); }

/* Adds the touches of a list of pairs, in runs that fit. */
static void measure_pairs(const sac_kernel *kernel, const sac_descent *d, const sac_pairs *pairs, bool links,
                          sac_touch_list *list)
{
    uint32_t a[128], b[128];
    for (uint32_t first = 0; first < pairs->count;) {
        if (list->count == SAC_TOUCH_ROOM) sac_touch_thin(list);
        uint32_t n = pairs->count - first, room = SAC_TOUCH_ROOM - list->count;
        if (n > room) n = room;
        if (links) {
            if (n > 128) n = 128;
            for (uint32_t i = 0; i < n; i++) {
                a[i] = sac_link_node(d->a, pairs->a[first + i]);
                b[i] = sac_link_node(d->b, pairs->b[first + i]);
            }
        }
        memset(list->final + list->count, !links, n);
        kernel->measure(d, links ? a : pairs->a + first, links ? b : pairs->b + first, n, list);
        first += n;
    }
}

/* Do two contacts say the same? As in choosing touches. */
static bool alike(const sac_contact *p, const sac_contact *q, float size)
{
    float x = p->point[0] - q->point[0], y = p->point[1] - q->point[1], z = p->point[2] - q->point[2];
    float cosine = p->normal[0] * q->normal[0] + p->normal[1] * q->normal[1] + p->normal[2] * q->normal[2];
    float turned = cosine < 0 ? -cosine * (size * size) : 0;
    return (x * x + y * y) + z * z + turned < SAC_TOUCH_SAME * (size * size);
}

static bool deeper(const sac_contact *p, const sac_contact *q)
{
    if (p->depth != q->depth) return p->depth > q->depth;
    return p->node_a != q->node_a ? p->node_a < q->node_a : p->node_b < q->node_b;
}

/* Nothing to choose from: all of them, deepest first, but what says the same as another. */
static uint32_t contacts_of_few(const sac_meeting *m, const float rows[3][3], const sac_pairs *pending,
                                const sac_pairs *done, sac_contact *out)
{
    const float size = size_of(m) * m->pose_a->scale;
    const uint32_t total = pending->count + done->count;
    uint32_t a[SAC_CONTACT_MOST] = {0}, b[SAC_CONTACT_MOST] = {0}, order[SAC_CONTACT_MOST], kept = 0;
    for (uint32_t i = 0; i < total; i++) {
        const bool final = i < done->count;
        uint32_t k = final ? i : i - done->count;
        a[i] = final ? done->a[k] : pending->a[k], b[i] = final ? done->b[k] : pending->b[k];
        if (!final && m->levels)
            a[i] = sac_link_node(m->a->tree, a[i]), b[i] = sac_link_node(m->b->tree, b[i]);
    }
    sac_contact all[SAC_CONTACT_MOST];
    sac_laid laid;
    sac_contacts_of(m, rows, a, b, total, all, &laid);
    for (uint32_t i = 0; i < total; i++) {
        all[i].final = i < done->count;
        uint32_t at = i;
        for (; at > 0 && deeper(&all[i], &all[order[at - 1]]); at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < total; i++) {
        const sac_contact *c = &all[order[i]];
        bool wanted = sac_touch_counts(c->depth, m->margin, size);
        for (uint32_t j = 0; j < kept && wanted; j++) wanted = !alike(c, &out[j], size);
        if (wanted) out[kept++] = *c;
    }
    return kept;
}

/* What choosing costs, in node tests' worth of time. */
#define TESTS_A_CHOICE 150u
#define TESTS_A_PAIR 10u
#define TESTS_A_CONTACT 70u

/* The corners of a face two trees lie against each other with, instead of what was chosen before: bumps. Any
 * number of pairs, in lists of the size there is. */
static uint32_t contacts_of_face(const sac_meeting *m, const float rows[3][3], const sac_descent *d,
                                 const sac_pairs *pending, const sac_pairs *done, const sac_laid *laid,
                                 sac_touch_list *list, sac_contact *out)
{
    const sac_kernel *kernel = sac_kernel_active();
    sac_corners corners = {0};
    uint32_t different[4], total = pending->count + done->count;
    if (list->count == total) sac_corners_add(&corners, laid, list);
    for (uint32_t first = 0; list->count < total && first < total; first += SAC_TOUCH_ROOM / 2) {
        uint32_t last = first + SAC_TOUCH_ROOM / 2 < total ? first + SAC_TOUCH_ROOM / 2 : total;
        uint32_t split = first > done->count ? first : last < done->count ? last : done->count;
        uint32_t skip = split - (split < done->count ? split : done->count);
        sac_pairs one = {done->a + first, done->b + first, split > first ? split - first : 0, 0};
        sac_pairs two = {pending->a + skip, pending->b + skip, last - split, 0};
        if (first >= done->count) one.count = 0;
        list->count = 0;
        measure_pairs(kernel, d, &one, false, list);
        measure_pairs(kernel, d, &two, m->levels > 0, list);
        sac_corners_add(&corners, laid, list);
        list->count = 0;
    }
    uint32_t count = sac_corners_different(&corners, different);
    if (count < 3) return 0;
    uint32_t a[4], b[4];
    sac_laid again;
    for (uint32_t i = 0; i < count; i++) a[i] = corners.a[different[i]], b[i] = corners.b[different[i]];
    sac_contacts_of(m, rows, a, b, count, out, &again);
    for (uint32_t i = 0; i < count; i++) out[i].final = corners.final[different[i]];
    return count;
}

static uint32_t contacts_of_many(const sac_meeting *m, const float rows[3][3], const sac_pairs *pending,
                                 const sac_pairs *done, uint32_t most, sac_contact *out)
{
    const sac_kernel *kernel = sac_kernel_active();
    const sac_descent d = descent_of(m);
    sac_touch_list list;
    sac_laid laid = {0};
    list.count = 0;
    list.margin = d.margin;
    list.size = size_of(m);
    measure_pairs(kernel, &d, done, false, &list);
    /* With no level to refine the roots themselves are what there is. */
    measure_pairs(kernel, &d, pending, m->levels > 0, &list);
    uint32_t chosen[SAC_CONTACT_MOST], count = kernel->choose(&list, most, chosen);
    uint32_t a[SAC_CONTACT_MOST], b[SAC_CONTACT_MOST];
    for (uint32_t i = 0; i < count; i++) a[i] = list.a[chosen[i]], b[i] = list.b[chosen[i]];
    if (count) sac_contacts_of(m, rows, a, b, count, out, &laid);
    for (uint32_t i = 0; i < count; i++) out[i].final = list.final[chosen[i]];
    if (!laid.found || most < 4 || !sac_faces_alone(out, count)) return count;
    sac_contact face[SAC_CONTACT_MOST];
    uint32_t corners = contacts_of_face(m, rows, &d, pending, done, &laid, &list, face);
    if (corners) memcpy(out, face, corners * sizeof *face);
    return corners ? corners : count;
}

uint32_t sac_tree_meeting_contacts(const sac_meeting *m, const sac_pairs *pending, const sac_pairs *done,
                                   uint32_t most, sac_contact *out, uint64_t *tests)
{
    uint64_t pairs = (uint64_t)pending->count + done->count;
    if (pairs == 0 || most == 0) return 0;
    float rows[3][3];
    sac_transform_rows(m->pose_a, rows);
    uint32_t count = pairs <= most ? contacts_of_few(m, rows, pending, done, out)
                                   : contacts_of_many(m, rows, pending, done, most, out);
    *tests += TESTS_A_CHOICE + TESTS_A_PAIR * pairs + TESTS_A_CONTACT * count;
    return count;
}

uint32_t sac_tree_meeting_refresh(const sac_meeting *m, const sac_pairs *nodes, sac_contact *out)
{
    float rows[3][3];
    uint32_t kept = 0;
    sac_transform_rows(m->pose_a, rows);
    for (uint32_t first = 0; first < nodes->count; first += SAC_CONTACT_MOST) {
        const uint32_t *a = nodes->a + first, *b = nodes->b + first, left = nodes->count - first,
                       count = left < SAC_CONTACT_MOST ? left : SAC_CONTACT_MOST;
        sac_contact *all = out + kept;
        sac_laid laid;
        sac_contacts_of(m, rows, a, b, count, all, &laid);
        for (uint32_t i = 0; i < count; i++) {
            if (!(all[i].depth >= -m->margin)) continue;
            all[i].final = sac_node_link(m->a->tree, a[i]) & sac_node_link(m->b->tree, b[i]) & SAC_LINK_LEAF;
            if (&out[kept] != &all[i]) out[kept] = all[i];
            kept++;
        }
    }
    return kept;
}
