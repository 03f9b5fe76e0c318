// SPDX-License-Identifier: BSD-2-Clause
// How a product of rows and packed weights is cut: into strips of at most mr rows, which are as even as can be, and
// blocks of panels (of nr columns each). Blocks leave half the L2 cache free, so a block's weights stay there while
// strip after strip passes; they are shorter when there would be too few tiles for the threads, or tiles too long to
// wait for. Tiles are numbered block by block within a group of strips, of which there are as many as threads if there
// are strips enough: a thread then has rows of its own. Where that would read many rows again for each block, and the
// weights are fewer bytes, groups are so short that their rows stay in L2 while block after block passes.
#ifndef TAPER_OPS_TILES_H
#define TAPER_OPS_TILES_H

#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"

typedef struct taper_tiles {
    size_t strips, group;         // group: strips of one
    size_t panels, block, blocks; // block: panels of one
    size_t rows, unit;            // unit: rows, of which strips are made
    size_t even, longer;          // units of a strip; the first `longer` have one more
    size_t count;
} taper_tiles;

// row_bytes: what is read for a row and no other; 0: weights are to stay (as of bytes, whose rows are short).
// panel_bytes: the weights of a panel, in all groups of a convolution. work: the nanoseconds of the product, as for
// taper_run_range.
taper_tiles taper_tiles_make(const taper_run *run, size_t rows, size_t mr, size_t row_bytes, size_t panels,
                             size_t panel_bytes, double work);

typedef struct taper_tile {
    size_t first, count;     // rows
    size_t panel, panel_end; // panels
    size_t strip, group_first, group_end;
} taper_tile;

taper_tile taper_tile_at(const taper_tiles *tiles, size_t index);

// The tile of the next index, without the divisions. Meaningless behind the last one.
void taper_tile_next(const taper_tiles *tiles, taper_tile *tile);

// Makes one tile of it and of those behind it, `most` at most, as long as they have the same panels and the rows that
// follow. Returns how many it stands for; the next one is behind all of them.
size_t taper_tile_join(const taper_tiles *tiles, taper_tile *tile, size_t most);

// The nanoseconds of a product, by the size of the tile that its kernel keeps in registers. weights: floats that are
// read once, which is what a product of one row waits for.
static inline double taper_gemm_work(const taper_gemm_entry *entry, double flops, double weights)
{
    return 4 * flops * taper_gemm_cost(entry) / (double)(entry->mr * entry->nr) + weights / 16;
}

static inline double taper_gemm_i8_work(const taper_gemm_i8_entry *entry, double operations)
{
    return 2 * operations / (double)(entry->mr * entry->nr);
}

#endif
