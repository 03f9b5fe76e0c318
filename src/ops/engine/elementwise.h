// SPDX-License-Identifier: BSD-2-Clause
// The elementwise engine. An operator is a taper_ew_op: the rule for its dtype, and one loop over contiguous elements
// for each class of arithmetic that it supports. The engine does the rest: broadcasting, promotion, PyTorch's result
// strides, in-place and .out variants, and hidden NHWC (bytes that are channels-last although PyTorch's tensor is
// contiguous, ir/tensor_def.h). Elements of other dtypes and strides are gathered and converted a block at a time.
#ifndef TAPER_OPS_ELEMENTWISE_H
#define TAPER_OPS_ELEMENTWISE_H

#include "ops/call/promote.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/cast.h"

// The type a loop computes in. float16 and bfloat16 use F32, every integer I64, every complex dtype C128.
typedef enum taper_ew_class {
    TAPER_EW_F32,
    TAPER_EW_F64,
    TAPER_EW_I64,
    TAPER_EW_U8, // class of bool
    TAPER_EW_C128,
    TAPER_EW_CLASSES
} taper_ew_class;

typedef struct taper_c128 {
    double re, im;
} taper_c128;

enum { TAPER_EW_SCALARS = 4, TAPER_EW_INPUTS = 3 };

// The numbers that an operator takes in addition to its operands, each stored as double, as int64_t and as a complex
// number, because loops read different types.
typedef struct taper_ew_args {
    double f[TAPER_EW_SCALARS];
    int64_t i[TAPER_EW_SCALARS];
    taper_c128 c[TAPER_EW_SCALARS];
    bool zero_division; // set by a loop that divided by zero
    bool stopped;       // set by a loop that left early because the run must end
    // The run whose time budget loops with slow elements charge; NULL outside the engine's loops over the elements.
    taper_run *run;
    // Number of steps that a loop of unknown length has done, but not charged to the run's time budget yet.
    int64_t steps;
} taper_ew_args;

// Computes n elements of out from n elements of each input, all of the loop's class. out may be the memory of an input.
typedef void (*taper_ew_loop)(size_t n, void *out, const void *const *in, taper_ew_args *args);

// A computation after broadcasting: nested loops over `rank` dimensions, the innermost first. Side 0 is the result, and
// the other sides are the inputs. Steps are in bytes.
typedef struct taper_ew_walk {
    size_t rank, sides;
    const int64_t *sizes;
    char *data[TAPER_EW_INPUTS + 1];
    const int64_t *steps[TAPER_EW_INPUTS + 1];
} taper_ew_walk;

typedef enum taper_ew_promote {
    TAPER_EW_KEEP, // the operator computes in the common dtype
    TAPER_EW_FLOAT // the operator computes in the common dtype, or in float32 if the common dtype is an integer dtype
                   // or bool
} taper_ew_promote;

typedef enum taper_ew_result {
    TAPER_EW_SAME, // the result has the common dtype
    TAPER_EW_BOOL, // the result is bool; the loops write uint8_t
    TAPER_EW_REAL  // for a complex dtype the result has the dtype of its real part, and the loop writes double
} taper_ew_result;

typedef enum taper_ew_layout {
    TAPER_EW_ITERATOR,   // the strides that PyTorch's TensorIterator chooses
    TAPER_EW_CONTIGUOUS, // contiguous, for any inputs
    TAPER_EW_LIKE        // the strides of empty_like of the first input
} taper_ew_layout;

typedef struct taper_ew_op {
    // One loop per class; NULL if PyTorch does not support the class. Without a loop for U8, bool is computed in I64.
    taper_ew_loop loops[TAPER_EW_CLASSES];
    uint8_t promote, result;
    uint8_t scalars; // number of arguments after the operands, which become the numbers in taper_ew_args
    uint8_t masks;   // bit k: input k is a bool tensor that takes no part in promotion
    bool no_bool;    // true if the operator refuses bool
    uint8_t kernel;  // vector kernel for floats (elementwise_loops.h), or 0 if there is none
    uint8_t native;  // kernel of ops/kernels/native.h, or 0 if there is none
    bool converts;   // true if the operator only converts to another dtype
} taper_ew_op;

typedef struct taper_ew_input {
    taper_tensor *tensor; // NULL if the input is the number in `scalar`
    taper_scalar scalar;
    uint8_t at; // index of the argument of the call, plus 1; 0 if the input is not an argument
} taper_ew_input;

