// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/pool_max_where.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_POOL_MAX_WHERE_H
#define TAPER_OPS_NN_POOL_MAX_WHERE_H

static inline void channels_where(const max_work *work, const max_place *place, const float *in, float *out,
                                  int64_t *where)
{
    (void)work, (void)place, (void)in, (void)out, (void)where;
}

static inline bool has_where(const max_work *work, const int64_t *where, int64_t places)
{
    (void)work, (void)where, (void)places;
    return false;
}

#endif
