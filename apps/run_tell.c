#include "apps/run_tell.h"

#include <math.h>
#include <stdio.h>

/* ---- what is printed ---- */

static json_t *percentiles_json(const sac_percentiles *p)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "p50", sac_json_number(p->p50), "p99", sac_json_number(p->p99),
                     "p999", sac_json_number(p->p999), "max", sac_json_number(p->max));
}

static void set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, sac_json_number(value));
}

static void set_count(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *three(const char *a, double x, const char *b, double y, const char *c, double z)
{
    json_t *object = json_object();
    set_number(object, a, x), set_number(object, b, y), set_number(object, c, z);
    return object;
}

json_t *sac_run_json(const char *scene, const char *gaze, const sac_run *run, const sac_run_def *def)
{
    char hash[20];
    const sac_penetration *end = &run->last_penetration;
    json_t *o = json_object(), *ladder = json_object();
    json_object_set_new(o, "scene", sac_json_text(scene));
    json_object_set_new(o, "gaze", sac_json_text(gaze));
    json_object_set_new(o, "policy", json_string(def->policy));
    json_object_set_new(o, "clock", json_string(def->credits ? "credits" : "wall"));
    set_count(o, "bodies", run->bodies);
    set_count(o, "frames", run->frames);
    set_number(o, "hz", def->hz);
    set_number(o, "budget_us", (double)def->budget_ns * 1e-3);
    set_count(o, "threads", def->threads);
    json_object_set_new(o, "step_us", percentiles_json(&run->step_us));
    json_object_set_new(o, "cpu_us", percentiles_json(&run->cpu_us));
    json_object_set_new(o, "overshoot_us", percentiles_json(&run->overshoot_us));
    json_object_set_new(o, "noise_floor_us", percentiles_json(&run->noise_us));
    json_object_set_new(o, "stall_us", percentiles_json(&run->stall_us));
    json_object_set_new(o, "record_us", percentiles_json(&run->record_us));
    set_count(o, "misses", run->misses);
    set_count(o, "late", run->late);
    set_count(o, "lost_bodies", run->census.lost);
    set_count(o, "lost_bodies_most", run->lost_most);
    set_count(o, "nan", run->not_finite + run->census.not_finite);
    set_count(o, "contacts_max", run->contacts_max);
    json_object_set_new(o, "penetration_mm",
                        three("mean", run->penetration_mean_mm, "p99", run->penetration_p99_mm, "max",
                              run->penetration_max_mm));
    bool known = !isnan(run->penetration_mean_mm);
    json_object_set_new(o, "penetration_end_mm",
                        three("mean", known ? end->mean_mm : NAN, "p99", known ? end->p99_mm : NAN, "max",
                              known ? end->max_mm : NAN));
    set_count(o, "penetration_bodies", run->measured);
    set_number(o, "floor_mm", run->floor_mm);
    set_count(o, "drains", run->drains);
    json_object_set_new(o, "jnd_left", three("p50", run->jnd_p50, "p95", run->jnd_p95, "max", run->jnd_max));
    set_number(o, "returned_us_mean", run->returned_us_mean);
    for (uint32_t i = 0; i < SAC_RUNGS; i++) set_count(ladder, sac_rung_name(i), run->rungs[i]);
    json_object_set_new(o, "ladder", ladder);
    double awake = run->awake ? (double)run->awake : 1;
    json_object_set_new(o, "simulated_share", json_real((double)run->simulated / awake));
    json_object_set_new(o, "standing_share", json_real((double)run->rungs[SAC_RUNG_HELD] / awake));
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->state_hash);
    json_object_set_new(o, "state_hash", json_string(hash));
    json_object_set_new(
        o, "energy_j", three("first", run->energy_first, "most", run->energy_most, "last", run->energy_last));
    set_count(o, "late_allocations", run->late_allocations);
    set_count(o, "world_bytes", run->world_bytes);
    set_count(o, "process_bytes", run->process_bytes);
    set_number(o, "seconds", run->seconds);
    return o;
}

static void say_row(const char *name, const sac_percentiles *p)
{
    if (isfinite(p->p50))
        sac_say("  %-28s %10.1f %10.1f %10.1f %10.1f\n", name, p->p50, p->p99, p->p999, p->max);
}

void sac_run_say(const char *scene, const char *gaze, const sac_run *run, const sac_run_def *def)
{
    char a[32], b[32], budget[48], some[64] = "";
    snprintf(budget, sizeof budget, def->budget_ns ? "%.10g us" : "no", (double)def->budget_ns * 1e-3);
    sac_say("%s: %s %s, %s frame%s at %.6g Hz, %s budget, policy %s, gaze %s, %u thread%s%s\n", scene,
            sac_text_count(a, run->bodies), run->bodies == 1 ? "body" : "bodies",
            sac_text_count(b, run->frames), run->frames == 1 ? "" : "s", def->hz, budget, def->policy, gaze,
            def->threads, def->threads == 1 ? "" : "s", def->credits ? ", in work credits" : "");
    sac_say("  %-28s %10s %10s %10s %10s\n", "microseconds", "p50", "p99", "p99.9", "max");
    say_row(def->credits ? "step, credit clock" : "step", &run->step_us);
    say_row("own CPU time", &run->cpu_us);
    say_row("overshoot", &run->overshoot_us);
    say_row("noise floor (spin loop)", &run->noise_us);
    say_row("longest stall in a spin", &run->stall_us);
    say_row("recording, behind the step", &run->record_us);
    if (def->budget_ns)
        sac_say("  misses %llu (own CPU time more than 250 us over), late %llu (wall time), returned %.0f us "
                "a frame\n",
                (unsigned long long)run->misses, (unsigned long long)run->late, run->returned_us_mean);
    sac_say("  visible error left, JND: median %.3g, 95 %% %.3g, max %.3g\n", run->jnd_p50, run->jnd_p95,
            run->jnd_max);
    if (run->measured < run->movers)
        snprintf(some, sizeof some, ", of %u bodies of %u", run->measured, run->movers);
    if (isnan(run->penetration_mean_mm))
        sac_say("  overlap: not measured, for no body that moves is made of rigid spheres\n");
    else
        sac_say("  overlap, mm%s: mean %.2f, 99 %% %.2f, max %.1f; at the end %.2f, %.2f, %.1f\n", some,
                run->penetration_mean_mm, run->penetration_p99_mm, run->penetration_max_mm,
                run->last_penetration.mean_mm, run->last_penetration.p99_mm, run->last_penetration.max_mm);
    if (run->drains)
        sac_say("  overlaps were measured in mid-run %u times, for the poses had no more room: the frames "
                "after may be late for it\n",
                run->drains);
    sac_say("  contacts up to %s; bodies lost %u, not finite %llu\n", sac_text_count(a, run->contacts_max),
            run->census.lost, (unsigned long long)(run->not_finite + run->census.not_finite));
    if (run->simulated < run->awake)
        sac_say("  of the awake bodies %.1f %% had a turn in a frame, %.1f %% stood still in mid-motion, the "
                "rest "
                "lay or flew on\n",
                100.0 * (double)run->simulated / (double)run->awake,
                100.0 * (double)run->rungs[SAC_RUNG_HELD] / (double)run->awake);
    sac_say("  ladder:");
    for (uint32_t i = 0; i < SAC_RUNGS; i++)
        sac_say(" %s %s%s", sac_rung_name(i), sac_text_count(a, run->rungs[i]),
                i + 1 < SAC_RUNGS ? "," : "\n");
    sac_say("  state %016llx, %.1f s in all\n", (unsigned long long)run->state_hash, run->seconds);
}
