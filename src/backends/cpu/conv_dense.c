// SPDX-License-Identifier: BSD-2-Clause
// Dense convolution as matrix products over packed weights. A 1x1 kernel with stride 1 reads the pixels in place
// (gemm); all other kernels gather a pointer per output pixel and tap (igemm). tiles.h divides the work.
//
// Several groups of few channels are merged into one product whose weights are zero between groups, because otherwise
// most lanes of a vector would be empty. Zero times infinity or NaN is NaN, so if a NaN results, everything is computed
// again, group by group.
#include <stdint.h>

#include "backends/cpu/conv_strips.h"
#include "base/atomic.h"
#include "ops/engine/tiles.h"
#include "ops/kernels/precisions.h"

// CUTS is false in a build for one model without large 3x3 weights; such a build does not need conv_strips.c.
enum { CUTS = TAPER_HAS_OP(winograd_k3) };
enum { STRIP_POINTERS = 4096 };
enum { MERGED = 3 }; // index in a pack request's `numbers` of the negated number of merged groups

typedef struct dense_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    size_t group_floats; // number of floats in a group's packed weights
    size_t groups;       // number of groups of the product; one such group may consist of several merged groups of the
                         // convolution
    size_t group_in, group_out;
    size_t taps, pixels; // number of taps of the kernel; number of pixels of all images
    size_t panels, panel_floats;
    taper_tiles tiles;
    taper_conv_strips strips; // strips of conv_strips.h; if count is 0, strips are consecutive pixels
    bool pointwise;
    atomic_uint *leaks; // set to 1 if merged groups produced a NaN; NULL if groups are not merged
} dense_plan;

// ---- pointers to the inputs of a strip of output pixels

typedef struct pixel {
    size_t image, y, x;
} pixel;

static pixel pixel_at(const taper_conv2d *job, size_t index)
{
    const size_t plane = job->out_h * job->out_w;
    const size_t rest = index % plane;
    return (pixel){index / plane, rest / job->out_w, rest % job->out_w};
}

static void next_pixel(const taper_conv2d *job, pixel *p)
{
    if (++p->x == job->out_w) {
        p->x = 0;
        if (++p->y == job->out_h) {
            p->y = 0;
            p->image++;
        }
    }
}

// Fills pointers[tap * count + i] with the address of the input channels that the tap reads for pixel i of the strip.
static void gather_pointers(const dense_plan *plan, const taper_conv_strip *strip, const float **pointers)
{
    const taper_conv2d *job = plan->head.job;
    const size_t count = strip->count;
    pixel p = pixel_at(job, strip->pixel);
    for (size_t i = 0; i < count; i++) {
        const float *image = job->x + p.image * job->in_h * job->in_w * job->in_c;
        const int64_t y0 = (int64_t)(p.y * job->stride_h) - job->pad_top;
        const int64_t x0 = (int64_t)(p.x * job->stride_w) - job->pad_left;
        const bool inner = x0 >= 0 && x0 + (int64_t)((job->kernel_w - 1) * job->dilation_w) < (int64_t)job->in_w;
        const float **out = pointers + i;
        for (size_t ky = 0; ky < job->kernel_h; ky++) {
            const int64_t y = y0 + (int64_t)(ky * job->dilation_h);
            const bool row = y >= 0 && y < (int64_t)job->in_h;
            const float *line = image + (row ? (size_t)y * job->in_w * job->in_c : 0);
            if (inner || !row) { // true if the whole kernel row is inside the image, or all of it is outside
                const float *at = row ? line + (size_t)x0 * job->in_c : job->zero;
                const size_t step = row ? job->dilation_w * job->in_c : 0;
                for (size_t kx = 0; kx < job->kernel_w; kx++, out += count, at += step) {
                    *out = at;
                }
                continue;
            }
            int64_t x = x0;
            for (size_t kx = 0; kx < job->kernel_w; kx++, x += (int64_t)job->dilation_w, out += count) {
                const bool inside = row && x >= 0 && x < (int64_t)job->in_w;
                *out = inside ? line + (size_t)x * job->in_c : plan->head.job->zero;
            }
        }
        if (strip->way == TAPER_CONV_ALONG) {
            next_pixel(job, &p);
        } else if (strip->way == TAPER_CONV_DOWN) {
            p.y++;
        } else {
            p.image++;
        }
    }
}

