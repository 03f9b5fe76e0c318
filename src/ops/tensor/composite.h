// SPDX-License-Identifier: BSD-2-Clause
// Operators made of other operators, in the order in which PyTorch puts them together: that gives its dtypes, strides
// and roundings. A composition holds the intermediate values; a step after one that failed does nothing and gives NULL,
// so a kernel looks at the status once, when it ends. Steps call kernels, not rows: a selective build needs no more
// rows.
#ifndef TAPER_OPS_COMPOSITE_H
#define TAPER_OPS_COMPOSITE_H

#include "ops/engine/elementwise.h"

enum { TAPER_COMPOSE_VALUES = 64 };

typedef struct taper_compose {
    taper_run *run;
    taper_status status; // of the first step that failed
    size_t count;
    taper_val values[TAPER_COMPOSE_VALUES]; // results of the steps, owned
} taper_compose;

void taper_compose_begin(taper_compose *c, taper_run *run);
// Releases the values; returns the status.
taper_status taper_compose_end(taper_compose *c);
// As taper_compose_end, with one of the values (or an argument) as result `at` of the call.
taper_status taper_compose_ret(taper_compose *c, taper_call *call, size_t at, taper_tensor *result);
// Notes a failure of something that is no step.
void taper_compose_fail(taper_compose *c, taper_status status);
// The value becomes the composition's (NULL is fine, with a failure noted).
taper_tensor *taper_compose_keep(taper_compose *c, taper_tensor *value);

// The first result of a kernel. All arguments must be there; tensors may be NULL only after a failure.
taper_tensor *taper_compose_step(taper_compose *c, taper_kernel kernel, const void *param, size_t count,
                                 taper_val *args);
#define TAPER_COMPOSE(c, kernel, param, ...)                                                                           \
    taper_compose_step(c, kernel, param, sizeof((taper_val[]){__VA_ARGS__}) / sizeof(taper_val),                       \
                       (taper_val[]){__VA_ARGS__})
// An argument of a step; NULL, after a failure, becomes None.
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
// x[..., start:end, ...] with Python's negative positions; INT64_MAX for an open end.
taper_tensor *taper_compose_slice(taper_compose *c, taper_tensor *x, size_t dim, int64_t start, int64_t end);
taper_tensor *taper_compose_select(taper_compose *c, taper_tensor *x, size_t dim, int64_t index);
// The elements of x, seen with these sizes.
taper_tensor *taper_compose_reshape(taper_compose *c, taper_tensor *x, size_t rank, const int64_t *sizes);
taper_tensor *taper_compose_sum(taper_compose *c, taper_tensor *x, size_t dim);
// Tensors that are NULL are left out.
taper_tensor *taper_compose_cat(taper_compose *c, size_t count, taper_tensor *const *tensors, size_t dim);

#endif
