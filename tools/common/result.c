// SPDX-License-Identifier: BSD-2-Clause
// Visits the leaves of a result and writes .npz archives.
#include "common/result.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/npy.h"
#include "common/shared_parts.h"
#include "common/tensor_data.h"
#include "common/utf8.h"

// Limits on the result's depth, path length and number of leaves, because a model may return lists that contain one
// another.
enum { DEPTH_LIMIT = 64, PATH_LIMIT = 8192, LEAF_LIMIT = 1 << 24 };

typedef struct walk {
    taper_error *error;
    result_visit visit;
    void *user;
    size_t leaves;
    shared_parts shared;
    char path[PATH_LIMIT];
} walk;

static bool append(walk *w, size_t *length, const char *text, size_t text_length)
{
    if (text_length + 1 >= PATH_LIMIT - *length) {
        return error_report(w->path, "the key of a result is longer than %d bytes", PATH_LIMIT);
    }
    w->path[(*length)++] = '.';
    memcpy(w->path + *length, text, text_length);
    *length += text_length;
    w->path[*length] = '\0';
    return true;
}

// Appends the key of a dict's item, the name of an attribute, or the index of an item.
static bool append_key(walk *w, size_t *length, const taper_value *value, size_t index)
{
    const taper_kind kind = taper_value_kind(value);
    char digits[40];
    if (kind == TAPER_KIND_OBJECT && taper_value_field(value, index) != NULL) {
        const char *field = taper_value_field(value, index);
        return append(w, length, field, strlen(field));
    }
    if (kind != TAPER_KIND_DICT) {
        snprintf(digits, sizeof digits, "%zu", index);
        return append(w, length, digits, strlen(digits));
    }
    taper_value *key;
    if (taper_value_key(value, index, &key, w->error) != TAPER_OK) {
        return error_report_library(w->path, w->error);
    }
    const char *text = "";
    size_t text_length = 0;
    int64_t number;
    double real;
    int flag;
    bool done = true;
    if (taper_value_get_string(key, &text, &text_length, NULL) == TAPER_OK) {
        done = append(w, length, text, text_length);
    } else if (taper_value_get_int(key, &number, NULL) == TAPER_OK) {
        snprintf(digits, sizeof digits, "%lld", (long long)number);
        done = append(w, length, digits, strlen(digits));
    } else if (taper_value_get_double(key, &real, NULL) == TAPER_OK) {
        json_double_text(digits, real);
        done = append(w, length, digits, strlen(digits));
    } else if (taper_value_get_bool(key, &flag, NULL) == TAPER_OK) {
        done = flag ? append(w, length, "True", 4) : append(w, length, "False", 5);
    } else { // a key of another kind, for example a tensor, is replaced by the index of the item
        snprintf(digits, sizeof digits, "%zu", index);
        done = append(w, length, digits, strlen(digits));
    }
    taper_value_release(key);
    return done;
}

static bool walk_value(walk *w, size_t length, const taper_value *value, int depth, bool again)
{
    const size_t count = taper_value_count(value);
    if (depth > DEPTH_LIMIT || w->leaves >= LEAF_LIMIT) {
        return error_report(w->path,
                            depth > DEPTH_LIMIT ? "the result is nested too deeply" : "the result has too many parts");
    }
    w->leaves++;
    if (count == 0) {
        return w->visit(w->user, w->path, length, value);
    }
    if (!shared_parts_enter(&w->shared, w->path, value, &again)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t item_length = length;
        taper_value *item;
        if (!append_key(w, &item_length, value, i)) {
            return false;
        }
        if (taper_value_item(value, i, &item, w->error) != TAPER_OK) {
            return error_report_library(w->path, w->error);
        }
        const bool done = walk_value(w, item_length, item, depth + 1, again);
        taper_value_release(item);
        w->path[length] = '\0';
        if (!done) {
            return false;
        }
    }
    return true;
}

bool result_walk(const char *name, const taper_value *value, taper_error *error, result_visit visit, void *user)
{
    walk *w = malloc(sizeof *w);
    if (w == NULL) {
        return error_report_memory(name);
    }
    w->error = error;
    w->visit = visit;
    w->user = user;
    w->leaves = 0;
    snprintf(w->path, sizeof w->path, "%s", name);
    w->shared = (shared_parts){0};
    const bool done = walk_value(w, strlen(w->path), value, 0, false);
    shared_parts_free(&w->shared);
    free(w);
    return done;
}

// ---- .npz

typedef struct npz_visit {
    npz_writer *npz;
    taper_error *error;
    char left_out[256]; // name of the first part that cannot be stored as an array; "" if there is none
    char left_out_type[64];
    size_t left_out_count;
} npz_visit;

static bool add_scalar(npz_writer *npz, const char *path, const char *suffix, taper_dtype dtype, const void *number)
{
    char name[PATH_LIMIT + 32];
    const int length = snprintf(name, sizeof name, "%s%s", path, suffix);
    return npz_add(npz, name, (size_t)length, npy_descr(dtype), 0, NULL, number, taper_dtype_size(dtype));
}

