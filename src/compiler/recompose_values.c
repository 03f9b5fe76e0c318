// SPDX-License-Identifier: BSD-2-Clause
// Finds how values of a graph are quantized, and makes the integers of these values.
#include "compiler/recompose.h"

#include "ops/engine/view_move.h"

enum { MOST_USES = 64, MOST_HOPS = 256 };

// ---- facts about values

taper_recomposed taper_recomposed_of(const taper_recomposer *r, const taper_ir_value *value)
{
    return value->id < r->capacity ? r->values[value->id] : (taper_recomposed){0};
}

taper_status taper_recomposed_set(taper_recomposer *r, const taper_ir_value *value, taper_recomposed what)
{
    const size_t before = r->capacity;
    TAPER_TRY(
        TAPER_GROW(r->compilation->allocator, r->values, r->capacity, (size_t)value->id + 1, r->compilation->error));
    if (r->capacity > before) {
        memset(r->values + before, 0, (r->capacity - before) * sizeof *r->values);
    }
    r->values[value->id] = what;
    return TAPER_OK;
}

// Reads the arguments (x, scale, zero_point, quant_min, quant_max, dtype) of a call that uses all integers of the
// dtype.
static bool read_qparams(const taper_node *node, taper_qparams *qparams)
{
    double n[5];
    if (!taper_constant_numbers(node, 1, 5, n)) {
        return false;
    }
    const double low = n[4] == TAPER_I8 ? -128 : 0;
    *qparams = (taper_qparams){n[0], (int64_t)(n[1] - low)};
    return (n[4] == TAPER_I8 || n[4] == TAPER_U8) && n[2] == low && n[3] == low + 255 && n[1] >= low &&
           n[1] <= low + 255 && n[0] >= TAPER_RECOMPOSED_LEAST && n[0] <= TAPER_RECOMPOSED_MOST;
}

static bool same_qparams(taper_qparams a, taper_qparams b)
{
    return a.scale == b.scale && a.zero_point == b.zero_point;
}

static bool is_quantize(const taper_node *node, taper_qparams *qparams)
{
    return node != NULL && taper_node_calls(node, TAPER_OP(quantized_decomposed_quantize_per_tensor)) &&
           read_qparams(node, qparams);
}

static bool is_dequantize(const taper_node *node, taper_qparams *qparams)
{
    return node != NULL && taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_tensor)) &&
           taper_constant_float_dtype(node, 6) && read_qparams(node, qparams);
}

// ---- the integers from which a value is dequantized

// Returns the quint8 tensor that `value` dequantizes, if this pass made that tensor, otherwise NULL.
static taper_ir_value *taken_before(const taper_recomposer *r, const taper_ir_value *value)
{
    const taper_node *node = value->node;
    // Skips a contiguous node that this pass inserted.
    if (node != NULL && taper_node_calls(node, TAPER_OP(aten_contiguous))) {
        node = taper_node_in(node, 0)->node;
    }
    return node != NULL && taper_node_calls(node, TAPER_OP(aten_dequantize_self)) &&
                   taper_recomposed_of(r, taper_node_in(node, 0)).known
               ? taper_node_in(node, 0)
               : NULL;
}

// Returns true if the two calls have equal ranges of integers and equal dtypes, so that checking the quantize node also
// checks the dequantize node.
static bool of_same_integers(const taper_node *a, const taper_node *b)
{
    double first[3], second[3];
    return taper_constant_numbers(a, 3, 5, first) && taper_constant_numbers(b, 3, 5, second) &&
           memcmp(first, second, sizeof first) == 0;
}

bool taper_recompose_source(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams)
{
    const taper_ir_value *taken = taken_before(r, value);
    taper_qparams made;
    if (taken != NULL) {
        *qparams = taper_recomposed_of(r, taken).qparams;
        return true;
    }
    if (!is_dequantize(value->node, qparams) || taper_aliases_written(r->aliases, value)) {
        return false;
    }
    const taper_ir_value *integers = taper_node_in(value->node, 0);
    return is_quantize(integers->node, &made) && same_qparams(made, *qparams) &&
           of_same_integers(integers->node, value->node) && !taper_aliases_written(r->aliases, integers);
}

