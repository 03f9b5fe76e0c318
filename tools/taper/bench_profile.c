// SPDX-License-Identifier: BSD-2-Clause
// Shows where the time of a run goes, by operator and by layer.
#include "taper/bench_profile.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/markup.h"
#include "common/terminal.h"

enum { MOST_ROWS = 30, BAR = 30, OPERATOR_COLUMNS = 82, LAYER_COLUMNS = 66 };

// ---- collecting the profile

// Collects the items of operators that ran, and the items of operators that a device declined.
static bool collect(const opened_model *opened, bench_profile *p)
{
    const size_t sites = taper_profile_count(opened->session);
    p->items = calloc(sites + 1, sizeof *p->items);
    p->layers = calloc(sites + 1, sizeof *p->layers);
    if (p->items == NULL || p->layers == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < sites; i++) {
        taper_profile_item *item = &p->items[p->count];
        item->struct_size = sizeof *item;
        if (taper_profile_get(opened->session, i, item, NULL) == TAPER_OK &&
            (item->calls != 0 || item->cpu_reason != NULL)) {
            p->count++;
            p->seconds += item->seconds;
        }
    }
    return true;
}

static profile_layer *find_layer(bench_profile *p, const char *module)
{
    // The search runs backwards because consecutive operators are usually in one layer.
    for (size_t i = p->layer_count; i > 0; i--) {
        if (strcmp(p->layers[i - 1].module, module) == 0) {
            return &p->layers[i - 1];
        }
    }
    p->layers[p->layer_count] = (profile_layer){.module = module};
    return &p->layers[p->layer_count++];
}

bool bench_profile_create(const opened_model *opened, const model_options *options, const char *method,
                          const call_inputs *inputs, size_t runs, double run_seconds, bench_profile *profile)
{
    *profile = (bench_profile){.runs = runs, .run_seconds = run_seconds};
    const bool done = collect(opened, profile) && profile_layers_find(opened, options, method, inputs, &profile->names);
    for (size_t i = 0; done && i < profile->count; i++) {
        if (profile->items[i].calls == 0) {
            continue;
        }
        profile_layer *layer = find_layer(profile, profile_layers_module(&profile->names, &profile->items[i]));
        layer->seconds += profile->items[i].seconds;
        layer->operators++;
    }
    if (!done) {
        bench_profile_release(profile);
    }
    return done;
}

void bench_profile_release(bench_profile *profile)
{
    profile_layers_release(&profile->names);
    free(profile->items);
    free(profile->layers);
    *profile = (bench_profile){0};
}

// ---- printing

