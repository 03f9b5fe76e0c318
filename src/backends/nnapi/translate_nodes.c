// SPDX-License-Identifier: BSD-2-Clause
// The table of operators, and the walk over nodes.
#include "backends/nnapi/translate.h"

#include <stdlib.h>
#include <string.h>

#include "backends/nnapi/translating.h"

// By name, whatever the overload: rules ask for arguments by their names. An underscore at the end is nothing here, as
// nodes are shown only where nobody can tell a new tensor from one that was written to.
typedef struct rule_row {
    const char *name;
    taper_translate_rule *rule;
    int16_t since; // level
    bool fuses;    // can do the activation behind it
} rule_row;

// Sorted.
static const rule_row rows[] = {
    {"aten::_convolution", taper_translate_conv, 27, true},
    {"aten::abs", taper_translate_unary, 29, false},
    {"aten::adaptive_avg_pool2d", taper_translate_adaptive_pool, 27, false},
    {"aten::add", taper_translate_binary, 27, true},
    {"aten::addmm", taper_translate_addmm, 27, true},
    {"aten::alias", taper_translate_identity, 27, false},
    {"aten::avg_pool2d", taper_translate_avg_pool, 27, true},
    {"aten::batch_norm", taper_translate_batch_norm, 27, true},
    {"aten::cat", taper_translate_cat, 27, false},
    {"aten::chunk", taper_translate_pieces, 28, false},
    {"aten::clamp", taper_translate_clamp, 27, false},
    {"aten::clamp_min", taper_translate_clamp, 27, false},
    {"aten::clone", taper_translate_identity, 27, false},
    {"aten::constant_pad_nd", taper_translate_pad, 28, false},
    {"aten::contiguous", taper_translate_identity, 27, false},
    {"aten::conv2d", taper_translate_conv, 27, true},
    {"aten::conv_transpose2d", taper_translate_conv, 29, true},
    {"aten::convolution", taper_translate_conv, 27, true},
    {"aten::dequantize", taper_translate_dequantize, 27, false},
    {"aten::detach", taper_translate_identity, 27, false},
    {"aten::div", taper_translate_binary, 28, true},
    {"aten::dropout", taper_translate_identity, 27, false},
    {"aten::exp", taper_translate_unary, 29, false},
    {"aten::flatten", taper_translate_flatten, 27, false},
    {"aten::floor", taper_translate_unary, 27, false},
    {"aten::hardsigmoid", taper_translate_hardsigmoid, 27, false},
    {"aten::hardswish", taper_translate_hardswish, 27, false},
    {"aten::hardtanh", taper_translate_clamp, 27, false},
    {"aten::leaky_relu", taper_translate_leaky_relu, 29, false},
    {"aten::linear", taper_translate_linear, 27, true},
    {"aten::log", taper_translate_unary, 29, false},
    {"aten::log_softmax", taper_translate_softmax, 29, false},
    {"aten::max_pool2d", taper_translate_max_pool, 27, true},
    {"aten::maximum", taper_translate_binary, 29, false},
    {"aten::mean", taper_translate_mean, 28, false},
    {"aten::minimum", taper_translate_binary, 29, false},
    {"aten::mul", taper_translate_binary, 27, true},
    {"aten::neg", taper_translate_unary, 29, false},
    {"aten::permute", taper_translate_permute, 28, false},
    {"aten::prelu", taper_translate_prelu, 29, false},
    {"aten::quantize_per_tensor", taper_translate_quantize, 29, false},
    {"aten::relu", taper_translate_clamp, 27, false},
    {"aten::relu6", taper_translate_clamp, 27, false},
    {"aten::reshape", taper_translate_reshape, 27, false},
    {"aten::rsqrt", taper_translate_unary, 29, false},
    {"aten::sigmoid", taper_translate_sigmoid, 27, false},
    {"aten::silu", taper_translate_silu, 27, false},
    {"aten::slice", taper_translate_slice, 28, false},
    {"aten::softmax", taper_translate_softmax, 27, false},
    {"aten::split", taper_translate_pieces, 28, false},
    {"aten::split_with_sizes", taper_translate_pieces, 28, false},
    {"aten::sqrt", taper_translate_unary, 29, false},
    {"aten::squeeze", taper_translate_squeeze, 27, false},
    {"aten::sub", taper_translate_binary, 28, true},
    {"aten::t", taper_translate_transpose, 28, false},
    {"aten::tanh", taper_translate_unary, 27, false},
    {"aten::to", taper_translate_identity, 27, false},
    {"aten::transpose", taper_translate_transpose, 28, false},
    {"aten::unsqueeze", taper_translate_unsqueeze, 27, false},
    {"aten::upsample_bilinear2d", taper_translate_bilinear, 27, false},
    {"aten::upsample_nearest2d", taper_translate_nearest, 29, false},
    {"aten::view", taper_translate_reshape, 27, false},
    {"quantized::add", taper_translate_quantized_binary, 27, false},
    {"quantized::add_relu", taper_translate_quantized_binary, 27, false},
    {"quantized::cat", taper_translate_cat, 27, false},
    {"quantized::conv2d", taper_translate_quantized_conv, 27, false},
    {"quantized::conv2d_relu", taper_translate_quantized_conv, 27, false},
    {"quantized::conv_transpose2d", taper_translate_quantized_conv, 29, false},
    {"quantized::hardswish", taper_translate_hardswish, 29, false},
    {"quantized::leaky_relu", taper_translate_leaky_relu, 29, false},
    {"quantized::linear", taper_translate_quantized_linear, 27, false},
    {"quantized::linear_relu", taper_translate_quantized_linear, 27, false},
    {"quantized::mul", taper_translate_quantized_binary, 27, false},
    {"quantized::mul_relu", taper_translate_quantized_binary, 27, false},
};

