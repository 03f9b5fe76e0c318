/* SPDX-License-Identifier: BSD-2-Clause */
// IValue: any value that a model takes or returns. Copies share lists, dicts, tensors and objects.
#ifndef TAPER_CPP_IVALUE_H
#define TAPER_CPP_IVALUE_H

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <taper/cpp/generator.h>
#include <taper/cpp/intrusive_ptr.h>
#include <taper/cpp/tensor.h>
#include <taper/cpp/type.h>

namespace torch
{
namespace jit
{
class Module;
}
class CustomClassHolder;
} // namespace torch

namespace c10
{

struct IValue;
template <class T> class List;
template <class K, class V> class Dict;

namespace ivalue
{
class Tuple;
class ConstantString;
class Object;
class Future;
class EnumHolder;

// The base of objects that only C++ has: futures, and classes of the app.
class Foreign : public intrusive_ptr_target
{
};
} // namespace ivalue

namespace impl
{
using GenericList = List<IValue>;
using GenericDict = Dict<IValue, IValue>;
} // namespace impl

// Conversion of a value to a C++ type; see convert.h.
template <class T> struct Convert;

struct IValue final {
  public:
    IValue() noexcept : box_(nullptr)
    {
    }
    IValue(nullopt_t) noexcept : box_(nullptr)
    {
    }
    IValue(const IValue &other) noexcept : held_(other.held_), box_(other.box_.load(std::memory_order_acquire))
    {
        if (const intrusive_ptr_target *box = box_.load(std::memory_order_relaxed)) {
            box->retain();
        }
    }
    IValue(IValue &&other) noexcept : held_(std::move(other.held_)), box_(other.box_.exchange(nullptr))
    {
    }
    ~IValue()
    {
        if (const intrusive_ptr_target *box = box_.load(std::memory_order_acquire)) {
            box->release();
        }
    }
    IValue &operator=(const IValue &other) noexcept
    {
        IValue copy(other);
        swap(copy);
        return *this;
    }
    IValue &operator=(IValue &&other) noexcept
    {
        IValue moved(std::move(other));
        swap(moved);
        return *this;
    }
    void swap(IValue &other) noexcept
    {
        std::swap(held_, other.held_);
        box_.store(other.box_.exchange(box_.load(std::memory_order_acquire)), std::memory_order_release);
    }

    explicit IValue(taper::cpp::Handle value) noexcept : held_(std::move(value)), box_(nullptr)
    {
        if (held_.handle().kind() == TAPER_KIND_NONE) {
            held_.reset();
        }
    }
    IValue(at::Tensor tensor) noexcept : held_(std::move(tensor)), box_(nullptr)
    {
    }
    template <class T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int> = 0>
    IValue(T number) : IValue(taper::cpp::make_value(taper_value_int, static_cast<int64_t>(number)))
    {
    }
    template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
    IValue(T number) : IValue(taper::cpp::make_value(taper_value_double, static_cast<double>(number)))
    {
    }
    template <class T, std::enable_if_t<std::is_same<T, bool>::value, int> = 0>
    IValue(T flag) : IValue(taper::cpp::make_value(taper_value_bool, flag ? 1 : 0))
    {
    }
    IValue(c10::complex<double> number)
        : IValue(taper::cpp::make_value(taper_value_complex, number.real(), number.imag()))
    {
    }
    IValue(const Scalar &number) : box_(nullptr)
    {
        *this = number.isComplex()         ? IValue(number.toComplexDouble())
                : number.isFloatingPoint() ? IValue(number.toDouble())
                : number.isBoolean()       ? IValue(number.toBool())
                                           : IValue(number.toLong());
    }
    IValue(ScalarType type) : IValue(static_cast<int64_t>(type))
    {
    }
    IValue(MemoryFormat format) : IValue(static_cast<int64_t>(format))
    {
    }
    IValue(Layout layout) : IValue(static_cast<int64_t>(layout))
    {
    }
    IValue(QScheme scheme) : IValue(static_cast<int64_t>(scheme))
    {
    }
    IValue(Device device); // defined in device_value.h
    IValue(const std::string &text) : IValue(text.data(), text.size())
    {
    }
    IValue(string_view text) : IValue(text.data(), text.size())
    {
    }
    IValue(const char *text) : IValue(string_view(text))
    {
    }
    IValue(intrusive_ptr<ivalue::Tuple> tuple);
    IValue(intrusive_ptr<ivalue::ConstantString> text);
    IValue(intrusive_ptr<ivalue::Object> object);
    IValue(intrusive_ptr<ivalue::Future> future); // defined in future.h
    // named_type.h defines these constructors, and the functions for the kinds of their arguments.
    IValue(intrusive_ptr<ivalue::EnumHolder> holder);
    IValue(at::Generator generator);
    IValue(at::Storage storage);
    template <class T>
    using enable_if_ivalue_constructible = std::enable_if_t<std::is_constructible<IValue, T>::value, std::nullptr_t>;
    template <class T> using enable_if_list_is_ivalue_constructible = enable_if_ivalue_constructible<T>;
    template <class T> using enable_if_ilist_is_ivalue_constructible = enable_if_ivalue_constructible<T>;
    // An object of a class of the app; defined in custom_class.h.
    template <class T, std::enable_if_t<std::is_base_of<torch::CustomClassHolder, T>::value, int> = 0>
    IValue(intrusive_ptr<T> object);
    template <class T, size_t N> IValue(const std::array<T, N> &items);
    template <class T> IValue(const List<T> &list);
    template <class K, class V> IValue(const Dict<K, V> &dict);
    template <class T> IValue(const std::vector<T> &items);
    template <class T> IValue(ArrayRef<T> items);
    template <class K, class V> IValue(const std::unordered_map<K, V> &items);
    template <class... T> IValue(const std::tuple<T...> &items);
    template <class T> IValue(const optional<T> &value) : box_(nullptr)
    {
        if (value.has_value()) {
            *this = IValue(*value);
        }
    }

