// SPDX-License-Identifier: BSD-2-Clause
// A draft is converted for NNAPI when its other passes are done: forward is made for the sizes of the given inputs, a
// device that is none takes what NNAPI would take, and each segment becomes a module of PyTorch's own classes.
#include "runtime/draft_nnapi.h"

#include <stdio.h>

#include "backends/nnapi/claim.h"
#include "backends/nnapi/translate.h"
#include "ir/effects.h"
#include "runtime/arguments.h"

enum { MOST_SEGMENTS = 32 };

// ---- options: "layout=nhwc,level=29,preference=sustained_speed,relax=0"

typedef struct settings {
    bool pytorch, images, relax;
    int level, preference;
} settings;

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool read_setting(settings *s, const char *name, size_t name_length, const char *value, size_t length)
{
    static const char *const preferences[] = {"low_power", "fast_single_answer", "sustained_speed"};
    if (is_word(name, name_length, "layout")) {
        s->images = !is_word(value, length, "pytorch");
        s->pytorch = !s->images || is_word(value, length, "pytorch_nhwc");
        return s->pytorch || is_word(value, length, "nhwc");
    }
    if (is_word(name, name_length, "level")) {
        s->level = length == 2 && value[0] >= '2' && value[0] <= '3' && value[1] >= '0' && value[1] <= '9'
                       ? (value[0] - '0') * 10 + value[1] - '0'
                       : 0;
        return s->level >= 27 && s->level <= 31;
    }
    if (is_word(name, name_length, "relax")) {
        s->relax = is_word(value, length, "1");
        return s->relax || is_word(value, length, "0");
    }
    for (size_t i = 0; is_word(name, name_length, "preference") && i < sizeof preferences / sizeof *preferences; i++) {
        if (is_word(value, length, preferences[i])) {
            s->preference = (int)i;
            return true;
        }
    }
    return false;
}

static taper_status read_settings(const char *text, settings *s, taper_error *error)
{
    *s = (settings){.level = 29, .images = true, .preference = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED};
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, ","), name = strcspn(text, "=");
        if (name >= length || !read_setting(s, text, name, text + name + 1, length - name - 1)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "backend_options: \"%.*s\" should be layout=nhwc, pytorch or pytorch_nhwc, level=27 to 31, "
                       "preference=low_power, fast_single_answer or sustained_speed, or relax=0 or 1",
                       (int)length, text);
        }
        text += length + (text[length] == ',');
    }
    return TAPER_OK;
}

taper_status taper_draft_check_nnapi(const taper_optimize_options *options, taper_error *error)
{
    settings s;
    TAPER_TRY(read_settings(options->backend_options, &s, error));
    TAPER_NEED_ARRAY(options->inputs, options->input_count, error);
    for (size_t i = 0; i < options->input_count; i++) {
        TAPER_NEED(options->inputs[i], error);
    }
    if (options->input_count == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "a model is converted for NNAPI with inputs of the sizes that it will get: give a sample of them");
    }
    return TAPER_OK;
}

// ---- the device that is none

typedef struct quantizer {
    double scale; // 0: not quantized
    int64_t zero_point;
} quantizer;

typedef struct conversion {
    taper_compilation *compilation;
    taper_graph *graph;
    const taper_nnapi_conversion *given;
    settings settings;
    taper_translate_options translate;
    taper_device device;
    taper_memory_owner owner;
    taper_shapes *shapes;
    quantizer *quantizers; // by value, as many as shapes: of what modules give
    taper_node *segments[MOST_SEGMENTS];
    size_t segment_count;
} conversion;

static void tell(const conversion *c, const taper_node *node, int segment, const char *why)
{
    const taper_optimize_options *options = c->given->options;
    if (options->placed == NULL || node->kind != TAPER_NODE_OP || node->output_count == 0) {
        return;
    }
    char name[128];
    const size_t length = strcspn(node->op_name, "(");
    (void)snprintf(name, sizeof name, "%.*s", (int)taper_min_size(length, sizeof name - 1), node->op_name);
    options->placed(options->placed_user, name, node->outputs[0].id, segment, why,
                    taper_translate_work(&c->translate, node));
}

