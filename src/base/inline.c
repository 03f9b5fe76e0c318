// SPDX-License-Identifier: BSD-2-Clause
// The external definition of each inline function whose header has no source file. A compiler uses it for calls that it
// does not inline.
#include "base/atomic.h"
#include "base/half.h"
#include "base/reader.h"

// Definitions of the inline functions of base/atomic.h.
extern void taper_refs_add(taper_refs *refs);
extern bool taper_refs_drop(taper_refs *refs);

// Definitions of the inline functions of base/half.h.
extern float taper_bits_to_float(uint32_t bits);
extern uint32_t taper_float_to_bits(float f);
extern uint16_t taper_float_to_bf16(float f);
extern float taper_f16_to_float(uint16_t h);
extern uint16_t taper_float_to_f16(float f);

// Definitions of the inline functions of base/reader.h.
extern uint32_t taper_load_u32(const uint8_t *p);
