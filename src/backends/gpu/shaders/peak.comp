// SPDX-License-Identifier: BSD-2-Clause
// Measures the peak of a device, for profiles (gpu_peak.c). MODE 0: each thread does ROUNDS times 12 multiplications
// and additions that do not depend on memory. MODE 1: each thread reads and writes four vectors.
#version 450
#define OPERAND_E(i) vec4(0.0)
#define OPERAND_F(i) vec4(0.0)
#define KERNEL_PARAMETERS uint count, threads;
#include "common.glsl"
layout(constant_id = 11) const uint MODE = 0u;
const uint ROUNDS = 256u;

void main()
{
    uint at = gl_GlobalInvocationID.x;
    if (MODE == 1u) {
        for (uint i = 0u; i < 4u; i++) {
            uint place = at + i * p.threads;
            if (place < p.count) {
                store(place, LOAD_1(place));
            }
        }
        return;
    }
    vec4 a = vec4(float(at)), b = a + 1.0, c = a + 2.0; // more vectors would exceed the registers of a processor
    float x = p.low[0].x, y = p.high[0].x;
    for (uint i = 0u; i < ROUNDS; i++) {
        a = a * x + y;
        b = b * x + y;
        c = c * x + y;
    }
    if (at < p.count) {
        store(at, a + b + c);
    }
}
