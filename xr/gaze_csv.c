/* The one reader of gaze files: columns by name, every mistake told with its line. */
#include "xr/gaze_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_LINE = 4096, MOST_COLUMNS = 128 };
#define MOST_BYTES (64u << 20)
#define MOST_SECONDS 1e6

/* What a value of a ray can be. */
typedef enum field {
    YAW,
    PITCH,
    X,
    Y,
    Z,
    ORIGIN_X,
    ORIGIN_Y,
    ORIGIN_Z,
    VALID,
    CONFIDENCE,
    PUPIL,
    FIELDS
} field;
static const char *const field_names[FIELDS] = {"yaw_deg", "pitch_deg",  "x",        "y",
                                                "z",       "origin_x",   "origin_y", "origin_z",
                                                "valid",   "confidence", "pupil_mm"};
static const char *const eye_names[SAC_GAZE_RAYS] = {"", "left_", "right_"};

typedef struct reader {
    sac_gaze_table *table;
    const char *name;
    int64_t line;
    sac_error *error;
    bool headed, counted_ns; /* columns are known; times are ns of any clock, counted from the first */
    uint64_t first_ns;
    int columns, least_columns;
    int column_time;                      /* -1: not there */
    int column_of[SAC_GAZE_RAYS][FIELDS]; /* -1: not there */
    char *values[MOST_COLUMNS];           /* of this line */
    int value_count;
} reader;

static sac_result bad(const reader *r, const char *remedy, const char *what)
{
    sac_error_set(r->error, SAC_ERROR_FORMAT, remedy, "%s", what);
    sac_error_at_line(r->error, r->line);
    sac_error_in_file(r->error, r->name);
    return SAC_ERROR_FORMAT;
}

static sac_result bad_value(const reader *r, const char *column, const char *value, const char *remedy,
                            const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "%.40s is '%.40s', %s", column, value, what);
    return bad(r, remedy, text);
}

/* The values between the commas of `text`, blanks and one pair of quotes taken off. */
static sac_result split(reader *r, char *text)
{
    r->value_count = 0;
    for (char *p = text;;) {
        if (r->value_count == MOST_COLUMNS)
            return bad(r, "leave out what is not needed", "there are more than 128 columns");
        char *comma = strchr(p, ','), *end = comma ? comma : p + strlen(p);
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
        if (end - p >= 2 && *p == '"' && end[-1] == '"') p++, end--;
        *end = 0;
        r->values[r->value_count++] = p;
        if (!comma) return SAC_OK;
        p = comma + 1;
    }
}

static bool is_missing(const char *value)
{
    return !*value || strcasecmp(value, "n/a") == 0 || strcasecmp(value, "nan") == 0;
}

static bool is_number(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    return end != value && !*end && !strpbrk(value, "xX"); /* hexadecimals are a slip, not a direction */
}

/* ---- the line of headings ---- */

/* "yaw" for yaw_deg: meant, but without its unit. */
static const char *meant_by(const char *name)
{
    static const char *const known[] = {"time_s", "yaw_deg", "pitch_deg", "pupil_mm"};
    for (int e = 1; e < SAC_GAZE_RAYS; e++)
        if (strncasecmp(name, eye_names[e], strlen(eye_names[e])) == 0) name += strlen(eye_names[e]);
    for (int i = 0; i < 4; i++)
        if (strlen(name) == strcspn(known[i], "_") && strncasecmp(name, known[i], strlen(name)) == 0)
            return known[i];
    return NULL;
}

static sac_result take_heading(reader *r, const char *name, int column)
{
    int *place = NULL;
    bool ns = strcasecmp(name, "time_ns") == 0;
    char remedy[96];
    if (ns || strcasecmp(name, "time_s") == 0) {
        if (r->column_time >= 0)
            return bad(r, "keep one of them", "there are two columns of time, time_s or time_ns");
        r->column_time = column;
        r->counted_ns = ns;
        return SAC_OK;
    }
    for (int e = 0; e < SAC_GAZE_RAYS; e++)
        for (int f = 0; f < FIELDS; f++) {
            size_t before = strlen(eye_names[e]);
            if (strncasecmp(name, eye_names[e], before) == 0 &&
                strcasecmp(name + before, field_names[f]) == 0)
                place = &r->column_of[e][f];
        }
    if (!place) {
        const char *meant = meant_by(name);
        if (!meant) return SAC_OK; /* somebody else's column */
        snprintf(remedy, sizeof remedy, "name it with its unit, e.g. %s", meant);
        char text[100];
        snprintf(text, sizeof text, "the column '%.40s' does not say its unit", name);
        return bad(r, remedy, text);
    }
    if (*place >= 0) {
        char text[100];
        snprintf(text, sizeof text, "there are two columns '%.40s'", name);
        return bad(r, "keep one of them", text);
    }
    *place = column;
    return SAC_OK;
}

