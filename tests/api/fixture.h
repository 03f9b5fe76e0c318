/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What tests of the public interface share: an allocator that counts, checks and fails on demand, and calls of the
 * committed models.
 */
#ifndef TAPER_TESTS_FIXTURE_H
#define TAPER_TESTS_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <taper/taper_compile.h>

/* Counts; checks that old sizes are given back exactly (aborts: the test is then told); the fail_at-th call that asks
 * for memory fails, and all later ones too when fail_all is set. fail_at 0: none. Thread-safe. */
typedef struct test_allocator {
    taper_allocator allocator;
    atomic_size_t blocks, bytes, calls; /* alive, alive, requests so far */
    atomic_size_t peak;
    size_t fail_at;
    bool fail_all;
} test_allocator;

void test_allocator_init(test_allocator *allocator);

/* One call of a committed model. args: a word per input: "f1,3,4" a float tensor of these sizes, "l3" an int64 tensor
 * ("n3": of indices from 0 on), "i5" an int, "b1" a bool. Rows of one file follow each other and are meant for one
 * session. */
typedef struct test_call {
    const char *file; /* in tests/data/samples, examples/demo or tests/models/data */
    const char *method;
    const char *args;
    taper_status status; /* that the call ends in */
    bool counts;         /* the module counts its calls: the next one has another result */
} test_call;

extern const test_call test_calls[];
extern const size_t test_call_count;
/* Rows from `first` on that share its file. */
size_t test_group(size_t first);

/* Path of a committed model; static, per thread of a test not to be shared. */
void test_path(const char *file, char *path, size_t size);
taper_status test_load(taper_context *context, const char *file, bool optimized, taper_model **model,
                       taper_error *error);
/* From where a model is loaded: what it stands on is a mapping, the host's bytes, or the library's copy. */
typedef enum test_source { TEST_FILE, TEST_MEMORY, TEST_CALLBACK, TEST_SOURCE_COUNT } test_source;
taper_status test_load_from(taper_context *context, const char *file, test_source source, bool optimized,
                            taper_model **model, taper_error *error);
/* Makes the inputs, runs, releases the inputs. */
taper_status test_run(taper_context *context, taper_session *session, const test_call *call, taper_value **result,
                      taper_error *error);
/* Same structure, dtypes, sizes, strides and bits. */
bool test_same(const taper_value *a, const taper_value *b);
// The largest difference of two tensors of floats that are alike otherwise, or of the only items of two dicts, in parts
// of the largest number; INFINITY: one is not finite.
double test_difference(const taper_value *value, const taper_value *other);
/* Does the work once for each allocation of it (of a sample of them: tests/sample.h), which fails; then with all of
 * them. Fails the test when the work ends in anything but success or TAPER_ERROR_RESOURCE, or when something is not
 * given back. The context has one thread. */
typedef taper_status test_work(taper_context *context, const void *what, taper_error *error);
void test_each_allocation_fails(const char *name, test_work *work, const void *what);
/* A context of one thread that uses allocator (NULL: malloc) and prints nothing. Aborts when it cannot. */
taper_context *test_context(test_allocator *allocator, unsigned threads);

#endif
