// SPDX-License-Identifier: BSD-2-Clause
// Copies eight lines that are at the same distance from one another into the lanes of a transform, and back. If each
// line's numbers are consecutive, the lines form a matrix that is transposed. If the lines are interleaved, number by
// number, each row of eight numbers is copied. A point is eight real parts followed by eight imaginary parts.
#include "ops/signal/fft_plan.h"

#include "ops/signal/fft_neighbours.h"

#include "ops/kernels/kernel_select.h"

enum { LANES = TAPER_FFT_LANES };

typedef struct lines_layout {
    enum { LINES_ANYWHERE, LINES_ALONG, LINES_ACROSS } is;
    bool pairs;
    size_t distance, step; // distance between lines, and between numbers of a line, both in reals
} lines_layout;

// Returns a kernel that transposes floats: if possible the kernel of an instruction set whose vectors hold eight
// floats, because wider vectors would be half empty.
static taper_transpose_f32_function *transpose_of(uint64_t cpu)
{
    for (size_t i = 0; taper_vector_f32_entry(i) != NULL; i++) {
        const taper_vector_entry *entry = taper_vector_f32_entry(i);
        if (entry->lanes == LANES && (entry->cpu & cpu) == entry->cpu) {
            return entry->transpose;
        }
    }
    return taper_vector_f32_select(cpu)->transpose;
}

#define LINES_REAL float
#define LINES_NAME(name) name##_f32
#define LINES_KERNEL(cpu, name) taper_fft_f32_select(cpu)->name
#define LINES_TO(cpu, count, x, x_step, y, y_step) transpose_of(cpu)(LANES, count, x, x_step, y, y_step)
#define LINES_OF(cpu, count, x, x_step, y, y_step) transpose_of(cpu)(count, LANES, x, x_step, y, y_step)
#include "ops/signal/fft_lines_tmpl.h"
#undef LINES_REAL
#undef LINES_NAME
#undef LINES_KERNEL
#undef LINES_TO
#undef LINES_OF

#define LINES_REAL double
#define LINES_NAME(name) name##_f64
#define LINES_KERNEL(cpu, name) taper_fft_f32_select(cpu)->name##_f64
#define LINES_TO(cpu, ...) taper_fft_f32_select(cpu)->to_lanes_f64(__VA_ARGS__)
#define LINES_OF(cpu, ...) taper_fft_f32_select(cpu)->of_lanes_f64(__VA_ARGS__)
#include "ops/signal/fft_lines_tmpl.h"
