// SPDX-License-Identifier: BSD-2-Clause
// The instruction sets of isa_list.inc as bits. A mask of these bits contains the sets that this CPU has, that a kernel
// needs, or that are allowed.
#ifndef TAPER_PLATFORM_ISA_H
#define TAPER_PLATFORM_ISA_H

#include "base/choose.h"
#include "base/status.h"

#define TAPER_ARCH_any 1
#if defined(__x86_64__) || defined(__i386__)
#define TAPER_ARCH_x86 1
#ifdef __x86_64__
#define TAPER_ARCH_x64 1 // defined in addition to TAPER_ARCH_x86
#endif
#elif defined(__aarch64__)
#define TAPER_ARCH_arm 1
#elif defined(__arm__)
#define TAPER_ARCH_arm32 1
#elif defined(__wasm__)
#define TAPER_ARCH_wasm 1
#endif

// TAPER_ISA_<key> is the bit of the set, or 0 for scalar, which every CPU has. TAPER_WITH_<key> also contains the bits
// of the sets that this set requires.
enum {
#define ISA(key, architecture, bit, needs, probe, flags, hints)                                                        \
    TAPER_ISA_##key = (bit), TAPER_WITH_##key = (bit) | (needs),
#include "platform/isa_list.inc"
#undef ISA
};

// Expands to its other arguments if kernels of this set are built (CMake defines TAPER_BUILT_<key>).
#define TAPER_IF_ISA(key, ...) TAPER_IF(TAPER_BUILT_##key, __VA_ARGS__)

// Returns the bits of the sets that this CPU has and for which this build has kernels.
uint64_t taper_cpu_features(void);

#endif
