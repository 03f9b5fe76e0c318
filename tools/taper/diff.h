// SPDX-License-Identifier: BSD-2-Clause
// What the parts of `taper diff` share. A trace is what one run computed; matches say which results of two traces ought
// to be the same; comparing fills them in.
//   diff.c          the command
//   diff_trace.c    observed runs
//   diff_match.c    which results belong together
//   diff_compare.c  figures of two tensors
//   diff_report.c   text and JSON
#ifndef TAPER_TOOLS_DIFF_H
#define TAPER_TOOLS_DIFF_H

#include <taper/taper_inspect.h>

#include "taper/inputs.h"
#include "taper/opened_model.h"

// A tensor that an operator gave, or a leaf of the method's result.
typedef struct diff_record {
    char name[96];      // "aten::conv2d", "output.0"
    const char *method; // "__torch__.Net.forward", the model's
    uint32_t value, stands_for;
    const struct taper_node *node; // NULL: of the method's result
    char module[160];              // "" when not known
    taper_tensor_info info;        // without pointers: its data, sizes and strides are gone
    int64_t sizes[TAPER_MAX_RANK];
    void *data; // the elements in C order, bfloat16 widened; NULL: not kept
    size_t bytes;
} diff_record;

typedef struct diff_trace {
    diff_record *items;
    size_t count, capacity;
} diff_trace;

// ---- diff_trace.c

typedef enum diff_keep { DIFF_KEEP_NOTHING, DIFF_KEEP_DATA } diff_keep;
// Runs the method in a session of its own. Failures are reported.
bool diff_trace_run(const opened_model *opened, const char *method, const call_inputs *inputs, diff_keep keep,
                    diff_trace *results, diff_trace *outputs);
// The same run once more: each is called with the number of the record that it was then, its data in place.
typedef bool (*diff_visit)(void *user, size_t index, const diff_record *record);
bool diff_trace_again(const opened_model *opened, const char *method, const call_inputs *inputs, diff_visit visit,
                      void *user);
void diff_trace_release(diff_trace *trace);

// ---- diff_compare.c

typedef struct diff_tolerance {
    double relative, absolute; // max|a-b| <= relative max|b| + absolute
} diff_tolerance;

typedef struct diff_figures {
    bool mismatch;        // other sizes or kinds of numbers: the rest is not filled
    bool integers;        // of one scale: none may differ
    size_t differing;     // elements that are not the same
    double difference;    // the greatest; infinite where one is not finite
    double largest;       // magnitude of the wanted finite ones
    double signal, noise; // sums of squares
} diff_figures;

// Both have their data. same_dtype: others than the wanted one are a mismatch, unless one is quantized.
diff_figures diff_compare(const diff_record *wanted, const diff_record *got, bool same_dtype);
bool diff_diverges(const diff_figures *figures, const diff_tolerance *tolerance);
double diff_sqnr(const diff_figures *figures); // in dB; infinite when nothing differs

// ---- diff_match.c

// Results of one trace that stand for results of the other: the operators [wanted, wanted_end) of one do what [got,
// got_end) of the other do. The two that agree best are compared.
typedef struct diff_match {
    size_t wanted, wanted_end, got, got_end;
    // Filled by comparing:
    bool compared;
    size_t best_wanted, best_got;
    diff_figures figures;
} diff_match;

typedef struct diff_matches {
    diff_match *items; // in the order of both traces
    size_t count;
} diff_matches;

// Of one file's values: by their numbers, each as often as it was computed.
bool diff_match_values(const diff_trace *wanted, const diff_trace *got, diff_matches *matches);
// Of two files: the longest common sequence of operators, as far as these have the same name in both.
bool diff_match_operators(const diff_trace *wanted, const diff_trace *got, diff_matches *matches);
// What an operator is called in all kinds of files: "conv" of "quantized::conv2d_relu". "" for those that change no
// numbers, or only how they are stored. size: of kind.
void diff_operator_kind(const char *name, char *kind, size_t size);

// ---- diff_report.c

typedef struct diff_report {
    const opened_model *wanted, *got;
    const char *wanted_name, *got_name; // "reference", a path
    const diff_trace *wanted_results, *got_results, *wanted_outputs, *got_outputs;
    const diff_matches *nodes, *outputs;
    diff_tolerance tolerance;
    long top;
} diff_report;

// The first match that diverges; NULL: none.
const diff_match *diff_first(const diff_report *report, const diff_matches *matches);
bool diff_report_text(const diff_report *report);
bool diff_report_json(const diff_report *report);

#endif
