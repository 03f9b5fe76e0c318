// SPDX-License-Identifier: BSD-2-Clause
// Reads the elements of a line as keys and positions, and sorts or selects them (sort_order.h).
#include "ops/engine/sort_order.h"

#include "base/checked.h"

static size_t whole_log2(size_t n)
{
    size_t bits = 0;
    while (n > 1) {
        n /= 2;
        bits++;
    }
    return bits;
}

static unsigned lowest_bit(uint64_t word)
{
    unsigned bit = 0;
    while (word != 0 && (word >> bit & 1) == 0) {
        bit++;
    }
    return bit;
}

// Returns the number of bits of a radix digit for n entries. A pass of the sort takes about n steps, plus one step for
// each value that the digit can have. So long digits, of up to DIGIT_MOST bits, pay only if n is large. Up to FEW
// entries are sorted by insertion, up to MERGED entries by merging sorted runs of at most RUN entries.
enum { DIGIT_MOST = 11, FEW = 40, MERGED = 160, RUN = 16 };
static unsigned digit_bits(size_t n)
{
    return n < 256 ? 6 : n < 4096 ? 8 : DIGIT_MOST;
}

#define ENTRY taper_sort_entry
#define KEY(entry) ((uint64_t)(entry).key ^ (uint64_t)1 << 63)
#define AT(entry) ((size_t)(entry).at)
#define BEFORE(a, b) ((a).key < (b).key)
#define NAME(function) function##_wide
#include "ops/engine/sort_order.inc"
#undef ENTRY
#undef KEY
#undef AT
#undef BEFORE
#undef NAME
taper_status taper_sort_open(taper_sort_line *line, taper_run *run, size_t most)
{
    line->run = run;
    line->n = 0;
    line->most = most;
    if (!taper_mul_size(most, 2 * sizeof(taper_sort_entry), &line->bytes)) {
        return taper_fail_memory(run->error);
    }
    line->block = line->bytes == 0 ? NULL : taper_heap_alloc(run->heap, line->bytes);
    if (line->block == NULL && line->bytes != 0) {
        return taper_fail_memory(run->error);
    }
    return TAPER_OK;
}

void taper_sort_close(taper_sort_line *line)
{
    if (line->bytes != 0) {
        taper_heap_free(line->run->heap, line->block, line->bytes);
    }
}

// ---- reading a line

enum { BLOCK = TAPER_EW_BLOCK_BYTES / 16, WORK = 5 };

static void begin_line(taper_sort_line *line, size_t n, bool narrow)
{
    line->n = n;
    line->narrow = narrow;
    line->entries = line->block;
    line->spare = line->block == NULL ? NULL : (taper_sort_entry *)line->block + line->most;
}

#include "ops/engine/sort_narrow.h"

static void wide_integers(taper_sort_entry *to, const int64_t *x, size_t at, size_t n, int64_t flip)
{
    for (size_t k = 0; k < n; k++) {
        to[k] = (taper_sort_entry){x[k] ^ flip, (int64_t)(at + k)};
    }
}

