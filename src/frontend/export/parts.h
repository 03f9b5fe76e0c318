// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the parts of this front end: the state of one program during its lowering.
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
    const taper_pt2_node *node; // node being lowered, for messages
    int depth;                  // nesting depth of graphs
    int autocast;               // dtype to which autocast converts around this node, or 0
    size_t place_capacity;      // room for debug entries of the module
} taper_export_lowering;

// The values of one graph.
typedef struct taper_export_scope {
    const taper_pt2_graph *graph;
    taper_ir_value **values; // values by number of the graph's value; NULL until made
    bool *used;              // true if a node or the graph's result uses it
} taper_export_scope;

TAPER_COLD taper_status taper_export_refuse(const taper_export_lowering *l, const char *format, ...) TAPER_PRINTF(2, 3);

// ---- values.c: arguments

// Gets the argument for a parameter of this type. If type is NULL, the argument is not converted.
TAPER_MUST_USE taper_status taper_export_value(taper_export_lowering *l, const taper_export_scope *scope,
                                               const taper_pt2_argument *argument, const taper_type *type,
                                               taper_ir_value **value);
// Returns the node's argument with that name, or NULL. In files without names, returns the argument at that position.
const taper_pt2_argument *taper_export_argument(const taper_pt2_node *node, const char *name, size_t position);
// Records the value as output number `index` of the node, if the node has such an output and it is a value.
TAPER_MUST_USE taper_status taper_export_name(taper_export_lowering *l, taper_export_scope *scope, size_t index,
                                              taper_ir_value *value);
const taper_type *taper_export_type(const taper_pt2_value *value); // type of a value of the program

// ---- nodes.c: graphs, nodes, operators

// Lowers the graph's nodes for these inputs, one per input of the graph. Sets its outputs.
TAPER_MUST_USE taper_status taper_export_graph(taper_export_lowering *l, const taper_pt2_graph *graph,
                                               taper_ir_value *const *inputs, taper_ir_value **outputs);
// Lowers the node as a call of an operator. If formal is not NULL, the file's argument `given` is the operator's
// argument `formal`. loose: arguments that the operator lacks are ignored.
TAPER_MUST_USE taper_status taper_export_call(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                                              const char *formal, const char *given, bool loose);
// Lowers a node in place of the current one.
TAPER_MUST_USE taper_status taper_export_node(taper_export_lowering *l, taper_export_scope *scope,
                                              const taper_pt2_node *node);
TAPER_MUST_USE taper_status taper_export_note_missing(taper_export_lowering *l, const char *name, const char *overload);

// ---- special.c: targets without a row in the list; *done remains false for all others

TAPER_MUST_USE taper_status taper_export_special(taper_export_lowering *l, taper_export_scope *scope,
                                                 const char *target, bool *done);
// ---- autocast.c: casts before operators inside autocast

// Casts the node's arguments. op: row of the operator, or NULL. name: such as "aten::linear". *kept: the original
// values, which taper_export_uncast restores after the node is lowered, or NULL if nothing is cast.
TAPER_MUST_USE taper_status taper_export_autocast(taper_export_lowering *l, taper_export_scope *scope,
                                                  const taper_op *op, const char *name, taper_ir_value ***kept);
void taper_export_uncast(const taper_export_lowering *l, taper_export_scope *scope, taper_ir_value **kept);

// ---- composed.c: targets that several operators implement; *done as above
TAPER_MUST_USE taper_status taper_export_composed(taper_export_lowering *l, taper_export_scope *scope,
                                                  const char *target, bool *done);
// ---- symbols.c: arithmetic of sizes
TAPER_MUST_USE taper_status taper_export_symbol(taper_export_lowering *l, taper_export_scope *scope, const char *target,
                                                bool *done);
// Applies Python's operator or function `target` to these operands. *result remains NULL if it is not supported.
TAPER_MUST_USE taper_status taper_export_apply(taper_export_lowering *l, const char *target, taper_ir_value **operands,
                                               size_t count, taper_ir_value **result);
// Calls the overload for operands of these types, or the one for floats.
TAPER_MUST_USE taper_status taper_export_compute(taper_export_lowering *l, const char *name, taper_ir_value **operands,
                                                 size_t count, taper_ir_value **result);
// ---- control.c: operators on graphs; target is without "torch.ops.higher_order."
TAPER_MUST_USE taper_status taper_export_control(taper_export_lowering *l, taper_export_scope *scope,
                                                 const char *target);

// ---- checks.c: checks that inputs are as they were at export. inputs: the program's. names: those of the inputs from
// the caller.
TAPER_MUST_USE taper_status taper_export_check_inputs(taper_export_lowering *l, taper_ir_value *const *inputs,
                                                      const char *const *names);

// ---- guards.c: the program's guards, which are Python expressions of the arguments. Parameters as in checks.c.
TAPER_MUST_USE taper_status taper_export_check_guards(taper_export_lowering *l, taper_ir_value *const *inputs,
                                                      const char *const *names);

// ---- tree.c

// Builds forward's result from its leaves.
TAPER_MUST_USE taper_status taper_export_pack(taper_export_lowering *l, const taper_pt2_tree *tree,
                                              taper_ir_value *const *leaves, taper_ir_value **packed);
// Makes the names of the arguments' leaves, such as "x", "x.0", "kwargs.mask", one for each leaf of the tree.
TAPER_MUST_USE taper_status taper_export_leaf_names(taper_export_lowering *l, const char **names);

#endif
