#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 2) in vec4 rotation;
layout(location = 3) in vec4 place;

void main()
{
    vec3 at = (frame.shadow * vec4(turn(rotation, position * place.w) + place.xyz, 1.0)).xyz;
    // What stands before the map still casts into it.
    gl_Position = vec4(at.xy * 2.0 - 1.0, max(at.z, 0.0), 1.0);
}
