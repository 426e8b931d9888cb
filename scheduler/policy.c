/* Policies by name. */
#include <stdio.h>
#include <string.h>

#include "scheduler/agenda_internal.h"

static const sac_policy *const named[] = {
    &sac_policy_exhaustive,  &sac_policy_fifo,        &sac_policy_random,
    &sac_policy_round_robin, &sac_policy_distance,    &sac_policy_sort,
    &sac_policy_groups[8],   &sac_policy_probability, &sac_policy_jnd};
enum { NAMED = sizeof named / sizeof *named };

const char *sac_policy_name(uint32_t index) { return index < NAMED ? named[index]->name : NULL; }

static uint32_t group_number(const char *text)
{
    uint32_t n = 0;
    if (!*text) return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || n > SAC_GROUPS_MOST) return 0;
        n = n * 10 + (uint32_t)(*text - '0');
    }
    return n;
}

const sac_policy *sac_policy_find(const char *name, sac_error *error)
{
    if (!name) name = "";
    for (uint32_t i = 0; i < NAMED; i++)
        if (strcmp(name, named[i]->name) == 0) return named[i];
    if (strcmp(name, "groups") == 0) return &sac_policy_groups[8];
    if (strncmp(name, "groups:", 7) == 0) {
        uint32_t n = group_number(name + 7);
        if (n >= SAC_GROUPS_LEAST && n <= SAC_GROUPS_MOST) return &sac_policy_groups[n];
        sac_error_set(error, SAC_ERROR_ARGUMENT, "give groups:2 to groups:32", "no policy '%.32s'", name);
        return NULL;
    }
    sac_error_set(
        error, SAC_ERROR_ARGUMENT,
        "choose exhaustive, fifo, random, round-robin, distance, sort, groups:N, probability or jnd",
        "no policy '%.32s'", name);
    return NULL;
}
