/* One policy, one budget, one gaze: what is seen of the errors it leaves. The memory of pairs is the world's
 * (contacts by their nodes, refreshed in new poses; uncertainty, slide and drift since), and the same for all
 * policies, so that only the order of refinement differs. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bench/perceive.h"

const float sac_perceive_ring_end[SAC_PERCEIVE_RINGS] = {5, 10, 20, 30, 180};

/* An eye faster than this sees nothing of what it passes over. */
static const float blind_speed = 100;
static const double late_seconds = 0.06;

typedef struct pair_memory {
    uint32_t node_a[SAC_CONTACT_MOST], node_b[SAC_CONTACT_MOST];
    uint32_t count, refined; /* contacts; the frame they were read in */
    float uncertainty, margin;
    float region[3];
    float point_a[3], point_b[3]; /* deepest contact when it was read, local to both */
    sac_transform relative;       /* b against a when it was read */
    uint32_t touched_at;          /* frame since which it truly touches, + 1 */
    uint8_t level;
    bool known, answered; /* the touch has been responded to */
} pair_memory;

typedef struct perceive_run {
    const sac_perceive_motion *m;
    const sac_perceive_case *what;
    uint64_t seed;
    sac_agenda *agenda;
    pair_memory *memory; /* things x things */
    sac_clock clock;
    sac_pace pace;
    sac_gaze_filter filter;
    sac_perceive_result *out;
    double credits;
    /* of a frame's pairs, in their order */
    uint32_t room, *entry;
    float *used;        /* depth */
    float (*normal)[3]; /* of the deepest contact */
    float *x, *y, *z, *one, *zero, *extent, *sharp, *factor, *jnd;
} perceive_run;

enum { FLOATS = 9 };

/* ---- viewer ---- */

static void look(const sac_eye *eye, sac_gaze_now gaze, float out[3])
{
    double yaw = (double)gaze.yaw * 0.017453292519943295, pitch = (double)gaze.pitch * 0.017453292519943295;
    float local[3] = {(float)(sin(yaw) * cos(pitch)), (float)sin(pitch), (float)(-cos(yaw) * cos(pitch))};
    sac_transform turn = sac_transform_identity();
    memcpy(turn.rotation, eye->rotation, sizeof eye->rotation);
    sac_transform_point(&turn, local, out);
}

/* What the tracker tells, and the truth. */
static sac_gaze_now gaze_at(perceive_run *run, uint32_t f, sac_focus *out_told, sac_focus *out_true)
{
    sac_viewer viewer = run->m->viewer;
    double now = f / SAC_PERCEIVE_HZ, seen = now - (run->what->late ? late_seconds : 0);
    uint64_t now_ns = 2000000000u + (uint64_t)(now * 1e9);
    sac_gaze_now there = sac_trace_direction(run->what->trace, run->seed, now);
    viewer.gaze.valid = true;
    viewer.gaze.confidence = 1;
    viewer.gaze.time_ns = now_ns - (uint64_t)((now - seen) * 1e9);
    memcpy(viewer.gaze.origin, viewer.eyes[0].position, sizeof viewer.gaze.origin);
    look(&viewer.eyes[0], sac_trace_direction(run->what->trace, run->seed, seen), viewer.gaze.direction);
    sac_gaze_update(&run->filter, &viewer, now_ns, out_told);
    *out_true = *out_told;
    out_true->guard_degrees = 0;
    for (uint32_t e = 0; e < out_true->eye_count; e++) look(&viewer.eyes[e], there, out_true->axis[e]);
    return there;
}

/* ---- a frame ---- */

static pair_memory *memory_of(const perceive_run *run, const sac_perceive_pair *pair)
{
    return &run->memory[(size_t)pair->a * run->m->things + pair->b];
}

static float radius_of(const sac_perceive_motion *m, uint32_t thing)
{
    return sac_perceive_form(m, thing)->ball[3];
}

/* The second thing against the first, or a body against the box that stands still. */
static sac_transform relative_pose(const sac_perceive_motion *m, uint32_t f, const sac_perceive_pair *pair)
{
    const sac_transform *poses = m->poses + (size_t)f * m->things;
    bool box = pair->b >= m->things - m->box_count;
    return box ? sac_transform_relative(&poses[pair->b], &poses[pair->a])
               : sac_transform_relative(&poses[pair->a], &poses[pair->b]);
}

