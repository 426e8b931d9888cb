/* A look at the header before Assimp gets the file. Its PLY reader loops, for ever or for billions of rounds,
 * on headers that do not end, that hold unknown lines, or that promise more elements than there are bytes;
 * its GLB reader allocates whatever the header says. */
#include "spheretree/import_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum { MOST_HEADER = 1 << 20 };

static bool starts_with(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && (line[length] == 0 || isspace((unsigned char)line[length]));
}

/* "element NAME COUNT", the count no more than the file could hold. */
static sac_result check_element(const char *line, size_t file_size, sac_error *error)
{
    const char *name = line + strlen("element");
    name += strspn(name, " \t");
    const char *digits = name + strcspn(name, " \t\r");
    digits += strspn(digits, " \t");
    char *end;
    unsigned long long count = strtoull(digits, &end, 10);
    if (!isdigit((unsigned char)*digits) || end[strspn(end, " \t\r")] != 0)
        return sac_error_set(error, SAC_ERROR_FORMAT, "write 'element NAME COUNT'",
                             "the PLY element has no proper count: '%.60s'", line);
    if (count > file_size)
        return sac_error_set(error, SAC_ERROR_CORRUPT, "export the mesh again",
                             "the PLY header promises %llu elements in a file of %zu bytes", count,
                             file_size);
    return SAC_OK;
}

/* One line, without its end. */
static sac_result check_line(const char *line, size_t file_size, sac_error *error)
{
    static const char *const words[] = {"ply", "format", "comment", "obj_info", "property"};
    if (starts_with(line, "element")) return check_element(line, file_size, error);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (starts_with(line, words[i])) return SAC_OK;
    if (line[strspn(line, " \t\r")] == 0) return SAC_OK;
    return sac_error_set(error, SAC_ERROR_FORMAT, "remove the line or export the mesh again",
                         "a PLY header has no such line: '%.60s'", line);
}

static sac_result check_ply(char *text, size_t file_size, sac_error *error)
{
    long number = 1;
    for (char *line = text; line; number++) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        if (starts_with(line, "end_header")) return SAC_OK;
        sac_result result = check_line(line, file_size, error);
        if (result != SAC_OK) {
            sac_error_at_line(error, number);
            return result;
        }
        line = end ? end + 1 : NULL;
    }
    return sac_error_set(error, SAC_ERROR_FORMAT, "export the mesh again",
                         "the PLY header has no line 'end_header'; the file may be cut off");
}

/* 12 bytes of header (magic, version, length) and the length of the first chunk. */
static sac_result check_glb(const unsigned char *bytes, size_t got, size_t file_size, sac_error *error)
{
    for (size_t at = 8; at <= 12; at += 4) {
        uint32_t length = got < at + 4 ? UINT32_MAX
                                       : (uint32_t)bytes[at] | (uint32_t)bytes[at + 1] << 8 |
                                             (uint32_t)bytes[at + 2] << 16 | (uint32_t)bytes[at + 3] << 24;
        if (length <= file_size) continue;
        sac_error_set(error, SAC_ERROR_CORRUPT, "export the mesh again",
                      "the GLB header promises %u bytes, the file has %zu", length, file_size);
        sac_error_at_byte(error, (int64_t)at);
        return SAC_ERROR_CORRUPT;
    }
    return SAC_OK;
}

sac_result sac_import_check_header(sac_import_source *source, sac_error *error)
{
    struct aiFile *file = source->io.OpenProc(&source->io, source->name, "rb");
    if (!file) return SAC_OK; /* Assimp will say so */
    size_t file_size = file->FileSizeProc(file), size = file_size < MOST_HEADER ? file_size : MOST_HEADER;
    char *text = sac_alloc(size + 1, 1);
    sac_result result = SAC_OK;
    if (text) {
        size_t got = file->ReadProc(file, text, 1, size);
        text[got] = 0;
        if (got >= 3 && strncasecmp(text, "ply", 3) == 0) result = check_ply(text, file_size, error);
        if (got >= 4 && memcmp(text, "glTF", 4) == 0)
            result = check_glb((const unsigned char *)text, got, file_size, error);
    } else {
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory to import a mesh");
    }
    sac_free(text, size + 1, 1);
    source->io.CloseProc(&source->io, file);
    return result;
}
