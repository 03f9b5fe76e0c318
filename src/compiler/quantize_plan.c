// SPDX-License-Identifier: BSD-2-Clause
// Chooses the operators that will compute with integers (the steps). Layers always become steps, other operators only
// if their inputs are already integers. Nodes are visited in the order of the program, so the producers of an
// operator's inputs were decided before.
#include <math.h>

#include "compiler/quantization.h"

typedef struct planner {
    taper_quantization *q;
    taper_compilation *compilation;
    taper_aliases *aliases;
    bool *keeps_used; // for each entry of options.keep_float: true if it matched a layer
} planner;

static taper_quantize_value *facts(const planner *p, const taper_ir_value *value)
{
    return &p->q->values[value->id];
}

// ---- groups of values that share a scale and a zero point

uint32_t taper_group_of(const taper_quantization *q, uint32_t value)
{
    uint32_t group = value;
    while (q->values[group].group != group) {
        group = q->values[group].group;
    }
    for (uint32_t at = value; at != group;) { // points the values on the path directly to the head
        const uint32_t next = q->values[at].group;
        q->values[at].group = group;
        at = next;
    }
    return group;
}

static void join_groups(taper_quantization *q, uint32_t a, uint32_t b)
{
    taper_quantize_value *first = &q->values[taper_group_of(q, a)], *second = &q->values[taper_group_of(q, b)];
    if (first != second) {
        first->bounded = first->bounded && second->bounded && first->low == second->low && first->high == second->high;
        second->group = first->group;
    }
}

// ---- values that may be quantized

static bool is_usable(const planner *p, const taper_ir_value *value)
{
    return value != NULL && taper_value_constant(value) == NULL && facts(p, value)->is_float &&
           !taper_aliases_written(p->aliases, value);
}

static bool is_native(const planner *p, const taper_ir_value *value)
{
    return is_usable(p, value) && facts(p, value)->native;
}

static void want(const planner *p, const taper_ir_value *value)
{
    taper_quantize_value *v = facts(p, value);
    if (!v->native) {
        v->wanted = v->observed = true;
    }
}

static bool is_kept(const planner *p, const char *name)
{
    bool kept = false;
    for (size_t i = 0; i < p->q->options.keep_float_count; i++) {
        const char *keep = p->q->options.keep_float[i];
        const size_t length = strlen(keep);
        if (strncmp(name, keep, length) == 0 && (name[length] == '\0' || name[length] == '.')) {
            p->keeps_used[i] = kept = true;
        }
    }
    return kept;
}

static taper_status add_step(const planner *p, const taper_node *node, taper_step_kind kind, taper_quantize_step **made)
{
    taper_quantization *q = p->q;
    const char *name = node->name;
    if (name == NULL) {
        const char *colon = strchr(node->op_name, ':'), *short_name = colon != NULL ? colon + 2 : node->op_name;
        taper_text text = taper_text_make(q->allocator);
        taper_text_format(&text, "%.*s_%zu", (int)strcspn(short_name, ".("), short_name, q->step_count);
        name = text.failed ? NULL : taper_arena_string(&q->arena, taper_text_get(&text), text.length);
        taper_text_free(&text);
    } else {
        name = taper_arena_string(&q->arena, name, strlen(name));
    }
    if (name == NULL) {
        return taper_fail_memory(p->compilation->error);
    }
    TAPER_TRY(TAPER_GROW(q->allocator, q->steps, q->step_capacity, q->step_count + 1, p->compilation->error));
    taper_quantize_step *step = &q->steps[q->step_count];
    *step = (taper_quantize_step){.kind = kind,
                                  .value = node->outputs[0].id,
                                  .result = node->outputs[0].id,
                                  .made = UINT32_MAX,
                                  .kept_float = is_kept(p, name),
                                  .name = name,
                                  .op_name = node->op_name};
    q->values[step->value].step = (uint32_t)q->step_count++;
    *made = step;
    return TAPER_OK;
}

// Merges the activation that follows `node` into the step.
static void take_activation(const planner *p, taper_quantize_step *step, const taper_node *node, bool has_relu)
{
    float low, high;
    const taper_node *user = taper_only_user(node);
    if (user == NULL || !taper_activation_bounds(user, &low, &high) || !is_usable(p, &user->outputs[0])) {
        return;
    }
    const bool clamps = isfinite(low) && isfinite(high);
    if (!clamps && !(has_relu && low == 0 && isinf(high))) {
        return;
    }
    step->relu = low == 0 && has_relu;
    step->result = user->outputs[0].id;
    taper_quantize_value *result = &p->q->values[step->result];
    result->step = p->q->values[step->value].step;
    result->bounded = clamps;
    result->low = low;
    result->high = high;
}

static void give_result(const planner *p, const taper_quantize_step *step)
{
    taper_quantize_value *result = &p->q->values[step->result];
    result->native = true;
    result->observed =
        step->kind == TAPER_STEP_LAYER || step->kind == TAPER_STEP_PAIR || step->kind == TAPER_STEP_CURVE;
}

// ---- planning each kind of step

