/* What gaze sources are made of: the table a CSV file becomes, and the script. */
#ifndef SAC_XR_GAZE_INTERNAL_H
#define SAC_XR_GAZE_INTERNAL_H

#include <locale.h>

#include "base/memory.h"
#include "xr/gaze_source.h"

/* ---- table ---- */

enum { SAC_GAZE_CYCLOPEAN, SAC_GAZE_LEFT, SAC_GAZE_RIGHT, SAC_GAZE_RAYS };

typedef struct sac_gaze_row {
    uint64_t time_ns; /* from the start */
    sac_gaze_ray rays[SAC_GAZE_RAYS];
} sac_gaze_row;

typedef struct sac_gaze_table {
    bool world;
    sac_array(sac_gaze_row) rows; /* at least one, times ascending */
} sac_gaze_table;

/* On failure there is nothing to release. */
sac_result sac_gaze_table_parse(sac_gaze_table *out_table, const char *text, size_t size, const char *name,
                                sac_error *error);
sac_result sac_gaze_table_read(sac_gaze_table *out_table, const char *path, sac_error *error);
void sac_gaze_table_fini(sac_gaze_table *table);
/* The last row not after `since_ns`, and its time, which grows from round to round of a loop. NULL: it has
 * not begun. */
const sac_gaze_row *sac_gaze_table_at(const sac_gaze_table *table, bool loop, uint64_t since_ns,
                                      uint64_t *out_time_ns);

/* ---- script ---- */

typedef enum sac_gaze_script_kind {
    SAC_SCRIPT_HEAD,
    SAC_SCRIPT_FIXATION,
    SAC_SCRIPT_PURSUIT,
    SAC_SCRIPT_SACCADES,
    SAC_SCRIPT_SWEEP
} sac_gaze_script_kind;

/* One fixation and the saccade to the next. */
typedef struct sac_gaze_leg {
    double begin, leave, land; /* s from the start of the round: fixating from, gone at, there at */
    double blink, unblink;     /* lids closed between; equal: not */
    float yaw, pitch;          /* degrees: of this fixation */
} sac_gaze_leg;

enum { SAC_SCRIPT_LEGS = 256 };

typedef struct sac_gaze_script {
    sac_gaze_script_kind kind;
    double a, b; /* yaw and pitch, or radius and period */
    double hz;   /* 0: a sample for every time asked */
    double round;
    sac_gaze_leg legs[SAC_SCRIPT_LEGS]; /* of saccades; the round repeats */
} sac_gaze_script;

sac_result sac_gaze_script_parse(sac_gaze_script *out_script, const char *text, sac_error *error);
/* The sample at this time, or the last before it at the script's rate, and when that was. */
void sac_gaze_script_at(const sac_gaze_script *script, uint64_t since_ns, uint64_t *out_time_ns,
                        sac_gaze_ray *out_ray);

/* ---- sources, from inside ---- */

bool sac_gaze_source_is_world(const sac_gaze_source *source);
uint64_t sac_gaze_source_delay_ns(const sac_gaze_source *source);

/* ---- rays ---- */

/* Nothing known: invalid, straight ahead, confidence and pupil NaN. */
sac_gaze_ray sac_gaze_ray_none(void);
/* Right and up are positive. */
void sac_gaze_direction(double yaw_degrees, double pitch_degrees, float out[3]);

/* Numbers in files have a point, whatever the language of the program that reads or writes them. */
typedef struct sac_gaze_numbers {
    locale_t plain, before;
} sac_gaze_numbers;
sac_gaze_numbers sac_gaze_numbers_begin(void);
void sac_gaze_numbers_end(sac_gaze_numbers *numbers);

#endif
