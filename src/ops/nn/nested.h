// SPDX-License-Identifier: BSD-2-Clause
// Nested tensors, as far as nn.TransformerEncoder makes them when it is given a padding mask: sequences of different
// lengths between _nested_tensor_from_mask and to_padded_tensor. Here such a tensor stays the padded one, [B, T, E],
// and rows that are padding are filled with a NaN of a bit pattern that arithmetic does not produce by itself.
#ifndef TAPER_OPS_NESTED_H
#define TAPER_OPS_NESTED_H

#include "ops/call/call.h"

// A new bool tensor [B, T], true where src has padding; NULL when it has none (is not nested).
TAPER_MUST_USE taper_status taper_nested_padding(taper_run *run, const taper_tensor *src, taper_tensor **padding);
// A new contiguous tensor with the elements of src and zeros where it has padding.
TAPER_MUST_USE taper_status taper_nested_cleared(taper_run *run, const taper_tensor *src, const taper_tensor *padding,
                                                 taper_tensor **cleared);
// Marks the padding of a contiguous float tensor.
void taper_nested_mark(taper_tensor *tensor, const taper_tensor *padding);

#endif
