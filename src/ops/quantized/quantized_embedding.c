// SPDX-License-Identifier: BSD-2-Clause
// Looks up rows of quantized tables, either one row at a time or as sums of bags (groups of rows). A table is packed
// parameters, or a matrix of bytes whose rows end with their scale and bias: two floats after 8-bit elements, two
// halves after 4-bit and 2-bit elements. Each row adds weight * scale * element + weight * bias with one rounding, as
// PyTorch does without FBGEMM.
#include <inttypes.h>

#include "base/half.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_params.h"

typedef struct table {
    const uint8_t *data;
    int64_t rows, row_bytes, columns;
    int bits; // number of bits of an element
    int per_byte;
    const taper_tensor *quantized; // packed parameters, or NULL for fused rows
} table;

typedef struct table_row {
    const uint8_t *data;
    float scale, bias;
} table_row;

static float load_float(const uint8_t *bytes)
{
    float value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static float load_half(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return taper_f16_to_float(value);
}

static float as_half(float value)
{
    return taper_f16_to_float(taper_float_to_f16(value));
}

static table_row row_at(const table *t, int64_t index)
{
    table_row row = {.data = t->data + index * t->row_bytes};
    if (t->quantized != NULL) {
        const taper_quantizer *z = t->quantized->quantizer;
        const float point = (float)taper_load_double(
            (taper_dtype)z->zero_points->dtype, taper_tensor_data(z->zero_points), index * z->zero_points->strides[0]);
        row.scale = (float)taper_qweight_scale(t->quantized, index);
        row.bias = point * row.scale * -1;
        if (t->bits == 4) { // PyTorch packs the scale and bias of 4-bit elements as halves
            row.scale = as_half(row.scale);
            row.bias = as_half(row.bias);
        }
        return row;
    }
    const uint8_t *end = row.data + t->row_bytes;
    row.scale = t->bits == 8 ? load_float(end - 8) : load_half(end - 4);
    row.bias = t->bits == 8 ? load_float(end - 4) : load_half(end - 2);
    return row;
}

static taper_status open_packed(const taper_call *call, int bits, table *t)
{
    taper_object *object;
    taper_qembedding_params params;
    TAPER_TRY(taper_arg_object(call, 0, &object));
    TAPER_TRY(taper_qembedding_open(call->run, object, &params));
    if (params.bits != bits) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' holds %d-bit elements, the operator needs %d-bit ones", taper_arg_name(call, 0),
                   params.bits, bits);
    }
    *t = (table){.data = taper_tensor_data(params.weight),
                 .rows = params.weight->sizes[0],
                 .columns = params.weight->sizes[1],
                 .row_bytes = params.weight->sizes[1],
                 .bits = bits,
                 .per_byte = 1,
                 .quantized = params.weight};
    return TAPER_OK;
}

static taper_status open_fused(const taper_call *call, int bits, table *t)
{
    taper_tensor *weight;
    const int64_t tail = bits == 8 ? 8 : 4;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    if (weight->dtype != TAPER_U8 || weight->rank != 2 || !taper_tensor_is_contiguous(weight) ||
        weight->sizes[1] < tail) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should be a contiguous uint8 matrix whose rows end with %" PRId64
                   " bytes of scale and bias, but is %s of sizes %s",
                   taper_arg_name(call, 0), tail, taper_dtype_torch_name((taper_dtype)weight->dtype),
                   TAPER_SHAPE(weight));
    }
    *t = (table){.data = taper_tensor_data(weight),
                 .rows = weight->sizes[0],
                 .row_bytes = weight->sizes[1],
                 .bits = bits,
                 .per_byte = 8 / bits};
    if (!taper_mul_i64(weight->sizes[1] - tail, 8 / bits, &t->columns)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' has too long rows", taper_arg_name(call, 0));
    }
    return TAPER_OK;
}

// ---- the lookup: its arguments and their checks

typedef struct lookup {
    const taper_tensor *indices, *offsets, *weights, *mapping; // borrowed tensors; all except indices may be NULL
    int64_t count;                                             // number of indices
    int64_t bags;
    int64_t each; // number of indices of each bag, if there are no offsets
    bool last;    // true if the last offset is the end of the last bag
} lookup;

static int64_t int_at(const taper_tensor *tensor, int64_t at) // reads an element of a contiguous tensor
{
    return taper_load_int((taper_dtype)tensor->dtype, taper_tensor_data(tensor), at);
}

