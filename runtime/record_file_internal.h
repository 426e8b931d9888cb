/* The recording as a file: a header, then chunks, each whole in itself. Private to runtime/; docs/files.md
 * has the bytes.
 *
 * Writing: bytes are put into a buffer and go to the file a chunk at a time, by one write each, so that a
 * process that is killed has lost no more than the chunk it was filling. Reading: chunk by chunk, nothing is
 * believed before its checksum is right, and no size before the file is seen to be that long.
 *
 * Index: sac_chunk_writer_open  sac_chunk_writer_put  sac_chunk_writer_flush  sac_chunk_writer_close
 *        sac_chunk_reader_open  sac_chunk_reader_open_memory  sac_chunk_reader_next  sac_chunk_reader_close
 */
#ifndef SAC_RUNTIME_RECORD_FILE_INTERNAL_H
#define SAC_RUNTIME_RECORD_FILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

#define SAC_RECORD_MAGIC "SACREC\x1a\x00"
#define SAC_RECORD_VERSION 1u
#define SAC_RECORD_BYTE_ORDER 0x01020304u
#define SAC_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define SAC_CHUNK_MOST (1u << 30)   /* bytes of one chunk: room for the largest tree */

typedef struct sac_record_header {
    char magic[8];
    uint32_t version, byte_order;
    uint32_t header_size;
    uint32_t operations; /* checksum of the list of operations and their fields */
    uint32_t reserved;
    uint32_t crc; /* of the header, this field taken as zero */
} sac_record_header;

enum sac_chunk_flags { SAC_CHUNK_LAST = 1 };

typedef struct sac_chunk_header {
    uint32_t magic;
    uint32_t size;     /* of what follows */
    uint64_t sequence; /* 0, 1, 2, ... */
    uint64_t frame;    /* steps recorded before this chunk */
    uint32_t flags;
    uint32_t crc; /* of this header, this field taken as zero, and of what follows */
} sac_chunk_header;

/* ---- writing ---- */

typedef struct sac_chunk_writer {
    int file; /* -1: closed, or given up */
    char path[256];
    unsigned char *bytes; /* header of the chunk and what is in it so far */
    size_t used, room;
    uint64_t sequence, frame, written; /* frame: steps so far; written: bytes of whole chunks */
    uint32_t frames;                   /* in this chunk */
    uint64_t chunk_frame;              /* steps before this chunk */
    sac_error error;                   /* the first failure, code SAC_OK: none */
} sac_chunk_writer;

sac_result sac_chunk_writer_open(sac_chunk_writer *writer, const char *path, uint32_t operations,
                                 sac_error *error);
/* Appends to the chunk. After a failure nothing happens any more. */
void sac_chunk_writer_put(sac_chunk_writer *writer, const void *bytes, size_t size);
/* An operation is complete: writes the chunk when it is large or old enough. `step`: it was a step. */
void sac_chunk_writer_settle(sac_chunk_writer *writer, bool step);
/* Gives up with this reason, unless there already is one; what was written so far stays readable. */
void sac_chunk_writer_fail(sac_chunk_writer *writer, const sac_error *reason);
/* Writes the rest and the mark of the end. The first failure, or SAC_OK. */
sac_result sac_chunk_writer_close(sac_chunk_writer *writer, sac_error *error);

/* ---- reading ---- */

typedef struct sac_chunk_reader {
    int file; /* -1: memory */
    const unsigned char *memory;
    char path[256];
    uint64_t size, at; /* of the file; where the next chunk starts */
    uint64_t sequence;
    unsigned char *bytes; /* of this chunk */
    size_t count, room;
    uint64_t bytes_at; /* where they are in the file */
    uint64_t frame;    /* steps before this chunk */
    bool last;
} sac_chunk_reader;

/* `operations`: the lists that are read, by their checksums. */
sac_result sac_chunk_reader_open(sac_chunk_reader *reader, const char *path, const uint32_t operations[2],
                                 sac_error *error);
/* The memory must stay as long as the reader. */
sac_result sac_chunk_reader_open_memory(sac_chunk_reader *reader, const void *bytes, size_t size,
                                        const uint32_t operations[2], sac_error *error);
/* The next chunk into `bytes`; ERROR_CORRUPT with its place where the file is damaged or ends too early.
 * After the last chunk `last` is set. */
sac_result sac_chunk_reader_next(sac_chunk_reader *reader, sac_error *error);
void sac_chunk_reader_close(sac_chunk_reader *reader);

/* Makes all checksums of a recording in memory right again, as far as its chunks can be followed: for tests
 * and fuzzing. */
void sac_record_seal(void *bytes, size_t size, uint32_t operations);

#endif
