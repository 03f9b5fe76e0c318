// SPDX-License-Identifier: BSD-2-Clause
// Values at run time. Numbers are inline; every other value is a reference-counted object on a heap. A stored taper_val
// owns one reference. Functions borrow their arguments unless they say otherwise.
#ifndef TAPER_IR_VALUE_H
#define TAPER_IR_VALUE_H

#include <string.h>

#include "base/limits.h"
#include "ir/object.h"
#include "ir/type.h"

typedef struct taper_val {
    uint32_t tag; // a taper_tag
    union {
        bool b;
        int64_t i;
        double f;
        taper_obj *obj;
        struct taper_complex *complex;
        struct taper_string *string;
        struct taper_tensor *tensor;
        struct taper_list *list;
        struct taper_tuple *tuple;
        struct taper_dict *dict;
        struct taper_object *object;
    } as;
} taper_val;

typedef struct taper_complex {
    taper_obj head;
    double re, im;
} taper_complex;

typedef struct taper_string {
    taper_obj head;
    size_t length;
    char data[]; // bytes followed by a NUL; usually UTF-8, but any bytes are possible
} taper_string;

// The head of a container. Containers may form cycles. A heap therefore keeps a list of its containers. When the heap
// is closed, it frees the containers that still exist.
typedef struct taper_container {
    taper_obj head;
    struct taper_container *previous, *next; // neighbours in the heap's list of containers
    struct taper_container *work;            // next item of a work list while containers are freed or searched
    int64_t scan;
} taper_container;

typedef struct taper_list {
    taper_container head;
    const taper_type *element; // type of the items; NULL if unknown
    taper_val *items;
    size_t count, capacity;
} taper_list;

typedef struct taper_tuple {
    taper_container head;
    const taper_type *type; // type of a named tuple, otherwise NULL
    size_t count;
    taper_val items[];
} taper_tuple;

// A dict keeps the order of insertion. A key is an int, bool, str, float, complex, Tensor (by identity) or device.
typedef struct taper_dict {
    taper_container head;
    const taper_type *key, *value; // types of keys and values; NULL if unknown
    taper_val *entries;            // key, value, key, value, …
    size_t count, capacity;        // number of (key, value) pairs, and of pairs allocated
    uint32_t *index; // hash table whose entries are positions + 1, or 0 for free entries; NULL while the dict is small
    size_t index_size; // number of entries of `index`, a power of two
} taper_dict;

typedef struct taper_object {
    taper_container head;
    const taper_class *klass;
    taper_val *slots;
    size_t count, capacity;
} taper_object;

// Returns true if the class is one of PyTorch's classes written in C++, for example packed weights. Scripts cannot set
// attributes of its objects.
static inline bool taper_class_is_native(const char *name)
{
    static const char native[] = "__torch__.torch.classes.";
    return strncmp(name, native, sizeof native - 1) == 0;
}

// ---- references

inline bool taper_val_is_object(taper_val value)
{
    return value.tag >= TAPER_COMPLEX;
}

// Frees an object after its last reference was dropped. Values of any nesting depth are possible, because the function
// is not recursive.
void taper_obj_free(taper_obj *obj);

// The head of an object that has its own function to destroy it.
typedef struct taper_blob_head {
    taper_obj head; // head with tag TAPER_BLOB and no heap
    void (*destroy)(taper_obj *obj);
} taper_blob_head;

inline void taper_obj_retain(taper_obj *obj)
{
    taper_refs_add(&obj->refs);
}

inline void taper_obj_release(taper_obj *obj)
{
    if (taper_refs_drop(&obj->refs)) {
        taper_obj_free(obj);
    }
}

inline taper_val taper_val_retain(taper_val value)
{
    if (taper_val_is_object(value)) {
        taper_obj_retain(value.as.obj);
    }
    return value;
}

inline void taper_val_release(taper_val value)
{
    if (taper_val_is_object(value)) {
        taper_obj_release(value.as.obj);
    }
}

// Replaces the value in the slot and releases the old value. Takes over the reference to the new value.
inline void taper_val_replace(taper_val *slot, taper_val value)
{
    const taper_val old = *slot;
    *slot = value;
    taper_val_release(old);
}

// The handle of the public interface: an object that contains a value and has its own reference count.
struct taper_value {
    taper_obj head; // head with tag TAPER_BOX
    taper_val val;
};

// ---- creating values. A function that returns an object returns one reference, or NULL if memory is missing.

