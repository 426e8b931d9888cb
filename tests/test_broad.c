/* The broad phase against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "runtime/broad_pairs_internal.h"

enum { MOST = 1024 };

/* What must hold, kept the slow way. */
typedef struct model {
    sac_broad *broad;
    uint32_t count;
    bool placed[MOST], moves[MOST];
    sac_box box[MOST];
    uint32_t category[MOST];    /* two meet unless both have the same odd one */
    uint8_t paired[MOST][MOST]; /* as told by begun and ended */
    uint32_t pair_of[MOST][MOST];
} model;

static bool model_filter(uint32_t a, uint32_t b, void *user)
{
    const model *m = user;
    return !(m->category[a] == m->category[b] && m->category[a] & 1);
}

static bool overlap(const sac_box *a, const sac_box *b)
{
    for (int i = 0; i < 3; i++)
        if (a->low[i] > b->high[i] || a->high[i] < b->low[i]) return false;
    return true;
}

static bool should_pair(const model *m, uint32_t a, uint32_t b)
{
    return a != b && m->placed[a] && m->placed[b] && (m->moves[a] || m->moves[b]) &&
           overlap(&m->box[a], &m->box[b]) && model_filter(a, b, (void *)(uintptr_t)m);
}

static model *new_model(uint32_t count, uint32_t bodies, uint32_t pairs)
{
    model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->count = count;
    sac_broad_def def = {.bodies = bodies, .pairs = pairs, .filter = model_filter, .user = m};
    assert_int_equal(sac_broad_create(&def, &m->broad, NULL), SAC_OK);
    return m;
}

static void free_model(model *m)
{
    sac_broad_destroy(&m->broad);
    assert_null(m->broad);
    free(m);
}

static void place(model *m, uint32_t body, const sac_box *box, bool moves)
{
    assert_true(sac_broad_place(m->broad, body, box, moves) > 0);
    m->placed[body] = true, m->moves[body] = moves, m->box[body] = *box;
}

/* Rows say what lists do, in any order, whichever of them had to be made again. Some bodies are left out each
 * time, so that their rows grow old. */
static void rows_are_lists(sac_broad *broad, uint32_t bodies)
{
    static uint32_t turn;
    sac_broad_row rows[SAC_BROAD_ROWS];
    uint32_t some[SAC_BROAD_ROWS], count = 0;
    turn++;
    for (uint32_t body = 0; body <= bodies; body++) {
        if (body < bodies && (body + turn) % 3) some[count++] = body;
        if (count < SAC_BROAD_ROWS && body < bodies) continue;
        sac_broad_rows(broad, some, count, rows);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t i = 0;
            for (uint32_t p = broad->first_pair[some[k]]; p != SAC_NO_PAIR;
                 p = sac_broad_next(broad, p, some[k]), i++) {
                const sac_broad_pair *pair = &broad->pairs[p];
                uint32_t at = 0;
                while (at < rows[k].count && rows[k].mates[at].pair != p) at++;
                assert_true(at < rows[k].count);
                assert_int_equal(rows[k].mates[at].other, pair->a == some[k] ? pair->b : pair->a);
            }
            assert_int_equal(i, rows[k].count);
        }
        count = 0;
    }
}

