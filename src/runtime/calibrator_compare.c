// SPDX-License-Identifier: BSD-2-Clause
// Measures how much a quantized model differs from the float model: the signal-to-quantization-noise ratio of each
// step's result and of forward's result.
#include <math.h>

#include "base/arguments.h"
#include "ir/tensor.h"
#include "ir/walk.h"
#include "runtime/calibrator.h"

// ---- noise

static double element(const taper_tensor *t, int64_t at)
{
    const void *data = taper_tensor_data(t);
    if (t->quantizer == NULL) {
        return taper_load_double((taper_dtype)t->dtype, data, at);
    }
    const int64_t q = t->dtype == TAPER_QU8 ? ((const uint8_t *)data)[at] : ((const int8_t *)data)[at];
    return (double)((float)t->quantizer->scale * (float)(q - t->quantizer->zero_point));
}

// Returns true if subtracting the tensors is meaningful: they have the same sizes, and both contain floats, or integers
// with the same scale.
static bool are_comparable(const taper_tensor *wanted, const taper_tensor *got)
{
    if (wanted->rank != got->rank || !taper_dtype_is_float((taper_dtype)wanted->dtype) ||
        (got->quantizer != NULL ? got->quantizer->scheme != TAPER_PER_TENSOR_AFFINE || taper_tensor_item(got) != 1
                                : !taper_dtype_is_float((taper_dtype)got->dtype))) {
        return false;
    }
    return memcmp(wanted->sizes, got->sizes, wanted->rank * sizeof *wanted->sizes) == 0;
}

static void add_noise(taper_noise *noise, const taper_tensor *wanted, const taper_tensor *got)
{
    int64_t a_steps[TAPER_MAX_RANK], b_steps[TAPER_MAX_RANK];
    taper_walk walk;
    taper_tensor_steps(wanted, 1, a_steps);
    taper_tensor_steps(got, 1, b_steps);
    taper_walk_over(&walk, wanted->rank, wanted->sizes, SIZE_MAX, a_steps, b_steps);
    const int64_t count = taper_tensor_numel(wanted);
    for (int64_t i = 0; i < count; i++) {
        const double x = element(wanted, walk.at[0]), difference = x - element(got, walk.at[1]);
        noise->signal += x * x;
        noise->noise += difference * difference;
        (void)taper_walk_next(&walk);
    }
}

static double decibels(const taper_noise *noise)
{
    return noise->signal > 0 && noise->noise > 0 ? 10 * log10(noise->signal / noise->noise)
           : noise->noise > 0                    ? -(double)INFINITY
           : noise->signal > 0                   ? (double)INFINITY
                                                 : (double)NAN;
}

// Adds the noise of all tensors in two results of the same structure. A tensor that several containers share is counted
// each time it is reached, so the number of visits is limited; *steps is the number of visits that are left.
static void add_result_noise(taper_noise *noise, taper_val wanted, taper_val got, int depth, size_t *steps)
{
    if (wanted.tag != got.tag || depth > TAPER_LIMIT_VALUE_DEPTH || *steps == 0) {
        return;
    }
    (*steps)--;
    if (wanted.tag == TAPER_TENSOR) {
        if (are_comparable(wanted.as.tensor, got.as.tensor)) {
            add_noise(noise, wanted.as.tensor, got.as.tensor);
        }
    } else if (wanted.tag == TAPER_LIST || wanted.tag == TAPER_TUPLE || wanted.tag == TAPER_DICT) {
        size_t count, other;
        const taper_val *items = taper_container_items((taper_container *)wanted.as.obj, &count);
        const taper_val *others = taper_container_items((taper_container *)got.as.obj, &other);
        for (size_t i = 0; i < count && i < other && *steps != 0; i++) {
            add_result_noise(noise, items[i], others[i], depth + 1, steps);
        }
    }
}

// ---- the quantized model

