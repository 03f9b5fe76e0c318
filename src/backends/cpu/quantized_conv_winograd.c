// SPDX-License-Identifier: BSD-2-Clause
// Quantized 3x3 convolution with stride 1 by Winograd's transforms in integers (ops/kernels/winograd_i8.h). The
// resulting bytes equal the bytes of direct products. A dilation of d makes d x d convolutions of every d-th row and
// column.
//
// Tiles are divided into groups. An item of work is one group of tiles and one block of columns (output channels). The
// item's thread transforms the group's inputs, multiplies them at all positions of the transform and transforms the
// products back, in scratch memory of its own (see conv_winograd.c).
#include <math.h>

#include "backends/cpu/quantized_conv_cpu.h"
#include "ops/call/packs.h"
#include "ops/engine/tiles.h"

enum {
    SIDE = TAPER_WINOGRAD_I8_SIDE,
    POSITIONS = TAPER_WINOGRAD_I8_POSITIONS,
    OUTPUTS = 4,
    BLOCK_COLUMNS = 64,
    LINE_BYTES = 64,
    LEAST_TILES = 4
};

typedef struct winograd_plan {
    taper_conv2d_i8_plan head;
    const taper_winograd_i8_entry *entry;
    // Numbers of phases of the dilation, by height and width; numbers of tiles of a phase, down and along.
    size_t phases_h, phases_w, down, along;
    size_t tiles; // number of tiles of all images
    size_t most;  // largest number of tiles in a group
    // Number of panels; number of int16 numbers of a panel; number of panels of a block; number of blocks.
    size_t panels, panel, block, blocks;
} winograd_plan;

typedef struct winograd_run {
    const winograd_plan *plan;
    size_t groups, items; // number of groups of tiles, of nearly equal sizes; number of items
    // Distance from one position of the transform to the next: of inputs in int16 numbers, of products in int32
    // numbers.
    size_t v_stride, m_stride;
    taper_places places;
} winograd_run;

// The scratch memory of a thread. The transformed inputs of the largest group and a block of products follow this
// struct.
typedef struct winograd_place {
    size_t group; // 1 + the number of the group whose inputs are stored, or 0 if no inputs are stored
    char apart[LINE_BYTES - sizeof(size_t)];
    int16_t v[];
} winograd_place;

// The position of a tile's first output.
typedef struct place {
    size_t image, y, x;
    size_t rows, columns; // number of rows and number of columns of the tile's outputs that exist
} place;

static size_t left_of(size_t first, size_t end, size_t step)
{
    return first >= end ? 0 : taper_min_size((end - first - 1) / step + 1, OUTPUTS);
}

static place place_of(const winograd_plan *plan, size_t tile)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t column = tile % plan->along, row = tile / plan->along % plan->down;
    const size_t phase = tile / (plan->along * plan->down);
    place p = {.image = phase / (plan->phases_w * plan->phases_h),
               .y = phase / plan->phases_w % plan->phases_h + row * OUTPUTS * job->dilation_h,
               .x = phase % plan->phases_w + column * OUTPUTS * job->dilation_w};
    p.rows = left_of(p.y, job->out_h, job->dilation_h);
    p.columns = left_of(p.x, job->out_w, job->dilation_w);
    return p;
}

// ---- one group of tiles, which a thread computes at once

static size_t first_of(const winograd_run *r, size_t group)
{
    return (size_t)((uint64_t)r->plan->tiles * group / r->groups);
}

static void transform_inputs(const winograd_run *r, size_t begin, size_t end, int16_t *v)
{
    const winograd_plan *plan = r->plan;
    const taper_conv2d_i8 *job = plan->head.job;
    const uint8_t *x[POSITIONS];
    for (size_t tile = begin; tile < end; tile++, v += job->in_c) {
        const place p = place_of(plan, tile);
        const uint8_t *image = job->x + p.image * job->in_h * job->in_w * job->in_c;
        for (size_t i = 0; i < SIDE; i++) {
            // y is unsigned: for a row above the image it wraps to a number far above in_h.
            const size_t y = p.y + i * job->dilation_h - job->pad_top;
            for (size_t j = 0; j < SIDE; j++) {
                const size_t at = p.x + j * job->dilation_w - job->pad_left;
                x[SIDE * i + j] =
                    y < job->in_h && at < job->in_w ? image + (y * job->in_w + at) * job->in_c : plan->head.padding;
            }
        }
        plan->entry->input(job->in_c, x, job->in_zero_point, v, r->v_stride);
    }
}

