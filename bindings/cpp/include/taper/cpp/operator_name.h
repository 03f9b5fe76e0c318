/* SPDX-License-Identifier: BSD-2-Clause */
// c10::OperatorName: the name of an operator and of its overload.
#ifndef TAPER_CPP_OPERATOR_NAME_H
#define TAPER_CPP_OPERATOR_NAME_H

#include <ostream>
#include <string>

#include <taper/cpp/optional.h>
#include <taper/cpp/string_view.h>

namespace c10
{

// The name of an operator, and the name of its overload, which may be "".
struct OperatorName final {
    std::string name, overload_name;
    OperatorName(std::string name_, std::string overload_name_)
        : name(std::move(name_)), overload_name(std::move(overload_name_))
    {
    }
    optional<string_view> getNamespace() const
    {
        const size_t colons = name.find("::");
        return colons == std::string::npos ? optional<string_view>() : string_view(name.data(), colons);
    }
    bool setNamespaceIfNotSet(const char *space)
    {
        if (getNamespace().has_value()) {
            return false;
        }
        name = std::string(space) + "::" + name;
        return true;
    }
};
inline bool operator==(const OperatorName &a, const OperatorName &b)
{
    return a.name == b.name && a.overload_name == b.overload_name;
}
inline bool operator!=(const OperatorName &a, const OperatorName &b)
{
    return !(a == b);
}
inline std::string toString(const OperatorName &name)
{
    return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}
inline std::ostream &operator<<(std::ostream &out, const OperatorName &name)
{
    return out << toString(name);
}

// A name that does not own its texts. The texts must outlive the view.
struct OperatorNameView final {
    string_view name, overload_name;
    constexpr OperatorNameView(string_view name_, string_view overload_name_)
        : name(name_), overload_name(overload_name_)
    {
    }
    // Splits a text such as "aten::add.Tensor" at the dot.
    static OperatorNameView parse(string_view text)
    {
        const size_t dot = text.find('.');
        return dot == string_view::npos ? OperatorNameView(text, string_view())
                                        : OperatorNameView(text.substr(0, dot), text.substr(dot + 1));
    }
};

} // namespace c10

#endif
