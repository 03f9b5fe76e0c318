// SPDX-License-Identifier: BSD-2-Clause
// Resizes images. MODE 0: nearest; 1: bilinear; 2: bilinear with aligned corners. scale: input distance per output
// pixel.
#version 450
#define OPERAND_E(i) LOAD_2(i)
#define KERNEL_PARAMETERS uint in_offset, in_0, in_1, in_2, in_group, in_rows, in_columns; float scale_y, scale_x;
#include "common.glsl"
layout(constant_id = 11) const uint MODE = 0u;

void main()
{
    uvec3 thread = this_thread();
    uint x = thread.x, y = thread.y;
    uint n = thread.z / p.groups;
    uint group = thread.z - n * p.groups;
    if (x >= p.size_2 || y >= p.size_1) {
        return;
    }
    uint base = p.in_offset + n * p.in_0 + group * p.in_group;
    if (MODE == 0u) {
        uint row = min(uint(float(y) * p.scale_y), p.in_rows - 1u);
        uint column = min(uint(float(x) * p.scale_x), p.in_columns - 1u);
        finish(LOAD_1(base + row * p.in_1 + column * p.in_2), n, y, x, group);
        return;
    }
    float fy = MODE == 2u ? float(y) * p.scale_y : max((float(y) + 0.5) * p.scale_y - 0.5, 0.0);
    float fx = MODE == 2u ? float(x) * p.scale_x : max((float(x) + 0.5) * p.scale_x - 0.5, 0.0);
    uint top = min(uint(fy), p.in_rows - 1u), left = min(uint(fx), p.in_columns - 1u);
    uint down = top + 1u < p.in_rows ? p.in_1 : 0u, right = left + 1u < p.in_columns ? p.in_2 : 0u;
    float wy = fy - float(top), wx = fx - float(left);
    uint at = base + top * p.in_1 + left * p.in_2;
    vec4 upper = (1.0 - wx) * LOAD_1(at) + wx * LOAD_1(at + right);
    vec4 lower = (1.0 - wx) * LOAD_1(at + down) + wx * LOAD_1(at + down + right);
    finish((1.0 - wy) * upper + wy * lower, n, y, x, group);
}
