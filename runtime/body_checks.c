/* What a body may be: every number of its definition is checked, and its mass, centre and inertia follow. */
#include "runtime/bodies_internal.h"

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

sac_result sac_body_wrong(sac_error *error, const char *field, const char *remedy)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "%s is out of range or not finite", field);
}

sac_result sac_body_stale(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "keep ids only while their body lives",
                         "there is no such body, or no longer");
}

bool sac_body_near_origin(const sac_world *world, const float p[3])
{
    return sac_vec3_is_finite(p) && fabsf(p[0]) <= world->def.far && fabsf(p[1]) <= world->def.far &&
           fabsf(p[2]) <= world->def.far;
}

bool sac_body_unit(const float q[4], float out[4])
{
    float n = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabsf(n - 1) <= 0.01f)) return false;
    for (int i = 0; i < 4; i++) out[i] = q[i] / n;
    return true;
}

static bool within(float x, float least, float most) { return x >= least && x <= most; }

sac_result sac_body_check_material(const sac_material *m, sac_error *error)
{
    if (!within(m->friction, 0, 10)) return sac_body_wrong(error, "friction", "0 to 10");
    if (!within(m->restitution, 0, 1)) return sac_body_wrong(error, "restitution", "0 to 1");
    if (!within(m->rolling, 0, 10)) return sac_body_wrong(error, "rolling", "0 to 10 m");
    return SAC_OK;
}

sac_result sac_body_check_motion(float gravity_scale, float linear, float angular, float speed, float spin,
                                 sac_error *error)
{
    if (!within(gravity_scale, -100, 100)) return sac_body_wrong(error, "gravity_scale", "-100 to 100");
    if (!within(linear, 0, 1e4f)) return sac_body_wrong(error, "linear_damping", "0 to 10,000");
    if (!within(angular, 0, 1e4f)) return sac_body_wrong(error, "angular_damping", "0 to 10,000");
    if (!within(speed, 1e-3f, 1e4f)) return sac_body_wrong(error, "most_speed", "0.001 to 10,000 m/s");
    if (!within(spin, 1e-3f, 1e4f)) return sac_body_wrong(error, "most_spin", "0.001 to 10,000 rad/s");
    return SAC_OK;
}

/* Inverse of a symmetric matrix given as xx, yy, zz, xy, xz, yz; false when it is no inertia: not positive,
 * or one moment larger than the other two together. */
static bool invert_inertia(const float in[6], float out[6])
{
    double a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], f = in[5];
    double A = b * c - f * f, B = a * c - e * e, C = a * b - d * d;
    double det = a * A - d * (d * c - e * f) + e * (d * f - e * b);
    if (!(a > 0 && b > 0 && c > 0 && A > 0 && B > 0 && C > 0 && det > 0)) return false;
    if (a > 1.001 * (b + c) || b > 1.001 * (a + c) || c > 1.001 * (a + b)) return false;
    double inverse[6] = {
        A / det, B / det, C / det, (e * f - d * c) / det, (d * f - e * b) / det, (d * e - a * f) / det};
    for (int i = 0; i < 6; i++) {
        out[i] = (float)inverse[i];
        if (!isfinite(out[i])) return false;
    }
    return out[0] > 0 && out[1] > 0 && out[2] > 0;
}

uint32_t sac_world_shape_slot(const sac_world *world, sac_shape_id id);

sac_result sac_body_weigh(const sac_body_def *def, const sac_form *form, sac_body_cold *cold,
                          sac_error *error)
{
    double s = def->scale, own = (double)form->mass.volume * s * s * s;
    double mass = def->mass;
    if (mass == 0) mass = own * def->density;
    if (!(mass > 1e-9 && mass <= 1e9))
        return sac_error_set(
            error, SAC_ERROR_ARGUMENT,
            def->mass != 0 ? "more than 1e-9 kg, at most 1e9; 0: from the density"
                           : "change density or scale, or give a mass: more than 1e-9 kg, at "
                             "most 1e9",
            def->mass != 0 ? "the mass is %g kg" : "at its density the shape has %g kg", mass);
    cold->mass = (float)mass;
    bool given = false;
    for (int i = 0; i < 6; i++) given |= def->inertia[i] != 0;
    float inertia[6];
    static const int in_mesh[6] = {0, 1, 2, 3, 5, 4}; /* a mesh tells xy, yz, zx */
    for (int i = 0; i < 6; i++) {
        /* The shape's own is for density 1 and scale 1: it grows with mass times scale squared. */
        double per_mass =
            form->mass.volume > 0 ? (double)form->mass.inertia[in_mesh[i]] / form->mass.volume : 0;
        inertia[i] = given ? def->inertia[i] : (float)(per_mass * mass * s * s);
    }
    if (!invert_inertia(inertia, cold->inverse_inertia))
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             given ? "it must be positive, and no moment larger than the other two together"
                                   : "give an inertia",
                             "the inertia is none a body can have");
    return SAC_OK;
}