static const float *ball_of(const sac_perceive_motion *m, const sac_perceive_pair *pair)
{
    return sac_perceive_form(m, pair->b >= m->things - m->box_count ? pair->a : pair->b)->ball;
}

/* Which pairs are looked at; those found apart are left alone until they can have come near. */
static void gather(perceive_run *run, uint32_t f)
{
    const sac_perceive_motion *m = run->m;
    const sac_transform *poses = m->poses + (size_t)f * m->things;
    sac_agenda *agenda = run->agenda;
    sac_agenda_clear(agenda);
    for (uint32_t k = 0, p = m->first_pair[f]; p < m->first_pair[f + 1]; k++, p++) {
        const sac_perceive_pair *pair = &m->pairs.data[p];
        pair_memory *memory = memory_of(run, pair);
        sac_transform here = relative_pose(m, f, pair), last = f ? relative_pose(m, f - 1, pair) : here;
        const float *ball = ball_of(m, pair);
        float drift = memory->known ? sac_drift_between(&memory->relative, &here, ball) : 0;
        /* As fast as it came, and gravity. */
        float motion = sac_drift_between(&last, &here, ball) + 0.0025f;
        run->entry[k] = UINT32_MAX;
        if (memory->known && memory->count == 0 && drift + motion < memory->margin) continue;
        const sac_form *fa = sac_perceive_form(m, pair->a), *fb = sac_perceive_form(m, pair->b);
        float thin = fminf(fa->thickness, fb->thickness);
        float margin = SAC_PERCEIVE_REACH + fminf(motion, 0.5f * thin);
        uint32_t i = sac_agenda_add(agenda, fa, &poses[pair->a], fb, &poses[pair->b], margin);
        run->entry[k] = i;
        if (i == UINT32_MAX) continue;
        float share = radius_of(m, pair->a) / (radius_of(m, pair->a) + radius_of(m, pair->b));
        if (pair->b >= m->things - m->box_count) share = 0;
        for (int c = 0; c < 3 && !memory->count; c++)
            memory->region[c] = poses[pair->a].translation[c] +
                                share * (poses[pair->b].translation[c] - poses[pair->a].translation[c]);
        agenda->x[i] = memory->region[0], agenda->y[i] = memory->region[1], agenda->z[i] = memory->region[2];
        const float(*v)[3] = (const float(*)[3])m->velocity + (size_t)f * m->things;
        agenda->vx[i] = 0.5f * (v[pair->a][0] + v[pair->b][0]);
        agenda->vy[i] = 0.5f * (v[pair->a][1] + v[pair->b][1]);
        agenda->vz[i] = 0.5f * (v[pair->a][2] + v[pair->b][2]);
        agenda->extent[i] = 2 * fminf(radius_of(m, pair->a), radius_of(m, pair->b));
        agenda->tag[i] = k;
        if (!memory->known) continue;
        /* Contacts kept of a pair slide off while others, not kept, come to bear. */
        float slide = memory->count ? sac_slide_between(&poses[pair->a], memory->point_a, &poses[pair->b],
                                                        memory->point_b)
                                    : 0;
        float come = drift - memory->margin + (memory->count ? 0 : motion);
        agenda->known[i] = memory->uncertainty + fmaxf(come, slide);
        uint32_t age = f - memory->refined;
        agenda->age[i] = (uint16_t)(age < UINT16_MAX ? age : UINT16_MAX);
    }
}

