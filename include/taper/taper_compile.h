/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The compiler: it opens models optimized, and it prepares model files. A program that calls taper_model_open, or
 * passes taper_compiler() to a load function of taper.h, links the compiler. Such a program can also read a model file,
 * rewrite it as PyTorch's optimize_for_mobile does, quantize it and save it. A lite interpreter, Taper's or PyTorch
 * Mobile's, runs the saved file. Opening, optimizing and saving are stable. Passes by name, graphs as text and
 * quantization are experimental. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_COMPILE_H
#define TAPER_TAPER_COMPILE_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opening a model ---- */

/* Loads a model as taper_model_load does and optimizes it, whether or not options->compiler is set. options NULL means
 * all members 0 and the flag TAPER_LOAD_EVALUATION, because PyTorch Mobile's loaders for apps call eval() too. If
 * options is not NULL, its flags decide. */
TAPER_API TAPER_MUST_USE taper_status taper_model_open(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_model **model,
                                                       taper_error *error);

/* Returns the compiler, for taper_load_options.compiler of the other load functions. The compiler is static and never
 * NULL. */
TAPER_API const struct taper_compiler *taper_compiler(void);

/* Returns the number of passes. Passes are numbered from 0 in the order in which they first run; a pass may run several
 * times. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_compiler_pass_count(void);
/* Returns the name of pass `index`, for disabled_passes, or NULL if index is too large. The text is static. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_compiler_pass_name(size_t index);
/* Returns a line of static text that says what pass `index` does, or NULL if index is too large. A build without drafts
 * has "" for each pass. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_compiler_pass_summary(size_t index);
#define TAPER_PASS_AT_LOAD 1  /* the pass runs while a model is loaded */
#define TAPER_PASS_IN_DRAFT 2 /* the pass runs while a draft is optimized */
/* Returns the stages in which pass `index` runs, as TAPER_PASS_ bits joined by |, or 0 if index is too large. */
TAPER_API TAPER_EXPERIMENTAL int taper_compiler_pass_stages(size_t index);

/* Returns 1 if disabled_passes may contain the name of `length` bytes, and 0 otherwise. Valid are the names of the
 * passes, and the names in PyTorch's MobileOptimizerType. */
TAPER_API int taper_compiler_has_pass(const char *name, size_t length);

/* ---- drafts: models that are rewritten and then saved ---- */

/* A model that can be rewritten. One thread at a time may use a draft. A draft holds a reference to its context. */
typedef struct taper_draft taper_draft;

/* Loads a model as a draft. options must not be NULL, and options->compiler must be taper_compiler(); otherwise the
 * function fails with TAPER_ERROR_ARGUMENT. The members device, settings, precision and disabled_passes, and the flags
 * TAPER_LOAD_REFERENCE and TAPER_LOAD_LISTING, have no effect on a draft. The function still fails if a device, a
 * setting or a precision is wrong. TAPER_LOAD_COPY says what may happen to the file while the draft exists. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_draft **draft,
                                                       taper_error *error);
/* Loads a draft from memory. The bytes must stay valid and unchanged until the draft is released. If taper_draft_finish
 * makes a model of the draft, the bytes must stay valid and unchanged until the model and all values that use the bytes
 * are released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load_memory(taper_context *context, const void *bytes, size_t size,
                                                              const taper_load_options *options, taper_draft **draft,
                                                              taper_error *error);
TAPER_API void taper_draft_release(taper_draft *draft);

/* The form in which a conversion writes the parts of a model that NNAPI runs. Each part becomes a module, which
 * contains a network of NNAPI operations. An image is a tensor of four dimensions. */
typedef enum taper_nnapi_layout {
    TAPER_NNAPI_NHWC = 0,    /* networks compute images in NHWC, and layers are fused */
    TAPER_NNAPI_PYTORCH = 1, /* networks as PyTorch's converter writes them for NCHW inputs; nothing is fused */
    /* Networks as PyTorch's converter writes them for inputs with the attribute nnapi_nhwc, for all images; nothing is
     * fused. */
    TAPER_NNAPI_PYTORCH_NHWC = 2
} taper_nnapi_layout;
/* The sizes of forward's inputs that a converted model accepts. With every value of this enum, a size that is 0 in a
 * sample input stands for any size of that dimension. */
