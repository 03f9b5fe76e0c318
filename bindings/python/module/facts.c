// SPDX-License-Identifier: BSD-2-Clause
// Facts about a model: its methods, operators and files, its graph, and the time and memory of its runs.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

static const binding_model *model_of(PyObject *self)
{
    return (const binding_model *)(void *)self;
}

static PyObject *text_or_none(const char *text)
{
    return text != NULL ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

// Adds an item. Takes ownership of the value. Returns false with an exception on failure.
static bool add(PyObject *dict, const char *name, PyObject *value)
{
    const bool done = value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return done;
}

static bool append(PyObject *list, PyObject *value)
{
    const bool done = value != NULL && PyList_Append(list, value) == 0;
    Py_XDECREF(value);
    return done;
}

static PyObject *signature_of(const binding_loaded *loaded, const binding_signature *signature)
{
    if (signature->count < 0) {
        return Py_BuildValue("(NON)", text_or_none(signature->name), Py_None,
                             text_or_none(taper_model_return_text(loaded->model, signature->name)));
    }
    PyObject *const arguments = PyList_New(0);
    for (int i = 0; arguments != NULL && i < signature->count; i++) {
        if (!append(arguments, Py_BuildValue("(NN)", text_or_none(signature->arguments[i]),
                                             text_or_none(taper_model_argument_text(loaded->model, signature->name,
                                                                                    (size_t)i))))) {
            Py_DECREF(arguments);
            return NULL;
        }
    }
    return Py_BuildValue("(NNN)", text_or_none(signature->name), arguments,
                         text_or_none(taper_model_return_text(loaded->model, signature->name)));
}

static PyObject *methods_of(const binding_loaded *loaded)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < loaded->method_count; i++) {
        if (!append(list, signature_of(loaded, &loaded->signatures[i]))) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *operators_of(const taper_model *model)
{
    PyObject *dict = PyDict_New();
    const size_t count = taper_model_operator_count(model);
    for (size_t i = 0; dict != NULL && i < count; i++) {
        const char *const name = taper_model_operator_name(model, i);
        PyObject *const key = text_or_none(name), *const calls =
                                                      PyLong_FromSize_t(taper_model_operator_calls(model, i));
        if (key == NULL || calls == NULL || PyDict_SetItem(dict, key, calls) != 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(calls);
        Py_XDECREF(key);
    }
    return dict;
}

static PyObject *extra_of(const binding_state *state, taper_model *model)
{
    PyObject *dict = PyDict_New();
    const size_t count = taper_model_extra_count(model);
    for (size_t i = 0; dict != NULL && i < count; i++) {
        const char *const name = taper_model_extra_name(model, i);
        const void *data;
        size_t size;
        taper_error *const error = taper_error_create();
        if (!binding_check(state, taper_model_extra(model, name, &data, &size, error), error)) {
            Py_CLEAR(dict);
            break;
        }
        PyObject *const key = text_or_none(name), *const bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
        if (key == NULL || bytes == NULL || PyDict_SetItem(dict, key, bytes) != 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(bytes);
        Py_XDECREF(key);
    }
    return dict;
}

PyObject *binding_model_facts(PyObject *self, PyObject *unused)
{
    (void)unused;
    const binding_loaded *const loaded = model_of(self)->loaded;
    taper_model *const model = loaded->model;
    PyObject *const facts = PyDict_New();
    if (facts != NULL && add(facts, "name", text_or_none(taper_model_name(model))) &&
        add(facts, "bytecode_version", PyLong_FromLongLong(taper_model_bytecode_version(model))) &&
        add(facts, "operator_version", PyLong_FromLongLong(taper_model_operator_version(model))) &&
        add(facts, "training", PyBool_FromLong(taper_model_is_training(model))) &&
        add(facts, "exported_by", text_or_none(taper_model_exported_by(model))) &&
        add(facts, "methods", methods_of(loaded)) && add(facts, "operators", operators_of(model)) &&
        add(facts, "extra_files", extra_of(binding_state_of(self), model))) {
        return facts;
    }
    Py_XDECREF(facts);
    return NULL;
}

// ---- the graph

typedef struct text_pieces {
    char *text;
    size_t length, room;
    bool failed;
} text_pieces;

static void add_piece(void *user, const char *text, size_t length)
{
    text_pieces *const p = user;
    if (p->failed || length > p->room - p->length) {
        const size_t room = 2 * p->room + length;
        char *const larger = p->failed || room < length ? NULL : realloc(p->text, room);
        p->failed = larger == NULL;
        if (p->failed) {
            return;
        }
        p->text = larger;
        p->room = room;
    }
    memcpy(p->text + p->length, text, length);
    p->length += length;
}

PyObject *binding_model_graph(PyObject *self, PyObject *args)
{
    const char *method = NULL;
    if (!PyArg_ParseTuple(args, "z:graph", &method)) {
        return NULL;
    }
    text_pieces pieces = {0};
    taper_error *const error = taper_error_create();
    const taper_status status = taper_inspect_graph(model_of(self)->loaded->model, method, add_piece, &pieces, error);
    PyObject *text = NULL;
    if (binding_check(binding_state_of(self), status, error)) {
        text = pieces.failed
                   ? PyErr_NoMemory()
                   : PyUnicode_DecodeUTF8(pieces.length != 0 ? pieces.text : "", (Py_ssize_t)pieces.length, "replace");
    }
    free(pieces.text);
    return text;
}

// ---- time and memory of runs

PyObject *binding_model_memory(PyObject *self, PyObject *unused)
{
    (void)unused;
    binding_model *const model = (binding_model *)(void *)self;
    if (!binding_lock(binding_state_of(self), model)) {
        return NULL;
    }
    taper_memory_info info = {.struct_size = sizeof info};
    taper_session_memory(model->session, &info);
    binding_unlock(model);
    return Py_BuildValue("{s:K,s:n,s:n,s:n,s:K}", "allocator_calls", (unsigned long long)info.allocator_calls,
                         "arena_bytes", (Py_ssize_t)info.arena_bytes, "pool_bytes", (Py_ssize_t)info.pool_bytes,
                         "packed_bytes", (Py_ssize_t)info.packed_bytes, "banded_calls",
                         (unsigned long long)info.banded_calls);
}

PyObject *binding_model_profile_set(PyObject *self, PyObject *on)
{
    const binding_state *const state = binding_state_of(self);
    binding_model *const model = (binding_model *)(void *)self;
    const int start = PyObject_IsTrue(on);
    if (start < 0 || !binding_lock(state, model)) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    const bool done = binding_check(state, taper_profile_set(model->session, start, error), error);
    binding_unlock(model);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *profile_row(const binding_state *state, const taper_session *session, size_t index)
{
    taper_profile_item item = {.struct_size = sizeof item};
    taper_error *const error = taper_error_create();
    if (!binding_check(state, taper_profile_get(session, index, &item, error), error)) {
        return NULL;
    }
    return Py_BuildValue("(NNNKdd)", PyUnicode_DecodeUTF8(item.name, (Py_ssize_t)item.name_length, "replace"),
                         text_or_none(item.kernel), PyBool_FromLong(item.fused), (unsigned long long)item.calls,
                         item.seconds, item.flops);
}

PyObject *binding_model_profile_get(PyObject *self, PyObject *unused)
{
    (void)unused;
    const binding_state *const state = binding_state_of(self);
    binding_model *const model = (binding_model *)(void *)self;
    if (!binding_lock(state, model)) {
        return NULL;
    }
    PyObject *rows = PyList_New(0);
    const size_t count = taper_profile_count(model->session);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        if (!append(rows, profile_row(state, model->session, i))) {
            Py_CLEAR(rows);
        }
    }
    binding_unlock(model);
    return rows;
}
