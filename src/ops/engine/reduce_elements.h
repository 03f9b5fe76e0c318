// SPDX-License-Identifier: BSD-2-Clause
// Part of reduce.c: reductions of one element to one result, which only copy the elements.
#ifndef TAPER_OPS_ENGINE_REDUCE_ELEMENTS_H
#define TAPER_OPS_ENGINE_REDUCE_ELEMENTS_H

// Returns true if each result is computed from one element and equals it, as for products, extremes and truth values.
static bool are_elements(const taper_reduce *r, const taper_tensor *x, const taper_tensor *out)
{
    const bool same = r->first == &taper_reduce_prod || r->first == &taper_reduce_max ||
                      r->first == &taper_reduce_min ||
                      (x->dtype == TAPER_BOOL && (r->first == &taper_reduce_any || r->first == &taper_reduce_every));
    for (size_t i = 0; i < x->rank; i++) {
        if (r->over[i] && x->sizes[i] != 1) {
            return false;
        }
    }
    return same && r->second == NULL && r->finish == TAPER_FINISH_SAME && r->overflow <= 0 && r->dtype == x->dtype &&
           out->dtype == x->dtype;
}

static void copy_elements(taper_run *run, const taper_reduce *r, const taper_tensor *x, taper_tensor *out)
{
    int64_t strides[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < x->rank; i++) {
        if (!r->over[i] || r->keep) {
            strides[rank++] = x->strides[i];
        }
    }
    taper_move(run, taper_tensor_item(x), rank, out->sizes, taper_tensor_mutable(out), out->strides,
               taper_tensor_data(x), strides);
}

#endif
