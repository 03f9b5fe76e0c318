// SPDX-License-Identifier: BSD-2-Clause
// Recordings: nodes become a network, and the network is compiled. A run copies its arguments in and its results out.
#include "backends/nnapi/nnapi_recording.h"

#include <stdio.h>
#include <string.h>

#include "backends/common/segment_log.h"
#include "backends/nnapi/image_orders.h"
#include "backends/nnapi/operation_names.h"
#include "ir/tensor.h"
#include "ops/list/op_table.h"
#include "platform/platform.h"

static taper_nnapi_driver *driver_of(const taper_segment *segment)
{
    return segment->device->state;
}

void taper_nnapi_say(const taper_segment *segment, const taper_run *run, taper_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    taper_segment_log(segment, run, level, driver_of(segment)->kernel, format, arguments);
    va_end(arguments);
}

// ---- tensors and ports

static bool dtype_of_type(int32_t type, taper_dtype *dtype)
{
    switch (type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        *dtype = TAPER_F32;
        return true;
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        *dtype = TAPER_F16;
        return true;
    case ANEURALNETWORKS_TENSOR_INT32:
        *dtype = TAPER_I32;
        return true;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        *dtype = TAPER_QU8;
        return true;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
        *dtype = TAPER_QI8;
        return true;
    case ANEURALNETWORKS_TENSOR_BOOL8:
        *dtype = TAPER_BOOL;
        return true;
    default:
        return false;
    }
}

// Returns true if elements of this dtype may be stored as `stored`.
static bool lies_as(taper_dtype dtype, taper_dtype stored)
{
    return dtype == stored || (dtype == TAPER_F32 && stored == TAPER_F16) ||
           (dtype == TAPER_I64 && stored == TAPER_I32);
}

// Converts the sizes of a port, [N, H, W, C] to PyTorch's [N, C, H, W] for an image.
static void sizes_of_port(const taper_nnapi_port *port, bool image, int64_t *sizes)
{
    static const uint8_t from[] = {0, 3, 1, 2};
    for (uint32_t d = 0; d < port->rank; d++) {
        sizes[d] = port->sizes[image ? from[d] : d];
    }
}

static bool fits(const taper_nnapi_port *port, bool image, size_t rank, const int64_t *sizes)
{
    int64_t there[TAPER_MAX_RANK], count = 1, wanted = 1;
    sizes_of_port(port, image, there);
    for (uint32_t d = 0; d < port->rank; d++) {
        count *= there[d]; // cannot overflow, because there are at most INT32_MAX bytes
    }
    for (size_t d = 0; d < rank; d++) {
        if (sizes[d] <= 0 || sizes[d] > INT32_MAX || wanted > INT32_MAX) {
            return false;
        }
        wanted *= sizes[d];
    }
    return wanted == count && (!image || (rank == 4 && memcmp(there, sizes, sizeof *sizes * 4) == 0));
}

// Returns a tensor over the bytes of a port, for copying.
static taper_tensor tensor_there(const taper_nnapi_recorded_tensor *t, taper_storage *storage, void *data, size_t bytes,
                                 size_t rank, const int64_t *sizes)
{
    *storage = (taper_storage){.kind = TAPER_STORAGE_HOST, .data = data, .bytes = bytes};
    taper_tensor there = {.storage = storage, .dtype = (uint8_t)t->stored, .rank = (uint8_t)rank};
    memcpy(there.sizes, sizes, rank * sizeof *sizes);
    if (t->image) {
        taper_strides_channels_last(rank, sizes, there.strides);
    } else {
        taper_strides_contiguous(rank, sizes, there.strides);
    }
    return there;
}

// ---- recording

typedef struct recorder {
    const taper_segment *segment;
    taper_call *call;
    taper_nnapi_driver *driver;
    taper_nnapi_recording *recording;
    taper_segment_values values;
    taper_image_orders orders;
} recorder;

static taper_status declines(const recorder *r, const char *why)
{
    r->call->run->why = why;
    return TAPER_DECLINED;
}

static taper_status place_input(const recorder *r, uint32_t i)
{
    const taper_network *network = &r->recording->translated.network;
    const taper_nnapi_port *port = &r->recording->execution.ports[i];
    taper_nnapi_recorded_tensor *t = &r->recording->tensors[i];
    const size_t arg = taper_segment_values_argument(&r->values, r->recording->translated.inputs[i]);
    if (arg == SIZE_MAX || r->call->args[arg].tag != TAPER_TENSOR) {
        return declines(r, "an input of the network is no argument");
    }
    const taper_tensor *x = r->call->args[arg].as.tensor;
    t->arg = (uint32_t)arg;
    t->image = network->operands[network->inputs[i]].is_image;
    if (!dtype_of_type(port->type, &t->stored) || !lies_as((taper_dtype)x->dtype, t->stored) ||
        !fits(port, t->image, x->rank, x->sizes)) {
        return declines(r, "an input of the network is not like the argument");
    }
    return TAPER_OK;
}

