// SPDX-License-Identifier: BSD-2-Clause
// The cells of recurrent networks in float32 (recurrent_cells.h).
#include "ops/nn/recurrent_cells.h"

#include <math.h>

void taper_plain_cell(const taper_vector_entry *vector, bool relu, size_t count, const float *gates, float *h)
{
    static const float from_zero[] = {0.0f, INFINITY};
    vector->unary[relu ? TAPER_UNARY_CLAMP : TAPER_UNARY_TANH](count, gates, h, from_zero);
}

void taper_rnn_cells(const taper_vector_entry *vector, taper_rnn_kind kind, int64_t rows, int64_t hidden, float *gates,
                     const float *of_state, float *c, float *h)
{
    const size_t n = (size_t)hidden;
    for (int64_t r = 0; r < rows; r++, h += n) {
        if (kind == TAPER_RNN_LSTM) {
            vector->lstm_cell(n, gates, n, c, h);
            gates += 4 * n;
            c += n;
        } else if (kind == TAPER_RNN_GRU) {
            for (size_t j = 0; j < 2 * n; j++) {
                gates[j] += of_state[j];
            }
            vector->gru_cell(n, gates, n, of_state + 2 * n, h, h);
            gates += 3 * n;
            of_state += 3 * n;
        } else {
            taper_plain_cell(vector, kind == TAPER_RNN_RELU, n, gates, h);
            gates += n;
        }
    }
}
