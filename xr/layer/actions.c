/* The interaction profile of the eyes. Where the runtime has it, everything goes down as well and its word on
 * mistakes counts; where it has not, nothing about the eyes goes down and we look for mistakes ourselves. */
#include "xr/layer/layer_internal.h"

#include <stdio.h>
#include <string.h>

bool sac_layer_is_gaze(const sac_layer_session *session, XrAction action)
{
    if (!session->ours || !action) return false;
    for (size_t i = 0; i < session->instance->bound.count; i++)
        if (session->instance->bound.data[i] == action) return true;
    return false;
}

bool sac_layer_is_live(const sac_layer_session *session, XrAction action)
{
    const sac_layer_action *known = sac_layer_find_action(action);
    if (!known || !sac_layer_is_gaze(session, action)) return false;
    for (size_t i = 0; i < session->active.count; i++)
        if (session->active.data[i] == known->set) return true;
    return false;
}

static bool is_attached(const sac_layer_session *session, XrActionSet set)
{
    for (size_t i = 0; i < session->sets.count; i++)
        if (session->sets.data[i] == set) return true;
    return false;
}

/* ---- sets and actions ---- */

static XrResult XRAPI_CALL create_action_set(XrInstance handle, const XrActionSetCreateInfo *info,
                                             XrActionSet *out)
{
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    sac_layer_unlock();
    if (!instance) return XR_ERROR_HANDLE_INVALID;
    XrResult result = instance->next.CreateActionSet(handle, info, out);
    if (XR_FAILED(result)) return result;
    sac_layer_lock();
    bool kept = sac_layer_add_set(&(sac_layer_set){.handle = *out, .instance = instance}) != NULL;
    sac_layer_unlock();
    if (kept) return result;
    instance->next.DestroyActionSet(*out);
    return XR_ERROR_OUT_OF_MEMORY;
}

static XrResult XRAPI_CALL destroy_action_set(XrActionSet handle)
{
    sac_layer_lock();
    sac_layer_set *set = sac_layer_find_set(handle);
    sac_layer_instance *instance = set ? set->instance : sac_layer_any_instance();
    sac_layer_forget_set(handle);
    sac_layer_unlock();
    return instance ? instance->next.DestroyActionSet(handle) : XR_ERROR_HANDLE_INVALID;
}

/* The eyes are no subaction to a runtime that does not know them. */
static XrResult create_below(const sac_layer_instance *instance, XrActionSet set,
                             const XrActionCreateInfo *info, bool *out_eyes, XrAction *out)
{
    *out_eyes = false;
    uint32_t count = info->countSubactionPaths, kept = 0;
    if (!instance->asked || !count || !info->subactionPaths)
        return instance->next.CreateAction(set, info, out);
    XrPath *paths = sac_alloc(count, sizeof *paths);
    if (!paths) return XR_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        bool eyes = info->subactionPaths[i] == instance->eyes;
        if (eyes && *out_eyes) { /* the same path twice */
            sac_free(paths, count, sizeof *paths);
            return XR_ERROR_PATH_UNSUPPORTED;
        }
        *out_eyes |= eyes;
        if (!eyes || instance->native) paths[kept++] = info->subactionPaths[i];
    }
    XrActionCreateInfo below = *info;
    below.countSubactionPaths = kept;
    below.subactionPaths = kept ? paths : NULL;
    XrResult result = instance->next.CreateAction(set, &below, out);
    sac_free(paths, count, sizeof *paths);
    return result;
}

static XrResult XRAPI_CALL create_action(XrActionSet set, const XrActionCreateInfo *info, XrAction *out)
{
    sac_layer_lock();
    sac_layer_set *known = sac_layer_find_set(set);
    sac_layer_instance *instance = known ? known->instance : NULL;
    sac_layer_unlock();
    if (!instance) return XR_ERROR_HANDLE_INVALID;
    if (!info) return XR_ERROR_VALIDATION_FAILURE;
    sac_layer_action action = {.set = set,
                               .instance = instance,
                               .type = info->actionType,
                               .subactions = info->countSubactionPaths > 0};
    XrResult result = create_below(instance, set, info, &action.eyes, out);
    if (XR_FAILED(result)) return result;
    action.handle = *out;
    sac_layer_lock();
    bool kept = sac_layer_add_action(&action) != NULL;
    sac_layer_unlock();
    if (kept) return result;
    instance->next.DestroyAction(*out);
    return XR_ERROR_OUT_OF_MEMORY;
}

