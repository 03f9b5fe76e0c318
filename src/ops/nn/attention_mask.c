// SPDX-License-Identifier: BSD-2-Clause
// The masks of scaled dot product attention, see attention_mask.h.
#include "ops/nn/attention_mask.h"

#include <math.h>

#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/nn/attention.h"

bool taper_attention_mask_open(taper_attention_mask *own, const taper_tensor *mask, bool causal, size_t rank,
                               const int64_t *sizes)
{
    int64_t strides[TAPER_MAX_RANK];
    own->causal = causal;
    own->given = mask != NULL;
    if (mask == NULL) {
        return true;
    }
    if (!taper_broadcast_strides(mask, rank, sizes, strides)) {
        return false;
    }
    own->mask = taper_tensor_twin(mask, rank, sizes, strides);
    for (size_t d = 0; d < rank; d++) {
        own->mask.sizes[d] = strides[d] != 0 ? sizes[d] : 1;
    }
    return true;
}

// ---- visible keys

// Masks often hide a key by the lowest number of their dtype instead of -infinity. A key whose number is at most HIDDEN
// has the weight 0 if another key is not hidden: exp(x) is 0 for x below -746, even in double precision.
#define HIDDEN (-1e30)

// Returns true if the element of the mask leaves its key visible.
static bool keeps(const taper_tensor *mask, const void *at)
{
    switch (mask->dtype) {
    case TAPER_BOOL:
        return *(const uint8_t *)at != 0;
    case TAPER_F32:
        return !(*(const float *)at <= (float)HIDDEN);
    default:
        return !(*(const double *)at <= HIDDEN);
    }
}

// Returns true if the row, which hides all keys, hides one of them by a finite number. In that case some keys have
// weights.
static bool hides_by_numbers(const taper_tensor *mask, const char *row, int64_t keys, int64_t step)
{
    for (int64_t i = 0; i < keys && mask->dtype != TAPER_BOOL; i++) {
        const char *at = row + i * step;
        if (mask->dtype == TAPER_F32 ? isfinite(*(const float *)(const void *)at)
                                     : isfinite(*(const double *)(const void *)at)) {
            return true;
        }
    }
    return false;
}

// Extends [*first, *last) by the keys that a row sees.
static void extend(const taper_tensor *mask, const char *row, int64_t keys, int64_t step, int64_t *first, int64_t *last)
{
    int64_t low = 0, high = keys;
    while (low < keys && !keeps(mask, row + low * step)) {
        low++;
    }
    if (low == keys) {
        low = hides_by_numbers(mask, row, keys, step) ? 0 : keys;
    } else {
        while (high > *last && !keeps(mask, row + (high - 1) * step)) {
            high--;
        }
    }
    if (low < keys) {
        *first = taper_min_i64(*first, low);
        *last = taper_max_i64(*last, high);
    }
}

// Finds the range [*first, *last) of the keys that the rows of the block see. The range is empty if the rows see no
// key.
static void find_visible(const taper_tensor *mask, int64_t keys, const taper_attention_block *block, int64_t *first,
                         int64_t *last)
{
    const size_t rows_at = mask->rank - 2u;
    const int64_t item = (int64_t)taper_tensor_item(mask), step = mask->strides[rows_at + 1] * item;
    const int64_t row = mask->sizes[rows_at] == 1 ? 0 : block->row, rows = mask->sizes[rows_at] == 1 ? 1 : block->rows;
    int64_t outer = 1;
    for (size_t d = 0; d < rows_at; d++) {
        outer *= mask->sizes[d]; // cannot overflow: at most the number of elements of the mask
    }
    *first = keys;
    *last = 0;
    for (int64_t n = 0; n < outer; n++) {
        int64_t at = row * mask->strides[rows_at], rest = n;
        for (size_t d = rows_at; d-- > 0;) {
            at += rest % mask->sizes[d] * mask->strides[d];
            rest /= mask->sizes[d];
        }
        const char *line = (const char *)taper_tensor_data(mask) + at * item;
        for (int64_t r = 0; r < rows; r++, line += mask->strides[rows_at] * item) {
            extend(mask, line, keys, step, first, last);
        }
    }
}

void taper_attention_visible(const taper_attention_mask *own, int64_t keys, taper_attention_block *block)
{
    // The first and last key of a range are rounded to multiples of this number, so that each vector lane of a sum adds
    // the same keys as it would without the range.
    enum { TOGETHER = 64 };
    int64_t first = 0, last = own->causal ? taper_min_i64(keys, block->row + block->rows) : keys;
    if (own->given && own->mask.sizes[own->mask.rank - 1u] == keys) { // otherwise the mask has one number for all keys
        find_visible(&own->mask, keys, block, &first, &last);
    }
    if (first >= last) {
        first = last = 0;
    }
    block->key = first / TOGETHER * TOGETHER;
    block->keys = taper_min_i64(keys, (last + TOGETHER - 1) / TOGETHER * TOGETHER) - block->key;
}

