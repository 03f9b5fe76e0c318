// SPDX-License-Identifier: BSD-2-Clause
// Packed sequences: the rows of all sequences, ordered by step, beginning with the longest sequence.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

static taper_tensor rows_of(const taper_tensor *tensor, size_t skip, size_t dims, int64_t offset, const int64_t *lead,
                            const int64_t *steps)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    for (size_t i = 0; i < dims; i++) {
        sizes[i] = lead[i];
        strides[i] = steps[i];
    }
    for (size_t i = skip; i < tensor->rank; i++) {
        sizes[dims + i - skip] = tensor->sizes[i];
        strides[dims + i - skip] = tensor->strides[i];
    }
    taper_tensor twin = taper_tensor_twin(tensor, dims + tensor->rank - skip, sizes, strides);
    twin.offset += offset;
    return twin;
}

static int64_t length_at(const taper_tensor *lengths, int64_t at)
{
    return taper_load_int(TAPER_I64, taper_tensor_data(lengths), at * lengths->strides[0]);
}

static taper_status check_lengths(taper_call *call, const taper_tensor *lengths, int64_t batch, int64_t steps,
                                  int64_t *total)
{
    taper_error *error = call->run->error;
    if (lengths->rank != 1 || lengths->dtype != TAPER_I64) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "'lengths' argument should be a 1D CPU int64 tensor, but got %uD %s tensor", lengths->rank,
                   taper_dtype_torch_name((taper_dtype)lengths->dtype));
    }
    if (lengths->sizes[0] != batch) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected `len(lengths)` to be equal to batch_size, but got %lld (batch_size=%lld)",
                   (long long)lengths->sizes[0], (long long)batch);
    }
    *total = 0;
    for (int64_t i = 0; i < batch; i++) {
        const int64_t length = length_at(lengths, i);
        if (!taper_run_step(call->run, i, 4)) { // an expanded vector may be long without using memory, so it is charged
            return taper_run_outcome(call->run, TAPER_OK);
        }
        if (length <= 0) {
            TAPER_FAIL(
                error, TAPER_ERROR_ARGUMENT,
                "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
        }
        if (i > 0 && length > length_at(lengths, i - 1)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                       "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
                       "requirement if you do "
                       "not need ONNX exportability.");
        }
        if (length > steps) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "'lengths' holds %lld, but the input has %lld steps",
                       (long long)length, (long long)steps);
        }
        *total += length; // the total cannot overflow, because batch size and steps are sizes of one tensor
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_pack_padded_sequence)
{
    taper_tensor *input, *lengths, *data = NULL, *batch_sizes = NULL;
    bool batch_first;
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_tensor(call, 1, &lengths));
    TAPER_TRY(taper_arg_bool(call, 2, &batch_first));
    if (input->rank < 2 || taper_tensor_numel(input) == 0) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "Cannot pack empty tensors: the input has sizes %s",
                   TAPER_SHAPE(input));
    }
    const size_t time_at = batch_first ? 1 : 0;
    const int64_t batch = input->sizes[1 - time_at];
    int64_t total = 0, sizes[TAPER_MAX_RANK];
    TAPER_TRY(check_lengths(call, lengths, batch, input->sizes[time_at], &total));
    const int64_t longest = length_at(lengths, 0);
    memcpy(sizes + 1, input->sizes + 2, (input->rank - 2u) * sizeof *sizes);
    sizes[0] = total;
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)input->dtype, input->rank - 1u, sizes, NULL, &data, run->error));
    taper_status status = taper_tensor_new(run->heap, TAPER_I64, 1, &longest, NULL, &batch_sizes, run->error);
    int64_t active = batch, row = 0;
    for (int64_t t = 0; t < longest && status == TAPER_OK; t++) {
        while (active > 0 && length_at(lengths, active - 1) <= t) {
            active--;
        }
        ((int64_t *)taper_tensor_mutable(batch_sizes))[t] = active;
        const taper_tensor from =
            rows_of(input, 2, 1, t * input->strides[time_at], &active, &input->strides[1 - time_at]);
        taper_tensor to = rows_of(data, 1, 1, row * data->strides[0], &active, &data->strides[0]);
        status = taper_run_copy(run, &to, &from);
        row += active;
    }
    if (status == TAPER_OK) {
        status = taper_ret_tensor(call, 0, data);
        data = NULL;
    }
    if (status == TAPER_OK) {
        status = taper_ret_tensor(call, 1, batch_sizes);
        batch_sizes = NULL;
    }
    taper_tensor_drop(data);
    taper_tensor_drop(batch_sizes);
    return status;
}

