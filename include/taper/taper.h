/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Taper runs PyTorch Mobile's model files. A program that runs a model needs only this header. Its functions load a
 * model, call the model's methods with values, and read the returned values. The usual way to load is taper_model_open
 * of taper_compile.h, which also optimizes the model.
 *
 * Conventions
 * - "The program" is the code that calls Taper. A callback is a function of the program that Taper calls. "CPU memory"
 *   is the memory that the CPU addresses, as opposed to the memory of a device.
 * - A function that can fail returns a taper_status and takes an optional taper_error; NULL is a valid taper_error.
 * - Objects are opaque. A function that makes an object returns one reference to it through an output pointer. The
 *   caller drops the reference with the release function of that type.
 * - An error and a session have no count of references: destroy frees them. Release and destroy functions accept NULL.
 *   For any other pointer NULL is a TAPER_ERROR_ARGUMENT, unless the comment allows NULL. Empty arrays may be NULL.
 * - Memory that an object owns is valid and unchanged until the object is released, unless the comment says otherwise.
 *   The program must not free it.
 * - A function that fails holds no reference to its arguments. It sets outputs that are pointers to objects to NULL;
 *   its other outputs are undefined. The comments state exceptions.
 * - A function that takes values or text reads them during the call only, unless it says that it holds them.
 * - Sizes and strides of tensors are counted in elements, storages in bytes. Dimensions are in PyTorch's order.
 * - Several threads may use one context or one model at the same time. Only one thread at a time may use a session or
 *   an error. The exception is taper_session_cancel, which any thread may call at any time.
 * - Any thread may retain and release a value. Several threads may read one value at the same time unless a run
 *   changes it. Attributes of a session and results that stay with a device are different; see the section "sessions".
 * - A callback must not use the first argument of the call in progress. The section "sessions" has exceptions.
 * - An allocator must call no function of this library except taper_session_cancel and taper_session_trim.
 *
 * Versions
 * - Until 1.0 a minor version may change anything, and the soname of the library contains that version:
 *   libtaper.so.0.2. From 1.0 on all that is not marked TAPER_EXPERIMENTAL stays as it is.
 * - A struct that begins with struct_size grows at its end only. The program sets struct_size to sizeof the struct; 0
 *   is an error. If struct_size is larger than the library knows, the library ignores the members at the end. If
 *   struct_size is smaller, the library takes 0 for the missing members, and never writes beyond struct_size bytes. The
 *   value 0 of a member selects what the library did before it had the member.
 * - A struct without struct_size never changes. An enum may get more values.
 * - A function that does not work yet fails with TAPER_ERROR_UNSUPPORTED. The message says what to do instead.
 * - A library that was built without some parts may lack functions. A program that calls one of them does not link.
 */
#ifndef TAPER_TAPER_H
#define TAPER_TAPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program that uses Taper as a DLL of Windows defines TAPER_SHARED. The build of the DLL defines the macro itself. */
#if defined(TAPER_SHARED) && defined(_WIN32)
#define TAPER_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(TAPER_API)
#define TAPER_API __attribute__((visibility("default")))
#elif !defined(TAPER_API)
#define TAPER_API
#endif

#if defined(__GNUC__)
#define TAPER_MUST_USE __attribute__((warn_unused_result))
#else
#define TAPER_MUST_USE
#endif

/* Marks what may change in any minor version, also after 1.0. With this compiler option the compiler warns of each use:
 *   -D'TAPER_EXPERIMENTAL=__attribute__((deprecated("experimental")))' */
#ifndef TAPER_EXPERIMENTAL
#define TAPER_EXPERIMENTAL
#endif

/* Marks a name of the previous release. The next release removes it. */
#if defined(__GNUC__)
#define TAPER_DEPRECATED(instead) __attribute__((deprecated(instead)))
#elif defined(_MSC_VER)
#define TAPER_DEPRECATED(instead) __declspec(deprecated(instead))
#else
#define TAPER_DEPRECATED(instead)
#endif

#define TAPER_VERSION_MAJOR 0
#define TAPER_VERSION_MINOR 2
#define TAPER_VERSION_PATCH 0

/* Returns the version of the library as static text, for example "0.2.0". */
TAPER_API const char *taper_version(void);

/* ---- status and errors ------------------------------------------------------------------------------------- */
typedef enum taper_status {
    TAPER_OK = 0,
    TAPER_ERROR_ARGUMENT = 1, /* an argument is wrong; the message names the argument */
    TAPER_ERROR_FILE = 2,     /* the model file is damaged, is no model, or could not be read */
    /* The file or request is valid, but this build or version does not support it. The message says what to do. */
    TAPER_ERROR_UNSUPPORTED = 3,
    TAPER_ERROR_RESOURCE = 4,  /* memory, a limit or a budget is used up */
    TAPER_ERROR_DEVICE = 5,    /* an accelerator failed */
    TAPER_ERROR_RAISED = 6,    /* the model raised an exception; the message is the text of the exception */
    TAPER_ERROR_CANCELLED = 7, /* taper_session_cancel was called */
    TAPER_ERROR_INTERNAL = 8   /* a bug in Taper */
} taper_status;

/* Describes a failure: the status, a message of one line, a detail of several lines, and the byte offset of the error
 * in the file. The detail lists, for example, all missing operators, or the modules in which an exception was raised.
 * The caller owns the error and may pass it to any number of calls, one thread at a time. A call that fails replaces
 * its contents. A call that succeeds does not clear them: test the status that the call returns. */
typedef struct taper_error taper_error;
/* Returns a new error from malloc, or NULL if memory is exhausted. Every function accepts NULL as its error. */
TAPER_API taper_error *taper_error_create(void);
TAPER_API void taper_error_destroy(taper_error *error);
/* Returns the status of the last call that failed with this error, or TAPER_OK if no call failed or error is NULL. */
TAPER_API taper_status taper_error_status(const taper_error *error);
/* Returns the message, or "" if no call has failed with this error, or if error is NULL. The text is valid until the
 * error is destroyed or passed to a function that can fail. */
TAPER_API const char *taper_error_message(const taper_error *error);
/* Returns the detail, or "" if the error has none. The text is valid as long as the message is. */
TAPER_API const char *taper_error_detail(const taper_error *error);
/* Returns the byte offset in the model file at which the error was found, or -1 if it is not known. */
TAPER_API int64_t taper_error_offset(const taper_error *error);

