// SPDX-License-Identifier: BSD-2-Clause
// 3x3 convolution with stride 1 or 2 by Winograd's transforms (ops/kernels/winograd_f32.h). A dilation of d makes d x d
// convolutions of every d-th row and column. The transforms spread an infinity or NaN over the tile, so if an infinity
// or NaN results, everything is computed again without transforms.
//
// Tiles are divided into groups. An item of work is one group of tiles and one block of columns (output channels). The
// item's thread transforms the group's inputs, multiplies them at all positions of the transform and transforms the
// products back, in scratch memory of its own: reading what another core wrote is slower than computing it again. The
// thread keeps the transformed inputs for the other blocks of the group. If there are enough tiles, each thread has
// groups of its own. If the weights come from memory, threads share groups and have blocks of columns, so that the
// weights are read once.
//
// If there are many groups of tiles, each of them would read the weights from memory. In this case groups are as long
// as the limit on their transformed inputs permits, and a single block contains all columns. So both the transformed
// inputs and the weights are read once, position by position.
//
// Smaller tiles at the edges lack some positions of the transform. Tiles are numbered so that the tiles that have a
// given position are consecutive. Over all images and phases of the dilation, the order is: the lower edge except the
// last column, whole tiles, the right edge, corners.
#include <math.h>
#include <stdint.h>

#include "backends/cpu/conv_winograd.h"
#include "base/atomic.h"
#include "ops/engine/tiles.h"

enum {
    MOST_NR = 64,
    DEPTH = 16, // number of inputs whose weights are transformed together
    BLOCK_COLUMNS = 64,
    MOST_STRIPS = 3,
    LINE_FLOATS = 16,
    WEIGHTS_STAY = 4,
    STREAMED = 4,
    STREAMED_BYTES = 16 << 20, // largest total size of the threads' transformed inputs, in bytes
    STREAMED_TILES = 96,       // largest number of tiles in a group if `streams` is set
    LEAST_TILES = 4,
    FEW_ROWS = 2 // largest number of rows for which the gemm kernels sum in another order than for more rows
};

typedef struct winograd_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    const taper_winograd_entry *winograd;
    size_t positions, sets;
    taper_winograd_axis down, along; // tiles of one phase of the dilation, along each axis
    size_t phases_h, phases_w;
    size_t tiles; // number of tiles of all images
    // Numbers of the first whole tile, of the first tile at the right edge and of the first tile at a corner; tiles
    // before `whole` are at the lower edge.
    size_t whole, right, corners;
    size_t strip;                       // largest number of tiles in a strip
    size_t most;                        // largest number of tiles in a group
    bool streams;                       // true if the weights are read from memory and not from a cache
    size_t panels, panel_floats, block; // number of panels; number of floats of a panel; number of panels of a block
    size_t blocks;                      // number of blocks of all panels
    // Number of panels whose weights are stored together, position by position: the panels of a block, or all panels.
    size_t packed_block;
    size_t near; // number of panels whose weights stay in the L2 cache while strips are multiplied
    double work; // nanoseconds of all items, including transforms
} winograd_plan;

typedef struct winograd_run {
    const winograd_plan *plan;
    size_t groups; // number of groups of tiles, of nearly equal sizes
    size_t block;  // number of panels of an item
    size_t blocks; // number of items of a group
    // First group of this round, and number of items in this round; the groups are computed in rounds, one after the
    // other.
    size_t first, items;
    size_t v_stride; // number of floats from one position of the transformed inputs to the next
    taper_places places;
    atomic_uint spread; // set to 1 if an infinity or NaN resulted
} winograd_run;

// The scratch memory of a thread. The transformed inputs of the largest group and a block of products follow this
// struct.
typedef struct winograd_place {
    size_t group; // 1 + the number of the group whose inputs are stored, or 0 if no inputs are stored
    char apart[64 - sizeof(size_t)];
    float floats[];
} winograd_place;

