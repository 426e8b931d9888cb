/* The table of pairs: numbers, lists at the bodies, lookup. */
#include "runtime/broad_pairs_internal.h"

#include <string.h>

#include "base/memory.h"

enum { LARGEST_ROOM = 1 << 30 };

static uint32_t bucket_of(const struct sac_broad_private *own, uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u >> (64 - own->bucket_bits));
}

static size_t word_count(uint32_t room) { return ((size_t)room + 63) / 64; }

static void release(sac_broad *broad)
{
    struct sac_broad_private *own = broad->own;
    uint32_t room = broad->pair_room;
    sac_free(broad->pairs, room, sizeof *broad->pairs);
    sac_free(broad->begun, room, sizeof *broad->begun);
    sac_free(broad->ended, room, sizeof *broad->ended);
    sac_free(own->free_numbers, word_count(room), sizeof *own->free_numbers);
    if (own->mates) sac_free(own->mates, sac_rows_room(room), sizeof *own->mates);
    if (own->buckets) sac_free(own->buckets, (size_t)1 << own->bucket_bits, sizeof *own->buckets);
}

void sac_pairs_fini(sac_broad *broad)
{
    release(broad);
    broad->pairs = NULL, broad->begun = broad->ended = NULL, broad->pair_room = 0;
    broad->own->buckets = NULL, broad->own->free_numbers = NULL, broad->own->mates = NULL;
}

sac_result sac_pairs_reserve(sac_broad *broad, uint32_t room, sac_error *error)
{
    uint32_t old = broad->pair_room, bits = 4;
    if (room <= old) return SAC_OK;
    if (room > LARGEST_ROOM)
        return sac_error_set(error, SAC_ERROR_LIMIT, "place fewer bodies on top of each other",
                             "%u pairs of bodies are too many", room);
    while (((uint32_t)1 << bits) < room) bits++;
    size_t words = word_count(room), buckets = (size_t)1 << bits;
    sac_broad_pair *pairs = sac_alloc_zero(room, sizeof *pairs);
    uint32_t *begun = sac_alloc_zero(room, sizeof *begun), *ended = sac_alloc_zero(room, sizeof *ended);
    uint32_t *heads = sac_alloc(buckets, sizeof *heads);
    uint64_t *numbers = sac_alloc(words, sizeof *numbers);
    sac_broad_mate *mates = sac_alloc_zero(sac_rows_room(room), sizeof *mates);
    struct sac_broad_private *own = broad->own;
    if (!pairs || !begun || !ended || !heads || !numbers || !mates ||
        (own->room && !own->room(room, own->user))) {
        sac_free(pairs, room, sizeof *pairs);
        sac_free(begun, room, sizeof *begun);
        sac_free(ended, room, sizeof *ended);
        sac_free(heads, buckets, sizeof *heads);
        sac_free(numbers, words, sizeof *numbers);
        sac_free(mates, sac_rows_room(room), sizeof *mates);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u pairs of bodies", room);
    }
    memset(heads, 0xff, buckets * sizeof *heads);
    memset(numbers, 0xff, words * sizeof *numbers);
    if (room % 64) numbers[words - 1] >>= 64 - room % 64;
    memset(begun, 0, room * sizeof *begun);
    memset(ended, 0, room * sizeof *ended);
    if (old) {
        memcpy(pairs, broad->pairs, old * sizeof *pairs);
        memcpy(begun, broad->begun, broad->begun_count * sizeof *begun);
        memcpy(ended, broad->ended, broad->ended_count * sizeof *ended);
        /* The last word of the old bits may be half used: its upper half is free. */
        uint64_t tail = numbers[word_count(old) - 1];
        memcpy(numbers, own->free_numbers, word_count(old) * sizeof *numbers);
        if (old % 64) numbers[word_count(old) - 1] |= tail & UINT64_MAX << old % 64;
    }
    for (uint32_t i = old; i < room; i++) pairs[i] = (sac_broad_pair){.a = SAC_NO_BODY, .b = SAC_NO_BODY};
    release(broad);
    broad->pairs = pairs, broad->begun = begun, broad->ended = ended, broad->pair_room = room;
    own->buckets = heads, own->free_numbers = numbers, own->bucket_bits = bits, own->mates = mates;
    sac_rows_forget(broad);
    for (uint32_t i = 0; i < broad->pair_end; i++) {
        if (pairs[i].a == SAC_NO_BODY) continue;
        uint32_t bucket = bucket_of(own, pairs[i].a, pairs[i].b);
        pairs[i].same = heads[bucket], heads[bucket] = i;
    }
    return SAC_OK;
}

