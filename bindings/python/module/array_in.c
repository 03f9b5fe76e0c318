// SPDX-License-Identifier: BSD-2-Clause
// Converts arrays in the host's memory to tensors over that memory. Arrays whose layout tensors cannot have are copied:
// strides that are negative or no multiple of an element, unaligned elements, and elements in the other byte order.
#include "binding.h"

#include <stdint.h>
#include <string.h>

// ---- formats of buffers

typedef struct element {
    int dtype;    // -1 if Taper has no such dtype
    size_t unit;  // bytes of each number; an element of a complex dtype consists of two numbers
    bool swapped; // true if the bytes of each number must be reversed
} element;

static element read_format(const binding_state *state, const char *format, size_t size)
{
    element e = {.dtype = -1, .unit = size};
    const char *c = format != NULL ? format : "B";
    if (strchr("@=<>!", *c) != NULL && *c != '\0') {
        const bool big = *c == '>' || *c == '!';
        e.swapped = *c != '@' && *c != '=' && big != (PY_BIG_ENDIAN != 0);
        c++;
    }
    const bool complex = *c == 'Z';
    c += complex;
    if (*c == '\0' || c[1] != '\0') {
        return e; // the element has several numbers, which no dtype of Taper has
    }
    const char kind = strchr("bhilqn", *c) != NULL   ? 'i'
                      : strchr("BHILQN", *c) != NULL ? 'u'
                      : strchr("efd", *c) != NULL    ? 'f'
                      : *c == '?'                    ? 'b'
                                                     : '\0';
    if (complex) {
        e.unit = size / 2;
        e.dtype = kind == 'f' ? binding_dtype_find(state, 'c', size) : -1;
    } else if (kind != '\0') {
        e.dtype = binding_dtype_find(state, kind, size);
    }
    return e;
}

// ---- copies of elements

void binding_copy_strided(void *to, const void *from, size_t rank, const Py_ssize_t *shape, const Py_ssize_t *strides,
                          size_t item, size_t unit)
{
    Py_ssize_t index[TAPER_MAX_RANK] = {0};
    char *out = to;
    for (size_t d = 0; d < rank; d++) {
        if (shape[d] == 0) {
            return;
        }
    }
    const Py_ssize_t inner = rank != 0 ? shape[rank - 1] : 1, step = rank != 0 ? strides[rank - 1] : 0;
    for (const char *row = from;;) {
        for (Py_ssize_t i = 0; i < inner; i++, out += item) {
            memcpy(out, row + i * step, item);
            for (size_t k = 0; unit > 1 && k < item; k += unit) {
                for (size_t low = k, high = k + unit - 1; low < high; low++, high--) {
                    const char byte = out[low];
                    out[low] = out[high];
                    out[high] = byte;
                }
            }
        }
        size_t d = rank > 1 ? rank - 1 : 0; // advances the indices to the next row
        while (d > 0) {
            d--;
            row += strides[d];
            if (++index[d] < shape[d]) {
                break;
            }
            row -= strides[d] * shape[d];
            index[d] = 0;
            if (d == 0) {
                return;
            }
        }
        if (rank <= 1) {
            return;
        }
    }
}

static taper_value *copied(const binding_state *state, binding_context *context, const Py_buffer *view, element e)
{
    int64_t sizes[TAPER_MAX_RANK];
    for (int d = 0; d < view->ndim; d++) {
        sizes[d] = view->shape[d];
    }
    taper_error *const error = taper_error_create();
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_status status =
        taper_value_tensor(context->context, (taper_dtype)e.dtype, (size_t)view->ndim, sizes, &value, error);
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(value, &info, error);
    }
    if (!binding_check(state, status, error)) {
        binding_value_release(value);
        return NULL;
    }
    binding_copy_strided(info.data, view->buf, (size_t)view->ndim, view->shape, view->strides, (size_t)view->itemsize,
                         e.swapped ? e.unit : 1);
    return value;
}

// ---- tensors over the host's memory

taper_value *binding_tensor_over(const binding_state *state, binding_context *context, taper_dtype dtype, size_t rank,
                                 const int64_t *sizes, const int64_t *strides, void *data, size_t bytes, bool read_only,
                                 binding_later *later)
{
    static int64_t nothing; // memory for tensors without elements, because some exporters pass NULL
    taper_error *const error = taper_error_create();
    taper_value *value;
    const taper_status status =
        taper_value_tensor_from(context->context, dtype, rank, sizes, strides, bytes != 0 ? data : &nothing, bytes,
                                read_only, binding_later_release, later, &value, error);
    if (!binding_check(state, status, error)) {
        binding_later_drop(later);
        return NULL;
    }
    return value;
}

