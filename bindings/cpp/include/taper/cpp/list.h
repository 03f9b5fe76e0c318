/* SPDX-License-Identifier: BSD-2-Clause */
// c10::List: a list that models can use as well. Copies share the list.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_LIST_H
#define TAPER_CPP_LIST_H

#include <initializer_list>
#include <iterator>
#include <stdexcept>

#include <taper/cpp/operators.h>
#include <taper/cpp/type_name.h>

namespace c10
{

namespace impl
{

// The type of list[i]. A conversion to T reads the element, and an assignment writes it.
template <class T> class ListElementReference
{
  public:
    ListElementReference(const List<T> &list, size_t index) : list_(list), index_(index)
    {
    }
    operator T() const
    {
        return list_.get(index_);
    }
    T get() const
    {
        return list_.get(index_);
    }
    ListElementReference(const ListElementReference &) = default;
    ListElementReference &operator=(const T &value)
    {
        list_.set(index_, value);
        return *this;
    }
    ListElementReference &operator=(const ListElementReference &other)
    {
        return *this = other.get();
    }
    friend void swap(ListElementReference &&a, ListElementReference &&b)
    {
        const T kept = a.get();
        a = b.get();
        b = kept;
    }

  private:
    List<T> list_;
    size_t index_;
};

// The type that reading an element of a const list returns.
template <class T> struct ListElementConstReferenceTraits {
    using const_reference = T;
};

template <class T> class ListIterator
{
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T *;
    using reference = ListElementReference<T>;
    ListIterator() : list_(nullptr), index_(0)
    {
    }
    ListIterator(const List<T> *list, size_t index) : list_(list), index_(index)
    {
    }
    reference operator*() const
    {
        return reference(*list_, index_);
    }
    ListIterator &operator++()
    {
        ++index_;
        return *this;
    }
    ListIterator operator++(int)
    {
        ListIterator before(*this);
        ++index_;
        return before;
    }
    ListIterator &operator--()
    {
        --index_;
        return *this;
    }
    ListIterator operator--(int)
    {
        ListIterator before(*this);
        --index_;
        return before;
    }
    ListIterator &operator+=(difference_type step)
    {
        return *this = *this + step;
    }
    ListIterator &operator-=(difference_type step)
    {
        return *this = *this + -step;
    }
    ListIterator operator-(difference_type step) const
    {
        return *this + -step;
    }
    reference operator[](difference_type step) const
    {
        return *(*this + step);
    }
    bool operator<(const ListIterator &other) const
    {
        return index_ < other.index_;
    }
    bool operator>(const ListIterator &other) const
    {
        return index_ > other.index_;
    }
    bool operator<=(const ListIterator &other) const
    {
        return index_ <= other.index_;
    }
    bool operator>=(const ListIterator &other) const
    {
        return index_ >= other.index_;
    }
    size_t index() const
    {
        return index_;
    }
    ListIterator operator+(difference_type step) const
    {
        return ListIterator(list_, static_cast<size_t>(static_cast<difference_type>(index_) + step));
    }
    difference_type operator-(const ListIterator &other) const
    {
        return static_cast<difference_type>(index_) - static_cast<difference_type>(other.index_);
    }
    bool operator==(const ListIterator &other) const
    {
        return index_ == other.index_;
    }
    bool operator!=(const ListIterator &other) const
    {
        return index_ != other.index_;
    }

  private:
    const List<T> *list_; // the list on which begin() was called
    size_t index_;
};

// Makes a list of these items. If `type` is NULL, the list has the type of its first item.
inline taper::cpp::Handle make_list(const char *type, const std::vector<IValue> &items)
{
    std::vector<taper::cpp::Handle> made;
    const std::vector<taper_value *> all = pointers(items, made);
    return taper::cpp::make_value(taper_value_list, type == nullptr && items.empty() ? "Any" : type, all.data(),
                                  all.size());
}

} // namespace impl

template <class T> class List final
{
  public:
    using value_type = T;
    using size_type = size_t;
    using iterator = impl::ListIterator<T>;
    using const_iterator = iterator;
    using reverse_iterator = std::reverse_iterator<iterator>;

    List() : List(std::vector<T>())
    {
    }
    List(std::initializer_list<T> items) : List(std::vector<T>(items))
    {
    }
    explicit List(ArrayRef<T> items) : List(items.vec())
    {
    }
    explicit List(const std::vector<T> &items)
        : value_(impl::make_list(impl::TypeName<T>::known ? impl::TypeName<T>::text().c_str() : nullptr,
                                 std::vector<IValue>(items.begin(), items.end())))
    {
    }
    // Makes an empty list of this element type.
    explicit List(const TypePtr &element)
        : value_(impl::make_list(element->kind() == TypeKind::NoneType ? "Any" : element->annotation_str().c_str(), {}))
    {
    }
    explicit List(taper::cpp::Handle value) : value_(std::move(value))
    {
    }

    T get(size_t index) const
    {
        check(index);
        return IValue(taper::cpp::item_of(value_, index)).template to<T>();
    }
    T extract(size_t index) const
    {
        return get(index);
    }
    T operator[](size_t index) const
    {
        return get(index);
    }
    impl::ListElementReference<T> operator[](size_t index)
    {
        check(index);
        return impl::ListElementReference<T>(*this, index);
    }
    void set(size_t index, const T &value) const
    {
        check(index);
        taper::cpp::call_operator(taper::cpp::operator_named("aten::_set_item.t"),
                                  {value_, IValue(static_cast<int64_t>(index)).handle(), IValue(value).handle()});
    }
    void push_back(const T &value) const
    {
        taper::cpp::call_operator(taper::cpp::operator_named("aten::append.t"), {value_, IValue(value).handle()});
    }
    template <class... Args> void emplace_back(Args &&...args) const
    {
        push_back(T(std::forward<Args>(args)...));
    }
    void pop_back() const
    {
        check(0);
        taper::cpp::call_operator(taper::cpp::operator_named("aten::Delete.t"), {value_, IValue(-1).handle()});
    }
    void append(const List &other) const
    {
        taper::cpp::call_operator(taper::cpp::operator_named("aten::extend.t"), {value_, other.handle()});
    }
    // Inserts an item before the position, and returns the position of the item.
    iterator insert(iterator position, const T &value) const
    {
        taper::cpp::call_operator(
            taper::cpp::operator_named("aten::insert.t"),
            {value_, IValue(static_cast<int64_t>(position.index())).handle(), IValue(value).handle()});
        return iterator(this, position.index());
    }
    template <class... Args> iterator emplace(iterator position, Args &&...args) const
    {
        return insert(position, T(std::forward<Args>(args)...));
    }
    iterator erase(iterator position) const
    {
        check(position.index());
        taper::cpp::call_operator(taper::cpp::operator_named("aten::Delete.t"),
                                  {value_, IValue(static_cast<int64_t>(position.index())).handle()});
        return iterator(this, position.index());
    }
    iterator erase(iterator first, iterator last) const
    {
        for (size_t i = first.index(); i < last.index(); i++) {
            erase(first);
        }
        return iterator(this, first.index());
    }
    void resize(size_t count) const
    {
        resize(count, T());
    }
    void resize(size_t count, const T &value) const
    {
        while (size() > count) {
            pop_back();
        }
        while (size() < count) {
            push_back(value);
        }
    }
    void clear() const
    {
        taper::cpp::call_operator(taper::cpp::operator_named("aten::clear.t"), {value_});
    }
    void reserve(size_t) const
    {
    }
    size_t size() const
    {
        return taper_value_count(value_.get());
    }
    bool empty() const
    {
        return size() == 0;
    }
    iterator begin() const
    {
        return iterator(this, 0);
    }
    iterator end() const
    {
        return iterator(this, size());
    }
    std::vector<T> vec() const
    {
        std::vector<T> all;
        const size_t count = size();
        all.reserve(count);
        for (size_t i = 0; i < count; i++) {
            all.push_back(get(i));
        }
        return all;
    }
    List copy() const
    {
        return List(taper::cpp::call_operator(taper::cpp::operator_named("aten::list.t"), {value_}).at(0));
    }
    bool is(const List &other) const
    {
        return taper_value_identity(value_.get()) == taper_value_identity(other.value_.get());
    }
    friend bool operator==(const List &a, const List &b)
    {
        return IValue(a) == IValue(b);
    }
    friend bool operator!=(const List &a, const List &b)
    {
        return !(a == b);
    }
    size_t use_count() const
    {
        return taper_value_use_count(value_.get());
    }
    TypePtr elementType() const
    {
        const std::string text = IValue(value_).type()->annotation_str();
        return Type::of(text.size() > 6 ? text.substr(5, text.size() - 6) : "Any");
    }
    const taper::cpp::Handle &handle() const
    {
        return value_;
    }

  private:
    void check(size_t index) const
    {
        if (index >= size()) {
            throw std::out_of_range(
                str("vector::_M_range_check: __n (which is ", index, ") >= this->size() (which is ", size(), ")"));
        }
    }
    taper::cpp::Handle value_;
};

template <class T> IValue::IValue(const List<T> &list) : IValue(list.handle())
{
}
template <class T> IValue::IValue(const std::vector<T> &items) : IValue(List<T>(items))
{
}
template <class T> IValue::IValue(ArrayRef<T> items) : IValue(List<T>(items.vec()))
{
}

namespace impl
{
template <class T> List<T> list_of(const IValue &value, const char *type, const char *name)
{
    if (!value.isList() || (value.type()->annotation_str() != type && taper_value_count(value.handle().get()) != 0)) {
        throw Error(std::string("Expected ") + name + " but got " + value.tagKind());
    }
    return List<T>(value.handle());
}
} // namespace impl

inline List<IValue> IValue::toList() const
{
    expect(TAPER_KIND_LIST, "GenericList");
    return List<IValue>(handle());
}
inline List<at::Tensor> IValue::toTensorList() const
{
    return impl::list_of<at::Tensor>(*this, "List[Tensor]", "TensorList");
}
inline List<int64_t> IValue::toIntList() const
{
    return impl::list_of<int64_t>(*this, "List[int]", "IntList");
}
inline List<double> IValue::toDoubleList() const
{
    return impl::list_of<double>(*this, "List[float]", "DoubleList");
}
inline List<bool> IValue::toBoolList() const
{
    return impl::list_of<bool>(*this, "List[bool]", "BoolList");
}
inline std::vector<IValue> IValue::toListVector() const
{
    return toList().vec();
}
inline std::vector<at::Tensor> IValue::toTensorVector() const
{
    return toTensorList().vec();
}
inline std::vector<int64_t> IValue::toIntVector() const
{
    return toIntList().vec();
}
inline std::vector<double> IValue::toDoubleVector() const
{
    return toDoubleList().vec();
}

} // namespace c10

namespace torch
{
using c10::List;
}

#endif
