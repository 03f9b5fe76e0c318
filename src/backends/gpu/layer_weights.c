// SPDX-License-Identifier: BSD-2-Clause
// Constants of layers: merges batch norm into weights, and stores weights in the order in which shaders read them.
#include <math.h>
#include <string.h>

#include "backends/gpu/layer_parts.h"

taper_status taper_gpu_constant(taper_gpu_emitter *e, const taper_ir_value *value, bool needed,
                                const taper_tensor **tensor)
{
    const taper_val *constant = taper_read_constant(&e->reader, value);
    *tensor = NULL;
    if (!needed && (value == NULL || (constant != NULL && constant->tag == TAPER_NONE))) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, constant == NULL || constant->tag != TAPER_TENSOR, "a weight that is no constant");
    *tensor = constant->as.tensor;
    TAPER_GPU_REFUSE(e, (*tensor)->dtype != TAPER_F32 || (*tensor)->hidden_nhwc, "a weight of other than float32");
    return TAPER_OK;
}

taper_status taper_gpu_read_norm(taper_gpu_emitter *e, const taper_node *node, int64_t channels, taper_gpu_layer *l)
{
    int64_t training;
    TAPER_GPU_REFUSE(e, node->input_count < 8, "a batch norm of few arguments");
    TAPER_TRY(taper_read_int(&e->reader, node, "training", 0, &training));
    TAPER_GPU_REFUSE(e, training != 0, "a batch norm in training");
    TAPER_TRY(taper_read_number(&e->reader, node, "eps", 1e-5, &l->eps));
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(taper_gpu_constant(e, taper_node_in(node, 1 + i), i >= 2, &l->norm[i]));
        TAPER_GPU_REFUSE(e, l->norm[i] != NULL && (l->norm[i]->rank != 1 || l->norm[i]->sizes[0] != channels),
                         "a batch norm of other channels");
    }
    l->has_norm = true;
    return TAPER_OK;
}

void taper_gpu_take_norm(taper_gpu_emitter *e, const taper_ir_value **value, taper_gpu_layer *l)
{
    const taper_node *user = taper_value_used_once(*value) ? (*value)->uses->user : NULL;
    if (user == NULL || user->block != e->known->body || user->output_count != 1 || taper_node_in(user, 0) != *value ||
        taper_gpu_find_rule(user) == NULL || taper_gpu_find_rule(user)->rule != taper_gpu_rule_batch_norm) {
        return;
    }
    taper_gpu_layer with = *l;
    if (taper_gpu_read_norm(e, user, l->out, &with) == TAPER_OK) {
        *l = with;
        e->values[user->outputs[0].id - e->first_id].done = true;
        *value = &user->outputs[0];
    }
}

taper_status taper_gpu_check_bias(taper_gpu_emitter *e, const taper_gpu_layer *l)
{
    TAPER_GPU_REFUSE(e, l->bias != NULL && (l->bias->rank != 1 || l->bias->sizes[0] != l->out),
                     "a bias of other channels");
    return TAPER_OK;
}

static float number_at(const taper_tensor *t, int64_t i)
{
    return ((const float *)taper_tensor_data(t))[i * t->strides[0]];
}

// Computes scale and shift so that y = scale (W x + b) + shift, for one channel.
void taper_gpu_layer_scale(const taper_gpu_layer *l, int64_t channel, double *scale, double *shift)
{
    double parts[4] = {1, 0, 0, 1};
    if (l->integers != NULL) {
        *scale = 1;
        *shift = l->integers->start[channel];
        return;
    }
    *scale = 1;
    *shift = l->bias != NULL ? number_at(l->bias, channel) : 0;
    if (l->has_norm) {
        for (size_t i = 0; i < 4; i++) {
            parts[i] = l->norm[i] != NULL ? number_at(l->norm[i], channel) : parts[i];
        }
        *scale = parts[0] / sqrt(parts[3] + l->eps);
        *shift = *scale * *shift + parts[1] - parts[2] * *scale;
    }
}

