// SPDX-License-Identifier: BSD-2-Clause
// Reads the signature of a program in a .pt2 file: the meaning of each input and output of the graph.
#include "base/charge.h"
#include "format/pt2_parts.h"

typedef struct role {
    char name[23];
    uint8_t kind;
} role;

static const role input_roles[] = {
    {"user_input", TAPER_PT2_INPUT_USER},
    {"constant_input", TAPER_PT2_INPUT_CONSTANT},
    {"parameter", TAPER_PT2_INPUT_PARAMETER},
    {"buffer", TAPER_PT2_INPUT_BUFFER},
    {"tensor_constant", TAPER_PT2_INPUT_TENSOR},
    {"custom_obj", TAPER_PT2_INPUT_OBJECT},
    {"token", TAPER_PT2_INPUT_TOKEN},
};
static const role output_roles[] = {
    {"user_output", TAPER_PT2_OUTPUT_USER},
    {"loss_output", TAPER_PT2_OUTPUT_LOSS},
    {"buffer_mutation", TAPER_PT2_OUTPUT_BUFFER},
    {"parameter_mutation", TAPER_PT2_OUTPUT_PARAMETER},
    {"user_input_mutation", TAPER_PT2_OUTPUT_INPUT},
    {"gradient_to_parameter", TAPER_PT2_OUTPUT_PARAMETER_GRADIENT},
    {"gradient_to_user_input", TAPER_PT2_OUTPUT_INPUT_GRADIENT},
    {"token", TAPER_PT2_OUTPUT_TOKEN},
};
// Members of the signature in the first schema, which map inputs to their targets.
static const role old_inputs[] = {
    {"inputs_to_parameters", TAPER_PT2_INPUT_PARAMETER},
    {"inputs_to_buffers", TAPER_PT2_INPUT_BUFFER},
};

typedef struct roles {
    const role *rows;
    size_t count;
} roles;

static const role *find_role(const role *rows, size_t count, const taper_json_text *name)
{
    for (size_t i = 0; i < count; i++) {
        if (taper_json_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

// ---- specs: {"buffer": {"arg": {"name": "b_count"}, "buffer_name": "count", "persistent": true}}

static taper_status spec_body(taper_pt2 *r, const taper_json_text *name, void *to)
{
    static const char targets[][21] = {"parameter_name",  "buffer_name",     "tensor_constant_name",
                                       "custom_obj_name", "user_input_name", "name"};
    taper_pt2_spec *spec = to;
    if (taper_json_is(name, "arg")) {
        // Only the name of the argument is kept, because the graph has all other facts about the argument.
        taper_pt2_argument argument = {.kind = TAPER_PT2_NONE};
        const size_t mentions = r->mention_count;
        TAPER_TRY(spec->named ? taper_pt2_named_read(r, TAPER_PT2_TYPE_TENSOR, &argument)
                              : taper_pt2_argument_read(r, &argument));
        spec->value = argument.kind == TAPER_PT2_VALUE ? r->mentions[argument.as.value].value.name : NULL;
        r->mention_count = mentions;
        return TAPER_OK;
    }
    if (taper_json_is(name, "persistent")) {
        return taper_json_take_bool(&r->json, &spec->persistent);
    }
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (taper_json_is(name, targets[i])) {
            return taper_pt2_text(r, &spec->target, NULL);
        }
    }
    return taper_json_skip(&r->json);
}

typedef struct spec_reader {
    taper_pt2_spec *spec;
    const roles *roles;
    bool found;
} spec_reader;

static taper_status spec_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    spec_reader *s = to;
    const role *found = find_role(s->roles->rows, s->roles->count, name);
    if (found == NULL || s->found) {
        return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED,
                              "an input or output of the kind \"%.*s\", which this version of Taper does not know",
                              (int)taper_min_size(name->length, 100), name->at);
    }
    s->found = true;
    // The first entry of each table is for the caller's inputs or outputs. The argument of that entry may be any
    // argument. The arguments of the other entries must be named values.
    *s->spec = (taper_pt2_spec){.kind = found->kind, .persistent = true, .named = found != s->roles->rows};
    return taper_pt2_members(r, spec_body, s->spec);
}

static taper_status spec_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    spec_reader s = {.spec = item, .roles = how};
    TAPER_TRY(taper_pt2_members(r, spec_member, &s));
    return s.found ? TAPER_OK : taper_pt2_fail(r, TAPER_ERROR_FILE, "an input or output of no kind");
}

// ---- the first schema: dicts of the inputs and outputs that do not belong to the caller

static taper_status old_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    const uint8_t *kind = how;
    taper_pt2_spec *spec = item;
    *spec = (taper_pt2_spec){.kind = *kind, .persistent = true, .value = name};
    return taper_pt2_text(r, &spec->target, NULL);
}