static taper_status place_output(const recorder *r, uint32_t i)
{
    const taper_network *network = &r->recording->translated.network;
    const uint32_t number = r->recording->execution.in_count + i;
    const taper_nnapi_port *port = &r->recording->execution.ports[number];
    const taper_network_operand *operand = &network->operands[network->outputs[i]];
    const taper_ir_value *value = r->values.body->results[i].value;
    const taper_shape shape = taper_shapes_get(&r->values.shapes, value);
    taper_nnapi_recorded_tensor *t = &r->recording->tensors[number];
    // The operand's is_image is not used here: a permuted value may share the operand of the value that it was permuted
    // from, in another order.
    t->image = network->output_images[i];
    const taper_image_order order = taper_image_orders_get(&r->orders, value);
    if (order == TAPER_ORDER_UNKNOWN) {
        return declines(r, "PyTorch's memory layout of a result is unknown");
    }
    t->last = order == TAPER_ORDER_LAST;
    if (!dtype_of_type(port->type, &t->stored)) {
        return declines(r, "a result has a type that PyTorch does not have");
    }
    t->dtype = shape.dtype >= 0 ? (taper_dtype)shape.dtype : t->stored;
    t->sized = shape.rank >= 0;
    t->rank = t->sized ? (size_t)shape.rank : port->rank;
    for (size_t d = 0; d < t->rank && t->sized; d++) {
        t->sizes[d] = shape.sizes[d];
        t->sized = shape.sizes[d] != TAPER_UNKNOWN;
    }
    if (!lies_as(t->dtype, t->stored) || (t->image && port->rank != 4) || t->rank > TAPER_MAX_RANK ||
        (t->sized && !port->open && !fits(port, t->image, t->rank, t->sizes))) {
        return declines(r, "a result of the network is not like PyTorch's");
    }
    t->quantized = taper_dtype_is_quantized(t->dtype);
    if (t->quantized) {
        const double exact = r->recording->translated.scales[i]; // the exact scale, which NNAPI has only as a float
        t->scale = exact != 0 ? exact : (double)operand->scale;
        t->zero_point = operand->zero_point;
    }
    return TAPER_OK;
}

static taper_status place_tensors(const recorder *r)
{
    const taper_network *network = &r->recording->translated.network;
    const size_t count = (size_t)network->input_count + network->output_count;
    if (network->output_count != r->values.body->result_count) {
        return declines(r, "the network has other results than the segment");
    }
    r->recording->tensors =
        taper_alloc_zeroed(r->segment->device->allocator, (count + 1) * sizeof(taper_nnapi_recorded_tensor));
    if (r->recording->tensors == NULL) {
        return taper_fail_memory(r->call->run->error);
    }
    for (uint32_t i = 0; i < network->input_count; i++) {
        TAPER_TRY(place_input(r, i));
    }
    for (uint32_t i = 0; i < network->output_count; i++) {
        TAPER_TRY(place_output(r, i));
    }
    return TAPER_OK;
}

static taper_status translate(const recorder *r)
{
    const taper_block *body = r->values.body;
    const taper_allocator *allocator = r->segment->device->allocator;
    const taper_translate_options options = {.level = r->driver->level,
                                             .images = true,
                                             .allocator = allocator,
                                             .heap = r->call->run->heap,
                                             .know = taper_segment_values_know,
                                             .user = (void *)(uintptr_t)&r->values};
    size_t count = 0;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        count++;
    }
    taper_arena arena;
    taper_arena_init(&arena, allocator);
    taper_node **nodes = taper_arena_array(&arena, count, sizeof *nodes);
    const taper_ir_value **results = taper_arena_array(&arena, body->result_count, sizeof *results);
    taper_status status = TAPER_OK;
    if (nodes == NULL || results == NULL) {
        status = taper_fail_memory(r->call->run->error);
    } else {
        count = 0;
        for (taper_node *node = body->first; node != NULL; node = node->next) {
            if (node->output_count != 0 || !taper_segment_values_check_holds(&r->values, node)) {
                nodes[count++] = node;
            }
        }
        for (size_t i = 0; i < body->result_count; i++) {
            results[i] = body->results[i].value;
        }
        status = taper_translate(&options, nodes, count, results, body->result_count, &r->recording->translated,
                                 r->call->run->error);
    }
    taper_arena_free(&arena);
    const taper_translated *translated = &r->recording->translated;
    if (status == TAPER_DECLINED) {
        const char *why = translated->why != NULL ? translated->why : "cannot be had";
        const char *op = translated->refused != NULL && translated->refused->schema != NULL
                             ? translated->refused->schema->text
                             : "a node";
        taper_nnapi_say(r->segment, r->call->run, TAPER_LOG_INFO, "the CPU runs this segment: %.*s: %s",
                        (int)strcspn(op, "("), op, why);
        return declines(r, why);
    }
    return status;
}

