#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) out vec3 out_ray;

void main()
{
    vec2 at = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    gl_Position = vec4(at, 0.0, 1.0);
    out_ray = frame.ray[VIEW][0].xyz + at.x * frame.ray[VIEW][1].xyz + at.y * frame.ray[VIEW][2].xyz;
}
