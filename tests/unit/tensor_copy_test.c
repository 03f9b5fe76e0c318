// SPDX-License-Identifier: BSD-2-Clause
// Tests copies between tensors of any dtypes and strides, broadcasts, and copies of hidden NHWC tensors.
#include "base/half.h"
#include "ir/storage.h"
#include "ir/tensor.h"
#include "tests/unit/heap_fixture.h"

static const taper_dtype dtypes[] = {TAPER_U8,  TAPER_I8,  TAPER_I16,  TAPER_I32, TAPER_I64,  TAPER_F16,
                                     TAPER_F32, TAPER_F64, TAPER_BF16, TAPER_C64, TAPER_C128, TAPER_BOOL};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static taper_tensor *make(const heap_fixture *f, taper_dtype dtype, size_t rank, const int64_t *sizes,
                          const int64_t *strides)
{
    taper_tensor *t;
    assert_int_equal(taper_tensor_new(f->heap, dtype, rank, sizes, strides, &t, NULL), TAPER_OK);
    return t;
}

// Small integers are exact in every dtype.
static void every_pair_of_dtypes(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    const int64_t sizes[] = {3, 5}, turned[] = {1, 3};
    taper_tensor *numbers = make(&f, TAPER_F64, 2, sizes, NULL);
    for (int i = 0; i < 15; i++) {
        ((double *)taper_tensor_mutable(numbers))[i] = i;
    }
    for (size_t a = 0; a < DTYPES; a++) {
        for (size_t b = 0; b < DTYPES; b++) {
            taper_tensor *x = make(&f, dtypes[a], 2, sizes, NULL), *y = make(&f, dtypes[b], 2, sizes, turned);
            assert_int_equal(taper_tensor_copy(x, numbers, NULL), TAPER_OK);
            assert_int_equal(taper_tensor_copy(y, x, NULL), TAPER_OK);
            for (int64_t i = 0; i < 3; i++) {
                for (int64_t k = 0; k < 5; k++) {
                    const double number = (double)(i * 5 + k);
                    const double wanted = dtypes[a] == TAPER_BOOL || dtypes[b] == TAPER_BOOL ? number != 0 : number;
                    assert_true(taper_load_double(dtypes[b], taper_tensor_data(y), i + 3 * k) == wanted);
                }
            }
            taper_val_release(TAPER_VAL(x));
            taper_val_release(TAPER_VAL(y));
        }
    }
    taper_val_release(TAPER_VAL(numbers));
    close_heap(&f);
}

static void special_numbers(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    const int64_t size = 4;
    taper_tensor *x = make(&f, TAPER_F32, 1, &size, NULL), *b = make(&f, TAPER_BOOL, 1, &size, NULL),
                 *h = make(&f, TAPER_F16, 1, &size, NULL);
    float *data = taper_tensor_mutable(x);
    data[0] = __builtin_nanf("");
    data[1] = -0.0f;
    data[2] = 1e30f;
    data[3] = 0.5f;
    assert_int_equal(taper_tensor_copy(b, x, NULL), TAPER_OK);
    assert_memory_equal(taper_tensor_data(b), "\1\0\1\1", 4); // NaN and 0.5 become true
    assert_int_equal(taper_tensor_copy(h, x, NULL), TAPER_OK);
    const uint16_t *half = taper_tensor_data(h);
    assert_true((half[0] & 0x7fff) > 0x7c00);
    assert_int_equal(half[1], 0x8000);
    assert_int_equal(half[2], 0x7c00);
    taper_val_release(TAPER_VAL(x));
    taper_val_release(TAPER_VAL(b));
    taper_val_release(TAPER_VAL(h));
    close_heap(&f);
}

