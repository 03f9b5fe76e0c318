// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_INSPECT_DETAIL_H
#define TAPER_TOOLS_INSPECT_DETAIL_H

#include <taper/taper_app.h>

#include "taper/inputs.h"

// Prints each method as a graph in the form that runs. If inputs are given, forward runs once, and each line ends with
// the shapes of the values on it. If path is not NULL, forward is drawn to that file instead.
bool inspect_print_graphs(const opened_model *opened, const call_inputs *inputs, const char *path);
// Prints the memory plan of the session's last run, as a picture of the arena over time and a list of the largest
// storages. If path is not NULL, the plan is drawn to that file instead.
bool inspect_print_memory(const opened_model *opened, bool json, const char *path);

// ---- inspect_facts.c: lines of the summary and members of its JSON. Without a session, facts that need a run are
// omitted.

void inspect_put_facts(const opened_model *opened);
void inspect_put_bundled(const opened_model *opened);
void inspect_put_facts_json(const opened_model *opened);

// ---- inspect_lint.c

bool inspect_print_lints(const opened_model *opened, bool json);

#endif
