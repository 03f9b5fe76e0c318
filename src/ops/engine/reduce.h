// SPDX-License-Identifier: BSD-2-Clause
// The reduction engine. A reduction is one pass over the reduced dimensions with an accumulator per kept position, or
// two, the second with a centre that follows from the first (the mean, the maximum). Dimensions are walked as they lie
// in memory: either many kept positions side by side (lanes), or one after the other over contiguous elements (fold).
#ifndef TAPER_OPS_REDUCE_H
#define TAPER_OPS_REDUCE_H

#include "ir/walk.h"
#include "ops/engine/elementwise.h"
#include "ops/engine/reduce_vector.h"
#include "ops/kernels/native.h"

// What a pass needs besides its accumulators.
typedef struct taper_reduce_args {
    double p;
} taper_reduce_args;

// Accumulators are double, int64_t or taper_c128: double for both float classes. centre has the accumulators' type: one
// per lane, or one.
typedef void (*taper_reduce_lanes)(void *acc, const void *x, size_t n, const void *centre,
                                   const taper_reduce_args *args);
typedef void (*taper_reduce_fold)(void *acc, const void *x, size_t n, const void *centre,
                                  const taper_reduce_args *args);

typedef struct taper_reduce_op {
    taper_reduce_lanes lanes[TAPER_EW_CLASSES]; // by class of the elements; NULL: not implemented
    taper_reduce_fold folds[TAPER_EW_CLASSES];
    double start;
    int64_t start_int;
    taper_reduction kernel;   // the vector kernel of floats
    taper_native_fold native; // what is made for other dtypes
} taper_reduce_op;

typedef enum taper_reduce_centre { TAPER_CENTRE_NONE, TAPER_CENTRE_MEAN, TAPER_CENTRE_FINITE } taper_reduce_centre;

typedef enum taper_reduce_finish {
    TAPER_FINISH_SAME,  // the accumulator
    TAPER_FINISH_MEAN,  // divided by the count
    TAPER_FINISH_RATIO, // the first pass's divided by the second's
    TAPER_FINISH_SQRT,
    TAPER_FINISH_ROOT, // to the power 1/p
    TAPER_FINISH_VAR,  // of the second pass, divided by count - correction
    TAPER_FINISH_STD,
    TAPER_FINISH_LOG // centre + log
} taper_reduce_finish;

typedef struct taper_reduce {
    taper_tensor *x;
    bool over[TAPER_MAX_RANK];
    bool keep;             // reduced dimensions stay with size 1
    taper_ew_class class_; // that the elements are read as
    const taper_reduce_op *first, *second;
    taper_reduce_centre centre;
    taper_reduce_finish finish;
    taper_reduce_args args;
    double correction;
    double overflow;   // of what TAPER_FINISH_SQRT, ROOT and SAME finish: from here on it is infinite; 0: never
    bool real;         // complex accumulators: the result is the real part
    taper_dtype dtype; // of the result
    bool mean_too;     // result 1 is the centre
} taper_reduce;

// Starts with nothing reduced, one pass, the natural class of dtype.
taper_reduce taper_reduce_make(taper_tensor *x, const taper_reduce_op *op, taper_dtype dtype);
// Reduces the dimensions in an int[] or int[]? or int? argument; None or an empty list: all of them.
TAPER_MUST_USE taper_status taper_reduce_dims_arg(const taper_call *call, size_t at, size_t rank, bool *over);
static inline void taper_reduce_all(taper_reduce *r)
{
    memset(r->over, true, sizeof r->over);
}
// The sizes of the result.
size_t taper_reduce_sizes(const taper_tensor *x, const bool *over, bool keep, int64_t *sizes);
TAPER_MUST_USE taper_status taper_reduce_run(taper_call *call, taper_reduce *r);
TAPER_MUST_USE taper_status taper_reduce_supported(const taper_call *call, const taper_tensor *x);

// Taken apart for the engine's sisters (reduce_index.c): a walk over the kept dimensions.
typedef struct taper_reduce_dim {
    int64_t size, in, out; // steps in bytes; out of the result
} taper_reduce_dim;

// Sorts by `in`, the smallest first, and merges neighbours that run on in both. Returns how many are left.
size_t taper_reduce_sort(taper_reduce_dim *dims, size_t count);
// A walk over dims [from, count): its places are in's and out's.
void taper_reduce_walk(taper_walk *walk, const taper_reduce_dim *dims, size_t from, size_t count);

// Operators along one dimension (softmax, scans, picks, sorts) see a tensor as lines: the elements along `dim`, one
// line for every kept index. Where the lines' elements lie far apart, neighbouring lines are walked together as lanes.
typedef struct taper_lines {
    taper_reduce_dim line; // size 1 for rank 0
    taper_reduce_dim kept[TAPER_MAX_RANK];
    size_t kept_count;
    bool side_by_side; // kept[0] are the lanes
} taper_lines;
// out: a tensor with x's dimensions, or without dim (keep tells whether it is there with size 1); NULL: no out steps.
void taper_lines_make(taper_lines *lines, const taper_tensor *x, size_t dim, const taper_tensor *out, bool without,
                      bool keep);
// Lines for a task: those that begin at these offsets in bytes, and their next neighbours along kept[0].
typedef void taper_lines_task(void *argument, int64_t in, int64_t out, size_t lanes);
// Calls the task for all lines, up to `width` neighbours at a time, on all threads. work: the nanoseconds that an
// element takes. No size is 0.
TAPER_MUST_USE taper_status taper_lines_run(taper_run *run, const taper_lines *lines, size_t width,
                                            taper_lines_task *task, void *argument, double work);

extern const taper_reduce_op taper_reduce_sum, taper_reduce_nansum, taper_reduce_prod, taper_reduce_max,
    taper_reduce_min, taper_reduce_any, taper_reduce_every, taper_reduce_nonzero, taper_reduce_numbers,
    taper_reduce_abs_sum, taper_reduce_square_sum, taper_reduce_abs_max, taper_reduce_abs_min, taper_reduce_power_sum,
    taper_reduce_deviation, taper_reduce_exp_sum;

#endif
