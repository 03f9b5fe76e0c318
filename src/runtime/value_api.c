// SPDX-License-Identifier: BSD-2-Clause
// The functions of taper_value for hosts.
#include "base/arguments.h"
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/gradient/tape.h"
#include "ops/list/op_table.h"
#include "ops/quantized/quantized.h"
#include "runtime/context.h"

void taper_value_release(taper_value *value)
{
    if (value != NULL) {
        taper_obj_release(&value->head);
    }
}

taper_value *taper_value_retain(taper_value *value)
{
    if (value != NULL) {
        taper_obj_retain(&value->head);
    }
    return value;
}

taper_kind taper_value_kind(const taper_value *value)
{
    switch (value != NULL ? value->val.tag : TAPER_NONE) {
    case TAPER_NONE:
        return TAPER_KIND_NONE;
    case TAPER_BOOLEAN:
        return TAPER_KIND_BOOL;
    case TAPER_INT:
        return TAPER_KIND_INT;
    case TAPER_DOUBLE:
        return TAPER_KIND_DOUBLE;
    case TAPER_COMPLEX:
        return TAPER_KIND_COMPLEX;
    case TAPER_DEVICE:
        return TAPER_KIND_DEVICE;
    case TAPER_STRING:
        return TAPER_KIND_STRING;
    case TAPER_TENSOR:
        return TAPER_KIND_TENSOR;
    case TAPER_LIST:
        return TAPER_KIND_LIST;
    case TAPER_TUPLE:
        return TAPER_KIND_TUPLE;
    case TAPER_DICT:
        return TAPER_KIND_DICT;
    case TAPER_OBJECT:
        return TAPER_KIND_OBJECT;
    default:
        return TAPER_KIND_OTHER;
    }
}

// ---- creating values. `box` takes over the reference to `val`

static taper_status box(taper_heap *heap, taper_val val, taper_value **value, taper_error *error)
{
    *value = taper_box_new(heap, val);
    if (*value == NULL) {
        taper_val_release(val);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

static taper_status box_object(taper_heap *heap, void *object, taper_value **value, taper_error *error)
{
    return object == NULL ? taper_fail_memory(error) : box(heap, TAPER_VAL(object), value, error);
}

static taper_status box_new(taper_context *context, taper_val val, taper_value **value, taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(context, error);
    return box(context->heap, val, value, error);
}

taper_status taper_value_none(taper_context *context, taper_value **value, taper_error *error)
{
    return box_new(context, taper_val_none(), value, error);
}

taper_status taper_value_bool(taper_context *context, int flag, taper_value **value, taper_error *error)
{
    return box_new(context, taper_val_bool(flag != 0), value, error);
}

taper_status taper_value_int(taper_context *context, int64_t number, taper_value **value, taper_error *error)
{
    return box_new(context, taper_val_int(number), value, error);
}

taper_status taper_value_double(taper_context *context, double number, taper_value **value, taper_error *error)
{
    return box_new(context, taper_val_double(number), value, error);
}

taper_status taper_value_complex(taper_context *context, double re, double im, taper_value **value, taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(context, error);
    return box_object(context->heap, taper_complex_new(context->heap, re, im), value, error);
}

taper_status taper_value_string(taper_context *context, const char *text, size_t length, taper_value **value,
                                taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(text, length, error);
    return box_object(context->heap, taper_string_new(context->heap, text, length), value, error);
}

// Checks the arguments that are common to all functions that create tensors.
static taper_status check_tensor(const taper_context *context, taper_dtype dtype, bool quantized, size_t rank,
                                 const int64_t *sizes, taper_value **value, taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(sizes, rank, error);
    if (taper_dtype_size(dtype) == 0 || taper_dtype_is_quantized(dtype) != quantized) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "dtype %s does not fit here", taper_dtype_name(dtype));
    }
    return TAPER_OK;
}

taper_status taper_value_tensor(taper_context *context, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                taper_value **value, taper_error *error)
{
    TAPER_TRY(check_tensor(context, dtype, false, rank, sizes, value, error));
    taper_tensor *tensor;
    TAPER_TRY(taper_tensor_new(context->heap, dtype, rank, sizes, NULL, &tensor, error));
    return box_object(context->heap, tensor, value, error);
}

