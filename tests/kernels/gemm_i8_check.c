// SPDX-License-Identifier: BSD-2-Clause
// Checks quantized matrix products: every kernel must be bit-exact with sums in 64 bits, for all rows, remainders of
// columns and depth, taps, extreme numbers, and scales whose products are ties or exceed 32 bits.
#include <math.h>
#include <string.h>

#include "check.h"
#include "ops/kernels/kernel_select.h"

typedef struct problem {
    size_t mr, nc, kc, ks, offset;
    size_t step; // number of bytes between the windows of two rows; 0 if each row of a tap has a pointer of its own
    const uint8_t **pointers;
    size_t tap_stride;
    const int8_t *weights;
    const int32_t *bias;
    taper_i8_epilogue e;
} problem;

static int32_t expected_sum(const problem *p, size_t i, size_t n, uint32_t shift)
{
    int64_t sum = p->bias[n];
    for (size_t t = 0; t < p->ks; t++) {
        const uint8_t *x =
            (p->step != 0 ? p->pointers[t] + i * p->step : p->pointers[t * p->tap_stride + i]) + p->offset;
        for (size_t k = 0; k < p->kc; k++)
            sum += ((int64_t)x[k] - shift) * p->weights[(n * p->kc + k) * p->ks + t];
    }
    return (int32_t)(uint32_t)(uint64_t)sum;
}

static void fill_bytes(void *to, size_t count, bool extreme)
{
    static const uint8_t ends[] = {0, 255, 128, 127, 1, 129};
    uint8_t *p = to;
    for (size_t i = 0; i < count; i++)
        p[i] = extreme && check_below(4) != 0 ? ends[check_below(sizeof ends)] : (uint8_t)check_random();
}

// Fills inputs like those of layers: one of `highs` inputs is above 127, or none if `highs` is 0. Most weights keep the
// sums of products within 16 bits.
static void fill_inputs(uint8_t *p, size_t count, size_t highs)
{
    for (size_t i = 0; i < count; i++)
        p[i] = (uint8_t)(check_below(128) + (highs != 0 && check_below(highs) == 0 ? 128 : 0));
}

static void fill_weights(int8_t *p, size_t count, size_t most)
{
    for (size_t i = 0; i < count; i++) {
        const int value = (int)check_below(2 * most + 1) - (int)most;
        p[i] = (int8_t)(check_below(40) == 0 ? (int)(int8_t)check_random() : value);
    }
}

// Fills `a` with the largest inputs of seven or eight bits, and `weights` with numbers of one sign whose sums of two or
// four products nearly reach the limit of 16 bits.
static void fill_to_the_brim(uint8_t *a, size_t inputs, int8_t *weights, size_t count)
{
    static const int middle[] = {32, 64, -32, -64};
    const int about = middle[check_below(4)];
    memset(a, check_below(2) ? 127 : 255, inputs);
    for (size_t i = 0; i < count; i++)
        weights[i] = (int8_t)(about - 3 + (int)check_below(7));
}

static float random_scale(size_t kind)
{
    return kind == 0   ? ldexpf(1.0f, -1 - (int)check_below(16)) // powers of two make ties in rounding
           : kind == 1 ? check_uniform(1e-5f, 1e-2f)
           : kind == 2 ? ldexpf(check_uniform(1.0f, 2.0f), -1 - (int)check_below(120))
                       : check_uniform(0.5f, 0.99999994f);
}

