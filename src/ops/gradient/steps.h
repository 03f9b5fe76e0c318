// SPDX-License-Identifier: BSD-2-Clause
// Operators that gradients consist of, as sequences of calls of other operators. The sequence owns the intermediate
// values. After a step fails, all later steps do nothing and give None, so a kernel need not check the status.
// While a gradient is recorded for its own gradient, the steps are recorded and not the operator.
//
// Sequences of steps are more than half of the bytes that gradients add to a library. So the machine code of a step is
// short: a value is a pointer, and an operator is the number of its row. One function begins and ends the sequences of
// all kernels.
#ifndef TAPER_OPS_GRADIENT_STEPS_H
#define TAPER_OPS_GRADIENT_STEPS_H

#include "ops/gradient/tape.h"

enum { TAPER_STEPS_ARGS = 16, TAPER_STEPS_VALUES = 256 };

// A value that a sequence reads: an argument, an item of a list, or the result of a step. Results of steps are valid
// until the sequence releases them.
typedef const taper_val *taper_step_value;

typedef struct taper_steps {
    taper_val args[TAPER_STEPS_ARGS]; // arguments of the operator that consists of the steps; borrowed
    taper_call *call;                 // call of the operator that consists of the steps
    taper_tape_caller caller;
    taper_status status; // status of the first step that failed
    size_t count;
    taper_val values[TAPER_STEPS_VALUES]; // results of the steps; owned
} taper_steps;

// Runs the steps of an operator. Fails if an argument is not of its schema's kind, because a file can name any operator
// of the list. So the steps need not check the kinds of their arguments.
taper_status taper_steps_run(taper_call *call, taper_status (*steps)(taper_steps *s));
#define TAPER_STEPS_KERNEL(name)                                                                                       \
    static taper_status run_##name(taper_steps *s);                                                                    \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return taper_steps_run(call, run_##name);                                                                      \
    }                                                                                                                  \
    static taper_status run_##name(taper_steps *s)

// TAPER_STEP(s, id, …) calls an operator with these arguments and the defaults of the other arguments, and returns its
// first result. The functions below do what TAPER_STEP does for the operator with the row number `row`, or fail if the
// build lacks it (TAPER_STEP_NO_ROW).
taper_step_value taper_steps_call1(taper_steps *s, unsigned row, taper_step_value a);
taper_step_value taper_steps_call2(taper_steps *s, unsigned row, taper_step_value a, taper_step_value b);
taper_step_value taper_steps_call3(taper_steps *s, unsigned row, taper_step_value a, taper_step_value b,
                                   taper_step_value c);
taper_step_value taper_steps_call4(taper_steps *s, unsigned row, taper_step_value a, taper_step_value b,
                                   taper_step_value c, taper_step_value d);
taper_step_value taper_steps_call(taper_steps *s, unsigned row, size_t count, const taper_step_value *args);
// TAPER_STEP_ALL and taper_steps_call_all do what TAPER_STEP does, for the first `result_count` results.
void taper_steps_call_all(taper_steps *s, unsigned row, size_t count, const taper_step_value *args,
                          taper_step_value *results, size_t result_count);
enum { TAPER_STEP_NO_ROW = 0xffff };
#define TAPER_STEP_ROW_0(id) TAPER_STEP_NO_ROW
#define TAPER_STEP_ROW_1(id) TAPER_ROW_##id
#define TAPER_STEP_ROW(id) TAPER_JOIN(TAPER_STEP_ROW_, TAPER_HAS_OP(id))(id)
#define TAPER_STEP_MANY(s, row, ...)                                                                                   \
    taper_steps_call(s, row, sizeof((taper_step_value[]){__VA_ARGS__}) / sizeof(taper_step_value),                     \
                     (taper_step_value[]){__VA_ARGS__})
#define TAPER_STEP_CHOSEN(a, b, c, d, e, f, g, h, i, call, ...) call
#define TAPER_STEP(s, id, ...)                                                                                         \
    TAPER_STEP_CHOSEN(__VA_ARGS__, TAPER_STEP_MANY, TAPER_STEP_MANY, TAPER_STEP_MANY, TAPER_STEP_MANY,                 \
                      TAPER_STEP_MANY, taper_steps_call4, taper_steps_call3, taper_steps_call2, taper_steps_call1, )   \
    (s, TAPER_STEP_ROW(id), __VA_ARGS__)

#define TAPER_STEP_ALL(s, id, results, result_count, ...)                                                              \
    taper_steps_call_all(s, TAPER_STEP_ROW(id), sizeof((taper_step_value[]){__VA_ARGS__}) / sizeof(taper_step_value),  \
                         (taper_step_value[]){__VA_ARGS__}, results, result_count)

// Adds a value to the sequence, which takes over the reference, and returns the value.
taper_step_value taper_steps_keep(taper_steps *s, taper_val value);
// Releases the values after the first `count`, so that a loop can have any number of steps.
void taper_steps_release(taper_steps *s, size_t count);
// Does what taper_steps_release does, but keeps these values, which the next turn of the loop reads. They become the
// values after `count`.
void taper_steps_carry(taper_steps *s, size_t count, taper_step_value *values, size_t value_count);
void taper_steps_fail(taper_steps *s, taper_status status); // records a failure; TAPER_OK is ignored
taper_step_value taper_steps_ints(taper_steps *s, const int64_t *numbers, size_t count);
taper_step_value taper_steps_string(taper_steps *s, const char *text);
taper_step_value taper_steps_list(taper_steps *s, const taper_step_value *tensors, size_t count);
// Returns a new list for `count` items, or None after a failure.
taper_step_value taper_steps_new_list(taper_steps *s, const taper_type *type, size_t count);
// Adds a reference to a value to a list of taper_steps_new_list, unless a step has failed.
void taper_steps_append(const taper_steps *s, taper_step_value list, taper_step_value value);
// Does what taper_steps_append does, and releases the results of the steps after the list.
void taper_steps_collect(taper_steps *s, taper_step_value list, taper_step_value value);
// Sets result `at` of the call, which gets a reference of its own. Returns the status of the sequence.
taper_status taper_steps_ret(taper_steps *s, size_t at, taper_step_value value);

// Constants: None, the bools, and ints from -4 to 11.
extern const taper_val taper_step_none[1], taper_step_bools[2], taper_step_ints[16];
#define TAPER_STEP_INT(number) (&taper_step_ints[(number) + 4])
static inline taper_step_value taper_step_bool(bool value)
{
    return &taper_step_bools[value];
}
taper_step_value taper_step_int(taper_steps *s, int64_t number);
taper_step_value taper_step_double(taper_steps *s, double number);

// These functions return argument `at`, whose kind taper_steps_run has checked.
static inline bool taper_steps_bool(const taper_steps *s, size_t at)
{
    return s->args[at].as.i != 0;
}
static inline int64_t taper_steps_int(const taper_steps *s, size_t at)
{
    return s->args[at].as.i;
}
static inline bool taper_steps_is_none(const taper_steps *s, size_t at)
{
    return s->args[at].tag == TAPER_NONE;
}
int64_t taper_steps_int_or(const taper_steps *s, size_t at, int64_t otherwise); // `otherwise` for None
// Returns argument `at` as a double. The argument may have any type of real numbers. For any other value the sequence
// fails.
double taper_steps_double(taper_steps *s, size_t at);
double taper_steps_double_or(taper_steps *s, size_t at, double otherwise);

// Returns the tensor of a value, or NULL after a failure.
const taper_tensor *taper_steps_tensor(const taper_steps *s, taper_step_value value);

#endif
