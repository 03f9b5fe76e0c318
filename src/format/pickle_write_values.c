// SPDX-License-Identifier: BSD-2-Clause
// Writes values: containers, objects, tensors. A value that several containers hold gets a memo slot when it is
// complete, as in PyTorch; a value with a single holder needs no slot. A value that contains itself would need its own
// slot before it is complete, so it is refused.
#include "format/name_sort.h"
#include "format/pickle_write.h"
#include "format/saved_value.h"

enum { BATCH = 1000000 }; // number of items appended by one opcode; a reader keeps them all on its stack

#define REFUSE(p, ...) return taper_pickler_fail((p), TAPER_ERROR_UNSUPPORTED, __VA_ARGS__)

static void global(taper_pickler *p, const char *module, const char *name)
{
    taper_pickler_global(p, module, strlen(module), name);
}

static taper_status write_value(taper_pickler *p, taper_val value, unsigned depth);

// ---- lists and dicts

static taper_status write_items(taper_pickler *p, const taper_val *items, size_t count, unsigned depth,
                                taper_pickle_opcode end)
{
    // An empty list also gets one opcode that appends.
    size_t at = 0;
    do {
        const size_t batch = taper_min_size(count - at, BATCH);
        taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
        for (size_t i = 0; i < batch; i++) {
            TAPER_TRY(write_value(p, items[at + i], depth + 1));
        }
        taper_pickler_op(p, end, -(int64_t)batch);
        at += batch;
    } while (at < count);
    return TAPER_OK;
}

// A container type that was written as a string, for the second argument of restore_type_tag.
typedef struct tag {
    const taper_type *key, *value; // key type (NULL for a list) and value type
    size_t slot;
} tag;

static bool same_tag(const void *item, const void *key)
{
    const tag *a = item, *b = key;
    return a->key == b->key && a->value == b->value;
}

static taper_status write_tag(taper_pickler *p, const taper_type *key, const taper_type *value)
{
    const tag wanted = {.key = key, .value = value};
    const taper_type *const types[2] = {key, value};
    const uint64_t hash = taper_hash_bytes(0, types, sizeof types);
    const taper_lookup_entry *known = taper_lookup_find(&p->tags, hash, same_tag, &wanted);
    if (known != NULL) {
        taper_pickler_get(p, ((const tag *)known->item)->slot);
        return TAPER_OK;
    }
    taper_text text = taper_text_make(p->allocator);
    taper_text_string(&text, key != NULL ? "Dict[" : "List[");
    if (key != NULL) {
        taper_type_print(key, &text);
        taper_text_string(&text, ", ");
    }
    taper_type_print(value, &text);
    taper_text_string(&text, "]");
    tag *made = taper_arena_alloc(&p->arena, sizeof *made);
    const char *kept = text.failed ? NULL : taper_arena_string(&p->arena, text.data, text.length);
    const size_t length = text.length;
    taper_text_free(&text);
    if (made == NULL || kept == NULL) {
        return taper_fail_memory(p->error);
    }
    *made = wanted;
    made->slot = taper_pickler_string(p, kept, length);
    (void)taper_lookup_add(p->allocator, &p->tags, hash, made);
    return TAPER_OK;
}

static void open_tag(taper_pickler *p)
{
    global(p, "torch.jit._pickle", "restore_type_tag");
}

static taper_status close_tag(taper_pickler *p, const taper_type *key, const taper_type *value)
{
    TAPER_TRY(write_tag(p, key, value));
    taper_pickler_close(p, 2);
    taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
    return TAPER_OK;
}

// Returns the name of the function that makes a list with these elements, or NULL if there is no such function.
static const char *builder_of(const taper_type *element)
{
    switch ((taper_type_kind)element->kind) {
    case TAPER_TYPE_INT:
        return "build_intlist";
    case TAPER_TYPE_FLOAT:
        return "build_doublelist";
    case TAPER_TYPE_BOOL:
        return "build_boollist";
    case TAPER_TYPE_TENSOR:
        return "build_tensorlist";
    default:
        return NULL;
    }
}

