/* Text trees: ours go out and come back, others' come in, rubbish does not. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random_tree.h"
#include "spheretree/sph_internal.h"
#include "spheretree/treefile.h"

static char folder[64], path_a[96], path_b[96];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/saccade-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path_a, sizeof path_a, "%s/a.sph", folder);
    snprintf(path_b, sizeof path_b, "%s/b.sph", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path_a);
    unlink(path_b);
    return rmdir(folder); /* fails when a temporary file was left */
}

static char *text_of(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static sac_tree *import(const char *text)
{
    sac_tree *tree;
    sac_error error;
    if (sac_tree_import_sph_memory(text, strlen(text), &tree, &error) != SAC_OK) {
        char message[600];
        fail_msg("%s", sac_error_text(&error, message, sizeof message));
    }
    assert_int_equal(sac_tree_validate(tree, NULL), SAC_OK);
    return tree;
}

/* From an exact copy, so that ASan sees a byte too many. */
static void refused(const char *text, sac_result code, int64_t line)
{
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    sac_tree *tree = (sac_tree *)1;
    sac_error error;
    sac_result result = sac_tree_import_sph_memory(copy, size, &tree, &error);
    free(copy);
    assert_null(tree);
    if (result != code || error.line != line)
        fail_msg("\"%.60s\": %s, line %d: %s", text, sac_result_name(result), (int)error.line, error.message);
    assert_true(error.code == code && error.message[0] && error.remedy[0]);
    FILE *file = fopen(path_a, "wb");
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
    assert_int_equal(sac_tree_import_sph(path_a, &tree, &error), code);
    assert_int_equal(error.line, line);
    assert_string_equal(error.file, path_a);
    assert_int_equal(sac_tree_import_sph(path_a, &tree, NULL), code);
}

static void assert_same_spheres(const sac_tree *a, const sac_tree *b)
{
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->block_count, b->block_count);
    assert_memory_equal(a->spheres, b->spheres, a->block_count * sizeof *a->spheres);
    assert_memory_equal(a->links, b->links, a->block_count * sizeof *a->links);
}

static void exported_and_imported_is_the_same_tree(void **state)
{
    (void)state;
    for (uint32_t branch = 2; branch <= 16; branch++)
        for (uint32_t depth = 0; depth <= 3; depth++) {
            sac_tree *tree = random_tree(branch * 10 + depth, branch, depth, depth == 2), *back, *again;
            assert_int_equal(sac_tree_export_sph(tree, path_a, NULL), SAC_OK);
            assert_int_equal(sac_tree_import_sph(path_a, &back, NULL), SAC_OK);
            assert_same_spheres(tree, back);
            assert_int_equal(back->method, SAC_METHOD_FOREIGN);
            assert_string_equal(back->name, "a");
            assert_int_equal(sac_tree_export_sph(back, path_b, NULL), SAC_OK);
            size_t size_a, size_b;
            char *a = text_of(path_a, &size_a), *b = text_of(path_b, &size_b);
            assert_string_equal(a, b);
            uint64_t lines = 0;
            for (size_t i = 0; i < size_a; i++) lines += a[i] == '\n';
            assert_int_equal(lines, 1 + sac_sph_nodes(depth + 1, branch));
            assert_int_equal(sac_tree_import_sph_memory(a, size_a, &again, NULL), SAC_OK);
            assert_same_spheres(tree, again);
            free(a);
            free(b);
            sac_tree_destroy(&tree);
            sac_tree_destroy(&back);
            sac_tree_destroy(&again);
        }
}

static void what_the_array_says_is_where_the_nodes_are(void **state)
{
    (void)state;
    /* Node 2's only child is its second, at 2 * 2 + 2 = 6. */
    sac_tree *tree = import("3 2\n0 0 0 4\n-1 0 0 2\n1 0 0 2\n0 0 0 -1\n0 0 0 -1\n9 9 9 -1\n1 1 0 1\n");
    assert_int_equal(tree->depth, 2);
    assert_int_equal(tree->node_count, 4);
    assert_int_equal(tree->leaf_count, 2);
    sac_tree_node_info node;
    assert_true(sac_tree_node(tree, tree->links[1].link[1] * SAC_LANES, &node));
    assert_true(node.centre[0] == 1 && node.centre[1] == 1 && node.radius == 1 && node.leaf);
    assert_true(node.gap == 2 && node.cone > 3.14f && node.normal[0] == 0 && node.point[1] == 1);
    assert_true(tree->box.low[0] == -3 && tree->box.high[0] == 2 && tree->box.high[1] == 2);
    sac_tree_destroy(&tree);
}

