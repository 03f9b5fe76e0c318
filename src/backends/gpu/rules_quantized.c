// SPDX-License-Identifier: BSD-2-Clause
// Quantized operators. Elements of quint8 are floats from 0 to 255, and results have the same bits as on the CPU: sums
// of products equal the sums of 32-bit integers, and rounding happens once, with factors computed by the CPU's own
// code.
#include <math.h>
#include <string.h>

#include "backends/cpu/quantized_sum_cpu.h"
#include "backends/gpu/layer_parts.h"
#include "ops/quantized/quantized_pack.h"

taper_status taper_gpu_quantized_result(taper_gpu_emitter *e, const taper_node *node, size_t at, double *scale,
                                        int64_t *zero_point)
{
    const taper_val *s = taper_read_constant(&e->reader, taper_node_in(node, at));
    const taper_val *z = taper_read_constant(&e->reader, taper_node_in(node, at + 1));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, s == NULL || s->tag != TAPER_DOUBLE || z == NULL || z->tag != TAPER_INT,
                     "a scale that is no constant");
    *scale = s->as.f;
    *zero_point = z->as.i;
    TAPER_GPU_REFUSE(e, !(*scale > 0) || isinf(*scale) || *zero_point < 0 || *zero_point > 255,
                     "a scale that is refused");
    TAPER_GPU_REFUSE(e, e->state->half, "quantized numbers in half precision");
    return TAPER_OK;
}

static taper_status one_step(taper_gpu_emitter *e, const taper_node *node, unsigned from, taper_gpu_chain *chain,
                             const taper_ir_value **result, taper_gpu_view *out)
{
    const taper_shape shape = taper_gpu_shape(e, *result);
    taper_gpu_view in;
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), from, &in));
    if (shape.dtype == TAPER_F32) {
        TAPER_TRY(taper_gpu_take_steps(e, result, in.packed, 2, chain));
    }
    TAPER_TRY(taper_gpu_new(e, &shape, in.packed, out));
    return taper_gpu_elementwise(e, &in, false, chain, out);
}

taper_status taper_gpu_rule_quantize(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_val *dtype = taper_read_constant(&e->reader, taper_read_argument(node, "dtype"));
    const taper_ir_value *result = &node->outputs[0];
    double scale;
    int64_t zero_point;
    taper_gpu_view out;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_GPU_REFUSE(e, dtype == NULL || dtype->tag != TAPER_INT || dtype->as.i != TAPER_QU8,
                     "quantized numbers of other than quint8");
    TAPER_TRY(taper_gpu_quantized_result(e, node, 1, &scale, &zero_point));
    if (e->asking) {
        return TAPER_OK;
    }
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, NULL, 1.0f / (float)scale, 0);
    taper_gpu_append(&chain, TAPER_GPU_STEP_QUANTIZE, NULL, (double)zero_point, 0);
    TAPER_TRY(one_step(e, node, TAPER_GPU_FLOATS, &chain, &result, &out));
    taper_gpu_give_quantized(e, result, &out, scale, zero_point);
    return TAPER_OK;
}

