// SPDX-License-Identifier: BSD-2-Clause
// Short lines of the elementwise engine, many at once. Included behind elementwise_walk.h.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_TILES_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_TILES_H

// How many elements of how many lines, neighbours along dimension 1, a tile has; false: lines are long enough to be
// done one by one, or must be, as the result lies over an input in another order.
bool taper_ew_tiles(const taper_ew_lines *w, size_t block, size_t *width, size_t *lines);
// Computes `lines` lines from the sides' data on, in tiles. False: the run is to end.
bool taper_ew_tiles_run(const taper_run *run, taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args,
                        taper_ew_blocks *b, size_t block, size_t width, size_t lines);

#endif
