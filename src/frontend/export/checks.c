// SPDX-License-Identifier: BSD-2-Clause
// Makes the checks at the start of every run. Inputs must have the sizes for which the program was exported. Sizes with
// the same symbol must be equal and within the symbol's range. Constants must equal the constants of the export.
#include <stdio.h>

#include "base/name_map.h"
#include "frontend/export/parts.h"

// A symbol, and the dimension of an input in which it occurred first.
typedef struct symbol {
    taper_ir_value *size;
    size_t input, dim;
} symbol;

typedef struct checking {
    taper_export_lowering *l;
    const char *const *names; // names of the inputs from the caller, for messages
    symbol *symbols;
    size_t count, capacity;
    taper_name_map met;    // maps the expression of each symbol to the symbol's index in `symbols`
    taper_name_map ranges; // maps each symbol to the index of its range in the program
    size_t input;          // index of the input being checked
} checking;

static taper_status size_of(taper_export_lowering *l, taper_ir_value *x, size_t dim, taper_ir_value **size)
{
    taper_ir_value *number;
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_int((int64_t)dim), &number));
    return TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_size_int), size, x, number);
}

static taper_status expect_number(taper_export_lowering *l, const taper_op *compare, taper_ir_value *have, int64_t want,
                                  const char *text)
{
    taper_ir_value *number, *same;
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_int(want), &number));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, compare, &same, have, number));
    return taper_emit_assert(&l->emit, same, text);
}

// Parses "Symbol('s0', positive=True, integer=True)" or "s0". Returns the start of the name within the text, and its
// length in *length, or NULL for any other text.
static const char *symbol_name(const char *expression, size_t *length)
{
    static const char begin[] = "Symbol('";
    const bool wrapped = strncmp(expression, begin, sizeof begin - 1) == 0;
    const char *name = wrapped ? expression + sizeof begin - 1 : expression;
    *length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    const bool whole = wrapped ? name[*length] == '\'' : name[*length] == '\0';
    return whole && *length != 0 ? name : NULL;
}

static taper_status check_range(checking *c, taper_ir_value *size, size_t dim, const char *name, size_t length)
{
    taper_export_lowering *l = c->l;
    char text[320];
    const size_t *at = taper_name_find(l->module->allocator, &c->ranges, name, length);
    if (at == NULL) {
        return TAPER_OK;
    }
    const taper_pt2_range *range = &l->program->ranges[*at];
    // By default PyTorch's symbols start at 2, but smaller sizes work too, so a bound of 2 is not checked.
    if (range->least > 2) {
        (void)snprintf(text, sizeof text, "input %zu (%.100s): dimension %zu should be at least %lld", c->input,
                       c->names[c->input], dim, (long long)range->least);
        TAPER_TRY(expect_number(l, TAPER_OP(aten_ge_int), size, range->least, text));
    }
    if (range->most < INT64_MAX / 2) {
        (void)snprintf(text, sizeof text, "input %zu (%.100s): dimension %zu should be at most %lld", c->input,
                       c->names[c->input], dim, (long long)range->most);
        TAPER_TRY(expect_number(l, TAPER_OP(aten_le_int), size, range->most, text));
    }
    return TAPER_OK;
}

static taper_status check_symbol(checking *c, taper_ir_value *x, size_t dim, const char *expression)
{
    taper_export_lowering *l = c->l;
    const taper_allocator *allocator = l->module->allocator;
    size_t length;
    const char *name = symbol_name(expression, &length);
    taper_ir_value *size, *same;
    if (name == NULL) {
        return TAPER_OK; // the size is computed from other sizes, which are checked
    }
    TAPER_TRY(size_of(l, x, dim, &size));
    const size_t *met = taper_name_find(allocator, &c->met, expression, strlen(expression));
    if (met != NULL) {
        const symbol *s = &c->symbols[*met];
        char text[480];
        (void)snprintf(text, sizeof text,
                       "input %zu (%.100s): dimension %zu should be as large as dimension %zu of input %zu (%.100s)",
                       c->input, c->names[c->input], dim, s->dim, s->input, c->names[s->input]);
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_eq_int), &same, size, s->size));
        return taper_emit_assert(&l->emit, same, text);
    }
    TAPER_TRY(TAPER_GROW(allocator, c->symbols, c->capacity, c->count + 1, l->emit.error));
    TAPER_TRY(taper_name_add(allocator, &c->met, expression, strlen(expression), c->count, l->emit.error));
    c->symbols[c->count++] = (symbol){size, c->input, dim};
    return check_range(c, size, dim, name, length);
}

