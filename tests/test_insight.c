/* The scheduler made visible: colours that colour-blind eyes can tell apart, rings at their angles, fronts
 * that cover what they stand for, and nothing allocated once warm. */
#include "world_play.h"

#include <stdlib.h>

#include "xr/insight.h"
#include "counted_memory.h"

/* ---- colours ---- */

typedef struct lab {
    double l, a, b;
} lab;

static double linear(uint32_t byte)
{
    double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double bend(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16 / 116.0; }

/* CIE L*a*b* of linear light, D65. */
static lab lab_of(const double rgb[3])
{
    double x = 0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2];
    double y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    double z = 0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2];
    double fx = bend(x / 0.9505), fy = bend(y), fz = bend(z / 1.089);
    return (lab){116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)};
}

typedef enum eyes { NORMAL, PROTANOPE, DEUTERANOPE, EYES } eyes;

/* Dichromats as Vienot, Brettel and Mollon reckon them (1999): in linear light, what is lost is put together
 * from the other two. */
static lab seen_by(uint32_t colour, eyes who)
{
    double c[3] = {linear(colour & 255), linear(colour >> 8 & 255), linear(colour >> 16 & 255)}, out[3];
    static const double MATRIX[EYES][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
        {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};
    for (int i = 0; i < 3; i++) {
        out[i] = MATRIX[who][i][0] * c[0] + MATRIX[who][i][1] * c[1] + MATRIX[who][i][2] * c[2];
        out[i] = out[i] < 0 ? 0 : out[i] > 1 ? 1 : out[i];
    }
    return lab_of(out);
}

static double difference(lab p, lab q)
{
    return sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
}

static void scale_rises_in_lightness(void **state)
{
    (void)state;
    for (int who = 0; who < EYES; who++) {
        double last = seen_by(sac_insight_scale(0), (eyes)who).l;
        for (int i = 1; i <= 64; i++) {
            double l = seen_by(sac_insight_scale((float)i / 64), (eyes)who).l;
            CHECK_SAY(l > last, "lightness falls at %d of 64 for eyes %d: %f to %f\n", i, who, last, l);
            last = l;
        }
        CHECK(last > 85);
    }
    CHECK(sac_insight_scale(-1) == sac_insight_scale(0));
    CHECK(sac_insight_scale(NAN) == sac_insight_scale(0));
    CHECK(sac_insight_scale(INFINITY) == sac_insight_scale(1));
}

static void groups_and_levels_can_be_told_apart(void **state)
{
    (void)state;
    sac_insight insight;
    sac_insight_init(&insight);
    insight.levels = 5;
    for (int who = 0; who < EYES; who++) {
        for (uint32_t i = 0; i < insight.groups; i++)
            for (uint32_t k = 0; k < i; k++) {
                double d = difference(seen_by(sac_insight_group_colour(&insight, i), (eyes)who),
                                      seen_by(sac_insight_group_colour(&insight, k), (eyes)who));
                CHECK_SAY(d > 8, "groups %u and %u differ by %f only for eyes %d\n", i, k, d, who);
            }
        for (uint32_t i = 0; i <= insight.levels; i++)
            for (uint32_t k = 0; k < i; k++)
                CHECK(difference(seen_by(sac_insight_level_colour(&insight, i), (eyes)who),
                                 seen_by(sac_insight_level_colour(&insight, k), (eyes)who)) > 8);
    }
    /* More error left is brighter. */
    float last = -1;
    for (float jnd = 0.25f; jnd < 100; jnd *= 1.25f) {
        float l = (float)seen_by(sac_insight_jnd_colour(jnd), NORMAL).l;
        CHECK(l > last || jnd > 16);
        last = l;
    }
}

static void paint_leaves_alone_what_it_should(void **state)
{
    (void)state;
    sac_insight insight;
    sac_insight_init(&insight);
    const sac_instance before = {.colour = 0x80332211u, .glow = 0.5f, .gloss = 0.7f};
    sac_instance instance = before;
    sac_body_state body = {.kind = SAC_BODY_DYNAMIC, .awake = true, .group = 2, .level = 1, .jnd = 3};
    sac_insight_colour(&insight, &body, &instance);
    CHECK(!memcmp(&instance, &before, sizeof before));
    for (int paint = SAC_PAINT_GROUP; paint < SAC_PAINTS; paint++) {
        insight.paint = (sac_paint)paint;
        body.kind = SAC_BODY_STATIC;
        sac_insight_colour(&insight, &body, &instance);
        CHECK(!memcmp(&instance, &before, sizeof before));
        body.kind = SAC_BODY_DYNAMIC;
        sac_insight_colour(&insight, &body, &instance);
        CHECK(instance.colour >> 24 == 0x80 && instance.colour != before.colour);
        uint32_t awake = instance.colour;
        body.awake = false;
        sac_insight_colour(&insight, &body, &instance);
        CHECK(instance.colour != awake);
        body.awake = true;
        instance = before;
    }
}

/* ---- gaze ---- */

static float angle_off(const float origin[3], const float axis[3], const float point[3])
{
    double d[3], dot = 0, n = 0, m = 0, x = 0;
    for (int k = 0; k < 3; k++) d[k] = (double)point[k] - origin[k];
    for (int k = 0; k < 3; k++) dot += d[k] * axis[k], n += d[k] * d[k], m += (double)axis[k] * axis[k];
    x = dot / sqrt(n * m);
    return (float)(acos(x < 1 ? x : 1) * 57.29577951308232);
}

/* Segments of this width of the ring at this angle; those that follow each other must join. */
static int ring_segments(const sac_line_array *lines, float width, const float origin[3], const float axis[3],
                         float degrees, bool joined)
{
    int count = 0;
    const sac_line *first = NULL, *last = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        const sac_line *line = &lines->data[i];
        if (line->width != width || fabsf(angle_off(origin, axis, line->from) - degrees) > 0.02f ||
            fabsf(angle_off(origin, axis, line->to) - degrees) > 0.02f)
            continue;
        if (last && joined) CHECK(play_distance(last->to, line->from) < 1e-5f);
        if (!first) first = line;
        last = line;
        count++;
    }
    if (count && joined) CHECK(play_distance(last->to, first->from) < 1e-4f);
    return count;
}

