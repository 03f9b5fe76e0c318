// SPDX-License-Identifier: BSD-2-Clause
// Checks of the number of dimensions, as scripted batch norm makes them ("expected 4D input"). The rank of a value is
// that of the value it was computed from, by operators that keep it; behind a check that raises it is a known number,
// and further checks go when constants are folded.
#include "compiler/pass.h"

typedef struct rank_of {
    const taper_ir_value *source; // has the same rank; NULL: the value itself
    int64_t rank;                 // of a source that was checked
    bool known;
} rank_of;

typedef struct ranks {
    taper_compilation *compilation;
    rank_of *values; // by id
    size_t value_count;
    uint32_t *learned; // ids of the sources that are known here; those of a block end with it
    size_t learned_count, learned_capacity;
} ranks;

static const taper_ir_value *source_of(const ranks *r, const taper_ir_value *value)
{
    const taper_ir_value *source = value->id < r->value_count ? r->values[value->id].source : NULL;
    return source != NULL ? source : value;
}

static void set_source(ranks *r, const taper_ir_value *value, const taper_ir_value *source)
{
    if (value->id < r->value_count) {
        r->values[value->id].source = source;
    }
}

static const char *const packed_convolutions[] = {
    "prepacked::conv2d_clamp_run", "prepacked::conv2d_transpose_clamp_run", "vulkan_prepack::run_conv2d_context",
    "vulkan_prepack::run_tconv2d_context", "metal_prepack::conv2d_run"};
enum { PACKED_CONVOLUTIONS = sizeof packed_convolutions / sizeof packed_convolutions[0] };

