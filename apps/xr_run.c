/* The loop of saccade xr. The session says when a picture is due and how long physics may take; the show does
 * the rest. When the runtime goes away the world runs on, and the session is opened again. */
#include "apps/xr_run.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define EYE_HEIGHT 1.6f          /* of the person a scene's viewer stands for */
#define RETRY_NS 500000000u      /* between two tries to open a lost session */
#define AHEAD_NS 20000000        /* display times when nobody predicts them */
#define BOTH_MENUS_NS 400000000u /* the two buttons pressed within this are pressed together */

static volatile sig_atomic_t interrupted;
static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void sac_xr_run_message(const char *text, void *user)
{
    ((sac_xr_run *)user)->messages++;
    fprintf(stderr, "saccade xr: %s\n", text);
}

/* ---- from the room into the scene ---- */

/* Where the scene's viewer stands, turned to what he looks at: there the wearer is. */
static void find_stand(sac_xr_run *run)
{
    const sac_staging *staging = sac_show_staging(run->show);
    float ahead[3] = {staging->target[0] - staging->eye[0], 0, staging->target[2] - staging->eye[2]};
    memcpy(run->stand, staging->eye, sizeof run->stand);
    run->stand[1] = fabsf(staging->eye[1] - EYE_HEIGHT) < 0.5f ? 0 : staging->eye[1] - EYE_HEIGHT;
    if (ahead[0] * ahead[0] + ahead[2] * ahead[2] < 1e-6f) ahead[2] = -1;
    sac_look_rotation(ahead, run->turn);
}

static void place(const sac_xr_run *run, float position[3], float rotation[4])
{
    sac_transform room = {.scale = 1};
    float moved[3];
    memcpy(room.translation, run->stand, sizeof run->stand);
    memcpy(room.rotation, run->turn, sizeof run->turn);
    sac_transform_point(&room, position, moved);
    memcpy(position, moved, sizeof moved);
    if (rotation) sac_rotation_join(run->turn, rotation, rotation);
}

static void place_frame(const sac_xr_run *run, sac_session_frame *f)
{
    for (uint32_t i = 0; i < f->eye_count; i++) place(run, f->eyes[i].position, f->eyes[i].rotation);
    if (f->head_valid) place(run, f->head_position, f->head_rotation);
    for (int h = 0; h < SAC_HANDS; h++) {
        sac_hand_input *hand = &f->hands[h];
        if (hand->active) {
            place(run, hand->position, hand->rotation);
            place(run, hand->aim_position, hand->aim_rotation);
        }
        for (int i = 0; i < SAC_HAND_JOINTS && hand->joints_valid; i++) place(run, hand->joints[i], NULL);
    }
}

/* ---- a frame ---- */

static sac_result read_gaze(sac_xr_run *run, sac_session_frame *f, sac_viewer *viewer, sac_error *error)
{
    sac_gaze_reading *reading = &f->gaze;
    const uint64_t now = sac_time_now_ns();
    if (run->gaze) sac_gaze_source_read(run->gaze, now, reading);
    const bool wanted = run->gaze || f->gaze_supported;
    if (wanted && f->focused) {
        if (!reading->cyclopean.valid)
            run->gaze_lost++;
        else if (reading->fresh)
            run->gaze_fresh++;
        else
            run->gaze_duplicate++;
    }
    if (wanted && f->head_valid)
        sac_gaze_to_viewer(reading, f->head_position, f->head_rotation, &viewer->gaze);
    return run->log ? sac_gaze_log_write(run->log, now, reading, error) : SAC_OK;
}

/* One button shows another paint, the other the rest; both together put the wearer back where the scene wants
 * him. */
static void press_menus(sac_xr_run *run, const sac_session_frame *f)
{
    sac_insight *insight = sac_show_insight(run->show);
    for (int h = 0; h < SAC_HANDS; h++) {
        if (!f->hands[h].menu) continue;
        const uint64_t now = f->stamp.wake_ns, other = run->menu_ns[1 - h];
        run->menu_ns[h] = now;
        if (other && now - other < BOTH_MENUS_NS) {
            sac_error error;
            if (sac_session_recentre(run->session, &error) != SAC_OK) sac_xr_run_message(error.message, run);
        } else if (h == 0) {
            insight->paint = (insight->paint + 1) % SAC_PAINTS;
        } else {
            insight->strip = !insight->strip;
            insight->gaze = insight->rings = insight->contacts = insight->strip;
        }
    }
}

static void book(sac_xr_run *run, const sac_session_frame *f, const sac_viewer *viewer, uint64_t physics_end)
{
    sac_show_stats show;
    sac_show_stats_get(run->show, &show);
    sac_xr_row *row = sac_xr_books_next(&run->books);
    *row = (sac_xr_row){.frame = run->frames,
                        .wait_begin_ns = f->stamp.wait_begin_ns,
                        .wait_end_ns = f->stamp.wake_ns,
                        .predicted_ns = f->predicted_ns,
                        .predicted_xr = f->stamp.predicted_xr,
                        .period_ns = f->stamp.period_ns,
                        .step_ns = f->verdict.step_ns,
                        .begin_ns = f->begin_ns,
                        .deadline_ns = f->deadline_ns,
                        .physics_end_ns = physics_end,
                        .end_ns = sac_time_now_ns(),
                        .gpu_ns = f->should_render ? run->stats.gpu_ns : 0,
                        .room_ns = f->should_render ? run->stats.prepare_ns + show.own_ns : 0,
                        .physics_ns = show.physics_ns,
                        .gaze_ns = f->gaze.sample_ns,
                        .missed = f->verdict.missed,
                        .steps = show.frame_steps,
                        .bodies = show.bodies,
                        .allocations = show.allocations,
                        .should_render = f->should_render,
                        .strange = f->verdict.strange,
                        .gaze_valid = viewer->gaze.valid,
                        .gaze_fresh = f->gaze.fresh};
    row->late = row->end_ns > row->predicted_ns;
    memcpy(row->head, f->head_position, sizeof f->head_position);
    memcpy(row->head + 3, f->head_rotation, sizeof f->head_rotation);
    memcpy(row->gaze, viewer->gaze.direction, sizeof row->gaze);
    snprintf(row->state, sizeof row->state, "%.15s", f->state);
}

