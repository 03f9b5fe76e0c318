// SPDX-License-Identifier: BSD-2-Clause
// Removes checks of the number of dimensions, for example in scripted batch norm ("expected 4D input"). If an operator
// keeps the rank, its result has the rank of its input. After a check that raises an error, the rank is a known number,
// and constant folding removes further checks.
#include "compiler/pass.h"
#include "ir/alias.h"

typedef struct rank_of {
    const taper_ir_value *source; // earlier value whose rank this value also has, or NULL if no such value is known
    int8_t least, most;           // bounds of the rank of a source; `most` is 0 if nothing is known
} rank_of;

typedef struct learned_rank {
    uint32_t id;
    int8_t least, most; // lowest and highest rank before this block narrowed the range
} learned_rank;

typedef struct ranks {
    taper_compilation *compilation;
    rank_of *values; // known facts about each value's rank, by value id
    size_t value_count;
    // Sources whose bounds the current block made narrower. At the end of the block their previous bounds are restored.
    learned_rank *learned;
    size_t learned_count, learned_capacity;
} ranks;

static const taper_ir_value *source_of(const ranks *r, const taper_ir_value *value)
{
    const taper_ir_value *source = value->id < r->value_count ? r->values[value->id].source : NULL;
    return source != NULL ? source : value;
}

static void set_source(ranks *r, const taper_ir_value *value, const taper_ir_value *source)
{
    if (value->id < r->value_count) {
        r->values[value->id].source = source;
    }
}

static bool is_tensor_argument(const taper_node *node, size_t index)
{
    const taper_type *type = node->schema->args[index].type;
    return type->kind == TAPER_TYPE_TENSOR ||
           (type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_TENSOR);
}

// Returns true if the only tensor argument of an elementwise operator is the first one.
static bool has_one_operand(const taper_node *node)
{
    for (size_t i = 0; i < node->schema->arg_count; i++) {
        if (is_tensor_argument(node, i) != (i == 0)) {
            return false;
        }
    }
    return true;
}

// Returns true if the first result has as many dimensions as the first argument.
static bool keeps_rank(const taper_node *node)
{
    if (node->schema->in_place || (taper_node_has(node, TAPER_OP_ELEMENTWISE) && has_one_operand(node))) {
        return true; // operators that change sizes in place are excluded by taper_ranks_change
    }
    switch ((taper_op_shape)TAPER_FIELD(taper_node_facts(node), SHAPE)) {
    case TAPER_SHAPE_SAME:
    case TAPER_SHAPE_CONV:
    case TAPER_SHAPE_PACKED:
    case TAPER_SHAPE_POOL:
    case TAPER_SHAPE_ADAPTIVE:
    case TAPER_SHAPE_LINEAR:
    case TAPER_SHAPE_TRANSPOSE:
    case TAPER_SHAPE_MATRIX:
    case TAPER_SHAPE_PERMUTE:
    case TAPER_SHAPE_SLICE:
    case TAPER_SHAPE_PIECES:
    case TAPER_SHAPE_RESIZE:
    case TAPER_SHAPE_PAD:
    case TAPER_SHAPE_SHUFFLE:
    case TAPER_SHAPE_HALF:
    case TAPER_SHAPE_RECURRENT:
        return true;
    default:
        return false;
    }
}

// ---- the rank of one value

static int64_t length_of(const taper_ir_value *list)
{
    const taper_node *node = list->node;
    return node != NULL && node->kind == TAPER_NODE_LIST ? node->input_count
           : node != NULL && node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_LIST
               ? (int64_t)node->constant.as.list->count
               : -1;
}

// Returns the rank of the result if it depends only on the operator, otherwise -1.
static int64_t rank_of_result(const taper_node *node)
{
    double start, end;
    switch ((taper_op_shape)TAPER_FIELD(taper_node_facts(node), SHAPE)) {
    case TAPER_SHAPE_GIVEN:
    case TAPER_SHAPE_PERMUTE:
    case TAPER_SHAPE_EXPAND:
        return length_of(taper_node_in(node, 1));
    case TAPER_SHAPE_FLATTEN:
        return taper_node_constant_is_number(node, 1, &start) && taper_node_constant_is_number(node, 2, &end) &&
                       start == 1 && end == -1
                   ? 2
                   : -1;
    default:
        return taper_node_calls(node, TAPER_OP(aten_addmm)) || taper_node_calls(node, TAPER_OP(aten_mm)) ? 2
               : taper_node_calls(node, TAPER_OP(aten_bmm)) ||
                       taper_node_calls(node, TAPER_OP(aten__native_multi_head_attention))
                   ? 3
                   : -1;
    }
}

