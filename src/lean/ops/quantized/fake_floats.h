// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/quantized/fake_floats.h in small builds, which omit its code.
#ifndef TAPER_OPS_QUANTIZED_FAKE_FLOATS_H
#define TAPER_OPS_QUANTIZED_FAKE_FLOATS_H

static inline void fake_floats(const fake_work *w, const channel *c, int64_t count, const float *x, float *y,
                               bool *mask)
{
    (void)w, (void)c, (void)count, (void)x, (void)y, (void)mask;
}

static inline bool are_floats(const fake_work *w, const taper_q_row *row)
{
    (void)w, (void)row;
    return false;
}

#endif
