#include "apps/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Okabe and Ito's colours, darkened on white and lightened on black where thin lines would fade. */
static const char style[] =
    "<style>.charts.steady{grid-template-columns:repeat(auto-fill,minmax(min(100%,430px),1fr))}.k0{--c:#"
    "0b6aa8}.k1{--c:"
    "#c65a00}.k2{--c:#00845f}.k3{--c:#b5609a}.k4{--c:#a87b00}"
    ".k5{--c:#3f9fd6}.k6{--c:#5a5f66}.k7{--c:#7a4fbf}"
    "@media(prefers-color-scheme:dark){.k0{--c:#66b3e6}.k1{--c:#f5914d}.k2{--c:#3fc79d}.k3{--c:#e09cc8}"
    ".k4{--c:#e6c04a}.k5{--c:#a8daf7}.k6{--c:#b4bac2}.k7{--c:#b99bf0}}"
    /* On a narrow screen a wide chart is scrolled, not shrunk until nobody can read it. */
    ".chart.wide{grid-column:1/-1;overflow-x:auto}.chart.wide svg{min-width:680px}.chart "
    ".limit{stroke:var(--ink);stroke-dasharray:5 4;stroke-width:1.4}"
    ".chart .bar{fill:var(--c)}.chart .area{fill:var(--c);fill-opacity:.82}"
    ".chart .hist{fill:var(--c);fill-opacity:.28;stroke:var(--c);stroke-width:1.4}"
    ".chart .over{stroke:var(--c);stroke-width:2}.chart .axis{stroke:var(--pale)}"
    ".chart .dash{stroke-dasharray:6 4}.chart .strip{fill:none;stroke:var(--c);stroke-width:1.3;"
    "stroke-linejoin:round}.chart text.value{fill:var(--ink)}"
    ".chart text.halo{paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}"
    ".legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;margin:2px 0 4px}"
    ".legend i{display:inline-block;width:14px;height:4px;border-radius:2px;background:var(--c);"
    "margin-right:6px;vertical-align:middle}.legend .dash i{background:none;border-top:2px dashed var(--c);"
    "height:0}.chart .note{color:var(--pale);font-size:13px;margin:2px 0 8px;max-width:100ch}</style>";

/* Above the plot lie the ticks of what is over the limit, down to 12, and below them the name of the upright
 * axis. MOST_TICKS: a step may be too small to be seen beside what it is added to. */
enum { LEFT = 52, RIGHT = 14, TOP = 34, BOTTOM = 38, MOST_TICKS = 32 };

typedef struct frame {
    double width, height, left, right, bottom;
    double x0, x1, y0, y1;           /* the values at the edges; y0, y1 logarithms when `logarithmic` */
    bool logarithmic, logarithmic_x; /* then x0, x1 are logarithms too */
} frame;

static uint32_t colour_of(const sac_chart_series *s, uint32_t index)
{
    return (s->colour ? s->colour - 1 : index) % SAC_CHART_COLOURS;
}

static double at_x(const frame *f, double x)
{
    if (f->logarithmic_x) x = x > 0 ? log10(x) : f->x0;
    double t = f->x1 > f->x0 ? (x - f->x0) / (f->x1 - f->x0) : 0.5;
    return f->left + fmin(1, fmax(0, t)) * (f->width - f->left - f->right);
}

static double at_y(const frame *f, double y)
{
    if (f->logarithmic) y = y > 0 ? log10(y) : f->y0;
    double t = f->y1 > f->y0 ? (y - f->y0) / (f->y1 - f->y0) : 0;
    return f->height - f->bottom - fmin(1, fmax(0, t)) * (f->height - TOP - f->bottom);
}

