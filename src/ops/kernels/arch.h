// SPDX-License-Identifier: BSD-2-Clause
// Macros that every kernel file needs: the instruction sets, and templates by inline functions.
#ifndef TAPER_KERNELS_ARCH_H
#define TAPER_KERNELS_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/choose.h"
#include "ops/kernels/strips.h"
#include "ops/list/op_config.h"
#include "platform/isa.h"

// A kernel's body is one TAPER_TEMPLATE with the tile sizes as arguments. The function of each tile (TAPER_INSTANCE)
// calls it with constants. Loops over the tile are marked TAPER_UNROLL, so that the accumulators become registers. A
// kernel of last resort (TAPER_LAST_RESORT_KERNEL: a scalar kernel in a build that requires a better instruction set)
// remains a function with loops.
#ifdef TAPER_LAST_RESORT_KERNEL
#define TAPER_TEMPLATE static inline
#else
#define TAPER_TEMPLATE static inline __attribute__((always_inline))
#endif
// The function of one tile. It is not inlined, because clang would merge two tiles into one function with variable
// sizes.
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

// Returns the address `bytes` after p. Pointers to rows move by numbers of bytes that need not be whole rows.
TAPER_TEMPLATE const float *taper_f32_at(const float *p, size_t bytes)
{
    return (const float *)(const void *)((const char *)p + bytes);
}

#endif
