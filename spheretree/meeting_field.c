/* A tree against a form that answers at once: its nodes are held, level by level, against a distance field or
 * against terrain. Work is done in the field's own space; meeting->m takes the tree there. */
#include "spheretree/field_internal.h"

#include "spheretree/faces_internal.h"
#include "spheretree/meeting_internal.h"
#include "spheretree/terrain_internal.h"
#include "spheretree/vector_internal.h"

/* Costs in credits of half a nanosecond, measured: a block of eight against a solid; one node with its normal
 * and point; fixed part of a look at terrain. */
#define BLOCK_COST 20u
#define CONTACT_COST 36u
#define PROBE_COST 60u
#define LOOK_COST 16u /* at a box or triangle of terrain */
/* And of a call, whatever it finds. */
#define OPEN_COST 100u
#define CHOOSE_COST 400u

/* Triangles one leaf touches at a time, at most: a floor and two walls. */
#define LEAF_TOUCHES 3u

/* The meeting seen from the tree. */
typedef struct sides {
    const sac_form *form; /* of the tree */
    const sac_tree *tree;
    const sac_form *field;
    const sac_transform *tree_pose, *field_pose;
} sides;

static sides sides_of(const sac_meeting *m)
{
    return m->swapped ? (sides){m->b, m->b->tree, m->a, m->pose_b, m->pose_a}
                      : (sides){m->a, m->a->tree, m->b, m->pose_a, m->pose_b};
}

static bool has_tree(const sac_meeting *m)
{
    return m->a->kind == SAC_FORM_TREE || m->b->kind == SAC_FORM_TREE;
}

static sac_field_kernel *active_kernel(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_SSE2:
        return sac_field_kernel_sse2;
    case SAC_SIMD_AVX2:
    case SAC_SIMD_AVX512: /* eight lanes are all there are */
        return sac_field_kernel_avx2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return sac_field_kernel_neon;
#endif
    default:
        return sac_field_kernel_scalar;
    }
}

/* A node in the field's space. */
static float node_ball(const sac_meeting *m, const sac_tree *tree, uint32_t id, float centre[3])
{
    sac_ball ball = sac_ball_move(m->m, m->scale, sac_ball_of(tree, id));
    centre[0] = ball.x, centre[1] = ball.y, centre[2] = ball.z;
    return ball.r;
}

static bool root_touches(const sac_meeting *m, const sides *s)
{
    float centre[3], normal[3], radius = node_ball(m, s->tree, 0, centre);
    float reach = radius + m->margin / s->field_pose->scale;
    if (s->field->kind == SAC_FORM_TERRAIN) {
        uint64_t tests = 0;
        return sac_terrain_meets(s->field->terrain, centre, reach, &tests);
    }
    sac_solid solid = sac_solid_of(s->field, 1);
    return sac_solid_distance(&solid, centre, normal) <= reach;
}

bool sac_field_meeting_begin(sac_meeting *m, sac_pairs *out_root)
{
    out_root->count = 0;
    if (!has_tree(m)) {
        if (!sac_exact_begin(m)) return false;
        out_root->a[0] = out_root->b[0] = 0;
        out_root->count = 1;
        return true;
    }
    m->swapped = m->a->kind != SAC_FORM_TREE;
    sides s = sides_of(m);
    m->scale = sac_transform_between(s.field_pose, s.tree_pose, m->m);
    m->levels = s.tree->depth;
    if (!root_touches(m, &s)) return false;
    uint32_t link = m->levels ? sac_node_link(s.tree, 0) : 0;
    out_root->a[0] = m->swapped ? 0 : link;
    out_root->b[0] = m->swapped ? link : 0;
    out_root->count = 1;
    return true;
}

/* ---- opening ---- */

