// SPDX-License-Identifier: BSD-2-Clause
// Module.eval(): `training` of the root and of every module below it becomes False. optimize_for_mobile begins with it,
// and PyTorch Mobile's Module.load did it for TorchScript files on Android and iOS.
#include "base/pointer_map.h"
#include "runtime/model.h"

// The object's `training`; NULL when it has none.
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
