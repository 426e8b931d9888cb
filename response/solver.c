/* A step of one set: take the bodies, colour, pack, then sub-steps of warm start, solve and relax until they
 * are done or the stop is reached. */
#include "response/solver_internal.h"

#include <math.h>

#include "base/cpu.h"

#define COOKIE 0x50f7u

/* Credits, half a nanosecond each: measured once, the same on every machine from then on. */
enum {
    PRICE_PASS = 200,
    PRICE_BODY = 30, /* taking and giving it */
    PRICE_BODY_SUBSTEP = 16,
    PRICE_CONTACT = 16, /* colouring */
    PRICE_PREPARE_BUNDLE = 240,
    PRICE_PREPARE_BLOCK = 140,
    PRICE_WARM_BUNDLE = 60,
    PRICE_WARM_BLOCK = 20,
    PRICE_SOLVE_BUNDLE = 100,
    PRICE_SOLVE_BLOCK = 100,
    PRICE_HOLD = 100
};

/* Below these a second thread costs more than it brings. */
enum { GRAIN_BUNDLES = 32, LEAST_BUNDLES = 96, GRAIN_BODIES = 2048 };

sac_solver_def sac_default_solver_def(void)
{
    return (sac_solver_def){.bodies = 1024,
                            .contacts = 4096,
                            .grabs = 8,
                            .contact_hertz = 60.0f,
                            .contact_damping = 10.0f,
                            .push_speed = 1.5f,
                            .restitution_speed = 1.0f,
                            .slop = 0.0005f,
                            .cookie = COOKIE};
}

/* ---- life ---- */

/* All or nothing: the old array is given back only when the whole set of new ones is there. */
typedef struct growth {
    void **place;
    void *fresh;
    size_t old_count, count, size;
} growth;

static bool grow_all(growth *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        /* Zeroed, so that no step pays for the first touch of a page. */
        list[i].fresh = sac_alloc_zero(list[i].count, list[i].size);
        if (list[i].fresh) continue;
        while (i > 0) i--, sac_free(list[i].fresh, list[i].count, list[i].size);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        sac_free(*list[i].place, list[i].old_count, list[i].size);
        *list[i].place = list[i].fresh;
    }
    return true;
}

#define ENTRY(array, old, new)                                 \
    {                                                          \
        (void **)&(array), NULL, (old), (new), sizeof *(array) \
    }

static bool grow_bodies(sac_solver *solver, uint32_t count)
{
    struct sac_solver_private *own = solver->own;
    size_t old = own->body_room, one = old ? old + 1u : 0u, next = (size_t)count + 1u;
    growth list[] = {ENTRY(solver->bodies, old, count), ENTRY(own->hot, one, next),
                     ENTRY(own->inertias, one, next),   ENTRY(own->before, old, count),
                     ENTRY(own->drives, old, count),    ENTRY(own->taken, old, count)};
    if (!grow_all(list, sizeof list / sizeof *list)) return false;
    own->body_room = count;
    return true;
}

static bool grow_contacts(sac_solver *solver, uint32_t count)
{
    struct sac_solver_private *own = solver->own;
    size_t old = own->contact_room, was = sac_bundles_most(own->contact_room), most = sac_bundles_most(count);
    growth list[] = {ENTRY(solver->contacts, old, count),
                     ENTRY(own->slot, old, count),
                     ENTRY(own->order, old, count),
                     ENTRY(own->bundles, was, most),
                     ENTRY(own->ends, was, most),
                     ENTRY(own->rolls, was, most),
                     ENTRY(own->points, was * SAC_SOLVER_POINTS, most * SAC_SOLVER_POINTS)};
    if (!grow_all(list, sizeof list / sizeof *list)) return false;
    own->contact_room = count;
    return true;
}

