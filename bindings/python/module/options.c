// SPDX-License-Identifier: BSD-2-Clause
// Reads dicts of options, which the package's Python code makes from keyword arguments.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// Returns the member, borrowed, or NULL without an exception if it is missing or None. *failed is set after an
// exception.
static PyObject *member(PyObject *dict, const char *name, bool *failed)
{
    PyObject *const key = PyUnicode_FromString(name);
    PyObject *const value = key != NULL ? PyDict_GetItemWithError(dict, key) : NULL;
    Py_XDECREF(key);
    *failed = PyErr_Occurred() != NULL;
    return value == Py_None ? NULL : value;
}

static bool wrong(const char *name, const char *wanted)
{
    binding_refuse(PyExc_TypeError, "%s: %s is wanted", name, wanted);
    return false;
}

bool binding_dict_text(PyObject *dict, const char *name, const char **text)
{
    bool failed;
    PyObject *const value = member(dict, name, &failed);
    if (value == NULL) {
        return !failed;
    }
    if (!PyUnicode_Check(value)) {
        return wrong(name, "a str");
    }
    Py_ssize_t length;
    *text = PyUnicode_AsUTF8AndSize(value, &length);
    if (*text != NULL && strlen(*text) != (size_t)length) {
        binding_refuse(PyExc_ValueError, "%s: a text without NUL is wanted", name);
        return false;
    }
    return *text != NULL;
}

bool binding_dict_int(PyObject *dict, const char *name, int *number)
{
    bool failed;
    PyObject *const value = member(dict, name, &failed);
    if (value == NULL) {
        return !failed;
    }
    if (!PyLong_Check(value)) {
        return wrong(name, "an int or a bool");
    }
    const long wide = PyLong_AsLong(value);
    if (wide == -1 && PyErr_Occurred()) {
        return binding_adopt(name);
    }
    if (wide < 0 || wide > 1000000) {
        binding_refuse(PyExc_ValueError, "%s is out of range", name);
        return false;
    }
    *number = (int)wide;
    return true;
}

bool binding_dict_u64(PyObject *dict, const char *name, uint64_t *number)
{
    bool failed;
    PyObject *const value = member(dict, name, &failed);
    if (value == NULL) {
        return !failed;
    }
    if (!PyLong_Check(value)) {
        return wrong(name, "an int");
    }
    *number = PyLong_AsUnsignedLongLong(value);
    return !PyErr_Occurred() || binding_adopt(name);
}

bool binding_dict_double(PyObject *dict, const char *name, double *number)
{
    bool failed;
    PyObject *const value = member(dict, name, &failed);
    if (value == NULL) {
        return !failed;
    }
    if (!PyFloat_Check(value) && !PyLong_Check(value)) {
        return wrong(name, "a number");
    }
    *number = PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
        return binding_adopt(name);
    }
    if (!(*number >= 0)) {
        binding_refuse(PyExc_ValueError, "%s is out of range", name);
        return false;
    }
    return true;
}

static void free_names(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, "names"));
}

bool binding_names_read(PyObject *sequence, const char *const **names, size_t *count, PyObject **keep)
{
    if (!PyList_Check(sequence) && !PyTuple_Check(sequence)) {
        return wrong("names", "a list of str");
    }
    PyObject *const items = PySequence_Tuple(sequence);
    const size_t n = items != NULL ? (size_t)PyTuple_Size(items) : 0;
    const char **const texts = items != NULL ? calloc(n + 1, sizeof *texts) : NULL;
    PyObject *const capsule = texts != NULL ? PyCapsule_New((void *)(uintptr_t)texts, "names", free_names) : NULL;
    if (capsule == NULL) {
        free((void *)(uintptr_t)texts);
        Py_XDECREF(items);
        return PyErr_Occurred() != NULL ? false : (PyErr_NoMemory(), false);
    }
    bool done = true;
    for (size_t i = 0; done && i < n; i++) {
        PyObject *const item = PyTuple_GetItem(items, (Py_ssize_t)i);
        texts[i] = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        done = texts[i] != NULL || (PyErr_Occurred() ? false : wrong("names", "a list of str"));
    }
    *keep = done ? PyTuple_Pack(2, items, capsule) : NULL;
    Py_DECREF(capsule);
    Py_DECREF(items);
    *names = texts;
    *count = n;
    return *keep != NULL;
}

