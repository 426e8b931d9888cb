/* Build-time tool: the letters of a TrueType font as a texture of distances to their outlines, as a C header.
 *
 *   make_letters DejaVuSans.ttf sac_letters.h
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb/stb_truetype.h>

enum { WIDTH = 512, MOST_HEIGHT = 2048, PADDING = 6, EM = 40, MOST = 400 };

typedef struct letter {
    int code, width, height, left, top, x, y;
    float advance;
    unsigned char *distances;
} letter;

/* Latin, and what measurements are written with. */
static const int others[] = {0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, 0x2030, 0x2032,
                             0x2033, 0x0394, 0x03A3, 0x03A9, 0x03B1, 0x03B2, 0x03B3, 0x03B4, 0x03B5, 0x03B8,
                             0x03BB, 0x03BC, 0x03C0, 0x03C3, 0x03C4, 0x03C6, 0x03C9, 0x2070, 0x2074, 0x207B,
                             0x2080, 0x2081, 0x2082, 0x2190, 0x2191, 0x2192, 0x2193, 0x2194, 0x2195, 0x2212,
                             0x221A, 0x221E, 0x2248, 0x2260, 0x2264, 0x2265, 0x25A0, 0x25A1, 0x25B2, 0x25B6,
                             0x25BC, 0x25C0, 0x25CB, 0x25CF, 0x2605, 0x2713};

static int by_height(const void *a, const void *b)
{
    const letter *x = a, *y = b;
    return y->height != x->height ? y->height - x->height : x->code - y->code;
}
static int by_code(const void *a, const void *b)
{
    return ((const letter *)a)->code - ((const letter *)b)->code;
}

static unsigned char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    unsigned char *bytes = NULL;
    long size;
    if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET) &&
        (bytes = malloc((size_t)size)) && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

static int pack(letter *letters, int count)
{
    int x = 1, y = 1, shelf = 0;
    qsort(letters, (size_t)count, sizeof *letters, by_height);
    for (int i = 0; i < count; i++) {
        letter *l = &letters[i];
        if (x + l->width + 1 > WIDTH) x = 1, y += shelf + 1, shelf = 0;
        if (l->height > shelf) shelf = l->height;
        l->x = x, l->y = y;
        x += l->width + 1;
    }
    return (y + shelf + 1 + 3) / 4 * 4;
}

static void write_header(FILE *out, const letter *letters, int count, const unsigned char *texture,
                         int height, float capital)
{
    fprintf(out, "/* Made by make_letters. */\n#include <stdint.h>\n");
    fprintf(out, "enum { LETTERS_WIDTH = %d, LETTERS_HEIGHT = %d, LETTER_COUNT = %d };\n", WIDTH, height,
            count);
    /* In heights of a capital. */
    fprintf(out, "typedef struct letter { uint32_t code; float left, bottom, width, height, advance, u, v, "
                 "uw, vh; } letter;\n");
    fprintf(out, "static const letter letters[LETTER_COUNT] = {\n");
    for (int i = 0; i < count; i++) {
        const letter *l = &letters[i];
        fprintf(out, "{0x%x, %.5ff, %.5ff, %.5ff, %.5ff, %.5ff, %.7ff, %.7ff, %.7ff, %.7ff},\n",
                (unsigned)l->code, (double)((float)l->left / capital),
                (double)((float)-(l->top + l->height) / capital), (double)((float)l->width / capital),
                (double)((float)l->height / capital), (double)(l->advance / capital),
                (double)((float)l->x / WIDTH), (double)((float)(l->y + l->height) / (float)height),
                (double)((float)l->width / WIDTH), (double)(-(float)l->height / (float)height));
    }
    fprintf(out, "};\nstatic const uint8_t letter_texture[LETTERS_WIDTH * LETTERS_HEIGHT] = {");
    for (int i = 0; i < WIDTH * height; i++) fprintf(out, "%s%d,", i % 32 ? "" : "\n", texture[i]);
    fprintf(out, "\n};\n");
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_letters FONT.ttf OUT.h\n");
        return 2;
    }
    unsigned char *bytes = read_whole(argv[1]);
    stbtt_fontinfo font;
    if (!bytes || !stbtt_InitFont(&font, bytes, 0)) {
        fprintf(stderr, "%s: not a TrueType font that can be read\n", argv[1]);
        return 1;
    }
    const float scale = stbtt_ScaleForMappingEmToPixels(&font, EM);
    static letter letters[MOST];
    int count = 0;
    for (int code = 32; code < 256; code++)
        if (code < 127 || code >= 160) letters[count++].code = code;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) letters[count++].code = others[i];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        letter l = {.code = letters[i].code};
        if (!stbtt_FindGlyphIndex(&font, l.code)) continue;
        int advance;
        stbtt_GetCodepointHMetrics(&font, l.code, &advance, NULL);
        l.advance = (float)advance * scale;
        l.distances = stbtt_GetCodepointSDF(&font, scale, l.code, PADDING, 128, 255.0f / (2 * PADDING),
                                            &l.width, &l.height, &l.left, &l.top);
        if (!l.distances) l.width = l.height = l.left = l.top = 0;
        letters[kept++] = l;
    }
    int x0, y0, x1, y1;
    stbtt_GetCodepointBox(&font, 'H', &x0, &y0, &x1, &y1);
    int height = pack(letters, kept);
    if (height > MOST_HEIGHT) {
        fprintf(stderr, "the letters need %d rows, %d are allowed\n", height, MOST_HEIGHT);
        return 1;
    }
    unsigned char *texture = calloc(WIDTH, (size_t)height);
    if (!texture) return 1;
    for (int i = 0; i < kept; i++)
        for (int row = 0; row < letters[i].height; row++)
            memcpy(texture + (letters[i].y + row) * WIDTH + letters[i].x,
                   letters[i].distances + row * letters[i].width, (size_t)letters[i].width);
    qsort(letters, (size_t)kept, sizeof *letters, by_code);
    FILE *out = fopen(argv[2], "w");
    if (!out) {
        fprintf(stderr, "%s: cannot be written\n", argv[2]);
        return 1;
    }
    write_header(out, letters, kept, texture, height, (float)y1 * scale);
    bool failed = ferror(out);
    failed |= fclose(out) != 0;
    for (int i = 0; i < kept; i++) stbtt_FreeSDF(letters[i].distances, NULL);
    free(texture);
    free(bytes);
    return failed;
}
