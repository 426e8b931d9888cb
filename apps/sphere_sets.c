/* Shapes that are sets of spheres: three built-in ones, and files of them. */
#include "apps/shape.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A torus as rings of spheres: `rings` steps around the axis, `around` spheres in each, `offset` from the
 * tube's centre line; odd rings are turned half a step. */
typedef struct torus_set {
    const char *name;
    uint32_t rings, around;
    float radius, offset;
} torus_set;

static const torus_set torus_sets[] = {
    {"t24", 24, 1, 0.10f, 0.0f},
    {"t100", 20, 5, 0.055f, 0.045f},
    {"t500", 50, 10, 0.03f, 0.07f},
};
enum { TORUS_SETS = sizeof torus_sets / sizeof *torus_sets };
static const double MAJOR_RADIUS = 0.30, TWO_PI = 6.283185307179586;

/* A cube of side 1 as the 56 spheres of a 4 x 4 x 4 grid that show: flat enough to stack. */
static const char CUBE[] = "cube56";
enum { CUBE_SIDE = 4, CUBE_SPHERES = 56 };

static void fill_cube(float (*spheres)[4])
{
    const float r = 0.5f / CUBE_SIDE;
    uint32_t count = 0;
    for (int i = 0; i < CUBE_SIDE * CUBE_SIDE * CUBE_SIDE; i++) {
        int at[3] = {i % CUBE_SIDE, i / CUBE_SIDE % CUBE_SIDE, i / CUBE_SIDE / CUBE_SIDE};
        bool shows = false;
        for (int k = 0; k < 3; k++) shows |= at[k] == 0 || at[k] == CUBE_SIDE - 1;
        if (!shows) continue;
        for (int k = 0; k < 3; k++) spheres[count][k] = -0.5f + r * (float)(2 * at[k] + 1);
        spheres[count++][3] = r;
    }
}

const char *sac_spheres_builtin_name(uint32_t index)
{
    return index < TORUS_SETS ? torus_sets[index].name : index == TORUS_SETS ? CUBE : NULL;
}

bool sac_spheres_builtin(const char *name, float (**out_spheres)[4], uint32_t *out_count)
{
    const torus_set *set = NULL;
    for (int i = 0; i < TORUS_SETS; i++)
        if (strcmp(name, torus_sets[i].name) == 0) set = &torus_sets[i];
    *out_spheres = NULL;
    *out_count = 0;
    bool cube = strcmp(name, CUBE) == 0;
    if (!set && !cube) return false;
    uint32_t count = cube ? CUBE_SPHERES : set->rings * set->around;
    float(*spheres)[4] = sac_alloc(count, sizeof *spheres);
    if (!spheres) return true;
    if (cube) fill_cube(spheres);
    for (uint32_t i = 0; i < count && set; i++) {
        uint32_t ring = i / set->around, step = i % set->around;
        double u = TWO_PI * ring / set->rings, v = TWO_PI * (step + (ring % 2 ? 0.5 : 0.0)) / set->around,
               out = MAJOR_RADIUS + set->offset * cos(v);
        spheres[i][0] = (float)(out * cos(u));
        spheres[i][1] = (float)(set->offset * sin(v));
        spheres[i][2] = (float)(out * sin(u));
        spheres[i][3] = set->radius;
    }
    *out_spheres = spheres;
    *out_count = count;
    return true;
}

static sac_result bad_line(sac_error *error, const char *path, int64_t line, const char *what)
{
    sac_error_set(error, SAC_ERROR_FORMAT, "write one sphere a line: x y z r, with r >= 0", "%s", what);
    sac_error_at_line(error, line);
    sac_error_in_file(error, path);
    return SAC_ERROR_FORMAT;
}

sac_result sac_spheres_read(const char *path, float (**out_spheres)[4], uint32_t *out_count, sac_error *error)
{
    typedef struct sphere {
        float v[4];
    } sphere;
    sac_array(sphere) list = {0};
    char text[512];
    sac_result result = SAC_OK;
    int64_t line = 0;
    *out_spheres = NULL;
    *out_count = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        sac_error_set(error, SAC_ERROR_IO, "check the name and the permissions", "%s", strerror(errno));
        sac_error_in_file(error, path);
        return SAC_ERROR_IO;
    }
    while (result == SAC_OK && fgets(text, sizeof text, file)) {
        line++;
        if (!strchr(text, '\n') && !feof(file)) {
            result = bad_line(error, path, line, "the line is longer than 510 characters or not text");
            break;
        }
        text[strcspn(text, "#\r\n")] = 0;
        sphere s;
        char *p = text, *end;
        int n = 0;
        for (; n < 4; n++, p = end) {
            double x = strtod(p, &end);
            if (end == p) break;
            s.v[n] = (float)x;
        }
        bool rest = p[strspn(p, " \t,;")] != 0;
        if (n == 0 && !rest) continue;
        if (n < 4 || rest)
            result = bad_line(error, path, line, "not four numbers");
        else if (!sac_vec3_is_finite(s.v) || !isfinite(s.v[3]) || s.v[3] < 0)
            result = bad_line(error, path, line, "a number is not finite or the radius is negative");
        else if (!sac_array_push(&list, s))
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres");
    }
    if (result == SAC_OK && ferror(file)) {
        sac_error_set(error, SAC_ERROR_IO, NULL, "%s", strerror(errno));
        sac_error_in_file(error, path);
        result = SAC_ERROR_IO;
    }
    fclose(file);
    if (result == SAC_OK && !list.count) {
        sac_error_set(error, SAC_ERROR_EMPTY, "write one sphere a line: x y z r", "there is no sphere in it");
        sac_error_in_file(error, path);
        result = SAC_ERROR_EMPTY;
    }
    if (result == SAC_OK) {
        *out_spheres = sac_alloc(list.count, sizeof **out_spheres);
        if (*out_spheres) {
            memcpy(*out_spheres, list.data, list.count * sizeof **out_spheres);
            *out_count = (uint32_t)list.count;
        } else {
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres");
        }
    }
    sac_array_fini(&list);
    return result;
}