static taper_status op_before(const taper_recomposer *r, taper_node *before, const taper_op *op, taper_node **made)
{
    TAPER_TRY(taper_op_before(r->compilation, before, op, made));
    if (*made == NULL) {
        TAPER_FAIL(r->compilation->error, TAPER_ERROR_UNSUPPORTED, "this build cannot quantize tensors");
    }
    return TAPER_OK;
}

static taper_status set_constants(const taper_recomposer *r, taper_node *node, size_t from, const taper_val *values,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_ir_value *constant;
        TAPER_TRY(taper_constant_before(node, values[i], &constant, r->compilation->error));
        taper_node_set_input(node, from + i, constant);
    }
    return TAPER_OK;
}

// Quantizes the floats of `node` to quint8. For a file, uses the operator that every PyTorch version has. For a run
// here, uses an operator that maps infinities to the ends of the range, as the original operator does.
static taper_status quantize(taper_recomposer *r, taper_node *node, taper_qparams p, taper_ir_value **made)
{
    const taper_val zero_point = taper_val_int(p.zero_point), scale = taper_val_double(p.scale);
    taper_ir_value *x = taper_node_in(node, 0);
    taper_node *whole, *bytes;
    if (r->compilation->portable) {
        TAPER_TRY(op_before(r, node, TAPER_OP(aten_quantize_per_tensor), &whole));
        TAPER_TRY(set_constants(r, whole, 1, (taper_val[]){scale, zero_point, taper_val_int(TAPER_QU8)}, 3));
    } else {
        TAPER_TRY(op_before(r, node, TAPER_OP(quantized_decomposed_quantize_per_tensor), &bytes));
        TAPER_TRY(set_constants(
            r, bytes, 1,
            (taper_val[]){scale, zero_point, taper_val_int(0), taper_val_int(255), taper_val_int(TAPER_U8)}, 5));
        taper_node_set_input(bytes, 0, x);
        x = &bytes->outputs[0];
        TAPER_TRY(op_before(r, node, TAPER_OP(aten__make_per_tensor_quantized_tensor), &whole));
        TAPER_TRY(set_constants(r, whole, 1, (taper_val[]){scale, zero_point}, 2));
    }
    taper_node_set_input(whole, 0, x);
    *made = &whole->outputs[0];
    return taper_recomposed_set(
        r, *made, (taper_recomposed){.known = true, .qparams = p, .rank = taper_least_rank(r, taper_node_in(node, 0))});
}

// Inserts a node that dequantizes a quint8 tensor. The floats get the memory format that they have in the program,
// because the program may make views of them.
static taper_status dequantize_before(const taper_recomposer *r, taper_node *before, taper_ir_value *from,
                                      taper_node **made)
{
    taper_node *floats;
    TAPER_TRY(op_before(r, before, TAPER_OP(aten_dequantize_self), made));
    taper_node_set_input(*made, 0, from);
    if (taper_recomposed_of(r, from).computed) {
        floats = *made;
        TAPER_TRY(op_before(r, before, TAPER_OP(aten_contiguous), made));
        taper_node_set_input(*made, 0, &floats->outputs[0]);
        TAPER_TRY(set_constants(r, *made, 1, (taper_val[]){taper_val_int(TAPER_FORMAT_CONTIGUOUS)}, 1));
    }
    return TAPER_OK;
}

// Makes dequantize nodes of these integers read `made`, except nodes whose results are written to.
taper_status taper_recompose_replace(taper_recomposer *r, const taper_ir_value *integers, taper_ir_value *made)
{
    const taper_qparams p = taper_recomposed_of(r, made).qparams;
    for (const taper_value_use *use = integers->uses; use != NULL; use = use->next) {
        taper_qparams other;
        taper_node *floats;
        if (use->user == NULL || !is_dequantize(use->user, &other) || !same_qparams(p, other) ||
            !of_same_integers(integers->node, use->user) || use->user->outputs[0].uses == NULL ||
            taper_aliases_written(r->aliases, &use->user->outputs[0])) {
            continue;
        }
        TAPER_TRY(dequantize_before(r, use->user, made, &floats));
        taper_value_replace_uses(&use->user->outputs[0], &floats->outputs[0]);
    }
    return TAPER_OK;
}