// The position of a tile's first output.
typedef struct place {
    size_t image, y, x;
    size_t rows, columns;               // number of rows and number of columns of the tile's outputs that exist
    size_t outputs_down, outputs_along; // numbers of rows and of columns of the outputs of a whole tile
} place;

static size_t left_of(size_t first, size_t end, size_t step, size_t most)
{
    return first >= end ? 0 : taper_min_size((end - first - 1) / step + 1, most);
}

static place place_of(const winograd_plan *plan, size_t tile)
{
    const taper_conv2d *job = plan->head.job;
    const bool lower = tile < plan->whole || tile >= plan->corners, right = tile >= plan->right;
    const size_t first = tile < plan->whole     ? 0
                         : tile < plan->right   ? plan->whole
                         : tile < plan->corners ? plan->right
                                                : plan->corners;
    const size_t rows = lower ? 1 : plan->down.whole, columns = right ? 1 : plan->along.whole;
    const size_t column = right ? plan->along.whole : (tile - first) % columns;
    const size_t row = lower ? plan->down.whole : (tile - first) / columns % rows;
    const size_t phase = (tile - first) / (columns * rows);
    const size_t phase_x = phase % plan->phases_w, phase_y = phase / plan->phases_w % plan->phases_h;
    const size_t outputs = plan->winograd->outputs;
    place p = {.image = phase / (plan->phases_w * plan->phases_h),
               .y = phase_y + row * outputs * job->dilation_h,
               .x = phase_x + column * outputs * job->dilation_w,
               .outputs_down = lower ? plan->down.edge : outputs,
               .outputs_along = right ? plan->along.edge : outputs};
    p.rows = left_of(p.y, job->out_h, job->dilation_h, p.outputs_down);
    p.columns = left_of(p.x, job->out_w, job->dilation_w, p.outputs_along);
    return p;
}

// Finds the tiles that have this position of the transform: the tiles from *begin to *end.
static void tiles_with(const winograd_plan *plan, size_t position, size_t *begin, size_t *end)
{
    const size_t side = taper_winograd_side(plan->winograd);
    const size_t down = plan->down.edge, along = plan->along.edge;
    const bool lower = down == 0 || taper_winograd_has(plan->winograd, down, position / side);
    const bool right = along == 0 || taper_winograd_has(plan->winograd, along, position % side);
    *begin = lower ? 0 : plan->whole;
    *end = !right ? plan->right : lower ? plan->tiles : plan->corners;
}

// ---- an item of work: a group of tiles and a block of columns

static size_t first_of(const winograd_run *r, size_t group)
{
    return (size_t)((uint64_t)r->plan->tiles * group / r->groups);
}

static void transform_inputs(const winograd_run *r, size_t begin, size_t end, float *v)
{
    const winograd_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t side = taper_winograd_side(plan->winograd);
    const float *x[TAPER_WINOGRAD_POSITIONS];
    for (size_t tile = begin; tile < end; tile++) {
        const place p = place_of(plan, tile);
        const float *image = job->x + p.image * job->in_h * job->in_w * job->in_c;
        for (size_t i = 0; i < side; i++) {
            const int64_t y = (int64_t)(p.y * job->stride_h + i * job->dilation_h) - job->pad_top;
            // Inputs that affect no existing output may have any value.
            const bool row = y >= 0 && y < (int64_t)job->in_h && i < (p.rows - 1) * job->stride_h + 3;
            for (size_t j = 0; j < side; j++) {
                const int64_t at = (int64_t)(p.x * job->stride_w + j * job->dilation_w) - job->pad_left;
                const bool inside =
                    row && at >= 0 && at < (int64_t)job->in_w && j < (p.columns - 1) * job->stride_w + 3;
                x[i * side + j] = inside ? image + ((size_t)y * job->in_w + (size_t)at) * job->in_c : job->zero;
            }
        }
        plan->winograd->input(p.outputs_down, p.outputs_along, job->in_c, x, v + (tile - begin) * job->in_c,
                              r->v_stride);
    }
}

