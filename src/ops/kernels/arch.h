// SPDX-License-Identifier: BSD-2-Clause
// What every kernel file starts with: the instruction sets, and the words that make a template out of an inline
// function.
#ifndef TAPER_KERNELS_ARCH_H
#define TAPER_KERNELS_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/choose.h"
#include "ops/kernels/strips.h"
#include "ops/list/op_config.h"
#include "platform/isa.h"

// A kernel's body is written once as a TAPER_TEMPLATE whose tile sizes are arguments; every tile is a call of it with
// constants. Loops over the tile are marked TAPER_UNROLL, after which the accumulators are registers.
// A kernel of the last resort (TAPER_LAST_RESORT_KERNEL: the scalar ones where another level is wanted) stays a
// function with loops.
#ifdef TAPER_LAST_RESORT_KERNEL
#define TAPER_TEMPLATE static inline
#else
#define TAPER_TEMPLATE static inline __attribute__((always_inline))
#endif
// One tile's function: inlined, clang would merge two tiles into one with variable sizes.
#define TAPER_INSTANCE static __attribute__((noinline))
#ifdef TAPER_LAST_RESORT_KERNEL
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
