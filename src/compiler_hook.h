// SPDX-License-Identifier: BSD-2-Clause
// What the compiler offers to whoever loads a model. The runtime calls it through this table only and links without it.
#ifndef TAPER_COMPILER_HOOK_H
#define TAPER_COMPILER_HOOK_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

struct taper_optimize_options; // taper_compile.h
struct taper_compilation;

// What files are prepared for: a row of backends/preparer_list.inc. Whoever loads and whoever prepares go over these
// rows, and know none from another.
typedef struct taper_preparer {
    const char *name, *title; // of the device; for people
    taper_device_kind kind;
    taper_op_packer packer; // whose operators take the layers' packed weights; NONE: nobody's, layers stay plain
    const char *attribute;  // of the root, by which PyTorch tells such a model
    // A file is prepared for it where its root holds an object of a class with such a name. NULL: files do not tell.
    const char *class_begins, *class_ends;
    bool adds_relu;          // it has a sum with relu
    bool images_only;        // and neither squeeze nor unsqueeze
    bool keeps_packs;        // packed weights are attributes of the root; otherwise constants
    bool turns_linear;       // weights of linear layers are packed as [in, out],
    bool bare_linear;        // and without bounds for what they give
    bool converts;           // there is a row of backends/converter_list.inc, in builds that have it
    const taper_op *fetches; // brings a result to the host's memory; NULL: nothing has to
    const taper_op *asks;    // tells a model whether the device is there; NULL: nothing does
} taper_preparer;
extern const taper_preparer taper_preparers[]; // the first is the host's own; name NULL ends them

// What takes out of a prepared model's graphs what the device shall do in a form of its own.
typedef struct taper_converter {
    const char *name; // of its preparer
    // That the options make sense, before anything is done.
    taper_status (*check)(const struct taper_optimize_options *options, taper_error *error);
    // At the end of the portable stage, before attributes that nobody looks at go.
    taper_status (*convert)(struct taper_compilation *compilation, const struct taper_optimize_options *options);
} taper_converter;

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
    bool device_required;        // of the first: it fails rather than decline
    size_t taken;                // segments of the first
    const char *left, *left_why; // the operator that it left before all others, and why; NULL: none
    const char *const *disabled; // names of passes
    size_t disabled_count;
    bool portable; // the graphs are to be written to a file
    bool to_save;  // and nothing else: weights may be worked out then (ir/scaled_storage.h)
    // Of the portable stage: for whom. NULL: nobody, layers stay plain to be quantized.
    const taper_preparer *preparer;
    struct taper_shapes *shapes;                  // what is known of the graph that is shown; NULL: what constants tell
    const taper_converter *converter;             // NULL: none
    const struct taper_optimize_options *options; // the converter's
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
// which are the same in every draft of one file that was prepared for nobody.
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
