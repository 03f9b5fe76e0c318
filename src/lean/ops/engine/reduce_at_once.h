// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/reduce_at_once.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_REDUCE_AT_ONCE_H
#define TAPER_OPS_ENGINE_REDUCE_AT_ONCE_H

static inline bool is_at_once(const walk *w)
{
    (void)w;
    return false;
}

static inline bool block_at_once(walk *w, const char *from, char *to, size_t m)
{
    (void)w, (void)from, (void)to, (void)m;
    return false;
}

#endif
