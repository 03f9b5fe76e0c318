// SPDX-License-Identifier: BSD-2-Clause
// Executions, by the best method that the API level has: an execution that is reused (31); a new execution for each
// run, in a burst (29); or a new execution for each run, which waits for an event (before 29).
#include "backends/nnapi/execution.h"

#include <string.h>

// FIRST_ROOM: bytes for an output of unknown size in the first run; RUNS_TO_FIT: largest number of runs until all
// outputs fit in their memory.
enum { FIRST_ROOM = 1 << 16, RUNS_TO_FIT = 3 };

// ---- the memory of inputs and outputs

// Returns the number of bytes of a tensor with these sizes, or 0 if the tensor is empty or too large.
static size_t bytes_of(const taper_nnapi_port *port, const uint32_t *sizes)
{
    uint64_t bytes = port->item;
    for (uint32_t d = 0; d < port->rank; d++) {
        bytes *= sizes[d];
        if (bytes > INT32_MAX) {
            return 0;
        }
    }
    return (size_t)bytes;
}

static bool read_port(taper_nnapi_port *port, const taper_network_operand *operand)
{
    *port = (taper_nnapi_port){.type = operand->type, .rank = operand->rank, .item = taper_network_item(operand->type)};
    if (port->rank > TAPER_MAX_RANK || port->item == 0 || taper_network_is_scalar(port->type)) {
        return false;
    }
    memcpy(port->declared, operand->sizes, port->rank * sizeof *port->declared);
    memcpy(port->sizes, operand->sizes, port->rank * sizeof *port->sizes);
    for (uint32_t d = 0; d < port->rank; d++) {
        port->open |= port->declared[d] == 0;
    }
    port->bytes = port->open ? FIRST_ROOM : bytes_of(port, port->sizes);
    return port->bytes != 0;
}

static taper_status make_memory(taper_nnapi_driver *driver, taper_nnapi_execution *e, taper_error *error)
{
    size_t size = 0;
    for (uint32_t i = 0; i < e->in_count + e->out_count; i++) {
        if (!taper_nnapi_memory_place(&size, e->ports[i].bytes, &e->ports[i].at)) {
            return TAPER_DECLINED;
        }
    }
    return taper_nnapi_memory_create(driver, e->allocator, size, &e->memory, error);
}

// ---- one execution

// Tells the execution the memory of all inputs and outputs.
static taper_status set_up(taper_nnapi_driver *driver, const taper_nnapi_execution *e, ANeuralNetworksExecution *x)
{
    ANeuralNetworksMemory *const shared = e->memory.handle;
    for (uint32_t i = 0; i < e->in_count + e->out_count; i++) {
        const taper_nnapi_port *p = &e->ports[i];
        char *const data = e->memory.data + p->at;
        if (i < e->in_count) {
            TAPER_TRY(shared != NULL
                          ? TAPER_NNAPI_CALL(driver, Execution_setInputFromMemory, x, (int32_t)i, NULL, shared, p->at,
                                             p->bytes)
                          : TAPER_NNAPI_CALL(driver, Execution_setInput, x, (int32_t)i, NULL, data, p->bytes));
        } else {
            const int32_t out = (int32_t)(i - e->in_count);
            TAPER_TRY(shared != NULL ? TAPER_NNAPI_CALL(driver, Execution_setOutputFromMemory, x, out, NULL, shared,
                                                        p->at, p->bytes)
                                     : TAPER_NNAPI_CALL(driver, Execution_setOutput, x, out, NULL, data, p->bytes));
        }
    }
    return TAPER_OK;
}

static taper_status begin(taper_nnapi_driver *driver, taper_nnapi_execution *e, ANeuralNetworksExecution **x)
{
    *x = e->execution;
    if (*x != NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_NNAPI_CALL(driver, Execution_create, e->compilation, x));
    taper_status status = TAPER_OK;
    const bool again = driver->call.Execution_setReusable != NULL;
    if (again) {
        status = TAPER_NNAPI_CALL(driver, Execution_setReusable, *x, true);
    }
    if (status == TAPER_OK) {
        status = set_up(driver, e, *x);
    }
    if (status != TAPER_OK) {
        driver->call.Execution_free(*x);
    } else if (again) {
        e->execution = *x;
    }
    return status;
}

