// SPDX-License-Identifier: BSD-2-Clause
// Forms segments: parts of a graph that a backend runs as a whole (ops/backend.h). Each backend is offered the regions
// of every block. A region is the candidates for a segment among consecutive nodes of a block. It ends at the first
// node before which no later node may be computed. The nodes that the backend claims become a SEGMENT node, which also
// contains the original nodes for calls that the backend declines. This file ensures that a segment is legal, so that
// backends need not: computing all nodes of a segment at the place of its last node must not change results.
#include "compiler/pass.h"
#include "ir/alias.h"
#include "ir/graph_copy.h"
#include "ops/backend.h"

// Marks of values: INSIDE: made by the segment; BEHIND: made outside the segment from values of the segment; OUTSIDE:
// all other values.
enum { OUTSIDE, INSIDE, BEHIND };

typedef struct finder {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_device *device;
    taper_aliases *aliases; // aliases in the graph; NULL if the device does not take views
    uint8_t *marks;         // mark of each value, by value id
    size_t mark_count;
    taper_ir_value **marked;
    size_t marked_count, marked_capacity;
    taper_node **nodes; // nodes of the region; NULL for nodes that are already in a segment
    size_t *takes;      // nodes that the backend claims, as indices in `nodes`
    size_t count, capacity, take_capacity;
    taper_region region;
} finder;

static uint8_t mark_of(const finder *f, const taper_ir_value *value)
{
    return value->id < f->mark_count ? f->marks[value->id] : OUTSIDE;
}

static taper_status mark(finder *f, taper_node *node, uint8_t as)
{
    for (size_t i = 0; i < node->output_count; i++) {
        TAPER_TRY(TAPER_GROW(f->compilation->allocator, f->marked, f->marked_capacity, f->marked_count + 1,
                             f->compilation->error));
        f->marked[f->marked_count++] = &node->outputs[i];
        f->marks[node->outputs[i].id] = as;
    }
    return TAPER_OK;
}

static void unmark(finder *f)
{
    while (f->marked_count != 0) {
        f->marks[f->marked[--f->marked_count]->id] = OUTSIDE;
    }
}

// Enlarges `marks` for the values that earlier segments have added.
static taper_status grow_marks(finder *f)
{
    const size_t wanted = (size_t)f->graph->value_count + 1;
    if (wanted <= f->mark_count) {
        return TAPER_OK;
    }
    uint8_t *marks = taper_alloc_zeroed(f->compilation->allocator, 2 * wanted);
    if (marks == NULL) {
        return taper_fail_memory(f->compilation->error);
    }
    taper_free(f->compilation->allocator, f->marks, f->mark_count);
    f->marks = marks;
    f->mark_count = 2 * wanted;
    return TAPER_OK;
}

// ---- regions

static bool gives_new(const finder *f, const taper_node *node, int depth);

// Returns true if the result is argument 0, a view of it, or a new tensor.
static bool is_view_of_first(const taper_node *node)
{
    const taper_schema *schema = node->schema;
    return taper_node_has(node, TAPER_OP_VIEW | TAPER_OP_NEW_VIEW) ||
           (schema->arg_count != 0 && schema->ret_count == 1 && schema->args[0].alias != 0 &&
            schema->args[0].alias == schema->rets[0].alias && !schema->rets[0].wildcard);
}

// Returns true if the node is a view of a new tensor of the same block, and the view is the tensor's only use. Then no
// other node sees that memory.
static bool views_its_own(const finder *f, const taper_node *node, int depth)
{
    enum { MOST_VIEWS = 8 }; // longest chain of nodes in which each node is a view of the previous result
    const taper_ir_value *of = node->input_count != 0 ? taper_node_in(node, 0) : NULL;
    return TAPER_DEVICES && f->device->backend->copies && depth < MOST_VIEWS && node->output_count == 1 && of != NULL &&
           of->node != NULL && of->node->kind == TAPER_NODE_OP && of->block == node->block &&
           taper_value_used_once(of) && is_view_of_first(node) && taper_node_is_pure(of->node) &&
           gives_new(f, of->node, depth + 1);
}

