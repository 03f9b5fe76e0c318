// SPDX-License-Identifier: BSD-2-Clause
// taper classify: prints the most probable classes of pictures.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/file_list.h"
#include "common/json_value.h"
#include "common/terminal.h"
#include "taper/commands.h"
#include "taper/vision.h"

static const char usage[] =
    "usage: taper classify MODEL IMAGE… [options]\n\n"
    "Says what PNG or JPEG pictures show; an IMAGE may be a folder of them. After one that cannot be read it goes on,\n"
    "and fails in the end. Size, mean, std and labels come from the model's "
    "extra file taper.json; without\n"
    "one, pictures are prepared as torchvision does for ImageNet.\n\n"
    "  --top N             how many classes to show (default: 5)\n"
    "  --json              print the classes as JSON\n"
    "  --times             with --json: how long loading and each picture took, too\n" VISION_OPTION_USAGE
        MODEL_OPTION_USAGE MEMORY_OPTION_USAGE;

enum { BAR_WIDTH = 24 };

typedef struct classify_options {
    model_options model;
    vision_options vision;
    arg_texts positional;
    long top;
    bool json, times;
} classify_options;

typedef struct ranking {
    taper_ranked *best;
    size_t shown;
    double milliseconds;
} ranking;

static void ranking_release(ranking *r)
{
    free(r->best);
    *r = (ranking){0};
}

static int label_width(const char *label)
{
    int width = 0;
    for (; *label != '\0'; label++) {
        // Counts the characters of UTF-8 by skipping continuation bytes.
        width += ((unsigned char)*label & 0xC0) != 0x80;
    }
    return width;
}

static void put_ranking(const vision *v, const char *path, const image *picture, const ranking *r)
{
    const bool colors = terminal_has_colors(stdout);
    char buffer[32];
    int width = 0;
    for (size_t i = 0; i < r->shown; i++) {
        const int one = label_width(vision_label(v, r->best[i].index, buffer));
        width = one > width ? one : width;
    }
    fputs(colors ? "\033[1m" : "", stdout);
    text_put(stdout, path, strlen(path), false);
    printf("%s  %dx%d, %.1f ms\n", colors ? "\033[0m" : "", picture->full_width, picture->full_height, r->milliseconds);
    for (size_t i = 0; i < r->shown; i++) {
        const char *label = vision_label(v, r->best[i].index, buffer);
        const double part = (double)r->best[i].score;
        fputs("  ", stdout);
        text_put(stdout, label, strlen(label), false);
        printf("%*s  %5.1f %%  ", width - label_width(label), "", 100 * part);
        fputs(colors ? (i == 0 ? "\033[32m" : "\033[90m") : "", stdout);
        terminal_bar(stdout, part, BAR_WIDTH);
        fputs(colors ? "\033[0m\n" : "\n", stdout);
    }
}

static void put_classes_json(const vision *v, const ranking *r)
{
    fputc('[', stdout);
    for (size_t i = 0; i < r->shown; i++) {
        char buffer[32];
        const char *label = vision_label(v, r->best[i].index, buffer);
        fputs(i != 0 ? ",\n    {\"label\": " : "\n    {\"label\": ", stdout);
        json_put_text(stdout, label, strlen(label));
        printf(", \"index\": %zu, \"probability\": ", r->best[i].index);
        json_put_float(stdout, r->best[i].score);
        fputc('}', stdout);
    }
    fputs("\n  ]", stdout);
}

static void begin_json(const classify_options *options, const opened_model *opened)
{
    fputc('{', stdout);
    if (options->times) {
        fputs("\"model\": ", stdout);
        json_put_text(stdout, opened->path, strlen(opened->path));
        printf(", \"load_ms\": %.4f, \"pictures\": [", opened->load_seconds * 1e3);
    }
}

static void put_ranking_json(const classify_options *options, const opened_model *opened, const vision *v,
                             const char *path, const image *picture, const ranking *r, bool first)
{
    if (first) {
        begin_json(options, opened);
    }
    fputs(first ? "\n  " : ",\n  ", stdout);
    fputs(options->times ? "{\"image\": " : "", stdout);
    json_put_text(stdout, path, strlen(path));
    if (options->times) {
        printf(", \"width\": %d, \"height\": %d, \"ms\": %.4f, \"classes\"", picture->full_width, picture->full_height,
               r->milliseconds);
    }
    fputs(": ", stdout);
    put_classes_json(v, r);
    fputs(options->times ? "}" : "", stdout);
}

static void end_json(const classify_options *options, const opened_model *opened, bool any)
{
    if (!any) {
        begin_json(options, opened);
    }
    fputs(any ? "\n" : "", stdout);
    fputs(options->times ? "]}\n" : "}\n", stdout);
}