static XrResult XRAPI_CALL destroy_action(XrAction handle)
{
    sac_layer_lock();
    sac_layer_action *action = sac_layer_find_action(handle);
    sac_layer_instance *instance = action ? action->instance : sac_layer_any_instance();
    sac_layer_forget_action(handle);
    sac_layer_unlock();
    return instance ? instance->next.DestroyAction(handle) : XR_ERROR_HANDLE_INVALID;
}

/* ---- bindings ---- */

/* The rules of OpenXR for suggestions, with the lock held. */
static XrResult check_suggestion(const sac_layer_instance *instance,
                                 const XrInteractionProfileSuggestedBinding *info)
{
    if (info->type != XR_TYPE_INTERACTION_PROFILE_SUGGESTED_BINDING || !info->countSuggestedBindings ||
        !info->suggestedBindings)
        return XR_ERROR_VALIDATION_FAILURE;
    for (uint32_t i = 0; i < info->countSuggestedBindings; i++) {
        const sac_layer_action *action = sac_layer_find_action(info->suggestedBindings[i].action);
        if (!action || action->instance != instance) return XR_ERROR_HANDLE_INVALID;
        const sac_layer_set *set = sac_layer_find_set(action->set);
        if (set && set->attached) return XR_ERROR_ACTIONSETS_ALREADY_ATTACHED;
    }
    for (uint32_t i = 0; i < info->countSuggestedBindings; i++) {
        const sac_layer_action *action = sac_layer_find_action(info->suggestedBindings[i].action);
        if (info->suggestedBindings[i].binding != instance->pose || action->type != XR_ACTION_TYPE_POSE_INPUT)
            return XR_ERROR_PATH_UNSUPPORTED;
        if (action->subactions && !action->eyes) return XR_ERROR_PATH_UNSUPPORTED;
    }
    return XR_SUCCESS;
}

/* What is suggested replaces what was suggested before. */
static XrResult keep_suggestion(sac_layer_instance *instance,
                                const XrInteractionProfileSuggestedBinding *info)
{
    instance->bound.count = 0;
    for (uint32_t i = 0; i < info->countSuggestedBindings; i++)
        if (info->suggestedBindings[i].binding == instance->pose &&
            !sac_array_push(&instance->bound, info->suggestedBindings[i].action))
            return XR_ERROR_OUT_OF_MEMORY;
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL suggest_bindings(XrInstance handle,
                                            const XrInteractionProfileSuggestedBinding *info)
{
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    sac_layer_unlock();
    if (!instance) return XR_ERROR_HANDLE_INVALID;
    if (!info || !instance->asked || info->interactionProfile != instance->profile)
        return instance->next.SuggestInteractionProfileBindings(handle, info);
    XrResult result = XR_SUCCESS;
    if (instance->native) {
        result = instance->next.SuggestInteractionProfileBindings(handle, info);
        if (XR_FAILED(result)) return result;
    }
    sac_layer_lock();
    if (!instance->native) result = check_suggestion(instance, info);
    if (XR_SUCCEEDED(result)) result = keep_suggestion(instance, info);
    sac_layer_unlock();
    return result;
}

static XrResult XRAPI_CALL attach_action_sets(XrSession handle, const XrSessionActionSetsAttachInfo *info)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    result = session->instance->next.AttachSessionActionSets(handle, info);
    if (XR_FAILED(result)) return result;
    sac_layer_lock();
    session->attached = true;
    for (uint32_t i = 0; i < info->countActionSets; i++) {
        sac_layer_set *set = sac_layer_find_set(info->actionSets[i]);
        if (set) set->attached = true;
        if (!sac_array_push(&session->sets, info->actionSets[i])) result = XR_ERROR_OUT_OF_MEMORY;
    }
    sac_layer_unlock();
    return result;
}

/* ---- what is live ---- */

