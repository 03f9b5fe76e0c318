// SPDX-License-Identifier: BSD-2-Clause
// Measures the peak rates of the CPU. For products it repeats one tile with operands in the L1 cache. For memory it
// sums more memory than the caches contain. Each measurement runs on all threads at the same time, and the best of
// several rounds counts.
#include "runtime/cpu_peak.h"

#include <math.h>
#include <string.h>

#include "ops/kernels/kernel_select.h"
#include "ops/list/op_config.h"
#include "platform/platform.h"
#include "platform/threads.h"

enum {
    DEPTH = 256, // inner size of the matrix product
    ROUNDS = 6,
    MOST_ROWS = 32,
    READ_BYTES = 64 << 20,
    LINE = 64,
};

typedef struct measuring {
    const taper_context *context;
    taper_pool *pool;
    size_t threads, times; // number of threads, and of calls for each thread
    char *data;            // memory of all threads, `bytes` bytes for each
    size_t bytes;
} measuring;

static bool go_on(void *user)
{
    (void)user;
    return true;
}

// Returns the seconds that one call takes if all threads call at the same time, or 0 if unknown. `task` makes m->times
// calls for each thread.
static double best_of(measuring *m, taper_range_task task)
{
    double best = INFINITY;
    m->times = 1;
    for (size_t round = 0; round < ROUNDS; round++) {
        const double begin = taper_clock();
        (void)taper_pool_run(m->pool, task, m, m->threads, 1, go_on, NULL);
        const double seconds = (taper_clock() - begin) / (double)m->times;
        if (round > 0) { // the first round only determines the number of calls
            best = fmin(best, seconds);
        }
        m->times = seconds > 0 ? (size_t)fmin(fmax(1e-3 / seconds, 1), 1e6) : 1000;
    }
    return best > 0 && isfinite(best) ? best : 0;
}

// ---- rate of products of floats

static void multiply_floats(void *argument, size_t begin, size_t end)
{
    static const taper_gemm_epilogue plain = {.min = -INFINITY, .max = INFINITY};
    const measuring *m = argument;
    const taper_gemm_entry *entry = taper_gemm_f32_select(m->context->cpu);
    for (size_t i = begin; i < end; i++) {
        float *a = (float *)(void *)(m->data + i * m->bytes), *w = a + entry->mr * DEPTH,
              *c = w + (DEPTH + 1) * entry->nr;
        for (size_t k = 0; k < m->times; k++) {
            entry->gemm(entry->mr, entry->nr, DEPTH, a, DEPTH, w, c, entry->nr, &plain);
        }
    }
}

static size_t float_bytes(const taper_gemm_entry *entry)
{
    return (entry->mr * DEPTH + (DEPTH + 1 + entry->mr) * entry->nr) * sizeof(float) + entry->over_read;
}

// ---- rate of products of quantized numbers

typedef struct quantized_data {
    size_t w, c, bias, scale, bytes; // offsets in a thread's memory, in bytes; the rows of A are at offset 0
} quantized_data;

static quantized_data quantized_of(const taper_gemm_i8_entry *entry)
{
    quantized_data d = {.w = taper_round_up(DEPTH + entry->over_read, LINE)};
    d.c = taper_round_up(d.w + taper_gemm_i8_packed_bytes(entry, entry->nr, 1, DEPTH), LINE);
    d.bias = taper_round_up(d.c + (size_t)entry->mr * entry->nr, LINE);
    d.scale = d.bias + entry->nr * sizeof(int32_t);
    d.bytes = d.scale + entry->nr * sizeof(float);
    return d;
}

