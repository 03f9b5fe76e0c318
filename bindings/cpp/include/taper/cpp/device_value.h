/* SPDX-License-Identifier: BSD-2-Clause */
// Devices as values, and the elements of a list as an array.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_DEVICE_VALUE_H
#define TAPER_CPP_DEVICE_VALUE_H

#include <taper/cpp/operators.h>

namespace c10
{

inline IValue::IValue(Device device) : box_(nullptr)
{
    *this = IValue(
        taper::cpp::call_operator(taper::cpp::operator_named("aten::device"), {IValue(device.str()).handle()}).at(0));
}

inline Device IValue::toDevice() const
{
    expect(TAPER_KIND_DEVICE, "Device");
    const IValue type(taper::cpp::call_operator(taper::cpp::operator_named("prim::type"), {handle()}).at(0));
    const IValue index(taper::cpp::call_operator(taper::cpp::operator_named("prim::index"), {handle()}).at(0));
    return Device(type.toStringRef() + (index.isNone() ? std::string() : ":" + std::to_string(index.toInt())));
}

namespace ivalue
{
// The elements of a list, copied when they were first requested as an array.
class ListElements final : public intrusive_ptr_target
{
  public:
    explicit ListElements(const taper::cpp::Handle &value)
    {
        const size_t count = taper_value_count(value.get());
        elements_.reserve(count);
        for (size_t i = 0; i < count; i++) {
            elements_.emplace_back(taper::cpp::item_of(value, i));
        }
    }
    const std::vector<IValue> &elements() const
    {
        return elements_;
    }

  private:
    std::vector<IValue> elements_;
};
} // namespace ivalue

// Returns the elements as they were at the first call for this IValue. The array is valid as long as the IValue.
inline ArrayRef<IValue> IValue::toListRef() const
{
    expect(TAPER_KIND_LIST, "GenericList");
    return boxed<ivalue::ListElements>().elements();
}

} // namespace c10

#endif
