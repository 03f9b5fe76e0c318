// SPDX-License-Identifier: BSD-2-Clause
// Connectionist temporal classification: the negative log-likelihood of a sequence of labels under all its alignments
// with the frames. It is computed by the forward recursion over the labels, with blanks between them. The recursion
// fills the table alpha, which contains a logarithm of a probability for each frame and position.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/kernels/kernel_select.h"
#include "ops/tensor/create.h"

typedef struct ctc {
    taper_tensor *logs;    // log-probabilities [frames, batch, labels], float32 or float64; owned
    taper_tensor *targets; // targets, int64 and contiguous; owned
    int64_t frames, batch, labels, blank;
    const int64_t *input_lengths, *target_lengths; // one length for each item of the batch
    taper_tensor *lengths[2];                      // tensors that contain the lengths; owned
    int64_t longest;                               // length of the longest target
    bool batched;
} ctc;

static void ctc_end(ctc *c)
{
    taper_tensor_drop(c->logs);
    taper_tensor_drop(c->targets);
    taper_tensor_drop(c->lengths[0]);
    taper_tensor_drop(c->lengths[1]);
}

// Reads an int[] or an integer tensor as a contiguous int64 tensor. ctc_end releases it, also after a failure.
static taper_status arg_lengths(const taper_call *call, size_t at, const char *name, taper_tensor **lengths)
{
    taper_run *run = call->run;
    if (call->args[at].tag == TAPER_TENSOR) {
        taper_tensor *given, *plain;
        TAPER_TRY(taper_arg_tensor(call, at, &given));
        if (!taper_dtype_is_integral((taper_dtype)given->dtype)) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "%s must be integral", name);
        }
        const int64_t count = taper_tensor_numel(given);
        TAPER_TRY(taper_tensor_new(run->heap, TAPER_I64, 1, &count, NULL, lengths, run->error));
        TAPER_TRY(taper_run_contiguous(run, given, &plain));
        for (int64_t i = 0; i < count; i++) {
            ((int64_t *)taper_tensor_mutable(*lengths))[i] =
                taper_load_int((taper_dtype)plain->dtype, taper_tensor_data(plain), i);
        }
        taper_tensor_drop(plain);
        return TAPER_OK;
    }
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, at, &list));
    const int64_t count = (int64_t)list->count;
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_I64, 1, &count, NULL, lengths, run->error));
    for (int64_t i = 0; i < count; i++) {
        const taper_val item = list->items[i];
        if (item.tag != TAPER_INT) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "argument '%s': expected a list of ints", name);
        }
        ((int64_t *)taper_tensor_mutable(*lengths))[i] = item.as.i;
    }
    return TAPER_OK;
}

static taper_status check_lengths(const taper_call *call, ctc *c)
{
    static const char *const names[2] = {"input_lengths", "target_lengths"};
    taper_error *error = call->run->error;
    for (size_t i = 0; i < 2; i++) {
        if (c->lengths[i]->sizes[0] != c->batch) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s must be of size batch_size", names[i]);
        }
        const int64_t *lengths = taper_tensor_data(c->lengths[i]);
        for (int64_t b = 0; b < c->batch; b++) {
            // An input without frames is refused, because PyTorch would read outside the tensor.
            if (lengths[b] < (i == 0 ? 1 : 0) || (i == 0 && lengths[b] > c->frames)) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s: %lld at item %lld, with at most %lld frames",
                                  names[i], (long long)lengths[b], (long long)b, (long long)c->frames);
            }
            c->longest = i == 1 ? taper_max_i64(c->longest, lengths[b]) : c->longest;
        }
    }
    return TAPER_OK;
}

