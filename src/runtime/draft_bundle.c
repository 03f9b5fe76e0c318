// SPDX-License-Identifier: BSD-2-Clause
// Adds bundled inputs (samples) in the form of torch.utils.bundled_inputs: an attribute contains the samples in their
// stored form, and methods return them expanded.
#include "base/budget.h"
#include "ir/tensor.h"
#include "runtime/draft.h"

#include "base/arguments.h"
#include "ir/effects.h"
#include "ops/list/op_table.h"

// ---- sample inputs of methods

static taper_draft_bundle_entry *find_entry(const taper_draft *draft, const char *method)
{
    for (size_t i = 0; i < draft->bundle_count; i++) {
        if (strcmp(draft->bundles[i].method, method) == 0) {
            return &draft->bundles[i];
        }
    }
    return NULL;
}

static taper_status add_entry(taper_draft *draft, const char *method, taper_draft_bundle_entry **entry,
                              taper_error *error)
{
    taper_model *model = draft->model;
    TAPER_TRY(TAPER_GROW(model->allocator, draft->bundles, draft->bundle_capacity, draft->bundle_count + 1, error));
    const char *name = taper_arena_string(&model->module.arena, method, strlen(method));
    taper_list *samples = taper_list_new(model->module.heap, NULL, 1);
    if (name == NULL || samples == NULL) {
        if (samples != NULL) {
            taper_obj_release(&samples->head.head);
        }
        return taper_fail_memory(error);
    }
    *entry = &draft->bundles[draft->bundle_count++];
    **entry = (taper_draft_bundle_entry){name, samples};
    return TAPER_OK;
}

static bool has_graph(const taper_model *model, const char *method)
{
    const taper_function *function = taper_model_find(model, taper_model_name(model), method);
    return function != NULL && function->graph != NULL;
}

static taper_status check_method(const taper_draft *draft, const char *method, size_t count, taper_error *error)
{
    const taper_model *model = draft->model;
    const taper_function *function = taper_model_find(model, taper_model_name(model), method);
    if (function == NULL || function->graph == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model has no method %s to bundle inputs for", method);
    }
    if (has_graph(model, "get_bundled_inputs_functions_and_info") || has_graph(model, "get_all_bundled_inputs")) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model has bundled inputs already; bundle a model without");
    }
    if (draft->methods != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the draft was saved: samples come before");
    }
    const taper_module_function *source = function->source;
    const size_t params = function->graph->body->param_count, least = source->has_schema ? 0 : params;
    if (count + 1 > params || count + 1 < least) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s takes %zu inputs, %zu were given", method, params - (params != 0),
                   count);
    }
    for (size_t i = count + 1; source->has_schema && i < source->argument_count; i++) {
        if (!source->arguments[i].has_default) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s: input %s is missing from the sample", method,
                       source->arguments[i].name);
        }
    }
    return TAPER_OK;
}

static taper_status add_sample(taper_draft *draft, const char *method, taper_value *const *inputs, size_t count,
                               taper_error *error)
{
    TAPER_TRY(taper_check_items(inputs, "inputs", count, error));
    const char *name = method != NULL ? method : "forward";
    taper_draft_bundle_entry *entry = find_entry(draft, name);
    TAPER_TRY(check_method(draft, name, count, error));
    if (entry == NULL) {
        TAPER_TRY(add_entry(draft, name, &entry, error));
    }
    const taper_module_function *source = taper_model_find(draft->model, taper_model_name(draft->model), name)->source;
    const size_t all = source->has_schema ? source->argument_count - 1 : count;
    taper_heap *heap = draft->model->module.heap;
    // A sample is stored as one tuple: first the stored form of each value, then for each value how to expand it.
    taper_tuple *sample = taper_tuple_new(heap, NULL, 2 * all);
    if (sample == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < all; i++) {
        const taper_val given = i < count ? inputs[i]->val : source->arguments[i + 1].default_value;
        taper_status status = TAPER_OK;
        int64_t format = -1;
        if (given.tag == TAPER_TENSOR) {
            status = taper_tensor_settle(given.as.tensor, error);
            if (status == TAPER_OK) {
                status = taper_draft_deflate(heap, given.as.tensor, &sample->items[i], &format, error);
            }
        } else {
            sample->items[i] = taper_val_retain(given);
        }
        if (status != TAPER_OK) {
            taper_obj_release(&sample->head.head);
            return status;
        }
        sample->items[all + i] = taper_val_int(format);
    }
    return taper_list_append(entry->samples, TAPER_VAL(sample), error);
}

