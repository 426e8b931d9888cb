/* The figures, part by part. */
#include "apps/figure_internal.h"

#include <math.h>
#include <string.h>

static const uint32_t LEAF = 0x7d9a68, LEAF_DARK = 0x5f8061, CREAM = 0xf1ead9, OCHRE = 0xd9a441,
                      ROSE = 0xc9798f, LILAC = 0x8f88b8, CLAY = 0xb5714f, SOIL = 0x5d4a3e, COAT = 0xb4493f,
                      SNOW = 0xf3efe6, SKIN = 0xe6b796, INK = 0x3a3532, PINE = 0x47685a, BEAK = 0xdd8f3f;

static sac_part *add(sac_figure *f, sac_part part)
{
    f->parts[f->count] = part;
    return &f->parts[f->count++];
}

static void ball(sac_figure *f, float x, float y, float z, float r, float melt, uint32_t colour)
{
    add(f, (sac_part){.a = {x, y, z}, .b = {x, y, z}, .ra = r, .rb = r, .melt = melt, .colour = colour});
}

static void cone(sac_figure *f, const float a[3], const float b[3], float ra, float rb, float melt,
                 uint32_t colour)
{
    sac_part *part = add(f, (sac_part){.ra = ra, .rb = rb, .melt = melt, .colour = colour});
    memcpy(part->a, a, sizeof part->a);
    memcpy(part->b, b, sizeof part->b);
}

/* egg: across, high; leaf: wide, thick. */
static void oval(sac_figure *f, sac_part_kind kind, const float a[3], const float b[3], const float up[3],
                 float wide, float other, float melt, uint32_t colour)
{
    sac_part *part = add(
        f, (sac_part){.kind = kind, .ra = wide, .rb = other, .thick = other, .melt = melt, .colour = colour});
    memcpy(part->a, a, sizeof part->a);
    memcpy(part->b, b, sizeof part->b);
    memcpy(part->up, up, sizeof part->up);
}

static void egg(sac_figure *f, const float a[3], const float b[3], const float up[3], float across,
                float high, float melt, uint32_t colour)
{
    oval(f, SAC_PART_EGG, a, b, up, across, high, melt, colour);
}

static void leaf(sac_figure *f, const float a[3], const float b[3], const float up[3], float wide,
                 float thick, float melt, uint32_t colour)
{
    oval(f, SAC_PART_LEAF, a, b, up, wide, thick, melt, colour);
}

static void tongue(sac_figure *f, const float a[3], const float b[3], const float up[3], float wide_a,
                   float wide_b, float thick, float melt, uint32_t colour)
{
    oval(f, SAC_PART_TONGUE, a, b, up, wide_a, wide_b, melt, colour);
    f->parts[f->count - 1].thick = thick;
}

static void ring(sac_figure *f, const float at[3], const float up[3], float radius, float thick, float melt,
                 uint32_t colour)
{
    sac_part *part =
        add(f, (sac_part){.kind = SAC_PART_RING, .ra = radius, .rb = thick, .melt = melt, .colour = colour});
    memcpy(part->a, at, sizeof part->a);
    memcpy(part->up, up, sizeof part->up);
}

/* A turn of a whole by `of`: what sine and cosine would say, from numbers that are the same everywhere. */
static void turn_by(uint32_t of, float *out_cos, float *out_sin)
{
    static const struct {
        uint32_t of;
        float c, s;
    } turns[] = {{3, -0.5f, 0.8660254f},
                 {5, 0.30901699f, 0.95105652f},
                 {6, 0.5f, 0.8660254f},
                 {9, 0.76604444f, 0.64278761f},
                 {11, 0.84125353f, 0.54064082f}};
    *out_cos = 1, *out_sin = 0;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        if (turns[i].of == of) *out_cos = turns[i].c, *out_sin = turns[i].s;
}

/* ---- plants: roots at the origin ---- */

/* Axes of a flower's head: n is where it looks. */
typedef struct head {
    float at[3], u[3], v[3], n[3];
} head;

