/* SPDX-License-Identifier: BSD-2-Clause */
// Guards of the current device. There is only the CPU: a guard of another device throws, as in a libtorch without that
// device.
#ifndef TAPER_CPP_DEVICE_GUARD_H
#define TAPER_CPP_DEVICE_GUARD_H

#include <taper/cpp/device.h>
#include <taper/cpp/optional.h>

namespace c10
{

class DeviceGuard
{
  public:
    explicit DeviceGuard(Device device) : current_(DeviceType::CPU)
    {
        reset_device(device);
    }
    DeviceGuard(const DeviceGuard &) = delete;
    DeviceGuard &operator=(const DeviceGuard &) = delete;
    ~DeviceGuard()
    {
    }
    void reset_device(Device device)
    {
        TORCH_CHECK(device.is_cpu(), "PyTorch is not linked with support for ", device.type(), " devices");
        current_ = device;
    }
    void set_index(DeviceIndex index)
    {
        current_.set_index(index);
    }
    Device original_device() const
    {
        return Device(DeviceType::CPU);
    }
    Device current_device() const
    {
        return Device(DeviceType::CPU);
    }

  private:
    Device current_;
};

class OptionalDeviceGuard
{
  public:
    OptionalDeviceGuard() = default;
    explicit OptionalDeviceGuard(Device device)
    {
        reset_device(device);
    }
    explicit OptionalDeviceGuard(optional<Device> device)
    {
        if (device.has_value()) {
            reset_device(*device);
        }
    }
    OptionalDeviceGuard(const OptionalDeviceGuard &) = delete;
    OptionalDeviceGuard &operator=(const OptionalDeviceGuard &) = delete;
    ~OptionalDeviceGuard()
    {
    }
    void reset_device(Device device)
    {
        const DeviceGuard checked(device);
        set_ = true;
    }
    optional<Device> original_device() const
    {
        return set_ ? optional<Device>(Device(DeviceType::CPU)) : optional<Device>();
    }
    optional<Device> current_device() const
    {
        return original_device();
    }

  private:
    bool set_ = false;
};

} // namespace c10

namespace at
{
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
} // namespace at
namespace torch
{
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
} // namespace torch

#endif
