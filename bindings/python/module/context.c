// SPDX-License-Identifier: BSD-2-Clause
// taper.Context: threads and settings that models share. Text printed by models is kept in a log until the run ends,
// because Taper calls the log function without the GIL.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MOST = 1 << 20 }; // limit of the kept text in bytes

typedef struct log_text {
    struct log_text *next;
    int level;
    size_t length;
    char text[];
} log_text;

typedef struct binding_log {
    PyThread_type_lock lock;
    log_text *first, **last;
    size_t bytes;
    bool lost;
} binding_log;

// Appends a text to the log. Runs in any thread, without the GIL.
static void write_log(void *user, taper_log_level level, const char *text, size_t length)
{
    binding_log *const log = user;
    (void)PyThread_acquire_lock(log->lock, WAIT_LOCK);
    log_text *const one = length <= LOG_MOST - log->bytes ? malloc(sizeof *one + length) : NULL;
    if (one != NULL) {
        *one = (log_text){.level = (int)level, .length = length};
        memcpy(one->text, text, length);
        *log->last = one;
        log->last = &one->next;
        log->bytes += length;
    } else {
        log->lost = true;
    }
    PyThread_release_lock(log->lock);
}

static log_text *take(binding_log *log, bool *lost)
{
    (void)PyThread_acquire_lock(log->lock, WAIT_LOCK);
    log_text *const first = log->first;
    *lost = log->lost;
    *log = (binding_log){.lock = log->lock, .last = &log->first};
    PyThread_release_lock(log->lock);
    return first;
}

static bool hand_over(const binding_state *state, int level, const char *text, size_t length)
{
    PyObject *const string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    PyObject *const result = string != NULL ? PyObject_CallFunction(state->log, "iO", level, string) : NULL;
    Py_XDECREF(string);
    Py_XDECREF(result);
    return result != NULL;
}

bool binding_log_flush(const binding_state *state, binding_context *context)
{
    if (context->log->first == NULL || state->log == Py_None) { // text that is added now is passed on by the next call
        return true;
    }
    bool lost, done = true;
    for (log_text *text = take(context->log, &lost); text != NULL;) {
        log_text *const next = text->next;
        done = done && hand_over(state, text->level, text->text, text->length);
        free(text);
        text = next;
    }
    static const char more[] = "the model printed more than is kept of one run";
    return done && (!lost || hand_over(state, TAPER_LOG_WARNING, more, sizeof more - 1));
}

static void free_log(binding_log *log)
{
    if (log != NULL) {
        while (log->first != NULL) {
            log_text *const text = log->first;
            log->first = text->next;
            free(text);
        }
        if (log->lock != NULL) {
            PyThread_free_lock(log->lock);
        }
        free(log);
    }
}

static binding_log *new_log(void)
{
    binding_log *const log = calloc(1, sizeof *log);
    if (log != NULL) {
        log->last = &log->first;
        log->lock = PyThread_allocate_lock();
    }
    if (log == NULL || log->lock == NULL) {
        free_log(log);
        PyErr_NoMemory();
        return NULL;
    }
    return log;
}

static bool read_threads(PyObject *given, unsigned *threads)
{
    const long number = given != Py_None ? PyLong_AsLong(given) : 0;
    if (number == -1 && PyErr_Occurred()) {
        return binding_adopt("threads");
    }
    if (given != Py_None && (number < 1 || number > 1024)) {
        binding_refuse(PyExc_ValueError, "threads: from 1 to 1024, or None: as many as there are big cores");
        return false;
    }
    *threads = (unsigned)number;
    return true;
}

static bool read_cpu(PyObject *given, uint64_t *mask)
{
    *mask = 0;
    if (given == Py_None) {
        return true;
    }
    if (!PyUnicode_Check(given)) {
        binding_refuse(PyExc_TypeError, "cpu: the name of an instruction set, or None");
        return false;
    }
    const char *const wanted = PyUnicode_AsUTF8AndSize(given, NULL), *name;
    if (wanted == NULL) {
        return false;
    }
    for (size_t i = 0; (name = taper_instruction_set(i, mask)) != NULL; i++) {
        if (strcmp(name, wanted) == 0) {
            return true;
        }
    }
    binding_refuse(PyExc_ValueError,
                   "cpu: there is no instruction set \"%U\" here; taper.build()[\"cpu_sets\"] lists them", given);
    return false;
}

