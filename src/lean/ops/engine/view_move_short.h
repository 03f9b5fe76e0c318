// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/view_move_short.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_VIEW_MOVE_SHORT_H
#define TAPER_OPS_ENGINE_VIEW_MOVE_SHORT_H

static inline bool move_short_lines(size_t item, const move_dim *outer, const move_dim *inner, char *to,
                                    const char *from)
{
    (void)item, (void)outer, (void)inner, (void)to, (void)from;
    return false;
}

static inline void move_rows(size_t bytes, const move_dim *outer, char *to, const char *from)
{
    for (int64_t i = 0; i < outer->size; i++) {
        memcpy(to + i * outer->to, from + i * outer->from, bytes);
    }
}

static inline bool is_few(double elements, double most)
{
    (void)elements, (void)most;
    return false;
}

static inline size_t pick_long(const move_dim *dims, size_t n, size_t pick)
{
    (void)dims, (void)n;
    return pick;
}

#endif
