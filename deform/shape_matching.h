/* Geometric deformation by shape matching (Mueller, Heidelberger, Teschner, Gross 2005): points are pulled to
 * where the best moved, turned, stretched or bent copy of the rest shape has them.
 *
 *   sac_soft_def def = sac_default_soft_def();
 *   def.mode = SAC_SOFT_LINEAR;
 *   sac_soft_model_create(points, masses, count, &def, &model, &error);   // once for each shape
 *   sac_soft_create(model, &pose, &soft, &error);                         // once for each body
 *   sac_soft_push(soft, 17, (float[3]){0, 1, 0}, &error);
 *   sac_soft_step(bodies, body_count, &step, tasks, &report);
 *
 * A model is the rest shape, shared by any number of bodies and never written after its creation; it must
 * outlive them. Everything that is looped over is a structure of arrays, padded to whole vectors. A step
 * allocates nothing, and gives the same bits on every SIMD path and thread count. A body may be used by one
 * thread at a time.
 *
 * Index: sac_default_soft_def  sac_soft_model_create  sac_soft_model_destroy  sac_soft_model_points
 *        sac_soft_model_clusters  sac_soft_create  sac_soft_destroy  sac_soft_step  sac_soft_pull
 *        sac_soft_move  sac_soft_fall  sac_soft_push  sac_soft_set_point  sac_soft_hold  sac_soft_release
 *        sac_soft_view  sac_soft_map_of  sac_soft_goal
 */
#ifndef SAC_DEFORM_SHAPE_MATCHING_H
#define SAC_DEFORM_SHAPE_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/geometry.h"
#include "../base/tasks.h"

#define SAC_SOFT_MOST_POINTS 4000000u
#define SAC_SOFT_MOST_CLUSTERS 4096u
/* Points stay inside a cube of this half width about the origin; squares of such numbers are far from the end
 * of float, so nothing a body can do makes a sum infinite. */
#define SAC_SOFT_REACH 1e6f

typedef enum sac_soft_mode {
    SAC_SOFT_RIGID,     /* goals: turned */
    SAC_SOFT_LINEAR,    /* also stretched and sheared */
    SAC_SOFT_QUADRATIC, /* also bent and twisted (default) */
    SAC_SOFT_MODES
} sac_soft_mode;

typedef struct sac_soft_def {
    sac_soft_mode mode;
    /* Share of the best fit in the goal, 0 to 1; the rest is rigid and is what brings a body back to its
     * shape. 1 keeps any shape the fit can express, an inverted one included. Default 0.7. */
    float beta;
    /* Stiffness as a time, s: left alone, a point swings about its goal with this period over 2 pi, at any
     * step rate. Below about dt it is as stiff as it gets (alpha = 1). Default 0.03. */
    float settle_time;
    /* Damping ratio of that swing; 0 swings for ever. Rigid motion is not damped. Default 0.3. */
    float damping;
    bool keep_volume; /* scale the fit so that its volume is that of the rest shape; default true */
    /* Plasticity: a cluster whose strain ||S - I|| exceeds `yield` takes up `creep` of it per second for
     * good, to at most ||Sp - I|| = `most_plastic`. creep 0: none (default). */
    float yield, creep, most_plastic;
    uint32_t clusters; /* how many; 0: one for every 150 points, at most 8 (default) */
    /* How far a cluster reaches into its neighbours, in its own widths; grown where clusters would otherwise
     * not hold together. Default 0.2. */
    float overlap;
    float most_speed; /* m/s; a faster point is slowed to it and counted. Default 100. */
    uint32_t cookie;  /* set by sac_default_soft_def */
} sac_soft_def;

sac_soft_def sac_default_soft_def(void);

typedef struct sac_soft_model sac_soft_model;
typedef struct sac_soft sac_soft;

/* `masses` may be NULL (1 each). ERROR_ARGUMENT for points or masses that are not finite, masses that are not
 * positive, a definition out of range; ERROR_EMPTY for no points. Flat, collinear and coincident points are
 * fine: directions in which the rest shape has no extent follow the rotation. */
