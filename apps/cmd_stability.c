/* saccade stability: how many bodies are held at which frame rate, by whom. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/stability.h"
#include "apps/whole_file.h"

/* "72,90,120": numbers within least..most, each once; returns how many, 0 for a list that is none. */
static uint32_t read_numbers(const char *text, double least, double most, double factor,
                             double out[SAC_STABILITY_MOST])
{
    /* Blanks, hexadecimals and words for infinity are taken by strtod, not here. */
    if (text[strspn(text, "0123456789+-.eE,")]) return 0;
    for (uint32_t count = 0; count < SAC_STABILITY_MOST;) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || !(value >= least && value <= most)) return 0;
        for (uint32_t i = 0; i < count; i++)
            if (out[i] == value * factor) return 0;
        out[count++] = value * factor;
        if (!*end) return count;
        if (*end != ',') return 0;
        text = end + 1;
    }
    return 0;
}

/* Cuts a list at its commas, in place; returns how many words, SAC_STABILITY_MOST + 1 for too many. */
static uint32_t cut(char *text, const char *words[SAC_STABILITY_MOST])
{
    uint32_t count = 0;
    for (char *word = text; word; count++) {
        char *comma = strchr(word, ',');
        if (comma) *comma++ = 0;
        if (count == SAC_STABILITY_MOST) return count + 1;
        words[count] = word;
        word = comma;
    }
    return count;
}

static sac_result too_many(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "leave some out", "at most %u can be compared",
                         SAC_STABILITY_MOST);
}

/* Who is in the list twice would be searched for twice. */
static sac_result add_contender(sac_stability_def *def, const sac_contender *contender, sac_error *error)
{
    for (uint32_t i = 0; i < def->contender_count; i++)
        if (strcmp(def->contenders[i].name, contender->name) == 0)
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "name it once", "'%s' is given twice",
                                 contender->name);
    if (def->contender_count >= SAC_STABILITY_MOST) return too_many(error);
    def->contenders[def->contender_count++] = *contender;
    return SAC_OK;
}

static sac_result add_policies(sac_stability_def *def, char *list, sac_error *error)
{
    const sac_peer_engine *engine = sac_peer_engine_named("saccade");
    const char *words[SAC_STABILITY_MOST];
    uint32_t count = cut(list, words);
    if (!engine || (count == 1 && strcmp(words[0], "none") == 0)) return SAC_OK;
    if (count > SAC_STABILITY_MOST) return too_many(error);
    sac_shared_scene one;
    sac_result result = sac_shared_scene_create(&one, "pile", "t24", 1, def->seed, error);
    for (uint32_t i = 0; i < count && result == SAC_OK; i++) {
        /* A world of one body knows whether there is such a policy. */
        sac_peer *peer;
        sac_peer_def peer_def = {words[i], 1000000};
        result = engine->create(&one, &peer_def, &peer, error);
        if (result != SAC_OK) break;
        engine->destroy(peer);
        result = add_contender(
            def, &(sac_contender){words[i], engine, words[i], strcmp(words[i], "exhaustive") == 0}, error);
    }
    sac_shared_scene_destroy(&one);
    return result;
}

static sac_result add_peers(sac_stability_def *def, char *list, sac_error *error)
{
    const char *words[SAC_STABILITY_MOST];
    uint32_t count = cut(list, words);
    if (count == 1 && strcmp(words[0], "none") == 0) return SAC_OK;
    if (count > SAC_STABILITY_MOST) return too_many(error);
    bool all = count == 1 && strcmp(words[0], "all") == 0;
    for (uint32_t i = 0; all && sac_peer_engine_at(i); i++) {
        const sac_peer_engine *engine = sac_peer_engine_at(i);
        if (!engine->budgeted && def->contender_count < SAC_STABILITY_MOST)
            def->contenders[def->contender_count++] = (sac_contender){engine->name, engine, NULL, true};
    }
    for (uint32_t i = 0; !all && i < count; i++) {
        const sac_peer_engine *engine = sac_peer_engine_named(words[i]);
        if (!engine || engine->budgeted)
            return sac_error_set(error, SAC_ERROR_ARGUMENT,
                                 sac_peer_missing() ? sac_peer_missing() : "there are bullet and ode",
                                 "no other engine '%s'", words[i]);
        sac_result result = add_contender(def, &(sac_contender){engine->name, engine, NULL, true}, error);
        if (result != SAC_OK) return result;
    }
    return SAC_OK;
}

