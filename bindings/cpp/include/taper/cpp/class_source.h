/* SPDX-License-Identifier: BSD-2-Clause */
// Reads from the TorchScript sources of a file which attributes of a class are parameters and buffers, their declared
// types, and the methods. The objects in a file do not say this: they have only names and values.
#ifndef TAPER_CPP_CLASS_SOURCE_H
#define TAPER_CPP_CLASS_SOURCE_H

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace taper
{
namespace cpp
{

struct ClassAttribute {
    std::string name, type; // the type as the source spells it: "Optional[Tensor]"
    bool is_parameter, is_buffer;
};

struct ClassMethod {
    std::string name;
    std::string signature; // "(self: __torch__.Net, x: Tensor) -> Tensor"
};

struct ClassSource {
    std::string name; // "__torch__.Net"
    bool is_module = false;
    std::vector<ClassAttribute> attributes;                     // attributes of the class, without its constants
    std::vector<std::pair<std::string, std::string>> constants; // constants of the class: names, and values as text
    std::vector<ClassMethod> methods;

    const ClassAttribute *find(const std::string &attribute) const
    {
        for (const ClassAttribute &each : attributes) {
            if (each.name == attribute) {
                return &each;
            }
        }
        return nullptr;
    }
    const ClassMethod *method(const std::string &wanted) const
    {
        for (const ClassMethod &each : methods) {
            if (each.name == wanted) {
                return &each;
            }
        }
        return nullptr;
    }
};

using ClassTable = std::map<std::string, ClassSource>;

// Reads the classes of one source. ClassReader is a template, so that only programs that load a model compile it. Lines
// that the reader does not know are skipped, because the library has already checked the source.
template <class Table> class ClassReader
{
  public:
    // prefix: the module of the source, "__torch__.torch.nn.modules.conv".
    ClassReader(const std::string &prefix, const std::string &text, Table &table)
        : prefix_(prefix), text_(text), table_(table)
    {
        for (size_t at = 0; at < text_.size();) {
            at = line(at);
        }
    }
    // Returns the module of a source, such as "__torch__.a" for the archive's record "code/__torch__/a.py". Returns ""
    // if the record is not a source.
    static std::string prefix_of(const std::string &record)
    {
        if (record.size() <= 8 || record.compare(0, 5, "code/") != 0 ||
            record.compare(record.size() - 3, 3, ".py") != 0) {
            return "";
        }
        std::string prefix = record.substr(5, record.size() - 8);
        for (char &c : prefix) {
            c = c == '/' ? '.' : c;
        }
        return prefix;
    }

  private:
    bool starts(size_t at, const char *with) const
    {
        return text_.compare(at, std::char_traits<char>::length(with), with) == 0;
    }
    // Reads the line at `at` and returns the position of the next line.
    size_t line(size_t at)
    {
        size_t end = text_.find('\n', at);
        end = end == std::string::npos ? text_.size() : end;
        const std::string words = text_.substr(at, end - at);
        if (starts(at, "class ")) {
            open(words);
        } else if (!starts(at, "  ")) {
            current_ = nullptr;
        } else if (current_ != nullptr && starts(at, "  def ")) {
            return method(at);
        } else if (current_ != nullptr && words.size() > 2 && words[2] != ' ') {
            attribute(words.substr(2));
        }
        return end + 1;
    }
    void open(const std::string &words)
    {
        const size_t end = words.find_first_of("(:", 6);
        if (end != std::string::npos) {
            current_ = &table_[prefix_ + "." + words.substr(6, end - 6)];
            current_->name = prefix_ + "." + words.substr(6, end - 6);
            current_->is_module = words.compare(end, 8, "(Module)") == 0;
            parameters_.clear();
            buffers_.clear();
        }
    }
    // Returns the texts between quotes in a list or an index.
    static std::vector<std::string> quoted(const std::string &words)
    {
        std::vector<std::string> all;
        for (size_t open = words.find('"'); open != std::string::npos;) {
            const size_t close = words.find('"', open + 1);
            if (close == std::string::npos) {
                break;
            }
            all.push_back(words.substr(open + 1, close - open - 1));
            open = words.find('"', close + 1);
        }
        return all;
    }
    static bool contains(const std::vector<std::string> &all, const std::string &one)
    {
        for (const std::string &each : all) {
            if (each == one) {
                return true;
            }
        }
        return false;
    }
    void add(const std::string &name, const std::string &type)
    {
        current_->attributes.push_back({name, type, contains(parameters_, name), contains(buffers_, name)});
    }
    void attribute(const std::string &words)
    {
        static const char special[] = "__annotations__[";
        const size_t equal = words.find(" = "), colon = words.find(" : ");
        if (words.compare(0, 17, "__parameters__ = ") == 0) {
            parameters_ = quoted(words);
        } else if (words.compare(0, 14, "__buffers__ = ") == 0) {
            buffers_ = quoted(words);
        } else if (words.compare(0, sizeof special - 1, special) == 0 && equal != std::string::npos) {
            const std::vector<std::string> name = quoted(words.substr(0, equal));
            add(name.empty() ? "" : name[0], words.substr(equal + 3)); // a name that is no identifier, such as "0"
        } else if (colon != std::string::npos && equal != std::string::npos) {
            current_->constants.emplace_back(words.substr(0, colon), words.substr(equal + 3));
        } else if (colon != std::string::npos) {
            add(words.substr(0, colon), words.substr(colon + 3));
        }
    }
    // Reads the head of a method, which ends with the colon outside of all brackets.
    size_t method(size_t at)
    {
        const size_t name = at + 6;
        size_t open = text_.find('(', name), depth = 0;
        ClassMethod made;
        for (size_t i = open; i < text_.size(); i++) {
            const char c = text_[i];
            if (c == '"') {
                const size_t close = text_.find('"', i + 1);
                made.signature += text_.substr(i, close - i + 1);
                i = close;
                if (close == std::string::npos) {
                    break;
                }
                continue;
            }
            depth += c == '(' || c == '[' ? 1 : 0;
            depth -= c == ')' || c == ']' ? 1 : 0;
            if (depth == 0 && c == ':') {
                made.name = text_.substr(name, open - name);
                current_->methods.push_back(made);
                const size_t end = text_.find('\n', i);
                return end == std::string::npos ? text_.size() : end + 1;
            }
            if (c != '\n' && (c != ' ' || made.signature.empty() || made.signature.back() != ' ')) {
                made.signature += c;
            }
        }
        return text_.size();
    }

    const std::string prefix_, &text_;
    Table &table_;
    ClassSource *current_ = nullptr;
    std::vector<std::string> parameters_, buffers_;
};

// Adds attributes to the text of a class: to its lists of parameters and buffers, and after its declarations. name is
// the class without its module. Returns the text unchanged if the text does not contain the class.
inline std::string add_attributes(const std::string &text, const std::string &name,
                                  const std::vector<ClassAttribute> &added)
{
    size_t at = text.compare(0, 6 + name.size(), "class " + name) == 0 ? 0 : text.find("\nclass " + name + "(Module):");
    if (at == std::string::npos) {
        return text;
    }
    std::string out = text.substr(0, at), declared;
    at += text[at] == '\n' ? (out += '\n', 1) : 0;
    for (bool inside = true; inside && at < text.size();) {
        size_t end = text.find('\n', at);
        end = end == std::string::npos ? text.size() : end;
        std::string words = text.substr(at, end - at);
        inside = (words.compare(0, 2, "  ") == 0 && words.compare(0, 6, "  def ") != 0) ||
                 words.compare(0, 6, "class ") == 0;
        inside = inside && (declared.empty() || words.compare(0, 6, "class ") != 0);
        if (!inside) {
            break;
        }
        for (const ClassAttribute &each : added) {
            const bool listed = (each.is_parameter && words.compare(0, 19, "  __parameters__ = ") == 0) ||
                                (each.is_buffer && words.compare(0, 16, "  __buffers__ = ") == 0);
            if (listed) {
                words.insert(words.size() - 1, "\"" + each.name + "\", ");
            }
        }
        out += words + "\n";
        declared = words;
        at = end + 1;
    }
    for (const ClassAttribute &each : added) {
        out += "  " + each.name + " : " + each.type + "\n";
    }
    return out + (at < text.size() ? text.substr(at) : "");
}

} // namespace cpp
} // namespace taper

#endif
