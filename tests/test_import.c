#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "spheretree/import_internal.h"
#include "spheretree/mesh.h"

static char folder[] = "/tmp/saccade-import-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static sac_result import_text(const char *name, const char *text, sac_mesh **mesh, sac_error *error)
{
    write_bytes(name, text, strlen(text));
    sac_result result = sac_mesh_import(path_of(name), mesh, error);
    remove(path_of(name));
    return result;
}

/* A box 2 by 3 by 4 at (10, 0, 0), as repaired mesh. */
static void check_box(sac_mesh *mesh)
{
    sac_mesh_report report;
    sac_mass mass;
    assert_int_equal(sac_mesh_repair(mesh, &report, NULL), SAC_OK);
    assert_true(report.closed);
    assert_false(report.flipped);
    assert_int_equal(mesh->vertex_count, 8);
    assert_int_equal(mesh->triangle_count, 12);
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_float_equal(mass.volume, 24, 1e-4);
    assert_float_equal(mass.centre[0], 11, 1e-5);
    assert_float_equal(mass.centre[1], 1.5, 1e-5);
    assert_float_equal(mass.centre[2], 2, 1e-5);
    sac_mesh_destroy(&mesh);
}

static const float box_points[8][3] = {{10, 0, 0}, {12, 0, 0}, {12, 3, 0}, {10, 3, 0},
                                       {10, 0, 4}, {12, 0, 4}, {12, 3, 4}, {10, 3, 4}};