static taper_status plan_layer(const planner *p, const taper_node *node, const taper_layer *layer)
{
    taper_quantize_step *step;
    if (!taper_is_static(p->q)) {
        return taper_layer_is_quantizable(layer, true) ? add_step(p, node, TAPER_STEP_DYNAMIC, &step) : TAPER_OK;
    }
    taper_quantize_value *input = facts(p, layer->input);
    TAPER_TRY(add_step(p, node, TAPER_STEP_LAYER, &step));
    // The samples may not have reached this layer, for example because it is in a branch. Such a layer stays float, and
    // the report lists it.
    step->kept_float = step->kept_float || !taper_layer_is_quantizable(layer, false) || !is_usable(p, layer->input) ||
                       !is_usable(p, &node->outputs[0]) || (layer->convolution ? input->rank != 4 : input->rank < 2);
    if (step->kept_float) {
        return TAPER_OK;
    }
    take_activation(p, step, node, !layer->transposed);
    want(p, layer->input);
    give_result(p, step);
    if (p->q->options.bias_correction != 0 && input->sums == NULL) {
        input->channels = layer->convolution && !layer->transposed ? layer->weight->sizes[1] * layer->groups
                          : layer->transposed                      ? layer->weight->sizes[0]
                                                                   : layer->weight->sizes[1];
        input->channel_dim = layer->convolution ? 1 : input->rank - 1;
        input->sums = taper_arena_array(&p->q->arena, (size_t)input->channels, sizeof *input->sums);
        if (input->sums == NULL) {
            return taper_fail_memory(p->compilation->error);
        }
    }
    return TAPER_OK;
}

static taper_status plan_pair(const planner *p, const taper_node *node)
{
    taper_quantize_step *step;
    const taper_ir_value *a = taper_node_in(node, 0), *b = taper_node_in(node, 1);
    if (!is_usable(p, a) || !is_usable(p, b) || (!is_native(p, a) && !is_native(p, b))) {
        return TAPER_OK;
    }
    TAPER_TRY(add_step(p, node, TAPER_STEP_PAIR, &step));
    if (!step->kept_float) {
        want(p, a);
        want(p, b);
        take_activation(p, step, node, true);
        give_result(p, step);
    }
    return TAPER_OK;
}

static taper_status plan_join(const planner *p, const taper_node *node)
{
    taper_quantize_step *step;
    const taper_node *list = taper_node_in(node, 0)->node;
    bool native = false;
    for (size_t i = 0; i < list->input_count; i++) {
        const taper_ir_value *item = taper_node_in(list, i);
        if (!is_usable(p, item) || p->q->values[taper_group_of(p->q, item->id)].fixed) {
            return TAPER_OK;
        }
        native = native || is_native(p, item);
    }
    if (!native) {
        return TAPER_OK;
    }
    TAPER_TRY(add_step(p, node, TAPER_STEP_JOIN, &step));
    if (step->kept_float) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < list->input_count; i++) {
        want(p, taper_node_in(list, i));
        join_groups(p->q, taper_node_in(list, 0)->id, taper_node_in(list, i)->id);
    }
    p->q->values[step->result].group = taper_group_of(p->q, taper_node_in(list, 0)->id);
    give_result(p, step);
    return TAPER_OK;
}

static taper_status plan_single(const planner *p, const taper_node *node, taper_step_kind kind)
{
    taper_quantize_step *step;
    const taper_ir_value *x = taper_node_in(node, 0);
    if (!is_native(p, x)) {
        return TAPER_OK;
    }
    TAPER_TRY(add_step(p, node, kind, &step));
    if (step->kept_float) {
        return TAPER_OK;
    }
    taper_quantize_value *result = &p->q->values[step->result];
    if (kind == TAPER_STEP_KEEP) {
        result->group = taper_group_of(p->q, x->id);
    } else if (kind == TAPER_STEP_FIXED) {
        result->fixed = true;
        result->qparams = taper_fixed_qparams(node);
    }
    give_result(p, step);
    return TAPER_OK;
}

static taper_status plan_node(const planner *p, taper_node *node)
{
    taper_layer layer;
    taper_quantize_step *step;
    if (node->kind != TAPER_NODE_OP || node->output_count == 0 ||
        p->q->values[node->outputs[0].id].step != TAPER_NO_STEP) {
        return TAPER_OK; // the node cannot be a step, or is already part of one
    }
    if (taper_layer_match(p->compilation, node, &layer)) {
        return plan_layer(p, node, &layer);
    }
    if (!taper_is_static(p->q)) {
        return taper_recurrent_is_quantizable(p->compilation, node) ? add_step(p, node, TAPER_STEP_RECURRENT, &step)
                                                                    : TAPER_OK;
    }
    taper_step_kind kind;
    if (!taper_step_kind_of(node, &kind) || !is_usable(p, &node->outputs[0])) {
        return TAPER_OK;
    }
    return kind == TAPER_STEP_PAIR   ? plan_pair(p, node)
           : kind == TAPER_STEP_JOIN ? plan_join(p, node)
                                     : plan_single(p, node, kind);
}

