/* Output files are written whole or not at all: beside their place first, then renamed over it.
 *
 * Index: sac_whole_file_write  sac_folder_create
 */
#ifndef SAC_APPS_WHOLE_FILE_H
#define SAC_APPS_WHOLE_FILE_H

#include <stddef.h>

#include "base/error.h"

sac_result sac_whole_file_write(const char *path, const void *bytes, size_t size, sac_error *error);
/* The folder and the ones above it; fine when it is there. */
sac_result sac_folder_create(const char *path, sac_error *error);

#endif
