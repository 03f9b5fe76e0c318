// SPDX-License-Identifier: BSD-2-Clause
// taper.Model: a loaded file and one session, with a lock around its runs. clone() makes another session of the same
// file. taper.Method: one method of a model.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// ---- state shared by the models of one file

static void release_loaded(binding_loaded *loaded)
{
    if (loaded == NULL || --loaded->references != 0) {
        return;
    }
    taper_model_release(loaded->model);
    for (size_t i = 0; i < loaded->method_count; i++) {
        free((void *)(uintptr_t)loaded->signatures[i].arguments);
        free((void *)(uintptr_t)loaded->signatures[i].types);
    }
    free(loaded->signatures);
    binding_context_drop(loaded->context);
    Py_XDECREF(loaded->source);
    free(loaded);
    binding_later_empty(); // drops the reference to the bytes of the file
}

static bool read_signature(binding_signature *signature, const taper_model *model, size_t index)
{
    signature->name = taper_model_method_name(model, index);
    signature->count = taper_model_method_arguments(model, signature->name);
    const size_t count = signature->count > 0 ? (size_t)signature->count : 0;
    signature->arguments = calloc(count + 1, sizeof *signature->arguments);
    signature->types = calloc(count + 1, sizeof *signature->types);
    if (signature->arguments == NULL || signature->types == NULL) {
        free((void *)(uintptr_t)signature->arguments);
        free((void *)(uintptr_t)signature->types);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        signature->arguments[i] = taper_model_argument_name(model, signature->name, i);
        signature->types[i] = taper_model_argument_type(model, signature->name, i);
    }
    return true;
}

// Makes the state that all Models of a file share. Takes ownership of the model, also after a failure.
static binding_loaded *new_loaded(binding_context *context, PyObject *source, taper_model *model)
{
    binding_loaded *const loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) {
        taper_model_release(model);
        PyErr_NoMemory();
        return NULL;
    }
    *loaded = (binding_loaded){
        .references = 1, .model = model, .context = binding_context_hold(context), .source = Py_NewRef(source)};
    const size_t count = taper_model_method_count(model);
    loaded->signatures = calloc(count + 1, sizeof *loaded->signatures);
    bool done = loaded->signatures != NULL;
    for (; done && loaded->method_count < count; loaded->method_count++) {
        if (!read_signature(&loaded->signatures[loaded->method_count], model, loaded->method_count)) {
            done = false;
            break;
        }
    }
    if (!done) {
        release_loaded(loaded);
        PyErr_NoMemory();
        return NULL;
    }
    return loaded;
}

const binding_signature *binding_signature_find(const binding_loaded *loaded, const char *method)
{
    for (size_t i = 0; i < loaded->method_count; i++) {
        if (strcmp(loaded->signatures[i].name, method) == 0) {
            return &loaded->signatures[i];
        }
    }
    return NULL;
}

// ---- loading

