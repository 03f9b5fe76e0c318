// SPDX-License-Identifier: BSD-2-Clause
// The elementwise engine. An operator is a taper_ew_op: how its dtype follows from its inputs, and loops over
// contiguous elements for the classes of arithmetic it has. The engine does the rest: broadcasting, promotion,
// PyTorch's result strides, in-place and out forms, hidden NHWC, other dtypes and strides (gathered and converted a
// block at a time).
#ifndef TAPER_OPS_ELEMENTWISE_H
#define TAPER_OPS_ELEMENTWISE_H

#include "ops/call/promote.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/cast.h"

// What the loops compute in. float16 and bfloat16 use F32, every integer I64, every complex C128.
typedef enum taper_ew_class {
    TAPER_EW_F32,
    TAPER_EW_F64,
    TAPER_EW_I64,
    TAPER_EW_U8, // bool
    TAPER_EW_C128,
    TAPER_EW_CLASSES
} taper_ew_class;

typedef struct taper_c128 {
    double re, im;
} taper_c128;

enum { TAPER_EW_SCALARS = 4, TAPER_EW_INPUTS = 3 };

// The numbers an operator takes besides its operands, in the forms that the loops want.
typedef struct taper_ew_args {
    double f[TAPER_EW_SCALARS];
    int64_t i[TAPER_EW_SCALARS];
    taper_c128 c[TAPER_EW_SCALARS];
    bool zero_division; // set by a loop
    bool stopped;       // likewise, when the run is to end
    taper_run *run;     // for loops whose elements take long; NULL outside of a walk
    int64_t steps;      // theirs, since they charged them
} taper_ew_args;

// out and the inputs are n elements of their class; out may be the same memory as an input.
typedef void (*taper_ew_loop)(size_t n, void *out, const void *const *in, taper_ew_args *args);

// What is left of a computation after broadcasting: loops over `rank` dimensions, the innermost first, side 0 the
// result. Steps are in bytes.
typedef struct taper_ew_walk {
    size_t rank, sides;
    const int64_t *sizes;
    char *data[TAPER_EW_INPUTS + 1];
    const int64_t *steps[TAPER_EW_INPUTS + 1];
} taper_ew_walk;

typedef enum taper_ew_promote {
    TAPER_EW_KEEP, // the common dtype
    TAPER_EW_FLOAT // integers and bool become float32
} taper_ew_promote;

typedef enum taper_ew_result {
    TAPER_EW_SAME, // the common dtype
    TAPER_EW_BOOL, // the loops write uint8_t
    TAPER_EW_REAL  // the real dtype of a complex one, for which the loop writes double
} taper_ew_result;

typedef enum taper_ew_layout {
    TAPER_EW_ITERATOR,   // as PyTorch's TensorIterator decides
    TAPER_EW_CONTIGUOUS, // whatever the inputs are
    TAPER_EW_LIKE        // as empty_like of the first input
} taper_ew_layout;

typedef struct taper_ew_op {
    taper_ew_loop loops[TAPER_EW_CLASSES]; // NULL: PyTorch has none; without U8, bool is computed in I64
    uint8_t promote, result;
    uint8_t scalars; // that many arguments behind the operands are numbers for args
    uint8_t masks;   // bit k: input k is a bool tensor that takes no part in promotion
    bool no_bool;    // bool is refused
    uint8_t kernel;  // of vectors of floats: elementwise_loops.h; 0: none
    uint8_t native;  // of ops/kernels/native.h, likewise
    bool converts;   // the elements stay what they are, but for the dtype
} taper_ew_op;

typedef struct taper_ew_input {
    taper_tensor *tensor; // NULL: the scalar
    taper_scalar scalar;
    uint8_t at; // which argument it is, + 1; 0: none
} taper_ew_input;

typedef struct taper_ew {
    const taper_ew_op *op;
    size_t ret; // the result that is computed
    size_t count;
    taper_ew_input inputs[TAPER_EW_INPUTS];
    taper_ew_args args;
    int common;       // the dtype to compute in; -1: by promotion
    int result;       // the result's dtype; -1: as op says
    uint8_t layout;   // of a new result
    bool whole;       // the call does nothing else: what is found out may be kept (ops/call/prepared.h)
    bool unconverted; // the inputs' strides decide as they are, although common is another dtype
} taper_ew;

