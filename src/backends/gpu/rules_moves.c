// SPDX-License-Identifier: BSD-2-Clause
// Views and slices. Most of them are another view of the same memory; the others are copied (gpu_moves.c).
#include <string.h>

#include "backends/gpu/gpu_emit.h"
#include "base/checked.h"

taper_status taper_gpu_dim(taper_gpu_emitter *e, const taper_node *node, const char *name, int rank, int64_t otherwise,
                           int *dim)
{
    int64_t number;
    TAPER_TRY(taper_read_int(&e->reader, node, name, otherwise, &number));
    number += number < 0 ? rank : 0;
    TAPER_GPU_REFUSE(e, !e->asking && (number < 0 || number >= rank), "a dimension that is not there");
    *dim = (int)number;
    return TAPER_OK;
}

taper_status taper_gpu_reshape(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_shape *shape,
                               taper_gpu_view *to)
{
    if (taper_gpu_view_reshape(from, shape, to)) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, from->packed == TAPER_GPU_RANK, "whole numbers in another order");
    TAPER_TRY(taper_gpu_new(e, shape, taper_gpu_usual_packed(shape->rank), to));
    return taper_gpu_move_reshaped(e, from, to);
}

static bool has_as_many(const taper_gpu_view *view, const taper_shape *shape)
{
    int64_t there = 1, wanted = 1;
    bool fits = true;
    for (int d = 0; d < view->rank; d++) {
        fits = fits && taper_mul_i64(there, view->sizes[d], &there);
    }
    for (int d = 0; d < shape->rank; d++) {
        fits = fits && taper_mul_i64(wanted, shape->sizes[d], &wanted);
    }
    return fits && there == wanted;
}

