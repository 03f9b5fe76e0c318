// SPDX-License-Identifier: BSD-2-Clause
// Reads graphs in a .pt2 file: their nodes, and the table of facts about their values.
#include "format/pt2_parts.h"

_Static_assert(sizeof(taper_pt2_node) <= TAPER_PT2_ITEM, "a node is an item");

// ---- nodes

static taper_status argument_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_named *named = to;
    if (taper_json_is(name, "name")) {
        return taper_pt2_text(r, &named->name, NULL);
    }
    if (taper_json_is(name, "arg")) {
        return taper_pt2_argument_read(r, &named->argument);
    }
    if (taper_json_is(name, "kind")) {
        taper_json_kind kind;
        taper_json_text text;
        int64_t number = 0;
        TAPER_TRY(taper_json_peek(&r->json, &kind));
        if (kind == TAPER_JSON_TEXT) {
            TAPER_TRY(taper_json_take_text(&r->json, &text));
            named->keyword = taper_json_is(&text, "KEYWORD");
            return TAPER_OK;
        }
        TAPER_TRY(taper_pt2_int(r, &number));
        named->keyword = number == 2;
        return TAPER_OK;
    }
    return taper_json_skip(&r->json);
}

static taper_status input_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    (void)how;
    taper_pt2_named *named = item;
    named->name = "";
    return taper_pt2_members(r, argument_member, named);
}

// Returns the last lines of a text, beginning at the start of a line.
static const char *last_lines(const char *text)
{
    enum { KEPT = 2000 };
    const size_t length = strlen(text);
    if (length <= KEPT) {
        return text;
    }
    const char *line = strchr(text + length - KEPT, '\n');
    return line != NULL ? line + 1 : text + length - KEPT;
}

// Reads "KEY,PATH,CLASS;…", where the innermost module is last. Before PyTorch 2.3 the text is "KEY:(PATH,CLASS);…".
static taper_status module_path(taper_pt2 *r, const char *stack, const char **path)
{
    const char *last = strrchr(stack, ';');
    last = last != NULL ? last + 1 : stack;
    const char *from = strstr(last, ":("), *comma = strchr(last, ',');
    from = from != NULL && (comma == NULL || from < comma) ? from + 2 : comma != NULL ? comma + 1 : last;
    const char *end = strchr(from, ',');
    *path = taper_arena_string(&r->module->arena, from, end != NULL ? (size_t)(end - from) : strlen(from));
    return *path != NULL ? TAPER_OK : taper_fail_memory(r->error);
}

static taper_status metadata_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_node *node = to;
    const bool trace = taper_json_is(name, "stack_trace");
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    if (kind != TAPER_JSON_TEXT || (!trace && !taper_json_is(name, "nn_module_stack"))) {
        return taper_json_skip(&r->json);
    }
    size_t length; // the text ends at a NUL, so its length is not needed
    const char *text = NULL;
    TAPER_TRY(taper_pt2_text(r, &text, &length));
    if (!trace) {
        return module_path(r, text, &node->module);
    }
    node->stack_trace = last_lines(text);
    return TAPER_OK;
}

static taper_status node_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_node *node = to;
    taper_pt2_array array;
    if (taper_json_is(name, "target")) {
        return taper_pt2_text(r, &node->target, NULL);
    }
    if (taper_json_is(name, "name")) {
        return taper_pt2_text(r, &node->name, NULL);
    }
    if (taper_json_is(name, "inputs")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, input_item, NULL, sizeof *node->inputs, &array));
        node->inputs = array.items;
        node->input_count = array.count;
        return TAPER_OK;
    }
    if (taper_json_is(name, "outputs")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, taper_pt2_argument_item, NULL, sizeof *node->outputs, &array));
        node->outputs = array.items;
        node->output_count = array.count;
        return TAPER_OK;
    }
    if (taper_json_is(name, "metadata")) {
        return taper_pt2_members(r, metadata_member, node);
    }
    if (taper_json_is(name, "is_hop_single_tensor_return")) {
        return taper_json_take_bool(&r->json, &node->single);
    }
    return taper_json_skip(&r->json);
}

static taper_status node_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    (void)how;
    taper_pt2_node *node = item;
    TAPER_TRY(taper_pt2_members(r, node_member, node));
    return node->target != NULL ? TAPER_OK : taper_pt2_fail(r, TAPER_ERROR_FILE, "a node without a target");
}

// ---- the table of values

static taper_status class_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_value *value = to;
    return taper_json_is(name, "class_fqn") ? taper_pt2_text(r, &value->class_name, NULL) : taper_json_skip(&r->json);
}

static taper_status value_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    const taper_pt2_type *type = how;
    taper_pt2_value value = {.name = name, .type = (uint8_t)*type};
    if (*type == TAPER_PT2_TYPE_TENSOR) {
        taper_pt2_meta *meta = taper_arena_alloc(&r->module->arena, sizeof *meta);
        if (meta == NULL) {
            return taper_fail_memory(r->error);
        }
        TAPER_TRY(taper_pt2_meta_read(r, meta));
        value.meta = meta;
    } else if (*type == TAPER_PT2_TYPE_OBJECT) {
        TAPER_TRY(taper_pt2_members(r, class_member, &value));
    } else {
        TAPER_TRY(taper_pt2_number_read(r, &value.number));
    }
    return taper_pt2_mention_add(r, &value, true, item);
}

