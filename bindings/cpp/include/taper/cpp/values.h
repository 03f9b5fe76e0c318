/* SPDX-License-Identifier: BSD-2-Clause */
// Comparison, hashing and copying of values.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_VALUES_H
#define TAPER_CPP_VALUES_H

#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include <taper/taper_archive.h>

namespace c10
{

namespace impl
{
// The C++ objects to which values of the library refer, each with the number of values that refer to it. A file cannot
// make a value that refers to such an object, because the address must be in this table.
struct ForeignObjects {
    std::mutex lock;
    std::map<const void *, size_t> all;
    static ForeignObjects &get()
    {
        static ForeignObjects *const objects = new ForeignObjects; // never destroyed: values may exist at exit
        return *objects;
    }
    static void release(void *target) noexcept
    {
        ForeignObjects &objects = get();
        {
            const std::lock_guard<std::mutex> guard(objects.lock);
            const auto found = objects.all.find(target);
            if (--found->second == 0) {
                objects.all.erase(found);
            }
        }
        static_cast<const intrusive_ptr_target *>(target)->release();
    }
};
constexpr const char *foreign_field = "__cpp__";

// Makes a value that keeps the object. The value's attribute is a tensor over the object; the tensor releases the
// object.
inline taper::cpp::Handle foreign_value(const std::string &class_name, const intrusive_ptr_target *target)
{
    if (target == nullptr) {
        throw Error("the pointer is null");
    }
    ForeignObjects &objects = ForeignObjects::get();
    {
        const std::lock_guard<std::mutex> guard(objects.lock);
        objects.all[target]++;
    }
    target->retain();
    const int64_t one = 1;
    taper_value *made = nullptr;
    taper::cpp::ErrorScope error;
    void *const address = const_cast<intrusive_ptr_target *>(target);
    const taper_status status = taper_value_tensor_from(taper::cpp::context(), TAPER_U8, 1, &one, nullptr, address, 1,
                                                        0, ForeignObjects::release, address, &made, error);
    if (status != TAPER_OK) {
        ForeignObjects::release(address);
    }
    error.check(status);
    const taper::cpp::Handle reference(made);
    return taper::cpp::make_value(taper_value_object, class_name.c_str(), &foreign_field, &made, size_t(1));
}
// Returns the object of C++ that the value keeps, or null if it keeps none.
inline const intrusive_ptr_target *foreign_target(const taper::cpp::Handle &value) noexcept
{
    const char *const field = taper_value_field(value.get(), 0);
    taper_value *item = nullptr;
    if (field == nullptr || std::strcmp(field, foreign_field) != 0 ||
        taper_value_item(value.get(), 0, &item, nullptr) != TAPER_OK) {
        return nullptr;
    }
    taper_tensor_info info;
    info.struct_size = sizeof info;
    const bool is_tensor = taper_value_get_tensor(item, &info, nullptr) == TAPER_OK;
    taper_value_release(item);
    ForeignObjects &objects = ForeignObjects::get();
    const std::lock_guard<std::mutex> guard(objects.lock);
    return is_tensor && objects.all.count(info.data) != 0 ? static_cast<const intrusive_ptr_target *>(info.data)
                                                          : nullptr;
}
} // namespace impl

inline IValue::IValue(const std::string &class_name, const intrusive_ptr_target *target)
    : IValue(impl::foreign_value(class_name, target))
{
    target->retain();
    box_.store(target, std::memory_order_release);
}
inline const intrusive_ptr_target *IValue::foreign_box() const noexcept
{
    const intrusive_ptr_target *box = box_.load(std::memory_order_acquire);
    if (box == nullptr && taper_kind_of() == TAPER_KIND_OBJECT) {
        const intrusive_ptr_target *const target = impl::foreign_target(handle());
        if (target != nullptr) {
            target->retain();
            if (!box_.compare_exchange_strong(box, target, std::memory_order_acq_rel)) {
                target->release();
            }
            box = target;
        }
    }
    return box;
}
template <class T, size_t N>
IValue::IValue(const std::array<T, N> &items) : IValue(std::vector<T>(items.begin(), items.end()))
{
}

template <class T> List<T> IValue::toComplexDoubleList() const
{
    return impl::list_of<T>(*this, "List[complex]", "ComplexDoubleList");
}
template <class T> std::vector<T> IValue::toComplexDoubleVector() const
{
    return toComplexDoubleList<T>().vec();
}
template <class T> List<T> IValue::toOptionalTensorList() const
{
    return impl::list_of<T>(*this, "List[Optional[Tensor]]", "OptionalTensorList");
}
template <class T> std::vector<T> IValue::toOptionalTensorVector() const
{
    return toOptionalTensorList<T>().vec();
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
// Returns key `index` of a dict.
inline taper::cpp::Handle key_of(const taper::cpp::Handle &dict, size_t index)
{
    taper_value *key = nullptr;
    taper::cpp::ErrorScope error;
    error.check(taper_value_key(dict.get(), index, &key, error));
    return taper::cpp::Handle(key);
}
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
        if (isEnum() && other.isEnum()) {
            return IValue(*toEnumHolder() == *other.toEnumHolder());
        }
        return IValue(isAliasOf(other));
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
// The key of a value in the table of copies. In a table of the caller the key is the value itself.
template <class Copy> const void *key_in(const std::map<const void *, Copy> &, const IValue &, const void *identity)
{
    return identity;
}
template <class Copies> const IValue &key_in(const Copies &, const IValue &value, const void *)
{
    return value;
}
// An object that occurs several times in the value is copied once, and the copy of the value has this copy in all these
// places.
template <class Copies> IValue deep_copy(const IValue &value, Copies &copies)
{
    const void *identity = taper_value_identity(value.handle().get());
    const auto known = copies.find(key_in(copies, value, identity));
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
        copies[key_in(copies, value, identity)] = copy;
    }
    return copy;
}
} // namespace impl

