// SPDX-License-Identifier: BSD-2-Clause
// Which operators a file needs and this build lacks: all of them at once, with how often each is called.
#include <stdlib.h>

#include "frontend/bytecode.h"

typedef struct missing_operator {
    const char *name, *overload;
    size_t calls;
} missing_operator;

static int by_name(const void *a, const void *b)
{
    const missing_operator *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names != 0 ? names : strcmp(x->overload, y->overload);
}

// Sorts and merges; returns how many different ones there are.
static size_t merge(missing_operator *items, size_t count)
{
    qsort(items, count, sizeof *items, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && by_name(&items[kept - 1], &items[i]) == 0) {
            items[kept - 1].calls += items[i].calls;
        } else {
            items[kept++] = items[i];
        }
    }
    return kept;
}

static taper_status collect(const taper_lite_module *module, const taper_registry *registry, missing_operator **items, size_t *count,
                            size_t *capacity, taper_error *error)
{
    for (size_t f = 0; f < module->function_count; f++) {
        const taper_lite_function *function = &module->functions[f];
        for (size_t pc = 0; pc < function->instruction_count; pc++) {
            const taper_lite_instruction *in = &function->instructions[pc];
            if ((in->op != TAPER_LITE_OP && in->op != TAPER_LITE_OPN) || in->x < 0 || (size_t)in->x >= function->operator_count) {
                continue;
            }
            const taper_lite_operator *called = &function->operators[in->x];
            if (taper_registry_find(registry, called->name, called->overload) == NULL) {
                TAPER_TRY(TAPER_GROW(module->allocator, *items, *capacity, *count + 1, error));
                (*items)[(*count)++] = (missing_operator){called->name, called->overload, 1};
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_bytecode_check_operators(const taper_lite_module *module, const taper_registry *registry, taper_error *error)
{
    missing_operator *items = NULL;
    size_t count = 0, capacity = 0;
    taper_status status = collect(module, registry, &items, &count, &capacity, error);
    if (status == TAPER_OK && count != 0) {
        count = merge(items, count);
        status = taper_fail(error, TAPER_ERROR_UNSUPPORTED,
                            "the model needs %zu operator%s that this build of Taper does not have: %s%s%s%s; see the list", count,
                            count == 1 ? "" : "s", items[0].name, items[0].overload[0] != '\0' ? "." : "", items[0].overload,
                            count > 1 ? " and others" : "");
        for (size_t i = 0; i < count; i++) {
            taper_error_add_detail(error, "  %s%s%s (%zu call%s)\n", items[i].name, items[i].overload[0] != '\0' ? "." : "",
                                   items[i].overload, items[i].calls, items[i].calls == 1 ? "" : "s");
        }
    }
    taper_free(module->allocator, items, capacity * sizeof *items);
    return status;
}
