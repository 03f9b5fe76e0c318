/* SPDX-License-Identifier: BSD-2-Clause */
// DLPack: tensors that libraries exchange without copying. The structs are those of DLPack 0.6, which libtorch 1.13
// has.
#ifndef TAPER_CPP_DLPACK_H
#define TAPER_CPP_DLPACK_H

#include <cstdint>
#include <memory>

#include <taper/cpp/from_blob.h>
#include <taper/cpp/functions.h>

// Another library's header of DLPack declares the same structs under the same include guard.
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_VERSION 60

typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int device_id;
} DLDevice;

typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
} DLDataTypeCode;

typedef struct {
    uint8_t code;   // a DLDataTypeCode
    uint8_t bits;   // size of an element, in bits
    uint16_t lanes; // 1, unless elements are vectors
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;     // in elements; null for a contiguous tensor
    uint64_t byte_offset; // number of bytes from data to the first element
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    // Releases the tensor; null if nothing must be released. The library that takes the tensor calls this function
    // once.
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#endif

namespace at
{

// Throws for a dtype that DLPack does not have, such as bool.
inline DLDataType getDLDataType(const Tensor &tensor)
{
    const c10::ScalarType type = tensor.scalar_type();
    TORCH_CHECK(type != c10::kBool, "Bool type is not supported by dlpack");
    TORCH_CHECK(!c10::isQIntType(type), "QUInt/QInt types are not supported by dlpack");
    const bool is_integer = c10::isIntegralType(type, false);
    DLDataType made;
    made.code = static_cast<uint8_t>(type == c10::kByte         ? kDLUInt
                                     : is_integer               ? kDLInt
                                     : type == c10::kBFloat16   ? kDLBfloat
                                     : c10::isComplexType(type) ? kDLComplex
                                                                : kDLFloat);
    made.bits = static_cast<uint8_t>(c10::elementSize(type) * 8);
    made.lanes = 1;
    return made;
}
inline ScalarType toScalarType(const DLDataType &dtype)
{
    TORCH_CHECK(dtype.lanes == 1, "ATen does not support lanes != 1");
    const int bits = dtype.bits;
    switch (dtype.code) {
    case kDLUInt:
        TORCH_CHECK(bits == 8, "Unsupported kUInt bits ", bits);
        return c10::kByte;
    case kDLInt:
        TORCH_CHECK(bits == 8 || bits == 16 || bits == 32 || bits == 64, "Unsupported kInt bits ", bits);
        return bits == 8 ? c10::kChar : bits == 16 ? c10::kShort : bits == 32 ? c10::kInt : c10::kLong;
    case kDLFloat:
        TORCH_CHECK(bits == 16 || bits == 32 || bits == 64, "Unsupported kFloat bits ", bits);
        return bits == 16 ? c10::kHalf : bits == 32 ? c10::kFloat : c10::kDouble;
    case kDLBfloat:
        TORCH_CHECK(bits == 16, "Unsupported kFloat bits ", bits);
        return c10::kBFloat16;
    case kDLComplex:
        TORCH_CHECK(bits == 32 || bits == 64 || bits == 128, "Unsupported kFloat bits ", bits);
        return bits == 32 ? c10::kComplexHalf : bits == 64 ? c10::kComplexFloat : c10::kComplexDouble;
    default:
        TORCH_CHECK(false, "Unsupported code ", static_cast<int>(dtype.code));
        return c10::ScalarType::Undefined;
    }
}
// Returns the device of the tensor, which is always the CPU.
inline DLDevice getDLContext(const Tensor &, const int64_t &device_id)
{
    DLDevice made;
    made.device_type = kDLCPU;
    made.device_id = static_cast<int>(device_id);
    return made;
}

// Returns a tensor over the memory of `source`. The result exists until the caller calls its deleter.
inline DLManagedTensor *toDLPack(const Tensor &source)
{
    struct Owner {
        Tensor tensor; // keeps the memory alive
        std::vector<int64_t> sizes, strides;
        DLManagedTensor made;
    };
    std::unique_ptr<Owner> owner(new Owner);
    owner->made.dl_tensor.dtype = getDLDataType(source);
    owner->tensor = source;
    owner->sizes = source.sizes().vec();
    owner->strides = source.strides().vec();
    for (size_t i = 0; i < owner->sizes.size(); i++) { // some readers expect stride 1 for dimensions with at most one
                                                       // element
        owner->strides[i] = owner->sizes[i] < 2 ? 1 : owner->strides[i];
    }
    owner->made.manager_ctx = owner.get();
    owner->made.deleter = [](DLManagedTensor *self) { delete static_cast<Owner *>(self->manager_ctx); };
    owner->made.dl_tensor.data = owner->tensor.data_ptr();
    owner->made.dl_tensor.device = getDLContext(source, 0);
    owner->made.dl_tensor.ndim = static_cast<int>(source.dim());
    owner->made.dl_tensor.shape = owner->sizes.data();
    owner->made.dl_tensor.strides = owner->strides.data();
    owner->made.dl_tensor.byte_offset = 0;
    return &owner.release()->made;
}
// Returns a tensor over the memory of `source`, whose deleter is called when the memory is no longer used.
inline Tensor fromDLPack(const DLManagedTensor *source)
{
    const DLTensor &from = source->dl_tensor;
    TORCH_CHECK(from.device.device_type == kDLCPU || from.device.device_type == kDLCUDAHost,
                "Unsupported device_type: ", static_cast<int>(from.device.device_type));
    DLManagedTensor *const owned = const_cast<DLManagedTensor *>(source);
    const taper::cpp::Deleter deleter = [owned](void *) {
        if (owned->deleter != nullptr) {
            owned->deleter(owned);
        }
    };
    const IntArrayRef sizes(from.shape, static_cast<size_t>(from.ndim));
    const IntArrayRef strides(from.strides, from.strides != nullptr ? sizes.size() : 0);
    return taper::cpp::blob(static_cast<char *>(from.data) + from.byte_offset, sizes,
                            from.strides != nullptr ? &strides : nullptr, deleter,
                            c10::TensorOptions(toScalarType(from.dtype)));
}

} // namespace at

#endif
