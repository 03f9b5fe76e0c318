// SPDX-License-Identifier: BSD-2-Clause
// Makes models of NNAPI from networks, and compiles them.
#include "backends/nnapi/compilation.h"

#include <string.h>

#include "base/sha256.h"

typedef struct compiler {
    taper_nnapi_driver *driver;
    const char *cache_dir;
    const taper_network *network;
    taper_nnapi_compiled *made;
    taper_nnapi_refusal *refusal;
    taper_error *error;
} compiler;

static taper_status declines(const compiler *c, const char *why, int32_t operation)
{
    *c->refusal = (taper_nnapi_refusal){why, operation};
    return TAPER_DECLINED;
}

// Checks the result of a function that builds or compiles the network. Before level 29, a device cannot list the
// operations that it supports; BAD_DATA then means that the driver refuses the network.
static taper_status refuses(const compiler *c, size_t function, int result)
{
    if (c->driver->level < 29 && result == ANEURALNETWORKS_BAD_DATA) {
        return declines(c, "the driver refuses the network", -1);
    }
    return taper_nnapi_check(c->driver, function, result);
}
#define REFUSES(c, function, ...) refuses(c, TAPER_NNAPI_NUMBER(function), (c)->driver->call.function(__VA_ARGS__))

// ---- building the model of NNAPI

static const void *value_of(const taper_network_operand *operand)
{
    return operand->tensor != NULL ? taper_tensor_data(operand->tensor) : operand->immediate;
}

static bool is_copied(const taper_network_operand *operand) // returns true if NNAPI copies the operand's value
{
    return operand->bytes <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES;
}

static taper_status add_operand(const compiler *c, uint32_t at)
{
    const taper_network_operand *o = &c->network->operands[at];
    const bool scalar = taper_network_is_scalar(o->type);
    const ANeuralNetworksOperandType type = {.type = o->type,
                                             .dimensionCount = scalar ? 0 : o->rank,
                                             .dimensions = scalar || o->rank == 0 ? NULL : o->sizes,
                                             .scale = o->scales != NULL ? 0 : o->scale,
                                             .zeroPoint = o->zero_point};
    if (o->scales != NULL && c->driver->call.Model_setOperandSymmPerChannelQuantParams == NULL) {
        return declines(c, "weights have scales of channels, which NNAPI knows from level 29 on", -1);
    }
    TAPER_TRY(REFUSES(c, Model_addOperand, c->made->model, &type));
    if (o->scales != NULL) {
        const ANeuralNetworksSymmPerChannelQuantParams params = {
            .channelDim = o->channel_dim, .scaleCount = o->sizes[o->channel_dim], .scales = o->scales};
        TAPER_TRY(TAPER_NNAPI_CALL(c->driver, Model_setOperandSymmPerChannelQuantParams, c->made->model, (int32_t)at,
                                   &params));
    }
    return TAPER_OK;
}

// Assigns offsets in the memory of weights to long values. Returns false if the values exceed the limit of one memory.
static bool place_values(const taper_network *network, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < network->operand_count; i++) {
        const taper_network_operand *o = &network->operands[i];
        size_t at;
        if (value_of(o) != NULL && !is_copied(o) && !taper_nnapi_memory_place(size, o->bytes, &at)) {
            return false;
        }
    }
    return true;
}

static taper_status set_values(const compiler *c)
{
    taper_nnapi_memory *weights = &c->made->weights;
    const taper_network *network = c->network;
    size_t size;
    if (place_values(network, &size) && size != 0) {
        (void)taper_nnapi_memory_share(c->driver, size, weights);
    }
    size = 0;
    for (size_t i = 0; i < network->operand_count; i++) {
        const taper_network_operand *o = &network->operands[i];
        const void *value = value_of(o);
        size_t at;
        if (value == NULL) {
            continue;
        }
        if (is_copied(o) || weights->handle == NULL) {
            c->made->refers |= !is_copied(o);
            TAPER_TRY(TAPER_NNAPI_CALL(c->driver, Model_setOperandValue, c->made->model, (int32_t)i, value, o->bytes));
        } else if (taper_nnapi_memory_place(&size, o->bytes, &at)) {
            memcpy(weights->data + at, value, o->bytes);
            TAPER_TRY(TAPER_NNAPI_CALL(c->driver, Model_setOperandValueFromMemory, c->made->model, (int32_t)i,
                                       weights->handle, at, o->bytes));
        }
    }
    return TAPER_OK;
}