static void broadcasts(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    const int64_t row[] = {4}, column[] = {3, 1}, all[] = {2, 3, 4}, none[] = {2, 0, 4}, other[] = {3};
    taper_tensor *x = make(&f, TAPER_I32, 1, row, NULL), *y = make(&f, TAPER_I32, 2, column, NULL),
                 *z = make(&f, TAPER_I64, 3, all, NULL);
    taper_tensor *empty = make(&f, TAPER_I64, 3, none, NULL), *wrong = make(&f, TAPER_I32, 1, other, NULL);
    for (int i = 0; i < 4; i++) {
        ((int32_t *)taper_tensor_mutable(x))[i] = i;
    }
    for (int i = 0; i < 3; i++) {
        ((int32_t *)taper_tensor_mutable(y))[i] = 10 * i;
    }
    assert_int_equal(taper_tensor_copy(z, x, NULL), TAPER_OK);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(((const int64_t *)taper_tensor_data(z))[i], i % 4);
    }
    assert_int_equal(taper_tensor_copy(z, y, NULL), TAPER_OK);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(((const int64_t *)taper_tensor_data(z))[i], i / 4 % 3 * 10);
    }
    assert_int_equal(taper_tensor_copy(empty, x, NULL), TAPER_OK);
    assert_int_equal(taper_tensor_copy(z, wrong, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_tensor_copy(x, z, NULL), TAPER_ERROR_ARGUMENT);
    taper_tensor *all_of_them[] = {x, y, z, empty, wrong};
    for (size_t i = 0; i < 5; i++) {
        taper_val_release(TAPER_VAL(all_of_them[i]));
    }
    close_heap(&f);
}

static void revealing(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    const int64_t sizes[] = {2, 3, 4, 5};
    int64_t last[4], plain[4];
    taper_strides_channels_last(4, sizes, last);
    taper_strides_contiguous(4, sizes, plain);
    taper_tensor *x = make(&f, TAPER_F32, 4, sizes, NULL), *y = make(&f, TAPER_F32, 4, sizes, last);
    for (int i = 0; i < 120; i++) {
        ((float *)taper_tensor_mutable(x))[i] = (float)i;
    }
    assert_int_equal(taper_tensor_copy(y, x, NULL), TAPER_OK);
    assert_memory_not_equal(taper_tensor_data(y), taper_tensor_data(x), 120 * sizeof(float));
    y->hidden_nhwc = true;
    assert_false(taper_tensor_suggests_channels_last(y));
    int64_t seen[4];
    taper_tensor_logical_strides(y, seen);
    assert_memory_equal(seen, plain, sizeof seen);
    assert_int_equal(taper_tensor_settle(y, NULL), TAPER_OK);
    assert_false(y->hidden_nhwc);
    assert_memory_equal(y->strides, plain, sizeof plain);
    assert_memory_equal(taper_tensor_data(y), taper_tensor_data(x), 120 * sizeof(float));
    taper_val_release(TAPER_VAL(x));
    taper_val_release(TAPER_VAL(y));
    close_heap(&f);
}

static void views_stay_inside(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_storage *storage;
    taper_tensor *t;
    assert_int_equal(taper_storage_new(f.heap, 40, &storage, NULL), TAPER_OK);
    const int64_t two[] = {2, 5}, wide[] = {5, 1}, over[] = {6, 1}, negative[] = {-5, 1},
                  huge[] = {INT64_MAX, INT64_MAX};
    assert_int_equal(taper_tensor_view(f.heap, storage, TAPER_F32, 0, 2, two, wide, &t, NULL), TAPER_OK);
    taper_val_release(TAPER_VAL(t));
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F32, 1, 2, two, wide, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F32, 0, 2, two, over, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F64, 0, 2, two, wide, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F32, 5, 2, two, negative, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F32, -1, 2, two, wide, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F32, 0, 2, two, huge, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_view(f.heap, storage, TAPER_F32, 0, 2, huge, wide, &t, NULL) != TAPER_OK);
    assert_true(taper_tensor_new(f.heap, TAPER_F32, 2, huge, NULL, &t, NULL) != TAPER_OK);
    assert_null(t);
    taper_obj_release(&storage->head);
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair_of_dtypes), cmocka_unit_test(special_numbers),
                                       cmocka_unit_test(broadcasts), cmocka_unit_test(revealing),
                                       cmocka_unit_test(views_stay_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