/* 1, 2 or 5 times a power of ten, about `parts` of them in `range`. */
static double tick_step(double range, double parts)
{
    double raw = range / parts, power = pow(10, floor(log10(raw))), m = raw / power;
    return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static const char *number(char out[32], double value)
{
    if (fabs(value) >= 1e6)
        snprintf(out, 32, "%.3gM", value * 1e-6);
    else if (fabs(value) >= 1e4)
        snprintf(out, 32, "%.3gk", value * 1e-3);
    else
        snprintf(out, 32, "%.4g", fabs(value) < 1e-12 ? 0.0 : value);
    return out;
}

/* ---- frame ---- */

static void begin(sac_page *page, const sac_chart_def *def, const sac_chart_series *series, uint32_t count,
                  const frame *f)
{
    sac_page_add(page, "<div class=\"chart%s\"><h3>", def->wide ? " wide" : "");
    sac_page_text(page, def->title ? def->title : "");
    sac_page_add(page, "</h3>");
    if (count > 1 || (count == 1 && series[0].name)) {
        sac_page_add(page, "<div class=\"legend\">");
        for (uint32_t i = 0; i < count; i++) {
            sac_page_add(page, "<span class=\"k%u%s\"><i></i>", colour_of(&series[i], i),
                         series[i].dashed ? " dash" : "");
            sac_page_text(page, series[i].name ? series[i].name : "");
            sac_page_add(page, "</span>");
        }
        sac_page_add(page, "</div>");
    }
    sac_page_add(page, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", f->width, f->height);
    sac_page_text(page, def->title ? def->title : "chart");
    sac_page_add(page, "\">\n");
}

static void end(sac_page *page, const sac_chart_def *def)
{
    sac_page_add(page, "</svg>");
    if (def->note) {
        sac_page_add(page, "<p class=\"note\">");
        sac_page_text(page, def->note);
        sac_page_add(page, "</p>");
    }
    sac_page_add(page, "</div>\n");
}

static void empty(sac_page *page, const sac_chart_def *def)
{
    frame f = {.width = 460, .height = 60};
    begin(page, def, NULL, 0, &f);
    sac_page_add(page, "<text x=\"12\" y=\"34\">nothing was measured</text>");
    end(page, def);
}

static void label_axes(sac_page *page, const frame *f, const char *x_label, const char *y_label)
{
    if (x_label) {
        sac_page_add(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", f->width - f->right,
                     f->height - 4);
        sac_page_text(page, x_label);
        sac_page_add(page, "</text>");
    }
    if (y_label) {
        sac_page_add(page, "<text x=\"%.1f\" y=\"%.1f\">", 4.0, TOP - 11.0);
        sac_page_text(page, y_label);
        sac_page_add(page, "</text>");
    }
}

static void x_tick(sac_page *page, const frame *f, double x)
{
    char text[32];
    sac_page_add(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>", at_x(f, x),
                 f->height - f->bottom + 15, number(text, x));
}

static void x_ticks(sac_page *page, const frame *f)
{
    double range = f->x1 - f->x0;
    sac_page_add(page, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>", f->left, f->height - f->bottom,
                 f->width - f->right);
    if (!(range > 0)) {
        x_tick(page, f, f->logarithmic_x ? pow(10, f->x0) : f->x0);
        return;
    }
    if (f->logarithmic_x) {
        for (int p = (int)floor(f->x0); p <= (int)ceil(f->x1); p++)
            for (int m = 1; m < 10; m += m == 1 ? 1 : m == 2 ? 3 : 5) {
                double x = m * pow(10, p);
                if ((range < 3 || m == 1) && log10(x) >= f->x0 - 1e-9 && log10(x) <= f->x1 + 1e-9)
                    x_tick(page, f, x);
            }
        return;
    }
    double step = tick_step(range, f->width > 600 ? 9 : 5);
    double first = ceil(f->x0 / step - 1e-9) * step;
    for (int i = 0; i < MOST_TICKS && first + i * step <= f->x1 + 1e-9 * range; i++)
        x_tick(page, f, first + i * step);
}

static void y_tick(sac_page *page, const frame *f, double y)
{
    char text[32];
    double at = at_y(f, y);
    sac_page_add(page,
                 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"end\">%s</text>",
                 f->left, at, f->width - f->right, f->left - 6, at + 4, number(text, y));
}

static void y_ticks(sac_page *page, const frame *f)
{
    if (f->logarithmic) {
        bool fine = f->y1 - f->y0 < 2.2;
        for (int p = (int)floor(f->y0); p <= (int)ceil(f->y1); p++)
            for (int m = 1; m < 10; m += m == 1 ? 1 : m == 2 ? 3 : 5) {
                double y = m * pow(10, p);
                if ((fine || m == 1) && log10(y) >= f->y0 - 1e-9 && log10(y) <= f->y1 + 1e-9)
                    y_tick(page, f, y);
            }
        return;
    }
    double range = f->y1 - f->y0;
    if (!(range > 0)) return;
    double step = tick_step(range, 4);
    double first = ceil(f->y0 / step - 1e-9) * step;
    for (int i = 0; i < MOST_TICKS && first + i * step <= f->y1 + 1e-9 * range; i++)
        y_tick(page, f, first + i * step);
}

static void limit_line(sac_page *page, const frame *f, const sac_chart_def *def)
{
    if (def->limit > 0)
        sac_page_add(page, "<path class=\"limit\" d=\"M%.1f %.1fH%.1f\"/>", f->left, at_y(f, def->limit),
                     f->width - f->right);
}

static void limit_name(sac_page *page, const sac_chart_def *def, double x, double y)
{
    if (!(def->limit > 0)) return;
    sac_page_add(page, "<text class=\"value halo\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", x, y);
    sac_page_text(page, def->limit_name ? def->limit_name : "limit");
    sac_page_add(page, "</text>");
}

static void limit_across(sac_page *page, const frame *f, const sac_chart_def *def)
{
    limit_line(page, f, def);
    limit_name(page, def, f->width - f->right - 2, at_y(f, def->limit) - 5);
}

/* ---- range ---- */

typedef struct range {
    double low, high, least_positive;
    bool any;
} range;

static void widen(range *r, double value)
{
    if (!isfinite(value)) return;
    if (!r->any) *r = (range){value, value, INFINITY, true};
    r->low = fmin(r->low, value), r->high = fmax(r->high, value);
    if (value > 0) r->least_positive = fmin(r->least_positive, value);
}

static range range_of(const sac_chart_series *series, uint32_t count, bool of_x)
{
    range r = {0};
    for (uint32_t i = 0; i < count; i++)
        for (size_t j = 0; j < series[i].count; j++) {
            if (!isfinite(series[i].y[j])) continue;
            widen(&r, !of_x ? series[i].y[j] : series[i].x ? series[i].x[j] : (double)j);
        }
    return r;
}

static frame frame_of(const sac_chart_def *def, range x, range y)
{
    frame f = {.width = def->wide ? 1100 : 460,
               .height = def->wide ? 260 : 250,
               .left = LEFT,
               .right = RIGHT,
               .bottom = BOTTOM,
               .logarithmic = def->logarithmic};
    f.x0 = x.low, f.x1 = x.high;
    if (def->limit > 0) widen(&y, def->limit);
    double most = def->most > 0 ? def->most : y.high;
    if (def->logarithmic) {
        double least = def->least > 0 ? def->least : isfinite(y.least_positive) ? y.least_positive : 1;
        if (!(most > least)) most = least * 10;
        f.y0 = log10(least), f.y1 = log10(most);
        double pad = 0.04 * (f.y1 - f.y0);
        f.y0 -= pad, f.y1 += pad;
        return f;
    }
    f.y0 = fmin(0, y.low);
    f.y1 = most > f.y0 ? most + 0.06 * (most - f.y0) : f.y0 + 1;
    return f;
}

/* ---- strip ---- */

static void mark(sac_page *page, uint32_t colour, double x, double y)
{
    sac_page_add(page, "<circle class=\"mark k%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", colour, x, y);
}

/* Is there a value, and none beside it to draw a line to? */
static bool stands_alone(const sac_chart_series *s, size_t j)
{
    return isfinite(s->y[j]) && (j == 0 || !isfinite(s->y[j - 1])) &&
           (j + 1 == s->count || !isfinite(s->y[j + 1]));
}

static void strip(sac_page *page, const frame *f, const sac_chart_series *s, uint32_t colour)
{
    const size_t columns = (size_t)(f->width - f->left - f->right);
    sac_page_add(page, "<path class=\"strip k%u%s\" d=\"", colour, s->dashed ? " dash" : "");
    bool begun = false;
    size_t per = s->count > 2 * columns ? (s->count + columns - 1) / columns : 1;
    for (size_t j = 0; j < s->count; j += per) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = j; k < j + per && k < s->count; k++)
            if (isfinite(s->y[k])) low = fmin(low, s->y[k]), high = fmax(high, s->y[k]);
        if (low > high) {
            begun = false;
            continue;
        }
        double x = at_x(f, s->x ? s->x[j] : (double)j);
        sac_page_add(page, "%s%.1f %.1f", begun ? "L" : "M", x, at_y(f, high));
        if (per > 1) sac_page_add(page, "V%.1f", at_y(f, low));
        begun = true;
    }
    sac_page_add(page, "\"/>\n");
    for (size_t j = 0; per == 1 && j < s->count; j++)
        if (stands_alone(s, j)) mark(page, colour, at_x(f, s->x ? s->x[j] : (double)j), at_y(f, s->y[j]));
}

