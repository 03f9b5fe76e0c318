// SPDX-License-Identifier: BSD-2-Clause
// What a kernel asks of packed weights, and gets: packs.h.
#ifndef TAPER_OPS_PACK_REQUEST_H
#define TAPER_OPS_PACK_REQUEST_H

#include "base/atomic.h"
#include "ir/tensor_def.h"

enum { TAPER_PACK_TENSORS = 6, TAPER_PACK_NUMBERS = 12 };

typedef struct taper_pack_request {
    const void *kind; // the address of anything static that stands for the format (the kernel's entry)
    taper_tensor *tensors[TAPER_PACK_TENSORS]; // what the pack is made from; NULLs allowed
    int64_t numbers[TAPER_PACK_NUMBERS];       // what else decides its content
    size_t bytes;
    // Fills data (bytes long, uninitialized), or what parts leave of it; NULL: nothing.
    void (*fill)(const struct taper_pack_request *request, void *data);
    // Then fills the parts [first, end) of `parts`, on all threads of the run. They may not ask for packs.
    void (*fill_parts)(const struct taper_pack_request *request, void *data, size_t first, size_t end);
    size_t parts;
    const void *user; // for both, not part of the key
    // What the format and the kernel are called in files of packs; NULL: it is never in one.
    const char *layout, *kernel;
} taper_pack_request;

typedef struct taper_pack {
    void *data; // TAPER_ALIGNMENT; TAPER_OVERREAD readable bytes behind
    size_t bytes;
    bool kept;                   // in the model's cache
    void *lies;                  // of one that is kept: where it lies as long as the model is there, and once *is_there
    const atomic_bool *is_there; // NULL: it is, as data
} taper_pack;

#endif