static taper_status check_targets(const taper_call *call, const ctc *c)
{
    taper_error *error = call->run->error;
    const taper_tensor *t = c->targets;
    if (t->rank != 1 && t->rank != 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "targets: expected 1 or 2 dimensions, but got %zu",
                          (size_t)t->rank);
    }
    int64_t sum = 0;
    for (int64_t b = 0; b < c->batch && t->rank == 1; b++) {
        if (c->target_lengths[b] > t->sizes[0] - sum) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "targets: %lld labels are less than target_lengths say",
                              (long long)t->sizes[0]);
        }
        sum += c->target_lengths[b];
    }
    if (t->rank == 1 ? sum != t->sizes[0] : (t->sizes[0] != c->batch || t->sizes[1] < c->longest)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "targets: the size does not fit target_lengths");
    }
    int64_t offset = 0;
    const int64_t *labels = taper_tensor_data(t);
    for (int64_t b = 0; b < c->batch; b++) {
        offset = t->rank == 2 ? b * t->sizes[1] : offset;
        for (int64_t i = 0; i < c->target_lengths[b]; i++) {
            if (labels[offset + i] < 0 || labels[offset + i] >= c->labels) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT, "targets: label %lld must be below %lld",
                                  (long long)labels[offset + i], (long long)c->labels);
            }
        }
        offset += c->target_lengths[b];
    }
    return TAPER_OK;
}

// Reads log_probs, targets, input_lengths, target_lengths and blank. If `loss` is set, targets may have any integer
// dtype and log_probs may lack the batch dimension.
static taper_status ctc_begin(const taper_call *call, ctc *c, bool loss)
{
    taper_run *run = call->run;
    taper_tensor *logs, *targets;
    memset(c, 0, sizeof *c);
    TAPER_TRY(taper_arg_tensor(call, 0, &logs));
    TAPER_TRY(taper_arg_tensor(call, 1, &targets));
    TAPER_TRY(taper_arg_int(call, 4, &c->blank));
    if (logs->dtype != TAPER_F32 && logs->dtype != TAPER_F64) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "\"ctc_loss_cpu\" not implemented for '%s'",
                          taper_dtype_torch_name((taper_dtype)logs->dtype));
    }
    if (logs->rank != 3 && !(loss && logs->rank == 2)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "log_probs: expected 3 dimensions, but got %zu",
                          (size_t)logs->rank);
    }
    if ((!loss && targets->dtype != TAPER_I32 && targets->dtype != TAPER_I64) ||
        taper_dtype_is_complex((taper_dtype)targets->dtype) || taper_dtype_is_quantized((taper_dtype)targets->dtype)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "targets: expected an int32 or int64 tensor");
    }
    c->batched = logs->rank == 3;
    c->frames = logs->sizes[0];
    c->batch = c->batched ? logs->sizes[1] : 1;
    c->labels = logs->sizes[logs->rank - 1];
    if (c->blank < 0 || c->blank >= c->labels) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "blank must be in label range");
    }
    TAPER_TRY(arg_lengths(call, 2, "input_lengths", &c->lengths[0]));
    TAPER_TRY(arg_lengths(call, 3, "target_lengths", &c->lengths[1]));
    TAPER_TRY(check_lengths(call, c));
    c->input_lengths = taper_tensor_data(c->lengths[0]);
    c->target_lengths = taper_tensor_data(c->lengths[1]);
    TAPER_TRY(taper_run_contiguous(run, logs, &c->logs));
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_I64, targets->rank, targets->sizes, NULL, &c->targets, run->error));
    TAPER_TRY(taper_run_copy(run, c->targets, targets));
    return check_targets(call, c);
}

// ---- the forward recursion over the labels

static double log_sum(double a, double b, double c)
{
    double largest = a > b ? a : b;
    largest = c > largest ? c : largest;
    largest = largest == -INFINITY ? 0 : largest;
    return log(exp(a - largest) + exp(b - largest) + exp(c - largest)) + largest;
}

static double log_of(const ctc *c, int64_t frame, int64_t item, int64_t label)
{
    return taper_load_double((taper_dtype)c->logs->dtype, taper_tensor_data(c->logs),
                             (frame * c->batch + item) * c->labels + label);
}

