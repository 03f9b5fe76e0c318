// SPDX-License-Identifier: BSD-2-Clause
// Walks over the elements of up to three quantized tensors in the rows that PyTorch's loops make of them: which
// elements are computed in its vectors decides their last bit (quantized.h). Dimensions are sorted by strides, the
// result's first, and merged; of a row without gaps as many elements are wide as fill two vectors, again and again.
#ifndef TAPER_OPS_QUANTIZED_WALK_H
#define TAPER_OPS_QUANTIZED_WALK_H

#include "ops/quantized/quantized.h"

typedef struct taper_q_row {
    void *y;
    const void *a, *b;        // b NULL: one operand
    int64_t y_at, a_at, b_at; // of the first element
    int64_t y_step, a_step, b_step;
    int64_t count, wide; // the first `wide` of count are computed as in vectors
    int64_t first;       // long rows come in pieces: the place in its row of the first element
} taper_q_row;

typedef void (*taper_q_row_function)(const void *work, const taper_q_row *row);

// y (writable), a and b (may be NULL) have the same dtype; a and b broadcast to y.
void taper_q_walk(taper_run *run, taper_tensor *y, const taper_tensor *a, const taper_tensor *b,
                  taper_q_row_function function, const void *work);

// The work of a row of products: y = q(a * b) with a's and b's zero points taken away, as rows of taper_q_multiply have
// it.
typedef struct taper_q_product {
    taper_dtype dtype;
    float multiplier; // the operands' scales over the result's
    int64_t a_point, b_point, point;
    bool relu;
    const void *kernels; // of the fast rows
} taper_q_product;

// quantized::mul and its forms. fast: does the rows of quint8 whose scaled products fit 32 bits; NULL: nothing does.
// Argument and result are as in a taper_q_row_function.
TAPER_MUST_USE taper_status taper_q_multiply(taper_call *call, bool relu, taper_q_row_function fast,
                                             const void *kernels);

// y[i] = table[x[i]]; y may be x.
void taper_q_translate(const taper_run *run, const uint8_t *table, size_t count, const uint8_t *x, uint8_t *y);
// The results of a function of one byte; taper_q_table_row, with such tables as its work, walks them.
typedef struct taper_q_tables {
    const taper_run *run;
    uint8_t plain[256], wide[256];
} taper_q_tables;
void taper_q_table_row(const void *tables, const taper_q_row *row);

// y[i] = quantize(value(dequantize(x[i]))).
typedef struct taper_q_map {
    float (*value)(const struct taper_q_map *map, float x);
    float (*value_wide)(const struct taper_q_map *map, float x); // in vectors; NULL: the same
    float p[4];                                                  // what value wants to know
    float inverse_wide; // 1 / the result's scale as vectors take it; 0: 1f / (float)scale
} taper_q_map;
// Both must have quantizers per tensor.
void taper_q_map_run(taper_run *run, const taper_q_map *map, taper_tensor *y, const taper_tensor *x);

#endif
