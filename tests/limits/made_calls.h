// SPDX-License-Identifier: BSD-2-Clause
// Calls operators with arguments generated from their schemas, mostly wrong ones; op_arguments.c and op_programs.c
// share this code. A bench holds the state for one operator. Each operator is tested in a process that may crash.
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
    bool hostile; // true to make unusual values more often, and tensors with strides and sizes that no layer produces
    bool verbose; // true to print each call before it is made
    taper_val kept[MOST_KEPT]; // values of earlier calls, which typed() may return instead of new values
    size_t kept_count;
    // Functions of a test that replace the default way to make an argument, and the default way to make a call; NULL to
    // keep the default.
    taper_val (*make)(struct bench *b, const taper_schema *schema, size_t i);
    taper_status (*call)(struct bench *b, taper_call *call);
} bench;

void bench_open(bench *b, const char *text); // text: text of the operator's schema, for messages
bool bench_close(bench *b);                  // returns false if memory was leaked
void bench_seed(bench *b, const char *text, uint64_t number);
uint32_t draw(bench *b, uint32_t below);
// Aborts if the test itself fails.
void check(taper_status status, const bench *b);

// ---- values: made_values.c

// These functions make a value: typed makes a value of the type, and any_value a value of any kind, usually of a wrong
// kind.
taper_val typed(bench *b, const taper_type *type, int depth);
taper_val any_value(bench *b, int depth);
taper_val any_tensor(bench *b);

// ---- calls

// Calls the operator as the executor does: with the CPU backend's kernel, or with the operator's own kernel if the
// backend has none or its kernel declines. keep: true to keep the results instead of releasing them. Returns false if
// the call broke a rule, which was reported. *ended: status of the call.
bool call_row(bench *b, const taper_op *op, const taper_schema *schema, bool keep, taper_status *ended);
// Reports an error of the current call.
void report(const char *what);
// Runs the kernels of a call, as the executor does.
taper_status call_kernels(bench *b, taper_call *call);
// Releases the kept values.
void drop_kept(bench *b);

// ---- tests of operators
// Tests one operator. It calls row_progress before each part, so that a crash can be located.
typedef bool try_row(const taper_op *op, const char *text);
void row_progress(unsigned part);
void row_worked(void); // records that a call of the operator succeeded
// Tests all operators whose schema text begins with prefix, and prints the counts. Returns the exit status.
int each_row(const char *prefix, try_row *test);

#endif
