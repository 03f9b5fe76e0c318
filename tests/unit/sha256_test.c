// SPDX-License-Identifier: BSD-2-Clause
// Tests SHA-256 with the examples of FIPS 180-4, passed in chunks of every length.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void expect(const char *text, size_t repeat, size_t piece, const char *wanted)
{
    const size_t length = strlen(text), size = length * repeat;
    char *all = malloc(size + 1), hex[65];
    uint8_t digest[32];
    taper_sha256 hash;
    assert_non_null(all);
    for (size_t i = 0; i < repeat; i++) {
        memcpy(all + i * length, text, length);
    }
    taper_sha256_begin(&hash);
    for (size_t at = 0; at < size; at += piece) {
        taper_sha256_add(&hash, all + at, size - at < piece ? size - at : piece);
    }
    taper_sha256_end(&hash, digest);
    for (int i = 0; i < 32; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(hex, wanted);
    free(all);
}

static void examples(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 200; piece++) {
        expect("", 1, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        expect("abc", 1, piece, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, piece,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
    expect("a", 1000000, 977, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
