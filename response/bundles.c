/* Contacts of a slot, eight to a bundle. Sorted by point count before, so that few lanes of a block are idle;
 * the blocks themselves are filled by the kernel's prepare. */
#include <math.h>

#include "response/solver_internal.h"

size_t sac_bundles_most(uint32_t contacts)
{
    size_t partly = contacts < SAC_SLOTS ? contacts : SAC_SLOTS;
    return contacts / SAC_LANES_OF_BUNDLE + partly;
}

static float within(float x, float least, float most)
{
    return x > least ? (x < most ? x : most) : least; /* least for NaN */
}

static void fill_lane(const sac_solver *solver, uint32_t i, uint32_t k, sac_bundle *bundle,
                      sac_bundle_end *end, sac_roll_block *roll)
{
    const struct sac_solver_private *own = solver->own;
    const sac_solver_contact *contact = &solver->contacts[i];
    bool round = bundle->fixed && !(own->hot[contact->a].inverse_mass > 0.0f);
    bundle->a[k] = round ? contact->b : contact->a;
    bundle->b[k] = round ? contact->a : contact->b;
    bundle->lanes |= (uint8_t)(1u << k);
    if (round) bundle->turned_round |= (uint8_t)(1u << k);
    bundle->friction[k] = within(contact->friction, 0.0f, 1e6f);
    end->contact[k] = i;
    end->restitution[k] = within(contact->restitution, 0.0f, 1.0f);
    if (end->restitution[k] > 0.0f) bundle->bounces = true;
    float lever = within(contact->rolling, 0.0f, 1e6f);
    if (!(lever > 0.0f)) return;
    if (bundle->roll == UINT32_MAX) {
        bundle->roll = own->roll_count;
        memset(roll, 0, sizeof *roll);
    }
    const float *impulse = contact->rolling_impulse;
    roll->lever[k] = lever;
    float size = impulse[0] * impulse[0] + impulse[1] * impulse[1] + impulse[2] * impulse[2];
    for (int j = 0; j < 3 && size < 1e30f; j++) roll->impulse[j][k] = impulse[j];
}

void sac_bundles_pack(sac_solver *solver)
{
    struct sac_solver_private *own = solver->own;
    const uint32_t *order = own->order;
    own->bundle_count = own->block_count = own->roll_count = 0;
    for (uint32_t slot = 0; slot < SAC_SLOTS; slot++) {
        own->slot_first[slot] = own->bundle_count;
        for (uint32_t left = own->slot_count[slot]; left > 0;) {
            uint32_t lanes = left < SAC_LANES_OF_BUNDLE ? left : SAC_LANES_OF_BUNDLE;
            sac_bundle *bundle = &own->bundles[own->bundle_count];
            sac_bundle_end *end = &own->ends[own->bundle_count++];
            memset(bundle, 0, sizeof *bundle);
            memset(end->restitution, 0, sizeof end->restitution);
            bundle->fixed = slot == SAC_SLOT_ALONE_FIXED || slot >= SAC_SLOT_COLOURS + SAC_COLOURS_MOVING;
            bundle->alone = slot < SAC_SLOT_COLOURS;
            bundle->roll = UINT32_MAX;
            bundle->first = own->block_count;
            bundle->points = solver->contacts[order[0]].count;
            own->block_count += bundle->points;
            for (uint32_t k = 0; k < SAC_LANES_OF_BUNDLE; k++)
                bundle->a[k] = bundle->b[k] = solver->body_count;
            for (uint32_t k = 0; k < lanes; k++)
                fill_lane(solver, order[k], k, bundle, end, &own->rolls[own->roll_count]);
            if (bundle->roll != UINT32_MAX) own->roll_count++;
            order += lanes, left -= lanes;
        }
    }
    own->slot_first[SAC_SLOTS] = own->bundle_count;
}
