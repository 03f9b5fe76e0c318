// SPDX-License-Identifier: BSD-2-Clause
// The module taper._taper: its types and its functions. taper/__init__.py is the public interface.
#include "binding.h"

#include <signal.h>
#include <string.h>

#include "interrupt.h"

binding_state *binding_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

bool binding_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type != NULL && PyModule_AddType(module, *type) == 0;
}

static PyObject *passes(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < taper_compiler_pass_count(); i++) {
        const int stages = taper_compiler_pass_stages(i);
        PyObject *const row =
            Py_BuildValue("(ssNN)", taper_compiler_pass_name(i), taper_compiler_pass_summary(i),
                          PyBool_FromLong(stages & TAPER_PASS_AT_LOAD), PyBool_FromLong(stages & TAPER_PASS_IN_DRAFT));
        if (row == NULL || PyList_Append(list, row) != 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *cpu_sets(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *name;
    uint64_t mask;
    for (size_t i = 0; list != NULL && (name = taper_instruction_set(i, &mask)) != NULL; i++) {
        PyObject *const text = PyUnicode_FromString(name);
        if (text == NULL || PyList_Append(list, text) != 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *dtypes(PyObject *module, PyObject *unused)
{
    (void)unused;
    const binding_state *const state = PyModule_GetState(module);
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < BINDING_DTYPES; i++) {
        PyObject *const text =
            state->dtypes[i].name != NULL ? PyUnicode_FromString(state->dtypes[i].name) : Py_NewRef(Py_None);
        if (text == NULL || (text != Py_None && PyList_Append(list, text) != 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *has_pass(PyObject *module, PyObject *name)
{
    (void)module;
    Py_ssize_t length;
    const char *const text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : NULL;
    if (text == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    }
    return PyBool_FromLong(taper_compiler_has_pass(text, (size_t)length));
}

static PyObject *set_log(PyObject *module, PyObject *function)
{
    binding_state *const state = PyModule_GetState(module);
    PyObject *const before = state->log;
    state->log = Py_NewRef(function);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

// Runs after a fork in the child process, in the thread that called fork, which is its main thread.
static PyObject *after_fork(PyObject *module, PyObject *unused)
{
    (void)unused;
    binding_state *const state = PyModule_GetState(module);
    state->main_thread = PyThread_get_thread_ident();
    state->forks++;
    interrupt_forget();
    Py_RETURN_NONE;
}

static bool find_signals(binding_state *state)
{
    PyObject *const signals = PyImport_ImportModule("_signal");
    PyObject *const threads = PyImport_ImportModule("threading");
    PyObject *const thread = threads != NULL ? PyObject_CallMethod(threads, "main_thread", NULL) : NULL;
    PyObject *const number = thread != NULL ? PyObject_GetAttrString(thread, "ident") : NULL;
    bool done = signals != NULL && number != NULL;
    if (done) {
        state->get_signal = PyObject_GetAttrString(signals, "getsignal");
        state->interrupt_handler = PyObject_GetAttrString(signals, "default_int_handler");
        state->signal_number = PyLong_FromLong(SIGINT);
        state->main_thread = PyLong_AsUnsignedLong(number);
        done = !PyErr_Occurred();
    }
    Py_XDECREF(number);
    Py_XDECREF(thread);
    Py_XDECREF(threads);
    Py_XDECREF(signals);
    return done;
}

static int execute(PyObject *module)
{
    binding_state *const state = PyModule_GetState(module);
    // The module is refused in other interpreters, because released objects are returned to the main interpreter only.
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "taper works in Python's main interpreter only, not in subinterpreters");
        return -1;
    }
    binding_dtypes_fill(state);
    state->log = Py_NewRef(Py_None);
    state->tuples = PyDict_New();
    state->met = Py_BuildValue("[OOOO]", Py_None, Py_None, Py_None, Py_None);
    const bool done = state->tuples != NULL && state->met != NULL && find_signals(state) &&
                      binding_errors_add(module, state) && binding_context_add(module, state) &&
                      binding_tensor_add(module, state) && binding_object_add(module, state) &&
                      binding_model_add(module, state) && binding_calibrator_add(module, state) &&
                      PyModule_AddStringConstant(module, "version", taper_version()) == 0;
    return done ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    const binding_state *const state = PyModule_GetState(module);
    PyObject *const held[] = {(PyObject *)state->context,
                              (PyObject *)state->tensor,
                              (PyObject *)state->object,
                              (PyObject *)state->model,
                              (PyObject *)state->method,
                              (PyObject *)state->calibrator,
                              state->make_error,
                              state->status,
                              state->tuples,
                              state->get_signal,
                              state->interrupt_handler,
                              state->signal_number,
                              state->log,
                              state->met};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_VISIT(held[i]);
    }
    return 0;
}

static int clear(PyObject *module)
{
    binding_state *const state = PyModule_GetState(module);
    Py_CLEAR(state->context);
    Py_CLEAR(state->tensor);
    Py_CLEAR(state->object);
    Py_CLEAR(state->model);
    Py_CLEAR(state->method);
    Py_CLEAR(state->calibrator);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->status);
    Py_CLEAR(state->tuples);
    Py_CLEAR(state->get_signal);
    Py_CLEAR(state->interrupt_handler);
    Py_CLEAR(state->signal_number);
    Py_CLEAR(state->log);
    Py_CLEAR(state->met);
    return 0;
}

static PyMethodDef functions[] = {
    {"load", binding_load_model, METH_VARARGS, NULL},
    {"prepare", binding_prepare, METH_VARARGS, NULL},
    {"tensor", binding_tensor_make, METH_VARARGS, NULL},
    {"quantize_tensor", binding_tensor_quantize, METH_VARARGS, NULL},
    {"grad", binding_grad, METH_VARARGS, NULL},
    {"passes", passes, METH_NOARGS, NULL},
    {"has_pass", has_pass, METH_O, NULL},
    {"cpu_sets", cpu_sets, METH_NOARGS, NULL},
    {"dtypes", dtypes, METH_NOARGS, NULL},
    {"set_log", set_log, METH_O, NULL},
    {"after_fork", after_fork, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)(uintptr_t)execute},
    {0, NULL},
};

struct PyModuleDef binding_module = {
    PyModuleDef_HEAD_INIT,           .m_name = "taper._taper", .m_doc = "Taper's extension module: import taper.",
    .m_size = sizeof(binding_state), .m_methods = functions,   .m_slots = slots,
    .m_traverse = traverse,          .m_clear = clear,
};

PyMODINIT_FUNC PyInit__taper(void); // declares the entry point, which Python finds by name

PyMODINIT_FUNC PyInit__taper(void)
{
    return PyModuleDef_Init(&binding_module);
}
