// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_BENCH_PROFILE_H
#define TAPER_TOOLS_BENCH_PROFILE_H

#include <stdio.h>

#include "taper/opened_model.h"

// The profile of the session's runs since taper_profile_set: a table with bars, the dearest operators first.
bool bench_profile_print(const opened_model *opened, size_t runs);
// `, "ops": [{"name", "kernel", "ms", "gflops"}…]`: ms per run, in the order of the program.
bool bench_profile_json(const opened_model *opened, size_t runs);

#endif
