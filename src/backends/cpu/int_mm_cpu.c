// SPDX-License-Identifier: BSD-2-Clause
// Products of bytes as int32 (_int_mm), by the gemm kernels of bytes. The kernels return floats, which are exact if
// sums are below 2^24. The inputs are therefore divided into chunks with sums below this bound, and the results of the
// chunks are added as integers.
#include <math.h>

#include "ops/call/packs.h"
#include "ops/call/parallel.h"
#include "ops/engine/tiles.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_pack.h"

// CHUNK: number of inputs of a chunk; 512 * 255 * 128 is below 2^24. MOST_ROWS: largest number of rows in a tile.
// MOST_NR: columns of the widest panel of any kernel. OVER_READ: bytes that a kernel may read past the inputs.
enum { CHUNK = 512, MOST_ROWS = 64, MOST_NR = 64, OVER_READ = 1024 };

typedef struct int_mm {
    taper_tensor *a, *b;
    const taper_gemm_i8_entry *entry;
    size_t rows, in, out, places, chunks;
    size_t chunk_bytes; // number of bytes of the packed weights of a whole chunk
    const uint8_t *x;   // inputs, [rows, in]
    // arrays of `places` numbers (the outputs, rounded up to whole panels): all scales are 1, all shifts are 0
    const float *scale, *shift;
    const int32_t *bias; // initial values of the sums, [chunks, places]
    const int8_t *weights;
    int32_t *y;
    taper_tiles tiles;
} int_mm;

static size_t chunk_depth(const int_mm *job, size_t chunk)
{
    return taper_min_size(job->in - chunk * CHUNK, CHUNK);
}

// ---- packed weights: scale, shift, bias, then the panels of each chunk

static void find_parts(int_mm *job, void *data)
{
    float *numbers = data;
    job->scale = numbers;
    job->shift = numbers + job->places;
    job->bias = (const int32_t *)(const void *)(numbers + 2 * job->places);
    job->weights = (const int8_t *)(job->bias + job->chunks * job->places);
}

static void fill_pack(const taper_pack_request *request, void *data)
{
    int_mm job = *(const int_mm *)request->user;
    find_parts(&job, data);
    float *numbers = data;
    int32_t *bias = (int32_t *)(void *)(numbers + 2 * job.places);
    int8_t *weights = (int8_t *)(bias + job.chunks * job.places);
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(job.b, 1, steps);
    // A signed input is stored with `raised` added, and the kernel subtracts entry->shift from each stored input. The
    // initial sums, (shift - raised) times the sum of the weights, compensate for both changes.
    const uint32_t raised = job.a->dtype == TAPER_I8 ? 128 : 0;
    for (size_t i = 0; i < job.places; i++) {
        numbers[i] = 1.0f;
        numbers[job.places + i] = 0.0f;
    }
    for (size_t c = 0; c < job.chunks; c++) {
        const taper_gemm_i8_pack pack = {.n = job.out,
                                         .ks = 1,
                                         .kc = chunk_depth(&job, c),
                                         .n_stride = (size_t)steps[1],
                                         .k_stride = (size_t)steps[0],
                                         .weights = (const int8_t *)taper_tensor_data(job.b) +
                                                    (int64_t)(c * CHUNK) * steps[0]};
        int32_t *sums = bias + c * job.places;
        taper_gemm_i8_pack_weights(job.entry, &pack, weights + c * job.chunk_bytes, sums);
        for (size_t i = 0; i < job.places; i++) {
            sums[i] = (int32_t)((job.entry->shift - raised) * (uint32_t)sums[i]);
        }
    }
}

// Returns TAPER_DECLINED if the sizes are too large.
static taper_status get_pack(taper_call *call, int_mm *job, taper_pack *pack)
{
    const size_t nr = job->entry->nr, last = taper_gemm_i8_packed_bytes(job->entry, job->out, 1, job->in % CHUNK);
    size_t bytes, numbers;
    job->places = (job->out + nr - 1) / nr * nr;
    job->chunks = (job->in + CHUNK - 1) / CHUNK;
    job->chunk_bytes = taper_gemm_i8_packed_bytes(job->entry, job->out, 1, taper_min_size(job->in, CHUNK));
    if (job->chunk_bytes == 0 || !taper_mul_size(job->chunks, job->chunk_bytes, &bytes) ||
        !taper_mul_size(job->chunks + 2, job->places * sizeof(int32_t), &numbers) || bytes > SIZE_MAX - numbers ||
        last > job->chunk_bytes) {
        return TAPER_DECLINED;
    }
    const taper_pack_request request = {.kind = job->entry,
                                        .layout = "int_mm",
                                        .kernel = job->entry->name,
                                        .tensors = {job->b},
                                        .numbers = {-1, job->a->dtype},
                                        .bytes = bytes + numbers,
                                        .fill = fill_pack,
                                        .user = job};
    TAPER_TRY(taper_pack_get(call, &request, pack));
    find_parts(job, pack->data);
    return TAPER_OK;
}

// ---- products

