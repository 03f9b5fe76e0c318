// SPDX-License-Identifier: BSD-2-Clause
// Makes a file from a file: loads a draft, optimizes it if requested, adds bundled inputs and saves it to bytes.
#include "binding.h"

PyObject *binding_save(const binding_state *state, taper_draft *draft, PyObject *options)
{
    taper_save_options save = {.struct_size = sizeof save};
    PyObject *result = NULL;
    if (binding_dict_int(options, "bytecode", &save.bytecode) &&
        binding_dict_int(options, "flatbuffer", &save.flatbuffer) &&
        binding_dict_int(options, "debug_info", &save.debug_info) && binding_dict_text(options, "name", &save.name) &&
        binding_dict_text(options, "extra_name", &save.extra_name)) {
        PyObject *const data = PyDict_GetItemString(options, "extra_data");
        if (data != NULL && PyBytes_Check(data)) {
            save.extra_data = PyBytes_AsString(data);
            save.extra_size = (size_t)PyBytes_Size(data);
        }
        taper_error *const error = taper_error_create();
        taper_status status;
        void *bytes = NULL;
        size_t size = 0;
        Py_BEGIN_ALLOW_THREADS status = taper_draft_save_memory(draft, &save, &bytes, &size, error);
        Py_END_ALLOW_THREADS if (binding_check(state, status, error))
        {
            result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
            taper_saved_free(draft, bytes, size);
        }
    }
    taper_draft_release(draft);
    binding_later_empty();
    return result;
}

static bool load_draft(const binding_state *state, binding_context *context, PyObject *source, PyObject *options,
                       taper_draft **draft)
{
    binding_load load;
    PyObject *path = NULL;
    *draft = NULL;
    if (!binding_load_read(state, options, &load)) {
        return false;
    }
    if (!PyBytes_Check(source) && !PyUnicode_FSConverter(source, &path)) {
        binding_load_free(&load);
        return binding_adopt("source");
    }
    load.options.compiler = taper_compiler();
    taper_error *const error = taper_error_create();
    taper_status status;
    const char *const text = PyBytes_AsString(path != NULL ? path : source);
    const size_t size = (size_t)PyBytes_Size(path != NULL ? path : source);
    Py_BEGIN_ALLOW_THREADS status =
        path != NULL ? taper_draft_load(context->context, text, &load.options, draft, error)
                     : taper_draft_load_memory(context->context, text, size, &load.options, draft, error);
    Py_END_ALLOW_THREADS binding_load_free(&load);
    if (status != TAPER_OK) {
        binding_raise(state, status, error, path != NULL ? text : NULL);
    } else {
        taper_error_destroy(error);
    }
    Py_XDECREF(path);
    return status == TAPER_OK;
}

static bool read_values(const binding_state *state, binding_context *context, taper_draft *draft, PyObject *sequence,
                        const char *method, binding_values *values)
{
    return binding_values_in(state, context, sequence, taper_draft_model(draft), method, values);
}

static bool backend_in(const binding_state *state, PyObject *dict, taper_optimize_options *optimize,
                       taper_nnapi_conversion *conversion)
{
    const char *backend = NULL, *options = NULL;
    taper_device_choice device = {.struct_size = sizeof device};
    if (!binding_dict_text(dict, "backend", &backend) || !binding_dict_text(dict, "backend_options", &options)) {
        return false;
    }
    taper_error *const error = taper_error_create();
    taper_status status = backend != NULL ? taper_device_parse(backend, &device, error) : TAPER_OK;
    *conversion = (taper_nnapi_conversion){.struct_size = sizeof *conversion};
    if (status == TAPER_OK) {
        status = taper_nnapi_conversion_parse(options, conversion, error);
    }
    optimize->device = device.kind;
    optimize->nnapi = conversion;
    return binding_check(state, status, error);
}

static bool optimize(const binding_state *state, binding_context *context, taper_draft *draft, PyObject *options)
{
    taper_optimize_options optimize = {.struct_size = sizeof optimize};
    taper_nnapi_conversion conversion;
    binding_values inputs = {0};
    PyObject *keep = NULL;
    PyObject *const sample = PyDict_GetItemString(options, "inputs");
    PyObject *passes = NULL;
    bool done = backend_in(state, options, &optimize, &conversion) &&
                binding_dict_passes(options, &optimize.disabled_passes, &optimize.disabled_pass_count, &passes) &&
                binding_dict_names(options, "preserve", &optimize.preserve, &optimize.preserve_count, &keep) &&
                (sample == NULL || sample == Py_None || read_values(state, context, draft, sample, "forward", &inputs));
    if (done) {
        optimize.inputs = inputs.items;
        optimize.input_count = inputs.count;
        taper_error *const error = taper_error_create();
        taper_status status;
        Py_BEGIN_ALLOW_THREADS status = taper_draft_optimize(draft, &optimize, error);
        Py_END_ALLOW_THREADS done = binding_check(state, status, error);
    }
    binding_values_free(&inputs);
    Py_XDECREF(keep);
    Py_XDECREF(passes);
    return done;
}

static bool bundle(const binding_state *state, binding_context *context, taper_draft *draft, PyObject *samples,
                   const char *method, binding_values *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PyObject *const sample = PySequence_GetItem(samples, (Py_ssize_t)i);
        const bool read = sample != NULL && read_values(state, context, draft, sample, method, &kept[i]);
        Py_XDECREF(sample);
        taper_error *const error = read ? taper_error_create() : NULL;
        if (!read ||
            !binding_check(state, taper_draft_bundle(draft, method, kept[i].items, kept[i].count, error), error)) {
            return false;
        }
    }
    return true;
}

// Implements prepare(context, path or bytes, load options, actions) and returns the bytes of the file. The actions are
// a dict: "optimize" is a bool, "inputs" the sample for NNAPI, and "bundle" a list of samples for "method".
PyObject *binding_prepare(PyObject *module, PyObject *args)
{
    const binding_state *const state = PyModule_GetState(module);
    PyObject *context_object, *source, *load, *options;
    if (!PyArg_ParseTuple(args, "O!OO!O!:prepare", state->context, &context_object, &source, &PyDict_Type, &load,
                          &PyDict_Type, &options)) {
        return NULL;
    }
    binding_context *const context = (binding_context *)(void *)context_object;
    taper_draft *draft;
    int optimized = 0;
    const char *method = NULL;
    if (!binding_dict_int(options, "optimize", &optimized) || !binding_dict_text(options, "method", &method) ||
        !load_draft(state, context, source, load, &draft)) {
        return NULL;
    }
    PyObject *const samples = PyDict_GetItemString(options, "bundle");
    const bool bundles = samples != NULL && PyList_Check(samples);
    const size_t count = bundles ? (size_t)PyList_Size(samples) : 0;
    // These values are kept until the file is saved, because bundled inputs are not copied.
    binding_values *const kept = PyMem_Calloc(count + 1, sizeof *kept);
    bool done =
        kept != NULL && (!optimized || optimize(state, context, draft, options)) &&
        (count == 0 || bundle(state, context, draft, samples, method != NULL ? method : "forward", kept, count));
    if (kept == NULL) {
        PyErr_NoMemory();
    }
    PyObject *const result = done ? binding_save(state, draft, options) : NULL;
    if (!done) {
        taper_draft_release(draft);
    }
    for (size_t i = 0; kept != NULL && i < count; i++) {
        binding_values_free(&kept[i]);
    }
    PyMem_Free(kept);
    if (result != NULL && !binding_log_flush(state, context)) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}
