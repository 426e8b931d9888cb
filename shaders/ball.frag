#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
#include "ball.glsl"

void main()
{
    Hit h = hit();
    if (h.cover < frame.level.z) discard; // one sample takes all or nothing
    out_colour = vec4(material(colour.rgb, 0.35, 0.0, h.at, h.normal, frame.eye[VIEW].xyz), h.cover);
}
