/* Gaze as it comes from a tracker, made fit to decide by: saccades told by two speed thresholds, blinks held
 * over, loss and return softened, and a guard that says how far off the eye may be by the time light gets
 * there: tracker error + eye speed * (age of the sample + time to photons). */
#include "scheduler/perceive_internal.h"

#include "base/memory.h"
#include "scheduler/angle_internal.h"

/* Two frames farther apart than this are a fresh start: the program was paused, or the clock jumped. */
#define FRESH_NS 1000000000u
/* Samples farther apart tell no speed. */
#define SPEED_NS 100000000u
/* While nothing is seen of the eye it may drift this fast, degrees a second. */
#define DRIFT 20.0f
#define MOST_GUARD 30.0f

sac_gaze_def sac_default_gaze_def(void)
{
    return (sac_gaze_def){.saccade_degrees_s = 100,
                          .saccade_end_degrees_s = 60,
                          .tracker_error_degrees = 1,
                          .photon_latency_s = 0.015f,
                          .lost_after_s = 0.25f,
                          .return_s = 0.15f,
                          .flat_zone_degrees = 30,
                          .least_confidence = 0.3f};
}

void sac_gaze_init(sac_gaze_filter *filter, const sac_gaze_def *def)
{
    if (!filter) return;
    *filter = (sac_gaze_filter){.def = def ? *def : sac_default_gaze_def()};
}

void sac_gaze_fini(sac_gaze_filter *filter)
{
    if (!filter) return;
    sac_free(filter->more, filter->more_room, sizeof *filter->more);
    *filter = (sac_gaze_filter){.def = filter->def};
}

sac_result sac_gaze_reserve(sac_gaze_filter *filter, uint32_t eyes, sac_error *error)
{
    SAC_NEED(error, filter);
    uint32_t more = eyes > SAC_VIEWER_OWN_EYES ? eyes - SAC_VIEWER_OWN_EYES : 0;
    if (more <= filter->more_room) return SAC_OK;
    sac_focus_eye *fresh = sac_alloc(more, sizeof *fresh);
    if (!fresh) return sac_error_set(error, SAC_ERROR_MEMORY, "give fewer", "no memory for %u eyes", eyes);
    sac_free(filter->more, filter->more_room, sizeof *filter->more);
    filter->more = fresh;
    filter->more_room = more;
    return SAC_OK;
}

/* Forgets what was seen, keeps the room. */
static void start_afresh(sac_gaze_filter *filter)
{
    *filter = (sac_gaze_filter){.def = filter->def, .more = filter->more, .more_room = filter->more_room};
}

static bool normalise(float v[3])
{
    float size = fmaxf(fabsf(v[0]), fmaxf(fabsf(v[1]), fabsf(v[2])));
    if (!(size > 0 && size <= 3e38f)) return false;
    /* First to about one, so that no square overflows or vanishes. */
    float x = v[0] / size, y = v[1] / size, z = v[2] / size, length = sqrtf((x * x + y * y) + z * z);
    v[0] = x / length, v[1] = y / length, v[2] = z / length;
    return true;
}

/* Where an eye's -z points. */
static void forward_of(const sac_eye *eye, float out[3])
{
    sac_transform turn = {
        .scale = 1, .rotation = {eye->rotation[0], eye->rotation[1], eye->rotation[2], eye->rotation[3]}};
    float rows[3][3];
    sac_transform_rows(&turn, rows);
    for (int k = 0; k < 3; k++) out[k] = -rows[k][2];
    if (!normalise(out)) out[0] = 0, out[1] = 0, out[2] = -1;
}

static float seconds(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (float)((double)(to_ns - from_ns) * 1e-9) : 0.0f;
}

static bool usable(const sac_gaze_filter *filter, const sac_gaze_sample *gaze, uint64_t now_ns,
                   float out_direction[3])
{
    if (!gaze->valid || gaze->confidence < filter->def.least_confidence) return false;
    if (gaze->time_ns && seconds(gaze->time_ns, now_ns) > filter->def.lost_after_s) return false;
    for (int k = 0; k < 3; k++) out_direction[k] = gaze->direction[k];
    return sac_vec3_is_finite(out_direction) && normalise(out_direction);
}

/* A sample not seen before: its speed, and whether a saccade begins or ends with it. */
static void take_sample(sac_gaze_filter *filter, const float direction[3], uint64_t time_ns)
{
    bool follows = filter->any && time_ns > filter->sample_ns && time_ns - filter->sample_ns <= SPEED_NS;
    float speed = 0;
    if (follows)
        speed = sac_angle_between(filter->direction, direction) / seconds(filter->sample_ns, time_ns);
    bool moving = filter->state == SAC_GAZE_SACCADE;
    if (moving ? speed > filter->def.saccade_end_degrees_s : speed > filter->def.saccade_degrees_s) {
        /* Rising edge: what was looked at last is held until the eye lands. */
        if (!moving)
            for (int k = 0; k < 3; k++) filter->held[k] = filter->direction[k];
        filter->state = SAC_GAZE_SACCADE;
        filter->speed = speed;
    } else {
        filter->state = SAC_GAZE_FIXATION;
        /* Between saccades a tracker's noise looks like speed: only half of a change is believed at once. */
        filter->speed = moving ? speed : 0.5f * (filter->speed + speed);
        for (int k = 0; k < 3; k++) filter->held[k] = direction[k];
    }
    if (!filter->any) filter->blend = 1;
    filter->any = true;
    filter->sample_ns = time_ns;
    for (int k = 0; k < 3; k++) filter->direction[k] = direction[k];
}

