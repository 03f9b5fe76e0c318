// SPDX-License-Identifier: BSD-2-Clause
// Converts the value of bytecode.pkl to functions:
//   (version, function, …)
//   function = (name, table, schema)        the schema is missing in version 3 and may be in 4
//   table  = (("instructions", ((NAME, X, N), …)), ("operators", ((name, overload[, count]), …)), ("constants", (…)),
//             ("types", ("…", …)), ("register_size", n))
//   schema = (("arguments", (arg, …)), ("returns", (arg, …)))
//   arg    = (("name", s), ("type", s), ("default_value", v))
// This file checks only that operands are numbers of the right width. The code that lowers the functions checks the
// rest.
#include "format/lite_archive.h"

#include <stdio.h>

#include "base/budget.h"
#include "ir/type_table.h"

enum { OLDEST_VERSION = 3, NEWEST_VERSION = 9, CACHED_NAMES = 64 };

// Data made from a string of the pickle. It is cached, because a file may refer to one long string a thousand times
// with a few bytes each.
typedef struct interned {
    const taper_string *string;
    const char *text;
    const taper_type *type; // type that the string names; NULL until it is parsed
} interned;

typedef struct reader {
    taper_module *module;
    taper_type_scope *scope;
    taper_lookup lookup; // maps the address of a string to its `interned`
    struct {
        const taper_string *string;
        int opcode;
    } opcodes[CACHED_NAMES];
    size_t instructions;  // number of instructions in the whole file
    uint64_t text_budget; // characters of type strings that may still be parsed
    const char *function; // name of the function being read, or NULL if no function is being read
    taper_error *error;
} reader;

#define REFUSE(r, ...) return refuse((r), __VA_ARGS__)

TAPER_COLD static taper_status refuse(const reader *r, const char *format, ...) TAPER_PRINTF(2, 3);

static taper_status refuse(const reader *r, const char *format, ...)
{
    char line[300];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return taper_fail(r->error, TAPER_ERROR_FILE, "bytecode.pkl is damaged: %s%s%s%s",
                      r->function != NULL ? "function " : "", r->function != NULL ? r->function : "",
                      r->function != NULL ? ": " : "", line);
}

static const taper_tuple *as_tuple(taper_val value)
{
    return value.tag == TAPER_TUPLE ? value.as.tuple : NULL;
}

// Returns the value for a key in a tuple of (key, value) pairs, or None if the key is missing.
static taper_val lookup(const reader *r, const taper_tuple *pairs, const char *key)
{
    // Each lookup is charged to the budget of the load, because all functions may share one long tuple.
    if (!taper_spend(r->module->allocator, 5 * (uint64_t)pairs->count)) {
        return taper_val_none();
    }
    for (size_t i = 0; i < pairs->count; i++) {
        const taper_tuple *pair = as_tuple(pairs->items[i]);
        if (pair != NULL && pair->count == 2 && taper_val_string_is(pair->items[0], key)) {
            return pair->items[1];
        }
    }
    return taper_val_none();
}

static taper_status need_tuple(const reader *r, const taper_tuple *pairs, const char *key, const taper_tuple **found)
{
    *found = as_tuple(lookup(r, pairs, key));
    if (*found == NULL) {
        REFUSE(r, "\"%s\" is missing", key);
    }
    return TAPER_OK;
}

// ---- strings

static bool same_string(const void *item, const void *key)
{
    return ((const interned *)item)->string == key;
}

static taper_status intern(reader *r, taper_val value, interned **found)
{
    *found = NULL;
    if (value.tag != TAPER_STRING) {
        REFUSE(r, "a %s where a name is expected", taper_val_kind_name(value));
    }
    const taper_string *string = value.as.string;
    const uint64_t hash = taper_hash_bytes(0, &string, sizeof string);
    taper_lookup_entry *known = taper_lookup_find(&r->lookup, hash, same_string, string);
    if (known != NULL) {
        // The map's items are const, but this item was allocated below and may be changed.
        *found = (interned *)(uintptr_t)known->item;
        return TAPER_OK;
    }
    if (memchr(string->data, '\0', string->length) != NULL) {
        REFUSE(r, "a name holds a zero byte");
    }
    interned *made = taper_arena_alloc(&r->module->arena, sizeof *made);
    const char *text = taper_arena_string(&r->module->arena, string->data, string->length);
    if (made == NULL || text == NULL) {
        return taper_fail_memory(r->error);
    }
    *made = (interned){.string = string, .text = text};
    (void)taper_lookup_add(r->module->allocator, &r->lookup, hash, made);
    *found = made;
    return TAPER_OK;
}

