#include "apps/lined_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, MOST_KEYS = 1024, VALUES_AT_ONCE = 64, MOST_NUMBER = 64 };

typedef struct reader {
    sac_lined_json *json;
    const char *at, *end;
    int64_t line;
    sac_error *error;
} reader;

const char *sac_lined_kind_name(sac_lined_kind kind)
{
    static const char *const names[] = {"null", "true or false", "a number", "a text", "a list", "an object"};
    return names[kind];
}

const sac_lined_value *sac_lined_get(const sac_lined_value *object, const char *key)
{
    if (object->kind != SAC_LINED_OBJECT) return NULL;
    for (const sac_lined_value *v = object->first; v; v = v->next)
        if (strcmp(v->key, key) == 0) return v;
    return NULL;
}

static sac_result wrong(reader *r, const char *remedy, const char *what)
{
    sac_error_set(r->error, SAC_ERROR_FORMAT, remedy, "%s", what);
    sac_error_at_line(r->error, r->line);
    return SAC_ERROR_FORMAT;
}

static sac_result no_memory(reader *r)
{
    return sac_error_set(r->error, SAC_ERROR_MEMORY, "split the file", "no memory for the file");
}

static sac_lined_value *new_value(reader *r)
{
    sac_lined_json *json = r->json;
    if (!json->spare_count) {
        json->spare = sac_arena_alloc(&json->arena, VALUES_AT_ONCE, sizeof *json->spare);
        if (!json->spare) return NULL;
        json->spare_count = VALUES_AT_ONCE;
    }
    json->spare_count--;
    sac_lined_value *value = json->spare++;
    *value = (sac_lined_value){.line = r->line};
    return value;
}

/* LF, CR and CRLF each end one line. */
static void skip_blanks(reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n' || (*r->at == '\r' && (r->at + 1 == r->end || r->at[1] != '\n')))
            r->line++;
        else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r')
            return;
    }
}

/* ---- text ---- */

/* Length of the UTF-8 character at `p`, 0 when there is none. */
static size_t character(const char *p, const char *end)
{
    const uint8_t *b = (const uint8_t *)p;
    size_t left = (size_t)(end - p), n = b[0] < 0x80   ? 1
                                         : b[0] < 0xc2 ? 0
                                         : b[0] < 0xe0 ? 2
                                         : b[0] < 0xf0 ? 3
                                         : b[0] < 0xf5 ? 4
                                                       : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((b[i] & 0xc0) != 0x80) return 0;
    if (b[0] == 0xe0 && b[1] < 0xa0) return 0;
    if (b[0] == 0xed && b[1] > 0x9f) return 0;
    if (b[0] == 0xf0 && b[1] < 0x90) return 0;
    if (b[0] == 0xf4 && b[1] > 0x8f) return 0;
    return n;
}

static bool hex4(const reader *r, const char *p, uint32_t *out)
{
    *out = 0;
    if (r->end - p < 4) return false;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16u;
        if (digit > 15) return false;
        *out = *out * 16 + digit;
    }
    return true;
}

static char *put_character(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6), *out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12), *out++ = (char)(0x80 | (c >> 6 & 63)),
        *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xf0 | c >> 18), *out++ = (char)(0x80 | (c >> 12 & 63));
        *out++ = (char)(0x80 | (c >> 6 & 63)), *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

/* After the backslash; NULL when it is no escape. Never writes more than was read. */
static char *read_escape(reader *r, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end) return NULL;
    const char *known = memchr(from, *r->at, sizeof from - 1);
    if (known) {
        r->at++;
        *out = to[known - from];
        return out + 1;
    }
    uint32_t high, low;
    if (*r->at != 'u' || !hex4(r, r->at + 1, &high) || high == 0) return NULL;
    r->at += 5;
    if (high >= 0xd800 && high < 0xdc00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u' || !hex4(r, r->at + 2, &low) ||
            low < 0xdc00 || low > 0xdfff)
            return NULL;
        r->at += 6;
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    } else if (high >= 0xdc00 && high < 0xe000) {
        return NULL;
    }
    return put_character(out, high);
}

