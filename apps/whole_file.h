/* Output files are written whole or not at all: beside their place first, then renamed over it. What is
 * there and no plain file, a device or a pipe, is written into; a link is followed.
 *
 * Index: sac_whole_file_write  sac_folder_create  sac_same_file
 */
#ifndef SAC_APPS_WHOLE_FILE_H
#define SAC_APPS_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

sac_result sac_whole_file_write(const char *path, const void *bytes, size_t size, sac_error *error);
/* The folder and the ones above it; fine when it is there. */
sac_result sac_folder_create(const char *path, sac_error *error);

/* Both are there and one and the same, by whatever names; false when either is NULL. */
bool sac_same_file(const char *a, const char *b);

#endif
