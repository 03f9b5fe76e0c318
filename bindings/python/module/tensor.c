// SPDX-License-Identifier: BSD-2-Clause
// taper.Tensor: a tensor value whose memory is available by the buffer protocol, __array_interface__ and DLPack.
#include "binding.h"

#include <string.h>

static binding_tensor *tensor_of(PyObject *self)
{
    return (binding_tensor *)(void *)self;
}

// Reads self->info again: a run in another thread may have moved the memory, but cannot change the sizes.
static bool look(binding_tensor *self)
{
    taper_error *const error = taper_error_create();
    const binding_state *const state = binding_state_of((PyObject *)self);
    self->info.struct_size = sizeof self->info;
    if (!binding_check(state, taper_value_get_tensor(self->value, &self->info, error), error)) {
        return false;
    }
    for (size_t d = 0; d < self->info.rank && !self->known; d++) {
        self->shape[d] = (Py_ssize_t)self->info.sizes[d];
        self->strides[d] = (Py_ssize_t)(self->info.strides[d] * (int64_t)state->dtypes[self->info.dtype].size);
    }
    self->known = true;
    return true;
}

bool binding_tensor_know(PyObject *object)
{
    binding_tensor *const self = tensor_of(object);
    if (self->known) {
        return true;
    }
    // Makes the tensor's own value, whose sizes no later run can change. This also waits for the data.
    taper_value *const own =
        binding_value_own(binding_state_of(object), self->context, taper_value_retain(self->value));
    if (own == NULL) {
        return false;
    }
    binding_value_release(self->value);
    self->value = own;
    return look(self);
}

PyObject *binding_tensor_later(const binding_state *state, binding_context *context, taper_value *value)
{
    const allocfunc allocate = (allocfunc)PyType_GetSlot(state->tensor, Py_tp_alloc);
    binding_tensor *const self = tensor_of(allocate(state->tensor, 0));
    if (self == NULL) {
        binding_value_release(value);
        return NULL;
    }
    self->value = value;
    self->context = binding_context_hold(context);
    return (PyObject *)self;
}

PyObject *binding_tensor_new(const binding_state *state, binding_context *context, taper_value *value)
{
    PyObject *const self = binding_tensor_later(state, context, value);
    if (self != NULL && !binding_tensor_know(self)) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

static void destroy(PyObject *object)
{
    binding_tensor *const self = tensor_of(object);
    PyTypeObject *const type = Py_TYPE(object);
    taper_value *const value = self->value;
    PyObject *const context = (PyObject *)self->context;
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    binding_value_release(value);
    Py_XDECREF(context);
    Py_DECREF(type);
}

static int64_t count_of(const binding_tensor *self)
{
    int64_t count = 1; // cannot overflow, because the library limits the number of elements
    for (size_t d = 0; d < self->info.rank; d++) {
        count *= self->shape[d];
    }
    return count;
}

static bool is_contiguous(const binding_tensor *self, bool fortran)
{
    Py_ssize_t step = (Py_ssize_t)taper_dtype_size(self->info.dtype);
    for (size_t i = 0; i < self->info.rank; i++) {
        const size_t d = fortran ? i : self->info.rank - 1 - i;
        if (self->shape[d] != 1 && self->strides[d] != step) {
            return count_of(self) == 0;
        }
        step *= self->shape[d];
    }
    return true;
}

// ---- the buffer protocol

static const char *format_of(PyObject *object)
{
    const binding_dtype *const dtype = &binding_state_of(object)->dtypes[tensor_of(object)->info.dtype];
    if (dtype->format == NULL) {
        PyErr_Format(PyExc_BufferError, "buffers have no dtype %s: to(\"float32\") makes a copy that one can have",
                     dtype->name);
    }
    return dtype->format;
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    binding_tensor *const self = tensor_of(object);
    view->obj = NULL;
    const char *const format = binding_tensor_know(object) && look(self) ? format_of(object) : NULL;
    if (format == NULL) {
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) != 0 && self->info.read_only) {
        PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
        return -1;
    }
    const bool c = is_contiguous(self, false), fortran = is_contiguous(self, true);
    const bool wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    if (((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c) ||
        ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !fortran) ||
        ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !fortran) || (!wants_strides && !c)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    const Py_ssize_t item = (Py_ssize_t)taper_dtype_size(self->info.dtype);
    *view = (Py_buffer){.buf = self->info.data,
                        .obj = Py_NewRef(object),
                        .len = (Py_ssize_t)count_of(self) * item,
                        .itemsize = item,
                        .readonly = self->info.read_only,
                        .ndim = (int)self->info.rank,
                        .format = (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)format : NULL,
                        .shape = (flags & PyBUF_ND) != 0 ? self->shape : NULL,
                        .strides = wants_strides ? self->strides : NULL};
    if (view->shape == NULL) {
        view->ndim = 1; // without shape, the buffer is a 1-D array of bytes
    }
    return 0;
}