taper_status taper_gpu_rule_dequantize(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    double scale;
    int64_t zero_point;
    taper_gpu_view out;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_QUANTS));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_quantizer(e, taper_node_in(node, 0), &scale, &zero_point));
    taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, NULL, -(double)zero_point, 1);
    taper_gpu_append(&chain, TAPER_GPU_STEP_MUL, NULL, (double)(float)scale, 0);
    TAPER_TRY(one_step(e, node, TAPER_GPU_QUANTS, &chain, &result, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// ---- quantized layers

static size_t same_place(const void *context, size_t channel)
{
    (void)context;
    return channel;
}

// Adds up the weights of a channel (*sum), and their magnitudes (*sizes).
static void add_weights(const taper_tensor *w, int64_t channel, int32_t *sum, double *sizes)
{
    const int8_t *data = (const int8_t *)taper_tensor_data(w) + channel * w->strides[0];
    int64_t at[TAPER_MAX_RANK] = {0}, offset = 0, all = 0, without = 0;
    for (;;) {
        all += data[offset];
        without += data[offset] < 0 ? -data[offset] : data[offset];
        int d = w->rank - 1;
        while (d > 0 && ++at[d] == w->sizes[d]) {
            offset -= (at[d] - 1) * w->strides[d];
            at[d--] = 0;
        }
        if (d <= 0) {
            *sum = (int32_t)(uint32_t)all; // the sum wraps around, as on the CPU
            *sizes = (double)without;
            return;
        }
        offset += w->strides[d];
    }
}

typedef struct quantized_layer {
    const taper_ir_value *x, *result;
    double in_scale, scale;
    int64_t in_point, point;
    bool relu;
} quantized_layer;

static taper_status emit_folded(taper_gpu_emitter *e, const quantized_layer *q, taper_gpu_layer *l,
                                const taper_gpu_geometry *g, const taper_gpu_view *in, const taper_gpu_view *out,
                                const taper_i8_layer *numbers, int32_t *start, float *factor)
{
    const taper_gpu_chain none = {0};
    double sizes;
    bool small = true;
    taper_i8_fill_channels(numbers, l->weight, l->bias, (size_t)l->out, same_place, NULL);
    for (int64_t i = 0; i < l->out; i++) {
        add_weights(l->weight, i, &numbers->sums[i], &sizes);
    }
    TAPER_GPU_REFUSE(e, !taper_i8_layer_fold(numbers, q->in_scale, (int32_t)q->in_point, 0, q->scale, start, factor),
                     "scales that the fast kernels do not take");
    // `small` is true if floats represent all sums of all channels exactly, for every input.
    for (int64_t i = 0; i < l->out; i++) {
        int32_t sum;
        add_weights(l->weight, i, &sum, &sizes);
        small = small && fabs((double)start[i]) + 255 * sizes < (double)TAPER_GPU_MOST_WHOLE;
    }
    const taper_gpu_integers integers = {.start = start,
                                         .factor = factor,
                                         .in_scale = q->in_scale,
                                         .out_scale = q->scale,
                                         .in_point = (double)q->in_point,
                                         .point = (double)q->point,
                                         .least = q->relu ? (double)q->point : 0,
                                         .small = small};
    l->integers = &integers;
    return taper_gpu_emit_images(e, l, g, in, out, &none);
}

static taper_status emit_layer(taper_gpu_emitter *e, const quantized_layer *q, taper_gpu_layer *l,
                               const taper_gpu_geometry *g, const taper_gpu_view *in, const taper_gpu_view *out)
{
    const size_t count = (size_t)l->out, bytes = taper_i8_layer_bytes(count, 1);
    const size_t more = count * (sizeof(int32_t) + sizeof(float));
    TAPER_GPU_REFUSE(e, bytes == 0, "a layer that is too large");
    void *pack = taper_alloc(e->state->allocator, bytes);
    int32_t *start = taper_alloc(e->state->allocator, more);
    taper_status status = pack != NULL && start != NULL ? TAPER_OK : taper_fail_memory(e->error);
    if (status == TAPER_OK) {
        const taper_i8_layer numbers = taper_i8_layer_of(pack, count);
        status = emit_folded(e, q, l, g, in, out, &numbers, start, (float *)(void *)(start + count));
    }
    taper_free(e->state->allocator, pack, bytes);
    taper_free(e->state->allocator, start, more);
    return status;
}

static taper_status check_weight(taper_gpu_emitter *e, const taper_gpu_layer *l)
{
    const taper_tensor *w = l->weight;
    TAPER_GPU_REFUSE(e,
                     w->dtype != TAPER_QI8 || w->quantizer == NULL || w->hidden_nhwc || !taper_i8_is_symmetric(w) ||
                         (l->bias != NULL && (l->bias->dtype != TAPER_F32 || l->bias->rank != 1)),
                     "a weight of other than qint8 around zero");
    return taper_gpu_check_bias(e, l);
}

static taper_status read_layer(taper_gpu_emitter *e, const taper_node *node, uint32_t code, taper_object **object,
                               quantized_layer *q)
{
    const taper_val *packed = taper_read_constant(&e->reader, taper_node_in(node, 1));
    *q = (quantized_layer){.x = taper_node_in(node, 0), .result = &node->outputs[0], .relu = code != 0};
    TAPER_TRY(taper_gpu_ask_operand_of(e, q->x, TAPER_GPU_QUANTS));
    TAPER_GPU_REFUSE(e, packed == NULL || packed->tag != TAPER_OBJECT, "packed weights that are no constant");
    *object = packed->as.object;
    TAPER_TRY(taper_gpu_quantized_result(e, node, node->input_count - 2, &q->scale, &q->point));
    return e->asking ? TAPER_OK : taper_gpu_quantizer(e, q->x, &q->in_scale, &q->in_point);
}

// Emits a quantized convolution. `code` is 1 for the operator with relu.
taper_status taper_gpu_rule_quantized_conv(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    enum { MOST_STEP = 1 << 20 };
    taper_run run = taper_run_on(e->heap, NULL, NULL);
    taper_qconv_params params;
    taper_object *object;
    quantized_layer q;
    taper_gpu_view before, in, out;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    TAPER_TRY(read_layer(e, node, code, &object, &q));
    TAPER_GPU_REFUSE(e, taper_qconv_open(&run, object, 2, &params) != TAPER_OK, "packed weights that cannot be read");
    const taper_conv_params *conv = &params.conv;
    taper_gpu_layer l = {.weight = params.weight,
                         .bias = params.bias,
                         .out = params.out,
                         .in = params.in,
                         .groups = conv->groups,
                         .kernel = {params.weight->sizes[2], params.weight->sizes[3]}};
    taper_gpu_geometry g = {.groups = conv->groups};
    TAPER_GPU_REFUSE(e, conv->transposed, "a quantized layer that is transposed");
    TAPER_TRY(check_weight(e, &l));
    for (size_t d = 0; d < 2; d++) {
        g.stride[d] = conv->stride[d];
        g.padding[d] = conv->padding[d];
        g.dilation[d] = conv->dilation[d];
        TAPER_GPU_REFUSE(e,
                         g.stride[d] < 1 || g.dilation[d] < 1 || g.padding[d] < 0 || g.stride[d] > MOST_STEP ||
                             g.padding[d] > MOST_STEP || l.kernel[d] < 1 || l.kernel[d] > MOST_STEP ||
                             g.dilation[d] > MOST_STEP / l.kernel[d],
                         "a window that is very large");
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, q.x, TAPER_GPU_QUANTS, &before));
    TAPER_TRY(taper_gpu_repack(e, &before, 1, &in));
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank != 4 || in.rank != 4 || in.sizes[1] != l.in,
                     "a convolution of other channels");
    TAPER_TRY(taper_gpu_new_result(e, q.result, &shape, 1, &out));
    TAPER_TRY(emit_layer(e, &q, &l, &g, &in, &out));
    taper_gpu_give_quantized(e, q.result, &out, q.scale, q.point);
    return TAPER_OK;
}

