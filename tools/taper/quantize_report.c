// SPDX-License-Identifier: BSD-2-Clause
// Reports the differences between the float model and the int8 model for each layer: prints the worst layers as a table
// and writes all layers as JSON.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/json_value.h"
#include "taper/quantize.h"

enum { WORST_SHOWN = 10 };

typedef struct layer_list {
    taper_quantized_layer *items;
    size_t count;
} layer_list;

static bool list_layers(const quantize_figures *f, layer_list *list)
{
    list->count = taper_calibrator_layer_count(f->calibrator);
    list->items = calloc(list->count + 1, sizeof *list->items);
    if (list->items == NULL) {
        return error_report_memory(f->output);
    }
    for (size_t i = 0; i < list->count; i++) {
        list->items[i].struct_size = sizeof list->items[i];
        if (taper_calibrator_layer(f->calibrator, i, &list->items[i], f->error) != TAPER_OK) {
            return error_report_library(f->model, f->error);
        }
    }
    return true;
}

static int compare_sqnr(const void *a, const void *b)
{
    const double x = ((const taper_quantized_layer *)a)->sqnr, y = ((const taper_quantized_layer *)b)->sqnr;
    return (x > y) - (x < y);
}

// ---- report as text

static void put_worst(const layer_list *list, size_t count)
{
    printf("\nlayers that differ most from float (signal to quantization noise):\n");
    for (size_t i = 0; i < count && i < WORST_SHOWN; i++) {
        const taper_quantized_layer *layer = &list->items[i];
        printf("  %7.2f dB  ", layer->sqnr);
        text_put(stdout, layer->name, strlen(layer->name), false);
        printf("  (%.*s)\n", (int)layer->operator_length, layer->operator_name);
    }
    printf("--keep-float NAME keeps one of them float.\n");
}

// Prints the layers that stay float and the reason: an option, a layer that no sample reaches, or an operator without
// an integer version.
static void put_kept(const layer_list *list)
{
    const char *before = "kept float: ";
    for (size_t i = 0; i < list->count; i++) {
        const taper_quantized_layer *layer = &list->items[i];
        if (layer->kept_float != 0) {
            fputs(before, stdout);
            text_put(stdout, layer->name, strlen(layer->name), false);
            printf(" (%.*s)", (int)layer->operator_length, layer->operator_name);
            before = ", ";
        }
    }
    fputs(*before == ',' ? "\n" : "", stdout);
}

static long long file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (long long)status.st_size : 0;
}

static bool put_summary(const quantize_figures *f, const layer_list *list)
{
    size_t kept = 0, compared = 0;
    layer_list sorted = {calloc(list->count + 1, sizeof *list->items), 0};
    if (sorted.items == NULL) {
        return error_report_memory(f->output);
    }
    for (size_t i = 0; i < list->count; i++) {
        kept += list->items[i].kept_float != 0;
        if (!isnan(list->items[i].sqnr)) {
            sorted.items[compared++] = list->items[i];
        }
    }
    qsort(sorted.items, compared, sizeof *sorted.items, compare_sqnr);
    printf("%s: %zu operators quantized, %zu kept float; %.2f MB, %.2f MB before\n", f->output, list->count - kept,
           kept, (double)file_size(f->output) / 1e6, (double)file_size(f->model) / 1e6);
    put_kept(list);
    printf("%zu samples, %.1f s, %.1f MB of memory at most\n", f->samples, f->seconds, (double)f->peak_kb / 1024);
    double scale;
    int64_t zero_point;
    for (size_t i = 0; i < 64; i++) {
        if (taper_calibrator_input(f->calibrator, i, &scale, &zero_point)) {
            printf("input %zu: quint8 with scale %.9g and zero point %lld\n", i, scale, (long long)zero_point);
        }
    }
    if (f->compared != 0) {
        printf("result: %.2f dB on %zu samples\n", taper_calibrator_sqnr(f->calibrator), f->compared);
        put_worst(&sorted, compared);
    }
    free(sorted.items);
    return true;
}

// ---- report as JSON

static void put_json(const quantize_figures *f, const layer_list *list, FILE *stream)
{
    fprintf(stream, "{\n  \"samples\": %zu,\n  \"compared\": %zu,\n  \"seconds\": %.3f,\n  \"peak_rss_kb\": %ld,\n",
            f->samples, f->compared, f->seconds, f->peak_kb);
    fputs("  \"sqnr\": ", stream);
    json_put_double(stream, taper_calibrator_sqnr(f->calibrator));
    fputs(",\n  \"layers\": [", stream);
    for (size_t i = 0; i < list->count; i++) {
        const taper_quantized_layer *layer = &list->items[i];
        fputs(i != 0 ? ",\n    {\"name\": " : "\n    {\"name\": ", stream);
        json_put_text(stream, layer->name, strlen(layer->name));
        fputs(", \"operator\": ", stream);
        json_put_text(stream, layer->operator_name, layer->operator_length);
        fprintf(stream, ", \"float\": %s, \"sqnr\": ", layer->kept_float ? "true" : "false");
        json_put_double(stream, layer->sqnr);
        if (layer->scale != 0) {
            fputs(", \"scale\": ", stream);
            json_put_double(stream, layer->scale);
            fprintf(stream, ", \"zero_point\": %lld", (long long)layer->zero_point);
        }
        fputc('}', stream);
    }
    fputs("\n  ]\n}\n", stream);
}

bool quantize_report(const quantize_figures *figures, const char *path)
{
    layer_list list = {0};
    bool done = list_layers(figures, &list) && put_summary(figures, &list);
    if (done && path != NULL) {
        output_file file;
        done = output_open(&file, path);
        if (done) {
            put_json(figures, &list, file.stream);
            done = output_commit(&file);
        }
    }
    free(list.items);
    return done;
}
