#include "bench/percentile.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sac_percentile(const double *sorted, size_t count, double share)
{
    if (!count) return NAN;
    /* A product that should be whole may come out a hair above. */
    double rank = ceil(share * (double)count - 1e-9);
    size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[index < count ? index : count - 1];
}

sac_percentiles sac_percentiles_of(double *values, size_t count)
{
    double sum = 0;
    if (count) qsort(values, count, sizeof *values, by_size);
    for (size_t i = 0; i < count; i++) sum += values[i];
    return (sac_percentiles){count ? sum / (double)count : NAN, sac_percentile(values, count, 0.5),
                             sac_percentile(values, count, 0.99), sac_percentile(values, count, 0.999),
                             sac_percentile(values, count, 1.0)};
}
