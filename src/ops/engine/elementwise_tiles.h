// SPDX-License-Identifier: BSD-2-Clause
// The tiles of the elementwise engine. A tile computes many short lines at a time. Include this file after
// elementwise_walk.h.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_TILES_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_TILES_H

// Chooses a tile of *lines lines, which are neighbours along dimension 1, with *width elements of each line. Returns
// false if lines must run one by one: if they are long enough, or if a line reads elements that an earlier line writes.
bool taper_ew_tiles(const taper_ew_lines *w, size_t block, size_t *width, size_t *lines);
// Computes `lines` lines in tiles. They begin at the current addresses of the sides (the result and the inputs).
// Returns false if the run must end.
bool taper_ew_tiles_run(const taper_run *run, taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args,
                        taper_ew_blocks *b, size_t block, size_t width, size_t lines);

#endif
