/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Taper: runs PyTorch Mobile's model files. This header is the whole run-time interface: load a model, call its
 * methods with values, read the values that come back.
 *
 * Conventions
 * - Every function that can fail returns a taper_status and takes an optional taper_error (NULL is fine).
 * - Objects are opaque; create/load/new gives one reference, release/destroy drops it; NULL may be released.
 * - On failure output pointers are set to NULL and nothing is kept.
 * - Sizes of tensors are in elements, strides in elements, storage sizes in bytes; order of dimensions is PyTorch's.
 * - A context and a model may be used by several threads at once; a session by one thread at a time
 *   (taper_session_cancel excepted). Values may be released by any thread.
 * - A callback of the host must not use the object whose function has called it, unless this header says what happens
 *   then: "session" below does. An allocator must not call functions of this library, but for taper_session_cancel and
 *   taper_session_trim.
 *
 * What stays
 * - Until 1.0 a minor version may change anything, and the library's soname carries it: libtaper.so.0.1. From 1.0 on
 *   functions, structs and numbers stay as they are, but for what is marked TAPER_EXPERIMENTAL.
 * - Structs that begin with struct_size grow at their end only; set it to sizeof the struct. A library that knows fewer
 *   members ignores yours; one that knows more takes 0 for those you do not have, and 0 always means what older
 *   versions did. taper_allocator and taper_thread_pool never change. Enums may get more values.
 * - What is declared here and does not exist yet answers TAPER_ERROR_UNSUPPORTED, and the message says what to do.
 */
#ifndef TAPER_TAPER_H
#define TAPER_TAPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TAPER_SHARED) && defined(_WIN32)
#define TAPER_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TAPER_API __attribute__((visibility("default")))
#else
#define TAPER_API
#endif

#if defined(__GNUC__)
#define TAPER_MUST_USE __attribute__((warn_unused_result))
#else
#define TAPER_MUST_USE
#endif

/* May change in any minor version, also after 1.0. To be warned of each use:
 *   -D'TAPER_EXPERIMENTAL=__attribute__((deprecated("experimental")))' */
#ifndef TAPER_EXPERIMENTAL
#define TAPER_EXPERIMENTAL
#endif

#define TAPER_VERSION_MAJOR 0
#define TAPER_VERSION_MINOR 1
#define TAPER_VERSION_PATCH 0

/* "0.1.0"; static. */
TAPER_API const char *taper_version(void);

/* ---- status and errors ------------------------------------------------------------------------------------- */

typedef enum taper_status {
    TAPER_OK = 0,
    TAPER_ERROR_ARGUMENT = 1,    /* the caller passed something wrong; the message names it */
    TAPER_ERROR_FILE = 2,        /* the model file is damaged, foreign or could not be read */
    TAPER_ERROR_UNSUPPORTED = 3, /* valid, but not supported here; the message names the operator and the way out */
    TAPER_ERROR_RESOURCE = 4,    /* memory, a limit or a budget ran out */
    TAPER_ERROR_DEVICE = 5,      /* an accelerator failed */
    TAPER_ERROR_RAISED = 6,      /* the model itself raised an exception; the message is the exception's text */
    TAPER_ERROR_CANCELLED = 7,   /* taper_session_cancel was called */
    TAPER_ERROR_INTERNAL = 8     /* a bug in Taper */
} taper_status;

/* Collects what went wrong: a message of one line, details of several (all missing operators, the module
 * hierarchy of an exception), and the byte offset in the file where one applies. Reusable; owned by the caller. */
typedef struct taper_error taper_error;

TAPER_API taper_error *taper_error_create(void); /* NULL when out of memory, which every function accepts */
TAPER_API void taper_error_destroy(taper_error *error);
TAPER_API taper_status taper_error_status(const taper_error *error);
TAPER_API const char *taper_error_message(const taper_error *error); /* never NULL; valid until the next use */
TAPER_API const char *taper_error_detail(const taper_error *error);  /* "" when there is none */
TAPER_API int64_t taper_error_offset(const taper_error *error);      /* -1 when unknown */

