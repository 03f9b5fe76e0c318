// SPDX-License-Identifier: BSD-2-Clause
// Cross-layer equalization (Nagel et al., 2019). If only a relu is between two layers, channel i of the first layer can
// be divided by a positive number, and input channel i of the second layer multiplied by it. The number is chosen so
// that both channels have equal ranges. Then a single scale for the whole weight loses less precision.
#include <math.h>

#include "compiler/quantization.h"
#include "ir/tensor.h"

enum { SWEEPS = 10 }; // number of sweeps over all pairs of layers, because changing one pair affects the next pair

typedef struct pair {
    taper_layer first, second;
    float *weights[2], *bias; // elements of the new weights and of the new bias
} pair;

typedef struct equalizer {
    taper_compilation *compilation;
    pair *pairs;
    size_t count, capacity;
} equalizer;

static bool is_depthwise(const taper_layer *layer)
{
    return layer->convolution && layer->weight->sizes[1] == 1 && layer->weight->sizes[0] == layer->groups;
}

static bool is_simple(const taper_layer *layer)
{
    return !layer->transposed && taper_layer_is_quantizable(layer, false) && taper_tensor_numel(layer->weight) != 0;
}

// Finds the layer that is the only user of the result of `node`, directly or through a relu.
static bool find_second(const equalizer *e, const taper_node *node, taper_layer *second)
{
    taper_node *user = taper_only_user(node);
    if (user != NULL && taper_node_calls(user, TAPER_OP(aten_relu)) && user->schema->out_count == 0) {
        user = taper_only_user(user);
    }
    return user != NULL && taper_layer_match(e->compilation, user, second) && is_simple(second);
}

static taper_status add_pair(equalizer *e, taper_node *node)
{
    pair found = {0};
    if (!taper_layer_match(e->compilation, node, &found.first) || !is_simple(&found.first) ||
        !find_second(e, node, &found.second)) {
        return TAPER_OK;
    }
    const int64_t inputs = found.second.weight->sizes[1] * found.second.groups;
    if (inputs != found.first.channels || (found.second.groups != 1 && !is_depthwise(&found.second))) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(e->compilation->allocator, e->pairs, e->capacity, e->count + 1, e->compilation->error));
    e->pairs[e->count++] = found;
    return TAPER_OK;
}

static taper_status find_pairs(equalizer *e, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(find_pairs(e, node->blocks[b]));
        }
        TAPER_TRY(add_pair(e, node));
    }
    return TAPER_OK;
}

// ---- new weights

// Replaces argument `name` of the layer's node by a contiguous copy of `from`, and sets *data to the elements of the
// copy. If `from` is NULL, only sets *data to NULL.
static taper_status own(const equalizer *e, taper_node *node, const char *name, const taper_tensor *from, float **data)
{
    taper_tensor *copy;
    taper_ir_value *value;
    *data = NULL;
    if (from == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_new(e->compilation->module->heap, TAPER_F32, from->rank, from->sizes, NULL, &copy,
                               e->compilation->error));
    taper_status status = taper_tensor_copy(copy, from, e->compilation->error);
    if (status != TAPER_OK) {
        taper_obj_release(&copy->head);
        return status;
    }
    *data = taper_tensor_mutable(copy);
    TAPER_TRY(taper_constant_before(node, TAPER_VAL(copy), &value, e->compilation->error));
    for (size_t i = 0; i < node->input_count; i++) {
        if (strcmp(node->schema->args[i].name, name) == 0) {
            taper_node_set_input(node, i, value);
        }
    }
    return TAPER_OK;
}

// If an earlier pair, with an index below `upto`, has already copied the weight of the layer `node`, returns the
// elements of the copy, otherwise NULL.
static float *owned_before(const equalizer *e, size_t upto, const taper_node *node)
{
    for (size_t i = 0; i < upto; i++) {
        if (e->pairs[i].second.node == node) {
            return e->pairs[i].weights[1];
        }
    }
    return NULL;
}

static taper_status own_weights(const equalizer *e)
{
    for (size_t i = 0; i < e->count; i++) {
        pair *p = &e->pairs[i];
        p->weights[0] = owned_before(e, i, p->first.node);
        if (p->weights[0] == NULL) {
            TAPER_TRY(own(e, p->first.node, "weight", p->first.weight, &p->weights[0]));
        }
        TAPER_TRY(own(e, p->first.node, "bias", p->first.bias, &p->bias));
        TAPER_TRY(own(e, p->second.node, "weight", p->second.weight, &p->weights[1]));
    }
    return TAPER_OK;
}

// ---- equalizing the ranges of channels

// Numbers of a weight that belong to one channel: `count` runs of `length` numbers, `stride` numbers apart.
typedef struct channel_part {
    float *at;
    int64_t count, stride, length;
} channel_part;

static channel_part output_part(const pair *p, int64_t channel)
{
    const int64_t length = taper_tensor_numel(p->first.weight) / p->first.channels;
    return (channel_part){p->weights[0] + channel * length, 1, 0, length};
}

static channel_part input_part(const pair *p, int64_t channel)
{
    const taper_tensor *w = p->second.weight;
    if (p->second.groups != 1) { // the second layer is depthwise
        const int64_t length = taper_tensor_numel(w) / w->sizes[0];
        return (channel_part){p->weights[1] + channel * length, 1, 0, length};
    }
    const int64_t row = taper_tensor_numel(w) / w->sizes[0], length = row / w->sizes[1];
    return (channel_part){p->weights[1] + channel * length, w->sizes[0], row, length};
}

static double magnitude(const channel_part *part)
{
    double most = 0;
    for (int64_t r = 0; r < part->count; r++) {
        for (int64_t i = 0; i < part->length; i++) {
            const double x = fabs((double)part->at[r * part->stride + i]);
            most = x > most ? x : most;
        }
    }
    return most;
}

static void multiply(const channel_part *part, double by)
{
    for (int64_t r = 0; r < part->count; r++) {
        for (int64_t i = 0; i < part->length; i++) {
            float *x = &part->at[r * part->stride + i];
            *x = (float)((double)*x * by);
        }
    }
}

static void equalize_pair(const pair *p)
{
    for (int64_t c = 0; c < p->first.channels; c++) {
        const channel_part out = output_part(p, c), in = input_part(p, c);
        const double a = magnitude(&out), b = magnitude(&in), factor = sqrt(a / b);
        // The comparison is also false for NaN. Extreme factors are skipped, because they would only lose precision.
        if (!(a > 0 && b > 0 && factor > 1e-4 && factor < 1e4)) {
            continue;
        }
        multiply(&out, 1 / factor);
        multiply(&in, factor);
        if (p->bias != NULL) {
            p->bias[c] = (float)((double)p->bias[c] / factor);
        }
    }
}

taper_status taper_equalize(taper_compilation *compilation, taper_graph *graph)
{
    equalizer e = {.compilation = compilation};
    TAPER_TRY(taper_written_storages_find(compilation));
    taper_status status = find_pairs(&e, graph->body);
    if (status == TAPER_OK) {
        status = own_weights(&e);
    }
    for (int sweep = 0; status == TAPER_OK && sweep < SWEEPS; sweep++) {
        for (size_t i = 0; i < e.count; i++) {
            equalize_pair(&e.pairs[i]);
        }
    }
    taper_free(compilation->allocator, e.pairs, e.capacity * sizeof *e.pairs);
    taper_written_storages_free(compilation);
    return status;
}
