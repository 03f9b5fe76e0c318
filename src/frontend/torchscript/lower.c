// SPDX-License-Identifier: BSD-2-Clause
// Makes nodes, keeps variables, and inlines functions. Also chooses the functions to lower: the methods of the root's
// class, the __setstate__ of pending objects, and all methods that may be called through an interface.
#include "frontend/torchscript/lower.h"

#include <stdio.h>

#include "base/budget.h"
#include "format/script_archive.h"
#include "ir/effects.h"

taper_status taper_ts_refuse(const taper_ts_lowering *l, const taper_ts_node *node, const char *format, ...)
{
    char text[500];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return taper_ts_fail(l->unit, TAPER_ERROR_FILE, l->frame->function->file, node->at, "%s", text);
}

taper_status taper_ts_deeper(taper_ts_lowering *l, const taper_ts_node *node)
{
    if (++l->depth > TAPER_LIMIT_INLINE_DEPTH) {
        return taper_ts_refuse(l, node, "calls and blocks are nested too deep");
    }
    if (l->nodes_left == 0) {
        return taper_ts_refuse(l, node, "the program becomes too long when calls are inlined");
    }
    l->nodes_left--;
    return TAPER_OK;
}

taper_status taper_ts_charge(taper_ts_lowering *l, size_t things)
{
    const size_t cost = things / 8;
    TAPER_TRY(taper_charge(l->unit->allocator, 4 * (uint64_t)things, l->unit->error));
    if (cost > l->nodes_left) {
        l->nodes_left = 0;
        TAPER_FAIL(l->unit->error, TAPER_ERROR_RESOURCE, "the program becomes too long when calls are inlined");
    }
    l->nodes_left -= cost;
    return TAPER_OK;
}

