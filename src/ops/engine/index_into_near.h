// SPDX-License-Identifier: BSD-2-Clause
// Part of index_into.c: chooses how many of the last dimensions are handled together because they have few elements.
#ifndef TAPER_OPS_ENGINE_INDEX_INTO_NEAR_H
#define TAPER_OPS_ENGINE_INDEX_INTO_NEAR_H

static void take_near(const taper_tensor *mask, size_t *first, int64_t *all)
{
    while (*first != 0 && *all > 0 && mask->sizes[*first - 1] <= TAPER_MASK_PIECE / *all) {
        *all *= mask->sizes[--*first];
    }
}

#endif
