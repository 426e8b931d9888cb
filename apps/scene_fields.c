#include "apps/scene_fields_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apps/options.h"
#include "apps/staging.h"

bool sac_scene_wrong(sac_scene_reader *r, const sac_lined_value *at, const char *remedy, const char *format,
                     ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    r->result = sac_error_set(r->error, SAC_ERROR_FORMAT, remedy, "%s", text);
    sac_error_at_line(r->error, at->line);
    sac_error_in_file(r->error, r->file);
    return false;
}

bool sac_scene_want(sac_scene_reader *r, const sac_lined_value *value, const char *what, sac_lined_kind kind)
{
    static const char *const remedies[] = {"write null",
                                           "write true or false",
                                           "write a number like 0.5",
                                           "write a text in \"quotes\"",
                                           "write a list, [ ... ]",
                                           "write an object, { ... }"};
    if (value->kind == kind) return true;
    return sac_scene_wrong(r, value, remedies[kind], "%s must be %s, not %s", what, sac_lined_kind_name(kind),
                           sac_lined_kind_name(value->kind));
}

bool sac_scene_number(sac_scene_reader *r, const sac_lined_value *value, const char *what, double least,
                      double most, double *out)
{
    char remedy[96];
    if (!sac_scene_want(r, value, what, SAC_LINED_NUMBER)) return false;
    *out = value->number;
    if (value->number >= least && value->number <= most) return true;
    snprintf(remedy, sizeof remedy, "choose a number from %.10g to %.10g", least, most);
    return sac_scene_wrong(r, value, remedy, "%s is %.10g, which is out of range", what, value->number);
}

static bool whole_number(sac_scene_reader *r, const sac_lined_value *value, const char *what, double least,
                         double most, double *out)
{
    if (!sac_scene_number(r, value, what, least, most, out)) return false;
    return *out == floor(*out) ||
           sac_scene_wrong(r, value, "round it", "%s must be a whole number, not %.10g", what, *out);
}

bool sac_scene_vector(sac_scene_reader *r, const sac_lined_value *value, const char *what, uint32_t count,
                      double least, double most, float *out)
{
    char remedy[64];
    if (!sac_scene_want(r, value, what, SAC_LINED_LIST)) return false;
    if (value->count != count) {
        snprintf(remedy, sizeof remedy, count == 3 ? "write [x, y, z]" : "write a list of %u numbers", count);
        return sac_scene_wrong(r, value, remedy, "%s needs %u numbers, not %u", what, count, value->count);
    }
    uint32_t i = 0;
    for (const sac_lined_value *v = value->first; v; v = v->next, i++) {
        double number;
        if (!sac_scene_number(r, v, what, least, most, &number)) return false;
        out[i] = (float)number;
    }
    return true;
}

bool sac_scene_name(sac_scene_reader *r, const sac_lined_value *value, const char *what, char *out)
{
    if (!sac_scene_want(r, value, what, SAC_LINED_TEXT)) return false;
    size_t n = strlen(value->text);
    if (n == 0) return sac_scene_wrong(r, value, "write at least one letter", "%s is empty", what);
    if (n >= SAC_NAME_MOST)
        return sac_scene_wrong(r, value, "shorten it to 47 bytes", "%s is too long", what);
    memcpy(out, value->text, n + 1);
    return true;
}

