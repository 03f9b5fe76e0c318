// SPDX-License-Identifier: BSD-2-Clause
// Declarations that the files of this front end share: the state of one serialized model while it is lowered, and
// functions that make nodes.
#ifndef TAPER_FRONTEND_NNAPI_LOWERING_H
#define TAPER_FRONTEND_NNAPI_LOWERING_H

#include "frontend/nnapi/serialized.h"
#include "ops/call/emit.h"

// The values of an operand. A 4-D tensor that is [N, H, W, C] in NNAPI is usually an "image" here: [N, C, H, W] as in
// PyTorch, with channels-last strides. Layers produce images. Operations that need NNAPI's order of dimensions permute
// the image.
typedef struct taper_nnapi_value {
    taper_ir_value *plain; // value with NNAPI's order of dimensions; NULL until made
    taper_ir_value *image; // value of a 4-D operand as [N, C, H, W]; NULL until made
    uint32_t storage;      // number of the operand whose memory this value may share, or this operand's own number
    bool shared;           // true if other code owns the memory, so the value cannot become a result
    // For an 8-bit operand. wanted: scale that the operand's value must have if the operand is a result of the model.
    // scale: scale of the value that was made, or NAN for an input of the model.
    double wanted, scale;
} taper_nnapi_value;

typedef struct taper_nnapi_lowering {
    taper_emitter emit;
    const taper_nnapi_model *model;
    const taper_list *buffers;
    bool copies;               // true if the graph must copy constants, because their memory may be freed
    taper_nnapi_value *values; // values of each operand
} taper_nnapi_lowering;

// ---- nodes

// These functions work like the functions of ops/call/emit.h with the same names. If they return
// TAPER_ERROR_UNSUPPORTED, the calls of the serialized model are not replaced.
static inline TAPER_MUST_USE taper_status taper_nnapi_constant(taper_nnapi_lowering *l, taper_val value,
                                                               taper_ir_value **made)
{
    return taper_emit_constant(&l->emit, value, made);
}
static inline TAPER_MUST_USE taper_status taper_nnapi_values(taper_nnapi_lowering *l, size_t count,
                                                             taper_ir_value ***values)
{
    return taper_emit_values(&l->emit, count, values);
}
static inline TAPER_MUST_USE taper_status taper_nnapi_list(taper_nnapi_lowering *l, const taper_type *type,
                                                           taper_ir_value *const *items, size_t count,
                                                           taper_ir_value **made)
{
    return taper_emit_list(&l->emit, type, items, count, made);
}
static inline TAPER_MUST_USE taper_status taper_nnapi_int_list(taper_nnapi_lowering *l, const int64_t *numbers,
                                                               size_t count, taper_ir_value **made)
{
    return taper_emit_int_list(&l->emit, numbers, count, made);
}
static inline TAPER_MUST_USE taper_status taper_nnapi_call(taper_nnapi_lowering *l, const taper_op *op,
                                                           taper_ir_value *const *args, size_t count,
                                                           taper_ir_value **made)
{
    return taper_emit_call(&l->emit, op, args, count, made);
}
#define TAPER_NNAPI_EMIT(l, op, made, ...) TAPER_EMIT_CALL(&(l)->emit, op, made, __VA_ARGS__)

// ---- operands (operands.c)

static inline const taper_nnapi_operand *taper_nnapi_operand_of(const taper_nnapi_lowering *l, uint32_t at)
{
    return &l->model->operands[at];
}
static inline bool taper_nnapi_is_constant(const taper_nnapi_lowering *l, uint32_t at)
{
    return l->model->operands[at].source != TAPER_NNAPI_NOTHING;
}
bool taper_nnapi_is_quantized(const taper_nnapi_lowering *l, uint32_t at); // true for 8-bit operands
// taper_nnapi_dtype returns the dtype of an input or result tensor of the model. Operands with 16-bit floats are int16
// tensors as inputs and results, but float tensors inside the graph, where each result is rounded to 16 bits.
// taper_nnapi_from_tensor and taper_nnapi_to_tensor convert between the two forms.
taper_dtype taper_nnapi_dtype(uint32_t type);
TAPER_MUST_USE taper_status taper_nnapi_from_tensor(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *tensor,
                                                    taper_ir_value **value);
