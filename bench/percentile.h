/* Percentiles of measured values: what is quoted is a value that was measured, never one between two.
 *
 *   sac_percentiles p = sac_percentiles_of(values, count);   // sorts the values
 *
 * Index: sac_percentile  sac_percentiles_of
 */
#ifndef SAC_BENCH_PERCENTILE_H
#define SAC_BENCH_PERCENTILE_H

#include <stddef.h>

typedef struct sac_percentiles {
    double mean, p50, p99, p999, max;
} sac_percentiles;

/* The smallest of the sorted values that `share` (0 to 1) of them do not exceed (nearest rank); NaN for none.
 */
double sac_percentile(const double *sorted, size_t count, double share);
/* Sorts the values; all NaN for none. */
sac_percentiles sac_percentiles_of(double *values, size_t count);

#endif
