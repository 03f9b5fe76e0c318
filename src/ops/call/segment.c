// SPDX-License-Identifier: BSD-2-Clause
// Calls of segments: converts arguments to the form that the backend needs, and keeps recordings by shapes. If the
// backend declines, the nodes of the segment run one by one (the plain nodes).
#include "ir/tensor.h"
#include "ops/backend.h"
#include "ops/call/prepared.h"
#include "ops/list/op_table.h"
#include "platform/platform.h"

#ifdef TAPER_WITHOUT_DEVICES // builds without devices have only the CPU's backend, which makes no recordings
taper_status taper_segment_call(taper_call *call)
{
    return call->segment->device->backend->run(call->segment, call, NULL);
}

void taper_segment_done_plain(const taper_segment *segment, taper_run *run, taper_prepared *prepared)
{
    (void)segment, (void)run, (void)prepared;
}

void taper_segment_storages(const taper_prepared *prepared, taper_each_storage *each, void *user)
{
    (void)prepared, (void)each, (void)user;
}
#else
// A recording, for calls of a segment with arguments of the same shapes and dtypes, and the facts about it.
typedef struct recording {
    const taper_segment *segment;
    bool declined;   // true if the backend declined these shapes, so that it is not asked again
    const char *why; // reason why the backend declined
    double since;    // time in seconds at which the last run was declined, or 0
    max_align_t data[];
} recording;

static taper_status run_recording(taper_call *call, void *data)
{
    recording *r = data;
    if (r->declined) {
        call->run->why = r->why;
        return TAPER_DECLINED;
    }
    const taper_backend *backend = r->segment->device->backend;
    const taper_status status = backend->run(r->segment, call, r->data);
    if (status == TAPER_DECLINED && backend->measured != NULL) {
        r->since = taper_clock();
    }
    return status;
}

void taper_segment_done_plain(const taper_segment *segment, taper_run *run, taper_prepared *prepared)
{
    recording *r = prepared != NULL ? prepared->data : NULL;
    if (r != NULL && r->since > 0) {
        const double seconds = taper_clock() - r->since;
        r->since = 0;
        segment->device->backend->measured(segment, run, r->data, seconds);
    }
}

void taper_segment_storages(const taper_prepared *prepared, taper_each_storage *each, void *user)
{
    const recording *r = prepared != NULL && prepared->run == run_recording ? prepared->data : NULL;
    if (r != NULL && r->segment != NULL && !r->declined && r->segment->device->backend->storages != NULL) {
        r->segment->device->backend->storages(r->segment, r->data, each, user);
    }
}

static void release_recording(void *data)
{
    const recording *r = data;
    if (r->segment != NULL && !r->declined) {
        r->segment->device->backend->forget(r->segment, (void *)(uintptr_t)r->data);
    }
}

static taper_status record(const taper_segment *segment, taper_call *call, recording *r)
{
    const taper_status status = segment->device->backend->record(segment, call, r->data);
    r->segment = segment;
    r->declined = status != TAPER_OK;
    r->why = call->run->why;
    return status;
}

// Runs a call whose arguments cannot be compared with those of later calls. The recording is used only for this call.
static taper_status run_once(const taper_segment *segment, taper_call *call, size_t bytes)
{
    if (segment->device->backend->lasting) {
        call->run->why = "arguments cannot be compared with those of the next call";
        return TAPER_DECLINED;
    }
    recording *r = taper_heap_alloc(call->run->heap, bytes);
    if (r == NULL) {
        return taper_fail_memory(call->run->error);
    }
    memset(r, 0, bytes);
    taper_status status = record(segment, call, r);
    if (status == TAPER_OK) {
        status = run_recording(call, r);
    }
    release_recording(r);
    taper_heap_free(call->run->heap, r, bytes);
    return status;
}

static taper_status run_recorded(const taper_segment *segment, taper_call *call)
{
    const size_t bytes = sizeof(recording) + segment->device->backend->recording_bytes;
    if (call->prepared != NULL && *call->prepared != NULL && taper_prepared_fits(*call->prepared, call)) {
        return taper_prepared_call(call);
    }
    recording *r = taper_prepare_owner(call, run_recording, release_recording, bytes);
    if (r == NULL) {
        return run_once(segment, call, bytes);
    }
    TAPER_TRY(record(segment, call, r));
    return run_recording(call, r);
}

static bool is_there(const taper_device *device, const taper_tensor *x)
{
    return taper_tensor_is_away(x) && x->storage->memory->owner == device->owner;
}

