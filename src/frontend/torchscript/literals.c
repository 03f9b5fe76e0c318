// SPDX-License-Identifier: BSD-2-Clause
// Evaluates literals: defaults of parameters, Finals, values of enum members.
#include "format/saved_value.h"
#include "frontend/torchscript/unit.h"

#include <math.h>

static bool is_number(taper_val value)
{
    return value.tag == TAPER_INT || value.tag == TAPER_DOUBLE || value.tag == TAPER_COMPLEX;
}

static void parts(taper_val value, double *re, double *im)
{
    *re = value.tag == TAPER_INT ? (double)value.as.i : value.tag == TAPER_DOUBLE ? value.as.f : value.as.complex->re;
    *im = value.tag == TAPER_COMPLEX ? value.as.complex->im : 0;
}

// Evaluates a + b or a - b with one imaginary operand, which is the notation for complex numbers.
static taper_status complex_sum(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, taper_val *value)
{
    taper_val a, b;
    TAPER_TRY(taper_ts_literal(unit, file, node->child, NULL, &a));
    taper_status status = taper_ts_literal(unit, file, node->child->next, NULL, &b);
    if (status != TAPER_OK) {
        taper_val_release(a);
        return status;
    }
    if (is_number(a) && is_number(b)) {
        double re[2], im[2];
        const double sign = node->kind == TAPER_TS_SUM ? 1 : -1;
        parts(a, &re[0], &im[0]);
        parts(b, &re[1], &im[1]);
        taper_complex *made = taper_complex_new(unit->module->heap, re[0] + sign * re[1], im[0] + sign * im[1]);
        if (made != NULL) {
            *value = TAPER_VAL(made);
        } else {
            status = taper_fail_memory(unit->error);
        }
    } else {
        status = taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a literal");
    }
    taper_val_release(a);
    taper_val_release(b);
    return status;
}

static taper_status negative(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, taper_val *value)
{
    if (node->child->kind == TAPER_TS_INTEGER) {
        *value = taper_val_int((int64_t)(0 - (uint64_t)node->child->as.integer));
        return TAPER_OK;
    }
    TAPER_TRY(taper_ts_literal(unit, file, node->child, NULL, value));
    if (value->tag == TAPER_DOUBLE) {
        value->as.f = -value->as.f;
        return TAPER_OK;
    }
    if (value->tag == TAPER_COMPLEX) { // no other code holds the value, so it may be changed
        value->as.complex->re = -value->as.complex->re;
        value->as.complex->im = -value->as.complex->im;
        return TAPER_OK;
    }
    taper_val_release(*value);
    *value = taper_val_none();
    return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a literal");
}

static const taper_type *element_hint(const taper_type *hint)
{
    if (hint != NULL && hint->kind == TAPER_TYPE_OPTIONAL) {
        hint = hint->items[0];
    }
    return hint != NULL && hint->kind == TAPER_TYPE_LIST ? hint->items[0] : NULL;
}

static const taper_type *type_of(taper_val value)
{
    return value.tag == TAPER_INT       ? &taper_type_int
           : value.tag == TAPER_DOUBLE  ? &taper_type_float
           : value.tag == TAPER_BOOLEAN ? &taper_type_bool
           : value.tag == TAPER_STRING  ? &taper_type_string
                                        : NULL;
}

static taper_status items(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, const taper_type *hint,
                          taper_val *value)
{
    const bool tuple = node->kind == TAPER_TS_TUPLE_OF;
    const taper_type *element = element_hint(hint);
    size_t count = 0;
    for (const taper_ts_node *item = node->child; item != NULL; item = item->next) {
        count++;
    }
    taper_obj *made = tuple ? (taper_obj *)taper_tuple_new(unit->module->heap, NULL, count)
                            : (taper_obj *)taper_list_new(unit->module->heap, element, count);
    if (made == NULL) {
        return taper_fail_memory(unit->error);
    }
    *value = taper_val_of(made);
    taper_status status = TAPER_OK;
    size_t i = 0;
    for (const taper_ts_node *item = node->child; item != NULL && status == TAPER_OK; item = item->next) {
        taper_val one;
        status = taper_ts_literal(unit, file, item, element, &one);
        if (status != TAPER_OK) {
            break;
        }
        if (tuple) {
            value->as.tuple->items[i++] = one;
        } else {
            if (value->as.list->element == NULL) {
                value->as.list->element = type_of(one);
            }
            status = taper_list_append(value->as.list, one, unit->error);
        }
    }
    if (status != TAPER_OK) {
        taper_val_release(*value);
        *value = taper_val_none();
    }
    return status;
}

