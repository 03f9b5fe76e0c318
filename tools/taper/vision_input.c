// SPDX-License-Identifier: BSD-2-Clause
// The part of vision.h that turns pictures into tensors and finds the scores in a result.
#include <math.h>
#include <string.h>

#include "common/errors.h"
#include "taper/settings.h"
#include "taper/vision.h"

// Where a centred crop begins; halves round to even, as Python's round() does.
static int crop_begin(int whole, int part)
{
    const int rest = whole - part, half = rest / 2;
    return rest % 2 == 0 || half % 2 == 0 ? half : half + 1;
}

static bool resize_for(const vision *v, const char *path, const image *picture, image *out)
{
    if (v->shorter == 0) {
        return image_resize(path, picture, v->width, v->height, out);
    }
    int width = v->shorter, height = v->shorter;
    if (picture->width < picture->height) {
        height = (int)((double)v->shorter * picture->height / picture->width);
    } else {
        width = (int)((double)v->shorter * picture->width / picture->height);
    }
    if (v->width == 0) {
        return image_resize(path, picture, width, height, out);
    }
    if (width < v->width || height < v->height) {
        return error_report(path, "resized to %dx%d the picture is smaller than the crop of %dx%d", width, height,
                            v->width, v->height);
    }
    image whole;
    if (!image_resize(path, picture, width, height, &whole)) {
        return false;
    }
    const bool done =
        image_crop(path, &whole, crop_begin(width, v->width), crop_begin(height, v->height), v->width, v->height, out);
    image_release(&whole);
    return done;
}

bool vision_prepare(const vision *v, const opened_model *opened, const char *path, const image *picture,
                    taper_value **input)
{
    image sized;
    *input = NULL;
    if (!resize_for(v, path, picture, &sized)) {
        return false;
    }
    const int64_t sizes[4] = {1, 3, sized.height, sized.width};
    taper_tensor_info info = {.struct_size = sizeof info};
    bool done = taper_value_tensor(opened->context, TAPER_F32, 4, sizes, input, opened->error) == TAPER_OK &&
                taper_value_get_tensor(*input, &info, opened->error) == TAPER_OK;
    if (done) {
        float *planes = info.data;
        const size_t plane = (size_t)sized.width * (size_t)sized.height;
        for (size_t c = 0; c < 3; c++) {
            for (size_t i = 0; i < plane; i++) {
                planes[c * plane + i] = ((float)sized.pixels[3 * i + c] / 255 - v->mean[c]) / v->std[c];
            }
        }
    } else {
        error_report_library(path, opened->error);
        taper_value_release(*input);
        *input = NULL;
    }
    image_release(&sized);
    if (done && !settings_quantize_input(opened, 0, input)) {
        taper_value_release(*input);
        *input = NULL;
        return false;
    }
    return done;
}

// The position of the entry that holds the scores.
static size_t choose_entry(const taper_value *dict)
{
    static const char *const names[] = {"out", "logits"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (size_t i = 0; i < taper_value_count(dict); i++) {
            taper_value *key;
            const char *text;
            size_t length;
            if (taper_value_key(dict, i, &key, NULL) != TAPER_OK) {
                continue;
            }
            const bool found =
                taper_value_get_string(key, &text, &length, NULL) == TAPER_OK && strcmp(text, names[k]) == 0;
            taper_value_release(key);
            if (found) {
                return i;
            }
        }
    }
    return 0;
}

bool vision_scores(const opened_model *opened, const taper_value *result, taper_value **tensor)
{
    const taper_kind kind = taper_value_kind(result);
    *tensor = NULL;
    if (kind == TAPER_KIND_DICT || kind == TAPER_KIND_TUPLE || kind == TAPER_KIND_LIST) {
        const size_t index = kind == TAPER_KIND_DICT ? choose_entry(result) : 0;
        if (taper_value_count(result) != 0 && taper_value_item(result, index, tensor, opened->error) == TAPER_OK &&
            taper_value_kind(*tensor) == TAPER_KIND_TENSOR) {
            return true;
        }
        taper_value_release(*tensor);
        *tensor = NULL;
    } else if (kind == TAPER_KIND_TENSOR) {
        *tensor = taper_value_retain((taper_value *)(uintptr_t)result);
        return true;
    }
    char type[256];
    taper_value_type(result, type, sizeof type);
    return error_report(opened->path,
                        "the result is %s; a tensor of scores is needed, alone, as entry \"out\" or first", type);
}
