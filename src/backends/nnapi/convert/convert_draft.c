// SPDX-License-Identifier: BSD-2-Clause
// Converts a draft (a model that is being compiled) for NNAPI, after all other passes on the draft. forward is
// specialized for the sizes of the given inputs. A pretended device (a backend without a device) claims the nodes that
// NNAPI supports, and each segment becomes a module of PyTorch's own classes.
#include "backends/nnapi/convert/convert.h"

#include <stdio.h>

#include "backends/nnapi/translate.h"
#include "ir/effects.h"

enum { MOST_SEGMENTS = 32 };

static taper_status check(const taper_optimize_options *options, taper_error *error)
{
    taper_nnapi_conversion read;
    TAPER_TRY(taper_nnapi_conversion_read(options->nnapi, &read, error));
    if (options->input_count == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "a model is converted for NNAPI with inputs of the sizes that it will get: give a sample of them");
    }
    return TAPER_OK;
}

// ---- the pretended device

typedef struct quantizer {
    double scale; // scale; 0 for a tensor of floats
    int64_t zero_point;
} quantizer;

typedef struct conversion {
    taper_compilation *compilation;
    taper_graph *graph;
    const taper_optimize_options *given;
    taper_nnapi_conversion options;
    taper_translate_options translate;
    taper_device device;
    taper_memory_owner owner;
    const taper_shape *inputs; // shapes of forward's parameters
    taper_shapes *shapes;
    quantizer *quantizers; // quantizers of module results, by value id; scale 0 for other values; as many as `shapes`
    taper_node *segments[MOST_SEGMENTS];
    size_t segment_count;
    taper_ir_value **images; // results of modules that are images, permuted to PyTorch's order
    size_t image_count, image_capacity;
    const taper_node *refused; // first operator that stays on the CPU; `why` is the reason
    const char *why;
} conversion;

static void tell(conversion *c, const taper_node *node, int segment, const char *why)
{
    const taper_optimize_options *options = c->given;
    if (c->refused == NULL && segment < 0) {
        c->refused = node;
        c->why = why;
    }
    if (options->report == NULL || node->kind != TAPER_NODE_OP || node->output_count == 0) {
        return;
    }
    char name[128];
    const size_t length = strcspn(node->op_name, "(");
    (void)snprintf(name, sizeof name, "%.*s", (int)taper_min_size(length, sizeof name - 1), node->op_name);
    const taper_placement placement = {.struct_size = sizeof placement,
                                       .operator_name = name,
                                       .value = node->outputs[0].id,
                                       .segment = segment,
                                       .reason = why,
                                       .work = taper_translate_work(&c->translate, node)};
    options->report(options->report_user, &placement);
}

static taper_status claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    conversion *c = device->state;
    (void)error;
    const taper_claimer claimer = {.refuses = taper_nnapi_refuses,
                                   .pays = c->translate.pytorch ? NULL : taper_translate_is_layer,
                                   .user = &c->translate};
    return c->segment_count == MOST_SEGMENTS ? TAPER_DECLINED : taper_claim_nodes(&claimer, region, claim);
}

// Makes the arrays of shapes and quantizers long enough for the values that were added to the graph.
static taper_status grow_known(conversion *c)
{
    const size_t count = (size_t)c->graph->value_count + 1, room = count + count / 2;
    if (c->quantizers != NULL && count <= c->shapes->count) {
        return TAPER_OK;
    }
    taper_shape *all = taper_arena_array(&c->graph->arena, room, sizeof *all);
    quantizer *quantizers = taper_arena_array(&c->graph->arena, room, sizeof *quantizers);
    if (all == NULL || quantizers == NULL) {
        return taper_fail_memory(c->compilation->error);
    }
    for (size_t i = 0; i < room; i++) {
        all[i] = i < c->shapes->count ? c->shapes->of[i] : taper_shape_unknown();
        quantizers[i] = i < c->shapes->count && c->quantizers != NULL ? c->quantizers[i] : (quantizer){0, 0};
    }
    c->shapes->of = all;
    c->shapes->count = room;
    c->quantizers = quantizers;
    return TAPER_OK;
}

// Records the shape of each output of a segment: the shape of the value in the segment's body that becomes this output.
static taper_status name_results(conversion *c, const taper_node *segment)
{
    TAPER_TRY(grow_known(c));
    for (uint32_t i = 0; i < segment->output_count; i++) {
        c->shapes->of[segment->outputs[i].id] = taper_shapes_get(c->shapes, segment->blocks[1]->results[i].value);
    }
    return TAPER_OK;
}

