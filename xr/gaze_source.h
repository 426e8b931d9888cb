/* Where gaze comes from. A source is asked once a frame and answers in head space; duplicates are recognised
 * by their time stamps, so that a tracker slower than the display is not counted twice.
 *
 *   sac_gaze_source *source;
 *   sac_gaze_source_open("saccades:7@120", &source, &error);   // or "sweep", "head", "eyes.csv"
 *   sac_gaze_reading reading;
 *   sac_gaze_source_read(source, now_ns, &reading);
 *   sac_gaze_to_viewer(&reading, head_position, head_rotation, &viewer.gaze);
 *   sac_gaze_source_close(&source);
 *
 * The answer depends on the times asked for and nothing else: no clock is read here. One source is for one
 * thread.
 *
 * Index: sac_gaze_source_open  sac_gaze_source_csv  sac_gaze_source_csv_text  sac_gaze_source_script
 *        sac_gaze_source_head  sac_gaze_source_feed  sac_gaze_source_give  sac_gaze_source_start
 *        sac_gaze_source_delay  sac_gaze_source_read  sac_gaze_source_name  sac_gaze_source_close
 *        sac_gaze_from_pixel  sac_gaze_to_viewer
 *        sac_gaze_log_open  sac_gaze_log_write  sac_gaze_log_close
 */
#ifndef SAC_XR_GAZE_SOURCE_H
#define SAC_XR_GAZE_SOURCE_H

#include "../runtime/world.h"

typedef struct sac_gaze_ray {
    bool valid;
    float origin[3], direction[3]; /* head space: x right, y up, looking along -z; direction unit */
    float confidence;              /* 0 to 1; NaN: the source does not say */
    float pupil_mm;                /* diameter; NaN: the source does not say */
} sac_gaze_ray;

typedef struct sac_gaze_reading {
    uint64_t sample_ns; /* when the eye was there, on the clock of the reader; 0: the source does not say */
    bool fresh;         /* false: the sample of the last reading once more, or none yet */
    bool world;         /* rays are the world's already, as some recordings have them */
    sac_gaze_ray cyclopean, left, right; /* left and right are invalid when the source has one ray only */
} sac_gaze_reading;

typedef struct sac_gaze_source sac_gaze_source;

/* All of the ways below by one word, as given on a command line: "head", "center", a script, or a file. */
sac_result sac_gaze_source_open(const char *word, sac_gaze_source **out_source, sac_error *error);
/* A recording: columns by name, time_s or time_ns, yaw_deg and pitch_deg or x, y, z, and optionally valid,
 * confidence, pupil_mm, origin_x, origin_y, origin_z, and the same with left_ and right_ before
 * (docs/files.md). After the last sample that one stays, ageing, unless `loop`. Errors name file, line and
 * remedy. */
sac_result sac_gaze_source_csv(const char *path, bool loop, sac_gaze_source **out_source, sac_error *error);
/* The same from memory; `name` stands for the file in errors. */
sac_result sac_gaze_source_csv_text(const char *text, size_t size, const char *name, bool loop,
                                    sac_gaze_source **out_source, sac_error *error);
/* "fixation:yaw,pitch", "pursuit:radius,period", "saccades:seed", "sweep", or "head"; degrees, right and up
 * are positive, and seconds. "@HZ" behind it gives samples at that rate instead of one for every time asked.
 * Saccades have main-sequence durations and blinks between. delay_ns: see sac_gaze_source_delay. */
sac_result sac_gaze_source_script(const char *script, uint64_t delay_ns, sac_gaze_source **out_source,
                                  sac_error *error);
/* Head axis, invalid as gaze: the scheduler falls back to its flat zone. */
sac_result sac_gaze_source_head(sac_gaze_source **out_source, sac_error *error);
/* What somebody else reads, an OpenXR session or a mouse: the last reading fed is what the source says. Its
 * `fresh` is worked out anew. */
sac_result sac_gaze_source_feed(sac_gaze_source **out_source, sac_error *error);
void sac_gaze_source_give(sac_gaze_source *source, const sac_gaze_reading *reading);

/* Where a recording or script begins; without it, at the first time asked for. */
void sac_gaze_source_start(sac_gaze_source *source, uint64_t start_ns);
/* Samples come this much later than they were taken, as from a slow tracker: what is read at `now` was there
 * at now - delay or before, and its stamp says so. Of a feed the last 256 samples are kept for it. */
void sac_gaze_source_delay(sac_gaze_source *source, uint64_t delay_ns);
/* What the source says at `now_ns`, which may go back and forth. Before the first sample nothing is valid. */
void sac_gaze_source_read(sac_gaze_source *source, uint64_t now_ns, sac_gaze_reading *out_reading);
const char *sac_gaze_source_name(const sac_gaze_source *source);
void sac_gaze_source_close(sac_gaze_source **source);

/* The direction a pixel is seen in, in the space of the eye, which on a desktop is the head: the mouse as
 * gaze. x to the right and y down from the upper left corner, in pixels; fov as in sac_eye. */
void sac_gaze_from_pixel(const sac_eye *eye, uint32_t width, uint32_t height, float x, float y,
                         sac_gaze_ray *out_ray);
/* Into the world, the cyclopean ray. A reading that is not fresh keeps its sample time. */
void sac_gaze_to_viewer(const sac_gaze_reading *reading, const float head_position[3],
                        const float head_rotation[4], sac_gaze_sample *out_sample);

/* ---- writing gaze down ---- */

typedef struct sac_gaze_log sac_gaze_log;
/* A person's gaze is personal data: without `consent` nothing is opened and the error says why. The file must
 * not exist yet, and is readable by its owner only. */
sac_result sac_gaze_log_open(const char *path, bool consent, sac_gaze_log **out_log, sac_error *error);
/* One row a fresh sample, in the columns the recording above reads; what is not known is left empty. now_ns:
 * when it was read, on the clock of the samples. */
sac_result sac_gaze_log_write(sac_gaze_log *log, uint64_t now_ns, const sac_gaze_reading *reading,
                              sac_error *error);
/* Closes; ERROR_IO when what was written did not reach the disk. */
sac_result sac_gaze_log_close(sac_gaze_log **log, sac_error *error);

#endif
