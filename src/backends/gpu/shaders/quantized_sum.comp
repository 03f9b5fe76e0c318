// SPDX-License-Identifier: BSD-2-Clause
// Sums of two quint8 tensors by integers, as in QNNPACK: both are multiplied by factors, and the sum is shifted to the
// right. A number halfway between two integers is rounded away from zero, as in the CPU's kernel
// (kernels/vector_u8_plain.h).
#version 450
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define PLAIN_STEPS
#define KERNEL_PARAMETERS                                                                                              \
    uint a_offset, a_0, a_1, a_2, a_group;                                                                             \
    uint b_offset, b_0, b_1, b_2, b_group;                                                                             \
    int a_factor, b_factor, offset, zero_point, least;                                                                 \
    uint shift;
#include "common.glsl"

float sum_of(float a, float b)
{
    int sum = int(uint(p.offset) + uint(a) * uint(p.a_factor) + uint(b) * uint(p.b_factor));
    int mask = int((1u << p.shift) - 1u);
    int rest = (sum & mask) - (sum < 0 ? 1 : 0);
    int y = (sum >> p.shift) + (rest > (mask >> 1) ? 1 : 0);
    return float(clamp(clamp(y, -32768, 32767) + p.zero_point, p.least, 255));
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
    vec4 a = LOAD_1(p.a_offset + n * p.a_0 + y * p.a_1 + x * p.a_2 + group * p.a_group);
    vec4 b = LOAD_2(p.b_offset + n * p.b_0 + y * p.b_1 + x * p.b_2 + group * p.b_group);
    finish(vec4(sum_of(a.x, b.x), sum_of(a.y, b.y), sum_of(a.z, b.z), sum_of(a.w, b.w)), n, y, x, group);
}