// ---- tiles of the result

// Sets *plan->leaks if the result of merged groups has a NaN. A NaN or infinity in the input of one group makes NaN in
// all columns of the other groups, so only the first and the last column are examined.
static void look_for_leaks(const dense_plan *plan, const float *y, size_t stride, size_t count, size_t columns)
{
    bool any = false;
    for (size_t i = 0; i < count; i++, y += stride) {
        any |= y[0] != y[0] || y[columns - 1] != y[columns - 1];
    }
    if (any) {
        atomic_store_explicit(plan->leaks, 1u, memory_order_relaxed);
    }
}

static void run_tile(const dense_plan *plan, const taper_tile *t, const taper_conv_strip *strip, size_t group,
                     const float *const *pointers)
{
    const taper_conv2d *job = plan->head.job;
    const size_t first = strip->pixel, count = strip->count, stride = strip->step * job->out_c;
    const size_t column = t->panel * plan->entry->nr;
    const size_t columns = taper_min_size(t->panel_end * plan->entry->nr, plan->group_out) - column;
    const size_t channel = group * plan->group_out + column;
    float *y = job->y + first * job->out_c + channel;
    const float *w = plan->head.packed + group * plan->group_floats + t->panel * plan->panel_floats;
    taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max};
    if (job->epilogue.add != NULL) {
        e.add = job->epilogue.add + first * job->out_c + channel;
        e.add_stride = stride;
    }
    if (plan->pointwise) {
        plan->entry->gemm(count, columns, plan->group_in, job->x + first * job->in_c + group * plan->group_in,
                          job->in_c, w, y, stride, &e);
    } else {
        plan->entry->igemm(count, columns, plan->group_in, plan->taps, pointers, count,
                           group * plan->group_in * sizeof(float), plan->head.job->zero, w, y, stride, &e);
    }
    if (plan->leaks != NULL) {
        look_for_leaks(plan, y, stride, count, columns);
    }
    taper_epilogue_finish(&job->epilogue, count, columns, y, stride);
}

static size_t strips_at_once(const dense_plan *plan, size_t most)
{
    return taper_epilogue_strips(&plan->head.job->epilogue, plan->entry->mr * plan->group_out, most);
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const dense_plan *plan = argument;
    const float *pointers[STRIP_POINTERS];
    taper_tile tile = taper_tile_at(&plan->tiles, begin);
    for (size_t i = begin; i < end; taper_tile_next(&plan->tiles, &tile)) {
        taper_conv_strip strip = {tile.first, tile.count, 1, TAPER_CONV_ALONG};
        if (plan->pointwise) {
            i += taper_tile_join(&plan->tiles, &tile, strips_at_once(plan, end - i));
            strip.count = tile.count;
        } else {
            if (CUTS && plan->strips.count != 0) {
                strip = taper_conv_strip_at(&plan->strips, plan->head.job, tile.first);
            }
            gather_pointers(plan, &strip, pointers);
            i++;
        }
        for (size_t group = 0; group < plan->groups; group++) {
            run_tile(plan, &tile, &strip, group, pointers);
        }
    }
}

// Computes rows of a pointwise convolution, whose input may be in a ring buffer.
static void run_band(const taper_conv2d_plan *head, const taper_band *band)
{
    const dense_plan *plan = (const dense_plan *)(const void *)head;
    const taper_conv2d *job = head->job;
    const size_t pixels = (band->end - band->begin) * job->out_w;
    const size_t most = strips_at_once(plan, pixels / plan->entry->mr + 1) * plan->entry->mr;
    const float *x =
        (const float *)(const void *)band->x.at + (band->begin - band->x.from) % band->x.ring * job->in_w * job->in_c;
    float *y = (float *)(void *)band->y.at + (band->begin - band->y.from) % band->y.ring * job->out_w * job->out_c;
    taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max, .add_stride = job->out_c};
    if (job->epilogue.add != NULL) {
        e.add = job->epilogue.add + (band->image * job->out_h + band->begin) * job->out_w * job->out_c;
    }
    for (size_t done = 0, count; done < pixels; done += count) {
        count = taper_min_size(most, pixels - done);
        plan->entry->gemm(count, job->out_c, job->in_c, x, job->in_c, head->packed, y, job->out_c, &e);
        taper_epilogue_finish(&job->epilogue, 1, count * job->out_c, y, 0);
        x += count * job->in_c;
        y += count * job->out_c;
        e.add = e.add != NULL ? e.add + count * job->out_c : NULL;
    }
}