static sac_opened open_against_solid(const sac_meeting *m, const sides *s, const uint32_t *links,
                                     uint32_t count, uint64_t credits, sac_pairs *next, sac_pairs *done)
{
    sac_field_job job = {.tree = s->tree, .solid = sac_solid_of(s->field, 1), .scale = m->scale};
    memcpy(job.m, m->m, sizeof job.m);
    job.margin = m->margin / s->field_pose->scale;
    sac_field_kernel *kernel = active_kernel();
    const uint32_t most = s->tree->blocks_per_node * SAC_LANES,
                   cost = s->tree->blocks_per_node * BLOCK_COST + sac_form_open_cost(s->form);
    sac_opened opened = {.tests =
                             credits >= OPEN_COST + cost ? OPEN_COST : 0}; /* the first pair always fits */
    uint32_t next_begin = next->count, done_begin = done->count;
    while (opened.used < count) {
        uint64_t batch = count - opened.used;
        uint64_t afford = (credits - opened.tests) / cost;
        uint64_t room = (next->room - next->count) / most, room_done = (done->room - done->count) / most;
        if (batch > afford) batch = afford;
        if (batch > room) batch = room;
        if (batch > room_done) batch = room_done;
        if (batch == 0) break;
        sac_form_open(s->form, links + opened.used, (uint32_t)batch);
        kernel(&job, links + opened.used, (uint32_t)batch, m->swapped ? next->b : next->a, &next->count,
               m->swapped ? done->b : done->a, &done->count);
        opened.used += (uint32_t)batch;
        opened.tests += batch * cost;
    }
    uint32_t *other = m->swapped ? next->a : next->b;
    for (uint32_t i = next_begin; i < next->count; i++) other[i] = 0;
    other = m->swapped ? done->a : done->b;
    for (uint32_t i = done_begin; i < done->count; i++) other[i] = 0;
    return opened;
}

static void push_pair(sac_pairs *pairs, bool swapped, uint32_t node, uint32_t feature)
{
    pairs->a[pairs->count] = swapped ? feature : node;
    pairs->b[pairs->count] = swapped ? node : feature;
    pairs->count++;
}

static sac_opened open_against_terrain(const sac_meeting *m, const sides *s, const uint32_t *links,
                                       uint32_t count, uint64_t credits, sac_pairs *next, sac_pairs *done)
{
    const uint32_t most = s->tree->blocks_per_node * SAC_LANES;
    float margin = m->margin / s->field_pose->scale;
    sac_opened opened = {0};
    for (; opened.used < count; opened.used++) {
        if (opened.tests >= credits || next->room - next->count < most ||
            done->room - done->count < most * LEAF_TOUCHES)
            break;
        sac_form_open(s->form, links + opened.used, 1);
        opened.tests += sac_form_open_cost(s->form);
        sac_lanes at = sac_link_lanes(s->tree, links[opened.used]);
        for (uint32_t k = 0; k < at.blocks * SAC_LANES; k++) {
            uint32_t id = at.block * SAC_LANES + k;
            if (!(at.lanes >> k % SAC_LANES & 1) || !sac_tree_has(s->tree, id)) continue;
            uint32_t link = sac_node_link(s->tree, id);
            bool leaf = link & SAC_LINK_LEAF;
            sac_terrain_touch touches[LEAF_TOUCHES];
            float centre[3], radius = node_ball(m, s->tree, id, centre);
            uint64_t tests = 0;
            uint32_t found = leaf ? sac_terrain_probe(s->field->terrain, centre, radius + margin, touches,
                                                      LEAF_TOUCHES, &tests)
                                  : sac_terrain_meets(s->field->terrain, centre, radius + margin, &tests);
            opened.tests += tests * LOOK_COST + PROBE_COST;
            if (found && !leaf) push_pair(next, m->swapped, link, 0);
            for (uint32_t t = 0; leaf && t < found; t++) push_pair(done, m->swapped, id, touches[t].feature);
        }
    }
    return opened;
}

sac_opened sac_field_meeting_open(sac_workspace *workspace, const sac_meeting *m, uint32_t level,
                                  const sac_pairs *front, uint64_t credits, sac_pairs *next, sac_pairs *done)
{
    (void)workspace, (void)level;
    if (!has_tree(m)) return (sac_opened){0}; /* there is nothing to open */
    sides s = sides_of(m);
    const uint32_t *links = m->swapped ? front->b : front->a;
    if (s.field->kind == SAC_FORM_TERRAIN)
        return open_against_terrain(m, &s, links, front->count, credits, next, done);
    return open_against_solid(m, &s, links, front->count, credits, next, done);
}

/* ---- contacts ---- */

/* How a node and the field touch, in the field's space: distance of the centre, direction from the field to
 * it. False: farther than the margin. */