static taper_status plan(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error)
{
    conversion *c = device->state;
    (void)arena, (void)error;
    c->segments[c->segment_count++] = segment->node; // `claim` has ensured that the array has room
    return name_results(c, segment->node);
}

static const taper_backend converter = {
    .struct_size = sizeof converter, .name = "nnapi", .copies = true, .claim = claim, .plan = plan};

// ---- facts about values

static void know(void *user, const taper_ir_value *value, taper_known_value *known)
{
    const conversion *c = user;
    const taper_node *constant = taper_value_constant(value);
    *known = (taper_known_value){.constant = constant != NULL ? &constant->constant : NULL,
                                 .shape = taper_shapes_get(c->shapes, value)};
    const taper_optimize_options *options = c->given;
    if (value->node == NULL && value->block == c->graph->body && value->index != 0 &&
        value->index <= options->input_count) { // a parameter has the quantizer of its sample
        const taper_val sample = options->inputs[value->index - 1]->val;
        const taper_quantizer *q = sample.tag == TAPER_TENSOR ? sample.as.tensor->quantizer : NULL;
        known->quantized = q != NULL;
        known->scale = q != NULL ? q->scale : 0;
        known->zero_point = q != NULL ? q->zero_point : 0;
    } else if (c->quantizers != NULL && value->id < c->shapes->count && c->quantizers[value->id].scale != 0) {
        known->quantized = true;
        known->scale = c->quantizers[value->id].scale;
        known->zero_point = c->quantizers[value->id].zero_point;
    }
}

// ---- converting a segment

static void put_back(taper_node *segment)
{
    taper_block *const body = segment->blocks[1];
    for (size_t i = 0; i < segment->output_count; i++) {
        taper_value_replace_uses(&segment->outputs[i], body->results[i].value);
    }
    taper_block_inline_before(body, segment);
    taper_node_remove(segment);
}

// Makes all parameters the first inputs, in order, as PyTorch's converter does.
static taper_status parameters_first(conversion *c, const taper_node *segment, taper_arena *arena)
{
    const taper_block *body = c->graph->body;
    const taper_ir_value **inputs = taper_arena_array(arena, body->param_count, sizeof *inputs);
    size_t count = 0;
    if (inputs == NULL) {
        return taper_fail_memory(c->compilation->error);
    }
    for (uint32_t i = 1; i < body->param_count; i++) {
        bool taken = false;
        for (const taper_value_use *use = body->params[i].uses; use != NULL && !taken; use = use->next) {
            taken = use->block == segment->blocks[1];
        }
        if (taken) {
            inputs[count++] = &body->params[i];
        }
    }
    c->translate.inputs = inputs;
    c->translate.input_count = count;
    return TAPER_OK;
}

static taper_status remember_image(conversion *c, taper_ir_value *value)
{
    if (c->image_count == c->image_capacity) {
        const size_t capacity = c->image_capacity == 0 ? 8 : 2 * c->image_capacity;
        taper_ir_value **images = taper_arena_array(&c->graph->arena, capacity, sizeof *images);
        if (images == NULL) {
            return taper_fail_memory(c->compilation->error);
        }
        for (size_t i = 0; i < c->image_count; i++) {
            images[i] = c->images[i];
        }
        c->images = images;
        c->image_capacity = capacity;
    }
    c->images[c->image_count++] = value;
    return TAPER_OK;
}

static taper_status convert_with(conversion *c, taper_node *segment, size_t number, taper_node **nodes, size_t count,
                                 const taper_ir_value **results, double *scales, bool *done)
{
    taper_error *error = c->compilation->error;
    taper_translated translated;
    *done = false;
    taper_status status =
        taper_translate(&c->translate, nodes, count, results, segment->output_count, &translated, error);
    if (status == TAPER_DECLINED) {
        for (size_t i = 0; i < count; i++) {
            tell(c, nodes[i], -1,
                 nodes[i] == translated.refused || translated.refused == NULL
                     ? translated.why
                     : "it stands with an operator that could not be had");
        }
        taper_network_free(&translated.network);
        return TAPER_OK;
    }
    if (status == TAPER_OK) {
        for (size_t i = 0; i < segment->output_count; i++) {
            scales[i] = translated.scales[i];
        }
        const taper_nnapi_part part = {.compilation = c->compilation,
                                       .graph = c->graph,
                                       .segment = segment,
                                       .network = &translated.network,
                                       .inputs = translated.inputs,
                                       .scales = scales,
                                       .number = number,
                                       .preference = taper_nnapi_preference_code(c->options.preference),
                                       .relax = c->options.relax_f32_to_f16 != 0};
        for (size_t i = 0; i < count; i++) {
            tell(c, nodes[i], (int)number, NULL);
        }
        taper_ir_value **given;
        status = taper_nnapi_write_module(&part, &given, error);
        *done = status == TAPER_OK;
        if (status == TAPER_OK) {
            status = grow_known(c);
        }
        for (uint32_t i = 0; status == TAPER_OK && i < translated.network.output_count; i++) {
            c->shapes->of[given[i]->id] = taper_shapes_get(c->shapes, results[i]);
            c->quantizers[given[i]->id] =
                (quantizer){scales[i], translated.network.operands[translated.network.outputs[i]].zero_point};
            if (translated.network.output_images[i]) {
                status = remember_image(c, given[i]);
            }
        }
    }
    taper_network_free(&translated.network);
    return status;
}

