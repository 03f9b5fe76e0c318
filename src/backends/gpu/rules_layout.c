// SPDX-License-Identifier: BSD-2-Clause
// Operators that move elements: padding, stacks, flipped and rolled tensors, shuffled pixels and channels. Also tensors
// filled with one number.
#include <string.h>

#include "backends/gpu/gpu_emit.h"

// ---- padding

// Returns true if PyTorch accepts `pad` elements of this kind of padding for a dimension of `size` elements.
static bool may_be(taper_gpu_edge edge, int64_t size, int64_t pad)
{
    return edge == TAPER_GPU_EDGE_FILL || pad <= 0 || edge == TAPER_GPU_EDGE_REPLICATE ||
           (edge == TAPER_GPU_EDGE_REFLECT ? pad < size : pad <= size);
}

static taper_status read_edge(taper_gpu_emitter *e, const taper_node *node, uint32_t code, taper_gpu_edge *edge)
{
    const taper_val *mode = taper_read_constant(&e->reader, taper_read_argument(node, "mode"));
    static const struct {
        const char *mode;
        taper_gpu_edge edge;
    } all[] = {{"constant", TAPER_GPU_EDGE_FILL},
               {"reflect", TAPER_GPU_EDGE_REFLECT},
               {"replicate", TAPER_GPU_EDGE_REPLICATE},
               {"circular", TAPER_GPU_EDGE_CIRCULAR}};
    *edge = code != 0 ? (taper_gpu_edge)code : TAPER_GPU_EDGE_FILL;
    for (size_t i = 0; mode != NULL && i < sizeof all / sizeof *all; i++) {
        if (taper_val_string_is(*mode, all[i].mode)) {
            *edge = all[i].edge;
            return TAPER_OK;
        }
    }
    TAPER_GPU_REFUSE(e, mode != NULL, "padding of another kind");
    return TAPER_OK;
}

// Emits padding. `code` is a taper_gpu_edge, or 0 if the argument `mode` gives the edge.
taper_status taper_gpu_rule_pad(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    int64_t pads[TAPER_MAX_RANK], before[TAPER_GPU_RANK] = {0};
    size_t count;
    double value;
    taper_gpu_edge edge;
    taper_gpu_view from, to;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(read_edge(e, node, code, &edge));
    TAPER_TRY(taper_read_int_list(&e->reader, taper_node_in(node, 1), pads, &count));
    TAPER_TRY(taper_read_number(&e->reader, node, "value", 0, &value));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &from));
    TAPER_GPU_REFUSE(e, count % 2 != 0 || count / 2 > (size_t)from.rank, "padding of more dimensions than there are");
    // number of padded dimensions: 1 to 3 for rows, images and volumes, with or without a batch
    const int padded = (int)count / 2;
    TAPER_GPU_REFUSE(
        e, edge != TAPER_GPU_EDGE_FILL && (padded > 3 || (from.rank != padded + 1 && from.rank != padded + 2)),
        "padding of other dimensions");
    for (size_t i = 0; i < count / 2; i++) {
        const int d = from.rank - 1 - (int)i;
        TAPER_GPU_REFUSE(e, !may_be(edge, from.sizes[d], pads[2 * i]) || !may_be(edge, from.sizes[d], pads[2 * i + 1]),
                         "more padding than the tensor has elements for");
        before[d] = pads[2 * i];
    }
    TAPER_TRY(taper_gpu_new(e, &shape, from.packed, &to));
    TAPER_TRY(taper_gpu_move_padded(e, &from, &to, before, edge, value));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// ---- flip, roll

// Reads a list of dimensions as flags.
static taper_status read_flags(taper_gpu_emitter *e, const taper_ir_value *list, int rank, bool *flags)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    memset(flags, 0, TAPER_GPU_RANK * sizeof *flags);
    TAPER_TRY(taper_read_int_list(&e->reader, list, dims, &count));
    for (size_t i = 0; i < count && rank >= 0; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + rank : dims[i];
        TAPER_GPU_REFUSE(e, d < 0 || d >= rank || flags[d], "a dimension that is missing or repeated");
        flags[d] = true;
    }
    return TAPER_OK;
}

