// Sky, sun, shadow and haze, alike on everything.
layout(set = 0, binding = 1) uniform sampler2DShadow shadow_map;

vec3 sky(vec3 d)
{
    float up = clamp(d.y, 0.0, 1.0), down = clamp(-d.y * 4.0, 0.0, 1.0);
    vec3 c = mix(frame.horizon.rgb, frame.zenith.rgb, 1.0 - (1.0 - up) * (1.0 - up));
    return mix(c, frame.ground.rgb, frame.ground.w > 0.5 ? 0.0 : down * (2.0 - down));
}

// Share of the sun that arrives. A tent of nine taps, each blended from four texels by the sampler.
float sunlight(vec3 at)
{
    if (frame.sun.w < 0.5) return 1.0;
    vec2 away = abs(at.xy * 2.0 - 1.0);
    float edge = clamp((1.0 - max(away.x, away.y)) * 12.0, 0.0, 1.0);
    if (edge <= 0.0) return 1.0;
    float s = 1.6 * frame.level.y;
    float z = min(at.z, 1.0);
    float sum = 4.0 * textureLod(shadow_map, vec3(at.xy, z), 0.0);
    sum += 2.0 * (textureLod(shadow_map, vec3(at.xy + vec2(s, 0), z), 0.0) +
                  textureLod(shadow_map, vec3(at.xy - vec2(s, 0), z), 0.0) +
                  textureLod(shadow_map, vec3(at.xy + vec2(0, s), z), 0.0) +
                  textureLod(shadow_map, vec3(at.xy - vec2(0, s), z), 0.0));
    sum += textureLod(shadow_map, vec3(at.xy + vec2(s, s), z), 0.0) +
           textureLod(shadow_map, vec3(at.xy + vec2(s, -s), z), 0.0) +
           textureLod(shadow_map, vec3(at.xy + vec2(-s, s), z), 0.0) +
           textureLod(shadow_map, vec3(at.xy + vec2(-s, -s), z), 0.0);
    return mix(1.0, sum / 16.0, edge);
}

// Where a point looks up its shadow: moved off its own surface, more so where the light grazes.
vec3 shadow_place(vec3 world, vec3 normal)
{
    float graze = sqrt(max(0.0, 1.0 - pow(dot(normal, frame.sun.xyz), 2.0)));
    vec3 off = normal * frame.size.w * (0.6 + 2.0 * graze);
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

// rel: from the eye. height: above the ground.
vec3 material(vec3 albedo, float gloss, float glow, vec3 rel, vec3 normal, vec3 shadow_at, float height)
{
    float away = length(rel);
    vec3 v = -rel / away;
    float nl = dot(normal, frame.sun.xyz);
    float lit = sunlight(shadow_at) * clamp(nl, 0.0, 1.0);

    // Light from all around: the sky above, the ground below, less of it close to the ground.
    float up = 0.5 + 0.5 * normal.y;
    float open = 1.0 - 0.55 * frame.ground.w * (1.0 - up) * exp2(-6.0 * max(height, 0.0));
    vec3 round = mix(frame.ground.rgb * 0.42, mix(frame.horizon.rgb, frame.zenith.rgb, 0.5) * 0.62, up) * open;
    vec3 colour = albedo * (round + vec3(0.92, 0.89, 0.83) * lit);

    // A coat of lacquer: the sun's highlight and the sky in it, both by Schlick.
    float nv = clamp(dot(normal, v), 0.0, 1.0);
    float grazing = 1.0 - nv, g2 = grazing * grazing;
    float fresnel = 0.04 + 0.96 * g2 * g2 * grazing;
    vec3 h = normalize(v + frame.sun.xyz);
    float sharp = exp2(3.0 + 6.0 * gloss);
    float spot = pow(clamp(dot(normal, h), 0.0, 1.0), sharp) * (sharp + 8.0) * 0.04;
    vec3 mirror = sky(reflect(-v, normal)) * open;
    colour += gloss * (0.05 * spot * lit + fresnel * mirror * (0.35 + 0.65 * gloss));
    return haze(mix(shoulder(colour), albedo, glow), away);
}
