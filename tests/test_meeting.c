/* Meetings of two trees against brute force over all leaf pairs, and the contacts chosen from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "spheretree/meeting_internal.h"
#include "tests/random_tree.h"
#include "tests/tree_garden.h"

/* ---- brute force ---- */

typedef struct chains {
    uint32_t leaf_count;
    uint32_t *leaf, *depth;
    uint32_t (*up)[SAC_TREE_MOST_DEPTH + 1]; /* of each leaf: its ancestor on each level, itself below */
} chains;

static chains chains_of(const sac_tree *tree)
{
    chains c = {0};
    c.leaf = malloc(tree->leaf_count * sizeof *c.leaf);
    c.depth = malloc(tree->leaf_count * sizeof *c.depth);
    c.up = malloc(tree->leaf_count * sizeof *c.up);
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
        uint32_t n = c.leaf_count++;
        c.leaf[n] = id;
        c.depth[n] = node.level;
        for (uint32_t level = 0; level <= SAC_TREE_MOST_DEPTH; level++) c.up[n][level] = id;
        for (uint32_t at = id, level = node.level; level > 0;) {
            at = tree->parents[at / SAC_LANES];
            c.up[n][--level] = at;
        }
    }
    return c;
}

static void chains_fini(chains *c) { free(c->leaf), free(c->depth), free(c->up); }

typedef struct id_pair {
    uint32_t a, b;
} id_pair;

