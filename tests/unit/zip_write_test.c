// SPDX-License-Identifier: BSD-2-Clause
// Tests the zip writer: its output is identical to the output of PyTorch, all readers accept it, it supports zip64, and
// it refuses invalid records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/reader.h"
#include "format/zip_write.h"
#include "tests/api/fixture.h"

static uint8_t *read_sample(const char *name, size_t *size)
{
    char path[1000];
    test_path(name, path, sizeof path);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    *size = (size_t)ftell(in);
    rewind(in);
    uint8_t *data = malloc(*size);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, in), *size);
    (void)fclose(in);
    return data;
}

// If all records of a file from PyTorch are written again, stored and deflated, the file must be identical.
static void as_pytorch_writes(void **state)
{
    (void)state;
    static const char *const names[] = {"s04_containers.ptl", "s06_raise.ptl", "s12_xnnpack_mix.ptl", "s17_bundled.ptl",
                                        "s18_storages.ptl"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size;
        uint8_t *data = read_sample(names[i], &size);
        taper_zip zip;
        assert_int_equal(taper_zip_open(&taper_allocator_system, data, size, &zip, NULL), TAPER_OK);
        char folder[100] = "";
        memcpy(folder, data + 30, (size_t)((const uint8_t *)memchr(data + 30, '/', 100) - (data + 30)));
        taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
        const taper_sink sink = taper_bytes_sink(&bytes);
        taper_zip_writer writer;
        assert_int_equal(taper_zip_writer_start(&writer, &taper_allocator_system, &sink, folder, NULL), TAPER_OK);
        for (size_t k = 0; k < zip.count; k++) {
            const taper_zip_entry *entry = &zip.entries[k];
            const uint8_t *packed;
            uint64_t offset;
            assert_int_equal(taper_zip_locate(&zip, entry, &packed, &offset, NULL), TAPER_OK);
            if (k % 2 == 0 && entry->method == 0) {
                assert_int_equal(
                    taper_zip_write(&writer, entry->name, entry->name_length, packed, (size_t)entry->size, NULL),
                    TAPER_OK);
            } else {
                assert_int_equal(taper_zip_copy(&writer, &zip, entry, NULL), TAPER_OK);
            }
        }
        assert_int_equal(taper_zip_writer_finish(&writer, NULL), TAPER_OK);
        taper_zip_writer_free(&writer);
        assert_int_equal(bytes.size, size);
        assert_memory_equal(bytes.data, data, size);
        taper_bytes_free(&bytes);
        taper_zip_close(&zip);
        free(data);
    }
}

static void start(taper_zip_writer *writer, const taper_sink *sink)
{
    assert_int_equal(taper_zip_writer_start(writer, &taper_allocator_system, sink, "m", NULL), TAPER_OK);
}

static void add(taper_zip_writer *writer, const char *name, const void *data, size_t size)
{
    assert_int_equal(taper_zip_write(writer, name, strlen(name), data, size, NULL), TAPER_OK);
}

// There are more records than 16 bits can count; each must be found, aligned and complete.
static void many_records(void **state)
{
    (void)state;
    enum { RECORDS = 70000 };
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    const taper_sink sink = taper_bytes_sink(&bytes);
    taper_zip_writer writer;
    start(&writer, &sink);
    for (size_t i = 0; i < RECORDS; i++) {
        char name[20] = "";
        (void)snprintf(name, sizeof name, "data/%zu", i);
        add(&writer, name, name, i % 12);
    }
    assert_int_equal(taper_zip_writer_finish(&writer, NULL), TAPER_OK);
    taper_zip_writer_free(&writer);
    taper_zip zip;
    assert_int_equal(taper_zip_open(&taper_allocator_system, bytes.data, bytes.size, &zip, NULL), TAPER_OK);
    assert_int_equal(zip.count, RECORDS);
    for (size_t i = 0; i < RECORDS; i += 97) {
        char name[20] = "";
        (void)snprintf(name, sizeof name, "data/%zu", i);
        const taper_zip_entry *entry = taper_zip_find(&zip, name, strlen(name));
        assert_non_null(entry);
        taper_record record;
        assert_int_equal(taper_zip_read(&zip, entry, &record, NULL), TAPER_OK);
        assert_int_equal(record.size, i % 12);
        assert_int_equal(record.offset % 64, 0);
        assert_memory_equal(record.data, name, record.size);
        taper_record_free(&zip, &record);
    }
    taper_zip_close(&zip);
    taper_bytes_free(&bytes);
}

