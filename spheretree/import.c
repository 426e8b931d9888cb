/* Mesh import: Assimp reads, this file takes nothing on trust. Parts are merged with their node's placement
 * and cut into triangles; lines, points, materials and the rest are left behind. */
#include "spheretree/mesh_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assimp/cimport.h>
#include <assimp/scene.h>

#include "spheretree/import_internal.h"

/* Corner tests spent on cutting polygons, over the whole file: about a second. */
#define MOST_CUTTING_WORK 500000000u

/* ---- the scene ---- */

typedef struct placed_part {
    const struct aiMesh *part;
    double rows[3][4];
} placed_part;

typedef struct pending_node {
    const struct aiNode *node;
    double rows[3][4]; /* the parent's placement */
} pending_node;

typedef struct gathering {
    sac_array(placed_part) parts;
    sac_array(pending_node) stack;
    uint64_t vertices, triangles;
    /* For one face at a time. */
    sac_array(sac_soup_point) outline;
    sac_array(sac_soup_triangle) pieces;
    uint64_t work; /* left for cutting polygons */
} gathering;

static void multiply(double a[3][4], const struct aiMatrix4x4 *m, double out[3][4])
{
    const double b[4][4] = {{m->a1, m->a2, m->a3, m->a4},
                            {m->b1, m->b2, m->b3, m->b4},
                            {m->c1, m->c2, m->c3, m->c4},
                            {m->d1, m->d2, m->d3, m->d4}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            out[i][j] = j == 3 ? a[i][3] * b[3][3] : 0;
            for (int k = 0; k < 3; k++) out[i][j] += a[i][k] * b[k][j];
        }
}

static uint64_t count_triangles(const struct aiMesh *part)
{
    uint64_t count = 0;
    if (!part || !part->mVertices || !part->mFaces) return 0;
    for (unsigned f = 0; f < part->mNumFaces; f++)
        if (part->mFaces[f].mNumIndices >= 3 && part->mFaces[f].mIndices)
            count += part->mFaces[f].mNumIndices - 2;
    return count;
}

/* A file of a few bytes can place one part a billion times, so the sums are checked on the way. */
static sac_result gather(const struct aiScene *scene, gathering *g, sac_error *error)
{
    pending_node first = {scene->mRootNode, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    bool enough = !scene->mRootNode || sac_array_push(&g->stack, first);
    while (enough && g->stack.count) {
        pending_node next = g->stack.data[--g->stack.count];
        double rows[3][4];
        multiply(next.rows, &next.node->mTransformation, rows);
        for (unsigned i = 0; i < next.node->mNumMeshes && enough; i++) {
            if (next.node->mMeshes[i] >= scene->mNumMeshes) continue;
            placed_part p = {.part = scene->mMeshes[next.node->mMeshes[i]]};
            uint64_t count = count_triangles(p.part);
            if (count == 0) continue;
            memcpy(p.rows, rows, sizeof rows);
            g->triangles += count;
            g->vertices += p.part->mNumVertices;
            if (g->triangles > SAC_MESH_MOST_TRIANGLES || g->vertices > SAC_MESH_MOST_VERTICES)
                return sac_error_set(error, SAC_ERROR_LIMIT, "simplify the mesh or split it into parts",
                                     "the file has more than %u triangles or %u vertices",
                                     SAC_MESH_MOST_TRIANGLES, SAC_MESH_MOST_VERTICES);
            enough = sac_array_push(&g->parts, p);
        }
        for (unsigned i = next.node->mNumChildren; i-- > 0 && enough;) {
            pending_node child = {.node = next.node->mChildren[i]};
            memcpy(child.rows, rows, sizeof rows);
            if (child.node) enough = sac_array_push(&g->stack, child);
        }
    }
    if (!enough) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the parts of the file");
    if (g->triangles == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "export the surface as triangles or polygons",
                             "the file has no triangles (%u parts)", scene->mNumMeshes);
    return SAC_OK;
}

/* A mirrored placement turns the surface inside out; turn its triangles back. */
static bool mirrors(double r[3][4])
{
    return r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
               r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
               r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]) <
           0;
}

static sac_result copy_vertices(placed_part *p, float (*out)[3], sac_error *error)
{
    for (unsigned v = 0; v < p->part->mNumVertices; v++) {
        const struct aiVector3D *q = &p->part->mVertices[v];
        double in[3] = {q->x, q->y, q->z};
        for (int i = 0; i < 3; i++) {
            double x = p->rows[i][0] * in[0] + p->rows[i][1] * in[1] + p->rows[i][2] * in[2] + p->rows[i][3];
            if (!isfinite(x))
                return sac_error_set(error, SAC_ERROR_CORRUPT,
                                     "export the mesh again without NaN or infinity",
                                     "vertex %u of part '%.60s' is not a finite point (%g %g %g)", v,
                                     p->part->mName.data, in[0], in[1], in[2]);
            if (fabs(x) > (double)SAC_MESH_MOST_COORDINATE)
                return sac_error_set(error, SAC_ERROR_LIMIT, "scale the mesh down or move it to the origin",
                                     "vertex %u of part '%.60s' has the coordinate %g, the most is %g", v,
                                     p->part->mName.data, x, (double)SAC_MESH_MOST_COORDINATE);
            out[v][i] = (float)x;
        }
    }
    return SAC_OK;
}

