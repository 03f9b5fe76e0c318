// SPDX-License-Identifier: BSD-2-Clause
#include "taper/input_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/tensor_data.h"
#include "taper/failing_layer.h"

// Each makes the tensor that may have been meant, or returns false when it does not apply. The new one lies over the
// old one's memory or over its own.
typedef bool (*change)(const opened_model *opened, const taper_tensor_info *old, taper_value **value);

static bool make_view(const opened_model *opened, const taper_tensor_info *old, size_t rank, const int64_t *sizes,
                      const int64_t *strides, taper_value **value)
{
    return taper_value_tensor_from(opened->context, old->dtype, rank, sizes, strides, old->data, old->bytes, 1, NULL,
                                   NULL, value, NULL) == TAPER_OK;
}

static bool add_batch(const opened_model *opened, const taper_tensor_info *old, taper_value **value)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    if (old->quantized != 0 || old->rank == 0 || old->rank >= TAPER_MAX_RANK) {
        return false;
    }
    sizes[0] = 1;
    strides[0] = old->sizes[0] * old->strides[0];
    memcpy(sizes + 1, old->sizes, old->rank * sizeof *sizes);
    memcpy(strides + 1, old->strides, old->rank * sizeof *strides);
    return make_view(opened, old, old->rank + 1, sizes, strides, value);
}

static bool channels_first(const opened_model *opened, const taper_tensor_info *old, taper_value **value)
{
    const size_t rank = old->rank, first = rank == 4 ? 1 : 0;
    int64_t sizes[4] = {1, 0, 0, 0}, strides[4] = {0};
    if (old->quantized != 0 || rank < 3 || rank > 4 || old->sizes[rank - 1] > 4) {
        return false;
    }
    static const size_t order[] = {2, 0, 1}; // of height, width and channels
    for (size_t i = 0; i < 3; i++) {
        sizes[i + 1] = old->sizes[first + order[i]];
        strides[i + 1] = old->strides[first + order[i]];
    }
    if (rank == 4) {
        sizes[0] = old->sizes[0];
        strides[0] = old->strides[0];
    }
    return make_view(opened, old, 4, sizes, strides, value);
}

static bool to_float(const opened_model *opened, const taper_tensor_info *old, taper_value **value)
{
    static const taper_dtype others[] = {TAPER_F64, TAPER_U8, TAPER_I32, TAPER_I64};
    bool other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        other = other || others[i] == old->dtype;
    }
    size_t count;
    float *data = other ? tensor_floats("input", old, &count) : NULL;
    if (data == NULL) {
        return false;
    }
    if (taper_value_tensor_from(opened->context, TAPER_F32, old->rank, old->sizes, NULL, data, count * sizeof *data, 0,
                                free, data, value, NULL) != TAPER_OK) {
        free(data);
        return false;
    }
    return true;
}

static const struct {
    change make;
    const char *what;
} changes[] = {
    {add_batch, "with a batch dimension"},
    {channels_first, "with the channels before height and width"},
    {to_float, "converted"},
};

// "float32 [1, 3, 96, 96]"
static void describe(const taper_tensor_info *info, char text[512])
{
    size_t used = (size_t)snprintf(text, 512, "%s [", taper_dtype_name(info->dtype));
    for (size_t i = 0; i < info->rank; i++) { // at most 16 numbers of 20 characters
        used += (size_t)snprintf(text + used, 512 - used, "%s%lld", i != 0 ? ", " : "", (long long)info->sizes[i]);
    }
    snprintf(text + used, 512 - used, "]");
}

static bool would_run(const opened_model *opened, const char *method, const call_inputs *inputs)
{
    taper_value *result;
    if (taper_session_run(opened->session, method, inputs->values, inputs->count, &result, NULL) != TAPER_OK) {
        return false;
    }
    taper_value_release(result);
    return true;
}

static bool try_change(const opened_model *opened, const char *method, const call_inputs *inputs, size_t index,
                       size_t number)
{
    taper_tensor_info old = {.struct_size = sizeof old}, new = {.struct_size = sizeof new};
    taper_value *given = inputs->values[index], *changed;
    char before[512], after[512];
    if (taper_value_kind(given) != TAPER_KIND_TENSOR || taper_value_get_tensor(given, &old, NULL) != TAPER_OK ||
        !changes[number].make(opened, &old, &changed)) {
        return false;
    }
    inputs->values[index] = changed;
    const bool found = taper_value_get_tensor(changed, &new, NULL) == TAPER_OK && would_run(opened, method, inputs);
    inputs->values[index] = given;
    if (found) {
        describe(&old, before);
        describe(&new, after);
        fprintf(stderr, "input %zu is %s; the model takes it %s: %s\n", index, before, changes[number].what, after);
    }
    taper_value_release(changed);
    return found;
}

// What was given, where the model refuses it: "input 0 (x): float32 [1, 4, 96, 96]".
static void tell_inputs(const opened_model *opened, const char *method, const call_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        taper_tensor_info info = {.struct_size = sizeof info};
        char text[512];
        const char *name = taper_model_argument_name(opened->model, method != NULL ? method : "forward", i);
        if (taper_value_kind(inputs->values[i]) != TAPER_KIND_TENSOR ||
            taper_value_get_tensor(inputs->values[i], &info, NULL) != TAPER_OK) {
            continue;
        }
        describe(&info, text);
        fprintf(stderr, "input %zu", i);
        if (name != NULL) {
            fputs(" (", stderr);
            text_put(stderr, name, strlen(name), false);
            fputc(')', stderr);
        }
        fprintf(stderr, " was %s\n", text);
    }
}

bool inputs_run(const opened_model *opened, const char *method, const call_inputs *inputs, taper_value **result)
{
    if (model_run(opened, method, inputs->values, inputs->count, result)) {
        return true;
    }
    const taper_status status = taper_error_status(opened->error);
    bool found = status != TAPER_ERROR_ARGUMENT; // time, memory, or what the model itself says
    for (size_t number = 0; !found && number < sizeof changes / sizeof *changes; number++) {
        for (size_t i = 0; !found && i < inputs->count; i++) {
            found = try_change(opened, method, inputs, i, number);
        }
    }
    if (!found) {
        char module[1024];
        tell_inputs(opened, method, inputs);
        if (failing_layer(opened, method, inputs, module, sizeof module)) {
            fputs("refused in ", stderr);
            text_put(stderr, module, strlen(module), false);
            fputc('\n', stderr);
        }
    }
    return false;
}
