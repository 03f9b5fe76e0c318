// SPDX-License-Identifier: BSD-2-Clause
// Resolves type expressions, and makes the types of classes, named tuples, interfaces and enums.
#include "frontend/torchscript/unit.h"

static const taper_type *simple_type(uint32_t atom)
{
    switch (atom) {
    case TAPER_ATOM_TENSOR:
        return &taper_type_tensor;
    case TAPER_ATOM_INT:
    case TAPER_ATOM_LAYOUT:
    case TAPER_ATOM_QSCHEME:
        return &taper_type_int;
    case TAPER_ATOM_FLOAT:
        return &taper_type_float;
    case TAPER_ATOM_BOOL:
        return &taper_type_bool;
    case TAPER_ATOM_COMPLEX:
        return &taper_type_complex;
    case TAPER_ATOM_STR:
        return &taper_type_string;
    case TAPER_ATOM_NUMBER:
    case TAPER_ATOM_SCALAR:
        return &taper_type_number;
    case TAPER_ATOM_DEVICE:
        return &taper_type_device;
    case TAPER_ATOM_GENERATOR:
        return &taper_type_generator;
    case TAPER_ATOM_NONE_TYPE:
    case TAPER_ATOM_NONE:
        return &taper_type_none;
    case TAPER_ATOM_ANY:
        return &taper_type_any;
    case TAPER_ATOM_ANY_LIST:
        return &taper_type_any_list;
    case TAPER_ATOM_ANY_TUPLE:
        return &taper_type_any_tuple;
    default:
        return NULL;
    }
}

static taper_status make(taper_ts_unit *unit, taper_type_kind kind, const char *name, const taper_type *const *items,
                         size_t count, const taper_type **type)
{
    return taper_type_make(unit->module->types, kind, name, items, NULL, count, type, unit->error);
}

// Resolves generic types: List[T], Tuple[A, B], ….
static taper_status generic_type(taper_ts_unit *unit, uint32_t file, taper_ts_node *node, const taper_type **type)
{
    const taper_ts_node *base = node->child;
    taper_ts_node *inside = base->next;
    if (base->kind != TAPER_TS_NAME || inside->kind == TAPER_TS_SLICE) {
        return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a type");
    }
    const bool several = inside->kind == TAPER_TS_TUPLE_OF;
    size_t count = 0;
    for (const taper_ts_node *item = several ? inside->child : inside; item != NULL;
         item = several ? item->next : NULL) {
        count++;
    }
    const taper_type **items = taper_arena_array(&unit->arena, count, sizeof *items);
    if (items == NULL) {
        return taper_fail_memory(unit->error);
    }
    count = 0;
    for (taper_ts_node *item = several ? inside->child : inside; item != NULL; item = several ? item->next : NULL) {
        TAPER_TRY(taper_ts_type(unit, file, item, &items[count++]));
    }
    const bool one = count == 1, two = count == 2;
    if (base->atom == TAPER_ATOM_LIST && one) {
        return make(unit, TAPER_TYPE_LIST, NULL, items, 1, type);
    }
    if (base->atom == TAPER_ATOM_DICT && two) {
        return make(unit, TAPER_TYPE_DICT, NULL, items, 2, type);
    }
    if (base->atom == TAPER_ATOM_TUPLE) {
        return make(unit, TAPER_TYPE_TUPLE, NULL, items, count, type);
    }
    if (base->atom == TAPER_ATOM_OPTIONAL && one) {
        if (items[0]->kind == TAPER_TYPE_OPTIONAL || items[0]->kind == TAPER_TYPE_NONE) {
            *type = items[0];
            return TAPER_OK;
        }
        return make(unit, TAPER_TYPE_OPTIONAL, NULL, items, 1, type);
    }
    if ((base->atom == TAPER_ATOM_FUTURE || base->atom == TAPER_ATOM_RREF) && one) {
        return make(unit, TAPER_TYPE_FUTURE, base->atom == TAPER_ATOM_RREF ? "RRef" : "Future", items, 1, type);
    }
    if ((base->atom == TAPER_ATOM_FINAL || base->atom == TAPER_ATOM_UNION) && one) {
        *type = items[0];
        return TAPER_OK;
    }
    if (base->atom == TAPER_ATOM_UNION && count != 0) {
        return make(unit, TAPER_TYPE_UNION, NULL, items, count, type);
    }
    return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a type");
}

