/* SPDX-License-Identifier: BSD-2-Clause */
// The objects that an IValue of a tuple, a string or an object points to.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_TUPLE_H
#define TAPER_CPP_TUPLE_H

namespace c10
{
namespace ivalue
{

// The elements of a tuple, as an array.
class TupleElements
{
  public:
    using iterator = std::vector<IValue>::iterator;
    using const_iterator = std::vector<IValue>::const_iterator;
    TupleElements() = default;
    explicit TupleElements(std::vector<IValue> all) : all_(std::move(all))
    {
    }
    explicit TupleElements(ArrayRef<IValue> all) : all_(all.begin(), all.end())
    {
    }
    explicit TupleElements(IValue &&first) : all_{std::move(first)}
    {
    }
    TupleElements(IValue &&first, IValue &&second) : all_{std::move(first), std::move(second)}
    {
    }
    TupleElements(IValue &&first, IValue &&second, IValue &&third)
        : all_{std::move(first), std::move(second), std::move(third)}
    {
    }
    void setContents(std::vector<IValue> &&all)
    {
        all_ = std::move(all);
    }
    const_iterator cbegin() const
    {
        return all_.begin();
    }
    const_iterator cend() const
    {
        return all_.end();
    }
    std::vector<IValue> vec() const
    {
        return all_;
    }
    ArrayRef<IValue> asArrayRef() const
    {
        return all_;
    }
    operator const std::vector<IValue> &() const
    {
        return all_;
    }
    operator ArrayRef<IValue>() const
    {
        return all_;
    }
    const IValue &operator[](size_t index) const
    {
        return all_[index];
    }
    const IValue &at(size_t index) const
    {
        return all_.at(index);
    }
    const IValue &back() const
    {
        return all_.back();
    }
    const_iterator begin() const
    {
        return all_.begin();
    }
    const_iterator end() const
    {
        return all_.end();
    }
    size_t size() const
    {
        return all_.size();
    }
    bool empty() const
    {
        return all_.empty();
    }
    static size_t hash(const TupleElements &elements)
    {
        size_t sum = 0;
        for (const IValue &each : elements) {
            sum = sum * 31 + IValue::hash(each);
        }
        return sum;
    }

  private:
    std::vector<IValue> all_;
};

class Tuple final : public intrusive_ptr_target
{
  public:
    explicit Tuple(const taper::cpp::Handle &value) : value_(value)
    {
        std::vector<IValue> all;
        const size_t count = taper_value_count(value.get());
        all.reserve(count);
        for (size_t i = 0; i < count; i++) {
            all.emplace_back(taper::cpp::item_of(value, i));
        }
        elements_ = TupleElements(std::move(all));
    }
    // Takes the vector by value, because otherwise a vector that is an lvalue would select the template and become a
    // single element.
    static intrusive_ptr<Tuple> create(std::vector<IValue> elements);
    template <class... T> static intrusive_ptr<Tuple> create(T &&...elements)
    {
        return create(std::vector<IValue>{IValue(std::forward<T>(elements))...});
    }
    static intrusive_ptr<Tuple> createNamed(std::vector<IValue> elements, const TypePtr &)
    {
        return create(std::move(elements)); // the names of fields are lost
    }
    const TupleElements &elements() const
    {
        return elements_;
    }
    // Replaces the elements. Values that were made from the tuple before this call keep their elements.
    void setElements(std::vector<IValue> &&elements)
    {
        value_ = create(std::move(elements))->value_;
        *this = Tuple(value_);
    }
    void setElements(TupleElements &&elements)
    {
        setElements(elements.vec());
    }
    ArrayRef<IValue> elementsArrayRef() const
    {
        return elements_.asArrayRef();
    }
    static size_t hash(const Tuple &tuple)
    {
        return IValue::hash(IValue(tuple.value_));
    }
    TypePtr type() const
    {
        return IValue(value_).type();
    }
    size_t size() const
    {
        return elements_.size();
    }
    const taper::cpp::Handle &handle() const
    {
        return value_;
    }