static void say_same_load(const sac_stability *st)
{
    sac_say("\nThe same %u bodies for all at %g Hz, budget %g ms:\n\n"
            "                 p50 ms   p99 ms   max ms   late  (machine's)   overlap mean/p99 mm   lost  "
            "standing still\n",
            st->same_bodies, st->same_hz, st->same_budget_us * 1e-3);
    for (uint32_t i = 0; i < st->same_count; i++) {
        const sac_trial *t = &st->same[i];
        sac_say("%-14s %8.3f %8.3f %8.3f %6u  %11u   %12.2f %6.2f %6u  %12.1f %%\n",
                st->def->contenders[i].name, t->wall.p50 * 1e-3, t->wall.p99 * 1e-3, t->wall.max * 1e-3,
                t->misses, t->misses - t->misses_own, t->overlap.mean_mm, t->overlap.p99_mm,
                sac_trial_lost(t), 100 * t->waiting);
    }
}

static void say_table(sac_stability *st)
{
    const sac_stability_def *def = st->def;
    sac_percentiles wall = sac_noise_floor_wall_us(&st->floor);
    char text[32];
    if (sac_peer_missing()) sac_say("%s.\n\n", sac_peer_missing());
    sac_say("Bodies held with no late frame and none lost, %s of %s, %g s of motion:\n\n%-14s", def->scene,
            def->shape, def->seconds, "");
    for (uint32_t h = 0; h < def->hz_count; h++)
        for (uint32_t b = 0; b < def->budget_count; b++) {
            snprintf(text, sizeof text, "%gHz/%gms", def->hz[h], def->budget_us[b] * 1e-3);
            sac_say(" %12s", text);
        }
    sac_say("\n");
    for (uint32_t c = 0; c < def->contender_count; c++) {
        sac_say("%-14s", def->contenders[c].name);
        bool waits = false;
        for (uint32_t h = 0; h < def->hz_count; h++)
            for (uint32_t b = 0; b < def->budget_count; b++) {
                const sac_held *held = sac_stability_held(st, c, def->hz[h], def->budget_us[b]);
                char number[40] = "-";
                if (held)
                    snprintf(number, sizeof number, "%s%s", held->bodies && !held->fails_at ? ">=" : "",
                             sac_text_count(text, held->bodies));
                sac_say(" %12s", number);
                waits |= held && held->waiting > 0.0005;
            }
        sac_say("\n");
        if (!waits) continue;
        sac_say("  standing still");
        for (uint32_t h = 0; h < def->hz_count; h++)
            for (uint32_t b = 0; b < def->budget_count; b++) {
                const sac_held *held = sac_stability_held(st, c, def->hz[h], def->budget_us[b]);
                sac_say(h + b ? " %10.1f %%" : " %9.1f %%", held ? 100 * held->waiting : 0);
            }
        sac_say("\n");
    }
    sac_say(
        "\nStanding still: bodies in mid-motion whose turn did not come in a frame, mean of all frames.\n");
    if (st->same_count) say_same_load(st);
    sac_say(
        "\nNoise floor: an idle loop was late by %.2f us (p50), %.2f (p99), %.2f (p99.9), %.1f (max of %zu)."
        "\n",
        wall.p50, wall.p99, wall.p999, wall.max, st->floor.wall_us.count);
}

