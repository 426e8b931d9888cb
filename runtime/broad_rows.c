/* Rows: the pairs of a body side by side. Lists jump through memory; a row is a copy of one, in another order
 * after some of its pairs have begun and ended, and made again when it has no room for them. */
#include "runtime/broad_pairs_internal.h"

#include "base/memory.h"

/* Whole cache lines, so that a list that grows a little finds room where it is. */
enum { MATES_A_LINE = SAC_CACHE_LINE / sizeof(sac_broad_mate) };

static uint32_t whole_lines(uint32_t count)
{
    return (count + (MATES_A_LINE - 1)) / MATES_A_LINE * MATES_A_LINE;
}

/* Each pair is in two rows; the rest is for rows that moved. */
size_t sac_rows_room(uint32_t pairs) { return (size_t)pairs * 3 + SAC_BROAD_ROWS * MATES_A_LINE; }

void sac_rows_forget(sac_broad *broad)
{
    broad->own->mates_used = 0;
    broad->own->row_round++;
}

void sac_row_gains(sac_broad *broad, uint32_t body, sac_broad_mate mate)
{
    struct sac_broad_private *own = broad->own;
    sac_list_state *list = &own->lists[body];
    if (list->copied == own->row_round && list->pairs < list->row_room)
        own->mates[list->row_at + list->pairs] = mate;
    else
        list->copied = 0;
    list->pairs++;
}

void sac_row_loses(sac_broad *broad, uint32_t body, uint32_t pair)
{
    struct sac_broad_private *own = broad->own;
    sac_list_state *list = &own->lists[body];
    list->pairs--;
    if (list->copied != own->row_round) return;
    sac_broad_mate *row = own->mates + list->row_at;
    uint32_t at = 0;
    while (row[at].pair != pair) at++;
    row[at] = row[list->pairs];
}

/* A place for a body's row; false when there is none left. */
static bool place_row(struct sac_broad_private *own, sac_list_state *list, size_t room)
{
    if (list->row_round == own->row_round && list->pairs <= list->row_room) return true;
    uint32_t needed = whole_lines(list->pairs);
    if (room - own->mates_used < needed) return false;
    list->row_at = own->mates_used, list->row_room = needed, list->row_round = own->row_round;
    own->mates_used += needed;
    return true;
}

static void fetch_pair(const sac_broad *broad, uint32_t pair)
{
    sac_prefetch((uintptr_t)&broad->pairs[pair]);
}

/* Lists are walked side by side, so that one waits for memory while the others go on. */
static void copy_lists(const sac_broad *broad, const uint32_t *bodies, uint32_t count,
                       sac_broad_mate *const *rows)
{
    uint32_t at[SAC_BROAD_ROWS], walking = count;
    for (uint32_t k = 0; k < count; k++) fetch_pair(broad, at[k] = broad->first_pair[bodies[k]]);
    for (uint32_t n = 0; walking; n++)
        for (uint32_t k = 0; k < count; k++) {
            if (at[k] == SAC_NO_PAIR) continue;
            const sac_broad_pair *p = &broad->pairs[at[k]];
            uint32_t side = p->a != bodies[k];
            rows[k][n] = (sac_broad_mate){at[k], side ? p->a : p->b};
            at[k] = p->next[side];
            if (at[k] == SAC_NO_PAIR)
                walking--;
            else
                fetch_pair(broad, at[k]);
        }
}

void sac_broad_rows(sac_broad *broad, const uint32_t *bodies, uint32_t count, sac_broad_row *out)
{
    struct sac_broad_private *own = broad->own;
    uint32_t stale[SAC_BROAD_ROWS], stale_count = 0;
    sac_broad_mate *copies[SAC_BROAD_ROWS];
    size_t room = sac_rows_room(broad->pair_room);
    for (uint32_t k = 0; k < count; k++) {
        if (place_row(own, &own->lists[bodies[k]], room)) continue;
        /* All begin again; these few have room for sure. */
        sac_rows_forget(broad);
        k = UINT32_MAX;
    }
    for (uint32_t k = 0; k < count; k++) {
        sac_list_state *list = &own->lists[bodies[k]];
        out[k] = (sac_broad_row){own->mates + list->row_at, list->pairs};
        if (list->copied == own->row_round || !list->pairs) continue;
        list->copied = own->row_round;
        stale[stale_count] = bodies[k], copies[stale_count++] = own->mates + list->row_at;
    }
    if (stale_count) copy_lists(broad, stale, stale_count, copies);
}
