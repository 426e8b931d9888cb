/* Pictures of every scene and switch, drawn on lavapipe and compared with those in tests/references.
 *
 *   test_references NAME   one picture: drawn, compared; when it differs, the new one and the difference are
 *                          written to the folder of the test
 *   test_references        the comparison itself: it lets rounding pass and nothing a person would see
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_FAILURE_STRINGS
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { SKIPPED = 77, MOST_PICTURES = 32 };

/* What another version of the driver may change: edges by a sample, shades by rounding. Means are of all
 * channels, 0 to 255; a pixel is off when a channel of it differs by more than FAR. */
static const double MOST_MEAN = 1.5, MOST_OFF = 0.015;
enum { FAR = 40 };

typedef struct picture {
    int width, height;
    uint8_t *rgb;
} picture;

typedef struct difference {
    double mean, off; /* off: share of the pixels */
    bool alike;
} difference;

static picture load(const char *path)
{
    picture p = {0};
    int channels;
    p.rgb = stbi_load(path, &p.width, &p.height, &channels, 3);
    return p;
}

static difference compare(const picture *a, const picture *b)
{
    difference d = {255, 1, false};
    if (!a->rgb || !b->rgb || a->width != b->width || a->height != b->height) return d;
    uint64_t sum = 0, off = 0, pixels = (uint64_t)a->width * (uint64_t)a->height;
    for (uint64_t i = 0; i < pixels; i++) {
        int most = 0;
        for (int k = 0; k < 3; k++) {
            int by = abs(a->rgb[3 * i + (uint64_t)k] - b->rgb[3 * i + (uint64_t)k]);
            sum += (uint64_t)by;
            if (by > most) most = by;
        }
        off += most > FAR;
    }
    d.mean = (double)sum / (3.0 * (double)pixels);
    d.off = (double)off / (double)pixels;
    d.alike = d.mean <= MOST_MEAN && d.off <= MOST_OFF;
    return d;
}

/* Where they differ, darker the more, over a pale copy. */
static void write_difference(const char *path, const picture *a, const picture *b)
{
    if (a->width != b->width || a->height != b->height) return;
    size_t pixels = (size_t)a->width * (size_t)a->height;
    uint8_t *out = malloc(3 * pixels);
    if (!out) return;
    for (size_t i = 0; i < pixels; i++) {
        int most = 0, grey = 0;
        for (size_t k = 0; k < 3; k++) {
            int by = abs(a->rgb[3 * i + k] - b->rgb[3 * i + k]);
            if (by > most) most = by;
            grey += b->rgb[3 * i + k];
        }
        int pale = 200 + grey / 3 * 55 / 255, shown = most * 4 < 255 ? most * 4 : 255;
        out[3 * i] = (uint8_t)(pale - (pale - 200) * shown / 255);
        out[3 * i + 1] = out[3 * i + 2] = (uint8_t)(pale - pale * shown / 255);
    }
    stbi_write_png(path, a->width, a->height, 3, out, 3 * a->width);
    free(out);
}

/* ---- the list ---- */

typedef struct entry {
    char name[64], arguments[256];
} entry;

static uint32_t read_list(entry out[MOST_PICTURES])
{
    FILE *file = fopen(SACCADE_REFERENCES "/list.txt", "r");
    uint32_t count = 0;
    char line[512];
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && count < MOST_PICTURES) {
        if (line[0] == '#' || sscanf(line, "%63s %255[^\n]", out[count].name, out[count].arguments) != 2)
            continue;
        count++;
    }
    fclose(file);
    return count;
}

static const char *wanted;
static bool no_lavapipe; /* another device draws other pictures */

/* Draws; complaints go to the file `complaint` and from there to standard error. */
static bool draw(const entry *what, const char *path, const char *complaint)
{
    char command[4096], text[512] = "";
    snprintf(command, sizeof command,
             "'%s' render %s --credits --device llvmpipe --size 400x250 --quiet -o '%s' 2>'%s'",
             SACCADE_PROGRAM, what->arguments, path, complaint);
    bool drawn = system(command) == 0;
    FILE *file = fopen(complaint, "r");
    if (file) {
        size_t length = fread(text, 1, sizeof text - 1, file);
        text[length] = 0;
        fclose(file);
        remove(complaint);
    }
    fputs(text, stderr);
    no_lavapipe = !drawn && (strstr(text, "llvmpipe") || strstr(text, "Vulkan"));
    if (no_lavapipe)
        puts("SKIPPED: no lavapipe to draw with; scripts/install-packages installs mesa-vulkan-drivers");
    return drawn;
}