static taper_status convert(conversion *c, taper_node *segment, size_t number, bool *done)
{
    const taper_allocator *allocator = c->compilation->allocator;
    const taper_block *body = segment->blocks[1];
    taper_arena arena;
    size_t count = 0;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        count += node->output_count != 0;
    }
    taper_arena_init(&arena, allocator);
    taper_node **nodes = taper_arena_array(&arena, count, sizeof *nodes);
    const taper_ir_value **results = taper_arena_array(&arena, segment->output_count, sizeof *results);
    double *scales = taper_arena_array(&arena, segment->output_count, sizeof *scales);
    taper_status status = TAPER_OK;
    if (nodes == NULL || results == NULL || scales == NULL) {
        status = taper_fail_memory(c->compilation->error);
    } else {
        count = 0;
        for (taper_node *node = body->first; node != NULL; node = node->next) {
            if (node->output_count != 0) { // the draft has a copy of each check after the segment
                nodes[count++] = node;
            }
        }
        for (uint32_t i = 0; i < segment->output_count; i++) {
            results[i] = body->results[i].value;
        }
        if (c->translate.pytorch) {
            status = parameters_first(c, segment, &arena);
        }
        if (status == TAPER_OK) {
            status = convert_with(c, segment, number, nodes, count, results, scales, done);
        }
        c->translate.input_count = 0;
    }
    taper_arena_free(&arena);
    return status;
}

// ---- the whole conversion

static void tell_rest(conversion *c, const taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            tell_rest(c, node->blocks[b]);
        }
        if (node->kind == TAPER_NODE_OP && node->output_count != 0) {
            const char *why = taper_translate_refuses(&c->translate, node);
            tell(c, node, -1, why != NULL ? why : "too little of it stands together to pay");
        }
    }
}

static taper_status specialize(conversion *c)
{
    const taper_optimize_options *options = c->given;
    taper_compilation *compilation = c->compilation;
    const size_t count = c->graph->body->param_count;
    taper_shape *params = taper_arena_array(&c->graph->arena, count, sizeof *params);
    if (params == NULL) {
        return taper_fail_memory(compilation->error);
    }
    if (options->input_count + 1 > count) {
        TAPER_FAIL(compilation->error, TAPER_ERROR_ARGUMENT, "forward takes %zu inputs, %zu samples were given",
                   count == 0 ? 0 : count - 1, options->input_count);
    }
    for (size_t i = 0; i < count; i++) {
        params[i] = i != 0 && i <= options->input_count
                        ? taper_nnapi_sample_shape(options->inputs[i - 1], c->options.sizes)
                        : taper_shape_unknown();
        for (int d = 0; d < params[i].rank; d++) {
            c->translate.open = c->translate.open || (params[i].sizes[d] == TAPER_UNKNOWN && !c->translate.pytorch);
        }
    }
    c->inputs = params;
    return taper_compiler()->specialize(compilation, c->graph, params, count, &c->shapes);
}

static double work_of(const conversion *c, const taper_block *block)
{
    double work = 0;
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        work += node->kind == TAPER_NODE_OP && node->output_count != 0 ? taper_translate_work(&c->translate, node) : 0;
        for (size_t b = 0; b < node->block_count; b++) {
            work += work_of(c, node->blocks[b]);
        }
    }
    return work;
}

// Puts the nodes of small segments back into the graph, because each use of a device has a cost. If there are more than
// two segments, a segment is small if it has less than 5 percent of the arithmetic.
static void drop_small(conversion *c)
{
    enum { ALWAYS = 2 };
    const double all = work_of(c, c->graph->body);
    size_t kept = 0;
    for (size_t i = 0; i < c->segment_count; i++) {
        taper_node *segment = c->segments[i];
        if (c->segment_count > ALWAYS && work_of(c, segment->blocks[1]) < 0.05 * all) {
            for (const taper_node *node = segment->blocks[1]->first; node != NULL; node = node->next) {
                tell(c, node, -1, "too little of it stands together to pay");
            }
            put_back(segment);
        } else {
            c->segments[kept++] = segment;
        }
    }
    c->segment_count = kept;
}