/* Entries about the eyes alone are not for a runtime that does not know them. */
static XrResult sync_below(const sac_layer_session *session, const XrActionsSyncInfo *info)
{
    const sac_layer_instance *instance = session->instance;
    uint32_t count = info->countActiveActionSets, kept = 0;
    if (instance->native || !instance->asked || !count || !info->activeActionSets)
        return instance->next.SyncActions(session->handle, info);
    XrActiveActionSet *sets = sac_alloc(count, sizeof *sets);
    if (!sets) return XR_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        if (info->activeActionSets[i].subactionPath != instance->eyes)
            sets[kept++] = info->activeActionSets[i];
    XrActionsSyncInfo below = *info;
    below.countActiveActionSets = kept;
    below.activeActionSets = kept ? sets : NULL;
    XrResult result = instance->next.SyncActions(session->handle, &below);
    sac_free(sets, count, sizeof *sets);
    return result;
}

static XrResult XRAPI_CALL sync_actions(XrSession handle, const XrActionsSyncInfo *info)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    if (session && info && XR_SUCCEEDED(result) && session->instance->asked && !session->instance->native)
        for (uint32_t i = 0; i < info->countActiveActionSets; i++)
            if (info->activeActionSets &&
                info->activeActionSets[i].subactionPath == session->instance->eyes &&
                !is_attached(session, info->activeActionSets[i].actionSet))
                result = XR_ERROR_ACTIONSET_NOT_ATTACHED;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    if (!info) return XR_ERROR_VALIDATION_FAILURE;
    result = sync_below(session, info);
    XrTime now = session->ours ? sac_layer_now(session) : 0;
    sac_layer_lock();
    session->active.count = 0; /* not focused: nothing is live */
    for (uint32_t i = 0; result == XR_SUCCESS && session->ours && i < info->countActiveActionSets; i++) {
        const XrActiveActionSet *set = &info->activeActionSets[i];
        if ((set->subactionPath == XR_NULL_PATH || set->subactionPath == session->instance->eyes) &&
            !sac_array_push(&session->active, set->actionSet))
            result = XR_ERROR_OUT_OF_MEMORY;
    }
    if (result == XR_SUCCESS && session->ours) {
        sac_supply_look(session->instance->supply, now);
        if (!session->profile_told && session->instance->bound.count)
            session->profile_told = session->profile_changed = true;
    }
    sac_layer_unlock();
    return result;
}

/* With the lock: what a runtime would say to a question about the eyes alone. */
static XrResult check_question(const sac_layer_session *session, const sac_layer_action *action,
                               XrActionType type)
{
    if (!action) return XR_ERROR_HANDLE_INVALID;
    if (action->type != type) return XR_ERROR_ACTION_TYPE_MISMATCH;
    if (!action->eyes) return XR_ERROR_PATH_UNSUPPORTED;
    return is_attached(session, action->set) ? XR_SUCCESS : XR_ERROR_ACTIONSET_NOT_ATTACHED;
}

static XrResult XRAPI_CALL get_pose_state(XrSession handle, const XrActionStateGetInfo *info,
                                          XrActionStatePose *state)
{
    if (!info || !state) return XR_ERROR_VALIDATION_FAILURE;
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    bool eyes = session && session->instance->asked && info->subactionPath == session->instance->eyes;
    bool ask_below = !eyes || session->instance->native;
    bool live = session && sac_layer_is_live(session, info->action);
    bool gaze =
        session && (eyes || info->subactionPath == XR_NULL_PATH) && sac_layer_is_gaze(session, info->action);
    if (XR_SUCCEEDED(result) && !ask_below)
        result = check_question(session, sac_layer_find_action(info->action), XR_ACTION_TYPE_POSE_INPUT);
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    if (ask_below) result = session->instance->next.GetActionStatePose(handle, info, state);
    if (XR_SUCCEEDED(result) && (gaze || !ask_below)) state->isActive = gaze && live ? XR_TRUE : XR_FALSE;
    return result;
}

/* ---- names ---- */

