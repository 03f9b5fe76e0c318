// SPDX-License-Identifier: BSD-2-Clause
// Two rows of an input, stretched to the output's width, between which the rows of the output lie: what interpolation
// keeps from one output row to the next.
#ifndef TAPER_OPS_RESIZE_ROWS_H
#define TAPER_OPS_RESIZE_ROWS_H

#include <stdint.h>

typedef struct taper_row_pair {
    float *rows[2];  // upper and lower
    int64_t held[2]; // which rows of the input these are; -1: none
} taper_row_pair;

// What was the lower row becomes the upper one where that is wanted. The caller then fills the rows that are not held.
static inline void taper_row_pair_want(taper_row_pair *pair, const int64_t *want)
{
    if (pair->held[1] == want[0] && pair->held[0] != want[0]) {
        float *const row = pair->rows[0];
        pair->rows[0] = pair->rows[1];
        pair->rows[1] = row;
        pair->held[1] = pair->held[0];
        pair->held[0] = want[0];
    }
}

#endif
