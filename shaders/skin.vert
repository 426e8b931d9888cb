#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "skin.glsl"
layout(location = 1) in vec3 normal;
layout(location = 8) in vec4 colour;
layout(location = 9) in vec2 finish; // gloss, glow
layout(location = 10) in vec4 own;  // a vertex's own colour, a: how much of it

layout(location = 0) out vec3 out_rel;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_colour;
layout(location = 3) flat out vec2 out_finish;

// Normals go with the matrix of cofactors: across a stretched face as across a sheared one.
vec3 turned(Rows m)
{
    vec3 n = vec3(dot(cross(m.y.xyz, m.z.xyz), normal), dot(cross(m.z.xyz, m.x.xyz), normal),
                  dot(cross(m.x.xyz, m.y.xyz), normal));
    float size = dot(n, n);
    return size > 1e-20 ? n * inversesqrt(size) : normal;
}

void main()
{
    Rows m = blended();
    vec3 rel = placed(m) - frame.eye[VIEW].xyz;
    gl_Position = frame.clip[VIEW] * vec4(rel, 1.0);
    out_rel = rel;
    out_normal = turned(m);
    float share = finish.y > 0.0 ? 0.0 : own.a;
    out_colour = vec4(mix(linear(colour.rgb), linear(own.rgb), share), colour.a);
    out_finish = finish;
}
