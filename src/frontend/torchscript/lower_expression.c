// SPDX-License-Identifier: BSD-2-Clause
// Lowers expressions to values.
#include "frontend/torchscript/lower.h"
#include "ops/list/op_names.h"

static uint32_t file_of(const taper_ts_lowering *l)
{
    return l->frame->function->file;
}

static taper_status literal(taper_ts_lowering *l, const taper_ts_node *node, const taper_type *hint,
                            taper_ts_binding *out)
{
    taper_val value;
    TAPER_TRY(taper_ts_literal(l->unit, file_of(l), node, hint, &value));
    const taper_type *type = taper_ts_value_type(l, value);
    if (value.tag == TAPER_NONE && hint != NULL && hint->kind == TAPER_TYPE_OPTIONAL) {
        type = hint;
    }
    return taper_ts_bind_constant(l, value, type, out);
}

// ---- containers

taper_status taper_ts_make_container(taper_ts_lowering *l, taper_node_kind kind, const taper_type *type,
                                     const taper_ts_binding *items, size_t count, taper_ts_binding *out)
{
    taper_node *node;
    TAPER_TRY(taper_ts_add_node(l, kind, count, 1, &node));
    node->type = kind == TAPER_NODE_TUPLE ? NULL : type; // the node of a tuple has a type only if the tuple is named
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(node, i, items[i].value);
    }
    node->outputs[0].type = type;
    *out = (taper_ts_binding){.value = &node->outputs[0], .type = type};
    return TAPER_OK;
}