static taper_status check_ints(const taper_call *call, const taper_tensor *tensor, const char *name)
{
    if ((tensor->dtype != TAPER_I32 && tensor->dtype != TAPER_I64) || !taper_tensor_is_contiguous(tensor)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should be contiguous int32 or int64 but is %s of sizes %s", name,
                   taper_dtype_torch_name((taper_dtype)tensor->dtype), TAPER_SHAPE(tensor));
    }
    return TAPER_OK;
}

static taper_status read_indices(const taper_call *call, lookup *l)
{
    taper_tensor *indices;
    TAPER_TRY(taper_arg_tensor(call, 1, &indices));
    TAPER_TRY(check_ints(call, indices, "indices"));
    if (indices->rank != 1 && indices->rank != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'indices' should have 1 or 2 dimensions, its sizes are %s", TAPER_SHAPE(indices));
    }
    l->indices = indices;
    l->count = taper_tensor_numel(indices);
    return TAPER_OK;
}

// Reads the mapping of a pruned table: for each row its index in the table, or -1 for a row that was removed. The
// mapping [0] means that no row was removed.
static taper_status read_mapping(const taper_call *call, bool pruned, taper_tensor *mapping, lookup *l)
{
    if (!pruned) {
        return TAPER_OK;
    }
    if (mapping == NULL || mapping->dtype != TAPER_I32 || !taper_tensor_is_contiguous(mapping)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "pruned_weights needs compressed_indices_mapping, a contiguous tensor of int32");
    }
    l->mapping = taper_tensor_numel(mapping) == 1 && int_at(mapping, 0) == 0 ? NULL : mapping;
    return TAPER_OK;
}

static taper_status read_bag(const taper_call *call, const table *t, lookup *l)
{
    taper_error *error = call->run->error;
    taper_tensor *offsets, *weights, *mapping;
    bool pruned;
    TAPER_TRY(taper_arg_tensor_or_none(call, 2, &offsets));
    TAPER_TRY(taper_arg_bool(call, 5, &pruned));
    TAPER_TRY(taper_arg_tensor_or_none(call, 6, &weights));
    TAPER_TRY(taper_arg_tensor_or_none(call, 7, &mapping));
    TAPER_TRY(taper_arg_bool(call, 8, &l->last));
    TAPER_TRY(read_mapping(call, pruned, mapping, l));
    if (l->indices->rank == 2) {
        if (offsets != NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'offsets' should be None for indices of 2 dimensions");
        }
        l->bags = l->indices->sizes[0];
        l->each = l->indices->sizes[1];
        if (l->last) { // the last offset is then not the start of a bag
            l->bags -= l->bags > 0 ? 1 : 0;
        }
    } else {
        if (offsets == NULL || offsets->rank != 1) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'offsets' should be a vector for indices of 1 dimension");
        }
        TAPER_TRY(check_ints(call, offsets, "offsets"));
        l->bags = offsets->sizes[0] - (l->last ? 1 : 0);
        if (l->bags < 0 || offsets->sizes[0] == 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'offsets' should have at least 1 element");
        }
        l->offsets = offsets;
    }
    if (weights != NULL && ((weights->dtype != TAPER_F32 && (t->bits == 8 || weights->dtype != TAPER_F16)) ||
                            taper_tensor_numel(weights) != l->count || !taper_tensor_is_contiguous(weights))) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT,
            "argument 'per_sample_weights' should be contiguous float32 with an element for each index but is %s "
            "of sizes %s",
            taper_dtype_torch_name((taper_dtype)weights->dtype), TAPER_SHAPE(weights));
    }
    l->weights = weights;
    return TAPER_OK;
}

// ---- sums of the rows of bags

static void add_row(const table *t, const table_row *row, float weight, float *to)
{
    const float scale = weight * row->scale, bias = weight * row->bias;
    const int per_byte = t->per_byte, mask = (1 << t->bits) - 1;
    for (int64_t j = 0; j < t->columns; j++) {
        const int element = row->data[j / per_byte] >> (j % per_byte * t->bits) & mask;
        to[j] = fmaf(scale, (float)element, to[j] + bias);
    }
}

