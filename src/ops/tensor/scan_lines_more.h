// SPDX-License-Identifier: BSD-2-Clause
// Part of scan_lines.c: doubles, counts of narrow elements, and log-sums.
#ifndef TAPER_OPS_TENSOR_SCAN_LINES_MORE_H
#define TAPER_OPS_TENSOR_SCAN_LINES_MORE_H

RUNNING(cumsum_f64, double, double, double, 0, PLUS)
RUNNING(cumprod_f64, double, double, double, 1, TIMES)
RUNNING(cumsum_i32, int32_t, int64_t, int64_t, 0, taper_wrap_add)
RUNNING(cumsum_bool, uint8_t, int64_t, int64_t, 0, COUNT)
EXTREMES(cummax_f64, double, >=)
EXTREMES(cummin_f64, double, <=)

// Returns this file's function that scans elements of x in place, or NULL if there is none.
static scan_function *find_more(taper_scan kind, taper_dtype x, taper_dtype out)
{
    static scan_function *const doubles[] = {cumsum_f64, cumprod_f64, NULL, cummax_f64, cummin_f64};
    if (kind == TAPER_SCAN_SUM && out == TAPER_I64 && (x == TAPER_BOOL || x == TAPER_I32)) {
        return x == TAPER_BOOL ? cumsum_bool : cumsum_i32;
    }
    return x == TAPER_F64 && out == TAPER_F64 ? doubles[kind] : NULL;
}

// Log-sums in doubles. The exponentials and logarithms of LOG_LANES lines are computed together, if there are at least
// LOG_LEAST neighbouring lines.
enum { LOG_LANES = TAPER_NATIVE_STEP, LOG_LEAST = 8 };

static void logsum(const scan_job *job, const char *x, char *y, char *p, size_t n)
{
    static const taper_native_numbers none;
    taper_native_function *const exponential = job->native->functions[TAPER_NATIVE_EXP][TAPER_NATIVE_F64];
    taper_native_function *const logarithm = job->native->functions[TAPER_NATIVE_LOG1P][TAPER_NATIVE_F64];
    const taper_reduce_dim line = job->lines.line, lane = job->lines.kept[0];
    double a[LOG_LANES] = {0}, v[LOG_LANES] = {0}, apart[LOG_LANES];
    const void *const in[] = {apart, apart, apart};
    (void)p;
    for (int64_t r = 0; r < line.size; r++, x += line.in, y += line.out) {
        for (size_t k = 0; k < n; k++) {
            const char *from = x + (int64_t)k * lane.in;
            v[k] = job->wide ? *(const double *)(const void *)from : (double)*(const float *)(const void *)from;
        }
        for (size_t k = 0; k < LOG_LANES; k++) {
            apart[k] = -fabs(a[k] - v[k]);
        }
        (void)exponential(LOG_LANES, in, apart, &none);
        (void)logarithm(LOG_LANES, in, apart, &none);
        // For two equal infinities the difference is NaN, so the result is the infinity itself.
        for (size_t k = 0; k < LOG_LANES; k++) {
            const double most = a[k] > v[k] ? a[k] : v[k];
            const double sum = ((a[k] == v[k]) & (fabs(v[k]) > DBL_MAX)) ? v[k] : most + apart[k];
            a[k] = r == 0 ? v[k] : sum;
        }
        for (size_t k = 0; k < n; k++) {
            char *to = y + (int64_t)k * lane.out;
            if (job->wide) {
                *(double *)(void *)to = a[k];
            } else {
                *(float *)(void *)to = (float)a[k];
            }
        }
    }
}

static bool has_logsum(const taper_run *run, const taper_tensor *x, const taper_tensor *out)
{
    return !run->portable && x->dtype == out->dtype && (x->dtype == TAPER_F32 || x->dtype == TAPER_F64);
}

static taper_status run_logsum(taper_run *run, size_t dim, scan_job *job, const taper_tensor *x,
                               const taper_tensor *out)
{
    if (!has_logsum(run, x, out)) {
        return TAPER_DECLINED;
    }
    job->function = logsum;
    job->native = taper_native_select(run->cpu);
    job->wide = x->dtype == TAPER_F64;
    taper_lines_make(&job->lines, x, dim, out, false, false);
    return job->lines.kept_count != 0 && job->lines.kept[0].size >= LOG_LEAST
               ? taper_lines_run(run, &job->lines, LOG_LANES, scan_task, job, 4)
               : TAPER_DECLINED;
}

#endif
