// SPDX-License-Identifier: BSD-2-Clause
// Turns `if x.dim() != 4: raise ValueError(…)`, which scripted batch norm contains, into one operator without blocks.
// The pass does the same with `assert x.dim() > 2` of adaptive pools. The pass known_ranks then knows the rank of x
// after the check.
#include "compiler/pass.h"

typedef struct rank_check {
    taper_ir_value *tensor;
    int64_t rank; // required rank; a negative number -n means that the rank must be at least n
    const taper_node *raise;
    taper_ir_value *message;
    bool formats; // true if the message contains {} for the rank
} rank_check;

static const taper_node *after_constants(const taper_node *node)
{
    while (node != NULL && node->kind == TAPER_NODE_CONSTANT) {
        node = node->next;
    }
    return node;
}

// Returns true if the block only raises an error. Finds the message, which is a constant or is formatted with the rank.
static bool match_raise(const taper_block *block, const taper_ir_value *dim, rank_check *check)
{
    const taper_node *format = after_constants(block->first), *raise = block->last;
    if (raise == NULL || !taper_node_calls(raise, TAPER_OP(prim_RaiseException)) || raise->input_count != 2 ||
        taper_value_constant(taper_node_in(raise, 1)) == NULL) {
        return false;
    }
    check->raise = raise;
    check->message = taper_node_in(raise, 0);
    if (format == raise) {
        return taper_value_constant(check->message) != NULL;
    }
    if (after_constants(format->next) != raise || !taper_node_calls(format, TAPER_OP(aten_format)) ||
        format->input_count != 2 || taper_node_in(raise, 0) != &format->outputs[0] || taper_node_in(format, 1) != dim) {
        return false;
    }
    check->message = taper_node_in(format, 0);
    check->formats = true;
    return taper_value_constant(check->message) != NULL;
}

static bool is_empty(const taper_block *block)
{
    return after_constants(block->first) == NULL && block->result_count == 0;
}

static bool match(const taper_node *node, rank_check *check)
{
    const taper_node *test = node->kind == TAPER_NODE_IF ? taper_node_in(node, 0)->node : NULL;
    double rank;
    *check = (rank_check){.tensor = NULL};
    if (test == NULL || node->output_count != 0) {
        return false;
    }
    const bool more = taper_node_calls(test, TAPER_OP(aten_gt_int));
    // True if the block that raises is the else block of the If.
    const bool equal = more || taper_node_calls(test, TAPER_OP(aten_eq_int));
    if ((!equal && !taper_node_calls(test, TAPER_OP(aten_ne_int))) || !taper_node_constant_is_number(test, 1, &rank) ||
        (more && !(rank >= 0 && rank < TAPER_MAX_RANK))) {
        return false;
    }
    taper_ir_value *dim = taper_node_in(test, 0);
    if (dim->node == NULL || !taper_node_calls(dim->node, TAPER_OP(aten_dim)) ||
        !is_empty(node->blocks[equal ? 0 : 1])) {
        return false;
    }
    check->tensor = taper_node_in(dim->node, 0);
    check->rank = more ? -((int64_t)rank + 1) : (int64_t)rank;
    return match_raise(node->blocks[equal ? 1 : 0], dim, check);
}

// Returns the result of the last in-place operator on this tensor if the check directly follows that operator,
// otherwise the tensor itself. Such an operator keeps the rank, and later nodes may use its result as the tensor.
static taper_ir_value *last_name(taper_ir_value *tensor, const taper_node *check)
{
    enum { MOST_STEPS = 16 };
    for (const taper_value_use *use = tensor->uses; use != NULL; use = use->next) {
        taper_node *user = use->user;
        const bool writes = user != NULL && user->kind == TAPER_NODE_OP && user->block == check->block &&
                            user->schema->in_place && user->output_count == 1 && taper_node_in(user, 0) == tensor &&
                            !taper_node_has(user, TAPER_OP_RESIZES) && !taper_node_has(user, TAPER_OP_REPLACES);
        const taper_node *at = writes ? user->next : NULL;
        for (int i = 0; at != NULL && at != check && i < MOST_STEPS; i++) {
            at = at->next;
        }
        if (at == check) {
            return &user->outputs[0];
        }
    }
    return tensor;
}

