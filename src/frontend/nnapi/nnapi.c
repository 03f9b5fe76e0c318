// SPDX-License-Identifier: BSD-2-Clause
// Finds the code of a graph that runs the Compilation of an NnapiModule. The code of PyTorch's module
// (torch/backends/_nnapi/prepare.py)
//   if self.comp is None: … comp.init2(self.ser_model, self.weights, …); self.comp = comp
//   outs = [empty_like(out) for out in self.out_templates]
//   fixed_args = [contiguous args, with NNAPI's order of dimensions where inp_mem_fmts says 1]
//   comp.run(fixed_args, outs)
//   outs[i] = outs[i].permute(0, 3, 1, 2) where out_mem_fmts says 1
// becomes
//   outs = [results of the operators]
// and the object is no longer written to.
#include "frontend/nnapi/nnapi.h"

#include "base/charge.h"
#include "frontend/nnapi/lowering.h"
#include "ir/effects.h"

typedef struct site {
    taper_module *module;
    taper_val root;
    taper_registry *registry;
    taper_graph *const *graphs;
    size_t graph_count;
    taper_error *error;
    // The remaining members describe one call of the Compilation's method `run`. run: this call. comp: the If that
    // asserts that the compilation exists, or NULL if nothing asserts it. init: the call of init.
    taper_node *run, *comp, *init;
    taper_object *object;     // the NnapiModule that contains the compilation
    taper_node *outs, *fixed; // nodes that make the list of results and the list of arguments
    taper_ir_value *args;     // list from which `fixed` is made
} site;

// Limits: number of attributes from the root to an object; number of inputs that are appended to their list one by one;
// number of operators around a template's quantize_per_tensor.
enum { STEPS = 64, MOST_ITEMS = 64, TEMPLATE_STEPS = 4 };

// ---- constant objects in the graph

// Returns true if the graph is a method of the class. The class name is the function's name without its last component.
static bool is_method_of(const taper_graph *graph, const char *name)
{
    const char *dot = strrchr(graph->name, '.');
    return dot != NULL && strlen(name) == (size_t)(dot - graph->name) && strncmp(graph->name, name, strlen(name)) == 0;
}

// Returns the object that is reached from the root by a chain of attributes, or NULL if `value` is not such a chain.
static taper_object *object_of(const site *s, const taper_ir_value *value, int steps)
{
    const taper_graph *graph = value->block->graph;
    if (steps == 0) {
        return NULL;
    }
    if (value->node == NULL) {
        return value->block == graph->body && value->index == 0 && s->root.tag == TAPER_OBJECT &&
                       is_method_of(graph, s->root.as.object->klass->name)
                   ? s->root.as.object
                   : NULL;
    }
    if (value->node->kind == TAPER_NODE_CONSTANT) {
        return value->node->constant.tag == TAPER_OBJECT ? value->node->constant.as.object : NULL;
    }
    if (value->node->kind != TAPER_NODE_GET_ATTR) {
        return NULL;
    }
    const taper_object *holder = object_of(s, taper_node_in(value->node, 0), steps - 1);
    const size_t slot = (size_t)value->node->own.slot;
    return holder != NULL && slot < holder->count && holder->slots[slot].tag == TAPER_OBJECT
               ? holder->slots[slot].as.object
               : NULL;
}

// Returns true if a node of the block may set attribute `slot` of the object. Ignores the node `except` and its blocks.
static bool block_sets(const site *s, const taper_block *block, const taper_object *object, int64_t slot,
                       const taper_node *except)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node == except) {
            continue;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            if (block_sets(s, node->blocks[b], object, slot, except)) {
                return true;
            }
        }
        if (node->kind != TAPER_NODE_SET_ATTR || node->own.slot != slot) {
            continue;
        }
        const taper_ir_value *to = taper_node_in(node, 0);
        const taper_object *set = object_of(s, to, STEPS);
        const bool is_self = to->node == NULL && to->block == block->graph->body && to->index == 0;
        if (set == object || (set == NULL && !(is_self && !is_method_of(block->graph, object->klass->name)))) {
            return true;
        }
    }
    return false;
}

static bool is_set(const site *s, const taper_object *object, int64_t slot, const taper_node *except)
{
    bool set = false;
    for (size_t i = 0; !set && i < s->graph_count; i++) {
        set = s->graphs[i] != NULL && block_sets(s, s->graphs[i]->body, object, slot, except);
    }
    return set;
}

