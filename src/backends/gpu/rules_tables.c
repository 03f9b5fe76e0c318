// SPDX-License-Identifier: BSD-2-Clause
// Quantized operators on one tensor. The CPU's own operator computes the result for each of the 256 values of quint8,
// once, and the device looks up the results (shaders/lookup.comp). Joins convert their parts to one scale by such a
// table, too. This file also emits quantized products of two tensors: a few steps, exact before rounding, as on the
// CPU.
#include "backends/gpu/gpu_emit.h"

#include <string.h>

#include "base/hash.h"
#include "ir/tensor.h"

enum { MOST_ARGUMENTS = 16 };

// Makes a tensor of all 256 values, with this scale and zero point.
static taper_status every_number(taper_gpu_emitter *e, double scale, int64_t zero_point, taper_tensor **x)
{
    const int64_t size = TAPER_GPU_BYTES;
    const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scale, .zero_point = zero_point};
    TAPER_TRY(taper_tensor_new(e->heap, TAPER_QU8, 1, &size, NULL, x, e->error));
    TAPER_TRY(taper_tensor_set_quantizer(*x, &quantizer, e->error));
    for (int i = 0; i < TAPER_GPU_BYTES; i++) {
        ((uint8_t *)taper_tensor_data(*x))[i] = (uint8_t)i;
    }
    return TAPER_OK;
}

// Calls the operator with `args` and fills the table with the result. Returns TAPER_DECLINED if the operator fails,
// because the CPU then reports the error, or if the result is not a dense quint8 tensor of TAPER_GPU_BYTES elements.
static taper_status call_on(taper_gpu_emitter *e, const taper_op *op, taper_val *args, size_t count,
                            taper_gpu_table *table)
{
    taper_run run = *e->known->call->run;
    taper_val result;
    run.error = NULL;
    TAPER_GPU_REFUSE(e, taper_call_op(&run, op, args, count, &result, 1) != TAPER_OK, "an operator that fails");
    const taper_tensor *y = result.tag == TAPER_TENSOR ? result.as.tensor : NULL;
    const bool fits = y != NULL && y->dtype == TAPER_QU8 && y->rank == 1 && y->sizes[0] == TAPER_GPU_BYTES &&
                      y->strides[0] == 1 && y->quantizer != NULL && y->quantizer->scales == NULL;
    if (fits) {
        memcpy(table->numbers, taper_tensor_data(y), sizeof table->numbers);
        table->scale = y->quantizer->scale;
        table->zero_point = y->quantizer->zero_point;
    }
    taper_val_release(result);
    TAPER_GPU_REFUSE(e, !fits, "a quantized result of another kind");
    return TAPER_OK;
}

taper_status taper_gpu_make_table(taper_gpu_emitter *e, const taper_op *op, double scale, int64_t zero_point,
                                  bool in_list, taper_val *args, size_t count, taper_gpu_table *table)
{
    taper_tensor *x = NULL;
    taper_list *list = NULL;
    taper_status status = every_number(e, scale, zero_point, &x);
    if (status == TAPER_OK && in_list) {
        list = taper_list_new(e->heap, &taper_type_tensor, 1);
        status = list != NULL ? TAPER_OK : taper_fail_memory(e->error);
    }
    if (status == TAPER_OK) {
        if (list != NULL) {
            list->items[list->count++] = taper_val_retain(TAPER_VAL(x));
        }
        args[0] = list != NULL ? TAPER_VAL(list) : TAPER_VAL(x);
        status = call_on(e, op, args, count, table);
    }
    if (list != NULL) {
        taper_val_release(TAPER_VAL(list));
    }
    if (x != NULL) {
        taper_val_release(TAPER_VAL(x));
    }
    return status;
}

static void fill_table(void *user, float *to)
{
    const taper_gpu_table *table = user;
    for (int i = 0; i < TAPER_GPU_BYTES; i++) {
        to[i] = table->numbers[i];
    }
}

// Makes the key of a table. Each number of the key contains four bytes of the table; the last two contain a hash of all
// bytes.
static taper_gpu_key key_of(const taper_gpu_table *table)
{
    enum { KIND = 20, EACH = 4, WHOLE = TAPER_GPU_KEY_NUMBERS - 2 };
    taper_gpu_key key = {.kind = KIND};
    const uint64_t hash = taper_hash(0, table->numbers, sizeof table->numbers);
    for (size_t i = 0; i < WHOLE; i++) { // number of words that are copied from the table
        uint32_t word;
        memcpy(&word, table->numbers + i * (sizeof table->numbers / WHOLE), EACH);
        key.numbers[i] = word;
    }
    key.numbers[WHOLE] = (double)(hash >> 32);
    key.numbers[WHOLE + 1] = (double)(hash & UINT32_MAX);
    return key;
}