/* Lists, numbers, lookups and events agree with each other and with brute force. Flushes. */
static void check(model *m)
{
    sac_broad *broad = m->broad;
    static bool in_both[1 << 20];
    /* Told: a pair begins when it was not there, ends when it was. */
    for (uint32_t i = 0; i < broad->ended_count; i++) in_both[broad->ended[i]] = true;
    for (uint32_t i = 0; i < broad->begun_count; i++) {
        uint32_t pair = broad->begun[i], a = broad->pairs[pair].a, b = broad->pairs[pair].b;
        if (in_both[pair]) {
            assert_int_equal(a, SAC_NO_BODY);
            continue;
        }
        assert_true(a < b);
        m->pair_of[a][b] = pair;
        m->paired[a][b] += 2; /* may have ended as another number in the same frame */
    }
    for (uint32_t i = 0; i < broad->begun_count; i++)
        if (in_both[broad->begun[i]]) in_both[broad->begun[i]] = false;
    for (uint32_t i = 0; i < broad->ended_count; i++) {
        uint32_t pair = broad->ended[i], a, b;
        assert_int_equal(broad->pairs[pair].a, SAC_NO_BODY);
        if (!in_both[pair]) continue; /* came and went */
        in_both[pair] = false;
        sac_broad_ended_bodies(broad, pair, &a, &b);
        assert_true(a < b && m->paired[a][b] & 1);
        m->paired[a][b] &= (uint8_t)~1u;
    }
    uint32_t count = 0;
    for (uint32_t a = 0; a < m->count; a++) {
        for (uint32_t b = a + 1; b < m->count; b++) {
            assert_true(m->paired[a][b] <= 2);
            if (m->paired[a][b] == 2) m->paired[a][b] = 1;
            assert_int_equal(m->paired[a][b], should_pair(m, a, b));
            uint32_t pair = sac_broad_find(broad, b, a);
            assert_int_equal(pair != SAC_NO_PAIR, m->paired[a][b]);
            if (!m->paired[a][b]) continue;
            count++;
            assert_int_equal(pair, m->pair_of[a][b]);
            assert_true(broad->pairs[pair].a == a && broad->pairs[pair].b == b);
        }
    }
    assert_int_equal(broad->pair_count, count);
    uint32_t listed = 0;
    for (uint32_t a = 0; a < m->count && a < broad->body_room; a++) {
        uint32_t last = SAC_NO_PAIR;
        for (uint32_t p = broad->first_pair[a]; p != SAC_NO_PAIR; last = p, p = sac_broad_next(broad, p, a)) {
            const sac_broad_pair *pair = &broad->pairs[p];
            assert_true(pair->a == a || pair->b == a);
            uint32_t prev = pair->prev[pair->a != a];
            assert_int_equal(prev == SAC_NO_PAIR ? prev : prev / 2, last);
            assert_true(++listed <= 2 * count);
        }
    }
    assert_int_equal(listed, 2 * count);
    rows_are_lists(broad, m->count < broad->body_room ? m->count : broad->body_room);
    sac_broad_flush(broad);
    assert_int_equal(broad->begun_count + broad->ended_count, 0);
    uint32_t live = 0;
    for (uint32_t p = 0; p < broad->pair_end; p++) live += broad->pairs[p].a != SAC_NO_BODY;
    assert_int_equal(live, count);
}

static sac_box cube(float x, float y, float z, float half)
{
    return (sac_box){{x - half, y - half, z - half}, {x + half, y + half, z + half}};
}

static sac_box random_box(sac_rng *rng, float spread, float half)
{
    sac_box box;
    for (int i = 0; i < 3; i++) {
        float at = sac_rng_range(rng, -spread, spread), h = half * sac_rng_range(rng, 0.3f, 1.0f);
        box.low[i] = at - h, box.high[i] = at + h;
    }
    return box;
}

/* Sizes from a millimetre to a kilometre, most of them small. */
static sac_box any_box(sac_rng *rng, float spread)
{
    float half = 5e-4f;
    for (uint32_t n = sac_rng_below(rng, 21); n > 0; n--) half *= 2;
    sac_box box = random_box(rng, spread, half);
    switch (sac_rng_below(rng, 40)) {
    case 0:
        box.low[1] = -INFINITY;
        break; /* a plane's */
    case 1:
        box.low[0] = -FLT_MAX, box.high[0] = FLT_MAX;
        break;
    case 2:
        box.high[2] = box.low[2] + 1e6f;
        break;
    case 3:
        for (int i = 0; i < 3; i++) box.low[i] = -INFINITY, box.high[i] = INFINITY;
        break;
    case 4:
        for (int i = 0; i < 3; i++) box.high[i] = box.low[i]; /* a point */
        break;
    default:
        break;
    }
    return box;
}

