/* Flat faces of the object a tree was made from, read back from its leaves. A leaf's gap and radius tell how
 * far its centre is from the surface, its point where: together the plane the surface touches. Planes many
 * leaves agree on are faces; on a curved surface no two agree. */
#include "spheretree/faces_internal.h"
#include "spheretree/vector_internal.h"

/* As shares of the form's ball: planes closer than this are the same, and a face is no smaller than that. */
#define SAME_OFFSET 1e-3f
#define LEAST_EXTENT 0.1f
/* Cosine of a degree: normals closer are the same. */
#define SAME_NORMAL 0.99985f
enum { CANDIDATES = 256, LEAST_VOTES = 4 };

typedef struct candidate {
    sac_face face;
    uint32_t votes;  /* leaves that tell this very plane */
    uint32_t leaves; /* that touch it */
} candidate;

typedef struct leaf {
    float centre[3], radius;
    float inside; /* how deep the centre is below the surface, negative outside */
    float point[3], normal[3];
    bool flat; /* the normal is that of all its surface */
} leaf;

static bool leaf_at(const sac_tree *tree, uint32_t id, leaf *out)
{
    uint32_t block = id / SAC_LANES, k = id % SAC_LANES;
    if (!sac_tree_has(tree, id) || !(tree->links[block].link[k] & SAC_LINK_LEAF)) return false;
    const sac_sphere_block *s = &tree->spheres[block];
    const sac_feature_block *f = &tree->features[block];
    *out = (leaf){.centre = {s->x[k], s->y[k], s->z[k]},
                  .radius = s->r[k],
                  .inside = s->r[k] - f->gap[k],
                  .point = {f->px[k], f->py[k], f->pz[k]},
                  .normal = {f->nx[k], f->ny[k], f->nz[k]},
                  .flat = f->cone[k] < 0.01f};
    return true;
}

/* The plane a leaf tells; false: it tells none. */
static bool plane_of(const leaf *l, float size, float normal[3])
{
    if (l->flat) {
        sac_v3_copy(l->normal, normal);
        return sac_v3_unit(normal) > 0.5f;
    }
    sac_v3_sub(l->point, l->centre, normal);
    float away = sac_v3_unit(normal);
    return away > 0.01f * size && fabsf(away - l->inside) < SAME_OFFSET * size;
}

/* The disc a leaf covers of a plane it touches, held by the box. */
static void widen(candidate *c, const leaf *l)
{
    const float *n = c->face.normal;
    float down = c->face.offset - sac_v3_dot(n, l->centre), foot[3];
    float square = l->radius * l->radius - down * down, disc = square > 0 ? sqrtf(square) : 0;
    sac_v3_along(l->centre, down, n, foot);
    for (int i = 0; i < 3; i++) {
        float across = 1 - n[i] * n[i], reach = disc * sqrtf(across > 0 ? across : 0);
        c->face.low[i] = fminf(c->face.low[i], foot[i] - reach);
        c->face.high[i] = fmaxf(c->face.high[i], foot[i] + reach);
    }
    c->leaves++;
}

static void vote(candidate *list, uint32_t *count, const float normal[3], float offset, float same)
{
    for (uint32_t i = 0; i < *count; i++)
        if (sac_v3_dot(list[i].face.normal, normal) > SAME_NORMAL &&
            fabsf(list[i].face.offset - offset) < same) {
            list[i].votes++;
            return;
        }
    if (*count == CANDIDATES) return;
    candidate *c = &list[(*count)++];
    *c = (candidate){.face = {.offset = offset,
                              .low = {FLT_MAX, FLT_MAX, FLT_MAX},
                              .high = {-FLT_MAX, -FLT_MAX, -FLT_MAX},
                              .outer = true},
                     .votes = 1};
    sac_v3_copy(normal, c->face.normal);
}

/* Long in two directions, inside the object's box. */
static bool usable(candidate *c, const sac_box *box, float size)
{
    float longest = 0, second = 0;
    for (int i = 0; i < 3; i++) {
        c->face.low[i] = fmaxf(c->face.low[i], box->low[i]);
        c->face.high[i] = fminf(c->face.high[i], box->high[i]);
        float side = c->face.high[i] - c->face.low[i];
        if (side > longest)
            second = longest, longest = side;
        else if (side > second)
            second = side;
    }
    return second > LEAST_EXTENT * size;
}

void sac_faces_find(sac_form *form)
{
    const sac_tree *tree = form->tree;
    form->face_count = 0;
    if (form->live || !tree->features || tree->method == SAC_METHOD_SPHERES ||
        tree->method == SAC_METHOD_WRAPPED)
        return;
    const float size = form->ball[3], same = SAME_OFFSET * size;
    candidate list[CANDIDATES];
    uint32_t count = 0, kept = 0;
    leaf l;
    float n[3];
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++)
        if (leaf_at(tree, id, &l) && plane_of(&l, size, n))
            vote(list, &count, n, sac_v3_dot(n, l.point), same);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].votes >= LEAST_VOTES) list[kept++] = list[i];
    count = kept;
    /* A leaf along an edge touches two. */
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++)
        for (uint32_t i = 0; leaf_at(tree, id, &l) && i < count; i++) {
            float above = sac_v3_dot(list[i].face.normal, l.centre) + l.inside - list[i].face.offset;
            if (fabsf(above) < same) widen(&list[i], &l);
            if (above >= same) list[i].face.outer = false;
        }
    while (form->face_count < SAC_FORM_FACES) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (list[i].leaves > (best == UINT32_MAX ? 0 : list[best].leaves) &&
                usable(&list[i], &tree->box, size))
                best = i;
        if (best == UINT32_MAX) break;
        form->faces[form->face_count++] = list[best].face;
        list[best].leaves = 0;
    }
}
