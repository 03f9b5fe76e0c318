// SPDX-License-Identifier: BSD-2-Clause
// Runs the nodes that are not operators: containers, attributes, type tests. Also finds the function that a method call
// runs.
#include "ops/lang/torchbind.h"
#include "runtime/session.h"

static taper_status expect(const taper_frame_source *source, taper_val value, taper_tag tag, const char *what,
                           const char *expected)
{
    if (value.tag == (uint32_t)tag) {
        return TAPER_OK;
    }
    TAPER_FAIL(source->run->error, TAPER_ERROR_FILE, "%s: expected %s, got %s", what, expected,
               taper_val_kind_name(value));
}

static taper_status make_list(const taper_frame_source *source, const taper_node *node, const taper_val *in,
                              size_t count, taper_val *out)
{
    const taper_type *type = node->type;
    const taper_type *element = type != NULL && type->kind == TAPER_TYPE_LIST ? type->items[0] : NULL;
    taper_list *list = taper_list_new(source->run->heap, element, count);
    if (list == NULL) {
        return taper_fail_memory(source->run->error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_retain(in[i]);
    }
    list->count = count;
    *out = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status make_tuple(const taper_frame_source *source, const taper_node *node, const taper_val *in,
                               size_t count, taper_val *out)
{
    taper_tuple *tuple = taper_tuple_new(source->run->heap, node->type, count);
    if (tuple == NULL) {
        return taper_fail_memory(source->run->error);
    }
    for (size_t i = 0; i < count; i++) {
        tuple->items[i] = taper_val_retain(in[i]);
    }
    *out = TAPER_VAL(tuple);
    return TAPER_OK;
}

static taper_status make_dict(const taper_frame_source *source, const taper_node *node, const taper_val *in,
                              size_t count, taper_val *out)
{
    const taper_type *type = node->type;
    const bool known = type != NULL && type->kind == TAPER_TYPE_DICT;
    taper_dict *dict = taper_dict_new(source->run->heap, known ? type->items[0] : NULL, known ? type->items[1] : NULL);
    if (dict == NULL) {
        return taper_fail_memory(source->run->error);
    }
    *out = TAPER_VAL(dict);
    for (size_t i = 0; i + 1 < count; i += 2) {
        TAPER_TRY(taper_dict_set(dict, taper_val_retain(in[i]), taper_val_retain(in[i + 1]), source->run->error));
    }
    return TAPER_OK;
}

static taper_status make_object(const taper_frame_source *source, const taper_node *node, taper_val *out)
{
    if (node->type == NULL || node->type->kind != TAPER_TYPE_CLASS) {
        TAPER_FAIL(source->run->error, TAPER_ERROR_FILE, "CREATE_OBJECT of something that is not a class");
    }
    const taper_class *klass = taper_types_class(taper_heap_types(source->run->heap), node->type->name, 0,
                                                 NULL); // without attributes, equal names give the same class
    if (klass == NULL) {
        return taper_fail_memory(source->run->error);
    }
    taper_object *object;
    if (taper_class_is_native(klass->name)) {
        TAPER_TRY(taper_torchbind_create(source->run, klass, &object));
    } else { // an object of a class in the model's sources, whose attributes are set afterwards
        object = taper_object_new(source->run->heap, klass, 0);
        if (object == NULL) {
            return taper_fail_memory(source->run->error);
        }
    }
    *out = TAPER_VAL(object);
    return TAPER_OK;
}

static taper_status get_attr(const taper_frame_source *source, const taper_node *node, taper_val object, taper_val *out)
{
    TAPER_TRY(expect(source, object, TAPER_OBJECT, "GET_ATTR", "an object"));
    if ((uint64_t)node->own.slot >= object.as.object->count) {
        TAPER_FAIL(source->run->error, TAPER_ERROR_FILE, "GET_ATTR: %s has %zu attributes, number %lld was asked for",
                   taper_val_kind_name(object), object.as.object->count, (long long)node->own.slot);
    }
    *out = taper_val_retain(object.as.object->slots[node->own.slot]);
    return TAPER_OK;
}

static taper_status unpack(const taper_frame_source *source, const taper_val *items, size_t count, taper_val *out,
                           size_t want, const char *what)
{
    if (count != want) {
        TAPER_FAIL(source->run->error, TAPER_ERROR_RAISED, "Expected %zu elements in a %s but found %zu", want, what,
                   count);
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = taper_val_retain(items[i]);
    }
    return TAPER_OK;
}

static taper_status slice_tuple(const taper_frame_source *source, const taper_node *node, const taper_tuple *tuple,
                                taper_val *out)
{
    if (node->own.slice.begin < 0 || node->own.slice.begin > node->own.slice.end ||
        (uint64_t)node->own.slice.end > tuple->count) {
        TAPER_FAIL(source->run->error, TAPER_ERROR_FILE, "TUPLE_SLICE: %lld to %lld of a tuple of %zu",
                   (long long)node->own.slice.begin, (long long)node->own.slice.end, tuple->count);
    }
    const taper_node plain = {.kind = TAPER_NODE_TUPLE};
    return make_tuple(source, &plain, tuple->items + node->own.slice.begin,
                      (size_t)(node->own.slice.end - node->own.slice.begin), out);
}

taper_status taper_interpret_callee(const taper_frame_source *source, const taper_node *node, taper_val self,
                                    const taper_function **callee)
{
    *callee = NULL;
    TAPER_TRY(expect(source, self, TAPER_OBJECT, "a method call", "an object"));
    const taper_object *object = self.as.object;
    const char *class_name = object->klass != NULL ? object->klass->name : "";
    const taper_function *function = taper_model_find(source->model, class_name, node->name);
    if (function == NULL && !taper_class_is_native(class_name)) {
        TAPER_FAIL(source->run->error, TAPER_ERROR_FILE, "%s has no method %s in this file", class_name, node->name);
    }
    if (function != NULL && function->program.graph == NULL) {
        TAPER_FAIL(source->run->error, TAPER_ERROR_UNSUPPORTED, "%s.%s is called while the model loads", class_name,
                   node->name);
    }
    *callee = function;
    return TAPER_OK;
}

taper_status taper_interpret_node(const taper_frame_source *source, const taper_node *node, taper_val *in,
                                  size_t in_count, taper_val *out, size_t out_count)
{
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_GET_ATTR:
        return get_attr(source, node, in[0], out);
    case TAPER_NODE_SET_ATTR:
        TAPER_TRY(expect(source, in[0], TAPER_OBJECT, "SET_ATTR", "an object"));
        return taper_object_set(in[0].as.object, (size_t)node->own.slot, taper_val_retain(in[1]), source->run->error);
    case TAPER_NODE_LIST:
        return make_list(source, node, in, in_count, out);
    case TAPER_NODE_TUPLE:
        return make_tuple(source, node, in, in_count, out);
    case TAPER_NODE_DICT:
        return make_dict(source, node, in, in_count, out);
    case TAPER_NODE_OBJECT:
        return make_object(source, node, out);
    case TAPER_NODE_LIST_UNPACK:
        TAPER_TRY(expect(source, in[0], TAPER_LIST, "LIST_UNPACK", "a list"));
        return unpack(source, in[0].as.list->items, in[0].as.list->count, out, out_count, "list");
    case TAPER_NODE_TUPLE_UNPACK:
        TAPER_TRY(expect(source, in[0], TAPER_TUPLE, taper_node_kind_name(TAPER_NODE_TUPLE_UNPACK), "a tuple"));
        return unpack(source, in[0].as.tuple->items, in[0].as.tuple->count, out, out_count, "tuple");
    case TAPER_NODE_TUPLE_SLICE:
        TAPER_TRY(expect(source, in[0], TAPER_TUPLE, "TUPLE_SLICE", "a tuple"));
        return slice_tuple(source, node, in[0].as.tuple, out);
    case TAPER_NODE_ISINSTANCE: {
        bool found = false;
        for (size_t i = 0; i < node->type_count && !found; i++) {
            found = taper_val_is_a(in[0], node->types[i]);
        }
        *out = taper_val_bool(found);
        return TAPER_OK;
    }
    default:
        TAPER_FAIL(source->run->error, TAPER_ERROR_INTERNAL, "a node of kind %s reached the interpreter",
                   taper_node_kind_name((taper_node_kind)node->kind));
    }
}
