// SPDX-License-Identifier: BSD-2-Clause
// Prints graphs in a form that resembles PyTorch's: %3 : Tensor = aten::add.Tensor(%1, %2, 1). Constants are printed at
// their uses. A second, exact form omits nothing: a graph that is parsed from it (tests/passes) equals the printed
// graph.
#include "ir/graph.h"
#include "ir/tensor_def.h"

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
                                                             "taper::segment"};
    return (unsigned)kind < TAPER_NODE_KIND_COUNT ? names[kind] : "?";
}

enum {
    SHORT_LIST = 16, // number of items that the short form prints
    MOST_ELEMENTS = 64,
    DEEPEST_VALUE = 8
};

typedef struct printer {
    taper_text *text;
    bool exact;
    uint32_t *numbers; // number of each value in the order of definition, by value id; NULL to print ids
    size_t value_count;
    uint32_t next;
} printer;

static uint32_t number_of(const printer *p, const taper_ir_value *value)
{
    return p->numbers != NULL && value->id < p->value_count ? p->numbers[value->id] : value->id;
}

static void print_type(const printer *p, const taper_type *type)
{
    if (!p->exact || type->kind != TAPER_TYPE_TUPLE || type->name == NULL) {
        taper_type_print(type, p->text);
        return;
    }
    taper_text_format(p->text, "%s[NamedTuple, [", type->name);
    for (uint32_t i = 0; i < type->count; i++) {
        taper_text_format(p->text, "%s[%s, ", i != 0 ? "," : "", type->fields[i]);
        taper_type_print(type->items[i], p->text);
        taper_text_string(p->text, "]");
    }
    taper_text_string(p->text, "]]");
}

// ---- constants

static void print_string(const printer *p, const taper_string *string)
{
    if (!p->exact) {
        taper_text_format(p->text, "\"%.60s\"", string->data);
        return;
    }
    taper_text_string(p->text, "\"");
    for (size_t i = 0; i < string->length; i++) {
        const unsigned char c = (unsigned char)string->data[i];
        if (c == '"' || c == '\\') {
            taper_text_format(p->text, "\\%c", c);
        } else if (c < ' ') {
            taper_text_format(p->text, "\\x%02x", c);
        } else {
            taper_text_append(p->text, (const char *)&c, 1);
        }
    }
    taper_text_string(p->text, "\"");
}

// Prints the elements in the order of their indices, up to a limit.
static void print_elements(const printer *p, const taper_tensor *tensor)
{
    const int64_t count = taper_tensor_numel(tensor);
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    taper_text_string(p->text, count != 0 ? " =" : "");
    for (int64_t n = 0; n < count && n < MOST_ELEMENTS; n++) {
        int64_t at = 0;
        for (int64_t rest = n, d = (int64_t)tensor->rank - 1; d >= 0; d--) {
            at += rest % tensor->sizes[d] * tensor->strides[d];
            rest /= tensor->sizes[d];
        }
        taper_text_string(p->text, n != 0 ? ", " : " ");
        if (taper_dtype_is_float(dtype)) {
            taper_text_double(p->text, taper_load_double(dtype, taper_tensor_data(tensor), at));
        } else {
            taper_text_format(p->text, "%lld", (long long)taper_load_int(dtype, taper_tensor_data(tensor), at));
        }
    }
    taper_text_string(p->text, count > MOST_ELEMENTS ? ", ..." : "");
}

static void print_tensor(const printer *p, const taper_tensor *tensor)
{
    taper_text_format(p->text, p->exact ? "<Tensor %s [" : "<%s", taper_dtype_name((taper_dtype)tensor->dtype));
    for (unsigned i = 0; i < tensor->rank; i++) {
        taper_text_format(p->text, "%s%lld", p->exact ? (i == 0 ? "" : ", ") : (i == 0 ? " " : "x"),
                          (long long)tensor->sizes[i]);
    }
    if (p->exact) {
        taper_text_string(p->text, "]");
        if (!taper_dtype_is_quantized((taper_dtype)tensor->dtype) &&
            !taper_dtype_is_complex((taper_dtype)tensor->dtype)) {
            print_elements(p, tensor);
        }
    }
    taper_text_string(p->text, ">");
}