taper_status taper_ts_missing(taper_ts_lowering *l, const char *name)
{
    taper_needs *missing = &l->result->missing;
    TAPER_TRY(taper_ts_charge(l, missing->count));
    for (size_t i = 0; i < missing->count; i++) {
        if (strcmp(missing->items[i].name, name) == 0) {
            missing->items[i].calls++;
            return TAPER_OK;
        }
    }
    const char *copy = taper_arena_string(&l->unit->module->arena, name, strlen(name));
    if (copy == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    TAPER_TRY(TAPER_GROW(missing->allocator, missing->items, missing->capacity, missing->count + 1, l->unit->error));
    missing->items[missing->count++] = (taper_need){copy, "", 1};
    return TAPER_OK;
}

// ---- nodes

static taper_status keep_name(taper_ts_lowering *l, uint32_t atom, const char **kept)
{
    const char *name = l->unit->atoms.names[atom];
    *kept = taper_arena_string(&l->unit->module->arena, name, strlen(name));
    return *kept != NULL ? TAPER_OK : taper_fail_memory(l->unit->error);
}

// Gets the number of the place of the code being lowered. All nodes of an expression have the same place. If the
// expression calls a method on two objects, each call has a place with its own instance.
static taper_status place(taper_ts_lowering *l, uint32_t *number)
{
    taper_module *module = l->unit->module;
    taper_ts_function *f = l->frame->function;
    if (module->place_count != 0) {
        const taper_module_place *last = &module->places[module->place_count - 1];
        if (last->at == l->at && last->source == f->file && last->parent == l->frame->called_from &&
            last->instance == l->frame->instance) {
            *number = (uint32_t)module->place_count - 1;
            return TAPER_OK;
        }
    }
    if (f->name == NULL) {
        TAPER_TRY(keep_name(l, f->atom, &f->name));
        if (f->owner != NULL) {
            TAPER_TRY(keep_name(l, f->owner->qualified, &f->class_name));
        }
    }
    TAPER_TRY(
        TAPER_GROW(module->allocator, module->places, module->place_capacity, module->place_count + 1, l->unit->error));
    module->places[module->place_count] = (taper_module_place){.source = f->file,
                                                               .at = l->at,
                                                               .parent = l->frame->called_from,
                                                               .function = f->name,
                                                               .class_name = f->class_name,
                                                               .instance = l->frame->instance};
    *number = (uint32_t)module->place_count++;
    return TAPER_OK;
}

taper_status taper_ts_add_node(taper_ts_lowering *l, taper_node_kind kind, size_t inputs, size_t outputs,
                               taper_node **node)
{
    uint32_t number;
    if (l->nodes_left == 0) {
        return taper_fail(l->unit->error, TAPER_ERROR_RESOURCE, "the program becomes too long when calls are inlined");
    }
    l->nodes_left--;
    TAPER_TRY(place(l, &number));
    TAPER_TRY(taper_node_create(l->graph, kind, inputs, outputs, node, l->unit->error));
    (*node)->debug = (int32_t)number;
    taper_node_append(l->block, *node);
    return TAPER_OK;
}

// The constant is added at the start of the body, so that every block can use it.
taper_status taper_ts_constant(taper_ts_lowering *l, taper_val value, taper_ir_value **made)
{
    enum { NONE, NO, YES, FIRST_INT, INTS = sizeof l->pooled / sizeof l->pooled[0] - FIRST_INT };
    const int at = value.tag == TAPER_NONE                                          ? NONE
                   : value.tag == TAPER_BOOLEAN                                     ? NO + value.as.b
                   : value.tag == TAPER_INT && value.as.i >= 0 && value.as.i < INTS ? FIRST_INT + (int)value.as.i
                                                                                    : -1;
    if (at >= 0 && l->pooled[at] != NULL) {
        *made = l->pooled[at];
        return TAPER_OK;
    }
    taper_node *node;
    TAPER_TRY(taper_node_constant(l->graph, value, &node, l->unit->error));
    node->debug = -1;
    if (l->graph->body->first != NULL) {
        taper_node_insert_before(node, l->graph->body->first);
    } else {
        taper_node_append(l->graph->body, node);
    }
    *made = &node->outputs[0];
    if (at >= 0) {
        l->pooled[at] = *made;
    }
    return TAPER_OK;
}

taper_status taper_ts_bind_constant(taper_ts_lowering *l, taper_val value, const taper_type *type,
                                    taper_ts_binding *out)
{
    *out = (taper_ts_binding){.type = type};
    return taper_ts_constant(l, value, &out->value);
}

taper_status taper_ts_set_local(taper_ts_lowering *l, uint32_t slot, taper_ts_binding value)
{
    TAPER_TRY(TAPER_GROW(l->unit->allocator, l->trail, l->trail_capacity, l->trail_count + 1, l->unit->error));
    l->trail[l->trail_count++] = (taper_ts_change){slot, l->frame->locals[slot]};
    l->frame->locals[slot] = value;
    return TAPER_OK;
}

// ---- functions

// Lowers the body of a function in a new frame. args: one binding for each parameter.
static taper_status run_body(taper_ts_lowering *l, taper_ts_function *function, uint32_t called_from,
                             const char *instance, const taper_ts_binding *args, taper_ts_binding *out)
{
    const size_t bytes = ((size_t)function->slots + 1) * sizeof(taper_ts_binding);
    taper_ts_frame frame = {.function = function, .called_from = called_from, .instance = instance};
    taper_ts_frame *const outer = l->frame;
    const size_t mark = l->trail_count;
    const uint32_t at = l->at;
    TAPER_TRY(taper_ts_charge(l, function->slots));
    frame.locals = taper_alloc_zeroed(l->unit->allocator, bytes);
    if (frame.locals == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        frame.locals[function->parameters[i].slot] = args[i];
    }
    l->frame = &frame;
    l->at = function->at;
    function->active = true;
    taper_status status = taper_ts_statements(l, function->body);
    if (status == TAPER_OK && !frame.returned) {
        status = taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, &frame.result);
    }
    const taper_type *type = NULL;
    if (status == TAPER_OK && function->returns != NULL && frame.result.type != NULL) {
        status = taper_ts_type(l->unit, function->file, function->returns, &type);
        if (status == TAPER_OK) {
            status = taper_ts_convert(l, function->body, frame.result, type, -1, &frame.result);
            frame.result.type = type;
        }
    }
    function->active = false;
    l->frame = outer;
    l->at = at;
    l->trail_count = mark; // the changes belong to variables of this frame, which has ended
    taper_free(l->unit->allocator, frame.locals, bytes);
    *out = frame.result;
    return status;
}