static void rings_are_at_their_angles(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_insight insight;
    sac_insight_init(&insight);
    insight.rings = insight.gaze = true;
    sac_line_array lines = {0};
    sac_ball_array balls = {0};
    sac_rng rng = sac_rng_seed(7);
    for (int t = 0; t < 50; t++) {
        sac_viewer viewer = sac_default_viewer();
        lines.count = balls.count = 0;
        for (int k = 0; k < 3; k++) viewer.eyes[0].position[k] = sac_rng_range(&rng, 0.5f, 2);
        play_turn_randomly(&rng, viewer.eyes[0].rotation);
        viewer.gaze.valid = t % 2;
        memcpy(viewer.gaze.origin, viewer.eyes[0].position, sizeof viewer.gaze.origin);
        sac_rng_unit_vector(&rng, viewer.gaze.direction);
        for (int k = 0; k < 3; k++) viewer.gaze.direction[k] *= 3;
        CHECK(sac_insight_build(&insight, world, &viewer, &lines, &balls));
        float head[3];
        sac_transform pose = {.scale = 1};
        memcpy(pose.rotation, viewer.eyes[0].rotation, sizeof pose.rotation);
        sac_transform_point(&pose, (float[3]){0, 0, -1}, head);
        const float degrees[4] = {5, 10, 20, 30};
        for (int r = 0; r < 8; r++) {
            int n = ring_segments(&lines, r < 4 ? -2 : -4, viewer.eyes[0].position,
                                  viewer.gaze.valid ? viewer.gaze.direction : head, degrees[r % 4],
                                  viewer.gaze.valid);
            CHECK_SAY(n == (viewer.gaze.valid ? 96 : 48), "%g degrees: %d segments\n", (double)degrees[r % 4],
                      n);
        }
        CHECK(balls.count == (viewer.gaze.valid ? 1 : 0));
        if (balls.count) /* what is looked at is on the axis */
            CHECK(angle_off(viewer.gaze.origin, viewer.gaze.direction, balls.data[0].centre) < 0.01f);
    }
    /* Nobody there, or nonsense: nothing, and no crash. */
    lines.count = balls.count = 0;
    CHECK(sac_insight_build(&insight, world, NULL, &lines, &balls));
    CHECK(lines.count == 0 && balls.count == 0);
    sac_viewer wrong = sac_default_viewer();
    wrong.gaze.valid = true;
    wrong.gaze.direction[0] = NAN;
    CHECK(sac_insight_build(&insight, world, &wrong, &lines, &balls));
    for (size_t i = 0; i < lines.count; i++)
        CHECK(sac_vec3_is_finite(lines.data[i].from) && sac_vec3_is_finite(lines.data[i].to));
    sac_array_fini(&lines);
    sac_array_fini(&balls);
    sac_insight_fini(&insight);
    sac_world_destroy(&world);
}

