// SPDX-License-Identifier: BSD-2-Clause
// Flexible sizes of a module. The module's script computes them from the sizes of its inputs and writes them into the
// serialized model before the model is compiled. Thus a driver gets only known sizes, as with PyTorch's own
// NnapiModule.
#ifndef TAPER_NNAPI_SCRIPT_SIZES_H
#define TAPER_NNAPI_SCRIPT_SIZES_H

#include "backends/nnapi/convert/convert.h"
#include "backends/nnapi/convert/script_nodes.h"
#include "backends/nnapi/network_sizes.h"

typedef struct taper_script_sizes {
    taper_network_sizes found;
    taper_ir_value **values; // value of each size, or NULL if no node computes it yet
} taper_script_sizes;

// Returns true if the network's inputs have unknown sizes.
bool taper_script_is_open(const taper_network *network);
// Finds all sizes. *now receives a list of the inputs' flexible sizes.
TAPER_MUST_USE taper_status taper_script_read_sizes(taper_emitter *e, const taper_nnapi_part *part,
                                                    taper_script_sizes *sizes, taper_ir_value **now);
// taper_script_compute_sizes adds the nodes that compute all sizes. Afterwards taper_script_sizes_of makes the list of
// an operand's sizes.
TAPER_MUST_USE taper_status taper_script_compute_sizes(taper_emitter *e, taper_script_sizes *sizes);
TAPER_MUST_USE taper_status taper_script_sizes_of(taper_emitter *e, const taper_script_sizes *sizes,
                                                  const taper_network *network, uint32_t operand,
                                                  taper_ir_value **list);
// Adds a copy of the serialized model that contains all sizes.
TAPER_MUST_USE taper_status taper_script_sized_model(taper_emitter *e, const taper_script_sizes *sizes,
                                                     const taper_network *network, taper_ir_value *serialized,
                                                     taper_ir_value **sized);

#endif
