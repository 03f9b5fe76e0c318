// SPDX-License-Identifier: BSD-2-Clause
// Builds the module: its root with the weights, and a method for each program, such as forward.
#include <stdio.h>
#include <stdlib.h>

#include "frontend/export/parts.h"

enum { MOST_DEPTH = 64 };

static const char class_name[] = "__torch__.ExportedProgram";

// ---- the root: an object for each part of the weights' names

typedef struct building {
    taper_export_lowering *l;
    const taper_pt2_weight *weights; // weights, program by program, sorted by name
    uint32_t **slots; // for each weight: slots on the path from the root, one for each component of its name
} building;

static size_t part_length(const char *name)
{
    return strcspn(name, ".");
}

// Returns the end of the group of weights from `first` on whose names have the same next component.
static size_t group_end(const building *b, size_t first, size_t end, size_t skip)
{
    const char *name = b->weights[first].name + skip;
    const size_t length = part_length(name);
    size_t i = first + 1;
    while (i < end && strncmp(b->weights[i].name + skip, name, length) == 0 &&
           (b->weights[i].name[skip + length] == '.' || b->weights[i].name[skip + length] == '\0')) {
        i++;
    }
    return i;
}

// Fails if the name of a weight is also the name of a submodule. The two need not be in one group, because other names
// may be between them in the order: "a", "a-b", "a.c".
static taper_status check_alone(building *b, size_t at, size_t end, size_t skip)
{
    const char *name = b->weights[at].name + skip;
    const size_t length = strlen(name);
    for (size_t i = at + 1; i < end && strncmp(b->weights[i].name + skip, name, length) == 0; i++) {
        TAPER_TRY(taper_charge(b->l->module->allocator, 1, b->l->emit.error));
        const char next = b->weights[i].name[skip + length];
        if (next == '.' || next == '\0') {
            return taper_export_refuse(b->l, "%.100s is a weight and a module", b->weights[at].name);
        }
    }
    return TAPER_OK;
}

static taper_status build_object(building *b, size_t first, size_t end, size_t skip, int depth, taper_object **made);

static taper_status fill_object(building *b, size_t first, size_t end, size_t skip, int depth, taper_object *object)
{
    taper_export_lowering *l = b->l;
    uint32_t slot = 0;
    for (size_t at = first; at < end; slot++) {
        const taper_pt2_weight *w = &b->weights[at];
        const size_t next = group_end(b, at, end, skip), length = part_length(w->name + skip);
        taper_val value = taper_val_none();
        for (size_t i = at; i < next; i++) {
            b->slots[i][depth] = slot;
        }
        if (w->name[skip + length] == '\0') {
            TAPER_TRY(check_alone(b, at, end, skip));
            value = w->tensor != NULL ? taper_val_retain(TAPER_VAL(w->tensor)) : value;
        } else {
            taper_object *inner;
            TAPER_TRY(build_object(b, at, next, skip + length + 1, depth + 1, &inner));
            value = TAPER_VAL(inner);
        }
        TAPER_TRY(taper_object_set(object, slot, value, l->emit.error));
        at = next;
    }
    return TAPER_OK;
}

// Allocates the arrays of slots for all weights.
static taper_status make_slots(building *b, size_t count)
{
    taper_arena *arena = &b->l->module->arena;
    b->slots = taper_arena_array(arena, count, sizeof *b->slots);
    for (size_t i = 0; b->slots != NULL && i < count; i++) {
        size_t parts = 1;
        for (const char *at = b->weights[i].name; *at != '\0'; at++) {
            parts += *at == '.';
        }
        b->slots[i] = taper_arena_array(arena, parts, sizeof *b->slots[i]);
        if (b->slots[i] == NULL) {
            return taper_fail_memory(b->l->emit.error);
        }
    }
    return b->slots != NULL || count == 0 ? TAPER_OK : taper_fail_memory(b->l->emit.error);
}

static taper_status build_object(building *b, size_t first, size_t end, size_t skip, int depth, taper_object **made)
{
    taper_export_lowering *l = b->l;
    size_t count = 0;
    *made = NULL;
    if (depth == MOST_DEPTH) {
        return taper_export_refuse(l, "the name of a weight has more than %d parts", MOST_DEPTH);
    }
    TAPER_TRY(taper_charge(l->module->allocator, end - first, l->emit.error));
    for (size_t at = first; at < end; at = group_end(b, at, end, skip)) {
        count++;
    }
    taper_arena *arena = &l->module->arena;
    const char **names = taper_arena_array(arena, count + 1, sizeof *names);
    const size_t prefix = sizeof class_name - 1;
    char *name = taper_arena_alloc(arena, prefix + 2 + skip);
    if (names == NULL || name == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    memcpy(name, class_name, prefix);
    if (skip != 0) { // for example "__torch__.ExportedProgram.layer1.0"
        name[prefix] = '.';
        memcpy(name + prefix + 1, b->weights[first].name, skip - 1);
    }
    size_t slot = 0;
    for (size_t at = first; at < end; at = group_end(b, at, end, skip), slot++) {
        const char *part = b->weights[at].name + skip;
        names[slot] = taper_arena_string(arena, part, part_length(part));
        if (names[slot] == NULL) {
            return taper_fail_memory(l->emit.error);
        }
    }
    const taper_class *klass = taper_types_class(l->module->types, name, count, names);
    taper_object *object = klass != NULL ? taper_object_new(l->module->heap, klass, count) : NULL;
    if (object == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    const taper_status status = fill_object(b, first, end, skip, depth, object);
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(object));
        return status;
    }
    *made = object;
    return TAPER_OK;
}