int sac_cmd_stability(int argc, char **argv)
{
    sac_stability_def def = {.scene = "pile", .shape = "t24", .seed = SAC_SHARED_SEED, .precision = -1};
    const char *hz = NULL, *budgets = NULL, *policies = "jnd,round-robin,exhaustive", *peers = "all",
               *out = NULL;
    bool quick = false;
    sac_common common = {.threads = 1};
    const sac_option options[] = {
        {"scene", 0, SAC_OPTION_TEXT, &def.scene, "NAME", "pile, burst or wake (default pile)", 0, 0},
        {"shape", 0, SAC_OPTION_TEXT, &def.shape, "NAME", "t24, t100 or t500 (default t24)", 0, 0},
        {"hz", 0, SAC_OPTION_TEXT, &hz, "LIST", "refresh rates (default 72,90,120)", 0, 0},
        {"budgets-ms", 0, SAC_OPTION_TEXT, &budgets, "LIST", "milliseconds for physics (default 2,4,8)", 0,
         0},
        {"policies", 0, SAC_OPTION_TEXT, &policies, "LIST",
         "of ours, or none (default jnd,round-robin,exhaustive)", 0, 0},
        {"peers", 0, SAC_OPTION_TEXT, &peers, "LIST", "bullet,ode, all or none (default all)", 0, 0},
        {"most", 0, SAC_OPTION_UINT, &def.most, "N", "stop the ramp here (default 5000)", 1,
         SAC_SHARED_MOST_BODIES},
        {"same", 0, SAC_OPTION_UINT, &def.most_same, "N",
         "most bodies in the load all are given (default 1000)", 1, SAC_SHARED_MOST_BODIES},
        {"seconds", 0, SAC_OPTION_NUMBER, &def.seconds, "S", "simulated in each trial (default 6, wake 10)",
         0.05, 3600},
        {"precision", 0, SAC_OPTION_NUMBER, &def.precision, "X", "bisection ends within (default 0.05)", 0,
         10},
        {"seed", 0, SAC_OPTION_SEED, &def.seed, "S", "of the scene (default 12345)", 0, 0},
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL, "90 Hz, 2 and 4 ms, 3 s trials, to 20 per cent", 0, 0},
        {"out", 'o', SAC_OPTION_TEXT, &out, "DIR", "page, CSV and JSON go here", 0, 0},
    };
    const sac_command command = {
        "stability",
        "[options]",
        "Ramps the load and finds the most bodies that are simulated without one late frame: for each "
        "refresh\n"
        "rate and budget, for each policy of ours, and for Bullet and ODE on the same bodies in the same "
        "run.\n"
        "A spin loop beside the steps tells a slow engine from a machine that took the core away.",
        options,
        sizeof options / sizeof *options,
        "A load is held when no frame was late and no body left the box; how many bodies had to stand still "
        "for it\nis said beside it. A late frame counts against the engine only when its thread used more "
        "CPU "
        "time\nthan the budget, the most the spin loop went over, and 50 us. The whole search takes tens of "
        "minutes,\n--quick about one."};
    int count, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &count);
    if (code >= 0) return code;
    sac_console_init("stability", &common);
    bool wake = strcmp(def.scene, "wake") == 0;
    if (!hz) hz = quick ? "90" : "72,90,120";
    if (!budgets) budgets = quick ? "2,4" : "2,4,8";
    if (!(def.seconds > 0)) def.seconds = wake ? 10 : quick ? 3 : 6;
    if (def.precision < 0) def.precision = quick ? 0.2 : 0.05;
    if (!def.most) def.most = quick ? 2000 : 5000;
    if (!def.most_same) def.most_same = quick ? 200 : 1000;
    def.spin_every = quick ? 8 : 4;
    def.hz_count = read_numbers(hz, 10, 1000, 1, def.hz);
    if (!def.hz_count)
        return sac_options_usage_error("stability", "--hz takes rates from 10 to 1000, as in 72,90,120");
    def.budget_count = read_numbers(budgets, 0.01, 1000, 1e3, def.budget_us);
    if (!def.budget_count)
        return sac_options_usage_error("stability", "--budgets-ms takes 0.01 to 1000, as in 2,4,8");
    char policy_list[512], peer_list[512];
    snprintf(policy_list, sizeof policy_list, "%s", policies);
    snprintf(peer_list, sizeof peer_list, "%s", peers);
    sac_error error;
    sac_shared_scene one;
    sac_result result = sac_shared_scene_create(&one, def.scene, def.shape, 1, def.seed, &error);
    if (result == SAC_OK) sac_shared_scene_destroy(&one);
    if (result == SAC_OK) result = add_policies(&def, policy_list, &error);
    if (result == SAC_OK) result = add_peers(&def, peer_list, &error);
    if (result != SAC_OK) return sac_console_fail(&error);
    if (!def.contender_count)
        return sac_options_usage_error("stability", "nobody to run: --policies and --peers are both none");
    sac_stability stability = {.def = &def};
    if (out) result = sac_folder_create(out, &error);
    if (result == SAC_OK) result = sac_stability_search(&stability, &error);
    if (result != SAC_OK && !stability.held.count) {
        sac_stability_fini(&stability);
        return sac_console_fail(&error);
    }
    /* What took tens of minutes is told before it is written, and also when it was stopped. */
    sac_error late;
    say_table(&stability);
    sac_result written = out ? sac_stability_save(&stability, out, &late) : SAC_OK;
    if (out && written == SAC_OK) sac_say("\nReport: %s/index.html\n", out);
    if (result == SAC_OK && written != SAC_OK) result = written, error = late;
    json_t *json = sac_stability_json(&stability);
    code = result == SAC_OK ? sac_console_json(json, false, SAC_EXIT_OK) : sac_console_spoilt(json, &error);
    sac_stability_fini(&stability);
    return code;
}
