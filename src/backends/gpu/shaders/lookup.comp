// SPDX-License-Identifier: BSD-2-Clause
// Replaces elements of quint8 by a table of 256 results.
#version 450
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define PLAIN_STEPS
#define KERNEL_PARAMETERS uint in_offset, in_0, in_1, in_2, in_group;
#include "common.glsl"

float of(float number)
{
    uint i = min(uint(max(number, 0.0)), 255u);
    vec4 v = LOAD_2(i >> 2);
    uint lane = i & 3u;
    return lane == 0u ? v.x : lane == 1u ? v.y : lane == 2u ? v.z : v.w;
}

void main()
{
    uvec3 thread = this_thread();
    uint x = thread.x, y = thread.y;
    uint n = thread.z / p.groups;
    uint group = thread.z - n * p.groups;
    if (x >= p.size_2 || y >= p.size_1) {
        return;
    }
    vec4 v = LOAD_1(p.in_offset + n * p.in_0 + y * p.in_1 + x * p.in_2 + group * p.in_group);
    finish(vec4(of(v.x), of(v.y), of(v.z), of(v.w)), n, y, x, group);
}
