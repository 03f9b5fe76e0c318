// SPDX-License-Identifier: BSD-2-Clause
// The body of the depthwise kernels, written with the functions of simd_scalar.h.
//
// Two output rows are computed together, in blocks of 2 x PIXELS outputs. These are 8 independent sums, because an
// addition has a latency of 4 or 5 cycles. Taps of missing rows are skipped. Blocks whose windows cross the left or the
// right border skip missing columns; the last block repeats some outputs. Pixels are computed one by one at the borders
// of 3x3, which has few border pixels, in rows shorter than a block, and in builds for size.
#include "ops/kernels/dwconv_f32.h"

#define ROWS_MAX 2
#define PIXELS 4
#define INPUT_ROWS_MAX 8
#define COLUMNS_MAX 11
// With stride 1, many pairs of rows of a small map touch a border. With stride 2, few pairs do. With stride 2, the rows
// of these pairs are computed one at a time, so that the code for pairs needs no branches for missing rows.
#define PAIR_MAY_LACK_ROWS(stride) ((stride) == 1)

#include "ops/kernels/dwconv_f32_forms.h"
// Without this macro, compilers keep a pointer for each column, on the stack.
#ifdef __GNUC__
#define KEEP_POINTER(pointer) __asm__("" : "+r"(pointer))
#else
#define KEEP_POINTER(pointer) (void)0
#endif

// The arguments of a call that do not change between blocks.
typedef struct place {
    size_t channels, in_stride, out_stride, out_row_stride;
    const float *w;
    float min, max;
} place;

// Adds one kernel row to the output rows [first, rows). in[r * stride] is the input row for output row r.
TAPER_TEMPLATE void kernel_row(const size_t kernel, const size_t stride, const size_t first, const size_t rows,
                               const float *const *in, size_t c, size_t in_stride, VT t, const float *w,
                               V acc[ROWS_MAX][PIXELS])
{
    const size_t columns = (PIXELS - 1) * stride + kernel;
    if (SIMD_REGISTERS >= 32) {
        V x[ROWS_MAX][COLUMNS_MAX];
        TAPER_UNROLL
        for (size_t r = first; r < rows; r++) {
            TAPER_UNROLL
            for (size_t i = 0; i < columns; i++)
                x[r][i] = v_load_over(in[r * stride] + c + i * in_stride, t);
        }
        TAPER_UNROLL
        for (size_t kx = 0; kx < kernel; kx++) {
            const V wk = v_load(w + kx * VN);
            TAPER_UNROLL
            for (size_t r = first; r < rows; r++) {
                TAPER_UNROLL
                for (size_t p = 0; p < PIXELS; p++)
                    acc[r][p] = v_fma(x[r][p * stride + kx], wk, acc[r][p]);
            }
        }
    } else {
        TAPER_UNROLL
        for (size_t i = 0; i < columns; i++) {
            TAPER_UNROLL
            for (size_t r = first; r < rows; r++) {
                const V x = v_load_over(in[r * stride] + c + i * in_stride, t);
                TAPER_UNROLL
                for (size_t p = 0; p < PIXELS; p++) {
                    const size_t kx = i - p * stride; // wraps to a huge number for a column before the window
                    if (kx < kernel)
                        acc[r][p] = v_fma(x, v_load(w + kx * VN), acc[r][p]);
                }
            }
        }
    }
}

// Adds one kernel row to the output rows, except to output rows whose input row is padding.
TAPER_TEMPLATE void kernel_row_or_less(const size_t kernel, const size_t stride, const size_t rows,
                                       const float *const *in, size_t c, size_t in_stride, VT t, const float *w,
                                       V acc[ROWS_MAX][PIXELS])
{
    const int pair = rows == 2 && PAIR_MAY_LACK_ROWS(stride) == 0;
    if (rows == 2 && SIMD_REGISTERS >= 32 && (pair || (in[0] != NULL && in[stride] != NULL))) {
        kernel_row(kernel, stride, 0, 2, in, c, in_stride, t, w, acc);
        return;
    }
    if (pair || in[0] != NULL)
        kernel_row(kernel, stride, 0, 1, in, c, in_stride, t, w, acc);
    if (rows == 2 && (pair || in[stride] != NULL))
        kernel_row(kernel, stride, 1, 2, in, c, in_stride, t, w, acc);
}