// Gets the name under which PyTorch prints the object of a method call: the name of the attribute, or SELF.
static taper_status instance_of(taper_ts_lowering *l, const taper_ir_value *object, const char **instance)
{
    const taper_ts_frame *frame = l->frame;
    const taper_ts_function *caller = frame->function;
    const taper_node *get = object->node;
    taper_ts_definition *class = NULL;
    const taper_ir_value *self = caller->owner != NULL && caller->parameter_count != 0 && frame->locals != NULL
                                     ? frame->locals[caller->parameters[0].slot].value
                                     : NULL;
    if (object == self) {
        *instance = "SELF";
        return TAPER_OK;
    }
    *instance = "INSTANCE_NAME_UNKNOWN";
    if (get == NULL || get->kind != TAPER_NODE_GET_ATTR) {
        return TAPER_OK;
    }
    if (taper_node_in(get, 0) == self) {
        class = caller->owner;
    } else if (taper_node_in(get, 0)->type != NULL) {
        TAPER_TRY(taper_ts_find_type(l->unit, taper_node_in(get, 0)->type, &class));
    }
    const taper_ts_attribute *attribute = class != NULL ? taper_ts_attribute_in(class, get->own.slot) : NULL;
    return attribute != NULL ? keep_name(l, attribute->atom, instance) : TAPER_OK;
}

taper_status taper_ts_inline(taper_ts_lowering *l, taper_ts_function *function, const taper_ts_binding *args,
                             taper_ts_binding *out)
{
    uint32_t number;
    const char *instance = NULL;
    if (function->active) {
        return taper_ts_refuse(l, function->body, "%s calls itself", l->unit->atoms.names[function->qualified]);
    }
    if (l->listing) {
        return taper_ts_call_apart(l, function, args, out);
    }
    TAPER_TRY(taper_ts_deeper(l, function->body));
    TAPER_TRY(place(l, &number));
    if (function->owner != NULL && function->parameter_count != 0 && args[0].value != NULL) {
        TAPER_TRY(instance_of(l, args[0].value, &instance));
    }
    TAPER_TRY(run_body(l, function, number, instance, args, out));
    l->depth--;
    return TAPER_OK;
}

// ---- the functions of the module

static taper_status declare(taper_ts_lowering *l, const taper_ts_function *f, uint32_t parameter, taper_ts_node *type,
                            taper_module_argument *out)
{
    taper_ts_unit *unit = l->unit;
    const taper_ts_parameter *p = parameter < f->parameter_count ? &f->parameters[parameter] : NULL;
    const char *name = p != NULL ? unit->atoms.names[p->atom] : "";
    out->type = &taper_type_any;
    out->default_value = taper_val_none();
    if (type != NULL) {
        TAPER_TRY(taper_ts_type(unit, f->file, type, &out->type));
    }
    taper_text text = taper_text_make(unit->allocator);
    taper_type_print(out->type, &text);
    out->name = taper_arena_string(&unit->module->arena, name, strlen(name));
    out->type_text = text.failed ? NULL : taper_arena_string(&unit->module->arena, taper_text_get(&text), text.length);
    taper_text_free(&text);
    if (out->name == NULL || out->type_text == NULL) {
        return taper_fail_memory(unit->error);
    }
    if (p != NULL && p->default_value != NULL) {
        TAPER_TRY(taper_ts_literal(unit, f->file, p->default_value, out->type, &out->default_value));
        out->has_default = true;
    }
    return TAPER_OK;
}

static taper_status describe_function(taper_ts_lowering *l, const taper_ts_function *f, taper_module_function *out)
{
    taper_arena *arena = &l->unit->module->arena;
    const char *name = l->unit->atoms.names[f->qualified];
    out->name = taper_arena_string(arena, name, strlen(name));
    out->arguments = taper_arena_array(arena, f->parameter_count, sizeof *out->arguments);
    out->returns = taper_arena_array(arena, 1, sizeof *out->returns);
    if (out->name == NULL || out->arguments == NULL || out->returns == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    out->has_schema = true;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        TAPER_TRY(declare(l, f, i, f->parameters[i].type, &out->arguments[i]));
        out->argument_count++;
    }
    TAPER_TRY(declare(l, f, UINT32_MAX, f->returns, &out->returns[0]));
    out->return_count = 1;
    return TAPER_OK;
}

