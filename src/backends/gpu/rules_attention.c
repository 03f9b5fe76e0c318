// SPDX-License-Identifier: BSD-2-Clause
// Attention (shaders/attention.comp): PyTorch's own attention operators, and products with a softmax between them.
#include <math.h>
#include <string.h>

#include "backends/gpu/gpu_emit.h"

// MOST_DEPTH: largest number of vectors of a head in the shader; KEYS: keys that are read together.
enum { MOST_DEPTH = 16, KEYS = 4 };

// ---- the attention kernel

// Adds the strides of a view [batch, heads, rows, depth], with or without heads.
static void put_heads(taper_gpu_work *w, uint32_t *at, const taper_gpu_view *x)
{
    const int rank = x->rank;
    const int64_t strides[3] = {rank == 4 ? x->strides[0] : 0, x->strides[rank == 4 ? 1 : 0], x->strides[rank - 2]};
    taper_gpu_put_strides(w, at, x, strides);
}

static bool fits(const taper_gpu_view *x, int rank)
{
    return x->rank == rank && x->packed == rank - 1 && taper_gpu_vectors(x->sizes[rank - 1]) <= MOST_DEPTH;
}

bool taper_gpu_can_attend(const taper_gpu_view *q, const taper_gpu_view *k, const taper_gpu_view *v)
{
    const int rank = q->rank;
    bool can = (rank == 3 || rank == 4) && fits(q, rank) && fits(k, rank) && fits(v, rank) &&
               q->sizes[rank - 1] == k->sizes[rank - 1] && k->sizes[rank - 2] == v->sizes[rank - 2] &&
               q->sizes[rank - 1] == v->sizes[rank - 1];
    for (int d = 0; d < rank - 2; d++) {
        can = can && q->sizes[d] == k->sizes[d] && q->sizes[d] == v->sizes[d];
    }
    return can;
}

// With a mask, one binding reads both keys and values, so they are copied into one tensor.
static taper_status join_keys(taper_gpu_emitter *e, taper_gpu_view *k, taper_gpu_view *v)
{
    taper_shape shape = {.rank = k->rank + 1, .dtype = TAPER_F32, .sizes = {2}};
    taper_gpu_view both;
    if (k->buffer == v->buffer) {
        return TAPER_OK;
    }
    memcpy(shape.sizes + 1, k->sizes, (size_t)k->rank * sizeof *k->sizes);
    TAPER_TRY(taper_gpu_new(e, &shape, k->rank, &both));
    for (int i = 0; i < 2; i++) {
        taper_gpu_view *from = i == 0 ? k : v;
        taper_gpu_view to = *from;
        to.buffer = both.buffer;
        to.offset = i * both.strides[0];
        memcpy(to.strides, both.strides + 1, (size_t)k->rank * sizeof *to.strides);
        TAPER_TRY(taper_gpu_move(e, from, &to));
        *from = to;
    }
    return TAPER_OK;
}