// Adds input row y of a 3x3 block to both output rows. Each input is loaded once, each weight at most twice. w points
// to the weights of the block's channels.
TAPER_TEMPLATE void shared_row(const size_t stride, const size_t y, const float *from, size_t in_stride, VT t,
                               const float *w, V acc[ROWS_MAX][PIXELS])
{
    enum { KERNEL = 3, OF_A_POINTER = 3 };
    const size_t columns = (PIXELS - 1) * stride + KERNEL;
    V wk[ROWS_MAX][KERNEL];
    TAPER_UNROLL
    for (size_t r = 0; r < ROWS_MAX; r++) {
        TAPER_UNROLL
        for (size_t kx = 0; kx < KERNEL; kx++) {
            if (y - r * stride < KERNEL)
                wk[r][kx] = v_load(w + ((y - r * stride) * KERNEL + kx) * VN);
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < columns; i++) {
        if (i % OF_A_POINTER == 0 && i > 0) {
            from += OF_A_POINTER * in_stride;
            KEEP_POINTER(from);
        }
        const V x = v_load_over(from + i % OF_A_POINTER * in_stride, t);
        TAPER_UNROLL
        for (size_t r = 0; r < ROWS_MAX; r++) {
            TAPER_UNROLL
            for (size_t p = 0; p < PIXELS; p++) {
                const size_t kx = i - p * stride; // wraps to a huge number for a column before the window
                if (kx < KERNEL && y - r * stride < KERNEL)
                    acc[r][p] = v_fma(x, wk[r][kx], acc[r][p]);
            }
        }
    }
}

// Computes a block whose windows are inside the image. in[y] points to the first channel of the block's first input
// column in input row y; NULL is a row of padding.
TAPER_TEMPLATE void inner_block(const size_t kernel, const size_t stride, const size_t rows, const place *s,
                                const float *const *in, float *out)
{
    const float *w = s->w;
    const V low = v_set(s->min), high = v_set(s->max);
    const size_t in_stride = s->in_stride, out_stride = s->out_stride, out_row_stride = s->out_row_stride;
    for (size_t c = 0; c < s->channels; c += VN) {
        const VT t = v_first(s->channels - c);
        V acc[ROWS_MAX][PIXELS];
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            TAPER_UNROLL
            for (size_t p = 0; p < PIXELS; p++)
                acc[r][p] = v_load(w);
        }
        w += VN;
        if (SHARES_ROWS && kernel == 3 && rows == 2) {
            TAPER_UNROLL
            for (size_t y = 0; y < stride + kernel; y++) {
                const float *from = in[y];
                if (!PAIR_MAY_LACK_ROWS(stride) || from != NULL) {
                    from += c;
                    KEEP_POINTER(from);
                    shared_row(stride, y, from, in_stride, t, w, acc);
                }
            }
            w += kernel * kernel * VN;
        } else if (kernel == 3) {
            TAPER_UNROLL
            for (size_t ky = 0; ky < kernel; ky++, w += kernel * VN) {
                kernel_row_or_less(kernel, stride, rows, in + ky, c, in_stride, t, w, acc);
            }
        } else {
            TAPER_NO_UNROLL
            for (size_t ky = 0; ky < kernel; ky++, w += kernel * VN) {
                kernel_row_or_less(kernel, stride, rows, in + ky, c, in_stride, t, w, acc);
            }
        }
        const int full = s->channels - c >= VN;
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            TAPER_UNROLL
            for (size_t p = 0; p < PIXELS; p++) {
                float *to = out + r * out_row_stride + p * out_stride + c;
                const V y = v_min(high, v_max(low, acc[r][p]));
                if (full) {
                    v_store(to, y);
                } else {
                    v_store_t(to, y, t);
                }
            }
        }
    }
}

