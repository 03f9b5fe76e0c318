// SPDX-License-Identifier: BSD-2-Clause
// Creates, frees and compares values. Lists and tuples are here, dicts in dict.c.
#include "ir/value.h"

#include <math.h>

#include "ir/heap_blocks.h"

// The external definitions of inline functions, for calls that a compiler does not inline.
extern bool taper_val_is_object(taper_val value);
extern void taper_obj_retain(taper_obj *obj);
extern void taper_obj_release(taper_obj *obj);
extern taper_val taper_val_retain(taper_val value);
extern void taper_val_release(taper_val value);
extern void taper_val_replace(taper_val *slot, taper_val value);
extern taper_val taper_val_none(void);

// ---- freeing values

static void free_object(taper_obj *obj, size_t size)
{
    taper_heap *heap = obj->heap;
    taper_heap_free(heap, obj, size);
    taper_heap_forget(heap);
}

taper_val *taper_container_items(taper_container *container, size_t *count)
{
    switch (container->head.tag) {
    case TAPER_LIST:
        *count = ((taper_list *)container)->count;
        return ((taper_list *)container)->items;
    case TAPER_TUPLE:
        *count = ((taper_tuple *)container)->count;
        return ((taper_tuple *)container)->items;
    case TAPER_DICT:
        *count = 2 * ((taper_dict *)container)->count;
        return ((taper_dict *)container)->entries;
    default:
        *count = ((taper_object *)container)->count;
        return ((taper_object *)container)->slots;
    }
}

static void free_container_memory(taper_container *container)
{
    taper_heap *heap = container->head.heap;
    switch (container->head.tag) {
    case TAPER_LIST: {
        taper_list *list = (taper_list *)container;
        taper_heap_free(heap, list->items, list->capacity * sizeof *list->items);
        free_object(&container->head, sizeof *list);
        break;
    }
    case TAPER_TUPLE: {
        taper_tuple *tuple = (taper_tuple *)container;
        free_object(&container->head, sizeof *tuple + tuple->count * sizeof tuple->items[0]);
        break;
    }
    case TAPER_DICT: {
        taper_dict *dict = (taper_dict *)container;
        taper_heap_free(heap, dict->entries, 2 * dict->capacity * sizeof *dict->entries);
        taper_heap_free(heap, dict->index, dict->index_size * sizeof *dict->index);
        free_object(&container->head, sizeof *dict);
        break;
    }
    default: {
        taper_object *object = (taper_object *)container;
        taper_heap_free(heap, object->slots, object->capacity * sizeof *object->slots);
        free_object(&container->head, sizeof *object);
        break;
    }
    }
}

static void free_leaf(taper_obj *obj)
{
    switch (obj->tag) {
    case TAPER_COMPLEX:
        free_object(obj, sizeof(taper_complex));
        break;
    case TAPER_STRING:
        free_object(obj, sizeof(taper_string) + ((taper_string *)obj)->length + 1);
        break;
    case TAPER_TENSOR:
        taper_tensor_free((struct taper_tensor *)obj);
        break;
    case TAPER_STORAGE:
        taper_storage_free((struct taper_storage *)obj);
        break;
    case TAPER_BOX:
        taper_val_release(((taper_value *)obj)->val);
        free_object(obj, sizeof(taper_value));
        break;
    case TAPER_BLOB:
        ((taper_blob_head *)obj)->destroy(obj);
        break;
    default:
        break;
    }
}

// Frees nested containers with a work list instead of recursion, because a file chooses their depth.
void taper_obj_free(taper_obj *obj)
{
    if (obj->tag < TAPER_LIST || obj->tag > TAPER_OBJECT) {
        free_leaf(obj);
        return;
    }
    taper_container *stack = (taper_container *)obj;
    taper_heap_unlink(obj->heap, stack);
    stack->work = NULL;
    while (stack != NULL) {
        taper_container *container = stack;
        stack = container->work;
        size_t count;
        taper_val *items = taper_container_items(container, &count);
        for (size_t i = 0; i < count; i++) {
            if (!taper_val_is_object(items[i]) || !taper_refs_drop(&items[i].as.obj->refs)) {
                continue;
            }
            taper_obj *child = items[i].as.obj;
            if (child->tag >= TAPER_LIST && child->tag <= TAPER_OBJECT) {
                taper_container *inner = (taper_container *)child;
                taper_heap_unlink(child->heap, inner);
                inner->work = stack;
                stack = inner;
            } else {
                free_leaf(child);
            }
        }
        free_container_memory(container);
    }
}

