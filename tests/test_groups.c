/* The bucket queue against a naive model, and that nobody starves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "scheduler/agenda_internal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_log_spaced),
        cmocka_unit_test(as_the_model),
        cmocka_unit_test(shares_hold),
        cmocka_unit_test(age_lifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
