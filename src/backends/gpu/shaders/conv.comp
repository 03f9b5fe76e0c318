// SPDX-License-Identifier: BSD-2-Clause
// Convolutions and products of matrices as an implicit GEMM. A thread computes PIXELS neighbouring results of GROUPS
// vectors of channels. The second operand is packed weights, or rows of another tensor, both described by strides.
//
// ROWS_PACKED: the second operand is packed along its rows, as in q k^T, so products are dot products.
//
// EXACT: the numbers are 0 to 255 and -128 to 127, and the sums equal the sums of 32-bit integers. Up to 512 products
// are exact as floats, and are then added to integers. A bias is two numbers of 16 bits.
//
// LANES: this number of threads of a subgroup load packed weights for each other, because all threads of a workgroup
// need the same weights. This is for devices on which loads cost more than exchanges. A thread adds four products to
// one sum before it continues with the next sum, so that few sums occupy registers at the same time.
//
// Teams (common.glsl): each thread takes every TEAM-th vector of channels, and the threads add their sums in the
// workgroup's memory. This is for devices that need many threads when there are few results.
#version 450
#extension GL_EXT_control_flow_attributes : require
#ifdef LANES
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#define OPERAND_E(i) LOAD_3(i)
#define KERNEL_PARAMETERS                                                                                              \
    uint in_offset, in_0, in_1, in_2, in_group, in_part;                                                               \
    uint in_rows, in_columns, in_groups, parts, part_groups;                                                           \
    uint stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x;                                                     \
    uint w_offset, w_0, w_part, w_tile, w_row, w_rows, w_group, bias;                                                  \
    float outside;
#include "common.glsl"
layout(constant_id = 11) const uint KERNEL_H = 1u;
layout(constant_id = 12) const uint KERNEL_W = 1u;
layout(constant_id = 13) const uint PADDED_SET = 0u; // taps may be outside
const bool PADDED = PADDED_SET != 0u;
layout(constant_id = 14) const uint LINEAR_SET = 0u; // pixels are contiguous and counted by column strides
const bool LINEAR = LINEAR_SET != 0u;
// The second operand has only w_rows rows, without zeros after them.
layout(constant_id = 15) const uint GUARDED_SET = 0u;
const bool GUARDED = GUARDED_SET != 0u;
layout(constant_id = 16) const uint BIASED_SET = 1u;
const bool BIASED = BIASED_SET != 0u;
// 1 for a transposed convolution: strides apply to the result, so a tap may fall between pixels.
layout(constant_id = 17) const uint TRANSPOSED_SET = 0u;
const bool TRANSPOSED = TRANSPOSED_SET != 0u;

#ifdef TEAMS
#define VECTORS (PIXELS * GROUPS)
shared uvec4 passed[TEAM_THREADS * VECTORS]; // [thread of the team][vector][result]
#ifdef EXACT
#define NUMBER ivec4
#define FLOATS(v) vec4(float(v.x), float(v.y), float(v.z), float(v.w))
#define NUMBERS(bits) ivec4(bits)
#define BITS(numbers) uvec4(numbers)
#else
#define NUMBER vec4
#define FLOATS(v) v
#define NUMBERS(bits) uintBitsToFloat(bits)
#define BITS(numbers) floatBitsToUint(numbers)
#endif
#endif

#ifdef EXACT
#define TAKE_TOGETHER                                                                                                  \
    [[unroll]] for (uint i = 0u; i < PIXELS; i++) {                                                                    \
        [[unroll]] for (uint g = 0u; g < GROUPS; g++) {                                                                \
            whole[i][g] += ivec4(sum[i][g]);                                                                           \
            sum[i][g] = vec4(0.0);                                                                                     \
        }                                                                                                              \
    }
#endif

