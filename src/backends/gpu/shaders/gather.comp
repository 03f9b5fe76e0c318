// SPDX-License-Identifier: BSD-2-Clause
// Elements of one dimension by index: embedding, index_select, gather. Indices are plain numbers, with strides for the
// result's loops. PER_LANE: each lane has its own index. ACROSS: indices count lanes of the source's packed dimension.
// The host checks indices before a run, so none is out of range.
#version 450
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define PLAIN_STEPS
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group;                                                                        \
    uint index_offset, index_0, index_1, index_2, index_lane;                                                          \
    uint count, in_step;
#include "common.glsl"
layout(constant_id = 11) const uint PER_LANE_SET = 0u;
const bool PER_LANE = PER_LANE_SET != 0u;
layout(constant_id = 12) const uint ACROSS_SET = 0u;
const bool ACROSS = ACROSS_SET != 0u;

uint index_at(uint at)
{
    return min(uint(max(in_2[at], 0.0)), p.count - 1u);
}

float lane_of(vec4 v, uint lane)
{
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
    uint at = p.in_offset + n * p.in_0 + y * p.in_1 + x * p.in_2 + (ACROSS ? 0u : group * p.in_group);
    uint place = p.index_offset + n * p.index_0 + y * p.index_1 + x * p.index_2;
    vec4 v = vec4(0.0);
    if (!PER_LANE) {
        v = LOAD_1(at + index_at(place) * p.in_step);
    } else {
        uint lanes = group + 1u == p.groups ? p.tail : 4u;
        for (uint lane = 0u; lane < lanes; lane++) {
            uint i = index_at(place + (group * 4u + lane) * p.index_lane);
            v[lane] = ACROSS ? lane_of(LOAD_1(at + (i >> 2) * p.in_step), i & 3u) : lane_of(LOAD_1(at + i * p.in_step), lane);
        }
    }
    finish(v, n, y, x, group);
}
