// SPDX-License-Identifier: BSD-2-Clause
#include "common/ones.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/errors.h"

bool ones_parse_sizes(const char *subject, const char *text, size_t length, int64_t sizes[TAPER_MAX_RANK], size_t *rank)
{
    *rank = 0;
    for (size_t at = 0; at < length;) {
        size_t piece = 0;
        while (at + piece < length && text[at + piece] != ',') {
            piece++;
        }
        char digits[32];
        long size;
        if (piece >= sizeof digits) {
            return error_report(subject, "a size has too many digits");
        }
        memcpy(digits, text + at, piece);
        digits[piece] = '\0';
        if (piece != 0) {
            if (*rank == TAPER_MAX_RANK) {
                return error_report(subject, "more than %d dimensions", TAPER_MAX_RANK);
            }
            if (!args_parse_count(digits, 0, 1L << 30, &size)) {
                return error_report(subject, "\"%s\" is no size; give sizes as in 1,3,224,224", digits);
            }
            sizes[(*rank)++] = size;
        }
        at += piece + 1;
    }
    return true;
}

static void fill(void *data, taper_dtype dtype, size_t count, int64_t number)
{
    if (dtype == TAPER_U8) {
        memset(data, (int)number, count);
    } else if (dtype == TAPER_I64) {
        int64_t *out = data;
        for (size_t i = 0; i < count; i++) {
            out[i] = number;
        }
    } else {
        float *out = data;
        for (size_t i = 0; i < count; i++) {
            out[i] = (float)number;
        }
    }
}

bool ones_tensor(const char *subject, taper_context *context, taper_error *error, taper_dtype dtype, size_t rank,
                 const int64_t *sizes, bool channels_last, int64_t number, taper_value **value)
{
    const size_t element = taper_dtype_size(dtype);
    int64_t strides[TAPER_MAX_RANK], stride = 1;
    size_t count = 1;
    for (size_t i = rank; i > 0; i--) {
        strides[i - 1] = stride;
        if (sizes[i - 1] != 0 && stride > (INT64_C(1) << 40) / (int64_t)element / sizes[i - 1]) {
            return error_report(subject, "the tensor would be larger than 1 TiB");
        }
        count *= (size_t)sizes[i - 1];
        stride *= sizes[i - 1] != 0 ? sizes[i - 1] : 1;
    }
    if (channels_last && rank == 4) {
        const int64_t c = sizes[1] != 0 ? sizes[1] : 1, w = sizes[3] != 0 ? sizes[3] : 1;
        strides[1] = 1;
        strides[2] = w * c;
        strides[3] = c;
    }
    void *data = malloc(count * element + 1);
    if (data == NULL) {
        return error_report_memory(subject);
    }
    fill(data, dtype, count, number);
    if (taper_value_tensor_from(context, dtype, rank, sizes, strides, data, count * element, 0, free, data, value,
                                error) != TAPER_OK) {
        free(data);
        return error_report_library(subject, error);
    }
    return true;
}