static PyObject *tuple_of(const Py_ssize_t *numbers, size_t count, Py_ssize_t divisor)
{
    PyObject *const tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *const number = PyLong_FromSsize_t(numbers[i] / divisor);
        if (number == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) != 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *get_array_interface(PyObject *object, void *unused)
{
    (void)unused;
    binding_tensor *const self = tensor_of(object);
    if (!binding_tensor_know(object) || !look(self)) {
        return NULL;
    }
    if (format_of(object) == NULL) { // an AttributeError makes hasattr return False
        PyErr_Clear();
        PyErr_SetString(PyExc_AttributeError, "NumPy has no such dtype");
        return NULL;
    }
    const binding_dtype *const dtype = &binding_state_of(object)->dtypes[self->info.dtype];
    const char order = dtype->size == 1 ? '|' : PY_BIG_ENDIAN ? '>' : '<';
    return Py_BuildValue("{s:N,s:N,s:N,s:(NO),s:i}", "shape", tuple_of(self->shape, self->info.rank, 1), "strides",
                         tuple_of(self->strides, self->info.rank, 1), "typestr",
                         PyUnicode_FromFormat("%c%c%zu", order, dtype->kind, dtype->size), "data",
                         PyLong_FromVoidPtr(self->info.data), self->info.read_only ? Py_True : Py_False, "version", 3);
}

// ---- NumPy

static PyObject *as_numpy(PyObject *object)
{
    if (!binding_tensor_know(object)) {
        return NULL;
    }
    if (format_of(object) == NULL) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        binding_refuse(PyExc_TypeError, "NumPy has no dtype %s: to(\"float32\").numpy() has the same numbers",
                       binding_dtype_name(binding_state_of(object), tensor_of(object)->info.dtype));
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return NULL;
    }
    PyObject *const numpy = PyImport_ImportModule("numpy");
    PyObject *const view = numpy != NULL ? PyMemoryView_FromObject(object) : NULL;
    PyObject *const array = view != NULL ? PyObject_CallMethod(numpy, "asarray", "O", view) : NULL;
    Py_XDECREF(view);
    Py_XDECREF(numpy);
    return array;
}

static PyObject *numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return as_numpy(self);
}

static PyObject *array(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy)) {
        return NULL;
    }
    const int must = copy != Py_None ? PyObject_IsTrue(copy) : 0;
    PyObject *result = must >= 0 ? as_numpy(self) : NULL;
    if (result != NULL && dtype != Py_None) {
        PyObject *const other = PyObject_CallMethod(result, "astype", "O", dtype);
        Py_DECREF(result);
        return other;
    }
    if (result != NULL && must == 1) {
        PyObject *const other = PyObject_CallMethod(result, "copy", NULL);
        Py_DECREF(result);
        return other;
    }
    return result;
}