// ---- methods

// Prints a type without the names of named tuples. PyTorch's lite interpreter does not find a named tuple inside a
// declared type, even in files that it has written itself.
static void print_declared(const taper_type *type, taper_text *text)
{
    const char *head = type->kind == TAPER_TYPE_TUPLE      ? "Tuple"
                       : type->kind == TAPER_TYPE_LIST     ? "List"
                       : type->kind == TAPER_TYPE_DICT     ? "Dict"
                       : type->kind == TAPER_TYPE_OPTIONAL ? "Optional"
                                                           : NULL;
    if (head == NULL || type->count == 0) {
        taper_type_print(type, text);
        return;
    }
    taper_text_format(text, "%s[", head);
    for (size_t i = 0; i < type->count; i++) {
        taper_text_string(text, i != 0 ? ", " : "");
        print_declared(type->items[i], text);
    }
    taper_text_string(text, "]");
}

static taper_status text_of(taper_export_lowering *l, const taper_type *type, const char **text)
{
    taper_text printed = taper_text_make(l->module->allocator);
    print_declared(type, &printed);
    *text = printed.failed ? NULL : taper_arena_string(&l->module->arena, taper_text_get(&printed), printed.length);
    taper_text_free(&printed);
    return *text != NULL ? TAPER_OK : taper_fail_memory(l->emit.error);
}

static bool is_given(const taper_pt2_input *input)
{
    return input->kind == TAPER_PT2_INPUT_USER || input->kind == TAPER_PT2_INPUT_CONSTANT;
}

static taper_status default_of(taper_export_lowering *l, const taper_pt2_argument *argument,
                               taper_module_argument *declared)
{
    taper_string *text;
    declared->has_default = true;
    switch (argument->kind) {
    case TAPER_PT2_INT:
        declared->type = &taper_type_int;
        declared->default_value = taper_val_int(argument->as.i);
        return TAPER_OK;
    case TAPER_PT2_FLOAT:
        declared->type = &taper_type_float;
        declared->default_value = taper_val_double(argument->as.f);
        return TAPER_OK;
    case TAPER_PT2_BOOL:
        declared->type = &taper_type_bool;
        declared->default_value = taper_val_bool(argument->as.i != 0);
        return TAPER_OK;
    case TAPER_PT2_STRING:
        declared->type = &taper_type_string;
        text = taper_string_new(l->module->heap, argument->as.text, strlen(argument->as.text));
        if (text == NULL) {
            return taper_fail_memory(l->emit.error);
        }
        declared->default_value = TAPER_VAL(text);
        return TAPER_OK;
    default:
        declared->type = &taper_type_any;
        return TAPER_OK;
    }
}

