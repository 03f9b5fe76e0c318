/* SPDX-License-Identifier: BSD-2-Clause */
// torch::Library and TORCH_LIBRARY: an app's operators, by namespace.
#ifndef TAPER_CPP_LIBRARY_H
#define TAPER_CPP_LIBRARY_H

#include <taper/cpp/custom_class_def.h>
#include <taper/cpp/operator_registry.h>

namespace torch
{

// A function and its dispatch key. Without dispatch(), the key is that of the library to which the function is added.
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
    CppFunction &&debug(const std::string &) &&
    {
        return std::move(*this);
    }

  private:
    friend class Library;
    template <class Function> friend CppFunction dispatch(c10::DispatchKey key, Function &&function);
    std::shared_ptr<taper::cpp::OperatorFunction> function_;
    c10::optional<c10::DispatchKey> key_;
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
        done_.implement(qualified(name), key_for(made), made.function_);
        return *this;
    }
    template <class Key, class Function> Library &impl(const std::string &name, Key key, Function &&function) &
    {
        return impl(name, dispatch(key, std::forward<Function>(function)));
    }

  private:
    void may_define(const std::string &what) const
    {
        if (kind_ == IMPL) {
            throw c10::Error(where_ + ": a TORCH_LIBRARY_IMPL cannot define " + what +
                             ": TORCH_LIBRARY and TORCH_LIBRARY_FRAGMENT do");
        }
    }
    // Adds the namespace to a name. If the name has one, it must be this namespace.
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

// These macros return their argument, because selective builds of Taper omit operators in another way.
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

#endif