static void churn(uint64_t seed, uint32_t count, float spread, uint32_t rounds, bool all_sizes)
{
    sac_rng rng = sac_rng_seed(seed);
    model *m = new_model(count, 4, 1); /* everything grows */
    for (uint32_t i = 0; i < count; i++) m->category[i] = sac_rng_below(&rng, 6);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t turn = 0; turn < count / 2; turn++) {
            uint32_t body = sac_rng_below(&rng, count), what = sac_rng_below(&rng, 100);
            if (!m->placed[body] || what < 6) {
                sac_box box = all_sizes ? any_box(&rng, spread) : random_box(&rng, spread, 0.5f);
                place(m, body, &box, m->placed[body] ? m->moves[body] : sac_rng_below(&rng, 4) > 0);
            } else if (what < 12) {
                sac_broad_remove(m->broad, body);
                m->placed[body] = false;
            } else if (what < 15) {
                m->category[body] = sac_rng_below(&rng, 6);
                assert_true(sac_broad_refilter(m->broad, body));
            } else if (what < 18) {
                place(m, body, &m->box[body], !m->moves[body]);
            } else {
                sac_box box = m->box[body];
                for (int i = 0; i < 3; i++) {
                    float size = fminf(box.high[i] - box.low[i], 10.0f);
                    float move = size * sac_rng_range(&rng, -0.3f, 0.3f),
                          grow = size * sac_rng_range(&rng, -0.1f, 0.1f);
                    box.low[i] += move - grow, box.high[i] += move + grow;
                    if (box.low[i] > box.high[i]) box.low[i] = box.high[i];
                }
                place(m, body, &box, m->moves[body]);
            }
        }
        check(m);
    }
    assert_true(m->broad->grown > 0);
    for (uint32_t i = 0; i < count; i++) sac_broad_remove(m->broad, i), m->placed[i] = false;
    check(m);
    const sac_grid *grid = &m->broad->own->grid;
    assert_int_equal(grid->levels, 0);
    assert_int_equal(grid->huge, 0);
    for (uint32_t i = 0; i <= grid->slot_mask; i++) assert_int_equal(grid->slots[i].brick, SAC_GRID_NONE);
    free_model(m);
}

static void one_size_matches_brute_force(void **state)
{
    (void)state;
    churn(1, 300, 3.0f, 60, false);
}

static void all_sizes_match_brute_force(void **state)
{
    (void)state;
    churn(2, 200, 20.0f, 40, true);
    churn(3, 200, 2000.0f, 40, true);
    churn(4, 200, 1e5f, 40, true);
    churn(5, 100, 1e8f, 20, true);
}

/* Boxes that end exactly where cells do, on both sides of zero: touching counts. */
static void borders_match_brute_force(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(6);
    model *m = new_model(200, 200, 2000);
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t i = 0; i < m->count; i++) {
            sac_box box;
            for (int k = 0; k < 3; k++) {
                float unit = 1.0f / (float)(1u << sac_rng_below(&rng, 4));
                box.low[k] = unit * (float)((int)sac_rng_below(&rng, 40) - 20);
                box.high[k] = box.low[k] + unit * (float)sac_rng_below(&rng, 4);
                uint32_t nudge = sac_rng_below(&rng, 6);
                if (nudge == 0) box.low[k] = nextafterf(box.low[k], -INFINITY);
                if (nudge == 1) box.high[k] = nextafterf(box.high[k], INFINITY);
                if (nudge == 2) box.low[k] -= 1e-20f;
            }
            place(m, i, &box, i % 3 > 0);
        }
        check(m);
    }
    free_model(m);
}

static void strange_boxes_are_made_good(void **state)
{
    (void)state;
    model *m = new_model(3, 3, 3);
    sac_box box = cube(0, 0, 0, 1), turned = {{3, 3, 3}, {0.5f, 0.5f, 0.5f}};
    assert_true(sac_broad_place(m->broad, 0, &box, true) > 0);
    assert_true(sac_broad_place(m->broad, 1, &turned, true) > 0);
    assert_int_equal(m->broad->pair_count, 1);
    box = cube(NAN, 0, 0, 1);
    assert_true(sac_broad_place(m->broad, 2, &box, true) > 0);
    assert_int_equal(m->broad->pair_count, 3);
    box = cube(100, 0, 0, 1);
    assert_true(sac_broad_place(m->broad, 2, &box, true) > 0);
    assert_int_equal(m->broad->pair_count, 1);
    assert_true(sac_broad_place(m->broad, SAC_NO_BODY, &box, true) == 0);
    sac_broad_remove(m->broad, SAC_NO_BODY);
    assert_true(sac_broad_refilter(m->broad, SAC_NO_BODY));
    free_model(m);
}

