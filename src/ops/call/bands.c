// SPDX-License-Identifier: BSD-2-Clause
// Calls in bands, see bands.h.
#include "ops/call/bands.h"

#include "ops/call/parallel.h"

void taper_prepare_bands(taper_call *call, const taper_banded *banded)
{
    (*call->prepared)->banded = banded;
}

// ---- planning the bands

// Finds rows [*first, *last) of argument 0: the rows that rows [begin, end) of the result need.
static void rows_under(const taper_banded *b, size_t begin, size_t end, size_t *first, size_t *last)
{
    *first = begin * b->stride - taper_min_size(begin * b->stride, b->pad);
    const size_t behind = (end - 1) * b->stride + b->span;
    *last = taper_min_size(behind - taper_min_size(behind, b->pad), b->in_rows);
    *first = taper_min_size(*first, *last);
}

// Returns true if windows, steps and padding fit the image, so numbers computed from their sizes remain small.
static bool is_regular(const taper_banded *b)
{
    return b->span <= b->in_rows && b->pad < b->span && b->stride <= b->in_rows;
}

static bool follows(const taper_banded *a, const taper_banded *b)
{
    return a->images == b->images && a->out_rows == b->in_rows && a->out_row == b->in_row;
}

// Sets the sizes of the rings (bands.h) for steps of `step` rows of the last result. Returns the number of bytes that a
// step reads and writes.
static size_t cut(taper_bands *bands, size_t step)
{
    const size_t last = bands->count - 1;
    size_t rows = step, touched = step * bands->stages[last]->out_row;
    bands->step = step;
    bands->scratch = TAPER_OVERREAD; // room after the rings, because depthwise kernels read past the last pixel
    for (size_t i = last; i > 0; i--) {
        rows = taper_min_size((rows - 1) * bands->stages[i]->stride + bands->stages[i]->span,
                              bands->stages[i]->in_rows); // a ring needs no more rows than the image has
        bands->rings[i - 1] = rows;
        bands->scratch += rows * bands->stages[i]->in_row;
        touched += bands->stages[i]->weights;
    }
    const taper_banded *first = bands->stages[0];
    return touched + bands->scratch + first->weights + ((rows - 1) * first->stride + first->span) * first->in_row;
}

// Bands save time if the results between the calls are too large for the cache, but a few of their rows fit. Returns
// the number of bytes of the results between the calls, which bands keep in the cache. Returns 0 if bands save no time,
// because these results fit as a whole, or because not even a few of their rows fit.
static double saved(const taper_run *run, taper_bands *bands)
{
    enum { MOST_ROWS = 8, LEAST_ROWS = 2, OVERLAPS = 7 };
    const size_t cache = taper_pool_caches(run->pool).l2;
    size_t halo = 0;
    double between = 0;
    bands->work = 0;
    for (size_t i = 0; i < bands->count; i++) {
        const taper_banded *b = bands->stages[i];
        bands->work += b->work;
        if (i > 0) {
            halo = taper_max_size(halo, b->span - taper_min_size(b->span, b->stride));
            between += (double)b->in_rows * (double)b->in_row;
        }
    }
    bands->least = taper_max_size(halo * OVERLAPS, LEAST_ROWS);
    // Each thread has a cache of its own. The bands may fill half of it. They may fill three quarters if the step is
    // the smallest step, or if a thread computes fewer than bands->least rows.
    const size_t half = cache / 2, most = cache / 4 * 3;
    const size_t threads = taper_pool_threads(run->pool);
    const taper_banded *end = bands->stages[bands->count - 1];
    const bool edges = threads > 1 && bands->least > (end->out_rows * end->images - 1) / threads + 1;
    if (between < (double)(edges ? most : half) * (double)threads) {
        return 0;
    }
    for (size_t step = MOST_ROWS; step >= LEAST_ROWS; step /= 2) {
        if (cut(bands, step) <= (step > LEAST_ROWS ? half : most)) {
            return step < end->out_rows ? between : 0;
        }
    }
    return 0;
}

