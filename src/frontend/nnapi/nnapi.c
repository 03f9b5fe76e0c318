// SPDX-License-Identifier: BSD-2-Clause
// Where a graph runs the Compilation of an NnapiModule. What PyTorch's module does (torch/backends/_nnapi/prepare.py):
//   if self.comp is None: … comp.init2(self.ser_model, self.weights, …); self.comp = comp
//   outs = [empty_like(out) for out in self.out_templates]
//   fixed_args = [contiguous args, with NNAPI's order of dimensions where inp_mem_fmts says 1]
//   comp.run(fixed_args, outs)
//   outs[i] = outs[i].permute(0, 3, 1, 2) where out_mem_fmts says 1
// becomes: outs = [results of the operators], and the object is not written to any more.
#include "frontend/nnapi/nnapi.h"

#include <stdio.h>

#include "base/charge.h"
#include "frontend/nnapi/lowering.h"
#include "ir/effects.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

typedef struct site {
    taper_module *module;
    taper_val root;
    taper_registry *registry;
    taper_graph *const *graphs;
    size_t graph_count;
    taper_error *error;
    // of one call of run
    taper_node *run, *comp, *init; // comp: the If that asserts it is there; NULL: none
    taper_object *object;          // the NnapiModule
    taper_node *outs, *fixed;      // the lists
    taper_ir_value *args;          // what fixed is made of
    const taper_list *in_formats, *out_formats;
} site;

enum { FORMAT_PLAIN = 0, FORMAT_IMAGE = 1, FORMAT_ROWS = 2, STEPS = 64 };

// ---- which object a value is

// The class's name is the function's without the method.
static bool is_method_of(const taper_graph *graph, const char *name)
{
    const char *dot = strrchr(graph->name, '.');
    return dot != NULL && strlen(name) == (size_t)(dot - graph->name) && strncmp(graph->name, name, strlen(name)) == 0;
}

// The object that a chain of attributes from the root leads to; NULL: not known.
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
    const size_t slot = (size_t)value->node->number;
    return holder != NULL && slot < holder->count && holder->slots[slot].tag == TAPER_OBJECT
               ? holder->slots[slot].as.object
               : NULL;
}

// Whether a node of the block may set attribute `slot` of the object, other than `except` and what is in it.
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
        if (node->kind != TAPER_NODE_SET_ATTR || node->number != slot) {
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

// The attribute, which nobody sets; NULL otherwise.
static const taper_val *attribute(const site *s, const char *name, uint32_t tag)
{
    const int64_t slot = taper_object_slot(s->object, name);
    return slot >= 0 && (size_t)slot < s->object->count && s->object->slots[slot].tag == tag &&
                   !is_set(s, s->object, slot, s->init)
               ? &s->object->slots[slot]
               : NULL;
}

// ---- the shape of forward

// The node of block that is, or holds, node; NULL: it is elsewhere.
static taper_node *node_in(const taper_block *block, taper_node *node)
{
    while (node != NULL && node->block != block) {
        node = node->block->parent;
    }
    return node;
}

// The only loop beside run, before it or behind, that calls op on the list; NULL: there is none, or several.
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

// Whether all users of the list are in `loop`, are `run`, or, where it is asked for, come after it.
static bool used_only(const site *s, const taper_node *list, const taper_node *loop, bool or_after)
{
    for (const taper_value_use *use = list->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *user = use->user == NULL ? NULL : node_in(s->run->block, use->user);
        bool fine = user == s->run || (user != NULL && user == loop);
        if (or_after && !fine) {
            fine = use->user == NULL && use->block == s->run->block;
            for (const taper_node *node = s->run; node != NULL && !fine; node = node->next) {
                fine = node == user;
            }
        }
        if (!fine) {
            return false;
        }
    }
    return true;
}

// The list whose items a block takes by number: the one that is no attribute and no constant.
static bool find_args(const taper_block *block, taper_ir_value **args)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            if (!find_args(node->blocks[b], args)) {
                return false;
            }
        }
        if (!taper_node_calls(node, TAPER_OP(aten___getitem___t))) {
            continue;
        }
        taper_ir_value *list = taper_node_in(node, 0);
        if (list->node != NULL &&
            (list->node->kind == TAPER_NODE_GET_ATTR || list->node->kind == TAPER_NODE_CONSTANT)) {
            continue;
        }
        if (*args != NULL && *args != list) {
            return false;
        }
        *args = list;
    }
    return true;
}