static void ticks_over(sac_page *page, const frame *f, const sac_chart_def *def, const sac_chart_series *s,
                       uint32_t colour, uint32_t row)
{
    if (!(def->limit > 0)) return;
    sac_page_add(page, "<path class=\"over k%u\" d=\"", colour);
    double last = -10, y = 1.0 + 4.0 * (row % 3);
    for (size_t j = 0; j < s->count; j++) {
        if (!(s->y[j] > def->limit)) continue;
        double x = at_x(f, s->x ? s->x[j] : (double)j);
        if (x - last < 1) continue;
        sac_page_add(page, "M%.1f %.1fv3", last = x, y);
    }
    sac_page_add(page, "\"/>\n");
}

void sac_charts_begin(sac_page *page) { sac_page_add(page, "%s<div class=\"charts steady\">\n", style); }
void sac_charts_end(sac_page *page) { sac_page_add(page, "</div>\n"); }

void sac_chart_strip(sac_page *page, const sac_chart_def *def, const sac_chart_series *series, uint32_t count)
{
    range y = range_of(series, count, false);
    if (!y.any) {
        empty(page, def);
        return;
    }
    frame f = frame_of(def, range_of(series, count, true), y);
    begin(page, def, series, count, &f);
    y_ticks(page, &f);
    x_ticks(page, &f);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t colour = colour_of(&series[i], i);
        strip(page, &f, &series[i], colour);
        ticks_over(page, &f, def, &series[i], colour, i);
    }
    limit_across(page, &f, def);
    label_axes(page, &f, def->x_label, def->y_label);
    end(page, def);
}