static void print_constant(const printer *p, taper_val value, bool frozen, int depth);

static void print_items(const printer *p, const taper_val *items, size_t count, int depth)
{
    for (size_t i = 0; i < count; i++) {
        taper_text_string(p->text, i != 0 ? ", " : "");
        print_constant(p, items[i], false, depth + 1);
    }
}

static void print_list_short(const printer *p, const taper_list *list)
{
    taper_text_string(p->text, "[");
    for (size_t i = 0; i < list->count && i < SHORT_LIST; i++) {
        taper_text_string(p->text, i != 0 ? ", " : "");
        if (list->items[i].tag == TAPER_LIST) {
            taper_text_string(p->text, "[...]");
        } else {
            print_constant(p, list->items[i], false, 1);
        }
    }
    taper_text_string(p->text, list->count > SHORT_LIST ? ", ...]" : "]");
}

static void print_container(const printer *p, taper_val value, bool frozen, int depth)
{
    taper_text_string(p->text, value.tag == TAPER_TUPLE ? "(" : frozen ? "<frozen " : "<");
    switch (value.tag) {
    case TAPER_LIST:
        taper_text_string(p->text, value.as.list->element != NULL ? "List[" : "List");
        if (value.as.list->element != NULL) {
            print_type(p, value.as.list->element);
            taper_text_string(p->text, "]");
        }
        taper_text_string(p->text, ": ");
        print_items(p, value.as.list->items, value.as.list->count, depth);
        break;
    case TAPER_TUPLE:
        print_items(p, value.as.tuple->items, value.as.tuple->count, depth);
        break;
    case TAPER_DICT:
        taper_text_string(p->text, "Dict: ");
        for (size_t i = 0; i < value.as.dict->count; i++) {
            taper_text_string(p->text, i != 0 ? ", " : "");
            print_constant(p, taper_dict_key(value.as.dict, i), false, depth + 1);
            taper_text_string(p->text, ": ");
            print_constant(p, taper_dict_value(value.as.dict, i), false, depth + 1);
        }
        break;
    default:
        taper_text_format(p->text, "Object %s: ", value.as.object->klass != NULL ? value.as.object->klass->name : "?");
        print_items(p, value.as.object->slots, value.as.object->count, depth);
    }
    taper_text_string(p->text, value.tag == TAPER_TUPLE ? ")" : ">");
}

static void print_constant(const printer *p, taper_val value, bool frozen, int depth)
{
    taper_text *text = p->text;
    const bool container =
        value.tag == TAPER_LIST || value.tag == TAPER_TUPLE || value.tag == TAPER_DICT || value.tag == TAPER_OBJECT;
    if (p->exact && container && depth < DEEPEST_VALUE) {
        print_container(p, value, frozen, depth);
        return;
    }
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
        print_string(p, value.as.string);
        break;
    case TAPER_DEVICE:
        taper_text_format(text, "<Device %lld>", (long long)value.as.i);
        break;
    case TAPER_TENSOR:
        print_tensor(p, value.as.tensor);
        break;
    case TAPER_LIST:
        print_list_short(p, value.as.list);
        break;
    default:
        taper_text_string(text, taper_val_kind_name(value));
        break;
    }
}

// Returns true if the exact form prints the constant on its own line, which shows that several nodes share it.
static bool has_own_line(const printer *p, const taper_node *constant)
{
    const taper_val value = constant->constant;
    return p->exact && taper_val_is_object(value) && value.tag != TAPER_STRING && !constant->own.constant.frozen &&
           constant->outputs[0].uses != NULL && !taper_value_used_once(&constant->outputs[0]);
}

// ---- nodes

static void define(printer *p, const taper_ir_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (p->numbers != NULL && values[i].id < p->value_count) {
            p->numbers[values[i].id] = p->next++;
        }
        taper_text_format(p->text, "%s%%%u", i != 0 ? ", " : "", number_of(p, &values[i]));
        if (values[i].type != NULL) {
            taper_text_string(p->text, " : ");
            print_type(p, values[i].type);
        }
    }
}