void main()
{
    uvec3 thread = this_thread();
    uint apart = SPREAD ? gl_WorkGroupSize.x : 1u; // neighbouring threads read neighbouring memory
    uint first = SPREAD ? gl_WorkGroupID.x * apart * PIXELS + gl_LocalInvocationID.x : thread.x * PIXELS;
    uint og = thread.y * GROUPS;
    uint n = thread.z / p.parts;
    uint part = thread.z - n * p.parts;
    uint pixels = p.size_1 * p.size_2;
#ifdef LANES // threads without a result still load for the other threads
    uint mine = gl_SubgroupInvocationID % LANES, in_groups = p.in_groups, in_group = p.in_group;
    float outside = p.outside;
#else
    bool outer = first >= pixels || og >= p.part_groups;
    if (TEAM == 1u && outer) {
        return;
    }
    uint member = TEAM == 1u ? 0u : gl_LocalInvocationID.z, in_groups = outer ? 0u : p.in_groups;
#endif
    uint base = p.in_offset + n * p.in_0 + part * p.in_part;
    uint weights = p.w_offset + n * p.w_0 + part * p.w_part + thread.y * p.w_tile;
    uint y[PIXELS], x[PIXELS], at[PIXELS];
    [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
        uint q = min(first + i * apart, pixels - 1u);
        y[i] = LINEAR ? 0u : q / p.size_2;
        x[i] = LINEAR ? q : q - y[i] * p.size_2;
        at[i] = base + x[i] * p.in_2; // used if LINEAR
    }
    vec4 sum[PIXELS][GROUPS];
#ifdef EXACT
    ivec4 whole[PIXELS][GROUPS];
    uint pending = 0u;
    [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
        uint place = p.bias + part * p.part_groups + min(og + g, p.part_groups - 1u);
        ivec4 b = ivec4(LOAD_2(place)) * 65536 + ivec4(LOAD_2(place + p.parts * p.part_groups));
        b = member == 0u ? b : ivec4(0);
        [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
            whole[i][g] = b;
        }
    }
#endif
    [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
        vec4 b = vec4(0.0);
#ifndef EXACT
        if (BIASED) {
            b = LOAD_2(p.bias + part * p.part_groups + min(og + g, p.part_groups - 1u));
#ifndef LANES
            b = member == 0u ? b : vec4(0.0);
#endif
        }
#endif
        [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
            sum[i][g] = b;
        }
    }
    for (uint ky = 0u; ky < KERNEL_H; ky++) {
        bool row_inside[PIXELS];
        uint row_at[PIXELS], column[PIXELS];
        if (!LINEAR) {
            [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                uint row = y[i] * p.stride_y + ky * p.dilation_y - p.pad_y; // wraps to a very large number if negative
                if (TRANSPOSED) {
                    uint between = y[i] + p.pad_y - ky * p.dilation_y;
                    row = between / p.stride_y;
                    row = between - row * p.stride_y == 0u ? row : p.in_rows;
                }
                row_inside[i] = row < p.in_rows;
                row_at[i] = base + row * p.in_1;
                column[i] = TRANSPOSED ? x[i] + p.pad_x : x[i] * p.stride_x - p.pad_x;
            }
        }
        for (uint kx = 0u; kx < KERNEL_W; kx++) {
            bool inside[PIXELS];
            if (!LINEAR) {
                [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                    uint c = column[i];
                    if (TRANSPOSED) {
                        c = column[i] / p.stride_x;
                        c = column[i] - c * p.stride_x == 0u ? c : p.in_columns;
                    }
                    inside[i] = !PADDED || (row_inside[i] && c < p.in_columns);
                    at[i] = inside[i] ? row_at[i] + c * p.in_2 : base;
                    column[i] = TRANSPOSED ? column[i] - p.dilation_x : column[i] + p.dilation_x;
                }
            }
#ifdef LANES
            for (uint k = 0u; k < in_groups; k++) {
                vec4 a[PIXELS], held[4u * GROUPS / LANES];
                [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                    a[i] = LOAD_1(at[i]);
                    at[i] += in_group;
                    if (PADDED) {
                        a[i] = inside[i] ? a[i] : vec4(outside);
                    }
                }
                [[unroll]] for (uint i = 0u; i < 4u * GROUPS / LANES; i++) {
                    held[i] = LOAD_2(weights + i * LANES + mine);
                }
                [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
                    [[unroll]] for (uint to = 0u; to < 4u; to++) {
                        float w[4];
                        [[unroll]] for (uint lane = 0u; lane < 4u; lane++) {
                            uint vector = lane * GROUPS + g;
                            w[lane] = subgroupShuffle(held[vector / LANES][to], vector % LANES);
                        }
                        [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                            float s = sum[i][g][to];
                            [[unroll]] for (uint lane = 0u; lane < 4u; lane++) {
                                s += a[i][lane] * w[lane];
                            }
                            sum[i][g][to] = s;
                        }
                    }
                }
                weights += 4u * GROUPS;
            }
#else
            uint w_at = weights + member * 4u * p.w_row;
            for (uint k = member; k < in_groups; k += TEAM) {
                vec4 a[PIXELS];
                [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                    a[i] = LOAD_1(at[i] + k * p.in_group);
                    if (PADDED) {
                        a[i] = inside[i] ? a[i] : vec4(p.outside);
                    }
                }
#ifdef ROWS_PACKED
                [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
                    vec4 w[4];
                    [[unroll]] for (uint lane = 0u; lane < 4u; lane++) {
                        uint row = min((og + g) * 4u + lane, p.w_rows - 1u);
                        w[lane] = LOAD_2(p.w_offset + n * p.w_0 + row * p.w_row + k * p.w_group);
                    }
                    [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                        sum[i][g] += vec4(dot(a[i], w[0]), dot(a[i], w[1]), dot(a[i], w[2]), dot(a[i], w[3]));
                    }
                }
#else
                [[unroll]] for (uint lane = 0u; lane < 4u; lane++) {
                    vec4 w[GROUPS];
                    uint row = w_at + lane * p.w_row;
                    bool there = true;
                    if (GUARDED) {
                        there = k * 4u + lane < p.w_rows;
                        row = there ? row : p.w_offset + n * p.w_0;
                    }
                    [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
                        w[g] = LOAD_2(row + (GUARDED ? min(g, p.part_groups - 1u - og) * (there ? p.w_group : 0u) : g));
                        if (GUARDED) {
                            w[g] = there ? w[g] : vec4(0.0);
                        }
                    }
                    [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
                        [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
                            sum[i][g] += a[i][lane] * w[g];
                        }
                    }
                }
                w_at += 4u * TEAM * p.w_row;
#endif
#ifdef EXACT
                pending++;
                if (pending == 128u) {
                    TAKE_TOGETHER
                    pending = 0u;
                }
#endif
            }
            weights += 4u * p.in_groups * p.w_row;
#endif
        }
    }
#ifdef EXACT
    TAKE_TOGETHER
#endif
#ifdef TEAMS
    if (TEAM > 1u) {
        uint results = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
        uint mine = gl_LocalInvocationID.y * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
        [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
            [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
#ifdef EXACT
                passed[(member * VECTORS + i * GROUPS + g) * results + mine] = BITS(whole[i][g]);
#else
                passed[(member * VECTORS + i * GROUPS + g) * results + mine] = BITS(sum[i][g]);
#endif
            }
        }
        barrier();
        for (uint members = TEAM; members > 8u;) { // a tree for large teams, where one thread would add too long
            members /= 2u;
            for (uint v = member; v < members * VECTORS; v += TEAM) {
                uint to = v * results + mine;
                passed[to] = BITS(NUMBERS(passed[to]) + NUMBERS(passed[to + members * VECTORS * results]));
            }
            barrier();
        }
        for (uint v = member; v < VECTORS; v += TEAM) {
            uint at = v * results + mine, i = v / GROUPS, g = v - i * GROUPS, q = first + i * apart;
            if (q < pixels && og + g < p.part_groups) {
                NUMBER all = NUMBERS(passed[at]);
                for (uint other = 1u; other < min(TEAM, 8u); other++) {
                    all += NUMBERS(passed[at + other * VECTORS * results]);
                }
                uint row = LINEAR ? 0u : q / p.size_2;
                finish(FLOATS(all), n, row, q - row * p.size_2, part * p.part_groups + og + g);
            }
        }
        return;
    }
#endif
    [[unroll]] for (uint i = 0u; i < PIXELS; i++) {
        if (first + i * apart < pixels) {
            [[unroll]] for (uint g = 0u; g < GROUPS; g++) {
                if (og + g < p.part_groups) {
#ifdef EXACT
                    sum[i][g] = FLOATS(whole[i][g]);
#endif
                    finish(sum[i][g], n, y[i], x[i], part * p.part_groups + og + g);
                }
            }
        }
    }
}
