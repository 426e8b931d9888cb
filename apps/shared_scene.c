#include "apps/shared_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/shape.h"
#include "base/memory.h"
#include "base/rng.h"

/* Bodies on the grid are this far apart: twice the torus' reach, the jitter of both, and a little. */
static const float SPACING = 0.85f, FIRST_LAYER = 0.6f, JITTER = 0.01f;
static const float MAJOR = 0.30f, TUBE = 0.10f;
static const float WALL = 0.5f; /* half as thick as floor and walls are */

static const char *const names[] = {"pile", "burst", "wake"};
enum { KINDS = sizeof names / sizeof *names };

const char *sac_shared_scene_name(uint32_t index) { return index < KINDS ? names[index] : NULL; }

/* Uniform over all rotations: a direction in four dimensions, by rejection, so that no sine differs from one
 * library to the next. */
static void random_rotation(sac_rng *rng, float out[4])
{
    float square;
    do {
        square = 0;
        for (int i = 0; i < 4; i++) {
            out[i] = sac_rng_range(rng, -1.0f, 1.0f);
            square += out[i] * out[i];
        }
    } while (square > 1.0f || square < 1e-3f);
    float length = sqrtf(square);
    for (int i = 0; i < 4; i++) out[i] /= length;
}

/* ---- pile ---- */

static void add_box(sac_shared_scene *scene, float x, float y, float z, float hx, float hy, float hz)
{
    scene->boxes[scene->box_count++] = (sac_shared_box){{x, y, z}, {hx, hy, hz}};
}

/* Cube root by bisection: exact to the last bit of a float on every machine. */
static float cube_root(double value)
{
    double low = 0, high = 1;
    while (high * high * high < value) high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (middle * middle * middle < value)
            low = middle;
        else
            high = middle;
    }
    return (float)high;
}

static void fill_pile(sac_shared_scene *scene, sac_rng *rng)
{
    /* One or two bodies get a box that one fits into. */
    scene->side = fmaxf(cube_root(0.30 * scene->body_count), SPACING + 0.1f + JITTER);
    uint32_t k = (uint32_t)((scene->side - 0.1f) / SPACING);
    uint32_t layers = (scene->body_count + k * k - 1) / (k * k);
    scene->height = FIRST_LAYER + SPACING * (float)layers + 1.0f;
    float half = 0.5f * scene->side, reach = half + 2 * WALL, middle = 0.5f * scene->height;
    add_box(scene, 0, -WALL, 0, reach, WALL, reach);
    add_box(scene, -half - WALL, middle, 0, WALL, middle, reach);
    add_box(scene, half + WALL, middle, 0, WALL, middle, reach);
    add_box(scene, 0, middle, -half - WALL, reach, middle, WALL);
    add_box(scene, 0, middle, half + WALL, reach, middle, WALL);
    for (uint32_t i = 0; i < scene->body_count; i++) {
        sac_shared_body *body = &scene->bodies[i];
        uint32_t cell[3] = {i % k, i / (k * k), i / k % k};
        for (int axis = 0; axis < 3; axis++) {
            float at = SPACING * (float)cell[axis];
            at += axis == 1 ? FIRST_LAYER : -0.5f * SPACING * (float)(k - 1);
            body->position[axis] = at + sac_rng_range(rng, -JITTER, JITTER);
        }
        random_rotation(rng, body->rotation);
    }
}

/* ---- burst ---- */

typedef struct lattice_point {
    int32_t square, at[3];
} lattice_point;

/* Nearest first; among equals by coordinate, so that the order is nobody's choice. */
static int by_distance(const void *a, const void *b)
{
    const lattice_point *p = a, *q = b;
    if (p->square != q->square) return p->square < q->square ? -1 : 1;
    for (int i = 0; i < 3; i++)
        if (p->at[i] != q->at[i]) return p->at[i] < q->at[i] ? -1 : 1;
    return 0;
}

