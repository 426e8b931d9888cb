/* Errors. Every fallible function returns a sac_result and, when the caller passes a sac_error, tells where
 * the trouble is (file, line or byte) and what to do about it. The library never prints and never exits.
 *
 *   sac_error error;
 *   if (sac_mesh_import("bunny.obj", &mesh, &error) != SAC_OK) {
 *       char text[512];
 *       puts(sac_error_text(&error, text, sizeof text));   // bunny.obj:12: not a number; fix the line
 *   }
 *
 * A pointer that has to be given and is NULL is ERROR_ARGUMENT, with its name. A function without a result
 * does nothing then and returns nothing: 0, false, NULL, a distance of FLT_MAX. Only what is inline or asked
 * for each node or contact (sac_terrain_probe, sac_impulse_*, sac_stop_look, sac_triangles_cross,
 * sac_soft_goal, _lump, _push_lump and _cover_block, sac_meshless_ followed by what it asks of one node)
 * takes pointers as they come.
 *
 * Index: sac_result_name  sac_error_set  sac_error_null  SAC_NEED  sac_error_at_line
 *        sac_error_at_byte  sac_error_in_file  sac_error_text
 */
#ifndef SAC_BASE_ERROR_H
#define SAC_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* One table: stable number, name, meaning. Append only. */
#define SAC_RESULT_LIST(X)                                         \
    X(0, OK, "ok")                                                 \
    X(1, ERROR_ARGUMENT, "an argument is out of its range")        \
    X(2, ERROR_MEMORY, "out of memory")                            \
    X(3, ERROR_IO, "the file could not be read or written")        \
    X(4, ERROR_FORMAT, "the file is not of this format")           \
    X(5, ERROR_CORRUPT, "the file is damaged")                     \
    X(6, ERROR_VERSION, "the file is of another version")          \
    X(7, ERROR_LIMIT, "a limit of the library is exceeded")        \
    X(8, ERROR_EMPTY, "there is nothing to work on")               \
    X(9, ERROR_OPEN_MESH, "the mesh is not closed")                \
    X(10, ERROR_UNSUPPORTED, "this build or machine cannot do it") \
    X(11, ERROR_CANCELLED, "the caller cancelled")

typedef enum sac_result {
#define X(number, name, meaning) SAC_##name = number,
    SAC_RESULT_LIST(X)
#undef X
} sac_result;

typedef struct sac_error {
    sac_result code;
    int64_t line;      /* 1-based line in a text file, 0 when it does not apply */
    int64_t byte;      /* offset in a binary file, -1 when it does not apply */
    char file[256];    /* "" when no file is involved; a long path keeps its end */
    char message[256]; /* what is wrong; one sentence without a full stop */
    char remedy[160];  /* what to do; may be "" */
} sac_error;

#if defined(__GNUC__)
#define SAC_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define SAC_PRINTF(format_index, first)
#endif

/* The constant's name ("ERROR_FORMAT"), never NULL. */
const char *sac_result_name(sac_result result);

/* Fill `error` (may be NULL) and return `code`, so that `return sac_error_set(...)` reads well.
 * `remedy` may be NULL. */
sac_result sac_error_set(sac_error *error, sac_result code, const char *remedy, const char *format, ...)
    SAC_PRINTF(4, 5);

/* The pointer that is NULL: the one after `which` commas in `names`. Returns ERROR_ARGUMENT. */
sac_result sac_error_null(sac_error *error, const char *names, size_t which);

/* First in a function that returns a sac_result: leaves it, naming the first of these pointers that is NULL.
 */
#define SAC_NEED(error, ...)                                                   \
    do {                                                                       \
        const void *const needed[] = {__VA_ARGS__};                            \
        for (size_t one = 0; one < sizeof needed / sizeof *needed; one++)      \
            if (!needed[one]) return sac_error_null(error, #__VA_ARGS__, one); \
    } while (0)

/* Add the place to an error already set; the first place given wins. Return error's code; OK for NULL. */
sac_result sac_error_in_file(sac_error *error, const char *file);
sac_result sac_error_at_line(sac_error *error, int64_t line);
sac_result sac_error_at_byte(sac_error *error, int64_t byte);

/* "file:line: message; remedy" into `out` (always terminated); returns `out`. */
const char *sac_error_text(const sac_error *error, char *out, size_t size);

#endif