taper_status taper_draft_bundle(taper_draft *draft, const char *method, taper_value *const *inputs, size_t count,
                                taper_error *error)
{
    TAPER_NEED(draft, error);
    return taper_budget_explain(draft->model->budget, add_sample(draft, method, inputs, count, error), error);
}

// ---- sample inputs of methods that the file already has

static const char attribute_start[] = "_bundled_inputs_deflated_";

static bool has_names(taper_val root)
{
    return root.tag == TAPER_OBJECT && root.as.object->klass != NULL && root.as.object->klass->slots != NULL &&
           root.as.object->count == root.as.object->klass->count;
}

// The attributes are set to None and not removed, because later attributes are identified by their index.
static void clear_attributes(taper_object *root)
{
    for (size_t i = 0; i < root->count; i++) {
        if (strncmp(root->klass->slots[i], attribute_start, sizeof attribute_start - 1) == 0) {
            taper_val_replace(&root->slots[i], taper_val_none());
        }
    }
}

taper_status taper_draft_unbundle(taper_draft *draft, taper_error *error)
{
    TAPER_NEED(draft, error);
    if (draft->optimized || draft->broken || draft->bundle_count != 0 || draft->methods != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "bundled inputs are taken out before the draft is changed or saved");
    }
    taper_model *model = draft->model;
    bool found = false;
    for (size_t i = 0; i < model->function_count; i++) {
        taper_function *function = &model->functions[i];
        const bool goes = function->of_root && taper_module_is_bundling(function->method);
        function->of_root = function->of_root && !goes;
        found = found || goes;
    }
    if (!found) {
        return TAPER_OK;
    }
    draft->broken = true;
    taper_needs_free(&draft->operators);
    TAPER_TRY(taper_draft_drop_uncalled(draft, error));
    for (size_t i = 0; i < model->function_count; i++) {
        const taper_function *function = &model->functions[i];
        if (function->graph != NULL && taper_module_is_bundling(function->method)) {
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "%s is called by another method: the inputs cannot be taken out",
                       function->method);
        }
    }
    const taper_val root = taper_draft_root(draft);
    if (has_names(root)) {
        clear_attributes(root.as.object);
    }
    draft->broken = false;
    return TAPER_OK;
}

// ---- methods

typedef struct method_builder {
    taper_draft *draft;
    taper_error *error;
    taper_graph *graph;
    taper_block *body;
} method_builder;

static taper_status add_node(method_builder *b, taper_node_kind kind, size_t inputs, size_t outputs, taper_node **node)
{
    TAPER_TRY(taper_node_create(b->graph, kind, inputs, outputs, node, b->error));
    (*node)->debug = -1;
    taper_node_append(b->body, *node);
    return TAPER_OK;
}

static taper_status add_constant(method_builder *b, taper_val value, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_node_constant(b->graph, value, &node, b->error));
    node->debug = -1;
    taper_node_append(b->body, node);
    *made = &node->outputs[0];
    return TAPER_OK;
}

static taper_status add_string(method_builder *b, const char *text, taper_ir_value **made)
{
    taper_string *string = taper_string_new(b->draft->model->module.heap, text, strlen(text));
    if (string == NULL) {
        return taper_fail_memory(b->error);
    }
    return add_constant(b, TAPER_VAL(string), made);
}

static taper_status add_call(method_builder *b, const taper_op *op, taper_ir_value *first, int64_t second,
                             taper_ir_value **result)
{
    taper_registry *registry = b->draft->model->context->registry;
    taper_ir_value *number;
    taper_node *node;
    if (op == NULL) {
        TAPER_FAIL(b->error, TAPER_ERROR_UNSUPPORTED,
                   "this build lacks aten::__getitem__ or aten::contiguous, which bundled inputs need");
    }
    TAPER_TRY(add_constant(b, taper_val_int(second), &number));
    TAPER_TRY(add_node(b, TAPER_NODE_OP, 2, 1, &node));
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(registry, op, &schema, b->error));
    taper_node_set_op(node, op, schema);
    taper_node_set_input(node, 0, first);
    taper_node_set_input(node, 1, number);
    *result = &node->outputs[0];
    return TAPER_OK;
}

static taper_status make_type(method_builder *b, taper_type_kind kind, const taper_type *const *items, size_t count,
                              const taper_type **type)
{
    return taper_type_make(b->draft->model->module.types, kind, NULL, items, NULL, count, type, b->error);
}

