// SPDX-License-Identifier: BSD-2-Clause
// The table of those for whom files are prepared.
#include "compiler_hook.h"

const taper_preparer taper_preparers[] = {
#define PREPARER(...) {__VA_ARGS__},
#include "backends/preparer_list.inc"
#undef PREPARER
    {.name = NULL}};