taper_rank taper_rank_of(const taper_ir_value *value)
{
    taper_rank rank = {.number = -1};
    for (int hops = 0; hops < 64; hops++) {
        const taper_node *node = value->node;
        if (node == NULL || node->kind != TAPER_NODE_OP || node->input_count == 0) {
            break;
        }
        const int64_t own = rank_of_result(node);
        if (own >= 0) {
            rank.number = !rank.squeezed ? own + rank.more : -1;
            break;
        }
        const unsigned shape = TAPER_FIELD(taper_node_facts(node), SHAPE);
        if (shape == TAPER_SHAPE_UNSQUEEZE) {
            rank.more++;
        } else if (shape == TAPER_SHAPE_SELECT) {
            rank.more--;
        } else if (shape == TAPER_SHAPE_SQUEEZE) {
            rank.more--;
            rank.squeezed = true;
        } else if (!keeps_rank(node)) {
            break;
        }
        value = taper_node_in(node, 0);
    }
    rank.from = value;
    const int64_t checked = rank.number < 0 && !rank.squeezed ? taper_checked_rank(value) : -1;
    if (checked >= 0) {
        rank.number = checked + rank.more;
    }
    return rank;
}

// ---- values that are certainly matrices (taper_is_matrix)

// Reads a constant dimension that is not negative, which means that it is counted from the front. Returns false for
// other values.
static bool is_dim(const taper_val *value, int64_t *dim)
{
    *dim = value != NULL && value->tag == TAPER_INT ? value->as.i : -1;
    return *dim >= 0;
}

static const taper_val *constant_of(const taper_node *node, const char *argument)
{
    const taper_ir_value *value = taper_node_argument(node, argument);
    const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
    return constant != NULL ? &constant->constant : NULL;
}

// Handles a reduction or selection. *more is the negated number of dimensions that the operator drops. *last is the
// highest dimension that its arguments name: the input has this dimension, or the operator raises. Returns false for
// all other operators.
static bool dropped_dims(const taper_node *node, int64_t *more, int64_t *last)
{
    const unsigned shape = TAPER_FIELD(taper_node_facts(node), SHAPE);
    const taper_val *dims = constant_of(node, "dim"), *keep = constant_of(node, "keepdim");
    const bool drops = shape == TAPER_SHAPE_SELECT ||
                       (shape == TAPER_SHAPE_REDUCE && keep != NULL && keep->tag == TAPER_BOOLEAN && !keep->as.b);
    if (!drops || dims == NULL || dims->tag != TAPER_LIST || dims->as.list->count == 0) {
        *more = -1;
        return drops && is_dim(dims, last);
    }
    *more = -(int64_t)dims->as.list->count;
    bool known = true;
    for (size_t k = 0; k < dims->as.list->count; k++) {
        int64_t dim;
        known = known && is_dim(&dims->as.list->items[k], &dim);
        *last = known ? taper_max_i64(*last, dim) : *last;
    }
    return known;
}

// Returns the rank of the input with a batch dimension, if the operator is a layer that also accepts inputs without
// one. Returns 0 for other operators.
static int64_t dims_with_batch(const taper_node *node)
{
    switch ((taper_op_shape)TAPER_FIELD(taper_node_facts(node), SHAPE)) {
    case TAPER_SHAPE_CONV:
    case TAPER_SHAPE_POOL:
    case TAPER_SHAPE_ADAPTIVE:
        for (size_t i = 0; i < node->schema->arg_count; i++) {
            if (node->schema->args[i].size > 0) { // one number for each spatial dimension
                return 2 + node->schema->args[i].size;
            }
        }
        return 0;
    default:
        return 0;
    }
}

