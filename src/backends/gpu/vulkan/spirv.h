// SPDX-License-Identifier: BSD-2-Clause
// A shader's specialization constants become plain ones before the driver sees it, and what they rule out goes.
// SwiftShader keeps every path that one of them could take, and runs them all; others leave out what is never taken,
// but have more tests for plain constants.
#ifndef TAPER_BACKENDS_SPIRV_H
#define TAPER_BACKENDS_SPIRV_H

#include "taper/taper.h"

#include "base/memory.h"
#include "base/status.h"

// Words of SPIR-V, with value number i for the constant of SpecId i; one that has none keeps its own. What is made are
// *made_words words at `made`, never more than there were. Constants are of 32 bits or truth values; what is computed
// of them is what glslang makes of GLSL's operators on uint and bool. TAPER_ERROR_RESOURCE: no memory. TAPER_DECLINED:
// there is more to it, the driver should do it.
taper_status taper_spirv_fold(const taper_allocator *allocator, const uint32_t *code, size_t words,
                              const uint32_t *values, uint32_t count, uint32_t *made, size_t *made_words);

// Of words of SPIR-V without specialization constants: branches on constants become plain ones, and blocks and
// functions that nothing reaches any more are left out: many a shader is for all modes and steps, of which a layer has
// one and two, and drivers inline them all before they look (lavapipe takes 280 ms for a layer norm, then 20). made has
// room for `words`. What comes back is as above; TAPER_DECLINED, too, where the module is damaged.
taper_status taper_spirv_cut(const taper_allocator *allocator, const uint32_t *code, size_t words, uint32_t *made,
                             size_t *made_words);

#endif
