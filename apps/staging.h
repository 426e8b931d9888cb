/* A staging: all it takes to put a world on its feet, as plain data. Shapes (props), bodies (actors), what
 * happens when (cues, or a script for what goes on and on), who watches from where. Tests, benchmarks, the
 * demo and scene files all describe their worlds this way.
 *
 *   sac_staging staging;
 *   sac_staging_builtin(&staging, "pile", &(sac_staging_def){.bodies = 500, .shape = "t24"}, &error);
 *   sac_staging_open(&staging, threads, &error);              // reads files, bakes trees; once
 *   sac_world_create(&def, &world, &error);
 *   sac_staging_raise(&staging, world, &error);
 *   for (uint64_t frame = 0; frame < 900; frame++) {
 *       sac_staging_cue(&staging, world, frame, 90, &error);
 *       sac_world_step(world, &step, &report, &error);
 *   }
 *   sac_world_destroy(&world);
 *   sac_staging_fini(&staging);                                // after the world: it uses the trees
 *
 * Index: sac_staging_init  sac_staging_fini  sac_staging_builtin  sac_staging_name  sac_staging_add_prop
 *        sac_staging_add_actor  sac_staging_add_cue  sac_staging_open  sac_staging_raise  sac_staging_cue
 *        sac_staging_viewer  sac_census_count
 */
#ifndef SAC_APPS_STAGING_H
#define SAC_APPS_STAGING_H

#include "apps/shape.h"
#include "base/rng.h"
#include "deform/deform.h"
#include "runtime/world.h"

enum { SAC_NAME_MOST = 48, SAC_SOURCE_MOST = 1024 };
#define SAC_STAGING_MOST_BODIES 100000u

typedef enum sac_prop_kind {
    SAC_PROP_BAKED, /* what sac_shape_open takes: built-in or file, mesh or spheres */
    SAC_PROP_TREE,  /* a tree file */
    SAC_PROP_SPHERE,
    SAC_PROP_CAPSULE,
    SAC_PROP_BOX,
    SAC_PROP_PLANE,
    SAC_PROP_HEIGHTS,
    SAC_PROP_TERRAIN, /* static triangles, built-in or file */
    SAC_PROP_SOFT     /* bends: a figure (figure.h), a built-in mesh or a file */
} sac_prop_kind;

typedef struct sac_prop {
    char name[SAC_NAME_MOST];
    sac_prop_kind kind;
    char *source;              /* BAKED, TREE, TERRAIN: owned */
    bool builtin;              /* the source is a built-in's name, no file */
    bool figure;               /* SOFT, TERRAIN: it is a figure's name */
    uint32_t triangles, depth; /* BAKED: of a built-in mesh, 0 its default; levels of the tree, default 3 */
    bool quick;                /* BAKED: without the optimiser, in a third of the time */
    float radius;              /* SPHERE, CAPSULE */
    float half[3];             /* BOX: half its sides; CAPSULE: [1] half the length of its axis */
    float normal[3], offset;   /* PLANE */
    float *heights, spacing;   /* HEIGHTS: owned, row by row */
    uint32_t columns, rows;
    /* SOFT */
    sac_soft_def matter; /* how it bends */
    uint32_t points;     /* that are simulated, about */
    uint32_t surface;    /* vertices of a finer surface that follows them and is what is met; 0: none */
    uint32_t skin;       /* vertices of a finer mesh that is drawn only; 0: what is met is drawn */
    float across;        /* not a figure: the largest side of its box */
    float mass;          /* kg */
    bool pinned;         /* points inside `pins`, at rest, stay where its bodies enter */
    sac_box pins;
    bool hidden;     /* not drawn: glass walls */
    uint32_t colour; /* sRGB, 0xrrggbb; 0: from the palette */
    float gloss;     /* 0 chalk to 1 lacquer */
    int64_t line;    /* of the scene file, where the path is if it has one; 0: none */
    /* made by sac_staging_open */
    bool opened;
    sac_shape shape; /* what there is to draw: mesh or spheres */
    sac_tree *tree;
    sac_terrain *terrain;
    sac_soft_shape *soft;
    sac_form form;
    sac_shape_id id;
} sac_prop;

typedef struct sac_actor {
    char name[SAC_NAME_MOST]; /* "" when nobody calls it */
    uint32_t prop;
    sac_body_def def; /* but for the shape */
    bool later;       /* comes in by a cue */
    int64_t line;
    sac_body_id id; /* 0: not on stage */
} sac_actor;

/* A line that is drawn and no more: what a figure hangs by. */
typedef struct sac_string {
    float from[3], to[3];
} sac_string;

typedef enum sac_cue_kind {
    SAC_CUE_PUSH,   /* vector: impulse, N s, at the centre of mass */
    SAC_CUE_THROW,  /* vector: velocity, turn: spin */
    SAC_CUE_MOVE,   /* vector: position, turn: rotation */
    SAC_CUE_CREATE, /* an actor that is `later` */
    SAC_CUE_DESTROY,
    SAC_CUE_GRAVITY /* vector; no actor */
} sac_cue_kind;