/* ---- numbers ---- */

static void numbers_wait_for_the_flush(void **state)
{
    (void)state;
    model *m = new_model(8, 8, 64);
    sac_box box = cube(0, 0, 0, 1), away = cube(50, 0, 0, 1);
    for (uint32_t i = 0; i < 4; i++) place(m, i, &box, true);
    assert_int_equal(m->broad->pair_count, 6);
    assert_int_equal(m->broad->pair_end, 6);
    check(m);
    place(m, 1, &away, true);
    assert_int_equal(m->broad->ended_count, 3);
    place(m, 1, &box, true);
    assert_int_equal(m->broad->pair_end, 9);
    sac_broad_flush(m->broad);
    place(m, 4, &box, true); /* four pairs: three old numbers, lowest first, and a new one */
    assert_int_equal(m->broad->pair_end, 10);
    assert_true(m->broad->begun[0] < m->broad->begun[1] && m->broad->begun[1] < m->broad->begun[2]);
    assert_true(m->broad->begun[2] < 6);
    assert_int_equal(m->broad->begun[3], 9);
    free_model(m);
}

/* Millions of placements in a long life leave no trace: pools do not grow, no memory is asked for. */
static size_t allocations, refuse_above = SIZE_MAX;
static void *counting_allocate(size_t size, size_t alignment, void *user)
{
    (void)user;
    allocations++;
    return size > refuse_above ? NULL : aligned_alloc(alignment, size);
}
static void counting_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}
static const sac_allocator counting = {counting_allocate, counting_release, NULL};

static void long_life_leaves_no_trace(void **state)
{
    (void)state;
    sac_set_allocator(&counting);
    sac_rng rng = sac_rng_seed(7);
    sac_broad *broad;
    sac_broad_def def = {.bodies = 200, .pairs = 4000};
    assert_int_equal(sac_broad_create(&def, &broad, NULL), SAC_OK);
    size_t before = allocations;
    for (uint32_t frame = 0; frame < 20000; frame++) {
        for (uint32_t turn = 0; turn < 10; turn++) {
            uint32_t body = sac_rng_below(&rng, 200);
            if (sac_rng_below(&rng, 8) == 0) {
                sac_broad_remove(broad, body);
                continue;
            }
            /* Drifts through ever new cells. */
            sac_box box = random_box(&rng, 3.0f, 0.4f);
            for (int k = 0; k < 3; k++) box.low[k] += (float)frame * 0.5f, box.high[k] += (float)frame * 0.5f;
            assert_true(sac_broad_place(broad, body, &box, true) > 0);
        }
        sac_broad_flush(broad);
    }
    assert_int_equal(allocations, before);
    assert_int_equal(broad->grown, 0);
    assert_true(broad->own->grid.brick_end <= 200 && broad->own->grid.block_end <= 200);
    sac_broad_destroy(&broad);
    sac_set_allocator(NULL);
}

/* ---- crowds and shortage ---- */

static void thousand_in_one_place(void **state)
{
    (void)state;
    sac_broad *broad;
    sac_broad_def def = {.bodies = 1000, .pairs = 16000};
    assert_int_equal(sac_broad_create(&def, &broad, NULL), SAC_OK);
    sac_box box = cube(1, 2, 3, 0.4f);
    for (uint32_t i = 0; i < 1000; i++) assert_true(sac_broad_place(broad, i, &box, true) > 0);
    assert_int_equal(broad->pair_count, 999 * 500);
    assert_true(broad->grown > 0);
    sac_broad_flush(broad);
    /* Once they are pairs, moving one costs a look at each, no more. */
    box = cube(1.01f, 2, 3, 0.4f);
    assert_true(sac_broad_place(broad, 500, &box, true) < 10000);
    assert_int_equal(broad->begun_count + broad->ended_count, 0);
    for (uint32_t i = 0; i < 1000; i++) sac_broad_remove(broad, i);
    assert_int_equal(broad->pair_count, 0);
    assert_int_equal(broad->ended_count, 999 * 500);
    sac_broad_destroy(&broad);
}