/* Directions are whole: yaw and pitch, or x, y and z, not both. */
static sac_result check_headings(const reader *r)
{
    const char *remedy = "name the columns time_s, yaw_deg, pitch_deg, or time_s, x, y, z";
    bool any = false;
    if (r->column_time < 0) return bad(r, remedy, "there is no column time_s or time_ns");
    for (int e = 0; e < SAC_GAZE_RAYS; e++) {
        const int *c = r->column_of[e];
        bool angles = c[YAW] >= 0 || c[PITCH] >= 0, vector = c[X] >= 0 || c[Y] >= 0 || c[Z] >= 0;
        bool origin = c[ORIGIN_X] >= 0 || c[ORIGIN_Y] >= 0 || c[ORIGIN_Z] >= 0;
        any |= angles || vector;
        if (angles && vector)
            return bad(r, "keep yaw_deg and pitch_deg, or x, y and z",
                       "the direction is there twice, as angles and as x, y, z");
        if (angles && (c[YAW] < 0 || c[PITCH] < 0))
            return bad(r, remedy, "of yaw_deg and pitch_deg one is missing");
        if (vector && (c[X] < 0 || c[Y] < 0 || c[Z] < 0))
            return bad(r, remedy, "of x, y and z one is missing");
        if (origin && (c[ORIGIN_X] < 0 || c[ORIGIN_Y] < 0 || c[ORIGIN_Z] < 0))
            return bad(r, "name them origin_x, origin_y, origin_z",
                       "of origin_x, origin_y and origin_z one is missing");
        if (e && !angles && !vector)
            for (int f = 0; f < FIELDS; f++)
                if (c[f] >= 0 && f != PUPIL)
                    return bad(r, "add the direction, or take the column out",
                               e == SAC_GAZE_LEFT
                                   ? "there are columns of the left eye but not its direction"
                                   : "there are columns of the right eye but not its direction");
    }
    return any ? SAC_OK : bad(r, remedy, "there is no direction");
}

/* Files without headings are time_s,x,y,z[,valid[,confidence]]. */
static void take_default_headings(reader *r)
{
    static const field order[] = {X, Y, Z, VALID, CONFIDENCE};
    r->column_time = 0;
    for (int i = 0; i < 5; i++) r->column_of[SAC_GAZE_CYCLOPEAN][order[i]] = i + 1;
    r->columns = 6;
    r->least_columns = 4;
}

static sac_result read_headings(reader *r)
{
    double number;
    r->headed = true;
    if (is_missing(r->values[0]) || is_number(r->values[0], &number)) {
        take_default_headings(r);
        return SAC_OK;
    }
    if (r->value_count == 1 && strpbrk(r->values[0], ";\t"))
        return bad(r, "put commas between the columns, and points in the numbers",
                   "the columns are not separated by commas");
    for (int i = 0; i < r->value_count; i++) {
        sac_result result = take_heading(r, r->values[i], i);
        if (result != SAC_OK) return result;
    }
    r->columns = r->least_columns = r->value_count;
    return check_headings(r);
}

/* ---- a sample ---- */