bool taper_is_matrix(taper_compilation *compilation, const taper_ir_value *value)
{
    // more: dimensions of the original value minus dimensions of `value`, to which the search has moved. least:
    // smallest number of dimensions of `value`.
    int64_t more = 0, least = 0;
    for (int hops = 0; hops < 64 && !taper_ranks_change(compilation); hops++) {
        const taper_node *node = value->node;
        if (node == NULL || node->kind != TAPER_NODE_OP || node->input_count == 0) {
            break;
        }
        const bool bags = taper_node_calls_any(node, TAPER_OP(aten_embedding_bag));
        const int64_t own = bags ? (value->index == 0 ? 2 : -1) : rank_of_result(node);
        const unsigned shape = TAPER_FIELD(taper_node_facts(node), SHAPE);
        const int64_t batch = dims_with_batch(node);
        if (own >= 0 || (batch != 0 && least >= batch)) {
            return (own >= 0 ? own : batch) + more == 2;
        }
        int64_t added = 0, last = -1;
        value = taper_node_in(node, 0);
        if (shape == TAPER_SHAPE_JOIN && value->node != NULL && value->node->kind == TAPER_NODE_LIST &&
            value->node->input_count != 0) {
            value = taper_node_in(value->node, 0);
        } else if (shape == TAPER_SHAPE_UNSQUEEZE) {
            added = 1;
        } else if (!dropped_dims(node, &added, &last)) {
            if (!keeps_rank(node)) {
                break;
            }
            added = 0;
            last = -1;
        }
        more += added;
        least = taper_max_i64(least - added, last + 1);
    }
    return false;
}

// ---- ranks that operators and checks tell

enum { MOST_USES = 1024 };

// Returns true if the list is only appended to and read, and all these nodes are in the block that makes it. At each
// node of the block, the list then contains exactly the items that earlier nodes of the block appended.
static bool only_grows(const taper_node *made)
{
    int count = 0;
    for (const taper_value_use *use = made->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (++count > MOST_USES || user == NULL || user->block != made->block || user->kind != TAPER_NODE_OP) {
            return false;
        }
        const bool grows =
            taper_node_calls(user, TAPER_OP(aten_append_t)) && use->index == 0 && user->outputs[0].uses == NULL;
        if (!grows && TAPER_FIELD(taper_node_facts(user), SHAPE) != TAPER_SHAPE_JOIN) {
            return false;
        }
    }
    return true;
}

// If the ranks of all items of a list have the same source so far, makes this the source of the list.
static void look_at_list(ranks *r, const taper_node *made)
{
    if (made->input_count == 0 || made->outputs[0].id >= r->value_count || !only_grows(made)) {
        return;
    }
    const taper_ir_value *source = source_of(r, taper_node_in(made, 0));
    for (size_t i = 1; i < made->input_count; i++) {
        if (source_of(r, taper_node_in(made, i)) != source) {
            return;
        }
    }
    set_source(r, &made->outputs[0], source);
}

// Removes the source of the rank of a list's items if an item with another source is appended.
static void look_at_append(ranks *r, const taper_node *append)
{
    const taper_ir_value *list = taper_node_in(append, 0);
    if (list->node != NULL && list->node->kind == TAPER_NODE_LIST &&
        source_of(r, list) != source_of(r, taper_node_in(append, 1))) {
        set_source(r, list, NULL);
    }
}

// Returns the value from which all tensors of an elementwise operator have their rank, or NULL if there is no such
// value.
static const taper_ir_value *source_of_operands(const ranks *r, const taper_node *node)
{
    const taper_ir_value *source = NULL;
    for (size_t i = 0; i < node->input_count && i < node->schema->arg_count; i++) {
        const taper_val *constant = taper_node_constant_in(node, i);
        if (!is_tensor_argument(node, i) || (constant != NULL && constant->tag == TAPER_NONE)) {
            continue;
        }
        const taper_ir_value *other = source_of(r, taper_node_in(node, i));
        if (source != NULL && other != source) {
            return NULL;
        }
        source = other;
    }
    return source;
}

