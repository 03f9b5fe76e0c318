// SPDX-License-Identifier: BSD-2-Clause
// One step of a recurrent network, for four elements of the hidden state of one row. The gates are sums of two
// products, of the input and of the previous state, in PyTorch's order. MODE 0 is LSTM (i, f, g, o), which writes h,
// and c at c_out. MODE 1 is GRU (r, z, n). The third input is the previous c for LSTM, and the previous h for GRU.
#version 450
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define KERNEL_PARAMETERS                                                                                              \
    uint h_offset, h_row, h_group, s_offset, s_row, s_group, x_offset, x_row, x_group, c_out, hidden;
#include "common.glsl"
layout(constant_id = 11) const uint MODE = 0u;
layout(constant_id = 12) const uint WHOLE_SET = 1u; // every gate starts at a whole vector
const bool WHOLE = WHOLE_SET != 0u;

float one(vec4 v, uint lane)
{
    return lane == 0u ? v.x : lane == 1u ? v.y : lane == 2u ? v.z : v.w;
}

vec4 from_state(uint row, uint gate, uint group)
{
    uint base = p.h_offset + row * p.h_row;
    if (WHOLE) {
        return LOAD_1(base + (gate * p.groups + group) * p.h_group);
    }
    vec4 v = vec4(0.0);
    for (uint i = 0u; i < 4u && group * 4u + i < p.hidden; i++) {
        uint at = gate * p.hidden + group * 4u + i;
        v[i] = one(LOAD_1(base + (at >> 2) * p.h_group), at & 3u);
    }
    return v;
}

vec4 from_input(uint row, uint gate, uint group)
{
    uint base = p.x_offset + row * p.x_row;
    if (WHOLE) {
        return LOAD_3(base + (gate * p.groups + group) * p.x_group);
    }
    vec4 v = vec4(0.0);
    for (uint i = 0u; i < 4u && group * 4u + i < p.hidden; i++) {
        uint at = gate * p.hidden + group * 4u + i;
        v[i] = one(LOAD_3(base + (at >> 2) * p.x_group), at & 3u);
    }
    return v;
}

vec4 tail(vec4 v, uint group)
{
    return group + 1u == p.groups ? mix(vec4(0.0), v, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(p.tail))) : v;
}

void main()
{
    uvec3 thread = this_thread();
    uint row = thread.x, group = thread.y;
    if (row >= p.size_2 || group >= p.groups) {
        return;
    }
    vec4 state = LOAD_2(p.s_offset + row * p.s_row + group * p.s_group);
    uint at = p.out_offset + row * p.out_2 + group * p.out_group;
    if (MODE == 0u) {
        vec4 i = sigmoid4(from_state(row, 0u, group) + from_input(row, 0u, group));
        vec4 f = sigmoid4(from_state(row, 1u, group) + from_input(row, 1u, group));
        vec4 g = tanh4(from_state(row, 2u, group) + from_input(row, 2u, group));
        vec4 o = sigmoid4(from_state(row, 3u, group) + from_input(row, 3u, group));
        vec4 c = f * state + i * g;
        store(at + p.c_out, tail(c, group));
        store(at, tail(o * tanh4(c), group));
    } else {
        vec4 r = sigmoid4(from_state(row, 0u, group) + from_input(row, 0u, group));
        vec4 z = sigmoid4(from_state(row, 1u, group) + from_input(row, 1u, group));
        vec4 n = tanh4(from_input(row, 2u, group) + r * from_state(row, 2u, group));
        store(at, tail(n + z * (state - n), group));
    }
}