static taper_status compile(const recorder *r)
{
    taper_nnapi_recording *made = r->recording;
    taper_nnapi_refusal refusal = {NULL, -1};
    const char *why = NULL;
    taper_error *error = r->call->run->error;
    taper_status status = taper_nnapi_compile(r->driver, r->segment->device->cache_dir, &made->translated.network,
                                              &made->compiled, &refusal, error);
    if (status == TAPER_DECLINED) {
        const char *name = taper_nnapi_operation_name(refusal.operation);
        taper_nnapi_say(r->segment, r->call->run, TAPER_LOG_INFO, "the CPU runs this segment: %s%s%s", refusal.why,
                        *name != '\0' ? " " : "", name);
        return declines(r, refusal.why);
    }
    TAPER_TRY(status);
    status = taper_nnapi_execution_create(r->driver, r->segment->device->allocator, &made->translated.network,
                                          &made->compiled, &made->execution, &why, error);
    return status == TAPER_DECLINED ? declines(r, why) : status;
}

static taper_status record(recorder *r)
{
    const double begin = taper_clock();
    TAPER_TRY(taper_segment_values_init(r->segment, r->call, r->segment->device->allocator, &r->values));
    TAPER_TRY(taper_image_orders_init(&r->values, &r->orders));
    TAPER_TRY(translate(r));
    TAPER_TRY(compile(r));
    TAPER_TRY(place_tensors(r));
    const taper_network *network = &r->recording->translated.network;
    taper_nnapi_say(r->segment, r->call->run, TAPER_LOG_INFO, "the driver compiled %zu operations in %.1f ms",
                    network->operation_count, (taper_clock() - begin) * 1e3);
    return TAPER_OK;
}

// Logs the failure and ends the use of the device in this context. Returns TAPER_DEVICE_LOST.
static taper_status tell_trouble(const taper_segment *segment, const taper_run *run_of)
{
    const char *trouble = taper_nnapi_trouble(driver_of(segment));
    if (trouble != NULL && !atomic_load(&segment->device->owner->lost)) {
        taper_nnapi_say(segment, run_of, TAPER_LOG_WARNING, "%s", trouble);
    }
    return TAPER_DEVICE_LOST;
}

taper_status taper_nnapi_record(const taper_segment *segment, taper_call *call, void *recording)
{
    recorder r = {.segment = segment, .call = call, .driver = driver_of(segment), .recording = recording};
    taper_status status = record(&r);
    taper_image_orders_free(&r.orders);
    taper_segment_values_free(&r.values);
    if (status == TAPER_OK && !r.recording->compiled.refers) {
        taper_network_free(&r.recording->translated.network);
    }
    if (status != TAPER_OK) {
        taper_nnapi_forget(segment, recording);
    }
    if (status == TAPER_DEVICE_LOST) {
        call->run->why = taper_nnapi_trouble(r.driver);
        return tell_trouble(segment, call->run);
    }
    return status;
}

void taper_nnapi_forget(const taper_segment *segment, void *recording)
{
    taper_nnapi_recording *r = recording;
    const taper_nnapi_driver *driver = driver_of(segment);
    const size_t count = (size_t)r->execution.in_count + r->execution.out_count + 1;
    if (r->tensors != NULL) {
        taper_free(segment->device->allocator, r->tensors, count * sizeof *r->tensors);
    }
    if (r->execution.compilation != NULL) {
        taper_nnapi_execution_free(driver, &r->execution);
    }
    if (r->compiled.model != NULL) {
        taper_nnapi_compilation_free(driver, &r->compiled);
    }
    if (r->translated.network.allocator != NULL) {
        taper_network_free(&r->translated.network);
    }
    memset(r, 0, sizeof *r);
}

// ---- running a recording

static taper_status copy_in(taper_call *call, const taper_nnapi_recording *r, uint32_t i)
{
    const taper_nnapi_recorded_tensor *t = &r->tensors[i];
    const taper_nnapi_port *port = &r->execution.ports[i];
    const taper_tensor *x = call->args[t->arg].as.tensor;
    taper_storage storage;
    taper_tensor there = tensor_there(t, &storage, taper_nnapi_input(&r->execution, i), port->bytes, x->rank, x->sizes);
    return taper_run_copy(call->run, &there, x);
}