typedef struct row_name {
    const char *text;
    size_t length;
} row_name;

static int compare(const void *key, const void *element)
{
    const row_name *name = key;
    const char *row = ((const rule_row *)element)->name;
    const int order = strncmp(name->text, row, name->length);
    return order != 0 ? order : row[name->length] == '\0' ? 0 : -1;
}

static const rule_row *find_row(const taper_node *node)
{
    row_name name = {node->op_name, strcspn(node->op_name, ".(")};
    name.length -= name.length > 0 && node->op_name[name.length - 1] == '_';
    return bsearch(&name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare);
}

// Of the nodes behind the first of a shuffle.
static bool is_inside_shuffle(const taper_translator *t, const taper_node *node)
{
    const taper_node *first = node, *shuffle[3];
    for (int i = 0; i < 3 && first->input_count != 0; i++) {
        first = taper_node_in(first, 0)->node;
        if (first == NULL || first->kind != TAPER_NODE_OP) {
            return false;
        }
        if (taper_translate_shuffle(t, first, &shuffle[0], &shuffle[1], &shuffle[2]) &&
            (shuffle[0] == node || shuffle[1] == node || shuffle[2] == node)) {
            return true;
        }
    }
    return false;
}

static taper_status translate_node(taper_translator *t, const taper_node *node)
{
    if (node->kind == TAPER_NODE_LIST) {
        return taper_translate_list(t, node);
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        return taper_translate_unpack(t, node);
    }
    if (node->kind != TAPER_NODE_OP) {
        return taper_translate_refuse(t, "it is no operator");
    }
    const taper_node *shuffle[3];
    if (taper_translate_shuffle(t, node, &shuffle[0], &shuffle[1], &shuffle[2])) {
        return taper_translate_channel_shuffle(t, node);
    }
    const rule_row *row = find_row(node);
    TAPER_REFUSE(t, row == NULL, "NNAPI has no such operation");
    if (t->asking && is_inside_shuffle(t, node)) {
        return TAPER_OK;
    }
    TAPER_REFUSE(t, row->since > t->options->level, "an operation of a level above that of the device");
    TAPER_REFUSE(t, t->options->pytorch && node->output_count != 1, "PyTorch's converter has no such operation");
    if (t->fuse != ANEURALNETWORKS_FUSED_NONE && !row->fuses) {
        return TAPER_DECLINED;
    }
    return row->rule(t, node);
}