/* ---- contexts ----------------------------------------------------------------------------------------------- */
/* Provides the memory of a context and of all objects made with it. Errors and texts of messages come from malloc.
 * If ptr is NULL, reallocate returns new_size bytes; old_size is 0. If new_size is 0, it frees ptr and returns NULL.
 * Otherwise it changes the size of ptr from old_size to new_size bytes, keeps the contents and returns the new
 * address. old_size is always the exact size of ptr. The returned memory is aligned for every C type.
 * If reallocate cannot provide the memory, it returns NULL, and ptr stays valid.
 * Taper may call reallocate from any thread, and from several threads at once. user must stay valid until the context
 * and all objects made with it are released: models, sessions, values, drafts and so on. Taper's own threads have ended
 * when the last release returns.
 * taper_context_create fails with TAPER_ERROR_ARGUMENT if reallocate is NULL. */
typedef struct taper_allocator {
    void *user; /* passed to reallocate */
    void *(*reallocate)(void *user, void *ptr, size_t old_size, size_t new_size);
} taper_allocator;

/* Provides threads.
 * thread_count returns the number of threads that `run` uses, the thread that calls `run` included. Taper calls it
 * once, in taper_context_create, and uses at most 1024 threads.
 * `run` calls task(argument, i) once for every i in [0, count), in any order and on any threads. It returns when all
 * these calls have returned. A context calls `run` only after its previous call of `run` has returned. If a session
 * finds the pool in use, it computes in the thread that called the session. If contexts share a pool, their calls of
 * `run` may overlap. user must stay valid for as long as taper_allocator.user.
 * taper_context_create fails with TAPER_ERROR_ARGUMENT if a callback is NULL. */
typedef struct taper_thread_pool {
    void *user; /* passed to both callbacks */
    size_t (*thread_count)(void *user);
    void (*run)(void *user, void (*task)(void *argument, size_t index), void *argument, size_t count);
} taper_thread_pool;

typedef enum taper_log_level {
    TAPER_LOG_PRINT = 0,   /* text of the model's print() */
    TAPER_LOG_WARNING = 1, /* text of the model's warnings.warn(), and warnings of Taper itself */
    TAPER_LOG_INFO = 2     /* remarks for developers: what runs where, and why */
} taper_log_level;

/* Receives `length` bytes of text, which may contain zero bytes and are valid only during the call. A line ends with a
 * newline and may come in several calls. Several threads, also Taper's own, may call this function at once. */
typedef void (*taper_log_function)(void *user, taper_log_level level, const char *text, size_t length);

typedef struct taper_context_options {
    size_t struct_size;               /* sizeof(taper_context_options) */
    const taper_allocator *allocator; /* allocator of the context; Taper copies the struct. NULL: malloc */
    const taper_thread_pool *pool;    /* threads of the context; Taper copies the struct. NULL: a pool of Taper's own */
    /* Number of threads of Taper's own pool, including the calling thread; at most 1024 are used. 0: the smaller of two
     * numbers: the big physical cores in the process's affinity, and the CPU quota (control groups) rounded up. */
    unsigned threads;
    taper_log_function log; /* receiver of the log. NULL: print() goes to stdout, other texts to stderr */
    void *log_user;         /* passed to log; must stay valid for as long as taper_allocator.user */
    uint64_t cpu_mask;      /* instruction sets that may be used, TAPER_CPU_ bits; 0: all that the CPU has */
    /* Path of a directory that only this program uses, in any number of its processes. Taper copies the path. NULL:
     * Taper writes no files. taper_context_create fails with TAPER_ERROR_ARGUMENT if there is no such directory.
     * Taper keeps things there that take long to make, for later processes. These are packed weights, compiled
     * networks of NNAPI's drivers, and measurements and compiled shaders of GPUs.
     * Taper writes two files for each model. taper-….packs holds packed weights and is about as large as the model.
     * taper-….checked is small and lists the packed weights whose checksums were right. A background thread writes
     * both after the first runs. Android chooses the names of the files that NNAPI's drivers write.
     * All files may be deleted at any time. Taper reads only files of the process's own user. */
    const char *cache_dir;
} taper_context_options;

/* Bits of cpu_mask. TAPER_CPU_NONE adds nothing to other bits; alone it allows only the portable kernels. */
#define TAPER_CPU_NONE (UINT64_C(1) << 63)
#define TAPER_CPU_AVX2 (UINT64_C(1) << 0)   /* with FMA and F16C */
#define TAPER_CPU_AVX512 (UINT64_C(1) << 1) /* the parts F, BW, DQ and VL of AVX-512 */
#define TAPER_CPU_AVX512VNNI (UINT64_C(1) << 2)
#define TAPER_CPU_AVX512BF16 (UINT64_C(1) << 3)
#define TAPER_CPU_AMX (UINT64_C(1) << 4) /* AMX-TILE, AMX-INT8 and AMX-BF16 */
#define TAPER_CPU_NEON (UINT64_C(1) << 16)
#define TAPER_CPU_NEON_DOT (UINT64_C(1) << 17)
#define TAPER_CPU_NEON_FP16 (UINT64_C(1) << 18)
#define TAPER_CPU_NEON_I8MM (UINT64_C(1) << 19)
#define TAPER_CPU_NEON_BF16 (UINT64_C(1) << 20)

/* A context has the allocator, threads, log and devices of models, sessions and values. Most programs need one. */
typedef struct taper_context taper_context;
/* Creates a context. options NULL means all members 0. */
TAPER_API TAPER_MUST_USE taper_status taper_context_create(const taper_context_options *options,
                                                           taper_context **context, taper_error *error);
/* Releases the program's reference. Models, sessions and values keep the parts of the context that they use. */
TAPER_API void taper_context_release(taper_context *context);
/* Returns the number of threads that a run may use, or 0 if context is NULL. */
TAPER_API unsigned taper_context_threads(const taper_context *context);
/* Sets the number of threads of Taper's own pool; 0 means the default. Numbers above the maximum count as the maximum:
 * 64, or the number at creation if that was larger. Any thread may call this function; runs in progress then use the
 * new number. Results do not depend on the number. The function has no effect on a pool that the program provides. */
TAPER_API void taper_context_set_threads(taper_context *context, unsigned threads);
/* Changes taper_context_options.cache_dir for models that are loaded, and devices that are first used, after this
 * call. Taper copies the path. NULL turns the cache off. The function fails with TAPER_ERROR_ARGUMENT if path is no
 * directory; then the former directory stays in use. Any thread may call this function. */
TAPER_API TAPER_MUST_USE taper_status taper_context_set_cache_dir(taper_context *context, const char *path,
                                                                  taper_error *error);
/* Returns the instruction sets that the context uses, as bits of cpu_mask, without TAPER_CPU_NONE. */
TAPER_API uint64_t taper_context_cpu_features(const taper_context *context);

/* Lists the instruction sets that this CPU has and for which this build has kernels. Returns the name of set `index`,
 * "avx2" for example, as static text. Returns NULL past the last set. "scalar" means only the portable kernels. If mask
 * is not NULL, *mask becomes the cpu_mask of this set and of the sets that it needs. Masks may be joined by |. */
