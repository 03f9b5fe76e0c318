// SPDX-License-Identifier: BSD-2-Clause
// Runs the steps of operators that gradients consist of.
#include <assert.h>

#include "ops/gradient/steps.h"

const taper_val taper_step_none[1] = {{.tag = TAPER_NONE}};
const taper_val taper_step_bools[2] = {{.tag = TAPER_BOOLEAN, .as.i = 0}, {.tag = TAPER_BOOLEAN, .as.i = 1}};
#define NUMBER(n)                                                                                                      \
    {                                                                                                                  \
        .tag = TAPER_INT, .as.i = (n)                                                                                  \
    }
const taper_val taper_step_ints[16] = {NUMBER(-4), NUMBER(-3), NUMBER(-2), NUMBER(-1), NUMBER(0), NUMBER(1),
                                       NUMBER(2),  NUMBER(3),  NUMBER(4),  NUMBER(5),  NUMBER(6), NUMBER(7),
                                       NUMBER(8),  NUMBER(9),  NUMBER(10), NUMBER(11)};

void taper_steps_fail(taper_steps *s, taper_status status)
{
    s->status = s->status == TAPER_OK ? status : s->status;
}

taper_step_value taper_steps_keep(taper_steps *s, taper_val value)
{
    if (s->count == TAPER_STEPS_VALUES) {
        taper_val_release(value);
        taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_INTERNAL, "a gradient of too many steps"));
        return taper_step_none;
    }
    s->values[s->count] = value;
    return &s->values[s->count++];
}

void taper_steps_release(taper_steps *s, size_t count)
{
    while (s->count > count) {
        taper_val_release(s->values[--s->count]);
    }
}

void taper_steps_carry(taper_steps *s, size_t count, taper_step_value *values, size_t value_count)
{
    enum { MOST = 4 };
    taper_val carried[MOST];
    assert(value_count <= MOST);
    for (size_t i = 0; i < value_count; i++) {
        carried[i] = taper_val_retain(*values[i]);
    }
    taper_steps_release(s, count);
    for (size_t i = 0; i < value_count; i++) {
        values[i] = taper_steps_keep(s, carried[i]);
    }
}

taper_step_value taper_steps_call1(taper_steps *s, unsigned row, taper_step_value a)
{
    return taper_steps_call(s, row, 1, &a);
}

taper_step_value taper_steps_call2(taper_steps *s, unsigned row, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP_MANY(s, row, a, b);
}

taper_step_value taper_steps_call3(taper_steps *s, unsigned row, taper_step_value a, taper_step_value b,
                                   taper_step_value c)
{
    return TAPER_STEP_MANY(s, row, a, b, c);
}

taper_step_value taper_steps_call4(taper_steps *s, unsigned row, taper_step_value a, taper_step_value b,
                                   taper_step_value c, taper_step_value d)
{
    return TAPER_STEP_MANY(s, row, a, b, c, d);
}

taper_step_value taper_steps_call(taper_steps *s, unsigned row, size_t count, const taper_step_value *args)
{
    taper_step_value result;
    taper_steps_call_all(s, row, count, args, &result, 1);
    return result;
}

static void call_row(taper_steps *s, const taper_op *op, size_t count, const taper_step_value *args,
                     taper_step_value *results, size_t result_count)
{
    enum { MOST = 16, MOST_RESULTS = 8 };
    const taper_schema *schema;
    taper_val full[MOST], rets[MOST_RESULTS];
    taper_run *const run = s->call->run;
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        rets[i] = taper_val_none();
    }
    taper_steps_fail(s, taper_registry_schema(run->registry, op, &schema, run->error));
    if (s->status != TAPER_OK) {
        return;
    }
    assert(schema->arg_count <= MOST && schema->ret_count <= MOST_RESULTS);
    for (size_t i = 0; i < schema->arg_count; i++) {
        full[i] = i < count ? *args[i] : schema->args[i].default_value;
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

void taper_steps_call_all(taper_steps *s, unsigned row, size_t count, const taper_step_value *args,
                          taper_step_value *results, size_t result_count)
{
    for (size_t i = 0; i < result_count; i++) {
        results[i] = taper_step_none;
    }
    if (row == TAPER_STEP_NO_ROW && s->status == TAPER_OK) {
        taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_UNSUPPORTED,
                                       "this build lacks an operator that gradients need"));
    }
    if (s->status == TAPER_OK) {
        call_row(s, &taper_ops[row], count, args, results, result_count);
    }
}