static void look_at_results(ranks *r, const taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(aten_append_t))) {
        look_at_append(r, node);
        return;
    }
    if (node->kind == TAPER_NODE_OP && node->input_count != 0 && node->output_count == 1) {
        const taper_ir_value *first = taper_node_in(node, 0), *source = NULL;
        if (keeps_rank(node)) {
            source = source_of(r, first);
        } else if (TAPER_FIELD(taper_node_facts(node), SHAPE) == TAPER_SHAPE_JOIN) {
            source = source_of(r, first) != first ? source_of(r, first) : NULL;
        } else if (taper_node_has(node, TAPER_OP_ELEMENTWISE)) {
            source = source_of_operands(r, node);
        }
        if (source != NULL) {
            set_source(r, &node->outputs[0], source);
        }
    } else if (node->kind == TAPER_NODE_LIST) {
        look_at_list(r, node);
    } else if (node->kind == TAPER_NODE_LIST_UNPACK) { // the list is a result of chunk or split
        const taper_ir_value *list = taper_node_in(node, 0), *source = source_of(r, list);
        for (size_t i = 0; source != list && i < node->output_count; i++) {
            set_source(r, &node->outputs[i], source);
        }
    } else if (node->kind == TAPER_NODE_IF) {
        for (size_t i = 0; i < node->output_count; i++) {
            const taper_ir_value *a = source_of(r, node->blocks[0]->results[i].value);
            if (a == source_of(r, node->blocks[1]->results[i].value)) {
                set_source(r, &node->outputs[i], a);
            }
        }
    }
}

static bool raises(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (taper_node_has(node, TAPER_OP_RAISES)) {
            return true;
        }
    }
    return false;
}

static taper_status learn_rank(ranks *r, const taper_ir_value *value, int64_t least, int64_t most)
{
    const taper_ir_value *source = source_of(r, value);
    if (source->id >= r->value_count || least < 0 || most > INT8_MAX) {
        return TAPER_OK;
    }
    rank_of *known = &r->values[source->id];
    if (known->most != 0) {
        least = least < known->least ? known->least : least;
        most = most > known->most ? known->most : most;
    }
    if (least > most || (known->most != 0 && least == known->least && most == known->most)) {
        return TAPER_OK; // contradictory bounds occur only in code that never runs, because a check before it raises
    }
    TAPER_TRY(TAPER_GROW(r->compilation->allocator, r->learned, r->learned_capacity, r->learned_count + 1,
                         r->compilation->error));
    r->learned[r->learned_count++] = (learned_rank){source->id, known->least, known->most};
    known->least = (int8_t)least;
    known->most = (int8_t)most;
    return TAPER_OK;
}

// Learns the rank of a convolution's input: a convolution takes a batch of images or one image, and raises otherwise.
// PyTorch's convolutions with packed weights, for which a file is written, take only batches.
static taper_status learn_from_layer(ranks *r, const taper_node *node)
{
    const uint64_t facts = taper_node_facts(node);
    const unsigned layer = TAPER_FIELD(facts, LAYER);
    if (node->kind != TAPER_NODE_OP || (facts & TAPER_OP_PACKS) != 0 || layer < TAPER_LAYER_CONV1 ||
        layer > TAPER_LAYER_CONV_TRANSPOSED3) {
        return TAPER_OK;
    }
    const int64_t dims =
        layer <= TAPER_LAYER_CONV3 ? 1 + layer - TAPER_LAYER_CONV1 : 1 + layer - TAPER_LAYER_CONV_TRANSPOSED1;
    const bool batches = (facts & TAPER_OP_PACKED) != 0 && r->compilation->portable;
    return learn_rank(r, taper_node_in(node, 0), batches ? dims + 2 : dims + 1, dims + 2);
}

// Returns the largest rank of the operands if every rank is known, otherwise -1.
static int64_t rank_of_operands(const ranks *r, const taper_node *node)
{
    int64_t most = -1;
    for (size_t i = 0; i < node->input_count && i < node->schema->arg_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        const taper_val *constant = taper_node_constant_in(node, i);
        if (!is_tensor_argument(node, i) || (constant != NULL && constant->tag == TAPER_NONE)) {
            continue;
        }
        const taper_ir_value *source = source_of(r, value);
        const rank_of *known = source->id < r->value_count ? &r->values[source->id] : NULL;
        const bool exact = known != NULL && known->most != 0 && known->least == known->most;
        if (constant != NULL && constant->tag == TAPER_TENSOR) {
            most = taper_max_i64(most, constant->as.tensor->rank);
        } else if (exact) {
            most = taper_max_i64(most, known->least);
        } else {
            return -1;
        }
    }
    return most;
}