// Beyond 4 GiB, offsets and sizes are in zip64 fields, and data must still be aligned.
static void large(void **state)
{
    (void)state;
    static const uint64_t far = (UINT64_C(5) << 30) + 12;
    static const uint8_t packed[10] = {1, 2, 3};
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    const taper_sink sink = taper_bytes_sink(&bytes);
    taper_zip_writer writer;
    start(&writer, &sink);
    writer.position = far; // pretends that `far` bytes were already written
    add(&writer, "a", packed, sizeof packed);
    const uint8_t *local = bytes.data;
    assert_int_equal((far + 30 + 3 + taper_load_u16(local + 28)) % 64, 0);
    assert_int_equal(taper_load_u16(local + 33), 1); // the id of the zip64 field
    assert_int_equal(taper_load_u16(local + 35), 8);
    assert_int_equal(taper_load_u64(local + 37), far);
    const uint8_t *entry = writer.directory.data;
    assert_int_equal(taper_load_u32(entry + 24), sizeof packed);
    assert_int_equal(taper_load_u32(entry + 42), UINT32_MAX);
    assert_int_equal(taper_load_u64(entry + 46 + 3 + 4), far);
    // Sizes in the data descriptor have 64 bits.
    assert_int_equal(taper_load_u64(bytes.data + bytes.size - 8), sizeof packed);
    // A deflated record that would be inflated to 6 GiB.
    uint8_t header[31] = {0x50, 0x4b, 3, 4};
    header[26] = 1;
    uint8_t source[64];
    memcpy(source, header, sizeof header);
    memcpy(source + sizeof header, packed, sizeof packed);
    const taper_zip from = {.data = source, .size = sizeof source, .budget = SIZE_MAX};
    const taper_zip_entry huge = {
        .name = "b", .name_length = 1, .method = 0, .crc = 1, .packed = UINT64_C(6) << 30, .size = UINT64_C(6) << 30};
    // The data of the record is not in the file.
    assert_int_equal(taper_zip_copy(&writer, &from, &huge, NULL), TAPER_ERROR_FILE);
    taper_zip_writer_free(&writer);
    taper_bytes_free(&bytes);
}

static void refusals(void **state)
{
    (void)state;
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    const taper_sink sink = taper_bytes_sink(&bytes);
    taper_zip_writer writer;
    static char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    static const char *const folders[] = {"", "a/b", "/", long_name};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        assert_int_equal(taper_zip_writer_start(&writer, &taper_allocator_system, &sink, folders[i], NULL),
                         TAPER_ERROR_ARGUMENT);
        taper_zip_writer_free(&writer);
    }
    start(&writer, &sink);
    assert_int_equal(taper_zip_write(&writer, long_name, strlen(long_name), "", 0, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_zip_write(&writer, "", 0, "", 0, NULL), TAPER_ERROR_ARGUMENT);
    taper_zip_writer_free(&writer);
    taper_bytes_free(&bytes);
}

// ---- failing sinks and allocators

static taper_status failing_write(void *user, const void *data, size_t size, taper_error *error)
{
    (void)data;
    assert_int_not_equal(size, 0);
    size_t *left = user;
    return (*left)-- == 0 ? taper_fail(error, TAPER_ERROR_FILE, "the device is full") : TAPER_OK;
}

static taper_status write_some(const taper_allocator *allocator, const taper_sink *sink)
{
    taper_zip_writer writer;
    taper_status status = taper_zip_writer_start(&writer, allocator, sink, "m", NULL);
    status = status == TAPER_OK ? taper_zip_write(&writer, "a", 1, "data", 4, NULL) : status;
    status = status == TAPER_OK ? taper_zip_write(&writer, "b", 1, NULL, 0, NULL) : status;
    status = status == TAPER_OK ? taper_zip_writer_finish(&writer, NULL) : status;
    taper_zip_writer_free(&writer);
    return status;
}

static void failures(void **state)
{
    (void)state;
    size_t pieces = 0;
    for (taper_status status = TAPER_ERROR_FILE; status != TAPER_OK; pieces++) {
        size_t left = pieces;
        const taper_sink sink = {.write = failing_write, .user = &left};
        status = write_some(&taper_allocator_system, &sink);
        assert_true(status == TAPER_OK || status == TAPER_ERROR_FILE);
    }
    assert_int_equal(pieces, 7); // six writes fail once each: header, data, sizes, header, directory, end
    for (size_t n = 1;; n++) {
        test_allocator allocator;
        test_allocator_init(&allocator);
        allocator.fail_at = n;
        taper_bytes bytes = taper_bytes_make(&allocator.allocator);
        const taper_sink sink = taper_bytes_sink(&bytes);
        const taper_status status = write_some(&allocator.allocator, &sink);
        taper_bytes_free(&bytes);
        assert_int_equal(atomic_load(&allocator.blocks), 0);
        if (status == TAPER_OK) {
            assert_true(atomic_load(&allocator.calls) < n);
            break;
        }
        assert_int_equal(status, TAPER_ERROR_RESOURCE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_pytorch_writes), cmocka_unit_test(many_records),
                                       cmocka_unit_test(large), cmocka_unit_test(refusals), cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
