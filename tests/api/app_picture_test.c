// SPDX-License-Identifier: BSD-2-Clause
// Tests taper_picture_tensor (taper_app.h): formats, strides of rows, orientations, sizes, and pictures that it must
// refuse. tests/tools/images_test.py compares resizing with PIL.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_app.h>

#include "tests/api/fixture.h"

static taper_error *error;
static taper_context *context;

static const taper_preparation bytes_as_they_are = {.struct_size = sizeof bytes_as_they_are,
                                                    .std = {1.0f / 255, 1.0f / 255, 1.0f / 255}};

// Checks that the tensor has this size and these colours: red, green and blue for each pixel.
static void check(const taper_picture *picture, int width, int height, const unsigned char *wanted)
{
    taper_value *tensor;
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_picture_tensor(context, picture, &bytes_as_they_are, &tensor, error) != TAPER_OK) {
        fail_msg("format %d: %s", (int)picture->format, taper_error_message(error));
    }
    assert_int_equal(taper_value_get_tensor(tensor, &info, error), TAPER_OK);
    assert_true(info.rank == 4 && info.sizes[0] == 1 && info.sizes[1] == 3 && info.sizes[2] == height &&
                info.sizes[3] == width && info.dtype == TAPER_F32);
    for (int i = 0; i < width * height * 3; i++) {
        const float found = ((const float *)info.data)[i % 3 * width * height + i / 3];
        if (fabsf(found - (float)wanted[i]) > 1e-3f) {
            fail_msg("format %d, orientation %d: number %d is %g, wanted %d", (int)picture->format,
                     picture->orientation, i, (double)found, wanted[i]);
        }
    }
    taper_value_release(tensor);
}

static void formats(void **state)
{
    (void)state;
    static const unsigned char wanted[] = {10, 20, 30, 40, 50, 60}, gray[] = {7, 7, 7, 9, 9, 9};
    static const struct {
        taper_pixel_format format;
        unsigned char bytes[8];
    } rows[] = {
        {TAPER_PIXELS_RGB, {10, 20, 30, 40, 50, 60}},          {TAPER_PIXELS_BGR, {30, 20, 10, 60, 50, 40}},
        {TAPER_PIXELS_RGBA, {10, 20, 30, 0, 40, 50, 60, 255}}, {TAPER_PIXELS_BGRA, {30, 20, 10, 1, 60, 50, 40, 2}},
        {TAPER_PIXELS_ARGB, {3, 10, 20, 30, 4, 40, 50, 60}},   {TAPER_PIXELS_GRAY, {7, 9}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const taper_picture picture = {.struct_size = sizeof picture,
                                       .format = rows[i].format,
                                       .width = 2,
                                       .height = 1,
                                       .planes = {rows[i].bytes}};
        check(&picture, 2, 1, rows[i].format == TAPER_PIXELS_GRAY ? gray : wanted);
    }
}

// The picture has 3 x 3 pixels of white, black and primary colours. Its last column and last row have their own chroma
// samples.
static void cameras(void **state)
{
    (void)state;
    static const unsigned char y[] = {235, 16, 81, 9, 235, 16, 60, 9, 235, 30, 81, 145, 16, 41, 9};
    // Bytes after the end of a row have the value 5 and must not be read.
    static const unsigned char u[] = {128, 90, 5, 54, 240}, v[] = {128, 240, 5, 34, 110};
    static const unsigned char uv[] = {128, 128, 90, 240, 54, 34, 240, 110};
    unsigned char vu[8];
    for (size_t i = 0; i < 8; i++) {
        vu[i] = uv[i ^ 1];
    }
    const taper_picture planes = {.struct_size = sizeof planes,
                                  .format = TAPER_PIXELS_I420,
                                  .width = 3,
                                  .height = 3,
                                  .planes = {y, u, v},
                                  .strides = {4, 3, 3}};
    const taper_picture first = {.struct_size = sizeof first,
                                 .format = TAPER_PIXELS_NV12,
                                 .width = 3,
                                 .height = 3,
                                 .planes = {y, uv},
                                 .strides = {4}};
    taper_picture second = first;
    second.format = TAPER_PIXELS_NV21;
    second.planes[1] = vu;
    // ITU-R BT.601: 255/219 (Y - 16) + 1.402 255/224 (Cr - 128), and similarly for the other colours.
    unsigned char wanted[27];
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, column = i % 3, c = row / 2 * 3 + column / 2;
        const double light = 255.0 / 219 * (y[row * 4 + column] - 16), cb = u[c] - 128.0, cr = v[c] - 128.0;
        const double rgb[] = {light + 1.402 * 255 / 224 * cr,
                              light - 0.344136 * 255 / 224 * cb - 0.714136 * 255 / 224 * cr,
                              light + 1.772 * 255 / 224 * cb};
        for (int k = 0; k < 3; k++) {
            wanted[i * 3 + k] = (unsigned char)(rgb[k] < 0 ? 0 : rgb[k] > 255 ? 255 : rgb[k]);
        }
    }
    const taper_picture *all[] = {&planes, &first, &second};
    float seen[3][27];
    for (size_t i = 0; i < 3; i++) {
        taper_value *tensor;
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_picture_tensor(context, all[i], &bytes_as_they_are, &tensor, error), TAPER_OK);
        assert_int_equal(taper_value_get_tensor(tensor, &info, error), TAPER_OK);
        memcpy(seen[i], info.data, sizeof seen[i]);
        taper_value_release(tensor);
        for (int k = 0; k < 27; k++) {
            assert_true(fabsf(seen[i][k % 3 * 9 + k / 3] - (float)wanted[k]) <
                        2.01f); // the tolerance allows fixed-point coefficients of ten bits that are rounded down
        }
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
    assert_memory_equal(seen[0], seen[2], sizeof seen[0]);
    assert_true(seen[0][0] > 253 && seen[0][1] == 0); // the first pixel is white, the second one black
}

