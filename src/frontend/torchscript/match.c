// SPDX-License-Identifier: BSD-2-Clause
// Decides compatibility of types as PyTorch's compiler does: subtypes, unions, implicit conversions, the best overload.
#include "frontend/torchscript/lower.h"
#include "ir/effects.h"
#include "ops/list/op_names.h"
#include "ops/list/op_table.h"

static bool same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool is_interface(taper_ts_lowering *l, const taper_type *type)
{
    taper_ts_definition *d;
    return taper_ts_find_type(l->unit, type, &d) == TAPER_OK && d != NULL && d->kind == TAPER_TS_AN_INTERFACE;
}

static bool equal(const taper_type *a, const taper_type *b)
{
    return a == b || a->kind == TAPER_TYPE_ANY || b->kind == TAPER_TYPE_ANY || taper_type_equal(a, b);
}

bool taper_ts_subtype(taper_ts_lowering *l, const taper_type *a, const taper_type *b)
{
    if (a == NULL || b == NULL || a == b || b->kind == TAPER_TYPE_ANY) {
        return true;
    }
    if (a->kind == TAPER_TYPE_UNION) {
        for (size_t i = 0; i < a->count; i++) {
            if (!taper_ts_subtype(l, a->items[i], b)) {
                return false;
            }
        }
        return true;
    }
    switch ((taper_type_kind)b->kind) {
    case TAPER_TYPE_OPTIONAL:
        return a->kind == TAPER_TYPE_NONE ||
               taper_ts_subtype(l, a->kind == TAPER_TYPE_OPTIONAL ? a->items[0] : a, b->items[0]);
    case TAPER_TYPE_UNION:
        if (a->kind == TAPER_TYPE_OPTIONAL) {
            return taper_ts_subtype(l, &taper_type_none, b) && taper_ts_subtype(l, a->items[0], b);
        }
        for (size_t i = 0; i < b->count; i++) {
            if (taper_ts_subtype(l, a, b->items[i])) {
                return true;
            }
        }
        return false;
    case TAPER_TYPE_NUMBER:
        return a->kind == TAPER_TYPE_INT || a->kind == TAPER_TYPE_FLOAT || a->kind == TAPER_TYPE_COMPLEX ||
               a->kind == TAPER_TYPE_NUMBER;
    case TAPER_TYPE_TUPLE:
        if (a->kind != TAPER_TYPE_TUPLE || a->count != b->count || (b->name != NULL && !same_name(a->name, b->name))) {
            return false;
        }
        for (size_t i = 0; i < a->count; i++) {
            if (!taper_ts_subtype(l, a->items[i], b->items[i])) {
                return false;
            }
        }
        return true;
    case TAPER_TYPE_LIST:
    case TAPER_TYPE_FUTURE:
        return a->kind == b->kind && equal(a->items[0], b->items[0]);
    case TAPER_TYPE_DICT:
        return a->kind == TAPER_TYPE_DICT && equal(a->items[0], b->items[0]) && equal(a->items[1], b->items[1]);
    case TAPER_TYPE_ANY_LIST:
        return a->kind == TAPER_TYPE_LIST || a->kind == TAPER_TYPE_ANY_LIST;
    case TAPER_TYPE_ANY_TUPLE:
        return a->kind == TAPER_TYPE_TUPLE || a->kind == TAPER_TYPE_ANY_TUPLE;
    case TAPER_TYPE_CLASS:
        return a->kind == TAPER_TYPE_CLASS && (same_name(a->name, b->name) || is_interface(l, b));
    case TAPER_TYPE_OPAQUE:
        return a->kind == TAPER_TYPE_OPAQUE && same_name(a->name, b->name);
    default:
        return a->kind == b->kind;
    }
}

static taper_status make(taper_ts_lowering *l, taper_type_kind kind, const char *name, const taper_type *const *items,
                         const char *const *fields, size_t count, const taper_type **type)
{
    return taper_type_make(l->unit->module->types, kind, name, items, fields, count, type, l->unit->error);
}

