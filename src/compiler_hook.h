// SPDX-License-Identifier: BSD-2-Clause
// The compiler's functions for the runtime, which calls them only through this table and links without the compiler.
#ifndef TAPER_COMPILER_HOOK_H
#define TAPER_COMPILER_HOOK_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

struct taper_optimize_options; // defined in taper_compile.h
struct taper_compilation;

// A device for which files can be prepared. backends/preparer_list.inc lists these devices, and code that loads or
// prepares files loops over all of them.
typedef struct taper_preparer {
    const char *name, *title; // short name of the device, and its name for people
    taper_device_kind kind;
    taper_op_packer packer; // kind of packed weights that the device's operators take; NONE if layers are not packed
    const char *attribute;  // attribute of the root object by which PyTorch recognizes a model prepared for this device
    // Begin and end of a class name. If the root of a file contains an object of such a class, the file is prepared for
    // this device. NULL if files do not show the device.
    const char *class_begins, *class_ends;
    bool adds_relu;    // true if the device has an operator that adds and applies relu
    bool images_only;  // true if the device supports only 4-D tensors, and neither squeeze nor unsqueeze
    bool keeps_packs;  // true if packed weights are stored as attributes of the root, false if they are constants
    bool turns_linear; // true if weights of linear layers are packed as [in, out]
    bool bare_linear;  // true if packed linear layers cannot clamp their results
    bool converts;     // true if backends/converter_list.inc has a converter for the device, in builds with that list
    const taper_op *fetches; // operator that copies a result to the host's memory, or NULL if none is needed
    const taper_op *asks;    // operator by which a model asks whether the device is available, or NULL
} taper_preparer;
// All devices; the first is the host's CPU, and an entry with name NULL ends the table.
extern const taper_preparer taper_preparers[];

// Replaces parts of a prepared model's graphs by operators that only one device supports.
typedef struct taper_converter {
    const char *name; // name of the device in taper_preparers
    // Checks the options before the conversion changes anything.
    taper_status (*check)(const struct taper_optimize_options *options, taper_error *error);
    // Converts at the end of `prepare` (the portable stage), before unused attributes are removed.
    taper_status (*convert)(struct taper_compilation *compilation, const struct taper_optimize_options *options);
} taper_converter;

struct taper_shape; // defined in ir/infer.h
struct taper_shapes;

// The graphs of a model, and the context of their compilation.
typedef struct taper_compilation {
    const taper_allocator *allocator;
    taper_registry *registry;
    taper_module *module; // passes use its heap, arena and types for new objects
    taper_val root;
    taper_graph **graphs; // graphs of all functions; NULL for a function without a graph
    const char *const *names;
    size_t count;
    struct taper_device *const *devices; // devices to which graphs are offered, in order (ops/backend.h)
    size_t device_count;
    bool device_required; // true if a run must fail when the first device declines one of its segments
    size_t taken;         // number of segments that the first device accepted
    // First operator that the first device declined, and the reason; both NULL if the device declined no operator.
    const char *left, *left_why;
    const char *const *disabled; // names of the passes to skip
    size_t disabled_count;
    bool portable;        // true if the graphs will be written to a file
    bool takes_gradients; // true if runs record operators for gradients; some passes then leave operators as they are
    bool keeps_gradients; // true if the host may ask for gradients after runs; runs therefore record their operators
    bool differentiated;  // used by differentiate.c: true after the graphs were examined
    // True if the graphs will be saved and not run, so that the compiler may compute scaled weights
    // (ir/scaled_storage.h).
    bool to_save;
    // In `prepare` (the portable stage): the device to prepare for, or NULL if layers are not packed because they will
    // be quantized.
    const taper_preparer *preparer;
    struct taper_shapes *shapes;      // known shapes of the graph that is offered; NULL to use only constants
    const taper_converter *converter; // converter that is being executed, or NULL
    const struct taper_optimize_options *options; // options for the converter
    // List to which the emission of functions appends a source position for each debug handle. NULL if the functions
    // have no debug handles, or keep the handles of the module's file.
    taper_module_callstacks *callstacks;
    taper_error *error;
    // Facts about all graphs, which only the compiler uses. Zero at the start.
    struct taper_set_slots *set_slots;      // attribute slots that graphs set; used by freeze.c
    struct taper_clone_memo *detached;      // used by freeze.c: copies of constants without gradients
    struct taper_written_storages *written; // storages that graphs write to; used by written_storages.c
    int ranks_change; // used by known_ranks.c: 1 if no graph changes ranks in place, 2 if one does, 0 if unknown
    // Used by constant_lists.c: 1 if no graph changes lists that the graph did not make, 2 if one does, 0 if unknown.
    int lists_change;
    // 1 if no graph writes to values from outside the graph, 2 if one does, 0 if unknown
    int outside_written;
    // Used by fold_tensors.c: bytes of all tensors that it made, and number of elements that it computed.
    size_t folded_bytes, fold_work;
} taper_compilation;

