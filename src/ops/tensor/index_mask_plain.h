// SPDX-License-Identifier: BSD-2-Clause
// Part of index_mask.c: contiguous masks and tensors.
#ifndef TAPER_OPS_TENSOR_INDEX_MASK_PLAIN_H
#define TAPER_OPS_TENSOR_INDEX_MASK_PLAIN_H

static bool are_plain(const taper_tensor *self, const taper_tensor *mask)
{
    return taper_tensor_is_contiguous(self) && taper_tensor_is_contiguous(mask);
}

// Does what masked_scatter does for contiguous tensors, in pieces of the mask. *left becomes -1 if the source has too
// few elements.
static void scatter_plain(taper_run *run, char *to, const uint8_t *flags, size_t count, const char *from, size_t item,
                          int64_t *left)
{
    taper_mask_pick *const pick = taper_mask_pick_find(TAPER_BOOL);
    uint32_t at[TAPER_MASK_PIECE];
    for (size_t done = 0; done < count && *left >= 0 && taper_run_goes_on(run, TAPER_MASK_PIECE * 2);
         done += TAPER_MASK_PIECE, to += TAPER_MASK_PIECE * item) {
        size_t n = pick(flags + done, taper_min_size(TAPER_MASK_PIECE, count - done), at);
        const bool wanting = (int64_t)n > *left;
        n = wanting ? (size_t)*left : n;
        if (item == 4) {
            for (size_t k = 0; k < n; k++) {
                memcpy(to + 4 * (size_t)at[k], from + 4 * k, 4);
            }
        } else {
            for (size_t k = 0; k < n; k++) {
                memcpy(to + item * (size_t)at[k], from + item * k, item);
            }
        }
        from += n * item;
        *left = wanting ? -1 : *left - (int64_t)n;
    }
}

#endif