/* ---- lines ---- */

typedef struct spot {
    double left, right, top, bottom;
} spot;

/* Does the way from one point to another lead through it? */
static bool crosses(const spot *s, const double a[2], const double b[2])
{
    double t0 = 0, t1 = 1, low[2] = {s->left, s->top}, high[2] = {s->right, s->bottom};
    for (int k = 0; k < 2; k++) {
        double d = b[k] - a[k];
        if (d == 0 && (a[k] < low[k] || a[k] > high[k])) return false;
        if (d == 0) continue;
        double u = (low[k] - a[k]) / d, v = (high[k] - a[k]) / d;
        t0 = fmax(t0, fmin(u, v)), t1 = fmin(t1, fmax(u, v));
    }
    return t0 <= t1;
}

/* Marks and lines in a spot; a mark counts for what is drawn of it. */
static uint32_t drawn_in(const frame *f, const sac_chart_series *series, uint32_t count, const spot *s)
{
    enum { MARK = 4 };
    const spot wider = {s->left - MARK, s->right + MARK, s->top - MARK, s->bottom + MARK};
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < count; i++) {
        double last[2], at[2];
        bool begun = false;
        for (size_t j = 0; j < series[i].count; j++) {
            if (!isfinite(series[i].y[j])) continue;
            at[0] = at_x(f, series[i].x ? series[i].x[j] : (double)j), at[1] = at_y(f, series[i].y[j]);
            drawn += crosses(&wider, at, at) + (begun && crosses(s, last, at));
            last[0] = at[0], last[1] = at[1], begun = true;
        }
    }
    return drawn;
}

