/* Primitives: their numbers, their distance fields, and how they meet trees and each other, against samples
 * and brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "spheretree/field_internal.h"
#include "spheretree/meeting_internal.h"
#include "tests/tree_garden.h"

#define ROOM 60000u

typedef struct pair_store {
    uint32_t a[ROOM + SAC_PAIRS_SLACK], b[ROOM + SAC_PAIRS_SLACK];
} pair_store;
static pair_store store[3];

static sac_pairs list(int k) { return (sac_pairs){store[k].a, store[k].b, 0, ROOM}; }

static sac_form random_form(sac_rng *rng, sac_form_kind kind)
{
    sac_form form;
    float half[3], normal[3];
    for (int i = 0; i < 3; i++) half[i] = sac_rng_range(rng, 0.1f, 0.8f);
    sac_rng_unit_vector(rng, normal);
    sac_result result = SAC_ERROR_ARGUMENT;
    if (kind == SAC_FORM_SPHERE) result = sac_form_sphere(&form, half[0], NULL);
    if (kind == SAC_FORM_CAPSULE) result = sac_form_capsule(&form, half[0], half[1], NULL);
    if (kind == SAC_FORM_BOX) result = sac_form_box(&form, half, NULL);
    if (kind == SAC_FORM_PLANE) result = sac_form_plane(&form, normal, sac_rng_range(rng, -1, 1), NULL);
    assert_int_equal(result, SAC_OK);
    return form;
}

static float distance_to(const sac_form *form, const sac_transform *pose, const float p[3])
{
    return sac_form_distance(form, pose, p, FLT_MAX, NULL, NULL);
}

/* A point of the form, anywhere in it; planes near the origin. */
static void point_inside(sac_rng *rng, const sac_form *form, const sac_transform *pose, float out[3])
{
    for (;;) {
        float p[3], n[3];
        sac_solid solid = sac_solid_of(form, 1);
        for (int i = 0; i < 3; i++)
            p[i] = form->kind == SAC_FORM_PLANE ? sac_rng_range(rng, -3, 3)
                                                : sac_rng_range(rng, form->box.low[i], form->box.high[i]);
        if (sac_solid_distance(&solid, p, n) > 0) continue;
        sac_transform_point(pose, p, out);
        return;
    }
}

