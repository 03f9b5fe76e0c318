// SPDX-License-Identifier: BSD-2-Clause
// Reads arguments in a .pt2 file. An argument is an object with one member, whose name tells its kind. In the first
// schemas the object has all members, and all except one are null.
#include "format/pt2_parts.h"

// The JSON form of an argument, or of each item if the argument is a list.
typedef enum form {
    FORM_NONE,
    FORM_NAME,
    FORM_TENSOR,
    FORM_OBJECT,
    FORM_OPTIONAL,
    FORM_INT,
    FORM_SYM_INT,
    FORM_FLOAT,
    FORM_SYM_FLOAT,
    FORM_BOOL,
    FORM_SYM_BOOL,
    FORM_COMPLEX,
    FORM_STRING,
    FORM_DTYPE,
    FORM_MEMORY_FORMAT,
    FORM_LAYOUT,
    FORM_DEVICE,
    FORM_OPERATOR,
    FORM_GRAPH,
    FORM_DICT
} form;

static const uint8_t form_kinds[] = {
    [FORM_NONE] = TAPER_PT2_NONE,     [FORM_NAME] = TAPER_PT2_VALUE,     [FORM_TENSOR] = TAPER_PT2_VALUE,
    [FORM_OBJECT] = TAPER_PT2_VALUE,  [FORM_OPTIONAL] = TAPER_PT2_VALUE, [FORM_INT] = TAPER_PT2_INT,
    [FORM_SYM_INT] = TAPER_PT2_INT,   [FORM_FLOAT] = TAPER_PT2_FLOAT,    [FORM_SYM_FLOAT] = TAPER_PT2_FLOAT,
    [FORM_BOOL] = TAPER_PT2_BOOL,     [FORM_SYM_BOOL] = TAPER_PT2_BOOL,  [FORM_COMPLEX] = TAPER_PT2_COMPLEX,
    [FORM_STRING] = TAPER_PT2_STRING, [FORM_DTYPE] = TAPER_PT2_DTYPE,    [FORM_MEMORY_FORMAT] = TAPER_PT2_MEMORY_FORMAT,
    [FORM_LAYOUT] = TAPER_PT2_LAYOUT, [FORM_DEVICE] = TAPER_PT2_DEVICE,  [FORM_OPERATOR] = TAPER_PT2_OPERATOR,
    [FORM_GRAPH] = TAPER_PT2_GRAPH,   [FORM_DICT] = TAPER_PT2_DICT,
};

static const struct {
    char name[22];
    uint8_t form, lists; // form; number of list levels around the form
} alternatives[] = {
    {"as_none", FORM_NONE, 0},
    {"as_name", FORM_NAME, 0},
    {"as_tensor", FORM_TENSOR, 0},
    {"as_tensors", FORM_TENSOR, 1},
    {"as_nested_tensors", FORM_TENSOR, 2},
    {"as_optional_tensor", FORM_OPTIONAL, 0},
    {"as_optional_tensors", FORM_OPTIONAL, 1},
    {"as_int", FORM_INT, 0},
    {"as_ints", FORM_INT, 1},
    {"as_int_lists", FORM_INT, 2},
    {"as_sym_int", FORM_SYM_INT, 0},
    {"as_sym_ints", FORM_SYM_INT, 1},
    {"as_float", FORM_FLOAT, 0},
    {"as_floats", FORM_FLOAT, 1},
    {"as_float_lists", FORM_FLOAT, 2},
    {"as_sym_float", FORM_SYM_FLOAT, 0},
    {"as_sym_floats", FORM_SYM_FLOAT, 1},
    {"as_bool", FORM_BOOL, 0},
    {"as_bools", FORM_BOOL, 1},
    {"as_sym_bool", FORM_SYM_BOOL, 0},
    {"as_sym_bools", FORM_SYM_BOOL, 1},
    {"as_complex", FORM_COMPLEX, 0},
    {"as_string", FORM_STRING, 0},
    {"as_strings", FORM_STRING, 1},
    {"as_scalar_type", FORM_DTYPE, 0},
    {"as_memory_format", FORM_MEMORY_FORMAT, 0},
    {"as_layout", FORM_LAYOUT, 0},
    {"as_device", FORM_DEVICE, 0},
    {"as_operator", FORM_OPERATOR, 0},
    {"as_graph", FORM_GRAPH, 0},
    {"as_custom_obj", FORM_OBJECT, 0},
    {"as_string_to_argument", FORM_DICT, 0},
};

