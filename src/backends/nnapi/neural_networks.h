// SPDX-License-Identifier: BSD-2-Clause
// Android's NNAPI, API levels 27 to 31: constants, structures, and one list of all functions. Nothing links against the
// system's library. A user of NNAPI makes a table of pointers from the list and fills it by name. A function that the
// phone's level lacks remains NULL.
#ifndef TAPER_BACKENDS_NEURAL_NETWORKS_H
#define TAPER_BACKENDS_NEURAL_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ANeuralNetworksMemory ANeuralNetworksMemory;
typedef struct ANeuralNetworksMemoryDesc ANeuralNetworksMemoryDesc;
typedef struct ANeuralNetworksModel ANeuralNetworksModel;
typedef struct ANeuralNetworksCompilation ANeuralNetworksCompilation;
typedef struct ANeuralNetworksExecution ANeuralNetworksExecution;
typedef struct ANeuralNetworksBurst ANeuralNetworksBurst;
typedef struct ANeuralNetworksEvent ANeuralNetworksEvent;
typedef struct ANeuralNetworksDevice ANeuralNetworksDevice;
typedef struct AHardwareBuffer AHardwareBuffer;

// A scalar has no dimensions and a NULL pointer. A dimension of 0 is not known yet.
typedef struct ANeuralNetworksOperandType {
    int32_t type;
    uint32_t dimensionCount;
    const uint32_t *dimensions;
    float scale;
    int32_t zeroPoint;
} ANeuralNetworksOperandType;

typedef struct ANeuralNetworksSymmPerChannelQuantParams {
    uint32_t channelDim;
    uint32_t scaleCount;
    const float *scales;
} ANeuralNetworksSymmPerChannelQuantParams;

typedef int32_t ANeuralNetworksOperationType;

// ---- results of functions

enum {
    ANEURALNETWORKS_NO_ERROR = 0,
    ANEURALNETWORKS_OUT_OF_MEMORY = 1,
    ANEURALNETWORKS_INCOMPLETE = 2,
    ANEURALNETWORKS_UNEXPECTED_NULL = 3,
    ANEURALNETWORKS_BAD_DATA = 4,
    ANEURALNETWORKS_OP_FAILED = 5,
    ANEURALNETWORKS_BAD_STATE = 6,
    ANEURALNETWORKS_UNMAPPABLE = 7,
    ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE = 8,
    ANEURALNETWORKS_UNAVAILABLE_DEVICE = 9,
    ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT = 10,
    ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT = 11,
    ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT = 12,
    ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT = 13,
    ANEURALNETWORKS_DEAD_OBJECT = 14
};

// ---- types of operands

enum {
    ANEURALNETWORKS_FLOAT32 = 0,
    ANEURALNETWORKS_INT32 = 1,
    ANEURALNETWORKS_UINT32 = 2,
    ANEURALNETWORKS_TENSOR_FLOAT32 = 3,
    ANEURALNETWORKS_TENSOR_INT32 = 4,
    ANEURALNETWORKS_TENSOR_QUANT8_ASYMM = 5,
    ANEURALNETWORKS_BOOL = 6, // this value and the following ones exist since level 29
    ANEURALNETWORKS_TENSOR_QUANT16_SYMM = 7,
    ANEURALNETWORKS_TENSOR_FLOAT16 = 8,
    ANEURALNETWORKS_TENSOR_BOOL8 = 9,
    ANEURALNETWORKS_FLOAT16 = 10,
    ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL = 11,
    ANEURALNETWORKS_TENSOR_QUANT16_ASYMM = 12,
    ANEURALNETWORKS_TENSOR_QUANT8_SYMM = 13,
    ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED = 14, // this value exists since level 30
    ANEURALNETWORKS_MODEL = 15                       // this value exists since level 30
};

// Values of at most this many bytes are copied when they are set. Longer values must remain valid until the model is
// freed.
enum { ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES = 128 };
enum { ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN = 32 };

// ---- operations

