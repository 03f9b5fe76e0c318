// SPDX-License-Identifier: BSD-2-Clause
// Tests a .pt2 file, which may be damaged, with the public functions.
#ifndef TAPER_TESTS_PT2_CHECK_H
#define TAPER_TESTS_PT2_CHECK_H

#include "tests/fuzz/made_inputs.h"
#include "tests/unit/archive_builder.h"

// Shape of an input of the sample file; some of the files made from the sample accept the same input.
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
    size_t done;             // number of files that were checked
    size_t loaded, ran;      // number of models loaded, and number of sessions run
    size_t saved, quantized; // number of files saved, and number of drafts quantized
} pt2_counts;

enum { PT2_CHECK_FAILED = 3 };
#define PT2_CHECK_ALL UINT64_MAX

// Checks one file: loads it in five ways, prints it and runs it; converts it or optimizes it for a backend; quantizes
// it; saves, loads and runs the result and compares the results. choice selects the backend, the file format and the
// quantization; PT2_CHECK_ALL tests all of them. If something is wrong, prints the reason and ends the process with
// PT2_CHECK_FAILED. Such errors are a refusal without a message, TAPER_ERROR_INTERNAL, a step of more than two seconds,
// a saved file that cannot be read or gives other results, and leaked memory. progress counts the steps done.
void pt2_check_file(const bytes *file, const pt2_shapes *taken, uint64_t choice, pt2_counts *progress);

#endif
