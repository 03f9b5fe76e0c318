// SPDX-License-Identifier: BSD-2-Clause
// Writes the functions of a flatbuffer module.
#include "format/lite_flatbuffer_write.h"

static taper_fbb_ref put_instructions(taper_fb_writer *w, const taper_module_function *function)
{
    uint8_t *to;
    const taper_fbb_ref ref = taper_fbb_vector(&w->b, function->instruction_count, 8, 4, &to);
    for (size_t i = 0; i < function->instruction_count && to != NULL; i++) {
        const taper_lite_instruction *instruction = &function->instructions[i];
        const uint32_t head = (uint32_t)instruction->op | (uint32_t)instruction->n << 16;
        taper_store_u32(to + 8 * i, head);
        taper_store_u32(to + 8 * i + 4, (uint32_t)instruction->x);
    }
    return ref;
}

static taper_fbb_ref put_handles(taper_fb_writer *w, const taper_module_function *function)
{
    uint8_t *to;
    const taper_fbb_ref handles = taper_fbb_vector(&w->b, function->instruction_count, 8, 8, &to);
    for (size_t i = 0; i < function->instruction_count && to != NULL; i++) {
        taper_store_u64(to + 8 * i, (uint64_t)(int64_t)function->instructions[i].debug);
    }
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, handles);
    return taper_fbb_table_end(&w->b);
}

static taper_fbb_ref put_operator(taper_fb_writer *w, const taper_lite_operator *op)
{
    const taper_fbb_ref name = taper_fbb_shared_string(&w->b, op->name);
    const taper_fbb_ref overload = taper_fbb_shared_string(&w->b, op->overload);
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, name);
    taper_fbb_refer(&w->b, 1, overload);
    taper_fbb_number(&w->b, 2, 4, (uint32_t)op->arguments, UINT32_MAX);
    return taper_fbb_table_end(&w->b);
}

static taper_status put_type(taper_fb_writer *w, const taper_type *type, taper_fbb_ref *ref)
{
    const size_t *known = taper_pointer_find(&w->types, type);
    if (known != NULL) {
        *ref = (taper_fbb_ref)*known;
        return TAPER_OK;
    }
    taper_text text = taper_text_make(w->allocator);
    const bool fits = taper_write_type(type, &text);
    const char *kept = fits && !text.failed ? taper_arena_string(&w->arena, text.data, text.length) : NULL;
    w->type_text += text.length;
    taper_text_free(&text);
    if (!fits || w->type_text > TAPER_LIMIT_WRITTEN_TYPES) {
        TAPER_FAIL(w->error, TAPER_ERROR_RESOURCE, "its types are longer than readers take");
    }
    if (kept == NULL) {
        return taper_fail_memory(w->error);
    }
    *ref = taper_fbb_shared_string(&w->b, kept);
    return taper_pointer_add(w->allocator, &w->types, type, (size_t)*ref, w->error);
}

static taper_status put_argument(taper_fb_writer *w, const taper_module_argument *argument, taper_fbb_ref *ref)
{
    uint32_t value;
    taper_fbb_ref type;
    TAPER_TRY(taper_fb_write_value(w, argument->default_value, 0, &value));
    if (argument->type_text != NULL) {
        type = taper_fbb_shared_string(&w->b, argument->type_text);
    } else {
        TAPER_TRY(put_type(w, argument->type, &type));
    }
    const taper_fbb_ref name = taper_fbb_shared_string(&w->b, argument->name);
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, name);
    taper_fbb_refer(&w->b, 1, type);
    taper_fbb_number(&w->b, 2, 4, value, 0);
    *ref = taper_fbb_table_end(&w->b);
    return TAPER_OK;
}

// ---- vectors of instructions, operators and others

typedef struct parts {
    taper_fbb_ref instructions, operators, constants, types, arguments, returns, debug;
} parts;

static taper_status put_operators(taper_fb_writer *w, const taper_module_function *function, taper_fbb_ref *refs,
                                  parts *p)
{
    for (size_t i = 0; i < function->operator_count; i++) {
        refs[i] = put_operator(w, &function->operators[i]);
    }
    p->operators = taper_fbb_refs(&w->b, refs, function->operator_count);
    return TAPER_OK;
}

static taper_status put_types(taper_fb_writer *w, const taper_module_function *function, taper_fbb_ref *refs, parts *p)
{
    for (size_t i = 0; i < function->type_count; i++) {
        TAPER_TRY(put_type(w, function->types[i], &refs[i]));
    }
    p->types = taper_fbb_refs(&w->b, refs, function->type_count);
    return TAPER_OK;
}