taper_status taper_value_tensor_from(taper_context *context, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                     const int64_t *strides, void *data, size_t bytes, int read_only,
                                     void (*release)(void *user), void *user, taper_value **value, taper_error *error)
{
    TAPER_TRY(check_tensor(context, dtype, false, rank, sizes, value, error));
    TAPER_NEED_ARRAY(data, bytes, error);
    if ((uintptr_t)data % taper_min_size(taper_dtype_size(dtype), 8) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "data is not aligned for %s", taper_dtype_name(dtype));
    }
    taper_storage *storage;
    TAPER_TRY(taper_storage_borrow(context->heap, TAPER_STORAGE_HOST, data, bytes, NULL, &storage, error));
    storage->read_only = read_only != 0;
    taper_tensor *tensor;
    const taper_status status =
        taper_tensor_view(context->heap, storage, dtype, 0, rank, sizes, strides, &tensor, error);
    taper_status boxed = status;
    if (status == TAPER_OK) {
        boxed = box_object(context->heap, tensor, value, error);
    }
    if (boxed == TAPER_OK) {
        storage->release = release; // `release` is set only here, because after a failure the host keeps its memory
        storage->user = user;
    }
    taper_obj_release(&storage->head);
    return boxed;
}

taper_status taper_value_tensor_quantized(taper_context *context, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                          const void *data, size_t bytes, double scale, int64_t zero_point,
                                          taper_value **value, taper_error *error)
{
    TAPER_TRY(check_tensor(context, dtype, true, rank, sizes, value, error));
    TAPER_NEED_ARRAY(data, bytes, error);
    TAPER_TRY(taper_q_check(dtype, scale, zero_point, error));
    taper_tensor *tensor;
    TAPER_TRY(taper_tensor_new(context->heap, dtype, rank, sizes, NULL, &tensor, error));
    taper_status status = TAPER_OK;
    if (tensor->storage->bytes != bytes) {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT, "the tensor takes %zu bytes, %zu were given",
                            tensor->storage->bytes, bytes);
    }
    if (status == TAPER_OK) {
        if (bytes != 0) {
            memcpy(tensor->storage->data, data, bytes);
        }
        const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scale, .zero_point = zero_point};
        status = taper_tensor_set_quantizer(tensor, &quantizer, error);
    }
    if (status != TAPER_OK) {
        taper_obj_release(&tensor->head);
        return status;
    }
    return box_object(context->heap, tensor, value, error);
}

taper_status taper_value_quantize(taper_context *context, const taper_value *value, taper_dtype dtype, double scale,
                                  int64_t zero_point, taper_value **quantized, taper_error *error)
{
    TAPER_NEED_OUT(quantized, error);
    TAPER_NEED(context, error);
    TAPER_NEED(value, error);
    const taper_op *op = TAPER_OP(aten_quantize_per_tensor);
    if (op == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "operator aten::quantize_per_tensor is not part of this build");
    }
    taper_run run = taper_run_on(context->heap, context->registry, error);
    taper_val args[] = {value->val, taper_val_double(scale), taper_val_int(zero_point), taper_val_int(dtype)};
    taper_val result = taper_val_none();
    TAPER_TRY(taper_call_op(&run, op, args, 4, &result, 1));
    return box(context->heap, result, quantized, error);
}

// Returns true if the type is incomplete. The function is recursive; types are at most TAPER_LIMIT_TYPE_DEPTH deep.
static bool says_too_little(const taper_type *type)
{
    bool little = type->kind == TAPER_TYPE_CLASS || type->kind == TAPER_TYPE_ANY;
    for (size_t i = 0; !little && i < type->count; i++) {
        little = says_too_little(type->items[i]);
    }
    return little;
}

// Parses the type of a container's items. Without the model, the name of a class does not tell whether it is a named
// tuple, or what its items are. "Any" is the printed type of an empty list without a type. Types with such parts are
// not set: the items are checked one by one when the value is passed to a method.
static taper_status parse_type(taper_context *context, const char *text, const taper_type **type, taper_error *error)
{
    *type = NULL;
    if (text == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_type_parse(context->types, text, strlen(text), type, error));
    if (says_too_little(*type)) {
        *type = NULL;
    }
    return TAPER_OK;
}

