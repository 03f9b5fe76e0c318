// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/elementwise_tiles.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_TILES_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_TILES_H

static inline bool taper_ew_tiles(const taper_ew_lines *w, size_t block, size_t *width, size_t *lines)
{
    (void)w, (void)block;
    *width = *lines = 0;
    return false;
}

static inline bool taper_ew_tiles_run(const taper_run *run, taper_ew_lines *w, const taper_ew_inner *inner,
                                      taper_ew_args *args, taper_ew_blocks *b, size_t block, size_t width, size_t lines)
{
    (void)run, (void)w, (void)inner, (void)args, (void)b, (void)block, (void)width, (void)lines;
    return false;
}

#endif
