// SPDX-License-Identifier: BSD-2-Clause
// Creates, applies and frees a quantization for the runtime (compiler_hook.h), and passes values of runs to observers.
#include "compiler/quantization.h"

#include "ir/tensor.h"

#include <math.h>

// ---- creating a quantization

static taper_status create(const taper_allocator *allocator, const taper_quantize_options *options,
                           uint32_t value_count, taper_quantization **quantization, taper_error *error)
{
    taper_quantization *q = taper_alloc_zeroed(allocator, sizeof *q);
    *quantization = NULL;
    if (q == NULL) {
        return taper_fail_memory(error);
    }
    q->allocator = allocator;
    q->options = *options;
    q->value_count = value_count;
    taper_arena_init(&q->arena, allocator);
    size_t bytes;
    q->values = taper_mul_size(value_count, sizeof *q->values, &bytes) ? taper_alloc_zeroed(allocator, bytes) : NULL;
    if (q->values == NULL) {
        taper_free(allocator, q, sizeof *q);
        return taper_fail_memory(error);
    }
    for (uint32_t i = 0; i < value_count; i++) {
        q->values[i].group = i;
        q->values[i].step = TAPER_NO_STEP;
        q->values[i].feeds = TAPER_NO_VALUE;
        q->values[i].observer.kind = options->observer;
    }
    *quantization = q;
    return TAPER_OK;
}

static void destroy(taper_quantization *q)
{
    if (q == NULL) {
        return;
    }
    for (uint32_t i = 0; i < q->value_count; i++) {
        taper_observer_free(&q->values[i].observer, q->allocator);
    }
    taper_free(q->allocator, q->values, q->value_count * sizeof *q->values);
    taper_free(q->allocator, q->steps, q->step_capacity * sizeof *q->steps);
    taper_arena_free(&q->arena);
    taper_free(q->allocator, q, sizeof *q);
}

static taper_status adjust(const taper_quantize_options *options, taper_compilation *compilation, taper_graph *graph)
{
    return options->equalize != 0 ? taper_equalize(compilation, graph) : TAPER_OK;
}

// ---- observing values

static void meet(taper_quantization *q, uint32_t value, taper_val met)
{
    if (value < q->value_count && met.tag == TAPER_TENSOR) {
        const taper_tensor *t = met.as.tensor;
        q->values[value].is_float = t->dtype == TAPER_F32 && t->rank != 0 && taper_tensor_numel(t) != 0;
        q->values[value].rank = t->rank;
    }
}

static taper_status plan(taper_quantization *q, taper_compilation *compilation, taper_graph *graph)
{
    if (graph->value_count != q->value_count) {
        TAPER_FAIL(compilation->error, TAPER_ERROR_INTERNAL, "the model is not the one that the first run was of");
    }
    TAPER_TRY(taper_make_functional(q, compilation, graph));
    TAPER_TRY(taper_written_storages_find(compilation));
    const taper_status status = taper_quantize_plan(q, compilation, graph);
    taper_written_storages_free(compilation);
    q->planned = status == TAPER_OK;
    return status;
}

static void add_sums(taper_quantize_value *v, const taper_tensor *t, const float *x)
{
    if (v->channel_dim >= t->rank || t->sizes[v->channel_dim] != v->channels) {
        return;
    }
    int64_t outer = 1, inner = 1;
    for (int64_t d = 0; d < t->rank; d++) {
        *(d < v->channel_dim ? &outer : &inner) *= d != v->channel_dim ? t->sizes[d] : 1;
    }
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t c = 0; c < v->channels; c++) {
            double sum = 0;
            for (int64_t i = 0; i < inner; i++) {
                sum += (double)*x++;
            }
            v->sums[c] += sum;
        }
    }
    v->elements += outer * inner;
}

// Returns the name of the step that makes the value: a module such as "layer4.0.conv1", or the operator.
static const char *name_of(const taper_quantization *q, uint32_t value)
{
    for (size_t i = 0; i < q->step_count; i++) {
        if (q->steps[i].result == value) {
            return q->steps[i].name;
        }
    }
    return NULL;
}

static taper_status observe_tensor(taper_quantization *q, uint32_t value, taper_tensor *t, taper_error *error)
{
    taper_quantize_value *v = &q->values[value], *group = &q->values[taper_group_of(q, value)];
    const float *x = taper_tensor_data(t);
    bool finite = true;
    if (v->observed) {
        TAPER_TRY(taper_observer_add(&group->observer, q->allocator, x, (size_t)taper_tensor_numel(t), &finite, error));
    }
    if (!finite) {
        const char *name = name_of(q, value);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "%s%s%s is not finite for these inputs: NaN and infinities cannot be quantized",
                   name != NULL   ? "the result of layer "
                   : v->parameter ? "an input"
                                  : "the input of a layer",
                   name != NULL ? " " : "", name != NULL ? name : "");
    }
    if (v->sums != NULL) {
        add_sums(v, t, x);
    }
    return TAPER_OK;
}

