#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
#include "ball.glsl"

// Thin in the middle, bright at the rim, a small highlight.
void main()
{
    Hit h = hit();
    vec3 v = -normalize(h.at);
    float rim = 1.0 - clamp(dot(h.normal, v), 0.0, 1.0);
    rim *= rim;
    float spot = pow(clamp(dot(h.normal, normalize(v + frame.sun.xyz)), 0.0, 1.0), 120.0);
    vec3 c = mix(colour.rgb, vec3(1.0), 0.25 * rim * rim + 0.8 * spot);
    float a = clamp(colour.a * (0.45 + 1.4 * rim) + 0.6 * spot * colour.a, 0.0, 1.0);
    out_colour = vec4(haze(c, length(h.at)), a * h.cover);
}
