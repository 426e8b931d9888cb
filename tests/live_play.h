/* Two forms met all the way down, live or not. */
#ifndef SAC_TESTS_LIVE_PLAY_H
#define SAC_TESTS_LIVE_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spheretree/spheretree.h"

enum { LIVE_ROOM = 200000 };

static const sac_transform live_here = {.rotation = {0, 0, 0, 1}, .scale = 1};

/* All the way down; false: apart. */
static bool live_meet(const sac_form *a, const sac_form *b, float margin, sac_pairs *done)
{
    static uint32_t storage[4][LIVE_ROOM + SAC_PAIRS_SLACK];
    sac_pairs lists[2] = {{storage[0], storage[1], 0, LIVE_ROOM}, {storage[2], storage[3], 0, LIVE_ROOM}};
    sac_workspace *w;
    sac_meeting m;
    assert_int_equal(sac_workspace_create(&w, NULL), SAC_OK);
    done->count = 0;
    bool touch = sac_meeting_begin(&m, a, &live_here, b, &live_here, margin, &lists[0]);
    for (uint32_t level = 0; touch && level < m.levels; level++) {
        sac_pairs *front = &lists[level % 2], *next = &lists[1 - level % 2];
        next->count = 0;
        sac_opened opened = sac_meeting_open(w, &m, level, front, UINT64_MAX, next, done);
        assert_int_equal(opened.used, front->count);
    }
    sac_workspace_destroy(&w);
    return touch;
}

#endif
