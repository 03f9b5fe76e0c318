// SPDX-License-Identifier: BSD-2-Clause
// Dense quantized convolution as matrix products over packed weights, with a pointer per output pixel and tap. In a
// layer with few channels (stem), the pixels and padding of a row are contiguous, so there is one pointer per pixel and
// kernel row. tiles.h divides the work.
#include "backends/cpu/quantized_conv_cpu.h"
#include "ops/engine/tiles.h"

enum { STRIP_POINTERS = 4096 };

typedef struct dense_plan {
    taper_conv2d_i8_plan head; // head.padding is as long as a pixel
    const taper_gemm_i8_entry *entry;
    size_t group_in, group_out, group_bytes, group_places;
    size_t taps; // number of pointers of a pixel
    size_t pixels, panels, panel_bytes;
    taper_tiles tiles;
    bool pointwise;
} dense_plan;

// ---- pointers to the inputs of a strip of output pixels

// Fills pointers[tap * count + i] for pixel i of a strip whose windows are inside the image.
static void window_inside(const dense_plan *plan, const uint8_t *at, size_t count, const uint8_t **to)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t row = taper_conv2d_i8_row(job) * job->dilation_h, step = job->in_c * job->dilation_w;
    const size_t columns = job->stem ? 1 : job->kernel_w;
    for (size_t ky = 0; ky < job->kernel_h; ky++, at += row) {
        for (size_t kx = 0; kx < columns; kx++, to += count) {
            *to = at + kx * step;
        }
    }
}

static void window_at_border(const dense_plan *plan, const uint8_t *image, int64_t y0, int64_t x0, size_t count,
                             const uint8_t **to)
{
    const taper_conv2d_i8 *job = plan->head.job;
    for (size_t ky = 0; ky < job->kernel_h; ky++) {
        const int64_t y = y0 + (int64_t)(ky * job->dilation_h);
        const bool row = y >= 0 && y < (int64_t)job->in_h;
        const uint8_t *line = image + (row ? (size_t)y * taper_conv2d_i8_row(job) : 0);
        if (job->stem) {
            *to = row ? line + (size_t)(x0 + (int64_t)job->pad_left) * 4 : plan->head.padding;
            to += count;
            continue;
        }
        int64_t x = x0;
        for (size_t kx = 0; kx < job->kernel_w; kx++, x += (int64_t)job->dilation_w, to += count) {
            const bool inside = row && x >= 0 && x < (int64_t)job->in_w;
            *to = inside ? line + (size_t)x * job->in_c : plan->head.padding;
        }
    }
}

static void gather_pointers(const dense_plan *plan, size_t first, size_t count, const uint8_t **pointers)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t plane = job->out_h * job->out_w, row = taper_conv2d_i8_row(job);
    size_t image = first / plane, oy = first % plane / job->out_w, ox = first % job->out_w;
    if (plan->pointwise) {
        for (size_t i = 0; i < count; i++) {
            pointers[i] = job->x + (first + i) * job->in_c;
        }
        return;
    }
    const int64_t reach_y = (int64_t)job->in_h - (int64_t)((job->kernel_h - 1) * job->dilation_h);
    const int64_t reach_x = (int64_t)job->in_w - (int64_t)((job->kernel_w - 1) * job->dilation_w);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *base = job->x + image * job->in_h * row;
        const int64_t y0 = (int64_t)(oy * job->stride_h) - (int64_t)job->pad_top;
        const int64_t x0 = (int64_t)(ox * job->stride_w) - (int64_t)job->pad_left;
        if (y0 >= 0 && y0 < reach_y && (job->stem || (x0 >= 0 && x0 < reach_x))) {
            const size_t x = job->stem ? ox * job->stride_w : (size_t)x0;
            window_inside(plan, base + (size_t)y0 * row + x * taper_conv2d_i8_pixel(job), count, pointers + i);
        } else {
            window_at_border(plan, base, y0, x0, count, pointers + i);
        }
        if (++ox == job->out_w) {
            ox = 0;
            if (++oy == job->out_h) {
                oy = 0;
                image++;
            }
        }
    }
}