// Checks where the pixels 1 2 3 4 5 6 are after each orientation of EXIF.
static void orientations(void **state)
{
    (void)state;
    static const struct {
        int width;
        unsigned char pixels[6];
    } wanted[] = {
        {2, {1, 2, 3, 4, 5, 6}}, {2, {1, 2, 3, 4, 5, 6}}, {2, {2, 1, 4, 3, 6, 5}},
        {2, {6, 5, 4, 3, 2, 1}}, {2, {5, 6, 3, 4, 1, 2}}, {3, {1, 3, 5, 2, 4, 6}},
        {3, {5, 3, 1, 6, 4, 2}}, {3, {6, 4, 2, 5, 3, 1}}, {3, {2, 4, 6, 1, 3, 5}},
    };
    static const unsigned char gray[] = {1, 2, 0, 3, 4, 0, 5, 6};
    for (int orientation = 0; orientation <= 8; orientation++) {
        unsigned char pixels[18];
        for (int i = 0; i < 18; i++) {
            pixels[i] = wanted[orientation].pixels[i / 3];
        }
        const taper_picture picture = {.struct_size = sizeof picture,
                                       .format = TAPER_PIXELS_GRAY,
                                       .width = 2,
                                       .height = 3,
                                       .planes = {gray},
                                       .strides = {3},
                                       .orientation = orientation};
        check(&picture, wanted[orientation].width, 6 / wanted[orientation].width, pixels);
    }
}

