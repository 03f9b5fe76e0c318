// SPDX-License-Identifier: BSD-2-Clause
// Nodes become dispatches. A rule of each operator (gpu_rules.inc) reads the node and adds work; while nodes are only
// asked about, the same rule says whether it could. What follows a node and can be done to its vectors before they are
// stored becomes steps of it.
#ifndef TAPER_BACKENDS_GPU_EMIT_H
#define TAPER_BACKENDS_GPU_EMIT_H

#include "backends/common/claim.h"
#include "backends/common/segment_values.h"
#include "backends/gpu/gpu_program.h"

typedef struct taper_gpu_value {
    bool made, done; // done: with the node before it
    bool given;      // as numbers, to who gets it from the segment, who alone wants it
    bool planned;    // of a join: view is where its parts go, some of which may be there
    taper_gpu_view view;
    double scale; // of quint8
    int64_t zero_point;
} taper_gpu_value;

typedef struct taper_gpu_emitter {
    taper_node_reader reader;
    bool asking; // nothing is made
    const taper_segment *segment;
    taper_gpu_state *state;
    taper_gpu_program *program;
    const taper_segment_values *known;
    taper_gpu_value *values;    // of the body, by id - first
    taper_gpu_value *arguments; // of the call
    uint32_t first_id;
    size_t value_count;
    const taper_node *node; // that is being done
    int winograd;           // 3x3 convolutions go that way: 1, or not: 2; 0: nobody has asked yet
    taper_heap *heap;       // for what is worked out of constants
    taper_error *error;
} taper_gpu_emitter;

#define TAPER_GPU_REFUSE(e, condition, why) TAPER_READ_REFUSE(&(e)->reader, condition, why)

// Work for the whole body, results written as numbers.
TAPER_MUST_USE taper_status taper_gpu_emit(taper_gpu_emitter *emitter);
// Why the node cannot be had, as far as it is known (a static text); NULL: it probably can. taper_claimer.refuses.
const char *taper_gpu_refuses(const taper_claimer *claimer, taper_region *region, taper_node *node);
bool taper_gpu_pays(const taper_node *node);

// ---- for rules

// Dtypes: float32; bool, whose elements are the numbers 1 and 0; int64 and int32, numbers that come from outside and
// are views of these, as floats one behind the other (packed: TAPER_GPU_RANK).
// quint8, whose elements are their numbers from 0 to 255; scale and zero point are known while recording.
enum { TAPER_GPU_FLOATS = 1, TAPER_GPU_TRUTHS = 2, TAPER_GPU_WHOLES = 4, TAPER_GPU_ANY = 7, TAPER_GPU_QUANTS = 8 };

// The tensor's place; one from outside is brought there. Refuses what is not float32, or is empty.
TAPER_MUST_USE taper_status taper_gpu_operand(taper_gpu_emitter *e, const taper_ir_value *value, taper_gpu_view *view);
// The same of these dtypes.
TAPER_MUST_USE taper_status taper_gpu_operand_of(taper_gpu_emitter *e, const taper_ir_value *value, unsigned dtypes,
                                                 taper_gpu_view *view);
// Of any of them, whole numbers as vectors: a run with some that a vector cannot hold is the CPU's.
TAPER_MUST_USE taper_status taper_gpu_operand_vectors(taper_gpu_emitter *e, const taper_ir_value *value,
                                                      taper_gpu_view *view);
// The same, packed along this dimension.
TAPER_MUST_USE taper_status taper_gpu_operand_packed(taper_gpu_emitter *e, const taper_ir_value *value, int packed,
                                                     taper_gpu_view *view);
TAPER_MUST_USE taper_status taper_gpu_repack(taper_gpu_emitter *e, const taper_gpu_view *from, int packed,
                                             taper_gpu_view *view);
// While asking: refuses where the value is known to be none that taper_gpu_operand takes.
TAPER_MUST_USE taper_status taper_gpu_ask_operand(taper_gpu_emitter *e, const taper_ir_value *value);
TAPER_MUST_USE taper_status taper_gpu_ask_operand_of(taper_gpu_emitter *e, const taper_ir_value *value,
                                                     unsigned dtypes);
taper_shape taper_gpu_shape(const taper_gpu_emitter *e, const taper_ir_value *value);
bool taper_gpu_is_known(const taper_shape *shape); // all of it, as a dtype that there is

// Room for a result.
TAPER_MUST_USE taper_status taper_gpu_new(taper_gpu_emitter *e, const taper_shape *shape, int packed,
                                          taper_gpu_view *view);
// The same for a value: where it is joined to others next, its place among them.
TAPER_MUST_USE taper_status taper_gpu_new_result(taper_gpu_emitter *e, const taper_ir_value *value,
                                                 const taper_shape *shape, int packed, taper_gpu_view *view);