// ---- tiles of the result

// Sets the arguments of the kernel for a tile of one group.
static void aim(const dense_plan *plan, const taper_tile *t, size_t group, taper_gemm_i8 *call)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t column = t->panel * plan->entry->nr, place = group * plan->group_places + column;
    call->mr = t->count;
    call->nc = taper_min_size(t->panel_end * plan->entry->nr, plan->group_out) - column;
    call->a_tap_stride = t->count;
    call->a_offset = group * plan->group_in;
    call->w = plan->head.layer.weights + group * plan->group_bytes + t->panel * plan->panel_bytes;
    call->c = job->y + t->first * job->out_c + group * plan->group_out + column;
    call->e.bias = plan->head.bias + place;
    call->e.scale = plan->head.factor + place;
}

#include "backends/cpu/quantized_conv_rows.h"

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const dense_plan *plan = argument;
    const taper_conv2d_i8 *job = plan->head.job;
    const uint8_t *pointers[STRIP_POINTERS];
    taper_gemm_i8 call = {.kc = plan->group_in,
                          .ks = plan->taps,
                          .a = pointers,
                          .a_step = plan->pointwise ? job->in_c : 0,
                          .c_stride = job->out_c,
                          .e = {.zero_point = job->zero_point, .min = job->min}};
    bool many = has_rows(plan->entry) && plan->pointwise && job->groups == 1;
    taper_tile t = taper_tile_at(&plan->tiles, begin);
    for (size_t i = begin; i < end; taper_tile_next(&plan->tiles, &t)) {
        const size_t made = many ? run_many(plan, &t, end - i, &call) : 0;
        many = made > 0;
        if (many) {
            i += made;
            continue;
        }
        gather_pointers(plan, t.first, t.count, pointers);
        for (size_t group = 0; group < job->groups; group++) {
            aim(plan, &t, group, &call);
            plan->entry->run(&call);
        }
        i++;
    }
}

// Computes rows of a pointwise convolution, whose input may be in a ring buffer.
static void run_band(const taper_conv2d_i8_plan *head, const taper_band *band)
{
    const dense_plan *plan = (const dense_plan *)(const void *)head;
    const taper_conv2d_i8 *job = head->job;
    const uint8_t *pointers[STRIP_POINTERS];
    const uint8_t *x =
        (const uint8_t *)band->x.at + (band->begin - band->x.from) % band->x.ring * job->in_w * job->in_c;
    taper_gemm_i8 call = {
        .mr = (band->end - band->begin) * job->out_w,
        .nc = job->out_c,
        .kc = job->in_c,
        .ks = 1,
        .a = pointers,
        .a_step = job->in_c,
        .w = head->layer.weights,
        .c = band->y.at + (band->begin - band->y.from) % band->y.ring * job->out_w * job->out_c,
        .c_stride = job->out_c,
        .e = {.bias = head->bias, .scale = head->factor, .zero_point = job->zero_point, .min = job->min}};
    pointers[0] = x;
    if (has_rows(plan->entry) && plan->entry->rows(&call)) {
        return;
    }
    const taper_gemm_strips cut = taper_gemm_cut(call.mr, plan->entry->mr);
    for (size_t s = 0; s < cut.count; s++) {
        call.mr = cut.even + (s < cut.longer);
        for (size_t i = 0; i < call.mr; i++, x += job->in_c) {
            pointers[i] = x;
        }
        plan->entry->run(&call);
        call.c = (uint8_t *)call.c + call.mr * job->out_c;
    }
}

// ---- packing of weights, and the plan

static size_t place_of(const void *context, size_t channel)
{
    const dense_plan *plan = context;
    return channel / plan->group_out * plan->group_places + channel % plan->group_out;
}

