/* saccade bench soft: what deformation costs, and bounds that follow it, against refitting everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "bench/bench_soft.h"

double sac_bench_soft_us(void) { return (double)sac_time_thread_cpu_ns() * 1e-3; }

/* ---- deformation ---- */

typedef struct cloud {
    const char *name;
    uint32_t objects, points, clusters;
    sac_soft_mode mode;
} cloud;

static const cloud clouds[] = {{"100 of 100 points, 8 quadratic clusters", 100, 100, 8, SAC_SOFT_QUADRATIC},
                               {"300 of 437 points, 1 linear cluster", 300, 437, 1, SAC_SOFT_LINEAR},
                               {"300 of 437 points, 4 quadratic clusters", 300, 437, 4, SAC_SOFT_QUADRATIC},
                               {"3 of 6333 points, 8 quadratic clusters", 3, 6333, 8, SAC_SOFT_QUADRATIC}};

static sac_result ball_model(uint32_t points, const sac_soft_def *def, sac_soft_model **out, sac_error *error)
{
    float(*at)[3] = sac_alloc(points, sizeof *at);
    if (!at) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u points", points);
    sac_rng rng = sac_rng_seed(1);
    for (uint32_t i = 0; i < points; i++) {
        float u[3], r = sac_rng_range(&rng, 0.8f, 1);
        sac_rng_unit_vector(&rng, u);
        for (int k = 0; k < 3; k++) at[i][k] = u[k] * r;
    }
    sac_result result = sac_soft_model_create((const float(*)[3])at, NULL, points, def, out, error);
    sac_free(at, points, sizeof *at);
    return result;
}

static void stir(sac_soft *soft, sac_rng *rng, float much)
{
    uint32_t count = sac_soft_view(soft).count;
    for (uint32_t i = 0; i < count; i++)
        sac_soft_push(soft, i,
                      (float[3]){sac_rng_range(rng, -much, much), sac_rng_range(rng, -much, much),
                                 sac_rng_range(rng, -much, much)},
                      NULL);
}

static sac_result run_cloud(const cloud *c, uint32_t repeats, sac_tasks *tasks, json_t *out, sac_error *error)
{
    sac_soft_model *model = NULL;
    sac_soft_def def = sac_default_soft_def();
    def.mode = c->mode, def.clusters = c->clusters;
    sac_soft **bodies = sac_alloc_zero(c->objects, sizeof *bodies);
    sac_result result =
        bodies ? ball_model(c->points, &def, &model, error)
               : sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u bodies", c->objects);
    for (uint32_t i = 0; i < c->objects && result == SAC_OK; i++)
        result = sac_soft_create(model, NULL, &bodies[i], error);
    if (result == SAC_OK) {
        double times[SAC_BENCH_SOFT_REPEATS];
        sac_rng rng = sac_rng_seed(2);
        sac_soft_step_def step = {1.0f / 90, {0, 0, 0}};
        bool alone = sac_tasks_threads(tasks) < 2;
        for (uint32_t i = 0; i < c->objects; i++) stir(bodies[i], &rng, 1);
        for (uint32_t r = 0; r < repeats; r++) {
            double start = alone ? sac_bench_soft_us() : (double)sac_time_now_ns() * 1e-3;
            sac_soft_step(bodies, c->objects, &step, tasks, NULL);
            times[r] = ((alone ? sac_bench_soft_us() : (double)sac_time_now_ns() * 1e-3) - start) * 1e-3;
        }
        double ms = sac_bench_median(times, repeats);
        sac_say("  %-42s %8.3f ms a step\n", c->name, ms);
        json_array_append_new(out, json_pack("{s:s,s:i,s:i,s:o}", "name", c->name, "points",
                                             (int)(c->objects * c->points), "clusters", (int)c->clusters,
                                             "ms", sac_json_number(ms)));
    }
    for (uint32_t i = 0; bodies && i < c->objects; i++) sac_soft_destroy(&bodies[i]);
    sac_free(bodies, c->objects, sizeof *bodies);
    sac_soft_model_destroy(&model);
    return result;
}

/* ---- spheres that follow ---- */

typedef struct tightness {
    double sum;
    uint64_t nodes, points, outside;
} tightness;