// Makes the Union of both types. If one of them is a Union, its members are used instead of it. *type is NULL if there
// would be too many members.
static taper_status either(taper_ts_lowering *l, const taper_type *a, const taper_type *b, const taper_type **type)
{
    const taper_type *items[16], *const both[2] = {a, b};
    size_t count = 0;
    TAPER_TRY(taper_ts_charge(l, sizeof items / sizeof *items));
    for (size_t i = 0; i < 2; i++) {
        const bool of_many = both[i]->kind == TAPER_TYPE_UNION;
        for (size_t k = 0; k < (of_many ? both[i]->count : 1); k++) {
            if (count == sizeof items / sizeof *items) {
                return TAPER_OK;
            }
            items[count++] = of_many ? both[i]->items[k] : both[i];
        }
    }
    return make(l, TAPER_TYPE_UNION, NULL, items, NULL, count, type);
}

static taper_status unify(taper_ts_lowering *l, const taper_type *a, const taper_type *b, bool unions,
                          const taper_type **type)
{
    *type = NULL;
    if (a == NULL || b == NULL) {
        return TAPER_OK;
    }
    if (taper_ts_subtype(l, a, b) || taper_ts_subtype(l, b, a)) {
        *type = taper_ts_subtype(l, a, b) ? b : a;
        return TAPER_OK;
    }
    const bool none_a = a->kind == TAPER_TYPE_NONE, none_b = b->kind == TAPER_TYPE_NONE;
    if (none_a || none_b) {
        return make(l, TAPER_TYPE_OPTIONAL, NULL, none_a ? &b : &a, NULL, 1, type);
    }
    if (a->kind == TAPER_TYPE_OPTIONAL || b->kind == TAPER_TYPE_OPTIONAL) {
        const taper_type *inner;
        TAPER_TRY(unify(l, a->kind == TAPER_TYPE_OPTIONAL ? a->items[0] : a,
                        b->kind == TAPER_TYPE_OPTIONAL ? b->items[0] : b, unions, &inner));
        return inner == NULL ? TAPER_OK : make(l, TAPER_TYPE_OPTIONAL, NULL, &inner, NULL, 1, type);
    }
    if (a->kind == TAPER_TYPE_TUPLE && b->kind == TAPER_TYPE_TUPLE && a->count == b->count) {
        const taper_type *items[64];
        for (size_t i = 0; i < a->count; i++) {
            items[i % 64] = NULL;
            if (a->count <= 64) {
                TAPER_TRY(unify(l, a->items[i], b->items[i], unions, &items[i]));
            }
            if (items[i % 64] == NULL) {
                return TAPER_OK;
            }
        }
        return make(l, TAPER_TYPE_TUPLE, NULL, items, NULL, a->count, type);
    }
    return unions ? either(l, a, b, type) : TAPER_OK;
}

taper_status taper_ts_unify(taper_ts_lowering *l, const taper_type *a, const taper_type *b, const taper_type **type)
{
    return unify(l, a, b, false, type);
}

taper_status taper_ts_unify_items(taper_ts_lowering *l, const taper_type *a, const taper_type *b,
                                  const taper_type **type)
{
    return unify(l, a, b, true, type);
}

// ---- conversions of arguments

// Returns true if a value that cannot be None is passed where an Optional is required.
static bool is_bare(const taper_type *from, const taper_type *to)
{
    return to->kind == TAPER_TYPE_OPTIONAL && from->kind != TAPER_TYPE_OPTIONAL && from->kind != TAPER_TYPE_NONE &&
           from->kind != TAPER_TYPE_UNION;
}