static const int box_quads[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                    {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

static void import_box(const char *name, const char *text)
{
    sac_mesh *mesh = NULL;
    sac_error error;
    if (import_text(name, text, &mesh, &error) != SAC_OK) fail_msg("%s: %s", name, error.message);
    assert_string_equal(mesh->name, "box");
    check_box(mesh);
}

static void text_formats_give_the_same_box(void **state)
{
    (void)state;
    char obj[4096] = "# a box\nmtllib missing.mtl\no box\n", off[4096] = "OFF\n8 6 0\n", ply[4096], stl[8192];
    char *o = obj + strlen(obj), *f = off + strlen(off), *p = ply, *s = stl;
    p += sprintf(
        p, "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
           "element face 6\nproperty list uchar int vertex_indices\nend_header\n");
    s += sprintf(s, "solid box\n");
    for (int i = 0; i < 8; i++) {
        const float *v = box_points[i];
        o += sprintf(o, "v %g %g %g\n", v[0], v[1], v[2]);
        f += sprintf(f, "%g %g %g\n", v[0], v[1], v[2]);
        p += sprintf(p, "%g %g %g\n", v[0], v[1], v[2]);
    }
    o += sprintf(o, "vn 0 0 1\nvt 0 0\np 1\nl 1 2\n");
    for (int i = 0; i < 6; i++) {
        const int *q = box_quads[i];
        o += sprintf(o, "f %d//1 %d//1 %d//1 %d//1\n", q[0] + 1, q[1] + 1, q[2] + 1, q[3] + 1);
        f += sprintf(f, "4 %d %d %d %d\n", q[0], q[1], q[2], q[3]);
        p += sprintf(p, "4 %d %d %d %d\n", q[0], q[1], q[2], q[3]);
        for (int half = 0; half < 2; half++) {
            s += sprintf(s, "facet normal 0 0 0\nouter loop\n");
            for (int k = 0; k < 3; k++) {
                const float *v = box_points[q[k == 0 ? 0 : k + half]];
                s += sprintf(s, "vertex %g %g %g\n", v[0], v[1], v[2]);
            }
            s += sprintf(s, "endloop\nendfacet\n");
        }
    }
    sprintf(s, "endsolid box\n");
    import_box("box.obj", obj);
    import_box("box.off", off);
    import_box("box.ply", ply);
    import_box("box.stl", stl);
}

static void binary_stl_is_read(void **state)
{
    (void)state;
    unsigned char bytes[84 + 12 * 50] = "not the word solid";
    uint32_t count = 12;
    memcpy(bytes + 80, &count, 4);
    for (int t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++) {
            const int *q = box_quads[t / 2];
            memcpy(bytes + 84 + 50 * t + 12 + 12 * k, box_points[q[k == 0 ? 0 : k + t % 2]], 12);
        }
    write_bytes("box.stl", bytes, sizeof bytes);
    sac_mesh *mesh = NULL;
    sac_error error;
    if (sac_mesh_import(path_of("box.stl"), &mesh, &error) != SAC_OK) fail_msg("%s", error.message);
    check_box(mesh);
    remove(path_of("box.stl"));
    if (sac_mesh_import_memory(bytes, sizeof bytes, ".stl", &mesh, &error) != SAC_OK)
        fail_msg("%s", error.message);
    check_box(mesh);
}

/* Half the box as a glTF with a second file, placed twice: as it is, and mirrored. */
static const char gltf[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
    "\"nodes\":[{\"children\":[1,2],\"translation\":[10,1.5,2]},"
    "{\"mesh\":0,\"scale\":[2,3,4],\"translation\":[0,0,0]},"
    "{\"mesh\":0,\"scale\":[-2,3,4],\"translation\":[2,0,0]}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
    "\"buffers\":[{\"uri\":\"half.bin\",\"byteLength\":156}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":96},"
    "{\"buffer\":0,\"byteOffset\":96,\"byteLength\":60}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\","
    "\"min\":[0,-0.5,-0.5],\"max\":[0.5,0.5,0.5]},"
    "{\"bufferView\":1,\"componentType\":5123,\"count\":30,\"type\":\"SCALAR\"}]}";

static void gltf_parts_are_placed_and_mirrored(void **state)
{
    (void)state;
    unsigned char bytes[156];
    for (int i = 0; i < 8; i++) {
        float v[3] = {box_points[i][0] > 11 ? 0.5f : 0, box_points[i][1] > 1 ? 0.5f : -0.5f,
                      box_points[i][2] > 2 ? 0.5f : -0.5f};
        memcpy(bytes + 12 * i, v, sizeof v);
    }
    static const int sides[5] = {0, 1, 2, 4, 5}; /* not the one where the halves meet */
    for (int t = 0; t < 10; t++)
        for (int k = 0; k < 3; k++) {
            uint16_t corner = (uint16_t)box_quads[sides[t / 2]][k == 0 ? 0 : k + t % 2];
            memcpy(bytes + 96 + 2 * (3 * t + k), &corner, 2);
        }
    write_bytes("half.bin", bytes, sizeof bytes);
    sac_mesh *mesh = NULL;
    sac_error error;
    if (import_text("box.gltf", gltf, &mesh, &error) != SAC_OK) fail_msg("%s", error.message);
    sac_mesh_report report;
    sac_mass mass;
    assert_int_equal(mesh->triangle_count, 20);
    assert_int_equal(sac_mesh_repair(mesh, &report, NULL), SAC_OK);
    assert_true(report.closed);
    assert_int_equal(report.turned_triangles, 0);
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_float_equal(mass.volume, 24, 1e-4);
    assert_float_equal(mass.centre[0], 11, 1e-5);
    sac_mesh_destroy(&mesh);
    remove(path_of("half.bin"));
    assert_int_equal(import_text("box.gltf", gltf, &mesh, &error),
                     SAC_ERROR_FORMAT); /* its second file is gone */
}

/* A comb of 2n + 2 corners with deep teeth: cut right, the triangles' areas add up to the polygon's. */
static void concave_polygons_are_cut_inside(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        char text[8192], *at = text;
        int teeth = 20, count = 0;
        for (int i = 0; i <= 2 * teeth; i++, count++) {
            double p[3] = {0, i, i % 2 ? 1 : 10}; /* from left to right along the teeth */
            at += sprintf(at, "v %g %g %g\n", p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]);
        }
        for (int end = 1; end >= 0; end--, count++) {
            double p[3] = {0, end ? 2 * teeth : 0, 0};
            at += sprintf(at, "v %g %g %g\n", p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]);
        }
        at += sprintf(at, "f");
        for (int i = 1; i <= count; i++) at += sprintf(at, " %d", i);
        sprintf(at, "\n");
        sac_mesh *mesh = NULL;
        sac_error error;
        if (import_text("comb.obj", text, &mesh, &error) != SAC_OK) fail_msg("%s", error.message);
        assert_int_equal(mesh->triangle_count, count - 2);
        double area = 0, sum[3] = {0};
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            const float *a = mesh->vertices[mesh->triangles[t][0]],
                        *b = mesh->vertices[mesh->triangles[t][1]],
                        *c = mesh->vertices[mesh->triangles[t][2]];
            double n[3], length = 0;
            for (int k = 0; k < 3; k++) {
                int u = (k + 1) % 3, v = (k + 2) % 3;
                n[k] = 0.5 * ((double)(b[u] - a[u]) * (c[v] - a[v]) - (double)(b[v] - a[v]) * (c[u] - a[u]));
                sum[k] += n[k];
                length += n[k] * n[k];
            }
            area += sqrt(length);
        }
        double total = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        assert_float_equal(total, 5.5 * 2 * teeth, 1e-3);
        assert_float_equal(area, total, 1e-3);
        sac_mesh_destroy(&mesh);
    }
}

static void check_error(sac_result result, sac_result wanted, const sac_error *error, const char *file,
                        const char *message)
{
    assert_int_equal(result, wanted);
    assert_int_equal(error->code, wanted);
    assert_true(error->remedy[0]);
    if (!strstr(error->message, message)) fail_msg("'%s' does not say '%s'", error->message, message);
    if (!strstr(error->file, file)) fail_msg("'%s' is not the file '%s'", error->file, file);
}