// Flips by negative strides. The packed dimension cannot be flipped in this way, so another dimension is packed first.
taper_status taper_gpu_rule_flip(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    bool flips[TAPER_GPU_RANK];
    taper_gpu_view from, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS));
    TAPER_TRY(read_flags(e, taper_node_in(node, 1), shape.rank, flips));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS, &from));
    int packed = from.packed;
    for (int d = from.rank; d-- > 0 && flips[packed];) {
        packed = flips[d] ? packed : d;
    }
    if (flips[packed] && from.sizes[packed] != 1) { // if all dimensions are flipped, packs an added dimension of size 1
        taper_shape wide = {.rank = from.rank + 1, .dtype = TAPER_F32, .sizes = {1}};
        taper_gpu_view more;
        TAPER_GPU_REFUSE(e, from.rank == TAPER_GPU_RANK, "six dimensions that are turned around");
        memcpy(wide.sizes + 1, from.sizes, (size_t)from.rank * sizeof *from.sizes);
        TAPER_TRY(taper_gpu_reshape(e, &from, &wide, &more));
        TAPER_TRY(taper_gpu_repack(e, &more, 0, &from));
        memmove(flips + 1, flips, (TAPER_GPU_RANK - 1) * sizeof *flips);
        flips[0] = false;
        packed = 0;
    }
    TAPER_TRY(taper_gpu_repack(e, &from, packed, &to));
    for (int d = 0; d < to.rank; d++) {
        if (flips[d] && d != packed) {
            to.offset += (to.sizes[d] - 1) * to.strides[d];
            to.strides[d] = -to.strides[d];
        }
    }
    // Merging of loops assumes positive strides, so the elements are copied.
    const taper_shape out_shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_shape same = {.rank = to.rank, .dtype = TAPER_F32};
    taper_gpu_view there;
    memcpy(same.sizes, to.sizes, sizeof to.sizes);
    TAPER_TRY(taper_gpu_new(e, &same, packed, &there));
    TAPER_TRY(taper_gpu_move(e, &to, &there));
    TAPER_TRY(taper_gpu_reshape(e, &there, &out_shape, &to));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

taper_status taper_gpu_rule_roll(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    int64_t shifts[TAPER_MAX_RANK], dims[TAPER_MAX_RANK], before[TAPER_GPU_RANK] = {0};
    size_t count, dim_count;
    taper_gpu_view from, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS));
    TAPER_TRY(taper_read_int_list(&e->reader, taper_node_in(node, 1), shifts, &count));
    TAPER_TRY(taper_read_int_list(&e->reader, taper_node_in(node, 2), dims, &dim_count));
    TAPER_GPU_REFUSE(e, count != dim_count, "a roll over all elements");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS, &from));
    for (size_t i = 0; i < count; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + from.rank : dims[i];
        TAPER_GPU_REFUSE(e, d < 0 || d >= from.rank, "a dimension that is not there");
        before[d] = (before[d] + shifts[i] % from.sizes[d] + from.sizes[d]) % from.sizes[d];
    }
    TAPER_TRY(taper_gpu_new(e, &shape, from.packed, &to));
    TAPER_TRY(taper_gpu_move_padded(e, &from, &to, before, TAPER_GPU_EDGE_CIRCULAR, 0));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// Emits repeat: a move in which indices beyond the end of a dimension continue at its start.
taper_status taper_gpu_rule_repeat(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    const int64_t before[TAPER_GPU_RANK] = {0};
    taper_gpu_view from, wide, to;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS, &from));
    const taper_shape of = taper_gpu_shape(e, taper_node_in(node, 0));
    taper_shape same = {.rank = shape.rank, .dtype = TAPER_F32};
    const int more = shape.rank - of.rank;
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank > TAPER_GPU_RANK || shape.rank < 1 || more < 0,
                     "a result whose sizes follow from elements, or that is empty");
    for (int d = 0; d < same.rank; d++) {
        same.sizes[d] = d < more ? 1 : of.sizes[d - more];
    }
    TAPER_TRY(taper_gpu_reshape(e, &from, &same, &wide));
    TAPER_TRY(taper_gpu_new(e, &shape, wide.packed, &to));
    TAPER_TRY(taper_gpu_move_padded(e, &wide, &to, before, TAPER_GPU_EDGE_CIRCULAR, 0));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// ---- pixels and channels

