/* The books of a session: a row a frame, kept in memory made at the start, and what they come to.
 *
 *   sac_xr_books books;
 *   sac_xr_books_init(&books, 300, &error);
 *   *sac_xr_books_next(&books) = row;                          // the oldest make room
 *   sac_xr_books_csv(&books, "out/frames.csv", &error);
 *   sac_xr_books_mangohud(&books, device, "out/mangohud.csv", &error);
 *   sac_xr_books_fini(&books);
 *
 * Index: sac_xr_books_init  sac_xr_books_fini  sac_xr_books_next  sac_xr_books_row  sac_xr_books_spread
 *        sac_xr_books_csv  sac_xr_books_mangohud
 */
#ifndef SAC_APPS_XR_BOOKS_H
#define SAC_APPS_XR_BOOKS_H

#include "xr/xr.h"

/* Times in ns on the monotonic clock, unless they are lengths. */
typedef struct sac_xr_row {
    uint64_t frame;
    uint64_t wait_begin_ns, wait_end_ns; /* around the runtime's wait */
    uint64_t predicted_ns;               /* display, predicted; nobody knows when it was presented */
    int64_t predicted_xr, period_ns;     /* on the runtime's clock, as it said them */
    int64_t step_ns;                     /* from the last prediction, believed */
    uint64_t begin_ns, deadline_ns, physics_end_ns, end_ns;
    uint64_t gpu_ns; /* of the last picture that has come back; 0: unknown */
    uint64_t
        room_ns; /* CPU time of session and renderer and of making the drawing, runtime and driver excluded */
    uint64_t physics_ns; /* wall */
    uint64_t gaze_ns;    /* sample time; 0: none */
    uint32_t missed, steps, bodies, allocations;
    bool should_render, late /* handed over after the predicted display time */, strange;
    bool gaze_valid, gaze_fresh;
    float head[7]; /* position, rotation; world */
    float gaze[3]; /* direction, world */
    char state[16];
} sac_xr_row;

typedef struct sac_xr_books {
    sac_xr_row *rows;
    size_t capacity;
    uint64_t count; /* written, the lost ones included */
} sac_xr_books;

sac_result sac_xr_books_init(sac_xr_books *books, uint64_t frames, sac_error *error);
void sac_xr_books_fini(sac_xr_books *books);
sac_xr_row *sac_xr_books_next(sac_xr_books *books);
size_t sac_xr_books_kept(const sac_xr_books *books);
const sac_xr_row *sac_xr_books_row(const sac_xr_books *books, size_t index); /* the oldest kept is 0 */

typedef struct sac_xr_spread {
    double mean, p50, p95, p99, max;
    size_t count;
} sac_xr_spread;
/* NaN is left out. False when out of memory. */
bool sac_xr_books_spread(const sac_xr_books *books, double (*value)(const sac_xr_row *row),
                         sac_xr_spread *out);

sac_result sac_xr_books_csv(const sac_xr_books *books, const char *path, sac_error *error);
/* Three head lines and a row a frame, as MangoHud writes them: its plotters read it. */
sac_result sac_xr_books_mangohud(const sac_xr_books *books, const char *device, const char *path,
                                 sac_error *error);

#endif
