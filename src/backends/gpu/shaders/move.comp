// SPDX-License-Identifier: BSD-2-Clause
// Copies elements into another order. The result's elements are counted in six dimensions. The source has strides for
// these dimensions, in elements; its packed dimension is addressed by vectors and lanes.
//
// With RESHAPED, the source has other dimensions: an element is found by its number, the sum of coordinates times
// `count`. Otherwise `count` is subtracted from the coordinates first. Results are vectors of four elements of
// dimension 5, or with OUT_SCALARS consecutive numbers. Sources are vectors, or with IN_SCALARS numbers. EDGE selects
// the values of elements outside the source.
#version 450
#extension GL_EXT_control_flow_attributes : require
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define KERNEL_PARAMETERS                                                                                              \
    uint size_3, size_4, size_5;                                                                                       \
    uint from_offset, from_0, from_1, from_2, from_3, from_4, from_5;                                                  \
    uint there_0, there_1, there_2, there_3, there_4, there_5;                                                         \
    uint count_0, count_1, count_2, count_3, count_4, count_5;                                                         \
    uint out_3, out_4; float fill;
#include "common.glsl"
layout(constant_id = 11) const uint RESHAPED_SET = 0u;
const bool RESHAPED = RESHAPED_SET != 0u;
layout(constant_id = 12) const uint PACKED = 6u; // packed dimension of the source, or 6 for plain numbers
// Elements outside the source: 0 there are none; 1 `fill`; 2 mirrored at the outermost element; 3 the outermost
// element; 4 circular, once before the start and any number of times after the end.
layout(constant_id = 13) const uint EDGE = 0u;
const bool FILLED = EDGE == 1u;

float load(uint at, uint lane)
{
#ifdef IN_SCALARS
    return in_1[at];
#else
    vec4 v = LOAD_1(at);
    return lane == 0u ? v.x : lane == 1u ? v.y : lane == 2u ? v.z : v.w;
#endif
}

uint edge(uint s, uint there)
{
    int i = int(s), end = int(there);
    if (EDGE == 2u) {
        i = abs(i);
        i = i >= end ? 2 * end - 2 - i : i;
    } else if (EDGE == 4u) {
        i = i < 0 ? i + end : i >= end ? i % end : i;
    }
    return uint(clamp(i, 0, end - 1));
}

float reshaped(uint c0, uint c1, uint c2, uint c3, uint c4, uint c5)
{
    uint from[6] = uint[6](p.from_0, p.from_1, p.from_2, p.from_3, p.from_4, p.from_5);
    uint there[6] = uint[6](p.there_0, p.there_1, p.there_2, p.there_3, p.there_4, p.there_5);
    uint number =
        c0 * p.count_0 + c1 * p.count_1 + c2 * p.count_2 + c3 * p.count_3 + c4 * p.count_4 + c5 * p.count_5;
    uint at = p.from_offset, lane = 0u;
    [[unroll]] for (uint i = 0u; i < 6u; i++) {
        uint d = 5u - i;
        uint rest = there[d] == 1u ? number : number / there[d];
        uint s = number - rest * there[d];
        number = rest;
        lane = d == PACKED ? s & 3u : lane;
        at += (d == PACKED ? s >> 2 : s) * from[d];
    }
    return load(at, lane);
}

// Adds the part of dimension d, with coordinate c, to the source's index.
#define PLACE(d, c, step)                                                                                              \
    if (PACKED == d) {                                                                                                 \
        at += (c >> 2) * step;                                                                                         \
        lane = c & 3u;                                                                                                 \
    } else {                                                                                                           \
        at += c * step;                                                                                                \
    }

void main()
{
    uvec3 thread = this_thread();
    uint last = thread.x, inner = thread.y, outer = thread.z;
    uint c3 = inner / p.size_4, c4 = inner - c3 * p.size_4;
    uint outer_1 = outer / p.size_2, c2 = outer - outer_1 * p.size_2;
    uint c0 = outer_1 / p.size_1, c1 = outer_1 - c0 * p.size_1;
    // The first five dimensions give the same part of the index for all elements of this thread; the sixth dimension
    // gives different parts.
    uint at = p.from_offset, lane = 0u;
    uint s0 = c0 - p.count_0, s1 = c1 - p.count_1, s2 = c2 - p.count_2, s3 = c3 - p.count_3, s4 = c4 - p.count_4;
    if (EDGE >= 2u) {
        s0 = edge(s0, p.there_0);
        s1 = edge(s1, p.there_1);
        s2 = edge(s2, p.there_2);
        s3 = edge(s3, p.there_3);
        s4 = edge(s4, p.there_4);
    }
    PLACE(0u, s0, p.from_0)
    PLACE(1u, s1, p.from_1)
    PLACE(2u, s2, p.from_2)
    PLACE(3u, s3, p.from_3)
    PLACE(4u, s4, p.from_4)
    bool inside = !FILLED || (s0 < p.there_0 && s1 < p.there_1 && s2 < p.there_2 && s3 < p.there_3 && s4 < p.there_4);
    uint to = p.out_offset + c0 * p.out_0 + c1 * p.out_1 + c2 * p.out_2 + c3 * p.out_3 + c4 * p.out_4;
#ifdef OUT_SCALARS
    const uint elements = 1u;
#else
    const uint elements = 4u;
#endif
    if (last * elements >= p.size_5 || c3 >= p.size_3) {
        return;
    }
    vec4 v = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < elements; i++) {
        uint c5 = last * elements + i;
        if (RESHAPED) {
            v[i] = c5 < p.size_5 ? reshaped(c0, c1, c2, c3, c4, c5) : 0.0;
        } else {
            uint s5 = c5 - p.count_5;
            if (EDGE >= 2u) {
                s5 = edge(s5, p.there_5);
            }
            bool there = c5 < p.size_5 && inside && (!FILLED || s5 < p.there_5);
            uint place = there ? at + (PACKED == 5u ? s5 >> 2 : s5) * p.from_5 : p.from_offset;
            float x = load(place, PACKED == 5u ? s5 & 3u : lane);
            v[i] = there ? x : c5 < p.size_5 ? p.fill : 0.0;
        }
    }
#ifdef OUT_SCALARS
    out_data[to + last] = v.x;
#else
    store(to + last * p.out_group, v);
#endif
}
