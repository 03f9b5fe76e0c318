// SPDX-License-Identifier: BSD-2-Clause
// Between the parts of this front end: the state of one serialized model that becomes nodes, and how nodes are made.
#ifndef TAPER_FRONTEND_NNAPI_LOWERING_H
#define TAPER_FRONTEND_NNAPI_LOWERING_H

#include "frontend/nnapi/serialized.h"
#include "ops/call/emit.h"

// What is known of an operand so far. Images that NNAPI has as [N, H, W, C] are [N, C, H, W] in PyTorch's eyes, in
// channels-last strides: layers make them so, and whoever wants NNAPI's order of dimensions permutes.
typedef struct taper_nnapi_value {
    taper_ir_value *plain; // with NNAPI's dimensions; NULL: not made yet
    taper_ir_value *image; // of four dimensions [N, H, W, C]: as [N, C, H, W]; NULL: not made yet
    uint32_t storage;      // the operand whose memory it may be a view of; its own number: none other's
    bool shared;           // as a storage: somebody else has it, so a result may not
    double wanted, scale;  // of an 8-bit operand: its scale as a result, what the value has; NAN: what an input has
} taper_nnapi_value;

typedef struct taper_nnapi_lowering {
    taper_emitter emit;
    const taper_nnapi_model *model;
    const taper_list *buffers;
    bool copies;               // constants are the graph's own: their memory may go
    taper_nnapi_value *values; // by operand
} taper_nnapi_lowering;

// ---- nodes

// TAPER_ERROR_UNSUPPORTED: the serialized model stays as it is. As the functions of ops/call/emit.h.
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
bool taper_nnapi_is_quantized(const taper_nnapi_lowering *l, uint32_t at); // 8 bits
// Of a tensor that stands for an operand outside: 16-bit ones are tensors of int16, and floats inside, of which each
// result is rounded to what 16 bits can say.
taper_dtype taper_nnapi_dtype(uint32_t type);
TAPER_MUST_USE taper_status taper_nnapi_from_tensor(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *tensor,
                                                    taper_ir_value **value);
TAPER_MUST_USE taper_status taper_nnapi_to_tensor(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value,
                                                  taper_ir_value **tensor);
// That its type is known here, and its quantizer possible.
TAPER_MUST_USE taper_status taper_nnapi_check_type(const taper_nnapi_lowering *l, uint32_t at);
// That nothing has given it a value yet.
TAPER_MUST_USE taper_status taper_nnapi_check_free(const taper_nnapi_lowering *l, uint32_t at);
bool taper_nnapi_same_quantizer(const taper_nnapi_lowering *l, uint32_t a, uint32_t b);
// The value, with NNAPI's dimensions; images of nchw false as [N, C, H, W].
TAPER_MUST_USE taper_status taper_nnapi_plain(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value);
TAPER_MUST_USE taper_status taper_nnapi_image(taper_nnapi_lowering *l, uint32_t at, bool nchw, taper_ir_value **value);
// A constant of fewer than four dimensions, which are an image's last: as [N, C, H, W].
TAPER_MUST_USE taper_status taper_nnapi_low_image(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value);
// The same as floats.
TAPER_MUST_USE taper_status taper_nnapi_floats(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value,
                                               taper_ir_value **floats);
// An operation's result: quantized where the operand is, and it is not yet.
TAPER_MUST_USE taper_status taper_nnapi_give(taper_nnapi_lowering *l, uint32_t at, taper_ir_value *value, bool is_float,
                                             bool is_image);
// An 8-bit one with the quantizer of operand `of`, which is its own but for what singles lose of a scale.
void taper_nnapi_give_kept(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image);
// Its quantizer, as constants.
TAPER_MUST_USE taper_status taper_nnapi_quantizer(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **scale,
                                                  taper_ir_value **zero_point);
// One that may share memory with another operand's.
void taper_nnapi_give_view(taper_nnapi_lowering *l, uint32_t at, uint32_t of, taper_ir_value *value, bool is_image);
// value, made of the first input without computing anything, as result number `out`.
TAPER_MUST_USE taper_status taper_nnapi_give_moved(taper_nnapi_lowering *l, const taper_nnapi_operation *op,
                                                   uint32_t out, taper_ir_value *value, bool is_image);
// The operand in whichever form it has; *image: [N, C, H, W] of [N, H, W, C].
TAPER_MUST_USE taper_status taper_nnapi_either(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value,
                                               bool *image);
// A constant's tensor, with these of its dimensions in this order (NULL: as they are); a reference.
TAPER_MUST_USE taper_status taper_nnapi_tensor(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order,
                                               taper_tensor **tensor);
// A constant's ints, at most limit; one int; one number of any kind.
TAPER_MUST_USE taper_status taper_nnapi_ints_of(taper_nnapi_lowering *l, uint32_t at, size_t limit, int64_t *numbers,
                                                size_t *count);
