// SPDX-License-Identifier: BSD-2-Clause
// Fully connected layers whose weights are integers of 8 or 4 bits with a scale for each group, and whose inputs are
// floats or halves. The weights are kept in the panels of narrow_f32.h. For one or a few rows, each weight is read
// once, at the speed of memory. For more rows, a block of a panel is converted to floats in the L1 cache, and the gemm
// kernels multiply with these floats.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/packs.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/tiles.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/linear_integers.h"

// FEW_ROWS: largest number of rows for which reading the weights once more from the cache costs less than converting
// them to floats. DEPTH: inputs of a block. MOST_NR: columns of the widest panel of any instruction set. HEADER: bytes
// before the first panel.
enum { FEW_ROWS = 3, DEPTH = 128, MOST_NR = 32, HEADER = 64 };

typedef struct integers_job {
    taper_linear_integers_args args;
    const taper_narrow_entry *entry;
    const taper_gemm_entry *gemm;
    taper_narrow_format format;
    const char *panels;
    size_t group_bytes, panel_bytes, groups, rows, in, out;
    const float *x, *bias; // input and bias as floats; bias may be NULL
    float *y;
    taper_tiles tiles;
} integers_job;

// ---- packed weights: a header that says if all weights fit into the requested number of bits, then the panels

static bool are_nibbles(const int8_t *weights, int64_t count)
{
    int outside = 0;
    for (int64_t i = 0; i < count; i++) {
        outside |= weights[i] < -8 || weights[i] > 7;
    }
    return !outside;
}

static void fill_header(const taper_pack_request *request, void *data)
{
    const integers_job *job = request->user;
    const int8_t *weights = taper_tensor_data(job->args.weight);
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(job->args.weight, 1, steps);
    bool fits = true;
    for (int64_t n = 0; n < job->args.out && fits && job->format.bits == 4; n++) {
        fits = steps[1] == 1 && are_nibbles(weights + n * steps[0], job->args.in);
    }
    memset(data, 0, HEADER);
    *(uint32_t *)data = fits;
}

// Packs eight weights of one output into a word, one nibble each. Each nibble is the weight plus 8.
static uint32_t word_of(const int8_t *weights, int64_t step)
{
    uint64_t eight = 0;
    for (size_t i = 0; i < 8; i++) {
        eight |= (uint64_t)(uint8_t)(weights[(int64_t)i * step] + 8) << 8 * i;
    }
    eight &= 0x0F0F0F0F0F0F0F0F;
    eight = (eight | eight >> 4) & 0x00FF00FF00FF00FF; // joins nibbles to pairs, then to fours, then to a word
    eight = (eight | eight >> 8) & 0x0000FFFF0000FFFF;
    return (uint32_t)(eight | eight >> 16);
}

// Fills in the weights of one group for the outputs [first, first + columns). The panel's other outputs get zeros. The
// inputs are handled in parts, whose result stays in the L1 cache.
static void fill_weights(const integers_job *job, size_t first, size_t columns, size_t group, void *to)
{
    enum { AT_ONCE = 256 };
    const size_t nr = job->entry->nr, length = job->format.group;
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(job->args.weight, 1, steps);
    const int8_t *from = (const int8_t *)taper_tensor_data(job->args.weight) + (int64_t)(group * length) * steps[1];
    memset(to, 0, nr * length * job->format.bits / 8);
    for (size_t begin = 0; begin < length; begin += AT_ONCE) {
        const size_t end = taper_min_size(begin + AT_ONCE, length);
        for (size_t c = 0; c < columns; c++) {
            const int8_t *column = from + (int64_t)(first + c) * steps[0];
            for (size_t k = begin; k < end && job->format.bits == 8; k++) {
                ((int8_t *)to)[k * nr + c] = column[(int64_t)k * steps[1]];
            }
            for (size_t k = begin; k < end && job->format.bits == 4; k += 8) {
                ((uint32_t *)to)[k / 8 * nr + c] = word_of(column + (int64_t)k * steps[1], steps[1]);
            }
        }
    }
}