double taper_bands_plan(const taper_run *run, taper_prepared *const *calls, size_t count, taper_bands *bands)
{
    // Number of calls, not counting the first one, in which a row of the result needs several rows of argument 0.
    size_t wide = 0;
    *bands = (taper_bands){.count = count};
    for (size_t i = 0; i < count; i++) {
        const taper_banded *b = calls[i]->banded;
        if (b == NULL || !is_regular(b) || (i > 0 && !follows(bands->stages[i - 1], b))) {
            return 0;
        }
        wide += i > 0 && b->span > 1;
        bands->stages[i] = b;
    }
    return wide <= 1 ? saved(run, bands) : 0;
}

// ---- running the stages in bands

typedef struct banded_run {
    const taper_bands *bands;
    void *data[TAPER_BANDS_MOST];
    const char *x;
    char *y;
    taper_places places;
    size_t rows, parts; // number of rows of a part of the last result; number of parts of an image
} banded_run;

// Computes rows [begin, end) of a stage in pieces, because rows may wrap around the end of a ring.
static void run_stage(const banded_run *r, size_t stage, taper_band band)
{
    const taper_banded *b = r->bands->stages[stage];
    while (band.begin < band.end) {
        taper_band some = band;
        const size_t y = (band.begin - band.y.from) % band.y.ring;
        some.end = taper_min_size(some.end, band.begin + band.y.ring - y);
        if (b->span == 1) {
            const size_t x = (band.begin - band.x.from) % band.x.ring;
            some.end = taper_min_size(some.end, band.begin + band.x.ring - x);
        }
        b->run(r->data[stage], &some);
        band.begin = some.end;
    }
}

// Computes rows [begin, end) of the last result for one image, band by band.
static void run_part(const banded_run *r, size_t image, size_t begin, size_t end, char *scratch)
{
    const taper_bands *bands = r->bands;
    const size_t last = bands->count - 1;
    taper_ring rings[TAPER_BANDS_MOST + 1];
    size_t made[TAPER_BANDS_MOST], until[TAPER_BANDS_MOST];
    const taper_banded *first = bands->stages[0], *end_stage = bands->stages[last];
    rings[0] = (taper_ring){(char *)(uintptr_t)r->x + image * first->in_rows * first->in_row, 0, SIZE_MAX};
    rings[last + 1] = (taper_ring){r->y + image * end_stage->out_rows * end_stage->out_row, 0, SIZE_MAX};
    size_t from = begin, behind = end;
    made[last] = begin;
    for (size_t i = last; i > 0; i--) {
        // The ring starts at row `top`, which may be a row of padding above the image, so the ring also has room for
        // such rows. The first step then ends at the end of the ring, and the next step begins at its start. With two
        // rows per step, a stride of 1 and a span of 3, no step wraps around.
        const size_t top = from * bands->stages[i]->stride - bands->stages[i]->pad;
        rows_under(bands->stages[i], from, behind, &from, &behind);
        made[i - 1] = from;
        rings[i] = (taper_ring){scratch, top, bands->rings[i - 1]};
        scratch += bands->rings[i - 1] * bands->stages[i]->in_row;
    }
    for (size_t row = begin; row < end; row += bands->step) {
        until[last] = taper_min_size(row + bands->step, end);
        size_t unused;
        for (size_t i = last; i > 0; i--) {
            rows_under(bands->stages[i], until[i] - 1, until[i], &unused, &until[i - 1]);
        }
        for (size_t i = 0; i <= last; i++) {
            if (made[i] < until[i]) {
                run_stage(r, i, (taper_band){image, made[i], until[i], rings[i], rings[i + 1]});
                made[i] = until[i];
            }
        }
    }
}

static void run_parts(void *argument, size_t begin, size_t end)
{
    const banded_run *r = argument;
    const taper_banded *last = r->bands->stages[r->bands->count - 1];
    void *place = taper_place_take(&r->places, begin, r->parts * last->images);
    const size_t rows = last->out_rows;
    for (; begin < end; begin++) {
        const size_t first = begin % r->parts * r->rows;
        run_part(r, begin / r->parts, first, taper_min_size(first + r->rows, rows), place);
    }
    taper_place_leave(place);
}