// Emits a view of the same elements with other sizes: view, reshape, flatten, squeeze, unsqueeze …
taper_status taper_gpu_rule_reshape(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_gpu_view from, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    TAPER_GPU_REFUSE(e, !has_as_many(&from, &shape), "a view of more or fewer elements");
    TAPER_TRY(taper_gpu_reshape(e, &from, &shape, &to));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

void taper_gpu_permute(const taper_gpu_view *from, const int64_t *order, taper_gpu_view *to)
{
    *to = *from;
    for (int d = 0; d < from->rank; d++) {
        to->sizes[d] = from->sizes[order[d]];
        to->strides[d] = from->strides[order[d]];
        to->packed = order[d] == from->packed ? d : to->packed;
    }
}

taper_status taper_gpu_rule_permute(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    int64_t order[TAPER_MAX_RANK];
    size_t count;
    taper_gpu_view from, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    TAPER_TRY(taper_read_int_list(&e->reader, taper_node_in(node, 1), order, &count));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    TAPER_GPU_REFUSE(e, count != (size_t)from.rank, "an order of other than its dimensions");
    bool taken[TAPER_GPU_RANK] = {false};
    for (size_t i = 0; i < count; i++) {
        order[i] += order[i] < 0 ? from.rank : 0;
        TAPER_GPU_REFUSE(e, order[i] < 0 || order[i] >= from.rank || taken[order[i]],
                         "a dimension that is missing or repeated");
        taken[order[i]] = true;
    }
    taper_gpu_permute(&from, order, &to);
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

taper_status taper_gpu_rule_transpose(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    int64_t order[TAPER_GPU_RANK] = {0, 1, 2, 3, 4, 5};
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    taper_gpu_view from, to;
    int a = 0, b = 1;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    // The third pair is for aten::t, which has no arguments for the two dimensions.
    static const char *const names[3][2] = {{"dim0", "dim1"}, {"axis0", "axis1"}, {NULL, NULL}};
    size_t named = 0;
    while (names[named][0] != NULL && taper_read_argument(node, names[named][0]) == NULL) {
        named++;
    }
    if (names[named][0] != NULL) {
        TAPER_TRY(taper_gpu_dim(e, node, names[named][0], shape.rank, 0, &a));
        TAPER_TRY(taper_gpu_dim(e, node, names[named][1], shape.rank, 1, &b));
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    if (from.rank > 1) {
        order[a] = b;
        order[b] = a;
    }
    taper_gpu_permute(&from, order, &to);
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// Selects `count` elements of dimension d from `start` on, in steps of `step`.
taper_status taper_gpu_piece(taper_gpu_emitter *e, const taper_gpu_view *from, int d, int64_t start, int64_t count,
                             int64_t step, taper_gpu_view *to)
{
    *to = *from;
    TAPER_GPU_REFUSE(e, start < 0 || count < 1 || start + (count - 1) * step >= from->sizes[d],
                     "a piece that is empty");
    to->sizes[d] = count;
    if (d != from->packed) {
        to->offset += start * from->strides[d];
        to->strides[d] *= step;
        return TAPER_OK;
    }
    if (start == 0 && count == from->sizes[d]) {
        return TAPER_OK;
    }
    if (step != 1) { // first packs a dimension other than d
        taper_gpu_view other;
        TAPER_GPU_REFUSE(e, from->rank < 2 || from->packed == TAPER_GPU_RANK, "every second element of vectors");
        TAPER_TRY(taper_gpu_repack(e, from, d == from->rank - 1 ? d - 1 : from->rank - 1, &other));
        *to = other;
        to->sizes[d] = count;
        to->offset += start * other.strides[d];
        to->strides[d] *= step;
        return TAPER_OK;
    }
    // The slice consists of whole vectors, from the start of a vector on. An incomplete last vector must be the end of
    // the dimension, because otherwise its lanes belong to other elements.
    if (start % TAPER_GPU_VECTOR == 0 && (count % TAPER_GPU_VECTOR == 0 || start + count == from->sizes[d])) {
        to->offset += start / TAPER_GPU_VECTOR * from->strides[d];
        return TAPER_OK;
    }
    taper_shape shape = {.rank = from->rank, .dtype = TAPER_F32};
    int64_t before[TAPER_GPU_RANK] = {0};
    memcpy(shape.sizes, to->sizes, sizeof to->sizes);
    TAPER_TRY(taper_gpu_new(e, &shape, from->packed, to));
    before[d] = -start;
    return taper_gpu_move_padded(e, from, to, before, TAPER_GPU_EDGE_FILL, 0);
}

taper_status taper_gpu_rule_slice(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0)),
                      result = taper_gpu_shape(e, &node->outputs[0]);
    int64_t start, step;
    int d;
    taper_gpu_view from, to;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    TAPER_TRY(taper_gpu_dim(e, node, "dim", shape.rank, 0, &d));
    TAPER_TRY(taper_read_int(&e->reader, node, "start", 0, &start));
    TAPER_TRY(taper_read_int(&e->reader, node, "step", 1, &step));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&result), "a result whose sizes follow from elements, or that is empty");
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    start += start < 0 ? from.sizes[d] : 0;
    start = start < 0 && code == 0 ? 0 : start; // slice moves a negative start to 0; narrow refuses a negative start
    TAPER_TRY(taper_gpu_piece(e, &from, d, start, result.sizes[d], step, &to));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// Selects one element of a dimension, and removes that dimension.
static taper_status select_one(taper_gpu_emitter *e, const taper_gpu_view *from, int d, int64_t index,
                               const taper_shape *shape, taper_gpu_view *to)
{
    taper_gpu_view one;
    TAPER_TRY(taper_gpu_piece(e, from, d, index, 1, 1, &one));
    return taper_gpu_reshape(e, &one, shape, to);
}

taper_status taper_gpu_rule_select(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0)),
                      result = taper_gpu_shape(e, &node->outputs[0]);
    int64_t index;
    int d;
    taper_gpu_view from, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    TAPER_TRY(taper_gpu_dim(e, node, "dim", shape.rank, 0, &d));
    TAPER_TRY(taper_read_int(&e->reader, node, "index", 0, &index));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    TAPER_TRY(select_one(e, &from, d, index < 0 ? index + from.sizes[d] : index, &result, &to));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// Emits a list of slices along dimension dim that the next node unpacks: split, chunk, unbind. `code` is 1 for unbind.