/* "write one of a, b, c", as far as there is room. */
static void list_names(char *out, size_t size, const char *const *names)
{
    size_t n = (size_t)snprintf(out, size, "use one of");
    for (size_t i = 0; names[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s %s", i ? "," : "", names[i]);
    if (n >= size) memcpy(out + size - 5, " ...", 5);
}

int sac_scene_choice(sac_scene_reader *r, const sac_lined_value *value, const char *what,
                     const char *const *names)
{
    char remedy[160];
    if (!sac_scene_want(r, value, what, SAC_LINED_TEXT)) return -1;
    for (int i = 0; names[i]; i++)
        if (strcmp(value->text, names[i]) == 0) return i;
    const char *meant = sac_options_suggest(value->text, names);
    if (meant)
        snprintf(remedy, sizeof remedy, "did you mean \"%s\"?", meant);
    else
        list_names(remedy, sizeof remedy, names);
    sac_scene_wrong(r, value, remedy, "%s cannot be \"%.60s\"", what, value->text);
    return -1;
}

static bool unknown_key(sac_scene_reader *r, const sac_lined_value *member, const char *what,
                        const sac_scene_field *fields, size_t count)
{
    enum { MOST = 48 };
    const char *names[MOST + 1];
    char remedy[160];
    size_t n = count < MOST ? count : MOST;
    for (size_t i = 0; i < n; i++) names[i] = fields[i].name;
    names[n] = NULL;
    const char *meant = sac_options_suggest(member->key, names);
    if (meant)
        snprintf(remedy, sizeof remedy, "did you mean \"%s\"?", meant);
    else
        list_names(remedy, sizeof remedy, names);
    return sac_scene_wrong(r, member, remedy, "%s has no key \"%.60s\"", what, member->key);
}

static bool read_turn(sac_scene_reader *r, const sac_lined_value *value, const char *what, float *out)
{
    double square = 0;
    if (!sac_scene_vector(r, value, what, 4, -1e6, 1e6, out)) return false;
    for (int k = 0; k < 4; k++) square += (double)out[k] * out[k];
    if (!(square > 1e-12))
        return sac_scene_wrong(r, value, "write [x, y, z, w], e.g. [0, 0, 0, 1]",
                               "%s is no rotation: all its numbers are 0", what);
    for (int k = 0; k < 4; k++) out[k] = (float)(out[k] / sqrt(square));
    return true;
}

/* In float, as the world works it out: what is taken here is not refused there. */
static bool read_speed(sac_scene_reader *r, const sac_lined_value *value, const char *what, double most,
                       float *out)
{
    char remedy[96];
    if (!sac_scene_vector(r, value, what, 3, -most, most, out)) return false;
    float length = sqrtf(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    if (length <= (float)most) return true;
    snprintf(remedy, sizeof remedy, "make the vector shorter: at most %.10g, all three numbers together",
             most);
    return sac_scene_wrong(r, value, remedy, "%s is %.10g long, which is out of range", what, (double)length);
}

static bool read_field(sac_scene_reader *r, const sac_lined_value *v, const sac_scene_field *f, char *at)
{
    char what[64];
    double number;
    snprintf(what, sizeof what, "\"%s\"", f->name);
    switch (f->kind) {
    case SAC_SCENE_FLOAT:
        if (!sac_scene_number(r, v, what, f->least, f->most, &number)) return false;
        *(float *)at = (float)number;
        return true;
    case SAC_SCENE_UINT:
        if (!whole_number(r, v, what, f->least, f->most, &number)) return false;
        *(uint32_t *)at = (uint32_t)number;
        return true;
    case SAC_SCENE_INT:
        if (!whole_number(r, v, what, f->least, f->most, &number)) return false;
        *(int32_t *)at = (int32_t)number;
        return true;
    case SAC_SCENE_VECTOR:
        return sac_scene_vector(r, v, what, 3, f->least, f->most, (float *)at);
    case SAC_SCENE_SPEED:
        return read_speed(r, v, what, f->most, (float *)at);
    case SAC_SCENE_TURN:
        return read_turn(r, v, what, (float *)at);
    case SAC_SCENE_BOOL:
        if (!sac_scene_want(r, v, what, SAC_LINED_BOOL)) return false;
        *(bool *)at = v->truth;
        return true;
    case SAC_SCENE_NAME:
        return sac_scene_name(r, v, what, at);
    case SAC_SCENE_OTHER:
        break;
    }
    return true;
}

bool sac_scene_fields_read(sac_scene_reader *r, const sac_lined_value *object, const char *what,
                           const sac_scene_field *fields, size_t count, void *target)
{
    if (!sac_scene_want(r, object, what, SAC_LINED_OBJECT)) return false;
    for (const sac_lined_value *v = object->first; v; v = v->next) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].name, v->key) != 0) i++;
        if (i == count) return unknown_key(r, v, what, fields, count);
        if (!read_field(r, v, &fields[i], (char *)target + fields[i].offset)) return false;
    }
    return true;
}
