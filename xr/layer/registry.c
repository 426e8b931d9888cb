/* Handles and who they belong to. A process has few of each, so lists are searched from end to end. */
#include "xr/layer/layer_internal.h"

#include <pthread.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct {
    sac_array(sac_layer_instance *) instances;
    sac_array(sac_layer_session *) sessions;
    sac_array(sac_layer_space *) spaces;
    sac_array(sac_layer_set *) sets;
    sac_array(sac_layer_action *) actions;
} all;

void sac_layer_lock(void) { pthread_mutex_lock(&guard); }
void sac_layer_unlock(void) { pthread_mutex_unlock(&guard); }

#define FIND_AND_ADD(kind, list, handle_type)                                \
    sac_layer_##kind *sac_layer_find_##kind(handle_type handle)              \
    {                                                                        \
        for (size_t i = 0; i < all.list.count; i++)                          \
            if (all.list.data[i]->handle == handle) return all.list.data[i]; \
        return NULL;                                                         \
    }                                                                        \
    sac_layer_##kind *sac_layer_add_##kind(const sac_layer_##kind *item)     \
    {                                                                        \
        sac_layer_##kind *copy = sac_alloc(1, sizeof *copy);                 \
        if (copy) *copy = *item;                                             \
        if (copy && sac_array_push(&all.list, copy)) return copy;            \
        sac_free(copy, 1, sizeof *copy);                                     \
        return NULL;                                                         \
    }

FIND_AND_ADD(instance, instances, XrInstance)
FIND_AND_ADD(session, sessions, XrSession)
FIND_AND_ADD(space, spaces, XrSpace)
FIND_AND_ADD(set, sets, XrActionSet)
FIND_AND_ADD(action, actions, XrAction)

sac_layer_instance *sac_layer_any_instance(void)
{
    return all.instances.count ? all.instances.data[all.instances.count - 1] : NULL;
}

sac_layer_session *sac_layer_changed_session(const sac_layer_instance *instance)
{
    for (size_t i = 0; i < all.sessions.count; i++)
        if (all.sessions.data[i]->instance == instance && all.sessions.data[i]->profile_changed)
            return all.sessions.data[i];
    return NULL;
}

/* Every item for which `condition` holds; the last one takes its place. The list goes with its last item. */
#define FORGET_WHERE(list, condition)                                \
    do {                                                             \
        for (size_t i = 0; i < all.list.count;) {                    \
            if (!(condition)) {                                      \
                i++;                                                 \
                continue;                                            \
            }                                                        \
            sac_free(all.list.data[i], 1, sizeof *all.list.data[i]); \
            all.list.data[i] = all.list.data[--all.list.count];      \
        }                                                            \
        if (!all.list.count) sac_array_fini(&all.list);              \
    } while (0)

void sac_layer_forget_space(XrSpace handle) { FORGET_WHERE(spaces, all.spaces.data[i]->handle == handle); }

static void unbind(sac_layer_instance *instance, XrAction action)
{
    for (size_t i = 0; i < instance->bound.count; i++)
        if (instance->bound.data[i] == action) {
            instance->bound.data[i] = instance->bound.data[--instance->bound.count];
            break;
        }
}

void sac_layer_forget_action(XrAction handle)
{
    sac_layer_action *action = sac_layer_find_action(handle);
    if (action) unbind(action->instance, handle);
    FORGET_WHERE(actions, all.actions.data[i]->handle == handle);
}

/* Handles are used again, and the next one of this value is not attached. */
static void detach(XrActionSet handle)
{
    for (size_t s = 0; s < all.sessions.count; s++) {
        sac_layer_session *session = all.sessions.data[s];
        for (size_t i = 0; i < session->sets.count;)
            if (session->sets.data[i] == handle)
                session->sets.data[i] = session->sets.data[--session->sets.count];
            else
                i++;
        for (size_t i = 0; i < session->active.count;)
            if (session->active.data[i] == handle)
                session->active.data[i] = session->active.data[--session->active.count];
            else
                i++;
    }
}

void sac_layer_forget_set(XrActionSet handle)
{
    detach(handle);
    for (size_t i = 0; i < all.actions.count;)
        if (all.actions.data[i]->set == handle)
            sac_layer_forget_action(all.actions.data[i]->handle);
        else
            i++;
    FORGET_WHERE(sets, all.sets.data[i]->handle == handle);
}

void sac_layer_forget_session(XrSession handle)
{
    sac_layer_session *session = sac_layer_find_session(handle);
    if (!session) return;
    FORGET_WHERE(spaces, all.spaces.data[i]->session == session);
    sac_array_fini(&session->sets);
    sac_array_fini(&session->active);
    FORGET_WHERE(sessions, all.sessions.data[i] == session);
}

void sac_layer_forget_instance(XrInstance handle)
{
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    if (!instance) return;
    for (size_t i = 0; i < all.sessions.count;)
        if (all.sessions.data[i]->instance == instance)
            sac_layer_forget_session(all.sessions.data[i]->handle);
        else
            i++;
    FORGET_WHERE(actions, all.actions.data[i]->instance == instance);
    FORGET_WHERE(sets, all.sets.data[i]->instance == instance);
    sac_array_fini(&instance->bound);
    sac_supply_close(&instance->supply);
    FORGET_WHERE(instances, all.instances.data[i] == instance);
}