void taper_container_clear(taper_container *container)
{
    size_t count;
    taper_val *items = taper_container_items(container, &count);
    for (size_t i = 0; i < count; i++) {
        taper_val_replace(&items[i], taper_val_none());
    }
}

// ---- creating values

taper_value *taper_box_new(taper_heap *heap, taper_val value)
{
    taper_value *box = taper_heap_alloc(heap, sizeof *box);
    if (box != NULL) {
        box->val = value;
        taper_heap_adopt(heap, &box->head, TAPER_BOX);
    }
    return box;
}

taper_complex *taper_complex_new(taper_heap *heap, double re, double im)
{
    taper_complex *complex = taper_heap_alloc(heap, sizeof *complex);
    if (complex != NULL) {
        complex->re = re;
        complex->im = im;
        taper_heap_adopt(heap, &complex->head, TAPER_COMPLEX);
    }
    return complex;
}

taper_string *taper_string_new(taper_heap *heap, const char *data, size_t length)
{
    if (length > TAPER_LIMIT_STRING_BYTES) {
        return NULL;
    }
    taper_string *string = taper_heap_alloc(heap, sizeof *string + length + 1);
    if (string != NULL) {
        string->length = length;
        if (data != NULL && length != 0) {
            memcpy(string->data, data, length);
        }
        string->data[length] = '\0';
        taper_heap_adopt(heap, &string->head, TAPER_STRING);
    }
    return string;
}

taper_list *taper_list_new(taper_heap *heap, const taper_type *element, size_t capacity)
{
    if (capacity > TAPER_LIMIT_CONTAINER_ITEMS) {
        return NULL;
    }
    taper_list *list = taper_heap_alloc(heap, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    list->element = element;
    list->count = 0;
    list->capacity = capacity;
    list->items = NULL;
    if (capacity != 0) {
        list->items = taper_heap_alloc(heap, capacity * sizeof *list->items);
        if (list->items == NULL) {
            taper_heap_free(heap, list, sizeof *list);
            return NULL;
        }
    }
    taper_heap_adopt(heap, &list->head.head, TAPER_LIST);
    return list;
}

taper_tuple *taper_tuple_new(taper_heap *heap, const taper_type *type, size_t count)
{
    if (count > TAPER_LIMIT_CONTAINER_ITEMS) {
        return NULL;
    }
    taper_tuple *tuple = taper_heap_alloc(heap, sizeof *tuple + count * sizeof tuple->items[0]);
    if (tuple != NULL) {
        tuple->type = type;
        tuple->count = count;
        for (size_t i = 0; i < count; i++) {
            tuple->items[i] = taper_val_none();
        }
        taper_heap_adopt(heap, &tuple->head.head, TAPER_TUPLE);
    }
    return tuple;
}

taper_object *taper_object_new(taper_heap *heap, const taper_class *klass, size_t slots)
{
    if (slots > TAPER_LIMIT_CONTAINER_ITEMS) {
        return NULL;
    }
    taper_object *object = taper_heap_alloc(heap, sizeof *object);
    if (object == NULL) {
        return NULL;
    }
    object->klass = klass;
    object->count = object->capacity = slots;
    object->slots = NULL;
    if (slots != 0) {
        object->slots = taper_heap_alloc(heap, slots * sizeof *object->slots);
        if (object->slots == NULL) {
            taper_heap_free(heap, object, sizeof *object);
            return NULL;
        }
        for (size_t i = 0; i < slots; i++) {
            object->slots[i] = taper_val_none();
        }
    }
    taper_heap_adopt(heap, &object->head.head, TAPER_OBJECT);
    return object;
}

// ---- lists and objects

// Enlarges an array that the heap owns for `want` items. An item has `width` values.
static taper_status grow_items(taper_heap *heap, taper_val **items, size_t *capacity, size_t want, size_t width,
                               taper_error *error)
{
    if (want <= *capacity) {
        return TAPER_OK;
    }
    if (want > TAPER_LIMIT_CONTAINER_ITEMS) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "a container grows beyond %d items",
                          TAPER_LIMIT_CONTAINER_ITEMS);
    }
    const size_t next = taper_max_size(want, *capacity < 4 ? 4 : *capacity * 2);
    taper_val *grown = taper_heap_alloc(heap, next * width * sizeof *grown);
    if (grown == NULL) {
        return taper_fail_memory(error);
    }
    if (*capacity != 0) {
        memcpy(grown, *items, *capacity * width * sizeof *grown);
    }
    taper_heap_free(heap, *items, *capacity * width * sizeof *grown);
    *items = grown;
    *capacity = next;
    return TAPER_OK;
}

