// SPDX-License-Identifier: BSD-2-Clause
// Pooling and resizing of images (shaders/pool.comp, resize.comp).
#include <string.h>

#include "backends/gpu/gpu_emit.h"

// Starts the dispatch of a kernel on images [batch, channels, rows, columns].
static taper_status begin(taper_gpu_emitter *e, const taper_node *node, taper_gpu_kernel kernel,
                          const taper_ir_value **result, taper_gpu_chain chain, taper_gpu_view *in, taper_gpu_view *out,
                          taper_gpu_work **work, uint32_t *at)
{
    const taper_shape shape = taper_gpu_shape(e, *result);
    taper_gpu_view before;
    taper_gpu_loops loops = {{0}, {{0}}};
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_QUANTS, &before));
    TAPER_TRY(taper_gpu_repack(e, &before, 1, in));
    TAPER_GPU_REFUSE(e, in->rank != 4, "images of other than four dimensions");
    TAPER_TRY(taper_gpu_take_steps(e, result, 1, 2, &chain));
    bool leaves = false;
    // Results of a resize are written directly as plain numbers, because they are large: converting them from vectors
    // would take long.
    if (kernel == TAPER_GPU_KERNEL_RESIZE) {
        TAPER_TRY(taper_gpu_new_output(e, *result, &shape, 1, out, &leaves));
    }
    kernel = leaves ? TAPER_GPU_KERNEL_RESIZE_OUT : kernel;
    if (!leaves) {
        TAPER_TRY(taper_gpu_new_result(e, *result, &shape, 1, out));
    }
    const taper_gpu_view *views[4] = {out, in, &chain.operands[0], &chain.operands[1]};
    static const int dims[3] = {0, 2, 3};
    for (int d = 0; d < 3; d++) {
        loops.sizes[d] = out->sizes[dims[d]];
        for (size_t v = 0; v < 2 + chain.operand_count; v++) {
            loops.strides[v][d] = views[v]->strides[dims[d]];
        }
    }
    TAPER_TRY(taper_gpu_add_work(e->program, work));
    (*work)->kernel = kernel;
    TAPER_TRY(taper_gpu_bind(e, *work, &chain, out, &loops, 2));
    (*work)->buffers[1] = in->buffer;
    *at = 0;
    taper_gpu_put_strides(*work, at, in, loops.strides[1]);
    taper_gpu_put(*work, at, in->sizes[2]);
    taper_gpu_put(*work, at, in->sizes[3]);
    (*work)->threads[0] = (uint32_t)out->sizes[3];
    (*work)->threads[1] = (uint32_t)out->sizes[2];
    (*work)->threads[2] = (uint32_t)(out->sizes[0] * taper_gpu_extent(out, 1));
    return TAPER_OK;
}

static taper_status ask_image(taper_gpu_emitter *e, const taper_node *node, unsigned dtypes)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    TAPER_GPU_REFUSE(e, shape.rank >= 0 && shape.rank != 4, "images of other than four dimensions");
    return taper_gpu_ask_operand_of(e, taper_node_in(node, 0), dtypes);
}

enum { MOST_WINDOW = 1024 }; // largest number of elements in a window, which a single thread reads

// Returns the size of a team. An 8 x 8 team shares a large window if there are few results (shaders/pool.comp).
static uint32_t team_of_window(const taper_gpu_state *s, const taper_gpu_work *w, const int64_t *window)
{
    enum { SIDE = 8, LEAST = SIDE * SIDE / 2 };
    return window[0] * window[1] >= LEAST && taper_gpu_threads(w) < s->fill ? SIDE * SIDE : 1;
}

// Emits a pool. `code` is 0 for the maximum, 1 for the mean.
taper_status taper_gpu_rule_pool(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    taper_gpu_view in, out;
    taper_gpu_work *w;
    const taper_gpu_chain chain = {0};
    uint32_t at;
    int64_t kernel[2], stride[2], padding[2], dilation[2], with_padding, divisor;
    TAPER_TRY(ask_image(e, node, code == 0 ? TAPER_GPU_FLOATS | TAPER_GPU_QUANTS : TAPER_GPU_FLOATS));
    TAPER_TRY(taper_read_ints(&e->reader, node, "kernel_size", 2, 1, kernel));
    TAPER_TRY(taper_read_ints(&e->reader, node, "stride", 2, 0, stride));
    TAPER_TRY(taper_read_ints(&e->reader, node, "padding", 2, 0, padding));
    TAPER_TRY(taper_read_ints(&e->reader, node, "dilation", 2, 1, dilation));
    TAPER_TRY(taper_read_int(&e->reader, node, "count_include_pad", 1, &with_padding));
    TAPER_TRY(taper_read_int(&e->reader, node, "divisor_override", INT64_MIN, &divisor));
    for (size_t d = 0; d < 2; d++) {
        stride[d] = stride[d] == 0 ? kernel[d] : stride[d];
        TAPER_GPU_REFUSE(e, kernel[d] < 1 || stride[d] < 1 || padding[d] < 0 || dilation[d] < 1,
                         "a window that is none");
        TAPER_GPU_REFUSE(e, kernel[d] > MOST_WINDOW || padding[d] > kernel[d] / 2 || dilation[d] > MOST_WINDOW,
                         "a window that is very large, or mostly padding");
    }
    TAPER_GPU_REFUSE(e, divisor == 0, "a divisor of zero");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(begin(e, node, TAPER_GPU_KERNEL_POOL, &result, chain, &in, &out, &w, &at));
    const int64_t numbers[] = {kernel[0],  kernel[1],  stride[0],   stride[1],
                               padding[0], padding[1], dilation[0], dilation[1]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        taper_gpu_put(w, &at, numbers[i]);
    }
    taper_gpu_put_float(w, &at, (double)divisor);
    w->team = team_of_window(e->state, w, kernel);
    w->constants[11] = code == 0 ? 0 : divisor != INT64_MIN ? 3 : with_padding != 0 ? 2 : 1;
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// Makes the steps of a quint8 mean: the sum of elements minus the zero point, times the reciprocal of the window's
// size, rounded as in QNNPACK.
static taper_status mean_of_quantized(taper_gpu_emitter *e, const taper_node *node, const taper_shape *shape,
                                      taper_gpu_chain *chain)
{
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0));
    double scale;
    int64_t zero_point;
    TAPER_TRY(taper_gpu_quantizer(e, taper_node_in(node, 0), &scale, &zero_point));
    TAPER_GPU_REFUSE(e, from.rank != 4 || from.sizes[2] % shape->sizes[2] != 0 || from.sizes[3] % shape->sizes[3] != 0,
                     "windows that are not all alike");
    const int64_t taps = from.sizes[2] / shape->sizes[2] * (from.sizes[3] / shape->sizes[3]);
    TAPER_GPU_REFUSE(e, taps > MOST_WINDOW, "a window that is very large");
    taper_gpu_append(chain, TAPER_GPU_STEP_ADD, NULL, -(double)(zero_point * taps), 1);
    taper_gpu_append(chain, TAPER_GPU_STEP_MUL, NULL, (double)((float)scale / ((float)scale * (float)taps)), 0);
    taper_gpu_append(chain, TAPER_GPU_STEP_QUANTIZE, NULL, (double)zero_point, 0);
    return TAPER_OK;
}

