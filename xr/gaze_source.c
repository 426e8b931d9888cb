#include "xr/gaze_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef enum source_kind { SOURCE_TABLE, SOURCE_SCRIPT, SOURCE_FEED } source_kind;

enum { FED = 256 };

struct sac_gaze_source {
    source_kind kind;
    char name[64];
    bool loop, started;
    uint64_t start_ns, delay_ns;
    sac_gaze_reading last;
    sac_gaze_table table;
    sac_gaze_script script;
    sac_gaze_reading fed[FED]; /* a ring, newest at fed_count - 1 */
    uint64_t fed_count;
};

static sac_gaze_reading nothing(void)
{
    sac_gaze_ray none = sac_gaze_ray_none();
    return (sac_gaze_reading){.cyclopean = none, .left = none, .right = none};
}

static sac_result make(source_kind kind, const char *name, sac_gaze_source **out_source, sac_error *error)
{
    sac_gaze_source *source = sac_alloc_zero(1, sizeof *source);
    *out_source = source;
    if (!source)
        return sac_error_set(error, SAC_ERROR_MEMORY, "close something", "no memory for a gaze source");
    source->kind = kind;
    snprintf(source->name, sizeof source->name, "%s", name);
    source->last = nothing();
    return SAC_OK;
}

/* The end of a path is what tells it from others. */
static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static sac_result take_table(sac_gaze_table *table, const char *path, bool loop, sac_gaze_source **out_source,
                             sac_error *error)
{
    sac_result result = make(SOURCE_TABLE, short_name(path), out_source, error);
    if (result != SAC_OK) {
        sac_gaze_table_fini(table);
        return result;
    }
    (*out_source)->table = *table;
    (*out_source)->loop = loop;
    return SAC_OK;
}

sac_result sac_gaze_source_csv(const char *path, bool loop, sac_gaze_source **out_source, sac_error *error)
{
    sac_gaze_table table;
    *out_source = NULL;
    sac_result result = sac_gaze_table_read(&table, path, error);
    return result == SAC_OK ? take_table(&table, path, loop, out_source, error) : result;
}

sac_result sac_gaze_source_csv_text(const char *text, size_t size, const char *name, bool loop,
                                    sac_gaze_source **out_source, sac_error *error)
{
    sac_gaze_table table;
    *out_source = NULL;
    sac_result result = sac_gaze_table_parse(&table, text, size, name, error);
    return result == SAC_OK ? take_table(&table, name, loop, out_source, error) : result;
}

sac_result sac_gaze_source_script(const char *script, uint64_t delay_ns, sac_gaze_source **out_source,
                                  sac_error *error)
{
    sac_result result = make(SOURCE_SCRIPT, script, out_source, error);
    if (result == SAC_OK) result = sac_gaze_script_parse(&(*out_source)->script, script, error);
    if (result != SAC_OK)
        sac_gaze_source_close(out_source);
    else
        sac_gaze_source_delay(*out_source, delay_ns);
    return result;
}

sac_result sac_gaze_source_head(sac_gaze_source **out_source, sac_error *error)
{
    return sac_gaze_source_script("head", 0, out_source, error);
}

sac_result sac_gaze_source_feed(sac_gaze_source **out_source, sac_error *error)
{
    return make(SOURCE_FEED, "feed", out_source, error);
}

sac_result sac_gaze_source_open(const char *word, sac_gaze_source **out_source, sac_error *error)
{
    if (strcmp(word, "center") == 0) return sac_gaze_source_script("fixation:0,0", 0, out_source, error);
    size_t letters = strcspn(word, ":@");
    static const char *const scripts[] = {"head", "sweep", "fixation", "pursuit", "saccades"};
    for (int i = 0; i < 5; i++)
        if (strlen(scripts[i]) == letters && strncmp(word, scripts[i], letters) == 0)
            return sac_gaze_source_script(word, 0, out_source, error);
    sac_result result = sac_gaze_source_csv(word, false, out_source, error);
    if (result != SAC_ERROR_IO) return result;
    char why[128];
    snprintf(why, sizeof why, "%.120s", error ? error->message : "");
    static const char remedy[] = "give head, center, sweep, fixation:YAW,PITCH, pursuit:RADIUS,PERIOD, "
                                 "saccades:SEED or a CSV file";
    /* What looks like a path, or is there, is a file that cannot be read; a word is a name nobody knows. */
    if (!strpbrk(word, "./") && access(word, F_OK) != 0)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy,
                             "'%.100s' is neither a way to look nor a file", word);
    sac_error_set(error, SAC_ERROR_IO, remedy, "neither a way to look nor a file that can be read: %s", why);
    sac_error_in_file(error, word);
    return SAC_ERROR_IO;
}