taper_status taper_dict_reserve(taper_dict *dict, size_t want, taper_error *error)
{
    return grow_items(dict->head.head.heap, &dict->entries, &dict->capacity, want, 2, error);
}

taper_status taper_list_insert(taper_list *list, size_t at, taper_val value, taper_error *error)
{
    const taper_status status =
        grow_items(list->head.head.heap, &list->items, &list->capacity, list->count + 1, 1, error);
    if (status != TAPER_OK) {
        taper_val_release(value);
        return status;
    }
    at = taper_min_size(at, list->count);
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = value;
    list->count++;
    return TAPER_OK;
}

taper_status taper_list_append(taper_list *list, taper_val value, taper_error *error)
{
    return taper_list_insert(list, list->count, value, error);
}

taper_val taper_list_remove(taper_list *list, size_t at)
{
    const taper_val value = list->items[at];
    list->count--;
    memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof *list->items);
    return value;
}

void taper_list_clear(taper_list *list)
{
    while (list->count != 0) {
        list->count--;
        taper_val_release(list->items[list->count]);
    }
}

taper_status taper_object_set(taper_object *object, size_t slot, taper_val value, taper_error *error)
{
    const size_t old = object->capacity;
    const taper_status status =
        grow_items(object->head.head.heap, &object->slots, &object->capacity, slot + 1, 1, error);
    if (status != TAPER_OK) {
        taper_val_release(value);
        return status;
    }
    for (size_t i = old; i < object->capacity; i++) {
        object->slots[i] = taper_val_none();
    }
    object->count = taper_max_size(object->count, slot + 1);
    taper_val_replace(&object->slots[slot], value);
    return TAPER_OK;
}

int64_t taper_object_slot(const taper_object *object, const char *name)
{
    if (object->klass == NULL || object->klass->slots == NULL) {
        return -1;
    }
    const size_t count = taper_min_size(object->klass->count, object->count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(object->klass->slots[i], name) == 0) {
            return (int64_t)i;
        }
    }
    return -1;
}

taper_status taper_object_add_slots(taper_object *object, taper_types *types, const char *const *names, size_t count,
                                    taper_error *error)
{
    const taper_class *old = object->klass;
    const taper_allocator *allocator = taper_heap_allocator(object->head.head.heap);
    const size_t bytes = (old->count + count) * sizeof *names;
    const char **all = taper_alloc(allocator, bytes);
    if (all == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < old->count + count; i++) {
        all[i] = i < old->count ? old->slots[i] : names[i - old->count];
    }
    const taper_class *klass = taper_types_class(types, old->name, old->count + count, all);
    taper_free(allocator, (void *)all, bytes);
    if (klass == NULL) {
        return taper_fail_memory(error);
    }
    TAPER_TRY(taper_object_set(object, old->count + count - 1, taper_val_none(), error));
    object->klass = klass;
    return TAPER_OK;
}

// ---- comparing values

bool taper_val_same(taper_val a, taper_val b)
{
    if (a.tag != b.tag) {
        return false;
    }
    switch (a.tag) {
    case TAPER_NONE:
    case TAPER_UNDEFINED:
        return true;
    case TAPER_BOOLEAN:
    case TAPER_INT:
    case TAPER_DEVICE:
        return a.as.i == b.as.i;
    case TAPER_DOUBLE:
        return a.as.f == b.as.f;
    case TAPER_STRING: // PyTorch's `is` also compares strings by content
        return taper_val_equal(a, b);
    default:
        return a.as.obj == b.as.obj;
    }
}

