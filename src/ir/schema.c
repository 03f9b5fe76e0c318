// SPDX-License-Identifier: BSD-2-Clause
// Parses operator schemas: "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)".
// The texts are part of the library, so a mistake in a text is a bug. The parser nevertheless reports such a mistake as
// an error. If a host registers a schema, ops/list/registered.c checks the text before this parser reads it.
#include "ir/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct parser {
    const char *at;
    const char *text;
    taper_arena *arena;
    taper_heap *heap;
    taper_types *types;
    taper_error *error;
} parser;

static taper_status bad(const parser *p, const char *what)
{
    TAPER_FAIL(p->error, TAPER_ERROR_INTERNAL, "schema %s: %s at \"%.20s\"", p->text, what, p->at);
}

static void blanks(parser *p)
{
    while (*p->at == ' ') {
        p->at++;
    }
}

static bool eat(parser *p, const char *token)
{
    blanks(p);
    const size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static taper_status word(parser *p, const char **start, size_t *length)
{
    blanks(p);
    *start = p->at;
    while (word_char(*p->at) || (p->at[0] == ':' && p->at[1] == ':')) {
        p->at += *p->at == ':' ? 2 : 1;
    }
    *length = (size_t)(p->at - *start);
    return *length == 0 ? bad(p, "a name was expected") : TAPER_OK;
}

static const taper_type *simple_type(const char *name, size_t length)
{
    static const struct {
        const char *name;
        const taper_type *type;
    } names[] = {{"Tensor", &taper_type_tensor},
                 {"int", &taper_type_int},
                 {"SymInt", &taper_type_int},
                 {"ScalarType", &taper_type_int},
                 {"Layout", &taper_type_int},
                 {"MemoryFormat", &taper_type_int},
                 {"QScheme", &taper_type_int},
                 {"float", &taper_type_float},
                 {"bool", &taper_type_bool},
                 {"complex", &taper_type_complex},
                 {"Scalar", &taper_type_number},
                 {"number", &taper_type_number},
                 {"str", &taper_type_string},
                 {"Device", &taper_type_device},
                 {"Generator", &taper_type_generator},
                 {"Any", &taper_type_any},
                 {"AnyEnumType", &taper_type_any},
                 {"NoneType", &taper_type_none},
                 {"list", &taper_type_any_list},
                 {"tuple", &taper_type_any_tuple},
                 {"AnyClassType", &taper_type_any},
                 {"AnyListType", &taper_type_any_list},
                 {"AnyTupleType", &taper_type_any_tuple}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0) {
            return names[i].type;
        }
    }
    return NULL;
}

static taper_status make(parser *p, taper_type_kind kind, const char *name, const taper_type *const *items,
                         size_t count, const taper_type **type)
{
    return taper_type_make(p->types, kind, name, items, NULL, count, type, p->error);
}

static taper_status parse_type(parser *p, taper_schema_arg *arg, const taper_type **type, int depth);

// Parses the items of a type in parentheses: (Tensor a, Tensor b), Dict(K, V), Future(T), ….
static taper_status parse_items(parser *p, taper_schema_arg *arg, const taper_type **items, size_t limit, size_t *count,
                                int depth)
{
    *count = 0;
    while (!eat(p, ")")) {
        if (*count == limit) {
            return bad(p, "too many items");
        }
        TAPER_TRY(parse_type(p, arg, &items[*count], depth + 1));
        ++*count;
        blanks(p);
        if (word_char(*p->at)) { // skips the name of a field
            const char *name;
            size_t length;
            TAPER_TRY(word(p, &name, &length));
        }
        (void)eat(p, ",");
    }
    return TAPER_OK;
}

// Parses an alias annotation: (a), (a!), (a -> *), (a|b).
static taper_status parse_alias(parser *p, taper_schema_arg *arg)
{
    if (!eat(p, "(")) {
        return TAPER_OK;
    }
    blanks(p);
    if (*p->at == '*') {
        arg->wildcard = true;
        p->at++;
    } else {
        arg->alias = (uint8_t)*p->at++;
    }
    while (*p->at != ')' && *p->at != '\0') {
        if (*p->at == '!') {
            arg->written = true;
        } else if (*p->at == '*') {
            arg->wildcard = true;
        }
        p->at++;
    }
    return eat(p, ")") ? TAPER_OK : bad(p, "an alias annotation was not closed");
}