// Fills value_steps (for the values of the float graph) and made_steps (for the values of the quantized graph). An
// entry is 1 + the index of the quantized layer that computes the value, or 0 if there is no such layer.
static taper_status index_steps(taper_calibrator *calibrator, uint32_t made_count, taper_error *error)
{
    const taper_quantization_table *table = calibrator->compiler->quantization;
    const size_t steps = table->step_count(calibrator->quantization);
    calibrator->made_count = made_count;
    calibrator->value_steps = taper_arena_array(&calibrator->arena, made_count, sizeof *calibrator->value_steps);
    calibrator->made_steps = taper_arena_array(&calibrator->arena, made_count, sizeof *calibrator->made_steps);
    calibrator->seen = taper_arena_array(&calibrator->arena, steps, sizeof(taper_tensor *));
    calibrator->noises = taper_arena_array(&calibrator->arena, steps, sizeof *calibrator->noises);
    if (calibrator->value_steps == NULL || calibrator->made_steps == NULL || calibrator->seen == NULL ||
        calibrator->noises == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < steps; i++) {
        taper_quantized_layer layer;
        uint32_t value, made;
        table->step(calibrator->quantization, i, &layer, &value, &made);
        if (value < made_count && made < made_count) {
            calibrator->value_steps[value] = calibrator->made_steps[made] = (uint32_t)i + 1;
        }
    }
    return TAPER_OK;
}

static taper_status make_quantized(taper_calibrator *calibrator, taper_error *error)
{
    taper_draft *draft;
    TAPER_TRY(taper_calibrator_draft(calibrator, true, &draft, error));
    const taper_function *forward = taper_model_find(draft->model, taper_model_name(draft->model), "forward");
    const taper_status status = index_steps(calibrator, forward->graph->value_count, error);
    if (status != TAPER_OK) {
        taper_draft_release(draft);
        return status;
    }
    TAPER_TRY(taper_draft_finish(draft, &calibrator->quantized, error));
    return taper_session_create(calibrator->quantized, calibrator->options.budgets, &calibrator->quantized_session,
                                error);
}

// ---- running the float model and the quantized model

static void keep(void *user, const taper_observation *observation)
{
    taper_calibrator *calibrator = user;
    if (strcmp(observation->method, calibrator->forward) != 0 || observation->value >= calibrator->made_count) {
        return;
    }
    const uint32_t step = calibrator->value_steps[observation->value];
    if (step != 0 && observation->result->val.tag == TAPER_TENSOR && calibrator->status == TAPER_OK) {
        taper_tensor **seen = &calibrator->seen[step - 1];
        if (*seen != NULL) {
            taper_obj_release(&(*seen)->head);
            *seen = NULL;
        }
        // The tensor is copied because the model may write to it later.
        const taper_tensor *t = observation->result->val.as.tensor;
        taper_heap *heap = calibrator->context->heap;
        calibrator->status =
            taper_tensor_new(heap, (taper_dtype)t->dtype, t->rank, t->sizes, NULL, seen, calibrator->failure);
        if (calibrator->status == TAPER_OK) {
            calibrator->status = taper_tensor_copy(*seen, t, calibrator->failure);
        }
    }
}

static void compare_one(void *user, const taper_observation *observation)
{
    taper_calibrator *calibrator = user;
    if (strcmp(observation->method, calibrator->forward) != 0 || observation->value >= calibrator->made_count) {
        return;
    }
    const uint32_t step = calibrator->made_steps[observation->value];
    const taper_val got = observation->result->val;
    const taper_tensor *wanted = step != 0 ? calibrator->seen[step - 1] : NULL;
    if (wanted != NULL && got.tag == TAPER_TENSOR && are_comparable(wanted, got.as.tensor)) {
        add_noise(&calibrator->noises[step - 1], wanted, got.as.tensor);
    }
}

static taper_status run_both(taper_calibrator *calibrator, taper_value *const *inputs, taper_value *const *quantized,
                             size_t count, taper_error *error)
{
    taper_value *wanted = NULL, *got = NULL;
    calibrator->status = TAPER_OK;
    calibrator->failure = error;
    taper_session_observe(calibrator->session, keep, calibrator);
    taper_status status = taper_session_run(calibrator->session, NULL, inputs, count, &wanted, error);
    taper_session_observe(calibrator->session, NULL, NULL);
    status = status == TAPER_OK ? calibrator->status : status;
    if (status == TAPER_OK) {
        taper_session_observe(calibrator->quantized_session, compare_one, calibrator);
        status = taper_session_run(calibrator->quantized_session, NULL, quantized, count, &got, error);
        if (status != TAPER_OK) {
            taper_error_prefix(error, "the quantized model: ");
        }
    }
    if (status == TAPER_OK) {
        size_t steps = 1000000;
        add_result_noise(&calibrator->total, wanted->val, got->val, 0, &steps);
    }
    taper_value_release(wanted);
    taper_value_release(got);
    const size_t steps = calibrator->compiler->quantization->step_count(calibrator->quantization);
    for (size_t i = 0; i < steps; i++) {
        if (calibrator->seen[i] != NULL) {
            taper_obj_release(&calibrator->seen[i]->head);
            calibrator->seen[i] = NULL;
        }
    }
    return status;
}

