// SPDX-License-Identifier: BSD-2-Clause
// Implements Module.eval(): sets `training` of the root and of every module below it to False. optimize_for_mobile
// begins with eval(), and PyTorch Mobile's Module.load called it for TorchScript files on Android and iOS. Also tells
// if eval() would change any result.
#include "base/pointer_map.h"
#include "runtime/model.h"

// Returns the slot with the object's attribute `training`, or NULL if it has none.
static taper_val *training_of(const taper_object *object)
{
    const int64_t slot =
        object->klass != NULL && object->klass->slots != NULL ? taper_object_slot(object, "training") : -1;
    return slot >= 0 && (size_t)slot < object->count && object->slots[slot].tag == TAPER_BOOLEAN ? &object->slots[slot]
                                                                                                 : NULL;
}

typedef struct evaluation {
    const taper_allocator *allocator;
    taper_pointer_map met;
    taper_error *error;
} evaluation;

static taper_status settle(evaluation *e, taper_object *object, int depth)
{
    if (depth > TAPER_LIMIT_VALUE_DEPTH || taper_pointer_find(&e->met, object) != NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_pointer_add(e->allocator, &e->met, object, 0, e->error));
    taper_val *training = training_of(object);
    if (training != NULL) {
        *training = taper_val_bool(false);
    }
    for (size_t i = 0; i < object->count; i++) {
        if (object->slots[i].tag == TAPER_OBJECT) {
            TAPER_TRY(settle(e, object->slots[i].as.object, depth + 1));
        }
    }
    return TAPER_OK;
}

taper_status taper_model_evaluate(taper_model *model, taper_error *error)
{
    evaluation e = {.allocator = model->allocator, .error = error};
    const taper_val root = model->module.root;
    const taper_status status = root.tag == TAPER_OBJECT ? settle(&e, root.as.object, 0) : TAPER_OK;
    taper_pointer_free(e.allocator, &e.met);
    return status;
}

int taper_model_is_training(const taper_model *model)
{
    const taper_val root = model != NULL ? model->module.root : taper_val_none();
    const taper_val *training = root.tag == TAPER_OBJECT ? training_of(root.as.object) : NULL;
    return training != NULL && training->as.b;
}

// ---- whether operators train

// Returns the input of the node for the argument with this name, or NULL if there is none.
static const taper_ir_value *find_argument(const taper_node *node, const char *name)
{
    const size_t count = taper_min_size(node->input_count, node->schema->arg_count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(node->schema->args[i].name, name) == 0) {
            return taper_node_in(node, i);
        }
    }
    return NULL;
}

// Finds a value that is known before the run: a constant, or an attribute of a module in the loaded model. *found is
// borrowed. Returns false if the value is known only in the run.
static bool find_value(const taper_function *function, taper_val self, const taper_ir_value *value, int depth,
                       taper_val *found)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        *found = self;
        return function->of_root && value->index == 0 && value->block == function->program.graph->body;
    }
    if (node->kind == TAPER_NODE_CONSTANT) {
        *found = node->constant;
        return true;
    }
    taper_val object;
    if (node->kind != TAPER_NODE_GET_ATTR || depth == TAPER_LIMIT_VALUE_DEPTH ||
        !find_value(function, self, taper_node_in(node, 0), depth + 1, &object) || object.tag != TAPER_OBJECT ||
        node->own.slot < 0 || (size_t)node->own.slot >= object.as.object->count) {
        return false;
    }
    *found = object.as.object->slots[node->own.slot];
    return true;
}

// Returns true if the operator behaves differently in training. One of its arguments states the mode. A dropout with
// rate 0 does not differ. A batch norm without running statistics does not differ either, because it uses the
// statistics of the batch in both modes.
static bool trains(const taper_model *model, const taper_function *function, const taper_node *node)
{
    static const char *const modes[] = {"training", "train", "use_input_stats"}, *const rates[] = {"p", "dropout"};
    const taper_val self = model->module.root;
    const taper_ir_value *mode = NULL, *rate = NULL;
    taper_val value;
    for (size_t i = 0; mode == NULL && i < sizeof modes / sizeof modes[0]; i++) {
        mode = find_argument(node, modes[i]);
    }
    if (mode == NULL || (find_value(function, self, mode, 0, &value) && value.tag == TAPER_BOOLEAN && !value.as.b)) {
        return false;
    }
    for (size_t i = 0; rate == NULL && i < sizeof rates / sizeof rates[0]; i++) {
        rate = find_argument(node, rates[i]);
    }
    if (rate != NULL) {
        return !find_value(function, self, rate, 0, &value) || value.tag != TAPER_DOUBLE || value.as.f != 0;
    }
    const taper_ir_value *statistics = find_argument(node, "running_mean");
    // Among the operators with a mode, only rrelu has an argument `lower`.
    return statistics == NULL ? find_argument(node, "lower") != NULL
                              : !find_value(function, self, statistics, 0, &value) || value.tag != TAPER_NONE;
}

static bool block_trains(const taper_model *model, const taper_function *function, const taper_block *block)
{
    bool found = false;
    for (const taper_node *node = block->first; node != NULL && !found; node = node->next) {
        found = node->kind == TAPER_NODE_OP && trains(model, function, node);
        for (size_t b = 0; b < node->block_count && !found; b++) {
            found = block_trains(model, function, node->blocks[b]);
        }
    }
    return found;
}

int taper_model_uses_training(const taper_model *model)
{
    bool found = false;
    for (size_t i = 0; model != NULL && i < model->function_count && !found; i++) {
        const taper_function *function = &model->functions[i];
        found = function->program.graph != NULL && block_trains(model, function, function->program.graph->body);
    }
    return found;
}
