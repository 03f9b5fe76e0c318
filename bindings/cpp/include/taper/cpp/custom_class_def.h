/* SPDX-License-Identifier: BSD-2-Clause */
// torch::class_: registers a class of the app with its constructors, methods and properties, which C++ code can call by
// name.
#ifndef TAPER_CPP_CUSTOM_CLASS_DEF_H
#define TAPER_CPP_CUSTOM_CLASS_DEF_H

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <taper/cpp/class_type.h>
#include <taper/cpp/custom_class.h>

namespace torch
{

// The name and the default of an argument of a method.
struct arg {
    explicit arg(std::string name) : name_(std::move(name))
    {
    }
    arg &operator=(const c10::IValue &value)
    {
        value_ = value;
        return *this;
    }
    static c10::IValue none()
    {
        return c10::IValue();
    }
    std::string name_;
    c10::optional<c10::IValue> value_;
};

namespace detail
{

template <class... T> struct types {
    using type = types;
};

// A registered method. It takes self and the arguments as one vector, and returns the result.
using CustomMethod = std::function<c10::IValue(const std::vector<c10::IValue> &)>;

struct CustomClass {
    std::string name;
    std::map<std::string, CustomMethod> methods, static_methods;
    // Defaults of each method's arguments, without self.
    std::map<std::string, std::vector<c10::optional<c10::IValue>>> defaults;
};

// All classes of the process, by their qualified names.
struct CustomClasses {
    std::mutex lock;
    std::map<std::string, std::shared_ptr<CustomClass>> all;
    static CustomClasses &get()
    {
        static CustomClasses *const classes = new CustomClasses; // never destroyed: static objects may use it at exit
        return *classes;
    }
    static std::shared_ptr<CustomClass> find(const std::string &name)
    {
        CustomClasses &classes = get();
        const std::lock_guard<std::mutex> guard(classes.lock);
        const auto found = classes.all.find(name);
        return found != classes.all.end() ? found->second : nullptr;
    }
};

// Calls a function with arguments that are converted from values.
template <class R, class... Args> struct ValueCall {
    template <class F, size_t... I>
    static c10::IValue call(F &function, const std::vector<c10::IValue> &values, std::index_sequence<I...>)
    {
        return c10::IValue(function(values[I].template to<std::decay_t<Args>>()...));
    }
};
template <class... Args> struct ValueCall<void, Args...> {
    template <class F, size_t... I>
    static c10::IValue call(F &function, const std::vector<c10::IValue> &values, std::index_sequence<I...>)
    {
        function(values[I].template to<std::decay_t<Args>>()...);
        return c10::IValue();
    }
};
template <class R, class... Args, class F> CustomMethod wrap(types<R, Args...>, F function)
{
    return [function](const std::vector<c10::IValue> &values) mutable {
        if (values.size() != sizeof...(Args)) {
            throw c10::Error(
                c10::str("the method takes ", sizeof...(Args), " arguments, ", values.size(), " were given"));
        }
        return ValueCall<R, Args...>::call(function, values, std::index_sequence_for<Args...>());
    };
}

template <class F> struct FunctionTypes : FunctionTypes<decltype(&F::operator())> {
};
template <class R, class... Args> struct FunctionTypes<R (*)(Args...)> {
    using type = types<R, Args...>;
};
template <class C, class R, class... Args> struct FunctionTypes<R (C::*)(Args...) const> {
    using type = types<R, Args...>;
};
template <class C, class R, class... Args> struct FunctionTypes<R (C::*)(Args...)> {
    using type = types<R, Args...>;
};

// Functions and lambdas take self as their first argument. Member functions of the class are called on self.
template <class Class, class F> CustomMethod method_of(F function)
{
    return wrap(typename FunctionTypes<F>::type(), std::move(function));
}
template <class Class, class C, class R, class... Args> CustomMethod method_of(R (C::*function)(Args...))
{
    return wrap(types<R, c10::intrusive_ptr<Class>, Args...>(),
                [function](const c10::intrusive_ptr<Class> &self, Args... arguments) -> R {
                    return ((*self).*function)(std::forward<Args>(arguments)...);
                });
}
template <class Class, class C, class R, class... Args> CustomMethod method_of(R (C::*function)(Args...) const)
{
    return wrap(types<R, c10::intrusive_ptr<Class>, Args...>(),
                [function](const c10::intrusive_ptr<Class> &self, Args... arguments) -> R {
                    return ((*self).*function)(std::forward<Args>(arguments)...);
                });
}

} // namespace detail

// For class_::def: a constructor that takes these types, or a function that makes the object.
template <class... T> detail::types<void, T...> init()
{
    return {};
}
template <class Function> struct InitLambda {
    Function f;
};
template <class Function> InitLambda<std::decay_t<Function>> init(Function &&function)
{
    return {std::forward<Function>(function)};
}

template <class Class> class class_
{
    static_assert(std::is_base_of<CustomClassHolder, Class>::value,
                  "torch::class_<T> requires T to inherit from CustomClassHolder");

  public:
    class_(const std::string &space, const std::string &name, const std::string & = "")
        : class_made_(std::make_shared<detail::CustomClass>())
    {
        class_made_->name = "__torch__.torch.classes." + space + "." + name;
        detail::ClassNames &names = detail::ClassNames::get();
        detail::CustomClasses &classes = detail::CustomClasses::get();
        const std::lock_guard<std::mutex> guard(names.lock), both(classes.lock);
        if (!names.all.emplace(typeid(Class), class_made_->name).second ||
            !classes.all.emplace(class_made_->name, class_made_).second) {
            throw c10::Error(
                "Custom class with name " + class_made_->name +
                " is already registered. Ensure that registration with torch::class_ is only called once.");
        }
    }

    template <class... T>
    class_ &def(detail::types<void, T...>, const std::string & = "", std::initializer_list<arg> defaults = {})
    {
        return add(
            "__init__",
            detail::wrap(detail::types<c10::intrusive_ptr<Class>, T...>(),
                         [](T... arguments) { return c10::make_intrusive<Class>(std::forward<T>(arguments)...); }),
            defaults);
    }
    template <class Function>
    class_ &def(InitLambda<Function> init, const std::string & = "", std::initializer_list<arg> defaults = {})
    {
        return add("__init__", detail::method_of<Class>(std::move(init.f)), defaults);
    }
    template <class Function>
    class_ &def(const std::string &name, Function function, const std::string & = "",
                std::initializer_list<arg> defaults = {})
    {
        return add(name, detail::method_of<Class>(std::move(function)), defaults);
    }
    template <class Function> class_ &def_static(const std::string &name, Function function, const std::string & = "")
    {
        class_made_->static_methods[name] = detail::method_of<Class>(std::move(function));
        return *this;
    }
    template <class Get, class Set>
    class_ &def_property(const std::string &name, Get get, Set set, const std::string & = "")
    {
        add(name + "_getter", detail::method_of<Class>(std::move(get)), {});
        return add(name + "_setter", detail::method_of<Class>(std::move(set)), {});
    }
    template <class Get> class_ &def_property(const std::string &name, Get get, const std::string & = "")
    {
        return add(name + "_getter", detail::method_of<Class>(std::move(get)), {});
    }
    template <class T> class_ &def_readwrite(const std::string &name, T Class::*field)
    {
        return def_property(
            name, [field](const c10::intrusive_ptr<Class> &self) { return self.get()->*field; },
            [field](const c10::intrusive_ptr<Class> &self, T value) { self.get()->*field = std::move(value); });
    }
    template <class T> class_ &def_readonly(const std::string &name, T Class::*field)
    {
        return def_property(name, [field](const c10::intrusive_ptr<Class> &self) { return self.get()->*field; });
    }
    // Registers how objects are saved: `get` makes the state of an object, and `set` makes an object from a state.
    template <class Get, class Set> class_ &def_pickle(Get &&get, Set &&set)
    {
        add("__getstate__", detail::method_of<Class>(std::decay_t<Get>(get)), {});
        class_made_->static_methods["__setstate__"] = detail::method_of<Class>(std::decay_t<Set>(set));
        return *this;
    }

  private:
    class_ &add(const std::string &name, detail::CustomMethod method, std::initializer_list<arg> defaults)
    {
        class_made_->methods[name] = std::move(method);
        std::vector<c10::optional<c10::IValue>> values;
        for (const arg &each : defaults) {
            values.push_back(each.value_);
        }
        class_made_->defaults[name] = std::move(values);
        return *this;
    }
    std::shared_ptr<detail::CustomClass> class_made_;
};

// Makes an object with the registered constructor.
template <class Class, class... Args> c10::IValue make_custom_class(Args &&...arguments)
{
    const std::string name = detail::ClassNames::of(typeid(Class));
    const std::shared_ptr<detail::CustomClass> made = detail::CustomClasses::find(name);
    const auto found = made->methods.find("__init__");
    if (found == made->methods.end()) {
        throw c10::Error("the class " + name + " has no registered constructor");
    }
    return found->second(std::vector<c10::IValue>{c10::IValue(std::forward<Args>(arguments))...});
}
inline bool isCustomClass(const c10::IValue &value)
{
    return value.isCustomClass();
}
// Returns the type of a registered class, or null if no class has this name.
inline c10::ClassTypePtr getCustomClass(const std::string &name)
{
    const std::shared_ptr<detail::CustomClass> found = detail::CustomClasses::find(name);
    if (found == nullptr) {
        return nullptr;
    }
    std::vector<std::string> methods;
    for (const auto &each : found->methods) {
        methods.push_back(each.first);
    }
    return std::make_shared<c10::ClassType>(name, std::vector<taper::cpp::Slot>(), std::move(methods), false);
}
inline std::vector<std::string> getAllCustomClassesNames()
{
    detail::CustomClasses &classes = detail::CustomClasses::get();
    const std::lock_guard<std::mutex> guard(classes.lock);
    std::vector<std::string> all;
    for (const auto &each : classes.all) {
        all.push_back(each.first);
    }
    return all;
}
namespace jit
{
using ::torch::class_;
using ::torch::CustomClassHolder;
using ::torch::getCustomClass;
using ::torch::init;
using ::torch::isCustomClass;
} // namespace jit

} // namespace torch

