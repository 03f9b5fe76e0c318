// SPDX-License-Identifier: BSD-2-Clause
// Calls of methods: converts arguments to values, runs without the GIL and converts the result.
#include "binding.h"

#include <string.h>
#include <taper/taper_app.h>

#include "interrupt.h"

// ---- the session's lock

static bool is_lost(const binding_state *state, const binding_model *model)
{
    if (model->forks != state->forks) {
        binding_refuse(PyExc_RuntimeError,
                       "the model was running when the process forked: load it in the child, or clone() it "
                       "there");
        return true;
    }
    if (model->owner == PyThread_get_thread_ident()) {
        binding_refuse(PyExc_RuntimeError, "the model is running: what it calls cannot use it");
        return true;
    }
    return false;
}

bool binding_lock(const binding_state *state, binding_model *model)
{
    enum { MICROSECONDS = 50000 };
    PyLockStatus got = PyThread_acquire_lock_timed(model->lock, 0, 0);
    while (got != PY_LOCK_ACQUIRED) {
        if (is_lost(state, model)) {
            return false;
        }
        Py_BEGIN_ALLOW_THREADS got = PyThread_acquire_lock_timed(model->lock, MICROSECONDS, 1);
        Py_END_ALLOW_THREADS if (got != PY_LOCK_ACQUIRED && PyErr_CheckSignals() != 0)
        {
            return false;
        }
    }
    model->owner = PyThread_get_thread_ident();
    model->forks = state->forks;
    return true;
}

void binding_unlock(binding_model *model)
{
    model->owner = 0;
    PyThread_release_lock(model->lock);
}

// ---- arguments

enum { FEW = 16 };

typedef struct arguments {
    taper_value *few[FEW];
    binding_values many; // memory for items if there are more than FEW arguments
    taper_value **items;
    size_t count, room;
} arguments;

static void free_arguments(arguments *a)
{
    for (size_t i = 0; i < a->room; i++) {
        binding_value_release(a->items[i]);
        a->items[i] = NULL;
    }
    if (a->items != a->few) {
        binding_values_free(&a->many);
    }
}

static bool convert(const binding_state *state, const binding_model *model, const binding_signature *signature,
                    PyObject *object, size_t index, arguments *a)
{
    const bool known = signature->count >= 0 && index < (size_t)signature->count;
    a->items[index] = binding_value_in(state, model->loaded->context, object, known ? signature->types[index] : NULL);
    return a->items[index] != NULL;
}

// Returns the index of the argument with the name, or -1 with an exception.
static int place_of(const binding_signature *signature, PyObject *name)
{
    const char *const text = PyUnicode_AsUTF8AndSize(name, NULL);
    for (int i = 0; text != NULL && i < signature->count; i++) {
        if (strcmp(text, signature->arguments[i]) == 0) {
            return i;
        }
    }
    if (text == NULL) {
        return -1;
    }
    if (signature->count < 0) {
        binding_refuse(PyExc_TypeError, "the file does not name the arguments of %s: give %R by its place",
                       signature->name, name);
    } else {
        binding_refuse(PyExc_TypeError, "%s has no argument %R: taper.Model.signature(\"%s\") shows those that it has",
                       signature->name, name, signature->name);
    }
    return -1;
}

static bool convert_keywords(const binding_state *state, const binding_model *model, const binding_signature *signature,
                             PyObject *keywords, arguments *a)
{
    PyObject *name, *object;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &object);) {
        const int place = place_of(signature, name);
        if (place < 0) {
            return false;
        }
        if (a->items[place] != NULL) {
            binding_refuse(PyExc_TypeError, "%s got two values for its argument %R", signature->name, name);
            return false;
        }
        if (!convert(state, model, signature, object, (size_t)place, a)) {
            return false;
        }
        a->count = (size_t)place >= a->count ? (size_t)place + 1 : a->count;
    }
    for (size_t i = 0; i < a->count; i++) { // a default is passed for an argument if a later argument is given
        if (a->items[i] == NULL &&
            taper_inspect_default(model->loaded->model, signature->name, i, &a->items[i], NULL) != TAPER_OK) {
            binding_refuse(PyExc_TypeError, "%s: the argument '%s' is missing", signature->name,
                           signature->arguments[i]);
            return false;
        }
    }
    return true;
}