static taper_status parse_type(parser *p, taper_schema_arg *arg, const taper_type **type, int depth)
{
    const taper_type *items[16];
    size_t count;
    if (depth > 8) {
        return bad(p, "types are nested too deep");
    }
    if (eat(p, "(")) {
        TAPER_TRY(parse_items(p, arg, items, 16, &count, depth));
        TAPER_TRY(make(p, TAPER_TYPE_TUPLE, NULL, items, count, type));
    } else {
        const char *name;
        size_t length;
        TAPER_TRY(word(p, &name, &length));
        *type = simple_type(name, length);
        if (*type == NULL) {
            char *copy = taper_arena_string(p->arena, name, length);
            if (copy == NULL) {
                return taper_fail_memory(p->error);
            }
            if (strcmp(copy, "Dict") == 0 && eat(p, "(")) {
                TAPER_TRY(parse_items(p, arg, items, 2, &count, depth));
                TAPER_TRY(make(p, TAPER_TYPE_DICT, NULL, items, count, type));
            } else if ((strcmp(copy, "Future") == 0 || strcmp(copy, "RRef") == 0) && eat(p, "(")) {
                TAPER_TRY(parse_items(p, arg, items, 1, &count, depth));
                TAPER_TRY(make(p, TAPER_TYPE_FUTURE, copy, items, count, type));
            } else if (strncmp(copy, "__torch__", 9) == 0) {
                TAPER_TRY(make(p, TAPER_TYPE_CLASS, copy, NULL, 0, type));
            } else {
                const bool variable = copy[0] >= 'a' && copy[0] <= 'z';
                TAPER_TRY(make(p, variable ? TAPER_TYPE_VARIABLE : TAPER_TYPE_OPAQUE, copy, NULL, 0, type));
            }
        }
    }
    TAPER_TRY(parse_alias(p, arg));
    for (;;) {
        if (eat(p, "[")) {
            if (*p->at != ']') {
                arg->size = (int32_t)strtol(p->at, NULL, 10);
                while (*p->at >= '0' && *p->at <= '9') {
                    p->at++;
                }
            }
            if (!eat(p, "]")) {
                return bad(p, "']' was expected");
            }
            items[0] = *type;
            TAPER_TRY(make(p, TAPER_TYPE_LIST, NULL, items, 1, type));
            TAPER_TRY(parse_alias(p, arg));
        } else if (eat(p, "?")) {
            items[0] = *type;
            TAPER_TRY(make(p, TAPER_TYPE_OPTIONAL, NULL, items, 1, type));
            TAPER_TRY(parse_alias(p, arg));
        } else {
            return TAPER_OK;
        }
    }
}

static taper_status parse_number(parser *p, const taper_type *type, taper_val *value)
{
    double f;
    const char *end = p->at;
    while (word_char(*end) || *end == '-' || *end == '.') {
        end++;
    }
    if (!taper_parse_double(p->at, (size_t)(end - p->at), &f)) {
        return bad(p, "a number was expected");
    }
    bool integral = true;
    for (const char *c = p->at; c < end; c++) {
        integral = integral && ((*c >= '0' && *c <= '9') || *c == '-');
    }
    while (type->kind == TAPER_TYPE_OPTIONAL || type->kind == TAPER_TYPE_LIST) {
        type = type->items[0];
    }
    if (integral && type->kind != TAPER_TYPE_FLOAT) {
        *value = taper_val_int(strtoll(p->at, NULL, 10));
    } else {
        *value = taper_val_double(f);
    }
    p->at = end;
    return TAPER_OK;
}