// Fills in the scales or zero points of one group for the outputs [first, first + columns). The panel's other outputs
// get zeros. If `numbers` is NULL, fills in scales of 1.
static void fill_numbers(const integers_job *job, const taper_tensor *numbers, size_t first, size_t columns,
                         size_t group, char *to)
{
    static const struct {
        float f32;
        uint16_t bf16, fp16;
    } one = {1.0f, 0x3F80, 0x3C00};
    const taper_narrow_numbers kind = job->format.numbers;
    const size_t item = kind == TAPER_NARROW_F32 ? sizeof(float) : sizeof(uint16_t);
    const void *ones = kind == TAPER_NARROW_F32    ? (const void *)&one.f32
                       : kind == TAPER_NARROW_BF16 ? (const void *)&one.bf16
                                                   : &one.fp16;
    memset(to, 0, job->entry->nr * item);
    for (size_t c = 0; c < columns; c++) {
        const char *from = numbers != NULL
                               ? (const char *)taper_tensor_data(numbers) + ((first + c) * job->groups + group) * item
                               : ones;
        memcpy(to + c * item, from, item);
    }
}

static void fill_panels(const taper_pack_request *request, void *data, size_t begin, size_t end)
{
    const integers_job *job = request->user;
    const size_t nr = job->entry->nr, number_bytes = taper_narrow_number_bytes(&job->format, nr);
    for (size_t p = begin; p < end; p++) {
        const size_t first = p * nr, columns = taper_min_size(job->out - first, nr);
        for (size_t g = 0; g < job->groups; g++) {
            char *group = (char *)data + HEADER + p * job->panel_bytes + g * job->group_bytes;
            fill_numbers(job, job->args.scale, first, columns, g, group);
            if (job->format.points) {
                fill_numbers(job, job->args.point, first, columns, g, group + number_bytes / 2);
            }
            fill_weights(job, first, columns, g, group + number_bytes);
        }
    }
}

static taper_narrow_numbers kind_of(const taper_tensor *numbers)
{
    return numbers == NULL || numbers->dtype == TAPER_F32 ? TAPER_NARROW_F32
           : numbers->dtype == TAPER_BF16                 ? TAPER_NARROW_BF16
                                                          : TAPER_NARROW_FP16;
}

// Returns TAPER_DECLINED if the sizes are too large.
static taper_status get_pack(taper_call *call, integers_job *job, unsigned bits, taper_pack *pack)
{
    const size_t nr = job->entry->nr, panels = (job->out + nr - 1) / nr;
    size_t bytes;
    const taper_tensor *numbers = job->args.scale != NULL ? job->args.scale : job->args.point;
    job->format = (taper_narrow_format){bits, job->args.point != NULL, kind_of(numbers), (size_t)job->args.group};
    job->groups = job->in / job->format.group;
    job->group_bytes = taper_narrow_group_bytes(&job->format, nr);
    if (!taper_mul_size(job->groups, job->group_bytes, &job->panel_bytes) ||
        !taper_mul_size(panels, job->panel_bytes, &bytes) || bytes > SIZE_MAX - HEADER) {
        return TAPER_DECLINED;
    }
    const taper_pack_request request = {
        .kind = job->entry,
        .layout = "linear_integers",
        .kernel = job->entry->name,
        .tensors = {job->args.weight, job->args.scale, job->args.point},
        .numbers = {-1, (int64_t)bits},
        .bytes = bytes + HEADER,
        .fill = fill_header,
        .fill_parts = fill_panels,
        .parts = panels,
        .user = job,
    };
    TAPER_TRY(taper_pack_get(call, &request, pack));
    job->panels = (const char *)pack->data + HEADER;
    return TAPER_OK;
}

// Gets the weights packed in 4 bits if they fit, otherwise in 8 bits. Packing finds out if they fit.
static taper_status get_narrowest(taper_call *call, integers_job *job, taper_pack *pack)
{
    if (job->args.nibbles && job->args.group % 8 == 0) {
        TAPER_TRY(get_pack(call, job, 4, pack));
        if (*(const uint32_t *)pack->data != 0) {
            return TAPER_OK;
        }
        taper_pack_done(call, pack);
    }
    return get_pack(call, job, 8, pack);
}

// ---- products

static void run_panels(void *argument, size_t begin, size_t end)
{
    const integers_job *job = argument;
    const size_t nr = job->entry->nr;
    float y[MOST_NR];
    for (size_t p = begin; p < end; p++) {
        const size_t first = p * nr, columns = taper_min_size(job->out - first, nr);
        for (size_t r = 0; r < job->rows; r++) {
            job->entry->gemv_panel(&job->format, job->groups, job->x + r * job->in, job->panels + p * job->panel_bytes,
                                   y);
            for (size_t c = 0; c < columns; c++) {
                job->y[r * job->out + first + c] = y[c] + (job->bias != NULL ? job->bias[first + c] : 0.0f);
            }
        }
    }
}