/* ---- numbers ---- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    const float bad[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-7f, 1e7f};
    sac_form form, before;
    memset(&form, 7, sizeof form);
    before = form;
    sac_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sac_form_sphere(&form, bad[i], &error), SAC_ERROR_ARGUMENT);
        assert_true(error.message[0] != 0);
        assert_int_equal(sac_form_capsule(&form, bad[i], 1, NULL), SAC_ERROR_ARGUMENT);
        if (bad[i] != 0 && bad[i] != 1e-7f)
            assert_int_equal(sac_form_capsule(&form, 1, bad[i], NULL), SAC_ERROR_ARGUMENT);
        for (int k = 0; k < 3; k++) {
            float half[3] = {1, 1, 1};
            half[k] = bad[i];
            assert_int_equal(sac_form_box(&form, half, NULL), SAC_ERROR_ARGUMENT);
        }
    }
    assert_int_equal(sac_form_plane(&form, (float[3]){0, 0, 0}, 0, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_form_plane(&form, (float[3]){0, NAN, 0}, 0, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_form_plane(&form, (float[3]){0, 1, 0}, NAN, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_form_from_terrain(&form, NULL, NULL), SAC_ERROR_ARGUMENT);
    assert_memory_equal(&form, &before, sizeof form);
    assert_int_equal(sac_form_plane(&form, (float[3]){0, 2, 0}, 4, NULL), SAC_OK);
    assert_true(form.normal[1] == 1 && form.offset == 2);
}

static void masses_are_those_of_the_points_inside(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(3);
    for (int kind = SAC_FORM_SPHERE; kind <= SAC_FORM_BOX; kind++) {
        sac_form form = random_form(&rng, (sac_form_kind)kind);
        sac_solid solid = sac_solid_of(&form, 1);
        const int n = 60;
        double volume = 0, inertia[3] = {0}, cell = 1;
        for (int i = 0; i < 3; i++) cell *= (form.box.high[i] - form.box.low[i]) / n;
        for (int x = 0; x < n; x++)
            for (int y = 0; y < n; y++)
                for (int z = 0; z < n; z++) {
                    int at[3] = {x, y, z};
                    float p[3], normal[3];
                    for (int i = 0; i < 3; i++)
                        p[i] = form.box.low[i] +
                               (form.box.high[i] - form.box.low[i]) * ((float)at[i] + 0.5f) / (float)n;
                    if (sac_solid_distance(&solid, p, normal) > 0) continue;
                    volume += cell;
                    for (int i = 0; i < 3; i++)
                        inertia[i] +=
                            cell * (p[(i + 1) % 3] * p[(i + 1) % 3] + p[(i + 2) % 3] * p[(i + 2) % 3]);
                }
        assert_true(fabs(volume / form.mass.volume - 1) < 0.01);
        for (int i = 0; i < 3; i++) assert_true(fabs(inertia[i] / form.mass.inertia[i] - 1) < 0.02);
    }
}

static void bounds_hold_the_form_and_little_more(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(4);
    for (int kind = SAC_FORM_SPHERE; kind <= SAC_FORM_BOX; kind++)
        for (int t = 0; t < 20; t++) {
            sac_form form = random_form(&rng, (sac_form_kind)kind);
            sac_transform pose = garden_pose(&rng, 3);
            sac_box box, seen = sac_box_empty();
            sac_form_bounds(&form, &pose, &box);
            for (int i = 0; i < 4000; i++) {
                float p[3];
                point_inside(&rng, &form, &pose, p);
                sac_box_add(&seen, p);
            }
            float size = sac_box_diagonal(&box);
            for (int i = 0; i < 3; i++) {
                assert_true(seen.low[i] >= box.low[i] - 1e-5f && seen.high[i] <= box.high[i] + 1e-5f);
                assert_true(seen.low[i] - box.low[i] < 0.12f * size &&
                            box.high[i] - seen.high[i] < 0.12f * size);
            }
        }
    sac_form floor;
    sac_box box;
    sac_transform pose = sac_transform_identity();
    pose.translation[1] = 2;
    assert_int_equal(sac_form_plane(&floor, (float[3]){0, 1, 0}, 0.5f, NULL), SAC_OK);
    sac_form_bounds(&floor, &pose, &box);
    assert_true(box.high[1] == 2.5f && box.low[1] == -FLT_MAX && box.high[0] == FLT_MAX);
}

static void fields_agree_with_their_slopes(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(5);
    for (int kind = SAC_FORM_SPHERE; kind <= SAC_FORM_PLANE; kind++)
        for (int t = 0; t < 400; t++) {
            sac_form form = random_form(&rng, (sac_form_kind)kind);
            sac_transform pose = garden_pose(&rng, 2);
            float p[3], closest[3], normal[3], back[3], step[3];
            for (int i = 0; i < 3; i++) p[i] = pose.translation[i] + sac_rng_range(&rng, -2, 2);
            float d = sac_form_distance(&form, &pose, p, FLT_MAX, closest, normal);
            assert_true(fabsf(glm_vec3_norm(normal) - 1) < 1e-5f);
            assert_true(fabsf(distance_to(&form, &pose, closest)) < 2e-5f);
            for (int i = 0; i < 3; i++) back[i] = closest[i] + d * normal[i];
            assert_true(glm_vec3_distance(back, p) < 2e-5f);
            /* No point inside is nearer, and moving outward gains distance at rate 1 at most. */
            for (int k = 0; k < 20; k++) {
                float q[3];
                point_inside(&rng, &form, &pose, q);
                if (d > 0) assert_true(glm_vec3_distance(q, p) > d - 1e-5f);
            }
            for (int i = 0; i < 3; i++) step[i] = p[i] + 1e-2f * normal[i];
            float gain = distance_to(&form, &pose, step) - d;
            assert_true(gain > 0.99e-2f || d < 0);
            assert_true(gain < 1.01e-2f);
            assert_true(sac_form_distance(&form, &pose, p, d - 1e-3f, NULL, NULL) == FLT_MAX || d < 0);
        }
}