// Returns the rank that the test requires of the value, if the test is `dim(x) == N` or `size(x) == [constant sizes]`.
// Returns -1 for any other test.
static int64_t wanted_rank(const taper_node *test, const taper_ir_value *value, bool *equal)
{
    const taper_node *asked = test != NULL && test->input_count == 2 ? taper_node_in(test, 0)->node : NULL;
    const taper_val *want = asked != NULL ? taper_node_constant_in(test, 1) : NULL;
    if (want == NULL || asked->input_count == 0 || taper_node_in(asked, 0) != value) {
        return -1;
    }
    *equal = taper_node_calls(test, TAPER_OP(aten_eq_int)) || taper_node_calls(test, TAPER_OP(aten_eq_int_list));
    if (taper_node_calls(asked, TAPER_OP(aten_dim)) && want->tag == TAPER_INT) {
        return *equal || taper_node_calls(test, TAPER_OP(aten_ne_int)) ? want->as.i : -1;
    }
    return *equal && taper_node_calls(asked, TAPER_OP(aten_size)) && want->tag == TAPER_LIST
               ? (int64_t)want->as.list->count
               : -1;
}

int64_t taper_checked_rank(const taper_ir_value *value)
{
    enum { MOST_USES = 64 };
    int left = MOST_USES;
    for (const taper_value_use *use = value->uses; use != NULL && left > 0; use = use->next, left--) {
        const taper_node *asked = use->user;
        if (asked == NULL || asked->kind != TAPER_NODE_OP || asked->output_count != 1) {
            continue;
        }
        for (const taper_value_use *test = asked->outputs[0].uses; test != NULL && left > 0;
             test = test->next, left--) {
            bool equal;
            const int64_t rank = wanted_rank(test->user, value, &equal);
            const taper_value_use *branch = rank >= 0 ? test->user->outputs[0].uses : NULL;
            const taper_node *check = branch != NULL ? branch->user : NULL;
            // If the check is in the block that defines the value, the rank applies to all uses: no use can succeed in
            // a run in which the check raises.
            const taper_block *raises = check != NULL && check->kind == TAPER_NODE_IF && check->block == value->block
                                            ? check->blocks[equal ? 1 : 0]
                                            : NULL;
            if (raises != NULL && raises->last != NULL &&
                taper_node_calls(raises->last, TAPER_OP(prim_RaiseException))) {
                return rank;
            }
        }
    }
    return -1;
}

enum { LONGEST_MESSAGE = 200 };

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    rank_check check;
    taper_node *made;
    taper_ir_value *constant;
    if (!match(node, &check)) {
        return TAPER_OK;
    }
    const taper_val message = taper_value_constant(check.message)->constant;
    if (message.tag != TAPER_STRING || message.as.string->length > LONGEST_MESSAGE) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(taper_expect_rank), &made));
    if (made == NULL) {
        return TAPER_OK;
    }
    made->debug = check.raise->debug;
    made->instruction = check.raise->instruction;
    taper_node_set_input(made, 0, last_name(check.tensor, node));
    TAPER_TRY(taper_constant_before(made, taper_val_int(check.rank), &constant, compilation->error));
    taper_node_set_input(made, 1, constant);
    // The message and the class may be defined in the block that is removed, so they are copied.
    const taper_val texts[] = {message, *taper_node_constant_in(check.raise, 1)};
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_constant_before(made, taper_val_retain(texts[i]), &constant, compilation->error));
        taper_node_set_input(made, 2 + i, constant);
    }
    TAPER_TRY(taper_constant_before(made, taper_val_bool(check.formats), &constant, compilation->error));
    taper_node_set_input(made, 4, constant);
    taper_node_remove(node);
    return TAPER_OK;
}

taper_status taper_pass_check_ranks(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