/* At the opening quote. */
static sac_result read_text(reader *r, const char **out_text)
{
    const char *close = ++r->at;
    while (close < r->end && *close != '"' && *close != '\n' && *close != '\r')
        close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (close >= r->end || *close != '"')
        return wrong(r, "close it with \"", "the text does not end in its line");
    char *text = sac_arena_alloc(&r->json->arena, (size_t)(close - r->at) + 1, 1), *out = text;
    if (!text) return no_memory(r);
    while (*r->at != '"') {
        if (*r->at == '\\') {
            r->at++;
            out = read_escape(r, out);
            if (!out)
                return wrong(r, "use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u1234",
                             "a backslash starts no escape JSON has");
            continue;
        }
        size_t n = character(r->at, r->end);
        if (n == 0 || (uint8_t)*r->at < 0x20)
            return wrong(r, "save the file as UTF-8 and write \\n or \\t for control characters",
                         "the text is not UTF-8 or has a control character in it");
        memcpy(out, r->at, n);
        out += n, r->at += n;
    }
    r->at++;
    *out = 0;
    *out_text = text;
    return SAC_OK;
}

/* ---- numbers and words ---- */

static size_t digits(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    return (size_t)(p - start);
}

static sac_result read_number(reader *r, double *out)
{
    const char *p = r->at, *remedy = "write it like 12, -0.5 or 1e-3";
    char text[MOST_NUMBER];
    if (*p == '-') p++;
    size_t whole = digits(p, r->end);
    if (whole == 0) return wrong(r, remedy, "this is not a number");
    if (whole > 1 && *p == '0') return wrong(r, "leave out the leading zeros", "a number starts with 0");
    p += whole;
    if (p < r->end && *p == '.') {
        size_t n = digits(p + 1, r->end);
        if (n == 0) return wrong(r, remedy, "there are no digits after the point");
        p += 1 + n;
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < r->end && (*p == '+' || *p == '-')) p++;
        size_t n = digits(p, r->end);
        if (n == 0) return wrong(r, remedy, "the exponent has no digits");
        p += n;
    }
    size_t length = (size_t)(p - r->at);
    if (length >= sizeof text)
        return wrong(r, "write fewer digits", "the number is longer than 63 characters");
    memcpy(text, r->at, length);
    text[length] = 0;
    *out = strtod(text, NULL);
    if (!isfinite(*out)) return wrong(r, "write a smaller one", "the number is too large");
    r->at = p;
    return SAC_OK;
}

