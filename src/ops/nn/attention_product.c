// SPDX-License-Identifier: BSD-2-Clause
// Scaled dot product attention: softmax(query keyT scale + mask) value. PyTorch 1.13 and PyTorch 2 differ in details.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/engine/view_shape.h"
#include "ops/nn/attention.h"
#include "ops/nn/attention_mask.h"

const taper_sdpa_form taper_sdpa_1 = {.weights = true}, taper_sdpa_2 = {.weights = false},
                      taper_sdpa_expanded = {.expanded = true};

typedef struct attention {
    taper_tensor *query, *key, *value, *mask; // borrowed tensors; mask may be NULL
    bool causal, weights;
    double scale;
    int64_t groups; // number of query heads for each head of key and value
} attention;

// The state of a call. Tensors have the working dtype. The state owns the tensors that are pointers.
typedef struct attention_work {
    taper_dtype dtype;
    taper_attention_mask mask;
    taper_tensor *mask_held;
    taper_tensor shared[2];              // key and value before they were expanded, in their own dtype; borrowed
    taper_tensor *reshaped[2];           // copies of key and value with all heads, in their own dtype; or NULL
    taper_tensor key_range, value_range; // the parts of key and of value that some row of queries sees; borrowed
    taper_tensor *key, *value;           // key_range and value_range, converted to the working dtype
    int64_t first;                       // index of the first key of key_range among all keys
    taper_tensor *query, *scores, *part; // queries, scores and results of the current block
    taper_tensor *out;
} attention_work;

// ---- the scaled query, contiguous and in the working dtype

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

static taper_status scale_query(taper_run *run, const attention *a, const taper_tensor *q, attention_work *own)
{
    TAPER_TRY(taper_tensor_new(run->heap, own->dtype, q->rank, q->sizes, NULL, &own->query, run->error));
    TAPER_TRY(taper_run_copy(run, own->query, q));
    scaling s = {own->dtype, taper_tensor_mutable(own->query), a->scale};
    return taper_run_floats(run, scale_range, &s, (size_t)taper_tensor_numel(q), 2.0);
}

// ---- blocks of query rows

// Views the elements [at, at + count) of the dimension before the last.
static taper_tensor narrowed(const taper_tensor *t, int64_t at, int64_t count)
{
    taper_tensor part = taper_tensor_twin(t, t->rank, t->sizes, t->strides);
    part.sizes[t->rank - 2u] = count;
    part.offset += at * t->strides[t->rank - 2u];
    return part;
}

// Views contiguous rows of heads, [.., heads, rows, N], as rows of the heads of key and value, [.., heads / groups,
// groups * rows, N], because several query heads share one head of key and value. If groups is negative, the function
// does the reverse.
static taper_tensor grouped(const taper_tensor *t, int64_t groups)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    const size_t at = t->rank - 3u;
    memcpy(sizes, t->sizes, t->rank * sizeof *sizes);
    sizes[at] = groups > 0 ? sizes[at] / groups : sizes[at] * -groups;
    sizes[at + 1] = groups > 0 ? sizes[at + 1] * groups : sizes[at + 1] / -groups;
    taper_strides_contiguous(t->rank, sizes, strides);
    return taper_tensor_twin(t, t->rank, sizes, strides);
}

// Computes own->part, the results of the block's rows, and own->scores.
static taper_status run_block(taper_run *run, const attention *a, attention_work *own,
                              const taper_attention_block *block)
{
    const bool groups = a->groups > 1;
    if (block->rows == a->query->sizes[a->query->rank - 2u]) {
        TAPER_TRY(scale_query(run, a, a->query, own));
    } else {
        const taper_tensor rows = narrowed(a->query, block->row, block->rows);
        TAPER_TRY(scale_query(run, a, &rows, own));
    }
    taper_tensor q = groups ? grouped(own->query, a->groups) : taper_tensor_local(own->query);
    taper_tensor k = taper_tensor_local(own->key), v = taper_tensor_local(own->value);
    if (block->keys != own->key->sizes[own->key->rank - 2u]) {
        const int64_t at = block->keys == 0 ? 0 : block->key - own->first;
        k = narrowed(own->key, at, block->keys);
        v = narrowed(own->value, at, block->keys);
    }
    taper_tensor turned = taper_tensor_twin_t(&k);
    TAPER_TRY(taper_matmul_new(run, &q, &turned, &own->scores));
    taper_tensor scores = taper_tensor_local(own->scores);
    taper_tensor heads = groups ? grouped(&scores, -a->groups) : scores; // the mask has the shape of all heads
    TAPER_TRY(taper_attention_softmax(run, &own->mask, block, &heads));
    TAPER_TRY(taper_matmul_new(run, &scores, &v, &own->part));
    return TAPER_OK;
}