taper_status taper_gpu_attend(taper_gpu_emitter *e, const taper_gpu_view *q, const taper_gpu_view *k_of,
                              const taper_gpu_view *v_of, double scale, const taper_gpu_attention *how,
                              taper_gpu_view *out)
{
    const taper_gpu_view *const mask = how->mask;
    taper_gpu_view keys = *k_of, values = *v_of, *const k = &keys, *const v = &values;
    const int rank = q->rank;
    const taper_gpu_chain chain = {0};
    taper_shape shape = {.rank = rank, .dtype = TAPER_F32};
    taper_gpu_loops loops = {.sizes = {1, 1, 1}};
    taper_gpu_work *w;
    uint32_t at = 0;
    memcpy(shape.sizes, q->sizes, sizeof q->sizes);
    TAPER_TRY(mask != NULL ? join_keys(e, k, v) : TAPER_OK);
    TAPER_TRY(taper_gpu_new(e, &shape, rank - 1, out));
    const int64_t depth = taper_gpu_vectors(q->sizes[rank - 1]), heads = q->sizes[rank - 3], rows = q->sizes[rank - 2];
    loops.sizes[0] = rank == 4 ? q->sizes[0] : 1;
    loops.sizes[1] = heads;
    loops.sizes[2] = rows;
    loops.strides[0][0] = rank == 4 ? out->strides[0] : 0;
    loops.strides[0][1] = out->strides[rank - 3];
    loops.strides[0][2] = out->strides[rank - 2];
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    // GPUs do not have enough registers for several queries per thread.
    const bool single = e->state->fill != 0 || (mask == NULL && !e->state->wide);
    w->kernel = mask != NULL ? (single ? TAPER_GPU_KERNEL_ATTENTION_MASKED_1 : TAPER_GPU_KERNEL_ATTENTION_MASKED)
                             : (single ? TAPER_GPU_KERNEL_ATTENTION_1 : TAPER_GPU_KERNEL_ATTENTION_4);
    const int64_t together = single ? 1 : 4; // number of rows of the result that one thread computes
    TAPER_TRY(taper_gpu_bind(e, w, &chain, out, &loops, 2));
    w->buffers[1] = q->buffer;
    w->buffers[2] = k->buffer;
    w->buffers[3] = mask != NULL ? mask->buffer : v->buffer;
    put_heads(w, &at, q);
    put_heads(w, &at, k);
    put_heads(w, &at, v);
    taper_gpu_put(w, &at, k->sizes[rank - 2]);
    taper_gpu_put_float(w, &at, scale);
    w->constants[11] = (uint32_t)depth;
    w->constants[12] = how->causal;
    w->constants[13] = (uint32_t)how->mask_is + (how->blind_is_zero ? 4 : 0);
    if (mask != NULL) {
        put_heads(w, &at, mask);
    }
    w->threads[0] = (uint32_t)((rows + together - 1) / together);
    w->threads[1] = (uint32_t)heads;
    w->threads[2] = (uint32_t)loops.sizes[0];
    w->team = taper_gpu_team(e->state, taper_gpu_threads(w), (k->sizes[rank - 2] + KEYS - 1) / KEYS, 16);
    w->operations = 4.0 * (double)(loops.sizes[0] * heads * rows * k->sizes[rank - 2] * q->sizes[rank - 1]);
    return TAPER_OK;
}

taper_status taper_gpu_attend_any(taper_gpu_emitter *e, const taper_gpu_view *q, const taper_gpu_view *k,
                                  const taper_gpu_view *v, double scale, const taper_gpu_attention *how,
                                  taper_gpu_view *out)
{
    if (taper_gpu_can_attend(q, k, v)) {
        return taper_gpu_attend(e, q, k, v, scale, how, out);
    }
    const int rank = q->rank;
    bool fit = (rank == 3 || rank == 4) && k->rank == rank && v->rank == rank && q->packed == rank - 1 &&
               k->packed == rank - 1 && v->packed == rank - 1 && q->sizes[rank - 1] == k->sizes[rank - 1] &&
               k->sizes[rank - 2] == v->sizes[rank - 2] && how->mask == NULL && !how->causal;
    for (int d = 0; fit && d < rank - 2; d++) {
        fit = q->sizes[d] == k->sizes[d] && q->sizes[d] == v->sizes[d];
    }
    TAPER_GPU_REFUSE(e, !fit, "attention of heads that are too deep, or not alike");
    taper_shape shape = {.rank = rank, .dtype = TAPER_F32};
    memcpy(shape.sizes, q->sizes, sizeof q->sizes);
    shape.sizes[rank - 1] = k->sizes[rank - 2];
    taper_gpu_view turned = *k, scores, shares;
    turned.packed = rank - 2;
    turned.sizes[rank - 2] = k->sizes[rank - 1];
    turned.sizes[rank - 1] = k->sizes[rank - 2];
    turned.strides[rank - 2] = k->strides[rank - 1];
    turned.strides[rank - 1] = k->strides[rank - 2];
    taper_gpu_chain scaled = {.most = TAPER_GPU_FEW_STEPS, .only_plain = true}, none = {0};
    taper_gpu_append(&scaled, TAPER_GPU_STEP_MUL, NULL, scale, 0);
    TAPER_TRY(taper_gpu_multiply(e, q, &turned, &shape, &scaled, &scores));
    TAPER_TRY(taper_gpu_rows(e, &scores, rank - 1, 0, 0, &none, &shares));
    shape.sizes[rank - 1] = v->sizes[rank - 1];
    return taper_gpu_multiply(e, &shares, v, &shape, &none, out);
}

