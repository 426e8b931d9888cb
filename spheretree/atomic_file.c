#define _XOPEN_SOURCE 700 /* realpath */
#include "spheretree/atomic_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"

enum { MOST_PATH = 4096, BUFFER = 64 * 1024, TRIES = 64 };

_Static_assert(MOST_PATH >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

struct sac_atomic_file {
    int fd;
    int failure; /* errno of the first thing that went wrong, 0: none */
    bool direct; /* no rename: not a regular file */
    size_t used;
    char given[MOST_PATH]; /* for messages */
    char path[MOST_PATH];  /* links resolved */
    char temporary[MOST_PATH];
    unsigned char buffer[BUFFER];
};

static const char *remedy_for(int error_number)
{
    switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "free some space or choose another place";
    case EACCES:
    case EPERM:
    case EROFS:
        return "check the permissions or choose another place";
    case ENOENT:
    case ENOTDIR:
        return "check the path";
    case ENAMETOOLONG:
        return "use a shorter path";
    default:
        return NULL;
    }
}

sac_result sac_file_error(sac_error *error, const char *path, const char *verb, int error_number)
{
    char reason[128];
    if (strerror_r(error_number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error_number);
    sac_error_set(error, SAC_ERROR_IO, remedy_for(error_number), "cannot %s: %s", verb, reason);
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
}

int sac_file_open(const char *path, uint64_t *out_size, sac_error *error)
{
    /* Without O_NONBLOCK a pipe nobody writes to would hold us here. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        int reason = errno;
        if (fd >= 0) close(fd);
        sac_file_error(error, path, "read", reason);
        return -1;
    }
    if (!S_ISREG(info.st_mode)) {
        close(fd);
        sac_error_set(error, SAC_ERROR_IO, "give the path of a file", "%s",
                      S_ISDIR(info.st_mode) ? "this is a directory" : "this is not a regular file");
        sac_error_in_file(error, path);
        return -1;
    }
    *out_size = (uint64_t)info.st_size;
    return fd;
}

/* Opens the temporary file under a name nobody has. Own digits rather than mkstemp: the umask decides about
 * permissions, as for any new file. */
static int open_temporary(sac_atomic_file *file)
{
    uint64_t seed = sac_time_now_ns() ^ ((uint64_t)getpid() << 32) ^ (uint64_t)(uintptr_t)file;
    for (int i = 0; i < TRIES; i++) {
        static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
        uint64_t random = sac_rng_splitmix(&seed);
        char suffix[16] = ".tmp-";
        for (int k = 0; k < 8; k++, random >>= 5) suffix[5 + k] = digits[random & 31];
        int length = snprintf(file->temporary, MOST_PATH, "%s%s", file->path, suffix);
        if (length >= MOST_PATH) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static int open_target(sac_atomic_file *file)
{
    struct stat old;
    bool exists = stat(file->given, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && !S_ISREG(old.st_mode)) {
        file->direct = true;
        return open(file->given, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    }
    if (!exists)
        strcpy(file->path, file->given);
    else if (!realpath(file->given, file->path))
        return -1;
    /* A file made read-only stays as it is, although a rename would get around that. */
    if (exists && access(file->path, W_OK) != 0) return -1;
    int fd = open_temporary(file);
    if (fd >= 0 && exists && fchmod(fd, old.st_mode & 0777) != 0) {
        int reason = errno;
        close(fd);
        unlink(file->temporary);
        errno = reason;
        return -1;
    }
    return fd;
}

sac_atomic_file *sac_atomic_file_create(const char *path, sac_error *error)
{
    if (!path || !path[0] || strlen(path) >= MOST_PATH) {
        sac_error_set(error, SAC_ERROR_ARGUMENT, "give the path of a file", "the path is empty or too long");
        return NULL;
    }
    sac_atomic_file *file = sac_alloc(1, sizeof *file);
    if (!file) {
        sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to write a file");
        sac_error_in_file(error, path);
        return NULL;
    }
    file->used = 0, file->failure = 0, file->direct = false;
    strcpy(file->given, path);
    file->fd = open_target(file);
    if (file->fd < 0) {
        sac_file_error(error, path, "write", errno);
        sac_free(file, 1, sizeof *file);
        return NULL;
    }
    return file;
}

static void write_through(sac_atomic_file *file, const unsigned char *bytes, size_t size)
{
    while (size > 0 && !file->failure) {
        /* Linux writes at most 2 GiB at a time; asking for less keeps every system content. */
        ssize_t done = write(file->fd, bytes, size < (1u << 30) ? size : (1u << 30));
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
        } else if (done == 0) {
            file->failure = EIO;
        } else if (errno != EINTR) {
            file->failure = errno;
        }
    }
}

static void flush_buffer(sac_atomic_file *file)
{
    write_through(file, file->buffer, file->used);
    file->used = 0;
}

bool sac_atomic_file_write(sac_atomic_file *file, const void *bytes, size_t size)
{
    if (size > BUFFER - file->used) flush_buffer(file);
    if (size > BUFFER) {
        write_through(file, bytes, size);
    } else {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    }
    return file->failure == 0;
}

/* So that the rename itself survives a power cut. Some file systems cannot; the file is complete anyway. */
static void flush_directory(const char *path)
{
    char folder[MOST_PATH];
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

sac_result sac_atomic_file_commit(sac_atomic_file **owner, sac_error *error)
{
    sac_atomic_file *file = *owner;
    *owner = NULL;
    flush_buffer(file);
    if (!file->failure && !file->direct && fsync(file->fd) != 0) file->failure = errno;
    if (close(file->fd) != 0 && !file->failure) file->failure = errno;
    if (!file->failure && !file->direct && rename(file->temporary, file->path) != 0) file->failure = errno;
    sac_result result = SAC_OK;
    if (file->failure) {
        if (!file->direct) unlink(file->temporary);
        result = sac_file_error(error, file->given, "write", file->failure);
    } else if (!file->direct) {
        flush_directory(file->path);
    }
    sac_free(file, 1, sizeof *file);
    return result;
}