// Describes rows [.., features] as images with one column.
static void as_image(const taper_gpu_view *rows, taper_gpu_view *image)
{
    const int last = rows->rank - 1;
    *image = (taper_gpu_view){.buffer = rows->buffer, .offset = rows->offset, .rank = 4, .packed = 1};
    image->sizes[0] = rows->rank == 3 ? rows->sizes[0] : 1;
    image->strides[0] = rows->rank == 3 ? rows->strides[0] : 0;
    image->sizes[1] = rows->sizes[last];
    image->strides[1] = rows->strides[last];
    image->sizes[2] = 1;
    image->sizes[3] = rows->sizes[last - 1];
    image->strides[3] = rows->strides[last - 1];
}

taper_status taper_gpu_rule_quantized_linear(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_gpu_geometry g = {.stride = {1, 1}, .dilation = {1, 1}, .groups = 1};
    taper_run run = taper_run_on(e->heap, NULL, NULL);
    taper_qlinear_params params;
    taper_object *object;
    quantized_layer q;
    taper_gpu_view before, in, out, from, to;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    TAPER_TRY(read_layer(e, node, code, &object, &q));
    TAPER_GPU_REFUSE(e, taper_qlinear_open(&run, object, &params) != TAPER_OK, "packed weights that cannot be read");
    taper_gpu_layer l = {.weight = params.weight,
                         .bias = params.bias,
                         .out = params.out,
                         .in = params.in,
                         .groups = 1,
                         .kernel = {1, 1}};
    TAPER_TRY(check_weight(e, &l));
    TAPER_GPU_REFUSE(e, l.weight->rank != 2 || params.half, "a linear layer whose weight is no matrix");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank < 2 || shape.rank > 3,
                     "quantized rows of other than two or three dimensions");
    TAPER_TRY(taper_gpu_operand_of(e, q.x, TAPER_GPU_QUANTS, &before));
    TAPER_GPU_REFUSE(e, before.rank != shape.rank || before.sizes[before.rank - 1] != l.in, "a product of other sizes");
    TAPER_TRY(taper_gpu_repack(e, &before, before.rank - 1, &in));
    TAPER_TRY(taper_gpu_new(e, &shape, shape.rank - 1, &out));
    as_image(&in, &from);
    as_image(&out, &to);
    TAPER_TRY(emit_layer(e, &q, &l, &g, &from, &to));
    taper_gpu_give_quantized(e, q.result, &out, q.scale, q.point);
    return TAPER_OK;
}

