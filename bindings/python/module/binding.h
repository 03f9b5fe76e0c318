// SPDX-License-Identifier: BSD-2-Clause
// The Python binding: the extension module taper._taper over the C API, built against Python's stable ABI. Everything
// here is called with Python's lock (the GIL) held, but for what says that it is not.
//
// What holds
// - A function that returns NULL, -1 or false has left a Python exception.
// - A Tensor has a tensor object of its own (value_own): no run can change its sizes or take its memory away.
// - Taper's callbacks, which come from any thread and perhaps under a lock of Taper's, never touch Python. They put
// what
//   they have on a list, which the next thread that holds the GIL empties (later.c).
#ifndef TAPER_PYTHON_BINDING_H
#define TAPER_PYTHON_BINDING_H

// Buffers are in the stable ABI since 3.11.
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include <taper/taper_compile.h>
#include <taper/taper_device.h>
#include <taper/taper_inspect.h>
#include <taper/taper_memory.h>
#include <taper/taper_operator.h>

enum { BINDING_DTYPES = 32 }; // dtypes have lower numbers

// How Python says a dtype; from its name and size (dtypes.c).
typedef struct binding_dtype {
    const char *name;   // NULL: there is none of this number
    char kind;          // 'i', 'u', 'f', 'b', 'c'; 'v': bfloat16, which buffers do not know; 0: not to be had
    bool quantized;     // kind is that of its integers
    size_t size;        // bytes
    const char *format; // of a buffer, as struct has it; NULL: none
} binding_dtype;

// The last type that gave a tensor by DLPack, whether it is older than versions; the last dtype that one did not give.
enum { BINDING_MET_TYPE, BINDING_MET_OLDER, BINDING_MET_REFUSED, BINDING_MET_REFUSED_OF };

typedef struct binding_state {
    PyTypeObject *context, *tensor, *object, *model, *method, *calibrator;
    PyObject *make_error, *status; // taper._errors.made, taper.Status
    PyObject *tuples;              // named tuples' classes by their fields
    PyObject *get_signal, *interrupt_handler, *signal_number;
    PyObject *log; // called with (level, text), or None
    PyObject *met; // a list: what need not be asked again
    binding_dtype dtypes[BINDING_DTYPES];
    unsigned long main_thread;
    unsigned long forks; // that led to this process
} binding_state;

extern struct PyModuleDef binding_module;
binding_state *binding_state_of(PyObject *self); // of an object of one of the types
bool binding_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

// ---- errors.c

bool binding_errors_add(PyObject *module, binding_state *state);
// Makes an exception of a failed call, and destroys the error. `about` stands before the message; NULL: nothing does.
void binding_raise(const binding_state *state, taper_status status, taper_error *error, const char *about);
// Destroys the error; false with an exception unless the status is TAPER_OK.
bool binding_check(const binding_state *state, taper_status status, taper_error *error);
// Raises the package's exception for a class of Python: WrongType for TypeError. The format is PyErr_Format's.
void binding_refuse(PyObject *kind, const char *format, ...);
// Raises the exception that is set again, as the package's own, after a conversion of an argument failed. An exception
// of a class that the package has none for stays. `name` is the argument's name, or NULL. Returns false.
bool binding_adopt(const char *name);

// ---- dtypes.c

void binding_dtypes_fill(binding_state *state);
// The dtype of that kind and size; -1: Taper has none.
int binding_dtype_find(const binding_state *state, char kind, size_t size);
// By its name ("float32"); -1 with an exception.
int binding_dtype_named(const binding_state *state, PyObject *name);
const char *binding_dtype_name(const binding_state *state, taper_dtype dtype); // "unknown" where there is none

// ---- later.c: what is to be given back to Python

typedef struct binding_later {
    struct binding_later *next;
    Py_buffer view;      // released where it has an obj
    void *managed;       // a DLPack tensor, whose deleter is called; or NULL
    bool versioned;      // its kind
    PyObject *reference; // or NULL
} binding_later;

