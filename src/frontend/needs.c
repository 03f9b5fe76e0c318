// SPDX-License-Identifier: BSD-2-Clause
// Collects the operators and classes that a file needs. See needs.h.
#include "frontend/needs.h"

#include <stdlib.h>

#include "frontend/bytecode.h"
#include "frontend/upgrade.h"
#include "ir/schema.h"
#include "ops/lang/torchbind.h"
#include "ops/list/op_names.h"

static taper_status add(taper_needs *needs, const char *name, const char *overload, size_t calls, taper_error *error)
{
    TAPER_TRY(TAPER_GROW(needs->allocator, needs->items, needs->capacity, needs->count + 1, error));
    needs->items[needs->count++] = (taper_need){name, overload, calls};
    return TAPER_OK;
}

static taper_status add_operator(taper_needs *needs, const taper_module *module, const taper_lite_operator *op,
                                 size_t calls, taper_error *error)
{
    TAPER_TRY(add(needs, op->name, op->overload, calls, error));
    const char *mode = taper_upgrade_overload(op->name, op->overload, module->operator_version);
    if (mode != NULL) {
        TAPER_TRY(add(needs, op->name, mode, calls, error));
#define X(name, overload) TAPER_TRY(add(needs, name, overload, calls, error));
        TAPER_UPGRADE_TESTS(X)
#undef X
    }
    return TAPER_OK;
}

static taper_status add_instruction(taper_needs *needs, const taper_module *module,
                                    const taper_module_function *function, const taper_lite_instruction *in,
                                    taper_error *error)
{
    const taper_bytecode_row *row = taper_bytecode_row_of(in->op);
    if (row != NULL) {
        return add(needs, row->name, row->overload, 1, error);
    }
    if ((in->op == TAPER_LITE_OP || in->op == TAPER_LITE_OPN) && in->x >= 0 &&
        (size_t)in->x < function->operator_count) {
        return add_operator(needs, module, &function->operators[in->x], 1, error);
    }
    if (in->op == TAPER_LITE_CREATE_OBJECT && in->x >= 0 && (size_t)in->x < function->type_count) {
        const taper_type *type = function->types[in->x];
        if (type != NULL && type->kind == TAPER_TYPE_CLASS && type->name != NULL) {
            return add(needs, type->name, NULL, 1, error);
        }
    }
    return TAPER_OK;
}

static int by_name(const void *a, const void *b)
{
    const taper_need *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names != 0                                   ? names
           : x->overload == NULL || y->overload == NULL ? (x->overload != NULL) - (y->overload != NULL)
                                                        : strcmp(x->overload, y->overload);
}

void taper_needs_merge(taper_needs *needs)
{
    size_t kept = 0;
    if (needs->count != 0) {
        qsort(needs->items, needs->count, sizeof *needs->items, by_name);
    }
    for (size_t i = 0; i < needs->count; i++) {
        if (kept != 0 && by_name(&needs->items[kept - 1], &needs->items[i]) == 0) {
            needs->items[kept - 1].calls += needs->items[i].calls;
        } else {
            needs->items[kept++] = needs->items[i];
        }
    }
    needs->count = kept;
    taper_pointer_free(needs->allocator, &needs->rows); // merging makes the indices in `rows` invalid
}

static taper_status add_row(taper_needs *needs, const taper_node *node, taper_error *error)
{
    const size_t *known = taper_pointer_find(&needs->rows, node->op);
    if (known != NULL) {
        needs->items[*known].calls++;
        return TAPER_OK;
    }
    TAPER_TRY(taper_pointer_add(needs->allocator, &needs->rows, node->op, needs->count, error));
    return add(needs, node->schema->name, node->schema->overload, 1, error);
}

