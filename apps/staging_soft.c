/* The scenes of bodies that bend. Like the others the same numbers on every machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/staging_plan_internal.h"

static const uint32_t OAK = 0xb48f63, WALNUT = 0x7d5f45;

/* Quiet, and told apart by lightness as well as hue: yellow, blue, orange, green, purple, slate. */
static const uint32_t toy_colours[] = {0xe3c878, 0x7fa0b8, 0xd08a5b, 0xb9c7a9, 0xa8788f, 0x55607a};
static const char *const toys[] = {"duck", "bear", "star", "hoop", "heart", "mushroom"};
enum { TOYS = sizeof toys / sizeof *toys, TOY_POINTS = 437, TOY_SKIN = 2200 };
static const float TOY_ACROSS = 0.36f, TOY_MASS = 0.6f;

/* Points of `figure`, or of whatever shape was asked for instead, as large as `across`. */
static uint32_t add_soft(sac_plan *p, const char *figure, uint32_t colour, float across, const sac_prop *like)
{
    sac_prop prop = *like;
    prop.kind = SAC_PROP_SOFT;
    prop.figure = !p->shape;
    prop.source = (char *)(p->shape ? p->shape : figure);
    prop.colour = colour;
    prop.across = across;
    snprintf(prop.name, sizeof prop.name, "%.40s", prop.source);
    return sac_staging_add_prop(p->staging, &prop);
}

static bool add_block(sac_plan *p, const char *name, uint32_t colour, float gloss, const float centre[3],
                      const float half[3], bool hidden)
{
    sac_prop prop = {.kind = SAC_PROP_BOX, .colour = colour, .gloss = gloss, .hidden = hidden};
    sac_body_def def = sac_default_body_def();
    snprintf(prop.name, sizeof prop.name, "%.40s", name);
    memcpy(prop.half, half, sizeof prop.half);
    memcpy(def.position, centre, sizeof def.position);
    def.kind = SAC_BODY_STATIC;
    def.material.friction = 0.5f;
    uint32_t index = sac_staging_add_prop(p->staging, &prop);
    return index != UINT32_MAX && sac_staging_add_actor(p->staging, name, index, &def) != UINT32_MAX;
}

/* Four panes of glass on the floor. */
static bool add_yard(sac_plan *p, float side, float high)
{
    sac_staging *staging = p->staging;
    const float half = 0.5f * side, thick = 0.25f;
    bool ok = sac_plan_floor(p) != UINT32_MAX;
    for (int i = 0; i < 4 && ok; i++) {
        float centre[3] = {0, 10, 0}, size[3] = {half + 2 * thick, 10, half + 2 * thick};
        centre[i < 2 ? 0 : 2] = (i & 1 ? 1 : -1) * (half + thick);
        size[i < 2 ? 0 : 2] = thick;
        ok = add_block(p, "pane", 0, 0, centre, size, true);
    }
    staging->glazed = true;
    staging->glass = (sac_box){{-half, 0, -half}, {half, high, half}};
    staging->bounded = true;
    staging->bounds = (sac_box){{-half, 0, -half}, {half, 1000, half}};
    return ok;
}

/* ---- flowers ---- */

#define BOARD_TOP 0.74f
#define BOARD_Z -0.62f
#define POT_HEIGHT 0.148f
#define GUST 1.6f /* m/s */

static bool is_rooted(const sac_staging *staging, size_t actor)
{
    return staging->props.data[staging->actors.data[actor].prop].pinned;
}

/* A gust for one flower after another, so that there is something to see without a hand. */
static sac_result breeze(sac_staging *staging, sac_world *world, uint64_t frame, double hz, sac_error *error)
{
    uint64_t period = (uint64_t)(2.5 * hz);
    uint32_t soft = 0, turn = (uint32_t)(frame / period);
    if (frame % period != (uint64_t)(0.5 * hz)) return SAC_OK;
    for (size_t i = 0; i < staging->actors.count; i++) soft += is_rooted(staging, i);
    for (size_t i = 0, n = 0; i < staging->actors.count && soft; i++) {
        const sac_actor *actor = &staging->actors.data[i];
        if (!is_rooted(staging, i) || n++ != turn % soft || !sac_body_exists(world, actor->id)) continue;
        /* Towards the next one and back, in turns. */
        sac_body_state state;
        sac_result result = sac_body_get(world, actor->id, &state, error);
        float impulse = (turn / soft & 1 ? -GUST : GUST) * state.mass;
        if (result != SAC_OK) return result;
        return sac_body_push(world, actor->id, (float[3]){impulse, 0, 0.5f * impulse}, NULL, error);
    }
    return SAC_OK;
}

