/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The compiler. A program that links it passes taper_compiler() in taper_load_options, and models are optimized as they
 * load; and it can prepare model files: read one, rewrite it as PyTorch's optimize_for_mobile does, and save it for any
 * lite interpreter. What is optimized and saved is stable; the passes by name, the graphs as text and quantization are
 * experimental.
 */
#ifndef TAPER_TAPER_COMPILE_H
#define TAPER_TAPER_COMPILE_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Static; never NULL. */
TAPER_API const struct taper_compiler *taper_compiler(void);

/* Passes in the order they run; names are those of disable_passes. A name may stand several times. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_compiler_pass_count(void);
TAPER_API TAPER_EXPERIMENTAL const char *taper_compiler_pass_name(size_t index);
/* What it does, in a line; "" in a build without drafts. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_compiler_pass_summary(size_t index);
/* When it runs. */
#define TAPER_PASS_AT_LOAD 1  /* while a model is loaded */
#define TAPER_PASS_IN_DRAFT 2 /* while a draft is optimized */
TAPER_API TAPER_EXPERIMENTAL int taper_compiler_pass_stages(size_t index);

/* Whether disable_passes may name it: a pass, or one of PyTorch's MobileOptimizerType. The text need not end at length.
 */
TAPER_API int taper_compiler_has_pass(const char *name, size_t length);

/* ---- drafts: models to be rewritten and saved, not run ---- */

typedef struct taper_draft taper_draft;

/* options->compiler must be set; disable_passes, reference, listing, device and precision mean nothing here, though
 * they are checked. One thread at a time. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_draft **draft,
                                                       taper_error *error);
/* The bytes must stay valid and unchanged while the draft is held. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load_memory(taper_context *context, const void *bytes, size_t size,
                                                              const taper_load_options *options, taper_draft **draft,
                                                              taper_error *error);
TAPER_API void taper_draft_release(taper_draft *draft);

typedef struct taper_optimize_options {
    size_t struct_size; /* sizeof(taper_optimize_options) */
    const char
        *backend; /* "cpu" (NULL), "vulkan", "metal": whose packed weights the file shall have; "nnapi": see below */
    /* Methods to keep besides forward and those of bundled inputs; each must exist. Exported programs all stay. */
    const char *const *preserve;
    size_t preserve_count;
    /* Names of passes, or of PyTorch's MobileOptimizerType ("CONV_BN_FUSION"), comma-separated; NULL: none. */
    const char *disable_passes;
    /* For "nnapi": what NNAPI has operations for becomes modules of PyTorch's own NNAPI classes, made for inputs of the
     * sizes of this sample (a value for each argument of forward; borrowed): a size of 0 is any size. Every lite
     * interpreter runs the file: PyTorch's where there is NNAPI, Taper's everywhere. */
    taper_value *const *inputs;
    size_t input_count;
    /* NULL, or a comma-separated list: layout=nhwc, or pytorch or pytorch_nhwc (as its converter does it, with images
     * as they come, or marked nnapi_nhwc: nothing fused), flexible=batch (any first size of each input) or sizes (and
     * any height and width of images) with nhwc, level=27 to 31 (29: whose operations may be used), preference=
     * low_power, fast_single_answer or sustained_speed (the last), relax_f32_to_f16=1 (halves are precise enough). */
    const char *backend_options;
    /* Called for each operator of forward: segment is the number of the NNAPI module that has it, or -1 where it stays
     * with the CPU; why is then the reason. value is the number of its result, work its multiplications and additions
     * (flexible sizes counted as 1). NULL: nobody asks. */
    void (*placed)(void *user, const char *op, uint32_t value, int segment, const char *why, double work);
    void *placed_user;
} taper_optimize_options;

