// SPDX-License-Identifier: BSD-2-Clause
// _taper.Calibrator: post-training quantization. taper.quantize passes the samples to the calibrator.
#include "binding.h"

typedef struct calibrator_object {
    PyObject_HEAD binding_context *context;
    PyObject *source; // the bytes of the model, which the calibrator reads again
    taper_calibrator *calibrator;
    bool busy; // true during a call that has released the GIL
} calibrator_object;

static calibrator_object *calibrator_of(PyObject *self)
{
    return (calibrator_object *)(void *)self;
}

static bool begin(calibrator_object *self)
{
    if (self->busy) {
        binding_refuse(PyExc_RuntimeError, "the calibrator is at work in another thread");
        return false;
    }
    self->busy = true;
    return true;
}

static bool read_options(PyObject *dict, taper_quantize_options *options, PyObject *keep[2])
{
    int mode = 0, observer = 0;
    if (!binding_dict_int(dict, "mode", &mode) || !binding_dict_int(dict, "observer", &observer) ||
        !binding_dict_double(dict, "percentile", &options->percentile) ||
        !binding_dict_int(dict, "per_channel", &options->per_channel) ||
        !binding_dict_int(dict, "bias_correction", &options->bias_correction) ||
        !binding_dict_int(dict, "equalize", &options->equalize) ||
        !binding_dict_names(dict, "keep_float", &options->keep_float, &options->keep_float_count, &keep[0]) ||
        !binding_dict_names(dict, "preserve", &options->preserve, &options->preserve_count, &keep[1])) {
        return false;
    }
    options->mode = (taper_quantize_mode)mode;
    options->observer = (taper_observer_kind)observer;
    return true;
}

static bool open_calibrator(const binding_state *state, calibrator_object *self, PyObject *load_dict, PyObject *dict)
{
    taper_quantize_options options = {.struct_size = sizeof options};
    PyObject *keep[2] = {NULL, NULL}, *path = NULL;
    binding_load load = {.held = NULL};
    bool done = read_options(dict, &options, keep) && binding_load_read(state, load_dict, &load) &&
                (PyBytes_Check(self->source) || PyUnicode_FSConverter(self->source, &path) || binding_adopt("source"));
    if (done) {
        load.options.compiler = taper_compiler();
        taper_error *const error = taper_error_create();
        taper_status status;
        const char *const text = PyBytes_AsString(path != NULL ? path : self->source);
        const size_t size = (size_t)PyBytes_Size(path != NULL ? path : self->source);
        taper_context *const context = self->context->context;
        Py_BEGIN_ALLOW_THREADS status =
            path != NULL
                ? taper_calibrator_load(context, text, &load.options, &options, &self->calibrator, error)
                : taper_calibrator_load_memory(context, text, size, &load.options, &options, &self->calibrator, error);
        Py_END_ALLOW_THREADS done = status == TAPER_OK;
        if (done) {
            taper_error_destroy(error);
        } else {
            binding_raise(state, status, error, path != NULL ? text : NULL);
        }
    }
    binding_load_free(&load);
    Py_XDECREF(keep[0]);
    Py_XDECREF(keep[1]);
    Py_XDECREF(path);
    return done;
}