// Makes own->out from own->part, with the rows of each query head separate again (the reverse of `grouped`).
static taper_status take_part(taper_run *run, const attention *a, attention_work *own)
{
    if (a->groups == 1) {
        own->out = own->part;
        own->part = NULL;
        return TAPER_OK;
    }
    const taper_tensor heads = grouped(own->part, -a->groups);
    return taper_tensor_view(run->heap, heads.storage, own->dtype, heads.offset, heads.rank, heads.sizes, NULL,
                             &own->out, run->error);
}

// Copies own->part into the rows of own->out. The first block allocates own->out.
static taper_status copy_part(taper_run *run, const attention *a, attention_work *own,
                              const taper_attention_block *block)
{
    const taper_tensor heads = a->groups == 1 ? taper_tensor_local(own->part) : grouped(own->part, -a->groups);
    if (own->out == NULL) {
        int64_t sizes[TAPER_MAX_RANK];
        memcpy(sizes, heads.sizes, heads.rank * sizeof *sizes);
        sizes[heads.rank - 2u] = a->query->sizes[a->query->rank - 2u];
        TAPER_TRY(
            taper_tensor_new(run->heap, (taper_dtype)a->query->dtype, heads.rank, sizes, NULL, &own->out, run->error));
    }
    taper_tensor rows = narrowed(own->out, block->row, block->rows);
    return taper_run_copy(run, &rows, &heads);
}

static void drop_block(attention_work *own)
{
    taper_tensor_drop(own->query);
    taper_tensor_drop(own->scores);
    taper_tensor_drop(own->part);
    own->query = own->scores = own->part = NULL;
}

// Returns the number of rows of a block. Blocks bound the memory of the scores. They also separate rows that see few
// keys from rows that see many.
static int64_t rows_of_block(const attention *a, const attention_work *own, int64_t rows, int64_t keys, int64_t scores)
{
    enum { MOST_BYTES = 32 << 20, FEW_ROWS = 64 }; // with smaller blocks, the keys would be packed too often
    if (a->weights || rows <= FEW_ROWS) {
        return rows;
    }
    const int64_t row_bytes = scores / rows * (own->dtype == TAPER_F32 ? 4 : 8);
    int64_t most = taper_max_i64(FEW_ROWS, MOST_BYTES / taper_max_i64(row_bytes, 1));
    taper_attention_block block = {.rows = FEW_ROWS};
    taper_attention_visible(&own->mask, keys, &block);
    most = block.keys < keys ? FEW_ROWS : most;
    const int64_t blocks = (rows + most - 1) / most;
    // The blocks have about equal sizes, because a row takes longer in a product of few rows than in a product of many
    // rows.
    return (rows + blocks - 1) / blocks;
}

// Computes the sizes of the scores. Returns false if the products will refuse the shapes.
static bool scores_shape(const attention *a, size_t *rank, int64_t *sizes)
{
    const taper_tensor *q = a->query, *k = a->key, *v = a->value;
    int64_t heads[TAPER_MAX_RANK];
    memcpy(heads, k->sizes, k->rank * sizeof *heads);
    if (a->groups > 1) {
        heads[k->rank - 3u] *= a->groups; // number of heads of the query
    }
    if (q->sizes[q->rank - 1u] != k->sizes[k->rank - 1u] || k->sizes[k->rank - 2u] != v->sizes[v->rank - 2u] ||
        !taper_broadcast_shapes(q->rank - 2u, q->sizes, k->rank - 2u, heads, rank, sizes)) {
        return false;
    }
    sizes[*rank] = q->sizes[q->rank - 2u];
    sizes[*rank + 1] = k->sizes[k->rank - 2u];
    *rank += 2;
    return true;
}

static taper_status open_mask(taper_run *run, const attention *a, attention_work *own, size_t rank,
                              const int64_t *sizes)
{
    if (a->mask != NULL) {
        TAPER_TRY(
            taper_tensor_cast(run, a->mask, a->mask->dtype == TAPER_BOOL ? TAPER_BOOL : own->dtype, &own->mask_held));
    }
    if (!taper_attention_mask_open(&own->mask, own->mask_held, a->causal, rank, sizes)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "a mask of sizes %s does not fit scores of sizes %s",
                   TAPER_SHAPE(a->mask), taper_shape_print(rank, sizes).text);
    }
    return TAPER_OK;
}