static void mass_is_that_of_the_leaves_as_balls(void **state)
{
    (void)state;
    /* Two unit balls four apart: 8 pi / 3, and for the axes across them 2 m (2/5 + 4). */
    sac_tree *tree = import("2 2\n0 0 0 3\n-2 0 0 1\n2 0 0 1\n");
    const sac_mass *m = &tree->mass;
    assert_float_equal(m->volume, 8.37758, 1e-4);
    assert_float_equal(m->inertia[0], 8.37758 * 0.4, 1e-4);
    assert_float_equal(m->inertia[1], 8.37758 * 4.4, 1e-3);
    assert_float_equal(m->inertia[2], 8.37758 * 4.4, 1e-3);
    assert_float_equal(m->inertia[3], 0, 1e-6);
    assert_float_equal(m->centre[0], 0, 1e-6);
    sac_tree_destroy(&tree);
    /* Diagonal: products are negative in the tensor. */
    tree = import("2 2\n0 0 0 3\n-1 -1 0 1\n1 1 0 1\n");
    assert_float_equal(tree->mass.inertia[3], -8.37758, 1e-4);
    sac_tree_destroy(&tree);
    tree = import("2 2\n0 0 0 3\n-1 0 0 0\n3 0 0 0\n");
    assert_true(tree->mass.volume == 0 && tree->mass.centre[0] == 1);
    sac_tree_destroy(&tree);
    /* Moments beyond a float are cut, not infinite. */
    tree = import("1 2\n4e12 0 0 4e12\n");
    assert_true(isfinite(tree->mass.volume) && tree->mass.inertia[0] == FLT_MAX);
    sac_tree_destroy(&tree);
}

/* Two leaves around a hole: the root's own centre is no part of the object. */
static void points_are_centres_of_leaves(void **state)
{
    (void)state;
    sac_tree *tree = import("3 2\n0 0 0 4\n-2 0 0 2\n3 0 0 2\n-2 1 0 1\n-2 -2 0 1\n3 0 0 1\n0 0 0 -1\n");
    sac_tree_node_info root, left, right;
    assert_true(sac_tree_node(tree, 0, &root) && sac_tree_node(tree, 8, &left) &&
                sac_tree_node(tree, 9, &right));
    assert_true(root.point[0] == -2 && root.point[1] == 1);
    assert_true(left.point[0] == -2 && left.point[1] == 1);
    assert_true(right.point[0] == 3 && right.point[1] == 0);
    sac_tree_destroy(&tree);
}

static void others_files_come_in(void **state)
{
    (void)state;
    const char *plain = "2 2\n0 0 0 1\n.5 0 0 1\n-5e-1 0 0 1\n";
    const char *variants[] = {
        "2 2\r\n0 0 0 1\r\n.5 0 0 1\r\n-5e-1 0 0 1\r\n",                    /* line ends of another system */
        "2 2\n0 0 0 1 0.25 17\n.5 0 0 1 0 words\n-5e-1 0 0 1 nan\n",        /* further columns */
        "2 2\n0 0 0 1\n.5 0 0 1\n-5e-1 0 0 1\n0.25 0.5\nworst error 3 %\n", /* notes behind the nodes */
        "2 2\n0 0 0 1\n.5 0 0 1\n-5e-1 0 0 1",                              /* no last line end */
        "\n  2\t2  \n\n0 0 0 1\n\n 0.5 +0 -0.0e9 1.\n-.5 0 0 00001E+00\n",  /* blanks everywhere */
        "\xef\xbb\xbf 2 2\n0 0 0 1\n.5 0 0 1\n-5e-1 0 0 1\n",               /* byte order mark */
    };
    sac_tree *tree = import(plain);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        sac_tree *same = import(variants[i]);
        for (uint32_t b = 0; b < tree->block_count; b++)
            for (uint32_t k = 0; k < SAC_LANES; k++)
                if (sac_tree_has(tree, b * SAC_LANES + k)) {
                    assert_true(tree->spheres[b].x[k] == same->spheres[b].x[k]);
                    assert_true(tree->spheres[b].r[k] == same->spheres[b].r[k]);
                }
        sac_tree_destroy(&same);
    }
    sac_tree_destroy(&tree);
}

