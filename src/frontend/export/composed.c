// SPDX-License-Identifier: BSD-2-Clause
// Targets that several operators of the list make together: what PyTorch's own decompositions leave over.
#include <stdio.h>

#include "frontend/export/parts.h"

typedef taper_status composed_lower(taper_export_lowering *l, taper_export_scope *scope);

static taper_status argument(taper_export_lowering *l, const taper_export_scope *scope, const char *name,
                             size_t position, const taper_type *type, taper_ir_value **value)
{
    const taper_pt2_argument *given = taper_export_argument(l->node, name, position);
    return given != NULL ? taper_export_value(l, scope, given, type, value)
                         : taper_export_refuse(l, "argument %s is missing", name);
}

static taper_status list_argument(taper_export_lowering *l, const char *name, size_t position,
                                  const taper_pt2_argument **list)
{
    *list = taper_export_argument(l->node, name, position);
    return *list != NULL && (*list)->kind == TAPER_PT2_LIST ? TAPER_OK
                                                            : taper_export_refuse(l, "%s should be a list", name);
}

static taper_status whole_number(taper_export_lowering *l, int64_t number, taper_ir_value **value)
{
    return taper_emit_constant(&l->emit, taper_val_int(number), value);
}

// ---- indices that may lie outside where a mask is false

// The list of indices of x, each within its dimension.
static taper_status inner_indices(taper_export_lowering *l, const taper_export_scope *scope, taper_ir_value *x,
                                  taper_ir_value **made)
{
    const taper_pt2_argument *list;
    const taper_type *const of[] = {&taper_type_optional_tensor}, *type;
    taper_ir_value **items, *one, *dim, *size, *least, *most;
    TAPER_TRY(list_argument(l, "indices", 2, &list));
    TAPER_TRY(taper_type_make(l->module->types, TAPER_TYPE_LIST, NULL, of, NULL, 1, &type, l->emit.error));
    TAPER_TRY(taper_emit_values(&l->emit, list->count, &items));
    TAPER_TRY(whole_number(l, 1, &one));
    for (size_t i = 0; i < list->count; i++) {
        TAPER_TRY(taper_export_value(l, scope, &list->as.items[i], of[0], &items[i]));
        if (list->as.items[i].kind == TAPER_PT2_NONE) {
            continue;
        }
        TAPER_TRY(whole_number(l, (int64_t)i, &dim));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_size_int), &size, x, dim));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_sub_int), &most, size, one));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_neg_int), &least, size));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_clamp), &items[i], items[i], least, most));
    }
    return taper_emit_container(&l->emit, TAPER_NODE_LIST, type, items, list->count, made);
}

static taper_status fill_masked(taper_export_lowering *l, taper_ir_value *values, taper_ir_value *mask,
                                taper_ir_value *fill, taper_ir_value **made)
{
    taper_ir_value *outside;
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_logical_not), &outside, mask));
    return TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_masked_fill_Scalar), made, values, outside, fill);
}

static taper_status masked_index(taper_export_lowering *l, taper_export_scope *scope)
{
    taper_ir_value *x, *mask, *indices, *fill, *y;
    TAPER_TRY(argument(l, scope, "self", 0, &taper_type_tensor, &x));
    TAPER_TRY(argument(l, scope, "mask", 1, &taper_type_tensor, &mask));
    TAPER_TRY(argument(l, scope, "fill", 3, NULL, &fill));
    TAPER_TRY(inner_indices(l, scope, x, &indices));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_index_Tensor), &y, x, indices));
    TAPER_TRY(fill_masked(l, y, mask, fill, &y));
    return taper_export_name(l, scope, 0, y);
}

static taper_status masked_index_put(taper_export_lowering *l, taper_export_scope *scope)
{
    taper_ir_value *x, *mask, *indices, *values, *zero, *yes, *y;
    TAPER_TRY(argument(l, scope, "self", 0, &taper_type_tensor, &x));
    TAPER_TRY(argument(l, scope, "mask", 1, &taper_type_tensor, &mask));
    TAPER_TRY(argument(l, scope, "values", 3, &taper_type_tensor, &values));
    TAPER_TRY(inner_indices(l, scope, x, &indices));
    TAPER_TRY(whole_number(l, 0, &zero));
    TAPER_TRY(fill_masked(l, values, mask, zero, &values));
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_bool(true), &yes));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_index_put), &y, x, indices, values, yes));
    return taper_export_name(l, scope, 0, y);
}