/* Beside the line, as far right as nothing is drawn; else where least is. */
static void limit_name_beside(sac_page *page, const frame *f, const sac_chart_def *def,
                              const sac_chart_series *series, uint32_t count)
{
    enum { PLACES = 24, LETTER = 7, HIGH = 11, ABOVE = 5, BELOW = 15 };
    if (!(def->limit > 0)) return;
    double wide = LETTER * (double)strlen(def->limit_name ? def->limit_name : "limit"),
           y = at_y(f, def->limit);
    double end = f->width - f->right - 2, room = fmax(0, end - f->left - wide - 4), best_x = end,
           best_y = y - ABOVE;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < 2 * PLACES && least > 0; i++) {
        double x = end - room * (i / 2) / (PLACES - 1), foot = i % 2 ? y + BELOW : y - ABOVE;
        if (foot > f->height - f->bottom) continue;
        uint32_t drawn = drawn_in(f, series, count, &(spot){x - wide, x, foot - HIGH, foot + 2});
        if (drawn < least) least = drawn, best_x = x, best_y = foot;
    }
    limit_name(page, def, best_x, best_y);
}

void sac_chart_lines(sac_page *page, const sac_chart_def *def, const sac_chart_series *series, uint32_t count)
{
    range y = range_of(series, count, false);
    if (!y.any) {
        empty(page, def);
        return;
    }
    range x = range_of(series, count, true);
    frame f = frame_of(def, x, y);
    if (def->logarithmic_x && isfinite(x.least_positive)) {
        f.logarithmic_x = true;
        f.x0 = log10(x.least_positive), f.x1 = log10(fmax(x.high, x.least_positive));
    }
    begin(page, def, series, count, &f);
    y_ticks(page, &f);
    x_ticks(page, &f);
    limit_line(page, &f, def);
    for (uint32_t i = 0; i < count; i++) {
        const sac_chart_series *s = &series[i];
        uint32_t colour = colour_of(s, i);
        bool begun = false;
        sac_page_add(page, "<path class=\"trace k%u%s\" d=\"", colour, s->dashed ? " dash" : "");
        for (size_t j = 0; j < s->count; j++) {
            if (!isfinite(s->y[j])) continue;
            sac_page_add(page, "%s%.1f %.1f", begun ? "L" : "M", at_x(&f, s->x ? s->x[j] : (double)j),
                         at_y(&f, s->y[j]));
            begun = true;
        }
        sac_page_add(page, "\"/>");
        for (size_t j = 0; j < s->count; j++)
            if (isfinite(s->y[j]))
                mark(page, colour, at_x(&f, s->x ? s->x[j] : (double)j), at_y(&f, s->y[j]));
        sac_page_add(page, "\n");
    }
    limit_name_beside(page, &f, def, series, count);
    label_axes(page, &f, def->x_label, def->y_label);
    end(page, def);
}

/* ---- areas ---- */

/* Where column c of areas stands; a single one goes from edge to edge, for it would have no width. */
static double column_x(const frame *f, size_t columns, size_t per, size_t c)
{
    if (columns > 1) return at_x(f, (double)(c * per));
    return c == 0 ? f->left : f->width - f->right;
}

/* The mean of values [from, to) that are finite; 0 for none. */
static double mean_of(const sac_chart_series *s, size_t from, size_t to)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = from; k < to && k < s->count; k++)
        if (isfinite(s->y[k])) sum += fmax(0, s->y[k]), n++;
    return n ? sum / (double)n : 0;
}

