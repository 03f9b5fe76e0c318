// SPDX-License-Identifier: BSD-2-Clause
// The table of the devices that files are prepared for.
#include "compiler_hook.h"

const taper_preparer taper_preparers[] = {
#define PREPARER(...) {__VA_ARGS__},
#include "backends/preparer_list.inc"
#undef PREPARER
    {.name = NULL}};
