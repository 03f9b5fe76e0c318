// SPDX-License-Identifier: BSD-2-Clause
// Implements the validating layer that validate.h describes.
#include "tests/backend/validate.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct note {
    uint64_t alive; // RECORDED while the recording exists, any other number after it was freed
    const taper_segment *segment;
    atomic_uint running;
} note;

#define RECORDED UINT64_C(0x72656c6e5f6f6b21)
_Static_assert(sizeof(note) <= LAYER_NOTE, "a note fits");

static void complain(validator *v, const layer_event *event, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "validate: %s: ", layer_call_names[event->call]);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    atomic_fetch_add(&v->complaints, 1u);
}

static bool is_with(const taper_tensor *x, const taper_device *device)
{
    return taper_tensor_is_away(x) && x->storage->memory->owner == device->owner;
}

// ---- checks before a call

static void check_form(validator *v, const layer_event *event, size_t at, taper_form form, taper_val value)
{
    if (value.tag == TAPER_TENSOR) {
        const taper_tensor *x = value.as.tensor;
        if (form == TAPER_FORM_DEVICE ? !is_with(x, event->device) : taper_tensor_is_away(x)) {
            complain(v, event, "input %zu of a segment that begins with %s is %s, wanted in form %d", at,
                     event->run_segment->node->blocks[1]->first->schema->text,
                     taper_tensor_is_away(x) ? "away" : "with the host", (int)form);
        } else if (form == TAPER_FORM_PLAIN && x->hidden_nhwc) {
            complain(v, event, "input %zu is not in PyTorch's order", at);
        } else if (form != TAPER_FORM_DEVICE && x->storage->data == NULL && taper_tensor_numel(x) != 0) {
            complain(v, event, "input %zu has no bytes", at);
        }
    }
    if (value.tag >= TAPER_LIST && value.tag <= TAPER_DICT) {
        size_t count;
        const taper_val *items = taper_container_items((taper_container *)value.as.obj, &count);
        for (size_t i = 0; i < count; i++) {
            if (items[i].tag == TAPER_TENSOR &&
                (taper_tensor_is_away(items[i].as.tensor) ||
                 (items[i].as.tensor->hidden_nhwc && (form == TAPER_FORM_PLAIN || value.tag != TAPER_LIST)))) {
                complain(v, event, "item %zu of input %zu is not plain", i, at);
            }
        }
    }
}

static void check_args(validator *v, const layer_event *event)
{
    const taper_segment *segment = event->run_segment;
    const taper_call *call = event->args;
    if (call->segment != segment) {
        complain(v, event, "the call is of another segment");
    }
    if (call->arg_count != segment->node->input_count || call->ret_count != segment->node->output_count) {
        complain(v, event, "%zu inputs and %zu outputs instead of %zu and %zu", call->arg_count, call->ret_count,
                 (size_t)segment->node->input_count, (size_t)segment->node->output_count);
        return;
    }
    for (size_t i = 0; i < call->arg_count; i++) {
        check_form(v, event, i, segment->forms[i], call->args[i]);
    }
    for (size_t i = 0; i < call->ret_count; i++) {
        if (call->rets[i].tag != TAPER_NONE) {
            complain(v, event, "output %zu is there before the run", i);
        }
    }
}

static void check_note(validator *v, const layer_event *event)
{
    note *n = event->note;
    if (n != NULL && (n->alive != RECORDED || n->segment != event->run_segment)) {
        complain(v, event, "a recording that was not made, or for another segment");
    } else if (n != NULL && event->call == LAYER_RUN && atomic_exchange(&n->running, 1u) != 0) {
        complain(v, event, "a recording runs twice at a time");
    }
}

