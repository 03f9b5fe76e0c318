// SPDX-License-Identifier: BSD-2-Clause
// What is behind the public handles: context, model, session.
#ifndef TAPER_RUNTIME_MODEL_H
#define TAPER_RUNTIME_MODEL_H

#include <taper/taper_inspect.h>

#include "base/budget.h"
#include "compiler_hook.h"
#include "format/module.h"
#include "ops/call/packs.h"
#include "ops/engine/random.h"
#include "platform/platform.h"
#include "platform/threads.h"
#include "runtime/program.h"

struct taper_context {
    taper_refs refs;
    taper_allocator allocator;
    taper_types *types;
    taper_heap *heap; // of the host's values
    taper_registry *registry;
    taper_pool *pool;
    uint64_t cpu;
    taper_log_function log;
    void *log_user;
};

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
    bool reference;
    bool listing; // loaded to be looked at: there are no programs
    bool draft;   // loaded to be rewritten (draft.c): there are graphs and no programs
};

typedef struct taper_model_operator {
    char *name;
    size_t calls;
    bool missing;
} taper_model_operator;

typedef struct taper_planner taper_planner; // runtime/planner.h

// What a call site of an operator took, while profiling.
typedef struct taper_profile_site {
    const taper_instruction *instruction;
    const char *kernel;
    uint64_t calls;
    double seconds, flops;
} taper_profile_site;

struct taper_session {
    taper_model *model;
    taper_heap *heap;
    taper_val root;
    taper_val *constants; // this session's
    void **states;
    struct taper_prepared **prepared; // ops/call/prepared.h, one for a state
    taper_run run;
    taper_rng rng;
    taper_planner *planner;
    atomic_bool cancelled;
    int64_t looks; // walks over results so far: what containers were seen in
    uint64_t instruction_budget, instructions_left;
    double time_budget, deadline;
    size_t memory_budget;
    uint64_t calls_of_run;
    taper_profile_site *profile; // by state number; NULL: never profiled
    bool profiling;
    taper_observe_function observe; // NULL: nobody looks
    void *observe_user;
};

void taper_context_retain(taper_context *context);

// The function of that full name ("__torch__.Net.forward"), given in two parts; NULL when there is none.
taper_function *taper_model_find(const taper_model *model, const char *class_name, const char *method);

// Puts its modules in evaluation mode, before their graphs are optimized or run.
TAPER_MUST_USE taper_status taper_model_evaluate(taper_model *model, taper_error *error);

// Loading for others than the host that runs it: draft.c. Otherwise as taper_model_load and taper_model_load_memory.
typedef enum taper_model_purpose { TAPER_MODEL_RUN, TAPER_MODEL_DRAFT } taper_model_purpose;
TAPER_MUST_USE taper_status taper_model_load_for(taper_model_purpose purpose, taper_context *context, const char *path,
                                                 const taper_load_options *options, taper_model **model,
                                                 taper_error *error);
TAPER_MUST_USE taper_status taper_model_load_memory_for(taper_model_purpose purpose, taper_context *context,
                                                        const void *bytes, size_t size,
                                                        const taper_load_options *options, taper_model **model,
                                                        taper_error *error);
// The options as far as the caller's version of the struct has them, zeroes behind.
TAPER_MUST_USE taper_status taper_load_options_read(const taper_load_options *given, taper_load_options *options,
                                                    taper_error *error);

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

// What the interpreter needs; a session's, or the loader's own for __setstate__.
typedef struct taper_frame_source {
    const taper_model *model;
    taper_run *run;
    const taper_val *constants;
    void **states;
    struct taper_prepared **prepared; // by state, as states; NULL: nothing is prepared
    struct taper_session *session;    // NULL while loading: run->budget counts then
} taper_frame_source;

// Runs function with args (borrowed). *result gets a reference.
TAPER_MUST_USE taper_status taper_interpret(const taper_frame_source *source, const taper_function *function,
                                            const taper_val *args, size_t arg_count, int depth, taper_val *result);
// Where the node comes from, as the error's detail.
void taper_trace_node(const taper_module *module, const taper_node *node, taper_error *error);
// The node kinds that are not operators: interpreter_node.c. in, out: one value each.
TAPER_MUST_USE taper_status taper_interpret_node(const taper_frame_source *source, const taper_node *node,
                                                 taper_val *in, size_t in_count, taper_val *out, size_t out_count,
                                                 int depth);

#endif
