// SPDX-License-Identifier: BSD-2-Clause
// Part of sort.c: finds the first entries of a line of floats by a heap, if no two of them are equal.
#ifndef TAPER_OPS_TENSOR_SORT_FIRST_H
#define TAPER_OPS_TENSOR_SORT_FIRST_H

// Finds the first k entries by a heap of k + 1 entries. *found is false if some of these entries are equal, because
// PyTorch's algorithm then decides which entries come first.
static taper_status find_first(const job *j, sorter *s, const taper_tensor *x, size_t n, bool *found)
{
    const size_t count = (size_t)j->k;
    TAPER_TRY(taper_sort_read_first(&s->line, (taper_dtype)x->dtype, s->from, s->step, n, j->descending, count + 1));
    *found = s->line.floats;
    for (size_t i = 0; i < count && *found; i++) {
        *found = !taper_sort_same(&s->line, i, i + 1);
    }
    return TAPER_OK;
}

static taper_status try_first(job *j, sorter *s, const taper_tensor *x, size_t n)
{
    if (!j->tried) {
        return TAPER_OK;
    }
    const taper_status status = find_first(j, s, x, n, &j->found);
    // If the heap failed for this line, it is not tried for the next lines, which are probably similar.
    j->tried = j->found;
    return status;
}

#endif