static void finish_tile(winograd_run *r, size_t tile, const float *m, size_t m_stride, size_t column, size_t columns)
{
    const winograd_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const place p = place_of(plan, tile);
    if (p.rows == 0 || p.columns == 0) {
        return;
    }
    const size_t at = ((p.image * job->out_h + p.y) * job->out_w + p.x) * job->out_c + column;
    const taper_winograd_output o = {.bias =
                                         plan->head.packed + plan->sets * plan->panels * plan->panel_floats + column,
                                     .y = job->y + at,
                                     .add = job->epilogue.add != NULL ? job->epilogue.add + at : NULL,
                                     .row = job->dilation_h * job->out_w * job->out_c,
                                     .pixel = job->dilation_w * job->out_c,
                                     .rows = p.rows,
                                     .columns = p.columns,
                                     .min = job->epilogue.min,
                                     .max = job->epilogue.max};
    if (plan->winograd->output(p.outputs_down, p.outputs_along, columns, m, m_stride, &o)) {
        atomic_store_explicit(&r->spread, 1u, memory_order_relaxed);
    }
    for (size_t i = 0; i < p.rows; i++) {
        taper_epilogue_finish(&job->epilogue, p.columns, columns, o.y + i * o.row, o.pixel);
    }
}

// Multiplies the last one or two tiles of a group. The ends of groups depend on the number of threads, but the results
// must not. Kernels sum one or two rows in an order that they do not use for three or more rows. Each of these last
// tiles is therefore multiplied as a product of three equal rows.
static void multiply_few(const winograd_run *r, size_t begin, size_t end, size_t panels, size_t columns, const float *w,
                         const float *v, float *m)
{
    static const taper_gemm_epilogue plain = {.min = -INFINITY, .max = INFINITY};
    const winograd_plan *plan = r->plan;
    const size_t nr = plan->entry->nr, in_c = plan->head.job->in_c;
    for (size_t tile = begin; tile < end; tile++, v += in_c, m += columns) {
        for (size_t p = 0; p < panels; p += plan->near) {
            plan->entry->gemm(FEW_ROWS + 1, taper_min_size(plan->near * nr, columns - p * nr), in_c, v, 0,
                              w + p * plan->panel_floats, m + p * nr, 0, &plain);
        }
    }
}

// Multiplies tiles from `begin` to `end` by the columns of the panels from `panel` on.
static void multiply(winograd_run *r, size_t begin, size_t end, size_t panel, const float *v, float *m)
{
    static const taper_gemm_epilogue plain = {.min = -INFINITY, .max = INFINITY};
    const winograd_plan *plan = r->plan;
    const size_t nr = plan->entry->nr, in_c = plan->head.job->in_c;
    const size_t panels = taper_min_size(r->block, plan->panels - panel);
    const size_t column = panel * nr, columns = taper_min_size(panels * nr, plan->head.job->out_c - column);
    const size_t m_stride = (end - begin) * columns + LINE_FLOATS;
    const size_t first = panel - panel % plan->packed_block;
    const size_t step = taper_min_size(plan->packed_block, plan->panels - first) * plan->panel_floats;
    const float *weights = plan->head.packed + (first * plan->sets + panel - first) * plan->panel_floats;
    for (size_t position = 0; position < plan->positions; position++) {
        const float *w = weights + taper_winograd_set(plan->winograd, position) * step;
        size_t from, to;
        tiles_with(plan, position, &from, &to);
        const size_t all = to - from;
        from = taper_max_size(from, begin);
        to = taper_min_size(to, end);
        if (from < to && to - from <= FEW_ROWS && all > FEW_ROWS) {
            multiply_few(r, from, to, panels, columns, w, v + position * r->v_stride + (from - begin) * in_c,
                         m + position * m_stride + (from - begin) * columns);
            continue;
        }
        for (size_t p = 0; p < panels && from < to; p += plan->near) {
            plan->entry->gemm(to - from, taper_min_size(plan->near * nr, columns - p * nr), in_c,
                              v + position * r->v_stride + (from - begin) * in_c, in_c, w + p * plan->panel_floats,
                              m + position * m_stride + (from - begin) * columns + p * nr, columns, &plain);
        }
    }
    for (size_t tile = begin; tile < end; tile++) {
        finish_tile(r, tile, m + (tile - begin) * columns, m_stride, column, columns);
    }
}

