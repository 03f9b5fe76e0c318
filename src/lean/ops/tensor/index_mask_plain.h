// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/index_mask_plain.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_INDEX_MASK_PLAIN_H
#define TAPER_OPS_TENSOR_INDEX_MASK_PLAIN_H

static inline bool are_plain(const taper_tensor *self, const taper_tensor *mask)
{
    (void)self, (void)mask;
    return false;
}

static inline void scatter_plain(taper_run *run, char *to, const uint8_t *flags, size_t count, const char *from,
                                 size_t item, int64_t *left)
{
    (void)run, (void)to, (void)flags, (void)count, (void)from, (void)item, (void)left;
}

#endif
