// SPDX-License-Identifier: BSD-2-Clause
// Converts Python's objects to values of the types that a method declares, as PyTorch's own binding does.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// DEEPEST limits the nesting of an input: each level of nesting needs up to 3 KB of the stack, which may be small in
// threads. A tuple may contain one tuple twice on each level, so the number of visits could grow exponentially.
// ITEMS_MOST limits the visits below the first level of an input.
enum { DEEPEST = 64, ITEMS_MOST = 1 << 22 };

typedef struct writer {
    const binding_state *state;
    binding_context *context;
    unsigned depth;
    size_t left; // number of items that may still be converted
} writer;

static taper_value *value_in(writer *w, PyObject *object, const taper_type *type);

// ---- arrays of values

bool binding_values_room(binding_values *values, size_t count)
{
    *values = (binding_values){.items = calloc(count + 1, sizeof *values->items)};
    if (values->items == NULL) {
        PyErr_NoMemory();
        return false;
    }
    values->count = count;
    return true;
}

void binding_values_free(binding_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        binding_value_release(values->items[i]);
    }
    free(values->items);
    *values = (binding_values){0};
}

// Converts the items of a list or tuple. The type of every item is `shared`. If `apart` is true, the type of item i is
// the item type i of `shared`.
static bool items_in(writer *w, PyObject *sequence, const taper_type *shared, bool apart, binding_values *values)
{
    // A conversion may run Python code that changes the list, so a copy is converted.
    PyObject *const items = PySequence_Tuple(sequence);
    bool done = items != NULL && binding_values_room(values, (size_t)PyTuple_Size(items));
    if (!done) {
        Py_XDECREF(items);
        return false;
    }
    for (size_t i = 0; done && i < values->count; i++) {
        values->items[i] =
            value_in(w, PyTuple_GetItem(items, (Py_ssize_t)i), apart ? taper_type_item(shared, i) : shared);
        done = values->items[i] != NULL;
    }
    Py_DECREF(items);
    if (!done) {
        binding_values_free(values);
    }
    return done;
}

bool binding_values_in(const binding_state *state, binding_context *context, PyObject *sequence,
                       const taper_model *model, const char *method, binding_values *values)
{
    if (!PyList_Check(sequence) && !PyTuple_Check(sequence)) {
        binding_refuse(PyExc_TypeError, "the inputs of a call are a tuple, not %R", Py_TYPE(sequence));
        return false;
    }
    PyObject *const items = PySequence_Tuple(sequence);
    bool done = items != NULL && binding_values_room(values, (size_t)PyTuple_Size(items));
    for (size_t i = 0; done && i < values->count; i++) {
        values->items[i] = binding_value_in(state, context, PyTuple_GetItem(items, (Py_ssize_t)i),
                                            taper_model_argument_type(model, method, i));
        done = values->items[i] != NULL;
    }
    Py_XDECREF(items);
    if (!done && items != NULL) {
        binding_values_free(values);
    }
    return done;
}

static taper_value *finish(const binding_state *state, taper_status status, taper_error *error, taper_value *value)
{
    return binding_check(state, status, error) ? value : NULL;
}

// ---- containers

typedef struct type_string {
    char text[1024];
    const char *pointer; // text of the type, or NULL if it is unknown; the library then uses the type of the first item
} type_string;

static bool write_type(const taper_type *type, const char *otherwise, type_string *string)
{
    string->pointer = type != NULL ? string->text : otherwise;
    if (type == NULL || taper_type_text(type, string->text, sizeof string->text) < sizeof string->text) {
        return true;
    }
    binding_refuse(PyExc_ValueError, "the declared type is longer than 1023 bytes");
    return false;
}

static taper_value *list_in(writer *w, PyObject *object, const taper_type *element)
{
    binding_values values;
    type_string type;
    // TorchScript gives [] the type List[Tensor].
    if (!write_type(element, PySequence_Size(object) == 0 ? "Tensor" : NULL, &type) ||
        !items_in(w, object, element, false, &values)) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_value *list;
    const taper_status status =
        taper_value_list(w->context->context, type.pointer, values.items, values.count, &list, error);
    binding_values_free(&values);
    return finish(w->state, status, error, list);
}

