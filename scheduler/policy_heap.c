/* Policies with an exact order: sort, distance and probability. A binary heap holds it; the entry at its top
 * is worked on, and sinks to its new place afterwards, in O(log n). */
#include <float.h>

#include "scheduler/agenda_internal.h"

static bool before(const sac_heap_item *a, const sac_heap_item *b)
{
    return a->key > b->key || (a->key == b->key && a->tag < b->tag);
}

static void sink(sac_agenda_private *own, uint32_t at)
{
    sac_heap_item *heap = own->heap, item = heap[at];
    uint32_t count = own->heap_count;
    for (uint32_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &item)) break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void heap_of(sac_agenda *agenda, float (*key)(sac_agenda *agenda, uint32_t i))
{
    sac_agenda_private *own = agenda->own;
    for (uint32_t i = 0; i < agenda->count; i++)
        own->heap[i] = (sac_heap_item){key(agenda, i), agenda->tag[i], i};
    own->heap_count = agenda->count;
    for (uint32_t i = agenda->count / 2; i > 0; i--) sink(own, i - 1);
}

static uint32_t top(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    while (own->heap_count) {
        if (!sac_agenda_settled(agenda, own->heap[0].entry)) return own->heap[0].entry;
        own->heap[0] = own->heap[--own->heap_count];
        if (own->heap_count) sink(own, 0);
    }
    return SAC_NOBODY;
}

static void weigh_top(sac_agenda *agenda, uint32_t entry, float key)
{
    sac_agenda_private *own = agenda->own;
    if (sac_agenda_settled(agenda, entry)) return; /* `top` drops it */
    own->heap[0].key = key;
    sink(own, 0);
}

/* ---- sort ---- */

static float priority_of(sac_agenda *agenda, uint32_t i)
{
    return agenda->flags[i] & SAC_AGENDA_TOP ? FLT_MAX : agenda->priority[i];
}
static void begin_sort(sac_agenda *agenda) { heap_of(agenda, priority_of); }
static void after_sort(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    (void)credits;
    weigh_top(agenda, entry, priority_of(agenda, entry));
}
const sac_policy sac_policy_sort = {.name = "sort", .begin = begin_sort, .next = top, .refined = after_sort};

/* ---- distance ---- */

static float nearness(sac_agenda *agenda, uint32_t i)
{
    const sac_focus *focus = &agenda->own->focus;
    float nearest = -FLT_MAX;
    for (uint32_t k = 0; k < focus->eye_count; k++) {
        const float *p =
            k < SAC_VIEWER_OWN_EYES ? focus->eyes[k].position : focus->more[k - SAC_VIEWER_OWN_EYES].position;
        float x = agenda->x[i] - p[0], y = agenda->y[i] - p[1], z = agenda->z[i] - p[2];
        float near = -((x * x + y * y) + z * z);
        if (near > nearest) nearest = near;
    }
    return focus->eye_count ? nearest : 0;
}
static void begin_distance(sac_agenda *agenda) { heap_of(agenda, nearness); }
static void after_distance(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    (void)agenda, (void)entry, (void)credits; /* it stays on top until it is settled */
}
const sac_policy sac_policy_distance = {
    .name = "distance", .begin = begin_distance, .next = top, .refined = after_distance};

/* ---- probability ---- */

/* How sure a collision is: spheres that overlap by `depth` hold surfaces that may be `uncertainty` less deep.
 * 0 when they only touch, towards 1 when the overlap is much larger than the doubt. */
static float chance(float depth, float uncertainty)
{
    if (!(depth > 0)) return 0;
    return depth / (depth + uncertainty);
}

/* Before anything is opened: from the balls that hold the forms. */
static float chance_of_balls(sac_agenda *agenda, uint32_t i)
{
    const sac_form *a = agenda->form_a[i], *b = agenda->form_b[i];
    float centre_a[3], centre_b[3], ra = a->ball[3] * agenda->pose_a[i]->scale,
                                    rb = b->ball[3] * agenda->pose_b[i]->scale;
    sac_transform_point(agenda->pose_a[i], a->ball, centre_a);
    sac_transform_point(agenda->pose_b[i], b->ball, centre_b);
    float x = centre_a[0] - centre_b[0], y = centre_a[1] - centre_b[1], z = centre_a[2] - centre_b[2];
    float depth = ra + rb - sqrtf((x * x + y * y) + z * z), gap = sac_agenda_gap(agenda, i, 0);
    /* A ball without end says nothing of how deep the other is in it. */
    if (!(depth < 2 * (ra < rb ? ra : rb))) depth = 2 * (ra < rb ? ra : rb);
    return chance(depth, gap > 0 ? gap : 1e-6f);
}

/* Of a front: its deepest contact, out of as many pairs as can be looked at for the price of a small level.
 */
static void after_probability(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    (void)credits;
    if (sac_agenda_settled(agenda, entry)) return;
    enum { SAMPLE = 32 };
    sac_pairs pending, done;
    sac_contact deepest;
    uint64_t tests = 0;
    sac_agenda_front(agenda, entry, &pending, &done);
    if (pending.count > SAMPLE) pending.count = SAMPLE;
    if (done.count > SAMPLE) done.count = SAMPLE;
    uint32_t found = sac_meeting_contacts(&agenda->meetings[entry], &pending, &done, 1, &deepest, &tests);
    *agenda->own->extra_credits += tests;
    float gap = sac_agenda_gap(agenda, entry, agenda->level[entry]);
    weigh_top(agenda, entry, found ? chance(deepest.depth, gap) : 0);
}
static void begin_probability(sac_agenda *agenda) { heap_of(agenda, chance_of_balls); }
const sac_policy sac_policy_probability = {
    .name = "probability", .begin = begin_probability, .next = top, .refined = after_probability};
