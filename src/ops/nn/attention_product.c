// SPDX-License-Identifier: BSD-2-Clause
// Scaled dot product attention: softmax(query keyT scale + mask) value. PyTorch 1.13 and PyTorch 2 differ in details.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/attention.h"

const taper_sdpa_form taper_sdpa_1 = {.weights = true}, taper_sdpa_2 = {.weights = false};

typedef struct attention {
    taper_tensor *query, *key, *value, *mask; // borrowed; mask may be NULL
    bool causal;
    double scale;
    int64_t groups; // number of query heads for each head of key and value
} attention;

typedef struct attention_work {
    taper_tensor *query, *key, *value, *mask, *scores, *out;
    uint8_t *blind; // true for rows of the scores whose keys are all masked
    size_t blind_bytes;
} attention_work;

// ---- the query, scaled: contiguous, of the working dtype

typedef struct scaling {
    taper_dtype dtype;
    void *data;
    double scale;
} scaling;

static void scale_range(void *argument, size_t begin, size_t end)
{
    const scaling *s = argument;
    if (s->dtype == TAPER_F32) {
        float *x = s->data;
        for (size_t i = begin; i < end; i++) {
            x[i] *= (float)s->scale;
        }
    } else {
        double *x = s->data;
        for (size_t i = begin; i < end; i++) {
            x[i] *= s->scale;
        }
    }
}

static taper_status scale_query(taper_run *run, const attention *a, taper_dtype work, taper_tensor **scaled)
{
    const taper_tensor *q = a->query;
    TAPER_TRY(taper_tensor_new(run->heap, work, q->rank, q->sizes, NULL, scaled, run->error));
    TAPER_TRY(taper_run_copy(run, *scaled, q));
    scaling s = {work, taper_tensor_mutable(*scaled), a->scale};
    return taper_run_floats(run, scale_range, &s, (size_t)taper_tensor_numel(q), 2.0);
}

// ---- masks

typedef struct masking {
    taper_tensor *scores;
    taper_tensor mask; // has the sizes of the scores; stride 0 for dimensions that it lacks
    bool has_mask, causal;
    uint8_t *blind;
} masking;

// Returns the offset of a row of the scores within the mask, in elements.
static int64_t mask_row(const masking *m, int64_t row)
{
    int64_t offset = 0;
    for (size_t d = m->scores->rank - 1u; d-- > 0;) {
        offset += row % m->scores->sizes[d] * m->mask.strides[d];
        row /= m->scores->sizes[d];
    }
    return offset;
}

