// SPDX-License-Identifier: BSD-2-Clause
// Writes a result as JSON. A tensor is {"dtype", "shape", "strides", "data"} with nested data. A quantized tensor also
// has "scale" and "zero_point", and its data are integers. A complex number is [re, im].
#include <inttypes.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/result.h"
#include "common/shared_parts.h"
#include "common/tensor_data.h"

enum { DEPTH_LIMIT = 64, PART_LIMIT = 1 << 24 };

typedef struct json_writer {
    FILE *stream;
    const char *subject;
    taper_error *error;
    size_t parts;
    shared_parts shared;
} json_writer;

static void put_element(FILE *stream, taper_dtype dtype, const void *element)
{
    double f64[2];
    float f32[2];
    int64_t i64;
    int32_t i32;
    int16_t i16;
    switch (dtype) {
    case TAPER_U8:
    case TAPER_QU8:
        fprintf(stream, "%u", (unsigned)*(const unsigned char *)element);
        break;
    case TAPER_I8:
    case TAPER_QI8:
        fprintf(stream, "%d", *(const signed char *)element);
        break;
    case TAPER_BOOL:
        fputs(*(const unsigned char *)element != 0 ? "true" : "false", stream);
        break;
    case TAPER_I16:
        memcpy(&i16, element, sizeof i16);
        fprintf(stream, "%d", i16);
        break;
    case TAPER_I32:
    case TAPER_QI32:
        memcpy(&i32, element, sizeof i32);
        fprintf(stream, "%" PRId32, i32);
        break;
    case TAPER_I64:
        memcpy(&i64, element, sizeof i64);
        fprintf(stream, "%" PRId64, i64);
        break;
    case TAPER_F16:
        json_put_float(stream, tensor_half(element));
        break;
    case TAPER_BF16:
        json_put_float(stream, tensor_bfloat16(element));
        break;
    case TAPER_F64:
        memcpy(f64, element, sizeof f64[0]);
        json_put_double(stream, f64[0]);
        break;
    case TAPER_C32:
    case TAPER_C64:
    case TAPER_C128:
        if (dtype == TAPER_C128) {
            memcpy(f64, element, sizeof f64);
        } else if (dtype == TAPER_C64) {
            memcpy(f32, element, sizeof f32);
            f64[0] = (double)f32[0];
            f64[1] = (double)f32[1];
        } else {
            f64[0] = (double)tensor_half(element);
            f64[1] = (double)tensor_half((const char *)element + 2);
        }
        fputc('[', stream);
        json_put_double(stream, f64[0]);
        fputs(", ", stream);
        json_put_double(stream, f64[1]);
        fputc(']', stream);
        break;
    default:
        memcpy(f32, element, sizeof f32[0]);
        json_put_float(stream, f32[0]);
        break;
    }
}

// Writes the data of one dimension after the other. For an empty tensor, writes the brackets of the dimensions before
// the empty dimension.
static void put_data(FILE *stream, const taper_tensor_info *info, size_t dimension, const char *data)
{
    if (dimension == info->rank) {
        put_element(stream, info->dtype, data);
        return;
    }
    const int64_t step = info->strides[dimension] * (int64_t)taper_dtype_size(info->dtype);
    fputc('[', stream);
    for (int64_t i = 0; i < info->sizes[dimension]; i++) {
        fputs(i != 0 ? ", " : "", stream);
        put_data(stream, info, dimension + 1, data + i * step); // recursive up to the rank of the tensor
    }
    fputc(']', stream);
}

static void put_sizes(FILE *stream, const char *name, size_t rank, const int64_t *sizes)
{
    fprintf(stream, ", \"%s\": [", name);
    for (size_t i = 0; i < rank; i++) {
        fprintf(stream, "%s%" PRId64, i != 0 ? ", " : "", sizes[i]);
    }
    fputc(']', stream);
}

static bool put_tensor(const json_writer *w, const taper_value *value)
{
    taper_tensor_info info;
    size_t count;
    if (!tensor_info(w->subject, value, w->error, &info) || !tensor_count(w->subject, &info, (size_t)1 << 31, &count)) {
        return false;
    }
    int64_t brackets = 1; // has a limit, because a tensor of [1000000, 1000000, 0] has no elements but 10^12 brackets
    for (size_t i = 0; i < info.rank && info.sizes[i] != 0; i++) {
        if (info.sizes[i] > PART_LIMIT || brackets * info.sizes[i] > (INT64_C(1) << 31)) {
            return error_report(w->subject, "the tensor is too large for JSON; use -o");
        }
        brackets *= info.sizes[i];
    }
    fprintf(w->stream, "{\"dtype\": \"%s\"", taper_dtype_name(info.dtype));
    put_sizes(w->stream, "shape", info.rank, info.sizes);
    put_sizes(w->stream, "strides", info.rank, info.strides);
    if (info.quantized != 0) {
        fputs(", \"scale\": ", w->stream);
        json_put_double(w->stream, info.scale);
        fprintf(w->stream, ", \"zero_point\": %" PRId64, info.zero_point);
    }
    fputs(", \"data\": ", w->stream);
    put_data(w->stream, &info, 0, info.data);
    fputc('}', w->stream);
    return true;
}

