/* Policies that know nothing of what is seen: exhaustive, fifo, round-robin and random. Each keeps the
 * entries that are not settled in own->next, as an order. */
#include "scheduler/agenda_internal.h"

static void in_order(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    own->at = 0;
    own->heap_count = agenda->count;
    for (uint32_t i = 0; i < agenda->count; i++) own->next[i] = i;
}

static void nothing(sac_agenda *agenda, uint32_t entry, uint64_t credits)
{
    (void)agenda, (void)entry, (void)credits;
}

/* Each to its end. */
static uint32_t first_unsettled(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    while (own->at < agenda->count && sac_agenda_settled(agenda, own->at)) own->at++;
    return own->at < agenda->count ? own->at : SAC_NOBODY;
}

/* Once round, each a level; those that are settled drop out, the others close ranks. */
static uint32_t next_in_turn(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    if (own->at >= own->heap_count) {
        uint32_t left = 0;
        for (uint32_t k = 0; k < own->heap_count; k++)
            if (!sac_agenda_settled(agenda, own->next[k])) own->next[left++] = own->next[k];
        own->heap_count = left;
        own->at = 0;
        if (!left) return SAC_NOBODY;
    }
    return own->next[own->at++];
}

static uint32_t any(sac_agenda *agenda)
{
    sac_agenda_private *own = agenda->own;
    while (own->heap_count) {
        uint32_t k = sac_rng_below(&own->rng, own->heap_count), i = own->next[k];
        if (!sac_agenda_settled(agenda, i)) return i;
        own->next[k] = own->next[--own->heap_count];
    }
    return SAC_NOBODY;
}

const sac_policy sac_policy_exhaustive = {.name = "exhaustive",
                                          .begin = in_order,
                                          .next = first_unsettled,
                                          .refined = nothing,
                                          .whatever_the_time = true};
const sac_policy sac_policy_fifo = {
    .name = "fifo", .begin = in_order, .next = first_unsettled, .refined = nothing};
const sac_policy sac_policy_round_robin = {
    .name = "round-robin", .begin = in_order, .next = next_in_turn, .refined = nothing};
const sac_policy sac_policy_random = {.name = "random", .begin = in_order, .next = any, .refined = nothing};
