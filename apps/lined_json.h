/* JSON whose values know their lines, so that a mistake of meaning can be told as exactly as one of syntax.
 *
 *   sac_lined_json json;
 *   if (sac_lined_json_parse(&json, text, size, &error) != SAC_OK) ...       // error.line is set
 *   for (const sac_lined_value *v = json.root->first; v; v = v->next) printf("%s is in line %ld\n", v->key,
 * v->line); sac_lined_json_fini(&json);
 *
 * Strict JSON, and stricter: a key twice in one object is an error, as are numbers too large for a double,
 * text that is not UTF-8, a zero byte in a text, and nesting deeper than 64.
 *
 * Index: sac_lined_json_parse  sac_lined_json_fini  sac_lined_get  sac_lined_kind_name
 */
#ifndef SAC_APPS_LINED_JSON_H
#define SAC_APPS_LINED_JSON_H

#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"

typedef enum sac_lined_kind {
    SAC_LINED_NULL,
    SAC_LINED_BOOL,
    SAC_LINED_NUMBER,
    SAC_LINED_TEXT,
    SAC_LINED_LIST,
    SAC_LINED_OBJECT
} sac_lined_kind;

typedef struct sac_lined_value {
    sac_lined_kind kind;
    bool truth;
    uint32_t count; /* members of a list or object */
    int64_t line;   /* where it starts; of a member of an object, where its key is */
    int64_t starts; /* where it starts, whether it has a key or not */
    double number;
    const char *key;  /* in an object, else NULL */
    const char *text; /* terminated */
    struct sac_lined_value *first, *next;
} sac_lined_value;

typedef struct sac_lined_json {
    sac_lined_value *root;
    sac_arena arena;
    sac_lined_value *spare; /* values not yet handed out */
    uint32_t spare_count;
} sac_lined_json;

/* `text` need not be terminated. ERROR_FORMAT with the line, ERROR_MEMORY; there is nothing to release then.
 */
sac_result sac_lined_json_parse(sac_lined_json *out_json, const char *text, size_t size, sac_error *error);
void sac_lined_json_fini(sac_lined_json *json);

/* A member of an object by key, NULL when it is not there. */
const sac_lined_value *sac_lined_get(const sac_lined_value *object, const char *key);
/* "a number", "a list", ... */
const char *sac_lined_kind_name(sac_lined_kind kind);

#endif