static bool holds_set(const site *s, const taper_block *block, int64_t slot)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            if (holds_set(s, node->blocks[b], slot)) {
                return true;
            }
        }
        if (node->kind == TAPER_NODE_SET_ATTR && node->number == slot &&
            object_of(s, taper_node_in(node, 0), STEPS) == s->object) {
            return true;
        }
    }
    return false;
}

// The compilation that run is called on: an attribute that is known not to be None.
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
    const int64_t slot = value->node->number;
    if (s->object == NULL || slot != taper_object_slot(s->object, "comp") || (size_t)slot >= s->object->count ||
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

// ---- inputs and results

// raise unless the two are equal
static taper_status expect(taper_nnapi_lowering *l, const taper_op *equal, taper_ir_value *a, taper_ir_value *b,
                           const char *text)
{
    taper_ir_value *same, *message, *raised;
    taper_node *branch;
    taper_block *block = l->block;
    TAPER_TRY(TAPER_NNAPI_CALL(l, equal, &same, a, b));
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_IF, 1, 0, &branch, l->error));
    branch->debug = l->debug;
    branch->instruction = l->instruction;
    taper_node_append(block, branch);
    taper_node_set_input(branch, 0, same);
    branch->block_count = 2;
    TAPER_TRY(taper_block_create(l->graph, branch, 0, &branch->blocks[0], l->error));
    TAPER_TRY(taper_block_create(l->graph, branch, 0, &branch->blocks[1], l->error));
    taper_string *string = taper_string_new(l->heap, text, strlen(text));
    if (string == NULL) {
        return taper_fail_memory(l->error);
    }
    l->block = branch->blocks[1];
    taper_status status = taper_nnapi_constant(l, TAPER_VAL(string), &message);
    if (status == TAPER_OK) {
        status = TAPER_NNAPI_CALL(l, TAPER_OP(prim_RaiseException), &raised, message);
    }
    l->block = block;
    return status;
}

// That x has the operand's dtype and sizes, where those are not left to the run (0).
static taper_status check_input(taper_nnapi_lowering *l, const taper_nnapi_operand *operand, size_t number, bool image,
                                taper_ir_value *x)
{
    const bool bytes = operand->type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM;
    int64_t sizes[TAPER_MAX_RANK];
    bool open = false;
    for (uint32_t d = 0; d < operand->rank; d++) {
        sizes[image ? taper_nnapi_image_dim(d) : d] = operand->sizes[d];
        open = open || operand->sizes[d] == 0;
    }
    char text[512];
    (void)snprintf(text, sizeof text, "input %zu of the NNAPI model should be %s of sizes %s%s", number,
                   bytes ? "quint8" : "float32", taper_shape_print(operand->rank, sizes).text,
                   open ? ", where 0 is any size" : "");
    taper_ir_value *have, *want;
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(prim_dtype), &have, x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(bytes ? TAPER_QU8 : TAPER_F32), &want));
    TAPER_TRY(expect(l, TAPER_OP(aten_eq_int), have, want, text));
    if (!open) {
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_size), &have, x));
        TAPER_TRY(taper_nnapi_int_list(l, sizes, operand->rank, &want));
        return expect(l, TAPER_OP(aten_eq_int_list), have, want, text);
    }
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_dim), &have, x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(operand->rank), &want));
    TAPER_TRY(expect(l, TAPER_OP(aten_eq_int), have, want, text));
    for (uint32_t d = 0; d < operand->rank; d++) {
        if (sizes[d] != 0) {
            TAPER_TRY(taper_nnapi_constant(l, taper_val_int(d), &want));
            TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_size_int), &have, x, want));
            TAPER_TRY(taper_nnapi_constant(l, taper_val_int(sizes[d]), &want));
            TAPER_TRY(expect(l, TAPER_OP(aten_eq_int), have, want, text));
        }
    }
    return TAPER_OK;
}