taper_status taper_ts_make_tuple(taper_ts_lowering *l, const taper_ts_binding *items, size_t count,
                                 taper_ts_binding *out)
{
    const taper_type *type = NULL, **types = taper_alloc(l->unit->allocator, (count + 1) * sizeof *types);
    if (types == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    bool known = true;
    for (size_t i = 0; i < count; i++) {
        types[i] = items[i].type;
        known &= types[i] != NULL;
    }
    taper_status status = TAPER_OK;
    if (known) {
        status =
            taper_type_make(l->unit->module->types, TAPER_TYPE_TUPLE, NULL, types, NULL, count, &type, l->unit->error);
    }
    taper_free(l->unit->allocator, (void *)types, (count + 1) * sizeof *types);
    return status == TAPER_OK ? taper_ts_make_container(l, TAPER_NODE_TUPLE, type, items, count, out) : status;
}

// Reads the children of `node` into *items, which the caller frees. The array has one more item than `node` has
// children.
static taper_status read_items(taper_ts_lowering *l, const taper_ts_node *node, const taper_type *const *hints,
                               size_t hint_count, taper_ts_binding **items, size_t *count)
{
    *count = 0;
    for (const taper_ts_node *c = node->child; c != NULL; c = c->next) {
        ++*count;
    }
    *items = taper_alloc(l->unit->allocator, (*count + 1) * sizeof **items);
    if (*items == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    size_t i = 0;
    for (taper_ts_node *c = node->child; c != NULL; c = c->next, i++) {
        const taper_type *hint = hint_count == 0 ? NULL : hints[i % hint_count];
        const taper_status status = taper_ts_value(l, c, hint, &(*items)[i]);
        if (status != TAPER_OK) {
            taper_free(l->unit->allocator, *items, (*count + 1) * sizeof **items);
            *items = NULL;
            return status;
        }
    }
    return TAPER_OK;
}

static const taper_type *wanted(const taper_type *hint, taper_type_kind kind)
{
    if (hint != NULL && hint->kind == TAPER_TYPE_OPTIONAL) {
        hint = hint->items[0];
    }
    return hint != NULL && hint->kind == kind ? hint : NULL;
}

// Gets the number if the binding is a constant int. Returns false otherwise.
static bool constant_int(const taper_ts_binding *b, int64_t *number)
{
    const taper_node *node = taper_value_constant(b->value);
    *number = node != NULL ? node->constant.as.i : 0;
    return node != NULL && node->constant.tag == TAPER_INT;
}

// PyTorch writes whole floats of at least 1e10 without a decimal point, so they look like ints. Converts ints of this
// magnitude to floats if the list contains a float, or if `floats` is true.
static taper_status read_whole_floats(taper_ts_lowering *l, taper_ts_binding *items, size_t count, size_t from,
                                      size_t step, bool floats)
{
    for (size_t i = from; i < count && !floats; i += step) {
        floats = items[i].type == &taper_type_float;
    }
    for (size_t i = from; i < count && floats; i += step) {
        int64_t number;
        if (constant_int(&items[i], &number) && (number >= 10000000000 || number <= -10000000000)) {
            TAPER_TRY(taper_ts_bind_constant(l, taper_val_double((double)number), &taper_type_float, &items[i]));
        }
    }
    return TAPER_OK;
}

// Finds the type of a list or dict from its items `from`, `from` + step, …. The type is NULL if the type of an item is
// unknown.
static taper_status common_type(taper_ts_lowering *l, taper_ts_binding *items, size_t count, size_t from, size_t step,
                                const taper_type **type)
{
    TAPER_TRY(read_whole_floats(l, items, count, from, step, false));
    *type = count > from ? items[from].type : NULL;
    for (size_t i = from + step; i < count && *type != NULL; i += step) {
        TAPER_TRY(taper_ts_unify_items(l, *type, items[i].type, type));
    }
    return TAPER_OK;
}

static taper_status list(taper_ts_lowering *l, const taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    const taper_type *type = wanted(hint, TAPER_TYPE_LIST), *element;
    taper_ts_binding *items;
    size_t count;
    TAPER_TRY(read_items(l, node, type != NULL ? type->items : NULL, type != NULL, &items, &count));
    taper_status status = TAPER_OK;
    if (type == NULL) {
        status = common_type(l, items, count, 0, 1, &element);
        if (count == 0) {
            element = &taper_type_tensor;
        }
        if (status == TAPER_OK && element != NULL) {
            status = taper_type_make(l->unit->module->types, TAPER_TYPE_LIST, NULL, &element, NULL, 1, &type,
                                     l->unit->error);
        }
    }
    if (status == TAPER_OK && type != NULL) {
        status = read_whole_floats(l, items, count, 0, 1, type->items[0] == &taper_type_float);
    }
    for (size_t i = 0; status == TAPER_OK && type != NULL && i < count; i++) {
        status = taper_ts_convert(l, node, items[i], type->items[0], -1, &items[i]);
    }
    if (status == TAPER_OK) {
        status = taper_ts_make_container(l, TAPER_NODE_LIST, type, items, count, out);
    }
    taper_free(l->unit->allocator, items, (count + 1) * sizeof *items);
    return status;
}

static taper_status dict(taper_ts_lowering *l, const taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    const taper_type *type = wanted(hint, TAPER_TYPE_DICT), *parts[2];
    taper_ts_binding *items;
    size_t count;
    TAPER_TRY(read_items(l, node, type != NULL ? type->items : NULL, type != NULL ? 2 : 0, &items, &count));
    taper_status status = TAPER_OK;
    if (type == NULL && count != 0) {
        status = common_type(l, items, count, 0, 2, &parts[0]);
        if (status == TAPER_OK) {
            status = common_type(l, items, count, 1, 2, &parts[1]);
        }
        if (status == TAPER_OK && parts[0] != NULL && parts[1] != NULL) {
            status =
                taper_type_make(l->unit->module->types, TAPER_TYPE_DICT, NULL, parts, NULL, 2, &type, l->unit->error);
        }
    } else if (type != NULL) {
        status = read_whole_floats(l, items, count, 1, 2, type->items[1] == &taper_type_float);
    }
    if (status == TAPER_OK) {
        status = taper_ts_make_container(l, TAPER_NODE_DICT, type, items, count, out);
    }
    taper_free(l->unit->allocator, items, (count + 1) * sizeof *items);
    return status;
}

static taper_status tuple(taper_ts_lowering *l, const taper_ts_node *node, const taper_type *hint,
                          taper_ts_binding *out)
{
    const taper_type *type = wanted(hint, TAPER_TYPE_TUPLE);
    taper_ts_binding *items;
    size_t count;
    TAPER_TRY(read_items(l, node, type != NULL ? type->items : NULL, type != NULL ? type->count : 0, &items, &count));
    const taper_status status = taper_ts_make_tuple(l, items, count, out);
    taper_free(l->unit->allocator, items, (count + 1) * sizeof *items);
    return status;
}

taper_status taper_ts_unpack(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding whole, size_t count,
                             taper_ts_binding *items)
{
    const taper_type *type = whole.type;
    const bool tuple = type == NULL || type->kind == TAPER_TYPE_TUPLE;
    if (!tuple && type->kind != TAPER_TYPE_LIST) {
        return taper_ts_refuse(l, node, "only tuples and lists can be unpacked");
    }
    if (tuple && type != NULL && type->count != count) {
        return taper_ts_refuse(l, node, "a tuple of %u is unpacked into %zu", (unsigned)type->count, count);
    }
    taper_node *source = whole.value->node;
    if (tuple && source != NULL && source->kind == TAPER_NODE_TUPLE && source->input_count == count) {
        for (size_t i = 0; i < count; i++) {
            items[i] =
                (taper_ts_binding){.value = taper_node_in(source, i), .type = type != NULL ? type->items[i] : NULL};
        }
        return TAPER_OK;
    }
    taper_node *unpack;
    TAPER_TRY(taper_ts_add_node(l, tuple ? TAPER_NODE_TUPLE_UNPACK : TAPER_NODE_LIST_UNPACK, 1, count, &unpack));
    taper_node_set_input(unpack, 0, whole.value);
    for (size_t i = 0; i < count; i++) {
        items[i] = (taper_ts_binding){.value = &unpack->outputs[i],
                                      .type = type == NULL ? NULL
                                              : tuple      ? type->items[i]
                                                           : type->items[0]};
        unpack->outputs[i].type = items[i].type;
    }
    return TAPER_OK;
}

// ---- items, fields and attributes of values

static taper_status tuple_item(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding whole, int64_t index,
                               taper_ts_binding *out)
{
    const int64_t count = whole.type->count;
    const int64_t at = index < 0 ? index + count : index;
    if (at < 0 || at >= count) {
        return taper_ts_refuse(l, node, "item %lld of a tuple of %lld", (long long)index, (long long)count);
    }
    const taper_node *source = whole.value->node;
    if (source != NULL && source->kind == TAPER_NODE_TUPLE) {
        *out = (taper_ts_binding){.value = taper_node_in(source, (size_t)at), .type = whole.type->items[at]};
        return TAPER_OK;
    }
    taper_ts_binding args[2] = {whole};
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(at), &taper_type_int, &args[1]));
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_TUPLE_INDEX, args, NULL, 2, out));
    out->type = whole.type->items[at];
    return TAPER_OK;
}

