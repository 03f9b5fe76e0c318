// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_INSPECT_DETAIL_H
#define TAPER_TOOLS_INSPECT_DETAIL_H

#include "taper/opened_model.h"

// Every method as a graph, as it runs.
bool inspect_print_graphs(const opened_model *opened);
// The memory plan of the session's last run: a picture of the arena over time, and the largest storages.
bool inspect_print_memory(const opened_model *opened, bool json);

#endif
