// SPDX-License-Identifier: BSD-2-Clause
// Lowers calls: functions and methods of the sources, constructors, operators, and special forms with the syntax of a
// call.
#include "frontend/torchscript/list.h"
#include "ops/list/op_names.h"

// ---- functions and methods of the sources

static taper_status default_of(taper_ts_lowering *l, const taper_ts_function *f, const taper_ts_parameter *p,
                               taper_ts_binding *out)
{
    const taper_type *type = NULL;
    taper_val value;
    if (p->type != NULL) {
        TAPER_TRY(taper_ts_type(l->unit, f->file, p->type, &type));
    }
    TAPER_TRY(taper_ts_literal(l->unit, f->file, p->default_value, type, &value));
    const bool none = value.tag == TAPER_NONE;
    TAPER_TRY(taper_ts_bind_constant(l, value, type, out));
    out->actual = none ? &taper_type_none : NULL;
    return TAPER_OK;
}

// Lowers a call of a function. self: the object if it is a method, otherwise NULL.
static taper_status call_function(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_function *f,
                                  const taper_ts_binding *self, const taper_ts_arguments *args, taper_ts_binding *out)
{
    const char *name = l->unit->atoms.names[f->qualified];
    const size_t bytes = ((size_t)f->parameter_count + 1) * sizeof(taper_ts_binding);
    taper_ts_binding *values = taper_alloc_zeroed(l->unit->allocator, bytes);
    if (values == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    taper_status status = TAPER_OK;
    size_t used = 0, next = 0;
    for (uint32_t i = 0; status == TAPER_OK && i < f->parameter_count; i++) {
        const taper_ts_parameter *p = &f->parameters[i];
        const taper_ts_binding *given = NULL;
        if (i == 0 && self != NULL) {
            values[0] = *self;
            continue;
        }
        if (next < args->count && args->keywords[next] == NULL) {
            given = &args->items[next++];
        }
        for (size_t k = next; given == NULL && k < args->count; k++) {
            if (args->keywords[k] != NULL && strcmp(args->keywords[k], l->unit->atoms.names[p->atom]) == 0) {
                given = &args->items[k];
            }
        }
        if (given == NULL) {
            status = p->default_value != NULL ? default_of(l, f, p, &values[i])
                                              : taper_ts_refuse(l, node, "%s is called without its argument '%s'", name,
                                                                l->unit->atoms.names[p->atom]);
            continue;
        }
        used++;
        values[i] = *given;
        const taper_type *type = NULL;
        if (p->type != NULL) {
            status = taper_ts_type(l->unit, f->file, p->type, &type);
        }
        if (status == TAPER_OK && !taper_ts_converts(l, given->type, type, -1, true)) {
            taper_text text = taper_text_make(l->unit->allocator);
            taper_type_print(given->type, &text);
            status = taper_ts_refuse(l, node, "%s: argument '%s' cannot be a %s", name, l->unit->atoms.names[p->atom],
                                     taper_text_get(&text));
            taper_text_free(&text);
        }
        if (status == TAPER_OK) {
            status = taper_ts_convert(l, node, *given, type, -1, &values[i]);
        }
        if (status == TAPER_OK && type != NULL && values[i].value != NULL) {
            // Overloads are selected by the declared types. If an argument has an Optional type, its more specific type
            // is stored in `actual`.
            const taper_type *given_type = values[i].type;
            values[i].type = given->type == NULL ? NULL : type->kind == TAPER_TYPE_CLASS ? given_type : type;
            if (type->kind == TAPER_TYPE_OPTIONAL && values[i].actual == NULL) {
                values[i].actual = given_type;
            }
        }
    }
    if (status == TAPER_OK && used != args->count) {
        status = taper_ts_refuse(l, node, "%s is called with arguments it does not have", name);
    }
    if (status == TAPER_OK) {
        status = taper_ts_inline(l, f, values, out);
    }
    taper_free(l->unit->allocator, values, bytes);
    return status;
}

static taper_status remember_interface(taper_ts_lowering *l, uint32_t method)
{
    TAPER_TRY(taper_ts_charge(l, l->interface_count));
    for (size_t i = 0; i < l->interface_count; i++) {
        if (l->interface_methods[i] == method) {
            return TAPER_OK;
        }
    }
    TAPER_TRY(TAPER_GROW(l->unit->allocator, l->interface_methods, l->interface_capacity, l->interface_count + 1,
                         l->unit->error));
    l->interface_methods[l->interface_count++] = method;
    return TAPER_OK;
}

// Adds a call of a method that is found at run time.
static taper_status call_late(taper_ts_lowering *l, taper_ts_binding object, const char *method,
                              const taper_ts_arguments *args, const taper_type *type, taper_ts_binding *out)
{
    taper_node *call;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_CALL, args->count + 1, 1, &call));
    call->name = taper_arena_string(&l->graph->arena, method, strlen(method));
    if (call->name == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    taper_node_set_input(call, 0, object.value);
    for (size_t i = 0; i < args->count; i++) {
        taper_node_set_input(call, i + 1, args->items[i].value);
    }
    call->outputs[0].type = type;
    *out = (taper_ts_binding){.value = &call->outputs[0], .type = type};
    return TAPER_OK;
}