typedef struct taper_ew {
    const taper_ew_op *op;
    size_t ret; // index of the result that is computed
    size_t count;
    taper_ew_input inputs[TAPER_EW_INPUTS];
    taper_ew_args args;
    int common;     // the dtype to compute in; -1 if it follows from promotion
    int result;     // dtype of the result; -1 if it follows from `op`
    uint8_t layout; // taper_ew_layout of a new result
    // True if the call does nothing but this computation, so its decisions may be kept for later calls
    // (ops/call/prepared.h).
    bool whole;
    bool unconverted; // true if the inputs' own strides decide the result's strides, even if the inputs are converted
                      // to another dtype first
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
// Appends argument `at` of the call, a Tensor or a number, to the inputs.
TAPER_MUST_USE taper_status taper_ew_input_arg(taper_ew *ew, const taper_call *call, size_t at);
inline void taper_ew_input_tensor(taper_ew *ew, taper_tensor *tensor)
{
    ew->inputs[ew->count++].tensor = tensor;
}
static inline void taper_ew_input_scalar(taper_ew *ew, taper_scalar scalar)
{
    ew->inputs[ew->count++].scalar = scalar;
}
// Returns the common dtype of the inputs after the operator's promotion.
taper_dtype taper_ew_common(const taper_ew *ew);
TAPER_MUST_USE taper_status taper_ew_run(taper_call *call, taper_ew *ew);
// Does the work of taper_ew_run for at most a few thousand floats of equal shape and layout (elementwise_plain.c). For
// other calls, sets *done to false and does nothing.
TAPER_MUST_USE taper_status taper_ew_run_plain(taper_call *call, taper_ew *ew, bool *done);
// Does the work of taper_ew_run, but stores the result in a new tensor instead of a result of the call. The caller owns
// *result.
TAPER_MUST_USE taper_status taper_ew_compute(taper_call *call, taper_ew *ew, taper_tensor **result);
// Computes to = op(inputs). The storage of `to` must be writable, and the inputs must broadcast to its sizes.
TAPER_MUST_USE taper_status taper_ew_into(taper_call *call, taper_ew *ew, taper_tensor *to);

// Converts every element of the walk (elementwise_cast.c). Returns TAPER_DECLINED, with nothing done, if no kernel
// converts between these dtypes.
TAPER_MUST_USE taper_status taper_ew_cast(taper_run *run, taper_dtype from, taper_dtype to, const taper_ew_walk *walk);
// Returns the kernel that converts contiguous elements, or NULL if there is none.
taper_cast_function *taper_ew_find_cast(uint64_t cpu, taper_dtype from, taper_dtype to);
// Keeps the walk and the plan (elementwise_vector.h) for later calls with equal arguments. The call must consist of
// this operator only and have a new result, and this plan must have computed it.
typedef struct taper_ew_vector_plan taper_ew_vector_plan;
void taper_ew_keep_walk(taper_call *call, const taper_ew *ew, const taper_ew_walk *walk,
                        const taper_ew_vector_plan *plan);

// ---- blocks of elements in the type of a class (elementwise_convert.c)

enum { TAPER_EW_BLOCK_BYTES = 4096 };
typedef union taper_ew_block {
    double f64[TAPER_EW_BLOCK_BYTES / 8];
    float f32[TAPER_EW_BLOCK_BYTES / 4];
    int64_t i64[TAPER_EW_BLOCK_BYTES / 8];
    uint8_t u8[TAPER_EW_BLOCK_BYTES];
    taper_c128 c128[TAPER_EW_BLOCK_BYTES / 16];
} taper_ew_block;

// Returns the class of arithmetic of a dtype, or TAPER_EW_CLASSES for quantized dtypes, which have none.
taper_ew_class taper_ew_class_of(taper_dtype dtype);
// Returns the dtype whose elements are stored in the type that the class computes in. taper_ew_is_native returns true
// if dtype is that dtype.
taper_dtype taper_ew_native(taper_ew_class class_);
bool taper_ew_is_native(taper_dtype dtype, taper_ew_class class_);
size_t taper_ew_class_size(taper_ew_class class_);
// taper_ew_load reads n elements, `step` bytes apart, and converts them to class_. taper_ew_store converts back and
// writes. temp is a block for intermediate values.
void taper_ew_load(taper_dtype dtype, taper_ew_class class_, void *to, const void *from, int64_t step, size_t n,
                   taper_ew_block *temp);
void taper_ew_store(taper_dtype dtype, taper_ew_class class_, void *to, int64_t step, const void *from, size_t n,
                    taper_ew_block *temp);

// ---- strides of results (elementwise_shape.c)

// Computes the strides that PyTorch's TensorIterator gives a new result. A NULL operand is a number. Operands that are
// not masks count as converted to the common dtype.
void taper_ew_result_strides(size_t rank, const int64_t *sizes, taper_tensor *const *operands, size_t count,
                             taper_dtype common, unsigned masks, int64_t *strides);
// Broadcasts the sizes of tensor into *rank and result. Fails if they do not match.
TAPER_MUST_USE taper_status taper_ew_broadcast(size_t *rank, int64_t *result, const taper_tensor *tensor,
                                               taper_error *error);

// TAPER_EW_VECTOR precedes a loop whose result may be one of its inputs. The loop reads and writes the same element, so
// GCC may vectorize it despite the alias. clang does not need this.
#if defined(__GNUC__) && !defined(__clang__)
#define TAPER_EW_VECTOR _Pragma("GCC ivdep")
#else
#define TAPER_EW_VECTOR
#endif

#endif
