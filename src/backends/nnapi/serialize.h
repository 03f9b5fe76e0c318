// SPDX-License-Identifier: BSD-2-Clause
// Writes a network in the format of PyTorch's converter: the words of its blob (described in
// frontend/nnapi/serialized.h), and the tensors that are its numbered buffers.
#ifndef TAPER_BACKENDS_SERIALIZE_H
#define TAPER_BACKENDS_SERIALIZE_H

#include "backends/nnapi/network.h"

// Serializes the network. *blob receives a new int32 tensor, and *buffers a new list of the operands' tensors, in
// order.
TAPER_MUST_USE taper_status taper_network_serialize(const taper_network *network, taper_heap *heap, taper_tensor **blob,
                                                    taper_list **buffers, taper_error *error);
// Returns the index of the word where the sizes of operands start.
size_t taper_network_sizes_word(const taper_network *network);

#endif
