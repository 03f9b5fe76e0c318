// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/view_move_turned.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_VIEW_MOVE_TURNED_H
#define TAPER_OPS_ENGINE_VIEW_MOVE_TURNED_H

static inline void move_turned(size_t item, int64_t *n, char **to, int64_t to_step, const char **from,
                               int64_t from_step)
{
    (void)item, (void)n, (void)to, (void)to_step, (void)from, (void)from_step;
}

#endif