TAPER_API const char *taper_instruction_set(size_t index, uint64_t *mask);
/* Deprecated name of taper_instruction_set, from version 0.1. */
TAPER_DEPRECATED("call taper_instruction_set") static inline const char *taper_cpu_set(size_t index, uint64_t *mask)
{
    return taper_instruction_set(index, mask);
}

/* ---- devices ------------------------------------------------------------------------------------------------ */
/* A kind of device. A model file may name any kind. A build supports some kinds, and a machine has devices of some
 * kinds; taper_device.h lists these devices. No build supports CUDA and MPS. */
typedef enum taper_device_kind {
    TAPER_DEVICE_CPU = 1,
    TAPER_DEVICE_NNAPI = 2,
    TAPER_DEVICE_VULKAN = 3,
    TAPER_DEVICE_METAL = 4,
    TAPER_DEVICE_CUDA = 5,
    TAPER_DEVICE_MPS = 6
} taper_device_kind;

/* The bit that stands for `kind` in a set of kinds, such as taper_load_options.barred_devices. */
#define TAPER_DEVICE_BIT(kind) (UINT32_C(1) << (kind))

/* Chooses a device. taper_device_parse (taper_device.h) makes a choice from text such as "vulkan:1". */
typedef struct taper_device_choice {
    size_t struct_size; /* sizeof(taper_device_choice) */
    taper_device_kind kind;
    /* Number of the device among the devices of its kind, from 0.
     * NNAPI: accelerators come first, then GPUs, then other devices, then CPUs.
     * Vulkan: GPUs with memory of their own come first. Drivers that compute on the CPU come last. If only such a
     * driver exists, number 0 is absent unless the option TAPER_GPU_SOFTWARE is 1.
     * Metal: devices have the order of the system. */
    unsigned index;
    /* 1: the load fails with TAPER_ERROR_UNSUPPORTED if the device is absent or can compute no part of the model. A run
     * fails if the device cannot compute a part that was assigned to it at load. 0: in these cases the CPU computes
     * instead, and the log says so. */
    int required;
    /* The system's name of the device. If it is not "", it chooses the device, and index is ignored. For a GPU a part
     * of the name is enough, in small or capital letters. For NNAPI it must be the whole name. */
    char name[128];
} taper_device_choice;

/* An option of a device. taper_device_option (taper_device.h) describes each option: its values, its default and what
 * it does. An option for which the program gives no value has its default. */
typedef enum taper_option {
    TAPER_NNAPI_PREFERENCE = 1,       /* preference that NNAPI's drivers get; a taper_nnapi_preference */
    TAPER_NNAPI_RELAX_F32_TO_F16 = 2, /* 1: NNAPI's drivers may compute float32 with the precision of float16 */
    TAPER_NNAPI_LEVEL = 3,            /* newest Android API level whose functions are used, 27 to 31 */
    TAPER_GPU_SOFTWARE = 16,          /* 1: a driver that computes on the CPU is used if there is no other driver */
    TAPER_GPU_CHECKS = 17,            /* 1: the results of the first run are compared with the CPU's */
    TAPER_GPU_HALF = 18,              /* 1: weights and intermediate tensors are stored as float16 */
    TAPER_GPU_ESTIMATE = 19,   /* 1: the GPU does not try parts that are estimated to be slower than on the CPU */
    TAPER_GPU_BACKGROUND = 20, /* 1: a thread makes pipelines, and the CPU computes until they are ready */
    TAPER_GPU_TIMES = 21,      /* 1: every tenth run logs the time of each GPU dispatch */
    TAPER_GPU_TEXELS = 22,     /* 1: shaders read texel buffers instead of storage buffers */
    TAPER_GPU_ALIAS = 23,      /* 1: intermediate tensors of a run share memory on the GPU */
    TAPER_GPU_TILES = 24,      /* 1: each thread of a GPU kernel computes a large tile of results */
    TAPER_GPU_SHARE = 25,      /* 1: the threads of a GPU subgroup load weights for each other */
    TAPER_GPU_TEAMS = 26,      /* 1: several threads compute one result together if a layer has few results */
    TAPER_GPU_WINOGRAD = 27    /* 1: 3x3 convolutions on the GPU use Winograd's transforms */
} taper_option;
typedef struct taper_device_setting {
    taper_option option;
    int64_t value; /* value of the option; for a flag 0 or 1 */
} taper_device_setting;

/* The execution preference that Taper passes to NNAPI's drivers. */
typedef enum taper_nnapi_preference {
    /* Taper chooses: FAST_SINGLE_ANSWER for runs, SUSTAINED_SPEED in files that taper_draft_optimize converts. */
    TAPER_NNAPI_DEFAULT = 0,
    TAPER_NNAPI_LOW_POWER = 1,
    TAPER_NNAPI_FAST_SINGLE_ANSWER = 2,
    TAPER_NNAPI_SUSTAINED_SPEED = 3
} taper_nnapi_preference;

/* The dtype in which weights of convolutions, linear layers and recurrent layers are stored and multiplied. */
typedef enum taper_precision {
    TAPER_PRECISION_FP32 = 0,
    TAPER_PRECISION_FP16 = 1,
    TAPER_PRECISION_BF16 = 2
} taper_precision;

/* ---- values -------------------------------------------------------------------------------------------------- */
/* The dtype of an element. Each dtype, also a future one, has its number in PyTorch's c10/core/ScalarType.h. */
typedef enum taper_dtype {
    TAPER_U8 = 0,
    TAPER_I8 = 1,
    TAPER_I16 = 2,
    TAPER_I32 = 3,
    TAPER_I64 = 4,
    TAPER_F16 = 5,
    TAPER_F32 = 6,
    TAPER_F64 = 7,
    TAPER_C32 = 8,   /* complex32: two halves */
    TAPER_C64 = 9,   /* complex64: two floats */
    TAPER_C128 = 10, /* complex128: two doubles */
    TAPER_BOOL = 11,
    TAPER_QI8 = 12,  /* qint8 */
    TAPER_QU8 = 13,  /* quint8 */
    TAPER_QI32 = 14, /* qint32 */
    TAPER_BF16 = 15,
    TAPER_QU4X2 = 16, /* quint4x2: two elements of 4 bits in a byte */
    TAPER_QU2X4 = 17  /* quint2x4: four elements of 2 bits in a byte */
} taper_dtype;