// Converts a float input to the form that the quantized model takes. *converted is the input itself, retained, or in
// mode FULL the quantized input.
static taper_status convert_input(const taper_calibrator *calibrator, size_t index, taper_value *input,
                                  taper_value **converted, taper_error *error)
{
    double scale;
    int64_t zero_point;
    if (input->val.tag == TAPER_TENSOR && taper_calibrator_input(calibrator, index, &scale, &zero_point)) {
        return taper_value_quantize(calibrator->context, input, TAPER_QU8, scale, zero_point, converted, error);
    }
    *converted = taper_value_retain(input);
    return TAPER_OK;
}

static taper_status compare(taper_calibrator *calibrator, taper_value *const *inputs, size_t count, taper_error *error)
{
    if (calibrator->quantized_session == NULL) {
        taper_calibrator_free_comparison(calibrator);
        TAPER_TRY(make_quantized(calibrator, error));
    }
    const size_t bytes = (count + 1) * sizeof(taper_value *);
    taper_value **quantized = taper_alloc_zeroed(&calibrator->context->allocator, bytes);
    taper_status status = quantized != NULL ? TAPER_OK : taper_fail_memory(error);
    for (size_t i = 0; status == TAPER_OK && i < count; i++) {
        status = convert_input(calibrator, i, inputs[i], &quantized[i], error);
    }
    if (status == TAPER_OK) {
        status = run_both(calibrator, inputs, quantized, count, error);
    }
    for (size_t i = 0; quantized != NULL && i < count; i++) {
        taper_value_release(quantized[i]);
    }
    taper_free(&calibrator->context->allocator, (void *)quantized, bytes);
    return status;
}

taper_status taper_calibrator_compare(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                      taper_error *error)
{
    TAPER_TRY(taper_calibrator_ready(calibrator, error));
    TAPER_TRY(taper_check_items(inputs, "inputs", count, error));
    calibrator->running = true;
    const taper_status status = compare(calibrator, inputs, count, error);
    calibrator->running = false;
    return status;
}

// ---- results of the comparison

size_t taper_calibrator_layer_count(const taper_calibrator *calibrator)
{
    return calibrator != NULL && calibrator->planned
               ? calibrator->compiler->quantization->step_count(calibrator->quantization)
               : 0;
}

taper_status taper_calibrator_layer(const taper_calibrator *calibrator, size_t index, taper_quantized_layer *layer,
                                    taper_error *error)
{
    taper_quantized_layer full;
    uint32_t value, made;
    TAPER_NEED(calibrator, error);
    TAPER_NEED(layer, error);
    if (index >= taper_calibrator_layer_count(calibrator)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no layer %zu", index);
    }
    calibrator->compiler->quantization->step(calibrator->quantization, index, &full, &value, &made);
    if (calibrator->noises != NULL) {
        full.sqnr = decibels(&calibrator->noises[index]);
    }
    return taper_struct_write(layer, "taper_quantized_layer", &full, sizeof full, error);
}

double taper_calibrator_sqnr(const taper_calibrator *calibrator)
{
    return calibrator != NULL ? decibels(&calibrator->total) : (double)NAN;
}

int taper_calibrator_input(const taper_calibrator *calibrator, size_t index, double *scale, int64_t *zero_point)
{
    if (calibrator == NULL || scale == NULL || zero_point == NULL || !calibrator->planned ||
        index + 1 >= calibrator->param_count) {
        return 0;
    }
    return calibrator->compiler->quantization->parameter(calibrator->quantization, calibrator->params[index + 1], scale,
                                                         zero_point);
}
