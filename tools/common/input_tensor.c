// SPDX-License-Identifier: BSD-2-Clause
#include "common/input_tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/errors.h"
#include "common/file_kind.h"
#include "common/files.h"
#include "common/input_made.h"
#include "common/npy.h"
#include "common/npz_read.h"

#define FILE_LIMIT (sizeof(size_t) == 8 ? (size_t)(UINT64_C(1) << 40) : SIZE_MAX / 4)

typedef struct tensor_options {
    bool channels_last, bfloat16, quantized;
    taper_dtype dtype; // dtype of a quantized tensor
    double scale;
    int64_t zero_point;
} tensor_options;

// Returns the path in the working folder if the file exists there, otherwise its path in source->folder. The caller
// frees it.
static char *locate(const input_source *source, const char *path)
{
    const bool beside = source->folder != NULL && path[0] != '/' && access(path, F_OK) != 0;
    const size_t folder = beside ? strlen(source->folder) + 1 : 0, length = strlen(path);
    char *found = malloc(folder + length + 1);
    if (found != NULL) {
        if (beside) {
            memcpy(found, source->folder, folder - 1);
            found[folder - 1] = '/';
        }
        memcpy(found + folder, path, length + 1);
    }
    return found;
}

// Reverses the bytes of each number. A complex number is reversed as two numbers.
static void swap_bytes(unsigned char *data, const npy_array *array)
{
    const bool is_complex = array->dtype == TAPER_C64 || array->dtype == TAPER_C128;
    const size_t width = taper_dtype_size(array->dtype) / (is_complex ? 2 : 1);
    for (size_t i = 0; array->swapped && i + width <= array->bytes; i += width) {
        for (size_t k = 0; k < width / 2; k++) {
            const unsigned char keep = data[i + k];
            data[i + k] = data[i + width - 1 - k];
            data[i + width - 1 - k] = keep;
        }
    }
}