static void rays_stop_where_a_march_does(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(6);
    int hits = 0;
    for (int kind = SAC_FORM_SPHERE; kind <= SAC_FORM_PLANE; kind++)
        for (int t = 0; t < 500; t++) {
            sac_form form = random_form(&rng, (sac_form_kind)kind);
            sac_transform pose = garden_pose(&rng, 2);
            float origin[3], way[3];
            sac_ray_hit hit;
            for (int i = 0; i < 3; i++) origin[i] = pose.translation[i] + sac_rng_range(&rng, -3, 3);
            sac_rng_unit_vector(&rng, way);
            float length = sac_rng_range(&rng, 0.3f, 3), most = 4 / length;
            for (int i = 0; i < 3; i++) way[i] *= length;
            assert_int_equal(sac_form_ray(&form, &pose, origin, way, most, &hit, NULL), SAC_OK);
            float at = 0, p[3];
            bool found = false;
            for (int k = 0; k < 2000 && at <= most; k++) {
                for (int i = 0; i < 3; i++) p[i] = origin[i] + at * way[i];
                float d = distance_to(&form, &pose, p);
                if (d < 1e-5f) found = true;
                if (found) break;
                at += d / length;
            }
            if (hit.hit) {
                hits++;
                assert_true(found || hit.t > most - 1e-3f || distance_to(&form, &pose, hit.point) < 1e-4f);
                if (found) assert_true(fabsf(hit.t - at) * length < 0.02f);
                assert_true(hit.t >= 0 && hit.t <= most);
                assert_true(distance_to(&form, &pose, hit.point) < 1e-4f);
                assert_true(fabsf(glm_vec3_norm(hit.normal) - 1) < 1e-5f);
            } else if (found) {
                assert_true(distance_to(&form, &pose, p) > -1e-4f); /* grazing */
            }
        }
    assert_true(hits > 300);
    sac_form form = random_form(&rng, SAC_FORM_BOX);
    sac_transform pose = sac_transform_identity();
    sac_ray_hit hit;
    assert_int_equal(sac_form_ray(&form, &pose, (float[3]){0, 0, 5}, (float[3]){0, 0, 0}, 1, &hit, NULL),
                     SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_form_ray(&form, &pose, (float[3]){0, NAN, 5}, (float[3]){0, 0, 1}, 1, &hit, NULL),
                     SAC_ERROR_ARGUMENT);
}

/* ---- trees ---- */

static sac_tree *some_tree(sac_rng *rng)
{
    garden_def def = {.points_per_leaf = 4, .seed = sac_rng_next(rng)};
    def.shape = (garden_shape)sac_rng_below(rng, GARDEN_SHAPE_COUNT);
    def.branch = 2 + sac_rng_below(rng, 15);
    def.depth = sac_rng_below(rng, 4);
    if (def.branch > 8 && def.depth > 2) def.depth = 2;
    def.uneven = sac_rng_below(rng, 2) ? 0.15f : 0;
    sac_tree *tree = garden_grow(&def);
    assert_non_null(tree);
    return tree;
}

/* Opens all there is; leaves what is found in list 2 and returns its count, or UINT32_MAX when apart. */
static uint32_t open_all(sac_workspace *w, sac_meeting *m, uint64_t credits, sac_pairs *done)
{
    sac_pairs front = list(0), next = list(1);
    *done = list(2);
    front.count = 1;
    for (uint32_t level = 0; level < m->levels && front.count; level++) {
        if (level == 0) {
            front = list(0);
            bool sees = sac_meeting_begin(m, m->a, m->pose_a, m->b, m->pose_b, m->margin, &front);
            assert_true(sees);
        }
        uint32_t used = 0;
        while (used < front.count) {
            sac_pairs rest = {front.a + used, front.b + used, front.count - used, front.count - used};
            sac_opened o = sac_meeting_open(w, m, level, &rest, credits, &next, done);
            assert_true(o.used > 0 && o.tests > 0);
            used += o.used;
        }
        uint32_t *a = front.a, *b = front.b;
        front = next;
        next = (sac_pairs){a, b, 0, ROOM};
    }
    return done->count;
}