// Returns the rank of one item of a cat or stack. The other items have the same rank, except empty tensors of one
// dimension.
static int64_t rank_of_items(const ranks *r, const taper_node *join)
{
    const taper_node *list = taper_node_in(join, 0)->node;
    for (size_t i = 0; list != NULL && list->kind == TAPER_NODE_LIST && i < list->input_count && i < 64; i++) {
        const taper_ir_value *source = source_of(r, taper_node_in(list, i));
        const rank_of *known = source->id < r->value_count ? &r->values[source->id] : NULL;
        if (known != NULL && known->least == known->most && known->least > 1) {
            return known->least;
        }
    }
    return -1;
}

static taper_status learn_result(ranks *r, const taper_node *node)
{
    if (node->kind != TAPER_NODE_OP || node->output_count == 0 || node->input_count == 0 ||
        node->outputs[0].id >= r->value_count || source_of(r, &node->outputs[0]) != &node->outputs[0]) {
        return TAPER_OK;
    }
    int64_t rank = rank_of_result(node);
    if (rank < 0 && TAPER_FIELD(taper_node_facts(node), SHAPE) == TAPER_SHAPE_JOIN) {
        rank = rank_of_items(r, node);
    } else if (rank < 0 && taper_node_has(node, TAPER_OP_ELEMENTWISE)) {
        rank = rank_of_operands(r, node);
    }
    return rank > 0 ? learn_rank(r, &node->outputs[0], rank, rank) : TAPER_OK;
}

// Learns from `if dim(x) != N: raise`. After this node the rank of x is N.
static taper_status learn(ranks *r, const taper_node *node)
{
    const taper_node *test = node->kind == TAPER_NODE_IF ? taper_node_in(node, 0)->node : NULL;
    if (test == NULL || node->output_count != 0) {
        return TAPER_OK;
    }
    const bool equal = taper_node_calls(test, TAPER_OP(aten_eq_int));
    if ((!equal && !taper_node_calls(test, TAPER_OP(aten_ne_int))) || !raises(node->blocks[equal ? 1 : 0])) {
        return TAPER_OK;
    }
    const taper_node *dim = taper_node_in(test, 0)->node;
    const taper_val *number = taper_node_constant_in(test, 1);
    if (dim == NULL || !taper_node_calls(dim, TAPER_OP(aten_dim)) || number == NULL || number->tag != TAPER_INT) {
        return TAPER_OK;
    }
    return learn_rank(r, taper_node_in(dim, 0), number->as.i, number->as.i);
}

// If the node computes the rank of a tensor, as x.dim() or len(x.size()), returns the tensor, otherwise NULL.
static const taper_ir_value *asks_rank(const taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(aten_dim))) {
        return taper_node_in(node, 0);
    }
    const taper_node *sizes = taper_node_calls(node, TAPER_OP(aten_len_t)) ? taper_node_in(node, 0)->node : NULL;
    return sizes != NULL && taper_node_calls(sizes, TAPER_OP(aten_size)) && taper_value_is_only_read(&sizes->outputs[0])
               ? taper_node_in(sizes, 0)
               : NULL;
}

// Returns true if a list of numbers never changes, because every user only reads the list and no user passes it on.
static bool stays(const taper_ir_value *list)
{
    int count = 0;
    for (const taper_value_use *use = list->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (++count > MOST_USES || user == NULL || user->kind != TAPER_NODE_OP || !taper_node_is_pure(user)) {
            return false;
        }
        // True for an argument beyond the schema's arguments: an operator such as `format` takes any number of
        // arguments.
        const bool behind = use->index >= user->schema->arg_count;
        const bool apart =
            !behind && (user->schema->args[use->index].alias == 0 || taper_node_has(user, TAPER_OP_ITEM));
        if (!apart &&
            !(behind && user->schema->ret_count == 1 && user->schema->rets[0].type->kind == TAPER_TYPE_STRING)) {
            return false;
        }
    }
    return true;
}