static void multiply_quantized(void *argument, size_t begin, size_t end)
{
    const measuring *m = argument;
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(m->context->cpu);
    const quantized_data d = quantized_of(entry);
    for (size_t i = begin; i < end; i++) {
        char *data = m->data + i * m->bytes;
        const uint8_t *rows[MOST_ROWS];
        for (size_t r = 0; r < entry->mr; r++) {
            rows[r] = (const uint8_t *)data;
        }
        const taper_gemm_i8 call = {.mr = entry->mr,
                                    .nc = entry->nr,
                                    .kc = DEPTH,
                                    .ks = 1,
                                    .a = rows,
                                    .a_tap_stride = entry->mr,
                                    .w = (const int8_t *)(data + d.w),
                                    .c = data + d.c,
                                    .c_stride = entry->nr,
                                    .e = {.bias = (const int32_t *)(const void *)(data + d.bias),
                                          .scale = (const float *)(const void *)(data + d.scale)}};
        for (size_t k = 0; k < m->times; k++) {
            entry->run(&call);
        }
    }
}

static void pack_zeros(const measuring *m)
{
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(m->context->cpu);
    const quantized_data d = quantized_of(entry);
    const taper_gemm_i8_pack pack = {
        .n = entry->nr, .ks = 1, .kc = DEPTH, .n_stride = 0, .k_stride = 0, .weights = (const int8_t *)m->data};
    for (size_t i = 0; i < m->threads; i++) { // packs the zero weights and writes their sums to the bias
        char *data = m->data + i * m->bytes;
        taper_gemm_i8_pack_weights(entry, &pack, (int8_t *)(data + d.w), (int32_t *)(void *)(data + d.bias));
    }
}

// ---- rate of reading memory

static void read_memory(void *argument, size_t begin, size_t end)
{
    const measuring *m = argument;
    const taper_vector_entry *vector = taper_vector_f32_select(m->context->cpu);
    for (size_t i = begin; i < end; i++) {
        float *data = (float *)(void *)(m->data + i * m->bytes);
        for (size_t k = 0; k < m->times; k++) { // uses the sum, which is 0, so that compilers do not remove the loop
            data[0] += vector->fold[TAPER_REDUCTION_SUM](m->bytes / sizeof(float), data);
        }
    }
}

// Measures `task` with `bytes` zeroed bytes for each thread. Returns the seconds of one call.
static double measure(const taper_context *context, size_t bytes, taper_range_task task,
                      void (*prepare)(const measuring *m))
{
    measuring m = {.context = context,
                   .pool = context->pool,
                   .threads = taper_pool_threads(context->pool),
                   .bytes = taper_round_up(bytes, LINE)};
    size_t all;
    m.data = taper_mul_size(m.bytes, m.threads, &all) ? taper_alloc_zeroed(&context->allocator, all) : NULL;
    if (m.data == NULL) {
        return 0;
    }
    if (prepare != NULL) {
        prepare(&m);
    }
    taper_pool_enter(m.pool, true);
    const double seconds = best_of(&m, task);
    taper_pool_leave(m.pool);
    taper_free(&context->allocator, m.data, all);
    return seconds;
}

static double quantized_peak(const taper_context *context, double threads)
{
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(context->cpu);
    const double seconds =
        entry->mr <= MOST_ROWS ? measure(context, quantized_of(entry).bytes, multiply_quantized, pack_zeros) : 0;
    return seconds > 0 ? 2.0 * entry->mr * entry->nr * DEPTH * threads / seconds : 0;
}

taper_cpu_peak taper_cpu_measure_peak(const taper_context *context)
{
    const double threads = taper_pool_threads(context->pool);
    const taper_gemm_entry *floats = taper_gemm_f32_select(context->cpu);
    taper_cpu_peak peak = {0};
    double seconds = measure(context, float_bytes(floats), multiply_floats, NULL);
    peak.flops = seconds > 0 ? 2.0 * floats->mr * floats->nr * DEPTH * threads / seconds : 0;
    if (TAPER_HAS_OP(aten_quantize_per_tensor)) { // builds for models without quantized tensors lack these kernels
        peak.operations = quantized_peak(context, threads);
    }
    seconds = measure(context, (size_t)(READ_BYTES / threads), read_memory, NULL);
    peak.bytes = seconds > 0 ? READ_BYTES / seconds : 0;
    return peak;
}