// In a bool mask true keeps a key; a mask of floats is added to the scores. If all keys of a row are masked, its
// softmax would be NaN; PyTorch 2 returns zeros for it.
#define MASK_ROWS(ELEMENT, suffix)                                                                                     \
    static bool mask_row_##suffix(const masking *m, ELEMENT *x, int64_t width, int64_t row)                            \
    {                                                                                                                  \
        const int64_t step = m->has_mask ? m->mask.strides[m->scores->rank - 1u] : 0;                                  \
        bool sees = false;                                                                                             \
        if (m->has_mask && m->mask.dtype == TAPER_BOOL) {                                                              \
            const uint8_t *keep = (const uint8_t *)taper_tensor_data(&m->mask) + mask_row(m, row);                     \
            for (int64_t i = 0; i < width; i++) {                                                                      \
                x[i] = keep[i * step] != 0 ? x[i] : -(ELEMENT)INFINITY;                                                \
            }                                                                                                          \
        } else if (m->has_mask) {                                                                                      \
            const ELEMENT *add = (const ELEMENT *)taper_tensor_data(&m->mask) + mask_row(m, row);                      \
            for (int64_t i = 0; i < width; i++) {                                                                      \
                x[i] += add[i * step];                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        const int64_t seen = m->causal ? row % m->scores->sizes[m->scores->rank - 2u] + 1 : width;                     \
        for (int64_t i = seen; i < width; i++) {                                                                       \
            x[i] = -(ELEMENT)INFINITY;                                                                                 \
        }                                                                                                              \
        for (int64_t i = 0; i < width && !sees; i++) {                                                                 \
            sees = !(x[i] == -(ELEMENT)INFINITY);                                                                      \
        }                                                                                                              \
        return sees;                                                                                                   \
    }
MASK_ROWS(float, f32)
MASK_ROWS(double, f64)

static void mask_range(void *argument, size_t begin, size_t end)
{
    const masking *m = argument;
    const int64_t width = m->scores->sizes[m->scores->rank - 1u];
    void *scores = taper_tensor_mutable(m->scores);
    for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
        const bool sees = m->scores->dtype == TAPER_F32 ? mask_row_f32(m, (float *)scores + row * width, width, row)
                                                        : mask_row_f64(m, (double *)scores + row * width, width, row);
        m->blind[row] = !sees;
    }
}

static void zero_range(void *argument, size_t begin, size_t end)
{
    const masking *m = argument;
    const size_t bytes = (size_t)m->scores->sizes[m->scores->rank - 1u] * taper_tensor_item(m->scores);
    for (size_t row = begin; row < end; row++) {
        if (m->blind[row]) {
            memset((char *)taper_tensor_mutable(m->scores) + row * bytes, 0, bytes);
        }
    }
}

static taper_status soften(taper_run *run, const attention *a, taper_dtype work, attention_work *own)
{
    taper_tensor *scores = own->scores;
    const int64_t width = scores->sizes[scores->rank - 1u];
    const size_t rows = width != 0 ? (size_t)(taper_tensor_numel(scores) / width) : 0;
    masking m = {.scores = scores, .causal = a->causal, .has_mask = a->mask != NULL};
    if (rows == 0 || (!m.has_mask && !m.causal)) {
        return taper_softmax_rows(run, scores);
    }
    if (m.has_mask) {
        TAPER_TRY(taper_tensor_cast(run, a->mask, a->mask->dtype == TAPER_BOOL ? TAPER_BOOL : work, &own->mask));
        int64_t strides[TAPER_MAX_RANK];
        if (!taper_broadcast_strides(own->mask, scores->rank, scores->sizes, strides)) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "a mask of sizes %s does not fit scores of sizes %s",
                       TAPER_SHAPE(a->mask), TAPER_SHAPE(scores));
        }
        m.mask = taper_tensor_twin(own->mask, scores->rank, scores->sizes, strides);
    }
    own->blind_bytes = rows;
    own->blind = m.blind = taper_heap_alloc(run->heap, rows);
    if (m.blind == NULL) {
        return taper_fail_memory(run->error);
    }
    TAPER_TRY(taper_run_floats(run, mask_range, &m, rows, 2.0 * (double)width));
    TAPER_TRY(taper_softmax_rows(run, scores));
    return taper_run_floats(run, zero_range, &m, rows, 1.0);
}

// ---- the products

// Views the heads as [.., heads, groups, L, E], because several query heads share one head of key and value.
static taper_tensor grouped(const taper_tensor *t, int64_t groups, bool query)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    const size_t at = t->rank - 3u;
    for (size_t d = 0; d < t->rank; d++) {
        const size_t to = d > at ? d + 1u : d;
        sizes[to] = t->sizes[d];
        strides[to] = t->strides[d];
    }
    sizes[at + 1] = query ? groups : 1;
    sizes[at] = query ? t->sizes[at] / groups : t->sizes[at];
    strides[at + 1] = t->strides[at];
    strides[at] = query ? t->strides[at] * groups : t->strides[at];
    return taper_tensor_twin(t, t->rank + 1u, sizes, strides);
}

// Reverses grouped for a contiguous product, to [.., heads * groups, L, E].
static taper_status join_groups(taper_run *run, taper_tensor **product)
{
    const taper_tensor *t = *product;
    const size_t rank = t->rank - 1u, at = rank - 3;
    int64_t sizes[TAPER_MAX_RANK];
    taper_tensor *joined;
    for (size_t d = 0; d < rank; d++) {
        sizes[d] = t->sizes[d > at ? d + 1 : d];
    }
    sizes[at] *= t->sizes[at + 1];
    TAPER_TRY(taper_tensor_view(run->heap, t->storage, (taper_dtype)t->dtype, t->offset, rank, sizes, NULL, &joined,
                                run->error));
    taper_tensor_drop(*product);
    *product = joined;
    return TAPER_OK;
}