// Returns x if the node is len(x.size()[-2:]) or a similar expression, whose value follows from the rank. Otherwise
// returns NULL.
static const taper_ir_value *asks_part(const taper_node *node, const taper_node **slice)
{
    *slice = taper_node_calls(node, TAPER_OP(aten_len_t)) ? taper_node_in(node, 0)->node : NULL;
    if (*slice == NULL || !taper_node_calls(*slice, TAPER_OP(aten_slice_t)) || !stays(&(*slice)->outputs[0])) {
        return NULL;
    }
    const taper_node *sizes = taper_node_in(*slice, 0)->node;
    return sizes != NULL && taper_node_calls(sizes, TAPER_OP(aten_size)) && stays(&sizes->outputs[0])
               ? taper_node_in(sizes, 0)
               : NULL;
}

// Computes a bound of a slice by Python's rules. Returns false if the bound is not constant.
static bool bound_of(const taper_node *slice, size_t index, int64_t otherwise, int64_t length, int64_t *bound)
{
    const taper_val *given = taper_node_constant_in(slice, index);
    if (given == NULL || (given->tag != TAPER_INT && given->tag != TAPER_NONE)) {
        return false;
    }
    *bound = given->tag == TAPER_NONE ? otherwise : given->as.i;
    *bound = *bound < 0 ? (*bound < -length ? 0 : *bound + length) : *bound > length ? length : *bound;
    return true;
}

static taper_status replace_part(ranks *r, taper_node *node, const taper_ir_value *tensor, const taper_node *slice)
{
    const taper_ir_value *source = source_of(r, tensor);
    const rank_of *known = source->id < r->value_count ? &r->values[source->id] : NULL;
    const taper_val *step = taper_node_constant_in(slice, 3);
    int64_t begin, end;
    if (known == NULL || known->most == 0 || known->least != known->most || step == NULL || step->tag != TAPER_INT ||
        step->as.i != 1 || !bound_of(slice, 1, 0, known->least, &begin) ||
        !bound_of(slice, 2, known->least, known->least, &end)) {
        return TAPER_OK;
    }
    taper_ir_value *number;
    TAPER_TRY(
        taper_constant_before(node, taper_val_int(end > begin ? end - begin : 0), &number, r->compilation->error));
    taper_value_replace_uses(&node->outputs[0], number);
    taper_node_remove(node);
    return TAPER_OK;
}

// Returns true if comparing the rank with a number gives the same answer for all ranks in its bounds.
static bool is_decided(const taper_node *test, const rank_of *rank, bool *answer)
{
    // For each comparison, bits for the cases in which it is true: the rank is below, equal to or above the number.
    enum { BELOW = 1, EQUAL = 2, ABOVE = 4 };
    static const uint8_t holds_for[] = {
        [TAPER_FUNCTION_LT] = BELOW,         [TAPER_FUNCTION_LE] = BELOW | EQUAL, [TAPER_FUNCTION_EQ] = EQUAL,
        [TAPER_FUNCTION_NE] = BELOW | ABOVE, [TAPER_FUNCTION_GE] = EQUAL | ABOVE, [TAPER_FUNCTION_GT] = ABOVE};
    const unsigned function = TAPER_FIELD(taper_node_facts(test), FUNCTION);
    const unsigned holds = function < sizeof holds_for ? holds_for[function] : 0;
    const taper_val *number = taper_node_constant_in(test, 1);
    if (holds == 0 || number == NULL || number->tag != TAPER_INT) {
        return false;
    }
    bool yes = false, no = false;
    for (int64_t n = rank->least; n <= rank->most; n++) {
        const bool is = (holds & (n < number->as.i ? BELOW : n > number->as.i ? ABOVE : EQUAL)) != 0;
        yes |= is;
        no |= !is;
    }
    *answer = yes;
    return yes != no;
}

