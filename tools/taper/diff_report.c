// SPDX-License-Identifier: BSD-2-Clause
// The report of `taper diff`: the first node that diverges and its neighbours, the worst nodes and a bar for each
// layer, or all matches as JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/terminal.h"
#include "taper/diff.h"

enum { AROUND = 3, MOST_LAYERS = 64, BAR = 24 };

// ---- facts about matches

typedef struct row {
    const diff_match *match;
    const diff_record *wanted, *got; // records of the result on both sides; NULL for a side that lacks this result
    const diff_record *named;        // the record of `wanted`, or of `got` if `wanted` is NULL
    const diff_record *layer;        // record whose module is printed as the layer; NULL if unknown
    bool diverges;
} row;

// Returns a record with the same kind as `name`: the record at index `at`, or a record shortly before index `at`.
// Returns NULL if no such record exists.
static const diff_record *layer_near(const diff_trace *trace, size_t at, const char *name)
{
    enum { REACH = 8 };
    char kind[64], other[64];
    diff_operator_kind(name, kind, sizeof kind);
    for (size_t i = 0; i <= REACH && i <= at; i++) {
        diff_operator_kind(trace->items[at - i].name, other, sizeof other);
        if (strcmp(kind, other) == 0) {
            return &trace->items[at - i];
        }
    }
    return NULL;
}

// Returns the record of the operator with the weights. The compared result may be an activation that one side computes
// separately, and the other side in the layer's operator.
static const diff_record *layer_of(const diff_report *r, const row *of)
{
    if (of->wanted == NULL || of->got == NULL) {
        return NULL;
    }
    const diff_record *const layers[] = {layer_near(r->wanted_results, of->match->best_wanted, of->got->name),
                                         layer_near(r->got_results, of->match->best_got, of->wanted->name), of->wanted,
                                         of->got};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (layers[i] != NULL && layers[i]->module[0] != '\0') {
            return layers[i];
        }
    }
    return NULL;
}

static row row_of(const diff_report *r, const diff_matches *matches, size_t index)
{
    const bool nodes = matches == r->nodes;
    const diff_trace *a = nodes ? r->wanted_results : r->wanted_outputs, *b = nodes ? r->got_results : r->got_outputs;
    row made = {.match = &matches->items[index]};
    made.wanted = made.match->best_wanted < a->count ? &a->items[made.match->best_wanted] : NULL;
    made.got = made.match->best_got < b->count ? &b->items[made.match->best_got] : NULL;
    made.named = made.wanted != NULL ? made.wanted : made.got;
    made.layer = nodes ? layer_of(r, &made) : NULL;
    made.diverges = made.match->compared && diff_diverges(&made.match->figures, &r->tolerance);
    return made;
}

const diff_match *diff_first(const diff_report *report, const diff_matches *matches)
{
    for (size_t i = 0; i < matches->count; i++) {
        if (row_of(report, matches, i).diverges) {
            return &matches->items[i];
        }
    }
    return NULL;
}

static size_t count_compared(const diff_matches *matches)
{
    size_t count = 0;
    for (size_t i = 0; i < matches->count; i++) {
        count += matches->items[i].compared;
    }
    return count;
}

static size_t count_diverging(const diff_report *r, const diff_matches *matches)
{
    size_t count = 0;
    for (size_t i = 0; i < matches->count; i++) {
        count += row_of(r, matches, i).diverges;
    }
    return count;
}

static const char *module_of(const row *r)
{
    return r->layer != NULL ? r->layer->module : "";
}

static bool is_layer(const row *r)
{
    static const char *const kinds[] = {"conv", "linear", "lstm", "gru", "matmul", "bmm", "einsum"};
    char kind[64];
    bool layer = false;
    for (size_t i = 0; i < 2 * (sizeof kinds / sizeof *kinds); i++) {
        const diff_record *side = i % 2 == 0 ? r->wanted : r->got;
        diff_operator_kind(side != NULL ? side->name : "", kind, sizeof kind);
        layer = layer || strcmp(kind, kinds[i / 2]) == 0;
    }
    return layer;
}

// ---- report as text

