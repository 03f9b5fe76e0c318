// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_fold.c: floats that are contiguous along a row.
#ifndef TAPER_OPS_NN_CONV_FOLD_FLOATS_H
#define TAPER_OPS_NN_CONV_FOLD_FLOATS_H

// Adds from[i] to to[i * step]. If `beside` is not NULL and step is 2, also adds beside[i] to to[i * step + 1].
static void add_apart(float *restrict to, int64_t step, const float *restrict from, const float *restrict beside,
                      int64_t count)
{
    if (beside != NULL && step == 2) {
        for (int64_t i = 0; i < count; i++) {
            to[2 * i] += from[i];
            to[2 * i + 1] += beside[i];
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        to[i * step] += from[i];
    }
}

// Adds the rows of columns to a plane of floats. The elements of a row are contiguous, in the columns and in the plane.
// Each element of the image receives its summands in the order of the taps. With stride 2, two neighbouring taps are
// added together, because their elements alternate in the image.
static void scatter_floats(const patches *p, const char *rows, int64_t row_step, float *plane)
{
    for (int64_t kh = 0; kh < p->kernel[0]; kh++) {
        int64_t top, bottom, taken;
        blocks_inside(p, 0, kh, &top, &bottom);
        // A tap is charged even if it adds nothing, because all taps may be in the padding.
        for (int64_t kw = 0; kw < p->kernel[1] && taper_run_goes_on(p->run, 1); kw += taken, rows += taken * row_step) {
            int64_t begin, end, next_begin, next_end;
            blocks_inside(p, 1, kw, &begin, &end);
            taken = 1;
            if (p->stride[1] == 2 && p->dilation[1] == 1 && kw + 1 < p->kernel[1]) {
                blocks_inside(p, 1, kw + 1, &next_begin, &next_end);
                taken = begin == next_begin && end == next_end ? 2 : 1;
            }
            const int64_t w = begin * p->stride[1] + (kw * p->dilation[1] - p->padding[1]);
            for (int64_t oh = top; oh < bottom && begin < end && taper_run_goes_on(p->run, (uint64_t)(end - begin) * 3);
                 oh++) {
                const int64_t h = oh * p->stride[0] + (kh * p->dilation[0] - p->padding[0]);
                const float *from = (const float *)(const void *)rows + oh * p->blocks[1] + begin;
                const float *beside = taken == 2 ? from + row_step / (int64_t)sizeof(float) : NULL;
                add_apart(plane + h * p->image[1] + w, p->stride[1], from, beside, end - begin);
            }
        }
    }
}

static bool lies_apart(taper_dtype dtype, const patches *p, int64_t step)
{
    return dtype == TAPER_F32 && p->stride[1] != 1 && step == 1;
}

#endif