inline taper_val taper_val_none(void)
{
    return (taper_val){.tag = TAPER_NONE, .as.i = 0};
}
static inline taper_val taper_val_bool(bool b)
{
    return (taper_val){.tag = TAPER_BOOLEAN, .as.i = b ? 1 : 0};
}
static inline taper_val taper_val_int(int64_t i)
{
    return (taper_val){.tag = TAPER_INT, .as.i = i};
}
static inline taper_val taper_val_double(double f)
{
    return (taper_val){.tag = TAPER_DOUBLE, .as.f = f};
}
static inline taper_val taper_val_device(int kind, int index) // kind: PyTorch's DeviceType; index: -1 for none
{
    return (taper_val){.tag = TAPER_DEVICE, .as.i = (int64_t)kind << 8 | (int64_t)(index + 1)};
}
static inline taper_val taper_val_of(taper_obj *obj) // takes over the reference to `obj`
{
    return (taper_val){.tag = obj->tag, .as.obj = obj};
}
#define TAPER_VAL(object) taper_val_of((taper_obj *)(object))

taper_value *taper_box_new(taper_heap *heap, taper_val value); // takes over the reference to `value`, unless it fails
taper_complex *taper_complex_new(taper_heap *heap, double re, double im);
// `data` may be NULL; the bytes are then uninitialized.
taper_string *taper_string_new(taper_heap *heap, const char *data, size_t length);
taper_list *taper_list_new(taper_heap *heap, const taper_type *element, size_t capacity);
taper_tuple *taper_tuple_new(taper_heap *heap, const taper_type *type, size_t count); // all items are None at first
taper_dict *taper_dict_new(taper_heap *heap, const taper_type *key, const taper_type *value);
taper_object *taper_object_new(taper_heap *heap, const taper_class *klass, size_t slots); // all slots are None at first

// ---- containers. A function takes over the references of the values that it stores, also on failure.

TAPER_MUST_USE taper_status taper_list_append(taper_list *list, taper_val value, taper_error *error);
TAPER_MUST_USE taper_status taper_list_insert(taper_list *list, size_t at, taper_val value, taper_error *error);
taper_val taper_list_remove(taper_list *list, size_t at); // the caller gets the reference to the item
void taper_list_clear(taper_list *list);

// Returns the value of a key, or NULL if the dict lacks it. An unhashable key is never found.
taper_val *taper_dict_find(const taper_dict *dict, taper_val key);
// Works like taper_dict_find with a string as the key.
taper_val *taper_dict_find_string(const taper_dict *dict, const char *text, size_t length);
TAPER_MUST_USE taper_status taper_dict_set(taper_dict *dict, taper_val key, taper_val value, taper_error *error);
// Removes an entry. *value receives the value, and the caller gets the reference. Returns false if the dict lacks the
// key.
bool taper_dict_remove(taper_dict *dict, taper_val key, taper_val *value);
void taper_dict_clear(taper_dict *dict);
static inline taper_val taper_dict_key(const taper_dict *dict, size_t at)
{
    return dict->entries[2 * at];
}
static inline taper_val taper_dict_value(const taper_dict *dict, size_t at)
{
    return dict->entries[2 * at + 1];
}

// Sets a slot. If the slot is new, the object grows.
TAPER_MUST_USE taper_status taper_object_set(taper_object *object, size_t slot, taper_val value, taper_error *error);
// Adds attributes to the object, which must have all attributes of its class. The new attributes come after these and
// are None at first. Names are copied. Only this object gets the class with the new attributes.
TAPER_MUST_USE taper_status taper_object_add_slots(taper_object *object, taper_types *types, const char *const *names,
                                                   size_t count, taper_error *error);
// Returns the slot of an attribute, or -1 if the object has no attribute of that name.
int64_t taper_object_slot(const taper_object *object, const char *name);

TAPER_MUST_USE taper_status taper_dict_reserve(taper_dict *dict, size_t want, taper_error *error);

// ---- properties of values

// Returns the array of the values in a container. taper_container_clear releases all of them.
taper_val *taper_container_items(taper_container *container, size_t *count);
void taper_container_clear(taper_container *container);

// Implements Python's `is`: true for the same object, or for equal numbers of the same kind.
bool taper_val_same(taper_val a, taper_val b);
// Implements Python's == for numbers, strings and containers of these. Tensors are compared by identity; the operator
// aten::eq compares their elements.
bool taper_val_equal(taper_val a, taper_val b);
bool taper_val_is_a(taper_val value, const taper_type *type);
const char *taper_val_kind_name(taper_val value); // returns a name for messages, such as "Tensor", "int" or "List"
void taper_val_type_print(taper_val value, taper_text *text);
static inline bool taper_val_string_is(taper_val value, const char *text)
{
    return value.tag == TAPER_STRING && strcmp(value.as.string->data, text) == 0;
}

#endif
