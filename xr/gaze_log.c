/* Gaze on disk, only with consent: rows that the reader of gaze_csv.c reads back. */
#include "xr/gaze_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sac_gaze_log {
    FILE *file;
    char path[256];
    uint64_t last_ns;
    bool any, world, failed;
};

sac_result sac_gaze_log_open(const char *path, bool consent, sac_gaze_log **out_log, sac_error *error)
{
    sac_error mine;
    if (!error) error = &mine; /* its code is the result */
    *out_log = NULL;
    if (!consent)
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             "ask the person, and say that they agreed before gaze is written",
                             "gaze is personal data and nobody agreed to keep it");
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!file) {
        sac_error_set(error, SAC_ERROR_IO,
                      errno == EEXIST ? "give another name; gaze is never written over"
                                      : "give a place that can be written",
                      "%s", strerror(errno));
        if (descriptor >= 0) close(descriptor);
        sac_error_in_file(error, path);
        return SAC_ERROR_IO;
    }
    sac_gaze_log *log = sac_alloc_zero(1, sizeof *log);
    if (!log) {
        fclose(file);
        unlink(path);
        return sac_error_set(error, SAC_ERROR_MEMORY, "close something", "no memory to log gaze");
    }
    log->file = file;
    snprintf(log->path, sizeof log->path, "%s", path);
    *out_log = log;
    return SAC_OK;
}

static void write_headings(sac_gaze_log *log)
{
    static const char *const eyes[] = {"", "left_", "right_"};
    fprintf(log->file,
            "# space: %s\n# consent: given\n"
            "# time_ns: when the eye was there, or when it was read if that is not known; monotonic clock\n"
            "time_ns,sample_ns,read_ns",
            log->world ? "world" : "head");
    for (int e = 0; e < 3; e++)
        fprintf(log->file, ",%svalid,%sx,%sy,%sz,%sorigin_x,%sorigin_y,%sorigin_z,%sconfidence,%spupil_mm",
                eyes[e], eyes[e], eyes[e], eyes[e], eyes[e], eyes[e], eyes[e], eyes[e], eyes[e]);
    fputc('\n', log->file);
}

static void write_number(FILE *file, float value)
{
    if (isfinite(value))
        fprintf(file, ",%.9g", (double)value);
    else
        fputc(',', file);
}

static void write_ray(FILE *file, const sac_gaze_ray *ray)
{
    fprintf(file, ",%d", ray->valid);
    for (int k = 0; k < 3; k++) write_number(file, ray->valid ? ray->direction[k] : NAN);
    for (int k = 0; k < 3; k++) write_number(file, ray->valid ? ray->origin[k] : NAN);
    write_number(file, ray->confidence);
    write_number(file, ray->pupil_mm);
}

static sac_result failed(sac_gaze_log *log, sac_error *error)
{
    log->failed = true;
    sac_error_set(error, SAC_ERROR_IO, "make room on the disk and begin another log", "%s",
                  errno ? strerror(errno) : "not all of it was written");
    sac_error_in_file(error, log->path);
    return SAC_ERROR_IO;
}

sac_result sac_gaze_log_write(sac_gaze_log *log, uint64_t now_ns, const sac_gaze_reading *reading,
                              sac_error *error)
{
    uint64_t time_ns = reading->sample_ns ? reading->sample_ns : now_ns;
    /* Samples may be ahead of the clock; what has no stamp still comes after them. */
    if (!reading->sample_ns && log->any && time_ns <= log->last_ns) time_ns = log->last_ns + 1;
    errno = 0;
    if (log->failed) return failed(log, error);
    if (!reading->fresh || (log->any && time_ns <= log->last_ns)) return SAC_OK;
    if (log->any && reading->world != log->world)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "log each source to its own file",
                             "rays of the head and of the world do not go into one file");
    sac_gaze_numbers numbers = sac_gaze_numbers_begin();
    log->world = reading->world;
    if (!log->any) write_headings(log);
    fprintf(log->file, "%llu,", (unsigned long long)time_ns);
    if (reading->sample_ns) fprintf(log->file, "%llu", (unsigned long long)reading->sample_ns);
    fprintf(log->file, ",%llu", (unsigned long long)now_ns);
    write_ray(log->file, &reading->cyclopean);
    write_ray(log->file, &reading->left);
    write_ray(log->file, &reading->right);
    fputc('\n', log->file);
    sac_gaze_numbers_end(&numbers);
    log->any = true;
    log->last_ns = time_ns;
    return ferror(log->file) ? failed(log, error) : SAC_OK;
}

sac_result sac_gaze_log_close(sac_gaze_log **log, sac_error *error)
{
    if (!*log) return SAC_OK;
    if (!(*log)->any) write_headings(*log);
    errno = 0;
    bool broken = ferror((*log)->file) != 0;
    broken |= fclose((*log)->file) != 0;
    sac_result result = broken ? failed(*log, error) : SAC_OK;
    sac_free(*log, 1, sizeof **log);
    *log = NULL;
    return result;
}