void sac_chart_areas(sac_page *page, const sac_chart_def *def, const sac_chart_series *series, uint32_t count)
{
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++)
        if (series[i].count > length) length = series[i].count;
    size_t most_columns = def->wide ? 550 : 230, per = length > most_columns ? length / most_columns + 1 : 1;
    size_t columns = per ? (length + per - 1) / per : 0;
    double *below = calloc(columns + 1, sizeof *below);
    if (!below) {
        page->failed = true;
        return;
    }
    range y = {0}, x = {0};
    for (size_t c = 0; c < columns; c++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++) sum += mean_of(&series[i], c * per, (c + 1) * per);
        widen(&y, sum);
        widen(&x, (double)(c * per));
    }
    sac_chart_def plain = *def;
    plain.logarithmic = false;
    if (!y.any) {
        empty(page, def);
        free(below);
        return;
    }
    frame f = frame_of(&plain, x, y);
    begin(page, def, series, count, &f);
    y_ticks(page, &f);
    size_t drawn = columns > 1 ? columns : 2, last = columns - 1;
    for (uint32_t i = 0; i < count; i++) {
        sac_page_add(page, "<path class=\"area k%u\" d=\"", colour_of(&series[i], i));
        for (size_t c = drawn; c-- > 0;)
            sac_page_add(page, "%s%.1f %.1f", c + 1 == drawn ? "M" : "L", column_x(&f, columns, per, c),
                         at_y(&f, below[c < last ? c : last]));
        for (size_t c = 0; c < columns; c++) below[c] += mean_of(&series[i], c * per, (c + 1) * per);
        for (size_t c = 0; c < drawn; c++)
            sac_page_add(page, "L%.1f %.1f", column_x(&f, columns, per, c),
                         at_y(&f, below[c < last ? c : last]));
        sac_page_add(page, "Z\"/>\n");
    }
    x_ticks(page, &f);
    limit_across(page, &f, &plain);
    label_axes(page, &f, def->x_label, def->y_label);
    end(page, def);
    free(below);
}

/* ---- histogram ---- */

/* Equal parts from `low` on. */
typedef struct parts {
    double low, width;
    uint32_t count, below; /* below: how many of them are for values under 0 */
} parts;

/* `count` parts that end at `high` and begin at `low` or a little before: 0 is where one ends and the next
 * begins, so that what is just above it is not drawn below. */
static parts parts_of(double low, double high, uint32_t count)
{
    parts p = {.low = low, .width = (high - low) / count, .count = count};
    if (!(low < 0 && high > 0)) return p;
    p.below = (uint32_t)fmin(count - 1.0, fmax(1, ceil(-low / (high - low) * count - 1e-9)));
    p.width = high / (count - p.below);
    p.low = -p.width * p.below;
    return p;
}

static uint32_t part_at(const parts *p, double value)
{
    double part = p->below ? floor(value / p->width) + p->below : floor((value - p->low) / p->width);
    return (uint32_t)fmin(p->count - 1.0, fmax(0, part));
}