static bool grow_grabs(sac_solver *solver, uint32_t count)
{
    struct sac_solver_private *own = solver->own;
    growth list[] = {ENTRY(solver->grabs, own->grab_room, count), ENTRY(own->holds, own->grab_room, count)};
    if (!grow_all(list, sizeof list / sizeof *list)) return false;
    own->grab_room = count;
    return true;
}

static bool positive(float x) { return x > 0.0f && x < 1e12f; }

static sac_result check(const sac_solver_def *def, sac_error *error)
{
    const char *wrong = NULL;
    if (def->cookie != COOKIE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_solver_def()",
                             "the definition of the solver was not initialised");
    if (!positive(def->contact_hertz)) wrong = "contact_hertz";
    if (!positive(def->contact_damping)) wrong = "contact_damping";
    if (!positive(def->push_speed)) wrong = "push_speed";
    if (!(def->restitution_speed >= 0.0f && def->restitution_speed < 1e12f)) wrong = "restitution_speed";
    if (!(def->slop >= 0.0f && def->slop < 1e12f)) wrong = "slop";
    if (wrong)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a positive number",
                             "%s of the solver is out of range", wrong);
    return SAC_OK;
}

sac_result sac_solver_create(const sac_solver_def *def, sac_solver **out_solver, sac_error *error)
{
    SAC_NEED(error, out_solver);
    *out_solver = NULL;
    SAC_NEED(error, def);
    sac_result result = check(def, error);
    if (result != SAC_OK) return result;
    sac_solver *solver = sac_alloc_zero(1, sizeof *solver);
    if (solver) solver->own = sac_alloc_zero(1, sizeof *solver->own);
    if (!solver || !solver->own) {
        sac_free(solver, solver ? 1 : 0, sizeof *solver);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the solver");
    }
    solver->def = *def;
    result = sac_solver_begin(solver, def->bodies ? def->bodies : 1, def->contacts ? def->contacts : 1,
                              def->grabs ? def->grabs : 1, error);
    if (result != SAC_OK) {
        sac_solver_destroy(&solver);
        return result;
    }
    solver->body_count = solver->contact_count = solver->grab_count = 0;
    *out_solver = solver;
    return SAC_OK;
}

void sac_solver_destroy(sac_solver **pointer)
{
    sac_solver *solver = pointer ? *pointer : NULL;
    if (!solver) return;
    *pointer = NULL;
    struct sac_solver_private *own = solver->own;
    size_t bodies = own->body_room, most = sac_bundles_most(own->contact_room), one = bodies ? bodies + 1 : 0;
    sac_free(solver->bodies, bodies, sizeof *solver->bodies);
    sac_free(own->hot, one, sizeof *own->hot);
    sac_free(own->inertias, one, sizeof *own->inertias);
    sac_free(own->before, bodies, sizeof *own->before);
    sac_free(own->drives, bodies, sizeof *own->drives);
    sac_free(own->taken, bodies, sizeof *own->taken);
    sac_free(solver->contacts, own->contact_room, sizeof *solver->contacts);
    sac_free(own->slot, own->contact_room, sizeof *own->slot);
    sac_free(own->order, own->contact_room, sizeof *own->order);
    sac_free(own->bundles, most, sizeof *own->bundles);
    sac_free(own->ends, most, sizeof *own->ends);
    sac_free(own->rolls, most, sizeof *own->rolls);
    sac_free(own->points, most * SAC_SOLVER_POINTS, sizeof *own->points);
    sac_free(solver->grabs, own->grab_room, sizeof *solver->grabs);
    sac_free(own->holds, own->grab_room, sizeof *own->holds);
    sac_free(own, 1, sizeof *own);
    sac_free(solver, 1, sizeof *solver);
}

/* Half as much again, so that a set that grows a little each frame does not allocate each frame. */
static uint32_t room_for(uint32_t room, uint32_t wanted)
{
    uint32_t more = room + room / 2u;
    return more > wanted && more > room ? more : wanted;
}

