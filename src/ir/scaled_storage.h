// SPDX-License-Identifier: BSD-2-Clause
// A scaled storage has the rows of another storage of floats, each multiplied by a factor and rounded once. The bytes
// are computed in chunks while they are written to a file, so the weights of a rewritten model are never in memory
// twice.
//
// `data` of such a storage is NULL until taper_storage_settle computes it. Only the compiler makes such storages, for
// constants in the graphs of a draft that can only be saved (taper_compilation.to_save). In these graphs, code that
// reads weights must call taper_storage_settle first.
#ifndef TAPER_IR_SCALED_STORAGE_H
#define TAPER_IR_SCALED_STORAGE_H

#include "ir/tensor_def.h"

// Creates a scaled storage. rows: a contiguous float32 tensor on the host with at least one dimension, whose elements
// never change. *scales: factors for the indices of its first dimension, which the caller must set. The storage owns
// the array.
TAPER_MUST_USE taper_status taper_storage_scaled(taper_heap *heap, taper_tensor *rows, taper_storage **storage,
                                                 double **scales, taper_error *error);
// Computes and stores the bytes of a scaled storage. Does nothing for any other storage.
TAPER_MUST_USE taper_status taper_storage_settle(taper_storage *storage, taper_error *error);
// Returns `size` bytes of any storage, from byte `at` on. For a scaled storage, `at` and `size` must be multiples of a
// float's size, and the bytes are computed into `buffer`. For any other storage, the result points into the storage.
const void *taper_storage_part(const taper_storage *storage, size_t at, size_t size, void *buffer);

#endif
