#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec4 box;     // lower left corner, size
layout(location = 1) in vec4 letter;  // corner and size in the letters' texture
layout(location = 2) in vec2 axis;
layout(location = 3) in vec4 colour;

layout(location = 0) out vec4 out_at; // inside the box, canvas units; letter texture
layout(location = 1) flat out vec4 out_box; // size; pixels a canvas unit; 1 for a letter
layout(location = 2) flat out vec4 out_colour;

void main()
{
    Panel p = frame.panels[push.panel];
    bool world = p.origin.w > 0.5;
    vec2 corner = vec2(gl_VertexIndex & 1, (gl_VertexIndex & 2) >> 1);
    vec2 up = vec2(-axis.y, axis.x);
    vec3 eye = frame.eye[VIEW].xyz;

    vec2 middle = box.xy + 0.5 * (axis * box.z + up * box.w);
    float scale = 1.0;
    if (world) {
        vec4 c = frame.clip[VIEW] * vec4(p.origin.xyz + p.x.xyz * middle.x + p.y.xyz * middle.y - eye, 1.0);
        scale = length(p.x.xyz) * frame.eye[VIEW].w / max(c.w, frame.size.z);
    }
    bool is_letter = letter.z != 0.0;
    // Plain boxes reach a pixel further for their soft edge; letters have room around them already.
    float more = is_letter ? 0.0 : 1.0 / scale;
    vec2 local = corner * (box.zw + 2.0 * more) - more;
    vec2 at = box.xy + axis * local.x + up * local.y;
    out_at = vec4(local, letter.xy + corner * letter.zw);
    out_box = vec4(box.zw, scale, is_letter ? 1.0 : 0.0);
    out_colour = vec4(linear(colour.rgb), colour.a);
    if (world)
        gl_Position = frame.clip[VIEW] * vec4(p.origin.xyz + p.x.xyz * at.x + p.y.xyz * at.y - eye, 1.0);
    else
        gl_Position = vec4(vec2(1, -1) * ((p.origin.xy + at) / frame.size.xy * 2.0 - 1.0), 1.0, 1.0);
}