binding_later *binding_later_new(void);        // NULL with an exception
void binding_later_release(void *later);       // a release function for Taper: any thread, with the GIL or without
void binding_later_drop(binding_later *later); // at once: it never was Taper's
void binding_later_empty(void);
// taper_value_release, and what that lets go of.
void binding_value_release(taper_value *value);

// ---- context.c

typedef struct binding_context {
    PyObject_HEAD taper_context *context;
    struct binding_log *log;
    taper_operator *alias; // makes tensors that share memory
} binding_context;

bool binding_context_add(PyObject *module, binding_state *state);
static inline binding_context *binding_context_hold(binding_context *context)
{
    Py_INCREF((PyObject *)context);
    return context;
}
static inline void binding_context_drop(binding_context *context)
{
    Py_XDECREF((PyObject *)context);
}
// Hands what models printed to Python. False with an exception, which a handler raised.
bool binding_log_flush(const binding_state *state, binding_context *context);
// A tensor value that shares the memory of `value` and nothing else; takes that over, also on failure.
taper_value *binding_value_own(const binding_state *state, binding_context *context, taper_value *value);

// ---- tensor.c, dlpack.c

typedef struct binding_tensor {
    PyObject_HEAD binding_context *context;
    taper_value *value;
    Py_ssize_t shape[TAPER_MAX_RANK], strides[TAPER_MAX_RANK]; // strides in bytes, as buffers have them
    taper_tensor_info info;
    bool known; // that, and the value is its own; until then a GPU may have it
} binding_tensor;

bool binding_tensor_add(PyObject *module, binding_state *state);
// Takes the value, a tensor, over, also on failure.
PyObject *binding_tensor_new(const binding_state *state, binding_context *context, taper_value *value);
// The same of a value that nobody looks at before the program does: one that may be with a GPU.
PyObject *binding_tensor_later(const binding_state *state, binding_context *context, taper_value *value);
// tensor(context, array), quantize_tensor(context, array, scale, zero_point, dtype)
PyObject *binding_tensor_make(PyObject *module, PyObject *args);
PyObject *binding_tensor_quantize(PyObject *module, PyObject *args);
// Whether info is known from now on; false with an exception.
bool binding_tensor_know(PyObject *self);
PyObject *binding_tensor_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *binding_tensor_dlpack_device(PyObject *self, PyObject *unused);
// Of what has __dlpack__.
taper_value *binding_dlpack_in(const binding_state *state, binding_context *context, PyObject *object);

// ---- array_in.c

// Whether binding_array_in may have an answer: a buffer, or one of the protocols of arrays.
bool binding_is_array(PyObject *object);
// A tensor over the memory of an array, or over a copy where Taper's tensors cannot be laid out so.
taper_value *binding_array_in(const binding_state *state, binding_context *context, PyObject *object);
// Copies elements of any strides (in bytes) to contiguous ones, swapping the bytes of each part of `unit` bytes (1: as
// they are).
void binding_copy_strided(void *to, const void *from, size_t rank, const Py_ssize_t *shape, const Py_ssize_t *strides,
                          size_t item, size_t unit);
// The same of a description of memory that `later` keeps; takes `later` over, also on failure.
taper_value *binding_view_in(const binding_state *state, binding_context *context, const Py_buffer *view, int dtype,
                             binding_later *later);
// A tensor over memory that `later` keeps; takes it over, also on failure. strides in elements, NULL: contiguous.
taper_value *binding_tensor_over(const binding_state *state, binding_context *context, taper_dtype dtype, size_t rank,
                                 const int64_t *sizes, const int64_t *strides, void *data, size_t bytes, bool read_only,
                                 binding_later *later);

// ---- value_in.c, value_out.c

typedef struct binding_object { // an object of the model's own classes, and what Python has nothing for
    PyObject_HEAD binding_context *context;
    taper_value *value;
} binding_object;

// type: as the method declares it; unknown: whatever the object is most naturally.
taper_value *binding_value_in(const binding_state *state, binding_context *context, PyObject *object,
                              const taper_type *type);
