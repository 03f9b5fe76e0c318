/* SPDX-License-Identifier: BSD-2-Clause */
// c10::QualifiedName: the name of a class or a function, with dots.
#ifndef TAPER_CPP_QUALIFIED_NAME_H
#define TAPER_CPP_QUALIFIED_NAME_H

#include <string>
#include <vector>

#include <taper/cpp/error.h>

namespace c10
{

// A name with dots: "__torch__.Net".
class QualifiedName
{
  public:
    QualifiedName() = default;
    QualifiedName(const std::string &name) : name_(name)
    {
        if (name.empty()) {
            throw Error("the qualified name is empty");
        }
    }
    QualifiedName(const char *name) : QualifiedName(std::string(name))
    {
    }
    explicit QualifiedName(const std::vector<std::string> &atoms)
    {
        for (const std::string &each : atoms) {
            name_ += (name_.empty() ? "" : ".") + each;
        }
    }
    QualifiedName(const QualifiedName &prefix, const std::string &name) : QualifiedName(prefix.name_ + "." + name)
    {
    }
    const std::string &qualifiedName() const
    {
        return name_;
    }
    // Return the part before the last dot, and the part after it.
    std::string prefix() const
    {
        const size_t dot = name_.find_last_of('.');
        return dot == std::string::npos ? "" : name_.substr(0, dot);
    }
    std::string name() const
    {
        const size_t dot = name_.find_last_of('.');
        return dot == std::string::npos ? name_ : name_.substr(dot + 1);
    }
    std::vector<std::string> atoms() const
    {
        std::vector<std::string> all;
        for (size_t start = 0; start <= name_.size();) {
            const size_t dot = name_.find('.', start), end = dot == std::string::npos ? name_.size() : dot;
            all.push_back(name_.substr(start, end - start));
            start = end + 1;
        }
        return all;
    }
    bool isPrefixOf(const QualifiedName &other) const
    {
        return other.name_ == name_ || other.name_.compare(0, name_.size() + 1, name_ + ".") == 0;
    }
    bool operator==(const QualifiedName &other) const
    {
        return name_ == other.name_;
    }
    bool operator!=(const QualifiedName &other) const
    {
        return name_ != other.name_;
    }

  private:
    std::string name_;
};

} // namespace c10

#endif
