/* saccade: the program. Finds the command and hands it the rest. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/options.h"
#include "base/cpu.h"

typedef struct command_entry {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} command_entry;

static const command_entry commands[] = {
    {"bake", "bake a mesh into a sphere-tree", sac_cmd_bake},
    {"tree", "look at trees: info, export, render, compare", sac_cmd_tree},
    {"bench", "measure: descent, bake, broad, peers, schedule, soft, solve", sac_cmd_bench},
    {"run", "run a scene within a budget, tell what it cost and what is left to see", sac_cmd_run},
    {"stability", "the most bodies held at each frame rate, beside other engines", sac_cmd_stability},
    {"replay", "run a recording again and compare every frame", sac_cmd_replay},
    {"perceive", "what is seen of the errors policies leave when time is short", sac_cmd_perceive},
#ifdef SACCADE_XR
    {"xr", "show a scene in a headset", sac_cmd_xr},
    {"view", "watch a scene in a window, the mouse is the eye", sac_cmd_view},
    {"render", "draw a scene into pictures and videos, without a display", sac_cmd_render},
#endif
    {"demo", "a hailstorm, a pile and three baked meshes on a page, with a video", sac_cmd_demo},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("Saccade: time-critical collision handling for virtual reality\n\n"
           "Usage: saccade COMMAND [arguments]\n\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++) printf("  %-9s %s\n", commands[i].name, commands[i].about);
    printf("  %-9s %s\n  %-9s %s\n", "help", "this text, or the help of a command", "version",
           "version and what this machine runs");
    printf(
        "\nEvery command has --help and --json. Exit codes: 0 done, 1 failed, 2 a mistake in the call.\n"
        "\n  saccade run pile --bodies 500 --gaze sweep --out report\n  saccade bake knot -o knot.sactree\n"
        "  saccade tree render knot.sactree --mesh knot -o knot.png\n");
}

/* A path somebody asked for and does not get is worth a word: replays are compared by it. */
static void check_simd(void)
{
    const char *name = getenv("SACCADE_SIMD");
    sac_simd wanted;
    if (!name || (sac_simd_from_name(name, &wanted) && sac_simd_supported(wanted))) return;
    fprintf(stderr, "saccade: SACCADE_SIMD=%s is no path of this machine; running %s\n", name,
            sac_simd_name(sac_simd_active()));
}

static int command(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return SAC_EXIT_USAGE;
    }
    const char *name = argv[1];
    bool help = strcmp(name, "help") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (help && argc == 2)) {
        print_help();
        return SAC_EXIT_OK;
    }
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        printf("saccade %s (%s)\n", SACCADE_VERSION, sac_simd_name(sac_simd_active()));
        return SAC_EXIT_OK;
    }
    char ask[] = "--help", *asked[] = {ask, NULL};
    const char *names[COMMANDS + 3];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(commands[i].name, help ? argv[2] : name) != 0) continue;
        return help ? commands[i].run(1, asked) : commands[i].run(argc - 2, argv + 2);
    }
    if (help) name = argv[2];
    names[COMMANDS] = "help", names[COMMANDS + 1] = "version", names[COMMANDS + 2] = NULL;
    const char *meant = sac_options_suggest(name, names);
    if (meant) return sac_options_usage_error("", "no command '%s'; did you mean %s?", name, meant);
    return sac_options_usage_error("", "no command '%s'", name);
}

int main(int argc, char **argv)
{
    /* A file that may not grow is an error to be told, not the end. */
    signal(SIGXFSZ, SIG_IGN);
    sac_console_listen(argc, argv);
    check_simd();
    return sac_console_close(command(argc, argv));
}
