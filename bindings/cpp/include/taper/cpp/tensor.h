/* SPDX-License-Identifier: BSD-2-Clause */
// at::Tensor: a reference to a tensor, with PyTorch's operators as methods. Copies refer to the same tensor, as in
// PyTorch. The operators are defined in tensor_ops.h and generated/functions.h.
#ifndef TAPER_CPP_TENSOR_H
#define TAPER_CPP_TENSOR_H

#include <taper/cpp/tensor_base.h>

namespace c10
{
template <class T> class List;
} // namespace c10

namespace at
{

namespace indexing
{
struct TensorIndex; // defined in indexing.h
}

class Tensor : public TensorBase
{
  public:
    Tensor() = default;
    Tensor(const Tensor &) = default;
    Tensor(Tensor &&) = default;
    Tensor &operator=(const Tensor &) & = default;
    Tensor &operator=(Tensor &&) & = default;
    Tensor &operator=(const Tensor &from) &&; // x[0] = y writes to x; defined in indexing.h
    Tensor &operator=(Tensor &&from) &&;
    Tensor &operator=(const c10::Scalar &value) &&;
    explicit Tensor(taper::cpp::Handle value) : TensorBase(std::move(value))
    {
    }
    Tensor(const TensorBase &base) : TensorBase(base)
    {
    }
    Tensor(TensorBase &&base) : TensorBase(std::move(base))
    {
    }

    c10::Scalar item() const;
    template <class T> T item() const
    {
        return item().to<T>();
    }

    Tensor cpu() const
    {
        return on(c10::kCPU);
    }
    Tensor vulkan() const
    {
        return on(c10::kVulkan);
    }
    Tensor metal() const
    {
        return on(c10::kMetal);
    }
    // These functions throw, because Taper has no such device.
    Tensor cuda() const
    {
        return on(c10::kCUDA);
    }
    Tensor hip() const
    {
        throw c10::NotImplementedError("hip: there is no such device");
    }
    Tensor ve() const
    {
        throw c10::NotImplementedError("ve: there is no such device");
    }
    Tensor meta() const
    {
        throw c10::NotImplementedError("meta: there is no such device");
    }
    Tensor toBackend(c10::Backend backend) const
    {
        if (backend != c10::Backend::CPU) {
            throw c10::NotImplementedError(std::string("toBackend: there is no backend ") + c10::toString(backend));
        }
        return *this;
    }
    bool is_variable() const noexcept
    {
        return true;
    }
    // Calls a function with the tensor as its first argument.
    template <class F, class... Args> decltype(auto) m(F function, Args &&...args) const
    {
        return function(*this, std::forward<Args>(args)...);
    }
    // Throws: functions that see gradients while they are computed are not supported.
    template <class F> unsigned register_hook(F &&) const
    {
        throw c10::NotImplementedError("register_hook: ask for the gradient with torch::autograd::grad");
    }
    void remove_hook(unsigned) const
    {
    }
    Tensor contiguous(c10::MemoryFormat format = c10::MemoryFormat::Contiguous) const;
    Tensor to(c10::TensorOptions options = {}, bool non_blocking = false, bool copy = false,
              c10::optional<c10::MemoryFormat> format = c10::nullopt) const;
    Tensor to(c10::optional<c10::ScalarType> dtype, c10::optional<c10::Layout> layout,
              c10::optional<c10::Device> device, c10::optional<bool> pin_memory, bool non_blocking, bool copy,
              c10::optional<c10::MemoryFormat> format) const;
    Tensor to(c10::Device device, c10::ScalarType dtype, bool non_blocking = false, bool copy = false,
              c10::optional<c10::MemoryFormat> format = c10::nullopt) const;
    Tensor toType(c10::ScalarType dtype) const;
    Tensor to(c10::Device device, caffe2::TypeMeta dtype, bool non_blocking = false, bool copy = false) const;
    Tensor to(caffe2::TypeMeta dtype, bool non_blocking = false, bool copy = false) const;
    Tensor operator[](int64_t index) const;
    Tensor operator[](const c10::Scalar &index) const;
    Tensor operator[](const Tensor &index) const;
    Tensor operator-() const;
    Tensor operator~() const;
    Tensor &operator+=(const Tensor &other);
    Tensor &operator+=(const c10::Scalar &other);
    Tensor &operator-=(const Tensor &other);
    Tensor &operator-=(const c10::Scalar &other);
    Tensor &operator*=(const Tensor &other);
    Tensor &operator*=(const c10::Scalar &other);
    Tensor &operator/=(const Tensor &other);
    Tensor &operator/=(const c10::Scalar &other);
    Tensor &operator&=(const Tensor &other);
    Tensor &operator|=(const Tensor &other);
    Tensor &operator^=(const Tensor &other);

#include <taper/cpp/generated/methods.inc>

