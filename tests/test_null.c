/* Every public function, with each pointer it needs left out in turn: ERROR_ARGUMENT that names the pointer,
 * or, where there is no result to say it with, nothing done. What is inline or asked for each node or contact
 * takes pointers as they come (base/error.h) and is not here. */
#include "tests/world_play.h"

static int turn, missing;
static sac_error error;

/* Is it this one's turn to be left out? */
static bool left_out(void) { return turn++ == missing; }
#define P(pointer) (left_out() ? NULL : (pointer))

static int pointers_in(const char *call)
{
    int count = 0;
    for (; (call = strstr(call, "P(")); call++) count++;
    return count;
}

/* The call once for each P(); its text is taken before the macro is gone from it. */
#define EACH(text) for (missing = 0, turn = 0; missing < pointers_in(text); missing++, turn = 0)
#define NEEDS(...)                                                                           \
    EACH(#__VA_ARGS__)                                                                       \
    {                                                                                        \
        error = (sac_error){0};                                                              \
        sac_result result = __VA_ARGS__;                                                     \
        if (result != SAC_ERROR_ARGUMENT) fail_msg("%s: pointer %d", #__VA_ARGS__, missing); \
        if (strstr(#__VA_ARGS__, "&error") && !strstr(error.message, " is NULL"))            \
            fail_msg("%s: pointer %d: \"%s\"", #__VA_ARGS__, missing, error.message);        \
    }
#define IDLE(...)      \
    EACH(#__VA_ARGS__) \
    if (!(__VA_ARGS__)) fail_msg("%s: pointer %d", #__VA_ARGS__, missing)
/* Nothing to see but that it comes back. */
#define SILENT(...) EACH(#__VA_ARGS__) __VA_ARGS__

static const float at[3] = {0, 1, 0}, way[3] = {1, 0, 0}, ones[3] = {1, 1, 1},
                   points[4][3] = {{0}, {1}, {0, 1}, {0, 0, 1}};
static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
static sac_transform pose = {.scale = 1, .rotation = {0, 0, 0, 1}};

static sac_mesh *mesh_of_four(void)
{
    sac_mesh *mesh;
    assert_int_equal(sac_mesh_create(points, 4, faces, 4, NULL, &mesh, NULL), SAC_OK);
    return mesh;
}

static void test_spheretree(void **state)
{
    (void)state;
    sac_mesh *mesh = mesh_of_four(), *made;
    sac_mass mass;
    NEEDS(sac_mesh_create(P(points), 4, P(faces), 4, NULL, P(&made), &error));
    NEEDS(sac_mesh_builtin(P("torus"), 0, P(&made), &error));
    NEEDS(sac_mesh_repair(P(mesh), NULL, &error));
    NEEDS(sac_mesh_mass(P(mesh), P(&mass), &error));
    SILENT(sac_mesh_destroy(P(&made)));

    sac_tree *tree = play_sphere_box(0.5f, 2), *grown;
    const float spheres[2][4] = {{0, 0, 0, 1}, {1, 0, 0, 1}};
    sac_build_def build = sac_default_build_def();
    sac_measure_def measure = sac_default_measure_def();
    sac_level_quality levels[SAC_TREE_MOST_DEPTH + 1];
    sac_tree_node_info node;
    sac_method method;
    void *bytes;
    size_t size;
    NEEDS(sac_tree_build(P(mesh), P(&build), P(&grown), &error));
    NEEDS(sac_tree_build_spheres(P(spheres), 2, P(&build), P(&grown), &error));
    NEEDS(sac_tree_build_points(P(points), 4, P(&build), P(&grown), &error));
    NEEDS(sac_tree_validate(P(tree), &error));
    NEEDS(sac_tree_measure(P(tree), P(mesh), P(&measure), P(levels), &error));
    NEEDS(sac_tree_save(P(tree), P("/nowhere/x"), &error));
    NEEDS(sac_tree_save_memory(P(tree), P(&bytes), P(&size), &error));
    NEEDS(sac_tree_load(P("/nowhere/x"), P(&grown), &error));
    NEEDS(sac_tree_load_memory(P("x"), 1, P(&grown), &error));
    NEEDS(sac_tree_map(P("/nowhere/x"), P(&grown), &error));
    NEEDS(sac_tree_export_sph(P(tree), P("/nowhere/x"), &error));
    NEEDS(sac_tree_import_sph(P("/nowhere/x"), P(&grown), &error));
    NEEDS(sac_tree_import_sph_memory("1 2", 3, P(&grown), &error));
    IDLE(!sac_tree_node(P(tree), 0, P(&node)));
    IDLE(!sac_method_from_name(P("grid"), P(&method)));
    SILENT(sac_tree_destroy(P(&grown)));
    assert_null(grown); /* whatever was left out, it is not left undefined */

    uint32_t a[8], b[8];
    sac_descend_result all;
    sac_front_pool_def pool_def = sac_default_front_pool_def();
    sac_front_pool *pool;
    sac_front *front;
    sac_front_pool_usage usage = {.fronts = 1};
    sac_front_pair pair;
    sac_contact contact;
    sac_ray_hit hit;
    static sac_distance distance;
    NEEDS(sac_descend_all(P(tree), P(&pose), P(tree), P(&pose), P(a), P(b), 8, P(&all), &error));
    NEEDS(sac_front_pool_create(P(&pool_def), P(&pool), &error));
    assert_int_equal(sac_front_pool_create(&pool_def, &pool, NULL), SAC_OK);
    NEEDS(sac_front_acquire(P(pool), P(tree), P(&pose), P(tree), P(&pose), P(&front), &error));
    assert_int_equal(sac_front_acquire(pool, tree, &pose, tree, &pose, &front, NULL), SAC_OK);
    NEEDS(sac_front_restart(P(front), P(&pose), P(&pose), &error));
    SILENT(sac_front_pool_report(P(pool), P(&usage)));
    assert_int_equal(usage.fronts, 0);
    SILENT(sac_front_release(P(front)));
    IDLE(sac_front_step(P(front), 9) == 0);
    IDLE(sac_front_step_level(P(front), 9) == 0);
    IDLE(sac_front_done(P(front)));
    IDLE(sac_front_report(P(front)).pending == 0);
    IDLE(sac_front_pairs(P(front), P(&pair), 1) == 0);
    IDLE(sac_front_contacts(P(front), P(&contact), 1) == 0);
    SILENT(sac_front_pool_destroy(P(&pool)));
    sac_front_pool_destroy(&pool);
    NEEDS(sac_sphere_query(P(tree), P(&pose), P(at), 1, P(a), 8, P(&size), &error));
    NEEDS(sac_ray_query(P(tree), P(&pose), P(at), P(way), 1, P(&hit), &error));
    NEEDS(sac_distance_begin(P(&distance), P(tree), P(&pose), P(tree), P(&pose), &error));
    IDLE(sac_distance_step(P(&distance), 9) == 0);

    const float heights[4] = {0, 0, 0, 0};
    sac_terrain *terrain, *made_terrain;
    float t, normal[3];
    assert_int_equal(sac_terrain_from_heights(heights, 2, 2, 1, &terrain, NULL), SAC_OK);
    NEEDS(sac_terrain_from_mesh(P(mesh), P(&made_terrain), &error));
    NEEDS(sac_terrain_from_heights(P(heights), 2, 2, 1, P(&made_terrain), &error));
    NEEDS(sac_terrain_save_memory(P(terrain), P(&bytes), P(&size), &error));
    NEEDS(sac_terrain_load_memory(P("x"), 1, P(&made_terrain), &error));
    IDLE(sac_terrain_box(P(terrain)).low[0] > 0);
    IDLE(!sac_terrain_ray(P(terrain), P(at), P(way), 1, P(&t), P(normal), P(a)));
    SILENT(sac_terrain_destroy(P(&made_terrain)));

    sac_form form, other;
    sac_box box;
    NEEDS(sac_form_from_tree(P(&form), P(tree), &error));
    NEEDS(sac_form_sphere(P(&form), 1, &error));
    NEEDS(sac_form_capsule(P(&form), 1, 1, &error));
    NEEDS(sac_form_box(P(&form), P(ones), &error));
    NEEDS(sac_form_plane(P(&form), P(at), 0, &error));
    NEEDS(sac_form_from_terrain(P(&form), P(terrain), &error));
    assert_int_equal(sac_form_sphere(&form, 1, NULL), SAC_OK);
    assert_int_equal(sac_form_from_tree(&other, tree, NULL), SAC_OK);
    SILENT(sac_form_bounds(P(&form), P(&pose), P(&box)));
    NEEDS(sac_form_ray(P(&form), P(&pose), P(at), P(way), 1, P(&hit), &error));
    IDLE(sac_form_distance(P(&form), P(&pose), P(at), 1, NULL, NULL) == FLT_MAX);

    sac_workspace *workspace;
    sac_meeting meeting;
    sac_pairs root = {a, b, 0, 0}, next = root, done = root;
    sac_sweep still = {.v = {0}};
    NEEDS(sac_workspace_create(P(&workspace), &error));
    assert_int_equal(sac_workspace_create(&workspace, NULL), SAC_OK);
    IDLE(!sac_meeting_begin(P(&meeting), P(&form), P(&pose), P(&other), P(&pose), 0, P(&root)));
    IDLE(sac_meeting_open(P(workspace), P(&meeting), 0, P(&root), 9, P(&next), P(&done)).used == 0);
    IDLE(sac_meeting_contacts(P(&meeting), NULL, NULL, 4, P(&contact), NULL) == 0);
    IDLE(!sac_meeting_refresh(P(&meeting), 0, 0, P(&contact)));
    IDLE(sac_meeting_refresh_all(P(&meeting), P(&root), P(&contact)) == 0);
    IDLE(sac_meeting_advance(P(&form), P(&pose), P(&still), P(&form), P(&pose), P(&still), 0, 9, NULL) == 0);
    SILENT(sac_workspace_destroy(P(&workspace)));
    sac_workspace_destroy(&workspace);
    sac_terrain_destroy(&terrain);
    sac_tree_destroy(&tree);
    sac_mesh_destroy(&mesh);
}

static void test_deform(void **state)
{
    (void)state;
    sac_mesh *mesh = mesh_of_four();
    sac_soft_def def = sac_default_soft_def();
    sac_soft_model *model, *other_model;
    sac_soft *soft, *other;
    sac_soft_step_def step = {.dt = 0.01f};
    NEEDS(sac_soft_model_create(P(points), NULL, 4, P(&def), P(&other_model), &error));
    assert_int_equal(sac_soft_model_create(points, NULL, 4, &def, &model, NULL), SAC_OK);
    IDLE(sac_soft_model_points(P(model)) == 0);
    IDLE(sac_soft_model_clusters(P(model)) == 0);
    NEEDS(sac_soft_create(P(model), NULL, P(&other), &error));
    assert_int_equal(sac_soft_create(model, NULL, &soft, NULL), SAC_OK);
    NEEDS(sac_soft_step(P(&soft), 1, P(&step), NULL, NULL));
    NEEDS(sac_soft_pull(P(&soft), 1, P(&step), NULL, NULL));
    NEEDS(sac_soft_move(P(&soft), 1, P(&step), NULL, NULL));
    NEEDS(sac_soft_fall(P(soft), P(&step)));
    NEEDS(sac_soft_push(P(soft), 0, P(way), &error));
    NEEDS(sac_soft_set_point(P(soft), 0, P(at), NULL, &error));
    NEEDS(sac_soft_hold(P(soft), 0, P(at), &error));
    NEEDS(sac_soft_release(P(soft), 0, &error));
    sac_soft_map map;
    float rows[4][3][4];
    IDLE(sac_soft_view(P(soft)).count == 0);
    SILENT(sac_soft_map_of(P(soft), 0, P(&map)));
    SILENT(sac_soft_joints(P(soft), P(rows)));

    sac_soft_tree_def tree_def = sac_default_soft_tree_def();
    sac_soft_tree *tree, *other_tree;
    sac_soft_cover *cover, *other_cover;
    sac_soft_motion motion;
    sac_form form;
    uint32_t found[4];
    double moment[3];
    NEEDS(sac_soft_tree_create(P(model), P(&tree_def), P(&other_tree), &error));
    assert_int_equal(sac_soft_tree_create(model, &tree_def, &tree, NULL), SAC_OK);
    NEEDS(sac_soft_cover_create(P(tree), P(soft), P(&other_cover), &error));
    assert_int_equal(sac_soft_cover_create(tree, soft, &cover, NULL), SAC_OK);
    IDLE(sac_soft_cover_refits(P(cover)) == 0);
    SILENT(sac_soft_cover_form(P(cover), P(&form)));
    SILENT(sac_soft_cover_renew(P(cover), P(&form)));
    IDLE(sac_soft_cover_touch(P(cover), P(at), 1, P(found), 4) == 0);
    SILENT(sac_soft_motion_of(P(soft), P(&motion)));
    SILENT(sac_soft_set_velocity(P(soft), P(at), P(way), P(way)));
    IDLE(sac_soft_node_at(P(tree), P(soft), P(at), 1) == 0);
    IDLE(sac_soft_energy(P(soft), P(moment)) == 0);

    sac_soft_response *response, *other_response;
    sac_soft_response_def response_def = sac_default_soft_response_def();
    sac_meeting meeting = {0};
    sac_pairs none = {0};
    sac_soft_party parties[2] = {{0}};
    sac_soft_contact contact = {0};
    NEEDS(sac_soft_response_create(P(&other_response), &error));
    assert_int_equal(sac_soft_response_create(&response, NULL), SAC_OK);
    IDLE(!sac_soft_response_reserve(P(response), 1, 1));
    IDLE(sac_soft_contacts(P(&meeting), &none, &none, 0, 1, P(parties), true, P(&contact), 1) == 0);
    NEEDS(sac_soft_respond(P(response), P(parties), 2, P(&contact), 1, P(&response_def), NULL, &error));
    SILENT(sac_soft_response_destroy(P(&response)));
    sac_soft_response_destroy(&response);

    sac_meshless_surface surface = {points, 4, faces, 4};
    sac_meshless_def meshless_def = sac_default_meshless_def();
    sac_meshless_model *skin, *other_skin;
    sac_meshless *body, *other_body;
    sac_meshless_cover *skin_cover, *other_skin_cover;
    sac_meshless_pair crossing;
    sac_box box;
    float direction[3];
    NEEDS(
        sac_meshless_model_create(P(&surface), P(points), 4, NULL, P(&meshless_def), P(&other_skin), &error));
    assert_int_equal(sac_meshless_model_create(&surface, points, 4, NULL, &meshless_def, &skin, NULL),
                     SAC_OK);
    NEEDS(sac_meshless_create(P(skin), P(&other_body), &error));
    assert_int_equal(sac_meshless_create(skin, &body, NULL), SAC_OK);
    NEEDS(sac_meshless_set_node(P(body), 0, P((const float(*)[4])rows[0]), &error));
    NEEDS(sac_meshless_follow(P(body), P(soft), &error));
    IDLE(sac_meshless_view_of(P(body)).vertex_count == 0);
    SILENT(sac_meshless_refit(P(body)));
    IDLE(sac_meshless_meet(P(body), P(body), P(&crossing), 1) == 0);
    NEEDS(sac_meshless_cover_create(P(body), P(&other_skin_cover), &error));
    assert_int_equal(sac_meshless_cover_create(body, &skin_cover, NULL), SAC_OK);
    SILENT(sac_meshless_cover_form(P(skin_cover), P(&form)));
    SILENT(sac_meshless_cover_renew(P(skin_cover), P(&form)));
    IDLE(!sac_meshless_cover_box(P(skin_cover), 0, P(&box)));
    IDLE(sac_meshless_node_count(P(skin)) == 0);
    IDLE(sac_meshless_refits(P(body)) == 0);
    SILENT(sac_meshless_direction(6, 0, P(direction)));

    sac_soft_shape_def shape_def = sac_default_soft_shape_def();
    shape_def.points = points, shape_def.point_count = 4;
    shape_def.triangles = faces, shape_def.triangle_count = 4;
    sac_soft_shape *shape, *other_shape;
    void *bytes;
    size_t size;
    NEEDS(sac_soft_shape_create(P(&shape_def), P(&other_shape), &error));
    assert_int_equal(sac_soft_shape_create(&shape_def, &shape, NULL), SAC_OK);
    NEEDS(sac_soft_shape_from_mesh(P(mesh), P(&shape_def), 0, P(&other_shape), &error));
    NEEDS(sac_soft_shape_save_memory(P(shape), P(&bytes), P(&size), &error));
    NEEDS(sac_soft_shape_load_memory(P("x"), 1, P(&other_shape), &error));
    NEEDS(sac_form_from_soft(P(&form), P(shape), &error));
    IDLE(sac_soft_shape_parts_of(P(shape)).model == NULL);
    IDLE(sac_soft_shape_skin(P(shape)).vertex_count == 0);

    SILENT(sac_soft_shape_destroy(P(&shape)));
    SILENT(sac_meshless_cover_destroy(P(&skin_cover)));
    SILENT(sac_meshless_destroy(P(&body)));
    SILENT(sac_meshless_model_destroy(P(&skin)));
    SILENT(sac_soft_cover_destroy(P(&cover)));
    SILENT(sac_soft_tree_destroy(P(&tree)));
    SILENT(sac_soft_destroy(P(&soft)));
    SILENT(sac_soft_model_destroy(P(&model)));
    sac_soft_shape_destroy(&shape);
    sac_meshless_cover_destroy(&skin_cover);
    sac_meshless_destroy(&body);
    sac_meshless_model_destroy(&skin);
    sac_soft_cover_destroy(&cover);
    sac_soft_tree_destroy(&tree);
    sac_soft_destroy(&soft);
    sac_soft_model_destroy(&model);
    sac_mesh_destroy(&mesh);
}

static void test_scheduler_and_response(void **state)
{
    (void)state;
    sac_viewer viewer = sac_default_viewer();
    sac_gaze_filter filter = {0};
    sac_focus focus = {.eye_count = 1};
    sac_perception_def perception = sac_default_perception_def();
    sac_sights sights = {0};
    NEEDS(sac_viewer_check(P(&viewer), &error));
    SILENT(sac_gaze_init(P(&filter), NULL));
    NEEDS(sac_gaze_reserve(P(&filter), 9, &error));
    SILENT(sac_gaze_fini(P(&filter)));
    SILENT(sac_gaze_update(P(&filter), &viewer, 1, P(&focus)));
    assert_int_equal(focus.eye_count, 0);
    SILENT(sac_perceive(P(&perception), NULL, P(&sights)));

    sac_clock clock = sac_clock_credits(500);
    sac_pace pace;
    sac_stop stop;
    sac_predictor predictor;
    SILENT(sac_pace_init(P(&pace)));
    SILENT(sac_stop_at(P(&stop), &clock, 1, NULL));
    SILENT(sac_stop_after(P(&stop), &clock, 1));
    SILENT(sac_predictor_init(P(&predictor), 1, 1, 1));
    IDLE(sac_predictor_mean_ns(P(&predictor), 1, 1) == 0);
    IDLE(sac_predictor_reserve_ns(P(&predictor), 1, 1) == 0);
    SILENT(sac_predictor_learn(P(&predictor), 1, 1, 1));

    sac_agenda_def def = sac_default_agenda_def();
    sac_agenda *agenda, *other;
    sac_agenda_report report;
    sac_form ball;
    sac_pairs pending = {0}, done = {0};
    const sac_policy *policy = sac_policy_find("jnd", NULL);
    assert_int_equal(sac_form_sphere(&ball, 1, NULL), SAC_OK);
    NEEDS(sac_agenda_create(P(&def), P(&other), &error));
    assert_int_equal(sac_agenda_create(&def, &agenda, NULL), SAC_OK);
    NEEDS(sac_agenda_reserve(P(agenda), 1, &error));
    SILENT(sac_agenda_clear(P(agenda)));
    IDLE(sac_agenda_add(P(agenda), P(&ball), P(&pose), P(&ball), P(&pose), 0) == UINT32_MAX);
    assert_int_equal(sac_agenda_add(agenda, &ball, &pose, &ball, &pose, 0), 0);
    SILENT(sac_agenda_work(P(agenda), P(policy), P(&perception), NULL, NULL, NULL, P(&report)));
    SILENT(sac_agenda_front(P(agenda), 0, P(&pending), P(&done)));
    sac_agenda_front(agenda, 9, &pending, &done);
    assert_true(pending.count == 0 && done.count == 0 && !sac_agenda_renews(agenda, 9, 0, 0));
    IDLE(!sac_agenda_renews(P(agenda), 0, 0, 0));
    SILENT(sac_agenda_destroy(P(&agenda)));
    sac_agenda_destroy(&agenda);
    assert_null(sac_policy_find(NULL, &error));

    sac_solver_def solver_def = sac_default_solver_def();
    sac_solver *solver, *other_solver;
    sac_solver_step step = {.dt = 0.01f, .substeps = 1};
    sac_manifold manifold = {0};
    sac_contact contact = {0};
    NEEDS(sac_solver_create(P(&solver_def), P(&other_solver), &error));
    assert_int_equal(sac_solver_create(&solver_def, &solver, NULL), SAC_OK);
    NEEDS(sac_solver_begin(P(solver), 1, 0, 0, &error));
    SILENT(sac_solver_solve(P(solver), P(&step), NULL, NULL, NULL));
    SILENT(sac_manifold_merge(P(&manifold), P(&contact), 1, P(&pose), P(&pose), 0.5f, 1));
    SILENT(sac_solver_destroy(P(&solver)));
    sac_solver_destroy(&solver);

    sac_tasks_def tasks_def = {.threads = 1};
    sac_tasks *tasks;
    char text[64];
    NEEDS(sac_tasks_create(P(&tasks_def), P(&tasks), &error));
    SILENT(sac_tasks_destroy(P(&tasks)));
    SILENT(sac_error_text(P(&error), P(text), sizeof text));
}

static void test_world(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *made, *w = play_create(&def);
    sac_shape_id shape = play_ball(w, 0.5f);
    sac_form ball = *sac_world_shape_form(w, shape);
    sac_body_id id = play_body(w, shape, SAC_BODY_DYNAMIC, 0, 1, 0);
    sac_body_def body = play_body_def(shape, SAC_BODY_DYNAMIC, 0, 1, 0);
    sac_body_state here;
    sac_filter filter = body.filter;
    sac_material material = body.material;
    uint64_t before = sac_world_hash(w);
    NEEDS(sac_world_create(P(&def), P(&made), &error));
    assert_null(made);
    NEEDS(sac_world_add_shape(P(w), P(&ball), NULL, &error));
    NEEDS(sac_world_remove_shape(P(w), shape, &error));
    NEEDS(sac_world_set_gravity(P(w), P(way), &error));
    NEEDS(sac_world_set_policy(P(w), P("fifo"), &error));
    NEEDS(sac_body_create(P(w), P(&body), NULL, &error));
    NEEDS(sac_body_destroy(P(w), id, &error));
    NEEDS(sac_body_get(P(w), id, P(&here), &error));
    NEEDS(sac_body_set_pose(P(w), id, P(at), P(play_upright), &error));
    NEEDS(sac_body_set_velocity(P(w), id, P(way), P(way), &error));
    NEEDS(sac_body_move_to(P(w), id, P(at), P(play_upright), &error));
    NEEDS(sac_body_push(P(w), id, P(way), NULL, &error));
    NEEDS(sac_body_set_kind(P(w), id, SAC_BODY_STATIC, &error));
    NEEDS(sac_body_set_filter(P(w), id, P(&filter), &error));
    NEEDS(sac_body_set_material(P(w), id, P(&material), &error));
    NEEDS(sac_body_set_motion(P(w), id, 1, 0, 0, 1, 1, &error));
    NEEDS(sac_body_wake(P(w), id, &error));
    NEEDS(sac_body_sleep(P(w), id, &error));
    NEEDS(sac_body_pin(P(w), id, 0, P(at), &error));
    NEEDS(sac_body_unpin(P(w), id, 0, &error));
    IDLE(!sac_world_shape_form(P(w), shape));
    IDLE(!sac_body_exists(P(w), id));
    IDLE(!sac_body_soft(P(w), id));
    IDLE(!sac_body_soft_shape(P(w), id));
    IDLE(sac_world_bodies(P(w), NULL, 0) == 0);

    sac_grab_def grab = sac_default_grab_def();
    sac_grab_id held;
    sac_grab_state grip;
    grab.body = id;
    memcpy(grab.anchor, at, sizeof at), memcpy(grab.target, at, sizeof at);
    NEEDS(sac_grab_create(P(w), P(&grab), NULL, &error));
    assert_true(before == sac_world_hash(w));
    assert_int_equal(sac_grab_create(w, &grab, &held, NULL), SAC_OK);
    NEEDS(sac_grab_move(P(w), held, P(at), P(play_upright), &error));
    NEEDS(sac_grab_destroy(P(w), held, &error));
    NEEDS(sac_grab_get(P(w), held, P(&grip), &error));

    sac_step_def step = sac_default_step_def();
    sac_counters counters = {.bodies = 1};
    const sac_contact_event *contacts;
    const sac_move_event *moves;
    NEEDS(sac_world_step(P(w), P(&step), NULL, &error));
    assert_int_equal(sac_world_step(w, &step, NULL, NULL), SAC_OK);
    SILENT(sac_world_counters(P(w), P(&counters)));
    assert_int_equal(counters.bodies, 0);
    IDLE(sac_world_hash(P(w)) == 0);
    IDLE(sac_world_energy(P(w)) == 0);
    IDLE(sac_world_contact_events(P(w), &contacts) == 0 && !contacts);
    IDLE(sac_world_move_events(P(w), &moves) == 0 && !moves);
    assert_int_equal(sac_world_move_events(w, NULL), 1); /* who only counts needs no list */
    assert_int_equal(sac_world_contact_events(w, NULL), 0);

    sac_world_hit hit;
    uint32_t count;
    NEEDS(sac_world_ray(P(w), P(at), P(way), 1, 1, P(&hit), &error));
    NEEDS(sac_world_overlap(P(w), P(at), 1, 1, NULL, 0, P(&count), &error));
    NEEDS(sac_world_closest(P(w), P(at), 1, 1, P(&hit), &error));
    NEEDS(sac_world_sweep(P(w), P(at), 1, P(way), 1, 7, P(&hit), &error));
    IDLE(sac_world_pairs(P(w), NULL, 0) == 0);
    IDLE(sac_world_contacts(P(w), NULL, 0) == 0);
    IDLE(sac_world_front(P(w), NULL, 0) == 0);

    sac_replay *replay = NULL;
    sac_replay_frame frame;
    uint64_t wall, cpu;
    NEEDS(sac_record_start(P(w), P("/nowhere/x"), &error));
    NEEDS(sac_record_stop(P(w), &error));
    NEEDS(sac_record_status(P(w), &error));
    NEEDS(sac_replay_open(P("/nowhere/x"), 1, P(&replay), &error));
    NEEDS(sac_replay_step(P(replay), P(&frame), &error));
    IDLE(!sac_replay_world(P(replay)));
    IDLE(sac_replay_progress(P(replay)) == 0);
    SILENT(sac_record_cost(P(w), P(&wall), P(&cpu)));
    SILENT(sac_replay_close(P(&replay)));
    SILENT(sac_world_destroy(P(&w)));
    sac_world_destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spheretree),
        cmocka_unit_test(test_deform),
        cmocka_unit_test(test_scheduler_and_response),
        cmocka_unit_test(test_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