// Converts the keys and values that some row sees to the working dtype.
static taper_status open_keys(taper_run *run, const attention *a, attention_work *own,
                              const taper_attention_block *seen)
{
    own->first = seen->key;
    own->key_range = taper_tensor_local(a->key);
    own->value_range = taper_tensor_local(a->value);
    if (seen->keys != a->key->sizes[a->key->rank - 2u]) {
        own->key_range = narrowed(a->key, seen->key, seen->keys);
        own->value_range = narrowed(a->value, seen->key, seen->keys);
    }
    TAPER_TRY(taper_tensor_cast(run, &own->key_range, own->dtype, &own->key));
    return taper_tensor_cast(run, &own->value_range, own->dtype, &own->value);
}

// Computes own->out, in the working dtype or in the dtype of the query, and own->scores if the call returns them.
static taper_status compute(taper_run *run, const attention *a, attention_work *own)
{
    const int64_t rows = a->query->sizes[a->query->rank - 2u], keys = a->key->sizes[a->key->rank - 2u];
    size_t rank = 0;
    int64_t sizes[TAPER_MAX_RANK + 2], scores = 1, each = rows;
    taper_attention_block seen = {.rows = rows, .keys = keys};
    own->dtype = taper_work_dtype((taper_dtype)a->query->dtype);
    own->mask.given = own->mask.causal = false;
    if (scores_shape(a, &rank, sizes)) {
        TAPER_TRY(open_mask(run, a, own, rank, sizes));
        for (size_t d = 0; d < rank; d++) {
            if (!taper_mul_i64(scores, sizes[d], &scores)) {
                return taper_fail_memory(run->error);
            }
        }
        if (scores > 0 && !a->weights) {
            taper_attention_visible(&own->mask, keys, &seen);
            each = rows_of_block(a, own, rows, keys, scores);
        }
    }
    TAPER_TRY(open_keys(run, a, own, &seen));
    if (each == rows) {
        TAPER_TRY(run_block(run, a, own, &seen));
        return take_part(run, a, own);
    }
    for (int64_t row = 0; row < rows; row += each) {
        taper_attention_block block = {.row = row, .rows = taper_min_i64(each, rows - row)};
        taper_attention_visible(&own->mask, keys, &block);
        TAPER_TRY(run_block(run, a, own, &block));
        TAPER_TRY(copy_part(run, a, own, &block));
        drop_block(own);
    }
    return TAPER_OK;
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
    TAPER_TRY(taper_arg_tensor_or_none(call, 3, &a->mask));
    if (a->mask != NULL && taper_dtype_is_quantized((taper_dtype)a->mask->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "attn_mask should not be quantized");
    }
    return TAPER_OK;
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

// The key or value of taper::attention_expanded, and the shape of its copy for all heads of the query.
typedef struct expanded {
    // If `shared` is set, a view [batch, heads, groups, keys, depth] that is expanded along its groups; otherwise a
    // view of any shape.
    taper_tensor view;
    size_t rank;
    int64_t shape[TAPER_MAX_RANK];
    bool shared; // true if the view has the shape above and its copy joins heads and groups
} expanded;

// Returns a view of t in which each part along dimension `dim` is repeated, in the order of repeat_interleave. That
// operator itself would copy.
static taper_status expand_repeats(const taper_call *call, size_t at, const taper_tensor *t, const int64_t *repeats,
                                   expanded *e)
{
    const int64_t groups = repeats[0], dim = repeats[1] < 0 ? repeats[1] + t->rank : repeats[1];
    if (dim < 0 || dim >= t->rank || t->rank == TAPER_MAX_RANK || groups < 1) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: dimension %lld of a tensor of sizes %s repeated %lld times", call->schema->args[at].name,
                   (long long)repeats[1], TAPER_SHAPE(t), (long long)groups);
    }
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    for (size_t d = 0; d < t->rank; d++) {
        const size_t to = (int64_t)d > dim ? d + 1 : d;
        sizes[to] = e->shape[d] = t->sizes[d];
        strides[to] = t->strides[d];
    }
    sizes[dim + 1] = groups;
    strides[dim + 1] = 0;
    e->rank = t->rank;
    e->view = taper_tensor_twin(t, t->rank + 1u, sizes, strides);
    int64_t count = 1;
    for (size_t d = 0; d < e->view.rank; d++) {
        if (!taper_mul_i64(count, sizes[d], &count)) {
            return taper_fail_memory(call->run->error);
        }
    }
    return taper_mul_i64(t->sizes[dim], groups, &e->shape[dim]) ? TAPER_OK : taper_fail_memory(call->run->error);
}

