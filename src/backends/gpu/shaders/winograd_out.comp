// SPDX-License-Identifier: BSD-2-Clause
// Transforms the 36 products of four channels into 4 x 4 results, adds the bias and applies the steps.
#version 450
#extension GL_EXT_control_flow_attributes : require
#define OPERAND_E(i) LOAD_3(i)
#define KERNEL_PARAMETERS uint in_offset, in_0, in_2, in_group, tiles_x, tiles, bias;
#include "common.glsl"
#include "winograd.glsl"

void main()
{
    uvec3 thread = this_thread();
    uint t = thread.x, group = thread.y, n = thread.z;
    if (t >= p.tiles || group >= p.groups) {
        return;
    }
    uint ty = t / p.tiles_x, tx = t - ty * p.tiles_x;
    uint base = p.in_offset + (n * p.tiles + t) * p.in_2 + group * p.in_group;
    vec4 half_way[4][6];
    [[unroll]] for (uint j = 0u; j < SIDE; j++) {
        vec4 column[6], results[4];
        [[unroll]] for (uint i = 0u; i < SIDE; i++) {
            column[i] = LOAD_1(base + (i * SIDE + j) * p.in_0);
        }
        output_four(column, results);
        [[unroll]] for (uint i = 0u; i < TILE; i++) {
            half_way[i][j] = results[i];
        }
    }
    vec4 b = LOAD_2(p.bias + group);
    [[unroll]] for (uint i = 0u; i < TILE; i++) {
        vec4 results[4];
        output_four(half_way[i], results);
        [[unroll]] for (uint j = 0u; j < TILE; j++) {
            if (ty * TILE + i < p.size_1 && tx * TILE + j < p.size_2) {
                finish(results[j] + b, n, ty * TILE + i, tx * TILE + j, group);
            }
        }
    }
}
