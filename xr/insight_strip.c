/* Frame times as a strip, and what the colours mean. */
#include "xr/insight_internal.h"

#include <stdio.h>

/* Stages a person tells apart, in the order they run. */
typedef enum part { PART_PAIRS, PART_DESCENT, PART_RESPONSE, PART_REST, PARTS } part;
static const char *const PART_NAMES[PARTS] = {"pairs", "descent", "response", "rest"};
/* Lightness alternates, so that neighbours differ whatever the eye makes of the hue. */
static const uint32_t PART_COLOURS[PARTS] = {0xFFB2724Fu, 0xFF6ED2F0u, 0xFF7A9A2Au, 0xFFA779CCu};

#define GROUND 0xE62A221Cu
#define INK 0xFFF2EEEAu
#define FAINT 0xFFA79C92u
#define BUDGET 0xFFFFFFFFu
#define KEPT 0xFFB5E08Eu
#define RETURNED 0x50D8C8B8u
#define OVER 0xFF3C4CFFu

static uint64_t part_ns(const sac_step_report *r, part p)
{
    const uint64_t *s = r->stage_ns;
    switch (p) {
    case PART_PAIRS:
        return s[SAC_STAGE_PREPARE] + s[SAC_STAGE_BROAD] + s[SAC_STAGE_PERCEIVE];
    case PART_DESCENT:
        return s[SAC_STAGE_DESCEND];
    case PART_RESPONSE:
        return s[SAC_STAGE_CONTACTS] + s[SAC_STAGE_SOLVE];
    default:
        return s[SAC_STAGE_SWEEP] + s[SAC_STAGE_FINISH];
    }
}

/* The i-th of the frames kept, the oldest first. */
static const sac_step_report *frame_at(const sac_insight *insight, uint32_t i)
{
    uint32_t first = insight->frame_next + SAC_INSIGHT_FRAMES - insight->frame_count;
    return &insight->frames[(first + i) % SAC_INSIGHT_FRAMES];
}

/* What the plot's height stands for: the largest budget and a quarter; without one, the longest frame. */
static double top_ns(const sac_insight *insight)
{
    uint64_t budget = 0, spent = 1;
    for (uint32_t i = 0; i < insight->frame_count; i++) {
        const sac_step_report *r = frame_at(insight, i);
        if (r->budget_ns > budget) budget = r->budget_ns;
        if (r->spent_ns > spent) spent = r->spent_ns;
    }
    return budget ? 1.25 * (double)budget : 1.1 * (double)spent;
}

typedef struct plot {
    sac_canvas *canvas;
    float x, y, w, h, column;
    double top;
} plot;

static float height_of(const plot *p, double ns)
{
    double share = ns / p->top;
    return p->h * (float)(share < 1 ? share : 1);
}

static bool draw_frame(const plot *p, float x, const sac_step_report *r)
{
    float at = 0, w = p->column;
    double sum = 0;
    for (int k = 0; k < PARTS; k++) {
        sum += (double)part_ns(r, (part)k);
        float to = height_of(p, sum);
        if (to > at && !sac_canvas_rect(p->canvas, x, p->y + at, w, to - at, PART_COLOURS[k])) return false;
        at = to;
    }
    if (!r->budget_ns) return true;
    float budget = height_of(p, (double)r->budget_ns), spent = height_of(p, (double)r->spent_ns);
    if (spent > budget) return sac_canvas_rect(p->canvas, x, p->y + budget, w, spent - budget, OVER);
    return spent == budget || sac_canvas_rect(p->canvas, x, p->y + spent, w, budget - spent, RETURNED);
}

static double budget_of(const sac_step_report *r) { return (double)r->budget_ns; }
static double kept_from(const sac_step_report *r)
{
    return r->reserved_ns < r->budget_ns ? (double)(r->budget_ns - r->reserved_ns) : 0;
}

/* A level line over all frames, one piece as long as it stays the same. */
static bool draw_level(const plot *p, const sac_insight *insight, double (*value)(const sac_step_report *),
                       float thick, uint32_t colour)
{
    uint32_t n = insight->frame_count, from = 0;
    float left = p->x + p->w - p->column * (float)n;
    for (uint32_t i = 1; i <= n; i++) {
        float here = height_of(p, value(frame_at(insight, from)));
        if (i < n && fabsf(height_of(p, value(frame_at(insight, i))) - here) < 0.5f) continue;
        if (here > 0 &&
            !sac_canvas_rect(p->canvas, left + p->column * (float)from, p->y + here - 0.5f * thick,
                             p->column * (float)(i - from), thick, colour))
            return false;
        from = i;
    }
    return true;
}

/* "1.62": milliseconds, or more digits where there is little. */
static void write_ms(char *out, size_t size, double ns)
{
    snprintf(out, size, ns > 0 && ns < 10000 ? "%.3f" : ns < 10e6 ? "%.2f" : "%.1f", ns * 1e-6);
}

