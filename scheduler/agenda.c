/* The agenda's memory: arrays in one piece, fronts in one arena. */
#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "scheduler/agenda_internal.h"

enum { COOKIE = 0x5ac0b0da, MOST_PAIRS = 1 << 24, MOST_ENTRIES = 1 << 28 };

/* Every array of an entry: whose, type, name. */
#define ARRAYS(X)                            \
    X(agenda, const sac_form *, form_a)      \
    X(agenda, const sac_form *, form_b)      \
    X(agenda, const sac_transform *, pose_a) \
    X(agenda, const sac_transform *, pose_b) \
    X(agenda, float, margin)                 \
    X(agenda, float, x)                      \
    X(agenda, float, y)                      \
    X(agenda, float, z)                      \
    X(agenda, float, extent)                 \
    X(agenda, float, vx)                     \
    X(agenda, float, vy)                     \
    X(agenda, float, vz)                     \
    X(agenda, float, weight)                 \
    X(agenda, float, similar)                \
    X(agenda, float, known)                  \
    X(agenda, uint16_t, age)                 \
    X(agenda, uint32_t, tag)                 \
    X(agenda, uint8_t, flags)                \
    X(agenda, float, uncertainty)            \
    X(agenda, float, jnd)                    \
    X(agenda, float, priority)               \
    X(agenda, uint8_t, group)                \
    X(agenda, uint8_t, level)                \
    X(agenda, uint32_t, tests)               \
    X(agenda, sac_meeting, meetings)         \
    X(agenda, uint32_t, pending_at)          \
    X(agenda, uint32_t, pending)             \
    X(agenda, uint32_t, done_at)             \
    X(agenda, uint32_t, done)                \
    X(own, float, sharpness)                 \
    X(own, float, factor)                    \
    X(own, uint32_t, next)                   \
    X(own, sac_heap_item, heap)

sac_agenda_def sac_default_agenda_def(void)
{
    return (sac_agenda_def){.pairs = 4096,
                            .entries = 1u << 20,
                            .groups = 8,
                            .share = 8,
                            .age_frames = 30,
                            .stop_jnd = 1,
                            .threads = 1,
                            .cookie = COOKIE};
}

static size_t padded(size_t bytes) { return (bytes + SAC_CACHE_LINE - 1) / SAC_CACHE_LINE * SAC_CACHE_LINE; }

/* Room for `capacity` entries; what there is is kept. */
static bool fit(sac_agenda *agenda, uint32_t capacity)
{
    sac_agenda_private *own = agenda->own;
    size_t bytes = 0, arena_room = (size_t)own->def.entries + capacity,
           arena_size = 2 * (arena_room + 2 * SAC_PAIRS_SLACK);
#define X(whose, type, name) bytes += padded(capacity * sizeof(type));
    ARRAYS(X)
#undef X
    /* Zeroed, so that no frame pays for the first touch of a page. */
    char *storage = sac_alloc_zero(bytes, 1);
    uint32_t *arena = sac_alloc_zero(arena_size, sizeof *arena);
    if (!storage || !arena) {
        sac_free(storage, bytes, 1);
        sac_free(arena, arena_size, sizeof *arena);
        return false;
    }
    char *at = storage;
#define X(whose, type, name)                                                      \
    {                                                                             \
        if (agenda->count) memcpy(at, whose->name, agenda->count * sizeof(type)); \
        whose->name = (type *)(void *)at;                                         \
        at += padded(capacity * sizeof(type));                                    \
    }
    ARRAYS(X)
#undef X
    sac_free(own->storage, own->storage_size, 1);
    sac_free(own->arena_a, own->arena_size, sizeof *own->arena_a);
    own->storage = storage;
    own->storage_size = bytes;
    own->arena_size = arena_size;
    own->arena_room = arena_room;
    own->arena_a = arena;
    own->arena_b = arena + arena_room + 2 * SAC_PAIRS_SLACK;
    own->arena_used = capacity;
    agenda->capacity = capacity;
    return true;
}

static sac_result check(const sac_agenda_def *def, sac_error *error)
{
    if (def->cookie != COOKIE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "begin with sac_default_agenda_def()",
                             "the agenda's definition was not initialised");
    if (def->pairs > MOST_PAIRS || def->entries > MOST_ENTRIES)
        return sac_error_set(error, SAC_ERROR_LIMIT, "ask for less", "%u pairs, %u entries", def->pairs,
                             def->entries);
    if (def->groups < SAC_GROUPS_LEAST || def->groups > SAC_GROUPS_MOST)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give 2 to 32", "%u groups", def->groups);
    if (!(def->share >= 1 && def->share <= 1000))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give 1 to 1000", "share is %g", (double)def->share);
    if (!(def->stop_jnd >= 0 && def->stop_jnd <= FLT_MAX))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give 0 or more", "stop_jnd is %g",
                             (double)def->stop_jnd);
    if (def->threads > 64)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give at most 64", "%u threads", def->threads);
    return SAC_OK;
}

