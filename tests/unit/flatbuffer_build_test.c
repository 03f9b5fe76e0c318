// SPDX-License-Identifier: BSD-2-Clause
// Builds flatbuffers and reads them: tables, vectors, strings, blocks, alignment, and sizes that are too large.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/reader.h"
#include "format/flatbuffer.h"
#include "format/flatbuffer_build.h"
#include "tests/api/fixture.h"

static void open_bytes(const taper_bytes *bytes, taper_flatbuffer *fb, taper_fb_table *root)
{
    assert_int_equal(bytes->size % TAPER_FBB_ALIGNMENT, 0);
    assert_memory_equal(bytes->data + 4, "TEST", 4);
    assert_int_equal(taper_fb_open(fb, bytes->data, bytes->size, root, NULL), TAPER_OK);
}

static uint64_t number(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot, unsigned width)
{
    uint64_t value = 77; // value that remains if the field is absent
    assert_int_equal(taper_fb_number(fb, table, slot, width, &value), TAPER_OK);
    return value;
}

static taper_status build(taper_fbb *b, const taper_sink *sink)
{
    static const uint32_t items[] = {1, 2, 0xffffffff};
    static const uint8_t content[] = {9, 8, 7};
    uint8_t *room;
    const taper_fbb_ref first = taper_fbb_shared_string(b, "word");
    const taper_fbb_ref vector = taper_fbb_u32s(b, items, 3), wide = taper_fbb_vector(b, 2, 8, 8, &room);
    if (room != NULL) {
        taper_store_u64(room, 5);
        taper_store_u64(room + 8, UINT64_MAX);
    }
    const taper_fbb_ref block = taper_fbb_block_of(b, content, sizeof content, false),
                        text = taper_fbb_block_of(b, "text", 4, true), none = taper_fbb_block_of(b, NULL, 0, false);
    taper_fbb_ref tables[3];
    for (size_t i = 0; i < 3; i++) { // all of these tables share one vtable
        taper_fbb_table(b);
        taper_fbb_number(b, 0, 1, 3 + i, 0);
        taper_fbb_refer(b, 2, first);
        tables[i] = taper_fbb_table_end(b);
    }
    const taper_fbb_ref children = taper_fbb_refs(b, tables, 3);
    taper_fbb_table(b);
    taper_fbb_number(b, 0, 8, UINT64_C(0x0102030405060708), 0);
    taper_fbb_number(b, 1, 4, 5, 5); // the field is omitted, because the number equals its default
    const taper_fbb_ref place = taper_fbb_place(b, 2, 0);
    taper_fbb_refer(b, 3, vector);
    taper_fbb_refer(b, 4, wide);
    taper_fbb_refer(b, 5, block);
    taper_fbb_refer(b, 6, text);
    taper_fbb_refer(b, 7, none);
    taper_fbb_refer(b, 8, children);
    taper_fbb_refer(b, 9, 0);
    const taper_fbb_ref root = taper_fbb_table_end(b);
    taper_fbb_patch(b, place, 1234);
    return taper_fbb_finish(b, root, "TEST", sink, NULL);
}