// Returns what the value is in every run, or NULL if that is unknown or has another tag. It is known for a constant,
// and for an attribute of a known object that no node sets. The node s->init and the nodes in its blocks do not count,
// because they will be removed.
static const taper_val *known_value(const site *s, const taper_ir_value *value, uint32_t tag)
{
    const taper_val *known = NULL;
    if (value->node != NULL && value->node->kind == TAPER_NODE_CONSTANT) {
        known = &value->node->constant;
    } else if (value->node != NULL && value->node->kind == TAPER_NODE_GET_ATTR) {
        const taper_object *holder = object_of(s, taper_node_in(value->node, 0), STEPS);
        const size_t slot = (size_t)value->node->own.slot;
        if (holder != NULL && slot < holder->count && !is_set(s, holder, value->node->own.slot, s->init)) {
            known = &holder->slots[slot];
        }
    }
    return known != NULL && known->tag == tag ? known : NULL;
}

// ---- the code of forward

// Returns the node of the block in which `node` is nested, or `node` itself if it is in the block. Returns NULL if
// there is no such node.
static taper_node *node_in(const taper_block *block, taper_node *node)
{
    while (node != NULL && node->block != block) {
        node = node->block->parent;
    }
    return node;
}

// Returns the loop that calls `op` on the list. Searches the block of the call `run`: the nodes before the call or, if
// `behind` is true, after the call. Returns NULL if there is no such loop, or more than one.
static taper_node *loop_with(const site *s, const taper_node *list, const taper_op *op, bool behind)
{
    taper_node *found = NULL;
    for (const taper_value_use *use = list->outputs[0].uses; use != NULL; use = use->next) {
        if (use->user != NULL && taper_node_calls(use->user, op) && use->index == 0) {
            taper_node *loop = node_in(s->run->block, use->user);
            if (loop == NULL || loop->kind != TAPER_NODE_LOOP || loop->output_count != 0 ||
                (found != NULL && found != loop)) {
                return NULL;
            }
            found = loop;
        }
    }
    bool after = false;
    for (const taper_node *node = s->run; node != NULL && found != NULL && !after; node = node->next) {
        after = node == found;
    }
    return found != NULL && after == behind ? found : NULL;
}

static bool is_new_list(const site *s, const taper_node *list)
{
    return list != NULL && list->kind == TAPER_NODE_LIST && list->input_count == 0 && list->block == s->run->block;
}

// Returns true if the node, or a node in its blocks, uses the value.
static bool takes(const taper_node *node, const taper_ir_value *value)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (taper_node_in(node, i) == value) {
            return true;
        }
    }
    for (size_t b = 0; b < node->block_count; b++) {
        const taper_block *block = node->blocks[b];
        for (uint32_t i = 0; i < block->result_count; i++) {
            if (block->results[i].value == value) {
                return true;
            }
        }
        for (const taper_node *inner = block->first; inner != NULL; inner = inner->next) {
            if (takes(inner, value)) {
                return true;
            }
        }
    }
    return false;
}

// Finds the tensors that are appended to the list between its creation and the call `run`, as an unrolled loop appends
// them. Returns false if the list has other uses.
static bool appended(const site *s, const taper_node *list, taper_ir_value **items, size_t room, size_t *count)
{
    const taper_ir_value *value = &list->outputs[0];
    bool before = true; // true until the search reaches the call `run`
    *count = 0;
    for (const taper_node *node = list->next; node != NULL; node = node->next) {
        before = before && node != s->run;
        if (node == s->run || !takes(node, value)) {
            continue;
        }
        if (!before || !taper_node_calls(node, TAPER_OP(aten_append_t)) || taper_node_in(node, 0) != value ||
            taper_node_in(node, 1) == value || node->outputs[0].uses != NULL || *count == room) {
            return false;
        }
        items[(*count)++] = taper_node_in(node, 1);
    }
    for (uint32_t i = 0; i < list->block->result_count; i++) {
        if (list->block->results[i].value == &list->outputs[0]) {
            return false;
        }
    }
    return true;
}

// Removes the calls that append to the list, and the list.
static void remove_appended(taper_node *list)
{
    for (taper_node *node = list->next, *next; node != NULL && list->outputs[0].uses != NULL; node = next) {
        next = node->next;
        if (taper_node_calls(node, TAPER_OP(aten_append_t)) && taper_node_in(node, 0) == &list->outputs[0]) {
            taper_node_remove(node);
        }
    }
    taper_node_remove(list);
}