static taper_status named_type(taper_ts_unit *unit, uint32_t file, taper_ts_node *node, const taper_type **type)
{
    const char *text;
    size_t length;
    if (!taper_ts_dotted(unit, file, node, &text, &length)) {
        return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a type");
    }
    if (length > sizeof TAPER_TS_NATIVE - 1 && memcmp(text, TAPER_TS_NATIVE, sizeof TAPER_TS_NATIVE - 1) == 0) {
        const char *name = taper_types_string(unit->module->types, text, length);
        return name == NULL ? taper_fail_memory(unit->error) : make(unit, TAPER_TYPE_CLASS, name, NULL, 0, type);
    }
    taper_ts_definition *definition;
    TAPER_TRY(taper_ts_find_text(unit, text, length, &definition));
    if (definition == NULL || definition->kind == TAPER_TS_A_FUNCTION) {
        return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "there is no type %.*s",
                             (int)taper_min_size(length, 200), text);
    }
    return taper_ts_definition_type(unit, definition, type);
}

taper_status taper_ts_type(taper_ts_unit *unit, uint32_t file, taper_ts_node *node, const taper_type **type)
{
    const bool simple =
        node->kind == TAPER_TS_NAME || (node->kind == TAPER_TS_CONSTANT && node->atom == TAPER_ATOM_NONE);
    *type = simple ? simple_type(node->atom) : NULL;
    if (*type != NULL) {
        return TAPER_OK;
    }
    if (node->kind == TAPER_TS_TUPLE_OF && node->child == NULL) { // the node is the empty tuple in Tuple[()]
        return make(unit, TAPER_TYPE_TUPLE, NULL, NULL, 0, type);
    }
    if (node->kind != TAPER_TS_NAME && node->kind != TAPER_TS_ATTRIBUTE && node->kind != TAPER_TS_INDEX) {
        return taper_ts_fail(unit, TAPER_ERROR_FILE, file, node->at, "not a type");
    }
    if (node->as.type == NULL) {
        if (++unit->type_depth > TAPER_LIMIT_TYPE_DEPTH) { // named tuples count as levels of nesting
            return taper_ts_fail(unit, TAPER_ERROR_RESOURCE, file, node->at, "the type is nested too deep");
        }
        TAPER_TRY(node->kind == TAPER_TS_INDEX ? generic_type(unit, file, node, &node->as.type)
                                               : named_type(unit, file, node, &node->as.type));
        unit->type_depth--;
    }
    *type = node->as.type;
    return TAPER_OK;
}

// ---- classes

static taper_status named_tuple_type(taper_ts_unit *unit, taper_ts_definition *d, const char *name)
{
    const taper_type **items = taper_arena_array(&unit->arena, d->attribute_count, sizeof *items);
    const char **fields = taper_arena_array(&unit->arena, d->attribute_count, sizeof *fields);
    if (items == NULL || fields == NULL) {
        return taper_fail_memory(unit->error);
    }
    if (d->resolving) {
        return taper_ts_fail(unit, TAPER_ERROR_FILE, d->file, d->at, "the named tuple holds itself");
    }
    d->resolving = true;
    for (uint32_t i = 0; i < d->attribute_count; i++) {
        const taper_ts_attribute *field = &d->attributes[i];
        if (field->type == NULL) {
            return taper_ts_fail(unit, TAPER_ERROR_FILE, d->file, d->at, "a field of the named tuple has no type");
        }
        TAPER_TRY(taper_ts_type(unit, d->file, field->type, &items[i]));
        const char *text = unit->atoms.names[field->atom];
        fields[i] = taper_types_string(unit->module->types, text, strlen(text));
        if (fields[i] == NULL) {
            return taper_fail_memory(unit->error);
        }
    }
    d->resolving = false;
    return taper_type_make(unit->module->types, TAPER_TYPE_TUPLE, name, items, fields, d->attribute_count, &d->type,
                           unit->error);
}