static void rubbish_is_refused_with_its_line(void **state)
{
    (void)state;
    refused("", SAC_ERROR_FORMAT, 1);
    refused("\n\n", SAC_ERROR_FORMAT, 1);
    refused("hello", SAC_ERROR_FORMAT, 1);
    refused("3", SAC_ERROR_FORMAT, 1);
    refused("3 8.5\n", SAC_ERROR_FORMAT, 1);
    refused("-3 8\n", SAC_ERROR_FORMAT, 1);
    refused("0 8\n", SAC_ERROR_LIMIT, 1);
    refused("14 2\n", SAC_ERROR_LIMIT, 1);
    refused("3 1\n", SAC_ERROR_LIMIT, 1);
    refused("3 17\n", SAC_ERROR_LIMIT, 1);
    refused("1000000 1000000\n", SAC_ERROR_LIMIT, 1);
    refused("4294967298 4294967298\n", SAC_ERROR_LIMIT, 1);
    refused("99999999999999999999999999999999999999 2\n", SAC_ERROR_LIMIT, 1);
    refused("13 16\n0 0 0 1\n", SAC_ERROR_LIMIT, 1);
    refused("2 2\n", SAC_ERROR_CORRUPT, 2);
    refused("2 2\n0 0 0 1\n0 0 0 1\n", SAC_ERROR_CORRUPT, 4);
    refused("9 8\n0 0 0 1\n0 0 0 1\n", SAC_ERROR_CORRUPT, 4);
    refused("1 2\n0 0 0\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 0 x\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 0 1x\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 0 1e\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 0 1e+\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 0 0x10\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 0 nan\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 inf 1\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 . 1\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 1,5 1\n", SAC_ERROR_FORMAT, 2);
    refused("1 2\n0 0 1e39 1\n", SAC_ERROR_LIMIT, 2);
    refused("1 2\n0 0 1e999999999999999999999 1\n", SAC_ERROR_LIMIT, 2);
    refused("1 2\n0 0 1e13 1\n", SAC_ERROR_LIMIT, 2);
    refused("1 2\n0 0 0 -1\n", SAC_ERROR_EMPTY, 2);
    refused("3 2\n0 0 0 1\n0 0 0 -1\n0 0 0 1\n0 0 0 1\n0 0 0 -1\n0 0 0 -1\n0 0 0 -1\n", SAC_ERROR_FORMAT, 5);
}