static taper_status declare_method(taper_export_lowering *l, taper_module_function *f, const char *const *names,
                                   size_t leaves)
{
    const taper_pt2_program *p = l->program;
    taper_module *module = l->module;
    const size_t room = sizeof class_name + strlen(p->method) + 1;
    char *name = taper_arena_alloc(&module->arena, room);
    if (name == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    (void)snprintf(name, room, "%s.%s", class_name, p->method);
    f->name = name;
    f->arguments = taper_arena_array(&module->arena, leaves + 1, sizeof *f->arguments);
    f->returns = taper_arena_array(&module->arena, 1, sizeof *f->returns);
    if (f->arguments == NULL || f->returns == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    f->has_schema = true;
    f->arguments[0] = (taper_module_argument){.name = "self", .default_value = taper_val_none()};
    TAPER_TRY(taper_type_make(module->types, TAPER_TYPE_CLASS, class_name, NULL, NULL, 0, &f->arguments[0].type,
                              l->emit.error));
    f->arguments[0].type_text = class_name;
    f->argument_count = 1;
    for (size_t i = 0, leaf = 0; i < p->input_count; i++) {
        const taper_pt2_input *input = &p->inputs[i];
        if (!is_given(input)) {
            continue;
        }
        taper_module_argument *a = &f->arguments[f->argument_count++];
        *a = (taper_module_argument){.name = names[leaf++], .type = &taper_type_any, .default_value = taper_val_none()};
        if (input->kind == TAPER_PT2_INPUT_CONSTANT) {
            TAPER_TRY(default_of(l, &input->argument, a));
        } else if (input->argument.kind == TAPER_PT2_VALUE) {
            a->type = taper_export_type(&p->graph->values[input->argument.as.value]);
        }
        TAPER_TRY(text_of(l, a->type, &a->type_text));
    }
    return TAPER_OK;
}

// ---- the graph of a method

// Gets a weight, or the object that contains the parts of a weight, by the attributes on the path from self.
static taper_status get_weight(taper_export_lowering *l, const taper_pt2_input *input, const uint32_t *slots,
                               taper_ir_value **value)
{
    const taper_object *object = l->module->root.as.object;
    *value = &l->emit.graph->body->params[0];
    const char *const end = input->weight->name + strlen(input->weight->name) - input->part_length;
    for (const char *at = input->weight->name;; slots++) {
        taper_node *node;
        TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_GET_ATTR, 1, 1, &node));
        taper_node_set_input(node, 0, *value);
        node->own.slot = *slots;
        *value = &node->outputs[0];
        at += part_length(at);
        if (*at == '\0') {
            (*value)->type = &taper_type_tensor;
            return TAPER_OK;
        }
        object = object->slots[*slots].as.object;
        TAPER_TRY(taper_type_make(l->module->types, TAPER_TYPE_CLASS, object->klass->name, NULL, NULL, 0,
                                  &(*value)->type, l->emit.error));
        if (at == end) {
            return TAPER_OK;
        }
        at++;
    }
}

static taper_status bind_inputs(taper_export_lowering *l, uint32_t *const *slots, taper_ir_value **inputs)
{
    const taper_pt2_program *p = l->program;
    taper_ir_value *const params = l->emit.graph->body->params;
    for (size_t i = 0, leaf = 0; i < p->input_count; i++) {
        const taper_pt2_input *input = &p->inputs[i];
        if (is_given(input)) {
            inputs[i] = &params[++leaf];
        } else if (input->kind == TAPER_PT2_INPUT_TOKEN) {
            TAPER_TRY(taper_emit_constant(&l->emit, taper_val_none(), &inputs[i]));
        } else if (input->weight->tensor == NULL) {
            return taper_export_refuse(l, "%.100s: %s", input->weight->name, input->weight->refusal);
        } else {
            TAPER_TRY(get_weight(l, input, slots[input->weight - p->weights], &inputs[i]));
        }
    }
    return TAPER_OK;
}

// At the end of the run, copies the new contents to the buffers, parameters and inputs that the original program writes
// to, as PyTorch does.
static taper_status write_back(taper_export_lowering *l, taper_ir_value *const *inputs, taper_ir_value *const *outputs)
{
    const taper_pt2_program *p = l->program;
    for (size_t i = 0; i < p->output_count; i++) {
        const unsigned kind = p->outputs[i].kind;
        if (kind == TAPER_PT2_OUTPUT_BUFFER || kind == TAPER_PT2_OUTPUT_PARAMETER || kind == TAPER_PT2_OUTPUT_INPUT) {
            taper_ir_value *ignored;
            TAPER_TRY(
                TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_copy_), &ignored, inputs[p->outputs[i].input], outputs[i]));
        }
    }
    return TAPER_OK;
}

static taper_status lower_method(taper_export_lowering *l, taper_module_function *f, const char *const *names,
                                 uint32_t *const *slots)
{
    const taper_pt2_program *p = l->program;
    taper_ir_value **inputs, **outputs, **leaves, *result;
    size_t count = 0;
    for (size_t i = 1; i < f->argument_count; i++) {
        l->emit.graph->body->params[i].type = f->arguments[i].type;
    }
    l->emit.graph->body->params[0].type = f->arguments[0].type;
    TAPER_TRY(taper_emit_values(&l->emit, p->input_count, &inputs));
    TAPER_TRY(taper_emit_values(&l->emit, p->output_count, &outputs));
    TAPER_TRY(taper_emit_values(&l->emit, p->output_count, &leaves));
    TAPER_TRY(bind_inputs(l, slots, inputs));
    if (!l->options->no_guards) {
        TAPER_TRY(taper_export_check_inputs(l, inputs, names));
        TAPER_TRY(taper_export_check_guards(l, inputs, names));
    }
    TAPER_TRY(taper_export_graph(l, p->graph, inputs, outputs));
    TAPER_TRY(write_back(l, inputs, outputs));
    for (size_t i = 0; i < p->output_count; i++) {
        if (p->outputs[i].kind == TAPER_PT2_OUTPUT_USER || p->outputs[i].kind == TAPER_PT2_OUTPUT_LOSS) {
            leaves[count++] = outputs[i];
        }
    }
    if (count != p->out_tree.leaves) {
        return taper_export_refuse(l, "it returns %zu values, their packing has %zu", count, p->out_tree.leaves);
    }
    TAPER_TRY(taper_export_pack(l, &p->out_tree, leaves, &result));
    f->returns[0] = (taper_module_argument){
        .name = "", .type = result->type != NULL ? result->type : &taper_type_any, .default_value = taper_val_none()};
    f->return_count = 1;
    TAPER_TRY(text_of(l, f->returns[0].type, &f->returns[0].type_text));
    return taper_block_set_results(l->emit.graph->body, &result, 1, l->emit.error);
}