static taper_value *tuple_in(writer *w, PyObject *object, const taper_type *type)
{
    binding_values values;
    const size_t count = taper_type_count(type);
    if (type != NULL && (size_t)PySequence_Size(object) != count) {
        const char *const name = taper_type_name(type);
        binding_refuse(PyExc_ValueError, "the method takes a tuple of %zu here%s%s, this has %zd", count,
                       name != NULL ? ", " : "", name != NULL ? name : "", PySequence_Size(object));
        return NULL;
    }
    if (!items_in(w, object, type, true, &values)) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_value *tuple;
    const taper_status status = taper_value_tuple(w->context->context, values.items, values.count, &tuple, error);
    binding_values_free(&values);
    return finish(w->state, status, error, tuple);
}

static taper_value *dict_in(writer *w, PyObject *object, const taper_type *key, const taper_type *item)
{
    binding_values keys, values;
    type_string key_type, item_type;
    const bool bare = item == NULL && PyDict_Size(object) == 0; // TorchScript gives {} the type Dict[str, Tensor]
    PyObject *const pairs[2] = {PyDict_Keys(object), PyDict_Values(object)};
    taper_value *dict = NULL;
    if (pairs[0] != NULL && pairs[1] != NULL && write_type(key, bare ? "str" : NULL, &key_type) &&
        write_type(item, bare ? "Tensor" : NULL, &item_type) && items_in(w, pairs[0], key, false, &keys)) {
        if (items_in(w, pairs[1], item, false, &values)) {
            taper_error *const error = taper_error_create();
            const taper_status status = taper_value_dict(w->context->context, key_type.pointer, item_type.pointer,
                                                         keys.items, values.items, values.count, &dict, error);
            binding_values_free(&values);
            dict = finish(w->state, status, error, dict);
        }
        binding_values_free(&keys);
    }
    Py_XDECREF(pairs[0]);
    Py_XDECREF(pairs[1]);
    return dict;
}

// ---- tensors of other contexts

// Makes a tensor of this context over the memory of a Tensor of another context. The new tensor keeps that Tensor.
static taper_value *foreign_in(const binding_state *state, binding_context *context, binding_tensor *tensor)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    taper_tensor_info info = {.struct_size = sizeof info};
    if (!binding_tensor_know((PyObject *)tensor)) {
        return NULL;
    }
    taper_error *error = taper_error_create();
    if (!binding_check(state, taper_value_get_tensor(tensor->value, &info, error), error)) {
        return NULL;
    }
    if (info.quantized != 0) {
        binding_refuse(PyExc_ValueError,
                       "a quantized tensor of another context cannot be given to this model: load both models "
                       "with the same context=");
        return NULL;
    }
    memcpy(sizes, info.sizes, info.rank * sizeof *sizes);
    memcpy(strides, info.strides, info.rank * sizeof *strides);
    binding_later *const later = binding_later_new();
    if (later == NULL) {
        return NULL;
    }
    later->reference = Py_NewRef((PyObject *)tensor);
    return binding_tensor_over(state, context, info.dtype, info.rank, sizes, strides, info.data, info.bytes,
                               info.read_only != 0, later);
}

static taper_value *tensor_in(const binding_state *state, binding_context *context, PyObject *object)
{
    binding_tensor *const tensor = (binding_tensor *)(void *)object;
    if (tensor->context != context) {
        return foreign_in(state, context, tensor);
    }
    taper_value *const value = taper_value_retain(tensor->value);
    return tensor->known ? binding_value_own(state, context, value) : value;
}

static taper_value *object_in(const binding_object *object, const binding_context *context)
{
    if (object->context != context) {
        binding_refuse(PyExc_ValueError,
                       "an object of another context cannot be given to this model: load both models with the "
                       "same context=");
        return NULL;
    }
    return taper_value_retain(object->value);
}

// ---- numbers and texts

static taper_value *number_in(writer *w, PyObject *object, const taper_type *type)
{
    const bool as_float = taper_type_kind_of(type) == TAPER_TYPE_FLOAT;
    taper_value *value = NULL;
    taper_error *error = NULL;
    taper_status status;
    if (PyBool_Check(object)) {
        error = taper_error_create();
        status = taper_value_bool(w->context->context, object == Py_True, &value, error);
    } else if (PyComplex_Check(object) || taper_type_kind_of(type) == TAPER_TYPE_COMPLEX) {
        const double re = PyComplex_RealAsDouble(object), im = PyComplex_ImagAsDouble(object);
        if ((re == -1 || im == -1) && PyErr_Occurred()) { // an int that is too large
            (void)binding_adopt(NULL);
            return NULL;
        }
        error = taper_error_create();
        status = taper_value_complex(w->context->context, re, im, &value, error);
    } else if (PyFloat_Check(object) || as_float) {
        const double number = PyFloat_AsDouble(object);
        if (number == -1 && PyErr_Occurred()) {
            (void)binding_adopt(NULL);
            return NULL;
        }
        error = taper_error_create();
        status = taper_value_double(w->context->context, number, &value, error);
    } else {
        int overflow;
        const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow != 0) {
            binding_refuse(PyExc_OverflowError, "an int of a model has 64 bits: this one does not fit");
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
        error = taper_error_create();
        status = taper_value_int(w->context->context, number, &value, error);
    }
    return finish(w->state, status, error, value);
}