static bool take_word(reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

static sac_result unknown_word(reader *r)
{
    char what[96];
    int n = 0;
    while (r->at + n < r->end && n < 24 &&
           ((r->at[n] >= 'a' && r->at[n] <= 'z') || (r->at[n] >= 'A' && r->at[n] <= 'Z')))
        n++;
    if (n == 0) {
        if ((uint8_t)*r->at < 0x20 || (uint8_t)*r->at >= 0x7f)
            return wrong(r, "write a value", "there is a strange character here");
        snprintf(what, sizeof what, "'%c' does not start a value", *r->at);
        return wrong(r, *r->at == '/' || *r->at == '#' ? "JSON has no comments" : "texts need \"quotes\"",
                     what);
    }
    snprintf(what, sizeof what, "'%.*s' is not JSON", n, r->at);
    static const char *const numbers[] = {"NaN", "nan", "Inf", "inf"};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (n >= 3 && memcmp(r->at, numbers[k], 3) == 0) return wrong(r, "write a finite number", what);
    return wrong(r, "texts need \"quotes\"; words are true, false and null", what);
}

/* ---- values ---- */

static sac_result read_value(reader *r, int depth, sac_lined_value *value);

static sac_result read_key(reader *r, const sac_lined_value *object, sac_lined_value *member)
{
    char what[128];
    if (r->at == r->end) return wrong(r, "close it with }", "the file ends inside an object");
    if (*r->at != '"')
        return wrong(r,
                     *r->at == '}'                    ? "take out the comma before it"
                     : *r->at == '/' || *r->at == '#' ? "JSON has no comments"
                                                      : "write \"key\": value",
                     "a key in \"quotes\" belongs here");
    if (object->count >= MOST_KEYS)
        return wrong(r, "use a list, or two files", "an object has more than 1024 keys");
    sac_result result = read_text(r, &member->key);
    if (result != SAC_OK) return result;
    const sac_lined_value *before = sac_lined_get(object, member->key);
    if (before) {
        snprintf(what, sizeof what, "\"%.40s\" is given twice, first in line %lld", member->key,
                 (long long)before->line);
        return wrong(r, "keep one of them", what);
    }
    skip_blanks(r);
    if (r->at == r->end || *r->at != ':')
        return wrong(r, "write \"key\": value", "a colon belongs after the key");
    r->at++;
    skip_blanks(r);
    return SAC_OK;
}

static sac_result read_members(reader *r, int depth, sac_lined_value *value)
{
    bool object = value->kind == SAC_LINED_OBJECT;
    char close = object ? '}' : ']';
    sac_lined_value *last = NULL;
    r->at++;
    skip_blanks(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
        return SAC_OK;
    }
    for (;;) {
        sac_lined_value *member = new_value(r);
        if (!member) return no_memory(r);
        sac_result result = object ? read_key(r, value, member) : SAC_OK;
        if (result == SAC_OK && !object && r->at < r->end && *r->at == ']')
            return wrong(r, "take out the comma before it", "a value belongs here");
        if (result == SAC_OK) result = read_value(r, depth + 1, member);
        if (result != SAC_OK) return result;
        if (last)
            last->next = member;
        else
            value->first = member;
        last = member;
        value->count++;
        skip_blanks(r);
        if (r->at == r->end)
            return wrong(r, object ? "close it with }" : "close it with ]",
                         object ? "the file ends inside an object" : "the file ends inside a list");
        char c = *r->at;
        if (c != ',' && c != close)
            return wrong(r, "put a comma between values",
                         object ? "neither a comma nor } follows the value"
                                : "neither a comma nor ] follows the value");
        r->at++;
        if (c == close) return SAC_OK;
        skip_blanks(r);
    }
}

static sac_result read_value(reader *r, int depth, sac_lined_value *value)
{
    if (r->at == r->end) return wrong(r, "write a value", "the file ends where a value belongs");
    if (depth > MOST_DEPTH)
        return wrong(r, "nest less deeply", "more than 64 lists and objects are nested here");
    char c = *r->at;
    value->starts = r->line;
    if (c == '{' || c == '[') {
        value->kind = c == '{' ? SAC_LINED_OBJECT : SAC_LINED_LIST;
        return read_members(r, depth, value);
    }
    if (c == '"') {
        value->kind = SAC_LINED_TEXT;
        return read_text(r, &value->text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        value->kind = SAC_LINED_NUMBER;
        return read_number(r, &value->number);
    }
    if (take_word(r, "null")) return SAC_OK;
    value->kind = SAC_LINED_BOOL;
    if ((value->truth = take_word(r, "true")) || take_word(r, "false")) return SAC_OK;
    return unknown_word(r);
}

sac_result sac_lined_json_parse(sac_lined_json *out_json, const char *text, size_t size, sac_error *error)
{
    reader r = {out_json, text, text + size, 1, error};
    *out_json = (sac_lined_json){0};
    sac_arena_init(&out_json->arena);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) r.at += 3; /* the mark some editors put there */
    skip_blanks(&r);
    sac_result result = SAC_OK;
    if (r.at == r.end) result = wrong(&r, "write a scene, { ... }", "there is nothing in it");
    if (result == SAC_OK && !(out_json->root = new_value(&r))) result = no_memory(&r);
    if (result == SAC_OK) result = read_value(&r, 0, out_json->root);
    skip_blanks(&r);
    if (result == SAC_OK && r.at < r.end)
        result = wrong(&r, "take it out", "something follows the end of the scene");
    if (result != SAC_OK) sac_lined_json_fini(out_json);
    return result;
}

void sac_lined_json_fini(sac_lined_json *json)
{
    sac_arena_fini(&json->arena);
    *json = (sac_lined_json){0};
}
