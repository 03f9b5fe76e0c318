// SPDX-License-Identifier: BSD-2-Clause
// The composition of grid_sample: sums of the elements around each point, with weights that follow from the point's
// position.
#include "ops/gradient/steps_math.h"

enum { BILINEAR, NEAREST, BICUBIC };

enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };

enum { MOST_DIMS = 3 };

typedef struct sampler {
    // dims: 2 for an image, 3 for a volume. way: the interpolation, such as BICUBIC. padding: the mode of padding, such
    // as PAD_BORDER.
    int64_t dims, way, padding;
    bool aligned;
    int64_t sizes[MOST_DIMS];               // sizes in the input, the last dimension first
    taper_step_value places[MOST_DIMS];     // positions of the points, in elements
    taper_step_value lower[MOST_DIMS];      // indices of the last elements before the points
    taper_step_value weights[MOST_DIMS][4]; // weights of the elements from lower - 1 to lower + 2
    taper_step_value flat;                  // the input, [batch, channels, elements]
} sampler;

static taper_step_value clamped(taper_steps *s, taper_step_value x, int64_t size)
{
    return TAPER_STEP(s, aten_clamp, x, TAPER_STEP_INT(0), taper_step_int(s, size - 1));
}

// Reflects at both ends: at the centres of the outer elements, or at their edges.
static taper_step_value reflected(taper_steps *s, const sampler *g, taper_step_value x, int64_t size)
{
    const double least = g->aligned ? 0 : -0.5, span = g->aligned ? (double)size - 1 : (double)size;
    if (span == 0) {
        return taper_step_scale(s, x, 0);
    }
    x = TAPER_STEP(s, aten_abs, taper_step_shift(s, x, -least));
    const taper_step_value flips = TAPER_STEP(s, aten_floor, taper_step_scale(s, taper_step_detach(s, x), 1 / span));
    const taper_step_value rest = taper_step_sub(s, x, taper_step_scale(s, flips, span));
    taper_step_value odd = TAPER_STEP(s, aten_remainder_Scalar, flips, TAPER_STEP_INT(2));
    odd = TAPER_STEP(s, aten_eq_Scalar, odd, TAPER_STEP_INT(1));
    return clamped(s, taper_step_shift(s, taper_step_where(s, odd, taper_step_from(s, span, rest), rest), least), size);
}

static taper_step_value padded(taper_steps *s, const sampler *g, taper_step_value x, int64_t size)
{
    return g->padding == PAD_BORDER ? clamped(s, x, size) : g->padding == PAD_REFLECTION ? reflected(s, g, x, size) : x;
}

// These functions return the kernel of the cubic convolution with a = -3/4: near_weight for distances up to 1,
// far_weight for distances from 1 to 2.
static taper_step_value near_weight(taper_steps *s, taper_step_value t)
{
    taper_step_value value = taper_step_shift(s, taper_step_scale(s, t, 1.25), -2.25);
    value = taper_step_mul(s, taper_step_mul(s, value, t), t);
    return taper_step_shift(s, value, 1);
}

static taper_step_value far_weight(taper_steps *s, taper_step_value t)
{
    taper_step_value value = taper_step_shift(s, taper_step_scale(s, t, -0.75), 3.75);
    value = taper_step_shift(s, taper_step_mul(s, value, t), -6);
    return taper_step_shift(s, taper_step_mul(s, value, t), 3);
}

static void prepare(taper_steps *s, sampler *g, taper_step_value grid, int64_t k)
{
    const int64_t size = g->sizes[k];
    taper_step_value x = TAPER_STEP(s, aten_select_int, grid, TAPER_STEP_INT(-1), taper_step_int(s, k));
    x = g->aligned ? taper_step_scale(s, taper_step_shift(s, x, 1), (double)(size - 1) / 2)
                   : taper_step_shift(s, taper_step_scale(s, taper_step_shift(s, x, 1), (double)size / 2), -0.5);
    x = g->way == BICUBIC ? x : padded(s, g, x, size);
    g->places[k] = x;
    const taper_step_value fixed = taper_step_detach(s, x);
    g->lower[k] = g->way == NEAREST ? TAPER_STEP(s, aten_round, fixed) : TAPER_STEP(s, aten_floor, fixed);
    const taper_step_value t = taper_step_sub(s, x, g->lower[k]);
    if (g->way == BICUBIC) {
        const taper_step_value rest = taper_step_from(s, 1, t);
        g->weights[k][0] = far_weight(s, taper_step_shift(s, t, 1));
        g->weights[k][1] = near_weight(s, t);
        g->weights[k][2] = near_weight(s, rest);
        g->weights[k][3] = far_weight(s, taper_step_shift(s, rest, 1));
    } else if (g->way == BILINEAR) {
        g->weights[k][1] = taper_step_from(s, 1, t);
        g->weights[k][2] = t;
    } else { // nearest: the weight is 1, and the position gets the gradient 0
        g->weights[k][1] = taper_step_shift(s, taper_step_scale(s, t, 0), 1);
    }
}

