// SPDX-License-Identifier: BSD-2-Clause
// Nested tensors, as nn.TransformerEncoder makes them if it has a padding mask: sequences of different lengths, between
// _nested_tensor_from_mask and to_padded_tensor. Taper keeps such a tensor padded, as [B, T, E]. Rows of padding are
// filled with a NaN whose bit pattern arithmetic does not produce.
#ifndef TAPER_OPS_NESTED_H
#define TAPER_OPS_NESTED_H

#include "ops/call/call.h"

// Makes a bool tensor [B, T] that is true where src has padding. *padding is NULL if src has no padding and therefore
// is not nested.
TAPER_MUST_USE taper_status taper_nested_padding(taper_run *run, const taper_tensor *src, taper_tensor **padding);
// Makes a contiguous tensor with the elements of src, and zeros for its padding.
TAPER_MUST_USE taper_status taper_nested_cleared(taper_run *run, const taper_tensor *src, const taper_tensor *padding,
                                                 taper_tensor **cleared);
// Writes the NaN that marks padding to the padding of a contiguous float tensor.
void taper_nested_mark(taper_tensor *tensor, const taper_tensor *padding);

#endif
