// Sky, sun, shadow and haze, alike on everything.
layout(set = 0, binding = 1) uniform sampler2DShadow shadow_map;

vec3 sky(vec3 d)
{
    float up = clamp(d.y, 0.0, 1.0), down = clamp(-d.y * 4.0, 0.0, 1.0);
    vec3 c = mix(frame.horizon.rgb, frame.zenith.rgb, 1.0 - (1.0 - up) * (1.0 - up));
    return mix(c, frame.ground.rgb, frame.ground.w > 0.5 ? 0.0 : down * (2.0 - down));
}

// Share of the sun that arrives: 6 x 6 texels compared four at a time and weighed so that the result moves
// smoothly across them.
float sunlight(vec3 at)
{
    if (frame.sun.w < 0.5) return 1.0;
    vec2 away = abs(at.xy * 2.0 - 1.0);
    float edge = clamp((1.0 - max(away.x, away.y)) * 12.0, 0.0, 1.0);
    vec2 p = at.xy / frame.level.y - 0.5;
    vec2 f = fract(p);
    vec2 first = (floor(p) + 0.5) * frame.level.y; // between the middle texels, lower left of them
    float z = min(at.z, 1.0);
    const int n = 3;
    float sum = 0.0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            vec2 block = vec2(2 * i - n + 1, 2 * j - n + 1) + 0.5;
            vec4 lit = textureGather(shadow_map, first + block * frame.level.y, z); // (0,1) (1,1) (1,0) (0,0)
            vec2 low = vec2(i == 0 ? 1.0 - f.x : 1.0, j == 0 ? 1.0 - f.y : 1.0);
            vec2 high = vec2(i == n - 1 ? f.x : 1.0, j == n - 1 ? f.y : 1.0);
            sum += low.y * (low.x * lit.w + high.x * lit.z) + high.y * (low.x * lit.x + high.x * lit.y);
        }
    float width = float(2 * n - 1);
    return mix(1.0, sum / (width * width), edge);
}

// Share of the light from all around, guessed from what stands between a wider patch and the sun.
float openness(vec3 at)
{
    if (frame.sun.w < 0.5) return 1.0;
    vec2 away = abs(at.xy * 2.0 - 1.0);
    float edge = clamp((1.0 - max(away.x, away.y)) * 12.0, 0.0, 1.0);
    float z = min(at.z, 1.0);
    const vec2 ring[8] = vec2[](vec2(4.5, 1.5), vec2(-1.5, 4.5), vec2(-4.5, -1.5), vec2(1.5, -4.5), vec2(7.5, 9.5),
                                vec2(-9.5, 7.5), vec2(-7.5, -9.5), vec2(9.5, -7.5));
    float scale = 1.5 * frame.level.y, sum = 0.0;
    for (int i = 0; i < 8; i++) {
        vec2 p = (at.xy + ring[i] * scale) / frame.level.y - 0.5;
        vec2 f = fract(p);
        vec4 lit = textureGather(shadow_map, (floor(p) + 1.0) * frame.level.y, z);
        sum += mix(mix(lit.w, lit.z, f.x), mix(lit.x, lit.y, f.x), f.y);
    }
    return mix(1.0, 0.8 + sum * 0.025, edge);
}

// Where a point looks up its shadow: moved off its own surface, more so where the light grazes.
vec3 shadow_place(vec3 world, vec3 normal)
{
    float graze = sqrt(max(0.0, 1.0 - pow(dot(normal, frame.sun.xyz), 2.0)));
    vec3 off = normal * frame.size.w * (1.0 + 1.5 * graze);
    return (frame.shadow * vec4(world + off, 1.0)).xyz;
}

vec3 haze(vec3 colour, float distance)
{
    float x = max(distance - 6.0, 0.0) / 55.0;
    return mix(frame.horizon.rgb, colour, exp2(-x * x));
}

// Leaves everything up to 0.75 alone and never quite reaches 1.
vec3 shoulder(vec3 c)
{
    vec3 over = max(c - 0.75, 0.0);
    return min(c, 0.75) + 0.25 * (1.0 - exp2(-5.77 * over));
}

// rel: from the eye.
vec3 material(vec3 albedo, float gloss, float glow, vec3 rel, vec3 normal, vec3 eye)
{
    float away = length(rel);
    vec3 v = -rel / away;
    float nl = dot(normal, frame.sun.xyz);
    vec3 world = rel + eye;
    vec3 shadow_at = shadow_place(world, normal);
    float lit = sunlight(shadow_at) * clamp(nl, 0.0, 1.0);

    // Light from all around: the sky above, the ground below, less of it close to the ground.
    float up = 0.5 + 0.5 * normal.y;
    float open = openness(shadow_at) - 0.55 * frame.ground.w * (1.0 - up) * exp2(-6.0 * max(world.y - frame.level.x, 0.0));
    vec3 round = mix(frame.ground.rgb * 0.47, mix(frame.horizon.rgb, frame.zenith.rgb, 0.4) * 0.66, up) * open;
    // A little more from the side away from the sun, or faces in the shade would all look alike.
    round *= 0.93 - 0.16 * dot(normal.xz, frame.sun.xz);
    vec3 colour = albedo * (round + vec3(0.92, 0.89, 0.83) * lit);

    // A coat of lacquer: the sun's highlight and the sky in it, both by Schlick.
    float nv = clamp(dot(normal, v), 0.0, 1.0);
    float grazing = 1.0 - nv, g2 = grazing * grazing;
    float fresnel = 0.04 + 0.6 * g2 * g2 * grazing;
    vec3 h = normalize(v + frame.sun.xyz);
    float sharp = exp2(3.0 + 6.0 * gloss);
    float spot = pow(clamp(dot(normal, h), 0.0, 1.0), sharp) * (sharp + 8.0) * 0.04;
    vec3 r = reflect(-v, normal);
    vec3 mirror = sky(r) * open * clamp(0.3 + 0.9 * r.y, 0.0, 1.0);
    colour += gloss * (0.05 * spot * lit + fresnel * mirror * (0.35 + 0.65 * gloss));
    return haze(mix(shoulder(colour), albedo, glow), away);
}
