// SPDX-License-Identifier: BSD-2-Clause
// Exchanges tensors with other packages by DLPack, without copies.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include "dlpack.h"

static const char name_plain[] = "dltensor", name_versioned[] = "dltensor_versioned";

static const struct {
    char kind;
    uint8_t code;
} codes[] = {{'i', DLPACK_INT},    {'u', DLPACK_UINT},    {'f', DLPACK_FLOAT},
             {'v', DLPACK_BFLOAT}, {'c', DLPACK_COMPLEX}, {'b', DLPACK_BOOL}};
enum { CODES = sizeof codes / sizeof *codes };

// ---- to DLPack

typedef struct exported {
    union {
        dlpack_managed plain;
        dlpack_versioned versioned;
    } as;
    taper_value *value;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
} exported;

// Releases the value of an exported tensor. Runs in any thread, with or without the GIL.
static void free_exported(exported *e)
{
    taper_value_release(e->value);
    free(e);
}

static void delete_plain(dlpack_managed *self)
{
    free_exported(self->user);
}

static void delete_versioned(dlpack_versioned *self)
{
    free_exported(self->user);
}

static void destroy_capsule(PyObject *capsule)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyCapsule_IsValid(capsule, name_plain)) { // no consumer has taken the tensor
        dlpack_delete(PyCapsule_GetPointer(capsule, name_plain), false);
    } else if (PyCapsule_IsValid(capsule, name_versioned)) {
        dlpack_delete(PyCapsule_GetPointer(capsule, name_versioned), true);
    }
    PyErr_Restore(type, value, traceback);
    binding_later_empty();
}

static int code_of(const binding_dtype *dtype)
{
    for (int i = 0; i < CODES && !dtype->quantized; i++) {
        if (codes[i].kind == dtype->kind) {
            return codes[i].code;
        }
    }
    PyErr_Format(PyExc_BufferError, "DLPack has no dtype %s: dequantize(), or numpy() for the integers", dtype->name);
    return -1;
}

// Returns a writable copy of the tensor.
static taper_value *writable_copy(const binding_state *state, const binding_tensor *self)
{
    int64_t sizes[TAPER_MAX_RANK];
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_value *copy;
    for (size_t d = 0; d < self->info.rank; d++) {
        sizes[d] = self->shape[d];
    }
    taper_error *const error = taper_error_create();
    taper_status status =
        taper_value_tensor(self->context->context, self->info.dtype, self->info.rank, sizes, &copy, error);
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(copy, &info, error);
    }
    if (!binding_check(state, status, error)) {
        binding_value_release(copy);
        return NULL;
    }
    binding_copy_strided(info.data, self->info.data, self->info.rank, self->shape, self->strides,
                         taper_dtype_size(self->info.dtype), 1);
    return copy;
}

// Makes a DLPack capsule of a tensor. Takes ownership of the value, also after a failure.
static PyObject *capsule_of(const binding_state *state, taper_value *value, bool versioned, uint64_t flags)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_error *const error = taper_error_create();
    if (!binding_check(state, taper_value_get_tensor(value, &info, error), error)) {
        binding_value_release(value);
        return NULL;
    }
    const int code = code_of(&state->dtypes[info.dtype]);
    exported *const e = code >= 0 ? calloc(1, sizeof *e) : NULL;
    if (e == NULL) {
        binding_value_release(value);
        return code >= 0 ? PyErr_NoMemory() : NULL;
    }
    e->value = value;
    memcpy(e->sizes, info.sizes, info.rank * sizeof *info.sizes);
    memcpy(e->strides, info.strides, info.rank * sizeof *info.strides);
    dlpack_tensor *const tensor = versioned ? &e->as.versioned.tensor : &e->as.plain.tensor;
    *tensor = (dlpack_tensor){.data = info.data, .rank = (int32_t)info.rank, .sizes = e->sizes, .strides = e->strides};
    tensor->device.type = DLPACK_CPU;
    tensor->dtype.code = (uint8_t)code;
    tensor->dtype.bits = (uint8_t)(8 * taper_dtype_size(info.dtype));
    tensor->dtype.lanes = 1;
    if (versioned) {
        e->as.versioned.major = DLPACK_MAJOR;
        e->as.versioned.minor = DLPACK_MINOR;
        e->as.versioned.flags = flags;
        e->as.versioned.user = e;
        e->as.versioned.deleter = delete_versioned;
    } else {
        e->as.plain.user = e;
        e->as.plain.deleter = delete_plain;
    }
    PyObject *const capsule = PyCapsule_New(&e->as, versioned ? name_versioned : name_plain, destroy_capsule);
    if (capsule == NULL) {
        free_exported(e);
    }
    return capsule;
}