static void end(const taper_nnapi_driver *driver, taper_nnapi_execution *e, ANeuralNetworksExecution *x)
{
    if (x != NULL && x != e->execution) {
        driver->call.Execution_free(x);
    }
}

// Runs the execution. Returns the number of the function that was called, for messages. *result receives its result.
static size_t compute(const taper_nnapi_driver *driver, const taper_nnapi_execution *e, ANeuralNetworksExecution *x,
                      int *result)
{
    if (e->burst != NULL) {
        *result = driver->call.Execution_burstCompute(x, e->burst);
        return TAPER_NNAPI_NUMBER(Execution_burstCompute);
    }
    if (driver->call.Execution_compute != NULL) {
        *result = driver->call.Execution_compute(x);
        return TAPER_NNAPI_NUMBER(Execution_compute);
    }
    ANeuralNetworksEvent *event = NULL;
    *result = driver->call.Execution_startCompute(x, &event);
    if (*result != ANEURALNETWORKS_NO_ERROR) {
        return TAPER_NNAPI_NUMBER(Execution_startCompute);
    }
    *result = driver->call.Event_wait(event);
    driver->call.Event_free(event);
    return TAPER_NNAPI_NUMBER(Event_wait);
}

// ---- sizes that only the run determines

// Reads the sizes of an output. Sizes that contradict the network, or each other, are a failure of the driver.
static taper_status ask_sizes(taper_nnapi_driver *driver, const taper_nnapi_execution *e, ANeuralNetworksExecution *x,
                              uint32_t i, bool fits)
{
    enum { MOST = 64 };
    taper_nnapi_port *port = &e->ports[e->in_count + i];
    uint32_t rank = 0, sizes[MOST] = {0};
    // Execution_getOutputOperandRank and Execution_getOutputOperandDimensions return the same result as the run.
    const int wanted = fits ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    int result = driver->call.Execution_getOutputOperandRank(x, (int32_t)i, &rank);
    if (result != ANEURALNETWORKS_NO_ERROR && result != wanted) {
        return taper_nnapi_check(driver, TAPER_NNAPI_NUMBER(Execution_getOutputOperandRank), result);
    }
    if (rank != port->rank) {
        return taper_nnapi_fail(driver, "says that output %u has %u dimensions, not %u", (unsigned)i, (unsigned)rank,
                                (unsigned)port->rank);
    }
    result = driver->call.Execution_getOutputOperandDimensions(x, (int32_t)i, sizes);
    if (result != ANEURALNETWORKS_NO_ERROR && result != wanted) {
        return taper_nnapi_check(driver, TAPER_NNAPI_NUMBER(Execution_getOutputOperandDimensions), result);
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (sizes[d] == 0 || (port->declared[d] != 0 && sizes[d] != port->declared[d])) {
            return taper_nnapi_fail(driver, "says that dimension %u of output %u is %u", (unsigned)d, (unsigned)i,
                                    (unsigned)sizes[d]);
        }
    }
    const size_t bytes = bytes_of(port, sizes);
    if (bytes == 0 || (fits && bytes > port->bytes)) {
        return taper_nnapi_fail(driver, "says that output %u is larger than its memory", (unsigned)i);
    }
    memcpy(port->sizes, sizes, rank * sizeof *sizes);
    port->bytes = bytes > port->bytes ? bytes : port->bytes;
    return TAPER_OK;
}

static taper_status ask_all_sizes(taper_nnapi_driver *driver, const taper_nnapi_execution *e,
                                  ANeuralNetworksExecution *x, bool fits)
{
    for (uint32_t i = 0; i < e->out_count; i++) {
        if (e->ports[e->in_count + i].open) {
            TAPER_TRY(ask_sizes(driver, e, x, i, fits));
        }
    }
    return TAPER_OK;
}

// Allocates a larger memory and copies the inputs to it.
static taper_status grow(taper_nnapi_driver *driver, taper_nnapi_execution *e, taper_error *error)
{
    taper_nnapi_memory before = e->memory;
    if (e->execution != NULL) {
        driver->call.Execution_free(e->execution);
        e->execution = NULL;
    }
    // Inputs come first, so their offsets do not change.
    const size_t inputs = e->in_count + e->out_count == 0 || e->in_count == 0 ? 0 : e->ports[e->in_count].at;
    const taper_status status = make_memory(driver, e, error);
    if (status == TAPER_OK) {
        memcpy(e->memory.data, before.data, inputs);
    } else {
        e->memory = (taper_nnapi_memory){.shared = {.fd = -1}};
    }
    taper_nnapi_memory_free(driver, &before);
    return status;
}

