// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the parts of this front end: the state of one serialized model during its lowering, and
// functions that make nodes.
#ifndef TAPER_FRONTEND_NNAPI_LOWERING_H
#define TAPER_FRONTEND_NNAPI_LOWERING_H

#include "frontend/nnapi/serialized.h"
#include "ops/call/emit.h"

// The state of an operand. An image that is [N, H, W, C] in NNAPI is [N, C, H, W] in PyTorch, with channels-last
// strides. Layers produce this form, and operations that need NNAPI's order of dimensions permute it.
typedef struct taper_nnapi_value {
    taper_ir_value *plain; // value with NNAPI's dimensions; NULL until made
    taper_ir_value *image; // value as [N, C, H, W] of a four-dimensional [N, H, W, C]; NULL until made
    uint32_t storage;      // operand whose memory it may share, or its own number
    bool shared;           // true if the storage has another owner, so it must not become a result
    // For an 8-bit operand: scale as a result, and scale of the value; NAN means the scale of an input.
    double wanted, scale;
} taper_nnapi_value;

typedef struct taper_nnapi_lowering {
    taper_emitter emit;
    const taper_nnapi_model *model;
    const taper_list *buffers;
    bool copies;               // true if the graph has its own copies of constants, because their memory may be freed
    taper_nnapi_value *values; // states of values, by operand
} taper_nnapi_lowering;

// ---- nodes

// These functions are like those of ops/call/emit.h. On TAPER_ERROR_UNSUPPORTED, the serialized model is not replaced.
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
bool taper_nnapi_is_quantized(const taper_nnapi_lowering *l, uint32_t at); // true for 8 bits
// taper_nnapi_dtype returns the dtype of a tensor outside. 16-bit operands are int16 tensors outside, but floats
// inside, and each result is rounded to 16 bits. The next two functions convert between these forms.
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
// Gets the value with NNAPI's dimensions. The next function gets an image as [N, C, H, W]; nchw: NNAPI has this order
// too.
TAPER_MUST_USE taper_status taper_nnapi_plain(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value);
TAPER_MUST_USE taper_status taper_nnapi_image(taper_nnapi_lowering *l, uint32_t at, bool nchw, taper_ir_value **value);
// Gets a constant of fewer than four dimensions, which are the last of an image, as [N, C, H, W].
TAPER_MUST_USE taper_status taper_nnapi_low_image(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value);
// Converts a value of the operand to floats.
TAPER_MUST_USE taper_status taper_nnapi_floats(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value,
                                               taper_ir_value **floats);
// Sets the result of an operation. Quantizes it if the operand is quantized and the value is still float.
TAPER_MUST_USE taper_status taper_nnapi_give(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value, bool is_float,
                                             bool is_image);
// Sets an 8-bit result with the quantizer of operand `of`, which equals its own except for rounding of the scale to
// float32.
void taper_nnapi_give_kept(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image);
// Makes constants for scale and zero point of the operand.
TAPER_MUST_USE taper_status taper_nnapi_quantizer(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **scale,
                                                  taper_ir_value **zero_point);
// Sets a result that may share memory with operand `of`.
void taper_nnapi_give_view(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image);
// Sets result number `out`, made from the first input without computation.
TAPER_MUST_USE taper_status taper_nnapi_give_moved(taper_nnapi_lowering *l, const taper_nnapi_operation *op,
                                                   uint32_t out, taper_ir_value *value, bool is_image);
// Gets the operand in an existing form. *image: it is [N, C, H, W] for [N, H, W, C].
TAPER_MUST_USE taper_status taper_nnapi_either(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value,
                                               bool *image);
// Makes the tensor of a constant with its dimensions in this order (NULL: unchanged). The result is a reference.
TAPER_MUST_USE taper_status taper_nnapi_tensor(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order,
                                               taper_tensor **tensor);
// Reads constants: ints, at most `limit`; one int; one number of any kind.
TAPER_MUST_USE taper_status taper_nnapi_ints_of(taper_nnapi_lowering *l, uint32_t at, size_t limit, int64_t *numbers,
                                                size_t *count);
