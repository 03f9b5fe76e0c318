// SPDX-License-Identifier: BSD-2-Clause
// Rows of quantized tensors, and functions that are applied to each element (quantized_walk.h).
#include "ops/quantized/quantized_walk.h"
#include "ir/walk.h"

// OPERANDS is the number of tensors of a walk: the result and two operands. PIECE is the largest number of elements in
// one call. It is a multiple of the elements of two vectors, so that all pieces except the last consist of whole pairs
// of vectors.
enum { OPERANDS = 3, PIECE = 1 << 16 };

typedef struct walk_dim {
    int64_t size, step[OPERANDS];
} walk_dim;

// Returns 1 if dimension b belongs inside a, -1 if it belongs outside, and 0 if the strides do not decide.
static int order(const walk_dim *a, const walk_dim *b, size_t operands)
{
    for (size_t i = 0; i < operands; i++) {
        if (a->step[i] == 0 || b->step[i] == 0) {
            continue;
        }
        if (a->step[i] != b->step[i]) {
            return a->step[i] < b->step[i] ? -1 : 1;
        }
        if (a->size > b->size) {
            return 1;
        }
    }
    return 0;
}

static size_t merge(walk_dim *dims, size_t count, size_t operands)
{
    size_t kept = 0;
    for (size_t d = 1; d < count; d++) {
        bool runs_on = true;
        for (size_t i = 0; i < operands; i++) {
            runs_on = runs_on && dims[kept].size * dims[kept].step[i] == dims[d].step[i];
        }
        if (dims[kept].size == 1 || dims[d].size == 1 || runs_on) {
            for (size_t i = 0; i < operands && dims[kept].size == 1; i++) {
                dims[kept].step[i] = dims[d].step[i];
            }
            dims[kept].size *= dims[d].size;
        } else {
            dims[++kept] = dims[d];
        }
    }
    return count == 0 ? 0 : kept + 1;
}

static size_t make_dims(const taper_tensor *const *tensors, size_t operands, walk_dim *dims)
{
    const taper_tensor *y = tensors[0];
    size_t order_of[TAPER_MAX_RANK];
    walk_dim plain[TAPER_MAX_RANK];
    const size_t rank = y->rank;
    for (size_t k = 0; k < rank; k++) { // dimensions, the innermost first
        const size_t d = rank - 1 - k;
        plain[k] = (walk_dim){.size = y->sizes[d]};
        for (size_t i = 0; i < operands; i++) {
            const taper_tensor *t = tensors[i];
            const size_t lead = rank - t->rank;
            plain[k].step[i] = d < lead || (t->sizes[d - lead] == 1 && y->sizes[d] != 1) ? 0 : t->strides[d - lead];
        }
        order_of[k] = k;
    }
    for (size_t i = 1; i < rank; i++) {
        size_t at = i;
        for (size_t other = i; other-- > 0;) {
            const int swap = order(&plain[order_of[other]], &plain[order_of[at]], operands);
            if (swap > 0) {
                const size_t t = order_of[other];
                order_of[other] = order_of[at];
                order_of[at] = t;
                at = other;
            } else if (swap < 0) {
                break;
            }
        }
    }
    for (size_t k = 0; k < rank; k++) {
        dims[k] = plain[order_of[k]];
    }
    return merge(dims, rank, operands);
}