// Converts the argument to the form that the segment needs. If *own is set, the result is a new value that the caller
// releases after the call.
static taper_status bring(const taper_call *call, taper_form form, taper_val *arg, bool *own)
{
    taper_device *device = call->segment->device;
    taper_run *run = call->run;
    taper_tensor *const x = arg->tag == TAPER_TENSOR ? arg->as.tensor : NULL;
    *own = false;
    if (form != TAPER_FORM_PLAIN && arg->tag == TAPER_LIST) {
        return taper_run_fetch_items(run, arg->as.list);
    }
    if (form == TAPER_FORM_PLAIN || x == NULL) {
        return taper_settle(run, *arg);
    }
    if (form != TAPER_FORM_HOST && is_there(device, x)) {
        return TAPER_OK;
    }
    if (form != TAPER_FORM_DEVICE) {
        return taper_tensor_fetch(x, run->error);
    }
    taper_memory *memory;
    taper_tensor *away;
    TAPER_TRY(taper_tensor_fetch(x, run->error));
    TAPER_TRY(device->backend->store(device, run, x, &memory));
    TAPER_TRY(taper_tensor_like_of_memory(run->heap, memory, x, &away, run->error));
    *arg = TAPER_VAL(away);
    *own = true;
    return TAPER_OK;
}

static taper_status call_in_forms(taper_call *call)
{
    const taper_segment *segment = call->segment;
    return segment->device->backend->recording_bytes != 0 ? run_recorded(segment, call)
                                                          : segment->device->backend->run(segment, call, NULL);
}

// Calls a backend that needs no input on the device. Inputs that are not on the device are brought to the host's memory
// in place.
static taper_status call_here(taper_call *call)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const taper_val arg = call->args[i];
        const taper_form form = call->segment->forms[i];
        if (form == TAPER_FORM_PLAIN) {
            TAPER_TRY(taper_settle(call->run, arg));
        } else if (arg.tag == TAPER_TENSOR && form == TAPER_FORM_EITHER &&
                   is_there(call->segment->device, arg.as.tensor)) {
            continue;
        } else if (arg.tag == TAPER_TENSOR) {
            TAPER_TRY(taper_tensor_fetch(arg.as.tensor, call->run->error));
        } else if (arg.tag == TAPER_LIST && !taper_arg_is_constant(call, i)) {
            TAPER_TRY(taper_run_fetch_items(call->run, arg.as.list));
        }
    }
    return call_in_forms(call);
}

// Calls a backend that needs some inputs on the device.
static taper_status call_away(taper_call *call)
{
    taper_val *const args = call->args;
    const size_t count = call->arg_count, bytes = (count + 1) * (sizeof *args + sizeof(bool));
    taper_val *vals = taper_heap_alloc(call->run->heap, bytes);
    if (vals == NULL) {
        return taper_fail_memory(call->run->error);
    }
    bool *own = (bool *)(vals + count);
    memset(own, 0, count);
    memcpy(vals, args, count * sizeof *vals);
    taper_status status = TAPER_OK;
    // The first pass brings inputs to the host, lists included. The second pass copies inputs from the host to the
    // device. The passes are separate because one tensor may be needed in both memories.
    for (int away = 0; away < 2; away++) {
        for (size_t i = 0; status == TAPER_OK && i < count; i++) {
            if ((call->segment->forms[i] == TAPER_FORM_DEVICE && vals[i].tag == TAPER_TENSOR) == (away == 1)) {
                status = bring(call, call->segment->forms[i], &vals[i], &own[i]);
            }
        }
    }
    call->args = vals;
    status = status == TAPER_OK ? call_in_forms(call) : status;
    call->args = args;
    for (size_t i = 0; i < count; i++) {
        if (own[i]) {
            taper_val_release(vals[i]);
        }
    }
    taper_heap_free(call->run->heap, vals, bytes);
    return status;
}

static TAPER_COLD void tell_lost(const taper_call *call, taper_device *device)
{
    static const char text[] = ": the device does not work any more, the CPU goes on\n";
    if (atomic_exchange(&device->owner->lost, 1u) == 0 && call->run->log != NULL) {
        call->run->log(call->run->log_user, TAPER_LOG_WARNING, device->name, strlen(device->name));
        call->run->log(call->run->log_user, TAPER_LOG_WARNING, text, sizeof text - 1);
    }
}