typedef enum taper_nnapi_sizes {
    TAPER_NNAPI_FIXED_SIZES = 0, /* the sizes of the sample inputs */
    TAPER_NNAPI_ANY_BATCH = 1,   /* any first size of each input; needs TAPER_NNAPI_NHWC */
    /* Any first size of each input, any height and width of images; needs TAPER_NNAPI_NHWC. */
    TAPER_NNAPI_ANY_SIZES = 2
} taper_nnapi_sizes;
/* Settings of a conversion for NNAPI. A member that is 0 has its default. */
typedef struct taper_nnapi_conversion {
    size_t struct_size; /* sizeof(taper_nnapi_conversion) */
    taper_nnapi_layout layout;
    taper_nnapi_sizes sizes;
    int level;                         /* newest Android API level whose operations may be used, 27 to 31; 0: 29 */
    taper_nnapi_preference preference; /* preference that the driver gets; 0: sustained speed */
    int relax_f32_to_f16;              /* 1: the driver may compute floats with the precision of float16 */
} taper_nnapi_conversion;

/* Fills *conversion from text of the form NAME=VALUE,NAME=VALUE. Set conversion->struct_size first. A setting that the
 * text does not name gets its default; NULL and "" name no setting. Names and values:
 *   layout=nhwc, pytorch or pytorch_nhwc
 *   flexible=none, batch or sizes (the member sizes)
 *   level=27 to 31
 *   preference=low_power, fast_single_answer or sustained_speed
 *   relax_f32_to_f16=0 or 1 */
TAPER_API TAPER_MUST_USE taper_status taper_nnapi_conversion_parse(const char *text, taper_nnapi_conversion *conversion,
                                                                   taper_error *error);

/* Says whether NNAPI or the CPU runs an operator of forward in a converted model. The struct and its texts are valid
 * only during the callback that receives them. */
typedef struct taper_placement {
    size_t struct_size;        /* size of this struct, which the library sets */
    const char *operator_name; /* name of the operator: "aten::conv2d" */
    uint32_t value;            /* number of the operator's first result in the graph: 12 for %12 */
    int segment;               /* number of the NNAPI module that contains the operator; -1: the CPU runs it */
    const char *reason;        /* reason why the CPU runs the operator; NULL: NNAPI runs it */
    double work;               /* multiplications and additions of the operator, with free sizes counted as 1 */
} taper_placement;

typedef struct taper_optimize_options {
    size_t struct_size; /* sizeof(taper_optimize_options) */
    /* Device that the file is prepared for; 0: the CPU. For TAPER_DEVICE_CPU, TAPER_DEVICE_VULKAN and
     * TAPER_DEVICE_METAL the file contains weights packed for that device. For TAPER_DEVICE_NNAPI, operators that NNAPI
     * supports become modules of PyTorch's own NNAPI classes. Every lite interpreter runs a file for NNAPI: PyTorch's
     * on Android, Taper's everywhere. */
    taper_device_kind device;
    /* Names of further methods that the file keeps. It always keeps forward and the methods that return bundled inputs,
     * and all methods of an exported program. taper_draft_optimize fails with TAPER_ERROR_ARGUMENT if the model does
     * not have a method of that name. NULL: no further methods. */
    const char *const *preserve;
    size_t preserve_count;
    /* Names of passes that do not run, or of PyTorch's MobileOptimizerType ("CONV_BN_FUSION"). Unknown names are
     * ignored. NULL: all passes run. */
    const char *const *disabled_passes;
    size_t disabled_pass_count;
    /* Sample values for the arguments of forward, in their order; NNAPI needs them. taper_nnapi_sizes says which sizes
     * the converted model then accepts. The caller keeps the values valid during the call. */
    taper_value *const *inputs;
    size_t input_count;
    const taper_nnapi_conversion *nnapi; /* settings of the conversion for NNAPI; NULL: the defaults */
    /* Callback of a conversion for NNAPI, called for each operator of forward that has a result. NULL: no callback. */
    void (*report)(void *user, const taper_placement *placement);
    void *report_user; /* passed to report */
} taper_optimize_options;