static taper_status put_arguments(taper_fb_writer *w, const taper_module_argument *arguments, size_t count,
                                  taper_fbb_ref *refs, taper_fbb_ref *vector)
{
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(put_argument(w, &arguments[i], &refs[i]));
    }
    *vector = taper_fbb_refs(&w->b, refs, count);
    return TAPER_OK;
}

static taper_status put_constants(taper_fb_writer *w, const taper_module_function *function, uint32_t *indexes,
                                  parts *p)
{
    for (size_t i = 0; i < function->constant_count; i++) {
        TAPER_TRY(taper_fb_write_value(w, function->constants[i], 0, &indexes[i]));
    }
    p->constants = taper_fbb_u32s(&w->b, indexes, function->constant_count);
    return TAPER_OK;
}

static taper_status put_parts(taper_fb_writer *w, const taper_module_function *function, taper_fbb_ref *refs,
                              uint32_t *indexes, parts *p)
{
    TAPER_TRY(put_constants(w, function, indexes, p));
    TAPER_TRY(put_operators(w, function, refs, p));
    TAPER_TRY(put_types(w, function, refs, p));
    if (function->has_schema) {
        TAPER_TRY(put_arguments(w, function->arguments, function->argument_count, refs, &p->arguments));
        TAPER_TRY(put_arguments(w, function->returns, function->return_count, refs, &p->returns));
    }
    p->instructions = put_instructions(w, function);
    p->debug = w->with_handles ? put_handles(w, function) : 0;
    return TAPER_OK;
}

static taper_status check_instructions(const taper_fb_writer *w, const taper_module_function *function)
{
    for (size_t i = 0; i < function->instruction_count; i++) {
        if (function->instructions[i].op >= TAPER_LITE_OPCODE_COUNT) {
            TAPER_FAIL(w->error, TAPER_ERROR_ARGUMENT, "instruction %zu is the unknown %u", i,
                       function->instructions[i].op);
        }
    }
    return TAPER_OK;
}

static taper_status write_function(taper_fb_writer *w, const taper_module_function *function, size_t number,
                                   taper_fbb_ref *refs, uint32_t *indexes)
{
    parts p = {.instructions = 0};
    taper_fbb *b = &w->b;
    TAPER_TRY(check_instructions(w, function));
    TAPER_TRY(put_parts(w, function, refs, indexes, &p));
    taper_fbb_ref schema = 0;
    if (function->has_schema) {
        taper_fbb_table(b);
        taper_fbb_refer(b, 0, p.arguments);
        taper_fbb_refer(b, 1, p.returns);
        schema = taper_fbb_table_end(b);
    }
    const taper_fbb_ref name = taper_fbb_shared_string(b, function->name);
    taper_fbb_table(b);
    w->function_types[number] = taper_fbb_place(b, 8, 0);
    taper_fbb_refer(b, 7, p.debug);
    taper_fbb_refer(b, 6, schema);
    taper_fbb_number(b, 5, 4, function->register_count, 0);
    taper_fbb_refer(b, 4, p.types);
    taper_fbb_refer(b, 3, p.constants);
    taper_fbb_refer(b, 2, p.operators);
    taper_fbb_refer(b, 1, p.instructions);
    taper_fbb_refer(b, 0, name);
    return taper_fb_add(w, TAPER_FB_FUNCTION, taper_fbb_table_end(b), &w->functions[number]);
}

taper_status taper_fb_write_function(taper_fb_writer *w, size_t number)
{
    const taper_module_function *function = &w->module->functions[number];
    const size_t most = taper_max_size(taper_max_size(function->operator_count, function->type_count),
                                       taper_max_size(function->argument_count, function->return_count));
    taper_fbb_ref *refs = taper_alloc(w->allocator, most * sizeof *refs);
    uint32_t *indexes = taper_alloc(w->allocator, function->constant_count * sizeof *indexes);
    const bool room = (refs != NULL || most == 0) && (indexes != NULL || function->constant_count == 0);
    const taper_status status = room ? write_function(w, function, number, refs, indexes) : taper_fail_memory(w->error);
    taper_free(w->allocator, refs, most * sizeof *refs);
    taper_free(w->allocator, indexes, function->constant_count * sizeof *indexes);
    if (status != TAPER_OK) {
        taper_error_prefix(w->error, "function %.200s: ", function->name);
    }
    return status;
}
