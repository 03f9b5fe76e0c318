// SPDX-License-Identifier: BSD-2-Clause
// Rules for operators that move elements, or change only their shape.
#include <string.h>

#include "backends/nnapi/translating.h"
#include "ops/list/op_table.h"

static const uint8_t image_order[4] = {0, 2, 3, 1};

// Returns the position of dimension d of PyTorch's [N, C, H, W] in [N, H, W, C].
static size_t image_dim(size_t d)
{
    return d == 0 ? 0 : d == 1 ? 3 : d - 1;
}

taper_status taper_translate_identity(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape from = taper_translate_shape(t, x), to = taper_translate_shape(t, &node->outputs[0]);
    int64_t training;
    double chance;
    uint32_t operand;
    bool image;
    TAPER_TRY(taper_read_int(&t->reader, node, "train", 0, &training));
    TAPER_TRY(taper_read_number(&t->reader, node, "p", 0, &chance));
    TAPER_REFUSE(t, training != 0 && chance != 0, "dropout in training");
    TAPER_REFUSE(t, from.dtype >= 0 && to.dtype >= 0 && from.dtype != to.dtype, "a change of the dtype");
    TAPER_REFUSE(t, !t->asking && from.dtype != to.dtype && to.dtype >= 0, "a change of the dtype");
    TAPER_TRY(taper_translate_either(t, x, &operand, &image));
    return taper_translate_same(t, t->result, x);
}

// ---- operators that change only the shape

// Gets the operand for a reshape of x. An existing NHWC operand of x is used only if NHWC and NCHW store its elements
// in the same order: with one channel or one pixel.
static taper_status flat_operand(taper_translator *t, const taper_ir_value *x, uint32_t *operand)
{
    const taper_shape shape = taper_translate_shape(t, x);
    const bool same = shape.rank == 4 && (shape.sizes[1] == 1 || (shape.sizes[2] == 1 && shape.sizes[3] == 1));
    if (same && taper_translate_has_image(t, x)) {
        return taper_translate_image(t, x, operand);
    }
    TAPER_REFUSE(t, t->options->pytorch && taper_translate_has_image(t, x),
                 "PyTorch's converter does not reshape images");
    return taper_translate_plain(t, x, operand);
}

static taper_status result_sizes(taper_translator *t, const taper_node *node, int64_t *sizes, size_t *count)
{
    const taper_shape shape = taper_translate_shape(t, &node->outputs[0]);
    *count = 0;
    TAPER_REFUSE(t, shape.rank > 4 || shape.rank == 0, "a result of more than four dimensions, or none");
    if (taper_translate_may_learn(t)) {
        return TAPER_OK;
    }
    *count = shape.rank > 0 ? (size_t)shape.rank : 0;
    return taper_translate_told_sizes(t, &shape, sizes);
}

taper_status taper_translate_reshape(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    int64_t sizes[TAPER_MAX_RANK];
    size_t count;
    uint32_t in, vector, out;
    TAPER_TRY(result_sizes(t, node, sizes, &count));
    if (t->options->pytorch) { // uses the sizes that the node states, as the converter does
        TAPER_TRY(taper_read_int_list(&t->reader, taper_node_in(node, 1), sizes, &count));
    }
    TAPER_TRY(flat_operand(t, x, &in));
    TAPER_TRY(taper_translate_vector(t, sizes, count, &vector));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, false, &out));
    return TAPER_OPERATION(t, RESHAPE, out, in, vector);
}

taper_status taper_translate_flatten(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    int64_t sizes[TAPER_MAX_RANK];
    size_t count;
    uint32_t in, vector, out;
    TAPER_TRY(result_sizes(t, node, sizes, &count));
    TAPER_TRY(flat_operand(t, x, &in));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, false, &out));
    TAPER_TRY(taper_translate_vector(t, sizes, count, &vector));
    return TAPER_OPERATION(t, RESHAPE, out, in, vector);
}

taper_status taper_translate_squeeze(taper_translator *t, const taper_node *node)
{
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no such operation");
    return taper_translate_flatten(t, node);
}