// Reads a line as narrow entries if `narrow` is set, otherwise as wide entries. *fits is false, and the line is not
// read, if an integer does not fit into a narrow entry.
static taper_status read_as(taper_sort_line *line, taper_dtype dtype, const char *from, int64_t step, size_t n,
                            bool down, size_t first, bool narrow, bool *fits)
{
    const taper_ew_class own = taper_ew_class_of(dtype);
    const bool single = SORTS_NARROW && own == TAPER_EW_F32;
    line->floats = own == TAPER_EW_F32 || own == TAPER_EW_F64;
    const taper_ew_class class_ = single ? TAPER_EW_F32 : line->floats ? TAPER_EW_F64 : TAPER_EW_I64;
    narrow = narrow && (single || class_ == TAPER_EW_I64) && n <= UINT32_MAX;
    *fits = true;
    begin_line(line, n, narrow);
    size_t m = first == 0 ? BLOCK : taper_min_size(BLOCK, first);
    for (size_t at = 0; at < n; at += m, m = at < first ? taper_min_size(BLOCK, first - at) : BLOCK) {
        m = taper_min_size(m, n - at);
        TAPER_TRY(taper_run_spend(line->run, m * WORK));
        const char *const source = from + (int64_t)at * step;
        const void *x = source;
        if (!taper_ew_is_native(dtype, class_) || step != (int64_t)taper_ew_class_size(class_)) {
            taper_ew_load(dtype, class_, &line->elements, source, step, m, &line->temp);
            x = &line->elements;
        }
        if (narrow) {
            if (!read_narrow(line, x, m, at, single, down, first)) {
                *fits = false;
                return TAPER_OK;
            }
            continue;
        }
        taper_sort_entry *const to = (taper_sort_entry *)line->entries + at;
        if (!line->floats) {
            wide_integers(to, x, at, m, down ? -1 : 0);
            continue;
        }
        for (size_t k = 0; k < m; k++) {
            const int64_t key = taper_key_of_f64(single ? (double)((const float *)x)[k] : ((const double *)x)[k]);
            to[k] = (taper_sort_entry){down ? ~key : key, (int64_t)(at + k)};
        }
    }
    return TAPER_OK;
}

static taper_status read_line(taper_sort_line *line, taper_dtype dtype, const char *from, int64_t step, size_t n,
                              bool down, size_t first)
{
    bool fits;
    TAPER_TRY(read_as(line, dtype, from, step, n, down, first, SORTS_NARROW, &fits));
    return fits ? TAPER_OK : read_as(line, dtype, from, step, n, down, first, false, &fits);
}

taper_status taper_sort_read(taper_sort_line *line, taper_dtype dtype, const void *from, int64_t step, size_t n,
                             bool down)
{
    return read_line(line, dtype, from, step, n, down, 0);
}

taper_status taper_sort_read_first(taper_sort_line *line, taper_dtype dtype, const void *from, int64_t step, size_t n,
                                   bool down, size_t count)
{
    TAPER_TRY(read_line(line, dtype, from, step, n, down, count));
    if (line->narrow) {
        sort_heap(line, count);
        return TAPER_OK;
    }
    first_wide(line->run, line->entries, n, count);
    return TAPER_OK;
}

// ---- reading the entries of a line

bool taper_sort_same(const taper_sort_line *line, size_t i, size_t j)
{
    return line->narrow
               ? (((const uint64_t *)line->entries)[i] ^ ((const uint64_t *)line->entries)[j]) >> 32 == 0
               : ((const taper_sort_entry *)line->entries)[i].key == ((const taper_sort_entry *)line->entries)[j].key;
}

bool taper_sort_is_nan(const taper_sort_line *line, size_t i)
{
    return line->floats && (line->narrow ? ((const uint64_t *)line->entries)[i] >> 32 == UINT32_MAX
                                         : ((const taper_sort_entry *)line->entries)[i].key == INT64_MAX);
}

// ---- sorting and selecting

static void use(taper_sort_line *line, void *sorted)
{
    if (sorted != line->entries) {
        line->spare = line->entries;
        line->entries = sorted;
    }
}

void taper_sort_stably(taper_sort_line *line)
{
    use(line, BY_WIDTH(stable, line->spare, line->n));
}

void taper_sort_all(taper_sort_line *line, size_t n)
{
    if (n == line->n && n > FEW) {
        use(line, BY_WIDTH(whole, line->spare, n));
    } else {
        BY_WIDTH(all, n);
    }
}

void taper_sort_nth(taper_sort_line *line, size_t nth)
{
    BY_WIDTH(nth, line->n, nth);
}

void taper_sort_kth(taper_sort_line *line, size_t k)
{
    BY_WIDTH(kth, line->n, k);
}

int64_t taper_sort_pick(taper_sort_line *line, size_t k)
{
    return (int64_t)BY_WIDTH(pick, line->n, k);
}
