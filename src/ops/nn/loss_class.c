// SPDX-License-Identifier: BSD-2-Clause
// Losses of classification: the variants of nll_loss, cross_entropy_loss, and losses of margins between classes.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/softmax_lines.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/loss.h"

// The arguments of a loss, with scores as N × C × S: samples, classes, positions (pixels). The target lacks C.
typedef struct class_work {
    taper_tensor *scores, *target, *weight;
    taper_tensor *scores_held, *target_held; // contiguous tensors, retained
    taper_dtype dtype;
    int64_t samples, classes, places;
    int64_t reduction, ignored;
    double smoothing;
    bool log_softmax;                 // true if the scores still need a log_softmax
    taper_tensor *normalizers;        // log Σ exp of the scores of each position, retained; NULL: computed one by one
    const taper_vector_entry *vector; // kernels for floats, or NULL
} class_work;

static void class_end(class_work *work)
{
    if (work->scores_held != NULL) {
        taper_obj_release(&work->scores_held->head);
    }
    if (work->target_held != NULL) {
        taper_obj_release(&work->target_held->head);
    }
    taper_tensor_drop(work->normalizers);
}

// Computes the normalizers (log Σ exp of the scores) of all positions together, for images of floats.
static taper_status find_normalizers(taper_call *call, class_work *work)
{
    taper_tensor *const x = work->scores_held;
    if (!work->log_softmax || work->vector == NULL || work->vector->log_sum_exp == NULL || work->places == 1 ||
        taper_tensor_numel(x) == 0) {
        return TAPER_OK;
    }
    taper_tensor image = taper_tensor_local(x);
    const int64_t sizes[] = {work->samples, work->classes, work->places};
    image.rank = 3;
    memcpy(image.sizes, sizes, sizeof sizes);
    taper_strides_contiguous(3, image.sizes, image.strides);
    const int64_t places[] = {work->samples, work->places};
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_F32, 2, places, NULL, &work->normalizers, call->run->error));
    taper_lines lines;
    taper_lines_make(&lines, &image, 1, work->normalizers, true, false);
    const taper_status status = taper_softmax_lines(call->run, &lines, TAPER_LOG_SUM_EXP, taper_tensor_data(x),
                                                    taper_tensor_mutable(work->normalizers));
    if (status == TAPER_DECLINED) {
        taper_tensor_drop(work->normalizers);
        work->normalizers = NULL;
        return TAPER_OK;
    }
    return status;
}

static double score_at(const class_work *work, int64_t n, int64_t c, int64_t s)
{
    const int64_t at = (n * work->classes + c) * work->places + s;
    const void *scores = taper_tensor_data(work->scores_held);
    return work->dtype == TAPER_F32 ? (double)((const float *)scores)[at] : taper_number_load(work->dtype, scores, at);
}

static double weight_of(const class_work *work, int64_t c)
{
    const taper_tensor *w = work->weight;
    return w == NULL ? 1.0 : taper_number_load((taper_dtype)w->dtype, taper_tensor_data(w), c * w->strides[0]);
}

// Returns the number to subtract from the scores of one position: log Σ exp, or 0.
static double normalizer(const class_work *work, int64_t n, int64_t s)
{
    if (!work->log_softmax) {
        return 0.0;
    }
    if (work->vector != NULL && work->vector->log_sum_exp != NULL && work->places == 1) {
        const float *scores = (const float *)taper_tensor_data(work->scores_held) + n * work->classes;
        const float sum = work->vector->log_sum_exp((size_t)work->classes, scores);
        if (isfinite(sum)) {
            return (double)sum;
        }
    }
    if (work->normalizers != NULL) {
        const float sum = ((const float *)taper_tensor_data(work->normalizers))[n * work->places + s];
        if (isfinite(sum)) {
            return (double)sum;
        }
    }
    double most = -INFINITY, sum = 0.0;
    for (int64_t c = 0; c < work->classes; c++) {
        const double v = score_at(work, n, c, s);
        most = v > most || v != v ? v : most;
    }
    for (int64_t c = 0; c < work->classes; c++) {
        sum += exp(score_at(work, n, c, s) - most);
    }
    return most + log(sum);
}

// Returns the weighted sum, over all classes, of the loss that the position would have for the class.
static double sum_of_losses(const class_work *work, int64_t n, int64_t s, double norm)
{
    if (work->vector != NULL && work->vector->fold[TAPER_REDUCTION_SUM] != NULL && work->places == 1 &&
        work->weight == NULL) {
        const float *scores = (const float *)taper_tensor_data(work->scores_held) + n * work->classes;
        return norm * (double)work->classes -
               (double)work->vector->fold[TAPER_REDUCTION_SUM]((size_t)work->classes, scores);
    }
    double sum = 0.0;
    for (int64_t k = 0; k < work->classes; k++) {
        sum += (norm - score_at(work, n, k, s)) * weight_of(work, k);
    }
    return sum;
}

