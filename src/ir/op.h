// SPDX-License-Identifier: BSD-2-Clause
// What an operator is. The row of the operator list says it once, in one word of facts, and passes, planner and
// backends ask the row: nobody else keeps names of operators for what they are.
//
// The list itself is ops/list/op_list.h; here stands what can be known of a row without its code.
#ifndef TAPER_IR_OP_H
#define TAPER_IR_OP_H

#include <stdbool.h>
#include <stdint.h>

// A row: places in the tables of ops/list/op_table.h, which has functions for them.
typedef struct taper_op {
    uint32_t text; // the schema's
    uint16_t kernel, param;
    uint16_t next; // the next row of the same name, after the last one the first
    uint16_t facts;
} taper_op;

// What a call with a quantized tensor does (taper_row_on_quantized of ops/list/op_table.h). From TAPER_ON_QUANTIZED_OWN
// on it is run by a kernel, with 1 more where that takes tensors that are quantized per channel, too.
enum {
    TAPER_ON_QUANTIZED_NONE, // it is refused
    TAPER_ON_QUANTIZED_ANY,  // the row's kernel takes them as they are
    TAPER_ON_QUANTIZED_OWN   // and 2 * the number of the kernel
};

// ---- flags

// clang-format off
#define TAPER_OP_NHWC             (UINT64_C(1) << 0)  // takes hidden NHWC tensors as they are
#define TAPER_OP_NONDETERMINISTIC (UINT64_C(1) << 1)  // random numbers
#define TAPER_OP_EFFECT           (UINT64_C(1) << 2)  // prints, raises, changes something the schema does not say
#define TAPER_OP_VIEW             (UINT64_C(1) << 3)  // the result may alias an argument although the schema is plain
                                                      // (reshape, contiguous, to)
#define TAPER_OP_TARGET           (UINT64_C(1) << 4)  // taper:: operators of the target stage
#define TAPER_OP_OUT_COPY         (UINT64_C(1) << 5)  // a .out form that PyTorch made from the functional one: what that
                                                      // gives is copied, whatever the dtypes, into the out tensor, which
                                                      // is made contiguous when it has other sizes. The kernel sees none
#define TAPER_OP_OUT_CAST         (UINT64_C(1) << 6)  // the out tensor has a dtype that promotion lets the result's become
#define TAPER_OP_OUT_SAME         (UINT64_C(1) << 7)  // the out tensor has the result's dtype
#define TAPER_OP_OVERLAP          (UINT64_C(1) << 8)  // may write to a tensor whose elements share memory (an expanded
                                                      // one), as in PyTorch
#define TAPER_OP_PRODUCT          (UINT64_C(1) << 9)  // takes denormal numbers for zero, and gives none: docs/numerics.md
#define TAPER_OP_ELEMENTWISE      (UINT64_C(1) << 10) // an element of the result is made of those in its place
#define TAPER_OP_RESIZES          (UINT64_C(1) << 11) // gives argument 0 other sizes, or another dtype, in place
#define TAPER_OP_REPLACES         (UINT64_C(1) << 12) // gives argument 0 the memory of another tensor
#define TAPER_OP_NEW_VIEW         (UINT64_C(1) << 13) // gives a view of argument 0, or several, never the very object
#define TAPER_OP_SELF             (UINT64_C(1) << 14) // gives argument 0 itself
#define TAPER_OP_ITEM             (UINT64_C(1) << 15) // gives an item of argument 0
#define TAPER_OP_COPIES_ITEMS     (UINT64_C(1) << 16) // makes a list of the items of argument 0
#define TAPER_OP_ASKS_IDENTITY    (UINT64_C(1) << 17) // asks which object it is given, or which memory
#define TAPER_OP_NONE             (UINT64_C(1) << 18) // gives None, whatever the schema says
#define TAPER_OP_STATISTICS       (UINT64_C(1) << 19) // in training (argument 5) writes the running statistics, arguments
                                                      // 3 and 4, which the schema does not say
#define TAPER_OP_RAISES           (UINT64_C(1) << 20) // does nothing else
#define TAPER_OP_ANSWERS_NO       (UINT64_C(1) << 21) // asks what no tensor of Taper's is: is_cuda, is_sparse
#define TAPER_OP_PACKS            (UINT64_C(1) << 22) // makes the object of packed weights of its LAYER
#define TAPER_OP_PACKED           (UINT64_C(1) << 23) // runs its LAYER with such an object
#define TAPER_OP_ANY_ELEMENTS     (UINT64_C(1) << 24) // the elements are what was in the memory
#define TAPER_OP_APART            (UINT64_C(1) << 50) // what it writes to may share no memory with another argument, as
                                                      // in PyTorch
#define TAPER_OP_WHOLE            (UINT64_C(1) << 51) // it may share all of it, element by element, or none; with
                                                      // TAPER_OP_APART argument 0 may
