// SPDX-License-Identifier: BSD-2-Clause
// Reads the functions of a flatbuffer module. Operands are checked later, by the code that lowers the functions.
#include "base/reader.h"
#include "format/lite_flatbuffer.h"

enum { // slots of the table Function
    FUNCTION_NAME,
    FUNCTION_INSTRUCTIONS,
    FUNCTION_OPERATORS,
    FUNCTION_CONSTANTS,
    FUNCTION_TYPES,
    FUNCTION_REGISTER_SIZE,
    FUNCTION_SCHEMA,
    FUNCTION_DEBUG_INFO
};

enum { INSTRUCTION_BYTES = 8 }; // size of an instruction in bytes: op, a byte of padding, u16 n, i32 x

static taper_status read_instructions(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, FUNCTION_INSTRUCTIONS, INSTRUCTION_BYTES, &items));
    r->instructions += items.count;
    if (r->instructions > TAPER_LIMIT_INSTRUCTIONS) {
        return taper_fail(r->fb.error, TAPER_ERROR_RESOURCE, "more than %d instructions", TAPER_LIMIT_INSTRUCTIONS);
    }
    function->instructions = taper_arena_array(&r->module->arena, items.count, sizeof *function->instructions);
    if (function->instructions == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    function->instruction_count = items.count;
    for (size_t i = 0; i < items.count; i++) {
        const uint8_t *bytes = taper_fb_item(&r->fb, &items, i, INSTRUCTION_BYTES);
        if (bytes[0] >= TAPER_LITE_OPCODE_COUNT) {
            return taper_fail_at(r->fb.error, TAPER_ERROR_UNSUPPORTED, bytes - r->fb.data,
                                 "unknown instruction %u; was the file written by a newer PyTorch?", bytes[0]);
        }
        function->instructions[i] = (taper_lite_instruction){
            .op = bytes[0], .n = taper_load_u16(bytes + 2), .x = (int32_t)taper_load_u32(bytes + 4), .debug = -1};
    }
    return TAPER_OK;
}

// Reads one debug handle for each instruction. Skips invalid handles, because running the model does not need them.
static taper_status read_handles(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    taper_fb_table info;
    taper_fb_vector handles;
    bool present;
    TAPER_TRY(taper_fb_child(&r->fb, table, FUNCTION_DEBUG_INFO, &info, &present));
    if (!present) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_fb_vector_in(&r->fb, &info, 0, 8, &handles));
    for (size_t i = 0; i < handles.count && i < function->instruction_count; i++) {
        const uint64_t handle = taper_load_u64(taper_fb_item(&r->fb, &handles, i, 8));
        if (handle <= INT32_MAX) {
            function->instructions[i].debug = (int32_t)handle;
        }
    }
    return TAPER_OK;
}

static taper_status read_operators(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, FUNCTION_OPERATORS, 4, &items));
    function->operators = taper_arena_array(&r->module->arena, items.count, sizeof *function->operators);
    if (function->operators == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    function->operator_count = items.count;
    for (size_t i = 0; i < items.count; i++) {
        taper_fb_table item;
        taper_fb_name *name, *overload;
        // value if the field is absent: -1 as 32 bits, which means all arguments of the schema
        uint64_t arguments = UINT32_MAX;
        TAPER_TRY(taper_fb_item_table(&r->fb, &items, i, &item));
        TAPER_TRY(taper_fb_name_in(r, &item, 0, &name));
        TAPER_TRY(taper_fb_name_in(r, &item, 1, &overload));
        TAPER_TRY(taper_fb_number(&r->fb, &item, 2, 4, &arguments));
        const int32_t given = (int32_t)(uint32_t)arguments;
        if (given > TAPER_LIMIT_ARGUMENTS) {
            return taper_fb_damaged(&r->fb, item.at, "operator %.100s with %ld arguments", name->text, (long)given);
        }
        function->operators[i] =
            (taper_lite_operator){.name = name->text, .overload = overload->text, .arguments = given < 0 ? -1 : given};
    }
    return TAPER_OK;
}

static taper_status read_constants(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, FUNCTION_CONSTANTS, 4, &items));
    function->constants = taper_arena_array(&r->module->arena, items.count, sizeof *function->constants);
    if (function->constants == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    function->constant_count = items.count; // constants that are not read yet are None
    for (size_t i = 0; i < items.count; i++) {
        taper_val value;
        const uint32_t index = taper_load_u32(taper_fb_item(&r->fb, &items, i, 4));
        TAPER_TRY(taper_fb_value(r, items.at + 4 * i, index, &value));
        function->constants[i] = taper_val_retain(value);
    }
    return TAPER_OK;
}