// Runs the hooks of the root in the order in which PyTorch calls them. before: true for hooks that run before forward.
static taper_status run_hooks(taper_ts_lowering *l, taper_ts_definition *class, const taper_ts_node *names, bool before,
                              taper_ts_binding *args, size_t count, taper_ts_binding *result)
{
    for (const taper_ts_node *hook = names != NULL ? names->child : NULL; hook != NULL; hook = hook->next) {
        uint32_t atom;
        if (hook->kind != TAPER_TS_STRING) {
            return taper_ts_refuse(l, hook, "the name of a hook was expected");
        }
        TAPER_TRY(taper_ts_atom(&l->unit->atoms, hook->as.text, hook->length, &atom, l->unit->error));
        taper_ts_function *method = taper_ts_method(class, atom);
        taper_ts_binding given[3] = {args[0]}, made;
        if (method == NULL || method->parameter_count != (before ? 2u : 3u)) {
            return taper_ts_refuse(l, hook, "there is no such hook");
        }
        TAPER_TRY(taper_ts_make_tuple(l, args + 1, count - 1, &given[1]));
        given[2] = *result;
        TAPER_TRY(taper_ts_inline(l, method, given, &made));
        if (made.type != NULL && made.type->kind == TAPER_TYPE_NONE) {
            continue;
        }
        if (!before) {
            *result = made;
        } else if (made.type != NULL && made.type->kind == TAPER_TYPE_TUPLE) {
            TAPER_TRY(taper_ts_unpack(l, hook, made, count - 1, args + 1));
        } else if (count == 2) {
            args[1] = made;
        } else {
            return taper_ts_refuse(l, hook, "the hook gives one value for %zu inputs", count - 1);
        }
    }
    return TAPER_OK;
}

