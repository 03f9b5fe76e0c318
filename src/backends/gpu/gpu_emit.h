// SPDX-License-Identifier: BSD-2-Clause
// Turns nodes into dispatches. Each operator has a rule (gpu_rules.inc) that reads the node and adds dispatches. While
// the backend claims nodes, the same rule decides if the GPU supports the node. Element-wise nodes after the node
// become steps: operations that the dispatch applies to its vectors before it stores them. A chain is a sequence of
// steps.
#ifndef TAPER_BACKENDS_GPU_EMIT_H
#define TAPER_BACKENDS_GPU_EMIT_H

#include "backends/common/claim.h"
#include "backends/common/segment_values.h"
#include "backends/gpu/gpu_program.h"

typedef struct taper_gpu_value {
    bool made, done; // made: true if the value has memory; done: true if an earlier node computes it
    // True if the value is already written as a result of the segment, as plain numbers, and has no other use.
    bool given;
    bool planned; // true for a join whose result has memory before all its parts are computed
    taper_gpu_view view;
    double scale; // scale, if the value is quint8
    int64_t zero_point;
} taper_gpu_value;

typedef struct taper_gpu_emitter {
    taper_node_reader reader;
    bool asking; // true while nodes are claimed: no dispatches are made
    const taper_segment *segment;
    taper_gpu_state *state;
    taper_gpu_program *program;
    const taper_segment_values *known;
    taper_gpu_value *values;    // values of the body; the index is the value's id minus first_id
    taper_gpu_value *arguments; // values of the segment's arguments
    uint32_t first_id;
    size_t value_count;
    const taper_node *node; // node whose rule is running
    int winograd;           // Winograd for 3x3 convolutions: 1 yes, 2 no, 0 not decided
    taper_heap *heap;       // heap for data computed from constants
    taper_error *error;
} taper_gpu_emitter;

#define TAPER_GPU_REFUSE(e, condition, why) TAPER_READ_REFUSE(&(e)->reader, condition, why)

// Makes the dispatches of the whole body. The results of the segment are written as plain numbers.
TAPER_MUST_USE taper_status taper_gpu_emit(taper_gpu_emitter *emitter);
// Returns why the GPU does not support the node (a static text), or NULL if the GPU probably supports the node. This is
// a function for taper_claimer.refuses.
const char *taper_gpu_refuses(const taper_claimer *claimer, taper_region *region, taper_node *node);
bool taper_gpu_pays(const taper_node *node);

// ---- functions that rules call

// The dtypes of an operand, as flags. FLOATS: float32. TRUTHS: bool (elements 1 and 0). WHOLES: int64 and int32 tensors
// from outside the segment, or views of them; their elements are stored as consecutive floats, not as vectors (packed:
// TAPER_GPU_RANK). QUANTS: quint8, with elements from 0 to 255; scale and zero point are known during recording.
enum { TAPER_GPU_FLOATS = 1, TAPER_GPU_TRUTHS = 2, TAPER_GPU_WHOLES = 4, TAPER_GPU_ANY = 7, TAPER_GPU_QUANTS = 8 };

// Finds the memory of a tensor. A tensor from outside the segment is converted to vectors first. Refuses dtypes other
// than float32, and empty tensors.
TAPER_MUST_USE taper_status taper_gpu_operand(taper_gpu_emitter *e, const taper_ir_value *value, taper_gpu_view *view);
// Does what taper_gpu_operand does, but accepts only the dtypes of these flags.
TAPER_MUST_USE taper_status taper_gpu_operand_of(taper_gpu_emitter *e, const taper_ir_value *value, unsigned dtypes,
                                                 taper_gpu_view *view);
// Does what taper_gpu_operand does, for all dtypes; integers become vectors. The CPU computes a run whose integers
// exceed the precision of vectors.
TAPER_MUST_USE taper_status taper_gpu_operand_vectors(taper_gpu_emitter *e, const taper_ir_value *value,
                                                      taper_gpu_view *view);