taper_gpu_key taper_gpu_layer_key(const taper_gpu_layer *l, uint32_t kind)
{
    const taper_gpu_integers *q = l->integers;
    return (taper_gpu_key){.tensors = {l->weight, l->bias, l->norm[0], l->norm[1], l->norm[2], l->norm[3]},
                           .numbers = {(double)l->tile, (double)l->part_in, (double)l->part_out, (double)l->groups,
                                       l->has_norm, l->eps, l->transposed_linear, (double)l->first, (double)l->out,
                                       l->transposed, q != NULL ? q->in_scale : 0, q != NULL ? q->in_point : 0,
                                       q != NULL ? q->out_scale : 0},
                           .kind = kind};
}

taper_gpu_row taper_gpu_layer_row(const taper_gpu_layer *l, int64_t out)
{
    const taper_tensor *w = l->weight;
    taper_gpu_row row = {.data = taper_tensor_data(w), .integers = w->dtype == TAPER_QI8};
    if (w->rank <= 2) {
        const int o = l->transposed_linear ? 1 : 0;
        row.at = out * w->strides[o];
        row.in = w->strides[1 - o];
        return row;
    }
    row.y = w->rank == 4 ? w->strides[2] : 0;
    row.x = w->strides[w->rank - 1];
    if (l->transposed) { // weight is [in, out / groups, …]; input channels are numbered within the group
        const int64_t group = out / (l->out / l->groups);
        row.at = group * (l->in / l->groups) * w->strides[0] + out % (l->out / l->groups) * w->strides[1];
        row.in = w->strides[0];
    } else {
        row.at = out * w->strides[0];
        row.in = w->strides[1];
    }
    return row;
}

int64_t taper_gpu_layer_vectors(const taper_gpu_layer *l, int64_t *bias)
{
    const int64_t out = taper_gpu_vectors(l->part_out), tiles = (out + l->tile - 1) / l->tile;
    const int64_t in = taper_gpu_vectors(l->part_in) * TAPER_GPU_VECTOR;
    *bias = l->out / l->part_out * tiles * l->kernel[0] * l->kernel[1] * in * l->tile;
    return *bias + (l->integers != NULL ? 3 : 1) * (l->out / l->part_out) * out;
}

static const double half_word = 65536;
enum { RESULTS_AT_ONCE = 32, CHANNELS_AT_ONCE = 64 };

// Fills the weights of one tap and one result channel, `step` floats apart.
static void fill_tap(const taper_gpu_row *row, int64_t tap, double scale, int64_t begin, int64_t end, int64_t step,
                     float *to)
{
    if (row->integers) {
        const int8_t *from = (const int8_t *)row->data + row->at + tap;
        for (int64_t in = begin; in < end; in++) {
            to[in * step] = (float)(scale * from[in * row->in]);
        }
    } else {
        const float *from = (const float *)row->data + row->at + tap;
        for (int64_t in = begin; in < end; in++) {
            to[in * step] = (float)(scale * (double)from[in * row->in]);
        }
    }
}

// Fills the results [first, end) of one tile of one part, a few input channels at a time, so that neighbouring memory
// is written while it is cached.
static void fill_tile(const taper_gpu_layer *l, int64_t first, int64_t end, float *to)
{
    const int64_t in_group = l->in / l->groups, out_group = l->out / l->groups;
    const int64_t in_padded = taper_gpu_vectors(l->part_in) * TAPER_GPU_VECTOR, taps = l->kernel[0] * l->kernel[1];
    const int64_t part = first / l->part_out, step = l->tile * TAPER_GPU_VECTOR;
    double scales[RESULTS_AT_ONCE], shift;
    for (int64_t out = first; out < end; out++) {
        taper_gpu_layer_scale(l, l->first + out, &scales[out - first], &shift);
    }
    for (int64_t begin = 0; begin < in_group; begin += CHANNELS_AT_ONCE) {
        const int64_t stop = begin + CHANNELS_AT_ONCE < in_group ? begin + CHANNELS_AT_ONCE : in_group;
        for (int64_t tap = 0; tap < taps; tap++) {
            for (int64_t out = first; out < end; out++) {
                const taper_gpu_row row = taper_gpu_layer_row(l, l->first + out);
                // first_in is the first input channel of this group, within the part.
                const int64_t first_in = out / out_group * in_group - part * l->part_in;
                fill_tap(&row, tap / l->kernel[1] * row.y + tap % l->kernel[1] * row.x, scales[out - first], begin,
                         stop, step, to + (tap * in_padded + first_in) * step + out % l->part_out % step);
            }
        }
    }
}

