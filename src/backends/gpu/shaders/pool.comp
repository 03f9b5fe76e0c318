// SPDX-License-Identifier: BSD-2-Clause
// Pools over windows of images. MODE 0: maximum; 1: mean of the elements inside the image; 2: mean including padding;
// 3: sum divided by `divisor`; 4: mean of adaptive windows, by PyTorch's rule; 5: maximum of adaptive windows. A thread
// of a team (common.glsl) takes every eighth row and column.
#version 450
#define OPERAND_E(i) LOAD_2(i)
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group, in_rows, in_columns;                                                   \
    uint kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x;                                 \
    float divisor;
#include "common.glsl"
layout(constant_id = 11) const uint MODE = 0u;
#define SIDE (TEAM > 1u ? 8u : 1u)

shared vec4 passed[TEAM_THREADS];
shared int counts[TEAM_THREADS];

vec4 join(vec4 a, vec4 b)
{
    return MODE == 0u || MODE == 5u ? mix(mix(a, b, greaterThan(b, a)), b, notEqual(b, b)) : a + b;
}

void main()
{
    uvec3 thread = this_thread();
    uint x = thread.x, y = thread.y;
    uint n = thread.z / p.groups;
    uint group = thread.z - n * p.groups;
    bool outer = x >= p.size_2 || y >= p.size_1;
    if (TEAM == 1u && outer) {
        return;
    }
    int member_y = int(gl_LocalInvocationID.z / SIDE), member_x = int(gl_LocalInvocationID.z % SIDE);
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
    for (int ky = member_y; ky < rows && !outer; ky += int(SIDE)) {
        int row = top + ky * int(p.dilation_y);
        if (uint(row) >= p.in_rows) {
            continue;
        }
        for (int kx = member_x; kx < columns; kx += int(SIDE)) {
            int column = left + kx * int(p.dilation_x);
            if (uint(column) >= p.in_columns) {
                continue;
            }
            vec4 a = LOAD_1(base + uint(row) * p.in_1 + uint(column) * p.in_2);
            v = join(v, a);
            seen++;
        }
    }
    if (TEAM > 1u) {
        uint results = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
        uint me = gl_LocalInvocationIndex;
        passed[me] = v;
        counts[me] = seen;
        barrier();
        for (uint members = TEAM / 2u; members != 0u; members /= 2u) {
            if (gl_LocalInvocationID.z < members) {
                passed[me] = join(passed[me], passed[me + members * results]);
                counts[me] += counts[me + members * results];
            }
            barrier();
        }
        if (outer || gl_LocalInvocationID.z != 0u) {
            return;
        }
        v = passed[me];
        seen = counts[me];
    }
    if (MODE == 1u || MODE == 4u) {
        v /= float(seen);
    } else if (MODE == 2u) { // the size of the window, cut off where padding ends
        int bottom = min(top + rows, int(p.in_rows + p.pad_y)), right = min(left + columns, int(p.in_columns + p.pad_x));
        v /= float((bottom - top) * (right - left));
    } else if (MODE == 3u) {
        v /= p.divisor;
    }
    finish(v, n, y, x, group);
}
