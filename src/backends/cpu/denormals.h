// SPDX-License-Identifier: BSD-2-Clause
// Denormal numbers make x86 take hundreds of cycles for one instruction; attention with a mask is full of them (softmax
// of very negative numbers). Sums of products with numbers of normal size do not tell them from zero, so products of
// matrices run with both of the processor's switches on: denormal operands and results count as zero.
#ifndef TAPER_BACKENDS_CPU_DENORMALS_H
#define TAPER_BACKENDS_CPU_DENORMALS_H

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

// Returns what taper_denormals_on wants back; for this thread.
static inline unsigned taper_denormals_off(void)
{
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u);
    return before;
#else
    return 0;
#endif
}

static inline void taper_denormals_on(unsigned before)
{
#if defined(__SSE2__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

#endif