/* ---- context ------------------------------------------------------------------------------------------------ */

/* One callback, as Lua's: new_size 0 frees, ptr NULL allocates, old_size is always exact. Returns memory aligned for
 * any C type, or NULL when it cannot. Called from any thread. reallocate must be set: NULL is TAPER_ERROR_ARGUMENT. */
typedef struct taper_allocator {
    void *user;
    void *(*reallocate)(void *user, void *ptr, size_t old_size, size_t new_size);
} taper_allocator;

/* run calls task(argument, i) for every i in [0, count), in any order, on any threads, and returns when all are done.
 * It is called by one thread at a time: a run that comes meanwhile does its work in its own thread. Both callbacks must
 * be set: NULL is TAPER_ERROR_ARGUMENT. */
typedef struct taper_thread_pool {
    void *user;
    size_t (*thread_count)(void *user);
    void (*run)(void *user, void (*task)(void *argument, size_t index), void *argument, size_t count);
} taper_thread_pool;

typedef enum taper_log_level { TAPER_LOG_PRINT = 0, TAPER_LOG_WARNING = 1, TAPER_LOG_INFO = 2 } taper_log_level;

/* Text of the model's print() and warnings.warn(), and Taper's own remarks. Not NUL-free: length counts. */
typedef void (*taper_log_function)(void *user, taper_log_level level, const char *text, size_t length);

typedef struct taper_context_options {
    size_t struct_size;               /* sizeof(taper_context_options) */
    const taper_allocator *allocator; /* copied; NULL: malloc */
    const taper_thread_pool *pool;    /* copied; NULL: Taper's own */
    unsigned threads;                 /* of Taper's own pool, the caller's included; 0: the big physical cores that
                                         affinity allows, at most the control groups' CPU quota rounded up */
    taper_log_function log;           /* NULL: print to stdout, warnings to stderr */
    void *log_user;
    uint64_t cpu_mask; /* instruction sets that may be used; 0: all the CPU has (see taper_cpu_set) */
    /* A directory of the app's own, which must exist: copied. What takes long to make on a machine is kept there
     * between processes: packed weights, in a file for each model (taper-….packs, about as large as the model) and a
     * small one beside it (….checked: what was found undamaged, which is asked again after a day and when the file was
     * written to), which a thread writes after the first runs, and what NNAPI's drivers make of a network, in files
     * that Android names. They may be deleted at any time. Only files of the process's own user are looked at. NULL:
     * Taper writes no file. */
    const char *cache_dir;
} taper_context_options;

/* Bits of cpu_mask. TAPER_CPU_NONE forces the portable kernels. taper_cpu_set gives sets that have no name here too. */
#define TAPER_CPU_NONE (UINT64_C(1) << 63)
#define TAPER_CPU_AVX2 (UINT64_C(1) << 0)   /* with FMA and F16C */
#define TAPER_CPU_AVX512 (UINT64_C(1) << 1) /* F, BW, DQ, VL */
#define TAPER_CPU_AVX512VNNI (UINT64_C(1) << 2)
#define TAPER_CPU_AVX512BF16 (UINT64_C(1) << 3)
#define TAPER_CPU_AMX (UINT64_C(1) << 4) /* TILE, INT8, BF16 */
#define TAPER_CPU_NEON (UINT64_C(1) << 16)
#define TAPER_CPU_NEON_DOT (UINT64_C(1) << 17)
#define TAPER_CPU_NEON_FP16 (UINT64_C(1) << 18)
#define TAPER_CPU_NEON_I8MM (UINT64_C(1) << 19)
#define TAPER_CPU_NEON_BF16 (UINT64_C(1) << 20)

typedef struct taper_context taper_context;

TAPER_API TAPER_MUST_USE taper_status taper_context_create(const taper_context_options *options,
                                                           taper_context **context, taper_error *error);