// ---- quantized sums

// Emits a quantized sum. `code` is 1 for the operator with relu.
taper_status taper_gpu_rule_quantized_add(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    const taper_gpu_chain none = {0};
    taper_gpu_view parts[2], out;
    taper_quantizer of[2] = {{.scales = NULL}, {.scales = NULL}};
    taper_u8_sum sum;
    double scale;
    int64_t zero_point;
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, i), TAPER_GPU_QUANTS));
    }
    TAPER_TRY(taper_gpu_quantized_result(e, node, 2, &scale, &zero_point));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    for (size_t i = 0; i < 2; i++) {
        taper_gpu_view before;
        TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, i), TAPER_GPU_QUANTS, &before));
        TAPER_TRY(taper_gpu_repack(e, &before, i == 0 ? before.packed : parts[0].packed, &parts[i]));
        TAPER_TRY(taper_gpu_quantizer(e, taper_node_in(node, i), &of[i].scale, &of[i].zero_point));
        TAPER_GPU_REFUSE(e,
                         parts[i].rank != shape.rank ||
                             memcmp(parts[i].sizes, shape.sizes, (size_t)shape.rank * sizeof *shape.sizes) != 0,
                         "quantized tensors that are broadcast");
    }
    TAPER_GPU_REFUSE(e, !taper_u8_sum_factors(&of[0], &of[1], scale, &sum), "scales that the fast kernels do not take");
    TAPER_TRY(taper_gpu_new_result(e, &node->outputs[0], &shape, parts[0].packed, &out));
    const taper_gpu_view *views[3] = {&out, &parts[0], &parts[1]};
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 3, &loops), "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_QUANTIZED_SUM;
    TAPER_TRY(taper_gpu_bind(e, w, &none, &out, &loops, 3));
    const int64_t numbers[] = {sum.a_factor, sum.b_factor, sum.offset, zero_point, code != 0 ? zero_point : 0,
                               sum.shift};
    for (size_t i = 0; i < 2; i++) {
        w->buffers[1 + i] = parts[i].buffer;
        taper_gpu_put_strides(w, &at, &parts[i], loops.strides[1 + i]);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        taper_gpu_put(w, &at, numbers[i]);
    }
    w->threads[0] = (uint32_t)loops.sizes[2];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * taper_gpu_extent(&out, out.packed));
    taper_gpu_give_quantized(e, &node->outputs[0], &out, scale, zero_point);
    return TAPER_OK;
}
