// Where the sight line meets the sphere.
layout(location = 0) in vec3 rel;
layout(location = 1) flat in vec4 centre;
layout(location = 2) flat in vec4 colour;
layout(location = 3) flat in vec4 forward;
layout(location = 0) out vec4 out_colour;

struct Hit {
    vec3 at, normal;
    float cover;
};

Hit hit()
{
    vec3 v = normalize(rel);
    float along = dot(v, centre.xyz);
    float off = length(cross(v, centre.xyz));
    Hit h;
    h.cover = clamp((centre.w - off) * forward.w / max(along, 1e-6) + 0.5, 0.0, 1.0);
    if (h.cover <= 0.0) discard;
    h.at = v * (along - sqrt(max(centre.w * centre.w - off * off, 0.0)));
    h.normal = normalize(h.at - centre.xyz);
    gl_FragDepth = frame.size.z / max(dot(forward.xyz, h.at), frame.size.z);
    return h;
}
