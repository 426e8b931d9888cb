#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
#include "ball.glsl"

void main()
{
    Hit h = hit();
    vec3 world = h.at + eye;
    vec3 c = material(colour.rgb, 0.35, 0.0, h.at, h.normal, shadow_place(world, h.normal), world.y - frame.level.x);
    out_colour = vec4(c, h.cover);
}
