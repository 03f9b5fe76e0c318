// SPDX-License-Identifier: BSD-2-Clause
// Between the parts of this front end: the state of one program that becomes a graph.
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
    const taper_pt2_node *node; // being lowered, for messages
    int depth;                  // of graphs within graphs
    int autocast;               // the lower dtype of the autocast around the node; 0: there is none
    size_t place_capacity;      // of the module's debug entries
} taper_export_lowering;

// The names of one graph.
typedef struct taper_export_scope {
    const taper_pt2_graph *graph;
    taper_ir_value **values; // by number of the graph's values; NULL: not made yet
    bool *used;              // whether a node, or the graph's result, takes it
} taper_export_scope;

TAPER_COLD taper_status taper_export_refuse(const taper_export_lowering *l, const char *format, ...) TAPER_PRINTF(2, 3);

// ---- values.c: arguments

// The argument where a parameter of this type stands; type NULL: as it is.
TAPER_MUST_USE taper_status taper_export_value(taper_export_lowering *l, const taper_export_scope *scope,
                                               const taper_pt2_argument *argument, const taper_type *type,
                                               taper_ir_value **value);
// The node's argument with a name, or NULL; at its position where the file gives no names.
const taper_pt2_argument *taper_export_argument(const taper_pt2_node *node, const char *name, size_t position);
// Names what the node gives: number `index` of its outputs, where it has so many and gives a value there.
TAPER_MUST_USE taper_status taper_export_name(taper_export_lowering *l, taper_export_scope *scope, size_t index,
                                              taper_ir_value *value);
const taper_type *taper_export_type(const taper_pt2_value *value); // of a value

// ---- nodes.c: graphs, nodes, operators

// The graph's nodes with these inputs, as many as it has; its outputs as values.
TAPER_MUST_USE taper_status taper_export_graph(taper_export_lowering *l, const taper_pt2_graph *graph,
                                               taper_ir_value *const *inputs, taper_ir_value **outputs);
// The node as a call of an operator; where the file says `given`, the operator says `formal` (NULL: nowhere).
// loose: arguments that the operator does not have are left out.
TAPER_MUST_USE taper_status taper_export_call(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                                              const char *formal, const char *given, bool loose);
// Lowers a node in the place of the one being lowered.
TAPER_MUST_USE taper_status taper_export_node(taper_export_lowering *l, taper_export_scope *scope,
                                              const taper_pt2_node *node);
TAPER_MUST_USE taper_status taper_export_note_missing(taper_export_lowering *l, const char *name, const char *overload);

// ---- special.c: targets that are no row of the list; *done stays false for others

TAPER_MUST_USE taper_status taper_export_special(taper_export_lowering *l, taper_export_scope *scope,
                                                 const char *target, bool *done);
// ---- autocast.c: what is cast before an operator is called within autocast

// Casts the node's arguments, op being its row (or NULL) and name "aten::linear". *kept: what they were, which
// taper_export_uncast puts back once the node is lowered; NULL: nothing is cast.
TAPER_MUST_USE taper_status taper_export_autocast(taper_export_lowering *l, taper_export_scope *scope,
                                                  const taper_op *op, const char *name, taper_ir_value ***kept);
void taper_export_uncast(const taper_export_lowering *l, taper_export_scope *scope, taper_ir_value **kept);

// ---- composed.c: targets that are several operators, as above
TAPER_MUST_USE taper_status taper_export_composed(taper_export_lowering *l, taper_export_scope *scope,
                                                  const char *target, bool *done);
// ---- symbols.c: arithmetic of sizes
TAPER_MUST_USE taper_status taper_export_symbol(taper_export_lowering *l, taper_export_scope *scope, const char *target,
                                                bool *done);
// What Python's operator or function `target` makes of these operands; *result stays NULL where it is not known.
TAPER_MUST_USE taper_status taper_export_apply(taper_export_lowering *l, const char *target, taper_ir_value **operands,
                                               size_t count, taper_ir_value **result);
// By the overload of an operator that takes operands of these types, or floats.
TAPER_MUST_USE taper_status taper_export_compute(taper_export_lowering *l, const char *name, taper_ir_value **operands,
                                                 size_t count, taper_ir_value **result);
// ---- control.c: operators of graphs, target without "torch.ops.higher_order."
TAPER_MUST_USE taper_status taper_export_control(taper_export_lowering *l, taper_export_scope *scope,
                                                 const char *target);

// ---- checks.c: inputs are what the program was exported for. inputs: as the program's; names: of those that the
// caller gives.
TAPER_MUST_USE taper_status taper_export_check_inputs(taper_export_lowering *l, taper_ir_value *const *inputs,
                                                      const char *const *names);

// ---- guards.c: the program's guards, which are Python expressions of the arguments. As for checks.c.
TAPER_MUST_USE taper_status taper_export_check_guards(taper_export_lowering *l, taper_ir_value *const *inputs,
                                                      const char *const *names);

// ---- tree.c

// What forward returns, of its leaves in turn.
TAPER_MUST_USE taper_status taper_export_pack(taper_export_lowering *l, const taper_pt2_tree *tree,
                                              taper_ir_value *const *leaves, taper_ir_value **packed);
// The names of the leaves of the arguments: "x", "x.0", "kwargs.mask". As many as the tree has leaves.
TAPER_MUST_USE taper_status taper_export_leaf_names(taper_export_lowering *l, const char **names);

#endif
