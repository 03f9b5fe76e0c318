// SPDX-License-Identifier: BSD-2-Clause
// Makes integer keys that sort like the elements of any real dtype, and sorts rows of keys.
#include "ops/engine/index_keys.h"

#include "ir/tensor.h"
#include "ops/engine/sort_order.h"

int64_t taper_key_of_nan(taper_dtype dtype)
{
    return dtype == TAPER_F64 ? INT64_MAX : INT32_MAX;
}

taper_status taper_index_converted(taper_run *run, taper_tensor *x, taper_dtype dtype, taper_tensor **converted)
{
    if (x->dtype == dtype) {
        return taper_run_contiguous(run, x, converted);
    }
    TAPER_TRY(taper_tensor_new(run->heap, dtype, x->rank, x->sizes, NULL, converted, run->error));
    const taper_status status = taper_run_copy(run, *converted, x);
    if (status != TAPER_OK) {
        taper_tensor_drop(*converted);
        *converted = NULL;
    }
    return status;
}

static taper_status make_keys(taper_run *run, const taper_tensor *x, int64_t *to)
{
    enum { BLOCK = TAPER_EW_BLOCK_BYTES / 16 };
    taper_ew_block block, temp;
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const taper_ew_class own = taper_ew_class_of(dtype), class_ = own == TAPER_EW_U8 ? TAPER_EW_I64 : own;
    const size_t count = (size_t)taper_tensor_numel(x), item = taper_tensor_item(x);
    const char *from = taper_tensor_data(x);
    for (size_t at = 0; at < count; at += BLOCK) {
        const size_t n = taper_min_size(BLOCK, count - at);
        TAPER_TRY(taper_run_spend(run, BLOCK * 2));
        taper_ew_load(dtype, class_, class_ == TAPER_EW_I64 ? (void *)(to + at) : (void *)&block, from + at * item,
                      (int64_t)item, n, &temp);
        for (size_t k = 0; k < n && class_ == TAPER_EW_F32; k++) {
            to[at + k] = taper_key_of_f32(block.f32[k]);
        }
        for (size_t k = 0; k < n && class_ == TAPER_EW_F64; k++) {
            to[at + k] = taper_key_of_f64(block.f64[k]);
        }
    }
    return TAPER_OK;
}

taper_status taper_index_keys(taper_run *run, taper_tensor *x, taper_dtype as, taper_tensor **keys)
{
    size_t item;
    taper_tensor *plain;
    TAPER_TRY(taper_move_item(x, &item, run->error));
    if (taper_dtype_is_complex((taper_dtype)x->dtype) || taper_dtype_is_complex(as)) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "complex tensors are not supported here");
    }
    if (taper_dtype_is_quantized(as)) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED,
                          "quantized tensors are not supported here: dequantize() gives their numbers");
    }
    TAPER_TRY(taper_index_converted(run, x, as, &plain));
    if (as == TAPER_I64) {
        *keys = plain;
        return TAPER_OK;
    }
    taper_status status = taper_index_scratch(run, taper_tensor_numel(x), keys);
    if (status == TAPER_OK) {
        status = make_keys(run, plain, taper_tensor_mutable(*keys));
        if (status != TAPER_OK) {
            taper_tensor_drop(*keys);
            *keys = NULL;
        }
    }
    taper_tensor_drop(plain);
    return status;
}

taper_status taper_keys_range(taper_run *run, const int64_t *keys, int64_t count, int64_t *least, int64_t *largest)
{
    TAPER_TRY(taper_run_spend(run, (uint64_t)count));
    enum { TOGETHER = 4 }; // number of independent comparisons, which the CPU overlaps
    int64_t low[TOGETHER], high[TOGETHER], i = 0;
    for (size_t k = 0; k < TOGETHER; k++) {
        low[k] = high[k] = keys[0];
    }
    for (; i + TOGETHER <= count; i += TOGETHER) {
        for (size_t k = 0; k < TOGETHER; k++) {
            low[k] = taper_min_i64(low[k], keys[i + (int64_t)k]);
            high[k] = taper_max_i64(high[k], keys[i + (int64_t)k]);
        }
    }
    for (; i < count; i++) {
        low[0] = taper_min_i64(low[0], keys[i]);
        high[0] = taper_max_i64(high[0], keys[i]);
    }
    for (size_t k = 1; k < TOGETHER; k++) {
        low[0] = taper_min_i64(low[0], low[k]);
        high[0] = taper_max_i64(high[0], high[k]);
    }
    *least = low[0];
    *largest = high[0];
    return TAPER_OK;
}

static bool comes_before(const int64_t *keys, int64_t width, int64_t a, int64_t b)
{
    const int64_t *x = keys + a * width, *y = keys + b * width;
    for (int64_t i = 0; i < width; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i];
        }
    }
    return false;
}

static taper_status sort_rows(taper_run *run, const int64_t *keys, int64_t width, int64_t count, int64_t *order,
                              int64_t *scratch)
{
    for (int64_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int64_t length = 1; length < count; length *= 2) {
        for (int64_t start = 0; start < count; start += 2 * length) {
            const int64_t middle = taper_min_i64(start + length, count), end = taper_min_i64(start + 2 * length, count);
            TAPER_TRY(taper_run_spend(run, (uint64_t)((end - start) * (width + 10))));
            int64_t a = start, b = middle;
            for (int64_t k = start; k < end; k++) {
                const bool right = a == middle || (b < end && comes_before(keys, width, order[b], order[a]));
                scratch[k] = right ? order[b++] : order[a++];
            }
        }
        memcpy(order, scratch, (size_t)count * sizeof *order);
    }
    return TAPER_OK;
}

taper_status taper_keys_sort(taper_run *run, const int64_t *keys, int64_t width, int64_t count, int64_t *order)
{
    if (width != 1) {
        taper_tensor *scratch;
        TAPER_TRY(taper_index_scratch(run, count, &scratch));
        const taper_status status = sort_rows(run, keys, width, count, order, taper_tensor_mutable(scratch));
        taper_tensor_drop(scratch);
        return status;
    }
    taper_sort_line line;
    TAPER_TRY(taper_sort_open(&line, run, (size_t)count));
    taper_status status = taper_sort_read_keys(&line, keys, (size_t)count);
    if (status == TAPER_OK) {
        taper_sort_stably(&line);
        for (int64_t i = 0; i < count; i++) {
            order[i] = taper_sort_at(&line, (size_t)i);
        }
    }
    taper_sort_close(&line);
    return status;
}