bool taper_ts_converts(taper_ts_lowering *l, const taper_type *from, const taper_type *to, int32_t size, bool implicit)
{
    if (from == NULL || to == NULL) {
        return true;
    }
    if (is_bare(from, to)) {
        to = to->items[0];
    }
    if (size >= 0 && to->kind == TAPER_TYPE_LIST && from->kind == to->items[0]->kind &&
        (from->kind == TAPER_TYPE_INT || from->kind == TAPER_TYPE_FLOAT)) {
        return true;
    }
    if (from->kind == TAPER_TYPE_TUPLE && (to->kind == TAPER_TYPE_LIST || to->kind == TAPER_TYPE_TUPLE) &&
        !taper_ts_subtype(l, from, to)) {
        if (to->kind == TAPER_TYPE_TUPLE && to->count != from->count) {
            return false;
        }
        for (size_t i = 0; i < from->count; i++) {
            const bool item = to->kind == TAPER_TYPE_LIST
                                  ? taper_ts_subtype(l, from->items[i], to->items[0])
                                  : taper_ts_converts(l, from->items[i], to->items[i], -1, implicit);
            if (!item) {
                return false;
            }
        }
        return true;
    }
    if (implicit) {
        const bool number = to->kind == TAPER_TYPE_INT || to->kind == TAPER_TYPE_FLOAT ||
                            to->kind == TAPER_TYPE_COMPLEX || to->kind == TAPER_TYPE_NUMBER;
        if (number && (from->kind == TAPER_TYPE_TENSOR || from->kind == TAPER_TYPE_NUMBER)) {
            return true;
        }
        if (from->kind == TAPER_TYPE_STRING && to->kind == TAPER_TYPE_DEVICE) {
            return true;
        }
    }
    return taper_ts_subtype(l, from, to);
}

static taper_status convert_tuple(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding value,
                                  const taper_type *to, taper_ts_binding *out)
{
    const size_t count = value.type->count;
    if (to->kind == TAPER_TYPE_TUPLE && to->count != count) {
        return taper_ts_refuse(l, node, "a tuple of %zu items stands where one of %zu is declared", count,
                               (size_t)to->count);
    }
    taper_ts_binding *items = taper_alloc(l->unit->allocator, (count + 1) * sizeof *items);
    if (items == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    taper_status status = taper_ts_unpack(l, node, value, count, items);
    for (size_t i = 0; status == TAPER_OK && i < count && to->kind == TAPER_TYPE_TUPLE; i++) {
        status = taper_ts_convert(l, node, items[i], to->items[i], -1, &items[i]);
    }
    if (status == TAPER_OK) {
        status = to->kind == TAPER_TYPE_LIST ? taper_ts_make_container(l, TAPER_NODE_LIST, to, items, count, out)
                                             : taper_ts_make_tuple(l, items, count, out);
    }
    taper_free(l->unit->allocator, items, (count + 1) * sizeof *items);
    return status;
}

// A tensor made from a number is common in traces. If such a tensor only becomes a number again, the original number is
// used.
bool taper_ts_number_behind(const taper_ts_lowering *l, taper_ts_binding value, const taper_type *to,
                            taper_ts_binding *out)
{
    const taper_node *made = value.value->node;
    if (made == NULL || !taper_node_calls(made, TAPER_OP(prim_NumToTensor_Scalar)) || l->listing) {
        return false;
    }
    const taper_type *number = taper_node_in(made, 0)->type;
    if (number == NULL || (number != to && to->kind != TAPER_TYPE_NUMBER)) {
        return false;
    }
    *out = (taper_ts_binding){.value = taper_node_in(made, 0), .type = number};
    return true;
}

taper_status taper_ts_convert(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding value,
                              const taper_type *to, int32_t size, taper_ts_binding *out)
{
    const taper_type *from = value.type;
    *out = value;
    if (from == NULL || to == NULL || from == to) {
        return TAPER_OK;
    }
    if (is_bare(from, to)) {
        to = to->items[0];
    }
    if (size >= 0 && to->kind == TAPER_TYPE_LIST && from->kind == to->items[0]->kind) {
        taper_ts_binding items[16];
        for (int32_t i = 0; i < size && i < 16; i++) {
            items[i] = value;
        }
        return taper_ts_make_container(l, TAPER_NODE_LIST, to, items, taper_min_size((size_t)size, 16), out);
    }
    if (from->kind == TAPER_TYPE_TUPLE && (to->kind == TAPER_TYPE_LIST || to->kind == TAPER_TYPE_TUPLE) &&
        !taper_ts_subtype(l, from, to)) {
        return convert_tuple(l, node, value, to, out);
    }
    const char *name = NULL;
    if (from->kind == TAPER_TYPE_TENSOR) {
        name = to->kind == TAPER_TYPE_INT       ? TAPER_NAME_INT_IMPLICIT
               : to->kind == TAPER_TYPE_FLOAT   ? TAPER_NAME_FLOAT_IMPLICIT
               : to->kind == TAPER_TYPE_COMPLEX ? TAPER_NAME_COMPLEX_IMPLICIT
               : to->kind == TAPER_TYPE_NUMBER  ? TAPER_NAME_SCALAR_IMPLICIT
                                                : NULL;
    } else if (from->kind == TAPER_TYPE_NUMBER) {
        name = to->kind == TAPER_TYPE_INT       ? TAPER_NAME_INT
               : to->kind == TAPER_TYPE_FLOAT   ? TAPER_NAME_FLOAT
               : to->kind == TAPER_TYPE_COMPLEX ? TAPER_NAME_COMPLEX
                                                : NULL;
    } else if (from->kind == TAPER_TYPE_STRING && to->kind == TAPER_TYPE_DEVICE) {
        name = TAPER_NAME_DEVICE;
    }
    if (name != NULL && taper_ts_number_behind(l, value, to, out)) {
        return TAPER_OK;
    }
    return name != NULL ? taper_ts_builtin(l, node, name, &value, NULL, 1, out) : TAPER_OK;
}

// ---- type variables

static const taper_type **variable(taper_ts_variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->count; i++) {
        if (strcmp(variables->names[i], name) == 0) {
            return &variables->types[i];
        }
    }
    if (variables->count == sizeof variables->names / sizeof variables->names[0]) {
        return NULL;
    }
    variables->names[variables->count] = name;
    variables->types[variables->count] = NULL;
    return &variables->types[variables->count++];
}

