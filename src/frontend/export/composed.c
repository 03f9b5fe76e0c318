// SPDX-License-Identifier: BSD-2-Clause
// Lowers targets (the operators and functions that the program's nodes call) for which several operators of Taper are
// needed. PyTorch's own decompositions produce these targets.
#include <math.h>
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

// ---- indices that may be out of range if the mask is false

// Makes the list of indices of x, each clamped to the size of its dimension.
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

// ---- products of tensors, and attention

// Lowers a linear layer with int8 weights: the product with the weights as floats, times a scale for each column.
static taper_status int8_mm(taper_export_lowering *l, taper_export_scope *scope)
{
    static const char *const names[] = {"self", "mat2", "scales"};
    taper_ir_value *v[3], *wide[3], *dtype, *y;
    TAPER_TRY(whole_number(l, TAPER_F32, &dtype));
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(argument(l, scope, names[i], i, &taper_type_tensor, &v[i]));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_to_dtype), &wide[i], v[i], dtype));
    }
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_linear), &y, wide[0], wide[1]));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_mul_Tensor), &y, y, wide[2]));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_type_as), &y, y, v[0]));
    return taper_export_name(l, scope, 0, y);
}

// Lowers attention with a second result: for each query, the logarithm of the sum by which softmax divides.
static taper_status attention(taper_export_lowering *l, taper_export_scope *scope)
{
    static const char *const names[] = {"query", "key"};
    const taper_pt2_argument *scale = taper_export_argument(l->node, "scale", 6);
    const taper_pt2_argument *mask = taper_export_argument(l->node, "attn_mask", 5);
    const taper_pt2_argument *causal = taper_export_argument(l->node, "is_causal", 4);
    taper_ir_value *v[2], *number, *last, *before, *dtype, *y, *more;
    TAPER_TRY(taper_export_call(l, scope, TAPER_OP(aten_scaled_dot_product_attention), NULL, NULL, true));
    TAPER_TRY(whole_number(l, -1, &last));
    TAPER_TRY(whole_number(l, -2, &before));
    TAPER_TRY(whole_number(l, TAPER_F32, &dtype));
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(argument(l, scope, names[i], i, &taper_type_tensor, &v[i]));
        const taper_pt2_argument *given = taper_export_argument(l->node, names[i], i);
        const taper_pt2_meta *meta = given->kind == TAPER_PT2_VALUE ? scope->graph->values[given->as.value].meta : NULL;
        if (meta == NULL || meta->dtype != TAPER_F64) {
            TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_to_dtype), &v[i], v[i], dtype));
        }
    }
    if (scale != NULL && scale->kind != TAPER_PT2_NONE) {
        TAPER_TRY(taper_export_value(l, scope, scale, &taper_type_float, &number));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_mul_Scalar), &v[0], v[0], number));
    } else {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_size_int), &number, v[0], last));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_sqrt_int), &number, number));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_div_Scalar), &v[0], v[0], number));
    }
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_transpose_int), &v[1], v[1], before, last));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_matmul), &y, v[0], v[1]));
    if (mask != NULL && mask->kind != TAPER_PT2_NONE) {
        TAPER_TRY(taper_export_value(l, scope, mask, &taper_type_tensor, &more));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_add_Tensor), &y, y, more));
    }
    if (causal != NULL && causal->kind == TAPER_PT2_BOOL && causal->as.i != 0) {
        TAPER_TRY(taper_emit_constant(&l->emit, taper_val_double(-(double)INFINITY), &number));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_full_like), &more, y, number));
        TAPER_TRY(whole_number(l, 1, &number));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_triu), &more, more, number));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_add_Tensor), &y, y, more));
    }
    TAPER_TRY(taper_emit_int_list(&l->emit, (const int64_t[]){-1}, 1, &last));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_logsumexp), &y, y, last));
    // In memory, the result's dimension of heads comes after its dimension of positions.
    TAPER_TRY(whole_number(l, 1, &number));
    TAPER_TRY(whole_number(l, 2, &last));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_transpose_int), &y, y, number, last));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_contiguous), &y, y));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_transpose_int), &y, y, number, last));
    return taper_export_name(l, scope, 1, y);
}

// Reads a list of dimensions of the node and sets dims[d] for each of them.
static taper_status dims_of(taper_export_lowering *l, const char *name, size_t position, size_t rank, bool *dims)
{
    const taper_pt2_argument *list;
    TAPER_TRY(list_argument(l, name, position, &list));
    for (size_t i = 0; i < list->count; i++) {
        const taper_pt2_argument *item = &list->as.items[i];
        const int64_t dim = item->kind == TAPER_PT2_INT && item->as.i < 0 ? item->as.i + (int64_t)rank : item->as.i;
        if (item->kind != TAPER_PT2_INT || dim < 0 || dim >= (int64_t)rank) {
            return taper_export_refuse(l, "%s has an invalid dimension", name);
        }
        dims[dim] = true;
    }
    return TAPER_OK;
}

