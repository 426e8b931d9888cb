/* Where the layer's gaze comes from: a file or script, the same as everywhere in Saccade, or live, from the
 * mouse or from lines that somebody writes into a pipe. */
#include "xr/layer/layer_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "xr/gaze_internal.h"

struct sac_supply {
    sac_gaze_source *source;
    uint64_t hold_ns; /* a sample older than this is none; 0: it stays */
    bool live;
    sac_pointer *pointer; /* the mouse, or NULL */
    double degrees;       /* from the middle of the screen to its side */
    int pipe;             /* -1: none */
    char line[256];       /* what came of a line so far */
    size_t line_length;
    bool complained;
    XrTime looked; /* at mouse or pipe last */
};

static sac_result number_from(const char *name, double least, double most, double *value, sac_error *error)
{
    const char *text = getenv(name);
    if (!text || !*text) return SAC_OK;
    sac_gaze_numbers numbers = sac_gaze_numbers_begin();
    char *end;
    *value = strtod(text, &end);
    sac_gaze_numbers_end(&numbers);
    if (end != text && !*end && *value >= least && *value <= most) return SAC_OK;
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "write a number, or take the variable away",
                         "%s is '%.60s', not a number from %g to %g", name, text, least, most);
}

static bool flag_from(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0 &&
           strcasecmp(text, "no") != 0;
}

static sac_result open_live(sac_supply *supply, const char *word, sac_error *error)
{
    supply->live = true;
    supply->hold_ns = 0;
    sac_result result = sac_gaze_source_feed(&supply->source, error);
    if (result != SAC_OK) return result;
    if (strcmp(word, "mouse") == 0) return sac_pointer_open(&supply->pointer, error);
    const char *path = word + 5;
    supply->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (supply->pipe >= 0) return SAC_OK;
    sac_error_set(error, SAC_ERROR_IO, "make it with mkfifo, or give a file that is there", "%s",
                  strerror(errno));
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
}

static sac_result open_word(sac_supply *supply, const char *word, sac_error *error)
{
    if (strcmp(word, "mouse") == 0 || strncmp(word, "live:", 5) == 0) return open_live(supply, word, error);
    const char *file = strncmp(word, "file:", 5) == 0 ? word + 5 : NULL;
    bool loop = flag_from("SACCADE_GAZE_LOOP");
    sac_gaze_script script;
    sac_result result;
    if (file || (strcmp(word, "center") != 0 && sac_gaze_script_parse(&script, word, NULL) != SAC_OK &&
                 access(word, R_OK) == 0))
        result = sac_gaze_source_csv(file ? file : word, loop, &supply->source, error);
    else
        result = sac_gaze_source_open(word, &supply->source, error);
    if (result != SAC_OK) return result;
    if (sac_gaze_source_is_world(supply->source))
        return sac_error_set(error, SAC_ERROR_FORMAT, "record rays in the space of the head",
                             "%.100s has rays of the world, but a headset gives them in the head", word);
    sac_gaze_source_start(supply->source, 0);
    return SAC_OK;
}

sac_result sac_supply_from_environment(sac_supply **out_supply, sac_error *error)
{
    const char *word = getenv("SACCADE_GAZE");
    *out_supply = NULL;
    if (!word || !*word) return SAC_OK;
    sac_supply *supply = sac_alloc_zero(1, sizeof *supply);
    if (!supply) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the gaze");
    supply->pipe = -1;
    supply->hold_ns = 250000000;
    double delay = 0, span = 90, hold;
    sac_result result = open_word(supply, word, error);
    hold = (double)supply->hold_ns * 1e-6;
    if (result == SAC_OK) result = number_from("SACCADE_GAZE_DELAY_MS", 0, 10000, &delay, error);
    if (result == SAC_OK) result = number_from("SACCADE_GAZE_HOLD_MS", 0, 1e9, &hold, error);
    if (result == SAC_OK) result = number_from("SACCADE_GAZE_MOUSE_DEG", 1, 170, &span, error);
    if (result == SAC_OK) {
        sac_gaze_source_delay(supply->source, (uint64_t)(delay * 1e6 + 0.5));
        supply->hold_ns = (uint64_t)(hold * 1e6 + 0.5);
        supply->degrees = 0.5 * span;
        *out_supply = supply;
    } else {
        sac_supply_close(&supply);
    }
    return result;
}

void sac_supply_close(sac_supply **supply)
{
    if (!*supply) return;
    sac_gaze_source_close(&(*supply)->source);
    sac_pointer_close(&(*supply)->pointer);
    if ((*supply)->pipe >= 0) close((*supply)->pipe);
    sac_free(*supply, 1, sizeof **supply);
    *supply = NULL;
}

