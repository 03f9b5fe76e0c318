// SPDX-License-Identifier: BSD-2-Clause
// What is behind a taper_model: a module with its functions as programs; and how it is loaded.
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
    const char *method; // "forward": the last part of its name
    bool of_root;       // a method of the root class, and of a draft one to keep
    taper_graph *graph; // until the program is built
    taper_program program;
} taper_function;

struct taper_model {
    taper_refs refs;
    taper_context *context;
    taper_budget *budget;             // of the load; of a draft as long as it is one
    const taper_allocator *allocator; // the budget's
    taper_module module;
    taper_function *functions;
    size_t function_count;
    uint32_t *name_index; // hash of full names to function number + 1
    size_t name_index_size;
    taper_val *constants; // borrowed from the programs' graphs
    size_t constant_count;
    size_t state_count;
    size_t *methods; // functions of the root class, sorted as in the file
    size_t method_count;
    struct taper_model_operator *operators; // sorted by name
    size_t operator_count, operator_capacity;
    taper_packs *packs;
    taper_types *types;
    bool reference, low_memory;
    taper_precision precision;             // of what the CPU computes; fp32 where there is a device
    const struct taper_compiler *compiler; // that optimized it; NULL: none
    struct taper_device *device;           // asked for, beside the host's; NULL: none
    bool device_required;
    const char *exported_by; // of an exported program: taper_model_exported_by
    bool listing;            // loaded to be looked at: there are no programs
    bool draft;              // loaded to be rewritten (draft.c): there are graphs and no programs
};

typedef struct taper_model_operator {
    char *name;
    size_t calls;
    bool missing;
} taper_model_operator;

// ---- model_functions.c

// The function of that full name ("__torch__.Net.forward"), given in two parts; NULL when there is none.
taper_function *taper_model_find(const taper_model *model, const char *class_name, const char *method);
// Lays out the functions of a module that was read, by name, and the root's methods.
TAPER_MUST_USE taper_status taper_model_index_functions(taper_model *model, taper_error *error);

// ---- loading

// Puts its modules in evaluation mode, before their graphs are optimized or run.
TAPER_MUST_USE taper_status taper_model_evaluate(taper_model *model, taper_error *error);
// Graphs that run models within the model compute with operators instead, as far as they can (frontend/embedded.h).
TAPER_MUST_USE taper_status taper_model_lower_embedded(taper_model *model, taper_error *error);

// Loading for others than the host that runs it: draft.c. Otherwise as taper_model_load and taper_model_load_memory.
typedef enum taper_model_purpose { TAPER_MODEL_RUN, TAPER_MODEL_DRAFT } taper_model_purpose;
TAPER_MUST_USE taper_status taper_model_load_for(taper_model_purpose purpose, taper_context *context, const char *path,
                                                 const taper_load_options *options, taper_model **model,
                                                 taper_error *error);
TAPER_MUST_USE taper_status taper_model_load_memory_for(taper_model_purpose purpose, taper_context *context,
                                                        const void *bytes, size_t size,
                                                        const taper_load_options *options, taper_model **model,
                                                        taper_error *error);
// The options as far as the caller's version of the struct has them, zeroes after those; checked.
TAPER_MUST_USE taper_status taper_load_options_read(const taper_context *context, const taper_load_options *given,
                                                    taper_load_options *options, taper_error *error);

// A model of one graph that is made while another runs: its function has the parameters self, an object without
// attributes, and one more. bytes: what it is made from, for the budget of a load.
typedef taper_status taper_model_make(const void *user, taper_model *model, taper_graph *graph, taper_error *error);
TAPER_MUST_USE taper_status taper_model_of_graph(taper_context *context, const struct taper_compiler *compiler,
                                                 bool reference, uint64_t bytes, const char *class_name,
                                                 const char *method, taper_model_make *make, const void *user,
                                                 taper_model **model, taper_error *error);

// Builds the programs of a model that was loaded as a draft: it runs from now on.
TAPER_MUST_USE taper_status taper_model_finish_draft(taper_model *model, taper_error *error);

// Lays out what the compiler looks at, to be filled with what it shall do; the graphs stay the functions'.
TAPER_MUST_USE taper_status taper_model_begin_compilation(taper_model *model, taper_compilation *compilation,
                                                          taper_error *error);
void taper_model_end_compilation(const taper_model *model, const taper_compilation *compilation);

// Fills model->operators, from the file's tables, or where it has none from the graphs and what they lack (NULL:
// nothing).
struct taper_needs;
TAPER_MUST_USE taper_status taper_model_list_operators(taper_model *model, const struct taper_needs *missing,
                                                       taper_error *error);

// ---- model_device.c

// "a, b and c": the devices that files are prepared for; told: that files tell themselves.
typedef struct taper_preparer_text {
    char text[128];
} taper_preparer_text;
taper_preparer_text taper_preparer_names(bool told);
// Opens the device that the host names, or else the one that the file was prepared for. One line of log where the CPU
// stands in for it.
TAPER_MUST_USE taper_status taper_model_find_device(taper_model *model, const taper_load_options *load,
                                                    taper_error *error);

// ---- model_programs.c

TAPER_MUST_USE taper_status taper_model_run_setstates(taper_model *model, taper_error *error);
TAPER_MUST_USE taper_status taper_model_build_programs(taper_model *model, taper_error *error);

#endif