TAPER_API void taper_context_release(taper_context *context);
TAPER_API unsigned taper_context_threads(const taper_context *context);
/* Taper's own pool has so many threads from now on, as in taper_context_options: at most 64, or as many as it began
 * with. From any thread, for the runs under way too. The results stay the same. */
TAPER_API void taper_context_set_threads(taper_context *context, unsigned threads);
/* The cache_dir of taper_context_options from now on, for models that are loaded and devices that are first used later;
 * NULL: none. From any thread. */
TAPER_API TAPER_MUST_USE taper_status taper_context_set_cache_dir(taper_context *context, const char *path,
                                                                  taper_error *error);
TAPER_API uint64_t taper_context_cpu_features(const taper_context *context); /* bits of cpu_mask that it uses */

/* A device that models may be asked to run on. All texts are gone when each() returns. */
typedef struct taper_device_facts {
    size_t struct_size;
    const char *name;   /* for taper_load_options.device: "cpu", "vulkan:1" */
    const char *called; /* what it calls itself; "": nothing */
    const char *facts;  /* what it can do and how it is used, in words; "": nothing is said */
    const char *why;    /* why no model runs there; NULL: models do */
} taper_device_facts;
/* Calls each(user, facts) for every device of this build's backends, in their order, until it returns other than 0. A
 * backend without one is told once, with why. Devices are opened for it, which may take as long as a driver needs, and
 * those of GPUs that compute on the CPU are listed too, by the name that takes them. The context is busy meanwhile:
 * each() must not load models into it. */
TAPER_API TAPER_MUST_USE taper_status taper_context_devices(taper_context *context,
                                                            int (*each)(void *user, const taper_device_facts *facts),
                                                            void *user, taper_error *error);

/* The instruction sets that this CPU has and this build has kernels of: the name of number `index` ("scalar", the
 * portable kernels alone; "avx2", "neondot", …), NULL behind the last. *mask, unless mask is NULL, becomes the cpu_mask
 * that allows this set and those that it needs. The masks of several, joined by |, allow them all. */
TAPER_API const char *taper_cpu_set(size_t index, uint64_t *mask);

/* ---- values --------------------------------------------------------------------------------------------------- */

/* The numbers are PyTorch's ScalarType (c10/core/ScalarType.h); dtypes to come take PyTorch's, too. */
typedef enum taper_dtype {
    TAPER_U8 = 0,
    TAPER_I8 = 1,
    TAPER_I16 = 2,
    TAPER_I32 = 3,
    TAPER_I64 = 4,
    TAPER_F16 = 5,
    TAPER_F32 = 6,
    TAPER_F64 = 7,
    TAPER_C32 = 8,
    TAPER_C64 = 9,
    TAPER_C128 = 10,
    TAPER_BOOL = 11,
    TAPER_QI8 = 12,
    TAPER_QU8 = 13,
    TAPER_QI32 = 14,
    TAPER_BF16 = 15,
    TAPER_QU4X2 = 16,
    TAPER_QU2X4 = 17
} taper_dtype;

TAPER_API size_t taper_dtype_size(taper_dtype dtype);      /* bytes per element; 0 for sub-byte or unknown dtypes */
TAPER_API const char *taper_dtype_name(taper_dtype dtype); /* "float32" */

/* The dimensions that tensors of this version have at most. Nothing in these headers depends on it. */
#define TAPER_MAX_RANK 16

typedef enum taper_kind {
    TAPER_KIND_NONE = 0,
    TAPER_KIND_BOOL,
    TAPER_KIND_INT,
    TAPER_KIND_DOUBLE,
    TAPER_KIND_COMPLEX,
    TAPER_KIND_DEVICE,
    TAPER_KIND_STRING,
    TAPER_KIND_TENSOR,
    TAPER_KIND_LIST,
    TAPER_KIND_TUPLE,
    TAPER_KIND_DICT,
    TAPER_KIND_OBJECT,
    TAPER_KIND_OTHER
} taper_kind;

/* A reference to an immutable number or a shared, reference-counted tensor, list, dict or object. */
typedef struct taper_value taper_value;