/* One face as n - 2 triangles of part vertices in g->pieces. */
static sac_result cut_face(gathering *g, const struct aiMesh *part, const struct aiFace *face,
                           unsigned number, float (*vertices)[3], sac_error *error)
{
    uint32_t corners = face->mNumIndices;
    for (uint32_t i = 0; i < corners; i++)
        if (face->mIndices[i] >= part->mNumVertices)
            return sac_error_set(error, SAC_ERROR_CORRUPT, SAC_IMPORT_REMEDY,
                                 "face %u of part '%.60s' names vertex %u of %u", number, part->mName.data,
                                 face->mIndices[i], part->mNumVertices);
    bool enough =
        sac_array_reserve(&g->outline, corners) && sac_array_reserve(&g->pieces, (size_t)corners - 2);
    if (enough) {
        for (uint32_t i = 0; i < corners; i++)
            for (int k = 0; k < 3; k++) g->outline.data[i].at[k] = vertices[face->mIndices[i]][k];
        enough = sac_polygon_triangulate((const double(*)[3])g->outline.data, corners, &g->work,
                                         (uint32_t(*)[3])g->pieces.data);
    }
    if (!enough)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a face of %u corners", corners);
    for (uint32_t t = 0; t + 2 < corners; t++)
        for (int i = 0; i < 3; i++)
            g->pieces.data[t].corners[i] = face->mIndices[g->pieces.data[t].corners[i]];
    return SAC_OK;
}

static sac_result copy_part(gathering *g, placed_part *p, sac_mesh *mesh, uint32_t *first_vertex,
                            uint32_t *first_triangle, sac_error *error)
{
    float(*vertices)[3] = mesh->vertices + *first_vertex;
    bool mirrored = mirrors(p->rows);
    sac_result result = copy_vertices(p, vertices, error);
    for (unsigned f = 0; f < p->part->mNumFaces && result == SAC_OK; f++) {
        const struct aiFace *face = &p->part->mFaces[f];
        if (face->mNumIndices < 3 || !face->mIndices) continue;
        result = cut_face(g, p->part, face, f, vertices, error);
        for (uint32_t t = 0; t + 2 < face->mNumIndices && result == SAC_OK; t++, ++*first_triangle)
            for (int i = 0; i < 3; i++)
                mesh->triangles[*first_triangle][i] =
                    *first_vertex + g->pieces.data[t].corners[mirrored ? 2 - i : i];
    }
    *first_vertex += p->part->mNumVertices;
    return result;
}

sac_result sac_import_merge(const struct aiScene *scene, const char *name, sac_mesh **out_mesh,
                            sac_error *error)
{
    gathering g = {.work = MOST_CUTTING_WORK};
    sac_mesh *mesh = NULL;
    sac_result result = gather(scene, &g, error);
    if (result == SAC_OK)
        result = sac_mesh_allocate((uint32_t)g.vertices, (uint32_t)g.triangles, name, &mesh, error);
    uint32_t vertex = 0, triangle = 0;
    for (size_t i = 0; i < g.parts.count && result == SAC_OK; i++)
        result = copy_part(&g, &g.parts.data[i], mesh, &vertex, &triangle, error);
    sac_array_fini(&g.parts);
    sac_array_fini(&g.stack);
    sac_array_fini(&g.outline);
    sac_array_fini(&g.pieces);
    if (result != SAC_OK)
        sac_mesh_destroy(&mesh);
    else
        *out_mesh = mesh;
    return result;
}

/* ---- reading ---- */

/* The number after "line" in Assimp's message, 0 when there is none. */
static long line_in(const char *message)
{
    for (const char *at = message; *at; at++) {
        if (tolower((unsigned char)at[0]) != 'l' || strncmp(at + 1, "ine", 3) != 0) continue;
        const char *digits = at + 4 + strspn(at + 4, " :#");
        if (digits > at + 4 && isdigit((unsigned char)*digits)) return strtol(digits, NULL, 10);
    }
    return 0;
}

