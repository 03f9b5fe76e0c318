// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/index_bag_floats.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_INDEX_BAG_FLOATS_H
#define TAPER_OPS_NN_INDEX_BAG_FLOATS_H

static inline taper_status fill_float_bags(taper_run *run, const bags *b, taper_tensor *output, int64_t *bag_of,
                                           int64_t *sizes, int64_t *largest)
{
    (void)run, (void)b, (void)output, (void)bag_of, (void)sizes, (void)largest;
    return TAPER_DECLINED;
}

#endif
