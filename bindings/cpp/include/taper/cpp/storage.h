/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Storage: the memory that a tensor and its views share, and c10::DataPtr.
#ifndef TAPER_CPP_STORAGE_H
#define TAPER_CPP_STORAGE_H

#include <cstddef>

#include <taper/cpp/device.h>
#include <taper/cpp/handle.h>

namespace c10
{

// The address of a storage. It does not own the memory.
class DataPtr
{
  public:
    DataPtr() = default;
    DataPtr(void *data, Device device) : data_(data), device_(device)
    {
    }
    void *get() const
    {
        return data_;
    }
    void *operator->() const
    {
        return data_;
    }
    explicit operator bool() const
    {
        return data_ != nullptr;
    }
    Device device() const
    {
        return device_;
    }

  private:
    void *data_ = nullptr;
    Device device_ = Device(kCPU);
};

// A storage keeps the tensor that it was taken from, and so its memory. data() may be written to.
class Storage
{
  public:
    Storage() = default;
    // data: the first byte of the memory. bytes: its size.
    Storage(taper::cpp::Handle tensor, void *data, size_t bytes)
        : tensor_(std::move(tensor)), data_(data, Device(kCPU)), bytes_(bytes)
    {
    }
    explicit operator bool() const
    {
        return static_cast<bool>(tensor_);
    }
    void *data() const
    {
        return data_.get();
    }
    template <class T> T *data() const
    {
        return static_cast<T *>(data_.get());
    }
    template <class T> T *unsafe_data() const
    {
        return data<T>();
    }
    void *mutable_data() const
    {
        return data();
    }
    const DataPtr &data_ptr() const
    {
        return data_;
    }
    const DataPtr &mutable_data_ptr() const
    {
        return data_;
    }
    size_t nbytes() const
    {
        return bytes_;
    }
    Device device() const
    {
        return data_.device();
    }
    DeviceType device_type() const
    {
        return data_.device().type();
    }
    bool is_alias_of(const Storage &other) const
    {
        return data() == other.data() && bytes_ == other.bytes_;
    }

  private:
    taper::cpp::Handle tensor_;
    DataPtr data_;
    size_t bytes_ = 0;
};

} // namespace c10

namespace at
{
using c10::DataPtr;
using c10::Storage;
} // namespace at

#endif
