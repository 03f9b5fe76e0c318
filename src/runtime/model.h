// SPDX-License-Identifier: BSD-2-Clause
// The struct of taper_model, a module with its functions as programs, and the functions that load it.
#ifndef TAPER_RUNTIME_MODEL_H
#define TAPER_RUNTIME_MODEL_H

#include "base/budget.h"
#include "compiler_hook.h"
#include "format/module.h"
#include "ops/call/packs.h"
#include "runtime/context.h"
#include "runtime/program.h"

typedef struct taper_function {
    const taper_module_function *source;
    const char *method; // last component of the function's name, such as "forward"
    bool of_root;       // true for a method of the root class; in a draft, true for a method to keep
    taper_graph *graph; // graph; NULL once the program is built
    taper_program program;
} taper_function;

struct taper_model {
    taper_refs refs;
    taper_context *context;
    taper_budget *budget;             // budget of the load; a draft keeps it after loading
    const taper_allocator *allocator; // allocator of the budget
    taper_module module;
    taper_function *functions;
    size_t function_count;
    uint32_t *name_index; // hash table from full names to function number + 1; 0 in free entries
    size_t name_index_size;
    taper_val *constants; // array of constants, borrowed from the graphs of the programs
    size_t constant_count;
    size_t state_count;
    size_t *methods; // numbers of the root class's functions, in the order of the file
    size_t method_count;
    struct taper_model_operator *operators; // operators, sorted by name
    size_t operator_count, operator_capacity;
    taper_packs *packs;
    taper_types *types;
    bool reference, low_memory;
    taper_precision precision;             // precision of the CPU's kernels; fp32 if another device runs the model
    const struct taper_compiler *compiler; // compiler that optimized the model, or NULL if none did
    struct taper_device *device;           // device that runs the model, or NULL if the CPU runs it
    bool device_required;
    const char *exported_by; // program that exported the model: taper_model_exported_by
    bool listing;            // true if loaded only for inspection, without programs
    bool draft;              // true if loaded for rewriting (draft.c), with graphs and without programs
    bool takes_gradients;    // true if a method or the host asks for gradients, so that runs record
    bool keeps_gradients;    // true if the host asks for gradients after runs (TAPER_LOAD_GRADIENTS)
};

typedef struct taper_model_operator {
    char *name;
    size_t calls;
    bool missing;
} taper_model_operator;

// ---- model_functions.c

// Returns the function with the full name CLASS_NAME.METHOD (such as "__torch__.Net.forward"), or NULL if there is no
// such function.
taper_function *taper_model_find(const taper_model *model, const char *class_name, const char *method);
// Builds the index of functions by name, and the list of the root's methods.
TAPER_MUST_USE taper_status taper_model_index_functions(taper_model *model, taper_error *error);

// ---- loading models

// Switches the modules of the model to evaluation mode. Call this before the graphs are optimized or run.
TAPER_MUST_USE taper_status taper_model_evaluate(taper_model *model, taper_error *error);
// Replaces embedded models of other formats by operators, as far as possible (frontend/embedded.h).
TAPER_MUST_USE taper_status taper_model_lower_embedded(taper_model *model, taper_error *error);

// The purpose of a load: to run the model, or to rewrite it (draft.c). Apart from the purpose, the functions below work
// like taper_model_load and taper_model_load_memory.
typedef enum taper_model_purpose { TAPER_MODEL_RUN, TAPER_MODEL_DRAFT } taper_model_purpose;
TAPER_MUST_USE taper_status taper_model_load_for(taper_model_purpose purpose, taper_context *context, const char *path,
                                                 const taper_load_options *options, taper_model **model,
                                                 taper_error *error);
TAPER_MUST_USE taper_status taper_model_load_memory_for(taper_model_purpose purpose, taper_context *context,
                                                        const void *bytes, size_t size,
                                                        const taper_load_options *options, taper_model **model,
                                                        taper_error *error);
// Checks the host's options and copies them to *load. Members that the host's version of the struct lacks become 0.
TAPER_MUST_USE taper_status taper_load_options_read(const taper_context *context, const taper_load_options *given,
                                                    taper_load_options *options, taper_error *error);

// Makes a model from one graph while another model runs. The model's only function has two parameters: self, which is
// an object without attributes, and one more. bytes: size of the graph's source, for the budget of the load.
typedef taper_status taper_model_make(const void *user, taper_model *model, taper_graph *graph, taper_error *error);
TAPER_MUST_USE taper_status taper_model_of_graph(taper_context *context, const struct taper_compiler *compiler,
                                                 bool reference, uint64_t bytes, const char *class_name,
                                                 const char *method, taper_model_make *make, const void *user,
                                                 taper_model **model, taper_error *error);

// Builds the programs of a model that was loaded as a draft, so that it can run.
TAPER_MUST_USE taper_status taper_model_finish_draft(taper_model *model, taper_error *error);

// Fills the struct that describes the model to the compiler. The caller then adds the options of the compilation. The
// functions still own their graphs.
TAPER_MUST_USE taper_status taper_model_begin_compilation(taper_model *model, taper_compilation *compilation,
                                                          taper_error *error);
void taper_model_end_compilation(const taper_model *model, const taper_compilation *compilation);

// Sets model->operators from the operator tables of the file. If the file has no operator tables, the operators come
// from the graphs and from `missing`, a list of operators that this build lacks (or NULL).
struct taper_needs;
TAPER_MUST_USE taper_status taper_model_list_operators(taper_model *model, const struct taper_needs *missing,
                                                       taper_error *error);

// ---- model_gradients.c

// Sets model->takes_gradients if a graph of the model asks for gradients. Call this before the graphs are optimized.
// taper_model_mark_gradient_modes prepares the graphs of such a model to run.
#ifdef TAPER_WITH_GRADIENTS
void taper_model_find_gradients(taper_model *model);
TAPER_MUST_USE taper_status taper_model_mark_gradient_modes(taper_model *model, taper_error *error);
#else
static inline void taper_model_find_gradients(taper_model *model)
{
    (void)model;
}
static inline TAPER_MUST_USE taper_status taper_model_mark_gradient_modes(taper_model *model, taper_error *error)
{
    (void)model;
    (void)error;
    return TAPER_OK;
}
#endif

// ---- model_device.c

// A list such as "a, b and c" of the devices for which files can be prepared. If `told` is true, the list has only the
// devices whose files can be recognized.
typedef struct taper_preparer_text {
    char text[128];
} taper_preparer_text;
taper_preparer_text taper_preparer_names(bool told);
// Opens the device that the host chose, otherwise the device for which the file was prepared. Logs one line if the CPU
// is used instead.
TAPER_MUST_USE taper_status taper_model_find_device(taper_model *model, const taper_load_options *load,
                                                    taper_error *error);

// ---- model_programs.c

TAPER_MUST_USE taper_status taper_model_run_setstates(taper_model *model, taper_error *error);
TAPER_MUST_USE taper_status taper_model_build_programs(taper_model *model, taper_error *error);

#endif
