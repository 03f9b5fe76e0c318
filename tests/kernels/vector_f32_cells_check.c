// SPDX-License-Identifier: BSD-2-Clause
// Compares the recurrent cells of vector_f32.h with the same formulas in double precision.
#include <math.h>
#include <string.h>

#include "vector_f32_check.h"

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void check_near(const char *name, size_t n, size_t i, float got, double want)
{
    check_that(check_close(got, (float)want, 1e-6f + 4e-7f * (float)fabs(want)), "%s of %zu, unit %zu: %g, not %g",
               name, n, i, (double)got, want);
}

// Makes gates. Some gates are so large that sigmoid and tanh give 0, 1 or -1.
static float *some_gates(size_t count)
{
    float *gates = check_floats(count, CHECK_TAIL, 0);
    check_fill(gates, count, -4, 4);
    for (size_t i = 0; i < count; i++) {
        if (check_below(8) == 0) {
            gates[i] *= 40;
        }
    }
    return gates;
}

static void lstm_cell(const taper_vector_entry *v, size_t n, size_t step)
{
    float *gates = some_gates(3 * step + n), *before = check_floats(n, CHECK_TAIL, 0),
          *c = check_floats(n, CHECK_TAIL, 0), *h = check_floats(n, CHECK_TAIL, 0);
    check_fill(before, n, -2, 2);
    memcpy(c, before, n * sizeof *c);
    v->lstm_cell(n, gates, step, c, h);
    for (size_t i = 0; i < n; i++) {
        const double in = sigmoid((double)gates[i]), forget = sigmoid((double)gates[step + i]);
        const double next = forget * (double)before[i] + in * tanh((double)gates[2 * step + i]);
        check_near("lstm_cell, c", n, i, c[i], next);
        check_near("lstm_cell, h", n, i, h[i], sigmoid((double)gates[3 * step + i]) * tanh(next));
    }
    check_memory_reset();
}

static void gru_cell(const taper_vector_entry *v, size_t n, size_t step, bool in_place)
{
    float *gates = some_gates(2 * step + n), *before = check_floats(n, CHECK_TAIL, 0),
          *of_state = check_floats(n, CHECK_TAIL, 0), *h = check_floats(n, CHECK_TAIL, 0);
    check_fill(before, n, -1, 1), check_fill(of_state, n, -2, 2);
    if (in_place) {
        memcpy(h, before, n * sizeof *h);
    }
    v->gru_cell(n, gates, step, of_state, in_place ? h : before, h);
    for (size_t i = 0; i < n; i++) {
        const double fresh = tanh((double)gates[2 * step + i] + sigmoid((double)gates[i]) * (double)of_state[i]);
        const double update = sigmoid((double)gates[step + i]);
        check_near("gru_cell", n, i, h[i], (1 - update) * fresh + update * (double)before[i]);
    }
    check_memory_reset();
}

void check_vector_f32_cells(const taper_vector_entry *v, size_t n)
{
    const size_t step = n + check_below(4);
    if (v->lstm_cell != NULL) { // lstm_cell is NULL in builds without recurrent operators
        lstm_cell(v, n, step);
        gru_cell(v, n, step, false);
        gru_cell(v, n, step, true);
    }
}
