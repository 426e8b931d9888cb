/* saccade bench solve: what a contact costs the solver, from sets that fit the first caches to ones that do
 * not. */
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "bench/contact_lattice.h"

static const uint32_t sizes[] = {100, 250, 500, 1000, 2500, 5000, 10000, 25000};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_REPEATS = 99, SUBSTEPS = 4, MORE = 8 };

typedef struct solve_bench {
    sac_solver *solver;
    sac_solver_body *bodies;
    sac_solver_contact *contacts;
    sac_tasks *tasks;
    uint32_t repeats;
    sac_solver_report report;
} solve_bench;

/* One step from the same start, in microseconds of CPU time, or of wall time when there are several threads.
 */
static double run_once(solve_bench *bench, uint32_t substeps)
{
    sac_solver *solver = bench->solver;
    memcpy(solver->bodies, bench->bodies, solver->body_count * sizeof *solver->bodies);
    memcpy(solver->contacts, bench->contacts, solver->contact_count * sizeof *solver->contacts);
    const sac_solver_step step = {.dt = 1.0f / 90.0f, .substeps = substeps, .relaxations = 1};
    uint64_t (*now)(void) = sac_tasks_threads(bench->tasks) > 1 ? sac_time_now_ns : sac_time_thread_cpu_ns;
    uint64_t start = now();
    sac_solver_solve(solver, &step, NULL, bench->tasks, &bench->report);
    return (double)(now() - start) * 1e-3;
}

static json_t *run_size(solve_bench *bench, uint32_t contacts)
{
    sac_solver *solver = bench->solver;
    double few[MOST_REPEATS], more[MOST_REPEATS];
    char count[32];
    uint32_t n = sac_contact_lattice(solver, contacts, 0, 0, 1);
    bench->bodies = sac_alloc(solver->body_count, sizeof *bench->bodies);
    bench->contacts = sac_alloc(n, sizeof *bench->contacts);
    if (!n || !bench->bodies || !bench->contacts) return NULL;
    memcpy(bench->bodies, solver->bodies, solver->body_count * sizeof *bench->bodies);
    memcpy(bench->contacts, solver->contacts, n * sizeof *bench->contacts);
    for (uint32_t r = 0; r < bench->repeats; r++) {
        few[r] = run_once(bench, SUBSTEPS);
        more[r] = run_once(bench, MORE);
    }
    run_once(bench, SUBSTEPS);
    double step = sac_bench_median(few, bench->repeats);
    /* The rest of a step is the same for four and for eight sub-steps: what is between them is theirs. A
     * sub-step is three passes: warm start, solve, relax. */
    double substep = (sac_bench_median(more, bench->repeats) - step) / (MORE - SUBSTEPS);
    double pass_ns = substep * 1000 / 3 / n, ends_ns = (step - SUBSTEPS * substep) * 1000 / n;
    double credits_us = (double)bench->report.credits * 0.0005;
    sac_say("%8s  %7u  %7u  %9.1f  %10.1f  %8.1f  %10.1f\n", sac_text_count(count, n), solver->body_count,
            bench->report.colours, step, pass_ns, ends_ns, credits_us);
    sac_free(bench->bodies, solver->body_count, sizeof *bench->bodies);
    sac_free(bench->contacts, n, sizeof *bench->contacts);
    return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o}", "contacts", (int)n, "bodies", (int)solver->body_count,
                     "colours", (int)bench->report.colours, "step_us", sac_json_number(step),
                     "ns_per_contact_pass", sac_json_number(pass_ns), "ends_ns_per_contact",
                     sac_json_number(ends_ns), "credits_us", sac_json_number(credits_us));
}

int sac_bench_solve(int argc, char **argv)
{
    solve_bench bench = {.repeats = 21};
    sac_common common = {.threads = 1};
    const sac_option options[] = {
        {"repeats", 0, SAC_OPTION_UINT, &bench.repeats, "N", "medians of so many (default 21)", 1,
         MOST_REPEATS},
    };
    const sac_command command = {
        "bench solve",
        "[options]",
        "What a contact costs the solver: a step of 4 sub-steps in microseconds, "
        "nanoseconds a contact and pass,\nand a contact's share of what a step does once.",
        options,
        sizeof options / sizeof *options,
        "Contacts of 1 to 4 points, 2.5 on average. SACCADE_SIMD chooses the path.\n"
        "The last line is JSON with the same numbers."};
    int words, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &words);
    if (code >= 0) return code;
    sac_console_init("bench solve", &common);
    sac_error error;
    sac_solver_def def = sac_default_solver_def();
    sac_result result = sac_solver_create(&def, &bench.solver, &error);
    if (result == SAC_OK)
        result = sac_tasks_create(&(sac_tasks_def){.threads = common.threads}, &bench.tasks, &error);
    json_t *cases = json_array();
    if (result == SAC_OK)
        sac_say("contacts   bodies  colours    step us  ns/contact  ends ns/  credits as\n"
                "                                        and pass   contact          us\n");
    for (uint32_t k = 0; k < SIZES && result == SAC_OK; k++) {
        json_t *one = run_size(&bench, sizes[k]);
        if (one)
            json_array_append_new(cases, one);
        else
            result = sac_error_set(&error, SAC_ERROR_MEMORY, NULL, "no memory for %u contacts", sizes[k]);
    }
    uint32_t threads = sac_tasks_threads(bench.tasks);
    sac_tasks_destroy(&bench.tasks);
    sac_solver_destroy(&bench.solver);
    if (result != SAC_OK) {
        json_decref(cases);
        return sac_console_fail(&error);
    }
    return sac_console_json(json_pack("{s:s,s:i,s:o}", "simd", sac_simd_name(sac_simd_active()), "threads",
                                      (int)threads, "cases", cases),
                            true, SAC_EXIT_OK);
}
