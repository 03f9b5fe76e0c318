// SPDX-License-Identifier: BSD-2-Clause
// Finds the results of two runs that correspond to each other.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "taper/diff.h"

// ---- names of operators

static bool is_one_of(const char *kind, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(kind, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void cut(char *kind, const char *ending)
{
    const size_t length = strlen(kind), end = strlen(ending);
    if (length > end && strcmp(kind + length - end, ending) == 0) {
        kind[length - end] = '\0';
    }
}

void diff_operator_kind(const char *name, char *kind, size_t size)
{
    static const char *const nothing[] = {"quantize_per_tensor",
                                          "quantize_per_tensor_dynamic",
                                          "quantize_per_channel",
                                          "dequantize",
                                          "contiguous",
                                          "to",
                                          "detach",
                                          "dropout",
                                          "feature_dropout",
                                          "alpha_dropout",
                                          "clone",
                                          "alias",
                                          "copy_to_host",
                                          "lift_fresh"};
    static const char *const clamps[] = {"relu", "relu6", "hardtanh", "clamp", "clamp_min", "clamp_max", "clip"};
    static const char *const shapes[] = {"view", "flatten", "unflatten", "squeeze", "unsqueeze"};
    // Pairs {text, kind}: an operator whose name contains the text is of that kind.
    static const char *const families[][2] = {{"conv", "conv"}, {"linear", "linear"}, {"addmm", "linear"},
                                              {"lstm", "lstm"}, {"gru", "gru"},       {"batch_norm", "batch_norm"}};
    const char *colons = strstr(name, "::"), *begin = colons != NULL ? colons + 2 : name;
    while (*begin == '_') {
        begin++;
    }
    size_t length = strcspn(begin, ".(");
    length = length < size - 1 ? length : size - 1;
    memcpy(kind, begin, length);
    kind[length] = '\0';
    cut(kind, "_");
    cut(kind, "_relu");
    cut(kind, "_scalar");
    if (strncmp(name, "prim::", 6) == 0 || is_one_of(kind, nothing, sizeof nothing / sizeof *nothing)) {
        kind[0] = '\0';
    }
    const char *family = is_one_of(kind, clamps, sizeof clamps / sizeof *clamps)   ? "clamp"
                         : is_one_of(kind, shapes, sizeof shapes / sizeof *shapes) ? "reshape"
                                                                                   : NULL;
    for (size_t i = 0; family == NULL && i < sizeof families / sizeof *families; i++) {
        family = strstr(kind, families[i][0]) != NULL ? families[i][1] : NULL;
    }
    if (family != NULL && strlen(family) < size) {
        memcpy(kind, family, strlen(family) + 1);
    }
}

// ---- matching by the number of a value

static int compare_values(const void *left, const void *right)
{
    const diff_record *a = *(const diff_record *const *)left, *b = *(const diff_record *const *)right;
    const int methods = strcmp(a->method, b->method);
    return methods != 0                     ? methods
           : a->stands_for != b->stands_for ? (a->stands_for > b->stands_for) - (a->stands_for < b->stands_for)
                                            : (a > b) - (a < b);
}

static const diff_record **sorted(const diff_trace *trace)
{
    const diff_record **records = calloc(trace->count + 1, sizeof *records);
    for (size_t i = 0; records != NULL && i < trace->count; i++) {
        records[i] = &trace->items[i];
    }
    if (records != NULL) {
        qsort((void *)records, trace->count, sizeof *records, compare_values);
    }
    return records;
}

// Returns how often the value at `at` was computed.
static size_t times(const diff_record *const *records, size_t count, size_t at)
{
    size_t end = at;
    while (end < count && records[end]->stands_for == records[at]->stands_for &&
           strcmp(records[end]->method, records[at]->method) == 0) {
        end++;
    }
    return end - at;
}

static int compare_matches(const void *left, const void *right)
{
    const diff_match *a = left, *b = right;
    return (a->wanted > b->wanted) - (a->wanted < b->wanted);
}

static void merge(const diff_trace *wanted, const diff_trace *got, const diff_record *const *a,
                  const diff_record *const *b, diff_matches *matches)
{
    for (size_t i = 0, j = 0; i < wanted->count && j < got->count;) {
        const size_t as_often = times(a, wanted->count, i), bs_often = times(b, got->count, j);
        const int methods = strcmp(a[i]->method, b[j]->method);
        const bool same = methods == 0 && a[i]->stands_for == b[j]->stands_for;
        // If the two runs computed a value a different number of times, it is not the same value: a loop was unrolled
        // in one of the runs.
        for (size_t k = 0; same && as_often == bs_often && k < as_often; k++) {
            const size_t x = (size_t)(a[i + k] - wanted->items), y = (size_t)(b[j + k] - got->items);
            matches->items[matches->count++] =
                (diff_match){.wanted = x, .wanted_end = x + 1, .got = y, .got_end = y + 1};
        }
        const bool a_first = same || methods < 0 || (methods == 0 && a[i]->stands_for < b[j]->stands_for);
        i += a_first ? as_often : 0;
        j += same || !a_first ? bs_often : 0;
    }
    qsort(matches->items, matches->count, sizeof *matches->items, compare_matches);
}

bool diff_match_values(const diff_trace *wanted, const diff_trace *got, diff_matches *matches)
{
    const diff_record **a = sorted(wanted), **b = sorted(got);
    matches->items = calloc(wanted->count + 1, sizeof *matches->items);
    matches->count = 0;
    const bool done = (a != NULL && b != NULL && matches->items != NULL) || error_report_memory(NULL);
    if (done) {
        merge(wanted, got, a, b, matches);
    }
    free((void *)a);
    free((void *)b);
    return done;
}

// ---- matching by operators

enum { KIND_SIZE = 48, CELLS_LIMIT = 1 << 26 };

typedef struct sequence { // the operators of a trace that have a kind, in order
    const diff_trace *trace;
    size_t *at; // indices of the operators' records in the trace
    char (*kinds)[KIND_SIZE];
    size_t count;
} sequence;

static bool sequence_make(const diff_trace *trace, sequence *s)
{
    *s = (sequence){trace, calloc(trace->count + 1, sizeof *s->at), calloc(trace->count + 1, sizeof *s->kinds), 0};
    if (s->at == NULL || s->kinds == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < trace->count; i++) {
        diff_operator_kind(trace->items[i].name, s->kinds[s->count], KIND_SIZE);
        if (s->kinds[s->count][0] != '\0') {
            s->at[s->count++] = i;
        }
    }
    return true;
}

// Returns true if the names are equal, or one module is inside of a wrapper: "features.0" and "model.features.0".
static bool same_module(const char *a, const char *b)
{
    const size_t x = strlen(a), y = strlen(b);
    const size_t least = x < y ? x : y;
    return least != 0 && strncmp(a + x - least, b + y - least, least) == 0 &&
           (x == y || (x > y ? a[x - least - 1] : b[y - least - 1]) == '.');
}

// Returns a number that is larger the more similar two operators are, or 0 if their kinds differ.
static int score(const sequence *a, size_t i, const sequence *b, size_t j)
{
    const diff_record *x = &a->trace->items[a->at[i]], *y = &b->trace->items[b->at[j]];
    if (strcmp(a->kinds[i], b->kinds[j]) != 0) {
        return 0;
    }
    const bool sizes = x->info.rank == y->info.rank && memcmp(x->sizes, y->sizes, x->info.rank * sizeof *x->sizes) == 0;
    return 1 + (sizes ? 2 : 0) + (same_module(x->module, y->module) ? 3 : 0);
}

typedef enum step { STEP_BOTH, STEP_WANTED, STEP_GOT } step;

// Aligns two ranges of operators, from `begin` to before a_end and b_end, by dynamic programming. (*steps)[i * (columns
// + 1) + j] is the best step if i operators of a and j operators of b remain. The caller frees *steps.
static bool align(const sequence *a, size_t a_end, const sequence *b, size_t b_end, size_t begin, uint8_t **steps)
{
    const size_t rows = a_end - begin, columns = b_end - begin;
    if ((rows + 1) > CELLS_LIMIT / (columns + 1)) {
        return error_report(NULL, "the models compute too much to be aligned: %zu and %zu results", a->count, b->count);
    }
    int *totals = calloc(2 * (columns + 1), sizeof *totals);
    *steps = malloc((rows + 1) * (columns + 1));
    if (totals == NULL || *steps == NULL) {
        free(totals);
        return error_report_memory(NULL);
    }
    for (size_t i = rows; i-- > 0;) {
        int *row = totals + (i % 2) * (columns + 1);
        const int *below = totals + ((i + 1) % 2) * (columns + 1);
        row[columns] = 0;
        for (size_t j = columns; j-- > 0;) {
            const int points = score(a, begin + i, b, begin + j);
            int best = row[j + 1];
            uint8_t *taken = &(*steps)[i * (columns + 1) + j];
            *taken = STEP_GOT;
            if (below[j] > best) {
                best = below[j];
                *taken = STEP_WANTED;
            }
            if (points > 0 && below[j + 1] + points >= best) {
                best = below[j + 1] + points;
                *taken = STEP_BOTH;
            }
            row[j] = best;
        }
    }
    free(totals);
    return true;
}

static void add_match(const sequence *a, size_t i, const sequence *b, size_t j, diff_matches *matches)
{
    matches->items[matches->count++] = (diff_match){.wanted = a->at[i], .got = b->at[j]};
}

static bool match_sequences(const sequence *a, const sequence *b, diff_matches *matches)
{
    enum { SAME = 3 }; // score of two operators with equal kinds and equal sizes
    size_t begin = 0, a_end = a->count, b_end = b->count;
    uint8_t *steps = NULL;
    while (begin < a_end && begin < b_end && score(a, begin, b, begin) >= SAME) {
        begin++;
    }
    while (a_end > begin && b_end > begin && score(a, a_end - 1, b, b_end - 1) >= SAME) {
        a_end--;
        b_end--;
    }
    if (!align(a, a_end, b, b_end, begin, &steps)) {
        free(steps);
        return false;
    }
    for (size_t i = 0; i < begin; i++) {
        add_match(a, i, b, i, matches);
    }
    for (size_t i = begin, j = begin; i < a_end && j < b_end;) {
        const uint8_t taken = steps[(i - begin) * (b_end - begin + 1) + j - begin];
        if (taken == STEP_BOTH) {
            add_match(a, i, b, j, matches);
        }
        i += taken != STEP_GOT;
        j += taken != STEP_WANTED;
    }
    free(steps);
    for (size_t i = 0; i < a->count - a_end; i++) {
        add_match(a, a_end + i, b, b_end + i, matches);
    }
    return true;
}

bool diff_match_operators(const diff_trace *wanted, const diff_trace *got, diff_matches *matches)
{
    enum { MOST = 8 }; // largest number of operators that one fused operator replaces
    sequence a = {0}, b = {0};
    matches->items = calloc(wanted->count + 1, sizeof *matches->items);
    matches->count = 0;
    bool done = matches->items != NULL || error_report_memory(NULL);
    done = done && sequence_make(wanted, &a) && sequence_make(got, &b) && match_sequences(&a, &b, matches);
    // Operators without a match may belong to the operator before them, as batch norm and relu belong to a fused
    // convolution.
    for (size_t i = 0; done && i < matches->count; i++) {
        diff_match *m = &matches->items[i];
        const bool last = i + 1 == matches->count;
        m->wanted_end = last ? wanted->count : m[1].wanted;
        m->got_end = last ? got->count : m[1].got;
        m->wanted_end = m->wanted_end - m->wanted > MOST ? m->wanted + MOST : m->wanted_end;
        m->got_end = m->got_end - m->got > MOST ? m->got + MOST : m->got_end;
    }
    free(a.at);
    free(a.kinds);
    free(b.at);
    free(b.kinds);
    return done;
}