taper_status taper_translate_unsqueeze(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    int64_t dim;
    uint32_t in, axis, out;
    if (!t->options->pytorch) {
        return taper_translate_flatten(t, node);
    }
    TAPER_REFUSE(t, taper_translate_has_image(t, x), "PyTorch's converter has no such operation of an image");
    TAPER_TRY(taper_read_int(&t->reader, node, "dim", 0, &dim));
    TAPER_TRY(taper_translate_plain(t, x, &in));
    TAPER_TRY(taper_translate_int32(t, dim, &axis));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, false, &out));
    return TAPER_OPERATION(t, EXPAND_DIMS, out, in, axis);
}

// ---- permutations

static taper_status permuted(taper_translator *t, const taper_ir_value *x, const int64_t *order, size_t rank)
{
    static const int64_t last[4] = {0, 2, 3, 1}, first[4] = {0, 3, 1, 2};
    uint32_t in, vector, out;
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no such operation");
    TAPER_REFUSE(t, rank > 4, "a tensor of more than four dimensions");
    // These permutations need no operation: the NHWC operand of one of the two tensors, the input and the result, is
    // also the NCHW operand of the other one.
    const bool to_last = rank == 4 && memcmp(order, last, sizeof last) == 0 && taper_translate_has_image(t, x);
    const bool to_first =
        rank == 4 && memcmp(order, first, sizeof first) == 0 && !t->asking && taper_read_tensor(&t->reader, x) == NULL;
    if (to_last || to_first) {
        TAPER_TRY(to_last ? taper_translate_image(t, x, &in) : taper_translate_plain(t, x, &in));
        const taper_shape shape = taper_translate_shape(t, t->result);
        taper_translated_value *state = &t->values[t->result->id];
        *state = t->values[x->id];
        state->plain = to_last ? in : TAPER_NO_OPERAND;
        state->image = to_last ? TAPER_NO_OPERAND : in;
        state->shape = shape;
        return TAPER_OK;
    }
    TAPER_TRY(taper_translate_plain(t, x, &in));
    TAPER_TRY(taper_translate_vector(t, order, rank, &vector));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, false, &out));
    return TAPER_OPERATION(t, TRANSPOSE, out, in, vector);
}

taper_status taper_translate_permute(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t order[TAPER_MAX_RANK];
    bool taken[TAPER_MAX_RANK] = {false};
    size_t rank;
    TAPER_TRY(taper_read_int_list(&t->reader, taper_node_in(node, 1), order, &rank));
    TAPER_REFUSE(t, shape.rank >= 0 && (size_t)shape.rank != rank, "an order of other than its dimensions");
    for (size_t i = 0; i < rank; i++) {
        order[i] += order[i] < 0 ? (int64_t)rank : 0;
        TAPER_REFUSE(t, order[i] < 0 || order[i] >= (int64_t)rank, "a dimension that is not there");
        TAPER_REFUSE(t, taken[order[i]], "a dimension that is there twice");
        taken[order[i]] = true;
    }
    return permuted(t, x, order, rank);
}

taper_status taper_translate_transpose(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t order[TAPER_MAX_RANK] = {0, 1, 2, 3}, numbers[2];
    size_t dims[2];
    TAPER_TRY(taper_read_int(&t->reader, node, "dim0", 0, &numbers[0]));
    TAPER_TRY(taper_read_int(&t->reader, node, "dim1", 1, &numbers[1]));
    if (shape.rank < 0 || t->asking) {
        TAPER_REFUSE(t, shape.rank > 4, "a tensor of more than four dimensions");
        TAPER_REFUSE(t, !t->asking, "a tensor whose number of dimensions is not known");
        return TAPER_OK;
    }
    TAPER_REFUSE(t, shape.rank > 4 || shape.rank < 2, "a tensor of more than four dimensions, or fewer than two");
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_translate_dim(t, &shape, numbers[i], &dims[i]));
    }
    order[dims[0]] = (int64_t)dims[1];
    order[dims[1]] = (int64_t)dims[0];
    return permuted(t, x, order, (size_t)shape.rank);
}

// ---- slices

