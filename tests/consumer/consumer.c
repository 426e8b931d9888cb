#include <saccade/runtime/world.h>
#include <stdio.h>

int main(void)
{
    sac_world_def def = sac_default_world_def();
    sac_body_def ground = sac_default_body_def(), ball = ground;
    sac_step_def step = sac_default_step_def(); /* 1/90 s of motion in 2 ms, and not a microsecond more */
    sac_form plane, sphere;
    sac_world *world;
    sac_body_id id;
    sac_body_state state;

    sac_form_plane(&plane, (float[3]){0, 1, 0}, 0, NULL);
    sac_form_sphere(&sphere, 0.1f, NULL); /* or sac_form_from_tree: baked from a mesh, not convex */
    if (sac_world_create(&def, &world, NULL) != SAC_OK) return 1;
    sac_world_add_shape(world, &plane, &ground.shape, NULL);
    sac_world_add_shape(world, &sphere, &ball.shape, NULL);
    ground.kind = SAC_BODY_STATIC, ball.position[1] = 2;
    sac_body_create(world, &ground, NULL, NULL);
    sac_body_create(world, &ball, &id, NULL);
    for (int frame = 0; frame < 270; frame++) sac_world_step(world, &step, NULL, NULL);
    if (sac_body_get(world, id, &state, NULL) != SAC_OK) return 1;
    printf("the ball lies at %.3f m, %s\n", state.centre[1], state.awake ? "awake" : "asleep");
    sac_world_destroy(&world);
    return state.centre[1] > 0.09f && state.centre[1] < 0.11f ? 0 : 1;
}
