// SPDX-License-Identifier: BSD-2-Clause
// Implements taper inspect --graph and --memory.
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

typedef struct value_shapes { // texts of the values' shapes in one run of forward, indexed by value number
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

// Prints the line, then the shapes of the values that it defines ("  %3 : Tensor, %4 : int = …").
static void put_line(const char *line, size_t length, const value_shapes *shapes)
{
    text_put(stdout, line, length, true);
    size_t equals = 0; // position of " = " in this line
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

// Draws the graph of forward as one picture.
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
    size_t count, capacity;
    size_t arena; // size of the arena in bytes
    size_t kept;  // number of bytes that are kept after the run
    size_t sum;   // sum of the bytes of all allocations in the run
    uint32_t steps;
} plan_view;

// Views of the memory plan: first the host's memory, then the memory of each segment that runs on a device.
typedef struct plan_views {
    plan_view *of;
    size_t count, capacity;
    bool failed;
} plan_views;

static bool grow(void **items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    const size_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
    void *more = realloc(*items, wanted * size);
    if (more != NULL) {
        *items = more;
        *capacity = wanted;
    }
    return more != NULL;
}

static void count_item(plan_view *view, const taper_plan_item *item)
{
    view->sum += item->bytes;
    view->steps = item->born + 1 > view->steps ? item->born + 1 : view->steps;
    if (item->outlives_run) {
        view->kept += item->bytes;
        return;
    }
    view->steps = item->died > view->steps ? item->died : view->steps;
    view->arena = item->offset + item->bytes > view->arena ? item->offset + item->bytes : view->arena;
}

static void add_device_item(void *user, size_t arena, const taper_plan_item *item)
{
    plan_views *views = user;
    void *of = views->of;
    if (views->count == arena + 1) { // true for the first item of a device's arena; view 0 is for the host's memory
        views->failed = views->failed || !grow(&of, &views->capacity, views->count, sizeof *views->of);
        views->of = of;
        if (!views->failed) {
            views->of[views->count++] = (plan_view){0};
        }
    }
    plan_view *view = &views->of[views->count - 1];
    void *items = view->items;
    views->failed = views->failed || !grow(&items, &view->capacity, view->count, sizeof *item);
    view->items = items;
    if (!views->failed) {
        view->items[view->count++] = *item; // a shallow copy, because the text in the item belongs to the model
        count_item(view, item);
    }
}

static void free_views(plan_views *views)
{
    for (size_t i = 0; i < views->count; i++) {
        free(views->of[i].items);
    }
    free(views->of);
    *views = (plan_views){0};
}

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
        count_item(view, item);
    }
    return true;
}

static bool read_plans(const opened_model *opened, plan_views *views)
{
    *views = (plan_views){.of = calloc(1, sizeof *views->of), .count = 1, .capacity = 1};
    if (views->of == NULL || !read_plan(opened, views->of)) {
        views->count = 0;
        free_views(views);
        return error_report_memory(NULL);
    }
    views->failed =
        taper_inspect_device_plan(opened->session, add_device_item, views, NULL) != TAPER_OK || views->failed;
    if (views->failed) {
        free_views(views);
        return error_report_memory(NULL);
    }
    return true;
}

// Draws a grid. Each cell is the letter of the storage that takes most of it, or '.' for an empty cell.
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
                if (item->outlives_run) {
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
        if (item->outlives_run) {
            fputs("\"offset\": null, \"died\": null, \"operator\": ", stdout);
        } else {
            printf("\"offset\": %zu, \"died\": %u, \"operator\": ", item->offset, item->died);
        }
        json_put_text(stdout, item->operator_name != NULL ? item->operator_name : "", item->operator_length);
        fputc('}', stdout);
    }
    fputs("]", stdout);
}

// Returns the bytes of packed weights of the layers that have run.
static size_t packed_bytes(const opened_model *opened)
{
    taper_memory_info info = {.struct_size = sizeof info};
    taper_session_memory(opened->session, &info);
    return info.packed_bytes;
}

static void put_all_json(const plan_views *views, const opened_model *opened)
{
    put_memory_json(views->of);
    printf(", \"packed_bytes\": %zu", packed_bytes(opened));
    if (views->count > 1) {
        fputs(", \"device\": [", stdout);
        for (size_t i = 1; i < views->count; i++) {
            fputs(i != 1 ? ", " : "", stdout);
            put_memory_json(&views->of[i]);
            fputs("}", stdout);
        }
        fputs("]", stdout);
    }
    fputs("}\n", stdout);
}