static void describe(char *text, size_t size, const diff_record *record)
{
    if (record == NULL) {
        snprintf(text, size, "nothing");
        return;
    }
    const taper_tensor_info *info = &record->info;
    size_t length = (size_t)snprintf(text, size, "%s [", taper_dtype_name(info->dtype));
    for (size_t i = 0; i < info->rank && length < size; i++) {
        length +=
            (size_t)snprintf(text + length, size - length, "%s%lld", i != 0 ? ", " : "", (long long)record->sizes[i]);
    }
    if (length < size) {
        snprintf(text + length, size - length, "]");
    }
}

// Writes a description such as "aten::conv2d %26 in features.0.0".
static void name_row(char *text, size_t size, const row *r)
{
    char number[24] = "";
    if (r->named->node != NULL) {
        snprintf(number, sizeof number, " %%%u", (unsigned)r->named->stands_for);
    }
    snprintf(text, size, "%s%s%s%s", r->named->name, number, *module_of(r) != '\0' ? " in " : "", module_of(r));
}

static void describe_figures(char *text, size_t size, const row *r)
{
    const diff_figures *f = &r->match->figures;
    if (f->mismatch) {
        char a[128], b[128];
        describe(a, sizeof a, r->wanted);
        describe(b, sizeof b, r->got);
        snprintf(text, size, "%s became %s", a, b);
    } else if (f->integers) {
        snprintf(text, size, "%zu integers differ, by %g at most", f->differing, f->difference);
    } else {
        snprintf(text, size, "max|a-b| %.3g, max|b| %.3g, %.1f dB", f->difference, f->largest, diff_sqnr(f));
    }
}

// Returns the largest finite SQNR in dB, for which a bar is drawn at full length.
static double whole_bar(const diff_report *r)
{
    double most = 1;
    for (size_t i = 0; i < r->nodes->count; i++) {
        const double sqnr = diff_sqnr(&r->nodes->items[i].figures);
        most = r->nodes->items[i].compared && isfinite(sqnr) && sqnr > most ? sqnr : most;
    }
    return most;
}

static void put_row(const row *r, double whole)
{
    char name[320];
    const double sqnr = diff_sqnr(&r->match->figures);
    name_row(name, sizeof name, r);
    const diff_figures *f = &r->match->figures;
    if (f->mismatch || f->differing == 0) {
        printf("%c %10s ", r->diverges ? '>' : ' ', f->mismatch ? "other kind" : "equal");
    } else {
        printf("%c %7.1f dB ", r->diverges ? '>' : ' ', sqnr);
    }
    const double part = isfinite(sqnr) ? sqnr / whole : sqnr > 0;
    terminal_bar(stdout, part, BAR);
    // Pads the bar to its full width. A terminal with Unicode shows a fraction of a column as a character of its own.
    const int eighths = (int)((part > 0 ? part < 1 ? part : 1 : 0) * BAR * 8 + 0.5);
    printf("%*s ", BAR - (terminal_has_unicode() ? (eighths + 7) / 8 : (eighths + 4) / 8), "");
    text_put(stdout, name, strlen(name), false);
    if (r->got != NULL && r->wanted != NULL && strcmp(r->got->name, r->wanted->name) != 0) {
        printf("  (");
        text_put(stdout, r->got->name, strlen(r->got->name), false);
        printf(")");
    }
    putchar('\n');
}

static void put_source(void *user, const char *text, size_t length)
{
    (void)user;
    text_put(stdout, text, length, true);
}

static bool put_place(const diff_report *report, const row *r)
{
    const opened_model *side = r->wanted != NULL ? report->wanted : report->got;
    return r->named->node == NULL ||
           taper_inspect_place(side->model, r->named->node, TAPER_PLACE_SOURCE, put_source, NULL, side->error) ==
               TAPER_OK ||
           error_report_library(side->path, side->error);
}

typedef struct ranked {
    double sqnr;
    size_t index;
} ranked;

static int worst_first(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    return a->sqnr != b->sqnr ? (a->sqnr > b->sqnr) - (a->sqnr < b->sqnr)
                              : (a->index > b->index) - (a->index < b->index);
}