// Sets the members of `f` for the program and makes its graph. slots: slots of the program's weights.
static taper_status load_method(taper_export_lowering *l, taper_module_function *f, uint32_t *const *slots,
                                taper_graph **graph)
{
    const taper_pt2_program *p = l->program;
    size_t leaves = p->in_tree.leaves, given = 0;
    for (size_t i = 0; i < p->input_count; i++) {
        given += is_given(&p->inputs[i]);
    }
    if (given != leaves) {
        return taper_export_refuse(l, "it takes %zu inputs, their packing has %zu", given, leaves);
    }
    const char **names = taper_arena_array(&l->module->arena, leaves + 1, sizeof *names);
    if (names == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    TAPER_TRY(taper_export_leaf_names(l, names));
    TAPER_TRY(declare_method(l, f, names, leaves));
    TAPER_TRY(taper_graph_create(l->module->allocator, f->name, leaves + 1, graph, l->emit.error));
    l->emit.graph = *graph;
    l->emit.block = (*graph)->body;
    TAPER_TRY(lower_method(l, f, names, slots));
    l->node = NULL;
    return l->missing->count != 0 ? TAPER_OK : taper_graph_verify(*graph, l->emit.error);
}

// Collects the weights of all programs, one program after the other.
static taper_status gather_weights(taper_export_lowering *l, building *b, size_t *count)
{
    *count = 0;
    for (const taper_pt2_program *p = l->module->exported; p != NULL; p = p->next) {
        *count += p->weight_count;
    }
    taper_pt2_weight *all = taper_arena_array(&l->module->arena, *count + 1, sizeof *all);
    if (all == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    b->weights = all;
    for (const taper_pt2_program *p = l->module->exported; p != NULL; p = p->next) {
        if (p->weight_count != 0) {
            memcpy(all, p->weights, p->weight_count * sizeof *all);
        }
        all += p->weight_count;
    }
    return TAPER_OK;
}

static taper_status load(taper_export_lowering *l, taper_graph **graphs)
{
    building b = {.l = l};
    taper_module *module = l->module;
    taper_object *root;
    size_t count, at = 0;
    TAPER_TRY(gather_weights(l, &b, &count));
    TAPER_TRY(make_slots(&b, count));
    TAPER_TRY(build_object(&b, 0, count, 0, 0, &root));
    module->root = TAPER_VAL(root);
    const size_t methods = taper_export_methods(module);
    module->functions = taper_arena_array(&module->arena, methods, sizeof *module->functions);
    if (module->functions == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    memset(module->functions, 0, methods * sizeof *module->functions);
    for (; l->program != NULL; l->program = l->program->next) {
        const size_t i = module->function_count++;
        TAPER_TRY(load_method(l, &module->functions[i], b.slots + at, &graphs[i]));
        at += l->program->weight_count;
    }
    return l->missing->count != 0 && !l->options->listing ? taper_needs_refuse(l->missing, l->emit.error) : TAPER_OK;
}

size_t taper_export_methods(const taper_module *module)
{
    size_t count = 0;
    for (const taper_pt2_program *p = module->exported; p != NULL; p = p->next) {
        count++;
    }
    return count;
}

taper_status taper_export_load(taper_module *module, taper_registry *registry, const taper_export_options *options,
                               taper_graph **graphs, taper_needs *missing, taper_error *error)
{
    taper_export_lowering l = {
        .emit = {.registry = registry, .heap = module->heap, .error = error, .debug = -1},
        .module = module,
        .program = module->exported,
        .options = options,
        .missing = missing,
    };
    const size_t count = taper_export_methods(module);
    memset(graphs, 0, count * sizeof(taper_graph *));
    const taper_status status = load(&l, graphs);
    for (size_t i = 0; status != TAPER_OK && i < count; i++) {
        taper_graph_destroy(graphs[i]);
        graphs[i] = NULL;
    }
    return status;
}

const char *taper_export_torch_version(const taper_module *module)
{
    return module->exported->torch_version != NULL ? module->exported->torch_version : "";
}
