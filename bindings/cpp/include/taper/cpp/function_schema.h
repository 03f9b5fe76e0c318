/* SPDX-License-Identifier: BSD-2-Clause */
// Schemas of operators, from the type of a C++ function and from a text such as "ns::name(Tensor a) -> Tensor".
#ifndef TAPER_CPP_FUNCTION_SCHEMA_H
#define TAPER_CPP_FUNCTION_SCHEMA_H

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <taper/cpp/ivalue.h>
#include <taper/cpp/optional_array_ref.h>

namespace taper
{
namespace cpp
{

// The schema's name of an argument or result type: SchemaType<c10::optional<int64_t>>::text() is "int?".
template <class T> struct SchemaType {
    static_assert(!std::is_integral<T>::value, "of integers an operator's function takes and gives int64_t and bool");
    static_assert(!std::is_same<T, float>::value, "of floats an operator's function takes and gives double");
    static_assert(std::is_integral<T>::value || std::is_same<T, float>::value,
                  "an operator's function cannot take or give values of this type");
};
#define TAPER_CPP_SCHEMA_TYPE(type, name)                                                                              \
    template <> struct SchemaType<type> {                                                                              \
        static std::string text()                                                                                      \
        {                                                                                                              \
            return name;                                                                                               \
        }                                                                                                              \
    };
TAPER_CPP_SCHEMA_TYPE(at::Tensor, "Tensor")
TAPER_CPP_SCHEMA_TYPE(int64_t, "int")
TAPER_CPP_SCHEMA_TYPE(double, "float")
TAPER_CPP_SCHEMA_TYPE(bool, "bool")
TAPER_CPP_SCHEMA_TYPE(c10::complex<double>, "complex")
TAPER_CPP_SCHEMA_TYPE(c10::Scalar, "Scalar")
TAPER_CPP_SCHEMA_TYPE(std::string, "str")
TAPER_CPP_SCHEMA_TYPE(c10::string_view, "str")
TAPER_CPP_SCHEMA_TYPE(c10::Device, "Device")
TAPER_CPP_SCHEMA_TYPE(c10::ScalarType, "int")
TAPER_CPP_SCHEMA_TYPE(c10::MemoryFormat, "int")
TAPER_CPP_SCHEMA_TYPE(c10::IValue, "Any")
#undef TAPER_CPP_SCHEMA_TYPE
template <class T> struct SchemaType<c10::List<T>> {
    static std::string text()
    {
        return SchemaType<T>::text() + "[]";
    }
};
template <class T> struct SchemaType<c10::ArrayRef<T>> : SchemaType<c10::List<T>> {
};
template <class T> struct SchemaType<std::vector<T>> : SchemaType<c10::List<T>> {
};
template <class T, size_t N> struct SchemaType<std::array<T, N>> : SchemaType<c10::List<T>> {
};
template <class T> struct SchemaType<c10::optional<T>> {
    static std::string text()
    {
        return SchemaType<T>::text() + "?";
    }
};
template <class T> struct SchemaType<c10::OptionalArrayRef<T>> : SchemaType<c10::optional<c10::List<T>>> {
};
template <class K, class V> struct SchemaType<c10::Dict<K, V>> {
    static std::string text()
    {
        return "Dict(" + SchemaType<K>::text() + ", " + SchemaType<V>::text() + ")";
    }
};
template <class K, class V> struct SchemaType<std::unordered_map<K, V>> : SchemaType<c10::Dict<K, V>> {
};
template <class... T> struct SchemaType<std::tuple<T...>> {
    static std::string text()
    {
        std::string all;
        const int each[] = {0, (all += (all.empty() ? "" : ", ") + SchemaType<T>::text(), 0)...};
        (void)each;
        return "(" + all + ")";
    }
};

// The types of a schema. Names, defaults and annotations are parsed by the library.
struct Signature {
    std::vector<std::string> arguments, results;
    std::vector<bool> written; // for each argument of the function: true if its type is Tensor &
};

// The types of a function's results: one for each item of a tuple, none for void.
template <class R> struct SchemaResults {
    static std::vector<std::string> all()
    {
        return {SchemaType<std::decay_t<R>>::text()};
    }
};
template <> struct SchemaResults<void> {
    static std::vector<std::string> all()
    {
        return {};
    }
};
template <class... T> struct SchemaResults<std::tuple<T...>> {
    static std::vector<std::string> all()
    {
        return {SchemaType<std::decay_t<T>>::text()...};
    }
};

template <class R, class... Args> Signature signature_of()
{
    return {{SchemaType<std::decay_t<Args>>::text()...},
            SchemaResults<R>::all(),
            {std::is_same<Args, at::Tensor &>::value...}};
}

// Parses only the types of a schema. Errors are reported by the library, whose parser reads the whole schema.
class SchemaText
{
  public:
    explicit SchemaText(const std::string &text) : text_(text)
    {
    }
    // Returns the name, for example "ns::name.overload".
    std::string name() const
    {
        return text_.substr(0, text_.find('('));
    }
    bool has_signature() const
    {
        return text_.find('(') != std::string::npos;
    }
    Signature signature()
    {
        Signature all;
        at_ = text_.find('(');
        all.arguments = types(true);
        at_ = std::min(text_.find("->", at_), text_.size() - 1) + 1;
        at_++;
        blanks();
        if (at_ < text_.size() && text_[at_] == '(') {
            all.results = types(true);
        } else {
            all.results.push_back(type());
        }
        return all;
    }

