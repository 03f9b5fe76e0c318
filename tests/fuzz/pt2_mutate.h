// SPDX-License-Identifier: BSD-2-Clause
// Makes damaged .pt2 files from valid ones: the structure of their JSON changes, but the archive around it is valid,
// with correct checksums. A seed selects the changes: the same samples and seed give the same bytes.
#ifndef TAPER_TESTS_PT2_MUTATE_H
#define TAPER_TESTS_PT2_MUTATE_H

#include "tests/fuzz/pt2_sample.h"

// Returns a file made from one of the samples, with one to four changes. The caller frees it. count is at least 1.
bytes pt2_mutate(const pt2_sample *samples, size_t count, uint64_t seed);
// Returns the index of the sample that pt2_mutate changes.
size_t pt2_mutated_sample(size_t count, uint64_t seed);

#endif