// Returns true if every user of the value is in the same block and makes a new tensor of it, so that none writes to it
// or keeps it.
static bool is_only_read(const taper_ir_value *value, int depth)
{
    enum { MOST_VIEWS = 6, MOST_USERS = 64 };
    int count = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (user == NULL || user->block != value->block || depth == MOST_VIEWS || ++count > MOST_USERS) {
            return false;
        }
        const bool list = user->kind == TAPER_NODE_LIST;
        const bool hands_on = list || (user->kind == TAPER_NODE_OP && is_view_of_first(user));
        if ((!list && (user->kind != TAPER_NODE_OP || !taper_node_is_pure(user))) ||
            (hands_on && (user->output_count != 1 || !is_only_read(&user->outputs[0], depth + 1)))) {
            return false;
        }
    }
    return true;
}

static bool writes_to_its_own(const finder *f, const taper_node *node, int depth);

// Returns true if the node is a view of a new tensor of the same block, and all users of this tensor in the graph only
// read it.
static bool views_unwritten(const finder *f, const taper_node *node, int depth)
{
    const taper_ir_value *of = node->input_count != 0 ? taper_node_in(node, 0) : NULL;
    return TAPER_DEVICES && f->device->backend->copies && depth < 4 && node->output_count == 1 && of != NULL &&
           of->node != NULL && of->node->kind == TAPER_NODE_OP && of->block == node->block && is_view_of_first(node) &&
           taper_node_is_pure(node) && is_only_read(of, 0) &&
           (taper_node_is_pure(of->node) ? gives_new(f, of->node, depth + 1) : writes_to_its_own(f, of->node, 0));
}

// Returns true if the node is a view of a constant that is never written to, and all users make new tensors of it. Then
// a copy can replace the view.
static bool views_constant(const finder *f, const taper_node *node)
{
    if (!TAPER_DEVICES || !f->device->backend->copies || f->aliases == NULL || node->output_count != 1 ||
        node->input_count == 0 || taper_value_constant(taper_node_in(node, 0)) == NULL || !is_view_of_first(node) ||
        taper_aliases_written(f->aliases, &node->outputs[0])) {
        return false;
    }
    return is_only_read(&node->outputs[0], 0);
}

// Returns true if the results are new tensors, or cannot be distinguished from new tensors.
static bool gives_new(const finder *f, const taper_node *node, int depth)
{
    if (views_its_own(f, node, depth) || views_constant(f, node) || views_unwritten(f, node, depth)) {
        return true;
    }
    for (size_t i = 0; i < node->output_count; i++) {
        const taper_ir_value *value = &node->outputs[i];
        const bool apart = TAPER_DEVICES && f->aliases != NULL && !taper_aliases_written(f->aliases, value) &&
                           !taper_aliases_escapes(f->aliases, value);
        if (!apart && !taper_value_is_plain(value) && !taper_value_is_fresh(value)) {
            return false;
        }
    }
    return true;
}

// Returns true if the operator tests the identity of an argument, or may return an argument. Devices get copies of
// arguments and cannot run such operators.
static bool needs_the_object(const taper_node *node)
{
    bool needs = taper_op_has(node->op, TAPER_OP_ASKS_IDENTITY);
    for (size_t i = 0; !needs && i < node->schema->arg_count; i++) {
        const taper_type *type = node->schema->args[i].type;
        while (type->kind == TAPER_TYPE_LIST || type->kind == TAPER_TYPE_OPTIONAL) {
            type = type->items[0];
        }
        const taper_type *given = i < node->input_count ? taper_node_in(node, i)->type : NULL;
        if (type->kind == TAPER_TYPE_VARIABLE && given != NULL && taper_type_equal(given, &taper_type_list_int)) {
            continue; // this list of sizes is only used to read its numbers
        }
        needs = type->kind == TAPER_TYPE_VARIABLE || type->kind == TAPER_TYPE_DICT || type->kind == TAPER_TYPE_ANY ||
                type->kind == TAPER_TYPE_ANY_LIST || type->kind == TAPER_TYPE_ANY_TUPLE;
    }
    return needs;
}

static bool is_candidate(const finder *f, const taper_node *node, int depth);

