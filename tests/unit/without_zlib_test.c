// SPDX-License-Identifier: BSD-2-Clause
// Compares the code that replaces zlib in some builds with zlib: streams with all kinds of blocks, truncated streams,
// and damaged streams. Both must refuse a stream or read the same bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#define taper_inflate own_inflate
#include "base/inflate.c"
#undef taper_inflate
#undef TAPER_WITH_ZLIB
#define TAPER_WITH_ZLIB 0
#define taper_crc32_plain own_crc32_plain
#define taper_crc32 own_crc32
#include "platform/crc32.c"
#undef taper_crc32_plain
#undef taper_crc32

taper_status taper_inflate(const taper_allocator *allocator, const uint8_t *packed, uint64_t packed_size, uint8_t *to,
                           uint64_t size); // the library's function, which replaces zlib

enum { MOST = 1 << 18, ROOM = MOST + (MOST >> 4) };

static uint32_t state_of_random = 1;
static uint32_t next_random(void)
{
    state_of_random = state_of_random * 1664525 + 1013904223;
    return state_of_random >> 8;
}

// Fills bytes. kind 0: noise; 1: few different bytes; 2: text with long repetitions at long distances; 3: zeros.
static void make_bytes(uint8_t *bytes, size_t size, unsigned kind)
{
    for (size_t i = 0; i < size; i++) {
        const uint32_t r = next_random();
        bytes[i] = kind == 0                               ? (uint8_t)r
                   : kind == 1                             ? (uint8_t)(r % 7 * (r >> 8 & 1))
                   : kind == 2 && i > 40000 && r % 50 != 0 ? bytes[i - 1 - i % 32768]
                   : kind == 2                             ? (uint8_t)('a' + r % 26 * (r >> 7 & 1))
                                                           : 0;
    }
}

static size_t pack(const uint8_t *bytes, size_t size, int level, int strategy, uint8_t *packed)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, strategy), Z_OK);
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = ROOM;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return stream.total_out;
}

typedef struct buffers {
    uint8_t bytes[MOST], packed[ROOM], own[MOST], other[MOST];
} buffers;

static void every_kind_of_block(void **state)
{
    static const int levels[] = {0, 1, 6, 9};
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    static const size_t sizes[] = {0, 1, 2, 257, 258, 259, 4096, 65535, 65536, MOST};
    (void)state;
    buffers *b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (unsigned i = 0; i < 4 * 4 * 4 * 10; i++) {
        const size_t size = sizes[i % 10];
        make_bytes(b->bytes, size, i / 10 % 4);
        const size_t packed = pack(b->bytes, size, levels[i / 40 % 4], strategies[i / 160], b->packed);
        memset(b->own, 0xa5, sizeof b->own);
        assert_int_equal(own_inflate(NULL, b->packed, packed, b->own, size), TAPER_OK);
        assert_memory_equal(b->own, b->bytes, size);
        // Buffers that are shorter or longer than the data must be refused, and no byte after the end may be written.
        if (size > 0) {
            memset(b->own, 0xa5, sizeof b->own);
            assert_int_equal(own_inflate(NULL, b->packed, packed, b->own, size - 1), TAPER_ERROR_FILE);
            assert_int_equal(b->own[size - 1], 0xa5);
        }
        if (size < MOST) {
            assert_int_equal(own_inflate(NULL, b->packed, packed, b->own, size + 1), TAPER_ERROR_FILE);
        }
        assert_int_equal(own_inflate(NULL, b->packed, packed - 1, b->own, size), TAPER_ERROR_FILE);
    }
    free(b);
}

static void broken_streams(void **state)
{
    (void)state;
    buffers *b = calloc(1, sizeof *b);
    assert_non_null(b);
    unsigned read = 0;
    for (unsigned i = 0; i < 30000; i++) {
        const size_t size = 1 + next_random() % 600;
        make_bytes(b->bytes, size, i % 4);
        size_t packed = pack(b->bytes, size, i % 3 == 0 ? 0 : 9, i % 2 == 0 ? Z_FIXED : Z_DEFAULT_STRATEGY, b->packed);
        if (i % 5 == 0) { // random bytes after the bits that begin a block with dynamic Huffman codes
            packed = 200;
            make_bytes(b->packed, packed, 0);
            b->packed[0] = (uint8_t)((b->packed[0] & 0xf8) | 5);
        } else {
            for (unsigned k = next_random() % 3 + 1; k > 0; k--) {
                b->packed[next_random() % packed] ^= (uint8_t)(1u << next_random() % 8);
            }
        }
        memset(b->own, 0, size);
        memset(b->other, 0, size);
        const taper_status own = own_inflate(NULL, b->packed, packed, b->own, size);
        const taper_status other = taper_inflate(&taper_allocator_system, b->packed, packed, b->other, size);
        assert_int_equal(own, other);
        if (own == TAPER_OK) {
            assert_memory_equal(b->own, b->other, size);
            read++;
        }
    }
    assert_true(read > 1000);
    free(b);
}

static void checksums(void **state)
{
    (void)state;
    buffers *b = calloc(1, sizeof *b);
    assert_non_null(b);
    make_bytes(b->bytes, MOST, 0);
    for (size_t size = 0; size < 300; size++) {
        assert_int_equal(own_crc32_plain((uint32_t)size * 77, b->bytes + size, size),
                         crc32_z(size * 77, b->bytes + size, size));
    }
    assert_int_equal(own_crc32_plain(0, b->bytes, MOST), crc32_z(0, b->bytes, MOST));
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_block),
        cmocka_unit_test(broken_streams),
        cmocka_unit_test(checksums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