static void on_head(const head *h, float u, float v, float n, float out[3])
{
    for (int k = 0; k < 3; k++) out[k] = h->at[k] + u * h->u[k] + v * h->v[k] + n * h->n[k];
}

static void daisy(sac_figure *f)
{
    const float stem[4][3] = {
        {0, -0.02f, 0}, {0.012f, 0.17f, -0.012f}, {-0.004f, 0.33f, -0.006f}, {0, 0.452f, 0.028f}};
    cone(f, stem[0], stem[1], 0.017f, 0.0125f, 0, LEAF);
    cone(f, stem[1], stem[2], 0.0125f, 0.0115f, 0, LEAF);
    cone(f, stem[2], stem[3], 0.0115f, 0.011f, 0, LEAF);
    leaf(f, (float[3]){0.006f, 0.06f, 0}, (float[3]){0.17f, 0.155f, 0.03f}, (float[3]){-0.3f, 1, 0.15f},
         0.036f, 0.0085f, 0.01f, LEAF_DARK);
    leaf(f, (float[3]){0.004f, 0.12f, -0.01f}, (float[3]){-0.15f, 0.21f, 0.04f}, (float[3]){0.4f, 1, 0.1f},
         0.033f, 0.0085f, 0.01f, LEAF_DARK);
    const head h = {{0, 0.468f, 0.036f}, {1, 0, 0}, {0, 0.8f, -0.6f}, {0, 0.6f, 0.8f}};
    float c, s, x = 1, y = 0;
    turn_by(11, &c, &s);
    for (int i = 0; i < 11; i++) {
        float a[3], b[3], up[3], lift = i & 1 ? 0.02f : 0.006f;
        on_head(&h, 0.02f * x, 0.02f * y, 0, a);
        on_head(&h, 0.122f * x, 0.122f * y, lift, b);
        for (int k = 0; k < 3; k++) up[k] = h.n[k];
        tongue(f, a, b, up, 0.012f, 0.0275f, 0.0075f, 0.003f, CREAM);
        float t = x * c - y * s;
        y = x * s + y * c, x = t;
    }
    float low[3], high[3];
    on_head(&h, 0, 0, 0.002f, low);
    on_head(&h, 0, 0, 0.012f, high);
    cone(f, low, high, 0.04f, 0.034f, 0.006f, OCHRE);
}

static void tulip(sac_figure *f)
{
    const float stem[3][3] = {{0, -0.02f, 0}, {-0.008f, 0.16f, 0.006f}, {0, 0.34f, 0}};
    cone(f, stem[0], stem[1], 0.018f, 0.0135f, 0, LEAF);
    cone(f, stem[1], stem[2], 0.0135f, 0.013f, 0, LEAF);
    leaf(f, (float[3]){0, 0, 0}, (float[3]){-0.13f, 0.3f, 0.03f}, (float[3]){1, 0.42f, 0.1f}, 0.035f, 0.0095f,
         0.012f, LEAF_DARK);
    leaf(f, (float[3]){0, 0.01f, 0}, (float[3]){0.115f, 0.25f, 0.06f}, (float[3]){-1, 0.45f, 0.1f}, 0.032f,
         0.0085f, 0.01f, LEAF_DARK);
    ball(f, 0, 0.352f, 0, 0.032f, 0.02f, ROSE);
    float c, s, x = 0.9848f, y = 0.1736f;
    turn_by(6, &c, &s);
    for (int i = 0; i < 6; i++) {
        float out = i & 1 ? 0.046f : 0.052f, top = i & 1 ? 0.487f : 0.498f;
        leaf(f, (float[3]){0.024f * x, 0.325f, 0.024f * y}, (float[3]){out * x, top, out * y},
             (float[3]){x, -0.2f, y}, 0.05f, 0.01f, 0.008f, ROSE);
        float t = x * c - y * s;
        y = x * s + y * c, x = t;
    }
}