static taper_status class_begin(taper_call *call, bool probabilities, class_work *work)
{
    taper_error *error = call->run->error;
    const taper_tensor *x = work->scores, *t = work->target;
    work->dtype = (taper_dtype)x->dtype;
    if (x->rank < 1 || !taper_dtype_is_float(work->dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the input must be a floating-point tensor of at least one dimension");
    }
    const size_t class_dim = x->rank == 1 ? 0 : 1;
    bool fits = probabilities ? t->rank == x->rank : t->rank + 1u == x->rank;
    for (size_t i = 0; fits && i < t->rank; i++) {
        fits = t->sizes[i] == x->sizes[probabilities || i < class_dim ? i : i + 1];
    }
    const bool kind =
        probabilities ? taper_dtype_is_float((taper_dtype)t->dtype) : t->dtype == TAPER_I64 || t->dtype == TAPER_U8;
    if (!fits || !kind) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the target must hold a class index (int64) for every position of the input");
    }
    work->classes = x->sizes[class_dim];
    if (work->weight != NULL && (work->weight->rank != 1 || work->weight->sizes[0] != work->classes)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "weight must have one element for each of the %lld classes",
                   (long long)work->classes);
    }
    work->places = 1;
    for (size_t i = 2; i < x->rank; i++) {
        if (!taper_mul_i64(work->places, x->sizes[i], &work->places)) {
            TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the input is too large");
        }
    }
    work->samples = x->rank == 1 ? 1 : x->sizes[0];
    if (work->places == 0) {
        work->samples = 0; // an input without elements may have 2^40 samples, none of which has a loss
    }
    TAPER_TRY(taper_run_contiguous(call->run, work->scores, &work->scores_held));
    TAPER_TRY(taper_run_contiguous(call->run, work->target, &work->target_held));
    return find_normalizers(call, work);
}

enum { TOGETHER = 64 }; // number of positions between two checks of the run's time

static taper_status check_target(const taper_call *call, const class_work *work, int64_t c)
{
    return c >= 0 && c < work->classes
               ? TAPER_OK
               : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "target %lld is out of bounds", (long long)c);
}

// Adds the losses of all positions of a sample, and counts the positions. The scores are floats without weights, and
// the normalizers are known.
static taper_status sum_of_places(const taper_call *call, const class_work *work, int64_t n, double *sum,
                                  double *counted)
{
    const int64_t *target = (const int64_t *)taper_tensor_data(work->target_held) + n * work->places;
    const float *scores = (const float *)taper_tensor_data(work->scores_held) + n * work->classes * work->places;
    double totals[4] = {0, 0, 0, 0}; // four independent sums, which the CPU overlaps
    int64_t ignored = 0;
    for (int64_t s = 0; s < work->places; s++) {
        if (s % TOGETHER == 0) {
            TAPER_TRY(taper_run_spend(call->run, 10 * (uint64_t)taper_min_i64(TOGETHER, work->places - s)));
        }
        const int64_t c = target[s];
        if (c != work->ignored) {
            TAPER_TRY(check_target(call, work, c));
            totals[s % 4] += (work->log_softmax ? normalizer(work, n, s) : 0.0) - (double)scores[c * work->places + s];
        } else {
            ignored++;
        }
    }
    *sum += totals[0] + totals[1] + (totals[2] + totals[3]);
    *counted += (double)(work->places - ignored);
    return TAPER_OK;
}