static PyObject *ask_numpy(PyObject *self, const char *method)
{
    PyObject *const array = as_numpy(self);
    PyObject *const result = array != NULL ? PyObject_CallMethod(array, method, NULL) : NULL;
    Py_XDECREF(array);
    return result;
}

static PyObject *to_list(PyObject *self, PyObject *unused)
{
    (void)unused;
    return ask_numpy(self, "tolist");
}

static PyObject *item(PyObject *self, PyObject *unused)
{
    (void)unused;
    return ask_numpy(self, "item");
}

// Returns the bytes of one element. The package's Python code calls this function to print tensors without NumPy.
static PyObject *element(PyObject *object, PyObject *place)
{
    binding_tensor *const self = tensor_of(object);
    if (!binding_tensor_know(object) || !look(self)) {
        return NULL;
    }
    const size_t size = binding_state_of(object)->dtypes[self->info.dtype].size;
    const char *data = self->info.data;
    bool fits = PyTuple_Check(place) && (size_t)PyTuple_Size(place) == self->info.rank;
    for (size_t d = 0; fits && d < self->info.rank; d++) {
        const Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GetItem(place, (Py_ssize_t)d));
        fits = index >= 0 && index < self->shape[d];
        data += fits ? index * self->strides[d] : 0;
    }
    if (fits) {
        return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    }
    PyErr_Clear();
    PyErr_SetString(PyExc_IndexError, "the tensor has no such element");
    return NULL;
}

// ---- operators

// Calls an operator on the tensor. number: the second argument of the operator, or NULL if the operator has none.
static PyObject *call(PyObject *object, const char *name, const int64_t *number)
{
    binding_tensor *const self = tensor_of(object);
    const binding_state *const state = binding_state_of(object);
    if (!binding_tensor_know(object)) { // changes the value, so must precede code that lets other threads run
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_operator *op = NULL;
    taper_value *args[2] = {self->value, NULL}, *result = NULL;
    taper_status status = taper_operator_find(self->context->context, name, &op, error);
    if (status == TAPER_OK && number != NULL) {
        status = taper_value_int(self->context->context, *number, &args[1], error);
    }
    if (status == TAPER_OK) {
        Py_BEGIN_ALLOW_THREADS status = taper_operator_call(op, args, number != NULL ? 2 : 1, &result, 1, error);
        Py_END_ALLOW_THREADS
    }
    binding_value_release(args[1]);
    taper_operator_release(op);
    return binding_check(state, status, error) ? binding_tensor_new(state, self->context, result) : NULL;
}

static PyObject *to(PyObject *self, PyObject *name)
{
    const int dtype = binding_dtype_named(binding_state_of(self), name);
    return dtype >= 0 ? call(self, "aten::to.dtype", &(int64_t){dtype}) : NULL;
}

static PyObject *dequantize(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call(self, "aten::dequantize.self", NULL);
}

// ---- attributes

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return binding_tensor_know(self) ? tuple_of(tensor_of(self)->shape, tensor_of(self)->info.rank, 1) : NULL;
}

static PyObject *get_strides(PyObject *self, void *unused)
{
    (void)unused;
    const binding_tensor *const t = tensor_of(self);
    if (!binding_tensor_know(self)) {
        return NULL;
    }
    const size_t size = taper_dtype_size(t->info.dtype);
    return tuple_of(t->strides, t->info.rank, size != 0 ? (Py_ssize_t)size : 1);
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return binding_tensor_know(self)
               ? PyUnicode_FromString(binding_dtype_name(binding_state_of(self), tensor_of(self)->info.dtype))
               : NULL;
}

static PyObject *get_rank(PyObject *self, void *unused)
{
    (void)unused;
    return binding_tensor_know(self) ? PyLong_FromSize_t(tensor_of(self)->info.rank) : NULL;
}

static PyObject *get_bytes(PyObject *self, void *unused)
{
    (void)unused;
    const binding_tensor *const t = tensor_of(self);
    return binding_tensor_know(self) ? PyLong_FromLongLong(count_of(t) * (int64_t)taper_dtype_size(t->info.dtype))
                                     : NULL;
}

