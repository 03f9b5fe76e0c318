// SPDX-License-Identifier: BSD-2-Clause
// Which operators and classes a file needs and this build lacks: all of them at once, with how often each is called.
#include "frontend/bytecode.h"
#include "frontend/needs.h"
#include "ops/lang/torchbind.h"

static bool is_missing(const taper_need *need)
{
    return need->calls != 0 && (need->overload == NULL ? taper_torchbind_left_out(need->name)
                                                       : taper_row_find(need->name, need->overload) == NULL);
}

static taper_status fail(const taper_needs *needs, size_t operators, size_t classes, taper_error *error)
{
    const taper_need *first = needs->items;
    while (!is_missing(first)) {
        first++;
    }
    const char *const dot = first->overload != NULL && first->overload[0] != '\0' ? "." : "";
    const taper_status status = taper_fail(
        error, TAPER_ERROR_UNSUPPORTED,
        "the model needs %zu %s%s that this build of Taper does not have: %s%s%s%s; see the list", operators + classes,
        classes == 0     ? "operator"
        : operators == 0 ? "class"
                         : "operators and classe",
        operators + classes == 1         ? ""
        : classes != 0 && operators == 0 ? "es"
                                         : "s",
        first->name, dot, first->overload != NULL ? first->overload : "", operators + classes > 1 ? " and others" : "");
    for (size_t i = 0; i < needs->count; i++) {
        const taper_need *n = &needs->items[i];
        if (is_missing(n)) {
            const char *const overload = n->overload != NULL ? n->overload : "";
            taper_error_add_detail(error, "  %s%s%s (%zu %s%s)\n", n->name, overload[0] != '\0' ? "." : "", overload,
                                   n->calls, n->overload != NULL ? "call" : "object", n->calls == 1 ? "" : "s");
        }
    }
    return status;
}

taper_status taper_bytecode_check_operators(const taper_module *module, taper_error *error)
{
    taper_needs needs;
    taper_status status = taper_needs_collect(module, &needs, error);
    size_t missing[2] = {0};
    for (size_t i = 0; status == TAPER_OK && i < needs.count; i++) {
        missing[needs.items[i].overload == NULL] += is_missing(&needs.items[i]);
    }
    if (missing[0] + missing[1] != 0) {
        status = fail(&needs, missing[0], missing[1], error);
    }
    taper_needs_free(&needs);
    return status;
}
