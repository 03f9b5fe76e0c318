// SPDX-License-Identifier: BSD-2-Clause
// Folds batch norm with constant statistics, which is a scale and a shift of every channel: s = γ / √(σ² + ε), t = β -
// μ s. After a convolution or a linear layer the norm is merged into the layer's weights: w′ = s w, b′ = s b + t.
// Before a linear layer, or a convolution without padding, w′ = w s and b′ = b + Σ w t. The numbers are computed in
// double and rounded once.
#include <math.h>

#include "compiler/layer.h"
#include "ir/scaled_storage.h"
#include "ir/tensor.h"

typedef struct norm {
    taper_node *node;
    const taper_tensor *tensors[4]; // γ, β, μ, σ²; a NULL γ stands for 1, a NULL β for 0
    double eps;
    int64_t channels;
} norm;

static bool match_norm(const taper_compilation *compilation, taper_node *node, norm *n)
{
    if (!taper_node_calls(node, TAPER_OP(aten_batch_norm)) || node->input_count < 8) {
        return false;
    }
    const taper_val *training = taper_node_constant_in(node, 5);
    *n = (norm){.node = node, .channels = -1};
    if (training == NULL || training->tag != TAPER_BOOLEAN || training->as.b ||
        !taper_node_constant_is_number(node, 7, &n->eps)) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        const taper_val *value = taper_node_constant_in(node, 1 + i);
        if (value == NULL || (value->tag == TAPER_NONE && i >= 2)) {
            return false;
        }
        if (value->tag == TAPER_NONE) {
            continue;
        }
        if (value->tag != TAPER_TENSOR || taper_is_written(compilation, *value)) {
            return false;
        }
        const taper_tensor *t = value->as.tensor;
        if (t->dtype != TAPER_F32 || t->rank != 1 || !taper_tensor_is_contiguous(t) ||
            (n->channels >= 0 && t->sizes[0] != n->channels)) {
            return false;
        }
        n->channels = t->sizes[0];
        n->tensors[i] = t;
    }
    return true;
}

static void scale_and_shift(const norm *n, int64_t channel, double *scale, double *shift)
{
    double parts[4] = {1, 0, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        if (n->tensors[i] != NULL) {
            parts[i] = ((const float *)taper_tensor_data(n->tensors[i]))[channel];
        }
    }
    *scale = parts[0] / sqrt(parts[3] + n->eps);
    *shift = parts[1] - parts[2] * *scale;
}

static taper_status copy_weight(taper_compilation *compilation, const taper_tensor *w, taper_tensor **weight)
{
    TAPER_TRY(
        taper_tensor_new(compilation->module->heap, TAPER_F32, w->rank, w->sizes, NULL, weight, compilation->error));
    const taper_status status = taper_tensor_copy(*weight, w, compilation->error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*weight)->head);
    }
    return status;
}

// Makes a weight that stores factors for its rows; saving the weight applies them.
static taper_status scaled_weight(taper_compilation *compilation, taper_tensor *w, taper_tensor **weight,
                                  double **scales)
{
    taper_heap *heap = compilation->module->heap;
    taper_storage *storage;
    TAPER_TRY(taper_storage_scaled(heap, w, &storage, scales, compilation->error));
    const taper_status status =
        taper_tensor_view(heap, storage, TAPER_F32, 0, w->rank, w->sizes, w->strides, weight, compilation->error);
    taper_obj_release(&storage->head);
    return status;
}

// Makes a new weight. *scales receives an array in which the caller stores a factor for each row of the weight, or
// NULL. If *scales is NULL, the weight is a copy that the caller changes.
static taper_status new_weights(taper_compilation *compilation, const taper_layer *layer, bool rows,
                                taper_tensor **weight, taper_tensor **bias, double **scales)
{
    taper_heap *heap = compilation->module->heap;
    taper_tensor *w = layer->weight;
    *bias = NULL;
    *scales = NULL;
    TAPER_TRY(taper_storage_settle(w->storage, compilation->error)); // applies the factors of a previous norm
    TAPER_TRY(rows && compilation->to_save && taper_tensor_is_contiguous(w)
                  ? scaled_weight(compilation, w, weight, scales)
                  : copy_weight(compilation, w, weight));
    taper_status status = taper_tensor_zeros(heap, TAPER_F32, 1, &layer->channels, bias, compilation->error);
    if (status == TAPER_OK && layer->bias != NULL) {
        status = taper_tensor_copy(*bias, layer->bias, compilation->error);
    }
    if (status != TAPER_OK) {
        taper_obj_release(&(*weight)->head);
        if (*bias != NULL) {
            taper_obj_release(&(*bias)->head);
        }
    }
    return status;
}

static int64_t inner_size(const taper_tensor *weight, size_t from)
{
    int64_t n = 1;
    for (size_t d = from; d < weight->rank; d++) {
        n *= weight->sizes[d];
    }
    return n;
}

static void scale_row(float *row, int64_t count, double scale)
{
    for (int64_t i = 0; i < count; i++) {
        row[i] = (float)(row[i] * scale);
    }
}