static taper_status dotted(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, taper_val *value)
{
    const char *text;
    size_t length;
    taper_ts_definition *d = NULL;
    // True for a member of an enum, such as __torch__.E.NAME.
    if (node->kind == TAPER_TS_ATTRIBUTE && taper_ts_dotted(unit, file, node->child, &text, &length)) {
        TAPER_TRY(taper_ts_find_text(unit, text, length, &d));
    }
    const taper_ts_attribute *member =
        d != NULL && d->kind == TAPER_TS_AN_ENUM ? taper_ts_attribute_named(d, node->atom) : NULL;
    if (member != NULL) {
        TAPER_TRY(taper_ts_enum_member(unit, d, (uint32_t)(member - d->attributes), value));
        (void)taper_val_retain(*value);
        return TAPER_OK;
    }
    return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a literal");
}

// Evaluates torch.device("cpu").
static taper_status device(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, taper_val *value)
{
    const taper_ts_node *argument = node->child->next;
    if (node->child->kind != TAPER_TS_ATTRIBUTE || strcmp(unit->atoms.names[node->child->atom], "device") != 0 ||
        argument == NULL || argument->kind != TAPER_TS_STRING ||
        !taper_saved_device(argument->as.text, argument->length, -1, value)) {
        return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a literal");
    }
    return TAPER_OK;
}

taper_status taper_ts_literal(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, const taper_type *hint,
                              taper_val *value)
{
    taper_obj *made;
    *value = taper_val_none();
    switch ((taper_ts_kind)node->kind) {
    case TAPER_TS_INTEGER:
        *value = taper_val_int(node->as.integer);
        return TAPER_OK;
    case TAPER_TS_REAL:
        *value = taper_val_double(node->as.real);
        return TAPER_OK;
    case TAPER_TS_IMAGINARY:
        made = (taper_obj *)taper_complex_new(unit->module->heap, 0, node->as.real);
        break;
    case TAPER_TS_STRING:
        made = (taper_obj *)taper_string_new(unit->module->heap, node->as.text, node->length);
        break;
    case TAPER_TS_CONSTANT:
        *value = node->atom == TAPER_ATOM_NONE ? taper_val_none() : taper_val_bool(node->atom == TAPER_ATOM_TRUE);
        return TAPER_OK;
    case TAPER_TS_NAME:
        if (node->atom == TAPER_ATOM_INF || node->atom == TAPER_ATOM_NAN) {
            *value = taper_val_double(node->atom == TAPER_ATOM_INF ? (double)INFINITY : (double)NAN);
            return TAPER_OK;
        }
        if (node->atom == TAPER_ATOM_INFJ || node->atom == TAPER_ATOM_NANJ) {
            made = (taper_obj *)taper_complex_new(unit->module->heap, 0,
                                                  node->atom == TAPER_ATOM_INFJ ? (double)INFINITY : (double)NAN);
            break;
        }
        return dotted(unit, file, node, value);
    case TAPER_TS_NEGATIVE:
        return negative(unit, file, node, value);
    case TAPER_TS_SUM:
    case TAPER_TS_DIFFERENCE:
        return complex_sum(unit, file, node, value);
    case TAPER_TS_ITEMS:
    case TAPER_TS_TUPLE_OF:
        return items(unit, file, node, hint, value);
    case TAPER_TS_CALL:
        return device(unit, file, node, value);
    default:
        return dotted(unit, file, node, value);
    }
    if (made == NULL) {
        return taper_fail_memory(unit->error);
    }
    *value = taper_val_of(made);
    return TAPER_OK;
}

taper_status taper_ts_enum_member(taper_ts_unit *unit, taper_ts_definition *definition, uint32_t index,
                                  taper_val *member)
{
    static const char *const slots[] = {"name", "value"};
    if (definition->members == NULL) {
        const taper_class *klass =
            taper_types_class(unit->module->types, unit->atoms.names[definition->qualified], 2, slots);
        taper_val *members = taper_arena_array(&unit->arena, definition->attribute_count, sizeof *members);
        if (klass == NULL || members == NULL) {
            return taper_fail_memory(unit->error);
        }
        definition->members = members;
        for (uint32_t i = 0; i < definition->attribute_count; i++) {
            const taper_ts_attribute *a = &definition->attributes[i];
            const char *name = unit->atoms.names[a->atom];
            taper_object *object = taper_object_new(unit->module->heap, klass, 2);
            taper_string *text = object != NULL ? taper_string_new(unit->module->heap, name, strlen(name)) : NULL;
            if (object == NULL) {
                return taper_fail_memory(unit->error);
            }
            members[i] = TAPER_VAL(object);
            if (text == NULL) {
                return taper_fail_memory(unit->error);
            }
            object->slots[0] = TAPER_VAL(text);
            if (a->value == NULL) {
                return taper_ts_fail(unit, TAPER_ERROR_FILE, definition->file, definition->at,
                                     "a member of the enum has no value");
            }
            TAPER_TRY(taper_ts_literal(unit, definition->file, a->value, NULL, &object->slots[1]));
        }
    }
    *member = definition->members[index];
    return member->tag == TAPER_OBJECT ? TAPER_OK
                                       : taper_ts_fail(unit, TAPER_ERROR_FILE, definition->file, definition->at,
                                                       "the members of the enum refer to each other");
}