// Returns true if the operator writes to its first argument, a tensor that a candidate for the segment made and that
// has no other use.
static bool writes_to_its_own(const finder *f, const taper_node *node, int depth)
{
    enum { MOST_IN_PLACE = 8 }; // largest number of consecutive writes to one tensor
    if (node->kind != TAPER_NODE_OP || !node->schema->in_place || node->schema->out_count != 0 ||
        taper_op_has(node->op, TAPER_OP_EFFECT | TAPER_OP_NONDETERMINISTIC) || depth == MOST_IN_PLACE) {
        return false;
    }
    for (size_t i = 1; i < node->schema->arg_count; i++) {
        if (node->schema->args[i].written) {
            return false;
        }
    }
    const taper_ir_value *target = taper_node_in(node, 0);
    return target->node != NULL && target->block == node->block && taper_value_used_once(target) &&
           is_candidate(f, target->node, depth + 1) &&
           (target->node->kind != TAPER_NODE_OP || target->node->schema->in_place || taper_value_is_fresh(target));
}

// Returns true for a list of tensors or sizes that is only passed from the node that makes it to its users in the
// block, and for the node that unpacks such a list.
static bool is_passing_list(const finder *f, const taper_node *node)
{
    if (!TAPER_DEVICES || !f->device->backend->copies) {
        return false;
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        const taper_node *list = taper_node_in(node, 0)->node;
        return list != NULL && list->kind == TAPER_NODE_OP && list->block == node->block &&
               taper_value_used_once(taper_node_in(node, 0));
    }
    if (node->kind != TAPER_NODE_LIST || node->type == NULL || node->type->kind != TAPER_TYPE_LIST) {
        return false;
    }
    const taper_type *of = node->type->items[0]; // an index list may contain None, so its items are optional
    of = of->kind == TAPER_TYPE_OPTIONAL ? of->items[0] : of;
    if (of->kind != TAPER_TYPE_TENSOR && of->kind != TAPER_TYPE_INT) {
        return false;
    }
    for (const taper_value_use *use = node->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (user == NULL || user->kind != TAPER_NODE_OP || user->block != node->block || !taper_node_is_pure(user) ||
            needs_the_object(user)) {
            return false;
        }
    }
    return true;
}

static bool is_candidate(const finder *f, const taper_node *node, int depth)
{
    if (node->kind == TAPER_NODE_SEGMENT) {
        return depth > 0; // the results of a segment are new tensors
    }
    if (is_passing_list(f, node)) {
        return depth == 0;
    }
    return node->kind == TAPER_NODE_OP && node->output_count != 0 &&
           (!TAPER_DEVICES || f->aliases == NULL || !needs_the_object(node)) &&
           (taper_node_is_pure(node) ? gives_new(f, node, 0) : writes_to_its_own(f, node, depth));
}

// Returns true if later nodes of the block may be computed before this node, so that a region can continue after the
// node.
static bool may_stand_between(const finder *f, const taper_node *node)
{
    return node->block_count == 0 || node->kind == TAPER_NODE_SEGMENT
               ? taper_node_is_pure(node) || writes_to_its_own(f, node, 0) ||
                     (node->output_count == 0 && taper_node_only_raises(node))
               : false;
}

// Collects the region that starts at *node, and moves *node to the first node after it.
static taper_status gather(finder *f, taper_node **node)
{
    f->count = 0;
    for (; *node != NULL && may_stand_between(f, *node); *node = (*node)->next) {
        if (!is_candidate(f, *node, 0)) {
            continue;
        }
        const taper_allocator *allocator = f->compilation->allocator;
        TAPER_TRY(TAPER_GROW(allocator, f->nodes, f->capacity, f->count + 1, f->compilation->error));
        TAPER_TRY(TAPER_GROW(allocator, f->takes, f->take_capacity, f->count + 1, f->compilation->error));
        f->nodes[f->count++] = *node;
    }
    return TAPER_OK;
}

// ---- the nodes of a claim that can be in one segment

static bool looks_at(const finder *f, const taper_node *node, uint8_t as)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (mark_of(f, taper_node_in(node, i)) == as) {
            return true;
        }
    }
    return false;
}

// Visits the nodes from the first node of the claim to the last. A node outside of the claim that needs a result of the
// segment must come after the segment. The segment therefore cannot contain nodes that depend on such a node; they are
// removed from the claim.
static taper_status settle_claim(finder *f, taper_claim *claim)
{
    size_t at = 0, kept = 0;
    for (taper_node *node = f->nodes[f->takes[0]]; at < claim->count; node = node->next) {
        const bool taken = node == f->nodes[f->takes[at]];
        if (looks_at(f, node, BEHIND) || (!taken && looks_at(f, node, INSIDE))) {
            TAPER_TRY(mark(f, node, BEHIND));
        } else if (taken) {
            TAPER_TRY(mark(f, node, INSIDE));
            f->takes[kept++] = f->takes[at];
        }
        at += taken;
    }
    claim->count = kept;
    return TAPER_OK;
}

