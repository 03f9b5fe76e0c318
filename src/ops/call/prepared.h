// SPDX-License-Identifier: BSD-2-Clause
// A prepared call: the decisions of a kernel about a call, so that later calls of the same form only read pointers. A
// prepared call contains the arguments, the checked shapes and dtypes, and the choice of inner loop, tiling and packed
// weights. Calls have the same form if they are of the same instruction, with tensors of the same dtypes, sizes,
// strides, layout and quantizer, and the same numbers. taper_prepared_fits compares these. It does not compare
// constants of the program, but checks that they were not written to. A prepared call belongs to the session.
//
// The kernel that runs a prepared call reads tensors through call->args. It may keep pointers only to constants, which
// live as long as the session. It has one result, a new tensor with memory of its own, whose dtype, sizes, strides,
// layout and quantizer follow from the compared facts. The kernel gets the result from taper_ret_prepared, which may
// return the same tensor in every run (runtime/recording.h). The kernel keeps no pointer to the result. The kernel
// creates no other tensor.
#ifndef TAPER_OPS_PREPARED_H
#define TAPER_OPS_PREPARED_H

#include "base/atomic.h"
#include "ops/call/call.h"
#include "ops/call/packs.h"

typedef taper_status (*taper_prepared_run)(taper_call *call, void *data);

// The expected form of an argument: a tensor, a value, or a list of ints (`rank` is the number of items). Tensors with
// more than TAPER_GUARD_RANK dimensions, and lists of other values, cannot be compared.
enum { TAPER_GUARD_RANK = 8 };
typedef struct taper_guard {
    uint8_t tag, dtype, rank;
    uint8_t memory; // kind of a tensor's memory: the library's, a device's, or another kind (memory_of in prepared.c)
    bool hidden_nhwc, quantized;
    uint32_t at;  // index of the argument
    double scale; // scale of a quantized tensor
    int64_t zero_point;
    union {
        int64_t number;
        int64_t sizes[2 * TAPER_GUARD_RANK]; // sizes of a tensor, then its strides
    } as;
} taper_guard;

// taper_guard_make returns false if the value cannot be compared (a list of tensors, an object).
bool taper_guard_make(taper_guard *guard, taper_val value);
bool taper_guard_holds(const taper_guard *guard, taper_val value);

typedef struct taper_prepared {
    taper_prepared_run run;
    void *data;
    void (*release)(void *data);       // frees what `data` points to; NULL if there is nothing to free
    const struct taper_banded *banded; // functions that compute only some rows (ops/call/bands.h), or NULL
    bool replays;  // true if the kernel follows all rules at the top of this file, so that `result` is valid
    unsigned refs; // number of holders: the instruction's slot and recordings, all in one session
    unsigned made; // number of times the call was prepared
    size_t bytes, guard_count;
    unsigned copies;     // number of copied storages (taper_heap_copies) at the last check of constants
    bool changeable;     // true if a constant object or list of tensors is among the arguments
    uint64_t standing;   // one bit for each constant tensor: 1 if no code has written to the tensor
    taper_tensor result; // dtype, sizes, strides and layout of the result, without storage and reference count
    taper_quantizer quantizer;
    const atomic_bool *waits; // becomes true when the weights that the kernel waits for are packed; NULL if the kernel
                              // does not wait
    taper_guard guards[];
} taper_prepared;

// Keeps `bytes` of data for a kernel that did the whole call. The data may depend on the elements of a constant tensor
// whose storage is read-only. If the session writes to such a tensor, its elements are first copied to writable memory,
// and the call is prepared again. Returns NULL if this call is not kept, which is not a failure: the instruction keeps
// no prepared calls, its arguments cannot be compared, its result is not a new tensor, or memory is missing.
void *taper_prepare(taper_call *call, taper_prepared_run run, size_t bytes);
// Does what taper_prepare does for a kernel that does not follow all rules at the top of this file: it may have any
// results, and may decline. release is called when the data is dropped.
void *taper_prepare_owner(taper_call *call, taper_prepared_run run, void (*release)(void *data), size_t bytes);

// Returns true if the session's constant is unchanged from the model's file. tensor may be NULL.
static inline bool taper_tensor_stands(const taper_tensor *tensor)
{
    return tensor == NULL || (tensor->storage->read_only && !tensor->reshaped);
}
// Returns true if all arguments of the schema after the first are constant, and if weight and bias are unchanged from
// the model's file.
bool taper_call_has_constant_weights(const taper_call *call, const taper_tensor *weight, const taper_tensor *bias);

#include "ops/call/prepared_waits.h"

// Sets the result of a prepared call and returns it, ready for writing.
TAPER_MUST_USE taper_status taper_ret_prepared_new(taper_call *call, taper_tensor **tensor);
static inline TAPER_MUST_USE taper_status taper_ret_prepared(taper_call *call, taper_tensor **tensor)
{
    *tensor = call->shell;
    return call->shell != NULL ? TAPER_OK : taper_ret_prepared_new(call, tensor);
}

// Returns true if the constants among the call's arguments were not written to since the call was prepared.
bool taper_prepared_stands(taper_prepared *prepared, const taper_call *call);
bool taper_prepared_fits(taper_prepared *prepared, const taper_call *call);
taper_status taper_prepared_call(taper_call *call); // a kernel that runs the prepared call
void taper_prepared_drop(taper_heap *heap, taper_prepared *prepared);

#endif
