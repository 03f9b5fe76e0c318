// SPDX-License-Identifier: BSD-2-Clause
// Transforms a 6 x 6 tile of the image for four channels into 36 vectors, one for each product. Tiles are numbered over
// all images of a batch.
#version 450
#extension GL_EXT_control_flow_attributes : require
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group, in_rows, in_columns, pad_y, pad_x, tiles_x, tiles;
#include "common.glsl"
#include "winograd.glsl"

void main()
{
    uvec3 thread = this_thread();
    uint place = thread.x, group = thread.y;
    if (place >= p.size_2 || group >= p.groups) {
        return;
    }
    uint n = place / p.tiles, t = place - n * p.tiles, ty = t / p.tiles_x, tx = t - ty * p.tiles_x;
    uint top = ty * TILE - p.pad_y, left = tx * TILE - p.pad_x; // wraps to a very large number if negative
    uint base = p.in_offset + n * p.in_0 + group * p.in_group;
    vec4 d[6][6];
    [[unroll]] for (uint i = 0u; i < SIDE; i++) {
        [[unroll]] for (uint j = 0u; j < SIDE; j++) {
            bool inside = top + i < p.in_rows && left + j < p.in_columns;
            vec4 v = LOAD_1(inside ? base + (top + i) * p.in_1 + (left + j) * p.in_2 : base);
            d[i][j] = inside ? v : vec4(0.0);
        }
        input_six(d[i]);
    }
    uint at = p.out_offset + place * p.out_2 + group * p.out_group;
    [[unroll]] for (uint j = 0u; j < SIDE; j++) {
        vec4 column[6];
        [[unroll]] for (uint i = 0u; i < SIDE; i++) {
            column[i] = d[i][j];
        }
        input_six(column);
        [[unroll]] for (uint i = 0u; i < SIDE; i++) {
            store(at + (i * SIDE + j) * p.out_0, column[i]);
        }
    }
}
