// SPDX-License-Identifier: BSD-2-Clause
// Tests storages whose bytes are computed while they are written: the bytes must be the same if computed in parts, at
// once and in an archive.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/zip_write.h"
#include "ir/scaled_storage.h"
#include "ir/tensor.h"
#include "tests/unit/heap_fixture.h"

enum { ROWS = 37, ROW = 5003 }; // more than twice as many bytes as the archive writer computes at a time

static float expected[ROWS * ROW];

static taper_storage *make(taper_heap *heap)
{
    const int64_t sizes[2] = {ROWS, ROW};
    taper_tensor *rows;
    taper_storage *storage;
    double *scales;
    assert_int_equal(taper_tensor_new(heap, TAPER_F32, 2, sizes, NULL, &rows, NULL), TAPER_OK);
    float *data = taper_tensor_mutable(rows);
    assert_int_equal(taper_storage_scaled(heap, rows, &storage, &scales, NULL), TAPER_OK);
    for (size_t r = 0; r < ROWS; r++) {
        scales[r] = 1.0 / (double)(r + 1);
        for (size_t i = 0; i < ROW; i++) {
            data[r * ROW + i] = (float)i - 300.5f;
            expected[r * ROW + i] = (float)(data[r * ROW + i] * scales[r]);
        }
    }
    taper_obj_release(&rows->head); // the storage keeps a reference of its own to the tensor `rows`
    return storage;
}

static void parts(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_storage *storage = make(f.heap);
    static char buffer[sizeof expected];
    assert_null(storage->data);
    for (size_t at = 0, size; at < sizeof expected; at += size) {
        size = at / 3 / sizeof(float) * sizeof(float) + sizeof(float);
        size = taper_min_size(size, sizeof expected - at);
        assert_memory_equal(taper_storage_part(storage, at, size, buffer), (char *)expected + at, size);
    }
    assert_int_equal(taper_storage_settle(storage, NULL), TAPER_OK);
    assert_int_equal(storage->kind, TAPER_STORAGE_OWNED);
    assert_int_equal(storage->bytes, sizeof expected);
    assert_memory_equal(storage->data, expected, sizeof expected);
    assert_int_equal(taper_storage_settle(storage, NULL), TAPER_OK);
    assert_ptr_equal(taper_storage_part(storage, 4, 8, buffer), (char *)storage->data + 4);
    taper_obj_release(&storage->head);
    close_heap(&f);
}

static void no_elements(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    static const int64_t shapes[][2] = {{0, 3}, {3, 0}};
    for (size_t i = 0; i < 2; i++) {
        taper_tensor *rows;
        taper_storage *storage;
        double *scales;
        assert_int_equal(taper_tensor_new(f.heap, TAPER_F32, 2, shapes[i], NULL, &rows, NULL), TAPER_OK);
        assert_int_equal(taper_storage_scaled(f.heap, rows, &storage, &scales, NULL), TAPER_OK);
        assert_int_equal(taper_storage_settle(storage, NULL), TAPER_OK);
        assert_int_equal(storage->bytes, 0);
        taper_obj_release(&storage->head);
        taper_obj_release(&rows->head);
    }
    close_heap(&f);
}

// A record of such a storage must equal a record of the computed bytes, for every position at which a chunk that the
// writer computes may end.
static void in_archives(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_storage *storage = make(f.heap);
    taper_bytes files[2];
    for (size_t i = 0; i < 2; i++) {
        files[i] = taper_bytes_make(&taper_allocator_system);
        const taper_sink sink = taper_bytes_sink(&files[i]);
        taper_zip_writer writer;
        assert_int_equal(taper_zip_writer_start(&writer, &taper_allocator_system, &sink, "a", NULL), TAPER_OK);
        assert_int_equal(taper_zip_write(&writer, "first", 5, expected, 1001, NULL), TAPER_OK);
        assert_int_equal(i == 0 ? taper_zip_write_storage(&writer, "rows", 4, storage, NULL)
                                : taper_zip_write(&writer, "rows", 4, expected, sizeof expected, NULL),
                         TAPER_OK);
        assert_int_equal(taper_zip_writer_finish(&writer, NULL), TAPER_OK);
        taper_zip_writer_free(&writer);
    }
    assert_int_equal(files[0].size, files[1].size);
    assert_memory_equal(files[0].data, files[1].data, files[0].size);
    taper_zip zip;
    taper_record record;
    assert_int_equal(taper_zip_open(&taper_allocator_system, files[0].data, files[0].size, &zip, NULL), TAPER_OK);
    // taper_zip_read also checks the checksum.
    assert_int_equal(taper_zip_read(&zip, taper_zip_find(&zip, "rows", 4), &record, NULL), TAPER_OK);
    assert_memory_equal(record.data, expected, sizeof expected);
    taper_record_free(&zip, &record);
    taper_zip_close(&zip);
    taper_bytes_free(&files[0]);
    taper_bytes_free(&files[1]);
    taper_obj_release(&storage->head);
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(no_elements),
                                       cmocka_unit_test(in_archives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