// Returns true if only `loop` and the call `run` use the list. If or_after is true, nodes after the call may use the
// list too.
static bool used_only(const site *s, const taper_node *list, const taper_node *loop, bool or_after)
{
    const taper_ir_value *value = &list->outputs[0];
    for (const taper_node *node = list->next; node != NULL && !(or_after && node == s->run); node = node->next) {
        if (node != loop && node != s->run && takes(node, value)) {
            return false;
        }
    }
    for (uint32_t i = 0; !or_after && i < list->block->result_count; i++) {
        if (list->block->results[i].value == value) {
            return false;
        }
    }
    return true;
}

static bool same_attribute(const taper_ir_value *a, const taper_ir_value *b)
{
    return a->node->kind == TAPER_NODE_GET_ATTR && b->node->kind == TAPER_NODE_GET_ATTR &&
           a->node->own.slot == b->node->own.slot && taper_node_in(a->node, 0) == taper_node_in(b->node, 0);
}

// Finds the two lists whose items a block reads by index. The list of memory formats is an attribute or a constant; the
// list of arguments is neither.
static bool find_lists(const taper_block *block, taper_ir_value **args, taper_ir_value **formats)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            if (!find_lists(node->blocks[b], args, formats)) {
                return false;
            }
        }
        if (!taper_node_calls(node, TAPER_OP(aten___getitem___t))) {
            continue;
        }
        taper_ir_value *list = taper_node_in(node, 0);
        const bool fixed =
            list->node != NULL && (list->node->kind == TAPER_NODE_GET_ATTR || list->node->kind == TAPER_NODE_CONSTANT ||
                                   (list->node->kind == TAPER_NODE_LIST && list->node->type != NULL &&
                                    taper_type_equal(list->node->type, &taper_type_list_int)));
        taper_ir_value **found = fixed ? formats : args;
        if (*found != NULL && *found != list && (!fixed || !same_attribute(*found, list))) {
            return false;
        }
        *found = list;
    }
    return true;
}

// Returns the last call of init or init2 of a compilation in the block. *count is incremented by the number of these
// calls.
static const taper_node *find_init(const taper_block *block, size_t *count)
{
    const taper_node *found = NULL;
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            const taper_node *inner = find_init(node->blocks[b], count);
            found = inner != NULL ? inner : found;
        }
        if (node->kind == TAPER_NODE_CALL && node->name != NULL && node->input_count >= 3 &&
            (strcmp(node->name, "init") == 0 || strcmp(node->name, "init2") == 0)) {
            found = node;
            ++*count;
        }
    }
    return found;
}

static bool holds_set(const site *s, const taper_block *block, int64_t slot)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            if (holds_set(s, node->blocks[b], slot)) {
                return true;
            }
        }
        if (node->kind == TAPER_NODE_SET_ATTR && node->own.slot == slot &&
            object_of(s, taper_node_in(node, 0), STEPS) == s->object) {
            return true;
        }
    }
    return false;
}

// Finds the compilation on which run is called. The compilation must be an attribute of the module, and this attribute
// must be known not to be None.
static bool find_object(site *s)
{
    const taper_ir_value *value = taper_node_in(s->run, 0);
    s->comp = NULL;
    if (value->node != NULL && value->node->kind == TAPER_NODE_IF) {
        s->comp = value->node;
        if (s->comp->output_count != 1 || !taper_value_used_once(value) || s->comp->block != s->run->block) {
            return false;
        }
        value = s->comp->blocks[0]->results[0].value;
    }
    if (value->node != NULL && taper_node_calls(value->node, TAPER_OP(prim_unchecked_cast))) {
        value = taper_node_in(value->node, 0);
    }
    if (value->node == NULL || value->node->kind != TAPER_NODE_GET_ATTR) {
        return false;
    }
    s->object = object_of(s, taper_node_in(value->node, 0), STEPS);
    const int64_t slot = value->node->own.slot;
    // Only PyTorch's NnapiModule is accepted, because other classes could have effects that are lost if the code is
    // removed.
    if (s->object == NULL || strstr(s->object->klass->name, ".torch.backends._nnapi.prepare.") == NULL ||
        slot != taper_object_slot(s->object, "comp") || (size_t)slot >= s->object->count ||
        s->object->slots[slot].tag != TAPER_NONE) {
        return false;
    }
    s->init = NULL;
    for (taper_node *node = s->run->previous; node != NULL && s->init == NULL; node = node->previous) {
        if (node->kind == TAPER_NODE_IF && node->output_count == 0 && holds_set(s, node->blocks[0], slot)) {
            s->init = node;
        }
    }
    return s->init != NULL;
}

