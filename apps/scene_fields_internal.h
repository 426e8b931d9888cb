/* Reading the members of a JSON object into a struct by a table, with a message for whatever does not fit.
 *
 *   static const sac_scene_field fields[] = {{"radius", SAC_SCENE_FLOAT, offsetof(ball, radius), 1e-4, 1e4}};
 *   if (!sac_scene_fields_read(r, value, "capsule", fields, 1, &ball)) return false;
 */
#ifndef SAC_APPS_SCENE_FIELDS_INTERNAL_H
#define SAC_APPS_SCENE_FIELDS_INTERNAL_H

#include "apps/lined_json.h"

typedef struct sac_scene_reader {
    const char *file;
    sac_error *error;
    sac_result result;
} sac_scene_reader;

typedef enum sac_scene_field_kind {
    SAC_SCENE_FLOAT,  /* float */
    SAC_SCENE_UINT,   /* uint32_t, 0 to 2^32 - 1 */
    SAC_SCENE_INT,    /* int32_t */
    SAC_SCENE_VECTOR, /* float[3] */
    SAC_SCENE_SPEED,  /* float[3] whose length is at most `most`, as the world wants it */
    SAC_SCENE_TURN,   /* float[4]: a quaternion, brought to length 1 */
    SAC_SCENE_BOOL,   /* bool */
    SAC_SCENE_NAME,   /* char[SAC_NAME_MOST] */
    SAC_SCENE_OTHER   /* known, read elsewhere */
} sac_scene_field_kind;

typedef struct sac_scene_field {
    const char *name;
    sac_scene_field_kind kind;
    size_t offset;
    double least, most;
} sac_scene_field;

/* All return false after telling what is wrong with `at`. */
bool sac_scene_wrong(sac_scene_reader *r, const sac_lined_value *at, const char *remedy, const char *format,
                     ...) SAC_PRINTF(4, 5);
bool sac_scene_want(sac_scene_reader *r, const sac_lined_value *value, const char *what, sac_lined_kind kind);
bool sac_scene_number(sac_scene_reader *r, const sac_lined_value *value, const char *what, double least,
                      double most, double *out);
bool sac_scene_vector(sac_scene_reader *r, const sac_lined_value *value, const char *what, uint32_t count,
                      double least, double most, float *out);
bool sac_scene_name(sac_scene_reader *r, const sac_lined_value *value, const char *what, char *out);
/* One of `names` (ends in NULL): its place, or -1. */
int sac_scene_choice(sac_scene_reader *r, const sac_lined_value *value, const char *what,
                     const char *const *names);
/* Every key must be in the table. */
bool sac_scene_fields_read(sac_scene_reader *r, const sac_lined_value *object, const char *what,
                           const sac_scene_field *fields, size_t count, void *target);

#endif
