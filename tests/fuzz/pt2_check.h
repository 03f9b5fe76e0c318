// SPDX-License-Identifier: BSD-2-Clause
// Takes a .pt2 file, however damaged, through the public interface.
#ifndef TAPER_TESTS_PT2_CHECK_H
#define TAPER_TESTS_PT2_CHECK_H

#include "tests/fuzz/made_inputs.h"
#include "tests/unit/archive_builder.h"

// What a sample takes, so that some of its mutants take it too.
typedef struct pt2_shape {
    taper_dtype dtype;
    size_t rank;
    int64_t sizes[4];
} pt2_shape;

typedef struct pt2_shapes {
    pt2_shape items[MADE_MOST_INPUTS];
    size_t count;
} pt2_shapes;

typedef struct pt2_counts {
    size_t done;             // files
    size_t loaded, ran;      // models, sessions
    size_t saved, quantized; // files, drafts
} pt2_counts;

enum { PT2_CHECK_FAILED = 3 };
#define PT2_CHECK_ALL UINT64_MAX

// Loads the file in five ways, prints it, runs it; converts it or optimizes it for a backend; quantizes it; saves,
// loads, runs and compares what came of it. choice says for which backend, to which form of file and how it is
// quantized; PT2_CHECK_ALL: all of these, one after the other. Ends the process with PT2_CHECK_FAILED, having said why,
// if something is wrong: a refusal without a message, TAPER_ERROR_INTERNAL, a step of more than two seconds, a file of
// ours that cannot be read or gives other results, memory that is not given back. progress counts what was done.
void pt2_check_file(const bytes *file, const pt2_shapes *taken, uint64_t choice, pt2_counts *progress);

#endif
