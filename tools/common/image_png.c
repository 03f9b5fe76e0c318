// SPDX-License-Identifier: BSD-2-Clause
// Decodes and encodes PNG. libpng reports errors by longjmp, which never jumps out of this file.
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/image.h"
#include "common/waiting.h"

// ---- reading

static void read_failed(png_structp png, png_const_charp message)
{
    image_decoding *d = png_get_error_ptr(png);
    snprintf(d->problem, sizeof d->problem, "damaged PNG: %s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void ignore_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void read_bytes(png_structp png, png_bytep out, size_t count)
{
    image_decoding *d = png_get_io_ptr(png);
    if (count > d->size - d->at) {
        png_error(png, "the file is cut off");
    }
    memcpy(out, d->bytes + d->at, count);
    d->at += count;
}

// Makes libpng convert all formats to 8-bit RGB without alpha.
static void set_transforms(png_structp png, png_infop info)
{
    const int color = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
    if (color == PNG_COLOR_TYPE_PALETTE) {
        png_set_palette_to_rgb(png);
    }
    if (color == PNG_COLOR_TYPE_GRAY && depth < 8) {
        png_set_expand_gray_1_2_4_to_8(png);
    }
    if (depth == 16) {
        png_set_strip_16(png);
    }
    if ((color & PNG_COLOR_MASK_COLOR) == 0) {
        png_set_gray_to_rgb(png);
    }
    png_set_strip_alpha(png);
}

// Makes libpng skip texts and profiles, because a few compressed bytes could be expanded to megabytes.
static void ignore_texts(png_structp png)
{
#ifdef PNG_HANDLE_AS_UNKNOWN_SUPPORTED
    static const png_byte names[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0hIST\0pCAL\0sCAL";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
#else
    (void)png;
#endif
}

static void check_row(png_structp png, png_infop info, int width)
{
    if (png_get_rowbytes(png, info) != (size_t)width * 3) {
        png_error(png, "an unknown kind of pixels");
    }
}

static bool read_whole(png_structp png, png_infop info, int width, int height, image_decoding *d)
{
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
    check_row(png, info, width);
    if (!image_decoding_start(d, width, height, (size_t)height * sizeof(png_bytep))) {
        return false;
    }
    png_bytep *rows = (png_bytep *)(void *)d->row;
    for (int y = 0; y < height; y++) {
        rows[y] = d->out->pixels + (size_t)y * (size_t)width * 3;
    }
    png_read_image(png, rows);
    return true;
}

// Adds the rows of all interlace passes to the sums of their reduced pixels. A sum of 64 8-bit numbers fits into 16
// bits.
static void add_rows(png_structp png, png_infop info, int width, int height, png_bytep row, uint16_t *sums,
                     const image_decoding *d)
{
    const bool interlaced = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7;
    const size_t across = (size_t)d->out->width, divisor = (size_t)d->divisor;
    for (int pass = 0; pass < (interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++) {
        const int first = interlaced ? PNG_PASS_START_COL(pass) : 0, step = interlaced ? PNG_PASS_COL_OFFSET(pass) : 1;
        const int down = interlaced ? PNG_PASS_ROW_OFFSET(pass) : 1;
        for (int y = interlaced ? PNG_PASS_START_ROW(pass) : 0; y < height && first < width; y += down) {
            uint16_t *line = sums + (size_t)y / divisor * across * 3;
            const unsigned char *pixel = row;
            png_read_row(png, row, NULL);
            for (int x = first; x < width; x += step, pixel += 3) {
                uint16_t *sum = line + (size_t)x / divisor * 3;
                for (int c = 0; c < 3; c++) {
                    sum[c] = (uint16_t)(sum[c] + pixel[c]);
                }
            }
        }
    }
}

// Each pixel of the reduced picture is the mean of a block of the file's pixels. Blocks at the right and lower border
// have fewer pixels.
static bool read_reduced(png_structp png, png_infop info, int width, int height, image_decoding *d)
{
    const int divisor = d->divisor, across = (width + divisor - 1) / divisor, down = (height + divisor - 1) / divisor;
    const size_t numbers = (size_t)across * (size_t)down * 3;
    png_read_update_info(png, info);
    check_row(png, info, width);
    if (!image_decoding_start(d, across, down, numbers * sizeof(uint16_t) + (size_t)width * 3)) {
        return false;
    }
    uint16_t *sums = (uint16_t *)(void *)d->row;
    add_rows(png, info, width, height, d->row + numbers * sizeof *sums, sums, d);
    unsigned char *out = d->out->pixels;
    for (int y = 0; y < down; y++) {
        const int rows = height - y * divisor < divisor ? height - y * divisor : divisor;
        for (int x = 0; x < across; x++) {
            const int columns = width - x * divisor < divisor ? width - x * divisor : divisor, count = rows * columns;
            for (int c = 0; c < 3; c++) {
                *out++ = (unsigned char)((*sums++ + count / 2) / count);
            }
        }
    }
    return true;
}

// Runs under setjmp, so it keeps its state in its own local variables.
static bool read_picture(png_structp png, png_infop info, image_decoding *d)
{
    png_set_read_fn(png, d, read_bytes);
    png_set_user_limits(png, IMAGE_SIDE_LIMIT, IMAGE_SIDE_LIMIT);
    png_set_chunk_cache_max(png, 128);
    png_set_chunk_malloc_max(png, 1 << 23);
    ignore_texts(png);
    png_read_info(png, info);
    if (!image_decoding_accept(d, png_get_image_width(png, info), png_get_image_height(png, info))) {
        return false;
    }
    const int width = (int)png_get_image_width(png, info), height = (int)png_get_image_height(png, info);
    set_transforms(png, info);
    const bool done =
        d->divisor == 1 ? read_whole(png, info, width, height, d) : read_reduced(png, info, width, height, d);
    if (!done) {
        return false;
    }
    png_read_end(png, info);
#ifdef PNG_eXIf_SUPPORTED
    png_bytep exif;
    png_uint_32 exif_size;
    if (png_get_eXIf_1(png, info, &exif_size, &exif) != 0) {
        d->orientation = image_exif_orientation(exif, exif_size);
    }
#endif
    return true;
}

bool image_decode_png(image_decoding *decoding)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoding, read_failed, ignore_warning);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    if (info == NULL) {
        png_destroy_read_struct(&png, NULL, NULL);
        strcpy(decoding->problem, "out of memory");
        return false;
    }
    if (setjmp(png_jmpbuf(png)) != 0) {
        png_destroy_read_struct(&png, &info, NULL);
        return false;
    }
    const bool done = read_picture(png, info, decoding);
    png_destroy_read_struct(&png, &info, NULL);
    return done;
}

// ---- writing

typedef struct encoding {
    output_file output;
    char problem[256];
} encoding;

static void write_failed(png_structp png, png_const_charp message)
{
    encoding *e = png_get_error_ptr(png);
    snprintf(e->problem, sizeof e->problem, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

// Writes the picture. channels: 3 for RGB, 1 for grey.
static bool write_picture(encoding *e, png_structp png, png_infop info, const image *picture, size_t channels)
{
    if (setjmp(png_jmpbuf(png)) != 0) {
        return false;
    }
    png_init_io(png, e->output.stream);
    png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8,
                 channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 4); // levels above 4 are much slower, and make files of photos hardly smaller
    png_write_info(png, info);
    for (int y = 0; y < picture->height; y++) {
        png_write_row(png, picture->pixels + (size_t)y * (size_t)picture->width * channels);
    }
    png_write_end(png, NULL);
    return true;
}

static bool write_png(const char *path, const image *picture, size_t channels)
{
    encoding e = {.problem = ""};
    waiting shown;
    if (!output_open(&e.output, path)) {
        return false;
    }
    waiting_begin(&shown, "writing", path);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &e, write_failed, ignore_warning);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    bool done = info != NULL && write_picture(&e, png, info, picture, channels);
    png_destroy_write_struct(&png, &info);
    waiting_end(&shown);
    if (done) {
        done = output_commit(&e.output);
    } else {
        done = e.problem[0] != '\0' ? error_report(path, "cannot write: %s", e.problem) : error_report_memory(path);
        output_discard(&e.output);
    }
    return done;
}

bool image_write_png(const char *path, const image *picture)
{
    return write_png(path, picture, 3);
}

bool image_write_gray_png(const char *path, int width, int height, const unsigned char *pixels)
{
    const image picture = {.width = width, .height = height, .pixels = (unsigned char *)(uintptr_t)pixels};
    return write_png(path, &picture, 1);
}