// Their first result has as many dimensions as their first argument.
static bool keeps_rank(const taper_node *node)
{
    static const char *const names[] = {"aten::conv1d",
                                        "aten::conv2d",
                                        "aten::conv3d",
                                        "aten::batch_norm",
                                        "aten::instance_norm",
                                        "aten::group_norm",
                                        "aten::layer_norm",
                                        "aten::linear",
                                        "aten::relu",
                                        "aten::relu_",
                                        "aten::relu6",
                                        "aten::relu6_",
                                        "aten::hardtanh",
                                        "aten::hardtanh_",
                                        "aten::hardswish",
                                        "aten::hardswish_",
                                        "aten::hardsigmoid",
                                        "aten::hardsigmoid_",
                                        "aten::silu",
                                        "aten::silu_",
                                        "aten::gelu",
                                        "aten::sigmoid",
                                        "aten::sigmoid_",
                                        "aten::tanh",
                                        "aten::elu",
                                        "aten::leaky_relu",
                                        "aten::leaky_relu_",
                                        "aten::prelu",
                                        "aten::dropout",
                                        "aten::dropout_",
                                        "aten::max_pool1d",
                                        "aten::max_pool2d",
                                        "aten::max_pool3d",
                                        "aten::avg_pool1d",
                                        "aten::avg_pool2d",
                                        "aten::avg_pool3d",
                                        "aten::add.Scalar",
                                        "aten::sub.Scalar",
                                        "aten::mul.Scalar",
                                        "aten::div.Scalar",
                                        "aten::add_",
                                        "aten::mul_",
                                        "aten::contiguous",
                                        "aten::softmax",
                                        "aten::log_softmax",
                                        "aten::clamp",
                                        "aten::neg",
                                        "aten::pixel_shuffle",
                                        "aten::permute",
                                        "aten::transpose.int",
                                        "aten::adaptive_avg_pool1d",
                                        "aten::adaptive_avg_pool2d",
                                        "aten::adaptive_avg_pool3d",
                                        "aten::chunk",
                                        "aten::split"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (taper_node_is(node, names[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < PACKED_CONVOLUTIONS; i++) {
        if (taper_node_is(node, packed_convolutions[i])) {
            return true;
        }
    }
    return false;
}

// ---- of one value

static int64_t length_of(const taper_ir_value *list)
{
    const taper_node *node = list->node;
    return node != NULL && node->kind == TAPER_NODE_LIST ? node->input_count
           : node != NULL && node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_LIST
               ? (int64_t)node->constant.as.list->count
               : -1;
}

// The operator's own rank of its result, whatever it is given; -1: there is none.
static int64_t rank_of_result(const taper_node *node)
{
    double start, end;
    if (taper_node_is(node, "aten::view") || taper_node_is(node, "aten::reshape") ||
        taper_node_is(node, "aten::permute")) {
        return length_of(taper_node_in(node, 1));
    }
    if (taper_node_is(node, "aten::flatten.using_ints")) {
        return taper_node_constant_is_number(node, 1, &start) && taper_node_constant_is_number(node, 2, &end) &&
                       start == 1 && end == -1
                   ? 2
                   : -1;
    }
    return taper_node_is(node, "aten::addmm") || taper_node_is(node, "aten::mm") ? 2
           : taper_node_is(node, "aten::bmm")                                    ? 3
                                                                                 : -1;
}

taper_rank taper_rank_of(const taper_ir_value *value)
{
    taper_rank rank = {.number = -1};
    for (int hops = 0; hops < 64; hops++) {
        const taper_node *node = value->node;
        if (node == NULL || node->kind != TAPER_NODE_OP || node->input_count == 0) {
            break;
        }
        const int64_t own = rank_of_result(node);
        if (own >= 0) {
            rank.number = !rank.squeezed ? own + rank.more : -1;
            break;
        }
        if (taper_node_is(node, "aten::unsqueeze")) {
            rank.more++;
        } else if (taper_node_is(node, "aten::select.int")) {
            rank.more--;
        } else if (taper_node_is(node, "aten::squeeze")) {
            rank.more--;
            rank.squeezed = true;
        } else if (!keeps_rank(node)) {
            break;
        }
        value = taper_node_in(node, 0);
    }
    rank.from = value;
    return rank;
}

// ---- checks

// The one source of all items of a list that was just made.
static const taper_ir_value *source_of_items(const ranks *r, const taper_ir_value *list)
{
    const taper_node *made = list->node;
    if (made == NULL || made->kind != TAPER_NODE_LIST || made->input_count == 0 || !taper_value_used_once(list)) {
        return NULL;
    }
    const taper_ir_value *source = source_of(r, taper_node_in(made, 0));
    for (size_t i = 1; i < made->input_count; i++) {
        if (source_of(r, taper_node_in(made, i)) != source) {
            return NULL;
        }
    }
    return source;
}

static void look_at_results(ranks *r, const taper_node *node)
{
    if (node->kind == TAPER_NODE_OP && node->input_count != 0 && node->output_count == 1) {
        const taper_ir_value *first = taper_node_in(node, 0), *source = NULL;
        if (keeps_rank(node)) {
            source = source_of(r, first);
        } else if (taper_node_is(node, "aten::cat")) {
            source = source_of_items(r, first);
        } else if (taper_node_is(node, "aten::add.Tensor") || taper_node_is(node, "aten::mul.Tensor")) {
            const bool same = source_of(r, first) == source_of(r, taper_node_in(node, 1));
            source = same ? source_of(r, first) : NULL;
        }
        if (source != NULL) {
            set_source(r, &node->outputs[0], source);
        }
    } else if (node->kind == TAPER_NODE_LIST_UNPACK) { // of chunk or split
        const taper_ir_value *list = taper_node_in(node, 0), *source = source_of(r, list);
        for (size_t i = 0; source != list && i < node->output_count; i++) {
            set_source(r, &node->outputs[i], source);
        }
    } else if (node->kind == TAPER_NODE_IF) {
        for (size_t i = 0; i < node->output_count; i++) {
            const taper_ir_value *a = source_of(r, node->blocks[0]->results[i].value);
            if (a == source_of(r, node->blocks[1]->results[i].value)) {
                set_source(r, &node->outputs[i], a);
            }
        }
    }
}

static bool raises(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (taper_node_is(node, "prim::RaiseException")) {
            return true;
        }
    }
    return false;
}

static taper_status learn_rank(ranks *r, const taper_ir_value *value, int64_t rank)
{
    const taper_ir_value *source = source_of(r, value);
    if (source->id >= r->value_count || r->values[source->id].known) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(r->compilation->allocator, r->learned, r->learned_capacity, r->learned_count + 1,
                         r->compilation->error));
    r->learned[r->learned_count++] = source->id;
    r->values[source->id].known = true;
    r->values[source->id].rank = rank;
    return TAPER_OK;
}

// Those with packed weights take four dimensions and raise otherwise.
static bool is_packed_convolution(const taper_node *node)
{
    for (size_t i = 0; i < PACKED_CONVOLUTIONS; i++) {
        if (taper_node_is(node, packed_convolutions[i])) {
            return true;
        }
    }
    return false;
}

// if dim(x) != N: raise. Behind it the rank of x is N.
static taper_status learn(ranks *r, const taper_node *node)
{
    const taper_node *test = node->kind == TAPER_NODE_IF ? taper_node_in(node, 0)->node : NULL;
    if (test == NULL || node->output_count != 0) {
        return TAPER_OK;
    }
    const bool equal = taper_node_is(test, "aten::eq.int");
    if ((!equal && !taper_node_is(test, "aten::ne.int")) || !raises(node->blocks[equal ? 1 : 0])) {
        return TAPER_OK;
    }
    const taper_node *dim = taper_node_in(test, 0)->node;
    const taper_val *number = taper_node_constant_in(test, 1);
    if (dim == NULL || !taper_node_is(dim, "aten::dim") || number == NULL || number->tag != TAPER_INT) {
        return TAPER_OK;
    }
    return learn_rank(r, taper_node_in(dim, 0), number->as.i);
}

// dim(x) of a known rank becomes a number, another that of the value it comes from.
static taper_status replace(ranks *r, taper_node *node)
{
    const taper_ir_value *source = source_of(r, taper_node_in(node, 0));
    if (source->id < r->value_count && r->values[source->id].known) {
        taper_ir_value *number;
        TAPER_TRY(
            taper_constant_before(node, taper_val_int(r->values[source->id].rank), &number, r->compilation->error));
        taper_value_replace_uses(&node->outputs[0], number);
        taper_node_remove(node);
        return TAPER_OK;
    }
    if (source != taper_node_in(node, 0)) {
        taper_node_set_input(node, 0, (taper_ir_value *)(uintptr_t)source);
    }
    return TAPER_OK;
}

static taper_status visit_block(ranks *r, taper_block *block)
{
    const size_t learned = r->learned_count;
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        if (taper_node_is(node, "aten::dim")) {
            TAPER_TRY(replace(r, node));
            continue;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit_block(r, node->blocks[b]));
        }
        look_at_results(r, node);
        TAPER_TRY(is_packed_convolution(node) ? learn_rank(r, taper_node_in(node, 0), 4) : learn(r, node));
    }
    while (r->learned_count > learned) {
        r->values[r->learned[--r->learned_count]].known = false;
    }
    return TAPER_OK;
}

