/* How far two trees are apart: best first, between a lower bound from the spheres and an upper bound from
 * surface points.
 *
 * The nearest two surface points lie in a chain of node pairs from the roots to two leaves, and are no nearer
 * than the spheres of any pair of the chain. So a pair's bound may be raised to its parent's, the least
 * bound of the pairs that wait is a bound of the whole, and it never falls. */
#include "spheretree/descent_internal.h"

#include <math.h>

static bool before(sac_distance_entry x, sac_distance_entry y) { return x.lower < y.lower; }

static void heap_push(sac_distance *s, sac_distance_entry entry)
{
    uint32_t i = s->count++;
    for (; i > 0 && before(entry, s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = entry;
}

static sac_distance_entry heap_pop(sac_distance *s)
{
    sac_distance_entry top = s->heap[0], last = s->heap[--s->count];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= s->count) break;
        if (child + 1 < s->count && before(s->heap[child + 1], s->heap[child])) child++;
        if (!before(s->heap[child], last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    if (s->count) s->heap[i] = last;
    return top;
}

/* No two points of the spheres are closer than this. Rounded down: the arithmetic may be off by a few units
 * in the last place of its largest number. */
static float gap_between(sac_ball a, sac_ball b)
{
    double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    double size = fabs((double)b.x) + fabs((double)b.y) + fabs((double)b.z) + fabs((double)a.x) +
                  fabs((double)a.y) + fabs((double)a.z) + a.r + b.r;
    double gap = sqrt(x * x + y * y + z * z) - a.r - b.r - 1e-6 * size;
    return gap > 0 ? (float)gap : 0.0f;
}

/* Two real points of the surfaces, and so a distance the objects cannot exceed. */
static void try_points(sac_distance *s, uint32_t id_a, uint32_t id_b)
{
    const sac_feature_block *fa = &s->a->features[id_a / SAC_LANES], *fb = &s->b->features[id_b / SAC_LANES];
    uint32_t i = id_a % SAC_LANES, k = id_b % SAC_LANES;
    float pa[3] = {fa->px[i], fa->py[i], fa->pz[i]}, pb[3] = {fb->px[k], fb->py[k], fb->pz[k]}, wa[3], wb[3];
    sac_transform_point(&s->pose_a, pa, wa);
    sac_transform_point(&s->pose_b, pb, wb);
    double x = (double)wa[0] - wb[0], y = (double)wa[1] - wb[1], z = (double)wa[2] - wb[2];
    float apart = (float)sqrt(x * x + y * y + z * z);
    if (!(apart < s->upper)) return;
    s->upper = apart;
    memcpy(s->point_a, wa, sizeof wa);
    memcpy(s->point_b, wb, sizeof wb);
    s->node_a = id_a;
    s->node_b = id_b;
}

/* The heap is in a's units, the bounds in the world's. */
static void settle(sac_distance *s)
{
    float least = s->floor;
    if (s->count && s->heap[0].lower < least) least = s->heap[0].lower;
    float lower = least * s->to_world;
    if (!(lower <= s->upper)) lower = s->upper;
    if (lower > s->lower) s->lower = lower;
    if (s->count == 0 || s->heap[0].lower * s->to_world >= s->upper) s->done = true;
}

static void open_pair(sac_distance *s, sac_distance_entry top)
{
    sac_lanes la = sac_link_lanes(s->a, top.a), lb = sac_link_lanes(s->b, top.b);
    for (uint32_t j = 0; j < lb.blocks * SAC_LANES; j++) {
        uint32_t id_b = lb.block * SAC_LANES + j;
        if (!(lb.lanes >> j % SAC_LANES & 1) || !sac_tree_has(s->b, id_b)) continue;
        sac_ball b = sac_ball_move(s->relative, s->scale, sac_ball_of(s->b, id_b));
        for (uint32_t i = 0; i < la.blocks * SAC_LANES; i++) {
            uint32_t id_a = la.block * SAC_LANES + i;
            if (!(la.lanes >> i % SAC_LANES & 1) || !sac_tree_has(s->a, id_a)) continue;
            s->tests++;
            float lower = gap_between(sac_ball_of(s->a, id_a), b);
            if (lower < top.lower) lower = top.lower;
            if (lower * s->to_world >= s->upper) continue;
            try_points(s, id_a, id_b);
            uint32_t link_a = sac_node_link(s->a, id_a), link_b = sac_node_link(s->b, id_b);
            if (link_a & link_b & SAC_LINK_LEAF) {
                /* The spheres can tell no more about these two. */
                if (lower < s->floor) s->floor = lower;
            } else {
                heap_push(s, (sac_distance_entry){lower, link_a, link_b});
            }
        }
    }
}

sac_result sac_distance_begin(sac_distance *s, const sac_tree *a, const sac_transform *pose_a,
                              const sac_tree *b, const sac_transform *pose_b, sac_error *error)
{
    if (!s) return sac_error_null(error, "distance", 0);
    SAC_NEED(error, a, pose_a, b, pose_b);
    sac_descent d;
    sac_result result = sac_descent_init(&d, a, pose_a, b, pose_b, error);
    if (result != SAC_OK) return result;
    s->a = a;
    s->b = b;
    s->pose_a = *pose_a;
    s->pose_b = *pose_b;
    /* Points are moved by the poses themselves, so these must not stretch. */
    sac_pose_normalise(&s->pose_a);
    sac_pose_normalise(&s->pose_b);
    memcpy(s->relative, d.m, sizeof s->relative);
    s->scale = d.scale;
    s->to_world = pose_a->scale;
    s->lower = 0;
    s->upper = INFINITY;
    s->floor = INFINITY;
    s->done = false;
    s->tests = 1;
    s->count = 0;
    float lower = gap_between(sac_ball_of(a, 0), sac_ball_move(d.m, d.scale, sac_ball_of(b, 0)));
    uint32_t link_a = sac_node_link(a, 0), link_b = sac_node_link(b, 0);
    try_points(s, 0, 0);
    if (link_a & link_b & SAC_LINK_LEAF)
        s->floor = lower;
    else
        heap_push(s, (sac_distance_entry){lower, link_a, link_b});
    settle(s);
    return SAC_OK;
}

uint64_t sac_distance_step(sac_distance *s, uint64_t credits)
{
    if (!s) return 0;
    const uint64_t begun = s->tests;
    const uint32_t worst = s->a->blocks_per_node * s->b->blocks_per_node * SAC_LANES * SAC_LANES;
    while (!s->done && s->tests - begun + worst <= credits) {
        sac_distance_entry top = heap_pop(s);
        if (s->count + worst <= SAC_DISTANCE_ENTRIES)
            open_pair(s, top);
        else if (top.lower < s->floor)
            s->floor = top.lower; /* no room: it stays a bound */
        settle(s);
    }
    return s->tests - begun;
}