static void describe(const taper_pt2_meta *meta, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t d = 0; d < meta->rank && used + 24 < room; d++) {
        used +=
            (size_t)(meta->sizes[d].expression != NULL ? snprintf(text + used, room - used, "%s?", d != 0 ? "x" : "")
                                                       : snprintf(text + used, room - used, "%s%lld", d != 0 ? "x" : "",
                                                                  (long long)meta->sizes[d].as.i));
    }
}

static taper_status check_tensor(checking *c, taper_ir_value *x, const taper_pt2_meta *meta)
{
    taper_export_lowering *l = c->l;
    taper_ir_value *have, *want;
    char sizes[16 * 24], text[sizeof sizes + 200];
    int64_t numbers[TAPER_MAX_RANK];
    bool open = false;
    describe(meta, sizes, sizeof sizes);
    (void)snprintf(text, sizeof text, "input %zu (%.100s) should be a tensor of sizes %s%s", c->input,
                   c->names[c->input], meta->rank != 0 ? sizes : "[]",
                   strchr(sizes, '?') != NULL ? ", where ? is any size" : "");
    for (size_t d = 0; d < meta->rank; d++) {
        open = open || meta->sizes[d].expression != NULL;
        numbers[d] = meta->sizes[d].as.i;
    }
    if (!open) {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_size), &have, x));
        TAPER_TRY(taper_emit_int_list(&l->emit, numbers, meta->rank, &want));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_eq_int_list), &have, have, want));
        return taper_emit_assert(&l->emit, have, text);
    }
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_dim), &have, x));
    TAPER_TRY(expect_number(l, TAPER_OP(aten_eq_int), have, (int64_t)meta->rank, text));
    for (size_t d = 0; d < meta->rank; d++) {
        if (meta->sizes[d].expression != NULL) {
            TAPER_TRY(check_symbol(c, x, d, meta->sizes[d].expression));
            continue;
        }
        TAPER_TRY(size_of(l, x, d, &have));
        TAPER_TRY(expect_number(l, TAPER_OP(aten_eq_int), have, numbers[d], text));
    }
    return TAPER_OK;
}

// Checks an argument that is not a tensor. The argument must equal the constant in the program.
static taper_status check_constant(checking *c, taper_ir_value *x, const taper_pt2_argument *argument)
{
    taper_export_lowering *l = c->l;
    char text[256];
    const taper_op *compare;
    taper_ir_value *want, *same;
    switch (argument->kind) {
    case TAPER_PT2_INT:
        compare = TAPER_OP(aten_eq_int);
        break;
    case TAPER_PT2_FLOAT:
        compare = TAPER_OP(aten_eq_float);
        break;
    case TAPER_PT2_BOOL:
        compare = TAPER_OP(aten_eq_bool);
        break;
    case TAPER_PT2_STRING:
        compare = TAPER_OP(aten_eq_str);
        break;
    default:
        return TAPER_OK;
    }
    (void)snprintf(text, sizeof text, "input %zu (%.100s) should be what it was when the program was exported",
                   c->input, c->names[c->input]);
    TAPER_TRY(taper_export_value(l, NULL, argument, NULL, &want));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, compare, &same, x, want));
    return taper_emit_assert(&l->emit, same, text);
}

static taper_status check_all(checking *c, taper_ir_value *const *inputs)
{
    const taper_pt2_program *p = c->l->program;
    for (size_t i = 0; i < p->range_count; i++) {
        const char *name = p->ranges[i].name;
        TAPER_TRY(taper_name_add(c->l->module->allocator, &c->ranges, name, strlen(name), i, c->l->emit.error));
    }
    for (size_t i = 0; i < p->input_count; i++) {
        const taper_pt2_input *input = &p->inputs[i];
        if (input->kind == TAPER_PT2_INPUT_CONSTANT) {
            TAPER_TRY(check_constant(c, inputs[i], &input->argument));
        } else if (input->kind == TAPER_PT2_INPUT_USER && input->argument.kind == TAPER_PT2_VALUE) {
            const taper_pt2_value *value = &p->graph->values[input->argument.as.value];
            if (value->type == TAPER_PT2_TYPE_TENSOR && value->meta != NULL) {
                TAPER_TRY(check_tensor(c, inputs[i], value->meta));
            }
        }
        c->input += input->kind == TAPER_PT2_INPUT_CONSTANT || input->kind == TAPER_PT2_INPUT_USER;
    }
    return TAPER_OK;
}

taper_status taper_export_check_inputs(taper_export_lowering *l, taper_ir_value *const *inputs,
                                       const char *const *names)
{
    checking c = {.l = l, .names = names};
    const taper_status status = check_all(&c, inputs);
    taper_free(l->module->allocator, c.symbols, c.capacity * sizeof *c.symbols);
    taper_name_free(l->module->allocator, &c.met);
    taper_name_free(l->module->allocator, &c.ranges);
    return status;
}
