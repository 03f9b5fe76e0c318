// SPDX-License-Identifier: BSD-2-Clause
// The body of Winograd's transforms, written with the functions of simd_scalar.h. A tile is transformed column by
// column into a buffer, then row by row.
#include "ops/kernels/winograd_f32.h"

#include <string.h>

#include "ops/kernels/winograd_f32_forms.h"
#include "ops/kernels/winograd_lines_tmpl.h"

// ---- transform of inputs

typedef V input_tile[MOST_SIDE][MOST_SIDE][2]; // indexes: line of the tile, value in the line, vector of channels

TAPER_TEMPLATE void input_column(const int how, const size_t vectors, const float *const *x, size_t c, size_t j,
                                 input_tile t)
{
    const size_t side = SIDE_OF(how);
    V d[2][MOST_SIDE], made[MOST_SIDE];
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++) {
        const float *from = x[side * i + j] + c;
        TAPER_UNROLL
        for (size_t k = 0; k < vectors; k++)
            d[k][i] = v_load(from + k * VN);
    }
    TAPER_UNROLL
    for (size_t k = 0; k < vectors; k++) {
        input_line(how, d[k], made);
        TAPER_UNROLL
        for (size_t i = 0; i < side; i++)
            t[i][j][k] = made[i];
    }
}

TAPER_TEMPLATE void input_row(const int how, const size_t vectors, V (*t)[2], float *v, size_t v_stride)
{
    const size_t side = SIDE_OF(how);
    V d[MOST_SIDE], made[2][MOST_SIDE];
    TAPER_UNROLL
    for (size_t k = 0; k < vectors; k++) {
        TAPER_UNROLL
        for (size_t j = 0; j < side; j++)
            d[j] = t[j][k];
        input_line(how, d, made[k]);
    }
    TAPER_UNROLL
    for (size_t j = 0; j < side; j++, v += v_stride) {
        TAPER_UNROLL
        for (size_t k = 0; k < vectors; k++)
            v_store(v + k * VN, made[k][j]);
    }
}

// Transforms `vectors` vectors of channels from c on. A tile of 6x6 does not fit into the registers, so its loops are
// not unrolled.
TAPER_TEMPLATE void input_block(const int how, const size_t vectors, const float *const *x, float *v, size_t v_stride,
                                size_t c)
{
    const size_t side = SIDE_OF(how);
    input_tile t;
    if (how == F2) {
        TAPER_UNROLL
        for (size_t j = 0; j < side; j++)
            input_column(how, vectors, x, c, j, t);
        TAPER_UNROLL
        for (size_t i = 0; i < side; i++)
            input_row(how, vectors, t[i], v + side * i * v_stride + c, v_stride);
        return;
    }
    TAPER_NO_UNROLL
    for (size_t j = 0; j < side; j++)
        input_column(how, vectors, x, c, j, t);
    TAPER_NO_UNROLL
    for (size_t i = 0; i < side; i++)
        input_row(how, vectors, t[i], v + side * i * v_stride + c, v_stride);
}

TAPER_TEMPLATE void input(const int how, size_t channels, const float *const *x, float *v, size_t v_stride)
{
    const size_t vectors = how == F2 || VN == 1 ? 1 : TAPER_WINOGRAD_VECTORS;
    size_t c = 0;
    for (; c + vectors * VN <= channels; c += vectors * VN)
        input_block(how, vectors, x, v, v_stride, c);
    for (; c < channels; c += VN) // the last vector overlaps the previous vector
        input_block(how, 1, x, v, v_stride, c + VN <= channels ? c : channels - VN);
}

// ---- transform of outputs

typedef struct finishing {
    taper_winograd_output o; // a copy, because stores could alias the caller's struct
    V bias, low, high;
    V corners; // zero times the sum of corner outputs: NaN if an output was infinite or NaN
} finishing;

TAPER_TEMPLATE finishing finishing_of(const taper_winograd_output *o)
{
    return (finishing){.o = *o, .low = v_set(o->min), .high = v_set(o->max), .corners = v_set(0)};
}

TAPER_TEMPLATE V finished(const finishing *f, V x)
{
    return v_min(f->high, v_max(f->low, v_add(x, f->bias)));
}

// Adds the corner outputs of row i (of `rows` rows) to f->corners, which becomes NaN if one of them is infinite or NaN.
// With stride 2 an input of the middle tap affects only one line of outputs, so all outputs at the tile's border are
// added.
TAPER_TEMPLATE void note_corners(finishing *f, const bool strided, const size_t rows, const size_t columns, size_t i,
                                 const V *made)
{
    if (strided || i == 0 || i + 1 == rows) {
        f->corners = v_fma(made[0], v_set(0), f->corners);
        f->corners = v_fma(made[columns - 1], v_set(0), f->corners);
    }
    if (strided && (i == 0 || i + 1 == rows)) {
        for (size_t j = 1; j + 1 < columns; j++)
            f->corners = v_fma(made[j], v_set(0), f->corners);
    }
}