static bool format_of(const taper_list *formats, size_t at, int64_t *format)
{
    *format = at < formats->count && formats->items[at].tag == TAPER_INT ? formats->items[at].as.i : -1;
    return *format >= FORMAT_PLAIN && *format <= FORMAT_ROWS;
}

static taper_status take_inputs(const site *s, taper_nnapi_lowering *l)
{
    for (uint32_t i = 0; i < l->model->input_count; i++) {
        const uint32_t at = l->model->inputs[i];
        const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
        const taper_nnapi_value *known = &l->values[at];
        int64_t format;
        taper_ir_value *x, *number, *scale, *zero;
        if (known->plain != NULL || known->image != NULL || taper_nnapi_is_constant(l, at)) {
            TAPER_FAIL(l->error, TAPER_ERROR_FILE, "operand %u cannot be input %u: it has a value", at, i);
        }
        if (!format_of(s->in_formats, i, &format) || format == FORMAT_ROWS ||
            (format == FORMAT_IMAGE && operand->rank != 4) ||
            (operand->type != TAPER_NNAPI_TENSOR_FLOAT32 && operand->type != TAPER_NNAPI_TENSOR_QUANT8_ASYMM)) {
            TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "input %u has type %u and format %lld", i, operand->type,
                       (long long)format);
        }
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(i), &number));
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten___getitem___t), &x, s->args, number));
        x->type = &taper_type_tensor;
        TAPER_TRY(check_input(l, operand, i, format == FORMAT_IMAGE, x));
        if (operand->type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM) { // the model's quantizer, whatever the tensor's is
            TAPER_TRY(taper_nnapi_constant(l, taper_val_double((double)operand->scale), &scale));
            TAPER_TRY(taper_nnapi_constant(l, taper_val_int(operand->zero_point), &zero));
            TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_int_repr), &x, x));
            TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten__make_per_tensor_quantized_tensor), &x, x, scale, zero));
        }
        taper_nnapi_give_view(l, at, at, x, format == FORMAT_IMAGE);
    }
    return TAPER_OK;
}

// Whether nobody else has the memory of operand `at`: no input, no constant, no result before this one.
static bool is_own(const taper_nnapi_lowering *l, uint32_t at, uint32_t number)
{
    const uint32_t storage = l->values[at].storage;
    bool own = !taper_nnapi_is_constant(l, at) && !taper_nnapi_is_constant(l, storage);
    for (uint32_t i = 0; i < l->model->input_count; i++) {
        own = own && l->model->inputs[i] != storage;
    }
    for (uint32_t i = 0; i < number; i++) {
        own = own && l->values[l->model->outputs[i]].storage != storage;
    }
    return own;
}

// The list of results: new tensors, contiguous in NNAPI's order of dimensions.
static taper_status give_outputs(const site *s, taper_nnapi_lowering *l, taper_ir_value **list)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_LIST, l->model->output_count, 1, &node, l->error));
    node->type = s->outs->type;
    node->outputs[0].type = s->outs->outputs[0].type;
    node->debug = l->debug;
    node->instruction = l->instruction;
    for (uint32_t i = 0; i < l->model->output_count; i++) {
        const uint32_t at = l->model->outputs[i];
        int64_t format;
        taper_ir_value *y, *order;
        if (!format_of(s->out_formats, i, &format) ||
            (format == FORMAT_IMAGE && taper_nnapi_operand_of(l, at)->rank != 4)) {
            TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "output %u has format %lld", i, (long long)format);
        }
        const bool image = format == FORMAT_IMAGE;
        TAPER_TRY(image ? taper_nnapi_image(l, at, false, &y) : taper_nnapi_plain(l, at, &y));
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(image ? TAPER_FORMAT_CHANNELS_LAST : TAPER_FORMAT_CONTIGUOUS),
                                       &order));
        TAPER_TRY(is_own(l, at, i) ? TAPER_NNAPI_CALL(l, TAPER_OP(aten_contiguous), &y, y, order)
                                   : TAPER_NNAPI_CALL(l, TAPER_OP(aten_clone), &y, y, order));
        taper_node_set_input(node, i, y);
    }
    taper_node_append(l->block, node);
    *list = &node->outputs[0];
    return TAPER_OK;
}

