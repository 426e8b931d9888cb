/* ODE: quick step, auto-disable, each body a space of sphere geoms inside one sweep-and-prune space. */
#include "bench/peer.h"

#include <string.h>

#include <ode/ode.h>

#include "base/memory.h"

/* ODE solves every contact it is given; from a pair of bodies the deepest of these many are, else a pair of
 * 500-sphere bodies alone would bring hundreds. */
enum { MOST_CONTACTS = 8, MOST_CANDIDATES = 512 };

struct sac_peer {
    dWorldID world;
    dSpaceID space;
    dJointGroupID joints;
    uint32_t body_count;
    dBodyID *bodies;
    float friction, restitution;
    uint32_t candidate_count;
    dContactGeom candidates[MOST_CANDIDATES];
};

static void destroy(sac_peer *peer)
{
    if (!peer) return;
    if (peer->joints) dJointGroupDestroy(peer->joints);
    if (peer->space) dSpaceDestroy(peer->space);
    if (peer->world) dWorldDestroy(peer->world);
    sac_free(peer->bodies, peer->body_count, sizeof *peer->bodies);
    sac_free(peer, 1, sizeof *peer);
    dCloseODE();
}

static bool add_bodies(sac_peer *peer, const sac_shared_scene *scene)
{
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const sac_shared_body *b = &scene->bodies[i];
        dBodyID body = dBodyCreate(peer->world);
        dSpaceID space = dSimpleSpaceCreate(peer->space);
        if (!body || !space) return false;
        peer->bodies[i] = body;
        dSpaceSetSublevel(space, 1);
        dMass mass;
        dMassSetParameters(&mass, scene->mass, 0, 0, 0, scene->inertia[0], scene->inertia[1],
                           scene->inertia[2], 0, 0, 0);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, b->position[0], b->position[1], b->position[2]);
        dQuaternion q = {b->rotation[3], b->rotation[0], b->rotation[1], b->rotation[2]};
        dBodySetQuaternion(body, q);
        dBodySetLinearVel(body, b->velocity[0], b->velocity[1], b->velocity[2]);
        for (uint32_t k = 0; k < scene->sphere_count; k++) {
            const float *s = scene->spheres[k];
            dGeomID geom = dCreateSphere(space, s[3]);
            if (!geom) return false;
            dGeomSetBody(geom, body);
            dGeomSetOffsetPosition(geom, s[0], s[1], s[2]);
        }
    }
    return true;
}

static sac_result create(const sac_shared_scene *scene, const sac_peer_def *def, sac_peer **out_peer,
                         sac_error *error)
{
    (void)def;
    *out_peer = NULL;
    sac_peer *peer = sac_alloc_zero(1, sizeof *peer);
    if (!peer) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for ODE's world");
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    peer->body_count = scene->body_count;
    peer->bodies = sac_alloc_zero(scene->body_count, sizeof *peer->bodies);
    peer->world = dWorldCreate();
    peer->space = dSweepAndPruneSpaceCreate(NULL, dSAP_AXES_XZY);
    peer->joints = dJointGroupCreate(0);
    if (!peer->bodies || !peer->world || !peer->space || !peer->joints) {
        destroy(peer);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for ODE's world");
    }
    peer->friction = scene->friction, peer->restitution = scene->restitution;
    dWorldSetGravity(peer->world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    dWorldSetAutoDisableFlag(peer->world, 1);
    dWorldSetAutoDisableLinearThreshold(peer->world, 0.05);
    dWorldSetAutoDisableAngularThreshold(peer->world, 0.1);
    dWorldSetAutoDisableTime(peer->world, 0.5);
    dWorldSetAutoDisableSteps(peer->world, 0);
    for (uint32_t i = 0; i < scene->box_count; i++) {
        const sac_shared_box *box = &scene->boxes[i];
        dGeomID geom = dCreateBox(peer->space, 2 * box->half[0], 2 * box->half[1], 2 * box->half[2]);
        dGeomSetPosition(geom, box->centre[0], box->centre[1], box->centre[2]);
    }
    if (!add_bodies(peer, scene)) {
        destroy(peer);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for ODE's bodies");
    }
    *out_peer = peer;
    return SAC_OK;
}

/* ---- collision ---- */

static void gather(void *data, dGeomID a, dGeomID b)
{
    sac_peer *peer = data;
    if (peer->candidate_count >= MOST_CANDIDATES) return;
    uint32_t room = MOST_CANDIDATES - peer->candidate_count;
    peer->candidate_count += (uint32_t)dCollide(
        a, b, (int)(room < 4 ? room : 4), peer->candidates + peer->candidate_count, sizeof *peer->candidates);
}

/* The deepest to the front, MOST_CONTACTS of them. */
static uint32_t choose_deepest(sac_peer *peer)
{
    uint32_t n = peer->candidate_count < MOST_CONTACTS ? peer->candidate_count : MOST_CONTACTS;
    if (n == peer->candidate_count) return n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t best = i;
        for (uint32_t j = i + 1; j < peer->candidate_count; j++)
            if (peer->candidates[j].depth > peer->candidates[best].depth) best = j;
        dContactGeom deepest = peer->candidates[best];
        peer->candidates[best] = peer->candidates[i];
        peer->candidates[i] = deepest;
    }
    return n;
}

