// SPDX-License-Identifier: BSD-2-Clause
// taper_picture_tensor (taper_app.h): converts the bytes of a camera or decoder to the tensor that a network takes.
#include <taper/taper_app.h>

#include <math.h>
#include <string.h>

#include "app/picture.h"
#include "app/settings.h"
#include "base/arguments.h"
#include "runtime/context.h"

// ---- formats

typedef struct pixel_layout {
    uint8_t planes, step; // number of planes, and bytes from a pixel to the next pixel in the first plane
    uint8_t at[3];        // offsets of red, green and blue in a pixel, in bytes
} pixel_layout;

static const pixel_layout layouts[] = {
    [TAPER_PIXELS_RGB] = {1, 3, {0, 1, 2}},  [TAPER_PIXELS_BGR] = {1, 3, {2, 1, 0}},
    [TAPER_PIXELS_RGBA] = {1, 4, {0, 1, 2}}, [TAPER_PIXELS_BGRA] = {1, 4, {2, 1, 0}},
    [TAPER_PIXELS_ARGB] = {1, 4, {1, 2, 3}}, [TAPER_PIXELS_GRAY] = {1, 1, {0, 0, 0}},
    [TAPER_PIXELS_NV12] = {2, 1, {0, 0, 0}}, [TAPER_PIXELS_NV21] = {2, 1, {0, 0, 0}},
    [TAPER_PIXELS_I420] = {3, 1, {0, 0, 0}},
};

// Reads and checks the picture.
static taper_status check(const taper_picture *given, taper_picture *p, taper_error *error)
{
    TAPER_TRY(taper_struct_read(given, "taper_picture", p, sizeof *p, error));
    if ((unsigned)p->format >= sizeof layouts / sizeof *layouts) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no pixel format %d", (int)p->format);
    }
    if (p->width < 1 || p->height < 1 || p->width > TAPER_PICTURE_SIDE || p->height > TAPER_PICTURE_SIDE) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "a picture of %dx%d: sides of 1 to %d pixels are supported", p->width,
                   p->height, TAPER_PICTURE_SIDE);
    }
    if (p->orientation < 0 || p->orientation > 8) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "orientation should be 0 to 8, got %d", p->orientation);
    }
    const pixel_layout *layout = &layouts[p->format];
    const size_t width = (size_t)p->width, half = (width + 1) / 2;
    for (size_t i = 0; i < layout->planes; i++) {
        const size_t row = i == 0 ? width * layout->step : layout->planes == 2 ? 2 * half : half;
        if (p->planes[i] == NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "planes[%zu] is NULL", i);
        }
        p->strides[i] = p->strides[i] != 0 ? p->strides[i] : row;
        if (p->strides[i] < row) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "strides[%zu] should be at least %zu, got %zu", i, row,
                       p->strides[i]);
        }
    }
    return TAPER_OK;
}

static unsigned char clamp(int number) // number is in units of 1/1024
{
    return (unsigned char)(number < 0 ? 0 : number > 262143 ? 255 : number >> 10);
}

// Converts a BT.601 pixel, whose luma is 16 to 235. The integer arithmetic is the same as in PyTorch Mobile's Android
// classes.
static void put_ycbcr(int y, int cb, int cr, unsigned char rgb[3])
{
    const int light = 1192 * (y - 16 > 0 ? y - 16 : 0);
    rgb[0] = clamp(light + 1634 * (cr - 128));
    rgb[1] = clamp(light - 832 * (cr - 128) - 400 * (cb - 128));
    rgb[2] = clamp(light + 2066 * (cb - 128));
}

static void unpack_row(const taper_picture *p, int y, unsigned char *rgb)
{
    const pixel_layout *layout = &layouts[p->format];
    const unsigned char *first = (const unsigned char *)p->planes[0] + (size_t)y * p->strides[0];
    if (layout->planes == 1) {
        for (int x = 0; x < p->width; x++, rgb += 3, first += layout->step) {
            for (int c = 0; c < 3; c++) {
                rgb[c] = first[layout->at[c]];
            }
        }
        return;
    }
    const size_t half = (size_t)y / 2, step = layout->planes == 2 ? 2 : 1;
    const unsigned char *cb = (const unsigned char *)p->planes[1] + half * p->strides[1], *cr = cb + 1;
    if (layout->planes == 3) {
        cr = (const unsigned char *)p->planes[2] + half * p->strides[2];
    }
    if (p->format == TAPER_PIXELS_NV21) {
        cr = cb++;
    }
    for (int x = 0; x < p->width; x++, rgb += 3) {
        put_ycbcr(first[x], cb[(size_t)x / 2 * step], cr[(size_t)x / 2 * step], rgb);
    }
}

// One of EXIF's eight orientations. First, `swap` exchanges x and y; then `flip_x` and `flip_y` each reverse an axis.
typedef struct turn {
    bool swap, flip_x, flip_y;
} turn;

static const turn turns[9] = {
    {false, false, false}, {false, false, false}, {false, true, false}, {false, true, true}, {false, false, true},
    {true, false, false},  {true, true, false},   {true, true, true},   {true, false, true},
};

// Writes row y of the given picture to the pixels of the turned picture that show this row.
static void put_turned(const turn *t, const unsigned char *row, int width, int y, taper_rgb *to)
{
    for (int x = 0; x < width; x++, row += 3) {
        const int across = t->swap ? y : x, down = t->swap ? x : y;
        const int column = t->flip_x ? to->width - 1 - across : across, line = t->flip_y ? to->height - 1 - down : down;
        memcpy(to->block + (size_t)line * to->stride + (size_t)column * 3, row, 3);
    }
}

