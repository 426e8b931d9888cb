#include "apps/shape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/console.h"
#include "apps/tree_open.h"

enum { MOST_NAMES = 48 };

static bool is_builtin_mesh(const char *name)
{
    for (uint32_t i = 0; sac_mesh_builtin_name(i); i++)
        if (strcmp(name, sac_mesh_builtin_name(i)) == 0) return true;
    return false;
}

/* File name without folders and extension. */
static void base_name(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path, *dot = strrchr(start, '.');
    int length = dot && dot > start ? (int)(dot - start) : (int)strlen(start);
    snprintf(out, size, "%.*s", length, start);
}

static sac_result no_such_shape(const char *argument, int reason, sac_error *error)
{
    const char *names[MOST_NAMES + 1];
    char remedy[sizeof error->remedy];
    size_t count = 0, length = 0;
    for (uint32_t i = 0; sac_mesh_builtin_name(i) && count < MOST_NAMES; i++)
        names[count++] = sac_mesh_builtin_name(i);
    for (uint32_t i = 0; sac_spheres_builtin_name(i) && count < MOST_NAMES; i++)
        names[count++] = sac_spheres_builtin_name(i);
    names[count] = NULL;
    const char *word = strncmp(argument, "builtin:", 8) == 0 ? argument + 8 : argument;
    const char *meant = sac_options_suggest(word, names);
    if (meant) {
        snprintf(remedy, sizeof remedy, "did you mean the built-in '%s'?", meant);
    } else {
        length = (size_t)snprintf(remedy, sizeof remedy, "give a mesh file or one of");
        for (size_t i = 0; i < count && length < sizeof remedy; i++)
            length += (size_t)snprintf(remedy + length, sizeof remedy - length, " %s", names[i]);
    }
    /* What looks like a path is a file that is not there; a word is a name nobody knows. */
    if (word != argument || !strpbrk(word, "./"))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy,
                             "'%.120s' is neither a file nor a built-in shape", argument);
    if (reason != ENOENT)
        sac_error_set(error, SAC_ERROR_IO, "check the permissions", "%s", strerror(reason));
    else
        sac_error_set(error, SAC_ERROR_IO, remedy, "neither a file nor a built-in shape");
    sac_error_in_file(error, argument);
    return SAC_ERROR_IO;
}

static sac_result import_mesh(const char *path, sac_mesh **out_mesh, sac_error *error)
{
#ifdef SACCADE_IMPORT
    return sac_mesh_import(path, out_mesh, error);
#else
    *out_mesh = NULL;
    sac_error_set(error, SAC_ERROR_UNSUPPORTED, "rebuild with -DSACCADE_IMPORT=ON, or use a built-in mesh",
                  "this program was built without mesh import");
    sac_error_in_file(error, path);
    return SAC_ERROR_UNSUPPORTED;
#endif
}

sac_result sac_shape_open(const char *argument, uint32_t triangles, bool as_spheres, sac_shape *out,
                          sac_error *error)
{
    *out = (sac_shape){0};
    bool forced = strncmp(argument, "builtin:", 8) == 0;
    const char *word = forced ? argument + 8 : argument;
    struct stat status;
    errno = 0;
    bool is_file = !forced && stat(argument, &status) == 0;
    int reason = errno;
    sac_result result;
    if (is_file && S_ISDIR(status.st_mode)) {
        sac_error_set(error, SAC_ERROR_IO, "give a file in it", "this is a folder");
        sac_error_in_file(error, argument);
        return SAC_ERROR_IO;
    }
    if (is_file) {
        base_name(argument, out->name, sizeof out->name);
        if (as_spheres || sac_text_ends_in(argument, ".spheres") || sac_text_ends_in(argument, ".xyzr"))
            return sac_spheres_read(argument, &out->spheres, &out->sphere_count, error);
        result = import_mesh(argument, &out->mesh, error);
    } else if (sac_spheres_builtin(word, &out->spheres, &out->sphere_count)) {
        out->builtin = true;
        snprintf(out->name, sizeof out->name, "%s", word);
        if (out->spheres) return SAC_OK;
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the spheres");
    } else if (is_builtin_mesh(word)) {
        out->builtin = true;
        snprintf(out->name, sizeof out->name, "%s", word);
        result = sac_mesh_builtin(word, triangles, &out->mesh, error);
    } else {
        return no_such_shape(argument, reason, error);
    }
    if (result == SAC_OK) result = sac_mesh_repair(out->mesh, &out->report, error);
    if (result != SAC_OK) {
        sac_error_in_file(error, argument);
        sac_shape_close(out);
    }
    return result;
}

