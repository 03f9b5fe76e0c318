// SPDX-License-Identifier: BSD-2-Clause
// Elements of any real dtype as integers that order as they do, and sorted orders of them.
#include "ops/engine/index_keys.h"

#include <math.h>

int64_t taper_key_of(const taper_scalar *scalar)
{
    if (scalar->kind == TAPER_SCALAR_INT || scalar->kind == TAPER_SCALAR_BOOL) {
        return scalar->i;
    }
    if (isnan(scalar->f)) {
        return TAPER_KEY_NAN;
    }
    const double f = scalar->f == 0 ? 0 : scalar->f;
    int64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits; // the larger a negative number's magnitude, the smaller
}

taper_status taper_index_keys(taper_run *run, const taper_tensor *x, taper_dtype as, taper_tensor **keys)
{
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, run->error));
    if (taper_dtype_is_complex((taper_dtype)x->dtype) || taper_dtype_is_complex(as)) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "complex tensors are not supported here");
    }
    TAPER_TRY(taper_index_scratch(run, taper_tensor_numel(x), keys));
    int64_t *to = taper_tensor_mutable(*keys);
    const char *from = taper_tensor_data(x);
    taper_index_walk walk;
    taper_index_walk_start(&walk, run, x->rank, x->sizes);
    taper_index_walk_add(&walk, x->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        taper_scalar value;
        taper_scalar_load((taper_dtype)x->dtype, from + walk.walk.at[0] * (int64_t)item, &value);
        if (as != x->dtype) {
            unsigned char converted[16];
            taper_scalar_store(as, converted, &value);
            taper_scalar_load(as, converted, &value);
        }
        to[i] = taper_key_of(&value);
    }
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

taper_status taper_keys_sort(taper_run *run, const int64_t *keys, int64_t width, int64_t count, int64_t *order,
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
