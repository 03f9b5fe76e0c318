// SPDX-License-Identifier: BSD-2-Clause
// Elements in another order. The result's elements are counted in six dimensions; those of the source stand by strides,
// in elements, and of a packed source dimension by vectors and lanes. With RESHAPED the source has other dimensions:
// the element is found by its number, the sum of coordinates times `count`; else `count` is
// taken off the coordinates first. Results are vectors of four elements of dimension 5, or, with OUT_SCALARS, numbers
// one behind the other; sources are vectors, or with IN_SCALARS numbers. Elements outside of the source are `fill`
// where FILLED.
#version 450
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define KERNEL_PARAMETERS                                                                                              \
    uint size_3, size_4, size_5;                                                                                       \
    uint from_offset, from_0, from_1, from_2, from_3, from_4, from_5;                                                  \
    uint there_0, there_1, there_2, there_3, there_4, there_5;                                                         \
    uint count_0, count_1, count_2, count_3, count_4, count_5;                                                         \
    uint out_3, out_4; float fill;
#include "common.glsl"
layout(constant_id = 11) const bool RESHAPED = false;
layout(constant_id = 12) const uint PACKED = 6u; // the packed dimension of the source; 6: it is numbers
layout(constant_id = 13) const bool FILLED = false;

float element(uint c[6])
{
    uint s[6];
    uint from[6] = uint[6](p.from_0, p.from_1, p.from_2, p.from_3, p.from_4, p.from_5);
    uint there[6] = uint[6](p.there_0, p.there_1, p.there_2, p.there_3, p.there_4, p.there_5);
    uint count[6] = uint[6](p.count_0, p.count_1, p.count_2, p.count_3, p.count_4, p.count_5);
    if (RESHAPED) {
        uint number = 0u;
        for (uint d = 0u; d < 6u; d++) {
            number += c[d] * count[d];
        }
        for (uint d = 6u; d-- > 0u;) {
            uint rest = number / there[d];
            s[d] = number - rest * there[d];
            number = rest;
        }
    } else {
        bool inside = true;
        for (uint d = 0u; d < 6u; d++) {
            s[d] = c[d] - count[d];
            inside = inside && s[d] < there[d];
        }
        if (FILLED && !inside) {
            return p.fill;
        }
    }
    uint at = p.from_offset, lane = 0u;
    for (uint d = 0u; d < 6u; d++) {
        if (d == PACKED) {
            at += (s[d] >> 2) * from[d];
            lane = s[d] & 3u;
        } else {
            at += s[d] * from[d];
        }
    }
#ifdef IN_SCALARS
    return in_1[at];
#else
    vec4 v = LOAD_1(at);
    return lane == 0u ? v.x : lane == 1u ? v.y : lane == 2u ? v.z : v.w;
#endif
}

void main()
{
    uint last = gl_GlobalInvocationID.x, inner = gl_GlobalInvocationID.y, outer = gl_GlobalInvocationID.z;
    uint c[6];
    c[4] = inner % p.size_4;
    c[3] = inner / p.size_4;
    c[2] = outer % p.size_2;
    c[1] = (outer / p.size_2) % p.size_1;
    c[0] = outer / (p.size_2 * p.size_1);
#ifdef OUT_SCALARS
    c[5] = last;
    if (last < p.size_5 && c[3] < p.size_3) {
        out_data[p.out_offset + c[0] * p.out_0 + c[1] * p.out_1 + c[2] * p.out_2 + c[3] * p.out_3 + c[4] * p.out_4 + last] =
            element(c);
    }
#else
    if (last * 4u < p.size_5 && c[3] < p.size_3) {
        vec4 v = vec4(0.0);
        for (uint i = 0u; i < 4u; i++) {
            c[5] = last * 4u + i;
            if (c[5] < p.size_5) {
                v[i] = element(c);
            }
        }
        out_data[p.out_offset + c[0] * p.out_0 + c[1] * p.out_1 + c[2] * p.out_2 + c[3] * p.out_3 + c[4] * p.out_4 +
                 last * p.out_group] = v;
    }
#endif
}