static taper_status read_types(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, FUNCTION_TYPES, 4, &items));
    function->types = taper_arena_array(&r->module->arena, items.count, sizeof *function->types);
    if (function->types == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    function->type_count = items.count;
    for (size_t i = 0; i < items.count; i++) {
        size_t at;
        taper_fb_name *name;
        TAPER_TRY(taper_fb_item_target(&r->fb, &items, i, &at));
        TAPER_TRY(taper_fb_name_at(r, at, &name));
        TAPER_TRY(taper_fb_type_of(r, name, &function->types[i]));
    }
    return TAPER_OK;
}

static taper_status read_registers(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    uint64_t registers = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, FUNCTION_REGISTER_SIZE, 4, &registers));
    if (registers > INT32_MAX) {
        return taper_fb_damaged(&r->fb, table->at, "a negative number of registers");
    }
    if (registers > TAPER_LIMIT_REGISTERS) {
        return taper_fail(r->fb.error, TAPER_ERROR_RESOURCE, "%llu registers are beyond the limit of %d",
                          (unsigned long long)registers, TAPER_LIMIT_REGISTERS);
    }
    function->register_count = (size_t)registers;
    return TAPER_OK;
}

// ---- schemas

static taper_status read_argument(taper_fb_reader *r, const taper_fb_table *table, taper_module_argument *argument)
{
    taper_fb_name *name, *type;
    uint64_t index = 0;
    taper_val value;
    TAPER_TRY(taper_fb_name_in(r, table, 0, &name));
    TAPER_TRY(taper_fb_name_in(r, table, 1, &type));
    TAPER_TRY(taper_fb_type_of(r, type, &argument->type));
    TAPER_TRY(taper_fb_number(&r->fb, table, 2, 4, &index));
    TAPER_TRY(taper_fb_value(r, table->at, (uint32_t)index, &value));
    argument->name = name->text;
    argument->type_text = type->text;
    taper_module_argument_default(argument, value);
    return TAPER_OK;
}

static taper_status read_arguments(taper_fb_reader *r, const taper_fb_table *schema, unsigned slot,
                                   taper_module_argument **arguments, size_t *count)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, schema, slot, 4, &items));
    if (items.count > TAPER_LIMIT_ARGUMENTS) {
        return taper_fail(r->fb.error, TAPER_ERROR_RESOURCE, "%zu arguments are beyond the limit of %d", items.count,
                          TAPER_LIMIT_ARGUMENTS);
    }
    *arguments = taper_arena_array(&r->module->arena, items.count, sizeof **arguments);
    if (*arguments == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *count = items.count; // arguments that are not read yet are zero, with a default of None
    for (size_t i = 0; i < items.count; i++) {
        taper_fb_table item;
        TAPER_TRY(taper_fb_item_table(&r->fb, &items, i, &item));
        TAPER_TRY(read_argument(r, &item, &(*arguments)[i]));
    }
    return TAPER_OK;
}

static taper_status read_parts(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    TAPER_TRY(read_registers(r, table, function));
    TAPER_TRY(read_instructions(r, table, function));
    TAPER_TRY(read_handles(r, table, function));
    TAPER_TRY(read_operators(r, table, function));
    TAPER_TRY(read_constants(r, table, function));
    TAPER_TRY(read_types(r, table, function));
    taper_fb_table schema;
    TAPER_TRY(taper_fb_child(&r->fb, table, FUNCTION_SCHEMA, &schema, &function->has_schema));
    if (function->has_schema) {
        TAPER_TRY(read_arguments(r, &schema, 0, &function->arguments, &function->argument_count));
        TAPER_TRY(read_arguments(r, &schema, 1, &function->returns, &function->return_count));
    }
    return TAPER_OK;
}

taper_status taper_fb_read_function(taper_fb_reader *r, const taper_fb_table *table, taper_module_function *function)
{
    taper_fb_table parts;
    taper_fb_name *name;
    function->name = "";
    TAPER_TRY(taper_fb_child(&r->fb, table, 1, &parts, NULL));
    TAPER_TRY(taper_fb_name_in(r, &parts, FUNCTION_NAME, &name));
    function->name = name->text;
    const taper_status status = read_parts(r, &parts, function);
    if (status != TAPER_OK) {
        taper_error_prefix(r->fb.error, "function %.200s: ", function->name);
    }
    return status;
}
