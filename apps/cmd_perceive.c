/* saccade perceive: what is seen of the errors policies leave when time is short. */
#include "apps/commands.h"
#include "apps/console.h"
#include "apps/whole_file.h"
#include "base/parallel.h"
#include "bench/bench.h"
#include "bench/perceive_table.h"

int sac_cmd_perceive(int argc, char **argv)
{
    sac_perceive_table table = {.def = {.scene = "pile", .shape = "t500", .skip = 100, .warm = 15}};
    sac_common common = {.threads = sac_parallel_cpus()};
    const char *folder = NULL;
    bool quick = false;
    const sac_option options[] = {
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL,
         "60 bodies, 30 frames, 3 seeds unless given: some seconds", 0, 0},
        {"scene", 0, SAC_OPTION_TEXT, &table.def.scene, "NAME", "pile, burst or wake (default pile)", 0, 0},
        {"shape", 0, SAC_OPTION_TEXT, &table.def.shape, "NAME", "t24, t100 or t500 (default t500)", 0, 0},
        {"bodies", 0, SAC_OPTION_UINT, &table.def.bodies, "N", "default 100", 2, 2000},
        {"frames", 0, SAC_OPTION_UINT, &table.def.frames, "N", "counted (default 45)", 1, 10000},
        {"skip", 0, SAC_OPTION_UINT, &table.def.skip, "N", "frames before (default 100)", 0, 10000},
        {"seeds", 0, SAC_OPTION_UINT, &table.seeds, "N", "default 30", 1, 64},
        {"out", 'o', SAC_OPTION_TEXT, &folder, "DIR", "write a page with charts and a CSV file", 0, 0},
    };
    const sac_command command = {
        "perceive",
        "[options]",
        "The perception benchmark. Every policy refines the same frames with 10, 25 and 50 % of the work of "
        "refining\neverything, the eye fixed, following or jumping, known at once or 60 ms late. The error "
        "left in a pair is\nits depth as used less the depth an exhaustive oracle finds in the same poses, "
        "seen from where the eye\ntruly is, in just-noticeable differences.",
        options,
        sizeof options / sizeof *options,
        "Budgets are work credits: the numbers are the same on every machine and with any number of "
        "threads.\n"
        "Frames in which the eye is in a saccade are not counted; it is blind then."};
    int words, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &words);
    if (code >= 0) return code;
    if (!table.def.bodies) table.def.bodies = quick ? 60 : 100;
    if (!table.def.frames) table.def.frames = quick ? 30 : 45;
    if (!table.seeds) table.seeds = quick ? 3 : 30;
    sac_console_init("perceive", &common);
    table.threads = common.threads ? common.threads : 1;
    sac_error error;
    sac_result result = folder ? sac_folder_create(folder, &error) : SAC_OK;
    if (result == SAC_OK) result = sac_perceive_table_run(&table, &error);
    if (result != SAC_OK && !(table.rows && table.seeds)) {
        sac_perceive_table_fini(&table);
        return sac_console_fail(&error);
    }
    /* Also what was done until Ctrl-C. */
    sac_error late;
    sac_perceive_table_say(&table);
    json_t *json = sac_perceive_table_json(&table);
    sac_result written = folder ? sac_perceive_table_save(&table, folder, &late) : SAC_OK;
    if (result == SAC_OK && written != SAC_OK) result = written, error = late;
    sac_perceive_table_fini(&table);
    if (result != SAC_OK) return sac_console_spoilt(json, &error);
    if (folder) sac_say("Written: %s/index.html\n", folder);
    return sac_console_json(json, true, SAC_EXIT_OK);
}