/* Returns the bytes of one element. Returns 0 if the dtype is not known or an element is smaller than a byte. */
TAPER_API size_t taper_dtype_size(taper_dtype dtype);
/* Returns PyTorch's name of the dtype, for example "float32", or "unknown dtype". The text is static. */
TAPER_API const char *taper_dtype_name(taper_dtype dtype);
/* The largest number of dimensions of a tensor. A later version may increase it; no struct depends on it. */
#define TAPER_MAX_RANK 16

typedef enum taper_kind {
    TAPER_KIND_NONE = 0,
    TAPER_KIND_BOOL,
    TAPER_KIND_INT,
    TAPER_KIND_DOUBLE, /* a Python float */
    TAPER_KIND_COMPLEX,
    TAPER_KIND_DEVICE, /* a torch.device */
    TAPER_KIND_STRING,
    TAPER_KIND_TENSOR,
    TAPER_KIND_LIST,
    TAPER_KIND_TUPLE,
    TAPER_KIND_DICT,
    TAPER_KIND_OBJECT, /* an instance of a class, for example a module */
    TAPER_KIND_OTHER   /* any other value, for example a torch.Generator */
} taper_kind;

/* A reference-counted handle to a value: None, a number, a string, a tensor, a list, a tuple, a dict or an object.
 * Several handles may refer to the same tensor, list, dict or object. A change through one of these handles is visible
 * through all of them. Numbers and strings never change. Use a value only together with models, sessions and values of
 * the same context. Taper does not check this. */
typedef struct taper_value taper_value;
TAPER_API void taper_value_release(taper_value *value);
/* Adds a reference and returns value. Returns NULL if value is NULL. */
TAPER_API taper_value *taper_value_retain(taper_value *value);
/* Returns the kind of the value, or TAPER_KIND_NONE if value is NULL. */
TAPER_API taper_kind taper_value_kind(const taper_value *value);

