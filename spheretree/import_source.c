/* Assimp's file callbacks over memory and over regular files. */
#include "spheretree/import_internal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

/* A block of memory when `bytes` is set, else a stdio file. */
typedef struct open_file {
    struct aiFile face;
    const unsigned char *bytes;
    FILE *file;
    size_t size, at;
} open_file;

static open_file *behind(struct aiFile *face) { return (open_file *)face->UserData; }

static size_t read_items(struct aiFile *face, char *out, size_t size, size_t count)
{
    open_file *f = behind(face);
    if (size == 0) return 0;
    size_t whole = (f->size - f->at) / size, got = count < whole ? count : whole;
    if (got == 0) return 0;
    if (f->bytes)
        memcpy(out, f->bytes + f->at, got * size);
    else
        got = fread(out, size, got, f->file);
    f->at += got * size;
    return got;
}

static size_t refuse_write(struct aiFile *face, const char *bytes, size_t size, size_t count)
{
    (void)face, (void)bytes, (void)size, (void)count;
    return 0;
}

static size_t tell(struct aiFile *face) { return behind(face)->at; }
static size_t file_size(struct aiFile *face) { return behind(face)->size; }
static void flush(struct aiFile *face) { (void)face; }

static enum aiReturn seek(struct aiFile *face, size_t offset, enum aiOrigin origin)
{
    open_file *f = behind(face);
    /* Assimp passes negative offsets through size_t; the sum wraps to what was meant. */
    size_t at = offset + (origin == aiOrigin_CUR ? f->at : origin == aiOrigin_END ? f->size : 0);
    if (at > f->size) return aiReturn_FAILURE;
    if (f->file && fseeko(f->file, (off_t)at, SEEK_SET) != 0) return aiReturn_FAILURE;
    f->at = at;
    return aiReturn_SUCCESS;
}

static FILE *open_regular(const char *path, size_t *out_size)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return NULL;
    *out_size = (size_t)status.st_size;
    return fopen(path, "rb");
}

static struct aiFile *open_source(struct aiFileIO *io, const char *name, const char *mode)
{
    const sac_import_source *source = (const sac_import_source *)io->UserData;
    if (!name || !mode || strpbrk(mode, "wa+")) return NULL;
    if (source->bytes && strcmp(name, source->name) != 0) return NULL;
    open_file *f = sac_alloc_zero(1, sizeof *f);
    if (!f) return NULL;
    if (source->bytes) {
        f->bytes = source->bytes;
        f->size = source->size;
    } else if (!(f->file = open_regular(name, &f->size))) {
        sac_free(f, 1, sizeof *f);
        return NULL;
    }
    f->face = (struct aiFile){read_items, refuse_write, tell, file_size, seek, flush, (aiUserData)f};
    return &f->face;
}

static void close_source(struct aiFileIO *io, struct aiFile *face)
{
    (void)io;
    open_file *f = behind(face);
    if (f->file) fclose(f->file);
    sac_free(f, 1, sizeof *f);
}

void sac_import_source_init(sac_import_source *source, const char *name, const void *bytes, size_t size)
{
    *source = (sac_import_source){.name = name, .bytes = bytes, .size = size};
    source->io = (struct aiFileIO){open_source, close_source, (aiUserData)source};
}