void sac_shape_close(sac_shape *shape)
{
    sac_mesh_destroy(&shape->mesh);
    sac_free(shape->spheres, shape->sphere_count, sizeof *shape->spheres);
    shape->spheres = NULL;
    shape->sphere_count = 0;
}

sac_result sac_shape_build(const sac_shape *shape, const sac_build_def *def, sac_tree **out_tree,
                           sac_error *error)
{
    if (shape->mesh) return sac_tree_build(shape->mesh, def, out_tree, error);
    sac_build_def spheres_def = *def;
    spheres_def.method = SAC_METHOD_SPHERES;
    return sac_tree_build_spheres((const float(*)[4])shape->spheres, shape->sphere_count, &spheres_def,
                                  out_tree, error);
}

sac_result sac_shape_measure(const sac_shape *shape, const sac_tree *tree, const sac_measure_def *def,
                             sac_level_quality *out_levels, sac_error *error)
{
    if (shape->mesh) return sac_tree_measure(tree, shape->mesh, def, out_levels, error);
    return sac_spheres_measure(tree, (const float(*)[4])shape->spheres, shape->sphere_count, def, out_levels,
                               error);
}

void sac_shape_say(const sac_shape *shape)
{
    char a[32], b[32];
    if (!shape->mesh) {
        sac_say("%s: %s spheres\n", shape->name, sac_text_count(a, shape->sphere_count));
        return;
    }
    const sac_mesh_report *r = &shape->report;
    sac_say("%s: %s vertices, %s triangles, %s\n", shape->name, sac_text_count(a, shape->mesh->vertex_count),
            sac_text_count(b, shape->mesh->triangle_count), r->closed ? "closed" : "not closed");
    uint32_t dropped = r->degenerate_triangles + r->duplicate_triangles;
    if (r->welded_vertices || dropped || r->flipped)
        sac_say("  repaired: %u vertices welded, %u triangles without area and %u duplicates dropped%s\n",
                r->welded_vertices, r->degenerate_triangles, r->duplicate_triangles,
                r->flipped ? ", turned right side out" : "");
    if (!r->closed)
        sac_say("  open: %u border edges, %u edges with more than two triangles; the surface is covered, "
                "inside and outside are not told apart\n",
                r->boundary_edges, r->nonmanifold_edges);
}

json_t *sac_shape_json(const sac_shape *shape)
{
    if (!shape->mesh)
        return json_pack("{s:o,s:i}", "name", sac_json_text(shape->name), "spheres",
                         (int)shape->sphere_count);
    const sac_mesh_report *r = &shape->report;
    return json_pack("{s:o,s:i,s:i,s:b,s:{s:i,s:i,s:i,s:i,s:i,s:i,s:b}}", "name", sac_json_text(shape->name),
                     "vertices", (int)shape->mesh->vertex_count, "triangles",
                     (int)shape->mesh->triangle_count, "closed", r->closed, "repair", "welded_vertices",
                     (int)r->welded_vertices, "unused_vertices", (int)r->unused_vertices,
                     "degenerate_triangles", (int)r->degenerate_triangles, "duplicate_triangles",
                     (int)r->duplicate_triangles, "boundary_edges", (int)r->boundary_edges,
                     "nonmanifold_edges", (int)r->nonmanifold_edges, "flipped", r->flipped);
}