taper_status taper_segment_call(taper_call *call)
{
    taper_device *device = call->segment->device;
    taper_status status = TAPER_DECLINED;
    call->run->why = NULL;
    if (!atomic_load_explicit(&device->owner->lost, memory_order_relaxed)) {
        status = device->backend->store != NULL ? call_away(call) : call_here(call);
    }
    if (status == TAPER_DEVICE_LOST) {
        tell_lost(call, device);
        call->run->replan = true;
        status = TAPER_DECLINED;
    }
    if (status == TAPER_DECLINED && call->segment->required) {
        const bool lost = atomic_load_explicit(&device->owner->lost, memory_order_relaxed);
        const char *why = call->run->why;
        return taper_fail(
            call->run->error, lost ? TAPER_ERROR_DEVICE : TAPER_ERROR_UNSUPPORTED,
            "device %s %s%s%s; without \"!\" after its name, the CPU computes the operators that the device declines",
            device->name, lost ? "does not work any more" : "declined", why != NULL ? ": " : "",
            why != NULL ? why : "");
    }
    return status;
}
#endif

// ---- functions that backends call

taper_shape taper_region_shape(taper_region *region, const taper_ir_value *value)
{
    if (region->shapes == NULL) {
        region->shapes = taper_graph_shapes(region->graph);
    }
    return region->shapes != NULL ? taper_shapes_get(region->shapes, value) : taper_shape_unknown();
}

typedef struct inputs {
    const taper_block *body;
    const taper_val *args, *next;
} inputs;

// Returns an argument from outside the segment. In the call, these arguments are in the order in which nodes take them.
// The items of a list are requested only when a node takes the list, so the list's node stores where its arguments
// begin.
static const taper_val *from_outside(void *user, const taper_node *node, size_t at)
{
    inputs *in = user;
    if (taper_node_in(node, at)->block == in->body) {
        return NULL;
    }
    if (node->kind != TAPER_NODE_LIST) {
        return in->next++;
    }
    size_t before = node->own.arguments_before;
    for (size_t i = 0; i < at; i++) {
        before += taper_node_in(node, i)->block != in->body;
    }
    return &in->args[before];
}

taper_status taper_segment_shapes(const taper_segment *segment, const taper_call *call, taper_shapes *shapes)
{
    const taper_block *body = segment->node->blocks[1];
    size_t first = SIZE_MAX, last = 0;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < node->output_count; i++) {
            first = taper_min_size(first, node->outputs[i].id);
            last = taper_max_size(last, node->outputs[i].id);
        }
    }
    *shapes = (taper_shapes){.first = first, .count = first <= last ? last - first + 1 : 0};
    shapes->of = taper_heap_alloc(call->run->heap, (shapes->count + 1) * sizeof *shapes->of);
    if (shapes->of == NULL) {
        return taper_fail_memory(call->run->error);
    }
    for (size_t i = 0; i < shapes->count; i++) {
        shapes->of[i] = taper_shape_unknown();
    }
    inputs in = {.body = body, .args = call->args};
    const taper_val *next = call->args;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        in.next = next;
        // from_outside is not called for the arguments of a node without results. So it does not advance `next`; the
        // loop below does, for the arguments of every node.
        taper_shapes_learn(shapes, node, from_outside, &in);
        for (size_t i = 0; i < node->input_count; i++) {
            next += taper_node_in(node, i)->block != body;
        }
    }
    return TAPER_OK;
}

void taper_segment_shapes_free(const taper_call *call, taper_shapes *shapes)
{
    taper_heap_free(call->run->heap, shapes->of, (shapes->count + 1) * sizeof *shapes->of);
}

// Makes a list of tensors from a node's arguments.
static taper_status make_list(taper_call *call, const taper_node *node, const taper_val *args, taper_val *made)
{
    taper_list *list = taper_list_new(call->run->heap, node->type->items[0], node->input_count);
    if (list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    for (size_t i = 0; i < node->input_count; i++) {
        list->items[i] = taper_val_retain(args[i]);
    }
    list->count = node->input_count;
    *made = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status take_apart(taper_call *call, const taper_node *node, taper_val list, taper_val *rets)
{
    if (list.tag != TAPER_LIST || list.as.list->count != node->output_count) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_INTERNAL, "a list of %zu items was to have %u",
                   list.tag == TAPER_LIST ? list.as.list->count : (size_t)0, node->output_count);
    }
    for (size_t i = 0; i < node->output_count; i++) {
        rets[i] = taper_val_retain(list.as.list->items[i]);
    }
    return TAPER_OK;
}

