// SPDX-License-Identifier: BSD-2-Clause
// Types as text: the parser of the type strings in files, and the printer.
#include <string.h>

#include "base/budget.h"
#include "base/limits.h"
#include "ir/type.h"
#include "ir/type_table.h"

typedef struct parser {
    taper_types *types;
    taper_type_scope *scope; // scope of named tuples; NULL for the table's own scope
    const char *text;
    size_t length, position;
    // Stack of parts of the types that are being parsed, the innermost last. fields[i] is the field name of items[i],
    // or NULL if it has none.
    const taper_type **items;
    const char **fields;
    size_t count, item_capacity, field_capacity;
    taper_error *error;
} parser;

TAPER_COLD static taper_status refuse(const parser *p, const char *what)
{
    const size_t shown = p->length < 120 ? p->length : 120;
    return taper_fail(p->error, TAPER_ERROR_FILE, "type \"%.*s%s\": %s at character %zu", (int)shown, p->text,
                      shown < p->length ? "..." : "", what, p->position + 1);
}

static void skip_space(parser *p)
{
    while (p->position < p->length && p->text[p->position] == ' ') {
        p->position++;
    }
}

static bool next_is(const parser *p, char c)
{
    return p->position < p->length && p->text[p->position] == c;
}

static bool accept(parser *p, char c)
{
    skip_space(p);
    if (!next_is(p, c)) {
        return false;
    }
    p->position++;
    skip_space(p);
    return true;
}

static taper_status expect(parser *p, char c)
{
    static const char *const texts[] = {"'[' expected", "']' expected", "',' expected", "')' expected"};
    if (accept(p, c)) {
        return TAPER_OK;
    }
    return refuse(p, texts[c == '[' ? 0 : c == ']' ? 1 : c == ',' ? 2 : 3]);
}

static taper_status read_name(parser *p, const char **name, size_t *length)
{
    skip_space(p);
    const size_t start = p->position;
    while (p->position < p->length && strchr("[](), ", p->text[p->position]) == NULL) {
        if ((unsigned char)p->text[p->position] < ' ') {
            return refuse(p, "control character");
        }
        p->position++;
    }
    *name = p->text + start;
    *length = p->position - start;
    return *length != 0 ? TAPER_OK : refuse(p, "name expected");
}

static bool is(const char *name, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(name, text, length) == 0;
}

static taper_status push(parser *p, const taper_type *item, const char *field)
{
    const taper_allocator *allocator = taper_types_allocator(p->types);
    TAPER_TRY(TAPER_GROW(allocator, p->items, p->item_capacity, p->count + 1, p->error));
    TAPER_TRY(TAPER_GROW(allocator, p->fields, p->field_capacity, p->count + 1, p->error));
    p->items[p->count] = item;
    p->fields[p->count] = field;
    p->count++;
    return TAPER_OK;
}

// Makes a type from the parts above `base` on the stack, and removes them.
static taper_status make(parser *p, taper_type_kind kind, const char *name, size_t base, bool named,
                         const taper_type **type)
{
    const size_t count = p->count - base;
    p->count = base;
    const taper_type *const *items = count != 0 ? p->items + base : NULL;
    const char *const *fields = named && count != 0 ? p->fields + base : NULL;
    return taper_type_make(p->types, kind, name, items, fields, count, type, p->error);
}

static taper_status parse(parser *p, int depth, const taper_type **type);

// Parses types up to the closing bracket, after the opening bracket was read.
static taper_status parse_items(parser *p, int depth)
{
    do {
        const taper_type *item;
        TAPER_TRY(parse(p, depth, &item));
        TAPER_TRY(push(p, item, NULL));
    } while (accept(p, ','));
    return expect(p, ']');
}