TAPER_MUST_USE taper_status taper_nnapi_to_tensor(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value,
                                                  taper_ir_value **tensor);
// Checks that the type of the operand is supported and its quantizer is valid.
TAPER_MUST_USE taper_status taper_nnapi_check_type(const taper_nnapi_lowering *l, uint32_t at);
// Checks that the operand has no value yet.
TAPER_MUST_USE taper_status taper_nnapi_check_free(const taper_nnapi_lowering *l, uint32_t at);
bool taper_nnapi_same_quantizer(const taper_nnapi_lowering *l, uint32_t a, uint32_t b);
// taper_nnapi_plain gets the value with NNAPI's order of dimensions. taper_nnapi_image gets it as [N, C, H, W]; nchw:
// true if NNAPI has this order too.
TAPER_MUST_USE taper_status taper_nnapi_plain(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value);
TAPER_MUST_USE taper_status taper_nnapi_image(taper_nnapi_lowering *l, uint32_t at, bool nchw, taper_ir_value **value);
// Gets a constant of fewer than four dimensions as [N, C, H, W]. The constant's dimensions are the last dimensions of
// [N, H, W, C].
TAPER_MUST_USE taper_status taper_nnapi_low_image(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value);
// Converts a value of the operand to floats if it is quantized.
TAPER_MUST_USE taper_status taper_nnapi_floats(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value,
                                               taper_ir_value **floats);
// Sets the value of an operand that an operation computes. Quantizes the value if the operand is quantized and the
// value is float. is_image: the value is [N, C, H, W].
TAPER_MUST_USE taper_status taper_nnapi_give(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value, bool is_float,
                                             bool is_image);
// Sets the value of an 8-bit operand. The value has the quantizer of operand `of`, which equals the operand's own
// quantizer except for rounding of the scale to float32.
void taper_nnapi_give_kept(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image);
// Makes constants for the scale and zero point of the operand.
TAPER_MUST_USE taper_status taper_nnapi_quantizer(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **scale,
                                                  taper_ir_value **zero_point);
// Sets the value of an operand; the value may share memory with operand `of`.
void taper_nnapi_give_view(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image);
// Sets result number `out` of an operation that only moves elements of its first input.
TAPER_MUST_USE taper_status taper_nnapi_give_moved(taper_nnapi_lowering *l, const taper_nnapi_operation *op,
                                                   uint32_t out, taper_ir_value *value, bool is_image);
// Gets the operand in a form that exists already. *image: true if it is [N, C, H, W], false if it has NNAPI's order.
TAPER_MUST_USE taper_status taper_nnapi_either(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value,
                                               bool *image);
// Makes a tensor of a constant, with its dimensions in the given order, or in NNAPI's order if `order` is NULL. *tensor
// is a reference.
TAPER_MUST_USE taper_status taper_nnapi_tensor(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order,
                                               taper_tensor **tensor);
// These functions read constant operands: several ints, at most `limit`; one int; one number of any kind.
TAPER_MUST_USE taper_status taper_nnapi_ints_of(taper_nnapi_lowering *l, uint32_t at, size_t limit, int64_t *numbers,
                                                size_t *count);
TAPER_MUST_USE taper_status taper_nnapi_int_of(taper_nnapi_lowering *l, uint32_t at, int64_t *number);
TAPER_MUST_USE taper_status taper_nnapi_number_of(taper_nnapi_lowering *l, uint32_t at, double *number);
// Reads a constant axis, counted from either end, and sets *axis to a number from 0 to rank - 1.
TAPER_MUST_USE taper_status taper_nnapi_axis_of(taper_nnapi_lowering *l, uint32_t at, size_t rank, size_t *axis);
// Reads a constant list of dimensions, each from -rank to rank - 1, and sets axes[d] for each of them.
TAPER_MUST_USE taper_status taper_nnapi_axes_of(taper_nnapi_lowering *l, uint32_t at, size_t rank,
                                                bool axes[TAPER_MAX_RANK], size_t *count);
