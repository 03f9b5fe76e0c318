// SPDX-License-Identifier: BSD-2-Clause
// Part of index_unique.c: integers with few different values, which are counted in a table instead of sorted.
#ifndef TAPER_OPS_TENSOR_INDEX_UNIQUE_TABLE_H
#define TAPER_OPS_TENSOR_INDEX_UNIQUE_TABLE_H

// Counts integers in a table if their range is small, which is faster than sorting. *done is false if the range is
// large.
static taper_status count_values(unique *u, bool *done)
{
    enum { SMALL = 1 << 10 };
    int64_t largest;
    *done = false;
    if (taper_dtype_is_float(u->dtype) || u->count == 0) {
        return TAPER_OK;
    }
    const int64_t *keys = taper_tensor_data(u->keys);
    TAPER_TRY(taper_keys_range(u->run, keys, u->count, &u->least, &largest));
    if ((uint64_t)largest - (uint64_t)u->least >= (uint64_t)taper_max_i64(u->count, SMALL)) {
        return TAPER_OK;
    }
    u->values = largest - u->least + 1;
    TAPER_TRY(taper_run_zeros(u->run, TAPER_I64, 1, &u->values, &u->table));
    int64_t *const table = taper_tensor_mutable(u->table);
    for (int64_t at = 0; at < u->count; at += PIECE) {
        TAPER_TRY(taper_run_spend(u->run, PIECE));
        for (int64_t i = at; i < taper_min_i64(u->count, at + PIECE); i++) {
            table[keys[i] - u->least]++;
        }
    }
    for (int64_t value = 0; value < u->values; value++) {
        u->found += table[value] != 0;
    }
    *done = true;
    return TAPER_OK;
}

// Writes the values in the table, in ascending order, and their counts. Afterwards the table contains each value's
// index in that order.
static void take_table(unique *u, taper_tensor *result, int64_t *counts)
{
    enum { BLOCK = TAPER_EW_BLOCK_BYTES / 16 };
    taper_ew_block values, temp;
    int64_t *const table = taper_tensor_mutable(u->table), item = (int64_t)taper_tensor_item(result), k = 0;
    for (int64_t value = 0; value < u->values; value++) {
        if (table[value] == 0) {
            continue;
        }
        values.i64[k % BLOCK] = u->least + value;
        if (counts != NULL) {
            counts[k] = table[value];
        }
        table[value] = k++;
        if (k % BLOCK == 0 || k == u->found) {
            const int64_t first = (k - 1) / BLOCK * BLOCK;
            taper_ew_store(u->dtype, TAPER_EW_I64, (char *)taper_tensor_mutable(result) + first * item, item, &values,
                           (size_t)(k - first), &temp);
        }
    }
}

// Writes, for each row, the index of its value among the unique values. Returns false if there is no table.
static bool number_by_table(const unique *u, const int64_t *keys, int64_t *numbers)
{
    const int64_t *table = u->table == NULL ? NULL : taper_tensor_data(u->table);
    for (int64_t i = 0; i < u->count && table != NULL; i++) {
        numbers[i] = table[keys[i] - u->least];
    }
    return table != NULL;
}

#endif
