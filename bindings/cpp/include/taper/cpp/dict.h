/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Dict: a dict that models can use as well, ordered by insertion. Copies share the dict.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_DICT_H
#define TAPER_CPP_DICT_H

#include <utility>

#include <taper/cpp/list.h>

namespace c10
{

namespace impl
{

template <class K, class V, class Iterator = void> class DictEntryRef
{
  public:
    DictEntryRef(const Dict<K, V> *dict, size_t index) : dict_(dict), index_(index)
    {
    }
    K key() const
    {
        return dict_->key_at(index_);
    }
    V value() const
    {
        return dict_->value_at(index_);
    }
    void setValue(const V &value) const
    {
        dict_->insert_or_assign(key(), value);
    }
    size_t index() const
    {
        return index_;
    }

  private:
    template <class, class> friend class DictIterator;
    const Dict<K, V> *dict_; // the dict on which begin() was called
    size_t index_;
};

template <class K, class V> class DictIterator
{
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = DictEntryRef<K, V>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type *;
    using reference = const value_type &;
    DictIterator(const Dict<K, V> *dict, size_t index) : entry_(dict, index)
    {
    }
    reference operator*() const
    {
        return entry_;
    }
    pointer operator->() const
    {
        return &entry_;
    }
    DictIterator &operator++()
    {
        ++entry_.index_;
        return *this;
    }
    DictIterator operator++(int)
    {
        DictIterator before(*this);
        ++entry_.index_;
        return before;
    }
    bool operator==(const DictIterator &other) const
    {
        return entry_.index_ == other.entry_.index_;
    }
    bool operator!=(const DictIterator &other) const
    {
        return entry_.index_ != other.entry_.index_;
    }

  private:
    value_type entry_;
};

inline taper::cpp::Handle make_dict(const char *key, const char *value, const std::vector<IValue> &keys,
                                    const std::vector<IValue> &values)
{
    std::vector<taper::cpp::Handle> made_keys, made_values;
    const std::vector<taper_value *> all_keys = pointers(keys, made_keys);
    const std::vector<taper_value *> all_values = pointers(values, made_values);
    return taper::cpp::make_value(taper_value_dict, key, value, all_keys.data(), all_values.data(), all_keys.size());
}

} // namespace impl

template <class K, class V> class Dict final
{
  public:
    using size_type = size_t;
    using key_type = K;
    using mapped_type = V;
    using iterator = impl::DictIterator<K, V>;
    using const_iterator = iterator;

    Dict()
        : value_(impl::make_dict(impl::TypeName<K>::known ? impl::TypeName<K>::text().c_str() : "str",
                                 impl::TypeName<V>::known ? impl::TypeName<V>::text().c_str() : "Any", {}, {}))
    {
    }
    // Makes an empty dict with these types.
    Dict(const TypePtr &key, const TypePtr &value)
        : value_(impl::make_dict(key->annotation_str().c_str(),
                                 value->kind() == TypeKind::NoneType ? "Any" : value->annotation_str().c_str(), {}, {}))
    {
    }
    explicit Dict(taper::cpp::Handle value) : value_(std::move(value))
    {
    }

    V at(const K &key) const
    {
        const size_t index = index_of(key);
        if (index == size()) {
            throw std::out_of_range("Argument passed to at() was not in the map.");
        }
        return value_at(index);
    }
    iterator find(const K &key) const
    {
        return iterator(this, index_of(key));
    }
    bool contains(const K &key) const
    {
        return index_of(key) != size();
    }
    size_t count(const K &key) const
    {
        return contains(key) ? 1 : 0;
    }
    // Inserts the item, unless the key exists.
    template <class Key, class Value> std::pair<iterator, bool> insert(Key &&key_, Value &&value) const
    {
        const K key(std::forward<Key>(key_));
        const size_t index = index_of(key);
        const bool fresh = index == size();
        if (fresh) {
            put(key, V(std::forward<Value>(value)));
        }
        return {iterator(this, index), fresh};
    }
    template <class Key, class Value> std::pair<iterator, bool> insert_or_assign(Key &&key_, Value &&value) const
    {
        const K key(std::forward<Key>(key_));
        const bool fresh = !contains(key);
        put(key, V(std::forward<Value>(value)));
        return {find(key), fresh};
    }
    size_t erase(const K &key) const
    {
        if (!contains(key)) {
            return 0;
        }
        taper::cpp::call_operator(taper::cpp::operator_named(operator_for("aten::Delete.Dict_", key)),
                                  {value_, IValue(key).handle()});
        return 1;
    }
    void erase(iterator position) const
    {
        (void)erase(position->key());
    }
    void clear() const
    {
        if (!empty()) {
            taper::cpp::call_operator(taper::cpp::operator_named(operator_for("aten::clear.", raw_key(0))), {value_});
        }
    }
    Dict copy() const
    {
        Dict made(keyType(), valueType());
        for (size_t i = 0; i < size(); i++) {
            made.put(key_at(i), value_at(i));
        }
        return made;
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
    TypePtr keyType() const
    {
        return types().first;
    }
    TypePtr valueType() const
    {
        return types().second;
    }
    bool is(const Dict &other) const
    {
        return taper_value_identity(value_.get()) == taper_value_identity(other.value_.get());
    }
    friend bool operator==(const Dict &a, const Dict &b)
    {
        return IValue(a) == IValue(b);
    }
    friend bool operator!=(const Dict &a, const Dict &b)
    {
        return !(a == b);
    }
    size_t use_count() const
    {
        return taper_value_use_count(value_.get());
    }
    const taper::cpp::Handle &handle() const
    {
        return value_;
    }

    K key_at(size_t index) const
    {
        return raw_key(index).template to<K>();
    }
    V value_at(size_t index) const
    {
        return IValue(taper::cpp::item_of(value_, index)).template to<V>();
    }

  private:
    IValue raw_key(size_t index) const
    {
        taper::cpp::ErrorScope error;
        taper_value *key = nullptr;
        error.check(taper_value_key(value_.get(), index, &key, error));
        return IValue(taper::cpp::Handle(key));
    }
    // Returns the index of the key, or size() if it is missing.
    size_t index_of(const K &key) const
    {
        const IValue wanted(key);
        const size_t count = size();
        size_t index = 0;
        while (index < count && !raw_key(index).equals(wanted).toBool()) {
            index++;
        }
        return index;
    }
    static std::string operator_for(const char *name, const IValue &key)
    {
        return std::string(name) + (key.isString()          ? "str"
                                    : key.isInt()           ? "int"
                                    : key.isBool()          ? "bool"
                                    : key.isDouble()        ? "float"
                                    : key.isComplexDouble() ? "complex"
                                                            : "Tensor");
    }
    void put(const K &key, const V &value) const
    {
        const IValue at_key(key);
        taper::cpp::call_operator(taper::cpp::operator_named(operator_for("aten::_set_item.", at_key)),
                                  {value_, at_key.handle(), IValue(value).handle()});
    }
    // Returns the key type and the value type of a dict type such as "Dict[str, List[int]]". The name of a key type
    // contains no comma.
    std::pair<TypePtr, TypePtr> types() const
    {
        const std::string text = IValue(value_).type()->annotation_str();
        const size_t comma = text.find(", ");
        if (comma == std::string::npos || comma < 5) {
            return {AnyType::get(), AnyType::get()};
        }
        return {Type::of(text.substr(5, comma - 5)), Type::of(text.substr(comma + 2, text.size() - comma - 3))};
    }
    taper::cpp::Handle value_;
};

template <class K, class V> IValue::IValue(const Dict<K, V> &dict) : IValue(dict.handle())
{
}
template <class K, class V> IValue::IValue(const std::unordered_map<K, V> &items) : box_(nullptr)
{
    Dict<K, V> dict;
    for (const auto &item : items) {
        dict.insert(item.first, item.second);
    }
    *this = IValue(dict);
}
inline Dict<IValue, IValue> IValue::toGenericDict() const
{
    expect(TAPER_KIND_DICT, "GenericDict");
    return Dict<IValue, IValue>(handle());
}

} // namespace c10

namespace torch
{
using c10::Dict;
}

#endif