// Does the work of kernel_row for a block at a border, whose columns from lo to hi - 1 exist.
TAPER_TEMPLATE void border_row(const size_t kernel, const size_t stride, const size_t first, const size_t rows,
                               const float *const *in, ptrdiff_t column, size_t lo, size_t hi, size_t c,
                               size_t in_stride, VT t, const float *w, V acc[ROWS_MAX][PIXELS])
{
    const size_t columns = (PIXELS - 1) * stride + kernel;
    TAPER_UNROLL
    for (size_t i = 0; i < columns; i++) {
        if (i >= lo && i < hi) {
            TAPER_UNROLL
            for (size_t r = first; r < rows; r++) {
                const V x = v_load_over(in[r * stride] + c + (column + (ptrdiff_t)i) * (ptrdiff_t)in_stride, t);
                TAPER_UNROLL
                for (size_t p = 0; p < PIXELS; p++) {
                    const size_t kx = i - p * stride; // wraps to a huge number for a column before the window
                    if (kx < kernel)
                        acc[r][p] = v_fma(x, v_load(w + kx * VN), acc[r][p]);
                }
            }
        }
    }
}

// Computes a block whose first window starts at this column of an image of `width` columns. in[y] points to column 0.
TAPER_TEMPLATE void border_block(const size_t kernel, const size_t stride, const size_t rows, const place *s,
                                 const float *const *in, ptrdiff_t column, size_t width, float *out)
{
    const float *w = s->w;
    const V low = v_set(s->min), high = v_set(s->max);
    const size_t in_stride = s->in_stride, lo = column < 0 ? (size_t)-column : 0;
    const size_t hi = (ptrdiff_t)width > column ? (size_t)((ptrdiff_t)width - column) : 0;
    for (size_t c = 0; c < s->channels; c += VN) {
        const VT t = v_first(s->channels - c);
        V acc[ROWS_MAX][PIXELS];
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            TAPER_UNROLL
            for (size_t p = 0; p < PIXELS; p++)
                acc[r][p] = v_load(w);
        }
        w += VN;
        TAPER_NO_UNROLL
        for (size_t ky = 0; ky < kernel; ky++, w += kernel * VN) {
            const float *const *at = in + ky;
            if (rows == 2 && at[0] != NULL && at[stride] != NULL) {
                border_row(kernel, stride, 0, 2, at, column, lo, hi, c, in_stride, t, w, acc);
            } else if (at[0] != NULL) {
                border_row(kernel, stride, 0, 1, at, column, lo, hi, c, in_stride, t, w, acc);
            } else if (rows == 2 && at[stride] != NULL) {
                border_row(kernel, stride, 1, 2, at, column, lo, hi, c, in_stride, t, w, acc);
            }
        }
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            TAPER_UNROLL
            for (size_t p = 0; p < PIXELS; p++)
                v_store_t(out + r * s->out_row_stride + p * s->out_stride + c, v_min(high, v_max(low, acc[r][p])), t);
        }
    }
}

// Adds `width` taps of one input row to each accumulator acc[r]. The rows are x0 and x1; NULL is a row of padding.
TAPER_TEMPLATE void pixel_taps(const size_t rows, size_t width, const float *x0, const float *x1, size_t in_stride,
                               VT t, const float *w, V acc[ROWS_MAX])
{
    if (rows > 1 && x0 != NULL && x1 != NULL) {
        for (size_t i = 0; i < width; i++) {
            const V v = v_load(w + i * VN);
            acc[0] = v_fma(v_load_over(x0 + i * in_stride, t), v, acc[0]);
            acc[1] = v_fma(v_load_over(x1 + i * in_stride, t), v, acc[1]);
        }
        return;
    }
    if (x0 != NULL) {
        for (size_t i = 0; i < width; i++)
            acc[0] = v_fma(v_load_over(x0 + i * in_stride, t), v_load(w + i * VN), acc[0]);
    }
    if (rows > 1 && x1 != NULL) {
        for (size_t i = 0; i < width; i++)
            acc[1] = v_fma(v_load_over(x1 + i * in_stride, t), v_load(w + i * VN), acc[1]);
    }
}

