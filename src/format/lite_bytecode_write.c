// SPDX-License-Identifier: BSD-2-Clause
// Converts functions to bytecode.pkl. lite_bytecode.c describes the layout of this file.
#include "format/lite_bytecode_write.h"

// First bytecode version with schemas, and first bytecode version with numbers of arguments.
enum { SCHEMAS_SINCE = 5, COUNTS_SINCE = 6 };

// Nesting depth of a constant, and of the default of an argument, in the pickle.
enum { CONSTANT_DEPTH = 5, DEFAULT_DEPTH = 7 };

typedef struct writer {
    taper_pickler *p;
    const taper_module_function *function;
    size_t type_text;
} writer;

static void string(const writer *w, const char *text)
{
    (void)taper_pickler_string(w->p, text, strlen(text));
}

// Begins a pair (key, value). Afterwards the caller writes the value and calls close_pair.
static void open_pair(const writer *w, const char *key)
{
    string(w, key);
}

static void close_pair(const writer *w)
{
    taper_pickler_close(w->p, 2);
}

static taper_status write_instructions(const writer *w)
{
    taper_pickler_open(w->p, w->function->instruction_count);
    for (size_t i = 0; i < w->function->instruction_count; i++) {
        const taper_lite_instruction *instruction = &w->function->instructions[i];
        if (instruction->op >= TAPER_LITE_OPCODE_COUNT) {
            return taper_pickler_fail(w->p, TAPER_ERROR_ARGUMENT, "function %.200s: instruction %zu is the unknown %u",
                                      w->function->name, i, instruction->op);
        }
        string(w, taper_lite_opcode_name(instruction->op));
        taper_pickler_int(w->p, instruction->x);
        taper_pickler_int(w->p, instruction->n);
        taper_pickler_close(w->p, 3);
    }
    taper_pickler_close(w->p, w->function->instruction_count);
    return TAPER_OK;
}

static void write_operators(const writer *w, int version)
{
    taper_pickler_open(w->p, w->function->operator_count);
    for (size_t i = 0; i < w->function->operator_count; i++) {
        const taper_lite_operator *op = &w->function->operators[i];
        const bool counted = version >= COUNTS_SINCE;
        string(w, op->name);
        string(w, op->overload);
        if (counted) {
            taper_pickler_int(w->p, op->arguments);
        }
        taper_pickler_close(w->p, counted ? 3 : 2);
    }
    taper_pickler_close(w->p, w->function->operator_count);
}

static taper_status write_constants(const writer *w)
{
    taper_pickler_open(w->p, w->function->constant_count);
    for (size_t i = 0; i < w->function->constant_count; i++) {
        TAPER_TRY(taper_pickler_value(w->p, w->function->constants[i], CONSTANT_DEPTH));
    }
    taper_pickler_close(w->p, w->function->constant_count);
    return TAPER_OK;
}

static taper_status write_type(writer *w, const taper_type *type)
{
    taper_pickler *p = w->p;
    const size_t *slot = taper_pointer_find(&p->objects, type);
    if (slot != NULL) {
        taper_pickler_get(p, *slot);
        return TAPER_OK;
    }
    taper_text text = taper_text_make(p->allocator);
    const bool fits = taper_write_type(type, &text);
    const char *kept = fits && !text.failed ? taper_arena_string(&p->arena, text.data, text.length) : NULL;
    const size_t length = text.length;
    taper_text_free(&text);
    w->type_text += length;
    if (!fits || w->type_text > TAPER_LIMIT_WRITTEN_TYPES) {
        return taper_pickler_fail(p, TAPER_ERROR_RESOURCE, "function %.200s: its types are longer than readers take",
                                  w->function->name);
    }
    if (kept == NULL) {
        return taper_fail_memory(p->error);
    }
    return taper_pointer_add(p->allocator, &p->objects, type, taper_pickler_string(p, kept, length), p->error);
}

static taper_status write_types(writer *w)
{
    taper_pickler_open(w->p, w->function->type_count);
    for (size_t i = 0; i < w->function->type_count; i++) {
        TAPER_TRY(write_type(w, w->function->types[i]));
    }
    taper_pickler_close(w->p, w->function->type_count);
    return TAPER_OK;
}