// ---- segments

// Copies a check that is one operator. The pass check_ranks has turned checks with blocks into such operators.
static taper_status copy_check(finder *f, const taper_node *check, taper_block *block)
{
    taper_node *copy;
    if (!taper_node_has(check, TAPER_OP_RAISES)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_node_create(f->graph, TAPER_NODE_OP, check->input_count, check->output_count, &copy,
                                f->compilation->error));
    taper_node_set_op(copy, check->op, check->schema);
    copy->debug = check->debug;
    copy->instruction = check->instruction;
    taper_node_append(block, copy);
    for (size_t i = 0; i < check->input_count; i++) {
        taper_node_set_input(copy, i, taper_node_in(check, i));
    }
    return TAPER_OK;
}

static bool is_used_outside(const taper_ir_value *value, const taper_block *body)
{
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (use->block != body) {
            return true;
        }
    }
    return false;
}

// Finds the arguments of the body's nodes that come from outside of the body, and returns their number. These arguments
// become inputs of the segment, unless `segment` is NULL. A list stores the index of its first argument, which its
// users need (ops/call/segment.c).
static size_t take_inputs(taper_node *segment, const taper_block *body)
{
    size_t count = 0;
    for (taper_node *node = body->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_LIST) {
            node->own.arguments_before = count;
        }
        for (size_t i = 0; i < node->input_count; i++) {
            taper_ir_value *value = taper_node_in(node, i);
            if (value->block == body) {
                continue;
            }
            if (segment != NULL) {
                taper_node_set_input(segment, count, value);
            }
            count++;
        }
    }
    return count;
}

// Moves the nodes of the claim into the body, in order. Nodes between them that need results of the claim, and checks,
// move to after `anchor`, the place of the segment.
static taper_status fill_body(finder *f, taper_node *anchor, taper_block *body)
{
    taper_node *after = anchor, *next;
    const size_t *take = f->takes;
    for (taper_node *node = f->nodes[*take]; node != anchor; node = next) {
        next = node->next;
        if (node == f->nodes[*take]) {
            taper_node_move(node, body);
            take++;
            continue;
        }
        const bool check = node->output_count == 0;
        const bool behind = TAPER_DEVICES && looks_at(f, node, BEHIND);
        if (check && !behind) {
            TAPER_TRY(copy_check(f, node, body));
        }
        if (check || behind || (TAPER_DEVICES && looks_at(f, node, INSIDE))) {
            taper_node_move_after(node, after);
            after = node;
        }
    }
    return TAPER_OK;
}

// Makes an output for each value of the body that is used outside.
static taper_status make_results(finder *f, taper_node *segment, taper_block *body, taper_ir_value **results)
{
    size_t count = 0;
    for (taper_node *node = body->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->output_count; i++) {
            if (is_used_outside(&node->outputs[i], body)) {
                results[count] = &node->outputs[i];
                segment->outputs[count].type = node->outputs[i].type;
                taper_value_replace_uses(&node->outputs[i], &segment->outputs[count++]);
            }
        }
    }
    // Nodes inside the body must still use the values of the body, not the outputs of the segment.
    for (taper_node *node = body->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->input_count; i++) {
            const taper_ir_value *value = taper_node_in(node, i);
            if (value->node == segment) {
                taper_node_set_input(node, i, results[value->index]);
            }
        }
    }
    return taper_block_set_results(body, results, count, f->compilation->error);
}

// Removes the segment after the backend declined it, and puts its nodes back in its place.
static void undo(taper_node *node)
{
    taper_block *const body = node->blocks[1];
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], body->results[i].value);
    }
    taper_block_inline_before(body, node);
    taper_node_remove(node);
}

static bool declines(const finder *f, taper_status status)
{
    if (TAPER_DEVICES && status == TAPER_DEVICE_LOST) {
        atomic_store_explicit(&f->device->owner->lost, 1u, memory_order_relaxed);
        return true;
    }
    return status == TAPER_DECLINED;
}