static taper_status write_list(taper_pickler *p, const taper_list *list, unsigned depth)
{
    const char *builder = list->element != NULL ? builder_of(list->element) : NULL;
    if (builder != NULL) {
        global(p, "torch.jit._pickle", builder);
        taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    } else if (list->element != NULL) {
        open_tag(p);
    }
    taper_pickler_op(p, TAPER_PICKLE_EMPTY_LIST, 1);
    TAPER_TRY(write_items(p, list->items, list->count, depth, TAPER_PICKLE_APPENDS));
    if (builder != NULL) {
        taper_pickler_op(p, TAPER_PICKLE_TUPLE, 0);
        taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
    } else if (list->element != NULL) {
        TAPER_TRY(close_tag(p, NULL, list->element));
    }
    return TAPER_OK;
}

static taper_status write_dict(taper_pickler *p, const taper_dict *dict, unsigned depth)
{
    const bool typed = dict->key != NULL && dict->value != NULL;
    if (typed) {
        open_tag(p);
    }
    taper_pickler_op(p, TAPER_PICKLE_EMPTY_DICT, 1);
    if (dict->count != 0) {
        TAPER_TRY(write_items(p, dict->entries, 2 * dict->count, depth, TAPER_PICKLE_SETITEMS));
    }
    return typed ? close_tag(p, dict->key, dict->value) : TAPER_OK;
}

static taper_status write_tuple(taper_pickler *p, const taper_tuple *tuple, unsigned depth)
{
    taper_pickler_open(p, tuple->count);
    for (size_t i = 0; i < tuple->count; i++) {
        TAPER_TRY(write_value(p, tuple->items[i], depth + 1));
    }
    taper_pickler_close(p, tuple->count);
    return TAPER_OK;
}

// ---- objects

// Fails if two attributes have the same name, because attributes become keys of a dict.
static taper_status check_attributes(const taper_pickler *p, const taper_class *class)
{
    taper_name *names = taper_alloc(p->allocator, class->count * sizeof *names);
    if (names == NULL && class->count != 0) {
        return taper_fail_memory(p->error);
    }
    for (size_t i = 0; i < class->count; i++) {
        names[i] = (taper_name){.text = class->slots[i], .length = strlen(class->slots[i]), .value = i};
    }
    taper_status status = taper_names_sort(p->allocator, names, class->count, p->error);
    for (size_t i = 1; i < class->count && status == TAPER_OK; i++) {
        if (strcmp(names[i - 1].text, names[i].text) == 0) {
            status = taper_pickler_fail(p, TAPER_ERROR_UNSUPPORTED, "the class %.200s has two attributes \"%.100s\"",
                                        class->name, names[i].text);
        }
    }
    taper_free(p->allocator, names, class->count * sizeof *names);
    return status;
}

static taper_status write_class(taper_pickler *p, const taper_class *class)
{
    const size_t *slot = taper_pointer_find(&p->objects, class);
    if (slot != NULL) {
        taper_pickler_get(p, *slot);
        return TAPER_OK;
    }
    const char *dot = strrchr(class->name, '.');
    if (dot == NULL || dot == class->name || dot[1] == '\0' || strchr(class->name, '\n') != NULL) {
        REFUSE(p, "\"%.200s\" is no name of a class", class->name);
    }
    TAPER_TRY(check_attributes(p, class));
    const size_t made = taper_pickler_global(p, class->name, (size_t)(dot - class->name), dot + 1);
    return taper_pointer_add(p->allocator, &p->objects, class, made, p->error);
}