static sac_result read_time(reader *r, uint64_t *out_ns)
{
    const char *value = r->values[r->column_time];
    const char *column = r->counted_ns ? "time_ns" : "time_s";
    uint64_t ns;
    if (r->counted_ns) {
        char *end;
        errno = 0;
        long long count = strtoll(value, &end, 10);
        if (end == value || *end || errno || count < 0)
            return bad_value(r, column, value, "write whole nanoseconds, from 0",
                             "the time is not a number or out of range");
        if (!r->table->rows.count) r->first_ns = (uint64_t)count;
        if ((uint64_t)count < r->first_ns)
            return bad_value(r, column, value, "sort the lines by time",
                             "the time does not come after the one before");
        ns = (uint64_t)count - r->first_ns;
        if ((double)ns > MOST_SECONDS * 1e9)
            return bad_value(r, column, value, "cut the recording in pieces",
                             "more than 1000000 seconds after the first");
    } else {
        double seconds;
        if (!is_number(value, &seconds) || !(seconds >= 0 && seconds <= MOST_SECONDS))
            return bad_value(r, column, value,
                             "write seconds from the start, 0 to 1000000; for times of a clock use time_ns",
                             "the time is not a number or out of range");
        ns = (uint64_t)(seconds * 1e9 + 0.5);
    }
    size_t count = r->table->rows.count;
    if (count && ns <= r->table->rows.data[count - 1].time_ns)
        return bad_value(r, column, value, "sort the lines by time",
                         "the time does not come after the one before");
    *out_ns = ns;
    return SAC_OK;
}

/* The values of one eye; NaN where there is none. */
static sac_result read_fields(reader *r, int eye, double out[FIELDS])
{
    for (int f = 0; f < FIELDS; f++) {
        int column = r->column_of[eye][f];
        char name[48];
        out[f] = NAN;
        if (column < 0 || column >= r->value_count || is_missing(r->values[column])) continue;
        snprintf(name, sizeof name, "%s%s", eye_names[eye], field_names[f]);
        if (!is_number(r->values[column], &out[f]))
            return bad_value(r, name, r->values[column], "write a number with a point, or leave it empty",
                             "not a number");
        if (!isfinite(out[f]))
            return bad_value(r, name, r->values[column], "leave empty what is not known", "not finite");
    }
    return SAC_OK;
}

static sac_result check_fields(const reader *r, const double v[FIELDS])
{
    if (!isnan(v[VALID]) && v[VALID] != 0 && v[VALID] != 1)
        return bad(r, "write 1 for valid, 0 for a blink or lost gaze", "valid is neither 0 nor 1");
    if (!isnan(v[CONFIDENCE]) && !(v[CONFIDENCE] >= 0 && v[CONFIDENCE] <= 1))
        return bad(r, "write 0 to 1, or leave it empty", "the confidence is out of range");
    if (!isnan(v[PUPIL]) && !(v[PUPIL] > 0 && v[PUPIL] <= 20))
        return bad(r, "write the diameter in millimetres, or leave it empty",
                   "the pupil is not between 0 and 20 mm");
    if (fabs(v[YAW]) > 180 || fabs(v[PITCH]) > 90)
        return bad(r, "write degrees, yaw -180 to 180 and pitch -90 to 90", "the angles are out of range");
    for (int f = ORIGIN_X; f <= ORIGIN_Z; f++)
        if (fabs(v[f]) > (r->table->world ? 1e6 : 1))
            return bad(r, "write metres, in the space of the head or with a line '# space: world'",
                       "the origin is more than a metre from the head");
    return SAC_OK;
}

/* Unit direction of the values; false: of no use. */
static bool direction_of(const double v[FIELDS], float out[3])
{
    if (!isnan(v[YAW])) {
        sac_gaze_direction(v[YAW], v[PITCH], out);
        return true;
    }
    double length = sqrt(v[X] * v[X] + v[Y] * v[Y] + v[Z] * v[Z]);
    if (!(length > 1e-6 && length < 1e6)) return false;
    for (int k = 0; k < 3; k++) out[k] = (float)(v[X + k] / length);
    return true;
}

static sac_result read_ray(reader *r, int eye, sac_gaze_ray *ray)
{
    const int *column = r->column_of[eye];
    double v[FIELDS];
    *ray = sac_gaze_ray_none();
    if (read_fields(r, eye, v) != SAC_OK || check_fields(r, v) != SAC_OK) return SAC_ERROR_FORMAT;
    ray->confidence = (float)v[CONFIDENCE];
    ray->pupil_mm = (float)v[PUPIL];
    for (int k = 0; k < 3; k++)
        if (!isnan(v[ORIGIN_X + k])) ray->origin[k] = (float)v[ORIGIN_X + k];
    if (column[YAW] < 0 && column[X] < 0) return SAC_OK;
    int given =
        column[YAW] >= 0 ? !isnan(v[YAW]) + !isnan(v[PITCH]) : !isnan(v[X]) + !isnan(v[Y]) + !isnan(v[Z]);
    int whole = column[YAW] >= 0 ? 2 : 3;
    if (v[VALID] == 0) return SAC_OK; /* whatever the direction says */
    if (given == 0 && isnan(v[VALID])) return SAC_OK;
    if (given < whole)
        return bad(r, "write all of it, or nothing and valid 0", "a part of the direction is missing");
    if (!direction_of(v, ray->direction))
        return bad(r, "write where the eye looks, e.g. 0,0,-1, or leave it empty",
                   "the direction has no length or a very large one");
    ray->valid = true;
    return SAC_OK;
}