// Sets each element of the tensor to `value`.
static taper_status fill(taper_run *run, taper_tensor *tensor, taper_scalar value)
{
    taper_tensor *number = NULL;
    const bool integral = value.kind < TAPER_SCALAR_DOUBLE;
    TAPER_TRY(taper_tensor_new(run->heap, integral ? TAPER_I64 : TAPER_F64, 0, NULL, NULL, &number, run->error));
    if (integral) {
        *(int64_t *)taper_tensor_mutable(number) = value.i;
    } else {
        *(double *)taper_tensor_mutable(number) = value.f;
    }
    const taper_status status = taper_run_copy(run, tensor, number);
    taper_tensor_drop(number);
    return status;
}

TAPER_KERNEL(taper_op_pad_packed_sequence)
{
    taper_tensor *data, *batch_sizes, *out = NULL, *lengths = NULL;
    bool batch_first;
    taper_scalar padding;
    int64_t total = 0, sizes[TAPER_MAX_RANK];
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &data));
    TAPER_TRY(taper_arg_tensor(call, 1, &batch_sizes));
    TAPER_TRY(taper_arg_bool(call, 2, &batch_first));
    TAPER_TRY(taper_arg_scalar(call, 3, &padding));
    TAPER_TRY(taper_arg_int(call, 4, &total));
    if (batch_sizes->rank != 1 || batch_sizes->dtype != TAPER_I64 || batch_sizes->sizes[0] == 0 || data->rank < 1 ||
        data->rank >= TAPER_MAX_RANK) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "batch_sizes should be a vector of int64 and data a tensor of rows, their sizes are %s and %s",
                   TAPER_SHAPE(batch_sizes), TAPER_SHAPE(data));
    }
    const int64_t longest = batch_sizes->sizes[0], batch = length_at(batch_sizes, 0);
    int64_t rows = 0;
    for (int64_t t = 0; t < longest; t++) {
        const int64_t active = length_at(batch_sizes, t);
        if (active <= 0 || active > (t == 0 ? data->sizes[0] : length_at(batch_sizes, t - 1)) ||
            !taper_add_i64(rows, active, &rows)) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                       "batch_sizes should fall and stay above 0, but item %lld is %lld", (long long)t,
                       (long long)active);
        }
        if (!taper_run_step(run, t, 4)) { // an expanded vector may be long without using memory, so it is charged
            return taper_run_outcome(run, TAPER_OK);
        }
        if (rows > data->sizes[0]) {
            break;
        }
    }
    if (rows != data->sizes[0]) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the sum of batch_sizes is %s%lld, but data has %lld rows",
                   rows > data->sizes[0] ? "at least " : "", (long long)rows, (long long)data->sizes[0]);
    }
    if (total <= 0) {
        total = longest;
    } else if (total < longest) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "Expected total_length to be at least the length of the longest sequence in input, but got "
                   "total_length=%lld and "
                   "max sequence length being %lld",
                   (long long)total, (long long)longest);
    }
    sizes[0] = total;
    sizes[1] = batch;
    memcpy(sizes + 2, data->sizes + 1, (data->rank - 1u) * sizeof *sizes);
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)data->dtype, data->rank + 1u, sizes, NULL, &out, run->error));
    taper_status status = taper_tensor_new(run->heap, TAPER_I64, 1, &batch, NULL, &lengths, run->error);
    if (status == TAPER_OK) {
        status = fill(run, out, padding);
    }
    int64_t row = 0;
    for (int64_t t = 0; t < longest && status == TAPER_OK; t++) {
        const int64_t active = length_at(batch_sizes, t), next = t + 1 < longest ? length_at(batch_sizes, t + 1) : 0;
        const taper_tensor from = rows_of(data, 1, 1, row * data->strides[0], &active, &data->strides[0]);
        taper_tensor to = rows_of(out, 2, 1, t * out->strides[0], &active, &out->strides[1]);
        status = taper_run_copy(run, &to, &from);
        row += active;
        for (int64_t b = next; b < active; b++) {
            ((int64_t *)taper_tensor_mutable(lengths))[b] = t + 1;
        }
    }
    if (status == TAPER_OK && batch_first) {
        const int64_t size = out->sizes[0], stride = out->strides[0];
        out->sizes[0] = out->sizes[1];
        out->strides[0] = out->strides[1];
        out->sizes[1] = size;
        out->strides[1] = stride;
    }
    if (status == TAPER_OK) {
        status = taper_ret_tensor(call, 0, out);
        out = NULL;
    }
    if (status == TAPER_OK) {
        status = taper_ret_tensor(call, 1, lengths);
        lengths = NULL;
    }
    taper_tensor_drop(out);
    taper_tensor_drop(lengths);
    return status;
}
