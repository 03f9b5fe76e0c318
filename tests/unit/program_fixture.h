// SPDX-License-Identifier: BSD-2-Clause
// Runs a model that program_builder.h has built, with tensors and ints, and measures its memory.
#ifndef TAPER_TESTS_PROGRAM_FIXTURE_H
#define TAPER_TESTS_PROGRAM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/api/fixture.h"
#include "tests/unit/program_builder.h"

typedef struct program {
    bytes file;
    test_allocator memory;
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_error *error;
} program;

static inline void open_program(program *p, const function *f, bool optimized)
{
    p->file = build_program(f, 1);
    p->error = taper_error_create();
    test_allocator_init(&p->memory);
    p->context = test_context(&p->memory, 1);
    const taper_load_options options = {.struct_size = sizeof options, .compiler = optimized ? taper_compiler() : NULL};
    if (taper_model_load_memory(p->context, p->file.data, p->file.size, NULL, NULL, &options, &p->model, p->error) !=
            TAPER_OK ||
        taper_session_create(p->model, NULL, &p->session, p->error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(p->error));
    }
}

static inline void close_program(program *p)
{
    taper_session_destroy(p->session);
    taper_model_release(p->model);
    taper_context_release(p->context);
    taper_error_destroy(p->error);
    assert_int_equal(atomic_load(&p->memory.blocks), 0);
    bytes_free(&p->file);
}

// Returns a vector of n equal numbers.
static inline taper_value *vector(const program *p, int64_t n, float number)
{
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_tensor(p->context, TAPER_F32, 1, &n, &value, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    for (int64_t i = 0; i < n; i++) {
        ((float *)info.data)[i] = number;
    }
    return value;
}

static inline taper_value *run_program(program *p, taper_value *const *inputs, size_t count)
{
    taper_value *result;
    if (taper_session_run(p->session, NULL, inputs, count, &result, p->error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(p->error));
    }
    return result;
}

static inline void expect_vector(const taper_value *value, int64_t n, float number)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    assert_int_equal(info.rank, 1);
    assert_int_equal(info.sizes[0], n);
    for (int64_t i = 0; i < n; i++) {
        if (((float *)info.data)[i] != number) {
            fail_msg("element %d is %g, wanted %g", (int)i, (double)((float *)info.data)[i], (double)number);
        }
    }
}

#endif
