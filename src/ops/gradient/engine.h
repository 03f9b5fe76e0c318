// SPDX-License-Identifier: BSD-2-Clause
// A computation of gradients: its state, the gradients of the results of nodes (grads.c), and the visit of one node
// (visit.c). backward.c chooses the nodes and their order.
#ifndef TAPER_OPS_GRADIENT_ENGINE_H
#define TAPER_OPS_GRADIENT_ENGINE_H

#include "ops/gradient/tape.h"

typedef struct taper_engine_target {
    taper_tape_node *node; // reference to the input's node; NULL if the input needs no gradient
    uint32_t output;
} taper_engine_target;

typedef struct taper_engine {
    taper_run *run;
    const taper_tape_request *request;
    taper_tape_caller caller;
    taper_tape_node **nodes; // all nodes that the outputs depend on
    size_t count, capacity;
    taper_engine_target *targets;
    taper_val *found; // for each target: its gradient, or None
    size_t target_count;
} taper_engine;

// ---- gradients of results (grads.c)

// Calls an operator with these arguments and the defaults of the other arguments. *result receives a reference.
TAPER_MUST_USE taper_status taper_engine_call(taper_engine *e, const taper_op *op, taper_val *args, size_t count,
                                              taper_val *result);
// Creates the array of the gradients of a node's results, if there is none yet.
TAPER_MUST_USE taper_status taper_engine_need_grads(const taper_engine *e, taper_tape_node *node);
// Returns true if nothing else refers to the gradient, so that it may be written to. A gradient that will itself be
// differentiated is never written to.
bool taper_engine_owns(const taper_engine *e, taper_val grad);
// Adds a gradient to the gradient of a node's result. Takes over the reference, also on failure.
TAPER_MUST_USE taper_status taper_engine_add(taper_engine *e, const taper_tape_edge *edge, taper_val grad);
TAPER_MUST_USE taper_status taper_engine_ints(const taper_engine *e, const int64_t *numbers, size_t count,
                                              taper_val *list);
TAPER_MUST_USE taper_status taper_engine_zeros(taper_engine *e, const taper_tape_place *place, taper_val *made);
// Replaces missing gradients of an operator with several results by zeros.
TAPER_MUST_USE taper_status taper_engine_fill(taper_engine *e, taper_tape_node *node);

// ---- visits of nodes (visit.c)

// Returns true if the gradients of the node's arguments are wanted, or if the node is a leaf (a tensor that was given,
// and not computed).
bool taper_engine_passes_on(const taper_tape_node *node);
// Computes the gradients of the arguments of a node from the gradients of its results, and adds them to the nodes of
// the arguments. If a result of the node is a target, stores its gradient in e->found.
TAPER_MUST_USE taper_status taper_engine_visit(taper_engine *e, taper_tape_node *node);

#endif