/* Once for a draft. On failure the draft can only be released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_optimize(taper_draft *draft, const taper_optimize_options *options,
                                                           taper_error *error);

/* Adds a sample to the inputs bundled with a method (NULL: "forward"), as torch.utils.bundled_inputs does: the saved
 * model has the methods get_all_bundled_inputs and the others. The values are not copied: they must not be changed. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_bundle(taper_draft *draft, const char *method,
                                                         taper_value *const *inputs, size_t count, taper_error *error);

/* Takes out the inputs that the loaded model carries, with their methods; others can be bundled then. Before the draft
 * is optimized or saved; nothing where there are none. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_unbundle(taper_draft *draft, taper_error *error);

/* For the functions that tell about a model: methods, arguments, extra files. It cannot be run. Borrowed. */
TAPER_API const taper_model *taper_draft_model(const taper_draft *draft);

typedef struct taper_save_options {
    size_t struct_size; /* sizeof(taper_save_options) */
    int bytecode;       /* version, 4 to 8; 0: 8. A flatbuffer has 9. */
    int flatbuffer;     /* 1: a flatbuffer rather than a zip archive */
    const char *name;   /* of the folder in the archive; NULL: "model" */
    /* An extra file to add, or to put in the place of the one of this name; NULL: none. */
    const char *extra_name;
    const void *extra_data;
    size_t extra_size;
    /* 1: the archive tells where in its source a TorchScript model was made, so that errors show the call of modules
     * that led there. Those of a lite model are kept in any case. */
    int debug_info;
} taper_save_options;

/* write(user, data, size) takes the next bytes of the file and returns 0, or anything else on failure. Nothing is
 * written before the whole model is known to be writable. */
typedef int (*taper_save_function)(void *user, const void *data, size_t size);
TAPER_API TAPER_MUST_USE taper_status taper_draft_save(taper_draft *draft, const taper_save_options *options,
                                                       taper_save_function write, void *user, taper_error *error);
/* The file in memory; free it with taper_saved_free (NULL: nothing is done), before the draft. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_save_memory(taper_draft *draft, const taper_save_options *options,
                                                              void **bytes, size_t *size, taper_error *error);
TAPER_API void taper_saved_free(taper_draft *draft, void *bytes, size_t size);

/* Makes a model of the draft that runs as the draft stands, its values numbered as taper_draft_print shows them. The
 * draft is released, also on failure. Not for drafts that were optimized or have bundled inputs: save and load those.
 */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_draft_finish(taper_draft *draft, taper_model **model,
                                                                            taper_error *error);

/* What the draft calls now: the count of nodes of all its methods, and its operators as in taper_model_operator_name.
 * A name is valid until the next is asked for. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_draft_node_count(const taper_draft *draft);
TAPER_API TAPER_MUST_USE taper_status taper_draft_operators(taper_draft *draft, size_t *count, taper_error *error);
TAPER_API const char *taper_draft_operator_name(taper_draft *draft, size_t index);
TAPER_API size_t taper_draft_operator_calls(const taper_draft *draft, size_t index);

/* The graph of a method (NULL: "forward") as text, in pieces. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_draft_print(taper_draft *draft, const char *method,
                                                                           taper_save_function write, void *user,
                                                                           taper_error *error);

/* ---- quantization after training ----
 * A float model and samples of its inputs become a draft whose forward computes with 8-bit integers, as PyTorch's
 * quantize_fx and quantize_dynamic make one for the QNNPACK engine. */

/* A calibrator makes one call at a time. If a callback of the host, within a call, calls taper_calibrator_run,
 * taper_calibrator_compare or taper_calibrator_finish of the same calibrator, these fail with TAPER_ERROR_ARGUMENT. The
 * callback must not release the calibrator. */
typedef struct taper_calibrator taper_calibrator;

typedef enum taper_quantize_mode {
    TAPER_QUANTIZE_CORE = 0,   /* integers inside, float tensors in and out */
    TAPER_QUANTIZE_FULL = 1,   /* quint8 tensors in and out */
    TAPER_QUANTIZE_DYNAMIC = 2 /* linear and recurrent layers, whose inputs are quantized as they come: no samples */
} taper_quantize_mode;