sac_result sac_plan_flowers(sac_plan *p)
{
    static const char *const kinds[] = {"daisy", "tulip", "bluebell"};
    enum { KINDS = 3, FLOWER_POINTS = 6333, COLUMNS = 5, POT = 2 };
    sac_staging *staging = p->staging;
    uint32_t props[KINDS], count = p->shape ? 1 : KINDS, columns = p->bodies < COLUMNS ? p->bodies : COLUMNS,
                           rows = (p->bodies + columns - 1) / columns;
    const float apart = 0.33f, wide = 0.5f * apart * (float)columns + 0.12f,
                deep = 0.5f * apart * (float)rows + 0.1f;
    const float z = BOARD_Z - deep + 0.25f;
    sac_prop matter = {
        .points = FLOWER_POINTS, .mass = 0.3f, .gloss = 0.35f, .matter = sac_default_soft_def()};
    matter.matter.clusters = 3;
    matter.matter.overlap = 1; /* stems are thin: clusters that share little would come apart */
    matter.matter.settle_time = 0.022f;
    matter.matter.beta = 0.35f;
    matter.matter.damping = 0.15f;
    matter.pinned = true;
    matter.pins = (sac_box){{-1, -1, -1}, {1, p->shape ? -0.15f : 0.004f, 1}};
    sac_prop clay = {.name = "pot",
                     .kind = SAC_PROP_TERRAIN,
                     .figure = true,
                     .source = "pot",
                     .triangles = 5000,
                     .colour = 0xb5714f,
                     .gloss = 0.1f};
    sac_body_def still = sac_default_body_def(), def = still;
    bool ok = sac_plan_floor(p) != UINT32_MAX;
    ok = ok && add_block(p, "board", OAK, 0.3f, (float[3]){0, BOARD_TOP - 0.02f, z},
                         (float[3]){wide, 0.02f, deep}, false);
    for (int i = 0; i < 4 && ok; i++)
        ok = add_block(p, "leg", WALNUT, 0.25f,
                       (float[3]){(i & 1 ? 1 : -1) * (wide - 0.05f), 0.5f * (BOARD_TOP - 0.04f),
                                  z + (i & 2 ? 1 : -1) * (deep - 0.05f)},
                       (float[3]){0.025f, 0.5f * (BOARD_TOP - 0.04f), 0.025f}, false);
    uint32_t pot = sac_staging_add_prop(staging, &clay);
    ok = ok && pot != UINT32_MAX;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = (props[i] = add_soft(p, kinds[i], 0x7d9a68, 0.5f, &matter)) != UINT32_MAX;
    if (!ok) return sac_plan_no_memory(p);
    still.kind = SAC_BODY_STATIC;
    still.filter.category = POT; /* the root is in it: no news */
    def.filter.mask = ~(uint32_t)POT;
    for (uint32_t i = 0; i < p->bodies; i++) {
        uint32_t row = i / columns, in_row = row + 1 < rows ? columns : p->bodies - row * columns;
        float at[3] = {((float)(i % columns) - 0.5f * (float)(in_row - 1)) * apart, BOARD_TOP + POT_HEIGHT,
                       z + ((float)row - 0.5f * (float)(rows - 1)) * apart};
        memcpy(still.position, at, sizeof at);
        memcpy(def.position, at, sizeof at);
        if (p->shape) def.position[1] += 0.2f;
        def.mass = matter.mass;
        uint32_t actor = sac_staging_add_actor(staging, NULL, props[i % count], &def);
        if (actor == UINT32_MAX || sac_staging_add_actor(staging, "pot", pot, &still) == UINT32_MAX)
            return sac_plan_no_memory(p);
    }
    staging->script = breeze;
    sac_plan_bound(p, (sac_box){{-8, -0.2f, -8}, {8, 100, 8}});
    sac_staging_set_view(staging, (float[3]){0, 1.36f, 0.1f}, (float[3]){0, 1.13f, BOARD_Z});
    sac_staging_set_light(staging, (float[3]){-0.5f, 1, 0.7f}, 1.1f);
    return SAC_OK;
}

/* ---- three hundred ---- */

/* Layers over the yard, jittered; how many the yard holds side by side is in `columns`. */
static void place_in_air(sac_rng *rng, uint32_t i, uint32_t columns, float apart, float low,
                         sac_body_def *out)
{
    float jitter[3];
    uint32_t layer = i / (columns * columns), row = i / columns % columns, column = i % columns;
    sac_plan_in_ball(rng, jitter);
    out->position[0] = ((float)column - 0.5f * (float)(columns - 1)) * apart + 0.05f * apart * jitter[0];
    out->position[1] = low + (float)layer * apart + 0.05f * apart * jitter[1];
    out->position[2] = ((float)row - 0.5f * (float)(columns - 1)) * apart + 0.05f * apart * jitter[2];
    sac_plan_turn(rng, out->rotation);
}