// ---- softmax

typedef struct masking {
    const taper_attention_mask *own;
    const taper_attention_block *block;
    taper_tensor *scores;
    uint8_t *blind; // one byte per row, true if the row sees no key
} masking;

// Returns the offset within the mask, in elements, of the block's first key in row `row` of the scores.
static int64_t mask_row(const masking *m, int64_t row)
{
    const taper_tensor *mask = &m->own->mask;
    const size_t rows_at = mask->rank - 2u;
    int64_t offset =
        m->block->key * mask->strides[rows_at + 1] + (m->block->row + row % m->block->rows) * mask->strides[rows_at];
    row /= m->block->rows;
    for (size_t d = rows_at; d-- > 0;) {
        offset += row % m->scores->sizes[d] * mask->strides[d];
        row /= m->scores->sizes[d];
    }
    return offset;
}

// Applies the mask to a row of the scores. Returns false if the row sees no key, because the softmax of the row would
// be NaN.
#define MASK_ROWS(ELEMENT, suffix)                                                                                     \
    static bool mask_row_##suffix(const masking *m, ELEMENT *x, int64_t width, int64_t row)                            \
    {                                                                                                                  \
        const taper_tensor *mask = &m->own->mask;                                                                      \
        const int64_t step = m->own->given ? mask->strides[mask->rank - 1u] : 0;                                       \
        bool sees = false;                                                                                             \
        if (m->own->given && mask->dtype == TAPER_BOOL) {                                                              \
            const uint8_t *keep = (const uint8_t *)taper_tensor_data(mask) + mask_row(m, row);                         \
            for (int64_t i = 0; i < width; i++) {                                                                      \
                x[i] = keep[i * step] != 0 ? x[i] : -(ELEMENT)INFINITY;                                                \
            }                                                                                                          \
        } else if (m->own->given) {                                                                                    \
            const ELEMENT *add = (const ELEMENT *)taper_tensor_data(mask) + mask_row(m, row);                          \
            for (int64_t i = 0; i < width; i++) {                                                                      \
                x[i] += add[i * step];                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        const int64_t last = m->block->row + row % m->block->rows;                                                     \
        for (int64_t i = m->own->causal ? last + 1 - m->block->key : width; i < width; i++) {                          \
            x[i] = -(ELEMENT)INFINITY;                                                                                 \
        }                                                                                                              \
        for (int64_t i = 0; i < width && !sees; i++) {                                                                 \
            sees = !(x[i] == -(ELEMENT)INFINITY);                                                                      \
        }                                                                                                              \
        return sees;                                                                                                   \
    }
MASK_ROWS(float, f32)
MASK_ROWS(double, f64)

static void mask_range(void *argument, size_t begin, size_t end)
{
    const masking *m = argument;
    const int64_t width = m->block->keys;
    void *scores = taper_tensor_mutable(m->scores);
    for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
        const bool sees = m->scores->dtype == TAPER_F32 ? mask_row_f32(m, (float *)scores + row * width, width, row)
                                                        : mask_row_f64(m, (double *)scores + row * width, width, row);
        m->blind[row] = !sees;
    }
}

static void zero_range(void *argument, size_t begin, size_t end)
{
    const masking *m = argument;
    const size_t bytes = (size_t)m->block->keys * taper_tensor_item(m->scores);
    for (size_t row = begin; row < end; row++) {
        if (m->blind[row]) {
            memset((char *)taper_tensor_mutable(m->scores) + row * bytes, 0, bytes);
        }
    }
}

taper_status taper_attention_softmax(taper_run *run, const taper_attention_mask *own,
                                     const taper_attention_block *block, taper_tensor *scores)
{
    const size_t rows = block->keys != 0 ? (size_t)(taper_tensor_numel(scores) / block->keys) : 0;
    masking m = {.own = own, .block = block, .scores = scores};
    if (rows == 0 || (!own->given && !own->causal)) {
        return taper_softmax_rows(run, scores);
    }
    m.blind = taper_heap_alloc(run->heap, rows);
    if (m.blind == NULL) {
        return taper_fail_memory(run->error);
    }
    taper_status status = taper_run_floats(run, mask_range, &m, rows, 2.0 * (double)block->keys);
    status = status == TAPER_OK ? taper_softmax_rows(run, scores) : status;
    status = status == TAPER_OK ? taper_run_floats(run, zero_range, &m, rows, 1.0) : status;
    taper_heap_free(run->heap, m.blind, rows);
    return status;
}
