#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
layout(location = 0) in vec3 rel;
layout(location = 1) in vec2 grid;
layout(location = 2) in vec3 shadow_at;
layout(location = 0) out vec4 out_colour;

// Share of the pixel that lines of this half width cover, `step` metres apart; fades where they crowd.
float lines(vec2 at, vec2 pixel, float step, float half_width)
{
    vec2 away = abs(fract(at / step + 0.5) - 0.5) * step;
    vec2 wide = max(pixel, vec2(1e-5));
    vec2 cover = clamp((half_width - away) / wide + 0.5, 0.0, 1.0) * min(vec2(1.0), 2.0 * half_width / wide);
    cover *= clamp(1.5 - 3.0 * wide / step, 0.0, 1.0);
    return max(cover.x, cover.y);
}

void main()
{
    vec2 pixel = fwidth(grid);
    float away = length(rel);
    float line = max(0.10 * lines(grid, pixel, 1.0, 0.006), 0.22 * lines(grid, pixel, 10.0, 0.010));
    vec3 shade = vec3(0.50, 0.53, 0.58); // what the sky alone gives
    float nl = clamp(frame.sun.y * 4.0, 0.0, 1.0);
    shade *= openness(shadow_at);
    vec3 colour = frame.ground.rgb * mix(shade, vec3(1.0), sunlight(shadow_at) * nl);
    out_colour = vec4(haze(colour * (1.0 - line), away), 1.0);
}