sac_result sac_body_check_def(const sac_world *world, const sac_body_def *def, sac_body_cold *cold,
                              float rotation[4], sac_error *error)
{
    if (def->cookie != SAC_COOKIE_BODY)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_body_def()",
                             "the body's definition was not initialised");
    uint32_t shape = sac_world_shape_slot(world, def->shape);
    if (shape == UINT32_MAX)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "add one with sac_world_add_shape",
                             "the body's shape is none of this world");
    const sac_form *form = &world->shapes[shape].form;
    if ((unsigned)def->kind > SAC_BODY_DYNAMIC)
        return sac_body_wrong(error, "kind", "static, kinematic or dynamic");
    if (def->kind != SAC_BODY_STATIC && (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_TERRAIN))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make the body static",
                             "planes and terrain cannot move");
    if (!within(def->scale, 1e-4f, 1e4f)) return sac_body_wrong(error, "scale", "0.0001 to 10,000");
    if (form->kind == SAC_FORM_SOFT && def->kind != SAC_BODY_DYNAMIC)
        return sac_body_wrong(error, "kind", "soft bodies are dynamic; pin their points instead");
    if (form->kind == SAC_FORM_SOFT && def->scale != 1)
        return sac_body_wrong(error, "scale", "1 for a soft body; scale the points of its shape");
    if (!sac_body_near_origin(world, def->position))
        return sac_body_wrong(error, "position", "keep it within the world's `far`");
    if (!sac_body_unit(def->rotation, rotation))
        return sac_body_wrong(error, "rotation", "give a quaternion of length 1");
    if (!sac_vec3_is_finite(def->velocity) || !(length3(def->velocity) <= 1e4f))
        return sac_body_wrong(error, "velocity", "at most 10,000 m/s");
    if (!sac_vec3_is_finite(def->spin) || !(length3(def->spin) <= 1e4f))
        return sac_body_wrong(error, "spin", "at most 10,000 rad/s");
    if (def->centre_given &&
        (!sac_vec3_is_finite(def->centre) || !(length3(def->centre) <= 4 * form->ball[3])))
        return sac_body_wrong(error, "centre", "keep it near the shape");
    /* Also of what does not move yet: it may be told to. */
    if (!(def->mass >= 0 && def->mass <= 1e9f))
        return sac_body_wrong(error, "mass", "0 (from the shape) to 1e9 kg");
    if (!(def->density > 0 && def->density <= 1e6f))
        return sac_body_wrong(error, "density", "more than 0, at most 1e6 kg/m^3");
    for (int i = 0; i < 6; i++)
        if (!isfinite(def->inertia[i])) return sac_body_wrong(error, "inertia", "finite numbers, or all 0");
    sac_result result = sac_body_check_material(&def->material, error);
    if (result == SAC_OK)
        result = sac_body_check_motion(def->gravity_scale, def->linear_damping, def->angular_damping,
                                       def->most_speed, def->most_spin, error);
    if (result != SAC_OK) return result;
    *cold = (sac_body_cold){.shape = shape,
                            .kind = def->kind,
                            .material = def->material,
                            .filter = def->filter,
                            .gravity_scale = def->gravity_scale,
                            .linear_damping = def->linear_damping,
                            .angular_damping = def->angular_damping,
                            .most_speed = def->most_speed,
                            .most_spin = def->most_spin,
                            .user = def->user};
    for (int i = 0; i < 3; i++) {
        float c = def->centre_given ? def->centre[i] : form->mass.centre[i];
        cold->local_centre[i] =
            (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_TERRAIN) ? 0 : c * def->scale;
    }
    if (def->kind == SAC_BODY_DYNAMIC) return sac_body_weigh(def, form, cold, error);
    /* It may be set free one day, with the mass it was given; what cannot be weighed has none till then. */
    if (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_TERRAIN ||
        sac_body_weigh(def, form, cold, NULL) != SAC_OK)
        cold->mass = 0;
    return SAC_OK;
}
