// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/elementwise_pairs.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H

#define GET_PAIRS(type, read)

#endif
