/* SPDX-License-Identifier: BSD-2-Clause */
// Types of values. A type is its text in TorchScript: two types are equal if their texts are.
#ifndef TAPER_CPP_TYPE_H
#define TAPER_CPP_TYPE_H

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <taper/cpp/array_ref.h>
#include <taper/cpp/error.h>
#include <taper/cpp/optional.h>
#include <taper/cpp/string_view.h>

// Rows of (name of the kind, text of its types). The types of the second list have types inside; their text only begins
// with the text in the row.
#define TAPER_CPP_LEAF_KINDS(row)                                                                                      \
    row(AnyType, "Any") row(TensorType, "Tensor") row(IntType, "int") row(FloatType, "float") row(BoolType, "bool")    \
        row(ComplexType, "complex") row(StringType, "str") row(NoneType, "NoneType") row(NumberType, "number")         \
            row(DeviceObjType, "Device") row(GeneratorType, "Generator") row(StorageType, "Storage")                   \
                row(StreamObjType, "Stream") row(CapsuleType, "Capsule") row(AnyListType, "list")                      \
                    row(AnyTupleType, "tuple") row(AnyEnumType, "AnyEnumType") row(LayoutType, "Layout")               \
                        row(ScalarTypeType, "ScalarType") row(MemoryFormatType, "MemoryFormat")                        \
                            row(QSchemeType, "QScheme") row(SymIntType, "SymInt") row(SymFloatType, "SymFloat")        \
                                row(QuantizerType, "Quantizer") row(PyObjectType, "PyObject")                          \
                                    row(AnyClassType, "AnyClassType")
#define TAPER_CPP_NODE_KINDS(row)                                                                                      \
    row(ListType, "List[") row(TupleType, "Tuple[") row(DictType, "Dict[") row(OptionalType, "Optional[")              \
        row(UnionType, "Union[") row(FutureType, "Future[") row(RRefType, "RRef[")

namespace c10
{

enum class TypeKind {
#define TAPER_CPP_KIND(kind, text) kind,
    TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND) TAPER_CPP_NODE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
        ClassType,
    EnumType, // an enum has the text of a class
    InterfaceType,
    FunctionType,
    VarType,
    DynamicType
};

inline const char *typeKindToString(TypeKind kind)
{
    switch (kind) {
#define TAPER_CPP_KIND(kind_, text)                                                                                    \
    case TypeKind::kind_:                                                                                              \
        return #kind_;
        TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND)
        TAPER_CPP_NODE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
    case TypeKind::ClassType:
        return "ClassType";
    case TypeKind::EnumType:
        return "EnumType";
    case TypeKind::InterfaceType:
        return "InterfaceType";
    case TypeKind::FunctionType:
        return "FunctionType";
    case TypeKind::VarType:
        return "VarType";
    case TypeKind::DynamicType:
        return "DynamicType";
    }
    return "";
}

class Type;
using TypePtr = std::shared_ptr<Type>;
using ConstTypePtr = std::shared_ptr<const Type>;