// Checks that items[at] has the declared type. Does nothing if `type` is NULL.
static taper_status check_item(taper_value *const *items, size_t at, const taper_type *type, const char *declared,
                               const char *what, taper_error *error)
{
    if (type != NULL && !taper_val_is_a(items[at]->val, type)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s %zu should be %s, got %s", what, at, declared,
                   taper_val_kind_name(items[at]->val));
    }
    return TAPER_OK;
}

taper_status taper_value_list(taper_context *context, const char *element_type, taper_value *const *items, size_t count,
                              taper_value **value, taper_error *error)
{
    const taper_type *type;
    TAPER_TRY(taper_check_inputs(value, "value", items, "items", count, error));
    TAPER_NEED(context, error);
    TAPER_TRY(parse_type(context, element_type, &type, error));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(check_item(items, i, type, element_type, "item", error));
    }
    taper_list *list = taper_list_new(context->heap, type, count);
    if (list == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_retain(items[i]->val);
    }
    list->count = count;
    return box_object(context->heap, list, value, error);
}

taper_status taper_value_tuple(taper_context *context, taper_value *const *items, size_t count, taper_value **value,
                               taper_error *error)
{
    TAPER_TRY(taper_check_inputs(value, "value", items, "items", count, error));
    TAPER_NEED(context, error);
    taper_tuple *tuple = taper_tuple_new(context->heap, NULL, count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        tuple->items[i] = taper_val_retain(items[i]->val);
    }
    return box_object(context->heap, tuple, value, error);
}

taper_status taper_value_dict(taper_context *context, const char *key_type, const char *value_type,
                              taper_value *const *keys, taper_value *const *values, size_t count, taper_value **value,
                              taper_error *error)
{
    const taper_type *key, *item;
    TAPER_TRY(taper_check_apart(value, "value", values, "values", count, error));
    TAPER_TRY(taper_check_inputs(value, "value", keys, "keys", count, error));
    TAPER_TRY(taper_check_items(values, "values", count, error));
    TAPER_NEED(context, error);
    TAPER_TRY(parse_type(context, key_type, &key, error));
    TAPER_TRY(parse_type(context, value_type, &item, error));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(check_item(keys, i, key, key_type, "key", error));
        TAPER_TRY(check_item(values, i, item, value_type, "value", error));
    }
    taper_dict *dict = taper_dict_new(context->heap, key, item);
    if (dict == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const taper_status status =
            taper_dict_set(dict, taper_val_retain(keys[i]->val), taper_val_retain(values[i]->val), error);
        if (status != TAPER_OK) {
            taper_obj_release(&dict->head.head);
            return status;
        }
    }
    return box_object(context->heap, dict, value, error);
}

// ---- reading values

// Checks that the value is not NULL and has this kind, and that the pointer to the result is not NULL.
static taper_status check_kind(const taper_value *value, taper_tag tag, const char *wanted, const void *place,
                               const char *place_name, taper_error *error)
{
    TAPER_NEED(value, error);
    if (place == NULL) {
        return taper_fail_null(error, place_name);
    }
    if (value->val.tag != tag) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the value is not %s but %s", wanted, taper_val_kind_name(value->val));
    }
    return TAPER_OK;
}

static bool requires_grad(const taper_tensor *tensor)
{
#ifdef TAPER_WITH_GRADIENTS
    return taper_tape_requires(tensor);
#else
    return tensor->requires_grad;
#endif
}

taper_status taper_value_get_tensor(const taper_value *value, taper_tensor_info *out, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_TENSOR, "a Tensor", out, "out", error));
    taper_tensor *t = value->val.as.tensor;
    TAPER_TRY(taper_tensor_settle(t, error));
    taper_tensor_info full = {
        .dtype = (taper_dtype)t->dtype, .rank = t->rank, .sizes = t->sizes, .strides = t->strides};
    // A view without elements may begin anywhere, even outside of the data.
    const size_t before = (size_t)t->offset * taper_tensor_item(t);
    full.data = before <= t->storage->bytes ? taper_tensor_mutable(t) : t->storage->data;
    full.bytes = t->storage->bytes - taper_min_size(before, t->storage->bytes);
    full.read_only = t->storage->read_only;
    full.requires_grad = requires_grad(t);
    if (t->quantizer != NULL) {
        full.quantized = t->quantizer->scales != NULL ? 2 : 1;
        full.scale = t->quantizer->scale;
        full.zero_point = t->quantizer->zero_point;
    }
    return taper_struct_write(out, "taper_tensor_info", &full, sizeof full, error);
}