// Rounds to nearest even, as PyTorch does; NaN stays NaN.
static void narrow_to_bfloat16(unsigned char *data, npy_array *array)
{
    for (size_t i = 0; i < array->bytes / 4; i++) {
        uint32_t bits;
        memcpy(&bits, data + 4 * i, 4);
        const bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
        const uint16_t half = nan ? 0x7FC0 : (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
        memcpy(data + 2 * i, &half, 2);
    }
    array->bytes /= 2;
    array->dtype = TAPER_BF16;
}

static void dense_strides(const npy_array *array, bool reversed, int64_t strides[TAPER_MAX_RANK])
{
    uint64_t stride = 1; // unsigned, because it may overflow: an empty array has huge sizes in some files
    for (size_t k = 0; k < array->rank; k++) {
        const size_t i = reversed ? k : array->rank - 1 - k;
        strides[i] = (int64_t)(stride & INT64_MAX);
        stride *= array->sizes[i] > 0 ? (uint64_t)array->sizes[i] : 1;
    }
}

// Rewrites NCHW elements as NHWC.
static bool reorder_channels_last(unsigned char **data, const npy_array *array)
{
    const size_t element = taper_dtype_size(array->dtype), count = array->bytes / element,
                 channels = (size_t)array->sizes[1], plane = (size_t)array->sizes[2] * (size_t)array->sizes[3];
    unsigned char *ordered = malloc(array->bytes + 1);
    if (ordered == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t n = i / (channels * plane), c = i / plane % channels, p = i % plane;
        memcpy(ordered + ((n * plane + p) * channels + c) * element, *data + i * element, element);
    }
    free(*data);
    *data = ordered;
    return true;
}

static bool make_tensor(const input_source *source, const char *path, npy_array *array, unsigned char *data,
                        const tensor_options *options, taper_value **value)
{
    // The elements are moved to the start of their buffer, where they are aligned for any dtype.
    memmove(data, data + array->offset, array->bytes);
    swap_bytes(data, array);
    if (array->dtype == TAPER_BOOL) {
        for (size_t i = 0; i < array->bytes; i++) {
            data[i] = data[i] != 0;
        }
    }
    if (options->bfloat16) {
        narrow_to_bfloat16(data, array);
    }
    if (options->quantized) {
        const taper_status status =
            taper_value_tensor_quantized(source->context, options->dtype, array->rank, array->sizes, data, array->bytes,
                                         options->scale, options->zero_point, value, source->error);
        free(data);
        return status == TAPER_OK || error_report_library(path, source->error);
    }
    int64_t strides[TAPER_MAX_RANK];
    dense_strides(array, array->fortran_order, strides);
    if (options->channels_last) {
        if (!reorder_channels_last(&data, array)) {
            free(data);
            return error_report_memory(path);
        }
        const npy_array nhwc = {.rank = 4,
                                .sizes = {array->sizes[0], array->sizes[2], array->sizes[3], array->sizes[1]}};
        int64_t ordered[TAPER_MAX_RANK];
        dense_strides(&nhwc, false, ordered);
        strides[0] = ordered[0];
        strides[1] = ordered[3];
        strides[2] = ordered[1];
        strides[3] = ordered[2];
    }
    if (taper_value_tensor_from(source->context, array->dtype, array->rank, array->sizes, strides, data, array->bytes,
                                0, free, data, value, source->error) != TAPER_OK) {
        free(data);
        return error_report_library(path, source->error);
    }
    return true;
}

static bool check_options(const char *path, const npy_array *array, const tensor_options *options)
{
    if (options->quantized) {
        const taper_dtype wanted = options->dtype == TAPER_QU8   ? TAPER_U8
                                   : options->dtype == TAPER_QI8 ? TAPER_I8
                                                                 : TAPER_I32;
        if (array->dtype != wanted) {
            return error_report(path, "a %s tensor is made of %s numbers, the file holds %s",
                                taper_dtype_name(options->dtype), taper_dtype_name(wanted),
                                taper_dtype_name(array->dtype));
        }
        if (array->fortran_order && array->rank > 1) {
            return error_report(path, "a quantized tensor needs C order; save numpy.ascontiguousarray(a)");
        }
    }
    if (options->bfloat16 && array->dtype != TAPER_F32) {
        return error_report(path, "a bfloat16 tensor is made of float32 numbers, the file holds %s",
                            taper_dtype_name(array->dtype));
    }
    if (options->channels_last && (array->rank != 4 || array->fortran_order || options->quantized)) {
        return error_report(path,
                            "\"memory_format\": \"channels_last\" needs a plain tensor of 4 dimensions in C order");
    }
    return true;
}

// Makes a tensor from a .npy file. The value takes ownership of the bytes, which are freed after a failure.
static bool tensor_from_npy(const input_source *source, const char *path, unsigned char *bytes, size_t size,
                            const tensor_options *options, taper_value **value)
{
    npy_array array;
    if (npy_parse(path, bytes, size, &array) && check_options(path, &array, options)) {
        return make_tensor(source, path, &array, bytes, options, value);
    }
    free(bytes);
    return false;
}

// Reads the number stored with a quantized array: KEY.scale or KEY.zero_point.
static bool take_number(const npz_archive *npz, const char *key, const char *suffix, taper_dtype dtype, void *number)
{
    char name[600];
    unsigned char *bytes;
    size_t size;
    npy_array array;
    snprintf(name, sizeof name, "%s%s", key, suffix);
    if (!npz_take(npz, name, &bytes, &size)) {
        return false;
    }
    bool done = npy_parse(npz->path, bytes, size, &array);
    if (done) {
        done = (array.dtype == dtype && array.bytes == 8) ||
               error_report(npz->path, "\"%s\" is no %s", name, taper_dtype_name(dtype));
    }
    if (done) {
        swap_bytes(bytes + array.offset, &array);
        memcpy(number, bytes + array.offset, 8);
    }
    free(bytes);
    return done;
}

// If the archive has a scale and a zero point for an array of integers, the array becomes a quantized tensor. result.h
// writes such archives.
static bool take_quantization(const npz_archive *npz, const char *key, const unsigned char *bytes, size_t size,
                              tensor_options *options)
{
    char name[600];
    npy_array array;
    snprintf(name, sizeof name, "%s.scale", key);
    if (options->quantized || !npz_has(npz, name)) {
        return true;
    }
    if (!npy_parse(npz->path, bytes, size, &array)) {
        return false;
    }
    options->quantized = true;
    options->dtype = array.dtype == TAPER_U8 ? TAPER_QU8 : array.dtype == TAPER_I8 ? TAPER_QI8 : TAPER_QI32;
    return take_number(npz, key, ".scale", TAPER_F64, &options->scale) &&
           take_number(npz, key, ".zero_point", TAPER_I64, &options->zero_point);
}

// Reads the array `key`, or the only array if key is NULL. The bytes belong to the caller.
static bool tensor_from_npz(const input_source *source, const char *path, const char *key, const unsigned char *bytes,
                            size_t size, const tensor_options *options, taper_value **value)
{
    npz_archive npz;
    char only[512], known[256];
    unsigned char *npy;
    size_t npy_size;
    tensor_options own = *options;
    if (!npz_read(&npz, path, bytes, size)) {
        return false;
    }
    if (key == NULL && !npz_only(&npz, only, known)) {
        return *known == '\0' ? error_report(path, "a zip archive without arrays; numpy.savez writes such with them")
                              : error_report(path, "holds several arrays: say which, as in %s:%.*s (%s)", path,
                                             (int)strcspn(known, ","), known, known);
    }
    key = key != NULL ? key : only;
    if (strlen(key) >= sizeof only || !npz_take(&npz, key, &npy, &npy_size)) {
        return strlen(key) >= sizeof only ? error_report(path, "there is no array of so long a name") : false;
    }
    if (!take_quantization(&npz, key, npy, npy_size, &own)) {
        free(npy);
        return false;
    }
    return tensor_from_npy(source, path, npy, npy_size, &own, value);
}

static bool tensor_from_picture(const input_source *source, const char *path, const char *name,
                                const tensor_options *options, taper_value **value)
{
    if (source->picture == NULL || options->quantized || options->bfloat16 || options->channels_last) {
        return error_report(path, "%s, where an array is wanted", name);
    }
    return source->picture(source->user, path, value);
}

// Reads a file according to its contents, not its name. key: name of an array in an archive; NULL if none is given.
static bool tensor_from_file(const input_source *source, const char *path, const char *key,
                             const tensor_options *options, taper_value **value)
{
    unsigned char *bytes;
    size_t size;
    const char *name;
    bool done;
    if (!file_read(path, FILE_LIMIT, &bytes, &size)) {
        return false;
    }
    switch (file_kind_of(bytes, size, &name)) {
    case FILE_KIND_NPY:
        return tensor_from_npy(source, path, bytes, size, options, value);
    case FILE_KIND_ZIP:
        done = tensor_from_npz(source, path, key, bytes, size, options, value);
        break;
    case FILE_KIND_PICTURE:
        done = tensor_from_picture(source, path, name, options, value);
        break;
    default:
        done = error_report(path, "holds %s; a tensor is read from .npy, .npz, PNG and JPEG files", name);
    }
    free(bytes);
    return done;
}

// Reads "FILE" or "FILE.npz:KEY".
static bool load_tensor(const input_source *source, const char *path, const tensor_options *options,
                        taper_value **value)
{
    char *found = locate(source, path);
    if (found == NULL) {
        return error_report_memory(path);
    }
    char *colon = access(found, F_OK) != 0 ? strstr(found, ".npz:") : NULL;
    if (colon != NULL) {
        colon[4] = '\0';
    }
    const bool done = tensor_from_file(source, found, colon != NULL ? colon + 5 : NULL, options, value);
    free(found);
    return done;
}

bool input_tensor_file(const input_source *source, const char *path, taper_value **value)
{
    const tensor_options plain = {0};
    *value = NULL;
    return input_made_is(path) ? input_made(source, path, value) : load_tensor(source, path, &plain, value);
}

static bool is_text(const json_value *json, const char *text)
{
    return json->kind == JSON_TEXT && strcmp(json->text, text) == 0;
}

static bool read_dtype(const input_source *source, const json_value *dtype, tensor_options *options)
{
    if (is_text(dtype, "quint8") || is_text(dtype, "qint8") || is_text(dtype, "qint32")) {
        options->quantized = true;
        options->dtype = is_text(dtype, "quint8") ? TAPER_QU8 : is_text(dtype, "qint8") ? TAPER_QI8 : TAPER_QI32;
        return true;
    }
    if (is_text(dtype, "bfloat16")) {
        options->bfloat16 = true;
        return true;
    }
    return error_report(source->subject,
                        "\"dtype\" of a tensor may be \"quint8\", \"qint8\", \"qint32\" or \"bfloat16\"");
}

bool input_tensor_json(const input_source *source, const json_value *json, taper_value **value)
{
    tensor_options options = {.scale = 1};
    const json_value *file = json_member(json, "@tensor"), *scale = json_member(json, "scale"),
                     *zero_point = json_member(json, "zero_point"), *dtype = json_member(json, "dtype"),
                     *format = json_member(json, "memory_format");
    *value = NULL;
    if (file != NULL && file->kind == JSON_ARRAY && scale == NULL && zero_point == NULL && format == NULL) {
        return input_array(source, file, dtype != NULL && dtype->kind == JSON_TEXT ? dtype->text : NULL, value);
    }
    if (file == NULL || file->kind != JSON_TEXT) {
        return error_report(source->subject,
                            "\"@tensor\" must name a file, or be an array with no more than a \"dtype\"");
    }
    if (dtype != NULL && !read_dtype(source, dtype, &options)) {
        return false;
    }
    if (scale != NULL || zero_point != NULL) {
        if (!options.quantized) {
            return error_report(
                source->subject,
                "\"scale\" and \"zero_point\" belong to \"dtype\": \"quint8\", \"qint8\" or \"qint32\"");
        }
    }
    if (options.quantized) {
        if (scale == NULL || (scale->kind != JSON_DOUBLE && scale->kind != JSON_INT) || !isfinite(scale->number) ||
            zero_point == NULL || zero_point->kind != JSON_INT) {
            return error_report(source->subject,
                                "a quantized tensor needs \"scale\", a number, and \"zero_point\", an integer");
        }
        options.scale = scale->number;
        options.zero_point = zero_point->integer;
    }
    if (format != NULL && !is_text(format, "contiguous_format")) {
        options.channels_last = is_text(format, "channels_last");
        if (!options.channels_last) {
            return error_report(source->subject, "\"memory_format\" may be \"contiguous_format\" or \"channels_last\"");
        }
    }
    return load_tensor(source, file->text + (file->text[0] == '@'), &options, value);
}
