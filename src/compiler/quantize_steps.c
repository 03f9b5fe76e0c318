// SPDX-License-Identifier: BSD-2-Clause
// The operators that QNNPACK's engine has for quint8, and which calls of them it computes as the float operator does.
#include <math.h>

#include "compiler/quantization.h"

#define KEEP(name)                                                                                                     \
    {                                                                                                                  \
        "aten::" name, TAPER_STEP_KEEP, NULL, NULL,                                                                    \
        {                                                                                                              \
            0, 0                                                                                                       \
        }                                                                                                              \
    }
#define FIXED(name, scale, zero_point)                                                                                 \
    {                                                                                                                  \
        "aten::" name, TAPER_STEP_FIXED, NULL, NULL,                                                                   \
        {                                                                                                              \
            scale, zero_point                                                                                          \
        }                                                                                                              \
    }

static const taper_step_rule rules[] = {
    {"aten::add.Tensor", TAPER_STEP_PAIR, "quantized::add", "quantized::add_relu", {0, 0}},
    {"aten::mul.Tensor", TAPER_STEP_PAIR, "quantized::mul", "quantized::mul_relu", {0, 0}},
    {"aten::cat", TAPER_STEP_JOIN, NULL, NULL, {0, 0}},
    {"aten::hardswish", TAPER_STEP_CURVE, "quantized::hardswish", NULL, {0, 0}},
    {"aten::leaky_relu", TAPER_STEP_CURVE, "quantized::leaky_relu", NULL, {0, 0}},
    {"aten::elu", TAPER_STEP_CURVE, "quantized::elu", NULL, {0, 0}},
    FIXED("sigmoid", 1.0 / 256, 0),
    FIXED("hardsigmoid", 1.0 / 256, 0),
    FIXED("tanh", 2.0 / 256, 128),
    KEEP("relu"),
    KEEP("relu6"),
    KEEP("hardtanh"),
    KEEP("clamp"),
    KEEP("max_pool2d"),
    KEEP("avg_pool2d"),
    KEEP("adaptive_avg_pool2d"),
    KEEP("mean.dim"),
    KEEP("upsample_nearest2d.vec"),
    KEEP("upsample_bilinear2d.vec"),
    KEEP("flatten.using_ints"),
    KEEP("reshape"),
    {"aten::view", TAPER_STEP_KEEP, "aten::reshape", NULL, {0, 0}}, // quantized layers give channels-last results
    KEEP("permute"),
    KEEP("transpose.int"),
    KEEP("squeeze.dim"),
    KEEP("unsqueeze"),
    KEEP("contiguous"),
    KEEP("pixel_shuffle"),
    KEEP("channel_shuffle"),
    KEEP("slice.Tensor"),
    KEEP("select.int"),
    KEEP("dropout"),
};

static bool is_true(const taper_node *node, size_t index)
{
    double number;
    return index >= node->input_count || !taper_node_constant_is_number(node, index, &number) || number != 0;
}

static bool is_zero_list(const taper_node *node, size_t index)
{
    const taper_val *value = index < node->input_count ? taper_node_constant_in(node, index) : NULL;
    if (value == NULL || value->tag != TAPER_LIST) {
        return false;
    }
    for (size_t i = 0; i < value->as.list->count; i++) {
        if (value->as.list->items[i].tag != TAPER_INT || value->as.list->items[i].as.i != 0) {
            return false;
        }
    }
    return true;
}

// avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override): QNNPACK divides by
// the kernel's size, whatever is asked for.
static bool divides_by_kernel(const taper_node *node)
{
    const taper_val *divisor = node->input_count == 7 ? taper_node_constant_in(node, 6) : NULL;
    return divisor != NULL && divisor->tag == TAPER_NONE && !is_true(node, 4) &&
           (is_zero_list(node, 3) || (taper_node_constant_in(node, 5) != NULL && is_true(node, 5)));
}

static bool is_supported(const taper_node *node)
{
    float low, high;
    double alpha;
    if (taper_node_is(node, "aten::add.Tensor")) {
        return taper_node_constant_is_number(node, 2, &alpha) && alpha == 1;
    }
    if (taper_node_is(node, "aten::clamp") || taper_node_is(node, "aten::hardtanh")) {
        return taper_activation_bounds(node, &low, &high) && isfinite(low) && isfinite(high);
    }
    if (taper_node_is(node, "aten::max_pool2d")) {
        return !is_true(node, 5); // ceil_mode
    }
    if (taper_node_is(node, "aten::avg_pool2d")) {
        return divides_by_kernel(node);
    }
    if (taper_node_is(node, "aten::mean.dim")) {
        const taper_val *dtype = taper_node_constant_in(node, 3);
        return dtype != NULL && dtype->tag == TAPER_NONE;
    }
    if (taper_node_is(node, "aten::dropout")) {
        return !is_true(node, 2);
    }
    if (taper_node_is(node, "aten::cat")) {
        const taper_node *list = taper_node_in(node, 0)->node;
        return list != NULL && list->kind == TAPER_NODE_LIST && list->input_count != 0 &&
               taper_value_used_once(&list->outputs[0]);
    }
    return true;
}

const taper_step_rule *taper_step_rule_of(const taper_node *node)
{
    for (size_t i = 0; node->kind == TAPER_NODE_OP && i < sizeof rules / sizeof rules[0]; i++) {
        if (taper_node_is(node, rules[i].name)) {
            const bool plain = node->schema->out_count == 0 && node->output_count == 1 && node->input_count != 0 &&
                               node->input_count == node->schema->arg_count && !taper_node_writes(node, 0);
            return plain && is_supported(node) ? &rules[i] : NULL;
        }
    }
    return NULL;
}

bool taper_activation_bounds(const taper_node *node, float *low, float *high)
{
    double numbers[2] = {0, (double)INFINITY};
    if (node->kind != TAPER_NODE_OP || node->schema->out_count != 0 || node->input_count == 0 ||
        taper_node_writes(node, 0)) {
        return false;
    }
    if (taper_node_is(node, "aten::relu6")) {
        numbers[1] = 6;
    } else if (taper_node_is(node, "aten::hardtanh") || taper_node_is(node, "aten::clamp")) {
        for (size_t i = 0; i < 2; i++) {
            const taper_val *value = node->input_count == 3 ? taper_node_constant_in(node, 1 + i) : NULL;
            if (value != NULL && value->tag == TAPER_NONE) {
                numbers[i] = i == 0 ? -(double)INFINITY : (double)INFINITY;
            } else if (value == NULL || !taper_node_constant_is_number(node, 1 + i, &numbers[i])) {
                return false;
            }
        }
    } else if (!taper_node_is(node, "aten::relu")) {
        return false;
    }
    *low = (float)numbers[0];
    *high = (float)numbers[1];
    return *low <= 0 && *high >= 0 && *low < *high;
}

bool taper_layer_is_quantizable(const taper_layer *layer, bool dynamic)
{
    for (unsigned d = 0; d < layer->weight->rank; d++) {
        if (layer->weight->sizes[d] == 0) {
            return false;
        }
    }
    return !layer->convolution || (!dynamic && layer->dims == 2);
}

taper_node *taper_only_user(const taper_node *node)
{
    const taper_ir_value *value = &node->outputs[0];
    taper_node *user = taper_value_used_once(value) ? value->uses->user : NULL;
    return user != NULL && user->block == node->block && user->kind == TAPER_NODE_OP && value->uses->index == 0 ? user
                                                                                                                : NULL;
}
