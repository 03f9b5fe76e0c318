// SPDX-License-Identifier: BSD-2-Clause
// Transposed convolution of NHWC floats. Outputs that are a stride apart see the same taps: they are a phase, and each
// of the stride_h x stride_w phases is a convolution with stride 1 of some of the taps, whose results lie a stride
// apart. So nothing is scattered, and every output is written once.
#include "backends/cpu/conv_cpu.h"
#include "ops/engine/tiles.h"

enum { POINTERS = 512 };

typedef struct transposed_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    size_t phases_h, phases_w;    // that have outputs
    size_t panels, blocks, block; // block: panels of one
    size_t strip;                 // pixels of one at most
    bool by_rows;                 // an item is a row of outputs; else one of a phase and a block of panels
    size_t items, taps;           // taps: of all phases
} transposed_plan;

// One axis of a phase: the taps are first, first + step, ...; tap number i sees the input at position t - back * i +
// ahead for output number t.
typedef struct phase_axis {
    size_t first, step, taps;
    int64_t ahead, back;
    size_t outputs;
} phase_axis;

static phase_axis axis_of(size_t phase, size_t kernel, size_t stride, size_t dilation, int64_t pad, size_t out)
{
    phase_axis a = {.outputs = (out - phase - 1) / stride + 1};
    const int64_t s = (int64_t)stride, at = (int64_t)phase + pad;
    for (size_t k = 0; k < kernel; k++) {
        if ((at - (int64_t)(k * dilation)) % s != 0) {
            continue;
        }
        if (a.taps == 0) {
            a.first = k;
            a.ahead = (at - (int64_t)(k * dilation)) / s;
        } else if (a.taps == 1) {
            a.step = k - a.first;
            a.back = (int64_t)(a.step * dilation) / s;
        }
        a.taps++;
    }
    return a;
}

static phase_axis down_of(const taper_conv2d *job, size_t phase)
{
    return axis_of(phase, job->kernel_h, job->stride_h, job->dilation_h, job->pad_top, job->out_h);
}

static phase_axis along_of(const taper_conv2d *job, size_t phase)
{
    return axis_of(phase, job->kernel_w, job->stride_w, job->dilation_w, job->pad_left, job->out_w);
}

static size_t phase_panel_floats(const transposed_plan *plan, size_t taps)
{
    return (taps * plan->head.job->in_c + 1) * plan->entry->nr;
}

// The packed weights of a phase: those of the phases before are in front.
static size_t weights_at(const transposed_plan *plan, size_t down_phase, size_t along_phase)
{
    const taper_conv2d *job = plan->head.job;
    size_t at = 0;
    for (size_t i = 0; i <= down_phase; i++) {
        const size_t rows = down_of(job, i).taps;
        for (size_t j = 0; j < (i < down_phase ? plan->phases_w : along_phase); j++) {
            at += plan->panels * phase_panel_floats(plan, rows * along_of(job, j).taps);
        }
    }
    return at;
}

// ---- running

