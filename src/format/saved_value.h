// SPDX-License-Identifier: BSD-2-Clause
// Checks and conversions of values in a file, for pickles and flatbuffers.
#ifndef TAPER_FORMAT_SAVED_VALUE_H
#define TAPER_FORMAT_SAVED_VALUE_H

#include "ir/tensor_def.h"

// These functions set the element types of a container; for a dict they set the key and value types of a Dict type.
// They check only the outermost level of the items, because deeper containers have their own types in the file. They
// return the number of items if all fit. Otherwise they return the index of the first item that does not fit and change
// nothing.
size_t taper_saved_list_type(taper_list *list, const taper_type *element);
size_t taper_saved_dict_type(taper_dict *dict, const taper_type *type);

// Parses a device such as "cuda:1", or "cuda" with a separate index (-1 for none).
bool taper_saved_device(const char *text, size_t length, int index, taper_val *device);

// Writes the text of a device. Returns false if the kind of the device is unknown.
enum { TAPER_SAVED_DEVICE = 24 };
bool taper_saved_device_text(taper_val device, char text[TAPER_SAVED_DEVICE]);

// Fails unless a file can contain the tensor: its elements must be stored in the order of its strides, and it must have
// a quantizer if and only if its dtype is quantized. where: description of the value being written, for the message.
TAPER_MUST_USE taper_status taper_saved_tensor_fits(const taper_tensor *tensor, const char *where, taper_error *error);

// These functions check and convert the scales or zero points of a tensor quantized per channel: one number for each
// channel, converted to `dtype` if the file has another dtype. *result receives a reference.
bool taper_saved_channels_fit(const taper_tensor *tensor, int64_t channels);
TAPER_MUST_USE taper_status taper_saved_channels(taper_heap *heap, taper_tensor *tensor, taper_dtype dtype,
                                                 taper_tensor **result, taper_error *error);

#endif