// Parses "NamedTuple, [[field, T],[field, T]]]" after "NAME[".
static taper_status parse_named_tuple(parser *p, const char *name, size_t length, int depth, const taper_type **type)
{
    const char *word;
    size_t word_length;
    TAPER_TRY(read_name(p, &word, &word_length));
    if (!is(word, word_length, "NamedTuple")) {
        return refuse(p, "\"NamedTuple\" expected");
    }
    TAPER_TRY(expect(p, ','));
    TAPER_TRY(expect(p, '['));
    const size_t base = p->count;
    if (!accept(p, ']')) {
        do {
            TAPER_TRY(expect(p, '['));
            TAPER_TRY(read_name(p, &word, &word_length));
            const char *field = taper_types_string(p->types, word, word_length);
            if (field == NULL) {
                return taper_fail_memory(p->error);
            }
            TAPER_TRY(expect(p, ','));
            const taper_type *item;
            TAPER_TRY(parse(p, depth, &item));
            TAPER_TRY(expect(p, ']'));
            TAPER_TRY(push(p, item, field));
        } while (accept(p, ','));
        TAPER_TRY(expect(p, ']'));
    }
    TAPER_TRY(expect(p, ']'));
    const char *kept = taper_types_string(p->types, name, length);
    if (kept == NULL) {
        return taper_fail_memory(p->error);
    }
    TAPER_TRY(make(p, TAPER_TYPE_TUPLE, kept, base, true, type));
    return taper_type_scope_enter(p->types, p->scope, *type) ? TAPER_OK : taper_fail_memory(p->error);
}

// Parses the rest of a type after "NAME[".
static taper_status parse_generic(parser *p, const char *name, size_t length, int depth, const taper_type **type)
{
    static const struct {
        const char *text;
        taper_type_kind kind;
        size_t count; // required number of items; 0 for any number
    } generics[] = {
        {"List", TAPER_TYPE_LIST, 1},    {"Optional", TAPER_TYPE_OPTIONAL, 1}, {"Dict", TAPER_TYPE_DICT, 2},
        {"Tuple", TAPER_TYPE_TUPLE, 0},  {"Future", TAPER_TYPE_FUTURE, 1},     {"RRef", TAPER_TYPE_FUTURE, 1},
        {"Await", TAPER_TYPE_FUTURE, 1}, {"Union", TAPER_TYPE_UNION, 0},
    };
    for (size_t i = 0; i < sizeof generics / sizeof generics[0]; i++) {
        if (!is(name, length, generics[i].text)) {
            continue;
        }
        const size_t base = p->count;
        if (generics[i].kind == TAPER_TYPE_TUPLE && accept(p, '(')) { // the empty tuple Tuple[()]
            TAPER_TRY(expect(p, ')'));
            TAPER_TRY(expect(p, ']'));
        } else {
            TAPER_TRY(parse_items(p, depth));
            if (generics[i].count != 0 && p->count - base != generics[i].count) {
                return refuse(p, "wrong number of type arguments");
            }
        }
        const char *kept = generics[i].kind == TAPER_TYPE_FUTURE ? generics[i].text : NULL;
        return make(p, generics[i].kind, kept, base, false, type);
    }
    if (memchr(name, '.', length) != NULL) {
        return parse_named_tuple(p, name, length, depth, type);
    }
    return refuse(p, "unknown generic type");
}

static taper_status parse_simple(parser *p, const char *name, size_t length, const taper_type **type)
{
    static const struct {
        const char *text;
        const taper_type *type;
    } simple[] = {
        {"Tensor", &taper_type_tensor},       {"int", &taper_type_int},          {"float", &taper_type_float},
        {"bool", &taper_type_bool},           {"str", &taper_type_string},       {"NoneType", &taper_type_none},
        {"None", &taper_type_none},           {"Any", &taper_type_any},          {"number", &taper_type_number},
        {"Scalar", &taper_type_number},       {"complex", &taper_type_complex},  {"Device", &taper_type_device},
        {"Generator", &taper_type_generator}, {"list", &taper_type_any_list},    {"tuple", &taper_type_any_tuple},
        {"Layout", &taper_type_int},          {"MemoryFormat", &taper_type_int}, {"ScalarType", &taper_type_int},
        {"QScheme", &taper_type_int},         {"SymInt", &taper_type_int},
    };
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        if (is(name, length, simple[i].text)) {
            *type = simple[i].type;
            return TAPER_OK;
        }
    }
    taper_type_kind kind = TAPER_TYPE_OPAQUE;
    if (memchr(name, '.', length) != NULL) {
        *type = taper_type_scope_find(p->types, p->scope, name, length);
        if (*type != NULL) {
            return TAPER_OK;
        }
        kind = TAPER_TYPE_CLASS;
    } else if (name[0] == 't' && length <= 4) { // type variables such as t, t1, tVal
        kind = TAPER_TYPE_VARIABLE;
    }
    const char *kept = taper_types_string(p->types, name, length);
    if (kept == NULL) {
        return taper_fail_memory(p->error);
    }
    return make(p, kind, kept, p->count, false, type);
}