/* The last frames' mean: single frames flicker too fast to read. */
static void write_head(const sac_insight *insight, char *left, char *right, size_t size)
{
    double spent = 0, budget = 0, returned = 0, reserved = 0;
    int64_t worst = INT64_MIN;
    uint32_t n = insight->frame_count < 30 ? insight->frame_count : 30;
    for (uint32_t i = 0; i < insight->frame_count; i++) {
        const sac_step_report *r = frame_at(insight, i);
        if (r->budget_ns && r->overshoot_ns > worst) worst = r->overshoot_ns;
        if (i + n < insight->frame_count) continue;
        spent += (double)r->spent_ns / n;
        budget += (double)r->budget_ns / n;
        returned += (double)r->returned_ns / n;
        reserved += (double)r->reserved_ns / n;
    }
    char a[16], b[16], c[16], d[16], e[16], missed[40] = "";
    write_ms(a, sizeof a, spent);
    write_ms(b, sizeof b, budget);
    write_ms(c, sizeof c, returned);
    write_ms(d, sizeof d, worst > 0 ? (double)worst : 0);
    write_ms(e, sizeof e, reserved);
    if (budget > 0)
        snprintf(left, size, "physics %s of %s ms", a, b);
    else
        snprintf(left, size, "physics %s ms, no budget", a);
    if (insight->missed)
        snprintf(missed, sizeof missed, "  missed %llu", (unsigned long long)insight->missed);
    if (budget > 0)
        snprintf(right, size, "kept %s  returned %s  worst +%s%s", e, c, d, missed);
    else
        snprintf(right, size, "%s", missed);
}

static bool draw_key(sac_canvas *canvas, float *x, float y, float size, uint32_t colour, bool line,
                     const char *name)
{
    float box = 0.7f * size;
    bool ok = line ? sac_canvas_rect(canvas, *x, y + 0.4f * box, box, 0.25f * box, colour)
                   : sac_canvas_rect(canvas, *x, y, box, box, colour);
    ok = ok && sac_canvas_text(canvas, *x + 1.35f * box, y, size, INK, name);
    *x += 1.35f * box + sac_canvas_text_width(size, name) + 0.9f * size;
    return ok;
}

static float keys_width(float size)
{
    static const char *const ALL[] = {"pairs", "descent", "response", "rest", "kept", "returned", "over"};
    float sum = 0;
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        sum += 1.35f * 0.7f * size + sac_canvas_text_width(size, ALL[i]) + 0.9f * size;
    return sum;
}

static bool draw_keys(sac_canvas *canvas, float x, float y, float width, float size)
{
    float needed = keys_width(size);
    if (needed > width) size *= width / needed;
    bool ok = true;
    for (int k = 0; k < PARTS; k++)
        ok = ok && draw_key(canvas, &x, y, size, PART_COLOURS[k], false, PART_NAMES[k]);
    ok = ok && draw_key(canvas, &x, y, size, KEPT, true, "kept");
    ok = ok && draw_key(canvas, &x, y, size, RETURNED, false, "returned");
    return ok && draw_key(canvas, &x, y, size, OVER, false, "over");
}

static bool draw_scale(const plot *p, float size)
{
    char text[24];
    double budget = p->top / 1.25;
    write_ms(text, sizeof text, budget);
    float wide = sac_canvas_text_width(size, text);
    bool ok = sac_canvas_text(p->canvas, p->x - wide - 0.4f * size, p->y + height_of(p, budget) - 0.3f * size,
                              size, FAINT, text);
    wide = sac_canvas_text_width(size, "0");
    ok = ok && sac_canvas_text(p->canvas, p->x - wide - 0.4f * size, p->y, size, FAINT, "0");
    wide = sac_canvas_text_width(size, "ms");
    ok = ok && sac_canvas_text(p->canvas, p->x - wide - 0.4f * size, p->y + 0.4f * p->h, size, FAINT, "ms");
    return ok && sac_canvas_rect(p->canvas, p->x, p->y - 1, p->w, 1, FAINT);
}

bool sac_insight_strip(const sac_insight *insight, sac_canvas *canvas, float width, float height)
{
    float size = height / 11, pad = 0.7f * size;
    char left[96], right[128];
    if (!(width > 8 * size && height > 0)) return true;
    if (!sac_canvas_rect(canvas, 0, 0, width, height, GROUND)) return false;
    plot p = {canvas, pad + 3 * size, 2.4f * size, 0, 0, 0, top_ns(insight)};
    p.w = width - p.x - pad;
    p.h = height - p.y - 2.2f * size;
    p.column = p.w / SAC_INSIGHT_FRAMES;
    float start = p.x + p.w - p.column * (float)insight->frame_count;
    for (uint32_t i = 0; i < insight->frame_count; i++)
        if (!draw_frame(&p, start + p.column * (float)i, frame_at(insight, i))) return false;
    float thin = size / 10;
    if (!draw_level(&p, insight, kept_from, thin, KEPT) || !draw_level(&p, insight, budget_of, thin, BUDGET))
        return false;
    if (!draw_scale(&p, 0.85f * size) || !draw_keys(canvas, p.x, 0.75f * size, p.w, size)) return false;
    write_head(insight, left, right, sizeof left);
    float y = height - 1.45f * size, big = 1.2f * size;
    float room = width - 2 * pad - sac_canvas_text_width(big, left) - size;
    if (!sac_canvas_text(canvas, pad, y, big, INK, left)) return false;
    /* Smaller where it is narrow, but not too small to read. */
    float small = size * fminf(1, room / sac_canvas_text_width(size, right));
    if (!*right || !(small > 0.6f * size)) return true;
    return sac_canvas_text(canvas, width - pad - sac_canvas_text_width(small, right), y, small,
                           insight->missed ? OVER : FAINT, right);
}