// Computes one output column of `rows` rows from `width` kernel columns. in[y] points to the input of the first kernel
// column; w_first is this column's index in a row of the kernel. Usual widths are constants.
TAPER_TEMPLATE void pixel(const size_t kernel, const size_t stride, const size_t rows, size_t width, size_t w_first,
                          const place *s, const float *const *in, float *out)
{
    const float *w = s->w;
    const V low = v_set(s->min), high = v_set(s->max);
    const size_t in_stride = s->in_stride;
    for (size_t c = 0; c < s->channels; c += VN) {
        const VT t = v_first(s->channels - c);
        V acc[ROWS_MAX];
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++)
            acc[r] = v_load(w);
        const float *wk = w + (1 + w_first) * VN;
        for (size_t ky = 0; ky < kernel; ky++, wk += kernel * VN) {
            const float *x0 = in[ky] != NULL ? in[ky] + c : NULL;
            const float *x1 = rows > 1 && in[stride + ky] != NULL ? in[stride + ky] + c : NULL;
            pixel_taps(rows, width, x0, x1, in_stride, t, wk, acc);
        }
        w += (kernel * kernel + 1) * VN;
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            float *to = out + r * s->out_row_stride + c;
            const V y = v_min(high, v_max(low, acc[r]));
            if (s->channels - c >= VN) {
                v_store(to, y);
            } else {
                v_store_t(to, y, t);
            }
        }
    }
}

TAPER_TEMPLATE void one_pixel(const size_t kernel, const size_t stride, const size_t rows, size_t width, size_t w_first,
                              const place *s, const float *const *in, float *out)
{
    if (width == kernel) {
        pixel(kernel, stride, rows, kernel, 0, s, in, out);
    } else if (width == kernel - 1) {
        pixel(kernel, stride, rows, kernel - 1, w_first, s, in, out);
    } else {
        pixel(kernel, stride, rows, width, w_first, s, in, out);
    }
}

// Computes `rows` output rows of all columns and channels.
TAPER_TEMPLATE void band(const size_t kernel, const size_t stride, const size_t rows, const taper_dwconv_rows *j,
                         const float *const *in_rows, float *out)
{
    const place s = {j->channels, j->in_stride, j->out_stride, j->out_row_stride, j->w, j->min, j->max};
    const size_t in_rows_count = (rows - 1) * stride + kernel;
    // The windows of output columns [inner, outer) are completely inside the image.
    size_t inner = (j->pad_left + stride - 1) / stride;
    size_t outer = j->in_width + j->pad_left < kernel ? 0 : (j->in_width + j->pad_left - kernel) / stride + 1;
    if (inner > j->out_width)
        inner = j->out_width;
    if (outer > j->out_width)
        outer = j->out_width;
    if (outer < inner)
        outer = inner;
    for (size_t x = 0; x < j->out_width;) {
        const float *in[INPUT_ROWS_MAX];
        const size_t left = outer - x; // number of remaining output columns whose windows are completely inside the
                                       // image
        if (x >= inner && x < outer && left >= PIXELS) {
            for (size_t y = 0; y < in_rows_count; y++) {
                in[y] = in_rows[y] == NULL ? NULL
                                           : in_rows[y] + j->channel_offset + (x * stride - j->pad_left) * j->in_stride;
            }
            inner_block(kernel, stride, rows, &s, in, out + x * j->out_stride);
            x += PIXELS;
            continue;
        }
        if (BORDER_BLOCKS && kernel > 3 && j->out_width >= PIXELS) {
            const size_t from = x + PIXELS > j->out_width ? j->out_width - PIXELS : x;
            for (size_t y = 0; y < in_rows_count; y++) {
                in[y] = in_rows[y] == NULL ? NULL : in_rows[y] + j->channel_offset;
            }
            border_block(kernel, stride, rows, &s, in, (ptrdiff_t)(from * stride) - (ptrdiff_t)j->pad_left, j->in_width,
                         out + from * j->out_stride);
            x = from + PIXELS;
            continue;
        }
        const size_t start = x * stride; // start of the window, in padded columns
        size_t first = start < j->pad_left ? j->pad_left - start : 0;
        const size_t end = j->in_width + j->pad_left;
        size_t last = start + kernel > end ? (end > start ? end - start : 0) : kernel;
        if (last <= first)
            first = last = 0;
        // A window without a column reads nothing, so any valid address will do.
        const size_t column = last > first ? start + first - j->pad_left : 0;
        for (size_t y = 0; y < in_rows_count; y++) {
            in[y] = in_rows[y] == NULL ? NULL : in_rows[y] + j->channel_offset + column * j->in_stride;
        }
        one_pixel(kernel, stride, rows, last - first, first, &s, in, out + x * j->out_stride);
        x++;
    }
}