// Checks one problem. many: true to use the kernel's function for many rows. Returns false if that function does not
// support the problem.
static bool one_of(const taper_gemm_i8_entry *entry, size_t mr, size_t nc, size_t kc, size_t ks, size_t step, bool many)
{
    const check_place place = check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL;
    const bool extreme = check_below(3) == 0, floats = !many && check_below(4) == 0;
    bool done = true;
    const size_t whole = (nc + entry->nr - 1) / entry->nr * entry->nr, rows = step != 0 ? ks : mr * ks;
    problem p = {.mr = mr, .nc = nc, .kc = kc, .ks = ks, .offset = check_below(2) ? check_below(20) : 0, .step = step};
    const size_t reach = kc + (mr - 1) * step, stride = reach + (check_below(2) ? check_below(9) : 0);
    const size_t image = (rows - 1) * stride + reach + p.offset;
    uint8_t *a = check_bytes(image, place, entry->over_read);
    int8_t *weights = check_bytes(nc * kc * ks, CHECK_TAIL, 0);
    fill_bytes(a, image, extreme);
    fill_bytes(weights, nc * kc * ks, extreme);
    static const size_t highs[] = {0, 0, 200, 60, 20, 5};
    if (check_below(2))
        fill_inputs(a, image, highs[check_below(sizeof highs / sizeof *highs)]);
    if (check_below(2))
        fill_weights(weights, nc * kc * ks, 10 + check_below(80));
    if (check_below(6) == 0)
        fill_to_the_brim(a, image, weights, nc * kc * ks);
    p.weights = weights;
    p.tap_stride = mr + check_below(3);
    const bool even = many || (step == 0 && ks == 1 && check_below(2));
    p.pointers = check_bytes(((ks - 1) * p.tap_stride + mr) * sizeof *p.pointers, CHECK_TAIL, 0);
    for (size_t t = 0; t < ks; t++) {
        for (size_t i = 0; i < mr && step == 0; i++)
            p.pointers[t * p.tap_stride + i] = a + (even ? i : rows - 1 - (t * mr + i)) * stride;
        if (step != 0)
            p.pointers[t] = a + (rows - 1 - t) * stride;
    }
    int32_t *bias = check_bytes(whole * sizeof *bias, CHECK_TAIL, 0);
    float *scale = check_floats(whole, CHECK_TAIL, 0), *shift = check_floats(whole, CHECK_TAIL, 0);
    const size_t kind = check_below(4);
    for (size_t n = 0; n < whole; n++) {
        bias[n] = (int32_t)(check_below(8) == 0 ? check_random() : check_random() % 4096 - 2048);
        scale[n] = random_scale(kind);
        shift[n] = check_uniform(-3, 3);
    }
    p.bias = bias;
    p.e = (taper_i8_epilogue){.bias = bias, .scale = scale, .floor = -INFINITY};
    p.e.zero_point = check_below(3) == 0 ? 0 : (int32_t)check_below(256);
    p.e.min = check_below(2) ? p.e.zero_point : 0;
    if (floats) {
        p.e.shift = shift;
        p.e.floor = check_below(2) ? 0 : -INFINITY;
    }
    const taper_gemm_i8_pack pack = {nc, ks, kc, kc * ks, 1, ks, check_below(2), 0, 0, weights};
    int8_t *packed = check_bytes(taper_gemm_i8_packed_bytes(entry, nc, ks, kc), CHECK_TAIL, 0);
    int32_t *sums = check_bytes(whole * sizeof *sums, CHECK_TAIL, 0);
    taper_gemm_i8_pack_weights(entry, &pack, packed, sums);
    const size_t n_sum = check_below(nc);
    int32_t want_sum = 0;
    for (size_t k = 0; k < kc * ks; k++)
        want_sum += weights[n_sum * kc * ks + k];
    check_that(sums[n_sum] == want_sum, "sum of column %zu is %d, not %d", n_sum, sums[n_sum], want_sum);

    const size_t c_stride = nc + (check_below(2) ? check_below(9) : 0), c_count = (mr - 1) * c_stride + nc;
    const size_t each = floats ? sizeof(float) : 1;
    uint8_t *c = check_bytes(c_count * each, place, 0);
    memset(c, 0x5A, c_count * each);
    float mark;
    memset(&mark, 0x5A, sizeof mark);
    const taper_gemm_i8 job = {.mr = mr,
                               .nc = nc,
                               .kc = kc,
                               .ks = ks,
                               .a = p.pointers,
                               .a_tap_stride = p.tap_stride,
                               .a_offset = p.offset,
                               .a_step = even ? stride : 0,
                               .w = packed,
                               .c = c,
                               .c_stride = c_stride,
                               .e = p.e};
    if (step != 0) {
        entry->windows(&job, step);
    } else if (many) {
        done = entry->rows(&job);
    } else {
        entry->run(&job);
    }
    for (size_t i = 0; i < c_count * each && !done; i++)
        check_that(c[i] == 0x5A, "rows %zu nc %zu kc %zu are left, but result %zu is not", mr, nc, kc, i);
    for (size_t i = 0; i < mr && done && !check_failed(); i++) {
        for (size_t n = 0; n < c_stride && i * c_stride + n < c_count; n++) {
            const size_t at = i * c_stride + n;
            const int32_t sum = n < nc ? expected_sum(&p, i, n, entry->shift) : 0;
            if (floats) {
                const float got = ((float *)(void *)c)[at];
                const float scaled = (float)sum * scale[n < nc ? n : 0];
                const float y = scaled + shift[n < nc ? n : 0];
                const float want = n >= nc ? mark : y < p.e.floor ? p.e.floor : y;
                check_that(got == want, "floats, mr %zu nc %zu kc %zu ks %zu: (%zu, %zu) is %a, not %a", mr, nc, kc, ks,
                           i, n, (double)got, (double)want);
            } else {
                const uint8_t want = n < nc ? check_requantized(sum, scale[n], &p.e) : 0x5A;
                check_that(c[at] == want, "mr %zu nc %zu kc %zu ks %zu: (%zu, %zu) is %d, not %d (sum %d)", mr, nc, kc,
                           ks, i, n, c[at], want, sum);
            }
        }
    }
    check_memory_reset();
    return done;
}