// Adds a slice as a result: elements [begin, end) of dimension dim, with a step.
static taper_status add_slice(taper_translator *t, const taper_ir_value *value, const taper_ir_value *x, size_t dim,
                              int64_t begin, int64_t end, int64_t step)
{
    const taper_shape shape = taper_translate_shape(t, x);
    uint32_t in, out, args[6];
    bool image;
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    TAPER_TRY(taper_translate_result_like(t, value, x, image, &out));
    if (t->asking) {
        return TAPER_OK;
    }
    int64_t begins[4] = {0}, ends[4], steps[4] = {1, 1, 1, 1}, to_end = 0;
    for (int d = 0; d < shape.rank; d++) {
        ends[d] = shape.sizes[image ? image_order[d] : d];
        to_end |= ends[d] == TAPER_UNKNOWN ? (int64_t)1 << d : 0;
        ends[d] = ends[d] == TAPER_UNKNOWN ? INT32_MAX : ends[d];
    }
    const size_t at = image ? image_dim(dim) : dim;
    begins[at] = begin;
    ends[at] = end;
    steps[at] = step;
    TAPER_TRY(taper_translate_vector(t, begins, (size_t)shape.rank, &args[0]));
    TAPER_TRY(taper_translate_vector(t, ends, (size_t)shape.rank, &args[1]));
    TAPER_TRY(taper_translate_vector(t, steps, (size_t)shape.rank, &args[2]));
    for (size_t i = 3; i < 6; i++) {
        TAPER_TRY(taper_translate_int32(t, i == 4 ? to_end : 0, &args[i]));
    }
    return TAPER_OPERATION(t, STRIDED_SLICE, out, in, args[0], args[1], args[2], args[3], args[4], args[5]);
}

taper_status taper_translate_slice(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t number, begin, end, step;
    size_t dim;
    uint32_t operand;
    bool image;
    TAPER_TRY(taper_read_int(&t->reader, node, "dim", 0, &number));
    TAPER_TRY(taper_read_int(&t->reader, node, "start", 0, &begin));
    TAPER_TRY(taper_read_int(&t->reader, node, "end", INT64_MAX, &end));
    TAPER_TRY(taper_read_int(&t->reader, node, "step", 1, &step));
    TAPER_REFUSE(t, step < 1, "a step below 1");
    TAPER_REFUSE(t, shape.rank > 4, "a tensor of more than four dimensions");
    TAPER_TRY(taper_translate_dim(t, &shape, number, &dim));
    if (shape.rank < 0 || shape.sizes[dim] == TAPER_UNKNOWN) {
        TAPER_REFUSE(t, !taper_translate_may_learn(t), "a tensor whose sizes are not known");
        return TAPER_OK;
    }
    const int64_t size = shape.sizes[dim];
    begin = begin == INT64_MAX ? 0 : begin < 0 ? begin + size : begin;
    end = end < 0 ? end + size : end;
    begin = begin < 0 ? 0 : begin;
    end = end > size ? size : end;
    TAPER_REFUSE(t, begin >= end, "a slice without elements");
    if (begin == 0 && end == size && step == 1) {
        TAPER_TRY(taper_translate_either(t, x, &operand, &image));
        return taper_translate_same(t, t->result, x);
    }
    return add_slice(t, t->result, x, dim, begin, end, step);
}

// Translates a node that makes a list of slices. Adds no operation: the translation of the node that unpacks the list
// adds the slices.
taper_status taper_translate_pieces(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *list = &node->outputs[0];
    TAPER_REFUSE(t,
                 list->uses == NULL || !taper_value_used_once(list) || list->uses->user == NULL ||
                     list->uses->user->kind != TAPER_NODE_LIST_UNPACK,
                 "a list of tensors that is not unpacked immediately");
    return TAPER_OK;
}