sac_result sac_solver_begin(sac_solver *solver, uint32_t bodies, uint32_t contacts, uint32_t grabs,
                            sac_error *error)
{
    SAC_NEED(error, solver);
    struct sac_solver_private *own = solver->own;
    if (bodies >= 1u << 30 || contacts >= 1u << 28 || grabs >= 1u << 28)
        return sac_error_set(error, SAC_ERROR_LIMIT, "split the set",
                             "%u bodies, %u contacts and %u grabs in a set", bodies, contacts, grabs);
    if ((bodies > own->body_room && !grow_bodies(solver, room_for(own->body_room, bodies))) ||
        (contacts > own->contact_room && !grow_contacts(solver, room_for(own->contact_room, contacts))) ||
        (grabs > own->grab_room && !grow_grabs(solver, room_for(own->grab_room, grabs))))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u bodies and %u contacts", bodies,
                             contacts);
    solver->body_count = bodies, solver->contact_count = contacts, solver->grab_count = grabs;
    return SAC_OK;
}

/* ---- passes ---- */

typedef struct run {
    sac_solver *solver;
    struct sac_solver_private *own;
    sac_tasks *tasks;
    sac_stop *stop;
    sac_pass pass;
    sac_pass_run *kernel; /* of this pass */
    uint32_t first;       /* bundle of the colour worked on */
    bool back; /* this sub-step relaxes its colours from the last to the first: what one order always
                  carries a row too far in a tall pile the next one takes back, and it rests */
    uint64_t credits;
} run;

static const sac_solve_kernel *kernel_of_path(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_AVX512:
        return &sac_solve_kernel_avx512;
    case SAC_SIMD_AVX2:
        return &sac_solve_kernel_avx2;
    case SAC_SIMD_SSE2:
        return &sac_solve_kernel_sse2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return &sac_solve_kernel_neon;
#endif
    default:
        return &sac_solve_kernel_scalar;
    }
}

static void did(run *r, uint64_t credits)
{
    r->credits += credits;
    if (r->stop) sac_stop_did(r->stop, credits);
}

static bool reached(run *r) { return r->stop && sac_stop_reached(r->stop); }
static bool before(run *r, uint64_t credits) { return r->stop && sac_stop_before(r->stop, credits); }

static uint64_t price(const run *r, uint64_t bundle, uint64_t block)
{
    return PRICE_PASS + bundle * r->own->bundle_count + block * r->own->block_count +
           (uint64_t)PRICE_HOLD * r->own->hold_count;
}

static void bundles_range(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    run *r = context;
    (void)worker;
    r->kernel(&r->pass, r->first + first, r->first + last);
}

static void over_bundles(run *r, uint32_t first, uint32_t last)
{
    r->first = first;
    sac_tasks *tasks = last - first < LEAST_BUNDLES ? NULL : r->tasks;
    sac_tasks_for(tasks, last - first, GRAIN_BUNDLES, bundles_range, r);
}

/* One colour after the other; `back`: those of moving pairs the other way round, the ground last all the
 * same. */
static void over_colours(run *r, sac_pass_run *kernel, bool back)
{
    const uint32_t *first = r->own->slot_first, moving = SAC_SLOT_COLOURS + SAC_COLOURS_MOVING;
    r->kernel = kernel;
    for (uint32_t slot = 0; slot < SAC_SLOT_COLOURS; slot++) kernel(&r->pass, first[slot], first[slot + 1]);
    for (uint32_t i = SAC_SLOT_COLOURS; i < SAC_SLOTS; i++) {
        uint32_t slot = back && i < moving ? SAC_SLOT_COLOURS + moving - 1 - i : i;
        if (first[slot] < first[slot + 1]) over_bundles(r, first[slot], first[slot + 1]);
    }
}

static void drive_range(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    (void)worker;
    sac_bodies_drive(((run *)context)->own, first, last);
}

static void move_range(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    (void)worker;
    sac_bodies_move(((run *)context)->own, first, last, ((run *)context)->pass.h);
}

