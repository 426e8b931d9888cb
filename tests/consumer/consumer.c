#include <stdio.h>

#include <saccade/spheretree/spheretree.h>

int main(void)
{
    sac_mesh *mesh;
    sac_tree *knot;
    sac_front_pool *pool;
    sac_front *front;
    sac_contact contacts[64];
    sac_build_def build = sac_default_build_def();
    sac_front_pool_def room = sac_default_front_pool_def();
    sac_transform here = sac_transform_identity(), there = here;
    there.translation[0] = 0.3f;

    if (sac_mesh_builtin("knot", 1000, &mesh, NULL) != SAC_OK) return 1;
    if (sac_tree_build(mesh, &build, &knot, NULL) != SAC_OK) return 1;
    if (sac_front_pool_create(&room, &pool, NULL) != SAC_OK) return 1;
    if (sac_front_acquire(pool, knot, &here, knot, &there, &front, NULL) != SAC_OK) return 1;
    sac_front_step(front, 10000); /* time is up after 10,000 tests of two spheres */
    size_t count = sac_front_contacts(front, contacts, 64);
    printf("%zu contacts, the first %g deep, give or take %g\n", count, contacts[0].depth,
           contacts[0].uncertainty);

    sac_front_pool_destroy(&pool);
    sac_tree_destroy(&knot);
    sac_mesh_destroy(&mesh);
    return count > 0 ? 0 : 1;
}
