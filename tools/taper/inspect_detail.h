// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_INSPECT_DETAIL_H
#define TAPER_TOOLS_INSPECT_DETAIL_H

#include <taper/taper_app.h>

#include "taper/inputs.h"

// Every method as a graph, as it runs; with inputs forward is run, and the shapes of its values stand behind the lines.
// path: forward is drawn there instead; NULL: nowhere.
bool inspect_print_graphs(const opened_model *opened, const call_inputs *inputs, const char *path);
// The memory plan of the session's last run: a picture of the arena over time, and the largest storages; or drawn to
// path.
bool inspect_print_memory(const opened_model *opened, bool json, const char *path);

// ---- inspect_facts.c: lines of the summary, and members of its JSON. Without a session what only a run tells is left
// out.

void inspect_put_facts(const opened_model *opened);
void inspect_put_bundled(const opened_model *opened);
void inspect_put_facts_json(const opened_model *opened);

// ---- inspect_lint.c

bool inspect_print_lints(const opened_model *opened, bool json);

#endif
