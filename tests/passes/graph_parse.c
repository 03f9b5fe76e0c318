// SPDX-License-Identifier: BSD-2-Clause
// Parses graphs. Line ends are treated like blanks, because names of nodes and brackets mark where each part ends.
#include "tests/passes/graph_parse.h"

#include <stdlib.h>

#include "compiler/pass.h"

enum { MOST_INPUTS = 64, MOST_OUTPUTS = 64, DEEPEST_BLOCK = 20 };

typedef struct value_name {
    const char *text; // points into the parsed text
    size_t length;
    taper_ir_value *value;
} value_name;

// A name and its type before "=", for which the node has not been read yet.
typedef struct declaration {
    const char *name;
    size_t length;
    const taper_type *type;
} declaration;

static taper_status name_value(graph_reader *r, const declaration *d, taper_ir_value *value)
{
    TAPER_TRY(TAPER_GROW(r->allocator, r->names, r->name_capacity, r->name_count + 1, r->error));
    r->names[r->name_count++] = (value_name){d->name, d->length, value};
    value->type = d->type;
    return TAPER_OK;
}

static taper_status read_declaration(graph_reader *r, declaration *d)
{
    d->type = NULL;
    d->length = read_token(r, "%") ? read_name(r, &d->name) : 0;
    if (d->length == 0) {
        return read_failed(r, "%name");
    }
    return read_token(r, ":") ? read_type(r, &d->type) : TAPER_OK;
}

static taper_status read_declarations(graph_reader *r, const char *close, declaration *d, size_t *count)
{
    for (*count = 0; !read_token(r, close);) {
        if (*count == MOST_OUTPUTS || (*count != 0 && !read_token(r, ","))) {
            return read_failed(r, "\",\" between at most 64 names");
        }
        TAPER_TRY(read_declaration(r, &d[(*count)++]));
    }
    return TAPER_OK;
}

static taper_status add_constant(graph_reader *r, taper_block *block, taper_ir_value **made)
{
    taper_val value;
    bool frozen;
    taper_node *node;
    TAPER_TRY(read_value(r, &value, &frozen));
    TAPER_TRY(taper_node_constant(block->graph, value, &node, r->error));
    node->own.constant.frozen = frozen;
    taper_node_append(block, node);
    *made = &node->outputs[0];
    return TAPER_OK;
}

static taper_status read_input(graph_reader *r, taper_block *block, taper_ir_value **value)
{
    if (!read_token(r, "%")) {
        return add_constant(r, block, value);
    }
    const char *name;
    const size_t length = read_name(r, &name);
    for (size_t i = r->name_count; i-- != 0;) {
        if (r->names[i].length == length && memcmp(r->names[i].text, name, length) == 0) {
            *value = r->names[i].value;
            return TAPER_OK;
        }
    }
    r->text = name;
    return read_failed(r, "the name of a value that is defined");
}

static taper_status read_inputs(graph_reader *r, taper_block *block, taper_ir_value **values, size_t *count)
{
    *count = 0;
    if (!read_token(r, "(")) {
        return read_failed(r, "\"(\"");
    }
    while (!read_token(r, ")")) {
        if (*count == MOST_INPUTS || (*count != 0 && !read_token(r, ","))) {
            return read_failed(r, "\",\" between at most 64 inputs");
        }
        TAPER_TRY(read_input(r, block, &values[(*count)++]));
    }
    return TAPER_OK;
}

// ---- heads of nodes

typedef struct node_head {
    taper_node_kind kind;
    const taper_op *op;
    const taper_schema *schema;
    const taper_type *types[MOST_INPUTS];
    uint32_t type_count;
    taper_node_own own;
    const char *name;
    size_t name_length;
} node_head;

static taper_status find_operator(graph_reader *r, const char *name, size_t length, node_head *head)
{
    char plain[128], *overload;
    if (length >= sizeof plain) {
        return read_failed(r, "a shorter name");
    }
    memcpy(plain, name, length);
    plain[length] = '\0';
    overload = strchr(plain, '.');
    if (overload != NULL) {
        *overload++ = '\0';
    }
    head->kind = TAPER_NODE_OP;
    head->op = taper_row_find(plain, overload != NULL ? overload : "");
    if (head->op == NULL) {
        TAPER_FAIL(r->error, TAPER_ERROR_ARGUMENT, "line %d: no operator %.*s", r->line, (int)length, name);
    }
    return taper_registry_schema(r->registry, head->op, &head->schema, r->error);
}