taper_status taper_gpu_look_up(taper_gpu_emitter *e, const taper_gpu_view *in, const taper_gpu_table *table,
                               const taper_gpu_view *out)
{
    const taper_gpu_view *views[2] = {out, in};
    const taper_gpu_chain none = {0};
    const taper_gpu_key key = key_of(table);
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0, numbers;
    TAPER_GPU_REFUSE(e, e->state->half, "quantized numbers in half precision");
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 2, &loops), "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_weights(e, &key, TAPER_GPU_BYTES * sizeof(float), fill_table, (void *)(uintptr_t)table,
                                    &numbers));
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_LOOKUP;
    TAPER_TRY(taper_gpu_bind(e, w, &none, out, &loops, 3));
    w->buffers[1] = in->buffer;
    w->buffers[2] = numbers;
    taper_gpu_put_strides(w, &at, in, loops.strides[1]);
    w->threads[0] = (uint32_t)loops.sizes[2];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * taper_gpu_extent(out, out->packed));
    return TAPER_OK;
}

// Emits an operator on one quantized tensor whose other arguments are constant.
taper_status taper_gpu_rule_quantized_map(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_val args[MOST_ARGUMENTS];
    taper_gpu_view in, out;
    taper_gpu_table table;
    double scale;
    int64_t zero_point;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_QUANTS));
    TAPER_GPU_REFUSE(e, node->input_count > MOST_ARGUMENTS, "more arguments than it looks at");
    for (size_t i = 1; i < node->input_count; i++) {
        const taper_val *constant = taper_read_constant(&e->reader, taper_node_in(node, i));
        TAPER_GPU_REFUSE(e, constant == NULL, "an argument that is no constant");
        args[i] = *constant;
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.dtype != TAPER_QU8, "a result of another dtype");
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_QUANTS, &in));
    TAPER_TRY(taper_gpu_quantizer(e, taper_node_in(node, 0), &scale, &zero_point));
    TAPER_TRY(taper_gpu_make_table(e, node->op, scale, zero_point, false, args, node->input_count, &table));
    TAPER_TRY(taper_gpu_new_result(e, &node->outputs[0], &shape, in.packed, &out));
    TAPER_TRY(taper_gpu_look_up(e, &in, &table, &out));
    taper_gpu_give_quantized(e, &node->outputs[0], &out, table.scale, table.zero_point);
    return TAPER_OK;
}

// Subtracts the zero point. The result is exact in floats.
static taper_status centered(taper_gpu_emitter *e, const taper_gpu_view *x, int64_t zero_point, taper_gpu_view *y)
{
    taper_shape shape = {.rank = x->rank, .dtype = TAPER_F32};
    taper_gpu_chain chain = {0};
    *y = *x;
    if (zero_point == 0) {
        return TAPER_OK;
    }
    memcpy(shape.sizes, x->sizes, sizeof x->sizes);
    taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, NULL, -(double)zero_point, 1);
    TAPER_TRY(taper_gpu_new(e, &shape, x->packed, y));
    return taper_gpu_elementwise(e, x, false, &chain, y);
}

static bool has_sizes(const taper_gpu_view *view, const taper_shape *shape)
{
    return view->rank == shape->rank &&
           memcmp(view->sizes, shape->sizes, (size_t)view->rank * sizeof *view->sizes) == 0;
}

// Emits a quantized product. `code` is 1 for the operator with relu.
taper_status taper_gpu_rule_quantized_mul(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_gpu_view parts[2], other, like, out;
    double scales[3];
    int64_t points[3];
    taper_gpu_chain chain = {.most_operands = 1};
    bool splat;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, i), TAPER_GPU_QUANTS));
    }
    TAPER_TRY(taper_gpu_quantized_result(e, node, 2, &scales[2], &points[2]));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank < 1, "a result whose sizes follow from elements");
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, i), TAPER_GPU_QUANTS, &parts[i]));
        TAPER_TRY(taper_gpu_quantizer(e, taper_node_in(node, i), &scales[i], &points[i]));
    }
    // Number of the argument that has the result's sizes; the other one may be broadcast.
    const size_t whole = has_sizes(&parts[0], &shape) ? 0 : 1;
    TAPER_GPU_REFUSE(e, !has_sizes(&parts[whole], &shape), "quantized tensors that are both broadcast");
    TAPER_TRY(centered(e, &parts[1 - whole], points[1 - whole], &other));
    int same = parts[whole].packed - (shape.rank - other.rank);
    if (!taper_gpu_view_broadcast(&other, &parts[whole], &like, &splat)) {
        const taper_gpu_view before = other;
        TAPER_GPU_REFUSE(e, same < 0, "tensors with different memory layouts");
        TAPER_TRY(taper_gpu_repack(e, &before, same, &other));
        TAPER_GPU_REFUSE(e, !taper_gpu_view_broadcast(&other, &parts[whole], &like, &splat),
                         "tensors with different memory layouts");
    }
    const float multiplier = (float)scales[0] * (float)scales[1] * (1.0f / (float)scales[2]);
    taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, NULL, -(double)points[whole], 1);
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, &like, 0, 0);
    if (splat) {
        chain.codes[chain.count - 1] |= TAPER_GPU_SPLAT;
    }
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, NULL, (double)multiplier, 0);
    taper_gpu_append(&chain, TAPER_GPU_STEP_QUANTIZE, NULL, (double)points[2], code != 0 ? (double)points[2] : 0);
    TAPER_TRY(taper_gpu_new_result(e, &node->outputs[0], &shape, parts[whole].packed, &out));
    TAPER_TRY(taper_gpu_elementwise(e, &parts[whole], false, &chain, &out));
    taper_gpu_give_quantized(e, &node->outputs[0], &out, scales[2], points[2]);
    return TAPER_OK;
}