static taper_status enum_part(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding object,
                              taper_ts_definition *d, taper_ts_binding *out)
{
    taper_val member;
    if (node->atom == TAPER_ATOM_NAME) {
        return taper_ts_builtin(l, node, TAPER_NAME_ENUM_NAME, &object, NULL, 1, out);
    }
    if (node->atom != TAPER_ATOM_VALUE || d->attribute_count == 0) {
        return taper_ts_refuse(l, node, "a member of an enum has a name and a value only");
    }
    TAPER_TRY(taper_ts_enum_member(l->unit, d, 0, &member)); // all members of an enum have values of the same type
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_ENUM_VALUE, &object, NULL, 1, out));
    out->type = taper_ts_value_type(l, member.as.object->slots[1]);
    return TAPER_OK;
}

static taper_status class_attribute(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding object,
                                    taper_ts_definition *d, taper_ts_binding *out)
{
    taper_ts_attribute *attribute;
    int64_t slot;
    TAPER_TRY(taper_ts_find_attribute(l->unit, d, node->atom, &attribute, &slot));
    if (attribute == NULL) {
        return taper_ts_refuse(l, node, "%s has no attribute %s", l->unit->atoms.names[d->qualified],
                               l->unit->atoms.names[node->atom]);
    }
    if (slot < 0) {
        taper_val value;
        TAPER_TRY(taper_ts_literal(l->unit, d->file, attribute->value, attribute->resolved, &value));
        return taper_ts_bind_constant(l, value, attribute->resolved, out);
    }
    const taper_val *fixed = taper_ts_fixed_attribute(l, object.object, d, node->atom, slot);
    if (fixed != NULL && taper_ts_is_fixed_as(*fixed, attribute->resolved)) {
        return taper_ts_bind_constant(l, taper_val_retain(*fixed), attribute->resolved, out);
    }
    taper_node *get;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_GET_ATTR, 1, 1, &get));
    taper_node_set_input(get, 0, object.value);
    get->own.slot = slot;
    get->outputs[0].type = attribute->resolved;
    *out = (taper_ts_binding){.value = &get->outputs[0],
                              .type = attribute->resolved,
                              .object = fixed != NULL && fixed->tag == TAPER_OBJECT ? fixed->as.object : NULL};
    return TAPER_OK;
}

