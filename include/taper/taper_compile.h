/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The compiler: opens models optimized, and prepares model files. A program that calls taper_model_open, or passes
 * taper_compiler() to a load of taper.h, links the compiler. The program can also read a model file, rewrite it as
 * PyTorch's optimize_for_mobile does, quantize it, and save it for any lite interpreter. Opening, optimizing and saving
 * are stable; passes by name, graphs as text and quantization are experimental. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_COMPILE_H
#define TAPER_TAPER_COMPILE_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opening a model ---- */

/* Loads a model as taper_model_load does and optimizes it, whether or not options->compiler is set. options NULL: the
 * model is put in evaluation mode too, as PyTorch Mobile's loaders for apps do. */
TAPER_API TAPER_MUST_USE taper_status taper_model_open(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_model **model,
                                                       taper_error *error);

/* Returns the compiler, for taper_load_options.compiler of other loads. It is static and never NULL. */
TAPER_API const struct taper_compiler *taper_compiler(void);

/* Returns the number of passes, in the order in which they run. One pass may run several times. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_compiler_pass_count(void);
/* Returns the name of pass `index`, for disabled_passes. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_compiler_pass_name(size_t index);
/* Returns what the pass does, in one line; "" in a build without drafts. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_compiler_pass_summary(size_t index);
/* Returns when the pass runs, TAPER_PASS_ bits joined by |. */
#define TAPER_PASS_AT_LOAD 1  /* while a model is loaded */
#define TAPER_PASS_IN_DRAFT 2 /* while a draft is optimized */
TAPER_API TAPER_EXPERIMENTAL int taper_compiler_pass_stages(size_t index);

/* Returns 1 if disabled_passes may contain this name of `length` bytes: a pass, or one of PyTorch's
 * MobileOptimizerType. */
TAPER_API int taper_compiler_has_pass(const char *name, size_t length);

/* ---- drafts: models that are rewritten and saved, and not run ---- */

/* One thread at a time may use a draft. */
typedef struct taper_draft taper_draft;

/* Loads a draft. options->compiler must be set. disabled_passes, device, precision and the flags TAPER_LOAD_REFERENCE
 * and TAPER_LOAD_LISTING are checked and have no effect. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_draft **draft,
                                                       taper_error *error);
/* The bytes must stay valid and unchanged until the draft is released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load_memory(taper_context *context, const void *bytes, size_t size,
                                                              const taper_load_options *options, taper_draft **draft,
                                                              taper_error *error);
TAPER_API void taper_draft_release(taper_draft *draft);

/* How a model is converted for NNAPI. Zeros are the defaults. */
typedef enum taper_nnapi_layout {
    TAPER_NNAPI_NHWC = 0,        /* images are NHWC inside the modules; layers are fused */
    TAPER_NNAPI_PYTORCH = 1,     /* as PyTorch's converter does it, with images as they come: nothing is fused */
    TAPER_NNAPI_PYTORCH_NHWC = 2 /* as PyTorch's converter does it, with images that are marked nnapi_nhwc */
} taper_nnapi_layout;
typedef enum taper_nnapi_sizes {
    TAPER_NNAPI_FIXED_SIZES = 0, /* inputs have the sizes of the sample */
    TAPER_NNAPI_ANY_BATCH = 1,   /* the first size of each input is free; needs TAPER_NNAPI_NHWC */
    TAPER_NNAPI_ANY_SIZES = 2    /* height and width of images are free too; needs TAPER_NNAPI_NHWC */
} taper_nnapi_sizes;
typedef struct taper_nnapi_conversion {
    size_t struct_size; /* sizeof(taper_nnapi_conversion) */
    taper_nnapi_layout layout;
    taper_nnapi_sizes sizes;
    int level;                         /* Android API level whose operations may be used, 27 to 31; 0: 29 */
    taper_nnapi_preference preference; /* what the driver is asked for */
    int relax_f32_to_f16;              /* 1: the driver may compute floats as halves */
} taper_nnapi_conversion;

