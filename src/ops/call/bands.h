// SPDX-License-Identifier: BSD-2-Clause
// Calls in bands. Where layers of an image network follow one another and each is the only one to look at what the one
// before it made, they can be done some rows at a time: a few rows of the first, then those of the second that these
// allow, and so on. What lies between them is then a ring of rows that stays in the L2 cache, where the whole image of
// an inverted residual's wide middle would not. Rows of a ring are written once; each thread has a part of the last
// result's rows, and at its edges makes again the few rows of the others that its neighbour makes, too.
//
// A kernel that can make some rows of its result says so when it prepares a call (taper_prepare_bands); recordings join
// such calls (runtime/recording.h).
#ifndef TAPER_OPS_BANDS_H
#define TAPER_OPS_BANDS_H

#include "ops/call/prepared.h"

// Where rows of one image lie: row y is row (y - from) % ring behind `at`. from may be less than 0, as a size_t is.
typedef struct taper_ring {
    char *at;
    size_t from, ring;
} taper_ring;

// Rows [begin, end) of the result's image number `image`. They lie one behind the other, as do those of x where a row
// of the result needs no more than its own row of x.
typedef struct taper_band {
    size_t image, begin, end;
    taper_ring x, y;
} taper_band;

typedef struct taper_banded {
    size_t images, in_rows, out_rows; // rows of an image
    size_t in_row, out_row;           // bytes
    // Row y of the result needs the rows y * stride - pad to y * stride - pad + span - 1 of argument 0, as far as there
    // are such.
    size_t stride, span, pad;
    size_t weights; // bytes that each band reads
    double work;    // of the whole call, as for taper_run_range
    // begin: in the calling thread, before all bands. run: of a band, in any thread. end: after a begin that succeeded;
    // NULL: nothing to do.
    taper_status (*begin)(taper_call *call, void *data);
    void (*run)(void *data, const taper_band *band);
    void (*end)(taper_call *call, void *data);
} taper_banded;

// Behind a successful taper_prepare, whose data has it.
void taper_prepare_bands(taper_call *call, const taper_banded *banded);

// ---- for who joins calls

enum { TAPER_BANDS_MOST = 3 };

typedef struct taper_bands {
    const taper_banded *stages[TAPER_BANDS_MOST];
    size_t count;
    size_t step;                    // rows of the last result at a time
    size_t rings[TAPER_BANDS_MOST]; // rows of each result but the last
    size_t scratch;                 // bytes of all rings, and TAPER_OVERREAD
    size_t least;                   // rows of the last result that are worth a thread's edges
    double work;
} taper_bands;

// Whether these calls are faster in bands than one after the other: each but the last has one user, the next one, as
// its argument 0. The bytes that then need not leave the cache; 0: they are not.
double taper_bands_plan(const taper_run *run, taper_prepared *const *calls, size_t count, taper_bands *bands);
// Has the heap keep the memory that running them takes, so that the first time asks nobody for any.
void taper_bands_keep_scratch(const taper_run *run, const taper_bands *bands);
// Makes the last call's result. *at: the call whose part failed. TAPER_DECLINED: there is no memory for rings and what
// calls need beside, and nothing happened.
TAPER_MUST_USE taper_status taper_bands_run(const taper_bands *bands, taper_call *const *calls, size_t *at);

#endif