/* Of a yard that is as deep in toys whatever their number. */
static uint32_t columns_for(uint32_t bodies)
{
    uint32_t columns = 2;
    while (6 * columns * columns < bodies) columns++;
    return columns;
}

static bool add_toys(sac_plan *p, uint32_t out_props[TOYS], uint32_t *out_count)
{
    sac_prop matter = {.points = TOY_POINTS,
                       .skin = p->shape ? 0 : TOY_SKIN,
                       .mass = TOY_MASS,
                       .gloss = 0.6f,
                       .matter = sac_default_soft_def()};
    matter.matter.clusters = 2;
    matter.matter.overlap = 0.6f;
    matter.matter.settle_time = 0.012f; /* the few points that lie on something carry all of it */
    matter.matter.beta = 0.4f;
    *out_count = TOYS;
    for (uint32_t i = 0; i < TOYS; i++)
        if ((out_props[i] = add_soft(p, toys[i], toy_colours[i], TOY_ACROSS, &matter)) == UINT32_MAX)
            return false;
    return true;
}

sac_result sac_plan_three_hundred(sac_plan *p)
{
    sac_staging *staging = p->staging;
    sac_rng rng = sac_rng_seed(p->seed);
    uint32_t props[TOYS], count;
    const float apart = 0.47f;
    const uint32_t columns = columns_for(p->bodies);
    const float side = (float)columns * apart + 0.15f;
    sac_body_def def = sac_default_body_def();
    if (!add_yard(p, side, 1.1f) || !add_toys(p, props, &count)) return sac_plan_no_memory(p);
    def.material.friction = 0.4f;
    def.mass = TOY_MASS;
    for (uint32_t i = 0; i < p->bodies; i++) {
        place_in_air(&rng, i, columns, apart, 0.3f, &def);
        if (sac_staging_add_actor(staging, NULL, props[sac_rng_below(&rng, count)], &def) == UINT32_MAX)
            return sac_plan_no_memory(p);
    }
    sac_staging_set_view(staging, (float[3]){0.12f * side, 1.9f, 0.5f * side + 0.8f},
                         (float[3]){0, 0.1f, 0.12f * side});
    sac_staging_set_light(staging, (float[3]){-0.45f, 1, 0.6f}, fmaxf(1.6f, 0.85f * side));
    return SAC_OK;
}

/* ---- santas ---- */

/* Cosine and sine by their series: the same on every machine, unlike the library's. */
static void on_circle(double angle, float *out_cos, float *out_sin)
{
    double square = angle * angle, c = 1, s = angle, term = 1;
    for (int i = 1; i < 14; i++) {
        term *= -square / ((2 * i - 1) * (2 * i));
        c += term;
        s += term * angle / (2 * i + 1);
    }
    *out_cos = (float)c, *out_sin = (float)s;
}

#define HOOK 2.0f

static bool add_string(sac_staging *staging, const float from[3], const float to[3])
{
    sac_string string;
    memcpy(string.from, from, sizeof string.from);
    memcpy(string.to, to, sizeof string.to);
    return sac_array_push(&staging->strings, string);
}

/* The hoop they hang from, and what that hangs from. */
static bool add_hanger(sac_staging *staging, float radius)
{
    enum { PIECES = 72 };
    const double turn = 6.283185307179586;
    float last[3] = {0, HOOK + 0.16f, radius};
    bool ok = true;
    for (int i = 1; i <= PIECES && ok; i++) {
        float c, s;
        on_circle(turn * (i % PIECES) / PIECES, &c, &s);
        float at[3] = {radius * s, HOOK + 0.16f, radius * c};
        ok = add_string(staging, last, at);
        if (ok && i % (PIECES / 4) == PIECES / 8)
            ok = add_string(staging, at, (float[3]){0, HOOK + 0.95f, 0});
        memcpy(last, at, sizeof last);
    }
    return ok && add_string(staging, (float[3]){0, HOOK + 0.95f, 0}, (float[3]){0, HOOK + 4, 0});
}

