// SPDX-License-Identifier: BSD-2-Clause
// Eight lines of floats that lie at the same distance, one number behind the other, into the lanes of a transform and
// back: matrices that are transposed. A point is eight real and then eight imaginary parts.
#include "ops/signal/fft_plan.h"

#include "ops/kernels/kernel_select.h"

enum { LANES = TAPER_FFT_LANES };

// The distance in floats between the lines; 0: they lie otherwise.
static size_t distance(const void *const *lines)
{
    const uintptr_t first = (uintptr_t)lines[0], step = (uintptr_t)lines[1] - first;
    bool even = (intptr_t)step > 0 && step % sizeof(float) == 0;
    for (size_t l = 1; l < LANES; l++) {
        even = even && (uintptr_t)lines[l] - first == l * step;
    }
    return even ? step / sizeof(float) : 0;
}

// Of the instruction set whose vectors are as wide as a group, if the CPU has it: wider ones would be half empty.
static taper_transpose_f32_function *transpose_of(uint64_t cpu)
{
    for (size_t i = 0; taper_vector_f32_entry(i) != NULL; i++) {
        const taper_vector_entry *entry = taper_vector_f32_entry(i);
        if (entry->lanes == LANES && (entry->cpu & cpu) == entry->cpu) {
            return entry->transpose;
        }
    }
    return taper_vector_f32_select(cpu)->transpose;
}

// Real and imaginary parts of m points exchanged, and times scale.
static void exchange(size_t m, float *a, float scale)
{
    for (size_t k = 0; k < m; k++, a += 2 * LANES) {
        for (size_t l = 0; l < LANES; l++) {
            const float re = a[l];
            a[l] = a[LANES + l] * scale;
            a[LANES + l] = re * scale;
        }
    }
}

static void multiply(size_t count, float *a, const float *factors, size_t step)
{
    for (size_t k = 0; k < count; k++, a += LANES) {
        const float factor = factors[k * step];
        for (size_t l = 0; l < LANES; l++) {
            a[l] *= factor;
        }
    }
}

bool taper_fft_lines_load(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare)
{
    const size_t step = distance(g->from);
    if (TAPER_SMALL || fft->run->portable || step == 0 || g->from_step != 1 ||
        (fft->kind != TAPER_FFT_C2C && !fft->halved)) {
        return false;
    }
    float *const to = fft->kind == TAPER_FFT_C2R ? spare : a;
    transpose_of(fft->run->cpu)(LANES, 2 * fft->m, g->from[0], step, to, LANES);
    if (fft->kind == TAPER_FFT_C2R) {
        float last[LANES];
        for (size_t l = 0; l < LANES; l++) {
            last[l] = ((const float *)g->from[l])[2 * fft->m];
        }
        taper_fft_f32_select(fft->run->cpu)->join(fft->m, fft->real, fft->forward ? -1.0f : 1.0f, spare, last, a);
    } else if (fft->kind == TAPER_FFT_C2C && !fft->forward) {
        exchange(fft->m, a, 1);
    } else if (g->window != NULL) {
        multiply(2 * fft->m, a, g->window, 1);
    }
    return true;
}

bool taper_fft_lines_store(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare)
{
    const size_t step = distance((const void *const *)g->to);
    const bool real = fft->kind != TAPER_FFT_C2C;
    if (TAPER_SMALL || fft->run->portable || step == 0 || g->to_step != 1 || g->count != LANES ||
        (real && !fft->halved) || g->twosided) {
        return false;
    }
    const float scale = (float)fft->scale, *from = a;
    if (fft->kind == TAPER_FFT_R2C) {
        const float half = scale * 0.5f;
        taper_fft_f32_select(fft->run->cpu)->part(fft->m, fft->real, half, fft->forward ? half : -half, a, spare);
        for (size_t l = 0; l < LANES; l++) { // the last, behind them
            float *y = (float *)g->to[l] + 2 * fft->m;
            y[0] = (a[l] - a[LANES + l]) * scale;
            y[1] = 0;
        }
        from = spare;
    } else if (fft->kind == TAPER_FFT_C2R || !fft->forward) {
        exchange(fft->m, a, scale);
    } else if (scale != 1) {
        multiply(2 * fft->m, a, &scale, 0);
    }
    transpose_of(fft->run->cpu)(2 * fft->m, LANES, from, LANES, g->to[0], step);
    return true;
}