static void measure_cover(sac_soft_cover *cover, const sac_soft_tree *tree, const sac_soft *soft,
                          tightness *t)
{
    sac_soft_points p = sac_soft_view(soft);
    for (uint32_t block = 0; block < tree->block_count; block++) {
        const sac_sphere_block *eight = sac_soft_cover_block(cover, block);
        for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
            sac_soft_range range = tree->range[block * SAC_LANES + lane];
            double most = 0;
            for (uint32_t i = range.first; i < range.first + range.count; i++, t->points++) {
                uint32_t q = tree->order[i];
                double x = (double)p.x[q] - eight->x[lane], y = (double)p.y[q] - eight->y[lane],
                       z = (double)p.z[q] - eight->z[lane], d = sqrt(x * x + y * y + z * z);
                most = d > most ? d : most;
                t->outside += !(d <= eight->r[lane]);
            }
            if (range.count >= 12 && block) t->sum += eight->r[lane] / most, t->nodes++;
        }
    }
}

/* A ball that is bent hard, quadratic, beta 1 and as stiff as it gets: what is left is the bounds' own width.
 */
static sac_result run_spheres(json_t **out, sac_error *error)
{
    tightness t[2];
    uint64_t refits[2] = {0};
    uint32_t nodes = 0;
    memset(t, 0, sizeof t);
    sac_result result = SAC_OK;
    for (int bound = 0; bound < 2 && result == SAC_OK; bound++) {
        sac_soft_model *model = NULL;
        sac_soft *soft = NULL;
        sac_soft_tree *tree = NULL;
        sac_soft_cover *cover = NULL, *touched = NULL;
        sac_soft_tree_def tree_def = sac_default_soft_tree_def();
        sac_soft_def def = sac_default_soft_def();
        tree_def.bound = bound ? SAC_SOFT_BOUND_WHOLE : SAC_SOFT_BOUND_LOCAL;
        def.clusters = 1, def.beta = 1, def.settle_time = 0, def.keep_volume = false;
        result = ball_model(4000, &def, &model, error);
        if (result == SAC_OK) result = sac_soft_create(model, NULL, &soft, error);
        if (result == SAC_OK) result = sac_soft_tree_create(model, &tree_def, &tree, error);
        if (result == SAC_OK) result = sac_soft_cover_create(tree, soft, &cover, error);
        if (result == SAC_OK) result = sac_soft_cover_create(tree, soft, &touched, error);
        sac_soft_step_def step = {1.0f / 90, {0, 0, 0}};
        uint32_t found[64];
        static float rest[4000][3];
        for (uint32_t i = 0; i < 4000 && result == SAC_OK; i++) {
            sac_soft_points p = sac_soft_view(soft);
            const uint32_t at = p.place[i];
            rest[i][0] = p.x[at], rest[i][1] = p.y[at], rest[i][2] = p.z[at];
        }
        for (int turn = 0; turn < 20 && result == SAC_OK; turn++) {
            sac_soft_points p = sac_soft_view(soft);
            float bend = 0.02f * (float)turn;
            for (uint32_t i = 0; i < p.count; i++) {
                float x = rest[i][0], y = rest[i][1], z = rest[i][2];
                float to[3] = {x * (1 + bend) + bend * y * y, y - bend * x * z, z + bend * x * y};
                sac_soft_set_point(soft, i, to, (float[3]){0, 0, 0}, NULL);
            }
            sac_soft_step(&soft, 1, &step, NULL, NULL);
            measure_cover(cover, tree, soft, &t[bound]);
            p = sac_soft_view(soft);
            const uint32_t at = p.place[0];
            sac_soft_cover_touch(touched, (float[3]){p.x[at], p.y[at], p.z[at]}, 0.05f, found, 64);
        }
        if (result == SAC_OK) refits[bound] = sac_soft_cover_refits(touched) / 20, nodes = tree->node_count;
        sac_soft_cover_destroy(&touched), sac_soft_cover_destroy(&cover);
        sac_soft_tree_destroy(&tree), sac_soft_destroy(&soft), sac_soft_model_destroy(&model);
    }
    if (result != SAC_OK) return result;
    double local = t[0].sum / (double)t[0].nodes, whole = t[1].sum / (double)t[1].nodes;
    sac_say("  radius over true radius: %.3f (equation 16: %.3f); %llu points looked at, %llu outside\n",
            local, whole, (unsigned long long)(t[0].points + t[1].points),
            (unsigned long long)(t[0].outside + t[1].outside));
    sac_say("  a small touch refits %llu of %u spheres (equation 16: %llu)\n", (unsigned long long)refits[0],
            nodes, (unsigned long long)refits[1]);
    *out = json_pack("{s:o,s:o,s:I,s:I,s:i}", "local", sac_json_number(local), "eq16", sac_json_number(whole),
                     "violations", (json_int_t)(t[0].outside + t[1].outside), "refits", (json_int_t)refits[0],
                     "spheres", (int)nodes);
    return SAC_OK;
}