/* Contacts of an entry, from its front or from memory, as the world reads them. */
static uint32_t read_contacts(perceive_run *run, uint32_t f, uint32_t i, const sac_transform *relative,
                              pair_memory *memory, sac_contact contacts[SAC_CONTACT_MOST])
{
    const sac_agenda *agenda = run->agenda;
    uint8_t flags = agenda->flags[i];
    uint32_t count = 0;
    if (sac_agenda_renews(agenda, i, memory->count, memory->level)) {
        sac_pairs pending, done;
        sac_agenda_front(agenda, i, &pending, &done);
        if (!(flags & SAC_AGENDA_EMPTY))
            count =
                sac_meeting_contacts(&agenda->meetings[i], &pending, &done, SAC_CONTACT_MOST, contacts, NULL);
        if (memory->known && memory->count && count && f >= run->m->warm)
            run->out->flips += memory->level != agenda->level[i];
        memory->level = agenda->level[i];
        memory->known = true;
        memory->uncertainty = agenda->uncertainty[i];
        memory->margin = agenda->margin[i];
        memory->relative = *relative;
        memory->refined = f;
    } else if (memory->count) {
        sac_meeting meeting;
        uint32_t a[1 + SAC_PAIRS_SLACK], b[1 + SAC_PAIRS_SLACK];
        sac_pairs root = {a, b, 0, 1};
        if (sac_meeting_begin(&meeting, agenda->form_a[i], agenda->pose_a[i], agenda->form_b[i],
                              agenda->pose_b[i], agenda->margin[i], &root))
            for (uint32_t k = 0; k < memory->count; k++)
                count +=
                    sac_meeting_refresh(&meeting, memory->node_a[k], memory->node_b[k], &contacts[count]);
    }
    memory->count = count;
    uint32_t deepest = 0;
    for (uint32_t k = 0; k < count; k++) {
        memory->node_a[k] = contacts[k].node_a, memory->node_b[k] = contacts[k].node_b;
        if (sac_perceive_depth(&contacts[k]) > sac_perceive_depth(&contacts[deepest])) deepest = k;
    }
    if (count && memory->refined == f) {
        sac_transform world = sac_transform_identity();
        sac_transform into_a = sac_transform_relative(agenda->pose_a[i], &world),
                      into_b = sac_transform_relative(agenda->pose_b[i], &world);
        sac_transform_point(&into_a, contacts[deepest].point, memory->point_a);
        sac_transform_point(&into_b, contacts[deepest].point, memory->point_b);
    }
    return count;
}

static void use(perceive_run *run, uint32_t f, uint32_t k, const sac_perceive_pair *pair)
{
    sac_transform relative = relative_pose(run->m, f, pair);
    pair_memory *memory = memory_of(run, pair);
    sac_contact contacts[SAC_CONTACT_MOST];
    uint32_t i = run->entry[k], count = 0;
    run->used[k] = -SAC_PERCEIVE_REACH;
    if (i != UINT32_MAX) count = read_contacts(run, f, i, &relative, memory, contacts);
    float middle[3] = {0};
    for (uint32_t c = 0; c < count; c++) {
        float depth = sac_perceive_depth(&contacts[c]);
        for (int d = 0; d < 3; d++) middle[d] += contacts[c].point[d] / (float)count;
        if (depth <= run->used[k]) continue;
        run->used[k] = depth;
        memcpy(run->normal[k], contacts[c].normal, sizeof run->normal[k]);
    }
    if (count) memcpy(memory->region, middle, sizeof middle);
    bool truly = pair->depth > -SAC_PERCEIVE_REACH;
    const float *where = truly ? pair->point : memory->region;
    run->x[k] = where[0], run->y[k] = where[1], run->z[k] = where[2];
    run->extent[k] = 2 * fminf(radius_of(run->m, pair->a), radius_of(run->m, pair->b));
}

static uint32_t bin_of(double jnd)
{
    if (!(jnd > 0x1p-10)) return 0;
    double at = (log2(jnd) + 10) * 16;
    return at < SAC_PERCEIVE_BINS - 2 ? 1 + (uint32_t)at : SAC_PERCEIVE_BINS - 1;
}

static double eccentricity(const sac_focus *focus, const float point[3])
{
    double least = 180;
    for (uint32_t e = 0; e < focus->eye_count; e++) {
        double along = 0, length = 0;
        for (int k = 0; k < 3; k++) {
            double d = (double)point[k] - focus->eyes[e].position[k];
            along += d * focus->axis[e][k];
            length += d * d;
        }
        least = fmin(least, acos(fmin(fmax(along / sqrt(length), -1), 1)) * 57.29577951308232);
    }
    return least;
}

