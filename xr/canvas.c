/* Rectangles, lines and text in the plane, as quads. Letters come from a texture of distances made at build
 * time, so they stay sharp at any size. */
#include "xr/renderer_parts_internal.h"

#include <math.h>

#include <sac_letters.h>

/* Capitals are this much of the size. */
static const float capital = 0.7f;

void sac_canvas_clear(sac_canvas *canvas) { canvas->quads.count = 0; }

void sac_canvas_fini(sac_canvas *canvas) { sac_array_fini(&canvas->quads); }

bool sac_canvas_rect(sac_canvas *canvas, float x, float y, float w, float h, uint32_t colour)
{
    return sac_array_push(&canvas->quads,
                          (sac_canvas_quad){.x = x, .y = y, .w = w, .h = h, .ax = 1, .colour = colour});
}

bool sac_canvas_line(sac_canvas *canvas, float x0, float y0, float x1, float y1, float width, uint32_t colour)
{
    const float dx = x1 - x0, dy = y1 - y0, length = sqrtf(dx * dx + dy * dy);
    const float ax = length > 0 ? dx / length : 1, ay = length > 0 ? dy / length : 0;
    return sac_array_push(&canvas->quads, (sac_canvas_quad){
                                              .x = x0 + 0.5f * width * ay,
                                              .y = y0 - 0.5f * width * ax,
                                              .w = length,
                                              .h = width,
                                              .ax = ax,
                                              .ay = ay,
                                              .colour = colour,
                                          });
}

/* The next character; what is not UTF-8 comes out as 0xFFFD, a byte at a time. */
static uint32_t next_code(const char **text)
{
    const uint8_t *s = (const uint8_t *)*text;
    uint32_t more = s[0] < 0x80 ? 0 : s[0] >= 0xF0 ? 3 : s[0] >= 0xE0 ? 2 : s[0] >= 0xC0 ? 1 : 4;
    uint32_t code = more == 0 ? s[0] : s[0] & (0x3Fu >> more);
    ++*text;
    if (more == 4) return 0xFFFD;
    for (uint32_t i = 1; i <= more; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0xFFFD;
        code = code << 6 | (s[i] & 0x3F);
    }
    *text += more;
    return code;
}

static const letter *find(uint32_t code)
{
    uint32_t low = 0, high = LETTER_COUNT;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (letters[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < LETTER_COUNT && letters[low].code == code) return &letters[low];
    return code == 0x25A1 ? &letters[0] : find(0x25A1); /* a box */
}

bool sac_canvas_text(sac_canvas *canvas, float x, float y, float size, uint32_t colour, const char *text)
{
    const float k = capital * size;
    const size_t before = canvas->quads.count;
    while (*text) {
        const letter *l = find(next_code(&text));
        sac_canvas_quad quad = {
            .x = x + l->left * k,
            .y = y + l->bottom * k,
            .w = l->width * k,
            .h = l->height * k,
            .u = l->u,
            .v = l->v,
            .uw = l->uw,
            .vh = l->vh,
            .ax = 1,
            .colour = colour,
        };
        if (l->width > 0 && !sac_array_push(&canvas->quads, quad)) {
            canvas->quads.count = before;
            return false;
        }
        x += l->advance * k;
    }
    return true;
}

float sac_canvas_text_width(float size, const char *text)
{
    float sum = 0;
    while (*text) sum += find(next_code(&text))->advance;
    return sum * capital * size;
}

const uint8_t *sac_letters(uint32_t *out_width, uint32_t *out_height)
{
    *out_width = LETTERS_WIDTH, *out_height = LETTERS_HEIGHT;
    return letter_texture;
}
