// SPDX-License-Identifier: BSD-2-Clause
// taper segment: colours the parts of a picture by class.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/suffix.h"
#include "common/terminal.h"
#include "taper/commands.h"
#include "taper/overlay.h"

static const char usage[] =
    "usage: taper segment MODEL IMAGE -o MASK.png [options]\n\n"
    "Draws the classes that a model sees over a PNG or JPEG picture and prints how much each one takes. Size, mean, "
    "std,\n"
    "labels and colours come from the model's extra file taper.json; without one, the shorter side is resized to 520\n"
    "pixels, as torchvision does.\n\n"
    "  -o, --output FILE   the PNG to write, of the picture's size\n"
    "  --json              print the classes as JSON\n" VISION_OPTION_USAGE MODEL_OPTION_USAGE MEMORY_OPTION_USAGE;

enum { BAR_WIDTH = 24 };
#define NO_MASKS SUFFIXES_OF_OTHER_PICTURES " .ptl .pt " SUFFIXES_OF_ARRAYS " " SUFFIXES_OF_MODELS

typedef struct segment_options {
    model_options model;
    vision_options vision;
    arg_texts positional;
    const char *output;
    bool json;
} segment_options;

typedef struct segmentation {
    image photo;
    class_map map;
    uint64_t *pixels; // of each class
    double milliseconds;
} segmentation;

static double part_of(const segmentation *s, size_t index)
{
    return (double)s->pixels[index] / ((double)s->map.width * s->map.height);
}

// The class with the most pixels among those that have not been printed; map.classes when there is none.
static size_t next_largest(const segmentation *s, const bool *printed)
{
    size_t largest = s->map.classes;
    for (size_t i = 0; i < s->map.classes; i++) {
        if (!printed[i] && s->pixels[i] != 0 && (largest == s->map.classes || s->pixels[i] > s->pixels[largest])) {
            largest = i;
        }
    }
    return largest;
}

static void put_class(const vision *v, const segmentation *s, size_t index, int width)
{
    const bool colors = terminal_has_colors(stdout);
    char buffer[32];
    unsigned char rgb[3];
    if (overlay_is_background(v, &s->map, index)) {
        memset(rgb, 128, sizeof rgb); // its colour is not drawn, and is often black
    } else {
        overlay_color(v, index, rgb);
    }
    char code[32] = "";
    if (colors) {
        snprintf(code, sizeof code, "\033[38;2;%u;%u;%um", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
    }
    printf("  %s%s%s  %-*s  %5.1f %%  %s", code, terminal_has_unicode() ? "■" : "*", colors ? "\033[0m" : "", width,
           vision_label(v, index, buffer), 100 * part_of(s, index), code);
    terminal_bar(stdout, part_of(s, index), BAR_WIDTH);
    fputs(colors ? "\033[0m\n" : "\n", stdout);
}

static bool put_classes(const vision *v, const segmentation *s, const char *path, const char *output)
{
    bool *printed = calloc(s->map.classes, sizeof *printed);
    if (printed == NULL) {
        return error_report_memory(path);
    }
    int width = 0;
    char buffer[32];
    for (size_t i = 0; i < s->map.classes; i++) {
        const int one = s->pixels[i] != 0 ? (int)strlen(vision_label(v, i, buffer)) : 0;
        width = one > width ? one : width;
    }
    text_put(stdout, path, strlen(path), false);
    printf("  %dx%d, %.1f ms -> ", s->photo.width, s->photo.height, s->milliseconds);
    text_put(stdout, output, strlen(output), false);
    fputc('\n', stdout);
    for (size_t i = next_largest(s, printed); i < s->map.classes; i = next_largest(s, printed)) {
        put_class(v, s, i, width);
        printed[i] = true;
    }
    free(printed);
    return true;
}

static void put_classes_json(const vision *v, const segmentation *s, const char *path)
{
    fputs("{\"image\": ", stdout);
    json_put_text(stdout, path, strlen(path));
    printf(", \"width\": %d, \"height\": %d, \"classes\": [", s->photo.width, s->photo.height);
    for (size_t i = 0; i < s->map.classes; i++) {
        char buffer[32];
        const char *label = vision_label(v, i, buffer);
        fputs(i != 0 ? ",\n  {\"label\": " : "\n  {\"label\": ", stdout);
        json_put_text(stdout, label, strlen(label));
        printf(", \"index\": %zu, \"pixels\": %" PRIu64 ", \"part\": ", i, s->pixels[i]);
        json_put_double(stdout, part_of(s, i));
        fputc('}', stdout);
    }
    fputs("\n]}\n", stdout);
}

static bool find_classes(const opened_model *opened, const vision *v, const char *path, segmentation *s)
{
    taper_value *input, *result = NULL, *scores = NULL;
    if (!vision_prepare(v, opened, path, &s->photo, &input)) {
        return false;
    }
    const double begin = clock_seconds();
    bool done = model_run(opened, NULL, &input, 1, &result);
    s->milliseconds = (clock_seconds() - begin) * 1e3;
    done = done && vision_scores(opened, result, &scores) &&
           class_map_create(opened, scores, s->photo.width, s->photo.height, &s->map);
    if (done) {
        s->pixels = calloc(s->map.classes, sizeof *s->pixels);
        done = s->pixels != NULL || error_report_memory(path);
    }
    if (done) {
        class_map_count(&s->map, s->pixels);
    }
    taper_value_release(scores);
    taper_value_release(result);
    taper_value_release(input);
    return done;
}

static bool segment_picture(const segment_options *options, const opened_model *opened, const vision *v)
{
    const char *path = options->positional.items[1];
    segmentation s = {0};
    bool done = image_read(path, &s.photo) && find_classes(opened, v, path, &s);
    if (done) {
        overlay_draw(v, &s.map, &s.photo);
        done = image_write_png(options->output, &s.photo);
    }
    if (done && options->json) {
        put_classes_json(v, &s, path);
    } else if (done) {
        done = put_classes(v, &s, path, options->output);
    }
    free(s.pixels);
    class_map_release(&s.map);
    image_release(&s.photo);
    return done;
}

static bool segment(const segment_options *options)
{
    opened_model opened;
    vision v;
    if (!model_open(&opened, options->positional.items[0], &options->model)) {
        return false;
    }
    bool done = vision_create(&opened, &options->vision, true, &v);
    if (done) {
        done = segment_picture(options, &opened, &v);
        vision_release(&v);
    }
    model_close(&opened);
    return done;
}

int command_segment(int argc, char **argv)
{
    segment_options options = {.output = NULL};
    vision_options_init(&options.vision);
    const arg_option rows[] = {
        {"--output", 'o', ARG_TEXT, &options.output, 0, 0},
        {"--json", 0, ARG_FLAG, &options.json, 0, 0},
        VISION_OPTION_ROWS(options.vision),
        MODEL_OPTION_ROWS(options.model),
        MEMORY_OPTION_ROW(options.model),
    };
    const arg_table table = {
        usage, rows, sizeof rows / sizeof *rows, 2, 2, "MODEL or IMAGE is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = options.output == NULL ? error_usage(usage, "-o MASK.png is missing")
                 : suffix_among(options.output, NO_MASKS)
                     ? error_usage(usage, "-o %.200s: the picture is written as .png", options.output)
                     : model_options_check(&options.model, usage);
    }
    if (status == ARGS_GO_ON) {
        options.model.print_to_stderr = options.json;
        status = segment(&options) ? 0 : EXIT_WORK_FAILED;
    }
    args_release(&table);
    return status;
}