static bool open_context(binding_context *self, const taper_context_options *options)
{
    const binding_state *const state = binding_state_of((PyObject *)self);
    taper_error *const error = taper_error_create();
    taper_status status = taper_context_create(options, &self->context, error);
    if (status == TAPER_OK) {
        status = taper_operator_find(self->context, "aten::alias", &self->alias, error);
    }
    return binding_check(state, status, error);
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"threads", "cache_dir", "cpu", NULL};
    PyObject *threads = Py_None, *folder = Py_None, *cpu = Py_None, *path = NULL;
    taper_context_options options = {.struct_size = sizeof options, .log = write_log};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOO:Context", names, &threads, &folder, &cpu) ||
        !read_threads(threads, &options.threads) || !read_cpu(cpu, &options.cpu_mask) ||
        (folder != Py_None && !PyUnicode_FSConverter(folder, &path) && !binding_adopt("cache_dir"))) {
        return NULL;
    }
    options.cache_dir = path != NULL ? PyBytes_AsString(path) : NULL;
    binding_context *self = (binding_context *)(void *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self != NULL) {
        options.log_user = self->log = new_log();
        if (self->log == NULL || !open_context(self, &options)) {
            Py_DECREF((PyObject *)self);
            self = NULL;
        }
    }
    Py_XDECREF(path);
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    binding_context *const self = (binding_context *)(void *)object;
    PyTypeObject *const type = Py_TYPE(object);
    taper_operator_release(self->alias);
    taper_context_release(self->context);
    // Values may outlive this object and keep the context's memory, but they write nothing to the freed log: only runs
    // write to it, and each run holds a reference to this object.
    free_log(self->log);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
    binding_later_empty();
}

taper_value *binding_value_own(const binding_state *state, binding_context *context, taper_value *value)
{
    taper_value *own = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_error *const error = taper_error_create();
    // The call is recorded only for a tensor that requires a gradient, so that the other results cost no extra time.
    const bool records = taper_value_get_tensor(value, &info, NULL) == TAPER_OK && info.requires_grad != 0;
    taper_status status = taper_operator_record(context->alias, records ? 1 : 0, error);
    if (status == TAPER_OK || status == TAPER_ERROR_UNSUPPORTED) { // a build without gradients records nothing
        status = taper_operator_call(context->alias, &value, 1, &own, 1, error);
    }
    binding_value_release(value);
    (void)binding_check(state, status, error);
    return own;
}

static PyObject *get_threads(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(taper_context_threads(((binding_context *)(void *)self)->context));
}

static PyObject *get_cpu(PyObject *self, void *unused)
{
    (void)unused;
    const uint64_t features = taper_context_cpu_features(((binding_context *)(void *)self)->context);
    PyObject *const names = PyList_New(0);
    uint64_t mask;
    const char *name;
    for (size_t i = 0; names != NULL && (name = taper_instruction_set(i, &mask)) != NULL; i++) {
        PyObject *const text =
            (mask & ~TAPER_CPU_NONE & ~features) == 0 ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
        const bool done = text != NULL && (text == Py_None || PyList_Append(names, text) == 0);
        Py_XDECREF(text);
        if (!done) {
            Py_DECREF(names);
            return NULL;
        }
    }
    return names;
}

static PyObject *trim(PyObject *self, PyObject *unused)
{
    (void)unused;
    taper_context_trim(((binding_context *)(void *)self)->context);
    Py_RETURN_NONE;
}

bool binding_context_add(PyObject *module, binding_state *state)
{
    static PyMethodDef methods[] = {
        {"trim", trim, METH_NOARGS, "Gives back memory that is kept for the next inputs."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef members[] = {
        {"threads", get_threads, NULL, "Threads that a run uses, the caller's included.", NULL},
        {"cpu", get_cpu, NULL, "The instruction sets that are used.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Threads and settings that several models share: load(…, context=…)."},
        {Py_tp_new, create},
        {Py_tp_dealloc, destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"taper.Context", sizeof(binding_context), 0, Py_TPFLAGS_DEFAULT, slots};
    return binding_add_type(module, &spec, &state->context);
}