// Finds the index of a field in a named tuple's type, or UINT32_MAX if the type has no such field. If the definition is
// known, the search is faster.
static taper_status find_field(taper_ts_lowering *l, const taper_type *type, const taper_ts_definition *d,
                               uint32_t atom, uint32_t *field)
{
    const char *name = l->unit->atoms.names[atom];
    *field = UINT32_MAX;
    if (type->fields == NULL) {
        return TAPER_OK;
    }
    const taper_ts_attribute *known =
        d != NULL && d->attribute_count == type->count ? taper_ts_attribute_named(d, atom) : NULL;
    if (known != NULL && strcmp(type->fields[known - d->attributes], name) == 0) {
        *field = (uint32_t)(known - d->attributes);
        return TAPER_OK;
    }
    TAPER_TRY(taper_ts_charge(l, type->count));
    for (uint32_t i = 0; i < type->count && *field == UINT32_MAX; i++) {
        if (strcmp(type->fields[i], name) == 0) {
            *field = i;
        }
    }
    return TAPER_OK;
}

static taper_status object_attribute(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding object,
                                     taper_ts_binding *out)
{
    const char *name = l->unit->atoms.names[node->atom];
    if (object.type == NULL) {
        return taper_ts_part_of_unknown(l, node, name, out);
    }
    taper_ts_definition *d;
    TAPER_TRY(taper_ts_find_type(l->unit, object.type, &d));
    uint32_t field;
    TAPER_TRY(find_field(l, object.type, d, node->atom, &field));
    if (field != UINT32_MAX) {
        return tuple_item(l, node, object, field, out);
    }
    if (d != NULL && d->kind == TAPER_TS_AN_ENUM) {
        return enum_part(l, node, object, d, out);
    }
    if (d != NULL && d->kind == TAPER_TS_A_CLASS) {
        return class_attribute(l, node, object, d, out);
    }
    return taper_ts_refuse(l, node, "there is no attribute %s", name);
}

// Lowers an expression such as CONSTANTS.c3.
static taper_status table_constant(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding *out)
{
    const char *name = l->unit->atoms.names[node->atom];
    size_t index = 0, i = 1;
    while (name[0] == 'c' && name[i] >= '0' && name[i] <= '9' && i < 10) {
        index = 10 * index + (size_t)(name[i++] - '0');
    }
    if (i == 1 || name[i] != '\0' || index >= l->unit->constants.as.tuple->count) {
        return taper_ts_refuse(l, node, "constants.pkl has no constant %s", name);
    }
    const taper_val value = l->unit->constants.as.tuple->items[index];
    if (l->unit->constant_types == NULL) {
        l->unit->constant_types =
            taper_arena_array(&l->unit->arena, l->unit->constants.as.tuple->count, sizeof *l->unit->constant_types);
        if (l->unit->constant_types == NULL) {
            return taper_fail_memory(l->unit->error);
        }
    }
    const taper_type **type = &l->unit->constant_types[index];
    if (*type == NULL) {
        *type = taper_ts_value_type(l, value);
    }
    return taper_ts_bind_constant(l, taper_val_retain(value), *type, out);
}

