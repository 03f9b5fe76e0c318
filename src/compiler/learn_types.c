// SPDX-License-Identifier: BSD-2-Clause
// Gives values the types that bytecode lacks. Bytecode does not say what its registers contain, but schemas say what
// operators return. Devices use these types to distinguish tensors, sizes and lists of sizes (ops/backend.h).
#include "compiler/pass.h"
#include "ir/effects.h"

// Replaces the type variable t in `type` by the item type of argument 0, if this argument is a list t[]. Other type
// variables remain unknown.
static const taper_type *settled(const taper_node *node, const taper_type *type)
{
    const bool list = type->kind == TAPER_TYPE_LIST && type->items[0]->kind == TAPER_TYPE_VARIABLE;
    if (!list && type->kind != TAPER_TYPE_VARIABLE) {
        return type;
    }
    const taper_type *of = node->schema->arg_count != 0 ? node->schema->args[0].type : NULL;
    const taper_type *given = node->input_count != 0 ? taper_node_in(node, 0)->type : NULL;
    const taper_type *variable = list ? type->items[0] : type;
    const bool same = of != NULL && of->kind == TAPER_TYPE_LIST && taper_type_equal(of->items[0], variable) &&
                      given != NULL && given->kind == TAPER_TYPE_LIST;
    return !same ? NULL : list ? given : given->items[0];
}

static const taper_type *result_type(const taper_node *node, size_t at)
{
    if (node->kind == TAPER_NODE_LIST) {
        return node->type;
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        const taper_type *list = taper_node_in(node, 0)->type;
        return list != NULL && list->kind == TAPER_TYPE_LIST ? list->items[0] : NULL;
    }
    return node->kind == TAPER_NODE_OP && at < node->schema->ret_count ? settled(node, node->schema->rets[at].type)
                                                                       : NULL;
}

void taper_learn_types(taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->output_count; i++) {
            const taper_type **type = &node->outputs[i].type;
            *type = *type != NULL ? *type : result_type(node, i);
        }
        for (size_t b = 0; b < node->block_count; b++) {
            taper_learn_types(node->blocks[b]);
        }
    }
}