enum { WIDE = 960, HIGH = 540, LEFT = 70, TOP = 40, BELOW = 40 };

// Draws the plan with time from left to right and addresses from bottom to top. Storages that are kept after the run
// are not drawn.
static void draw_plan(const plan_view *view, const char *whose, int y, FILE *stream)
{
    const double across = view->steps != 0 ? (double)WIDE / view->steps : 0;
    const double up = view->arena != 0 ? HIGH / (double)view->arena : 0;
    const int top = y + TOP;
    fprintf(
        stream,
        "<text x=\"%d\" y=\"%d\">%san arena of %.2f MB for %zu storages of %.2f MB; %.2f MB outlive the run</text>\n"
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f6f8fa\" stroke=\"#8c959f\"/>\n",
        LEFT, y + 24, whose, (double)view->arena / 1e6, view->count, (double)view->sum / 1e6, (double)view->kept / 1e6,
        LEFT, top, WIDE, HIGH);
    for (int i = 0; i <= 4; i++) {
        fprintf(stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#57606a\">%.2f MB</text>\n", LEFT - 6,
                top + HIGH - HIGH * i / 4 + 4, (double)view->arena * i / 4e6);
    }
    fprintf(stream, "<text x=\"%d\" y=\"%d\" fill=\"#57606a\">time, in %s: %u</text>\n", LEFT, top + HIGH + 22,
            *whose != '\0' ? "dispatches" : "births and deaths", view->steps);
    for (size_t i = 0; i < view->count; i++) {
        const taper_plan_item *item = &view->items[i];
        if (item->outlives_run) {
            continue;
        }
        fprintf(stream, "<g><title>");
        markup_text(stream, item->operator_name != NULL ? item->operator_name : "", item->operator_length);
        fprintf(stream,
                "\n%zu bytes at %zu, from step %u to %u</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\" fill=\"hsl(%zu,65%%,65%%)\" stroke=\"#ffffff\" stroke-width=\"0.5\"/></g>\n",
                item->bytes, item->offset, item->born, item->died, LEFT + item->born * across,
                top + HIGH - (double)(item->offset + item->bytes) * up, (item->died - item->born) * across,
                (double)item->bytes * up, i * 137 % 360);
    }
}

static bool draw_plans(const plan_views *views, const char *model, const char *path)
{
    output_file output;
    const int each = TOP + HIGH + BELOW, most = 1000;
    const int count = views->count < (size_t)most ? (int)views->count : most;
    if (!markup_open_picture(&output, path, model, LEFT + WIDE + 20, count * each)) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        draw_plan(&views->of[i], i != 0 ? "on the device: " : "", i * each, output.stream);
    }
    return markup_close_picture(&output, path);
}

static void print_plan(plan_view *view, const char *whose)
{
    printf("memory plan of forward%s: %zu storages of %.2f MB in an arena of %.2f MB; %.2f MB outlive the run\n", whose,
           view->count, (double)view->sum / 1e6, (double)view->arena / 1e6, (double)view->kept / 1e6);
    if (view->arena != 0 && view->steps != 0) {
        draw(view);
    }
    if (view->count != 0) {
        qsort(view->items, view->count, sizeof *view->items, largest_first);
    }
    printf("\n  the largest:\n  %12s %8s %8s %12s  made by\n", "bytes", "born", "died", "offset");
    for (size_t i = 0; i < view->count && i < LARGEST; i++) {
        const taper_plan_item *item = &view->items[i];
        printf("  %12zu %8u ", item->bytes, item->born);
        if (item->outlives_run) {
            printf("%8s %12s", "-", "outlives");
        } else {
            printf("%8u %12zu", item->died, item->offset);
        }
        printf("  %.*s\n", (int)item->operator_length, item->operator_name != NULL ? item->operator_name : "");
    }
}

bool inspect_print_memory(const opened_model *opened, bool json, const char *path)
{
    plan_views views;
    bool done = true;
    if (!read_plans(opened, &views)) {
        return false;
    }
    if (path != NULL) {
        done = draw_plans(&views, opened->path, path);
    } else if (json) {
        put_all_json(&views, opened);
    } else {
        for (size_t i = 0; i < views.count; i++) {
            char whose[300] = "";
            if (i != 0) {
                (void)snprintf(whose, sizeof whose, " on %.250s, part %zu", taper_model_device(opened->model), i);
            }
            fputs(i != 0 ? "\n" : "", stdout);
            print_plan(&views.of[i], whose);
        }
        printf("\npacked weights of %.2f MB\n", (double)packed_bytes(opened) / 1e6);
    }
    free_views(&views);
    return done;
}
