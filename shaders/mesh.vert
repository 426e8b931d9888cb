#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 rotation;
layout(location = 3) in vec4 place; // w: scale
layout(location = 4) in vec4 colour;
layout(location = 5) in vec2 finish; // gloss, glow

layout(location = 0) out vec3 out_rel;
layout(location = 1) out vec3 out_normal;
layout(location = 2) flat out vec4 out_colour;
layout(location = 3) flat out vec2 out_finish;

void main()
{
    vec3 world = turn(rotation, position * place.w) + place.xyz;
    vec3 rel = world - frame.eye[VIEW].xyz;
    gl_Position = frame.clip[VIEW] * vec4(rel, 1.0);
    out_rel = rel;
    out_normal = turn(rotation, normal);
    out_colour = vec4(linear(colour.rgb), colour.a);
    out_finish = finish;
}
