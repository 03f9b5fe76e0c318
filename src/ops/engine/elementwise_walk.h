// SPDX-License-Identifier: BSD-2-Clause
// The walk of the elementwise engine over its sides (elementwise_walk.c), and what it does with the elements of a line
// (elementwise_inner.c): the operator's loop over a class of arithmetic, or a kernel that takes them as they are.
#ifndef TAPER_OPS_ELEMENTWISE_WALK_H
#define TAPER_OPS_ELEMENTWISE_WALK_H

#include "ops/engine/elementwise_vector.h"

typedef struct taper_ew_side {
    char *data;
    taper_dtype dtype;
    taper_ew_class class_;
    taper_dtype wanted;        // how the elements lie that the inner loop takes or gives
    taper_cast_function *cast; // between the two, of elements side by side, if there is one
    taper_dtype common;        // what lies between, if it holds less: halves, narrow integers
    bool direct;               // the loops take the memory itself
    bool standing;             // no step along the innermost dimension
    bool constant;             // nor along any other
    bool filled;
    bool flat;                     // the lines of a tile lie one behind the other
    int64_t steps[TAPER_MAX_RANK]; // bytes, innermost first
    uint8_t number[16];            // a 0-dim input in the common dtype
} taper_ew_side;

// Computed over `rank` dimensions, the innermost first; side 0 is the result.
typedef struct taper_ew_lines {
    size_t rank, sides;
    int64_t sizes[TAPER_MAX_RANK];
    taper_ew_side side[TAPER_EW_INPUTS + 1];
} taper_ew_lines;

// What is computed: dtypes, classes and the loop of the class.
typedef struct taper_ew_decision {
    taper_dtype common, result;
    taper_ew_class in_class, out_class;
    taper_ew_loop loop;
} taper_ew_decision;

// What a line's elements go through: the operator's loop, a kernel of native.h, or one of vector_f32.h.
typedef struct taper_ew_inner {
    taper_ew_loop loop;
    taper_native_function *native; // NULL: none
    taper_native_numbers numbers;
    bool swaps;                  // the kernel takes the second input first
    taper_ew_vector_loop floats; // of none: neither unary nor binary
} taper_ew_inner;

// The best that there is for these sides, whose steps are known; tells each how its elements are wanted.
void taper_ew_choose_inner(const taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                           const taper_ew_decision *d, taper_ew_lines *w, taper_ew_inner *inner);
void taper_ew_run_inner(const taper_ew_inner *inner, const taper_ew_lines *w, size_t n, void *out,
                        const void *const *in, taper_ew_args *args);
// n elements of an input, from `from` on, into a block, as wanted; and of a block to where the result is. The first
// only, n times, of a side that stands still.
void taper_ew_side_load(const taper_ew_inner *inner, const taper_ew_side *s, const char *from, int64_t step, size_t n,
                        taper_ew_block *to, taper_ew_block *temp);
void taper_ew_side_store(const taper_ew_inner *inner, const taper_ew_side *s, char *to, int64_t step, size_t n,
                         taper_ew_block *from, taper_ew_block *temp);

// What sides are converted in, and moved together.
typedef struct taper_ew_blocks {
    taper_ew_block side[TAPER_EW_INPUTS + 1], temp, moved;
} taper_ew_blocks;

// What the elements of a tile or line take, of any operator.
enum { TAPER_EW_WORK = 16, TAPER_EW_WORK_OF_A_LINE = 20 };

// Lays tensor over the result's dimensions.
void taper_ew_side_set(taper_ew_side *s, const taper_ew_lines *w, const taper_tensor *tensor, taper_ew_class class_);
// Computes all elements. keeps: the result is the new one of the call.
TAPER_MUST_USE taper_status taper_ew_lines_run(taper_call *call, taper_ew *ew, const taper_ew_decision *d,
                                               taper_ew_lines *w, bool keeps);

#endif