static taper_status parse_default(parser *p, taper_schema_arg *arg)
{
    static const struct {
        const char *name;
        int64_t value;
    } named[] = {{"contiguous_format", 0}, {"strided", 0},      {"Mean", 1}, {"Sum", 2},
                 {"long", TAPER_I64},      {"float", TAPER_F32}};
    const taper_type *type = arg->type;
    taper_val *value = &arg->default_value;
    if (eat(p, "None")) {
        *value = taper_val_none();
    } else if (eat(p, "True")) {
        *value = taper_val_bool(true);
    } else if (eat(p, "False")) {
        *value = taper_val_bool(false);
    } else if (*p->at == '"' || *p->at == '\'') {
        const char quote = *p->at++;
        const char *start = p->at;
        char plain[64];
        size_t length = 0;
        while (*p->at != quote && *p->at != '\0' && length < sizeof plain) {
            if (*p->at == '\\') {
                p->at++;
                const char c = *p->at;
                plain[length++] = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'f' ? '\f' : c == 'v' ? '\v' : c;
            } else {
                plain[length++] = *p->at;
            }
            p->at++;
        }
        if (*p->at++ != quote) {
            p->at = start;
            return bad(p, "a string was not closed");
        }
        taper_string *string = taper_string_new(p->heap, plain, length);
        if (string == NULL) {
            return taper_fail_memory(p->error);
        }
        *value = TAPER_VAL(string);
    } else if (*p->at == '[') {
        p->at++;
        const taper_type *list_type = type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
        const taper_type *element = list_type->kind == TAPER_TYPE_LIST ? list_type->items[0] : &taper_type_int;
        taper_list *list = taper_list_new(p->heap, element, 0);
        if (list == NULL) {
            return taper_fail_memory(p->error);
        }
        *value = TAPER_VAL(list);
        while (!eat(p, "]")) {
            taper_val item;
            blanks(p);
            TAPER_TRY(parse_number(p, element, &item));
            TAPER_TRY(taper_list_append(list, item, p->error));
            (void)eat(p, ",");
        }
    } else if (*p->at >= 'A' && word_char(*p->at) && strncmp(p->at, "inf", 3) != 0 && strncmp(p->at, "nan", 3) != 0) {
        const char *name;
        size_t length;
        TAPER_TRY(word(p, &name, &length));
        for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
            if (strlen(named[i].name) == length && memcmp(named[i].name, name, length) == 0) {
                *value = taper_val_int(named[i].value);
                return TAPER_OK;
            }
        }
        return bad(p, "an unknown default");
    } else {
        TAPER_TRY(parse_number(p, type, value));
        const taper_type *base = type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
        if (base->kind == TAPER_TYPE_LIST) { // for int[2] stride=1, the default is one number for all items
            const taper_val item = *value;
            taper_list *list = taper_list_new(p->heap, base->items[0], 0);
            *value = taper_val_none();
            if (list == NULL) {
                return taper_fail_memory(p->error);
            }
            *value = TAPER_VAL(list);
            for (int32_t i = 0; i < (arg->size > 0 ? arg->size : 1); i++) {
                TAPER_TRY(taper_list_append(list, item, p->error));
            }
        }
    }
    return TAPER_OK;
}

static taper_status parse_arg(parser *p, taper_schema_arg *arg, bool result)
{
    arg->size = -1;
    blanks(p);
    const char *start = p->at;
    TAPER_TRY(parse_type(p, arg, &arg->type, 0));
    arg->type_text = taper_arena_string(p->arena, start, (size_t)(p->at - start));
    arg->name = "";
    blanks(p);
    if (!result || word_char(*p->at)) {
        const char *name;
        size_t length;
        TAPER_TRY(word(p, &name, &length));
        arg->name = taper_arena_string(p->arena, name, length);
    }
    if (arg->type_text == NULL || arg->name == NULL) {
        return taper_fail_memory(p->error);
    }
    if (eat(p, "=")) {
        arg->has_default = true;
        TAPER_TRY(parse_default(p, arg));
    }
    return TAPER_OK;
}

enum { MOST_ARGS = 64 };