static float node_depth(const sac_tree *tree, const sac_transform *tree_pose, uint32_t id,
                        const sac_form *form, const sac_transform *pose)
{
    sac_tree_node_info node;
    float centre[3];
    assert_true(sac_tree_node(tree, id, &node));
    sac_transform_point(tree_pose, node.centre, centre);
    return node.radius * tree_pose->scale - distance_to(form, pose, centre);
}

static void trees_touch_what_brute_force_says(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(7);
    sac_workspace *w;
    assert_int_equal(sac_workspace_create(&w, NULL), SAC_OK);
    int meetings = 0;
    for (int t = 0; t < 160; t++) {
        sac_tree *tree = some_tree(&rng);
        sac_form body, form = random_form(&rng, (sac_form_kind)(SAC_FORM_SPHERE + t % 4));
        assert_int_equal(sac_form_from_tree(&body, tree, NULL), SAC_OK);
        sac_transform pose_a = garden_pose(&rng, 1), pose_b = garden_pose(&rng, 1);
        float margin = t % 3 ? 0.02f : 0;
        sac_meeting m, back;
        sac_pairs front = list(0), done, none = {0};
        float deepest = -FLT_MAX;
        for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
            sac_tree_node_info node;
            if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
            deepest = fmaxf(deepest, node_depth(tree, &pose_a, id, &form, &pose_b));
        }
        bool touch = sac_meeting_begin(&m, &body, &pose_a, &form, &pose_b, margin, &front);
        if (!touch) {
            assert_true(deepest < -margin + 1e-4f || tree->depth > 0);
            sac_tree_destroy(&tree);
            continue;
        }
        meetings++;
        assert_int_equal(m.levels, tree->depth);
        sac_pairs root = front;
        if (m.levels) {
            open_all(w, &m, UINT64_MAX, &done);
        } else {
            done = root;
        }
        /* A leaf is found exactly when it and all above it come within the margin. */
        uint8_t *found = calloc(tree->block_count * SAC_LANES, 1);
        for (uint32_t i = 0; i < done.count; i++) found[done.a[i]]++, assert_int_equal(done.b[i], 0);
        float deepest_found = -FLT_MAX;
        for (uint32_t id = 0; m.levels && id < tree->block_count * SAC_LANES; id++) {
            sac_tree_node_info node;
            if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
            float least = INFINITY;
            for (uint32_t up = id;; up = tree->parents[up / SAC_LANES]) {
                least = fminf(least, node_depth(tree, &pose_a, up, &form, &pose_b));
                if (up < SAC_LANES) break;
            }
            if (least > -margin + 1e-4f) assert_int_equal(found[id], 1);
            if (least < -margin - 1e-4f) assert_int_equal(found[id], 0);
            if (found[id])
                deepest_found = fmaxf(deepest_found, node_depth(tree, &pose_a, id, &form, &pose_b));
        }
        free(found);
        sac_contact contacts[SAC_CONTACT_MOST], mirror[SAC_CONTACT_MOST];
        uint64_t tests = 0;
        uint32_t count = sac_meeting_contacts(&m, &none, &done, SAC_CONTACT_MOST, contacts, &tests);
        assert_true(tests > 0 || done.count == 0);
        assert_true(count <= SAC_CONTACT_MOST && (count > 0) == (done.count > 0));
        if (count && m.levels) assert_true(fabsf(contacts[0].depth - deepest_found) < 1e-4f);
        for (uint32_t i = 0; i < count; i++) {
            const sac_contact *c = &contacts[i];
            float depth = node_depth(tree, &pose_a, c->node_a, &form, &pose_b), side[3];
            assert_true(fabsf(c->depth - depth) < 1e-4f && c->depth >= -margin - 1e-4f && c->final);
            /* Half the depth from the form's surface, on the side the normal says. */
            float at_point = distance_to(&form, &pose_b, c->point);
            assert_true(at_point > -0.5f * depth - 1e-4f);
            if (depth < 0.02f) assert_true(fabsf(at_point + 0.5f * depth) < 1e-2f);
            if (depth < 0) assert_true(fabsf(at_point + 0.5f * depth) < 1e-4f);
            for (int k = 0; k < 3; k++) side[k] = c->point[k] - 1e-2f * c->normal[k];
            if (depth < 0.02f) assert_true(distance_to(&form, &pose_b, side) > at_point + 5e-3f);
            sac_contact again;
            assert_true(sac_meeting_refresh(&m, c->node_a, c->node_b, &again));
            assert_true(fabsf(again.depth - c->depth) < 1e-6f);
            assert_true(glm_vec3_distance(again.point, (float *)c->point) < 1e-6f);
            assert_true(glm_vec3_dot(again.normal, (float *)c->normal) > 0.9999f);
            assert_true(c->uncertainty >= 0);
        }
        /* The other way round it is the same with all turned about; in slices too. */
        front = list(0);
        assert_true(sac_meeting_begin(&back, &form, &pose_b, &body, &pose_a, margin, &front));
        if (back.levels)
            open_all(w, &back, 100, &done);
        else
            done = front;
        uint32_t others = sac_meeting_contacts(&back, &none, &done, SAC_CONTACT_MOST, mirror, NULL);
        assert_int_equal(others, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(mirror[i].node_b, contacts[i].node_a);
            assert_true(mirror[i].depth == contacts[i].depth);
            for (int k = 0; k < 3; k++) {
                assert_true(mirror[i].normal[k] == -contacts[i].normal[k]);
                assert_true(mirror[i].point[k] == contacts[i].point[k]);
            }
        }
        sac_tree_destroy(&tree);
    }
    assert_true(meetings > 60);
    sac_workspace_destroy(&w);
}

