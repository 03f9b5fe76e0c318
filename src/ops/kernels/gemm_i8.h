// SPDX-License-Identifier: BSD-2-Clause
// Matrix products of quantized numbers with packed weights: sums of uint8 times int8 in 32 bits (modulo 2^32), started
// with a bias, then requantized to uint8 or scaled to floats. Every entry gives the same bits.
//
// One kernel serves fully connected layers and dense convolutions of NHWC data: every row of A is a pointer for each
// tap, as in igemm of gemm_f32.h. Fully connected layers and 1x1 convolutions are one tap.
//   sum(i, n) = bias[n] + sum over taps t < ks and k < kc of (a[t * a_tap_stride + i][a_offset + k] - shift) * w(n, t,
//   k)
// shift is the entry's: 0, or 128 where the instructions want signed numbers.
//
// How an operator uses it
// - taper_gemm_i8_select once; taper_gemm_i8_pack for its nr and kr. It also gives the sums of the weights per column.
// - A quantized input has a zero point z: the sum of (a - z) * w is the sum above with (shift - z) * column_sum added
// to
//   the bias. Pixels of padding are pointers to a_offset + kc bytes that all are z.
// - Strips of rows, blocks of columns and threads: as for gemm_f32.h.
//
// over_read: bytes behind the last k of a row that may be read; their weights are zero.
#ifndef TAPER_KERNELS_GEMM_I8_H
#define TAPER_KERNELS_GEMM_I8_H

#include "ops/kernels/arch.h"
#include "ops/list/op_config.h"

// bias, scale and shift are read for whole panels: nr columns.
typedef struct taper_i8_epilogue {
    const int32_t *bias;
    const float *scale; // per column; finite, not negative; of uint8 results less than 1: no product leaves 32 bits
    // uint8 results: max(rne((float)sum * scale) + zero_point, min) within [0, 255]
    int32_t zero_point, min;
    // Float results, when not NULL: (float)sum * scale + shift, not less than floor.
    const float *shift;
    float floor;
} taper_i8_epilogue;

typedef struct taper_gemm_i8 {
    size_t mr, nc, kc, ks; // mr: 1 to the entry's
    const uint8_t *const *a;
    size_t a_tap_stride, a_offset; // pointers; bytes added to each
    size_t a_step;                 // of one tap whose rows all lie so many bytes apart; 0: they need not
    const int8_t *w;               // of the first column, which is a panel's first
    void *c;                       // uint8_t, or float
    size_t c_stride;               // elements
    taper_i8_epilogue e;           // its arrays begin at the first column
} taper_gemm_i8;

typedef void taper_gemm_i8_function(const taper_gemm_i8 *job);
// Rows that overlap, as windows of gemm_f32.h: a has a pointer for each tap, row i of it is i * step bytes further;
// step is 4 or 8, mr the entry's or more. Every row of a tap is read to a whole group of kr.
typedef void taper_gemm_i8_windows_function(const taper_gemm_i8 *job, size_t step);
// Any number of rows of one tap, a_step apart, of which a has the first; bytes only. Returns 0 when the kernel has
// nothing better for such a job than strips of its rows, and has done nothing then.
typedef int taper_gemm_i8_rows_function(const taper_gemm_i8 *job);

// Writes the marks of a packed panel of so many groups.
typedef void taper_gemm_i8_marks_function(const int8_t *panel, size_t groups, int8_t *marks);

typedef struct taper_gemm_i8_entry {
    const char *name;
    uint64_t cpu;       // TAPER_ISA_ bit it needs
    uint32_t mr, nr;    // most rows of one call; width of a panel of packed weights
    uint32_t kr;        // k that lie side by side
    uint32_t shift;     // see above
    uint32_t over_read; // bytes
    uint32_t marks;     // of its panels, see below
    taper_gemm_i8_function *run;
    taper_gemm_i8_windows_function *windows;  // NULL: it has none
    taper_gemm_i8_rows_function *rows;        // NULL: it has none
    taper_gemm_i8_marks_function *mark_steps; // of entries with TAPER_I8_OF_STEPS, others NULL
} taper_gemm_i8_entry;