// Writes row i of a whole tile, from channel c on. Constant indexes keep the values in registers.
TAPER_TEMPLATE void finish_row(finishing *f, const size_t columns, size_t i, size_t c, V *made)
{
    const size_t pixel = f->o.pixel;
    if (i >= f->o.rows)
        return;
    float *y = f->o.y + i * f->o.row + c;
    const float *add = f->o.add != NULL ? f->o.add + i * f->o.row + c : NULL;
    if (f->o.columns >= columns) {
        if (add != NULL) {
            TAPER_UNROLL
            for (size_t j = 0; j < columns; j++, add += pixel)
                made[j] = v_add(made[j], v_load(add));
        }
        TAPER_UNROLL
        for (size_t j = 0; j < columns; j++, y += pixel)
            v_store(y, finished(f, made[j]));
        return;
    }
    TAPER_UNROLL
    for (size_t j = 0; j < columns; j++) {
        if (j < f->o.columns)
            v_store(y + j * pixel, finished(f, add != NULL ? v_add(made[j], v_load(add + j * pixel)) : made[j]));
    }
}

// Writes row i of a tile at an edge.
static void finish_edge_row(const finishing *f, size_t i, size_t c, const V *made)
{
    const size_t pixel = f->o.pixel, at = i * f->o.row + c;
    for (size_t j = 0; i < f->o.rows && j < f->o.columns; j++) {
        const V x = f->o.add != NULL ? v_add(made[j], v_load(f->o.add + at + j * pixel)) : made[j];
        v_store(f->o.y + at + j * pixel, finished(f, x));
    }
}

TAPER_TEMPLATE bool is_spread(const finishing *f)
{
    const float sum = v_sum(f->corners);
    return sum != sum;
}

TAPER_TEMPLATE void output_column(const int how, const float *m, size_t m_stride, size_t j, V (*t)[MOST_SIDE])
{
    const size_t side = SIDE_OF(how), outputs = OUTPUTS(how);
    V d[MOST_SIDE], made[4];
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++)
        d[i] = v_load(m + (side * i + j) * m_stride);
    output_line(how, d, made);
    TAPER_UNROLL
    for (size_t i = 0; i < outputs; i++)
        t[i][j] = made[i];
}

TAPER_TEMPLATE void output_row(const int how, const V *t, size_t i, size_t c, finishing *f)
{
    V made[4];
    output_line(how, t, made);
    note_corners(f, how == S4, OUTPUTS(how), OUTPUTS(how), i, made);
    finish_row(f, OUTPUTS(how), i, c, made);
}

TAPER_TEMPLATE bool output(const int how, size_t channels, const float *m, size_t m_stride,
                           const taper_winograd_output *o)
{
    const size_t side = SIDE_OF(how), outputs = OUTPUTS(how);
    finishing f = finishing_of(o);
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V t[4][MOST_SIDE];
        f.bias = v_load(o->bias + c);
        if (how == F2) {
            TAPER_UNROLL
            for (size_t j = 0; j < side; j++)
                output_column(how, m + c, m_stride, j, t);
            TAPER_UNROLL
            for (size_t i = 0; i < outputs; i++)
                output_row(how, t[i], i, c, &f);
            continue;
        }
        TAPER_NO_UNROLL
        for (size_t j = 0; j < side; j++)
            output_column(how, m + c, m_stride, j, t);
        TAPER_NO_UNROLL
        for (size_t i = 0; i < outputs; i++)
            output_row(how, t[i], i, c, &f);
    }
    return is_spread(&f);
}

// ---- tiles at the edges: 4, 3 or 2 outputs per side, with the same code

typedef struct edge {
    // side: number of values on a side of a whole tile. rows, columns: numbers of values of this tile, equal to its
    // numbers of inputs.
    size_t side, rows, columns;
    const uint8_t *down, *along; // positions of the tile's values, by row and by column
    size_t out_rows, out_columns;
    line_function *const *inputs, *const *outputs; // functions for lines of 2, 3 and 4 outputs
    bool strided;
} edge;

static edge edge_of(const int how, size_t rows, size_t columns)
{
    const uint8_t(*positions)[MOST_SIDE] = how == F4 ? taper_winograd_f4_positions : taper_winograd_s4_positions;
    const size_t step = how == F4 ? 1 : 2;
    return (edge){.side = SIDE_OF(how),
                  .rows = (rows - 1) * step + 3,
                  .columns = (columns - 1) * step + 3,
                  .down = positions[rows - 2],
                  .along = positions[columns - 2],
                  .out_rows = rows,
                  .out_columns = columns,
                  .inputs = edge_lines[how == S4][0],
                  .outputs = edge_lines[how == S4][1],
                  .strided = how == S4};
}