// Returns true if the requested device is the CPU, the only supported one.
static bool is_here(PyObject *device)
{
    long type, id;
    if (device == Py_None) {
        return true;
    }
    if (!PyArg_Parse(device, "(ll);dl_device: a pair of numbers", &type, &id)) {
        return false;
    }
    if (type != DLPACK_CPU) {
        PyErr_SetString(PyExc_BufferError, "the tensor is in the memory of the CPU, and can be exported there only");
        return false;
    }
    return true;
}

static bool knows_versions(PyObject *version, bool *knows)
{
    long major = 0, minor;
    if (version != Py_None && !PyArg_Parse(version, "(ll);max_version: a pair of numbers", &major, &minor)) {
        return false;
    }
    *knows = major >= DLPACK_MAJOR;
    return true;
}

PyObject *binding_tensor_dlpack(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    binding_tensor *const self = (binding_tensor *)(void *)object;
    const binding_state *const state = binding_state_of(object);
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    bool versioned;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy) ||
        !knows_versions(version, &versioned) || !is_here(device)) {
        return NULL;
    }
    if (stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "the CPU has no streams");
        return NULL;
    }
    const int must = copy != Py_None ? PyObject_IsTrue(copy) : -1;
    if ((copy != Py_None && must < 0) || !binding_tensor_know(object)) {
        return NULL;
    }
    // Read-only memory may be pages of a file. A consumer that ignores the read-only flag would crash when it writes.
    if (self->info.read_only && must == 0) {
        PyErr_SetString(PyExc_BufferError, "the tensor is read-only: it can be exported as a copy");
        return NULL;
    }
    if (must != 1 && !self->info.read_only) {
        return capsule_of(state, taper_value_retain(self->value), versioned, 0);
    }
    if (code_of(&state->dtypes[self->info.dtype]) < 0) {
        return NULL;
    }
    taper_value *const made = writable_copy(state, self);
    return made != NULL ? capsule_of(state, made, versioned, DLPACK_COPIED) : NULL;
}

PyObject *binding_tensor_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

// ---- from DLPack

static bool is_reachable(long type)
{
    if (type != DLPACK_CPU && type != DLPACK_CUDA_HOST) {
        binding_refuse(PyExc_ValueError,
                       "the tensor is on another device (%ld in DLPack's numbers): bring it to the CPU first", type);
        return false;
    }
    return true;
}

static bool says_reachable(PyObject *object)
{
    PyObject *const device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    if (device == NULL) {
        return false;
    }
    PyObject *const number =
        PyTuple_Check(device) && PyTuple_Size(device) == 2 ? PyNumber_Long(PyTuple_GetItem(device, 0)) : NULL;
    Py_DECREF(device);
    const long type = number != NULL ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    return !PyErr_Occurred() && is_reachable(type);
}

