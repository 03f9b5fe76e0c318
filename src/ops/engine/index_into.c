// SPDX-License-Identifier: BSD-2-Clause
// Combines elements of a source with elements of a destination by index, reads index tensors, and walks over several
// tensors.
#include "ops/engine/index_into.h"

#include "ir/tensor.h"
#include "ops/call/promote.h"
#include "ops/engine/mask_rows.h"
#include "ops/kernels/kernel_select.h"

#include <math.h>

#include "base/half.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern int64_t taper_index_at(const taper_tensor *index, int64_t at);
extern void taper_index_walk_next(taper_index_walk *walk);

// Defines one loop for a dtype and an operation. The arithmetic is done in U, which is unsigned for integers so that it
// wraps around.
#define LOOP(name, T, expression)                                                                                      \
    static void name(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count)                    \
    {                                                                                                                  \
        char *t = to;                                                                                                  \
        const char *f = from;                                                                                          \
        for (int64_t i = 0; i < count; i++, t += to_step, f += from_step) {                                            \
            T a, b;                                                                                                    \
            memcpy(&a, t, sizeof a);                                                                                   \
            memcpy(&b, f, sizeof b);                                                                                   \
            a = (T)(expression);                                                                                       \
            memcpy(t, &a, sizeof a);                                                                                   \
        }                                                                                                              \
    }