enum {
    ANEURALNETWORKS_ADD = 0,
    ANEURALNETWORKS_AVERAGE_POOL_2D = 1,
    ANEURALNETWORKS_CONCATENATION = 2,
    ANEURALNETWORKS_CONV_2D = 3,
    ANEURALNETWORKS_DEPTHWISE_CONV_2D = 4,
    ANEURALNETWORKS_DEPTH_TO_SPACE = 5,
    ANEURALNETWORKS_DEQUANTIZE = 6,
    ANEURALNETWORKS_FLOOR = 8,
    ANEURALNETWORKS_FULLY_CONNECTED = 9,
    ANEURALNETWORKS_L2_NORMALIZATION = 11,
    ANEURALNETWORKS_LOGISTIC = 14,
    ANEURALNETWORKS_MAX_POOL_2D = 17,
    ANEURALNETWORKS_MUL = 18,
    ANEURALNETWORKS_RELU = 19,
    ANEURALNETWORKS_RELU1 = 20,
    ANEURALNETWORKS_RELU6 = 21,
    ANEURALNETWORKS_RESHAPE = 22,
    ANEURALNETWORKS_RESIZE_BILINEAR = 23,
    ANEURALNETWORKS_SOFTMAX = 25,
    ANEURALNETWORKS_TANH = 28,
    ANEURALNETWORKS_DIV = 30, // this value and the following ones exist since level 28
    ANEURALNETWORKS_MEAN = 31,
    ANEURALNETWORKS_PAD = 32,
    ANEURALNETWORKS_SQUEEZE = 34,
    ANEURALNETWORKS_STRIDED_SLICE = 35,
    ANEURALNETWORKS_SUB = 36,
    ANEURALNETWORKS_TRANSPOSE = 37,
    ANEURALNETWORKS_ABS = 38, // this value and the following ones exist since level 29
    ANEURALNETWORKS_CHANNEL_SHUFFLE = 46,
    ANEURALNETWORKS_EXP = 49,
    ANEURALNETWORKS_EXPAND_DIMS = 50,
    ANEURALNETWORKS_GROUPED_CONV_2D = 55,
    ANEURALNETWORKS_LOG = 60,
    ANEURALNETWORKS_LOG_SOFTMAX = 64,
    ANEURALNETWORKS_MAXIMUM = 65,
    ANEURALNETWORKS_MINIMUM = 66,
    ANEURALNETWORKS_NEG = 67,
    ANEURALNETWORKS_PAD_V2 = 69,
    ANEURALNETWORKS_POW = 70,
    ANEURALNETWORKS_PRELU = 71,
    ANEURALNETWORKS_QUANTIZE = 72,
    ANEURALNETWORKS_REDUCE_MAX = 77,
    ANEURALNETWORKS_REDUCE_MIN = 78,
    ANEURALNETWORKS_REDUCE_SUM = 80,
    ANEURALNETWORKS_RSQRT = 83,
    ANEURALNETWORKS_SLICE = 86,
    ANEURALNETWORKS_SPLIT = 87,
    ANEURALNETWORKS_SQRT = 88,
    ANEURALNETWORKS_TRANSPOSE_CONV_2D = 91,
    ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR = 94,
    ANEURALNETWORKS_HARD_SWISH = 99 // this value exists since level 30
};

enum {
    ANEURALNETWORKS_FUSED_NONE = 0,
    ANEURALNETWORKS_FUSED_RELU = 1,
    ANEURALNETWORKS_FUSED_RELU1 = 2,
    ANEURALNETWORKS_FUSED_RELU6 = 3
};

enum { ANEURALNETWORKS_PADDING_SAME = 1, ANEURALNETWORKS_PADDING_VALID = 2 };

// ---- compiling and running

enum {
    ANEURALNETWORKS_PREFER_LOW_POWER = 0,
    ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER = 1,
    ANEURALNETWORKS_PREFER_SUSTAINED_SPEED = 2
};

enum { ANEURALNETWORKS_PRIORITY_LOW = 90, ANEURALNETWORKS_PRIORITY_MEDIUM = 100, ANEURALNETWORKS_PRIORITY_HIGH = 110 };

enum {
    ANEURALNETWORKS_DEVICE_UNKNOWN = 0,
    ANEURALNETWORKS_DEVICE_OTHER = 1,
    ANEURALNETWORKS_DEVICE_CPU = 2,
    ANEURALNETWORKS_DEVICE_GPU = 3,
    ANEURALNETWORKS_DEVICE_ACCELERATOR = 4
};

enum {
    ANEURALNETWORKS_DURATION_ON_HARDWARE = 0,
    ANEURALNETWORKS_DURATION_IN_DRIVER = 1,
    ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE = 2, // this value exists since level 30
    ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER = 3
};

// ---- functions: FUNCTION(first API level, result, name after ANeuralNetworks, arguments)