static taper_status read_name(reader *r, taper_val value, const char **name)
{
    interned *found;
    TAPER_TRY(intern(r, value, &found));
    *name = found->text;
    return TAPER_OK;
}

static taper_status read_type(reader *r, taper_val value, const taper_type **type, const char **text)
{
    interned *found;
    TAPER_TRY(intern(r, value, &found));
    *text = found->text;
    if (found->type == NULL) {
        const size_t length = value.as.string->length;
        if (length > r->text_budget) {
            REFUSE(r, "its type strings are longer than the file");
        }
        r->text_budget -= length;
        const taper_status status =
            taper_type_parse_in(r->module->types, r->scope, found->text, length, &found->type, r->error);
        if (status != TAPER_OK) {
            taper_error_prefix(r->error, "bytecode.pkl, function %s: ", r->function);
            return status;
        }
    }
    *type = found->type;
    return TAPER_OK;
}

// ---- tables of a function

static taper_status read_opcode(reader *r, taper_val name, uint8_t *op)
{
    if (name.tag != TAPER_STRING) {
        REFUSE(r, "an instruction without a name");
    }
    const taper_string *string = name.as.string;
    const size_t cell = ((uintptr_t)string >> 4) % CACHED_NAMES;
    if (r->opcodes[cell].string != string) {
        r->opcodes[cell].string = string;
        r->opcodes[cell].opcode = taper_lite_opcode_from_name(string->data, string->length);
    }
    if (r->opcodes[cell].opcode < 0) {
        return taper_fail(
            r->error, TAPER_ERROR_UNSUPPORTED,
            "bytecode.pkl, function %s: unknown instruction \"%.60s\"; was the file written by a newer PyTorch?",
            r->function, string->data);
    }
    *op = (uint8_t)r->opcodes[cell].opcode;
    return TAPER_OK;
}

// Each part of each function is charged to the budget, for reading the part here and for the loader's later work.
// Functions may share their tables, so the size of the file does not limit this work.
enum { STEPS_AN_INSTRUCTION = 20, STEPS_AN_OPERATOR = 200, STEPS_A_CONSTANT = 4, STEPS_A_TYPE = 20 };

static taper_status charge(const reader *r, uint64_t steps, size_t count)
{
    return taper_charge(r->module->allocator, steps * count, r->error);
}

static taper_status read_instructions(reader *r, const taper_tuple *from, taper_module_function *function)
{
    r->instructions += from->count;
    if (r->instructions > TAPER_LIMIT_INSTRUCTIONS) {
        return taper_fail(r->error, TAPER_ERROR_RESOURCE, "bytecode.pkl: more than %d instructions",
                          TAPER_LIMIT_INSTRUCTIONS);
    }
    function->instructions = taper_arena_array(&r->module->arena, from->count, sizeof *function->instructions);
    if (function->instructions == NULL) {
        return taper_fail_memory(r->error);
    }
    function->instruction_count = from->count;
    TAPER_TRY(charge(r, STEPS_AN_INSTRUCTION, from->count));
    for (size_t i = 0; i < from->count; i++) {
        const taper_tuple *item = as_tuple(from->items[i]);
        if (item == NULL || item->count != 3 || item->items[1].tag != TAPER_INT || item->items[2].tag != TAPER_INT) {
            REFUSE(r, "instruction %zu is not (name, number, number)", i);
        }
        const int64_t x = item->items[1].as.i, n = item->items[2].as.i;
        if (x < INT32_MIN || x > INT32_MAX || n < 0 || n > UINT16_MAX) {
            REFUSE(r, "instruction %zu has the operands %lld and %lld", i, (long long)x, (long long)n);
        }
        taper_lite_instruction *instruction = &function->instructions[i];
        TAPER_TRY(read_opcode(r, item->items[0], &instruction->op));
        instruction->x = (int32_t)x;
        instruction->n = (uint16_t)n;
        instruction->debug = -1;
    }
    return TAPER_OK;
}

