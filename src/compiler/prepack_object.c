// SPDX-License-Identifier: BSD-2-Clause
// Finds and calls the operators that pack weights.
#include "compiler/prepack.h"

const taper_op *taper_prepack_row(const taper_compilation *compilation, uint64_t what, taper_op_layer layer)
{
    return taper_row_where(what | TAPER_FIELD_MASK(LAYER) | TAPER_FIELD_MASK(PACKER),
                           what | (uint64_t)layer << TAPER_LAYER_AT |
                               (uint64_t)compilation->preparer->packer << TAPER_PACKER_AT);
}

taper_status taper_prepack_object(taper_compilation *compilation, const taper_op *op, taper_val *args, size_t count,
                                  taper_val *object)
{
    *object = taper_val_none();
    if (op == NULL) {
        return TAPER_OK;
    }
    taper_run run = taper_run_on(compilation->module->heap, compilation->registry, NULL);
    const taper_status status = taper_call_op(&run, op, args, count, object, 1);
    if (status == TAPER_ERROR_RESOURCE) {
        return taper_fail_memory(compilation->error);
    }
    if (status != TAPER_OK || object->tag != TAPER_OBJECT) {
        taper_val_release(*object);
        *object = taper_val_none(); // None means that the layer is not replaced
    }
    return TAPER_OK;
}
