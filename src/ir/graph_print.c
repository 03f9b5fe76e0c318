// SPDX-License-Identifier: BSD-2-Clause
// Printing and verifying graphs. The printed form follows PyTorch's: %3 = aten::add.Tensor(%1, %2, %c0).
#include "ir/graph.h"
#include "ir/tensor.h"

const char *taper_node_kind_name(taper_node_kind kind)
{
    static const char *const names[TAPER_NODE_KIND_COUNT] = {"prim::Constant",
                                                             "op",
                                                             "prim::If",
                                                             "prim::Loop",
                                                             "prim::GetAttr",
                                                             "prim::SetAttr",
                                                             "prim::ListConstruct",
                                                             "prim::TupleConstruct",
                                                             "prim::DictConstruct",
                                                             "prim::CreateObject",
                                                             "prim::ListUnpack",
                                                             "prim::TupleUnpack",
                                                             "prim::TupleSlice",
                                                             "prim::isinstance",
                                                             "prim::CallMethod",
                                                             "taper::fused"};
    return (unsigned)kind < TAPER_NODE_KIND_COUNT ? names[kind] : "?";
}

static void print_constant(taper_val value, taper_text *text)
{
    switch (value.tag) {
    case TAPER_BOOLEAN:
        taper_text_string(text, value.as.b ? "True" : "False");
        break;
    case TAPER_INT:
        taper_text_format(text, "%lld", (long long)value.as.i);
        break;
    case TAPER_DOUBLE:
        taper_text_double(text, value.as.f);
        break;
    case TAPER_STRING:
        taper_text_format(text, "\"%.60s\"", value.as.string->data);
        break;
    case TAPER_TENSOR:
        taper_text_format(text, "<%s", taper_dtype_name((taper_dtype)value.as.tensor->dtype));
        for (unsigned i = 0; i < value.as.tensor->rank; i++) {
            taper_text_format(text, "%s%lld", i == 0 ? " " : "x", (long long)value.as.tensor->sizes[i]);
        }
        taper_text_string(text, ">");
        break;
    case TAPER_LIST:
        taper_text_string(text, "[");
        for (size_t i = 0; i < value.as.list->count && i < 16; i++) {
            const taper_val item = value.as.list->items[i];
            taper_text_string(text, i != 0 ? ", " : "");
            if (item.tag == TAPER_LIST) {
                taper_text_string(text, "[...]");
            } else {
                print_constant(item, text);
            }
        }
        taper_text_string(text, value.as.list->count > 16 ? ", ...]" : "]");
        break;
    default:
        taper_text_string(text, taper_val_kind_name(value));
        break;
    }
}

static void print_inputs(const taper_ir_input *inputs, size_t count, taper_text *text)
{
    for (size_t i = 0; i < count; i++) {
        taper_text_string(text, i != 0 ? ", " : "");
        const taper_ir_value *value = inputs[i].value;
        const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
        if (constant != NULL) {
            print_constant(constant->constant, text);
        } else if (value != NULL) {
            taper_text_format(text, "%%%u", value->id);
        } else {
            taper_text_string(text, "-");
        }
    }
}

static void print_block(const taper_block *block, taper_text *text, int depth)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_CONSTANT) {
            continue; // shown where it is used
        }
        taper_text_format(text, "%*s", 2 * depth, "");
        for (size_t i = 0; i < node->output_count; i++) {
            taper_text_format(text, "%s%%%u", i != 0 ? ", " : "", node->outputs[i].id);
        }
        taper_text_string(text, node->output_count != 0 ? " = " : "");
        if (node->op_name != NULL) {
            const char *schema = node->op_name;
            taper_text_append(text, schema, strcspn(schema, "("));
        } else {
            taper_text_string(text, taper_node_kind_name((taper_node_kind)node->kind));
        }
        if (node->name != NULL) {
            taper_text_format(text, "[%s]", node->name);
        } else if (node->kind == TAPER_NODE_GET_ATTR || node->kind == TAPER_NODE_SET_ATTR) {
            taper_text_format(text, "[%lld]", (long long)node->number);
        }
        taper_text_string(text, "(");
        print_inputs(node->inputs, node->input_count, text);
        taper_text_string(text, ")\n");
        for (size_t b = 0; b < node->block_count; b++) {
            taper_text_format(text, "%*sblock%zu(", 2 * depth + 2, "", b);
            for (size_t i = 0; i < node->blocks[b]->param_count; i++) {
                taper_text_format(text, "%s%%%u", i != 0 ? ", " : "", node->blocks[b]->params[i].id);
            }
            taper_text_string(text, "):\n");
            print_block(node->blocks[b], text, depth + 2);
        }
    }
    taper_text_format(text, "%*s%s (", 2 * depth, "", block->parent == NULL ? "return" : "->");
    print_inputs(block->results, block->result_count, text);
    taper_text_string(text, ")\n");
}