static bool add_tensor(const npz_visit *v, const char *path, size_t length, const taper_value *value)
{
    taper_tensor_info info;
    if (!tensor_info(path, value, v->error, &info)) {
        return false;
    }
    const char *descr = npy_descr(info.dtype);
    if (descr == NULL) {
        return error_report(path, "NumPy has no dtype for %s; use --json", taper_dtype_name(info.dtype));
    }
    size_t bytes;
    void *data = tensor_gather(path, &info, &bytes);
    if (data == NULL) {
        return false;
    }
    const bool done = npz_add(v->npz, path, length, descr, info.rank, info.sizes, data, bytes);
    free(data);
    return done && (info.quantized == 0 || (add_scalar(v->npz, path, ".scale", TAPER_F64, &info.scale) &&
                                            add_scalar(v->npz, path, ".zero_point", TAPER_I64, &info.zero_point)));
}

// Stores a string as a NumPy array of rank 0 and dtype str, with code points of 32 bits. Bytes that are not UTF-8
// become surrogates, as in Python.
static bool add_string(const npz_visit *v, const char *path, size_t length, const taper_value *value)
{
    const char *text;
    size_t size, count = 0;
    char descr[32];
    if (taper_value_get_string(value, &text, &size, v->error) != TAPER_OK) {
        return error_report_library(path, v->error);
    }
    uint32_t *points = calloc(size + 1, sizeof *points);
    if (points == NULL) {
        return error_report_memory(path);
    }
    for (size_t i = 0; i < size; count++) {
        const size_t bytes = utf8_length(text + i, size - i);
        const unsigned char first = (unsigned char)text[i];
        points[count] = bytes == 0 ? 0xDC00u + first : bytes == 1 ? first : first & (0xFFu >> (bytes + 1));
        for (size_t k = 1; k < bytes; k++) {
            points[count] = points[count] << 6 | ((unsigned char)text[i + k] & 0x3Fu);
        }
        i += bytes != 0 ? bytes : 1;
    }
    count += count == 0; // length 1, because NumPy has no dtype str with length 0
    snprintf(descr, sizeof descr, "%cU%zu", *npy_descr(TAPER_I32), count);
    const bool done = npz_add(v->npz, path, length, descr, 0, NULL, points, count * sizeof *points);
    free(points);
    return done;
}

static void leave_out(npz_visit *v, const char *path, const taper_value *leaf)
{
    if (v->left_out_count++ == 0) {
        snprintf(v->left_out, sizeof v->left_out, "%s", path);
        taper_value_type(leaf, v->left_out_type, sizeof v->left_out_type);
    }
}

static bool add_leaf(void *user, const char *path, size_t length, const taper_value *leaf)
{
    npz_visit *v = user;
    int flag;
    int64_t integer;
    double number, pair[2];
    unsigned char byte;
    switch (taper_value_kind(leaf)) {
    case TAPER_KIND_TENSOR:
        return add_tensor(v, path, length, leaf);
    case TAPER_KIND_INT:
        return taper_value_get_int(leaf, &integer, v->error) == TAPER_OK &&
               add_scalar(v->npz, path, "", TAPER_I64, &integer);
    case TAPER_KIND_DOUBLE:
        return taper_value_get_double(leaf, &number, v->error) == TAPER_OK &&
               add_scalar(v->npz, path, "", TAPER_F64, &number);
    case TAPER_KIND_COMPLEX:
        return taper_value_get_complex(leaf, &pair[0], &pair[1], v->error) == TAPER_OK &&
               add_scalar(v->npz, path, "", TAPER_C128, pair);
    case TAPER_KIND_BOOL:
        if (taper_value_get_bool(leaf, &flag, v->error) != TAPER_OK) {
            return false;
        }
        byte = flag != 0;
        return add_scalar(v->npz, path, "", TAPER_BOOL, &byte);
    case TAPER_KIND_STRING:
        return add_string(v, path, length, leaf);
    default:
        leave_out(v, path, leaf); // None and empty containers cannot be stored as arrays
        return true;
    }
}

bool result_to_npz(npz_writer *npz, const char *name, const taper_value *value, taper_error *error)
{
    npz_visit visit = {.npz = npz, .error = error};
    if (!result_walk(name, value, error, add_leaf, &visit)) {
        return false;
    }
    if (visit.left_out_count != 0) {
        fputs("not in the archive, which holds arrays: ", stderr);
        text_put(stderr, visit.left_out, strlen(visit.left_out), false);
        fprintf(stderr, " (%s)", visit.left_out_type);
        if (visit.left_out_count > 1) {
            fprintf(stderr, " and %zu more", visit.left_out_count - 1);
        }
        fputs("; -o FILE.json holds everything\n", stderr);
    }
    return true;
}

// ---- .npy

bool result_to_npy(output_file *output, const char *name, const taper_value *value, taper_error *error)
{
    taper_tensor_info info;
    char header[NPY_HEADER_MAX], type[256];
    if (taper_value_kind(value) != TAPER_KIND_TENSOR) {
        taper_value_type(value, type, sizeof type);
        return error_report(output->path, "a .npy file holds one tensor, the result is %s: use .npz or .json", type);
    }
    if (!tensor_info(name, value, error, &info)) {
        return false;
    }
    const char *descr = npy_descr(info.dtype);
    if (descr == NULL || info.quantized != 0) {
        return error_report(output->path, "a .npy file holds no %s numbers: use %s", taper_dtype_name(info.dtype),
                            descr != NULL ? ".npz or .json" : ".json");
    }
    size_t bytes;
    void *data = tensor_gather(name, &info, &bytes);
    if (data == NULL) {
        return false;
    }
    const size_t header_size = npy_header(header, descr, info.rank, info.sizes);
    const bool done = output_write(output, header, header_size) && output_write(output, data, bytes);
    free(data);
    return done || error_report(output->path, "cannot write: the device is full or failed");
}