static void drive(run *r) { sac_tasks_for(r->tasks, r->solver->body_count, GRAIN_BODIES, drive_range, r); }
static void move(run *r) { sac_tasks_for(r->tasks, r->solver->body_count, GRAIN_BODIES, move_range, r); }

static void remember(run *r)
{
    if (r->stop) memcpy(r->own->before, r->own->hot, r->solver->body_count * sizeof *r->own->hot);
}

static void undo(run *r) { memcpy(r->own->hot, r->own->before, r->solver->body_count * sizeof *r->own->hot); }

static void begin_substep(run *r, float time)
{
    drive(r);
    sac_holds_aim(r->solver, time);
    sac_holds_warm(r->own);
    over_colours(r, r->own->kernel->warm, false);
    did(r,
        price(r, PRICE_WARM_BUNDLE, PRICE_WARM_BLOCK) + (uint64_t)PRICE_BODY_SUBSTEP * r->solver->body_count);
}

static void pass_over(run *r, sac_pass_run *kernel)
{
    sac_holds_solve(r->own);
    over_colours(r, kernel, r->back && kernel == r->own->kernel->relax);
    did(r, price(r, PRICE_SOLVE_BUNDLE, PRICE_SOLVE_BLOCK));
}

/* Sub-steps until they are done or time is up; how many were finished. */
static uint32_t work(run *r, uint32_t substeps, uint32_t relaxations)
{
    const sac_solve_kernel *kernel = r->own->kernel;
    const uint64_t start = price(r, PRICE_WARM_BUNDLE, PRICE_WARM_BLOCK) +
                           (uint64_t)PRICE_BODY_SUBSTEP * r->solver->body_count,
                   pass = price(r, PRICE_SOLVE_BUNDLE, PRICE_SOLVE_BLOCK);
    /* A solve that pushes nothing, so that stopping right after it leaves nobody with a speed that only
     * undoes overlap. */
    r->pass.last = false;
    begin_substep(r, 0.0f);
    pass_over(r, kernel->relax);
    for (uint32_t i = 0; i < substeps; i++) {
        /* A sub-step that would have to be undone is not begun. */
        if (i > 0 ? before(r, start + (1 + relaxations) * pass) : reached(r)) return i;
        r->back = relaxations == 1 && i & 1u;
        remember(r);
        if (i > 0) {
            begin_substep(r, (float)i * r->pass.h);
            if (reached(r)) {
                undo(r);
                return i;
            }
        }
        pass_over(r, kernel->solve);
        if (reached(r)) {
            undo(r);
            return i;
        }
        move(r);
        for (uint32_t k = 0; k < relaxations; k++) {
            if (k > 0 && reached(r)) return i + 1; /* what the last one would have counted is lost */
            r->pass.last = k + 1 == relaxations;
            pass_over(r, kernel->relax);
        }
    }
    return substeps;
}

