/* Meshless surfaces: boxes from nodes, and a ring of figures that meet, against complete refits and hashing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "bench/bench_soft.h"
#include "bench/figure_ring.h"
#include "bench/surface_hash.h"

/* Steps of one way to meet before the other has its turn: each has its data at hand, as in a program that
 * knows only one. */
enum { TURN = 10, MOST_PAIRS = 1 << 16 };

typedef struct scene {
    uint32_t vertices, nodes;
    bool many;
    uint32_t k;
    sac_meshless_box box;
} scene;

/* The ring's radius in widths of a figure: hands just touch (coarse ones are a little smaller), or arms go
 * through each other. */
static float radius_of(const scene *s) { return s->many ? 0.745f : s->vertices < 10000 ? 0.78f : 0.785f; }

static uint32_t meet_all(sac_meshless *const *bodies, sac_meshless_pair *pairs)
{
    uint32_t found = 0;
    for (int i = 0; i < SAC_FIGURES; i++)
        found += sac_meshless_meet(bodies[i], bodies[(i + 1) % SAC_FIGURES], pairs, MOST_PAIRS);
    return found;
}

typedef struct times {
    double ours[SAC_BENCH_SOFT_REPEATS * TURN], full[SAC_BENCH_SOFT_REPEATS * TURN],
        hash[SAC_BENCH_SOFT_REPEATS];
    uint32_t contacts[SAC_BENCH_SOFT_REPEATS * TURN];
    bool same;
} times;

static sac_result run_turns(sac_figure_ring *ring, sac_surface_hash *hash, sac_meshless_pair *pairs,
                            uint32_t repeats, times *out, sac_error *error)
{
    out->same = true;
    for (uint32_t r = 0; r < repeats; r++) {
        for (uint32_t t = r * TURN; t < (r + 1) * TURN; t++) {
            sac_figure_ring_pose(ring, ring->bodies, t / 90.0);
            double start = sac_bench_soft_us();
            out->contacts[t] = meet_all(ring->bodies, pairs);
            out->ours[t] = (sac_bench_soft_us() - start) * 1e-3;
        }
        for (uint32_t t = r * TURN; t < (r + 1) * TURN; t++) {
            sac_figure_ring_pose(ring, ring->others, t / 90.0);
            double start = sac_bench_soft_us();
            for (int i = 0; i < SAC_FIGURES; i++) sac_meshless_refit(ring->others[i]);
            uint32_t found = meet_all(ring->others, pairs);
            out->full[t] = (sac_bench_soft_us() - start) * 1e-3;
            out->same = out->same && found == out->contacts[t];
        }
        if (!hash) continue;
        uint32_t last = (r + 1) * TURN - 1;
        sac_figure_ring_pose(ring, ring->others, last / 90.0);
        double start = sac_bench_soft_us();
        uint32_t found = sac_surface_hash_meet(hash, ring->others);
        out->hash[r] = (sac_bench_soft_us() - start) * 1e-3;
        if (found == UINT32_MAX)
            return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for hashed triangles");
        out->same = out->same && found == out->contacts[last];
    }
    return SAC_OK;
}

static sac_result run_scene(const scene *s, uint32_t repeats, bool hashed, times *t, json_t *out,
                            sac_error *error)
{
    sac_figure_ring ring;
    sac_surface_hash *hash = NULL;
    sac_meshless_def def = sac_default_meshless_def();
    def.k = s->k, def.box = s->box;
    sac_meshless_pair *pairs = sac_alloc(MOST_PAIRS, sizeof *pairs);
    sac_result result = sac_figure_ring_begin(&ring, s->vertices, s->nodes, radius_of(s), &def, error);
    /* Cells twice as wide as a triangle: most are in one to four of them. */
    float cell = 4.0f / sqrtf((float)ring.triangle_count);
    if (result == SAC_OK && !pairs)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for pairs of triangles");
    if (result == SAC_OK && hashed)
        result = sac_surface_hash_create(SAC_FIGURES, ring.triangle_count, cell, &hash, error);
    if (result == SAC_OK) result = run_turns(&ring, hash, pairs, repeats, t, error);
    if (result == SAC_OK) {
        double contacts = 0;
        for (uint32_t i = 0; i < repeats * TURN; i++) contacts += t->contacts[i];
        contacts /= repeats * TURN;
        double full = sac_bench_median(t->full, repeats * TURN),
               ours = sac_bench_median(t->ours, repeats * TURN);
        double hash_ms = hash ? sac_bench_median(t->hash, repeats) : 0;
        const char *box = s->box == SAC_MESHLESS_OBB ? "obb" : "aabb";
        char hashed_text[16] = "-";
        if (hash) snprintf(hashed_text, sizeof hashed_text, "%.3f", hash_ms);
        sac_say("  %8u  %5u  %-4s  %4s/%-2u  %8.0f  %9.3f  %8s  %8.3f  %6.1fx%s\n", ring.vertex_count,
                s->nodes, s->many ? "many" : "few", box, s->k, contacts, full, hashed_text, ours, full / ours,
                t->same ? "" : "  (different contacts)");
        json_array_append_new(out, json_pack("{s:i,s:i,s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:b}", "vertices",
                                             (int)ring.vertex_count, "nodes", (int)s->nodes, "scene",
                                             s->many ? "many" : "few", "box", box, "k", (int)s->k, "contacts",
                                             sac_json_number(contacts), "full_ms", sac_json_number(full),
                                             "hash_ms", hash ? sac_json_number(hash_ms) : json_null(),
                                             "ours_ms", sac_json_number(ours), "gain",
                                             sac_json_number(full / ours), "same_contacts", t->same));
    }
    sac_surface_hash_destroy(&hash);
    sac_free(pairs, MOST_PAIRS, sizeof *pairs);
    sac_figure_ring_end(&ring);
    return result;
}