static PyObject *get_read_only(PyObject *self, void *unused)
{
    (void)unused;
    return binding_tensor_know(self) && look(tensor_of(self)) ? PyBool_FromLong(tensor_of(self)->info.read_only) : NULL;
}

static PyObject *get_scale(PyObject *self, void *unused)
{
    (void)unused;
    const taper_tensor_info *const info = &tensor_of(self)->info;
    if (!binding_tensor_know(self)) {
        return NULL;
    }
    return info->quantized == 1 ? PyFloat_FromDouble(info->scale) : Py_NewRef(Py_None);
}

static PyObject *get_zero_point(PyObject *self, void *unused)
{
    (void)unused;
    const taper_tensor_info *const info = &tensor_of(self)->info;
    if (!binding_tensor_know(self)) {
        return NULL;
    }
    return info->quantized == 1 ? PyLong_FromLongLong(info->zero_point) : Py_NewRef(Py_None);
}

static PyObject *get_quantized(PyObject *self, void *unused)
{
    (void)unused;
    return binding_tensor_know(self) ? PyBool_FromLong(tensor_of(self)->info.quantized) : NULL;
}

static Py_ssize_t length(PyObject *self)
{
    if (!binding_tensor_know(self)) {
        return -1;
    }
    if (tensor_of(self)->info.rank == 0) {
        binding_refuse(PyExc_TypeError, "a tensor without dimensions has no length");
        return -1;
    }
    return tensor_of(self)->shape[0];
}

// Returns an array over the same memory, or a number, as NumPy's indexing does.
static PyObject *part(PyObject *self, PyObject *key)
{
    PyObject *const array = as_numpy(self);
    PyObject *const result = array != NULL ? PyObject_GetItem(array, key) : NULL;
    Py_XDECREF(array);
    return result;
}

// NumPy only accepts a sequence as an item of another array: np.array([t, u]).
static PyObject *row(PyObject *self, Py_ssize_t index)
{
    PyObject *const array = as_numpy(self);
    PyObject *const result = array != NULL ? PySequence_GetItem(array, index) : NULL;
    Py_XDECREF(array);
    return result;
}

static PyObject *as_float(PyObject *self)
{
    PyObject *const number = item(self, NULL);
    PyObject *const result = number != NULL ? PyNumber_Float(number) : NULL;
    Py_XDECREF(number);
    return result;
}

static PyObject *as_int(PyObject *self)
{
    PyObject *const number = item(self, NULL);
    PyObject *const result = number != NULL ? PyNumber_Long(number) : NULL;
    Py_XDECREF(number);
    return result;
}

static int as_bool(PyObject *self)
{
    PyObject *const number = item(self, NULL);
    const int result = number != NULL ? PyObject_IsTrue(number) : -1;
    Py_XDECREF(number);
    return result;
}

static PyObject *describe(PyObject *self)
{
    const binding_tensor *const t = tensor_of(self);
    if (!binding_tensor_know(self)) {
        return NULL;
    }
    PyObject *const shape = tuple_of(t->shape, t->info.rank, 1);
    PyObject *const list = shape != NULL ? PySequence_List(shape) : NULL;
    PyObject *const text = list != NULL
                               ? PyUnicode_FromFormat("<taper.Tensor %s %R>",
                                                      binding_dtype_name(binding_state_of(self), t->info.dtype), list)
                               : NULL;
    Py_XDECREF(list);
    Py_XDECREF(shape);
    return text;
}

// ---- taper.tensor and taper.quantize_tensor

PyObject *binding_tensor_make(PyObject *module, PyObject *args)
{
    const binding_state *const state = PyModule_GetState(module);
    PyObject *context, *object;
    if (!PyArg_ParseTuple(args, "O!O:tensor", state->context, &context, &object)) {
        return NULL;
    }
    binding_context *const c = (binding_context *)(void *)context;
    taper_value *const value = binding_value_in(state, c, object, NULL);
    return value != NULL ? binding_tensor_new(state, c, value) : NULL;
}