static void all_paths_find_the_same(void **state)
{
    (void)state;
    sac_simd before = sac_simd_active();
    uint64_t hashes[SAC_SIMD_COUNT];
    int paths = 0;
    for (int simd = 0; simd < SAC_SIMD_COUNT; simd++) {
        if (!sac_simd_supported((sac_simd)simd)) continue;
        assert_int_equal(sac_simd_force((sac_simd)simd, NULL), SAC_OK);
        sac_workspace *w;
        assert_int_equal(sac_workspace_create(&w, NULL), SAC_OK);
        sac_rng rng = sac_rng_seed(8);
        uint64_t hash = 14695981039346656037u;
        for (int t = 0; t < 60; t++) {
            sac_tree *tree = some_tree(&rng);
            sac_form body, form = random_form(&rng, (sac_form_kind)(SAC_FORM_SPHERE + t % 4));
            assert_int_equal(sac_form_from_tree(&body, tree, NULL), SAC_OK);
            sac_transform pose_a = garden_pose(&rng, 1), pose_b = garden_pose(&rng, 1);
            sac_meeting m;
            sac_pairs front = list(0), done;
            if (sac_meeting_begin(&m, &body, &pose_a, &form, &pose_b, 0.01f, &front) && m.levels) {
                open_all(w, &m, UINT64_MAX, &done);
                sac_contact c[4];
                uint32_t count = sac_meeting_contacts(&m, NULL, &done, 4, c, NULL);
                for (uint32_t i = 0; i < done.count; i++) hash = (hash ^ done.a[i]) * 1099511628211u;
                for (uint32_t i = 0; i < count; i++) {
                    uint32_t bits[7];
                    memcpy(bits, c[i].point, 12);
                    memcpy(bits + 3, c[i].normal, 12);
                    memcpy(bits + 6, &c[i].depth, 4);
                    for (int k = 0; k < 7; k++) hash = (hash ^ bits[k]) * 1099511628211u;
                }
            }
            sac_tree_destroy(&tree);
        }
        hashes[paths++] = hash;
        sac_workspace_destroy(&w);
    }
    for (int i = 1; i < paths; i++) assert_true(hashes[i] == hashes[0]);
    assert_int_equal(sac_simd_force(before, NULL), SAC_OK);
}

/* ---- primitives with each other ---- */

/* Contacts in these poses; returns how many. */
static uint32_t touch(const sac_form *a, const sac_transform *pose_a, const sac_form *b,
                      const sac_transform *pose_b, float margin, sac_contact *out)
{
    sac_meeting m;
    sac_pairs front = list(0);
    if (!sac_meeting_begin(&m, a, pose_a, b, pose_b, margin, &front)) return 0;
    assert_int_equal(m.levels, 0);
    assert_int_equal(front.count, 1);
    return sac_meeting_contacts(&m, NULL, &front, SAC_CONTACT_MOST, out, NULL);
}

