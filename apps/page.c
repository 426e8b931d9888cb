#include "apps/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "apps/whole_file.h"

static const char style[] =
    ":root{color-scheme:light dark;--ground:#fbfaf8;--card:#fff;--ink:#24272b;--pale:#6b6f76;--line:#e3e0da;"
    "--accent:#2f6f9f;--good:#1f7a5c}"
    "@media(prefers-color-scheme:dark){:root{--ground:#15171a;--card:#1d2024;--ink:#e8e6e2;--pale:#9aa0a8;"
    "--line:#32363c;--accent:#7db7e0;--good:#6cc7a3}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif}"
    "main{max-width:1160px;margin:0 auto;padding:48px 24px 72px}"
    "h1{font-size:34px;line-height:1.2;letter-spacing:-.015em;margin:0 0 12px;font-weight:650}"
    "h2{font-size:21px;letter-spacing:-.01em;margin:52px 0 8px;font-weight:620}"
    "p{max-width:72ch;margin:0 0 14px}.lead{font-size:18px;color:var(--pale);margin-bottom:28px}"
    "figure{margin:18px 0 8px}figure img{display:block;width:100%;height:auto;border-radius:10px;"
    "border:1px solid var(--line)}figcaption{color:var(--pale);font-size:14px;margin-top:8px;max-width:90ch}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:14.5px;font-variant-numeric:tabular-"
    "nums;"
    "margin:14px 0 10px;min-width:520px}th{font-weight:550;color:var(--pale);text-align:right;padding:6px "
    "14px;"
    "border-bottom:1px solid var(--line);white-space:nowrap}td{text-align:right;padding:6px 14px;"
    "border-bottom:1px solid var(--line);white-space:nowrap}th:first-child,td:first-child{text-align:left;"
    "padding-left:2px}tr:last-child td{border-bottom:0}td.best{color:var(--good);font-weight:650}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(340px,1fr));gap:20px;margin:18px 0}"
    ".chart{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px 6px}"
    ".chart h3{margin:0 0 4px;font-size:15px;font-weight:600}.chart svg{display:block;width:100%;height:auto;"
    "color:var(--pale)}.chart text{fill:currentColor;font-size:12px}.chart .grid{stroke:var(--line)}"
    ".s0{--c:#2b6ca3}.s1{--c:#d1762c}.s2{--c:#238a7c}.s3{--c:#a8871f}.s4{--c:#a2497f}.s5{--c:#5b8fb9}"
    "@media(prefers-color-scheme:dark){.s0{--c:#79b4e3}.s1{--c:#f0a063}.s2{--c:#5cc4b4}.s3{--c:#dcc35c}"
    ".s4{--c:#d98bb8}.s5{--c:#a6cbe6}}"
    ".chart .mark{fill:var(--c);stroke:var(--card);stroke-width:1.5}"
    ".chart .trace{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round}"
    ".chart .name{fill:var(--c);font-weight:600}"
    "code{font:13.5px/1.5 ui-monospace,'SF Mono',Menlo,Consolas,monospace;background:var(--card);"
    "border:1px solid var(--line);border-radius:5px;padding:1px 6px}"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px "
    "16px;overflow-x:auto}"
    "pre code{border:0;padding:0;background:none}footer{color:var(--pale);font-size:13.5px;margin-top:56px}";

static void append(sac_page *page, const char *bytes, size_t size)
{
    if (page->failed || !sac_array_reserve(&page->text, page->text.count + size)) {
        page->failed = true;
        return;
    }
    memcpy(page->text.data + page->text.count, bytes, size);
    page->text.count += size;
}

void sac_page_add(sac_page *page, const char *format, ...)
{
    char small[1024], *text = small;
    va_list list;
    va_start(list, format);
    int n = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (n >= (int)sizeof small) {
        text = malloc((size_t)n + 1);
        if (!text) {
            page->failed = true;
            return;
        }
        va_start(list, format);
        vsnprintf(text, (size_t)n + 1, format, list);
        va_end(list);
    }
    if (n > 0) append(page, text, (size_t)n);
    if (text != small) free(text);
}

