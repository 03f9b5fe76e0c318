// SPDX-License-Identifier: BSD-2-Clause
// Calls of operators with arguments made up from their schemas, wrong ones above all: what op_arguments.c and
// op_programs.c share. A bench is what one row is tried with; each row runs in a process that it may take down.
#ifndef TAPER_TESTS_MADE_CALLS_H
#define TAPER_TESTS_MADE_CALLS_H

#include "ops/call/packs.h"
#include "ops/engine/random.h"
#include "ops/list/registry.h"
#include "tests/api/fixture.h"

enum { MOST_ARGUMENTS = 40, MOST_RESULTS = 16, MOST_KEPT = 24 };

typedef struct bench {
    test_allocator memory;
    taper_types *types;
    taper_registry *registry;
    taper_packs *packs;
    taper_heap *heap;
    taper_error *error;
    taper_rng rng;
    taper_run run;
    double deadline;
    uint64_t seed;
    bool hostile;              // values are odd more often, and tensors have strides and sizes that no layer gives them
    bool verbose;              // every call is printed before it is made
    taper_val kept[MOST_KEPT]; // values that typed() hands out again
    size_t kept_count;
    // What a test does in its own way: an argument of a call, and the call; NULL: as here.
    taper_val (*make)(struct bench *b, const taper_schema *schema, size_t i);
    taper_status (*call)(struct bench *b, taper_call *call);
} bench;

void bench_open(bench *b, const char *text); // text: the row's, in messages
bool bench_close(bench *b);                  // false: something was not given back
void bench_seed(bench *b, const char *text, uint64_t number);
uint32_t draw(bench *b, uint32_t below);
// Aborts when the test itself fails.
void check(taper_status status, const bench *b);

// ---- values: made_values.c

// A value of the type, as far as the type says; any_value: of any kind, most probably a wrong one.
taper_val typed(bench *b, const taper_type *type, int depth);
taper_val any_value(bench *b, int depth);
taper_val any_tensor(bench *b);

// ---- calls

// Calls the row as the executor would, the backend's kernel first; the results are released, or kept. False: it broke a
// rule, which was said. *ended: how the call did.
bool call_row(bench *b, const taper_op *op, const taper_schema *schema, bool keep, taper_status *ended);
// Says what is wrong with the call at hand.
void report(const char *what);
// The kernels of a call, as the executor does it.
taper_status call_kernels(bench *b, taper_call *call);
// Forgets the kept values.
void drop_kept(bench *b);

// ---- rows

// Tries one row; calls row_progress before each part, to tell where it died.
typedef bool try_row(const taper_op *op, const char *text);
void row_progress(unsigned part);
void row_worked(void); // a call of the row did what it is for
// Tries all rows whose text begins with prefix, and prints the counts. Returns the exit status.
int each_row(const char *prefix, try_row *test);

#endif
