// SPDX-License-Identifier: BSD-2-Clause
// The Python binding: the extension module taper._taper over the C API, built for Python's stable ABI. Functions are
// called with Python's lock (the GIL) held, unless their comment says otherwise.
//
// Invariants:
// - A function that returns NULL, -1 or false has set a Python exception.
// - A Tensor has a tensor value of its own (binding_value_own), so that no run can change its sizes or free its memory.
// - Taper's callbacks never call Python, because they may run in any thread and with a lock of Taper held. They append
//   their data to a list, which the next thread that holds the GIL empties (later.c).
#ifndef TAPER_PYTHON_BINDING_H
#define TAPER_PYTHON_BINDING_H

// Buffers are part of the stable ABI since Python 3.11.
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include <taper/taper_compile.h>
#include <taper/taper_device.h>
#include <taper/taper_inspect.h>
#include <taper/taper_memory.h>
#include <taper/taper_operator.h>

enum { BINDING_DTYPES = 32 }; // greater than the number of any dtype

// Python's description of a dtype, derived from its name and size (dtypes.c).
typedef struct binding_dtype {
    const char *name; // NULL if no dtype has this number
    // NumPy's kind of the dtype: 'i', 'u', 'f', 'b' or 'c'; 'v' for bfloat16, which buffers do not support; 0: none.
    char kind;
    bool quantized;     // true for a quantized dtype; kind then describes its integers
    size_t size;        // bytes of an element
    const char *format; // format of a buffer, as in module struct; NULL for none
} binding_dtype;

// Indices of the list `met`. MET_TYPE: the last type that exported a tensor by DLPack. MET_OLDER: True if this type has
// no versioned DLPack. MET_REFUSED: the last dtype that DLPack refused. MET_REFUSED_OF: the type of the tensor whose
// export refused this dtype.
enum { BINDING_MET_TYPE, BINDING_MET_OLDER, BINDING_MET_REFUSED, BINDING_MET_REFUSED_OF };

typedef struct binding_state {
    PyTypeObject *context, *tensor, *object, *model, *method, *calibrator;
    PyObject *make_error, *status; // taper._errors.made and taper.Status
    PyObject *tuples;              // classes of named tuples, by their fields
    PyObject *get_signal, *interrupt_handler, *signal_number;
    PyObject *log; // function called with (level, text), or None
    PyObject *met; // list that caches answers of other packages
    binding_dtype dtypes[BINDING_DTYPES];
    unsigned long main_thread;
    unsigned long forks; // number of forks that led to this process
} binding_state;

extern struct PyModuleDef binding_module;
binding_state *binding_state_of(PyObject *self); // returns the state; `self` is an object of one of the types above
bool binding_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

// ---- errors.c

bool binding_errors_add(PyObject *module, binding_state *state);
// Raises the exception for a failed call and destroys the error. `about` is put before the message unless it is NULL.
void binding_raise(const binding_state *state, taper_status status, taper_error *error, const char *about);
// Destroys the error. Returns true if the status is TAPER_OK, otherwise raises the error's exception and returns false.
bool binding_check(const binding_state *state, taper_status status, taper_error *error);
// Raises the package's subclass of a Python exception class: WrongType for TypeError. The format is the same as for
// PyErr_Format.
void binding_refuse(PyObject *kind, const char *format, ...);
// Converts the current exception to the package's own exception after an argument could not be converted. Exceptions
// without a class in the package remain. `name` is the argument's name, or NULL to name no argument. Returns false.
bool binding_adopt(const char *name);

// ---- dtypes.c

void binding_dtypes_fill(binding_state *state);
// Returns the dtype of this kind and size, or -1 if Taper has none.
int binding_dtype_find(const binding_state *state, char kind, size_t size);
// Returns the dtype with the name, for example "float32", or -1 with an exception.
int binding_dtype_named(const binding_state *state, PyObject *name);
const char *binding_dtype_name(const binding_state *state, taper_dtype dtype); // returns "unknown" for an unknown dtype

// ---- later.c: objects that are returned to Python later

typedef struct binding_later {
    struct binding_later *next;
    Py_buffer view;      // released if view.obj is not NULL
    void *managed;       // a DLPack tensor whose deleter is called, or NULL if there is none
    bool versioned;      // true if `managed` is a versioned DLPack tensor
    PyObject *reference; // a reference to `release`, or NULL if there is none
} binding_later;

