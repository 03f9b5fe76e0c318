// SPDX-License-Identifier: BSD-2-Clause
// Writes the header for a selective build, from the operators that the model's file needs. The build includes kernels
// for depthwise convolutions of the sizes in the model. Depthwise convolutions of other sizes also work in such a
// build, but run more slowly.
#include <ctype.h>

#include <taper/taper_inspect.h>

#include "base/arguments.h"
#include "frontend/needs.h"
#include "runtime/model.h"

// Appends the id of an operator: "aten::add.Tensor" becomes aten_add_Tensor.
static void add_id(taper_text *text, const char *name)
{
    while (*name != '\0') {
        const size_t separator = strncmp(name, "::", 2) == 0 ? 2 : 1;
        taper_text_format(text, "%c", separator == 1 && isalnum((unsigned char)*name) ? *name : '_');
        name += separator;
    }
}

// Facts from the shapes of weights about the kernels that the model needs. `sizes` has a bit for each kernel size of
// weights that look depthwise, [C, 1, k, k]. Other members tell if weights fit Winograd's transform, or the
// multiplication over planes (backends/cpu/conv_algorithm.c).
typedef struct weight_walk {
    size_t left; // number of values that may still be visited
    unsigned sizes;
    // few: true if there are layers with few outputs and many inputs (backends/cpu/few_outputs.h)
    bool transforms, planes, few;
    // True if there are matrices of half floats, and of int8, which may be weights of linear layers.
    bool halves, integers;
} weight_walk;

enum {
    KERNEL_SIZE_LIMIT = 8,
    VALUES_LOOKED_AT = 1 << 20,
    LEAST_CHANNELS = 16,
    FEW_OUTPUTS = 8,
    MOST_FEW = 4,
    MANY_INPUTS = 64,
    MOST_GROUP = 64,
    MOST_SIDE = 24
};

static void look(weight_walk *walk, taper_val value, int depth);

static void look_at_all(weight_walk *walk, const taper_val *values, size_t count, int depth)
{
    for (size_t i = 0; i < count; i++) {
        look(walk, values[i], depth + 1);
    }
}

static void look(weight_walk *walk, taper_val value, int depth)
{
    if (walk->left == 0 || depth > TAPER_LIMIT_VALUE_DEPTH) {
        walk->sizes = (1u << KERNEL_SIZE_LIMIT) - 1; // the weights are unknown, so all kernel sizes are included
        walk->transforms = walk->planes = walk->few = walk->halves = walk->integers = true;
        return;
    }
    walk->left--;
    switch (value.tag) {
    case TAPER_TENSOR: {
        const taper_tensor *t = value.as.tensor;
        if (t->rank == 4 && t->sizes[1] == 1 && t->sizes[2] == t->sizes[3] && t->sizes[2] < KERNEL_SIZE_LIMIT) {
            walk->sizes |= 1u << t->sizes[2];
        }
        walk->halves |= (t->dtype == TAPER_BF16 || t->dtype == TAPER_F16) && t->rank == 2;
        walk->integers |= t->dtype == TAPER_I8 && (t->rank == 2 || t->rank == 3);
        walk->transforms |= (t->dtype == TAPER_F32 || t->dtype == TAPER_QI8) && t->rank == 4 && t->sizes[2] == 3 &&
                            t->sizes[3] == 3 && t->sizes[0] >= LEAST_CHANNELS && t->sizes[1] >= LEAST_CHANNELS;
        // `planes` is true if there are layers with few outputs, or with few inputs in a group (the second size of a
        // weight). Groups with one input are excluded, because such a weight is of a depthwise convolution. Groups with
        // three inputs are excluded, because the first layer of networks for photographs is computed as a matrix
        // product.
        walk->planes |=
            t->dtype == TAPER_F32 && t->rank == 4 && t->sizes[2] * t->sizes[3] > 1 && t->sizes[2] < MOST_SIDE &&
            t->sizes[3] < MOST_SIDE &&
            (t->sizes[0] < LEAST_CHANNELS || (t->sizes[1] > 1 && t->sizes[1] != 3 && t->sizes[1] < MOST_GROUP));
        // Also sets `planes` for layers with few outputs whose kernels are 1x1.
        walk->planes |= t->dtype == TAPER_F32 && t->rank >= 3 && t->rank <= 4 && t->sizes[0] < FEW_OUTPUTS &&
                        t->sizes[t->rank - 2] == 1 && t->sizes[t->rank - 1] == 1;
        walk->few |= t->dtype == TAPER_F32 && t->rank >= 2 && t->rank <= 4 && t->sizes[0] <= MOST_FEW &&
                     t->sizes[1] >= MANY_INPUTS;
        // Also sets `planes` for depthwise convolutions over one dimension, whose weights have three or four
        // dimensions.
        walk->planes |= t->dtype == TAPER_F32 && t->rank >= 3 && t->rank <= 4 && t->sizes[1] == 1 &&
                        t->sizes[t->rank - 2] == 1 && t->sizes[t->rank - 1] > 1;
        break;
    }
    case TAPER_LIST:
        look_at_all(walk, value.as.list->items, value.as.list->count, depth);
        break;
    case TAPER_TUPLE:
        look_at_all(walk, value.as.tuple->items, value.as.tuple->count, depth);
        break;
    case TAPER_OBJECT:
        look_at_all(walk, value.as.object->slots, value.as.object->count, depth);
        break;
    default:
        break;
    }
}

