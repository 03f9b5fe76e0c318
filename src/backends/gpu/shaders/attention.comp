// SPDX-License-Identifier: BSD-2-Clause
// Attention in one pass over keys and values: softmax(q k^T scale) v. Whenever a larger score is found, the sums so far
// are rescaled. A thread computes ROWS queries of one head, KEYS keys at a time, and needs no memory besides the
// result. The threads of a team (common.glsl) share the keys, and finally rescale their sums to the largest score of
// all.
#version 450
#extension GL_EXT_control_flow_attributes : require
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define PLAIN_STEPS
#define KERNEL_PARAMETERS                                                                                              \
    uint q_offset, q_0, q_1, q_2, q_group;                                                                             \
    uint k_offset, k_0, k_1, k_2, k_group;                                                                             \
    uint v_offset, v_0, v_1, v_2, v_group;                                                                             \
    uint keys;                                                                                                         \
    float scale;                                                                                                       \
    uint m_offset, m_0, m_1, m_2, m_group;
#include "common.glsl"
#ifdef MASKED // values are in the same binding as keys
#define LOAD_VALUE(i) LOAD_2(i)
#else
#define LOAD_VALUE(i) LOAD_3(i)
#endif
layout(constant_id = 11) const uint DEPTH = 16u; // number of vectors of a head
layout(constant_id = 12) const uint CAUSAL_SET = 0u;
const bool CAUSAL = CAUSAL_SET != 0u;
// Flags for the use of the mask. 1: it is added to the scores; 2: it is true for keys that count. 4: a query without
// keys gives zeros.
layout(constant_id = 13) const uint MASK = 0u;

#define MOST_DEPTH 16u
#define KEYS 4u
#define AT_ONCE 4u
shared vec4 passed[TEAM_THREADS * AT_ONCE];

