#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
layout(location = 0) in vec3 rel;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 colour;
layout(location = 3) flat in vec2 finish;
layout(location = 0) out vec4 out_colour;

void main()
{
    out_colour = vec4(material(colour.rgb, finish.x, finish.y, rel, normalize(normal), frame.eye[VIEW].xyz), colour.a);
}