static taper_status claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    conversion *c = device->state;
    (void)error;
    const taper_nnapi_claiming claiming = {.options = &c->translate, .anything = c->settings.pytorch};
    return c->segment_count == MOST_SEGMENTS ? TAPER_DECLINED : taper_nnapi_claim(&claiming, region, claim);
}

// Room for what is known of values that were made since.
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

// What a segment gives has other names outside: the shape goes with it.
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
    c->segments[c->segment_count++] = segment->node; // there is room: claim saw to it
    return name_results(c, segment->node);
}

static const taper_backend converter = {
    .struct_size = sizeof converter, .name = "nnapi", .copies = true, .claim = claim, .plan = plan};

// ---- what is known of values

static void know(void *user, const taper_ir_value *value, taper_known_value *known)
{
    const conversion *c = user;
    const taper_node *constant = taper_value_constant(value);
    *known = (taper_known_value){.constant = constant != NULL ? &constant->constant : NULL,
                                 .shape = taper_shapes_get(c->shapes, value)};
    const taper_optimize_options *options = c->given->options;
    if (value->node == NULL && value->block == c->graph->body && value->index != 0 &&
        value->index <= options->input_count) { // of a parameter the quantizer is the sample's
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

// ---- a segment

static void put_back(taper_node *segment)
{
    taper_block *const body = segment->blocks[1];
    for (size_t i = 0; i < segment->output_count; i++) {
        taper_value_replace_uses(&segment->outputs[i], body->results[i].value);
    }
    taper_block_inline_before(body, segment);
    taper_node_remove(segment);
}

// PyTorch's converter makes all parameters first, in their order.
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
                                       .preference = c->settings.preference,
                                       .relax = c->settings.relax};
        for (size_t i = 0; i < count; i++) {
            tell(c, nodes[i], (int)number, NULL);
        }
        taper_ir_value **given;
        status = taper_draft_nnapi_module(&part, &given, error);
        *done = status == TAPER_OK;
        if (status == TAPER_OK) {
            status = grow_known(c);
        }
        for (uint32_t i = 0; status == TAPER_OK && i < translated.network.output_count; i++) {
            c->shapes->of[given[i]->id] = taper_shapes_get(c->shapes, results[i]);
            c->quantizers[given[i]->id] =
                (quantizer){scales[i], translated.network.operands[translated.network.outputs[i]].zero_point};
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
            if (node->output_count != 0) { // of checks there is one behind the segment too
                nodes[count++] = node;
            }
        }
        for (uint32_t i = 0; i < segment->output_count; i++) {
            results[i] = body->results[i].value;
        }
        if (c->settings.pytorch) {
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

// ---- all of it

static void tell_rest(const conversion *c, const taper_block *block)
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

static taper_status specialize(conversion *c, const struct taper_compiler *compiler)
{
    const taper_optimize_options *options = c->given->options;
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
        params[i] = taper_shape_unknown();
        if (i != 0 && i <= options->input_count) {
            const taper_val sample = options->inputs[i - 1]->val;
            params[i] = sample.tag == TAPER_TENSOR ? taper_shape_of(sample.as.tensor) : params[i];
        }
    }
    return compiler->specialize(compilation, c->graph, params, count, &c->shapes);
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

// Going to a device and back has its price: of more than two segments those go back that have hardly anything of the
// arithmetic.
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

static taper_status convert_graph(conversion *c, const struct taper_compiler *compiler)
{
    taper_compilation *compilation = c->compilation;
    taper_device *const devices[] = {&c->device};
    TAPER_TRY(specialize(c, compiler));
    compilation->devices = devices;
    compilation->device_count = 1;
    compilation->shapes = c->shapes;
    const taper_status status = compiler->segments(compilation, c->graph);
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
    return taper_graph_verify(c->graph, compilation->error);
}

taper_status taper_draft_finish_nnapi(taper_compilation *compilation, void *user)
{
    const taper_nnapi_conversion *given = user;
    conversion c = {.compilation = compilation, .given = given};
    TAPER_TRY(read_settings(given->options->backend_options, &c.settings, compilation->error));
    c.translate = (taper_translate_options){.level = c.settings.level,
                                            .pytorch = c.settings.pytorch,
                                            .images = c.settings.images,
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
    return convert_graph(&c, given->compiler);
}
