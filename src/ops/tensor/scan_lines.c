// SPDX-License-Identifier: BSD-2-Clause
// Running sums, products and extremes of lines. A step of a line depends on the previous step, so several lines are
// computed together: contiguous neighbours as lanes, other lines a few at a time.
#include "ops/tensor/scan_lines.h"

#include <float.h>
#include <math.h>

#include "ops/engine/elementwise_math.h"
#include "ops/kernels/kernel_select.h"

enum { LANES = 128, FEW = 4 };

typedef struct scan_job scan_job;
// Scans n lines that are `lane` bytes apart. Their elements are `step` bytes apart in x and y. `p` receives positions,
// with 8 bytes for each element of y.
typedef void scan_function(const scan_job *job, const char *x, char *y, char *p, size_t n);

struct scan_job {
    taper_lines lines;
    scan_function *function;
    const char *x;
    char *y, *positions; // results; positions is NULL if the positions are not wanted
    int64_t item;
    const taper_native_entry *native; // kernels that compute log-sums
    bool wide;                        // true if the elements are doubles
};

// Calls the loop with a constant n, FEW or LANES, if that many lanes exist; then the compiler unrolls and vectorizes
// it.
#define SIZED(name)                                                                                                    \
    static void name(const scan_job *job, const char *x, char *y, char *p, size_t n)                                   \
    {                                                                                                                  \
        if (n == LANES) {                                                                                              \
            name##_lanes(job, x, y, p, LANES);                                                                         \
        } else if (n == FEW) {                                                                                         \
            name##_lanes(job, x, y, p, FEW);                                                                           \
        } else {                                                                                                       \
            name##_lanes(job, x, y, p, n);                                                                             \
        }                                                                                                              \
    }