// Outputs of row t of a phase, columns of some panels.
static void run_row(const transposed_plan *plan, size_t image, const phase_axis *down, size_t down_phase, size_t t,
                    size_t along_phase, size_t panel, size_t panels)
{
    const taper_conv2d *job = plan->head.job;
    const phase_axis along = along_of(job, along_phase);
    const size_t nr = plan->entry->nr, column = panel * nr, columns = taper_min_size(panels * nr, job->out_c - column);
    const size_t taps = down->taps * along.taps, step = job->stride_w * job->out_c;
    const float *packed =
        plan->head.packed + weights_at(plan, down_phase, along_phase) + panel * phase_panel_floats(plan, taps);
    const float *images = job->x + image * job->in_h * job->in_w * job->in_c;
    const size_t row = (image * job->out_h + down_phase + t * job->stride_h) * job->out_w + along_phase;
    const size_t most = taper_max_size(taper_min_size(plan->strip, POINTERS / taper_max_size(taps, 1)), 1);
    const float *pointers[POINTERS];
    for (size_t first = 0, count; first < along.outputs; first += count) {
        const size_t left = along.outputs - first, strips = (left - 1) / most + 1;
        count = (left - 1) / strips + 1;
        const float **out = pointers;
        for (size_t i = 0; i < down->taps; i++) {
            const int64_t y = (int64_t)t + down->ahead - down->back * (int64_t)i;
            const float *line = y >= 0 && y < (int64_t)job->in_h ? images + (size_t)y * job->in_w * job->in_c : NULL;
            for (size_t j = 0; j < along.taps; j++) {
                int64_t x = (int64_t)first + along.ahead - along.back * (int64_t)j;
                for (size_t k = 0; k < count; k++, x++) {
                    *out++ =
                        line != NULL && x >= 0 && x < (int64_t)job->in_w ? line + (size_t)x * job->in_c : job->zero;
                }
            }
        }
        const size_t at = (row + first * job->stride_w) * job->out_c + column;
        const taper_gemm_epilogue e = {.add = job->epilogue.add != NULL ? job->epilogue.add + at : NULL,
                                       .add_stride = step,
                                       .min = job->epilogue.min,
                                       .max = job->epilogue.max};
        plan->entry->igemm(count, columns, job->in_c, taps, pointers, count, 0, job->zero, packed, job->y + at, step,
                           &e);
        taper_epilogue_finish(&job->epilogue, count, columns, job->y + at, step);
    }
}

static void run_items(void *argument, size_t begin, size_t end)
{
    const transposed_plan *plan = argument;
    const taper_conv2d *job = plan->head.job;
    for (; begin < end; begin++) {
        if (plan->by_rows) { // image * out_h + row
            const size_t image = begin / job->out_h, y = begin % job->out_h, phase = y % job->stride_h;
            const phase_axis down = down_of(job, phase);
            for (size_t j = 0; j < plan->phases_w; j++) {
                run_row(plan, image, &down, phase, y / job->stride_h, j, 0, plan->panels);
            }
            continue;
        }
        // ((phase along * blocks + block) * images + image) * out_h, and the rows of the phases one behind the other.
        size_t row = begin % job->out_h, phase = 0;
        phase_axis down = down_of(job, 0);
        while (row >= down.outputs) {
            row -= down.outputs;
            down = down_of(job, ++phase);
        }
        const size_t rest = begin / job->out_h, image = rest % job->batch,
                     panel = rest / job->batch % plan->blocks * plan->block;
        run_row(plan, image, &down, phase, row, rest / job->batch / plan->blocks, panel,
                taper_min_size(plan->block, plan->panels - panel));
    }
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const transposed_plan *plan = (const transposed_plan *)(const void *)head;
    return taper_run_range(head->job->call->run, run_items, (void *)(uintptr_t)plan, plan->items, 1, head->work);
}

// ---- preparation

static void fill_weights(const taper_pack_request *request, void *data)
{
    const transposed_plan *plan = request->user;
    const taper_conv2d *job = plan->head.job;
    taper_conv2d_fold(job);
    const float *bias = taper_conv2d_bias(job);
    const taper_tensor *w = job->args.weight;
    const size_t nr = plan->entry->nr;
    float *to = data;
    for (size_t phase = 0; phase < plan->phases_h * plan->phases_w; phase++) {
        const phase_axis down = down_of(job, phase / plan->phases_w), along = along_of(job, phase % plan->phases_w);
        for (size_t panel = 0; panel < plan->panels; panel++) {
            const size_t columns = taper_min_size(nr, job->out_c - panel * nr);
            for (size_t n = 0; n < nr; n++) {
                *to++ = n < columns && bias != NULL ? bias[panel * nr + n] : 0.0f;
            }
            for (size_t tap = 0; tap < down.taps * along.taps; tap++) {
                const size_t ky = down.first + tap / along.taps * down.step,
                             kx = along.first + tap % along.taps * along.step;
                const float *from = (const float *)taper_tensor_data(w) + ky * (size_t)w->strides[2] +
                                    kx * (size_t)w->strides[3] + panel * nr * (size_t)w->strides[1];
                for (size_t k = 0; k < job->in_c; k++, from += w->strides[0]) {
                    for (size_t n = 0; n < nr; n++) {
                        const float scale = job->scale != NULL && n < columns ? job->scale[panel * nr + n] : 1.0f;
                        *to++ = n < columns ? from[n * (size_t)w->strides[1]] * scale : 0.0f;
                    }
                }
            }
        }
    }
}