static taper_status build(finder *f, taper_node *end)
{
    taper_arena *arena = &f->graph->arena;
    taper_error *error = f->compilation->error;
    taper_segment *segment = taper_arena_alloc(arena, sizeof *segment);
    taper_block *body;
    if (segment == NULL) {
        return taper_fail_memory(error);
    }
    // The anchor marks the place of the segment. Nodes that need results of the segment move after the anchor.
    taper_node *anchor;
    TAPER_TRY(taper_node_create(f->graph, TAPER_NODE_SEGMENT, 0, 0, &anchor, error));
    taper_node_insert_before(anchor, end);
    taper_node_move_after(anchor, end);
    TAPER_TRY(taper_block_create(f->graph, anchor, 0, &body, error));
    TAPER_TRY(fill_body(f, anchor, body));
    size_t outputs = 0;
    const taper_node *first = body->first;
    while (first->kind != TAPER_NODE_OP && first->next != NULL) { // finds the operator that gives the segment its name
        first = first->next;
    }
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->output_count; i++) {
            outputs += is_used_outside(&node->outputs[i], body);
        }
    }
    if (outputs == 0) { // no segment is made, because a backend's kernel needs an output
        taper_block_inline_before(body, anchor);
        taper_node_remove(anchor);
        return TAPER_OK;
    }
    taper_node *node;
    TAPER_TRY(taper_node_create(f->graph, TAPER_NODE_SEGMENT, take_inputs(NULL, body), outputs, &node, error));
    taper_ir_value **results = taper_arena_array(arena, outputs, sizeof *results);
    taper_form *forms = taper_arena_array(arena, node->input_count, sizeof *forms);
    if (results == NULL || forms == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < node->input_count; i++) {
        forms[i] = TAPER_FORM_PLAIN;
    }
    taper_node_insert_before(node, anchor);
    taper_node_remove(anchor);
    TAPER_TRY(taper_block_create(f->graph, node, 0, &node->blocks[0], error));
    body->parent = node;
    node->blocks[1] = body;
    node->block_count = 2;
    node->name = f->device->backend->name;
    node->segment = segment;
    node->debug = first->debug;
    node->instruction = first->instruction;
    (void)take_inputs(node, body);
    TAPER_TRY(make_results(f, node, body, results));
    *segment = (taper_segment){.device = f->device,
                               .node = node,
                               .forms = forms,
                               .op = first->op,
                               .schema = first->schema,
                               .required = TAPER_DEVICES && f->compilation->device_required &&
                                           f->device == f->compilation->devices[0]};
    const taper_status status = f->device->backend->plan(f->device, segment, arena, error);
    if (TAPER_DEVICES && declines(f, status)) { // the CPU never declines, because it can run all nodes that it claims
        undo(node);
        return TAPER_OK;
    }
    f->compilation->taken += TAPER_DEVICES && f->device == f->compilation->devices[0];
    return status;
}

static void note_left(finder *f, const taper_claim *claim)
{
    taper_compilation *const c = f->compilation;
    taper_node *const node = claim->refused < f->count && claim->why != NULL ? f->nodes[claim->refused] : NULL;
    if (f->device != c->devices[0] || node == NULL) {
        return;
    }
    node->why = claim->why;
    if (c->left == NULL) {
        c->left = node->op_name;
        c->left_why = claim->why;
    }
}

// Returns true if a claim is valid: its indices ascend and are those of nodes that no segment contains yet, and the
// next claim starts at a later node of the region.
static bool makes_sense(const finder *f, const taper_region *region, const taper_claim *claim)
{
    bool sense = claim->next > region->from && claim->next <= f->count && claim->count <= f->count;
    for (size_t i = 0; sense && i < claim->count; i++) {
        sense = claim->takes[i] < f->count && f->nodes[claim->takes[i]] != NULL &&
                (i == 0 || claim->takes[i] > claim->takes[i - 1]);
    }
    return sense;
}