static bool read_arguments(const binding_state *state, const binding_model *model, const binding_signature *signature,
                           PyObject *args, PyObject *keywords, arguments *a)
{
    const size_t given = (size_t)PyTuple_Size(args), known = signature->count > 0 ? (size_t)signature->count : 0;
    const bool named = keywords != NULL && PyDict_Size(keywords) != 0;
    a->room = named && known > given ? known : given;
    a->count = given;
    a->items = a->few;
    memset(a->few, 0, (a->room <= FEW ? a->room : FEW) * sizeof *a->few);
    if (a->room > FEW) {
        if (!binding_values_room(&a->many, a->room)) {
            a->room = 0;
            return false;
        }
        a->items = a->many.items;
    }
    for (size_t i = 0; i < given; i++) {
        if (!convert(state, model, signature, PyTuple_GetItem(args, (Py_ssize_t)i), i, a)) {
            return false;
        }
    }
    return !named || convert_keywords(state, model, signature, keywords, a);
}

// ---- running

// Runs the method. Returns false if a signal before the run has raised its exception. *asked: true if a signal came
// during the run.
static bool run_session(const binding_state *state, binding_model *model, const char *method, const arguments *a,
                        taper_value **result, taper_error *error, taper_status *status, bool *asked)
{
    taper_session *const session = model->session;
    const bool trapped = interrupt_begin(state, session);
    if (trapped && PyErr_CheckSignals() != 0) {
        interrupt_end();
        return false;
    }
    model->cancelled = false;
    model->running = true;
    do {
        Py_BEGIN_ALLOW_THREADS *status = taper_session_run(session, method, a->items, a->count, result, error);
        Py_END_ALLOW_THREADS
        // A cancelled run may finish before it sees the request. The request then ends the next run before its first
        // instruction, although the request was not meant for that run. The run is therefore repeated.
    } while (*status == TAPER_ERROR_CANCELLED && !model->cancelled && !(trapped && interrupt_asked()));
    model->running = false;
    *asked = trapped && interrupt_asked();
    if (trapped) {
        interrupt_end();
    }
    if (*status == TAPER_ERROR_ARGUMENT) {
        taper_status advised; // ignored, because the error is complete without advice
        Py_BEGIN_ALLOW_THREADS advised = taper_session_advise(session, method, a->items, a->count, error);
        Py_END_ALLOW_THREADS;
        (void)advised;
    }
    return true;
}

PyObject *binding_run(const binding_state *state, binding_model *model, const binding_signature *signature,
                      PyObject *args, PyObject *keywords)
{
    arguments a = {.many = {0}};
    taper_value *result = NULL;
    taper_status status;
    bool asked;
    PyObject *object = NULL;
    if (!read_arguments(state, model, signature, args, keywords, &a) || !binding_lock(state, model)) {
        free_arguments(&a);
        return NULL;
    }
    taper_error *const error = taper_error_create();
    const bool ran = run_session(state, model, signature->name, &a, &result, error, &status, &asked);
    free_arguments(&a);
    if (!ran || (asked && PyErr_CheckSignals() != 0)) { // PyErr_CheckSignals raises KeyboardInterrupt
        binding_value_release(result);
        taper_error_destroy(error);
    } else if (binding_check(state, status, error)) {
        object = binding_value_out(state, model->loaded->context, result, model->stays);
    }
    binding_unlock(model);
    if (object != NULL && !binding_log_flush(state, model->loaded->context)) {
        Py_CLEAR(object);
    }
    return object;
}