binding_later *binding_later_new(void);  // returns NULL with an exception if memory is missing
void binding_later_release(void *later); // a release function for Taper; runs in any thread, with or without the GIL
// Releases the objects immediately; used if a call fails before Taper keeps the pointer.
void binding_later_drop(binding_later *later);
void binding_later_empty(void);
// Calls taper_value_release, and then binding_later_empty, because the release may add objects to the list that this
// function empties.
void binding_value_release(taper_value *value);

// ---- context.c

typedef struct binding_context {
    PyObject_HEAD taper_context *context;
    struct binding_log *log;
    taper_operator *alias; // operator that makes tensors that share memory
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
// Passes the text printed by models to Python's handler. Returns false with an exception if the handler raised one.
bool binding_log_flush(const binding_state *state, binding_context *context);
// Returns a new tensor value that shares only the memory of `value`. Takes ownership of `value`, also after a failure.
taper_value *binding_value_own(const binding_state *state, binding_context *context, taper_value *value);

// ---- tensor.c, dlpack.c

typedef struct binding_tensor {
    PyObject_HEAD binding_context *context;
    taper_value *value;
    Py_ssize_t shape[TAPER_MAX_RANK], strides[TAPER_MAX_RANK]; // strides in bytes, as in buffers
    taper_tensor_info info;
    // True if shape, strides and info are valid and the value is the tensor's own; until then a GPU may have the data.
    bool known;
} binding_tensor;

bool binding_tensor_add(PyObject *module, binding_state *state);
// Makes a Tensor. Takes ownership of the value, also after a failure.
PyObject *binding_tensor_new(const binding_state *state, binding_context *context, taper_value *value);
// Works like binding_tensor_new, but reads the value when the program first uses it. The data may be on a GPU until
// then.
PyObject *binding_tensor_later(const binding_state *state, binding_context *context, taper_value *value);
// These functions implement tensor(context, array) and quantize_tensor(context, array, scale, zero_point, dtype).
PyObject *binding_tensor_make(PyObject *module, PyObject *args);
PyObject *binding_tensor_quantize(PyObject *module, PyObject *args);
// Reads the value so that info, shape and strides are valid. Returns false with an exception on failure.
bool binding_tensor_know(PyObject *self);
PyObject *binding_tensor_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *binding_tensor_dlpack_device(PyObject *self, PyObject *unused);
// Makes a tensor from an object with __dlpack__.
taper_value *binding_dlpack_in(const binding_state *state, binding_context *context, PyObject *object);

// ---- gradient.c

PyObject *binding_tensor_requires_grad(PyObject *self, void *unused);
int binding_tensor_require_grad(PyObject *self, PyObject *wanted, void *unused);
// Implements grad(outputs, inputs, grad_outputs or None, keep, create, allow_unused), of lists of tensors.
PyObject *binding_grad(PyObject *module, PyObject *args);

// ---- array_in.c

// Returns true if the object is a buffer or has one of the array protocols, so that binding_array_in may succeed.
bool binding_is_array(PyObject *object);
// Makes a tensor over the memory of an array. The memory is copied if a tensor of Taper cannot have its layout.
taper_value *binding_array_in(const binding_state *state, binding_context *context, PyObject *object);
// Copies elements with any strides (in bytes) to contiguous memory. The bytes of each group of `unit` bytes are
// reversed; 1 leaves them unchanged.
void binding_copy_strided(void *to, const void *from, size_t rank, const Py_ssize_t *shape, const Py_ssize_t *strides,
                          size_t item, size_t unit);
// Works like binding_array_in for a description of memory that `later` keeps. Takes ownership of `later`, also after a
// failure.
taper_value *binding_view_in(const binding_state *state, binding_context *context, const Py_buffer *view, int dtype,
                             binding_later *later);
// Makes a tensor over memory that `later` keeps. Takes ownership of `later`, also after a failure. `strides` are in
// elements; NULL means contiguous.
taper_value *binding_tensor_over(const binding_state *state, binding_context *context, taper_dtype dtype, size_t rank,
                                 const int64_t *sizes, const int64_t *strides, void *data, size_t bytes, bool read_only,
                                 binding_later *later);

// ---- value_in.c, value_out.c

typedef struct binding_object { // an object of a class of the model, or of a kind that Python does not have
    PyObject_HEAD binding_context *context;
    taper_value *value;
} binding_object;

// Converts an object to a value of the declared type. If `type` is unknown, the object's own type decides.
taper_value *binding_value_in(const binding_state *state, binding_context *context, PyObject *object,
                              const taper_type *type);
bool binding_object_add(PyObject *module, binding_state *state);
// Converts a value to an object. Takes ownership of the value, also after a failure. stays: true if tensors may remain
// on a GPU.
PyObject *binding_value_out(const binding_state *state, binding_context *context, taper_value *value, bool stays);

// An array of values, which are released with it.
typedef struct binding_values {
    taper_value **items;
    size_t count;
} binding_values;

bool binding_values_room(binding_values *values, size_t count);
void binding_values_free(binding_values *values);
// Converts the items of a list or tuple to the arguments of a method. Item i has the declared type of argument i.
bool binding_values_in(const binding_state *state, binding_context *context, PyObject *sequence,
                       const taper_model *model, const char *method, binding_values *values);

// ---- options.c: options of load, prepare and calibrate

enum { BINDING_SETTINGS = 32 };

typedef struct binding_load {
    taper_load_options options;
    taper_device_choice device;
    taper_device_setting settings[BINDING_SETTINGS];
    PyObject *held, *passes; // objects that the options point into, besides the dict
} binding_load;

// Reads a dict of options. The dict must exist as long as the result is used.
bool binding_load_read(const binding_state *state, PyObject *dict, binding_load *load);
void binding_load_free(binding_load *load);
// Returns the texts of a sequence of str. They are valid as long as *keep is.
bool binding_names_read(PyObject *sequence, const char *const **names, size_t *count, PyObject **keep);
// These functions read optional members of a dict. They return false only with an exception.
bool binding_dict_text(PyObject *dict, const char *name, const char **text);
bool binding_dict_int(PyObject *dict, const char *name, int *number);
bool binding_dict_u64(PyObject *dict, const char *name, uint64_t *number);
bool binding_dict_names(PyObject *dict, const char *name, const char *const **names, size_t *count, PyObject **keep);
// Reads disable_passes, a text of comma-separated names. The names are valid as long as *keep is.
bool binding_dict_passes(PyObject *dict, const char *const **names, size_t *count, PyObject **keep);
bool binding_dict_double(PyObject *dict, const char *name, double *number);

// ---- model.c, run.c, profile.c

typedef struct binding_loaded { // state shared by all models of one file
    size_t references;
    taper_model *model;
    binding_context *context;
    PyObject *source;                     // the path of the model's file, or its bytes
    struct binding_signature *signatures; // signatures of the methods, one for each method
    size_t method_count;
} binding_loaded;

typedef struct binding_signature {
    const char *name;
    int count; // number of arguments; -1 if unknown
    const char **arguments;
    const taper_type **types;
} binding_signature;

typedef struct binding_model {
    PyObject_HEAD binding_loaded *loaded;
    taper_session *session;
    PyThread_type_lock lock; // lock of the session; held during a run, with `owner` and `forks` set
    unsigned long owner, forks;
    bool running;   // changed only with the GIL held
    bool stays;     // true if results may remain on a GPU
    bool cancelled; // true if this run was cancelled; a signal handler may set it, too
} binding_model;

bool binding_model_add(PyObject *module, binding_state *state);
PyObject *binding_load_model(PyObject *module, PyObject *args);
const binding_signature *binding_signature_find(const binding_loaded *loaded, const char *method);
PyObject *binding_model_graph(PyObject *self, PyObject *args);
PyObject *binding_model_facts(PyObject *self, PyObject *unused);
// Runs a method with Python's arguments. `kwargs` may be NULL.
PyObject *binding_run(const binding_state *state, binding_model *model, const binding_signature *signature,
                      PyObject *args, PyObject *kwargs);
// Locks the session for this thread until binding_unlock. Returns false with an exception on failure.
bool binding_lock(const binding_state *state, binding_model *model);
void binding_unlock(binding_model *model);
PyObject *binding_model_profile_set(PyObject *self, PyObject *on);
PyObject *binding_model_profile_get(PyObject *self, PyObject *unused);
PyObject *binding_model_memory(PyObject *self, PyObject *unused);

// ---- prepare.c, calibrator.c

// Implements prepare(context, source, load options, actions) -> bytes.
PyObject *binding_prepare(PyObject *module, PyObject *args);
bool binding_calibrator_add(PyObject *module, binding_state *state);
// Returns the bytes of a file made from the draft. Releases the draft, also after a failure.
PyObject *binding_save(const binding_state *state, taper_draft *draft, PyObject *options);

#endif