// ---- values

taper_status taper_pt2_mention_add(taper_pt2 *r, const taper_pt2_value *value, bool declared,
                                   taper_pt2_argument *argument)
{
    TAPER_TRY(TAPER_GROW(r->module->allocator, r->mentions, r->mention_capacity, r->mention_count + 1, r->error));
    *argument = (taper_pt2_argument){.kind = TAPER_PT2_VALUE, .as.value = r->mention_count};
    r->mentions[r->mention_count++] = (taper_pt2_mention){.value = *value, .declared = declared};
    return TAPER_OK;
}

static taper_status name_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_value *value = to;
    if (taper_json_is(name, "name")) {
        return taper_pt2_text(r, &value->name, NULL);
    }
    return taper_json_is(name, "class_fqn") ? taper_pt2_text(r, &value->class_name, NULL) : taper_json_skip(&r->json);
}

taper_status taper_pt2_named_read(taper_pt2 *r, taper_pt2_type type, taper_pt2_argument *argument)
{
    taper_pt2_value value = {.type = (uint8_t)type};
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    TAPER_TRY(kind == TAPER_JSON_TEXT ? taper_pt2_text(r, &value.name, NULL)
                                      : taper_pt2_members(r, name_member, &value));
    if (value.name == NULL) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "a value without a name");
    }
    return taper_pt2_mention_add(r, &value, false, argument);
}

// ---- values of the alternatives of a union

static taper_status read_union(taper_pt2 *r, taper_pt2_type type, taper_pt2_argument *argument);

static taper_status complex_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    double *parts = to;
    if (taper_json_is(name, "real")) {
        return taper_pt2_float(r, &parts[0]);
    }
    return taper_json_is(name, "imag") ? taper_pt2_float(r, &parts[1]) : taper_json_skip(&r->json);
}

static taper_status read_complex(taper_pt2 *r, taper_pt2_argument *argument)
{
    double *parts = taper_arena_array(&r->module->arena, 2, sizeof *parts);
    argument->as.complex = parts;
    return parts != NULL ? taper_pt2_members(r, complex_member, parts) : taper_fail_memory(r->error);
}

static taper_status read_string(taper_pt2 *r, taper_pt2_argument *argument)
{
    size_t length = 0;
    TAPER_TRY(taper_pt2_text(r, &argument->as.text, &length));
    argument->count = (uint32_t)length;
    return length <= TAPER_LIMIT_STRING_BYTES ? TAPER_OK : taper_json_fail(&r->json, "a string is too long");
}

static taper_status read_enum(taper_pt2 *r, taper_pt2_enum kind, taper_pt2_argument *argument)
{
    int number = 0;
    TAPER_TRY(taper_pt2_enum_read(r, kind, &number));
    argument->as.i = number;
    return TAPER_OK;
}

static taper_status graph_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_graph *graph = to;
    if (taper_json_is(name, "name")) {
        return taper_pt2_text(r, &graph->name, NULL);
    }
    return taper_json_is(name, "graph") ? taper_pt2_graph_read(r, graph) : taper_json_skip(&r->json);
}

static taper_status read_graph(taper_pt2 *r, taper_pt2_argument *argument)
{
    taper_pt2_graph *graph = taper_arena_alloc(&r->module->arena, sizeof *graph);
    argument->as.graph = graph;
    return graph != NULL ? taper_pt2_members(r, graph_member, graph) : taper_fail_memory(r->error);
}

static taper_status entry_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)how;
    taper_pt2_named *entry = item;
    entry->name = name;
    return taper_pt2_argument_read(r, &entry->argument);
}

static taper_status read_dict(taper_pt2 *r, taper_pt2_argument *argument)
{
    taper_pt2_array entries;
    TAPER_TRY(taper_pt2_items(r, TAPER_JSON_OBJECT, entry_item, NULL, sizeof(taper_pt2_named), &entries));
    argument->as.entries = entries.items;
    argument->count = (uint32_t)entries.count;
    return TAPER_OK;
}

static taper_status read_bool(taper_pt2 *r, taper_pt2_argument *argument)
{
    bool flag = false;
    TAPER_TRY(taper_json_take_bool(&r->json, &flag));
    argument->as.i = flag;
    return TAPER_OK;
}

