// SPDX-License-Identifier: BSD-2-Clause
// index_put with one value and one mask, in place, in a single pass over the mask and self.
#include "ops/tensor/index_fill.h"

// Stores the value where the mask, which has self's sizes, is true. Returns TAPER_DECLINED unless the mask and self are
// contiguous.
#define FILL(type)                                                                                                     \
    for (int64_t i = at; i < end; i++) {                                                                               \
        ((type *)to)[i] = flags[i] != 0 ? *(const type *)value : ((const type *)to)[i];                                \
    }
taper_status taper_index_fill_where(taper_run *run, taper_tensor *self, const taper_tensor *mask, const void *value)
{
    enum { TOGETHER = 1 << 14 };
    const size_t item = taper_tensor_item(self);
    if (self->rank != mask->rank || memcmp(self->sizes, mask->sizes, self->rank * sizeof *self->sizes) != 0 ||
        !taper_tensor_is_contiguous(self) || !taper_tensor_is_contiguous(mask) || item > sizeof(uint64_t)) {
        return TAPER_DECLINED;
    }
    void *const to = taper_tensor_mutable(self);
    const uint8_t *flags = taper_tensor_data(mask);
    const int64_t count = taper_tensor_numel(self);
    for (int64_t at = 0; at < count; at += TOGETHER) {
        const int64_t end = taper_min_i64(count, at + TOGETHER);
        TAPER_TRY(taper_run_spend(run, TOGETHER));
        switch (item) {
        case 1:
            FILL(uint8_t)
            break;
        case 2:
            FILL(uint16_t)
            break;
        case 4:
            FILL(uint32_t)
            break;
        default:
            FILL(uint64_t)
            break;
        }
    }
    return TAPER_OK;
}
#undef FILL
