// SPDX-License-Identifier: BSD-2-Clause
// AMX: eight registers of 16 rows by 64 bytes, tiles, whose shapes are configured for each thread, and their products.
// Kernels number the tiles by literals, so no compiler moves or spills them. A kernel configures them when it begins
// and releases them in the end, since between calls they are nobody's.
//
// Some compilers do not see that loads of tiles read memory: what C wrote is there behind tiles_written(), and behind
// tiles_configure(). Stores they know.
//
// TAPER_AMX_EMULATED names a header that has the same words in C, for tests on machines without AMX.
#ifndef TAPER_KERNELS_AMX_TILES_H
#define TAPER_KERNELS_AMX_TILES_H

#include "ops/kernels/arch.h"

// As the instruction reads it. Tiles without rows are not there.
typedef struct taper_tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} taper_tile_shapes;

#ifdef TAPER_AMX_EMULATED
#include TAPER_AMX_EMULATED
#else
#include <immintrin.h>

#define tiles_written() __asm__ volatile("" ::: "memory")
#define tiles_configure(shapes)                                                                                        \
    do {                                                                                                               \
        __asm__ volatile("" : : "r"(shapes) : "memory"); /* the compiler is to write all of it */                      \
        _tile_loadconfig(shapes);                                                                                      \
    } while (0)
#define tiles_release() _tile_release()
#define tile_zero(tile) _tile_zero(tile)
#define tile_load(tile, from, stride) _tile_loadd(tile, from, stride)
#define tile_store(tile, to, stride) _tile_stored(tile, to, stride)
// sums += a * b, where each 32 bits of b's row k are elements of one column: four of bytes, two of bf16.
#define tile_dot_u8s8(sums, a, b) _tile_dpbusd(sums, a, b)
#define tile_dot_bf16(sums, a, b) _tile_dpbf16ps(sums, a, b)
#endif

// Configures the tiles of a block of 32 rows by 32 columns: sums 0 and 1 of the first 16 rows, 2 and 3 of the others, 4
// and 5 the rows of A, 6 and 7 the columns of weights. groups: of 32 bits of K in a step, 1 to 16; rows: 1 to 32.
static inline void taper_tiles_begin(size_t rows, size_t groups)
{
    const uint8_t low = (uint8_t)(rows < 16 ? rows : 16), high = (uint8_t)(rows - low), depth = (uint8_t)groups;
    const uint16_t a = (uint16_t)(4 * groups), high_a = high != 0 ? a : 0, high_sums = high != 0 ? 64 : 0;
    const taper_tile_shapes shapes = {.palette = 1,
                                      .row_bytes = {64, 64, high_sums, high_sums, a, high_a, 64, 64},
                                      .rows = {low, low, high, high, low, high, depth, depth}};
    tiles_configure(&shapes);
}

// One step of K: ni * 16 rows of A, nj * 16 columns of weights, whose rows are 128 bytes apart.
#define TAPER_TILE_STEP(dot, ni, nj, a, a_second, a_stride, w)                                                         \
    do {                                                                                                               \
        tile_load(4, a, a_stride);                                                                                     \
        tile_load(6, w, 128);                                                                                          \
        dot(0, 4, 6);                                                                                                  \
        if ((nj) > 1) {                                                                                                \
            tile_load(7, (w) + 64, 128);                                                                               \
            dot(1, 4, 7);                                                                                              \
        }                                                                                                              \
        if ((ni) > 1) {                                                                                                \
            tile_load(5, (a) + (a_second), a_stride);                                                                  \
            dot(2, 5, 6);                                                                                              \
            if ((nj) > 1)                                                                                              \
                dot(3, 5, 7);                                                                                          \
        }                                                                                                              \
    } while (0)

// The sums of a block, in rows of 32 numbers of 32 bits: nothing yet, or what was stored.
#define TAPER_TILES_BEGIN(ni, nj, first, sums)                                                                         \
    do {                                                                                                               \
        if (first) {                                                                                                   \
            tile_zero(0);                                                                                              \
            if ((nj) > 1)                                                                                              \
                tile_zero(1);                                                                                          \
            if ((ni) > 1)                                                                                              \
                tile_zero(2);                                                                                          \
            if ((ni) > 1 && (nj) > 1)                                                                                  \
                tile_zero(3);                                                                                          \
        } else {                                                                                                       \
            tile_load(0, sums, 128);                                                                                   \
            if ((nj) > 1)                                                                                              \
                tile_load(1, (sums) + 16, 128);                                                                        \
            if ((ni) > 1)                                                                                              \
                tile_load(2, (sums) + 512, 128);                                                                       \
            if ((ni) > 1 && (nj) > 1)                                                                                  \
                tile_load(3, (sums) + 528, 128);                                                                       \
        }                                                                                                              \
    } while (0)

#define TAPER_TILES_STORE(ni, nj, sums)                                                                                \
    do {                                                                                                               \
        tile_store(0, sums, 128);                                                                                      \
        if ((nj) > 1)                                                                                                  \
            tile_store(1, (sums) + 16, 128);                                                                           \
        if ((ni) > 1)                                                                                                  \
            tile_store(2, (sums) + 512, 128);                                                                          \
        if ((ni) > 1 && (nj) > 1)                                                                                      \
            tile_store(3, (sums) + 528, 128);                                                                          \
    } while (0)

#endif