int sac_bench_soft(int argc, char **argv)
{
    uint32_t repeats = 15;
    const char *html = NULL, *only = NULL;
    sac_common common = {.threads = 1};
    const sac_option options[] = {
        {"repeats", 0, SAC_OPTION_UINT, &repeats, "N", "medians of so many (default 15)", 1,
         SAC_BENCH_SOFT_REPEATS},
        {"only", 0, SAC_OPTION_TEXT, &only, "PART",
         "deformation, spheres, ladder, frame, refits or surfaces (default: all)", 0, 0},
        {"html", 0, SAC_OPTION_TEXT, &html, "FILE", "a page with the chart of cost against level", 0, 0},
    };
    const sac_command command = {
        "bench soft",
        "[options]",
        "Soft bodies: a step of shape matching; how tight spheres follow; contacts and response on the\n"
        "levels of the hierarchy; refits by number of points; boxes of meshless surfaces\n"
        "from their nodes, and a query of two of them against refitting both completely.",
        options,
        sizeof options / sizeof *options,
        "CPU time of one thread (wall time of a step with --threads). The complete refit is as well\n"
        "written as ours: vectorised, bottom up, linear. The last line is JSON with the same numbers."};
    int words, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &words);
    if (code >= 0) return code;
    sac_console_init("bench soft", &common);
    static const char *const parts[] = {"deformation", "spheres", "ladder", "frame", "refits", "surfaces"};
    enum { DEFORMATION, SPHERES, LADDER, FRAME, REFITS, SURFACES, PARTS };
    bool wanted[PARTS], any = false;
    for (int i = 0; i < PARTS; i++) any |= wanted[i] = !only || strcmp(only, parts[i]) == 0;
    if (!any) return sac_options_usage_error("bench soft", "there is no part of that name");
    sac_error error;
    sac_tasks *tasks = NULL;
    json_t *deformation = json_array(), *aabb = json_array(), *refit = json_array(), *spheres = NULL;
    json_t *ladder = json_array(), *sizes = json_array(), *visited = json_array(), *frame = NULL;
    sac_result result = sac_tasks_create(&(sac_tasks_def){.threads = common.threads}, &tasks, &error);
    if (wanted[DEFORMATION]) sac_say("deformation\n");
    for (size_t i = 0; wanted[DEFORMATION] && i < sizeof clouds / sizeof *clouds && result == SAC_OK; i++)
        result = run_cloud(&clouds[i], repeats, tasks, deformation, &error);
    if (result == SAC_OK && wanted[SPHERES]) {
        sac_say("spheres of a bent ball, 4000 points\n");
        result = run_spheres(&spheres, &error);
    }
    if (result == SAC_OK && wanted[LADDER]) result = sac_bench_soft_ladder(repeats, ladder, &error);
    if (result == SAC_OK && wanted[LADDER] && html) result = sac_bench_soft_chart(ladder, html, &error);
    if (result == SAC_OK && wanted[FRAME]) result = sac_bench_soft_frame(repeats, &frame, &error);
    if (result == SAC_OK && wanted[REFITS]) result = sac_bench_soft_sense(repeats, sizes, visited, &error);
    if (result == SAC_OK && wanted[SURFACES]) result = sac_bench_soft_surface(repeats, aabb, refit, &error);
    sac_tasks_destroy(&tasks);
    if (result != SAC_OK) {
        json_decref(deformation), json_decref(aabb), json_decref(refit);
        json_decref(ladder), json_decref(spheres), json_decref(frame);
        json_decref(sizes), json_decref(visited);
        return sac_console_fail(&error);
    }
    if (!spheres) spheres = json_object();
    if (!frame) frame = json_object();
    double inflation = json_number_value(json_object_get(spheres, "local"));
    json_int_t violations = json_integer_value(json_object_get(spheres, "violations"));
    return sac_console_json(json_pack("{s:s,s:i,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "simd",
                                      sac_simd_name(sac_simd_active()), "threads", (int)common.threads,
                                      "deformation", deformation, "inflation", sac_json_number(inflation),
                                      "violations", violations, "spheres", spheres, "aabb", aabb, "refit",
                                      refit, "ladder", ladder, "frame", frame, "output_sensitivity", sizes,
                                      "visits", visited),
                            true, SAC_EXIT_OK);
}
