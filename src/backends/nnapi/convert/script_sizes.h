// SPDX-License-Identifier: BSD-2-Clause
// Flexible sizes of a module: what its script computes of the sizes of its inputs, and writes into the serialized model
// before that is compiled. So a driver only ever sees sizes that are known, as with PyTorch's own NnapiModule.
#ifndef TAPER_NNAPI_SCRIPT_SIZES_H
#define TAPER_NNAPI_SCRIPT_SIZES_H

#include "backends/nnapi/convert/convert.h"
#include "backends/nnapi/convert/script_nodes.h"
#include "backends/nnapi/network_sizes.h"

typedef struct taper_script_sizes {
    taper_network_sizes found;
    taper_ir_value **values; // of each size; NULL: it has no node yet
} taper_script_sizes;

// Whether the sizes of its inputs are open.
bool taper_script_is_open(const taper_network *network);
// Finds all sizes; *now: a list of the inputs' open ones.
TAPER_MUST_USE taper_status taper_script_read_sizes(taper_emitter *e, const taper_nnapi_part *part,
                                                    taper_script_sizes *sizes, taper_ir_value **now);
// What follows from these; then sizes of operands can be had, as lists.
TAPER_MUST_USE taper_status taper_script_compute_sizes(taper_emitter *e, taper_script_sizes *sizes);
TAPER_MUST_USE taper_status taper_script_sizes_of(taper_emitter *e, const taper_script_sizes *sizes,
                                                  const taper_network *network, uint32_t operand,
                                                  taper_ir_value **list);
// A copy of the serialized model with all sizes.
TAPER_MUST_USE taper_status taper_script_sized_model(taper_emitter *e, const taper_script_sizes *sizes,
                                                     const taper_network *network, taper_ir_value *serialized,
                                                     taper_ir_value **sized);

#endif
