// SPDX-License-Identifier: BSD-2-Clause
// Divides a product of rows and packed weights into tiles. Rows are divided evenly into strips of at most mr rows, and
// weights into blocks of panels of nr columns. A block fills at most half the L2 cache, so its weights stay there while
// strip after strip uses them. Blocks are shorter if there would be too few tiles for the threads, or tiles that take
// too long.
// Tiles are numbered block by block within a group of strips. If there are enough strips, there is one group per
// thread, so a thread has its own rows. If rows would be read again for many blocks, and the weights are smaller than
// the rows, groups are short enough that their rows stay in L2 while block after block uses them.
#ifndef TAPER_OPS_TILES_H
#define TAPER_OPS_TILES_H

#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"

typedef struct taper_tiles {
    size_t strips, group;         // number of strips; number of strips in a group
    size_t panels, block, blocks; // number of panels; number of panels in a block; number of blocks
    size_t rows, unit;            // unit: every strip except the last has a multiple of `unit` rows
    size_t even, longer; // even: number of units in a strip; longer: the first `longer` strips have one unit more
    size_t count;
} taper_tiles;

// Divides a product. row_bytes is the number of bytes that are read for one row and for no other row. If it is 0, the
// weights stay in the cache, which is best for 8-bit elements, whose rows are short. panel_bytes is the number of bytes
// of a panel's weights, in all groups of a convolution. work is the time of the product in nanoseconds, as in
// taper_run_range.
taper_tiles taper_tiles_make(const taper_run *run, size_t rows, size_t mr, size_t row_bytes, size_t panels,
                             size_t panel_bytes, double work);

typedef struct taper_tile {
    size_t first, count;     // first row; number of rows
    size_t panel, panel_end; // the tile has the panels [panel, panel_end)
    size_t strip, group_first, group_end;
} taper_tile;

taper_tile taper_tile_at(const taper_tiles *tiles, size_t index);

// Replaces the tile with the next tile, without the divisions of taper_tile_at. Must not be called for the last tile.
void taper_tile_next(const taper_tiles *tiles, taper_tile *tile);

// Extends the tile by up to most - 1 tiles that follow it, have the same panels, and continue its rows. Returns the
// number of tiles that it now contains. taper_tile_next then returns the tile after all of these tiles.
size_t taper_tile_join(const taper_tiles *tiles, taper_tile *tile, size_t most);

// Returns the estimated time of a product in nanoseconds. The time depends on the size of the tile that the kernel
// keeps in registers. weights is the number of floats that are read once. Loading them takes most of the time of a
// product with one row.
static inline double taper_gemm_work(const taper_gemm_entry *entry, double flops, double weights)
{
    return 4 * flops * taper_gemm_cost(entry) / (double)(entry->mr * entry->nr) + weights / 16;
}

static inline double taper_gemm_i8_work(const taper_gemm_i8_entry *entry, double operations)
{
    return 2 * operations / (double)(entry->mr * entry->nr);
}

#endif