static void shortage_changes_nothing(void **state)
{
    (void)state;
    sac_set_allocator(&counting);
    refuse_above = SIZE_MAX;
    model *m = new_model(200, 200, 100);
    sac_box box = cube(0, 0, 0, 1), away = cube(100, 0, 0, 1);
    refuse_above = 16 * 1024;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t count = m->broad->pair_count;
        if (sac_broad_place(m->broad, i, &box, true)) {
            m->placed[i] = m->moves[i] = true, m->box[i] = box;
            continue;
        }
        refused++;
        assert_int_equal(m->broad->pair_count, count);
    }
    assert_true(refused > 100);
    check(m);
    /* Elsewhere there is room; back again there is not, and it stays where it is. */
    place(m, 199, &away, true);
    assert_int_equal(sac_broad_place(m->broad, 199, &box, true), 0);
    assert_int_equal(sac_broad_place(m->broad, 5000, &away, true), 0);
    sac_error error;
    assert_int_equal(sac_broad_reserve(m->broad, 5000, 1, &error), SAC_ERROR_MEMORY);
    assert_int_equal(sac_broad_reserve(m->broad, 1, 1u << 20, &error), SAC_ERROR_MEMORY);
    refuse_above = SIZE_MAX;
    assert_int_equal(sac_broad_reserve(m->broad, 1, UINT32_MAX, &error), SAC_ERROR_LIMIT);
    check(m);
    /* With memory back, all goes on. */
    for (uint32_t i = 0; i < 200; i++) place(m, i, &box, true);
    check(m);
    free_model(m);
    for (size_t limit = 0; limit < 40000; limit = limit ? limit * 2 : 64) {
        sac_broad *broad;
        sac_broad_def def = {.bodies = 100, .pairs = 1000};
        refuse_above = limit;
        if (sac_broad_create(&def, &broad, &error) == SAC_OK)
            sac_broad_destroy(&broad);
        else
            assert_true(error.code == SAC_ERROR_MEMORY && !broad);
    }
    refuse_above = SIZE_MAX;
    sac_set_allocator(NULL);
}

/* The same calls give the same numbers, whatever the addresses, the room and the SIMD path. */
static void history_decides(void **state)
{
    (void)state;
    sac_broad *twin[2];
    sac_broad_def def = {.bodies = 1, .pairs = 1};
    assert_int_equal(sac_broad_create(&def, &twin[0], NULL), SAC_OK);
    def.bodies = 4000, def.pairs = 100000;
    assert_int_equal(sac_broad_create(&def, &twin[1], NULL), SAC_OK);
    twin[1]->own->grid.compare = sac_grid_compare_plain;
    sac_rng rng = sac_rng_seed(8);
    for (uint32_t frame = 0; frame < 100; frame++) {
        for (uint32_t turn = 0; turn < 100; turn++) {
            uint32_t body = sac_rng_below(&rng, 300);
            sac_box box = any_box(&rng, 4.0f);
            bool gone = sac_rng_below(&rng, 8) == 0;
            uint64_t credits[2];
            for (int k = 0; k < 2; k++) {
                if (gone) sac_broad_remove(twin[k], body);
                credits[k] = gone ? 0 : sac_broad_place(twin[k], body, &box, body & 1);
            }
            assert_true(credits[0] == credits[1]);
        }
        assert_int_equal(twin[0]->begun_count, twin[1]->begun_count);
        assert_int_equal(twin[0]->ended_count, twin[1]->ended_count);
        assert_memory_equal(twin[0]->begun, twin[1]->begun, twin[0]->begun_count * sizeof(uint32_t));
        assert_memory_equal(twin[0]->ended, twin[1]->ended, twin[0]->ended_count * sizeof(uint32_t));
        assert_int_equal(twin[0]->pair_end, twin[1]->pair_end);
        for (uint32_t p = 0; p < twin[0]->pair_end; p++) {
            /* All but the buckets, of which there are as many as there is room. */
            sac_broad_pair x = twin[0]->pairs[p], y = twin[1]->pairs[p];
            x.same = y.same;
            assert_memory_equal(&x, &y, sizeof x);
        }
        sac_broad_flush(twin[0]), sac_broad_flush(twin[1]);
    }
    sac_broad_destroy(&twin[0]), sac_broad_destroy(&twin[1]);
}