static void fill_pack(const taper_pack_request *request, void *data)
{
    const dense_plan *plan = request->user;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_tensor *w = job->params.weight;
    const taper_i8_layer layer = taper_i8_layer_of(data, plan->head.layer.places);
    taper_i8_fill_channels(&layer, w, job->params.bias, job->out_c, place_of, plan);
    const size_t out = (size_t)w->strides[0], in = (size_t)w->strides[1];
    const size_t row = (size_t)w->strides[2], column = (size_t)w->strides[3];
    for (size_t g = 0; g < job->groups; g++) {
        taper_gemm_i8_pack pack = {.n = plan->group_out,
                                   .ks = plan->taps,
                                   .kc = plan->group_in,
                                   .n_stride = out,
                                   .tap_stride = job->kernel_w > 1 ? column : row,
                                   .k_stride = in,
                                   .weights = (const int8_t *)taper_tensor_data(w) + g * plan->group_out * out};
        if (job->stem) {
            pack.tap_stride = row;
            pack.k_stride = column;
            pack.k_inner = 4;
            pack.k_inner_stride = in;
            pack.k_inner_used = job->in_c;
        }
        taper_gemm_i8_pack_weights(plan->entry, &pack, layer.weights + g * plan->group_bytes,
                                   layer.sums + g * plan->group_places);
    }
}

static taper_status run_plan(const taper_conv2d_i8_plan *head)
{
    const dense_plan *plan = (const dense_plan *)head;
    return taper_run_range(head->job->call->run, run_tiles, (void *)(uintptr_t)plan, plan->tiles.count, 1, head->work);
}

taper_status taper_conv2d_i8_dense(taper_conv2d_i8 *job)
{
    taper_run *run = job->call->run;
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(run->cpu);
    dense_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan, .shift = entry->shift},
                       .entry = entry,
                       .group_in = job->stem ? 4 * job->kernel_w : job->in_c / job->groups,
                       .group_out = job->out_c / job->groups,
                       .taps = job->stem ? job->kernel_h : job->kernel_h * job->kernel_w,
                       .pixels = job->batch * job->out_h * job->out_w};
    plan.pointwise = !job->stem && plan.taps == 1 && job->stride_h == 1 && job->stride_w == 1 && job->pad_top == 0 &&
                     job->pad_left == 0;
    plan.head.rows = plan.pointwise && job->groups == 1 ? run_band : NULL;
    plan.panels = (plan.group_out + entry->nr - 1) / entry->nr;
    plan.panel_bytes = taper_gemm_i8_panel_bytes(entry, plan.taps, plan.group_in);
    plan.group_bytes = taper_gemm_i8_packed_bytes(entry, plan.group_out, plan.taps, plan.group_in);
    plan.group_places = plan.panels * entry->nr;
    size_t places;
    if (plan.group_bytes == 0 || plan.group_bytes > SIZE_MAX / job->groups || plan.taps > STRIP_POINTERS ||
        !taper_mul_size(plan.group_places, job->groups, &places) ||
        taper_i8_layer_bytes(places, plan.group_bytes * job->groups) == 0) {
        return TAPER_DECLINED;
    }
    const size_t mr = taper_min_size(entry->mr, STRIP_POINTERS / plan.taps);
    plan.head.layer.places = places;
    plan.head.padding_bytes = plan.group_in * job->groups + TAPER_OVERREAD;
    plan.head.name = entry->name;
    plan.head.flops = 2.0 * (double)plan.pixels * (double)job->out_c *
                      (double)(job->params.weight->sizes[1] * (int64_t)job->kernel_h) * (double)job->kernel_w;
    plan.head.work = taper_gemm_i8_work(entry, plan.head.flops);
    plan.tiles = taper_tiles_make(run, plan.pixels, mr, 0, plan.panels, plan.panel_bytes * job->groups, plan.head.work);
    taper_pack_request request;
    taper_i8_pack_key(entry, job->params.weight, job->params.bias, &request);
    request.layout = "quantized convolution";
    request.kernel = entry->name;
    request.numbers[1] = (int64_t)job->groups;
    request.numbers[2] = job->stem;
    request.bytes = taper_i8_layer_bytes(places, plan.group_bytes * job->groups);
    request.fill = fill_pack;
    request.user = &plan;
    return taper_conv2d_i8_do(&plan.head, &request);
}