static void look_at_constants(weight_walk *walk, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_CONSTANT) {
            look(walk, node->constant, 0);
        }
        for (size_t b = 0; b < node->block_count; b++) {
            look_at_constants(walk, node->blocks[b]);
        }
    }
}

static taper_status collect(const taper_model *model, taper_needs *needs, taper_error *error)
{
    if (taper_module_has_bytecode(&model->module)) {
        return taper_needs_collect(&model->module, needs, error);
    }
    *needs = (taper_needs){.allocator = model->module.allocator};
    for (size_t i = 0; i < model->function_count; i++) {
        const taper_function *f = &model->functions[i];
        const taper_graph *graph = f->graph != NULL ? f->graph : f->program.graph;
        if (graph != NULL) {
            TAPER_TRY(taper_needs_add_graph(needs, graph, error));
        }
    }
    taper_needs_merge(needs);
    return TAPER_OK;
}

// Sets *convolves to true if a needed operator computes a convolution; the sizes of weights then decide which kernels
// are needed. Sets *attends to true if a needed operator is attention, which a pass may replace by
// taper::attention_expanded.
static void look_at_needs(const taper_needs *needs, bool *convolves, bool *attends)
{
    *convolves = *attends = false;
    for (size_t i = 0; i < needs->count; i++) {
        const taper_need *need = &needs->items[i];
        const taper_op *op = need->overload != NULL ? taper_row_find(need->name, need->overload) : NULL;
        *convolves = *convolves || (op != NULL && taper_op_has(op, TAPER_OP_CONVOLVES));
        *attends = *attends || (op != NULL && op == TAPER_OP(aten_scaled_dot_product_attention));
    }
}

static void add_kernels(taper_text *text, const taper_model *model, const taper_needs *needs)
{
    bool convolves, attends;
    look_at_needs(needs, &convolves, &attends);
    const taper_module *module = &model->module;
    weight_walk walk = {.left = VALUES_LOOKED_AT};
    look(&walk, module->root, 0);
    for (size_t i = 0; i < model->function_count; i++) {
        if (model->functions[i].graph != NULL) {
            look_at_constants(&walk, model->functions[i].graph->body);
        }
    }
    for (size_t i = 0; i < module->function_count; i++) {
        look_at_all(&walk, module->functions[i].constants, module->functions[i].constant_count, 0);
    }
    if (walk.halves) {
        taper_text_format(text, "#define TAPER_USE_linear_halves 1\n");
    }
    if (walk.integers) {
        taper_text_format(text, "#define TAPER_USE_taper_linear_integers 1\n");
    }
    if (attends) {
        taper_text_format(text, "#define TAPER_USE_taper_attention_expanded 1\n");
    }
    if (!convolves) {
        return;
    }
    for (unsigned size = 3; size < KERNEL_SIZE_LIMIT; size += 2) {
        if ((walk.sizes >> size & 1) != 0) {
            taper_text_format(text, "#define TAPER_USE_dwconv_k%u 1\n", size);
        }
    }
    if (walk.transforms) {
        taper_text_format(text, "#define TAPER_USE_winograd_k3 1\n");
    }
    if (walk.few) {
        taper_text_format(text, "#define TAPER_USE_few_outputs 1\n");
    }
    if (walk.planes) {
        taper_text_format(text, "#define TAPER_USE_conv_planar 1\n");
    }
}

taper_status taper_inspect_config(const taper_model *model, taper_write_function write, void *user, taper_error *error)
{
    TAPER_NEED(model, error);
    TAPER_NEED(write, error);
    static const char native[] = "__torch__.torch.classes.";
    taper_text text = taper_text_make(model->allocator);
    taper_needs needs;
    taper_status status = collect(model, &needs, error);
    for (size_t i = 0; i < needs.count; i++) {
        const taper_need *need = &needs.items[i];
        const bool is_class = need->overload == NULL;
        if (is_class && strncmp(need->name, native, sizeof native - 1) != 0) {
            continue; // the operator is defined in the file itself
        }
        taper_text_format(&text, "#define TAPER_USE_%s", is_class ? "class_" : "");
        add_id(&text, is_class ? need->name + sizeof native - 1 : need->name);
        if (!is_class && need->overload[0] != '\0') {
            taper_text_format(&text, "_");
            add_id(&text, need->overload);
        }
        taper_text_format(&text, " 1\n");
        const size_t length = strlen(need->name);
        if (!is_class && need->overload[0] == '\0' && length > 4 && strcmp(need->name + length - 4, "_out") == 0) {
            // Both the operator "f_out" and the overload "f.out" have the id f_out. If the operator list contains both
            // of them, it uses the id f_out_ for the operator "f_out". This code does not know the list, so it defines
            // TAPER_USE_ for f_out and for f_out_.
            taper_text_format(&text, "#define TAPER_USE_");
            add_id(&text, need->name);
            taper_text_format(&text, "_ 1\n");
        }
    }
    add_kernels(&text, model, &needs);
    if (status == TAPER_OK && text.failed) {
        status = taper_fail_memory(error);
    }
    if (status == TAPER_OK && text.length != 0) {
        write(user, taper_text_get(&text), text.length);
    }
    taper_needs_free(&needs);
    taper_text_free(&text);
    return status;
}