PyObject *binding_tensor_quantize(PyObject *module, PyObject *args)
{
    const binding_state *const state = PyModule_GetState(module);
    PyObject *context, *object, *name;
    double scale;
    long long zero_point;
    if (!PyArg_ParseTuple(args, "O!OdLO:quantize_tensor", state->context, &context, &object, &scale, &zero_point,
                          &name)) {
        (void)binding_adopt(NULL);
        return NULL;
    }
    const int dtype = binding_dtype_named(state, name);
    binding_context *const c = (binding_context *)(void *)context;
    taper_value *const value = dtype >= 0 ? binding_value_in(state, c, object, NULL) : NULL;
    if (value == NULL) {
        return NULL;
    }
    taper_value *result;
    taper_error *const error = taper_error_create();
    const taper_status status =
        taper_value_quantize(c->context, value, (taper_dtype)dtype, scale, zero_point, &result, error);
    binding_value_release(value);
    return binding_check(state, status, error) ? binding_tensor_new(state, c, result) : NULL;
}

bool binding_tensor_add(PyObject *module, binding_state *state)
{
    static PyMethodDef methods[] = {
        {"numpy", numpy, METH_NOARGS, "A NumPy array over the same memory; of a quantized tensor its integers."},
        {"tolist", to_list, METH_NOARGS, "The elements as lists of numbers."},
        {"item", item, METH_NOARGS, "The one element."},
        {"to", to, METH_O, "The tensor with another dtype, given by name; itself where it has it."},
        {"_element", element, METH_O, NULL},
        {"dequantize", dequantize, METH_NOARGS, "The float32 tensor that a quantized one stands for."},
        {"__array__", (PyCFunction)(void (*)(void))array, METH_VARARGS | METH_KEYWORDS, NULL},
        {"__dlpack__", (PyCFunction)(void (*)(void))binding_tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
         "The tensor for another package, without a copy unless it is read-only."},
        {"__dlpack_device__", binding_tensor_dlpack_device, METH_NOARGS, "The CPU."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef members[] = {
        {"shape", get_shape, NULL, "Sizes of the dimensions.", NULL},
        {"strides", get_strides, NULL, "Strides in elements, as PyTorch has them.", NULL},
        {"dtype", get_dtype, NULL, "\"float32\" and so on.", NULL},
        {"ndim", get_rank, NULL, "The number of dimensions.", NULL},
        {"nbytes", get_bytes, NULL, "Bytes of all elements.", NULL},
        {"read_only", get_read_only, NULL,
         "True over a model's own bytes, and over a read-only array that was an input.", NULL},
        {"requires_grad", binding_tensor_requires_grad, binding_tensor_require_grad,
         "True if a gradient may be asked for; set it for an input of a model.", NULL},
        {"is_quantized", get_quantized, NULL, "Whether its integers stand for floats.", NULL},
        {"scale", get_scale, NULL, "Of a tensor that is quantized as a whole; else None.", NULL},
        {"zero_point", get_zero_point, NULL, "Of a tensor that is quantized as a whole; else None.", NULL},
        {"__array_interface__", get_array_interface, NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "A tensor: what models give. numpy() and DLPack (torch.from_dlpack(t)) share its memory."},
        {Py_tp_dealloc, destroy},
        {Py_tp_repr, describe},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_bf_getbuffer, get_buffer},
        {Py_mp_length, length},
        {Py_mp_subscript, part},
        {Py_sq_length, length},
        {Py_sq_item, row},
        {Py_nb_float, as_float},
        {Py_nb_int, as_int},
        {Py_nb_bool, as_bool},
        {0, NULL},
    };
    static PyType_Spec spec = {"taper.Tensor", sizeof(binding_tensor), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    return binding_add_type(module, &spec, &state->tensor);
}