// ---- the rewrite

static void remove_all(taper_block *block)
{
    while (block->last != NULL) {
        taper_node_remove(block->last);
    }
}

// The parsed model as nodes of *block, which is nowhere yet.
static taper_status lower_model(const site *s, const taper_nnapi_model *model, taper_arena *arena,
                                const taper_list *weights, taper_block *block, taper_ir_value **list)
{
    taper_nnapi_lowering l = {.registry = s->registry,
                              .heap = s->module->heap,
                              .graph = s->run->block->graph,
                              .block = block,
                              .error = s->error,
                              .model = model,
                              .buffers = weights,
                              .values = taper_arena_array(arena, model->operand_count, sizeof *l.values),
                              .debug = s->run->debug,
                              .instruction = s->run->instruction};
    if (l.values == NULL && model->operand_count != 0) {
        return taper_fail_memory(s->error);
    }
    for (uint32_t i = 0; i < model->operand_count; i++) {
        l.values[i] = (taper_nnapi_value){.storage = i};
    }
    TAPER_TRY(take_inputs(s, &l));
    TAPER_TRY(taper_nnapi_lower_operations(&l));
    return give_outputs(s, &l, list);
}

static taper_status rewrite_with(site *s, taper_arena *arena)
{
    const taper_val *serialized = attribute(s, "ser_model", TAPER_TENSOR), *weights;
    const int64_t weights_slot = taper_object_slot(s->object, "weights");
    const taper_val *in_formats = attribute(s, "inp_mem_fmts", TAPER_LIST),
                    *out_formats = attribute(s, "out_mem_fmts", TAPER_LIST);
    taper_node *outs_loop = loop_with(s, s->outs, TAPER_OP(aten_append_t), false),
               *fixed_loop = loop_with(s, s->fixed, TAPER_OP(aten_append_t), false),
               *format_loop = loop_with(s, s->outs, TAPER_OP(aten__set_item_t), true);
    s->args = NULL;
    if (serialized == NULL || weights_slot < 0 || (size_t)weights_slot >= s->object->count || in_formats == NULL ||
        out_formats == NULL || outs_loop == NULL || fixed_loop == NULL || format_loop == NULL ||
        !used_only(s, s->outs, outs_loop, true) || !used_only(s, s->fixed, fixed_loop, false) ||
        !find_args(fixed_loop->blocks[0], &s->args) || s->args == NULL) {
        return TAPER_OK;
    }
    weights = &s->object->slots[weights_slot];
    s->in_formats = in_formats->as.list;
    s->out_formats = out_formats->as.list;
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
    if (status == TAPER_OK) {
        TAPER_TRY(taper_node_create(s->run->block->graph, TAPER_NODE_IF, 0, 0, &holder, s->error));
        holder->block_count = 1;
        TAPER_TRY(taper_block_create(s->run->block->graph, holder, 0, &block, s->error));
        holder->blocks[0] = block;
        status = lower_model(s, &model, arena, weights->as.list, block, &list);
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
    taper_node_remove(fixed_loop);
    taper_node_remove(s->fixed);
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
    for (size_t i = 0; i < s->graph_count; i++) { // all that may be looked at
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
    if (status == TAPER_ERROR_UNSUPPORTED) { // left to the run
        taper_error_clear(s->error);
        status = TAPER_OK;
    }
    return status;
}

typedef struct calls {
    taper_node **nodes;
    size_t count;
} calls;

// Every call of a method run, as it is said of compilations; nodes NULL: only counts.
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
    const size_t bytes = found.count * sizeof *found.nodes; // fewer than there are nodes
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
