// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/view_squares.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_VIEW_SQUARES_H
#define TAPER_OPS_ENGINE_VIEW_SQUARES_H

static inline bool move_squares(size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from,
                                int64_t from_column, int64_t *tall, int64_t *wide)
{
    (void)item, (void)rows, (void)columns, (void)to, (void)to_row, (void)from, (void)from_column, (void)tall,
        (void)wide;
    return false;
}

#endif
