#include "apps/tree_open.h"

#include <string.h>

bool sac_text_ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

sac_result sac_tree_open(const char *path, sac_tree **out_tree, sac_error *error)
{
    sac_result result = sac_text_ends_in(path, ".sph") ? sac_tree_import_sph(path, out_tree, error)
                                                       : sac_tree_load(path, out_tree, error);
    if (result != SAC_OK) sac_error_in_file(error, path);
    return result;
}
