// SPDX-License-Identifier: BSD-2-Clause
// Packed weights: what a kernel derives from constant tensors once and reads in every run. A pack of tensors that
// belong to the model (nobody wrote to them in this session) is kept in the model's cache, shared by its sessions and
// remembered by the instruction; a pack of anything else is made on the run's heap and dropped after the call.
#ifndef TAPER_OPS_PACKS_H
#define TAPER_OPS_PACKS_H

#include "ops/call/call.h"

typedef struct taper_packs taper_packs;

typedef struct taper_pack {
    void *data; // TAPER_ALIGNMENT; TAPER_OVERREAD readable bytes behind
    size_t bytes;
    bool kept; // in the model's cache
} taper_pack;

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
} taper_pack_request;

// Whether a pack made from these tensors is kept in the model's cache; else it is made for one call.
bool taper_packs_keep(const taper_call *call, const taper_pack_request *request);
// *pack is valid until taper_pack_done, which every successful get needs.
TAPER_MUST_USE taper_status taper_pack_get(taper_call *call, const taper_pack_request *request, taper_pack *pack);
void taper_pack_done(taper_call *call, taper_pack *pack);

TAPER_MUST_USE taper_status taper_packs_create(const taper_allocator *allocator, taper_packs **packs,
                                               taper_error *error);
void taper_packs_destroy(taper_packs *packs);
// The heap of the model's values: what is made of others (the host's, another model's) is not kept.
void taper_packs_belong(taper_packs *packs, const taper_heap *heap);
size_t taper_packs_bytes(const taper_packs *packs);

#endif
