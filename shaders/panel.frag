#version 450
layout(set = 0, binding = 2) uniform sampler2D letters; // 0.5 on the outline, more inside
layout(location = 0) in vec4 at;
layout(location = 1) flat in vec4 box;
layout(location = 2) flat in vec4 colour;
layout(location = 0) out vec4 out_colour;

// Distance to the outline in texels, by the scale sac_make_letters used.
const float texels = 12.0;

float ink(vec2 uv, float texels_a_pixel)
{
    float d = (texture(letters, uv).r - 0.50196) * texels;
    return clamp(d / texels_a_pixel + 0.5, 0.0, 1.0);
}

void main()
{
    float cover;
    vec2 dx = dFdx(at.zw), dy = dFdy(at.zw);
    if (box.w > 0.5) {
        vec2 size = vec2(textureSize(letters, 0));
        float t = max(0.5 * (length(dx * size) + length(dy * size)), 1e-4);
        // Small letters are finer than the distances: four looks inside the pixel.
        cover = 0.25 * (ink(at.zw + 0.125 * dx + 0.375 * dy, t * 0.75) + ink(at.zw - 0.125 * dx - 0.375 * dy, t * 0.75) +
                        ink(at.zw + 0.375 * dx - 0.125 * dy, t * 0.75) + ink(at.zw - 0.375 * dx + 0.125 * dy, t * 0.75));
    } else {
        vec2 edge = clamp(min(at.xy, box.xy - at.xy) * box.z + 0.5, 0.0, 1.0) * min(box.xy * box.z, vec2(1.0));
        cover = edge.x * edge.y;
    }
    out_colour = vec4(colour.rgb, colour.a * cover);
}
