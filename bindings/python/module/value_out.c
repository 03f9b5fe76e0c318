// SPDX-License-Identifier: BSD-2-Clause
// Converts values to Python's objects. taper.Object stands for objects of the model's own classes, which Python cannot
// represent.
#include "binding.h"

#include <string.h>

// A list may contain one item many times on each level of nesting, so that the number of visits could grow
// exponentially.
enum { ITEMS_MOST = 1 << 22, DEEPEST = 500 }; // DEEPEST: a list may contain itself

typedef struct reader {
    const binding_state *state;
    binding_context *context;
    size_t left;
    bool stays; // true if tensors are read when the program first uses them
    unsigned depth;
} reader;

static PyObject *read_value(reader *r, taper_value *value);

// Converts an item. Returns NULL with an exception on failure.
static PyObject *item_out(reader *r, const taper_value *value, size_t index, bool key)
{
    if (r->left-- == 0) {
        r->left = 0;
        binding_refuse(PyExc_MemoryError, "the result holds too many items to be made Python's");
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_value *item;
    const taper_status status =
        key ? taper_value_key(value, index, &item, error) : taper_value_item(value, index, &item, error);
    return binding_check(r->state, status, error) ? read_value(r, item) : NULL;
}

static PyObject *list_out(reader *r, const taper_value *value)
{
    const size_t count = taper_value_count(value);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *const item = item_out(r, value, i, false);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

// Returns collections.namedtuple(name, fields), which is made once for all tuples of these fields.
static PyObject *tuple_class(const binding_state *state, const taper_value *value, size_t count)
{
    char type[256];
    (void)taper_value_type(value, type, sizeof type);
    const char *const point = strrchr(type, '.'), *const name = point != NULL ? point + 1 : type;
    PyObject *const key = PyTuple_New((Py_ssize_t)count + 1);
    PyObject *const title = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    bool done = key != NULL && title != NULL && PyTuple_SetItem(key, 0, Py_NewRef(title)) == 0;
    for (size_t i = 0; done && i < count; i++) {
        const char *const field = taper_value_field(value, i);
        PyObject *const text = PyUnicode_FromString(field != NULL ? field : "");
        done = text != NULL && PyTuple_SetItem(key, (Py_ssize_t)i + 1, text) == 0;
    }
    PyObject *result = done ? Py_XNewRef(PyDict_GetItemWithError(state->tuples, key)) : NULL;
    if (done && result == NULL && !PyErr_Occurred()) {
        PyObject *const collections = PyImport_ImportModule("collections");
        PyObject *const make = collections != NULL ? PyObject_GetAttrString(collections, "namedtuple") : NULL;
        PyObject *const fields = PyTuple_GetSlice(key, 1, (Py_ssize_t)count + 1);
        const bool plain = PyUnicode_IsIdentifier(title) == 1;
        PyObject *const args = fields != NULL ? Py_BuildValue("(OO)", plain ? title : state->tuples, fields) : NULL;
        PyObject *const keywords = Py_BuildValue("{sO}", "rename", Py_True);
        if (args != NULL && !plain) {
            (void)PyTuple_SetItem(args, 0, PyUnicode_FromString("NamedTuple"));
        }
        result = make != NULL && args != NULL && keywords != NULL ? PyObject_Call(make, args, keywords) : NULL;
        if (result != NULL && PyDict_Size(state->tuples) < 1000 && PyDict_SetItem(state->tuples, key, result) != 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(keywords);
        Py_XDECREF(args);
        Py_XDECREF(fields);
        Py_XDECREF(make);
        Py_XDECREF(collections);
    }
    Py_XDECREF(title);
    Py_XDECREF(key);
    return result;
}

static PyObject *tuple_out(reader *r, const taper_value *value)
{
    const size_t count = taper_value_count(value);
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *const item = item_out(r, value, i, false);
        if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) != 0) {
            Py_CLEAR(tuple);
        }
    }
    if (tuple == NULL || count == 0 || taper_value_field(value, 0) == NULL) {
        return tuple;
    }
    PyObject *const type = tuple_class(r->state, value, count);
    PyObject *const named = type != NULL ? PyObject_CallObject(type, tuple) : NULL;
    Py_XDECREF(type);
    Py_DECREF(tuple);
    return named;
}

static PyObject *dict_out(reader *r, const taper_value *value)
{
    const size_t count = taper_value_count(value);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < count; i++) {
        PyObject *const key = item_out(r, value, i, true);
        PyObject *const item = key != NULL ? item_out(r, value, i, false) : NULL;
        if (item == NULL || PyDict_SetItem(dict, key, item) != 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(item);
        Py_XDECREF(key);
    }
    return dict;
}

static PyObject *text_out(const taper_value *value)
{
    const char *text;
    size_t length;
    if (taper_value_get_string(value, &text, &length, NULL) != TAPER_OK) {
        return PyErr_NoMemory();
    }
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogateescape"); // bytes that are not UTF-8 are kept
}

// ---- taper.Object

static PyObject *object_out(const binding_state *state, binding_context *context, taper_value *value)
{
    binding_object *const self =
        (binding_object *)(void *)((allocfunc)PyType_GetSlot(state->object, Py_tp_alloc))(state->object, 0);
    if (self != NULL) {
        self->context = binding_context_hold(context);
        self->value = taper_value_retain(value);
    }
    return (PyObject *)self;
}