taper_status taper_recompose_take(taper_recomposer *r, const taper_ir_value *value, taper_ir_value **taken)
{
    *taken = taken_before(r, value);
    if (*taken == NULL) {
        taper_qparams p;
        const taper_ir_value *integers = taper_node_in(value->node, 0);
        (void)is_quantize(integers->node, &p);
        TAPER_TRY(quantize(r, integers->node, p, taken));
        TAPER_TRY(taper_recompose_replace(r, integers, *taken));
    }
    return TAPER_OK;
}

// ---- float inputs that a layer quantizes itself

taper_ir_value *taper_recompose_floats(const taper_recomposer *r, taper_ir_value *value)
{
    taper_ir_value *floats =
        taken_before(r, value) == NULL ? taper_node_in(taper_node_in(value->node, 0)->node, 0) : value;
    return taper_aliases_written(r->aliases, floats) ? value : floats;
}

bool taper_recompose_dynamic(const taper_recomposer *r, const taper_ir_value *value, taper_ir_value *found[3],
                             int64_t *raised)
{
    double n[3], made[3], chosen[4];
    const taper_node *floats = value->node;
    if (floats == NULL || !taper_node_calls(floats, TAPER_OP(quantized_decomposed_dequantize_per_tensor_tensor)) ||
        !taper_constant_float_dtype(floats, 6) || taper_aliases_written(r->aliases, value)) {
        return false;
    }
    const taper_node *quantize = taper_node_in(floats, 0)->node;
    const taper_node *choose = taper_node_in(floats, 1)->node;
    if (quantize == NULL || choose == NULL ||
        !taper_node_calls(quantize, TAPER_OP(quantized_decomposed_quantize_per_tensor_tensor)) ||
        !taper_node_calls(choose, TAPER_OP(quantized_decomposed_choose_qparams_tensor)) ||
        taper_aliases_written(r->aliases, &quantize->outputs[0]) ||
        taper_aliases_written(r->aliases, &choose->outputs[0]) ||
        taper_aliases_written(r->aliases, &choose->outputs[1])) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        found[1 + i] = &choose->outputs[i];
        if (taper_node_in(floats, 1 + i) != found[1 + i] || taper_node_in(quantize, 1 + i) != found[1 + i]) {
            return false;
        }
    }
    if (!taper_constant_numbers(floats, 3, 5, n) || !taper_constant_numbers(quantize, 3, 5, made) ||
        !taper_constant_numbers(choose, 1, 4, chosen) || memcmp(n, made, sizeof n) != 0 || chosen[0] != n[0] ||
        chosen[1] != n[1] || chosen[3] != n[2] || !(chosen[2] >= TAPER_RECOMPOSED_LEAST)) {
        return false;
    }
    found[0] = taper_node_in(quantize, 0);
    *raised = n[2] == TAPER_I8 ? 128 : 0;
    return (n[2] == TAPER_I8 || n[2] == TAPER_U8) && n[0] == (double)-*raised && n[1] == n[0] + 255 &&
           !taper_aliases_written(r->aliases, found[0]);
}

// ---- results

static bool is_only_dequantized(const taper_recomposer *r, const taper_ir_value *integers, taper_qparams qparams)
{
    size_t count = 0;
    for (const taper_value_use *use = integers->uses; use != NULL; use = use->next) {
        taper_qparams other;
        if (++count > MOST_USES || use->user == NULL || use->index != 0 || !is_dequantize(use->user, &other) ||
            !same_qparams(other, qparams) || !of_same_integers(integers->node, use->user) ||
            taper_aliases_written(r->aliases, &use->user->outputs[0])) {
            return false;
        }
    }
    return !taper_aliases_written(r->aliases, integers);
}

bool taper_recompose_result(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams)
{
    size_t count = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        taper_qparams other;
        if (++count > MOST_USES || use->user == NULL || use->index != 0 || !is_quantize(use->user, &other) ||
            (count > 1 && !same_qparams(other, *qparams)) || !is_only_dequantized(r, &use->user->outputs[0], other)) {
            return false;
        }
        *qparams = other;
    }
    return count != 0 && !taper_aliases_written(r->aliases, value);
}

bool taper_recompose_again(const taper_recomposer *r, const taper_node *node)
{
    taper_qparams to, from;
    return is_quantize(node, &to) && taper_recompose_source(r, taper_node_in(node, 0), &from) &&
           same_qparams(from, to) && is_only_dequantized(r, &node->outputs[0], to);
}