// Removes needless copies between modules. The result of a module is permuted into PyTorch's order and made contiguous.
// If the next module permutes it back and makes it contiguous itself, the first call of contiguous is removed, because
// the second call works for every memory order.
static void join_modules(conversion *c)
{
    for (size_t i = 0; i < c->image_count; i++) {
        taper_ir_value *const ordered = c->images[i], *const image = taper_node_in(ordered->node, 0);
        for (const taper_value_use *use = ordered->uses, *next; use != NULL; use = next) {
            next = use->next;
            taper_node *user = use->user;
            const taper_value_use *then =
                user != NULL && user->output_count == 1 && use->index == 0 ? user->outputs[0].uses : NULL;
            if (then != NULL && then->next == NULL && taper_node_calls(user, TAPER_OP(aten_permute)) &&
                then->user != NULL && taper_node_calls(then->user, TAPER_OP(aten_contiguous))) {
                taper_node_set_input(user, 0, image);
            }
        }
        if (ordered->uses == NULL) {
            taper_node_remove(ordered->node);
        }
    }
}

static taper_status convert_graph(conversion *c)
{
    taper_compilation *compilation = c->compilation;
    taper_device *const devices[] = {&c->device};
    TAPER_TRY(specialize(c));
    compilation->devices = devices;
    compilation->device_count = 1;
    compilation->shapes = c->shapes;
    const taper_status status = taper_compiler()->segments(compilation, c->graph);
    compilation->devices = NULL;
    compilation->device_count = 0;
    compilation->shapes = NULL;
    TAPER_TRY(status);
    size_t number = 0;
    tell_rest(c, c->graph->body);
    drop_small(c);
    for (size_t i = 0; i < c->segment_count; i++) {
        bool done;
        TAPER_TRY(convert(c, c->segments[i], number, &done));
        if (done) {
            number++;
        } else {
            put_back(c->segments[i]);
        }
    }
    if (number == 0) { // a file that is valid only for these sizes but does not use NNAPI would be useless
        TAPER_FAIL(compilation->error, TAPER_ERROR_UNSUPPORTED,
                   "nothing of forward can be converted for NNAPI (%.*s: %s); for the CPU a model is prepared without "
                   "backend nnapi",
                   c->refused != NULL ? (int)strcspn(c->refused->op_name, ".(") : 0,
                   c->refused != NULL ? c->refused->op_name : "", c->why != NULL ? c->why : "it calls no operator");
    }
    join_modules(c);
    TAPER_TRY(taper_nnapi_check_inputs(compilation, c->graph, c->inputs, c->graph->body->param_count));
    return taper_graph_verify(c->graph, compilation->error);
}

static taper_status convert_draft(taper_compilation *compilation, const taper_optimize_options *given)
{
    conversion c = {.compilation = compilation, .given = given};
    TAPER_TRY(taper_nnapi_conversion_read(given->nnapi, &c.options, compilation->error));
    c.translate = (taper_translate_options){.level = c.options.level,
                                            .pytorch = c.options.layout != TAPER_NNAPI_NHWC,
                                            .images = c.options.layout != TAPER_NNAPI_PYTORCH,
                                            .portable = true,
                                            .allocator = compilation->allocator,
                                            .heap = compilation->module->heap,
                                            .know = know,
                                            .user = &c};
    taper_refs_init(&c.owner.refs);
    c.device = (taper_device){
        .backend = &converter, .name = "nnapi", .owner = &c.owner, .allocator = compilation->allocator, .state = &c};
    for (size_t i = 0; i < compilation->count; i++) {
        taper_graph *graph = compilation->graphs[i];
        const char *dot = graph != NULL ? strrchr(graph->name, '.') : NULL;
        if (dot != NULL && strcmp(dot, ".forward") == 0 && compilation->root.tag == TAPER_OBJECT &&
            strncmp(graph->name, compilation->root.as.object->klass->name, (size_t)(dot - graph->name)) == 0 &&
            compilation->root.as.object->klass->name[dot - graph->name] == '\0') {
            c.graph = graph;
        }
    }
    if (c.graph == NULL || compilation->root.as.object->klass->slots == NULL ||
        compilation->root.as.object->count != compilation->root.as.object->klass->count) {
        TAPER_FAIL(compilation->error, TAPER_ERROR_UNSUPPORTED, "the model has no method forward to convert for NNAPI");
    }
    return convert_graph(&c);
}

const taper_converter taper_converter_nnapi = {.name = "nnapi", .check = check, .convert = convert_draft};