static taper_status attribute(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *out)
{
    const taper_ts_node *root = node;
    while (root->kind == TAPER_TS_ATTRIBUTE) {
        root = root->child;
    }
    const bool free = root->kind == TAPER_TS_NAME && !taper_ts_is_bound(&l->frame->locals[root->slot]);
    if (free && root->atom == TAPER_ATOM_CONSTANTS && node->child == root) {
        return table_constant(l, node, out);
    }
    if (free && root->atom == TAPER_ATOM_PROGRAM) {
        const char *text;
        size_t length;
        taper_ts_definition *d = NULL;
        if (taper_ts_dotted(l->unit, file_of(l), node, &text, &length)) {
            TAPER_TRY(taper_ts_find_text(l->unit, text, length, &d));
        }
        if (d != NULL) {
            *out = (taper_ts_binding){.definition = d};
            return TAPER_OK;
        }
        taper_val value;
        TAPER_TRY(taper_ts_literal(l->unit, file_of(l), node, NULL, &value)); // the node names a member of an enum
        return taper_ts_bind_constant(l, value, taper_ts_value_type(l, value), out);
    }
    taper_ts_binding object;
    TAPER_TRY(taper_ts_value(l, node->child, NULL, &object));
    return object_attribute(l, node, object, out);
}

static taper_status tuple_slice(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding whole,
                                taper_ts_binding *out)
{
    taper_ts_node *bounds = node->child->next->child;
    const int64_t count = whole.type->count;
    int64_t range[2] = {0, count};
    for (int i = 0; i < 2; i++, bounds = bounds->next) {
        taper_ts_binding bound;
        TAPER_TRY(taper_ts_value(l, bounds, NULL, &bound));
        if (bound.type == &taper_type_none) {
            continue;
        }
        if (!constant_int(&bound, &range[i])) {
            return taper_ts_refuse(l, node, "the bounds of a tuple's slice must be constants");
        }
        range[i] = range[i] < 0 ? range[i] + count : range[i];
        range[i] = range[i] < 0 ? 0 : range[i] > count ? count : range[i];
    }
    const size_t items = range[1] > range[0] ? (size_t)(range[1] - range[0]) : 0;
    taper_node *slice;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_TUPLE_SLICE, 1, 1, &slice));
    taper_node_set_input(slice, 0, whole.value);
    slice->own.slice.begin = range[0];
    slice->own.slice.end = range[0] + (int64_t)items;
    *out = (taper_ts_binding){.value = &slice->outputs[0]};
    TAPER_TRY(taper_type_make(l->unit->module->types, TAPER_TYPE_TUPLE, NULL, whole.type->items + range[0], NULL, items,
                              &out->type, l->unit->error));
    slice->outputs[0].type = out->type;
    return TAPER_OK;
}

static taper_status subscript(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *out)
{
    taper_ts_node *inside = node->child->next;
    taper_ts_binding args[4];
    TAPER_TRY(taper_ts_value(l, node->child, NULL, &args[0]));
    const taper_type *type = args[0].type;
    if (inside->kind == TAPER_TS_SLICE) {
        if (type != NULL && type->kind == TAPER_TYPE_TUPLE) {
            return tuple_slice(l, node, args[0], out);
        }
        size_t count = 1;
        if (type != NULL && type->kind == TAPER_TYPE_TENSOR) {
            TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(0), &taper_type_int, &args[count++]));
        }
        TAPER_TRY(taper_ts_value(l, inside->child, NULL, &args[count++]));
        TAPER_TRY(taper_ts_value(l, inside->child->next, NULL, &args[count++]));
        return taper_ts_builtin(l, node, TAPER_NAME_SLICE, args, NULL, count, out);
    }
    TAPER_TRY(taper_ts_value(l, inside, NULL, &args[1]));
    if (type != NULL && type->kind == TAPER_TYPE_TUPLE) {
        int64_t index;
        if (!constant_int(&args[1], &index)) {
            // The index may be known only at run time if all items have the same type.
            TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_TUPLE_INDEX, args, NULL, 2, out));
            out->type = type->count != 0 ? type->items[0] : NULL;
            return TAPER_OK;
        }
        return tuple_item(l, node, args[0], index, out);
    }
    taper_ts_definition *class;
    TAPER_TRY(taper_ts_find_type(l->unit, type, &class));
    if (class != NULL) { // the value is a list or dict of modules with one interface
        TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_MODULE_CONTAINER_INDEX, args, NULL, 2, out));
        out->type = NULL;
        return TAPER_OK;
    }
    if (type != NULL && type->kind == TAPER_TYPE_TENSOR) {
        args[2] = args[1];
        TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(0), &taper_type_int, &args[1]));
        return taper_ts_builtin(l, node, TAPER_NAME_SELECT, args, NULL, 3, out);
    }
    return taper_ts_builtin(l, node, TAPER_NAME_GETITEM, args, NULL, 2, out);
}

