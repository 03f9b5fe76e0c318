/* SPDX-License-Identifier: BSD-2-Clause */
// Comparison, hashing and copying of values.
#include <taper/cpp/ivalue.h> // each includes the other, so that either may be included first
#ifndef TAPER_CPP_VALUES_H
#define TAPER_CPP_VALUES_H

#include <functional>
#include <map>

#include <taper/taper_archive.h>

namespace c10
{

inline IValue::IValue(const std::string &class_name, const intrusive_ptr_target *target)
    : IValue(taper::cpp::make_value(taper_value_object, class_name.c_str(), static_cast<const char *const *>(nullptr),
                                    static_cast<taper_value *const *>(nullptr), size_t(0)))
{
    if (target == nullptr) {
        throw Error("the pointer is null");
    }
    target->retain();
    box_.store(target, std::memory_order_release);
}
template <class T, size_t N>
IValue::IValue(const std::array<T, N> &items) : IValue(std::vector<T>(items.begin(), items.end()))
{
}

inline List<complex<double>> IValue::toComplexDoubleList() const
{
    return impl::list_of<complex<double>>(*this, "List[complex]", "ComplexDoubleList");
}
inline std::vector<complex<double>> IValue::toComplexDoubleVector() const
{
    return toComplexDoubleList().vec();
}
inline List<optional<at::Tensor>> IValue::toOptionalTensorList() const
{
    return impl::list_of<optional<at::Tensor>>(*this, "List[Optional[Tensor]]", "OptionalTensorList");
}
inline std::vector<optional<at::Tensor>> IValue::toOptionalTensorVector() const
{
    return toOptionalTensorList().vec();
}

inline bool IValue::isAliasOf(const IValue &other) const
{
    if (isTensor() && other.isTensor()) {
        return toTensor().const_data_ptr() == other.toTensor().const_data_ptr() && toTensor().numel() != 0;
    }
    const void *mine = taper_value_identity(handle().get());
    if (isComplexDouble()) {
        return handle().get() == other.handle().get();
    }
    return mine != nullptr && mine == taper_value_identity(other.handle().get());
}

namespace impl
{
// Compares the items of two lists, tuples or dicts of the same kind.
inline bool equal_items(const IValue &a, const IValue &b)
{
    const size_t count = taper_value_count(a.handle().get());
    if (count != taper_value_count(b.handle().get())) {
        return false;
    }
    if (a.isGenericDict()) {
        const Dict<IValue, IValue> mine = a.toGenericDict(), other = b.toGenericDict();
        for (const auto &each : mine) {
            const auto found = other.find(each.key());
            if (found == other.end() || found->value() != each.value()) {
                return false;
            }
        }
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (IValue(taper::cpp::item_of(a.handle(), i)) != IValue(taper::cpp::item_of(b.handle(), i))) {
            return false;
        }
    }
    return true;
}
} // namespace impl

inline IValue IValue::equals(const IValue &other) const
{
    if (isTensor()) {
        return other.isTensor() ? IValue(toTensor().eq(other.toTensor())) : IValue(false);
    }
    if (taper_kind_of() != other.taper_kind_of()) {
        return IValue(false);
    }
    switch (taper_kind_of()) {
    case TAPER_KIND_DOUBLE: {
        const double a = toDouble(), b = other.toDouble();
        return IValue(a <= b && a >= b);
    }
    case TAPER_KIND_COMPLEX:
        return IValue(toComplexDouble() == other.toComplexDouble());
    case TAPER_KIND_DEVICE:
        return IValue(toDevice() == other.toDevice());
    case TAPER_KIND_LIST:
    case TAPER_KIND_TUPLE:
    case TAPER_KIND_DICT:
        return IValue(impl::equal_items(*this, other));
    case TAPER_KIND_OBJECT:
    case TAPER_KIND_OTHER:
        return IValue(isAliasOf(other));
    case TAPER_KIND_STRING:
        return IValue(toStringRef() == other.toStringRef());
    default:
        return IValue(is(other));
    }
}
inline bool operator==(const IValue &a, const IValue &b)
{
    const IValue result = a.equals(b);
    return result.isBool() ? result.toBool() : result.toTensor().is_nonzero();
}

inline size_t IValue::hash(const IValue &value)
{
    size_t sum = 0;
    switch (value.taper_kind_of()) {
    case TAPER_KIND_NONE:
        return 0;
    case TAPER_KIND_BOOL:
        return std::hash<bool>()(value.toBool());
    case TAPER_KIND_INT:
        return std::hash<int64_t>()(value.toInt());
    case TAPER_KIND_DOUBLE:
        return std::hash<double>()(value.toDouble());
    case TAPER_KIND_STRING:
        return std::hash<std::string>()(value.toStringRef());
    case TAPER_KIND_DEVICE:
        return std::hash<std::string>()(value.toDevice().str());
    case TAPER_KIND_TENSOR:
        return std::hash<const void *>()(taper_value_identity(value.handle().get()));
    case TAPER_KIND_TUPLE:
        for (const IValue &each : value.toTupleRef().elements()) {
            sum = sum * 31 + hash(each);
        }
        return sum;
    default:
        throw std::runtime_error("unhashable type: '" + value.type()->repr_str() + "'");
    }
}

namespace impl
{
// Objects that occur several times in the value occur as often in the copy.
inline IValue deep_copy(const IValue &value, std::map<const void *, IValue> &copies)
{
    const void *identity = taper_value_identity(value.handle().get());
    const auto known = copies.find(identity);
    if (identity != nullptr && known != copies.end()) {
        return known->second;
    }
    std::vector<IValue> items, keys;
    const size_t count = taper_value_count(value.handle().get());
    if (value.isList() || value.isTuple() || value.isGenericDict()) {
        for (size_t i = 0; i < count; i++) {
            items.push_back(deep_copy(IValue(taper::cpp::item_of(value.handle(), i)), copies));
        }
    }
    IValue copy = value;
    if (value.isTensor()) {
        copy = IValue(value.toTensor().clone());
    } else if (value.isTuple()) {
        copy = IValue(ivalue::Tuple::create(items));
    } else if (value.isList()) {
        copy = IValue(make_list(value.toList().elementType()->annotation_str().c_str(), items));
    } else if (value.isGenericDict()) {
        const Dict<IValue, IValue> dict = value.toGenericDict();
        for (const auto &each : dict) {
            keys.push_back(each.key());
        }
        copy = IValue(make_dict(dict.keyType()->annotation_str().c_str(), dict.valueType()->annotation_str().c_str(),
                                keys, items));
    }
    if (identity != nullptr) {
        copies[identity] = copy;
    }
    return copy;
}
} // namespace impl

inline IValue IValue::deepcopy() const
{
    std::map<const void *, IValue> copies;
    return impl::deep_copy(*this, copies);
}

} // namespace c10

#endif