// Returns List[Tuple[…]] of the types of the method's arguments. The types come from the method's schema, or from the
// first sample if the method has no schema.
static taper_status samples_type(method_builder *b, const taper_draft_bundle_entry *entry, const taper_type **type)
{
    const taper_model *model = b->draft->model;
    const taper_module_function *source = taper_model_find(model, taper_model_name(model), entry->method)->source;
    const taper_tuple *sample = entry->samples->items[0].as.tuple;
    const size_t count = sample->count / 2;
    const taper_type **items = taper_arena_array(&b->draft->model->module.arena, count + 1, sizeof *items);
    if (items == NULL) {
        return taper_fail_memory(b->error);
    }
    for (size_t i = 0; i < count; i++) {
        items[i] = source->has_schema                      ? source->arguments[i + 1].type
                   : sample->items[i].tag == TAPER_TENSOR  ? &taper_type_tensor
                   : sample->items[i].tag == TAPER_INT     ? &taper_type_int
                   : sample->items[i].tag == TAPER_DOUBLE  ? &taper_type_float
                   : sample->items[i].tag == TAPER_BOOLEAN ? &taper_type_bool
                                                           : &taper_type_any;
    }
    const taper_type *tuple;
    TAPER_TRY(make_type(b, TAPER_TYPE_TUPLE, items, count, &tuple));
    return make_type(b, TAPER_TYPE_LIST, &tuple, 1, type);
}

// Builds nodes that make the list of expanded samples.
static taper_status build_samples(method_builder *b, const taper_draft_bundle_entry *entry, int64_t slot,
                                  taper_ir_value **result)
{
    const taper_type *type;
    taper_node *get, *list;
    TAPER_TRY(samples_type(b, entry, &type));
    TAPER_TRY(add_node(b, TAPER_NODE_GET_ATTR, 1, 1, &get));
    get->own.slot = slot;
    taper_node_set_input(get, 0, &b->body->params[0]);
    const size_t samples = entry->samples->count, arguments = entry->samples->items[0].as.tuple->count / 2;
    taper_ir_value **full = taper_arena_array(&b->graph->arena, samples, sizeof *full);
    if (full == NULL) {
        return taper_fail_memory(b->error);
    }
    for (size_t s = 0; s < samples; s++) {
        const taper_tuple *sample = entry->samples->items[s].as.tuple;
        taper_ir_value *stored;
        taper_node *unpack, *tuple;
        TAPER_TRY(add_call(b, TAPER_OP(aten___getitem___t), &get->outputs[0], (int64_t)s, &stored));
        TAPER_TRY(add_node(b, TAPER_NODE_TUPLE_UNPACK, 1, arguments, &unpack));
        taper_node_set_input(unpack, 0, stored);
        TAPER_TRY(taper_node_create(b->graph, TAPER_NODE_TUPLE, arguments, 1, &tuple, b->error));
        for (size_t i = 0; i < arguments; i++) {
            taper_ir_value *value = &unpack->outputs[i];
            const int64_t format = sample->items[arguments + i].as.i;
            if (format >= 0) {
                TAPER_TRY(add_call(b, TAPER_OP(aten_contiguous), value, format, &value));
            }
            taper_node_set_input(tuple, i, value);
        }
        taper_node_append(b->body, tuple);
        full[s] = &tuple->outputs[0];
    }
    TAPER_TRY(add_node(b, TAPER_NODE_LIST, samples, 1, &list));
    list->type = type;
    for (size_t s = 0; s < samples; s++) {
        taper_node_set_input(list, s, full[s]);
    }
    *result = &list->outputs[0];
    return TAPER_OK;
}

static taper_status add_strings(method_builder *b, const char *text, taper_ir_value **result)
{
    taper_node *list;
    taper_ir_value *item = NULL;
    if (text != NULL) {
        TAPER_TRY(add_string(b, text, &item));
    }
    TAPER_TRY(add_node(b, TAPER_NODE_LIST, item != NULL ? 1 : 0, 1, &list));
    list->type = &taper_type_list_string;
    if (item != NULL) {
        taper_node_set_input(list, 0, item);
    }
    *result = &list->outputs[0];
    return TAPER_OK;
}

static taper_status add_dict(method_builder *b, const taper_type *value_type, taper_ir_value *const *items,
                             size_t count, const taper_type **type, taper_ir_value **result)
{
    taper_node *dict;
    const taper_type *const parts[2] = {&taper_type_string, value_type};
    TAPER_TRY(make_type(b, TAPER_TYPE_DICT, parts, 2, type));
    TAPER_TRY(add_node(b, TAPER_NODE_DICT, count, 1, &dict));
    dict->type = *type;
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(dict, i, items[i]);
    }
    *result = &dict->outputs[0];
    return TAPER_OK;
}

