/* Towers and pyramids of boxes baked from a mesh: their faces are bumpy spheres, but they stand like boxes,
 * come to rest and sleep. And the flat faces trees are found to have. */
#include "tests/world_play.h"

static const sac_method methods[] = {SAC_METHOD_MEDIAL, SAC_METHOD_HUBBARD, SAC_METHOD_OCTREE,
                                     SAC_METHOD_GRID};
enum { METHODS = sizeof methods / sizeof *methods };
/* Instrumented code is ten times as slow: there every third method has to show the same. */
#ifdef SACCADE_INSTRUMENTED
enum { EVERY = 3 };
#else
enum { EVERY = 1 };
#endif
/* The built-in box is 1 x 0.7 x 0.5. */
static const float WIDE = 1, HIGH = 0.7f, SCALE = 0.3f;

static sac_tree *bake(const char *name, sac_method method)
{
    sac_mesh *mesh = NULL;
    sac_tree *tree = NULL;
    sac_build_def def = sac_default_build_def();
    def.method = method;
    assert_int_equal(sac_mesh_builtin(name, 0, &mesh, NULL), SAC_OK);
    assert_int_equal(sac_tree_build(mesh, &def, &tree, NULL), SAC_OK);
    sac_mesh_destroy(&mesh);
    return tree;
}

/* The same box for every tower: baked once by each method. */
static sac_tree *boxes[SAC_METHOD_COUNT];

static const sac_tree *box_by(sac_method method)
{
    if (!boxes[method]) boxes[method] = bake("box", method);
    return boxes[method];
}

static int free_boxes(void **state)
{
    (void)state;
    for (int i = 0; i < SAC_METHOD_COUNT; i++) sac_tree_destroy(&boxes[i]);
    return 0;
}

static sac_body_id put(sac_world *world, sac_shape_id shape, float x, float y)
{
    sac_body_def body = play_body_def(shape, SAC_BODY_DYNAMIC, x, y, 0);
    body.scale = SCALE;
    return play_make(world, &body);
}

typedef struct setting {
    const char *policy;
    uint64_t budget_ns;
    bool looked_at;
} setting;

/* Frames until all sleep, with an eye two metres off when somebody looks. */
static int until_asleep(sac_world *world, const setting *s, int most)
{
    sac_viewer viewer = sac_default_viewer();
    viewer.eyes[0].position[1] = 1, viewer.eyes[0].position[2] = 2.5f;
    sac_step_def step = sac_default_step_def();
    step.budget_ns = s->budget_ns;
    step.viewer = s->looked_at ? &viewer : NULL;
    for (int i = 0; i < most; i++) {
        sac_step_report report;
        assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
        if (report.awake == 0) return i;
    }
    return most;
}

/* Rows of a pyramid, or a tower when `one` is wide; each box `drop` above the one below it. */
static void stands(sac_method method, const setting *s, int rows, bool one, float drop)
{
    const sac_tree *tree = box_by(method);
    sac_world_def def = play_def();
    def.policy = s->policy;
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id shape = play_tree(world, tree);
    sac_body_id ids[128];
    float want[128][2];
    uint32_t n = 0;
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < (one ? 1 : rows - row); i++, n++) {
            float size = HIGH * SCALE;
            want[n][0] = one ? 0 : 1.05f * WIDE * SCALE * ((float)i - 0.5f * (float)(rows - row - 1));
            want[n][1] = size * ((float)row + 0.5f);
            ids[n] = put(world, shape, want[n][0], want[n][1] + drop * (float)row);
        }
    int frames = until_asleep(world, s, 600);
    const char *name = sac_method_name(method);
    CHECK_SAY(frames < 600, "%s, %s: awake after 600 frames\n", name, s->policy);
    for (uint32_t i = 0; i < n; i++) {
        sac_body_state b = play_state(world, ids[i]);
        float aside = fmaxf(fabsf(b.centre[0] - want[i][0]), fabsf(b.centre[2]));
        float lean = b.pose.rotation[0] * b.pose.rotation[0] + b.pose.rotation[2] * b.pose.rotation[2];
        CHECK_SAY(aside < 0.1f * WIDE * SCALE && fabsf(b.centre[1] - want[i][1]) < 0.1f * HIGH * SCALE,
                  "%s, %s, drop %g: box %u of %u is %g m aside and %g m off in height\n", name, s->policy,
                  (double)drop, i, n, (double)aside, (double)(b.centre[1] - want[i][1]));
        CHECK(lean < 0.0003f); /* two degrees */
    }
    sac_world_destroy(&world);
}

