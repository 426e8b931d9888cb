/* Faces against faces, and against fields. */
#include "spheretree/faces_internal.h"
#include "spheretree/vector_internal.h"

/* Faces turned farther than this from each other (cosine of ten degrees) touch along an edge: not as faces.
 */
#define FACING 0.985f
/* Two nodes whose spheres overlap are not deeper in each other than that and this share of their size: a
 * face that says so is not where they touch. */
#define DEEPER 0.1f

static bool crosses(const float normal[3], float offset, const float centre[3], float radius)
{
    return fabsf(sac_v3_dot(normal, centre) - offset) <= radius;
}

/* The point of the face's box nearest to one near its plane, kept at its height over the plane; returns how
 * far that is. In the form's own space. */
static float onto(const sac_face *face, const float point[3], float out[3])
{
    float down = face->offset - sac_v3_dot(face->normal, point), square = 0;
    for (int i = 0; i < 3; i++) {
        float x = point[i] + down * face->normal[i];
        float y = x < face->low[i] ? face->low[i] : x > face->high[i] ? face->high[i] : x;
        square += (y - x) * (y - x);
        out[i] = y - down * face->normal[i];
    }
    return sqrtf(square);
}

/* From local space into the frame m leads to; the face's plane there. */
static float plane_there(const float m[3][4], float scale, const sac_face *face, float normal[3])
{
    const float shrink = 1 / scale, *n = face->normal;
    for (int i = 0; i < 3; i++) normal[i] = (m[i][0] * n[0] + m[i][1] * n[1] + m[i][2] * n[2]) * shrink;
    return face->offset * scale + ((normal[0] * m[0][3] + normal[1] * m[1][3]) + normal[2] * m[2][3]);
}

static void point_back(const float m[3][4], float scale, const float point[3], float out[3])
{
    const float shrink = 1 / (scale * scale);
    float d[3] = {point[0] - m[0][3], point[1] - m[1][3], point[2] - m[2][3]};
    for (int i = 0; i < 3; i++) out[i] = ((m[0][i] * d[0] + m[1][i] * d[1]) + m[2][i] * d[2]) * shrink;
}

/* A direction along a face: square to its normal and to the coordinate axis farthest from it. */
static void along_face(const sac_face *face, float out[3])
{
    const float *n = face->normal;
    int k = fabsf(n[1]) < fabsf(n[0]) ? 1 : 0;
    if (fabsf(n[2]) < fabsf(n[k])) k = 2;
    float axis[3] = {k == 0, k == 1, k == 2};
    sac_v3_cross(n, axis, out);
    sac_v3_unit(out);
}

static void point_there(const float m[3][4], const float point[3], float out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = ((m[i][0] * point[0] + m[i][1] * point[1]) + m[i][2] * point[2]) + m[i][3];
}

/* A point moved onto the faces of both sides; false when one of them is farther than `reach` from it. */
static bool onto_both(const sac_meeting *m, const sac_face *f, const sac_face *g, const float point[3],
                      float reach, float out[3])
{
    float there[3], near[3], on_a[3];
    if (onto(f, point, on_a) > reach) return false;
    point_back(m->m, m->scale, on_a, there);
    if (onto(g, there, near) * m->scale > reach) return false;
    point_there(m->m, near, out);
    return true;
}

void sac_faces_meet(const sac_meeting *m, const sac_contact_node *a, const sac_contact_node *b,
                    sac_contact *contact, sac_laid *laid)
{
    const float reach = fminf(a->radius, b->radius), sum = a->radius + b->radius;
    const float most = fmaxf(contact->depth, 0) + DEEPER * sum;
    float least = FLT_MAX, normal[3] = {0}, point[3] = {0};
    for (uint32_t j = 0; j < m->b->face_count; j++) {
        const sac_face *g = &m->b->faces[j];
        float n[3], offset = plane_there(m->m, m->scale, g, n);
        bool crossed = crosses(n, offset, b->centre, b->radius);
        if (!crossed && !g->outer) continue;
        for (uint32_t i = 0; i < m->a->face_count; i++) {
            const sac_face *f = &m->a->faces[i];
            if (sac_v3_dot(f->normal, n) > -FACING) continue;
            bool both = crossed && crosses(f->normal, f->offset, a->centre, a->radius);
            bool apart = f->outer && g->outer;
            float at[3];
            sac_v3_copy(contact->point, at);
            if (!(both && onto_both(m, f, g, contact->point, reach, at))) {
                /* Not at these faces; but what they keep apart does not touch. */
                if (!apart) continue;
                both = false;
            }
            float below_a = f->offset - sac_v3_dot(f->normal, at), below_b = offset - sac_v3_dot(n, at);
            float depth = below_a + below_b;
            if (depth >= least || (depth > 0 ? !both || depth > most : !both && !apart)) continue;
            least = depth;
            sac_v3_sub(f->normal, n, normal);
            sac_v3_unit(normal);
            sac_v3_along(at, 0.5f * (below_a - below_b), normal, point);
            if (!both) continue;
            *laid = (sac_laid){.found = true,
                               .offset_a = f->offset,
                               .offset_b = offset,
                               .near = 2 * reach,
                               .tree_a = m->a->tree,
                               .tree_b = m->b->tree,
                               .face_a = f,
                               .face_b = g};
            sac_v3_copy(f->normal, laid->normal_a);
            sac_v3_copy(n, laid->normal_b);
            along_face(f, laid->across);
        }
    }
    if (least == FLT_MAX) return;
    sac_v3_copy(point, contact->point);
    sac_v3_copy(normal, contact->normal);
    contact->depth = least;
    contact->uncertainty = 0;
}