// taper_gpu_operand_packed does what taper_gpu_operand does, and packs the result along dimension `packed`.
// taper_gpu_repack does this for a view.
TAPER_MUST_USE taper_status taper_gpu_operand_packed(taper_gpu_emitter *e, const taper_ir_value *value, int packed,
                                                     taper_gpu_view *view);
TAPER_MUST_USE taper_status taper_gpu_repack(taper_gpu_emitter *e, const taper_gpu_view *from, int packed,
                                             taper_gpu_view *view);
// Refuses, while nodes are claimed, a value that taper_gpu_operand would certainly refuse.
TAPER_MUST_USE taper_status taper_gpu_ask_operand(taper_gpu_emitter *e, const taper_ir_value *value);
TAPER_MUST_USE taper_status taper_gpu_ask_operand_of(taper_gpu_emitter *e, const taper_ir_value *value,
                                                     unsigned dtypes);
taper_shape taper_gpu_shape(const taper_gpu_emitter *e, const taper_ir_value *value);
bool taper_gpu_is_known(const taper_shape *shape); // returns true if all sizes and the dtype are known

// Makes memory for a result, and describes it in *view, where `packed` becomes view->packed.
TAPER_MUST_USE taper_status taper_gpu_new(taper_gpu_emitter *e, const taper_shape *shape, int packed,
                                          taper_gpu_view *view);
// Makes memory for a value. If the value is a part of a join (aten::cat), the memory is the part of the join's result
// that the value becomes.
TAPER_MUST_USE taper_status taper_gpu_new_result(taper_gpu_emitter *e, const taper_ir_value *value,
                                                 const taper_shape *shape, int packed, taper_gpu_view *view);
// If the only use of a value is as a result of the segment, and its shape is known and dense, makes memory for this
// result, marks the value as already written, and sets *leaves to true. The strides of `view` then count floats, not
// vectors. Otherwise sets *leaves to false and makes no memory.
TAPER_MUST_USE taper_status taper_gpu_new_output(taper_gpu_emitter *e, const taper_ir_value *value,
                                                 const taper_shape *shape, int packed, taper_gpu_view *view,
                                                 bool *leaves);
// Records that the value is stored in this memory.
void taper_gpu_give(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *view);
// taper_gpu_give_quantized does what taper_gpu_give does, for quint8. taper_gpu_quantizer returns the scale and zero
// point that were recorded with the value.
void taper_gpu_give_quantized(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *view,
                              double scale, int64_t zero_point);
TAPER_MUST_USE taper_status taper_gpu_quantizer(taper_gpu_emitter *e, const taper_ir_value *value, double *scale,
                                                int64_t *zero_point);
// Adds element-wise users of *value to the chain, as long as each is the only user of its input and the kernel supports
// its step. *value becomes the result of the last node that was added. `most` is the number of operands that the kernel
// has bindings for.
TAPER_MUST_USE taper_status taper_gpu_take_steps(taper_gpu_emitter *e, const taper_ir_value **value, int packed,
                                                 uint32_t most, taper_gpu_chain *chain);
// Adds a clamp as a step of the chain. A missing bound is infinite.
void taper_gpu_add_clamp(taper_gpu_chain *chain, double min, double max);
// Stores the memory of the result (buffer 0) and the chain in the dispatch `work`. The chain becomes the operands e and
// f and the constants of the steps. `operand` is the number of the first binding for operands of the chain.
TAPER_MUST_USE taper_status taper_gpu_bind(taper_gpu_emitter *e, taper_gpu_work *work, const taper_gpu_chain *chain,
                                           const taper_gpu_view *out, const taper_gpu_loops *loops, int operand);
// Copies the elements of a view to another view of the same sizes. The views have at most six dimensions.
TAPER_MUST_USE taper_status taper_gpu_move(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to);
// Copies elements to a view that has other sizes and the same number of elements. The order of the elements stays the
// same.
TAPER_MUST_USE taper_status taper_gpu_move_reshaped(taper_gpu_emitter *e, const taper_gpu_view *from,
                                                    const taper_gpu_view *to);