class Type : public std::enable_shared_from_this<Type>
{
  public:
    using Ptr = std::shared_ptr<Type>;
    using TypePtr = std::shared_ptr<Type>;
    using ElementType = Type;
    explicit Type(std::string text) : text_(std::move(text)), kind_(kind_of(text_))
    {
    }
    // A type whose text does not show its kind, such as an enum.
    Type(std::string text, TypeKind kind) : text_(std::move(text)), kind_(kind)
    {
    }
    virtual ~Type() = default;
    static TypePtr of(std::string text); // returns an object of the class for the kind of the text
    // Returns the text in schemas, for example "Tensor[]", "(int, str)", "Dict(str, int)" or "Tensor?".
    virtual std::string str() const
    {
        return short_form(text_);
    }
    virtual std::string repr_str() const
    {
        return text_;
    }
    std::string annotation_str_impl(const std::function<optional<std::string>(const Type &)> & = nullptr) const
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
        return kind_;
    }
    TypeKind dynamicKind() const
    {
        return kind_;
    }
    // Return the number of the types inside a list, a dict, an optional or a tuple, and these types.
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
    // Returns true if each value of this type is accepted where the other type is required.
    bool isSubtypeOf(const Type &other) const;
    bool isSubtypeOf(const TypePtr &other) const
    {
        return isSubtypeOf(*other);
    }
    // Writes to why_not, unless it is null, why the result is false.
    bool isSubtypeOfExt(const Type &other, std::ostream *why_not) const
    {
        const bool is = isSubtypeOf(other);
        if (!is && why_not != nullptr) {
            *why_not << repr_str() << " is not a subtype of " << other.repr_str();
        }
        return is;
    }
    template <class T> bool isSubtypeOfExt(const std::shared_ptr<T> &other, std::ostream *why_not) const
    {
        return isSubtypeOfExt(*other, why_not);
    }
    bool equals(const Type &other) const
    {
        return *this == other;
    }
    // Returns false: only types of schemas have variables that stand for any type, and types of values have none.
    bool hasFreeVariables() const
    {
        return false;
    }
    bool requires_grad() const
    {
        return false;
    }
    // Returns false. For the class of a module, ClassType::is_module returns true.
    virtual bool is_module() const
    {
        return false;
    }
    // Returns the text of the type. If there is a printer, types for which it returns a text are replaced by that text.
    std::string annotation_str(const std::function<optional<std::string>(const Type &)> &printer) const
    {
        const optional<std::string> text = printer ? printer(*this) : nullopt;
        return text.has_value() ? *text : text_;
    }
    // Returns a type of this kind with other types inside.
    TypePtr createWithContained(const std::vector<TypePtr> &inside) const
    {
        const size_t open = text_.find('[');
        if (open == std::string::npos) {
            return of(text_);
        }
        std::string all;
        for (const TypePtr &each : inside) {
            all += (all.empty() ? "" : ", ") + each->text_;
        }
        return of(text_.substr(0, open + 1) + all + "]");
    }
    TypePtr withContained(const std::vector<TypePtr> &inside) const
    {
        return createWithContained(inside);
    }
    // Return the type as an object of class T, such as ListType. If the type has another kind, cast returns null and
    // expect throws.
    template <class T> std::shared_ptr<T> cast()
    {
        return kind_ == T::Kind ? std::static_pointer_cast<T>(shared_from_this()) : nullptr;
    }
    template <class T> std::shared_ptr<const T> cast() const
    {
        return kind_ == T::Kind ? std::static_pointer_cast<const T>(shared_from_this()) : nullptr;
    }
    template <class T> T *castRaw()
    {
        return kind_ == T::Kind ? static_cast<T *>(this) : nullptr;
    }
    template <class T> const T *castRaw() const
    {
        return kind_ == T::Kind ? static_cast<const T *>(this) : nullptr;
    }
    template <class T> std::shared_ptr<T> expect()
    {
        expectRef<T>();
        return std::static_pointer_cast<T>(shared_from_this());
    }
    // Returns this type. DynamicType, the type of the lite interpreter, is Type itself.
    template <class T> T &expectRef()
    {
        check_kind(static_cast<T *>(nullptr));
        return static_cast<T &>(*this);
    }
    template <class T> const T &expectRef() const
    {
        check_kind(static_cast<T *>(nullptr));
        return static_cast<const T &>(*this);
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
        return type.kind_ == TypeKind::FutureType ? out << "Future[" << *type.containedType(0) << ']'
                                                  : out << type.str();
    }

  protected:
    virtual std::vector<TypePtr> contained() const
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

  private:
    void check_kind(const Type *) const
    {
    }
    template <class T> void check_kind(const T *) const
    {
        if (kind_ != T::Kind) {
            throw Error(text_ + " is not a " + typeKindToString(T::Kind));
        }
    }
    // Converts annotation_str to str. A stack of closing brackets allows a single pass over the text.
    static std::string short_form(const std::string &text)
    {
        std::string out, open;
        for (size_t i = 0; i < text.size(); i++) {
            const char *const names[] = {"List[", "Tuple[", "Dict[", "Optional[", "Future["};
            const char *const shorts[] = {"", "(", "Dict(", "", "Future("}, *const ends[] = {"[]", ")", ")", "?", ")"};
            size_t kind = 0;
            while (kind < 5 && text.compare(i, std::char_traits<char>::length(names[kind]), names[kind]) != 0) {
                kind++;
            }
            if (kind < 5) {
                out += shorts[kind];
                open += static_cast<char>(kind);
                i += std::char_traits<char>::length(names[kind]) - 1;
            } else if (text.compare(i, 6, "number") == 0 && (i == 0 || text[i - 1] == '[' || text[i - 1] == ' ')) {
                out += "Scalar";
                i += 5;
            } else if (text[i] == ']' && !open.empty()) {
                out += ends[static_cast<size_t>(open.back())];
                open.pop_back();
            } else {
                out += text[i];
            }
        }
        return out;
    }
    static TypeKind kind_of(const std::string &text)
    {
#define TAPER_CPP_KIND(kind, name)                                                                                     \
    if (text == name) {                                                                                                \
        return TypeKind::kind;                                                                                         \
    }
        TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
#define TAPER_CPP_KIND(kind, name)                                                                                     \
    if (text.compare(0, sizeof name - 1, name) == 0) {                                                                 \
        return TypeKind::kind;                                                                                         \
    }
        TAPER_CPP_NODE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
        return text == "Scalar" ? TypeKind::NumberType : TypeKind::ClassType;
    }
    std::string text_;
    TypeKind kind_;
};

// PyTorch's lite interpreter has a type class of its own; here it is Type.
using DynamicType = Type;

inline bool Type::isSubtypeOf(const Type &other) const
{
    if (*this == other || other.kind_ == TypeKind::AnyType) {
        return true;
    }
    const bool is_number = kind_ == TypeKind::IntType || kind_ == TypeKind::FloatType || kind_ == TypeKind::ComplexType;
    const std::vector<TypePtr> mine = contained(), others = other.contained();
    switch (other.kind_) {
    case TypeKind::NumberType:
        return is_number || kind_ == TypeKind::NumberType;
    case TypeKind::AnyListType:
        return kind_ == TypeKind::ListType;
    case TypeKind::AnyTupleType:
        return kind_ == TypeKind::TupleType;
    case TypeKind::OptionalType:
    case TypeKind::UnionType:
        if (kind_ == TypeKind::OptionalType) {
            return mine.at(0)->isSubtypeOf(other) && Type("NoneType").isSubtypeOf(other);
        }
        if (kind_ == TypeKind::UnionType) {
            for (const TypePtr &each : mine) {
                if (!each->isSubtypeOf(other)) {
                    return false;
                }
            }
            return true;
        }
        for (const TypePtr &each : others) {
            if (isSubtypeOf(*each)) {
                return true;
            }
        }
        return other.kind_ == TypeKind::OptionalType && kind_ == TypeKind::NoneType;
    case TypeKind::TupleType:
        for (size_t i = 0; i < mine.size() && i < others.size(); i++) {
            if (!mine[i]->isSubtypeOf(*others[i])) {
                return false;
            }
        }
        return kind_ == TypeKind::TupleType && mine.size() == others.size();
    default:
        return false;
    }
}

} // namespace c10

#include <taper/cpp/type_kinds.h>

#endif