taper_step_value taper_steps_new_list(taper_steps *s, const taper_type *type, size_t count)
{
    taper_list *const list = s->status == TAPER_OK ? taper_list_new(s->call->run->heap, type, count) : NULL;
    if (list == NULL) {
        taper_steps_fail(s, s->status == TAPER_OK ? taper_fail_memory(s->call->run->error) : TAPER_OK);
        return taper_step_none;
    }
    return taper_steps_keep(s, TAPER_VAL(list));
}

static void append(const taper_steps *s, taper_step_value list, taper_val value)
{
    if (s->status == TAPER_OK) {
        list->as.list->items[list->as.list->count++] = value;
    }
}

void taper_steps_append(const taper_steps *s, taper_step_value list, taper_step_value value)
{
    append(s, list, s->status == TAPER_OK ? taper_val_retain(*value) : taper_val_none());
}

void taper_steps_collect(taper_steps *s, taper_step_value list, taper_step_value value)
{
    if (s->status == TAPER_OK) {
        taper_steps_append(s, list, value);
        taper_steps_release(s, (size_t)(list - s->values) + 1);
    }
}

taper_step_value taper_steps_ints(taper_steps *s, const int64_t *numbers, size_t count)
{
    const taper_step_value list = taper_steps_new_list(s, &taper_type_int, count);
    for (size_t i = 0; i < count; i++) {
        append(s, list, taper_val_int(numbers[i]));
    }
    return list;
}

taper_step_value taper_steps_list(taper_steps *s, const taper_step_value *tensors, size_t count)
{
    const taper_step_value list = taper_steps_new_list(s, &taper_type_tensor, count);
    for (size_t i = 0; i < count; i++) {
        taper_steps_append(s, list, tensors[i]);
    }
    return list;
}

taper_step_value taper_steps_string(taper_steps *s, const char *text)
{
    taper_string *const string = taper_string_new(s->call->run->heap, text, strlen(text));
    if (string == NULL) {
        taper_steps_fail(s, taper_fail_memory(s->call->run->error));
        return taper_step_none;
    }
    return taper_steps_keep(s, TAPER_VAL(string));
}

taper_status taper_steps_ret(taper_steps *s, size_t at, taper_step_value value)
{
    if (s->status == TAPER_OK) {
        taper_ret(s->call, at, taper_val_retain(*value));
    }
    return s->status;
}

taper_step_value taper_step_int(taper_steps *s, int64_t number)
{
    return number >= -4 && number < 12 ? TAPER_STEP_INT(number) : taper_steps_keep(s, taper_val_int(number));
}

taper_step_value taper_step_double(taper_steps *s, double number)
{
    return taper_steps_keep(s, taper_val_double(number));
}

int64_t taper_steps_int_or(const taper_steps *s, size_t at, int64_t otherwise)
{
    return taper_steps_is_none(s, at) ? otherwise : taper_steps_int(s, at);
}

double taper_steps_double(taper_steps *s, size_t at)
{
    double number = 0;
    taper_steps_fail(s, taper_arg_double(s->call, at, &number));
    return number;
}

double taper_steps_double_or(taper_steps *s, size_t at, double otherwise)
{
    return taper_steps_is_none(s, at) ? otherwise : taper_steps_double(s, at);
}

const taper_tensor *taper_steps_tensor(const taper_steps *s, taper_step_value value)
{
    return s->status == TAPER_OK && value->tag == TAPER_TENSOR ? value->as.tensor : NULL;
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
    if (type->kind == TAPER_TYPE_INT || type->kind == TAPER_TYPE_BOOL) {
        return value.tag == TAPER_INT || value.tag == TAPER_BOOLEAN;
    }
    return (type->kind != TAPER_TYPE_TENSOR || value.tag == TAPER_TENSOR) &&
           (type->kind != TAPER_TYPE_STRING || value.tag == TAPER_STRING);
}

static taper_status check_arguments(const taper_steps *s)
{
    const taper_call *const call = s->call;
    for (size_t i = 0; call->schema != NULL && i < call->schema->arg_count; i++) {
        if (i >= call->arg_count || !fits(call->schema->args[i].type, s->args[i])) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' has a wrong type",
                       taper_arg_name(call, i));
        }
    }
    return TAPER_OK;
}

taper_status taper_steps_run(taper_call *call, taper_status (*steps)(taper_steps *s))
{
    taper_steps s;
    s.call = call;
    s.caller = (taper_tape_caller){call->run, call->run->tape != NULL && call->run->tape->records_steps};
    s.status = TAPER_OK;
    s.count = 0;
    assert(call->arg_count <= TAPER_STEPS_ARGS);
    memcpy(s.args, call->args, call->arg_count * sizeof *s.args);
    TAPER_TRY(check_arguments(&s));
    taper_steps_fail(&s, steps(&s));
    taper_steps_release(&s, 0);
    return s.status;
}
