// SPDX-License-Identifier: BSD-2-Clause
// Finds the elements that are not zero (mask_rows.h). The loops have no branches: the position of a zero element is
// written too, and the next position overwrites it.
#include "ops/engine/mask_rows.h"

#include "ops/engine/elementwise.h"

#define TYPE(type)                                                                                                     \
    static size_t pick_##type(const void *elements, size_t n, uint32_t *at)                                            \
    {                                                                                                                  \
        const type *x = elements;                                                                                      \
        size_t m = 0;                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                               \
            at[m] = (uint32_t)i;                                                                                       \
            m += x[i] != 0;                                                                                            \
        }                                                                                                              \
        return m;                                                                                                      \
    }                                                                                                                  \
    static size_t count_##type(const void *elements, size_t n)                                                         \
    {                                                                                                                  \
        const type *x = elements;                                                                                      \
        size_t m = 0;                                                                                                  \
        for (size_t from = 0; from < n; from += TAPER_MASK_PIECE) {                                                    \
            const size_t end = n - from < TAPER_MASK_PIECE ? n : from + TAPER_MASK_PIECE;                              \
            uint32_t some = 0;                                                                                         \
            TAPER_EW_VECTOR for (size_t i = from; i < end; i++)                                                        \
            {                                                                                                          \
                some += x[i] != 0;                                                                                     \
            }                                                                                                          \
            m += some;                                                                                                 \
        }                                                                                                              \
        return m;                                                                                                      \
    }
TYPE(uint8_t)
TYPE(float)
TYPE(int32_t)
TYPE(int64_t)
#undef TYPE

taper_mask_pick *taper_mask_pick_find(taper_dtype dtype)
{
    return dtype == TAPER_BOOL || dtype == TAPER_U8 ? pick_uint8_t
           : dtype == TAPER_F32                     ? pick_float
           : dtype == TAPER_I32                     ? pick_int32_t
           : dtype == TAPER_I64                     ? pick_int64_t
                                                    : NULL;
}

size_t taper_mask_count(taper_dtype dtype, const void *elements, size_t n)
{
    return dtype == TAPER_F32   ? count_float(elements, n)
           : dtype == TAPER_I32 ? count_int32_t(elements, n)
           : dtype == TAPER_I64 ? count_int64_t(elements, n)
                                : count_uint8_t(elements, n);
}
