// SPDX-License-Identifier: BSD-2-Clause
// A pass rewrites one graph at a time without changing the results of the model. The ordered list of passes is in
// compiler.c. Passes run in two stages: the portable stage is for graphs that are written to a file, and the target
// stage is for graphs that run on this machine.
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
// Sets *is_set to true if any graph sets an attribute with this slot number (freeze.c).
TAPER_MUST_USE taper_status taper_slot_is_set(taper_compilation *compilation, int64_t slot, bool *is_set);
taper_status taper_pass_constant_lists(taper_compilation *compilation, taper_graph *graph);
// Returns true if the use only reads a list, and the operator accepts only lists for that argument (constant_lists.c).
bool taper_use_only_reads_list(const taper_value_use *use);
taper_status taper_pass_fold_constants(taper_compilation *compilation, taper_graph *graph);
// Replaces a pure operator on constants by its result, and an If with a constant condition by the nodes of the block
// that is taken. Sets *done to true if the node was replaced.
TAPER_MUST_USE taper_status taper_fold_node(taper_compilation *compilation, taper_node *node, bool *done);
bool taper_take_branch(taper_node *node);
taper_status taper_pass_known_devices(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_known_ranks(taper_compilation *compilation, taper_graph *graph);
// Returns true if any graph has an operator that changes the sizes or the dtype of a tensor in place (known_ranks.c).
bool taper_ranks_change(taper_compilation *compilation);
// The number of dimensions of a value, as far as it follows from earlier operators (known_ranks.c).
typedef struct taper_rank {
    int64_t number;             // number of dimensions; -1 if unknown
    const taper_ir_value *from; // value from which this one was computed by operators that keep, add or drop dimensions
    int64_t more;               // dimensions of this value minus dimensions of `from`
    bool squeezed; // true if `more` is an upper bound, because a squeeze drops dimensions depending on their sizes
} taper_rank;
taper_rank taper_rank_of(const taper_ir_value *value);
// Returns the only rank that a check of the value accepts, or -1 without such a check. Exported programs, for example,
// check their inputs at the start (check_ranks.c).
int64_t taper_checked_rank(const taper_ir_value *value);
// Returns true if the value has two dimensions or if computing it raises an error. The search also follows reductions
// and slices of images.
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
taper_status taper_pass_expanded_heads(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_signed_products(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_unpack(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_name_layers(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_fold_batch_norm(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_prepack(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_fuse_clamp(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_fuse_add_relu(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_copy_to_host(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_hoist_packed(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_segments(taper_compilation *compilation, taper_graph *graph);
// Copies the graph for parameters of the given shapes (specialize.c); this is not a pass. *shapes receives the shapes
// of the copy's values, in the arena of the graph.
TAPER_MUST_USE taper_status taper_specialize(taper_compilation *compilation, taper_graph *graph,
                                             const struct taper_shape *params, size_t count,
                                             struct taper_shapes **shapes);

// Ends the portable stage, whose graphs are written to a file; this is not a pass. Makes *root, a reference to a root
// object with only the attributes that a graph reads, and renumbers the attributes in the graphs.
TAPER_MUST_USE taper_status taper_prune_attributes(taper_compilation *compilation, taper_val *root);

// Replaces requests for gradients (differentiate.c).
taper_status taper_pass_differentiate(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_cse(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_remove_mutation(taper_compilation *compilation, taper_graph *graph);
taper_status taper_pass_unroll(taper_compilation *compilation, taper_graph *graph);
// Gives values that have no type in bytecode the types of the operators' schemas (learn_types.c).
void taper_learn_types(taper_block *block);

// Returns the pass with this name, or NULL if there is none. For tests.
taper_pass_function taper_pass_find(const char *name);

// ---- facts about all graphs

// Finds the storages that the graphs write to, once for all passes. The result is freed after the passes.
typedef struct taper_written_storages taper_written_storages;
#ifndef TAPER_WITHOUT_PASSES
TAPER_MUST_USE taper_status taper_written_storages_find(taper_compilation *compilation);
void taper_written_storages_free(taper_compilation *compilation);
// Returns true if a graph may write to this tensor, list or dict, or to a tensor in this tuple or list. Also returns
// true if the answer is unknown.
bool taper_is_written(const taper_compilation *compilation, taper_val value);
#else // in builds without passes, the callers of these functions do not need an answer, or are absent
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

// Returns true if the graph is a method of the root's class.
bool taper_is_of_root(const taper_compilation *compilation, const taper_graph *graph);

// Finds the operator that does not work in place, such as aten::add for aten::add_, with the same arguments. *op is
// NULL if there is no such operator.
TAPER_MUST_USE taper_status taper_functional_row(taper_compilation *compilation, const taper_node *node,
                                                 const taper_op **op, const taper_schema **schema);
// Inserts a constant node before the node `before`. Takes over the caller's reference to `value`.
TAPER_MUST_USE taper_status taper_constant_before(taper_node *before, taper_val value, taper_ir_value **made,
                                                  taper_error *error);
// Inserts a call of the operator before the node `before`; the caller sets the inputs. *node is NULL if `op` is NULL,
// which means that this build lacks the operator.
TAPER_MUST_USE taper_status taper_op_before(taper_compilation *compilation, taper_node *before, const taper_op *op,
                                            taper_node **node);
// Returns the input of `node` for the argument with this name, or NULL if the schema has no such argument.
taper_ir_value *taper_node_argument(const taper_node *node, const char *name);
// Returns true if input `index` is a constant number that equals `wanted`.
bool taper_node_constant_equals(const taper_node *node, size_t index, double wanted);
// Returns true if the node calls to.dtype, or its core operator, and only converts its input to a constant dtype.
bool taper_node_converts(const taper_node *node, double *dtype);
// Returns true if `first` is at most 64 nodes before `node` in its block, and no node between them writes to memory.
// The operands of `first` then have the same contents at `node`.
bool taper_nothing_written_since(const taper_node *node, const taper_node *first);
// Inserts a constant list of ints before the node `before`.
TAPER_MUST_USE taper_status taper_constant_ints_before(taper_compilation *compilation, taper_node *before,
                                                       const int64_t *numbers, size_t count, taper_ir_value **made);
// Replaces all uses of the output of `old` by the only output of the node `with`, and removes `old`.
void taper_node_replace(taper_node *old, taper_node *with);
// Calls `visit` for every node of the block and of its nested blocks. `visit` may remove or replace the node that it
// receives.
TAPER_MUST_USE taper_status taper_visit_nodes(taper_compilation *compilation, taper_block *block,
                                              taper_status (*visit)(taper_compilation *compilation, taper_node *node));

#endif