static taper_status method_call(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding object,
                                uint32_t method, const taper_ts_arguments *args, taper_ts_binding *out)
{
    taper_ts_definition *class;
    const char *name = l->unit->atoms.names[method];
    if (object.type == NULL) {
        return taper_ts_part_of_unknown(l, node, name, out);
    }
    TAPER_TRY(taper_ts_find_type(l->unit, object.type, &class));
    if (class == NULL && object.type->kind == TAPER_TYPE_CLASS) {
        return call_late(l, object, name, args, NULL, out); // the object is of a native class
    }
    TAPER_TRY(taper_ts_charge(l, class != NULL ? class->method_count : 0));
    taper_ts_function *f = class != NULL ? taper_ts_method(class, method) : NULL;
    if (f == NULL) {
        taper_text text = taper_text_make(l->unit->allocator);
        taper_type_print(object.type, &text);
        const taper_status status = taper_ts_refuse(l, node, "%s has no method %s", taper_text_get(&text), name);
        taper_text_free(&text);
        return status;
    }
    if (class->kind == TAPER_TS_AN_INTERFACE) {
        const taper_type *type = &taper_type_none;
        if (f->returns != NULL) {
            TAPER_TRY(taper_ts_type(l->unit, f->file, f->returns, &type));
        }
        TAPER_TRY(remember_interface(l, method));
        return call_late(l, object, name, args, type, out);
    }
    return call_function(l, node, f, &object, args, out);
}

taper_status taper_ts_call_method(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding object,
                                  uint32_t method, const taper_ts_binding *args, size_t count, taper_ts_binding *out)
{
    taper_ts_arguments all = {.count = taper_min_size(count, TAPER_TS_ARGUMENTS)};
    for (size_t i = 0; i < all.count; i++) {
        all.items[i] = args[i];
        all.keywords[i] = NULL;
    }
    return method_call(l, node, object, method, &all, out);
}

// Lowers __torch__.torch.classes.ns.C.__new__(…), which makes an object of a native class.
static taper_status new_native(taper_ts_lowering *l, taper_ts_node *name, taper_ts_binding *out)
{
    taper_node *node;
    const taper_type *type;
    TAPER_TRY(taper_ts_type(l->unit, l->frame->function->file, name, &type));
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_OBJECT, 0, 1, &node));
    node->type = type;
    *out = (taper_ts_binding){.value = &node->outputs[0], .type = type};
    return TAPER_OK;
}

static taper_status new_object(taper_ts_lowering *l, taper_ts_definition *class, taper_ts_binding *out)
{
    taper_node *node;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_OBJECT, 0, 1, &node));
    TAPER_TRY(taper_ts_definition_type(l->unit, class, &node->type));
    node->outputs[0].type = node->type;
    TAPER_TRY(taper_ts_add_class(l, class));
    *out = (taper_ts_binding){.value = &node->outputs[0], .type = node->type};
    return TAPER_OK;
}

static taper_status construct(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_definition *class,
                              const taper_ts_arguments *args, taper_ts_binding *out)
{
    if (class->kind == TAPER_TS_A_NAMED_TUPLE) {
        const taper_type *type;
        TAPER_TRY(taper_ts_definition_type(l->unit, class, &type));
        if (type->count != args->count) {
            return taper_ts_refuse(l, node, "%s has %u fields, %zu are given", type->name, (unsigned)type->count,
                                   args->count);
        }
        TAPER_TRY(taper_ts_make_tuple(l, args->items, args->count, out));
        out->value->node->type = type;
        out->type = type;
        return TAPER_OK;
    }
    if (class->kind != TAPER_TS_A_CLASS) {
        return taper_ts_refuse(l, node, "%s cannot be called", l->unit->atoms.names[class->qualified]);
    }
    taper_ts_binding made;
    TAPER_TRY(new_object(l, class, out));
    return taper_ts_method(class, TAPER_ATOM_INIT) != NULL ? method_call(l, node, *out, TAPER_ATOM_INIT, args, &made)
                                                           : TAPER_OK;
}