  private:
    bool is(const char *set) const
    {
        return at_ < text_.size() && std::string(set).find(text_[at_]) != std::string::npos;
    }
    void blanks()
    {
        while (is(" ")) {
            at_++;
        }
    }
    // Skips an opening bracket and everything up to its closing bracket. Brackets inside quotes do not count.
    void skip_brackets()
    {
        int depth = 0;
        do {
            if (is("'\"")) {
                skip_text();
                continue;
            }
            depth += is("([") ? 1 : is(")]") ? -1 : 0;
            at_++;
        } while (depth > 0 && at_ < text_.size());
    }
    void skip_text()
    {
        const char quote = text_[at_++];
        while (at_ < text_.size() && text_[at_] != quote) {
            at_++;
        }
        at_++;
    }
    // Returns the types in the brackets that begin here. rest: true if names and defaults may follow the types.
    std::vector<std::string> types(bool rest)
    {
        std::vector<std::string> all;
        at_++;
        for (blanks(); at_ < text_.size() && !is(")"); blanks()) {
            if (!is("*")) {
                all.push_back(type());
            }
            while (rest && at_ < text_.size() && !is(",)")) {
                if (is("'\"")) {
                    skip_text();
                } else if (is("([")) {
                    skip_brackets();
                } else {
                    at_++;
                }
            }
            at_ += is(",") || !is(")");
        }
        at_++;
        return all;
    }
    // Returns a type such as "Dict(str, int)[]?", without list sizes and annotations.
    std::string type()
    {
        std::string word;
        if (is("(")) {
            word = joined("(");
        } else {
            while (at_ < text_.size() && !is(" ()[]?,*")) {
                word += text_[at_++];
            }
            if (word == "Dict" && is("(")) {
                word = joined("Dict(");
            } else if (word == "ScalarType" || word == "MemoryFormat" || word == "Layout") {
                word = "int";
            }
        }
        while (is("([?")) { // suffixes as in Tensor?(a!)[]
            word += is("[") ? "[]" : is("?") ? "?" : "";
            if (is("?")) {
                at_++;
            } else {
                skip_brackets();
            }
        }
        return word;
    }
    std::string joined(std::string all)
    {
        const std::vector<std::string> items = types(false);
        for (size_t i = 0; i < items.size(); i++) {
            all += (i == 0 ? "" : ", ") + items[i];
        }
        return all + ")";
    }

    const std::string &text_;
    size_t at_ = 0;
};

// Returns the schema, for example "my_ops::warp(Tensor _0, Tensor(a!) _1) -> Tensor". Arguments have the names that
// PyTorch gives them.
inline std::string schema_text(const std::string &name, const Signature &signature)
{
    std::string text = name + "(";
    for (size_t i = 0; i < signature.arguments.size(); i++) {
        text += (i == 0 ? "" : ", ") + signature.arguments[i];
        if (signature.written[i]) {
            text += std::string("(") + static_cast<char>('a' + i % 26) + "!)";
        }
        text += " _" + std::to_string(i);
    }
    text += ") -> ";
    const bool one = signature.results.size() == 1 && signature.results[0][0] != '(';
    text += one ? "" : "(";
    for (size_t i = 0; i < signature.results.size(); i++) {
        text += (i == 0 ? "" : ", ") + signature.results[i];
    }
    return text + (one ? "" : ")");
}

inline void compare_types(const std::string &name, const char *what, const std::vector<std::string> &declared,
                          const std::vector<std::string> &found)
{
    if (declared.size() != found.size()) {
        throw c10::Error(c10::str("operator ", name, ": its schema has ", declared.size(), " ", what,
                                  "s, its function has ", found.size()));
    }
    for (size_t i = 0; i < declared.size(); i++) {
        if (declared[i] != found[i]) {
            throw c10::Error(c10::str("operator ", name, ": ", what, " ", i, " is ", declared[i],
                                      " in its schema, and ", found[i], " in its function"));
        }
    }
}
// Throws if the types of the schema and the function differ. An invalid schema is left to the library to report.
inline void check_signature(const std::string &schema, const Signature &function)
{
    if (schema.find("->") == std::string::npos) {
        return;
    }
    SchemaText text(schema);
    const Signature declared = text.signature();
    compare_types(text.name(), "argument", declared.arguments, function.arguments);
    compare_types(text.name(), "result", declared.results, function.results);
}

} // namespace cpp
} // namespace taper

#endif