static void picture_is_as_it_was(void **state)
{
    (void)state;
    entry list[MOST_PICTURES];
    uint32_t count = read_list(list), i = 0;
    while (i < count && strcmp(list[i].name, wanted)) i++;
    if (i == count) fail_msg("%s is not in tests/references/list.txt", wanted);
    char fresh[1024], old[1024], off[1024], complaint[1024];
    snprintf(fresh, sizeof fresh, "%s/%s-new.png", SACCADE_PICTURES, wanted);
    snprintf(off, sizeof off, "%s/%s-difference.png", SACCADE_PICTURES, wanted);
    snprintf(old, sizeof old, "%s/%s.png", SACCADE_REFERENCES, wanted);
    snprintf(complaint, sizeof complaint, "%s/%s.txt", SACCADE_PICTURES, wanted);
    mkdir(SACCADE_PICTURES, 0777);
    remove(fresh), remove(off);
    if (!draw(&list[i], fresh, complaint)) {
        if (no_lavapipe) return;
        fail_msg("could not draw %s", wanted);
    }
    picture a = load(old), b = load(fresh);
    if (!a.rgb) fail_msg("%s is missing; scripts/make-references makes it", old);
    assert_non_null(b.rgb);
    difference d = compare(&a, &b);
    print_message("%s: mean difference %.3f, %.3f %% of pixels off\n", wanted, d.mean, 100 * d.off);
    if (!d.alike) write_difference(off, &a, &b);
    stbi_image_free(a.rgb), stbi_image_free(b.rgb);
    if (!d.alike)
        fail_msg("%s has changed (allowed: %.1f and %.1f %%): see %s and %s; when it is meant to be so, run "
                 "scripts/make-references and look at it",
                 wanted, MOST_MEAN, 100 * MOST_OFF, fresh, off);
    remove(fresh);
}

/* ---- the comparison ---- */

static picture copy_of(const picture *from)
{
    picture p = *from;
    size_t size = 3 * (size_t)p.width * (size_t)p.height;
    p.rgb = malloc(size);
    assert_non_null(p.rgb);
    memcpy(p.rgb, from->rgb, size);
    return p;
}

static void rounding_passes_and_nothing_else(void **state)
{
    (void)state;
    entry list[MOST_PICTURES];
    uint32_t count = read_list(list);
    assert_true(count >= 11);
    picture pictures[MOST_PICTURES] = {{0}};
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        char path[1024];
        struct stat info;
        snprintf(path, sizeof path, "%s/%.63s.png", SACCADE_REFERENCES, list[i].name);
        pictures[i] = load(path);
        if (!pictures[i].rgb) fail_msg("%s is missing; scripts/make-references makes it", path);
        if (stat(path, &info) == 0) bytes += (size_t)info.st_size;
        /* No two say the same: a switch that does nothing would be noticed. */
        for (uint32_t k = 0; k < i; k++)
            if (compare(&pictures[i], &pictures[k]).alike)
                fail_msg("%s and %s look the same", list[i].name, list[k].name);
    }
    assert_true(bytes < 1500000);
    for (uint32_t i = 0; i < count; i++) {
        const picture *p = &pictures[i];
        size_t size = 3 * (size_t)p->width * (size_t)p->height;
        picture q = copy_of(p);
        for (size_t k = 0; k < size; k++) /* shades off by one */
            q.rgb[k] = (uint8_t)(k % 3 == 0 && q.rgb[k] < 255 ? q.rgb[k] + 1 : q.rgb[k]);
        assert_true(compare(p, &q).alike);
        memcpy(q.rgb, p->rgb, size);
        for (int y = 60; y < 110; y++) /* a body less, or one of another colour */
            for (int x = 150; x < 200; x++)
                for (int k = 0; k < 3; k++) q.rgb[3 * (y * p->width + x) + k] ^= 0x80;
        assert_false(compare(p, &q).alike);
        memcpy(q.rgb, p->rgb, size);
        for (size_t k = 0; k < size; k++) /* a little brighter all over */
            q.rgb[k] = (uint8_t)(q.rgb[k] + (255 - q.rgb[k]) / 16);
        assert_false(compare(p, &q).alike);
        free(q.rgb);
    }
    picture other = copy_of(&pictures[0]);
    other.height /= 2;
    assert_false(compare(&pictures[0], &other).alike);
    free(other.rgb);
    for (uint32_t i = 0; i < count; i++) stbi_image_free(pictures[i].rgb);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_passes_and_nothing_else)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    wanted = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(picture_is_as_it_was)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return no_lavapipe ? SKIPPED : failed;
}
