#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec4 ball; // w: radius
layout(location = 1) in vec4 colour;

layout(location = 0) out vec3 out_rel;
layout(location = 1) flat out vec4 out_centre; // from the eye; w: radius
layout(location = 2) flat out vec4 out_colour;
layout(location = 3) flat out vec4 out_forward; // the view's axis; w: pixels a unit tangent

// A quad around the circle in which the sight lines touch the sphere, a little larger for the soft edge.
void main()
{
    vec3 eye = frame.eye[VIEW].xyz;
    vec3 c = ball.xyz - eye;
    float r = ball.w, d2 = dot(c, c);
    out_centre = vec4(c, r);
    out_colour = vec4(linear(colour.rgb), colour.a);
    out_forward = vec4(frame.clip[VIEW][0].w, frame.clip[VIEW][1].w, frame.clip[VIEW][2].w, frame.eye[VIEW].w);
    out_rel = vec3(0.0);
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0); // outside
    if (d2 <= r * r * 1.0001 || r <= 0.0) return;
    float d = sqrt(d2);
    vec3 axis = c / d;
    vec3 side = normalize(cross(abs(axis.y) < 0.9 ? vec3(0, 1, 0) : vec3(1, 0, 0), axis));
    vec3 up = cross(axis, side);
    float away = d - r * r / d;
    float round = r * sqrt(1.0 - r * r / d2) + 1.5 * away / frame.eye[VIEW].w;
    vec2 corner = vec2((gl_VertexIndex & 1) * 2 - 1, (gl_VertexIndex & 2) - 1) * round;
    out_rel = axis * away + side * corner.x + up * corner.y;
    gl_Position = frame.clip[VIEW] * vec4(out_rel, 1.0);
}
