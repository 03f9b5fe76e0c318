/* SPDX-License-Identifier: BSD-2-Clause */
// The lists that parameters(), named_buffers(), modules() and so on return: attributes of a module, in PyTorch's order.
// A list contains the attributes that exist at the time of the call.
#ifndef TAPER_CPP_SLOT_LIST_H
#define TAPER_CPP_SLOT_LIST_H

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <taper/cpp/ivalue.h>

namespace torch
{
namespace jit
{

template <class T> struct Named {
    std::string name;
    T value;
};

// Gives elements by value, as PyTorch's iterators do.
template <class T> class slot_iterator_impl
{
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T *;
    using reference = T;
    slot_iterator_impl(std::shared_ptr<const std::vector<T>> all, size_t index) : all_(std::move(all)), index_(index)
    {
    }
    T operator*() const
    {
        return (*all_)[index_];
    }
    const T *operator->() const
    {
        return &(*all_)[index_];
    }
    slot_iterator_impl &operator++()
    {
        ++index_;
        return *this;
    }
    slot_iterator_impl operator++(int)
    {
        slot_iterator_impl before(*this);
        ++index_;
        return before;
    }
    friend bool operator==(const slot_iterator_impl &a, const slot_iterator_impl &b)
    {
        return a.index_ == b.index_;
    }
    friend bool operator!=(const slot_iterator_impl &a, const slot_iterator_impl &b)
    {
        return a.index_ != b.index_;
    }

  private:
    std::shared_ptr<const std::vector<T>> all_;
    size_t index_;
};

template <class T> class slot_list_impl
{
  public:
    using value_type = T;
    using iterator = slot_iterator_impl<T>;
    using const_iterator = iterator;
    explicit slot_list_impl(std::vector<T> all) : all_(std::make_shared<const std::vector<T>>(std::move(all)))
    {
    }
    iterator begin() const
    {
        return iterator(all_, 0);
    }
    iterator end() const
    {
        return iterator(all_, all_->size());
    }
    size_t size() const
    {
        return all_->size();
    }

  private:
    std::shared_ptr<const std::vector<T>> all_;
};

class Module;
using NameModule = Named<Module>;
using NameValue = Named<c10::IValue>;
using NameTensor = Named<at::Tensor>;
using parameter_list = slot_list_impl<at::Tensor>;
using named_parameter_list = slot_list_impl<NameTensor>;
using buffer_list = parameter_list;
using named_buffer_list = named_parameter_list;
using attribute_list = slot_list_impl<c10::IValue>;
using named_attribute_list = slot_list_impl<NameValue>;
using module_list = slot_list_impl<Module>;
using named_module_list = slot_list_impl<NameModule>;

} // namespace jit
} // namespace torch

#endif