static void print_inputs(const printer *p, const taper_ir_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_text_string(p->text, i != 0 ? ", " : "");
        const taper_ir_value *value = inputs[i].value;
        const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
        if (constant != NULL && !has_own_line(p, constant)) {
            print_constant(p, constant->constant, constant->own.constant.frozen, 0);
        } else if (value != NULL) {
            taper_text_format(p->text, "%%%u", number_of(p, value));
        } else {
            taper_text_string(p->text, "-");
        }
    }
}

// Prints the facts about a node, apart from its kind, in brackets.
static void print_detail(const printer *p, const taper_node *node)
{
    const bool attribute = node->kind == TAPER_NODE_GET_ATTR || node->kind == TAPER_NODE_SET_ATTR;
    if (node->name != NULL) {
        taper_text_format(p->text, "[%s]", node->name);
    } else if (attribute) {
        taper_text_format(p->text, "[%lld]", (long long)node->own.slot);
    } else if (node->kind == TAPER_NODE_TUPLE_SLICE) {
        taper_text_format(p->text, "[%lld:%lld]", (long long)node->own.slice.begin, (long long)node->own.slice.end);
    } else if (node->type != NULL || node->type_count != 0) {
        taper_text_string(p->text, "[");
        for (uint32_t i = 0; i < node->type_count; i++) {
            taper_text_string(p->text, i != 0 ? ", " : "");
            print_type(p, node->types[i]);
        }
        if (node->type != NULL) {
            print_type(p, node->type);
        }
        taper_text_string(p->text, "]");
    }
}

static void print_block(printer *p, const taper_block *block, int depth)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_CONSTANT && !has_own_line(p, node)) {
            continue; // a constant is printed where it is used
        }
        taper_text_format(p->text, "%*s", 2 * depth, "");
        define(p, node->outputs, node->output_count);
        taper_text_string(p->text, node->output_count != 0 ? " = " : "");
        if (node->op_name != NULL) {
            taper_text_append(p->text, node->op_name, strcspn(node->op_name, "("));
        } else {
            taper_text_string(p->text, taper_node_kind_name((taper_node_kind)node->kind));
        }
        print_detail(p, node);
        taper_text_string(p->text, "(");
        if (node->kind == TAPER_NODE_CONSTANT) {
            print_constant(p, node->constant, node->own.constant.frozen, 0);
        }
        print_inputs(p, node->inputs, node->input_count);
        taper_text_string(p->text, ")\n");
        for (size_t b = 0; b < node->block_count; b++) {
            taper_text_format(p->text, "%*sblock%zu(", 2 * depth + 2, "", b);
            define(p, node->blocks[b]->params, node->blocks[b]->param_count);
            taper_text_string(p->text, "):\n");
            print_block(p, node->blocks[b], depth + 2);
        }
    }
    taper_text_format(p->text, "%*s%s (", 2 * depth, "", block->parent == NULL ? "return" : "->");
    print_inputs(p, block->results, block->result_count);
    taper_text_string(p->text, ")\n");
}

static void print_graph(printer *p, const taper_graph *graph)
{
    taper_text_format(p->text, "graph %s(", graph->name);
    define(p, graph->body->params, graph->body->param_count);
    taper_text_string(p->text, "):\n");
    print_block(p, graph->body, 1);
}

void taper_graph_print(const taper_graph *graph, taper_text *text)
{
    printer p = {.text = text};
    print_graph(&p, graph);
}

void taper_graph_print_exact(const taper_graph *graph, taper_text *text)
{
    const taper_allocator *allocator = graph->arena.allocator;
    const size_t bytes = ((size_t)graph->value_count + 1) * sizeof(uint32_t);
    printer p = {.text = text, .exact = true, .value_count = graph->value_count};
    p.numbers = taper_alloc_zeroed(allocator, bytes);
    if (p.numbers == NULL) {
        text->failed = true;
        return;
    }
    print_graph(&p, graph);
    taper_free(allocator, p.numbers, bytes);
}