// Builds nodes that make the dict {method: {"info": [], "get_inputs_function_name": [name]}}.
static taper_status build_info(method_builder *b, const taper_type **type, taper_ir_value **result)
{
    const taper_draft *draft = b->draft;
    const taper_type *inner = NULL;
    taper_ir_value **items = taper_arena_array(&b->graph->arena, 2 * draft->bundle_count, sizeof *items);
    if (items == NULL) {
        return taper_fail_memory(b->error);
    }
    for (size_t i = 0; i < draft->bundle_count; i++) {
        taper_ir_value *entry[4];
        taper_text name = taper_text_make(draft->model->allocator);
        taper_text_format(&name, "get_all_bundled_inputs_for_%s", draft->bundles[i].method);
        taper_status status =
            name.failed ? taper_fail_memory(b->error) : add_string(b, "get_inputs_function_name", &entry[2]);
        if (status == TAPER_OK) {
            status = add_strings(b, taper_text_get(&name), &entry[3]);
        }
        taper_text_free(&name);
        TAPER_TRY(status);
        TAPER_TRY(add_string(b, "info", &entry[0]));
        TAPER_TRY(add_strings(b, NULL, &entry[1]));
        TAPER_TRY(add_string(b, draft->bundles[i].method, &items[2 * i]));
        TAPER_TRY(add_dict(b, &taper_type_list_string, entry, 4, &inner, &items[2 * i + 1]));
    }
    return add_dict(b, inner, items, 2 * draft->bundle_count, type, result);
}

typedef enum method_kind { GENERATE, GET_FOR_METHOD, GET_ALL, GET_NUMBER, GET_INFO, METHOD_KINDS } method_kind;

// Makes the full name of a method, such as "__torch__.Net.NAME".
static taper_status method_name(method_builder *b, method_kind kind, const char *method, const char **name)
{
    static const char *const starts[METHOD_KINDS] = {"_generate_bundled_inputs_for_", "get_all_bundled_inputs_for_",
                                                     "get_all_bundled_inputs", "get_num_bundled_inputs",
                                                     "get_bundled_inputs_functions_and_info"};
    taper_text text = taper_text_make(b->draft->model->allocator);
    taper_text_format(&text, "%s.%s%s", taper_model_name(b->draft->model), starts[kind],
                      kind == GENERATE || kind == GET_FOR_METHOD ? method : "");
    *name = text.failed ? NULL : taper_arena_string(&b->draft->model->module.arena, taper_text_get(&text), text.length);
    taper_text_free(&text);
    return *name == NULL ? taper_fail_memory(b->error) : TAPER_OK;
}

static taper_status fill_schema(method_builder *b, const taper_type *returns, taper_module_function *function)
{
    taper_arena *arena = &b->draft->model->module.arena;
    function->has_schema = true;
    function->arguments = taper_arena_array(arena, 1, sizeof *function->arguments);
    function->returns = taper_arena_array(arena, 1, sizeof *function->returns);
    taper_text text = taper_text_make(b->draft->model->allocator);
    taper_type_print(returns, &text);
    const char *printed = text.failed ? NULL : taper_arena_string(arena, taper_text_get(&text), text.length);
    taper_text_free(&text);
    const taper_val root = taper_draft_root(b->draft);
    const char *class_name = root.as.object->klass->name;
    if (function->arguments == NULL || function->returns == NULL || printed == NULL) {
        return taper_fail_memory(b->error);
    }
    const taper_type *self;
    TAPER_TRY(
        taper_type_make(b->draft->model->module.types, TAPER_TYPE_CLASS, class_name, NULL, NULL, 0, &self, b->error));
    function->arguments[0] = (taper_module_argument){.name = "self", .type = self, .type_text = class_name};
    function->returns[0] = (taper_module_argument){.name = "", .type = returns, .type_text = printed};
    function->argument_count = function->return_count = 1;
    return TAPER_OK;
}

static taper_status build_method(taper_draft *draft, method_kind kind, const taper_draft_bundle_entry *entry,
                                 int64_t slot, taper_error *error)
{
    taper_model *model = draft->model;
    method_builder b = {.draft = draft, .error = error};
    const char *name;
    TAPER_TRY(method_name(&b, kind, entry->method, &name));
    TAPER_TRY(TAPER_GROW(model->allocator, draft->methods, draft->method_capacity, draft->method_count + 1, error));
    taper_draft_method *method = &draft->methods[draft->method_count];
    *method = (taper_draft_method){.source.name = name};
    TAPER_TRY(taper_graph_create(model->allocator, name, 1, &method->graph, error));
    draft->method_count++; // the method is counted now, so that the draft frees it
    b.graph = method->graph;
    b.body = method->graph->body;
    taper_ir_value *result;
    const taper_type *type = &taper_type_int;
    if (kind == GET_INFO) {
        TAPER_TRY(build_info(&b, &type, &result));
    } else if (kind == GET_NUMBER) {
        TAPER_TRY(add_constant(&b, taper_val_int((int64_t)entry->samples->count), &result));
    } else {
        TAPER_TRY(samples_type(&b, entry, &type));
        TAPER_TRY(build_samples(&b, entry, slot, &result));
    }
    TAPER_TRY(taper_block_set_results(b.body, &result, 1, error));
    TAPER_TRY(fill_schema(&b, type, &method->source));
    return taper_graph_verify(method->graph, error);
}