static float deepest_of(const sac_contact *c, uint32_t count)
{
    float depth = -FLT_MAX;
    for (uint32_t i = 0; i < count; i++) depth = fmaxf(depth, c[i].depth);
    return depth;
}

static void primitives_part_along_their_contacts(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(9);
    int touching = 0, apart = 0;
    for (int t = 0; t < 9000; t++) {
        sac_form a = random_form(&rng, (sac_form_kind)(SAC_FORM_SPHERE + t % 3));
        sac_form b = random_form(&rng, (sac_form_kind)(SAC_FORM_SPHERE + t / 3 % 4));
        sac_transform pose_a = garden_pose(&rng, 0.8f), pose_b = garden_pose(&rng, 0.8f);
        const float margin = 0.05f;
        sac_contact c[SAC_CONTACT_MOST], back[SAC_CONTACT_MOST], moved[SAC_CONTACT_MOST];
        uint32_t count = touch(&a, &pose_a, &b, &pose_b, margin, c);
        uint32_t others = touch(&b, &pose_b, &a, &pose_a, margin, back);
        assert_int_equal(count > 0, others > 0);
        /* Points of a inside b, by sampling. */
        float sampled = FLT_MAX;
        for (int k = 0; k < 60; k++) {
            float p[3];
            point_inside(&rng, &a, &pose_a, p);
            sampled = fminf(sampled, distance_to(&b, &pose_b, p));
        }
        if (count == 0) {
            apart++;
            assert_true(sampled > margin * 0.57f); /* two corners may be nearer than any axis tells */
            continue;
        }
        float depth = deepest_of(c, count);
        assert_true(fabsf(depth - deepest_of(back, others)) < 2e-2f);
        if (sampled < -1e-4f) assert_true(depth > 0);
        assert_true(depth > -sampled - 1e-3f || sampled > 0 || b.kind == SAC_FORM_BOX);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(c[i].final && c[i].uncertainty == 0);
            assert_true(c[i].depth >= -margin - 1e-5f);
            assert_true(fabsf(glm_vec3_norm(c[i].normal) - 1) < 1e-4f);
            sac_meeting m;
            sac_pairs front = list(0);
            sac_contact again;
            assert_true(sac_meeting_begin(&m, &a, &pose_a, &b, &pose_b, margin, &front));
            assert_true(sac_meeting_refresh(&m, c[i].node_a, c[i].node_b, &again));
            assert_true(again.depth == c[i].depth);
        }
        if (depth <= 0) continue;
        touching++;
        /* Moved apart along its deepest contact by a little more than its depth, they are apart. */
        uint32_t deepest = 0;
        for (uint32_t i = 1; i < count; i++)
            if (c[i].depth > c[deepest].depth) deepest = i;
        sac_transform away = pose_a;
        for (int i = 0; i < 3; i++) away.translation[i] -= c[deepest].normal[i] * (depth + 1e-3f);
        uint32_t after = touch(&a, &away, &b, &pose_b, margin, moved);
        float left = after ? deepest_of(moved, after) : -margin;
        if (b.kind == SAC_FORM_PLANE || a.kind == SAC_FORM_SPHERE)
            assert_true(left < 1e-3f);
        else
            assert_true(left < 0.6f * depth + 1e-3f); /* deep ones may need a second push */
        for (int k = 0; k < 30; k++) {
            float p[3];
            point_inside(&rng, &a, &away, p);
            if (b.kind == SAC_FORM_PLANE || a.kind == SAC_FORM_SPHERE ||
                (a.kind == SAC_FORM_BOX && b.kind == SAC_FORM_BOX))
                assert_true(distance_to(&b, &pose_b, p) > -1e-3f);
        }
    }
    assert_true(touching > 1500 && apart > 500);
}