// Of few outputs most lanes would be idle; the reference has the taps side by side in a product, and adds them up.
bool taper_conv2d_transposed_pays(const taper_conv2d *job)
{
    size_t taps;
    return job->out_c >= taper_vector_f32_select(job->call->run->cpu)->lanes / 2 &&
           taper_mul_size(job->kernel_h, job->kernel_w, &taps) && taps <= POINTERS && job->stride_h <= POINTERS &&
           job->stride_w <= POINTERS;
}

taper_status taper_conv2d_transposed(taper_conv2d *job)
{
    const taper_run *run = job->call->run;
    transposed_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                            .entry = taper_gemm_f32_select(run->cpu),
                            .phases_h = taper_min_size(job->stride_h, job->out_h),
                            .phases_w = taper_min_size(job->stride_w, job->out_w)};
    const size_t nr = plan.entry->nr;
    plan.panels = (job->out_c - 1) / nr + 1;
    plan.strip = plan.entry->mr;
    // Every tap is one of a phase, if its outputs exist.
    const size_t taps = job->kernel_h * job->kernel_w;
    size_t floats;
    if (!taper_mul_size(taps * nr, job->in_c, &floats) || !taper_mul_size(floats, plan.panels, &floats) ||
        floats > SIZE_MAX / sizeof(float) / 4) {
        return TAPER_DECLINED;
    }
    floats = weights_at(&plan, plan.phases_h - 1, plan.phases_w);
    const double pixels = (double)(job->batch * job->in_h * job->in_w);
    plan.head.name = plan.entry->name;
    plan.head.flops = 2.0 * pixels * (double)taps * (double)job->in_c * (double)job->out_c;
    plan.head.work = taper_gemm_work(plan.entry, plan.head.flops, (double)floats) +
                     taper_floats_work((double)(job->batch * job->out_h * job->out_w) * (double)job->out_c);
    // Weights that stay in the cache are read for every row; of others as many at a time as do.
    const size_t cache = taper_pool_caches(run->pool).l2 / 2 / sizeof(float);
    plan.by_rows = floats <= cache;
    plan.blocks = taper_min_size(floats / plan.phases_h / plan.phases_w / cache + 1, plan.panels);
    plan.block = (plan.panels - 1) / plan.blocks + 1;
    plan.blocks = (plan.panels - 1) / plan.block + 1;
    plan.items = job->batch * job->out_h * (plan.by_rows ? 1 : plan.phases_w * plan.blocks);
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.entry, &request);
    request.user = &plan;
    request.layout = "transposed convolution";
    request.kernel = plan.entry->name;
    request.bytes = floats * sizeof(float);
    const int64_t numbers[] = {(int64_t)job->stride_h,
                               (int64_t)job->stride_w,
                               (int64_t)job->dilation_h,
                               (int64_t)job->dilation_w,
                               job->pad_top % (int64_t)job->stride_h,
                               job->pad_left % (int64_t)job->stride_w,
                               (int64_t)plan.phases_h,
                               (int64_t)plan.phases_w};
    memcpy(&request.numbers[3], numbers, sizeof numbers);
    request.fill = fill_weights;
    return taper_conv2d_do(&plan.head, &request);
}