void sac_page_text(sac_page *page, const char *text)
{
    for (size_t n; *text; text += n ? n : 1) {
        n = sac_text_character(text);
        switch (*text) {
        case '&':
            append(page, "&amp;", 5);
            break;
        case '<':
            append(page, "&lt;", 4);
            break;
        case '>':
            append(page, "&gt;", 4);
            break;
        case '"':
            append(page, "&quot;", 6);
            break;
        default:
            append(page, n ? text : "\xef\xbf\xbd", n ? n : 3);
        }
    }
}

void sac_page_begin(sac_page *page, const char *title, const char *lead)
{
    sac_page_add(page, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    sac_page_text(page, title);
    sac_page_add(page, "</title>\n<style>%s</style>\n<main>\n<h1>", style);
    sac_page_text(page, title);
    sac_page_add(page, "</h1>\n<p class=\"lead\">");
    sac_page_text(page, lead);
    sac_page_add(page, "</p>\n");
}

void sac_page_end(sac_page *page) { sac_page_add(page, "</main>\n</html>\n"); }

static void append_base64(sac_page *page, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = (size + 2) / 3 * 4;
    if (page->failed || !sac_array_reserve(&page->text, page->text.count + length)) {
        page->failed = true;
        return;
    }
    char *out = page->text.data + page->text.count;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t v = (uint32_t)bytes[i] << 16;
        if (i + 1 < size) v |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < size) v |= bytes[i + 2];
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = i + 1 < size ? digits[v >> 6 & 63] : '=';
        *out++ = i + 2 < size ? digits[v & 63] : '=';
    }
    page->text.count += length;
}

void sac_page_picture(sac_page *page, const sac_picture *picture, const char *alt, const char *caption)
{
    size_t size;
    uint8_t *png = sac_picture_png(picture, &size);
    if (!png) {
        page->failed = true;
        return;
    }
    sac_page_add(page, "<figure><img width=\"%u\" height=\"%u\" alt=\"", picture->width, picture->height);
    sac_page_text(page, alt);
    sac_page_add(page, "\" src=\"data:image/png;base64,");
    append_base64(page, png, size);
    free(png);
    sac_page_add(page, "\">");
    if (caption) {
        sac_page_add(page, "<figcaption>");
        sac_page_text(page, caption);
        sac_page_add(page, "</figcaption>");
    }
    sac_page_add(page, "</figure>\n");
}

/* ---- chart ---- */

enum { CHART_WIDTH = 460, CHART_HEIGHT = 250, LEFT = 48, RIGHT = 84, TOP = 12, BOTTOM = 34 };

typedef struct chart_scale {
    double low, high; /* decimal logarithms */
    uint32_t levels;
} chart_scale;

static double chart_x(const chart_scale *s, uint32_t level)
{
    double width = CHART_WIDTH - LEFT - RIGHT;
    return LEFT + (s->levels > 1 ? width * level / (s->levels - 1) : width / 2);
}

static double chart_y(const chart_scale *s, double value)
{
    double t = (log10(fmax(value, 1e-9)) - s->low) / (s->high - s->low);
    return CHART_HEIGHT - BOTTOM - fmin(1, fmax(0, t)) * (CHART_HEIGHT - TOP - BOTTOM);
}

static chart_scale scale_of(const sac_chart_line *lines, uint32_t count)
{
    chart_scale s = {1e9, -1e9, 1};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < lines[i].count; j++) {
            if (lines[i].count > s.levels) s.levels = lines[i].count;
            if (!(lines[i].values[j] > 0)) continue;
            s.low = fmin(s.low, log10(lines[i].values[j]));
            s.high = fmax(s.high, log10(lines[i].values[j]));
        }
    if (s.low > s.high) s.low = -1, s.high = 2;
    s.low -= 0.08, s.high += 0.08;
    return s;
}