static taper_status read_operators(reader *r, const taper_tuple *from, taper_module_function *function)
{
    function->operators = taper_arena_array(&r->module->arena, from->count, sizeof *function->operators);
    if (function->operators == NULL) {
        return taper_fail_memory(r->error);
    }
    function->operator_count = from->count;
    TAPER_TRY(charge(r, STEPS_AN_OPERATOR, from->count));
    for (size_t i = 0; i < from->count; i++) {
        const taper_tuple *item = as_tuple(from->items[i]);
        if (item == NULL || item->count < 2 || item->count > 3) {
            REFUSE(r, "operator %zu is not (name, overload) or (name, overload, number)", i);
        }
        taper_lite_operator *op = &function->operators[i];
        TAPER_TRY(read_name(r, item->items[0], &op->name));
        TAPER_TRY(read_name(r, item->items[1], &op->overload));
        op->arguments = -1;
        if (item->count == 3 && item->items[2].tag != TAPER_NONE) {
            if (item->items[2].tag != TAPER_INT || item->items[2].as.i < -1 ||
                item->items[2].as.i > TAPER_LIMIT_ARGUMENTS) {
                REFUSE(r, "operator %s has a wrong number of arguments", op->name);
            }
            op->arguments = (int32_t)item->items[2].as.i;
        }
    }
    return TAPER_OK;
}

static taper_status read_constants(reader *r, const taper_tuple *from, taper_module_function *function)
{
    function->constants = taper_arena_array(&r->module->arena, from->count, sizeof *function->constants);
    if (function->constants == NULL) {
        return taper_fail_memory(r->error);
    }
    function->constant_count = from->count;
    TAPER_TRY(charge(r, STEPS_A_CONSTANT, from->count));
    for (size_t i = 0; i < from->count; i++) {
        function->constants[i] = taper_val_retain(from->items[i]);
    }
    return TAPER_OK;
}

static taper_status read_types(reader *r, const taper_tuple *from, taper_module_function *function)
{
    function->types = taper_arena_array(&r->module->arena, from->count, sizeof *function->types);
    if (function->types == NULL) {
        return taper_fail_memory(r->error);
    }
    function->type_count = from->count;
    TAPER_TRY(charge(r, STEPS_A_TYPE, from->count));
    for (size_t i = 0; i < from->count; i++) {
        const char *text;
        TAPER_TRY(read_type(r, from->items[i], &function->types[i], &text));
    }
    return TAPER_OK;
}

static taper_status read_table(reader *r, const taper_tuple *table, taper_module_function *function)
{
    const taper_tuple *instructions, *operators, *constants, *types;
    TAPER_TRY(need_tuple(r, table, "instructions", &instructions));
    TAPER_TRY(need_tuple(r, table, "operators", &operators));
    TAPER_TRY(need_tuple(r, table, "constants", &constants));
    TAPER_TRY(need_tuple(r, table, "types", &types));
    const taper_val registers = lookup(r, table, "register_size");
    if (registers.tag != TAPER_INT || registers.as.i < 0) {
        REFUSE(r, "\"register_size\" is missing");
    }
    if (registers.as.i > TAPER_LIMIT_REGISTERS) {
        return taper_fail(r->error, TAPER_ERROR_RESOURCE,
                          "bytecode.pkl, function %s: %lld registers are beyond the limit of %d", r->function,
                          (long long)registers.as.i, TAPER_LIMIT_REGISTERS);
    }
    function->register_count = (size_t)registers.as.i;
    TAPER_TRY(read_instructions(r, instructions, function));
    TAPER_TRY(read_operators(r, operators, function));
    TAPER_TRY(read_constants(r, constants, function));
    return read_types(r, types, function);
}

// ---- schemas