static taper_status write_table(writer *w, int version)
{
    enum { PARTS = 5 };
    taper_pickler_open(w->p, PARTS);
    open_pair(w, "instructions");
    TAPER_TRY(write_instructions(w));
    close_pair(w);
    open_pair(w, "operators");
    write_operators(w, version);
    close_pair(w);
    open_pair(w, "constants");
    TAPER_TRY(write_constants(w));
    close_pair(w);
    open_pair(w, "types");
    TAPER_TRY(write_types(w));
    close_pair(w);
    open_pair(w, "register_size");
    taper_pickler_int(w->p, (int64_t)w->function->register_count);
    close_pair(w);
    taper_pickler_close(w->p, PARTS);
    return TAPER_OK;
}

// ---- schemas

static taper_status write_argument(writer *w, const taper_module_argument *argument)
{
    open_pair(w, "name");
    string(w, argument->name);
    close_pair(w);
    open_pair(w, "type");
    if (argument->type_text != NULL) {
        string(w, argument->type_text);
    } else {
        TAPER_TRY(write_type(w, argument->type));
    }
    close_pair(w);
    open_pair(w, "default_value");
    TAPER_TRY(taper_pickler_value(w->p, argument->default_value, DEFAULT_DEPTH));
    close_pair(w);
    taper_pickler_close(w->p, 3);
    return TAPER_OK;
}

static taper_status write_arguments(writer *w, const char *key, const taper_module_argument *arguments, size_t count)
{
    open_pair(w, key);
    taper_pickler_open(w->p, count);
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(write_argument(w, &arguments[i]));
    }
    taper_pickler_close(w->p, count);
    close_pair(w);
    return TAPER_OK;
}

static taper_status write_function(writer *w, int version)
{
    const taper_module_function *function = w->function;
    if (!function->has_schema && version >= SCHEMAS_SINCE) {
        return taper_pickler_fail(w->p, TAPER_ERROR_ARGUMENT,
                                  "function %.200s has no schema, and bytecode version %d wants one", function->name,
                                  version);
    }
    string(w, function->name);
    TAPER_TRY(write_table(w, version));
    if (function->has_schema) {
        TAPER_TRY(write_arguments(w, "arguments", function->arguments, function->argument_count));
        TAPER_TRY(write_arguments(w, "returns", function->returns, function->return_count));
        taper_pickler_close(w->p, 2);
    }
    taper_pickler_close(w->p, function->has_schema ? 3 : 2);
    return TAPER_OK;
}

taper_status taper_lite_bytecode_write(taper_pickler *p, const taper_module *module, int version)
{
    writer w = {.p = p};
    const size_t count = module->function_count + 1;
    taper_pickler_open(p, count);
    taper_pickler_int(p, version);
    for (size_t i = 0; i < module->function_count; i++) {
        w.function = &module->functions[i];
        TAPER_TRY(write_function(&w, version));
    }
    taper_pickler_close(p, count);
    return TAPER_OK;
}

// ---- mobile_debug_handles.pkl: (version, (name, (("function_debug_handles", ([handle, …],)),)), …)

static void write_handles(taper_pickler *p, const taper_module_function *function)
{
    static const char module[] = "torch.jit._pickle", key[] = "function_debug_handles";
    (void)taper_pickler_string(p, function->name, strlen(function->name));
    (void)taper_pickler_string(p, key, sizeof key - 1);
    (void)taper_pickler_global(p, module, sizeof module - 1, "build_intlist");
    taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    taper_pickler_op(p, TAPER_PICKLE_EMPTY_LIST, 1);
    taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    for (size_t i = 0; i < function->instruction_count; i++) {
        taper_pickler_int(p, function->instructions[i].debug);
    }
    taper_pickler_op(p, TAPER_PICKLE_APPENDS, -(int64_t)function->instruction_count);
    taper_pickler_op(p, TAPER_PICKLE_TUPLE, 0);
    taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
    taper_pickler_close(p, 1);
    taper_pickler_close(p, 2);
    taper_pickler_close(p, 1);
    taper_pickler_close(p, 2);
}

void taper_lite_handles_write(taper_pickler *p, const taper_module *module, int version)
{
    const size_t count = module->function_count + 1;
    taper_pickler_open(p, count);
    taper_pickler_int(p, version);
    for (size_t i = 0; i < module->function_count; i++) {
        write_handles(p, &module->functions[i]);
    }
    taper_pickler_close(p, count);
}
