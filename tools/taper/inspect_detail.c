// SPDX-License-Identifier: BSD-2-Clause
// taper inspect --graph and --memory.
#include "taper/inspect_detail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_inspect.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/markup.h"
#include "taper/graph_picture.h"

// ---- graphs

typedef struct value_shapes { // of one run of forward: by value number, its text
    char **texts;
    size_t count;
    bool failed;
} value_shapes;

static void note_shape(void *user, const taper_observation *seen)
{
    value_shapes *shapes = user;
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_kind(seen->result) != TAPER_KIND_TENSOR ||
        taper_value_get_tensor(seen->result, &info, NULL) != TAPER_OK) {
        return;
    }
    if (seen->value >= shapes->count) {
        const size_t count = (size_t)seen->value + 64;
        char **texts = realloc(shapes->texts, count * sizeof *texts);
        if (texts == NULL) {
            shapes->failed = true;
            return;
        }
        memset(texts + shapes->count, 0, (count - shapes->count) * sizeof *texts);
        shapes->texts = texts;
        shapes->count = count;
    }
    enum { LONGEST = 32 + 24 * TAPER_MAX_RANK };
    char text[LONGEST];
    int length = snprintf(text, sizeof text, "%s [", taper_dtype_name(info.dtype));
    for (size_t i = 0; i < info.rank; i++) {
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%s%" PRId64, i != 0 ? ", " : "", info.sizes[i]);
    }
    free(shapes->texts[seen->value]);
    char *copy = malloc((size_t)length + 2);
    if (copy != NULL) {
        snprintf(copy, (size_t)length + 2, "%s]", text);
    }
    shapes->texts[seen->value] = copy;
    shapes->failed = shapes->failed || copy == NULL;
}

typedef struct graph_text {
    char *data;
    size_t length;
    bool failed;
} graph_text;

static void keep_text(void *user, const char *text, size_t length)
{
    graph_text *kept = user;
    char *data = kept->failed ? NULL : realloc(kept->data, kept->length + length + 1);
    if (data == NULL) {
        kept->failed = true;
        return;
    }
    memcpy(data + kept->length, text, length);
    kept->data = data;
    kept->length += length;
    data[kept->length] = '\0';
}

// The line, and the shapes of the values that it defines ("  %3 : Tensor, %4 : int = …") behind it.
static void put_line(const char *line, size_t length, const value_shapes *shapes)
{
    text_put(stdout, line, length, true);
    size_t equals = 0; // where " = " stands, in this line
    while (equals + 3 <= length && memcmp(line + equals, " = ", 3) != 0) {
        equals++;
    }
    bool first = true;
    for (const char *at = line; equals + 3 <= length && at < line + equals; at++) {
        if (*at != '%') {
            continue;
        }
        const unsigned long number = strtoul(at + 1, NULL, 10);
        if (number < shapes->count && shapes->texts[number] != NULL) {
            printf("%s%s", first ? "  # " : "; ", shapes->texts[number]);
            first = false;
        }
    }
    fputc('\n', stdout);
}