static taper_status read_arguments(reader *r, const taper_tuple *from, taper_module_argument **arguments, size_t *count)
{
    if (from->count > TAPER_LIMIT_ARGUMENTS) {
        return taper_fail(r->error, TAPER_ERROR_RESOURCE,
                          "bytecode.pkl, function %s: %zu arguments are beyond the limit of %d", r->function,
                          from->count, TAPER_LIMIT_ARGUMENTS);
    }
    *arguments = taper_arena_array(&r->module->arena, from->count, sizeof **arguments);
    if (*arguments == NULL) {
        return taper_fail_memory(r->error);
    }
    *count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        const taper_tuple *item = as_tuple(from->items[i]);
        if (item == NULL) {
            REFUSE(r, "argument %zu of its schema is no tuple", i);
        }
        taper_module_argument *argument = &(*arguments)[i];
        TAPER_TRY(read_name(r, lookup(r, item, "name"), &argument->name));
        TAPER_TRY(read_type(r, lookup(r, item, "type"), &argument->type, &argument->type_text));
        const taper_val value = lookup(r, item, "default_value");
        taper_module_argument_default(argument, value);
    }
    return TAPER_OK;
}

static taper_status read_schema(reader *r, const taper_tuple *schema, taper_module_function *function)
{
    const taper_tuple *arguments, *returns;
    TAPER_TRY(need_tuple(r, schema, "arguments", &arguments));
    TAPER_TRY(need_tuple(r, schema, "returns", &returns));
    TAPER_TRY(read_arguments(r, arguments, &function->arguments, &function->argument_count));
    TAPER_TRY(read_arguments(r, returns, &function->returns, &function->return_count));
    function->has_schema = true;
    return TAPER_OK;
}

// ---- functions

static taper_status read_function(reader *r, taper_val value, taper_module_function *function)
{
    r->function = NULL;
    const taper_tuple *item = as_tuple(value);
    const taper_tuple *table = item != NULL && item->count >= 2 && item->count <= 3 ? as_tuple(item->items[1]) : NULL;
    if (table == NULL) {
        REFUSE(r, "a function is not (name, table) or (name, table, schema)");
    }
    TAPER_TRY(read_name(r, item->items[0], &function->name));
    r->function = function->name;
    TAPER_TRY(read_table(r, table, function));
    if (item->count == 3 && item->items[2].tag != TAPER_NONE) {
        const taper_tuple *schema = as_tuple(item->items[2]);
        if (schema == NULL) {
            REFUSE(r, "its schema is no tuple");
        }
        TAPER_TRY(read_schema(r, schema, function));
    }
    return TAPER_OK;
}

static taper_status read_all(reader *r, const taper_tuple *bytecode)
{
    taper_module *module = r->module;
    const bool numbered = bytecode->count != 0 && bytecode->items[0].tag == TAPER_INT;
    const size_t first = numbered ? 1 : 0;
    module->bytecode_version = numbered ? bytecode->items[0].as.i : OLDEST_VERSION;
    if (module->bytecode_version < OLDEST_VERSION || module->bytecode_version > NEWEST_VERSION) {
        return taper_fail(
            r->error, TAPER_ERROR_UNSUPPORTED,
            "the model has bytecode version %lld; versions %d to %d are supported: save it again with another PyTorch, "
            "or convert it with torch.jit.mobile._backport_for_mobile",
            (long long)module->bytecode_version, OLDEST_VERSION, NEWEST_VERSION);
    }
    const size_t count = bytecode->count - first;
    if (count > TAPER_LIMIT_FUNCTIONS) {
        return taper_fail(r->error, TAPER_ERROR_RESOURCE, "bytecode.pkl: more than %d functions",
                          TAPER_LIMIT_FUNCTIONS);
    }
    module->functions = taper_arena_array(&module->arena, count, sizeof *module->functions);
    if (module->functions == NULL) {
        return taper_fail_memory(r->error);
    }
    module->function_count = count; // functions that are not read yet are zero, which taper_module_free accepts
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(read_function(r, bytecode->items[first + i], &module->functions[i]));
    }
    return TAPER_OK;
}

taper_status taper_lite_bytecode_read(taper_module *module, taper_type_scope *scope, taper_val bytecode,
                                      size_t file_size, taper_error *error)
{
    reader r = {.module = module,
                .scope = scope,
                .text_budget = 16 * (uint64_t)file_size + TAPER_LIMIT_TYPE_TEXT,
                .error = error};
    const taper_tuple *tuple = as_tuple(bytecode);
    if (tuple == NULL) {
        return refuse(&r, "it holds a %s instead of a tuple", taper_val_kind_name(bytecode));
    }
    const taper_status status = read_all(&r, tuple);
    taper_lookup_free(module->allocator, &r.lookup);
    return status;
}