/* A box about the whole of one bent figure, and how much wider it is than need be. */
static sac_result run_box(uint32_t vertices, uint32_t nodes, uint32_t repeats, json_t *out, sac_error *error)
{
    enum { CALLS = 200 };
    sac_figure_ring f;
    sac_meshless_def def = sac_default_meshless_def();
    sac_result result = sac_figure_ring_begin(&f, vertices, nodes, 1, &def, error);
    if (result == SAC_OK) {
        double spent[2][SAC_BENCH_SOFT_REPEATS], over[2] = {0}, mean[2];
        float box[2][8];
        for (uint32_t r = 0; r < repeats; r++) {
            sac_figure_bend(&f, f.bodies[0], 0.5 * (r + 1) / repeats);
            double wide[2] = {0}, true_wide = 0;
            for (int fit = 0; fit < 2; fit++) {
                double start = sac_bench_soft_us();
                for (int i = 0; i < CALLS; i++)
                    sac_meshless_bound(f.bodies[0], 0, (sac_meshless_fit)fit, box[fit]);
                spent[fit][r] = (sac_bench_soft_us() - start) / CALLS;
                for (int k = 0; k < 3; k++) wide[fit] += pow(box[fit][k] + box[fit][3 + k], 2);
            }
            sac_meshless_refit(f.bodies[0]);
            const float *whole = sac_meshless_dop(f.bodies[0], 0);
            for (int k = 0; k < 3; k++) true_wide += pow(whole[k] + whole[3 + k], 2);
            for (int fit = 0; fit < 2; fit++) over[fit] += sqrt(wide[fit] / true_wide) / repeats;
        }
        for (int fit = 0; fit < 2; fit++) mean[fit] = sac_bench_median(spent[fit], repeats);
        sac_say("  %8u  %5u  %8.3f  %8.3f  %8.3f  %8.3f\n", f.vertex_count, nodes, mean[1], mean[0], over[1],
                over[0]);
        json_array_append_new(
            out, json_pack("{s:i,s:i,s:o,s:o,s:o,s:o}", "vertices", (int)f.vertex_count, "nodes", (int)nodes,
                           "eq12_us", sac_json_number(mean[1]), "exact_us", sac_json_number(mean[0]),
                           "eq12_wide", sac_json_number(over[1]), "exact_wide", sac_json_number(over[0])));
    }
    sac_figure_ring_end(&f);
    return result;
}

sac_result sac_bench_soft_surface(uint32_t repeats, json_t *aabb, json_t *refit, sac_error *error)
{
    static const uint32_t nodes[3] = {65, 225, 509}, sizes[3] = {3500, 30000, 145000};
    sac_result result = SAC_OK;
    times *t = sac_alloc_zero(1, sizeof *t);
    if (!t) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for times");
    sac_say("one box from the nodes, us, and its diagonal over the true one\n"
            "  vertices  nodes  equ. 12   optimum   equ. 12   optimum\n");
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 3 && result == SAC_OK; i++)
            result = run_box(sizes[m], nodes[i], repeats, aabb, error);
    if (result == SAC_OK)
        sac_say("a ring of six figures, ms a step, all crossing triangles of neighbours\n"
                "  vertices  nodes         boxes  contacts  full refit   hashing      ours    gain\n");
    for (int i = 0; i < 12 && result == SAC_OK; i++) {
        scene s = {i % 4 / 2 ? 45682 : 2857, i % 2 ? 550 : 115, i / 4 == 1, 6, SAC_MESHLESS_AABB};
        if (i >= 8) { /* other boxes and directions, where the paper had them slower */
            s = (scene){45682, 550, i % 2 == 1, i < 10 ? 6 : 14, SAC_MESHLESS_OBB};
        }
        result = run_scene(&s, repeats, i < 8, t, refit, error);
    }
    sac_free(t, 1, sizeof *t);
    return result;
}
