/* Questions between steps: the first body along a ray, all in a sphere, the nearest to a point, how far a
 * ball can go. The broad phase says who may be meant, the forms who is. */
#include "runtime/world_internal.h"

#include <string.h>

static sac_result bad(sac_error *error, const char *what, const char *remedy)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "%s", what);
}

/* Beyond there is nothing, and squares of floats would say there is. */
static const float FARTHEST = 1e12f;

static bool in_reach(const float p[3])
{
    return fabsf(p[0]) <= FARTHEST && fabsf(p[1]) <= FARTHEST && fabsf(p[2]) <= FARTHEST;
}

static const sac_form *form_of(const sac_world *world, uint32_t slot) { return sac_body_form(world, slot); }

static bool is_asked_for(const sac_world *world, uint32_t slot, uint32_t mask)
{
    return (world->cold[slot].filter.category & mask) != 0;
}

/* To a body's surface, negative inside. Heights are solid as deep as anything meets them, which is down to
 * their box; from below that their bottom is what is nearest. */
static float distance_to(const sac_world *world, uint32_t slot, const float point[3], float most,
                         float closest[3], float normal[3])
{
    const sac_form *form = form_of(world, slot);
    const sac_transform *pose = sac_body_form_pose(world, slot);
    float distance = sac_form_distance(form, pose, point, most, closest, normal);
    bool solid = form->kind == SAC_FORM_TERRAIN && form->box.low[1] < sac_terrain_box(form->terrain).low[1];
    if (!solid || !(distance < 0)) return distance;
    float rows[3][3], under = form->box.low[1] * pose->scale;
    sac_transform_rows(pose, rows);
    for (int i = 0; i < 3; i++) under -= rows[i][1] * (point[i] - pose->translation[i]);
    if (!(under > 0)) return distance;
    for (int i = 0; i < 3; i++) closest[i] = point[i] + under * rows[i][1], normal[i] = -rows[i][1];
    return under <= most ? under : FLT_MAX;
}

/* ---- ray ---- */

typedef struct ray_search {
    const sac_world *world;
    const float *origin, *direction;
    uint32_t mask, slot; /* slot: of the best, SAC_NO_BODY: none yet */
    float most;
    sac_ray_hit best;
} ray_search;

static bool try_ray(uint32_t slot, void *user)
{
    ray_search *s = user;
    sac_ray_hit hit;
    if (!is_asked_for(s->world, slot, s->mask)) return true;
    /* A body too far away for its own units is not hit. */
    if (sac_form_ray(form_of(s->world, slot), sac_body_form_pose(s->world, slot), s->origin, s->direction,
                     s->most, &hit, NULL) != SAC_OK ||
        !hit.hit)
        return true;
    /* Of equals the lower slot, in whatever order they come. */
    if (s->slot != SAC_NO_BODY && (hit.t > s->best.t || (hit.t == s->best.t && slot > s->slot))) return true;
    s->best = hit;
    s->slot = slot;
    s->most = hit.t;
    return true;
}

sac_result sac_world_ray(const sac_world *world, const float origin[3], const float direction[3], float most,
                         uint32_t mask, sac_world_hit *out_hit, sac_error *error)
{
    SAC_NEED(error, world, origin, direction, out_hit);
    *out_hit = (sac_world_hit){0};
    if (!sac_vec3_is_finite(origin)) return bad(error, "origin of the ray", "give a finite point");
    double length = 0;
    for (int i = 0; i < 3; i++) length += (double)direction[i] * direction[i];
    if (!(length >= 1e-24 && length <= 1e24))
        return bad(error, "direction of the ray", "give a direction of a length from 1e-12 to 1e12");
    if (!(most >= 0)) return bad(error, "length of the ray", "give a number of at least 0");
    if (!in_reach(origin)) return SAC_OK;
    ray_search s = {world, origin, direction, mask, SAC_NO_BODY, most < FLT_MAX ? most : FLT_MAX, {0}};
    sac_broad_ray(world->broad, origin, direction, &s.most, try_ray, &s);
    if (s.slot == SAC_NO_BODY) return SAC_OK;
    out_hit->body = sac_body_id_of(world, s.slot);
    out_hit->t = s.best.t;
    out_hit->uncertainty = s.best.uncertainty;
    memcpy(out_hit->point, s.best.point, sizeof out_hit->point);
    memcpy(out_hit->normal, s.best.normal, sizeof out_hit->normal);
    return SAC_OK;
}