// Reads a mask and broadcasts it to the sizes of the scores, by strides of 0.
static taper_status read_mask(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *q,
                              const taper_gpu_view *k, taper_gpu_view *mask)
{
    taper_shape scores = {.rank = q->rank, .dtype = TAPER_F32};
    bool splat;
    memcpy(scores.sizes, q->sizes, sizeof q->sizes);
    scores.sizes[q->rank - 1] = k->sizes[k->rank - 2];
    TAPER_TRY(taper_gpu_operand_like(e, value, &scores, q->rank - 1, false, true, mask, &splat));
    TAPER_GPU_REFUSE(e, splat, "a mask that is the same for all keys");
    return TAPER_OK;
}

// ---- products with a softmax between them

// Returns the only user of the value if the rule of that user is `rule`, otherwise NULL.
static const taper_node *only_user(const taper_gpu_emitter *e, const taper_ir_value *value, taper_gpu_rule *rule)
{
    const taper_node *user = taper_value_used_once(value) ? value->uses->user : NULL;
    const taper_gpu_rule_row *row =
        user != NULL && user->block == e->known->body && user->output_count == 1 ? taper_gpu_find_rule(user) : NULL;
    return row != NULL && row->rule == rule && taper_node_in(user, 0) == value ? user : NULL;
}

// Returns true if the value is already computed, is float32 and has one number for each key.
static bool may_mask(const taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *k)
{
    const taper_shape shape = taper_gpu_shape(e, value);
    return shape.dtype == TAPER_F32 && shape.rank >= 1 && shape.sizes[shape.rank - 1] == k->sizes[k->rank - 2] &&
           (value->block != e->known->body || e->values[value->id - e->first_id].made);
}

// Emits softmax(q k^T [times a number]) v, starting at its first product. *result receives the value of the second
// product.
taper_status taper_gpu_take_attention(taper_gpu_emitter *e, const taper_node *product, const taper_gpu_view *q,
                                      const taper_gpu_view *k, const taper_ir_value *added,
                                      const taper_ir_value **result, taper_gpu_view *out)
{
    const taper_node *done[5];
    size_t count = 0;
    double scale = 1;
    int64_t dim;
    taper_gpu_view v, mask;
    const taper_ir_value *value = &product->outputs[0];
    const taper_node *step = only_user(e, value, taper_gpu_rule_step);
    if (added == NULL && step != NULL) {
        const uint32_t code = taper_gpu_find_rule(step)->code;
        if ((code != TAPER_GPU_STEP_MUL && code != TAPER_GPU_STEP_DIV) || step->input_count < 2) {
            return TAPER_DECLINED;
        }
        const taper_val *number = taper_read_constant(&e->reader, taper_node_in(step, 1));
        if (number == NULL || (number->tag != TAPER_DOUBLE && number->tag != TAPER_INT)) {
            return TAPER_DECLINED;
        }
        scale = number->tag == TAPER_INT ? (double)number->as.i : number->as.f;
        scale = code == TAPER_GPU_STEP_DIV ? 1 / scale : scale;
        done[count++] = step;
        value = &step->outputs[0];
    }
    // Looks for a mask that is added to the scores and is computed already.
    taper_gpu_attention how = {0};
    const taper_ir_value *mask_value = added;
    const taper_node *sum = added == NULL ? only_user(e, value, taper_gpu_rule_step) : NULL;
    if (sum != NULL) {
        double alpha;
        mask_value = taper_node_in(sum, 1);
        TAPER_TRY(taper_read_number(&e->reader, sum, "alpha", 1, &alpha));
        const taper_shape all = taper_gpu_shape(e, value), after = taper_gpu_shape(e, &sum->outputs[0]);
        if (taper_gpu_find_rule(sum)->code != TAPER_GPU_STEP_ADD || alpha != 1 || after.rank != all.rank ||
            memcmp(after.sizes, all.sizes, sizeof all.sizes) != 0) {
            return TAPER_DECLINED;
        }
        done[count++] = sum;
        value = &sum->outputs[0];
    }
    if (mask_value != NULL && !may_mask(e, mask_value, k)) {
        return TAPER_DECLINED;
    }
    const taper_node *softmax = only_user(e, value, taper_gpu_rule_softmax);
    if (softmax == NULL || taper_gpu_find_rule(softmax)->code != 0 || !isfinite(scale)) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_read_int(&e->reader, softmax, "dim", -1, &dim));
    if (dim != -1 && dim != q->rank - 1) {
        return TAPER_DECLINED;
    }
    done[count++] = softmax;
    value = &softmax->outputs[0];
    const taper_node *dropout = only_user(e, value, taper_gpu_rule_identity);
    if (dropout != NULL) {
        int64_t training;
        TAPER_TRY(taper_read_int(&e->reader, dropout, "train", 0, &training));
        if (training != 0) {
            return TAPER_DECLINED;
        }
        done[count++] = dropout;
        value = &dropout->outputs[0];
    }
    const taper_node *second = only_user(e, value, taper_gpu_rule_matmul);
    if (second == NULL) {
        return TAPER_DECLINED;
    }
    const taper_ir_value *other = taper_node_in(second, 1);
    if (other->block == e->known->body && !e->values[other->id - e->first_id].made) {
        return TAPER_DECLINED;
    }
    done[count++] = second;
    TAPER_TRY(taper_gpu_operand(e, other, &v));
    if (!taper_gpu_can_attend(q, k, &v)) {
        return TAPER_DECLINED;
    }
    if (mask_value != NULL) {
        TAPER_TRY(read_mask(e, mask_value, q, k, &mask));
        how = (taper_gpu_attention){.mask = &mask, .mask_is = TAPER_GPU_MASK_ADDED};
    }
    TAPER_TRY(taper_gpu_attend(e, q, k, &v, scale, &how, out));
    for (size_t i = 0; i < count; i++) {
        e->values[done[i]->outputs[0].id - e->first_id].done = true;
    }
    *result = &second->outputs[0];
    return TAPER_OK;
}

