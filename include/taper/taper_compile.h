/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The compiler. A program that links it passes taper_compiler() in taper_load_options, and models are optimized as they
 * load; and it can prepare model files: read one, rewrite it as PyTorch's optimize_for_mobile does, and save it for any
 * lite interpreter.
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
TAPER_API size_t taper_compiler_pass_count(void);
TAPER_API const char *taper_compiler_pass_name(size_t index);
TAPER_API const char *taper_compiler_pass_summary(size_t index);
/* When it runs. */
#define TAPER_PASS_AT_LOAD 1  /* while a model is loaded */
#define TAPER_PASS_IN_DRAFT 2 /* while a draft is optimized */
TAPER_API int taper_compiler_pass_stages(size_t index);

/* Whether disable_passes may name it: a pass, or one of PyTorch's MobileOptimizerType. The text need not end at length.
 */
TAPER_API int taper_compiler_has_pass(const char *name, size_t length);

/* ---- drafts: models to be rewritten and saved, not run ---- */

typedef struct taper_draft taper_draft;

/* options->compiler must be set; disable_passes, reference and listing mean nothing here. One thread at a time. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load(taper_context *context, const char *path,
                                                       const taper_load_options *options, taper_draft **draft,
                                                       taper_error *error);
/* The bytes must stay valid and unchanged while the draft is held. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_load_memory(taper_context *context, const void *bytes, size_t size,
                                                              const taper_load_options *options, taper_draft **draft,
                                                              taper_error *error);
TAPER_API void taper_draft_release(taper_draft *draft);

typedef struct taper_optimize_options {
    size_t struct_size;  /* sizeof(taper_optimize_options) */
    const char *backend; /* "cpu" (NULL), "vulkan", "metal": whose packed weights the file shall have */
    /* Methods to keep besides forward and those of bundled inputs; each must exist. */
    const char *const *preserve;
    size_t preserve_count;
    /* Names of passes, or of PyTorch's MobileOptimizerType ("CONV_BN_FUSION"), comma-separated; NULL: none. */
    const char *disable_passes;
} taper_optimize_options;

/* Once for a draft. On failure the draft can only be released. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_optimize(taper_draft *draft, const taper_optimize_options *options,
                                                           taper_error *error);

/* Adds a sample to the inputs bundled with a method (NULL: "forward"), as torch.utils.bundled_inputs does: the saved
 * model has the methods get_all_bundled_inputs and the others. The values are not copied: they must not be changed. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_bundle(taper_draft *draft, const char *method,
                                                         taper_value *const *inputs, size_t count, taper_error *error);

/* For the functions that tell about a model: methods, arguments, extra files. It cannot be run. Borrowed. */
TAPER_API const taper_model *taper_draft_model(const taper_draft *draft);

typedef struct taper_save_options {
    size_t struct_size; /* sizeof(taper_save_options) */
    int bytecode;       /* version, 4 to 8; 0: 8. A flatbuffer has 9. */
    int flatbuffer;     /* 1: a flatbuffer rather than a zip archive */
    const char *name;   /* of the folder in the archive; NULL: "model" */
} taper_save_options;

/* write(user, data, size) takes the next bytes of the file and returns 0, or anything else on failure. Nothing is
 * written before the whole model is known to be writable. */
typedef int (*taper_save_function)(void *user, const void *data, size_t size);
TAPER_API TAPER_MUST_USE taper_status taper_draft_save(taper_draft *draft, const taper_save_options *options,
                                                       taper_save_function write, void *user, taper_error *error);
/* The file in memory; free it with taper_saved_free. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_save_memory(taper_draft *draft, const taper_save_options *options,
                                                              void **bytes, size_t *size, taper_error *error);
TAPER_API void taper_saved_free(taper_draft *draft, void *bytes, size_t size);

/* Makes a model of the draft that runs as the draft stands, its values numbered as taper_draft_print shows them. The
 * draft is released, also on failure. Not for drafts that were optimized or have bundled inputs: save and load those.
 */
TAPER_API TAPER_MUST_USE taper_status taper_draft_finish(taper_draft *draft, taper_model **model, taper_error *error);

/* What the draft calls now: the count of nodes of all its methods, and its operators as in taper_model_operator_name.
 * A name is valid until the next is asked for. */
TAPER_API size_t taper_draft_node_count(const taper_draft *draft);
TAPER_API TAPER_MUST_USE taper_status taper_draft_operators(taper_draft *draft, size_t *count, taper_error *error);
TAPER_API const char *taper_draft_operator_name(taper_draft *draft, size_t index);
TAPER_API size_t taper_draft_operator_calls(const taper_draft *draft, size_t index);

/* The graph of a method (NULL: "forward") as text, in pieces. */
TAPER_API TAPER_MUST_USE taper_status taper_draft_print(taper_draft *draft, const char *method,
                                                        taper_save_function write, void *user, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
