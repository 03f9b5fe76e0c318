// SPDX-License-Identifier: BSD-2-Clause
// Computes many short lines of an elementwise walk together (broadcast factors, slices, transposed operands). The
// operator's loop computes a tile of lines. Operands that are not stored in the tile's order are first gathered into
// it. Without tiles, one line at a time, such operators took up to a hundred times as long.
#include "ops/engine/elementwise_walk.h"

#include "ops/engine/elementwise_tiles.h"
#include "ops/engine/view_move.h"

// Returns true if a line reads elements that an earlier line writes. In tiles such elements would be read before they
// are written, unlike in PyTorch's order.
static bool is_crossed(const taper_ew_lines *w)
{
    taper_ew_walk walk = {.rank = w->rank, .sides = w->sides, .sizes = w->sizes};
    size_t items[TAPER_EW_INPUTS + 1];
    for (size_t k = 0; k < w->sides; k++) {
        walk.data[k] = w->side[k].data;
        walk.steps[k] = w->side[k].steps;
        items[k] = taper_dtype_size(w->side[k].dtype);
    }
    return taper_ew_is_crossed(&walk, items);
}

bool taper_ew_tiles(const taper_ew_lines *w, size_t block, size_t *width, size_t *lines)
{
    enum { ACROSS = 32 }; // number of elements of each line in a tile if an operand is transposed
    if (w->rank < 2) {
        return false;
    }
    *width = (size_t)w->sizes[0];
    for (size_t k = 0; k < w->sides; k++) {
        const taper_ew_side *const s = &w->side[k];
        const int64_t item = (int64_t)taper_dtype_size(s->dtype);
        if (s->steps[1] == item && s->steps[0] != 0 && s->steps[0] != item) {
            *width = taper_min_size(*width, ACROSS);
        }
    }
    *lines = taper_min_size(block / *width, (size_t)w->sizes[1]);
    return *lines > 1 && !is_crossed(w);
}

static bool converts(const taper_ew_inner *inner, const taper_ew_side *s)
{
    return s->dtype != s->wanted || (inner->native == NULL && s->common != s->dtype);
}

// Loads `lines` lines of n elements of an input into a block, in the dtype `wanted`, one line after the other.
static void load(const taper_run *run, const taper_ew_inner *inner, const taper_ew_side *s, const char *from, size_t n,
                 size_t lines, taper_ew_block *to, taper_ew_blocks *b)
{
    const int64_t item = (int64_t)taper_dtype_size(s->dtype);
    if (!s->flat) {
        taper_ew_block *const moved = converts(inner, s) ? &b->moved : to;
        taper_move_plane(run, (size_t)item, lines, n, (char *)moved, (int64_t)n * item, item, from, s->steps[1],
                         s->steps[0]);
        from = (const char *)moved;
    }
    if (converts(inner, s)) {
        taper_ew_side_load(inner, s, from, item, lines * n, to, &b->temp);
    }
}

// Stores the lines of a tile from a block to the result.
static void store(const taper_run *run, const taper_ew_inner *inner, const taper_ew_side *s, char *to, size_t n,
                  size_t lines, taper_ew_block *from, taper_ew_blocks *b)
{
    const int64_t item = (int64_t)taper_dtype_size(s->dtype);
    if (converts(inner, s)) {
        char *const stored = s->flat ? to : (char *)&b->moved;
        taper_ew_side_store(inner, s, stored, item, lines * n, from, &b->temp);
        from = &b->moved;
    }
    if (!s->flat) {
        taper_move_plane(run, (size_t)item, lines, n, to, s->steps[1], s->steps[0], (const char *)from,
                         (int64_t)n * item, item);
    }
}

static void run_tile(const taper_run *run, taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args,
                     taper_ew_blocks *b, char *const *at, size_t n, size_t lines)
{
    const void *in[TAPER_EW_INPUTS] = {NULL};
    for (size_t k = 0; k < w->sides; k++) {
        taper_ew_side *const s = &w->side[k];
        const int64_t item = (int64_t)taper_dtype_size(s->dtype);
        s->flat = s->steps[0] == item && (lines == 1 || s->steps[1] == (int64_t)n * item);
        if (k == 0) {
            continue;
        }
        const bool direct = s->flat && s->dtype == s->wanted;
        in[k - 1] = direct ? (const void *)at[k] : (const void *)&b->side[k];
        if (!direct && !s->filled) {
            load(run, inner, s, at[k], n, lines, &b->side[k], b);
        }
    }
    taper_ew_side *const to = &w->side[0];
    const bool direct = to->flat && to->dtype == to->wanted;
    taper_ew_run_inner(inner, w, n * lines, direct ? (void *)at[0] : (void *)&b->side[0], in, args);
    if (!direct) {
        store(run, inner, to, at[0], n, lines, &b->side[0], b);
    }
}

// Computes lines of doubles in place. Returns false if the run must end.
static bool run_doubles(const taper_ew_lines *w, const taper_ew_inner *inner, const taper_ew_args *args, size_t lines)
{
    enum { PIECE = 1 << 16 }; // number of elements between two checks of the run's time
    const size_t n = (size_t)w->sizes[0], most = taper_max_size(PIECE / n, 1);
    taper_line_operand in[2];
    for (size_t line = 0; line < lines; line += most) {
        const size_t count = taper_min_size(most, lines - line);
        if (args->run != NULL && !taper_run_goes_on(args->run, count * (n * TAPER_EW_WORK + TAPER_EW_WORK_OF_A_LINE))) {
            return false;
        }
        for (size_t k = 0; k < 2; k++) {
            const taper_ew_side *const s = &w->side[k + 1];
            in[k] = (taper_line_operand){(const double *)(const void *)(s->data + (int64_t)line * s->steps[1]),
                                         s->steps[0] / (int64_t)sizeof(double), s->steps[1] / (int64_t)sizeof(double)};
        }
        const taper_ew_side *const to = &w->side[0];
        inner->lines(count, n, &in[inner->swaps], &in[!inner->swaps],
                     (double *)(void *)(to->data + (int64_t)line * to->steps[1]),
                     to->steps[1] / (int64_t)sizeof(double));
    }
    return true;
}

bool taper_ew_tiles_run(const taper_run *run, taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args,
                        taper_ew_blocks *b, size_t block, size_t width, size_t lines)
{
    if (inner->lines != NULL) {
        return run_doubles(w, inner, args, lines);
    }
    const size_t n = (size_t)w->sizes[0];
    for (size_t k = 1; k < w->sides; k++) {
        taper_ew_side *const s = &w->side[k];
        if (s->constant && !s->filled) { // a constant input is loaded only once, for all tiles
            taper_ew_side_load(inner, s, s->data, 0, block, &b->side[k], &b->temp);
            s->filled = true;
        }
    }
    for (size_t at = 0; at < n; at += width) {
        const size_t wide = taper_min_size(width, n - at), most = block / wide;
        for (size_t line = 0; line < lines; line += most) {
            const size_t high = taper_min_size(most, lines - line);
            char *from[TAPER_EW_INPUTS + 1];
            if (args->run != NULL &&
                !taper_run_goes_on(args->run, high * (wide * TAPER_EW_WORK + TAPER_EW_WORK_OF_A_LINE))) {
                return false;
            }
            for (size_t k = 0; k < w->sides; k++) {
                const taper_ew_side *const s = &w->side[k];
                from[k] = s->data + (int64_t)at * s->steps[0] + (int64_t)line * s->steps[1];
            }
            run_tile(run, w, inner, args, b, from, wide, high);
        }
    }
    return true;
}