/* Reads settings of a conversion: NAME=VALUE with commas between; layout=nhwc, pytorch or pytorch_nhwc; flexible=none,
 * batch or sizes; level=27 to 31; preference=low_power, fast_single_answer or sustained_speed; relax_f32_to_f16=0 or 1.
 * Set conversion->struct_size first. NULL is no text. */
TAPER_API TAPER_MUST_USE taper_status taper_nnapi_conversion_parse(const char *text, taper_nnapi_conversion *conversion,
                                                                   taper_error *error);

/* Where an operator of forward runs in a converted model. Valid during the call that reports it. */
typedef struct taper_placement {
    size_t struct_size;        /* of the struct that the library fills */
    const char *operator_name; /* "aten::conv2d" */
    uint32_t value;            /* number of its result */
    int segment;               /* number of the device's module that contains it; -1: it stays with the CPU */
    const char *reason;        /* why it stays with the CPU; NULL: it does not */
    double work;               /* multiplications and additions, with free sizes counted as 1 */
} taper_placement;

typedef struct taper_optimize_options {
    size_t struct_size; /* sizeof(taper_optimize_options) */
    /* The device that the file is prepared for: TAPER_DEVICE_CPU, TAPER_DEVICE_VULKAN or TAPER_DEVICE_METAL, whose
     * packed weights the file then contains, or TAPER_DEVICE_NNAPI: what NNAPI has operations for becomes modules of
     * PyTorch's own NNAPI classes. Every lite interpreter runs such a file: PyTorch's on Android, Taper's everywhere.
     * 0: the CPU. */
    taper_device_kind device;
    /* Methods that the file keeps besides forward and those of bundled inputs. Each must exist. All methods of an
     * exported program are kept. */
    const char *const *preserve;
    size_t preserve_count;
    /* Names of passes, or of PyTorch's MobileOptimizerType ("CONV_BN_FUSION"), that are left out. */
    const char *const *disabled_passes;
    size_t disabled_pass_count;
    /* For NNAPI: one value for each argument of forward; the modules are made for its sizes. A size of 0 is any size.
     * The caller keeps the values during the call. */
    taper_value *const *inputs;
    size_t input_count;
    const taper_nnapi_conversion *nnapi; /* NULL: the defaults */
    /* For NNAPI: called for each operator of forward. NULL: nothing is reported. */
    void (*report)(void *user, const taper_placement *placement);
    void *report_user; /* passed to report */
} taper_optimize_options;

/* Optimizes a draft, once. After a failure the draft can only be released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_optimize(taper_draft *draft, const taper_optimize_options *options,
                                                           taper_error *error);

/* Adds a sample to the inputs that are bundled with a method (NULL: "forward"), as torch.utils.bundled_inputs does: the
 * saved model has get_all_bundled_inputs and the methods that belong to it. The draft keeps the values and does not
 * copy them: they must not be changed. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_bundle(taper_draft *draft, const char *method,
                                                         taper_value *const *inputs, size_t count, taper_error *error);

/* Removes the inputs that the loaded model carries and their methods, so that others can be bundled. Call it before the
 * draft is optimized or saved. It does nothing if the model carries none. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_unbundle(taper_draft *draft, taper_error *error);

/* Returns the draft as a model, for the functions that describe one: methods, arguments, extra files. It cannot be run
 * and belongs to the draft. */
TAPER_API const taper_model *taper_draft_model(const taper_draft *draft);

typedef struct taper_save_options {
    size_t struct_size; /* sizeof(taper_save_options) */
    int bytecode;       /* version of the bytecode, 4 to 8; 0: 8. A flatbuffer has 9 */
    int flatbuffer;     /* 1: write a flatbuffer; 0: write a zip archive */
    const char *name;   /* name of the folder in the archive; NULL: "model" */
    /* Name of an extra file that is added, or that replaces the one of that name; NULL: none. */
    const char *extra_name;
    const void *extra_data; /* contents of that file */
    size_t extra_size;      /* bytes at extra_data */
    /* 1: the archive records where in its source each operator of a TorchScript model comes from, so that errors show
     * the calls of modules that led there. A lite model keeps what it has of this in any case. */
    int debug_info;
} taper_save_options;