// Records facts about the results of a node. Results of operators were observed in runs. The result of an If is the
// result of one of its blocks, so its facts and observations come from the results of its blocks.
static void meet_results(const planner *p, const taper_node *node)
{
    for (uint32_t i = 0; node->kind == TAPER_NODE_IF && i < node->output_count; i++) {
        taper_quantize_value *out = facts(p, &node->outputs[i]);
        for (size_t b = 0; b < node->block_count; b++) {
            taper_quantize_value *result = facts(p, node->blocks[b]->results[i].value);
            if (result->is_float && result->feeds == TAPER_NO_VALUE) {
                result->feeds = node->outputs[i].id;
                out->is_float = true;
                out->rank = result->rank;
            }
        }
    }
}

static taper_status plan_block(const planner *p, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(plan_block(p, node->blocks[b]));
        }
        meet_results(p, node);
        TAPER_TRY(plan_node(p, node));
    }
    return TAPER_OK;
}

// ---- parameters and results of forward

// If a use puts the value in a container that itself has only one use, returns the container, otherwise NULL.
static const taper_ir_value *container_of(const taper_value_use *use)
{
    const taper_node *user = use->user;
    return user != NULL && user->block->parent == NULL && user->output_count == 1 &&
                   (user->kind == TAPER_NODE_TUPLE || user->kind == TAPER_NODE_LIST || user->kind == TAPER_NODE_DICT) &&
                   taper_value_used_once(&user->outputs[0])
               ? &user->outputs[0]
               : NULL;
}

bool taper_use_is_returned(const taper_value_use *use)
{
    for (int hops = 0; use != NULL && hops < TAPER_LIMIT_VALUE_DEPTH; hops++) {
        if (use->user == NULL) {
            return use->block->parent == NULL;
        }
        const taper_ir_value *container = container_of(use);
        use = container != NULL ? container->uses : NULL;
    }
    return false;
}

static bool is_returned(const taper_ir_value *value)
{
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (taper_use_is_returned(use)) {
            return true;
        }
    }
    return false;
}

static void take_parameters(const planner *p, const taper_graph *graph)
{
    for (uint32_t i = 1; i < graph->body->param_count; i++) { // parameter 0 is self
        const taper_ir_value *param = &graph->body->params[i];
        if (is_usable(p, param)) {
            taper_quantize_value *v = facts(p, param);
            v->native = v->parameter = v->observed = true;
        }
    }
}

static void want_results(const planner *p, const taper_block *body)
{
    for (uint32_t i = 1; i < body->param_count; i++) {
        if (is_usable(p, &body->params[i]) && is_returned(&body->params[i])) {
            want(p, &body->params[i]);
        }
    }
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        for (uint32_t i = 0; i < node->output_count; i++) {
            if (is_usable(p, &node->outputs[i]) && is_returned(&node->outputs[i])) {
                want(p, &node->outputs[i]);
            }
        }
    }
}

static taper_status check_plan(const planner *p)
{
    taper_error *error = p->compilation->error;
    const taper_quantization *q = p->q;
    bool some = false;
    for (size_t i = 0; i < q->step_count; i++) {
        some = some || !q->steps[i].kept_float;
    }
    for (size_t i = 0; i < q->options.keep_float_count; i++) {
        if (p->keeps_used[i]) {
            continue;
        }
        (void)taper_fail(error, TAPER_ERROR_ARGUMENT, "there is no layer \"%s\" to keep float",
                         q->options.keep_float[i]);
        taper_error_add_detail(error, "layers that would be quantized:\n");
        for (size_t s = 0; s < q->step_count; s++) {
            taper_error_add_detail(error, "  %s\n", q->steps[s].name);
        }
        return TAPER_ERROR_ARGUMENT;
    }
    if (!some) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   taper_is_static(q)
                       ? "there is nothing to quantize: no convolution over one or two dimensions and no linear layer "
                         "that has constant float weights, is reached, and is not kept float"
                       : "there is nothing to quantize: no linear or recurrent layer with constant float weights that "
                         "is not kept float");
    }
    return TAPER_OK;
}

taper_status taper_quantize_plan(taper_quantization *q, taper_compilation *compilation, taper_graph *graph)
{
    planner p = {.q = q, .compilation = compilation};
    const size_t bytes = (q->options.keep_float_count + 1) * sizeof *p.keeps_used;
    p.keeps_used = taper_alloc_zeroed(q->allocator, bytes);
    taper_status status = p.keeps_used != NULL ? taper_aliases_create(graph, &p.aliases, compilation->error)
                                               : taper_fail_memory(compilation->error);
    if (status == TAPER_OK) {
        if (q->options.mode == TAPER_QUANTIZE_FULL) {
            take_parameters(&p, graph);
        }
        status = plan_block(&p, graph->body);
    }
    if (status == TAPER_OK && q->options.mode == TAPER_QUANTIZE_FULL) {
        want_results(&p, graph->body);
    }
    if (status == TAPER_OK) {
        status = check_plan(&p);
    }
    taper_aliases_destroy(p.aliases);
    taper_free(q->allocator, p.keeps_used, bytes);
    return status;
}
