// SPDX-License-Identifier: BSD-2-Clause
// Losses that PyTorch composes of other operators, and the distance of vectors: l1_loss, margin_ranking_loss,
// pairwise_distance, cosine_embedding_loss and triplet_margin_loss.
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/nn/loss.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

static taper_tensor *reduced(taper_compose *c, taper_tensor *losses, int64_t reduction)
{
    if (reduction == TAPER_REDUCE_NONE) {
        return losses;
    }
    return TAPER_COMPOSE(c, reduction == TAPER_REDUCE_MEAN ? taper_op_mean : taper_op_sum, &taper_reduce_all_dtype,
                         taper_compose_arg(losses), taper_val_none());
}

static taper_tensor *plus_number(taper_compose *c, taper_tensor *x, double number)
{
    return TAPER_COMPOSE(c, taper_op_sum2, &taper_ew_add, taper_compose_arg(x), taper_val_double(number),
                         taper_val_int(1));
}

static taper_tensor *not_negative(taper_compose *c, taper_tensor *x)
{
    return TAPER_COMPOSE(c, taper_op_clamp, NULL, taper_compose_arg(x), taper_val_int(0), taper_val_none());
}

TAPER_KERNEL(taper_op_l1_loss)
{
    taper_tensor *x, *target;
    int64_t reduction;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &target));
    TAPER_TRY(taper_loss_reduction(call, 2, &reduction));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *apart = taper_compose_sub(&c, x, target);
    apart = TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_abs, taper_compose_arg(apart));
    return taper_compose_ret(&c, call, 0, reduced(&c, apart, reduction));
}

// Reads the arguments (a, b, target, margin, reduction).
static taper_status pair_arguments(const taper_call *call, taper_tensor **a, taper_tensor **b, taper_tensor **target,
                                   double *margin, int64_t *reduction)
{
    TAPER_TRY(taper_arg_tensor(call, 0, a));
    TAPER_TRY(taper_arg_tensor(call, 1, b));
    TAPER_TRY(taper_arg_tensor(call, 2, target));
    TAPER_TRY(taper_arg_double(call, 3, margin));
    return taper_loss_reduction(call, 4, reduction);
}

TAPER_KERNEL(taper_op_margin_ranking_loss)
{
    taper_tensor *a, *b, *target;
    double margin;
    int64_t reduction;
    TAPER_TRY(pair_arguments(call, &a, &b, &target, &margin, &reduction));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *minus = TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_neg, TAPER_VAL(target));
    taper_tensor *losses = plus_number(&c, taper_compose_mul(&c, minus, taper_compose_sub(&c, a, b)), margin);
    return taper_compose_ret(&c, call, 0, reduced(&c, not_negative(&c, losses), reduction));
}

// Returns the p-norm of a - b + eps along the last dimension.
static taper_tensor *distance(taper_compose *c, taper_tensor *a, taper_tensor *b, double p, double eps, bool keep)
{
    taper_tensor *apart = plus_number(c, taper_compose_sub(c, a, b), eps);
    return TAPER_COMPOSE(c, taper_op_norm, &taper_reduce_p_dim_keep, taper_compose_arg(apart), taper_val_double(p),
                         taper_val_int(-1), taper_val_bool(keep));
}

TAPER_KERNEL(taper_op_pairwise_distance)
{
    taper_tensor *a, *b;
    double p, eps;
    bool keep;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    TAPER_TRY(taper_arg_double(call, 2, &p));
    TAPER_TRY(taper_arg_double(call, 3, &eps));
    TAPER_TRY(taper_arg_bool(call, 4, &keep));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    return taper_compose_ret(&c, call, 0, distance(&c, a, b, p, eps, keep));
}

TAPER_KERNEL(taper_op_triplet_margin_loss)
{
    taper_tensor *in[3]; // anchor, positive and negative
    double margin, p, eps;
    bool swap;
    int64_t reduction;
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_tensor(call, i, &in[i]));
        if (in[i]->rank != in[0]->rank) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "All inputs should have same dimension but got %uD and %uD inputs.", in[0]->rank, in[i]->rank);
        }
    }
    TAPER_TRY(taper_arg_double(call, 3, &margin));
    TAPER_TRY(taper_arg_double(call, 4, &p));
    TAPER_TRY(taper_arg_double(call, 5, &eps));
    TAPER_TRY(taper_arg_bool(call, 6, &swap));
    TAPER_TRY(taper_loss_reduction(call, 7, &reduction));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *near = distance(&c, in[0], in[1], p, eps, false), *far = distance(&c, in[0], in[2], p, eps, false);
    if (swap) {
        taper_tensor *other = distance(&c, in[1], in[2], p, eps, false);
        far = TAPER_COMPOSE(&c, taper_op_binary, &taper_ew_minimum, taper_compose_arg(far), taper_compose_arg(other));
    }
    taper_tensor *losses = taper_compose_sub(&c, plus_number(&c, near, margin), far);
    return taper_compose_ret(&c, call, 0, reduced(&c, not_negative(&c, losses), reduction));
}

// Returns the losses of the elements whose target equals `wanted`, and 0 for the other elements.
static taper_tensor *where_target(taper_compose *c, taper_tensor *target, int64_t wanted, taper_tensor *losses)
{
    taper_tensor *mask =
        TAPER_COMPOSE(c, taper_op_binary, &taper_ew_eq, taper_compose_arg(target), taper_val_int(wanted));
    taper_tensor *zero = taper_compose_mul_number(c, losses, 0);
    if (zero != NULL) { // selects elements, because a product with 0 would keep a NaN
        const taper_scalar number = taper_scalar_int(0);
        taper_compose_fail(c, taper_tensor_fill(c->run, zero, &number));
    }
    return TAPER_COMPOSE(c, taper_op_where, NULL, taper_compose_arg(mask), taper_compose_arg(losses),
                         taper_compose_arg(zero));
}

TAPER_KERNEL(taper_op_cosine_embedding_loss)
{
    taper_tensor *a, *b, *target;
    double margin;
    int64_t reduction;
    TAPER_TRY(pair_arguments(call, &a, &b, &target, &margin, &reduction));
    if (target->rank > 1 || a->rank != target->rank + 1u || b->rank != target->rank + 1u) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "%uD target tensor expects %uD input tensors, but found inputs with sizes %s and %s.", target->rank,
                   target->rank + 1u, taper_sizes_print(a->rank, a->sizes).text,
                   taper_sizes_print(b->rank, b->sizes).text);
    }
    const double tiny = 1e-12;
    const size_t dim = target->rank;
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *product = taper_compose_sum(&c, taper_compose_mul(&c, a, b), dim);
    taper_tensor *first = plus_number(&c, taper_compose_sum(&c, taper_compose_mul(&c, a, a), dim), tiny);
    taper_tensor *second = plus_number(&c, taper_compose_sum(&c, taper_compose_mul(&c, b, b), dim), tiny);
    taper_tensor *root =
        TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_sqrt, taper_compose_arg(taper_compose_mul(&c, first, second)));
    taper_tensor *cosine = taper_compose_div(&c, product, root);
    taper_tensor *unlike =
        TAPER_COMPOSE(&c, taper_op_rsub, NULL, taper_compose_arg(cosine), taper_val_int(1), taper_val_int(1));
    taper_tensor *like = not_negative(&c, plus_number(&c, cosine, -margin));
    taper_tensor *losses =
        taper_compose_add(&c, where_target(&c, target, 1, unlike), where_target(&c, target, -1, like));
    return taper_compose_ret(&c, call, 0, reduced(&c, losses, reduction));
}
