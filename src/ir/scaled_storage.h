// SPDX-License-Identifier: BSD-2-Clause
// Storages of floats whose rows are the rows of another storage times a number, rounded once. The bytes are computed
// piece by piece while they are written to a file, so the weights of a rewritten model are never in memory twice.
//
// `data` of such a storage is NULL until it is settled. Only the compiler makes them, for constants in the graphs of a
// draft that can only be saved (taper_compilation.to_save). Code that reads weights there settles them first.
#ifndef TAPER_IR_SCALED_STORAGE_H
#define TAPER_IR_SCALED_STORAGE_H

#include "ir/tensor_def.h"

// Creates a scaled storage. rows: a contiguous float32 tensor of at least one dimension, on the host, whose elements
// never change. *scales: a number for each index of its first dimension, which the caller writes. The storage owns
// them.
TAPER_MUST_USE taper_status taper_storage_scaled(taper_heap *heap, taper_tensor *rows, taper_storage **storage,
                                                 double **scales, taper_error *error);
// Computes the bytes and stores them. Does nothing for any other storage.
TAPER_MUST_USE taper_status taper_storage_settle(taper_storage *storage, taper_error *error);
// Returns `size` bytes of any storage from byte `at` on. For a scaled storage both must be multiples of a float's size,
// and the bytes are computed into buffer. For any other storage the result points into the storage.
const void *taper_storage_part(const taper_storage *storage, size_t at, size_t size, void *buffer);

#endif