// Accepts one row of scores, [classes] or [1, classes, 1, 1], and reports an error for a map of scores.
static bool check_scores(const opened_model *opened, const taper_value *scores)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_get_tensor(scores, &info, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    if (info.rank >= 3 && info.sizes[info.rank - 1] > 1 && info.sizes[info.rank - 2] > 1) {
        return error_report(opened->path, "the result is a map of %lld x %lld: `taper segment` takes such models",
                            (long long)info.sizes[info.rank - 1], (long long)info.sizes[info.rank - 2]);
    }
    return true;
}

static bool rank(const opened_model *opened, vision *v, const taper_value *result, size_t top, ranking *r)
{
    taper_value *scores, *probabilities = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    if (!vision_scores(opened, result, &scores)) {
        return false;
    }
    bool done = check_scores(opened, scores);
    if (done) {
        r->best = calloc(top, sizeof *r->best);
        done = r->best != NULL || error_report_memory(opened->path);
    }
    if (done) {
        done = (taper_scores_softmax(opened->context, scores, &probabilities, opened->error) == TAPER_OK &&
                taper_value_get_tensor(probabilities, &info, opened->error) == TAPER_OK &&
                taper_scores_top(opened->context, probabilities, r->best, top, &r->shown, opened->error) == TAPER_OK) ||
               error_report_library(opened->path, opened->error);
    }
    if (done && r->shown != 0) {
        vision_check_classes(v, opened, info.bytes / sizeof(float), true);
    }
    taper_value_release(probabilities);
    taper_value_release(scores);
    return done && (r->shown != 0 || error_report(opened->path, "the result holds no scores"));
}

static bool classify_picture(const classify_options *options, const opened_model *opened, vision *v, const char *path,
                             bool first)
{
    image picture;
    taper_value *input = NULL, *result = NULL;
    ranking r = {0};
    if (!vision_read(v, path, false, &picture)) {
        return false;
    }
    bool done = vision_prepare(v, opened, path, &picture, &input);
    if (done) {
        const double begin = clock_seconds();
        done = model_run(opened, NULL, &input, 1, &result);
        r.milliseconds = (clock_seconds() - begin) * 1e3;
    }
    done = done && rank(opened, v, result, (size_t)options->top, &r);
    if (done && options->json) {
        put_ranking_json(options, opened, v, path, &picture, &r, first);
    } else if (done) {
        fputs(first ? "" : "\n", stdout);
        put_ranking(v, path, &picture, &r);
    }
    ranking_release(&r);
    taper_value_release(result);
    taper_value_release(input);
    image_release(&picture);
    return done;
}

// Classifies all pictures. Continues after a picture that cannot be read or classified.
static bool classify_all(const classify_options *options, const opened_model *opened, vision *v)
{
    const arg_texts *paths = &options->positional; // the first positional argument is the path of the model
    bool done = true;
    size_t printed = 0;
    for (size_t i = 1; i < paths->count; i++) {
        file_list files = {0};
        done = file_list_add(&files, paths->items[i], SUFFIXES_THAT_ARE_READ, "pictures") && done;
        for (size_t k = 0; k < files.count; k++) {
            const bool good = classify_picture(options, opened, v, files.paths[k], printed == 0);
            printed += good;
            done = done && good;
        }
        file_list_release(&files);
    }
    if (options->json) {
        end_json(options, opened, printed != 0);
    }
    return done;
}

static bool classify(const classify_options *options)
{
    opened_model opened;
    vision v;
    if (!model_open(&opened, options->positional.items[0], &options->model)) {
        return false;
    }
    bool done = vision_create(&opened, &options->vision, false, &v);
    if (done) {
        done = classify_all(options, &opened, &v);
        vision_release(&v);
    }
    model_close(&opened);
    return done;
}

int command_classify(int argc, char **argv)
{
    classify_options options = {.top = 5};
    vision_options_init(&options.vision);
    const arg_option rows[] = {
        {"--top", 0, ARG_COUNT, &options.top, 1, 1000000},
        {"--json", 0, ARG_JSON, &options.json, 0, 0},
        {"--times", 0, ARG_FLAG, &options.times, 0, 0},
        VISION_OPTION_ROWS(options.vision),
        MODEL_OPTION_ROWS(options.model),
        MEMORY_OPTION_ROW(options.model),
    };
    const arg_table table = {
        usage, rows, sizeof rows / sizeof *rows, 2, (size_t)argc, "MODEL or IMAGE is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON && options.times && !options.json) {
        status = error_usage(usage, "--times goes with --json; without it the times are shown");
    }
    if (status == ARGS_GO_ON) {
        status = model_options_check(&options.model, usage);
    }
    if (status == ARGS_GO_ON) {
        options.model.print_to_stderr = options.json;
        status = classify(&options) ? 0 : EXIT_WORK_FAILED;
    }
    args_release(&table);
    return status;
}