void taper_graph_print(const taper_graph *graph, taper_text *text)
{
    taper_text_format(text, "graph %s(", graph->name);
    for (size_t i = 0; i < graph->body->param_count; i++) {
        taper_text_format(text, "%s%%%u", i != 0 ? ", " : "", graph->body->params[i].id);
    }
    taper_text_string(text, "):\n");
    print_block(graph->body, text, 1);
}

// ---- verifier

typedef struct verifier {
    const taper_graph *graph;
    uint8_t *defined; // by value id; 1 while the value is in scope
    taper_error *error;
} verifier;

static taper_status wrong(const verifier *v, const taper_node *node, const char *what)
{
    TAPER_FAIL(v->error, TAPER_ERROR_INTERNAL, "graph %s: %s (%s)", v->graph->name, what,
               node != NULL ? taper_node_kind_name((taper_node_kind)node->kind) : "block");
}

static taper_status check_inputs(const verifier *v, const taper_node *node, const taper_ir_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].value == NULL || inputs[i].value->id >= v->graph->value_count ||
            !v->defined[inputs[i].value->id]) {
            return wrong(v, node, "a value is used where it is not defined");
        }
    }
    return TAPER_OK;
}

static void scope(const verifier *v, const taper_block *block, uint8_t in)
{
    for (size_t i = 0; i < block->param_count; i++) {
        v->defined[block->params[i].id] = in;
    }
    if (in == 0) {
        for (const taper_node *node = block->first; node != NULL; node = node->next) {
            for (size_t i = 0; i < node->output_count; i++) {
                v->defined[node->outputs[i].id] = 0;
            }
        }
    }
}

static taper_status check_block(const verifier *v, const taper_block *block, int depth)
{
    if (depth > TAPER_LIMIT_BLOCK_DEPTH + 1) {
        return wrong(v, NULL, "blocks are nested too deep");
    }
    scope(v, block, 1);
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        TAPER_TRY(check_inputs(v, node, node->inputs, node->input_count));
        if (node->block != block) {
            return wrong(v, node, "a node stands in the wrong block");
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(check_block(v, node->blocks[b], depth + 1));
        }
        const bool counts = node->kind == TAPER_NODE_IF ? node->block_count == 2 && node->input_count == 1 &&
                                                              node->blocks[0]->result_count == node->output_count &&
                                                              node->blocks[1]->result_count == node->output_count
                            : node->kind == TAPER_NODE_FUSED ? node->block_count == 2 && node->op != NULL &&
                                                                   node->blocks[1]->result_count == node->output_count
                            : node->kind == TAPER_NODE_LOOP
                                ? node->block_count == 1 && node->input_count == node->output_count + 2 &&
                                      node->blocks[0]->param_count == node->output_count + 1 &&
                                      node->blocks[0]->result_count == node->output_count + 1
                                : node->block_count == 0 && (node->kind != TAPER_NODE_OP || node->op != NULL);
        if (!counts) {
            return wrong(v, node, "its counts do not fit");
        }
        for (size_t i = 0; i < node->output_count; i++) {
            v->defined[node->outputs[i].id] = 1;
        }
    }
    TAPER_TRY(check_inputs(v, NULL, block->results, block->result_count));
    if (block->parent != NULL) {
        scope(v, block, 0);
    }
    return TAPER_OK;
}

taper_status taper_graph_verify(const taper_graph *graph, taper_error *error)
{
    const taper_allocator *allocator = graph->arena.allocator;
    verifier v = {graph, taper_alloc_zeroed(allocator, (size_t)graph->value_count + 1), error};
    if (v.defined == NULL) {
        return taper_fail_memory(error);
    }
    const taper_status status = check_block(&v, graph->body, 0);
    taper_free(allocator, v.defined, (size_t)graph->value_count + 1);
    return status;
}
