// SPDX-License-Identifier: BSD-2-Clause
// The facts about an operator. Its entry in the operator list states them once, in one 64-bit word. Passes, backends
// and the code that calls operators read this word; no other code keeps a list of operator names for a property.
//
// The list itself is ops/list/op_list.h. This header contains only facts, so code that includes it does not depend on
// the operators' implementations.
#ifndef TAPER_IR_OP_H
#define TAPER_IR_OP_H

#include <stdbool.h>
#include <stdint.h>

// An operator of the list. Its members are indices into the tables of ops/list/op_table.h, which has functions that
// read them.
typedef struct taper_op {
    uint32_t text; // index of the schema's text
    uint16_t kernel, param;
    uint16_t next; // index of the next operator with the same name; the last one refers to the first
    uint16_t facts;
} taper_op;

// How an operator handles a call with a quantized tensor (taper_row_on_quantized of ops/list/op_table.h). Values from
// TAPER_ON_QUANTIZED_OWN on give the number of a separate kernel. The lowest bit of the value tells if that
// kernel also takes tensors quantized per channel.
enum {
    TAPER_ON_QUANTIZED_NONE, // the call is refused
    TAPER_ON_QUANTIZED_ANY,  // the operator's own kernel takes quantized tensors
    // First value for separate kernels. The value for kernel n is this value plus 2 * n, plus 1 if the kernel takes
    // tensors quantized per channel.
    TAPER_ON_QUANTIZED_OWN
};

// ---- flags

// clang-format off
#define TAPER_OP_NHWC             (UINT64_C(1) << 0)  // accepts tensors with hidden_nhwc (ir/tensor_def.h) unchanged
#define TAPER_OP_NONDETERMINISTIC (UINT64_C(1) << 1)  // uses random numbers
#define TAPER_OP_EFFECT           (UINT64_C(1) << 2)  // prints, raises, or has another effect that the schema does not
                                                      // state
#define TAPER_OP_VIEW             (UINT64_C(1) << 3)  // the result may alias an argument although the schema does not
                                                      // say so (reshape, contiguous, to)
#define TAPER_OP_TARGET           (UINT64_C(1) << 4)  // operator taper::… in graphs that run, never in files
#define TAPER_OP_OUT_COPY         (UINT64_C(1) << 5)  // a .out form that PyTorch made from the functional one. The
                                                      // result is copied, whatever its dtype, into the out tensor,
                                                      // which becomes contiguous if it had other sizes. The kernel does
                                                      // not get the out tensor
#define TAPER_OP_OUT_CAST         (UINT64_C(1) << 6)  // the out tensor may have any dtype that promotion allows for the
                                                      // result
#define TAPER_OP_OUT_SAME         (UINT64_C(1) << 7)  // the out tensor must have the result's dtype
#define TAPER_OP_OVERLAP          (UINT64_C(1) << 8)  // may write to a tensor whose elements share memory (an expanded
                                                      // tensor), as in PyTorch
#define TAPER_OP_PRODUCT          (UINT64_C(1) << 9)  // treats denormal numbers as zero, and its results are never
                                                      // denormal: docs/numerics.md
#define TAPER_OP_ELEMENTWISE      (UINT64_C(1) << 10) // each element of the result depends only on the elements at the
                                                      // same index
#define TAPER_OP_RESIZES          (UINT64_C(1) << 11) // changes sizes or dtype of argument 0 in place
#define TAPER_OP_REPLACES         (UINT64_C(1) << 12) // makes argument 0 refer to the memory of another tensor
#define TAPER_OP_NEW_VIEW         (UINT64_C(1) << 13) // returns one or several views of argument 0, never the object
                                                      // itself
#define TAPER_OP_SELF             (UINT64_C(1) << 14) // returns argument 0 itself, not a copy
#define TAPER_OP_ITEM             (UINT64_C(1) << 15) // returns an item of argument 0
#define TAPER_OP_COPIES_ITEMS     (UINT64_C(1) << 16) // returns a list with the items of argument 0
#define TAPER_OP_ASKS_IDENTITY    (UINT64_C(1) << 17) // the result depends on the identity of an object or on an
                                                      // address