// The elements outside a tensor (shaders/move.comp): a number; mirrored elements (fewer than the size of the
// dimension); the outermost element; or elements from the other end (at most the size of the dimension).
typedef enum taper_gpu_edge {
    TAPER_GPU_EDGE_NONE,
    TAPER_GPU_EDGE_FILL,
    TAPER_GPU_EDGE_REFLECT,
    TAPER_GPU_EDGE_REPLICATE,
    TAPER_GPU_EDGE_CIRCULAR
} taper_gpu_edge;
// Copies elements so that element i of `to` is element i + before of `from`.
TAPER_MUST_USE taper_status taper_gpu_move_padded(taper_gpu_emitter *e, const taper_gpu_view *from,
                                                  const taper_gpu_view *to, const int64_t *before, taper_gpu_edge edge,
                                                  double fill);
// Makes a view of the same elements with these sizes. Copies the elements if no strides describe such a view.
TAPER_MUST_USE taper_status taper_gpu_reshape(taper_gpu_emitter *e, const taper_gpu_view *from,
                                              const taper_shape *shape, taper_gpu_view *to);
// Selects `count` elements of dimension d from `start` on, in steps of `step` (rules_moves.c).
TAPER_MUST_USE taper_status taper_gpu_piece(taper_gpu_emitter *e, const taper_gpu_view *from, int d, int64_t start,
                                            int64_t count, int64_t step, taper_gpu_view *to);
void taper_gpu_permute(const taper_gpu_view *from, const int64_t *order, taper_gpu_view *to);
// Reads a dimension argument of the node, counted from the front.
TAPER_MUST_USE taper_status taper_gpu_dim(taper_gpu_emitter *e, const taper_node *node, const char *name, int rank,
                                          int64_t otherwise, int *dim);
// Makes a view of the value that is broadcast to these sizes and packed along `packed`. If `repacks` is set, the value
// may be copied to get this packing. If `channels` is set, a vector has one element for each index of dimension 1.
// `splat` is explained at taper_gpu_view_broadcast.
TAPER_MUST_USE taper_status taper_gpu_operand_like(taper_gpu_emitter *e, const taper_ir_value *value,
                                                   const taper_shape *shape, int packed, bool channels, bool repacks,
                                                   taper_gpu_view *view, bool *splat);
// Returns true if the value is a known number, or a constant tensor with one element and no dimensions.
bool taper_gpu_is_number(const taper_gpu_emitter *e, const taper_ir_value *value, double *number);
// Applies the chain to a view of the result's sizes. Some strides of the view may be 0. If `splat` is set, the first
// lane of the view is used for all lanes.
TAPER_MUST_USE taper_status taper_gpu_elementwise(taper_gpu_emitter *e, const taper_gpu_view *in, bool splat,
                                                  const taper_gpu_chain *chain, const taper_gpu_view *out);
// Adds a step to the chain, with an operand of the result's sizes, or NULL if the step has none.
void taper_gpu_append(taper_gpu_chain *chain, taper_gpu_step step, const taper_gpu_view *operand, double low,
                      double high);
// Computes softmax, layer norm or cumulative sums along dimension dim. `mode` is the MODE of shaders/rownorm.comp. The
// result is packed along the same dimension as `in` (rules_rows.c).
TAPER_MUST_USE taper_status taper_gpu_rows(taper_gpu_emitter *e, const taper_gpu_view *in, int dim, uint32_t mode,
                                           double eps, const taper_gpu_chain *chain, taper_gpu_view *out);
// Weight and bias of a norm: constants of `count` elements, or NULL if the norm has none. taper_gpu_add_affine adds
// steps that apply them to v, the result of the norm.
typedef struct taper_gpu_affine {
    const taper_tensor *weight, *bias;
    int64_t count;
} taper_gpu_affine;
TAPER_MUST_USE taper_status taper_gpu_read_affine(taper_gpu_emitter *e, const taper_node *node, int64_t count,
                                                  taper_gpu_affine *affine);