sac_result sac_agenda_create(const sac_agenda_def *def, sac_agenda **out_agenda, sac_error *error)
{
    SAC_NEED(error, out_agenda);
    *out_agenda = NULL;
    SAC_NEED(error, def);
    sac_result result = check(def, error);
    if (result != SAC_OK) return result;
    sac_agenda *agenda = sac_alloc_zero(1, sizeof *agenda);
    if (agenda) agenda->own = sac_alloc_zero(1, sizeof *agenda->own);
    if (!agenda || !agenda->own) {
        sac_free(agenda, 1, sizeof *agenda);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the agenda");
    }
    sac_agenda_private *own = agenda->own;
    own->def = *def;
    own->rng = sac_rng_seed(def->seed);
    uint32_t threads = def->threads ? def->threads : 1;
    for (; own->workspace_count < threads; own->workspace_count++) {
        result = sac_workspace_create(&own->workspaces[own->workspace_count], error);
        if (result != SAC_OK) {
            sac_agenda_destroy(&agenda);
            return result;
        }
    }
    if (!fit(agenda, (def->pairs + 8u) / 8u * 8u)) {
        sac_agenda_destroy(&agenda);
        return sac_error_set(error, SAC_ERROR_MEMORY, "ask for fewer pairs or entries",
                             "no memory for an agenda of %u pairs", def->pairs);
    }
    *out_agenda = agenda;
    return SAC_OK;
}

void sac_agenda_destroy(sac_agenda **pointer)
{
    sac_agenda *agenda = pointer ? *pointer : NULL;
    if (!agenda) return;
    *pointer = NULL;
    sac_agenda_private *own = agenda->own;
    for (uint32_t i = 0; i < own->workspace_count; i++) sac_workspace_destroy(&own->workspaces[i]);
    sac_free(own->storage, own->storage_size, 1);
    sac_free(own->arena_a, own->arena_size, sizeof *own->arena_a);
    sac_free(own, 1, sizeof *own);
    sac_free(agenda, 1, sizeof *agenda);
}

sac_result sac_agenda_reserve(sac_agenda *agenda, uint32_t pairs, sac_error *error)
{
    SAC_NEED(error, agenda);
    if (pairs <= agenda->capacity) return SAC_OK;
    if (pairs > MOST_PAIRS || !fit(agenda, (pairs + 7u) / 8u * 8u))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for an agenda of %u pairs", pairs);
    return SAC_OK;
}

void sac_agenda_clear(sac_agenda *agenda)
{
    if (!agenda) return;
    agenda->count = 0;
    agenda->own->arena_used = agenda->capacity;
}

uint32_t sac_agenda_add(sac_agenda *agenda, const sac_form *form_a, const sac_transform *pose_a,
                        const sac_form *form_b, const sac_transform *pose_b, float margin)
{
    if (!agenda || agenda->count == agenda->capacity) return UINT32_MAX;
    if (!form_a || !pose_a || !form_b || !pose_b) return UINT32_MAX;
    uint32_t i = agenda->count++;
    agenda->form_a[i] = form_a, agenda->form_b[i] = form_b;
    agenda->pose_a[i] = pose_a, agenda->pose_b[i] = pose_b;
    agenda->margin[i] = margin;
    agenda->x[i] = agenda->y[i] = agenda->z[i] = 0;
    agenda->vx[i] = agenda->vy[i] = agenda->vz[i] = 0;
    agenda->extent[i] = FLT_MAX;
    agenda->weight[i] = 1;
    agenda->similar[i] = 0;
    agenda->known[i] = FLT_MAX;
    agenda->age[i] = 0;
    agenda->tag[i] = i;
    agenda->flags[i] = 0;
    return i;
}

void sac_agenda_front(const sac_agenda *agenda, uint32_t i, sac_pairs *out_pending, sac_pairs *out_done)
{
    if (!out_pending || !out_done) return;
    *out_pending = *out_done = (sac_pairs){0};
    if (!agenda || i >= agenda->count) return;
    const sac_agenda_private *own = agenda->own;
    uint32_t pending = agenda->pending[i], done = agenda->done[i], at = agenda->pending_at[i],
             done_at = agenda->done_at[i];
    *out_pending = (sac_pairs){own->arena_a + at, own->arena_b + at, pending, pending};
    *out_done = (sac_pairs){own->arena_a + done_at, own->arena_b + done_at, done, done};
}

bool sac_agenda_renews(const sac_agenda *agenda, uint32_t i, uint32_t contacts, uint8_t level)
{
    if (!agenda || i >= agenda->count) return false;
    uint8_t flags = agenda->flags[i];
    if (!(flags & SAC_AGENDA_STARTED)) return false;
    if (flags & SAC_AGENDA_FINISHED) return true;
    float doubt = contacts && agenda->level[i] < level ? 4 : 1;
    return doubt * agenda->uncertainty[i] < agenda->known[i];
}