static void fill_bias(const taper_gpu_layer *l, int64_t out, float *begin)
{
    const int64_t step = l->out / l->part_out * taper_gpu_vectors(l->part_out) * TAPER_GPU_VECTOR;
    double scale, shift;
    taper_gpu_layer_scale(l, l->first + out, &scale, &shift);
    if (l->integers == NULL) {
        *begin = (float)shift;
        return;
    }
    // The bias is an integer of 32 bits, stored as two halves, each of which a float represents exactly, or as one
    // float if `small` is set. The factor comes after the bias.
    const double high = floor(shift / half_word);
    begin[0] = (float)(l->integers->small ? shift : high);
    begin[step] = (float)(l->integers->small ? 0 : shift - high * half_word);
    begin[2 * step] = l->integers->factor[l->first + out];
}

void taper_gpu_fill_layer(void *user, float *to)
{
    const taper_gpu_layer *l = user;
    const int64_t out_vectors = taper_gpu_vectors(l->part_out), tiles = (out_vectors + l->tile - 1) / l->tile;
    const int64_t in_padded = taper_gpu_vectors(l->part_in) * TAPER_GPU_VECTOR, taps = l->kernel[0] * l->kernel[1];
    const int64_t step = l->tile * TAPER_GPU_VECTOR;
    int64_t bias;
    (void)taper_gpu_layer_vectors(l, &bias);
    for (int64_t out = 0; out < l->out;) {
        const int64_t part = out / l->part_out, at = out % l->part_out;
        int64_t more = step - at % step < l->part_out - at ? step - at % step : l->part_out - at;
        more = more < RESULTS_AT_ONCE ? more : RESULTS_AT_ONCE;
        fill_tile(l, out, out + more, to + (part * tiles + at / step) * taps * in_padded * step);
        for (const int64_t end = out + more; out < end; out++) {
            fill_bias(l, out, to + (bias + part * out_vectors) * TAPER_GPU_VECTOR + out % l->part_out);
        }
    }
}

void taper_gpu_fill_depthwise(void *user, float *to)
{
    const taper_gpu_layer *l = user;
    const int64_t groups = taper_gpu_vectors(l->out), taps = l->kernel[0] * l->kernel[1];
    for (int64_t out = 0; out < l->out; out++) {
        const taper_gpu_row row = taper_gpu_layer_row(l, out);
        double scale, shift;
        taper_gpu_layer_scale(l, out, &scale, &shift);
        for (int64_t tap = 0; tap < taps; tap++) {
            const double w = taper_gpu_row_number(&row, 0, tap / l->kernel[1], tap % l->kernel[1]);
            to[tap * groups * TAPER_GPU_VECTOR + out] = (float)(scale * w);
        }
        to[taps * groups * TAPER_GPU_VECTOR + out] = (float)shift;
        if (l->integers != NULL) {
            to[(taps + 1) * groups * TAPER_GPU_VECTOR + out] = l->integers->factor[out];
        }
    }
}
void taper_gpu_fill_norm(void *user, float *to)
{
    const taper_gpu_layer *l = user;
    const int64_t vectors = taper_gpu_vectors(l->out);
    for (int64_t channel = 0; channel < l->out; channel++) {
        double scale, shift;
        taper_gpu_layer_scale(l, channel, &scale, &shift);
        to[channel] = (float)scale;
        to[vectors * TAPER_GPU_VECTOR + channel] = (float)shift;
    }
}

taper_status taper_gpu_packed_object(taper_gpu_emitter *e, const taper_node *node, taper_object **object)
{
    const taper_val *packed = taper_read_constant(&e->reader, taper_node_in(node, 1));
    TAPER_GPU_REFUSE(e, packed == NULL || packed->tag != TAPER_OBJECT, "packed weights that are no constant");
    *object = packed->as.object;
    return taper_gpu_ask_operand(e, taper_node_in(node, 0));
}