/* Each of these functions makes a value. *value is a new reference. */
TAPER_API TAPER_MUST_USE taper_status taper_value_none(taper_context *context, taper_value **value, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_bool(taper_context *context, int flag, taper_value **value,
                                                       taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_int(taper_context *context, int64_t number, taper_value **value,
                                                      taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_double(taper_context *context, double number, taper_value **value,
                                                         taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_complex(taper_context *context, double re, double im,
                                                          taper_value **value, taper_error *error);
/* Makes a string from a copy of `length` bytes of text: UTF-8, which is not checked. Zero bytes are allowed. */
TAPER_API TAPER_MUST_USE taper_status taper_value_string(taper_context *context, const char *text, size_t length,
                                                         taper_value **value, taper_error *error);

/* Makes a contiguous tensor in memory that the value owns. The elements are not initialized. The function fails with
 * TAPER_ERROR_ARGUMENT if the dtype is quantized or not known, or a size is negative. It fails with
 * TAPER_ERROR_UNSUPPORTED if rank is above TAPER_MAX_RANK. */
TAPER_API TAPER_MUST_USE taper_status taper_value_tensor(taper_context *context, taper_dtype dtype, size_t rank,
                                                         const int64_t *sizes, taper_value **value, taper_error *error);

/* Describes a tensor. The pointers are valid as long as the program holds the value. The exception is a run that
 * resizes the tensor in place or gives it other memory. After such a run, data is no longer valid, and sizes and
 * strides point to the new numbers. Call taper_value_get_tensor again then. */
typedef struct taper_tensor_info {
    size_t struct_size;     /* sizeof(taper_tensor_info) */
    taper_dtype dtype;      /* dtype of an element */
    size_t rank;            /* number of dimensions */
    const int64_t *sizes;   /* array of `rank` sizes, in elements */
    const int64_t *strides; /* array of `rank` strides, in elements */
    void *data;             /* address of element [0, 0, …] */
    size_t bytes;           /* number of bytes from data to the end of the tensor's storage */
    int quantized;      /* 0: not quantized; 1: one scale; 2: one scale for each channel, which no function returns */
    double scale;       /* scale of the tensor if quantized is 1 */
    int64_t zero_point; /* zero point of the tensor if quantized is 1 */
    int read_only;      /* 1: the program must not write to data; see taper_value_make_writable */
    int requires_grad;  /* 1: a gradient for the tensor may be asked for (taper_gradient.h) */
} taper_tensor_info;

/* Makes a tensor that uses the program's memory [data, data + bytes). strides NULL means contiguous.
 * The memory must stay valid until Taper calls release(user). Taper calls it when the last value or result that uses
 * the memory is released, in the thread that releases it. If release is NULL, the program keeps the memory valid until
 * then. If the function fails, Taper does not call release.
 * read_only 1: nothing ever writes to the memory. If a run writes to the tensor in place, it writes to a copy. If the
 * value occurs several times among the inputs of the run, all occurrences use the same copy. The run also uses copies
 * of lists, tuples and dicts that contain the tensor.
 * read_only 0: the program sees what the model writes, as in PyTorch.
 * Several sessions in several threads may have one value as input at once if it is read-only or no model writes to it.
 * data must be aligned to the size of an element, or to 8 bytes if an element is larger. The function fails with
 * TAPER_ERROR_ARGUMENT if data is not aligned, an element would be outside the memory, or the dtype is quantized. */
TAPER_API TAPER_MUST_USE taper_status taper_value_tensor_from(taper_context *context, taper_dtype dtype, size_t rank,
                                                              const int64_t *sizes, const int64_t *strides, void *data,
                                                              size_t bytes, int read_only, void (*release)(void *user),
                                                              void *user, taper_value **value, taper_error *error);
/* Makes a contiguous quantized tensor from integers: the function copies data. bytes must be the size of all elements.
 * dtype is TAPER_QU8, TAPER_QI8 or TAPER_QI32. */
TAPER_API TAPER_MUST_USE taper_status taper_value_tensor_quantized(taper_context *context, taper_dtype dtype,
                                                                   size_t rank, const int64_t *sizes, const void *data,
                                                                   size_t bytes, double scale, int64_t zero_point,
                                                                   taper_value **value, taper_error *error);
/* Makes a quantized tensor from a float tensor. The elements are rounded as aten::quantize_per_tensor rounds them.
 * *quantized is a new reference. The function fails with TAPER_ERROR_UNSUPPORTED if this build lacks that operator. */
TAPER_API TAPER_MUST_USE taper_status taper_value_quantize(taper_context *context, const taper_value *value,
                                                           taper_dtype dtype, double scale, int64_t zero_point,
                                                           taper_value **quantized, taper_error *error);
/* Fills *out; set out->struct_size first. The function fails with TAPER_ERROR_ARGUMENT if value is no tensor. */
TAPER_API TAPER_MUST_USE taper_status taper_value_get_tensor(const taper_value *value, taper_tensor_info *out,
                                                             taper_error *error);
/* Makes the data of a tensor writable. Call this function before you write to a tensor whose info has read_only 1.
 * If the memory belongs to the model (the tensor is an attribute, or a result that is an attribute), the tensor gets a
 * copy of its own. All tensors of the session that share its storage then use the copy, as in PyTorch. Earlier pointers
 * stay valid for reading as long as the value; taper_value_get_tensor returns the new pointers. The session that the
 * tensor comes from must not be running.
 * A writable tensor stays as it is. The call fails with TAPER_ERROR_ARGUMENT for a tensor made with read_only 1. */
TAPER_API TAPER_MUST_USE taper_status taper_value_make_writable(taper_value *value, taper_error *error);
/* Moves a tensor, or a value that contains tensors, to a device. *moved is a new reference. If the value is on the
 * device already, *moved is the value itself. device->required is ignored.
 * In this version the function fails with TAPER_ERROR_UNSUPPORTED for every device except the CPU. For the CPU it
 * copies nothing, also if a result stays with a device (taper_session_options.results_stay). */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_to_device(taper_value *value,
                                                                               const taper_device_choice *device,
                                                                               taper_value **moved, taper_error *error);

/* Each of these functions reads a value. It fails with TAPER_ERROR_ARGUMENT if the value has another kind. */
TAPER_API TAPER_MUST_USE taper_status taper_value_get_bool(const taper_value *value, int *flag, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_int(const taper_value *value, int64_t *number,
                                                          taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_double(const taper_value *value, double *number,
                                                             taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_get_complex(const taper_value *value, double *re, double *im,
                                                              taper_error *error);
/* Sets *text to a string's text, which the value owns, and *length to its bytes without the final zero byte. */
TAPER_API TAPER_MUST_USE taper_status taper_value_get_string(const taper_value *value, const char **text,
                                                             size_t *length, taper_error *error);

/* Each of these functions makes a container. *value is a new reference. The container holds references to its items
 * and does not copy them. An item must not be NULL.
 * element_type is the type of a list's items as TorchScript writes it, "Tensor" or "Tuple[Tensor, int]" for example.
 * The function fails with TAPER_ERROR_ARGUMENT if an item has another type. The items are not checked if element_type
 * is NULL, or contains Any, a class or a named tuple. Then they are checked when a method receives the list. key_type
 * and value_type of a dict work in the same way. If a dict is given two equal keys, the last value counts. */
TAPER_API TAPER_MUST_USE taper_status taper_value_list(taper_context *context, const char *element_type,
                                                       taper_value *const *items, size_t count, taper_value **value,
                                                       taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_tuple(taper_context *context, taper_value *const *items, size_t count,
                                                        taper_value **value, taper_error *error);
TAPER_API TAPER_MUST_USE taper_status taper_value_dict(taper_context *context, const char *key_type,
                                                       const char *value_type, taper_value *const *keys,
                                                       taper_value *const *values, size_t count, taper_value **value,
                                                       taper_error *error);
/* Returns the number of items of a list or tuple, of pairs of a dict, or of attributes of an object; otherwise 0. */
TAPER_API size_t taper_value_count(const taper_value *value);
/* Returns an address that identifies the tensor, list, tuple, dict, object, string or TAPER_KIND_OTHER to which the
 * value refers. Values that refer to the same object have the same address while one of them exists. Returns NULL for
 * None, bools, numbers and devices. If an object occurs twice in a value, both occurrences have the same address. */
TAPER_API TAPER_EXPERIMENTAL const void *taper_value_identity(const taper_value *value);
/* Gets item `index`; *item is a new reference. The items of a dict or object are its values, in the order in which
 * they were inserted. The function fails with TAPER_ERROR_ARGUMENT if there is no item `index`. */
TAPER_API TAPER_MUST_USE taper_status taper_value_item(const taper_value *value, size_t index, taper_value **item,
                                                       taper_error *error);
/* Gets key `index` of a dict; *key is a new reference. Fails with TAPER_ERROR_ARGUMENT if there is no such key. */
TAPER_API TAPER_MUST_USE taper_status taper_value_key(const taper_value *value, size_t index, taper_value **key,
                                                      taper_error *error);
/* Returns the name of field `index` of a named tuple, or of attribute `index` of an object. Returns NULL for any other
 * value, or if there is no such field. The value owns the text. */
TAPER_API const char *taper_value_field(const taper_value *value, size_t index);
/* Writes the name of the value's type to text, as PyTorch prints it, for example "List[Tensor]" or "__torch__.M".
 * Writes at most `size` bytes with the final zero byte, as snprintf does. Returns the full length without that byte,
 * or 0 if memory is exhausted. */
TAPER_API size_t taper_value_type(const taper_value *value, char *text, size_t size);

/* ---- models -------------------------------------------------------------------------------------------------- */
/* A loaded model. Runs do not change a model; the attributes that they change belong to sessions. */
typedef struct taper_model taper_model;
/* The optimizer. taper_compiler() of taper_compile.h returns it. */
struct taper_compiler;

/* Bits of taper_load_options.flags.
 * TAPER_LOAD_EVALUATION: call Module.eval() first. `training` of all modules becomes False: dropout keeps all elements,
 * and batch norm uses its running statistics. taper_draft_optimize and taper_model_open without options set this flag.
 * TAPER_LOAD_COPY: read the file into memory. Without this flag the file is mapped. Programs may rename or delete a
 * mapped file, but must not change or shorten it while a value of the model exists: the system may end the process.
 * TAPER_LOAD_VERIFY: compare the checksums of all records first, including weights. A flatbuffer has no
 * checksums: its load fails with TAPER_ERROR_UNSUPPORTED.
 * TAPER_LOAD_NO_GUARDS: for exported programs (.pt2). Do not check inputs against the sizes that the program was
 * exported for, and leave out the program's assertions.
 * TAPER_LOAD_LOW_MEMORY: use no algorithm that needs more memory for the weights of a layer than the weights take.
 * Winograd's algorithm for 3x3 convolutions, for example, takes 1.8 to 4 times that memory. Results differ by rounding.
 * TAPER_LOAD_REFERENCE: use only the portable reference operators. They are slow and serve for checks.
 * TAPER_LOAD_LISTING: load the model only to look at it. Operators that this build lacks are listed and accepted.
 * Objects are as saved: their __setstate__ is not called. taper_session_create fails for the model.
 * TAPER_LOAD_GRADIENTS: the program asks for gradients after runs (taper_gradient.h). The CPU runs the model. */
#define TAPER_LOAD_EVALUATION (UINT64_C(1) << 0)
#define TAPER_LOAD_COPY (UINT64_C(1) << 1)
#define TAPER_LOAD_VERIFY (UINT64_C(1) << 2)
#define TAPER_LOAD_NO_GUARDS (UINT64_C(1) << 3)
#define TAPER_LOAD_LOW_MEMORY (UINT64_C(1) << 4)
#define TAPER_LOAD_REFERENCE (UINT64_C(1) << 5)
#define TAPER_LOAD_LISTING (UINT64_C(1) << 6)
#define TAPER_LOAD_GRADIENTS (UINT64_C(1) << 7)

/* Says how a model is loaded. Taper reads what the pointers point to during the call only. */
typedef struct taper_load_options {
    size_t struct_size; /* sizeof(taper_load_options) */
    /* The optimizer, taper_compiler() of taper_compile.h: the model is optimized while it is loaded. NULL: the model
     * runs as it was saved, which is several times slower. taper_model_open ignores this member and optimizes. */
    const struct taper_compiler *compiler;
    uint64_t flags; /* TAPER_LOAD_ bits, joined by | */
    /* The device that runs the model.
     * NULL: the device that the file was prepared or converted for, if compiler is set and this build and machine have
     * the device. Otherwise the CPU.
     * Not NULL: the given device. The load fails with TAPER_ERROR_ARGUMENT if this version does not know its kind. If
     * the device is absent, the load fails with TAPER_ERROR_UNSUPPORTED if required is 1. Otherwise the CPU runs the
     * model, and one line of the log says so.
     * In both cases the CPU runs the operators that the device cannot compute. Unless required is 1, the CPU also runs
     * what fails on the device, and what is slower there in the first runs. The log says so. */
    const taper_device_choice *device;
    /* Kinds of devices that the file must not choose if device is NULL; a set of TAPER_DEVICE_BIT() joined by |. */
    uint32_t barred_devices;
    /* The precision of weights.
     * On the CPU fp16 and bf16 halve the memory of weights. They are faster than fp32 if the CPU has instructions for
     * them. Values between layers stay fp32, and so do all other operators (docs/numerics.md).
     * With fp16 Vulkan and Metal store weights and values as halves, and compute in fp32. Drivers of NNAPI decide
     * themselves how they compute. With bf16 the load fails with TAPER_ERROR_UNSUPPORTED on any of these devices. */
    taper_precision precision;
    /* Settings of the device; docs/gpu.md explains GPU settings. They have no effect if the device is absent. The load
     * fails with TAPER_ERROR_ARGUMENT if an option belongs to another kind of device, if a value is out of its range,
     * or if there are more than 31 settings. */
    const taper_device_setting *settings;
    size_t setting_count;
    /* Names of passes that are not run (taper_compiler_pass_name of taper_compile.h). Names of PyTorch's
     * MobileOptimizerType, for example "CONV_BN_FUSION", are valid too. Unknown names are ignored. */
    const char *const *disabled_passes;
    size_t disabled_pass_count;
    /* For TorchScript models: names of methods to load in addition to forward and the methods that return bundled
     * inputs. All other methods count as absent. Names that the model does not have are ignored. NULL: all methods. */
    const char *const *methods;
    size_t method_count;
    /* Limits of a load. They also limit later work on a draft. A load that exceeds a limit fails with
     * TAPER_ERROR_RESOURCE.
     * memory_limit: bytes to allocate, without the file itself. 0: 88 MiB plus 12 bytes for each byte of the file.
     * step_limit: steps of work; a step takes a few nanoseconds. Steps are counted and not timed, so that a file loads
     * on every machine or on none. 0: 200 million plus 400 for each byte of the file. */
    uint64_t memory_limit, step_limit;
} taper_load_options;

/* The four functions that follow load a model; *model is a new reference. options must not be NULL; the model is
 * optimized if options->compiler is set. taper_model_open (taper_compile.h) loads with default options and optimizes.
 * taper_model_load loads the file at path, which must be a regular file. It fails with TAPER_ERROR_FILE if the file
 * cannot be opened. See TAPER_LOAD_COPY for what may happen to the file later. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_model **model,
                                                       taper_error *error);
/* Loads a model from memory and never writes to it. The bytes must stay valid and unchanged until Taper calls
 * release(user). Taper calls it when the model and all values that use the bytes are released, in the thread that
 * releases the last of them. If release is NULL, the program keeps the bytes valid until then. If the function fails,
 * Taper keeps no pointer to the bytes and does not call release. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load_memory(taper_context *context, const void *bytes, size_t size,
                                                              void (*release)(void *user), void *user,
                                                              const taper_load_options *options, taper_model **model,
                                                              taper_error *error);
/* Loads a model from a part of an open file, for example an asset of Android. The part begins at byte `offset` and has
 * `length` bytes; length 0 means to the end of the file. The file must be a regular file; its position does not change.
 * Fails with TAPER_ERROR_ARGUMENT if the part exceeds the file. The caller may close the descriptor after the call. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load_fd(taper_context *context, int fd, uint64_t offset,
                                                          uint64_t length, const taper_load_options *options,
                                                          taper_model **model, taper_error *error);
/* Copies `size` bytes of the file, from byte `offset` on, to buffer. Returns 0, or another number on failure. */
typedef int (*taper_read_function)(void *user, uint64_t offset, void *buffer, size_t size);
/* Loads a model of `size` bytes that read provides. Taper calls read only during this call, in the thread that called
 * it. The function fails with TAPER_ERROR_FILE if read fails. */
TAPER_API TAPER_MUST_USE taper_status taper_model_load_callback(taper_context *context, taper_read_function read,
                                                                void *user, uint64_t size,
                                                                const taper_load_options *options, taper_model **model,
                                                                taper_error *error);
/* Releases the program's reference. A session keeps its model, so the model may be released first. */
TAPER_API void taper_model_release(taper_model *model);

/* Returns the version of the file's bytecode, or 0 for TorchScript (.pt) and exported programs (.pt2). */
TAPER_API int64_t taper_model_bytecode_version(const taper_model *model);
/* Returns the file's version of PyTorch's operators. For a .pt2 file it is the newest version that Taper knows. */
TAPER_API int64_t taper_model_operator_version(const taper_model *model);
/* Returns the name of the root class, for example "__torch__.Net". The model owns all texts returned below. */
TAPER_API const char *taper_model_name(const taper_model *model);
/* Returns the PyTorch version that exported a .pt2 file, or "" if it is not known. Returns NULL for other files. */
TAPER_API const char *taper_model_exported_by(const taper_model *model);
/* Returns the name of the device that the model runs on, for example "cpu" or "vulkan:1". */
TAPER_API const char *taper_model_device(const taper_model *model);
/* Returns 1 if the model was saved in training mode and was loaded without TAPER_LOAD_EVALUATION. */
TAPER_API int taper_model_is_training(const taper_model *model);
/* Returns 1 if an operator works in training mode, or may do so: dropout drops elements, batch norm uses the
 * statistics of the batch. Returns 0 if all results are the same as in evaluation mode. */
TAPER_API int taper_model_uses_training(const taper_model *model);
/* Deprecated: taper_model_uses_training by its name of version 0.1. */
TAPER_DEPRECATED("call taper_model_uses_training") static inline int taper_model_trains(const taper_model *model)
{
    return taper_model_uses_training(model);
}

/* Returns the number of methods of the root object. */
TAPER_API size_t taper_model_method_count(const taper_model *model);
/* Returns the name of method `index`, or NULL if there is no such method. */
TAPER_API const char *taper_model_method_name(const taper_model *model, size_t index);

/* The parameter `method` of the functions that follow is the name of a method; NULL means "forward". */

/* Returns the number of arguments of a method, without self. Returns -1 if there is no such method, or if the file has
 * no schema. Files of bytecode 3 and 4 have no schemas. */
TAPER_API int taper_model_method_arguments(const taper_model *model, const char *method);
/* Returns the number of arguments without a default value. Returns -1 as taper_model_method_arguments does. */
TAPER_API int taper_model_method_required(const taper_model *model, const char *method);
/* Returns the name of argument `index`, self not counted, or NULL if there is no such method, argument or schema. */
TAPER_API const char *taper_model_argument_name(const taper_model *model, const char *method, size_t index);

/* A declared type, for example "Dict[str, List[Tensor]]". The model owns it; it never changes, and any thread may read
 * it. A type may have item types, which taper_type_item returns. */
typedef struct taper_type taper_type;

typedef enum taper_type_kind {
    TAPER_TYPE_ANY = 0, /* any value */
    TAPER_TYPE_NONE,
    TAPER_TYPE_TENSOR,
    TAPER_TYPE_INT, /* int; also ScalarType, Layout, MemoryFormat, QScheme and SymInt */
    TAPER_TYPE_FLOAT,
    TAPER_TYPE_BOOL,
    TAPER_TYPE_COMPLEX,
    TAPER_TYPE_NUMBER, /* int, float or complex: Scalar */
    TAPER_TYPE_STRING,
    TAPER_TYPE_DEVICE,
    TAPER_TYPE_GENERATOR,
    TAPER_TYPE_OPAQUE,    /* Stream, Storage, …; taper_type_name returns the name */
    TAPER_TYPE_ANY_LIST,  /* a list of any items */
    TAPER_TYPE_ANY_TUPLE, /* a tuple of any items */
    TAPER_TYPE_LIST,      /* item 0: the type of the items */
    TAPER_TYPE_OPTIONAL,  /* item 0: the type of a value that is not None */
    TAPER_TYPE_FUTURE,    /* item 0: the type of the value; also RRef and Await (taper_type_name) */
    TAPER_TYPE_DICT,      /* item 0: the type of the keys; item 1: the type of the values */
    TAPER_TYPE_TUPLE,     /* item i: the type of element i; a named tuple has a name and names of fields */
    TAPER_TYPE_UNION,     /* item i: the type of member i */
    TAPER_TYPE_CLASS,     /* taper_type_name returns the name of the class */
    TAPER_TYPE_VARIABLE   /* a type variable of an operator's schema, for example t in List[t] */
} taper_type_kind;

/* Return the type of argument `index` and of the result, or NULL if there is no such method, argument or schema. */
TAPER_API const taper_type *taper_model_argument_type(const taper_model *model, const char *method, size_t index);
TAPER_API const taper_type *taper_model_return_type(const taper_model *model, const char *method);
/* Return the text that these types have in the file, or NULL if there is no such method, argument or schema. */
TAPER_API const char *taper_model_argument_text(const taper_model *model, const char *method, size_t index);
TAPER_API const char *taper_model_return_text(const taper_model *model, const char *method);

/* Return the kind of a type, and the number of its item types. If type is NULL, they return TAPER_TYPE_ANY and 0. */
TAPER_API taper_type_kind taper_type_kind_of(const taper_type *type);
TAPER_API size_t taper_type_count(const taper_type *type);
/* Returns item type number `index`, or NULL if the type has fewer item types. */
TAPER_API const taper_type *taper_type_item(const taper_type *type, size_t index);
/* Returns the name of a class, named tuple, opaque type, TAPER_TYPE_FUTURE or type variable; otherwise NULL. */
TAPER_API const char *taper_type_name(const taper_type *type);
/* Returns the name of field `index` of a named tuple; otherwise NULL. */
TAPER_API const char *taper_type_field(const taper_type *type, size_t index);
/* Writes the type to text as PyTorch prints it and taper_value_list accepts it. Writes at most `size` bytes with the
 * final zero byte, as snprintf does. Returns the full length without that byte, or 0 if memory is exhausted. */
TAPER_API size_t taper_type_text(const taper_type *type, char *text, size_t size);

/* Returns the number of extra files: those that were saved in the model's file with _extra_files. */
TAPER_API size_t taper_model_extra_count(const taper_model *model);
/* Returns the name of extra file number `index`, or NULL if the model has fewer extra files. */
TAPER_API const char *taper_model_extra_name(const taper_model *model, size_t index);
/* Gets the contents of an extra file, which the model owns; no zero byte follows them. Fails with TAPER_ERROR_ARGUMENT
 * if there is no such file, and with TAPER_ERROR_UNSUPPORTED if it is compressed and too large to unpack. */
TAPER_API TAPER_MUST_USE taper_status taper_model_extra(taper_model *model, const char *name, const void **data,
                                                        size_t *size, taper_error *error);

/* Returns the length of a sorted list of names. The list has the operators that the model calls, for example
 * "aten::add.Tensor". It also has the classes that the model names and this build lacks, for example
 * "__torch__.torch.classes.my_ext.Options". */
TAPER_API size_t taper_model_operator_count(const taper_model *model);
/* Returns name number `index` of the list, or NULL if the list has fewer names. */
TAPER_API const char *taper_model_operator_name(const taper_model *model, size_t index);
/* Returns the number of places in the code that call the operator or name the class. */
TAPER_API size_t taper_model_operator_calls(const taper_model *model, size_t index);
/* Returns 1 if this build lacks the operator or the class. */
TAPER_API int taper_model_operator_missing(const taper_model *model, size_t index);

/* ---- sessions ------------------------------------------------------------------------------------------------ */
/* A session runs the methods of a model. It has its own copy of the model's buffers and attributes, its memory, and its
 * random numbers. A session runs one call at a time. Two threads must not call a session at the same time. If they do,
 * the later call may fail with TAPER_ERROR_ARGUMENT; otherwise the behaviour is undefined. During a call of a session,
 * Taper may call functions that the program supplied: registered operators, log, observer, release functions, allocator
 * and thread pool. If such a callback calls the same session, functions that return a taper_status fail with
 * TAPER_ERROR_ARGUMENT and change nothing. Functions without a status say below what they do then. Every callback
 * except an allocator may use other sessions, also of the same model. */
typedef struct taper_session taper_session;
typedef struct taper_session_options {
    size_t struct_size; /* sizeof(taper_session_options) */
    /* Three budgets of a run. A run that exceeds a budget fails with TAPER_ERROR_RESOURCE; the session stays usable. */
    uint64_t instruction_budget; /* bytecode instructions that a run may execute; 0: no limit */
    double time_budget;   /* seconds that a run may take, checked between operators and within long ones; 0: no limit */
    size_t memory_budget; /* bytes of the values that exist at the same time; 0: no limit */
    /* 1: a result that the device computed stays in the device's memory until taper_value_get_tensor or another
     * function reads its elements. A run that gets the result as input reads it in the device's memory. This suits the
     * state of a recurrent model, for example. Until the elements are read, only one thread at a time may use the
     * result, and only while the session that made it does not run. The result may exist longer than its session.
     * 0: all results are copied to CPU memory, and any thread may use them. */
    int results_stay;
} taper_session_options;

/* Creates a session. options NULL means all members 0. The session holds a reference to its model. The function fails
 * with TAPER_ERROR_ARGUMENT if the model was loaded with TAPER_LOAD_LISTING. */
TAPER_API TAPER_MUST_USE taper_status taper_session_create(taper_model *model, const taper_session_options *options,
                                                           taper_session **session, taper_error *error);

/* Destroys the session, which the program must not use after this call. If a callback calls this function during a
 * call of the session, the session is destroyed when that call ends. That call still returns its result. */
TAPER_API void taper_session_destroy(taper_session *session);

/* Calls a method; method NULL means "forward". *result is a new reference. inputs are the arguments without self; none
 * may be NULL, and taper_value_none makes None. Arguments at the end that are not given take their default values. An
 * int is accepted for a float; other types fail with TAPER_ERROR_ARGUMENT. result must not point into inputs.
 * The result may be an input, or share memory with inputs and attributes. The model may keep an input as an attribute.
 * After a failed run the session stays usable. Attributes and inputs keep what the run wrote before it failed.
 * The first run of a session plans its memory. The first run of a model packs weights layer by layer and frees the
 * packed copies, so that its result is there soon. The second run keeps the copies and takes longer than later runs. */
TAPER_API TAPER_MUST_USE taper_status taper_session_run(taper_session *session, const char *method,
                                                        taper_value *const *inputs, size_t count, taper_value **result,
                                                        taper_error *error);

/* The program's memory for one result, in which the elements are contiguous. This struct never changes. */
typedef struct taper_output {
    taper_dtype dtype;    /* dtype of the result, which must not be a quantized dtype */
    size_t rank;          /* number of dimensions */
    const int64_t *sizes; /* array of `rank` sizes, in elements */
    void *data;           /* memory for the elements */
    size_t bytes;         /* size of the memory in bytes; at least the size of all elements */
} taper_output;

/* Calls a method as taper_session_run does, but writes the results to the program's memory. If the result is a tensor,
 * it goes to outputs[0]. If it is a tuple or list of tensors, item i goes to outputs[i]. output_count is at most 256.
 * The function fails with TAPER_ERROR_ARGUMENT before the run if two outputs overlap, or if an output overlaps a
 * tensor in an input. It may overlook a tensor if the inputs contain more than 65536 values.
 * After the run it fails with TAPER_ERROR_ARGUMENT, and the memory is unchanged, in these cases:
 * - the number of results is not output_count;
 * - a result is not a tensor, or its dtype or sizes differ from the output's;
 * - a result shares memory with an input, with another result, or with an attribute or constant of the model.
 * If the run itself fails, the contents of the memory are undefined.
 * Usually a result is copied to the program's memory. The operator that computes it writes it there directly if all of
 * this is true:
 * - it is the third run or a later one in which all tensors have the same sizes and all number inputs are equal;
 * - data is aligned to 64 bytes, and the result is not a view;
 * - there are at most 8 outputs, and the session has no observer (taper_inspect.h);
 * - no branch of the method depends on elements of tensors, or on attributes that the method sets. */
TAPER_API TAPER_MUST_USE taper_status taper_session_run_into(taper_session *session, const char *method,
                                                             taper_value *const *inputs, size_t count,
                                                             const taper_output *outputs, size_t output_count,
                                                             taper_error *error);
/* Requests that the run in progress stop. The run then fails with TAPER_ERROR_CANCELLED. The request stays until a run
 * fails with that status. If no run is in progress, or the run ends with another status, the request stops the next
 * run. Any thread and any callback may call this function; the session must not be destroyed meanwhile. */
TAPER_API void taper_session_cancel(taper_session *session);
/* Gets an attribute of the root object; *value is a new reference. A path with dots leads into submodules, for example
 * "layer1.0.weight". "" is the root object. Fails with TAPER_ERROR_ARGUMENT if there is no such attribute.
 * Later runs may change the value. Read it only while the session does not run, and in one thread at a time. */
TAPER_API TAPER_MUST_USE taper_status taper_session_attribute(taper_session *session, const char *path,
                                                              taper_value **value, taper_error *error);
/* Returns memory kept for later runs to the allocator. If a callback calls this function during a call of the session,
 * the memory is returned when that call ends. */
TAPER_API void taper_session_trim(taper_session *session);
/* Seeds the random numbers as torch.manual_seed does. A call during a run seeds the numbers of the rest of the run. */
TAPER_API void taper_session_seed(taper_session *session, uint64_t seed);

typedef struct taper_memory_info {
    size_t struct_size;       /* sizeof(taper_memory_info) */
    uint64_t allocator_calls; /* number of calls of the allocator in the last run */
    size_t arena_bytes;       /* bytes of the arena: the memory that is planned for values within a run */
    size_t pool_bytes;        /* bytes of the session's other blocks, those in use and those kept for reuse */
    size_t packed_bytes;      /* bytes of the packed weights of the model */
    /* Number of operators that the last run computed a few rows at a time, to keep values in the CPU's cache. */
    uint64_t banded_calls;
    /* Number of results that operators wrote directly in the last taper_session_run_into; other results were copied. */
    uint64_t placed_results;
} taper_memory_info;
/* Fills *info; set info->struct_size first. If a callback calls this function during a run, *info has the current sizes
 * and the counts of the previous run. */
TAPER_API void taper_session_memory(taper_session *session, taper_memory_info *info);

#ifdef __cplusplus
}
#endif
#endif
