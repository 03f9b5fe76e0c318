// SPDX-License-Identifier: BSD-2-Clause
// Packs the weights of winograd_i8.h into panels.
#include <string.h>

#include "ops/kernels/winograd_i8.h"

enum { PAIR = 2 * TAPER_WINOGRAD_I8_MOST_NR };

void taper_winograd_i8_pack(const taper_winograd_i8_entry *entry, const taper_winograd_i8_pack_job *job)
{
    // step of `second`: distance from the weight of a pair's first input to the weight of its second input
    const size_t pair = 2 * entry->nr, step = entry->kr, second = step == 1 ? entry->nr : 1;
    int8_t g[9 * PAIR] = {0};
    memset(job->sums, 0, entry->nr * sizeof *job->sums);
    for (size_t k = 0; k < job->depth; k += 2) {
        for (size_t n = 0; n < job->columns; n++) {
            const int8_t *w = job->w + n * job->n_stride + k * job->k_stride;
            int32_t sum = 0;
            for (size_t tap = 0; tap < 9; tap++, w += job->tap_stride) {
                g[tap * pair + step * n] = w[0];
                g[tap * pair + step * n + second] = w[job->k_stride];
                sum += w[0] + w[job->k_stride];
            }
            job->sums[n] += sum;
        }
        entry->weights(g, job->u + k / 2 * pair, job->u_stride);
    }
}