    // With this overload, x.std(1) means dimension 1. Without it, the number would be converted to the bool `unbiased`.
    Tensor std(int dim) const;
    Tensor var(int dim) const;

    Tensor conj() const;
    // Returns a tensor with the same memory.
    Tensor data() const;
    Tensor tensor_data() const;
    Tensor variable_data() const;
    template <class T> T *data() const
    {
        return data_ptr<T>();
    }
    void set_data(const Tensor &from) const;
    const Tensor &set_requires_grad(bool wanted) const
    {
        TensorBase::set_requires_grad(wanted);
        return *this;
    }
    const Tensor &requires_grad_(bool wanted = true) const
    {
        return set_requires_grad(wanted);
    }
    // Computes the gradients of this tensor and adds them to grad() of the leaves that require gradients. Gradients of
    // tensors that were computed are dropped: torch::autograd::grad returns them. `inputs` is not supported.
    void backward(const Tensor &gradient = {}, c10::optional<bool> retain_graph = c10::nullopt,
                  bool create_graph = false, c10::optional<TensorList> inputs = c10::nullopt) const;
    void retain_grad() const; // throws for a tensor that was computed
    // Returns the sum of the gradients of all calls of backward, or an undefined tensor. The reference is valid for the
    // next 63 calls in the thread: copy the tensor to keep it.
    const Tensor &grad() const;
    Tensor &mutable_grad() const; // throws: write to grad(), as in x.grad().zero_()

    Tensor index(c10::ArrayRef<indexing::TensorIndex> indices) const; // defined in indexing.h
    Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
    Tensor &index_put_(c10::ArrayRef<indexing::TensorIndex> indices, const Tensor &value);
    Tensor &index_put_(c10::ArrayRef<indexing::TensorIndex> indices, const c10::Scalar &value);
    Tensor &index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor &value);
    Tensor &index_put_(std::initializer_list<indexing::TensorIndex> indices, const c10::Scalar &value);

  private:
    // Returns the tensor on a device. If the GPU is not available here, the tensor remains where it is, because models
    // prepared for the GPU then run on the CPU. Other unavailable devices are an error.
    Tensor on(c10::Device device) const
    {
        taper::cpp::ErrorScope error;
        taper_value *moved = nullptr;
        info(); // throws for an undefined tensor
        taper_device_choice choice;
        std::memset(&choice, 0, sizeof choice);
        choice.struct_size = sizeof choice;
        error.check(taper_device_parse(device.str().c_str(), &choice, error));
        const taper_status status = taper_value_to_device(value_.get(), &choice, &moved, error);
        if (status == TAPER_ERROR_UNSUPPORTED && (device.is_vulkan() || device.is_metal())) {
            return *this;
        }
        error.check(status);
        return Tensor(taper::cpp::Handle(moved));
    }
};

// A reference to a tensor or to none.
class OptionalTensorRef
{
  public:
    OptionalTensorRef() = default;
    OptionalTensorRef(const TensorBase &tensor) : tensor_(tensor)
    {
    }
    bool has_value() const
    {
        return tensor_.defined();
    }
    explicit operator bool() const
    {
        return has_value();
    }
    const Tensor &getTensorRef() const
    {
        return tensor_;
    }
    const Tensor &operator*() const
    {
        return tensor_;
    }
    const Tensor *operator->() const
    {
        return &tensor_;
    }

  private:
    Tensor tensor_;
};

using ITensorListRef = TensorList;
using ITensorList = TensorList;

} // namespace at

namespace torch
{
using namespace at;
}

#endif