// Folds a norm that follows the layer. If `scales` is not NULL, it receives factors of the weight's rows and the weight
// does not change.
static void fold_after(const taper_layer *layer, const norm *n, float *weight, double *scales, float *bias)
{
    const int64_t inner = inner_size(layer->weight, layer->transposed ? 2 : 1);
    const int64_t per_group = layer->transposed ? layer->weight->sizes[1] : 0;
    const int64_t rows_per_group = layer->weight->sizes[0] / layer->groups;
    for (int64_t c = 0; c < layer->channels; c++) {
        double scale, shift;
        scale_and_shift(n, c, &scale, &shift);
        bias[c] = (float)(bias[c] * scale + shift);
        if (scales != NULL) {
            scales[c] = scale;
            continue;
        }
        if (!layer->transposed) {
            scale_row(weight + c * inner, inner, scale);
            continue;
        }
        const int64_t group = c / per_group; // number of the group to which output c belongs
        for (int64_t r = group * rows_per_group; r < (group + 1) * rows_per_group; r++) {
            scale_row(weight + (r * per_group + c % per_group) * inner, inner, scale);
        }
    }
}

// Folds a norm that precedes the layer. The layer must not be a transposed convolution and must not pad.
static void fold_before(const taper_layer *layer, const norm *n, float *weight, float *bias)
{
    const int64_t inputs = layer->weight->sizes[1], inner = inner_size(layer->weight, 2);
    const int64_t per_group = layer->channels / layer->groups;
    for (int64_t c = 0; c < layer->channels; c++) {
        double sum = bias[c];
        for (int64_t i = 0; i < inputs; i++) {
            double scale, shift;
            scale_and_shift(n, c / per_group * inputs + i, &scale, &shift);
            float *at = weight + (c * inputs + i) * inner;
            for (int64_t k = 0; k < inner; k++) {
                sum += at[k] * shift;
                at[k] = (float)(at[k] * scale);
            }
        }
        bias[c] = (float)sum;
    }
}

static taper_status replace_weights(taper_compilation *compilation, const taper_layer *layer, taper_tensor *weight,
                                    taper_tensor *bias)
{
    taper_ir_value *values[2];
    taper_status status = taper_constant_before(layer->node, TAPER_VAL(weight), &values[0], compilation->error);
    if (status != TAPER_OK) {
        taper_obj_release(&bias->head);
        return status;
    }
    TAPER_TRY(taper_constant_before(layer->node, TAPER_VAL(bias), &values[1], compilation->error));
    for (size_t i = 0; i < layer->node->input_count; i++) {
        const char *name = layer->node->schema->args[i].name;
        if (strcmp(name, "weight") == 0) {
            taper_node_set_input(layer->node, i, values[0]);
        } else if (strcmp(name, "bias") == 0) {
            taper_node_set_input(layer->node, i, values[1]);
        }
    }
    return TAPER_OK;
}

static bool does_not_pad(const taper_layer *layer)
{
    for (size_t i = 0; i < layer->dims; i++) {
        if (layer->padding[i] != 0) {
            return false;
        }
    }
    return !layer->transposed;
}

// Returns true if no node between the norm and the layer may write to memory. The layer will read the norm's input
// directly, so such a node could change what the layer reads.
static bool nothing_between(const taper_node *node, const taper_node *layer)
{
    for (node = node->next; node != layer; node = node->next) {
        if (node == NULL || !taper_node_only_raises(node)) {
            return false;
        }
    }
    return true;
}

// Returns true if the value has one use, apart from nodes that ask for its shape, which is the same after the norm.
static bool has_one_user(const taper_ir_value *value)
{
    size_t users = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        users += use->user == NULL || (!taper_node_calls(use->user, TAPER_OP(aten_dim)) &&
                                       !taper_node_calls_any(use->user, TAPER_OP(aten_size_int)));
    }
    return users == 1;
}

static bool has_channels(const taper_layer *layer, int64_t channels)
{
    int64_t inputs;
    return !__builtin_mul_overflow(layer->weight->sizes[1], layer->groups, &inputs) && inputs == channels;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    norm n;
    taper_layer layer;
    taper_tensor *weight, *bias;
    double *scales;
    if (!match_norm(compilation, node, &n)) {
        return TAPER_OK;
    }
    taper_ir_value *in = taper_node_in(node, 0), *out = &node->outputs[0];
    // Batch norm scales dimension 1. For a linear layer this is the dimension of features only if there are two
    // dimensions.
    const taper_node *producer = in->node;
    if (producer != NULL && producer->block == node->block && has_one_user(in) &&
        taper_layer_match(compilation, in->node, &layer) && layer.channels == n.channels &&
        (layer.convolution || taper_is_matrix(compilation, layer.input))) {
        TAPER_TRY(new_weights(compilation, &layer, !layer.transposed, &weight, &bias, &scales));
        fold_after(&layer, &n, scales == NULL ? taper_tensor_mutable(weight) : NULL, scales,
                   taper_tensor_mutable(bias));
        taper_value_replace_uses(out, in);
        taper_node_remove(node);
        return replace_weights(compilation, &layer, weight, bias);
    }
    taper_node *user = taper_value_used_once(out) ? out->uses->user : NULL;
    if (user != NULL && user->block == node->block && out->uses->index == 0 &&
        taper_layer_match(compilation, user, &layer) && does_not_pad(&layer) && has_channels(&layer, n.channels) &&
        (layer.convolution || taper_is_matrix(compilation, in)) && nothing_between(node, user)) {
        TAPER_TRY(new_weights(compilation, &layer, false, &weight, &bias, &scales));
        fold_before(&layer, &n, taper_tensor_mutable(weight), taper_tensor_mutable(bias));
        taper_value_replace_uses(out, in);
        taper_node_remove(node);
        return replace_weights(compilation, &layer, weight, bias);
    }
    return TAPER_OK;
}

taper_status taper_pass_fold_batch_norm(taper_compilation *compilation, taper_graph *graph)
{
    TAPER_TRY(taper_written_storages_find(compilation));
    return taper_visit_nodes(compilation, graph->body, visit);
}
