// SPDX-License-Identifier: BSD-2-Clause
// Converts runs of numbers, each with one scale and one zero point, to bytes and back (quantized_bytes.h). Signed bytes
// are computed as unsigned bytes with the highest bit inverted; their zero points are then larger by 128.
#include "ops/quantized/quantized_bytes.h"

#include "base/checked.h"
#include "base/half.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"

enum { BLOCK = 1024, SHORTEST = 16 };

typedef struct channel_numbers {
    float factor; // scale (to floats), or its inverse (to bytes)
    int32_t point;
} channel_numbers;

typedef struct bytes_job {
    const taper_vector_u8_entry *vector;
    const channel_numbers *numbers;
    size_t channels, inner;
    const void *x;
    void *y;
    uint8_t flip;
} bytes_job;

static void flip(size_t n, uint8_t bits, uint8_t *y)
{
    for (size_t i = 0; bits != 0 && i < n; i++) {
        y[i] ^= bits;
    }
}

// A position in a range of numbers: the channel, and how many numbers are left in its run.
typedef struct channel_place {
    size_t channel, left;
} channel_place;

static channel_place place_of(const bytes_job *job, size_t at)
{
    return (channel_place){at / job->inner % job->channels, job->inner - at % job->inner};
}

static void pass(const bytes_job *job, size_t n, channel_place *place) // advances by n numbers; n is at most `left`
{
    place->left -= n;
    if (place->left == 0) {
        place->left = job->inner;
        place->channel = place->channel + 1 < job->channels ? place->channel + 1 : 0;
    }
}

// Quantizes one number as vector_u8.h does.
static uint8_t quantized_one(float x, const channel_numbers *of)
{
    const float whole = 12582912.0f; // adding 1.5 * 2^23 rounds to an integer, which is then in the low bits
    const float low = (float)-of->point, high = (float)(255 - of->point), v = x * of->factor;
    const float held = v > low && v <= TAPER_U8_TOO_MUCH ? (v < high ? v : high) : low;
    return (uint8_t)(taper_float_to_bits(held + whole) + (uint32_t)of->point);
}

static void quantize_range(void *argument, size_t begin, size_t end)
{
    const bytes_job *job = argument;
    const float *x = job->x;
    uint8_t *y = job->y;
    channel_place place = place_of(job, begin);
    while (begin < end) {
        const channel_numbers *of = &job->numbers[place.channel];
        const size_t n = taper_min_size(taper_min_size(end - begin, place.left), BLOCK);
        if (job->inner < SHORTEST) {
            for (size_t i = begin; i < begin + n; i++) {
                y[i] = quantized_one(x[i], of) ^ job->flip;
            }
        } else {
            job->vector->quantize(n, x + begin, of->factor, of->point, y + begin);
            flip(n, job->flip, y + begin);
        }
        begin += n;
        pass(job, n, &place);
    }
}

static void dequantize_range(void *argument, size_t begin, size_t end)
{
    const bytes_job *job = argument;
    const uint8_t *bytes = job->x;
    float *y = job->y;
    channel_place place = place_of(job, begin);
    while (begin < end) {
        const channel_numbers *of = &job->numbers[place.channel];
        const size_t n = taper_min_size(taper_min_size(end - begin, place.left), BLOCK);
        if (job->inner < SHORTEST) {
            for (size_t i = begin; i < begin + n; i++) {
                y[i] = of->factor * (float)((bytes[i] ^ job->flip) - of->point);
            }
        } else {
            uint8_t turned[BLOCK];
            const uint8_t *x = bytes + begin;
            if (job->flip != 0) {
                for (size_t i = 0; i < n; i++) {
                    turned[i] = x[i] ^ job->flip;
                }
                x = turned;
            }
            job->vector->dequantize(n, x, of->factor, of->point, y + begin);
        }
        begin += n;
        pass(job, n, &place);
    }
}

static taper_status run_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z, const taper_q_runs *runs,
                              bool inverse, bytes_job *job)
{
    size_t bytes;
    const size_t count = (size_t)(runs->outer * runs->channels * runs->inner); // number of elements of the tensor
    channel_numbers *numbers = NULL;
    if (count == 0) {
        return TAPER_OK;
    }
    if (taper_mul_size((size_t)runs->channels, sizeof *numbers, &bytes)) {
        numbers = taper_heap_alloc(run->heap, bytes);
    }
    if (numbers == NULL) {
        return taper_fail_memory(run->error);
    }
    job->flip = dtype == TAPER_QI8 ? 0x80 : 0;
    for (int64_t c = 0; c < runs->channels && taper_run_step(run, c, 5); c++) {
        double scale;
        int64_t point;
        taper_q_channel_params(z, c, &scale, &point);
        numbers[c].factor = inverse ? 1.0f / (float)scale : (float)scale;
        numbers[c].point = (int32_t)point + job->flip;
    }
    job->numbers = numbers;
    job->channels = (size_t)runs->channels;
    job->inner = (size_t)runs->inner;
    job->vector = taper_vector_u8_select(run->cpu);
    run->kernel = job->vector->name;
    const taper_status status =
        taper_run_floats(run, inverse ? quantize_range : dequantize_range, job, count, runs->inner < SHORTEST ? 8 : 1);
    taper_heap_free(run->heap, numbers, bytes);
    return status;
}

taper_status taper_q_quantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                    const taper_q_runs *runs, const float *x, uint8_t *y)
{
    bytes_job job = {.x = x, .y = y};
    return run_bytes(run, dtype, z, runs, true, &job);
}

taper_status taper_q_dequantize_bytes(taper_run *run, taper_dtype dtype, const taper_quantizer *z,
                                      const taper_q_runs *runs, const uint8_t *x, float *y)
{
    bytes_job job = {.x = x, .y = y};
    return run_bytes(run, dtype, z, runs, false, &job);
}