static taper_status add_block(taper_needs *needs, const taper_block *block, taper_error *error)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_OP) {
            TAPER_TRY(add_row(needs, node, error));
        } else if (node->kind == TAPER_NODE_TUPLE_UNPACK) { // in bytecode, unpacking a tuple is an operator
            TAPER_TRY(add(needs, TAPER_NAME_TUPLE_UNPACK, "", 1, error));
        } else if (node->kind == TAPER_NODE_OBJECT && node->type != NULL) {
            TAPER_TRY(add(needs, node->type->name, NULL, 1, error));
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(add_block(needs, node->blocks[b], error));
        }
    }
    return TAPER_OK;
}

taper_status taper_needs_add_graph(taper_needs *needs, const taper_graph *graph, taper_error *error)
{
    return add_block(needs, graph->body, error);
}

taper_status taper_needs_collect(const taper_module *module, taper_needs *needs, taper_error *error)
{
    *needs = (taper_needs){.allocator = module->allocator};
    for (size_t f = 0; f < module->function_count; f++) {
        const taper_module_function *function = &module->functions[f];
        for (size_t i = 0; i < function->operator_count; i++) {
            TAPER_TRY(add_operator(needs, module, &function->operators[i], 0, error));
        }
        for (size_t pc = 0; pc < function->instruction_count; pc++) {
            TAPER_TRY(add_instruction(needs, module, function, &function->instructions[pc], error));
        }
    }
    taper_needs_merge(needs);
    return TAPER_OK;
}

void taper_needs_free(taper_needs *needs)
{
    taper_pointer_free(needs->allocator, &needs->rows);
    taper_free(needs->allocator, needs->items, needs->capacity * sizeof *needs->items);
    *needs = (taper_needs){0};
}

typedef struct class_search {
    taper_needs *needs;
    taper_error *error;
    taper_status status;
} class_search;

static void add_missing_class(void *user, const char *name)
{
    class_search *search = user;
    if (search->status == TAPER_OK && taper_torchbind_is_missing(name)) {
        search->status = add(search->needs, name, NULL, 1, search->error);
    }
}

taper_status taper_needs_add_missing_classes(taper_needs *needs, const taper_module *module, taper_error *error)
{
    class_search search = {needs, error, TAPER_OK};
    taper_types_each_class(module->types, TAPER_TORCHBIND_PREFIX, add_missing_class, &search);
    return search.status;
}

static void list_missing(const taper_need *need, taper_error *error)
{
    if (need->overload == NULL) {
        taper_error_add_detail(
            error, "  %s (a class; those of C++ extensions are in no build: save the model without)\n", need->name);
        return;
    }
    taper_error_add_detail(error, "  %s%s%s (%zu call%s)\n", need->name, need->overload[0] != '\0' ? "." : "",
                           need->overload, need->calls, need->calls == 1 ? "" : "s");
    if (strcmp(need->name, "prim::ConstantMKLDNNTensor") == 0) {
        taper_error_add_detail(error, "  (optimize_for_inference() made these for oneDNN, and PyTorch did not write "
                                      "them: save the module before it)\n");
    }
}

TAPER_COLD taper_status taper_needs_refuse(const taper_needs *missing, taper_error *error)
{
    const taper_need *first = &missing->items[0];
    size_t classes = 0;
    for (size_t i = 0; i < missing->count; i++) {
        classes += missing->items[i].overload == NULL;
    }
    const bool one = missing->count == 1;
    const char *const dot = first->overload != NULL && first->overload[0] != '\0' ? "." : "";
    const char *const what = classes == 0                ? (one ? "operator" : "operators")
                             : classes == missing->count ? (one ? "class" : "classes")
                                                         : "operators and classes";
    const taper_status status = taper_fail(
        error, TAPER_ERROR_UNSUPPORTED,
        "the model needs %zu %s that this build of Taper does not have: %s%s%s%s; see the list", missing->count, what,
        first->name, dot, first->overload != NULL ? first->overload : "", one ? "" : " and others");
    for (size_t i = 0; i < missing->count; i++) {
        list_missing(&missing->items[i], error);
    }
    return status;
}
