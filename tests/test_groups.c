/* The bucket queue against a naive model, and that nobody starves. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "scheduler/agenda_internal.h"
#include "scheduler/rank_internal.h"

enum { ENTRIES = 300 };
static uint32_t next[ENTRIES];

static void values_are_log_spaced(void **state)
{
    (void)state;
    for (uint32_t count = 2; count <= 32; count++) {
        sac_groups groups;
        sac_groups_init(&groups, count, 2, next);
        sac_groups_span(&groups, 1000, 12);
        assert_int_equal(sac_groups_of(&groups, 1000), 0);
        assert_int_equal(sac_groups_of(&groups, INFINITY), 0);
        assert_int_equal(sac_groups_of(&groups, 0), count - 1);
        assert_int_equal(sac_groups_of(&groups, -1), count - 1);
        assert_int_equal(sac_groups_of(&groups, NAN), count - 1);
        uint32_t before = 0, sizes[32] = {0};
        for (double octave = 0; octave < 12; octave += 0.01) {
            uint32_t g = sac_groups_of(&groups, (float)(1000 * exp2(-octave)));
            assert_true(g >= before && g < count);
            /* Never more than a bit of an octave from the exact logarithm. */
            assert_true(fabs(g - floor(octave * count / 12)) <= ceil(0.09 * count / 12));
            before = g;
            sizes[g]++;
        }
        for (uint32_t g = 0; g < count; g++) assert_true(sizes[g] > 0);
    }
}

/* Lists of the model: plain arrays, shifted by hand. */
typedef struct model {
    uint32_t list[32][ENTRIES], size[32];
    double clock[32], now;
} model;

static uint32_t model_take(model *m, uint32_t g)
{
    uint32_t entry = m->list[g][0];
    memmove(m->list[g], m->list[g] + 1, --m->size[g] * sizeof(uint32_t));
    return entry;
}

static void as_the_model(void **state)
{
    (void)state;
    static model m;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sac_rng rng = sac_rng_seed(seed);
        sac_groups groups;
        uint32_t count = 2 + sac_rng_below(&rng, 31), waiting[ENTRIES], out = ENTRIES;
        sac_groups_init(&groups, count, 2, next);
        memset(&m, 0, sizeof m);
        for (uint32_t i = 0; i < ENTRIES; i++) waiting[i] = i;
        for (int step = 0; step < 5000; step++) {
            if (out && sac_rng_below(&rng, 2)) {
                uint32_t entry = waiting[--out], g = sac_rng_below(&rng, count);
                bool front = sac_rng_below(&rng, 4) == 0;
                if (front)
                    sac_groups_push_front(&groups, g, entry);
                else
                    sac_groups_push(&groups, g, entry);
                if (m.size[g] == 0 && m.clock[g] < m.now) m.clock[g] = m.now;
                if (front) memmove(m.list[g] + 1, m.list[g], m.size[g] * sizeof(uint32_t));
                m.list[g][front ? 0 : m.size[g]] = entry;
                m.size[g]++;
                continue;
            }
            bool strict = sac_rng_below(&rng, 4) == 0;
            uint32_t want = SAC_NOBODY, g = 0, entry, found = 99;
            for (uint32_t k = 0; k < count; k++)
                if (m.size[k] && (want == SAC_NOBODY || (!strict && m.clock[k] < m.clock[want]))) want = k;
            entry = strict ? sac_groups_first(&groups, &found) : sac_groups_turn(&groups, &found);
            if (want == SAC_NOBODY) {
                assert_int_equal(entry, SAC_NOBODY);
                continue;
            }
            g = want;
            assert_int_equal(found, g);
            assert_int_equal(entry, model_take(&m, g));
            if (!strict) m.now = m.clock[g];
            uint64_t cost = sac_rng_below(&rng, 5000);
            sac_groups_spent(&groups, g, cost);
            m.clock[g] += (double)cost * (double)(1ull << g);
            waiting[out++] = entry;
        }
    }
}

