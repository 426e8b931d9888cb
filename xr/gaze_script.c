/* Gaze made up, repeatably: what eyes do, without eyes. */
#include "xr/gaze_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static const char remedy[] = "write fixation:YAW,PITCH, pursuit:RADIUS,PERIOD, saccades:SEED, sweep or head, "
                             "with @HZ behind it for samples at a rate";

static sac_result refuse(sac_error *error, const char *text, const char *why)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "'%.80s' is no way to look: %s", text, why);
}

/* How long a saccade of this many degrees takes, s: the main sequence, 21 ms and 2.2 ms a degree. */
static double saccade_seconds(double degrees) { return 0.021 + 0.0022 * degrees; }

/* Fixations of 0.2 to 0.6 s at places up to 20 degrees to the sides and 12 up and down; lids close for 0.1 to
 * 0.2 s about every four seconds. The last saccade goes to the first fixation. */
static void make_legs(sac_gaze_script *script, uint64_t seed)
{
    sac_rng rng = sac_rng_seed(seed);
    sac_gaze_leg *legs = script->legs;
    double at = 0, next_blink = 2 + 4 * (double)sac_rng_float(&rng);
    for (int i = 0; i < SAC_SCRIPT_LEGS; i++) {
        legs[i].yaw = i ? sac_rng_range(&rng, -20, 20) : 0;
        legs[i].pitch = i ? sac_rng_range(&rng, -12, 12) : 0;
    }
    for (int i = 0; i < SAC_SCRIPT_LEGS; i++) {
        sac_gaze_leg *leg = &legs[i], *next = &legs[(i + 1) % SAC_SCRIPT_LEGS];
        double fixation = (double)sac_rng_range(&rng, 0.2f, 0.6f);
        double closed = (double)sac_rng_range(&rng, 0.1f, 0.2f);
        double apart = hypot((double)(next->yaw - leg->yaw), (double)(next->pitch - leg->pitch));
        leg->begin = at;
        leg->leave = at + fixation;
        leg->land = leg->leave + saccade_seconds(apart);
        if (leg->leave > next_blink && fixation > closed + 0.05) {
            leg->blink = at + 0.5 * (fixation - closed);
            leg->unblink = leg->blink + closed;
            next_blink = at + 2 + 4 * (double)sac_rng_float(&rng);
        }
        at = leg->land;
    }
    script->round = at;
}

/* Two numbers with a comma between, or one when `out_b` is NULL, up to the end. */
static bool numbers_of(const char *text, double *out_a, double *out_b)
{
    char *end;
    *out_a = strtod(text, &end);
    if (end == text || !isfinite(*out_a)) return false;
    if (!out_b) return *end == 0;
    if (*end != ',') return false;
    text = end + 1;
    *out_b = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*out_b);
}

static sac_result parse_kind(sac_gaze_script *script, const char *text, const char *whole, sac_error *error)
{
    if (strcmp(text, "head") == 0) return SAC_OK;
    if (strcmp(text, "sweep") == 0) {
        script->kind = SAC_SCRIPT_SWEEP;
    } else if (strncmp(text, "fixation:", 9) == 0) {
        script->kind = SAC_SCRIPT_FIXATION;
        if (!numbers_of(text + 9, &script->a, &script->b))
            return refuse(error, whole, "a fixation needs two numbers, yaw and pitch in degrees");
        if (!(fabs(script->a) <= 180 && fabs(script->b) <= 90))
            return refuse(error, whole, "yaw is -180 to 180 and pitch -90 to 90 degrees");
    } else if (strncmp(text, "pursuit:", 8) == 0) {
        script->kind = SAC_SCRIPT_PURSUIT;
        if (!numbers_of(text + 8, &script->a, &script->b))
            return refuse(error, whole, "pursuit needs two numbers, radius in degrees and period in seconds");
        if (!(script->a >= 0 && script->a <= 60 && script->b >= 0.1 && script->b <= 1000))
            return refuse(error, whole, "the radius is 0 to 60 degrees and the period 0.1 to 1000 seconds");
    } else if (strncmp(text, "saccades:", 9) == 0) {
        script->kind = SAC_SCRIPT_SACCADES;
        double seed;
        if (!numbers_of(text + 9, &seed, NULL) || !(seed >= 0 && seed <= 1e15) || seed != floor(seed))
            return refuse(error, whole, "the seed is a whole number from 0");
        make_legs(script, (uint64_t)seed);
    } else {
        return refuse(error, whole, "the word is not known");
    }
    return SAC_OK;
}