bool sac_faces_meet_field(const sac_meeting *m, const sac_form *form, const float centre[3], float radius,
                          const float normal[3], float distance, float *out_depth, float out_point[3],
                          sac_laid *laid)
{
    float foot[3], there[3], near[3];
    if (!form->face_count) return false;
    sac_v3_along(centre, -distance, normal, foot);
    point_back(m->m, m->scale, foot, there);
    for (uint32_t i = 0; i < form->face_count; i++) {
        const sac_face *f = &form->faces[i];
        float n[3], offset = plane_there(m->m, m->scale, f, n);
        if (sac_v3_dot(n, normal) > -FACING || !crosses(n, offset, centre, radius) ||
            onto(f, there, near) * m->scale > radius)
            continue;
        point_there(m->m, near, foot);
        /* From here to the field, taken as flat, and to the face. */
        float moved[3];
        sac_v3_sub(foot, centre, moved);
        float over = distance + sac_v3_dot(moved, normal), below = offset - sac_v3_dot(n, foot);
        *out_depth = below - over;
        sac_v3_along(foot, 0.5f * (below + over), n, out_point);
        *laid = (sac_laid){.found = true,
                           .offset_a = offset,
                           .offset_b = sac_v3_dot(normal, centre) - distance,
                           .near = 2 * radius};
        if (m->swapped)
            laid->tree_b = form->tree, laid->face_b = f;
        else
            laid->tree_a = form->tree, laid->face_a = f;
        sac_v3_copy(n, laid->normal_a);
        sac_v3_copy(normal, laid->normal_b);
        float way[3];
        along_face(f, way);
        for (int k = 0; k < 3; k++)
            laid->across[k] = ((m->m[k][0] * way[0] + m->m[k][1] * way[1]) + m->m[k][2] * way[2]) / m->scale;
        return true;
    }
    return false;
}

/* Does a contact belong to the face, or not touch at all? */
static bool agrees(const sac_contact *c, const sac_contact *face)
{
    if (c->uncertainty > 0) return c->depth < 0.5f * c->uncertainty;
    return c->depth < 0 || sac_v3_dot(c->normal, face->normal) > FACING;
}

bool sac_faces_alone(const sac_contact *contacts, uint32_t count)
{
    const sac_contact *face = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (contacts[i].uncertainty == 0 && (!face || contacts[i].depth > face->depth)) face = &contacts[i];
    for (uint32_t i = 0; i < count && face; i++)
        if (!agrees(&contacts[i], face)) return false;
    return face;
}

static void keep_corner(sac_corners *c, int k, const sac_touch_list *list, uint32_t i)
{
    c->point[k][0] = list->x[i], c->point[k][1] = list->y[i], c->point[k][2] = list->z[i];
    c->normal[k][0] = list->nx[i], c->normal[k][1] = list->ny[i], c->normal[k][2] = list->nz[i];
    c->a[k] = list->a[i], c->b[k] = list->b[i];
    c->final[k] = list->final[i];
}

static bool holds(const sac_tree *tree, const sac_face *face, uint32_t id)
{
    if (!tree) return true;
    const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
    uint32_t k = id % SAC_LANES;
    return crosses(face->normal, face->offset, (float[3]){s->x[k], s->y[k], s->z[k]}, s->r[k]);
}

void sac_corners_add(sac_corners *c, const sac_laid *laid, const sac_touch_list *list)
{
    const float *u = laid->across, *n = laid->normal_a, *g = laid->normal_b;
    float v[3];
    sac_v3_cross(n, u, v);
    for (uint32_t i = 0; i < list->count; i++) {
        const float at[3] = {list->x[i], list->y[i], list->z[i]};
        float below_a = laid->offset_a - sac_v3_dot(n, at), below_b = laid->offset_b - sac_v3_dot(g, at);
        float deep = below_a + below_b;
        if (!(fabsf(below_a) <= laid->near && fabsf(below_b) <= laid->near && deep >= -list->margin))
            continue;
        /* A node that holds a piece of the face reaches at least as deep as the face does. */
        if (list->depth[i] < deep - 0.1f * list->margin) continue;
        float s = sac_v3_dot(u, at), t = sac_v3_dot(v, at), way[4] = {s + t, -s - t, s - t, t - s};
        bool farther = !c->count;
        for (int k = 0; k < 4; k++) farther = farther || way[k] > c->most[k];
        if (!farther || !holds(laid->tree_a, laid->face_a, list->a[i]) ||
            !holds(laid->tree_b, laid->face_b, list->b[i]))
            continue;
        for (int k = 0; k < 4; k++) {
            if (c->count && way[k] <= c->most[k]) continue;
            c->most[k] = way[k];
            keep_corner(c, k, list, i);
        }
        c->count = 4;
    }
}

uint32_t sac_corners_different(const sac_corners *c, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        bool twice = false;
        for (uint32_t j = 0; j < count; j++)
            twice = twice || (c->a[out[j]] == c->a[k] && c->b[out[j]] == c->b[k]);
        if (!twice) out[count++] = k;
    }
    return count;
}