// ---- special forms

static taper_status wrong_form(const taper_ts_lowering *l, const taper_ts_node *node)
{
    return taper_ts_refuse(l, node, "unsupported use of %s", l->unit->atoms.names[node->child->atom]);
}

static uint32_t file_of(const taper_ts_lowering *l)
{
    return l->frame->function->file;
}

static taper_status annotate(taper_ts_lowering *l, taper_ts_node *node, bool convert, taper_ts_binding *out)
{
    taper_ts_node *first = node->child->next;
    const taper_type *type;
    if (first == NULL || first->next == NULL) {
        return wrong_form(l, node);
    }
    TAPER_TRY(taper_ts_type(l->unit, file_of(l), first, &type));
    TAPER_TRY(taper_ts_value(l, first->next, type, out));
    if (convert) {
        TAPER_TRY(taper_ts_convert(l, node, *out, type, -1, out));
    } else if (l->listing && out->type != NULL) {
        TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_UNCHECKED_CAST, out, NULL, 1, out));
        out->value->type = taper_value_constant(out->value) == NULL ? type : NULL;
    }
    out->type = type;
    out->actual = NULL;
    return TAPER_OK;
}

// For listing: returns the result of isinstance if types or a constant decide it, as PyTorch's compiler does, otherwise
// -1.
static int known_instance(taper_ts_lowering *l, const taper_ts_binding *value, const taper_type *const *types,
                          size_t count)
{
    const taper_type *type = taper_ts_type_in_graph(value->value);
    type = taper_value_constant(value->value) != NULL && type != NULL ? type : value->type;
    if (type == NULL || type->kind == TAPER_TYPE_ANY) {
        return -1;
    }
    const bool several = type->kind == TAPER_TYPE_UNION || type->kind == TAPER_TYPE_OPTIONAL;
    const size_t possible = several ? type->count + (type->kind == TAPER_TYPE_OPTIONAL) : 1;
    size_t fits = 0;
    for (size_t i = 0; i < possible; i++) {
        const taper_type *one = !several ? type : i < type->count ? type->items[i] : &taper_type_none;
        bool fit = false;
        for (size_t t = 0; t < count && !fit; t++) {
            fit = taper_ts_subtype(l, one, types[t]);
        }
        fits += fit;
    }
    return fits == 0 ? 0 : fits == possible ? 1 : -1;
}

static taper_status is_instance(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *out)
{
    taper_ts_node *first = node->child->next;
    taper_ts_binding value;
    taper_node *made;
    if (first == NULL || first->next == NULL) {
        return wrong_form(l, node);
    }
    TAPER_TRY(taper_ts_value(l, first, NULL, &value));
    taper_ts_node *types = first->next;
    const bool several = (types->kind == TAPER_TS_TUPLE_OF || types->kind == TAPER_TS_ITEMS) && types->child != NULL;
    size_t count = 0;
    for (taper_ts_node *t = several ? types->child : types; t != NULL; t = several ? t->next : NULL) {
        count++;
    }
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_ISINSTANCE, 1, 1, &made));
    const taper_type **list = taper_arena_array(&l->graph->arena, count, sizeof *list);
    if (list == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    count = 0;
    for (taper_ts_node *t = several ? types->child : types; t != NULL; t = several ? t->next : NULL) {
        TAPER_TRY(taper_ts_type(l->unit, file_of(l), t, &list[count++]));
    }
    const int known = l->listing ? known_instance(l, &value, list, count) : -1;
    if (known >= 0) {
        taper_node_remove(made);
        TAPER_TRY(taper_ts_bind_constant(l, taper_val_bool(known != 0), &taper_type_bool, out));
        return TAPER_OK;
    }
    made->types = list;
    made->type_count = (uint32_t)count;
    taper_node_set_input(made, 0, value.value);
    made->outputs[0].type = &taper_type_bool;
    *out = (taper_ts_binding){.value = &made->outputs[0], .type = &taper_type_bool};
    return TAPER_OK;
}

