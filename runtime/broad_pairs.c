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
    sac_free(own->chain, room, sizeof *own->chain);
    sac_free(own->free_numbers, word_count(room), sizeof *own->free_numbers);
    if (own->buckets) sac_free(own->buckets, (size_t)1 << own->bucket_bits, sizeof *own->buckets);
}

void sac_pairs_fini(sac_broad *broad)
{
    release(broad);
    broad->pairs = NULL, broad->begun = broad->ended = NULL, broad->pair_room = 0;
    broad->own->chain = broad->own->buckets = NULL, broad->own->free_numbers = NULL;
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
    sac_broad_pair *pairs = sac_alloc(room, sizeof *pairs);
    uint32_t *begun = sac_alloc(room, sizeof *begun), *ended = sac_alloc(room, sizeof *ended);
    uint32_t *chain = sac_alloc(room, sizeof *chain), *heads = sac_alloc(buckets, sizeof *heads);
    uint64_t *numbers = sac_alloc(words, sizeof *numbers);
    if (!pairs || !begun || !ended || !chain || !heads || !numbers) {
        sac_free(pairs, room, sizeof *pairs);
        sac_free(begun, room, sizeof *begun);
        sac_free(ended, room, sizeof *ended);
        sac_free(chain, room, sizeof *chain);
        sac_free(heads, buckets, sizeof *heads);
        sac_free(numbers, words, sizeof *numbers);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u pairs of bodies", room);
    }
    memset(heads, 0xff, buckets * sizeof *heads);
    memset(numbers, 0xff, words * sizeof *numbers);
    if (room % 64) numbers[words - 1] >>= 64 - room % 64;
    memset(begun, 0, room * sizeof *begun);
    memset(ended, 0, room * sizeof *ended);
    memset(chain, 0xff, room * sizeof *chain);
    struct sac_broad_private *own = broad->own;
    if (old) {
        memcpy(pairs, broad->pairs, old * sizeof *pairs);
        memcpy(begun, broad->begun, broad->begun_count * sizeof *begun);
        memcpy(ended, broad->ended, broad->ended_count * sizeof *ended);
        /* The last word of the old bits may be half used: its upper half is free. */
        uint64_t tail = numbers[word_count(old) - 1];
        memcpy(numbers, own->free_numbers, word_count(old) * sizeof *numbers);
        if (old % 64) numbers[word_count(old) - 1] |= tail & UINT64_MAX << old % 64;
    }
    for (uint32_t i = old; i < room; i++)
        pairs[i] =
            (sac_broad_pair){SAC_NO_BODY, SAC_NO_BODY, SAC_NO_PAIR, SAC_NO_PAIR, SAC_NO_PAIR, SAC_NO_PAIR};
    release(broad);
    broad->pairs = pairs, broad->begun = begun, broad->ended = ended, broad->pair_room = room;
    own->chain = chain, own->buckets = heads, own->free_numbers = numbers, own->bucket_bits = bits;
    for (uint32_t i = 0; i < broad->pair_end; i++) {
        if (pairs[i].a == SAC_NO_BODY) continue;
        uint32_t bucket = bucket_of(own, pairs[i].a, pairs[i].b);
        chain[i] = heads[bucket], heads[bucket] = i;
    }
    return SAC_OK;
}

bool sac_pairs_room(sac_broad *broad, uint32_t more)
{
    uint64_t needed = (uint64_t)broad->pair_count + broad->ended_count + more;
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

static void set_prev(sac_broad *broad, uint32_t pair, uint32_t body, uint32_t prev)
{
    if (pair == SAC_NO_PAIR) return;
    sac_broad_pair *p = &broad->pairs[pair];
    *(p->a == body ? &p->prev_a : &p->prev_b) = prev;
}

static void unlink_from(sac_broad *broad, uint32_t body, uint32_t prev, uint32_t next)
{
    set_prev(broad, next, body, prev);
    if (prev == SAC_NO_PAIR) {
        broad->first_pair[body] = next;
        return;
    }
    sac_broad_pair *p = &broad->pairs[prev];
    *(p->a == body ? &p->next_a : &p->next_b) = next;
}

void sac_pairs_begin(sac_broad *broad, uint32_t a, uint32_t b)
{
    struct sac_broad_private *own = broad->own;
    if (a > b) {
        uint32_t swap = a;
        a = b, b = swap;
    }
    uint32_t number = take_number(broad), bucket = bucket_of(own, a, b);
    uint32_t first_a = broad->first_pair[a], first_b = broad->first_pair[b];
    set_prev(broad, first_a, a, number);
    set_prev(broad, first_b, b, number);
    broad->pairs[number] = (sac_broad_pair){a, b, first_a, first_b, SAC_NO_PAIR, SAC_NO_PAIR};
    broad->first_pair[a] = broad->first_pair[b] = number;
    own->chain[number] = own->buckets[bucket], own->buckets[bucket] = number;
    broad->pair_count++;
    broad->begun[broad->begun_count++] = number;
}

void sac_pairs_end(sac_broad *broad, uint32_t pair)
{
    struct sac_broad_private *own = broad->own;
    sac_broad_pair *p = &broad->pairs[pair];
    uint32_t *link = &own->buckets[bucket_of(own, p->a, p->b)];
    while (*link != pair) link = &own->chain[*link];
    *link = own->chain[pair];
    unlink_from(broad, p->a, p->prev_a, p->next_a);
    unlink_from(broad, p->b, p->prev_b, p->next_b);
    p->prev_a = p->a, p->a = SAC_NO_BODY;
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
        pair = own->chain[pair];
    return pair;
}

void sac_broad_flush(sac_broad *broad)
{
    struct sac_broad_private *own = broad->own;
    for (uint32_t i = 0; i < broad->ended_count; i++) {
        uint32_t word = broad->ended[i] / 64;
        own->free_numbers[word] |= UINT64_C(1) << broad->ended[i] % 64;
        if (word < own->lowest_word) own->lowest_word = word;
    }
    broad->begun_count = broad->ended_count = 0;
}