// Lowers the product of three tensors that is summed over some dimensions. Each tensor lacks some dimensions. The
// product becomes an einsum with one letter for each dimension.
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

// ---- chunks

// Pads the tensor with zeros to a multiple of `chunks` in one dimension, and splits this dimension into two: the
// chunks, and the elements of a chunk.
static taper_status in_chunks(taper_export_lowering *l, taper_ir_value *x, size_t rank, size_t dim,
                              taper_ir_value *chunks, taper_ir_value **made)
{
    taper_ir_value *sizes[TAPER_MAX_RANK + 2], *pad[2 * TAPER_MAX_RANK], *zero, *at, *list, *y;
    const size_t behind = 2 * (rank - 1 - dim);
    TAPER_TRY(whole_number(l, 0, &zero));
    for (size_t i = 0; i <= dim; i++) {
        TAPER_TRY(whole_number(l, (int64_t)i, &at));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_size_int), &sizes[i], x, at));
    }
    for (size_t i = 0; i <= behind; i++) {
        pad[i] = zero;
    }
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_neg_int), &at, sizes[dim]));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_remainder_int), &pad[behind + 1], at, chunks));
    TAPER_TRY(taper_emit_container(&l->emit, TAPER_NODE_LIST, &taper_type_list_int, pad, behind + 2, &list));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_constant_pad_nd), &y, x, list, zero));
    sizes[dim] = chunks;
    TAPER_TRY(whole_number(l, -1, &sizes[dim + 1]));
    TAPER_TRY(taper_emit_container(&l->emit, TAPER_NODE_LIST, &taper_type_list_int, sizes, dim + 2, &list));
    return TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_reshape), made, y, list);
}

static const taper_pt2_meta *meta_of(const taper_export_scope *scope, const taper_pt2_argument *item)
{
    return item->kind == TAPER_PT2_VALUE ? scope->graph->values[item->as.value].meta : NULL;
}

// Returns `dim` counted from the front if all tensors have the same rank. Otherwise returns `dim` unchanged.
static int64_t dim_of_all(const taper_export_scope *scope, const taper_pt2_argument *list, int64_t dim)
{
    const taper_pt2_meta *first = list->count != 0 ? meta_of(scope, &list->as.items[0]) : NULL;
    bool same = first != NULL;
    for (size_t i = 1; same && i < list->count; i++) {
        const taper_pt2_meta *meta = meta_of(scope, &list->as.items[i]);
        same = meta != NULL && meta->rank == first->rank;
    }
    return dim < 0 && same ? dim + (int64_t)first->rank : dim;
}

static taper_status chunk_cat(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *list, *dim = taper_export_argument(l->node, "dim", 1);
    taper_ir_value **items, *joined, *behind, *chunks, *y;
    TAPER_TRY(list_argument(l, "tensors", 0, &list));
    TAPER_TRY(argument(l, scope, "num_chunks", 2, &taper_type_int, &chunks));
    if (dim == NULL || dim->kind != TAPER_PT2_INT) {
        return taper_export_refuse(l, "dim should be a number");
    }
    const int64_t along = dim_of_all(scope, list, dim->as.i);
    TAPER_TRY(taper_emit_values(&l->emit, list->count, &items));
    for (size_t i = 0; i < list->count; i++) {
        const taper_pt2_argument *item = &list->as.items[i];
        const taper_pt2_meta *meta = meta_of(scope, item);
        if (meta == NULL || meta->rank > TAPER_MAX_RANK || along < 0 || along >= (int64_t)meta->rank) {
            return taper_export_refuse(l, "dim is no dimension of all its tensors");
        }
        TAPER_TRY(taper_export_value(l, scope, item, &taper_type_tensor, &y));
        TAPER_TRY(in_chunks(l, y, meta->rank, (size_t)along, chunks, &items[i]));
    }
    TAPER_TRY(taper_emit_container(&l->emit, TAPER_NODE_LIST, &taper_type_list_tensor, items, list->count, &joined));
    TAPER_TRY(whole_number(l, along + 1, &behind));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_cat), &y, joined, behind));
    return taper_export_name(l, scope, 0, y);
}

static const struct {
    const char *target; // target without the prefix "torch.ops."
    composed_lower *lower;
} rows[] = {
    {"aten._unsafe_masked_index.default", masked_index},
    {"aten._unsafe_masked_index_put_accumulate.default", masked_index_put},
    {"aten._chunk_cat.default", chunk_cat},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", attention},
    {"aten._weight_int8pack_mm.default", int8_mm},
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