TAPER_API void taper_value_release(taper_value *value);
TAPER_API taper_value *taper_value_retain(taper_value *value); /* returns value */
TAPER_API taper_kind taper_value_kind(const taper_value *value);

TAPER_API TAPER_MUST_USE taper_status taper_value_none(taper_context *context, taper_value **value, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_bool(taper_context *context, int flag, taper_value **value,
                                                       taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_int(taper_context *context, int64_t number, taper_value **value,
                                                      taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_double(taper_context *context, double number, taper_value **value,
                                                         taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_complex(taper_context *context, double re, double im,
                                                          taper_value **value, taper_error *error);
/* The bytes are copied. */
TAPER_API TAPER_MUST_USE taper_status taper_value_string(taper_context *context, const char *text, size_t length,
                                                         taper_value **value, taper_error *error);

/* A contiguous tensor with uninitialized elements, owned by the value. */
TAPER_API TAPER_MUST_USE taper_status taper_value_tensor(taper_context *context, taper_dtype dtype, size_t rank,
                                                         const int64_t *sizes, taper_value **value, taper_error *error);

typedef struct taper_tensor_info {
    size_t struct_size; /* sizeof(taper_tensor_info) */
    taper_dtype dtype;
    size_t rank;
    const int64_t *sizes;   /* rank of them; borrowed: valid while the value is held, and what they say as long as no */
    const int64_t *strides; /* operator resizes the tensor in place */
    void *data;             /* of element [0, 0, …]; borrowed as well */
    size_t bytes;           /* from data to the end of the storage */
    int quantized;          /* 1: per tensor, 2: per channel */
    double scale;
    int64_t zero_point;
    int read_only; /* 1: not to be written to: the model's own bytes, or a constant input (taper_value_make_writable) */
    int requires_grad; /* 1: a parameter of a model that was saved as such. Nothing here computes gradients. */
} taper_tensor_info;

/* Uses the caller's memory in place: [data, data + bytes) must stay valid until release(user) is called (release may be
 * NULL when the caller keeps it valid longer than every value); that is when the last value and the last result over it
 * are gone, in whichever thread lets go of it, never while one is held; on failure the memory stays the caller's.
 * strides NULL: contiguous. With read_only nonzero nothing ever writes to the memory: a run that writes in place does
 * so on a copy of its own, which its other inputs over the same value share, and lists, tuples and dicts that hold such
 * a tensor are copied for the run. Otherwise writes are seen by the caller, as in PyTorch. One value may be an input of
 * several sessions at once, in several threads: as long as no model writes to it in place, or it is read-only. */
TAPER_API TAPER_MUST_USE taper_status taper_value_tensor_from(taper_context *context, taper_dtype dtype, size_t rank,
                                                              const int64_t *sizes, const int64_t *strides, void *data,
                                                              size_t bytes, int read_only, void (*release)(void *user),
                                                              void *user, taper_value **value, taper_error *error);
/* A quantized tensor over a copy of the integers in data (contiguous). dtype TAPER_QU8, TAPER_QI8 or TAPER_QI32. */
TAPER_API TAPER_MUST_USE taper_status taper_value_tensor_quantized(taper_context *context, taper_dtype dtype,
                                                                   size_t rank, const int64_t *sizes, const void *data,
                                                                   size_t bytes, double scale, int64_t zero_point,
                                                                   taper_value **value, taper_error *error);
/* A quantized tensor of a float one's elements, rounded as aten::quantize_per_tensor does it. */
TAPER_API TAPER_MUST_USE taper_status taper_value_quantize(taper_context *context, const taper_value *value,
                                                           taper_dtype dtype, double scale, int64_t zero_point,
                                                           taper_value **quantized, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_tensor(const taper_value *value, taper_tensor_info *out,
                                                             taper_error *error);
/* Before the caller writes to a tensor's data whose info says read_only: gives it bytes of its own, where they lie on
 * the model's (an attribute, a result that is one), which all tensors over the same storage in that session see, as
 * PyTorch would have it. Pointers from before stay valid for reading while the value is held; ask for the new one. Not
 * while the session runs. Fails for a constant input of the caller's. */
TAPER_API TAPER_MUST_USE taper_status taper_value_make_writable(taper_value *value, taper_error *error);
/* The value, a tensor or what holds some, on a device (as taper_load_options.device; a "!" at its end means nothing
 * here): *moved is a new reference, to the value itself where it is there already. In this version every device but
 * the "cpu" is TAPER_ERROR_UNSUPPORTED. A result that stays with a device (taper_session_options.results_stay) comes to
 * the host when it is looked at, not by this call. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_to_device(taper_value *value, const char *device,
                                                                               taper_value **moved, taper_error *error);

TAPER_API TAPER_MUST_USE taper_status taper_value_get_bool(const taper_value *value, int *flag, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_int(const taper_value *value, int64_t *number,
                                                          taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_double(const taper_value *value, double *number,
                                                             taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_complex(const taper_value *value, double *re, double *im,
                                                              taper_error *error);
/* Borrowed from the value; NUL-terminated. */
TAPER_API TAPER_MUST_USE taper_status taper_value_get_string(const taper_value *value, const char **text,
                                                             size_t *length, taper_error *error);

/* Containers. A list's element type is taken from a type string ("int", "Tensor", "Tuple[Tensor, int]"; NULL, or one
 * that names a class or named tuple: the items are checked when a method takes the list). Items are retained, not
 * copied. */
TAPER_API TAPER_MUST_USE taper_status taper_value_list(taper_context *context, const char *element_type,
                                                       taper_value *const *items, size_t count, taper_value **value,
                                                       taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_tuple(taper_context *context, taper_value *const *items, size_t count,
                                                        taper_value **value, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_dict(taper_context *context, const char *key_type,
                                                       const char *value_type, taper_value *const *keys,
                                                       taper_value *const *values, size_t count, taper_value **value,
                                                       taper_error *error);
/* Items of a list or tuple, pairs of a dict, attributes of an object. */
TAPER_API size_t taper_value_count(const taper_value *value);
/* Which object it is: the same pointer for all values that stand for one list, say, as long as one of them is held.
 * NULL for None and numbers. Parts of a value may be shared: who walks through them can tell what was met before. */
TAPER_API TAPER_EXPERIMENTAL const void *taper_value_identity(const taper_value *value);
/* A new reference each; a dict's and object's item is the value at that position (insertion order). */
TAPER_API TAPER_MUST_USE taper_status taper_value_item(const taper_value *value, size_t index, taper_value **item,
                                                       taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_key(const taper_value *value, size_t index, taper_value **key,
                                                      taper_error *error);
/* The name of field index of a named tuple or attribute index of an object; NULL for a plain tuple. */
TAPER_API const char *taper_value_field(const taper_value *value, size_t index);
/* The type as PyTorch prints it ("List[Tensor]", "__torch__.M"), written like snprintf; returns the full length, 0 when
 * there is not enough memory. */
TAPER_API size_t taper_value_type(const taper_value *value, char *text, size_t size);

/* ---- model ---------------------------------------------------------------------------------------------------- */

typedef struct taper_model taper_model;
struct taper_compiler;

typedef struct taper_load_options {
    size_t struct_size; /* sizeof(taper_load_options) */
    /* taper_compiler() of taper_compile.h: the model is optimized as it loads; NULL: runs as saved. */
    const struct taper_compiler *compiler;
    const char *disable_passes; /* names, comma-separated; NULL: none */
    int copy;                   /* 1: read the file into memory rather than map it (see SECURITY.md) */
    int reference;              /* 1: portable reference operators only: slow, for checking */
    /* 1: only to look at what the file holds. Operators that this build lacks are listed, not refused; objects are as
     * saved, without their __setstate__; the model makes no session. */
    int listing;
    /* Of a TorchScript model: the methods of its class to read, besides forward and those of bundled inputs; the others
     * are as if they were not there. Names that it does not have are passed over. NULL: all methods. */
    const char *const *methods;
    size_t method_count;
    /* 1: Module.eval() first: the attribute `training` of all modules becomes False, so that dropout and batch norm do
     * what they do in use. PyTorch Mobile's loaders for Android and iOS did so with TorchScript files. A draft is put
     * in this mode whenever it is optimized. */
    int evaluation;
    /* What the load may cost, whatever the file holds; of a draft, all that is done with it. Memory in bytes (the
     * file's own not counted), work in steps of a few nanoseconds: they are counted, not timed, so that a file loads on
     * every machine or on none. 0: 88 MB and 12 bytes for each byte of the file; 200 million steps and 400 for each
     * byte. A load that needs more ends in TAPER_ERROR_RESOURCE. */
    uint64_t memory_limit, step_limit;
    /* Where the model runs: NAME[:INDEX][!], NAME of small letters, digits and "_"; NULL: "cpu", or of a file that was
     * prepared for Vulkan or Metal, or converted for NNAPI, that device, where it is there. A device that this build or
     * machine does not have: the CPU runs the model, and the context's log says so in one line; with "!" the load ends
     * in TAPER_ERROR_UNSUPPORTED. Beside the CPU there is "nnapi", on Android: the first of its devices, accelerators
     * before GPUs before others; "nnapi:1" is the second, "nnapi:NAME" the one that Android calls so. What the device
     * does not do, does slower than the CPU in the first runs, or fails at, the CPU does, and the log says it
     * (TAPER_LOG_INFO); with "!" the device is kept to, and the run fails where it does. "vulkan" is the first GPU of
     * Vulkan, its own memory before shared; "vulkan:1" the second, "vulkan:NAME" one that has NAME in its name. A
     * driver that computes on the CPU is only taken by number or name. "metal" is the same on Apple's systems. */
    const char *device;
    /* "fp32" (NULL), "fp16" or "bf16". On the CPU, the dtype in which weights of 2-D convolutions, linear and recurrent
     * layers are kept and multiplied: half the memory, and faster if the CPU multiplies halves; what lies between
     * layers is fp32, and so is what other operators do (docs/numerics.md says all). vulkan and metal keep weights and
     * what lies between layers in fp16 and compute in fp32, nnapi computes as it sees fit; bf16 they refuse. */
    const char *precision;
    /* NAME=VALUE of the device's own options, with commas between; NULL: none. Of nnapi: preference=low_power,
     * fast_single_answer (the default) or sustained_speed; relax_f32_to_f16=1, to compute floats with less precision;
     * level=27 to 31, the Android version whose functions and operations are used at most. Of vulkan and metal, each 0
     * or 1: software (a driver that computes on the CPU will do), checks (results of a first run are held against the
     * CPU's; the default), half (as precision "fp16"), estimate (what seems slower than on the CPU is not tried),
     * background (the CPU does it while a thread makes pipelines; the default where a run's time is limited), times
     * (every tenth run tells the log what each dispatch took), texels, alias, tiles, share, teams, winograd (how the
     * device is used; each has its default). docs/gpu.md explains them. */
    const char *device_options;
    /* 1: layers are computed directly where a faster way needs more memory for its weights (Winograd's transforms of
     * 3x3 convolutions take 1.8 to 4 times as much as the weights themselves). Results differ by their rounding. */
    int low_memory;
    /* 1: of an exported program (.pt2): inputs are not checked against the sizes it was exported for, and its
     * assertions are left out. */
    int no_guards;
    /* 1: the checksums of all records of the file are compared first, of weights too, which are otherwise used where
     * they lie in the file. A file that carries none, a flatbuffer, is refused with TAPER_ERROR_UNSUPPORTED. */
    int verify;
    /* With device NULL: which of "vulkan", "metal" and "nnapi" a file may choose by what it was prepared for, with
     * commas between. NULL: each of them; "": none, the CPU runs the file. */
    const char *file_devices;
} taper_load_options;

/* options NULL: all 0. The model runs as it was saved, then, not optimized: taper_model_open of taper_app.h does that,
 * or taper_load_options.compiler. So it is with the functions below. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_model **model,
                                                       taper_error *error);
/* The bytes must stay valid and unchanged until release(user) is called: when the model and every value that stands on
 * them are gone, in whichever thread lets go of the last. release may be NULL where the caller keeps them for longer.
 * On failure they stay the caller's and release is not called. Taper never writes to them. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load_memory(taper_context *context, const void *bytes, size_t size,
                                                              void (*release)(void *user), void *user,
                                                              const taper_load_options *options, taper_model **model,
                                                              taper_error *error);
/* A part of an open file, as Android hands out assets. The descriptor is not kept. length 0: to the end. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load_fd(taper_context *context, int fd, uint64_t offset,
                                                          uint64_t length, const taper_load_options *options,
                                                          taper_model **model, taper_error *error);
/* read(user, offset, buffer, size) fills all of buffer and returns 0, or anything else on failure. Called only
 * during the load. */
typedef int (*taper_read_function)(void *user, uint64_t offset, void *buffer, size_t size);
TAPER_API TAPER_MUST_USE taper_status taper_model_load_callback(taper_context *context, taper_read_function read,
                                                                void *user, uint64_t size,
                                                                const taper_load_options *options, taper_model **model,
                                                                taper_error *error);
TAPER_API void taper_model_release(taper_model *model);

TAPER_API int64_t taper_model_bytecode_version(const taper_model *model); /* 0: a TorchScript file (.pt) */
TAPER_API int64_t taper_model_operator_version(const taper_model *model);
TAPER_API const char *taper_model_name(const taper_model *model); /* the root class, "__torch__.Net" */
/* Where it runs: "cpu", or the device that was asked for or that the file was prepared for, as far as it is there. */
TAPER_API const char *taper_model_device(const taper_model *model);
/* 1: saved in training mode, and not loaded with taper_load_options.evaluation: the root's `training` is True. */
TAPER_API int taper_model_is_training(const taper_model *model);
/* 1: in some operator of the loaded program training makes a difference, and is not off: dropout drops, batch norm
 * takes the statistics of the batch. Where it is 0, a model that was saved in training mode gives what it gives in the
 * other. */
TAPER_API int taper_model_trains(const taper_model *model);

TAPER_API size_t taper_model_method_count(const taper_model *model);
TAPER_API const char *taper_model_method_name(const taper_model *model, size_t index);
/* Arguments of a method without self; -1 when the file carries no schema (bytecode 3 and 4). */
TAPER_API int taper_model_method_arguments(const taper_model *model, const char *method);
/* Those of them that have no default value; -1 as well. */
TAPER_API int taper_model_method_required(const taper_model *model, const char *method);
/* NULL when there is no such method, argument or schema. Borrowed from the model. */
TAPER_API const char *taper_model_argument_name(const taper_model *model, const char *method, size_t index);
TAPER_API const char *taper_model_argument_type(const taper_model *model, const char *method, size_t index);
TAPER_API const char *taper_model_return_type(const taper_model *model, const char *method);

/* Files saved beside the model with _extra_files. data is borrowed from the model. */
/* The PyTorch that exported the program ("2.8.0"), "" where the file does not say; NULL: it is no exported program. */
TAPER_API const char *taper_model_exported_by(const taper_model *model);
TAPER_API size_t taper_model_extra_count(const taper_model *model);
TAPER_API const char *taper_model_extra_name(const taper_model *model, size_t index);
TAPER_API TAPER_MUST_USE taper_status taper_model_extra(taper_model *model, const char *name, const void **data,
                                                        size_t *size, taper_error *error);

/* Names of the operators that the model calls ("aten::add.Tensor"), sorted; among them the classes of torch.classes
 * that it names and this build lacks ("__torch__.torch.classes.my_ext.Options"). Borrowed. */
TAPER_API size_t taper_model_operator_count(const taper_model *model);
TAPER_API const char *taper_model_operator_name(const taper_model *model, size_t index);
TAPER_API size_t taper_model_operator_calls(const taper_model *model,
                                            size_t index); /* places in the code that call it */
TAPER_API int taper_model_operator_missing(const taper_model *model,
                                           size_t index); /* 1: called, and not in this build */

/* ---- session ---------------------------------------------------------------------------------------------------- */

typedef struct taper_session taper_session;

typedef struct taper_session_options {
    size_t struct_size;          /* sizeof(taper_session_options) */
    uint64_t instruction_budget; /* executed instructions per run; 0: no limit */
    double time_budget;          /* seconds per run, checked between operators; 0: no limit */
    size_t memory_budget;        /* bytes of values alive at once; 0: no limit */
    /* 1: tensors that a device made and a run returns stay there until the host looks at them, so that a run that is
     * given them takes them from there: the state of a recurrent model, for one. Until then such a value is the
     * session's: it is looked at, or given to another session, by one thread at a time, and not while the session
     * runs. 0: all results are the host's, and any threads'. */
    int results_stay;
} taper_session_options;

TAPER_API TAPER_MUST_USE taper_status taper_session_create(taper_model *model, const taper_session_options *options,
                                                           taper_session **session, taper_error *error);

/* A session runs one call at a time. A callback of the host (an operator that it registered, a log, an observer, a
 * release function, a thread pool) may run within a call of a session. If the callback calls the same session,
 * functions that return a taper_status fail with TAPER_ERROR_ARGUMENT and change nothing: taper_session_run,
 * taper_session_attribute, taper_profile_set and all others that take the session. Functions without a status say below
 * what they do then. The callback may use other sessions, of the same model too. Threads must still take turns: a call
 * from another thread is not always noticed. */

/* Within a call of the session it returns at once, and the session is destroyed when that call ends. The call's result
 * is the caller's all the same. The session must not be used after this function was called. */
TAPER_API void taper_session_destroy(taper_session *session);

/* method NULL: "forward". Missing trailing inputs take the method's defaults. A session's first run plans its memory;
 * of a model, the first one packs weights for each layer in turn, so that its results are there soon, the second one
 * keeps them, which takes longer than the runs to come. */
TAPER_API TAPER_MUST_USE taper_status taper_session_run(taper_session *session, const char *method,
                                                        taper_value *const *inputs, size_t count, taper_value **result,
                                                        taper_error *error);
/* From any thread, and from callbacks: the run in progress (or the next one) stops with TAPER_ERROR_CANCELLED. */
TAPER_API void taper_session_cancel(taper_session *session);
/* Attribute of the root object, dotted for submodules ("layer1.0.weight"). */
TAPER_API TAPER_MUST_USE taper_status taper_session_attribute(taper_session *session, const char *path,
                                                              taper_value **value, taper_error *error);
/* Gives cached memory back to the allocator. Within a call of the session it returns at once, and the memory is given
 * back when that call ends. */
TAPER_API void taper_session_trim(taper_session *session);
/* torch.manual_seed. Within a run, what follows in the run draws from the new seed. */
TAPER_API void taper_session_seed(taper_session *session, uint64_t seed);

typedef struct taper_memory_info {
    size_t struct_size;       /* sizeof(taper_memory_info) */
    uint64_t allocator_calls; /* of the last run */
    size_t arena_bytes;       /* planned activations */
    size_t pool_bytes;        /* blocks kept for reuse, those in use included */
    size_t packed_bytes;      /* packed weights of the model */
    uint64_t banded_calls; /* of the last run: operators that were computed some rows at a time, one behind the other,
                              so that what lies between them stays in the cache */
} taper_memory_info;
/* Within a run: what holds at that moment; the figures of the last run are those of the one before. */
TAPER_API void taper_session_memory(taper_session *session, taper_memory_info *info);

#ifdef __cplusplus
}
#endif
#endif
