// What every shader knows of the frame; xr/renderer_parts_internal.h has the same in C.
layout(push_constant) uniform Push { uint view, panel; } push;
#ifdef SAC_MULTIVIEW
#extension GL_EXT_multiview : require
#define VIEW gl_ViewIndex
#else
#define VIEW push.view
#endif

struct Panel {
    vec4 origin; // world: a place; screen: pixels; w: 1 in the world
    vec4 x, y;   // world: a canvas unit to the right, up
};

layout(std140, set = 0, binding = 0) uniform Frame {
    mat4 clip[2];   // from the eye-relative world to clip space: depth 1 at the near plane, 0 at infinity
    vec4 eye[2];    // position; w: pixels a unit tangent
    vec4 ray[2][3]; // through a point of the screen: ray[0] + x ray[1] + y ray[2], -1 to 1
    mat4 shadow;    // world to shadow map: u, v, depth
    vec4 sun;       // towards it; w: 1 when there is a shadow map
    vec4 horizon, zenith, ground; // linear; ground.w: 1 when the ground is drawn
    vec4 size;      // of a view, pixels; z: near plane; w: metres a texel of the shadow map
    vec4 level;     // x: height of the ground; y: a texel of the shadow map, u; z: least share of a pixel a
                    // ball must cover
    Panel panels[8];
} frame;

// sRGB decoded by a polynomial fitted to the 256 bytes: never off by a third of one, and no powers in every vertex.
vec3 linear(vec3 c)
{
    return c * (0.071283292 +
                c * (0.040161541 + c * (3.02216542 + c * (-5.501749816 + c * (5.26226592 - 1.896585139 * c)))));
}

vec3 turn(vec4 q, vec3 v)
{
    vec3 t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}