/* ---- overlap ---- */

static sac_box box_about(const float centre[3], float radius)
{
    sac_box box;
    for (int i = 0; i < 3; i++) box.low[i] = centre[i] - radius, box.high[i] = centre[i] + radius;
    return box;
}

typedef struct overlap_search {
    const sac_world *world;
    const float *centre;
    float radius;
    uint32_t mask, capacity, kept, count;
    sac_body_id *out; /* the lowest slots so far, in order */
} overlap_search;

static uint32_t slot_of(sac_body_id id) { return (uint32_t)id.value - 1u; }

static bool try_overlap(uint32_t slot, void *user)
{
    overlap_search *s = user;
    float closest[3], normal[3];
    if (!is_asked_for(s->world, slot, s->mask)) return true;
    float distance = distance_to(s->world, slot, s->centre, s->radius, closest, normal);
    if (!(distance <= s->radius)) return true;
    s->count++;
    if (s->kept == s->capacity && (s->capacity == 0 || slot_of(s->out[s->kept - 1]) < slot)) return true;
    uint32_t low = 0, high = s->kept;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (slot_of(s->out[middle]) < slot)
            low = middle + 1;
        else
            high = middle;
    }
    if (s->kept < s->capacity) s->kept++;
    memmove(s->out + low + 1, s->out + low, (s->kept - 1 - low) * sizeof *s->out);
    s->out[low] = sac_body_id_of(s->world, slot);
    return true;
}

sac_result sac_world_overlap(const sac_world *world, const float centre[3], float radius, uint32_t mask,
                             sac_body_id *out_bodies, uint32_t capacity, uint32_t *out_count,
                             sac_error *error)
{
    SAC_NEED(error, world, centre, out_count);
    *out_count = 0;
    if (!sac_vec3_is_finite(centre)) return bad(error, "centre of the sphere", "give a finite point");
    if (!(radius >= 0 && radius <= FLT_MAX))
        return bad(error, "radius of the sphere", "give a finite number of at least 0");
    overlap_search s = {world, centre, radius, mask, out_bodies ? capacity : 0, 0, 0, out_bodies};
    sac_box box = box_about(centre, radius);
    sac_broad_touching(world->broad, &box, try_overlap, &s);
    *out_count = s.count;
    return SAC_OK;
}

/* ---- closest ---- */

typedef struct closest_search {
    const sac_world *world;
    const float *point;
    float most, closest[3], normal[3];
    uint32_t mask, slot;
} closest_search;

static bool try_closest(uint32_t slot, void *user)
{
    closest_search *s = user;
    float closest[3], normal[3];
    if (!is_asked_for(s->world, slot, s->mask)) return true;
    float distance = distance_to(s->world, slot, s->point, fmaxf(s->most, 0), closest, normal);
    if (!(distance <= s->most) || distance == FLT_MAX) return true;
    if (s->slot != SAC_NO_BODY && distance == s->most && slot >= s->slot) return true;
    s->most = distance;
    s->slot = slot;
    memcpy(s->closest, closest, sizeof closest);
    memcpy(s->normal, normal, sizeof normal);
    return true;
}

sac_result sac_world_closest(const sac_world *world, const float point[3], float most, uint32_t mask,
                             sac_world_hit *out_hit, sac_error *error)
{
    SAC_NEED(error, world, point, out_hit);
    *out_hit = (sac_world_hit){0};
    if (!sac_vec3_is_finite(point)) return bad(error, "point", "give a finite point");
    if (!(most >= 0)) return bad(error, "distance", "give a number of at least 0");
    if (!in_reach(point)) return SAC_OK;
    if (most > FLT_MAX) most = FLT_MAX;
    closest_search s = {.world = world, .point = point, .mask = mask, .slot = SAC_NO_BODY};
    /* Look around first, then farther; what is found within the reach is the nearest of all. */
    float reach = 0.25f;
    for (int round = 0; s.slot == SAC_NO_BODY; round++) {
        bool last = reach >= most || round == 12;
        s.most = last ? most : reach;
        sac_box box = box_about(point, s.most);
        sac_broad_touching(world->broad, &box, try_closest, &s);
        if (last) break;
        reach *= 3;
    }
    if (s.slot == SAC_NO_BODY) return SAC_OK;
    out_hit->body = sac_body_id_of(world, s.slot);
    out_hit->t = s.most;
    memcpy(out_hit->point, s.closest, sizeof s.closest);
    memcpy(out_hit->normal, s.normal, sizeof s.normal);
    const sac_form *form = form_of(world, s.slot);
    out_hit->uncertainty = form->level_gap[form->levels] * world->pose[s.slot].scale;
    return SAC_OK;
}

