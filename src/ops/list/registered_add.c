// SPDX-License-Identifier: BSD-2-Clause
// Checks an operator of the host before it enters the list (ops/list/registered.c). The operator needs a schema that
// our parser accepts, types that values of calls can be compared with, and a name that no row has.
#include "ops/list/registered.h"

#include <stdio.h>
#include <string.h>

#include "ir/heap.h"
#include "ops/call/fit.h"
#include "ops/list/op_rows.h"
#include "ops/list/op_table.h"

static taper_status bad(const char *schema, const char *why, taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "\"%.200s\" is not a schema for an operator: %s", schema, why);
}

enum { LONGEST = 2000 }; // largest number of characters in a schema

// Finds mistakes that the parser of our own schemas does not expect. Returns what is wrong with the text, or NULL.
static const char *bad_text(const char *text)
{
    enum { DIGITS = 2 };
    const size_t length = strlen(text), space = strspn(text, TAPER_NAME_LETTERS);
    if (length > LONGEST || strspn(text, TAPER_NAME_LETTERS "!\"'()*+,-.:<=>?[] |") != length) {
        return "it is too long, or has a character that no schema has";
    }
    const size_t base = strncmp(text + space, "::", 2) == 0 ? strspn(text + space + 2, TAPER_NAME_LETTERS) : 0;
    const char *end = text + space + (base != 0 ? base + 2 : 0);
    if (*end == '.') {
        end += 1 + strspn(end + 1, TAPER_NAME_LETTERS);
    }
    if (space == 0 || base == 0 || *end != '(' || end[-1] == '.' || strncmp(text, "taper::", 7) == 0) {
        return "it begins with a name as in my_ops::warp( or my_ops::warp.overload(";
    }
    if (strchr("!(*,-.:=>[| +", text[length - 1]) != NULL) {
        return "it ends too early";
    }
    for (const char *c = strchr(text, '['); c != NULL; c = strchr(c + 1, '[')) {
        // True for a size after a type, as in int[2], but not for a default, as in =[1, 2].
        if (strspn(c + 1, "0123456789") > DIGITS && c[-1] != '=' && c[-1] != ' ') {
            return "a list is too long";
        }
    }
    return NULL;
}

// Returns true for a type that values of a call can be compared with.
static bool is_known(const taper_type *type)
{
    switch ((taper_type_kind)type->kind) {
    case TAPER_TYPE_OPAQUE:
    case TAPER_TYPE_VARIABLE:
    case TAPER_TYPE_FUTURE:
    case TAPER_TYPE_UNION:
        return false;
    case TAPER_TYPE_DICT:
        if (type->count != 2) {
            return false;
        }
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < type->count; i++) {
        if (!is_known(type->items[i])) {
            return false;
        }
    }
    return true;
}

static taper_status check_items(const taper_schema *schema, const taper_schema_arg *items, uint32_t count,
                                taper_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        taper_val value = items[i].default_value;
        if (!is_known(items[i].type)) {
            return bad(schema->text, "a type of it is not known", error);
        }
        if (items[i].has_default && taper_fit(&items[i], "argument", i, &value, NULL) != TAPER_OK) {
            return bad(schema->text, "a default is not of its argument's type", error);
        }
    }
    return TAPER_OK;
}

// Parses the schema once and drops the types and values, because each context parses it again.
static taper_status check_schema(const char *text, taper_error *error)
{
    const char *const wrong = bad_text(text);
    if (wrong != NULL) {
        return bad(text, wrong, error);
    }
    taper_types *types;
    taper_heap *heap;
    taper_schema schema = {0};
    taper_arena arena;
    taper_arena_init(&arena, &taper_allocator_system);
    TAPER_TRY(taper_types_create(&taper_allocator_system, &types, error));
    taper_status status = taper_heap_create(&taper_allocator_system, types, &heap, error);
    if (status == TAPER_OK) {
        status = taper_schema_parse(&arena, heap, types, text, &schema, error);
        // The parser reports a mistake as an internal error, because it expects only schemas of the list.
        if (status == TAPER_ERROR_INTERNAL) {
            char words[200];
            snprintf(words, sizeof words, "%s", taper_error_message(error));
            status = taper_fail(error, TAPER_ERROR_ARGUMENT, "%s", words);
        }
        if (status == TAPER_OK && (schema.vararg || schema.varret)) {
            status = bad(text, "the numbers of its arguments and results are not fixed", error);
        }
        if (status == TAPER_OK) {
            status = check_items(&schema, schema.args, schema.arg_count, error);
        }
        if (status == TAPER_OK) {
            status = check_items(&schema, schema.rets, schema.ret_count, error);
        }
        for (uint32_t i = 0; i < schema.arg_count; i++) {
            taper_val_release(schema.args[i].default_value);
        }
        taper_heap_close(heap);
    }
    taper_types_release(types);
    taper_arena_free(&arena);
    return status;
}

taper_status taper_registered_add(const char *schema, taper_operator_function function, void *user, taper_error *error)
{
    TAPER_TRY(check_schema(schema, error));
    char name[LONGEST + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(schema, ".("), schema);
    if (taper_row_is_listed(name)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "operator %.*s is Taper's own", (int)strcspn(schema, "("), schema);
    }
    // The entry after the last row contains the facts of the host's operators.
    return taper_registered_append(schema, &taper_ops[TAPER_ROW_COUNT], function, user, error);
}
