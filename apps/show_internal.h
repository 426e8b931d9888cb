/* What the files of the show share: apps/show*.c only. */
#ifndef SAC_APPS_SHOW_INTERNAL_H
#define SAC_APPS_SHOW_INTERNAL_H

#include "apps/show.h"

/* A body as it is drawn: where it was before the last step it moved in, and after. Found by its `user`. */
typedef struct sac_show_slot {
    sac_body_id id; /* 0: nobody */
    sac_transform before, now;
    uint64_t moved; /* the step after which it was at `now`; earlier than the last: it rests there */
    uint32_t model; /* UINT32_MAX: not drawn */
    uint32_t colour;
    float gloss;
    bool dynamic;
    /* What bends: joints in the show's arrays; joint_count 0: stiff. */
    uint32_t first_joint, joint_count;
    bool even;      /* both arrays hold the same */
    uint64_t taken; /* the step its joints are of */
    float ball[4];  /* it is in there now */
    float reach;    /* of what is drawn from the points */
} sac_show_slot;

typedef struct sac_show_world {
    sac_staging staging;
    sac_world *world;
    float origin[3]; /* where the world's origin is in the picture */
    char policy[SAC_NAME_MOST];
    sac_array(sac_show_slot) slots;
    sac_array(sac_body_id) extras; /* let in by sac_show_load; their slots follow the staging's */
    sac_insight insight;           /* its switches are those of the first */
    sac_canvas strip, label;
    size_t cues; /* that were played when the actors were last looked through */
} sac_show_world;

typedef struct sac_joint_cell {
    sac_joint rows;
} sac_joint_cell;

struct sac_show {
    sac_show_def def;
    sac_show_world worlds[SAC_SHOW_MOST_WORLDS];
    uint32_t world_count;
    sac_gallery *gallery;
    sac_array(uint32_t) models; /* of each prop; UINT32_MAX: none */
    sac_ticker ticker;
    double alpha;   /* where the picture lies between the last two states */
    uint64_t steps; /* since the start or the last restart */
    sac_hands hands;
    bool has_hands;
    sac_viewer viewer; /* of the last frame, as the caller gave it */
    uint64_t now_ns;
    sac_hand_input hand_input[SAC_HANDS];
    sac_show_stats stats;
    uint64_t own_ns; /* of advance, until draw has added its own */
    sac_array(sac_instance) instances;
    sac_array(sac_skinned) skinned;
    sac_array(sac_joint_cell) joints[2]; /* of the last two steps, by turns */
    uint32_t newest;                     /* of the two */
    sac_line_array lines;
    sac_ball_array balls;
    sac_canvas legend;
};

sac_result sac_show_no_memory(sac_error *error);

/* Gallery and materials. */
sac_result sac_show_fill_gallery(sac_show *show, sac_error *error);
/* Colour and gloss of the body in a slot of this prop; alike in every world and run. */
void sac_show_material(const sac_staging *staging, uint32_t prop, uint32_t slot, sac_show_slot *out);

/* Slots: all bodies there are, and then what steps tell. */
sac_result sac_show_enter_all(sac_show *show, sac_show_world *w, sac_error *error);
sac_result sac_show_follow(sac_show *show, sac_show_world *w, sac_error *error);
/* The pose between the two. */
void sac_show_between(const sac_show_slot *slot, uint64_t step, float alpha, sac_instance *out);

/* ---- what bends (show_soft.c) ---- */

sac_result sac_show_add_soft(sac_show *show, const sac_prop *prop, uint32_t *out_model, sac_error *error);
/* Room for its joints, and where they are now. False when out of memory. */
bool sac_show_soft_enter(sac_show *show, const sac_prop *prop, const sac_soft *soft, sac_show_slot *slot);
/* After each step: the older joints make room, then those that moved are taken, those that did not stay. */
void sac_show_soft_turn(sac_show *show);
void sac_show_soft_take(sac_show *show, const sac_soft *soft, sac_show_slot *slot);
void sac_show_soft_rest(sac_show *show, sac_show_slot *slot);
/* Colours as those of `like`. */
void sac_show_soft_draw(const sac_show_slot *slot, const float origin[3], const sac_instance *like,
                        sac_skinned *out);

#endif
