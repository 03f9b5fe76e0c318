// SPDX-License-Identifier: BSD-2-Clause
// 3x3 convolution with stride 1 or 2 by Winograd's transforms (ops/kernels/winograd_f32.h). A dilation of d makes d x d
// convolutions of every d-th row and column. Tiles are taken in chunks: first all inputs of a chunk are transformed,
// then blocks of columns of the products are made for some strips of tiles at all positions and transformed back, while
// they are in the cache. The transforms spread an infinity or NaN over the tile: where one comes out, all is computed
// again, directly.
//
// Tiles are numbered so that those which have a position are neighbours: of all images and phases of the dilation first
// those at the lower edge but the last column, then whole ones, those at the right edge, and corners.
#include <math.h>
#include <stdint.h>

#include "backends/cpu/conv_winograd.h"
#include "base/atomic.h"
#include "ops/engine/tiles.h"

enum { MOST_NR = 64, BLOCK_COLUMNS = 64, MOST_STRIPS = 3, LINE_FLOATS = 16 };

typedef struct winograd_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    const taper_winograd_entry *winograd;
    size_t positions, sets;
    taper_winograd_axis down, along; // tiles of a phase
    size_t phases_h, phases_w;
    size_t tiles;                       // of all images
    size_t whole, right, corners;       // the first tile of each kind; at the lower edge those before
    size_t chunk, strip;                // tiles of a chunk, of which there are at most so many in a strip
    size_t panels, panel_floats, block; // block: panels of one
    size_t v_stride, v_bytes;           // between positions
    double input_work, product_work;    // of a chunk
} winograd_plan;

// Of a chunk.
typedef struct winograd_run {
    const winograd_plan *plan;
    size_t first, count; // tiles
    size_t groups;       // of strips
    float *v;
    taper_places places;
    atomic_uint spread; // an infinity or NaN came out
} winograd_run;

