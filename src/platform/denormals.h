// SPDX-License-Identifier: BSD-2-Clause
// Switches of the processor that make it treat denormal numbers as zero, in operands and in results. Without them an
// x86 needs hundreds of cycles for an instruction with a denormal number. The channels of a network that are always
// nearly zero consist of such numbers, and so does attention with a mask. Matrix products run with the switches on
// (TAPER_OP_PRODUCT): ops/call/call_kernel.c, ops/call/parallel.c and runtime/recording.c turn them on.
#ifndef TAPER_PLATFORM_DENORMALS_H
#define TAPER_PLATFORM_DENORMALS_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

// 1 if the processor has the switches. WebAssembly and RISC-V have none: products keep denormal numbers there.
#if defined(__SSE2__) || defined(__aarch64__) || (defined(__arm__) && defined(__ARM_FP))
#define TAPER_SWITCHES_DENORMALS 1
#else
#define TAPER_SWITCHES_DENORMALS 0
#endif

// Turns the switches on for this thread. Returns the state for taper_denormals_restore.
static inline uint64_t taper_denormals_off(void)
{
#if defined(__SSE2__)
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40 };
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return before;
#elif defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | UINT64_C(1) << 24));
    return before;
#elif defined(__arm__) && defined(__ARM_FP)
    uint32_t before;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(before));
    __asm__ volatile("vmsr fpscr, %0" : : "r"(before | UINT32_C(1) << 24));
    return before;
#else
    return 0;
#endif
}

static inline void taper_denormals_restore(uint64_t before)
{
#if defined(__SSE2__)
    _mm_setcsr((unsigned)before);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
#elif defined(__arm__) && defined(__ARM_FP)
    __asm__ volatile("vmsr fpscr, %0" : : "r"((uint32_t)before));
#else
    (void)before;
#endif
}

#endif
