// SPDX-License-Identifier: BSD-2-Clause
// What every kernel file starts with: the instruction sets, and the words that make a template out of an inline
// function.
#ifndef TAPER_KERNELS_ARCH_H
#define TAPER_KERNELS_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/choose.h"
#include "ops/list/op_config.h"
#include "platform/isa.h"

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

// The tiles of a gemm have 1, 2, 3 ... rows, each number its own code. In builds for size they have 1, 2, 4, 6 ...:
// where the last row is missing it is another copy of the one before it. Of a tile of mr rows, of which `real` exist:
// TAPER_ROW is the row that row i stands for, TAPER_ROW_STEP what is between its results and those of the next one.
// TAPER_STRIP is the place of a tile's code in a table.
#if TAPER_SMALL
#define TAPER_ROW(i, mr, real) ((mr) > 2 && (i) + 1 == (mr) && (real) < (mr) ? (i)-1 : (i))
#define TAPER_ROW_STEP(i, mr, real, step) ((mr) > 2 && (i) + 2 == (mr) && (real) < (mr) ? 0 : (step))
#define TAPER_STRIP(mr) ((mr) == 1 ? 0 : ((mr) + 1) / 2)
#define TAPER_ODD_MR(x)
#else
#define TAPER_ROW(i, mr, real) (i)
#define TAPER_ROW_STEP(i, mr, real, step) (step)
#define TAPER_STRIP(mr) ((mr)-1)
#define TAPER_ODD_MR(x) x
#endif

// An address `bytes` behind p: row pointers move by byte offsets that are not always whole rows.
TAPER_TEMPLATE const float *taper_f32_at(const float *p, size_t bytes)
{
    return (const float *)(const void *)((const char *)p + bytes);
}

#endif