static void solve_set(run *r, const sac_solver_step *step, float dt, sac_solver_report *report)
{
    sac_solver *solver = r->solver;
    struct sac_solver_private *own = r->own;
    uint32_t substeps = step->substeps ? step->substeps : 4u,
             relaxations = step->relaxations ? step->relaxations : 1u;
    const sac_solver_def *def = &solver->def;
    float h = dt / (float)substeps, hertz = fminf(def->contact_hertz, 0.25f / h);
    sac_bodies_take(solver, h);
    if (reached(r)) {
        sac_bodies_move(own, 0, solver->body_count, dt);
        sac_bodies_give(solver, dt);
        return;
    }
    sac_colours_find(solver);
    sac_bundles_pack(solver);
    sac_holds_take(solver, h, (float)substeps);
    own->kernel = kernel_of_path();
    r->pass = (sac_pass){.bodies = own->hot,
                         .inertias = own->inertias,
                         .bundles = own->bundles,
                         .ends = own->ends,
                         .points = own->points,
                         .rolls = own->rolls,
                         .contacts = solver->contacts,
                         .h = h,
                         .inverse_h = 1.0f / h,
                         .substeps = (float)substeps,
                         .soft = {sac_softness_of(hertz, def->contact_damping, h),
                                  sac_softness_of(2.0f * hertz, def->contact_damping, h)},
                         .push_speed = def->push_speed,
                         .slop = def->slop,
                         .restitution_speed = def->restitution_speed};
    r->kernel = own->kernel->prepare;
    over_bundles(r, 0, own->bundle_count);
    did(r, price(r, PRICE_PREPARE_BUNDLE, PRICE_PREPARE_BLOCK) + (uint64_t)PRICE_BODY * solver->body_count +
               (uint64_t)PRICE_CONTACT * solver->contact_count);

    report->substeps = work(r, substeps, relaxations);
    over_colours(r, own->kernel->rebound, false);
    float rest = dt - (float)report->substeps * h;
    if (report->substeps < substeps) sac_bodies_move(own, 0, solver->body_count, rest);
    r->kernel = own->kernel->finish;
    over_bundles(r, 0, own->bundle_count);
    sac_holds_give(solver, (float)substeps);
    sac_bodies_give(solver, dt);
    for (uint32_t i = SAC_SLOT_COLOURS; i < SAC_SLOTS; i++) report->colours += own->slot_count[i] > 0;
    report->overflow = own->slot_count[SAC_SLOT_ALONE] + own->slot_count[SAC_SLOT_ALONE_FIXED];
}

void sac_solver_solve(sac_solver *solver, const sac_solver_step *step, sac_stop *stop, sac_tasks *tasks,
                      sac_solver_report *out_report)
{
    sac_solver_report report = {0};
    if (out_report) *out_report = report;
    if (!solver || !step) return;
    run r = {.solver = solver, .own = solver->own, .tasks = tasks, .stop = stop};
    /* Without time nothing happens; ten seconds at once are taken as they are. */
    float dt = step->dt > 0.0f && step->dt < 1e6f ? step->dt : 0.0f;
    if (dt <= 1e-9f) {
        for (uint32_t i = 0; i < solver->body_count; i++) {
            memset(solver->bodies[i].moved, 0, sizeof solver->bodies[i].moved);
            memset(solver->bodies[i].turned, 0, sizeof solver->bodies[i].turned);
        }
    } else if (step->single_impulse) {
        sac_solver_single(solver, dt);
        report.substeps = 1;
        did(&r, PRICE_PASS + (uint64_t)PRICE_BODY * 2u * solver->body_count +
                    (uint64_t)PRICE_CONTACT * solver->contact_count);
    } else {
        solve_set(&r, step, dt, &report);
    }
    report.credits = r.credits;
    if (out_report) *out_report = report;
}

uint64_t sac_solver_cost(uint32_t bodies, uint32_t contacts, uint32_t substeps, uint32_t relaxations)
{
    /* Bundles as they come out of piles: a little more than an eighth of the contacts, 2.5 blocks each. */
    uint64_t bundles = contacts / 7u + (contacts ? 1u : 0u), blocks = bundles * 5u / 2u;
    uint64_t solves = (uint64_t)substeps * (1u + (relaxations ? relaxations : 1u)) + 1u;
    return PRICE_PASS * (solves + substeps + 1u) + (uint64_t)PRICE_BODY * bodies +
           (uint64_t)PRICE_CONTACT * contacts + PRICE_PREPARE_BUNDLE * bundles +
           PRICE_PREPARE_BLOCK * blocks +
           substeps * ((uint64_t)PRICE_BODY_SUBSTEP * bodies + PRICE_WARM_BUNDLE * bundles +
                       PRICE_WARM_BLOCK * blocks) +
           solves * (PRICE_SOLVE_BUNDLE * bundles + PRICE_SOLVE_BLOCK * blocks);
}
