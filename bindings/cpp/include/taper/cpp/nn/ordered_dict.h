/* SPDX-License-Identifier: BSD-2-Clause */
// torch::OrderedDict: a map that lists its items in the order of their insertion.
#ifndef TAPER_CPP_NN_ORDERED_DICT_H
#define TAPER_CPP_NN_ORDERED_DICT_H

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <taper/cpp/error.h>

namespace torch
{

template <class Key, class Value> class OrderedDict
{
  public:
    class Item
    {
      public:
        Item(Key key, Value value) : pair_(std::move(key), std::move(value))
        {
        }
        Value &operator*()
        {
            return pair_.second;
        }
        const Value &operator*() const
        {
            return pair_.second;
        }
        Value *operator->()
        {
            return &pair_.second;
        }
        const Value *operator->() const
        {
            return &pair_.second;
        }
        const Key &key() const noexcept
        {
            return pair_.first;
        }
        Value &value() noexcept
        {
            return pair_.second;
        }
        const Value &value() const noexcept
        {
            return pair_.second;
        }
        const std::pair<Key, Value> &pair() const noexcept
        {
            return pair_;
        }

      private:
        std::pair<Key, Value> pair_;
    };
    using Iterator = typename std::vector<Item>::iterator;
    using ConstIterator = typename std::vector<Item>::const_iterator;

    // description: the word for a key in error messages, such as "Key".
    explicit OrderedDict(std::string description = "Key") : description_(std::move(description))
    {
    }
    OrderedDict(std::initializer_list<Item> items) : OrderedDict()
    {
        for (const Item &each : items) {
            items_.push_back(each);
            places_.emplace(each.key(), items_.size() - 1);
        }
    }
    const std::string &key_description() const noexcept
    {
        return description_;
    }

    Item &front()
    {
        TORCH_CHECK(!items_.empty(), "Called front() on an empty OrderedDict");
        return items_.front();
    }
    const Item &front() const
    {
        return const_cast<OrderedDict *>(this)->front();
    }
    Item &back()
    {
        TORCH_CHECK(!items_.empty(), "Called back() on an empty OrderedDict");
        return items_.back();
    }
    const Item &back() const
    {
        return const_cast<OrderedDict *>(this)->back();
    }
    Item &operator[](size_t index)
    {
        TORCH_CHECK(index < items_.size(), "Index ", index, " is out of bounds");
        return items_[index];
    }
    const Item &operator[](size_t index) const
    {
        return (*const_cast<OrderedDict *>(this))[index];
    }
    Value &operator[](const Key &key)
    {
        Value *const found = find(key);
        TORCH_CHECK(found != nullptr, description_, " '", key, "' is not defined");
        return *found;
    }
    const Value &operator[](const Key &key) const
    {
        return (*const_cast<OrderedDict *>(this))[key];
    }
    Value *find(const Key &key) noexcept
    {
        const auto place = places_.find(key);
        return place == places_.end() ? nullptr : &items_[place->second].value();
    }
    const Value *find(const Key &key) const noexcept
    {
        return const_cast<OrderedDict *>(this)->find(key);
    }
    bool contains(const Key &key) const noexcept
    {
        return find(key) != nullptr;
    }

    Iterator begin()
    {
        return items_.begin();
    }
    ConstIterator begin() const
    {
        return items_.begin();
    }
    Iterator end()
    {
        return items_.end();
    }
    ConstIterator end() const
    {
        return items_.end();
    }
    size_t size() const noexcept
    {
        return items_.size();
    }
    bool is_empty() const noexcept
    {
        return items_.empty();
    }
    void reserve(size_t count)
    {
        items_.reserve(count);
        places_.reserve(count);
    }

    template <class K, class V> Value &insert(K &&key, V &&value)
    {
        return add(Key(std::forward<K>(key)), Value(std::forward<V>(value)));
    }
    Value &insert(Key key, Value &&value)
    {
        return add(std::move(key), std::move(value));
    }
    void update(OrderedDict &&other)
    {
        for (Item &each : other) {
            add(each.key(), std::move(each.value()));
        }
    }
    void update(const OrderedDict &other)
    {
        for (const Item &each : other) {
            add(each.key(), each.value());
        }
    }
    void erase(const Key &key)
    {
        const auto place = places_.find(key);
        TORCH_CHECK(place != places_.end(), "Key '", key, "' doesn't exist");
        const size_t index = place->second;
        places_.erase(place);
        items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(index));
        for (auto &each : places_) {
            each.second -= each.second > index ? 1 : 0;
        }
    }
    void clear()
    {
        places_.clear();
        items_.clear();
    }

    const std::vector<Item> &items() const noexcept
    {
        return items_;
    }
    std::vector<Key> keys() const
    {
        std::vector<Key> all;
        for (const Item &each : items_) {
            all.push_back(each.key());
        }
        return all;
    }
    std::vector<Value> values() const
    {
        std::vector<Value> all;
        for (const Item &each : items_) {
            all.push_back(each.value());
        }
        return all;
    }
    std::vector<std::pair<Key, Value>> pairs() const
    {
        std::vector<std::pair<Key, Value>> all;
        for (const Item &each : items_) {
            all.push_back(each.pair());
        }
        return all;
    }

    friend bool operator==(const OrderedDict &a, const OrderedDict &b)
    {
        bool same = a.places_ == b.places_ && a.items_.size() == b.items_.size();
        for (size_t i = 0; same && i < a.items_.size(); i++) {
            same = a.items_[i].value() == b.items_[i].value();
        }
        return same;
    }

  private:
    Value &add(Key key, Value value)
    {
        TORCH_CHECK(places_.count(key) == 0, description_, " '", key, "' already defined");
        items_.emplace_back(key, std::move(value));
        places_.emplace(std::move(key), items_.size() - 1);
        return items_.back().value();
    }
    std::unordered_map<Key, size_t> places_;
    std::vector<Item> items_;
    std::string description_;
};

} // namespace torch

#endif