#define TAPER_OP_ASKS_SHAPE       (UINT64_C(1) << 63) // gives a number that follows from sizes, strides and dtypes alone
#define TAPER_OP_CONVOLVES        (UINT64_C(1) << 54) // computes a convolution
#ifdef TAPER_WITH_OPERATORS
#define TAPER_OP_REGISTERED       (UINT64_C(1) << 25) // no row of the list, but the host's: ops/list/registered.h
#else
#define TAPER_OP_REGISTERED       UINT64_C(0)         // there are none
#endif
// clang-format on

// ---- fields: a fact that is one of several. TAPER_FIELD(facts, SHAPE) == TAPER_SHAPE_SAME

#define TAPER_FIELD(facts, field) ((unsigned)((facts) >> TAPER_##field##_AT) & ((1U << TAPER_##field##_BITS) - 1))
#define TAPER_FACT(field, what) ((uint64_t)(TAPER_##field##_##what) << TAPER_##field##_AT)
#define TAPER_FIELD_MASK(field) (((UINT64_C(1) << TAPER_##field##_BITS) - 1) << TAPER_##field##_AT)

// How the sizes of the results follow from the arguments (ops/infer).
enum { TAPER_SHAPE_AT = 26, TAPER_SHAPE_BITS = 6 };
typedef enum taper_op_shape {
    TAPER_SHAPE_UNKNOWN,   // from the elements, or nobody has asked yet
    TAPER_SHAPE_SAME,      // those of argument 0
    TAPER_SHAPE_BROADCAST, // of all tensors among the arguments
    TAPER_SHAPE_CONV,      // by LAYER, and the arguments of that name
    TAPER_SHAPE_POOL,
    TAPER_SHAPE_ADAPTIVE, // (input, output_size): the last dimensions are given
    TAPER_SHAPE_LINEAR,
    TAPER_SHAPE_MATMUL,        // of arguments 0 and 1; mm, bmm and mv among them
    TAPER_SHAPE_ADDED_PRODUCT, // of arguments 1 and 2: addmm, baddbmm
    TAPER_SHAPE_REDUCE,        // dim, keepdim
    TAPER_SHAPE_JOIN,          // cat
    TAPER_SHAPE_STACK,
    TAPER_SHAPE_GIVEN, // argument 1 has the sizes, one of which may be -1
    TAPER_SHAPE_FLATTEN,
    TAPER_SHAPE_TRANSPOSE,
    TAPER_SHAPE_MATRIX, // t: at most two dimensions, swapped
    TAPER_SHAPE_PERMUTE,
    TAPER_SHAPE_SQUEEZE,
    TAPER_SHAPE_UNSQUEEZE,
    TAPER_SHAPE_SELECT,
    TAPER_SHAPE_SLICE,
    TAPER_SHAPE_EXPAND,
    TAPER_SHAPE_PIECES, // a list of tensors that differ from argument 0 in dimension dim: split, chunk
    TAPER_SHAPE_UNBIND,
    TAPER_SHAPE_EMBED,  // embedding: those of argument 1, and a row of argument 0
    TAPER_SHAPE_INDEX,  // index_select
    TAPER_SHAPE_GATHER, // those of argument 2
    TAPER_SHAPE_RESIZE, // images: upsample
    TAPER_SHAPE_PAD,
    TAPER_SHAPE_SHUFFLE, // pixel_shuffle, pixel_unshuffle
    TAPER_SHAPE_CREATE,  // argument 0 has the sizes
    TAPER_SHAPE_PACKED,  // as many dimensions as argument 0
    TAPER_SHAPE_REPEAT,
    TAPER_SHAPE_OTHER,     // those of argument 1: expand_as
    TAPER_SHAPE_TOPK,      // k of dimension dim
    TAPER_SHAPE_SCALAR,    // no dimensions
    TAPER_SHAPE_RANGE,     // start, end, step: one dimension
    TAPER_SHAPE_REGION,    // (input, regions, …): of each region a small image
    TAPER_SHAPE_EINSUM,    // argument 0 says
    TAPER_SHAPE_HALF,      // of dimension dim: glu
    TAPER_SHAPE_RECURRENT, // (input, hx, …): rows of hidden sizes, then states as in hx
    TAPER_SHAPE_INDEXED,   // of one tensor of whole numbers in list 1, then those of argument 0 but the first: x[i]
    TAPER_SHAPE_NARROW,    // length of dimension dim
    TAPER_SHAPE_UNFLATTEN, // dimension dim becomes those of sizes, one of which may be -1
    TAPER_SHAPE_MASKED,    // of arguments 0 and 1, which broadcast: masked_scatter
    TAPER_SHAPE_COUNT
} taper_op_shape;

