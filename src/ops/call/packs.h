// SPDX-License-Identifier: BSD-2-Clause
// Packed weights: data that a kernel derives from constant tensors once and reads in every run. A pack of tensors that
// belong to the model, and that this session has not written to, is kept in the model's cache. The sessions share it,
// and the instruction remembers it. Any other pack is made on the run's heap and freed after the call.
#ifndef TAPER_OPS_PACKS_H
#define TAPER_OPS_PACKS_H

#include "ops/call/call.h"
#include "ops/call/pack_request.h"

typedef struct taper_packs taper_packs;

// Returns true if a pack of these tensors is kept in the model's cache. Otherwise the pack is made for one call.
bool taper_packs_keep(const taper_call *call, const taper_pack_request *request);
// Returns a pack, which is valid until taper_pack_done. Every successful call must be followed by a call of
// taper_pack_done.
TAPER_MUST_USE taper_status taper_pack_get(taper_call *call, const taper_pack_request *request, taper_pack *pack);
void taper_pack_done(taper_call *call, taper_pack *pack);

TAPER_MUST_USE taper_status taper_packs_create(const taper_allocator *allocator, taper_packs **packs,
                                               taper_error *error);
void taper_packs_destroy(taper_packs *packs);
// Sets the heap of the model's values. Packs of other tensors (the host's, another model's) are not kept.
void taper_packs_belong(taper_packs *packs, const taper_heap *heap);
size_t taper_packs_bytes(const taper_packs *packs);

// Call this after a run. Returns what went wrong in writing a file, as a text for the log, or NULL.
const char *taper_packs_after_run(taper_packs *packs);

#endif
