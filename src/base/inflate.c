// SPDX-License-Identifier: BSD-2-Clause
// Implements inflate.h without zlib. A deflate stream consists of blocks. A block contains stored bytes, or symbols in
// Huffman codes, which are fixed or precede the symbols. Symbols up to 255 are bytes and 256 ends the block. The other
// symbols are lengths, and a distance follows each of them: copy that many bytes from that distance back. A Huffman
// code is defined by the lengths of its code words. Words of one length are consecutive numbers in the order of their
// symbols. The first word of the next length is the number after the last word, times two.
#include "base/inflate.h"

#include <string.h>

enum { WORD = 15, FAST = 9, LITERALS = 288, DISTANCES = 30, END = 256, LENGTHS = 19, MOST_LITERALS = 286 };

// The next bits of the stream; the lowest bit of `held` is the next one.
typedef struct bits {
    const uint8_t *at, *end;
    uint64_t held;
    unsigned count;
} bits;

typedef struct code {
    // Table indexed by the next FAST bits. An entry is symbol * 16 + length of its code word, or 0 if the word is
    // longer or invalid.
    uint16_t fast[1 << FAST];
    uint16_t count[WORD + 1]; // number of code words of each length
    uint16_t symbols[LITERALS];
} code;

static void fill(bits *b)
{
    for (; b->count <= 56 && b->at < b->end; b->count += 8) {
        b->held |= (uint64_t)*b->at++ << b->count;
    }
}

// Returns the next n bits (at most 16) as a number. *ok becomes false if the stream ends before them.
static unsigned take(bits *b, unsigned n, bool *ok)
{
    fill(b);
    if (b->count < n) {
        *ok = false;
        return 0;
    }
    const unsigned value = (unsigned)(b->held & ((1u << n) - 1));
    b->held >>= n;
    b->count -= n;
    return value;
}

static unsigned mirror(unsigned word, unsigned length)
{
    unsigned mirrored = 0;
    for (; length > 0; length--, word >>= 1) {
        mirrored = mirrored << 1 | (word & 1);
    }
    return mirrored;
}

// Makes the decoding table. Returns false if the code has too many words or too few. If `lone` is true, a code with a
// single word of one bit is allowed. A code without words is always allowed; it fails later if the stream uses it.
static bool make_code(code *c, const uint8_t *lengths, size_t count, bool lone)
{
    uint16_t place[WORD + 2] = {0};
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < count; i++) {
        c->count[lengths[i]]++;
    }
    const bool none = c->count[0] == count;
    c->count[0] = 0;
    int left = 1; // number of bit patterns of this length that do not begin with a code word
    for (size_t i = 1; i <= WORD; i++) {
        left = 2 * left - (int)c->count[i];
        if (left < 0) {
            return false;
        }
        place[i + 1] = (uint16_t)(place[i] + c->count[i]);
    }
    if (left > 0 && !none && !(lone && place[2] == 1 && place[WORD + 1] == 1)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (lengths[i] != 0) {
            c->symbols[place[lengths[i]]++] = (uint16_t)i;
        }
    }
    unsigned word = 0;
    const uint16_t *symbol = c->symbols;
    for (unsigned length = 1; length <= FAST; length++, word <<= 1) {
        for (unsigned i = 0; i < c->count[length]; i++, word++, symbol++) {
            for (size_t k = mirror(word, length); k < sizeof c->fast / sizeof *c->fast; k += (size_t)1 << length) {
                c->fast[k] = (uint16_t)((unsigned)*symbol << 4 | length);
            }
        }
    }
    return true;
}

static unsigned next_symbol(bits *b, const code *c, bool *ok)
{
    fill(b);
    const unsigned entry = c->fast[b->held & ((1u << FAST) - 1)];
    unsigned length = entry & 15;
    if (length != 0 && length <= b->count) {
        b->held >>= length;
        b->count -= length;
        return entry >> 4;
    }
    unsigned word = 0, first = 0; // word read so far, and first word of this length
    const uint16_t *symbols = c->symbols;
    for (length = 1; length <= WORD && length <= b->count; length++) {
        word |= (unsigned)(b->held >> (length - 1) & 1);
        if (word - first < c->count[length]) {
            b->held >>= length;
            b->count -= length;
            return symbols[word - first];
        }
        symbols += c->count[length];
        first = (first + c->count[length]) << 1;
        word <<= 1;
    }
    *ok = false;
    return END;
}

