// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of recurrent cells for one type. recurrent_layer.c and quantized_recurrent.c include this file with
// ELEMENT, NAME(x), EXP and TANH. A run whose `portable` is false computes float32 by recurrent_cells.h instead.

static ELEMENT NAME(sigmoid)(ELEMENT x)
{
    return 1 / (1 + EXP(-x));
}

// Computes h = tanh(gates), or relu(gates) if `relu` is set, for rows of `hidden` elements.
static void NAME(plain_cell)(bool relu, int64_t rows, int64_t hidden, const ELEMENT *gates, ELEMENT *h)
{
    for (int64_t i = 0; i < rows * hidden; i++) {
        h[i] = !relu ? TANH(gates[i]) : gates[i] < 0 ? 0 : gates[i];
    }
}

// Updates c and h. The gates of a row are input, forget, cell and output.
static void NAME(lstm_cell)(int64_t rows, int64_t hidden, const ELEMENT *gates, ELEMENT *c, ELEMENT *h)
{
    for (int64_t r = 0; r < rows; r++, gates += 4 * hidden) {
        for (int64_t j = 0; j < hidden; j++) {
            const ELEMENT in = NAME(sigmoid)(gates[j]), forget = NAME(sigmoid)(gates[hidden + j]);
            const ELEMENT cell = TANH(gates[2 * hidden + j]), out = NAME(sigmoid)(gates[3 * hidden + j]);
            const ELEMENT next = forget * c[r * hidden + j] + in * cell;
            c[r * hidden + j] = next;
            h[r * hidden + j] = out * TANH(next);
        }
    }
}

// Updates h. x is the part of the gates that comes from the input, y the part that comes from the state. The gates of a
// row are reset, update and new.
static void NAME(gru_cell)(int64_t rows, int64_t hidden, const ELEMENT *x, const ELEMENT *y, ELEMENT *h)
{
    for (int64_t r = 0; r < rows; r++, x += 3 * hidden, y += 3 * hidden) {
        for (int64_t j = 0; j < hidden; j++) {
            const ELEMENT reset = NAME(sigmoid)(x[j] + y[j]), update = NAME(sigmoid)(x[hidden + j] + y[hidden + j]);
            const ELEMENT fresh = TANH(x[2 * hidden + j] + reset * y[2 * hidden + j]);
            h[r * hidden + j] = (h[r * hidden + j] - fresh) * update + fresh;
        }
    }
}

// Computes the cells. The arguments are as in taper_rnn_cells.
static void NAME(cells)(taper_rnn_kind kind, int64_t rows, int64_t hidden, const ELEMENT *gates, const ELEMENT *state,
                        ELEMENT *c, ELEMENT *h)
{
    if (kind == TAPER_RNN_LSTM) {
        NAME(lstm_cell)(rows, hidden, gates, c, h);
    } else if (kind == TAPER_RNN_GRU) {
        NAME(gru_cell)(rows, hidden, gates, state, h);
    } else {
        NAME(plain_cell)(kind == TAPER_RNN_RELU, rows, hidden, gates, h);
    }
}