// Makes the tensor of a result. An image that NNAPI returns as NHWC keeps this order (hidden_nhwc, if PyTorch's result
// would be contiguous), so that it need not be transposed.
static taper_status new_result(taper_call *call, const taper_nnapi_recorded_tensor *t, size_t rank,
                               const int64_t *sizes, taper_tensor **y)
{
    int64_t strides[TAPER_MAX_RANK];
    // If the image has one channel or one pixel, contiguous strides describe the same order of bytes as channels-last
    // strides.
    const bool same = t->image && (sizes[1] == 1 || (sizes[2] == 1 && sizes[3] == 1));
    const bool hidden = t->image && !t->last && !same;
    if ((t->last && rank == 4) || hidden) {
        taper_strides_channels_last(rank, sizes, strides);
    } else {
        taper_strides_contiguous(rank, sizes, strides);
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, t->dtype, rank, sizes, strides, y, call->run->error));
    (*y)->hidden_nhwc = hidden;
    return TAPER_OK;
}

static taper_status copy_out(taper_call *call, const taper_nnapi_recording *r, uint32_t i)
{
    const taper_nnapi_recorded_tensor *t = &r->tensors[r->execution.in_count + i];
    const taper_nnapi_port *port = taper_nnapi_output(&r->execution, i);
    int64_t there_sizes[TAPER_MAX_RANK];
    taper_tensor *y;
    sizes_of_port(port, t->image, there_sizes);
    const size_t rank = t->sized ? t->rank : port->rank;
    const int64_t *sizes = t->sized ? t->sizes : there_sizes;
    if (t->sized && port->open && !fits(port, t->image, rank, sizes)) {
        return TAPER_DEVICE_LOST; // the driver's sizes contradict the known shape
    }
    TAPER_TRY(new_result(call, t, rank, sizes, &y));
    taper_ret(call, i, TAPER_VAL(y));
    taper_storage storage;
    const taper_tensor there = tensor_there(t, &storage, r->execution.memory.data + port->at, port->bytes, rank, sizes);
    TAPER_TRY(taper_run_copy(call->run, y, &there));
    const taper_quantizer quantizer = {
        .scheme = TAPER_PER_TENSOR_AFFINE, .scale = t->scale, .zero_point = t->zero_point};
    return t->quantized ? taper_tensor_set_quantizer(y, &quantizer, call->run->error) : TAPER_OK;
}

static taper_status run_device(const taper_segment *segment, taper_call *call, taper_nnapi_recording *r)
{
    taper_nnapi_driver *driver = driver_of(segment);
    for (uint32_t i = 0; i < r->execution.in_count; i++) {
        TAPER_TRY(copy_in(call, r, i));
    }
    taper_status status = taper_nnapi_execution_run(driver, &r->execution, call->run->error);
    for (uint32_t i = 0; i < r->execution.out_count && status == TAPER_OK; i++) {
        status = copy_out(call, r, i);
        if (status == TAPER_DEVICE_LOST) {
            status = taper_nnapi_fail(driver, "says that output %u has other sizes than it must have", (unsigned)i);
        }
    }
    if (status != TAPER_OK) { // the segment's nodes then run on the CPU, from the first one on
        for (size_t i = 0; i < call->ret_count; i++) {
            taper_val_replace(&call->rets[i], taper_val_none());
        }
    }
    if (status == TAPER_DEVICE_LOST) {
        call->run->why = taper_nnapi_trouble(driver);
        return tell_trouble(segment, call->run);
    }
    call->run->kernel = driver->kernel;
    return status;
}

// ---- measuring whether the device or the plain nodes are faster

taper_status taper_nnapi_run(const taper_segment *segment, taper_call *call, void *recording)
{
    taper_nnapi_recording *r = recording;
    if (taper_trial_is_plain(&r->trial)) {
        return TAPER_DECLINED;
    }
    if (segment->required) {
        return run_device(segment, call, r);
    }
    const double begin = taper_clock();
    TAPER_TRY(run_device(segment, call, r));
    call->run->replan |= taper_trial_device(&r->trial, taper_clock() - begin);
    return TAPER_OK;
}

void taper_nnapi_measured(const taper_segment *segment, taper_run *run, void *recording, double seconds)
{
    taper_nnapi_recording *r = recording;
    if (taper_trial_plain(&r->trial, seconds)) {
        const bool plain = taper_trial_is_plain(&r->trial);
        run->replan |= !plain;
        taper_nnapi_say(segment, run, TAPER_LOG_INFO,
                        "%s runs this segment from now on: the device took %.3f ms, the CPU %.3f ms",
                        plain ? "the CPU" : "the device", r->trial.device * 1e3, r->trial.plain * 1e3);
    }
}