TAPER_MUST_USE taper_status taper_gpu_add_affine(taper_gpu_emitter *e, const taper_gpu_affine *affine,
                                                 const taper_gpu_view *v, taper_gpu_chain *chain);
// Adds constants for a shader to the program. *buffer receives the number of the constants' memory, for a binding of a
// dispatch.
TAPER_MUST_USE taper_status taper_gpu_add_weights(taper_gpu_emitter *e, const taper_gpu_key *key, uint64_t bytes,
                                                  void (*fill)(void *user, float *to), void *user, uint32_t *buffer);
static inline void taper_gpu_put(taper_gpu_work *work, uint32_t *at, int64_t word)
{
    work->parameters.more[(*at)++] = (uint32_t)word;
}
static inline void taper_gpu_put_float(taper_gpu_work *work, uint32_t *at, double number)
{
    const float value = (float)number;
    memcpy(&work->parameters.more[(*at)++], &value, sizeof value);
}
// Adds the offset, the strides of batch, row and column, and the stride of groups of four channels to the parameters.
// Most kernels read their first operand by such parameters.
void taper_gpu_put_strides(taper_gpu_work *work, uint32_t *at, const taper_gpu_view *view, const int64_t *strides);

// Multiplies x, packed along its last dimension, by a constant [out, in]. Then adds bias (NULL if there is none) and
// applies the chain (rules_linear.c).
TAPER_MUST_USE taper_status taper_gpu_linear(taper_gpu_emitter *e, const taper_gpu_view *in, const taper_tensor *weight,
                                             const taper_tensor *bias, const taper_gpu_chain *chain,
                                             taper_gpu_view *out);
// Multiplies a [.., m, k], packed along its last dimension, by b [.., k, n], packed along one of its last two
// dimensions, and applies the chain (rules_linear.c). A size of 1 is broadcast. If b is packed along its rows, the
// chain may have only steps of taper_gpu_step_is_plain.
TAPER_MUST_USE taper_status taper_gpu_multiply(taper_gpu_emitter *e, const taper_gpu_view *a, const taper_gpu_view *b,
                                               const taper_shape *shape, const taper_gpu_chain *chain,
                                               taper_gpu_view *out);
// Returns true if attention on these views, [batch, heads, rows, depth] or [batch, rows, depth], can run in one pass
// (rules_attention.c).
bool taper_gpu_can_attend(const taper_gpu_view *q, const taper_gpu_view *k, const taper_gpu_view *v);
typedef enum taper_gpu_mask { TAPER_GPU_MASK_NONE, TAPER_GPU_MASK_ADDED, TAPER_GPU_MASK_SHOWS } taper_gpu_mask;
typedef struct taper_gpu_attention {
    const taper_gpu_view *mask; // mask with the sizes of the scores, packed along the keys; NULL without a mask
    taper_gpu_mask mask_is;     // use of the mask: added to the scores, or true for the keys that count
    // causal: true if row r counts only keys 0 to r. blind_is_zero: true if a query without keys gives zeros instead of
    // NaN.
    bool causal, blind_is_zero;
} taper_gpu_attention;
TAPER_MUST_USE taper_status taper_gpu_attend(taper_gpu_emitter *e, const taper_gpu_view *q, const taper_gpu_view *k,
                                             const taper_gpu_view *v, double scale, const taper_gpu_attention *how,
                                             taper_gpu_view *out);
// Runs attention in one pass if possible, otherwise as two products with a softmax of all scores between them. The
// second method needs matching views and no mask.
TAPER_MUST_USE taper_status taper_gpu_attend_any(taper_gpu_emitter *e, const taper_gpu_view *q, const taper_gpu_view *k,
                                                 const taper_gpu_view *v, double scale, const taper_gpu_attention *how,
                                                 taper_gpu_view *out);
// Emits the attention that starts with the product q k^T. Returns TAPER_DECLINED, and emits nothing, if no attention
// starts with this product. `added` is the tensor that the product's own operator adds, or NULL if it adds none.
TAPER_MUST_USE taper_status taper_gpu_take_attention(taper_gpu_emitter *e, const taper_node *product,
                                                     const taper_gpu_view *q, const taper_gpu_view *k,
                                                     const taper_ir_value *added, const taper_ir_value **result,
                                                     taper_gpu_view *out);