static void a_line_without_end_is_refused(void **state)
{
    (void)state;
    size_t size = 1 << 20;
    char *text = malloc(size + 1);
    memset(text, ' ', size);
    text[size] = '\0';
    FILE *file = fopen(path_a, "wb");
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
    free(text);
    sac_tree *tree;
    sac_error error;
    assert_int_equal(sac_tree_import_sph(path_a, &tree, &error), SAC_ERROR_FORMAT);
    assert_int_equal(error.line, 1);
    assert_int_equal(sac_tree_import_sph(folder, &tree, &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_import_sph("/nowhere/x.sph", &tree, &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_import_sph_memory(NULL, 0, &tree, &error), SAC_ERROR_FORMAT);
}

static void lines_across_the_buffer_are_whole(void **state)
{
    (void)state;
    /* Long lines of different lengths, so that every kind of place falls on the edge of a read. */
    FILE *file = fopen(path_a, "wb");
    fprintf(file, "4 8\n");
    for (int i = 0; i < 585; i++) fprintf(file, "%d 0.125 -3 1%*s\n", i, 60 + i * 37 % 1900, "end");
    fclose(file);
    sac_tree *tree;
    assert_int_equal(sac_tree_import_sph(path_a, &tree, NULL), SAC_OK);
    assert_int_equal(tree->node_count, 585);
    double sum = 0;
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++)
        if (sac_tree_has(tree, id)) sum += tree->spheres[id / SAC_LANES].x[id % SAC_LANES];
    assert_true(sum == 585 * 584 / 2);
    sac_tree_destroy(&tree);
}

static void numbers_read_back_as_the_same_floats(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(99);
    for (int i = 0; i < 300000; i++) {
        uint32_t bits = (uint32_t)sac_rng_next(&rng);
        float value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        char text[64];
        int length = snprintf(text, sizeof text, i % 2 ? "%.9g" : "%.17g", (double)value);
        const char *at = text;
        assert_int_equal(sac_number_parse(&at, text + length, &back), SAC_NUMBER_GOOD);
        if (memcmp(&value, &back, sizeof value) != 0) fail_msg("%s", text);
        assert_ptr_equal(at, text + length);
    }
    /* Digits far beyond what counts. */
    const char *many[] = {"0.0000000000000000000000000000000000000000000000000000000001e58",
                          "100000000000000000000000000000000000000000000000000e-50",
                          "0.99999999999999999999999999999999999999999999999999999"};
    for (int i = 0; i < 3; i++) {
        const char *at = many[i];
        float value = 0;
        assert_int_equal(sac_number_parse(&at, at + strlen(at), &value), SAC_NUMBER_GOOD);
        assert_true(value == 1.0f);
    }
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    size_t i = 0;
    while (i < 4 && !setlocale(LC_ALL, names[i])) i++;
    sac_tree *tree = import("1 2\n0.5 -1.25 0 1e-3\n"), *back;
    assert_int_equal(sac_tree_export_sph(tree, path_a, NULL), SAC_OK);
    assert_int_equal(sac_tree_import_sph(path_a, &back, NULL), SAC_OK);
    assert_same_spheres(tree, back);
    size_t size;
    char *text = text_of(path_a, &size);
    assert_string_equal(text, "1 2\n0.5 -1.25 0 0.00100000005\n");
    free(text);
    setlocale(LC_ALL, "C");
    sac_tree_destroy(&tree);
    sac_tree_destroy(&back);
}

static void an_array_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    /* Thirteen nodes, one under the other: as a full array of 16 children 4.8e15 lines. */
    sac_draft draft = {0};
    for (uint32_t i = 0; i < 13; i++) {
        sac_draft_node node = {.radius = 1, .parent = i ? i - 1 : SAC_DRAFT_ROOT};
        assert_true(sac_array_push(&draft.nodes, node));
    }
    sac_tree like = {.branch = 16}, *tree;
    assert_int_equal(sac_draft_assemble(&draft, &like, &tree, NULL), SAC_OK);
    sac_error error;
    unlink(path_b);
    assert_int_equal(sac_tree_export_sph(tree, path_b, &error), SAC_ERROR_LIMIT);
    assert_true(error.remedy[0] && strcmp(error.file, path_b) == 0);
    assert_int_equal(access(path_b, F_OK), -1);
    sac_tree_destroy(&tree);
    like.branch = 2;
    assert_int_equal(sac_draft_assemble(&draft, &like, &tree, NULL), SAC_OK);
    sac_array_fini(&draft.nodes);
    assert_int_equal(sac_tree_export_sph(tree, path_b, &error), SAC_OK);
    sac_tree *back;
    assert_int_equal(sac_tree_import_sph(path_b, &back, &error), SAC_OK);
    assert_same_spheres(tree, back);
    sac_tree_destroy(&back);
    assert_int_equal(sac_tree_export_sph(tree, "/dev/full", &error), SAC_ERROR_IO);
    assert_int_equal(sac_tree_export_sph(tree, "/nowhere/x.sph", NULL), SAC_ERROR_IO);
    sac_tree_destroy(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_and_imported_is_the_same_tree),
        cmocka_unit_test(what_the_array_says_is_where_the_nodes_are),
        cmocka_unit_test(mass_is_that_of_the_leaves_as_balls),
        cmocka_unit_test(points_are_centres_of_leaves),
        cmocka_unit_test(others_files_come_in),
        cmocka_unit_test(rubbish_is_refused_with_its_line),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(lines_across_the_buffer_are_whole),
        cmocka_unit_test(numbers_read_back_as_the_same_floats),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(an_array_beyond_the_limit_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
