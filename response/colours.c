/* Which contacts may be solved together: those of a colour share no body that can be moved. Greedy, in the
 * order given: the lowest colour both bodies have free. */
#include "response/solver_internal.h"

static void leave_out(sac_solver_contact *contact)
{
    uint32_t count = contact->count < SAC_SOLVER_POINTS ? contact->count : SAC_SOLVER_POINTS;
    for (uint32_t i = 0; i < count; i++) {
        sac_solver_point *point = &contact->points[i];
        point->impulse = point->approach = point->total = 0.0f;
        memset(point->friction_impulse, 0, sizeof point->friction_impulse);
    }
    memset(contact->rolling_impulse, 0, sizeof contact->rolling_impulse);
}

static uint32_t slot_of(const sac_hot_body *hot, uint64_t *taken, uint32_t a, uint32_t b)
{
    bool moves_a = hot[a].inverse_mass > 0.0f, moves_b = hot[b].inverse_mass > 0.0f;
    const uint64_t moving = ((uint64_t)1 << SAC_COLOURS_MOVING) - 1u;
    if (!moves_a && !moves_b) return SAC_SLOT_NONE;
    bool fixed = !moves_a || !moves_b;
    uint64_t free = ~((moves_a ? taken[a] : 0u) | (moves_b ? taken[b] : 0u)) & (fixed ? ~moving : moving);
    if (!free) return fixed ? SAC_SLOT_ALONE_FIXED : SAC_SLOT_ALONE;
    uint32_t colour = (uint32_t)__builtin_ctzll(free);
    uint64_t bit = (uint64_t)1 << colour;
    if (moves_a) taken[a] |= bit;
    if (moves_b) taken[b] |= bit;
    return SAC_SLOT_COLOURS + colour;
}

void sac_colours_find(sac_solver *solver)
{
    struct sac_solver_private *own = solver->own;
    enum { KEYS = SAC_SLOTS * SAC_SOLVER_POINTS };
    uint32_t at[KEYS + 1] = {0};
    memset(own->taken, 0, solver->body_count * sizeof *own->taken);
    memset(own->slot_count, 0, sizeof own->slot_count);
    for (uint32_t i = 0; i < solver->contact_count; i++) {
        sac_solver_contact *contact = &solver->contacts[i];
        uint32_t slot = SAC_SLOT_NONE;
        if (contact->a < solver->body_count && contact->b < solver->body_count && contact->a != contact->b &&
            contact->count - 1u < SAC_SOLVER_POINTS)
            slot = slot_of(own->hot, own->taken, contact->a, contact->b);
        own->slot[i] = (uint8_t)slot;
        if (slot == SAC_SLOT_NONE) {
            leave_out(contact);
            continue;
        }
        own->slot_count[slot]++;
        at[slot * SAC_SOLVER_POINTS + (SAC_SOLVER_POINTS - contact->count) + 1]++;
    }
    for (uint32_t key = 0; key < KEYS; key++) at[key + 1] += at[key];
    for (uint32_t i = 0; i < solver->contact_count; i++)
        if (own->slot[i] != SAC_SLOT_NONE)
            own->order[at[own->slot[i] * SAC_SOLVER_POINTS + SAC_SOLVER_POINTS -
                          solver->contacts[i].count]++] = i;
}