/* Names at the line ends, pushed apart where they would touch. */
static void name_lines(sac_page *page, const chart_scale *s, const sac_chart_line *lines, uint32_t count)
{
    enum { MOST = 16 };
    double y[MOST];
    uint32_t order[MOST], n = count < MOST ? count : MOST;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t last = lines[i].count - 1, j = i;
        y[i] = chart_y(s, lines[i].values[last]);
        for (; j > 0 && y[order[j - 1]] > y[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (uint32_t k = 1; k < n; k++) y[order[k]] = fmax(y[order[k]], y[order[k - 1]] + 14);
    double over = n ? y[order[n - 1]] - (CHART_HEIGHT - BOTTOM) : 0;
    for (uint32_t k = n; over > 0 && k-- > 0;) {
        double most = k + 1 < n ? y[order[k + 1]] - 14 : CHART_HEIGHT - BOTTOM;
        y[order[k]] = fmin(y[order[k]], most);
    }
    for (uint32_t i = 0; i < n; i++) {
        sac_page_add(page, "<text class=\"name s%u\" x=\"%.1f\" y=\"%.1f\">", i % 6,
                     chart_x(s, lines[i].count - 1) + 9, y[i] + 4);
        sac_page_text(page, lines[i].name);
        sac_page_add(page, "</text>");
    }
}

void sac_page_chart(sac_page *page, const char *title, const sac_chart_line *lines, uint32_t count)
{
    static const double ticks[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};
    chart_scale s = scale_of(lines, count);
    sac_page_add(page, "<div class=\"chart\"><h3>");
    sac_page_text(page, title);
    sac_page_add(page, "</h3><svg viewBox=\"0 0 %d %d\" role=\"img\">", CHART_WIDTH, CHART_HEIGHT);
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        if (log10(ticks[i]) < s.low || log10(ticks[i]) > s.high) continue;
        double y = chart_y(&s, ticks[i]);
        sac_page_add(page,
                     "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                     "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g %%</text>",
                     LEFT, CHART_WIDTH - RIGHT, y, y, LEFT - 7, y + 4, ticks[i]);
    }
    for (uint32_t level = 0; level < s.levels; level++)
        sac_page_add(page, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">level %u</text>",
                     chart_x(&s, level), CHART_HEIGHT - 10, level);
    for (uint32_t i = 0; i < count; i++) {
        sac_page_add(page, "<g class=\"s%u\"><polyline class=\"trace\" points=\"", i % 6);
        for (uint32_t j = 0; j < lines[i].count; j++)
            if (isfinite(lines[i].values[j]))
                sac_page_add(page, "%.1f,%.1f ", chart_x(&s, j), chart_y(&s, lines[i].values[j]));
        sac_page_add(page, "\"/>");
        for (uint32_t j = 0; j < lines[i].count; j++)
            if (isfinite(lines[i].values[j]))
                sac_page_add(
                    page,
                    "<circle class=\"mark\" r=\"4\" cx=\"%.1f\" cy=\"%.1f\"><title>%.3g %%</title></circle>",
                    chart_x(&s, j), chart_y(&s, lines[i].values[j]), lines[i].values[j]);
        sac_page_add(page, "</g>");
    }
    name_lines(page, &s, lines, count);
    sac_page_add(page, "</svg></div>\n");
}

static void add_cell(sac_page *page, const char *format, double value)
{
    char text[48];
    if (!isfinite(value)) {
        sac_page_add(page, "<td>–</td>");
        return;
    }
    snprintf(text, sizeof text, format, value);
    sac_page_add(page, "<td>%s</td>", text);
}

void sac_page_levels(sac_page *page, const sac_level_quality *levels, uint32_t depth)
{
    char count[32];
    sac_page_add(page, "<div class=\"scroll\"><table><tr><th>level</th><th>spheres</th><th>worst gap</th>"
                       "<th>mean gap</th><th>surface covered</th><th>covered on a path</th>"
                       "<th>volume outside</th></tr>\n");
    for (uint32_t i = 0; i <= depth; i++) {
        const sac_level_quality *q = &levels[i];
        sac_page_add(page, "<tr><td>%u</td><td>%s</td>", q->level, sac_text_count(count, q->spheres));
        add_cell(page, "%.2f %%", q->worst_gap);
        add_cell(page, "%.2f %%", q->mean_gap);
        /* Never round up to 100. */
        add_cell(page, q->coverage >= 1 ? "%.0f %%" : "%.2f %%", floor(q->coverage * 1e4) / 1e2);
        add_cell(page, q->path_coverage >= 1 ? "%.0f %%" : "%.2f %%", floor(q->path_coverage * 1e4) / 1e2);
        add_cell(page, "%.3f", q->outside_volume);
        sac_page_add(page, "</tr>\n");
    }
    sac_page_add(page, "</table></div>\n");
}

sac_result sac_page_save(sac_page *page, const char *path, sac_error *error)
{
    if (page->failed) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the page");
    return sac_whole_file_write(path, page->text.data, page->text.count, error);
}

void sac_page_fini(sac_page *page) { sac_array_fini(&page->text); }