static void finish_tile(const winograd_run *r, size_t tile, const int32_t *m, size_t column, size_t columns)
{
    const winograd_plan *plan = r->plan;
    const taper_conv2d_i8 *job = plan->head.job;
    const place p = place_of(plan, tile);
    if (p.rows == 0 || p.columns == 0) {
        return;
    }
    const taper_winograd_i8_output o = {.middle = plan->head.middle + column,
                                        .y = job->y + ((p.image * job->out_h + p.y) * job->out_w + p.x) * job->out_c +
                                             column,
                                        .row = job->dilation_h * job->out_w * job->out_c,
                                        .pixel = job->dilation_w * job->out_c,
                                        .rows = p.rows,
                                        .columns = p.columns,
                                        .e = {.bias = plan->head.bias + column,
                                              .scale = plan->head.factor + column,
                                              .zero_point = job->zero_point,
                                              .min = job->min}};
    plan->entry->output(columns, m, r->m_stride, &o);
}

// Multiplies tiles from `begin` to `end` by the columns of the panels from `panel` on.
static void multiply(const winograd_run *r, size_t begin, size_t end, size_t panel, const int16_t *v, int32_t *m)
{
    const winograd_plan *plan = r->plan;
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t nr = plan->entry->nr, panels = taper_min_size(plan->block, plan->panels - panel);
    const size_t column = panel * nr, columns = taper_min_size(panels * nr, job->out_c - column);
    const size_t position_numbers = panels * plan->panel;
    const taper_gemm_strips cut = taper_gemm_cut(end - begin, plan->entry->mr);
    const int16_t *weights = (const int16_t *)(const void *)plan->head.layer.weights + panel * POSITIONS * plan->panel;
    taper_winograd_i8_product product = {
        .columns = columns, .depth = job->in_c, .c_stride = panels * nr, .parts = cut.count};
    for (size_t position = 0; position < POSITIONS; position++) {
        product.w = weights + position * position_numbers;
        product.a = v + position * r->v_stride;
        product.c = m + position * r->m_stride;
        product.next = (const char *)(product.w + position_numbers);
        for (size_t s = 0; s < cut.count; s++) {
            product.rows = cut.even + (s < cut.longer);
            plan->entry->product(&product);
            product.a += product.rows * job->in_c;
            product.c += product.rows * product.c_stride;
            product.next += position_numbers * sizeof *product.w / cut.count;
        }
    }
    for (size_t tile = begin; tile < end; tile++) {
        finish_tile(r, tile, m + (tile - begin) * product.c_stride, column, columns);
    }
}

// Computes items [begin, end), numbered group * blocks + block of columns.
static void run_items(void *argument, size_t begin, size_t end)
{
    winograd_run *r = argument;
    const winograd_plan *plan = r->plan;
    winograd_place *own = taper_place_take(&r->places, begin, r->items);
    for (size_t item = begin; item < end; item++) {
        const size_t group = item / plan->blocks, tile = first_of(r, group), last = first_of(r, group + 1);
        if (own->group != group + 1) {
            transform_inputs(r, tile, last, own->v);
            own->group = group + 1;
        }
        multiply(r, tile, last, item % plan->blocks * plan->block, own->v,
                 (int32_t *)(void *)(own->v + POSITIONS * r->v_stride));
    }
    taper_place_leave(own);
}