static taper_status blob_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)how;
    taper_pt2_blob *blob = item;
    blob->name = name;
    return taper_pt2_text(r, &blob->text, &blob->length);
}

// ---- graphs

static const struct {
    char name[18];
    uint8_t type;
} tables[] = {
    {"tensor_values", TAPER_PT2_TYPE_TENSOR},     {"sym_int_values", TAPER_PT2_TYPE_INT},
    {"sym_float_values", TAPER_PT2_TYPE_FLOAT},   {"sym_bool_values", TAPER_PT2_TYPE_BOOL},
    {"custom_obj_values", TAPER_PT2_TYPE_OBJECT},
};

static taper_status graph_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_graph *graph = to;
    taper_pt2_array array;
    const bool inputs = taper_json_is(name, "inputs");
    if (inputs || taper_json_is(name, "outputs")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, taper_pt2_argument_item, NULL, sizeof *graph->inputs, &array));
        *(inputs ? &graph->inputs : &graph->outputs) = array.items;
        *(inputs ? &graph->input_count : &graph->output_count) = array.count;
        return TAPER_OK;
    }
    if (taper_json_is(name, "nodes")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, node_item, NULL, sizeof *graph->nodes, &array));
        graph->nodes = array.items;
        graph->node_count = array.count;
        return TAPER_OK;
    }
    if (taper_json_is(name, "is_single_tensor_return")) {
        return taper_json_take_bool(&r->json, &graph->single);
    }
    if (taper_json_is(name, "constants")) {
        return taper_pt2_items(r, TAPER_JSON_OBJECT, blob_item, NULL, sizeof(taper_pt2_blob), &r->blobs);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (taper_json_is(name, tables[i].name)) {
            const taper_pt2_type type = (taper_pt2_type)tables[i].type;
            return taper_pt2_items(r, TAPER_JSON_OBJECT, value_item, &type, sizeof(taper_pt2_argument), &array);
        }
    }
    return taper_json_skip(&r->json);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const taper_pt2_mention *)a)->value.name, ((const taper_pt2_mention *)b)->value.name);
}

// Replaces mentions by values: mention first + i becomes value numbers[i].
static void renumber(taper_pt2_argument *argument, const size_t *numbers, size_t first)
{
    if (argument->kind == TAPER_PT2_VALUE) {
        argument->as.value = numbers[argument->as.value - first];
    }
    for (size_t i = 0; argument->kind == TAPER_PT2_LIST && i < argument->count; i++) {
        renumber(&argument->as.items[i], numbers, first);
    }
    for (size_t i = 0; argument->kind == TAPER_PT2_DICT && i < argument->count; i++) {
        // The recursion is at most as deep as the file's JSON.
        renumber(&argument->as.entries[i].argument, numbers, first);
    }
}

static void renumber_all(taper_pt2_graph *graph, const size_t *numbers, size_t first)
{
    for (size_t i = 0; i < graph->input_count; i++) {
        renumber(&graph->inputs[i], numbers, first);
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        renumber(&graph->outputs[i], numbers, first);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const taper_pt2_node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->input_count; k++) {
            renumber(&node->inputs[k].argument, numbers, first);
        }
        for (size_t k = 0; k < node->output_count; k++) {
            renumber(&node->outputs[k], numbers, first);
        }
    }
}

// Makes one value of all mentions of the same name, beginning with mention `first`. The value gets its facts from the
// table of values, or from its first mention if it is not in the table.
static taper_status settle(taper_pt2 *r, taper_pt2_graph *graph, size_t first)
{
    const taper_allocator *allocator = r->module->allocator;
    taper_pt2_mention *mentions = first < r->mention_count ? r->mentions + first : NULL;
    const size_t count = r->mention_count - first;
    size_t *numbers = taper_alloc(allocator, count * sizeof *numbers);
    if (numbers == NULL && count != 0) {
        return taper_fail_memory(r->error);
    }
    for (size_t i = 0; i < count; i++) {
        mentions[i].number = i;
    }
    taper_status status = taper_sort(allocator, mentions, count, sizeof *mentions, by_name, r->error);
    if (status == TAPER_OK) {
        size_t names = 0;
        for (size_t i = 0; i < count; i++) {
            names += i == 0 || by_name(&mentions[i - 1], &mentions[i]) != 0;
        }
        graph->values = taper_arena_array(&r->module->arena, names, sizeof *graph->values);
        status = graph->values != NULL ? TAPER_OK : taper_fail_memory(r->error);
    }
    for (size_t i = 0; status == TAPER_OK && i < count; i++) {
        if (i == 0 || by_name(&mentions[i - 1], &mentions[i]) != 0) {
            graph->values[graph->value_count++] = mentions[i].value;
        } else if (mentions[i].declared) {
            graph->values[graph->value_count - 1] = mentions[i].value;
        }
        numbers[mentions[i].number] = graph->value_count - 1;
    }
    if (status == TAPER_OK) {
        renumber_all(graph, numbers, first);
    }
    taper_free(allocator, numbers, count * sizeof *numbers);
    return status;
}

taper_status taper_pt2_graph_read(taper_pt2 *r, taper_pt2_graph *graph)
{
    const size_t first = r->mention_count;
    *graph = (taper_pt2_graph){.name = graph->name};
    TAPER_TRY(taper_pt2_members(r, graph_member, graph));
    TAPER_TRY(settle(r, graph, first));
    r->mention_count = first;
    return TAPER_OK;
}