    // ---- kind of the value

    taper_kind taper_kind_of() const noexcept
    {
        return held_.handle().kind();
    }
    bool isNone() const noexcept
    {
        return !held_.defined();
    }
    bool isTensor() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_TENSOR;
    }
    bool isInt() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_INT;
    }
    bool isDouble() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_DOUBLE;
    }
    bool isComplexDouble() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_COMPLEX;
    }
    bool isBool() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_BOOL;
    }
    bool isScalar() const noexcept
    {
        return isInt() || isDouble() || isComplexDouble() || isBool();
    }
    bool isString() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_STRING;
    }
    bool isDevice() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_DEVICE;
    }
    bool isTuple() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_TUPLE;
    }
    bool isList() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_LIST;
    }
    bool isGenericDict() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_DICT;
    }
    bool isObject() const noexcept
    {
        return taper_kind_of() == TAPER_KIND_OBJECT && foreign<ivalue::Foreign>() == nullptr;
    }
    bool isFuture() const noexcept;      // defined in future.h
    bool isCustomClass() const noexcept; // defined in custom_class.h
    bool isCapsule() const noexcept
    {
        return isCustomClass();
    }
    bool isStorage() const noexcept;
    bool isGenerator() const noexcept;
    bool isEnum() const noexcept;
    // Taper has no values of these kinds.
    bool isBlob() const noexcept
    {
        return false;
    }
    bool isRRef() const noexcept
    {
        return false;
    }
    bool isQuantizer() const noexcept
    {
        return false;
    }
    bool isPyObject() const noexcept
    {
        return false;
    }
    bool isStream() const noexcept
    {
        return false;
    }
    bool isSymInt() const noexcept
    {
        return false;
    }
    bool isSymFloat() const noexcept
    {
        return false;
    }
    // True for a value that is not stored in the IValue itself in PyTorch: a tensor, a string, a container or an
    // object.
    bool isPtrType() const noexcept
    {
        return taper_kind_of() >= TAPER_KIND_STRING || isComplexDouble();
    }
    bool isModule() const; // defined in module.h
    bool isTensorList() const
    {
        return isList() && type_text() == "List[Tensor]";
    }
    bool isIntList() const
    {
        return isList() && type_text() == "List[int]";
    }
    bool isDoubleList() const
    {
        return isList() && type_text() == "List[float]";
    }
    bool isBoolList() const
    {
        return isList() && type_text() == "List[bool]";
    }
    bool isComplexDoubleList() const
    {
        return isList() && type_text() == "List[complex]";
    }
    bool isOptionalTensorList() const
    {
        return isList() && type_text() == "List[Optional[Tensor]]";
    }
    TypePtr type() const; // defined in named_type.h
    // Returns the name of the kind in error messages, for example "GenericList".
    std::string tagKind() const
    {
        static const char *const names[] = {"None",   "Bool",   "Int",         "Double", "ComplexDouble", "Device",
                                            "String", "Tensor", "GenericList", "Tuple",  "GenericDict",   "Object"};
        if (taper_kind_of() == TAPER_KIND_OBJECT && !isObject()) {
            return isFuture()      ? "Future"
                   : isEnum()      ? "Enum"
                   : isGenerator() ? "Generator"
                   : isStorage()   ? "Storage"
                                   : "Capsule";
        }
        const size_t kind = static_cast<size_t>(taper_kind_of());
        return kind < sizeof names / sizeof names[0] ? names[kind] : "InvalidTag";
    }

    // ---- contents of the value; toX() throws if the value is not of the kind X

    at::Tensor &toTensor() &
    {
        expect(TAPER_KIND_TENSOR, "Tensor");
        return held_;
    }
    const at::Tensor &toTensor() const &
    {
        expect(TAPER_KIND_TENSOR, "Tensor");
        return held_;
    }
    at::Tensor toTensor() &&
    {
        expect(TAPER_KIND_TENSOR, "Tensor");
        return held_;
    }
    int64_t toInt() const
    {
        expect(TAPER_KIND_INT, "Int");
        int64_t number = 0;
        taper::cpp::ErrorScope error;
        error.check(taper_value_get_int(held_.handle().get(), &number, error));
        return number;
    }
    double toDouble() const
    {
        expect(TAPER_KIND_DOUBLE, "Double");
        double number = 0;
        taper::cpp::ErrorScope error;
        error.check(taper_value_get_double(held_.handle().get(), &number, error));
        return number;
    }
    c10::complex<double> toComplexDouble() const
    {
        expect(TAPER_KIND_COMPLEX, "ComplexDouble");
        double re = 0, im = 0;
        taper::cpp::ErrorScope error;
        error.check(taper_value_get_complex(held_.handle().get(), &re, &im, error));
        return {re, im};
    }
    bool toBool() const
    {
        expect(TAPER_KIND_BOOL, "Bool");
        int flag = 0;
        taper::cpp::ErrorScope error;
        error.check(taper_value_get_bool(held_.handle().get(), &flag, error));
        return flag != 0;
    }
    Scalar toScalar() const
    {
        if (isInt()) {
            return toInt();
        }
        if (isBool()) {
            return toBool();
        }
        return isComplexDouble() ? Scalar(toComplexDouble()) : Scalar(toDouble());
    }
    Device toDevice() const; // defined in device_value.h
    std::string toNone() const
    {
        expect(TAPER_KIND_NONE, "None");
        return "None";
    }
    ScalarType toScalarType() const
    {
        return static_cast<ScalarType>(toInt());
    }
    Layout toLayout() const
    {
        return static_cast<Layout>(toInt());
    }
    MemoryFormat toMemoryFormat() const
    {
        return static_cast<MemoryFormat>(toInt());
    }
    QScheme toQScheme() const
    {
        return static_cast<QScheme>(toInt());
    }
    const IValue &toIValue() const
    {
        return *this;
    }
    IValue &toIValue()
    {
        return *this;
    }
    std::vector<int64_t> toDimVector() const;
    optional<std::reference_wrapper<const std::string>> toOptionalStringRef() const
    {
        return isNone() ? optional<std::reference_wrapper<const std::string>>()
                        : optional<std::reference_wrapper<const std::string>>(std::cref(toStringRef()));
    }
    intrusive_ptr<ivalue::EnumHolder> toEnumHolder() const;
    at::Generator toGenerator() const;
    at::Storage toStorage() const;
    // Taper has no values of these kinds, so these functions throw.
    [[noreturn]] void toBlob() const
    {
        refuse("Blob");
    }
    [[noreturn]] void toRRef() const
    {
        refuse("RRef");
    }
    [[noreturn]] void toQuantizer() const
    {
        refuse("Quantizer");
    }
    [[noreturn]] void toStream() const
    {
        refuse("Stream");
    }
    [[noreturn]] void toPyObjectHolder() const
    {
        refuse("PyObject");
    }
    [[noreturn]] void toPyObject() const
    {
        refuse("PyObject");
    }
    int64_t toSymInt() const
    {
        return toInt();
    }
    double toSymFloat() const
    {
        return toDouble();
    }
    intrusive_ptr<ivalue::Future> toFuture() const; // defined in future.h
    // Both functions throw if the value is not an object of a class of the app. The first one also throws if the class
    // is not T. Defined in custom_class.h.
    template <class T> intrusive_ptr<T> toCustomClass() const;
    intrusive_ptr<torch::CustomClassHolder> toCapsule() const;
    // The references that both functions return are valid as long as the IValue exists.
    const std::string &toStringRef() const;
    string_view toStringView() const
    {
        return toStringRef();
    }
    intrusive_ptr<ivalue::ConstantString> toString() const;
    intrusive_ptr<ivalue::Tuple> toTuple() const;
    const ivalue::Tuple &toTupleRef() const;
    intrusive_ptr<ivalue::Object> toObject() const;
    const ivalue::Object &toObjectRef() const
    {
        return *toObject();
    }
    torch::jit::Module toModule() const; // defined in module.h
    // These and other rare functions are templates, so that only programs that call them compile them.
    template <class T = complex<double>> List<T> toComplexDoubleList() const;
    template <class T = optional<at::Tensor>> List<T> toOptionalTensorList() const;
    template <class T = complex<double>> std::vector<T> toComplexDoubleVector() const;
    template <class T = optional<at::Tensor>> std::vector<T> toOptionalTensorVector() const;
    List<IValue> toList() const;
    ArrayRef<IValue> toListRef() const;
    List<at::Tensor> toTensorList() const;
    List<int64_t> toIntList() const;
    List<double> toDoubleList() const;
    List<bool> toBoolList() const;
    std::vector<IValue> toListVector() const;
    std::vector<at::Tensor> toTensorVector() const;
    std::vector<int64_t> toIntVector() const;
    std::vector<double> toDoubleVector() const;
    Dict<IValue, IValue> toGenericDict() const;
    template <class T> T to() const
    {
        return Convert<T>::from(*this);
    }
    template <class T> optional<T> toOptional() const
    {
        return isNone() ? optional<T>() : optional<T>(to<T>());
    }

    // Returns true if the two values are equal numbers, or references to one string, tensor, container or object.
    bool is(const IValue &other) const;
    bool isSameIdentity(const IValue &other) const
    {
        return is(other);
    }
    // True if the two values share memory: they are one tensor or container, or tensors over one storage.
    bool isAliasOf(const IValue &other) const;
    // Returns a bool, or if both values are tensors, a tensor with the comparison of each element. Containers compare
    // their items.
    IValue equals(const IValue &other) const;
    // Returns a hash of the value. Throws for kinds of values that a dict cannot have as keys.
    static size_t hash(const IValue &value);
    IValue hash() const
    {
        return IValue(static_cast<int64_t>(hash(*this)));
    }
    // Returns a copy of the value. Value and copy share nothing, except objects and values that exist only in C++.
    template <class Unused = void> IValue deepcopy() const;
    // memo maps each value that was copied before to its copy; this call adds to it.
    template <class Memo> IValue deepcopy(Memo &memo) const;
    size_t use_count() const
    {
        return isPtrType() ? taper_value_use_count(handle().get()) : 1;
    }
    // Sets of values in which two references to one object are the same value.
    struct HashAliasedIValue {
        size_t operator()(const IValue &value) const;
        size_t hashTensor(const at::Tensor &tensor) const
        {
            return std::hash<const void *>()(tensor.const_data_ptr());
        }
    };
    struct CompAliasedIValues {
        bool operator()(const IValue &a, const IValue &b) const
        {
            return a.isAliasOf(b);
        }
    };
    using HashAliasedIValues = std::unordered_set<IValue, HashAliasedIValue, CompAliasedIValues>;
    using HashAliasedIValueMap = std::unordered_map<IValue, IValue, HashAliasedIValue, CompAliasedIValues>;
    // True if the two values, or any values inside them, share memory.
    template <class Unused = void> bool overlaps(const IValue &other) const;
    // Inserts the value, and all values inside it that can be shared.
    template <class Values> void getSubValues(Values &values) const;
    // Calls the function with the value and all values inside it. If the function returns true for a value, it is not
    // called with the values inside that value.
    void visit(const std::function<bool(const IValue &)> &visitor) const;
    // Writes the value as Python's repr does, except values that the function writes itself; the function then returns
    // true.
    template <class Customized> std::ostream &repr(std::ostream &out, Customized customized) const;
    const void *internalToPointer() const
    {
        return taper_value_identity(handle().get());
    }
    static IValue uninitialized()
    {
        return IValue();
    }
    static IValue make_capsule(intrusive_ptr<torch::CustomClassHolder> object); // defined in custom_class.h
    void dump() const; // prints the value and a newline; defined in print.h
    friend bool operator==(const IValue &a, const IValue &b);
    friend bool operator!=(const IValue &a, const IValue &b)
    {
        return !(a == b);
    }
    const taper::cpp::Handle &handle() const noexcept
    {
        return held_.handle();
    }
    void expect(taper_kind kind, const char *name) const
    {
        if (taper_kind_of() != kind || (kind == TAPER_KIND_OBJECT && !isObject())) {
            throw Error(std::string("Expected ") + name + " but got " + tagKind());
        }
    }

  private:
    [[noreturn]] void refuse(const char *kind) const
    {
        throw Error(std::string("Expected ") + kind + " but got " + tagKind());
    }
    IValue(const char *text, size_t length) : IValue(taper::cpp::make_value(taper_value_string, text, length))
    {
    }
    std::string type_text() const
    {
        char small[64];
        const size_t length = taper_value_type(handle().get(), small, sizeof small);
        if (length < sizeof small) {
            return std::string(small, length);
        }
        std::string text(length + 1, '\0');
        taper_value_type(handle().get(), &text[0], text.size());
        text.resize(length);
        return text;
    }
    // The elements of a tuple or list, or the characters of a string. They are made at the first request, which any
    // thread may make.
    template <class Box> const Box &boxed() const
    {
        const intrusive_ptr_target *box = box_.load(std::memory_order_acquire);
        if (box == nullptr) {
            const intrusive_ptr<Box> made = make_intrusive<Box>(handle());
            if (box_.compare_exchange_strong(box, made.get(), std::memory_order_acq_rel)) {
                made->retain();
                box = made.get();
            }
        }
        return *static_cast<const Box *>(box);
    }

    // The object of C++ to which this value refers, if it is of this class.
    template <class T> const T *foreign() const noexcept
    {
        return dynamic_cast<const T *>(foreign_box());
    }
    // Returns the object of C++ to which this value refers, also if the value comes from a list, a dict or a tuple;
    // defined in values.h.
    const intrusive_ptr_target *foreign_box() const noexcept;
    // Makes a value of an object that only C++ has.
    IValue(const std::string &class_name, const intrusive_ptr_target *target);

    at::Tensor held_; // the value, which need not be a tensor; an undefined tensor is None
    mutable std::atomic<const intrusive_ptr_target *> box_;
};

using IValueList = std::vector<IValue>;

} // namespace c10

#include <taper/cpp/tuple.h>

#include <taper/cpp/object.h>

#include <taper/cpp/list.h>

#include <taper/cpp/dict.h>

#include <taper/cpp/convert.h>

#include <taper/cpp/device_value.h>

#include <taper/cpp/future.h>

#include <taper/cpp/named_type.h>

#include <taper/cpp/values.h>

#include <taper/cpp/custom_class.h>

namespace at
{
using c10::IValue;
}
namespace torch
{
using namespace at;
namespace jit
{
using c10::IValue;
using Stack = std::vector<c10::IValue>;
} // namespace jit
} // namespace torch

#endif