// Where a tile's first output is.
typedef struct place {
    size_t image, y, x;
    size_t rows, columns;               // of outputs that exist
    size_t outputs_down, outputs_along; // of the tile
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

// Which tiles have a position: those from *begin to *end.
static void tiles_with(const winograd_plan *plan, size_t position, size_t *begin, size_t *end)
{
    const size_t side = taper_winograd_side(plan->winograd);
    const size_t down = plan->down.edge, along = plan->along.edge;
    const bool lower = down == 0 || taper_winograd_has(plan->winograd, down, position / side);
    const bool right = along == 0 || taper_winograd_has(plan->winograd, along, position % side);
    *begin = lower ? 0 : plan->whole;
    *end = !right ? plan->right : lower ? plan->tiles : plan->corners;
}

// ---- the two steps of a chunk

static void transform_inputs(void *argument, size_t begin, size_t end)
{
    const winograd_run *r = argument;
    const winograd_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t side = taper_winograd_side(plan->winograd);
    const float *x[TAPER_WINOGRAD_POSITIONS];
    for (size_t tile = begin; tile < end; tile++) {
        const place p = place_of(plan, r->first + tile);
        const float *image = job->x + p.image * job->in_h * job->in_w * job->in_c;
        for (size_t i = 0; i < side; i++) {
            const int64_t y = (int64_t)(p.y * job->stride_h + i * job->dilation_h) - job->pad_top;
            // Inputs that no output that exists looks at may be anything.
            const bool row = y >= 0 && y < (int64_t)job->in_h && i < (p.rows - 1) * job->stride_h + 3;
            for (size_t j = 0; j < side; j++) {
                const int64_t at = (int64_t)(p.x * job->stride_w + j * job->dilation_w) - job->pad_left;
                const bool inside =
                    row && at >= 0 && at < (int64_t)job->in_w && j < (p.columns - 1) * job->stride_w + 3;
                x[i * side + j] = inside ? image + ((size_t)y * job->in_w + (size_t)at) * job->in_c : job->zero;
            }
        }
        plan->winograd->input(p.outputs_down, p.outputs_along, job->in_c, x, r->v + tile * job->in_c, plan->v_stride);
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

static void multiply(void *argument, size_t begin, size_t end) // number: block of columns * groups + group of strips
{
    static const taper_gemm_epilogue plain = {.min = -INFINITY, .max = INFINITY};
    winograd_run *r = argument;
    const winograd_plan *plan = r->plan;
    const size_t nr = plan->entry->nr, in_c = plan->head.job->in_c;
    float *m = taper_place_take(&r->places);
    for (size_t item = begin; item < end; item++) {
        const size_t panel = item / r->groups * plan->block, group = item % r->groups;
        const size_t panels = taper_min_size(plan->block, plan->panels - panel);
        const size_t column = panel * nr, columns = taper_min_size(panels * nr, plan->head.job->out_c - column);
        // Groups are as even as can be.
        const size_t first = r->count * group / r->groups, count = r->count * (group + 1) / r->groups - first;
        const size_t m_stride = count * columns + LINE_FLOATS;
        const float *weights = plan->head.packed + panel * plan->sets * plan->panel_floats;
        for (size_t position = 0; position < plan->positions; position++) {
            const float *w = weights + taper_winograd_set(plan->winograd, position) * panels * plan->panel_floats;
            size_t from, to;
            tiles_with(plan, position, &from, &to);
            from = taper_max_size(from, r->first + first);
            to = taper_min_size(to, r->first + first + count);
            if (from < to) {
                plan->entry->gemm(to - from, columns, in_c, r->v + position * plan->v_stride + (from - r->first) * in_c,
                                  in_c, w, m + position * m_stride + (from - r->first - first) * columns, columns,
                                  &plain);
            }
        }
        for (size_t tile = 0; tile < count; tile++) {
            finish_tile(r, r->first + first + tile, m + tile * columns, m_stride, column, columns);
        }
    }
    taper_place_leave(m);
}

// ---- preparation

// The weights of every position, as panels: block of panels by block, position by position; then the bias.
static void fill_panels(const taper_pack_request *request, void *data, size_t begin, size_t end)
{
    const taper_conv2d *job = request->user;
    const taper_winograd_entry *winograd = request->kind;
    const size_t nr = (size_t)request->numbers[3], block = (size_t)request->numbers[4];
    const taper_tensor *t = job->args.weight;
    const float *weights = taper_tensor_data(t);
    const size_t panels = (job->out_c + nr - 1) / nr, panel_floats = (job->in_c + 1) * nr;
    const size_t sets = taper_winograd_sets(winograd) * taper_winograd_sets(winograd);
    float *packed = data, g[9 * MOST_NR];
    for (size_t panel = begin; panel < end; panel++) {
        const size_t first = panel / block * block, stride = taper_min_size(block, panels - first) * panel_floats;
        float *u = packed + first * sets * panel_floats + (panel - first) * panel_floats;
        for (size_t set = 0; set < sets; set++) {
            memset(u + set * stride, 0, nr * sizeof *u);
        }
        const size_t columns = taper_min_size(nr, job->out_c - panel * nr);
        memset(g, 0, sizeof g);
        for (size_t k = 0; k < job->in_c; k++) {
            for (size_t i = 0; i < columns; i++) {
                const size_t n = panel * nr + i;
                const float *from = weights + n * (size_t)t->strides[0] + k * (size_t)t->strides[1];
                const float scale = job->scale != NULL ? job->scale[n] : 1.0f;
                for (size_t tap = 0; tap < 9; tap++) {
                    g[tap * MOST_NR + i] = from[tap * (size_t)t->strides[3]] * scale;
                }
            }
            winograd->weights(nr, g, MOST_NR, u + (1 + k) * nr, stride);
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
    direct.scale = taper_heap_alloc(run->heap, bytes); // those of the job may be gone
    if (direct.scale == NULL) {
        return taper_fail_memory(run->error);
    }
    direct.shift = direct.scale + job->out_c;
    const taper_status status = taper_conv2d_dense(&direct);
    taper_heap_free(run->heap, direct.scale, bytes);
    return status;
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const winograd_plan *plan = (const winograd_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    const size_t most = taper_min_size(plan->chunk, plan->tiles), blocks = (plan->panels - 1) / plan->block + 1;
    const size_t columns = plan->block * plan->entry->nr, strips = MOST_STRIPS * plan->strip;
    const size_t m_bytes = plan->positions * (strips * columns + LINE_FLOATS) * sizeof(float);
    winograd_run r = {.plan = plan, .v = taper_heap_alloc(run->heap, plan->v_bytes)};
    atomic_init(&r.spread, 0u);
    if (r.v == NULL || !taper_places_open(run, m_bytes, (most / strips + 1) * blocks, &r.places)) {
        taper_heap_free(run->heap, r.v, plan->v_bytes);
        return taper_fail_memory(run->error);
    }
    taper_status status = TAPER_OK;
    for (r.first = 0; r.first < plan->tiles && status == TAPER_OK; r.first += plan->chunk) {
        r.count = taper_min_size(plan->chunk, plan->tiles - r.first);
        r.groups = (r.count - 1) / strips + 1;
        const double share = (double)r.count / (double)plan->tiles;
        status = taper_run_range(run, transform_inputs, &r, r.count, 1, plan->input_work * share);
        if (status == TAPER_OK) {
            status = taper_run_range(run, multiply, &r, r.groups * blocks, 1, plan->product_work * share);
        }
    }
    taper_places_close(run, &r.places);
    taper_heap_free(run->heap, r.v, plan->v_bytes);
    if (status == TAPER_OK && atomic_load_explicit(&r.spread, memory_order_relaxed) != 0) {
        return compute_directly(head->job);
    }
    return status;
}

// The numbers of the first tiles of each kind. False: there are more tiles than a size_t counts.
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
    plan.block = taper_max_size(BLOCK_COLUMNS / nr, 1);
    plan.strip = plan.entry->mr - (TAPER_SMALL && plan.entry->mr > 1 ? plan.entry->mr % 2 : 0);
    size_t floats, packed;
    // One tile at least: what a position of a chunk takes, in all positions.
    const size_t tile_bytes = plan.positions * job->in_c * sizeof(float), strips = MOST_STRIPS * plan.strip;
    const size_t budget = 2 * taper_pool_caches(run->pool).l2;
    plan.chunk = taper_max_size(budget / tile_bytes / strips, 1) * strips;
    if (nr > MOST_NR || job->out_c % plan.winograd->lanes != 0 || job->in_c < plan.winograd->lanes || tap < 1 ||
        !number_tiles(&plan) || !taper_mul_size(plan.sets * plan.panels, plan.panel_floats, &packed) ||
        packed > SIZE_MAX / sizeof(float) - job->out_c ||
        !taper_mul_size(taper_min_size(plan.chunk, plan.tiles), job->in_c, &floats) ||
        floats > SIZE_MAX / sizeof(float) / plan.positions / 2) {
        return taper_conv2d_dense(job);
    }
    plan.v_stride = floats + LINE_FLOATS;
    plan.v_bytes = plan.positions * plan.v_stride * sizeof(float);
    plan.head.name = plan.winograd->name;
    plan.head.flops = 18.0 * (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c * (double)job->in_c;
    plan.product_work = taper_gemm_work(plan.entry, 2.0 * taper_winograd_count(job, winograd).rows *
                                                        (double)job->out_c * (double)job->in_c);
    plan.input_work = taper_floats_work((double)plan.tiles * (double)job->in_c * (double)plan.positions);
    plan.head.work = plan.product_work;
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.winograd, &request);
    request.layout = "Winograd";
    request.kernel = plan.winograd->name;
    request.numbers[3] = (int64_t)nr;
    request.numbers[4] = (int64_t)plan.block;
    request.bytes = (packed + job->out_c) * sizeof(float);
    request.fill = fill_bias;
    request.fill_parts = fill_panels;
    request.parts = plan.panels;
    return taper_conv2d_do(&plan.head, &request);
}