// Returns the label at position s of the target with a blank before and after each label.
static int64_t label_at(const ctc *c, const int64_t *target, int64_t s)
{
    return s % 2 == 0 ? c->blank : target[s / 2];
}

// Computes a row of alpha from the previous row, in floats, several positions at a time. logs contains the
// log-probabilities of the frame's labels.
static void next_row(const taper_vector_entry *v, const ctc *c, const int64_t *target, const float *logs,
                     const float *before, int64_t places, float *now)
{
    enum { AT_ONCE = 64 };
    float apart[3 * AT_ONCE], largest[AT_ONCE];
    for (int64_t first = 0; first < places; first += AT_ONCE) {
        const int64_t count = taper_min_i64(AT_ONCE, places - first);
        for (int64_t i = 0; i < count; i++) {
            const int64_t s = first + i;
            const bool skips = s % 2 == 1 && s > 1 && target[s / 2 - 1] != target[s / 2];
            const float x = before[s], y = s > 0 ? before[s - 1] : -INFINITY, z = skips ? before[s - 2] : -INFINITY;
            float most = x > y ? x : y;
            most = z > most ? z : most;
            most = most == -INFINITY ? 0 : most;
            largest[i] = most;
            apart[i] = x - most, apart[count + i] = y - most, apart[2 * count + i] = z - most;
        }
        v->unary[TAPER_UNARY_EXP]((size_t)(3 * count), apart, apart, NULL);
        for (int64_t i = 0; i < count; i++) {
            apart[i] += apart[count + i] + apart[2 * count + i];
        }
        v->unary[TAPER_UNARY_LOG]((size_t)count, apart, apart, NULL);
        for (int64_t i = 0; i < count; i++) {
            now[first + i] = apart[i] + largest[i] + logs[label_at(c, target, first + i)];
        }
    }
}

// Fills the item's rows of alpha, [frames, width], and returns the loss.
static double item_loss(taper_run *run, const ctc *c, int64_t item, const int64_t *target, void *alpha, int64_t width)
{
    const taper_dtype dtype = (taper_dtype)c->logs->dtype;
    const int64_t frames = c->input_lengths[item], places = 2 * c->target_lengths[item] + 1;
    const int64_t base = item * c->frames * width;
    const taper_vector_entry *v = taper_vector_f32_select(run->cpu);
    const bool at_once =
        dtype == TAPER_F32 && !run->portable && v->unary[TAPER_UNARY_EXP] != NULL && v->unary[TAPER_UNARY_LOG] != NULL;
    for (int64_t s = 0; s < places; s++) {
        taper_put_double(dtype, alpha, base + s, s < 2 ? log_of(c, 0, item, label_at(c, target, s)) : -INFINITY);
    }
    for (int64_t t = 1; t < frames && taper_run_goes_on(run, (uint64_t)places * 100); t++) {
        const int64_t before = base + (t - 1) * width;
        if (at_once) {
            const float *logs = (const float *)taper_tensor_data(c->logs) + (t * c->batch + item) * c->labels;
            next_row(v, c, target, logs, (float *)alpha + before, places, (float *)alpha + before + width);
            continue;
        }
        for (int64_t s = 0; s < places; s++) {
            const int64_t label = label_at(c, target, s);
            const bool skips = s > 1 && label_at(c, target, s - 2) != label;
            const double a = taper_load_double(dtype, alpha, before + s);
            const double b = s > 0 ? taper_load_double(dtype, alpha, before + s - 1) : -INFINITY;
            const double d = skips ? taper_load_double(dtype, alpha, before + s - 2) : -INFINITY;
            taper_put_double(dtype, alpha, before + width + s, log_sum(a, b, d) + log_of(c, t, item, label));
        }
    }
    const int64_t last = base + (frames - 1) * width;
    if (places == 1) {
        return -taper_load_double(dtype, alpha, last);
    }
    return -log_sum(taper_load_double(dtype, alpha, last + places - 1),
                    taper_load_double(dtype, alpha, last + places - 2), -INFINITY);
}