typedef enum shuffle { PIXELS, BACK, CHANNELS } shuffle;

// Emits shuffles. `code` is the operator. PIXELS: channels [C r r] become pixels; BACK: the reverse; CHANNELS: channels
// of groups are interleaved.
taper_status taper_gpu_rule_shuffle(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    static const int64_t orders[3][6] = {{0, 1, 4, 2, 5, 3}, {0, 1, 3, 5, 2, 4}, {0, 2, 1, 3, 4}};
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    const taper_shape result = taper_gpu_shape(e, &node->outputs[0]);
    int64_t r;
    taper_gpu_view from, parts, turned, to;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_int(&e->reader, node,
                             code == PIXELS ? "upscale_factor"
                             : code == BACK ? "downscale_factor"
                                            : "groups",
                             1, &r));
    TAPER_GPU_REFUSE(e, shape.rank >= 0 && shape.rank != 4, "images of other than four dimensions");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &from));
    const int64_t n = from.sizes[0], c = from.sizes[1], h = from.sizes[2], w = from.sizes[3];
    TAPER_GPU_REFUSE(e, from.rank != 4 || r < 1 || r > INT16_MAX, "images of other than four dimensions");
    TAPER_GPU_REFUSE(e,
                     code == PIXELS ? c % (r * r) != 0
                     : code == BACK ? h % r != 0 || w % r != 0
                                    : c % r != 0,
                     "a shuffle that leaves something");
    const taper_shape apart =
        code == PIXELS ? (taper_shape){.rank = 6, .dtype = TAPER_F32, .sizes = {n, c / (r * r), r, r, h, w}}
        : code == BACK ? (taper_shape){.rank = 6, .dtype = TAPER_F32, .sizes = {n, c, h / r, r, w / r, r}}
                       : (taper_shape){.rank = 5, .dtype = TAPER_F32, .sizes = {n, r, c / r, h, w}};
    TAPER_TRY(taper_gpu_reshape(e, &from, &apart, &parts));
    taper_gpu_permute(&parts, orders[code], &turned);
    TAPER_TRY(taper_gpu_reshape(e, &turned, &result, &to));
    taper_gpu_give(e, &node->outputs[0], &to);
    return TAPER_OK;
}

// ---- stacks of tensors

taper_status taper_gpu_rule_stack(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *list = taper_node_in(node, 0);
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_gpu_view out;
    int d;
    (void)code;
    TAPER_TRY(taper_gpu_dim(e, node, "dim", shape.rank, 0, &d));
    TAPER_GPU_REFUSE(e, list->node == NULL || list->node->kind != TAPER_NODE_LIST, "a list that is not made here");
    for (size_t i = 0; i < list->node->input_count; i++) {
        TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(list->node, i), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS));
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, shape.rank < 2, "a stack of single elements");
    const int usual = taper_gpu_usual_packed(shape.rank), packed = usual != d ? usual : d == 0 ? 1 : d - 1;
    TAPER_TRY(taper_gpu_new(e, &shape, packed, &out));
    taper_shape one = shape;
    one.sizes[d] = 1;
    for (size_t i = 0; i < list->node->input_count; i++) {
        taper_gpu_view from, wide, to = out;
        TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(list->node, i), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS, &from));
        TAPER_GPU_REFUSE(e, from.rank != shape.rank - 1 || (int64_t)i >= out.sizes[d], "a stack of other sizes");
        for (int k = 0; k < from.rank; k++) {
            TAPER_GPU_REFUSE(e, from.sizes[k] != out.sizes[k < d ? k : k + 1], "a stack of other sizes");
        }
        TAPER_TRY(taper_gpu_reshape(e, &from, &one, &wide));
        to.offset += (int64_t)i * out.strides[d];
        to.sizes[d] = 1;
        TAPER_TRY(taper_gpu_move(e, &wide, &to));
    }
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