static void every_trouble_has_its_own_words(void **state)
{
    (void)state;
    sac_mesh *mesh = NULL;
    sac_error error;
    check_error(sac_mesh_import(path_of("nowhere.obj"), &mesh, &error), SAC_ERROR_IO, &error, "nowhere.obj",
                "does not exist");
    check_error(sac_mesh_import(folder, &mesh, &error), SAC_ERROR_IO, &error, folder, "directory");
    check_error(sac_mesh_import("/dev/null", &mesh, &error), SAC_ERROR_IO, &error, "/dev/null",
                "regular file");
    check_error(import_text("a.xyz", "hello", &mesh, &error), SAC_ERROR_UNSUPPORTED, &error, "a.xyz", ".xyz");
    check_error(import_text("noend", "hello", &mesh, &error), SAC_ERROR_UNSUPPORTED, &error, "noend", "kind");
    check_error(import_text("empty.obj", "", &mesh, &error), SAC_ERROR_EMPTY, &error, "empty.obj", "empty");
    check_error(import_text("bad.ply", "hello\n", &mesh, &error), SAC_ERROR_FORMAT, &error, "bad.ply",
                "could not be understood");
    check_error(import_text("many.ply", "ply\nformat ascii 1.0\nelement vertex 99999999\nend_header\n1\n",
                            &mesh, &error),
                SAC_ERROR_CORRUPT, &error, "many.ply", "99999999");
    assert_int_equal(error.line, 3);
    check_error(import_text("long.glb", "glTF\2\1\1\1\377\377\377\177JSON{}", &mesh, &error),
                SAC_ERROR_CORRUPT, &error, "long.glb", "promises");
    assert_int_equal(error.byte, 8);
    check_error(import_text("cut.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty", &mesh, &error),
                SAC_ERROR_FORMAT, &error, "cut.ply", "end_header");
    check_error(import_text("bad.gltf", "{\"asset\":", &mesh, &error), SAC_ERROR_FORMAT, &error, "bad.gltf",
                "could not be understood");
    check_error(import_text("dots.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2 3\nl 1 2\n", &mesh, &error),
                SAC_ERROR_EMPTY, &error, "dots.obj", "no triangles");
    check_error(import_text("nan.obj", "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n", &mesh, &error),
                SAC_ERROR_CORRUPT, &error, "nan.obj", "finite");
    check_error(import_text("huge.obj", "v 0 0 0\nv 1e20 0 0\nv 0 1 0\nf 1 2 3\n", &mesh, &error),
                SAC_ERROR_LIMIT, &error, "huge.obj", "1e+20");
    assert_int_equal(import_text("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", &mesh, &error),
                     SAC_ERROR_FORMAT);
    assert_null(mesh);
    assert_int_equal(sac_mesh_import(NULL, &mesh, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_mesh_import(path_of("nowhere.obj"), &mesh, NULL), SAC_ERROR_IO);
}

static void memory_is_alone_in_the_world(void **state)
{
    (void)state;
    static const char triangle[] = "mtllib /etc/passwd\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    sac_mesh *mesh = NULL;
    sac_error error;
    assert_int_equal(sac_mesh_import_memory(triangle, sizeof triangle - 1, "obj", &mesh, &error), SAC_OK);
    assert_int_equal(mesh->triangle_count, 1);
    sac_mesh_destroy(&mesh);
    assert_int_equal(sac_mesh_import_memory(gltf, sizeof gltf - 1, "gltf", &mesh, &error), SAC_ERROR_FORMAT);
    assert_int_equal(sac_mesh_import_memory(triangle, 0, "obj", &mesh, &error), SAC_ERROR_EMPTY);
    assert_int_equal(sac_mesh_import_memory(NULL, 5, "obj", &mesh, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_mesh_import_memory(triangle, 5, "../obj", &mesh, &error), SAC_ERROR_UNSUPPORTED);
    assert_int_equal(sac_mesh_import_memory(triangle, 5, "exe", &mesh, &error), SAC_ERROR_UNSUPPORTED);
    assert_null(mesh);
}

/* Whatever the bytes, the result is a mesh within limits or an error. */
static void damaged_text_gives_a_mesh_or_an_error(void **state)
{
    (void)state;
    static const char whole[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1/1/1 2//2 4\nf -1 -2 -3\n";
    sac_rng rng = sac_rng_seed(5);
    for (int round = 0; round < 80; round++) {
        char bytes[sizeof whole];
        memcpy(bytes, whole, sizeof whole);
        size_t size = 1 + sac_rng_below(&rng, sizeof whole - 1);
        for (int k = 0; k < 3; k++)
            bytes[sac_rng_below(&rng, (uint32_t)size)] = "0189-./vfe \n"[sac_rng_below(&rng, 12)];
        sac_mesh *mesh = NULL;
        sac_error error;
        if (sac_mesh_import_memory(bytes, size, "obj", &mesh, &error) == SAC_OK) {
            for (uint32_t h = 0; h < 3 * mesh->triangle_count; h++)
                assert_true(mesh->triangles[h / 3][h % 3] < mesh->vertex_count);
            sac_mesh_destroy(&mesh);
        } else {
            assert_true(error.message[0]);
            assert_null(mesh);
        }
    }
}

/* ---- the child ---- */

static sac_result work_crash(void *context, sac_mesh **out_mesh, sac_error *error)
{
    (void)context, (void)out_mesh, (void)error;
    abort();
}

static sac_result work_hang(void *context, sac_mesh **out_mesh, sac_error *error)
{
    (void)out_mesh, (void)error;
    volatile int *busy = context;
    while (*busy >= 0) *busy = !*busy;
    return SAC_OK;
}

static sac_result work_leave(void *context, sac_mesh **out_mesh, sac_error *error)
{
    (void)context, (void)out_mesh, (void)error;
    _exit(0);
}

static sac_result work_complain(void *context, sac_mesh **out_mesh, sac_error *error)
{
    (void)context, (void)out_mesh;
    return sac_error_set(error, SAC_ERROR_EMPTY, "nothing to do", "it was the child");
}

/* Larger than a pipe holds. */
static sac_result work_sphere(void *context, sac_mesh **out_mesh, sac_error *error)
{
    (void)context;
    return sac_mesh_builtin("sphere", 50000, out_mesh, error);
}

static sac_result run_child(sac_result (*work)(void *, sac_mesh **, sac_error *), sac_mesh **mesh,
                            sac_error *error)
{
    int busy = 0;
    const sac_import_job job = {work, &busy, 0};
    *mesh = NULL;
    sac_import_set_patience(1);
    sac_result result = sac_import_guarded(&job, "child", mesh, error);
    sac_import_set_patience(20);
    return result;
}

static void a_child_that_fails_is_an_error(void **state)
{
    (void)state;
    sac_mesh *mesh, *same;
    sac_error error;
    check_error(run_child(work_crash, &mesh, &error), SAC_ERROR_CORRUPT, &error, "", "damaged");
    check_error(run_child(work_hang, &mesh, &error), SAC_ERROR_CORRUPT, &error, "", "come to an end");
    check_error(run_child(work_leave, &mesh, &error), SAC_ERROR_CORRUPT, &error, "", "stopped");
    check_error(run_child(work_complain, &mesh, &error), SAC_ERROR_EMPTY, &error, "", "it was the child");
    assert_null(mesh);
    assert_int_equal(run_child(work_crash, &mesh, NULL), SAC_ERROR_CORRUPT);

    assert_int_equal(run_child(work_sphere, &mesh, NULL), SAC_OK);
    assert_int_equal(sac_mesh_builtin("sphere", 50000, &same, NULL), SAC_OK);
    assert_int_equal(mesh->vertex_count, same->vertex_count);
    assert_int_equal(mesh->triangle_count, same->triangle_count);
    assert_memory_equal(mesh->vertices, same->vertices, same->vertex_count * sizeof *same->vertices);
    assert_memory_equal(mesh->triangles, same->triangles, same->triangle_count * sizeof *same->triangles);
    assert_string_equal(mesh->name, "child");
    sac_mesh_destroy(&mesh);
    sac_mesh_destroy(&same);
}

/* Assimp waits for ever for the end of such a header. */
static void a_ply_cut_off_in_its_header_is_an_error(void **state)
{
    (void)state;
    const char *texts[] = {"ply", "ply\nformat ascii 1.0\n",
                           "ply\nformat ascii 1.0\nelement vertex 4\npropertw x\nend_heade"};
    for (int i = 0; i < 3; i++) {
        sac_mesh *mesh;
        sac_error error;
        check_error(import_text("cut.ply", texts[i], &mesh, &error), SAC_ERROR_FORMAT, &error, "cut.ply",
                    "PLY header");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_formats_give_the_same_box),
        cmocka_unit_test(binary_stl_is_read),
        cmocka_unit_test(gltf_parts_are_placed_and_mirrored),
        cmocka_unit_test(concave_polygons_are_cut_inside),
        cmocka_unit_test(every_trouble_has_its_own_words),
        cmocka_unit_test(memory_is_alone_in_the_world),
        cmocka_unit_test(damaged_text_gives_a_mesh_or_an_error),
        cmocka_unit_test(a_child_that_fails_is_an_error),
        cmocka_unit_test(a_ply_cut_off_in_its_header_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