// Computes result 0 from class indices, and total_weight as result 1 for the _forward operators.
static taper_status run_indices(taper_call *call, const class_work *work)
{
    taper_tensor *y = NULL;
    const void *target = taper_tensor_data(work->target_held);
    const bool bytes = work->target_held->dtype == TAPER_U8;
    double sum = 0.0, weights = 0.0, smooth_sum = 0.0, counted = 0.0;
    const bool looked_up = (!work->log_softmax || work->normalizers != NULL) && !(work->smoothing > 0.0);
    if (work->reduction == TAPER_REDUCE_NONE) {
        TAPER_TRY(taper_ret_new(call, 0, work->dtype, work->target->rank, work->target->sizes, NULL, &y));
        if (!taper_tensor_is_contiguous(y)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor must be contiguous");
        }
    }
    const bool plain = looked_up && work->dtype == TAPER_F32 && y == NULL && work->weight == NULL && !bytes;
    for (int64_t n = 0; n < work->samples; n++) {
        if (plain) {
            TAPER_TRY(sum_of_places(call, work, n, &sum, &counted));
            weights = counted;
            continue;
        }
        for (int64_t s = 0; s < work->places; s++) {
            if (!looked_up) {
                TAPER_TRY(taper_run_spend(call->run, (uint64_t)work->classes * 30 + 50));
            } else if (s % TOGETHER == 0) {
                TAPER_TRY(taper_run_spend(call->run, 20 * (uint64_t)taper_min_i64(TOGETHER, work->places - s)));
            }
            const int64_t at = n * work->places + s;
            const int64_t c = bytes ? ((const uint8_t *)target)[at] : ((const int64_t *)target)[at];
            double loss = 0.0, smooth = 0.0;
            if (c != work->ignored) {
                TAPER_TRY(check_target(call, work, c));
                const double norm = normalizer(work, n, s), weight = weight_of(work, c);
                loss = (norm - score_at(work, n, c, s)) * weight;
                smooth = work->smoothing > 0.0 ? sum_of_losses(work, n, s, norm) : 0.0;
                weights += weight;
                counted += 1.0;
            }
            sum += loss;
            smooth_sum += smooth;
            if (y != NULL) {
                if (work->smoothing > 0.0) {
                    loss = (1.0 - work->smoothing) * loss + smooth * work->smoothing / (double)work->classes;
                }
                taper_number_store(work->dtype, taper_tensor_mutable(y), at, loss);
            }
        }
    }
    if (work->reduction == TAPER_REDUCE_MEAN) {
        sum /= weights;
        smooth_sum /= work->weight != NULL ? weights : counted;
    }
    if (work->smoothing > 0.0) {
        sum = (1.0 - work->smoothing) * sum + smooth_sum * work->smoothing / (double)work->classes;
    }
    if (y == NULL) {
        TAPER_TRY(taper_loss_scalar(call, 0, work->dtype, sum));
    }
    if (call->ret_count > 1) {
        const bool summed = y == NULL || work->scores->rank == 1; // if false, PyTorch leaves total_weight at 0
        TAPER_TRY(taper_loss_scalar(call, 1, work->dtype, summed ? weights : 0.0));
    }
    return TAPER_OK;
}

static taper_status run_probabilities(taper_call *call, const class_work *work)
{
    taper_tensor *y = NULL;
    const taper_tensor *t = work->target_held;
    double sum = 0.0;
    if (work->reduction == TAPER_REDUCE_NONE) {
        int64_t sizes[TAPER_MAX_RANK];
        size_t rank = 0;
        for (size_t i = 0; i < work->scores->rank; i++) {
            if (i != (work->scores->rank == 1 ? 0 : 1)) {
                sizes[rank++] = work->scores->sizes[i];
            }
        }
        TAPER_TRY(taper_ret_new(call, 0, work->dtype, rank, sizes, NULL, &y));
    }
    for (int64_t n = 0; n < work->samples; n++) {
        for (int64_t s = 0; s < work->places; s++) {
            TAPER_TRY(taper_run_spend(call->run, (uint64_t)work->classes * 30 + 50));
            const double norm = normalizer(work, n, s);
            double loss = 0.0;
            for (int64_t c = 0; c < work->classes; c++) {
                double p = taper_number_load((taper_dtype)t->dtype, taper_tensor_data(t),
                                             (n * work->classes + c) * work->places + s);
                p = work->smoothing > 0.0 ? p * (1.0 - work->smoothing) + work->smoothing / (double)work->classes : p;
                loss += (norm - score_at(work, n, c, s)) * p * weight_of(work, c);
            }
            sum += loss;
            if (y != NULL) {
                taper_number_store(work->dtype, taper_tensor_mutable(y), n * work->places + s, loss);
            }
        }
    }
    if (y != NULL) {
        return TAPER_OK;
    }
    if (work->reduction == TAPER_REDUCE_MEAN) {
        sum /= (double)work->samples * (double)work->places;
    }
    return taper_loss_scalar(call, 0, work->dtype, sum);
}