taper_status taper_value_make_writable(taper_value *value, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_TENSOR, "a Tensor", value, "value", error));
    taper_storage *storage = value->val.as.tensor->storage;
    if (storage->kind == TAPER_STORAGE_HOST && storage->read_only) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the tensor stands on memory that was given as read-only");
    }
    TAPER_TRY(taper_tensor_settle(value->val.as.tensor, error));
    return taper_storage_write(value->val.as.tensor->storage, error);
}

taper_status taper_value_get_bool(const taper_value *value, int *flag, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_BOOLEAN, "a bool", flag, "flag", error));
    *flag = value->val.as.i != 0;
    return TAPER_OK;
}

taper_status taper_value_get_int(const taper_value *value, int64_t *number, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_INT, "an int", number, "number", error));
    *number = value->val.as.i;
    return TAPER_OK;
}

taper_status taper_value_get_double(const taper_value *value, double *number, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_DOUBLE, "a float", number, "number", error));
    *number = value->val.as.f;
    return TAPER_OK;
}

taper_status taper_value_get_complex(const taper_value *value, double *re, double *im, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_COMPLEX, "a complex", re, "re", error));
    TAPER_NEED(im, error);
    *re = value->val.as.complex->re;
    *im = value->val.as.complex->im;
    return TAPER_OK;
}

taper_status taper_value_get_string(const taper_value *value, const char **text, size_t *length, taper_error *error)
{
    TAPER_TRY(check_kind(value, TAPER_STRING, "a str", text, "text", error));
    TAPER_NEED(length, error);
    *text = value->val.as.string->data;
    *length = value->val.as.string->length;
    return TAPER_OK;
}

size_t taper_value_count(const taper_value *value)
{
    switch (value != NULL ? value->val.tag : TAPER_NONE) {
    case TAPER_LIST:
        return value->val.as.list->count;
    case TAPER_TUPLE:
        return value->val.as.tuple->count;
    case TAPER_DICT:
        return value->val.as.dict->count;
    case TAPER_OBJECT:
        return value->val.as.object->count;
    default:
        return 0;
    }
}

taper_status taper_value_item(const taper_value *value, size_t index, taper_value **item, taper_error *error)
{
    TAPER_NEED_OUT(item, error);
    TAPER_NEED(value, error);
    if (index >= taper_value_count(value)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no item %zu", index);
    }
    size_t count;
    const taper_val *items = taper_container_items((taper_container *)value->val.as.obj, &count);
    const size_t at = value->val.tag == TAPER_DICT ? 2 * index + 1 : index;
    return box(value->head.heap, taper_val_retain(items[at]), item, error);
}

taper_status taper_value_key(const taper_value *value, size_t index, taper_value **key, taper_error *error)
{
    TAPER_NEED_OUT(key, error);
    TAPER_NEED(value, error);
    if (value->val.tag != TAPER_DICT || index >= value->val.as.dict->count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no key %zu", index);
    }
    return box(value->head.heap, taper_val_retain(taper_dict_key(value->val.as.dict, index)), key, error);
}

const char *taper_value_field(const taper_value *value, size_t index)
{
    if (value == NULL) {
        return NULL;
    }
    if (value->val.tag == TAPER_TUPLE) {
        const taper_type *type = value->val.as.tuple->type;
        return type != NULL && type->fields != NULL && index < type->count ? type->fields[index] : NULL;
    }
    if (value->val.tag == TAPER_OBJECT) {
        const taper_class *klass = value->val.as.object->klass;
        return klass != NULL && klass->slots != NULL && index < klass->count ? klass->slots[index] : NULL;
    }
    return NULL;
}

const void *taper_value_identity(const taper_value *value)
{
    return value != NULL && taper_val_is_object(value->val) && value->val.tag != TAPER_COMPLEX ? value->val.as.obj
                                                                                               : NULL;
}

size_t taper_value_type(const taper_value *value, char *text, size_t size)
{
    taper_text printed = taper_text_make(&taper_allocator_system);
    if (value != NULL) {
        taper_val_type_print(value->val, &printed);
    }
    const size_t length = taper_text_copy(&printed, text, size);
    taper_text_free(&printed);
    return length;
}