static bool node_touch(const sac_meeting *m, const sides *s, uint32_t id, uint32_t *feature, bool known,
                       float centre[3], float *radius, float normal[3], float *distance, uint64_t *tests)
{
    sac_contact_node node = sac_contact_node_now(s->form, id);
    sac_ball ball = sac_ball_move(m->m, m->scale,
                                  (sac_ball){node.centre[0], node.centre[1], node.centre[2], node.radius});
    centre[0] = ball.x, centre[1] = ball.y, centre[2] = ball.z, *radius = ball.r;
    float reach = *radius + m->margin / s->field_pose->scale;
    if (s->field->kind != SAC_FORM_TERRAIN) {
        sac_solid solid = sac_solid_of(s->field, 1);
        *distance = sac_solid_distance(&solid, centre, normal);
        *feature = 0;
        return *distance <= reach;
    }
    sac_terrain_touch touch;
    if (known) {
        sac_facet facet;
        *tests += PROBE_COST;
        if (!sac_terrain_facet(s->field->terrain, *feature, &facet) ||
            !sac_facet_touch(&facet, centre, reach, sac_terrain_below(s->field->terrain, reach), true,
                             &touch))
            return false;
        touch.feature = *feature;
    } else {
        uint64_t looks = 0;
        bool found = sac_terrain_probe(s->field->terrain, centre, reach, &touch, 1, &looks) > 0;
        *tests += PROBE_COST + looks * LOOK_COST;
        if (!found) return false;
    }
    sac_v3_copy(touch.normal, normal);
    *distance = touch.distance;
    *feature = touch.feature;
    return true;
}

static void gather(const sac_meeting *m, const sides *s, const sac_pairs *pairs, bool pending,
                   sac_touch_list *list, uint64_t *tests)
{
    const uint32_t *nodes = m->swapped ? pairs->b : pairs->a, *features = m->swapped ? pairs->a : pairs->b;
    for (uint32_t i = 0; i < pairs->count; i++) {
        /* With no level below the root its pair is a node id even when the caller calls it pending. */
        bool is_link = pending && m->levels > 0;
        uint32_t id = is_link ? sac_link_node(s->tree, nodes[i]) : nodes[i];
        uint32_t feature = features[i];
        float centre[3], normal[3], radius, distance, point[3], out[3];
        if (!node_touch(m, s, id, &feature, !pending && m->levels > 0, centre, &radius, normal, &distance,
                        tests))
            continue;
        sac_v3_along(centre, -0.5f * (distance + radius), normal, point);
        for (int k = 0; k < 3; k++) out[k] = m->swapped ? normal[k] : -normal[k];
        bool final = sac_node_link(s->tree, id) & SAC_LINK_LEAF;
        if (m->swapped)
            sac_touch_push(list, radius - distance, point, out, feature, id, final);
        else
            sac_touch_push(list, radius - distance, point, out, id, feature, final);
    }
    *tests += (uint64_t)pairs->count * CONTACT_COST;
}

static float gap_of(const sides *s, uint32_t node)
{
    return sac_contact_node_now(s->form, node).gap * s->tree_pose->scale;
}

/* Depth, point and uncertainty of a touch: of the face its node stands for if that lies against the field,
 * else of its sphere, which ends as far below the point as the field above. */
static void settle(const sac_meeting *m, const sides *s, uint32_t id, const float normal[3],
                   const float point[3], sac_contact *out, sac_laid *laid)
{
    float at[3], centre[3], up[3], radius = node_ball(m, s->tree, id, centre);
    sac_v3_copy(point, at);
    sac_v3_sub(centre, point, up);
    float depth = 2 * (radius - sac_v3_dot(up, normal));
    out->uncertainty = gap_of(s, id);
    if (sac_faces_meet_field(m, s->form, centre, radius, normal, radius - depth, &depth, at, laid))
        out->uncertainty = 0;
    out->depth = depth * s->field_pose->scale;
    sac_transform_point(s->field_pose, at, out->point);
}

/* A touch of a form with faces, or of one without, as a contact. */
static void contact_from(const sac_meeting *m, const sides *s, const float rows[3][3], uint32_t a, uint32_t b,
                         const float point[3], const float normal[3], float depth, sac_contact *out,
                         sac_laid *laid)
{
    float n[3];
    uint32_t id = m->swapped ? b : a;
    out->node_a = a, out->node_b = b;
    sac_v3_turn(rows, normal, out->normal);
    if (s->form->face_count) {
        for (int k = 0; k < 3; k++) n[k] = m->swapped ? normal[k] : -normal[k]; /* from the field to it */
        settle(m, s, id, n, point, out, laid);
        return;
    }
    out->depth = depth * s->field_pose->scale;
    out->uncertainty = gap_of(s, id);
    sac_transform_point(s->field_pose, point, out->point);
}

