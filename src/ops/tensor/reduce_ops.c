// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of reductions: how an element x is added to an accumulator a, and how two accumulators a and x are
// merged. c is the centre (reduce.h). Floats accumulate in double, integers in int64 with wrap-around.
#include "ops/engine/elementwise_math.h"
#include "ops/engine/reduce.h"

enum { LANES = 8 };

#define PASSES(name, type, acc_type, begin, element, step, merge)                                                      \
    static void name##_lanes(void *acc, const void *from, size_t n, const void *centre, const taper_reduce_args *args) \
    {                                                                                                                  \
        acc_type *as = acc;                                                                                            \
        const type *xs = from;                                                                                         \
        const acc_type *cs = centre;                                                                                   \
        (void)cs, (void)args;                                                                                          \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const acc_type a = as[k], x = element(xs[k]), c = CENTRE(cs, k);                                           \
            (void)c;                                                                                                   \
            as[k] = step;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_fold(void *acc, const void *from, size_t n, const void *centre, const taper_reduce_args *args)  \
    {                                                                                                                  \
        acc_type *total = acc, part[LANES];                                                                            \
        const type *xs = from;                                                                                         \
        const acc_type *cs = centre, c = CENTRE(cs, 0);                                                                \
        (void)c, (void)args;                                                                                           \
        for (size_t j = 0; j < LANES; j++) {                                                                           \
            part[j] = begin;                                                                                           \
        }                                                                                                              \
        size_t k = 0;                                                                                                  \
        for (; k + LANES <= n; k += LANES) {                                                                           \
            for (size_t j = 0; j < LANES; j++) {                                                                       \
                const acc_type a = part[j], x = element(xs[k + j]);                                                    \
                part[j] = step;                                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (; k < n; k++) {                                                                                           \
            const acc_type a = part[0], x = element(xs[k]);                                                            \
            part[0] = step;                                                                                            \
        }                                                                                                              \
        for (size_t j = 0; j < LANES; j++) {                                                                           \
            const acc_type a = *total, x = part[j];                                                                    \
            *total = merge;                                                                                            \
        }                                                                                                              \
    }

#define WIDEN(v) ((double)(v))
#define ITSELF(v) (v)
#define CENTRE(cs, k) (cs)[k]

#define REALS(name, begin, step, merge)                                                                                \
    PASSES(name##_f32, float, double, begin, WIDEN, step, merge)                                                       \
    PASSES(name##_f64, double, double, begin, ITSELF, step, merge)
#define INTS(name, begin, step, merge) PASSES(name##_i64, int64_t, int64_t, begin, ITSELF, step, merge)
#define COMPLEX(name, begin, step, merge) PASSES(name##_c128, taper_c128, taper_c128, begin, ITSELF, step, merge)

// Defines a reduction. kind is the vector kernel for floats; fold is the kernel of native.h for other dtypes.
#define RECORD_R(name, begin, begin_int, kind, fold)                                                                   \
    const taper_reduce_op taper_reduce_##name = {{name##_f32_lanes, name##_f64_lanes},                                 \
                                                 {name##_f32_fold, name##_f64_fold},                                   \
                                                 begin,                                                                \
                                                 begin_int,                                                            \
                                                 TAPER_REDUCTION_##kind,                                               \
                                                 TAPER_FOLD_##fold};
#define RECORD_RI(name, begin, begin_int, kind, fold)                                                                  \
    const taper_reduce_op taper_reduce_##name = {{name##_f32_lanes, name##_f64_lanes, name##_i64_lanes},               \
                                                 {name##_f32_fold, name##_f64_fold, name##_i64_fold},                  \
                                                 begin,                                                                \
                                                 begin_int,                                                            \
                                                 TAPER_REDUCTION_##kind,                                               \
                                                 TAPER_FOLD_##fold};
#define RECORD_RC(name, begin, kind, fold)                                                                             \
    const taper_reduce_op taper_reduce_##name = {{name##_f32_lanes, name##_f64_lanes, NULL, NULL, name##_c128_lanes},  \
                                                 {name##_f32_fold, name##_f64_fold, NULL, NULL, name##_c128_fold},     \
                                                 begin,                                                                \
                                                 0,                                                                    \
                                                 TAPER_REDUCTION_##kind,                                               \
                                                 TAPER_FOLD_##fold};
#define RECORD_RIC(name, begin, begin_int, kind, fold)                                                                 \
    const taper_reduce_op taper_reduce_##name = {                                                                      \
        {name##_f32_lanes, name##_f64_lanes, name##_i64_lanes, NULL, name##_c128_lanes},                               \
        {name##_f32_fold, name##_f64_fold, name##_i64_fold, NULL, name##_c128_fold},                                   \
        begin,                                                                                                         \
        begin_int,                                                                                                     \
        TAPER_REDUCTION_##kind,                                                                                        \
        TAPER_FOLD_##fold};

REALS(sum, 0, a + x, a + x)
INTS(sum, 0, taper_wrap_add(a, x), taper_wrap_add(a, x))
COMPLEX(sum, taper_c(0, 0), taper_c_add(a, x), taper_c_add(a, x))
RECORD_RIC(sum, 0, 0, SUM, SUM)

REALS(nansum, 0, x != x ? a : a + x, a + x)
INTS(nansum, 0, taper_wrap_add(a, x), taper_wrap_add(a, x))
RECORD_RI(nansum, 0, 0, NUMBERS, NANSUM)

REALS(prod, 1, a *x, a *x)
INTS(prod, 1, taper_wrap_mul(a, x), taper_wrap_mul(a, x))
COMPLEX(prod, taper_c(1, 0), taper_c_mul(a, x), taper_c_mul(a, x))
RECORD_RIC(prod, 1, 1, NONE, PRODUCT)

// If the accumulator `a` is NaN, no comparison is true, so the result is `a`.
REALS(max, -INFINITY, x > a || x != x ? x : a, x > a || x != x ? x : a)
INTS(max, INT64_MIN, x > a ? x : a, x > a ? x : a)
RECORD_RI(max, -INFINITY, INT64_MIN, MOST, MOST)

REALS(min, INFINITY, x < a || x != x ? x : a, x < a || x != x ? x : a)
INTS(min, INT64_MAX, x < a ? x : a, x < a ? x : a)
RECORD_RI(min, INFINITY, INT64_MAX, LEAST, LEAST)

REALS(any, 0, a != 0 || x != 0 ? 1 : 0, a != 0 || x != 0 ? 1 : 0)
INTS(any, 0, a != 0 || x != 0, a != 0 || x != 0)
COMPLEX(any, taper_c(0, 0), taper_c(a.re != 0 || taper_c_true(x) ? 1 : 0, 0),
        taper_c(a.re != 0 || taper_c_true(x) ? 1 : 0, 0))
RECORD_RIC(any, 0, 0, NONE, ANY)

REALS(every, 1, a != 0 && x != 0 ? 1 : 0, a != 0 && x != 0 ? 1 : 0)
INTS(every, 1, a != 0 && x != 0, a != 0 && x != 0)
COMPLEX(every, taper_c(1, 0), taper_c(a.re != 0 && taper_c_true(x) ? 1 : 0, 0),
        taper_c(a.re != 0 && taper_c_true(x) ? 1 : 0, 0))
RECORD_RIC(every, 1, 1, NONE, EVERY)

REALS(nonzero, 0, x != 0 ? a + 1 : a, a + x)
INTS(nonzero, 0, a + (x != 0), a + x)
COMPLEX(nonzero, taper_c(0, 0), taper_c(taper_c_true(x) ? a.re + 1 : a.re, 0), taper_c_add(a, x))
RECORD_RIC(nonzero, 0, 0, NONE, NONZERO)

REALS(numbers, 0, x == x ? a + 1 : a, a + x) // counts elements that are not NaN
RECORD_R(numbers, 0, 0, NONE, NONE)

REALS(abs_sum, 0, a + fabs(x), a + x)
COMPLEX(abs_sum, taper_c(0, 0), taper_c(a.re + taper_c_abs(x), 0), taper_c_add(a, x))
RECORD_RC(abs_sum, 0, ABS, NONE)

REALS(square_sum, 0, a + x * x, a + x)
COMPLEX(square_sum, taper_c(0, 0), taper_c(a.re + x.re * x.re + x.im * x.im, 0), taper_c_add(a, x))
RECORD_RC(square_sum, 0, SQUARES, NONE)

// Computes the power of a magnitude: for integer exponents by products, for halves by the square root.
static inline double power(double x, double p)
{
    return p == 3 ? x * x * x : p == 4 ? x * x * (x * x) : p == 0.5 ? sqrt(x) : p == 1.5 ? x * sqrt(x) : pow(x, p);
}
REALS(power_sum, 0, a + power(fabs(x), args->p), a + x)
COMPLEX(power_sum, taper_c(0, 0), taper_c(a.re + power(taper_c_abs(x), args->p), 0), taper_c_add(a, x))
RECORD_RC(power_sum, 0, NONE, NONE)

#define LARGER(v) ((v) > a || (v) != (v) ? (v) : a)
#define SMALLER(v) ((v) < a || (v) != (v) ? (v) : a)
REALS(abs_max, 0, LARGER(fabs(x)), LARGER(x))
REALS(abs_min, INFINITY, SMALLER(fabs(x)), SMALLER(x))
#undef LARGER
#undef SMALLER
#define LARGER(v) taper_c((v) > a.re || (v) != (v) ? (v) : a.re, 0)
#define SMALLER(v) taper_c((v) < a.re || (v) != (v) ? (v) : a.re, 0)
COMPLEX(abs_max, taper_c(0, 0), LARGER(taper_c_abs(x)), LARGER(x.re))
COMPLEX(abs_min, taper_c(INFINITY, 0), SMALLER(taper_c_abs(x)), SMALLER(x.re))
RECORD_RC(abs_max, 0, NONE, NONE)
RECORD_RC(abs_min, INFINITY, NONE, NONE)

REALS(deviation, 0, a + (x - c) * (x - c), a + x)
COMPLEX(deviation, taper_c(0, 0), taper_c(a.re + (x.re - c.re) * (x.re - c.re) + (x.im - c.im) * (x.im - c.im), 0),
        taper_c_add(a, x))
RECORD_RC(deviation, 0, NONE, NONE)

REALS(exp_sum, 0, a + exp(x - c), a + x)
RECORD_R(exp_sum, 0, 0, NONE, NONE)