// Parses arguments or results up to the closing parenthesis.
static taper_status parse_args(parser *p, bool result, taper_schema_arg **args, uint32_t *count, bool *more)
{
    *args = taper_arena_array(p->arena, MOST_ARGS, sizeof **args);
    if (*args == NULL) {
        return taper_fail_memory(p->error);
    }
    bool keyword = false;
    *count = 0;
    while (!eat(p, ")")) {
        if (eat(p, "...")) {
            *more = true;
        } else if (eat(p, "*,")) {
            keyword = true;
            continue;
        } else if (*count == MOST_ARGS) {
            return bad(p, "too many arguments");
        } else {
            (*args)[*count].keyword_only = keyword;
            TAPER_TRY(parse_arg(p, &(*args)[(*count)++], result));
        }
        blanks(p);
        if (*p->at != ')' && !eat(p, ",")) {
            return bad(p, "',' or ')' was expected");
        }
    }
    return TAPER_OK;
}

const char *const taper_role_names[TAPER_ROLE_COUNT] = {
    [TAPER_ROLE_BIAS] = "bias",
    [TAPER_ROLE_STRIDE] = "stride",
    [TAPER_ROLE_PADDING] = "padding",
    [TAPER_ROLE_DILATION] = "dilation",
    [TAPER_ROLE_GROUPS] = "groups",
    [TAPER_ROLE_OUTPUT_PADDING] = "output_padding",
    [TAPER_ROLE_TRANSPOSED] = "transposed",
    [TAPER_ROLE_KERNEL_SIZE] = "kernel_size",
};

static void find_roles(taper_schema *schema)
{
    for (uint32_t i = 0; i < schema->arg_count && i < UINT8_MAX; i++) {
        for (size_t role = 0; role < TAPER_ROLE_COUNT; role++) {
            if (strcmp(schema->args[i].name, taper_role_names[role]) == 0) {
                schema->roles[role] = (uint8_t)(i + 1);
            }
        }
    }
}

taper_status taper_schema_parse(taper_arena *arena, taper_heap *heap, taper_types *types, const char *text,
                                taper_schema *schema, taper_error *error)
{
    parser p = {.at = text, .text = text, .arena = arena, .heap = heap, .types = types, .error = error};
    memset(schema, 0, sizeof *schema);
    schema->text = text;
    const char *name;
    size_t length;
    TAPER_TRY(word(&p, &name, &length));
    const char *dot = memchr(name, '.', length);
    const size_t base = dot != NULL ? (size_t)(dot - name) : length;
    schema->name = taper_arena_string(arena, name, base);
    schema->overload = dot != NULL ? taper_arena_string(arena, dot + 1, length - base - 1) : "";
    if (schema->name == NULL || schema->overload == NULL) {
        return taper_fail_memory(error);
    }
    if (!eat(&p, "(")) {
        return bad(&p, "'(' was expected");
    }
    TAPER_TRY(parse_args(&p, false, &schema->args, &schema->arg_count, &schema->vararg));
    if (!eat(&p, "->")) {
        return bad(&p, "'->' was expected");
    }
    if (eat(&p, "...")) {
        schema->varret = true;
    } else if (eat(&p, "(")) {
        TAPER_TRY(parse_args(&p, true, &schema->rets, &schema->ret_count, &schema->varret));
    } else {
        schema->rets = taper_arena_array(arena, 1, sizeof *schema->rets);
        if (schema->rets == NULL) {
            return taper_fail_memory(error);
        }
        schema->ret_count = 1;
        TAPER_TRY(parse_arg(&p, &schema->rets[0], true));
    }
#ifdef TAPER_WITH_OPERATORS // checked because the text may come from the host
    blanks(&p);
    if (*p.at != '\0') {
        return bad(&p, "the end was expected");
    }
#endif
    for (uint32_t i = schema->arg_count; i-- > 0;) {
        if (!schema->args[i].written || !schema->args[i].keyword_only) {
            break;
        }
        schema->out_count++;
    }
    schema->in_place = schema->arg_count != 0 && schema->args[0].written && schema->ret_count != 0 &&
                       schema->rets[0].written && schema->rets[0].alias == schema->args[0].alias &&
                       !schema->args[0].keyword_only;
    find_roles(schema);
    return TAPER_OK;
}
