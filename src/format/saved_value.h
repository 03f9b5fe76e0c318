// SPDX-License-Identifier: BSD-2-Clause
// What the values of a file must be, whichever container they came in: pickles or a flatbuffer.
#ifndef TAPER_FORMAT_SAVED_VALUE_H
#define TAPER_FORMAT_SAVED_VALUE_H

#include "ir/tensor_def.h"

// Gives a container its element types, a dict those of a Dict type. They look at the outermost level of the items only:
// what lies deeper has its own type in the file. The result is the first item that does not fit, and nothing was
// changed; the count when all do.
size_t taper_saved_list_type(taper_list *list, const taper_type *element);
size_t taper_saved_dict_type(taper_dict *dict, const taper_type *type);

// "cuda:1", or "cuda" with the index apart (-1: none).
bool taper_saved_device(const char *text, size_t length, int index, taper_val *device);

// The other way round; false when it is of no known kind.
enum { TAPER_SAVED_DEVICE = 24 };
bool taper_saved_device_text(taper_val device, char text[TAPER_SAVED_DEVICE]);

// That a file can hold the tensor: its bytes are in PyTorch's order, and a quantizer comes with a quantized dtype.
// where: what is being written, for the message.
TAPER_MUST_USE taper_status taper_saved_tensor_fits(const taper_tensor *tensor, const char *where, taper_error *error);

// Scales or zero points of a tensor quantized per channel: one number per channel, converted to dtype where written in
// another. Gives a reference.
bool taper_saved_channels_fit(const taper_tensor *tensor, int64_t channels);
TAPER_MUST_USE taper_status taper_saved_channels(taper_heap *heap, taper_tensor *tensor, taper_dtype dtype,
                                                 taper_tensor **result, taper_error *error);

#endif
