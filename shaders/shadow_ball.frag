#version 450
layout(location = 0) in vec2 at;
layout(location = 1) flat in vec2 depth;

void main()
{
    float h2 = 1.0 - dot(at, at);
    if (h2 < 0.0) discard;
    // The far side: what it casts is the same, and the near side stays clear of its own shadow.
    gl_FragDepth = clamp(depth.x + depth.y * sqrt(h2) * 0.5, 0.0, 1.0);
}
