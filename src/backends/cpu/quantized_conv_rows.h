// SPDX-License-Identifier: BSD-2-Clause
// Part of quantized_conv_dense.c: kernels that compute any number of rows in one call.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_CONV_ROWS_H
#define TAPER_BACKENDS_CPU_QUANTIZED_CONV_ROWS_H

// Computes up to `most` consecutive strips in one call, if the kernel accepts all their rows. Returns the number of
// strips, or 0 if the kernel does not accept them.
static size_t run_many(const dense_plan *plan, taper_tile *t, size_t most, taper_gemm_i8 *call)
{
    const uint8_t *const first = plan->head.job->x + t->first * plan->head.job->in_c;
    taper_tile all = *t;
    const size_t joined = taper_tile_join(&plan->tiles, &all, most);
    taper_gemm_i8 many = *call;
    many.a = &first;
    aim(plan, &all, 0, &many);
    if (!plan->entry->rows(&many)) {
        return 0;
    }
    *t = all;
    return joined;
}

static bool has_rows(const taper_gemm_i8_entry *entry)
{
    return entry->rows != NULL;
}

#endif