static taper_status before(layer *l, const layer_event *event)
{
    validator *v = (validator *)l;
    atomic_fetch_add(&v->calls[event->call], 1u);
    if (event->call != LAYER_OPEN && atomic_load(&v->devices) == 0) {
        complain(v, event, "no device is open");
    }
    if (event->device->owner == NULL || event->device->backend != &l->table) {
        complain(v, event, "not a device of this backend");
        return TAPER_OK;
    }
    switch (event->call) {
    case LAYER_CLAIM:
        if (event->region->from >= event->region->count || event->claim->count != 0) {
            complain(v, event, "an empty region, or a claim that is there already");
        }
        break;
    case LAYER_PLAN:
        if (event->segment->device != event->device || event->segment->node->segment != event->segment ||
            event->segment->node->output_count == 0) {
            complain(v, event, "the segment does not hold together");
        }
        for (size_t i = 0; i < event->segment->node->input_count; i++) {
            if (event->segment->forms[i] != TAPER_FORM_PLAIN) {
                complain(v, event, "input %zu has a form before the plan", i);
            }
        }
        break;
    case LAYER_RECORD:
        check_args(v, event);
        if (((note *)event->note)->alive != 0) {
            complain(v, event, "a recording is made twice");
        }
        break;
    case LAYER_RUN:
        check_args(v, event);
        check_note(v, event);
        break;
    case LAYER_FORGET:
        check_note(v, event);
        memset(event->note, 0, sizeof(note));
        atomic_fetch_sub(&v->recordings, 1u);
        break;
    case LAYER_STORE:
        if (taper_tensor_is_away(event->tensor) ||
            (event->tensor->storage->data == NULL && taper_tensor_numel(event->tensor) != 0)) {
            complain(v, event, "the tensor has no bytes here");
        }
        break;
    case LAYER_FETCH:
        if (taper_tensor_is_away(event->tensor)) {
            complain(v, event, "into a tensor that is away");
        }
        break;
    case LAYER_KEEP:
        atomic_fetch_add(&v->memories, 1u);
        if (event->memory->owner != event->device->owner) {
            complain(v, event, "memory of nobody");
        }
        break;
    case LAYER_DROP:
        atomic_fetch_sub(&v->memories, 1u);
        break;
    case LAYER_CLOSE:
        atomic_fetch_sub(&v->devices, 1u);
        if (atomic_load(&v->devices) == 0 && (atomic_load(&v->memories) != 0 || atomic_load(&v->recordings) != 0)) {
            complain(v, event, "%zu tensors and %zu recordings are left", atomic_load(&v->memories),
                     atomic_load(&v->recordings));
        }
        break;
    default:
        break;
    }
    return TAPER_OK;
}

// ---- checks after a call

static void check_claim(validator *v, const layer_event *event)
{
    const taper_region *region = event->region;
    const taper_claim *claim = event->claim;
    if (claim->next <= region->from || claim->next > region->count || claim->refused > region->count ||
        (claim->refused < region->count && claim->why == NULL)) {
        complain(v, event, "it does not go on, or refuses what it was not shown");
    }
    for (size_t i = 0; i < claim->count; i++) {
        if (claim->takes[i] < region->from || claim->takes[i] >= region->count ||
            region->nodes[claim->takes[i]] == NULL || (i != 0 && claim->takes[i] <= claim->takes[i - 1])) {
            complain(v, event, "node %zu is not there to be taken", i);
        }
    }
}

// Returns the name of the operator that computes a result.
static const char *name_of(const layer_event *event, size_t at)
{
    return event->run_segment->node->blocks[1]->results[at].value->node->schema->text;
}