TAPER_MUST_USE taper_status taper_nnapi_int_of(taper_nnapi_lowering *l, uint32_t at, int64_t *number);
TAPER_MUST_USE taper_status taper_nnapi_number_of(taper_nnapi_lowering *l, uint32_t at, double *number);
// Reads an axis, 0 to rank - 1.
TAPER_MUST_USE taper_status taper_nnapi_axis_of(taper_nnapi_lowering *l, uint32_t at, size_t rank, size_t *axis);
// Reads dimensions, each from -rank to rank - 1, as flags.
TAPER_MUST_USE taper_status taper_nnapi_axes_of(taper_nnapi_lowering *l, uint32_t at, size_t rank,
                                                bool axes[TAPER_MAX_RANK], size_t *count);
// Returns true if an image without these dimensions is in NNAPI's order: the channels are removed, or they are all that
// remains after N.
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

// The window of a convolution or pool. Pairs are height, width.
typedef struct taper_nnapi_window {
    int64_t before[2], after[2]; // paddings; after may be negative in a transposed convolution, for a larger result
    int64_t stride[2], dilation[2], kernel[2];
    int64_t number; // number of groups, or channel multiplier
    int64_t fuse;
    bool nchw, scheme; // scheme: true if NNAPI computes the paddings
} taper_nnapi_window;
// Reads a window. kernel: sizes of the weights; NULL for pools, which have arguments for it.
TAPER_MUST_USE taper_status taper_nnapi_window_of(taper_nnapi_lowering *l, const taper_nnapi_operation *op,
                                                  const int64_t *kernel, taper_nnapi_window *w);
// Pads an image with the window's paddings.
TAPER_MUST_USE taper_status taper_nnapi_pad_image(taper_nnapi_lowering *l, const taper_nnapi_window *w, double filling,
                                                  taper_ir_value *x, taper_ir_value **made);
// Makes a slice of dimension dim. end: INT64_MAX for the whole rest.
TAPER_MUST_USE taper_status taper_nnapi_cut(taper_nnapi_lowering *l, taper_ir_value *x, size_t dim, int64_t start,
                                            int64_t end, int64_t step, taper_ir_value **made);

// ---- operations

// Adds the activation after an operation (numbers.c), by NNAPI's fuse codes: none, relu, relu1, relu6.
TAPER_MUST_USE taper_status taper_nnapi_fuse(taper_nnapi_lowering *l, int64_t code, taper_ir_value *value,
                                             taper_ir_value **made);
typedef taper_status taper_nnapi_lower(taper_nnapi_lowering *l, const taper_nnapi_operation *op);
taper_nnapi_lower taper_nnapi_lower_conv, taper_nnapi_lower_linear, taper_nnapi_lower_pool, taper_nnapi_lower_resize,
    taper_nnapi_lower_depth_to_space, taper_nnapi_lower_shuffle, taper_nnapi_lower_binary, taper_nnapi_lower_prelu,
    taper_nnapi_lower_activation, taper_nnapi_lower_unary, taper_nnapi_lower_softmax, taper_nnapi_lower_reduce,
    taper_nnapi_lower_quantize, taper_nnapi_lower_reshape, taper_nnapi_lower_expand_dims, taper_nnapi_lower_squeeze,
    taper_nnapi_lower_strided_slice, taper_nnapi_lower_slice, taper_nnapi_lower_split, taper_nnapi_lower_pad,
    taper_nnapi_lower_concat, taper_nnapi_lower_transpose;

// Inputs and outputs of a whole model.
typedef struct taper_nnapi_interface {
    taper_ir_value *args;         // list of inputs, or NULL to use items
    taper_ir_value *const *items; // inputs
    size_t item_count;
    const int64_t *in_formats, *out_formats; // PyTorch's memory formats, or NULL if all have NNAPI's dimensions
    size_t in_format_count, out_format_count;
    const double *out_scales; // scales of results as doubles, 0 if unknown; or NULL
    size_t out_scale_count;
    const taper_type *type; // type of the list of results
} taper_nnapi_interface;
TAPER_MUST_USE taper_status taper_nnapi_lower_model(taper_nnapi_lowering *l, taper_arena *arena,
                                                    const taper_nnapi_interface *face, taper_ir_value **list);
// Lowers all operations, in order.
TAPER_MUST_USE taper_status taper_nnapi_lower_operations(taper_nnapi_lowering *l);

#endif
