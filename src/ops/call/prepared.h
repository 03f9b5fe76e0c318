// SPDX-License-Identifier: BSD-2-Clause
// What a kernel worked out about a call, so that the next ones that are made alike only read pointers: arguments found,
// shapes and dtypes checked, inner loop, tiling and packed weights chosen. Alike: the same instruction, tensors of the
// same dtypes, sizes, strides and layout, the same numbers. That is compared before (taper_prepared_fits); what is a
// constant of the program is not. It belongs to the session, one for an instruction, and goes when another is made.
//
// The kernel that runs a prepared call reads tensors through call->args, never from what it kept, except constants,
// which live as long as the session. Their elements may be written to: who kept something made of them looks at their
// storages' versions.
#ifndef TAPER_OPS_PREPARED_H
#define TAPER_OPS_PREPARED_H

#include "ops/call/call.h"

typedef taper_status (*taper_prepared_run)(taper_call *call, void *data);

// From a kernel that did the whole call: `bytes` for what it wants to keep. NULL: this call is not to be kept (nobody
// does, its arguments cannot be compared, or memory ran out), which is no failure.
void *taper_prepare(taper_call *call, taper_prepared_run run, size_t bytes);
// The same where what is kept is to be told when it goes.
void *taper_prepare_owner(taper_call *call, taper_prepared_run run, void (*release)(void *data), size_t bytes);
typedef struct taper_prepared taper_prepared;
bool taper_prepared_fits(const taper_prepared *prepared, const taper_call *call);
taper_status taper_prepared_call(taper_call *call); // a kernel: runs what was prepared
void taper_prepared_free(taper_heap *heap, taper_prepared *prepared);

#endif