// ---- expressions of any kind

static bool is_literal(const taper_ts_node *node)
{
    return node->kind == TAPER_TS_INTEGER || node->kind == TAPER_TS_REAL || node->kind == TAPER_TS_IMAGINARY ||
           (node->kind == TAPER_TS_NEGATIVE && is_literal(node->child)) ||
           ((node->kind == TAPER_TS_SUM || node->kind == TAPER_TS_DIFFERENCE) && is_literal(node->child) &&
            is_literal(node->child->next)) ||
           (node->kind == TAPER_TS_NAME && (node->atom == TAPER_ATOM_INF || node->atom == TAPER_ATOM_NAN ||
                                            node->atom == TAPER_ATOM_INFJ || node->atom == TAPER_ATOM_NANJ));
}

static taper_status arithmetic(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    if (is_literal(node)) {
        return literal(l, node, hint, out);
    }
    taper_ts_binding args[2];
    TAPER_TRY(taper_ts_value(l, node->child, NULL, &args[0]));
    if (node->kind == TAPER_TS_NEGATIVE) {
        return taper_ts_builtin(l, node, TAPER_NAME_NEG, args, NULL, 1, out);
    }
    TAPER_TRY(taper_ts_value(l, node->child->next, NULL, &args[1]));
    return taper_ts_builtin(l, node, node->kind == TAPER_TS_SUM ? TAPER_NAME_ADD : TAPER_NAME_SUB, args, NULL, 2, out);
}

static taper_status name(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding *out)
{
    *out = l->frame->locals[node->slot];
    if (taper_ts_is_bound(out)) {
        return TAPER_OK;
    }
    if (is_literal(node)) {
        return literal(l, node, NULL, out);
    }
    return taper_ts_refuse(l, node, "%s has no value here", l->unit->atoms.names[node->atom]);
}

static taper_status dispatch(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    switch ((taper_ts_kind)node->kind) {
    case TAPER_TS_NAME:
        return name(l, node, out);
    case TAPER_TS_INTEGER:
        if (node->as.integer == INT64_MIN) {
            return taper_ts_refuse(l, node, "the number does not fit into 64 bits");
        }
        return literal(l, node, hint, out);
    case TAPER_TS_REAL:
    case TAPER_TS_IMAGINARY:
    case TAPER_TS_STRING:
    case TAPER_TS_CONSTANT:
        return literal(l, node, hint, out);
    case TAPER_TS_NEGATIVE:
    case TAPER_TS_SUM:
    case TAPER_TS_DIFFERENCE:
        return arithmetic(l, node, hint, out);
    case TAPER_TS_ITEMS:
        return list(l, node, hint, out);
    case TAPER_TS_TUPLE_OF:
        return tuple(l, node, hint, out);
    case TAPER_TS_PAIRS:
        return dict(l, node, hint, out);
    case TAPER_TS_CALL:
        return taper_ts_call(l, node, hint, out);
    case TAPER_TS_ATTRIBUTE:
        return attribute(l, node, out);
    case TAPER_TS_INDEX:
        return subscript(l, node, out);
    default:
        return taper_ts_refuse(l, node, "this is no expression");
    }
}

taper_status taper_ts_lower(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    const uint32_t at = l->at;
    *out = (taper_ts_binding){.value = NULL};
    TAPER_TRY(taper_ts_deeper(l, node));
    l->at = node->at;
    TAPER_TRY(dispatch(l, node, hint, out));
    l->at = at;
    l->depth--;
    return TAPER_OK;
}

taper_status taper_ts_value(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    TAPER_TRY(taper_ts_lower(l, node, hint, out));
    return out->value != NULL ? TAPER_OK : taper_ts_refuse(l, node, "a value was expected here");
}