  private:
    taper::cpp::Handle value_;
    TupleElements elements_;
};

class ConstantString final : public intrusive_ptr_target
{
  public:
    explicit ConstantString(const std::string &text)
        : ConstantString(taper::cpp::make_value(taper_value_string, text.data(), text.size()))
    {
    }
    explicit ConstantString(c10::string_view text) : ConstantString(std::string(text.data(), text.size()))
    {
    }
    explicit ConstantString(const taper::cpp::Handle &value) : value_(value)
    {
        const char *text = nullptr;
        size_t length = 0;
        taper::cpp::ErrorScope error;
        error.check(taper_value_get_string(value.get(), &text, &length, error));
        text_.assign(text, length);
    }
    static intrusive_ptr<ConstantString> create(c10::string_view text)
    {
        return make_intrusive<ConstantString>(text);
    }
    static intrusive_ptr<ConstantString> create(const char *text)
    {
        return make_intrusive<ConstantString>(c10::string_view(text));
    }
    static intrusive_ptr<ConstantString> create(const std::string &text)
    {
        return IValue(text).toString();
    }
    c10::string_view string_view() const
    {
        return text_;
    }
    const std::string &string() const
    {
        return text_;
    }
    operator const std::string &() const
    {
        return text_;
    }
    const taper::cpp::Handle &handle() const
    {
        return value_;
    }

  private:
    taper::cpp::Handle value_;
    std::string text_;
};

} // namespace ivalue

namespace impl
{
// Returns pointers to the values. Values of undefined tensors are made as None and kept in `made`.
inline std::vector<taper_value *> pointers(const std::vector<IValue> &items, std::vector<taper::cpp::Handle> &made)
{
    std::vector<taper_value *> all;
    all.reserve(items.size());
    made.reserve(items.size());
    for (const IValue &item : items) {
        if (item.isNone()) {
            made.push_back(taper::cpp::make_value(taper_value_none));
            all.push_back(made.back().get());
        } else {
            all.push_back(item.handle().get());
        }
    }
    return all;
}
} // namespace impl

inline intrusive_ptr<ivalue::Tuple> ivalue::Tuple::create(std::vector<IValue> elements)
{
    std::vector<taper::cpp::Handle> made;
    const std::vector<taper_value *> all = impl::pointers(elements, made);
    return make_intrusive<Tuple>(taper::cpp::make_value(taper_value_tuple, all.data(), all.size()));
}

namespace impl
{
template <class Items, size_t... I>
void each_of(const Items &items, std::vector<IValue> &all, std::index_sequence<I...>)
{
    const int each[] = {0, (all.emplace_back(std::get<I>(items)), 0)...};
    (void)each;
}
template <class T> const T &present(const intrusive_ptr<T> &target)
{
    return target ? *target : throw Error("the pointer is null");
}
} // namespace impl

inline IValue::IValue(intrusive_ptr<ivalue::Tuple> tuple) : IValue(impl::present(tuple).handle())
{
}
inline IValue::IValue(intrusive_ptr<ivalue::ConstantString> text) : IValue(impl::present(text).handle())
{
}
template <class... T> IValue::IValue(const std::tuple<T...> &items) : box_(nullptr)
{
    std::vector<IValue> all;
    all.reserve(sizeof...(T));
    impl::each_of(items, all, std::index_sequence_for<T...>());
    *this = IValue(ivalue::Tuple::create(all));
}

inline const ivalue::Tuple &IValue::toTupleRef() const
{
    expect(TAPER_KIND_TUPLE, "Tuple");
    return boxed<ivalue::Tuple>();
}
inline intrusive_ptr<ivalue::Tuple> IValue::toTuple() const
{
    return intrusive_ptr<ivalue::Tuple>(const_cast<ivalue::Tuple *>(&toTupleRef()));
}
inline const std::string &IValue::toStringRef() const
{
    expect(TAPER_KIND_STRING, "String");
    return boxed<ivalue::ConstantString>().string();
}
inline intrusive_ptr<ivalue::ConstantString> IValue::toString() const
{
    expect(TAPER_KIND_STRING, "String");
    return intrusive_ptr<ivalue::ConstantString>(
        const_cast<ivalue::ConstantString *>(&boxed<ivalue::ConstantString>()));
}
inline bool IValue::is(const IValue &other) const
{
    if (taper_kind_of() != other.taper_kind_of()) {
        return false;
    }
    switch (taper_kind_of()) {
    case TAPER_KIND_NONE:
        return true;
    case TAPER_KIND_BOOL:
        return toBool() == other.toBool();
    case TAPER_KIND_INT:
        return toInt() == other.toInt();
    case TAPER_KIND_DOUBLE:
        return !(toDouble() < other.toDouble()) && !(toDouble() > other.toDouble());
    case TAPER_KIND_DEVICE:
        return toDevice() == other.toDevice();
    case TAPER_KIND_COMPLEX:
        return handle().get() == other.handle().get();
    default:
        return taper_value_identity(handle().get()) == taper_value_identity(other.handle().get());
    }
}

} // namespace c10

#endif
