/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Shared by the tests of the public interface: an allocator that counts, checks and fails on command, and calls of the
 * committed models.
 */
#ifndef TAPER_TESTS_FIXTURE_H
#define TAPER_TESTS_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <taper/taper_compile.h>

/*
 * A counting allocator. It aborts if a block is freed with a wrong size. The fail_at-th request for memory fails, and
 * all later requests also fail if fail_all is set; no request fails if fail_at is 0. Thread-safe.
 */
typedef struct test_allocator {
    taper_allocator allocator;
    atomic_size_t blocks, bytes, calls; /* number of live blocks, number of live bytes, number of requests so far */
    atomic_size_t peak;
    size_t fail_at;
    bool fail_all;
} test_allocator;

void test_allocator_init(test_allocator *allocator);

/*
 * One call of a committed model. args has a word for each input: "f1,3,4" is a float tensor of these sizes, "l3" an
 * int64 tensor ("n3": with indices from 0 on), "i5" an int, "b1" a bool. Consecutive rows of one file are calls of one
 * session.
 */
typedef struct test_call {
    const char *file; /* path in tests/data/samples, examples/demo or tests/models/data */
    const char *method;
    const char *args;
    taper_status status; /* expected status of the call */
    bool counts;         /* true if the module counts its calls, so that a repeated call has another result */
} test_call;

extern const test_call test_calls[];
extern const size_t test_call_count;
/* Returns the number of rows from `first` on with the same file. */
size_t test_group(size_t first);

/* Writes the path of a committed model. */
void test_path(const char *file, char *path, size_t size);
taper_status test_load(taper_context *context, const char *file, bool optimized, taper_model **model,
                       taper_error *error);
/* Loads a model. The source decides where its data is: in a mapping, in the host's bytes, or in the library's copy. */
typedef enum test_source { TEST_FILE, TEST_MEMORY, TEST_CALLBACK, TEST_SOURCE_COUNT } test_source;
taper_status test_load_from(taper_context *context, const char *file, test_source source, bool optimized,
                            taper_model **model, taper_error *error);
/* Makes the inputs, runs the method and releases the inputs. */
taper_status test_run(taper_context *context, taper_session *session, const test_call *call, taper_value **result,
                      taper_error *error);
/* Returns true if structure, dtypes, sizes, strides and bits are equal. */
bool test_same(const taper_value *a, const taper_value *b);
// Returns the largest difference of two float tensors of equal sizes, or of the only items of two dicts, relative to
// the largest number. Returns INFINITY if a number is not finite.
double test_difference(const taper_value *value, const taper_value *other);
/*
 * Repeats the work: for each allocation (or for a sample of them, tests/sample.h) once with that allocation failing,
 * and at the end once without a failure. Fails the test if the work ends in a status other than success and
 * TAPER_ERROR_RESOURCE, or if memory is leaked. The context has one thread.
 */
typedef taper_status test_work(taper_context *context, const void *what, taper_error *error);
void test_each_allocation_fails(const char *name, test_work *work, const void *what);
/* Checks that item `index` of a result is a float32 tensor with these numbers. Each may differ by less than `within`.
 */
void test_check_floats(const taper_value *result, size_t index, const float *want, size_t count, float within);
/* Makes a context that uses the allocator (NULL for malloc) and prints nothing. Aborts on failure. */
taper_context *test_context(test_allocator *allocator, unsigned threads);

#endif
