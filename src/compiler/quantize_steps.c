// SPDX-License-Identifier: BSD-2-Clause
// Lists the operators that QNNPACK's engine supports for quint8, and the calls for which its result corresponds to the
// float operator's result.
#include <math.h>

#include "compiler/quantization.h"

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

// Returns true if PyTorch also divides by the size of the kernel, as QNNPACK always does. The arguments are
// avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override).
static bool divides_by_kernel(const taper_node *node)
{
    const taper_val *divisor = node->input_count == 7 ? taper_node_constant_in(node, 6) : NULL;
    return divisor != NULL && divisor->tag == TAPER_NONE && !is_true(node, 4) &&
           (is_zero_list(node, 3) || (taper_node_constant_in(node, 5) != NULL && is_true(node, 5)));
}

// Returns true if QNNPACK supports this call. It does not support every call of some operators, for example pools and
// means.
static bool is_supported(const taper_node *node, uint64_t facts)
{
    float low, high;
    double alpha;
    switch (TAPER_FIELD(facts, FUNCTION)) {
    case TAPER_FUNCTION_ADD:
        return taper_node_constant_is_number(node, 2, &alpha) && alpha == 1;
    case TAPER_FUNCTION_CLAMP:
        return taper_activation_bounds(node, &low, &high) && isfinite(low) && isfinite(high);
    default:
        break;
    }
    if (TAPER_FIELD(facts, LAYER) == TAPER_LAYER_DROPOUT) {
        return !is_true(node, 2);
    }
    if (TAPER_FIELD(facts, QUANTIZED) == TAPER_QUANTIZED_JOIN) {
        const taper_node *list = taper_node_in(node, 0)->node;
        return list != NULL && list->kind == TAPER_NODE_LIST && list->input_count != 0 &&
               taper_value_used_once(&list->outputs[0]);
    }
    if (taper_node_calls(node, TAPER_OP(aten_max_pool2d))) {
        return !is_true(node, 5); // the argument ceil_mode
    }
    if (taper_node_calls(node, TAPER_OP(aten_avg_pool2d))) {
        return divides_by_kernel(node);
    }
    if (TAPER_FIELD(facts, SHAPE) == TAPER_SHAPE_REDUCE) {
        const taper_ir_value *argument = taper_node_argument(node, "dtype");
        const taper_node *dtype = argument != NULL ? taper_value_constant(argument) : NULL;
        return dtype != NULL && dtype->constant.tag == TAPER_NONE;
    }
    return true;
}

bool taper_step_kind_of(const taper_node *node, taper_step_kind *kind)
{
    static const uint8_t kinds[] = {[TAPER_QUANTIZED_KEEP] = TAPER_STEP_KEEP,
                                    [TAPER_QUANTIZED_FIXED] = TAPER_STEP_FIXED,
                                    [TAPER_QUANTIZED_CURVE] = TAPER_STEP_CURVE,
                                    [TAPER_QUANTIZED_PAIR] = TAPER_STEP_PAIR,
                                    [TAPER_QUANTIZED_JOIN] = TAPER_STEP_JOIN};
    const uint64_t facts = taper_node_facts(node);
    const unsigned quantized = TAPER_FIELD(facts, QUANTIZED);
    if (quantized == TAPER_QUANTIZED_NONE || quantized >= sizeof kinds / sizeof *kinds ||
        node->schema->out_count != 0 || node->output_count != 1 || node->input_count == 0 ||
        node->input_count != node->schema->arg_count || taper_node_writes(node, 0) || !is_supported(node, facts)) {
        return false;
    }
    *kind = (taper_step_kind)kinds[quantized];
    return true;
}

const taper_op *taper_quantized_row(const taper_node *node, bool relu)
{
    const uint64_t facts = taper_node_facts(node);
    const unsigned quantized = TAPER_FIELD(facts, QUANTIZED);
    if (quantized == TAPER_QUANTIZED_CURVE || quantized == TAPER_QUANTIZED_PAIR) {
        uint64_t function = facts & TAPER_FIELD_MASK(FUNCTION);
        if (relu) {
            function = TAPER_FIELD(facts, FUNCTION) == TAPER_FUNCTION_ADD ? TAPER_FACT(FUNCTION, ADD_RELU)
                                                                          : TAPER_FACT(FUNCTION, MUL_RELU);
        }
        return taper_row_where(TAPER_FIELD_MASK(FUNCTION) | TAPER_FIELD_MASK(QUANTIZED),
                               function | TAPER_FACT(QUANTIZED, ROW));
    }
    // Quantized layers return channels-last results. A `view` of such a result cannot have every shape, so `reshape`
    // replaces it.
    return TAPER_FIELD(facts, SHAPE) == TAPER_SHAPE_GIVEN ? TAPER_OP(aten_reshape) : node->op;
}

taper_qparams taper_fixed_qparams(const taper_node *node)
{
    return TAPER_FIELD(taper_node_facts(node), FUNCTION) == TAPER_FUNCTION_TANH ? (taper_qparams){2.0 / 256, 128}
                                                                                : (taper_qparams){1.0 / 256, 0};
}

bool taper_activation_bounds(const taper_node *node, float *low, float *high)
{
    double bounds[2];
    if (node->kind != TAPER_NODE_OP || node->input_count == 0 || taper_node_writes(node, 0) ||
        !taper_node_bounds(node, bounds)) {
        return false;
    }
    *low = (float)bounds[0];
    *high = (float)bounds[1];
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
