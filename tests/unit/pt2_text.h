// SPDX-License-Identifier: BSD-2-Clause
// Prints the contents of a .pt2 file in the same form as scripts/oracle/make_pt2.py, which prints what PyTorch reads.
#ifndef TAPER_TESTS_PT2_TEXT_H
#define TAPER_TESTS_PT2_TEXT_H

#include <stdlib.h>

#include "base/text.h"
#include "format/pt2_program.h"

static inline void pt2_text_graph(taper_text *out, const taper_pt2_graph *graph);

static inline void pt2_text_argument(taper_text *out, const taper_pt2_graph *graph, const taper_pt2_argument *argument)
{
    static const char *const kinds[] = {"None",    "value",    "int",   "float",         "bool",
                                        "complex", "string",   "dtype", "memory_format", "layout",
                                        "device",  "operator", "graph", "list",          "dict"};
    switch ((taper_pt2_kind)argument->kind) {
    case TAPER_PT2_NONE:
        taper_text_string(out, "None");
        break;
    case TAPER_PT2_VALUE:
        if (argument->as.value >= graph->value_count) {
            abort();
        }
        taper_text_string(out, "%");
        taper_text_string(out, graph->values[argument->as.value].name);
        break;
    case TAPER_PT2_INT:
        taper_text_format(out, "%lld", (long long)argument->as.i);
        break;
    case TAPER_PT2_FLOAT:
        taper_text_double(out, argument->as.f);
        break;
    case TAPER_PT2_BOOL:
        taper_text_string(out, argument->as.i != 0 ? "True" : "False");
        break;
    case TAPER_PT2_COMPLEX:
        taper_text_string(out, "complex(");
        taper_text_double(out, argument->as.complex[0]);
        taper_text_string(out, ", ");
        taper_text_double(out, argument->as.complex[1]);
        taper_text_string(out, ")");
        break;
    case TAPER_PT2_STRING:
        taper_text_string(out, "\"");
        taper_text_append(out, argument->as.text, argument->count);
        taper_text_string(out, "\"");
        break;
    case TAPER_PT2_DTYPE:
        taper_text_format(out, "dtype %s", taper_pt2_dtype_name((int)argument->as.i));
        break;
    case TAPER_PT2_MEMORY_FORMAT:
    case TAPER_PT2_LAYOUT:
        taper_text_format(out, "%s %lld", kinds[argument->kind], (long long)argument->as.i);
        break;
    case TAPER_PT2_DEVICE:
    case TAPER_PT2_OPERATOR:
        taper_text_format(out, "%s %s", kinds[argument->kind], argument->as.text);
        break;
    case TAPER_PT2_GRAPH:
        taper_text_format(out, "graph %s {\n", argument->as.graph->name != NULL ? argument->as.graph->name : "");
        pt2_text_graph(out, argument->as.graph);
        taper_text_string(out, "}");
        break;
    case TAPER_PT2_LIST:
        taper_text_format(out, "%s[", kinds[argument->of]);
        for (size_t i = 0; i < argument->count; i++) {
            taper_text_string(out, i != 0 ? ", " : "");
            pt2_text_argument(out, graph, &argument->as.items[i]);
        }
        taper_text_string(out, "]");
        break;
    case TAPER_PT2_DICT:
        taper_text_string(out, "{");
        for (size_t i = 0; i < argument->count; i++) {
            taper_text_format(out, "%s%s: ", i != 0 ? ", " : "", argument->as.entries[i].name);
            pt2_text_argument(out, graph, &argument->as.entries[i].argument);
        }
        taper_text_string(out, "}");
        break;
    default:
        abort();
    }
}

static inline void pt2_text_number(taper_text *out, const taper_pt2_number *number, bool is_float)
{
    if (number->expression != NULL) {
        taper_text_string(out, number->expression);
    } else if (is_float) {
        taper_text_double(out, number->as.f);
    } else {
        taper_text_format(out, "%lld", (long long)number->as.i);
    }
}

static inline void pt2_text_numbers(taper_text *out, const taper_pt2_number *numbers, size_t count)
{
    taper_text_string(out, "[");
    for (size_t i = 0; i < count && numbers != NULL; i++) {
        taper_text_string(out, i != 0 ? ", " : "");
        pt2_text_number(out, &numbers[i], false);
    }
    taper_text_string(out, "]");
}

