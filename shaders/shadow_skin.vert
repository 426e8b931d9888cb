#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "skin.glsl"

void main()
{
    vec3 at = (frame.shadow * vec4(placed(blended()), 1.0)).xyz;
    gl_Position = vec4(at.xy * 2.0 - 1.0, max(at.z, 0.0), 1.0);
}
