// SPDX-License-Identifier: BSD-2-Clause
// Part of resize_bilinear.c: images that shrink, for which no pair of input rows is used twice.
#ifndef TAPER_OPS_NN_RESIZE_BILINEAR_PAIRS_H
#define TAPER_OPS_NN_RESIZE_BILINEAR_PAIRS_H

// Interpolates along both axes in one pass over the two input rows.
static void stretch_rows(const bilinear_job *job, const float *restrict upper, const float *restrict lower,
                         float weight, float *restrict out)
{
    const float other = 1.0f - weight;
    const stretch *restrict at = job->columns, *const end = at + job->w->output;
    for (; at < end; at++) {
        const float above = upper[at->left] * at->left_weight + upper[at->right] * at->right_weight;
        const float below = lower[at->left] * at->left_weight + lower[at->right] * at->right_weight;
        *out++ = above * other + below * weight;
    }
}

static bool are_pairs(const bilinear_job *job)
{
    return job->h->taps == 2 && job->h->input >= 2 * job->h->output;
}

#endif