namespace c10
{
inline ClassTypePtr getCustomClassTypeImpl(const std::type_index &type)
{
    return torch::getCustomClass(torch::detail::ClassNames::of(type));
}
// Returns the type of a registered class of the app: getCustomClassType<intrusive_ptr<Class>>().
template <class Pointer> ClassTypePtr getCustomClassType()
{
    return getCustomClassTypeImpl(typeid(typename Pointer::element_type));
}
namespace ivalue
{
// Throws if the types differ.
inline void checkCustomClassType(const ClassType *expected, const Type *actual)
{
    TORCH_CHECK(actual != nullptr && *actual == *expected, "Tried to convert an IValue of type ",
                actual != nullptr ? actual->repr_str() : std::string("*NULL*"), " to custom class type ",
                expected->repr_str());
}
} // namespace ivalue
} // namespace c10

namespace taper
{
namespace cpp
{
// Calls a method of an object of the app's class by its name; missing arguments at the end get their defaults.
inline c10::IValue call_custom_method(const c10::IValue &self, const std::string &name,
                                      std::vector<c10::IValue> arguments = {})
{
    const std::shared_ptr<torch::detail::CustomClass> found =
        torch::detail::CustomClasses::find(self.type()->annotation_str());
    const auto method = found != nullptr ? found->methods.find(name) : decltype(found->methods.find(name))();
    if (found == nullptr || method == found->methods.end()) {
        throw c10::Error("the class " + self.type()->annotation_str() + " has no method " + name);
    }
    const std::vector<c10::optional<c10::IValue>> &defaults = found->defaults[name];
    while (arguments.size() < defaults.size() && defaults[arguments.size()].has_value()) {
        arguments.push_back(*defaults[arguments.size()]);
    }
    arguments.insert(arguments.begin(), self);
    return method->second(arguments);
}
} // namespace cpp
} // namespace taper

#endif
