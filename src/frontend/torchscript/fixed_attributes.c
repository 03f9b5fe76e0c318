// SPDX-License-Identifier: BSD-2-Clause
// Finds attributes that never change, because no statement of the sources assigns to them. The most important of these
// attributes are `training` and the parameters of layers. Batch norm, for example, has many branches, of which only one
// is taken. Branches that are not lowered need not be optimized away.
#include "frontend/torchscript/lower.h"

const taper_val *taper_ts_fixed_attribute(const taper_ts_lowering *l, const taper_object *object,
                                          const taper_ts_definition *d, uint32_t atom, int64_t slot)
{
    const bool known = object != NULL && (uint64_t)slot < object->count && !taper_ts_is_assigned(l->unit, atom) &&
                       strcmp(object->klass->name, l->unit->atoms.names[d->qualified]) == 0;
    return known ? &object->slots[slot] : NULL;
}

bool taper_ts_is_fixed_as(taper_val value, const taper_type *type)
{
    if (type->kind == TAPER_TYPE_OPTIONAL && value.tag != TAPER_NONE) {
        type = type->items[0];
    }
    switch (value.tag) {
    case TAPER_NONE:
        return type->kind == TAPER_TYPE_OPTIONAL || type->kind == TAPER_TYPE_NONE;
    case TAPER_BOOLEAN:
        return type->kind == TAPER_TYPE_BOOL;
    case TAPER_INT:
        return type->kind == TAPER_TYPE_INT;
    case TAPER_DOUBLE:
        return type->kind == TAPER_TYPE_FLOAT;
    case TAPER_STRING:
        return type->kind == TAPER_TYPE_STRING;
    default:
        return false;
    }
}