// clang-format off
#define NEURAL_NETWORKS_FUNCTIONS(FUNCTION)                                                                            \
    FUNCTION(27, int, Memory_createFromFd, (size_t size, int protect, int fd, size_t offset, ANeuralNetworksMemory **memory)) \
    FUNCTION(27, void, Memory_free, (ANeuralNetworksMemory *memory))                                                   \
    FUNCTION(27, int, Model_create, (ANeuralNetworksModel **model))                                                    \
    FUNCTION(27, void, Model_free, (ANeuralNetworksModel *model))                                                      \
    FUNCTION(27, int, Model_finish, (ANeuralNetworksModel *model))                                                     \
    FUNCTION(27, int, Model_addOperand, (ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type))         \
    FUNCTION(27, int, Model_setOperandValue, (ANeuralNetworksModel *model, int32_t index, const void *buffer, size_t length)) \
    FUNCTION(27, int, Model_setOperandValueFromMemory, (ANeuralNetworksModel *model, int32_t index,                    \
             const ANeuralNetworksMemory *memory, size_t offset, size_t length))                                       \
    FUNCTION(27, int, Model_addOperation, (ANeuralNetworksModel *model, ANeuralNetworksOperationType type,             \
             uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs))              \
    FUNCTION(27, int, Model_identifyInputsAndOutputs, (ANeuralNetworksModel *model, uint32_t inputCount,               \
             const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs))                                   \
    FUNCTION(27, int, Compilation_create, (ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation))     \
    FUNCTION(27, void, Compilation_free, (ANeuralNetworksCompilation *compilation))                                    \
    FUNCTION(27, int, Compilation_setPreference, (ANeuralNetworksCompilation *compilation, int32_t preference))        \
    FUNCTION(27, int, Compilation_finish, (ANeuralNetworksCompilation *compilation))                                   \
    FUNCTION(27, int, Execution_create, (ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution)) \
    FUNCTION(27, void, Execution_free, (ANeuralNetworksExecution *execution))                                          \
    FUNCTION(27, int, Execution_setInput, (ANeuralNetworksExecution *execution, int32_t index,                         \
             const ANeuralNetworksOperandType *type, const void *buffer, size_t length))                               \
    FUNCTION(27, int, Execution_setInputFromMemory, (ANeuralNetworksExecution *execution, int32_t index,               \
             const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory, size_t offset, size_t length)) \
    FUNCTION(27, int, Execution_setOutput, (ANeuralNetworksExecution *execution, int32_t index,                        \
             const ANeuralNetworksOperandType *type, void *buffer, size_t length))                                     \
    FUNCTION(27, int, Execution_setOutputFromMemory, (ANeuralNetworksExecution *execution, int32_t index,              \
             const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory, size_t offset, size_t length)) \
    FUNCTION(27, int, Execution_startCompute, (ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event))     \
    FUNCTION(27, int, Event_wait, (ANeuralNetworksEvent *event))                                                       \
    FUNCTION(27, void, Event_free, (ANeuralNetworksEvent *event))                                                      \
    FUNCTION(28, int, Model_relaxComputationFloat32toFloat16, (ANeuralNetworksModel *model, bool allow))               \
    FUNCTION(29, int, _getDeviceCount, (uint32_t *numDevices))                                                         \
    FUNCTION(29, int, _getDevice, (uint32_t devIndex, ANeuralNetworksDevice **device))                                 \
    FUNCTION(29, int, Device_getName, (const ANeuralNetworksDevice *device, const char **name))                        \
    FUNCTION(29, int, Device_getType, (const ANeuralNetworksDevice *device, int32_t *type))                            \
    FUNCTION(29, int, Device_getVersion, (const ANeuralNetworksDevice *device, const char **version))                  \
    FUNCTION(29, int, Device_getFeatureLevel, (const ANeuralNetworksDevice *device, int64_t *featureLevel))            \
    FUNCTION(29, int, Memory_createFromAHardwareBuffer, (const AHardwareBuffer *buffer, ANeuralNetworksMemory **memory)) \
    FUNCTION(29, int, Model_setOperandSymmPerChannelQuantParams, (ANeuralNetworksModel *model, int32_t index,          \
             const ANeuralNetworksSymmPerChannelQuantParams *channelQuant))                                            \
    FUNCTION(29, int, Model_getSupportedOperationsForDevices, (const ANeuralNetworksModel *model,                      \
             const ANeuralNetworksDevice *const *devices, uint32_t numDevices, bool *supportedOps))                    \
    FUNCTION(29, int, Compilation_createForDevices, (ANeuralNetworksModel *model,                                      \
             const ANeuralNetworksDevice *const *devices, uint32_t numDevices, ANeuralNetworksCompilation **compilation)) \
    FUNCTION(29, int, Compilation_setCaching, (ANeuralNetworksCompilation *compilation, const char *cacheDir,          \
             const uint8_t *token))                                                                                    \
    FUNCTION(29, int, Execution_compute, (ANeuralNetworksExecution *execution))                                        \
    FUNCTION(29, int, Execution_getOutputOperandRank, (ANeuralNetworksExecution *execution, int32_t index, uint32_t *rank)) \
    FUNCTION(29, int, Execution_getOutputOperandDimensions, (ANeuralNetworksExecution *execution, int32_t index,       \
             uint32_t *dimensions))                                                                                    \
    FUNCTION(29, int, Execution_setMeasureTiming, (ANeuralNetworksExecution *execution, bool measure))                 \
    FUNCTION(29, int, Execution_getDuration, (const ANeuralNetworksExecution *execution, int32_t durationCode,         \
             uint64_t *duration))                                                                                      \
    FUNCTION(29, int, Burst_create, (ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst))           \
    FUNCTION(29, void, Burst_free, (ANeuralNetworksBurst *burst))                                                      \
    FUNCTION(29, int, Execution_burstCompute, (ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst))      \
    FUNCTION(30, int, Device_wait, (const ANeuralNetworksDevice *device))                                              \
    FUNCTION(30, uint64_t, _getDefaultLoopTimeout, (void))                                                             \
    FUNCTION(30, uint64_t, _getMaximumLoopTimeout, (void))                                                             \
    FUNCTION(30, int, Model_setOperandValueFromModel, (ANeuralNetworksModel *model, int32_t index,                     \
             const ANeuralNetworksModel *value))                                                                       \
    FUNCTION(30, int, Compilation_setPriority, (ANeuralNetworksCompilation *compilation, int priority))                \
    FUNCTION(30, int, Compilation_setTimeout, (ANeuralNetworksCompilation *compilation, uint64_t duration))            \
    FUNCTION(30, int, MemoryDesc_create, (ANeuralNetworksMemoryDesc **desc))                                           \
    FUNCTION(30, void, MemoryDesc_free, (ANeuralNetworksMemoryDesc *desc))                                             \
    FUNCTION(30, int, MemoryDesc_addInputRole, (ANeuralNetworksMemoryDesc *desc,                                       \
             const ANeuralNetworksCompilation *compilation, uint32_t index, float frequency))                          \
    FUNCTION(30, int, MemoryDesc_addOutputRole, (ANeuralNetworksMemoryDesc *desc,                                      \
             const ANeuralNetworksCompilation *compilation, uint32_t index, float frequency))                          \
    FUNCTION(30, int, MemoryDesc_setDimensions, (ANeuralNetworksMemoryDesc *desc, uint32_t rank, const uint32_t *dimensions)) \
    FUNCTION(30, int, MemoryDesc_finish, (ANeuralNetworksMemoryDesc *desc))                                            \
    FUNCTION(30, int, Memory_createFromDesc, (const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory))  \
    FUNCTION(30, int, Memory_copy, (const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst))               \
    FUNCTION(30, int, Execution_setTimeout, (ANeuralNetworksExecution *execution, uint64_t duration))                  \
    FUNCTION(30, int, Execution_setLoopTimeout, (ANeuralNetworksExecution *execution, uint64_t duration))              \
    FUNCTION(30, int, Execution_startComputeWithDependencies, (ANeuralNetworksExecution *execution,                    \
             const ANeuralNetworksEvent *const *dependencies, uint32_t numDependencies, uint64_t duration,             \
             ANeuralNetworksEvent **event))                                                                            \
    FUNCTION(30, int, Event_createFromSyncFenceFd, (int syncFenceFd, ANeuralNetworksEvent **event))                    \
    FUNCTION(30, int, Event_getSyncFenceFd, (const ANeuralNetworksEvent *event, int *syncFenceFd))                     \
    FUNCTION(31, int64_t, _getRuntimeFeatureLevel, (void))                                                             \
    FUNCTION(31, int, Execution_setReusable, (ANeuralNetworksExecution *execution, bool reusable))                     \
    FUNCTION(31, int, Execution_enableInputAndOutputPadding, (ANeuralNetworksExecution *execution, bool enable))       \
    FUNCTION(31, int, Compilation_getPreferredMemoryAlignmentForInput, (const ANeuralNetworksCompilation *compilation, \
             uint32_t index, uint32_t *alignment))                                                                     \
    FUNCTION(31, int, Compilation_getPreferredMemoryPaddingForInput, (const ANeuralNetworksCompilation *compilation,   \
             uint32_t index, uint32_t *padding))                                                                       \
    FUNCTION(31, int, Compilation_getPreferredMemoryAlignmentForOutput, (const ANeuralNetworksCompilation *compilation, \
             uint32_t index, uint32_t *alignment))                                                                     \
    FUNCTION(31, int, Compilation_getPreferredMemoryPaddingForOutput, (const ANeuralNetworksCompilation *compilation,  \
             uint32_t index, uint32_t *padding))
// clang-format on

// The types of the functions: ANeuralNetworksModel_create_fn and so on.
#define NEURAL_NETWORKS_TYPE(level, result, name, arguments) typedef result(*ANeuralNetworks##name##_fn) arguments;
NEURAL_NETWORKS_FUNCTIONS(NEURAL_NETWORKS_TYPE)
#undef NEURAL_NETWORKS_TYPE

#endif