/* While all groups have work, each gets half of what the one before gets, whenever one looks. */
static void shares_hold(void **state)
{
    (void)state;
    sac_groups groups;
    sac_groups_init(&groups, 4, 2, next);
    for (uint32_t i = 0; i < 40; i++) sac_groups_push(&groups, i % 4, i);
    uint64_t spent[4] = {0}, turns[40] = {0};
    for (int step = 1; step <= 4000; step++) {
        uint32_t g, entry = sac_groups_turn(&groups, &g);
        spent[g] += 100;
        turns[entry]++;
        sac_groups_spent(&groups, g, 100);
        sac_groups_push(&groups, g, entry);
        if (step < 100) continue;
        for (int k = 1; k < 4; k++)
            assert_true(llabs((long long)spent[k - 1] - 2 * (long long)spent[k]) <= 800);
    }
    /* Round-robin inside: nobody is more than a turn ahead. */
    for (uint32_t i = 4; i < 40; i++) assert_true(llabs((long long)turns[i] - (long long)turns[i - 4]) <= 1);
    /* A group that was away does not claim the time it missed. */
    sac_groups_init(&groups, 2, 2, next);
    sac_groups_push(&groups, 0, 0);
    for (int step = 0; step < 1000; step++) {
        uint32_t g, entry = sac_groups_turn(&groups, &g);
        sac_groups_spent(&groups, g, 100);
        sac_groups_push(&groups, g, entry);
    }
    sac_groups_push(&groups, 1, 1);
    uint32_t late = 0;
    for (int step = 0; step < 30; step++) {
        uint32_t g, entry = sac_groups_turn(&groups, &g);
        late += g == 1;
        sac_groups_spent(&groups, g, 100);
        sac_groups_push(&groups, g, entry);
    }
    assert_in_range(late, 8, 12);
}

/* Age lifts a pair group by group until it is in the first. */
static void age_lifts(void **state)
{
    (void)state;
    sac_agenda_private own = {.def = {.age_frames = 30}};
    uint16_t age[1];
    uint8_t flags[1] = {0};
    sac_agenda agenda = {.own = &own, .age = age, .flags = flags};
    for (age[0] = 0; age[0] < 400; age[0]++) {
        uint32_t up = age[0] / 30u;
        assert_int_equal(sac_agenda_aged(&agenda, 0, 7), up < 7 ? 7 - up : 0);
    }
    age[0] = 0;
    flags[0] = SAC_AGENDA_TOP;
    assert_int_equal(sac_agenda_aged(&agenda, 0, 7), 0);
    own.def.age_frames = 0;
    flags[0] = 0, age[0] = 60000;
    assert_int_equal(sac_agenda_aged(&agenda, 0, 7), 7);
}

static float some_value(sac_rng *rng)
{
    static const float odd[] = {0, -0.0f, -1, NAN, INFINITY, -INFINITY, FLT_MAX, FLT_MIN, 1e-40f, -NAN};
    uint32_t n = sac_rng_below(rng, 40);
    if (n < sizeof odd / sizeof *odd) return odd[n];
    return (float)exp2((double)sac_rng_range(rng, -20, 12));
}

