// SPDX-License-Identifier: BSD-2-Clause
// The walk of the elementwise engine: its loops over the elements of its sides, the result and the inputs
// (elementwise_walk.c). The file also describes the work on the elements of a line (elementwise_inner.c): the
// operator's loop for a class of arithmetic, or a kernel that reads the elements unconverted.
#ifndef TAPER_OPS_ELEMENTWISE_WALK_H
#define TAPER_OPS_ELEMENTWISE_WALK_H

#include "ops/engine/elementwise_vector.h"

typedef struct taper_ew_side {
    char *data;
    taper_dtype dtype;
    taper_ew_class class_;
    taper_dtype wanted;        // dtype of the elements that the inner loop reads or writes
    taper_cast_function *cast; // kernel that converts contiguous elements between dtype and wanted, or NULL
    taper_dtype common; // narrower dtype to which elements are rounded between the conversions (half, narrow integers)
    bool direct;        // true if the loops read or write the side's memory itself
    bool standing;      // true if the step of the innermost dimension is 0
    bool constant;      // true if the steps of all dimensions are 0
    bool filled;
    bool flat;                     // true if the lines of a tile are contiguous, one after the other
    int64_t steps[TAPER_MAX_RANK]; // step of each dimension in bytes, innermost dimension first
    uint8_t number[16];            // value of a 0-dim input, in the common dtype
} taper_ew_side;

// The dimensions of a computation, the innermost first, and its sides: side 0 is the result, the other sides are the
// inputs.
typedef struct taper_ew_lines {
    size_t rank, sides;
    int64_t sizes[TAPER_MAX_RANK];
    taper_ew_side side[TAPER_EW_INPUTS + 1];
} taper_ew_lines;

// The dtypes and classes of a computation, and the loop of its class.
typedef struct taper_ew_decision {
    taper_dtype common, result;
    taper_ew_class in_class, out_class;
    taper_ew_loop loop;
} taper_ew_decision;

// The code that computes a line's elements: the operator's loop, a kernel of native.h, or a kernel of vector_f32.h.
typedef struct taper_ew_inner {
    taper_ew_loop loop;
    taper_native_function *native; // kernel for elements of their own dtype, or NULL
    taper_native_numbers numbers;
    taper_lines_f64 *lines; // kernel for lines of doubles, some of which may be broadcast, or NULL
    bool swaps;             // true if the kernel takes the second input first
    taper_ew_vector_loop
        floats; // vector kernel for floats; its members unary and binary are NULL if there is no kernel
} taper_ew_inner;

// Chooses the fastest code for these sides, whose steps are set. Sets `wanted` and `common` of each side.
void taper_ew_choose_inner(const taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                           const taper_ew_decision *d, taper_ew_lines *w, taper_ew_inner *inner);
void taper_ew_run_inner(const taper_ew_inner *inner, const taper_ew_lines *w, size_t n, void *out,
                        const void *const *in, taper_ew_args *args);
// taper_ew_side_load copies n elements of an input, starting at `from`, into a block, in the dtype `wanted`.
// taper_ew_side_store copies n elements of a block to the result. temp is a block for intermediate values.
void taper_ew_side_load(const taper_ew_inner *inner, const taper_ew_side *s, const char *from, int64_t step, size_t n,
                        taper_ew_block *to, taper_ew_block *temp);
void taper_ew_side_store(const taper_ew_inner *inner, const taper_ew_side *s, char *to, int64_t step, size_t n,
                         taper_ew_block *from, taper_ew_block *temp);

// The blocks in which elements are converted (side, temp) and gathered (moved).
typedef struct taper_ew_blocks {
    taper_ew_block side[TAPER_EW_INPUTS + 1], temp, moved;
} taper_ew_blocks;

// TAPER_EW_WORK: estimated time of one element, for any operator. TAPER_EW_WORK_OF_A_LINE: additional time of a line.
// Both times are in nanoseconds.
enum { TAPER_EW_WORK = 16, TAPER_EW_WORK_OF_A_LINE = 20 };

// Sets the side's data and its steps along the result's dimensions; a broadcast dimension has step 0.
void taper_ew_side_set(taper_ew_side *s, const taper_ew_lines *w, const taper_tensor *tensor, taper_ew_class class_);
// Computes all elements. `keeps` is true if the result is a new result of the call, so the walk may be kept for later
// calls.
TAPER_MUST_USE taper_status taper_ew_lines_run(taper_call *call, taper_ew *ew, const taper_ew_decision *d,
                                               taper_ew_lines *w, bool keeps);

#endif