/* Optimizes a draft. options NULL means all members 0. The function switches the model to evaluation mode first, as
 * TAPER_LOAD_EVALUATION does.
 * A draft can be optimized once: a second call fails with TAPER_ERROR_ARGUMENT and leaves the draft as it is. After any
 * other failure the draft can only be released. The function also fails with TAPER_ERROR_ARGUMENT if the draft was
 * saved with bundled inputs; the draft stays as it is. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_optimize(taper_draft *draft, const taper_optimize_options *options,
                                                           taper_error *error);

/* Bundles one sample, the inputs of one call, with a method (NULL: "forward"). Inputs at the end that have defaults may
 * be missing. The saved model then has the methods that torch.utils.bundled_inputs adds, such as
 * get_all_bundled_inputs. The draft holds references to the values and does not copy them: do not change their contents
 * until the draft is released.
 * Call the functions of a draft in this order: taper_draft_unbundle, taper_draft_bundle, taper_draft_optimize,
 * taper_draft_save. Each of them can be left out; taper_draft_bundle may also follow taper_draft_optimize. Samples do
 * not keep their method: taper_draft_optimize drops a method that taper_optimize_options.preserve does not keep.
 * taper_draft_bundle fails with TAPER_ERROR_ARGUMENT if the loaded model has bundled inputs and taper_draft_unbundle
 * was not called. It fails in the same way if the draft was saved with bundled inputs. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_bundle(taper_draft *draft, const char *method,
                                                         taper_value *const *inputs, size_t count, taper_error *error);

/* Removes the bundled inputs of the loaded model and the methods that return them. Other inputs can then be bundled.
 * Call the function before taper_draft_bundle and before the draft is optimized; later calls fail with
 * TAPER_ERROR_ARGUMENT. It does nothing if the model has no bundled inputs. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_unbundle(taper_draft *draft, taper_error *error);

/* Returns the draft as a model, for the functions that describe a model: its methods, arguments and extra files. The
 * draft owns the returned model, which cannot be run. It lists the methods of the loaded file, also after the draft was
 * optimized. Do not use it after the draft was released or passed to taper_draft_finish. */
TAPER_API const taper_model *taper_draft_model(const taper_draft *draft);

typedef struct taper_save_options {
    size_t struct_size; /* sizeof(taper_save_options) */
    int bytecode;       /* version of the bytecode, 4 to 8; 0: 8. Ignored for a flatbuffer, which has version 9 */
    int flatbuffer;     /* 1: write a flatbuffer; 0: write a zip archive */
    const char *name;   /* name of the folder in the archive; NULL: "archive" */
    /* Name of an extra file, which is added to the file or replaces its extra file of that name; NULL: no extra file is
     * added or replaced. */
    const char *extra_name;
    const void *extra_data; /* contents of the extra file; NULL: the file of that name is removed */
    size_t extra_size;      /* size of the contents in bytes */
    /* 1: the archive stores the source position of each operator of a TorchScript model. The details of errors then
     * list the calls of modules that led to the operator. A lite model keeps the positions that it has, whatever this
     * member is. A flatbuffer cannot store positions: the save fails with TAPER_ERROR_ARGUMENT. */
    int debug_info;
} taper_save_options;

/* Receives the next `size` bytes of a file or a text. Returns 0, or another number if it cannot write them; the
 * function that called it then stops and fails with TAPER_ERROR_FILE. The bytes are valid only during the call. */
typedef int (*taper_save_function)(void *user, const void *data, size_t size);
/* Writes the draft as a file, by calls of `write`. options NULL means all members 0. The bytecode of all methods is
 * made before the first call of `write`. A save that fails later may have written a part of the file: discard it. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_save(taper_draft *draft, const taper_save_options *options,
                                                       taper_save_function write, void *user, taper_error *error);
/* Writes the draft as a file in memory, at *bytes, and sets *size to its size in bytes. options NULL means all members
 * 0. Free the bytes with taper_saved_free before the draft is released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_save_memory(taper_draft *draft, const taper_save_options *options,
                                                              void **bytes, size_t *size, taper_error *error);
/* Frees a file that taper_draft_save_memory made. bytes and size are the values that taper_draft_save_memory set. If
 * bytes is NULL, the function does nothing. */
TAPER_API void taper_saved_free(taper_draft *draft, void *bytes, size_t size);

