// SPDX-License-Identifier: BSD-2-Clause
// Upgraders: what an operator meant in the version of PyTorch that wrote the file, as rewrites of the graph.
#ifndef TAPER_FRONTEND_UPGRADE_H
#define TAPER_FRONTEND_UPGRADE_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Rewrites node, an operator call with all its arguments, when the operator version and kind of the file want it.
// outputs: where the caller keeps the node's results; they are replaced by the rewritten ones.
TAPER_MUST_USE taper_status taper_upgrade_node(taper_graph *graph, taper_node *node, taper_registry *registry,
                                               const taper_module *module, taper_ir_value **outputs,
                                               taper_error *error);

// The overload that an upgrader of that version calls besides the operator itself and TAPER_UPGRADE_TESTS; NULL when
// there is no upgrader for it.
const char *taper_upgrade_overload(const char *name, const char *overload, int64_t version);
// The operators that ask whether an argument is floating: X(name, overload).
#define TAPER_UPGRADE_TESTS(X) X("aten::is_floating_point", "")

#endif
