/* Contacts of a few pairs of nodes of two trees, a lane each: what sac_contact_between says, for all of them
 * at once. Loops over lanes are vectors to any compiler; each lane is rounded as one contact alone would be.
 */
#include "spheretree/faces_internal.h"

#include <float.h>
#include <math.h>

enum { LANES = SAC_CONTACT_MOST };
typedef float lanes[LANES];
#define EACH for (int k = 0; k < LANES; k++)

/* The nodes of one side; a normal that is not good is zero. */
typedef struct side {
    _Alignas(16) lanes x, y, z, r, gap, nx, ny, nz;
} side;

static void take(side *s, int k, const sac_form *form, uint32_t id)
{
    if (form->live) {
        sac_contact_node n = sac_contact_node_now(form, id);
        s->x[k] = n.centre[0], s->y[k] = n.centre[1], s->z[k] = n.centre[2], s->r[k] = n.radius;
        s->gap[k] = n.gap;
        s->nx[k] = n.tight ? n.normal[0] : 0;
        s->ny[k] = n.tight ? n.normal[1] : 0;
        s->nz[k] = n.tight ? n.normal[2] : 0;
        return;
    }
    uint32_t block = id / SAC_LANES, i = id % SAC_LANES;
    const sac_sphere_block *sphere = &form->tree->spheres[block];
    const sac_feature_block *f = &form->tree->features[block];
    s->x[k] = sphere->x[i], s->y[k] = sphere->y[i], s->z[k] = sphere->z[i], s->r[k] = sphere->r[i];
    s->gap[k] = f->gap[i];
    float x = f->nx[i], y = f->ny[i], z = f->nz[i];
    bool tight = (f->cone[i] <= SAC_CONTACT_CONE) & ((x != 0) | (y != 0) | (z != 0));
    s->nx[k] = tight ? x : 0, s->ny[k] = tight ? y : 0, s->nz[k] = tight ? z : 0;
}

/* From b's frame into a's. */
static void move(side *restrict s, const sac_meeting *m)
{
    const float scale = m->scale, shrink = 1 / m->scale;
    side t;
#define BALL(i) (s->x[k] * m->m[i][0] + s->y[k] * m->m[i][1]) + (s->z[k] * m->m[i][2] + m->m[i][3])
#define NORMAL(i) (m->m[i][0] * s->nx[k] + m->m[i][1] * s->ny[k] + m->m[i][2] * s->nz[k]) * shrink
    EACH t.x[k] = BALL(0), t.y[k] = BALL(1), t.z[k] = BALL(2);
    EACH t.nx[k] = NORMAL(0), t.ny[k] = NORMAL(1), t.nz[k] = NORMAL(2);
    EACH t.r[k] = s->r[k] * scale, t.gap[k] = s->gap[k] * scale;
#undef BALL
#undef NORMAL
    *s = t;
}

/* What two sides say; `direct`: lanes whose direction is known. */
typedef struct touches {
    _Alignas(16) lanes x, y, z, depth, uncertainty, nx, ny, nz;
    _Alignas(16) int32_t direct[LANES];
} touches;

static void touch(const side *restrict a, const side *restrict b, touches *restrict t)
{
    EACH
    {
        float x = b->x[k] - a->x[k], y = b->y[k] - a->y[k], z = b->z[k] - a->z[k];
        float distance = sqrtf(x * x + y * y + z * z), sum = a->r[k] + b->r[k];
        float share = a->r[k] / sum;
        share = sum > 0 ? share : 0.5f;
        t->x[k] = a->x[k] + x * share, t->y[k] = a->y[k] + y * share, t->z[k] = a->z[k] + z * share;
        t->depth[k] = sum - distance;
        t->uncertainty[k] = a->gap[k] + b->gap[k];
        /* Outward of a, inward of b. Two that oppose each other (deep inside, or a thin part) say nothing. */
        float u = a->nx[k] - b->nx[k], v = a->ny[k] - b->ny[k], w = a->nz[k] - b->nz[k];
        float length = sqrtf(u * u + v * v + w * w);
        bool tells = (length > 0.5f) & (length <= FLT_MAX);
        u = tells ? u : x, v = tells ? v : y, w = tells ? w : z;
        length = tells ? length : distance;
        t->nx[k] = u / length, t->ny[k] = v / length, t->nz[k] = w / length;
        /* Centres that coincide up to rounding have no direction. */
        t->direct[k] = tells | ((distance > 1e-6f * sum) & (distance <= FLT_MAX));
    }
}