static taper_status write_attributes(taper_pickler *p, const taper_object *object, unsigned depth)
{
    const taper_class *class = object->klass;
    if (object->count != class->count) {
        REFUSE(p, "an object of the class %.200s has %zu attributes, of which %zu have names", class->name,
               object->count, class->count);
    }
    taper_pickler_op(p, TAPER_PICKLE_EMPTY_DICT, 1);
    taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    for (size_t i = 0; i < object->count; i++) {
        taper_pickler_string(p, class->slots[i], strlen(class->slots[i]));
        TAPER_TRY(write_value(p, object->slots[i], depth + 2)); // one level for the object and one for the dict
    }
    taper_pickler_op(p, TAPER_PICKLE_SETITEMS, -2 * (int64_t)object->count);
    return TAPER_OK;
}

static taper_status write_object(taper_pickler *p, const taper_object *object, unsigned depth)
{
    static const char native[] = "__torch__.torch.classes.";
    taper_saved_as as = TAPER_SAVED_ATTRIBUTES;
    taper_val state = taper_val_none();
    TAPER_TRY(write_class(p, object->klass));
    if (strncmp(object->klass->name, native, sizeof native - 1) == 0) { // the object's only slot is its state
        if (object->count != 1) {
            REFUSE(p, "an object of the class %.200s has no state", object->klass->name);
        }
        as = TAPER_SAVED_STATE;
        state = object->slots[0];
    } else if (p->saver->state != NULL) {
        TAPER_TRY(p->saver->state(p->saver->user, object, &as, &state, p->error));
    }
    if (as == TAPER_SAVED_MEMBER) {
        TAPER_TRY(write_value(p, state, depth + 1));
        taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
        return TAPER_OK;
    }
    taper_pickler_close(p, 0);
    taper_pickler_op(p, TAPER_PICKLE_NEWOBJ, -1);
    TAPER_TRY(as == TAPER_SAVED_STATE ? write_value(p, state, depth + 1) : write_attributes(p, object, depth));
    taper_pickler_op(p, TAPER_PICKLE_BUILD, -1);
    return TAPER_OK;
}

// ---- tensors

static const char *storage_class(taper_dtype dtype)
{
    static const char *const names[TAPER_DTYPE_COUNT] = {
        [TAPER_U8] = "ByteStorage",
        [TAPER_I8] = "CharStorage",
        [TAPER_I16] = "ShortStorage",
        [TAPER_I32] = "IntStorage",
        [TAPER_I64] = "LongStorage",
        [TAPER_F16] = "HalfStorage",
        [TAPER_F32] = "FloatStorage",
        [TAPER_F64] = "DoubleStorage",
        [TAPER_C32] = "ComplexHalfStorage",
        [TAPER_C64] = "ComplexFloatStorage",
        [TAPER_C128] = "ComplexDoubleStorage",
        [TAPER_BOOL] = "BoolStorage",
        [TAPER_QI8] = "QInt8Storage",
        [TAPER_QU8] = "QUInt8Storage",
        [TAPER_QI32] = "QInt32Storage",
        [TAPER_BF16] = "BFloat16Storage",
        [TAPER_QU4X2] = "QUInt4x2Storage",
        [TAPER_QU2X4] = "QUInt2x4Storage",
    };
    return names[dtype];
}

// Writes ("storage", class, key, "cpu", number of elements) as a persistent id. Tensors may view a storage as several
// dtypes. Then each dtype has its own persistent id with the same key. The memo finds values by address; here it uses a
// different address inside the storage's head for each dtype.
static taper_status write_storage(taper_pickler *p, taper_storage *storage, taper_dtype dtype)
{
    const void *memo = (const char *)storage + 1 + dtype;
    const size_t *slot = taper_pointer_find(&p->objects, memo);
    if (slot != NULL) {
        taper_pickler_get(p, *slot);
        return TAPER_OK;
    }
    char key[TAPER_PICKLE_KEY];
    if (p->saver->storage == NULL) {
        REFUSE(p, "a tensor in a record that has no place for its data");
    }
    TAPER_TRY(p->saver->storage(p->saver->user, storage, key, p->error));
    const char *kept = taper_arena_string(&p->arena, key, strlen(key));
    if (kept == NULL) {
        return taper_fail_memory(p->error);
    }
    taper_pickler_open(p, 5);
    taper_pickler_string(p, "storage", 7);
    global(p, "torch", storage_class(dtype));
    taper_pickler_string(p, kept, strlen(kept));
    taper_pickler_string(p, "cpu", 3);
    taper_pickler_int(p, (int64_t)(storage->bytes / taper_max_size(taper_dtype_size(dtype), 1)));
    taper_pickler_close(p, 5);
    taper_pickler_op(p, TAPER_PICKLE_BINPERSID, 0);
    return taper_pointer_add(p->allocator, &p->objects, memo, taper_pickler_put(p), p->error);
}

