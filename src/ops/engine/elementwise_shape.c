// SPDX-License-Identifier: BSD-2-Clause
// Shapes and strides of elementwise results. PyTorch computes a result's strides from the strides of the operands, and
// later views in the model depend on the result's strides. The code therefore follows PyTorch's rules exactly, on
// logical strides.
#include "ops/engine/elementwise.h"

taper_status taper_ew_broadcast(size_t *rank, int64_t *result, const taper_tensor *tensor, taper_error *error)
{
    if (tensor->rank > *rank) {
        const size_t more = tensor->rank - *rank;
        memmove(result + more, result, *rank * sizeof *result);
        for (size_t i = 0; i < more; i++) {
            result[i] = 1;
        }
        *rank = tensor->rank;
    }
    const size_t lead = *rank - tensor->rank;
    for (size_t i = 0; i < tensor->rank; i++) {
        const int64_t size = tensor->sizes[i];
        if (size != result[lead + i] && size != 1 && result[lead + i] != 1) {
            TAPER_FAIL(
                error, TAPER_ERROR_ARGUMENT,
                "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton dimension %zu",
                (long long)result[lead + i], (long long)size, lead + i);
        }
        if (result[lead + i] == 1) {
            result[lead + i] = size;
        }
    }
    return TAPER_OK;
}

static bool same_sizes(const taper_tensor *a, const taper_tensor *b)
{
    return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof a->sizes[0]) == 0;
}

// Returns true for the channels_last strides of a 4-D tensor. Strides of dimensions of size 1 are ignored, as in
// PyTorch's is_contiguous.
static bool is_channels_last(size_t rank, const int64_t *sizes, const int64_t *strides)
{
    static const uint8_t order[4] = {1, 3, 2, 0};
    if (rank != 4) {
        return false;
    }
    int64_t expected = 1;
    for (size_t k = 0; k < 4; k++) {
        const size_t d = order[k];
        if (sizes[d] != 1) {
            if (strides[d] != expected) {
                return false;
            }
            expected *= sizes[d];
        }
    }
    return true;
}

static bool is_contiguous(size_t rank, const int64_t *sizes, const int64_t *strides)
{
    int64_t expected = 1;
    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] == 0) {
            return true;
        }
    }
    for (size_t d = rank; d-- > 0;) {
        if (sizes[d] != 1) {
            if (strides[d] != expected) {
                return false;
            }
            expected *= sizes[d];
        }
    }
    return true;
}

typedef struct operand {
    bool dense;
    int64_t strides[TAPER_MAX_RANK];   // strides of the tensor, or of its conversion to the common dtype, in elements
    int64_t broadcast[TAPER_MAX_RANK]; // strides along the result's dimensions, in bytes; 0 along broadcast dimensions
} operand;

// Finds the strides if all operands have one shape and agree on a layout. Returns false if they do not.
static bool fast_strides(size_t rank, const int64_t *sizes, taper_tensor *const *operands, const operand *strided,
                         size_t count, int64_t *strides)
{
    bool contiguous = true, channels_last = true, dense = true, equal = true;
    for (size_t k = 0; k < count; k++) {
        if (operands[k] == NULL || !same_sizes(operands[k], operands[0])) {
            return false;
        }
        contiguous = contiguous && is_contiguous(rank, sizes, strided[k].strides);
        channels_last = channels_last && is_channels_last(rank, sizes, strided[k].strides);
        dense = dense && strided[k].dense;
        equal = equal && memcmp(strided[k].strides, strided[0].strides, rank * sizeof *strides) == 0;
    }
    if (contiguous) {
        taper_strides_contiguous(rank, sizes, strides);
    } else if (channels_last) {
        taper_strides_channels_last(rank, sizes, strides);
    } else if (dense && equal) {
        memcpy(strides, strided[0].strides, rank * sizeof *strides);
    } else {
        return false;
    }
    return true;
}

// Compares dimension a, which is inside dimension b now. Returns 1 if a must move outside b, -1 if it must not, 0 if
// the strides do not decide.
static int compare_dims(const int64_t *sizes, taper_tensor *const *operands, const operand *strided, size_t count,
                        size_t a, size_t b)
{
    for (size_t k = 0; k < count; k++) {
        if (operands[k] == NULL) {
            continue;
        }
        const int64_t sa = strided[k].broadcast[a], sb = strided[k].broadcast[b];
        if (sa == 0 || sb == 0) {
            continue;
        }
        if (sa != sb) {
            return sa < sb ? -1 : 1;
        }
        if (sizes[a] > sizes[b]) {
            return 1;
        }
    }
    return 0;
}

static void lay_operand(operand *o, const taper_tensor *tensor, size_t rank, const int64_t *sizes, bool converted,
                        int64_t item)
{
    taper_tensor_logical_strides(tensor, o->strides);
    o->dense = tensor->hidden_nhwc || taper_tensor_is_dense(tensor);
    if (converted && !o->dense) { // PyTorch converts this operand first, to a copy without gaps
        taper_strides_dense(tensor, o->strides);
        o->dense = true;
    }
    const size_t lead = rank - tensor->rank;
    for (size_t i = 0; i < tensor->rank; i++) {
        const bool repeated = tensor->sizes[i] == 1 && sizes[lead + i] != 1;
        o->broadcast[lead + i] = repeated ? 0 : taper_wrap_mul(o->strides[i], item);
    }
}

void taper_ew_result_strides(size_t rank, const int64_t *sizes, taper_tensor *const *operands, size_t count,
                             taper_dtype common, unsigned masks, int64_t *strides)
{
    operand strided[TAPER_EW_INPUTS];
    memset(strided, 0, sizeof strided);
    for (size_t k = 0; k < count; k++) {
        if (operands[k] != NULL) {
            const bool mask = (masks >> k & 1) != 0;
            const int64_t item = mask ? 1 : (int64_t)taper_dtype_size(common);
            lay_operand(&strided[k], operands[k], rank, sizes, !mask && operands[k]->dtype != common, item);
        }
    }
    if (fast_strides(rank, sizes, operands, strided, count, strides)) {
        return;
    }
    size_t order[TAPER_MAX_RANK]; // dimensions of the result, the innermost first
    for (size_t i = 0; i < rank; i++) {
        order[i] = rank - 1 - i;
    }
    for (size_t i = 1; i < rank; i++) {
        size_t moving = i;
        for (size_t j = i; j-- > 0;) {
            const int comparison = compare_dims(sizes, operands, strided, count, order[j], order[moving]);
            if (comparison > 0) {
                const size_t t = order[j];
                order[j] = order[moving];
                order[moving] = t;
                moving = j;
            } else if (comparison < 0) {
                break;
            }
        }
    }
    bool inverted = true;
    int64_t step = 1;
    for (size_t i = 0; i < rank; i++) {
        inverted = inverted && order[i] == rank - 1 - i;
        strides[order[i]] = step;
        step *= sizes[order[i]];
    }
    if (inverted) {
        taper_strides_contiguous(rank, sizes, strides);
    }
}