// Runs one node. Its results are stored among the body's values.
static taper_status run_node(taper_call *call, taper_device *device, const taper_node *node, taper_val *args,
                             taper_val *rets)
{
    if (node->kind == TAPER_NODE_LIST) {
        return make_list(call, node, args, rets);
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        return take_apart(call, node, args[0], rets);
    }
    const taper_kernel kernel =
        device != NULL && device->backend->kernel != NULL ? device->backend->kernel(device, node->op) : NULL;
    void *state = NULL;
    taper_call one = {.run = call->run,
                      .op = node->op,
                      .param = taper_row_param(node->op),
                      .schema = node->schema,
                      .args = args,
                      .arg_count = node->input_count,
                      .rets = rets,
                      .ret_count = node->output_count,
                      .state = &state};
    for (size_t i = 0; i < node->input_count; i++) {
        if (!taper_op_has(node->op, TAPER_OP_NHWC)) {
            TAPER_TRY(taper_settle(call->run, args[i]));
        } else if (args[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_tensor_fetch(args[i].as.tensor, call->run->error));
        } else if (args[i].tag == TAPER_LIST) {
            TAPER_TRY(taper_run_fetch_items(call->run, args[i].as.list));
        }
    }
    taper_status status = kernel != NULL ? taper_call_kernel(&one, kernel) : TAPER_DECLINED;
    return status == TAPER_DECLINED ? taper_call_kernel(&one, taper_row_kernel(node->op)) : status;
}

// Sets `last` for each of the body's values: the number of the last node that takes the value or makes it, counted from
// 1. A value that the call returns gets 0.
static void find_last(const taper_block *body, uint32_t first, uint32_t *last)
{
    uint32_t number = 1;
    for (const taper_node *node = body->first; node != NULL; node = node->next, number++) {
        for (size_t i = 0; i < node->input_count; i++) {
            const taper_ir_value *value = taper_node_in(node, i);
            if (value->block == body) {
                last[value->reg - first] = number;
            }
        }
        for (size_t i = 0; i < node->output_count; i++) {
            last[node->outputs[i].reg - first] = number;
        }
    }
    for (size_t i = 0; i < body->result_count; i++) {
        last[body->results[i].value->reg - first] = 0;
    }
}

// Releases values after their last use, because all values of a network together need many times the memory of the
// values in use.
static void let_go(const taper_block *body, const taper_node *node, uint32_t number, uint32_t first,
                   const uint32_t *last, taper_val *values)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        if (value->block == body && last[value->reg - first] == number) {
            taper_val_replace(&values[value->reg - first], taper_val_none());
        }
    }
    for (size_t i = 0; i < node->output_count; i++) {
        const size_t at = node->outputs[i].reg - first;
        if (last[at] == number) {
            taper_val_replace(&values[at], taper_val_none());
        }
    }
}

taper_status taper_segment_run_plain(const taper_segment *segment, taper_device *device, taper_call *call)
{
    const taper_block *body = segment->node->blocks[1];
    const uint32_t first = body->first->outputs[0].reg; // first of the body's registers, which are consecutive
    size_t count = 0, most = 0, at = 0, input = 0;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        count += node->output_count;
        most = taper_max_size(most, node->input_count);
    }
    const size_t bytes = (count + most + 1) * sizeof(taper_val) + count * sizeof(uint32_t);
    taper_val *values = taper_heap_alloc(call->run->heap, bytes);
    if (values == NULL) {
        return taper_fail_memory(call->run->error);
    }
    memset(values, 0, bytes); // a value whose bytes are all 0 is None
    uint32_t *last = (uint32_t *)(values + count + most + 1), number = 1;
    find_last(body, first, last);
    taper_status status = TAPER_OK;
    for (const taper_node *node = body->first; status == TAPER_OK && node != NULL; node = node->next) {
        for (size_t i = 0; i < node->input_count; i++) {
            const taper_ir_value *value = taper_node_in(node, i);
            values[count + i] = value->block == body ? values[value->reg - first] : call->args[input++];
        }
        status = run_node(call, device, node, values + count, values + at);
        if ((int)status > 0 && node->kind == TAPER_NODE_OP) {
            taper_call_blame(node->schema, values + count, node->input_count, call->run->error);
            call->run->failed = node;
        }
        at += node->output_count;
        let_go(body, node, number++, first, last, values);
    }
    for (size_t i = 0; status == TAPER_OK && i < body->result_count; i++) {
        call->rets[i] = taper_val_retain(values[body->results[i].value->reg - first]);
    }
    for (size_t i = 0; i < count; i++) {
        taper_val_release(values[i]);
    }
    taper_heap_free(call->run->heap, values, bytes);
    return status;
}
