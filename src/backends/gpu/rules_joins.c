// SPDX-License-Identifier: BSD-2-Clause
// Joins (cat): if possible, items are computed directly in the memory of the result. A join whose items are the first
// items of another join is stored inside that join's result. Thus layers that read all previous layers (DenseNet) copy
// nothing.
#include <string.h>

#include "backends/gpu/gpu_emit.h"

enum { MOST_PARTS = 256 }; // largest number of items whose memory is chosen before they are computed

// Returns the join in this segment that is the only user of a list, or NULL if there is no such join.
static const taper_node *join_of(const taper_gpu_emitter *e, const taper_node *list)
{
    const taper_node *user =
        list->kind == TAPER_NODE_LIST && list->block == e->known->body && taper_value_used_once(&list->outputs[0])
            ? list->outputs[0].uses->user
            : NULL;
    const taper_gpu_rule_row *row = user != NULL ? taper_gpu_find_rule(user) : NULL;
    return row != NULL && row->rule == taper_gpu_rule_cat && row->code == 0 ? user : NULL;
}

// Reads the dimension of the join. If this is the packed dimension, every item except the last must be whole vectors,
// because a vector cannot contain elements of two items.
static taper_status read_join(taper_gpu_emitter *e, const taper_node *join, int *dim, int *packed)
{
    const taper_node *list = taper_node_in(join, 0)->node;
    const taper_shape shape = taper_gpu_shape(e, &join->outputs[0]);
    TAPER_TRY(taper_gpu_dim(e, join, "dim", shape.rank, 0, dim));
    for (size_t i = 0; i + 1 < list->input_count && *dim == *packed; i++) {
        const taper_shape part = taper_gpu_shape(e, taper_node_in(list, i));
        if (part.rank == shape.rank && part.sizes[*dim] % TAPER_GPU_VECTOR != 0) {
            TAPER_GPU_REFUSE(e, shape.rank < 2, "a join within vectors");
            *packed = *dim == shape.rank - 1 ? *dim - 1 : shape.rank - 1;
        }
    }
    return TAPER_OK;
}

// Returns true if a list starts with all items of a shorter list.
static bool begins_with(const taper_node *list, const taper_node *shorter)
{
    bool same = list->input_count >= shorter->input_count;
    for (size_t i = 0; same && i < shorter->input_count; i++) {
        same = taper_node_in(list, i) == taper_node_in(shorter, i);
    }
    return same;
}

// Returns the longest join that starts with all items of this join, along the same dimension, or `join` itself if no
// other join does.
static const taper_node *longest_join(taper_gpu_emitter *e, const taper_node *join, int dim, int packed)
{
    const taper_node *list = taper_node_in(join, 0)->node, *longest = join;
    const taper_shape shape = taper_gpu_shape(e, &join->outputs[0]);
    size_t looked_at = 0;
    for (const taper_value_use *use = taper_node_in(list, 0)->uses; use != NULL && looked_at < MOST_PARTS;
         use = use->next, looked_at++) {
        const taper_node *other = use->user != NULL && use->index == 0 ? join_of(e, use->user) : NULL;
        const taper_shape whole = other != NULL ? taper_gpu_shape(e, &other->outputs[0]) : taper_shape_unknown();
        int d, lies = packed;
        if (other != NULL && use->user->input_count > taper_node_in(longest, 0)->node->input_count &&
            use->user->input_count <= MOST_PARTS && taper_gpu_is_known(&whole) && whole.rank == shape.rank &&
            begins_with(use->user, list) && read_join(e, other, &d, &lies) == TAPER_OK && d == dim && lies == packed) {
            longest = other;
        }
    }
    return longest;
}

// Returns the slice of a join's result that begins with element `at` of dimension d.
static taper_gpu_view part_of(const taper_gpu_view *whole, int d, int64_t at, int64_t size)
{
    taper_gpu_view part = *whole;
    part.sizes[d] = size;
    part.offset += (d == whole->packed ? at / TAPER_GPU_VECTOR : at) * whole->strides[d];
    return part;
}

taper_status taper_gpu_new_result(taper_gpu_emitter *e, const taper_ir_value *value, const taper_shape *shape,
                                  int packed, taper_gpu_view *view)
{
    enum { MOST_TRIED = 64 };
    size_t tried = 0;
    for (const taper_value_use *use = value->uses; use != NULL && tried < MOST_TRIED; use = use->next, tried++) {
        const taper_node *join = use->user != NULL ? join_of(e, use->user) : NULL;
        taper_shape whole = join != NULL ? taper_gpu_shape(e, &join->outputs[0]) : taper_shape_unknown();
        int dim, lies = packed;
        if (join == NULL || use->index > MOST_PARTS || !taper_gpu_is_known(&whole) || whole.rank != shape->rank ||
            read_join(e, join, &dim, &lies) != TAPER_OK || lies != packed) {
            continue;
        }
        join = longest_join(e, join, dim, packed);
        whole = taper_gpu_shape(e, &join->outputs[0]);
        taper_gpu_value *slot = &e->values[join->outputs[0].id - e->first_id];
        int64_t at = 0;
        bool known = true;
        for (size_t i = 0; i < use->index && known; i++) {
            const taper_shape part = taper_gpu_shape(e, taper_node_in(use->user, i));
            known = known && taper_gpu_is_known(&part) && part.rank == whole.rank;
            at += known ? part.sizes[dim] : 0;
        }
        if (!known || at + shape->sizes[dim] > whole.sizes[dim] || (slot->planned && slot->view.packed != packed)) {
            continue;
        }
        if (!slot->planned) {
            TAPER_TRY(taper_gpu_new(e, &whole, packed, &slot->view));
            slot->planned = true;
        }
        *view = part_of(&slot->view, dim, at, shape->sizes[dim]);
        return TAPER_OK;
    }
    return taper_gpu_new(e, shape, packed, view);
}

