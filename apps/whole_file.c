#define _XOPEN_SOURCE 700 /* realpath */
#include "apps/whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sac_result refuse(sac_error *error, sac_result code, const char *path, const char *remedy,
                         const char *what)
{
    sac_error_set(error, code, remedy, "%s", what);
    sac_error_in_file(error, path);
    return code;
}

sac_result sac_whole_file_write(const char *path, const void *bytes, size_t size, sac_error *error)
{
    char real[PATH_MAX], beside[PATH_MAX + 32];
    struct stat old;
    int saved = 0;
    bool there = stat(path, &old) == 0;
    /* Only a plain file is replaced. A rename would put one in the place of a device or a link. */
    bool direct = there && !S_ISREG(old.st_mode);
    if (!*path) return sac_error_set(error, SAC_ERROR_ARGUMENT, "name a file", "the file's name is empty");
    if (strlen(path) >= sizeof real)
        return refuse(error, SAC_ERROR_ARGUMENT, path, "use a shorter path", "the path is too long");
    if (there && S_ISDIR(old.st_mode))
        return refuse(error, SAC_ERROR_IO, path, "name a file in it", "this is a folder");
    if (!there || direct || !realpath(path, real)) strcpy(real, path);
    snprintf(beside, sizeof beside, direct ? "%s" : "%s.%ld.part", real, (long)getpid());
    FILE *file = fopen(beside, "wb");
    if (!file)
        return refuse(error, SAC_ERROR_IO, path, "check that the folder exists and may be written",
                      strerror(errno));
    bool ok = fwrite(bytes, 1, size, file) == size;
    if (!ok) saved = errno;
    if (fclose(file) != 0 && ok) ok = false, saved = errno;
    if (ok && !direct && rename(beside, real) != 0) ok = false, saved = errno;
    if (ok) return SAC_OK;
    if (!direct) remove(beside);
    return refuse(error, SAC_ERROR_IO, path, "check the free space and the permissions", strerror(saved));
}

sac_result sac_folder_create(const char *path, sac_error *error)
{
    char part[4096];
    size_t n = strlen(path);
    struct stat status;
    if (n == 0 || n >= sizeof part) {
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a folder",
                             "the folder's name is empty or too long");
    }
    for (size_t i = 1; i <= n; i++) {
        if (i < n && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) == 0 || errno == EEXIST) continue;
        sac_error_set(error, SAC_ERROR_IO, "choose another folder", "it cannot be made: %s", strerror(errno));
        sac_error_in_file(error, path);
        return SAC_ERROR_IO;
    }
    bool there = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    /* Better said before the work than after. */
    if (there && access(path, W_OK | X_OK) == 0) return SAC_OK;
    sac_error_set(error, SAC_ERROR_IO, "choose another folder",
                  there ? "nothing can be written into it" : "it is there but is not a folder");
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
}

bool sac_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return a && b && stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}