#define INTEGER(s, T)                                                                                                  \
    LOOP(add_##s, T, (uint64_t)a + (uint64_t)b)                                                                        \
    LOOP(multiply_##s, T, (uint64_t)a *(uint64_t)b)                                                                    \
    LOOP(maximum_##s, T, a > b ? a : b)                                                                                \
    LOOP(minimum_##s, T, a < b ? a : b)
INTEGER(u8, uint8_t)
INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)

#define FLOATING(s, T)                                                                                                 \
    LOOP(add_##s, T, a + b)                                                                                            \
    LOOP(multiply_##s, T, a *b)                                                                                        \
    LOOP(maximum_##s, T, isnan(a) ? a : (a > b ? a : b))                                                               \
    LOOP(minimum_##s, T, isnan(a) ? a : (a < b ? a : b))
FLOATING(f32, float)
FLOATING(f64, double)

#define HALF(s, load, store)                                                                                           \
    LOOP(add_##s, uint16_t, store(load(a) + load(b)))                                                                  \
    LOOP(multiply_##s, uint16_t, store(load(a) * load(b)))                                                             \
    LOOP(maximum_##s, uint16_t, isnan(load(a)) || load(a) > load(b) ? a : b)                                           \
    LOOP(minimum_##s, uint16_t, isnan(load(a)) || load(a) < load(b) ? a : b)
HALF(f16, taper_f16_to_float, taper_float_to_f16)
HALF(bf16, taper_bf16_to_float, taper_float_to_bf16)

LOOP(add_bool, uint8_t, (a | b) != 0)
LOOP(multiply_bool, uint8_t, a != 0 && b != 0)

LOOP(set_8, uint8_t, b)
LOOP(set_16, uint16_t, b)
LOOP(set_32, uint32_t, b)
LOOP(set_64, uint64_t, b)

#define COMPLEX(s, T)                                                                                                  \
    typedef struct s##_pair {                                                                                          \
        T re, im;                                                                                                      \
    } s##_pair;                                                                                                        \
    static s##_pair sum_##s(s##_pair a, s##_pair b)                                                                    \
    {                                                                                                                  \
        return (s##_pair){a.re + b.re, a.im + b.im};                                                                   \
    }                                                                                                                  \
    static s##_pair product_##s(s##_pair a, s##_pair b)                                                                \
    {                                                                                                                  \
        return (s##_pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                                       \
    }
COMPLEX(c64, float)
COMPLEX(c128, double)

#define PAIRS(name, T, expression)                                                                                     \
    static void name(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count)                    \
    {                                                                                                                  \
        char *t = to;                                                                                                  \
        const char *f = from;                                                                                          \
        for (int64_t i = 0; i < count; i++, t += to_step, f += from_step) {                                            \
            T a, b;                                                                                                    \
            memcpy(&a, t, sizeof a);                                                                                   \
            memcpy(&b, f, sizeof b);                                                                                   \
            a = expression;                                                                                            \
            memcpy(t, &a, sizeof a);                                                                                   \
        }                                                                                                              \
    }
PAIRS(add_c64, c64_pair, sum_c64(a, b))
PAIRS(multiply_c64, c64_pair, product_c64(a, b))
PAIRS(add_c128, c128_pair, sum_c128(a, b))
PAIRS(multiply_c128, c128_pair, product_c128(a, b))

static void set_128(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)to + i * to_step, (const char *)from + i * from_step, 16);
    }
}

taper_into_function taper_into_find(taper_dtype dtype, taper_into operation)
{
    if (operation == TAPER_INTO_SET) {
        switch (taper_dtype_size(dtype)) {
        case 1:
            return set_8;
        case 2:
            return set_16;
        case 4:
            return set_32;
        case 8:
            return set_64;
        case 16:
            return set_128;
        default:
            return NULL;
        }
    }
#define ROW(D, s)                                                                                                      \
    case D:                                                                                                            \
        return operation == TAPER_INTO_ADD        ? add_##s                                                            \
               : operation == TAPER_INTO_MULTIPLY ? multiply_##s                                                       \
               : operation == TAPER_INTO_MAXIMUM  ? maximum_##s                                                        \
                                                  : minimum_##s
    switch (dtype) {
        ROW(TAPER_U8, u8);
        ROW(TAPER_I8, i8);
        ROW(TAPER_I16, i16);
        ROW(TAPER_I32, i32);
        ROW(TAPER_I64, i64);
        ROW(TAPER_F16, f16);
        ROW(TAPER_BF16, bf16);
        ROW(TAPER_F32, f32);
        ROW(TAPER_F64, f64);
    case TAPER_BOOL:
        return operation == TAPER_INTO_ADD || operation == TAPER_INTO_MAXIMUM ? add_bool : multiply_bool;
    case TAPER_C64:
        return operation == TAPER_INTO_ADD ? add_c64 : operation == TAPER_INTO_MULTIPLY ? multiply_c64 : NULL;
    case TAPER_C128:
        return operation == TAPER_INTO_ADD ? add_c128 : operation == TAPER_INTO_MULTIPLY ? multiply_c128 : NULL;
    default:
        return NULL;
    }
#undef ROW
}

taper_status taper_into_get(taper_dtype dtype, taper_into operation, taper_into_function *function, taper_error *error)
{
    *function = taper_into_find(dtype, operation);
    return *function != NULL ? TAPER_OK
                             : taper_fail(error, TAPER_ERROR_UNSUPPORTED, "self: this is not implemented for %s",
                                          taper_dtype_name(dtype));
}

enum { PIECE = 1 << 16, WORK_OF_AN_ELEMENT = 10 };

#include "ops/engine/index_into_vector.h"

static bool sets(taper_into_function function, int64_t item)
{
    return (function == set_32 && item == 4) || (function == set_64 && item == 8) ||
           (function == set_16 && item == 2) || (function == set_8 && item == 1);
}

void taper_into_line(taper_run *run, taper_into_function function, char *to, int64_t to_step, const char *from,
                     int64_t from_step, int64_t length)
{
    for (int64_t at = 0; at < length; at += PIECE) {
        const int64_t piece = taper_min_i64(PIECE, length - at);
        if (!taper_run_goes_on(run, (uint64_t)piece * WORK_OF_AN_ELEMENT)) {
            return;
        }
        if (to_step == from_step &&
            combine_vectors(run, function, to_step, to + at * to_step, from + at * from_step, piece)) {
            continue;
        }
        if (to_step == from_step && sets(function, to_step)) {
            // Source and destination may be the same memory.
            memmove(to + at * to_step, from + at * from_step, (size_t)(piece * to_step));
            continue;
        }
        function(to + at * to_step, to_step, from + at * from_step, from_step, piece);
    }
}

void taper_into_all(taper_run *run, taper_into_function function, taper_tensor *to, const taper_tensor *from)
{
    const int64_t item = (int64_t)taper_tensor_item(to);
    char *t = taper_tensor_mutable(to);
    const char *f = taper_tensor_data(from);
    if (to->rank == 0) {
        function(t, 0, f, 0, 1);
        return;
    }
    // The longest dimension is the inner loop, and a walk covers the other dimensions.
    size_t inner = 0;
    for (size_t d = 1; d < to->rank; d++) {
        inner = to->sizes[d] >= to->sizes[inner] ? d : inner;
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, to->sizes, sizeof sizes);
    const int64_t length = sizes[inner];
    sizes[inner] = length == 0 ? 0 : 1;
    const int64_t to_step = taper_tensor_step(to, inner) * item, from_step = taper_tensor_step(from, inner) * item;
    taper_index_walk walk;
    taper_index_walk_start(&walk, run, to->rank, sizes);
    taper_index_walk_add(&walk, to->strides);
    taper_index_walk_add(&walk, from->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        taper_into_line(run, function, t + walk.walk.at[0] * item, to_step, f + walk.walk.at[1] * item, from_step,
                        length);
    }
}

taper_status taper_check_index(const taper_tensor *index, bool allow_int32, const char *name, taper_error *error)
{
    if (index->dtype == TAPER_I64 || (allow_int32 && index->dtype == TAPER_I32)) {
        return TAPER_OK;
    }
    return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s: Expected dtype %s for index, got %s", name,
                      allow_int32 ? "int32/int64" : "int64", taper_dtype_name((taper_dtype)index->dtype));
}

taper_status taper_check_indices(const taper_tensor *indices, size_t at, const char *argument, const char *function,
                                 taper_error *error)
{
    if (indices->dtype == TAPER_I64 || indices->dtype == TAPER_I32) {
        return TAPER_OK;
    }
    return taper_fail(
        error, TAPER_ERROR_ARGUMENT,
        "Expected tensor for argument #%zu '%s' to have one of the following scalar types: Long, Int; but "
        "got torch.%sTensor instead (while checking arguments for %s)",
        at, argument, taper_dtype_torch_name((taper_dtype)indices->dtype), function);
}

void taper_index_walk_start(taper_index_walk *walk, taper_run *run, size_t rank, const int64_t *sizes)
{
    walk->run = run;
    walk->left = TAPER_WALK_PIECE;
    walk->count = 1;
    taper_walk_begin(&walk->walk, TAPER_WALK_SIDES);
    walk->walk.sides = 0; // taper_index_walk_add adds the tensors (sides); a side that is never added has offset 0
    for (size_t d = rank; d-- > 0;) {
        (void)taper_walk_add(&walk->walk, sizes[d]);
        walk->count = sizes[d] == 0 || walk->count == 0 ? 0 : walk->count * sizes[d];
    }
}

void taper_index_walk_add(taper_index_walk *walk, const int64_t *strides)
{
    taper_walk *const w = &walk->walk;
    for (size_t d = 0; d < w->rank; d++) {
        w->dims[w->rank - 1 - d].steps[w->sides] = w->dims[w->rank - 1 - d].size > 1 ? strides[d] : 0;
    }
    w->at[w->sides++] = 0;
}

void taper_index_walk_charge(taper_index_walk *walk)
{
    walk->left = TAPER_WALK_PIECE;
    if (!taper_run_goes_on(walk->run, TAPER_WALK_PIECE * WORK_OF_AN_ELEMENT)) {
        walk->count = 0;
    }
}

taper_status taper_index_scratch(taper_run *run, int64_t count, taper_tensor **scratch)
{
    return taper_tensor_new(run->heap, TAPER_I64, 1, &count, NULL, scratch, run->error);
}

bool taper_element_is_nonzero(taper_dtype dtype, const void *p)
{
    const unsigned char *bytes = p;
    const size_t item = taper_dtype_size(dtype);
    unsigned char any = 0;
    const bool half_sign = dtype == TAPER_C32 || dtype == TAPER_C64 || dtype == TAPER_C128;
    const bool sign = taper_dtype_is_float(dtype) || half_sign;
    for (size_t i = 0; i < item; i++) {
        // The sign bit is ignored, because -0 is zero.
        const bool top = sign && (i + 1 == item || (half_sign && i + 1 == item / 2));
        any |= top ? (unsigned char)(bytes[i] & 0x7f) : bytes[i];
    }
    return any != 0;
}

static taper_status new_positions(taper_run *run, int64_t found, size_t rank, taper_tensor **positions)
{
    const int64_t sizes[2] = {found, (int64_t)rank};
    const int64_t strides[2] = {1, found}; // the columns are contiguous, as in PyTorch's result
    return taper_tensor_new(run->heap, TAPER_I64, 2, sizes, strides, positions, run->error);
}

#include "ops/engine/index_into_near.h"

// Chooses how many of the last dimensions, at least one, form a piece that is handled together because it has few
// elements. `near` receives the index of each element of the piece in each of these dimensions. Returns the number of
// dimensions; *elements is the number of elements.
static size_t near_places(const taper_tensor *mask, uint8_t (*near)[TAPER_MASK_PIECE], size_t *elements)
{
    const size_t rank = mask->rank;
    size_t first = rank - 1;
    int64_t all = mask->sizes[first];
    take_near(mask, &first, &all);
    *elements = (size_t)all;
    int64_t behind = 1;
    for (size_t d = rank; d-- > first && first + 1 != rank;) {
        for (int64_t k = 0; k < all; k++) {
            near[d][k] = (uint8_t)(k / behind % mask->sizes[d]);
        }
        behind *= mask->sizes[d];
    }
    return rank - first;
}

// Finds the positions in a contiguous mask, in pieces of its last dimensions. *declined is true if the dtype has no
// function in mask_rows.h.
static taper_status nonzero_rows(taper_run *run, const taper_tensor *mask, taper_tensor **positions, bool *declined)
{
    const taper_dtype dtype = (taper_dtype)mask->dtype;
    taper_mask_pick *const pick = taper_mask_pick_find(dtype);
    const size_t rank = mask->rank, all = (size_t)taper_tensor_numel(mask), item = taper_tensor_item(mask);
    *declined = pick == NULL || rank == 0 || !taper_tensor_is_contiguous(mask);
    if (*declined) {
        return TAPER_OK;
    }
    const char *data = taper_tensor_data(mask);
    const int64_t found = (int64_t)taper_mask_count(dtype, data, all);
    TAPER_TRY(taper_run_spend(run, all / 4));
    TAPER_TRY(new_positions(run, found, rank, positions));
    int64_t *const to = taper_tensor_mutable(*positions);
    int64_t place[TAPER_MAX_RANK] = {0}, written = 0;
    uint32_t at[TAPER_MASK_PIECE];
    // The index of each element of a piece, in each dimension that is handled together.
    uint8_t near[TAPER_MAX_RANK][TAPER_MASK_PIECE];
    size_t together;
    const size_t last = rank - near_places(mask, near, &together);
    for (size_t done = 0; done < all;) {
        int64_t *const inner = &place[last];
        const size_t n =
            last + 1 == rank ? taper_min_size(TAPER_MASK_PIECE, (size_t)(mask->sizes[last] - *inner)) : together;
        const size_t m = pick(data + done * item, n, at);
        for (size_t d = 0; d < rank; d++) {
            int64_t *const column = to + (int64_t)d * found + written;
            for (size_t k = 0; k < m; k++) {
                column[k] = d < last ? place[d] : last + 1 == rank ? *inner + (int64_t)at[k] : near[d][at[k]];
            }
        }
        written += (int64_t)m;
        done += n;
        *inner += last + 1 == rank ? (int64_t)n : mask->sizes[last];
        for (size_t d = last; d != 0 && place[d] == mask->sizes[d]; d--) {
            place[d] = 0;
            place[d - 1]++;
        }
        if (!taper_run_goes_on(run, n * 2)) {
            break; // the run ended, which the interpreter reports
        }
    }
    return TAPER_OK;
}

taper_status taper_index_nonzero(taper_run *run, const taper_tensor *mask, taper_tensor **positions)
{
    bool declined;
    const taper_status status = nonzero_rows(run, mask, positions, &declined);
    if (!declined) {
        return status;
    }
    size_t item;
    TAPER_TRY(taper_move_item(mask, &item, run->error));
    const taper_dtype dtype = (taper_dtype)mask->dtype;
    const char *data = taper_tensor_data(mask);
    taper_index_walk walk;
    int64_t found = 0;
    taper_index_walk_start(&walk, run, mask->rank, mask->sizes);
    taper_index_walk_add(&walk, mask->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        found += taper_element_is_nonzero(dtype, data + walk.walk.at[0] * (int64_t)item);
    }
    TAPER_TRY(taper_run_spend(run, 0)); // fails if the first walk ended early and did not count everything
    TAPER_TRY(new_positions(run, found, mask->rank, positions));
    int64_t *to = taper_tensor_mutable(*positions);
    taper_index_walk_start(&walk, run, mask->rank, mask->sizes);
    taper_index_walk_add(&walk, mask->strides);
    for (int64_t i = 0; i < walk.count; i++, taper_index_walk_next(&walk)) {
        if (taper_element_is_nonzero(dtype, data + walk.walk.at[0] * (int64_t)item)) {
            for (size_t d = 0; d < mask->rank; d++) {
                to[(int64_t)d * found] = walk.walk.dims[mask->rank - 1u - d].at;
            }
            to++;
        }
    }
    return TAPER_OK;
}

taper_status taper_index_flat(taper_run *run, taper_tensor *x, taper_tensor **flat)
{
    taper_tensor *plain;
    TAPER_TRY(taper_run_contiguous(run, x, &plain));
    const taper_view view = {.rank = 1, .offset = plain->offset, .sizes = {taper_tensor_numel(plain)}, .strides = {1}};
    const taper_status status = taper_view_make(run, plain, &view, flat);
    taper_tensor_drop(plain);
    return status;
}