bool binding_object_add(PyObject *module, binding_state *state);
// Takes the value over, also on failure.
PyObject *binding_value_out(const binding_state *state, binding_context *context, taper_value *value, bool stays);

// Values in an array, to be released with it.
typedef struct binding_values {
    taper_value **items;
    size_t count;
} binding_values;

bool binding_values_room(binding_values *values, size_t count);
void binding_values_free(binding_values *values);
// The items of a list or tuple, as the arguments of a method whose types are asked for by number.
bool binding_values_in(const binding_state *state, binding_context *context, PyObject *sequence,
                       const taper_model *model, const char *method, binding_values *values);

// ---- options.c: what load, prepare and calibrate share

enum { BINDING_SETTINGS = 32 };

typedef struct binding_load {
    taper_load_options options;
    taper_device_choice device;
    taper_device_setting settings[BINDING_SETTINGS];
    PyObject *held, *passes; // what the options point to, beside the dict
} binding_load;

// Reads a dict of options, which must live as long as they are used.
bool binding_load_read(const binding_state *state, PyObject *dict, binding_load *load);
void binding_load_free(binding_load *load);
// The texts of a sequence of str, as long as *keep is held.
bool binding_names_read(PyObject *sequence, const char *const **names, size_t *count, PyObject **keep);
// Members of a dict that may be missing: false with an exception only.
bool binding_dict_text(PyObject *dict, const char *name, const char **text);
bool binding_dict_int(PyObject *dict, const char *name, int *number);
bool binding_dict_u64(PyObject *dict, const char *name, uint64_t *number);
bool binding_dict_names(PyObject *dict, const char *name, const char *const **names, size_t *count, PyObject **keep);
// disable_passes: names with commas between, as long as *keep is held.
bool binding_dict_passes(PyObject *dict, const char *const **names, size_t *count, PyObject **keep);
bool binding_dict_double(PyObject *dict, const char *name, double *number);

// ---- model.c, run.c, profile.c

typedef struct binding_loaded { // what models of one file share
    size_t references;
    taper_model *model;
    binding_context *context;
    PyObject *source;                     // a path, or the bytes
    struct binding_signature *signatures; // of its methods
    size_t method_count;
} binding_loaded;

typedef struct binding_signature {
    const char *name;
    int count; // of arguments; -1: not known
    const char **arguments;
    const taper_type **types;
} binding_signature;

typedef struct binding_model {
    PyObject_HEAD binding_loaded *loaded;
    taper_session *session;
    PyThread_type_lock lock; // of the session: held in a run, with `owner` and `forks` set
    unsigned long owner, forks;
    bool running;   // changed with the GIL held
    bool stays;     // results may be with a GPU
    bool cancelled; // this run was to stop: also set by a signal's handler
} binding_model;

bool binding_model_add(PyObject *module, binding_state *state);
PyObject *binding_load_model(PyObject *module, PyObject *args);
const binding_signature *binding_signature_find(const binding_loaded *loaded, const char *method);
PyObject *binding_model_graph(PyObject *self, PyObject *args);
PyObject *binding_model_facts(PyObject *self, PyObject *unused);
// Runs a method on Python's arguments. kwargs may be NULL.
PyObject *binding_run(const binding_state *state, binding_model *model, const binding_signature *signature,
                      PyObject *args, PyObject *kwargs);
// The session is this thread's until binding_unlock.
bool binding_lock(const binding_state *state, binding_model *model);
void binding_unlock(binding_model *model);
PyObject *binding_model_profile_set(PyObject *self, PyObject *on);
PyObject *binding_model_profile_get(PyObject *self, PyObject *unused);
PyObject *binding_model_memory(PyObject *self, PyObject *unused);

// ---- prepare.c, calibrator.c

// prepare(context, source, load options, what to do) -> bytes
PyObject *binding_prepare(PyObject *module, PyObject *args);
bool binding_calibrator_add(PyObject *module, binding_state *state);
// The bytes of a file made of a draft; the draft is released, also on failure.
PyObject *binding_save(const binding_state *state, taper_draft *draft, PyObject *options);

#endif