// Returns the value of the attribute: the stored samples without the information how to expand them.
static taper_status stored_samples(taper_draft *draft, const taper_draft_bundle_entry *entry, taper_val *value,
                                   taper_error *error)
{
    taper_heap *heap = draft->model->module.heap;
    method_builder b = {.draft = draft, .error = error};
    const taper_type *type;
    TAPER_TRY(samples_type(&b, entry, &type));
    taper_list *list = taper_list_new(heap, type->items[0], entry->samples->count);
    if (list == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t s = 0; s < entry->samples->count; s++) {
        const taper_tuple *sample = entry->samples->items[s].as.tuple;
        taper_tuple *stored = taper_tuple_new(heap, NULL, sample->count / 2);
        if (stored == NULL) {
            taper_obj_release(&list->head.head);
            return taper_fail_memory(error);
        }
        for (size_t i = 0; i < stored->count; i++) {
            stored->items[i] = taper_val_retain(sample->items[i]);
        }
        list->items[list->count++] = TAPER_VAL(stored);
    }
    *value = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status add_attribute(taper_draft *draft, const taper_draft_bundle_entry *entry, int64_t *slot,
                                  taper_error *error)
{
    taper_model *model = draft->model;
    taper_object *root = taper_draft_root(draft).as.object;
    taper_text text = taper_text_make(model->allocator);
    taper_text_format(&text, "%s%s", attribute_start, entry->method);
    const char *name =
        text.failed ? NULL : taper_arena_string(&model->module.arena, taper_text_get(&text), text.length);
    taper_text_free(&text);
    if (name == NULL) {
        return taper_fail_memory(error);
    }
    taper_val value;
    TAPER_TRY(stored_samples(draft, entry, &value, error));
    size_t at = 0;
    while (at < root->count && strcmp(root->klass->slots[at], name) != 0) { // reuses the attribute of an earlier sample
        at++;
    }
    *slot = (int64_t)at;
    const taper_status status =
        at < root->count ? TAPER_OK : taper_object_add_slots(root, model->module.types, &name, 1, error);
    if (status != TAPER_OK) {
        taper_val_release(value);
        return status;
    }
    taper_val_replace(&root->slots[*slot], value);
    return TAPER_OK;
}

taper_status taper_draft_finish_bundles(taper_draft *draft, taper_error *error)
{
    if (draft->bundle_count == 0 || draft->method_count != 0) {
        return TAPER_OK;
    }
    const taper_val root = taper_draft_root(draft);
    if (!has_names(root)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "the model's root has no named attributes: inputs cannot be bundled");
    }
    draft->broken = true;
    for (size_t i = 0; i < draft->bundle_count; i++) {
        const taper_draft_bundle_entry *entry = &draft->bundles[i];
        int64_t slot;
        TAPER_TRY(add_attribute(draft, entry, &slot, error));
        TAPER_TRY(build_method(draft, GENERATE, entry, slot, error));
        TAPER_TRY(build_method(draft, GET_FOR_METHOD, entry, slot, error));
        if (strcmp(entry->method, "forward") == 0) {
            TAPER_TRY(build_method(draft, GET_ALL, entry, slot, error));
            TAPER_TRY(build_method(draft, GET_NUMBER, entry, slot, error));
        }
    }
    TAPER_TRY(build_method(draft, GET_INFO, &draft->bundles[0], 0, error));
    draft->broken = false;
    return TAPER_OK;
}

void taper_draft_free_bundles(taper_draft *draft)
{
    const taper_allocator *allocator = draft->model->allocator;
    for (size_t i = 0; i < draft->bundle_count; i++) {
        taper_obj_release(&draft->bundles[i].samples->head.head);
    }
    for (size_t i = 0; i < draft->method_count; i++) {
        taper_graph_destroy(draft->methods[i].graph);
    }
    taper_free(allocator, draft->bundles, draft->bundle_capacity * sizeof *draft->bundles);
    taper_free(allocator, draft->methods, draft->method_capacity * sizeof *draft->methods);
}