static taper_status run_plan(const taper_conv2d_i8_plan *head)
{
    const winograd_plan *plan = (const winograd_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    winograd_run r = {.plan = plan, .groups = (plan->tiles - 1) / plan->most + 1};
    const size_t threads = taper_pool_threads(run->pool);
    // If there are enough tiles, each thread has separate tiles, so that inputs are transformed once. With fewer tiles,
    // threads have separate blocks of columns.
    if (plan->tiles / threads >= plan->entry->mr || (plan->blocks < threads && plan->tiles / threads >= LEAST_TILES)) {
        r.groups = ((r.groups - 1) / threads + 1) * threads;
    }
    const size_t tiles = (plan->tiles - 1) / r.groups + 1;
    r.items = r.groups * plan->blocks;
    r.v_stride = tiles * head->job->in_c + LINE_BYTES / sizeof(int16_t);
    r.m_stride = tiles * plan->block * plan->entry->nr + LINE_BYTES / sizeof(int32_t);
    const size_t bytes =
        sizeof(winograd_place) + POSITIONS * (r.v_stride * sizeof(int16_t) + r.m_stride * sizeof(int32_t));
    if (!taper_places_open(run, bytes, r.items, &r.places)) {
        return taper_fail_memory(run->error);
    }
    const taper_status status = taper_run_range(run, run_items, &r, r.items, 1, head->work);
    taper_places_close(run, &r.places);
    return status;
}

// ---- packing of weights, and the plan

static size_t place_of_channel(const void *context, size_t channel)
{
    (void)context;
    return channel;
}

static void fill_channels(const taper_pack_request *request, void *data)
{
    const winograd_plan *plan = request->user;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_i8_layer layer = taper_i8_layer_of(data, plan->head.layer.places);
    taper_i8_fill_channels(&layer, job->params.weight, job->params.bias, job->out_c, place_of_channel, plan);
}

// Fills the weights, one block of panels after the other, position by position.
static void fill_panels(const taper_pack_request *request, void *data, size_t begin, size_t end)
{
    const winograd_plan *plan = request->user;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_tensor *w = job->params.weight;
    const taper_i8_layer layer = taper_i8_layer_of(data, plan->head.layer.places);
    const size_t nr = plan->entry->nr;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t first = panel / plan->block * plan->block;
        int16_t *block = (int16_t *)(void *)layer.weights + first * POSITIONS * plan->panel;
        const taper_winograd_i8_pack_job pack = {
            .columns = taper_min_size(nr, job->out_c - panel * nr),
            .depth = job->in_c,
            .n_stride = (size_t)w->strides[0],
            .k_stride = (size_t)w->strides[1],
            .tap_stride = (size_t)w->strides[3],
            .w = (const int8_t *)taper_tensor_data(w) + panel * nr * (size_t)w->strides[0],
            .u = block + (panel - first) * plan->panel,
            .u_stride = taper_min_size(plan->block, plan->panels - first) * plan->panel,
            .sums = layer.sums + panel * nr};
        taper_winograd_i8_pack(plan->entry, &pack);
    }
}

// Makes the plan, except the pack's request. Returns false if a size overflows.
static bool make_plan(const taper_conv2d_i8 *job, const taper_winograd_i8_entry *entry, winograd_plan *plan,
                      size_t *packed)
{
    const size_t nr = entry->nr;
    *plan = (winograd_plan){.head = {.job = job, .run = run_plan, .bytes = sizeof *plan},
                            .entry = entry,
                            .phases_h = taper_min_size(job->dilation_h, job->out_h),
                            .phases_w = taper_min_size(job->dilation_w, job->out_w),
                            .down = ((job->out_h - 1) / job->dilation_h + OUTPUTS) / OUTPUTS,
                            .along = ((job->out_w - 1) / job->dilation_w + OUTPUTS) / OUTPUTS,
                            .panels = (job->out_c - 1) / nr + 1,
                            .block = taper_max_size(BLOCK_COLUMNS / nr, 1)};
    plan->blocks = (plan->panels - 1) / plan->block + 1;
    size_t phases, tiles, tile;
    if (!taper_mul_size(plan->phases_h, plan->phases_w, &phases) || !taper_mul_size(phases, job->batch, &phases) ||
        !taper_mul_size(plan->down, plan->along, &tiles) || !taper_mul_size(phases, tiles, &plan->tiles) ||
        !taper_mul_size(job->in_c, nr, &plan->panel) ||
        !taper_mul_size(plan->panels, POSITIONS * sizeof(int16_t), packed) ||
        !taper_mul_size(*packed, plan->panel, packed) || *packed > SIZE_MAX / 4 ||
        !taper_mul_size(POSITIONS * sizeof(int32_t), job->in_c + plan->block * nr, &tile)) {
        return false;
    }
    // The inputs and products of a group may use half of the L2 cache. A group has at least two strips of tiles even if
    // it needs more, because each group reads the weights.
    const size_t most = taper_pool_caches(job->call->run->pool).l2 / 2 / tile;
    plan->most = taper_max_size(most / entry->mr, 2) * entry->mr;
    size_t all;
    return taper_mul_size(taper_min_size(plan->most, plan->tiles), tile, &all) && all < SIZE_MAX / 4;
}

// ---- the choice between the transforms and direct products

// Returns the sum of the magnitudes of `count` weights, by a loop that compilers vectorize.
static uint64_t magnitudes_of(const int8_t *w, size_t count)
{
    enum { BLOCK = 4096 };
    uint64_t all = 0;
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t n = taper_min_size(count - first, BLOCK);
        uint32_t sum = 0;
        for (size_t i = 0; i < n; i++) {
            const int x = w[first + i];
            sum += (uint32_t)(x < 0 ? -x : x);
        }
        all += sum;
    }
    return all;
}

