// SPDX-License-Identifier: BSD-2-Clause
// The structs of a kernel's request for packed weights and of the answer (packs.h).
#ifndef TAPER_OPS_PACK_REQUEST_H
#define TAPER_OPS_PACK_REQUEST_H

#include "base/atomic.h"
#include "ir/tensor_def.h"

enum { TAPER_PACK_TENSORS = 6, TAPER_PACK_NUMBERS = 12 };

typedef struct taper_pack_request {
    const void *kind; // address of a static object that identifies the format (the kernel's entry)
    taper_tensor *tensors[TAPER_PACK_TENSORS]; // tensors from which the pack is made; entries may be NULL
    int64_t numbers[TAPER_PACK_NUMBERS];       // numbers that determine the content, in addition to the tensors
    size_t bytes;
    // Fills data (`bytes` long, uninitialized), except what fill_parts writes. May be NULL.
    void (*fill)(const struct taper_pack_request *request, void *data);
    // Runs after fill and fills the parts [first, end) of `parts`, on all threads of the run. fill_parts must not
    // request packs.
    void (*fill_parts)(const struct taper_pack_request *request, void *data, size_t first, size_t end);
    size_t parts;
    const void *user; // data for fill and fill_parts; not part of the key
    // Names of the format and the kernel in files of packs. NULL keeps the pack out of files.
    const char *layout, *kernel;
} taper_pack_request;

typedef struct taper_pack {
    void *data; // the pack's data, aligned to TAPER_ALIGNMENT, with TAPER_OVERREAD readable bytes after it
    size_t bytes;
    bool kept;                   // true if the pack is in the model's cache
    void *lies;                  // permanent address of a kept pack, valid once *is_there is true
    const atomic_bool *is_there; // becomes true when the pack is at the permanent address; NULL if data is that address
} taper_pack;

#endif