static void there_and_back(void **state)
{
    (void)state;
    taper_fbb b;
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    const taper_sink sink = taper_bytes_sink(&bytes);
    taper_fbb_start(&b, &taper_allocator_system);
    assert_true(taper_fbb_shared_string(&b, "word") == taper_fbb_shared_string(&b, "word"));
    assert_int_equal(build(&b, &sink), TAPER_OK);
    taper_fbb_free(&b);
    taper_flatbuffer fb;
    taper_fb_table root, child;
    taper_fb_vector vector;
    taper_fb_string string;
    open_bytes(&bytes, &fb, &root);
    assert_int_equal(number(&fb, &root, 0, 8), UINT64_C(0x0102030405060708));
    assert_int_equal(number(&fb, &root, 1, 4), 77);
    assert_int_equal(number(&fb, &root, 2, 4), 1234);
    assert_int_equal(taper_fb_vector_in(&fb, &root, 3, 4, &vector), TAPER_OK);
    assert_int_equal(vector.count, 3);
    assert_int_equal(taper_load_u32(taper_fb_item(&fb, &vector, 2, 4)), 0xffffffff);
    assert_int_equal(taper_fb_vector_in(&fb, &root, 4, 8, &vector), TAPER_OK);
    assert_int_equal(vector.at % 8, 0);
    assert_int_equal(taper_load_u64(taper_fb_item(&fb, &vector, 0, 8)), 5);
    assert_int_equal(taper_fb_vector_in(&fb, &root, 5, 1, &vector), TAPER_OK);
    assert_int_equal(vector.at % TAPER_FBB_ALIGNMENT, 0);
    assert_int_equal(vector.count, 3);
    assert_int_equal(fb.data[vector.at], 9);
    assert_int_equal(taper_fb_string_in(&fb, &root, 6, &string), TAPER_OK);
    assert_int_equal(string.length, 4);
    assert_string_equal(string.text, "text");
    assert_int_equal(taper_fb_vector_in(&fb, &root, 7, 1, &vector), TAPER_OK);
    assert_int_equal(vector.count, 0);
    assert_int_equal(taper_fb_vector_in(&fb, &root, 8, 4, &vector), TAPER_OK);
    size_t description = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(taper_fb_item_table(&fb, &vector, i, &child), TAPER_OK);
        assert_int_equal(number(&fb, &child, 0, 1), 3 + i);
        assert_int_equal(taper_fb_string_in(&fb, &child, 2, &string), TAPER_OK);
        assert_string_equal(string.text, "word");
        assert_true(i == 0 || child.vtable == description);
        description = child.vtable;
    }
    assert_int_equal(taper_fb_vector_in(&fb, &root, 9, 4, &vector), TAPER_OK);
    assert_int_equal(vector.count, 0);
    taper_bytes_free(&bytes);
}

static void too_large(void **state)
{
    (void)state;
    taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
    const taper_sink sink = taper_bytes_sink(&bytes);
    for (int way = 0; way < 3; way++) {
        taper_fbb b;
        uint8_t *room;
        taper_fbb_start(&b, &taper_allocator_system);
        taper_fbb_ref ref = 0;
        if (way == 0) { // INT32_MAX - 100 bytes are refused before the data is read
            ref = taper_fbb_block_of(&b, "", INT32_MAX - 100, false);
            ref = taper_fbb_block_of(&b, "", 1000, true);
        } else if (way == 1) {
            ref = taper_fbb_vector(&b, SIZE_MAX / 4, 8, 8, &room);
            assert_null(room);
        } else {
            ref = taper_fbb_vector(&b, SIZE_MAX / 2, 1, 1, &room);
            assert_null(room);
        }
        taper_fbb_table(&b);
        taper_fbb_refer(&b, 0, ref);
        assert_int_equal(taper_fbb_finish(&b, taper_fbb_table_end(&b), "TEST", &sink, NULL), TAPER_ERROR_RESOURCE);
        assert_int_equal(bytes.size, 0);
        taper_fbb_free(&b);
    }
    taper_bytes_free(&bytes);
}

static void out_of_memory(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        test_allocator allocator;
        test_allocator_init(&allocator);
        allocator.fail_at = n;
        taper_fbb b;
        taper_bytes bytes = taper_bytes_make(&taper_allocator_system);
        const taper_sink sink = taper_bytes_sink(&bytes);
        taper_fbb_start(&b, &allocator.allocator);
        const taper_status status = build(&b, &sink);
        taper_fbb_free(&b);
        taper_bytes_free(&bytes);
        assert_int_equal(atomic_load(&allocator.blocks), 0);
        if (atomic_load(&allocator.calls) < n) {
            assert_int_equal(status, TAPER_OK);
            break;
        }
        // Building may succeed, because a table of strings is not necessary.
        assert_true(status == TAPER_ERROR_RESOURCE || status == TAPER_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back), cmocka_unit_test(too_large),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
