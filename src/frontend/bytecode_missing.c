// SPDX-License-Identifier: BSD-2-Clause
// Finds all operators and classes that a file needs and this build lacks, with the number of calls of each.
#include "frontend/bytecode.h"
#include "frontend/needs.h"
#include "ops/list/op_table.h"

// Keeps only the items that this build lacks.
static void keep_missing(taper_needs *needs)
{
    size_t kept = 0;
    for (size_t i = 0; i < needs->count; i++) {
        const taper_need *need = &needs->items[i];
        if (need->overload != NULL && need->calls != 0 && taper_row_find(need->name, need->overload) == NULL) {
            needs->items[kept++] = *need;
        }
    }
    needs->count = kept;
}

taper_status taper_bytecode_check_operators(const taper_module *module, taper_error *error)
{
    taper_needs needs;
    taper_status status = taper_needs_collect(module, &needs, error);
    keep_missing(&needs);
    if (status == TAPER_OK) {
        status = taper_needs_add_missing_classes(&needs, module, error);
        taper_needs_merge(&needs);
    }
    if (status == TAPER_OK && needs.count != 0) {
        status = taper_needs_refuse(&needs, error);
    }
    taper_needs_free(&needs);
    return status;
}