// ---- tensors filled with one number

typedef struct number_fill {
    const taper_gpu_view *view;
    float number;
} number_fill;

static void fill_number(void *user, float *to)
{
    const number_fill *f = user;
    const int64_t last = f->view->sizes[f->view->packed], vectors = taper_gpu_vectors(last);
    int64_t inner = 1, outer = 1; // numbers of elements inside and outside the packed dimension
    for (int d = 0; d < f->view->rank; d++) {
        outer *= d == f->view->packed ? 1 : f->view->sizes[d];
    }
    inner = f->view->strides[f->view->packed];
    for (int64_t i = 0; i < outer * vectors; i++) {
        const int64_t group = i / inner % vectors;
        for (int64_t lane = 0; lane < TAPER_GPU_VECTOR; lane++) {
            to[i * TAPER_GPU_VECTOR + lane] = group * TAPER_GPU_VECTOR + lane < last ? f->number : 0;
        }
    }
}

// Refuses results other than float32. The dtype of the result follows from the argument `dtype`, otherwise from the
// first argument if it is a tensor, otherwise from the type of `fill_value`.
static taper_status ask_float(taper_gpu_emitter *e, const taper_node *node, bool full)
{
    const taper_ir_value *first = taper_node_in(node, 0), *dtype = taper_read_argument(node, "dtype");
    const taper_val *said = taper_read_constant(&e->reader, dtype);
    const bool like = first->type != NULL && first->type->kind == TAPER_TYPE_TENSOR;
    TAPER_GPU_REFUSE(e, dtype != NULL && said == NULL, "a dtype that is no constant");
    if (said != NULL && said->tag == TAPER_INT) {
        return TAPER_OK; // float32, because other dtypes were refused earlier
    }
    if (like) {
        const taper_shape shape = taper_gpu_shape(e, first);
        TAPER_TRY(taper_gpu_ask_operand(e, first));
        TAPER_GPU_REFUSE(e, !e->asking && shape.dtype != TAPER_F32, "a tensor of other than float32");
        return TAPER_OK;
    }
    const taper_val *number = full ? taper_read_constant(&e->reader, taper_read_argument(node, "fill_value")) : NULL;
    TAPER_GPU_REFUSE(e, full && (number == NULL || number->tag != TAPER_DOUBLE), "a tensor of whole numbers");
    return TAPER_OK;
}

// Emits a tensor filled with one number. `code` is the number, or FULL if the argument `fill_value` gives it.
taper_status taper_gpu_rule_create(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    enum { FULL = 2, KIND_NUMBER = 9 };
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    double number = code;
    int64_t vectors;
    taper_gpu_view view;
    if (code == FULL) {
        TAPER_TRY(taper_read_number(&e->reader, node, "fill_value", 0, &number));
    }
    TAPER_GPU_REFUSE(e, shape.dtype >= 0 && shape.dtype != TAPER_F32, "a tensor of other than float32");
    TAPER_TRY(ask_float(e, node, code == FULL));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    TAPER_GPU_REFUSE(e, !taper_gpu_view_dense(&shape, taper_gpu_usual_packed(shape.rank), &view, &vectors),
                     "a tensor that is too large");
    taper_gpu_key key = {.numbers = {number, (double)view.packed, (double)vectors}, .kind = KIND_NUMBER};
    if (number == 0) { // one vector is used for all elements
        memset(view.strides, 0, sizeof view.strides);
        vectors = 1;
        key.numbers[1] = key.numbers[2] = 0;
    } else {
        key.numbers[3] = (double)view.strides[view.packed];
        key.numbers[4] = (double)view.sizes[view.packed];
    }
    number_fill fill = {&view, (float)number};
    number_fill zero = {&(taper_gpu_view){.rank = 1, .sizes = {4}, .strides = {1}}, 0};
    TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, vectors), fill_number,
                                    number == 0 ? &zero : &fill, &view.buffer));
    taper_gpu_give(e, &node->outputs[0], &view);
    return TAPER_OK;
}
