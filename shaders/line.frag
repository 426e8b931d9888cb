#version 450
layout(location = 0) noperspective in vec2 at;
layout(location = 1) flat in float len;
layout(location = 2) noperspective in float half_width;
layout(location = 3) flat in vec4 colour;
layout(location = 0) out vec4 out_colour;

// Round ends; thinner than a pixel, it gets fainter instead.
void main()
{
    float off = length(vec2(max(max(-at.x, at.x - len), 0.0), at.y));
    float cover = clamp(max(half_width, 0.5) + 0.5 - off, 0.0, 1.0) * min(1.0, 2.0 * half_width);
    out_colour = vec4(colour.rgb, colour.a * cover);
}
