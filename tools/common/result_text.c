// SPDX-License-Identifier: BSD-2-Clause
// Writes a result as text: one line for each part with its type, shape, range and first elements.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/result.h"
#include "common/tensor_data.h"

enum { SHOWN = 6 };
#define SCAN_LIMIT ((size_t)1 << 28)

typedef struct text_visit {
    FILE *stream;
    taper_error *error;
} text_visit;

static void put_range(FILE *stream, const float *numbers, size_t count)
{
    double low = INFINITY, high = -INFINITY, sum = 0;
    size_t nans = 0;
    for (size_t i = 0; i < count; i++) {
        const double number = (double)numbers[i];
        if (isnan(number)) {
            nans++;
            continue;
        }
        low = number < low ? number : low;
        high = number > high ? number : high;
        sum += number;
    }
    if (nans < count) {
        fprintf(stream, "  min %.6g  mean %.6g  max %.6g", low, sum / (double)(count - nans), high);
    }
    if (nans != 0) {
        fprintf(stream, "  %zu NaN", nans);
    }
}

static bool put_tensor(const text_visit *v, const char *path, const taper_value *value)
{
    taper_tensor_info info;
    if (!tensor_info(path, value, v->error, &info)) {
        return false;
    }
    fprintf(v->stream, "%s [", taper_dtype_name(info.dtype));
    uint64_t count = 1;
    for (size_t i = 0; i < info.rank; i++) {
        fprintf(v->stream, "%s%" PRId64, i != 0 ? ", " : "", info.sizes[i]);
        count = info.sizes[i] != 0 && count > SCAN_LIMIT / (uint64_t)info.sizes[i] ? SCAN_LIMIT
                                                                                   : count * (uint64_t)info.sizes[i];
    }
    fputc(']', v->stream);
    if (info.quantized != 0) {
        fprintf(v->stream, " scale %.6g zero point %" PRId64, info.scale, info.zero_point);
    }
    const bool real =
        info.dtype != TAPER_C32 && info.dtype != TAPER_C64 && info.dtype != TAPER_C128 && info.quantized != 2;
    if (count == 0 || count >= SCAN_LIMIT || !real || taper_dtype_size(info.dtype) == 0) {
        return true;
    }
    size_t length;
    float *numbers = tensor_floats(path, &info, &length);
    if (numbers == NULL) {
        return false;
    }
    if (length > SHOWN) {
        put_range(v->stream, numbers, length);
    }
    fputs(length > SHOWN ? "\n    " : "  ", v->stream);
    for (size_t i = 0; i < length && i < SHOWN; i++) {
        fprintf(v->stream, "%s%.6g", i != 0 ? ", " : "", (double)numbers[i]);
    }
    fputs(length > SHOWN ? ", …" : "", v->stream);
    free(numbers);
    return true;
}

static bool put_leaf(void *user, const char *path, size_t path_length, const taper_value *leaf)
{
    const text_visit *v = user;
    int flag;
    int64_t integer;
    double number, imaginary;
    const char *text;
    size_t length;
    char type[256];
    text_put(v->stream, path, path_length, false);
    fputs("  ", v->stream);
    bool done = true;
    switch (taper_value_kind(leaf)) {
    case TAPER_KIND_TENSOR:
        done = put_tensor(v, path, leaf);
        break;
    case TAPER_KIND_NONE:
        fputs("None", v->stream);
        break;
    case TAPER_KIND_BOOL:
        done = taper_value_get_bool(leaf, &flag, v->error) == TAPER_OK;
        fputs(done && flag ? "True" : "False", v->stream);
        break;
    case TAPER_KIND_INT:
        done = taper_value_get_int(leaf, &integer, v->error) == TAPER_OK && fprintf(v->stream, "%" PRId64, integer) > 0;
        break;
    case TAPER_KIND_DOUBLE:
        done = taper_value_get_double(leaf, &number, v->error) == TAPER_OK && fprintf(v->stream, "%.9g", number) > 0;
        break;
    case TAPER_KIND_COMPLEX:
        done = taper_value_get_complex(leaf, &number, &imaginary, v->error) == TAPER_OK &&
               fprintf(v->stream, "%.9g%+.9gj", number, imaginary) > 0;
        break;
    case TAPER_KIND_STRING:
        done = taper_value_get_string(leaf, &text, &length, v->error) == TAPER_OK;
        if (done) {
            json_put_text(v->stream, text, length);
        }
        break;
    default:
        taper_value_type(leaf, type, sizeof type);
        text_put(v->stream, type, strlen(type), false);
        break;
    }
    fputc('\n', v->stream);
    return done;
}

bool result_to_text(FILE *stream, const char *name, const taper_value *value, taper_error *error)
{
    text_visit visit = {stream, error};
    return result_walk(name, value, error, put_leaf, &visit);
}