// Lowers x.tolist(), which is always inside an annotation with the type of the list.
static taper_status to_list(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding tensor,
                            const taper_type *hint, taper_ts_binding *out)
{
    int64_t dims = 0;
    const taper_type *element = hint;
    while (element != NULL && element->kind == TAPER_TYPE_LIST) {
        element = element->items[0];
        dims++;
    }
    const int64_t kind = element == NULL                       ? -1
                         : element->kind == TAPER_TYPE_INT     ? 0
                         : element->kind == TAPER_TYPE_FLOAT   ? 1
                         : element->kind == TAPER_TYPE_BOOL    ? 2
                         : element->kind == TAPER_TYPE_COMPLEX ? 3
                                                               : -1;
    if (kind < 0) {
        return taper_ts_refuse(l, node, "tolist() without the type of its result");
    }
    taper_ts_binding args[3] = {tensor};
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(dims), &taper_type_int, &args[1]));
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(kind), &taper_type_int, &args[2]));
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_TOLIST, args, NULL, 3, out));
    out->type = hint;
    return TAPER_OK;
}

// Runs a fork without starting a thread: the future is the result itself.
static taper_status fork(taper_ts_lowering *l, taper_ts_node *node, const taper_ts_arguments *args,
                         taper_ts_binding *out)
{
    taper_ts_binding callee;
    if (node->child->next == NULL) {
        return wrong_form(l, node);
    }
    TAPER_TRY(taper_ts_lower(l, node->child->next, NULL, &callee));
    if (callee.nested != NULL) {
        taper_ts_frame *frame = l->frame;
        const bool returned = frame->returned, closed = frame->closed;
        const taper_ts_binding result = frame->result;
        const size_t mark = l->trail_count;
        frame->returned = false;
        frame->closed = true; // a return leaves only the nested function
        frame->result = (taper_ts_binding){.value = NULL};
        TAPER_TRY(taper_ts_deeper(l, node));
        TAPER_TRY(taper_ts_statements(l, callee.nested->body));
        l->depth--;
        *out = frame->result;
        frame->returned = returned;
        frame->closed = closed;
        frame->result = result;
        taper_ts_undo(l, mark);
        if (out->value == NULL) {
            TAPER_TRY(taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, out));
        }
    } else if (callee.definition != NULL && callee.definition->kind == TAPER_TS_A_FUNCTION) {
        TAPER_TRY(call_function(l, node, callee.definition->function, NULL, args, out));
    } else {
        return wrong_form(l, node);
    }
    const taper_type *const inner = out->type;
    if (inner != NULL) {
        TAPER_TRY(taper_type_make(l->unit->module->types, TAPER_TYPE_FUTURE, "Future", &inner, NULL, 1, &out->type,
                                  l->unit->error));
    }
    return TAPER_OK;
}

// Arguments are on the heap, because nested calls would otherwise need too much of the C stack.
static void free_arguments(taper_ts_lowering *l, taper_ts_arguments *args)
{
    taper_free(l->unit->allocator, args, sizeof *args);
}

// Reads the arguments of a call into *args, which the caller frees.
static taper_status read_arguments(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_node *first,
                                   taper_ts_arguments **args)
{
    taper_ts_arguments *read = taper_alloc(l->unit->allocator, sizeof *read);
    taper_status status = read != NULL ? TAPER_OK : taper_fail_memory(l->unit->error);
    size_t count = 0;
    for (taper_ts_node *a = first; status == TAPER_OK && a != NULL; a = a->next) {
        if (count == TAPER_TS_ARGUMENTS) {
            status = taper_ts_refuse(l, node, "the call has more than %d arguments", TAPER_TS_ARGUMENTS);
            break;
        }
        const bool keyword = a->kind == TAPER_TS_KEYWORD;
        read->keywords[count] = keyword ? l->unit->atoms.names[a->atom] : NULL;
        status = taper_ts_value(l, keyword ? a->child : a, NULL, &read->items[count++]);
    }
    if (status != TAPER_OK) {
        free_arguments(l, read);
        return status;
    }
    read->count = count;
    *args = read;
    return TAPER_OK;
}