taper_status taper_recompose_give(taper_recomposer *r, const taper_ir_value *value, taper_ir_value *made)
{
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        TAPER_TRY(taper_recompose_replace(r, &use->user->outputs[0], made));
    }
    return TAPER_OK;
}

// ---- numbers of dimensions of values

// Returns true if an assertion of the graph raises when `condition` is false.
static bool is_asserted(const taper_ir_value *condition)
{
    for (const taper_value_use *use = condition->uses; use != NULL; use = use->next) {
        const taper_node *branch = use->user;
        if (branch == NULL || branch->kind != TAPER_NODE_IF || use->index != 0 || branch->block->parent != NULL) {
            continue;
        }
        for (const taper_node *node = branch->blocks[1]->first; node != NULL; node = node->next) {
            if (taper_node_has(node, TAPER_OP_RAISES)) {
                return true;
            }
        }
    }
    return false;
}

// If an assertion compares `asked`, a dim(x) or size(x), with a constant number of dimensions, returns that number,
// otherwise 0.
static int64_t asserted_rank(const taper_node *asked)
{
    for (const taper_value_use *use = asked->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *compare = use->user;
        if (compare == NULL ||
            (!taper_node_calls(compare, TAPER_OP(aten_eq_int)) &&
             !taper_node_calls(compare, TAPER_OP(aten_eq_int_list))) ||
            !is_asserted(&compare->outputs[0])) {
            continue;
        }
        const taper_val *other = taper_node_constant_in(compare, 1 - use->index);
        if (other != NULL && other->tag == TAPER_LIST) {
            return (int64_t)other->as.list->count;
        }
        if (other != NULL && other->tag == TAPER_INT) {
            return other->as.i;
        }
    }
    return 0;
}

// Returns the rank that the program's checks require for this parameter of forward, or 0 if there is no such check.
static int64_t rank_of_param(const taper_ir_value *value)
{
    size_t count = 0;
    for (const taper_value_use *use = value->uses; use != NULL && count < MOST_USES; use = use->next, count++) {
        const taper_node *user = use->user;
        const int64_t rank =
            user != NULL && user->block == value->block &&
                    (taper_node_calls(user, TAPER_OP(aten_dim)) || taper_node_calls(user, TAPER_OP(aten_size)))
                ? asserted_rank(user)
                : 0;
        if (rank > 0) {
            return rank;
        }
    }
    return 0;
}

int64_t taper_least_rank(const taper_recomposer *r, const taper_ir_value *value)
{
    int64_t more = 0;
    for (int hops = 0; hops < MOST_HOPS; hops++) {
        const taper_recomposed known = taper_recomposed_of(r, value);
        const taper_node *node = value->node;
        if (known.known) {
            return known.rank + more;
        }
        if (node == NULL || node->kind != TAPER_NODE_OP || node->input_count == 0) {
            return value->block->parent == NULL && node == NULL ? rank_of_param(value) + more : 0;
        }
        const taper_rank rank = taper_rank_of(value);
        const unsigned shape = TAPER_FIELD(taper_node_facts(node), SHAPE);
        if (rank.number >= 0) {
            return rank.number + more;
        }
        if (rank.squeezed) {
            return 0;
        }
        // Follows one operator at a time, because the rank of any value on the way may be known.
        more += shape == TAPER_SHAPE_UNSQUEEZE ? 1 : shape == TAPER_SHAPE_SELECT ? -1 : 0;
        const taper_ir_value *first = taper_node_in(node, 0);
        if (shape == TAPER_SHAPE_JOIN) {
            value = first->node != NULL && first->node->kind == TAPER_NODE_LIST && first->node->input_count != 0
                        ? taper_node_in(first->node, 0)
                        : first;
        } else if (taper_node_calls(node, TAPER_OP(quantized_linear_dynamic)) || // the node was made by this pass
                   taper_node_calls(node, TAPER_OP(quantized_linear_relu_dynamic)) || rank.from != value ||
                   taper_node_has(node, TAPER_OP_ELEMENTWISE) || shape == TAPER_SHAPE_BROADCAST) {
            value = first;
        } else {
            return 0;
        }
    }
    return 0;
}
