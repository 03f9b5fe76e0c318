// SPDX-License-Identifier: BSD-2-Clause
#include "backends/cpu/tiles.h"

#include "platform/platform.h"

taper_tiles taper_tiles_make(const taper_run *run, size_t rows, size_t mr, size_t panels, size_t panel_bytes,
                             double work)
{
    taper_tiles t = {.rows = rows, .strips = (rows + mr - 1) / mr, .panels = panels};
    size_t blocks = (panels - 1) / taper_max_size(taper_cpu_l2_bytes() / 2 / panel_bytes, 1) + 1;
    const size_t wanted = taper_run_pieces(run, work);
    blocks = taper_max_size(blocks, taper_min_size((wanted - 1) / t.strips + 1, panels));
    const size_t threads = taper_pool_threads(run->pool);
    t.group = t.strips >= 2 * threads ? (t.strips - 1) / threads + 1 : t.strips;
    t.block = (panels - 1) / blocks + 1;
    t.blocks = (panels - 1) / t.block + 1;
    t.count = t.blocks * t.strips;
    return t;
}

taper_tile taper_tile_at(const taper_tiles *tiles, size_t index)
{
    const size_t first = index / (tiles->blocks * tiles->group) * tiles->group;
    const size_t in_group = index - first * tiles->blocks, strips = taper_min_size(tiles->group, tiles->strips - first);
    const size_t strip = first + in_group % strips, panel = in_group / strips * tiles->block;
    const size_t base = tiles->rows / tiles->strips, extra = tiles->rows % tiles->strips;
    return (taper_tile){strip * base + taper_min_size(strip, extra), base + (strip < extra), panel,
                        taper_min_size(panel + tiles->block, tiles->panels)};
}