// Writes a tuple with MARK even if it is short, as PyTorch does for sizes and strides.
static void write_dims(taper_pickler *p, const int64_t *dims, size_t count)
{
    taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    for (size_t i = 0; i < count; i++) {
        taper_pickler_int(p, dims[i]);
    }
    taper_pickler_op(p, TAPER_PICKLE_TUPLE, 1 - (int64_t)count);
}

static taper_status write_quantizer(taper_pickler *p, const taper_quantizer *quantizer, unsigned depth)
{
    taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    if (quantizer->scheme == TAPER_PER_TENSOR_AFFINE) {
        global(p, "torch", "per_tensor_affine");
        taper_pickler_double(p, quantizer->scale);
        taper_pickler_int(p, quantizer->zero_point);
        taper_pickler_op(p, TAPER_PICKLE_TUPLE, -2);
        return TAPER_OK;
    }
    const bool in_float = quantizer->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS;
    if ((quantizer->scheme != TAPER_PER_CHANNEL_AFFINE && !in_float) || quantizer->scales == NULL ||
        quantizer->zero_points == NULL) {
        REFUSE(p, "a tensor quantized in the way number %u", quantizer->scheme);
    }
    global(p, "torch", in_float ? "per_channel_affine_float_qparams" : "per_channel_affine");
    TAPER_TRY(write_value(p, TAPER_VAL(quantizer->scales), depth));
    TAPER_TRY(write_value(p, TAPER_VAL(quantizer->zero_points), depth));
    taper_pickler_int(p, quantizer->axis);
    taper_pickler_op(p, TAPER_PICKLE_TUPLE, -3);
    return TAPER_OK;
}

static taper_status write_tensor(taper_pickler *p, const taper_tensor *tensor, unsigned depth)
{
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    const taper_quantizer *quantizer = tensor->quantizer;
    TAPER_TRY(taper_saved_tensor_fits(tensor, p->name, p->error));
    global(p, "torch._utils", quantizer != NULL ? "_rebuild_qtensor" : "_rebuild_tensor_v2");
    taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    TAPER_TRY(write_storage(p, tensor->storage, dtype));
    taper_pickler_int(p, tensor->offset);
    write_dims(p, tensor->sizes, tensor->rank);
    write_dims(p, tensor->strides, tensor->rank);
    if (quantizer != NULL) {
        TAPER_TRY(write_quantizer(p, quantizer, depth));
    }
    taper_pickler_bool(p, tensor->requires_grad);
    global(p, "collections", "OrderedDict"); // an empty OrderedDict of hooks
    taper_pickler_close(p, 0);
    taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
    taper_pickler_op(p, TAPER_PICKLE_TUPLE, 1 - (quantizer != NULL ? 7 : 6));
    taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
    return TAPER_OK;
}

// ---- any value

static taper_status write_device(taper_pickler *p, taper_val device)
{
    char text[TAPER_SAVED_DEVICE];
    if (!taper_saved_device_text(device, text)) {
        REFUSE(p, "a device of the unknown kind %lld", (long long)(device.as.i >> 8));
    }
    const char *kept = taper_arena_string(&p->arena, text, strlen(text));
    if (kept == NULL) {
        return taper_fail_memory(p->error);
    }
    global(p, "torch", "device");
    taper_pickler_string(p, kept, strlen(kept));
    taper_pickler_close(p, 1);
    taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
    return TAPER_OK;
}

