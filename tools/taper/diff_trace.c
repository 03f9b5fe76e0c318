// SPDX-License-Identifier: BSD-2-Clause
// Observed runs: records the tensors that operators compute, in order, and the leaves of the result.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/result.h"
#include "common/tensor_data.h"
#include "taper/diff.h"

typedef struct recorder {
    const opened_model *opened;
    diff_trace *results; // trace that receives the records; NULL if `visit` is called instead
    diff_keep keep;
    diff_visit visit;
    void *user;
    size_t index;
    bool failed;
} recorder;

static diff_record *add_record(diff_trace *trace)
{
    if (trace->count == trace->capacity) {
        const size_t capacity = trace->capacity != 0 ? 2 * trace->capacity : 256;
        diff_record *items = realloc(trace->items, capacity * sizeof *items);
        if (items == NULL) {
            error_report_memory(NULL);
            return NULL;
        }
        trace->items = items;
        trace->capacity = capacity;
    }
    return &trace->items[trace->count++];
}

void diff_trace_release(diff_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        free(trace->items[i].data);
    }
    free(trace->items);
    *trace = (diff_trace){0};
}

static void take_module(void *user, const char *text, size_t length)
{
    // PyTorch's quantized linear layers store their weights in this attribute, which is not a module.
    static const char packed[] = "._packed_params";
    diff_record *record = user;
    const size_t end = sizeof packed - 1;
    length -= length > end && memcmp(text + length - end, packed, end) == 0 ? end : 0;
    snprintf(record->module, sizeof record->module, "%.*s", (int)(length < 1000 ? length : 1000), text);
}

static bool fill(diff_record *record, const opened_model *opened, const taper_value *value, bool data)
{
    if (!tensor_info(record->name, value, opened->error, &record->info)) {
        return false;
    }
    // A tensor of higher rank is refused, because a newer version of the library may allow more dimensions.
    if (record->info.rank > TAPER_MAX_RANK) {
        return error_report(record->name, "more than %d dimensions", TAPER_MAX_RANK);
    }
    memcpy(record->sizes, record->info.sizes, record->info.rank * sizeof *record->sizes);
    record->data = data ? tensor_gather(record->name, &record->info, &record->bytes) : NULL;
    record->info.data = NULL;
    record->info.sizes = record->info.strides = NULL;
    return !data || record->data != NULL;
}

// ---- operators

// Returns false for constants and containers. Constants of the model are observed again where they are used. Items of
// containers were recorded when they were computed.
static bool is_recorded(const taper_observation *o)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    return strncmp(o->name, "prim::GetAttr", o->name_length) != 0 && taper_value_kind(o->result) == TAPER_KIND_TENSOR &&
           taper_value_get_tensor(o->result, &info, NULL) == TAPER_OK && taper_dtype_size(info.dtype) != 0;
}

static bool record_result(const recorder *r, const taper_observation *o)
{
    diff_record record = {.method = o->method, .value = o->value, .stands_for = o->source_value, .node = o->node};
    snprintf(record.name, sizeof record.name, "%.*s", (int)(o->name_length < 90 ? o->name_length : 90), o->name);
    const bool data = r->results == NULL || r->keep == DIFF_KEEP_DATA;
    if (!fill(&record, r->opened, o->result, data)) {
        return false;
    }
    if (r->results == NULL) {
        const bool done = r->visit(r->user, r->index, &record);
        free(record.data);
        return done;
    }
    if (taper_inspect_place(r->opened->model, o->node, TAPER_PLACE_MODULE, take_module, &record, r->opened->error) !=
        TAPER_OK) {
        free(record.data);
        return error_report_library(r->opened->path, r->opened->error);
    }
    diff_record *added = add_record(r->results);
    if (added == NULL) {
        free(record.data);
        return false;
    }
    *added = record;
    return true;
}

static void observe(void *user, const taper_observation *observation)
{
    recorder *r = user;
    if (!r->failed && is_recorded(observation)) {
        r->failed = !record_result(r, observation);
        r->index++;
    }
}

// ---- the method's result

typedef struct leaves {
    const opened_model *opened;
    diff_trace *outputs;
} leaves;

// Fills the record of a leaf. A number becomes a tensor with one element; strings and None become tensors of bytes.
static bool fill_leaf(diff_record *record, const opened_model *opened, const taper_value *leaf)
{
    double numbers[2] = {0, 0};
    int64_t integer;
    int flag;
    const char *text = "";
    size_t length = 0;
    const void *data = numbers;
    record->bytes = sizeof(double);
    record->info.dtype = TAPER_F64;
    if (taper_value_kind(leaf) == TAPER_KIND_TENSOR) {
        return fill(record, opened, leaf, true);
    }
    if (taper_value_get_int(leaf, &integer, NULL) == TAPER_OK) {
        record->info.dtype = TAPER_I64;
        data = &integer;
    } else if (taper_value_get_bool(leaf, &flag, NULL) == TAPER_OK) {
        numbers[0] = flag;
    } else if (taper_value_get_complex(leaf, &numbers[0], &numbers[1], NULL) == TAPER_OK) {
        record->info.dtype = TAPER_C128;
        record->bytes = sizeof numbers;
    } else if (taper_value_get_double(leaf, &numbers[0], NULL) != TAPER_OK) {
        if (taper_value_get_string(leaf, &text, &length, NULL) != TAPER_OK) {
            length = 0;
        }
        record->info = (taper_tensor_info){.dtype = TAPER_U8, .rank = 1};
        record->sizes[0] = (int64_t)length;
        record->bytes = length;
        data = text;
    }
    record->data = malloc(record->bytes + 1);
    if (record->data == NULL) {
        return error_report_memory(record->name);
    }
    memcpy(record->data, data, record->bytes);
    return true;
}

static bool record_leaf(void *user, const char *path, size_t path_length, const taper_value *leaf)
{
    const leaves *l = user;
    diff_record record = {0};
    snprintf(record.name, sizeof record.name, "%.*s", (int)(path_length < 90 ? path_length : 90), path);
    diff_record *added = fill_leaf(&record, l->opened, leaf) ? add_record(l->outputs) : NULL;
    if (added == NULL) {
        free(record.data);
        return false;
    }
    *added = record;
    return true;
}

// ---- runs

// Uses a new session, so that changes to the model's state in an earlier run have no effect.
static bool run(recorder *r, const char *method, const call_inputs *inputs, diff_trace *outputs)
{
    const opened_model *opened = r->opened;
    taper_session *session;
    taper_value *result = NULL;
    if (taper_session_create(opened->model, NULL, &session, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    taper_session_observe(session, observe, r);
    bool done = taper_session_run(session, method, inputs->values, inputs->count, &result, opened->error) == TAPER_OK ||
                error_report_library(opened->path, opened->error);
    if (done && outputs != NULL) {
        leaves l = {opened, outputs};
        done = result_walk("output", result, opened->error, record_leaf, &l);
    }
    taper_value_release(result);
    taper_session_destroy(session);
    return done && !r->failed;
}

bool diff_trace_run(const opened_model *opened, const char *method, const call_inputs *inputs, diff_keep keep,
                    diff_trace *results, diff_trace *outputs)
{
    recorder r = {.opened = opened, .results = results, .keep = keep};
    return run(&r, method, inputs, outputs);
}

bool diff_trace_again(const opened_model *opened, const char *method, const call_inputs *inputs, diff_visit visit,
                      void *user)
{
    recorder r = {.opened = opened, .visit = visit, .user = user};
    return run(&r, method, inputs, NULL);
}
