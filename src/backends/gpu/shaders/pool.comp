// SPDX-License-Identifier: BSD-2-Clause
// Windows of images: the largest element, or the mean. MODE 0: largest; 1: mean of what is inside the image; 2: mean with
// the padding; 3: sum over `divisor`; 4: adaptive, windows by PyTorch's rule, mean; 5: adaptive, largest.
#version 450
#define OPERAND_E(i) LOAD_2(i)
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group, in_rows, in_columns;                                                   \
    uint kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x;                                 \
    float divisor;
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
    int top = int(y * p.stride_y) - int(p.pad_y), left = int(x * p.stride_x) - int(p.pad_x);
    int rows = int(p.kernel_y), columns = int(p.kernel_x);
    if (MODE >= 4u) {
        top = int(y * p.in_rows / p.size_1);
        left = int(x * p.in_columns / p.size_2);
        rows = int(((y + 1u) * p.in_rows + p.size_1 - 1u) / p.size_1) - top;
        columns = int(((x + 1u) * p.in_columns + p.size_2 - 1u) / p.size_2) - left;
    }
    bool largest = MODE == 0u || MODE == 5u;
    vec4 v = vec4(largest ? uintBitsToFloat(0xff800000u) : 0.0);
    int seen = 0;
    for (int ky = 0; ky < rows; ky++) {
        int row = top + ky * int(p.dilation_y);
        if (uint(row) >= p.in_rows) {
            continue;
        }
        for (int kx = 0; kx < columns; kx++) {
            int column = left + kx * int(p.dilation_x);
            if (uint(column) >= p.in_columns) {
                continue;
            }
            vec4 a = LOAD_1(base + uint(row) * p.in_1 + uint(column) * p.in_2);
            if (largest) {
                v = mix(mix(v, a, greaterThan(a, v)), a, notEqual(a, a));
            } else {
                v += a;
            }
            seen++;
        }
    }
    if (MODE == 1u || MODE == 4u) {
        v /= float(seen);
    } else if (MODE == 2u) { // the window, cut off where padding ends
        int bottom = min(top + rows, int(p.in_rows + p.pad_y)), right = min(left + columns, int(p.in_columns + p.pad_x));
        v /= float((bottom - top) * (right - left));
    } else if (MODE == 3u) {
        v /= p.divisor;
    }
    finish(v, n, y, x, group);
}