void sac_gaze_source_give(sac_gaze_source *source, const sac_gaze_reading *reading)
{
    if (source->kind == SOURCE_FEED) source->fed[source->fed_count++ % FED] = *reading;
}

void sac_gaze_source_start(sac_gaze_source *source, uint64_t start_ns)
{
    source->started = true;
    source->start_ns = start_ns;
}

bool sac_gaze_source_is_world(const sac_gaze_source *source) { return source->table.world; }

uint64_t sac_gaze_source_delay_ns(const sac_gaze_source *source) { return source->delay_ns; }

void sac_gaze_source_delay(sac_gaze_source *source, uint64_t delay_ns) { source->delay_ns = delay_ns; }

/* The newest that was there by then; samples without a time cannot be held back. */
static void read_feed(const sac_gaze_source *source, uint64_t then_ns, sac_gaze_reading *out)
{
    uint64_t kept = source->fed_count < FED ? source->fed_count : FED;
    for (uint64_t i = 1; i <= kept; i++) {
        const sac_gaze_reading *fed = &source->fed[(source->fed_count - i) % FED];
        if (source->delay_ns && fed->sample_ns > then_ns) continue;
        *out = *fed;
        return;
    }
}

static bool same_ray(const sac_gaze_ray *a, const sac_gaze_ray *b)
{
    return a->valid == b->valid && memcmp(a->origin, b->origin, sizeof a->origin) == 0 &&
           memcmp(a->direction, b->direction, sizeof a->direction) == 0;
}

/* The same sample once more: by its stamp; without one, by what it says. */
static bool same_sample(const sac_gaze_reading *a, const sac_gaze_reading *b)
{
    if (a->sample_ns || b->sample_ns) return a->sample_ns == b->sample_ns;
    return same_ray(&a->cyclopean, &b->cyclopean) && same_ray(&a->left, &b->left) &&
           same_ray(&a->right, &b->right);
}

void sac_gaze_source_read(sac_gaze_source *source, uint64_t now_ns, sac_gaze_reading *out_reading)
{
    sac_gaze_reading reading = nothing();
    uint64_t then_ns = now_ns > source->delay_ns ? now_ns - source->delay_ns : 0, time_ns;
    if (!source->started) sac_gaze_source_start(source, now_ns);
    if (source->kind == SOURCE_FEED) {
        read_feed(source, then_ns, &reading);
    } else if (then_ns >= source->start_ns && now_ns >= source->delay_ns) {
        uint64_t since_ns = then_ns - source->start_ns;
        if (source->kind == SOURCE_SCRIPT && source->script.kind != SAC_SCRIPT_HEAD) {
            sac_gaze_script_at(&source->script, since_ns, &time_ns, &reading.cyclopean);
            reading.sample_ns = source->start_ns + time_ns;
        }
        const sac_gaze_row *row = source->kind == SOURCE_TABLE
                                      ? sac_gaze_table_at(&source->table, source->loop, since_ns, &time_ns)
                                      : NULL;
        if (row) {
            reading.sample_ns = source->start_ns + time_ns;
            reading.world = source->table.world;
            reading.cyclopean = row->rays[SAC_GAZE_CYCLOPEAN];
            reading.left = row->rays[SAC_GAZE_LEFT];
            reading.right = row->rays[SAC_GAZE_RIGHT];
        }
    }
    reading.fresh = !same_sample(&reading, &source->last);
    source->last = reading;
    *out_reading = reading;
}

const char *sac_gaze_source_name(const sac_gaze_source *source) { return source->name; }

void sac_gaze_source_close(sac_gaze_source **source)
{
    if (!*source) return;
    sac_gaze_table_fini(&(*source)->table);
    sac_free(*source, 1, sizeof **source);
    *source = NULL;
}
