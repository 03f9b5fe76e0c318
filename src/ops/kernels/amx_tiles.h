// SPDX-License-Identifier: BSD-2-Clause
// AMX: eight tile registers of 16 rows by 64 bytes, whose shapes are configured for each thread, and their products.
// Kernels name the tiles by literals, so a compiler cannot move or spill them. A kernel configures the tiles when it
// begins and releases them when it ends; between calls their contents are undefined.
//
// Some compilers do not know that a tile load reads memory. C code that wrote the memory is therefore followed by
// tiles_written(), or by tiles_configure(). Compilers know that a tile store writes memory.
//
// TAPER_AMX_EMULATED names a header that defines the same macros in C, for tests on machines without AMX.
#ifndef TAPER_KERNELS_AMX_TILES_H
#define TAPER_KERNELS_AMX_TILES_H

#include "ops/kernels/arch.h"

// Shapes of the tiles, in the format of the instruction LDTILECFG. A tile with 0 rows is not configured.
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
        __asm__ volatile("" : : "r"(shapes) : "memory"); /* makes the compiler store the shapes first */               \
        _tile_loadconfig(shapes);                                                                                      \
    } while (0)
#define tiles_release() _tile_release()
#define tile_zero(tile) _tile_zero(tile)
#define tile_load(tile, from, stride) _tile_loadd(tile, from, stride)
#define tile_store(tile, to, stride) _tile_stored(tile, to, stride)
// Computes sums += a * b. Each group of 32 bits in row k of b has elements of one column: four bytes, or two bf16.
#define tile_dot_u8s8(sums, a, b) _tile_dpbusd(sums, a, b)
#define tile_dot_bf16(sums, a, b) _tile_dpbf16ps(sums, a, b)
#endif

// Configures the tiles for a block of 32 rows by 32 columns: tiles 0 and 1 contain sums of the first 16 rows, 2 and 3
// sums of the other rows, 4 and 5 rows of A, 6 and 7 columns of weights. rows is from 1 to 32. groups is the number of
// 32-bit groups of K that one TAPER_TILE_STEP multiplies, from 1 to 16.
static inline void taper_tiles_begin(size_t rows, size_t groups)
{
    const uint8_t low = (uint8_t)(rows < 16 ? rows : 16), high = (uint8_t)(rows - low), depth = (uint8_t)groups;
    const uint16_t a = (uint16_t)(4 * groups), high_a = high != 0 ? a : 0, high_sums = high != 0 ? 64 : 0;
    const taper_tile_shapes shapes = {.palette = 1,
                                      .row_bytes = {64, 64, high_sums, high_sums, a, high_a, 64, 64},
                                      .rows = {low, low, high, high, low, high, depth, depth}};
    tiles_configure(&shapes);
}

// Computes one step of K, for ni * 16 rows of A and nj * 16 columns of weights. Rows of weights are 128 bytes apart.
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

// TAPER_TILES_BEGIN sets the sums of a block to zero if `first` is true; otherwise it loads them. TAPER_TILES_STORE
// stores them. `sums` contains rows of 32 numbers of 32 bits.
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
