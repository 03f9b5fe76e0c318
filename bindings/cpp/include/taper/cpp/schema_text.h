/* SPDX-License-Identifier: BSD-2-Clause */
// Parses the text of an operator's schema: "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
#ifndef TAPER_CPP_SCHEMA_TEXT_H
#define TAPER_CPP_SCHEMA_TEXT_H

#include <string>
#include <vector>

#include <taper/cpp/method_schema.h>

namespace c10
{

// One of two values.
template <class L, class R> class either
{
  public:
    explicit either(L value) : left_(std::move(value))
    {
    }
    explicit either(R value) : right_(std::move(value))
    {
    }
    bool is_left() const noexcept
    {
        return left_.has_value();
    }
    bool is_right() const noexcept
    {
        return right_.has_value();
    }
    const L &left() const
    {
        return left_.value();
    }
    const R &right() const
    {
        return right_.value();
    }

  private:
    optional<L> left_;
    optional<R> right_;
};

namespace impl
{

class SchemaParser
{
  public:
    explicit SchemaParser(const std::string &text) : text_(text)
    {
    }
    OperatorName name()
    {
        std::string all = word("(");
        const size_t dot = all.find('.');
        return dot == std::string::npos ? OperatorName(all, "") : OperatorName(all.substr(0, dot), all.substr(dot + 1));
    }
    bool ends()
    {
        blanks();
        return at_ >= text_.size();
    }
    FunctionSchema schema()
    {
        const OperatorName named = name();
        bool is_vararg = false;
        std::vector<Argument> all = arguments(is_vararg);
        expect('-');
        expect('>');
        std::vector<Argument> results;
        bool is_varret = false;
        blanks();
        if (take("...")) {
            is_varret = true;
        } else if (at_ < text_.size() && text_[at_] == '(') {
            results = arguments(is_varret);
        } else {
            results.push_back(argument(false));
        }
        if (!ends()) {
            fail();
        }
        return FunctionSchema(named.name, named.overload_name, std::move(all), std::move(results), is_vararg,
                              is_varret);
    }

  private:
    [[noreturn]] void fail() const
    {
        throw Error("the schema \"" + text_ + "\" cannot be parsed at character " + std::to_string(at_));
    }
    void blanks()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
            at_++;
        }
    }
    bool take(const char *word)
    {
        const size_t length = std::char_traits<char>::length(word);
        blanks();
        const bool is_here = text_.compare(at_, length, word) == 0;
        at_ += is_here ? length : 0;
        return is_here;
    }
    void expect(char c)
    {
        const char word[] = {c, '\0'};
        if (!take(word)) {
            fail();
        }
    }
    // Reads up to one of these characters, or a blank.
    std::string word(const char *ends)
    {
        blanks();
        const size_t end = std::min(text_.find_first_of(std::string(ends) + " ", at_), text_.size());
        if (end == at_) {
            fail();
        }
        const std::string read = text_.substr(at_, end - at_);
        at_ = end;
        return read;
    }
    // Returns the type as TorchScript writes it, without the marks of aliases. length: the length of a list such as
    // int[2].
    std::string type(optional<int32_t> &length)
    {
        std::string read;
        if (take("(")) {
            std::string inside;
            while (!take(")")) {
                optional<int32_t> ignored;
                inside += (inside.empty() ? "" : ", ") + type(ignored);
                take(",");
            }
            read = "Tuple[" + inside + "]";
        } else {
            read = word("()[]?,");
            if ((read == "Dict" || read == "Future") && take("(")) {
                optional<int32_t> ignored;
                std::string inside = type(ignored);
                if (take(",")) {
                    inside += ", " + type(ignored);
                }
                expect(')');
                read += "[" + inside + "]";
            } else if (read == "Scalar") {
                read = "number";
            }
        }
        for (;;) {
            if (at_ < text_.size() && text_[at_] == '(') { // the mark of an alias: "(a!)"
                const size_t end = std::min(text_.find(')', at_), text_.size() - 1) + 1;
                alias_ = text_.substr(at_, end - at_);
                at_ = end;
            } else if (at_ < text_.size() && text_[at_] == '?') {
                at_++;
                read = "Optional[" + read + "]";
            } else if (at_ < text_.size() && text_[at_] == '[') {
                const size_t end = text_.find(']', at_);
                if (end == std::string::npos) {
                    fail();
                }
                if (end > at_ + 1) {
                    length = static_cast<int32_t>(std::atoi(text_.c_str() + at_ + 1));
                }
                at_ = end + 1;
                read = "List[" + read + "]";
            } else {
                return read;
            }
        }
    }
    // Reads a literal up to a comma or a bracket outside of brackets and quotes.
    std::string literal()
    {
        blanks();
        const size_t start = at_;
        for (int depth = 0; at_ < text_.size(); at_++) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                at_ = std::min(text_.find(c, at_ + 1), text_.size() - 1);
            } else if (depth == 0 && (c == ',' || c == ')')) {
                break;
            } else {
                depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
            }
        }
        return text_.substr(start, at_ - start);
    }
    // The value of a default; lists of numbers are values too.
    static optional<IValue> value_of(const std::string &text, const std::string &type)
    {
        if (text.size() < 2 || text[0] != '[') {
            const optional<IValue> value = parse_literal(text);
            return value.has_value() && value->isInt() && type == "float"
                       ? optional<IValue>(IValue(static_cast<double>(value->toInt())))
                       : value;
        }
        std::vector<int64_t> whole;
        std::vector<double> fractions;
        for (size_t i = 1; i + 1 < text.size();) {
            const size_t end = std::min(text.find(',', i), text.size() - 1);
            fractions.push_back(std::strtod(text.c_str() + i, nullptr));
            whole.push_back(static_cast<int64_t>(fractions.back()));
            i = end + 1;
        }
        return type == "List[float]" ? IValue(fractions) : IValue(whole);
    }
    Argument argument(bool is_named)
    {
        optional<int32_t> length;
        alias_.clear();
        const std::string text = type(length), alias = alias_;
        blanks();
        const bool has_name = at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')';
        const std::string name = has_name ? word("=,)") : std::string();
        optional<IValue> fallback;
        if (take("=")) {
            fallback = value_of(literal(), text);
        }
        Argument made(name, Type::of(text), length, std::move(fallback), is_named);
        made.set_alias_text(alias);
        return made;
    }
    std::vector<Argument> arguments(bool &is_open)
    {
        std::vector<Argument> all;
        bool is_named = false;
        expect('(');
        while (!take(")")) {
            if (take("...")) {
                is_open = true;
            } else if (take("*")) {
                is_named = true;
            } else {
                all.push_back(argument(is_named));
            }
            if (!take(",") && (at_ >= text_.size() || text_[at_] != ')')) {
                fail();
            }
        }
        return all;
    }

    const std::string text_;
    std::string alias_; // the mark of the type that was read last
    size_t at_ = 0;
};

} // namespace impl
} // namespace c10

namespace torch
{
namespace jit
{

inline c10::FunctionSchema parseSchema(const std::string &text)
{
    return c10::impl::SchemaParser(text).schema();
}
inline c10::OperatorName parseName(const std::string &text)
{
    return c10::impl::SchemaParser(text).name();
}
inline c10::either<c10::OperatorName, c10::FunctionSchema> parseSchemaOrName(const std::string &text)
{
    using Either = c10::either<c10::OperatorName, c10::FunctionSchema>;
    return text.find('(') == std::string::npos ? Either(parseName(text)) : Either(parseSchema(text));
}

} // namespace jit
} // namespace torch

#endif
