// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of operators that gradients consist of.
#include <assert.h>

#include "ops/gradient/steps.h"

void taper_steps_begin(taper_steps *s, taper_run *run)
{
    s->run = run;
    s->caller = (taper_tape_caller){run, run->tape != NULL && run->tape->records_steps};
    s->status = TAPER_OK;
    s->count = 0;
}

void taper_steps_fail(taper_steps *s, taper_status status)
{
    s->status = s->status == TAPER_OK ? status : s->status;
}

taper_val taper_steps_keep(taper_steps *s, taper_val value)
{
    if (s->count == TAPER_STEPS_VALUES) {
        taper_val_release(value);
        taper_steps_fail(s, taper_fail(s->run->error, TAPER_ERROR_INTERNAL, "a gradient of too many steps"));
        return taper_val_none();
    }
    s->values[s->count++] = value;
    return value;
}

taper_val taper_steps_call(taper_steps *s, const taper_op *op, size_t count, const taper_val *args)
{
    taper_val result;
    taper_steps_call_all(s, op, count, args, &result, 1);
    return result;
}

void taper_steps_call_all(taper_steps *s, const taper_op *op, size_t count, const taper_val *args, taper_val *results,
                          size_t result_count)
{
    enum { MOST = 16, MOST_RESULTS = 8 };
    const taper_schema *schema;
    taper_val full[MOST], rets[MOST_RESULTS];
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        rets[i] = taper_val_none();
    }
    for (size_t i = 0; i < result_count; i++) {
        results[i] = taper_val_none();
    }
    if (s->status != TAPER_OK) {
        return;
    }
    if (op == NULL) {
        taper_steps_fail(
            s, taper_fail(s->run->error, TAPER_ERROR_UNSUPPORTED, "this build lacks an operator that gradients need"));
        return;
    }
    taper_steps_fail(s, taper_registry_schema(s->run->registry, op, &schema, s->run->error));
    if (s->status != TAPER_OK) {
        return;
    }
    assert(schema->arg_count <= MOST && schema->ret_count <= MOST_RESULTS);
    for (size_t i = 0; i < schema->arg_count; i++) {
        full[i] = i < count ? args[i] : schema->args[i].default_value;
    }
    taper_steps_fail(s, taper_tape_call_op(&s->caller, op, full, schema->arg_count, rets, schema->ret_count));
    for (size_t i = 0; i < schema->ret_count; i++) {
        if (i < result_count) {
            results[i] = taper_steps_keep(s, rets[i]);
        } else {
            taper_val_release(rets[i]);
        }
    }
}

static taper_val list_of(taper_steps *s, const taper_type *type, const taper_val *items, size_t count)
{
    taper_list *const list = s->status == TAPER_OK ? taper_list_new(s->run->heap, type, count) : NULL;
    if (list == NULL) {
        taper_steps_fail(s, s->status == TAPER_OK ? taper_fail_memory(s->run->error) : TAPER_OK);
        return taper_val_none();
    }
    for (size_t i = 0; i < count; i++) {
        list->items[list->count++] = taper_val_retain(items[i]);
    }
    return taper_steps_keep(s, TAPER_VAL(list));
}

taper_val taper_steps_ints(taper_steps *s, const int64_t *numbers, size_t count)
{
    taper_val items[2 * TAPER_MAX_RANK];
    for (size_t i = 0; i < count; i++) {
        items[i] = taper_val_int(numbers[i]);
    }
    return list_of(s, &taper_type_int, items, count);
}

taper_val taper_steps_list(taper_steps *s, const taper_val *tensors, size_t count)
{
    return list_of(s, &taper_type_tensor, tensors, count);
}

taper_val taper_steps_string(taper_steps *s, const char *text)
{
    taper_string *const string = taper_string_new(s->run->heap, text, strlen(text));
    if (string == NULL) {
        taper_steps_fail(s, taper_fail_memory(s->run->error));
        return taper_val_none();
    }
    return taper_steps_keep(s, TAPER_VAL(string));
}

void taper_steps_ret(taper_steps *s, taper_call *call, size_t at, taper_val value)
{
    if (s->status == TAPER_OK) {
        taper_ret(call, at, taper_val_retain(value));
    }
}

taper_status taper_steps_end(taper_steps *s)
{
    for (size_t i = 0; i < s->count; i++) {
        taper_val_release(s->values[i]);
    }
    s->count = 0;
    return s->status;
}

static bool fits(const taper_type *type, taper_val value)
{
    if (type->kind == TAPER_TYPE_OPTIONAL) {
        return value.tag == TAPER_NONE || fits(type->items[0], value);
    }
    if (type->kind == TAPER_TYPE_LIST) {
        bool all = value.tag == TAPER_LIST;
        for (size_t i = 0; all && i < value.as.list->count; i++) {
            all = fits(type->items[0], value.as.list->items[i]);
        }
        return all || (type->items[0]->kind != TAPER_TYPE_TENSOR && type->items[0]->kind != TAPER_TYPE_BOOL &&
                       (value.tag == TAPER_INT || value.tag == TAPER_DOUBLE)); // one number may stand for a list
    }
    return (type->kind != TAPER_TYPE_TENSOR || value.tag == TAPER_TENSOR) &&
           (type->kind != TAPER_TYPE_STRING || value.tag == TAPER_STRING);
}

taper_status taper_steps_check(const taper_call *call)
{
    for (size_t i = 0; call->schema != NULL && i < call->schema->arg_count && i < call->arg_count; i++) {
        if (!fits(call->schema->args[i].type, call->args[i])) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' has a wrong type",
                       taper_arg_name(call, i));
        }
    }
    return TAPER_OK;
}
