// SPDX-License-Identifier: BSD-2-Clause
// taper.Status, and the exceptions of taper/_errors.py, which are raised here.
#include "binding.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    taper_status status;
} statuses[] = {
#define STATUS(name)                                                                                                   \
    {                                                                                                                  \
#name, TAPER_ERROR_##name                                                                                      \
    }
    STATUS(ARGUMENT), STATUS(FILE),   STATUS(UNSUPPORTED), STATUS(RESOURCE),
    STATUS(DEVICE),   STATUS(RAISED), STATUS(CANCELLED),   STATUS(INTERNAL),
#undef STATUS
};

static PyObject *make_status(void)
{
    PyObject *const members = PyDict_New(), *const module = PyImport_ImportModule("enum");
    PyObject *result = NULL, *const enumeration = module != NULL ? PyObject_GetAttrString(module, "IntEnum") : NULL;
    bool done = members != NULL && enumeration != NULL;
    for (size_t i = 0; done && i < sizeof statuses / sizeof *statuses; i++) {
        PyObject *const number = PyLong_FromLong(statuses[i].status);
        done = number != NULL && PyDict_SetItemString(members, statuses[i].name, number) == 0;
        Py_XDECREF(number);
    }
    if (done) { // the module's name is needed to pickle errors
        PyObject *const args = Py_BuildValue("(sO)", "Status", members);
        PyObject *const keywords = Py_BuildValue("{ss}", "module", "taper");
        result = args != NULL && keywords != NULL ? PyObject_Call(enumeration, args, keywords) : NULL;
        Py_XDECREF(args);
        Py_XDECREF(keywords);
    }
    Py_XDECREF(enumeration);
    Py_XDECREF(module);
    Py_XDECREF(members);
    return result;
}

bool binding_errors_add(PyObject *module, binding_state *state)
{
    PyObject *const errors = PyImport_ImportModule("taper._errors");
    state->status = errors != NULL ? make_status() : NULL;
    state->make_error = errors != NULL ? PyObject_GetAttrString(errors, "made") : NULL;
    PyObject *const done = state->status != NULL ? PyObject_CallMethod(errors, "complete", "O", state->status) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(errors);
    return done != NULL && state->make_error != NULL && PyModule_AddObjectRef(module, "Status", state->status) == 0;
}

// Returns the package's own class for a class of Python, borrowed, or NULL without an exception if there is none.
static PyObject *own_class(PyObject *kind)
{
    PyObject *const errors = PyImport_ImportModule("taper._errors");
    PyObject *const own = errors != NULL ? PyObject_GetAttrString(errors, "OWN") : NULL;
    PyObject *const found = own != NULL ? PyDict_GetItemWithError(own, kind) : NULL;
    Py_XDECREF(own);
    Py_XDECREF(errors);
    PyErr_Clear(); // the module may be gone when the interpreter ends
    return found;
}

void binding_refuse(PyObject *kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *const text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    if (text == NULL) {
        return;
    }
    PyObject *const own = own_class(kind);
    PyErr_SetObject(own != NULL ? own : kind, text);
    Py_DECREF(text);
}

bool binding_adopt(const char *name)
{
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyObject *const text = kind != NULL && own_class(kind) != NULL ? PyObject_Str(value) : NULL;
    PyErr_Clear();
    if (text == NULL) {
        PyErr_Restore(kind, value, traceback);
        return false;
    }
    binding_refuse(kind, "%s%s%U", name != NULL ? name : "", name != NULL ? ": " : "", text);
    Py_DECREF(text);
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return false;
}

// Texts from a file may not be UTF-8.
static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

void binding_raise(const binding_state *state, taper_status status, taper_error *error, const char *about)
{
    const char *const message = error != NULL ? taper_error_message(error) : "";
    if (message[0] == '\0' && status != TAPER_ERROR_CANCELLED) { // there was no memory for the text of the error
        taper_error_destroy(error);
        PyErr_NoMemory();
        return;
    }
    PyObject *const kind = PyObject_CallFunction(state->status, "i", (int)status);
    PyObject *const first = text_of(message), *const rest = text_of(error != NULL ? taper_error_detail(error) : "");
    PyObject *const exception =
        kind != NULL && first != NULL && rest != NULL
            ? PyObject_CallFunction(state->make_error, "OOOLy", kind, first, rest,
                                    (long long)(error != NULL ? taper_error_offset(error) : -1), about)
            : NULL;
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(rest);
    Py_XDECREF(first);
    Py_XDECREF(kind);
    taper_error_destroy(error);
}

bool binding_check(const binding_state *state, taper_status status, taper_error *error)
{
    if (status == TAPER_OK) {
        taper_error_destroy(error);
        return true;
    }
    binding_raise(state, status, error, NULL);
    return false;
}