// Where a value goes that only leaves the segment, as numbers in its own order: `view` with strides that count these.
// False: others look at it, too. The value is given then.
TAPER_MUST_USE taper_status taper_gpu_new_output(taper_gpu_emitter *e, const taper_ir_value *value,
                                                 const taper_shape *shape, int packed, taper_gpu_view *view,
                                                 bool *leaves);
// The value is there.
void taper_gpu_give(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *view);
// The same of quint8, and what a value of it was given with.
void taper_gpu_give_quantized(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *view,
                              double scale, int64_t zero_point);
TAPER_MUST_USE taper_status taper_gpu_quantizer(taper_gpu_emitter *e, const taper_ir_value *value, double *scale,
                                                int64_t *zero_point);
// What only looks at *value and can be a step of its kernel is taken into the chain; *value becomes what the last one
// gives. most: operands that the kernel has room for.
TAPER_MUST_USE taper_status taper_gpu_take_steps(taper_gpu_emitter *e, const taper_ir_value **value, int packed,
                                                 uint32_t most, taper_gpu_chain *chain);
// Bounds, infinite where there is none, as a step.
void taper_gpu_add_clamp(taper_gpu_chain *chain, double min, double max);
// Room for *value's result, and its chain, in the work: buffer 0, e and f and the steps' constants. operand: the first
// binding that operands of the chain have.
TAPER_MUST_USE taper_status taper_gpu_bind(taper_gpu_emitter *e, taper_gpu_work *work, const taper_gpu_chain *chain,
                                           const taper_gpu_view *out, const taper_gpu_loops *loops, int operand);
// Elements of a view into another, which has the same sizes: six dimensions at most.
TAPER_MUST_USE taper_status taper_gpu_move(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to);
// By number: other sizes of as many elements.
TAPER_MUST_USE taper_status taper_gpu_move_reshaped(taper_gpu_emitter *e, const taper_gpu_view *from,
                                                    const taper_gpu_view *to);
// What stands for elements outside (shaders/move.comp): a number, or by mirroring (at most as many as there are, but
// one), the outer element, or going around (at most as many as there are).
typedef enum taper_gpu_edge {
    TAPER_GPU_EDGE_NONE,
    TAPER_GPU_EDGE_FILL,
    TAPER_GPU_EDGE_REFLECT,
    TAPER_GPU_EDGE_REPLICATE,
    TAPER_GPU_EDGE_CIRCULAR
} taper_gpu_edge;
// Elements of `to` are those of `from` `before` places further on.
TAPER_MUST_USE taper_status taper_gpu_move_padded(taper_gpu_emitter *e, const taper_gpu_view *from,
                                                  const taper_gpu_view *to, const int64_t *before, taper_gpu_edge edge,
                                                  double fill);
// The same elements with these sizes: another view, or moved there.
TAPER_MUST_USE taper_status taper_gpu_reshape(taper_gpu_emitter *e, const taper_gpu_view *from,
                                              const taper_shape *shape, taper_gpu_view *to);
// `count` elements of dimension d from `start`, `step` apart (rules_moves.c).
TAPER_MUST_USE taper_status taper_gpu_piece(taper_gpu_emitter *e, const taper_gpu_view *from, int d, int64_t start,
                                            int64_t count, int64_t step, taper_gpu_view *to);
void taper_gpu_permute(const taper_gpu_view *from, const int64_t *order, taper_gpu_view *to);
// A dimension that the node names, counted from the front.
TAPER_MUST_USE taper_status taper_gpu_dim(taper_gpu_emitter *e, const taper_node *node, const char *name, int rank,
                                          int64_t otherwise, int *dim);
// What stands against a tensor of these sizes that is packed so: a view of the value as large; with `repacks` whatever
// that takes. channels: a vector has an element for each of dimension 1. splat: as taper_gpu_view_broadcast says.
TAPER_MUST_USE taper_status taper_gpu_operand_like(taper_gpu_emitter *e, const taper_ir_value *value,
                                                   const taper_shape *shape, int packed, bool channels, bool repacks,
                                                   taper_gpu_view *view, bool *splat);
// The number that a value is: a number, or a constant tensor of one element without dimensions.
bool taper_gpu_is_number(const taper_gpu_emitter *e, const taper_ir_value *value, double *number);
// The chain on elements of a view of the result's sizes (some strides may be 0; splat: its first lane in all).
TAPER_MUST_USE taper_status taper_gpu_elementwise(taper_gpu_emitter *e, const taper_gpu_view *in, bool splat,
                                                  const taper_gpu_chain *chain, const taper_gpu_view *out);
// A step behind those of the chain; with an operand of the result's sizes, or NULL.
void taper_gpu_append(taper_gpu_chain *chain, taper_gpu_step step, const taper_gpu_view *operand, double low,
                      double high);
// Rows along dimension dim by shaders/rownorm.comp's mode, packed as `in` is (rules_rows.c).
TAPER_MUST_USE taper_status taper_gpu_rows(taper_gpu_emitter *e, const taper_gpu_view *in, int dim, uint32_t mode,
                                           double eps, const taper_gpu_chain *chain, taper_gpu_view *out);
