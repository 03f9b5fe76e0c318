// SPDX-License-Identifier: BSD-2-Clause
// Tests how matrix products are divided into tiles: each row must meet each panel once, in any order, and the operand
// that is read most often must stay in the cache.
#include <string.h>

#include "ops/engine/tiles.h"
#include "tests/unit/heap_fixture.h"

enum { ROWS = 300, PANELS = 24 };

typedef struct cut {
    size_t rows, mr, row_bytes, panels, panel_bytes;
    double work;
} cut;

static taper_tiles make(const taper_run *run, const cut *c)
{
    return taper_tiles_make(run, c->rows, c->mr, c->row_bytes, c->panels, c->panel_bytes, c->work);
}

static void mark(const taper_tile *tile, const cut *c, uint8_t seen[ROWS][PANELS])
{
    assert_true(tile->count > 0 && tile->first + tile->count <= c->rows);
    assert_true(tile->panel < tile->panel_end && tile->panel_end <= c->panels);
    for (size_t r = tile->first; r < tile->first + tile->count; r++) {
        for (size_t p = tile->panel; p < tile->panel_end; p++) {
            seen[r][p]++;
        }
    }
}

static void expect_once(const cut *c, uint8_t seen[ROWS][PANELS])
{
    for (size_t r = 0; r < c->rows; r++) {
        for (size_t p = 0; p < c->panels; p++) {
            assert_int_equal(seen[r][p], 1);
        }
    }
    memset(seen, 0, ROWS * sizeof *seen);
}

// Visits all tiles twice, first one by one and then in ranges of 5, where adjacent tiles are joined. Each visit must
// cover each row and panel once.
static void walk(const taper_run *run, const cut *c)
{
    static uint8_t seen[ROWS][PANELS];
    const taper_tiles tiles = make(run, c);
    taper_tile next = taper_tile_at(&tiles, 0);
    for (size_t i = 0; i < tiles.count; i++, taper_tile_next(&tiles, &next)) {
        const taper_tile tile = taper_tile_at(&tiles, i);
        assert_true(tile.count <= c->mr);
        assert_true(tile.first == next.first && tile.count == next.count && tile.panel == next.panel &&
                    tile.panel_end == next.panel_end);
        mark(&tile, c, seen);
    }
    expect_once(c, seen);
    for (size_t begin = 0, end; begin < tiles.count; begin = end) {
        end = taper_min_size(begin + 5, tiles.count);
        taper_tile tile = taper_tile_at(&tiles, begin);
        for (size_t i = begin; i < end; taper_tile_next(&tiles, &tile)) {
            i += taper_tile_join(&tiles, &tile, end - i);
            assert_true(i <= end);
            mark(&tile, c, seen);
        }
    }
    expect_once(c, seen);
}

static void once(void **state)
{
    (void)state;
    static const size_t bytes[] = {0, 64, 4 << 10, 100 << 10, 4 << 20};
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        taper_run run = {0};
        assert_int_equal(taper_pool_create(&taper_allocator_system, threads, NULL, &run.pool, NULL), TAPER_OK);
        for (size_t i = 0; i < 5 * 5 * 4; i++) {
            const cut c = {.rows = 1 + i * 37 % ROWS,
                           .mr = 1 + i % 14,
                           .row_bytes = bytes[i % 5],
                           .panels = 1 + i * 5 % PANELS,
                           .panel_bytes = 1 + bytes[i / 5 % 5],
                           .work = i % 2 == 0 ? 1e3 : 1e7};
            walk(&run, &c);
        }
        taper_pool_destroy(run.pool);
    }
}

// Without a thread pool, the L2 cache is assumed to have 512 KB.
static void what_stays(void **state)
{
    (void)state;
    const taper_run run = {0};
    cut c = {.rows = 4225, .mr = 14, .row_bytes = 8 << 10, .panels = 16, .panel_bytes = 2049 * 32 * 4, .work = 1e7};
    // A layer from 2048 to 512 channels on 65 x 65 pixels: two strips need half of the cache.
    taper_tiles tiles = make(&run, &c);
    assert_int_equal(tiles.group, 2);
    assert_int_equal(tiles.block, 1);
    c.row_bytes = 0; // the rows are small, so the weights stay in the cache
    tiles = make(&run, &c);
    assert_int_equal(tiles.group, tiles.strips);
    c.row_bytes = 8 << 10;
    c.rows = 49; // the rows have fewer bytes than the weights
    tiles = make(&run, &c);
    assert_int_equal(tiles.group, tiles.strips);
    c.rows = 4225;
    c.row_bytes = 16 << 10; // two strips are larger than the cache
    tiles = make(&run, &c);
    assert_int_equal(tiles.group, tiles.strips);
    c.row_bytes = 256;
    c.panel_bytes = 65 * 32 * 4; // all weights fit in one block
    tiles = make(&run, &c);
    assert_int_equal(tiles.group, tiles.strips);
    assert_int_equal(tiles.blocks, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once), cmocka_unit_test(what_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