// Converts a panel's weights for the inputs [k, k + depth) to floats.
static void widen_block(const integers_job *job, const char *panel, size_t k, size_t depth, float *to)
{
    const size_t nr = job->entry->nr, group = job->format.group;
    while (depth > 0) {
        const size_t first = k % group, count = taper_min_size(group - first, depth);
        job->entry->widen_panel(&job->format, panel + k / group * job->group_bytes, first, count, to);
        k += count;
        depth -= count;
        to += count * nr;
    }
}

static void run_panel_of_tile(const integers_job *job, const taper_tile *t, size_t p)
{
    const size_t nr = job->entry->nr, first = p * nr, columns = taper_min_size(job->out - first, nr);
    float block[(DEPTH + 1) * MOST_NR];
    for (size_t c = 0; c < nr; c++) { // only the first block includes the bias
        block[c] = job->bias != NULL && c < columns ? job->bias[first + c] : 0.0f;
    }
    float *y = job->y + t->first * job->out + first;
    taper_gemm_epilogue e = {.min = -INFINITY, .max = INFINITY};
    for (size_t k = 0, depth; k < job->in; k += depth) {
        depth = taper_min_size(job->in - k, DEPTH);
        widen_block(job, job->panels + p * job->panel_bytes, k, depth, block + nr);
        job->gemm->gemm(t->count, columns, depth, job->x + t->first * job->in + k, job->in, block, y, job->out, &e);
        memset(block, 0, nr * sizeof *block);
        e.add = y;
        e.add_stride = job->out;
    }
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const integers_job *job = argument;
    taper_tile t = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; taper_tile_next(&job->tiles, &t)) {
        i += taper_tile_join(&job->tiles, &t, end - i);
        for (size_t p = t.panel; p < t.panel_end; p++) {
            run_panel_of_tile(job, &t, p);
        }
    }
}

static taper_status multiply(taper_run *run, integers_job *job)
{
    const size_t panels = (job->out + job->entry->nr - 1) / job->entry->nr;
    const double products = (double)job->rows * (double)job->in * (double)job->out;
    run->flops = 2.0 * products;
    if (job->rows <= FEW_ROWS) {
        run->kernel = job->entry->name;
        return taper_run_range(run, run_panels, job, panels, 1, taper_floats_work(products) / 2);
    }
    const double work = taper_gemm_work(job->gemm, 2.0 * products, (double)job->in * (double)job->out);
    job->tiles =
        taper_tiles_make(run, job->rows, job->gemm->mr, job->in * sizeof(float), panels, job->panel_bytes, work);
    run->kernel = job->gemm->name;
    return taper_run_range(run, run_tiles, job, job->tiles.count, 1, work);
}

taper_status taper_cpu_linear_integers(taper_call *call);
taper_status taper_cpu_linear_integers(taper_call *call)
{
    taper_run *const run = call->run;
    integers_job job = {.entry = taper_narrow_f32_select(run->cpu), .gemm = taper_gemm_f32_select(run->cpu)};
    TAPER_TRY(taper_linear_integers_parse(call, &job.args));
    const taper_linear_integers_args *a = &job.args;
    if (taper_tensor_numel(a->input) == 0 || job.entry->nr != job.gemm->nr || job.entry->nr > MOST_NR) {
        return TAPER_DECLINED;
    }
    job.in = (size_t)a->in;
    job.out = (size_t)a->out;
    job.rows = (size_t)(taper_tensor_numel(a->input) / a->in);
    taper_pack pack;
    TAPER_TRY(get_narrowest(call, &job, &pack));
    taper_tensor *x = NULL, *bias = NULL, *y = NULL;
    taper_status status = taper_tensor_floats(run, a->input, &x);
    if (status == TAPER_OK && a->bias != NULL) {
        status = taper_tensor_floats(run, a->bias, &bias);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_F32, a->input->rank, a->out_sizes, NULL, &y, run->error);
    }
    if (status == TAPER_OK) {
        job.x = taper_tensor_data(x);
        job.bias = bias != NULL ? taper_tensor_data(bias) : NULL;
        job.y = taper_tensor_mutable(y);
        status = multiply(run, &job);
    }
    taper_pack_done(call, &pack);
    taper_tensor_drop(x);
    taper_tensor_drop(bias);
    if (status != TAPER_OK) {
        taper_tensor_drop(y);
        return status;
    }
    return taper_ret_cast(call, 0, y, (taper_dtype)a->input->dtype);
}