static sac_result fill_burst(sac_shared_scene *scene, sac_rng *rng, sac_error *error)
{
    /* A ball of radius r has at least 4/3 pi (r - sqrt(3)/2)^3 lattice points. */
    int32_t r = (int32_t)(cube_root(scene->body_count * 0.2388) + 1.9f);
    uint32_t side = 2 * (uint32_t)r + 1, room = side * side * side, count = 0;
    lattice_point *points = sac_alloc(room, sizeof *points);
    if (!points) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the lattice");
    for (int32_t x = -r; x <= r; x++)
        for (int32_t y = -r; y <= r; y++)
            for (int32_t z = -r; z <= r; z++) {
                int32_t square = x * x + y * y + z * z;
                if (square <= r * r) points[count++] = (lattice_point){square, {x, y, z}};
            }
    qsort(points, count, sizeof *points, by_distance);
    for (uint32_t i = 0; i < scene->body_count; i++) {
        sac_shared_body *body = &scene->bodies[i];
        for (int axis = 0; axis < 3; axis++) {
            body->position[axis] = (float)points[i].at[axis];
            body->velocity[axis] = -body->position[axis];
        }
        random_rotation(rng, body->rotation);
    }
    sac_free(points, room, sizeof *points);
    memset(scene->gravity, 0, sizeof scene->gravity);
    scene->frames = 360;
    return SAC_OK;
}

/* ---- both ---- */

static sac_result bad_name(sac_error *error, const char *what, const char *given, const char *there)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, there, "no %s '%s'", what, given);
}

sac_result sac_shared_scene_create(sac_shared_scene *out_scene, const char *kind, const char *shape,
                                   uint32_t bodies, uint64_t seed, sac_error *error)
{
    sac_shared_scene scene = {.mass = 1.0f,
                              .friction = 0.5f,
                              .gravity = {0, -9.81f, 0},
                              .reach = MAJOR + TUBE,
                              .frames = 900,
                              .throw_frame = UINT32_MAX};
    uint32_t k = 0;
    memset(out_scene, 0, sizeof *out_scene);
    while (k < KINDS && strcmp(kind, names[k]) != 0) k++;
    if (k == KINDS) return bad_name(error, "shared scene", kind, "there are pile, burst and wake");
    if (bodies < 1 || bodies > SAC_SHARED_MOST_BODIES)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "%u bodies are not within 1 to %u", bodies,
                             SAC_SHARED_MOST_BODIES);
    if (!sac_spheres_builtin(shape, &scene.spheres, &scene.sphere_count))
        return bad_name(error, "torus of spheres", shape, "there are t24, t100 and t500");
    scene.kind = (sac_shared_kind)k;
    scene.body_count = bodies;
    scene.bodies = sac_alloc_zero(bodies, sizeof *scene.bodies);
    snprintf(scene.name, sizeof scene.name, "%s", names[k]);
    snprintf(scene.shape, sizeof scene.shape, "%s", shape);
    float major = MAJOR * MAJOR, tube = TUBE * TUBE;
    scene.inertia[0] = scene.inertia[2] = scene.mass * (0.5f * major + 0.625f * tube);
    scene.inertia[1] = scene.mass * (major + 0.75f * tube);
    sac_rng rng = sac_rng_seed(seed);
    sac_result result = SAC_OK;
    if (!scene.bodies || !scene.spheres)
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u bodies", bodies);
    else if (scene.kind == SAC_SHARED_BURST)
        result = fill_burst(&scene, &rng, error);
    else
        fill_pile(&scene, &rng);
    if (result != SAC_OK) {
        sac_shared_scene_destroy(&scene);
        return result;
    }
    if (scene.kind == SAC_SHARED_WAKE) {
        scene.throw_frame = 720;
        scene.throw_velocity[1] = 12.0f;
    }
    *out_scene = scene;
    return SAC_OK;
}

void sac_shared_scene_destroy(sac_shared_scene *scene)
{
    sac_free(scene->bodies, scene->body_count, sizeof *scene->bodies);
    sac_free(scene->spheres, scene->sphere_count, sizeof *scene->spheres);
    memset(scene, 0, sizeof *scene);
}