// ---- the rewrite

static void remove_all(taper_block *block)
{
    while (block->last != NULL) {
        taper_node_remove(block->last);
    }
}

// Reads the scales of results as doubles from the templates that init makes: [quantize_per_tensor(zeros(1), scale, …)
// …]. The serialized model has these scales only in float32.
static size_t result_scales(const site *s, const taper_block *block, double *scales, size_t room)
{
    const int64_t slot = taper_object_slot(s->object, "out_templates");
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind != TAPER_NODE_SET_ATTR || node->own.slot != slot) {
            continue;
        }
        const taper_node *list = taper_node_in(node, 1)->node;
        size_t count = 0;
        if (list != NULL && list->kind == TAPER_NODE_CONSTANT && list->constant.tag == TAPER_LIST) {
            const taper_list *made = list->constant.as.list;
            for (; count < made->count && count < room; count++) {
                const taper_quantizer *q =
                    made->items[count].tag == TAPER_TENSOR ? made->items[count].as.tensor->quantizer : NULL;
                scales[count] = q != NULL ? q->scale : 0;
            }
            return count;
        }
        while (list != NULL && list->kind == TAPER_NODE_LIST && count < list->input_count && count < room) {
            const taper_node *item = taper_node_in(list, count)->node;
            for (int steps = 0; steps < TEMPLATE_STEPS && item != NULL && item->kind == TAPER_NODE_OP &&
                                item->input_count != 0 && !taper_node_calls(item, TAPER_OP(aten_quantize_per_tensor));
                 steps++) {
                item = taper_node_in(item, 0)->node;
            }
            const taper_val *scale = item != NULL && taper_node_calls(item, TAPER_OP(aten_quantize_per_tensor))
                                         ? taper_node_constant_in(item, 1)
                                         : NULL;
            scales[count++] = scale != NULL && scale->tag == TAPER_DOUBLE ? scale->as.f : 0;
        }
        return count;
    }
    return 0;
}

// Returns the numbers of a known list: an attribute, a constant, or a list of constants. Returns NULL if the list is
// not known or memory is missing.
static int64_t *known_numbers(const site *s, taper_arena *arena, const taper_ir_value *value, size_t *count)
{
    const taper_node *list = value->node;
    const taper_val *known = known_value(s, value, TAPER_LIST);
    const bool made = known == NULL && list != NULL && list->kind == TAPER_NODE_LIST;
    if (known == NULL && !made) {
        return NULL;
    }
    *count = made ? list->input_count : known->as.list->count;
    int64_t *numbers = taper_arena_array(arena, *count + 1, sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < *count; i++) {
        const taper_node *item = made ? taper_value_constant(taper_node_in(list, i)) : NULL;
        const taper_val number = !made ? known->as.list->items[i] : item != NULL ? item->constant : taper_val_none();
        numbers[i] = number.tag == TAPER_INT ? number.as.i : -1;
    }
    return numbers;
}

// Returns the attribute with the serialized model that is passed to init, or NULL if it is not known. The script may
// pass a clone, and write sizes of operands into a slice of the clone. *patch then is the slice, otherwise NULL. The
// caller need not read these sizes, because the graph computes them.
static const taper_val *serialized_value(const site *s, const taper_node *init, const taper_node **patch)
{
    const taper_ir_value *value = taper_node_in(init, 1);
    *patch = NULL;
    if (value->node == NULL || !taper_node_calls(value->node, TAPER_OP(aten_clone))) {
        return known_value(s, value, TAPER_TENSOR);
    }
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (use->user == init && use->index == 1) {
            continue;
        }
        if (use->user == NULL || *patch != NULL || !taper_node_calls(use->user, TAPER_OP(aten_slice_Tensor))) {
            return NULL;
        }
        *patch = use->user;
    }
    const taper_value_use *copied = *patch != NULL ? (*patch)->outputs[0].uses : NULL;
    return copied != NULL && copied->next == NULL && copied->user != NULL && copied->index == 0 &&
                   taper_node_calls(copied->user, TAPER_OP(aten_copy_)) && copied->user->outputs[0].uses == NULL
               ? known_value(s, taper_node_in(value->node, 0), TAPER_TENSOR)
               : NULL;
}

static bool is_number(const taper_ir_value *value, int64_t want)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL && constant->constant.tag == TAPER_INT && constant->constant.as.i == want;
}