static bool number(taper_val value, double *re, double *im)
{
    *im = 0;
    switch (value.tag) {
    case TAPER_BOOLEAN:
    case TAPER_INT:
        *re = (double)value.as.i;
        return true;
    case TAPER_DOUBLE:
        *re = value.as.f;
        return true;
    case TAPER_COMPLEX:
        *re = value.as.complex->re;
        *im = value.as.complex->im;
        return true;
    default:
        return false;
    }
}

// Comparing two structures that share parts could take exponential time. The last pairs that were found equal are
// remembered, so the work grows with the number of containers. After EQUAL_STEPS pairs the structures count as
// different.
enum { EQUAL_STEPS = 10000000, EQUAL_PAIRS = 128 };

typedef struct comparison {
    int depth;
    long steps;
    struct {
        const taper_obj *a, *b;
    } equal[EQUAL_PAIRS]; // cache of equal pairs, indexed by a hash; cleared at the first nested container
} comparison;

static size_t pair_place(const taper_obj *a, const taper_obj *b)
{
    const uint64_t h = ((uint64_t)(uintptr_t)a >> 4) * 31 + ((uint64_t)(uintptr_t)b >> 4);
    return (size_t)(h * UINT64_C(0x9E3779B97F4A7C15) >> 32) % EQUAL_PAIRS;
}

static bool equal(taper_val a, taper_val b, comparison *c);

static bool equal_items(const taper_val *a, const taper_val *b, size_t count, comparison *c)
{
    for (size_t i = 0; i < count; i++) {
        if (!equal(a[i], b[i], c)) {
            return false;
        }
    }
    return true;
}

static bool equal_dicts(const taper_dict *a, const taper_dict *b, comparison *c)
{
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        const taper_val *other = taper_dict_find(b, taper_dict_key(a, i));
        if (other == NULL || !equal(taper_dict_value(a, i), *other, c)) {
            return false;
        }
    }
    return true;
}

static bool equal_containers(taper_val a, taper_val b, comparison *c)
{
    if (c->depth >= TAPER_LIMIT_VALUE_DEPTH || ++c->steps > EQUAL_STEPS) {
        return false;
    }
    const size_t place = pair_place(a.as.obj, b.as.obj);
    if (c->steps == 2) {
        memset(c->equal, 0, sizeof c->equal);
    }
    if (c->depth != 0 && c->equal[place].a == a.as.obj && c->equal[place].b == b.as.obj) {
        return true;
    }
    c->depth++;
    bool same;
    if (a.tag == TAPER_LIST) {
        same = a.as.list->count == b.as.list->count &&
               equal_items(a.as.list->items, b.as.list->items, a.as.list->count, c);
    } else if (a.tag == TAPER_TUPLE) {
        same = a.as.tuple->count == b.as.tuple->count &&
               equal_items(a.as.tuple->items, b.as.tuple->items, a.as.tuple->count, c);
    } else {
        same = equal_dicts(a.as.dict, b.as.dict, c);
    }
    c->depth--;
    if (same && c->depth != 0) {
        c->equal[place].a = a.as.obj;
        c->equal[place].b = b.as.obj;
    }
    return same;
}

static bool equal(taper_val a, taper_val b, comparison *c)
{
    if (a.tag != b.tag) {
        double are = 0, aim = 0, bre = 0, bim = 0;
        return number(a, &are, &aim) && number(b, &bre, &bim) && are == bre && aim == bim;
    }
    switch (a.tag) {
    case TAPER_COMPLEX:
        return a.as.complex->re == b.as.complex->re && a.as.complex->im == b.as.complex->im;
    case TAPER_STRING:
        return a.as.string->length == b.as.string->length &&
               memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0;
    case TAPER_LIST:
    case TAPER_TUPLE:
    case TAPER_DICT:
        return equal_containers(a, b, c);
    default:
        return taper_val_same(a, b);
    }
}

bool taper_val_equal(taper_val a, taper_val b)
{
    comparison c;
    c.depth = 0;
    c.steps = 0;
    return equal(a, b, &c);
}
