// SPDX-License-Identifier: BSD-2-Clause
// Storages of floats that are the rows of another, each times a number, rounded once. Their bytes are worked out as
// they are written to a file, piece by piece, so that the weights of a model that is rewritten never are in memory
// twice.
//
// `data` of such a storage is NULL until it is settled. Only the compiler makes them, of constants in the graphs of a
// draft that can be saved and nothing else (taper_compilation.to_save): who looks at weights there settles them first.
#ifndef TAPER_IR_SCALED_STORAGE_H
#define TAPER_IR_SCALED_STORAGE_H

#include "ir/tensor_def.h"

// rows: a contiguous float32 tensor of at least one dimension, whose data is there and stays as it is. *scales: one for
// each index of its first dimension, for the caller to fill in; they belong to the storage.
TAPER_MUST_USE taper_status taper_storage_scaled(taper_heap *heap, taper_tensor *rows, taper_storage **storage,
                                                 double **scales, taper_error *error);
// Works the bytes out for good. Nothing to do for any other storage.
TAPER_MUST_USE taper_status taper_storage_settle(taper_storage *storage, taper_error *error);
// size bytes of any storage from `at` on, which are whole floats where it is a scaled one: they are worked out in
// buffer then, and lie in the storage otherwise.
const void *taper_storage_part(const taper_storage *storage, size_t at, size_t size, void *buffer);

#endif