static int by_ids(const void *x, const void *y)
{
    const id_pair *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* Not farther apart than the margin, written out anew. */
static bool within(const sac_meeting *m, uint32_t a, uint32_t b)
{
    const sac_sphere_block *p = &m->a->tree->spheres[a / 8], *q = &m->b->tree->spheres[b / 8];
    uint32_t i = a % 8, k = b % 8;
    float x = q->x[k], y = q->y[k], z = q->z[k], dd[3];
    float r = p->r[i] + (q->r[k] * m->scale + m->margin / m->pose_a->scale);
    float centre[3] = {p->x[i], p->y[i], p->z[i]};
    for (int j = 0; j < 3; j++)
        dd[j] = ((x * m->m[j][0] + y * m->m[j][1]) + (z * m->m[j][2] + m->m[j][3])) - centre[j];
    return (dd[0] * dd[0] + dd[1] * dd[1]) + dd[2] * dd[2] <= r * r;
}

typedef struct scene {
    sac_tree *tree_a, *tree_b;
    sac_form a, b;
    chains chains_a, chains_b;
    sac_transform pose_a, pose_b;
    sac_meeting meeting;
    id_pair *pairs; /* indices of leaves that meet */
    size_t count;
} scene;

static sac_tree *any_tree(sac_rng *rng)
{
    static const uint32_t deepest[] = {0, 0, 6, 4, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    garden_def def = {.seed = sac_rng_next(rng)};
    def.shape = (garden_shape)sac_rng_below(rng, GARDEN_SHAPE_COUNT);
    def.branch = 2 + sac_rng_below(rng, 15);
    def.depth = sac_rng_below(rng, deepest[def.branch] + 1);
    def.nested = sac_rng_below(rng, 2);
    def.uneven = sac_rng_below(rng, 2) ? 0.15f : 0;
    def.points_per_leaf = 4;
    sac_tree *tree = garden_grow(&def);
    assert_non_null(tree);
    return tree;
}

static void brute_force(scene *s)
{
    size_t capacity = 64;
    s->pairs = malloc(capacity * sizeof *s->pairs);
    s->count = 0;
    for (uint32_t i = 0; i < s->chains_a.leaf_count; i++)
        for (uint32_t k = 0; k < s->chains_b.leaf_count; k++) {
            uint32_t deepest =
                s->chains_a.depth[i] > s->chains_b.depth[k] ? s->chains_a.depth[i] : s->chains_b.depth[k];
            bool all = true;
            for (uint32_t level = 0; level <= deepest && all; level++)
                all = within(&s->meeting, s->chains_a.up[i][level], s->chains_b.up[k][level]);
            if (!all) continue;
            if (s->count == capacity) s->pairs = realloc(s->pairs, (capacity *= 2) * sizeof *s->pairs);
            s->pairs[s->count++] = (id_pair){i, k};
        }
}

/* Two random trees, near enough to meet more often than not. Returns what begin said. */
static bool scene_init(scene *s, sac_rng *rng, float margin, sac_pairs *root)
{
    s->tree_a = any_tree(rng);
    s->tree_b = any_tree(rng);
    assert_int_equal(sac_form_from_tree(&s->a, s->tree_a, NULL), SAC_OK);
    assert_int_equal(sac_form_from_tree(&s->b, s->tree_b, NULL), SAC_OK);
    s->chains_a = chains_of(s->tree_a);
    s->chains_b = chains_of(s->tree_b);
    s->pose_a = garden_pose(rng, sac_rng_range(rng, 0, 1));
    s->pose_b = garden_pose(rng, sac_rng_range(rng, 0, 2));
    bool begun = sac_meeting_begin(&s->meeting, &s->a, &s->pose_a, &s->b, &s->pose_b, margin, root);
    if (!begun) s->meeting.scale = sac_transform_between(&s->pose_a, &s->pose_b, s->meeting.m);
    brute_force(s);
    return begun;
}

static void scene_fini(scene *s)
{
    chains_fini(&s->chains_a);
    chains_fini(&s->chains_b);
    sac_tree_destroy(&s->tree_a);
    sac_tree_destroy(&s->tree_b);
    free(s->pairs);
}

/* ---- lists ---- */

static sac_pairs pairs_of(uint32_t room)
{
    sac_pairs p = {calloc(room + SAC_PAIRS_SLACK, 4), calloc(room + SAC_PAIRS_SLACK, 4), 0, room};
    return p;
}

static void pairs_free(sac_pairs *p) { free(p->a), free(p->b); }

static void add_ids(id_pair *have, size_t *n, const scene *s, const sac_pairs *p, uint32_t from, bool links)
{
    for (uint32_t i = from; i < p->count; i++)
        have[(*n)++] = (id_pair){links ? sac_link_node(s->tree_a, p->a[i]) : p->a[i],
                                 links ? sac_link_node(s->tree_b, p->b[i]) : p->b[i]};
}

/* Every pair of leaves that meets has itself or a pair of ancestors in what stands. */
static bool covers(const scene *s, const sac_pairs *front, uint32_t used, const sac_pairs *next,
                   const sac_pairs *done)
{
    size_t n = 0;
    id_pair *have = malloc((front->count + next->count + done->count + 1) * sizeof *have);
    add_ids(have, &n, s, front, used, true);
    add_ids(have, &n, s, next, 0, true);
    add_ids(have, &n, s, done, 0, false);
    qsort(have, n, sizeof *have, by_ids);
    bool all = true;
    for (size_t i = 0; i < s->count && all; i++) {
        bool found = false;
        for (uint32_t level = 0; level <= SAC_TREE_MOST_DEPTH && !found; level++) {
            id_pair key = {s->chains_a.up[s->pairs[i].a][level], s->chains_b.up[s->pairs[i].b][level]};
            found = bsearch(&key, have, n, sizeof *have, by_ids) != NULL;
        }
        all = found;
    }
    free(have);
    return all;
}

enum { ROOM = 1 << 16 };

typedef struct lists {
    sac_workspace *workspace;
    sac_pairs front, next, done;
} lists;

static lists lists_of(uint32_t room)
{
    lists l = {NULL, pairs_of(room), pairs_of(room), pairs_of(room)};
    assert_int_equal(sac_workspace_create(&l.workspace, NULL), SAC_OK);
    return l;
}

static void lists_free(lists *l)
{
    pairs_free(&l->front), pairs_free(&l->next), pairs_free(&l->done);
    sac_workspace_destroy(&l->workspace);
    assert_null(l->workspace);
}

/* Opens the whole meeting, `credits` at a time; the front is empty at the end. */
static uint64_t open_all(lists *l, const scene *s, uint64_t credits, bool check)
{
    uint64_t tests = 0;
    l->done.count = 0;
    for (uint32_t level = 0; l->front.count; level++) {
        uint32_t used = 0;
        l->next.count = 0;
        while (used < l->front.count) {
            sac_pairs rest = {l->front.a + used, l->front.b + used, l->front.count - used, 0};
            sac_opened o =
                sac_meeting_open(l->workspace, &s->meeting, level, &rest, credits, &l->next, &l->done);
            assert_true(o.used > 0);
            assert_true(credits > UINT64_MAX / 2 || o.tests < credits + 4 * 64 + 16);
            used += o.used;
            tests += o.tests;
            if (check) assert_true(covers(s, &l->front, used, &l->next, &l->done));
        }
        sac_pairs old = l->front;
        l->front = l->next;
        l->next = old;
    }
    return tests;
}

static void test_all_leaf_pairs_are_found(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(11);
    lists l = lists_of(ROOM);
    uint32_t met = 0, more = 0;
    for (int round = 0; round < 200; round++) {
        scene s;
        float margin = round % 3 == 0 ? 0 : sac_rng_range(&rng, 0, 0.2f);
        bool begun = scene_init(&s, &rng, margin, &l.front);
        assert_int_equal(l.front.count, begun);
        if (begun) open_all(&l, &s, round % 2 ? UINT64_MAX : 1 + sac_rng_below(&rng, 2000), s.count < 4000);
        assert_int_equal(begun ? l.done.count : 0, s.count);
        id_pair *found = malloc((s.count + 1) * sizeof *found), *want = malloc((s.count + 1) * sizeof *want);
        for (size_t i = 0; i < s.count; i++) {
            found[i] = (id_pair){l.done.a[i], l.done.b[i]};
            want[i] = (id_pair){s.chains_a.leaf[s.pairs[i].a], s.chains_b.leaf[s.pairs[i].b]};
        }
        qsort(found, s.count, sizeof *found, by_ids);
        qsort(want, s.count, sizeof *want, by_ids);
        assert_memory_equal(found, want, s.count * sizeof *found);
        met += s.count > 0;
        /* A margin is not idle: without it fewer meet. */
        sac_meeting bare = s.meeting;
        bare.margin = 0;
        for (size_t i = 0; i < s.count; i++) more += !within(&bare, want[i].a, want[i].b);
        free(found), free(want);
        scene_fini(&s);
    }
    assert_in_range(met, 70, 190);
    assert_true(more > 100);
    lists_free(&l);
}

static void test_begin_rejects_only_what_is_apart(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(5);
    sac_pairs root = pairs_of(1);
    /* One about its origin, one far off it. */
    sac_tree *trees[2] = {any_tree(&rng), random_tree(5, 4, 2, true)};
    sac_form forms[2];
    for (int i = 0; i < 2; i++) assert_int_equal(sac_form_from_tree(&forms[i], trees[i], NULL), SAC_OK);
    for (int round = 0; round < 2000; round++) {
        sac_transform a = garden_pose(&rng, 0), b = garden_pose(&rng, 1);
        const sac_form form = forms[round / 2 % 2];
        float far = round % 2 ? 1e5f : 0, ca[3], cb[3];
        for (int i = 0; i < 3; i++) a.translation[i] = far * (float)(i + 1);
        sac_transform near_origin = a;
        memset(near_origin.translation, 0, sizeof near_origin.translation);
        sac_transform_point(&near_origin, form.ball, ca);
        near_origin = b;
        memset(near_origin.translation, 0, sizeof near_origin.translation);
        sac_transform_point(&near_origin, form.ball, cb);
        float margin = sac_rng_range(&rng, 0, 0.1f), way[3];
        float touching = form.ball[3] * (a.scale + b.scale) + margin;
        /* Well inside, well outside: between them rounding decides. */
        bool inside = sac_rng_below(&rng, 2);
        float reach = touching * (inside ? 0.98f : 1.02f);
        sac_rng_unit_vector(&rng, way);
        for (int i = 0; i < 3; i++) b.translation[i] = a.translation[i] + ca[i] - cb[i] + way[i] * reach;
        sac_meeting m;
        assert_int_equal(sac_meeting_begin(&m, &form, &a, &form, &b, margin, &root), inside);
        assert_int_equal(root.count, inside);
    }
    sac_tree_destroy(&trees[0]);
    sac_tree_destroy(&trees[1]);
    pairs_free(&root);
}

/* Lists so small that they fill up: nothing is lost, and what was not opened stands. */
static void test_small_rooms_lose_nothing(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(21);
    uint32_t stopped = 0;
    for (int round = 0; round < 60; round++) {
        uint32_t room = sac_rng_below(&rng, 200);
        sac_pairs front = pairs_of(ROOM), next = pairs_of(room), done = pairs_of(room / 2);
        lists l = {.front = front};
        assert_int_equal(sac_workspace_create(&l.workspace, NULL), SAC_OK);
        scene s;
        bool begun = scene_init(&s, &rng, 0.05f, &front);
        for (uint32_t level = 0; begun && front.count && s.count < 4000; level++) {
            sac_opened o = sac_meeting_open(l.workspace, &s.meeting, level, &front, UINT64_MAX, &next, &done);
            assert_true(o.used <= front.count && next.count <= next.room && done.count <= done.room);
            assert_true(covers(&s, &front, o.used, &next, &done));
            if (o.used < front.count) {
                stopped++;
                break;
            }
            front.count = next.count;
            memcpy(front.a, next.a, next.count * sizeof *next.a);
            memcpy(front.b, next.b, next.count * sizeof *next.b);
            next.count = 0;
        }
        scene_fini(&s);
        sac_workspace_destroy(&l.workspace);
        pairs_free(&front), pairs_free(&next), pairs_free(&done);
    }
    assert_true(stopped > 10);
}

/* ---- contacts ---- */

static float depth_of(const scene *s, uint32_t a, uint32_t b)
{
    sac_tree_node_info p, q;
    assert_true(sac_tree_node(s->tree_a, a, &p) && sac_tree_node(s->tree_b, b, &q));
    double d2 = 0;
    for (int i = 0; i < 3; i++) {
        double x = (double)s->meeting.m[i][0] * q.centre[0] + (double)s->meeting.m[i][1] * q.centre[1] +
                   (double)s->meeting.m[i][2] * q.centre[2] + s->meeting.m[i][3] - p.centre[i];
        d2 += x * x;
    }
    return (float)((p.radius + (double)q.radius * s->meeting.scale - sqrt(d2)) * s->pose_a.scale);
}

static void check_contact(const scene *s, const sac_contact *c)
{
    float length = glm_vec3_norm((float *)c->normal);
    assert_true(fabsf(length - 1) < 1e-4f);
    assert_true(fabsf(c->depth - depth_of(s, c->node_a, c->node_b)) < 1e-4f);
    assert_true(c->depth >= -s->meeting.margin * 1.001f - 1e-5f);
    sac_tree_node_info a, b;
    sac_tree_node(s->tree_a, c->node_a, &a);
    sac_tree_node(s->tree_b, c->node_b, &b);
    float gaps = a.gap * s->pose_a.scale + b.gap * s->pose_b.scale;
    assert_true(fabsf(c->uncertainty - gaps) < 1e-4f * (1 + gaps));
    /* The point is in both spheres, or between them. */
    float slack = fmaxf(0, -c->depth) + 1e-4f, centre[3];
    sac_transform_point(&s->pose_a, a.centre, centre);
    assert_true(glm_vec3_distance(centre, (float *)c->point) <= a.radius * s->pose_a.scale + slack);
    sac_transform_point(&s->pose_b, b.centre, centre);
    assert_true(glm_vec3_distance(centre, (float *)c->point) <= b.radius * s->pose_b.scale + slack);
    /* Refreshing the same nodes says the same. */
    sac_contact again;
    bool holds = sac_meeting_refresh(&s->meeting, c->node_a, c->node_b, &again);
    assert_true(holds || c->depth <= -s->meeting.margin);
    again.final = c->final;
    assert_memory_equal(again.point, c->point, sizeof c->point);
    assert_memory_equal(again.normal, c->normal, sizeof c->normal);
    assert_true(again.depth == c->depth && again.uncertainty == c->uncertainty);
}

static void test_contacts_hold_the_deepest(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(31);
    lists l = lists_of(ROOM);
    uint32_t read = 0, full = 0;
    for (int round = 0; round < 80; round++) {
        scene s;
        if (scene_init(&s, &rng, round % 2 ? 0.1f : 0, &l.front)) {
            sac_contact contacts[SAC_CONTACT_MOST];
            uint64_t tests = 0;
            uint32_t stop = 1 + sac_rng_below(&rng, 5), level = 0;
            l.done.count = l.next.count = 0;
            /* At the roots, one contact, not final unless they are leaves. */
            assert_int_equal(sac_meeting_contacts(&s.meeting, &l.front, NULL, 4, contacts, NULL), 1);
            assert_int_equal(contacts[0].node_a | contacts[0].node_b, 0);
            check_contact(&s, &contacts[0]);
            for (; level < stop && l.front.count; level++) {
                l.next.count = 0;
                sac_meeting_open(l.workspace, &s.meeting, level, &l.front, UINT64_MAX, &l.next, &l.done);
                sac_pairs old = l.front;
                l.front = l.next, l.next = old;
            }
            uint32_t most = 1 + sac_rng_below(&rng, SAC_CONTACT_MOST);
            uint32_t n = sac_meeting_contacts(&s.meeting, &l.front, &l.done, most, contacts, &tests);
            assert_true(n <= most && (n > 0) == (l.front.count + l.done.count > 0) && (tests > 0) == (n > 0));
            float deepest = -INFINITY;
            for (uint32_t i = 0; i < l.front.count; i++)
                deepest = fmaxf(deepest, depth_of(&s, sac_link_node(s.tree_a, l.front.a[i]),
                                                  sac_link_node(s.tree_b, l.front.b[i])));
            for (uint32_t i = 0; i < l.done.count; i++)
                deepest = fmaxf(deepest, depth_of(&s, l.done.a[i], l.done.b[i]));
            for (uint32_t i = 0; i < n; i++) {
                check_contact(&s, &contacts[i]);
                for (uint32_t k = 0; k < i; k++)
                    assert_false(contacts[i].node_a == contacts[k].node_a &&
                                 contacts[i].node_b == contacts[k].node_b);
            }
            if (n) assert_true(fabsf(contacts[0].depth - deepest) < 1e-5f * (1 + fabsf(deepest)));
            read += n > 0;
            full += n == most;
            assert_int_equal(sac_meeting_contacts(&s.meeting, NULL, NULL, 4, contacts, NULL), 0);
        }
        scene_fini(&s);
    }
    assert_true(read > 25 && full > 15);
    lists_free(&l);
}

static void add_touch(sac_touch_list *list, float depth, float x, float y, float nz, uint32_t id)
{
    sac_touch_push(list, depth, (float[3]){x, y, 0}, (float[3]){0, 0, nz}, id, id, true);
}

/* A square of touches with a fifth in the middle, pushed in any order: the deepest and then the corners. */
static void test_spread_over_a_face(void **state)
{
    (void)state;
    static sac_touch_list list;
    sac_rng rng = sac_rng_seed(3);
    for (int round = 0; round < 50; round++) {
        list = (sac_touch_list){.size = 1, .margin = 0.01f};
        uint32_t order[81], chosen[4];
        for (uint32_t i = 0; i < 81; i++) order[i] = i;
        for (uint32_t i = 80; i > 0; i--) {
            uint32_t k = sac_rng_below(&rng, i + 1), o = order[i];
            order[i] = order[k], order[k] = o;
        }
        for (uint32_t i = 0; i < 81; i++) {
            float x = (float)(order[i] % 9) / 8 - 0.5f, y = (float)(order[i] / 9) / 8 - 0.5f;
            add_touch(&list, order[i] == 0 ? 0.011f : 0.01f, x, y, 1, order[i]);
        }
        assert_int_equal(sac_touch_choose(&list, 4, chosen), 4);
        assert_int_equal(list.a[chosen[0]], 0);
        assert_int_equal(list.a[chosen[1]], 80);
        assert_int_equal(list.a[chosen[2]], 8); /* ties by number */
        assert_int_equal(list.a[chosen[3]], 72);
    }
}

static void test_opposite_sides_are_kept(void **state)
{
    (void)state;
    static sac_touch_list list = {.size = 1, .margin = 0};
    uint32_t chosen[4];
    for (uint32_t i = 0; i < 20; i++) add_touch(&list, 0.02f, 0.01f * (float)i, 0, 1, i);
    add_touch(&list, 0.01f, 0.1f, 0, -1, 20);
    assert_int_equal(sac_touch_choose(&list, 2, chosen), 2);
    assert_int_equal(list.a[chosen[0]], 0);
    assert_int_equal(list.a[chosen[1]], 20);
}

static void test_apart_ones_come_last(void **state)
{
    (void)state;
    static sac_touch_list list = {.size = 1, .margin = 0.05f};
    uint32_t chosen[4];
    add_touch(&list, 0.01f, 0, 0, 1, 7);
    add_touch(&list, 0.01f, 0.3f, 0, 1, 6);
    add_touch(&list, -0.01f, 1, 0, 1, 5);
    add_touch(&list, -0.2f, 9, 9, 1, 4);      /* farther than the margin */
    add_touch(&list, 0.01f, 0.001f, 0, 1, 3); /* as good as the first */
    assert_int_equal(sac_touch_choose(&list, 2, chosen), 2);
    assert_int_equal(list.a[chosen[0]], 3);
    assert_int_equal(list.a[chosen[1]], 6);
    assert_int_equal(sac_touch_choose(&list, 4, chosen), 3);
    assert_int_equal(list.a[chosen[2]], 5);
    /* None at all when nothing is within the margin. */
    list.count = 0;
    add_touch(&list, -0.2f, 9, 9, 1, 4);
    assert_int_equal(sac_touch_choose(&list, 4, chosen), 0);
}

/* More touches than the list holds: the deepest is kept whenever it comes. */
static void test_long_lists_are_thinned(void **state)
{
    (void)state;
    static sac_touch_list list;
    sac_rng rng = sac_rng_seed(8);
    for (int round = 0; round < 20; round++) {
        list = (sac_touch_list){.size = 1, .margin = 0};
        uint32_t count = 600 + sac_rng_below(&rng, 4000), deepest = sac_rng_below(&rng, count), chosen[4];
        for (uint32_t i = 0; i < count; i++)
            add_touch(&list, i == deepest ? 1 : 0.5f, sac_rng_range(&rng, -1, 1), sac_rng_range(&rng, -1, 1),
                      1, i);
        assert_int_equal(sac_touch_choose(&list, 4, chosen), 4);
        assert_int_equal(list.a[chosen[0]], deepest);
        /* Well spread: no two within half the face. */
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < i; k++) {
                float x = list.x[chosen[i]] - list.x[chosen[k]], y = list.y[chosen[i]] - list.y[chosen[k]];
                assert_true(x * x + y * y > 0.5f);
            }
    }
}

/* ---- SIMD paths ---- */

static void test_same_bits_on_all_paths(void **state)
{
    (void)state;
    const sac_simd usual = sac_simd_active();
    for (int round = 0; round < 20; round++) {
        uint32_t first_count = 0, found = 0;
        uint64_t first_tests = 0;
        sac_contact first[SAC_CONTACT_MOST];
        uint32_t *ids = NULL;
        for (int path = 0; path < SAC_SIMD_COUNT; path++) {
            if (!sac_simd_supported((sac_simd)path)) continue;
            assert_int_equal(sac_simd_force((sac_simd)path, NULL), SAC_OK);
            sac_rng rng = sac_rng_seed(100 + (uint64_t)round);
            lists l = lists_of(ROOM);
            scene s;
            sac_contact contacts[SAC_CONTACT_MOST] = {0};
            uint64_t tests = 0;
            uint32_t count = 0;
            l.done.count = 0;
            if (scene_init(&s, &rng, 0.03f, &l.front)) {
                tests = open_all(&l, &s, 700, false);
                count = sac_meeting_contacts(&s.meeting, NULL, &l.done, 4, contacts, &tests);
            }
            if (path == 0) {
                first_count = count, first_tests = tests, found = l.done.count;
                memcpy(first, contacts, sizeof first);
                ids = malloc(found * 8 + 8);
                memcpy(ids, l.done.a, found * 4);
                memcpy(ids + found, l.done.b, found * 4);
            }
            assert_int_equal(count, first_count);
            assert_int_equal(tests, first_tests);
            assert_int_equal(l.done.count, found);
            assert_memory_equal(l.done.a, ids, found * 4);
            assert_memory_equal(l.done.b, ids + found, found * 4);
            for (uint32_t i = 0; i < count; i++) {
                assert_memory_equal(contacts[i].point, first[i].point, sizeof first[i].point);
                assert_memory_equal(contacts[i].normal, first[i].normal, sizeof first[i].normal);
                assert_true(contacts[i].depth == first[i].depth && contacts[i].node_a == first[i].node_a &&
                            contacts[i].node_b == first[i].node_b);
            }
            scene_fini(&s);
            lists_free(&l);
        }
        free(ids);
    }
    sac_simd_force(usual, NULL);
}

/* ---- forms of trees ---- */

static void test_form_of_a_tree(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(77);
    sac_error error;
    sac_form form = {.levels = 99};
    assert_int_equal(sac_form_from_tree(&form, NULL, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(form.levels, 99);
    for (int round = 0; round < 20; round++) {
        sac_tree *tree = any_tree(&rng);
        assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
        assert_int_equal(form.kind, SAC_FORM_TREE);
        assert_int_equal(form.levels, tree->depth);
        assert_true(form.thickness >= 1e-3f * form.ball[3]);
        for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
            sac_tree_node_info n;
            if (!sac_tree_node(tree, id, &n)) continue;
            for (uint32_t level = n.level; level <= (n.leaf ? SAC_TREE_MOST_DEPTH : n.level); level++)
                assert_true(form.level_gap[level] >= n.gap);
            if (!n.leaf) continue;
            for (int i = 0; i < 3; i++)
                assert_true(form.box.low[i] <= n.centre[i] - n.radius &&
                            form.box.high[i] >= n.centre[i] + n.radius);
        }
        sac_tree_destroy(&tree);
    }
    /* Given spheres are solid to their surface. */
    const float spheres[5][4] = {
        {0, 0, 0, 0.2f}, {1, 0, 0, 0.1f}, {0, 1, 0, 0.3f}, {0, 0, 1, 0.1f}, {1, 1, 1, 0}};
    sac_build_def def = sac_default_build_def();
    sac_tree *tree;
    assert_int_equal(sac_tree_build_spheres(spheres, 5, &def, &tree, NULL), SAC_OK);
    assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
    assert_true(form.thickness == 0.3f && form.level_gap[SAC_TREE_MOST_DEPTH] == 0);
    sac_tree_destroy(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_leaf_pairs_are_found),
        cmocka_unit_test(test_begin_rejects_only_what_is_apart),
        cmocka_unit_test(test_small_rooms_lose_nothing),
        cmocka_unit_test(test_contacts_hold_the_deepest),
        cmocka_unit_test(test_spread_over_a_face),
        cmocka_unit_test(test_opposite_sides_are_kept),
        cmocka_unit_test(test_apart_ones_come_last),
        cmocka_unit_test(test_long_lists_are_thinned),
        cmocka_unit_test(test_same_bits_on_all_paths),
        cmocka_unit_test(test_form_of_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
