// SPDX-License-Identifier: BSD-2-Clause
// Up to eight steps on the elements of a tensor, with at most two other tensors. Each tensor may be broadcast, by
// strides of zero, or by its first lane to all lanes.
#version 450
#define OPERAND_E(i) LOAD_2(i)
#define KERNEL_PARAMETERS uint in_offset, in_0, in_1, in_2, in_group;
#include "common.glsl"
layout(constant_id = 11) const uint SPLAT_SET = 0u;
const bool SPLAT = SPLAT_SET != 0u;

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
    finish(SPLAT ? vec4(v.x) : v, n, y, x, group);
}