taper_status taper_gpu_rule_pieces(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    const taper_ir_value *list = &node->outputs[0];
    int64_t at = 0;
    int d;
    taper_gpu_view from, to;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    TAPER_TRY(taper_gpu_dim(e, node, "dim", shape.rank, 0, &d));
    const taper_node *user = taper_value_used_once(list) ? list->uses->user : NULL;
    TAPER_GPU_REFUSE(e, user == NULL || user->kind != TAPER_NODE_LIST_UNPACK,
                     "a list of pieces that is not taken apart");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    for (size_t i = 0; i < user->output_count; i++) {
        const taper_ir_value *part = &user->outputs[i];
        if (code == 1) {
            taper_shape one = {.rank = from.rank - 1, .dtype = TAPER_F32};
            for (int k = 0, j = 0; k < from.rank; k++) {
                if (k != d) {
                    one.sizes[j++] = from.sizes[k];
                }
            }
            TAPER_TRY(select_one(e, &from, d, at++, &one, &to));
        } else {
            int64_t sizes[64];
            size_t count = 0;
            const taper_ir_value *how = taper_node_in(node, 1);
            const taper_val *number = taper_read_constant(&e->reader, how);
            if (number != NULL && number->tag == TAPER_LIST) {
                TAPER_GPU_REFUSE(e, number->as.list->count > 64, "more pieces than there is room for");
                count = number->as.list->count;
                TAPER_GPU_REFUSE(e, count != user->output_count, "pieces that are not all of it");
                for (size_t k = 0; k < count; k++) {
                    TAPER_GPU_REFUSE(e, number->as.list->items[k].tag != TAPER_INT,
                                     "pieces whose sizes are no numbers");
                    sizes[k] = number->as.list->items[k].as.i;
                }
            }
            TAPER_GPU_REFUSE(e, count == 0 && (number == NULL || number->tag != TAPER_INT || number->as.i < 1),
                             "pieces whose sizes are no constants");
            const int64_t total = from.sizes[d];
            // The argument of chunk is the number of slices, the argument of split is their size.
            const bool chunks = taper_read_argument(node, "chunks") != NULL;
            const int64_t size = count != 0 ? (i < count ? sizes[i] : 0)
                                 : chunks   ? (total + number->as.i - 1) / number->as.i
                                            : number->as.i;
            const int64_t here = count != 0 || size < total - at ? size : total - at;
            TAPER_TRY(taper_gpu_piece(e, &from, d, at, here, 1, &to));
            at += here;
        }
        taper_gpu_give(e, part, &to);
    }
    TAPER_GPU_REFUSE(e, at != from.sizes[d], "pieces that are not all of it");
    return TAPER_OK;
}