taper_status taper_ts_bind_variables(taper_ts_lowering *l, const taper_type *formal, const taper_type *actual,
                                     taper_ts_variables *variables, bool *fits)
{
    *fits = true;
    if (actual == NULL) {
        return TAPER_OK;
    }
    if (formal->kind == TAPER_TYPE_VARIABLE) {
        const taper_type **bound = variable(variables, formal->name);
        if (bound == NULL || *bound == NULL) {
            if (bound != NULL) {
                *bound = actual;
            }
            return TAPER_OK;
        }
        const taper_type *both;
        TAPER_TRY(taper_ts_unify(l, *bound, actual, &both));
        *fits = both != NULL;
        *bound = both != NULL ? both : *bound;
        return TAPER_OK;
    }
    if (formal->kind == TAPER_TYPE_OPTIONAL) {
        if (actual->kind == TAPER_TYPE_NONE) {
            return TAPER_OK;
        }
        return taper_ts_bind_variables(
            l, formal->items[0], actual->kind == TAPER_TYPE_OPTIONAL ? actual->items[0] : actual, variables, fits);
    }
    if (formal->kind == TAPER_TYPE_LIST && actual->kind == TAPER_TYPE_TUPLE) {
        for (size_t i = 0; *fits && i < actual->count; i++) {
            TAPER_TRY(taper_ts_bind_variables(l, formal->items[0], actual->items[i], variables, fits));
        }
        return TAPER_OK;
    }
    if (formal->kind == actual->kind && formal->count == actual->count) {
        for (size_t i = 0; *fits && i < formal->count; i++) {
            TAPER_TRY(taper_ts_bind_variables(l, formal->items[i], actual->items[i], variables, fits));
        }
    }
    return TAPER_OK; // the remaining arguments are checked when all type variables are known
}

