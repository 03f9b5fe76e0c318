// SPDX-License-Identifier: BSD-2-Clause
// Sums, means and extremes over two strided dimensions, and with LANES also over the packed one (the result is then
// lane 0 of one vector). The threads of a workgroup share each result. MODE 0: sum times `factor`; 1: maximum; 2:
// minimum; 3: sum of squares.
#version 450
#define OPERAND_E(i) LOAD_2(i)
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group, count_0, count_1, step_0, step_1;                                      \
    uint in_groups, in_tail;                                                                                           \
    float factor;
#include "common.glsl"
layout(constant_id = 11) const uint MODE = 0u;
layout(constant_id = 12) const uint LANES_SET = 0u;
const bool LANES = LANES_SET != 0u;

const bool SUMS = MODE == 0u || MODE == 3u;

shared vec4 parts[64];

vec4 join(vec4 a, vec4 b)
{
    if (SUMS) {
        return a + b;
    }
    return mix(mix(a, b, MODE == 1u ? greaterThan(b, a) : lessThan(b, a)), b, notEqual(b, b));
}

void main()
{
    // Each workgroup computes one result, so no thread may return before the barriers.
    uint x = gl_WorkGroupID.x, y = gl_WorkGroupID.y;
    uint n = gl_WorkGroupID.z / p.groups;
    uint group = gl_WorkGroupID.z - n * p.groups;
    uint me = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    float nothing = SUMS ? 0.0 : uintBitsToFloat(MODE == 1u ? 0xff800000u : 0x7f800000u);
    vec4 v = vec4(nothing);
    uint base = p.in_offset + n * p.in_0 + y * p.in_1 + x * p.in_2 + (LANES ? 0u : group * p.in_group);
    uint groups = LANES ? p.in_groups : 1u;
    uint all = p.count_0 * p.count_1 * groups;
    for (uint i = me; i < all; i += threads) {
        uint at = i / groups, g = i - at * groups;
        uint row = at / p.count_1;
        vec4 a = LOAD_1(base + row * p.step_0 + (at - row * p.count_1) * p.step_1 + (LANES ? g * p.in_group : 0u));
        if (LANES && g + 1u == groups) {
            a = mix(vec4(nothing), a, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(p.in_tail)));
        }
        v = join(v, MODE == 3u ? a * a : a);
    }
    parts[me] = v;
    barrier();
    for (uint half_of = threads / 2u; half_of != 0u; half_of /= 2u) {
        if (me < half_of) {
            parts[me] = join(parts[me], parts[me + half_of]);
        }
        barrier();
    }
    if (me == 0u) {
        v = parts[0];
        if (LANES) {
            v = join(join(v, v.yyyy), join(v.zzzz, v.wwww));
        }
        finish(MODE == 0u ? v * p.factor : v, n, y, x, group);
    }
}