static int32_t fuse_code(const taper_node *node)
{
    double bounds[2];
    if (TAPER_FIELD(taper_node_facts(node), FUNCTION) == TAPER_FUNCTION_RELU) {
        return ANEURALNETWORKS_FUSED_RELU;
    }
    if (!taper_node_bounds(node, bounds)) {
        return ANEURALNETWORKS_FUSED_NONE;
    }
    return bounds[0] == 0 && bounds[1] == 6    ? ANEURALNETWORKS_FUSED_RELU6
           : bounds[0] == -1 && bounds[1] == 1 ? ANEURALNETWORKS_FUSED_RELU1
                                               : ANEURALNETWORKS_FUSED_NONE;
}

// The activation that alone looks at what the node gives, and is among those that follow; NULL: there is none.
static const taper_node *activation_behind(const taper_translator *t, taper_node *const *nodes, size_t at, size_t count)
{
    const taper_node *node = nodes[at];
    if (t->options->pytorch || node->kind != TAPER_NODE_OP || node->output_count != 1 ||
        !taper_value_used_once(&node->outputs[0]) || node->outputs[0].uses->user == NULL) {
        return NULL;
    }
    const rule_row *row = find_row(node);
    const taper_node *user = node->outputs[0].uses->user;
    if (row == NULL || !row->fuses || user->kind != TAPER_NODE_OP || node->outputs[0].uses->index != 0 ||
        fuse_code(user) == ANEURALNETWORKS_FUSED_NONE) {
        return NULL;
    }
    for (size_t i = at + 1; i < count; i++) {
        if (nodes[i] == user) {
            return user;
        }
    }
    return NULL;
}

static bool is_result(const taper_ir_value *value, const taper_ir_value *const *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i] == value) {
            return true;
        }
    }
    return false;
}

// Values by number: those of the graph that the nodes stand in.
static taper_status make_values(taper_translator *t, taper_node *const *nodes, size_t count)
{
    t->value_count = count != 0 ? (size_t)nodes[0]->block->graph->value_count + 1 : 0;
    t->values = taper_arena_array(&t->network->arena, t->value_count, sizeof *t->values);
    if (t->values == NULL && t->value_count != 0) {
        return taper_fail_memory(t->error);
    }
    for (size_t i = 0; i < t->value_count; i++) {
        t->values[i] = (taper_translated_value){
            .plain = TAPER_NO_OPERAND, .image = TAPER_NO_OPERAND, .shape = taper_shape_unknown()};
    }
    return TAPER_OK;
}

// What a node does beside its own: the activation behind it, or the rest of a shuffle of channels. Those are done with
// it; its result is theirs.
static void take_in(taper_translator *t, taper_node *const *nodes, size_t at, size_t count,
                    const taper_ir_value *const *results, size_t result_count, bool *done)
{
    const taper_node *with[3] = {activation_behind(t, nodes, at, count), NULL, NULL};
    t->fuse = ANEURALNETWORKS_FUSED_NONE;
    t->result = &nodes[at]->outputs[0];
    if (with[0] != NULL) {
        if (is_result(t->result, results, result_count)) {
            return;
        }
        t->fuse = fuse_code(with[0]);
        t->result = &with[0]->outputs[0];
    } else if (taper_translate_shuffle(t, nodes[at], &with[0], &with[1], &with[2])) {
        t->result = &with[2]->outputs[0];
    }
    for (size_t i = at + 1; i < count; i++) {
        done[i] = done[i] || nodes[i] == with[0] || nodes[i] == with[1] || nodes[i] == with[2];
    }
}

static taper_status translate_nodes(taper_translator *t, taper_node *const *nodes, size_t count,
                                    const taper_ir_value *const *results, size_t result_count,
                                    taper_translated *translated)
{
    bool *done = taper_arena_array(&t->network->arena, count, sizeof *done);
    if (done == NULL) {
        return taper_fail_memory(t->error);
    }
    memset(done, 0, count * sizeof *done);
    for (size_t i = 0; i < count; i++) {
        if (done[i]) {
            continue;
        }
        take_in(t, nodes, i, count, results, result_count, done);
        const taper_status status = translate_node(t, nodes[i]);
        if (status != TAPER_OK) {
            translated->refused = nodes[i];
            translated->why = t->why;
            return status;
        }
    }
    return TAPER_OK;
}

