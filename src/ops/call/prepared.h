// SPDX-License-Identifier: BSD-2-Clause
// What a kernel worked out about a call, so that the next ones that are made alike only read pointers: arguments found,
// shapes and dtypes checked, inner loop, tiling and packed weights chosen. Alike: the same instruction, tensors of the
// same dtypes, sizes, strides, layout and quantizer, the same numbers. That is compared before (taper_prepared_fits);
// constants of the program are not, but that nobody wrote to them is. It belongs to the session.
//
// The kernel that runs a prepared call reads tensors through call->args, never from what it kept, except constants,
// which live as long as the session. It has one result, a new tensor of its own memory whose dtype, sizes, strides,
// layout and quantizer follow from what was compared: it takes it with taper_ret_prepared, which may hand out the same
// one in every run (runtime/recording.h), and keeps nothing of it. It makes no other tensor.
#ifndef TAPER_OPS_PREPARED_H
#define TAPER_OPS_PREPARED_H

#include "base/atomic.h"
#include "ops/call/call.h"
#include "ops/call/packs.h"

typedef taper_status (*taper_prepared_run)(taper_call *call, void *data);

// What an argument must be: a tensor of this kind, this value, or a list of these whole numbers (rank of them). Tensors
// of more dimensions and other lists are not compared.
enum { TAPER_GUARD_RANK = 8 };
typedef struct taper_guard {
    uint8_t tag, dtype, rank;
    uint8_t memory; // of a tensor: plain, which may be read over its end, a device's, or other
    bool hidden_nhwc, quantized;
    uint32_t at;  // which argument
    double scale; // of a quantized tensor
    int64_t zero_point;
    union {
        int64_t number;
        int64_t sizes[2 * TAPER_GUARD_RANK]; // and strides
    } as;
} taper_guard;

// False: such a value cannot be compared (a list of tensors, an object).
bool taper_guard_make(taper_guard *guard, taper_val value);
bool taper_guard_holds(const taper_guard *guard, taper_val value);

typedef struct taper_prepared {
    taper_prepared_run run;
    void *data;
    void (*release)(void *data);       // NULL: nothing to do
    const struct taper_banded *banded; // how some rows are made alone (ops/call/bands.h); NULL: all at once
    bool replays;                      // it keeps the whole promise: result says what its result is like
    unsigned refs;                     // the instruction's slot, recordings; all in one session
    unsigned made;                     // how often it was made anew
    size_t bytes, guard_count;
    unsigned copies;     // taper_heap_copies when the constants were last looked at
    bool changeable;     // a constant object or list of tensors is among the arguments
    uint64_t standing;   // bits of constant tensors that nobody had written to
    taper_tensor result; // what the result is like; its storage and its count are none
    taper_quantizer quantizer;
    const atomic_bool *waits; // NULL, or for weights that are packed when the kernel is called again
    taper_guard guards[];
} taper_prepared;

// From a kernel that did the whole call: `bytes` for what it wants to keep. What it keeps may be made of the elements
// of constants whose storages are read-only: when one of these is written to, the call is prepared anew. NULL: this
// call is not to be kept (nobody does, its arguments cannot be compared, its result is no new tensor, or memory ran
// out), which is no failure.
void *taper_prepare(taper_call *call, taper_prepared_run run, size_t bytes);
// The same for whoever keeps less of the promise: it may have any results, and decline. What is kept is told when it
// goes (release).
void *taper_prepare_owner(taper_call *call, taper_prepared_run run, void (*release)(void *data), size_t bytes);

// Of the session's constants those that are as the model's file has them.
static inline bool taper_tensor_stands(const taper_tensor *tensor)
{
    return tensor == NULL || (tensor->storage->read_only && !tensor->reshaped);
}
// Whether all that the schema asks for behind the first argument is constant, and these tensors of it stand.
bool taper_call_has_constant_weights(const taper_call *call, const taper_tensor *weight, const taper_tensor *bias);

#include "ops/call/prepared_waits.h"

// The result of a prepared call, ready for writing, set as the result.
TAPER_MUST_USE taper_status taper_ret_prepared_new(taper_call *call, taper_tensor **tensor);
static inline TAPER_MUST_USE taper_status taper_ret_prepared(taper_call *call, taper_tensor **tensor)
{
    *tensor = call->shell;
    return call->shell != NULL ? TAPER_OK : taper_ret_prepared_new(call, tensor);
}

// Whether the constants are as they were.
bool taper_prepared_stands(taper_prepared *prepared, const taper_call *call);
bool taper_prepared_fits(taper_prepared *prepared, const taper_call *call);
taper_status taper_prepared_call(taper_call *call); // a kernel: runs what was prepared
void taper_prepared_drop(taper_heap *heap, taper_prepared *prepared);

#endif