// Adds the entries of a dict to the specs.
static taper_status add_old(taper_pt2 *r, uint8_t kind, taper_pt2_array *specs)
{
    taper_pt2_array more;
    r->old_signature = true;
    TAPER_TRY(taper_pt2_items(r, TAPER_JSON_OBJECT, old_item, &kind, sizeof(taper_pt2_spec), &more));
    taper_pt2_spec *all = taper_arena_array(&r->module->arena, specs->count + more.count, sizeof *all);
    if (all == NULL) {
        return taper_fail_memory(r->error);
    }
    if (specs->count != 0) {
        memcpy(all, specs->items, specs->count * sizeof *all);
    }
    if (more.count != 0) {
        memcpy(all + specs->count, more.items, more.count * sizeof *all);
    }
    *specs = (taper_pt2_array){all, specs->count + more.count};
    return TAPER_OK;
}

static taper_status signature_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    static const roles inputs = {input_roles, sizeof input_roles / sizeof input_roles[0]},
                       outputs = {output_roles, sizeof output_roles / sizeof output_roles[0]};
    (void)to;
    if (taper_json_is(name, "input_specs")) {
        return taper_pt2_items(r, TAPER_JSON_ARRAY, spec_item, &inputs, sizeof(taper_pt2_spec), &r->inputs);
    }
    if (taper_json_is(name, "output_specs")) {
        return taper_pt2_items(r, TAPER_JSON_ARRAY, spec_item, &outputs, sizeof(taper_pt2_spec), &r->outputs);
    }
    const role *old = find_role(old_inputs, sizeof old_inputs / sizeof old_inputs[0], name);
    if (old != NULL) {
        return add_old(r, old->kind, &r->inputs);
    }
    if (taper_json_is(name, "buffers_to_mutate")) {
        return add_old(r, TAPER_PT2_OUTPUT_BUFFER, &r->outputs);
    }
    return taper_json_skip(&r->json);
}

taper_status taper_pt2_signature_read(taper_pt2 *r)
{
    return taper_pt2_members(r, signature_member, NULL);
}

// ---- the order of inputs and outputs

static const char *value_name(const taper_pt2_graph *graph, const taper_pt2_argument *argument)
{
    return argument->kind == TAPER_PT2_VALUE ? graph->values[argument->as.value].name : NULL;
}

// Puts the specs of the first schema into the order of the graph, by name. An argument without a spec belongs to the
// caller. Among the outputs, only the first `reach` can have a spec, because the new values of buffers come first.
static taper_status order(taper_pt2 *r, const taper_pt2_argument *arguments, size_t count, size_t reach,
                          taper_pt2_array *specs)
{
    const taper_pt2_spec *from = specs->items;
    taper_pt2_spec *to = taper_arena_array(&r->module->arena, count, sizeof *to);
    taper_name *names = taper_arena_array(&r->module->arena, specs->count, sizeof *names);
    if (to == NULL || names == NULL) {
        return taper_fail_memory(r->error);
    }
    for (size_t i = 0; i < specs->count; i++) {
        const char *name = from[i].value != NULL ? from[i].value : "";
        names[i] = (taper_name){.text = name, .length = strlen(name), .value = i};
    }
    TAPER_TRY(taper_names_sort(r->module->allocator, names, specs->count, r->error));
    for (size_t i = 0; i < count; i++) {
        const char *name = value_name(r->program->graph, &arguments[i]);
        size_t at;
        if (name != NULL && i < reach && taper_names_find(names, specs->count, name, strlen(name), &at)) {
            to[i] = from[at];
        } else {
            // Kind 0 is an input or output of the caller.
            to[i] = (taper_pt2_spec){.kind = 0, .persistent = true, .value = name};
        }
    }
    *specs = (taper_pt2_array){to, count};
    return TAPER_OK;
}

static taper_status check(taper_pt2 *r, const char *what, const taper_pt2_argument *arguments, size_t count,
                          const taper_pt2_array *specs)
{
    const taper_pt2_spec *spec = specs->items;
    if (count != specs->count) {
        TAPER_FAIL(r->error, TAPER_ERROR_FILE, "the program's graph has %zu %ss, its signature has %zu", count, what,
                   specs->count);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = value_name(r->program->graph, &arguments[i]);
        if (spec[i].value != NULL && (name == NULL || strcmp(name, spec[i].value) != 0)) {
            TAPER_FAIL(r->error, TAPER_ERROR_FILE,
                       "%s %zu of the program is \"%.100s\" in its signature, and another in its graph", what, i,
                       spec[i].value);
        }
    }
    return TAPER_OK;
}

static bool has_weight(uint8_t kind)
{
    return kind >= TAPER_PT2_INPUT_PARAMETER && kind <= TAPER_PT2_INPUT_OBJECT;
}

static taper_status finish_inputs(taper_pt2 *r)
{
    taper_pt2_program *program = r->program;
    const taper_pt2_graph *graph = program->graph;
    const taper_pt2_spec *specs = r->inputs.items;
    program->inputs = taper_arena_array(&r->module->arena, graph->input_count, sizeof *program->inputs);
    if (program->inputs == NULL) {
        return taper_fail_memory(r->error);
    }
    for (size_t i = 0; i < graph->input_count; i++) {
        taper_pt2_input *input = &program->inputs[program->input_count++];
        *input = (taper_pt2_input){.kind = specs[i].kind,
                                   .persistent = specs[i].persistent,
                                   .target = specs[i].target,
                                   .argument = graph->inputs[i]};
        if (!has_weight(input->kind)) {
            continue;
        }
        input->weight = input->target != NULL ? taper_pt2_weight_find(program, input->target) : NULL;
        if (input->weight == NULL && input->target != NULL) {
            input->weight = taper_pt2_part_find(program, input->target);
            input->part_length = input->weight != NULL ? strlen(input->weight->name) - strlen(input->target) : 0;
        }
        if (input->weight == NULL) {
            TAPER_FAIL(r->error, TAPER_ERROR_FILE,
                       "the archive lacks the data of \"%.200s\", which the program uses: it is not complete; save it "
                       "again",
                       input->target != NULL ? input->target : "");
        }
    }
    return TAPER_OK;
}