bool binding_dict_names(PyObject *dict, const char *name, const char *const **names, size_t *count, PyObject **keep)
{
    bool failed;
    PyObject *const value = member(dict, name, &failed);
    *keep = NULL;
    return value == NULL ? !failed : binding_names_read(value, names, count, keep);
}

bool binding_dict_passes(PyObject *dict, const char *const **names, size_t *count, PyObject **keep)
{
    bool failed;
    PyObject *const value = member(dict, "disable_passes", &failed);
    *keep = NULL;
    *count = 0;
    if (value == NULL || value == Py_None) {
        return !failed;
    }
    PyObject *const parts = PyUnicode_Check(value) ? PyObject_CallMethod(value, "split", "s", ",") : NULL;
    const bool done = parts != NULL ? binding_names_read(parts, names, count, keep)
                                    : PyErr_Occurred() == NULL && wrong("disable_passes", "a str");
    Py_XDECREF(parts);
    return done;
}

static bool flag_in(PyObject *dict, const char *name, uint64_t bit, taper_load_options *options)
{
    int flag = 0;
    const bool done = binding_dict_int(dict, name, &flag);
    options->flags |= flag != 0 ? bit : 0;
    return done;
}

static bool device_in(const binding_state *state, PyObject *dict, binding_load *load)
{
    taper_load_options *const o = &load->options;
    const char *device = NULL, *options = NULL, *precision = NULL;
    if (!binding_dict_text(dict, "device", &device) || !binding_dict_text(dict, "device_options", &options) ||
        !binding_dict_text(dict, "precision", &precision)) {
        return false;
    }
    taper_error *const error = taper_error_create();
    taper_status status = TAPER_OK;
    load->device.struct_size = sizeof load->device;
    if (device != NULL) {
        status = taper_device_parse(device, &load->device, error);
        o->device = &load->device;
    }
    if (status == TAPER_OK) {
        o->settings = load->settings;
        status = taper_device_options_parse(options, load->settings, BINDING_SETTINGS, &o->setting_count, error);
    }
    if (status == TAPER_OK) {
        status = taper_precision_parse(precision, &o->precision, error);
    }
    return binding_check(state, status, error);
}

bool binding_load_read(const binding_state *state, PyObject *dict, binding_load *load)
{
    int optimize = 1;
    taper_load_options *const o = &load->options;
    *load = (binding_load){.options = {.struct_size = sizeof *o}};
    if (!binding_dict_int(dict, "optimize", &optimize) || !flag_in(dict, "copy", TAPER_LOAD_COPY, o) ||
        !flag_in(dict, "reference", TAPER_LOAD_REFERENCE, o) ||
        !flag_in(dict, "evaluation", TAPER_LOAD_EVALUATION, o) ||
        !flag_in(dict, "low_memory", TAPER_LOAD_LOW_MEMORY, o) ||
        !flag_in(dict, "no_guards", TAPER_LOAD_NO_GUARDS, o) || !flag_in(dict, "gradients", TAPER_LOAD_GRADIENTS, o) ||
        !binding_dict_u64(dict, "memory_limit", &o->memory_limit) ||
        !binding_dict_u64(dict, "step_limit", &o->step_limit) ||
        !binding_dict_passes(dict, &o->disabled_passes, &o->disabled_pass_count, &load->passes) ||
        !device_in(state, dict, load) ||
        !binding_dict_names(dict, "methods", &o->methods, &o->method_count, &load->held)) {
        binding_load_free(load);
        return false;
    }
    o->compiler = optimize ? taper_compiler() : NULL;
    return true;
}

void binding_load_free(binding_load *load)
{
    Py_CLEAR(load->held);
    Py_CLEAR(load->passes);
}