static inline void pt2_text_value(taper_text *out, const taper_pt2_value *value)
{
    static const char *const types[] = {"tensor", "int", "float", "bool", "object", "token"};
    const taper_pt2_meta *meta = value->meta;
    taper_text_format(out, "value %s ", value->name);
    if (value->type == TAPER_PT2_TYPE_TENSOR && meta != NULL) {
        taper_text_format(out, "tensor %s ", taper_pt2_dtype_name(meta->dtype));
        pt2_text_numbers(out, meta->sizes, meta->rank);
        taper_text_string(out, " ");
        pt2_text_numbers(out, meta->strides, meta->rank);
        taper_text_string(out, " ");
        pt2_text_number(out, &meta->offset, false);
        taper_text_format(out, " %s %d %s\n", meta->device, meta->layout, meta->requires_grad ? "True" : "False");
    } else if (value->type == TAPER_PT2_TYPE_TENSOR) {
        taper_text_string(out, "unknown\n");
    } else {
        taper_text_format(out, "%s ", types[value->type]);
        pt2_text_number(out, &value->number, value->type == TAPER_PT2_TYPE_FLOAT);
        taper_text_string(out, "\n");
    }
}

static inline void pt2_text_arguments(taper_text *out, const char *what, const taper_pt2_graph *graph,
                                      const taper_pt2_argument *arguments, size_t count)
{
    taper_text_format(out, "%s ", what);
    for (size_t i = 0; i < count; i++) {
        taper_text_string(out, i != 0 ? ", " : "");
        pt2_text_argument(out, graph, &arguments[i]);
    }
    taper_text_string(out, "\n");
}

static inline void pt2_text_node(taper_text *out, const taper_pt2_graph *graph, const taper_pt2_node *node)
{
    const char *trace = node->stack_trace != NULL ? node->stack_trace : "unknown", *line = strrchr(trace, '\n');
    taper_text_format(out, "node %s name %s module %s single %s trace ", node->target,
                      node->name != NULL ? node->name : "unknown", node->module != NULL ? node->module : "unknown",
                      node->single ? "True" : "False");
    taper_text_string(out, line != NULL ? line + 1 : trace);
    taper_text_string(out, "\n");
    for (size_t i = 0; i < node->input_count; i++) {
        taper_text_format(out, "  %s %s ", node->inputs[i].keyword ? "keyword" : "in", node->inputs[i].name);
        pt2_text_argument(out, graph, &node->inputs[i].argument);
        taper_text_string(out, "\n");
    }
    for (size_t i = 0; i < node->output_count; i++) {
        taper_text_string(out, "  out ");
        pt2_text_argument(out, graph, &node->outputs[i]);
        taper_text_string(out, "\n");
    }
}

static inline void pt2_text_graph(taper_text *out, const taper_pt2_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        pt2_text_value(out, &graph->values[i]);
    }
    pt2_text_arguments(out, "inputs", graph, graph->inputs, graph->input_count);
    pt2_text_arguments(out, "outputs", graph, graph->outputs, graph->output_count);
    for (size_t i = 0; i < graph->node_count; i++) {
        pt2_text_node(out, graph, &graph->nodes[i]);
    }
    taper_text_format(out, "single %s\n", graph->single ? "True" : "False");
}

static inline void pt2_text_tree(taper_text *out, const taper_pt2_tree *tree)
{
    static const char *const around[][2] = {{"*", ""}, {"(", ")"}, {"[", "]"}, {"{", "}"}, {"(", ")"}, {"(", ")"}};
    if (tree->kind >= TAPER_PT2_NAMED_TUPLE) {
        taper_text_string(out, tree->context);
    }
    taper_text_string(out, around[tree->kind][0]);
    for (size_t i = 0; i < tree->count; i++) {
        taper_text_string(out, i != 0 ? ", " : "");
        if (tree->keys != NULL && tree->kind == TAPER_PT2_NAMED_TUPLE) {
            taper_text_format(out, "%s=", tree->keys[i].as.text);
        } else if (tree->keys != NULL) {
            pt2_text_argument(out, NULL, &tree->keys[i]);
            taper_text_string(out, ": ");
        }
        pt2_text_tree(out, &tree->children[i]);
    }
    taper_text_string(out, around[tree->kind][1]);
}

static inline void pt2_text_dims(taper_text *out, const int64_t *dims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_text_format(out, "%s%lld", i != 0 ? ", " : "[", (long long)dims[i]);
    }
    taper_text_string(out, count != 0 ? "]" : "[]");
}