static bool has_variables(const taper_type *type)
{
    if (type->kind == TAPER_TYPE_VARIABLE) {
        return true;
    }
    for (size_t i = 0; i < type->count; i++) {
        if (has_variables(type->items[i])) {
            return true;
        }
    }
    return false;
}

taper_status taper_ts_substitute(taper_ts_lowering *l, const taper_type *formal, const taper_ts_variables *variables,
                                 const taper_type **type)
{
    const taper_type *items[16];
    *type = formal;
    if (!has_variables(formal)) {
        return TAPER_OK;
    }
    if (formal->kind == TAPER_TYPE_VARIABLE) {
        *type = NULL;
        for (size_t i = 0; i < variables->count; i++) {
            if (strcmp(variables->names[i], formal->name) == 0) {
                *type = variables->types[i];
            }
        }
        return TAPER_OK;
    }
    for (size_t i = 0; i < formal->count && i < 16; i++) {
        TAPER_TRY(taper_ts_substitute(l, formal->items[i], variables, &items[i]));
        if (items[i] == NULL) {
            items[i] = &taper_type_any;
        }
    }
    if (formal->kind == TAPER_TYPE_OPTIONAL &&
        (items[0]->kind == TAPER_TYPE_OPTIONAL || items[0]->kind == TAPER_TYPE_NONE)) {
        *type = items[0];
        return TAPER_OK;
    }
    return make(l, (taper_type_kind)formal->kind, formal->name, items, formal->fields,
                taper_min_size(formal->count, 16), type);
}

// ---- types of values

const taper_type *taper_ts_value_type(taper_ts_lowering *l, taper_val value)
{
    const taper_type *type = NULL, *items[64];
    switch ((taper_tag)value.tag) {
    case TAPER_NONE:
        return &taper_type_none;
    case TAPER_BOOLEAN:
        return &taper_type_bool;
    case TAPER_INT:
        return &taper_type_int;
    case TAPER_DOUBLE:
        return &taper_type_float;
    case TAPER_DEVICE:
        return &taper_type_device;
    case TAPER_COMPLEX:
        return &taper_type_complex;
    case TAPER_STRING:
        return &taper_type_string;
    case TAPER_TENSOR:
        return &taper_type_tensor;
    case TAPER_LIST:
        items[0] = value.as.list->element;
        if (items[0] == NULL && value.as.list->count != 0) {
            items[0] = taper_ts_value_type(l, value.as.list->items[0]);
        }
        if (items[0] == NULL || make(l, TAPER_TYPE_LIST, NULL, items, NULL, 1, &type) != TAPER_OK) {
            return NULL;
        }
        return type;
    case TAPER_DICT:
        items[0] = value.as.dict->key;
        items[1] = value.as.dict->value;
        if (items[0] == NULL || make(l, TAPER_TYPE_DICT, NULL, items, NULL, 2, &type) != TAPER_OK) {
            return NULL;
        }
        return type;
    case TAPER_TUPLE:
        if (value.as.tuple->type != NULL) {
            return value.as.tuple->type;
        }
        for (size_t i = 0; i < value.as.tuple->count; i++) {
            items[i % 64] = taper_ts_value_type(l, value.as.tuple->items[i]);
            if (value.as.tuple->count > 64 || items[i % 64] == NULL) {
                return NULL;
            }
        }
        if (make(l, TAPER_TYPE_TUPLE, NULL, items, NULL, value.as.tuple->count, &type) != TAPER_OK) {
            return NULL;
        }
        return type;
    case TAPER_OBJECT:
        if (make(l, TAPER_TYPE_CLASS, value.as.object->klass->name, NULL, NULL, 0, &type) != TAPER_OK) {
            return NULL;
        }
        return type;
    default:
        return NULL;
    }
}
