// SPDX-License-Identifier: BSD-2-Clause
// A network as PyTorch's converter writes it: the words of its blob (frontend/nnapi/serialized.h has the format), and
// the tensors that are its numbered buffers.
#ifndef TAPER_BACKENDS_SERIALIZE_H
#define TAPER_BACKENDS_SERIALIZE_H

#include "backends/nnapi/network.h"

// *blob: a new int32 tensor; *buffers: a new list of tensors, one for each operand that has one, in order.
TAPER_MUST_USE taper_status taper_network_serialize(const taper_network *network, taper_heap *heap, taper_tensor **blob,
                                                    taper_list **buffers, taper_error *error);
// The word where the sizes of operands begin.
size_t taper_network_sizes_word(const taper_network *network);

#endif
