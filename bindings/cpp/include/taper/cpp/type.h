/* SPDX-License-Identifier: BSD-2-Clause */
// Types of values at run time. Two types are equal if their names are.
#ifndef TAPER_CPP_TYPE_H
#define TAPER_CPP_TYPE_H

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <taper/cpp/array_ref.h>

// Rows of (name of the kind, begin of the text of its types).
#define TAPER_CPP_TYPE_KINDS(row)                                                                                      \
    row(AnyType, "Any") row(TensorType, "Tensor") row(IntType, "int") row(FloatType, "float") row(BoolType, "bool")    \
        row(ComplexType, "complex") row(StringType, "str") row(NoneType, "NoneType") row(NumberType, "Scalar")         \
            row(DeviceObjType, "Device") row(ListType, "List[") row(TupleType, "Tuple[") row(DictType, "Dict[")        \
                row(OptionalType, "Optional[")

namespace c10
{

enum class TypeKind {
#define TAPER_CPP_KIND(kind, text) kind,
    TAPER_CPP_TYPE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
        ClassType
};

inline const char *typeKindToString(TypeKind kind)
{
    switch (kind) {
#define TAPER_CPP_KIND(kind_, text)                                                                                    \
    case TypeKind::kind_:                                                                                              \
        return #kind_;
        TAPER_CPP_TYPE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
    case TypeKind::ClassType:
        return "ClassType";
    }
    return "";
}

class Type;
using TypePtr = std::shared_ptr<Type>;
using ConstTypePtr = std::shared_ptr<const Type>;

class Type
{
  public:
    explicit Type(std::string text) : text_(std::move(text))
    {
    }
    static TypePtr of(std::string text)
    {
        return std::make_shared<Type>(std::move(text));
    }
    // Returns the text in schemas, for example "Tensor[]", "(int, str)", "Dict(str, int)" or "Tensor?".
    std::string str() const
    {
        return short_form(text_);
    }
    std::string repr_str() const
    {
        return text_;
    }
    // Returns the text in TorchScript, for example "List[Tensor]", "Tuple[int, str]", "Dict[str, int]" or
    // "Optional[Tensor]".
    const std::string &annotation_str() const
    {
        return text_;
    }
    TypeKind kind() const
    {
#define TAPER_CPP_KIND(kind, text)                                                                                     \
    if (begins(text)) {                                                                                                \
        return TypeKind::kind;                                                                                         \
    }
        TAPER_CPP_TYPE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
        return TypeKind::ClassType;
    }
    TypeKind dynamicKind() const
    {
        return kind();
    }
    // Return the types inside a list, a dict, an optional or a tuple.
    size_t containedTypeSize() const
    {
        return contained().size();
    }
    TypePtr containedType(size_t index) const
    {
        return contained().at(index);
    }
    std::vector<TypePtr> containedTypes() const
    {
        return contained();
    }
    // Returns this type, because one class represents all types.
    template <class T> T &expectRef()
    {
        static_assert(std::is_same<T, Type>::value, "types are of one class: compare kind()");
        return *this;
    }
    template <class T> const T &expectRef() const
    {
        static_assert(std::is_same<T, Type>::value, "types are of one class: compare kind()");
        return *this;
    }
    bool operator==(const Type &other) const
    {
        return text_ == other.text_;
    }
    bool operator!=(const Type &other) const
    {
        return text_ != other.text_;
    }
    friend std::ostream &operator<<(std::ostream &out, const Type &type)
    {
        return out << type.str();
    }

  private:
    // Converts annotation_str to str. A stack of closing brackets allows a single pass over the text.
    static std::string short_form(const std::string &text)
    {
        std::string out, open;
        for (size_t i = 0; i < text.size(); i++) {
            const char *const names[] = {"List[", "Tuple[", "Dict[", "Optional["};
            size_t kind = 0;
            while (kind < 4 && text.compare(i, std::char_traits<char>::length(names[kind]), names[kind]) != 0) {
                kind++;
            }
            if (kind < 4) {
                out += kind == 1 ? "(" : kind == 2 ? "Dict(" : "";
                open += static_cast<char>(kind);
                i += std::char_traits<char>::length(names[kind]) - 1;
            } else if (text[i] == ']' && !open.empty()) {
                out += open.back() == 0 ? "[]" : open.back() == 3 ? "?" : ")";
                open.pop_back();
            } else {
                out += text[i];
            }
        }
        return out;
    }
    std::vector<TypePtr> contained() const
    {
        std::vector<TypePtr> all;
        const size_t open = text_.find('[');
        if (open == std::string::npos || text_.back() != ']') {
            return all;
        }
        size_t depth = 0, start = open + 1;
        for (size_t i = start; i < text_.size(); i++) {
            depth += text_[i] == '[' ? 1 : 0;
            if ((depth == 0 && text_[i] == ',') || i + 1 == text_.size()) {
                if (i > start) {
                    all.push_back(of(text_.substr(start, i - start)));
                }
                start = i + 2; // skips ", "
            }
            depth -= text_[i] == ']' && depth != 0 ? 1 : 0;
        }
        return all;
    }
    bool begins(const std::string &with) const
    {
        return with.back() == '[' ? text_.compare(0, with.size(), with) == 0 : text_ == with;
    }
    std::string text_;
};

// PyTorch's lite interpreter has a type class of its own.
using DynamicType = Type;

// Defines, for example, TensorType::get().
#define TAPER_CPP_KIND(kind, text)                                                                                     \
    struct kind {                                                                                                      \
        static constexpr TypeKind Kind = TypeKind::kind;                                                               \
        static TypePtr get()                                                                                           \
        {                                                                                                              \
            return Type::of(text);                                                                                     \
        }                                                                                                              \
    };
#define TAPER_CPP_LEAF_KINDS(row)                                                                                      \
    row(AnyType, "Any") row(TensorType, "Tensor") row(IntType, "int") row(FloatType, "float") row(BoolType, "bool")    \
        row(ComplexType, "complex") row(StringType, "str") row(NoneType, "NoneType") row(NumberType, "Scalar")         \
            row(DeviceObjType, "Device")
TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_LEAF_KINDS
#undef TAPER_CPP_KIND

struct ListType {
    static constexpr TypeKind Kind = TypeKind::ListType;
    static TypePtr create(const TypePtr &element)
    {
        return Type::of("List[" + element->annotation_str() + "]");
    }
};
struct DictType {
    static constexpr TypeKind Kind = TypeKind::DictType;
    static TypePtr create(const TypePtr &key, const TypePtr &value)
    {
        return Type::of("Dict[" + key->annotation_str() + ", " + value->annotation_str() + "]");
    }
};
struct OptionalType {
    static constexpr TypeKind Kind = TypeKind::OptionalType;
    static TypePtr create(const TypePtr &element)
    {
        return Type::of("Optional[" + element->annotation_str() + "]");
    }
};

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