static taper_status read_detail(graph_reader *r, node_head *head)
{
    if (!read_token(r, "[")) {
        return TAPER_OK;
    }
    char *end;
    switch (head->kind) {
    case TAPER_NODE_GET_ATTR:
    case TAPER_NODE_SET_ATTR:
        head->own.slot = strtoll(r->text, &end, 10);
        r->text = end;
        break;
    case TAPER_NODE_TUPLE_SLICE:
        head->own.slice.begin = strtoll(r->text, &end, 10);
        r->text = end;
        if (read_token(r, ":")) {
            head->own.slice.end = strtoll(r->text, &end, 10);
            r->text = end;
        }
        break;
    case TAPER_NODE_CALL:
        head->name_length = read_name(r, &head->name);
        break;
    default:
        while (head->type_count < MOST_INPUTS && (head->type_count == 0 || read_token(r, ","))) {
            TAPER_TRY(read_type(r, &head->types[head->type_count++]));
        }
    }
    return read_token(r, "]") ? TAPER_OK : read_failed(r, "\"]\"");
}

static taper_status read_head(graph_reader *r, node_head *head)
{
    const char *name;
    const size_t length = read_name(r, &name);
    *head = (node_head){.kind = TAPER_NODE_KIND_COUNT};
    for (int kind = 0; kind < TAPER_NODE_KIND_COUNT; kind++) {
        const char *text = taper_node_kind_name((taper_node_kind)kind);
        if (kind != TAPER_NODE_OP && strlen(text) == length && memcmp(text, name, length) == 0) {
            head->kind = (taper_node_kind)kind;
        }
    }
    if (head->kind == TAPER_NODE_KIND_COUNT) {
        TAPER_TRY(find_operator(r, name, length, head));
    }
    return read_detail(r, head);
}

// ---- nodes

static taper_status fill_defaults(graph_reader *r, taper_block *block, const node_head *head, taper_ir_value **inputs,
                                  size_t *count)
{
    const taper_schema *schema = head->schema;
    if (head->kind != TAPER_NODE_OP || schema->vararg) {
        return TAPER_OK;
    }
    for (; *count < schema->arg_count && schema->args[*count].has_default; (*count)++) {
        taper_node *node;
        TAPER_TRY(
            taper_node_constant(block->graph, taper_val_retain(schema->args[*count].default_value), &node, r->error));
        taper_node_append(block, node);
        inputs[*count] = &node->outputs[0];
    }
    if (*count != schema->arg_count) {
        TAPER_FAIL(r->error, TAPER_ERROR_ARGUMENT, "line %d: %s takes %u inputs, not %zu", r->line, schema->name,
                   schema->arg_count, *count);
    }
    return TAPER_OK;
}

static taper_status read_nodes(graph_reader *r, taper_block *block, int depth);

static taper_status read_blocks(graph_reader *r, taper_node *node, int depth)
{
    static const char *const heads[] = {"block0(", "block1("};
    const uint32_t count = node->kind == TAPER_NODE_IF ? 2 : node->kind == TAPER_NODE_LOOP ? 1 : 0;
    for (uint32_t b = 0; b < count; b++) {
        declaration params[MOST_OUTPUTS];
        size_t param_count;
        if (!read_token(r, heads[b])) {
            return read_failed(r, heads[b]);
        }
        TAPER_TRY(read_declarations(r, ")", params, &param_count));
        TAPER_TRY(taper_block_create(node->block->graph, node, param_count, &node->blocks[b], r->error));
        node->block_count = b + 1;
        for (size_t i = 0; i < param_count; i++) {
            TAPER_TRY(name_value(r, &params[i], &node->blocks[b]->params[i]));
        }
        if (!read_token(r, ":")) {
            return read_failed(r, "\":\"");
        }
        TAPER_TRY(read_nodes(r, node->blocks[b], depth + 1));
    }
    return TAPER_OK;
}

static taper_status describe_node(graph_reader *r, const node_head *head, taper_node *node)
{
    node->op = head->op;
    node->op_name = head->op != NULL ? head->schema->text : NULL;
    node->schema = head->schema;
    if (node->kind != TAPER_NODE_CONSTANT) {
        node->own = head->own;
    }
    if (node->kind == TAPER_NODE_ISINSTANCE) {
        const taper_type **types = taper_arena_array(&node->block->graph->arena, head->type_count, sizeof *types);
        if (types == NULL) {
            return taper_fail_memory(r->error);
        }
        memcpy(types, head->types, head->type_count * sizeof *types);
        node->types = types;
        node->type_count = head->type_count;
    } else {
        node->type = head->type_count != 0 ? head->types[0] : NULL;
    }
    if (head->name != NULL) {
        node->name = taper_arena_string(&node->block->graph->arena, head->name, head->name_length);
        return node->name == NULL ? taper_fail_memory(r->error) : TAPER_OK;
    }
    return TAPER_OK;
}

