/* Bullet, the one file of C++ here because it has no C interface. One thread, sleeping on, its dynamic AABB
 * tree both over bodies and inside the compound of spheres, all else as it comes. */
extern "C" {
#include "base/error.h"
}
#include "bench/peer.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <vector>

struct sac_peer {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btCompoundShape torus{true};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btDefaultMotionState>> states;
    std::vector<std::unique_ptr<btRigidBody>> bodies; /* boxes first */
    size_t boxes = 0;

    ~sac_peer()
    {
        for (auto &body : bodies) world.removeRigidBody(body.get());
    }
};

static btRigidBody *add_body(sac_peer *peer, btCollisionShape *shape, const btTransform &pose, btScalar mass,
                             const btVector3 &inertia, const sac_shared_scene *scene)
{
    peer->states.emplace_back(new btDefaultMotionState(pose));
    btRigidBody::btRigidBodyConstructionInfo info(mass, peer->states.back().get(), shape, inertia);
    /* Bullet multiplies the two. */
    info.m_friction = std::sqrt(scene->friction);
    info.m_restitution = scene->restitution;
    peer->bodies.emplace_back(new btRigidBody(info));
    peer->world.addRigidBody(peer->bodies.back().get());
    return peer->bodies.back().get();
}

static void fill(sac_peer *peer, const sac_shared_scene *scene)
{
    peer->world.setGravity(btVector3(scene->gravity[0], scene->gravity[1], scene->gravity[2]));
    float radius = -1;
    for (uint32_t i = 0; i < scene->sphere_count; i++) {
        const float *s = scene->spheres[i];
        if (s[3] != radius) peer->shapes.emplace_back(new btSphereShape(radius = s[3]));
        peer->torus.addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(s[0], s[1], s[2])),
                                  peer->shapes.back().get());
    }
    for (uint32_t i = 0; i < scene->box_count; i++) {
        const sac_shared_box *box = &scene->boxes[i];
        peer->shapes.emplace_back(new btBoxShape(btVector3(box->half[0], box->half[1], box->half[2])));
        btTransform pose(btQuaternion::getIdentity(),
                         btVector3(box->centre[0], box->centre[1], box->centre[2]));
        add_body(peer, peer->shapes.back().get(), pose, 0, btVector3(0, 0, 0), scene);
    }
    peer->boxes = peer->bodies.size();
    btVector3 inertia(scene->inertia[0], scene->inertia[1], scene->inertia[2]);
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const sac_shared_body *b = &scene->bodies[i];
        btTransform pose(btQuaternion(b->rotation[0], b->rotation[1], b->rotation[2], b->rotation[3]),
                         btVector3(b->position[0], b->position[1], b->position[2]));
        btRigidBody *body = add_body(peer, &peer->torus, pose, scene->mass, inertia, scene);
        body->setLinearVelocity(btVector3(b->velocity[0], b->velocity[1], b->velocity[2]));
    }
}

static sac_result create(const sac_shared_scene *scene, const sac_peer_def *, sac_peer **out_peer,
                         sac_error *error)
{
    *out_peer = nullptr;
    try {
        std::unique_ptr<sac_peer> peer(new sac_peer);
        fill(peer.get(), scene);
        *out_peer = peer.release();
    } catch (const std::bad_alloc &) {
        return sac_error_set(error, SAC_ERROR_MEMORY, nullptr, "no memory for Bullet's world");
    }
    return SAC_OK;
}

static void step(sac_peer *peer, float dt) { peer->world.stepSimulation(dt, 0, dt); }

static void read(sac_peer *peer, sac_peer_pose *out_poses)
{
    for (size_t i = peer->boxes; i < peer->bodies.size(); i++) {
        const btTransform &pose = peer->bodies[i]->getWorldTransform();
        const btVector3 &p = pose.getOrigin();
        btQuaternion q = pose.getRotation();
        sac_peer_pose *out = &out_poses[i - peer->boxes];
        *out = sac_peer_pose{{(float)p.x(), (float)p.y(), (float)p.z()},
                             {(float)q.x(), (float)q.y(), (float)q.z(), (float)q.w()}};
    }
}

static void throw_body(sac_peer *peer, uint32_t body, const float velocity[3])
{
    btRigidBody *b = peer->bodies[peer->boxes + body].get();
    b->activate(true);
    b->setLinearVelocity(btVector3(velocity[0], velocity[1], velocity[2]));
}

static void destroy(sac_peer *peer) { delete peer; }

static const char *version()
{
    static char text[16];
    int v = btGetVersion();
    std::snprintf(text, sizeof text, "%d.%02d", v / 100, v % 100);
    return text;
}

extern "C" const sac_peer_engine sac_peer_bullet = {"bullet", version(), false,      create,
                                                    step,     read,      throw_body, destroy, nullptr};