static sac_result make_frame(sac_xr_run *run, sac_session_frame *f, sac_error *error)
{
    sac_viewer viewer = {.eye_count = f->eye_count};
    place_frame(run, f);
    memcpy(viewer.eyes, f->eyes, f->eye_count * sizeof *f->eyes);
    if (f->focused && !run->focused_ns) {
        run->focused_ns = sac_time_now_ns() - run->started_ns;
        fprintf(stderr, "saccade xr: %s, focused after %.0f ms; Ctrl-C ends\n", run->info.system,
                (double)run->focused_ns * 1e-6);
    }
    sac_result result = read_gaze(run, f, &viewer, error);
    sac_show_frame frame = {.display_ns = (int64_t)f->predicted_ns,
                            .deadline_ns = f->deadline_ns,
                            .now_ns = sac_time_now_ns(),
                            .viewer = viewer,
                            .missed = f->verdict.missed};
    memcpy(frame.hands, f->hands, sizeof frame.hands);
    if (result == SAC_OK) result = sac_show_advance(run->show, &frame, error);
    const uint64_t physics_end = sac_time_now_ns();
    const sac_hands *hands = sac_show_hands(run->show);
    for (uint32_t h = 0; h < SAC_HANDS && hands; h++)
        if (hands->hand[h].pulse > 0.02f) sac_session_pulse(run->session, h, hands->hand[h].pulse, 0.02f);
    press_menus(run, f);
    sac_drawing drawing = sac_default_drawing();
    const sac_show_look look = {.wrist = true, .width = run->info.width, .height = run->info.height};
    if (result == SAC_OK && f->should_render)
        result = sac_show_draw(run->show, f->eyes, f->eye_count, &look, &drawing, error);
    if (result == SAC_OK && f->should_render)
        result = sac_session_draw(run->session, &drawing, &run->stats, error);
    else
        sac_session_skip(run->session, NULL);
    if (result == SAC_OK) book(run, f, &viewer, physics_end);
    run->frames++;
    return result;
}

/* Nobody waits for a picture: the world goes on by our own clock. */
static sac_result go_on(sac_xr_run *run, uint64_t until_ns, sac_error *error)
{
    sac_result result = SAC_OK;
    do {
        const uint64_t now = sac_time_now_ns();
        const sac_show_frame frame = {.display_ns = (int64_t)now + AHEAD_NS,
                                      .deadline_ns = now + 4000000,
                                      .now_ns = now,
                                      .viewer = sac_show_viewer(run->show)};
        result = sac_show_advance(run->show, &frame, error);
        if (until_ns > now && result == SAC_OK) nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
    } while (result == SAC_OK && !interrupted && sac_time_now_ns() < until_ns);
    return result;
}

static sac_result come_back(sac_xr_run *run, const sac_error *trouble, sac_error *error)
{
    char text[512];
    const uint64_t now = sac_time_now_ns();
    if (!run->lost_since_ns) {
        run->lost_since_ns = now;
        fprintf(stderr, "saccade xr: %s\n", sac_error_text(trouble, text, sizeof text));
        fprintf(stderr, "saccade xr: the world runs on; trying again for %u s\n", run->options->patience);
    }
    if (now - run->lost_since_ns >= run->options->patience * UINT64_C(1000000000))
        return sac_error_set(error, SAC_ERROR_IO, "start it again, or wait longer with --patience",
                             "the runtime did not come back within %u s", run->options->patience);
    if (sac_session_reopen(run->session, error) == SAC_OK) {
        const uint64_t away = sac_time_now_ns() - run->lost_since_ns;
        fprintf(stderr, "saccade xr: back after %.1f s\n", (double)away * 1e-9);
        run->lost_ns += away;
        run->lost_since_ns = 0;
        return SAC_OK;
    }
    return go_on(run, sac_time_now_ns() + RETRY_NS, error);
}

sac_result sac_xr_run_go(sac_xr_run *run, sac_error *error)
{
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    find_stand(run);
    for (;;) {
        sac_session_frame frame;
        sac_error trouble;
        sac_result result = SAC_OK;
        if ((interrupted || (run->options->frames && run->frames >= run->options->frames)) && !run->exiting) {
            run->exiting = true;
            result = sac_session_request_exit(run->session, error);
        }
        if (result != SAC_OK) return result;
        switch (sac_session_wait(run->session, &frame, &trouble)) {
        case SAC_SESSION_FRAME:
            result = make_frame(run, &frame, error);
            break;
        case SAC_SESSION_IDLE:
            result = go_on(run, 0, error);
            break;
        case SAC_SESSION_LOST:
            if (run->exiting) return SAC_OK; /* it was to end anyway */
            result = come_back(run, &trouble, error);
            break;
        case SAC_SESSION_EXIT:
            return SAC_OK;
        }
        if (result != SAC_OK) return result;
    }
}