static taper_status compute(taper_run *run, const attention *a, attention_work *own)
{
    const taper_dtype work = taper_work_dtype((taper_dtype)a->query->dtype);
    const bool groups = a->groups > 1;
    TAPER_TRY(scale_query(run, a, work, &own->query));
    TAPER_TRY(taper_tensor_cast(run, a->key, work, &own->key));
    TAPER_TRY(taper_tensor_cast(run, a->value, work, &own->value));
    taper_tensor q = groups ? grouped(own->query, a->groups, true) : taper_tensor_local(own->query);
    taper_tensor k = groups ? grouped(own->key, a->groups, false) : taper_tensor_local(own->key);
    taper_tensor v = groups ? grouped(own->value, a->groups, false) : taper_tensor_local(own->value);
    taper_tensor turned = taper_tensor_twin_t(&k);
    TAPER_TRY(taper_matmul_new(run, &q, &turned, &own->scores));
    TAPER_TRY(groups ? join_groups(run, &own->scores) : TAPER_OK); // the mask has the joined shape
    TAPER_TRY(soften(run, a, work, own));
    taper_tensor scores = groups ? grouped(own->scores, a->groups, true) : taper_tensor_local(own->scores);
    TAPER_TRY(taper_matmul_new(run, &scores, &v, &own->out));
    return groups ? join_groups(run, &own->out) : TAPER_OK;
}

static taper_status read_inputs(const taper_call *call, attention *a)
{
    taper_tensor **const inputs[] = {&a->query, &a->key, &a->value};
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_tensor(call, i, inputs[i]));
        const taper_tensor *t = *inputs[i];
        if (t->rank < 2 || !taper_dtype_is_float((taper_dtype)t->dtype) || t->dtype != a->query->dtype) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "%s should have at least 2 dimensions and a floating-point dtype, its sizes are %s",
                       call->schema->args[i].name, TAPER_SHAPE(t));
        }
    }
    return taper_arg_tensor_or_none(call, 3, &a->mask);
}

static taper_status read_groups(const taper_call *call, attention *a)
{
    bool grouped_heads = false;
    a->groups = 1;
    TAPER_TRY(taper_arg_bool(call, 7, &grouped_heads));
    if (!grouped_heads) {
        return TAPER_OK;
    }
    const taper_tensor *q = a->query, *k = a->key, *v = a->value;
    const size_t at = q->rank - 3u;
    if (q->rank < 3 || q->rank == TAPER_MAX_RANK || k->rank != q->rank || v->rank != q->rank || k->sizes[at] < 1 ||
        k->sizes[at] != v->sizes[at] || q->sizes[at] % k->sizes[at] != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "with enable_gqa the heads of query should be a multiple of those of key and value, their sizes are "
                   "%s, %s and %s",
                   TAPER_SHAPE(q), TAPER_SHAPE(k), TAPER_SHAPE(v));
    }
    a->groups = q->sizes[at] / k->sizes[at];
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_scaled_dot_product_attention)
{
    const taper_sdpa_form *form = call->param;
    attention a = {.groups = 1};
    double dropout;
    taper_error *error = call->run->error;
    TAPER_TRY(read_inputs(call, &a));
    a.scale = 1.0 / sqrt((double)taper_max_i64(a.query->sizes[a.query->rank - 1u], 1));
    TAPER_TRY(taper_arg_double(call, 4, &dropout));
    TAPER_TRY(taper_arg_bool(call, form->weights ? 6 : 5, &a.causal));
    if (!form->weights) {
        TAPER_TRY(taper_arg_double_or(call, 6, a.scale, &a.scale));
        TAPER_TRY(read_groups(call, &a));
    }
    if (a.causal && a.mask != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    }
    if (dropout > 0.0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "dropout in attention is not supported; export the model with dropout_p=0");
    }
    attention_work own = {0};
    taper_status status = compute(call->run, &a, &own);
    taper_tensor_drop(own.query);
    taper_tensor_drop(own.key);
    taper_tensor_drop(own.value);
    taper_tensor_drop(own.mask);
    taper_heap_free(call->run->heap, own.blind, own.blind_bytes);
    const taper_dtype dtype = (taper_dtype)a.query->dtype;
    if (status == TAPER_OK) {
        status = taper_ret_cast(call, 0, own.out, dtype);
        own.out = NULL;
    }
    if (status == TAPER_OK && form->weights) {
        status = taper_ret_cast(call, 1, own.scores, dtype);
        own.scores = NULL;
    }
    taper_tensor_drop(own.out);
    taper_tensor_drop(own.scores);
    return status;
}