// Reads self, target, weight, reduction and ignore_index, the first arguments of each of these operators, and computes
// the loss.
static taper_status class_loss(taper_call *call, bool cross_entropy)
{
    class_work work;
    memset(&work, 0, sizeof work);
    TAPER_TRY(taper_arg_tensor(call, 0, &work.scores));
    TAPER_TRY(taper_arg_tensor(call, 1, &work.target));
    TAPER_TRY(taper_arg_tensor_or_none(call, 2, &work.weight));
    TAPER_TRY(taper_loss_reduction(call, 3, &work.reduction));
    TAPER_TRY(taper_arg_int(call, 4, &work.ignored));
    if (cross_entropy) {
        TAPER_TRY(taper_arg_double(call, 5, &work.smoothing));
    }
    if (!(work.smoothing >= 0.0 && work.smoothing <= 1.0)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "label_smoothing must be between 0 and 1");
    }
    const taper_tensor *x = work.scores, *t = work.target;
    const bool probabilities =
        cross_entropy && x->rank == t->rank && memcmp(x->sizes, t->sizes, x->rank * sizeof *x->sizes) == 0;
    work.log_softmax = cross_entropy;
    if (x->dtype == TAPER_F32 && !call->run->portable) {
        work.vector = taper_vector_f32_select(call->run->cpu);
    }
    TAPER_TRY(taper_out_check(call, 0, x, (taper_dtype)x->dtype));
    taper_status status = class_begin(call, probabilities, &work);
    if (status == TAPER_OK) {
        status = probabilities ? run_probabilities(call, &work) : run_indices(call, &work);
    }
    class_end(&work);
    return status;
}

TAPER_KERNEL(taper_op_nll_loss)
{
    return class_loss(call, false);
}

TAPER_KERNEL(taper_op_cross_entropy_loss)
{
    return class_loss(call, true);
}

// ---- losses of margins between classes

static taper_status margin_begin(taper_call *call, bool many, class_work *work)
{
    taper_error *error = call->run->error;
    memset(work, 0, sizeof *work);
    TAPER_TRY(taper_arg_tensor(call, 0, &work->scores));
    TAPER_TRY(taper_arg_tensor(call, 1, &work->target));
    const taper_tensor *x = work->scores, *t = work->target;
    work->dtype = (taper_dtype)x->dtype;
    if (x->dtype == TAPER_F32 && !call->run->portable) {
        const taper_vector_entry *const vector = taper_vector_f32_select(call->run->cpu);
        // A selective build may lack this kernel.
        work->vector = vector->fold[TAPER_REDUCTION_NUMBERS] != NULL ? vector : NULL;
    }
    if (x->rank > 2 || !taper_dtype_is_float(work->dtype) || t->dtype != TAPER_I64) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "expected a floating-point input of at most two dimensions and an int64 target");
    }
    work->samples = x->rank == 2 ? x->sizes[0] : 1;
    work->classes = x->rank == 0 ? 1 : x->sizes[x->rank - 1];
    work->places = 1;
    const int64_t wanted = many ? taper_tensor_numel(x) : work->samples;
    if (work->classes < 1 || taper_tensor_numel(t) != wanted) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the target does not fit the input");
    }
    TAPER_TRY(taper_run_contiguous(call->run, work->scores, &work->scores_held));
    return taper_run_contiguous(call->run, work->target, &work->target_held);
}

static taper_status margin_result(taper_call *call, const class_work *work, bool many, taper_tensor **y)
{
    *y = NULL;
    TAPER_TRY(taper_out_check(call, 0, work->scores, work->dtype));
    if (work->reduction != TAPER_REDUCE_NONE || work->target->rank == 0 || (many && work->scores->rank <= 1)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_ret_new(call, 0, work->dtype, 1, &work->samples, NULL, y));
    return TAPER_OK;
}

static void margin_store(const class_work *work, taper_tensor *y, int64_t n, double loss, double *sum)
{
    *sum += loss;
    if (y != NULL) {
        taper_number_store(work->dtype, taper_tensor_mutable(y), n * y->strides[0], loss);
    }
}

static taper_status margin_end(taper_call *call, const class_work *work, const taper_tensor *y, double sum)
{
    if (y != NULL) {
        return TAPER_OK;
    }
    return taper_loss_scalar(call, 0, work->dtype,
                             work->reduction == TAPER_REDUCE_MEAN ? sum / (double)work->samples : sum);
}