/* ---- fronts and contacts ---- */

static counted_memory memory;

typedef struct pile {
    sac_world *world;
    sac_tree *tree;
    sac_shape_id ring, ball;
    sac_body_id bodies[60];
} pile;

static pile heap_up(void)
{
    pile p = {0};
    sac_world_def def = play_def();
    def.sleep = false;
    p.world = play_create(&def);
    p.tree = play_torus(24, 0.15f, 0.05f);
    play_pen(p.world, 1.2f, 1);
    p.ring = play_tree(p.world, p.tree);
    p.ball = play_ball(p.world, 0.08f);
    sac_rng rng = sac_rng_seed(3);
    for (int i = 0; i < 60; i++) {
        sac_body_def body =
            play_body_def(i % 4 ? p.ring : p.ball, SAC_BODY_DYNAMIC, 0, 0.2f + 0.1f * (float)i, 0);
        body.position[0] = sac_rng_range(&rng, -0.3f, 0.3f),
        body.position[2] = sac_rng_range(&rng, -0.3f, 0.3f);
        play_turn_randomly(&rng, body.rotation);
        body.mass = 1;
        p.bodies[i] = play_make(p.world, &body);
    }
    return p;
}

static void take_down(pile *p)
{
    sac_world_destroy(&p->world);
    sac_tree_destroy(&p->tree);
}

static bool is_covered(const sac_ball_array *balls, const float point[3], float slack)
{
    for (size_t i = 0; i < balls->count; i++)
        if (play_distance(balls->data[i].centre, point) <= balls->data[i].radius + slack) return true;
    return false;
}