// Finds the input to which an output gives a new value.
static taper_status find_input(taper_pt2 *r, taper_pt2_output *output, size_t at)
{
    const taper_pt2_program *program = r->program;
    const bool buffer = output->kind == TAPER_PT2_OUTPUT_BUFFER,
               caller = output->kind == TAPER_PT2_OUTPUT_INPUT || output->kind == TAPER_PT2_OUTPUT_INPUT_GRADIENT;
    const uint8_t kind = caller ? TAPER_PT2_INPUT_USER : buffer ? TAPER_PT2_INPUT_BUFFER : TAPER_PT2_INPUT_PARAMETER;
    TAPER_TRY(taper_charge(r->module->allocator, program->input_count, r->error));
    for (size_t i = 0; i < program->input_count && output->target != NULL; i++) {
        const taper_pt2_input *input = &program->inputs[i];
        const char *name = caller ? value_name(program->graph, &input->argument) : input->target;
        if (input->kind == kind && name != NULL && strcmp(name, output->target) == 0) {
            output->input = i;
            return TAPER_OK;
        }
    }
    TAPER_FAIL(r->error, TAPER_ERROR_FILE, "output %zu of the program changes \"%.200s\", which is none of its inputs",
               at, output->target != NULL ? output->target : "");
}

static taper_status finish_outputs(taper_pt2 *r)
{
    taper_pt2_program *program = r->program;
    const taper_pt2_graph *graph = program->graph;
    const taper_pt2_spec *specs = r->outputs.items;
    program->outputs = taper_arena_array(&r->module->arena, graph->output_count, sizeof *program->outputs);
    if (program->outputs == NULL) {
        return taper_fail_memory(r->error);
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        taper_pt2_output *output = &program->outputs[program->output_count++];
        *output = (taper_pt2_output){.kind = specs[i].kind, .target = specs[i].target, .argument = graph->outputs[i]};
        if (output->kind >= TAPER_PT2_OUTPUT_BUFFER && output->kind <= TAPER_PT2_OUTPUT_INPUT_GRADIENT) {
            TAPER_TRY(find_input(r, output, i));
        }
    }
    return TAPER_OK;
}

// Adds inputs for tensor constants. Graphs of the first schema name these constants without declaring them as inputs.
static taper_status add_blobs(taper_pt2 *r, taper_pt2_graph *graph)
{
    const taper_pt2_blob *blobs = r->blobs.items;
    const size_t room = graph->input_count + r->blobs.count;
    taper_pt2_argument *inputs = taper_arena_array(&r->module->arena, room, sizeof *inputs);
    taper_pt2_spec *specs = taper_arena_array(&r->module->arena, room, sizeof *specs);
    if (inputs == NULL || specs == NULL) {
        return taper_fail_memory(r->error);
    }
    if (graph->input_count != 0) {
        memcpy(inputs, graph->inputs, graph->input_count * sizeof *inputs);
        memcpy(specs, r->inputs.items, graph->input_count * sizeof *specs);
    }
    for (size_t i = 0; i < r->blobs.count; i++) {
        size_t low = 0, high = graph->value_count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (strcmp(graph->values[middle].name, blobs[i].name) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < graph->value_count && strcmp(graph->values[low].name, blobs[i].name) == 0) {
            inputs[graph->input_count] = (taper_pt2_argument){.kind = TAPER_PT2_VALUE, .as.value = low};
            specs[graph->input_count++] = (taper_pt2_spec){
                .kind = TAPER_PT2_INPUT_TENSOR, .persistent = true, .value = blobs[i].name, .target = blobs[i].name};
        }
    }
    graph->inputs = inputs;
    r->inputs = (taper_pt2_array){specs, graph->input_count};
    return TAPER_OK;
}

taper_status taper_pt2_signature_finish(taper_pt2 *r)
{
    taper_pt2_graph *graph = r->graph;
    if (r->old_signature) {
        TAPER_TRY(order(r, graph->inputs, graph->input_count, SIZE_MAX, &r->inputs));
        TAPER_TRY(order(r, graph->outputs, graph->output_count, r->outputs.count, &r->outputs));
        TAPER_TRY(add_blobs(r, graph));
    }
    TAPER_TRY(check(r, "input", graph->inputs, graph->input_count, &r->inputs));
    TAPER_TRY(check(r, "output", graph->outputs, graph->output_count, &r->outputs));
    TAPER_TRY(finish_inputs(r));
    return finish_outputs(r);
}