/* The corners of the face that lies against the field, of what the list has room for. */
static uint32_t contacts_of_face(const sac_meeting *m, const sides *s, const float rows[3][3],
                                 const sac_laid *laid, const sac_touch_list *list, sac_contact *out)
{
    sac_corners corners = {0};
    uint32_t different[4];
    sac_corners_add(&corners, laid, list);
    uint32_t count = sac_corners_different(&corners, different);
    for (uint32_t i = 0; i < count && count > 2; i++) {
        uint32_t k = different[i];
        sac_laid again;
        contact_from(m, s, rows, corners.a[k], corners.b[k], corners.point[k], corners.normal[k], 0, &out[i],
                     &again);
        out[i].final = corners.final[k];
    }
    return count > 2 ? count : 0;
}

uint32_t sac_field_meeting_contacts(const sac_meeting *m, const sac_pairs *pending, const sac_pairs *done,
                                    uint32_t most, sac_contact *out, uint64_t *tests)
{
    if (!has_tree(m)) return sac_exact_contacts(m, most, out, tests);
    sides s = sides_of(m);
    float rows[3][3];
    sac_laid laid = {0};
    sac_touch_list list;
    list.count = 0;
    list.margin = m->margin / s.field_pose->scale;
    list.size = sac_ball_of(s.tree, 0).r * m->scale;
    if (s.field->ball[3] < list.size) list.size = s.field->ball[3];
    gather(m, &s, done, false, &list, tests);
    gather(m, &s, pending, true, &list, tests);
    uint32_t chosen[SAC_CONTACT_MOST], count = sac_touch_choose(&list, most, chosen);
    *tests += CHOOSE_COST;
    sac_transform_rows(s.field_pose, rows);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = chosen[i];
        contact_from(m, &s, rows, list.a[t], list.b[t], (float[3]){list.x[t], list.y[t], list.z[t]},
                     (float[3]){list.nx[t], list.ny[t], list.nz[t]}, list.depth[t], &out[i], &laid);
        out[i].final = list.final[t];
    }
    if (!laid.found || most < 4 || !sac_faces_alone(out, count)) return count;
    sac_contact face[SAC_CONTACT_MOST];
    uint32_t corners = contacts_of_face(m, &s, rows, &laid, &list, face);
    if (corners) memcpy(out, face, corners * sizeof *face);
    return corners ? corners : count;
}

bool sac_field_meeting_refresh(const sac_meeting *m, uint32_t node_a, uint32_t node_b, sac_contact *out)
{
    uint64_t tests = 0;
    if (!has_tree(m)) {
        sac_contact all[SAC_CONTACT_MOST];
        uint32_t count = sac_exact_contacts(m, SAC_CONTACT_MOST, all, &tests);
        for (uint32_t i = 0; i < count; i++) {
            if (all[i].node_a != node_a || all[i].node_b != node_b) continue;
            *out = all[i];
            return true;
        }
        return false;
    }
    sides s = sides_of(m);
    uint32_t id = m->swapped ? node_b : node_a, feature = m->swapped ? node_a : node_b;
    float centre[3], normal[3], radius, distance, point[3], rows[3][3];
    if (!node_touch(m, &s, id, &feature, true, centre, &radius, normal, &distance, &tests)) return false;
    sac_v3_along(centre, -0.5f * (distance + radius), normal, point);
    if (s.form->face_count) {
        sac_laid laid;
        settle(m, &s, id, normal, point, out, &laid);
    } else {
        sac_transform_point(s.field_pose, point, out->point);
        out->depth = (radius - distance) * s.field_pose->scale;
        out->uncertainty = gap_of(&s, id);
    }
    if (!m->swapped)
        for (int k = 0; k < 3; k++) normal[k] = -normal[k];
    sac_transform_rows(s.field_pose, rows);
    sac_v3_turn(rows, normal, out->normal);
    out->node_a = node_a, out->node_b = node_b;
    out->final = sac_node_link(s.tree, id) & SAC_LINK_LEAF;
    return true;
}