// Computes the layout in elements. *bytes is the size from the start of the first element to the end of the last
// element. Returns false if a tensor cannot have this layout.
static bool lay_out(const Py_buffer *view, int64_t *sizes, int64_t *strides, size_t *bytes)
{
    bool empty = false;
    for (int d = 0; d < view->ndim; d++) {
        sizes[d] = view->shape[d];
        empty = empty || sizes[d] == 0;
    }
    int64_t last = 0;   // products cannot overflow, because they are offsets inside the exporter's memory
    uint64_t dense = 1; // may wrap if elements share memory
    for (int d = view->ndim; d-- > 0;) {
        const int64_t step = view->strides[d];
        // The stride of a dimension with one element, or of an empty array, has no meaning.
        if (empty || sizes[d] == 1) {
            strides[d] = (int64_t)dense;
        } else if (step < 0 || step % view->itemsize != 0) {
            return false;
        } else {
            strides[d] = step / view->itemsize;
            last += strides[d] * (sizes[d] - 1);
        }
        dense = empty ? 1 : dense * (uint64_t)sizes[d];
    }
    *bytes = empty ? 0 : ((size_t)last + 1) * (size_t)view->itemsize;
    const size_t aligned = view->itemsize < 8 ? (size_t)view->itemsize : 8;
    return empty || (uintptr_t)view->buf % aligned == 0;
}

static taper_value *element_in(const binding_state *state, binding_context *context, const Py_buffer *view, element e,
                               binding_later *later)
{
    if (view->ndim > TAPER_MAX_RANK) {
        binding_refuse(PyExc_ValueError, "an array of %d dimensions cannot be a tensor: those have at most %d",
                       view->ndim, TAPER_MAX_RANK);
        binding_later_drop(later);
        return NULL;
    }
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    size_t bytes;
    if ((!e.swapped || e.unit == 1) && lay_out(view, sizes, strides, &bytes)) {
        return binding_tensor_over(state, context, (taper_dtype)e.dtype, (size_t)view->ndim, sizes, strides, view->buf,
                                   bytes, view->readonly != 0, later);
    }
    taper_value *const value = copied(state, context, view, e);
    binding_later_drop(later);
    return value;
}

taper_value *binding_view_in(const binding_state *state, binding_context *context, const Py_buffer *view, int dtype,
                             binding_later *later)
{
    return element_in(state, context, view, (element){.dtype = dtype, .unit = 1}, later);
}

// ctypes never fills strides, even if they are requested; its memory is contiguous.
static bool complete(Py_buffer *view, Py_ssize_t *shape, Py_ssize_t *strides)
{
    if (view->ndim > TAPER_MAX_RANK) {
        return true; // a later check refuses this rank
    }
    if (view->shape == NULL && view->ndim > 0) {
        if (view->ndim > 1 || view->itemsize <= 0) {
            PyErr_SetString(PyExc_BufferError, "the buffer has no shape");
            return false;
        }
        shape[0] = view->len / view->itemsize;
        view->shape = shape;
    }
    if (view->strides == NULL) {
        Py_ssize_t step = view->itemsize;
        // `step` cannot overflow, because the whole array is in memory.
        for (int d = view->ndim; d-- > 0; step *= view->shape[d]) {
            strides[d] = step;
        }
        view->strides = strides;
    }
    return true;
}

