// SPDX-License-Identifier: BSD-2-Clause
// The part of taper inspect that prints three facts about a model: the backend for which it was made, its quantization
// and its bundled inputs.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "taper/inspect_detail.h"

enum { DEPTH_LIMIT = 64, VISIT_LIMIT = 1 << 20, MOST_INPUTS = 64 };

// ---- backends

static const struct {
    const char *begin, *name; // prefix of the backend's operator names, and name of the backend
} packers[] = {
    {"prepacked::", "cpu"},
    {"vulkan_prepack::", "vulkan"},
    {"metal_prepack::", "metal"},
};
enum { PACKER_COUNT = sizeof packers / sizeof *packers };

static bool calls(const taper_model *model, const char *begin)
{
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        if (strncmp(taper_model_operator_name(model, i), begin, strlen(begin)) == 0) {
            return true;
        }
    }
    return false;
}

// Returns true if the value is or contains an object of PyTorch's NnapiModule.
static bool has_nnapi(const taper_value *value, int depth, size_t *visited)
{
    char type[256];
    if (taper_value_kind(value) != TAPER_KIND_OBJECT || depth > DEPTH_LIMIT || ++*visited > VISIT_LIMIT) {
        return false;
    }
    taper_value_type(value, type, sizeof type);
    bool found = strstr(type, "_nnapi.") != NULL;
    for (size_t i = 0; !found && i < taper_value_count(value); i++) {
        taper_value *item;
        if (taper_value_item(value, i, &item, NULL) == TAPER_OK) {
            found = has_nnapi(item, depth + 1, visited);
            taper_value_release(item);
        }
    }
    return found;
}

static bool is_for_nnapi(const opened_model *opened)
{
    taper_value *root;
    size_t visited = 0;
    if (opened->session == NULL || taper_session_attribute(opened->session, "", &root, NULL) != TAPER_OK) {
        return false;
    }
    const bool found = has_nnapi(root, 0, &visited);
    taper_value_release(root);
    return found;
}

// ---- quantization

static size_t quantized_operators(const taper_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        const char *name = taper_model_operator_name(model, i);
        count += strncmp(name, "quantized::", 11) == 0 ? taper_model_operator_calls(model, i) : 0;
    }
    return count;
}

// ---- bundled inputs

static void put_value(const taper_value *value, bool json)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    char type[128];
    if (taper_value_kind(value) == TAPER_KIND_TENSOR && taper_value_get_tensor(value, &info, NULL) == TAPER_OK) {
        printf(json ? "{\"dtype\": \"%s\", \"shape\": [" : "%s [", taper_dtype_name(info.dtype));
        for (size_t i = 0; i < info.rank; i++) {
            printf("%s%" PRId64, i != 0 ? ", " : "", info.sizes[i]);
        }
        fputs(json ? "]}" : "]", stdout);
        return;
    }
    taper_value_type(value, type, sizeof type);
    if (json) {
        fputs("{\"type\": ", stdout);
        json_put_text(stdout, type, strlen(type));
        fputc('}', stdout);
    } else {
        text_put(stdout, type, strlen(type), false);
    }
}

static bool put_sample(const opened_model *opened, const char *method, size_t index, bool json)
{
    taper_value *inputs[MOST_INPUTS];
    size_t count;
    if (taper_bundled_inputs(opened->session, method, index, inputs, MOST_INPUTS, &count, opened->error) != TAPER_OK) {
        fputs(json ? "null" : "cannot be made: ", stdout);
        if (!json) {
            const char *message = taper_error_message(opened->error);
            text_put(stdout, message, strlen(message), false);
        }
        return false;
    }
    fputs(json ? "[" : "", stdout);
    for (size_t i = 0; i < count; i++) {
        fputs(i != 0 ? ", " : "", stdout);
        put_value(inputs[i], json);
        taper_value_release(inputs[i]);
    }
    fputs(json ? "]" : "", stdout);
    return true;
}

static void put_samples(const opened_model *opened, const char *method, bool json)
{
    size_t count = 0;
    if (taper_bundled_count(opened->session, method, &count, opened->error) != TAPER_OK) {
        fputs(json ? "null" : "cannot be made: ", stdout);
        if (!json) {
            const char *message = taper_error_message(opened->error);
            text_put(stdout, message, strlen(message), false);
        }
        return;
    }
    if (!json) {
        printf("%zu%s", count, count != 0 ? ", the first: " : "");
    }
    for (size_t i = 0; i < (json || count == 0 ? count : 1); i++) {
        fputs(json && i != 0 ? ", " : "", stdout);
        if (!put_sample(opened, method, i, json)) {
            break;
        }
    }
}

static void put_bundled(const opened_model *opened, bool json)
{
    const char *method = opened->session != NULL ? taper_bundled_method(opened->model, 0) : NULL;
    if (!json && method != NULL) {
        fputs("\nbundled inputs\n", stdout);
    }
    for (size_t i = 0; method != NULL; i++) {
        if (json) {
            fputs(i != 0 ? ", " : "", stdout);
            json_put_text(stdout, method, strlen(method));
            fputs(": [", stdout);
        } else {
            fputs("  ", stdout);
            text_put(stdout, method, strlen(method), false);
            fputs("  ", stdout);
        }
        put_samples(opened, method, json);
        fputs(json ? "]" : "\n", stdout);
        method = taper_bundled_method(opened->model, i + 1);
    }
}

// ---- all facts

void inspect_put_facts(const opened_model *opened)
{
    for (size_t i = 0; i < PACKER_COUNT; i++) {
        if (calls(opened->model, packers[i].begin)) {
            printf("  prepared   for %s (%s)\n", packers[i].name, packers[i].begin);
        }
    }
    if (is_for_nnapi(opened)) {
        fputs("  prepared   for nnapi\n", stdout);
    }
    const size_t count = quantized_operators(opened->model);
    if (count != 0) {
        printf("  quantized  %zu call%s of operators on integers\n", count, count == 1 ? "" : "s");
    }
}

void inspect_put_bundled(const opened_model *opened)
{
    put_bundled(opened, false);
}

void inspect_put_facts_json(const opened_model *opened)
{
    bool first = true;
    fputs("  \"prepared_for\": [", stdout);
    for (size_t i = 0; i < PACKER_COUNT; i++) {
        if (calls(opened->model, packers[i].begin)) {
            printf("%s\"%s\"", first ? "" : ", ", packers[i].name);
            first = false;
        }
    }
    fputs(is_for_nnapi(opened) ? first ? "\"nnapi\"" : ", \"nnapi\"" : "", stdout);
    printf("],\n  \"quantized_calls\": %zu,\n  \"bundled_inputs\": {", quantized_operators(opened->model));
    put_bundled(opened, true);
    fputs("},\n", stdout);
}
