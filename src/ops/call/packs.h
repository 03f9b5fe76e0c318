// SPDX-License-Identifier: BSD-2-Clause
// Packed weights: what a kernel derives from constant tensors once and reads in every run. A pack of tensors that
// belong to the model (nobody wrote to them in this session) is kept in the model's cache, shared by its sessions and
// remembered by the instruction; a pack of anything else is made on the run's heap and dropped after the call.
#ifndef TAPER_OPS_PACKS_H
#define TAPER_OPS_PACKS_H

#include "ops/call/call.h"
#include "ops/call/pack_request.h"

typedef struct taper_packs taper_packs;

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

// A run has ended. What went wrong in writing a file, to be told; NULL: nothing.
const char *taper_packs_after_run(taper_packs *packs);

#endif