#define TAPER_OP_NONE             (UINT64_C(1) << 18) // returns None, although the schema declares a result
#define TAPER_OP_STATISTICS       (UINT64_C(1) << 19) // in training (argument 5) writes the running statistics,
                                                      // arguments 3 and 4, although the schema does not say so
#define TAPER_OP_RAISES           (UINT64_C(1) << 20) // has no effect except raising
#define TAPER_OP_ANSWERS_NO       (UINT64_C(1) << 21) // asks for a property that no tensor in Taper has: is_cuda,
                                                      // is_sparse
#define TAPER_OP_PACKS            (UINT64_C(1) << 22) // creates the object with the packed weights of the layer in
                                                      // LAYER
#define TAPER_OP_PACKED           (UINT64_C(1) << 23) // runs the layer in LAYER with an object of packed weights
#define TAPER_OP_ANY_ELEMENTS     (UINT64_C(1) << 24) // the elements of the result are uninitialized memory
#define TAPER_OP_APART            (UINT64_C(1) << 50) // writes to an argument that must not share memory with another
                                                      // argument, as in PyTorch
#define TAPER_OP_WHOLE            (UINT64_C(1) << 51) // may write to an argument if each of its elements is also the
                                                      // same element of another argument. The two arguments must not
                                                      // share only a part of their memory. With TAPER_OP_APART the
                                                      // other argument must be argument 0
#define TAPER_OP_ASKS_SHAPE       (UINT64_C(1) << 63) // returns a number that depends only on sizes, strides and dtypes
#define TAPER_OP_CONVOLVES        (UINT64_C(1) << 54) // computes a convolution
#define TAPER_OP_HALVES           (UINT64_C(1) << 55) // computes halves as floats, and rounds only the results
#define TAPER_OP_ON_TAPE          (UINT64_C(1) << 56) // its result or effect depends on what the run has recorded for
                                                      // gradients (ops/gradient/tape.h)
#ifdef TAPER_WITH_OPERATORS
#define TAPER_OP_REGISTERED       (UINT64_C(1) << 25) // an operator that the host registered, not one of the list:
                                                      // ops/list/registered.h
#else
#define TAPER_OP_REGISTERED       UINT64_C(0)         // never set in this build
#endif
// clang-format on

// ---- fields: facts with several values, for example TAPER_FIELD(facts, SHAPE) == TAPER_SHAPE_SAME

#define TAPER_FIELD(facts, field) ((unsigned)((facts) >> TAPER_##field##_AT) & ((1U << TAPER_##field##_BITS) - 1))
#define TAPER_FACT(field, what) ((uint64_t)(TAPER_##field##_##what) << TAPER_##field##_AT)
#define TAPER_FIELD_MASK(field) (((UINT64_C(1) << TAPER_##field##_BITS) - 1) << TAPER_##field##_AT)