// Returns the lowest API level that has the operation. The codes of a level follow the codes of the previous level.
static int level_of_operation(int32_t code)
{
    return code >= 96 ? 30 : code >= ANEURALNETWORKS_ABS ? 29 : code >= ANEURALNETWORKS_DIV ? 28 : 27;
}

static taper_status make_model(const compiler *c)
{
    const taper_network *network = c->network;
    taper_nnapi_driver *driver = c->driver;
    TAPER_TRY(TAPER_NNAPI_CALL(driver, Model_create, &c->made->model));
    for (size_t i = 0; i < network->operand_count; i++) {
        TAPER_TRY(add_operand(c, (uint32_t)i));
    }
    TAPER_TRY(set_values(c));
    for (size_t i = 0; i < network->operation_count; i++) {
        const taper_network_operation *o = &network->operations[i];
        if (level_of_operation(o->code) > driver->level) {
            return declines(c, "the device's level does not have an operation", o->code);
        }
        TAPER_TRY(REFUSES(c, Model_addOperation, c->made->model, o->code, o->in_count, o->in, o->out_count, o->out));
    }
    TAPER_TRY(TAPER_NNAPI_CALL(driver, Model_identifyInputsAndOutputs, c->made->model, network->input_count,
                               network->inputs, network->output_count, network->outputs));
    if (driver->options.relax && driver->call.Model_relaxComputationFloat32toFloat16 != NULL) {
        TAPER_TRY(TAPER_NNAPI_CALL(driver, Model_relaxComputationFloat32toFloat16, c->made->model, true));
    }
    return REFUSES(c, Model_finish, c->made->model);
}

// Declines unless the device supports all operations, because NNAPI's own CPU code would run the unsupported
// operations.
static taper_status ask_what_is_supported(const compiler *c)
{
    taper_nnapi_driver *driver = c->driver;
    const size_t count = c->network->operation_count;
    if (driver->device == NULL) {
        return TAPER_OK;
    }
    bool *supported = taper_alloc_zeroed(c->network->allocator, (count + 1) * sizeof *supported);
    if (supported == NULL) {
        return taper_fail_memory(c->error);
    }
    const ANeuralNetworksDevice *const device = driver->device;
    const taper_status status =
        TAPER_NNAPI_CALL(driver, Model_getSupportedOperationsForDevices, c->made->model, &device, 1, supported);
    size_t first = 0;
    while (first < count && supported[first]) {
        first++;
    }
    taper_free(c->network->allocator, supported, (count + 1) * sizeof *supported);
    TAPER_TRY(status);
    return first == count ? TAPER_OK
                          : declines(c, "the device does not support an operation", c->network->operations[first].code);
}

// ---- the token of cached code

static void add_number(taper_sha256 *hash, uint64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    taper_sha256_add(hash, bytes, sizeof bytes);
}

static void add_bytes(taper_sha256 *hash, const void *bytes, size_t size)
{
    add_number(hash, size);
    taper_sha256_add(hash, bytes, size);
}

static uint64_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void add_numbers(taper_sha256 *hash, const uint32_t *numbers, size_t count)
{
    add_number(hash, count);
    for (size_t i = 0; i < count; i++) {
        add_number(hash, numbers[i]);
    }
}

