// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/engine/elementwise_pairs.h: small builds omit this code.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H

#define GET_PAIRS(type, read)

#endif
