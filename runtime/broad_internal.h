/* Who could meet: persistent pairs over space-time bounds. Private to runtime/.
 *
 * Each body has one proxy: a box that holds it for some frames to come. Boxes lie in a hierarchy of loose
 * hash grids, one level a power of two of size; a body sits in one cell of the level its box fits, so placing
 * it costs nothing to speak of, and finding its partners means a few cells of each level in use. Pairs of
 * boxes that overlap are kept from frame to frame, with a stable number each and a list of them at each body.
 *
 * Index: sac_broad_create  sac_broad_destroy  sac_broad_reserve  sac_broad_place
 *        sac_broad_place_soon  sac_broad_settle  sac_broad_remove  sac_broad_refilter
 *        sac_broad_flush  sac_broad_next  sac_broad_rows  sac_broad_find  sac_broad_ended_bodies
 *        sac_broad_touching  sac_broad_ray  sac_horn_meet
 */
#ifndef SAC_RUNTIME_BROAD_INTERNAL_H
#define SAC_RUNTIME_BROAD_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/geometry.h"

#define SAC_NO_PAIR UINT32_MAX
#define SAC_NO_BODY UINT32_MAX

/* Half a cache line. In the lists of a body, a pair is on the side of a (0) or of b (1); links say which, so
 * that neither end of a list needs to be read to be joined. */
typedef struct sac_broad_pair {
    uint32_t a, b;    /* bodies, a < b; a == SAC_NO_BODY: this number is free */
    uint32_t next[2]; /* pairs after it, in the lists of a and b */
    uint32_t prev[2]; /* before it: number times two, and the side there */
    uint32_t same;    /* next of the same bucket */
    uint8_t next_side[2];
    uint16_t unused;
} sac_broad_pair;

/* May these two meet at all? Asked once for each new pair of overlapping boxes; must be symmetric. */
typedef bool sac_broad_filter(uint32_t a, uint32_t b, void *user);

/* Before there is room for so many pairs: for who keeps something beside each. False: there shall not be. */
typedef bool sac_broad_room(uint32_t pairs, void *user);

typedef struct sac_broad {
    sac_broad_pair *pairs; /* by number; numbers are stable and reused, lowest first */
    uint32_t pair_count;   /* in use */
    uint32_t pair_end;     /* one beyond the highest number ever used */
    uint32_t pair_room;
    uint32_t body_room;
    uint32_t *first_pair; /* of each body; SAC_NO_PAIR: none */
    sac_box *boxes;       /* of each body: the placed one */
    /* Since the last flush. An ended pair's number is not reused before the next, so a pair that began and
     * ended in between is in both, and each number is at most once in either. */
    uint32_t *begun, *ended;
    uint32_t begun_count, ended_count;
    uint32_t grown; /* how often room ran out and was made in an emergency */
    /* While set, placing and refiltering make room for the pairs they would begin, and change nothing: who
     * must change more than a box can then do it all, or none of it. */
    bool rehearsal;
    struct sac_broad_private *own;
} sac_broad;

typedef struct sac_broad_def {
    uint32_t bodies, pairs;   /* room; both grow by doubling when they must (counted in `grown`) */
    sac_broad_filter *filter; /* NULL: all may */
    sac_broad_room *room;     /* may be NULL */
    void *user;
} sac_broad_def;

/* ERROR_MEMORY, or ERROR_LIMIT beyond 2^30 pairs. All room asked for is touched, so that no frame pays for
 * it. */
sac_result sac_broad_create(const sac_broad_def *def, sac_broad **out_broad, sac_error *error);
void sac_broad_destroy(sac_broad **broad);
sac_result sac_broad_reserve(sac_broad *broad, uint32_t bodies, uint32_t pairs, sac_error *error);

/* Place a body's box, for the first time or anew: pairs that no longer overlap end, new ones begin. `moves`:
 * false for static bodies, which never pair with each other. A box with an infinite or enormous side is kept
 * in a list of its own and meets everybody whose box it overlaps. Returns the cost in credits (about half a
 * nanosecond each), or 0 when there was no memory for a pair: the body is then where it was. Sides that are
 * not numbers count as infinite, sides the wrong way round are turned. */
uint64_t sac_broad_place(sac_broad *broad, uint32_t body, const sac_box *box, bool moves);
/* As sac_broad_place, but pairs may wait to begin and end until sac_broad_settle (or until there are many):
 * they lie all over memory, and are fetched together instead of one after the other. Until then nothing but
 * these two functions, sac_broad_place and the searches may be called, and pairs and lists are not yet right.
 */
uint64_t sac_broad_place_soon(sac_broad *broad, uint32_t body, const sac_box *box, bool moves);
void sac_broad_settle(sac_broad *broad);
void sac_broad_remove(sac_broad *broad, uint32_t body);
/* Ask the filter again about all pairs of a body (its filter changed), also those it refused before. False
 * when there was no memory for a pair: all pairs are then as they were. */
bool sac_broad_refilter(sac_broad *broad, uint32_t body);

/* Pair numbers are handed out again only after this: once a frame, when begun and ended have been read. */
void sac_broad_flush(sac_broad *broad);

/* The pair after `pair` in the list of `body`. */
static inline uint32_t sac_broad_next(const sac_broad *broad, uint32_t pair, uint32_t body)
{
    const sac_broad_pair *p = &broad->pairs[pair];
    return p->next[p->a != body];
}

/* The lists of some bodies, at most so many and each once, as they are met in memory: one after the other.
 * Good until the next call, or until pairs begin or end. One thread at a time. */
#define SAC_BROAD_ROWS 8u
typedef struct sac_broad_mate {
    uint32_t pair, other; /* other: the body it is a pair with */
} sac_broad_mate;
typedef struct sac_broad_row {
    const sac_broad_mate *mates; /* in the order of the list */
    uint32_t count;
} sac_broad_row;
void sac_broad_rows(sac_broad *broad, const uint32_t *bodies, uint32_t count, sac_broad_row *out_rows);

/* The pair of two bodies, SAC_NO_PAIR if they have none. */
uint32_t sac_broad_find(const sac_broad *broad, uint32_t a, uint32_t b);
/* Who the pair was, for a number in `ended`. */
static inline void sac_broad_ended_bodies(const sac_broad *broad, uint32_t pair, uint32_t *out_a,
                                          uint32_t *out_b)
{
    *out_a = broad->pairs[pair].prev[0];
    *out_b = broad->pairs[pair].b;
}

/* All bodies whose box overlaps `box`, each once, in an order that depends only on what is placed. Return
 * false from `visit` to stop. */
typedef bool sac_broad_visit(uint32_t body, void *user);
void sac_broad_touching(const sac_broad *broad, const sac_box *box, sac_broad_visit *visit, void *user);
/* All bodies whose box a ray (origin + t direction, t >= 0) enters before t = *most, each once; `visit` may
 * lower *most as it finds hits. The direction need not be of length 1; *most may be infinite. */
void sac_broad_ray(const sac_broad *broad, const float origin[3], const float direction[3], float *most,
                   sac_broad_visit *visit, void *user);

/* Two horns (space-time bounds) with gap g, radial closing speed w and the sum of their acceleration bounds M
 * cannot meet before this time; 0 when g <= 0, FLT_MAX when never. */
float sac_horn_meet(float g, float w, float M);

#endif