// Returns true if an image from which these dimensions are removed has NNAPI's order. This is so if the channels are
// removed, or if no dimension except N and the channels remains.
static inline bool taper_nnapi_keeps_order(const bool *gone)
{
    return gone[3] || (gone[1] && gone[2]);
}
// Returns the position of dimension d of NNAPI's [N, H, W, C] in [N, C, H, W].
static inline size_t taper_nnapi_image_dim(size_t d)
{
    return d == 0 ? 0 : d == 3 ? 1 : d + 1;
}

// ---- windows (windows.c)

// The window of a convolution or pool. Pairs are for height and width, in pixels.
typedef struct taper_nnapi_window {
    // Padding before and after the image; in a transposed convolution `after` may be negative, which makes the result
    // larger.
    int64_t before[2], after[2];
    int64_t stride[2], dilation[2], kernel[2];
    int64_t number; // number of groups, or depth multiplier of a depthwise convolution
    int64_t fuse;
    bool nchw, scheme; // nchw: true if images are [N, C, H, W] in NNAPI; scheme: true if NNAPI computes the paddings
} taper_nnapi_window;
// Reads the window of an operation. kernel: sizes of the weights; NULL for pools, whose arguments contain the sizes.
TAPER_MUST_USE taper_status taper_nnapi_window_of(taper_nnapi_lowering *l, const taper_nnapi_operation *op,
                                                  const int64_t *kernel, taper_nnapi_window *w);
// Pads an image with the window's paddings.
TAPER_MUST_USE taper_status taper_nnapi_pad_image(taper_nnapi_lowering *l, const taper_nnapi_window *w, double filling,
                                                  taper_ir_value *x, taper_ir_value **made);
// Makes a slice of dimension dim from start to before `end`. INT64_MAX as end means the end of the dimension.
TAPER_MUST_USE taper_status taper_nnapi_cut(taper_nnapi_lowering *l, taper_ir_value *x, size_t dim, int64_t start,
                                            int64_t end, int64_t step, taper_ir_value **made);

// ---- operations

// Adds the activation that an operation includes (numbers.c). `code` is a FuseCode of NNAPI: none, relu, relu1, relu6.
TAPER_MUST_USE taper_status taper_nnapi_fuse(taper_nnapi_lowering *l, int64_t code, taper_ir_value *value,
                                             taper_ir_value **made);
typedef taper_status taper_nnapi_lower(taper_nnapi_lowering *l, const taper_nnapi_operation *op);
taper_nnapi_lower taper_nnapi_lower_conv, taper_nnapi_lower_linear, taper_nnapi_lower_pool, taper_nnapi_lower_resize,
    taper_nnapi_lower_depth_to_space, taper_nnapi_lower_shuffle, taper_nnapi_lower_binary, taper_nnapi_lower_prelu,
    taper_nnapi_lower_activation, taper_nnapi_lower_unary, taper_nnapi_lower_softmax, taper_nnapi_lower_reduce,
    taper_nnapi_lower_quantize, taper_nnapi_lower_reshape, taper_nnapi_lower_expand_dims, taper_nnapi_lower_squeeze,
    taper_nnapi_lower_strided_slice, taper_nnapi_lower_slice, taper_nnapi_lower_split, taper_nnapi_lower_pad,
    taper_nnapi_lower_concat, taper_nnapi_lower_transpose;

// Inputs and outputs of a whole model, in the form of a graph.
typedef struct taper_nnapi_interface {
    taper_ir_value *args;         // list with all inputs, or NULL if `items` contains them
    taper_ir_value *const *items; // inputs, if args is NULL
    size_t item_count;
    // PyTorch's memory format of each input and result, or NULL if all have NNAPI's order of dimensions.
    const int64_t *in_formats, *out_formats;
    size_t in_format_count, out_format_count;
    const double *out_scales; // scale of each result as a double, 0 if unknown
    size_t out_scale_count;
    const taper_type *type; // type of the list that will contain the results
} taper_nnapi_interface;
TAPER_MUST_USE taper_status taper_nnapi_lower_model(taper_nnapi_lowering *l, taper_arena *arena,
                                                    const taper_nnapi_interface *face, taper_ir_value **list);
// Lowers all operations of the model, in order.
TAPER_MUST_USE taper_status taper_nnapi_lower_operations(taper_nnapi_lowering *l);

#endif