/* Four corners hold a box that stands on another, and keep their names while it slides. */
static void boxes_stand_on_four_points(void **state)
{
    (void)state;
    sac_form small, large, floor;
    assert_int_equal(sac_form_box(&small, (float[3]){0.2f, 0.2f, 0.2f}, NULL), SAC_OK);
    assert_int_equal(sac_form_box(&large, (float[3]){1, 0.5f, 1}, NULL), SAC_OK);
    assert_int_equal(sac_form_plane(&floor, (float[3]){0, 1, 0}, 0.5f, NULL), SAC_OK);
    sac_transform top = sac_transform_identity(), base = sac_transform_identity();
    uint32_t names[2][SAC_CONTACT_MOST] = {{0}};
    for (int t = 0; t < 40; t++) {
        top.translation[1] = 0.699f;
        top.translation[0] = 0.01f * (float)t;
        top.rotation[1] = 0.3f, top.rotation[3] = sqrtf(1 - 0.09f);
        for (int on = 0; on < 2; on++) {
            sac_contact c[SAC_CONTACT_MOST];
            assert_int_equal(touch(&small, &top, on ? &floor : &large, &base, 0.01f, c), 4);
            float low[2] = {FLT_MAX, FLT_MAX}, high[2] = {-FLT_MAX, -FLT_MAX};
            for (int i = 0; i < 4; i++) {
                assert_true(fabsf(c[i].depth - 0.001f) < 1e-5f);
                assert_true(c[i].normal[1] < -0.9999f);
                uint32_t name = c[i].node_a * 4096 + c[i].node_b;
                bool known = false;
                for (int k = 0; k < 4; k++) known |= names[on][k] == name;
                if (t > 0) assert_true(known);
                low[0] = fminf(low[0], c[i].point[0]), high[0] = fmaxf(high[0], c[i].point[0]);
                low[1] = fminf(low[1], c[i].point[2]), high[1] = fmaxf(high[1], c[i].point[2]);
            }
            assert_true(high[0] - low[0] > 0.4f && high[1] - low[1] > 0.4f);
            for (int i = 0; i < 4; i++) names[on][i] = c[i].node_a * 4096 + c[i].node_b;
        }
    }
}

/* A capsule lying on a narrow box, its ends in the air, rests on two points over the box's borders. */
static void capsules_lie_on_two_points(void **state)
{
    (void)state;
    sac_form capsule, box, other;
    assert_int_equal(sac_form_capsule(&capsule, 0.1f, 1, NULL), SAC_OK);
    assert_int_equal(sac_form_capsule(&other, 0.2f, 0.5f, NULL), SAC_OK);
    assert_int_equal(sac_form_box(&box, (float[3]){0.3f, 0.5f, 0.3f}, NULL), SAC_OK);
    sac_transform lying = sac_transform_identity(), base = sac_transform_identity();
    lying.rotation[2] = lying.rotation[3] = sqrtf(0.5f); /* y to -x */
    lying.translation[1] = 0.595f;
    sac_contact c[SAC_CONTACT_MOST];
    assert_int_equal(touch(&capsule, &lying, &box, &base, 0.01f, c), 2);
    for (int i = 0; i < 2; i++) {
        assert_true(fabsf(fabsf(c[i].point[0]) - 0.3f) < 1e-4f && fabsf(c[i].depth - 0.005f) < 1e-4f);
        assert_true(c[i].normal[1] < -0.999f);
    }
    assert_true(c[0].point[0] * c[1].point[0] < 0);
    sac_transform side = lying;
    side.translation[1] = 0.595f - 0.295f;
    assert_int_equal(touch(&capsule, &lying, &other, &side, 0.01f, c), 2);
    for (int i = 0; i < 2; i++)
        assert_true(fabsf(fabsf(c[i].point[0]) - 0.5f) < 1e-4f && fabsf(c[i].depth - 0.005f) < 1e-4f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(masses_are_those_of_the_points_inside),
        cmocka_unit_test(bounds_hold_the_form_and_little_more),
        cmocka_unit_test(fields_agree_with_their_slopes),
        cmocka_unit_test(rays_stop_where_a_march_does),
        cmocka_unit_test(trees_touch_what_brute_force_says),
        cmocka_unit_test(all_paths_find_the_same),
        cmocka_unit_test(primitives_part_along_their_contacts),
        cmocka_unit_test(boxes_stand_on_four_points),
        cmocka_unit_test(capsules_lie_on_two_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