/* Turns a draft, in its present state, into a model that can be run. The values of the model's graphs have the numbers
 * that taper_draft_print shows. The function always releases the draft, also on failure: do not use or release the
 * draft afterwards. The model still uses the file or the bytes from which the draft was loaded: keep them unchanged
 * until the model and all its values are released.
 * The function fails with TAPER_ERROR_UNSUPPORTED if the draft was optimized or has bundled inputs. Instead of calling
 * it for such a draft, save the draft, release it, and load the saved file. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_draft_finish(taper_draft *draft, taper_model **model,
                                                                            taper_error *error);

/* Returns the number of nodes in the graphs of all methods, in the draft's present state. Constants are not counted. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_draft_node_count(const taper_draft *draft);
/* Lists the operators that the draft calls in its present state, and sets *count to their number. The draft keeps the
 * list for the next two functions; a later call replaces the list. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_operators(taper_draft *draft, size_t *count, taper_error *error);
/* Returns the name of operator `index` of the list, or NULL if index is too large. The draft owns the text, which is
 * valid until the next call of this function. */
TAPER_API const char *taper_draft_operator_name(taper_draft *draft, size_t index);
/* Returns the number of places that call operator `index` of the list, or 0 if index is too large. */
TAPER_API size_t taper_draft_operator_calls(const taper_draft *draft, size_t index);

/* Writes the graph of a method (NULL: "forward") as text, in one or more calls of `write`. The text has no zero byte at
 * its end. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_draft_print(taper_draft *draft, const char *method,
                                                                           taper_save_function write, void *user,
                                                                           taper_error *error);

/* ---- quantization after training ----
 * A calibrator runs a float model on sample inputs. It then makes a draft whose forward computes with 8-bit integers,
 * as the models of PyTorch's quantize_fx and quantize_dynamic do for the QNNPACK engine. */

/* One thread at a time may use a calibrator. During one of its calls a callback of the program must not release the
 * calibrator. If the callback calls taper_calibrator_run, taper_calibrator_compare or taper_calibrator_finish, that
 * call fails with TAPER_ERROR_ARGUMENT. A calibrator holds a reference to its context. */
typedef struct taper_calibrator taper_calibrator;

typedef enum taper_quantize_mode {
    TAPER_QUANTIZE_CORE = 0,   /* integers inside the model; inputs and results are float tensors */
    TAPER_QUANTIZE_FULL = 1,   /* integers inside the model; inputs and results are quint8 tensors */
    TAPER_QUANTIZE_DYNAMIC = 2 /* linear and recurrent layers quantize inputs in each run; needs no samples */
} taper_quantize_mode;

/* The method that chooses the range of numbers that the integers of a value cover. */
typedef enum taper_observer_kind {
    TAPER_OBSERVER_HISTOGRAM = 0,      /* the range with the least squared error; PyTorch's default */
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
    int bias_correction; /* 1: each bias is corrected by the mean error that rounded weights cause in the result */
    int equalize;        /* 1: the weights of neighbouring layers are scaled to similar ranges */
    /* Names of layers that stay float, as in taper_quantized_layer, or of modules that contain such layers. NULL: no
     * names. If there is no layer or module of a name, the first taper_calibrator_run fails with TAPER_ERROR_ARGUMENT,
     * and the calibrator can only be released. With TAPER_QUANTIZE_DYNAMIC, taper_calibrator_load fails instead. */
    const char *const *keep_float;
    size_t keep_float_count;
    /* Names of further methods that the file keeps, besides forward and the methods that return bundled inputs.
     * taper_calibrator_load fails with TAPER_ERROR_ARGUMENT if the model does not have a method of that name. NULL: no
     * further methods. */
    const char *const *preserve;
    size_t preserve_count;
    /* Budgets of each run that calibrates or compares; the calibrator copies them. NULL: no limits. */
    const taper_session_options *budgets;
} taper_quantize_options;