// ---- products

static taper_status int_mm(taper_export_lowering *l, taper_export_scope *scope)
{
    static const char *const names[] = {"self", "mat2"};
    taper_ir_value *v[2], *dtype, *y;
    TAPER_TRY(whole_number(l, TAPER_I32, &dtype));
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(argument(l, scope, names[i], i, &taper_type_tensor, &v[i]));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_to_dtype), &v[i], v[i], dtype));
    }
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_mm), &y, v[0], v[1]));
    return taper_export_name(l, scope, 0, y);
}

// Which of `rank` dimensions a list of the node names.
static taper_status dims_of(taper_export_lowering *l, const char *name, size_t position, size_t rank, bool *dims)
{
    const taper_pt2_argument *list;
    TAPER_TRY(list_argument(l, name, position, &list));
    for (size_t i = 0; i < list->count; i++) {
        const taper_pt2_argument *item = &list->as.items[i];
        const int64_t dim = item->kind == TAPER_PT2_INT && item->as.i < 0 ? item->as.i + (int64_t)rank : item->as.i;
        if (item->kind != TAPER_PT2_INT || dim < 0 || dim >= (int64_t)rank) {
            return taper_export_refuse(l, "%s has a dimension that is none", name);
        }
        dims[dim] = true;
    }
    return TAPER_OK;
}

// The product of three tensors that miss dimensions, summed over some: an einsum of a letter for each dimension.
static taper_status trilinear(taper_export_lowering *l, taper_export_scope *scope)
{
    static const char *const names[] = {"i1", "i2", "i3"}, *const expands[] = {"expand1", "expand2", "expand3"};
    enum { MOST = 26 };
    char equation[4 * (MOST + 2)];
    size_t used = 0, rank = 0;
    const taper_pt2_argument *first = taper_export_argument(l->node, names[0], 0), *expand;
    TAPER_TRY(list_argument(l, expands[0], 3, &expand));
    if (first != NULL && first->kind == TAPER_PT2_VALUE && scope->graph->values[first->as.value].meta != NULL) {
        rank = scope->graph->values[first->as.value].meta->rank + expand->count;
    }
    if (rank == 0 || rank > MOST) {
        return taper_export_refuse(l, "the number of its dimensions is not known");
    }
    taper_ir_value *tensors[3], *list, *text, *y;
    for (size_t i = 0; i < 4; i++) {
        bool without[MOST] = {false};
        TAPER_TRY(dims_of(l, i < 3 ? expands[i] : "sumdim", 3 + i, rank, without));
        for (size_t d = 0; d < rank; d++) {
            if (!without[d]) {
                equation[used++] = (char)('a' + d);
            }
        }
        if (i < 3) {
            TAPER_TRY(argument(l, scope, names[i], i, &taper_type_tensor, &tensors[i]));
            used += (size_t)snprintf(equation + used, 3, i < 2 ? "," : "->");
        }
    }
    equation[used] = '\0';
    TAPER_TRY(taper_emit_text(&l->emit, equation, &text));
    TAPER_TRY(taper_emit_container(&l->emit, TAPER_NODE_LIST, &taper_type_list_tensor, tensors, 3, &list));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_einsum), &y, text, list));
    return taper_export_name(l, scope, 0, y);
}

static const struct {
    const char *target; // without "torch.ops."
    composed_lower *lower;
} rows[] = {
    {"aten._unsafe_masked_index.default", masked_index},
    {"aten._unsafe_masked_index_put_accumulate.default", masked_index_put},
    {"aten._int_mm.default", int_mm},
    {"aten._trilinear.default", trilinear},
};

taper_status taper_export_composed(taper_export_lowering *l, taper_export_scope *scope, const char *target, bool *done)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].target, target) == 0) {
            *done = true;
            return rows[i].lower(l, scope);
        }
    }
    return TAPER_OK;
}