taper_status taper_gpu_rule_adaptive(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    taper_gpu_view in, out;
    taper_gpu_work *w;
    taper_gpu_chain chain = {0};
    uint32_t at;
    (void)code;
    TAPER_TRY(ask_image(e, node, TAPER_GPU_FLOATS | TAPER_GPU_QUANTS));
    if (e->asking) {
        return TAPER_OK;
    }
    const taper_shape shape = taper_gpu_shape(e, result);
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank != 4, "images of other than four dimensions");
    if (shape.dtype == TAPER_QU8) {
        TAPER_TRY(mean_of_quantized(e, node, &shape, &chain));
    }
    TAPER_TRY(begin(e, node, TAPER_GPU_KERNEL_POOL, &result, chain, &in, &out, &w, &at));
    at += 8;
    taper_gpu_put_float(w, &at, 1);
    // The shader's mode 4 computes its windows from the sizes. This mode reads no parameters of windows except the
    // dilations in `more[13]` and `more[14]`.
    w->parameters.more[13] = w->parameters.more[14] = 1;
    w->constants[11] = 4;
    if (shape.dtype == TAPER_QU8) { // sums over windows of equal size
        for (size_t d = 0; d < 2; d++) {
            w->parameters.more[7 + d] = w->parameters.more[9 + d] = (uint32_t)(in.sizes[2 + d] / shape.sizes[2 + d]);
        }
        w->constants[11] = 3;
    }
    const int64_t window[] = {in.sizes[2] / shape.sizes[2], in.sizes[3] / shape.sizes[3]};
    w->team = team_of_window(e->state, w, window);
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// Returns the distance in the input from one output pixel to the next, as PyTorch computes it. bilinear: the image is
// interpolated. corners: the corners of both images are aligned. whole: nearest neighbours of an image with one
// channel, for which PyTorch ignores a given scale if the size stays equal or doubles. given: the given scale, or 0 if
// none is given.
static double scale_of(int64_t in, int64_t out, bool bilinear, bool corners, bool whole, double given)
{
    if (out == in && (bilinear || whole)) {
        return 1;
    }
    if (whole && out == 2 * in) {
        return 0.5;
    }
    if (corners) {
        return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
    }
    return given > 0 ? 1 / given : (double)in / (double)out;
}

static taper_status read_scale(taper_gpu_emitter *e, const taper_node *node, const char *name, size_t index,
                               double *scale)
{
    const taper_val *constant = taper_read_constant(&e->reader, taper_read_argument(node, "scale_factors"));
    *scale = 0;
    if (constant != NULL && constant->tag == TAPER_LIST && constant->as.list->count > index) {
        const taper_val item = constant->as.list->items[index];
        *scale = item.tag == TAPER_DOUBLE ? item.as.f : 0;
        return TAPER_OK;
    }
    return taper_read_number(&e->reader, node, name, 0, scale);
}

// Emits a resize. `code` is 0 for nearest, 1 for bilinear.
taper_status taper_gpu_rule_resize(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *result = &node->outputs[0];
    taper_gpu_view in, out;
    taper_gpu_work *w;
    uint32_t at;
    int64_t corners;
    double given[2];
    TAPER_TRY(ask_image(e, node, TAPER_GPU_FLOATS));
    TAPER_TRY(taper_read_int(&e->reader, node, "align_corners", 0, &corners));
    TAPER_TRY(read_scale(e, node, "scales_h", 0, &given[0]));
    TAPER_TRY(read_scale(e, node, "scales_w", 1, &given[1]));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(begin(e, node, TAPER_GPU_KERNEL_RESIZE, &result, (taper_gpu_chain){0}, &in, &out, &w, &at));
    for (int d = 0; d < 2; d++) {
        taper_gpu_put_float(w, &at,
                            scale_of(in.sizes[2 + d], out.sizes[2 + d], code != 0, corners != 0,
                                     code == 0 && in.sizes[1] == 1, given[d]));
    }
    w->constants[11] = code == 0 ? 0 : corners != 0 ? 2 : 1;
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}