// ---- packing of weights, and the plan

// Packs several groups together, as a block-diagonal matrix with one row for each tap and input.
static void fill_merged(const taper_conv2d *job, const taper_gemm_entry *entry, size_t merged, const float *bias,
                        float *packed)
{
    const taper_tensor *w = job->args.weight;
    const size_t own_out = job->out_c / job->groups, own_in = job->in_c / job->groups,
                 taps = job->kernel_h * job->kernel_w;
    const size_t group_out = own_out * merged, group_in = own_in * merged, nr = entry->nr;
    const size_t tap_stride = (size_t)(job->kernel_w > 1 ? w->strides[3] : w->strides[2]);
    const size_t count = taper_gemm_f32_packed_count(nr, group_out, taps, group_in), panel = (taps * group_in + 1) * nr;
    memset(packed, 0, count * (job->groups / merged) * sizeof *packed);
    for (size_t channel = 0; channel < job->out_c; channel++) {
        const size_t n = channel % group_out;
        float *column = packed + channel / group_out * count + n / nr * panel + n % nr;
        const float *from = (const float *)taper_tensor_data(w) + channel * (size_t)w->strides[0];
        const float scale = job->scale != NULL ? job->scale[channel] : 1.0f;
        column[0] = bias != NULL ? bias[channel] : 0.0f;
        for (size_t tap = 0; tap < taps; tap++) {
            for (size_t k = 0; k < own_in; k++) {
                column[(1 + tap * group_in + n / own_out * own_in + k) * nr] =
                    from[tap * tap_stride + k * (size_t)w->strides[1]] * scale;
            }
        }
    }
}

size_t taper_conv2d_merged_groups(const taper_conv2d *job)
{
    enum { OUTPUTS = 16 };
    const size_t group_out = job->out_c / job->groups;
    size_t merged = 1;
    for (size_t m = 2; m * group_out <= OUTPUTS && m <= job->groups; m++) {
        if (job->groups % m == 0) {
            merged = m;
        }
    }
    return merged;
}

const taper_gemm_entry *taper_conv2d_entry(const taper_conv2d *job, size_t merged)
{
    const taper_run *run = job->call->run;
    return merged == 1 ? taper_gemm_of(run->cpu, run->precision) : taper_gemm_f32_select(run->cpu);
}

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const size_t merged = (size_t)-request->numbers[MERGED];
    taper_conv2d_fold(job);
    if (merged > 1) {
        fill_merged(job, request->kind, merged, taper_conv2d_bias(job), data);
    }
}

// Packs panels [first, end) of the weights, counted over all groups.
static void fill_panels(const taper_pack_request *request, void *data, size_t first, size_t end)
{
    const taper_conv2d *job = request->user;
    const taper_gemm_entry *entry = request->kind;
    const taper_tensor *w = job->args.weight;
    const size_t group_out = job->out_c / job->groups, group_in = job->in_c / job->groups,
                 taps = job->kernel_h * job->kernel_w, panels = (group_out + entry->nr - 1) / entry->nr;
    const float *bias = taper_conv2d_bias(job);
    const size_t count = taper_gemm_packed_count(entry, group_out, taps, group_in);
    for (size_t next; first < end; first = next) {
        const size_t g = first / panels;
        const taper_gemm_pack pack = {.n = group_out,
                                      .ks = taps,
                                      .kc = group_in,
                                      .n_stride = (size_t)w->strides[0],
                                      .tap_stride = (size_t)(job->kernel_w > 1 ? w->strides[3] : w->strides[2]),
                                      .k_stride = (size_t)w->strides[1],
                                      .weights =
                                          (const float *)taper_tensor_data(w) + g * group_out * (size_t)w->strides[0],
                                      .scale = job->scale != NULL ? job->scale + g * group_out : NULL,
                                      .bias = bias != NULL ? bias + g * group_out : NULL,
                                      .transpose = taper_vector_f32_select(job->call->run->cpu)->transpose};
        next = taper_min_size(end, (g + 1) * panels);
        taper_gemm_pack_panels(entry, &pack, first - g * panels, next - g * panels, (float *)data + g * count);
    }
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const dense_plan *plan = (const dense_plan *)(const void *)head;
    return taper_run_range(head->job->call->run, run_tiles, (void *)(uintptr_t)plan, plan->tiles.count, 1, head->work);
}

