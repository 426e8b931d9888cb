#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec3 from;
layout(location = 1) in vec4 colour;
layout(location = 2) in vec3 to;
layout(location = 3) in float width;

layout(location = 0) noperspective out vec2 out_at; // pixels along and across
layout(location = 1) flat out float out_length;
layout(location = 2) noperspective out float out_half;
layout(location = 3) flat out vec4 out_colour;

void main()
{
    float near = frame.size.z;
    vec4 a = frame.clip[VIEW] * vec4(from - frame.eye[VIEW].xyz, 1.0);
    vec4 b = frame.clip[VIEW] * vec4(to - frame.eye[VIEW].xyz, 1.0);
    out_at = vec2(0.0);
    out_length = out_half = 0.0;
    out_colour = vec4(linear(colour.rgb), colour.a);
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (a.w < near && b.w < near) return;
    // What is behind the near plane is cut off here: the clipper would cut the quad askew.
    if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
    if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
    vec2 half_size = frame.size.xy * 0.5;
    vec2 p = a.xy / a.w * half_size, q = b.xy / b.w * half_size;
    float len = length(q - p);
    vec2 along = len > 1e-4 ? (q - p) / len : vec2(1, 0);
    bool end = (gl_VertexIndex & 1) == 1;
    vec4 here = end ? b : a;
    float half_width = width < 0.0 ? -0.5 * width : 0.35 * width / here.w;
    float side = (gl_VertexIndex & 2) == 2 ? 1.0 : -1.0;
    float margin = max(half_width, 0.5) + 1.0;
    out_at = vec2(end ? len + margin : -margin, side * margin);
    out_length = len;
    out_half = half_width;
    vec2 at = (end ? q : p) + along * (end ? margin : -margin) + vec2(-along.y, along.x) * side * margin;
    // A hair nearer than the surface it lies on.
    gl_Position = vec4(at / half_size * here.w, near * 1.002, here.w);
}
