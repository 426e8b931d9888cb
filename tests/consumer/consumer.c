#include <stdio.h>

#include <saccade/runtime/world.h>

int main(void)
{
    sac_world_def def = sac_default_world_def();
    sac_world *world;
    if (sac_world_create(&def, &world, NULL) != SAC_OK) return 1;

    sac_form form;
    sac_body_def body = sac_default_body_def();
    sac_form_plane(&form, (float[3]){0, 1, 0}, 0, NULL);
    sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_STATIC;
    sac_body_create(world, &body, NULL, NULL);

    sac_body_id ball;
    sac_form_sphere(&form, 0.1f, NULL); /* or sac_form_from_tree for a baked, non-convex shape */
    sac_world_add_shape(world, &form, &body.shape, NULL);
    body.kind = SAC_BODY_DYNAMIC;
    body.position[1] = 2;
    sac_body_create(world, &body, &ball, NULL);

    sac_viewer viewer = sac_default_viewer(); /* fill in eyes, gaze and hands from the headset */
    sac_step_def step = sac_default_step_def();
    step.budget_ns = 2000000; /* and not a microsecond more */
    step.viewer = &viewer;
    sac_step_report report;
    for (int frame = 0; frame < 270; frame++)
        if (sac_world_step(world, &step, &report, NULL) != SAC_OK) return 1;

    sac_body_state state;
    sac_body_get(world, ball, &state, NULL);
    printf("the ball lies at %.3f m, %s\n", state.centre[1], state.awake ? "awake" : "asleep");
    sac_world_destroy(&world);
    return state.centre[1] > 0.09f && state.centre[1] < 0.11f ? 0 : 1;
}
