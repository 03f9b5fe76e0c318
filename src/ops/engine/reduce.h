// SPDX-License-Identifier: BSD-2-Clause
// The reduction engine. A reduction is a pass over the reduced dimensions with one accumulator per element of the
// result. A second pass may follow, with a centre (mean or maximum) from the first. Dimensions are walked in the order
// of memory. A pass either updates many neighbouring results together (lanes), or reduces contiguous elements to one
// result after the other (fold).
#ifndef TAPER_OPS_REDUCE_H
#define TAPER_OPS_REDUCE_H

#include "ir/walk.h"
#include "ops/engine/elementwise.h"
#include "ops/engine/reduce_vector.h"
#include "ops/kernels/native.h"

// The numbers that a pass needs in addition to its accumulators.
typedef struct taper_reduce_args {
    double p;
} taper_reduce_args;

// One step of a pass over n elements. Accumulators are double, int64_t or taper_c128; both float classes use double.
// centre has the accumulators' type: one value per lane for lanes, a single value for a fold.
typedef void (*taper_reduce_lanes)(void *acc, const void *x, size_t n, const void *centre,
                                   const taper_reduce_args *args);
typedef void (*taper_reduce_fold)(void *acc, const void *x, size_t n, const void *centre,
                                  const taper_reduce_args *args);

typedef struct taper_reduce_op {
    // One function per class of elements; NULL if the class is not supported.
    taper_reduce_lanes lanes[TAPER_EW_CLASSES];
    taper_reduce_fold folds[TAPER_EW_CLASSES];
    double start;
    int64_t start_int;
    taper_reduction kernel;   // vector kernel for elements that are floats
    taper_native_fold native; // kernel of native.h for elements that are not floats
} taper_reduce_op;

typedef enum taper_reduce_centre { TAPER_CENTRE_NONE, TAPER_CENTRE_MEAN, TAPER_CENTRE_FINITE } taper_reduce_centre;

typedef enum taper_reduce_finish {
    TAPER_FINISH_SAME,  // the result is the accumulator itself
    TAPER_FINISH_MEAN,  // the result is the accumulator divided by the count
    TAPER_FINISH_RATIO, // the result is the first pass's accumulator divided by the second's
    TAPER_FINISH_SQRT,
    TAPER_FINISH_ROOT, // the result is the accumulator to the power 1/p
    TAPER_FINISH_VAR,  // the result is the second pass's accumulator divided by count - correction
    TAPER_FINISH_STD,
    TAPER_FINISH_LOG // the result is centre + log(accumulator)
} taper_reduce_finish;

typedef struct taper_reduce {
    taper_tensor *x;
    bool over[TAPER_MAX_RANK];
    bool keep;             // true if reduced dimensions remain, with size 1
    taper_ew_class class_; // class of arithmetic in which the elements are read
    const taper_reduce_op *first, *second;
    taper_reduce_centre centre;
    taper_reduce_finish finish;
    taper_reduce_args args;
    double correction;
    // For TAPER_FINISH_SQRT, ROOT and SAME: accumulators of at least this value become infinite. If it is 0, no
    // accumulator becomes infinite.
    double overflow;
    bool real;         // true if the result is the real part of a complex accumulator
    taper_dtype dtype; // dtype of the result
    bool mean_too;     // true if result 1 is the centre
} taper_reduce;

// Returns a reduction of x with one pass, with the class of arithmetic that fits dtype, the result's dtype, and with no
// dimension reduced yet.
taper_reduce taper_reduce_make(taper_tensor *x, const taper_reduce_op *op, taper_dtype dtype);
// Reads an int[], int[]? or int? argument and sets over[d] for each dimension d that it names. None or an empty list
// names all dimensions.
TAPER_MUST_USE taper_status taper_reduce_dims_arg(const taper_call *call, size_t at, size_t rank, bool *over);
static inline void taper_reduce_all(taper_reduce *r)
{
    memset(r->over, true, sizeof r->over);
}
// Writes the sizes of the result and returns its rank.
size_t taper_reduce_sizes(const taper_tensor *x, const bool *over, bool keep, int64_t *sizes);
TAPER_MUST_USE taper_status taper_reduce_run(taper_call *call, taper_reduce *r);
TAPER_MUST_USE taper_status taper_reduce_supported(const taper_call *call, const taper_tensor *x);

// Types and functions of the engine for other files, such as reduce_index.c. This struct is a dimension of a loop
// (walk) over results or over reduced elements.
typedef struct taper_reduce_dim {
    int64_t size, in, out; // size of the dimension; its steps in bytes, in the input (in) and in the result (out)
} taper_reduce_dim;

// Sorts the dimensions by `in`, the smallest first, and merges dimensions that are contiguous in both tensors. Returns
// the number that remains.
size_t taper_reduce_sort(taper_reduce_dim *dims, size_t count);
// Starts a walk over dims [from, count). The walk computes the offsets of the elements in the input and in the result,
// in bytes.
void taper_reduce_walk(taper_walk *walk, const taper_reduce_dim *dims, size_t from, size_t count);

// The lines of a tensor, for operators along one dimension (softmax, scans, picks, sorts). A line has the elements
// along `dim`; there is one line for each index of the other dimensions. If a line's elements are far apart,
// neighbouring lines are handled together, as lanes.
typedef struct taper_lines {
    taper_reduce_dim line; // dimension of a line's elements; has size 1 if the rank is 0
    taper_reduce_dim kept[TAPER_MAX_RANK];
    size_t kept_count;
    bool side_by_side; // true if neighbouring lines, along kept[0], are lanes
} taper_lines;
// Makes the lines of x along `dim`. out has x's dimensions. If `without` is set, out lacks `dim`; if `keep` is set too,
// `dim` has size 1 in out. If out is NULL, the lines have no steps in the result.
void taper_lines_make(taper_lines *lines, const taper_tensor *x, size_t dim, const taper_tensor *out, bool without,
                      bool keep);
// Handles `lanes` neighbouring lines along kept[0]. The first line begins at these offsets, in bytes.
typedef void taper_lines_task(void *argument, int64_t in, int64_t out, size_t lanes);
// Calls the task for all lines, on all threads, with up to `width` neighbours at a time. work is the time of an element
// in nanoseconds. No size may be 0.
TAPER_MUST_USE taper_status taper_lines_run(taper_run *run, const taper_lines *lines, size_t width,
                                            taper_lines_task *task, void *argument, double work);

extern const taper_reduce_op taper_reduce_sum, taper_reduce_nansum, taper_reduce_prod, taper_reduce_max,
    taper_reduce_min, taper_reduce_any, taper_reduce_every, taper_reduce_nonzero, taper_reduce_numbers,
    taper_reduce_abs_sum, taper_reduce_square_sum, taper_reduce_abs_max, taper_reduce_abs_min, taper_reduce_power_sum,
    taper_reduce_deviation, taper_reduce_exp_sum;

#endif
