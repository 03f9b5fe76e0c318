// SPDX-License-Identifier: BSD-2-Clause
// The table of operators, and the loop over the nodes.
#include "backends/nnapi/translate.h"

#include <string.h>

#include "backends/nnapi/translating.h"
#include "ops/list/op_rows.h"

typedef struct rule_row {
    taper_translate_rule *rule;
    uint16_t work; // TAPER_WORK_ number of the operator
    int8_t code;   // argument that the rule gets
    int8_t since;  // first API level that supports the operator
    bool fuses;    // true if the rule can include a following activation
} rule_row;

static const rule_row rows[] = {
#define RULE(id, name, code, since, fuses) {taper_translate_##name, TAPER_WORK_##id, code, since, fuses},
#include "backends/nnapi/translate_list.inc"
#undef RULE
};

static const rule_row *find_row(const taper_node *node)
{
    const unsigned work = taper_node_work(node);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].work == work) {
            return &rows[i];
        }
    }
    return NULL;
}

// ---- channel shuffles: view as [N, groups, C / groups, H, W], transpose(1, 2), contiguous, view as [N, C, H, W]

static const taper_node *only_user(const taper_node *node)
{
    const taper_value_use *use = node->output_count == 1 ? node->outputs[0].uses : NULL;
    return use != NULL && use->next == NULL && use->index == 0 && use->user != NULL && use->user->kind == TAPER_NODE_OP
               ? use->user
               : NULL;
}

static bool is_view(const taper_node *node)
{
    const uint64_t shape = TAPER_FIELD(taper_node_facts(node), SHAPE);
    return (shape == TAPER_SHAPE_GIVEN || shape == TAPER_SHAPE_FLATTEN) && find_row(node) != NULL;
}

// Returns true if the node is the first view of a channel shuffle. Finds the other nodes (*contiguous may be NULL).
static bool is_shuffle(const taper_translator *t, const taper_node *node, const taper_node **transposed,
                       const taper_node **contiguous, const taper_node **end)
{
    int64_t dims[2];
    if (node->kind != TAPER_NODE_OP || !is_view(node)) {
        return false;
    }
    taper_translator asking = {.reader = t->reader, .options = t->options, .asking = true};
    *transposed = only_user(node);
    if (*transposed == NULL || !taper_node_calls(*transposed, TAPER_OP(aten_transpose_int)) ||
        taper_read_int(&asking.reader, *transposed, "dim0", 0, &dims[0]) != TAPER_OK ||
        taper_read_int(&asking.reader, *transposed, "dim1", 0, &dims[1]) != TAPER_OK ||
        !((dims[0] == 1 && dims[1] == 2) || (dims[0] == 2 && dims[1] == 1))) {
        return false;
    }
    *end = only_user(*transposed);
    *contiguous = NULL;
    if (*end != NULL && taper_node_calls(*end, TAPER_OP(aten_contiguous))) {
        *contiguous = *end;
        *end = only_user(*contiguous);
    }
    if (*end == NULL || !is_view(*end)) {
        return false;
    }
    const taper_shape x = taper_translate_shape(t, taper_node_in(node, 0)),
                      five = taper_translate_shape(t, &node->outputs[0]),
                      y = taper_translate_shape(t, &(*end)->outputs[0]);
    if (x.rank != 4 || five.rank != 5 || y.rank != 4) {
        return t->asking && x.rank < 0; // while nodes are only checked for support, unknown shapes are assumed to fit
    }
    bool same = true;
    size_t open = 0; // number of unknown sizes; one is allowed, because it follows from the known sizes
    for (int d = 0; d < 4; d++) {
        same = same && x.sizes[d] == y.sizes[d];
        open += x.sizes[d] == TAPER_UNKNOWN;
    }
    same = same && (!t->options->open || open <= 1);
    return same && five.sizes[0] == x.sizes[0] && five.sizes[3] == x.sizes[2] && five.sizes[4] == x.sizes[3] &&
           (five.sizes[1] != TAPER_UNKNOWN || t->asking);
}

// Returns true if the node is a node of a channel shuffle, but not its first node.
static bool is_inside_shuffle(const taper_translator *t, const taper_node *node)
{
    const taper_node *first = node, *shuffle[3];
    for (int i = 0; i < 3 && first->input_count != 0; i++) {
        first = taper_node_in(first, 0)->node;
        if (first == NULL || first->kind != TAPER_NODE_OP) {
            return false;
        }
        if (is_shuffle(t, first, &shuffle[0], &shuffle[1], &shuffle[2]) &&
            (shuffle[0] == node || shuffle[1] == node || shuffle[2] == node)) {
            return true;
        }
    }
    return false;
}

// ---- translating the nodes