static const setting all_of_it = {"exhaustive", 0, false}, in_time = {"jnd", 2000000, true},
                     unseen = {"jnd", 2000000, false};

static void a_tower_of_ten_stands(void **state)
{
    (void)state;
    for (int i = 0; i < METHODS; i += EVERY) {
        stands(methods[i], &all_of_it, 10, true, 0);
        stands(methods[i], &all_of_it, 10, true, 0.0005f);
        stands(methods[i], &in_time, 10, true, 0);
        stands(methods[i], &unseen, 10, true, 0.0005f);
    }
}

static void a_pyramid_of_fifteen_rows_stands(void **state)
{
    (void)state;
    stands(SAC_METHOD_GRID, &all_of_it, 15, false, 0);
    for (int i = 0; i < METHODS; i += EVERY) stands(methods[i], &in_time, 15, false, 0);
}

/* Boxes that answer exactly have no bumps: only the solver can keep them awake. */
static void a_pyramid_of_exact_boxes_rests(void **state)
{
    (void)state;
    enum { ROWS = 15 };
    sac_world_def def = play_def();
    def.policy = "exhaustive";
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id box = play_box(world, 0.15f, 0.1f, 0.07f);
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < ROWS - row; i++)
            play_body(world, box, SAC_BODY_DYNAMIC, 0.315f * ((float)i - 0.5f * (float)(ROWS - row - 1)),
                      0.2f * (float)row + 0.1f, 0);
    CHECK(play_until_asleep(world, 400, 0) < 400);
    sac_world_destroy(&world);
}

static void faces_are_those_of_the_mesh(void **state)
{
    (void)state;
    const float half[3] = {0.5f, 0.35f, 0.25f};
    for (int i = 0; i < METHODS; i++) {
        sac_form form;
        assert_int_equal(sac_form_from_tree(&form, box_by(methods[i]), NULL), SAC_OK);
        assert_int_equal(form.face_count, 6);
        uint32_t seen = 0;
        for (uint32_t f = 0; f < 6; f++) {
            const sac_face *face = &form.faces[f];
            int axis = fabsf(face->normal[0]) > 0.9f ? 0 : fabsf(face->normal[1]) > 0.9f ? 1 : 2;
            CHECK(fabsf(face->normal[axis]) > 0.9999f && fabsf(face->offset - half[axis]) < 1e-3f);
            CHECK(face->outer);
            seen |= 1u << (2 * axis + (face->normal[axis] > 0));
            for (int k = 0; k < 3; k++)
                CHECK(face->high[k] <= half[k] + 1e-3f && face->low[k] >= -half[k] - 1e-3f);
        }
        assert_int_equal(seen, 63);
    }
    /* An l has six outer faces and two that look into its corner; a blob and spheres have none. */
    sac_tree *tree = bake("l", SAC_METHOD_MEDIAL);
    sac_form form;
    assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
    uint32_t inner = 0;
    for (uint32_t f = 0; f < form.face_count; f++) inner += !form.faces[f].outer;
    CHECK(form.face_count == 8 && inner == 2);
    sac_tree_destroy(&tree);
    tree = bake("blob", SAC_METHOD_MEDIAL);
    assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
    assert_int_equal(form.face_count, 0);
    sac_tree_destroy(&tree);
    tree = play_sphere_box(0.1f, 4);
    assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
    assert_int_equal(form.face_count, 0);
    sac_tree_destroy(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_are_those_of_the_mesh), cmocka_unit_test(a_tower_of_ten_stands),
        cmocka_unit_test(a_pyramid_of_fifteen_rows_stands), cmocka_unit_test(a_pyramid_of_exact_boxes_rests)};
    return cmocka_run_group_tests(tests, NULL, free_boxes);
}
