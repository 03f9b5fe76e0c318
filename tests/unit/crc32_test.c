// SPDX-License-Identifier: BSD-2-Clause
// Compares the checksum with the checksum of zlib, for all short lengths and some long lengths, also for unaligned
// data, and continued from the checksum of the data before.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "platform/crc32.h"

enum { LONG = 1 << 20 };

static uint8_t *some_bytes(void)
{
    uint8_t *bytes = malloc(LONG);
    assert_non_null(bytes);
    uint32_t random = 1;
    for (size_t i = 0; i < LONG; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(random >> 24);
    }
    return bytes;
}

static void as_zlib_has_it(void **state)
{
    (void)state;
    uint8_t *bytes = some_bytes();
    for (size_t size = 0; size < 700; size++) {
        for (size_t start = 0; start < 3; start++) {
            const uint32_t before = size % 3 == 0 ? 0 : (uint32_t)(size * 2654435761u);
            assert_int_equal(taper_crc32(before, bytes + start, size), crc32_z(before, bytes + start, size));
        }
    }
    for (size_t size = LONG - 130; size <= LONG; size++) {
        const size_t start = size % 5;
        assert_int_equal(taper_crc32(7, bytes + start, size - start), crc32_z(7, bytes + start, size - start));
    }
    // Tests lengths around the length from which the CPU's instructions are used.
    for (size_t size = 16 * 1024 - 130; size <= 16 * 1024 + 130; size++) {
        assert_int_equal(taper_crc32(0, bytes, size), crc32_z(0, bytes, size));
    }
    free(bytes);
}

static void in_parts(void **state)
{
    (void)state;
    uint8_t *bytes = some_bytes();
    uint32_t crc = 0;
    for (size_t at = 0, size = 1; at < LONG; at += size, size = size * 3 + 1) {
        size = size < LONG - at ? size : LONG - at;
        crc = taper_crc32(crc, bytes + at, size);
    }
    assert_int_equal(crc, crc32_z(0, bytes, LONG));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_zlib_has_it), cmocka_unit_test(in_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