/* What chooses the range that a value's integers cover. */
typedef enum taper_observer_kind {
    TAPER_OBSERVER_HISTOGRAM = 0, /* the least squared error: PyTorch's default */
    TAPER_OBSERVER_MIN_MAX = 1,
    TAPER_OBSERVER_MOVING_AVERAGE = 2, /* of the samples' least and greatest */
    TAPER_OBSERVER_PERCENTILE = 3
} taper_observer_kind;

typedef struct taper_quantize_options {
    size_t struct_size; /* sizeof(taper_quantize_options) */
    taper_quantize_mode mode;
    taper_observer_kind observer;
    double percentile;   /* of a value's elements that the range covers; 0: 99.99 */
    int per_channel;     /* 1: a scale for each output channel of a layer's weights */
    int bias_correction; /* 1: biases make up for what rounding the weights changes on average */
    int equalize;        /* 1: weights of neighbouring layers are brought to like ranges */
    /* Layers that stay float: names as in taper_quantized_layer, or of modules that hold some. Each must exist. */
    const char *const *keep_float;
    size_t keep_float_count;
    /* Methods to keep besides forward and those of bundled inputs; each must exist. */
    const char *const *preserve;
    size_t preserve_count;
    /* Of the runs that calibrate and compare; NULL: no limits. Copied. */
    const taper_session_options *budgets;
} taper_quantize_options;

/* The file is read again by taper_calibrator_finish and taper_calibrator_compare. options as for a draft. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_load(taper_context *context, const char *path,
                                                                               const taper_load_options *load,
                                                                               const taper_quantize_options *options,
                                                                               taper_calibrator **calibrator,
                                                                               taper_error *error);
/* The bytes must stay valid and unchanged while the calibrator or what came of it is held. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status
taper_calibrator_load_memory(taper_context *context, const void *bytes, size_t size, const taper_load_options *load,
                             const taper_quantize_options *options, taper_calibrator **calibrator, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_calibrator_release(taper_calibrator *calibrator);
/* The float model. Borrowed. */
TAPER_API TAPER_EXPERIMENTAL taper_model *taper_calibrator_model(const taper_calibrator *calibrator);

/* Runs forward on float inputs and remembers the ranges of what it computes. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_run(taper_calibrator *calibrator,
                                                                              taper_value *const *inputs, size_t count,
                                                                              taper_error *error);
/* The quantized model, to be saved; any number of times. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_finish(taper_calibrator *calibrator,
                                                                                 taper_draft **draft,
                                                                                 taper_error *error);

/* Runs the float and the quantized model on float inputs and adds to the figures below. No calibration after it. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_compare(taper_calibrator *calibrator,
                                                                                  taper_value *const *inputs,
                                                                                  size_t count, taper_error *error);

/* A layer or other operator that was quantized, or was kept float. */
typedef struct taper_quantized_layer {
    size_t struct_size;        /* of the struct the library fills */
    const char *name;          /* its module, "features.0.0", or "add_3". Borrowed, as the next one */
    const char *operator_name; /* "aten::conv2d", up to operator_length */
    size_t operator_length;
    int kept_float;
    double scale; /* of its result; 0: it has none of its own */
    int64_t zero_point;
    double sqnr; /* signal to quantization noise in dB of its result over all comparisons; NaN: not compared */
} taper_quantized_layer;
TAPER_API TAPER_EXPERIMENTAL size_t taper_calibrator_layer_count(const taper_calibrator *calibrator);
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_calibrator_layer(const taper_calibrator *calibrator,
                                                                                size_t index,
                                                                                taper_quantized_layer *layer,
                                                                                taper_error *error);
/* Of the results of forward, over all comparisons; NaN before the first. */
TAPER_API TAPER_EXPERIMENTAL double taper_calibrator_sqnr(const taper_calibrator *calibrator);
/* Mode FULL, after finish or compare: the scale and zero point that calibration found for input `index` of forward.
 * Returns 0 for an input that stays as it is. */
TAPER_API TAPER_EXPERIMENTAL int taper_calibrator_input(const taper_calibrator *calibrator, size_t index, double *scale,
                                                        int64_t *zero_point);

#ifdef __cplusplus
}
#endif
#endif