static taper_status read_expanded(const taper_call *call, size_t at, const taper_tensor *t, expanded *e)
{
    int64_t repeats[2];
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 6 + at, 0, TAPER_MAX_RANK, e->shape, &e->rank));
    TAPER_TRY(taper_arg_ints(call, 8 + at, 0, 2, repeats, &count));
    if (count == 2) {
        TAPER_TRY(expand_repeats(call, at, t, repeats, e));
    } else {
        e->view = taper_tensor_local(t);
    }
    const taper_tensor *v = &e->view;
    e->shared = v->rank == 5 && e->rank == 4 && !v->hidden_nhwc && (v->strides[2] == 0 || v->sizes[2] == 1);
    int64_t joined[4] = {v->sizes[0], 0, v->sizes[3], v->sizes[4]};
    e->shared = e->shared && taper_mul_i64(v->sizes[1], v->sizes[2], &joined[1]);
    for (size_t d = 0; d < 4 && e->shared; d++) {
        e->shared = e->shape[d] == joined[d] || e->shape[d] == -1;
    }
    return TAPER_OK;
}

// Reads key and value. If several query heads share a head of key and value, the shared heads are used in place,
// otherwise they are copied.
static taper_status read_heads(const taper_call *call, attention *a, attention_work *own)
{
    taper_tensor **const inputs[] = {&a->key, &a->value};
    expanded e[2];
    TAPER_TRY(read_expanded(call, 1, a->key, &e[0]));
    TAPER_TRY(read_expanded(call, 2, a->value, &e[1]));
    const bool shared = e[0].shared && e[1].shared && a->query->rank == 4 && e[0].view.sizes[2] > 0 &&
                        e[0].view.sizes[1] == e[1].view.sizes[1] && e[0].view.sizes[2] == e[1].view.sizes[2] &&
                        a->query->sizes[1] == e[0].view.sizes[1] * e[0].view.sizes[2];
    for (size_t i = 0; i < 2; i++) {
        const taper_tensor *v = &e[i].view;
        if (shared) {
            const int64_t sizes[] = {v->sizes[0], v->sizes[1], v->sizes[3], v->sizes[4]};
            const int64_t strides[] = {v->strides[0], v->strides[1], v->strides[3], v->strides[4]};
            a->groups = v->sizes[2];
            own->shared[i] = taper_tensor_twin(v, 4, sizes, strides);
            *inputs[i] = &own->shared[i];
            continue;
        }
        if (e[i].rank < 2) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s should have at least 2 dimensions, its sizes are %s",
                       call->schema->args[1 + i].name, TAPER_SHAPE(v));
        }
        TAPER_TRY(taper_reshape(call->run, v, e[i].rank, e[i].shape, &own->reshaped[i]));
        *inputs[i] = own->reshaped[i];
    }
    return TAPER_OK;
}

static taper_status read_all(const taper_call *call, const taper_sdpa_form *form, attention *a)
{
    double dropout;
    taper_error *error = call->run->error;
    TAPER_TRY(read_inputs(call, a));
    a->scale = 1.0 / sqrt((double)taper_max_i64(a->query->sizes[a->query->rank - 1u], 1));
    TAPER_TRY(taper_arg_double(call, 4, &dropout));
    TAPER_TRY(taper_arg_bool(call, form->weights ? 6 : 5, &a->causal));
    if (!form->weights) {
        TAPER_TRY(taper_arg_double_or(call, 6, a->scale, &a->scale));
    }
    if (!form->weights && !form->expanded) {
        TAPER_TRY(read_groups(call, a));
    }
    if (a->causal && a->mask != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    }
    if (dropout > 0.0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "dropout in attention is not supported; export the model with dropout_p=0");
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_scaled_dot_product_attention)
{
    const taper_sdpa_form *form = call->param;
    attention a = {.groups = 1, .weights = form->weights};
    TAPER_TRY(read_all(call, form, &a));
    attention_work own;
    own.mask_held = own.key = own.value = own.query = own.scores = own.part = own.out = NULL;
    own.reshaped[0] = own.reshaped[1] = NULL;
    taper_status status = form->expanded ? read_heads(call, &a, &own) : TAPER_OK;
    status = status == TAPER_OK ? compute(call->run, &a, &own) : status;
    taper_tensor_drop(own.reshaped[0]);
    taper_tensor_drop(own.reshaped[1]);
    taper_tensor_drop(own.key);
    taper_tensor_drop(own.value);
    taper_tensor_drop(own.mask_held);
    const taper_dtype dtype = (taper_dtype)a.query->dtype;
    if (status == TAPER_OK) {
        status = taper_ret_cast(call, 0, own.out, dtype);
        own.out = NULL;
    }
    if (status == TAPER_OK && form->weights) {
        status = taper_ret_cast(call, 1, own.scores, dtype);
        own.scores = NULL;
    }
    drop_block(&own);
    taper_tensor_drop(own.out);
    return status;
}
