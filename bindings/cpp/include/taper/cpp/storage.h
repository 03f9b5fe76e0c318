/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Storage: the memory that a tensor and its views share.
#ifndef TAPER_CPP_STORAGE_H
#define TAPER_CPP_STORAGE_H

#include <cstddef>
#include <memory>

#include <taper/cpp/allocator.h>
#include <taper/cpp/handle.h>

namespace c10
{

// A storage keeps the tensor from which it was taken, or its DataPtr, and so keeps the memory. The memory at data() may
// be written to. Copies share the memory.
class Storage
{
  public:
    struct use_byte_size_t {
    };
    Storage() = default;
    // data: the first byte of the memory. bytes: its size.
    Storage(taper::cpp::Handle tensor, void *data, size_t bytes)
        : tensor_(std::move(tensor)), state_(std::make_shared<State>(DataPtr(data, Device(kCPU)), bytes))
    {
    }
    // allocator: the allocator that reset_legacy() uses, or nullptr, with which reset_legacy() throws.
    Storage(use_byte_size_t, size_t bytes, DataPtr data, Allocator *allocator = nullptr, bool resizable = false)
        : state_(std::make_shared<State>(std::move(data), bytes))
    {
        TORCH_INTERNAL_ASSERT(!resizable || allocator, "For resizable storage, allocator must be provided");
        state_->allocator = allocator;
        state_->resizable = resizable;
    }
    Storage(use_byte_size_t kind, size_t bytes, Allocator *allocator, bool resizable = false)
        : Storage(kind, bytes, allocator->allocate(bytes), allocator, resizable)
    {
    }
    static Storage create_legacy(Device device)
    {
        return Storage(use_byte_size_t(), 0, GetAllocator(device.type()), true);
    }
    void reset_legacy()
    {
        TORCH_CHECK(resizable() && allocator());
        set_nbytes(0);
        set_data_ptr_noswap(allocator()->allocate(0));
    }
    explicit operator bool() const
    {
        return state_ != nullptr;
    }
    void *data() const
    {
        return state_ ? state_->data.get() : nullptr;
    }
    template <class T> T *data() const
    {
        return static_cast<T *>(data());
    }
    template <class T> T *unsafe_data() const
    {
        return data<T>();
    }
    void *mutable_data() const
    {
        return data();
    }
    DataPtr &data_ptr()
    {
        return state().data;
    }
    const DataPtr &data_ptr() const
    {
        return state().data;
    }
    const DataPtr &mutable_data_ptr() const
    {
        return state().data;
    }
    // Replaces the memory, and returns the former memory.
    DataPtr set_data_ptr(DataPtr &&data) const
    {
        std::swap(state().data, data);
        return std::move(data);
    }
    void set_data_ptr_noswap(DataPtr &&data) const
    {
        state().data = std::move(data);
    }
    size_t nbytes() const
    {
        return state_ ? state_->bytes : 0;
    }
    void set_nbytes(size_t bytes) const
    {
        state().bytes = bytes;
    }
    bool resizable() const
    {
        return state().resizable;
    }
    Allocator *allocator() const
    {
        return state().allocator;
    }
    Device device() const
    {
        return state_ ? state_->data.device() : Device(kCPU);
    }
    DeviceType device_type() const
    {
        return device().type();
    }
    bool is_alias_of(const Storage &other) const
    {
        return state_ == other.state_ || (data() == other.data() && nbytes() == other.nbytes());
    }

  private:
    struct State {
        State(DataPtr its_data, size_t its_bytes) : data(std::move(its_data)), bytes(its_bytes)
        {
        }
        DataPtr data;
        size_t bytes;
        Allocator *allocator = nullptr;
        bool resizable = false;
    };
    State &state() const
    {
        TORCH_CHECK(state_ != nullptr, "the storage is undefined");
        return *state_;
    }
    taper::cpp::Handle tensor_;
    std::shared_ptr<State> state_;
};

} // namespace c10

namespace at
{
using c10::Storage;
} // namespace at

#endif