sac_result sac_soft_model_create(const float (*points)[3], const float *masses, uint32_t count,
                                 const sac_soft_def *def, sac_soft_model **out_model, sac_error *error);
void sac_soft_model_destroy(sac_soft_model **model);
uint32_t sac_soft_model_points(const sac_soft_model *model);
uint32_t sac_soft_model_clusters(const sac_soft_model *model);

/* At rest in `pose` (NULL: where the model is), whose scale is 1: size is the model's. */
sac_result sac_soft_create(const sac_soft_model *model, const sac_transform *pose, sac_soft **out_soft,
                           sac_error *error);
void sac_soft_destroy(sac_soft **soft);

typedef struct sac_soft_step_def {
    float dt;         /* s, in (0, 1] */
    float gravity[3]; /* m/s2 */
} sac_soft_step_def;

typedef struct sac_soft_report {
    uint32_t slowed;     /* points faster than most_speed, or at SAC_SOFT_REACH */
    uint32_t found_anew; /* rotations that could not be followed from the last step */
    uint32_t plastic;    /* clusters that yielded */
} sac_soft_report;

/* One step of all bodies. `tasks` and `out_report` may be NULL. */
sac_result sac_soft_step(sac_soft *const *bodies, uint32_t count, const sac_soft_step_def *def,
                         sac_tasks *tasks, sac_soft_report *out_report);

/* The two halves of a step, for who has something to say in between (contacts do). Pull: goals are found, and
 * velocities changed by them and by gravity; points stay, and so do maps and bounds. Move: points go along
 * their velocities, at most most_speed, held ones to their targets; velocities that are no numbers count as
 * zero. Maps and bounds are then those of the pull. */
sac_result sac_soft_pull(sac_soft *const *bodies, uint32_t count, const sac_soft_step_def *def,
                         sac_tasks *tasks, sac_soft_report *out_report);
sac_result sac_soft_move(sac_soft *const *bodies, uint32_t count, const sac_soft_step_def *def,
                         sac_tasks *tasks, sac_soft_report *out_report);
/* Instead of a pull when there is no time for one, a quarter of its price: gravity alone. Goals go along with
 * the body as a whole so that bounds stay close. */
sac_result sac_soft_fall(sac_soft *soft, const sac_soft_step_def *def);

/* An impulse, kg m/s. */
sac_result sac_soft_push(sac_soft *soft, uint32_t point, const float impulse[3], sac_error *error);
/* Puts a point somewhere (a contact, a test); bounds taken after it are still conservative. */
sac_result sac_soft_set_point(sac_soft *soft, uint32_t point, const float position[3],
                              const float velocity[3], sac_error *error);
/* Grabs a point: it goes to `target` during the next step, not faster than most_speed, and stays until
 * released. Call again to move the target. */
sac_result sac_soft_hold(sac_soft *soft, uint32_t point, const float target[3], sac_error *error);
sac_result sac_soft_release(sac_soft *soft, uint32_t point, sac_error *error);

/* The points as they are, structure of arrays; valid as long as the body, written by each step. They lie in
 * an order of their own, those of a node of a hierarchy side by side: point i of the definition is at
 * place[i]. */
typedef struct sac_soft_points {
    uint32_t count;
    const float *x, *y, *z, *vx, *vy, *vz, *mass;
    const uint32_t *place;
} sac_soft_points;
sac_soft_points sac_soft_view(const sac_soft *soft);

/* The transformation a cluster's goals really were made with: goal = a q + qq (qx2, qy2, qz2) +
 * mixed (qx qy, qy qz, qz qx) + t, with q = rest point - rest_centre. */
typedef struct sac_soft_map {
    float a[3][3], qq[3][3], mixed[3][3], t[3];
    float rest_centre[3];
    /* No point of the cluster is farther than this from its goal now, rounding included. */
    float stray;
} sac_soft_map;
void sac_soft_map_of(const sac_soft *soft, uint32_t cluster, sac_soft_map *out_map);
void sac_soft_goal(const sac_soft_map *map, const float rest[3], float out[3]);

#endif
