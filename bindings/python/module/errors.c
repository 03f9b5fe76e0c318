// SPDX-License-Identifier: BSD-2-Clause
// taper.Error and taper.Status.
#include "binding.h"

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
    if (done) { // its module's name, so that errors can be pickled
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
    state->error =
        PyErr_NewExceptionWithDoc("taper.Error",
                                  "What Taper could not do. `status` says of which kind it is, `detail` has further "
                                  "lines (all missing operators, "
                                  "the call of\nmodules that raised), `offset` is the place in the file or None.",
                                  PyExc_RuntimeError, NULL);
    state->status = make_status();
    return state->error != NULL && state->status != NULL && PyModule_AddObjectRef(module, "Error", state->error) == 0 &&
           PyModule_AddObjectRef(module, "Status", state->status) == 0 &&
           PyObject_SetAttrString(state->error, "status", Py_None) == 0 &&
           PyObject_SetAttrString(state->error, "offset", Py_None) == 0;
}

// Texts of a file need not be UTF-8.
static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static bool set(PyObject *exception, const char *name, PyObject *value)
{
    const bool done = value != NULL && PyObject_SetAttrString(exception, name, value) == 0;
    Py_XDECREF(value);
    return done;
}

void binding_raise(const binding_state *state, taper_status status, taper_error *error, const char *about)
{
    const char *const message = error != NULL ? taper_error_message(error) : "";
    const char *const detail = error != NULL ? taper_error_detail(error) : "";
    const int64_t offset = error != NULL ? taper_error_offset(error) : -1;
    if (message[0] == '\0' && status != TAPER_ERROR_CANCELLED) { // there was no memory for the text
        taper_error_destroy(error);
        PyErr_NoMemory();
        return;
    }
    PyObject *const first = text_of(message), *const rest = text_of(detail);
    PyObject *const text = first == NULL || rest == NULL ? NULL
                           : about != NULL
                               ? PyUnicode_FromFormat("%s: %U%s%U", about, first, detail[0] != '\0' ? "\n" : "", rest)
                               : PyUnicode_FromFormat("%U%s%U", first, detail[0] != '\0' ? "\n" : "", rest);
    PyObject *const exception = text != NULL ? PyObject_CallFunctionObjArgs(state->error, text, NULL) : NULL;
    if (exception != NULL && set(exception, "status", PyObject_CallFunction(state->status, "i", (int)status)) &&
        set(exception, "detail", Py_NewRef(rest)) &&
        (offset < 0 || set(exception, "offset", PyLong_FromLongLong(offset)))) {
        PyErr_SetObject(state->error, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(text);
    Py_XDECREF(rest);
    Py_XDECREF(first);
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