/* Loads a float model for calibration. load must not be NULL, and load->compiler must be taper_compiler(); otherwise
 * the function fails with TAPER_ERROR_ARGUMENT. The members and flags of load that have no effect in taper_draft_load,
 * and the member methods, have no effect here. options NULL means all members 0; texts in options are copied.
 * taper_calibrator_finish and taper_calibrator_compare read the file again: it must stay in place and unchanged until
 * the calibrator and the drafts that it made are released. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_load(taper_context *context, const char *path,
                                                                               const taper_load_options *load,
                                                                               const taper_quantize_options *options,
                                                                               taper_calibrator **calibrator,
                                                                               taper_error *error);
/* Loads a float model from memory. The bytes must stay valid and unchanged until the calibrator and the drafts that it
 * made are released. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status
taper_calibrator_load_memory(taper_context *context, const void *bytes, size_t size, const taper_load_options *load,
                             const taper_quantize_options *options, taper_calibrator **calibrator, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_calibrator_release(taper_calibrator *calibrator);
/* Returns the float model, which the calibrator owns. */
TAPER_API TAPER_EXPERIMENTAL taper_model *taper_calibrator_model(const taper_calibrator *calibrator);

/* Runs forward on float inputs and records the ranges of its values. With TAPER_QUANTIZE_DYNAMIC it does nothing. After
 * taper_calibrator_compare it fails with TAPER_ERROR_ARGUMENT. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_run(taper_calibrator *calibrator,
                                                                              taper_value *const *inputs, size_t count,
                                                                              taper_error *error);
/* Makes a draft of the quantized model from all calls of taper_calibrator_run so far. The caller releases the draft.
 * The function may be called any number of times. It fails with TAPER_ERROR_ARGUMENT before the first calibration,
 * except with TAPER_QUANTIZE_DYNAMIC. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_finish(taper_calibrator *calibrator,
                                                                                 taper_draft **draft,
                                                                                 taper_error *error);

/* Runs the float and the quantized model on float inputs. It adds the differences to the figures that
 * taper_calibrator_layer and taper_calibrator_sqnr return. Afterwards taper_calibrator_run fails. The function fails
 * with TAPER_ERROR_ARGUMENT before the first calibration, except with TAPER_QUANTIZE_DYNAMIC. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_compare(taper_calibrator *calibrator,
                                                                                  taper_value *const *inputs,
                                                                                  size_t count, taper_error *error);

/* Describes a layer, or another operator, that is quantized or is kept float. The calibrator owns the texts. */
typedef struct taper_quantized_layer {
    size_t struct_size;        /* sizeof(taper_quantized_layer) */
    const char *name;          /* name of the module, "features.0.0"; without a module, operator and number: "add_3" */
    const char *operator_name; /* name of the operator, operator_length bytes without a zero byte: "aten::conv2d" */
    size_t operator_length;    /* bytes at operator_name */
    int kept_float;            /* 1: the layer stays float */
    /* Scale of the result; 0 before the first taper_calibrator_finish or taper_calibrator_compare, and if the result
     * has no scale. */
    double scale;
    int64_t zero_point; /* zero point of the result */
    double sqnr; /* signal-to-quantization-noise ratio of the result in dB, over all comparisons; NaN: not compared */
} taper_quantized_layer;
/* Returns the number of layers that the calibrator found, or 0 before the first call of taper_calibrator_run. With
 * TAPER_QUANTIZE_DYNAMIC the layers are known when the calibrator is loaded. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_calibrator_layer_count(const taper_calibrator *calibrator);
/* Fills *layer; set layer->struct_size first. The function writes no more than struct_size bytes. It fails with
 * TAPER_ERROR_ARGUMENT if index is too large. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_layer(const taper_calibrator *calibrator,
                                                                                size_t index,
                                                                                taper_quantized_layer *layer,
                                                                                taper_error *error);
/* Returns the signal-to-quantization-noise ratio of forward's results in dB, over all comparisons, or NaN before the
 * first comparison. */
TAPER_API TAPER_EXPERIMENTAL double taper_calibrator_sqnr(const taper_calibrator *calibrator);
/* Sets *scale and *zero_point to the scale and zero point of input `index` of forward and returns 1, if that input is
 * quantized. Returns 0 if it is not quantized, before the first call of taper_calibrator_finish or
 * taper_calibrator_compare, and in modes other than TAPER_QUANTIZE_FULL. */
TAPER_API TAPER_EXPERIMENTAL int taper_calibrator_input(const taper_calibrator *calibrator, size_t index, double *scale,
                                                        int64_t *zero_point);

#ifdef __cplusplus
}
#endif
#endif