// Adds the amounts by which scores exceed -beyond, or the squares of these amounts if `squared` is set, for the classes
// from `c` to `end`. A NaN adds nothing.
static double margins(const class_work *work, int64_t n, int64_t c, int64_t end, double beyond, bool squared)
{
    enum { AT_ONCE = 512 };
    double parts[4] = {0, 0, 0, 0}; // four independent sums, which the CPU overlaps
    for (; work->vector != NULL && c < end; c += AT_ONCE) {
        const size_t count = (size_t)taper_min_i64(AT_ONCE, end - c);
        const float *scores = (const float *)taper_tensor_data(work->scores_held) + n * work->classes + c;
        const float affine[] = {1, (float)beyond, 0, INFINITY};
        float more[AT_ONCE];
        work->vector->unary[TAPER_UNARY_AFFINE](count, scores, more, affine);
        if (squared) {
            work->vector->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VV](count, more, more, more, -INFINITY, INFINITY);
        }
        parts[0] += (double)work->vector->fold[TAPER_REDUCTION_NUMBERS](count, more);
    }
    for (; c < end; c++) {
        const double z = beyond + score_at(work, n, c, 0), more = z > 0.0 ? z : 0.0;
        parts[c % 4] += squared ? more * more : more;
    }
    return parts[0] + parts[1] + (parts[2] + parts[3]);
}

static taper_status multi_margin(taper_call *call, class_work *work)
{
    taper_scalar p, margin;
    taper_tensor *y;
    TAPER_TRY(margin_begin(call, false, work));
    TAPER_TRY(taper_arg_scalar(call, 2, &p));
    TAPER_TRY(taper_arg_scalar(call, 3, &margin));
    TAPER_TRY(taper_arg_tensor_or_none(call, 4, &work->weight));
    TAPER_TRY(taper_loss_reduction(call, 5, &work->reduction));
    if (p.f != 1.0 && p.f != 2.0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "p must be 1 or 2");
    }
    if (work->weight != NULL && (work->weight->rank != 1 || work->weight->sizes[0] != work->classes)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "weight must have one element for each class");
    }
    TAPER_TRY(margin_result(call, work, false, &y));
    const int64_t *target = taper_tensor_data(work->target_held);
    double sum = 0.0;
    for (int64_t n = 0; n < work->samples; n++) {
        TAPER_TRY(taper_run_spend(call->run, (uint64_t)work->classes * 15 + 50));
        const int64_t t = target[n];
        TAPER_TRY(check_target(call, work, t));
        const double beyond = margin.f - score_at(work, n, t, 0);
        const double loss =
            (margins(work, n, 0, t, beyond, p.f == 2.0) + margins(work, n, t + 1, work->classes, beyond, p.f == 2.0)) *
            weight_of(work, t);
        margin_store(work, y, n, loss / (double)work->classes, &sum);
    }
    return margin_end(call, work, y, sum);
}

static taper_status multilabel_margin(taper_call *call, class_work *work)
{
    taper_tensor *y, *mark = NULL;
    TAPER_TRY(margin_begin(call, true, work));
    TAPER_TRY(taper_loss_reduction(call, 2, &work->reduction));
    TAPER_TRY(margin_result(call, work, true, &y));
    if (call->ret_count > 1) {
        TAPER_TRY(taper_out_check(call, 1, work->target, work->dtype));
        TAPER_TRY(taper_ret_new(call, 1, work->dtype, work->target->rank, work->target->sizes, NULL, &mark));
        if (!taper_tensor_is_contiguous(mark)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor must be contiguous");
        }
    }
    const int64_t *targets = taper_tensor_data(work->target_held);
    double sum = 0.0;
    for (int64_t n = 0; n < work->samples; n++) {
        const int64_t *target = targets + n * work->classes;
        int64_t count = 0; // the targets end at the first negative target
        for (; count < work->classes && target[count] >= 0; count++) {
            if (target[count] >= work->classes) {
                TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "target %lld is out of bounds",
                           (long long)target[count]);
            }
        }
        double loss = 0.0;
        for (int64_t c = 0; c < work->classes; c++) {
            TAPER_TRY(taper_run_spend(call->run, (uint64_t)count * 10 + 20));
            bool is_target = false;
            for (int64_t i = 0; i < count; i++) {
                is_target = is_target || target[i] == c;
            }
            if (mark != NULL) {
                taper_number_store(work->dtype, taper_tensor_mutable(mark), n * work->classes + c,
                                   is_target ? 1.0 : 0.0);
            }
            for (int64_t i = 0; !is_target && i < count; i++) {
                const double z = 1.0 - score_at(work, n, target[i], 0) + score_at(work, n, c, 0);
                loss += z > 0.0 ? z : 0.0;
            }
        }
        margin_store(work, y, n, loss / (double)work->classes, &sum);
    }
    return margin_end(call, work, y, sum);
}

TAPER_KERNEL(taper_op_multi_margin_loss)
{
    class_work work;
    const taper_status status = multi_margin(call, &work);
    class_end(&work);
    return status;
}

TAPER_KERNEL(taper_op_multilabel_margin_loss)
{
    class_work work;
    const taper_status status = multilabel_margin(call, &work);
    class_end(&work);
    return status;
}