static void one(const taper_gemm_i8_entry *entry, size_t mr, size_t nc, size_t kc, size_t ks)
{
    (void)one_of(entry, mr, nc, kc, ks, 0, false);
}

// Checks any number of rows: whole tiles, one row more or less, and more rows than are computed in one pass.
static void many_rows(const taper_gemm_i8_entry *entry)
{
    size_t done = 0, tried = 0;
    for (size_t mr = 1; mr < 90; mr++) {
        for (size_t nc = 1; nc <= 3 * entry->nr;
             nc += nc % entry->nr == 0 ? entry->nr / 2 : 1 + check_below(7), tried++)
            done += one_of(entry, mr, nc, 1 + check_below(check_below(4) == 0 ? 600 : 50), 1, 0, true);
    }
    for (size_t kc = 1; kc < 70; kc++, tried++)
        done += one_of(entry, 350 + check_below(200), (1 + check_below(3)) * entry->nr, kc, 1, 0, true);
    // AMX uses VNNI's function for many rows, and a library may be built without VNNI.
    check_that(done > tried / 4 || (done == 0 && entry->cpu == TAPER_ISA_amx), "%zu of %zu jobs of many rows were made",
               done, tried);
}

void check_gemm_i8(bool benchmark)
{
    for (size_t x = 0; taper_gemm_i8_entry_at(x) != NULL && !benchmark; x++) {
        const taper_gemm_i8_entry *entry = taper_gemm_i8_entry_at(x);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin("gemm_i8", entry->name);
        for (size_t mr = 1; mr <= entry->mr; mr++) {
            for (size_t nc = 1; nc <= 2 * entry->nr + 3; nc += nc < entry->nr + 2 ? 1 : 5) {
                one(entry, mr, nc, 1 + check_below(20), 1);
                one(entry, mr, nc, 1 + check_below(20), 1 + check_below(9));
            }
            for (size_t kc = 1; kc < 40; kc++) {
                one(entry, mr, 1 + check_below(3 * entry->nr), kc, 1);
                one(entry, mr, 1 + check_below(3 * entry->nr), kc, 1 + check_below(4));
            }
        }
        for (size_t m = entry->mr; entry->windows != NULL && m <= 3 * entry->mr + 1; m++) {
            for (size_t nc = 1; nc <= 2 * entry->nr + 3; nc += nc < entry->nr + 2 ? 1 : 5)
                (void)one_of(entry, m, nc, 1 + check_below(11), 1 + check_below(24), 4 + 4 * check_below(2), false);
        }
        if (entry->rows != NULL)
            many_rows(entry);
        one(entry, entry->mr, 2 * entry->nr, 1000, 1);
        for (size_t i = 0; i < 200; i++)
            one(entry, 1 + check_below(entry->mr), 1 + check_below(9 * entry->nr), 1 + check_below(600), 1);
        // Sizes around the borders of tiles of 64 bytes.
        for (size_t kc = 40; kc < 200; kc++) {
            one(entry, 1 + check_below(entry->mr), 1 + check_below(3 * entry->nr), kc, 1);
            one(entry, entry->mr, 1 + check_below(3 * entry->nr), kc, 1 + check_below(9));
        }
        // Tests depths beyond the depth that kernels reorder at once, and enough columns to reorder more than once.
        one(entry, entry->mr, 7 * entry->nr + 5, 700 + check_below(40), 2);
        one(entry, 1 + check_below(entry->mr), 13 * entry->nr - 1, 2500 + check_below(40), 1);
        for (size_t mr = 1; mr <= entry->mr; mr++) {
            one(entry, mr, entry->nr + 3, 5000 + check_below(40), 1);
            one(entry, mr, entry->nr + 3, 1500 + check_below(40), 3);
        }
    }
}
