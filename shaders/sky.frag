#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
layout(location = 0) in vec3 ray;
layout(location = 0) out vec4 out_colour;

void main() { out_colour = vec4(sky(normalize(ray)), 1.0); }