static taper_status decide(const ranks *r, const taper_node *dim, const rank_of *rank)
{
    int count = 0;
    for (const taper_value_use *use = dim->outputs[0].uses, *next; use != NULL && count < MOST_USES; use = next) {
        taper_node *test = use->user;
        bool answer;
        next = use->next;
        count++;
        if (test != NULL && use->index == 0 && test->kind == TAPER_NODE_OP && is_decided(test, rank, &answer)) {
            taper_ir_value *value;
            TAPER_TRY(taper_constant_before(test, taper_val_bool(answer), &value, r->compilation->error));
            taper_value_replace_uses(&test->outputs[0], value);
        }
    }
    return TAPER_OK;
}

// Replaces dim(x) by a number if the rank is known, otherwise by dim() of an earlier value with the same rank.
static taper_status replace(ranks *r, taper_node *node, const taper_ir_value *tensor)
{
    const taper_ir_value *source = source_of(r, tensor);
    const rank_of *known = source->id < r->value_count ? &r->values[source->id] : NULL;
    if (known != NULL && known->most != 0 && known->least == known->most) {
        taper_ir_value *number;
        TAPER_TRY(taper_constant_before(node, taper_val_int(known->least), &number, r->compilation->error));
        taper_value_replace_uses(&node->outputs[0], number);
        taper_node_remove(node);
        return TAPER_OK;
    }
    if (known != NULL && known->most != 0) {
        TAPER_TRY(decide(r, node, known));
    }
    if (source != tensor && tensor == taper_node_in(node, 0)) {
        taper_node_set_input(node, 0, (taper_ir_value *)(uintptr_t)source);
    }
    return TAPER_OK;
}

static taper_status visit_block(ranks *r, taper_block *block)
{
    const size_t learned = r->learned_count;
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        const taper_ir_value *asked = asks_rank(node);
        if (asked != NULL) {
            TAPER_TRY(replace(r, node, asked));
            continue;
        }
        const taper_node *slice;
        const taper_ir_value *of = asks_part(node, &slice);
        if (of != NULL) {
            TAPER_TRY(replace_part(r, node, of, slice));
            continue;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit_block(r, node->blocks[b]));
        }
        look_at_results(r, node);
        TAPER_TRY(node->kind == TAPER_NODE_OP ? learn_from_layer(r, node) : learn(r, node));
        TAPER_TRY(learn_result(r, node));
    }
    while (r->learned_count > learned) {
        const learned_rank *before = &r->learned[--r->learned_count];
        r->values[before->id].least = before->least;
        r->values[before->id].most = before->most;
    }
    return TAPER_OK;
}

// Returns true if a node changes the sizes or the rank of a tensor in place. In that case no rank is known.
static bool changes_ranks(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_OP && (node->schema->out_count != 0 || taper_node_has(node, TAPER_OP_RESIZES))) {
            return true;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            if (changes_ranks(node->blocks[b])) {
                return true;
            }
        }
    }
    return false;
}

bool taper_ranks_change(taper_compilation *compilation)
{
    // Computed once for all graphs: 1 if no node changes ranks in place, 2 if one does. The number remains correct,
    // because no pass adds a node that changes ranks.
    if (compilation->ranks_change == 0) {
        compilation->ranks_change = 1;
        for (size_t g = 0; g < compilation->count; g++) {
            if (compilation->graphs[g] != NULL && changes_ranks(compilation->graphs[g]->body)) {
                compilation->ranks_change = 2;
            }
        }
    }
    return compilation->ranks_change == 2;
}

taper_status taper_pass_known_ranks(taper_compilation *compilation, taper_graph *graph)
{
    if (taper_ranks_change(compilation)) {
        return TAPER_OK;
    }
    ranks r = {.compilation = compilation, .value_count = graph->value_count};
    r.values = taper_alloc_zeroed(compilation->allocator, (r.value_count + 1) * sizeof *r.values);
    const taper_status status = r.values == NULL ? taper_fail_memory(compilation->error) : visit_block(&r, graph->body);
    taper_free(compilation->allocator, r.values, (r.value_count + 1) * sizeof *r.values);
    taper_free(compilation->allocator, r.learned, r.learned_capacity * sizeof *r.learned);
    return status;
}
