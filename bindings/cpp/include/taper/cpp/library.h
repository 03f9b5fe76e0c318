/* SPDX-License-Identifier: BSD-2-Clause */
// torch::Library and TORCH_LIBRARY: an app's operators, by namespace.
#ifndef TAPER_CPP_LIBRARY_H
#define TAPER_CPP_LIBRARY_H

#include <taper/cpp/custom_class_def.h>
#include <taper/cpp/operator_registry.h>

namespace c10
{
class OperatorHandle;
}

namespace torch
{

namespace detail
{
// The text of a schema or a name. Programs that select operators leave out the texts for which `enabled` is false.
template <bool enabled> class SelectiveStr
{
  public:
    constexpr explicit SelectiveStr(const char *text) : text_(text)
    {
    }
    constexpr operator const char *() const
    {
        return text_;
    }

  private:
    const char *text_;
};
// Library::class_ returns this object for a class that a selective build leaves out.
struct ClassNotSelected {
    template <class... Args> ClassNotSelected &def(Args &&...)
    {
        return *this;
    }
    template <class... Args> ClassNotSelected &def_pickle(Args &&...)
    {
        return *this;
    }
    template <class... Args> ClassNotSelected &def_static(Args &&...)
    {
        return *this;
    }
};
// The type of the handle, which is complete where a program uses boxed functions (dispatcher.h).
template <class> struct HandleOf {
    using type = c10::OperatorHandle;
};
} // namespace detail

// A function and its dispatch key. Without dispatch(), the function gets the key of the library to which it is added.
class CppFunction final
{
  public:
    template <class Function, std::enable_if_t<!std::is_same<std::decay_t<Function>, CppFunction>::value, int> = 0>
    explicit CppFunction(Function &&function)
        : function_(taper::cpp::operator_function(std::decay_t<Function>(std::forward<Function>(function))))
    {
    }
    template <class Function> static CppFunction makeFromUnboxedFunction(Function function)
    {
        return CppFunction(function);
    }
    // Makes a CppFunction from a function over a stack: void f(const c10::OperatorHandle &, std::vector<c10::IValue>
    // *). Include <torch/csrc/jit/runtime/operator.h> for the handle.
    template <void (*function)(const c10::OperatorHandle &, std::vector<c10::IValue> *)>
    static CppFunction makeFromBoxedFunction()
    {
        using Handle = typename detail::HandleOf<std::integral_constant<decltype(function), function>>::type;
        CppFunction made;
        made.function_ = std::make_shared<taper::cpp::OperatorFunction>();
        // The function reads its name through this pointer, because the name is known only when the function is
        // registered.
        const std::shared_ptr<std::string> name = made.boxed_name_ = std::make_shared<std::string>();
        made.function_->call = [name](std::vector<c10::IValue> &arguments, std::vector<c10::IValue> &results) {
            function(Handle(Handle::named(*name)), &arguments);
            results = std::move(arguments);
        };
        return made;
    }
    // Makes the CppFunction for dispatch keys whose functions only pass calls on to the next key, such as the autograd
    // keys. Taper never calls this function.
    static CppFunction makeFallthrough()
    {
        CppFunction made;
        made.is_fallthrough_ = true;
        return made;
    }
    // Makes a function that throws.
    static CppFunction makeNamedNotSupported()
    {
        CppFunction made;
        made.function_ = std::make_shared<taper::cpp::OperatorFunction>();
        made.function_->call = [](std::vector<c10::IValue> &, std::vector<c10::IValue> &) {
            throw c10::NotImplementedError("the operator has a function that supports no named tensors");
        };
        return made;
    }
    CppFunction &&debug(const std::string &) &&
    {
        return std::move(*this);
    }