/* Receives the next bytes of a file and returns 0, or another number if it cannot write them. */
typedef int (*taper_save_function)(void *user, const void *data, size_t size);
/* Writes the draft as a file. Nothing is written before the whole model is known to be writable. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_save(taper_draft *draft, const taper_save_options *options,
                                                       taper_save_function write, void *user, taper_error *error);
/* Writes the draft as a file in memory. Free the bytes with taper_saved_free before the draft is released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_save_memory(taper_draft *draft, const taper_save_options *options,
                                                              void **bytes, size_t *size, taper_error *error);
/* Does nothing if bytes is NULL. */
TAPER_API void taper_saved_free(taper_draft *draft, void *bytes, size_t size);

/* Makes a model that runs as the draft stands; its values have the numbers that taper_draft_print shows. The draft is
 * released, also on failure. A draft that was optimized or has bundled inputs cannot be finished: save and load it. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_draft_finish(taper_draft *draft, taper_model **model,
                                                                            taper_error *error);

/* Returns the number of nodes of all methods as the draft stands. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_draft_node_count(const taper_draft *draft);
/* Lists the operators that the draft calls as it stands, and sets *count to their number. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_operators(taper_draft *draft, size_t *count, taper_error *error);
/* Returns the name of operator `index` of that list. The text is valid until the next name is asked for. */
TAPER_API const char *taper_draft_operator_name(taper_draft *draft, size_t index);
/* Returns the number of places that call operator `index` of that list. */
TAPER_API size_t taper_draft_operator_calls(const taper_draft *draft, size_t index);

/* Writes the graph of a method (NULL: "forward") as text, in pieces. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_draft_print(taper_draft *draft, const char *method,
                                                                           taper_save_function write, void *user,
                                                                           taper_error *error);

/* ---- quantization after training ----
 * A calibrator runs a float model on samples of its inputs and makes a draft whose forward computes with 8-bit
 * integers, as PyTorch's quantize_fx and quantize_dynamic make one for the QNNPACK engine. */

/* A calibrator makes one call at a time. If a callback of the host, within a call, calls taper_calibrator_run,
 * taper_calibrator_compare or taper_calibrator_finish of the same calibrator, these fail with TAPER_ERROR_ARGUMENT. The
 * callback must not release the calibrator. */
typedef struct taper_calibrator taper_calibrator;

typedef enum taper_quantize_mode {
    TAPER_QUANTIZE_CORE = 0,   /* integers inside; inputs and results are float tensors */
    TAPER_QUANTIZE_FULL = 1,   /* inputs and results are quint8 tensors */
    TAPER_QUANTIZE_DYNAMIC = 2 /* linear and recurrent layers quantize their inputs in each run; needs no samples */
} taper_quantize_mode;

/* How the range is chosen that the integers of a value cover. */
typedef enum taper_observer_kind {
    TAPER_OBSERVER_HISTOGRAM = 0,      /* the range with the least squared error, PyTorch's default */
    TAPER_OBSERVER_MIN_MAX = 1,        /* the least and the greatest element of all samples */
    TAPER_OBSERVER_MOVING_AVERAGE = 2, /* a moving average of each sample's least and greatest element */
    TAPER_OBSERVER_PERCENTILE = 3      /* the range that contains `percentile` of the elements */
} taper_observer_kind;