static taper_status read_node(graph_reader *r, taper_block *block, int depth)
{
    declaration outputs[MOST_OUTPUTS];
    size_t output_count = 0, input_count;
    taper_ir_value *inputs[MOST_INPUTS + 16];
    node_head head;
    if (*r->text == '%') {
        TAPER_TRY(read_declarations(r, "=", outputs, &output_count));
    }
    TAPER_TRY(read_head(r, &head));
    if (head.kind == TAPER_NODE_SEGMENT) {
        return read_failed(r, "a node that is no segment");
    }
    if (head.kind == TAPER_NODE_CONSTANT && output_count == 1) {
        taper_ir_value *value;
        if (!read_token(r, "(")) {
            return read_failed(r, "\"(\"");
        }
        TAPER_TRY(add_constant(r, block, &value));
        TAPER_TRY(name_value(r, &outputs[0], value));
        return read_token(r, ")") ? TAPER_OK : read_failed(r, "\")\"");
    }
    TAPER_TRY(read_inputs(r, block, inputs, &input_count));
    TAPER_TRY(fill_defaults(r, block, &head, inputs, &input_count));
    if (head.kind == TAPER_NODE_OP && !head.schema->varret && head.schema->ret_count != output_count) {
        return read_failed(r, "as many outputs as the operator has");
    }
    taper_node *node;
    TAPER_TRY(taper_node_create(block->graph, head.kind, input_count, output_count, &node, r->error));
    taper_node_append(block, node);
    for (size_t i = 0; i < input_count; i++) {
        taper_node_set_input(node, i, inputs[i]);
    }
    TAPER_TRY(describe_node(r, &head, node));
    TAPER_TRY(read_blocks(r, node, depth));
    for (size_t i = 0; i < output_count; i++) {
        TAPER_TRY(name_value(r, &outputs[i], &node->outputs[i]));
    }
    return TAPER_OK;
}

// Reads nodes up to "->" or "return", and then the results of the block.
static taper_status read_nodes(graph_reader *r, taper_block *block, int depth)
{
    const size_t names = r->name_count;
    if (depth > DEEPEST_BLOCK) {
        return read_failed(r, "less nesting");
    }
    while (!read_token(r, depth == 0 ? "return" : "->")) {
        if (*r->text == '\0') {
            return read_failed(r, depth == 0 ? "\"return\"" : "\"->\"");
        }
        TAPER_TRY(read_node(r, block, depth));
    }
    taper_ir_value *results[MOST_INPUTS + 16];
    size_t count;
    TAPER_TRY(read_inputs(r, block, results, &count));
    r->name_count = names;
    return taper_block_set_results(block, results, count, r->error);
}

static taper_status read_whole(graph_reader *r, taper_graph **graph)
{
    char name[128];
    const char *start;
    if (!read_token(r, "graph")) {
        return read_failed(r, "\"graph\"");
    }
    const size_t length = read_name(r, &start);
    declaration params[MOST_OUTPUTS];
    size_t count;
    if (length == 0 || length >= sizeof name || !read_token(r, "(")) {
        return read_failed(r, "the graph's name and \"(\"");
    }
    memcpy(name, start, length);
    name[length] = '\0';
    TAPER_TRY(read_declarations(r, ")", params, &count));
    TAPER_TRY(taper_graph_create(r->allocator, name, count, graph, r->error));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(name_value(r, &params[i], &(*graph)->body->params[i]));
    }
    if (!read_token(r, ":")) {
        return read_failed(r, "\":\"");
    }
    TAPER_TRY(read_nodes(r, (*graph)->body, 0));
    return taper_graph_verify(*graph, r->error);
}

taper_status read_graph(graph_reader *r, taper_graph **graph)
{
    *graph = NULL;
    r->name_count = 0;
    const taper_status status = read_whole(r, graph);
    taper_free(r->allocator, r->names, r->name_capacity * sizeof *r->names);
    r->names = NULL;
    r->name_capacity = r->name_count = 0;
    if (status != TAPER_OK) {
        taper_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}