/* Between the eyes that are valid, for files that have eyes only. */
static void between_eyes(sac_gaze_ray rays[SAC_GAZE_RAYS])
{
    sac_gaze_ray *out = &rays[SAC_GAZE_CYCLOPEAN];
    float sum[3] = {0}, origin[3] = {0}, square = 0, confidence = 0, pupil = 0;
    int valid = 0;
    for (int e = SAC_GAZE_LEFT; e < SAC_GAZE_RAYS; e++) {
        if (!rays[e].valid) continue;
        valid++;
        confidence += rays[e].confidence;
        pupil += rays[e].pupil_mm;
        for (int k = 0; k < 3; k++) sum[k] += rays[e].direction[k], origin[k] += rays[e].origin[k];
    }
    if (!valid) return;
    for (int k = 0; k < 3; k++) square += sum[k] * sum[k];
    if (square < 1e-6f) return; /* eyes that look away from each other look nowhere */
    out->valid = true;
    for (int k = 0; k < 3; k++)
        out->direction[k] = sum[k] / sqrtf(square), out->origin[k] = origin[k] / (float)valid;
    if (isnan(out->confidence)) out->confidence = confidence / (float)valid;
    if (isnan(out->pupil_mm)) out->pupil_mm = pupil / (float)valid;
}

static sac_result read_row(reader *r)
{
    sac_gaze_row row;
    if (r->value_count < r->least_columns || r->value_count > r->columns) {
        char text[120];
        if (r->least_columns == r->columns)
            snprintf(text, sizeof text, "there are %d values under %d headings", r->value_count, r->columns);
        else
            snprintf(text, sizeof text, "there are %d values, not four to six", r->value_count);
        return bad(r,
                   r->least_columns == r->columns
                       ? "leave empty what is not known, but keep its comma"
                       : "write time_s,x,y,z[,valid[,confidence]], or a line of headings first",
                   text);
    }
    sac_result result = read_time(r, &row.time_ns);
    for (int e = 0; e < SAC_GAZE_RAYS && result == SAC_OK; e++) result = read_ray(r, e, &row.rays[e]);
    if (result != SAC_OK) return result;
    const int *c = r->column_of[SAC_GAZE_CYCLOPEAN];
    if (c[YAW] < 0 && c[X] < 0) between_eyes(row.rays);
    if (sac_array_push(&r->table->rows, row)) return SAC_OK;
    return sac_error_set(r->error, SAC_ERROR_MEMORY, "use a shorter recording", "no memory for the gaze");
}

/* ---- lines ---- */

static sac_result read_comment(reader *r, const char *text)
{
    char word[16];
    if (sscanf(text, " # space : %15s", word) != 1 && sscanf(text, " # space: %15s", word) != 1)
        return SAC_OK;
    bool world = strcmp(word, "world") == 0;
    if (!world && strcmp(word, "head") != 0)
        return bad(r, "write '# space: head' or '# space: world'",
                   "directions are neither of the head nor of the world");
    if (world != r->table->world && r->table->rows.count)
        return bad(r, "move the line to the top", "the space is named after the first sample");
    r->table->world = world;
    return SAC_OK;
}

static sac_result read_line(reader *r, char *text)
{
    char first = text[strspn(text, " \t")];
    if (!first) return SAC_OK;
    if (first == '#') return read_comment(r, text);
    sac_result result = split(r, text);
    if (result != SAC_OK) return result;
    bool begun = r->headed;
    if (!begun) result = read_headings(r);
    if (result != SAC_OK || (!begun && r->least_columns == r->columns)) return result;
    return read_row(r);
}