static taper_status translate_node(taper_translator *t, const taper_node *node)
{
    if (node->kind == TAPER_NODE_LIST) {
        return taper_translate_list(t, node);
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        return taper_translate_unpack(t, node);
    }
    if (node->kind != TAPER_NODE_OP) {
        return taper_read_refuse(&t->reader, "it is no operator");
    }
    const taper_node *shuffle[3];
    if (is_shuffle(t, node, &shuffle[0], &shuffle[1], &shuffle[2])) {
        return taper_translate_channel_shuffle(t, node);
    }
    const rule_row *row = find_row(node);
    TAPER_REFUSE(t, row == NULL, "NNAPI has no such operation");
    if (t->asking && is_inside_shuffle(t, node)) {
        return TAPER_OK;
    }
    TAPER_REFUSE(t, row->since > t->options->level, "an operation that the device's level lacks");
    TAPER_REFUSE(t, t->options->pytorch && node->output_count != 1, "PyTorch's converter has no such operation");
    if (t->fuse != ANEURALNETWORKS_FUSED_NONE && !row->fuses) {
        return TAPER_DECLINED;
    }
    t->code = row->code;
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

// Marks of a node or value, by the number of the value.
enum {
    LISTED = 1, // the node of this value is to be translated
    DONE = 2,   // the node of this value was translated together with another node
    RESULT = 4  // the value is a result of the network
};

// Returns the activation that follows: the only user of the node's result, if it is to be translated too. Otherwise
// returns NULL.
static const taper_node *activation_behind(const taper_translator *t, const taper_node *node, const uint8_t *marks)
{
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
    return user->output_count != 0 && (marks[user->outputs[0].id] & LISTED) != 0 ? user : NULL;
}

// Makes the table of values, which is indexed by their numbers in the graph.
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

// Includes the following activation, or the other nodes of a channel shuffle, in the translation of the node. The
// result of the last included node becomes the result of the node.
static void take_in(taper_translator *t, const taper_node *node, uint8_t *marks)
{
    const taper_node *with[3] = {activation_behind(t, node, marks), NULL, NULL};
    t->fuse = ANEURALNETWORKS_FUSED_NONE;
    t->result = &node->outputs[0];
    if (with[0] != NULL) {
        if ((marks[t->result->id] & RESULT) != 0) {
            return;
        }
        t->fuse = fuse_code(with[0]);
        t->result = &with[0]->outputs[0];
    } else if (is_shuffle(t, node, &with[0], &with[1], &with[2])) {
        t->result = &with[2]->outputs[0];
    } else {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        if (with[i] != NULL) {
            marks[with[i]->outputs[0].id] |= DONE;
        }
    }
}

static taper_status translate_nodes(taper_translator *t, taper_node *const *nodes, size_t count,
                                    const taper_ir_value *const *results, size_t result_count,
                                    taper_translated *translated)
{
    uint8_t *marks = taper_arena_array(&t->network->arena, t->value_count, sizeof *marks);
    if (marks == NULL && count != 0) {
        return taper_fail_memory(t->error);
    }
    for (size_t i = 0; i < t->value_count; i++) {
        marks[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->output_count != 0) { // nodes without outputs are refused later
            marks[nodes[i]->outputs[0].id] |= LISTED;
        }
    }
    for (size_t i = 0; count != 0 && i < result_count; i++) {
        marks[results[i]->id] |= RESULT;
    }
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->output_count != 0) {
            if ((marks[nodes[i]->outputs[0].id] & DONE) != 0) {
                continue;
            }
            take_in(t, nodes[i], marks);
        }
        const taper_status status = translate_node(t, nodes[i]);
        if (status != TAPER_OK) {
            translated->refused = nodes[i];
            translated->why = t->reader.why;
            return status;
        }
    }
    return TAPER_OK;
}