static taper_status set_faces(taper_translator *t, const taper_ir_value *const *results, size_t result_count)
{
    taper_network *network = t->network;
    network->inputs = t->input_operands;
    network->input_count = (uint32_t)t->input_count;
    network->outputs = taper_arena_array(&network->arena, result_count, sizeof *network->outputs);
    if (network->outputs == NULL && result_count != 0) {
        return taper_fail_memory(t->error);
    }
    for (size_t i = 0; i < result_count; i++) {
        const taper_translated_value *state = &t->values[results[i]->id];
        const uint32_t operand = state->image != TAPER_NO_OPERAND ? state->image : state->plain;
        // What comes in, or is constant, or goes out twice, is nothing that an operation writes for this.
        bool computed = false;
        for (size_t o = 0; operand != TAPER_NO_OPERAND && o < network->operation_count; o++) {
            for (uint32_t out = 0; out < network->operations[o].out_count; out++) {
                computed = computed || network->operations[o].out[out] == operand;
            }
        }
        for (size_t before = 0; before < i; before++) {
            computed = computed && network->outputs[before] != operand;
        }
        TAPER_REFUSE(t, !computed, "a result that nothing is computed for");
        network->outputs[i] = operand;
    }
    network->output_count = (uint32_t)result_count;
    return TAPER_OK;
}

taper_status taper_translate(const taper_translate_options *options, taper_node *const *nodes, size_t count,
                             const taper_ir_value *const *results, size_t result_count, taper_translated *translated,
                             taper_error *error)
{
    *translated = (taper_translated){.why = NULL};
    taper_network_init(&translated->network, options->allocator);
    taper_translator t = {.options = options, .network = &translated->network, .error = error};
    uint32_t flag;
    TAPER_TRY(make_values(&t, nodes, count));
    for (int i = 0; options->pytorch && i < 2; i++) { // which its converter always makes
        TAPER_TRY(taper_translate_bool(&t, i != 0, &flag));
    }
    taper_status status = translate_nodes(&t, nodes, count, results, result_count, translated);
    if (status == TAPER_OK) {
        status = set_faces(&t, results, result_count);
        translated->why = t.why;
    }
    translated->inputs = t.inputs;
    return status;
}

const char *taper_translate_refuses(const taper_translate_options *options, taper_node *node)
{
    taper_translator t = {
        .options = options, .asking = true, .result = node->output_count != 0 ? &node->outputs[0] : NULL};
    return translate_node(&t, node) == TAPER_OK ? NULL : t.why != NULL ? t.why : "NNAPI has no such operation";
}

double taper_translate_work(const taper_translate_options *options, const taper_node *node)
{
    const taper_translator t = {.options = options, .asking = true};
    const unsigned layer = TAPER_FIELD(taper_node_facts(node), LAYER);
    if (layer == TAPER_LAYER_NONE || layer > TAPER_LAYER_LINEAR || node->input_count < 2) {
        return 0;
    }
    const taper_shape out = taper_translate_shape(&t, &node->outputs[0]),
                      weight = taper_translate_shape(&t, taper_node_in(node, 1));
    double work = 1;
    const bool transposed = layer >= TAPER_LAYER_CONV_TRANSPOSED1 && layer <= TAPER_LAYER_CONV_TRANSPOSED3;
    const taper_shape space = transposed ? taper_translate_shape(&t, taper_node_in(node, 0)) : out;
    if (!taper_translate_is_known(&space) || !taper_translate_is_known(&weight)) {
        return 1;
    }
    for (int d = 0; d < space.rank; d++) {
        work *= (double)space.sizes[d];
    }
    for (int d = 1; d < weight.rank; d++) {
        work *= (double)weight.sizes[d];
    }
    return work;
}