static void sizes(void **state)
{
    (void)state;
    static unsigned char pixels[40 * 30];
    for (size_t i = 0; i < sizeof pixels; i++) {
        pixels[i] = (unsigned char)(i % 40); // the brightness increases to the right
    }
    taper_picture picture = {
        .struct_size = sizeof picture, .format = TAPER_PIXELS_GRAY, .width = 40, .height = 30, .planes = {pixels}};
    static const struct {
        int width, height, resize, found_width, found_height;
    } rows[] = {
        {0, 0, 0, 40, 30}, {8, 5, 0, 8, 5}, {0, 0, 15, 20, 15}, {6, 4, 15, 6, 4}, {40, 30, 30, 40, 30},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taper_preparation how = bytes_as_they_are;
        how.width = rows[i].width;
        how.height = rows[i].height;
        how.resize = rows[i].resize;
        taper_value *tensor;
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_picture_tensor(context, &picture, &how, &tensor, error), TAPER_OK);
        assert_int_equal(taper_value_get_tensor(tensor, &info, error), TAPER_OK);
        assert_int_equal(info.sizes[3], rows[i].found_width);
        assert_int_equal(info.sizes[2], rows[i].found_height);
        if (i == 3) { // columns 7 to 12 of 20; each is the mean of two pixels, rounded up
            assert_true(fabsf(*(const float *)info.data - 15) < 1.01f);
        }
        taper_value_release(tensor);
    }
    // Without settings, pictures are prepared as for ImageNet. With ImageNet's mean of 0.485, black becomes about -2.1.
    memset(pixels, 0, sizeof pixels);
    taper_value *tensor;
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_picture_tensor(context, &picture, NULL, &tensor, error), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(tensor, &info, error), TAPER_OK);
    assert_true(info.sizes[2] == 224 && info.sizes[3] == 224);
    assert_true(*(const float *)info.data == (0.0f - 0.485f) / 0.229f);
    taper_value_release(tensor);
}

static void refusals(void **state)
{
    (void)state;
    static const unsigned char pixels[12];
    const taper_picture good = {.struct_size = sizeof good, .width = 2, .height = 2, .planes = {pixels}};
    taper_picture bad;
    taper_preparation how;
    taper_value *tensor;
#define REFUSED(words, change)                                                                                         \
    do {                                                                                                               \
        bad = good;                                                                                                    \
        how = bytes_as_they_are;                                                                                       \
        change;                                                                                                        \
        if (taper_picture_tensor(context, &bad, &how, &tensor, error) != TAPER_ERROR_ARGUMENT || tensor != NULL ||     \
            strstr(taper_error_message(error), words) == NULL) {                                                       \
            fail_msg("%s: %s", #change, taper_error_message(error));                                                   \
        }                                                                                                              \
    } while (0)
    REFUSED("pixel format 9", bad.format = (taper_pixel_format)9);
    REFUSED("pixel format -1", bad.format = (taper_pixel_format)-1);
    REFUSED("0x2", bad.width = 0);
    REFUSED("2x16385", bad.height = 16385);
    REFUSED("planes[0] is NULL", bad.planes[0] = NULL);
    REFUSED("planes[1] is NULL", bad.format = TAPER_PIXELS_NV12);
    REFUSED("strides[0] should be at least 6, got 5", bad.strides[0] = 5);
    REFUSED("orientation", bad.orientation = 9);
    REFUSED("orientation", bad.orientation = -1);
    REFUSED("up to 16384", how.width = 16385);
    REFUSED("up to 16384", how.resize = -1);
    REFUSED("together", how.height = 3);
    REFUSED("finite", how.std[2] = 0);
    REFUSED("finite", how.mean[1] = (float)NAN);
    REFUSED("smaller than the crop of 5x2", how.width = 5; how.height = 2; how.resize = 3);
    REFUSED("struct_size", bad.struct_size = 0);
}

static taper_status work(taper_context *small, const void *what, taper_error *errors)
{
    static const unsigned char pixels[30 * 20 * 4];
    const taper_picture picture = {.struct_size = sizeof picture,
                                   .format = TAPER_PIXELS_RGBA,
                                   .width = 30,
                                   .height = 20,
                                   .planes = {pixels},
                                   .orientation = 6};
    const taper_preparation how = {.struct_size = sizeof how, .width = 4, .height = 4, .resize = 5, .std = {1, 1, 1}};
    taper_value *tensor;
    (void)what;
    const taper_status status = taper_picture_tensor(small, &picture, &how, &tensor, errors);
    taper_value_release(tensor);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    test_each_allocation_fails("taper_picture_tensor", work, NULL);
}

static int open_all(void **state)
{
    (void)state;
    error = taper_error_create();
    context = test_context(NULL, 1);
    return error == NULL;
}

static int close_all(void **state)
{
    (void)state;
    taper_context_release(context);
    taper_error_destroy(error);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats), cmocka_unit_test(cameras),  cmocka_unit_test(orientations),
        cmocka_unit_test(sizes),   cmocka_unit_test(refusals), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