static taper_status lower_body(taper_ts_lowering *l, taper_ts_function *f, bool hooked)
{
    const size_t bytes = ((size_t)f->parameter_count + 1) * sizeof(taper_ts_binding);
    taper_ts_binding *args = taper_alloc_zeroed(l->unit->allocator, bytes), result = {.value = NULL};
    if (args == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    taper_status status = TAPER_OK;
    for (uint32_t i = 0; status == TAPER_OK && i < f->parameter_count; i++) {
        args[i].value = &l->graph->body->params[i];
        if (i == 0 && f->owner != NULL) {
            status = taper_ts_definition_type(l->unit, f->owner, &args[i].type);
            args[i].object = l->of_root ? l->unit->module->root.as.object : NULL;
        } else if (f->parameters[i].type != NULL) {
            status = taper_ts_type(l->unit, f->file, f->parameters[i].type, &args[i].type);
        }
        l->graph->body->params[i].type = l->listing ? args[i].type : NULL;
    }
    taper_ts_frame outer = {.function = f, .called_from = UINT32_MAX};
    l->frame = &outer;
    if (status == TAPER_OK && hooked) {
        status = run_hooks(l, f->owner, f->owner->pre_hooks, true, args, f->parameter_count, &result);
    }
    if (status == TAPER_OK) {
        status = run_body(l, f, UINT32_MAX, NULL, args, &result);
    }
    if (status == TAPER_OK && hooked) {
        status = run_hooks(l, f->owner, f->owner->hooks, false, args, f->parameter_count, &result);
    }
    taper_free(l->unit->allocator, args, bytes);
    TAPER_TRY(status);
    return taper_block_set_results(l->graph->body, &result.value, 1, l->unit->error);
}

taper_status taper_ts_prepare(taper_ts_lowering *l, taper_ts_function *f)
{
    const taper_allocator *allocator = l->unit->allocator;
    const char *name = l->unit->atoms.names[f->qualified];
    TAPER_TRY(taper_ts_deeper(l, f->body));
    TAPER_TRY(TAPER_GROW(allocator, l->prepared, l->prepared_capacity, l->prepared_count + 1, l->unit->error));
    taper_graph *made;
    TAPER_TRY(taper_graph_create(allocator, name, f->parameter_count, &made, l->unit->error));
    l->prepared[l->prepared_count++] = (taper_ts_prepared){.graph = made};
    const uint32_t number = (uint32_t)l->prepared_count;
    // Saves the caller's state, which is restored below.
    taper_graph *const graph = l->graph;
    taper_block *const block = l->block;
    taper_ts_frame *const frame = l->frame;
    const size_t mark = l->trail_count;
    const uint32_t at = l->at;
    taper_ir_value *pooled[sizeof l->pooled / sizeof *l->pooled];
    memcpy(pooled, l->pooled, sizeof pooled);
    memset(l->pooled, 0, sizeof pooled);
    l->graph = made;
    l->block = made->body;
    TAPER_TRY(lower_body(l, f, false));
    TAPER_TRY(taper_ts_finish_prepared(l, &l->prepared[number - 1].depth));
    memcpy(l->pooled, pooled, sizeof pooled);
    l->graph = graph;
    l->block = block;
    l->frame = frame;
    l->trail_count = mark;
    l->at = at;
    l->depth--;
    f->prepared = number;
    return TAPER_OK;
}

// Removes unused nodes from the end backwards, for example tuples that are only unpacked, and attributes for branches
// that were not taken. raising: true to also remove operators that may raise.
static void drop_unused(taper_block *block, bool raising)
{
    for (taper_node *node = block->last, *previous; node != NULL; node = previous) {
        previous = node->previous;
        for (size_t b = 0; b < node->block_count; b++) {
            drop_unused(node->blocks[b], raising);
        }
        bool used = !taper_node_is_pure(node) || (!raising && node->kind == TAPER_NODE_OP && node->input_count != 0);
        for (size_t i = 0; i < node->output_count; i++) {
            used |= node->outputs[i].uses != NULL;
        }
        if (!used) {
            taper_node_remove(node);
        }
    }
}

taper_status taper_ts_add_function(taper_ts_lowering *l, taper_ts_function *f)
{
    taper_torchscript *r = l->result;
    const taper_allocator *allocator = l->unit->allocator;
    if (f->added) {
        return TAPER_OK;
    }
    f->added = true;
    if (r->count >= TAPER_LIMIT_FUNCTIONS) {
        TAPER_FAIL(l->unit->error, TAPER_ERROR_RESOURCE, "the module has too many functions");
    }
    TAPER_TRY(TAPER_GROW(allocator, r->graphs, r->capacity, r->count + 1, l->unit->error));
    TAPER_TRY(TAPER_GROW(allocator, r->functions, r->function_capacity, r->count + 1, l->unit->error));
    r->graphs[r->count] = NULL;
    r->functions[r->count] = (taper_module_function){.name = ""};
    const size_t at = r->count++;
    TAPER_TRY(describe_function(l, f, &r->functions[at]));
    memset(l->pooled, 0, sizeof l->pooled);
    l->trail_count = 0;
    l->depth = 0;
    TAPER_TRY(taper_graph_create(allocator, r->functions[at].name, f->parameter_count, &r->graphs[at], l->unit->error));
    l->graph = r->graphs[at];
    l->block = l->graph->body;
    const taper_val root = l->unit->module->root;
    const bool hooked = f->owner != NULL && f->atom == TAPER_ATOM_FORWARD && root.tag == TAPER_OBJECT &&
                        strcmp(root.as.object->klass->name, l->unit->atoms.names[f->owner->qualified]) == 0 &&
                        (f->owner->hooks != NULL || f->owner->pre_hooks != NULL);
    TAPER_TRY(lower_body(l, f, hooked));
    if (l->listing) {
        TAPER_TRY(taper_ts_finish_listed(l));
    } else {
        size_t looks = 1000000;
        drop_unused(l->graph->body, true);
        // Values that were attributes of removed objects may be unused now. An operator that makes such a value remains
        // if it may raise an error.
        taper_ts_dissolve_objects(l->graph->body, &looks);
        drop_unused(l->graph->body, false);
    }
    return taper_graph_verify(l->graph, l->unit->error);
}

taper_status taper_ts_add_class(taper_ts_lowering *l, taper_ts_definition *class)
{
    if (class->added) {
        return TAPER_OK;
    }
    class->added = true;
    TAPER_TRY(TAPER_GROW(l->unit->allocator, l->created, l->created_capacity, l->created_count + 1, l->unit->error));
    l->created[l->created_count++] = class;
    return TAPER_OK;
}

static taper_status class_of(taper_ts_lowering *l, const taper_object *object, taper_ts_definition **class)
{
    return taper_ts_find_text(l->unit, object->klass->name, strlen(object->klass->name), class);
}

// Collects the classes of all objects that can be reached from `value`. A container is visited once, even if several
// containers hold it.
static taper_status collect_classes(taper_ts_lowering *l, taper_val value, int depth)
{
    enum { SEEN = -2 }; // a mark that differs from the marks that the heap uses
    if (value.tag == TAPER_OBJECT) {
        taper_ts_definition *class;
        TAPER_TRY(class_of(l, value.as.object, &class));
        if (class != NULL) {
            TAPER_TRY(taper_ts_add_class(l, class));
        }
    } else if (value.tag < TAPER_LIST || value.tag > TAPER_DICT) {
        return TAPER_OK;
    }
    taper_container *container = (taper_container *)value.as.obj;
    if (container->scan == SEEN || depth > TAPER_LIMIT_VALUE_DEPTH) {
        return TAPER_OK;
    }
    container->scan = SEEN;
    size_t count;
    const taper_val *items = taper_container_items(container, &count);
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(collect_classes(l, items[i], depth + 1));
    }
    return TAPER_OK;
}