// Weight and bias of a norm, constants of `count` elements or NULL, as steps behind v, which is of these sizes.
typedef struct taper_gpu_affine {
    const taper_tensor *weight, *bias;
    int64_t count;
} taper_gpu_affine;
TAPER_MUST_USE taper_status taper_gpu_read_affine(taper_gpu_emitter *e, const taper_node *node, int64_t count,
                                                  taper_gpu_affine *affine);
TAPER_MUST_USE taper_status taper_gpu_add_affine(taper_gpu_emitter *e, const taper_gpu_affine *affine,
                                                 const taper_gpu_view *v, taper_gpu_chain *chain);
// Constants for shaders, in the work's binding.
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
// Offset, strides of batch, row and column, stride of groups: as most kernels read their first operand.
void taper_gpu_put_strides(taper_gpu_work *work, uint32_t *at, const taper_gpu_view *view, const int64_t *strides);

// x, packed along its last dimension, times a constant [out, in] plus bias (NULL: none), and the chain
// (rules_layers.c).
TAPER_MUST_USE taper_status taper_gpu_linear(taper_gpu_emitter *e, const taper_gpu_view *in, const taper_tensor *weight,
                                             const taper_tensor *bias, const taper_gpu_chain *chain,
                                             taper_gpu_view *out);
// a [.., m, k], packed along its last dimension, times b [.., k, n], packed along one of its last two, with sizes of 1
// where it repeats, and the chain (rules_linear.c). Of b whose rows lie packed the chain is a plain one.
TAPER_MUST_USE taper_status taper_gpu_multiply(taper_gpu_emitter *e, const taper_gpu_view *a, const taper_gpu_view *b,
                                               const taper_shape *shape, const taper_gpu_chain *chain,
                                               taper_gpu_view *out);
// Attention (rules_attention.c) in one pass: of views [batch, heads, rows, depth] or [batch, rows, depth] that it can.
bool taper_gpu_can_attend(const taper_gpu_view *q, const taper_gpu_view *k, const taper_gpu_view *v);
typedef enum taper_gpu_mask { TAPER_GPU_MASK_NONE, TAPER_GPU_MASK_ADDED, TAPER_GPU_MASK_SHOWS } taper_gpu_mask;
typedef struct taper_gpu_attention {
    const taper_gpu_view *mask; // of the scores' sizes, packed along the keys; NULL: none
    taper_gpu_mask mask_is;     // added to the scores, or true where a key is looked at
    bool causal, blind_is_zero; // a query that looks at no key gives zeros, not NaN
} taper_gpu_attention;
TAPER_MUST_USE taper_status taper_gpu_attend(taper_gpu_emitter *e, const taper_gpu_view *q, const taper_gpu_view *k,
                                             const taper_gpu_view *v, double scale, const taper_gpu_attention *how,
                                             taper_gpu_view *out);
// In one pass where that can be, else by products around a softmax of all scores: of views that fit, without a mask.
TAPER_MUST_USE taper_status taper_gpu_attend_any(taper_gpu_emitter *e, const taper_gpu_view *q, const taper_gpu_view *k,
                                                 const taper_gpu_view *v, double scale, const taper_gpu_attention *how,
                                                 taper_gpu_view *out);
// What begins with this product q k^T, where it is attention; TAPER_DECLINED: it is none, nothing was made. added: to
// the product, by its own operator; NULL: nothing.
TAPER_MUST_USE taper_status taper_gpu_take_attention(taper_gpu_emitter *e, const taper_node *product,
                                                     const taper_gpu_view *q, const taper_gpu_view *k,
                                                     const taper_ir_value *added, const taper_ir_value **result,
                                                     taper_gpu_view *out);

// Of quint8: what each number becomes, and what the result is quantized with (rules_tables.c).
enum { TAPER_GPU_BYTES = 256 };
typedef struct taper_gpu_table {
    uint8_t numbers[TAPER_GPU_BYTES];
    double scale;
    int64_t zero_point;
} taper_gpu_table;
// By the CPU's operator, on all numbers with this scale and zero point as argument 0, or as the one item of it.
TAPER_MUST_USE taper_status taper_gpu_make_table(taper_gpu_emitter *e, const taper_op *op, double scale,
                                                 int64_t zero_point, bool in_list, taper_val *args, size_t count,
                                                 taper_gpu_table *table);
// Of the same sizes, packed alike.
TAPER_MUST_USE taper_status taper_gpu_look_up(taper_gpu_emitter *e, const taper_gpu_view *in,
                                              const taper_gpu_table *table, const taper_gpu_view *out);
// Scale and zero point of a result, as the node's arguments `at` and `at` + 1 say them; not while asking.
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
    uint16_t work, code; // of which row; what the rule is told
} taper_gpu_rule_row;
const taper_gpu_rule_row *taper_gpu_find_rule(const taper_node *node); // NULL: there is none

#endif
