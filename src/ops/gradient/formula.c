// SPDX-License-Identifier: BSD-2-Clause
// Runs the code of a formula on a stack of values.
#include "ops/gradient/gradient.h"

typedef struct machine {
    const taper_gradient_formula *formula;
    const taper_formula_values *values;
    taper_val stack[TAPER_FORMULA_STACK]; // values of the stack machine; owned references
    size_t count;
} machine;

static taper_status push(machine *m, taper_val value) // takes over the reference
{
    if (m->count == TAPER_FORMULA_STACK) {
        taper_val_release(value);
        TAPER_FAIL(m->values->error, TAPER_ERROR_INTERNAL, "the formula of a gradient is too deep");
    }
    m->stack[m->count++] = value;
    return TAPER_OK;
}

static void drop(machine *m, size_t count)
{
    while (count-- != 0) {
        taper_val_release(m->stack[--m->count]);
    }
}

static taper_status make_list(machine *m, const taper_type *type, const taper_val *items, size_t count, taper_val *made)
{
    taper_list *const list = taper_list_new(m->values->heap, type, count);
    if (list == NULL) {
        return taper_fail_memory(m->values->error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[list->count++] = taper_val_retain(items[i]);
    }
    *made = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status push_list(machine *m, size_t count, unsigned kind)
{
    static const taper_type *const types[] = {&taper_type_list_tensor, &taper_type_list_int, &taper_type_list_float,
                                              &taper_type_list_bool};
    taper_val made;
    TAPER_TRY(make_list(m, types[kind]->items[0], m->stack + m->count - count, count, &made));
    drop(m, count);
    return push(m, made);
}

static taper_status push_mask(machine *m)
{
    taper_val bools[32], made;
    size_t count = 0;
    if (m->values->items != NULL) {
        taper_list *const list = taper_list_new(m->values->heap, &taper_type_bool, m->values->item_count);
        if (list == NULL) {
            return taper_fail_memory(m->values->error);
        }
        for (size_t i = 0; i < m->values->item_count; i++) {
            list->items[list->count++] = taper_val_bool(m->values->items[i]);
        }
        return push(m, TAPER_VAL(list));
    }
    for (unsigned i = 0; i < 32; i++) {
        if ((m->formula->targets >> i & 1) != 0) {
            bools[count++] = taper_val_bool((m->values->wanted >> i & 1) != 0);
        }
    }
    TAPER_TRY(make_list(m, &taper_type_bool, bools, count, &made));
    return push(m, made);
}

static taper_status push_grads(machine *m)
{
    taper_val made;
    TAPER_TRY(make_list(m, &taper_type_tensor, m->values->grads, m->values->grad_count, &made));
    return push(m, made);
}

static taper_status call(machine *m, size_t count, const taper_op *op)
{
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(m->values->registry, op, &schema, m->values->error));
    taper_val args[TAPER_FORMULA_STACK], rets[TAPER_FORMULA_STACK];
    const size_t base = m->count - count;
    for (size_t i = 0; i < schema->arg_count; i++) {
        const taper_val *const value = &m->stack[base + i];
        const bool given = i < count && (value->tag != TAPER_UNDEFINED || value->as.obj != NULL);
        args[i] = given ? *value : schema->args[i].default_value;
    }
    for (size_t i = 0; i < schema->ret_count; i++) {
        rets[i] = taper_val_none();
    }
    TAPER_TRY(m->values->call(m->values->user, op, args, schema->arg_count, rets, schema->ret_count));
    drop(m, count);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < schema->ret_count; i++) {
        if (status == TAPER_OK) {
            status = push(m, rets[i]);
        } else {
            taper_val_release(rets[i]);
        }
    }
    return status;
}

static taper_status pick(machine *m, size_t index, size_t of)
{
    const taper_val kept = taper_val_retain(m->stack[m->count - of + index]);
    drop(m, of);
    return push(m, kept);
}

// Runs the instruction at *at and moves *at to the next one.
static taper_status step(machine *m, const uint8_t **at)
{
    const taper_formula_values *const v = m->values;
    const uint8_t byte = *(*at)++;
    if (byte < TAPER_GRADIENT_RESULT) {
        const taper_val *const from = byte >= TAPER_GRADIENT_SHAPE && v->shapes != NULL ? v->shapes : v->args;
        return push(m, taper_val_retain(from[byte % TAPER_GRADIENT_SHAPE]));
    }
    if (byte < TAPER_GRADIENT_GRAD) {
        return push(m, taper_val_retain(v->results[byte - TAPER_GRADIENT_RESULT]));
    }
    if (byte < TAPER_GRADIENT_INT) {
        return push(m, taper_val_retain(v->grads[byte - TAPER_GRADIENT_GRAD]));
    }
    if (byte < TAPER_GRADIENT_FLOAT) {
        return push(m, taper_val_int(taper_gradient_int((size_t)(byte - TAPER_GRADIENT_INT))));
    }
    if (byte < TAPER_GRADIENT_GRADS) {
        return push(m, taper_val_double(taper_gradient_float((size_t)(byte - TAPER_GRADIENT_FLOAT))));
    }
    if (byte >= TAPER_GRADIENT_CALL) {
        size_t count;
        const taper_op *const op = taper_gradient_call(byte, at, &count);
        return call(m, count, op);
    }
    switch (byte) {
    case TAPER_GRADIENT_GRADS:
        return push_grads(m);
    case TAPER_GRADIENT_NONE:
        return push(m, taper_val_none());
    case TAPER_GRADIENT_FALSE:
    case TAPER_GRADIENT_TRUE:
        return push(m, taper_val_bool(byte == TAPER_GRADIENT_TRUE));
    case TAPER_GRADIENT_MASK:
        return push_mask(m);
    case TAPER_GRADIENT_DEFAULT:
        return push(m, (taper_val){.tag = TAPER_UNDEFINED, .as.obj = NULL});
    default: {
        const unsigned operand = *(*at)++;
        return byte == TAPER_GRADIENT_LIST ? push_list(m, operand / 4, operand % 4)
                                           : pick(m, operand / 16, operand % 16);
    }
    }
}

taper_status taper_formula_run(const taper_gradient_formula *formula, const taper_formula_values *values,
                               taper_val *found)
{
    machine m = {.formula = formula, .values = values, .count = 0};
    taper_status status = TAPER_OK;
    for (const uint8_t *at = formula->code; status == TAPER_OK && at < formula->end;) {
        status = step(&m, &at);
    }
    size_t targets = 0;
    for (uint32_t bits = formula->targets; bits != 0; bits &= bits - 1) {
        found[targets++] = taper_val_none();
    }
    for (size_t k = 0; status == TAPER_OK && k < targets; k++) {
        found[k] = taper_val_retain(m.stack[k]);
    }
    drop(&m, m.count);
    return status;
}