void sac_chart_histogram(sac_page *page, const sac_chart_def *def, const sac_chart_series *series,
                         uint32_t count, uint32_t bins)
{
    range values = range_of(series, count, false);
    if (bins < 2) bins = 2;
    double *shares = calloc((size_t)bins * (count ? count : 1), sizeof *shares);
    if (!shares) {
        page->failed = true;
        return;
    }
    if (!values.any) {
        empty(page, def);
        free(shares);
        return;
    }
    if (def->limit > 0) widen(&values, def->limit * 1.02);
    double low = fmin(0, values.low), high = def->most > 0 ? def->most : values.high, greatest = 0;
    if (!(high > low)) high = low + 1;
    const parts p = parts_of(low, high, bins);
    for (uint32_t i = 0; i < count; i++) {
        double *share = shares + (size_t)i * bins;
        for (size_t j = 0; j < series[i].count; j++)
            if (isfinite(series[i].y[j]))
                share[part_at(&p, series[i].y[j])] += 100.0 / (double)series[i].count;
        for (uint32_t b = 0; b < bins; b++) greatest = fmax(greatest, share[b]);
    }
    frame f = {.width = def->wide ? 1100 : 460, .height = def->wide ? 240 : 250, .left = LEFT};
    f.right = RIGHT, f.bottom = BOTTOM, f.x0 = p.low, f.x1 = high, f.y1 = sqrt(greatest) * 1.06;
    begin(page, def, series, count, &f);
    static const double marks[] = {0, 1, 5, 10, 25, 50, 100};
    for (int m = 0; m < 7; m++) {
        if (marks[m] > greatest * 1.06) continue;
        double y = at_y(&f, sqrt(marks[m]));
        sac_page_add(page,
                     "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                     "text-anchor=\"end\">%.0f %%</text>",
                     f.left, y, f.width - f.right, f.left - 6, y + 4, marks[m]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const double *share = shares + (size_t)i * bins;
        sac_page_add(page, "<path class=\"hist k%u\" d=\"M%.1f %.1f", colour_of(&series[i], i), f.left,
                     f.height - f.bottom);
        for (uint32_t b = 0; b < bins; b++)
            sac_page_add(page, "V%.1fH%.1f", at_y(&f, sqrt(share[b])), at_x(&f, p.low + p.width * (b + 1)));
        sac_page_add(page, "V%.1fZ\"/>\n", f.height - f.bottom);
    }
    x_ticks(page, &f);
    if (def->limit > 0) {
        /* Its name stands above the plot: the bars are as often at the limit as anywhere. */
        double x = at_x(&f, def->limit);
        sac_page_add(page,
                     "<path class=\"limit\" d=\"M%.1f %dV%.1f\"/><text class=\"value\" x=\"%.1f\" y=\"%d\" "
                     "text-anchor=\"%s\">",
                     x, TOP - 4, f.height - f.bottom, x, TOP - 9, x > f.width / 2 ? "end" : "start");
        sac_page_text(page, def->limit_name ? def->limit_name : "limit");
        sac_page_add(page, "</text>");
    }
    label_axes(page, &f, def->x_label, NULL);
    end(page, def);
    free(shares);
}

/* ---- bars ---- */

void sac_chart_bars(sac_page *page, const sac_chart_def *def, const char *const *labels, uint32_t label_count,
                    const sac_chart_series *series, uint32_t count, const char *format)
{
    enum { HEAD = 8, BAR = 15, GAP = 10, NAME = 92, ROOM = 64 };
    range values = range_of(series, count, false);
    if (!values.any) {
        empty(page, def);
        return;
    }
    double most = def->most > 0 ? def->most : values.high, low = 0;
    if (!(most > 0)) most = 1;
    if (def->logarithmic) {
        double least = def->least > 0                    ? def->least
                       : isfinite(values.least_positive) ? values.least_positive * 0.5
                                                         : most * 0.1;
        low = log10(fmin(least, most * 0.5)), most = log10(most);
    }
    frame f = {.width = def->wide ? 1100 : 460, .left = NAME, .right = ROOM};
    f.height = HEAD + label_count * (count * BAR + GAP) + 8;
    begin(page, def, series, count, &f);
    double width = f.width - NAME - ROOM, y = HEAD;
    for (uint32_t g = 0; g < label_count; g++, y += GAP) {
        sac_page_add(page, "<text class=\"value\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", NAME - 8,
                     y + count * BAR * 0.5 + 4);
        sac_page_text(page, labels[g]);
        sac_page_add(page, "</text>");
        for (uint32_t i = 0; i < count; i++, y += BAR) {
            if (g >= series[i].count || !isfinite(series[i].y[g])) continue;
            double v = series[i].y[g],
                   t = def->logarithmic ? (v > 0 ? (log10(v) - low) / (most - low) : 0) : v / most;
            char text[64];
            t = fmin(1, fmax(0, t));
            snprintf(text, sizeof text, format ? format : "%.0f", v);
            sac_page_add(page,
                         "<rect class=\"bar k%u\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
                         "rx=\"2\"/><text class=\"value\" x=\"%.1f\" y=\"%.1f\">",
                         colour_of(&series[i], i), NAME, y + 1, fmax(1, t * width), BAR - 2,
                         NAME + fmax(1, t * width) + 6, y + BAR - 3.5);
            sac_page_text(page, text);
            sac_page_add(page, "</text>\n");
        }
    }
    sac_page_add(page, "<path class=\"axis\" d=\"M%d %dV%.1f\"/>", NAME, HEAD - 4, y);
    end(page, def);
}
