// SPDX-License-Identifier: BSD-2-Clause
// What every kernel file starts with: the architecture, the levels that are built, and the words that make a template
// out of an inline function.
#ifndef TAPER_KERNELS_ARCH_H
#define TAPER_KERNELS_ARCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#define TAPER_ARCH_X86 1
#else
#define TAPER_ARCH_X86 0
#endif

#if defined(__aarch64__)
#define TAPER_ARCH_ARM64 1
#else
#define TAPER_ARCH_ARM64 0
#endif

// The instruction-set levels whose kernels are built: the architecture's, without those that the CMake option
// TAPER_CPU_LEVELS leaves out. The lists and the kernels' files ask these, nothing else does.
#ifdef TAPER_WITHOUT_AVX2
#define TAPER_LEVEL_AVX2 0
#else
#define TAPER_LEVEL_AVX2 TAPER_ARCH_X86
#endif

#ifdef TAPER_WITHOUT_AVX512
#define TAPER_LEVEL_AVX512 0
#else
#define TAPER_LEVEL_AVX512 TAPER_ARCH_X86
#endif

// Integers with AVX-512 but without VNNI, on a few servers only: builds for size use AVX2 there.
#ifdef TAPER_WITHOUT_AVX512_I8
#define TAPER_LEVEL_AVX512_I8 0
#else
#define TAPER_LEVEL_AVX512_I8 TAPER_LEVEL_AVX512
#endif

#ifdef TAPER_WITHOUT_NEON
#define TAPER_LEVEL_NEON 0
#else
#define TAPER_LEVEL_NEON TAPER_ARCH_ARM64
#endif

// Without the scalar level the last entry of each list is still there, for a machine that has none of the other levels,
// but it is built for size.
#ifdef TAPER_WITHOUT_SCALAR
#define TAPER_LEVEL_SCALAR 0
#else
#define TAPER_LEVEL_SCALAR 1
#endif

// A kernel's body is written once as a TAPER_TEMPLATE whose tile sizes are arguments; every tile is a call of it with
// constants. Loops over the tile are marked TAPER_UNROLL, after which the accumulators are registers.
// A small kernel (TAPER_SMALL_KERNEL: the scalar ones where another level is wanted) stays a function with loops.
#ifdef TAPER_SMALL_KERNEL
#define TAPER_TEMPLATE static inline
#else
#define TAPER_TEMPLATE static inline __attribute__((always_inline))
#endif
// One tile's function: inlined, clang would merge two tiles into one with variable sizes.
#define TAPER_INSTANCE static __attribute__((noinline))
#ifdef TAPER_SMALL_KERNEL
#define TAPER_UNROLL
#define TAPER_NO_UNROLL
#elif defined(__clang__)
#define TAPER_UNROLL _Pragma("clang loop unroll(full)")
#define TAPER_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define TAPER_UNROLL _Pragma("GCC unroll 64")
#define TAPER_NO_UNROLL _Pragma("GCC unroll 1")
#endif

// An address `bytes` behind p: row pointers move by byte offsets that are not always whole rows.
TAPER_TEMPLATE const float *taper_f32_at(const float *p, size_t bytes)
{
    return (const float *)(const void *)((const char *)p + bytes);
}

#endif
