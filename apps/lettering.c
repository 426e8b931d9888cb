/* The program's own lettering: letters as pen strokes (lines and arcs of ellipses), drawn with a round pen.
 * A glyph is text: "L x,y x,y ..." a line through points, "A cx,cy rx,ry from,to" an arc in degrees.
 * Baseline at 0, small letters 5 high, capitals 7. */
#include "apps/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct glyph {
    float width;
    const char *strokes;
} glyph;

static const glyph glyphs[128] = {
    ['0'] = {4, "A 2,3.5 2,3.5 0,360"},
    ['1'] = {4, "L .8,5.5 2.4,7 2.4,0"},
    ['2'] = {4, "A 2,5 2,2 165,-35 L 3.64,3.85 0,0 4.1,0"},
    ['3'] = {4, "A 1.9,5.25 1.8,1.75 155,-90 A 1.9,1.75 2.1,1.75 90,-155"},
    ['4'] = {4, "L 3.1,0 3.1,7 -.1,2 4.2,2"},
    ['5'] = {4, "L 3.7,7 .7,7 .4,3.9 A 1.9,2.25 2.1,2.25 135,-150"},
    ['6'] = {4, "A 2,2.2 2,2.2 0,360 L .2,3.1 2.7,7"},
    ['7'] = {4, "L 0,7 4,7 1.4,0"},
    ['8'] = {4, "A 2,5.3 1.7,1.7 0,360 A 2,1.8 2.05,1.8 0,360"},
    ['9'] = {4, "A 2,4.8 2,2.2 0,360 L 3.8,3.9 1.3,0"},
    ['a'] = {4, "A 2,2.5 2,2.5 0,360 L 4,5 4,0"},
    ['b'] = {4, "L 0,7.4 0,0 A 2,2.5 2,2.5 0,360"},
    ['c'] = {3.7f, "A 2.2,2.5 2.2,2.5 45,315"},
    ['d'] = {4, "L 4,7.4 4,0 A 2,2.5 2,2.5 0,360"},
    ['e'] = {4.1f, "L .05,2.5 4.15,2.5 A 2.1,2.5 2.05,2.5 0,318"},
    ['f'] = {2.1f, "A 2.2,6 1.2,1.4 65,180 L 1,6 1,0 L 0,5 2.2,5"},
    ['g'] = {4, "A 2,2.5 2,2.5 0,360 L 4,5 4,-.4 A 2,-.4 2,1.8 0,-150"},
    ['h'] = {3.6f, "L 0,7.4 0,0 A 1.8,3.1 1.8,1.9 180,0 L 3.6,3.1 3.6,0"},
    ['i'] = {0, "L 0,5 0,0 L 0,6.9 0,6.95"},
    ['j'] = {1, "L 1,5 1,-.6 A -.2,-.6 1.2,1.5 0,-80 L 1,6.9 1,6.95"},
    ['k'] = {3.4f, "L 0,7.4 0,0 L 3.2,5 0,2 L 1.2,3.1 3.5,0"},
    ['l'] = {0, "L 0,7.4 0,0"},
    ['m'] = {6, "L 0,5 0,0 A 1.5,3.4 1.5,1.6 180,0 L 3,3.4 3,0 A 4.5,3.4 1.5,1.6 180,0 L 6,3.4 6,0"},
    ['n'] = {3.6f, "L 0,5 0,0 A 1.8,3.1 1.8,1.9 180,0 L 3.6,3.1 3.6,0"},
    ['o'] = {4.2f, "A 2.1,2.5 2.1,2.5 0,360"},
    ['p'] = {4, "L 0,5 0,-2.2 A 2,2.5 2,2.5 0,360"},
    ['q'] = {4, "L 4,5 4,-2.2 A 2,2.5 2,2.5 0,360"},
    ['r'] = {2.1f, "L 0,5 0,0 A 1.8,3.1 1.8,1.9 180,75"},
    ['s'] = {3.2f, "A 1.6,3.75 1.4,1.25 40,270 A 1.6,1.25 1.6,1.25 90,-145"},
    ['t'] = {2.2f, "L 1,6.6 1,1.3 A 2.2,1.3 1.2,1.3 180,280 L 0,5 2.2,5"},
    ['u'] = {3.6f, "L 0,5 0,1.9 A 1.8,1.9 1.8,1.9 180,360 L 3.6,5 3.6,0"},
    ['v'] = {3.6f, "L 0,5 1.8,0 3.6,5"},
    ['w'] = {5.6f, "L 0,5 1.4,0 2.8,5 4.2,0 5.6,5"},
    ['x'] = {3.4f, "L 0,5 3.4,0 L 3.4,5 0,0"},
    ['y'] = {3.6f, "L 0,5 1.8,0 L 3.6,5 1,-2.2"},
    ['z'] = {3.4f, "L 0,5 3.4,5 0,0 3.5,0"},
    ['A'] = {5.2f, "L 0,0 2.6,7 5.2,0 L .9,2.4 4.3,2.4"},
    ['B'] = {4.4f,
             "L 2.2,3.6 0,3.6 L 0,0 0,7 2.2,7 A 2.2,5.3 1.8,1.7 90,-90 A 2.4,1.8 2,1.8 90,-90 L 2.4,0 0,0"},
    ['C'] = {5.3f, "A 3.2,3.5 3.2,3.5 48,312"},
    ['D'] = {4.8f, "L 0,0 0,7 1.8,7 A 1.8,3.5 3,3.5 90,-90 L 1.8,0 0,0"},
    ['E'] = {3.8f, "L 3.8,7 0,7 0,0 3.8,0 L 0,3.6 3.2,3.6"},
    ['F'] = {3.7f, "L 3.8,7 0,7 0,0 L 0,3.6 3.2,3.6"},
    ['G'] = {6.2f, "A 3.2,3.5 3.2,3.5 48,352 L 6.37,3.2 3.6,3.2"},
    ['H'] = {4.8f, "L 0,0 0,7 L 4.8,0 4.8,7 L 0,3.6 4.8,3.6"},
    ['I'] = {0, "L 0,0 0,7"},
    ['J'] = {2.8f, "L 2.8,7 2.8,1.8 A 1.2,1.8 1.6,1.8 0,-170"},
    ['K'] = {4.5f, "L 0,0 0,7 L 4.3,7 0,2.8 L 1.5,4.2 4.6,0"},
    ['L'] = {3.6f, "L 0,7 0,0 3.6,0"},
    ['M'] = {6, "L 0,0 0,7 3,2.2 6,7 6,0"},
    ['N'] = {4.8f, "L 0,0 0,7 4.8,0 4.8,7"},
    ['O'] = {6.8f, "A 3.4,3.5 3.4,3.5 0,360"},
    ['P'] = {4.4f, "L 0,0 0,7 2.4,7 A 2.4,5.1 2,1.9 90,-90 L 2.4,3.2 0,3.2"},
    ['Q'] = {6.8f, "A 3.4,3.5 3.4,3.5 0,360 L 4.4,1.6 6.6,-.6"},
    ['R'] = {4.5f, "L 0,0 0,7 2.4,7 A 2.4,5.1 2,1.9 90,-90 L 2.4,3.2 0,3.2 L 2.2,3.2 4.5,0"},
    ['S'] = {4.3f, "A 2.2,5.3 2,1.7 40,270 A 2.2,1.8 2.2,1.8 90,-145"},
    ['T'] = {5, "L 0,7 5,7 L 2.5,7 2.5,0"},
    ['U'] = {4.6f, "L 0,7 0,2.4 A 2.3,2.4 2.3,2.4 180,360 L 4.6,2.4 4.6,7"},
    ['V'] = {5, "L 0,7 2.5,0 5,7"},
    ['W'] = {7.4f, "L 0,7 1.8,0 3.7,7 5.6,0 7.4,7"},
    ['X'] = {4.6f, "L 0,7 4.6,0 L 4.6,7 0,0"},
    ['Y'] = {4.8f, "L 0,7 2.4,3.4 4.8,7 L 2.4,3.4 2.4,0"},
    ['Z'] = {4.6f, "L 0,7 4.6,7 0,0 4.7,0"},
    ['.'] = {.2f, "L .1,.1 .1,.15"},
    [','] = {.6f, "L .5,.3 .1,-1.2"},
    [':'] = {.2f, "L .1,.2 .1,.25 L .1,4.3 .1,4.35"},
    ['%'] = {6.3f, "A 1.3,5.6 1.3,1.4 0,360 A 5,1.4 1.3,1.4 0,360 L 5.2,7 1.1,0"},
    ['/'] = {2.8f, "L 2.8,7.4 0,-.6"},
    ['('] = {1.4f, "A 4,3.2 4,5.5 135,225"},
    [')'] = {1.4f, "A -2.6,3.2 4,5.5 45,-45"},
    ['-'] = {2.6f, "L 0,2.8 2.6,2.8"},
    ['+'] = {4, "L 0,2.8 4,2.8 L 2,4.8 2,.8"},
    ['='] = {4, "L 0,3.7 4,3.7 L 0,1.9 4,1.9"},
    ['\''] = {.2f, "L .1,7.2 .1,5.6"},
    ['_'] = {4, "L 0,-1 4,-1"},
    [' '] = {1.4f, ""},
};