typedef struct sac_cue {
    sac_cue_kind kind;
    double time; /* seconds: before the frame nearest to it */
    uint32_t actor;
    float vector[3], turn[4];
    int64_t line;
} sac_cue;

typedef struct sac_staging sac_staging;
/* Before each frame. */
typedef sac_result sac_script(sac_staging *staging, sac_world *world, uint64_t frame, double hz,
                              sac_error *error);

struct sac_staging {
    char name[SAC_NAME_MOST];
    char file[256]; /* of a scene file, for errors; else "" */
    sac_array(sac_prop) props;
    sac_array(sac_actor) actors;
    sac_array(sac_string) strings;
    sac_array(sac_cue) cues; /* in order of time once opened */
    size_t next_cue;
    float gravity[3];
    uint32_t frames; /* how long it is worth watching, at 90 a second */
    bool bounded;    /* bodies outside `bounds` count as lost */
    sac_box bounds;
    bool glazed; /* `glass` is a room with glass walls: its edges are drawn */
    sac_box glass;
    float eye[3], target[3]; /* of the viewer: middle between the eyes, and what the head is turned to */
    float ipd;               /* between the eyes, metres; 0: one eye */
    float fov[2];            /* degrees across and up */
    bool nobody;             /* no viewer at all */
    float sun[3];            /* direction to the light; all 0: as drawings have it */
    float shade;             /* metres about the target that throw shadows; 0: from the bounds */
    sac_script *script;
    sac_rng rng, first_rng; /* the script's; as it was at the start */
    uint32_t most_bodies;   /* on stage at once, static ones included */
    uint32_t script_prop;   /* what the script creates */
    sac_body_def script_body;
    sac_array(sac_body_id) script_bodies; /* the script's, oldest at script_first */
    uint32_t script_first, script_most;
    double script_owed;
    uint32_t script_props; /* props from script_prop on that the script takes in turn; 0 and 1: one */
    uint32_t script_crowd; /* how many of its bodies the script keeps up; at most script_most */
    /* Scenes that run in two worlds beside each other: what tells them apart, and how far their origins are
     * from one another, metres. */
    const char *policies[2];
    float apart;
};

typedef struct sac_staging_def {
    uint32_t bodies;   /* 0: the scene's own */
    const char *shape; /* as sac_shape_open; NULL: the scene's own */
    uint64_t seed;
    bool seed_given; /* false: the scene's own */
} sac_staging_def;

void sac_staging_init(sac_staging *staging, const char *name);
void sac_staging_fini(sac_staging *staging);

/* pile, burst, wake, rain, stack, avalanche, orrery; made for VR: workshop, hailstorm, billiards,
 * side-by-side; of what bends: flowers, three-hundred, santas, jelly. ERROR_ARGUMENT for another name, with
 * what was meant. On failure there is nothing to release. */
sac_result sac_staging_builtin(sac_staging *out_staging, const char *name, const sac_staging_def *def,
                               sac_error *error);
/* NULL past the last. `out_about` may be NULL. */
const char *sac_staging_name(uint32_t index, const char **out_about);

/* The index, or UINT32_MAX when out of memory. A prop's or actor's memory is copied; `source` too. */
uint32_t sac_staging_add_prop(sac_staging *staging, const sac_prop *prop);
uint32_t sac_staging_add_actor(sac_staging *staging, const char *name, uint32_t prop,
                               const sac_body_def *def);
bool sac_staging_add_cue(sac_staging *staging, const sac_cue *cue);

/* Read and bake what the props need, each once, with a progress bar, and try what cues of a scene file do.
 * Errors name the scene file's line. */
sac_result sac_staging_open(sac_staging *staging, uint32_t threads, sac_error *error);
/* Gravity, shapes and bodies into an empty world; once more for a fresh start in another one. A body's `user`
 * is its actor's index + 1; the script's follow, by their place in script_bodies. */
sac_result sac_staging_raise(sac_staging *staging, sac_world *world, sac_error *error);
/* Whatever is due before this frame. */
sac_result sac_staging_cue(sac_staging *staging, sac_world *world, uint64_t frame, double hz,
                           sac_error *error);

/* The viewer, two eyes, no gaze. */
sac_viewer sac_staging_viewer(const sac_staging *staging);

typedef struct sac_census {
    uint32_t bodies, dynamic; /* there now */
    uint32_t lost;            /* dynamic, and outside the bounds, or farther than 1e5 m */
    uint32_t not_finite;
} sac_census;
/* One body more, if it is dynamic. */
void sac_census_count(sac_census *census, const sac_staging *staging, const sac_body_state *state);

/* Unit quaternion that turns -z towards `direction`, y up; identity when there is no direction. */
void sac_look_rotation(const float direction[3], float out[4]);

#endif
