// SPDX-License-Identifier: BSD-2-Clause
// Decodes JPEG. libjpeg reports errors by longjmp, which never jumps out of this file.
#include <stdio.h> // jpeglib.h needs the type FILE

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/image.h"

typedef struct jpeg_failure {
    struct jpeg_error_mgr base; // must be the first member, because libjpeg gets its address
    jmp_buf jump;
    image_decoding *decoding;
    struct jpeg_progress_mgr progress;
} jpeg_failure;

// Limit on the number of scans times the number of pixels: each scan of a progressive file covers the whole picture but
// may take only a few bytes of the file.
#define SCANNED_PIXELS_LIMIT ((size_t)1 << 31)
#define SCANS_ALWAYS_ALLOWED 16

static void read_failed(j_common_ptr info)
{
    jpeg_failure *failure = (jpeg_failure *)(void *)info->err;
    char message[JMSG_LENGTH_MAX];
    info->err->format_message(info, message);
    snprintf(failure->decoding->problem, sizeof failure->decoding->problem, "damaged JPEG: %s", message);
    longjmp(failure->jump, 1);
}

// libjpeg calls this function for warnings. Damage that libjpeg can repair is accepted, but a truncated file is
// refused.
static void warn(j_common_ptr info, int level)
{
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
        read_failed(info);
    }
}

static void check_scans(j_common_ptr common)
{
    const struct jpeg_decompress_struct *info = (const struct jpeg_decompress_struct *)(void *)common;
    jpeg_failure *failure = (jpeg_failure *)(void *)common->err;
    const size_t scans = (size_t)info->input_scan_number, pixels = (size_t)info->image_width * info->image_height;
    if (scans > SCANS_ALWAYS_ALLOWED && scans * pixels > SCANNED_PIXELS_LIMIT) {
        snprintf(failure->decoding->problem, sizeof failure->decoding->problem,
                 "a progressive JPEG of %ux%u with more than %zu scans; save it as a plain JPEG", info->image_width,
                 info->image_height, scans - 1);
        longjmp(failure->jump, 1);
    }
}

// Fails if the coefficients of a progressive file need too much memory: libjpeg keeps all of them at full size.
static bool check_coefficients(const struct jpeg_decompress_struct *info, image_decoding *d)
{
    enum { BLOCK_SIDE = 8, BLOCK_BYTES = 64 * sizeof(JCOEF) };
    const size_t across = ((size_t)info->image_width + BLOCK_SIDE - 1) / BLOCK_SIDE;
    const size_t down = ((size_t)info->image_height + BLOCK_SIDE - 1) / BLOCK_SIDE;
    size_t parts = 0, most = 1;
    for (int i = 0; i < info->num_components; i++) { // libjpeg allows sampling factors from 1 to 4
        const jpeg_component_info *c = &info->comp_info[i];
        const size_t part = (size_t)c->h_samp_factor * (size_t)c->v_samp_factor;
        parts += part;
        most = part > most ? part : most;
    }
    const size_t bytes = across * down * BLOCK_BYTES / most * parts;
    if (bytes > image_decoding_memory(d)) {
        // number of megapixels, as the value of --load-pixels, with which this file could be decoded
        const size_t wish = (bytes / 3 + 999999) / 1000000;
        char advice[64] = "save it as a plain JPEG";
        if (wish <= IMAGE_MEGAPIXELS_MOST) {
            snprintf(advice, sizeof advice, "--load-pixels %zu allows it", wish);
        }
        snprintf(d->problem, sizeof d->problem, "a progressive JPEG of %ux%u takes %zu MiB to decode; %s",
                 info->image_width, info->image_height, bytes >> 20, advice);
        return false;
    }
    return true;
}

// The values of all four-channel files are read as inverted, as Adobe writes them. PIL reads them in this way too.
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
    static const char head[] = "Exif\0"; // the mark has two NULs; the second one ends the string
    for (jpeg_saved_marker_ptr marker = info->marker_list; marker != NULL; marker = marker->next) {
        if (marker->data_length > sizeof head && memcmp(marker->data, head, sizeof head) == 0) {
            return image_exif_orientation(marker->data + sizeof head, marker->data_length - sizeof head);
        }
    }
    return 1;
}

// Runs under setjmp, so it keeps its state in its own local variables.
static bool read_picture(struct jpeg_decompress_struct *info, image_decoding *d)
{
    jpeg_mem_src(info, d->bytes, (unsigned long)d->size);
    jpeg_save_markers(info, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(info, TRUE);
    d->orientation = find_orientation(info);
    if (!image_decoding_accept(d, info->image_width, info->image_height) ||
        (jpeg_has_multiple_scans(info) && !check_coefficients(info, d))) {
        return false;
    }
    info->scale_num = 1;
    info->scale_denom = (unsigned)d->divisor;
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
    failure.progress = (struct jpeg_progress_mgr){.progress_monitor = check_scans};
    info.progress = &failure.progress;
    const bool done = read_picture(&info, decoding);
    jpeg_destroy_decompress(&info);
    return done;
}