static void judge(perceive_run *run, uint32_t f, const sac_focus *truth, bool blind)
{
    const sac_perceive_motion *m = run->m;
    sac_perceive_result *out = run->out;
    uint32_t first = m->first_pair[f], count = m->first_pair[f + 1] - first;
    /* The eye's own formula with the error that is really there; speed and number are left out. */
    sac_perception_def plain = sac_default_perception_def();
    plain.speed_ref = 0;
    plain.most_jnd = FLT_MAX;
    sac_sights sights = {.count = count,
                         .x = run->x,
                         .y = run->y,
                         .z = run->z,
                         .uncertainty = run->one,
                         .extent = run->extent,
                         .vx = run->zero,
                         .vy = run->zero,
                         .vz = run->zero,
                         .weight = run->one,
                         .similar = run->zero,
                         .jnd = run->jnd,
                         .priority = run->jnd,
                         .sharpness = run->sharp,
                         .factor = run->factor};
    sac_perceive(&plain, truth, &sights);
    for (uint32_t k = 0; k < count; k++) {
        const sac_perceive_pair *pair = &m->pairs.data[first + k];
        pair_memory *memory = memory_of(run, pair);
        float used = run->used[k], real = pair->depth;
        bool has = used > -SAC_PERCEIVE_REACH, truly = real > -SAC_PERCEIVE_REACH;
        bool counted = f >= m->warm;
        if (real <= 0) {
            memory->touched_at = 0;
        } else if (!memory->touched_at) {
            memory->touched_at = f + 1;
            memory->answered = false;
        }
        if (memory->touched_at && !memory->answered && has && used > 0) {
            memory->answered = true;
            if (memory->touched_at - 1 >= m->warm) {
                out->delay_ms += (f + 1 - memory->touched_at) * 1000.0 / SAC_PERCEIVE_HZ;
                out->delays++;
            }
        }
        if (!counted) continue;
        out->held += has;
        out->touching += real > 0;
        out->false_contacts += used > 0 && !truly;
        out->missed_contacts += real > 0 && !has;
        if (used > 0 && real > 0) {
            const float *n = run->normal[k], *t = pair->normal;
            double along = (double)n[0] * t[0] + (double)n[1] * t[1] + (double)n[2] * t[2];
            out->direction_degrees += acos(fmin(fmax(along, -1), 1)) * 57.29577951308232;
            out->directions++;
        }
        bool in_view = run->factor[k] > 0.5f;
        if (blind || !in_view || !(used > 0 || real > 0)) continue;
        double error = fmin(fabs((double)used - (double)real), (double)run->extent[k]);
        double jnd = error * (double)run->sharp[k],
               e = eccentricity(truth, (float[3]){run->x[k], run->y[k], run->z[k]});
        uint32_t ring = 0;
        while (e > (double)sac_perceive_ring_end[ring] && ring + 1 < SAC_PERCEIVE_RINGS) ring++;
        out->bins[ring][bin_of(jnd)]++;
        out->samples++;
        out->sum += jnd;
        out->most = fmax(out->most, jnd);
    }
}

static void run_frame(perceive_run *run, uint32_t f)
{
    const sac_perceive_motion *m = run->m;
    sac_perception_def perception = sac_default_perception_def();
    sac_focus told, truth;
    sac_agenda_report report;
    sac_stop stop;
    sac_gaze_now gaze = gaze_at(run, f, &told, &truth);
    gather(run, f);
    uint64_t before = run->clock.spent, ps = run->clock.ps_per_credit;
    uint64_t limit = run->what->budget_pct > 100
                         ? UINT64_MAX
                         : before * ps / 1000 +
                               (uint64_t)(m->full_credits * run->what->budget_pct * 0.01 * (double)ps / 1000);
    sac_stop_at(&stop, &run->clock, limit, &run->pace);
    sac_agenda_work(run->agenda, sac_policy_find(run->what->policy, NULL), &perception, &told, &stop, NULL,
                    &report);
    if (f >= m->warm) run->credits += (double)(run->clock.spent - before);
    for (uint32_t k = 0, p = m->first_pair[f]; p < m->first_pair[f + 1]; k++, p++)
        use(run, f, k, &m->pairs.data[p]);
    judge(run, f, &truth, gaze.speed > blind_speed);
}