// Returns true if the transforms sum exactly for all output channels. If the number of inputs does not ensure this, the
// weights of each channel must be dense, and their magnitudes small enough.
static bool all_hold(const taper_conv2d_i8 *job)
{
    if (taper_winograd_i8_holds((uint64_t)job->in_c * 9 * 128)) {
        return true;
    }
    const taper_tensor *w = job->params.weight;
    const size_t k_stride = (size_t)w->strides[1], tap = (size_t)w->strides[3], count = 9 * job->in_c;
    bool hold = (k_stride == 1 && tap == job->in_c) || (tap == 1 && k_stride == 9);
    for (size_t n = 0; hold && n < job->out_c; n++) {
        const int8_t *of_channel = (const int8_t *)taper_tensor_data(w) + n * (size_t)w->strides[0];
        hold = taper_winograd_i8_holds(magnitudes_of(of_channel, count));
    }
    return hold;
}

// Returns true if Winograd's transforms are faster than direct products. Costs are counted in products of a vector of
// bytes. Transformed weights (36 positions of 16 bits) have eight times the bytes of direct weights (9 taps of 8 bits).
// If they do not fit in a cache, all threads wait for the same memory, although a part of this time overlaps with
// products.
static bool pays(const winograd_plan *plan, size_t packed)
{
    enum { LEAST_STREAMED = 12 }; // smallest number of tiles that are worth reading the transformed weights from memory
    const double into = 180, out_of = 250, bytes_meanwhile = 12;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_winograd_i8_entry *entry = plan->entry;
    const taper_pool *pool = job->call->run->pool;
    const double pixels = (double)(job->batch * job->out_h * job->out_w), tiles = (double)plan->tiles;
    const double inputs = (double)job->in_c / entry->inputs, columns = (double)job->out_c / entry->lanes;
    const double product = (double)job->in_c / 4 * columns, groups = ceil(tiles / (double)plan->most);
    const double direct = 9 * pixels * product;
    const double transformed = tiles * (POSITIONS * product * entry->cost / 16 + into * inputs + out_of * columns);
    const bool stays = packed <= taper_pool_caches(pool).l2;
    const double waiting = stays ? 0 : (double)packed * groups * taper_pool_threads(pool) / bytes_meanwhile;
    return transformed + waiting < direct && (stays || plan->tiles >= LEAST_STREAMED);
}

const taper_winograd_i8_entry *taper_conv2d_i8_winograd_choose(const taper_conv2d_i8 *job)
{
    const taper_run *run = job->call->run;
    const taper_winograd_i8_entry *entry = taper_winograd_i8_select(run->cpu);
    winograd_plan plan;
    size_t packed;
    taper_pack_request request;
    if (entry == NULL || run->low_memory || job->stem || job->kernel_h != 3 || job->kernel_w != 3 ||
        job->stride_h != 1 || job->stride_w != 1 || job->groups != 1 || job->in_c % 2 != 0 ||
        job->in_c < entry->inputs || job->out_c < entry->lanes || !make_plan(job, entry, &plan, &packed) ||
        !pays(&plan, packed)) {
        return NULL;
    }
    // Weights that are not kept would be transformed in every run.
    taper_i8_pack_key(entry, job->params.weight, job->params.bias, &request);
    return taper_packs_keep(job->call, &request) && all_hold(job) ? entry : NULL;
}

taper_status taper_conv2d_i8_winograd(taper_conv2d_i8 *job, const taper_winograd_i8_entry *entry)
{
    winograd_plan plan;
    size_t packed, bytes;
    if (!make_plan(job, entry, &plan, &packed) ||
        (bytes = taper_i8_layer_bytes(plan.panels * entry->nr, packed)) == 0) {
        return taper_conv2d_i8_dense(job);
    }
    const double sums = (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c;
    plan.head.layer.places = plan.panels * entry->nr;
    plan.head.padding_bytes = job->in_c + TAPER_OVERREAD;
    plan.head.shift = (uint32_t)job->in_zero_point;
    plan.head.centred = true;
    plan.head.name = entry->name;
    plan.head.flops = 18 * sums * (double)job->in_c;
    plan.head.work = taper_gemm_i8_work(taper_gemm_i8_select(job->call->run->cpu), plan.head.flops / 2);
    taper_pack_request request;
    taper_i8_pack_key(entry, job->params.weight, job->params.bias, &request);
    request.layout = "quantized Winograd";
    request.kernel = entry->name;
    request.numbers[1] = (int64_t)plan.block;
    request.bytes = bytes;
    request.fill = fill_channels;
    request.fill_parts = fill_panels;
    request.parts = plan.panels;
    request.user = &plan;
    return taper_conv2d_i8_do(&plan.head, &request);
}