static taper_status observe(taper_quantization *q, uint32_t value, taper_val seen, taper_error *error)
{
    taper_tensor *flat;
    if (value >= q->value_count || seen.tag != TAPER_TENSOR || seen.as.tensor->dtype != TAPER_F32) {
        return TAPER_OK;
    }
    bool learns = false;
    for (uint32_t v = value; v != TAPER_NO_VALUE; v = q->values[v].feeds) {
        learns = learns || q->values[v].observed || q->values[v].sums != NULL;
    }
    if (!learns) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_contiguous(seen.as.tensor->head.heap, seen.as.tensor, &flat, error));
    taper_status status = TAPER_OK;
    for (uint32_t v = value; status == TAPER_OK && v != TAPER_NO_VALUE; v = q->values[v].feeds) {
        status = observe_tensor(q, v, flat, error);
    }
    taper_obj_release(&flat->head);
    q->learned = true;
    return status;
}

void taper_quantize_ranges(taper_quantization *q)
{
    for (uint32_t i = 0; i < q->value_count; i++) {
        taper_quantize_value *v = &q->values[i];
        if (v->group != i || v->fixed || !(v->native || v->wanted)) {
            continue;
        }
        float low = 0, high = 0;
        if (v->observer.seen) {
            taper_observer_range(&v->observer, q->options.percentile, &low, &high);
        }
        if (v->bounded) {
            low = low < v->low ? v->low : low;
            high = high > v->high ? v->high : high;
        }
        v->qparams = v->observer.seen ? taper_qparams_of(low, high) : (taper_qparams){1, 0};
    }
    q->ranged = true;
    q->learned = false;
}

// ---- rewriting a graph

static taper_status rewrite(taper_quantization *q, taper_compilation *compilation, taper_graph *graph, taper_val *root)
{
    if (!q->planned || graph->value_count != q->value_count) {
        TAPER_FAIL(compilation->error, TAPER_ERROR_INTERNAL, "the model is not the one that was planned");
    }
    if (!q->ranged || q->learned) {
        taper_quantize_ranges(q);
    }
    TAPER_TRY(taper_make_functional(q, compilation, graph));
    taper_status status = taper_quantize_rewrite(q, compilation, graph);
    if (status == TAPER_OK) {
        status = taper_pass_dead_code(compilation, graph);
    }
    taper_pass_freeze_end(compilation);
    taper_written_storages_free(compilation);
    TAPER_TRY(status);
    TAPER_TRY(taper_graph_verify(graph, compilation->error));
    return root != NULL ? taper_prune_attributes(compilation, root) : TAPER_OK;
}

// ---- facts about the steps

static size_t step_count(const taper_quantization *q)
{
    return q->step_count;
}

static void step(const taper_quantization *q, size_t index, taper_quantized_layer *layer, uint32_t *value,
                 uint32_t *made)
{
    const taper_quantize_step *s = &q->steps[index];
    *layer = (taper_quantized_layer){.name = s->name,
                                     .operator_name = s->op_name,
                                     .operator_length = strcspn(s->op_name, "("),
                                     .kept_float = s->kept_float,
                                     .sqnr = (double)NAN};
    if (q->ranged && !s->kept_float &&
        (s->kind == TAPER_STEP_LAYER || s->kind == TAPER_STEP_PAIR || s->kind == TAPER_STEP_CURVE)) {
        layer->scale = taper_group_qparams(q, s->result).scale;
        layer->zero_point = taper_group_qparams(q, s->result).zero_point;
    }
    *value = s->result;
    *made = s->made;
}

static bool parameter(const taper_quantization *q, uint32_t value, double *scale, int64_t *zero_point)
{
    if (value >= q->value_count || !q->values[value].parameter || !q->ranged) {
        return false;
    }
    *scale = taper_group_qparams(q, value).scale;
    *zero_point = taper_group_qparams(q, value).zero_point;
    return true;
}

const taper_quantization_table taper_quantization_functions = {.create = create,
                                                               .destroy = destroy,
                                                               .adjust = adjust,
                                                               .meet = meet,
                                                               .plan = plan,
                                                               .observe = observe,
                                                               .rewrite = rewrite,
                                                               .step_count = step_count,
                                                               .step = step,
                                                               .parameter = parameter};
