#include "apps/demo_film.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"

#ifdef SACCADE_XR

#include "apps/picture.h"
#include "apps/show_camera.h"
#include "apps/show.h"
#include "apps/video.h"

enum { PATH = 4400, RATE = 30 };

typedef struct film_maker {
    sac_demo_film *film;
    const sac_demo_def *def;
    sac_show *show;
    sac_gaze_source *gaze;
    uint32_t frames, width, height;
} film_maker;

/* The head turns slowly to and fro. */
static uint32_t look(film_maker *m, uint32_t frame, uint32_t width, uint32_t height, sac_eye eyes[2],
                     sac_show_frame *out)
{
    double seconds = (double)frame / RATE;
    sac_show_camera camera = sac_show_camera_of(sac_show_staging(m->show));
    sac_gaze_reading reading;
    float head[3], rotation[4];
    camera.turn = 0.35f * (float)sin(0.7 * seconds);
    *out =
        (sac_show_frame){.display_ns = (int64_t)(seconds * 1e9) + 1, .now_ns = (uint64_t)(seconds * 1e9) + 1};
    uint32_t count = sac_show_camera_eyes(&camera, width, height, false, eyes);
    sac_show_camera_head(&camera, head, rotation);
    sac_gaze_source_read(m->gaze, out->now_ns, &reading);
    out->viewer = sac_default_viewer();
    memcpy(out->viewer.eyes, eyes, count * sizeof *eyes);
    sac_gaze_to_viewer(&reading, head, rotation, &out->viewer.gaze);
    return count;
}

static sac_result draw_still(film_maker *m, uint32_t frame, const sac_renderer_def *renderer,
                             sac_error *error)
{
    static const uint32_t width = 960, height = 540;
    sac_offscreen *screen = NULL;
    sac_eye eyes[2];
    sac_show_frame f;
    sac_drawing drawing;
    char path[PATH];
    sac_insight *insight = sac_show_insight(m->show), before = {0};
    before.paint = insight->paint, before.strip = insight->strip, before.rings = insight->rings;
    before.gaze = insight->gaze;
    sac_renderer_def fine = *renderer;
    fine.samples = 4, fine.shadow_size = 2048;
    uint32_t count = look(m, frame, width, height, eyes, &f);
    sac_result result = sac_offscreen_create(&fine, width, height, &screen, error);
    for (int i = 0; i < 2 && result == SAC_OK; i++) {
        const sac_show_look where = {.width = width, .height = height};
        insight->paint = i ? SAC_PAINT_JND : SAC_PAINT_MATERIAL;
        insight->rings = insight->gaze = i;
        insight->strip = false;
        result = sac_show_draw(m->show, eyes, count, &where, &drawing, error);
        if (result == SAC_OK) result = sac_offscreen_draw(screen, &drawing, NULL, error);
        snprintf(m->film->still[i], sizeof m->film->still[i], "storm-%s.png", i ? "jnd" : "plain");
        snprintf(path, sizeof path, "%s/%s", m->def->folder, m->film->still[i]);
        if (result == SAC_OK)
            result = sac_pixels_save(sac_offscreen_pixels(screen), width, height, path, error);
    }
    insight->paint = before.paint, insight->strip = before.strip, insight->rings = before.rings;
    insight->gaze = before.gaze;
    m->film->stills = result == SAC_OK;
    sac_offscreen_destroy(&screen);
    return result;
}

