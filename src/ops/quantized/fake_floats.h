// SPDX-License-Identifier: BSD-2-Clause
// Part of fake_quantize.c: contiguous floats.
#ifndef TAPER_OPS_QUANTIZED_FAKE_FLOATS_H
#define TAPER_OPS_QUANTIZED_FAKE_FLOATS_H

// Computes fake() for contiguous floats with integer zero points, without branches or conversions. `kept` is the
// rounded number as a float; NaN, and numbers that do not fit into an int64, become the smallest int64.
static void fake_floats(const fake_work *w, const channel *c, int64_t count, const float *x, float *y, bool *mask)
{
    const float whole = 0x1p23f, point = (float)c->point;
    const double low = w->low, high = w->high;
    for (int64_t i = 0; i < count; i++) {
        const float scaled = x[i] * c->inverse, size = fabsf(scaled), near = (size + whole) - whole;
        const float rounded = point + (size < whole ? (scaled < 0 ? -near : near) : scaled);
        const double kept = (double)(fabsf(rounded) < 0x1p63f ? rounded : -0x1p63f);
        const double least = kept < low ? low : kept, clamped = least > high ? high : least;
        y[i] = (float)((clamped - c->point) * (double)c->scale);
    }
    for (int64_t i = 0; mask != NULL && i < count; i++) {
        const float scaled = x[i] * c->inverse, size = fabsf(scaled), near = (size + whole) - whole;
        const double kept = (double)(point + (size < whole ? (scaled < 0 ? -near : near) : scaled));
        mask[i] = (kept >= low) & (kept <= high);
    }
}

static bool are_floats(const fake_work *w, const taper_q_row *row)
{
    return w->dtype == TAPER_F32 && w->kind != REAL && row->a_step == 1 && row->y_step == 1 &&
           (w->scales == NULL || row->b_step == 0);
}

#endif
