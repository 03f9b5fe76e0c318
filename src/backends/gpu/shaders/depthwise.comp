// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolutions. A thread computes a strip of STRIP results of a row. If KERNEL and STRIDE are defined, inputs
// that several results share are loaded once.
#version 450
#extension GL_EXT_control_flow_attributes : require
#define OPERAND_E(i) LOAD_3(i)
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group, in_rows, in_columns;                                                   \
    uint stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x, w_offset, bias;                                                   \
    float outside;
#include "common.glsl"
layout(constant_id = 11) const uint KERNEL_H = 3u;
layout(constant_id = 12) const uint KERNEL_W = 3u;

#define STRIP 4u
#ifdef KERNEL
#define LINE ((STRIP - 1u) * STRIDE + KERNEL)
#endif

void main()
{
    uvec3 thread = this_thread();
    uint first = thread.x * STRIP;
    uint y = thread.y;
    uint n = thread.z / p.groups;
    uint group = thread.z - n * p.groups;
    if (first >= p.size_2 || y >= p.size_1) {
        return;
    }
    uint base = p.in_offset + n * p.in_0 + group * p.in_group;
    vec4 b = LOAD_2(p.bias + group);
    vec4 sum[STRIP];
    [[unroll]] for (uint i = 0u; i < STRIP; i++) {
        sum[i] = b;
    }
#ifdef KERNEL
    [[unroll]] for (uint ky = 0u; ky < KERNEL; ky++) {
        uint row = y * p.stride_y + ky - p.pad_y;
        vec4 line[LINE];
        [[unroll]] for (uint i = 0u; i < LINE; i++) {
            uint column = first * STRIDE + i - p.pad_x;
            bool inside = row < p.in_rows && column < p.in_columns;
            line[i] = LOAD_1(base + (inside ? row * p.in_1 + column * p.in_2 : 0u));
            line[i] = inside ? line[i] : vec4(p.outside);
        }
        [[unroll]] for (uint kx = 0u; kx < KERNEL; kx++) {
            vec4 w = LOAD_2(p.w_offset + (ky * KERNEL + kx) * p.groups + group);
            [[unroll]] for (uint i = 0u; i < STRIP; i++) {
                sum[i] += line[i * STRIDE + kx] * w;
            }
        }
    }
#else
    for (uint ky = 0u; ky < KERNEL_H; ky++) {
        uint row = y * p.stride_y + ky * p.dilation_y - p.pad_y;
        for (uint kx = 0u; kx < KERNEL_W; kx++) {
            vec4 w = LOAD_2(p.w_offset + (ky * KERNEL_W + kx) * p.groups + group);
            [[unroll]] for (uint i = 0u; i < STRIP; i++) {
                uint column = (first + i) * p.stride_x + kx * p.dilation_x - p.pad_x;
                bool inside = row < p.in_rows && column < p.in_columns;
                vec4 a = LOAD_1(base + (inside ? row * p.in_1 + column * p.in_2 : 0u));
                sum[i] += (inside ? a : vec4(p.outside)) * w;
            }
        }
    }
#endif
    [[unroll]] for (uint i = 0u; i < STRIP; i++) {
        if (first + i < p.size_2) {
            finish(sum[i], n, y, first + i, group);
        }
    }
}
