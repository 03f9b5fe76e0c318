// SPDX-License-Identifier: BSD-2-Clause
// A pass rewrites one graph at a time, keeping what the model computes. The list of passes, in order, is compiler.c.
#ifndef TAPER_COMPILER_PASS_H
#define TAPER_COMPILER_PASS_H

#include "compiler_hook.h"
#include "ir/effects.h"
#include "ir/graph.h"
#include "ops/call/fold.h"

typedef taper_status (*taper_pass_function)(taper_compilation *compilation, taper_graph *graph);

taper_status taper_pass_fold_tensors(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_freeze(taper_compilation *compilation, taper_graph *graph);
void taper_pass_freeze_end(taper_compilation *compilation);
// Whether any graph sets an attribute with this slot number (freeze.c).
TAPER_MUST_USE taper_status taper_slot_is_set(taper_compilation *compilation, int64_t slot, bool *is_set);
taper_status taper_pass_constant_lists(taper_compilation *compilation, taper_graph *graph);
// Whether that user of a list only reads it, by an operator that takes such a list alone (constant_lists.c).
bool taper_use_only_reads_list(const taper_value_use *use);
taper_status taper_pass_fold_constants(taper_compilation *compilation, taper_graph *graph);
// A pure operator on constants becomes its result (*done); an If of a constant condition the nodes of the block taken.
TAPER_MUST_USE taper_status taper_fold_node(taper_compilation *compilation, taper_node *node, bool *done);
bool taper_take_branch(taper_node *node);
taper_status taper_pass_known_devices(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_known_ranks(taper_compilation *compilation, taper_graph *graph);
// Whether any graph has an operator that gives a tensor other sizes or another dtype in place (known_ranks.c).
bool taper_ranks_change(taper_compilation *compilation);
// How many dimensions a value has, as far as the operators before it tell (known_ranks.c).
typedef struct taper_rank {
    int64_t number;             // -1: not known
    const taper_ir_value *from; // it was computed from this one by operators that keep, add or drop dimensions,
    int64_t more;               // and has so many more of them; fewer where negative
    bool squeezed;              // at most so many: what a squeeze drops depends on sizes
} taper_rank;
taper_rank taper_rank_of(const taper_ir_value *value);
// The rank that a check raises for all others of, as exported programs begin with; -1: none is known (check_ranks.c).
int64_t taper_checked_rank(const taper_ir_value *value);
// Whether it has two dimensions unless what computes it raises: also behind reductions, and parts, of images.
bool taper_is_matrix(taper_compilation *compilation, const taper_ir_value *value);
taper_status taper_pass_dissolve_containers(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_peephole(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_remove_dropout(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_check_ranks(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_dead_code(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_conv1d_to_conv2d(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_recompose(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_recognize_linear(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_narrow_weights(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_unpack(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_name_layers(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_fold_batch_norm(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_prepack(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_fuse_clamp(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_fuse_add_relu(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_copy_to_host(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_hoist_packed(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_segments(taper_compilation *compilation, taper_graph *graph);
// No pass: the graph for parameters of these shapes (specialize.c). shapes: of its values, in its arena.
TAPER_MUST_USE taper_status taper_specialize(taper_compilation *compilation, taper_graph *graph,
                                             const struct taper_shape *params, size_t count,
                                             struct taper_shapes **shapes);

// Not a pass but the end of the portable stage: *root is a root object (a reference) without what no graph looks at,
// and the graphs' slots are numbered accordingly.
TAPER_MUST_USE taper_status taper_prune_attributes(taper_compilation *compilation, taper_val *root);

taper_status taper_pass_cse(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_remove_mutation(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_unroll(taper_compilation *compilation, taper_graph *graph);
// Types of values that have none in bytecode, as operators' schemas say them (learn_types.c).
void taper_learn_types(taper_block *block);

// The pass with this name; NULL when there is none. For tests.
taper_pass_function taper_pass_find(const char *name);

// ---- what is known of all graphs

// Finds what the graphs write to, once; freed when the passes are done.
typedef struct taper_written_storages taper_written_storages;
#ifndef TAPER_WITHOUT_PASSES
TAPER_MUST_USE taper_status taper_written_storages_find(taper_compilation *compilation);
void taper_written_storages_free(taper_compilation *compilation);
// Whether any graph may write to the tensor, list, dict or, of a tuple or list, a tensor in it. True when not known.
bool taper_is_written(const taper_compilation *compilation, taper_val value);
#else // what asks is left out too, or does without
static inline taper_status taper_written_storages_find(const taper_compilation *compilation)
{
    (void)compilation;
    return TAPER_OK;
}
static inline void taper_written_storages_free(const taper_compilation *compilation)
{
    (void)compilation;
}
static inline bool taper_is_written(const taper_compilation *compilation, taper_val value)
{
    (void)compilation, (void)value;
    return true;
}
#endif
// ---- helpers (pass.c)

// Whether the graph is a method of the root's class.
bool taper_is_of_root(const taper_compilation *compilation, const taper_graph *graph);

// The row without the underscore, with the same arguments (aten::add of aten::add_); *op NULL: there is none.
TAPER_MUST_USE taper_status taper_functional_row(taper_compilation *compilation, const taper_node *node,
                                                 const taper_op **op, const taper_schema **schema);
// A constant node before `before`; takes over the reference.
TAPER_MUST_USE taper_status taper_constant_before(taper_node *before, taper_val value, taper_ir_value **made,
                                                  taper_error *error);
// A call of the operator before `before`, inputs not set yet; *node NULL when op is: this build has no such operator.
TAPER_MUST_USE taper_status taper_op_before(taper_compilation *compilation, taper_node *before, const taper_op *op,
                                            taper_node **node);
// The input of node that stands for the argument of that name; NULL when the schema has none.
taper_ir_value *taper_node_argument(const taper_node *node, const char *name);
// A constant list of ints before `before`.
TAPER_MUST_USE taper_status taper_constant_ints_before(taper_compilation *compilation, taper_node *before,
                                                       const int64_t *numbers, size_t count, taper_ir_value **made);
// node's only output gets the place of old's, and old goes.
void taper_node_replace(taper_node *old, taper_node *with);
// Calls visit for every node of the block and the blocks in it; visit may remove or replace the node it is given.
TAPER_MUST_USE taper_status taper_visit_nodes(taper_compilation *compilation, taper_block *block,
                                              taper_status (*visit)(taper_compilation *compilation, taper_node *node));

#endif
