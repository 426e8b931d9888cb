#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *sac_result_name(sac_result result)
{
    switch (result) {
#define X(number, name, meaning) \
    case SAC_##name:             \
        return #name;
        SAC_RESULT_LIST(X)
#undef X
    }
    return "UNKNOWN";
}

static const char *meaning_of(sac_result result)
{
    switch (result) {
#define X(number, name, meaning) \
    case SAC_##name:             \
        return meaning;
        SAC_RESULT_LIST(X)
#undef X
    }
    return "unknown error";
}

sac_result sac_error_set(sac_error *error, sac_result code, const char *remedy, const char *format, ...)
{
    if (!error) return code;
    *error = (sac_error){.code = code, .byte = -1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (remedy) snprintf(error->remedy, sizeof error->remedy, "%s", remedy);
    return code;
}

sac_result sac_error_null(sac_error *error, const char *names, size_t which)
{
    for (; which && *names; names++) which -= *names == ',';
    names += strspn(names, " ");
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "give one", "%.*s is NULL", (int)strcspn(names, ","),
                         names);
}

sac_result sac_error_in_file(sac_error *error, const char *file)
{
    if (!error) return SAC_OK;
    if (file && !error->file[0]) {
        size_t length = strlen(file), room = sizeof error->file - 1;
        snprintf(error->file, sizeof error->file, "%s", length > room ? file + (length - room) : file);
    }
    return error->code;
}

sac_result sac_error_at_line(sac_error *error, int64_t line)
{
    if (!error) return SAC_OK;
    if (!error->line) error->line = line;
    return error->code;
}

sac_result sac_error_at_byte(sac_error *error, int64_t byte)
{
    if (!error) return SAC_OK;
    if (error->byte < 0) error->byte = byte;
    return error->code;
}

const char *sac_error_text(const sac_error *error, char *out, size_t size)
{
    char place[320] = "";
    if (!out || !size) return "";
    *out = 0;
    if (!error) return out;
    if (error->line > 0)
        snprintf(place, sizeof place, "%s:%" PRId64 ": ", error->file, error->line);
    else if (error->byte >= 0)
        snprintf(place, sizeof place, "%s: byte %" PRId64 ": ", error->file, error->byte);
    else if (error->file[0])
        snprintf(place, sizeof place, "%s: ", error->file);
    snprintf(out, size, "%s%s%s%s", place, error->message[0] ? error->message : meaning_of(error->code),
             error->remedy[0] ? "; " : "", error->remedy);
    return out;
}