void taper_q_walk(taper_run *run, taper_tensor *y, const taper_tensor *a, const taper_tensor *b,
                  taper_q_row_function function, const void *work)
{
    if (taper_tensor_numel(y) == 0) {
        return;
    }
    const taper_tensor *const tensors[OPERANDS] = {y, a, b};
    walk_dim dims[TAPER_MAX_RANK + 1] = {{.size = 1, .step = {1, 1, 1}}};
    const size_t rank = make_dims(tensors, b != NULL ? 3 : 2, dims);
    const int64_t pair = y->dtype == TAPER_QI32 ? 16 : 64; // number of elements in two vectors
    taper_q_row row = {.y = taper_tensor_mutable(y),
                       .a = taper_tensor_data(a),
                       .b = b != NULL ? taper_tensor_data(b) : NULL,
                       .y_step = dims[0].step[0],
                       .a_step = dims[0].step[1],
                       .b_step = b != NULL ? dims[0].step[2] : 1,
                       .count = dims[0].size};
    const int64_t fixed = (row.a_step == 0 ? 1 : 0) + (row.b_step == 0 ? 1 : 0);
    if (row.y_step == 1 && (row.a_step == 1 || row.a_step == 0) && (row.b_step == 1 || row.b_step == 0) &&
        (fixed == 0 || (fixed == 1 && b != NULL))) {
        row.wide = row.count / pair * pair;
    }
    taper_walk walk;
    taper_walk_begin(&walk, OPERANDS);
    for (size_t d = 1; d < rank; d++) {
        memcpy(taper_walk_add(&walk, dims[d].size), dims[d].step, sizeof dims[d].step);
    }
    do {
        row.y_at = walk.at[0];
        row.a_at = walk.at[1];
        row.b_at = walk.at[2];
        for (int64_t at = 0; at < row.count; at += PIECE) {
            taper_q_row part = row;
            part.first = at;
            part.count = taper_min_i64(PIECE, row.count - at);
            part.wide = taper_max_i64(0, taper_min_i64(row.wide - at, part.count));
            part.y_at += at * row.y_step;
            part.a_at += at * row.a_step;
            part.b_at += at * row.b_step;
            if (!taper_run_goes_on(run, (uint64_t)part.count * 10 + 20)) {
                return;
            }
            function(work, &part);
        }
    } while (taper_walk_next(&walk));
}

// ---- maps: functions that are applied to each element

enum { TABLE_FROM = 512 }; // smallest number of elements for which a table of all 256 results is faster

typedef struct map_work {
    const taper_q_map *map;
    taper_dtype dtype;
    taper_q_range range;
    float scale, inverse, inverse_wide;
    int64_t zero_point, to_zero_point;
} map_work;

static int64_t map_one(const map_work *w, int64_t q, bool wide)
{
    const taper_q_map *map = w->map;
    if (!wide) {
        const float y = map->value(map, taper_q_dequantize(w->scale, w->zero_point, q));
        return taper_q_round(y * w->inverse, w->to_zero_point, w->range);
    }
    const float x = taper_q_dequantize_wide(w->scale, w->zero_point, q);
    const float y = map->value_wide != NULL ? map->value_wide(map, x) : map->value(map, x);
    return w->dtype == TAPER_QI32 ? taper_q_round(y * w->inverse, w->to_zero_point, w->range)
                                  : taper_q_round_wide(y * w->inverse_wide, w->to_zero_point, w->range);
}

static void map_row(const void *work, const taper_q_row *row)
{
    const map_work *w = work;
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t q = taper_q_load(w->dtype, row->a, row->a_at + i * row->a_step);
        taper_q_store(w->dtype, row->y, row->y_at + i * row->y_step, map_one(w, q, i < row->wide));
    }
}

void taper_q_map_run(taper_run *run, const taper_q_map *map, taper_tensor *y, const taper_tensor *x)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    map_work w = {.map = map,
                  .dtype = dtype,
                  .range = taper_q_range_of(dtype),
                  .scale = (float)x->quantizer->scale,
                  .zero_point = x->quantizer->zero_point,
                  .inverse = 1.0f / (float)y->quantizer->scale,
                  .to_zero_point = y->quantizer->zero_point};
    w.inverse_wide = map->inverse_wide != 0 ? map->inverse_wide : w.inverse;
    if (dtype == TAPER_QI32 || taper_tensor_numel(y) < TABLE_FROM) {
        taper_q_walk(run, y, x, NULL, map_row, &w);
        return;
    }
    taper_q_tables tables;
    tables.run = run;
    for (int i = 0; i < 256; i++) {
        const int64_t q = dtype == TAPER_QI8 ? (int8_t)i : i;
        tables.plain[i] = (uint8_t)map_one(&w, q, false);
        tables.wide[i] = (uint8_t)map_one(&w, q, true);
    }
    taper_q_walk(run, y, x, NULL, taper_q_table_row, &tables);
}
