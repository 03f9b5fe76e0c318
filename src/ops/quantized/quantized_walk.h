// SPDX-License-Identifier: BSD-2-Clause
// Walks over the elements of up to three quantized tensors, in the rows of PyTorch's loops. An element's last bit
// depends on whether PyTorch computes it in a vector (quantized.h). Dimensions are merged, and sorted by strides,
// beginning with the strides of the result. In a row without gaps all elements that fill pairs of vectors are `wide`:
// they are computed as PyTorch's vectors do.
#ifndef TAPER_OPS_QUANTIZED_WALK_H
#define TAPER_OPS_QUANTIZED_WALK_H

#include "ops/quantized/quantized.h"

typedef struct taper_q_row {
    void *y;
    const void *a, *b;        // operands; b is NULL if there is only one
    int64_t y_at, a_at, b_at; // index of the row's first element in each tensor
    int64_t y_step, a_step, b_step;
    int64_t count, wide; // number of elements; the first `wide` of them are computed as in PyTorch's vectors
    int64_t first;       // index of the first element within the whole row, because long rows are divided
} taper_q_row;

typedef void (*taper_q_row_function)(const void *work, const taper_q_row *row);

// Calls the function for each row. y (writable), a and b have the same dtype. a and b may be NULL. They are broadcast
// to y.
void taper_q_walk(taper_run *run, taper_tensor *y, const taper_tensor *a, const taper_tensor *b,
                  taper_q_row_function function, const void *work);

// The parameters of taper_q_multiply for rows of products: y = q(a * b), after the zero points of a and b are
// subtracted.
typedef struct taper_q_product {
    taper_dtype dtype;
    float multiplier; // product of the operands' scales divided by the result's scale
    int64_t a_point, b_point, point;
    bool relu;
    const void *kernels; // kernels for the function `fast`
} taper_q_product;

// Computes quantized::mul and its variants. fast is NULL, or computes rows of quint8 whose scaled products fit into 32
// bits.
TAPER_MUST_USE taper_status taper_q_multiply(taper_call *call, bool relu, taper_q_row_function fast,
                                             const void *kernels);

// Computes y[i] = table[x[i]]. y may be x.
void taper_q_translate(const taper_run *run, const uint8_t *table, size_t count, const uint8_t *x, uint8_t *y);
// The results of a function of one byte, for each byte. taper_q_table_row, with these tables as its argument, computes
// a row.
typedef struct taper_q_tables {
    const taper_run *run;
    uint8_t plain[256], wide[256];
} taper_q_tables;
void taper_q_table_row(const void *tables, const taper_q_row *row);

// A function to apply to each element: y[i] = quantize(value(dequantize(x[i]))).
typedef struct taper_q_map {
    float (*value)(const struct taper_q_map *map, float x);
    // Computes value() as PyTorch's vectors do. NULL if value() already computes it in this way.
    float (*value_wide)(const struct taper_q_map *map, float x);
    float p[4];         // parameters of the function `value`
    float inverse_wide; // reciprocal of the result's scale for vector code; 0 if vector code computes 1.0f /
                        // (float)scale
} taper_q_map;
// Applies the map to x. Both tensors must be quantized per tensor.
void taper_q_map_run(taper_run *run, const taper_q_map *map, taper_tensor *y, const taper_tensor *x);

#endif