static sac_result report_failure(sac_error *error)
{
    char said[200] = "";
    const char *message = aiGetErrorString();
    /* One line, printable: it may quote the file. */
    for (size_t i = 0; message && message[i] && i + 1 < sizeof said; i++) {
        said[i] = isprint((unsigned char)message[i]) ? message[i] : ' ';
        said[i + 1] = 0;
    }
    for (size_t n = strlen(said); n && (said[n - 1] == ' ' || said[n - 1] == '.'); n--) said[n - 1] = 0;
    sac_error_set(error, SAC_ERROR_FORMAT, SAC_IMPORT_REMEDY, "the file could not be understood%s%s",
                  said[0] ? ": " : "", said);
    long line = line_in(said);
    if (line > 0) sac_error_at_line(error, line);
    return SAC_ERROR_FORMAT;
}

typedef struct reading {
    sac_import_source source;
    const char *extension; /* with its dot, "" when there is none */
    const char *name;
} reading;

/* In the child. No post-processing: on some damaged files those steps stop the process. What they would do is
 * done here or by sac_mesh_repair. */
static sac_result read_scene(void *context, sac_mesh **out_mesh, sac_error *error)
{
    reading *r = context;
    if (r->extension[0] && aiIsExtensionSupported(r->extension) != AI_TRUE)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                             "give an OBJ, PLY, STL, OFF or glTF file with its usual extension",
                             "meshes cannot be read from files of the kind '%.20s'", r->extension);
    sac_result result = sac_import_check_header(&r->source, error);
    if (result != SAC_OK) return result;
    const struct aiScene *scene = aiImportFileEx(r->source.name, 0, &r->source.io);
    result = scene ? sac_import_merge(scene, r->name, out_mesh, error) : report_failure(error);
    if (scene) aiReleaseImport(scene);
    return result;
}

/* File name without folders and extension. */
static void stem_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    snprintf(out, size, "%.*s", (int)(dot && dot > base ? dot - base : (ptrdiff_t)strlen(base)), base);
}

static sac_result check_path(const char *path, const char **out_extension, uint64_t *out_size,
                             sac_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            return sac_error_set(error, SAC_ERROR_IO, "check the path", "the file does not exist");
        return sac_error_set(error, SAC_ERROR_IO, "check the path and its permissions",
                             "the file cannot be found: %s", strerror(errno));
    }
    if (S_ISDIR(status.st_mode))
        return sac_error_set(error, SAC_ERROR_IO, "name a mesh file inside it", "this is a directory");
    if (!S_ISREG(status.st_mode))
        return sac_error_set(error, SAC_ERROR_IO, "copy the data into a file first",
                             "this is not a regular file");
    if (access(path, R_OK) != 0)
        return sac_error_set(error, SAC_ERROR_IO, "change its permissions", "the file cannot be read: %s",
                             strerror(errno));
    if (status.st_size == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "export the mesh again", "the file is empty");
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    if (!dot || !dot[1])
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                             "give an OBJ, PLY, STL, OFF or glTF file with its usual extension",
                             "the name has no extension that tells the kind of file");
    *out_extension = dot;
    *out_size = (uint64_t)status.st_size;
    return SAC_OK;
}

sac_result sac_mesh_import(const char *path, sac_mesh **out_mesh, sac_error *error)
{
    SAC_NEED(error, out_mesh);
    *out_mesh = NULL;
    SAC_NEED(error, path);
    reading r;
    sac_import_job job = {.work = read_scene, .context = &r};
    sac_result result = check_path(path, &r.extension, &job.file_size, error);
    if (result == SAC_OK) {
        char name[sizeof(*out_mesh)->name];
        stem_of(path, name, sizeof name);
        r.name = name;
        sac_import_source_init(&r.source, path, NULL, 0);
        result = sac_import_guarded(&job, name, out_mesh, error);
    }
    if (result != SAC_OK) sac_error_in_file(error, path);
    return result;
}

sac_result sac_mesh_import_memory(const void *bytes, size_t size, const char *hint, sac_mesh **out_mesh,
                                  sac_error *error)
{
    SAC_NEED(error, out_mesh);
    *out_mesh = NULL;
    if (size) SAC_NEED(error, bytes);
    if (size == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "give the contents of a mesh file",
                             "there are no bytes");
    char name[64], dot[32];
    snprintf(dot, sizeof dot, ".%s", hint ? hint + (hint[0] == '.') : "");
    if (strpbrk(dot, "/\\*"))
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "use obj, ply, stl, off, gltf or glb as the hint",
                             "meshes cannot be read from files of the kind '%.20s'", dot);
    snprintf(name, sizeof name, "memory%s", dot[1] ? dot : "");
    reading r = {.extension = dot[1] ? dot : "", .name = "memory"};
    sac_import_source_init(&r.source, name, bytes, size);
    const sac_import_job job = {read_scene, &r, size};
    return sac_import_guarded(&job, "memory", out_mesh, error);
}