static sac_result draw_frames(film_maker *m, sac_offscreen *screen, const sac_renderer_def *renderer,
                              sac_error *error)
{
    sac_video video;
    char path[PATH], doing[] = "drawing the storm";
    sac_result result = SAC_OK;
    sac_insight *insight = sac_show_insight(m->show);
    uint32_t kept = 0;
    snprintf(path, sizeof path, "%s/storm.mp4", m->def->folder);
    bool filming = sac_video_begin(&video, path, m->width, m->height, RATE);
    insight->gaze = false, insight->rings = insight->strip = true;
    for (uint32_t i = 0; i < m->frames && result == SAC_OK; i++) {
        sac_eye eyes[2];
        sac_show_frame frame;
        sac_drawing drawing;
        sac_screen_stats stats;
        const sac_show_look where = {.width = m->width, .height = m->height};
        if (!sac_console_progress((float)i / (float)m->frames, doing)) {
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped while drawing the storm");
            break;
        }
        insight->paint = i >= m->frames / 2 ? SAC_PAINT_JND : SAC_PAINT_MATERIAL;
        uint32_t count = look(m, i, m->width, m->height, eyes, &frame);
        result = sac_show_advance(m->show, &frame, error);
        if (result == SAC_OK) result = sac_show_draw(m->show, eyes, count, &where, &drawing, error);
        if (result == SAC_OK) result = sac_offscreen_draw(screen, &drawing, &stats, error);
        if (result != SAC_OK) break;
        snprintf(m->film->device, sizeof m->film->device, "%s", stats.device);
        if (filming) sac_video_frame(&video, sac_offscreen_pixels(screen));
        /* Moments for the strip, should there be no video. */
        if (kept < SAC_FILM_STRIP && (i + 1) * SAC_FILM_STRIP >= (kept + 1) * m->frames) {
            snprintf(m->film->strip[kept], sizeof m->film->strip[kept], "storm-%u.png", kept + 1);
            snprintf(path, sizeof path, "%s/%s", m->def->folder, m->film->strip[kept++]);
            result = sac_pixels_save(sac_offscreen_pixels(screen), m->width, m->height, path, error);
        }
        if (result == SAC_OK && i == m->frames * 2 / 3) result = draw_still(m, i, renderer, error);
    }
    sac_console_progress_end();
    bool whole = filming && sac_video_end(&video);
    m->film->video = result == SAC_OK && whole ? "storm.mp4" : NULL;
    m->film->strip_count = kept;
    if (whole)
        for (uint32_t i = 0; i < kept; i++) {
            snprintf(path, sizeof path, "%s/%s", m->def->folder, m->film->strip[i]);
            remove(path);
        }
    return result;
}

sac_result sac_demo_film_make(sac_demo_film *film, const sac_demo_def *def, sac_error *error)
{
    film_maker m = {.film = film, .def = def, .frames = def->quick ? 12 : 150, .width = 640, .height = 360};
    sac_show_def show = sac_default_show_def();
    sac_renderer_def renderer = sac_default_renderer_def();
    sac_offscreen *screen = NULL;
    sac_error why;
    if (def->quick) m.width = 320, m.height = 180;
    show.scene = "hailstorm";
    show.staging.bodies = def->quick ? 60 : 1200;
    show.budget_ns = 4000000;
    show.credits = true; /* drawing in software leaves physics no fair share of the processor */
    sac_result result = sac_show_open(&show, &m.show, error);
    if (result == SAC_OK) result = sac_gaze_source_open("saccades:7", &m.gaze, error);
    if (result == SAC_OK) {
        renderer.gallery = sac_show_gallery(m.show);
        renderer.samples = 2, renderer.shadow_size = 1024;
        if (sac_offscreen_create(&renderer, m.width, m.height, &screen, &why) == SAC_OK)
            result = draw_frames(&m, screen, &renderer, error);
        else
            sac_say("  no pictures of the storm: %s\n", why.message);
    }
    snprintf(film->about, sizeof film->about,
             "Five seconds of the storm as seen from the plinth, the eye jumping from place to place as eyes "
             "do (circles); then in colours of the visible error left. In the corner the time of each step, "
             "counted in work so that the film is the same on every machine.");
    sac_offscreen_destroy(&screen);
    sac_show_close(&m.show);
    sac_gaze_source_close(&m.gaze);
    return result;
}

#else

sac_result sac_demo_film_make(sac_demo_film *film, const sac_demo_def *def, sac_error *error)
{
    (void)film, (void)def, (void)error;
    sac_say("  no pictures of the storm: built without SACCADE_XR\n");
    return SAC_OK;
}

#endif