// How the sizes of the results follow from the arguments (ir/infer.h).
enum { TAPER_SHAPE_AT = 26, TAPER_SHAPE_BITS = 6 };
typedef enum taper_op_shape {
    TAPER_SHAPE_UNKNOWN,   // unknown: depends on the elements, or there is no rule yet
    TAPER_SHAPE_SAME,      // sizes of argument 0
    TAPER_SHAPE_BROADCAST, // broadcast of all tensors among the arguments
    TAPER_SHAPE_CONV,      // convolution or pool, by LAYER and the arguments with the names in its schema
    TAPER_SHAPE_POOL,
    TAPER_SHAPE_ADAPTIVE, // (input, output_size): output_size replaces the last dimensions of input
    TAPER_SHAPE_LINEAR,
    TAPER_SHAPE_MATMUL,        // matrix product of arguments 0 and 1: matmul, mm, bmm, mv
    TAPER_SHAPE_ADDED_PRODUCT, // matrix product of arguments 1 and 2: addmm, baddbmm
    TAPER_SHAPE_REDUCE,        // reduction, by the arguments dim and keepdim
    TAPER_SHAPE_JOIN,          // concatenation: cat
    TAPER_SHAPE_STACK,
    TAPER_SHAPE_GIVEN, // the sizes in argument 1, one of which may be -1
    TAPER_SHAPE_FLATTEN,
    TAPER_SHAPE_TRANSPOSE,
    TAPER_SHAPE_MATRIX, // t: at most two dimensions, which are swapped
    TAPER_SHAPE_PERMUTE,
    TAPER_SHAPE_SQUEEZE,
    TAPER_SHAPE_UNSQUEEZE,
    TAPER_SHAPE_SELECT,
    TAPER_SHAPE_SLICE,
    TAPER_SHAPE_EXPAND,
    TAPER_SHAPE_PIECES, // a list of tensors whose sizes differ from argument 0 only in dimension dim: split, chunk
    TAPER_SHAPE_UNBIND,
    TAPER_SHAPE_EMBED,  // embedding: sizes of argument 1, then the sizes of a row of argument 0
    TAPER_SHAPE_INDEX,  // index_select: sizes of argument 0, except in dimension dim
    TAPER_SHAPE_GATHER, // sizes of argument 2
    TAPER_SHAPE_RESIZE, // images of another height and width: upsample
    TAPER_SHAPE_PAD,
    TAPER_SHAPE_SHUFFLE, // pixel_shuffle, pixel_unshuffle
    TAPER_SHAPE_CREATE,  // the sizes in argument 0
    TAPER_SHAPE_PACKED,  // rank of argument 0; the packed weights tell the sizes
    TAPER_SHAPE_REPEAT,
    TAPER_SHAPE_OTHER,     // sizes of argument 1: expand_as
    TAPER_SHAPE_TOPK,      // sizes of argument 0, except k in dimension dim
    TAPER_SHAPE_SCALAR,    // no dimensions
    TAPER_SHAPE_RANGE,     // one dimension, by start, end and step
    TAPER_SHAPE_REGION,    // (input, regions, …): a small image for each region
    TAPER_SHAPE_EINSUM,    // einsum, by the equation in argument 0
    TAPER_SHAPE_HALF,      // sizes of argument 0, except half in dimension dim: glu
    TAPER_SHAPE_RECURRENT, // (input, hx, …): a sequence with rows of the hidden size, then states with sizes of hx
    // X[i]: sizes of the only integer tensor in argument 1, a list, then the sizes of argument 0 except the first.
    TAPER_SHAPE_INDEXED,
    TAPER_SHAPE_NARROW,    // sizes of argument 0, except `length` in dimension dim
    TAPER_SHAPE_UNFLATTEN, // argument `sizes` replaces dimension dim; one of the sizes may be -1
    TAPER_SHAPE_MASKED,    // broadcast of arguments 0 and 1: masked_scatter
    TAPER_SHAPE_COUNT
} taper_op_shape;

// How the dtype of result 0 follows from the arguments.
enum { TAPER_RESULT_AT = 32, TAPER_RESULT_BITS = 4 };
typedef enum taper_op_result {
    TAPER_RESULT_UNKNOWN,
    TAPER_RESULT_SAME,     // dtype of argument 0
    TAPER_RESULT_FLOAT,    // dtype of argument 0 if it is a floating-point dtype
    TAPER_RESULT_PROMOTED, // promoted dtype of all arguments
    TAPER_RESULT_ONE,      // dtype of all tensors among the arguments, which must be the same
    TAPER_RESULT_ITEMS,    // promoted dtype of the tensors in list 0
    TAPER_RESULT_DTYPE,    // argument dtype; without one, the dtype of argument 0
    TAPER_RESULT_F32,
    TAPER_RESULT_BOOL,
    TAPER_RESULT_I64
} taper_op_result;