static taper_status set_faces(taper_translator *t, const taper_ir_value *const *results, size_t result_count,
                              double **scales)
{
    taper_network *network = t->network;
    TAPER_REFUSE(t, t->input_count == 0, "it is the same in every run, and NNAPI wants an input");
    network->inputs = t->input_operands;
    network->input_count = (uint32_t)t->input_count;
    network->outputs = taper_arena_array(&network->arena, result_count, sizeof *network->outputs);
    network->output_images = taper_arena_array(&network->arena, result_count, sizeof *network->output_images);
    *scales = taper_arena_array(&network->arena, result_count, sizeof **scales);
    // A result that is an input or a constant, or appears twice, needs an operation that writes it.
    bool *computed = taper_arena_array(&network->arena, network->operand_count, sizeof *computed);
    if ((network->outputs == NULL || *scales == NULL || network->output_images == NULL || computed == NULL) &&
        result_count != 0) {
        return taper_fail_memory(t->error);
    }
    for (size_t i = 0; computed != NULL && i < network->operand_count; i++) {
        computed[i] = false;
    }
    for (size_t i = 0; computed != NULL && i < network->operation_count; i++) {
        for (uint32_t out = 0; out < network->operations[i].out_count; out++) {
            computed[network->operations[i].out[out]] = true;
        }
    }
    for (size_t i = 0; i < result_count; i++) {
        const taper_translated_value *state = &t->values[results[i]->id];
        const uint32_t operand = state->image != TAPER_NO_OPERAND ? state->image : state->plain;
        TAPER_REFUSE(t, operand == TAPER_NO_OPERAND || !computed[operand], "a result that nothing is computed for");
        computed[operand] = false;
        network->outputs[i] = operand;
        network->output_images[i] = state->image != TAPER_NO_OPERAND;
        (*scales)[i] = state->quantized ? state->scale : 0;
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
    taper_translator t = {.reader = {.know = options->know, .user = options->user},
                          .options = options,
                          .network = &translated->network,
                          .error = error};
    uint32_t flag;
    TAPER_TRY(make_values(&t, nodes, count));
    for (int i = 0; options->pytorch && i < 2; i++) { // PyTorch's converter makes operands for true and false
        TAPER_TRY(taper_translate_bool(&t, i != 0, &flag));
    }
    for (size_t i = 0; i < options->input_count; i++) {
        bool image;
        const taper_status status = taper_translate_either(&t, options->inputs[i], &flag, &image);
        if (status != TAPER_OK) {
            translated->why = t.reader.why;
            return status;
        }
    }
    taper_status status = translate_nodes(&t, nodes, count, results, result_count, translated);
    if (status == TAPER_OK) {
        double *scales;
        status = set_faces(&t, results, result_count, &scales);
        translated->why = t.reader.why;
        translated->scales = scales;
    }
    translated->inputs = t.inputs;
    return status;
}

const char *taper_translate_refuses(const taper_translate_options *options, taper_node *node)
{
    taper_translator t = {.reader = {.know = options->know, .user = options->user},
                          .options = options,
                          .asking = true,
                          .result = node->output_count != 0 ? &node->outputs[0] : NULL};
    return translate_node(&t, node) == TAPER_OK ? NULL
           : t.reader.why != NULL               ? t.reader.why
                                                : "NNAPI has no such operation";
}

const char *taper_nnapi_refuses(const taper_claimer *claimer, taper_region *region, taper_node *node)
{
    taper_translate_options options = *(const taper_translate_options *)claimer->user;
    options.know = taper_region_know;
    options.user = region;
    return taper_translate_refuses(&options, node);
}

bool taper_translate_is_layer(const taper_node *node)
{
    static taper_translate_rule *const layers[] = {taper_translate_conv,
                                                   taper_translate_linear,
                                                   taper_translate_addmm,
                                                   taper_translate_quantized_conv,
                                                   taper_translate_quantized_linear,
                                                   taper_translate_prepacked_conv,
                                                   taper_translate_prepacked_linear};
    const rule_row *row = node->kind == TAPER_NODE_OP ? find_row(node) : NULL;
    for (size_t i = 0; row != NULL && i < sizeof layers / sizeof *layers; i++) {
        if (row->rule == layers[i]) {
            return true;
        }
    }
    return false;
}

double taper_translate_work(const taper_translate_options *options, const taper_node *node)
{
    const taper_translator t = {
        .reader = {.know = options->know, .user = options->user}, .options = options, .asking = true};
    const unsigned layer = TAPER_FIELD(taper_node_facts(node), LAYER);
    if (TAPER_FIELD(taper_node_facts(node), SHAPE) == TAPER_SHAPE_PACKED) {
        return taper_translate_packed_work(&t, node);
    }
    if (layer == TAPER_LAYER_NONE || layer > TAPER_LAYER_LINEAR || node->input_count < 2) {
        return 0;
    }
    const taper_shape out = taper_translate_shape(&t, &node->outputs[0]),
                      weight = taper_translate_shape(&t, taper_node_in(node, 1));
    double work = 1;
    const bool transposed = layer >= TAPER_LAYER_CONV_TRANSPOSED1 && layer <= TAPER_LAYER_CONV_TRANSPOSED3;
    const taper_shape space = transposed ? taper_translate_shape(&t, taper_node_in(node, 0)) : out;
    if (!taper_translate_is_known(&weight) || space.rank < 0) {
        return 1;
    }
    for (int d = 0; d < space.rank; d++) {
        work *= space.sizes[d] == TAPER_UNKNOWN ? 1 : (double)space.sizes[d];
    }
    for (int d = 1; d < weight.rank; d++) {
        work *= (double)weight.sizes[d];
    }
    return work;
}
