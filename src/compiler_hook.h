// SPDX-License-Identifier: BSD-2-Clause
// What the compiler offers to whoever loads a model. The runtime calls it through this table only and links without it.
#ifndef TAPER_COMPILER_HOOK_H
#define TAPER_COMPILER_HOOK_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Whose operators the portable stage may use for packed weights.
typedef enum taper_portable_backend {
    TAPER_PORTABLE_CPU, // prepacked::
    TAPER_PORTABLE_VULKAN,
    TAPER_PORTABLE_METAL,
    TAPER_PORTABLE_NNAPI, // nobody's: what NNAPI takes is taken out (runtime/draft_nnapi.c)
    TAPER_PORTABLE_FLOAT  // nobody's: plain layers, to be quantized
} taper_portable_backend;

struct taper_shape; // ir/infer.h
struct taper_shapes;

// The graphs of a model and what they are about.
typedef struct taper_compilation {
    const taper_allocator *allocator;
    taper_registry *registry;
    taper_module *module; // its heap, arena and types are for what passes make
    taper_val root;
    taper_graph **graphs; // of all functions; NULL where there is none
    const char *const *names;
    size_t count;
    struct taper_device *const *devices; // ops/backend.h: who is shown the graphs, in order
    size_t device_count;
    bool insists;                   // of the first: it fails rather than decline
    size_t taken;                   // segments of the first
    const char *left, *left_why;    // the operator that it left before all others, and why; NULL: none
    const char *disabled;           // comma-separated names of passes; may be NULL
    bool portable;                  // the graphs are to be written to a file
    bool to_save;                   // and nothing else: weights may be worked out then (ir/scaled_storage.h)
    taper_portable_backend backend; // of the portable stage
    struct taper_shapes *shapes;    // what is known of the graph that is shown; NULL: what constants tell
    // At the end of the portable stage, before attributes that nobody looks at go; NULL: nothing.
    taper_status (*finish)(struct taper_compilation *compilation, void *user);
    void *finish_user;
    // Takes what the debug handles of emitted functions stand for. NULL: these are those of the module's file, or none.
    taper_module_callstacks *callstacks;
    taper_error *error;
    // What was found in all graphs; the compiler's own. Zero at first.
    struct taper_set_slots *set_slots;      // freeze.c
    struct taper_clone_memo *detached;      // freeze.c: constants without gradients
    struct taper_written_storages *written; // written_storages.c
    int ranks_change;                       // known_ranks.c: 0 not looked, 1 no, 2 yes
    int lists_change;                       // constant_lists.c: the same
    int outside_written;                    // fold_tensors.c: the same
    size_t folded_bytes, fold_work;         // fold_tensors.c: of all tensors it made
} taper_compilation;

// Quantization after training: compiler/quantization.h. What is known of the values of forward goes by their numbers,
// which are the same in every draft of one file that was prepared for TAPER_PORTABLE_FLOAT.
struct taper_quantize_options; // taper_compile.h
struct taper_quantized_layer;
typedef struct taper_quantization taper_quantization;
typedef struct taper_quantization_table {
    // The options' texts must stay valid. value_count: of a prepared and adjusted graph.
    taper_status (*create)(const taper_allocator *allocator, const struct taper_quantize_options *options,
                           uint32_t value_count, taper_quantization **quantization, taper_error *error);
    void (*destroy)(taper_quantization *quantization);
    // What is done to every prepared draft at first: equalization.
    taper_status (*adjust)(const struct taper_quantize_options *options, taper_compilation *compilation,
                           taper_graph *graph);
    // A value of the first run, before plan.
    void (*meet)(taper_quantization *quantization, uint32_t value, taper_val met);
    // Chooses what becomes integers. Fails when nothing can.
    taper_status (*plan)(taper_quantization *quantization, taper_compilation *compilation, taper_graph *graph);
    // A value of a calibration run, after plan. Fails when it is not finite.
    taper_status (*observe)(taper_quantization *quantization, uint32_t value, taper_val seen, taper_error *error);
    // Rewrites another draft's graph as planned. *root as for prepare, when it is not NULL.
    taper_status (*rewrite)(taper_quantization *quantization, taper_compilation *compilation, taper_graph *graph,
                            taper_val *root);
    size_t (*step_count)(const taper_quantization *quantization);
    // value: of the float result, made: of the quantized one; UINT32_MAX: none.
    void (*step)(const taper_quantization *quantization, size_t index, struct taper_quantized_layer *layer,
                 uint32_t *value, uint32_t *made);
    // Whether that parameter of forward is quantized when it comes, and how calibration would do it.
    bool (*parameter)(const taper_quantization *quantization, uint32_t value, double *scale, int64_t *zero_point);
} taper_quantization_table;

struct taper_compiler {
    // Rewrites the graphs for running here (target stage).
    taper_status (*optimize)(taper_compilation *compilation);
    // Rewrites them with PyTorch's own operators, as its optimize_for_mobile does (portable stage), and the objects as
    // far as nobody needs them any more: *root, a reference that the caller releases, is what is left of the root.
    taper_status (*prepare)(taper_compilation *compilation, taper_val *root);
    // The graph as a function of the lite interpreter, for a file of this version of bytecode. Everything of *function
    // but its name and schema is filled; its constants are references that the caller releases, also on failure.
    taper_status (*emit)(taper_compilation *compilation, taper_graph *graph, int version, taper_arena *arena,
                         taper_module_function *function);
    const taper_quantization_table *quantization;
    // For who finishes a portable stage: the graph for parameters of these shapes, with the shapes of its values in its
    // arena; and shown to compilation->devices, with compilation->shapes.
    taper_status (*specialize)(taper_compilation *compilation, taper_graph *graph, const struct taper_shape *params,
                               size_t count, struct taper_shapes **shapes);
    taper_status (*segments)(taper_compilation *compilation, taper_graph *graph);
};

#endif