taper_status taper_ts_lower_module(taper_ts_lowering *l)
{
    taper_module *module = l->unit->module;
    taper_ts_definition *class;
    for (size_t i = 0; i < module->pending_count; i++) {
        TAPER_TRY(class_of(l, module->pending[i].object, &class));
        TAPER_TRY(taper_ts_add_function(l, taper_ts_method(class, TAPER_ATOM_SETSTATE)));
        // PyTorch lists both __getstate__ and __setstate__.
        taper_ts_function *get = l->listing ? taper_ts_method(class, TAPER_ATOM_GETSTATE) : NULL;
        TAPER_TRY(get != NULL ? taper_ts_add_function(l, get) : TAPER_OK);
    }
    TAPER_TRY(class_of(l, module->root.as.object, &class));
    if (l->options->fixed) {
        taper_ts_unit_parse_all(l->unit);
        l->of_root = l->unit->all_parsed;
    }
    for (taper_ts_function *f = class->function; f != NULL; f = f->next) {
        if (l->options->methods == NULL ||
            taper_module_keeps(l->unit->atoms.names[f->atom], l->options->methods, l->options->method_count)) {
            TAPER_TRY(taper_ts_add_function(l, f));
        }
    }
    l->of_root = false;
    TAPER_TRY(collect_classes(l, module->root, 0));
    // Repeats until nothing is added, because the added functions may call more interfaces and make objects of more
    // classes.
    for (bool grown = true; grown;) {
        const size_t before = l->result->count;
        for (size_t c = 0; c < l->created_count; c++) {
            for (taper_ts_function *f = l->created[c]->function; f != NULL; f = f->next) {
                bool wanted = false;
                TAPER_TRY(taper_ts_charge(l, l->interface_count + 8));
                for (size_t m = 0; m < l->interface_count; m++) {
                    wanted |= l->interface_methods[m] == f->atom;
                }
                if (wanted) {
                    TAPER_TRY(taper_ts_add_function(l, f));
                }
            }
        }
        grown = l->result->count != before;
    }
    return TAPER_OK;
}

