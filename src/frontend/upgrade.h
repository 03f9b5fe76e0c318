// SPDX-License-Identifier: BSD-2-Clause
// Upgraders rewrite the graph so that an operator has the meaning that it had in the PyTorch version that wrote the
// file.
#ifndef TAPER_FRONTEND_UPGRADE_H
#define TAPER_FRONTEND_UPGRADE_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Rewrites `node`, a call of an operator with all its arguments, if the operator version and the kind of the file
// require it. outputs: the caller's pointers to the node's results, which are updated.
TAPER_MUST_USE taper_status taper_upgrade_node(taper_graph *graph, taper_node *node, taper_registry *registry,
                                               const taper_module *module, taper_ir_value **outputs,
                                               taper_error *error);

// Returns the overload that an upgrader for this version calls in addition to the operator itself and the operators of
// TAPER_UPGRADE_TESTS. Returns NULL if the version needs no upgrader.
const char *taper_upgrade_overload(const char *name, const char *overload, int64_t version);
// Operators that test if an argument is floating point. The arguments of X are name and overload.
#define TAPER_UPGRADE_TESTS(X) X("aten::is_floating_point", "")

#endif