  private:
    friend class Library;
    template <class Function> friend CppFunction dispatch(c10::DispatchKey key, Function &&function);
    CppFunction() = default;
    std::shared_ptr<taper::cpp::OperatorFunction> function_;
    c10::optional<c10::DispatchKey> key_;
    std::shared_ptr<std::string> boxed_name_; // name of a boxed function; the function reads the name here
    bool is_fallthrough_ = false;
};

template <class Function> CppFunction dispatch(c10::DispatchKey key, Function &&function)
{
    CppFunction made(std::forward<Function>(function));
    made.key_ = key;
    return made;
}
template <class Function> CppFunction dispatch(c10::DeviceType type, Function &&function)
{
    return dispatch(c10::dispatch_key_of(type), std::forward<Function>(function));
}

// Returns the text as a schema.
inline std::string schema(const char *text)
{
    return text;
}
inline std::string schema(const char *text, c10::AliasAnalysisKind)
{
    return text;
}

inline std::string schema(const c10::FunctionSchema &schema)
{
    return c10::toString(schema);
}

class Library final
{
  public:
    enum Kind { DEF, IMPL, FRAGMENT };

    Library(Kind kind, std::string space, c10::optional<c10::DispatchKey> key, const char *file, uint32_t line)
        : kind_(kind), space_(std::move(space)), key_(key), where_(c10::str(file, ":", line))
    {
        if (kind_ == DEF) {
            done_.claim(space_, where_);
        }
    }
    Library(Library &&) = default;
    Library &operator=(Library &&) = default;

    Library &def(const std::string &schema) &
    {
        may_define(schema);
        done_.define(qualified(schema), where_);
        return *this;
    }
    template <class Function> Library &def(const std::string &name_or_schema, Function &&function) &
    {
        may_define(name_or_schema);
        const CppFunction made(std::forward<Function>(function));
        if (made.is_fallthrough_) {
            return def(name_or_schema);
        }
        name(made, name_or_schema);
        done_.define(qualified(name_or_schema), key_for(made), made.function_, where_);
        return *this;
    }
    // Registers a class of the app in this namespace.
    template <class Class> torch::class_<Class> class_(const std::string &name)
    {
        return torch::class_<Class>(space_, name);
    }
    template <class Function> Library &impl(const std::string &name, Function &&function) &
    {
        const CppFunction made(std::forward<Function>(function));
        if (made.is_fallthrough_) {
            return *this;
        }
        this->name(made, name);
        done_.implement(qualified(name), key_for(made), made.function_);
        return *this;
    }
    template <class Key, class Function> Library &impl(const std::string &name, Key key, Function &&function) &
    {
        return impl(name, dispatch(key, std::forward<Function>(function)));
    }

    // Accepts a function for all operators under the key of this library, and never calls it. Taper calls no functions
    // of keys other than the CPU's, and has functions of its own for the CPU, so that a function for the CPU is an
    // error.
    template <class Function> Library &fallback(Function &&function) &
    {
        const CppFunction made(std::forward<Function>(function));
        if (kind_ != IMPL) {
            throw c10::Error(where_ + ": only a TORCH_LIBRARY_IMPL can have a fallback");
        }
        if (!made.is_fallthrough_ &&
            made.key_.value_or(key_.value_or(c10::DispatchKey::CPU)) == c10::DispatchKey::CPU) {
            throw c10::NotImplementedError(where_ +
                                           ": Library::fallback: operators of the CPU have functions of Taper");
        }
        return *this;
    }
    // These overloads take a SelectiveStr, which is a name or a schema. They do nothing for a SelectiveStr<false>.
    Library &def(detail::SelectiveStr<false>) &
    {
        return *this;
    }
    Library &def(detail::SelectiveStr<true> schema) &
    {
        return def(std::string(schema));
    }
    template <class Function> Library &def(detail::SelectiveStr<false>, Function &&) &
    {
        return *this;
    }
    template <class Function> Library &def(detail::SelectiveStr<true> name_or_schema, Function &&function) &
    {
        return def(std::string(name_or_schema), std::forward<Function>(function));
    }
    template <class Function> Library &impl(detail::SelectiveStr<false>, Function &&) &
    {
        return *this;
    }
    template <class Function> Library &impl(detail::SelectiveStr<true> name, Function &&function) &
    {
        return impl(std::string(name), std::forward<Function>(function));
    }
    template <class Class> torch::class_<Class> class_(detail::SelectiveStr<true> name)
    {
        return class_<Class>(std::string(name));
    }
    template <class Class> detail::ClassNotSelected class_(detail::SelectiveStr<false>)
    {
        return {};
    }
    template <class Name, class Function> Library &impl_UNBOXED(Name, Function *) &
    {
        static_assert(std::is_void<Name>::value, "impl_UNBOXED was removed from PyTorch: call impl");
        return *this;
    }