static void fronts_cover_their_contacts(void **state)
{
    (void)state;
    pile p = heap_up();
    sac_insight insight;
    sac_insight_init(&insight);
    insight.front = true;
    sac_line_array lines = {0};
    sac_ball_array balls = {0};
    sac_viewer viewer = sac_default_viewer();
    viewer.eyes[0].position[2] = 2;
    sac_contact_view contacts[2048];
    uint32_t covered = 0;
    for (int frame = 0; frame < 200; frame++) {
        sac_step_report report = play_step(p.world, frame % 3 ? 100000 : 0);
        sac_insight_note(&insight, &report);
        if (frame % 10) continue;
        lines.count = balls.count = 0;
        CHECK(sac_insight_build(&insight, p.world, &viewer, &lines, &balls));
        uint32_t count = sac_world_contacts(p.world, contacts, 2048);
        CHECK(count <= 2048);
        for (uint32_t i = 0; i < count; i++) {
            /* Between the two surfaces, so within the margin of one, and carried along by the first body;
             * where that one is a wall the other has moved on since. */
            sac_body_state first = play_state(p.world, contacts[i].a);
            bool wall = first.kind == SAC_BODY_STATIC;
            float apart = contacts[i].depth < 0 ? -0.5f * contacts[i].depth : 0;
            CHECK(is_covered(&balls, contacts[i].point, apart + (wall ? 6.0f / 90 : 0.001f)));
            covered++;
        }
        /* Each sphere once. */
        for (size_t i = 0; i < balls.count; i++)
            for (size_t k = 0; k < i; k++)
                CHECK(memcmp(&balls.data[i], &balls.data[k], sizeof *balls.data) != 0);
    }
    CHECK_SAY(covered > 500, "%u contacts only\n", covered);
    sac_array_fini(&lines);
    sac_array_fini(&balls);
    sac_insight_fini(&insight);
    take_down(&p);
}

/* Bodies that went and came since the step, in the places of others: nothing wrong is read. */
static void fronts_outlive_their_bodies(void **state)
{
    (void)state;
    pile p = heap_up();
    play_frames(p.world, 90);
    sac_front_view views[8192];
    CHECK(sac_world_front(p.world, views, 8192) > 100);
    sac_rng rng = sac_rng_seed(5);
    for (int i = 0; i < 60; i += 2) assert_int_equal(sac_body_destroy(p.world, p.bodies[i], NULL), SAC_OK);
    for (int i = 0; i < 300; i++) { /* more than there was room for: arrays move */
        sac_body_def body = play_body_def(i % 2 ? p.ring : p.ball, SAC_BODY_DYNAMIC, 0, 0, 0);
        for (int k = 0; k < 3; k++) body.position[k] = sac_rng_range(&rng, 0, 1);
        body.mass = 1;
        play_make(p.world, &body);
    }
    uint32_t count = sac_world_front(p.world, views, 8192);
    for (uint32_t i = 0; i < count && i < 8192; i++) {
        CHECK(sac_body_exists(p.world, views[i].body));
        CHECK(sac_vec3_is_finite(views[i].centre) && views[i].radius > 0);
    }
    CHECK(sac_world_front(p.world, NULL, 0) == count);
    take_down(&p);
}

static void harder_contacts_have_longer_lines(void **state)
{
    (void)state;
    pile p = heap_up();
    play_frames(p.world, 120);
    sac_insight insight;
    sac_insight_init(&insight);
    insight.contacts = true;
    sac_line_array lines = {0};
    sac_ball_array balls = {0};
    sac_contact_view contacts[2048];
    CHECK(sac_insight_build(&insight, p.world, NULL, &lines, &balls));
    uint32_t count = sac_world_contacts(p.world, contacts, 2048), pressing = 0;
    CHECK(count <= 2048 && balls.count == count);
    float impulses[2048], lengths[2048];
    for (uint32_t i = 0; i < count; i++) {
        if (!(contacts[i].impulse > 0)) continue;
        const sac_line *line = &lines.data[pressing];
        CHECK(play_distance(line->from, contacts[i].point) < 1e-6f);
        impulses[pressing] = contacts[i].impulse;
        lengths[pressing++] = play_distance(line->from, line->to);
    }
    CHECK(pressing > 20 && lines.count == pressing);
    for (uint32_t i = 0; i < pressing; i++)
        for (uint32_t k = 0; k < pressing; k++)
            if (impulses[i] > impulses[k]) CHECK(lengths[i] >= lengths[k] - 1e-5f);
    sac_array_fini(&lines);
    sac_array_fini(&balls);
    sac_insight_fini(&insight);
    take_down(&p);
}