taper_status taper_gpu_rule_expand(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_gpu_view from, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank > TAPER_GPU_RANK,
                     "a result whose sizes follow from elements, or that is empty");
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    const int more = shape.rank - from.rank;
    int64_t vectors;
    TAPER_GPU_REFUSE(e, more < 0, "fewer dimensions than before");
    const bool numbers = from.packed == TAPER_GPU_RANK;
    const int packed = numbers ? TAPER_GPU_RANK : from.packed + more;
    TAPER_GPU_REFUSE(e, !taper_gpu_view_dense(&shape, packed, &to, &vectors), "a tensor that is too large");
    to = (taper_gpu_view){.buffer = from.buffer, .offset = from.offset, .rank = shape.rank, .packed = packed};
    for (int d = 0; d < shape.rank; d++) {
        TAPER_GPU_REFUSE(e, d >= more && from.sizes[d - more] != 1 && from.sizes[d - more] != shape.sizes[d],
                         "an expansion of more than one element");
        to.sizes[d] = shape.sizes[d];
        to.strides[d] = d < more || from.sizes[d - more] == 1 ? 0 : from.strides[d - more];
    }
    if (!numbers && from.sizes[from.packed] != shape.sizes[to.packed]) { // true if the packed dimension is expanded
        taper_gpu_view spread = to, there;
        spread.packed = -1;
        for (int d = 0; d < to.rank && spread.packed < 0; d++) { // uses another dimension of size 1 as the packed one
            spread.packed = d >= more && from.sizes[d - more] == 1 && shape.sizes[d] == 1 ? d : -1;
        }
        const taper_gpu_chain none = {0};
        const bool splat = spread.packed < 0; // true if the first lane must be copied to all lanes
        TAPER_TRY(taper_gpu_new(e, &shape, splat ? to.packed : taper_gpu_usual_packed(shape.rank), &there));
        TAPER_TRY(splat ? taper_gpu_elementwise(e, &to, true, &none, &there) : taper_gpu_move(e, &spread, &there));
        to = there;
    }
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// Returns true if the result is float32, by the argument `dtype` or by the dtype of the argument `other`.
static bool says_float32(const taper_gpu_emitter *e, const taper_node *node)
{
    const taper_val *said = taper_read_constant(&e->reader, taper_read_argument(node, "dtype"));
    if (taper_read_argument(node, "other") != NULL) {
        const taper_shape other = taper_gpu_shape(e, taper_read_argument(node, "other"));
        return other.dtype == TAPER_F32 || (e->asking && other.dtype < 0);
    }
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0));
    const bool same = said == NULL || said->tag == TAPER_NONE;
    return same ? from.dtype == TAPER_F32 || (e->asking && from.dtype < 0)
                : said->tag == TAPER_INT && said->as.i == TAPER_F32;
}

// Emits an operator that returns its argument. If `code` is 1, shape inference does not know the dtype of the result
// (infer.h).
taper_status taper_gpu_rule_identity(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0)), to = taper_gpu_shape(e, &node->outputs[0]);
    int64_t training;
    double chance;
    taper_gpu_view view, out;
    taper_gpu_chain chain = {.most_operands = 2};
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_ANY | TAPER_GPU_QUANTS));
    TAPER_TRY(taper_read_int(&e->reader, node, "train", 0, &training));
    TAPER_TRY(taper_read_number(&e->reader, node, "p", 0, &chance));
    TAPER_GPU_REFUSE(e, training != 0 && chance != 0, "dropout in training");
    const bool whole = to.dtype == TAPER_I64 || to.dtype == TAPER_I32;
    TAPER_GPU_REFUSE(e, whole && (from.dtype == TAPER_F32 || from.dtype == TAPER_BOOL), "a change to whole numbers");
    TAPER_GPU_REFUSE(e, code == 1 && !says_float32(e, node), "a change to a dtype that is not known");
    TAPER_GPU_REFUSE(e, (from.dtype == TAPER_QU8 && to.dtype >= 0) != (to.dtype == TAPER_QU8) && from.dtype >= 0,
                     "a change of what is quantized");
    if (e->asking) {
        return TAPER_OK;
    }
    if (to.dtype == TAPER_QU8) {
        TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_QUANTS, &view));
    } else if (whole) {
        TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_WHOLES, &view));
    } else {
        TAPER_TRY(taper_gpu_operand_vectors(e, taper_node_in(node, 0), &view));
    }
    if (to.dtype == TAPER_BOOL && from.dtype != TAPER_BOOL) {
        TAPER_TRY(taper_gpu_new(e, &to, view.packed, &out));
        taper_gpu_append(&chain, TAPER_GPU_STEP_NE, NULL, 0, 0);
        TAPER_TRY(taper_gpu_elementwise(e, &view, false, &chain, &out));
        view = out;
    }
    taper_gpu_give(e, &node->outputs[0], &view);
    return TAPER_OK;
}