#define KERNEL(isa, tile, mr, nr, kr, shift, over_read, marks, windows, rows, mark_steps)                              \
    taper_gemm_i8_function taper_gemm_i8_##tile##_##isa;                                                               \
    taper_gemm_i8_windows_function taper_gemm_i8_windows_##tile##_##isa;
#include "ops/kernels/gemm_i8_list.inc"
#undef KERNEL
taper_gemm_i8_rows_function taper_gemm_i8_rows_avx512vnni, taper_gemm_i8_rows_amx;
taper_gemm_i8_marks_function taper_gemm_i8_mark_steps_avx2;

// ---- packed weights: panels of nr columns, each: for every tap, for every group of kr k, for every column: kr
// weights; missing ones are zero. Element (n, tap, k) of the source is at
//   n * n_stride + tap * tap_stride + (k / k_inner) * k_stride + (k % k_inner) * k_inner_stride
// as in gemm_f32.h.
//
// Entries that add products in 16 bits first have marks behind each panel, which say how many have room there.
// TAPER_I8_OF_SIXTEENS (kr is 16): a byte for every two whole groups, 0 where four products do and TAPER_I8_TWO where
// not all; then TAPER_I8_END. In the first one TAPER_I8_ONE is set where not even two do everywhere: two weights of
// -128 meet. taper_gemm_i8_half: the last group is not whole.
// TAPER_I8_OF_STEPS (kr is 4): a byte for every two groups, of the panel's in their order, with bits for inputs of at
// most 127 and, from TAPER_I8_WIDE on, for all: TAPER_I8_TWO where not all sums of a lane's four products fit, but
// those of two; TAPER_I8_FIRST and TAPER_I8_SECOND for a group of which not even these do. Behind them a byte that is
// not 0 where the latter are so many that products had better be of 16 bits.
enum { TAPER_I8_NONE, TAPER_I8_OF_SIXTEENS, TAPER_I8_OF_STEPS };
#include "ops/kernels/gemm_i8_marks.h"
enum { TAPER_I8_TWO = 1, TAPER_I8_END = 2, TAPER_I8_ONE = 4 };
enum { TAPER_I8_FIRST = 2, TAPER_I8_SECOND = 4, TAPER_I8_WIDE = 3 };

static inline int taper_gemm_i8_half(size_t kr, size_t ks, size_t kc)
{
    return ks == 1 && kc > kr && (kc - 1) % kr < kr / 2;
}

// Bytes of the marks of a panel of so many groups.
static inline size_t taper_gemm_i8_marks(uint32_t kind, size_t groups)
{
    return kind == TAPER_I8_OF_SIXTEENS ? (groups / 2 + 16) / 16 * 16
           : kind == TAPER_I8_OF_STEPS  ? (groups / 2 + groups % 2 + 64) / 64 * 64
                                        : 0;
}

typedef struct taper_gemm_i8_pack {
    size_t n, ks, kc;
    size_t n_stride, tap_stride, k_stride;
    size_t k_inner, k_inner_stride; // k_inner 0 is 1
    size_t k_inner_used;            // of k_inner, the others have no weights; 0: all
    const int8_t *weights;
} taper_gemm_i8_pack;

// Kernels may read as many bytes behind the last panel.
#define TAPER_GEMM_I8_TAIL 128

// Bytes of one panel, and of all with the tail; 0 when it does not fit size_t.
size_t taper_gemm_i8_panel_bytes(const taper_gemm_i8_entry *entry, size_t ks, size_t kc);
size_t taper_gemm_i8_packed_bytes(const taper_gemm_i8_entry *entry, size_t n, size_t ks, size_t kc);
// Packs all panels; column_sums[n] for whole panels.
void taper_gemm_i8_pack_weights(const taper_gemm_i8_entry *entry, const taper_gemm_i8_pack *pack, int8_t *packed,
                                int32_t *column_sums);

#endif