// How the dtype of result 0 does.
enum { TAPER_RESULT_AT = 32, TAPER_RESULT_BITS = 4 };
typedef enum taper_op_result {
    TAPER_RESULT_UNKNOWN,
    TAPER_RESULT_SAME,     // that of argument 0
    TAPER_RESULT_FLOAT,    // that of argument 0 where it is a floating one
    TAPER_RESULT_PROMOTED, // of the arguments, as promotion has it
    TAPER_RESULT_ONE,      // that of all tensors among the arguments, which must have the same one
    TAPER_RESULT_ITEMS,    // that of the tensors in list 0, promoted
    TAPER_RESULT_DTYPE,    // what argument dtype says; without one, that of argument 0
    TAPER_RESULT_F32,
    TAPER_RESULT_BOOL,
    TAPER_RESULT_I64
} taper_op_result;

// The function an operator computes, element by element, where somebody asks.
enum { TAPER_FUNCTION_AT = 36, TAPER_FUNCTION_BITS = 5 };
typedef enum taper_op_function {
    TAPER_FUNCTION_OTHER,
    TAPER_FUNCTION_RELU,
    TAPER_FUNCTION_RELU6,
    TAPER_FUNCTION_CLAMP, // argument 1 is the lower bound, 2 the upper one; None, or not there: none
    TAPER_FUNCTION_HARDSWISH,
    TAPER_FUNCTION_HARDSIGMOID,
    TAPER_FUNCTION_SILU,
    TAPER_FUNCTION_SIGMOID,
    TAPER_FUNCTION_GELU,
    TAPER_FUNCTION_TANH,
    TAPER_FUNCTION_ELU,
    TAPER_FUNCTION_LEAKY_RELU,
    TAPER_FUNCTION_ADD,
    TAPER_FUNCTION_ADD_RELU,
    TAPER_FUNCTION_MUL,
    TAPER_FUNCTION_MUL_RELU,
    TAPER_FUNCTION_LT, // of numbers, these
    TAPER_FUNCTION_LE,
    TAPER_FUNCTION_EQ,
    TAPER_FUNCTION_NE,
    TAPER_FUNCTION_GE,
    TAPER_FUNCTION_GT
} taper_op_function;

// The layer of a network that it is, or that it packs weights for.
enum { TAPER_LAYER_AT = 41, TAPER_LAYER_BITS = 4 };
typedef enum taper_op_layer {
    TAPER_LAYER_NONE,
    TAPER_LAYER_CONV1,
    TAPER_LAYER_CONV2,
    TAPER_LAYER_CONV3,
    TAPER_LAYER_CONV_TRANSPOSED1,
    TAPER_LAYER_CONV_TRANSPOSED2,
    TAPER_LAYER_CONV_TRANSPOSED3,
    TAPER_LAYER_CONV,   // its arguments say which
    TAPER_LAYER_LINEAR, // the last of those that taper_layer_match takes
    TAPER_LAYER_BATCH_NORM,
    TAPER_LAYER_LSTM,
    TAPER_LAYER_GRU,
    TAPER_LAYER_DROPOUT,
    TAPER_LAYER_POOL
} taper_op_layer;

// Whose operator on packed weights it is.
enum { TAPER_PACKER_AT = 45, TAPER_PACKER_BITS = 2 };
typedef enum taper_op_packer {
    TAPER_PACKER_NONE,
    TAPER_PACKER_XNNPACK,
    TAPER_PACKER_VULKAN,
    TAPER_PACKER_METAL
} taper_op_packer;

// What it is when a model is quantized (compiler/quantization.h).
enum { TAPER_QUANTIZED_AT = 47, TAPER_QUANTIZED_BITS = 3 };
typedef enum taper_op_quantized {
    TAPER_QUANTIZED_NONE,
    TAPER_QUANTIZED_KEEP,  // the result has scale and zero point of the input
    TAPER_QUANTIZED_FIXED, // always the same ones: those of the FUNCTION's range
    TAPER_QUANTIZED_CURVE, // an operator of one tensor that is told scale and zero point of its result
    TAPER_QUANTIZED_PAIR,  // sum or product of two tensors
    TAPER_QUANTIZED_JOIN,  // cat: those of its inputs, which are all the same
    TAPER_QUANTIZED_ROW    // it is the quantized operator of its FUNCTION
} taper_op_quantized;

// In which dtype it takes its floats within autocast for the CPU, as PyTorch 2.15 has it for all overloads of a name.
enum { TAPER_AUTOCAST_AT = 52, TAPER_AUTOCAST_BITS = 2 };
typedef enum taper_op_autocast {
    TAPER_AUTOCAST_NONE,    // as they are
    TAPER_AUTOCAST_LOWER,   // that of autocast
    TAPER_AUTOCAST_FLOAT32, // float32
    TAPER_AUTOCAST_WIDEST   // the widest that it is given
} taper_op_autocast;

extern const uint64_t taper_op_words[]; // the list's, each fact once
inline uint64_t taper_op_facts(const taper_op *op)
{
    return taper_op_words[op->facts];
}
static inline bool taper_op_has(const taper_op *op, uint64_t flag)
{
    return (taper_op_facts(op) & flag) != 0;
}

#endif