static void nothing_is_allocated_once_warm(void **state)
{
    (void)state;
    memory.calls = 0;
    counted_memory_begin(&memory);
    pile p = heap_up();
    sac_insight insight;
    sac_insight_init(&insight);
    insight.front = insight.contacts = insight.gaze = insight.rings = true;
    sac_line_array lines = {0};
    sac_ball_array balls = {0};
    sac_viewer viewer = sac_default_viewer();
    viewer.eyes[0].position[2] = 2;
    viewer.gaze = (sac_gaze_sample){.valid = true, .origin = {0, 0, 2}, .direction = {0, 0, -1}};
    uint64_t before = 0;
    for (int frame = 0; frame < 400; frame++) {
        sac_step_report report = play_step(p.world, 0);
        if (frame == 300) before = memory.calls;
        sac_insight_note(&insight, &report);
        lines.count = balls.count = 0;
        CHECK(sac_insight_build(&insight, p.world, &viewer, &lines, &balls));
    }
    CHECK(before > 0 && memory.calls == before);
    CHECK(insight.frame_count == SAC_INSIGHT_FRAMES);
    sac_array_fini(&lines);
    sac_array_fini(&balls);
    sac_insight_fini(&insight);
    take_down(&p);
    sac_set_allocator(NULL);
}

/* ---- the strip ---- */

/* Height of the frame's own column over the zero line, in canvas units: its stages and what is over. */
static float column_top(const sac_canvas *canvas, float x, float zero)
{
    float top = zero;
    for (size_t i = 0; i < canvas->quads.count; i++) {
        const sac_canvas_quad *q = &canvas->quads.data[i];
        bool column = q->uw == 0 && q->w < 3 && q->h > 1.5f && x > q->x && x < q->x + q->w;
        if (column && q->colour >> 24 == 0xFF) top = fmaxf(top, q->y + q->h);
    }
    return top;
}

static sac_step_report made_up(uint64_t budget, uint64_t spent)
{
    sac_step_report r = {.budget_ns = budget, .spent_ns = spent, .reserved_ns = budget / 4};
    for (int s = 0; s < SAC_STAGES; s++) r.stage_ns[s] = spent / SAC_STAGES;
    r.overshoot_ns = (int64_t)spent - (int64_t)budget;
    r.returned_ns = budget > spent ? budget - spent : 0;
    return r;
}

static void strip_shows_what_was_spent(void **state)
{
    (void)state;
    sac_insight insight;
    sac_insight_init(&insight);
    sac_canvas canvas = {0};
    const float width = 480, height = 160;
    /* Nothing yet: an empty box, no crash. */
    CHECK(sac_insight_strip(&insight, &canvas, width, height));
    for (int i = 0; i < 500; i++) {
        uint64_t spent = i == 499 ? 2400000 : i == 498 ? 1000000 : i == 497 ? 2000000 : 500000;
        sac_step_report r = made_up(2000000, spent);
        sac_insight_note(&insight, &r);
    }
    insight.missed = 3;
    sac_canvas_clear(&canvas);
    CHECK(sac_insight_strip(&insight, &canvas, width, height));
    CHECK(canvas.quads.count > 4 * SAC_INSIGHT_FRAMES);
    for (size_t i = 0; i < canvas.quads.count; i++) {
        const sac_canvas_quad *q = &canvas.quads.data[i];
        CHECK_SAY(q->x >= -1 && q->y >= -1 && q->x + q->w <= width + 1 && q->y + q->h <= height + 1,
                  "a quad at %g %g, %g by %g is outside\n", (double)q->x, (double)q->y, (double)q->w,
                  (double)q->h);
    }
    /* The newest is at the right end; heights are in proportion. */
    float right = 0, column = 0, zero = FLT_MAX;
    for (size_t i = 0; i < canvas.quads.count; i++) {
        const sac_canvas_quad *q = &canvas.quads.data[i];
        if (q->uw != 0 || q->w > 3 || q->h < 1.5f || q->w < 1) continue;
        if (q->x + q->w > right) right = q->x + q->w, column = q->w;
        zero = fminf(zero, q->y);
    }
    CHECK(column > 0 && zero < height);
    float late = column_top(&canvas, right - 0.5f * column, zero) - zero;
    float half = column_top(&canvas, right - 1.5f * column, zero) - zero;
    float full = column_top(&canvas, right - 2.5f * column, zero) - zero;
    float low = column_top(&canvas, right - 50.5f * column, zero) - zero;
    CHECK_SAY(fabsf(late / half - 2.4f) < 0.1f && fabsf(full / half - 2) < 0.1f &&
                  fabsf(half / low - 2) < 0.15f,
              "heights %g %g %g %g\n", (double)low, (double)half, (double)full, (double)late);
    /* Warm: as often as one likes, at any size, without asking for memory. */
    size_t room = canvas.quads.capacity;
    for (int i = 0; i < 10; i++) {
        sac_canvas_clear(&canvas);
        CHECK(sac_insight_strip(&insight, &canvas, width, height));
    }
    CHECK(canvas.quads.capacity == room);
    CHECK(sac_insight_strip(&insight, &canvas, 0, 0) && sac_insight_strip(&insight, &canvas, NAN, 100));
    /* Without a budget there is still a picture. */
    sac_step_report free = made_up(0, 700000);
    for (int i = 0; i < 300; i++) sac_insight_note(&insight, &free);
    sac_canvas_clear(&canvas);
    CHECK(sac_insight_strip(&insight, &canvas, width, height));
    CHECK(canvas.quads.count > 4 * SAC_INSIGHT_FRAMES);
    sac_canvas_fini(&canvas);
    sac_insight_fini(&insight);
}

