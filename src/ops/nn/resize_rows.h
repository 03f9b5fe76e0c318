// SPDX-License-Identifier: BSD-2-Clause
// A pair of input rows, interpolated to the output's width. The output rows between the two input rows are blended from
// the pair, so the pair is kept from one output row to the next.
#ifndef TAPER_OPS_RESIZE_ROWS_H
#define TAPER_OPS_RESIZE_ROWS_H

#include <stdint.h>

typedef struct taper_row_pair {
    float *rows[2];  // memory of the upper row and of the lower row
    int64_t held[2]; // index of each row in the input; -1 if no row is stored
} taper_row_pair;

// Moves the lower row to the upper row's memory if the next pair starts with it. The caller then fills the rows whose
// index is not the wanted one.
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
