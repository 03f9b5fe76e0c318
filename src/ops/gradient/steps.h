// SPDX-License-Identifier: BSD-2-Clause
// Operators that compute gradients as a sequence of calls of other operators. The sequence owns the intermediate
// values. After a step that failed, every step does nothing and gives None, so a kernel checks the status once, at the
// end. While a gradient is recorded for its own gradient, the steps are recorded instead of the operator.
#ifndef TAPER_OPS_GRADIENT_STEPS_H
#define TAPER_OPS_GRADIENT_STEPS_H

#include "ops/gradient/tape.h"

enum { TAPER_STEPS_VALUES = 160 };

typedef struct taper_steps {
    taper_run *run;
    taper_tape_caller caller;
    taper_status status; // status of the first step that failed
    size_t count;
    taper_val values[TAPER_STEPS_VALUES]; // results of the steps; owned
} taper_steps;

void taper_steps_begin(taper_steps *s, taper_run *run);
// Calls an operator with these arguments and the defaults of the others, and returns its first result, which the
// sequence owns.
taper_val taper_steps_call(taper_steps *s, const taper_op *op, size_t count, const taper_val *args);
// Does what taper_steps_call does, and sets results to the first `result_count` results.
void taper_steps_call_all(taper_steps *s, const taper_op *op, size_t count, const taper_val *args, taper_val *results,
                          size_t result_count);
#define TAPER_STEP(s, id, ...)                                                                                         \
    taper_steps_call(s, TAPER_OP(id), sizeof((taper_val[]){__VA_ARGS__}) / sizeof(taper_val),                          \
                     (taper_val[]){__VA_ARGS__})
// Adds a value to the sequence, which takes over the reference, and returns it.
taper_val taper_steps_keep(taper_steps *s, taper_val value);
void taper_steps_fail(taper_steps *s, taper_status status); // records a failure; TAPER_OK is ignored
taper_val taper_steps_ints(taper_steps *s, const int64_t *numbers, size_t count);
taper_val taper_steps_string(taper_steps *s, const char *text);
taper_val taper_steps_list(taper_steps *s, const taper_val *tensors, size_t count);
// Sets result `at` of the call, which gets a reference of its own.
void taper_steps_ret(taper_steps *s, taper_call *call, size_t at, taper_val value);
// Releases the values and returns the status.
taper_status taper_steps_end(taper_steps *s);

// Fails if an argument is not of its schema's kind: a tensor, a list of tensors, or a string.
TAPER_MUST_USE taper_status taper_steps_check(const taper_call *call);
// Defines a kernel of an operator that gradients consist of. The kernel checks the kinds of the arguments first,
// because a file can name any operator of the list. The code after the macro may rely on these kinds.
#define TAPER_STEPS_KERNEL(name)                                                                                       \
    static taper_status name##_checked(taper_call *call);                                                              \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        TAPER_TRY(taper_steps_check(call));                                                                            \
        return name##_checked(call);                                                                                   \
    }                                                                                                                  \
    static taper_status name##_checked(taper_call *call)

// Returns the tensor of a value, or NULL after a failure.
static inline const taper_tensor *taper_steps_tensor(const taper_steps *s, taper_val value)
{
    return s->status == TAPER_OK && value.tag == TAPER_TENSOR ? value.as.tensor : NULL;
}

#endif
