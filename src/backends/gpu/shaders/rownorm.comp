// SPDX-License-Identifier: BSD-2-Clause
// Softmax, log-softmax, layer norm and cumulative sums of rows. MODE 0: softmax; 1: log-softmax; 2: layer norm (steps
// apply weight and bias); 3: cumulative sums.
//
// With LANES, a row is the packed dimension, and its vectors are computed one after the other. Otherwise a row is along
// a strided dimension, and four rows are computed together. A team (common.glsl) shares a row, except for cumulative
// sums.
#version 450
#define OPERAND_E(i) LOAD_2(i)
#define KERNEL_PARAMETERS uint in_offset, in_0, in_1, in_2, in_group, count, in_step, out_step; float eps;
#include "common.glsl"
layout(constant_id = 11) const uint MODE = 0u;
layout(constant_id = 12) const uint LANES_SET = 1u;
const bool LANES = LANES_SET != 0u;

vec4 masked(vec4 v, uint g, float with)
{
    bool last = LANES && g + 1u == p.groups;
    return last ? mix(vec4(with), v, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(p.tail))) : v;
}

shared vec4 passed[TEAM_THREADS];

vec4 larger(vec4 a, vec4 b) // NaN counts as the largest
{
    return mix(mix(a, b, greaterThan(b, a)), b, notEqual(b, b));
}

vec4 of_team(vec4 v, bool largest) // sum or maximum over the threads of a team
{
    if (TEAM == 1u) {
        return v;
    }
    uint results = gl_WorkGroupSize.x * gl_WorkGroupSize.y, me = gl_LocalInvocationIndex;
    passed[me] = v;
    barrier();
    for (uint members = TEAM / 2u; members != 0u; members /= 2u) {
        if (gl_LocalInvocationID.z < members) {
            vec4 other = passed[me + members * results];
            passed[me] = largest ? larger(passed[me], other) : passed[me] + other;
        }
        barrier();
    }
    v = passed[me % results];
    barrier();
    return v;
}

vec4 across(vec4 v) // sum of all lanes, if they are one row
{
    return LANES ? vec4(v.x + v.y + v.z + v.w) : v;
}

void main()
{
    uvec3 thread = this_thread();
    uint x = thread.x, y = thread.y;
    uint n = LANES ? thread.z : thread.z / p.groups;
    uint group = LANES ? 0u : thread.z - n * p.groups;
    bool outer = x >= p.size_2 || y >= p.size_1;
    if (TEAM == 1u && outer) {
        return;
    }
    uint member = gl_LocalInvocationID.z;
    uint base = p.in_offset + n * p.in_0 + y * p.in_1 + x * p.in_2 + group * p.in_group;
    uint length = LANES ? p.groups : p.count, step_in = LANES ? p.in_group : p.in_step;
    length = outer ? 0u : length;
    float elements = float(p.count);
    if (MODE == 2u) {
        vec4 sum = vec4(0.0), squares = vec4(0.0);
        for (uint i = member; i < length; i += TEAM) {
            sum += LOAD_1(base + i * step_in); // lanes after the last element are zero
        }
        vec4 mean = across(of_team(sum, false)) / elements;
        for (uint i = member; i < length; i += TEAM) {
            vec4 d = masked(LOAD_1(base + i * step_in) - mean, i, 0.0);
            squares += d * d;
        }
        vec4 scale = inversesqrt(across(of_team(squares, false)) / elements + p.eps);
        for (uint i = member; i < length; i += TEAM) {
            vec4 v = (LOAD_1(base + i * step_in) - mean) * scale;
            if (LANES) {
                finish(v, n, y, x, i);
            } else {
                out_shift = i * p.out_step;
                finish(v, n, y, x, group);
            }
        }
        return;
    }
    if (MODE == 3u) {
        vec4 sum = vec4(0.0);
        for (uint i = 0u; i < length; i++) {
            vec4 v = LOAD_1(base + i * step_in);
            if (LANES) {
                v.y += v.x;
                v.z += v.y;
                v.w += v.z;
                v += sum;
                sum = vec4(v.w);
                finish(v, n, y, x, i);
            } else {
                sum += v;
                out_shift = i * p.out_step;
                finish(sum, n, y, x, group);
            }
        }
        return;
    }
    float lowest = uintBitsToFloat(0xff800000u);
    vec4 most = vec4(lowest), sum = vec4(0.0);
    for (uint i = member; i < length; i += TEAM) {
        vec4 v = masked(LOAD_1(base + i * step_in), i, lowest);
        most = larger(most, v);
    }
    most = of_team(most, true);
    if (LANES) {
        float m = max(max(most.x, most.y), max(most.z, most.w));
        most = vec4(m);
    }
    for (uint i = member; i < length; i += TEAM) {
        sum += exp(masked(LOAD_1(base + i * step_in), i, lowest) - most);
    }
    sum = across(of_team(sum, false));
    vec4 scale = MODE == 0u ? 1.0 / sum : log(sum);
    for (uint i = member; i < length; i += TEAM) {
        vec4 v = LOAD_1(base + i * step_in) - most;
        v = MODE == 0u ? exp(v) * scale : v - scale;
        if (LANES) {
            finish(v, n, y, x, i);
        } else {
            out_shift = i * p.out_step;
            finish(v, n, y, x, group);
        }
    }
}