typedef struct taper_quantize_options {
    size_t struct_size; /* sizeof(taper_quantize_options) */
    taper_quantize_mode mode;
    taper_observer_kind observer;
    double percentile;   /* percent of a value's elements that the range covers; 0: 99.99 */
    int per_channel;     /* 1: the weights of a layer have a scale for each output channel */
    int bias_correction; /* 1: biases are changed by what the rounding of weights changes on average */
    int equalize;        /* 1: the weights of neighbouring layers are scaled to similar ranges */
    /* Layers that stay float: names as in taper_quantized_layer, or names of modules that contain such layers. Each
     * must exist. */
    const char *const *keep_float;
    size_t keep_float_count;
    /* Methods that the file keeps besides forward and those of bundled inputs. Each must exist. */
    const char *const *preserve;
    size_t preserve_count;
    /* Budgets of the runs that calibrate and compare, copied; NULL: no limits. */
    const taper_session_options *budgets;
} taper_quantize_options;

/* Loads a float model for calibration; load is as for a draft. taper_calibrator_finish and taper_calibrator_compare
 * read the file again. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_load(taper_context *context, const char *path,
                                                                               const taper_load_options *load,
                                                                               const taper_quantize_options *options,
                                                                               taper_calibrator **calibrator,
                                                                               taper_error *error);
/* The bytes must stay valid and unchanged until the calibrator and the drafts that it made are released. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status
taper_calibrator_load_memory(taper_context *context, const void *bytes, size_t size, const taper_load_options *load,
                             const taper_quantize_options *options, taper_calibrator **calibrator, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_calibrator_release(taper_calibrator *calibrator);
/* Returns the float model, which belongs to the calibrator. */
TAPER_API TAPER_EXPERIMENTAL taper_model *taper_calibrator_model(const taper_calibrator *calibrator);

/* Runs forward on float inputs and records the ranges of its values. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_run(taper_calibrator *calibrator,
                                                                              taper_value *const *inputs, size_t count,
                                                                              taper_error *error);
/* Makes the quantized model, as a draft to be saved. It may be called any number of times. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_finish(taper_calibrator *calibrator,
                                                                                 taper_draft **draft,
                                                                                 taper_error *error);

/* Runs the float and the quantized model on float inputs and adds the differences to the figures below. No calibration
 * is possible after it. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_compare(taper_calibrator *calibrator,
                                                                                  taper_value *const *inputs,
                                                                                  size_t count, taper_error *error);

/* A layer, or another operator, that was quantized or was kept float. */
typedef struct taper_quantized_layer {
    size_t struct_size;        /* of the struct that the library fills */
    const char *name;          /* its module, "features.0.0", or "add_3"; belongs to the calibrator */
    const char *operator_name; /* operator_length bytes, "aten::conv2d"; belongs to the calibrator */
    size_t operator_length;
    int kept_float;     /* 1: it was not quantized */
    double scale;       /* of its result; 0: the result has no scale of its own */
    int64_t zero_point; /* of its result */
    double sqnr; /* signal-to-quantization-noise ratio of its result in dB over all comparisons; NaN: not compared */
} taper_quantized_layer;
TAPER_API TAPER_EXPERIMENTAL size_t taper_calibrator_layer_count(const taper_calibrator *calibrator);
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_layer(const taper_calibrator *calibrator,
                                                                                size_t index,
                                                                                taper_quantized_layer *layer,
                                                                                taper_error *error);
/* Returns the signal-to-quantization-noise ratio of the results of forward in dB over all comparisons, or NaN before
 * the first. */
TAPER_API TAPER_EXPERIMENTAL double taper_calibrator_sqnr(const taper_calibrator *calibrator);
/* For TAPER_QUANTIZE_FULL, after a finish or a comparison: sets *scale and *zero_point to what calibration found for
 * input `index` of forward and returns 1. Returns 0 if that input stays as it is. */
TAPER_API TAPER_EXPERIMENTAL int taper_calibrator_input(const taper_calibrator *calibrator, size_t index, double *scale,
                                                        int64_t *zero_point);

#ifdef __cplusplus
}
#endif
#endif