// Defines sums and products of elements of in_type, which are written as elements of type.
#define RUNNING(name, in_type, type, acc_type, begin, join)                                                            \
    static inline void name##_lanes(const scan_job *job, const char *x, char *y, char *p, size_t n)                    \
    {                                                                                                                  \
        const taper_reduce_dim line = job->lines.line;                                                                 \
        const taper_reduce_dim lane = job->lines.kept_count != 0 ? job->lines.kept[0] : (taper_reduce_dim){1, 0, 0};   \
        (void)p;                                                                                                       \
        acc_type a[LANES];                                                                                             \
        for (size_t k = 0; k < n; k++) {                                                                               \
            a[k] = begin;                                                                                              \
        }                                                                                                              \
        if (lane.in == sizeof(in_type) && lane.out == sizeof(type)) {                                                  \
            for (int64_t r = 0; r < line.size; r++) {                                                                  \
                const in_type *from = (const in_type *)(const void *)(x + r * line.in);                                \
                type *to = (type *)(void *)(y + r * line.out);                                                         \
                TAPER_EW_VECTOR for (size_t k = 0; k < n; k++)                                                         \
                {                                                                                                      \
                    a[k] = join(a[k], (acc_type)from[k]);                                                              \
                    to[k] = (type)a[k];                                                                                \
                }                                                                                                      \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t r = 0; r < line.size; r++, x += line.in, y += line.out) {                                         \
            for (size_t k = 0; k < n; k++) {                                                                           \
                a[k] = join(a[k], (acc_type) * (const in_type *)(const void *)(x + (int64_t)k * lane.in));             \
                *(type *)(void *)(y + (int64_t)k * lane.out) = (type)a[k];                                             \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    SIZED(name)
#define PLUS(a, x) ((a) + (x))
#define TIMES(a, x) ((a) * (x))
#define COUNT(a, x) ((a) + ((x) != 0))
RUNNING(cumsum_f32, float, float, double, 0, PLUS)
RUNNING(cumprod_f32, float, float, double, 1, TIMES)
RUNNING(cumsum_i64, int64_t, int64_t, int64_t, 0, taper_wrap_add)
RUNNING(cumprod_i64, int64_t, int64_t, int64_t, 1, taper_wrap_mul)
#include "ops/tensor/scan_lines_whole.h"

// Defines the functions of a running extreme: the last of equal elements is used, and a NaN remains (x != x). The first
// element is always used.
#define EXTREMES(name, type, better)                                                                                   \
    LINE(name, type, better)                                                                                           \
    static inline void name##_lanes(const scan_job *job, const char *x, char *y, char *p, size_t n)                    \
    {                                                                                                                  \
        const taper_reduce_dim line = job->lines.line;                                                                 \
        const taper_reduce_dim lane = job->lines.kept_count != 0 ? job->lines.kept[0] : (taper_reduce_dim){1, 0, 0};   \
        const int64_t wide = 8 / (int64_t)sizeof(type);                                                                \
        if (line.in == sizeof(type) && line.out == sizeof(type) &&                                                     \
            name##_whole(line.size, n, x, lane.in, y, lane.out, p, lane.out * wide)) {                                 \
            return;                                                                                                    \
        }                                                                                                              \
        type best[LANES];                                                                                              \
        int64_t at[LANES];                                                                                             \
        for (size_t k = 0; k < n; k++) {                                                                               \
            best[k] = *(const type *)(const void *)(x + (int64_t)k * lane.in);                                         \
            at[k] = 0;                                                                                                 \
        }                                                                                                              \
        for (int64_t r = 0; r < line.size; r++, x += line.in, y += line.out, p += line.out * wide) {                   \
            for (size_t k = 0; k < n; k++) {                                                                           \
                const type v = *(const type *)(const void *)(x + (int64_t)k * lane.in), b = best[k];                   \
                const bool taken = (v better b) | (v != v);                                                            \
                best[k] = taken ? v : b;                                                                               \
                at[k] = taken ? r : at[k];                                                                             \
                *(type *)(void *)(y + (int64_t)k * lane.out) = best[k];                                                \
                *(int64_t *)(void *)(p + (int64_t)k * lane.out * wide) = at[k];                                        \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    SIZED(name)
EXTREMES(cummax_f32, float, >=)
EXTREMES(cummin_f32, float, <=)
EXTREMES(cummax_i64, int64_t, >=)
EXTREMES(cummin_i64, int64_t, <=)

static void scan_task(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const scan_job *job = argument;
    char *p = job->positions == NULL ? NULL : job->positions + out / job->item * 8;
    job->function(job, job->x + in, job->y + out, p, lanes);
}

#include "ops/tensor/scan_lines_more.h"

// Returns the function that scans elements of x in place, or NULL if there is none.
static scan_function *find(taper_scan kind, taper_dtype x, taper_dtype out)
{
    static scan_function *const floats[] = {cumsum_f32, cumprod_f32, NULL, cummax_f32, cummin_f32};
    static scan_function *const integers[] = {cumsum_i64, cumprod_i64, NULL, cummax_i64, cummin_i64};
    if (x == out && (x == TAPER_F32 || x == TAPER_I64)) {
        return x == TAPER_F32 ? floats[kind] : integers[kind];
    }
    return find_more(kind, x, out);
}

taper_status taper_scan_lines(taper_run *run, taper_scan kind, size_t dim, const taper_tensor *x, taper_tensor *out,
                              taper_tensor *indices)
{
    scan_job job = {.x = taper_tensor_data(x), .y = taper_tensor_mutable(out), .item = (int64_t)taper_tensor_item(out)};
    job.function = find(kind, (taper_dtype)x->dtype, (taper_dtype)out->dtype);
    if (kind == TAPER_SCAN_LOGSUM) {
        return run_logsum(run, dim, &job, x, out);
    }
    if (job.function == NULL) {
        return TAPER_DECLINED;
    }
    job.positions = indices != NULL ? taper_tensor_mutable(indices) : NULL;
    taper_lines_make(&job.lines, x, dim, out, false, false);
    return taper_lines_run(run, &job.lines, job.lines.side_by_side ? LANES : FEW, scan_task, &job, 1);
}