static XrResult XRAPI_CALL get_current_profile(XrSession handle, XrPath user,
                                               XrInteractionProfileState *state)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    bool eyes = session && session->instance->asked && user == session->instance->eyes &&
                (session->ours || !session->instance->native);
    if (XR_SUCCEEDED(result) && eyes && !session->attached) result = XR_ERROR_ACTIONSET_NOT_ATTACHED;
    XrPath profile =
        eyes && session->ours && session->instance->bound.count ? session->instance->profile : XR_NULL_PATH;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    if (!eyes) return session->instance->next.GetCurrentInteractionProfile(handle, user, state);
    if (!state) return XR_ERROR_VALIDATION_FAILURE;
    state->interactionProfile = profile;
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL enumerate_sources(XrSession handle,
                                             const XrBoundSourcesForActionEnumerateInfo *info,
                                             uint32_t capacity, uint32_t *out_count, XrPath *sources)
{
    if (!info || !out_count) return XR_ERROR_VALIDATION_FAILURE;
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    bool gaze = session && sac_layer_is_gaze(session, info->action);
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    const sac_layer_instance *instance = session->instance;
    if (!gaze)
        return instance->next.EnumerateBoundSourcesForAction(handle, info, capacity, out_count, sources);
    uint32_t count = 0;
    result = instance->next.EnumerateBoundSourcesForAction(handle, info, 0, &count, NULL);
    if (XR_FAILED(result)) return result;
    XrPath *all = sac_alloc_zero((size_t)count + 1, sizeof *all);
    if (!all) return XR_ERROR_OUT_OF_MEMORY;
    uint32_t room = count + 1;
    if (count) result = instance->next.EnumerateBoundSourcesForAction(handle, info, count, &count, all);
    if (XR_SUCCEEDED(result)) {
        bool there = false;
        for (uint32_t i = 0; i < count; i++) there |= all[i] == instance->pose;
        if (!there) all[count++] = instance->pose;
        *out_count = count;
        if (capacity && capacity < count) result = XR_ERROR_SIZE_INSUFFICIENT;
        if (capacity >= count && sources) memcpy(sources, all, count * sizeof *all);
    }
    sac_free(all, room, sizeof *all);
    return result;
}

static XrResult XRAPI_CALL get_source_name(XrSession handle, const XrInputSourceLocalizedNameGetInfo *info,
                                           uint32_t capacity, uint32_t *out_count, char *buffer)
{
    if (!info || !out_count) return XR_ERROR_VALIDATION_FAILURE;
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    XrResult result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    bool ours = session && session->ours && info->sourcePath == session->instance->pose;
    if (ours && XR_SUCCEEDED(result) && !session->attached) result = XR_ERROR_ACTIONSET_NOT_ATTACHED;
    sac_layer_unlock();
    if (XR_FAILED(result)) return result;
    if (!ours)
        return session->instance->next.GetInputSourceLocalizedName(handle, info, capacity, out_count, buffer);
    static const struct {
        XrInputSourceLocalizedNameFlags flag;
        const char *name;
    } parts[] = {{XR_INPUT_SOURCE_LOCALIZED_NAME_USER_PATH_BIT, "Eyes"},
                 {XR_INPUT_SOURCE_LOCALIZED_NAME_INTERACTION_PROFILE_BIT, "Eye Gaze Replay"},
                 {XR_INPUT_SOURCE_LOCALIZED_NAME_COMPONENT_BIT, "Gaze"}};
    char text[64] = "";
    for (int i = 0; i < 3; i++)
        if (info->whichComponents & parts[i].flag) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", parts[i].name);
        }
    if (!text[0]) return XR_ERROR_VALIDATION_FAILURE;
    *out_count = (uint32_t)strlen(text) + 1;
    if (capacity && capacity < *out_count) return XR_ERROR_SIZE_INSUFFICIENT;
    if (capacity && buffer) memcpy(buffer, text, *out_count);
    return XR_SUCCESS;
}

const sac_layer_hook sac_layer_action_hooks[] = {
    {"xrCreateActionSet", (PFN_xrVoidFunction)create_action_set},
    {"xrDestroyActionSet", (PFN_xrVoidFunction)destroy_action_set},
    {"xrCreateAction", (PFN_xrVoidFunction)create_action},
    {"xrDestroyAction", (PFN_xrVoidFunction)destroy_action},
    {"xrSuggestInteractionProfileBindings", (PFN_xrVoidFunction)suggest_bindings},
    {"xrAttachSessionActionSets", (PFN_xrVoidFunction)attach_action_sets},
    {"xrSyncActions", (PFN_xrVoidFunction)sync_actions},
    {"xrGetActionStatePose", (PFN_xrVoidFunction)get_pose_state},
    {"xrGetCurrentInteractionProfile", (PFN_xrVoidFunction)get_current_profile},
    {"xrEnumerateBoundSourcesForAction", (PFN_xrVoidFunction)enumerate_sources},
    {"xrGetInputSourceLocalizedName", (PFN_xrVoidFunction)get_source_name},
    {NULL, NULL}};
