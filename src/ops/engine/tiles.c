// SPDX-License-Identifier: BSD-2-Clause
// Divides a product of rows and packed weights into tiles, and numbers the tiles in the order of execution.
#include "ops/engine/tiles.h"
#include "ops/kernels/strips.h"

// Returns the number of strips in a group whose rows fit into `half`, half of the L2 cache. Returns 0 if the weights
// should stay in the cache instead: if they are one block, if they have more bytes than all rows, or if a single strip
// per pass would not hide the time to load them.
static size_t strips_that_stay(size_t half, size_t blocks, uint64_t rows, size_t strip, uint64_t weights)
{
    return blocks == 1 || rows <= weights || strip == 0 || strip > half / 2 ? 0 : half / strip;
}

taper_tiles taper_tiles_make(const taper_run *run, size_t rows, size_t mr, size_t row_bytes, size_t panels,
                             size_t panel_bytes, double work)
{
    const size_t unit = mr > 1 ? TAPER_STRIP_UNIT : 1;
    mr -= mr % unit;
    taper_tiles t = {.strips = (rows + mr - 1) / mr, .panels = panels, .rows = rows, .unit = unit};
    const size_t half = taper_pool_caches(run->pool).l2 / 2;
    size_t blocks = (panels - 1) / taper_max_size(half / panel_bytes, 1) + 1;
    const size_t stay =
        strips_that_stay(half, blocks, (uint64_t)rows * row_bytes, mr * row_bytes, (uint64_t)panels * panel_bytes);
    blocks = stay != 0 ? (panels - 1) / taper_max_size(half / 2 / panel_bytes, 1) + 1 : blocks;
    const size_t wanted = taper_run_pieces(run, work);
    blocks = taper_max_size(blocks, taper_min_size((wanted - 1) / t.strips + 1, panels));
    const size_t threads = taper_pool_threads(run->pool);
    t.group = t.strips >= 2 * threads ? (t.strips - 1) / threads + 1 : t.strips;
    t.group = stay != 0 ? taper_min_size(t.group, stay) : t.group;
    t.block = (panels - 1) / blocks + 1;
    t.blocks = (panels - 1) / t.block + 1;
    const size_t units = (rows + unit - 1) / unit;
    t.even = units / t.strips;
    t.longer = units % t.strips;
    t.count = t.blocks * t.strips;
    return t;
}

static void take_strip(const taper_tiles *tiles, taper_tile *tile, size_t strip)
{
    tile->strip = strip;
    tile->first = tiles->unit * (strip * tiles->even + taper_min_size(strip, tiles->longer));
    tile->count = taper_min_size(tiles->unit * (tiles->even + (strip < tiles->longer)), tiles->rows - tile->first);
}

taper_tile taper_tile_at(const taper_tiles *tiles, size_t index)
{
    taper_tile tile = {.group_first = index / (tiles->blocks * tiles->group) * tiles->group};
    tile.group_end = taper_min_size(tile.group_first + tiles->group, tiles->strips);
    const size_t in_group = index - tile.group_first * tiles->blocks, strips = tile.group_end - tile.group_first;
    tile.panel = in_group / strips * tiles->block;
    tile.panel_end = taper_min_size(tile.panel + tiles->block, tiles->panels);
    take_strip(tiles, &tile, tile.group_first + in_group % strips);
    return tile;
}

void taper_tile_next(const taper_tiles *tiles, taper_tile *tile)
{
    size_t strip = tile->strip + 1;
    if (strip == tile->group_end) {
        if (tile->panel_end == tiles->panels) {
            tile->group_first = strip;
            tile->group_end = taper_min_size(strip + tiles->group, tiles->strips);
            tile->panel_end = 0;
        }
        strip = tile->group_first;
        tile->panel = tile->panel_end;
        tile->panel_end = taper_min_size(tile->panel + tiles->block, tiles->panels);
    }
    take_strip(tiles, tile, strip);
}

size_t taper_tile_join(const taper_tiles *tiles, taper_tile *tile, size_t most)
{
    const size_t first = tile->first, joined = taper_min_size(most, tile->group_end - tile->strip);
    take_strip(tiles, tile, tile->strip + joined - 1);
    tile->count += tile->first - first;
    tile->first = first;
    return joined;
}