/* Pairs that wait begin and end in the same order and with the same numbers as those that do not. */
static void waiting_changes_nothing(void **state)
{
    (void)state;
    sac_broad *twin[2];
    sac_broad_def def = {.bodies = 1, .pairs = 1};
    for (int k = 0; k < 2; k++) assert_int_equal(sac_broad_create(&def, &twin[k], NULL), SAC_OK);
    sac_rng rng = sac_rng_seed(9);
    for (uint32_t frame = 0; frame < 200; frame++) {
        for (uint32_t turn = sac_rng_below(&rng, 200); turn; turn--) {
            uint32_t body = sac_rng_below(&rng, 200);
            sac_box box = any_box(&rng, 4.0f);
            if (sac_rng_below(&rng, 2) && body < twin[0]->body_room) {
                /* Most go not far. */
                box = twin[0]->boxes[body];
                for (int i = 0; i < 3; i++) {
                    float d = sac_rng_range(&rng, -0.1f, 0.1f);
                    box.low[i] += d, box.high[i] += d;
                }
            }
            if (sac_rng_below(&rng, 30) == 0) {
                for (int k = 0; k < 2; k++) sac_broad_settle(twin[k]), sac_broad_remove(twin[k], body);
                continue;
            }
            uint64_t credits = sac_broad_place(twin[0], body, &box, body % 3);
            assert_true(credits && sac_broad_place_soon(twin[1], body, &box, body % 3) == credits);
        }
        sac_broad_settle(twin[1]);
        assert_int_equal(twin[0]->pair_count, twin[1]->pair_count);
        assert_int_equal(twin[0]->pair_end, twin[1]->pair_end);
        assert_int_equal(twin[0]->begun_count, twin[1]->begun_count);
        assert_int_equal(twin[0]->ended_count, twin[1]->ended_count);
        assert_memory_equal(twin[0]->begun, twin[1]->begun, twin[0]->begun_count * sizeof(uint32_t));
        assert_memory_equal(twin[0]->ended, twin[1]->ended, twin[0]->ended_count * sizeof(uint32_t));
        for (uint32_t body = 0; body < 200; body++)
            for (uint32_t p = twin[0]->first_pair[body], q = twin[1]->first_pair[body];;) {
                assert_int_equal(p, q);
                if (p == SAC_NO_PAIR) break;
                p = sac_broad_next(twin[0], p, body), q = sac_broad_next(twin[1], q, body);
            }
        sac_broad_flush(twin[0]), sac_broad_flush(twin[1]);
    }
    sac_broad_destroy(&twin[0]), sac_broad_destroy(&twin[1]);
}

/* Every path finds the same changes in the same blocks. */
static void paths_compare_alike(void **state)
{
    (void)state;
    enum { BLOCKS = 40 };
    static _Alignas(64) sac_grid_block blocks[BLOCKS];
    static uint32_t list[BLOCKS], want[BLOCKS * SAC_GRID_LANES], out[BLOCKS * SAC_GRID_LANES];
    sac_grid_compare *paths[] = {
        sac_grid_compare_plain,
#if defined(__x86_64__)
        sac_simd_supported(SAC_SIMD_AVX2) ? sac_grid_compare_avx2 : NULL,
        sac_simd_supported(SAC_SIMD_AVX512) ? sac_grid_compare_avx512 : NULL
#endif
    };
    sac_rng rng = sac_rng_seed(10);
    for (uint32_t turn = 0; turn < 300; turn++) {
        sac_box key[2] = {any_box(&rng, 2.0f), any_box(&rng, 2.0f)};
        uint32_t wanted = 0, count = sac_rng_below(&rng, BLOCKS + 1);
        for (uint32_t b = 0; b < count; b++) {
            list[b] = count - 1 - b;
            for (uint32_t k = 0; k < SAC_GRID_LANES; k++) {
                sac_box box = any_box(&rng, 2.0f);
                for (int i = 0; i < 3; i++)
                    blocks[b].sides[i][k] = box.low[i], blocks[b].sides[i + 3][k] = -box.high[i];
                if (sac_rng_below(&rng, 4) == 0) blocks[b].sides[0][k] = NAN;
            }
        }
        for (uint32_t n = 0; n < count * SAC_GRID_LANES; n++) {
            uint32_t b = list[n / SAC_GRID_LANES], k = n % SAC_GRID_LANES;
            bool meets[2] = {true, true};
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 2; j++)
                    meets[j] &= blocks[b].sides[i][k] <= key[j].high[i] &&
                                -blocks[b].sides[i + 3][k] >= key[j].low[i];
            if (meets[0] != meets[1])
                want[wanted++] = (b * SAC_GRID_LANES + k) | (meets[0] ? SAC_GRID_IS_NOW : 0);
        }
        for (uint32_t p = 0; p < sizeof paths / sizeof *paths; p++) {
            if (!paths[p]) continue;
            assert_int_equal(paths[p](blocks, list, count, &key[0], &key[1], out), wanted);
            assert_memory_equal(out, want, wanted * sizeof *want);
        }
    }
}