static binding_object *object_of(PyObject *self)
{
    return (binding_object *)(void *)self;
}

static void destroy(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    binding_value_release(object_of(object)->value);
    binding_context_drop(object_of(object)->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *type_of(PyObject *self, void *unused)
{
    char text[512];
    (void)unused;
    (void)taper_value_type(object_of(self)->value, text, sizeof text);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *get_fields(PyObject *self, void *unused)
{
    (void)unused;
    const taper_value *const value = object_of(self)->value;
    const size_t count = taper_value_kind(value) == TAPER_KIND_OBJECT ? taper_value_count(value) : 0;
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; names != NULL && i < count; i++) {
        const char *const field = taper_value_field(value, i);
        PyObject *const name = PyUnicode_FromString(field != NULL ? field : "");
        if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name) != 0) {
            Py_CLEAR(names);
        }
    }
    return names;
}

static PyObject *get(PyObject *self, PyObject *name)
{
    const binding_object *const object = object_of(self);
    const size_t count = taper_value_kind(object->value) == TAPER_KIND_OBJECT ? taper_value_count(object->value) : 0;
    const char *const text = count != 0 ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    PyErr_Clear();
    for (size_t i = 0; text != NULL && i < count; i++) {
        const char *const field = taper_value_field(object->value, i);
        if (field != NULL && strcmp(text, field) == 0) {
            reader r = {.state = binding_state_of(self), .context = object->context, .left = ITEMS_MOST};
            return item_out(&r, object->value, i, false);
        }
    }
    return PyObject_GenericGetAttr(self, name);
}

static PyObject *describe(PyObject *self)
{
    PyObject *const type = type_of(self, NULL);
    PyObject *const text = type != NULL ? PyUnicode_FromFormat("<taper.Object %U>", type) : NULL;
    Py_XDECREF(type);
    return text;
}

bool binding_object_add(PyObject *module, binding_state *state)
{
    static PyGetSetDef members[] = {
        {"type", type_of, NULL, "The type as PyTorch prints it.", NULL},
        {"fields", get_fields, NULL, "Names of its attributes, which this object has too; \"\" where a run made it.",
         NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "An object of one of the model's own classes, which can be given to its methods."},
        {Py_tp_dealloc, destroy},
        {Py_tp_getattro, get},
        {Py_tp_repr, describe},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"taper.Object", sizeof(binding_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    return binding_add_type(module, &spec, &state->object);
}

// ---- any value

static PyObject *number_out(const taper_value *value, taper_kind kind)
{
    int flag;
    int64_t number;
    double re, im;
    taper_status status;
    if (kind == TAPER_KIND_BOOL) {
        status = taper_value_get_bool(value, &flag, NULL);
        return status == TAPER_OK ? PyBool_FromLong(flag) : PyErr_NoMemory();
    }
    if (kind == TAPER_KIND_INT) {
        status = taper_value_get_int(value, &number, NULL);
        return status == TAPER_OK ? PyLong_FromLongLong(number) : PyErr_NoMemory();
    }
    if (kind == TAPER_KIND_DOUBLE) {
        status = taper_value_get_double(value, &re, NULL);
        return status == TAPER_OK ? PyFloat_FromDouble(re) : PyErr_NoMemory();
    }
    status = taper_value_get_complex(value, &re, &im, NULL);
    return status == TAPER_OK ? PyComplex_FromDoubles(re, im) : PyErr_NoMemory();
}

static PyObject *any_out(reader *r, taper_value *value, taper_kind kind)
{
    switch (kind) {
    case TAPER_KIND_NONE:
        return Py_NewRef(Py_None);
    case TAPER_KIND_BOOL:
    case TAPER_KIND_INT:
    case TAPER_KIND_DOUBLE:
    case TAPER_KIND_COMPLEX:
        return number_out(value, kind);
    case TAPER_KIND_STRING:
        return text_out(value);
    case TAPER_KIND_LIST:
        return list_out(r, value);
    case TAPER_KIND_TUPLE:
        return tuple_out(r, value);
    case TAPER_KIND_DICT:
        return dict_out(r, value);
    default:
        return object_out(r->state, r->context, value);
    }
}

static PyObject *read_value(reader *r, taper_value *value)
{
    const taper_kind kind = taper_value_kind(value);
    if (kind == TAPER_KIND_TENSOR) {
        return (r->stays ? binding_tensor_later : binding_tensor_new)(r->state, r->context, value);
    }
    PyObject *result = NULL;
    if (r->depth == DEEPEST) {
        binding_refuse(PyExc_RecursionError, "the result is nested more than %d deep, or contains itself",
                       (int)DEEPEST);
    } else {
        r->depth++;
        result = any_out(r, value, kind);
        r->depth--;
    }
    binding_value_release(value);
    return result;
}

PyObject *binding_value_out(const binding_state *state, binding_context *context, taper_value *value, bool stays)
{
    reader r = {.state = state, .context = context, .left = ITEMS_MOST, .stays = stays};
    return read_value(&r, value);
}