template <class Unused> IValue IValue::deepcopy() const
{
    std::map<const void *, std::conditional_t<std::is_void<Unused>::value, IValue, Unused>> copies;
    return impl::deep_copy(*this, copies);
}

template <class Memo> IValue IValue::deepcopy(Memo &memo) const
{
    return impl::deep_copy(*this, memo);
}

inline size_t IValue::HashAliasedIValue::operator()(const IValue &value) const
{
    return value.isTensor() ? hashTensor(value.toTensor()) : std::hash<const void *>()(value.internalToPointer());
}
inline void IValue::visit(const std::function<bool(const IValue &)> &visitor) const
{
    if (visitor(*this) || !(isList() || isTuple() || isGenericDict() || isObject())) {
        return;
    }
    const size_t count = taper_value_count(handle().get());
    for (size_t i = 0; i < count; i++) {
        if (isGenericDict()) {
            IValue(impl::key_of(handle(), i)).visit(visitor);
        }
        IValue(taper::cpp::item_of(handle(), i)).visit(visitor);
    }
}
template <class Values> void IValue::getSubValues(Values &values) const
{
    visit([&values](const IValue &each) {
        return each.internalToPointer() != nullptr && !each.isString() && !values.insert(each).second;
    });
}
template <class Unused> bool IValue::overlaps(const IValue &other) const
{
    std::conditional_t<std::is_void<Unused>::value, HashAliasedIValues, Unused> mine, others;
    getSubValues(mine);
    other.getSubValues(others);
    for (const IValue &each : others) {
        if (mine.count(each) != 0) {
            return true;
        }
    }
    return false;
}
inline std::vector<int64_t> IValue::toDimVector() const
{
    return toIntVector();
}

// Compare numbers, strings, bools and tensors of one element, for sorting.
using IValueComparator = std::function<bool(const IValue &, const IValue &)>;
template <class Value> IValueComparator getLessThanComparator(const Value &value)
{
    if (value.isTensor()) {
        return [](const IValue &a, const IValue &b) { return a.toTensor().lt(b.toTensor()).is_nonzero(); };
    }
    if (value.isDouble()) {
        return [](const IValue &a, const IValue &b) { return a.toDouble() < b.toDouble(); };
    }
    if (value.isInt()) {
        return [](const IValue &a, const IValue &b) { return a.toInt() < b.toInt(); };
    }
    if (value.isBool()) {
        return [](const IValue &a, const IValue &b) { return !a.toBool() && b.toBool(); };
    }
    if (value.isString()) {
        return [](const IValue &a, const IValue &b) { return a.toStringRef() < b.toStringRef(); };
    }
    throw Error("IValues of type: " + value.tagKind() + " are not comparable");
}
template <class Value> IValueComparator getGreaterThanComparator(const Value &value)
{
    const IValueComparator less = getLessThanComparator(value);
    return [less](const IValue &a, const IValue &b) { return less(b, a); };
}

namespace impl
{
// Lists and dicts share their items after these conversions. The types of the items are checked when they are read.
template <class T> List<T> toTypedList(const List<IValue> &list)
{
    return List<T>(list.handle());
}
template <class T> List<IValue> toList(const List<T> &list)
{
    return List<IValue>(list.handle());
}
template <class K, class V> Dict<K, V> toTypedDict(const Dict<IValue, IValue> &dict)
{
    return Dict<K, V>(dict.handle());
}
template <class K, class V> Dict<IValue, IValue> toGenericDict(const Dict<K, V> &dict)
{
    return Dict<IValue, IValue>(dict.handle());
}
} // namespace impl

namespace ivalue
{
template <class T> IValue from(T &&value)
{
    return IValue(std::forward<T>(value));
}
} // namespace ivalue

// Returns the type of the values of a C++ type.
template <class T> TypePtr getTypePtr()
{
    return Type::of(impl::TypeName<T>::text());
}
template <class T> TypePtr getTypePtrCopy()
{
    return getTypePtr<T>();
}
inline optional<ScalarType> tryScalarTypeFromJitType(const Type &type)
{
    switch (type.kind()) {
    case TypeKind::FloatType:
        return kDouble; // a float of TorchScript has 64 bits
    case TypeKind::IntType:
        return kLong;
    case TypeKind::BoolType:
        return kBool;
    case TypeKind::ComplexType:
        return kComplexDouble;
    default:
        return nullopt;
    }
}
inline ScalarType scalarTypeFromJitType(const Type &type)
{
    const optional<ScalarType> found = tryScalarTypeFromJitType(type);
    if (!found.has_value()) {
        throw Error("Add new condition, expected Float, Complex, Int, or Bool but got" + type.str());
    }
    return *found;
}

} // namespace c10

#endif