/* ---- asking ---- */

typedef struct asked {
    uint32_t seen[MOST], count, stop_after;
    float *most, lower_to;
} asked;

static bool note(uint32_t body, void *user)
{
    asked *a = user;
    a->seen[body]++;
    a->count++;
    if (a->most && a->lower_to < *a->most) *a->most = a->lower_to;
    return a->count != a->stop_after;
}

static void touching_matches_brute_force(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(9);
    for (int kind = 0; kind < 3; kind++) {
        model *m = new_model(500, 500, 10);
        float spread = kind == 0 ? 4.0f : kind == 1 ? 100.0f : 1e5f;
        for (uint32_t i = 0; i < m->count; i++) {
            sac_box box = any_box(&rng, spread);
            place(m, i, &box, false);
        }
        for (uint32_t turn = 0; turn < 300; turn++) {
            sac_box box = any_box(&rng, spread);
            asked a = {0};
            sac_broad_touching(m->broad, &box, note, &a);
            for (uint32_t i = 0; i < m->count; i++) assert_int_equal(a.seen[i], overlap(&box, &m->box[i]));
            asked first = {.stop_after = 1};
            sac_broad_touching(m->broad, &box, note, &first);
            assert_int_equal(first.count, a.count > 0);
        }
        free_model(m);
    }
}

/* How far the ray is from missing or entering: |result| small means too close to call. */
static double enters(const sac_box *box, const float origin[3], const float direction[3], double most)
{
    double from = 0, to = most;
    for (int i = 0; i < 3; i++) {
        if (direction[i] == 0) {
            if (origin[i] < box->low[i] || origin[i] > box->high[i]) return -1;
            continue;
        }
        double a = ((double)box->low[i] - origin[i]) / direction[i];
        double b = ((double)box->high[i] - origin[i]) / direction[i];
        from = fmax(from, fmin(a, b)), to = fmin(to, fmax(a, b));
    }
    return isinf(from) || isinf(to) ? (from <= to ? 1 : -1) : to - from;
}

static void rays_match_brute_force(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(10);
    uint32_t hits = 0;
    for (int kind = 0; kind < 4; kind++) {
        model *m = new_model(1000, 1000, 10);
        float spread = kind == 0 ? 4.0f : kind == 1 ? 60.0f : kind == 2 ? 1e4f : 60.0f;
        for (uint32_t i = 0; i < m->count; i++) {
            sac_box box = kind == 3 ? random_box(&rng, spread, 2.0f) : any_box(&rng, spread);
            place(m, i, &box, false);
        }
        for (uint32_t turn = 0; turn < 500; turn++) {
            float origin[3], direction[3], most = turn % 5 == 0 ? INFINITY : spread * sac_rng_float(&rng);
            sac_rng_unit_vector(&rng, direction);
            for (int i = 0; i < 3; i++) origin[i] = sac_rng_range(&rng, -spread, spread);
            if (turn % 7 == 0) direction[turn % 3] = 0;
            if (turn % 11 == 0) direction[(turn + 1) % 3] = 0;
            if (turn % 13 == 0)
                for (int i = 0; i < 3; i++) direction[i] *= 1e-3f;
            if (turn % 101 == 0) memset(direction, 0, sizeof direction);
            float far = most;
            asked a = {0};
            sac_broad_ray(m->broad, origin, direction, &far, note, &a);
            for (uint32_t i = 0; i < m->count; i++) {
                double by = enters(&m->box[i], origin, direction, (double)most);
                if (fabs(by) > 1e-5) assert_int_equal(a.seen[i], by > 0);
                hits += by > 0;
            }
            /* Lowering the limit at the first hit leaves only what lies before it. */
            far = most;
            asked cut = {.most = &far, .lower_to = most / 2};
            sac_broad_ray(m->broad, origin, direction, &far, note, &cut);
            assert_true(cut.count <= a.count && (cut.count > 0) == (a.count > 0));
            for (uint32_t i = 0; i < m->count; i++) {
                assert_true(cut.seen[i] <= a.seen[i]);
                if (a.count && !isinf(most) && enters(&m->box[i], origin, direction, most / 2) > 1e-5)
                    assert_int_equal(cut.seen[i], 1);
            }
        }
        float nowhere[3] = {NAN, 0, 0}, up[3] = {0, 1, 0}, far = 1;
        asked a = {0};
        sac_broad_ray(m->broad, nowhere, up, &far, note, &a);
        assert_int_equal(a.count, 0);
        free_model(m);
    }
    assert_true(hits > 1000);
}

