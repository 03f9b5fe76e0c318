// SPDX-License-Identifier: BSD-2-Clause
// Weighted sums of rows for one element type. resize_loops.c includes this file with ELEMENT, the type, and NAME(x), a
// unique name.

// Computes out = Σ weight[i] · row[i].
static void NAME(blend)(int64_t count, ELEMENT *restrict out, const ELEMENT *const *rows, const ELEMENT *weights,
                        int64_t taps)
{
    if (taps == 4) {
        const ELEMENT *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2], *restrict d = rows[3];
        const ELEMENT wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
        for (int64_t i = 0; i < count; i++) {
            out[i] = wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
        }
        return;
    }
    if (taps == 2) {
        const ELEMENT *restrict a = rows[0], *restrict b = rows[1];
        const ELEMENT wa = weights[0], wb = weights[1];
        for (int64_t i = 0; i < count; i++) {
            out[i] = wa * a[i] + wb * b[i];
        }
        return;
    }
    for (int64_t t = 0; t < taps; t++) {
        const ELEMENT *restrict a = rows[t];
        const ELEMENT w = weights[t];
        if (t == 0) {
            for (int64_t i = 0; i < count; i++) {
                out[i] = w * a[i];
            }
        } else {
            for (int64_t i = 0; i < count; i++) {
                out[i] += w * a[i];
            }
        }
    }
}

// Interpolates an input row along the width. group is the number of contiguous elements of a position: the channels of
// a pixel, or 1.
static void NAME(row)(const taper_resize_axis *axis, int64_t group, const ELEMENT *in, int64_t stride,
                      ELEMENT *restrict out)
{
    const int64_t *index = axis->index, taps = axis->taps;
    const double *weight = axis->weight;
    if (group > 1) {
        for (int64_t w = 0; w < axis->output; w++, index += taps, weight += taps, out += group) {
            const ELEMENT *pixels[ROWS];
            ELEMENT weights[ROWS];
            for (int64_t t = 0; t < taps; t++) {
                pixels[t] = in + index[t] * stride;
                weights[t] = (ELEMENT)weight[t];
            }
            NAME(blend)(group, out, pixels, weights, taps);
        }
        return;
    }
    if (taps == 2) {
        for (int64_t w = 0; w < axis->output; w++, index += 2, weight += 2) {
            out[w] = (ELEMENT)weight[0] * in[index[0] * stride] + (ELEMENT)weight[1] * in[index[1] * stride];
        }
        return;
    }
    for (int64_t w = 0; w < axis->output; w++) {
        ELEMENT sum = 0;
        for (int64_t t = 0; t < taps; t++, index++, weight++) {
            sum += (ELEMENT)*weight * in[*index * stride];
        }
        out[w] = sum;
    }
}

// Interpolates along all axes. `rows` has space for ROWS rows that are interpolated along the width. An
// interpolated row is kept for the next output rows.
static void NAME(weighted)(taper_run *run, const taper_resize_axis *axes, int64_t group, const taper_volume *x,
                           const ELEMENT *in, const taper_volume *y, ELEMENT *out, ELEMENT *rows)
{
    int64_t held[ROWS];
    for (int i = 0; i < ROWS; i++) {
        held[i] = -1;
    }
    const int64_t wide = axes[2].output * group, taps = axes[0].taps * axes[1].taps;
    for (int64_t d = 0; d < axes[0].output; d++) {
        for (int64_t h = 0; h < axes[1].output && taper_run_goes_on(run, (uint64_t)wide * 5 + 50); h++) {
            int64_t want[ROWS], slot[ROWS];
            ELEMENT weights[ROWS];
            const ELEMENT *pointers[ROWS];
            bool busy[ROWS] = {false};
            for (int64_t t = 0; t < taps; t++) {
                const int64_t i = d * axes[0].taps + t / axes[1].taps, j = h * axes[1].taps + t % axes[1].taps;
                want[t] = axes[0].index[i] * x->stride[0] + axes[1].index[j] * x->stride[1];
                weights[t] = (ELEMENT)axes[0].weight[i] * (ELEMENT)axes[1].weight[j];
                slot[t] = -1;
                for (int64_t s = 0; s < ROWS; s++) {
                    if (held[s] == want[t]) {
                        slot[t] = s;
                        busy[s] = true;
                        break;
                    }
                }
            }
            for (int64_t t = 0; t < taps; t++) {
                for (int64_t s = 0; s < ROWS && slot[t] < 0; s++) { // an earlier tap may have filled this slot
                    if (held[s] == want[t]) {
                        slot[t] = s;
                    }
                }
                for (int64_t s = 0; s < ROWS && slot[t] < 0; s++) {
                    if (!busy[s]) {
                        NAME(row)(&axes[2], group, in + want[t], x->stride[2], rows + s * wide);
                        held[s] = want[t];
                        busy[s] = true;
                        slot[t] = s;
                    }
                }
                pointers[t] = rows + slot[t] * wide;
            }
            ELEMENT *to = out + d * y->stride[0] + h * y->stride[1];
            if (y->stride[2] == group) {
                NAME(blend)(wide, to, pointers, weights, taps);
                continue;
            }
            for (int64_t w = 0; w < axes[2].output; w++) {
                const ELEMENT *pixels[ROWS];
                for (int64_t t = 0; t < taps; t++) {
                    pixels[t] = pointers[t] + w * group;
                }
                NAME(blend)(group, to + w * y->stride[2], pixels, weights, taps);
            }
        }
    }
}
