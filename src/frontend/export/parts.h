// SPDX-License-Identifier: BSD-2-Clause
// Declarations that the files of this front end share: the state of one program while it is lowered.
#ifndef TAPER_FRONTEND_EXPORT_PARTS_H
#define TAPER_FRONTEND_EXPORT_PARTS_H

#include "base/charge.h"
#include "format/pt2_program.h"
#include "frontend/export/export.h"
#include "ops/call/emit.h"

typedef struct taper_export_lowering {
    taper_emitter emit;
    taper_module *module;
    const taper_pt2_program *program;
    const taper_export_options *options;
    taper_needs *missing;
    const taper_pt2_node *node; // node being lowered, used in messages
    int depth;                  // nesting depth of the graph being lowered
    int autocast;               // dtype of the autocast around this node, or 0 for none
    size_t place_capacity;      // items allocated for debug entries of the module
} taper_export_lowering;

// The values of one graph.
typedef struct taper_export_scope {
    const taper_pt2_graph *graph;
    taper_ir_value **values; // for each value of the graph: value that was made, or NULL before it is made
    bool *used;              // for each value of the graph: true if a node or the graph's result uses it
} taper_export_scope;

TAPER_COLD taper_status taper_export_refuse(const taper_export_lowering *l, const char *format, ...) TAPER_PRINTF(2, 3);

// ---- values.c: arguments

// Gets the value of an argument, converted to the type of the operator's parameter. If `type` is NULL, the value is not
// converted.
TAPER_MUST_USE taper_status taper_export_value(taper_export_lowering *l, const taper_export_scope *scope,
                                               const taper_pt2_argument *argument, const taper_type *type,
                                               taper_ir_value **value);
// Returns the node's argument with this name, or NULL if there is none. If the file has no names of arguments, returns
// the argument at this position.
const taper_pt2_argument *taper_export_argument(const taper_pt2_node *node, const char *name, size_t position);
// Records `value` as the value of output number `index` of the node. Does nothing if the node lacks this output, or the
// output is not a value.
TAPER_MUST_USE taper_status taper_export_name(taper_export_lowering *l, taper_export_scope *scope, size_t index,
                                              taper_ir_value *value);
const taper_type *taper_export_type(const taper_pt2_value *value); // returns the type of a value of the program

// ---- nodes.c: graphs, nodes, operators

// Lowers the nodes of the graph. `inputs` has one value for each input of the graph. `outputs` receives one value for
// each output.
TAPER_MUST_USE taper_status taper_export_graph(taper_export_lowering *l, const taper_pt2_graph *graph,
                                               taper_ir_value *const *inputs, taper_ir_value **outputs);
// Lowers the node as a call of an operator. If `formal` is not NULL, the node's argument named `given` becomes the
// operator's argument named `formal`. loose: true to ignore arguments that the operator lacks.
TAPER_MUST_USE taper_status taper_export_call(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                                              const char *formal, const char *given, bool loose);
// Lowers `node` instead of the current node.
TAPER_MUST_USE taper_status taper_export_node(taper_export_lowering *l, taper_export_scope *scope,
                                              const taper_pt2_node *node);
TAPER_MUST_USE taper_status taper_export_note_missing(taper_export_lowering *l, const char *name, const char *overload);

// ---- special.c: lowers targets (functions that nodes call) without a row in the operator list; *done remains false
// for other targets

TAPER_MUST_USE taper_status taper_export_special(taper_export_lowering *l, taper_export_scope *scope,
                                                 const char *target, bool *done);
// ---- autocast.c: casts before operators inside autocast

// Casts the node's arguments if autocast casts them. op: the operator, or NULL if this build lacks the overload. name:
// the operator's name, such as "aten::linear". *kept receives the values before the casts, or NULL if nothing is cast.
// The caller passes *kept to taper_export_uncast after the node is lowered.
TAPER_MUST_USE taper_status taper_export_autocast(taper_export_lowering *l, taper_export_scope *scope,
                                                  const taper_op *op, const char *name, taper_ir_value ***kept);
void taper_export_uncast(const taper_export_lowering *l, taper_export_scope *scope, taper_ir_value **kept);

// ---- composed.c: targets that several operators implement; *done remains false for other targets
TAPER_MUST_USE taper_status taper_export_composed(taper_export_lowering *l, taper_export_scope *scope,
                                                  const char *target, bool *done);
// ---- symbols.c: arithmetic of sizes
TAPER_MUST_USE taper_status taper_export_symbol(taper_export_lowering *l, taper_export_scope *scope, const char *target,
                                                bool *done);
// Applies the Python operator or function named `target` to these operands. *result remains NULL if the target is not
// supported.
TAPER_MUST_USE taper_status taper_export_apply(taper_export_lowering *l, const char *target, taper_ir_value **operands,
                                               size_t count, taper_ir_value **result);
// Calls the overload that takes operands of these types. If no overload takes these types, calls the overload for
// floats.
TAPER_MUST_USE taper_status taper_export_compute(taper_export_lowering *l, const char *name, taper_ir_value **operands,
                                                 size_t count, taper_ir_value **result);
// ---- control.c: operators on graphs; target is without "torch.ops.higher_order."
TAPER_MUST_USE taper_status taper_export_control(taper_export_lowering *l, taper_export_scope *scope,
                                                 const char *target);

// ---- checks.c: checks that inputs are as they were at export. inputs: inputs of the program. names: names of the
// inputs from the caller.
TAPER_MUST_USE taper_status taper_export_check_inputs(taper_export_lowering *l, taper_ir_value *const *inputs,
                                                      const char *const *names);

// ---- guards.c: the program's guards, which are Python expressions of the arguments. The parameters mean the same as
// in taper_export_check_inputs.
TAPER_MUST_USE taper_status taper_export_check_guards(taper_export_lowering *l, taper_ir_value *const *inputs,
                                                      const char *const *names);

// ---- tree.c

// Builds forward's result from its leaves, nested as the tree describes.
TAPER_MUST_USE taper_status taper_export_pack(taper_export_lowering *l, const taper_pt2_tree *tree,
                                              taper_ir_value *const *leaves, taper_ir_value **packed);
// Makes a name for each leaf of the arguments, such as "x", "x.0" or "kwargs.mask".
TAPER_MUST_USE taper_status taper_export_leaf_names(taper_export_lowering *l, const char **names);

#endif
