// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/quantized_conv_rows.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_CONV_ROWS_H
#define TAPER_BACKENDS_CPU_QUANTIZED_CONV_ROWS_H

static inline size_t run_many(const dense_plan *plan, taper_tile *t, size_t most, taper_gemm_i8 *call)
{
    (void)plan, (void)t, (void)most, (void)call;
    return 0;
}

static inline bool has_rows(const taper_gemm_i8_entry *entry)
{
    (void)entry;
    return false;
}

#endif