static taper_value *from_view(const binding_state *state, binding_context *context, binding_later *later, int forced)
{
    Py_buffer view = later->view;
    Py_ssize_t shape[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    element e = read_format(state, view.format, (size_t)view.itemsize);
    if (forced >= 0 && (size_t)view.itemsize == state->dtypes[forced].size) {
        e.dtype = forced;
    }
    if (e.dtype < 0) {
        binding_refuse(PyExc_TypeError,
                       "an array with elements of format \"%s\" cannot be a tensor: Taper has no such dtype",
                       view.format != NULL ? view.format : "B");
    }
    if (e.dtype < 0 || !complete(&view, shape, strides)) {
        binding_later_drop(later);
        return NULL;
    }
    return element_in(state, context, &view, e, later);
}

// forced: the dtype of the elements, regardless of the buffer's format, or -1 if the format decides.
static taper_value *buffer_in(const binding_state *state, binding_context *context, PyObject *object, int forced)
{
    binding_later *const later = binding_later_new();
    if (later == NULL) {
        return NULL;
    }
    if (PyObject_GetBuffer(object, &later->view, PyBUF_RECORDS_RO) != 0) {
        later->view.obj = NULL;
        binding_later_drop(later);
        return NULL;
    }
    return from_view(state, context, later, forced);
}

// ---- the other protocols

static bool has(PyObject *object, const char *name)
{
    PyObject *const attribute = PyObject_GetAttrString(object, name);
    PyErr_Clear();
    Py_XDECREF(attribute);
    return attribute != NULL;
}

bool binding_is_array(PyObject *object)
{
    return PyObject_CheckBuffer(object) || has(object, "__dlpack__") || has(object, "__array__") ||
           has(object, "__array_interface__");
}

// bfloat16 is a dtype that packages add to NumPy. The buffer protocol does not support it.
static taper_value *bfloat_in(const binding_state *state, binding_context *context, PyObject *object)
{
    PyObject *const dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *const name = dtype != NULL ? PyObject_GetAttrString(dtype, "name") : NULL;
    PyErr_Clear();
    const bool is = name != NULL && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    Py_XDECREF(name);
    Py_XDECREF(dtype);
    PyObject *const bits = is ? PyObject_CallMethod(object, "view", "s", "uint16") : NULL;
    PyErr_Clear();
    taper_value *const value = bits != NULL ? buffer_in(state, context, bits, TAPER_BF16) : NULL;
    Py_XDECREF(bits);
    return value;
}

static taper_value *numpy_in(const binding_state *state, binding_context *context, PyObject *object)
{
    PyObject *const numpy = PyImport_ImportModule("numpy");
    PyObject *const array = numpy != NULL ? PyObject_CallMethod(numpy, "asarray", "O", object) : NULL;
    Py_XDECREF(numpy);
    taper_value *const value = array != NULL ? buffer_in(state, context, array, -1) : NULL;
    Py_XDECREF(array);
    return value;
}

// A function that makes a tensor from an array, or returns NULL with an exception.
typedef taper_value *array_way(const binding_state *state, binding_context *context, PyObject *object);

// Returns `value`, or the result of `way` if `value` is NULL. If `way` fails too, the exception of the first failure is
// raised.
static taper_value *or_else(taper_value *value, array_way *way, const binding_state *state, binding_context *context,
                            PyObject *object)
{
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_Exception)) {
        return value;
    }
    PyObject *type, *exception, *traceback;
    PyErr_Fetch(&type, &exception, &traceback);
    value = way(state, context, object);
    if (value == NULL) {
        PyErr_Clear();
        PyErr_Restore(type, exception, traceback);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(exception);
    Py_XDECREF(traceback);
    return value;
}

// PyTorch 1.13 has no DLPack for bool and takes half a millisecond to refuse. The last dtype that was refused is
// therefore remembered.
static taper_value *dlpack_or_numpy(const binding_state *state, binding_context *context, PyObject *object)
{
    PyObject *const dtype = PyObject_GetAttrString(object, "dtype");
    PyErr_Clear();
    PyObject *const type = (PyObject *)Py_TYPE(object);
    if (dtype != NULL && dtype == PyList_GetItem(state->met, BINDING_MET_REFUSED) &&
        type == PyList_GetItem(state->met, BINDING_MET_REFUSED_OF)) {
        Py_DECREF(dtype);
        return or_else(numpy_in(state, context, object), binding_dlpack_in, state, context, object);
    }
    taper_value *value = binding_dlpack_in(state, context, object);
    const bool refused = value == NULL;
    if (refused) {
        value = or_else(value, numpy_in, state, context, object);
    }
    if (refused && value != NULL && dtype != NULL) {
        // Cannot fail, because the list has these indices.
        (void)PyList_SetItem(state->met, BINDING_MET_REFUSED, Py_NewRef(dtype));
        (void)PyList_SetItem(state->met, BINDING_MET_REFUSED_OF, Py_NewRef(type));
    }
    Py_XDECREF(dtype);
    return value;
}

taper_value *binding_array_in(const binding_state *state, binding_context *context, PyObject *object)
{
    if (PyObject_CheckBuffer(object)) {
        return or_else(buffer_in(state, context, object, -1), bfloat_in, state, context, object);
    }
    return has(object, "__dlpack__") ? dlpack_or_numpy(state, context, object) : numpy_in(state, context, object);
}