// The function that an operator computes for each element, as far as passes or backends need it.
enum { TAPER_FUNCTION_AT = 36, TAPER_FUNCTION_BITS = 5 };
typedef enum taper_op_function {
    TAPER_FUNCTION_OTHER,
    TAPER_FUNCTION_RELU,
    TAPER_FUNCTION_RELU6,
    // Argument 1 is the lower bound, argument 2 the upper bound; None or a missing argument means no bound.
    TAPER_FUNCTION_CLAMP,
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
    TAPER_FUNCTION_LT, // the comparisons take numbers, not tensors
    TAPER_FUNCTION_LE,
    TAPER_FUNCTION_EQ,
    TAPER_FUNCTION_NE,
    TAPER_FUNCTION_GE,
    TAPER_FUNCTION_GT
} taper_op_function;

// The layer that the operator computes, or for which it packs weights.
enum { TAPER_LAYER_AT = 41, TAPER_LAYER_BITS = 4 };
typedef enum taper_op_layer {
    TAPER_LAYER_NONE,
    TAPER_LAYER_CONV1,
    TAPER_LAYER_CONV2,
    TAPER_LAYER_CONV3,
    TAPER_LAYER_CONV_TRANSPOSED1,
    TAPER_LAYER_CONV_TRANSPOSED2,
    TAPER_LAYER_CONV_TRANSPOSED3,
    TAPER_LAYER_CONV,   // the arguments tell which convolution it is
    TAPER_LAYER_LINEAR, // taper_layer_match accepts no layer after this one
    TAPER_LAYER_BATCH_NORM,
    TAPER_LAYER_LSTM,
    TAPER_LAYER_GRU,
    TAPER_LAYER_DROPOUT,
    TAPER_LAYER_POOL
} taper_op_layer;

// The library in whose format the operator's weights are packed.
enum { TAPER_PACKER_AT = 45, TAPER_PACKER_BITS = 2 };
typedef enum taper_op_packer {
    TAPER_PACKER_NONE,
    TAPER_PACKER_XNNPACK,
    TAPER_PACKER_VULKAN,
    TAPER_PACKER_METAL
} taper_op_packer;

// How the operator is treated when a model is quantized (compiler/quantization.h).
enum { TAPER_QUANTIZED_AT = 47, TAPER_QUANTIZED_BITS = 3 };
typedef enum taper_op_quantized {
    TAPER_QUANTIZED_NONE,
    TAPER_QUANTIZED_KEEP, // the result has the scale and zero point of the input
    // The result always has the scale and zero point for the range of the operator's taper_op_function.
    TAPER_QUANTIZED_FIXED,
    TAPER_QUANTIZED_CURVE, // an operator on one tensor that takes the scale and zero point of its result
    TAPER_QUANTIZED_PAIR,  // sum or product of two tensors
    TAPER_QUANTIZED_JOIN,  // cat: its inputs and its result all have the same scale and zero point
    TAPER_QUANTIZED_ROW    // the operator is itself the quantized operator for its taper_op_function
} taper_op_quantized;

// The dtype to which the operator's float arguments are converted within autocast for the CPU. PyTorch 2.15 has one
// rule for all overloads of a name.
enum { TAPER_AUTOCAST_AT = 52, TAPER_AUTOCAST_BITS = 2 };
typedef enum taper_op_autocast {
    TAPER_AUTOCAST_NONE,    // the arguments are not converted
    TAPER_AUTOCAST_LOWER,   // the lower dtype of the autocast
    TAPER_AUTOCAST_FLOAT32, // always float32
    TAPER_AUTOCAST_WIDEST   // the widest dtype among the float arguments
} taper_op_autocast;

extern const uint64_t taper_op_words[]; // the different words of facts that occur in the list, each once
inline uint64_t taper_op_facts(const taper_op *op)
{
    return taper_op_words[op->facts];
}
static inline bool taper_op_has(const taper_op *op, uint64_t flag)
{
    return (taper_op_facts(op) & flag) != 0;
}

#endif