static bool put_worst(const diff_report *report, double whole)
{
    ranked *list = calloc(report->nodes->count + 1, sizeof *list);
    size_t count = 0;
    if (list == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < report->nodes->count; i++) {
        const diff_match *m = &report->nodes->items[i];
        if (m->compared && (m->figures.mismatch || m->figures.differing != 0)) {
            list[count++] = (ranked){diff_sqnr(&m->figures), i};
        }
    }
    qsort(list, count, sizeof *list, worst_first);
    if (count != 0 && report->top != 0) {
        printf("\nresults that differ most, of %zu that are not equal:\n", count);
    }
    for (size_t i = 0; i < count && i < (size_t)report->top; i++) {
        const row r = row_of(report, report->nodes, list[i].index);
        put_row(&r, whole);
    }
    free(list);
    return true;
}

// Prints one line for each layer. If there are too many layers, each line shows the worst of several neighbouring
// layers.
static void put_layers(const diff_report *report, double whole)
{
    size_t layers = 0, seen = 0, worst = SIZE_MAX;
    for (size_t i = 0; i < report->nodes->count; i++) {
        const row r = row_of(report, report->nodes, i);
        layers += r.match->compared && is_layer(&r);
    }
    const size_t each = (layers + MOST_LAYERS - 1) / MOST_LAYERS;
    if (layers != 0) {
        printf(each > 1 ? "\nlayers in order, the worst of %zu each:\n" : "\nlayers in order:\n", each);
    }
    for (size_t i = 0; i < report->nodes->count; i++) {
        const row r = row_of(report, report->nodes, i);
        if (!r.match->compared || !is_layer(&r)) {
            continue;
        }
        if (worst == SIZE_MAX || diff_sqnr(&r.match->figures) < diff_sqnr(&report->nodes->items[worst].figures)) {
            worst = i;
        }
        if (++seen % each == 0 || seen == layers) {
            const row shown = row_of(report, report->nodes, worst);
            put_row(&shown, whole);
            worst = SIZE_MAX;
        }
    }
}

static void put_around(const diff_report *report, size_t index, double whole)
{
    const size_t begin = index > AROUND ? index - AROUND : 0;
    printf("\naround it:\n");
    for (size_t i = begin; i < report->nodes->count && i <= index + AROUND; i++) {
        const row r = row_of(report, report->nodes, i);
        if (r.match->compared) {
            put_row(&r, whole);
        }
    }
}

static void put_totals(const diff_report *r)
{
    text_put(stdout, r->wanted->path, strlen(r->wanted->path), false);
    printf(": of %zu results of operators %zu are compared with ", r->wanted_results->count, count_compared(r->nodes));
    text_put(stdout, r->got_name, strlen(r->got_name), false);
    printf(", the others have no counterpart there; tolerance max|a-b| <= %g max|b| + %g\n", r->tolerance.relative,
           r->tolerance.absolute);
    for (size_t i = 0; i < r->outputs->count; i++) {
        char text[320];
        const row o = row_of(r, r->outputs, i);
        describe_figures(text, sizeof text, &o);
        printf("%c ", o.diverges ? '>' : ' ');
        text_put(stdout, o.named->name, strlen(o.named->name), false);
        printf("  %s\n", text);
    }
}

// Prints the result in one line on stderr. A divergence is not an error.
static void report_first(const diff_report *r, const row *first)
{
    char name[320], figures[320];
    name_row(name, sizeof name, first);
    describe_figures(figures, sizeof figures, first);
    fflush(stdout);
    text_put(stderr, r->got->path, strlen(r->got->path), false);
    fputs(first->named->node != NULL ? ": first diverging node: " : ": the result diverges: ", stderr);
    text_put(stderr, name, strlen(name), false);
    fprintf(stderr, ": %s\n", figures);
}