bool sac_pairs_room(sac_broad *broad, uint32_t more)
{
    uint64_t needed = (uint64_t)broad->pair_count + broad->ended_count + broad->own->waiting_begins + more;
    if (needed <= broad->pair_room) return true;
    uint64_t room = broad->pair_room < 8 ? 16 : (uint64_t)broad->pair_room * 2;
    while (room < needed) room *= 2;
    if (room > LARGEST_ROOM) room = needed;
    if (room > LARGEST_ROOM || sac_pairs_reserve(broad, (uint32_t)room, NULL) != SAC_OK) return false;
    broad->grown++;
    return true;
}

static uint32_t take_number(sac_broad *broad)
{
    struct sac_broad_private *own = broad->own;
    while (!own->free_numbers[own->lowest_word]) own->lowest_word++;
    uint64_t *word = &own->free_numbers[own->lowest_word];
    uint32_t number = own->lowest_word * 64 + (uint32_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    if (number >= broad->pair_end) broad->pair_end = number + 1;
    return number;
}

static void link_first(sac_broad *broad, uint32_t number, uint32_t side, uint32_t body)
{
    sac_broad_pair *p = &broad->pairs[number];
    sac_row_gains(broad, body, (sac_broad_mate){number, side ? p->a : p->b});
    uint32_t first = broad->first_pair[body];
    uint8_t first_side = broad->own->first_sides[body];
    if (first != SAC_NO_PAIR) broad->pairs[first].prev[first_side] = number * 2 + side;
    p->next[side] = first, p->next_side[side] = first_side;
    p->prev[side] = SAC_NO_PAIR;
    broad->first_pair[body] = number, broad->own->first_sides[body] = (uint8_t)side;
}

static void unlink_side(sac_broad *broad, const sac_broad_pair *p, uint32_t side, uint32_t body)
{
    sac_row_loses(broad, body, (uint32_t)(p - broad->pairs));
    uint32_t next = p->next[side], prev = p->prev[side];
    uint8_t next_side = p->next_side[side];
    if (next != SAC_NO_PAIR) broad->pairs[next].prev[next_side] = prev;
    if (prev != SAC_NO_PAIR) {
        sac_broad_pair *before = &broad->pairs[prev / 2];
        before->next[prev % 2] = next, before->next_side[prev % 2] = next_side;
    } else {
        broad->first_pair[body] = next, broad->own->first_sides[body] = next_side;
    }
}

void sac_pairs_begin(sac_broad *broad, uint32_t a, uint32_t b)
{
    struct sac_broad_private *own = broad->own;
    if (a > b) {
        uint32_t swap = a;
        a = b, b = swap;
    }
    uint32_t number = take_number(broad), *bucket = &own->buckets[bucket_of(own, a, b)];
    sac_broad_pair *p = &broad->pairs[number];
    p->a = a, p->b = b;
    link_first(broad, number, 0, a);
    link_first(broad, number, 1, b);
    p->same = *bucket, *bucket = number;
    broad->pair_count++;
    broad->begun[broad->begun_count++] = number;
}

void sac_pairs_end(sac_broad *broad, uint32_t pair)
{
    struct sac_broad_private *own = broad->own;
    sac_broad_pair *p = &broad->pairs[pair];
    uint32_t *link = &own->buckets[bucket_of(own, p->a, p->b)];
    while (*link != pair) link = &broad->pairs[*link].same;
    *link = p->same;
    unlink_side(broad, p, 0, p->a);
    unlink_side(broad, p, 1, p->b);
    p->prev[0] = p->a, p->a = SAC_NO_BODY;
    broad->pair_count--;
    broad->ended[broad->ended_count++] = pair;
}

uint32_t sac_broad_find(const sac_broad *broad, uint32_t a, uint32_t b)
{
    const struct sac_broad_private *own = broad->own;
    if (!own->buckets) return SAC_NO_PAIR;
    if (a > b) {
        uint32_t swap = a;
        a = b, b = swap;
    }
    uint32_t pair = own->buckets[bucket_of(own, a, b)];
    while (pair != SAC_NO_PAIR && (broad->pairs[pair].a != a || broad->pairs[pair].b != b))
        pair = broad->pairs[pair].same;
    return pair;
}

static void fetch(const void *array, size_t index, size_t size)
{
    sac_prefetch((uintptr_t)array + index * size);
}

static void fetch_pair(const sac_broad *broad, uint32_t pair)
{
    fetch(broad->pairs, pair, sizeof *broad->pairs);
}

/* Each step needs what the one before has fetched, so all pairs take the first step, then all the next. */
void sac_broad_settle(sac_broad *broad)
{
    struct sac_broad_private *own = broad->own;
    uint32_t count = own->waiting_count, bucket[SAC_PAIRS_WAIT];
    const sac_pair_change *waiting = own->waiting;
    own->waiting_count = own->waiting_begins = 0;
    if (count > 1) {
        for (uint32_t i = 0; i < count; i++) {
            bucket[i] = bucket_of(own, waiting[i].a & ~SAC_PAIR_BEGINS, waiting[i].b);
            fetch(own->buckets, bucket[i], sizeof *own->buckets);
        }
        for (uint32_t i = 0; i < count; i++) {
            fetch_pair(broad, own->buckets[bucket[i]]);
            if (!(waiting[i].a & SAC_PAIR_BEGINS)) continue;
            fetch_pair(broad, broad->first_pair[waiting[i].a & ~SAC_PAIR_BEGINS]);
            fetch_pair(broad, broad->first_pair[waiting[i].b]);
        }
        for (uint32_t i = 0; i < count; i++) {
            if (waiting[i].a & SAC_PAIR_BEGINS) continue;
            uint32_t pair = sac_broad_find(broad, waiting[i].a, waiting[i].b);
            if (pair == SAC_NO_PAIR) continue;
            const sac_broad_pair *p = &broad->pairs[pair];
            for (int side = 0; side < 2; side++)
                fetch_pair(broad, p->next[side]), fetch_pair(broad, p->prev[side] / 2);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = waiting[i].a & ~SAC_PAIR_BEGINS, b = waiting[i].b;
        if (waiting[i].a & SAC_PAIR_BEGINS) {
            sac_pairs_begin(broad, a, b);
        } else {
            uint32_t pair = sac_broad_find(broad, a, b);
            if (pair != SAC_NO_PAIR) sac_pairs_end(broad, pair);
        }
    }
}

static void wait(sac_broad *broad, uint32_t a, uint32_t b, uint32_t begins)
{
    struct sac_broad_private *own = broad->own;
    if (own->waiting_count == SAC_PAIRS_WAIT) sac_broad_settle(broad);
    own->waiting[own->waiting_count++] = (sac_pair_change){(a < b ? a : b) | begins, a < b ? b : a};
    own->waiting_begins += begins != 0;
}

void sac_pairs_begin_soon(sac_broad *broad, uint32_t a, uint32_t b) { wait(broad, a, b, SAC_PAIR_BEGINS); }
void sac_pairs_end_soon(sac_broad *broad, uint32_t a, uint32_t b) { wait(broad, a, b, 0); }

void sac_broad_flush(sac_broad *broad)
{
    struct sac_broad_private *own = broad->own;
    sac_broad_settle(broad);
    for (uint32_t i = 0; i < broad->ended_count; i++) {
        uint32_t word = broad->ended[i] / 64;
        own->free_numbers[word] |= UINT64_C(1) << broad->ended[i] % 64;
        if (word < own->lowest_word) own->lowest_word = word;
    }
    broad->begun_count = broad->ended_count = 0;
}