static void bluebell(sac_figure *f)
{
    static const float stem[6][3] = {{0, -0.02f, 0},           {-0.012f, 0.15f, 0},
                                     {0.004f, 0.3f, 0.004f},   {0.055f, 0.41f, 0.01f},
                                     {0.125f, 0.452f, 0.016f}, {0.185f, 0.43f, 0.02f}};
    static const float bells[4][4] = {{0.205f, 0.385f, 0.024f, 1},
                                      {0.128f, 0.39f, 0.04f, 1.12f},
                                      {0.062f, 0.345f, 0.045f, 1.18f},
                                      {-0.035f, 0.315f, 0.02f, 1.1f}};
    static const float from[4][3] = {
        {0.185f, 0.43f, 0.02f}, {0.125f, 0.45f, 0.016f}, {0.055f, 0.41f, 0.01f}, {0.004f, 0.34f, 0.004f}};
    /* First, so that hollowing them out takes nothing from the rest. */
    for (int i = 0; i < 4; i++) {
        const float *b = bells[i], k = b[3], at[3] = {b[0], b[1], b[2]},
                    rim[3] = {b[0], b[1] - 0.052f * k, b[2]};
        cone(f, at, rim, 0.021f * k, 0.031f * k, 0.008f, LILAC);
        ring(f, rim, (float[3]){0, 1, 0}, 0.031f * k, 0.0105f * k, 0.01f, LILAC);
        add(f, (sac_part){.kind = SAC_PART_CUT,
                          .a = {b[0], b[1] - 0.062f * k, b[2]},
                          .b = {b[0], b[1] - 0.09f * k, b[2]},
                          .ra = 0.019f * k,
                          .rb = 0.036f * k,
                          .melt = 0.006f});
    }
    for (int i = 0; i < 5; i++)
        cone(f, stem[i], stem[i + 1], 0.017f - 0.0015f * (float)i, 0.0155f - 0.0015f * (float)i, 0, LEAF);
    leaf(f, (float[3]){0, 0, 0}, (float[3]){-0.12f, 0.27f, -0.03f}, (float[3]){1, 0.4f, 0.2f}, 0.028f,
         0.0085f, 0.01f, LEAF_DARK);
    leaf(f, (float[3]){0, 0, 0}, (float[3]){0.1f, 0.2f, 0.06f}, (float[3]){-1, 0.45f, -0.3f}, 0.028f, 0.0095f,
         0.012f, LEAF_DARK);
    for (int i = 0; i < 4; i++) cone(f, from[i], bells[i], 0.0085f, 0.0085f, 0.004f, LEAF);
}

static void pot(sac_figure *f)
{
    cone(f, (float[3]){0, -0.115f, 0}, (float[3]){0, -0.03f, 0}, 0.055f, 0.074f, 0, CLAY);
    ring(f, (float[3]){0, -0.012f, 0}, (float[3]){0, 1, 0}, 0.08f, 0.0155f, 0.008f, CLAY);
    add(f, (sac_part){.kind = SAC_PART_CUT,
                      .a = {0, 0.045f, 0},
                      .b = {0, 0.16f, 0},
                      .ra = 0.066f,
                      .rb = 0.13f,
                      .melt = 0.008f});
    add(f, (sac_part){.kind = SAC_PART_CUT,
                      .a = {0, -0.36f, 0},
                      .b = {0, -0.36f, 0},
                      .ra = 0.214f,
                      .rb = 0.214f,
                      .melt = 0.012f});
    egg(f, (float[3]){-0.068f, -0.026f, 0}, (float[3]){0.068f, -0.026f, 0}, (float[3]){0, 1, 0}, 0.068f,
        0.016f, 0.002f, SOIL);
}

/* ---- toys: a hand and a half across ---- */

