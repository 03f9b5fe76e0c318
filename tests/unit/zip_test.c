// SPDX-License-Identifier: BSD-2-Clause
// Tests the zip reader with archives in ordinary, unusual and damaged forms.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "format/zip.h"
#include "tests/unit/archive_builder.h"

static const char text[] = "a record of some bytes, of some bytes, of some bytes, of some bytes";

static const taper_zip_entry *find(const taper_zip *zip, const char *name)
{
    return taper_zip_find(zip, name, strlen(name));
}

static taper_status open_bytes(const bytes *file, taper_zip *zip, taper_error *error)
{
    return taper_zip_open(&taper_allocator_system, file->data, file->size, zip, error);
}

// Reads the record, as an application does, and compares it.
static void expect_record(taper_zip *zip, const char *name, const void *data, size_t size)
{
    const taper_zip_entry *entry = find(zip, name);
    assert_non_null(entry);
    taper_record record;
    assert_int_equal(taper_zip_read(zip, entry, &record, NULL), TAPER_OK);
    assert_int_equal(record.size, size);
    if (size != 0) {
        assert_memory_equal(record.data, data, size);
    }
    taper_record_free(zip, &record);
}

static void reads_every_form(void **state)
{
    (void)state;
    static const unsigned forms[] = {0,
                                     BUILD_DEFLATE,
                                     BUILD_NO_PADDING,
                                     BUILD_ZIP64,
                                     BUILD_DESCRIPTOR,
                                     BUILD_DEFLATE | BUILD_ZIP64,
                                     BUILD_DEFLATE | BUILD_DESCRIPTOR,
                                     BUILD_ZIP64 | BUILD_DESCRIPTOR | BUILD_NO_PADDING,
                                     BUILD_NO_CRC,
                                     BUILD_DEFLATE | BUILD_NO_CRC};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        for (int end = 0; end < 4; end++) {
            builder b = {.count = 0};
            builder_add(&b, "model/", "", 0, 0);
            builder_add(&b, "model/text", text, sizeof text, forms[i]);
            builder_add(&b, "model/empty", "", 0, forms[i]);
            builder_add(&b, "model/deep/", "", 0, 0);
            builder_add(&b, "model/deep/name", "x", 1, forms[i]);
            builder_add(&b, "other/text", "y", 1, forms[i]);
            bytes file = builder_finish(&b, (end & 1) != 0, (end & 2) != 0 ? "a comment PK\5\6 and more" : "");
            taper_zip zip;
            assert_int_equal(open_bytes(&file, &zip, NULL), TAPER_OK);
            assert_int_equal(zip.count, 3);
            expect_record(&zip, "text", text, sizeof text);
            expect_record(&zip, "empty", "", 0);
            expect_record(&zip, "deep/name", "x", 1);
            assert_null(find(&zip, "deep/"));
            assert_null(find(&zip, "tex"));
            assert_null(find(&zip, "textx"));
            assert_null(find(&zip, ""));
            taper_zip_close(&zip);
            bytes_free(&file);
        }
    }
}

static void finds_among_many(void **state)
{
    (void)state;
    builder b = {.count = 0};
    char name[40];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "m/%d", (i * 7919) % 1000);
        builder_add(&b, name, name, strlen(name), BUILD_NO_PADDING);
    }
    builder_add(&b, "m/17", "later", 5, 0);
    bytes file = builder_finish(&b, false, "");
    taper_zip zip;
    assert_int_equal(open_bytes(&file, &zip, NULL), TAPER_OK);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "m/%d", i);
        if (i != 17) {
            expect_record(&zip, name + 2, name, strlen(name));
        }
    }
    expect_record(&zip, "17", "later", 5); // if several records have one name, the last record counts
    taper_zip_close(&zip);
    bytes_free(&file);
}

static void refuses_records(void **state)
{
    (void)state;
    static const struct {
        unsigned form;
        taper_status status;
        const char *part;
    } cases[] = {
        {BUILD_BAD_CRC, TAPER_ERROR_FILE, "checksum"},
        {BUILD_BAD_CRC | BUILD_DEFLATE, TAPER_ERROR_FILE, "checksum"},
        {BUILD_ENCRYPTED, TAPER_ERROR_UNSUPPORTED, "encrypted"},
        {BUILD_OTHER_METHOD, TAPER_ERROR_UNSUPPORTED, "method 12"},
    };
    taper_error *error = taper_error_create();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        builder b = {.count = 0};
        builder_add(&b, "m/text", text, sizeof text, cases[i].form);
        bytes file = builder_finish(&b, false, "");
        taper_zip zip;
        taper_record record;
        assert_int_equal(open_bytes(&file, &zip, error), TAPER_OK);
        assert_int_equal(taper_zip_read(&zip, find(&zip, "text"), &record, error), cases[i].status);
        assert_non_null(strstr(taper_error_message(error), cases[i].part));
        assert_non_null(strstr(taper_error_message(error), "record text"));
        assert_true(taper_error_offset(error) >= 0);
        taper_zip_close(&zip);
        bytes_free(&file);
    }
    taper_error_destroy(error);
}