sac_result sac_gaze_script_parse(sac_gaze_script *out_script, const char *text, sac_error *error)
{
    char copy[128];
    memset(out_script, 0, sizeof *out_script);
    if (strlen(text) >= sizeof copy) return refuse(error, text, "it is too long");
    strcpy(copy, text);
    sac_gaze_numbers numbers = sac_gaze_numbers_begin();
    char *rate = strchr(copy, '@');
    sac_result result = SAC_OK;
    if (rate) {
        *rate = 0;
        if (!numbers_of(rate + 1, &out_script->hz, NULL) || !(out_script->hz >= 1 && out_script->hz <= 10000))
            result = refuse(error, text, "the rate behind @ is 1 to 10000 samples a second");
    }
    if (result == SAC_OK) result = parse_kind(out_script, copy, text, error);
    sac_gaze_numbers_end(&numbers);
    return result;
}

/* From 0 to 1 with no speed and no acceleration at the ends, as a saccade goes: its greatest speed is 15/8 of
 * the mean. */
static double eased(double u) { return u * u * u * (10 + u * (-15 + 6 * u)); }

static void saccades(const sac_gaze_script *script, double seconds, sac_gaze_ray *ray)
{
    double at = fmod(seconds, script->round);
    int low = 0, high = SAC_SCRIPT_LEGS; /* the last leg begun by then is at low - 1 */
    while (low < high) {
        int middle = (low + high) / 2;
        if (script->legs[middle].begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    const sac_gaze_leg *leg = &script->legs[low - 1], *next = &script->legs[low % SAC_SCRIPT_LEGS];
    double u = at <= leg->leave ? 0 : eased((at - leg->leave) / (leg->land - leg->leave));
    ray->valid = !(at >= leg->blink && at < leg->unblink);
    if (ray->valid)
        sac_gaze_direction(leg->yaw + u * (double)(next->yaw - leg->yaw),
                           leg->pitch + u * (double)(next->pitch - leg->pitch), ray->direction);
}

void sac_gaze_script_at(const sac_gaze_script *script, uint64_t since_ns, uint64_t *out_time_ns,
                        sac_gaze_ray *out_ray)
{
    const double turn = 6.283185307179586;
    uint64_t time_ns = since_ns;
    if (script->hz > 0) {
        double apart = 1e9 / script->hz, count = floor((double)since_ns / apart) + 1;
        do time_ns = (uint64_t)(count * apart + 0.5);
        while (time_ns > since_ns && count-- >= 1);
    }
    double seconds = (double)time_ns * 1e-9;
    *out_time_ns = time_ns;
    *out_ray = sac_gaze_ray_none();
    if (script->kind == SAC_SCRIPT_HEAD) return;
    out_ray->valid = true;
    out_ray->confidence = 1;
    switch (script->kind) {
    case SAC_SCRIPT_HEAD:
        break;
    case SAC_SCRIPT_FIXATION:
        sac_gaze_direction(script->a, script->b, out_ray->direction);
        break;
    case SAC_SCRIPT_PURSUIT: {
        double phase = turn * fmod(seconds, script->b) / script->b;
        sac_gaze_direction(script->a * cos(phase), script->a * sin(phase), out_ray->direction);
        break;
    }
    case SAC_SCRIPT_SACCADES:
        saccades(script, seconds, out_ray);
        break;
    case SAC_SCRIPT_SWEEP: /* around the scene, at most about 25 degrees a second */
        sac_gaze_direction(24 * sin(turn * seconds / 7.3), 7 * sin(turn * seconds / 4.7), out_ray->direction);
        break;
    }
    if (!out_ray->valid) out_ray->confidence = NAN;
}