sac_result sac_perceive_run(const sac_perceive_motion *m, const sac_perceive_case *what, uint64_t seed,
                            sac_perceive_result *out_result, sac_error *error)
{
    perceive_run run = {.m = m, .what = what, .seed = seed, .out = out_result};
    *out_result = (sac_perceive_result){0};
    if (!sac_policy_find(what->policy, error)) return SAC_ERROR_ARGUMENT;
    for (uint32_t f = 0; f < m->frames; f++) {
        uint32_t count = m->first_pair[f + 1] - m->first_pair[f];
        if (count > run.room) run.room = count;
    }
    run.room = (run.room + 8) / 8 * 8;
    size_t places = (size_t)m->things * m->things;
    sac_agenda_def def = sac_default_agenda_def();
    def.pairs = run.room;
    /* Room is zeroed for each run: two thousand entries a pair, and never little. */
    def.entries = run.room < 128 ? 1u << 18 : run.room < 1024 ? run.room << 11 : 1u << 21;
    def.seed = seed;
    sac_result result = sac_agenda_create(&def, &run.agenda, error);
    float *floats = sac_alloc_zero(FLOATS * (size_t)run.room, sizeof *floats);
    run.memory = sac_alloc_zero(places, sizeof *run.memory);
    run.entry = sac_alloc(run.room, sizeof *run.entry);
    run.used = sac_alloc(run.room, sizeof *run.used);
    run.normal = sac_alloc_zero(run.room, sizeof *run.normal);
    if (result == SAC_OK && (!floats || !run.memory || !run.entry || !run.used || !run.normal))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a run");
    if (result == SAC_OK) {
        float **arrays[FLOATS] = {&run.x,      &run.y,     &run.z,      &run.one, &run.zero,
                                  &run.extent, &run.sharp, &run.factor, &run.jnd};
        for (uint32_t k = 0; k < FLOATS; k++) *arrays[k] = floats + (size_t)k * run.room;
        for (uint32_t k = 0; k < run.room; k++) run.one[k] = 1;
        run.clock = sac_clock_credits(500);
        sac_pace_init(&run.pace);
        sac_gaze_init(&run.filter, NULL);
        for (uint32_t f = 0; f < m->frames; f++) run_frame(&run, f);
        out_result->credits = run.credits / (m->frames - m->warm);
    }
    sac_agenda_destroy(&run.agenda);
    sac_free(floats, FLOATS * (size_t)run.room, sizeof *floats);
    sac_free(run.memory, places, sizeof *run.memory);
    sac_free(run.entry, run.room, sizeof *run.entry);
    sac_free(run.used, run.room, sizeof *run.used);
    sac_free(run.normal, run.room, sizeof *run.normal);
    return result;
}

double sac_perceive_percentile(const sac_perceive_result *r, uint32_t first, uint32_t last, double share)
{
    uint64_t all = 0, seen = 0;
    for (uint32_t ring = first; ring <= last; ring++)
        for (uint32_t b = 0; b < SAC_PERCEIVE_BINS; b++) all += r->bins[ring][b];
    if (!all) return NAN;
    double want = share * (double)all;
    for (uint32_t b = 0; b < SAC_PERCEIVE_BINS; b++) {
        uint64_t here = 0;
        for (uint32_t ring = first; ring <= last; ring++) here += r->bins[ring][b];
        if (here && (double)(seen + here) >= want) {
            if (b == 0) return 0;
            /* Even inside a bin, on the scale of the bins. */
            double inside = (want - (double)seen) / (double)here;
            return fmin(exp2((b - 1 + inside) / 16.0 - 10), r->most);
        }
        seen += here;
    }
    return r->most;
}

void sac_perceive_add(sac_perceive_result *to, const sac_perceive_result *from)
{
    for (uint32_t ring = 0; ring < SAC_PERCEIVE_RINGS; ring++)
        for (uint32_t b = 0; b < SAC_PERCEIVE_BINS; b++) to->bins[ring][b] += from->bins[ring][b];
    to->most = fmax(to->most, from->most);
    to->sum += from->sum;
    to->samples += from->samples;
    to->false_contacts += from->false_contacts;
    to->missed_contacts += from->missed_contacts;
    to->touching += from->touching;
    to->flips += from->flips;
    to->held += from->held;
    to->delay_ms += from->delay_ms;
    to->delays += from->delays;
    to->direction_degrees += from->direction_degrees;
    to->directions += from->directions;
    to->credits += from->credits;
}