static taper_status find_row(taper_run *run, const table *t, const lookup *l, int64_t at, int64_t *row)
{
    const int64_t given = int_at(l->indices, at);
    const int64_t limit = l->mapping != NULL ? taper_tensor_numel(l->mapping) : t->rows;
    *row = given;
    if (given < 0 || given >= limit) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "indices: element %" PRId64 " is %" PRId64 ", the table has %" PRId64 " rows", at, given, limit);
    }
    if (l->mapping != NULL) {
        *row = int_at(l->mapping, given);
        if (*row < -1 || *row >= t->rows) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                       "compressed_indices_mapping: element %" PRId64 " is %" PRId64 ", the table has %" PRId64 " rows",
                       given, *row, t->rows);
        }
    }
    return TAPER_OK;
}

// Returns the number of indices in the bag. Only these numbers come from the offsets: the first bag starts at the first
// index, even if the first offset is not 0.
static int64_t bag_length(const lookup *l, int64_t bag)
{
    if (l->offsets == NULL) {
        return l->each;
    }
    const bool open = bag + 1 == l->offsets->sizes[0];
    const uint64_t end = (uint64_t)(open ? l->count : int_at(l->offsets, bag + 1));
    return (int64_t)(end - (uint64_t)int_at(l->offsets, bag));
}

static taper_status sum_bags(taper_run *run, const table *t, const lookup *l, float *to)
{
    int64_t at = 0;
    for (int64_t bag = 0; bag < l->bags; bag++, to += t->columns) {
        const int64_t length = bag_length(l, bag);
        if (length > l->count - at) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                       "offsets: bag %" PRId64 " would have %" PRId64 " indices, %" PRId64 " are left", bag, length,
                       l->count - at);
        }
        TAPER_TRY(taper_run_spend(run, (uint64_t)t->columns));
        memset(to, 0, (size_t)t->columns * sizeof *to);
        for (int64_t i = 0; i < length; i++, at++) {
            int64_t index;
            TAPER_TRY(taper_run_spend(run, (uint64_t)t->columns * 4 + 50));
            TAPER_TRY(find_row(run, t, l, at, &index));
            if (index >= 0) {
                const table_row row = row_at(t, index);
                add_row(t, &row,
                        l->weights == NULL ? 1.0f
                                           : (float)taper_load_double((taper_dtype)l->weights->dtype,
                                                                      taper_tensor_data(l->weights), at),
                        to);
            }
        }
    }
    return TAPER_OK;
}

static taper_status embedding(taper_call *call, int bits)
{
    table t;
    lookup l = {0};
    bool pruned;
    taper_tensor *y;
    TAPER_TRY(open_packed(call, bits, &t));
    TAPER_TRY(read_indices(call, &l));
    TAPER_TRY(taper_arg_bool(call, 2, &pruned));
    TAPER_TRY(read_mapping(call, pruned, NULL, &l));
    l.bags = l.count;
    l.each = 1;
    int64_t sizes[3] = {l.indices->sizes[0], l.indices->rank == 2 ? l.indices->sizes[1] : 0, 0};
    sizes[l.indices->rank] = t.columns;
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, l.indices->rank + 1u, sizes, NULL, &y));
    return sum_bags(call->run, &t, &l, taper_tensor_mutable(y));
}

static taper_status embedding_bag(taper_call *call, int bits, bool fused)
{
    table t;
    lookup l = {0};
    taper_tensor *y;
    TAPER_TRY(fused ? open_fused(call, bits, &t) : open_packed(call, bits, &t));
    TAPER_TRY(read_indices(call, &l));
    TAPER_TRY(read_bag(call, &t, &l));
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 2, (const int64_t[]){l.bags, t.columns}, NULL, &y));
    return sum_bags(call->run, &t, &l, taper_tensor_mutable(y));
}

TAPER_KERNEL(taper_op_embedding_byte)
{
    return embedding(call, 8);
}

TAPER_KERNEL(taper_op_embedding_4bit)
{
    return embedding(call, 4);
}

TAPER_KERNEL(taper_op_embedding_bag_byte)
{
    return embedding_bag(call, 8, false);
}

TAPER_KERNEL(taper_op_embedding_bag_4bit)
{
    return embedding_bag(call, 4, false);
}

TAPER_KERNEL(taper_op_embedding_bag_byte_rowwise)
{
    return embedding_bag(call, 8, true);
}

TAPER_KERNEL(taper_op_embedding_bag_4bit_rowwise)
{
    return embedding_bag(call, 4, true);
}

TAPER_KERNEL(taper_op_embedding_bag_2bit_rowwise)
{
    return embedding_bag(call, 2, true);
}