/* ---- what the colours mean ---- */

static bool swatch(sac_canvas *canvas, float x, float *y, float size, uint32_t colour, const char *text)
{
    bool ok = sac_canvas_rect(canvas, x, *y, 1.4f * size, 0.75f * size, colour) &&
              sac_canvas_text(canvas, x + 1.9f * size, *y + 0.05f * size, size, INK, text);
    *y += 1.25f * size;
    return ok;
}

static bool title(sac_canvas *canvas, float x, float *y, float size, const char *text)
{
    bool ok = sac_canvas_text(canvas, x, *y + 0.2f * size, 1.1f * size, INK, text);
    *y += 1.7f * size;
    return ok;
}

static uint32_t row_count(const sac_insight *insight)
{
    uint32_t rows = 0;
    if (insight->paint == SAC_PAINT_GROUP) rows += insight->groups + 2;
    if (insight->paint == SAC_PAINT_LEVEL) rows += insight->levels + 1 + 2;
    if (insight->paint == SAC_PAINT_JND) rows += 5 + 2;
    if (insight->contacts) rows += 2;
    return rows + insight->front + insight->gaze + insight->rings;
}

static bool paint_rows(const sac_insight *insight, sac_canvas *canvas, float x, float *y, float size)
{
    char text[48];
    bool ok = swatch(canvas, x, y, size, SAC_INSIGHT_ASLEEP, "asleep") &&
              swatch(canvas, x, y, size, SAC_INSIGHT_ALONE, "meets nobody");
    if (insight->paint == SAC_PAINT_GROUP) {
        for (uint32_t g = insight->groups; ok && g-- > 0;) {
            snprintf(text, sizeof text, g == 0 ? "%u: served first" : "%u", g);
            ok = swatch(canvas, x, y, size, sac_insight_group_colour(insight, g), text);
        }
        return ok && title(canvas, x, y, size, "priority group");
    }
    if (insight->paint == SAC_PAINT_LEVEL) {
        for (uint32_t l = 0; ok && l <= insight->levels; l++) {
            snprintf(text, sizeof text,
                     l == 0                 ? "%u: one sphere"
                     : l == insight->levels ? "%u: finest"
                                            : "%u",
                     l);
            ok = swatch(canvas, x, y, size, sac_insight_level_colour(insight, l), text);
        }
        return ok && title(canvas, x, y, size, "level of contacts");
    }
    static const float JND[] = {0, 1, 3, 8, SAC_INSIGHT_JND_MOST};
    static const char *const NAMES[] = {"0", "1: just noticeable", "3", "8", "16 and more"};
    for (int i = 0; ok && i < 5; i++)
        ok = swatch(canvas, x, y, size, sac_insight_jnd_colour(JND[i]), NAMES[i]);
    return ok && title(canvas, x, y, size, "visible error left, JND");
}

bool sac_insight_legend(const sac_insight *insight, sac_canvas *canvas, float x, float y, float size)
{
    uint32_t rows = row_count(insight);
    if (!rows) return true;
    bool painted = insight->paint != SAC_PAINT_MATERIAL;
    float height = 1.25f * size * (float)rows + (painted ? 1.7f * size : 0) + 1.1f * size;
    float wide = sac_canvas_text_width(1.1f * size, "visible error left, JND") + 1.6f * size;
    if (!sac_canvas_rect(canvas, x, y, wide, height, GROUND)) return false;
    x += 0.7f * size, y += 0.7f * size;
    bool ok = true;
    if (insight->rings) ok = ok && swatch(canvas, x, &y, size, SAC_INSIGHT_RING, "eccentricity");
    if (insight->gaze) ok = ok && swatch(canvas, x, &y, size, SAC_INSIGHT_GAZE, "gaze");
    if (insight->contacts) {
        ok = ok && swatch(canvas, x, &y, size, SAC_INSIGHT_NEAR, "contact, no force");
        ok = ok && swatch(canvas, x, &y, size, SAC_INSIGHT_IMPULSE, "impulse");
    }
    if (insight->front) {
        float cell = 1.4f * size / (float)(insight->levels + 1);
        for (uint32_t l = 0; ok && l <= insight->levels; l++)
            ok = sac_canvas_rect(canvas, x + cell * (float)l, y, cell, 0.75f * size,
                                 sac_insight_level_colour(insight, l));
        ok = ok && swatch(canvas, x, &y, size, 0, "front, coarse to fine");
    }
    return ok && (!painted || paint_rows(insight, canvas, x, &y, size));
}