// Computes items [begin, end), numbered group * blocks + block of columns.
static void run_items(void *argument, size_t begin, size_t end)
{
    winograd_run *r = argument;
    const winograd_plan *plan = r->plan;
    winograd_place *own = taper_place_take(&r->places, begin, r->items);
    for (size_t item = begin; item < end; item++) {
        const size_t group = r->first + item / r->blocks, tile = first_of(r, group), last = first_of(r, group + 1);
        if (own->group != group + 1) {
            transform_inputs(r, tile, last, own->floats);
            own->group = group + 1;
        }
        multiply(r, tile, last, item % r->blocks * r->block, own->floats, own->floats + plan->positions * r->v_stride);
    }
    taper_place_leave(own);
}

// ---- packing of weights, and the plan

// Fills the weights of every position as panels: block by block, position by position. The bias follows.
static void fill_panels(const taper_pack_request *request, void *data, size_t begin, size_t end)
{
    const taper_conv2d *job = request->user;
    const taper_winograd_entry *winograd = request->kind;
    const size_t nr = (size_t)request->numbers[3], block = (size_t)request->numbers[4];
    const taper_tensor *w = job->args.weight;
    const size_t n_stride = (size_t)w->strides[0], k_stride = (size_t)w->strides[1];
    taper_gemm_pack pack = {.ks = 9,
                            .n_stride = n_stride,
                            .k_stride = k_stride,
                            .tap_stride = (size_t)w->strides[3],
                            .transpose = taper_vector_f32_select(job->call->run->cpu)->transpose};
    const size_t panels = (job->out_c + nr - 1) / nr, panel_floats = (job->in_c + 1) * nr;
    const size_t sets = taper_winograd_sets(winograd) * taper_winograd_sets(winograd);
    float *packed = data, g[(1 + 9 * DEPTH) * MOST_NR]; // packed: a panel of direct weights; g: weights of some inputs
    for (size_t panel = begin; panel < end; panel++) {
        const size_t first = panel / block * block, stride = taper_min_size(block, panels - first) * panel_floats;
        float *u = packed + first * sets * panel_floats + (panel - first) * panel_floats;
        for (size_t set = 0; set < sets; set++) {
            memset(u + set * stride, 0, nr * sizeof *u);
        }
        pack.n = taper_min_size(nr, job->out_c - panel * nr);
        pack.scale = job->scale != NULL ? job->scale + panel * nr : NULL;
        for (size_t k = 0; k < job->in_c; k += pack.kc) {
            pack.kc = taper_min_size(DEPTH, job->in_c - k);
            pack.weights = (const float *)taper_tensor_data(w) + panel * nr * n_stride + k * k_stride;
            taper_gemm_f32_pack(nr, &pack, 0, 1, g);
            for (size_t i = 0; i < pack.kc; i++) {
                winograd->weights(nr, g + (1 + i) * nr, pack.kc * nr, u + (1 + k + i) * nr, stride);
            }
        }
    }
}

static void fill_bias(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    taper_conv2d_fold(job);
    const float *shift = taper_conv2d_bias(job);
    float *bias = (float *)data + request->bytes / sizeof(float) - job->out_c;
    for (size_t n = 0; n < job->out_c; n++) {
        bias[n] = shift != NULL ? shift[n] : 0.0f;
    }
}

static taper_status compute_directly(const taper_conv2d *job)
{
    taper_run *run = job->call->run;
    taper_conv2d direct = *job;
    const size_t bytes = 2 * job->out_c * sizeof(float) + 1024;
    direct.keeps = false;
    if (job->scale == NULL) {
        return taper_conv2d_dense(&direct);
    }
    direct.scale = taper_heap_alloc(run->heap, bytes); // the folded scales of the job may be freed already
    if (direct.scale == NULL) {
        return taper_fail_memory(run->error);
    }
    direct.shift = direct.scale + job->out_c;
    const taper_status status = taper_conv2d_dense(&direct);
    taper_heap_free(run->heap, direct.scale, bytes);
    return status;
}

