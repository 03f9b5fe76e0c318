// SPDX-License-Identifier: BSD-2-Clause
// A heap over a counting allocator, for tests of objects on heaps.
#ifndef TAPER_TESTS_HEAP_FIXTURE_H
#define TAPER_TESTS_HEAP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "ir/tensor_def.h"
#include "tests/api/fixture.h"

typedef struct heap_fixture {
    test_allocator memory;
    taper_types *types;
    taper_heap *heap;
} heap_fixture;

static inline void open_heap(heap_fixture *f)
{
    test_allocator_init(&f->memory);
    assert_int_equal(taper_types_create(&f->memory.allocator, &f->types, NULL), TAPER_OK);
    assert_int_equal(taper_heap_create(&f->memory.allocator, f->types, &f->heap, NULL), TAPER_OK);
}

static inline void close_heap(heap_fixture *f)
{
    taper_heap_close(f->heap);
    taper_types_release(f->types);
    assert_int_equal(atomic_load(&f->memory.blocks), 0);
    assert_int_equal(atomic_load(&f->memory.bytes), 0);
}

#endif