  private:
    void name(const CppFunction &function, const std::string &name_or_schema) const
    {
        if (function.boxed_name_ != nullptr) {
            *function.boxed_name_ = qualified(name_or_schema.substr(0, name_or_schema.find('(')));
        }
    }
    void may_define(const std::string &what) const
    {
        if (kind_ == IMPL) {
            throw c10::Error(where_ + ": a TORCH_LIBRARY_IMPL cannot define " + what +
                             ": TORCH_LIBRARY and TORCH_LIBRARY_FRAGMENT do");
        }
    }
    // Adds the namespace to a name. If the name has a namespace already, it must be this namespace.
    std::string qualified(const std::string &text) const
    {
        const std::string name = text.substr(0, text.find('('));
        const size_t colons = name.find("::");
        if (colons == std::string::npos) {
            return space_ + "::" + text;
        }
        if (name.substr(0, colons) != space_) {
            throw c10::Error(where_ + ": " + name + " is not of namespace " + space_ + ", which this library is of");
        }
        return text;
    }
    c10::DispatchKey key_for(const CppFunction &function) const
    {
        return function.key_.value_or(key_.value_or(c10::DispatchKey::CompositeImplicitAutograd));
    }
    Kind kind_;
    std::string space_;
    c10::optional<c10::DispatchKey> key_;
    std::string where_;
    taper::cpp::Registrations done_;
};

namespace detail
{

class TorchLibraryInit final
{
  public:
    TorchLibraryInit(Library::Kind kind, void fill(Library &), const char *space, c10::optional<c10::DispatchKey> key,
                     const char *file, uint32_t line)
        : library_(kind, space, key, file, line)
    {
        fill(library_);
    }

  private:
    Library library_;
};

} // namespace detail
} // namespace torch

namespace torch
{
template <class Class> class_<Class> selective_class_(const std::string &space, detail::SelectiveStr<true> name)
{
    return class_<Class>(space, std::string(name));
}
template <class Class> detail::ClassNotSelected selective_class_(const std::string &, detail::SelectiveStr<false>)
{
    return {};
}
} // namespace torch

#define TAPER_CPP_JOINED_(a, b) a##b
#define TAPER_CPP_JOINED(a, b) TAPER_CPP_JOINED_(a, b)
#define TAPER_CPP_LIBRARY(kind, ns, key, m, unique)                                                                    \
    static void TAPER_CPP_JOINED(TORCH_LIBRARY_fill_##ns##_, unique)(torch::Library &);                                \
    static const torch::detail::TorchLibraryInit TAPER_CPP_JOINED(TORCH_LIBRARY_of_##ns##_, unique)(                   \
        torch::Library::kind, &TAPER_CPP_JOINED(TORCH_LIBRARY_fill_##ns##_, unique), #ns, key, __FILE__, __LINE__);    \
    void TAPER_CPP_JOINED(TORCH_LIBRARY_fill_##ns##_, unique)(torch::Library & m)

// Example: TORCH_LIBRARY(my_ops, m) { m.def("warp(Tensor image, Tensor flow) -> Tensor", &warp); }
#define TORCH_LIBRARY(ns, m) TAPER_CPP_LIBRARY(DEF, ns, c10::nullopt, m, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(ns, m) TAPER_CPP_LIBRARY(FRAGMENT, ns, c10::nullopt, m, __COUNTER__)
#define TORCH_LIBRARY_IMPL(ns, k, m)                                                                                   \
    TAPER_CPP_LIBRARY(IMPL, ns, c10::make_optional(c10::DispatchKey::k), m, __COUNTER__)

// These macros return their argument, because selective builds of Taper omit operators without these macros.
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

#endif
