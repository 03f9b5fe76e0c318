// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with WebAssembly's vectors: 4 rows by 8 columns in 8 accumulators.
#include <string.h>

#include "ops/kernels/simd_i8_wasm.h"

#define MR_MAX 4
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4)

// Stores two rows. y has the 8 columns of row 0, then the 8 columns of row 1.
TAPER_TEMPLATE void store_rows(uint8_t *c0, uint8_t *c1, v128_t y, size_t n)
{
    if (n == 8) {
        wasm_v128_store64_lane(c1, y, 1);
        wasm_v128_store64_lane(c0, y, 0);
    } else {
        uint8_t rows[16];
        wasm_v128_store(rows, y);
        memcpy(c1, rows + 8, n);
        memcpy(c0, rows, n);
    }
}

TAPER_TEMPLATE void store_floats(float *c, v128_t y, size_t n)
{
    if (n == 4) {
        wasm_v128_store(c, y);
    } else {
        float row[4];
        wasm_v128_store(row, y);
        memcpy(c, row, n * sizeof *row);
    }
}

#include "ops/kernels/gemm_i8_tmpl.h"

GEMM_I8(4x8_simd128)
GEMM_I8_WINDOWS(4x8_simd128)