// Asks the object for a DLPack capsule. If an object of this type gave a tensor before, the object is not asked for its
// device, because PyTorch's answer takes longer than the remaining work. If that object had no versioned DLPack, this
// object is asked without a version.
static PyObject *ask(const binding_state *state, PyObject *object)
{
    PyObject *const type = (PyObject *)Py_TYPE(object);
    const bool known = type == PyList_GetItem(state->met, BINDING_MET_TYPE);
    bool older = known && PyList_GetItem(state->met, BINDING_MET_OLDER) == Py_True;
    if (!known && !says_reachable(object)) {
        return NULL;
    }
    PyObject *const method = PyObject_GetAttrString(object, "__dlpack__"), *const none = PyTuple_New(0);
    PyObject *capsule = NULL, *keywords = NULL;
    if (!older && method != NULL && none != NULL) {
        keywords = Py_BuildValue("{s(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR);
        capsule = keywords != NULL ? PyObject_Call(method, none, keywords) : NULL;
        if (capsule == NULL && keywords != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            older = true;
        }
    }
    if (older && method != NULL && none != NULL) {
        capsule = PyObject_Call(method, none, NULL);
    }
    if (capsule == NULL && known && PyErr_Occurred()) {
        PyObject *kind, *exception, *traceback;
        PyErr_Fetch(&kind, &exception, &traceback);
        if (says_reachable(object)) { // the device is reachable, so it is not the cause of the failure
            PyErr_Restore(kind, exception, traceback);
        } else {
            Py_XDECREF(kind);
            Py_XDECREF(exception);
            Py_XDECREF(traceback);
        }
    }
    if (capsule != NULL && !known) { // cannot fail, because the list has these indices
        (void)PyList_SetItem(state->met, BINDING_MET_TYPE, Py_NewRef(type));
        (void)PyList_SetItem(state->met, BINDING_MET_OLDER, Py_NewRef(older ? Py_True : Py_False));
    }
    Py_XDECREF(keywords);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

// Returns the tensor of a capsule, which the caller must delete afterwards, or NULL with an exception.
static dlpack_tensor *take(PyObject *capsule, binding_later *later, bool *read_only)
{
    const bool versioned = PyCapsule_IsValid(capsule, name_versioned) != 0;
    void *const managed = PyCapsule_GetPointer(capsule, versioned ? name_versioned : name_plain);
    if (managed == NULL) {
        return NULL;
    }
    if (versioned && ((dlpack_versioned *)managed)->major != DLPACK_MAJOR) {
        PyErr_SetString(PyExc_BufferError, "the tensor came in a version of DLPack that Taper does not know");
        return NULL;
    }
    if (PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor") != 0) {
        return NULL;
    }
    later->managed = managed;
    later->versioned = versioned;
    *read_only = versioned && (((dlpack_versioned *)managed)->flags & DLPACK_READ_ONLY) != 0;
    return versioned ? &((dlpack_versioned *)managed)->tensor : &((dlpack_managed *)managed)->tensor;
}

static int dtype_of(const binding_state *state, const dlpack_tensor *tensor)
{
    int dtype = -1;
    for (int i = 0; i < CODES && tensor->dtype.lanes == 1 && tensor->dtype.bits % 8 == 0; i++) {
        if (codes[i].code == tensor->dtype.code) {
            dtype = binding_dtype_find(state, codes[i].kind, tensor->dtype.bits / 8);
        }
    }
    if (dtype < 0) {
        binding_refuse(
            PyExc_TypeError,
            "a tensor with elements of DLPack's code %d and %d bits cannot be one here: Taper has no such dtype",
            tensor->dtype.code, tensor->dtype.bits);
    }
    return dtype;
}

// Fills a buffer description, so that buffers and DLPack share the code that makes tensors and copies.
static bool describe(const dlpack_tensor *tensor, const binding_dtype *dtype, bool read_only, Py_buffer *view,
                     Py_ssize_t *shape, Py_ssize_t *strides)
{
    if (tensor->rank < 0 || tensor->rank > TAPER_MAX_RANK) {
        binding_refuse(PyExc_ValueError, "an array of %d dimensions cannot be a tensor: those have at most %d",
                       (int)tensor->rank, TAPER_MAX_RANK);
        return false;
    }
    int64_t dense = 1;
    for (int d = tensor->rank; d-- > 0;) {
        const int64_t step = tensor->strides != NULL ? tensor->strides[d] : dense;
        if (tensor->sizes[d] < 0 || tensor->sizes[d] > PY_SSIZE_T_MAX || step > PY_SSIZE_T_MAX / 16 ||
            step < -PY_SSIZE_T_MAX / 16 ||
            __builtin_mul_overflow(dense, tensor->sizes[d] != 0 ? tensor->sizes[d] : 1, &dense)) {
            binding_refuse(PyExc_ValueError, "the sizes of the tensor are out of range");
            return false;
        }
        shape[d] = (Py_ssize_t)tensor->sizes[d];
        strides[d] = (Py_ssize_t)(step * (int64_t)dtype->size);
    }
    bool empty = false;
    for (int d = 0; d < tensor->rank; d++) {
        empty = empty || tensor->sizes[d] == 0;
    }
    if (tensor->data == NULL && !empty) {
        binding_refuse(PyExc_ValueError, "the tensor has no memory");
        return false;
    }
    *view = (Py_buffer){.buf = tensor->data != NULL ? (char *)tensor->data + tensor->offset : NULL,
                        .itemsize = (Py_ssize_t)dtype->size,
                        .ndim = tensor->rank,
                        .readonly = read_only,
                        .format = (char *)(uintptr_t)dtype->format,
                        .shape = shape,
                        .strides = strides};
    return true;
}

taper_value *binding_dlpack_in(const binding_state *state, binding_context *context, PyObject *object)
{
    PyObject *const capsule = ask(state, object);
    binding_later *const later = capsule != NULL ? binding_later_new() : NULL;
    bool read_only;
    const dlpack_tensor *const tensor = later != NULL ? take(capsule, later, &read_only) : NULL;
    const int dtype = tensor != NULL && is_reachable(tensor->device.type) ? dtype_of(state, tensor) : -1;
    Py_ssize_t shape[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    Py_buffer view;
    const bool described = dtype >= 0 && describe(tensor, &state->dtypes[dtype], read_only, &view, shape, strides);
    Py_XDECREF(capsule);
    if (!described) {
        binding_later_drop(later);
        return NULL;
    }
    return binding_view_in(state, context, &view, dtype, later);
}