static void duck(sac_figure *f)
{
    egg(f, (float[3]){-0.015f, -0.05f, -0.13f}, (float[3]){0.015f, -0.05f, 0.125f}, (float[3]){0, 1, 0}, 0.1f,
        0.085f, 0, 0);
    cone(f, (float[3]){0, -0.03f, -0.1f}, (float[3]){0, 0.045f, -0.165f}, 0.05f, 0.022f, 0.05f, 0);
    cone(f, (float[3]){0, 0, 0.06f}, (float[3]){0, 0.06f, 0.07f}, 0.06f, 0.05f, 0.04f, 0);
    ball(f, 0, 0.085f, 0.075f, 0.076f, 0.03f, 0);
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side;
        egg(f, (float[3]){0.088f * x, -0.015f, 0.06f}, (float[3]){0.1f * x, 0.005f, -0.115f},
            (float[3]){x, 0.2f, 0}, 0.05f, 0.026f, 0.03f, 0);
        ball(f, 0.042f * x, 0.115f, 0.122f, 0.0165f, 0.004f, INK);
    }
    egg(f, (float[3]){-0.05f, 0.072f, 0.155f}, (float[3]){0.05f, 0.072f, 0.155f}, (float[3]){0, 1, 0}, 0.042f,
        0.023f, 0.016f, BEAK);
}

static void bear(sac_figure *f)
{
    egg(f, (float[3]){0, -0.14f, 0}, (float[3]){0, 0.06f, 0}, (float[3]){0, 0, 1}, 0.088f, 0.074f, 0, 0);
    ball(f, 0, 0.095f, 0.012f, 0.078f, 0.03f, 0);
    ball(f, 0, 0.076f, 0.078f, 0.036f, 0.025f, 0);
    ball(f, 0, 0.088f, 0.108f, 0.017f, 0.005f, INK);
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side;
        ball(f, 0.062f * x, 0.157f, 0.002f, 0.034f, 0.018f, 0);
        ball(f, 0.031f * x, 0.118f, 0.076f, 0.0155f, 0.004f, INK);
        cone(f, (float[3]){0.06f * x, 0.01f, 0.02f}, (float[3]){0.108f * x, -0.035f, 0.075f}, 0.037f, 0.034f,
             0.028f, 0);
        cone(f, (float[3]){0.05f * x, -0.12f, 0.02f}, (float[3]){0.078f * x, -0.142f, 0.1f}, 0.045f, 0.04f,
             0.03f, 0);
    }
}

static void star(sac_figure *f)
{
    float c, s, x = 0, y = 1;
    turn_by(5, &c, &s);
    egg(f, (float[3]){-0.09f, 0, 0}, (float[3]){0.09f, 0, 0}, (float[3]){0, 0, 1}, 0.09f, 0.058f, 0, 0);
    for (int i = 0; i < 5; i++) {
        cone(f, (float[3]){0.05f * x, 0.05f * y, 0}, (float[3]){0.155f * x, 0.155f * y, 0}, 0.055f, 0.03f,
             0.045f, 0);
        float t = x * c - y * s;
        y = x * s + y * c, x = t;
    }
}

static void hoop(sac_figure *f) { ring(f, (float[3]){0, 0, 0}, (float[3]){0, 1, 0}, 0.12f, 0.055f, 0, 0); }

static void heart(sac_figure *f)
{
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side;
        ball(f, 0.068f * x, 0.06f, 0, 0.08f, side < 0 ? 0 : 0.03f, 0);
        cone(f, (float[3]){0.07f * x, 0.05f, 0}, (float[3]){0, -0.125f, 0}, 0.078f, 0.028f, 0.03f, 0);
    }
}

static void mushroom(sac_figure *f)
{
    cone(f, (float[3]){0, -0.12f, 0}, (float[3]){0, 0.02f, 0}, 0.062f, 0.05f, 0, CREAM);
    egg(f, (float[3]){-0.145f, 0.045f, 0}, (float[3]){0.145f, 0.045f, 0}, (float[3]){0, 1, 0}, 0.145f, 0.075f,
        0.02f, 0);
    cone(f, (float[3]){0, 0.06f, 0}, (float[3]){0, 0.1f, 0}, 0.085f, 0.05f, 0.05f, 0);
    static const float dots[6][3] = {{0, 0.155f, 0},           {0.085f, 0.115f, 0.03f},
                                     {-0.02f, 0.112f, 0.09f},  {-0.09f, 0.113f, -0.01f},
                                     {0.03f, 0.115f, -0.088f}, {0.06f, 0.072f, 0.115f}};
    for (int i = 0; i < 6; i++) ball(f, dots[i][0], dots[i][1] - 0.006f, dots[i][2], 0.026f, 0.004f, CREAM);
}