// Returns true if `patch`, the slice of the serialized model that the script overwrites, contains only the sizes of
// operands, and the script writes each known size unchanged.
static bool patches_sizes(const taper_node *patch, const taper_nnapi_model *model)
{
    const int64_t slice[4] = {0, (int64_t)model->sizes_begin, (int64_t)model->sizes_end, 1};
    const taper_node *numbers = taper_node_in(patch->outputs[0].uses->user, 1)->node;
    const taper_node *list =
        numbers != NULL && taper_node_calls(numbers, TAPER_OP(aten_tensor)) ? taper_node_in(numbers, 0)->node : NULL;
    bool same =
        list != NULL && list->kind == TAPER_NODE_LIST && list->input_count == model->sizes_end - model->sizes_begin;
    for (size_t i = 0; same && i < 4; i++) {
        same = is_number(taper_node_in(patch, 1 + i), slice[i]);
    }
    size_t at = 0;
    for (uint32_t i = 0; same && i < model->operand_count; i++) {
        for (uint32_t d = 0; d < model->operands[i].rank && same; d++, at++) {
            const int64_t size = model->operands[i].sizes[d];
            same = size == 0 || is_number(taper_node_in(list, at), size);
        }
    }
    return same;
}

static taper_status rewrite_with(site *s, taper_arena *arena)
{
    size_t inits = 0;
    const taper_node *init = find_init(s->init->blocks[0], &inits);
    taper_node *outs_loop = loop_with(s, s->outs, TAPER_OP(aten_append_t), false),
               *fixed_loop = loop_with(s, s->fixed, TAPER_OP(aten_append_t), false),
               *format_loop = loop_with(s, s->outs, TAPER_OP(aten__set_item_t), true);
    taper_ir_value *in_formats = NULL, *out_formats = NULL, *results = NULL;
    s->args = NULL;
    taper_ir_value *items[MOST_ITEMS];
    size_t item_count = 0;
    if (fixed_loop != NULL
            ? !used_only(s, s->fixed, fixed_loop, false) || !find_lists(fixed_loop->blocks[0], &s->args, &in_formats) ||
                  s->args == NULL || in_formats == NULL
            : !appended(s, s->fixed, items, MOST_ITEMS, &item_count)) {
        return TAPER_OK;
    }
    if (inits != 1 || outs_loop == NULL || format_loop == NULL || !used_only(s, s->outs, outs_loop, true) ||
        !find_lists(format_loop->blocks[0], &results, &out_formats) || results != &s->outs->outputs[0] ||
        out_formats == NULL) {
        return TAPER_OK;
    }
    // The method init has replaced the tensors in the attribute `weights` by contiguous tensors.
    const int64_t weights_slot = taper_object_slot(s->object, "weights");
    const taper_node *patch;
    const taper_val *serialized = serialized_value(s, init, &patch);
    size_t in_count = 0, out_count = 0;
    const int64_t *ins = fixed_loop != NULL ? known_numbers(s, arena, in_formats, &in_count) : NULL,
                  *outs = known_numbers(s, arena, out_formats, &out_count);
    if (serialized == NULL || (fixed_loop != NULL && ins == NULL) || outs == NULL || weights_slot < 0 ||
        (size_t)weights_slot >= s->object->count || is_set(s, s->object, weights_slot, s->init)) {
        return TAPER_OK;
    }
    const taper_val *weights = &s->object->slots[weights_slot];
    const taper_tensor *blob = serialized->as.tensor;
    if (weights->tag != TAPER_LIST || blob->dtype != TAPER_I32 || blob->rank != 1 ||
        !taper_tensor_is_contiguous(blob)) {
        return TAPER_OK;
    }
    taper_nnapi_model model;
    taper_node *holder;
    taper_block *block;
    taper_ir_value *list = NULL;
    taper_status status =
        taper_nnapi_parse(arena, taper_tensor_data(blob), (size_t)blob->sizes[0] * sizeof(int32_t), &model, s->error);
    if (status == TAPER_OK && patch != NULL && !patches_sizes(patch, &model)) {
        return TAPER_OK;
    }
    if (status == TAPER_OK) {
        TAPER_TRY(taper_node_create(s->run->block->graph, TAPER_NODE_IF, 0, 0, &holder, s->error));
        holder->block_count = 1;
        TAPER_TRY(taper_block_create(s->run->block->graph, holder, 0, &block, s->error));
        holder->blocks[0] = block;
        taper_nnapi_lowering l = {.emit.registry = s->registry,
                                  .emit.heap = s->module->heap,
                                  .emit.graph = s->run->block->graph,
                                  .emit.block = block,
                                  .emit.error = s->error,
                                  .model = &model,
                                  .buffers = weights->as.list,
                                  .emit.debug = s->run->debug,
                                  .emit.instruction = s->run->instruction};
        double *scales = taper_arena_array(arena, model.output_count, sizeof *scales);
        const size_t scale_count =
            scales != NULL ? result_scales(s, s->init->blocks[0], scales, model.output_count) : 0;
        const taper_nnapi_interface face = {.args = s->args,
                                            .items = items,
                                            .item_count = item_count,
                                            .in_formats = ins,
                                            .in_format_count = in_count,
                                            .out_formats = outs,
                                            .out_format_count = out_count,
                                            .out_scales = scales,
                                            .out_scale_count = scale_count,
                                            .type = s->outs->type};
        status = taper_nnapi_lower_model(&l, arena, &face, &list);
        if (status != TAPER_OK) {
            remove_all(block);
        }
    }
    if (status != TAPER_OK) {
        return status;
    }
    taper_block_inline_before(block, s->run);
    taper_node_remove(format_loop);
    taper_node_remove(s->run);
    if (fixed_loop != NULL) {
        taper_node_remove(fixed_loop);
    }
    remove_appended(s->fixed);
    taper_node_remove(outs_loop);
    if (s->comp != NULL) {
        taper_node_remove(s->comp);
    }
    taper_node_remove(s->init);
    taper_value_replace_uses(&s->outs->outputs[0], list);
    taper_node_remove(s->outs);
    return TAPER_OK;
}