/* Two bodies, or a body and a box. */
static void meet(void *data, dGeomID a, dGeomID b)
{
    sac_peer *peer = data;
    peer->candidate_count = 0;
    dBodyID body_a = NULL, body_b = NULL;
    if (dGeomIsSpace(a)) body_a = dGeomGetBody(dSpaceGetGeom((dSpaceID)a, 0));
    if (dGeomIsSpace(b)) body_b = dGeomGetBody(dSpaceGetGeom((dSpaceID)b, 0));
    bool awake_a = body_a && dBodyIsEnabled(body_a), awake_b = body_b && dBodyIsEnabled(body_b);
    if (!awake_a && !awake_b) return;
    dSpaceCollide2(a, b, peer, gather);
    uint32_t n = choose_deepest(peer);
    for (uint32_t i = 0; i < n; i++) {
        dContact contact;
        memset(&contact, 0, sizeof contact);
        contact.geom = peer->candidates[i];
        contact.surface.mode = dContactApprox1;
        contact.surface.mu = peer->friction;
        if (peer->restitution > 0) {
            contact.surface.mode |= dContactBounce;
            contact.surface.bounce = peer->restitution;
        }
        dJointID joint = dJointCreateContact(peer->world, peer->joints, &contact);
        dJointAttach(joint, dGeomGetBody(contact.geom.g1), dGeomGetBody(contact.geom.g2));
    }
}

static void step(sac_peer *peer, float dt)
{
    dSpaceCollide(peer->space, peer, meet);
    dWorldQuickStep(peer->world, dt);
    dJointGroupEmpty(peer->joints);
}

static void read(sac_peer *peer, sac_peer_pose *out_poses)
{
    for (uint32_t i = 0; i < peer->body_count; i++) {
        const dReal *p = dBodyGetPosition(peer->bodies[i]), *q = dBodyGetQuaternion(peer->bodies[i]);
        out_poses[i] = (sac_peer_pose){{(float)p[0], (float)p[1], (float)p[2]},
                                       {(float)q[1], (float)q[2], (float)q[3], (float)q[0]}};
    }
}

static void throw_body(sac_peer *peer, uint32_t body, const float velocity[3])
{
    dBodyEnable(peer->bodies[body]);
    dBodySetLinearVel(peer->bodies[body], velocity[0], velocity[1], velocity[2]);
}

const sac_peer_engine sac_peer_ode = {"ode", SACCADE_ODE, false,   create, step,
                                      read,  throw_body,  destroy, NULL};
