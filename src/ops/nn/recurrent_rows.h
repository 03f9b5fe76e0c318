// SPDX-License-Identifier: BSD-2-Clause
// Biases of recurrent layers for one type. recurrent_layer.c includes this file with ELEMENT and NAME(x).

static void NAME(add_bias)(ELEMENT *to, int64_t columns, const ELEMENT *bias, int64_t bias_step)
{
    for (int64_t j = 0; j < columns; j++) {
        to[j] += bias[j * bias_step];
    }
}