static void write_complex(taper_pickler *p, const taper_complex *number)
{
    global(p, "builtins", "complex");
    taper_pickler_double(p, number->re);
    taper_pickler_double(p, number->im);
    taper_pickler_close(p, 2);
    taper_pickler_op(p, TAPER_PICKLE_REDUCE, -1);
}

static taper_status write_object_value(taper_pickler *p, taper_val value, unsigned depth)
{
    switch ((taper_tag)value.tag) {
    case TAPER_COMPLEX:
        write_complex(p, value.as.complex);
        return TAPER_OK;
    case TAPER_TENSOR:
        return write_tensor(p, value.as.tensor, depth);
    case TAPER_LIST:
        return write_list(p, value.as.list, depth);
    case TAPER_TUPLE:
        return write_tuple(p, value.as.tuple, depth);
    case TAPER_DICT:
        return write_dict(p, value.as.dict, depth);
    case TAPER_OBJECT:
        return write_object(p, value.as.object, depth);
    default:
        REFUSE(p, "a %s has no form in a file", taper_val_kind_name(value));
    }
}

static taper_status write_string(taper_pickler *p, const taper_string *string, bool shared)
{
    const size_t slot = taper_pickler_string(p, string->data, string->length);
    return shared ? taper_pointer_add(p->allocator, &p->objects, string, slot, p->error) : TAPER_OK;
}

// Writes a value that several containers may hold, using the memo.
static taper_status write_shared(taper_pickler *p, taper_val value, unsigned depth)
{
    const bool shared = taper_refs_count(&value.as.obj->refs) > 1;
    const size_t *known = shared ? taper_pointer_find(&p->objects, value.as.obj) : NULL;
    if (known != NULL && *known == TAPER_PICKLE_OPEN) {
        REFUSE(p, "a %s holds itself, which no file can say", taper_val_kind_name(value));
    }
    if (known != NULL) {
        taper_pickler_get(p, *known);
        return TAPER_OK;
    }
    if (value.tag == TAPER_STRING) {
        return write_string(p, value.as.string, shared);
    }
    if (!shared) {
        return write_object_value(p, value, depth);
    }
    TAPER_TRY(taper_pointer_add(p->allocator, &p->objects, value.as.obj, TAPER_PICKLE_OPEN, p->error));
    TAPER_TRY(write_object_value(p, value, depth));
    *taper_pointer_find(&p->objects, value.as.obj) = taper_pickler_put(p);
    return TAPER_OK;
}

static taper_status write_value(taper_pickler *p, taper_val value, unsigned depth)
{
    if (depth > TAPER_LIMIT_VALUE_DEPTH) {
        return taper_pickler_fail(p, TAPER_ERROR_RESOURCE, "values are nested more than %d deep",
                                  TAPER_LIMIT_VALUE_DEPTH);
    }
    switch ((taper_tag)value.tag) {
    case TAPER_NONE:
        taper_pickler_none(p);
        return TAPER_OK;
    case TAPER_BOOLEAN:
        taper_pickler_bool(p, value.as.i != 0);
        return TAPER_OK;
    case TAPER_INT:
        taper_pickler_int(p, value.as.i);
        return TAPER_OK;
    case TAPER_DOUBLE:
        taper_pickler_double(p, value.as.f);
        return TAPER_OK;
    case TAPER_DEVICE:
        return write_device(p, value);
    case TAPER_UNDEFINED:
        REFUSE(p, "a value that was never set");
    default:
        return write_shared(p, value, depth);
    }
}

taper_status taper_pickler_value(taper_pickler *p, taper_val value, unsigned depth)
{
    return write_value(p, value, depth);
}