static void edge_input(const edge *e, size_t channels, const float *const *x, float *v, size_t v_stride)
{
    line_function *const down = e->inputs[e->out_rows - 2], *const along = e->inputs[e->out_columns - 2];
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V d[MOST_SIDE], t[MOST_SIDE][MOST_SIDE], made[MOST_SIDE];
        for (size_t j = 0; j < e->columns; j++) {
            for (size_t i = 0; i < e->rows; i++)
                d[i] = v_load(x[e->side * i + j] + c);
            down(d, made);
            for (size_t i = 0; i < e->rows; i++)
                t[i][j] = made[i];
        }
        for (size_t i = 0; i < e->rows; i++) {
            along(t[i], made);
            for (size_t j = 0; j < e->columns; j++)
                v_store(v + (e->side * e->down[i] + e->along[j]) * v_stride + c, made[j]);
        }
    }
}

static bool edge_output(const edge *e, size_t channels, const float *m, size_t m_stride, const taper_winograd_output *o)
{
    line_function *const down = e->outputs[e->out_rows - 2], *const along = e->outputs[e->out_columns - 2];
    finishing f = finishing_of(o);
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V d[MOST_SIDE], t[4][MOST_SIDE], made[4];
        for (size_t j = 0; j < e->columns; j++) {
            for (size_t i = 0; i < e->rows; i++)
                d[i] = v_load(m + (e->side * e->down[i] + e->along[j]) * m_stride + c);
            down(d, made);
            for (size_t i = 0; i < e->out_rows; i++)
                t[i][j] = made[i];
        }
        f.bias = v_load(o->bias + c);
        for (size_t i = 0; i < e->out_rows; i++) {
            along(t[i], made);
            note_corners(&f, e->strided, e->out_rows, e->out_columns, i, made);
            finish_edge_row(&f, i, c, made);
        }
    }
    return is_spread(&f);
}

// ---- the transform of the weights

enum { WEIGHTS = 8 };

// Computes G g G^T for WEIGHTS weights. The compiler vectorizes the loop, with one weight per lane.
TAPER_TEMPLATE void weights_block(const int how, const float (*restrict g)[WEIGHTS], float (*restrict u)[WEIGHTS])
{
    const size_t sets = SETS(how);
    for (size_t i = 0; i < WEIGHTS; i++) {
        double t[3][6], made[6];
        TAPER_UNROLL
        for (size_t j = 0; j < 3; j++) {
            const double column[3] = {g[j][i], g[3 + j][i], g[6 + j][i]};
            weights_line(how, column, t[j]);
        }
        TAPER_UNROLL
        for (size_t j = 0; j < sets; j++) {
            const double row[3] = {t[0][j], t[1][j], t[2][j]};
            weights_line(how, row, made);
            TAPER_UNROLL
            for (size_t k = 0; k < sets; k++)
                u[sets * j + k][i] = (float)made[k];
        }
    }
}

TAPER_TEMPLATE void weights_part(const int how, const size_t n, const float *g, size_t g_stride, float *u,
                                 size_t u_stride)
{
    float from[9][WEIGHTS] = {{0}}, to[36][WEIGHTS];
    for (size_t tap = 0; tap < 9; tap++)
        memcpy(from[tap], g + tap * g_stride, n * sizeof *g);
    weights_block(how, (const float(*)[WEIGHTS])from, to);
    for (size_t i = 0; i < SETS(how) * SETS(how); i++)
        memcpy(u + i * u_stride, to[i], n * sizeof *u);
}

TAPER_TEMPLATE void weights(const int how, size_t count, const float *g, size_t g_stride, float *u, size_t u_stride)
{
    size_t at = 0;
    for (; at + WEIGHTS <= count; at += WEIGHTS)
        weights_part(how, WEIGHTS, g + at, g_stride, u + at, u_stride);
    if (at < count)
        weights_part(how, count - at, g + at, g_stride, u + at, u_stride);
}

// Defines the functions of an entry in winograd_f32_list.inc. Tiles of f2 are always whole.
#define WINOGRAD_F32(size, how)                                                                                        \
    void SIMD(taper_winograd_f32_##size##_input)(size_t rows, size_t columns, size_t channels, const float *const *x,  \
                                                 float *v, size_t v_stride)                                            \
    {                                                                                                                  \
        if ((how) == F2 || (rows == 4 && columns == 4)) {                                                              \
            input(how, channels, x, v, v_stride);                                                                      \
        } else {                                                                                                       \
            const edge e = edge_of(how, rows, columns);                                                                \
            edge_input(&e, channels, x, v, v_stride);                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    bool SIMD(taper_winograd_f32_##size##_output)(size_t rows, size_t columns, size_t channels, const float *m,        \
                                                  size_t m_stride, const taper_winograd_output *o)                     \
    {                                                                                                                  \
        if ((how) == F2 || (rows == 4 && columns == 4))                                                                \
            return output(how, channels, m, m_stride, o);                                                              \
        const edge e = edge_of(how, rows, columns);                                                                    \
        return edge_output(&e, channels, m, m_stride, o);                                                              \
    }                                                                                                                  \
    void SIMD(taper_winograd_f32_##size##_weights)(size_t count, const float *g, size_t g_stride, float *u,            \
                                                   size_t u_stride)                                                    \
    {                                                                                                                  \
        weights(how, count, g, g_stride, u, u_stride);                                                                 \
    }
