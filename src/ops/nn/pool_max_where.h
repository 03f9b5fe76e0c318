// SPDX-License-Identifier: BSD-2-Clause
// Part of pool_max.c: maxima and their indices for contiguous channels, by a kernel.
#ifndef TAPER_OPS_NN_POOL_MAX_WHERE_H
#define TAPER_OPS_NN_POOL_MAX_WHERE_H

// MOST_TAPS: largest number of elements of a window in one kernel call. MERGED: number of channels whose results are
// merged at a time.
enum { MOST_TAPS = 128, MERGED = 64 };

typedef struct some_taps {
    const float *pixels[MOST_TAPS];
    int32_t at[MOST_TAPS];
    size_t count;
    bool merges; // true if there are results of earlier elements of the window to merge with
} some_taps;

static void take_taps(const max_work *work, const max_place *place, some_taps *some, float *out, int64_t *where)
{
    const size_t channels = (size_t)work->x.c;
    taper_window_f32 *const window = taper_native_select(work->run->cpu)->window_f32;
    if (!some->merges) {
        window(some->count, channels, some->pixels, some->at, (int32_t)place->first, out, where);
    }
    for (size_t first = 0; first < channels && some->merges; first += MERGED) {
        const size_t count = taper_min_size(channels - first, MERGED);
        float most[MERGED];
        int64_t position[MERGED];
        window(some->count, count, some->pixels, some->at, (int32_t)place->first, most, position);
        for (size_t c = 0; c < count; c++) {
            const bool better = (most[c] > out[first + c]) | (most[c] != most[c]);
            out[first + c] = better ? most[c] : out[first + c];
            where[first + c] = better ? position[c] : where[first + c];
        }
        for (size_t i = 0; i < some->count; i++) {
            some->pixels[i] += count;
        }
    }
    some->merges = true;
    some->count = 0;
}

// Computes the maxima of one window and their indices by a kernel. Channels are contiguous.
static void channels_where(const max_work *work, const max_place *place, const float *in, float *out, int64_t *where)
{
    const taper_volume *x = &work->x;
    some_taps some = {.count = 0};
    for (int64_t i = 0; i < place->d.taps; i++) {
        const int64_t d = place->d.first + i * place->d.step;
        for (int64_t j = 0; j < place->h.taps; j++) {
            const int64_t h = place->h.first + j * place->h.step;
            for (int64_t k = 0; k < place->w.taps; k++) {
                if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, x->c)) {
                    return;
                }
                if (some.count == MOST_TAPS) {
                    take_taps(work, place, &some, out, where);
                }
                const int64_t w = place->w.first + k * place->w.step;
                some.pixels[some.count] = in + d * x->stride[0] + h * x->stride[1] + w * x->stride[2];
                some.at[some.count++] = (int32_t)index_of(x, d, h, w);
            }
        }
    }
    take_taps(work, place, &some, out, where);
}

static bool has_where(const max_work *work, const int64_t *where, int64_t places)
{
    return !work->run->portable && where != NULL && places <= INT32_MAX;
}

#endif
