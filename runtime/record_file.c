/* Chunks in and out of a file. */
#include "runtime/record_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"

enum { CHUNK_BYTES = 64 * 1024, CHUNK_FRAMES = 30, HEAD = sizeof(sac_chunk_header) };

_Static_assert(sizeof(sac_record_header) == 32 && sizeof(sac_chunk_header) == 32,
               "the layout of docs/files.md");

/* Numbers go to the file as they are in memory, so the machine must count bytes the same way. */
static bool host_fits(sac_error *error)
{
    const uint32_t order = SAC_RECORD_BYTE_ORDER;
    unsigned char first;
    memcpy(&first, &order, 1);
    if (first == 4) return true;
    sac_error_set(error, SAC_ERROR_UNSUPPORTED, NULL, "recordings are little-endian and this machine is not");
    return false;
}

static sac_result io_error(sac_error *error, const char *path, const char *verb)
{
    char reason[128] = "";
    if (strerror_r(errno, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", errno);
    sac_error_set(error, SAC_ERROR_IO,
                  strcmp(verb, "open") == 0 ? "check the path" : "choose another place for the recording",
                  "cannot %s: %s", verb, reason);
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
}

/* A long path keeps its end, as in errors. */
static void keep_path(char out[256], const char *path)
{
    size_t length = strlen(path);
    snprintf(out, 256, "%s", length < 256 ? path : path + (length - 255));
}

static uint32_t header_crc(const sac_record_header *header)
{
    sac_record_header copy = *header;
    copy.crc = 0;
    return sac_crc32c(0, &copy, sizeof copy);
}

static uint32_t chunk_crc(const sac_chunk_header *header, const void *bytes)
{
    sac_chunk_header copy = *header;
    copy.crc = 0;
    return sac_crc32c(sac_crc32c(0, &copy, sizeof copy), bytes, header->size);
}

static sac_record_header header_of(uint32_t operations)
{
    sac_record_header header = {.version = SAC_RECORD_VERSION,
                                .byte_order = SAC_RECORD_BYTE_ORDER,
                                .header_size = sizeof header,
                                .operations = operations};
    memcpy(header.magic, SAC_RECORD_MAGIC, sizeof header.magic);
    header.crc = header_crc(&header);
    return header;
}

/* ---- writing ---- */

static bool write_all(int file, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size) {
        ssize_t done = write(file, from, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            if (done == 0) errno = ENOSPC;
            return false;
        }
        from += done;
        size -= (size_t)done;
    }
    return true;
}

void sac_chunk_writer_fail(sac_chunk_writer *writer, const sac_error *reason)
{
    if (writer->file < 0) return;
    writer->error = *reason;
    sac_error_in_file(&writer->error, writer->path);
    /* A piece of a chunk is of no use; where the file cannot be cut, the reader finds the damage. */
    if (ftruncate(writer->file, (off_t)writer->written) != 0) writer->used = 0;
    close(writer->file);
    writer->file = -1;
}

static void fail_io(sac_chunk_writer *writer, const char *verb)
{
    sac_error error;
    io_error(&error, writer->path, verb);
    snprintf(error.remedy, sizeof error.remedy,
             "make room and record again; the frames written so far replay");
    sac_chunk_writer_fail(writer, &error);
}

static bool make_room(sac_chunk_writer *writer, size_t wanted)
{
    if (wanted <= writer->room) return true;
    size_t room = writer->room ? writer->room : 2 * CHUNK_BYTES;
    while (room < wanted) room *= 2;
    unsigned char *fresh = sac_alloc(1, room);
    if (!fresh) return false;
    if (writer->bytes) memcpy(fresh, writer->bytes, writer->used);
    sac_free(writer->bytes, 1, writer->room);
    writer->bytes = fresh;
    writer->room = room;
    return true;
}

sac_result sac_chunk_writer_open(sac_chunk_writer *writer, const char *path, uint32_t operations,
                                 sac_error *error)
{
    *writer = (sac_chunk_writer){.file = -1, .used = HEAD};
    if (!host_fits(error)) return SAC_ERROR_UNSUPPORTED;
    keep_path(writer->path, path);
    if (!make_room(writer, 2 * CHUNK_BYTES))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to record");
    memset(writer->bytes, 0, writer->room); /* touched now, not in a frame */
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    sac_record_header header = header_of(operations);
    if (file < 0 || !write_all(file, &header, sizeof header)) {
        sac_result result = io_error(error, path, file < 0 ? "create" : "write");
        if (file >= 0) close(file);
        sac_free(writer->bytes, 1, writer->room);
        writer->bytes = NULL;
        return result;
    }
    writer->file = file;
    writer->written = sizeof header;
    return SAC_OK;
}

void sac_chunk_writer_put(sac_chunk_writer *writer, const void *bytes, size_t size)
{
    if (writer->file < 0 || !size) return;
    if (size > SAC_CHUNK_MOST - writer->used || !make_room(writer, writer->used + size)) {
        sac_error error;
        bool large = size > SAC_CHUNK_MOST - writer->used;
        sac_error_set(&error, large ? SAC_ERROR_LIMIT : SAC_ERROR_MEMORY, NULL,
                      large ? "one thing to record is larger than a chunk can be"
                            : "no memory to record what happened");
        sac_chunk_writer_fail(writer, &error);
        return;
    }
    memcpy(writer->bytes + writer->used, bytes, size);
    writer->used += size;
}

static void write_chunk(sac_chunk_writer *writer, uint32_t flags)
{
    if (writer->file < 0) return;
    sac_chunk_header header = {.magic = SAC_CHUNK_MAGIC,
                               .size = (uint32_t)(writer->used - HEAD),
                               .sequence = writer->sequence++,
                               .frame = writer->chunk_frame,
                               .flags = flags};
    header.crc = chunk_crc(&header, writer->bytes + HEAD);
    memcpy(writer->bytes, &header, HEAD);
    if (!write_all(writer->file, writer->bytes, writer->used)) {
        fail_io(writer, "write");
        return;
    }
    writer->written += writer->used;
    writer->used = HEAD;
    writer->frames = 0;
    writer->chunk_frame = writer->frame;
}

void sac_chunk_writer_settle(sac_chunk_writer *writer, bool step)
{
    if (step) writer->frame++, writer->frames++;
    if (writer->used >= CHUNK_BYTES || writer->frames >= CHUNK_FRAMES) write_chunk(writer, 0);
}

sac_result sac_chunk_writer_close(sac_chunk_writer *writer, sac_error *error)
{
    write_chunk(writer, SAC_CHUNK_LAST);
    if (writer->file >= 0 && close(writer->file) != 0) {
        io_error(&writer->error, writer->path, "write");
    }
    writer->file = -1;
    sac_free(writer->bytes, 1, writer->room);
    writer->bytes = NULL;
    writer->room = 0;
    if (writer->error.code != SAC_OK && error) *error = writer->error;
    return writer->error.code;
}

/* ---- reading ---- */

static sac_result fault(const sac_chunk_reader *reader, sac_error *error, sac_result code, uint64_t byte,
                        const char *remedy, const char *what)
{
    sac_error_set(error, code, remedy, "%s", what);
    sac_error_at_byte(error, (int64_t)byte);
    if (*reader->path) sac_error_in_file(error, reader->path);
    return code;
}

/* Bytes of the file at an offset; false when it cannot be read or has become shorter. */
static bool fetch(const sac_chunk_reader *reader, uint64_t at, void *out, size_t size)
{
    if (size > reader->size || at > reader->size - size) return false;
    if (reader->file < 0) {
        memcpy(out, reader->memory + at, size);
        return true;
    }
    unsigned char *to = out;
    while (size) {
        ssize_t got = pread(reader->file, to, size < SAC_CHUNK_MOST ? size : SAC_CHUNK_MOST, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static sac_result check_header(sac_chunk_reader *reader, const uint32_t operations[2], sac_error *error)
{
    static const char *const again = "record again with this version";
    sac_record_header header = {0};
    size_t there = reader->size < sizeof header ? (size_t)reader->size : sizeof header;
    if (there == 0)
        return fault(reader, error, SAC_ERROR_FORMAT, 0, "give a file made by a recording",
                     "the file is empty");
    if (!fetch(reader, 0, &header, there))
        return fault(reader, error, SAC_ERROR_IO, 0, NULL, "the file cannot be read");
    if (memcmp(header.magic, SAC_RECORD_MAGIC, there < 8 ? there : 8) != 0)
        return fault(reader, error, SAC_ERROR_FORMAT, 0, "give a file made by a recording",
                     "this is not a recording");
    if (there < sizeof header)
        return fault(reader, error, SAC_ERROR_CORRUPT, there, NULL, "the file ends inside its header");
    if (header.byte_order != SAC_RECORD_BYTE_ORDER)
        return fault(reader, error, SAC_ERROR_CORRUPT, offsetof(sac_record_header, byte_order), NULL,
                     "the byte order mark is wrong");
    if (header.crc != header_crc(&header))
        return fault(reader, error, SAC_ERROR_CORRUPT, offsetof(sac_record_header, crc), NULL,
                     "the header's checksum is wrong");
    if (header.version != SAC_RECORD_VERSION || header.header_size != sizeof header)
        return fault(reader, error, SAC_ERROR_VERSION, offsetof(sac_record_header, version), again,
                     "the recording is of another version");
    if (header.operations != operations[0] && header.operations != operations[1])
        return fault(reader, error, SAC_ERROR_VERSION, offsetof(sac_record_header, operations), again,
                     "the recording is of a version with other operations");
    if (header.reserved != 0)
        return fault(reader, error, SAC_ERROR_CORRUPT, offsetof(sac_record_header, reserved), NULL,
                     "reserved bytes are not zero");
    reader->at = sizeof header;
    return SAC_OK;
}

sac_result sac_chunk_reader_open(sac_chunk_reader *reader, const char *path, const uint32_t operations[2],
                                 sac_error *error)
{
    *reader = (sac_chunk_reader){.file = -1};
    if (!host_fits(error)) return SAC_ERROR_UNSUPPORTED;
    keep_path(reader->path, path);
    struct stat status;
    /* A pipe must not block us, and has no size to check against. */
    reader->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader->file < 0 || fstat(reader->file, &status) != 0) return io_error(error, path, "open");
    sac_result result;
    if (!S_ISREG(status.st_mode)) {
        sac_error_set(error, SAC_ERROR_IO, "give a file made by a recording", "this is not a regular file");
        sac_error_in_file(error, path);
        result = SAC_ERROR_IO;
    } else {
        reader->size = (uint64_t)status.st_size;
        result = check_header(reader, operations, error);
    }
    if (result != SAC_OK) sac_chunk_reader_close(reader);
    return result;
}

sac_result sac_chunk_reader_open_memory(sac_chunk_reader *reader, const void *bytes, size_t size,
                                        const uint32_t operations[2], sac_error *error)
{
    *reader = (sac_chunk_reader){.file = -1, .memory = bytes, .size = size};
    if (!host_fits(error)) return SAC_ERROR_UNSUPPORTED;
    return check_header(reader, operations, error);
}

sac_result sac_chunk_reader_next(sac_chunk_reader *reader, sac_error *error)
{
    static const char *const before = "all frames before this byte are good";
    uint64_t at = reader->at, left = reader->size - at;
    reader->count = 0;
    if (reader->last)
        return left == 0 ? SAC_OK
                         : fault(reader, error, SAC_ERROR_CORRUPT, at, before,
                                 "there are bytes behind the end of the recording");
    if (left == 0)
        return fault(reader, error, SAC_ERROR_CORRUPT, at, before,
                     "the recording stops here without its end, as when its writer was killed");
    sac_chunk_header header;
    if (left < sizeof header || !fetch(reader, at, &header, sizeof header))
        return fault(reader, error, SAC_ERROR_CORRUPT, reader->size, before,
                     "the file ends inside a chunk, as when its writer was killed");
    if (header.magic != SAC_CHUNK_MAGIC)
        return fault(reader, error, SAC_ERROR_CORRUPT, at, before, "no chunk starts here");
    if (header.size > SAC_CHUNK_MOST)
        return fault(reader, error, SAC_ERROR_CORRUPT, at + offsetof(sac_chunk_header, size), before,
                     "the size of the chunk is impossible");
    if (header.size > left - sizeof header)
        return fault(reader, error, SAC_ERROR_CORRUPT, reader->size, before,
                     "the file ends inside a chunk, as when its writer was killed");
    if (header.size > reader->room) {
        /* By doubling, but never beyond what the file has. */
        size_t room = reader->room * 2 > header.size ? reader->room * 2 : header.size;
        unsigned char *fresh = sac_alloc(1, room);
        if (!fresh) return fault(reader, error, SAC_ERROR_MEMORY, at, NULL, "no memory for the chunk");
        sac_free(reader->bytes, 1, reader->room);
        reader->bytes = fresh;
        reader->room = room;
    }
    if (header.size && !fetch(reader, at + sizeof header, reader->bytes, header.size))
        return fault(reader, error, SAC_ERROR_IO, at, NULL, "the chunk cannot be read");
    if (header.crc != chunk_crc(&header, reader->bytes))
        return fault(reader, error, SAC_ERROR_CORRUPT, at, before,
                     "the checksum of the chunk that starts here is wrong");
    if (header.sequence != reader->sequence || header.flags > SAC_CHUNK_LAST)
        return fault(reader, error, SAC_ERROR_CORRUPT, at + offsetof(sac_chunk_header, sequence), before,
                     "the chunk is not the one that belongs here");
    reader->sequence++;
    reader->count = header.size;
    reader->frame = header.frame;
    reader->last = header.flags & SAC_CHUNK_LAST;
    reader->bytes_at = at + sizeof header;
    reader->at = at + sizeof header + header.size;
    return SAC_OK;
}

void sac_chunk_reader_close(sac_chunk_reader *reader)
{
    if (reader->file >= 0) close(reader->file);
    reader->file = -1;
    sac_free(reader->bytes, 1, reader->room);
    reader->bytes = NULL;
    reader->room = reader->count = 0;
}

void sac_record_seal(void *bytes, size_t size, uint32_t operations)
{
    unsigned char *p = bytes;
    sac_record_header header = header_of(operations);
    if (size < sizeof header) return;
    memcpy(p, &header, sizeof header);
    uint64_t sequence = 0;
    for (size_t at = sizeof header; size - at >= HEAD;) {
        sac_chunk_header chunk;
        memcpy(&chunk, p + at, HEAD);
        size_t left = size - at - HEAD;
        if (chunk.size > left) chunk.size = (uint32_t)left;
        chunk.magic = SAC_CHUNK_MAGIC;
        chunk.sequence = sequence++;
        chunk.flags &= SAC_CHUNK_LAST;
        chunk.crc = chunk_crc(&chunk, p + at + HEAD);
        memcpy(p + at, &chunk, HEAD);
        at += HEAD + chunk.size;
    }
}