// ---- PyTorch's attention operators

static bool is_none(const taper_gpu_emitter *e, const taper_node *node, const char *name)
{
    const taper_ir_value *value = taper_read_argument(node, name);
    const taper_val *constant = taper_read_constant(&e->reader, value);
    return value == NULL || (constant != NULL && constant->tag == TAPER_NONE);
}

taper_status taper_gpu_rule_attention(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    double dropout, scale;
    int64_t causal;
    taper_gpu_view x[3], out, mask;
    (void)code;
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, i)));
    }
    const taper_ir_value *mask_value = is_none(e, node, "attn_mask") ? NULL : taper_read_argument(node, "attn_mask");
    if (mask_value != NULL) {
        TAPER_TRY(taper_gpu_ask_operand_of(e, mask_value, TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS));
    }
    TAPER_TRY(taper_read_number(&e->reader, node, "dropout_p", 0, &dropout));
    TAPER_TRY(taper_read_int(&e->reader, node, "is_causal", 0, &causal));
    TAPER_TRY(taper_read_number(&e->reader, node, "scale", 0, &scale));
    TAPER_GPU_REFUSE(e, dropout != 0, "dropout in training");
    TAPER_GPU_REFUSE(e, node->output_count > 1 && node->outputs[1].uses != NULL, "attention that gives its weights");
    if (e->asking) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, i));
        TAPER_TRY(taper_gpu_operand_packed(e, taper_node_in(node, i), shape.rank - 1, &x[i]));
    }
    scale = is_none(e, node, "scale") ? 1 / sqrt((double)x[0].sizes[x[0].rank - 1]) : scale;
    taper_gpu_attention how = {.causal = causal != 0, .blind_is_zero = mask_value != NULL};
    if (mask_value != NULL) {
        TAPER_TRY(read_mask(e, mask_value, &x[0], &x[1], &mask));
        how.mask = &mask;
        how.mask_is = taper_gpu_shape(e, mask_value).dtype == TAPER_BOOL ? TAPER_GPU_MASK_SHOWS : TAPER_GPU_MASK_ADDED;
    }
    TAPER_TRY(taper_gpu_attend_any(e, &x[0], &x[1], &x[2], scale, &how, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

static taper_status constant_matrix(taper_gpu_emitter *e, const taper_node *node, const char *name, size_t rank,
                                    const taper_tensor **tensor)
{
    *tensor = taper_read_tensor(&e->reader, taper_read_argument(node, name));
    TAPER_GPU_REFUSE(e, *tensor == NULL || (*tensor)->dtype != TAPER_F32 || (*tensor)->rank != rank,
                     "a weight that is no constant");
    return TAPER_OK;
}

// Emits _native_multi_head_attention: one linear layer computes q, k and v, attention follows for each head, then
// another linear layer.
taper_status taper_gpu_rule_multi_head(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    int64_t size, heads, weights;
    const taper_tensor *qkv, *qkv_bias, *last, *last_bias;
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    taper_gpu_view in, all, parts, x[3], attended, rows, out;
    taper_gpu_chain chain = {.most = TAPER_GPU_FEW_STEPS}, none = {0};
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_GPU_REFUSE(
        e, taper_node_in(node, 0) != taper_node_in(node, 1) || taper_node_in(node, 0) != taper_node_in(node, 2),
        "attention of several tensors");
    TAPER_GPU_REFUSE(e, !is_none(e, node, "mask"), "attention with a mask");
    TAPER_TRY(taper_read_int(&e->reader, node, "need_weights", 1, &weights));
    TAPER_GPU_REFUSE(e, weights != 0 || (node->output_count > 1 && node->outputs[1].uses != NULL),
                     "attention that gives its weights");
    TAPER_TRY(taper_read_int(&e->reader, node, "embed_dim", 0, &size));
    TAPER_TRY(taper_read_int(&e->reader, node, "num_head", 1, &heads));
    TAPER_TRY(constant_matrix(e, node, "qkv_weight", 2, &qkv));
    TAPER_TRY(constant_matrix(e, node, "qkv_bias", 1, &qkv_bias));
    TAPER_TRY(constant_matrix(e, node, "proj_weight", 2, &last));
    TAPER_TRY(constant_matrix(e, node, "proj_bias", 1, &last_bias));
    TAPER_GPU_REFUSE(e,
                     size < 1 || heads < 1 || size % heads != 0 || size / heads % TAPER_GPU_VECTOR != 0 ||
                         qkv->sizes[0] != 3 * size || qkv->sizes[1] != size || qkv_bias->sizes[0] != 3 * size ||
                         last->sizes[0] != size || last->sizes[1] != size || last_bias->sizes[0] != size,
                     "attention of heads that are too deep, or not alike");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, shape.rank != 3, "attention of other than three dimensions");
    TAPER_TRY(taper_gpu_operand_packed(e, taper_node_in(node, 0), 2, &in));
    TAPER_TRY(taper_gpu_linear(e, &in, qkv, qkv_bias, &none, &all));
    const taper_shape apart = {
        .rank = 5, .dtype = TAPER_F32, .sizes = {shape.sizes[0], shape.sizes[1], 3, heads, size / heads}};
    TAPER_GPU_REFUSE(e, !taper_gpu_view_reshape(&all, &apart, &parts), "heads within vectors");
    for (int i = 0; i < 3; i++) { // views q, k and v as [batch, heads, rows, depth]
        x[i] = (taper_gpu_view){.buffer = parts.buffer,
                                .rank = 4,
                                .packed = 3,
                                .offset = parts.offset + i * parts.strides[2],
                                .sizes = {shape.sizes[0], heads, shape.sizes[1], size / heads},
                                .strides = {parts.strides[0], parts.strides[3], parts.strides[1], parts.strides[4]}};
    }
    TAPER_TRY(taper_gpu_attend_any(e, &x[0], &x[1], &x[2], 1 / sqrt((double)(size / heads)), &(taper_gpu_attention){0},
                                   &attended));
    // The heads of a row together are the row's features.
    rows = (taper_gpu_view){.buffer = attended.buffer,
                            .rank = 3,
                            .packed = 2,
                            .offset = attended.offset,
                            .sizes = {shape.sizes[0], shape.sizes[1], size},
                            .strides = {attended.strides[0], attended.strides[2], attended.strides[3]}};
    TAPER_TRY(taper_gpu_take_steps(e, &result, 2, 1, &chain));
    TAPER_TRY(taper_gpu_linear(e, &rows, last, last_bias, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}