// Implements Calibrator(context, path or bytes, load options, options).
static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const binding_state *const state = PyType_GetModuleState(type);
    PyObject *context, *source, *load, *options;
    if (keywords != NULL && PyDict_Size(keywords) != 0) {
        binding_refuse(PyExc_TypeError, "a calibrator takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!OO!O!:Calibrator", state->context, &context, &source, &PyDict_Type, &load,
                          &PyDict_Type, &options)) {
        return NULL;
    }
    calibrator_object *const self = calibrator_of(((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0));
    if (self != NULL) {
        self->context = binding_context_hold((binding_context *)(void *)context);
        self->source = Py_NewRef(source);
        if (!open_calibrator(state, self, load, options)) {
            Py_DECREF((PyObject *)self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    calibrator_object *const self = calibrator_of(object);
    PyTypeObject *const type = Py_TYPE(object);
    taper_calibrator_release(self->calibrator);
    Py_XDECREF(self->source);
    binding_context_drop(self->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
    binding_later_empty();
}

typedef taper_status calibrator_step(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                     taper_error *error);

static PyObject *step(PyObject *object, PyObject *inputs, calibrator_step *work)
{
    calibrator_object *const self = calibrator_of(object);
    const binding_state *const state = binding_state_of(object);
    binding_values values;
    if (!binding_values_in(state, self->context, inputs, taper_calibrator_model(self->calibrator), "forward",
                           &values)) {
        return NULL;
    }
    if (!begin(self)) {
        binding_values_free(&values);
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_status status;
    Py_BEGIN_ALLOW_THREADS status = work(self->calibrator, values.items, values.count, error);
    Py_END_ALLOW_THREADS self->busy = false;
    binding_values_free(&values);
    return binding_check(state, status, error) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *run(PyObject *self, PyObject *inputs)
{
    return step(self, inputs, taper_calibrator_run);
}

static PyObject *compare(PyObject *self, PyObject *inputs)
{
    return step(self, inputs, taper_calibrator_compare);
}

static PyObject *finish(PyObject *object, PyObject *options)
{
    calibrator_object *const self = calibrator_of(object);
    const binding_state *const state = binding_state_of(object);
    if (!PyDict_Check(options)) {
        binding_refuse(PyExc_TypeError, "a dict of options is wanted");
        return NULL;
    }
    if (!begin(self)) {
        return NULL;
    }
    taper_error *const error = taper_error_create();
    taper_status status;
    taper_draft *draft;
    Py_BEGIN_ALLOW_THREADS status = taper_calibrator_finish(self->calibrator, &draft, error);
    Py_END_ALLOW_THREADS PyObject *const bytes =
        binding_check(state, status, error) ? binding_save(state, draft, options) : NULL;
    self->busy = false;
    return bytes;
}

// Returns rows (name, operator, kept float, scale, zero point, sqnr).
static PyObject *layers(PyObject *object, PyObject *unused)
{
    (void)unused;
    const binding_state *const state = binding_state_of(object);
    calibrator_object *const self = calibrator_of(object);
    if (!begin(self)) {
        return NULL;
    }
    PyObject *rows = PyList_New(0);
    const size_t count = taper_calibrator_layer_count(self->calibrator);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        taper_quantized_layer layer = {.struct_size = sizeof layer};
        taper_error *const error = taper_error_create();
        PyObject *const row =
            binding_check(state, taper_calibrator_layer(self->calibrator, i, &layer, error), error)
                ? Py_BuildValue("(sNNdLd)", layer.name,
                                PyUnicode_DecodeUTF8(layer.operator_name, (Py_ssize_t)layer.operator_length, "replace"),
                                PyBool_FromLong(layer.kept_float), layer.scale, (long long)layer.zero_point, layer.sqnr)
                : NULL;
        if (row == NULL || PyList_Append(rows, row) != 0) {
            Py_CLEAR(rows);
        }
        Py_XDECREF(row);
    }
    self->busy = false;
    return rows;
}

// Returns the scale and zero point of each input of a model in mode "full". The item of a float input is None.
static PyObject *inputs(PyObject *object, PyObject *unused)
{
    (void)unused;
    calibrator_object *const self = calibrator_of(object);
    const int count = taper_model_method_arguments(taper_calibrator_model(self->calibrator), "forward");
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < count; i++) {
        double scale;
        int64_t zero_point;
        PyObject *const pair = taper_calibrator_input(self->calibrator, (size_t)i, &scale, &zero_point)
                                   ? Py_BuildValue("(dL)", scale, (long long)zero_point)
                                   : Py_NewRef(Py_None);
        if (pair == NULL || PyList_Append(list, pair) != 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *sqnr(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyFloat_FromDouble(taper_calibrator_sqnr(calibrator_of(self)->calibrator));
}

bool binding_calibrator_add(PyObject *module, binding_state *state)
{
    static PyMethodDef methods[] = {
        {"run", run, METH_O, NULL},
        {"compare", compare, METH_O, NULL},
        {"finish", finish, METH_O, NULL},
        {"layers", layers, METH_NOARGS, NULL},
        {"inputs", inputs, METH_NOARGS, NULL},
        {"sqnr", sqnr, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, create},
        {Py_tp_dealloc, destroy},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"taper._taper.Calibrator", sizeof(calibrator_object), 0, Py_TPFLAGS_DEFAULT, slots};
    return binding_add_type(module, &spec, &state->calibrator);
}
