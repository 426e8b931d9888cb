/* What stands below an API layer in its test: the end of a loader's chain, as small as the layer's rules
 * need. It knows heads, reference spaces and actions without input, refuses what it does not know, and keeps
 * what it was told. There are two of them, so that calls that go to the wrong one are noticed. */
#ifndef SAC_TESTS_BELOW_LAYER_H
#define SAC_TESTS_BELOW_LAYER_H

#include "xr/openxr_compat_internal.h"

#include <stdbool.h>

#define BELOW_HANDLE(type, which, number) \
    ((type)(uintptr_t)(((uint64_t)(which) + 1) << 32 | (uint64_t)(number)))
#define BELOW_WHICH(handle) ((int)((uint64_t)(uintptr_t)(handle) >> 32) - 1)
#define BELOW_NUMBER(handle) ((uint32_t)(uintptr_t)(handle))

enum { BELOW_MOST = 256 };

typedef enum below_kind { BELOW_NOTHING, BELOW_VIEW, BELOW_LOCAL, BELOW_ACTION } below_kind;

typedef struct below {
    /* what it is like */
    bool native, tracks, has_locate_spaces, has_clock, focused;
    XrSpaceLocationFlags head_flags;
    XrTime predicted; /* of the next frame */
    XrDuration period;
    XrBool32 should_render;
    /* what it was told */
    char enabled[16][64];
    uint32_t enabled_count;
    uint32_t suggestions, subactions, synced_sets, syncs, ends, instances_destroyed;
    XrTime ended_for;
    bool saw_stamp;
    /* what it keeps */
    uint32_t next_number;
    struct {
        below_kind kind;
        XrPosef offset;
    } spaces[BELOW_MOST];
    XrSession session;
    XrEventDataSessionStateChanged event;
    bool event_there;
} below;

extern below below_runtimes[2];

/* Both as new. */
void below_reset(void);
/* The chain with runtime `which` at its end, as the loader hands it to a layer. */
void below_chain(int which, XrApiLayerCreateInfo *out_info, XrApiLayerNextInfo *out_next);
/* Where the head is at this time. */
XrPosef below_head(XrTime time);

XrPosef below_times(XrPosef a, XrPosef b);
XrPosef below_inverse(XrPosef a);

#endif