static void follow(sac_gaze_filter *filter, const sac_gaze_sample *gaze, uint64_t now_ns)
{
    float direction[3];
    if (usable(filter, gaze, now_ns, direction)) {
        uint64_t time_ns = gaze->time_ns && gaze->time_ns < now_ns ? gaze->time_ns : now_ns;
        bool again = filter->any && time_ns <= filter->sample_ns;
        /* The tracker's clock may have been set back; a sample much older than the last starts afresh. */
        if (again && seconds(time_ns, filter->sample_ns) > filter->def.lost_after_s) again = false;
        if (!again)
            take_sample(filter, direction, time_ns);
        else if (filter->state == SAC_GAZE_BLINK || filter->state == SAC_GAZE_LOST)
            filter->state = SAC_GAZE_FIXATION;
        filter->valid_ns = now_ns;
    } else if (filter->any) {
        bool lost = seconds(filter->valid_ns, now_ns) > filter->def.lost_after_s;
        filter->state = lost ? SAC_GAZE_LOST : SAC_GAZE_BLINK;
        if (!lost) filter->speed = fmaxf(filter->speed < 100.0f ? filter->speed : DRIFT, DRIFT);
    }
}

void sac_gaze_update(sac_gaze_filter *filter, const sac_viewer *viewer, uint64_t now_ns, sac_focus *out_focus)
{
    if (out_focus) *out_focus = (sac_focus){0};
    if (!filter || !out_focus) return;
    if (filter->update_ns && (now_ns < filter->update_ns || now_ns - filter->update_ns > FRESH_NS))
        start_afresh(filter);
    float passed = filter->update_ns ? seconds(filter->update_ns, now_ns) : 0.0f;
    filter->update_ns = now_ns;
    if (!viewer || viewer->eye_count == 0) return;

    uint32_t eyes = viewer->eye_count;
    if (eyes > SAC_VIEWER_OWN_EYES) {
        bool room = viewer->more_eyes && sac_gaze_reserve(filter, eyes, NULL) == SAC_OK;
        uint32_t most = SAC_VIEWER_OWN_EYES + (viewer->more_eyes ? filter->more_room : 0);
        if (!room && eyes > most) eyes = most;
    }
    float ahead[3], head[3] = {0};
    out_focus->eye_count = eyes;
    out_focus->more = filter->more;
    for (uint32_t i = 0; i < eyes; i++) {
        forward_of(sac_viewer_eye(viewer, i), ahead);
        for (int k = 0; k < 3; k++) head[k] += ahead[k];
    }
    for (uint32_t i = 0; i < SAC_VIEWER_MOST_HANDS; i++) out_focus->hands[i] = viewer->hands[i];
    if (!normalise(head)) forward_of(&viewer->eyes[0], head);

    follow(filter, &viewer->gaze, now_ns);

    /* The first sample ever is believed at once; coming and going later is a matter of return_s. */
    const sac_gaze_def *def = &filter->def;
    bool tracked = filter->state == SAC_GAZE_FIXATION || filter->state == SAC_GAZE_SACCADE ||
                   filter->state == SAC_GAZE_BLINK;
    float goal = tracked ? 1.0f : 0.0f, tau = fmaxf(def->return_s, 0.0f);
    if (filter->any && passed > 0) filter->blend += (goal - filter->blend) * (passed / (passed + tau));
    if (fabsf(goal - filter->blend) < 0.001f) filter->blend = goal;

    float most = fminf(fmaxf(def->flat_zone_degrees, 0.0f), 180.0f), guard = most;
    if (filter->any) {
        float error = viewer->gaze.valid && viewer->gaze.error_degrees > 0 ? viewer->gaze.error_degrees
                                                                           : def->tracker_error_degrees;
        float late = seconds(filter->sample_ns, now_ns) + def->photon_latency_s;
        float close = fminf(error + filter->speed * late, MOST_GUARD);
        guard = most + (close - most) * filter->blend;
    }
    for (uint32_t i = 0; i < eyes; i++) {
        const sac_eye *eye = sac_viewer_eye(viewer, i);
        const float *rest = head;
        float axis[3];
        if (eyes > 1) forward_of(eye, ahead), rest = ahead;
        for (int k = 0; k < 3; k++) axis[k] = rest[k] + (filter->held[k] - rest[k]) * filter->blend;
        if (!normalise(axis))
            for (int k = 0; k < 3; k++) axis[k] = filter->any ? filter->held[k] : rest[k];
        if (i >= SAC_VIEWER_OWN_EYES) {
            sac_focus_eye_ready(eye, axis, &filter->more[i - SAC_VIEWER_OWN_EYES]);
            continue;
        }
        out_focus->eyes[i] = *eye;
        for (int k = 0; k < 3; k++) out_focus->axis[i][k] = axis[k];
    }
    out_focus->guard_degrees = guard;
    out_focus->state = filter->state;
    out_focus->eye_speed_degrees_s = filter->any ? filter->speed : 0.0f;
}
