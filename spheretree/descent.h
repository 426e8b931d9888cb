/* Colliding two trees, all at once or a bit at a time.
 *
 *   sac_front_pool *pool;
 *   sac_front_pool_def def = sac_default_front_pool_def();
 *   sac_front_pool_create(&def, &pool, NULL);
 *   sac_front *front = sac_front_acquire(pool, knot, &pose_a, gear, &pose_b);
 *   while (time_left() && !sac_front_done(front)) sac_front_step(front, 256);   // 256 node tests
 *   count = sac_front_contacts(front, contacts, 64);                            // what is known now
 *   sac_front_release(pool, front);
 *
 * Two nodes collide when their spheres overlap and so do their ancestors' at every level; a leaf stands for
 * itself on all deeper levels. At every moment the front covers all of them.
 */
#ifndef SAC_SPHERETREE_DESCENT_H
#define SAC_SPHERETREE_DESCENT_H

#include "tree.h"

#endif