taper_status taper_ts_definition_type(taper_ts_unit *unit, taper_ts_definition *definition, const taper_type **type)
{
    if (definition->type == NULL) {
        const char *text = unit->atoms.names[definition->qualified];
        const char *name = taper_types_string(unit->module->types, text, strlen(text));
        if (name == NULL) {
            return taper_fail_memory(unit->error);
        }
        if (definition->kind == TAPER_TS_A_NAMED_TUPLE) {
            TAPER_TRY(named_tuple_type(unit, definition, name));
        } else {
            TAPER_TRY(make(unit, TAPER_TYPE_CLASS, name, NULL, 0, &definition->type));
        }
    }
    *type = definition->type;
    return TAPER_OK;
}

// Returns Tensor for an attribute with packed weights in quantized modules of PyTorch 1.3. Such modules declare these
// attributes as tensors, although the values are objects of native classes.
static taper_status packed_params_type(taper_ts_unit *unit, const taper_ts_definition *class, uint32_t atom,
                                       const taper_type **type)
{
    static const struct {
        const char *class, *native;
    } packed[] = {{".Linear", "Linear"},    {".LinearReLU", "Linear"}, {".LinearPackedParams", "Linear"},
                  {".Conv2d", "Conv2d"},    {".ConvReLU2d", "Conv2d"}, {".Conv3d", "Conv3d"},
                  {".ConvReLU3d", "Conv3d"}};
    const char *name = unit->atoms.names[class->qualified], *dot = strrchr(name, '.');
    if ((*type)->kind != TAPER_TYPE_TENSOR || strcmp(unit->atoms.names[atom], "_packed_params") != 0 || dot == NULL) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (strcmp(dot, packed[i].class) == 0) {
            taper_text text = taper_text_make(unit->allocator);
            taper_text_format(&text, "__torch__.torch.classes.quantized.%sPackedParamsBase", packed[i].native);
            const char *native =
                text.failed ? NULL : taper_types_string(unit->module->types, taper_text_get(&text), text.length);
            taper_text_free(&text);
            return native == NULL ? taper_fail_memory(unit->error)
                                  : make(unit, TAPER_TYPE_CLASS, native, NULL, 0, type);
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_resolve_attribute(taper_ts_unit *unit, const taper_ts_definition *class,
                                        taper_ts_attribute *attribute)
{
    if (attribute->resolved == NULL && attribute->type != NULL) {
        TAPER_TRY(taper_ts_type(unit, class->file, attribute->type, &attribute->resolved));
        TAPER_TRY(packed_params_type(unit, class, attribute->atom, &attribute->resolved));
    }
    return TAPER_OK;
}

taper_status taper_ts_find_attribute(taper_ts_unit *unit, taper_ts_definition *class, uint32_t atom,
                                     taper_ts_attribute **found, int64_t *slot)
{
    taper_ts_attribute *const a = *found = taper_ts_attribute_named(class, atom);
    if (a != NULL) {
        *slot = a->value == NULL ? a->slot : -1;
        return taper_ts_resolve_attribute(unit, class, a);
    }
    return TAPER_OK;
}

taper_status taper_ts_class(taper_ts_unit *unit, taper_ts_definition *definition, const struct taper_class **klass)
{
    if (definition->klass == NULL) {
        const char **slots = taper_alloc(unit->allocator, ((size_t)definition->attribute_count + 1) * sizeof *slots);
        size_t count = 0;
        if (slots == NULL) {
            return taper_fail_memory(unit->error);
        }
        for (uint32_t i = 0; i < definition->attribute_count; i++) {
            if (definition->attributes[i].value == NULL) {
                slots[count++] = unit->atoms.names[definition->attributes[i].atom];
            }
        }
        definition->klass =
            taper_types_class(unit->module->types, unit->atoms.names[definition->qualified], count, slots);
        taper_free(unit->allocator, slots, ((size_t)definition->attribute_count + 1) * sizeof *slots);
    }
    *klass = definition->klass;
    return *klass == NULL ? taper_fail_memory(unit->error) : TAPER_OK;
}