static taper_status unpack(const taper_allocator *allocator, const taper_picture *p, taper_rgb *rgb, taper_error *error)
{
    const turn *t = &turns[p->orientation];
    const bool turned = p->orientation > 1;
    if (p->format == TAPER_PIXELS_RGB && !turned) {
        *rgb = (taper_rgb){.width = p->width, .height = p->height, .stride = p->strides[0], .pixels = p->planes[0]};
        return TAPER_OK;
    }
    TAPER_TRY(taper_rgb_create(allocator, t->swap ? p->height : p->width, t->swap ? p->width : p->height, rgb, error));
    const size_t bytes = (size_t)p->width * 3;
    unsigned char *row = turned ? taper_alloc(allocator, bytes) : NULL;
    if (turned && row == NULL) {
        taper_rgb_free(allocator, rgb);
        return taper_fail_memory(error);
    }
    for (int y = 0; y < p->height; y++) {
        unpack_row(p, y, turned ? row : rgb->block + (size_t)y * rgb->stride);
        if (turned) {
            put_turned(t, row, p->width, y, rgb);
        }
    }
    taper_free(allocator, row, bytes);
    return TAPER_OK;
}

// ---- sizes

static taper_status read_preparation(const taper_preparation *given, taper_preparation *p, taper_error *error)
{
    if (given == NULL) {
        p->struct_size = sizeof *p;
        return taper_settings_preparation(NULL, NULL, p, error);
    }
    TAPER_TRY(taper_struct_read(given, "taper_preparation", p, sizeof *p, error));
    const int sides[] = {p->width, p->height, p->resize};
    for (size_t i = 0; i < 3; i++) {
        if (sides[i] < 0 || sides[i] > TAPER_PICTURE_SIDE) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "sides of up to %d pixels are supported, not %d",
                       TAPER_PICTURE_SIDE, sides[i]);
        }
        if (!isfinite(p->mean[i]) || !isfinite(p->std[i]) || p->std[i] == 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "mean and std must be finite, and std not 0");
        }
    }
    if ((p->width == 0) != (p->height == 0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "width and height are 0 together only");
    }
    return TAPER_OK;
}

// Returns the first pixel of a centred crop. x.5 rounds to the even integer, as in Python's round().
static int crop_begin(int whole, int part)
{
    const int rest = whole - part, half = rest / 2;
    return rest % 2 == 0 || half % 2 == 0 ? half : half + 1;
}

// Resizes the picture and crops it to the part for the tensor. *sized receives the result.
static taper_status resize(const taper_allocator *allocator, const taper_rgb *rgb, const taper_preparation *p,
                           taper_rgb *sized, taper_error *error)
{
    if (p->resize == 0) {
        return taper_rgb_resize(allocator, rgb, p->width != 0 ? p->width : rgb->width,
                                p->height != 0 ? p->height : rgb->height, sized, error);
    }
    int width = p->resize, height = p->resize;
    if (rgb->width < rgb->height) {
        height = (int)((double)p->resize * rgb->height / rgb->width);
    } else {
        width = (int)((double)p->resize * rgb->width / rgb->height);
    }
    if (p->width != 0 && (width < p->width || height < p->height)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "resized to %dx%d the picture is smaller than the crop of %dx%d", width,
                   height, p->width, p->height);
    }
    TAPER_TRY(taper_rgb_resize(allocator, rgb, width, height, sized, error));
    if (p->width != 0) {
        sized->pixels +=
            (size_t)crop_begin(height, p->height) * sized->stride + 3 * (size_t)crop_begin(width, p->width);
        sized->width = p->width;
        sized->height = p->height;
    }
    return TAPER_OK;
}

static taper_status fill(taper_context *context, const taper_rgb *rgb, const taper_preparation *p, taper_value **tensor,
                         taper_error *error)
{
    const int64_t sizes[] = {1, 3, rgb->height, rgb->width};
    taper_tensor_info info = {.struct_size = sizeof info};
    TAPER_TRY(taper_value_tensor(context, TAPER_F32, 4, sizes, tensor, error));
    const taper_status status = taper_value_get_tensor(*tensor, &info, error);
    float *out = info.data;
    for (size_t c = 0; status == TAPER_OK && c < 3; c++) {
        for (int y = 0; y < rgb->height; y++) {
            const unsigned char *pixel = rgb->pixels + (size_t)y * rgb->stride + c;
            for (int x = 0; x < rgb->width; x++, pixel += 3) {
                *out++ = ((float)*pixel / 255 - p->mean[c]) / p->std[c];
            }
        }
    }
    return status;
}

taper_status taper_picture_tensor(taper_context *context, const taper_picture *picture,
                                  const taper_preparation *preparation, taper_value **tensor, taper_error *error)
{
    taper_picture p;
    taper_preparation how;
    taper_rgb rgb, sized;
    TAPER_NEED_OUT(tensor, error);
    TAPER_NEED(context, error);
    TAPER_NEED(picture, error);
    TAPER_TRY(check(picture, &p, error));
    TAPER_TRY(read_preparation(preparation, &how, error));
    const taper_allocator *allocator = &context->allocator;
    TAPER_TRY(unpack(allocator, &p, &rgb, error));
    taper_status status = resize(allocator, &rgb, &how, &sized, error);
    if (status == TAPER_OK) {
        status = fill(context, &sized, &how, tensor, error);
        taper_rgb_free(allocator, &sized);
    }
    taper_rgb_free(allocator, &rgb);
    return status;
}