sac_result sac_plan_santas(sac_plan *p)
{
    enum { NODES = 115, SURFACE = 6000 };
    const double turn = 6.283185307179586;
    sac_staging *staging = p->staging;
    const float apart = 0.45f, radius = fmaxf(0.35f, apart * (float)p->bodies / 6.2831853f);
    sac_prop matter = {
        .points = NODES, .surface = SURFACE, .mass = 1.2f, .gloss = 0.3f, .matter = sac_default_soft_def()};
    matter.matter.mode = SAC_SOFT_LINEAR;
    matter.matter.clusters = 6;
    matter.matter.settle_time = 0.006f;
    matter.matter.beta = 0.3f;
    matter.pinned = true;
    matter.pins = (sac_box){{-1, p->shape ? 0.24f : -0.012f, -1}, {1, 1, 1}};
    sac_body_def def = sac_default_body_def();
    uint32_t prop = add_soft(p, "santa", 0xb4493f, 0.6f, &matter);
    if (prop == UINT32_MAX || sac_plan_floor(p) == UINT32_MAX || !add_hanger(staging, radius))
        return sac_plan_no_memory(p);
    def.mass = matter.mass;
    def.material.friction = 0.3f;
    for (uint32_t i = 0; i < p->bodies; i++) {
        float c, s, hc, hs;
        on_circle(turn * i / p->bodies, &c, &s);
        on_circle(0.5 * turn * i / p->bodies, &hc, &hs);
        def.position[0] = radius * s, def.position[1] = HOOK, def.position[2] = radius * c;
        if (p->shape) def.position[1] -= 0.3f;
        def.rotation[1] = hs, def.rotation[3] = hc; /* faces outwards */
        /* Every other one swings along the ring, every third inwards as well. */
        float along = i % 2 ? 0 : 1.5f, inwards = i % 3 ? 0 : 0.8f;
        def.velocity[0] = along * c - inwards * s, def.velocity[2] = -along * s - inwards * c;
        uint32_t actor = sac_staging_add_actor(staging, NULL, prop, &def);
        float top[3] = {def.position[0], HOOK + 0.02f, def.position[2]},
              hoop[3] = {top[0], HOOK + 0.16f, top[2]};
        if (actor == UINT32_MAX || !add_string(staging, top, hoop)) return sac_plan_no_memory(p);
    }
    sac_plan_bound(p, (sac_box){{-20, -0.2f, -20}, {20, 100, 20}});
    sac_staging_set_view(staging, (float[3]){0.25f, 1.72f, radius + 1.05f}, (float[3]){0, 1.7f, 0});
    sac_staging_set_light(staging, (float[3]){-0.4f, 1, 0.8f}, radius + 0.9f);
    return SAC_OK;
}

/* ---- jelly ---- */

sac_result sac_plan_jelly(sac_plan *p)
{
    static const struct {
        const char *name;
        uint32_t colour;
        float gloss;
    } stiff[] = {{"knot", 0xc9b28f, 0.6f}, {"gear", 0x8d8f93, 0.75f}, {"spring", 0xe9e1d2, 0.7f}};
    enum { STIFF = 3 };
    sac_staging *staging = p->staging;
    sac_rng rng = sac_rng_seed(p->seed);
    uint32_t props[TOYS], metal[STIFF], count;
    const float apart = 0.47f;
    const uint32_t columns = columns_for(p->bodies);
    const float side = (float)columns * apart + 0.15f;
    sac_body_def def = sac_default_body_def();
    bool ok = add_yard(p, side, 0.8f) && add_toys(p, props, &count);
    for (uint32_t i = 0; i < STIFF && ok; i++) {
        sac_prop prop = {.kind = SAC_PROP_BAKED,
                         .source = (char *)stiff[i].name,
                         .builtin = true,
                         .quick = true,
                         .triangles = 1500,
                         .depth = 3,
                         .colour = stiff[i].colour,
                         .gloss = stiff[i].gloss};
        snprintf(prop.name, sizeof prop.name, "%.40s", stiff[i].name);
        ok = (metal[i] = sac_staging_add_prop(staging, &prop)) != UINT32_MAX;
    }
    if (!ok) return sac_plan_no_memory(p);
    for (uint32_t i = 0; i < p->bodies; i++) {
        bool soft = i % 3 != 1;
        def = sac_default_body_def();
        def.material.friction = 0.4f;
        def.mass = soft ? TOY_MASS : 1;
        def.scale = soft ? 1 : 0.36f;
        place_in_air(&rng, i, columns, apart, 0.35f, &def);
        uint32_t kind = sac_rng_below(&rng, soft ? count : STIFF);
        if (sac_staging_add_actor(staging, NULL, soft ? props[kind] : metal[kind], &def) == UINT32_MAX)
            return sac_plan_no_memory(p);
    }
    sac_staging_set_view(staging, (float[3]){0.2f * side, 1.4f, 0.5f * side + 0.6f},
                         (float[3]){0, 0.12f, 0.05f * side});
    sac_staging_set_light(staging, (float[3]){-0.45f, 1, 0.6f}, fmaxf(1.6f, 0.9f * side));
    return SAC_OK;
}
