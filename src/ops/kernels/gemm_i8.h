// SPDX-License-Identifier: BSD-2-Clause
// Matrix products of quantized numbers with packed weights: sums of uint8 times int8 in 32 bits (modulo 2^32) that
// start with a bias. The sums are then requantized to uint8 or scaled to floats. Every entry gives the same bits.
//
// One kernel serves fully connected layers and dense convolutions of NHWC data. A row of A has a pointer for each tap,
// as in igemm of gemm_f32.h. Fully connected layers and 1x1 convolutions have one tap.
//   sum(i, n) = bias[n] + sum over taps t < ks and k < kc of
//               (a[t * a_tap_stride + i][a_offset + k] - shift) * w(n, t, k)
// shift is the entry's: 0, or 128 if the instructions need signed numbers.
//
// How an operator uses it
// - It calls taper_gemm_i8_select once, and taper_gemm_i8_pack for its nr and kr, which also computes the sums of the
//   weights per column.
// - A quantized input has a zero point z. The sum of (a - z) * w is the sum above with (shift - z) * column_sum added
//   to the bias. Pixels of padding are pointers to a_offset + kc bytes equal to z.
// - Strips of rows, blocks of columns and threads are as in gemm_f32.h.
//
// over_read: bytes after the last k of a row that may be read; their weights are zero.
#ifndef TAPER_KERNELS_GEMM_I8_H
#define TAPER_KERNELS_GEMM_I8_H

#include "ops/kernels/arch.h"
#include "ops/list/op_config.h"

// The parameters for computing the results from the sums. bias, scale and shift are read for whole panels of nr
// columns.
typedef struct taper_i8_epilogue {
    const int32_t *bias;
    // Factor of each column: finite, not negative. For uint8 results it is below 1, so that a product fits into 32
    // bits.
    const float *scale;
    // A uint8 result is max(rne((float)sum * scale) + zero_point, min), clamped to [0, 255]. rne rounds to the nearest
    // integer, and a half to the even one.
    int32_t zero_point, min;
    // A float result is (float)sum * scale + shift, but at least floor. shift is NULL for uint8 results.
    const float *shift;
    float floor;
} taper_i8_epilogue;

typedef struct taper_gemm_i8 {
    // mr: number of rows, at most the entry's mr. nc: number of columns. kc: number of k of a tap. ks: number of taps.
    size_t mr, nc, kc, ks;
    const uint8_t *const *a;
    size_t a_tap_stride, a_offset; // distance between taps in pointers; bytes added to each pointer
    size_t a_step;                 // number of bytes between rows if there is a single tap; 0 if the distances differ
    const int8_t *w;     // packed weights from the first column of the call on, which is the first column of a panel
    void *c;             // results, uint8_t or float
    size_t c_stride;     // distance between rows of the results, in elements
    taper_i8_epilogue e; // parameters, whose arrays start at the first column of the call
} taper_gemm_i8;

typedef void taper_gemm_i8_function(const taper_gemm_i8 *job);
// Computes overlapping rows, as the `windows` functions of gemm_f32.h do. `a` contains a pointer for each tap, and row
// i of a tap is i * step bytes after the tap's pointer. step is 4 or 8, and mr is at least the entry's mr. Each row of
// a tap is read to the end of its last group of kr bytes.
typedef void taper_gemm_i8_windows_function(const taper_gemm_i8 *job, size_t step);
// Computes any number of rows of a single tap, which are a_step apart. `a` contains a pointer to the first row; results
// are bytes. Returns 0, with nothing done, if this kernel is not faster for the job than strips of rows.
typedef int taper_gemm_i8_rows_function(const taper_gemm_i8 *job);

// Writes the marks of a packed panel of `groups` groups. The marks say how many products can be added in 16 bits
// without overflow (see the packed weights below).
typedef void taper_gemm_i8_marks_function(const int8_t *panel, size_t groups, int8_t *marks);

typedef struct taper_gemm_i8_entry {
    const char *name;
    uint64_t cpu;       // TAPER_ISA_ bit that the entry needs
    uint32_t mr, nr;    // largest number of rows of a call; number of columns of a panel of packed weights
    uint32_t kr;        // number of contiguous k of a column in a panel
    uint32_t shift;     // number that is subtracted from A: 0 or 128
    uint32_t over_read; // number of bytes that may be read after an input
    uint32_t marks;     // kind of the marks of the entry's panels: TAPER_I8_NONE, …
    taper_gemm_i8_function *run;
    taper_gemm_i8_windows_function *windows; // function for overlapping rows, or NULL
    taper_gemm_i8_rows_function *rows;       // function for many rows, or NULL
    taper_gemm_i8_marks_function
        *mark_steps; // function that writes a panel's marks; NULL unless `marks` is TAPER_I8_OF_STEPS
} taper_gemm_i8_entry;