// Computes the beginning of each slice, and the end of the last one.
static taper_status piece_begins(taper_translator *t, const taper_node *pieces, int64_t size, size_t count,
                                 int64_t *begins)
{
    const taper_ir_value *how = taper_node_in(pieces, 1);
    const taper_val *number = taper_read_constant(&t->reader, how);
    const bool chunks = taper_read_argument(pieces, "chunks") != NULL;
    int64_t sizes[TAPER_MAX_RANK], each = 0;
    size_t have = 0;
    if (number != NULL && number->tag == TAPER_INT) {
        TAPER_REFUSE(t, number->as.i < 1, "pieces without elements");
        each = chunks ? size / number->as.i + (size % number->as.i != 0) : number->as.i;
        each = each > size ? size : each;
    } else {
        TAPER_TRY(taper_read_int_list(&t->reader, how, sizes, &have));
        TAPER_REFUSE(t, have != count, "other than so many pieces");
    }
    begins[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t left = size - begins[i], piece = have != 0 ? sizes[i] : each > left ? left : each;
        TAPER_REFUSE(t, piece < 1 || piece > left, "pieces without elements");
        begins[i + 1] = begins[i] + piece;
    }
    TAPER_REFUSE(t, begins[count] != size, "other than so many pieces");
    return TAPER_OK;
}

taper_status taper_translate_unpack(taper_translator *t, const taper_node *node)
{
    enum { MOST = 64 };
    const taper_node *pieces = taper_node_in(node, 0)->node;
    int64_t number, begins[MOST + 1];
    size_t dim;
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no such operation");
    TAPER_REFUSE(t,
                 pieces == NULL || pieces->kind != TAPER_NODE_OP ||
                     TAPER_FIELD(taper_node_facts(pieces), SHAPE) != TAPER_SHAPE_PIECES,
                 "a list of other than pieces of a tensor");
    TAPER_REFUSE(t, node->output_count > MOST, "too many pieces");
    const taper_ir_value *x = taper_node_in(pieces, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    TAPER_TRY(taper_read_int(&t->reader, pieces, "dim", 0, &number));
    TAPER_REFUSE(t, shape.rank > 4, "a tensor of more than four dimensions");
    TAPER_TRY(taper_translate_dim(t, &shape, number, &dim));
    if (shape.rank < 0 || shape.sizes[dim] == TAPER_UNKNOWN) {
        TAPER_REFUSE(t, !taper_translate_may_learn(t), "a tensor whose sizes are not known");
        return TAPER_OK;
    }
    TAPER_TRY(piece_begins(t, pieces, shape.sizes[dim], node->output_count, begins));
    for (size_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i].uses == NULL || t->asking) {
            continue;
        }
        t->values[node->outputs[i].id].shape = shape;
        t->values[node->outputs[i].id].shape.sizes[dim] = begins[i + 1] - begins[i];
        TAPER_TRY(add_slice(t, &node->outputs[i], x, dim, begins[i], begins[i + 1], 1));
    }
    return TAPER_OK;
}

// ---- joins

// Translates a node that makes a list of tensors. Adds no operation: the translation of the node that joins the tensors
// reads the items.
taper_status taper_translate_list(taper_translator *t, const taper_node *node)
{
    const taper_type *type = node->type;
    TAPER_REFUSE(t, type == NULL || type->kind != TAPER_TYPE_LIST, "a list of other than tensors");
    for (const taper_value_use *use = node->outputs[0].uses; use != NULL; use = use->next) {
        TAPER_REFUSE(t, use->user == NULL || use->user->kind != TAPER_NODE_OP, "a list that is used elsewhere");
    }
    return TAPER_OK;
}

