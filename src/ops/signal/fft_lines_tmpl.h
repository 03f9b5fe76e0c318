// SPDX-License-Identifier: BSD-2-Clause
// Loading and storing a group's lines, for one precision. fft_lines.c includes this file once for each precision.
// fft_lines.c defines LINES_REAL (the type), LINES_NAME(x), LINES_KERNEL(cpu, x) (a function of the kernels), LINES_TO
// (copies lines into the lanes) and LINES_OF (copies lanes into the lines).

// Returns how a group's lines are arranged in memory. Their numbers are reals or pairs, and number_step is the distance
// between neighbouring numbers of a line, in numbers.
static lines_layout LINES_NAME(layout_of)(const void *const *lines, bool pairs, int64_t number_step)
{
    const uintptr_t first = (uintptr_t)lines[0], step = (uintptr_t)lines[1] - first;
    bool even = (intptr_t)step > 0 && step % sizeof(LINES_REAL) == 0;
    for (size_t l = 1; l < LANES; l++) {
        even = even && (uintptr_t)lines[l] - first == l * step;
    }
    const size_t item = pairs ? 2 : 1, distance = step / sizeof(LINES_REAL);
    return (lines_layout){.is = !even || number_step < 1 ? LINES_ANYWHERE
                                : number_step == 1       ? LINES_ALONG
                                : distance == item       ? LINES_ACROSS
                                                         : LINES_ANYWHERE,
                          .pairs = pairs,
                          .distance = distance,
                          .step = (size_t)number_step * item};
}

// to_lanes copies `count` reals of each line into the lanes. Rows of lanes are y_step apart. For pairs, the lanes have
// a row of real parts, then a row of imaginary parts, and so on. of_lanes copies back.
static void LINES_NAME(to_lanes)(uint64_t cpu, const lines_layout *x, size_t count, const void *first, LINES_REAL *y,
                                 size_t y_step)
{
    const LINES_REAL *from = first;
    if (x->is == LINES_ALONG) {
        LINES_TO(cpu, count, from, x->distance, y, y_step);
    } else if (x->pairs) {
        LINES_KERNEL(cpu, unzip)(count / 2, from, x->step, y);
    } else {
        for (size_t k = 0; k < count; k++) {
            memcpy(y + k * y_step, from + k * x->step, LANES * sizeof *y);
        }
    }
}

static void LINES_NAME(of_lanes)(uint64_t cpu, const lines_layout *y, size_t count, const LINES_REAL *x, void *first)
{
    LINES_REAL *to = first;
    if (y->is == LINES_ALONG) {
        LINES_OF(cpu, count, x, LANES, to, y->distance);
    } else if (y->pairs) {
        LINES_KERNEL(cpu, zip)(count / 2, x, to, y->step);
    } else {
        for (size_t k = 0; k < count; k++) {
            memcpy(to + k * y->step, x + k * LANES, LANES * sizeof *x);
        }
    }
}

// Exchanges the real and imaginary parts of m points and multiplies them by scale.
static void LINES_NAME(exchange)(size_t m, LINES_REAL *a, LINES_REAL scale)
{
    for (size_t k = 0; k < m; k++, a += 2 * LANES) {
        for (size_t l = 0; l < LANES; l++) {
            const LINES_REAL re = a[l];
            a[l] = a[LANES + l] * scale;
            a[LANES + l] = re * scale;
        }
    }
}

static void LINES_NAME(multiply)(size_t count, LINES_REAL *a, size_t a_step, const LINES_REAL *factors, size_t step)
{
    for (size_t k = 0; k < count; k++, a += a_step) {
        const LINES_REAL factor = factors[k * step];
        for (size_t l = 0; l < LANES; l++) {
            a[l] *= factor;
        }
    }
}

bool LINES_NAME(taper_fft_lines_load)(const taper_fft *fft, const taper_fft_group *g, LINES_REAL *a, LINES_REAL *spare)
{
    const lines_layout x = LINES_NAME(layout_of)(g->from, fft->kind != TAPER_FFT_R2C, g->from_step);
    const size_t m = fft->m;
    const uint64_t cpu = fft->run->cpu;
    if (fft->run->portable || x.is == LINES_ANYWHERE || (fft->kind == TAPER_FFT_C2R && !fft->halved)) {
        return false;
    }
    if (fft->kind == TAPER_FFT_R2C && !fft->halved) {
        LINES_NAME(to_lanes)(cpu, &x, m, g->from[0], a, 2 * LANES);
        for (size_t k = 0; k < m; k++) {
            memset(a + 2 * LANES * k + LANES, 0, LANES * sizeof *a);
        }
        if (g->window != NULL) {
            LINES_NAME(multiply)(m, a, 2 * LANES, g->window, 1);
        }
        return true;
    }
    LINES_REAL *const to = fft->kind == TAPER_FFT_C2R ? spare : a;
    LINES_NAME(to_lanes)(cpu, &x, 2 * m, g->from[0], to, LANES);
    if (fft->kind == TAPER_FFT_C2R) {
        LINES_REAL last[LANES];
        for (size_t l = 0; l < LANES; l++) {
            last[l] = ((const LINES_REAL *)g->from[l])[m * x.step];
        }
        LINES_KERNEL(cpu, join)(m, fft->real, fft->forward ? -1 : 1, spare, last, a);
    } else if (fft->kind == TAPER_FFT_C2C && !fft->forward) {
        LINES_NAME(exchange)(m, a, 1);
    } else if (g->window != NULL) {
        LINES_NAME(multiply)(2 * m, a, LANES, g->window, 1);
    }
    return true;
}

bool LINES_NAME(taper_fft_lines_store)(const taper_fft *fft, const taper_fft_group *g, LINES_REAL *a, LINES_REAL *spare)
{
    const lines_layout y = LINES_NAME(layout_of)((const void *const *)g->to, fft->kind != TAPER_FFT_C2R, g->to_step);
    const uint64_t cpu = fft->run->cpu;
    if (fft->run->portable || y.is == LINES_ANYWHERE || g->count != LANES || g->twosided ||
        (fft->kind == TAPER_FFT_C2R && !fft->halved)) {
        return false;
    }
    const LINES_REAL scale = (LINES_REAL)fft->scale, *from = a;
    size_t count = 2 * fft->m;
    if (fft->kind == TAPER_FFT_R2C && !fft->halved) {
        const LINES_REAL sign = fft->forward ? scale : -scale;
        count = 2 * (fft->m / 2 + 1);
        if (scale != 1 || sign != 1) {
            LINES_NAME(multiply)(count / 2, a, 2 * LANES, &scale, 0);
            LINES_NAME(multiply)(count / 2, a + LANES, 2 * LANES, &sign, 0);
        }
    } else if (fft->kind == TAPER_FFT_R2C) {
        const LINES_REAL half = scale / 2;
        LINES_KERNEL(cpu, part)(fft->m, fft->real, half, fft->forward ? half : -half, a, spare);
        for (size_t l = 0; l < LANES; l++) { // stores the number at n / 2, which comes after the other numbers
            LINES_REAL *last = (LINES_REAL *)g->to[l] + fft->m * y.step;
            last[0] = (a[l] - a[LANES + l]) * scale;
            last[1] = 0;
        }
        from = spare;
    } else if (fft->kind == TAPER_FFT_C2R || !fft->forward) {
        LINES_NAME(exchange)(fft->m, a, scale);
    } else if (scale != 1) {
        LINES_NAME(multiply)(count, a, LANES, &scale, 0);
    }
    LINES_NAME(of_lanes)(cpu, &y, count, from, g->to[0]);
    return true;
}