bool sac_supply_is_live(const sac_supply *supply) { return supply->live; }

/* ---- live ---- */

static void give(sac_supply *supply, XrTime now, double yaw, double pitch, bool valid)
{
    sac_gaze_ray none = sac_gaze_ray_none();
    sac_gaze_reading reading = {.sample_ns = (uint64_t)now, .cyclopean = none, .left = none, .right = none};
    reading.cyclopean.valid = valid;
    sac_gaze_direction(yaw, pitch, reading.cyclopean.direction);
    sac_gaze_source_give(supply->source, &reading);
}

static bool take_line(const char *line, double *yaw, double *pitch, bool *valid)
{
    char *end;
    sac_gaze_numbers numbers = sac_gaze_numbers_begin();
    *yaw = strtod(line, &end);
    bool good = end != line && *end == ',';
    if (good) {
        line = end + 1;
        *pitch = strtod(line, &end);
        good = end != line && (*end == ',' || !*end);
    }
    *valid = true;
    if (good && *end == ',') {
        good = (end[1] == '0' || end[1] == '1') && !end[2];
        *valid = end[1] == '1';
    }
    sac_gaze_numbers_end(&numbers);
    return good && fabs(*yaw) <= 180 && fabs(*pitch) <= 90;
}

/* The last whole line counts; what is not a line yet waits for its rest. */
static void read_pipe(sac_supply *supply, XrTime now)
{
    char piece[512];
    ssize_t got;
    double yaw, pitch;
    bool valid;
    while ((got = read(supply->pipe, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (piece[i] != '\n') {
                if (supply->line_length < sizeof supply->line - 1)
                    supply->line[supply->line_length++] = piece[i];
                continue;
            }
            supply->line[supply->line_length] = 0;
            supply->line[strcspn(supply->line, "\r")] = 0;
            supply->line_length = 0;
            if (take_line(supply->line, &yaw, &pitch, &valid)) {
                give(supply, now, yaw, pitch, valid);
            } else if (!supply->complained) {
                supply->complained = true;
                sac_layer_say("'%.60s' is not YAW,PITCH in degrees with ,0 behind it for a blink; such lines "
                              "are skipped",
                              supply->line);
            }
        }
}

void sac_supply_look(sac_supply *supply, XrTime now)
{
    const XrTime apart = 1000000; /* asking the display takes a while, and no hand is that fast */
    if (!supply->live || now <= 0 ||
        (supply->looked && now < supply->looked + apart && now >= supply->looked))
        return;
    supply->looked = now;
    if (supply->pipe >= 0) read_pipe(supply, now);
    float x, y;
    bool pressed;
    if (!supply->pointer || !sac_pointer_read(supply->pointer, &x, &y, &pressed)) return;
    /* The screen is a window at the distance where its half width is seen under that angle. */
    double reach = tan(supply->degrees * 0.017453292519943295), right = (double)x * reach,
           up = (double)y * reach;
    give(supply, now, atan(right) * 57.29577951308232, atan(up / sqrt(1 + right * right)) * 57.29577951308232,
         !pressed);
}

/* ---- asked ---- */

/* From -z to the direction, without a roll: first about y, then about x. */
static XrQuaternionf turn_to(const float direction[3])
{
    double yaw = atan2(-(double)direction[0], -(double)direction[2]);
    double up = direction[1] > 1 ? 1 : direction[1] < -1 ? -1 : (double)direction[1];
    double pitch = asin(up), sy = sin(0.5 * yaw), cy = cos(0.5 * yaw), sp = sin(0.5 * pitch),
           cp = cos(0.5 * pitch);
    return (XrQuaternionf){(float)(cy * sp), (float)(sy * cp), (float)(-sy * sp), (float)(cy * cp)};
}

bool sac_supply_at(sac_supply *supply, XrTime start, XrTime time, XrPosef *out_pose, XrTime *out_sample)
{
    sac_gaze_reading reading;
    XrTime zero = supply->live ? 0 : start;
    *out_sample = 0;
    if (start <= 0 || time < zero) return false;
    uint64_t asked = (uint64_t)(time - zero), late = sac_gaze_source_delay_ns(supply->source);
    sac_gaze_source_read(supply->source, asked, &reading);
    if (!reading.cyclopean.valid) return false;
    if (supply->hold_ns && asked > reading.sample_ns + late + supply->hold_ns) return false;
    *out_sample = zero + (XrTime)reading.sample_ns;
    out_pose->orientation = turn_to(reading.cyclopean.direction);
    memcpy(&out_pose->position, reading.cyclopean.origin, sizeof out_pose->position);
    return true;
}