#define KERNEL(isa, tile, mr, nr, kr, shift, over_read, marks, windows, rows, mark_steps)                              \
    taper_gemm_i8_function taper_gemm_i8_##tile##_##isa;                                                               \
    taper_gemm_i8_windows_function taper_gemm_i8_windows_##tile##_##isa;
#include "ops/kernels/gemm_i8_list.inc"
#undef KERNEL
taper_gemm_i8_rows_function taper_gemm_i8_rows_avx512vnni, taper_gemm_i8_rows_amx;
taper_gemm_i8_marks_function taper_gemm_i8_mark_steps_avx2;

// ---- packed weights: panels of nr columns, each with kr weights for each tap, each group of kr k, and each column.
// Missing weights are zero. Element (n, tap, k) of the source is at
//   n * n_stride + tap * tap_stride + (k / k_inner) * k_stride + (k % k_inner) * k_inner_stride
// as in gemm_f32.h.
//
// Entries that first add products in 16 bits have marks after each panel. The marks say how many products can be added
// in 16 bits without overflow.
//
// TAPER_I8_OF_SIXTEENS (kr is 16): one byte for every two whole groups, 0 if sums of four products fit everywhere,
// otherwise TAPER_I8_TWO. TAPER_I8_END follows. The first byte has TAPER_I8_ONE if weights k and k + 8 of a group are
// both -128, because even the sum of two products may then not fit. taper_gemm_i8_half returns true if the last group
// is not whole.
//
// TAPER_I8_OF_STEPS (kr is 4): one byte for every two groups, in the panel's order. The byte's three low bits hold for
// inputs of at most 127; the next three bits, from bit TAPER_I8_WIDE on, have the same meaning for all inputs.
// TAPER_I8_TWO: a lane's sum of four products may overflow. TAPER_I8_FIRST and TAPER_I8_SECOND: in the first or the
// second group, even the sum of two products may overflow. One more byte follows the marks. It is not 0 if more than a
// quarter of the groups have one of these two marks for all inputs. Widening large inputs to 16 bits is then faster.
enum { TAPER_I8_NONE, TAPER_I8_OF_SIXTEENS, TAPER_I8_OF_STEPS };
#include "ops/kernels/gemm_i8_marks.h"
enum { TAPER_I8_TWO = 1, TAPER_I8_END = 2, TAPER_I8_ONE = 4 };
enum { TAPER_I8_FIRST = 2, TAPER_I8_SECOND = 4, TAPER_I8_WIDE = 3 };

static inline int taper_gemm_i8_half(size_t kr, size_t ks, size_t kc)
{
    return ks == 1 && kc > kr && (kc - 1) % kr < kr / 2;
}

// Returns the number of bytes of the marks of a panel of `groups` groups.
static inline size_t taper_gemm_i8_marks(uint32_t kind, size_t groups)
{
    return kind == TAPER_I8_OF_SIXTEENS ? (groups / 2 + 16) / 16 * 16
           : kind == TAPER_I8_OF_STEPS  ? (groups / 2 + groups % 2 + 64) / 64 * 64
                                        : 0;
}

typedef struct taper_gemm_i8_pack {
    size_t n, ks, kc;
    size_t n_stride, tap_stride, k_stride;
    size_t k_inner, k_inner_stride; // k_inner may be 0, which means 1
    size_t k_inner_used;            // number of the k_inner elements that have weights; 0 means all of them
    const int8_t *weights;
} taper_gemm_i8_pack;

// Number of bytes after the last panel that kernels may read.
#define TAPER_GEMM_I8_TAIL 128

// These functions return the number of bytes of one panel, and of all panels with the tail, or 0 if the number does not
// fit into size_t.
size_t taper_gemm_i8_panel_bytes(const taper_gemm_i8_entry *entry, size_t ks, size_t kc);
size_t taper_gemm_i8_packed_bytes(const taper_gemm_i8_entry *entry, size_t n, size_t ks, size_t kc);
// Packs all panels. column_sums receives the sum of the weights of each column, for all columns of whole panels.
void taper_gemm_i8_pack_weights(const taper_gemm_i8_entry *entry, const taper_gemm_i8_pack *pack, int8_t *packed,
                                int32_t *column_sums);

#endif