static taper_status rewrite(site *s, taper_node *run)
{
    s->run = run;
    for (size_t i = 0; i < s->graph_count; i++) { // charges all nodes that may be visited to the budget of the load
        TAPER_TRY(taper_charge(s->module->allocator, s->graphs[i] != NULL ? s->graphs[i]->node_count : 0, s->error));
    }
    if (run->input_count != 3 || run->output_count > 1 || (run->output_count == 1 && run->outputs[0].uses != NULL) ||
        !find_object(s)) {
        return TAPER_OK;
    }
    s->fixed = taper_node_in(run, 1)->node;
    s->outs = taper_node_in(run, 2)->node;
    if (!is_new_list(s, s->fixed) || !is_new_list(s, s->outs)) {
        return TAPER_OK;
    }
    taper_arena arena;
    taper_arena_init(&arena, s->module->allocator);
    taper_status status = rewrite_with(s, &arena);
    taper_arena_free(&arena);
    if (status == TAPER_ERROR_UNSUPPORTED) { // the object Compilation remains and runs the model
        taper_error_clear(s->error);
        status = TAPER_OK;
    }
    return status;
}

typedef struct calls {
    taper_node **nodes;
    size_t count;
} calls;

// Finds the calls of methods with the name "run". The objects of these calls may be Compilations. If found->nodes is
// NULL, only counts the calls.
static void find_calls(const taper_block *block, calls *found)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            find_calls(node->blocks[b], found);
        }
        if (node->kind == TAPER_NODE_CALL && node->name != NULL && strcmp(node->name, "run") == 0) {
            if (found->nodes != NULL) {
                found->nodes[found->count] = node;
            }
            found->count++;
        }
    }
}

static taper_status rewrite_calls(site *s, taper_graph *graph)
{
    calls found = {.nodes = NULL};
    taper_status status = TAPER_OK;
    find_calls(graph->body, &found);
    if (found.count == 0) {
        return TAPER_OK;
    }
    const size_t bytes = found.count * sizeof *found.nodes; // cannot overflow: at most one call for each node
    found.nodes = taper_alloc(s->module->allocator, bytes);
    if (found.nodes == NULL) {
        return taper_fail_memory(s->error);
    }
    found.count = 0;
    find_calls(graph->body, &found);
    for (size_t i = 0; status == TAPER_OK && i < found.count; i++) {
        status = rewrite(s, found.nodes[i]);
    }
    taper_free(s->module->allocator, found.nodes, bytes);
    return status;
}

taper_status taper_nnapi_lower_graphs(taper_module *module, taper_val root, taper_registry *registry,
                                      taper_graph *const *graphs, size_t count, taper_error *error)
{
    site s = {
        .module = module, .root = root, .registry = registry, .graphs = graphs, .graph_count = count, .error = error};
    for (size_t i = 0; i < count; i++) {
        if (graphs[i] != NULL) {
            TAPER_TRY(rewrite_calls(&s, graphs[i]));
        }
    }
    return TAPER_OK;
}
