// SPDX-License-Identifier: BSD-2-Clause
// Calls in bands. Consecutive layers of an image network can run some rows at a time, if each result has only the next
// layer as its user. A thread computes a few rows of the first layer, then the rows of the second layer for which these
// are enough, and so on. The results between the layers are then rings of rows that remain in the L2 cache, where a
// whole image would not fit (for example the wide middle of an inverted residual block). Each row of a ring is written
// once. Each thread computes some of the last result's rows. The few rows of earlier results that two neighbouring
// threads both need are computed by each of them.
//
// A kernel that can compute some rows of its result says so when it prepares a call (taper_prepare_bands). Recordings
// join such calls (runtime/recording.h).
#ifndef TAPER_OPS_BANDS_H
#define TAPER_OPS_BANDS_H

#include "ops/call/prepared.h"

// Rows of an image in a ring buffer: row y is stored (y - from) % ring rows after `at`. `from` is unsigned and may wrap
// below 0.
typedef struct taper_ring {
    char *at;
    size_t from, ring;
} taper_ring;

// Rows [begin, end) of image number `image` of the result. These rows are consecutive in memory. If row y of the result
// needs only row y of argument 0, the needed rows of argument 0 are consecutive, too.
typedef struct taper_band {
    size_t image, begin, end;
    taper_ring x, y;
} taper_band;

typedef struct taper_banded {
    size_t images, in_rows, out_rows; // number of images; number of rows of each image of argument 0 and of the result
    size_t in_row, out_row;           // number of bytes of a row of argument 0 and of the result
    // Row y of the result needs rows y * stride - pad to y * stride - pad + span - 1 of argument 0, as far as these
    // rows exist.
    size_t stride, span, pad;
    size_t weights; // number of bytes of weights that each band reads
    double work;    // nanoseconds of the whole call, as in taper_run_range
    // `begin` runs in the calling thread before all bands. `run` computes a band, in any thread. `end` runs after all
    // bands if `begin` succeeded; `end` is NULL if there is nothing to do.
    taper_status (*begin)(taper_call *call, void *data);
    void (*run)(void *data, const taper_band *band);
    void (*end)(taper_call *call, void *data);
} taper_banded;

// Says that the prepared call can compute some rows at a time, by the functions in *banded. Call this after a
// successful taper_prepare. The data of the prepared call must contain *banded.
void taper_prepare_bands(taper_call *call, const taper_banded *banded);

// ---- for code that joins calls

enum { TAPER_BANDS_MOST = 3 };

typedef struct taper_bands {
    const taper_banded *stages[TAPER_BANDS_MOST];
    size_t count;
    size_t step;                    // number of rows of the last result that are computed at a time
    size_t rings[TAPER_BANDS_MOST]; // number of rows in the ring of each result except the last
    size_t scratch;                 // number of bytes of all rings, including TAPER_OVERREAD
    // Smallest number of rows of the last result per part; with fewer rows, the rows computed twice at the part's edges
    // cost too much.
    size_t least;
    double work;
} taper_bands;

// Plans to run the calls in bands. Each result except the last has one user, the next call, which takes it as argument
// 0. Returns the number of bytes that stay in the cache instead of going to memory, or 0 if the calls are faster one
// after the other.
double taper_bands_plan(const taper_run *run, taper_prepared *const *calls, size_t count, taper_bands *bands);
// Makes the heap keep the memory for running the bands, so that the first run allocates nothing.
void taper_bands_keep_scratch(const taper_run *run, const taper_bands *bands);
// Computes the result of the last call. On failure *at is the index of the call that failed. Returns TAPER_DECLINED,
// with nothing changed, if memory is missing for the rings or for the calls.
TAPER_MUST_USE taper_status taper_bands_run(const taper_bands *bands, taper_call *const *calls, size_t *at);

#endif
