/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Symbol: the name of an operator or an attribute, as a number that compares fast: "aten::add".
#ifndef TAPER_CPP_SYMBOL_H
#define TAPER_CPP_SYMBOL_H

#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <taper/cpp/error.h>

namespace c10
{

using unique_t = uint32_t;

inline const std::string &domain_prefix()
{
    static const std::string prefix = "org.pytorch.";
    return prefix;
}

struct Symbol {
    explicit constexpr Symbol() : value(0)
    {
    }
    explicit constexpr Symbol(unique_t number) : value(number)
    {
    }
    // Throws std::runtime_error if the name has no namespace. This and other functions are templates, so that only
    // programs that call them compile the table of names.
    template <class Text = std::string> static Symbol fromQualString(const Text &name);
    // domain: for example "org.pytorch.aten".
    template <class Text = std::string>
    static Symbol fromDomainAndUnqualString(const Text &domain, const std::string &name)
    {
        const std::string &prefix = domain_prefix();
        const std::string text = domain;
        if (text.compare(0, prefix.size(), prefix) != 0) {
            throw std::runtime_error("Symbol: domain string is expected to be prefixed with '" + prefix + "', e.g. '" +
                                     prefix + "aten'");
        }
        return fromQualString(text.substr(prefix.size()) + "::" + name);
    }
#define TAPER_CPP_SPACE(function, space)                                                                               \
    template <class Text = std::string> static Symbol function(const Text &name)                                       \
    {                                                                                                                  \
        return fromQualString(std::string(space "::") + name);                                                         \
    }                                                                                                                  \
    template <class Unused = void> bool is_##function() const                                                          \
    {                                                                                                                  \
        return space_text() == space;                                                                                  \
    }
    TAPER_CPP_SPACE(attr, "attr")
    TAPER_CPP_SPACE(aten, "aten")
    TAPER_CPP_SPACE(cuda, "cuda")
    TAPER_CPP_SPACE(onnx, "onnx")
    TAPER_CPP_SPACE(prim, "prim")
    TAPER_CPP_SPACE(user, "user")
    TAPER_CPP_SPACE(caffe2, "_caffe2")
    TAPER_CPP_SPACE(dimname, "dimname")
    TAPER_CPP_SPACE(scope, "scope")
#undef TAPER_CPP_SPACE
    template <class Unused = void> bool is_prims() const
    {
        return space_text() == "prims";
    }
    template <class Unused = void> bool is_nvprims() const
    {
        return space_text() == "nvprims";
    }
    constexpr operator unique_t() const
    {
        return value;
    }
    // Returns the symbol of the namespace: "namespaces::aten".
    template <class Unused = void> Symbol ns() const
    {
        return fromQualString("namespaces::" + space_text());
    }
    // The texts that these functions return are valid until the process ends.
    template <class Unused = void> const char *toUnqualString() const
    {
        const std::string &all = text();
        return all.c_str() + all.find("::") + 2;
    }
    template <class Unused = void> const char *toQualString() const
    {
        return text().c_str();
    }
    template <class Unused = void> const char *toDisplayString() const
    {
        return toQualString();
    }
    template <class Unused = void> std::string domainString() const
    {
        return domain_prefix() + space_text();
    }

  private:
    // All names of the process.
    template <class Text> struct Names {
        std::mutex lock;
        std::map<Text, unique_t> numbers;
        std::vector<const Text *> texts; // keys of the map, which do not move
        static Names &get()
        {
            static Names *const names = new Names; // never destroyed: static objects may use it at exit
            return *names;
        }
    };
    template <class Text = std::string> const Text &text() const
    {
        Names<Text> &names = Names<Text>::get();
        const std::lock_guard<std::mutex> guard(names.lock);
        if (value == 0 || value > names.texts.size()) {
            throw Error("the symbol has no name");
        }
        return *names.texts[value - 1];
    }
    template <class Text = std::string> Text space_text() const
    {
        const Text &all = text();
        return all.substr(0, all.find("::"));
    }
    unique_t value;
};

template <class Text> Symbol Symbol::fromQualString(const Text &text)
{
    const std::string name(text);
    if (name.find("::") == std::string::npos) {
        throw std::runtime_error("all symbols must have a namespace, <namespace>::<string>, but found: " + name);
    }
    Names<std::string> &names = Names<std::string>::get();
    const std::lock_guard<std::mutex> guard(names.lock);
    const auto made = names.numbers.emplace(name, static_cast<unique_t>(names.texts.size() + 1));
    if (made.second) {
        names.texts.push_back(&made.first->first);
    }
    return Symbol(made.first->second);
}
inline bool operator==(Symbol a, Symbol b)
{
    return static_cast<unique_t>(a) == static_cast<unique_t>(b);
}

} // namespace c10

namespace std
{
template <> struct hash<c10::Symbol> {
    size_t operator()(c10::Symbol symbol) const
    {
        return static_cast<size_t>(static_cast<c10::unique_t>(symbol));
    }
};
} // namespace std

namespace torch
{
namespace jit
{
using c10::Symbol;
}
} // namespace torch

#endif
