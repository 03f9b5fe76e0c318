// SPDX-License-Identifier: BSD-2-Clause
// Operators that are composed of other operators. They call the other operators in PyTorch's order, so dtypes, strides
// and roundings equal PyTorch's. A composition owns the intermediate values. After a step fails, all later steps do
// nothing and return NULL, so a kernel checks the status once, at the end. Steps call kernels and not rows of the
// operator list, so a selective build need not include the rows of the operators in a composition.
#ifndef TAPER_OPS_COMPOSITE_H
#define TAPER_OPS_COMPOSITE_H

#include "ops/engine/elementwise.h"

enum { TAPER_COMPOSE_VALUES = 64 };

typedef struct taper_compose {
    taper_run *run;
    taper_status status; // status of the first step that failed
    size_t count;
    taper_val values[TAPER_COMPOSE_VALUES]; // results of the steps; owned
} taper_compose;

void taper_compose_begin(taper_compose *c, taper_run *run);
// Releases the values and returns the status.
taper_status taper_compose_end(taper_compose *c);
// Ends the composition with `result`, one of its values or an argument, as result `at` of the call. Releases the other
// values and returns the status.
taper_status taper_compose_ret(taper_compose *c, taper_call *call, size_t at, taper_tensor *result);
// Records a failure that no step reported. TAPER_OK is ignored.
void taper_compose_fail(taper_compose *c, taper_status status);
// Adds the value to the composition, which takes over the reference, and returns the value. NULL is accepted if a
// failure is recorded.
taper_tensor *taper_compose_keep(taper_compose *c, taper_tensor *value);

// Calls a kernel with these arguments and returns its first result, which the composition owns. A tensor may be NULL
// only after a failure.
taper_tensor *taper_compose_step(taper_compose *c, taper_kernel kernel, const void *param, size_t count,
                                 taper_val *args);
#define TAPER_COMPOSE(c, kernel, param, ...)                                                                           \
    taper_compose_step(c, kernel, param, sizeof((taper_val[]){__VA_ARGS__}) / sizeof(taper_val),                       \
                       (taper_val[]){__VA_ARGS__})
// Makes an argument of a step. NULL, which a failed step returns, becomes None.
static inline taper_val taper_compose_arg(taper_tensor *tensor)
{
    return tensor == NULL ? taper_val_none() : TAPER_VAL(tensor);
}

// ---- the usual steps

taper_tensor *taper_compose_add(taper_compose *c, taper_tensor *a, taper_tensor *b);
taper_tensor *taper_compose_sub(taper_compose *c, taper_tensor *a, taper_tensor *b);
taper_tensor *taper_compose_mul(taper_compose *c, taper_tensor *a, taper_tensor *b);
taper_tensor *taper_compose_div(taper_compose *c, taper_tensor *a, taper_tensor *b);
taper_tensor *taper_compose_mul_number(taper_compose *c, taper_tensor *a, double number);
taper_tensor *taper_compose_div_number(taper_compose *c, taper_tensor *a, double number);
// Returns x[..., start:end, ...]. Negative positions count from the end, as in Python. An open end is INT64_MAX.
taper_tensor *taper_compose_slice(taper_compose *c, taper_tensor *x, size_t dim, int64_t start, int64_t end);
taper_tensor *taper_compose_select(taper_compose *c, taper_tensor *x, size_t dim, int64_t index);
// Returns x reshaped to these sizes.
taper_tensor *taper_compose_reshape(taper_compose *c, taper_tensor *x, size_t rank, const int64_t *sizes);
taper_tensor *taper_compose_sum(taper_compose *c, taper_tensor *x, size_t dim);
// Returns the concatenation of the tensors along dim. Entries that are NULL are left out.
taper_tensor *taper_compose_cat(taper_compose *c, size_t count, taper_tensor *const *tensors, size_t dim);

#endif
