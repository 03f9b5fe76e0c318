/* SPDX-License-Identifier: BSD-2-Clause */
// torch::CustomClassHolder: objects of the app's classes as values, and torch::class_, which registers such a class.
// Code in C++ can pass objects through values and call the registered methods. Models cannot use these objects.
#ifndef TAPER_CPP_CUSTOM_CLASS_H
#define TAPER_CPP_CUSTOM_CLASS_H

#include <map>
#include <mutex>
#include <string>
#include <typeindex>

#include <taper/cpp/ivalue.h>

namespace torch
{

class CustomClassHolder : public c10::ivalue::Foreign
{
};

namespace detail
{
// The names of registered classes. The key of a name is the type of the class in C++.
struct ClassNames {
    std::mutex lock;
    std::map<std::type_index, std::string> all;
    static ClassNames &get()
    {
        static ClassNames *const names = new ClassNames; // never destroyed: static objects may still use it at exit
        return *names;
    }
    static std::string of(std::type_index type)
    {
        ClassNames &names = get();
        const std::lock_guard<std::mutex> guard(names.lock);
        const auto found = names.all.find(type);
        if (found == names.all.end()) {
            throw c10::Error("Trying to instantiate a class that isn't a registered custom class: " +
                             std::string(type.name()));
        }
        return found->second;
    }
};
} // namespace detail

} // namespace torch

namespace c10
{

template <class T, std::enable_if_t<std::is_base_of<torch::CustomClassHolder, T>::value, int>>
IValue::IValue(intrusive_ptr<T> object)
    : IValue(torch::detail::ClassNames::of(typeid(T)), static_cast<const intrusive_ptr_target *>(object.get()))
{
}
inline bool IValue::isCustomClass() const noexcept
{
    return foreign<torch::CustomClassHolder>() != nullptr;
}
inline intrusive_ptr<torch::CustomClassHolder> IValue::toCapsule() const
{
    const torch::CustomClassHolder *object = foreign<torch::CustomClassHolder>();
    if (object == nullptr) {
        throw Error("Expected Capsule but got " + tagKind());
    }
    return intrusive_ptr<torch::CustomClassHolder>(const_cast<torch::CustomClassHolder *>(object));
}
inline IValue IValue::make_capsule(intrusive_ptr<torch::CustomClassHolder> object)
{
    return IValue("Capsule", static_cast<const intrusive_ptr_target *>(object.get()));
}
template <class T> intrusive_ptr<T> IValue::toCustomClass() const
{
    T *const object = dynamic_cast<T *>(toCapsule().get());
    if (object == nullptr) {
        throw Error("Tried to convert an IValue of type " + type()->str() + " to custom class type " +
                    torch::detail::ClassNames::of(typeid(T)));
    }
    return intrusive_ptr<T>(object);
}

} // namespace c10

#endif