static taper_value *text_in(writer *w, PyObject *object)
{
    Py_ssize_t length;
    const char *const text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text == NULL) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_value *value;
    const taper_status status = taper_value_string(w->context->context, text, (size_t)length, &value, error);
    return finish(w->state, status, error, value);
}

static taper_value *none_in(writer *w)
{
    taper_error *const error = taper_error_create();
    taper_value *value;
    const taper_status status = taper_value_none(w->context->context, &value, error);
    return finish(w->state, status, error, value);
}

static bool is_number(PyObject *object)
{
    return PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object);
}

static bool is_number_type(const taper_type *type)
{
    return taper_type_kind_of(type) == TAPER_TYPE_INT || taper_type_kind_of(type) == TAPER_TYPE_FLOAT ||
           taper_type_kind_of(type) == TAPER_TYPE_BOOL || taper_type_kind_of(type) == TAPER_TYPE_COMPLEX ||
           taper_type_kind_of(type) == TAPER_TYPE_NUMBER;
}

// Returns the number in a NumPy scalar or another array of rank 0. Returns NULL without an exception for other objects.
static PyObject *scalar_of(PyObject *object)
{
    PyObject *const shape = PyObject_GetAttrString(object, "shape");
    const bool is = shape != NULL && PyTuple_Check(shape) && PyTuple_Size(shape) == 0;
    Py_XDECREF(shape);
    PyObject *number = is ? PyObject_CallMethod(object, "item", NULL) : NULL;
    PyErr_Clear();
    if (number != NULL && !is_number(number)) {
        Py_CLEAR(number);
    }
    return number;
}

// ---- conversion by the declared type

static taper_value *refuse(PyObject *object, const taper_type *type)
{
    PyObject *const name = PyType_GetName(Py_TYPE(object));
    char text[1024];
    const size_t length = taper_type_text(type, text, sizeof text);
    PyObject *const wanted =
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)(length < sizeof text ? length : sizeof text - 1), "replace");
    if (name != NULL && wanted != NULL && type != NULL) {
        binding_refuse(PyExc_TypeError, "the method takes %U here, this is %U", wanted, name);
    } else if (name != NULL && wanted != NULL) {
        binding_refuse(PyExc_TypeError,
                       "%U cannot be given to a model: tensors (arrays of NumPy, DLPack or the buffer protocol), "
                       "numbers, str, list, "
                       "tuple, dict and None can",
                       name);
    }
    Py_XDECREF(wanted);
    Py_XDECREF(name);
    return NULL;
}

static bool is_sequence(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object);
}

static taper_value *freely_in(writer *w, PyObject *object)
{
    const taper_type *const unknown = NULL;
    return object == Py_None          ? none_in(w)
           : is_number(object)        ? number_in(w, object, unknown)
           : PyUnicode_Check(object)  ? text_in(w, object)
           : PyTuple_Check(object)    ? tuple_in(w, object, unknown)
           : PyList_Check(object)     ? list_in(w, object, unknown)
           : PyDict_Check(object)     ? dict_in(w, object, unknown, unknown)
           : binding_is_array(object) ? binding_array_in(w->state, w->context, object)
                                      : refuse(object, unknown);
}