/* ---- a figure that hangs by its cap: the top at the origin ---- */

static void santa(sac_figure *f)
{
    /* boots and legs */
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side;
        cone(f, (float[3]){0.05f * x, -0.46f, 0}, (float[3]){0.054f * x, -0.53f, 0}, 0.038f, 0.034f,
             side < 0 ? 0 : 0.01f, COAT);
        ring(f, (float[3]){0.054f * x, -0.528f, 0}, (float[3]){0, 1, 0}, 0.026f, 0.02f, 0.006f, SNOW);
        cone(f, (float[3]){0.055f * x, -0.57f, -0.002f}, (float[3]){0.06f * x, -0.575f, 0.04f}, 0.036f, 0.03f,
             0.012f, INK);
    }
    /* coat */
    cone(f, (float[3]){0, -0.415f, 0}, (float[3]){0, -0.29f, 0}, 0.108f, 0.075f, 0.02f, COAT);
    ring(f, (float[3]){0, -0.462f, 0}, (float[3]){0, 1, 0}, 0.094f, 0.026f, 0.008f, SNOW);
    ring(f, (float[3]){0, -0.375f, 0}, (float[3]){0, 1, 0}, 0.1f, 0.017f, 0.004f, INK);
    ball(f, 0, -0.375f, 0.113f, 0.021f, 0.004f, OCHRE);
    /* arms held out a little */
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side;
        cone(f, (float[3]){0.062f * x, -0.285f, 0}, (float[3]){0.142f * x, -0.325f, 0.03f}, 0.044f, 0.035f,
             0.02f, COAT);
        ring(f, (float[3]){0.15f * x, -0.331f, 0.034f}, (float[3]){0.86f * x, -0.43f, 0.28f}, 0.023f, 0.02f,
             0.006f, SNOW);
        ball(f, 0.176f * x, -0.346f, 0.044f, 0.034f, 0.01f, PINE);
    }
    /* head, beard, nose, cap */
    ball(f, 0, -0.2f, 0.006f, 0.072f, 0.012f, SKIN);
    egg(f, (float[3]){0, -0.315f, 0.06f}, (float[3]){0, -0.18f, 0.05f}, (float[3]){0, 0.2f, 1}, 0.066f,
        0.042f, 0.01f, SNOW);
    for (int side = -1; side <= 1; side += 2) {
        const float x = (float)side;
        cone(f, (float[3]){0.012f * x, -0.205f, 0.083f}, (float[3]){0.05f * x, -0.218f, 0.068f}, 0.018f,
             0.013f, 0.006f, SNOW);
        ball(f, 0.026f * x, -0.172f, 0.066f, 0.012f, 0.003f, INK);
    }
    ball(f, 0, -0.19f, 0.085f, 0.017f, 0.003f, ROSE);
    cone(f, (float[3]){0, -0.14f, 0}, (float[3]){0, -0.028f, -0.006f}, 0.066f, 0.022f, 0.008f, COAT);
    ring(f, (float[3]){0, -0.148f, 0}, (float[3]){0, 1, 0}, 0.06f, 0.023f, 0.006f, SNOW);
    ball(f, 0, -0.005f, -0.008f, 0.035f, 0.008f, SNOW);
}

static const struct {
    const char *name;
    void (*make)(sac_figure *f);
} figures[] = {{"daisy", daisy}, {"tulip", tulip},       {"bluebell", bluebell}, {"pot", pot},
               {"duck", duck},   {"bear", bear},         {"star", star},         {"hoop", hoop},
               {"heart", heart}, {"mushroom", mushroom}, {"santa", santa}};
enum { FIGURES = sizeof figures / sizeof *figures };

const char *sac_figure_name(uint32_t index) { return index < FIGURES ? figures[index].name : NULL; }

bool sac_figure_parts(const char *name, sac_figure *out)
{
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].name, name) == 0) {
            out->count = 0;
            figures[i].make(out);
            return true;
        }
    return false;
}