static sac_ball root_of(const sac_form *form)
{
    return (sac_ball){form->ball[0], form->ball[1], form->ball[2], form->ball[3]};
}

/* From a's root to b's, in a's frame; false when they coincide. */
static bool direction_of_roots(const sac_meeting *m, float out[3])
{
    sac_ball a = root_of(m->a), b = sac_ball_move(m->m, m->scale, root_of(m->b));
    out[0] = b.x - a.x, out[1] = b.y - a.y, out[2] = b.z - a.z;
    return sac_make_unit(out, 1e-6f * (a.r + b.r));
}

/* Lane k as the faces of both forms have it, where they lie against each other. */
static void lay(const sac_meeting *m, const side *a, const side *b, int k, touches *t, sac_laid *laid)
{
    sac_contact_node own = {.centre = {a->x[k], a->y[k], a->z[k]}, .radius = a->r[k]};
    sac_contact_node other = {.centre = {b->x[k], b->y[k], b->z[k]}, .radius = b->r[k]};
    sac_contact flat = {.point = {t->x[k], t->y[k], t->z[k]},
                        .normal = {t->nx[k], t->ny[k], t->nz[k]},
                        .depth = t->depth[k],
                        .uncertainty = t->uncertainty[k]};
    sac_faces_meet(m, &own, &other, &flat, laid);
    t->x[k] = flat.point[0], t->y[k] = flat.point[1], t->z[k] = flat.point[2];
    t->nx[k] = flat.normal[0], t->ny[k] = flat.normal[1], t->nz[k] = flat.normal[2];
    t->depth[k] = flat.depth, t->uncertainty[k] = flat.uncertainty;
}

/* From a's frame into the world. */
static void tell(const sac_transform *pose, const float rows[3][3], const touches *restrict t,
                 touches *restrict out)
{
    const float scale = pose->scale;
#define POINT(i) \
    (rows[i][0] * t->x[k] + rows[i][1] * t->y[k] + rows[i][2] * t->z[k]) * scale + pose->translation[i]
#define NORMAL(i) rows[i][0] * t->nx[k] + rows[i][1] * t->ny[k] + rows[i][2] * t->nz[k]
    EACH out->x[k] = POINT(0), out->y[k] = POINT(1), out->z[k] = POINT(2);
    EACH out->nx[k] = NORMAL(0), out->ny[k] = NORMAL(1), out->nz[k] = NORMAL(2);
    EACH out->depth[k] = t->depth[k] * scale, out->uncertainty[k] = t->uncertainty[k] * scale;
#undef POINT
#undef NORMAL
}

void sac_contacts_of(const sac_meeting *m, const float rows[3][3], const uint32_t *node_a,
                     const uint32_t *node_b, uint32_t count, sac_contact *out, sac_laid *laid)
{
    side a, b;
    touches local, world;
    /* Lanes without a contact repeat the first. */
    for (int k = 0; k < LANES; k++) {
        uint32_t i = (uint32_t)k < count ? (uint32_t)k : 0;
        take(&a, k, m->a, node_a[i]);
        take(&b, k, m->b, node_b[i]);
    }
    move(&b, m);
    touch(&a, &b, &local);
    for (int k = 0; k < (int)count; k++) {
        float n[3];
        if (!local.direct[k] && direction_of_roots(m, n)) {
            local.nx[k] = n[0], local.ny[k] = n[1], local.nz[k] = n[2];
            local.direct[k] = true;
        }
        if (m->a->face_count && m->b->face_count) lay(m, &a, &b, k, &local, laid);
    }
    tell(m->pose_a, rows, &local, &world);
    for (uint32_t k = 0; k < count; k++) {
        bool known = local.direct[k];
        sac_contact *c = &out[k];
        c->point[0] = world.x[k], c->point[1] = world.y[k], c->point[2] = world.z[k];
        c->normal[0] = known ? world.nx[k] : 0;
        c->normal[1] = known ? world.ny[k] : 1;
        c->normal[2] = known ? world.nz[k] : 0;
        c->depth = world.depth[k], c->uncertainty = world.uncertainty[k];
        c->node_a = node_a[k], c->node_b = node_b[k];
    }
}
