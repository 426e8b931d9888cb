/* The table of pairs under the broad phase. Private to runtime/broad*.c.
 *
 * Index: sac_pairs_room  sac_pairs_begin  sac_pairs_end  sac_pairs_fini  sac_rows_room  sac_rows_forget
 *        sac_row_gains  sac_row_loses
 */
#ifndef SAC_RUNTIME_BROAD_PAIRS_INTERNAL_H
#define SAC_RUNTIME_BROAD_PAIRS_INTERNAL_H

#include "runtime/broad_grid_internal.h"
#include "runtime/broad_internal.h"

/* Pairs that wait to begin or end. */
enum { SAC_PAIRS_WAIT = 32 };
#define SAC_PAIR_BEGINS 0x80000000u
typedef struct sac_pair_change {
    uint32_t a, b; /* a < b; a with this bit: begins */
} sac_pair_change;

/* What is said of a body's list besides its first pair. */
typedef struct sac_list_state {
    uint32_t pairs;            /* in it */
    uint32_t row_at, row_room; /* where its row lies, if row_round is the broad phase's */
    uint32_t row_round;
    uint32_t copied; /* round in which the row became what the list is; 0: it is not */
} sac_list_state;

struct sac_broad_private {
    sac_grid grid;
    sac_broad_filter *filter;
    sac_broad_room *room;
    void *user;
    /* (a, b) to number: chains from a bucket, one bucket a pair or more. */
    uint32_t *buckets;
    uint8_t *first_sides;  /* of each body: the side of its first pair it is on */
    sac_list_state *lists; /* of each body */
    /* Rows, sac_rows_room of them, and how often all began again. */
    sac_broad_mate *mates;
    uint32_t mates_used, row_round;
    uint32_t bucket_bits;
    uint64_t *free_numbers; /* bit: free */
    uint32_t lowest_word;   /* of free_numbers that may have one */
    sac_pair_change waiting[SAC_PAIRS_WAIT];
    uint32_t waiting_count, waiting_begins;
    /* What a placement found: boxes to look at, those that changed, bodies, pairs. */
    uint32_t *looked, *changed, *fresh, *gone;
};

/* Room for `more` pairs beyond those there are; false when out of memory, and nothing is changed. */
bool sac_pairs_room(sac_broad *broad, uint32_t more);
/* Room for so many in all. */
sac_result sac_pairs_reserve(sac_broad *broad, uint32_t room, sac_error *error);
void sac_pairs_fini(sac_broad *broad);
/* There must be room, and they must have no pair yet. */
void sac_pairs_begin(sac_broad *broad, uint32_t a, uint32_t b);
/* Begins or ends soon; to end, they need not have a pair. All in the order they were told in. */
void sac_pairs_begin_soon(sac_broad *broad, uint32_t a, uint32_t b);
void sac_pairs_end_soon(sac_broad *broad, uint32_t a, uint32_t b);
void sac_pairs_end(sac_broad *broad, uint32_t pair);

/* broad_rows.c: mates for so many pairs; and all rows are to be made again. */
size_t sac_rows_room(uint32_t pairs);
void sac_rows_forget(sac_broad *broad);
/* A body's list does: its row follows it, or is to be made again. */
void sac_row_gains(sac_broad *broad, uint32_t body, sac_broad_mate mate);
void sac_row_loses(sac_broad *broad, uint32_t body, uint32_t pair);

#endif