// Lowers int(x), float(x) and similar calls. Makes no node if x already has the type.
static taper_status cast(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *out)
{
    static const struct {
        uint32_t atom;
        const taper_type *type;
        const char *name;
    } casts[] = {{TAPER_ATOM_INT, &taper_type_int, TAPER_NAME_INT},
                 {TAPER_ATOM_FLOAT, &taper_type_float, TAPER_NAME_FLOAT},
                 {TAPER_ATOM_BOOL, &taper_type_bool, TAPER_NAME_BOOL},
                 {TAPER_ATOM_STR, &taper_type_string, TAPER_NAME_STR},
                 {TAPER_ATOM_COMPLEX, &taper_type_complex, TAPER_NAME_COMPLEX},
                 {TAPER_ATOM_PRINT, NULL, TAPER_NAME_PRINT},
                 {TAPER_ATOM_SORTED, NULL, TAPER_NAME_SORTED}};
    size_t i = 0;
    while (i < sizeof casts / sizeof casts[0] && casts[i].atom != node->child->atom) {
        i++;
    }
    if (i == sizeof casts / sizeof casts[0]) {
        return taper_ts_refuse(l, node, "%s is not known", l->unit->atoms.names[node->child->atom]);
    }
    taper_ts_arguments *args;
    taper_status status = TAPER_OK;
    TAPER_TRY(read_arguments(l, node, node->child->next, &args));
    const bool one = args->count == 1 && casts[i].type != NULL;
    if (one && args->items[0].type == casts[i].type) {
        *out = args->items[0];
    } else if (!one || !taper_ts_number_behind(l, args->items[0], casts[i].type, out)) {
        status = taper_ts_call_operator(l, node, casts[i].name, args, out);
    }
    free_arguments(l, args);
    return status;
}

// Lowers name(…), where name is not a variable.
static taper_status call_name(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *out)
{
    taper_ts_node *first = node->child->next;
    const taper_type *type;
    switch (node->child->atom) {
    case TAPER_ATOM_ANNOTATE:
        return annotate(l, node, true, out);
    case TAPER_ATOM_UNCHECKED_CAST:
        return annotate(l, node, false, out);
    case TAPER_ATOM_UNINITIALIZED:
        if (first == NULL) {
            return wrong_form(l, node);
        }
        TAPER_TRY(taper_ts_type(l->unit, file_of(l), first, &type));
        return taper_ts_bind_constant(l, taper_val_none(), type, out);
    case TAPER_ATOM_ISINSTANCE:
        return is_instance(l, node, out);
    case TAPER_ATOM_FORK: {
        taper_ts_arguments *args;
        TAPER_TRY(read_arguments(l, node, first != NULL ? first->next : NULL, &args));
        const taper_status status = fork(l, node, args, out);
        free_arguments(l, args);
        return status;
    }
    default:
        return cast(l, node, out);
    }
}

// ---- calls of any kind

static taper_status call_definition(taper_ts_lowering *l, taper_ts_node *node, taper_ts_definition *d,
                                    taper_ts_binding *out)
{
    taper_ts_arguments *args;
    TAPER_TRY(read_arguments(l, node, node->child->next, &args));
    const taper_status status = d->kind == TAPER_TS_A_FUNCTION ? call_function(l, node, d->function, NULL, args, out)
                                                               : construct(l, node, d, args, out);
    free_arguments(l, args);
    return status;
}

static taper_status operator_form(taper_ts_lowering *l, taper_ts_node *node, const char *text, size_t length,
                                  taper_ts_binding *out)
{
    // The names torch.add and torch.autograd.grad mean aten::add and aten::grad; ops.prim.dtype means prim::dtype.
    static const char autograd[] = "torch.autograd.";
    char name[256];
    const bool torch = memcmp(text, "torch.", 6) == 0;
    const char *rest = text + (torch ? 6 : 4);
    if (length > sizeof autograd - 1 && memcmp(text, autograd, sizeof autograd - 1) == 0) {
        rest = text + sizeof autograd - 1;
    }
    const size_t rest_length = length - (size_t)(rest - text);
    const char *dot = memchr(rest, '.', rest_length);
    if (rest_length + 8 > sizeof name || (dot == NULL && !torch)) {
        return taper_ts_refuse(l, node, "%.*s is no operator", (int)taper_min_size(length, 200), text);
    }
    size_t at = 0;
    const size_t space = torch ? 4 : (size_t)(dot - rest);
    memcpy(name, torch ? "aten" : rest, space);
    at = space;
    memcpy(name + at, "::", 2);
    at += 2;
    const char *base = torch ? rest : dot + 1;
    memcpy(name + at, base, (size_t)(text + length - base));
    name[at + (size_t)(text + length - base)] = '\0';
    taper_ts_node *first = node->child->next;
    if (strcmp(name, TAPER_NAME_DEVICE) == 0 && first != NULL && first->next == NULL &&
        first->kind == TAPER_TS_STRING) {
        taper_val device;
        TAPER_TRY(taper_ts_literal(l->unit, file_of(l), node, NULL, &device));
        return taper_ts_bind_constant(l, device, &taper_type_device, out);
    }
    taper_ts_arguments *args;
    taper_status status = TAPER_OK;
    TAPER_TRY(read_arguments(l, node, first, &args));
    if (strcmp(name, TAPER_NAME_WAIT) == 0 && args->count == 1) {
        *out = args->items[0];
        if (out->type != NULL && out->type->kind == TAPER_TYPE_FUTURE) {
            out->type = out->type->items[0];
        }
    } else {
        status = taper_ts_call_operator(l, node, name, args, out);
    }
    free_arguments(l, args);
    return status;
}

