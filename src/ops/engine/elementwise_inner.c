// SPDX-License-Identifier: BSD-2-Clause
// Computes the elements of a line for the elementwise engine. The code chooses a kernel for the elements' own dtype
// (ops/kernels/native.h), a kernel for floats (ops/kernels/vector_f32.h), or the operator's loop for the class of the
// arithmetic (taper_ew_class). It also converts elements to and from the dtype that the chosen kernel or loop needs.
#include "ops/engine/elementwise_loops.h"
#include "ops/engine/elementwise_walk.h"

// ---- choosing the code for a line

#include "ops/engine/elementwise_native.h"

void taper_ew_choose_inner(const taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                           const taper_ew_decision *d, taper_ew_lines *w, taper_ew_inner *inner)
{
    *inner = (taper_ew_inner){.loop = NULL};
    if (choose_native(run, op, args, d, w, inner)) {
        return;
    }
    for (size_t k = 0; k < w->sides; k++) {
        w->side[k].wanted = taper_ew_native(w->side[k].class_);
        w->side[k].common = k == 0 ? d->result : w->side[k].class_ == TAPER_EW_F32 ? d->common : w->side[k].dtype;
    }
    inner->floats.vector = taper_vector_f32_select(run->cpu);
    if (run->portable || d->in_class != TAPER_EW_F32 || d->out_class != TAPER_EW_F32 ||
        !taper_ew_choose_vector(op, args, &inner->floats)) {
        inner->loop = d->loop;
    }
}

// ---- computing the elements of a line

// Computes the last elements of a line in buffers of TAPER_NATIVE_STEP elements, the step of a kernel.
static void run_rest(const taper_ew_inner *inner, const taper_ew_lines *w, size_t n, void *out, const void *const *in,
                     taper_ew_args *args)
{
    enum { WIDEST = 8 };
    uint64_t places[TAPER_EW_INPUTS + 1][TAPER_NATIVE_STEP * WIDEST / sizeof(uint64_t)];
    const void *padded[TAPER_EW_INPUTS];
    for (size_t k = 0; k < TAPER_EW_INPUTS; k++) {
        char *to = (char *)places[k];
        const size_t item = k + 1 < w->sides ? taper_dtype_size(w->side[k + 1].wanted) : 1;
        if (k + 1 < w->sides) {
            memcpy(to, in[k], n * item);
            for (size_t have = n; have < TAPER_NATIVE_STEP; have *= 2) {
                memcpy(to + have * item, to, taper_min_size(have, TAPER_NATIVE_STEP - have) * item);
            }
        }
        padded[k] = to;
    }
    args->zero_division |= inner->native(TAPER_NATIVE_STEP, padded, places[TAPER_EW_INPUTS], &inner->numbers);
    memcpy(out, places[TAPER_EW_INPUTS], n * taper_dtype_size(w->side[0].wanted));
}

static void run_native(const taper_ew_inner *inner, const taper_ew_lines *w, size_t n, void *out, const void *const *in,
                       taper_ew_args *args)
{
    // A kernel may read inputs that the operator does not have, so these inputs also point to readable memory.
    const void *all[TAPER_EW_INPUTS] = {in[0], w->sides > 2 ? in[1] : in[0], w->sides > 3 ? in[2] : in[0]};
    const size_t whole = n / TAPER_NATIVE_STEP * TAPER_NATIVE_STEP;
    if (whole != 0) {
        const void *swapped[TAPER_EW_INPUTS] = {all[1], all[0], all[2]};
        args->zero_division |= inner->native(whole, inner->swaps ? swapped : all, out, &inner->numbers);
    }
    if (whole != n) {
        const void *rest[TAPER_EW_INPUTS];
        for (size_t k = 0; k < TAPER_EW_INPUTS; k++) {
            const size_t side = k + 1 < w->sides ? k + 1 : 1;
            rest[k] = (const char *)all[k] + whole * taper_dtype_size(w->side[side].wanted);
        }
        const void *swapped[TAPER_EW_INPUTS] = {rest[1], rest[0], rest[2]}; // the swapped inputs have one dtype
        run_rest(inner, w, n - whole, (char *)out + whole * taper_dtype_size(w->side[0].wanted),
                 inner->swaps ? swapped : rest, args);
    }
}

void taper_ew_run_inner(const taper_ew_inner *inner, const taper_ew_lines *w, size_t n, void *out,
                        const void *const *in, taper_ew_args *args)
{
    if (inner->loop != NULL) {
        inner->loop(n, out, in, args);
    } else if (inner->native != NULL) {
        run_native(inner, w, n, out, in, args);
    } else {
        const float *floats[2] = {in[0], in[1]};
        taper_ew_run_vector(&inner->floats, n, floats, out);
    }
}

#define COPY(size, type)                                                                                               \
    case size:                                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            *(type *)(void *)to = *(const type *)(const void *)from;                                                   \
            to += to_step;                                                                                             \
            from += from_step;                                                                                         \
        }                                                                                                              \
        break;
static void copy_items(size_t item, size_t n, char *to, int64_t to_step, const char *from, int64_t from_step)
{
    switch (item) {
        COPY(1, uint8_t)
        COPY(2, uint16_t)
        COPY(4, uint32_t)
        COPY(8, uint64_t)
    default:
        break; // no kernel supports larger elements
    }
}

// Rounds an input's elements, which were loaded in a wider dtype, to the precision of the common dtype. PyTorch
// computes in the common dtype even if the tensor has another dtype.
static void pass_common(const taper_ew_inner *inner, const taper_ew_side *s, size_t n, taper_ew_block *block,
                        taper_ew_block *temp)
{
    if (inner->native == NULL && s->common != s->dtype && s->common != s->wanted &&
        taper_ew_class_of(s->common) == s->class_) {
        const int64_t item = (int64_t)taper_dtype_size(s->common);
        taper_ew_store(s->common, s->class_, temp, item, block, n, NULL);
        taper_ew_load(s->common, s->class_, block, temp, item, n, NULL);
    }
}

void taper_ew_side_load(const taper_ew_inner *inner, const taper_ew_side *s, const char *from, int64_t step, size_t n,
                        taper_ew_block *to, taper_ew_block *temp)
{
    const int64_t item = (int64_t)taper_dtype_size(s->dtype);
    if (s->cast != NULL && step == item) {
        s->cast(n, from, to);
    } else if (inner->native != NULL) {
        copy_items((size_t)item, n, (char *)to, item, from, step);
    } else {
        taper_ew_load(s->dtype, s->class_, to, from, step, n, temp);
    }
    pass_common(inner, s, n, to, temp);
}

void taper_ew_side_store(const taper_ew_inner *inner, const taper_ew_side *s, char *to, int64_t step, size_t n,
                         taper_ew_block *from, taper_ew_block *temp)
{
    const int64_t item = (int64_t)taper_dtype_size(s->dtype);
    pass_common(inner, s, n, from, temp);
    if (s->cast != NULL && step == item) {
        s->cast(n, from, to);
    } else if (inner->native != NULL) {
        copy_items((size_t)item, n, to, step, (const char *)from, item);
    } else {
        taper_ew_store(s->dtype, s->class_, to, step, from, n, temp);
    }
}
