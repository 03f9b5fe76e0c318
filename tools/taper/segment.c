// SPDX-License-Identifier: BSD-2-Clause
// taper segment: colours the parts of a picture by class.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/file_list.h"
#include "common/files.h"
#include "common/json_value.h"
#include "common/npy.h"
#include "common/suffix.h"
#include "common/terminal.h"
#include "taper/commands.h"
#include "taper/overlay.h"

static const char usage[] =
    "usage: taper segment MODEL IMAGE… -o MASK.png|FOLDER [options]\n\n"
    "Draws the classes that a model sees over PNG or JPEG pictures and prints how much each one takes; an IMAGE may be "
    "a\n"
    "folder of them. After one that cannot be read it goes on, and fails in the end. Size, mean, std, labels and "
    "colours\n"
    "come from the model's extra file taper.json; without one, the shorter side is resized to 520 pixels, as "
    "torchvision\n"
    "does.\n\n"
    "  -o, --output FILE   the PNG to write, of the picture's size; of several pictures the folder for NAME.png\n"
    "  --map               write the number of each pixel's class as its grey, rather than draw over the picture;\n"
    "                      -o FILE.npy: as int16\n"
    "  --json              print the classes as JSON, of several pictures as an array\n" VISION_OPTION_USAGE
        MODEL_OPTION_USAGE MEMORY_OPTION_USAGE;

enum { BAR_WIDTH = 24 };
#define NO_MASKS                                                                                                       \
    SUFFIXES_OF_OTHER_PICTURES " .ptl .pt .npz .json .csv .txt .h5 .hdf5 .mat .pkl .pickle " SUFFIXES_OF_MODELS

typedef struct segment_options {
    model_options model;
    vision_options vision;
    arg_texts positional;
    const char *output;
    bool map, json;
} segment_options;

typedef struct segmentation {
    image photo;
    class_map map;
    uint64_t *pixels; // number of pixels of each class
    double milliseconds;
} segmentation;

static double part_of(const segmentation *s, size_t index)
{
    return (double)s->pixels[index] / ((double)s->map.width * s->map.height);
}

// Returns the class with the most pixels among those not printed yet, or map.classes if none is left.
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
        memset(rgb, 128, sizeof rgb); // the background has no tint, and its colour in the palette is often black
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
    printf("  %dx%d, %.1f ms -> ", s->photo.full_width, s->photo.full_height, s->milliseconds);
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
    printf(", \"width\": %d, \"height\": %d, \"ms\": %.3f, \"classes\": [", s->photo.full_width, s->photo.full_height,
           s->milliseconds);
    for (size_t i = 0; i < s->map.classes; i++) {
        char buffer[32];
        const char *label = vision_label(v, i, buffer);
        fputs(i != 0 ? ",\n  {\"label\": " : "\n  {\"label\": ", stdout);
        json_put_text(stdout, label, strlen(label));
        printf(", \"index\": %zu, \"pixels\": %" PRIu64 ", \"part\": ", i, s->pixels[i]);
        json_put_double(stdout, part_of(s, i));
        fputc('}', stdout);
    }
    fputs("\n]}", stdout);
}

static bool find_classes(const opened_model *opened, vision *v, const char *path, segmentation *s)
{
    taper_value *input, *result = NULL, *scores = NULL;
    if (!vision_prepare(v, opened, path, &s->photo, &input)) {
        return false;
    }
    const double begin = clock_seconds();
    bool done = model_run(opened, NULL, &input, 1, &result);
    s->milliseconds = (clock_seconds() - begin) * 1e3;
    done = done && vision_scores(opened, result, &scores) &&
           class_map_create(opened, scores, s->photo.full_width, s->photo.full_height, &s->map);
    if (done) {
        s->pixels = calloc(s->map.classes, sizeof *s->pixels);
        done = s->pixels != NULL || error_report_memory(path);
    }
    if (done) {
        class_map_count(&s->map, s->pixels);
        vision_check_classes(v, opened, s->map.classes, s->map.counted);
    }
    taper_value_release(scores);
    taper_value_release(result);
    taper_value_release(input);
    return done;
}

// ---- writing

static bool write_npy(const char *path, const class_map *map)
{
    const int64_t sizes[] = {map->height, map->width};
    char header[NPY_HEADER_MAX];
    output_file output;
    if (!output_open(&output, path)) {
        return false;
    }
    const size_t length = npy_header(header, npy_descr(TAPER_I16), 2, sizes);
    const size_t bytes = (size_t)map->width * (size_t)map->height * sizeof *map->classes_at;
    if (!output_write(&output, header, length) || !output_write(&output, map->classes_at, bytes)) {
        output_discard(&output);
        return error_report(path, "cannot write: %s", strerror(errno));
    }
    return output_commit(&output);
}

static bool write_gray(const char *path, const class_map *map)
{
    const size_t count = (size_t)map->width * (size_t)map->height;
    if (map->classes > 256) {
        return error_report(path, "a grey picture has room for 256 classes, the model has %zu: -o FILE.npy",
                            map->classes);
    }
    unsigned char *gray = malloc(count);
    if (gray == NULL) {
        return error_report_memory(path);
    }
    for (size_t i = 0; i < count; i++) {
        gray[i] = (unsigned char)map->classes_at[i];
    }
    const bool done = image_write_gray_png(path, map->width, map->height, gray);
    free(gray);
    return done;
}

