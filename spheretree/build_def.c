/* Options of a build: their defaults and the checks every builder shares. */
#include "spheretree/build_internal.h"

/* Not a number anybody gets by leaving memory uninitialised. */
#define BUILD_COOKIE 0x5ac0b01du

sac_build_def sac_default_build_def(void)
{
    return (sac_build_def){
        .method = SAC_METHOD_MEDIAL,
        .branch = 8,
        .depth = 3,
        .threads = 1,
        .reducers = SAC_REDUCER_COMBINED,
        .optimise = true,
        .seed = 1,
        .cookie = BUILD_COOKIE,
    };
}

sac_result sac_build_def_check(const sac_build_def *def, sac_error *error)
{
    if (def->cookie != BUILD_COOKIE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_build_def()",
                             "the build definition was not initialised");
    if (def->branch < SAC_TREE_LEAST_BRANCH || def->branch > SAC_TREE_MOST_BRANCH)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose 2 to 16", "branching factor %u", def->branch);
    if (def->depth < 1 || def->depth > SAC_TREE_MOST_DEPTH)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose 1 to 12", "depth %u", def->depth);
    if (def->threads < 1 || def->threads > SAC_BUILD_MOST_THREADS)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose 1 to 64", "%u threads", def->threads);
    return SAC_OK;
}