static const float LETTER_SPACE = 1.55f, CAPITAL = 7.0f;

static const glyph *glyph_of(char c)
{
    unsigned char u = (unsigned char)c;
    return u < 128 && glyphs[u].strokes ? &glyphs[u] : &glyphs[' '];
}

float sac_picture_text_width(float size, const char *text)
{
    float width = 0;
    for (const char *p = text; *p; p++) width += glyph_of(*p)->width + (p[1] ? LETTER_SPACE : 0);
    return width * size / CAPITAL;
}

enum { MOST_SEGMENTS = 160, ARC_STEPS = 28 };

typedef struct segments {
    float ends[MOST_SEGMENTS][4];
    int count;
} segments;

static void add_segment(segments *s, float x0, float y0, float x1, float y1)
{
    if (s->count >= MOST_SEGMENTS) return;
    float *e = s->ends[s->count++];
    e[0] = x0, e[1] = y0, e[2] = x1, e[3] = y1;
}

/* The glyph as short lines, in pixels with y down from the pen's place. */
static void trace(const glyph *g, float scale, segments *out)
{
    const char *p = g->strokes;
    out->count = 0;
    while (*p) {
        char kind = *p++, *end;
        float v[16];
        int n = 0;
        for (; n < 16; n++, p = end + (*end == ',')) {
            v[n] = strtof(p, &end);
            if (end == p) break;
        }
        p += strspn(p, " ");
        if (kind == 'L')
            for (int i = 2; i + 1 < n; i += 2)
                add_segment(out, v[i - 2] * scale, -v[i - 1] * scale, v[i] * scale, -v[i + 1] * scale);
        for (int i = 0; kind == 'A' && n == 6 && i < ARC_STEPS; i++) {
            float a = (v[4] + (v[5] - v[4]) * (float)i / ARC_STEPS) * 0.01745329f,
                  b = (v[4] + (v[5] - v[4]) * (float)(i + 1) / ARC_STEPS) * 0.01745329f;
            add_segment(out, (v[0] + v[2] * cosf(a)) * scale, -(v[1] + v[3] * sinf(a)) * scale,
                        (v[0] + v[2] * cosf(b)) * scale, -(v[1] + v[3] * sinf(b)) * scale);
        }
    }
}