// Returns true if the object may stand for the type; used to choose a member of a Union.
static bool may_be(const binding_state *state, PyObject *object, const taper_type *type)
{
    return object == Py_None
               ? taper_type_kind_of(type) == TAPER_TYPE_NONE || taper_type_kind_of(type) == TAPER_TYPE_OPTIONAL
           : PyBool_Check(object) ? taper_type_kind_of(type) == TAPER_TYPE_BOOL
           : PyLong_Check(object)
               ? taper_type_kind_of(type) == TAPER_TYPE_INT || taper_type_kind_of(type) == TAPER_TYPE_FLOAT
           : is_number(object)
               ? taper_type_kind_of(type) == (PyComplex_Check(object) ? TAPER_TYPE_COMPLEX : TAPER_TYPE_FLOAT)
           : PyUnicode_Check(object) ? taper_type_kind_of(type) == TAPER_TYPE_STRING
           : PyDict_Check(object)    ? taper_type_kind_of(type) == TAPER_TYPE_DICT
           : PyTuple_Check(object)
               ? taper_type_kind_of(type) == TAPER_TYPE_TUPLE || taper_type_kind_of(type) == TAPER_TYPE_LIST
           : PyList_Check(object)
               ? taper_type_kind_of(type) == TAPER_TYPE_LIST || taper_type_kind_of(type) == TAPER_TYPE_TUPLE
           : Py_IS_TYPE(object, state->object) ? taper_type_kind_of(type) != TAPER_TYPE_TENSOR
                                               : taper_type_kind_of(type) == TAPER_TYPE_TENSOR;
}

// Returns the member of a Union that fits, or NULL if no member fits. int is preferred to float for an int, and list to
// tuple for a list.
static const taper_type *member_for(const binding_state *state, PyObject *object, const taper_type *type)
{
    const taper_type_kind best = PyLong_Check(object) && !PyBool_Check(object) ? TAPER_TYPE_INT
                                 : PyTuple_Check(object)                       ? TAPER_TYPE_TUPLE
                                                                               : TAPER_TYPE_LIST;
    const taper_type *found = NULL, *member;
    for (size_t i = 0; (member = taper_type_item(type, i)) != NULL; i++) {
        if (may_be(state, object, member) && (found == NULL || taper_type_kind_of(member) == best)) {
            found = member;
        }
    }
    return found;
}

static taper_value *typed_in(writer *w, PyObject *object, const taper_type *type)
{
    while (taper_type_kind_of(type) == TAPER_TYPE_OPTIONAL) {
        if (object == Py_None) {
            return none_in(w);
        }
        type = taper_type_item(type, 0);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_UNION) {
        type = member_for(w->state, object, type);
    }
    const bool open = taper_type_kind_of(type) == TAPER_TYPE_ANY;
    if (open || taper_type_kind_of(type) == TAPER_TYPE_TENSOR) {
        return freely_in(w, object);
    }
    if (is_number_type(type)) {
        if (is_number(object)) {
            return number_in(w, object, type);
        }
        PyObject *number = scalar_of(object);
        if (number == NULL && taper_type_kind_of(type) == TAPER_TYPE_INT && PyIndex_Check(object)) {
            number = PyNumber_Index(object);
        }
        if (number == NULL) {
            return PyErr_Occurred() ? NULL : object == Py_None ? none_in(w) : refuse(object, type);
        }
        taper_value *const value = number_in(w, number, type);
        Py_DECREF(number);
        return value;
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_LIST && is_sequence(object)) {
        return list_in(w, object, taper_type_item(type, 0));
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_TUPLE && is_sequence(object)) {
        return tuple_in(w, object, type);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_DICT && PyDict_Check(object)) {
        return dict_in(w, object, taper_type_item(type, 0), taper_type_item(type, 1));
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_CLASS && is_sequence(object)) { // the class may be a named tuple
        return tuple_in(w, object, NULL);
    }
    return freely_in(w, object); // if the object has the wrong type, the library fails when it gets the value
}

static taper_value *value_in(writer *w, PyObject *object, const taper_type *type)
{
    if (Py_IS_TYPE(object, w->state->tensor)) {
        return tensor_in(w->state, w->context, object);
    }
    if (Py_IS_TYPE(object, w->state->object)) {
        return object_in((binding_object *)(void *)object, w->context);
    }
    if (w->depth == DEEPEST) {
        binding_refuse(PyExc_RecursionError, "the input is nested more than %d deep, or contains itself", (int)DEEPEST);
        return NULL;
    }
    if (w->depth > 1 && w->left-- == 0) { // the first level is not limited, because it may be one list of any length
        w->left = 0;
        binding_refuse(PyExc_MemoryError, "the input holds too many items, each counted as often as it is held");
        return NULL;
    }
    w->depth++;
    taper_value *const value = typed_in(w, object, type);
    w->depth--;
    return value;
}

taper_value *binding_value_in(const binding_state *state, binding_context *context, PyObject *object,
                              const taper_type *type)
{
    writer w = {.state = state, .context = context, .left = ITEMS_MOST};
    return value_in(&w, object, type);
}