static taper_status parse(parser *p, int depth, const taper_type **type)
{
    if (depth > TAPER_LIMIT_TYPE_DEPTH) {
        return refuse(p, "nested too deeply");
    }
    const char *name;
    size_t length;
    TAPER_TRY(read_name(p, &name, &length));
    if (accept(p, '[')) {
        return parse_generic(p, name, length, depth + 1, type);
    }
    return parse_simple(p, name, length, type);
}

taper_status taper_type_parse_in(taper_types *types, taper_type_scope *scope, const char *text, size_t length,
                                 const taper_type **type, taper_error *error)
{
    *type = NULL;
    if (length > TAPER_LIMIT_TYPE_TEXT) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "a type string of %zu characters is beyond the limit of %d",
                          length, TAPER_LIMIT_TYPE_TEXT);
    }
    TAPER_TRY(taper_charge(taper_types_allocator(types), 60 * (uint64_t)length, error));
    parser p = {.types = types, .scope = scope, .text = text, .length = length, .error = error};
    taper_status status = parse(&p, 0, type);
    if (status == TAPER_OK) {
        skip_space(&p);
        if (p.position != length) {
            status = refuse(&p, "end expected");
        }
    }
    const taper_allocator *allocator = taper_types_allocator(types);
    taper_free(allocator, p.items, p.item_capacity * sizeof *p.items);
    taper_free(allocator, p.fields, p.field_capacity * sizeof *p.fields);
    if (status != TAPER_OK) {
        *type = NULL;
    }
    return status;
}

taper_status taper_type_parse(taper_types *types, const char *text, size_t length, const taper_type **type,
                              taper_error *error)
{
    return taper_type_parse_in(types, NULL, text, length, type, error);
}

// ---- printing

static void print_items(const char *head, const taper_type *type, taper_text *text)
{
    taper_text_string(text, head);
    taper_text_string(text, "[");
    for (size_t i = 0; i < type->count; i++) {
        taper_text_string(text, i != 0 ? ", " : "");
        taper_type_print(type->items[i], text);
    }
    taper_text_string(text, type->count == 0 ? "()]" : "]");
}

void taper_type_print(const taper_type *type, taper_text *text)
{
    switch ((taper_type_kind)type->kind) {
    case TAPER_TYPE_ANY:
        taper_text_string(text, "Any");
        break;
    case TAPER_TYPE_NONE:
        taper_text_string(text, "NoneType");
        break;
    case TAPER_TYPE_TENSOR:
        taper_text_string(text, "Tensor");
        break;
    case TAPER_TYPE_INT:
        taper_text_string(text, "int");
        break;
    case TAPER_TYPE_FLOAT:
        taper_text_string(text, "float");
        break;
    case TAPER_TYPE_BOOL:
        taper_text_string(text, "bool");
        break;
    case TAPER_TYPE_COMPLEX:
        taper_text_string(text, "complex");
        break;
    case TAPER_TYPE_NUMBER:
        taper_text_string(text, "number");
        break;
    case TAPER_TYPE_STRING:
        taper_text_string(text, "str");
        break;
    case TAPER_TYPE_DEVICE:
        taper_text_string(text, "Device");
        break;
    case TAPER_TYPE_GENERATOR:
        taper_text_string(text, "Generator");
        break;
    case TAPER_TYPE_ANY_LIST:
        taper_text_string(text, "list");
        break;
    case TAPER_TYPE_ANY_TUPLE:
        taper_text_string(text, "tuple");
        break;
    case TAPER_TYPE_LIST:
        print_items("List", type, text);
        break;
    case TAPER_TYPE_OPTIONAL:
        print_items("Optional", type, text);
        break;
    case TAPER_TYPE_DICT:
        print_items("Dict", type, text);
        break;
    case TAPER_TYPE_UNION:
        print_items("Union", type, text);
        break;
    case TAPER_TYPE_FUTURE:
        print_items(type->name != NULL ? type->name : "Future", type, text);
        break;
    case TAPER_TYPE_TUPLE:
        if (type->name != NULL) { // prints only the name, as PyTorch does
            taper_text_string(text, type->name);
        } else {
            print_items("Tuple", type, text);
        }
        break;
    case TAPER_TYPE_OPAQUE:
    case TAPER_TYPE_CLASS:
    case TAPER_TYPE_VARIABLE:
        taper_text_string(text, type->name != NULL ? type->name : "?");
        break;
    }
}