// Makes a Model with its own session. Takes ownership of the reference to `loaded`, also after a failure.
static PyObject *new_model(const binding_state *state, binding_loaded *loaded, PyObject *budgets)
{
    taper_session_options options = {.struct_size = sizeof options};
    uint64_t memory = 0;
    binding_model *self = NULL;
    if (binding_dict_u64(budgets, "instruction_budget", &options.instruction_budget) &&
        binding_dict_double(budgets, "time_budget", &options.time_budget) &&
        binding_dict_u64(budgets, "memory_budget", &memory) &&
        binding_dict_int(budgets, "results_stay", &options.results_stay)) {
        options.memory_budget = memory <= SIZE_MAX ? (size_t)memory : SIZE_MAX;
        self = (binding_model *)(void *)((allocfunc)PyType_GetSlot(state->model, Py_tp_alloc))(state->model, 0);
    }
    if (self == NULL) {
        release_loaded(loaded);
        return NULL;
    }
    self->loaded = loaded;
    self->stays = options.results_stay != 0;
    self->lock = PyThread_allocate_lock();
    taper_error *const error = taper_error_create();
    const taper_status status = self->lock != NULL
                                    ? taper_session_create(loaded->model, &options, &self->session, error)
                                    : TAPER_ERROR_RESOURCE;
    if (!binding_check(state, status, error)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

// Loads a model from a bytes object, which is immutable.
static taper_status load_bytes(binding_context *context, PyObject *bytes, const taper_load_options *options,
                               taper_model **model, taper_error *error)
{
    char *data;
    Py_ssize_t size;
    binding_later *const later = binding_later_new();
    taper_status status = TAPER_ERROR_RESOURCE;
    *model = NULL;
    if (later == NULL || PyBytes_AsStringAndSize(bytes, &data, &size) != 0) {
        binding_later_drop(later);
        return status;
    }
    later->reference = Py_NewRef(bytes);
    Py_BEGIN_ALLOW_THREADS status = taper_model_load_memory(context->context, data, (size_t)size, binding_later_release,
                                                            later, options, model, error);
    Py_END_ALLOW_THREADS if (status != TAPER_OK)
    {
        binding_later_drop(later);
    }
    return status;
}

// Implements load(context, path or bytes, options, budgets).
PyObject *binding_load_model(PyObject *module, PyObject *args)
{
    const binding_state *const state = PyModule_GetState(module);
    PyObject *context_object, *source, *dict, *budgets, *path = NULL;
    binding_load load;
    if (!PyArg_ParseTuple(args, "O!OO!O!:load", state->context, &context_object, &source, &PyDict_Type, &dict,
                          &PyDict_Type, &budgets) ||
        !binding_load_read(state, dict, &load)) {
        return NULL;
    }
    binding_context *const context = (binding_context *)(void *)context_object;
    if (!PyBytes_Check(source) && !PyUnicode_FSConverter(source, &path)) {
        (void)binding_adopt("source");
        binding_load_free(&load);
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_model *model;
    taper_status status;
    if (path != NULL) {
        const char *const name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS status = taper_model_load(context->context, name, &load.options, &model, error);
        Py_END_ALLOW_THREADS
    } else {
        status = load_bytes(context, source, &load.options, &model, error);
    }
    binding_load_free(&load);
    binding_later_empty();
    if (status != TAPER_OK) {
        binding_raise(state, status, error, path != NULL ? PyBytes_AsString(path) : NULL);
        Py_XDECREF(path);
        return NULL;
    }
    taper_error_destroy(error);
    Py_XDECREF(path);
    binding_loaded *const loaded = new_loaded(context, source, model);
    PyObject *const result = loaded != NULL ? new_model(state, loaded, budgets) : NULL;
    if (result != NULL && !binding_log_flush(state, context)) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

static binding_model *model_of(PyObject *self)
{
    return (binding_model *)(void *)self;
}

static void destroy(PyObject *object)
{
    binding_model *const self = model_of(object);
    PyTypeObject *const type = Py_TYPE(object);
    taper_session_destroy(self->session);
    if (self->lock != NULL) {
        PyThread_free_lock(self->lock);
    }
    binding_loaded *const loaded = self->loaded;
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    release_loaded(loaded);
    Py_DECREF(type);
}

static PyObject *clone(PyObject *self, PyObject *budgets)
{
    if (!PyDict_Check(budgets)) {
        binding_refuse(PyExc_TypeError, "a dict of budgets is wanted");
        return NULL;
    }
    binding_loaded *const loaded = model_of(self)->loaded;
    loaded->references++;
    return new_model(binding_state_of(self), loaded, budgets);
}

// ---- running

static PyObject *call(PyObject *self, PyObject *args, PyObject *keywords)
{
    const binding_loaded *const loaded = model_of(self)->loaded;
    const binding_signature *const forward = binding_signature_find(loaded, "forward");
    if (forward == NULL) {
        binding_refuse(PyExc_AttributeError, "the model has no method forward: see its methods");
        return NULL;
    }
    return binding_run(binding_state_of(self), model_of(self), forward, args, keywords);
}

static PyObject *cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (model_of(self)->running) {
        model_of(self)->cancelled = true;
        taper_session_cancel(model_of(self)->session);
    }
    Py_RETURN_NONE;
}

static PyObject *attribute(PyObject *self, PyObject *name)
{
    const binding_state *const state = binding_state_of(self);
    binding_model *const model = model_of(self);
    const char *const path = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (path == NULL) {
        if (!PyErr_Occurred()) {
            binding_refuse(PyExc_TypeError, "the name of an attribute is a str");
        }
        return NULL;
    }
    if (!binding_lock(state, model)) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_value *value;
    const taper_status status = taper_session_attribute(model->session, path, &value, error);
    PyObject *result = NULL;
    if (binding_check(state, status, error)) {
        result = binding_value_out(state, model->loaded->context, value, false);
    }
    binding_unlock(model);
    return result;
}

static PyObject *seed(PyObject *self, PyObject *number)
{
    if (!PyLong_Check(number)) {
        binding_refuse(PyExc_TypeError, "a seed is an int");
        return NULL;
    }
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() != NULL) { // the number is negative, or too large for both types
        PyErr_Clear();
        int overflow;
        const long long negative = PyLong_AsLongLongAndOverflow(number, &overflow);
        if (overflow != 0) {
            binding_refuse(PyExc_OverflowError, "a seed has 64 bits: this one does not fit");
        }
        value = (unsigned long long)negative;
    }
    if (PyErr_Occurred() || !binding_lock(binding_state_of(self), model_of(self))) {
        return NULL;
    }
    taper_session_seed(model_of(self)->session, value);
    binding_unlock(model_of(self));
    Py_RETURN_NONE;
}

static PyObject *trim(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!binding_lock(binding_state_of(self), model_of(self))) {
        return NULL;
    }
    taper_session_trim(model_of(self)->session);
    binding_unlock(model_of(self));
    Py_RETURN_NONE;
}

// ---- methods as objects

typedef struct method_object {
    PyObject_HEAD binding_model *model;
    const binding_signature *signature;
} method_object;

static method_object *method_of(PyObject *self)
{
    return (method_object *)(void *)self;
}

static PyObject *method(PyObject *self, PyObject *name)
{
    const char *const text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (text == NULL) {
        if (!PyErr_Occurred()) {
            binding_refuse(PyExc_TypeError, "the name of a method is a str");
        }
        return NULL;
    }
    const binding_signature *const signature = binding_signature_find(model_of(self)->loaded, text);
    if (signature == NULL) {
        binding_refuse(PyExc_AttributeError, "the model has no method %R: see its methods", name);
        return NULL;
    }
    PyTypeObject *const type = binding_state_of(self)->method;
    method_object *const result = method_of(((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0));
    if (result != NULL) {
        result->model = (binding_model *)(void *)Py_NewRef(self);
        result->signature = signature;
    }
    return (PyObject *)result;
}

static PyObject *call_method(PyObject *self, PyObject *args, PyObject *keywords)
{
    return binding_run(binding_state_of(self), method_of(self)->model, method_of(self)->signature, args, keywords);
}

static void destroy_method(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    Py_XDECREF((PyObject *)method_of(object)->model);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *method_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(method_of(self)->signature->name);
}

static PyObject *describe_method(PyObject *self)
{
    return PyUnicode_FromFormat("<method %s of %R>", method_of(self)->signature->name, method_of(self)->model);
}

static PyObject *get_context(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)model_of(self)->loaded->context);
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(taper_model_device(model_of(self)->loaded->model));
}