// A function of quint8 as a table: the result for each byte, and the scale and zero point of the result
// (rules_tables.c).
enum { TAPER_GPU_BYTES = 256 };
typedef struct taper_gpu_table {
    uint8_t numbers[TAPER_GPU_BYTES];
    double scale;
    int64_t zero_point;
} taper_gpu_table;
// Makes the table by calling the CPU's operator with a tensor of all bytes, which has this scale and zero point. The
// tensor is argument 0, or the only item of a list in argument 0.
TAPER_MUST_USE taper_status taper_gpu_make_table(taper_gpu_emitter *e, const taper_op *op, double scale,
                                                 int64_t zero_point, bool in_list, taper_val *args, size_t count,
                                                 taper_gpu_table *table);
// Looks up each element of `in` in the table. `in` and `out` have equal sizes and packing.
TAPER_MUST_USE taper_status taper_gpu_look_up(taper_gpu_emitter *e, const taper_gpu_view *in,
                                              const taper_gpu_table *table, const taper_gpu_view *out);
// Reads scale and zero point of a result from the node's arguments `at` and `at` + 1. Must not be called while nodes
// are claimed.
TAPER_MUST_USE taper_status taper_gpu_quantized_result(taper_gpu_emitter *e, const taper_node *node, size_t at,
                                                       double *scale, int64_t *zero_point);

// ---- rules

typedef taper_status taper_gpu_rule(taper_gpu_emitter *e, const taper_node *node, uint32_t code);
taper_gpu_rule taper_gpu_rule_step, taper_gpu_rule_conv, taper_gpu_rule_linear, taper_gpu_rule_packed_conv,
    taper_gpu_rule_packed_linear, taper_gpu_rule_addmm, taper_gpu_rule_matmul, taper_gpu_rule_batch_norm,
    taper_gpu_rule_pool, taper_gpu_rule_adaptive, taper_gpu_rule_mean, taper_gpu_rule_softmax,
    taper_gpu_rule_layer_norm, taper_gpu_rule_resize, taper_gpu_rule_reshape, taper_gpu_rule_permute,
    taper_gpu_rule_transpose, taper_gpu_rule_slice, taper_gpu_rule_select, taper_gpu_rule_cat, taper_gpu_rule_expand,
    taper_gpu_rule_identity, taper_gpu_rule_pad, taper_gpu_rule_pieces, taper_gpu_rule_attention,
    taper_gpu_rule_multi_head, taper_gpu_rule_stack, taper_gpu_rule_flip, taper_gpu_rule_roll, taper_gpu_rule_shuffle,
    taper_gpu_rule_lerp, taper_gpu_rule_glu, taper_gpu_rule_addcmul, taper_gpu_rule_group_norm,
    taper_gpu_rule_instance_norm, taper_gpu_rule_cumsum, taper_gpu_rule_lstm, taper_gpu_rule_gru, taper_gpu_rule_create,
    taper_gpu_rule_where, taper_gpu_rule_between, taper_gpu_rule_gather, taper_gpu_rule_quantize,
    taper_gpu_rule_dequantize, taper_gpu_rule_quantized_conv, taper_gpu_rule_quantized_linear,
    taper_gpu_rule_quantized_add, taper_gpu_rule_quantized_map, taper_gpu_rule_quantized_mul, taper_gpu_rule_power_of,
    taper_gpu_rule_repeat, taper_gpu_rule_index, taper_gpu_rule_einsum, taper_gpu_rule_norm;

typedef struct taper_gpu_rule_row {
    taper_gpu_rule *rule;
    uint16_t work, code; // work: TAPER_WORK_ number of the operator; code: argument for the rule
} taper_gpu_rule_row;
const taper_gpu_rule_row *taper_gpu_find_rule(const taper_node *node); // returns NULL if there is no rule

#endif
