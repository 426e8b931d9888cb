/* What the reader and the writer of .sph share. Private. */
#ifndef SAC_SPHERETREE_SPH_INTERNAL_H
#define SAC_SPHERETREE_SPH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* The array is full whether nodes exist or not, so a deep tree of few nodes would fill a disk. */
#define SAC_SPH_MOST_NODES (64u * 1024 * 1024)

/* Nodes of the full array: 1 + branch + branch^2 ...; for levels <= 13 and branch <= 16 it cannot
 * overflow. */
static inline uint64_t sac_sph_nodes(uint32_t levels, uint32_t branch)
{
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < levels; i++) nodes = nodes * branch + 1;
    return nodes;
}

typedef enum sac_number_kind { SAC_NUMBER_GOOD, SAC_NUMBER_NONE, SAC_NUMBER_TOO_LARGE } sac_number_kind;

/* A decimal number at *at, before `end`; moves *at behind it. The point is a point whatever the locale says.
 * Every number of up to nine digits gives the nearest float. Nothing but digits, sign, point and exponent is
 * a number: no "nan", no "inf", no hexadecimal. */
sac_number_kind sac_number_parse(const char **at, const char *end, float *out);

#endif