static PyObject *get_source(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(model_of(self)->loaded->source);
}

// Looks up Python's attributes first, then the model's methods, then its attributes.
static PyObject *get(PyObject *self, PyObject *name)
{
    PyObject *const found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return found;
    }
    const char *const text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL || text[0] == '_' || binding_signature_find(model_of(self)->loaded, text) == NULL) {
        return NULL;
    }
    PyErr_Clear();
    return method(self, name);
}

bool binding_model_add(PyObject *module, binding_state *state)
{
    static PyMethodDef methods[] = {
        {"method", method, METH_O, "method(name): the method, to be called."},
        {"cancel", cancel, METH_NOARGS, "Stops the run under way in another thread, if there is one."},
        {"attribute", attribute, METH_O, "attribute(path): an attribute of the root, \"layer1.0.weight\"."},
        {"seed", seed, METH_O, "seed(number): torch.manual_seed for what the model draws."},
        {"trim", trim, METH_NOARGS, "Gives back memory that is kept for the next run."},
        {"_clone", clone, METH_O, NULL},
        {"_facts", binding_model_facts, METH_NOARGS, NULL},
        {"_graph", binding_model_graph, METH_VARARGS, NULL},
        {"_memory", binding_model_memory, METH_NOARGS, NULL},
        {"_profile_set", binding_model_profile_set, METH_O, NULL},
        {"_profile_get", binding_model_profile_get, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef members[] = {
        {"context", get_context, NULL, "The context that the model was loaded with.", NULL},
        {"device", get_device, NULL, "Where it runs: \"cpu\", or the device that it was loaded or prepared for.", NULL},
        {"_source", get_source, NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "A model. It is called as the module was that it was saved of; other methods are attributes."},
        {Py_tp_dealloc, destroy},
        {Py_tp_call, call},
        {Py_tp_getattro, get},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"taper.Model", sizeof(binding_model), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    static PyGetSetDef method_members[] = {
        {"__name__", method_name, NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot method_slots[] = {
        {Py_tp_doc, "A method of a model."}, {Py_tp_dealloc, destroy_method}, {Py_tp_call, call_method},
        {Py_tp_repr, describe_method},       {Py_tp_getset, method_members},  {0, NULL},
    };
    static PyType_Spec method_spec = {"taper.Method", sizeof(method_object), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, method_slots};
    return binding_add_type(module, &spec, &state->model) && binding_add_type(module, &method_spec, &state->method);
}
