#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 rotation;
layout(location = 3) in vec4 place; // w: scale
layout(location = 4) in vec4 colour;
layout(location = 5) in vec2 finish; // gloss, glow

layout(location = 0) out vec4 out_rel; // w: height above the ground
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec3 out_shadow;
layout(location = 3) flat out vec4 out_colour;
layout(location = 4) flat out vec2 out_finish;

void main()
{
    vec3 world = turn(rotation, position * place.w) + place.xyz;
    vec3 rel = world - frame.eye[VIEW].xyz;
    vec3 n = turn(rotation, normal);
    gl_Position = frame.clip[VIEW] * vec4(rel, 1.0);
    out_rel = vec4(rel, world.y - frame.level.x);
    out_normal = n;
    out_shadow = shadow_place(world, n);
    out_colour = vec4(linear(colour.rgb), colour.a);
    out_finish = finish;
}
