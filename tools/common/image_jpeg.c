// SPDX-License-Identifier: BSD-2-Clause
// Decodes JPEG. libjpeg ends in longjmp on errors; the jump stays within this file.
#include <stdio.h> // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/image.h"

typedef struct jpeg_failure {
    struct jpeg_error_mgr base; // libjpeg sees this
    jmp_buf jump;
    image_decoding *decoding;
} jpeg_failure;

static void read_failed(j_common_ptr info)
{
    jpeg_failure *failure = (jpeg_failure *)(void *)info->err;
    char message[JMSG_LENGTH_MAX];
    info->err->format_message(info, message);
    snprintf(failure->decoding->problem, sizeof failure->decoding->problem, "damaged JPEG: %s", message);
    longjmp(failure->jump, 1);
}

// Damage that libjpeg can bridge is let pass, but not a file that ends early.
static void warn(j_common_ptr info, int level)
{
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
        read_failed(info);
    }
}

// PIL takes every four-channel file for an inverted (Adobe) one.
static void row_from_cmyk(const unsigned char *cmyk, int width, unsigned char *rgb)
{
    for (int x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        for (int c = 0; c < 3; c++) {
            const int ink = 255 - cmyk[c], black = 255 - cmyk[3], product = ink * (255 - black) + 128;
            const int value = 255 - black - ((product + (product >> 8)) >> 8);
            rgb[c] = (unsigned char)(value < 0 ? 0 : value);
        }
    }
}

static int find_orientation(const struct jpeg_decompress_struct *info)
{
    static const char head[] = "Exif\0"; // with the NUL that ends it
    for (jpeg_saved_marker_ptr marker = info->marker_list; marker != NULL; marker = marker->next) {
        if (marker->data_length > sizeof head && memcmp(marker->data, head, sizeof head) == 0) {
            return image_exif_orientation(marker->data + sizeof head, marker->data_length - sizeof head);
        }
    }
    return 1;
}

// Runs under setjmp: no local variable of the caller changes here.
static bool read_picture(struct jpeg_decompress_struct *info, image_decoding *d)
{
    jpeg_mem_src(info, d->bytes, (unsigned long)d->size);
    jpeg_save_markers(info, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(info, TRUE);
    d->orientation = find_orientation(info);
    if (info->image_width > IMAGE_SIDE_LIMIT || info->image_height > IMAGE_SIDE_LIMIT) {
        snprintf(d->problem, sizeof d->problem, "a picture of %ux%u: sides of 1 to %d pixels are supported",
                 info->image_width, info->image_height, IMAGE_SIDE_LIMIT);
        return false;
    }
    const bool cmyk = info->num_components == 4;
    info->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(info);
    const int width = (int)info->output_width, height = (int)info->output_height;
    if (!image_decoding_start(d, width, height, (size_t)width * 4)) {
        return false;
    }
    while (info->output_scanline < info->output_height) {
        unsigned char *pixels = d->out->pixels + (size_t)info->output_scanline * (size_t)width * 3;
        JSAMPROW row = cmyk ? d->row : pixels;
        if (jpeg_read_scanlines(info, &row, 1) == 1 && cmyk) {
            row_from_cmyk(d->row, width, pixels);
        }
    }
    jpeg_finish_decompress(info);
    return true;
}

bool image_decode_jpeg(image_decoding *decoding)
{
    struct jpeg_decompress_struct info;
    jpeg_failure failure;
    memset(&info, 0, sizeof info);
    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = read_failed;
    failure.base.emit_message = warn;
    failure.decoding = decoding;
    if (setjmp(failure.jump) != 0) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    jpeg_create_decompress(&info);
    info.mem->max_memory_to_use = 1L << 30;
    const bool done = read_picture(&info, decoding);
    jpeg_destroy_decompress(&info);
    return done;
}