// Prints the elements in order, in hexadecimal.
static inline void pt2_text_elements(taper_text *out, const taper_tensor *tensor)
{
    const size_t item = taper_dtype_size((taper_dtype)tensor->dtype);
    int64_t at[TAPER_MAX_RANK] = {0}, count = 1;
    for (size_t d = 0; d < tensor->rank; d++) {
        count *= tensor->sizes[d];
    }
    for (int64_t i = 0; i < count && i < 10000; i++) {
        int64_t offset = tensor->offset;
        for (size_t d = 0; d < tensor->rank; d++) {
            offset += at[d] * tensor->strides[d];
        }
        const uint8_t *element = (const uint8_t *)tensor->storage->data + (size_t)offset * item;
        for (size_t b = 0; b < item; b++) {
            taper_text_format(out, "%02x", element[b]);
        }
        for (size_t d = tensor->rank; d > 0 && ++at[d - 1] == tensor->sizes[d - 1]; d--) {
            at[d - 1] = 0;
        }
    }
}

static inline void pt2_text_weight(taper_text *out, const taper_pt2_program *program, size_t index)
{
    const taper_pt2_weight *weight = &program->weights[index];
    const taper_tensor *tensor = weight->tensor;
    if (tensor == NULL) {
        taper_text_format(out, "weight %s refused\n", weight->name);
        return;
    }
    const char *shared = weight->name;
    for (size_t i = 0; i < index && tensor->storage->bytes != 0; i++) {
        if (program->weights[i].tensor != NULL && program->weights[i].tensor->storage == tensor->storage) {
            shared = program->weights[i].name;
            break;
        }
    }
    taper_text_format(out, "weight %s %s ", weight->name, taper_dtype_name((taper_dtype)tensor->dtype));
    pt2_text_dims(out, tensor->sizes, tensor->rank);
    taper_text_string(out, " ");
    pt2_text_dims(out, tensor->strides, tensor->rank);
    taper_text_format(out, " of %s: ", shared);
    pt2_text_elements(out, tensor);
    taper_text_string(out, "\n");
}

static inline void pt2_text_signature(taper_text *out, const taper_pt2_program *program)
{
    static const char *const inputs[] = {"user", "constant", "parameter", "buffer", "tensor", "custom_obj", "token"},
                             *const outputs[] = {"user",
                                                 "loss_output",
                                                 "buffer",
                                                 "parameter_mutation",
                                                 "input",
                                                 "gradient_to_parameter",
                                                 "gradient_to_user_input",
                                                 "token"};
    for (size_t i = 0; i < program->input_count; i++) {
        const taper_pt2_input *input = &program->inputs[i];
        taper_text_format(out, "input %s %s%s", inputs[input->kind], input->target != NULL ? input->target : "",
                          input->target != NULL ? " " : "");
        pt2_text_argument(out, program->graph, &input->argument);
        taper_text_string(out, input->persistent ? " True\n" : " False\n");
    }
    for (size_t i = 0; i < program->output_count; i++) {
        const taper_pt2_output *output = &program->outputs[i];
        taper_text_format(out, "output %s %s%s", outputs[output->kind], output->target != NULL ? output->target : "",
                          output->target != NULL ? " " : "");
        pt2_text_argument(out, program->graph, &output->argument);
        taper_text_string(out, "\n");
    }
}

static inline void pt2_text_bound(taper_text *out, int64_t bound, int64_t none)
{
    if (bound == none) {
        taper_text_string(out, " none");
    } else {
        taper_text_format(out, " %lld", (long long)bound);
    }
}

static inline void pt2_text_program(taper_text *out, const taper_pt2_program *program)
{
    taper_text_format(out, "schema %lld %lld\ntorch %s\n", (long long)program->major, (long long)program->minor,
                      program->torch_version != NULL ? program->torch_version : "unknown");
    for (size_t i = 0; i < program->opset_count; i++) {
        taper_text_format(out, "opset %s %lld\n", program->opsets[i].name, (long long)program->opsets[i].version);
    }
    for (size_t i = 0; i < program->range_count; i++) {
        taper_text_format(out, "range %s", program->ranges[i].name);
        pt2_text_bound(out, program->ranges[i].least, INT64_MIN);
        pt2_text_bound(out, program->ranges[i].most, INT64_MAX);
        taper_text_string(out, "\n");
    }
    for (size_t i = 0; i < program->guard_count; i++) {
        taper_text_format(out, "guard %s\n", program->guards[i]);
    }
    pt2_text_signature(out, program);
    taper_text_string(out, "in ");
    pt2_text_tree(out, &program->in_tree);
    taper_text_string(out, "\nout ");
    pt2_text_tree(out, &program->out_tree);
    taper_text_string(out, "\nnames ");
    for (size_t i = 0; i < program->argument_name_count; i++) {
        taper_text_format(out, "%s%s", i != 0 ? " " : "", program->argument_names[i]);
    }
    taper_text_string(out, "\n");
    pt2_text_graph(out, program->graph);
    for (size_t i = 0; i < program->weight_count; i++) {
        pt2_text_weight(out, program, i);
    }
}

#endif