bool diff_report_text(const diff_report *r)
{
    const diff_match *first = diff_first(r, r->nodes);
    const double whole = whole_bar(r);
    put_totals(r);
    if (first == NULL) {
        first = diff_first(r, r->outputs);
        if (first != NULL) {
            const row output = row_of(r, r->outputs, (size_t)(first - r->outputs->items));
            report_first(r, &output);
        } else {
            printf("nothing diverges\n");
        }
    } else {
        const size_t index = (size_t)(first - r->nodes->items);
        const row node = row_of(r, r->nodes, index);
        char text[320];
        report_first(r, &node);
        name_row(text, sizeof text, &node);
        printf("\nfirst diverging node, of %zu: ", count_diverging(r, r->nodes));
        text_put(stdout, text, strlen(text), false);
        describe_figures(text, sizeof text, &node);
        printf("\n  %s\n", text);
        if (!put_place(r, &node)) {
            return false;
        }
        put_around(r, index, whole);
    }
    if (!put_worst(r, whole)) {
        return false;
    }
    put_layers(r, whole);
    return true;
}

// ---- report as JSON

static void put_text_member(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    json_put_text(stdout, text, strlen(text));
}

static void put_number_member(const char *name, double number)
{
    printf(", \"%s\": ", name);
    json_put_double(stdout, number);
}

static void put_side(const char *name, const diff_record *record)
{
    printf(", \"%s\": ", name);
    if (record == NULL) {
        fputs("null", stdout);
        return;
    }
    fputs("{\"name\": ", stdout);
    json_put_text(stdout, record->name, strlen(record->name));
    if (record->node != NULL) {
        printf(", \"value\": %u", (unsigned)record->stands_for);
    }
    put_text_member("dtype", taper_dtype_name(record->info.dtype));
    fputs(", \"shape\": [", stdout);
    for (size_t i = 0; i < record->info.rank; i++) {
        printf("%s%lld", i != 0 ? ", " : "", (long long)record->sizes[i]);
    }
    fputs("]}", stdout);
}

static void put_row_json(const row *r)
{
    const diff_figures *f = &r->match->figures;
    printf("{\"diverges\": %s", r->diverges ? "true" : "false");
    put_text_member("module", module_of(r));
    put_side("wanted", r->wanted);
    put_side("got", r->got);
    printf(", \"mismatch\": %s", f->mismatch ? "true" : "false");
    if (!f->mismatch) {
        printf(", \"integers\": %s, \"differing\": %zu", f->integers ? "true" : "false", f->differing);
        put_number_member("max_difference", f->difference);
        put_number_member("max", f->largest);
        put_number_member("sqnr", diff_sqnr(f));
    }
    putchar('}');
}

static void put_rows_json(const diff_report *r, const char *name, const diff_matches *matches)
{
    bool some = false;
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < matches->count; i++) {
        const row shown = row_of(r, matches, i);
        if (shown.match->compared) {
            fputs(some ? ",\n  " : "\n  ", stdout);
            put_row_json(&shown);
            some = true;
        }
    }
    fputs("]", stdout);
}

bool diff_report_json(const diff_report *r)
{
    const diff_match *first = diff_first(r, r->nodes);
    const diff_matches *of = first != NULL ? r->nodes : r->outputs;
    first = first != NULL ? first : diff_first(r, r->outputs);
    fputs("{\"model\": ", stdout);
    json_put_text(stdout, r->wanted->path, strlen(r->wanted->path));
    put_text_member("wanted", r->wanted_name);
    put_text_member("got", r->got_name);
    fputs(", \"tolerance\": [", stdout);
    json_put_double(stdout, r->tolerance.relative);
    fputs(", ", stdout);
    json_put_double(stdout, r->tolerance.absolute);
    printf("], \"results\": %zu, \"compared\": %zu, \"diverging\": %zu, \"first\": ", r->wanted_results->count,
           count_compared(r->nodes), count_diverging(r, r->nodes) + count_diverging(r, r->outputs));
    if (first != NULL) {
        const row shown = row_of(r, of, (size_t)(first - of->items));
        put_row_json(&shown);
        report_first(r, &shown);
    } else {
        fputs("null", stdout);
    }
    put_rows_json(r, "nodes", r->nodes);
    put_rows_json(r, "outputs", r->outputs);
    fputs("}\n", stdout);
    return true;
}