// Returns true if each thread has groups of its own. There are three such cases: too few blocks for all threads; more
// tiles for each thread than a strip has; weights that are each used so often that the next weights arrive from memory
// in time.
static bool gives_each_groups(const winograd_plan *plan, size_t threads)
{
    const size_t tiles = plan->tiles / threads;
    return plan->blocks < threads ? tiles >= LEAST_TILES
           : plan->streams        ? tiles * plan->positions / plan->sets >= plan->strip
                                  : tiles >= plan->strip + plan->strip / 2;
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const winograd_plan *plan = (const winograd_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    winograd_run r = {
        .plan = plan, .groups = (plan->tiles - 1) / plan->most + 1, .block = plan->block, .blocks = plan->blocks};
    const size_t threads = taper_pool_threads(run->pool);
    const bool by_rows = gives_each_groups(plan, threads);
    if (by_rows) {
        r.block = plan->packed_block;
        r.blocks = (plan->panels - 1) / r.block + 1;
        r.groups = ((r.groups - 1) / threads + 1) * threads;
    }
    const size_t step = by_rows || threads == 1 ? r.groups : 1; // number of groups that are computed at the same time
    const size_t tiles = (plan->tiles - 1) / r.groups + 1;
    r.items = step * r.blocks;
    r.v_stride = tiles * head->job->in_c + LINE_FLOATS;
    const size_t m_stride = tiles * r.block * plan->entry->nr + LINE_FLOATS;
    const size_t bytes = sizeof(winograd_place) + plan->positions * (r.v_stride + m_stride) * sizeof(float);
    atomic_init(&r.spread, 0u);
    if (!taper_places_open(run, bytes, r.items, &r.places)) {
        return taper_fail_memory(run->error);
    }
    taper_status status = TAPER_OK;
    for (; r.first < r.groups && status == TAPER_OK; r.first += step) {
        status = taper_run_range(run, run_items, &r, r.items, 1, plan->work * (double)step / (double)r.groups);
    }
    taper_places_close(run, &r.places);
    if (status == TAPER_OK && atomic_load_explicit(&r.spread, memory_order_relaxed) != 0) {
        return compute_directly(head->job);
    }
    return status;
}

// Numbers the first tile of each kind. Returns false if the number of tiles overflows.
static bool number_tiles(winograd_plan *plan)
{
    const taper_winograd_axis *down = &plan->down, *along = &plan->along;
    const size_t lower = down->edge != 0, right = along->edge != 0;
    size_t phases, tiles;
    if (!taper_mul_size(plan->phases_h, plan->phases_w, &phases) ||
        !taper_mul_size(phases, plan->head.job->batch, &phases) ||
        !taper_mul_size(down->whole + lower, along->whole + right, &tiles) ||
        !taper_mul_size(phases, tiles, &plan->tiles)) {
        return false;
    }
    plan->whole = phases * lower * along->whole;
    plan->right = plan->whole + phases * down->whole * along->whole;
    plan->corners = plan->right + phases * down->whole * right;
    return true;
}

// Sets plan->most, the largest number of tiles in a group: a whole number of strips, at least one. The transformed
// inputs and the products of the group have at most `floats` floats, unless one strip has more. *tile_floats receives
// the number of floats for each tile. Returns false if that number overflows.
static bool group_of(winograd_plan *plan, const taper_conv2d *job, size_t floats, size_t *tile_floats)
{
    if (!taper_mul_size(plan->positions, job->in_c + plan->packed_block * plan->entry->nr, tile_floats)) {
        return false;
    }
    plan->most = taper_max_size(floats / *tile_floats / plan->strip, 1) * plan->strip;
    return true;
}

taper_status taper_conv2d_winograd(taper_conv2d *job, const taper_winograd_entry *winograd)
{
    const taper_run *run = job->call->run;
    winograd_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                          .entry = taper_gemm_f32_select(run->cpu),
                          .winograd = winograd,
                          .phases_h = taper_min_size(job->dilation_h, job->out_h),
                          .phases_w = taper_min_size(job->dilation_w, job->out_w)};
    const size_t side = taper_winograd_side(winograd), sets = taper_winograd_sets(winograd), nr = plan.entry->nr;
    const int64_t tap = job->args.weight->strides[3];
    plan.positions = side * side;
    plan.sets = sets * sets;
    plan.down = taper_winograd_axis_of(job, winograd, job->out_h, job->dilation_h);
    plan.along = taper_winograd_axis_of(job, winograd, job->out_w, job->dilation_w);
    plan.panels = (job->out_c + nr - 1) / nr;
    plan.panel_floats = (job->in_c + 1) * nr;
    plan.block = plan.packed_block = taper_max_size(BLOCK_COLUMNS / nr, 1);
    plan.strip = plan.entry->mr - (plan.entry->mr > 1 ? plan.entry->mr % TAPER_STRIP_UNIT : 0);
    plan.blocks = (plan.panels - 1) / plan.block + 1;
    size_t packed, tile_floats, most;
    if (nr > MOST_NR || job->out_c % plan.winograd->lanes != 0 || job->in_c < plan.winograd->lanes || tap < 1 ||
        !number_tiles(&plan) || !taper_mul_size(plan.sets * plan.panels, plan.panel_floats, &packed) ||
        packed > SIZE_MAX / sizeof(float) - job->out_c) {
        return taper_conv2d_dense(job);
    }
    // If the weights stay in a cache, inputs and products may use most of the L2 cache. Otherwise long strips are
    // better than groups that fit in the L2 cache.
    const size_t cache = taper_pool_caches(run->pool).l2 / sizeof(float), threads = taper_pool_threads(run->pool);
    plan.near = taper_max_size(cache / 4 * 3 / plan.panel_floats, 1);
    plan.streams = packed > WEIGHTS_STAY * cache;
    if (!group_of(&plan, job, plan.streams ? STREAMED * cache : cache / 4 * 3, &tile_floats)) {
        return taper_conv2d_dense(job);
    }
    if (!plan.streams) {
        plan.most = taper_min_size(plan.most, MOST_STRIPS * plan.strip);
    } else if (plan.tiles / 2 > plan.most) { // the weights would be read from memory several times
        plan.packed_block = plan.panels;
        if (!group_of(&plan, job, taper_max_size(STREAMED * cache, STREAMED_BYTES / sizeof(float) / threads),
                      &tile_floats)) {
            return taper_conv2d_dense(job);
        }
        plan.most = taper_min_size(plan.most, STREAMED_TILES);
    }
    if (!taper_mul_size(taper_min_size(plan.most, plan.tiles), tile_floats, &most) ||
        most > SIZE_MAX / sizeof(float) / 2) {
        return taper_conv2d_dense(job);
    }
    plan.head.name = plan.winograd->name;
    plan.head.flops = 18.0 * (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c * (double)job->in_c;
    plan.head.work = taper_gemm_work(
        plan.entry, 2.0 * taper_winograd_count(job, winograd).rows * (double)job->out_c * (double)job->in_c,
        (double)packed);
    plan.work = plan.head.work + taper_floats_work((double)plan.tiles * (double)job->in_c * (double)plan.positions);
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.winograd, &request);
    request.layout = "Winograd";
    request.kernel = plan.winograd->name;
    request.numbers[3] = (int64_t)nr;
    request.numbers[4] = (int64_t)plan.packed_block;
    request.bytes = (packed + job->out_c) * sizeof(float);
    request.fill = fill_bias;
    request.fill_parts = fill_panels;
    request.parts = plan.panels;
    return taper_conv2d_do(&plan.head, &request);
}
