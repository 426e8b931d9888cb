#include "apps/whole_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sac_result sac_whole_file_write(const char *path, const void *bytes, size_t size, sac_error *error)
{
    char beside[4096];
    int saved = 0;
    if (snprintf(beside, sizeof beside, "%s.%ld.part", path, (long)getpid()) >= (int)sizeof beside) {
        sac_error_set(error, SAC_ERROR_ARGUMENT, "use a shorter path", "the path is too long");
        sac_error_in_file(error, path);
        return SAC_ERROR_ARGUMENT;
    }
    FILE *file = fopen(beside, "wb");
    if (!file) {
        sac_error_set(error, SAC_ERROR_IO, "check that the folder exists and may be written", "%s",
                      strerror(errno));
        sac_error_in_file(error, path);
        return SAC_ERROR_IO;
    }
    bool ok = fwrite(bytes, 1, size, file) == size;
    if (!ok) saved = errno;
    if (fclose(file) != 0 && ok) ok = false, saved = errno;
    if (ok && rename(beside, path) != 0) ok = false, saved = errno;
    if (ok) return SAC_OK;
    remove(beside);
    sac_error_set(error, SAC_ERROR_IO, "check the free space and the permissions", "%s", strerror(saved));
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
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
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return SAC_OK;
    sac_error_set(error, SAC_ERROR_IO, "choose another folder", "it is there but is not a folder");
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
}