static bool read_graph(const opened_model *opened, const char *method, graph_text *text)
{
    *text = (graph_text){0};
    if (taper_inspect_graph(opened->model, method, keep_text, text, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    return (!text->failed && text->data != NULL) || error_report_memory(opened->path);
}

static bool put_graph(const opened_model *opened, const char *method, const value_shapes *shapes)
{
    graph_text text;
    const bool done = read_graph(opened, method, &text);
    const value_shapes none = {0};
    for (const char *line = text.data; done && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        put_line(line, length, strcmp(method, "forward") == 0 ? shapes : &none);
        line += length + (line[length] == '\n');
    }
    free(text.data);
    return done;
}

// One picture of forward.
static bool draw_graph(const opened_model *opened, const value_shapes *shapes, const char *path)
{
    graph_text text;
    bool done = read_graph(opened, "forward", &text);
    if (done) {
        const graph_picture picture = {opened->path, text.data, (const char *const *)shapes->texts, shapes->count};
        done = graph_picture_write(&picture, path);
    }
    free(text.data);
    return done;
}

bool inspect_print_graphs(const opened_model *opened, const call_inputs *inputs, const char *path)
{
    value_shapes shapes = {0};
    bool done = true;
    if (inputs != NULL) {
        taper_value *result = NULL;
        taper_session_observe(opened->session, note_shape, &shapes);
        done = model_run(opened, NULL, inputs->values, inputs->count, &result);
        taper_value_release(result);
        taper_session_observe(opened->session, NULL, NULL);
        done = done && (!shapes.failed || error_report_memory(opened->path));
    }
    if (done && path != NULL) {
        done = draw_graph(opened, &shapes, path);
    }
    for (size_t i = 0; done && path == NULL && i < taper_model_method_count(opened->model); i++) {
        done = put_graph(opened, taper_model_method_name(opened->model, i), &shapes);
        fputc('\n', stdout);
    }
    for (size_t i = 0; i < shapes.count; i++) {
        free(shapes.texts[i]);
    }
    free(shapes.texts);
    return done;
}

// ---- the memory plan

enum { ROWS = 24, COLUMNS = 72, LARGEST = 12 };

typedef struct plan_view {
    taper_plan_item *items;
    size_t count;
    size_t arena; // bytes
    size_t kept;  // bytes that outlive the run
    size_t sum;   // of all births
    uint32_t steps;
} plan_view;

static bool read_plan(const opened_model *opened, plan_view *view)
{
    *view = (plan_view){.count = taper_inspect_plan_count(opened->session)};
    view->items = calloc(view->count + 1, sizeof *view->items);
    if (view->items == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < view->count; i++) {
        taper_plan_item *item = &view->items[i];
        item->struct_size = sizeof *item;
        if (taper_inspect_plan_item(opened->session, i, item, NULL) != TAPER_OK) {
            continue;
        }
        view->sum += item->bytes;
        view->steps = item->born + 1 > view->steps ? item->born + 1 : view->steps;
        if (item->outlives) {
            view->kept += item->bytes;
            continue;
        }
        view->steps = item->died > view->steps ? item->died : view->steps;
        view->arena = item->offset + item->bytes > view->arena ? item->offset + item->bytes : view->arena;
    }
    return true;
}

// Each cell: a letter of the storage that takes most of it, '.' for nothing.
static void draw(const plan_view *view)
{
    printf("\n  time goes right, addresses go up; each letter is one storage\n");
    for (int row = ROWS - 1; row >= 0; row--) {
        const double low = (double)view->arena * row / ROWS, high = (double)view->arena * (row + 1) / ROWS;
        printf("  %8.2f MB |", high / 1e6);
        for (int column = 0; column < COLUMNS; column++) {
            const double from = (double)view->steps * column / COLUMNS,
                         to = (double)view->steps * (column + 1) / COLUMNS;
            double best = 0;
            char letter = '.';
            for (size_t i = 0; i < view->count; i++) {
                const taper_plan_item *item = &view->items[i];
                if (item->outlives) {
                    continue;
                }
                const double bytes_low = (double)item->offset > low ? (double)item->offset : low;
                const double bytes_high =
                    (double)(item->offset + item->bytes) < high ? (double)(item->offset + item->bytes) : high;
                const double time_low = (double)item->born > from ? (double)item->born : from;
                const double time_high = (double)item->died < to ? (double)item->died : to;
                const double area = bytes_high > bytes_low && time_high > time_low
                                        ? (bytes_high - bytes_low) * (time_high - time_low)
                                        : 0;
                if (area > best) {
                    best = area;
                    letter = (char)('A' + i % 26);
                }
            }
            fputc(letter, stdout);
        }
        fputs("|\n", stdout);
    }
}

static int largest_first(const void *a, const void *b)
{
    const size_t x = ((const taper_plan_item *)a)->bytes, y = ((const taper_plan_item *)b)->bytes;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void put_memory_json(const plan_view *view)
{
    printf("{\"arena_bytes\": %zu, \"outliving_bytes\": %zu, \"sum_bytes\": %zu, \"steps\": %u, \"storages\": [",
           view->arena, view->kept, view->sum, view->steps);
    for (size_t i = 0; i < view->count; i++) {
        const taper_plan_item *item = &view->items[i];
        printf("%s{\"bytes\": %zu, \"born\": %u, ", i != 0 ? ", " : "", item->bytes, item->born);
        if (item->outlives) {
            fputs("\"offset\": null, \"died\": null, \"operator\": ", stdout);
        } else {
            printf("\"offset\": %zu, \"died\": %u, \"operator\": ", item->offset, item->died);
        }
        json_put_text(stdout, item->operator_name != NULL ? item->operator_name : "", item->operator_length);
        fputc('}', stdout);
    }
    fputs("]}\n", stdout);
}

// Time goes right, addresses go up; what outlives the run has no place.
static bool draw_plan(const plan_view *view, const char *model, const char *path)
{
    enum { WIDE = 960, HIGH = 540, LEFT = 70, TOP = 40, BELOW = 40 };
    output_file output;
    if (!markup_open_picture(&output, path, model, LEFT + WIDE + 20, TOP + HIGH + BELOW)) {
        return false;
    }
    FILE *stream = output.stream;
    const double across = view->steps != 0 ? (double)WIDE / view->steps : 0;
    const double up = view->arena != 0 ? HIGH / (double)view->arena : 0;
    fprintf(stream,
            "<text x=\"%d\" y=\"24\">an arena of %.2f MB for %zu storages of %.2f MB; %.2f MB outlive the run</text>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f6f8fa\" stroke=\"#8c959f\"/>\n",
            LEFT, (double)view->arena / 1e6, view->count, (double)view->sum / 1e6, (double)view->kept / 1e6, LEFT, TOP,
            WIDE, HIGH);
    for (int i = 0; i <= 4; i++) {
        fprintf(stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#57606a\">%.2f MB</text>\n", LEFT - 6,
                TOP + HIGH - HIGH * i / 4 + 4, (double)view->arena * i / 4e6);
    }
    fprintf(stream, "<text x=\"%d\" y=\"%d\" fill=\"#57606a\">time, in births and deaths: %u</text>\n", LEFT,
            TOP + HIGH + 22, view->steps);
    for (size_t i = 0; i < view->count; i++) {
        const taper_plan_item *item = &view->items[i];
        if (item->outlives) {
            continue;
        }
        fprintf(stream, "<g><title>");
        markup_text(stream, item->operator_name != NULL ? item->operator_name : "", item->operator_length);
        fprintf(stream,
                "\n%zu bytes at %zu, from step %u to %u</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\" fill=\"hsl(%zu,65%%,65%%)\" stroke=\"#ffffff\" stroke-width=\"0.5\"/></g>\n",
                item->bytes, item->offset, item->born, item->died, LEFT + item->born * across,
                TOP + HIGH - (double)(item->offset + item->bytes) * up, (item->died - item->born) * across,
                (double)item->bytes * up, i * 137 % 360);
    }
    return markup_close_picture(&output, path);
}

bool inspect_print_memory(const opened_model *opened, bool json, const char *path)
{
    plan_view view;
    if (!read_plan(opened, &view)) {
        return false;
    }
    if (path != NULL) {
        const bool done = draw_plan(&view, opened->path, path);
        free(view.items);
        return done;
    }
    if (json) {
        put_memory_json(&view);
        free(view.items);
        return true;
    }
    printf("memory plan of forward: %zu storages of %.2f MB in an arena of %.2f MB; %.2f MB outlive the run\n",
           view.count, (double)view.sum / 1e6, (double)view.arena / 1e6, (double)view.kept / 1e6);
    if (view.arena != 0 && view.steps != 0) {
        draw(&view);
    }
    qsort(view.items, view.count, sizeof *view.items, largest_first);
    printf("\n  the largest:\n  %12s %8s %8s %12s  made by\n", "bytes", "born", "died", "offset");
    for (size_t i = 0; i < view.count && i < LARGEST; i++) {
        const taper_plan_item *item = &view.items[i];
        printf("  %12zu %8u ", item->bytes, item->born);
        if (item->outlives) {
            printf("%8s %12s", "-", "outlives");
        } else {
            printf("%8u %12zu", item->died, item->offset);
        }
        printf("  %.*s\n", (int)item->operator_length, item->operator_name != NULL ? item->operator_name : "");
    }
    free(view.items);
    return true;
}
