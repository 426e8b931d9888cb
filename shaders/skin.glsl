// A vertex that follows up to eight joints, heaviest first. A joint is three rows: where it takes rest positions.
layout(location = 0) in vec3 position;
layout(location = 2) in uvec4 joints_first;
layout(location = 3) in uvec4 joints_last;
layout(location = 4) in vec4 weights_first;
layout(location = 5) in vec4 weights_last;
layout(location = 6) in vec3 origin;
layout(location = 7) in uint first_joint;
layout(std430, set = 0, binding = 3) readonly buffer Joints { vec4 rows[]; } joints;

struct Rows {
    vec4 x, y, z;
};

void follow(uint joint, float weight, inout Rows sum)
{
    uint at = 3u * (first_joint + joint);
    sum.x += weight * joints.rows[at];
    sum.y += weight * joints.rows[at + 1u];
    sum.z += weight * joints.rows[at + 2u];
}

Rows blended()
{
    Rows sum = Rows(vec4(0.0), vec4(0.0), vec4(0.0));
    for (int i = 0; i < 4; i++)
        if (weights_first[i] > 0.0) follow(joints_first[i], weights_first[i], sum);
    if (weights_last.x > 0.0)
        for (int i = 0; i < 4; i++)
            if (weights_last[i] > 0.0) follow(joints_last[i], weights_last[i], sum);
    return sum;
}

vec3 placed(Rows m)
{
    vec4 p = vec4(position, 1.0);
    return vec3(dot(m.x, p), dot(m.y, p), dot(m.z, p)) + origin;
}
