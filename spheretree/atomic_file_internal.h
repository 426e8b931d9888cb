/* A file that appears whole or not at all: written beside its place, flushed to disk, then renamed over the
 * old one. Private.
 *
 *   sac_atomic_file *file = sac_atomic_file_create(path, error);   // NULL: error says why
 *   sac_atomic_file_write(file, bytes, size);                      // remembers the first failure
 *   return sac_atomic_file_commit(&file, error);                   // the only moment the old file changes
 */
#ifndef SAC_SPHERETREE_ATOMIC_FILE_INTERNAL_H
#define SAC_SPHERETREE_ATOMIC_FILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct sac_atomic_file sac_atomic_file;

/* A symbolic link is followed and stays. The old file's permissions are kept. Something that is neither a
 * file nor a directory (a pipe, /dev/stdout) is written to directly. */
sac_atomic_file *sac_atomic_file_create(const char *path, sac_error *error);
/* Buffered. False once anything has failed; commit then reports it, so the result may be ignored. */
bool sac_atomic_file_write(sac_atomic_file *file, const void *bytes, size_t size);
/* Releases `file` whatever happens. On failure the temporary file is gone and the old file as it was. */
sac_result sac_atomic_file_commit(sac_atomic_file **file, sac_error *error);

/* Opens for reading; -1 with `error` set, in words a user understands, when `path` is missing, not readable
 * or not a regular file. Never blocks on a pipe. */
int sac_file_open(const char *path, uint64_t *out_size, sac_error *error);
/* Sets `error` from errno: "cannot read: No such file or directory". */
sac_result sac_file_error(sac_error *error, const char *path, const char *verb, int error_number);

#endif
