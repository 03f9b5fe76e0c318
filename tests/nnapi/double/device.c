// SPDX-License-Identifier: BSD-2-Clause
// Two devices, an accelerator and a reference, which support the same operations.
#include "model.h"

#if DOUBLE_LEVEL >= 29

typedef struct device {
    const char *name;
    int32_t type;
} device;
static const device devices[] = {{"double-accelerator", ANEURALNETWORKS_DEVICE_ACCELERATOR},
                                 {"double-reference", ANEURALNETWORKS_DEVICE_CPU}};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static int find_device(const ANeuralNetworksDevice *handle, uint32_t *at)
{
    if (handle == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "the device is NULL");
    }
    for (*at = 0; *at < DEVICES; (*at)++) {
        if ((const void *)handle == (const void *)&devices[*at]) {
            return ANEURALNETWORKS_NO_ERROR;
        }
    }
    return double_misuse(ANEURALNETWORKS_BAD_DATA, "what should be a device is none");
}

int double_devices(const ANeuralNetworksDevice *const *list, uint32_t count, uint32_t *bits)
{
    *bits = 0;
    if (list == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "the list of devices is NULL");
    }
    if (count == 0) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "the list of devices is empty");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at;
        const int code = find_device(list[i], &at);
        if (code != ANEURALNETWORKS_NO_ERROR) {
            return code;
        }
        if ((*bits >> at & 1) != 0) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s is in the list twice", devices[at].name);
        }
        *bits |= 1u << at;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

// Logs a misuse if `pointer`, to which a function writes its result, is NULL.
#define CHECK_ANSWER(pointer)                                                                                          \
    if ((pointer) == NULL) {                                                                                           \
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the answer should go is NULL");                                 \
    }

int ANeuralNetworks_getDeviceCount(uint32_t *numDevices)
{
    ENTER;
    CHECK_ANSWER(numDevices);
    *numDevices = double_has_no_devices() ? 0 : DEVICES;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **handle)
{
    ENTER;
    CHECK_ANSWER(handle);
    if (devIndex >= (double_has_no_devices() ? 0 : DEVICES)) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "device %u", devIndex);
    }
    *handle = (ANeuralNetworksDevice *)(uintptr_t)&devices[devIndex];
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *handle, const char **name)
{
    ENTER;
    uint32_t at;
    CHECK_ANSWER(name);
    TRY(find_device(handle, &at));
    *name = devices[at].name;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *handle, int32_t *type)
{
    ENTER;
    uint32_t at;
    CHECK_ANSWER(type);
    TRY(find_device(handle, &at));
    *type = devices[at].type;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *handle, const char **version)
{
    ENTER;
    uint32_t at;
    CHECK_ANSWER(version);
    TRY(find_device(handle, &at));
    *version = "1";
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *handle, int64_t *featureLevel)
{
    ENTER;
    uint32_t at;
    CHECK_ANSWER(featureLevel);
    TRY(find_device(handle, &at));
    *featureLevel = DOUBLE_LEVEL;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                          const ANeuralNetworksDevice *const *list, uint32_t numDevices,
                                                          bool *supportedOps)
{
    ENTER;
    model_body *body;
    uint32_t bits;
    TRY(double_find(model, DOUBLE_MODEL, &body));
    CHECK_ANSWER(supportedOps);
    TRY(double_devices(list, numDevices, &bits));
    if (!body->finished) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the model is not finished");
    }
    for (uint32_t i = 0; i < body->operation_count; i++) {
        const operation *op = &body->operations[i];
        supportedOps[i] = op->row != NULL && !double_refuses(op->code);
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

#if DOUBLE_LEVEL >= 30
int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *handle)
{
    ENTER;
    uint32_t at;
    TRY(find_device(handle, &at));
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

uint64_t ANeuralNetworks_getDefaultLoopTimeout(void)
{
    return 2000000000u; // time in nanoseconds
}

uint64_t ANeuralNetworks_getMaximumLoopTimeout(void)
{
    return 15000000000u;
}
#endif

#if DOUBLE_LEVEL >= 31
int64_t ANeuralNetworks_getRuntimeFeatureLevel(void)
{
    return DOUBLE_LEVEL;
}
#endif

#endif

typedef int device_unit; // below API level 29 this file would be empty, which C does not allow
