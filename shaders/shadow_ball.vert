#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec4 ball;
layout(location = 0) out vec2 out_at;    // -1 to 1 across the sphere
layout(location = 1) flat out vec2 out_depth; // of the centre, of a radius

void main()
{
    vec3 c = (frame.shadow * vec4(ball.xyz, 1.0)).xyz;
    out_at = vec2((gl_VertexIndex & 1) * 2 - 1, (gl_VertexIndex & 2) - 1);
    float u = ball.w * frame.level.y / frame.size.w; // metres to u
    out_depth = vec2(c.z, 0.5 * u);
    gl_Position = vec4((c.xy + out_at * u) * 2.0 - 1.0, 0.5, 1.0);
}
