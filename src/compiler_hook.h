// SPDX-License-Identifier: BSD-2-Clause
// The compiler's functions for the runtime, which calls them only through this table and links without the compiler.
#ifndef TAPER_COMPILER_HOOK_H
#define TAPER_COMPILER_HOOK_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

struct taper_optimize_options; // in taper_compile.h
struct taper_compilation;

// A device that files are prepared for: a row of backends/preparer_list.inc. Code that loads or prepares files loops
// over these rows and treats all of them alike.
typedef struct taper_preparer {
    const char *name, *title; // name of the device; its name for people
    taper_device_kind kind;
    taper_op_packer packer; // kind of packed weights that its operators take; NONE if layers remain plain
    const char *attribute;  // attribute of the root by which PyTorch recognizes such a model
    // A file is prepared for this device if its root contains an object of a class whose name begins and ends like
    // this. NULL if files do not show it.
    const char *class_begins, *class_ends;
    bool adds_relu;          // true if the device has a sum with relu
    bool images_only;        // true if the device supports only images, and neither squeeze nor unsqueeze
    bool keeps_packs;        // true if packed weights are attributes of the root; otherwise they are constants
    bool turns_linear;       // true if weights of linear layers are packed as [in, out]
    bool bare_linear;        // true if packed linear layers have no bounds for their results
    bool converts;           // true if the device has a row of backends/converter_list.inc, in builds with that list
    const taper_op *fetches; // operator that copies a result to the host's memory, or NULL if none is needed
    const taper_op *asks;    // operator by which a model asks if the device is available, or NULL
} taper_preparer;
extern const taper_preparer taper_preparers[]; // the first is the host's CPU; a row with name NULL ends the table

// Replaces parts of a prepared model's graphs by a form that only the device supports.
typedef struct taper_converter {
    const char *name; // name of its preparer
    // Checks the options, before anything is done.
    taper_status (*check)(const struct taper_optimize_options *options, taper_error *error);
    // Converts at the end of the portable stage, before unused attributes are removed.
    taper_status (*convert)(struct taper_compilation *compilation, const struct taper_optimize_options *options);
} taper_converter;

struct taper_shape; // in ir/infer.h
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
    bool device_required;        // true if the first device must fail rather than decline
    size_t taken;                // segments of the first device
    const char *left, *left_why; // first operator that it did not take, and the reason; or NULL
    const char *const *disabled; // names of passes
    size_t disabled_count;
    bool portable; // true if the graphs will be written to a file
    bool to_save;  // true if the graphs will only be saved, so weights may be computed then (ir/scaled_storage.h)
    // For the portable stage: the device to prepare for. NULL if layers remain plain, for quantization.
    const taper_preparer *preparer;
    struct taper_shapes *shapes;      // known shapes of the graph that is offered; NULL to use only constants
    const taper_converter *converter; // converter of the conversion, or NULL
    const struct taper_optimize_options *options; // options for the converter
    // Receives the places for the debug handles of emitted functions. NULL if these handles are those of the module's
    // file, or there are none.
    taper_module_callstacks *callstacks;
    taper_error *error;
    // Facts about all graphs, for the compiler only. Zero at first.
    struct taper_set_slots *set_slots;      // freeze.c
    struct taper_clone_memo *detached;      // freeze.c: constants without gradients
    struct taper_written_storages *written; // written_storages.c
    int ranks_change;                       // known_ranks.c: 0 unknown, 1 no, 2 yes
    int lists_change;                       // constant_lists.c: 0 unknown, 1 no, 2 yes
    int outside_written;                    // fold_tensors.c: 0 unknown, 1 no, 2 yes
    size_t folded_bytes, fold_work; // fold_tensors.c: bytes of all tensors that it made; elements that it computed
} taper_compilation;

// Quantization after training: compiler/quantization.h. Facts about the values of forward are stored by number. These
// numbers are equal in all drafts of one file that were not prepared for a device.
struct taper_quantize_options; // in taper_compile.h
struct taper_quantized_layer;
typedef struct taper_quantization taper_quantization;
typedef struct taper_quantization_table {
    // Creates a quantization. The texts of the options must remain valid. value_count: values of a prepared and
    // adjusted graph.
    taper_status (*create)(const taper_allocator *allocator, const struct taper_quantize_options *options,
                           uint32_t value_count, taper_quantization **quantization, taper_error *error);
    void (*destroy)(taper_quantization *quantization);
    // Prepares every draft: equalization.
    taper_status (*adjust)(const struct taper_quantize_options *options, taper_compilation *compilation,
                           taper_graph *graph);
    // Takes a value of the first run, before plan.
    void (*meet)(taper_quantization *quantization, uint32_t value, taper_val met);
    // Chooses the operators that become quantized. Fails if there are none.
    taper_status (*plan)(taper_quantization *quantization, taper_compilation *compilation, taper_graph *graph);
    // Takes a value of a calibration run, after plan. Fails if an element is not finite.
    taper_status (*observe)(taper_quantization *quantization, uint32_t value, taper_val seen, taper_error *error);
    // Rewrites the graph of another draft as planned. *root, unless NULL, is as in prepare.
    taper_status (*rewrite)(taper_quantization *quantization, taper_compilation *compilation, taper_graph *graph,
                            taper_val *root);
    size_t (*step_count)(const taper_quantization *quantization);
    // Describes a step. value: number of the float result; made: number of the quantized one, or UINT32_MAX.
    void (*step)(const taper_quantization *quantization, size_t index, struct taper_quantized_layer *layer,
                 uint32_t *value, uint32_t *made);
    // Returns true if the caller quantizes that parameter of forward. scale and zero_point: those of the calibration.
    bool (*parameter)(const taper_quantization *quantization, uint32_t value, double *scale, int64_t *zero_point);
} taper_quantization_table;

struct taper_compiler {
    // Rewrites the graphs to run here (target stage).
    taper_status (*optimize)(taper_compilation *compilation);
    // Rewrites the graphs with PyTorch's own operators, as optimize_for_mobile does (portable stage). Removes
    // attributes that are no longer used: *root is the remaining root object, a reference that the caller releases.
    taper_status (*prepare)(taper_compilation *compilation, taper_val *root);
    // Makes a function of the lite interpreter from the graph, for a file of this bytecode version. Fills *function
    // except name and schema. Its constants are references that the caller releases, also on failure.
    taper_status (*emit)(taper_compilation *compilation, taper_graph *graph, int version, taper_arena *arena,
                         taper_module_function *function);
    const taper_quantization_table *quantization;
    // Functions for converters. specialize copies the graph for parameters of these shapes; *shapes: shapes of its
    // values, in its arena. segments offers the graph to compilation->devices, with compilation->shapes.
    taper_status (*specialize)(taper_compilation *compilation, taper_graph *graph, const struct taper_shape *params,
                               size_t count, struct taper_shapes **shapes);
    taper_status (*segments)(taper_compilation *compilation, taper_graph *graph);
};

#endif