static void legend_names_what_is_switched_on(void **state)
{
    (void)state;
    sac_insight insight;
    sac_insight_init(&insight);
    sac_canvas canvas = {0};
    CHECK(sac_insight_legend(&insight, &canvas, 0, 0, 14) && canvas.quads.count == 0);
    size_t last = 0;
    for (int what = 0; what < 7; what++) {
        if (what < 3) insight.paint = (sac_paint)(SAC_PAINT_GROUP + what);
        if (what == 3) insight.front = true;
        if (what == 4) insight.contacts = true;
        if (what == 5) insight.gaze = true;
        if (what == 6) insight.rings = true;
        sac_canvas_clear(&canvas);
        CHECK(sac_insight_legend(&insight, &canvas, 5, 7, 14));
        CHECK(canvas.quads.count > (what < 3 ? 10 : last));
        last = canvas.quads.count;
        /* All of it lies on its own ground. */
        const sac_canvas_quad *ground = &canvas.quads.data[0];
        for (size_t i = 0; i < canvas.quads.count; i++) {
            const sac_canvas_quad *q = &canvas.quads.data[i];
            CHECK_SAY(q->x >= ground->x - 0.5f && q->y >= ground->y - 0.5f &&
                          q->x + q->w <= ground->x + ground->w + 0.5f &&
                          q->y + q->h <= ground->y + ground->h + 0.5f,
                      "legend %d: a quad at %g %g, %g by %g is outside\n", what, (double)q->x, (double)q->y,
                      (double)q->w, (double)q->h);
        }
    }
    sac_canvas_fini(&canvas);
    sac_insight_fini(&insight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_rises_in_lightness),
        cmocka_unit_test(groups_and_levels_can_be_told_apart),
        cmocka_unit_test(paint_leaves_alone_what_it_should),
        cmocka_unit_test(rings_are_at_their_angles),
        cmocka_unit_test(fronts_cover_their_contacts),
        cmocka_unit_test(fronts_outlive_their_bodies),
        cmocka_unit_test(harder_contacts_have_longer_lines),
        cmocka_unit_test(nothing_is_allocated_once_warm),
        cmocka_unit_test(strip_shows_what_was_spent),
        cmocka_unit_test(legend_names_what_is_switched_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