sac_result sac_gaze_table_parse(sac_gaze_table *out_table, const char *text, size_t size, const char *name,
                                sac_error *error)
{
    sac_error mine;
    if (!error) error = &mine; /* its code is the result */
    reader r = {.table = out_table, .name = name, .error = error, .column_time = -1};
    memset(r.column_of, -1, sizeof r.column_of);
    memset(out_table, 0, sizeof *out_table);
    sac_gaze_numbers numbers = sac_gaze_numbers_begin();
    sac_result result = SAC_OK;
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && result == SAC_OK) {
        /* LF, CR and CRLF each end one line. */
        const char *start = text + at;
        size_t length = 0;
        while (length < size - at && start[length] != '\n' && start[length] != '\r') length++;
        char copy[MOST_LINE];
        at += length + 1;
        if (at < size && start[length] == '\r' && text[at] == '\n') at++;
        r.line++;
        if (length >= sizeof copy || memchr(start, 0, length)) {
            result = bad(&r, "write a sample a line", "the line is longer than 4095 characters or not text");
            break;
        }
        memcpy(copy, start, length);
        copy[length] = 0;
        result = read_line(&r, copy);
    }
    sac_gaze_numbers_end(&numbers);
    if (result == SAC_OK && !out_table->rows.count) {
        sac_error_set(error, SAC_ERROR_EMPTY, "write time_s,x,y,z a line", "there is no sample in it");
        sac_error_in_file(error, name);
        result = SAC_ERROR_EMPTY;
    }
    if (result != SAC_OK) sac_gaze_table_fini(out_table);
    return result;
}

sac_result sac_gaze_table_read(sac_gaze_table *out_table, const char *path, sac_error *error)
{
    sac_error mine;
    if (!error) error = &mine;
    memset(out_table, 0, sizeof *out_table);
    FILE *file = fopen(path, "rb");
    if (!file) {
        sac_error_set(error, SAC_ERROR_IO, "give a CSV file that is there and readable", "%s",
                      strerror(errno));
        sac_error_in_file(error, path);
        return SAC_ERROR_IO;
    }
    sac_array(char) text = {0};
    char piece[4096];
    size_t n;
    bool fits = true, memory = true;
    while (fits && memory && (n = fread(piece, 1, sizeof piece, file)) > 0) {
        fits = text.count + n <= MOST_BYTES;
        memory = fits && sac_array_reserve(&text, text.count + n);
        if (memory) memcpy(text.data + text.count, piece, n), text.count += n;
    }
    sac_result result;
    if (ferror(file)) {
        sac_error_set(error, SAC_ERROR_IO, "check that it is a file", "%s", strerror(errno));
        sac_error_in_file(error, path);
        result = SAC_ERROR_IO;
    } else if (!fits || !memory) {
        sac_error_set(error, fits ? SAC_ERROR_MEMORY : SAC_ERROR_LIMIT, "use a shorter recording",
                      fits ? "no memory for the gaze" : "the file is larger than 64 MB");
        sac_error_in_file(error, path);
        result = fits ? SAC_ERROR_MEMORY : SAC_ERROR_LIMIT;
    } else {
        result = sac_gaze_table_parse(out_table, text.data, text.count, path, error);
    }
    fclose(file);
    sac_array_fini(&text);
    return result;
}

void sac_gaze_table_fini(sac_gaze_table *table) { sac_array_fini(&table->rows); }

const sac_gaze_row *sac_gaze_table_at(const sac_gaze_table *table, bool loop, uint64_t since_ns,
                                      uint64_t *out_time_ns)
{
    const sac_gaze_row *rows = table->rows.data;
    size_t count = table->rows.count;
    uint64_t rounds_ns = 0, first = rows[0].time_ns;
    if (loop && since_ns >= first) {
        /* A round is as long as the recording and one mean interval, so that the last sample has its time. */
        uint64_t span = rows[count - 1].time_ns - first;
        uint64_t round = count > 1 ? span + span / (count - 1) : 10000000;
        rounds_ns = (since_ns - first) / round * round;
    }
    size_t low = 0, high = count; /* the last row not after then is at low - 1 */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle].time_ns <= since_ns - rounds_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    *out_time_ns = rows[low - 1].time_ns + rounds_ns;
    return &rows[low - 1];
}
