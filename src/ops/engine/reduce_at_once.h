// SPDX-License-Identifier: BSD-2-Clause
// Part of reduce.c: reductions in which one kernel call writes the final results.
#ifndef TAPER_OPS_ENGINE_REDUCE_AT_ONCE_H
#define TAPER_OPS_ENGINE_REDUCE_AT_ONCE_H

// Returns true if block_at_once can do the reduction.
static bool is_at_once(const walk *w)
{
    const taper_reduce *r = w->r;
    const taper_reduce_vector *v = &w->vectors[0];
    if (r->second != NULL || r->overflow > 0 || w->out[1] != NULL || w->out[0]->dtype != TAPER_F32 ||
        (r->finish != TAPER_FINISH_SAME && r->finish != TAPER_FINISH_MEAN) || w->kept_count == 0 ||
        w->kept[0].out != (int64_t)sizeof(float) || w->reduced_count > 1 || w->count <= 0 ||
        (w->side_by_side && w->count > TAPER_REDUCE_ROWS)) {
        return false;
    }
    return w->multiplied ||
           (w->has_vector[0] &&
            (v->kind == TAPER_REDUCTION_SUM || v->kind == TAPER_REDUCTION_MOST || v->kind == TAPER_REDUCTION_LEAST) &&
            (w->side_by_side || taper_reduce_vector_has_lines(v, (size_t)w->reduced[0].size, SIZE_MAX)));
}

// Reduces m results without accumulators. Returns false if a float cannot represent a result. The engine then computes
// these results in doubles.
static bool block_at_once(walk *w, const char *from, char *to, size_t m)
{
    const taper_reduce_vector *v = &w->vectors[0];
    const float *x = (const float *)(const void *)from;
    float *out = (float *)(void *)to;
    const size_t n = (size_t)w->count, stride = w->reduced_count != 0 ? (size_t)w->reduced[0].in / sizeof(float) : 0;
    if (!w->side_by_side && !taper_reduce_vector_has_lines(v, n, m)) {
        return false;
    }
    if (!go_on(w, n * m)) {
        return true;
    }
    if (w->multiplied) {
        return v->vector->multiply_rows(n, m, x, stride, out);
    }
    if (w->side_by_side) {
        v->vector->fold_rows[v->kind](n, m, x, stride, out);
    } else {
        v->vector->fold_lines[v->kind](m, n, x, (size_t)w->kept[0].in / sizeof(float), out);
    }
    int beyond = 0;
    for (size_t k = 0; k < m && v->kind == TAPER_REDUCTION_SUM; k++) {
        beyond |= !(fabsf(out[k]) <= FLT_MAX);
    }
    if (beyond == 0 && w->r->finish == TAPER_FINISH_MEAN && w->count != 1) {
        // a division of floats rounds like a division of doubles whose result is rounded to a float
        const float count = (float)w->count;
        taper_binary_f32_function *const divide = v->vector->binary[TAPER_BINARY_DIV][TAPER_OPERANDS_VS];
        if (divide != NULL) {
            divide(m, out, &count, out, -INFINITY, INFINITY);
        }
        for (size_t k = 0; k < m && divide == NULL; k++) {
            out[k] /= count;
        }
    }
    return beyond == 0;
}

#endif