// Reads the two codes that precede a block. The lengths of their words are themselves coded by a third code.
static bool read_codes(bits *b, code *literals, code *distances)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[MOST_LITERALS + DISTANCES] = {0};
    bool ok = true;
    const unsigned literal_count = take(b, 5, &ok) + 257, distance_count = take(b, 5, &ok) + 1;
    const unsigned order_count = take(b, 4, &ok) + 4;
    if (!ok || literal_count > MOST_LITERALS || distance_count > DISTANCES) {
        return false;
    }
    for (unsigned i = 0; i < order_count; i++) {
        lengths[order[i]] = (uint8_t)take(b, 3, &ok);
    }
    if (!make_code(literals, lengths, LENGTHS, false)) {
        return false;
    }
    memset(lengths, 0, sizeof lengths);
    for (unsigned at = 0; ok && at < literal_count + distance_count;) {
        const unsigned symbol = next_symbol(b, literals, &ok);
        if (symbol < 16) {
            lengths[at++] = (uint8_t)symbol;
            continue;
        }
        // Symbol 16 repeats the last length 3 to 6 times. Symbol 17 stands for 3 to 10 lengths of 0, and symbol 18 for
        // 11 to 138 lengths of 0.
        const unsigned times = symbol == 16   ? 3 + take(b, 2, &ok)
                               : symbol == 17 ? 3 + take(b, 3, &ok)
                                              : 11 + take(b, 7, &ok);
        if (!ok || times > literal_count + distance_count - at || (symbol == 16 && at == 0)) {
            return false;
        }
        memset(lengths + at, symbol == 16 ? lengths[at - 1] : 0, times);
        at += times;
    }
    return ok && lengths[END] != 0 && make_code(literals, lengths, literal_count, true) &&
           make_code(distances, lengths + literal_count, distance_count, true);
}

static bool make_fixed_codes(code *literals, code *distances)
{
    uint8_t lengths[LITERALS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    bool ok = make_code(literals, lengths, LITERALS, false);
    memset(lengths, 5, 32); // 32 distances, although the fixed code never uses the last two
    ok = ok && make_code(distances, lengths, 32, false);
    return ok;
}

// Returns the base of a length or a distance plus its extra bits. The number of extra bits grows by one after every
// `group` numbers: four for lengths, two for distances.
static unsigned with_extra(bits *b, unsigned number, unsigned group, bool *ok)
{
    const unsigned extra = number < 2 * group ? 0 : number / group - 1;
    return (extra == 0 ? number : (group + number % group) << extra) + take(b, extra, ok);
}

static bool read_symbols(bits *b, const code *literals, const code *distances, uint8_t *to, uint64_t *done,
                         uint64_t size)
{
    enum { LONGEST = 258, LONGEST_NUMBER = 28 };
    for (bool ok = true; ok;) {
        const unsigned symbol = next_symbol(b, literals, &ok);
        if (symbol == END) {
            return ok;
        }
        if (symbol < END) {
            if (*done == size) {
                return false;
            }
            to[(*done)++] = (uint8_t)symbol;
            continue;
        }
        const unsigned number = symbol - END - 1;
        if (number > LONGEST_NUMBER) {
            return false;
        }
        const unsigned length = number == LONGEST_NUMBER ? LONGEST : 3 + with_extra(b, number, 4, &ok);
        const unsigned far = next_symbol(b, distances, &ok);
        if (!ok || far >= DISTANCES) {
            return false;
        }
        const unsigned distance = 1 + with_extra(b, far, 2, &ok);
        if (distance > *done || length > size - *done) {
            return false;
        }
        // Copies byte by byte, because the source may include bytes that this loop has just written.
        for (unsigned i = 0; i < length; i++) {
            to[*done + i] = to[*done + i - distance];
        }
        *done += length;
    }
    return false;
}

static bool read_stored(bits *b, uint8_t *to, uint64_t *done, uint64_t size)
{
    bool ok = true;
    (void)take(b, b->count % 8, &ok);
    const unsigned length = take(b, 16, &ok);
    if ((take(b, 16, &ok) ^ length) != 0xffff || !ok || length > size - *done) {
        return false;
    }
    b->at -= b->count / 8; // puts back the whole bytes that were read too early
    b->held = 0;
    b->count = 0;
    if (length > (size_t)(b->end - b->at)) {
        return false;
    }
    memcpy(to + *done, b->at, length);
    b->at += length;
    *done += length;
    return true;
}

taper_status taper_inflate(const taper_allocator *allocator, const uint8_t *packed, uint64_t packed_size, uint8_t *to,
                           uint64_t size)
{
    enum { STORED, FIXED, OWN };
    (void)allocator;
    bits b = {packed, packed + packed_size, 0, 0};
    code literals, distances;
    uint64_t done = 0;
    bool ok = true, last = false;
    while (ok && !last) {
        last = take(&b, 1, &ok) != 0;
        const unsigned kind = take(&b, 2, &ok);
        if (!ok) {
            break;
        }
        if (kind == STORED) {
            ok = read_stored(&b, to, &done, size);
        } else {
            ok = (kind == FIXED ? make_fixed_codes(&literals, &distances)
                                : kind == OWN && read_codes(&b, &literals, &distances)) &&
                 read_symbols(&b, &literals, &distances, to, &done, size);
        }
    }
    return ok && last && done == size ? TAPER_OK : TAPER_ERROR_FILE;
}