// Returns the largest number of rows of an image that one thread computes.
static size_t most_of_a_thread(size_t out_rows, size_t rows, size_t threads)
{
    const size_t parts = (out_rows - 1) / rows + 1;
    return taper_min_size(((parts - 1) / threads + 1) * rows, out_rows);
}

// Splits the rows of the last result into parts. Returns the number of parts of all images.
static size_t cut_parts(banded_run *r, const taper_run *run)
{
    const taper_bands *bands = r->bands;
    const taper_banded *last = bands->stages[bands->count - 1];
    // Number of pieces of work per image.
    const size_t pieces = (taper_run_pieces(run, bands->work) - 1) / last->images + 1;
    // With larger parts fewer rows are computed twice, but parts must not be so large that a thread has no work.
    const size_t threads = taper_pool_threads(run->pool), share = (last->out_rows * last->images - 1) / threads + 1;
    r->rows = taper_max_size((last->out_rows - 1) / pieces + 1, taper_min_size(bands->least, share));
    const size_t parts = (last->out_rows - 1) / r->rows + 1;
    if (last->images == 1 && parts > threads && parts < 4 * threads) { // each thread gets the same number of parts
        r->rows = (last->out_rows - 1) / (parts - parts % threads) + 1;
    }
    // Kernels compute pairs of rows faster than single rows. Parts become whole pairs unless a thread then computes
    // more rows.
    const size_t pairs = taper_round_up(r->rows, 2);
    if (last->images > 1 ||
        most_of_a_thread(last->out_rows, pairs, threads) <= most_of_a_thread(last->out_rows, r->rows, threads)) {
        r->rows = pairs;
    }
    r->parts = (last->out_rows - 1) / r->rows + 1;
    return r->parts * last->images;
}

void taper_bands_keep_scratch(const taper_run *run, const taper_bands *bands)
{
    banded_run r = {.bands = bands};
    if (taper_places_open(run, bands->scratch, cut_parts(&r, run), &r.places)) {
        taper_places_close(run, &r.places);
    }
}

static void end_stages(const banded_run *r, taper_call *const *calls, size_t begun)
{
    for (size_t i = 0; i < begun; i++) {
        if (r->bands->stages[i]->end != NULL) {
            r->bands->stages[i]->end(calls[i], r->data[i]);
        }
    }
}

// Runs all parts. The caller has allocated the rings. Returns TAPER_DECLINED if the scratch memory of a stage is
// missing.
static taper_status run_all(banded_run *r, taper_call *const *calls, size_t parts, size_t *at)
{
    const taper_bands *bands = r->bands;
    const size_t last = bands->count - 1;
    taper_tensor *y;
    for (size_t i = 0; i < bands->count; i++) {
        r->data[i] = (*calls[i]->prepared)->data;
        if (bands->stages[i]->begin(calls[i], r->data[i]) != TAPER_OK) {
            end_stages(r, calls, i);
            return TAPER_DECLINED;
        }
    }
    *at = last;
    taper_status status = taper_ret_prepared(calls[last], &y);
    if (status == TAPER_OK) {
        r->y = taper_tensor_mutable(y);
        status = taper_run_range(calls[0]->run, run_parts, r, parts, 1, bands->work);
    }
    end_stages(r, calls, bands->count);
    return status;
}

taper_status taper_bands_run(const taper_bands *bands, taper_call *const *calls, size_t *at)
{
    const taper_run *run = calls[0]->run;
    banded_run r = {.bands = bands, .x = taper_tensor_data(calls[0]->args[0].as.tensor)};
    const size_t parts = cut_parts(&r, run);
    if (!taper_places_open(run, bands->scratch, parts, &r.places)) {
        return TAPER_DECLINED;
    }
    const taper_status status = run_all(&r, calls, parts, at);
    taper_places_close(run, &r.places);
    return status;
}
