/* All runs of the perception benchmark, and what they come to: table, JSON, page.
 *
 * Index: sac_perceive_table_run  sac_perceive_table_say  sac_perceive_table_json  sac_perceive_table_save
 *        sac_perceive_table_fini  sac_perceive_table_find  sac_perceive_number
 */
#ifndef SAC_BENCH_PERCEIVE_TABLE_H
#define SAC_BENCH_PERCEIVE_TABLE_H

#include <jansson.h>

#include "bench/perceive.h"

typedef struct sac_perceive_row {
    sac_perceive_case what;
    bool sweep;              /* one of the steps that look for the least budget */
    sac_perceive_result all; /* of all seeds together */
    double p95[64];          /* of each seed */
    double low, high;        /* 95 % confidence of the mean of those */
} sac_perceive_row;

typedef struct sac_perceive_table {
    sac_perceive_def def;
    uint32_t seeds, threads, row_count;
    sac_perceive_row *rows;
    double full_credits, pairs; /* a frame, means */
    /* What the issue of the comparison is: over all traces on time, budget 25 %. NaN where nothing touched in
     * view. */
    double over_round_robin;             /* p95 of round-robin / of jnd */
    double over_sort;                    /* p95 of jnd / of sort */
    double late;                         /* p95 of jnd with late gaze / on time */
    double needs_jnd, needs_round_robin; /* per cent of the work for p95 < 1 JND; above 100: never */
} sac_perceive_table;

/* Runs everything; rows are made here. Stopped with Ctrl-C (ERROR_CANCELLED) it holds the seeds that were
 * done; `seeds` is their number, 0 after any other failure. */
sac_result sac_perceive_table_run(sac_perceive_table *table, sac_error *error);
void sac_perceive_table_say(const sac_perceive_table *table);
json_t *sac_perceive_table_json(const sac_perceive_table *table);
/* A number with so many places behind the point, `none` when there is none; `out` has room for 24. Returns
 * `out`. */
const char *sac_perceive_number(char out[24], double value, int places, const char *none);
/* FOLDER/index.html and FOLDER/perceive.csv; makes the folder. */
sac_result sac_perceive_table_save(const sac_perceive_table *table, const char *folder, sac_error *error);
void sac_perceive_table_fini(sac_perceive_table *table);

/* NULL when there is no such row. */
const sac_perceive_row *sac_perceive_table_find(const sac_perceive_table *table, const char *policy,
                                                double budget, sac_trace trace, bool late);

#endif