static bool is_free(const taper_ts_lowering *l, const taper_ts_node *name)
{
    return name->kind == TAPER_TS_NAME && !taper_ts_is_bound(&l->frame->locals[name->slot]);
}

static taper_status call_attribute(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint,
                                   taper_ts_binding *out)
{
    taper_ts_node *callee = node->child;
    const taper_ts_node *root = callee;
    const char *text;
    size_t length;
    while (root->kind == TAPER_TS_ATTRIBUTE) {
        root = root->child;
    }
    if (is_free(l, root) && (root->atom == TAPER_ATOM_TORCH || root->atom == TAPER_ATOM_OPS)) {
        if (!taper_ts_dotted(l->unit, file_of(l), callee, &text, &length)) {
            return taper_ts_refuse(l, node, "this is no operator");
        }
        return operator_form(l, node, text, length, out);
    }
    taper_ts_binding object;
    if (is_free(l, root) && root->atom == TAPER_ATOM_PROGRAM) {
        if (callee->atom == TAPER_ATOM_NEW) { // the form __torch__.C.__new__(__torch__.C)
            if (taper_ts_dotted(l->unit, file_of(l), callee->child, &text, &length) &&
                length > sizeof TAPER_TS_NATIVE - 1 && memcmp(text, TAPER_TS_NATIVE, sizeof TAPER_TS_NATIVE - 1) == 0) {
                return new_native(l, callee->child, out);
            }
            TAPER_TRY(taper_ts_lower(l, callee->child, NULL, &object));
            if (object.definition == NULL || object.definition->kind != TAPER_TS_A_CLASS) {
                return taper_ts_refuse(l, node, "the called name is not a class");
            }
            return new_object(l, object.definition, out);
        }
        TAPER_TRY(taper_ts_lower(l, callee, NULL, &object));
        if (object.definition != NULL) {
            return call_definition(l, node, object.definition, out);
        }
    }
    TAPER_TRY(taper_ts_value(l, callee->child, NULL, &object));
    if (callee->atom == TAPER_ATOM_TOLIST && (object.type == NULL || object.type->kind == TAPER_TYPE_TENSOR)) {
        // The object is evaluated a second time, as in PyTorch, which matters if the evaluation has effects.
        TAPER_TRY(taper_ts_value(l, callee->child, NULL, &object));
        return to_list(l, node, object, hint, out);
    }
    taper_ts_arguments *args;
    TAPER_TRY(read_arguments(l, node, node->child->next, &args));
    const taper_status status = method_call(l, node, object, callee->atom, args, out);
    free_arguments(l, args);
    return status;
}

taper_status taper_ts_call(taper_ts_lowering *l, taper_ts_node *node, const taper_type *hint, taper_ts_binding *out)
{
    taper_ts_node *callee = node->child;
    if (callee->kind == TAPER_TS_ATTRIBUTE) {
        return call_attribute(l, node, hint, out);
    }
    if (callee->kind == TAPER_TS_NAME && is_free(l, callee) && callee->atom != TAPER_ATOM_GETATTR) {
        return call_name(l, node, out);
    }
    if (callee->kind == TAPER_TS_NAME && is_free(l, callee)) { // the form getattr(object, "name")
        taper_ts_node *object = callee->next, *name = object != NULL ? object->next : NULL;
        if (name == NULL || name->kind != TAPER_TS_STRING) {
            return wrong_form(l, node);
        }
        taper_ts_node attribute = {.kind = TAPER_TS_ATTRIBUTE, .at = node->at, .end = node->at, .child = object};
        TAPER_TRY(taper_ts_atom(&l->unit->atoms, name->as.text, name->length, &attribute.atom, l->unit->error));
        return taper_ts_lower(l, &attribute, NULL, out);
    }
    taper_ts_binding function;
    TAPER_TRY(taper_ts_lower(l, callee, NULL, &function));
    if (function.definition == NULL) {
        return taper_ts_refuse(l, node, "something is called that is no function");
    }
    return call_definition(l, node, function.definition, out);
}