static float segment_distance(const float e[4], float x, float y)
{
    float dx = e[2] - e[0], dy = e[3] - e[1], px = x - e[0], py = y - e[1], l2 = dx * dx + dy * dy;
    float t = l2 > 0 ? fminf(1, fmaxf(0, (px * dx + py * dy) / l2)) : 0;
    px -= t * dx, py -= t * dy;
    return sqrtf(px * px + py * py);
}

static void draw_glyph(sac_picture *picture, const segments *s, float x, float y, float half,
                       const float colour[3])
{
    float low[2] = {1e9f, 1e9f}, high[2] = {-1e9f, -1e9f};
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < 4; k++) {
            low[k % 2] = fminf(low[k % 2], s->ends[i][k]);
            high[k % 2] = fmaxf(high[k % 2], s->ends[i][k]);
        }
    if (!s->count) return;
    int x0 = (int)floorf(x + low[0] - half - 1), x1 = (int)ceilf(x + high[0] + half + 1);
    int y0 = (int)floorf(y + low[1] - half - 1), y1 = (int)ceilf(y + high[1] + half + 1);
    for (int py = y0 < 0 ? 0 : y0; py <= y1 && py < (int)picture->height; py++) {
        for (int px = x0 < 0 ? 0 : x0; px <= x1 && px < (int)picture->width; px++) {
            float d = 1e9f;
            for (int i = 0; i < s->count; i++)
                d = fminf(d, segment_distance(s->ends[i], (float)px + 0.5f - x, (float)py + 0.5f - y));
            float cover = fminf(1, fmaxf(0, half - d + 0.5f));
            float *pixel = picture->pixels[(size_t)py * picture->width + (size_t)px];
            for (int k = 0; k < 3; k++) pixel[k] += cover * (colour[k] - pixel[k]);
        }
    }
}

void sac_picture_text(sac_picture *picture, float x, float y, float size, float weight, sac_text_place place,
                      const float colour[3], const char *text)
{
    float scale = size / CAPITAL, width = sac_picture_text_width(size, text);
    segments s;
    if (place == SAC_TEXT_MIDDLE) x -= width / 2;
    if (place == SAC_TEXT_RIGHT) x -= width;
    for (const char *p = text; *p; p++) {
        const glyph *g = glyph_of(*p);
        trace(g, scale, &s);
        draw_glyph(picture, &s, x, y, 0.42f * weight * scale, colour);
        x += (g->width + LETTER_SPACE) * scale;
    }
}