// Computes a hash of everything that the compiled code depends on.
static void make_token(const compiler *c, uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN])
{
    const taper_network *network = c->network;
    const taper_nnapi_driver *driver = c->driver;
    taper_sha256 hash;
    taper_sha256_begin(&hash);
    add_bytes(&hash, "taper nnapi 1", 13);
    add_bytes(&hash, driver->name, strlen(driver->name));
    add_bytes(&hash, driver->version, strlen(driver->version));
    add_number(&hash, (uint64_t)driver->options.preference);
    add_number(&hash, driver->options.relax);
    add_number(&hash, network->operand_count);
    for (size_t i = 0; i < network->operand_count; i++) {
        const taper_network_operand *o = &network->operands[i];
        add_number(&hash, (uint64_t)o->type);
        add_numbers(&hash, o->sizes, o->rank);
        add_number(&hash, bits_of(o->scale));
        add_number(&hash, (uint64_t)o->zero_point);
        add_number(&hash, o->scales != NULL ? o->channel_dim + (uint64_t)1 : 0);
        for (uint32_t k = 0; o->scales != NULL && k < o->sizes[o->channel_dim]; k++) {
            add_number(&hash, bits_of(o->scales[k]));
        }
        add_number(&hash, value_of(o) != NULL);
        if (value_of(o) != NULL) {
            add_bytes(&hash, value_of(o), o->bytes);
        }
    }
    add_number(&hash, network->operation_count);
    for (size_t i = 0; i < network->operation_count; i++) {
        const taper_network_operation *o = &network->operations[i];
        add_number(&hash, (uint64_t)o->code);
        add_numbers(&hash, o->in, o->in_count);
        add_numbers(&hash, o->out, o->out_count);
    }
    add_numbers(&hash, network->inputs, network->input_count);
    add_numbers(&hash, network->outputs, network->output_count);
    taper_sha256_end(&hash, token);
}

// ---- compiling the model

static taper_status compile(const compiler *c)
{
    taper_nnapi_driver *driver = c->driver;
    ANeuralNetworksCompilation **compilation = &c->made->compilation;
    TAPER_TRY(make_model(c));
    TAPER_TRY(ask_what_is_supported(c));
    if (driver->device != NULL) {
        const ANeuralNetworksDevice *const device = driver->device;
        TAPER_TRY(TAPER_NNAPI_CALL(driver, Compilation_createForDevices, c->made->model, &device, 1, compilation));
    } else {
        TAPER_TRY(TAPER_NNAPI_CALL(driver, Compilation_create, c->made->model, compilation));
    }
    TAPER_TRY(TAPER_NNAPI_CALL(driver, Compilation_setPreference, *compilation, driver->options.preference));
    if (c->cache_dir != NULL && driver->call.Compilation_setCaching != NULL) {
        uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
        make_token(c, token);
        // The result is ignored, because a directory without write access must not prevent the run.
        (void)driver->call.Compilation_setCaching(*compilation, c->cache_dir, token);
    }
    return REFUSES(c, Compilation_finish, *compilation);
}

taper_status taper_nnapi_compile(taper_nnapi_driver *driver, const char *cache_dir, const taper_network *network,
                                 taper_nnapi_compiled *made, taper_nnapi_refusal *refusal, taper_error *error)
{
    *made = (taper_nnapi_compiled){.weights = {.shared = {.fd = -1}}};
    const compiler c = {driver, cache_dir, network, made, refusal, error};
    const taper_status status = compile(&c);
    if (status != TAPER_OK) {
        taper_nnapi_compilation_free(driver, made);
    }
    return status;
}

void taper_nnapi_compilation_free(const taper_nnapi_driver *driver, taper_nnapi_compiled *made)
{
    if (made->compilation != NULL) {
        driver->call.Compilation_free(made->compilation);
    }
    if (made->model != NULL) {
        driver->call.Model_free(made->model);
    }
    taper_nnapi_memory_free(driver, &made->weights);
    *made = (taper_nnapi_compiled){.weights = {.shared = {.fd = -1}}};
}
