// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the files of `taper diff`. A trace is the list of tensors that one run computed. A match names
// results of two traces that should be equal; comparing fills in its figures.
//   diff.c          the command
//   diff_trace.c    observed runs
//   diff_match.c    finding the results that correspond
//   diff_compare.c  figures of two tensors
//   diff_report.c   text and JSON
#ifndef TAPER_TOOLS_DIFF_H
#define TAPER_TOOLS_DIFF_H

#include <taper/taper_inspect.h>

#include "taper/inputs.h"
#include "taper/opened_model.h"

// A tensor that an operator computed, or a leaf of the method's result.
typedef struct diff_record {
    char name[96];      // name of the operator, such as "aten::conv2d", or path of the leaf, such as "output.0"
    const char *method; // qualified name of the model's method, for example "__torch__.Net.forward"
    uint32_t value, stands_for;
    const struct taper_node *node; // node of the operator; NULL for a leaf of the method's result
    char module[160];              // path of the module that contains the operator; "" if unknown
    // Facts about the tensor. info.sizes, info.strides and info.data are NULL; the members `sizes` and `data` are
    // copies.
    taper_tensor_info info;
    int64_t sizes[TAPER_MAX_RANK];
    void *data; // elements in C order, with bfloat16 converted to float32; NULL if they are not kept
    size_t bytes;
} diff_record;

typedef struct diff_trace {
    diff_record *items;
    size_t count, capacity;
} diff_trace;

// ---- diff_trace.c

typedef enum diff_keep { DIFF_KEEP_NOTHING, DIFF_KEEP_DATA } diff_keep;
// Runs the method in a new session. Failures are reported.
bool diff_trace_run(const opened_model *opened, const char *method, const call_inputs *inputs, diff_keep keep,
                    diff_trace *results, diff_trace *outputs);
// Runs the method again and calls `visit` for each record, with the index of the record in the first run. The record's
// data points into the tensor itself.
typedef bool (*diff_visit)(void *user, size_t index, const diff_record *record);
bool diff_trace_again(const opened_model *opened, const char *method, const call_inputs *inputs, diff_visit visit,
                      void *user);
void diff_trace_release(diff_trace *trace);

// ---- diff_compare.c

typedef struct diff_tolerance {
    double relative, absolute; // two numbers are equal if max|a-b| <= relative * max|b| + absolute
} diff_tolerance;

typedef struct diff_figures {
    bool mismatch;        // true if sizes or kinds of numbers differ; the members below are then not set
    bool integers;        // true if both tensors are integers with the same scale; these integers must be equal
    size_t differing;     // number of elements that differ
    double difference;    // largest difference of two elements; infinite if only one of the two is finite
    double largest;       // largest magnitude of the finite elements of `wanted`
    double signal, noise; // sums of squares of `wanted` and of the difference
} diff_figures;

// Compares two records, both with data. With same_dtype, different dtypes are a mismatch, unless one of them is
// quantized.
diff_figures diff_compare(const diff_record *wanted, const diff_record *got, bool same_dtype);
bool diff_diverges(const diff_figures *figures, const diff_tolerance *tolerance);
// Returns the ratio of signal to noise in dB, or infinity if no element differs.
double diff_sqnr(const diff_figures *figures);

// ---- diff_match.c

// Results of the first trace that correspond to results of the second trace: the operators from index `wanted` to
// before `wanted_end` compute the same as the operators from `got` to before `got_end`. The two results that agree best
// are compared.
typedef struct diff_match {
    size_t wanted, wanted_end, got, got_end;
    // The members from here on are set when the results are compared.
    bool compared;
    size_t best_wanted, best_got;
    diff_figures figures;
} diff_match;

typedef struct diff_matches {
    diff_match *items; // matches, in the order of both traces
    size_t count;
} diff_matches;

// Matches the results of two runs of one file. Two results correspond if they have the same value number and were
// computed at the same repetition.
bool diff_match_values(const diff_trace *wanted, const diff_trace *got, diff_matches *matches);
// Matches the results of two files by the longest common sequence of operators; two operators are equal if their kinds
// are equal.
bool diff_match_operators(const diff_trace *wanted, const diff_trace *got, diff_matches *matches);
// Writes the kind of an operator, which is the same in all file formats: "conv" for "quantized::conv2d_relu". Writes ""
// for operators that do not change numbers, or change only how numbers are stored. size: bytes of `kind`.
void diff_operator_kind(const char *name, char *kind, size_t size);

// ---- diff_report.c

typedef struct diff_report {
    const opened_model *wanted, *got;
    const char *wanted_name, *got_name; // names of both sides in the report: "reference", or the path of a file
    const diff_trace *wanted_results, *got_results, *wanted_outputs, *got_outputs;
    const diff_matches *nodes, *outputs;
    diff_tolerance tolerance;
    long top;
} diff_report;

// Returns the first match that diverges, or NULL if no match diverges.
const diff_match *diff_first(const diff_report *report, const diff_matches *matches);
bool diff_report_text(const diff_report *report);
bool diff_report_json(const diff_report *report);

#endif