static taper_status read_form(taper_pt2 *r, form what, taper_pt2_type type, taper_pt2_argument *argument)
{
    argument->kind = form_kinds[what];
    switch (what) {
    case FORM_NAME: // "as_name" occurs only inside "as_sym_int", "as_sym_float" and "as_sym_bool", and in their lists
        return taper_pt2_named_read(r, type, argument);
    case FORM_TENSOR:
        return taper_pt2_named_read(r, TAPER_PT2_TYPE_TENSOR, argument);
    case FORM_OBJECT:
        return taper_pt2_named_read(r, TAPER_PT2_TYPE_OBJECT, argument);
    case FORM_OPTIONAL:
        return read_union(r, TAPER_PT2_TYPE_TENSOR, argument);
    case FORM_INT:
        return taper_pt2_int(r, &argument->as.i);
    case FORM_SYM_INT:
        return read_union(r, TAPER_PT2_TYPE_INT, argument);
    case FORM_FLOAT:
        return taper_pt2_float(r, &argument->as.f);
    case FORM_SYM_FLOAT:
        return read_union(r, TAPER_PT2_TYPE_FLOAT, argument);
    case FORM_BOOL:
        return read_bool(r, argument);
    case FORM_SYM_BOOL:
        return read_union(r, TAPER_PT2_TYPE_BOOL, argument);
    case FORM_COMPLEX:
        return read_complex(r, argument);
    case FORM_STRING:
    case FORM_OPERATOR:
        return read_string(r, argument);
    case FORM_DTYPE:
        return read_enum(r, TAPER_PT2_ENUM_DTYPE, argument);
    case FORM_MEMORY_FORMAT:
        return read_enum(r, TAPER_PT2_ENUM_MEMORY_FORMAT, argument);
    case FORM_LAYOUT:
        return read_enum(r, TAPER_PT2_ENUM_LAYOUT, argument);
    case FORM_DEVICE:
        return taper_pt2_device_read(r, &argument->as.text);
    case FORM_GRAPH:
        return read_graph(r, argument);
    case FORM_DICT:
        return read_dict(r, argument);
    default: // null is written as true, or as [] in the first schemas
        return taper_json_skip(&r->json);
    }
}

// ---- lists

typedef struct list_form {
    form what;
    size_t lists;
    taper_pt2_type type;
} list_form;

static taper_status read_lists(taper_pt2 *r, const list_form *list, taper_pt2_argument *argument);

static taper_status list_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    return read_lists(r, how, item);
}

static taper_status read_lists(taper_pt2 *r, const list_form *list, taper_pt2_argument *argument)
{
    if (list->lists == 0) {
        return read_form(r, list->what, list->type, argument);
    }
    const list_form items = {list->what, list->lists - 1, list->type};
    taper_pt2_array array;
    TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, list_item, &items, sizeof *argument, &array));
    *argument = (taper_pt2_argument){.kind = TAPER_PT2_LIST,
                                     .of = items.lists != 0 ? TAPER_PT2_LIST : form_kinds[list->what],
                                     .count = (uint32_t)array.count,
                                     .as.items = array.items};
    return TAPER_OK;
}

// ---- the alternatives (members of the union Argument)

typedef struct alternative {
    taper_pt2_argument *argument;
    taper_pt2_type type; // type of the value, for an alternative of the union that contains only a name
    bool found;
} alternative;

static taper_status union_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    alternative *a = to;
    if (a->found) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "an argument of two kinds");
    }
    a->found = true;
    for (size_t i = 0; i < sizeof alternatives / sizeof alternatives[0]; i++) {
        if (taper_json_is(name, alternatives[i].name)) {
            const list_form list = {(form)alternatives[i].form, alternatives[i].lists, a->type};
            return read_lists(r, &list, a->argument);
        }
    }
    return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED,
                          "an argument of the kind \"%.*s\", which this version of Taper does not know",
                          (int)taper_min_size(name->length, 100), name->at);
}

static taper_status read_union(taper_pt2 *r, taper_pt2_type type, taper_pt2_argument *argument)
{
    alternative a = {.argument = argument, .type = type};
    TAPER_TRY(taper_pt2_members(r, union_member, &a));
    return a.found ? TAPER_OK : taper_pt2_fail(r, TAPER_ERROR_FILE, "an argument of no kind");
}

taper_status taper_pt2_argument_read(taper_pt2 *r, taper_pt2_argument *argument)
{
    return read_union(r, TAPER_PT2_TYPE_TENSOR, argument);
}

taper_status taper_pt2_argument_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    (void)how;
    return taper_pt2_argument_read(r, item);
}
