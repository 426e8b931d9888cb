/* saccade bench: which benchmark. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/options.h"
#include "bench/bench.h"

static const struct {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} benches[] = {
    {"descent", "the dual-tree descent against the straightforward version", sac_bench_descent},
    {"bake", "building trees: seconds and quality, methods side by side", sac_bench_bake},
    {"broad", "who could meet: pairs of boxes, against sort and sweep", sac_bench_broad},
    {"peers", "our engine beside Bullet and ODE on the same bodies", sac_bench_peers},
    {"schedule", "what deciding costs: perception, groups, a heap, a sort", sac_bench_schedule},
    {"soft", "soft bodies: deformation, and bounds that follow it", sac_bench_soft},
    {"solve", "the contact solver: nanoseconds a contact and pass", sac_bench_solve},
};
enum { BENCHES = sizeof benches / sizeof *benches };

int sac_cmd_bench(int argc, char **argv)
{
    const char *names[BENCHES + 1] = {0};
    bool help = argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0);
    for (int i = 0; i < BENCHES; i++) {
        names[i] = benches[i].name;
        if (argc > 0 && strcmp(argv[0], benches[i].name) == 0) return benches[i].run(argc - 1, argv + 1);
    }
    if (help) {
        printf("Usage: saccade bench descent|bake|broad|peers|schedule|soft|solve [arguments]\n\n");
        for (int i = 0; i < BENCHES; i++) printf("  %-8s %s\n", benches[i].name, benches[i].about);
        printf("\nEach has --help; the last line of what it prints is JSON.\n");
        return SAC_EXIT_OK;
    }
    if (argc < 1 || argv[0][0] == '-')
        return sac_options_usage_error("bench",
                                       "which one? descent, bake, broad, peers, schedule, soft or solve");
    const char *meant = sac_options_suggest(argv[0], names);
    if (meant) return sac_options_usage_error("bench", "no '%s' here; did you mean %s?", argv[0], meant);
    return sac_options_usage_error(
        "bench", "no '%s' here; there are descent, bake, broad, peers, schedule, soft and solve", argv[0]);
}