// Functions for quantization after training (compiler/quantization.h). Facts about the values of forward are stored by
// the number of the value. A value has the same number in every draft that was made from one file without preparing it
// for a device.
struct taper_quantize_options; // defined in taper_compile.h
struct taper_quantized_layer;
typedef struct taper_quantization taper_quantization;
typedef struct taper_quantization_table {
    // Creates a quantization. The strings in the options must remain valid as long as the quantization exists.
    // `value_count` is the number of values of the graph after `prepare` and `adjust`.
    taper_status (*create)(const taper_allocator *allocator, const struct taper_quantize_options *options,
                           uint32_t value_count, taper_quantization **quantization, taper_error *error);
    void (*destroy)(taper_quantization *quantization);
    // Equalizes the weights of neighbouring layers. Must be called for every draft before it is planned or rewritten.
    taper_status (*adjust)(const struct taper_quantize_options *options, taper_compilation *compilation,
                           taper_graph *graph);
    // Records a value of the first run. Must be called before `plan`.
    void (*meet)(taper_quantization *quantization, uint32_t value, taper_val met);
    // Chooses the operators that become quantized. Fails if there are none.
    taper_status (*plan)(taper_quantization *quantization, taper_compilation *compilation, taper_graph *graph);
    // Records a value of a calibration run. Must be called after `plan`. Fails if an element is not finite.
    taper_status (*observe)(taper_quantization *quantization, uint32_t value, taper_val seen, taper_error *error);
    // Rewrites the graph of a draft with the operators that `plan` chose. The draft is not the planned draft: it was
    // loaded again from the same file. If `root` is not NULL, *root receives the root object without unused attributes,
    // as for `prepare`.
    taper_status (*rewrite)(taper_quantization *quantization, taper_compilation *compilation, taper_graph *graph,
                            taper_val *root);
    size_t (*step_count)(const taper_quantization *quantization);
    // Describes step number `index`. *value receives the number of the value with the float result. *made receives the
    // number of the value with the quantized result, or UINT32_MAX if there is none.
    void (*step)(const taper_quantization *quantization, size_t index, struct taper_quantized_layer *layer,
                 uint32_t *value, uint32_t *made);
    // Returns true if the caller must quantize this parameter of forward. *scale and *zero_point receive the results of
    // the calibration.
    bool (*parameter)(const taper_quantization *quantization, uint32_t value, double *scale, int64_t *zero_point);
} taper_quantization_table;

struct taper_compiler {
    // Rewrites the graphs for execution on this machine (target stage).
    taper_status (*optimize)(taper_compilation *compilation);
    // Rewrites the graphs with PyTorch's own operators, as optimize_for_mobile does (portable stage). *root receives
    // the root object without attributes that are no longer used, a reference that the caller releases.
    taper_status (*prepare)(taper_compilation *compilation, taper_val *root);
    // Makes a function of the lite interpreter from the graph, for a file of this bytecode version. Fills *function
    // except name and schema. The constants of the function are references that the caller releases, also if `emit`
    // fails.
    taper_status (*emit)(taper_compilation *compilation, taper_graph *graph, int version, taper_arena *arena,
                         taper_module_function *function);
    const taper_quantization_table *quantization;
    // Functions for converters. `specialize` copies the graph for parameters of the given shapes; *shapes receives the
    // shapes of the copy's values, in the arena of the copy. `segments` offers the graph to compilation->devices, which
    // may read compilation->shapes.
    taper_status (*specialize)(taper_compilation *compilation, taper_graph *graph, const struct taper_shape *params,
                               size_t count, struct taper_shapes **shapes);
    taper_status (*segments)(taper_compilation *compilation, taper_graph *graph);
};

#endif