// Copies an item of a quantized join, with the join's scale and zero point. If the node has no scale and zero point,
// the first item's scale and zero point are used.
static taper_status join_quantized(taper_gpu_emitter *e, const taper_node *node, const taper_ir_value *value,
                                   const taper_gpu_view *from, const taper_gpu_view *to, taper_gpu_table *table)
{
    const taper_val *scale = taper_read_constant(&e->reader, taper_node_in(node, 2));
    const taper_val *point = taper_read_constant(&e->reader, taper_node_in(node, 3));
    const taper_ir_value *first = taper_node_in(taper_node_in(node, 0)->node, 0);
    double from_scale;
    int64_t from_point;
    taper_gpu_view packed;
    TAPER_GPU_REFUSE(e, scale == NULL || point == NULL, "a scale that is no constant");
    TAPER_TRY(taper_gpu_quantizer(e, first, &table->scale, &table->zero_point));
    table->scale = scale->tag == TAPER_DOUBLE ? scale->as.f : table->scale;
    table->zero_point = point->tag == TAPER_INT ? point->as.i : table->zero_point;
    TAPER_TRY(taper_gpu_quantizer(e, value, &from_scale, &from_point));
    taper_val args[] = {taper_val_none(), taper_val_int(0), taper_val_double(table->scale),
                        taper_val_int(table->zero_point)};
    TAPER_TRY(taper_gpu_make_table(e, node->op, from_scale, from_point, true, args, sizeof args / sizeof *args, table));
    TAPER_TRY(taper_gpu_repack(e, from, to->packed, &packed));
    return taper_gpu_look_up(e, &packed, table, to);
}

// Returns true if a longer join contains this join. *out receives this join's memory in the longer join.
static bool is_in_longer_join(taper_gpu_emitter *e, const taper_node *join, const taper_gpu_view *first,
                              taper_gpu_view *out)
{
    const taper_shape shape = taper_gpu_shape(e, &join->outputs[0]);
    int dim, packed = first->packed;
    if (!taper_gpu_is_known(&shape) || read_join(e, join, &dim, &packed) != TAPER_OK) {
        return false;
    }
    const taper_node *longer = longest_join(e, join, dim, packed);
    const taper_gpu_value *slot = &e->values[longer->outputs[0].id - e->first_id];
    if (longer == join || !slot->planned || slot->view.packed != packed || first->buffer != slot->view.buffer ||
        shape.sizes[dim] > slot->view.sizes[dim]) {
        return false;
    }
    *out = part_of(&slot->view, dim, 0, shape.sizes[dim]);
    return true;
}

// Emits a join. `code` is 1 for quantized tensors.
taper_status taper_gpu_rule_cat(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *list = taper_node_in(node, 0);
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    const unsigned dtypes = code != 0 ? TAPER_GPU_QUANTS : TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS;
    taper_gpu_view out, first;
    taper_gpu_table table;
    int64_t at = 0;
    int d;
    TAPER_TRY(taper_gpu_dim(e, node, "dim", shape.rank, 0, &d));
    TAPER_GPU_REFUSE(e, list->node == NULL || list->node->kind != TAPER_NODE_LIST, "a list that is not made here");
    for (size_t i = 0; i < list->node->input_count; i++) {
        TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(list->node, i), dtypes));
    }
    if (e->asking) {
        return TAPER_OK;
    }
    const taper_gpu_value *slot = &e->values[node->outputs[0].id - e->first_id];
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(list->node, 0), dtypes, &first));
    TAPER_GPU_REFUSE(e, first.rank != shape.rank, "a join of other dimensions");
    if (slot->planned) {
        out = slot->view;
    } else if (code == 0 && is_in_longer_join(e, node, &first, &out)) {
        // Items that are not in the result's memory yet are moved there.
    } else { // uses the packing of the first item
        int packed = first.packed;
        TAPER_TRY(read_join(e, node, &d, &packed));
        TAPER_TRY(taper_gpu_new_result(e, &node->outputs[0], &shape, packed, &out));
    }
    for (size_t i = 0; i < list->node->input_count; i++) {
        taper_gpu_view from;
        TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(list->node, i), dtypes, &from));
        TAPER_GPU_REFUSE(e, from.rank != shape.rank, "a join of other dimensions");
        for (int k = 0; k < out.rank; k++) {
            TAPER_GPU_REFUSE(e, k == d ? from.sizes[k] > out.sizes[k] - at : from.sizes[k] != out.sizes[k],
                             "a join of other sizes");
        }
        const taper_gpu_view to = part_of(&out, d, at, from.sizes[d]);
        if (code != 0) {
            TAPER_TRY(join_quantized(e, node, taper_node_in(list->node, i), &from, &to, &table));
            // If buffer and offset are equal, the item was computed in the result's memory.
        } else if (from.buffer != to.buffer || from.offset != to.offset) {
            TAPER_TRY(taper_gpu_move(e, &from, &to));
        }
        at += from.sizes[d];
    }
    if (code != 0) {
        taper_gpu_give_quantized(e, &node->outputs[0], &out, table.scale, table.zero_point);
        return TAPER_OK;
    }
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}