// Returns true if the result is drawn over the picture. If it is not drawn, only the picture's size is needed after the
// model has run.
static bool draws(const segment_options *options, const char *output)
{
    return !options->map && !suffix_among(output, ".npy");
}

static bool write_result(const segment_options *options, const vision *v, segmentation *s, const char *path)
{
    if (suffix_among(path, ".npy")) {
        return write_npy(path, &s->map);
    }
    if (options->map) {
        return write_gray(path, &s->map);
    }
    overlay_draw(v, &s->map, &s->photo);
    return image_write_png(path, &s->photo);
}

// ---- pictures

static bool segment_picture(const segment_options *options, const opened_model *opened, vision *v, const char *path,
                            const char *output, size_t printed)
{
    segmentation s = {0};
    bool done = vision_read(v, path, draws(options, output), &s.photo) && find_classes(opened, v, path, &s) &&
                write_result(options, v, &s, output);
    if (done && options->json) {
        fputs(printed != 0 ? ",\n" : "", stdout);
        put_classes_json(v, &s, path);
    } else if (done) {
        fputs(printed != 0 ? "\n" : "", stdout);
        done = put_classes(v, &s, path, output);
    }
    free(s.pixels);
    class_map_release(&s.map);
    image_release(&s.photo);
    return done;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static size_t stem_of(const char *path)
{
    const char *base = base_of(path), *dot = strrchr(base, '.');
    return dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
}

// Writes FOLDER/NAME.png to output. Fails if an earlier picture has the same output name.
static bool name_output(const char *folder, const file_list *files, size_t index, char *output, size_t size)
{
    const char *path = files->paths[index];
    const size_t length = stem_of(path);
    for (size_t i = 0; i < index; i++) {
        if (stem_of(files->paths[i]) == length && memcmp(base_of(files->paths[i]), base_of(path), length) == 0) {
            return error_report(path, "would be written where %s is", files->paths[i]);
        }
    }
    const int written = snprintf(output, size, "%s/%.*s.png", folder, (int)length, base_of(path));
    return (written > 0 && (size_t)written < size) || error_report(path, "its name is too long");
}

// Segments all pictures. Continues after a picture that cannot be read or segmented.
static bool segment_files(const segment_options *options, const opened_model *opened, vision *v, const file_list *files,
                          bool several)
{
    char output[4096];
    size_t printed = 0;
    bool done = true;
    if (several && !path_is_folder(options->output) && mkdir(options->output, 0777) != 0) {
        return error_report(options->output, "cannot make the folder for several pictures: %s", strerror(errno));
    }
    fputs(options->json && several ? "[" : "", stdout);
    for (size_t i = 0; i < files->count; i++) {
        const bool good =
            (!several || name_output(options->output, files, i, output, sizeof output)) &&
            segment_picture(options, opened, v, files->paths[i], several ? output : options->output, printed);
        printed += good;
        done = done && good;
    }
    fputs(options->json ? several ? "]\n" : printed != 0 ? "\n" : "" : "", stdout);
    return done;
}

static bool segment(const segment_options *options)
{
    const arg_texts *paths = &options->positional; // the first positional argument is the path of the model
    opened_model opened;
    vision v;
    file_list files = {0};
    bool listed = true;
    for (size_t i = 1; i < paths->count; i++) {
        listed = file_list_add(&files, paths->items[i], SUFFIXES_THAT_ARE_READ, "pictures") && listed;
    }
    const bool several = paths->count > 2 || path_is_folder(paths->items[1]);
    bool done = files.count != 0 && model_open(&opened, paths->items[0], &options->model);
    if (done) {
        done = vision_create(&opened, &options->vision, true, &v);
        if (done) {
            done = segment_files(options, &opened, &v, &files, several);
            vision_release(&v);
        }
        model_close(&opened);
    }
    file_list_release(&files);
    return done && listed;
}

int command_segment(int argc, char **argv)
{
    segment_options options = {.output = NULL};
    vision_options_init(&options.vision);
    const arg_option rows[] = {
        {"--output", 'o', ARG_TEXT, &options.output, 0, 0},
        {"--map", 0, ARG_FLAG, &options.map, 0, 0},
        {"--json", 0, ARG_JSON, &options.json, 0, 0},
        VISION_OPTION_ROWS(options.vision),
        MODEL_OPTION_ROWS(options.model),
        MEMORY_OPTION_ROW(options.model),
    };
    const arg_table table = {
        usage, rows, sizeof rows / sizeof *rows, 2, (size_t)argc, "MODEL or IMAGE is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = options.output == NULL ? error_usage(usage, "-o MASK.png is missing")
                 : suffix_among(options.output, NO_MASKS)
                     ? error_usage(usage, "-o %.200s: the picture is written as .png", options.output)
                 : options.positional.count > 2 && suffix_among(options.output, ".png .npy")
                     ? error_usage(usage, "-o %.200s: of several pictures it names a folder", options.output)
                     : model_options_check(&options.model, usage);
    }
    if (status == ARGS_GO_ON) {
        options.model.print_to_stderr = options.json;
        status = segment(&options) ? 0 : EXIT_WORK_FAILED;
    }
    args_release(&table);
    return status;
}
