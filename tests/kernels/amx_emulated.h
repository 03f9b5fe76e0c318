// SPDX-License-Identifier: BSD-2-Clause
// Implements the operations of amx_tiles.h in C. Each thread has its own tiles. Code that would raise an exception on a
// CPU calls abort. Bytes of a tile that no load has written are zero, as on a CPU.
#ifndef TAPER_TESTS_AMX_EMULATED_H
#define TAPER_TESTS_AMX_EMULATED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct emulated_tile {
    uint8_t at[16][64];
} emulated_tile;

static _Thread_local struct {
    taper_tile_shapes shapes; // shapes of the thread's tiles; palette 0 means that no shapes are set
    emulated_tile tiles[8];
} emulated;

static inline void emulated_check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "AMX, emulated: %s\n", what);
        abort();
    }
}

static inline void tiles_configure(const taper_tile_shapes *shapes)
{
    static const uint8_t none[14];
    emulated_check(shapes->palette == 1 && shapes->start_row == 0 && memcmp(shapes->reserved, none, 14) == 0,
                   "head of the configuration");
    for (size_t i = 0; i < 16; i++) {
        const size_t rows = shapes->rows[i], bytes = shapes->row_bytes[i];
        emulated_check(i < 8 ? rows <= 16 && bytes <= 64 && (rows == 0) == (bytes == 0) : rows == 0 && bytes == 0,
                       "shape of a tile");
    }
    emulated.shapes = *shapes;
    memset(emulated.tiles, 0, sizeof emulated.tiles);
}

static inline void tiles_release(void)
{
    memset(&emulated, 0, sizeof emulated);
}

static inline void tiles_written(void)
{
}

static inline size_t emulated_rows(size_t tile)
{
    emulated_check(emulated.shapes.palette == 1 && tile < 8 && emulated.shapes.rows[tile] != 0,
                   "tile that is not there");
    return emulated.shapes.rows[tile];
}

static inline void tile_zero(size_t tile)
{
    (void)emulated_rows(tile);
    memset(&emulated.tiles[tile], 0, sizeof emulated.tiles[tile]);
}

static inline void tile_load(size_t tile, const void *from, size_t stride)
{
    const size_t rows = emulated_rows(tile);
    tile_zero(tile);
    for (size_t i = 0; i < rows; i++)
        memcpy(emulated.tiles[tile].at[i], (const char *)from + i * stride, emulated.shapes.row_bytes[tile]);
}

static inline void tile_store(size_t tile, void *to, size_t stride)
{
    for (size_t i = 0; i < emulated_rows(tile); i++)
        memcpy((char *)to + i * stride, emulated.tiles[tile].at[i], emulated.shapes.row_bytes[tile]);
}

static inline void emulated_fit(size_t sums, size_t a, size_t b)
{
    emulated_check(sums != a && sums != b && a != b, "one tile twice");
    emulated_check(emulated_rows(sums) == emulated_rows(a) &&
                       emulated.shapes.row_bytes[sums] == emulated.shapes.row_bytes[b] &&
                       emulated.shapes.row_bytes[a] == 4 * emulated_rows(b),
                   "shapes that do not fit");
}

static inline void tile_dot_u8s8(size_t sums, size_t a, size_t b)
{
    emulated_fit(sums, a, b);
    const size_t columns = emulated.shapes.row_bytes[sums] / 4u;
    for (size_t i = 0; i < emulated_rows(sums); i++) {
        for (size_t n = 0; n < columns; n++) {
            uint32_t sum;
            memcpy(&sum, emulated.tiles[sums].at[i] + 4 * n, 4);
            for (size_t k = 0; k < emulated.shapes.row_bytes[a]; k++) {
                const int32_t w = (int8_t)emulated.tiles[b].at[k / 4][4 * n + k % 4];
                sum += (uint32_t)(emulated.tiles[a].at[i][k] * w);
            }
            memcpy(emulated.tiles[sums].at[i] + 4 * n, &sum, 4);
        }
    }
}

// Returns the bfloat16 number as a float. A denormal number becomes zero.
static inline float emulated_bf16(const uint8_t *at)
{
    uint32_t bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 24;
    float x;
    if ((bits & 0x7F800000) == 0)
        bits &= 0x80000000;
    memcpy(&x, &bits, 4);
    return x;
}

static inline void tile_dot_bf16(size_t sums, size_t a, size_t b)
{
    emulated_fit(sums, a, b);
    const size_t columns = emulated.shapes.row_bytes[sums] / 4u;
    for (size_t i = 0; i < emulated_rows(sums); i++) {
        for (size_t n = 0; n < columns; n++) {
            float sum, of[2] = {0, 0};
            memcpy(&sum, emulated.tiles[sums].at[i] + 4 * n, 4);
            for (size_t k = 0; k < emulated_rows(b); k++) {
                for (size_t e = 0; e < 2; e++)
                    of[e] += emulated_bf16(emulated.tiles[a].at[i] + 4 * k + 2 * e) *
                             emulated_bf16(emulated.tiles[b].at[k] + 4 * n + 2 * e);
            }
            sum += of[0] + of[1];
            memcpy(emulated.tiles[sums].at[i] + 4 * n, &sum, 4);
        }
    }
}

#endif