inline taper_ew taper_ew_make(const taper_ew_op *op)
{
    taper_ew ew;
    memset(&ew, 0, sizeof ew);
    ew.op = op;
    ew.common = ew.result = -1;
    return ew;
}
void taper_ew_set_scalar(taper_ew_args *args, size_t at, const taper_scalar *scalar);
// Argument at of the call, a Tensor or a number, becomes the next input.
TAPER_MUST_USE taper_status taper_ew_input_arg(taper_ew *ew, const taper_call *call, size_t at);
inline void taper_ew_input_tensor(taper_ew *ew, taper_tensor *tensor)
{
    ew->inputs[ew->count++].tensor = tensor;
}
static inline void taper_ew_input_scalar(taper_ew *ew, taper_scalar scalar)
{
    ew->inputs[ew->count++].scalar = scalar;
}
// The common dtype of the inputs, the operator's promotion applied.
taper_dtype taper_ew_common(const taper_ew *ew);
TAPER_MUST_USE taper_status taper_ew_run(taper_call *call, taper_ew *ew);
// The same for a few floats that all lie alike (elementwise_plain.c); otherwise not *done.
TAPER_MUST_USE taper_status taper_ew_run_plain(taper_call *call, taper_ew *ew, bool *done);
// The same with the result in a new tensor of its own instead of a result of the call.
TAPER_MUST_USE taper_status taper_ew_compute(taper_call *call, taper_ew *ew, taper_tensor **result);
// to = op(inputs) for a tensor whose storage may be written; inputs must broadcast to it.
TAPER_MUST_USE taper_status taper_ew_into(taper_call *call, taper_ew *ew, taper_tensor *to);

// Every element of the walk as another dtype (elementwise_cast.c); TAPER_DECLINED: nothing was done.
TAPER_MUST_USE taper_status taper_ew_cast(taper_run *run, taper_dtype from, taper_dtype to, const taper_ew_walk *walk);
// The kernel for it, of elements side by side; NULL: there is none.
taper_cast_function *taper_ew_find_cast(uint64_t cpu, taper_dtype from, taper_dtype to);
// After a run of the whole call by a plan (elementwise_vector.h), with a new result: calls made alike go over the same
// walk.
typedef struct taper_ew_vector_plan taper_ew_vector_plan;
void taper_ew_keep_walk(taper_call *call, const taper_ew *ew, const taper_ew_walk *walk,
                        const taper_ew_vector_plan *plan);

// ---- blocks (elementwise_convert.c)

enum { TAPER_EW_BLOCK_BYTES = 4096 };
typedef union taper_ew_block {
    double f64[TAPER_EW_BLOCK_BYTES / 8];
    float f32[TAPER_EW_BLOCK_BYTES / 4];
    int64_t i64[TAPER_EW_BLOCK_BYTES / 8];
    uint8_t u8[TAPER_EW_BLOCK_BYTES];
    taper_c128 c128[TAPER_EW_BLOCK_BYTES / 16];
} taper_ew_block;

// The class of arithmetic of a dtype; quantized ones have none (TAPER_EW_CLASSES).
taper_ew_class taper_ew_class_of(taper_dtype dtype);
// The dtype whose elements lie in memory as the class wants them, and whether a dtype is that.
taper_dtype taper_ew_native(taper_ew_class class_);
bool taper_ew_is_native(taper_dtype dtype, taper_ew_class class_);
size_t taper_ew_class_size(taper_ew_class class_);
// Reads n elements, step bytes apart, as class_; temp holds a block. Writes likewise.
void taper_ew_load(taper_dtype dtype, taper_ew_class class_, void *to, const void *from, int64_t step, size_t n,
                   taper_ew_block *temp);
void taper_ew_store(taper_dtype dtype, taper_ew_class class_, void *to, int64_t step, const void *from, size_t n,
                    taper_ew_block *temp);

// ---- strides (elementwise_shape.c)

// The strides that PyTorch's TensorIterator gives a new result. Operands that are NULL are numbers; those that are not
// masks count as converted to the common dtype.
void taper_ew_result_strides(size_t rank, const int64_t *sizes, taper_tensor *const *operands, size_t count,
                             taper_dtype common, unsigned masks, int64_t *strides);
// Broadcasts sizes into *rank and result.
TAPER_MUST_USE taper_status taper_ew_broadcast(size_t *rank, int64_t *result, const taper_tensor *tensor,
                                               taper_error *error);

// Before a loop whose result may be one of its inputs: element by element, so it can be vectorized all the same. clang
// finds out by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define TAPER_EW_VECTOR _Pragma("GCC ivdep")
#else
#define TAPER_EW_VECTOR
#endif

#endif