TAPER_MUST_USE taper_status taper_nnapi_int_of(taper_nnapi_lowering *l, uint32_t at, int64_t *number);
TAPER_MUST_USE taper_status taper_nnapi_number_of(taper_nnapi_lowering *l, uint32_t at, double *number);
// An axis, 0 to rank - 1.
TAPER_MUST_USE taper_status taper_nnapi_axis_of(taper_nnapi_lowering *l, uint32_t at, size_t rank, size_t *axis);
// Dimensions, each from -rank to rank - 1: which they are.
TAPER_MUST_USE taper_status taper_nnapi_axes_of(taper_nnapi_lowering *l, uint32_t at, size_t rank,
                                                bool axes[TAPER_MAX_RANK], size_t *count);
// Whether what is left of an image without these dimensions is in NNAPI's order: its channels come first or alone.
static inline bool taper_nnapi_keeps_order(const bool *gone)
{
    return gone[3] || (gone[1] && gone[2]);
}
// Dimension d of NNAPI's [N, H, W, C] in [N, C, H, W].
static inline size_t taper_nnapi_image_dim(size_t d)
{
    return d == 0 ? 0 : d == 3 ? 1 : d + 1;
}

// ---- windows (windows.c)

// What a convolution or pool says of its window. Pairs are of height and width.
typedef struct taper_nnapi_window {
    int64_t before[2], after[2]; // paddings; a transposed convolution's after may say that the result has more (< 0)
    int64_t stride[2], dilation[2], kernel[2];
    int64_t number; // of groups, or the channel multiplier
    int64_t fuse;
    bool nchw, scheme; // scheme: paddings are those that NNAPI works out
} taper_nnapi_window;
// kernel: of weights; pools have their own.
TAPER_MUST_USE taper_status taper_nnapi_window_of(taper_nnapi_lowering *l, const taper_nnapi_operation *op,
                                                  const int64_t *kernel, taper_nnapi_window *w);
// An image with the window's paddings around it.
TAPER_MUST_USE taper_status taper_nnapi_pad_image(taper_nnapi_lowering *l, const taper_nnapi_window *w, double filling,
                                                  taper_ir_value *x, taper_ir_value **made);
// A slice of dimension dim; end INT64_MAX: to its own end.
TAPER_MUST_USE taper_status taper_nnapi_cut(taper_nnapi_lowering *l, taper_ir_value *x, size_t dim, int64_t start,
                                            int64_t end, int64_t step, taper_ir_value **made);

// ---- operations

// The activation behind an operation (numbers.c), of NNAPI's fuse codes: none, relu, relu1, relu6.
TAPER_MUST_USE taper_status taper_nnapi_fuse(taper_nnapi_lowering *l, int64_t code, taper_ir_value *value,
                                             taper_ir_value **made);
typedef taper_status taper_nnapi_lower(taper_nnapi_lowering *l, const taper_nnapi_operation *op);
taper_nnapi_lower taper_nnapi_lower_conv, taper_nnapi_lower_linear, taper_nnapi_lower_pool, taper_nnapi_lower_resize,
    taper_nnapi_lower_depth_to_space, taper_nnapi_lower_shuffle, taper_nnapi_lower_binary, taper_nnapi_lower_prelu,
    taper_nnapi_lower_activation, taper_nnapi_lower_unary, taper_nnapi_lower_softmax, taper_nnapi_lower_reduce,
    taper_nnapi_lower_quantize, taper_nnapi_lower_reshape, taper_nnapi_lower_expand_dims, taper_nnapi_lower_squeeze,
    taper_nnapi_lower_strided_slice, taper_nnapi_lower_slice, taper_nnapi_lower_split, taper_nnapi_lower_pad,
    taper_nnapi_lower_concat, taper_nnapi_lower_transpose;

// A whole model.
typedef struct taper_nnapi_interface {
    taper_ir_value *args;         // the list of inputs; NULL: they are
    taper_ir_value *const *items; // these
    size_t item_count;
    const int64_t *in_formats, *out_formats; // PyTorch's; NULL: NNAPI's dimensions for all
    size_t in_format_count, out_format_count;
    const double *out_scales; // of results, where they are known as doubles, otherwise 0; NULL: of none
    size_t out_scale_count;
    const taper_type *type; // of the list of results
} taper_nnapi_interface;
TAPER_MUST_USE taper_status taper_nnapi_lower_model(taper_nnapi_lowering *l, taper_arena *arena,
                                                    const taper_nnapi_interface *face, taper_ir_value **list);
// All operations, one after the other.
TAPER_MUST_USE taper_status taper_nnapi_lower_operations(taper_nnapi_lowering *l);

#endif