static taper_status read_and_lower(taper_archive *archive, taper_ts_lowering *l)
{
    taper_ts_unit *unit = l->unit;
    taper_module *module = unit->module;
    taper_ts_objects objects = {.unit = unit, .archive = archive};
    const taper_class_host classes = {
        .user = &objects, .set_state = taper_ts_set_state, .member = taper_ts_pickled_member};
    size_t bytes = 0;
    for (size_t i = 0; i < module->source_count; i++) {
        bytes += module->sources[i].length;
    }
    l->nodes_left = TAPER_LIMIT_INLINED_NODES(
        taper_min_size(bytes, TAPER_LIMIT_SOURCE_RATIO * taper_min_size(bytes, archive->zip.size)));
    TAPER_TRY(taper_script_archive_constants(archive, &classes, &unit->constants, unit->error));
    TAPER_TRY(taper_archive_read_root(archive, &classes, unit->error));
    TAPER_TRY(l->options->ready != NULL ? l->options->ready(l->options->user, unit->error) : TAPER_OK);
    return taper_ts_lower_module(l);
}

// If a class is missing from this build, replaces the error, which the missing class may have caused, by an error that
// names the class.
static taper_status tell_missing(taper_ts_lowering *l, taper_status status)
{
    taper_needs *missing = &l->result->missing;
    if (status != TAPER_OK && status != TAPER_ERROR_UNSUPPORTED && status != TAPER_ERROR_FILE) {
        return status;
    }
    const size_t operators = missing->count;
    TAPER_TRY(taper_needs_add_missing_classes(missing, l->unit->module, l->unit->error));
    const bool classes = missing->count != operators;
    taper_needs_merge(missing);
    const bool told = status != TAPER_OK ? classes : missing->count != 0 && !l->listing;
    return told ? taper_needs_refuse(missing, l->unit->error) : status;
}

void taper_ts_lowering_free(taper_ts_lowering *l)
{
    const taper_allocator *allocator = l->unit->allocator;
    taper_free(allocator, l->trail, l->trail_capacity * sizeof *l->trail);
    for (size_t i = 0; i < l->prepared_count; i++) {
        taper_graph_destroy(l->prepared[i].graph);
    }
    taper_free(allocator, l->prepared, l->prepared_capacity * sizeof *l->prepared);
    taper_free(allocator, l->interface_methods, l->interface_capacity * sizeof *l->interface_methods);
    taper_free(allocator, (void *)l->created, l->created_capacity * sizeof(taper_ts_definition *));
}

static taper_status hand_over(taper_torchscript *result, taper_module *module, taper_error *error)
{
    module->functions = taper_arena_array(&module->arena, result->count, sizeof *module->functions);
    if (module->functions == NULL) {
        return taper_fail_memory(error);
    }
    if (result->count != 0) {
        memcpy(module->functions, result->functions, result->count * sizeof *module->functions);
        memset(result->functions, 0, result->count * sizeof *result->functions);
    }
    module->function_count = result->count;
    return TAPER_OK;
}

taper_status taper_torchscript_load(taper_module *module, taper_registry *registry,
                                    const taper_torchscript_options *options, taper_torchscript *result,
                                    taper_error *error)
{
    taper_archive archive;
    taper_ts_unit unit;
    *result = (taper_torchscript){.missing = {.allocator = module->allocator}};
    TAPER_TRY(taper_archive_open((taper_blob *)module->blob, module, &archive, error));
    taper_status status = taper_script_archive_read(&archive, error);
    if (status == TAPER_OK) {
        status = taper_ts_unit_create(&unit, module, registry, error);
        taper_ts_lowering l = {.unit = &unit, .result = result, .listing = options->listing, .options = options};
        if (status == TAPER_OK) {
            status = tell_missing(&l, read_and_lower(&archive, &l));
        }
        taper_ts_lowering_free(&l);
        taper_ts_unit_free(&unit);
    }
    taper_archive_close(&archive);
    return status == TAPER_OK ? hand_over(result, module, error) : status;
}

void taper_torchscript_free(taper_torchscript *result, const taper_allocator *allocator)
{
    for (size_t i = 0; i < result->count; i++) {
        taper_graph_destroy(result->graphs[i]);
        for (size_t a = 0; a < result->functions[i].argument_count; a++) {
            taper_val_release(result->functions[i].arguments[a].default_value);
        }
    }
    taper_free(allocator, (void *)result->graphs, result->capacity * sizeof(taper_graph *));
    taper_free(allocator, result->functions, result->function_capacity * sizeof *result->functions);
    taper_needs_free(&result->missing);
}
