#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
layout(location = 0) out vec3 out_rel;
layout(location = 1) out vec2 out_grid;
layout(location = 2) out vec3 out_shadow;

// Far enough that the haze has swallowed the rim.
const float reach = 300.0;

void main()
{
    vec2 corner = vec2((gl_VertexIndex & 1) * 2 - 1, (gl_VertexIndex & 2) - 1) * reach;
    vec3 eye = frame.eye[VIEW].xyz;
    vec3 rel = vec3(corner.x, frame.level.x - eye.y, corner.y);
    gl_Position = frame.clip[VIEW] * vec4(rel, 1.0);
    out_rel = rel;
    // From a multiple of ten metres near the eye, so that the numbers stay small.
    out_grid = rel.xz + eye.xz - floor(eye.xz * 0.1) * 10.0;
    out_shadow = (frame.shadow * vec4(rel + eye, 1.0)).xyz;
}