static taper_status run_dense(taper_conv2d *job, size_t merged, atomic_uint *leaks)
{
    taper_run *run = job->call->run;
    const taper_gemm_entry *entry = taper_conv2d_entry(job, merged);
    dense_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan, .name = entry->name},
                       .entry = entry,
                       .groups = job->groups / merged,
                       .group_in = job->in_c / job->groups * merged,
                       .group_out = job->out_c / job->groups * merged,
                       .taps = job->kernel_h * job->kernel_w,
                       .pixels = job->batch * job->out_h * job->out_w,
                       .leaks = merged > 1 ? leaks : NULL};
    plan.pointwise = plan.taps == 1 && job->stride_h == 1 && job->stride_w == 1 && job->out_h == job->in_h &&
                     job->out_w == job->in_w && job->pad_top == 0 && job->pad_left == 0;
    plan.head.rows = plan.pointwise && job->groups == 1 ? run_band : NULL;
    plan.group_floats = taper_gemm_packed_count(entry, plan.group_out, plan.taps, plan.group_in);
    if (plan.group_floats == 0 || plan.taps > STRIP_POINTERS ||
        plan.group_floats > SIZE_MAX / sizeof(float) / plan.groups) {
        return TAPER_DECLINED;
    }
    size_t mr = taper_min_size(entry->mr, STRIP_POINTERS / plan.taps);
    if (mr == 0) {
        return TAPER_DECLINED;
    }
    plan.panels = (plan.group_out + entry->nr - 1) / entry->nr;
    plan.panel_floats = taper_gemm_panel_floats(entry, plan.taps, plan.group_in);
    plan.head.flops = 2.0 * (double)plan.pixels * (double)job->out_c * (double)(plan.taps * (plan.group_in / merged));
    plan.head.work =
        taper_gemm_work(entry, plan.head.flops * (double)merged, (double)(plan.group_floats * plan.groups));
    // If strips are used, a tile is one strip, which may have fewer than mr pixels.
    const bool strips = CUTS && taper_conv_strips_make(job, mr, &plan.strips);
    const size_t pixel_bytes = job->in_h * job->in_w * job->in_c * sizeof(float) / (job->out_h * job->out_w);
    plan.tiles = taper_tiles_make(run, strips ? plan.strips.count : plan.pixels, strips ? 1 : mr,
                                  strips ? mr * pixel_bytes : pixel_bytes, plan.panels,
                                  plan.panel_floats * sizeof(float) * plan.groups, plan.head.work);
    taper_pack_request request;
    taper_conv2d_pack_key(job, entry, &request);
    request.layout = "convolution";
    request.kernel = entry->name;
    request.bytes = plan.group_floats * plan.groups * sizeof(float);
    request.numbers[MERGED] = -(int64_t)merged;
    request.fill = fill_weights;
    request.fill_parts = fill_panels;
    request.parts = merged == 1 ? plan.panels * plan.groups : 0;
    job->keeps &= merged == 1;
    return taper_conv2d_do(&plan.head, &request);
}

taper_status taper_conv2d_dense(taper_conv2d *job)
{
    atomic_uint leaks;
    atomic_init(&leaks, 0u);
    const bool keeps = job->keeps;
    const taper_status status = run_dense(job, taper_conv2d_merged_groups(job), &leaks);
    job->keeps = keeps;
    if (status != TAPER_OK || atomic_load_explicit(&leaks, memory_order_relaxed) == 0) {
        return status;
    }
    return run_dense(job, 1, &leaks);
}