// Whether anything gives a tensor other sizes or another number of dimensions in place: then nothing is known.
static bool changes_ranks(const taper_block *block)
{
    static const char *const names[] = {
        "aten::squeeze_", "aten::unsqueeze_", "aten::resize_",     "aten::resize_as_",
        "aten::set_",     "aten::set_data",   "aten::as_strided_", "aten::_resize_output_",
        "aten::t_",       "aten::transpose_", "aten::swapdims_",   "aten::swapaxes_"};
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_OP && node->schema->out_count != 0) {
            return true;
        }
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (taper_node_is(node, names[i])) {
                return true;
            }
        }
        for (size_t b = 0; b < node->block_count; b++) {
            if (changes_ranks(node->blocks[b])) {
                return true;
            }
        }
    }
    return false;
}

bool taper_ranks_change(taper_compilation *compilation)
{
    if (compilation->ranks_change == 0) { // once for all graphs: none gets another such node
        compilation->ranks_change = 1;
        for (size_t g = 0; g < compilation->count; g++) {
            if (compilation->graphs[g] != NULL && changes_ranks(compilation->graphs[g]->body)) {
                compilation->ranks_change = 2;
            }
        }
    }
    return compilation->ranks_change == 2;
}

taper_status taper_pass_known_ranks(taper_compilation *compilation, taper_graph *graph)
{
    if (taper_ranks_change(compilation)) {
        return TAPER_OK;
    }
    ranks r = {.compilation = compilation, .value_count = graph->value_count};
    r.values = taper_alloc_zeroed(compilation->allocator, (r.value_count + 1) * sizeof *r.values);
    const taper_status status = r.values == NULL ? taper_fail_memory(compilation->error) : visit_block(&r, graph->body);
    taper_free(compilation->allocator, r.values, (r.value_count + 1) * sizeof *r.values);
    taper_free(compilation->allocator, r.learned, r.learned_capacity * sizeof *r.learned);
    return status;
}