void main()
{
    uvec3 thread = this_thread();
    uint first = thread.x * ROWS, head = thread.y, n = thread.z;
    bool outer = first >= p.size_2 || head >= p.size_1;
    if (TEAM == 1u && outer) {
        return;
    }
    head = min(head, p.size_1 - 1u);
    uint member = gl_LocalInvocationID.z;
    uint q_at = p.q_offset + n * p.q_0 + head * p.q_1;
    uint k_at = p.k_offset + n * p.k_0 + head * p.k_1;
    uint v_at = p.v_offset + n * p.v_0 + head * p.v_1;
    vec4 q[ROWS][MOST_DEPTH], sum[ROWS][MOST_DEPTH];
    float most[ROWS], all[ROWS];
    [[unroll]] for (uint i = 0u; i < ROWS; i++) {
        uint row = min(first + i, p.size_2 - 1u);
        most[i] = uintBitsToFloat(0xff800000u);
        all[i] = 0.0;
        [[unroll]] for (uint g = 0u; g < MOST_DEPTH; g++) {
            sum[i][g] = vec4(0.0);
            q[i][g] = vec4(0.0);
            if (g < DEPTH) {
                q[i][g] = LOAD_1(q_at + row * p.q_2 + g * p.q_group) * p.scale;
            }
        }
    }
    uint keys = CAUSAL ? min(p.keys, first + ROWS) : p.keys; // keys after the last query count for no row
    keys = outer ? 0u : keys;
    for (uint key = member * KEYS; key < keys; key += KEYS * TEAM) {
        float score[ROWS][KEYS];
        [[unroll]] for (uint j = 0u; j < KEYS; j++) {
            uint at = k_at + min(key + j, p.keys - 1u) * p.k_2;
            [[unroll]] for (uint i = 0u; i < ROWS; i++) {
                score[i][j] = 0.0;
            }
            [[unroll]] for (uint g = 0u; g < MOST_DEPTH; g++) {
                if (g < DEPTH) {
                    vec4 k = LOAD_2(at + g * p.k_group);
                    [[unroll]] for (uint i = 0u; i < ROWS; i++) {
                        score[i][j] += dot(q[i][g], k);
                    }
                }
            }
            [[unroll]] for (uint i = 0u; i < ROWS; i++) {
#ifdef MASKED
                uint row = min(first + i, p.size_2 - 1u);
                float m = LOAD_3(p.m_offset + n * p.m_0 + head * p.m_1 + row * p.m_2 + (key / KEYS) * p.m_group)[j];
                score[i][j] = (MASK & 1u) != 0u ? score[i][j] + m : m != 0.0 ? score[i][j] : uintBitsToFloat(0xff800000u);
#endif
                if (key + j >= p.keys || (CAUSAL && key + j > first + i)) {
                    score[i][j] = uintBitsToFloat(0xff800000u);
                }
            }
        }
        [[unroll]] for (uint i = 0u; i < ROWS; i++) {
            float larger = max(max(score[i][0], score[i][1]), max(score[i][2], score[i][3]));
            larger = max(larger, most[i]);
            float scale = most[i] == larger ? 1.0 : exp(most[i] - larger);
            most[i] = larger;
            larger = larger == uintBitsToFloat(0xff800000u) ? 0.0 : larger; // no key counts so far
            all[i] *= scale;
            [[unroll]] for (uint j = 0u; j < KEYS; j++) {
                score[i][j] = exp(score[i][j] - larger);
                all[i] += score[i][j];
            }
            [[unroll]] for (uint g = 0u; g < MOST_DEPTH; g++) {
                if (g < DEPTH) {
                    sum[i][g] *= scale;
                }
            }
        }
        [[unroll]] for (uint j = 0u; j < KEYS; j++) {
            uint at = v_at + min(key + j, p.keys - 1u) * p.v_2;
            [[unroll]] for (uint g = 0u; g < MOST_DEPTH; g++) {
                if (g < DEPTH) {
                    vec4 v = LOAD_VALUE(at + g * p.v_group);
                    [[unroll]] for (uint i = 0u; i < ROWS; i++) {
                        sum[i][g] += score[i][j] * v;
                    }
                }
            }
        }
    }
    if (TEAM > 1u) {
        uint results = gl_WorkGroupSize.x * gl_WorkGroupSize.y, me = gl_LocalInvocationIndex, mine = me % results;
        [[unroll]] for (uint i = 0u; i < ROWS; i++) {
            passed[me] = vec4(most[i], all[i], 0.0, 0.0);
            barrier();
            float top = most[i], total = 0.0;
            for (uint other = 0u; other < TEAM; other++) {
                vec4 part = passed[other * results + mine];
                top = max(top, part.x);
            }
            bool none = top == uintBitsToFloat(0xff800000u); // no key counts
            for (uint other = 0u; other < TEAM; other++) {
                vec4 part = passed[other * results + mine];
                total += none ? part.y : part.y * exp(part.x - top);
            }
            float scale = none ? 1.0 : exp(most[i] - top);
            barrier();
            [[unroll]] for (uint g = 0u; g < MOST_DEPTH; g += AT_ONCE) {
                if (g < DEPTH) {
                    [[unroll]] for (uint j = 0u; j < AT_ONCE; j++) {
                        passed[j * TEAM_THREADS + me] = sum[i][g + j] * scale;
                    }
                    barrier();
                    for (uint j = member; j < AT_ONCE; j += TEAM) {
                        if (g + j < DEPTH && !outer && first + i < p.size_2) {
                            vec4 mean = vec4(0.0);
                            for (uint other = 0u; other < TEAM; other++) {
                                mean += passed[j * TEAM_THREADS + other * results + mine];
                            }
                            mean /= total;
                            finish((MASK & 4u) != 0u && total == 0.0 ? vec4(0.0) : mean, n, head, first + i, g + j);
                        }
                    }
                    barrier();
                }
            }
        }
        return;
    }
    [[unroll]] for (uint i = 0u; i < ROWS; i++) {
        if (first + i < p.size_2) {
            [[unroll]] for (uint g = 0u; g < MOST_DEPTH; g++) {
                if (g < DEPTH) {
                    vec4 mean = sum[i][g] / all[i];
                    finish((MASK & 4u) != 0u && all[i] == 0.0 ? vec4(0.0) : mean, n, head, first + i, g);
                }
            }
        }
    }
}