// Compares a result with the shape that is inferred from the shapes of the inputs.
static void check_result(validator *v, const layer_event *event, size_t at, const taper_shape *shape)
{
    const taper_val value = event->args->rets[at];
    const taper_type *type = event->run_segment->node->outputs[at].type;
    if (type != NULL && type->kind == TAPER_TYPE_TENSOR && value.tag != TAPER_TENSOR && value.tag != TAPER_NONE) {
        complain(v, event, "output %zu is no tensor", at);
    }
    if (value.tag != TAPER_TENSOR) {
        return;
    }
    const taper_tensor *x = value.as.tensor;
    if (taper_tensor_is_away(x) && !is_with(x, event->device)) {
        complain(v, event, "output %zu is with another device", at);
    }
    bool fits = (shape->dtype < 0 || shape->dtype == x->dtype) && (shape->rank < 0 || shape->rank == x->rank);
    for (int d = 0; fits && d < shape->rank; d++) {
        fits = shape->sizes[d] == TAPER_UNKNOWN || shape->sizes[d] == x->sizes[d];
    }
    if (!fits) {
        complain(v, event, "output %zu, %s of rank %d, is not the %s of rank %d that follows from the inputs of %s", at,
                 taper_dtype_name((taper_dtype)x->dtype), x->rank,
                 shape->dtype < 0 ? "any" : taper_dtype_name((taper_dtype)shape->dtype), shape->rank,
                 name_of(event, at));
    }
}

static void check_results(validator *v, const layer_event *event)
{
    const taper_block *body = event->run_segment->node->blocks[1];
    taper_shapes shapes;
    if (taper_segment_shapes(event->run_segment, event->args, &shapes) != TAPER_OK) {
        return; // memory has run out; the run will report this
    }
    for (size_t i = 0; i < body->result_count; i++) {
        const taper_shape shape = taper_shapes_get(&shapes, body->results[i].value);
        check_result(v, event, i, &shape);
    }
    taper_segment_shapes_free(event->args, &shapes);
}

static void after_run(validator *v, const layer_event *event)
{
    if (event->note != NULL) {
        atomic_store(&((note *)event->note)->running, 0u);
    }
    if (event->status == TAPER_OK) {
        check_results(v, event);
    } else if (event->status == TAPER_DECLINED || event->status == TAPER_DEVICE_LOST) {
        for (size_t i = 0; i < event->args->ret_count; i++) {
            if (event->args->rets[i].tag != TAPER_NONE) {
                complain(v, event, "declined, and left output %zu", i);
            }
        }
    }
    for (size_t i = 0; i < event->args->arg_count; i++) { // the backend's call must not have changed its inputs
        check_form(v, event, i, event->run_segment->forms[i], event->args->args[i]);
    }
}

static void after(layer *l, const layer_event *event)
{
    validator *v = (validator *)l;
    if ((int)event->status < (int)TAPER_DEVICE_LOST || (int)event->status > (int)TAPER_ERROR_INTERNAL ||
        (event->status == TAPER_DECLINED && event->call == LAYER_FETCH)) {
        complain(v, event, "no such status here: %d", (int)event->status);
    }
    switch (event->call) {
    case LAYER_OPEN:
        atomic_fetch_add(&v->devices, event->status == TAPER_OK ? 1u : 0u);
        break;
    case LAYER_CLAIM:
        if (event->status == TAPER_OK) {
            check_claim(v, event);
        }
        break;
    case LAYER_PLAN:
        for (size_t i = 0; event->status == TAPER_OK && i < event->segment->node->input_count; i++) {
            if (event->segment->forms[i] == TAPER_FORM_DEVICE && l->inner->store == NULL) {
                complain(v, event, "input %zu is wanted where nothing can be stored", i);
            }
        }
        break;
    case LAYER_RECORD:
        if (event->status == TAPER_OK) {
            note *n = event->note;
            n->alive = RECORDED;
            n->segment = event->run_segment;
            atomic_fetch_add(&v->recordings, 1u);
        }
        break;
    case LAYER_RUN:
        after_run(v, event);
        break;
    case LAYER_STORE:
        if (event->status == TAPER_OK && event->memory == NULL) {
            complain(v, event, "and there is no memory");
        }
        break;
    default:
        break;
    }
}

void validator_init(validator *v, const taper_backend *inner)
{
    memset(v, 0, sizeof *v);
    layer_init(&v->layer, inner);
    v->layer.before = before;
    v->layer.after = after;
}

bool validator_is_content(validator *v)
{
    return atomic_load(&v->complaints) == 0 && atomic_load(&v->devices) == 0 && atomic_load(&v->recordings) == 0 &&
           atomic_load(&v->memories) == 0;
}