// Computes the losses of all items, and alpha.
static taper_status ctc_run(taper_run *run, const ctc *c, taper_tensor **losses, taper_tensor **alpha)
{
    const taper_dtype dtype = (taper_dtype)c->logs->dtype;
    const int64_t sizes[3] = {c->batch, c->frames, 2 * c->longest + 1};
    TAPER_TRY(taper_tensor_new(run->heap, dtype, 3, sizes, NULL, alpha, run->error));
    taper_status status = taper_tensor_new(run->heap, dtype, 1, &c->batch, NULL, losses, run->error);
    if (status != TAPER_OK) {
        taper_tensor_drop(*alpha);
        return status;
    }
    const taper_scalar none = taper_scalar_double(-INFINITY);
    status = taper_tensor_fill(run, *alpha, &none);
    int64_t offset = 0;
    for (int64_t b = 0; b < c->batch && status == TAPER_OK; b++) {
        offset = c->targets->rank == 2 ? b * c->targets->sizes[1] : offset;
        const int64_t *target = (const int64_t *)taper_tensor_data(c->targets) + offset;
        taper_put_double(dtype, taper_tensor_mutable(*losses), b,
                         item_loss(run, c, b, target, taper_tensor_mutable(*alpha), sizes[2]));
        offset += c->target_lengths[b];
        status = taper_run_spend(run, 200);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*alpha);
        taper_tensor_drop(*losses);
    }
    return status;
}

TAPER_KERNEL(taper_op_ctc_alpha)
{
    ctc c;
    taper_tensor *losses, *alpha;
    taper_status status = ctc_begin(call, &c, false);
    if (status == TAPER_OK) {
        status = ctc_run(call->run, &c, &losses, &alpha);
    }
    ctc_end(&c);
    TAPER_TRY(status);
    status = taper_ret_tensor(call, 0, losses);
    if (status != TAPER_OK) {
        taper_tensor_drop(alpha);
        return status;
    }
    return taper_ret_tensor(call, 1, alpha);
}

static taper_status reduce(taper_call *call, const ctc *c, int64_t reduction, bool zero_infinity, taper_tensor *losses)
{
    const taper_dtype dtype = (taper_dtype)losses->dtype;
    void *data = taper_tensor_mutable(losses);
    double sum = 0;
    for (int64_t b = 0; b < c->batch; b++) {
        double loss = taper_load_double(dtype, data, b);
        if (zero_infinity && loss == INFINITY) {
            loss = 0;
            taper_put_double(dtype, data, b, 0);
        }
        sum += reduction == 1 ? loss / (double)taper_max_i64(c->target_lengths[b], 1) : loss;
    }
    if (reduction == 0) {
        if (!c->batched) {
            losses->rank = 0;
        }
        return taper_ret_tensor(call, 0, losses);
    }
    taper_tensor_drop(losses);
    taper_tensor *result;
    TAPER_TRY(taper_ret_new(call, 0, dtype, 0, NULL, NULL, &result));
    taper_put_double(dtype, taper_tensor_mutable(result), 0, reduction == 1 ? sum / (double)c->batch : sum);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_ctc_loss)
{
    ctc c;
    taper_tensor *losses, *alpha;
    int64_t reduction;
    bool zero_infinity;
    TAPER_TRY(taper_arg_int(call, 5, &reduction));
    TAPER_TRY(taper_arg_bool(call, 6, &zero_infinity));
    taper_status status = ctc_begin(call, &c, true);
    if (status == TAPER_OK) {
        status = ctc_run(call->run, &c, &losses, &alpha);
    }
    if (status == TAPER_OK) {
        taper_tensor_drop(alpha);
        status = reduce(call, &c, reduction, zero_infinity, losses);
    }
    ctc_end(&c);
    return status;
}
