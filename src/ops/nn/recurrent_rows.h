// SPDX-License-Identifier: BSD-2-Clause
// Biases of recurrent layers for one type: included by recurrent_layer.c with ELEMENT and NAME(x).

// Every row starts as the bias (zeros without one).
static void NAME(start_rows)(ELEMENT *to, int64_t rows, int64_t columns, const ELEMENT *bias, int64_t bias_step)
{
    for (int64_t r = 0; r < rows; r++, to += columns) {
        for (int64_t j = 0; j < columns; j++) {
            to[j] = bias == NULL ? 0 : bias[j * bias_step];
        }
    }
}

static void NAME(add_row)(ELEMENT *to, int64_t rows, int64_t columns, const ELEMENT *bias, int64_t bias_step)
{
    for (int64_t r = 0; r < rows; r++, to += columns) {
        for (int64_t j = 0; j < columns; j++) {
            to[j] += bias[j * bias_step];
        }
    }
}