/* ---- horns ---- */

static void horns_meet_no_sooner(void **state)
{
    (void)state;
    assert_true(sac_horn_meet(0, 1, 1) == 0);
    assert_true(sac_horn_meet(-1, -5, 0) == 0);
    assert_true(sac_horn_meet(NAN, 1, 1) == 0);
    assert_true(sac_horn_meet(1, NAN, 1) == 0);
    assert_true(sac_horn_meet(1, 1, NAN) == 0);
    assert_true(sac_horn_meet(1, 0, 0) == FLT_MAX);
    assert_true(sac_horn_meet(1, -3, 0) == FLT_MAX);
    assert_true(sac_horn_meet(INFINITY, -3, 0) == FLT_MAX);
    assert_true(sac_horn_meet(1, INFINITY, 0) == 0);
    assert_true(sac_horn_meet(FLT_MAX, 1e-30f, 0) == FLT_MAX);
    assert_true(sac_horn_meet(1, -INFINITY, 1) == FLT_MAX);
    assert_true(fabsf(sac_horn_meet(6, 2, 0) - 3) < 1e-5f);
    assert_true(fabsf(sac_horn_meet(8, 0, 4) - 2) < 1e-5f);
    assert_true(fabsf(sac_horn_meet(8, -2, 8) - 1.6861407f) < 1e-5f);
    sac_rng rng = sac_rng_seed(11);
    for (int i = 0; i < 100000; i++) {
        double g = exp(sac_rng_range(&rng, -20, 20)), w = exp(sac_rng_range(&rng, -20, 20));
        double pull = exp(sac_rng_range(&rng, -20, 20));
        if (i & 1) w = -w;
        if (i % 7 == 0) pull = 0;
        float t = sac_horn_meet((float)g, (float)w, (float)pull);
        g = (float)g, w = (float)w, pull = (float)pull;
        assert_true(t > 0);
        if (t == FLT_MAX) continue;
        /* Not met yet at t; met a little later. */
        long double late = (long double)t * (1 + 1e-6L);
        assert_true((long double)g - (long double)w * t - pull / 2 * (long double)t * t >= 0);
        assert_true((long double)g - w * late - pull / 2 * late * late <= 1e-5L * g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_size_matches_brute_force),
        cmocka_unit_test(all_sizes_match_brute_force),
        cmocka_unit_test(borders_match_brute_force),
        cmocka_unit_test(strange_boxes_are_made_good),
        cmocka_unit_test(numbers_wait_for_the_flush),
        cmocka_unit_test(long_life_leaves_no_trace),
        cmocka_unit_test(thousand_in_one_place),
        cmocka_unit_test(shortage_changes_nothing),
        cmocka_unit_test(history_decides),
        cmocka_unit_test(waiting_changes_nothing),
        cmocka_unit_test(paths_compare_alike),
        cmocka_unit_test(touching_matches_brute_force),
        cmocka_unit_test(rays_match_brute_force),
        cmocka_unit_test(horns_meet_no_sooner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