taper_status taper_translate_cat(taper_translator *t, const taper_node *node)
{
    enum { MOST = 256 };
    const taper_node *list = taper_node_in(node, 0)->node;
    const taper_shape shape = taper_translate_shape(t, &node->outputs[0]);
    const bool quantized = taper_read_argument(node, "scale") != NULL;
    taper_result_quantizer q = {0, 0};
    int64_t number;
    size_t dim;
    uint32_t in[MOST + 1], out;
    bool image = false;
    TAPER_REFUSE(t, list == NULL || list->kind != TAPER_NODE_LIST, "a list that is not made in the same place");
    TAPER_REFUSE(t, list->input_count == 0 || list->input_count > MOST, "too many tensors, or none");
    TAPER_TRY(taper_read_int(&t->reader, node, "dim", 0, &number));
    TAPER_TRY(taper_translate_dim(t, &shape, number, &dim));
    if (quantized) {
        TAPER_TRY(taper_read_number(&t->reader, node, "scale", 0, &q.scale));
        TAPER_TRY(taper_read_int(&t->reader, node, "zero_point", 0, &q.zero_point));
    }
    for (size_t i = 0; i < list->input_count && !image; i++) {
        image = taper_translate_has_image(t, taper_node_in(list, i));
    }
    for (size_t i = 0; i < list->input_count; i++) {
        const taper_ir_value *item = taper_node_in(list, i);
        TAPER_TRY(image ? taper_translate_image(t, item, &in[i]) : taper_translate_plain(t, item, &in[i]));
        if (t->asking) {
            continue;
        }
        const taper_network_operand *a = &t->network->operands[in[0]], *b = &t->network->operands[in[i]];
        TAPER_REFUSE(t, a->type != b->type, "tensors of several dtypes");
        TAPER_REFUSE(t,
                     (!quantized || t->options->level < 29) && (a->scale != b->scale || a->zero_point != b->zero_point),
                     "tensors of several scales");
        TAPER_REFUSE(t,
                     quantized && t->options->level < 29 &&
                         (b->scale != (float)q.scale || b->zero_point != (int32_t)q.zero_point),
                     "tensors of several scales");
    }
    TAPER_TRY(quantized ? taper_translate_result(t, t->result, &q, image, &out)
                        : taper_translate_result_like(t, t->result, taper_node_in(list, 0), image, &out));
    TAPER_TRY(taper_translate_int32(t, (int64_t)(image ? image_dim(dim) : dim), &in[list->input_count]));
    return taper_translate_operation(t, ANEURALNETWORKS_CONCATENATION, in, list->input_count + (size_t)1, out);
}

taper_status taper_translate_pad(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t pads[TAPER_MAX_RANK];
    int32_t numbers[8] = {0};
    double value = 0;
    size_t count;
    uint32_t in, paddings, filler, out;
    bool image;
    const taper_val *mode = taper_read_constant(&t->reader, taper_read_argument(node, "mode"));
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no such operation");
    TAPER_REFUSE(t,
                 taper_read_argument(node, "mode") != NULL && (mode == NULL || !taper_val_string_is(*mode, "constant")),
                 "padding with other than a constant");
    TAPER_TRY(taper_read_int_list(&t->reader, taper_node_in(node, 1), pads, &count));
    TAPER_TRY(taper_read_number(&t->reader, node, "value", 0, &value));
    TAPER_REFUSE(t, count % 2 != 0 || count > 8 || (shape.rank >= 0 && count / 2 > (size_t)shape.rank),
                 "padding of dimensions that are not there");
    TAPER_REFUSE(t, value != 0 && (t->options->level < 29 || taper_translate_is_quantized(t, x)),
                 "padding with other than zeros");
    for (size_t i = 0; i < count; i++) {
        TAPER_REFUSE(t, pads[i] < 0 || pads[i] > INT32_MAX, "padding that cuts off");
    }
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    // PyTorch lists the paddings from the last dimension to the first.
    for (size_t i = 0; !t->asking && i < count; i++) {
        const size_t dim = (size_t)shape.rank - 1 - i / 2;
        numbers[2 * (image ? image_dim(dim) : dim) + i % 2] = (int32_t)pads[i];
    }
    TAPER_TRY(taper_translate_paddings(t, numbers, t->asking ? 4 : (size_t)shape.rank, &paddings));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, image, &out));
    if (value == 0) {
        return TAPER_OPERATION(t, PAD, out, in, paddings);
    }
    TAPER_TRY(taper_translate_float32(t, value, &filler));
    return TAPER_OPERATION(t, PAD_V2, out, in, paddings, filler);
}

// ---- channel shuffles (found by taper_translate in translate_nodes.c)

taper_status taper_translate_channel_shuffle(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape five = taper_translate_shape(t, &node->outputs[0]);
    uint32_t in, groups, axis, out;
    bool image;
    TAPER_REFUSE(t, t->options->level < 29 || t->options->pytorch, "an operation that the device's level lacks");
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_translate_int32(t, five.sizes[1], &groups));
    TAPER_TRY(taper_translate_int32(t, image ? 3 : 1, &axis));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, image, &out));
    return TAPER_OPERATION(t, CHANNEL_SHUFFLE, out, in, groups, axis);
}