static void run_panel(const int_mm *job, const taper_tile *t, size_t panel)
{
    const size_t nr = job->entry->nr, first = panel * nr, columns = taper_min_size(job->out - first, nr);
    const uint8_t *rows[MOST_ROWS];
    float sums[MOST_ROWS * MOST_NR];
    for (size_t i = 0; i < t->count; i++) {
        rows[i] = job->x + (t->first + i) * job->in;
    }
    for (size_t c = 0; c < job->chunks; c++) {
        const size_t depth = chunk_depth(job, c);
        const taper_gemm_i8 call = {.mr = t->count,
                                    .nc = columns,
                                    .kc = depth,
                                    .ks = 1,
                                    .a = rows,
                                    .a_tap_stride = t->count,
                                    .a_offset = c * CHUNK,
                                    .w = job->weights + c * job->chunk_bytes +
                                         panel * taper_gemm_i8_panel_bytes(job->entry, 1, depth),
                                    .c = sums,
                                    .c_stride = nr,
                                    .e = {.bias = job->bias + c * job->places + first,
                                          .scale = job->scale + first,
                                          .shift = job->shift + first,
                                          .floor = -INFINITY}};
        job->entry->run(&call);
        for (size_t i = 0; i < t->count; i++) {
            int32_t *y = job->y + (t->first + i) * job->out + first;
            for (size_t n = 0; n < columns; n++) {
                const uint32_t sum = (uint32_t)(int32_t)sums[i * nr + n]; // the total wraps around on overflow
                y[n] = (int32_t)(c == 0 ? sum : (uint32_t)y[n] + sum);
            }
        }
    }
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const int_mm *job = argument;
    taper_tile t = taper_tile_at(&job->tiles, begin);
    for (size_t i = begin; i < end; i++, taper_tile_next(&job->tiles, &t)) {
        for (size_t p = t.panel; p < t.panel_end; p++) {
            run_panel(job, &t, p);
        }
    }
}

// Copies the inputs, and adds 128 to signed inputs.
static void copy_inputs(const int_mm *job, uint8_t *to)
{
    const uint8_t *from = taper_tensor_data(job->a), flip = job->a->dtype == TAPER_I8 ? 0x80 : 0;
    const int64_t *strides = job->a->strides;
    for (size_t r = 0; r < job->rows; r++, to += job->in) {
        const uint8_t *row = from + (int64_t)r * strides[0];
        for (size_t k = 0; k < job->in && strides[1] == 1; k++) {
            to[k] = row[k] ^ flip;
        }
        for (size_t k = 0; k < job->in && strides[1] != 1; k++) {
            to[k] = row[(int64_t)k * strides[1]] ^ flip;
        }
    }
}

static taper_status multiply(taper_run *run, int_mm *job)
{
    const taper_gemm_i8_entry *entry = job->entry;
    const uint8_t kind = job->a->storage->kind;
    const bool in_place = job->a->dtype == TAPER_U8 && taper_tensor_is_contiguous(job->a) &&
                          (job->in % entry->kr == 0 || kind == TAPER_STORAGE_OWNED || kind == TAPER_STORAGE_PLANNED);
    const size_t count = job->rows * job->in; // number of elements of the tensor `a`
    uint8_t *copy = NULL;
    job->x = taper_tensor_data(job->a);
    if (!in_place) {
        copy = count > SIZE_MAX - OVER_READ ? NULL : taper_heap_alloc(run->heap, count + OVER_READ);
        if (copy == NULL) {
            return taper_fail_memory(run->error);
        }
        copy_inputs(job, copy);
        job->x = copy;
    }
    run->kernel = entry->name;
    run->flops = 2.0 * (double)count * (double)job->out;
    const double work = taper_gemm_i8_work(entry, run->flops);
    job->tiles =
        taper_tiles_make(run, job->rows, taper_min_size(entry->mr, MOST_ROWS), 0, job->places / entry->nr,
                         job->chunks * taper_gemm_i8_panel_bytes(entry, 1, taper_min_size(job->in, CHUNK)), work);
    const taper_status status = taper_run_range(run, run_tiles, job, job->tiles.count, 1, work);
    taper_heap_free(run->heap, copy, copy != NULL ? count + OVER_READ : 0);
    return status;
}

taper_status taper_cpu_int_mm(taper_call *call);
taper_status taper_cpu_int_mm(taper_call *call)
{
    int_mm job = {.entry = taper_gemm_i8_select(call->run->cpu)};
    TAPER_TRY(taper_arg_tensor(call, 0, &job.a));
    TAPER_TRY(taper_arg_tensor(call, 1, &job.b));
    const taper_tensor *a = job.a, *b = job.b;
    if (a->rank != 2 || b->rank != 2 || (a->dtype != TAPER_I8 && a->dtype != TAPER_U8) || b->dtype != TAPER_I8 ||
        a->hidden_nhwc || b->hidden_nhwc || a->sizes[1] != b->sizes[0] || taper_tensor_numel(a) == 0 ||
        taper_tensor_numel(b) == 0 || job.entry->nr > MOST_NR) {
        return TAPER_DECLINED;
    }
    job.rows = (size_t)a->sizes[0];
    job.in = (size_t)a->sizes[1];
    job.out = (size_t)b->sizes[1];
    taper_pack pack;
    TAPER_TRY(get_pack(call, &job, &pack));
    taper_tensor *y = NULL;
    const int64_t sizes[] = {a->sizes[0], b->sizes[1]};
    taper_status status = taper_ret_new(call, 0, TAPER_I32, 2, sizes, NULL, &y);
    if (status == TAPER_OK && !taper_tensor_is_contiguous(y)) {
        status = TAPER_DECLINED;
    }
    if (status == TAPER_OK) {
        job.y = taper_tensor_mutable(y);
        status = multiply(call->run, &job);
    }
    taper_pack_done(call, &pack);
    return status;
}