static bool put_value(json_writer *w, const taper_value *value, int depth, bool again);

static bool put_key(const json_writer *w, const taper_value *value, size_t index)
{
    char digits[40] = "";
    const char *text = digits;
    size_t length;
    taper_value *key = NULL;
    int64_t number;
    double real;
    int flag;
    if (taper_value_kind(value) == TAPER_KIND_OBJECT) {
        text = taper_value_field(value, index);
        json_put_text(w->stream, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
        fputs(": ", w->stream);
        return true;
    }
    if (taper_value_key(value, index, &key, w->error) != TAPER_OK) {
        return error_report_library(w->subject, w->error);
    }
    if (taper_value_get_string(key, &text, &length, NULL) != TAPER_OK) {
        text = digits;
        if (taper_value_get_int(key, &number, NULL) == TAPER_OK) {
            snprintf(digits, sizeof digits, "%" PRId64, number);
        } else if (taper_value_get_double(key, &real, NULL) == TAPER_OK) {
            json_double_text(digits, real);
        } else if (taper_value_get_bool(key, &flag, NULL) == TAPER_OK) {
            snprintf(digits, sizeof digits, "%s", flag ? "True" : "False");
        } else {
            snprintf(digits, sizeof digits, "%zu", index);
        }
        length = strlen(digits);
    }
    json_put_text(w->stream, text, length);
    fputs(": ", w->stream);
    taper_value_release(key);
    return true;
}

static bool put_items(json_writer *w, const taper_value *value, int depth, bool again, bool keyed)
{
    const size_t count = taper_value_count(value);
    if (!shared_parts_enter(&w->shared, w->subject, value, &again)) {
        return false;
    }
    fputc(keyed ? '{' : '[', w->stream);
    for (size_t i = 0; i < count; i++) {
        taper_value *item;
        fputs(i != 0 ? ", " : "", w->stream);
        if (keyed && !put_key(w, value, i)) {
            return false;
        }
        if (taper_value_item(value, i, &item, w->error) != TAPER_OK) {
            return error_report_library(w->subject, w->error);
        }
        const bool done = put_value(w, item, depth + 1, again);
        taper_value_release(item);
        if (!done) {
            return false;
        }
    }
    fputc(keyed ? '}' : ']', w->stream);
    return true;
}

static bool put_value(json_writer *w, const taper_value *value, int depth, bool again)
{
    int flag = 0;
    int64_t integer = 0;
    double number = 0, imaginary = 0;
    const char *text;
    size_t length;
    char type[256];
    if (depth > DEPTH_LIMIT || ++w->parts > PART_LIMIT) {
        return error_report(w->subject,
                            depth > DEPTH_LIMIT ? "the result is nested too deeply" : "the result has too many parts");
    }
    bool done = true;
    switch (taper_value_kind(value)) {
    case TAPER_KIND_NONE:
        fputs("null", w->stream);
        break;
    case TAPER_KIND_BOOL:
        done = taper_value_get_bool(value, &flag, w->error) == TAPER_OK;
        fputs(flag ? "true" : "false", w->stream);
        break;
    case TAPER_KIND_INT:
        done = taper_value_get_int(value, &integer, w->error) == TAPER_OK;
        fprintf(w->stream, "%" PRId64, integer);
        break;
    case TAPER_KIND_DOUBLE:
        done = taper_value_get_double(value, &number, w->error) == TAPER_OK;
        json_put_double(w->stream, number);
        break;
    case TAPER_KIND_COMPLEX:
        done = taper_value_get_complex(value, &number, &imaginary, w->error) == TAPER_OK;
        fputs("{\"complex\": [", w->stream);
        json_put_double(w->stream, number);
        fputs(", ", w->stream);
        json_put_double(w->stream, imaginary);
        fputs("]}", w->stream);
        break;
    case TAPER_KIND_STRING:
        done = taper_value_get_string(value, &text, &length, w->error) == TAPER_OK;
        if (done) {
            json_put_text(w->stream, text, length);
        }
        break;
    case TAPER_KIND_TENSOR:
        return put_tensor(w, value);
    case TAPER_KIND_LIST:
    case TAPER_KIND_TUPLE:
        return put_items(w, value, depth, again, false);
    case TAPER_KIND_DICT:
    case TAPER_KIND_OBJECT:
        return put_items(w, value, depth, again, true);
    default:
        taper_value_type(value, type, sizeof type);
        fputs("{\"type\": ", w->stream);
        json_put_text(w->stream, type, strlen(type));
        fputc('}', w->stream);
        break;
    }
    return done || error_report_library(w->subject, w->error);
}

bool result_to_json(FILE *stream, const char *subject, const taper_value *value, taper_error *error)
{
    json_writer w = {.stream = stream, .subject = subject, .error = error};
    const bool done = put_value(&w, value, 0, false);
    shared_parts_free(&w.shared);
    return done;
}