TAPER_TEMPLATE int whole(const float *const *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (in[i] == NULL)
            return 0;
    }
    return 1;
}

#define DWCONV(name, KERNEL_, STRIDE_)                                                                                 \
    TAPER_INSTANCE void name##_two(const taper_dwconv_rows *j, const float *const *in, float *out)                     \
    {                                                                                                                  \
        band(KERNEL_, STRIDE_, 2, j, in, out);                                                                         \
    }                                                                                                                  \
    TAPER_INSTANCE void name##_one(const taper_dwconv_rows *j, const float *const *in, float *out)                     \
    {                                                                                                                  \
        band(KERNEL_, STRIDE_, 1, j, in, out);                                                                         \
    }                                                                                                                  \
    void SIMD(taper_dwconv_f32_##name)(const taper_dwconv_rows *job)                                                   \
    {                                                                                                                  \
        for (size_t y = 0; y < job->out_rows;) {                                                                       \
            const float *const *in = job->rows + y * (STRIDE_);                                                        \
            float *out = job->out + y * job->out_row_stride;                                                           \
            if (y + 2 <= job->out_rows && (PAIR_MAY_LACK_ROWS(STRIDE_) || whole(in, (STRIDE_) + (KERNEL_)))) {         \
                name##_two(job, in, out);                                                                              \
                y += 2;                                                                                                \
            } else {                                                                                                   \
                name##_one(job, in, out);                                                                              \
                y++;                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

// Computes 4 pixels by 2 vectors of channels, for any taps.
TAPER_TEMPLATE void taps_block(const size_t vectors, size_t m, size_t taps, const float *const *a, size_t a_tap_stride,
                               size_t a_offset, const float *zero, const float *w, size_t w_stride, float *c,
                               size_t c_stride, size_t channel, size_t channels, V low, V high)
{
    V acc[PIXELS][2];
    VT t[2];
    TAPER_UNROLL
    for (size_t v = 0; v < vectors; v++) {
        t[v] = v_first(channels - channel - v * VN);
        TAPER_UNROLL
        for (size_t p = 0; p < PIXELS; p++)
            acc[p][v] = v_load(w + v * w_stride);
    }
    w += VN;
    for (size_t tap = 0; tap < taps; tap++, a += a_tap_stride, w += VN) {
        TAPER_UNROLL
        for (size_t p = 0; p < PIXELS; p++) {
            const float *x = a[p < m ? p : 0];
            x = taper_f32_at(x, x != zero ? a_offset : 0) + channel;
            TAPER_UNROLL
            for (size_t v = 0; v < vectors; v++)
                acc[p][v] = v_fma(v_load_over(x + v * VN, t[v]), v_load(w + v * w_stride), acc[p][v]);
        }
    }
    for (size_t p = 0; p < PIXELS; p++) {
        if (p == m)
            break;
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++)
            v_store_t(c + v * VN, v_min(high, v_max(low, acc[p][v])), t[v]);
        c += c_stride;
    }
}

#define DWCONV_TAPS                                                                                                    \
    void SIMD(taper_dwconv_taps_f32)(size_t m, size_t nc, size_t taps, const float *const *a, size_t a_tap_stride,     \
                                     size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,    \
                                     float min, float max)                                                             \
    {                                                                                                                  \
        const V low = v_set(min), high = v_set(max);                                                                   \
        const size_t w_stride = (taps + 1) * VN;                                                                       \
        for (size_t i = 0; i < m; i += PIXELS) {                                                                       \
            size_t n = 0;                                                                                              \
            for (; n + VN < nc; n += 2 * VN) {                                                                         \
                taps_block(2, m - i, taps, a + i, a_tap_stride, a_offset, zero, w + n / VN * w_stride, w_stride,       \
                           c + i * c_stride + n, c_stride, n, nc, low, high);                                          \
            }                                                                                                          \
            if (n < nc) {                                                                                              \
                taps_block(1, m - i, taps, a + i, a_tap_stride, a_offset, zero, w + n / VN * w_stride, w_stride,       \
                           c + i * c_stride + n, c_stride, n, nc, low, high);                                          \
            }                                                                                                          \
        }                                                                                                              \
    }