/* What the kernels say of all pairs at once, on every path, is what is said of each alone. */
static void all_at_once_as_one_by_one(void **state)
{
    (void)state;
    enum { ROOM = 704 };
    _Alignas(64) static float value[ROOM], priority[ROOM], known[ROOM];
    static uint16_t age[ROOM], bin[ROOM];
    static uint8_t flags[ROOM], group[ROOM], line[ROOM];
    sac_simd before = sac_simd_active();
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sac_rng rng = sac_rng_seed(seed);
        uint32_t count = sac_rng_below(&rng, ROOM), frames = sac_rng_below(&rng, 3) * 29;
        sac_groups groups, floor;
        sac_groups_init(&groups, 2 + sac_rng_below(&rng, 31), 4, next);
        sac_groups_init(&floor, 32, 1, next);
        sac_groups_span(&groups, 1000, 16);
        sac_groups_span(&floor, 50, 12);
        double sum = 0, whole = 0;
        float most = 0, most_priority = 0;
        for (uint32_t i = 0; i < count; i++) {
            value[i] = some_value(&rng), priority[i] = fabsf(some_value(&rng));
            if (!(priority[i] <= 1e5f)) priority[i] = 0;
            known[i] = sac_rng_below(&rng, 3) ? sac_rng_float(&rng) : FLT_MAX;
            age[i] =
                (uint16_t)(sac_rng_below(&rng, 2) ? sac_rng_below(&rng, 300) : sac_rng_below(&rng, 65536));
            flags[i] = (uint8_t)sac_rng_below(&rng, 64);
            most = value[i] > most ? value[i] : most;
            most_priority = priority[i] > most_priority ? priority[i] : most_priority;
            whole += (double)priority[i];
        }
        sac_agenda_private own = {.def = {.age_frames = frames}};
        sac_agenda agenda = {.own = &own, .age = age, .flags = flags};
        sac_rank_frame frame = {.groups = {groups.top, groups.per_step, (float)(groups.count - 1)},
                                .floor = {floor.top, floor.per_step, 31},
                                .frames = frames ? (float)frames : INFINITY,
                                .value = value,
                                .priority = priority,
                                .known = known,
                                .age = age,
                                .flags = flags,
                                .group = group,
                                .line = line};
        for (sac_simd path = 0; path < SAC_SIMD_COUNT; path++) {
            if (sac_simd_force(path, NULL) != SAC_OK) continue;
            const sac_rank_kernels *kernels = sac_rank_kernels_active();
            uint32_t tally[SAC_LINES] = {0}, lines[SAC_LINES];
            assert_true(kernels->most(value, count) == most);
            assert_true(kernels->most(priority, count) == most_priority);
            kernels->groups(&frame, count);
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(group[i], sac_agenda_aged(&agenda, i, sac_groups_of(&groups, value[i])));
            kernels->groups_and_floor(&frame, count);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t g = sac_agenda_aged(&agenda, i, sac_groups_of(&groups, value[i])), want = g;
                if (known[i] == FLT_MAX) {
                    want = flags[i] & SAC_AGENDA_TOP ? 0 : sac_groups_of(&floor, priority[i]);
                    want += SAC_LINE_FLOOR;
                } else if (value[i] < 0) {
                    want = SAC_LINE_NONE, g = groups.count - 1;
                }
                assert_int_equal(line[i], want);
                assert_int_equal(group[i], g);
                tally[want]++;
            }
            kernels->tally(line, count, 0, SAC_LINES, lines);
            assert_memory_equal(lines, tally, sizeof tally);
            double here = kernels->sum(priority, count);
            assert_true(fabs(here - whole) <= 1e-12 * whole);
            if (path == SAC_SIMD_SCALAR) sum = here;
            assert_true(here == sum);
            kernels->bins(priority, count, bin);
            for (uint32_t i = 0; i < count; i++) {
                double low = bin[i] ? exp2((bin[i] - 1) / 16 - 16) * (1 + (bin[i] - 1) % 16 / 16.0) : 0;
                double high = exp2(bin[i] / 16 - 16) * (1 + bin[i] % 16 / 16.0);
                if (!bin[i]) high = 0x1p-16;
                assert_true(priority[i] >= low && (bin[i] == SAC_JND_BINS || priority[i] < high));
            }
        }
    }
    sac_simd_force(before, NULL);
}

/* All pairs put in line at once stand as if they had come one after another. */
static void filled_as_pushed(void **state)
{
    (void)state;
    static uint32_t links[2][ENTRIES];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        sac_rng rng = sac_rng_seed(seed);
        uint8_t line[ENTRIES];
        uint32_t used = 2 + sac_rng_below(&rng, 31), count = sac_rng_below(&rng, ENTRIES + 1);
        sac_groups groups[2], floor[2];
        for (int k = 0; k < 2; k++) {
            sac_groups_init(&groups[k], used, 4, links[k]);
            sac_groups_init(&floor[k], SAC_GROUPS_MOST, 1, links[k]);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t where = sac_rng_below(&rng, 4), g = sac_rng_below(&rng, where == 2 ? 32 : used);
            line[i] = (uint8_t)(where == 3 ? SAC_LINE_NONE : where == 2 ? SAC_LINE_FLOOR + g : g);
            if (where != 3) sac_groups_push(where == 2 ? &floor[0] : &groups[0], g, i);
        }
        sac_groups_fill(&groups[1], &floor[1], line, count);
        for (uint32_t i = 0; i <= count; i++) {
            uint32_t g[2] = {0, 0}, from_floor = sac_groups_first(&floor[0], &g[0]);
            assert_int_equal(sac_groups_first(&floor[1], &g[1]), from_floor);
            uint32_t entry = sac_groups_turn(&groups[0], &g[0]);
            assert_int_equal(sac_groups_turn(&groups[1], &g[1]), entry);
            assert_int_equal(g[0], g[1]);
            if (entry == SAC_NOBODY) continue;
            bool again = sac_rng_below(&rng, 2);
            for (int k = 0; k < 2; k++) {
                sac_groups_spent(&groups[k], g[k], 50 + entry);
                if (again) sac_groups_push(&groups[k], entry % used, entry);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_log_spaced),
        cmocka_unit_test(as_the_model),
        cmocka_unit_test(shares_hold),
        cmocka_unit_test(age_lifts),
        cmocka_unit_test(all_at_once_as_one_by_one),
        cmocka_unit_test(filled_as_pushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