/* ---- sweep ---- */

enum { SWEEP_LOOKS = 128 };

/* What is about a ball on its way: how far it can go without asking again, and who is in the way. */
typedef struct sweep_look {
    const sac_world *world;
    const float *centre, *motion;
    float radius, look, tolerance, length;
    uint32_t mask, kinds, slot; /* slot: of the one in the way, SAC_NO_BODY: none */
    float step, gap, closest[3], normal[3];
} sweep_look;

static bool try_sweep(uint32_t slot, void *user)
{
    sweep_look *s = user;
    float closest[3], normal[3], towards = 0;
    const sac_world *world = s->world;
    if (!is_asked_for(world, slot, s->mask) || !(s->kinds & 1u << world->cold[slot].kind) ||
        world->flags[slot] & SAC_BODY_SENSOR)
        return true;
    float distance = distance_to(world, slot, s->centre, s->radius + s->look, closest, normal);
    if (distance == FLT_MAX) return true;
    float gap = distance - s->radius;
    for (int k = 0; k < 3; k++) towards -= normal[k] * s->motion[k];
    if (gap > s->tolerance || towards <= 1e-4f * s->length) {
        /* A way of its gap is free. Along a surface that would be many small ones: there a fifth of the
         * radius is tried, as far as the surface is flat; what it does not foresee it is still in time to
         * see. */
        float free = gap - 0.5f * s->tolerance, flat = 0.2f * s->radius;
        if (towards > 0 && free * s->length < flat * towards) flat = free * s->length / towards;
        if (free < flat) free = flat;
        if (free < s->step) s->step = free;
        return true;
    }
    if (s->slot != SAC_NO_BODY && (gap > s->gap || (gap == s->gap && slot > s->slot))) return true;
    s->slot = slot;
    s->gap = gap;
    memcpy(s->closest, closest, sizeof closest);
    memcpy(s->normal, normal, sizeof normal);
    return true;
}

sac_result sac_world_sweep(const sac_world *world, const float centre[3], float radius, const float motion[3],
                           uint32_t mask, uint32_t kinds, sac_world_hit *out_hit, sac_error *error)
{
    SAC_NEED(error, world, centre, motion, out_hit);
    *out_hit = (sac_world_hit){.t = 1};
    if (!sac_vec3_is_finite(centre)) return bad(error, "centre of the ball", "give a finite point");
    if (!sac_vec3_is_finite(motion)) return bad(error, "motion of the ball", "give a finite way");
    if (!(radius > 0 && radius <= 1e6f)) return bad(error, "radius of the ball", "above 0 to 1e6 m");
    float length = sqrtf(motion[0] * motion[0] + motion[1] * motion[1] + motion[2] * motion[2]), gone = 0;
    if (!(length <= 1e6f)) return bad(error, "motion of the ball", "at most 1e6 m");
    for (int round = 0; round < SWEEP_LOOKS && gone < length; round++) {
        float at[3], left = length - gone;
        for (int k = 0; k < 3; k++) at[k] = centre[k] + motion[k] * (gone / length);
        sweep_look s = {.world = world,
                        .centre = at,
                        .motion = motion,
                        .radius = radius,
                        .look = fminf(left, 4 * radius + 0.25f),
                        .tolerance = 0.01f * radius,
                        .length = length,
                        .mask = mask,
                        .kinds = kinds,
                        .slot = SAC_NO_BODY};
        s.step = s.look;
        sac_box box = box_about(at, radius + s.look);
        sac_broad_touching(world->broad, &box, try_sweep, &s);
        if (s.slot != SAC_NO_BODY) {
            out_hit->body = sac_body_id_of(world, s.slot);
            out_hit->t = gone / length;
            memcpy(out_hit->point, s.closest, sizeof s.closest);
            memcpy(out_hit->normal, s.normal, sizeof s.normal);
            return SAC_OK;
        }
        gone += s.step;
    }
    /* Looked long enough: as far as it is known to be free. */
    if (gone < length) out_hit->t = gone / length;
    return SAC_OK;
}