// Returns `sum` plus one weighted element for each point.
static taper_step_value add_tap(taper_steps *s, const sampler *g, const int *tap, taper_step_value sum)
{
    taper_step_value index = taper_step_none, weight = taper_step_none;
    int64_t stride = 1;
    for (int64_t k = 0; k < g->dims; k++) {
        taper_step_value at = taper_step_shift(s, g->lower[k], tap[k] - 1);
        at = g->way == BICUBIC ? padded(s, g, at, g->sizes[k]) : at;
        const taper_step_value outside =
            TAPER_STEP(s, aten_logical_or, TAPER_STEP(s, aten_lt_Scalar, at, TAPER_STEP_INT(0)),
                       TAPER_STEP(s, aten_gt_Scalar, at, taper_step_int(s, g->sizes[k] - 1)));
        const taper_step_value own =
            TAPER_STEP(s, aten_masked_fill_Scalar, g->weights[k][tap[k]], outside, TAPER_STEP_INT(0));
        weight = k == 0 ? own : taper_step_mul(s, weight, own);
        at = TAPER_STEP(s, aten_round, clamped(s, at, g->sizes[k]));
        at = taper_step_scale(s, at, (double)stride);
        index = k == 0 ? at : taper_step_add(s, index, at);
        stride = taper_wrap_mul(stride, g->sizes[k]);
    }
    const taper_tensor *const w = taper_steps_tensor(s, weight);
    const taper_tensor *const flat = g->flat->as.tensor;
    if (w != NULL) {
        const int64_t points = w->sizes[0] != 0 ? taper_tensor_numel(w) / w->sizes[0] : 0;
        const int64_t sizes[3] = {w->sizes[0], 1, points}, wide[3] = {w->sizes[0], flat->sizes[1], points};
        index = TAPER_STEP(s, aten_to_dtype, taper_step_reshape(s, index, sizes, 3), taper_step_int(s, TAPER_I64));
        index = TAPER_STEP(s, aten_expand, index, taper_steps_ints(s, wide, 3));
        const taper_step_value found = TAPER_STEP(s, aten_gather, g->flat, TAPER_STEP_INT(2), index);
        const taper_step_value part = taper_step_mul(s, found, taper_step_reshape(s, weight, sizes, 3));
        return taper_step_is_tensor(sum) ? taper_step_add(s, sum, part) : part;
    }
    return sum;
}

static taper_step_value add_taps(taper_steps *s, const sampler *g)
{
    const int first = g->way == BICUBIC ? 0 : 1, count = g->way == BICUBIC ? 4 : g->way == BILINEAR ? 2 : 1;
    const size_t kept = s->count;
    taper_step_value sum = taper_step_none;
    int all = 1;
    for (int64_t k = 0; k < g->dims; k++) {
        all *= count;
    }
    for (int i = 0; i < all; i++) {
        int tap[MOST_DIMS], rest = i;
        for (int64_t k = 0; k < g->dims; k++) {
            tap[k] = first + rest % count;
            rest /= count;
        }
        sum = add_tap(s, g, tap, sum);
        taper_steps_carry(s, kept, &sum, 1);
    }
    return sum;
}

TAPER_STEPS_KERNEL(taper_op_grid_sampler_steps)
{
    sampler g;
    const taper_tensor *const input = s->args[0].as.tensor, *const grid = s->args[1].as.tensor;
    g.way = taper_steps_int(s, 2);
    g.padding = taper_steps_int(s, 3);
    g.aligned = taper_steps_bool(s, 4);
    g.dims = input->rank - 2;
    if (g.dims < 2 || g.dims > MOST_DIMS || grid->rank != input->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                   "grid_sampler expects an image or a volume, and its grid");
    }
    int64_t sizes[TAPER_MAX_RANK] = {input->sizes[0], input->sizes[1]};
    for (int64_t k = 0; k < g.dims; k++) {
        g.sizes[k] = input->sizes[input->rank - 1 - k];
        sizes[2 + k] = grid->sizes[1 + k];
    }
    g.flat = TAPER_STEP(s, aten_flatten_using_ints, &s->args[0], TAPER_STEP_INT(2), TAPER_STEP_INT(-1));
    for (int64_t k = 0; k < g.dims; k++) {
        prepare(s, &g, &s->args[1], k);
    }
    return taper_steps_ret(s, 0, taper_step_reshape(s, add_taps(s, &g), sizes, input->rank));
}
