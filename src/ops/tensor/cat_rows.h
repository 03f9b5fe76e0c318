// SPDX-License-Identifier: BSD-2-Clause
// Part of cat.c: writes the rows of the result in order.
#ifndef TAPER_OPS_TENSOR_CAT_ROWS_H
#define TAPER_OPS_TENSOR_CAT_ROWS_H

// The rows of the result, in memory order. Each row has a piece of every tensor. TOGETHER: largest number of tensors.
// LEAST_PIECE: smallest number of bytes of a tensor's piece.
enum { TOGETHER = 16, LEAST_PIECE = 64 };
typedef struct cat_rows {
    size_t count, row; // number of tensors; number of bytes of a row of the result
    const char *from[TOGETHER];
    size_t bytes[TOGETHER]; // number of bytes of each tensor's piece
    char *to;
} cat_rows;

static void rows_range(void *argument, size_t begin, size_t end)
{
    const cat_rows *rows = argument;
    for (size_t r = begin; r < end; r++) {
        char *to = rows->to + r * rows->row;
        for (size_t i = 0; i < rows->count; i++) {
            memcpy(to, rows->from[i] + r * rows->bytes[i], rows->bytes[i]);
            to += rows->bytes[i];
        }
    }
}

// Copies a few tensors that have the memory order of the result. Returns TAPER_DECLINED for other tensors, and if the
// pieces are too short for a call of memcpy each.
static taper_status fill_rows(taper_run *run, const taper_list *list, const cat_plan *plan, taper_tensor *result)
{
    const bool last = !taper_tensor_is_contiguous(result);
    cat_rows rows = {.to = taper_tensor_mutable(result)};
    size_t outer = 1;
    if (list->count > TOGETHER || taper_dtype_is_quantized(plan->dtype) || (last && plan->dim != 1)) {
        return TAPER_DECLINED;
    }
    for (size_t d = 0; d < plan->rank; d++) {
        outer *= d < plan->dim || (last && d > plan->dim) ? (size_t)plan->sizes[d] : 1;
    }
    for (size_t i = 0; i < list->count && outer > 1; i++) {
        const taper_tensor *x = list->items[i].as.tensor;
        const size_t piece = (size_t)taper_tensor_numel(x) * taper_tensor_item(x) / outer;
        if (is_skipped(x) || piece == 0) {
            continue;
        }
        if (x->dtype != result->dtype || piece < LEAST_PIECE ||
            !(last ? taper_tensor_is_channels_last(x) : taper_tensor_is_contiguous(x))) {
            return TAPER_DECLINED;
        }
        rows.from[rows.count] = taper_tensor_data(x);
        rows.bytes[rows.count++] = piece;
        rows.row += piece;
    }
    return rows.count < 2 ? TAPER_DECLINED
                          : taper_run_floats(run, rows_range, &rows, outer, (double)rows.row / sizeof(float));
}

#endif