static int dearest_first(const void *a, const void *b)
{
    const double x = ((const taper_profile_item *)a)->seconds, y = ((const taper_profile_item *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

static int dearest_layer_first(const void *a, const void *b)
{
    const double x = ((const profile_layer *)a)->seconds, y = ((const profile_layer *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

static double gflops(const taper_profile_item *item)
{
    return item->seconds > 0 ? item->flops * (double)item->calls / item->seconds * 1e-9 : 0;
}

// The two functions below return the used share of the device's peak in per cent, or a negative number if the peak is
// unknown.
static double of_peak(const taper_profile_item *item)
{
    const bool known = item->peak_flops > 0 && item->flops > 0 && item->seconds > 0;
    return known ? 100 * item->flops * (double)item->calls / item->seconds / item->peak_flops : -1;
}

static double of_bandwidth(const taper_profile_item *item)
{
    const bool known = item->peak_bytes > 0 && item->bytes > 0 && item->seconds > 0;
    return known ? 100 * item->bytes * (double)item->calls / item->seconds / item->peak_bytes : -1;
}

// Returns the limit of the operator's speed: arithmetic or memory, whichever is closer to its peak. If both are below
// half of their peaks, the limit is overhead.
static const char *bound_by(const taper_profile_item *item)
{
    enum { LEAST = 50 };
    const double peak = of_peak(item), bandwidth = of_bandwidth(item);
    if (peak < 0 && bandwidth < 0) {
        return "";
    }
    return peak >= LEAST && peak >= bandwidth ? "arithmetic" : bandwidth >= LEAST ? "memory" : "overhead";
}

static bool has_peak(const taper_profile_item *item)
{
    return item->peak_flops > 0 && item->flops > 0;
}

// Prints the measured peaks: one line each for the CPU, for its quantized arithmetic and for the device. Returns false
// if no peak is known.
static bool put_peaks(const bench_profile *p)
{
    bool any = false;
    for (size_t i = 0; i < p->count; i++) {
        const taper_profile_item *item = &p->items[i];
        size_t first = 0;
        while (first < i && (p->items[first].peak_flops != item->peak_flops || !has_peak(&p->items[first]))) {
            first++;
        }
        if (has_peak(item) && first == i) {
            printf("%s  measured at most: %.1f GFLOP/s and %.1f GB/s (%s)\n", any ? "" : "\n", item->peak_flops * 1e-9,
                   item->peak_bytes * 1e-9, item->kernel);
            any = true;
        }
    }
    return any;
}

static void put_share(double share)
{
    if (share >= 0) {
        printf("%5.1f%% ", share);
    } else {
        printf("%6s ", "");
    }
}

static double milliseconds(const bench_profile *p, double seconds)
{
    return seconds * 1e3 / (double)p->runs;
}

static double share_of(const bench_profile *p, double seconds)
{
    return p->seconds > 0 ? seconds / p->seconds : 0;
}

// Prints a bar at the end of a line that has `used` columns. The bar may fill the line up to the terminal's width, or
// up to a fixed width if stdout is a pipe.
static void put_bar(double share, int used)
{
    const int columns = terminal_columns(stdout), left = columns - used - 1;
    for (int b = 0; columns == 0 && b < (int)(share * 4 * BAR + 0.5) && b < BAR; b++) {
        fputs("#", stdout);
    }
    if (left >= 4) {
        const bool colors = terminal_has_colors(stdout);
        fputs(colors ? "\033[32m" : "", stdout);
        terminal_bar(stdout, share * 4, left < 2 * BAR ? left : 2 * BAR);
        fputs(colors ? "\033[0m" : "", stdout);
    }
    fputc('\n', stdout);
}

static bool same_reason(const taper_profile_item *a, const taper_profile_item *b)
{
    return b->cpu_reason != NULL && strcmp(a->cpu_reason, b->cpu_reason) == 0 && a->name_length == b->name_length &&
           memcmp(a->name, b->name, a->name_length) == 0;
}

// Prints the reasons why the device declined operators, each reason once.
static void put_reasons(const bench_profile *p)
{
    bool any = false;
    for (size_t i = 0; i < p->count; i++) {
        const taper_profile_item *item = &p->items[i];
        size_t first = 0, sites = 0;
        double seconds = 0;
        while (item->cpu_reason != NULL && !same_reason(item, &p->items[first])) {
            first++;
        }
        if (item->cpu_reason == NULL || first != i) {
            continue;
        }
        for (size_t k = i; k < p->count; k++) {
            if (same_reason(item, &p->items[k])) {
                sites++;
                seconds += p->items[k].seconds;
            }
        }
        printf("%s  %9.4f %6zu  %.*s: %s\n", any ? "" : "\n     ms/run  times  left to the CPU: why\n",
               milliseconds(p, seconds), sites, (int)item->name_length, item->name, item->cpu_reason);
        any = true;
    }
}

static bool put_operators(const bench_profile *p)
{
    taper_profile_item *items = malloc((p->count + 1) * sizeof *items);
    if (items == NULL) {
        return error_report_memory(NULL);
    }
    if (p->count != 0) {
        memcpy(items, p->items, p->count * sizeof *items);
        qsort(items, p->count, sizeof *items, dearest_first);
    }
    const bool peaks = put_peaks(p);
    printf("\n  %9s %6s  %-34s %-16s %8s  %s%s\n", "ms/run", "share", "operator", "kernel", "GFLOP/s",
           peaks ? "  peak  bytes bound by    " : "", "layer");
    double shown = 0;
    for (size_t i = 0; i < p->count && i < MOST_ROWS; i++) {
        const taper_profile_item *item = &items[i];
        const double share = share_of(p, item->seconds);
        if (item->calls == 0) { // skipped, because an operator that the device declined has a second item for the CPU
            continue;
        }
        char name[64], speed[32] = "";
        (void)snprintf(name, sizeof name, "%.*s%s", (int)(item->name_length < 40 ? item->name_length : 40), item->name,
                       item->fused ? " +" : "");
        if (item->flops > 0) {
            (void)snprintf(speed, sizeof speed, "%.1f", gflops(item));
        }
        const char *module = profile_layers_module(&p->names, item);
        printf("  %9.4f %5.1f%%  %-34s %-16s %8s  ", milliseconds(p, item->seconds), share * 100, name, item->kernel,
               speed);
        if (peaks) {
            put_share(of_peak(item));
            put_share(of_bandwidth(item));
            printf("%-11s ", bound_by(item));
        }
        text_put(stdout, module, strlen(module), false);
        fputs(*module != '\0' ? "  " : "", stdout);
        put_bar(share, OPERATOR_COLUMNS + (peaks ? 26 : 0) + (*module != '\0' ? (int)strlen(module) + 2 : 0));
        shown += item->seconds;
    }
    if (p->count > MOST_ROWS) {
        printf("  %9.4f %5.1f%%  %zu others\n", milliseconds(p, p->seconds - shown),
               share_of(p, p->seconds - shown) * 100, p->count - MOST_ROWS);
    }
    printf("  %9.4f ms in %zu operators (+: with what follows it)\n", milliseconds(p, p->seconds), p->count);
    free(items);
    put_reasons(p);
    return true;
}

// Returns the time of the runs outside operators. It is not negative, although coarse clocks may make the difference
// negative.
static double outside(const bench_profile *p)
{
    return p->run_seconds > p->seconds ? p->run_seconds - p->seconds : 0;
}

static bool put_layers(const bench_profile *p)
{
    profile_layer *layers = malloc((p->layer_count + 1) * sizeof *layers);
    if (layers == NULL) {
        return error_report_memory(NULL);
    }
    if (p->layer_count != 0) {
        memcpy(layers, p->layers, p->layer_count * sizeof *layers);
        qsort(layers, p->layer_count, sizeof *layers, dearest_layer_first);
    }
    printf("\n  %9s %6s  %-34s %9s\n", "ms/run", "share", "layer", "operators");
    double shown = 0;
    for (size_t i = 0; i < p->layer_count && i < MOST_ROWS; i++) {
        const double share = share_of(p, layers[i].seconds);
        char name[35];
        (void)snprintf(name, sizeof name, "%.34s", *layers[i].module != '\0' ? layers[i].module : "(no module)");
        printf("  %9.4f %5.1f%%  ", milliseconds(p, layers[i].seconds), share * 100);
        text_put(stdout, name, strlen(name), false);
        printf("%*s %9zu  ", 34 - (int)strlen(name), "", layers[i].operators);
        put_bar(share, LAYER_COLUMNS);
        shown += layers[i].seconds;
    }
    if (p->layer_count > MOST_ROWS) {
        printf("  %9.4f %5.1f%%  %zu others\n", milliseconds(p, p->seconds - shown),
               share_of(p, p->seconds - shown) * 100, p->layer_count - MOST_ROWS);
    }
    printf("  %9.4f ms in layers, and %.4f ms outside of operators: %.4f ms a run\n", milliseconds(p, p->seconds),
           milliseconds(p, outside(p)), milliseconds(p, p->seconds + outside(p)));
    free(layers);
    return true;
}

bool bench_profile_print(const bench_profile *profile)
{
    return put_operators(profile) && put_layers(profile);
}

// Prints the JSON member `name` with the share as its value, or null if the share is unknown.
static void json_put_share(const char *name, double share)
{
    fputs(name, stdout);
    if (share >= 0) {
        printf("%.3f", share);
    } else {
        fputs("null", stdout);
    }
}

static void json_put_text_or_null(const char *text)
{
    if (*text != '\0') {
        json_put_text(stdout, text, strlen(text));
    } else {
        fputs("null", stdout);
    }
}

void bench_profile_json(const bench_profile *p)
{
    fputs(", \"ops\": [", stdout);
    for (size_t i = 0; i < p->count; i++) {
        const taper_profile_item *item = &p->items[i];
        const char *module = profile_layers_module(&p->names, item);
        fputs(i != 0 ? ", {\"name\": " : "{\"name\": ", stdout);
        json_put_text(stdout, item->name, item->name_length);
        fputs(", \"kernel\": ", stdout);
        json_put_text(stdout, item->kernel, strlen(item->kernel));
        fputs(", \"layer\": ", stdout);
        json_put_text(stdout, module, strlen(module));
        printf(", \"fused\": %s, \"calls\": %llu, \"ms\": %.6f, \"gflops\": %.3f", item->fused ? "true" : "false",
               (unsigned long long)item->calls, milliseconds(p, item->seconds), gflops(item));
        json_put_share(", \"peak_percent\": ", of_peak(item));
        json_put_share(", \"bandwidth_percent\": ", of_bandwidth(item));
        fputs(", \"bound\": ", stdout);
        json_put_text_or_null(bound_by(item));
        fputs(", \"why\": ", stdout);
        json_put_text_or_null(item->cpu_reason != NULL ? item->cpu_reason : "");
        fputs("}", stdout);
    }
    fputs("], \"layers\": [", stdout);
    for (size_t i = 0; i < p->layer_count; i++) {
        fputs(i != 0 ? ", {\"module\": " : "{\"module\": ", stdout);
        json_put_text(stdout, p->layers[i].module, strlen(p->layers[i].module));
        printf(", \"ms\": %.6f, \"operators\": %zu}", milliseconds(p, p->layers[i].seconds), p->layers[i].operators);
    }
    printf("], \"run_ms\": %.6f, \"outside_ms\": %.6f", milliseconds(p, p->seconds + outside(p)),
           milliseconds(p, outside(p)));
}

// ---- profile as an HTML page

static void put_cells(FILE *stream, const bench_profile *p, double seconds, const char *name, size_t length)
{
    fprintf(stream, "<tr><td class=\"n\">%.4f</td><td class=\"n\">%.1f %%</td><td>", milliseconds(p, seconds),
            share_of(p, seconds) * 100);
    markup_text(stream, name, length);
    fputs("</td>", stream);
}

static void put_bar_cell(FILE *stream, const bench_profile *p, double seconds)
{
    fprintf(stream, "<td><div class=\"bar\" style=\"width:%.1fem\"></div></td></tr>\n", share_of(p, seconds) * 40);
}

bool bench_profile_page(const bench_profile *p, const char *title, const char *path)
{
    output_file output;
    if (!markup_open_page(&output, path, title)) {
        return false;
    }
    FILE *stream = output.stream;
    fprintf(
        stream,
        "<p>%.4f ms a run: %.4f ms in %zu operators of %zu layers, %.4f ms outside of them; %zu runs</p>\n"
        "<h2>Layers, in the order of the program</h2>\n<table><tr><th>ms/run<th>share<th>layer<th>operators<th></tr>\n",
        milliseconds(p, p->seconds + outside(p)), milliseconds(p, p->seconds), p->count, p->layer_count,
        milliseconds(p, outside(p)), p->runs);
    for (size_t i = 0; i < p->layer_count; i++) {
        const profile_layer *layer = &p->layers[i];
        const char *name = *layer->module != '\0' ? layer->module : "(no module)";
        put_cells(stream, p, layer->seconds, name, strlen(name));
        fprintf(stream, "<td class=\"n\">%zu</td>", layer->operators);
        put_bar_cell(stream, p, layer->seconds);
    }
    fputs("</table>\n<h2>Operators, in the order of the "
          "program</h2>\n<table><tr><th>ms/run<th>share<th>operator<th>kernel"
          "<th>GFLOP/s<th>of the peak<th>bound by<th>layer<th></tr>\n",
          stream);
    for (size_t i = 0; i < p->count; i++) {
        const taper_profile_item *item = &p->items[i];
        const char *module = profile_layers_module(&p->names, item);
        put_cells(stream, p, item->seconds, item->name, item->name_length);
        fprintf(stream, "<td>%s", item->fused ? "+ " : "");
        markup_text(stream, item->kernel, strlen(item->kernel));
        if (item->flops > 0) {
            fprintf(stream, "</td><td class=\"n\">%.1f</td>", gflops(item));
        } else {
            fputs("</td><td></td>", stream);
        }
        if (of_peak(item) >= 0) {
            fprintf(stream, "<td class=\"n\">%.1f %%</td><td>%s</td><td>", of_peak(item), bound_by(item));
        } else {
            fprintf(stream, "<td></td><td>%s</td><td>", bound_by(item));
        }
        markup_text(stream, module, strlen(module));
        fputs("</td>", stream);
        put_bar_cell(stream, p, item->seconds);
    }
    fputs("</table>\n<p>+: with what follows it</p>\n", stream);
    return markup_close_page(&output, path);
}

// ---- profile as a trace

// Writes one event. The trace has one run with average times: a row of layers above a row of operators. Chrome and
// Perfetto display it.
static void put_event(FILE *stream, const char *name, size_t length, const char *kind, int row, double begin, double ms)
{
    fputs("{\"name\": ", stream);
    json_put_text(stream, name, length);
    fprintf(stream, ", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f", kind, row,
            begin * 1e3, ms * 1e3);
}

static void put_trace(FILE *stream, const bench_profile *p)
{
    double begin = 0, layer_begin = 0;
    for (size_t i = 0; i < p->count; i++) {
        const taper_profile_item *item = &p->items[i];
        const double ms = milliseconds(p, item->seconds);
        const char *module = profile_layers_module(&p->names, item);
        put_event(stream, item->name, item->name_length, "operator", 2, begin, ms);
        fputs(", \"args\": {\"kernel\": ", stream);
        json_put_text(stream, item->kernel, strlen(item->kernel));
        fputs(", \"layer\": ", stream);
        json_put_text(stream, module, strlen(module));
        fprintf(stream, ", \"gflops\": %.3f, \"bound\": \"%s\"}},\n", gflops(item), bound_by(item));
        begin += ms;
        if (i + 1 == p->count || strcmp(profile_layers_module(&p->names, &p->items[i + 1]), module) != 0) {
            put_event(stream, *module != '\0' ? module : "(no module)", *module != '\0' ? strlen(module) : 11, "layer",
                      1, layer_begin, begin - layer_begin);
            fputs("},\n", stream);
            layer_begin = begin;
        }
    }
    fprintf(
        stream,
        "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 1, \"args\": {\"name\": \"layers\"}},\n"
        "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 2, \"args\": {\"name\": \"operators\"}}\n");
}

bool bench_profile_trace(const bench_profile *profile, const char *path)
{
    output_file output;
    if (!output_open(&output, path)) {
        return false;
    }
    fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", output.stream);
    put_trace(output.stream, profile);
    fputs("]}\n", output.stream);
    return markup_close_file(&output, path);
}