static taper_status offer_region(finder *f)
{
    taper_device *const device = f->device;
    taper_region *const region = &f->region;
    *region = (taper_region){.graph = f->graph, .nodes = f->nodes, .count = f->count, .shapes = region->shapes};
    while (region->from < f->count) {
        taper_claim claim = {.takes = f->takes, .next = f->count, .refused = f->count};
        TAPER_TRY(TAPER_DEVICES ? grow_marks(f) : TAPER_OK);
        const taper_status status = device->backend->claim(device, region, &claim, f->compilation->error);
        if (declines(f, status)) {
            return TAPER_OK;
        }
        TAPER_TRY(status);
        if (TAPER_DEVICES && !makes_sense(f, region, &claim)) {
            TAPER_FAIL(f->compilation->error, TAPER_ERROR_INTERNAL, "backend %s claims nodes that it was not shown",
                       device->backend->name);
        }
        if (TAPER_DEVICES) {
            note_left(f, &claim);
        }
        if (claim.count != 0) {
            taper_block *const block = f->nodes[f->takes[0]]->block;
            if (TAPER_DEVICES) { // not for the CPU, because only the chain itself uses the values inside its chains
                TAPER_TRY(settle_claim(f, &claim));
            }
            TAPER_TRY(build(f, f->nodes[f->takes[claim.count - 1]]));
            if (TAPER_DEVICES) {
                unmark(f);
            }
            for (size_t i = 0; i < claim.count; i++) {
                taper_node **node = &f->nodes[f->takes[i]];
                *node = (*node)->block == block ? *node : NULL;
            }
        }
        region->from = claim.next;
    }
    return TAPER_OK;
}

static taper_status offer_block(finder *f, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL;) {
        TAPER_TRY(gather(f, &node));
        TAPER_TRY(offer_region(f));
        if (node != NULL) { // skips the node that ended the region
            for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_SEGMENT; b++) {
                TAPER_TRY(offer_block(f, node->blocks[b]));
            }
            node = node->next;
        }
    }
    return TAPER_OK;
}

// Offers the CPU the nodes that it runs when a device declines the call of a segment. The CPU backend gets copies,
// because it modifies nodes.
static taper_status offer_declined(finder *f, taper_copier *copier, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind != TAPER_NODE_SEGMENT) {
            for (size_t b = 0; b < node->block_count; b++) {
                TAPER_TRY(offer_declined(f, copier, node->blocks[b]));
            }
            continue;
        }
        TAPER_TRY(taper_copy_block(copier, node, node->blocks[1], &node->blocks[2]));
        node->block_count = 3;
        TAPER_TRY(offer_block(f, node->blocks[2]));
    }
    return TAPER_OK;
}

static taper_status offer_all_declined(finder *f)
{
    taper_copier copier = {.allocator = f->compilation->allocator, .to = f->graph, .error = f->compilation->error};
    taper_status status = taper_copier_make_room(&copier, f->graph);
    if (status == TAPER_OK) {
        status = offer_declined(f, &copier, f->graph->body);
    }
    taper_copier_free(&copier);
    return status;
}

static taper_status offer_graph(finder *f)
{
    if (TAPER_DEVICES &&
        (f->device->backend->store != NULL ||
         f->device->backend->copies)) { // devices that copy tensors need to know which views are written
        TAPER_TRY(taper_aliases_create(f->graph, &f->aliases, f->compilation->error));
    }
    const taper_status status = offer_block(f, f->graph->body);
    if (TAPER_DEVICES) {
        taper_aliases_destroy(f->aliases);
        f->aliases = NULL;
    }
    f->region.shapes = f->compilation->shapes;
    return status;
}

taper_status taper_pass_segments(taper_compilation *compilation, taper_graph *graph)
{
    const taper_allocator *allocator = compilation->allocator;
    finder f = {.compilation = compilation, .graph = graph, .region = {.shapes = compilation->shapes}};
    taper_status status = TAPER_OK;
    if (TAPER_DEVICES && compilation->device_count > 1) { // a device makes a new tensor even for an operator in place
        taper_learn_types(graph->body);
        status = taper_pass_remove_mutation(compilation, graph);
    }
    for (size_t i = 0; status == TAPER_OK && i < compilation->device_count; i++) {
        f.device = compilation->devices[i];
        if (TAPER_DEVICES && atomic_load_explicit(&f.device->owner->lost, memory_order_relaxed)) {
            continue;
        }
        if (TAPER_DEVICES && i != 0 && i + 1 == compilation->device_count) { // the CPU is the last device
            status = offer_all_declined(&f);
        }
        status = status == TAPER_OK ? offer_graph(&f) : status;
    }
    if (TAPER_DEVICES) {
        taper_free(allocator, f.marks, f.mark_count);
        taper_free(allocator, f.marked, f.marked_capacity * sizeof *f.marked);
    }
    taper_free(allocator, f.nodes, f.capacity * sizeof *f.nodes);
    taper_free(allocator, f.takes, f.take_capacity * sizeof *f.takes);
    return status;
}