static void bounds_inflation(void **state)
{
    (void)state;
    const size_t size = 100 << 20; // more than the 64 MiB to which a small file may expand
    uint8_t *zeros = calloc(1, size);
    assert_non_null(zeros);
    builder b = {.count = 0};
    builder_add(&b, "m/bomb", zeros, size, BUILD_DEFLATE);
    builder_add(&b, "m/fine", zeros, 40 << 20, BUILD_DEFLATE);
    bytes file = builder_finish(&b, false, "");
    taper_zip zip;
    taper_record record;
    taper_error *error = taper_error_create();
    assert_int_equal(open_bytes(&file, &zip, error), TAPER_OK);
    assert_int_equal(taper_zip_read(&zip, find(&zip, "bomb"), &record, error), TAPER_ERROR_RESOURCE);
    assert_int_equal(taper_zip_read(&zip, find(&zip, "fine"), &record, error), TAPER_OK);
    taper_record_free(&zip, &record);
    // The budget applies to all records together.
    assert_int_equal(taper_zip_read(&zip, find(&zip, "fine"), &record, error), TAPER_ERROR_RESOURCE);
    taper_zip_close(&zip);
    bytes_free(&file);
    free(zeros);
    taper_error_destroy(error);
}

static void refuses_lies_about_sizes(void **state)
{
    (void)state;
    // Changes fields of the only directory entry, whose record is deflated.
    static const size_t fields[] = {20, 24, 42};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        for (uint32_t delta = 1; delta != 0; delta <<= 1) {
            builder b = {.count = 0};
            builder_add(&b, "m/text", text, sizeof text, BUILD_DEFLATE);
            uint32_t value;
            memcpy(&value, b.directory.data + fields[f], 4);
            value += delta;
            memcpy(b.directory.data + fields[f], &value, 4);
            bytes file = builder_finish(&b, false, "");
            taper_zip zip;
            taper_record record;
            assert_int_equal(open_bytes(&file, &zip, NULL), TAPER_OK);
            const bool stream_ends_in_time = f == 0 && value <= file.size - (30 + 6 + 28);
            const taper_status status = taper_zip_read(&zip, find(&zip, "text"), &record, NULL);
            assert_true(status != TAPER_OK || stream_ends_in_time);
            if (status == TAPER_OK) {
                taper_record_free(&zip, &record);
            }
            taper_zip_close(&zip);
            bytes_free(&file);
        }
    }
}

static void open_and_read_all(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1); // exact size, so that a sanitizer detects reads beyond the end
    assert_non_null(copy);
    memcpy(copy, data, size);
    taper_zip zip;
    if (taper_zip_open(&taper_allocator_system, copy, size, &zip, NULL) == TAPER_OK) {
        for (size_t i = 0; i < zip.count; i++) {
            taper_record record;
            if (taper_zip_read(&zip, &zip.entries[i], &record, NULL) == TAPER_OK) {
                taper_record_free(&zip, &record);
            }
        }
        taper_zip_close(&zip);
    }
    free(copy);
}

static bytes small_archive(void)
{
    builder b = {.count = 0};
    builder_add(&b, "m/text", text, sizeof text, BUILD_DEFLATE);
    builder_add(&b, "m/plain", text, sizeof text, BUILD_ZIP64);
    return builder_finish(&b, true, "end");
}

static void survives_truncation_and_damage(void **state)
{
    (void)state;
    bytes file = small_archive();
    taper_error *error = taper_error_create();
    for (size_t size = 0; size + 3 < file.size; size++) { // truncates the file, except within the comment
        taper_zip zip;
        assert_int_not_equal(taper_zip_open(&taper_allocator_system, file.data, size, &zip, error), TAPER_OK);
        assert_string_not_equal(taper_error_message(error), "");
        open_and_read_all(file.data, size);
    }
    for (size_t i = 0; i < file.size; i++) {
        static const uint8_t masks[] = {0xff, 0x01, 0x80};
        for (size_t m = 0; m < sizeof masks; m++) {
            file.data[i] ^= masks[m];
            open_and_read_all(file.data, file.size);
            file.data[i] ^= masks[m];
        }
    }
    taper_error_destroy(error);
    bytes_free(&file);
}

static void refuses_archives(void **state)
{
    (void)state;
    taper_error *error = taper_error_create();
    taper_zip zip;
    builder b = {.count = 0};
    builder_add(&b, "top.txt", text, sizeof text, 0);
    bytes file = builder_finish(&b, false, "");
    assert_int_equal(open_bytes(&file, &zip, error), TAPER_ERROR_FILE);
    assert_non_null(strstr(taper_error_message(error), "top.txt"));
    bytes_free(&file);

    file = (bytes){.data = NULL};
    bytes_add(&file, "PK\3\4", 4);
    assert_int_equal(open_bytes(&file, &zip, error), TAPER_ERROR_FILE);
    assert_non_null(strstr(taper_error_message(error), "cut off"));
    bytes_free(&file);

    builder many = {.count = 0}; // the end record declares more entries than the file can contain
    builder_add(&many, "m/text", text, sizeof text, 0);
    many.count = 60000;
    file = builder_finish(&many, false, "");
    assert_int_equal(open_bytes(&file, &zip, error), TAPER_ERROR_FILE);
    bytes_free(&file);
    taper_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form),         cmocka_unit_test(finds_among_many),
        cmocka_unit_test(refuses_records),          cmocka_unit_test(bounds_inflation),
        cmocka_unit_test(refuses_lies_about_sizes), cmocka_unit_test(survives_truncation_and_damage),
        cmocka_unit_test(refuses_archives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