taper_status taper_nnapi_execution_run(taper_nnapi_driver *driver, taper_nnapi_execution *e, taper_error *error)
{
    for (int tries = 0; tries < RUNS_TO_FIT; tries++) {
        ANeuralNetworksExecution *x;
        int result;
        TAPER_TRY(begin(driver, e, &x));
        const size_t function = compute(driver, e, x, &result);
        const size_t size = e->memory.size;
        size_t wanted = 0;
        bool smaller = false;
        taper_status status;
        if (result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE && driver->level >= 29) {
            status = ask_all_sizes(driver, e, x, false);
            for (uint32_t i = 0; i < e->in_count + e->out_count; i++) {
                size_t at;
                smaller |= !taper_nnapi_memory_place(&wanted, e->ports[i].bytes, &at);
            }
            if (status == TAPER_OK && (smaller || wanted <= size)) {
                status = taper_nnapi_check(driver, function, result); // the driver gives contradictory sizes
            }
            end(driver, e, x);
            TAPER_TRY(status);
            TAPER_TRY(grow(driver, e, error));
            continue;
        }
        status = taper_nnapi_check(driver, function, result);
        if (status == TAPER_OK) {
            status = ask_all_sizes(driver, e, x, true);
        }
        end(driver, e, x);
        return status;
    }
    return taper_nnapi_fail(driver, "asks for more and more memory for its results");
}

// ---- making and freeing

static taper_status make(taper_nnapi_driver *driver, const taper_network *network, taper_nnapi_execution *e,
                         const char **why, taper_error *error)
{
    e->ports = taper_alloc_zeroed(e->allocator, ((size_t)e->in_count + e->out_count + 1) * sizeof *e->ports);
    if (e->ports == NULL) {
        return taper_fail_memory(error);
    }
    for (uint32_t i = 0; i < e->in_count + e->out_count; i++) {
        const uint32_t operand = i < e->in_count ? network->inputs[i] : network->outputs[i - e->in_count];
        if (!read_port(&e->ports[i], &network->operands[operand])) {
            *why = "an input or a result has a type or sizes that cannot be handed over";
            return TAPER_DECLINED;
        }
        if (e->ports[i].open && (i < e->in_count || driver->call.Execution_getOutputOperandRank == NULL ||
                                 driver->call.Execution_getOutputOperandDimensions == NULL)) {
            *why = "sizes depend on the run, which NNAPI knows for results from level 29 on";
            return TAPER_DECLINED;
        }
    }
    *why = "inputs and results are too large";
    TAPER_TRY(make_memory(driver, e, error));
    if (driver->call.Burst_create != NULL && driver->call.Burst_free != NULL &&
        driver->call.Execution_burstCompute != NULL) {
        TAPER_TRY(TAPER_NNAPI_CALL(driver, Burst_create, e->compilation, &e->burst));
    }
    return TAPER_OK;
}

taper_status taper_nnapi_execution_create(taper_nnapi_driver *driver, const taper_allocator *allocator,
                                          const taper_network *network, const taper_nnapi_compiled *compiled,
                                          taper_nnapi_execution *e, const char **why, taper_error *error)
{
    *e = (taper_nnapi_execution){.allocator = allocator,
                                 .compilation = compiled->compilation,
                                 .in_count = network->input_count,
                                 .out_count = network->output_count,
                                 .memory = {.shared = {.fd = -1}}};
    const taper_status status = make(driver, network, e, why, error);
    if (status != TAPER_OK) {
        taper_nnapi_execution_free(driver, e);
    }
    return status;
}

void taper_nnapi_execution_free(const taper_nnapi_driver *driver, taper_nnapi_execution *e)
{
    if (e->execution != NULL) {
        driver->call.Execution_free(e->execution);
    }
    if (e->burst != NULL) {
        driver->call.Burst_free(e->burst);
    }
    taper_nnapi_memory_free(driver, &e->memory);
    if (e->ports != NULL) {
        taper_free(e->allocator, e->ports, ((size_t)e->in_count + e->out_count + 1) * sizeof *e->ports);
    }
    *e = (taper_nnapi_execution){.memory = {.shared = {.fd = -1}}};
}
