/* SPDX-License-Identifier: BSD-2-Clause */
// c10::AliasInfo: which arguments and results of an operator share memory, as the marks of its schema say: "(a! -> *)".
#ifndef TAPER_CPP_ALIAS_INFO_H
#define TAPER_CPP_ALIAS_INFO_H

#include <ostream>
#include <unordered_set>
#include <vector>

#include <taper/cpp/symbol.h>

namespace c10
{

// Functions are templates, so that only programs that call them compile them. An AliasInfo lists sets of memory by
// their names ("a", "b"). Two values may share memory if their lists have a name in common. The name "*" stands for all
// memory.
class AliasInfo
{
  public:
    template <class Unused = void> static Symbol wildcardSet()
    {
        static const Symbol wildcard = Symbol::fromQualString("alias::*");
        return wildcard;
    }
    void setIsWrite(bool is_write)
    {
        is_write_ = is_write;
    }
    bool isWrite() const
    {
        return is_write_;
    }
    template <class Set = Symbol> void addBeforeSet(Set set)
    {
        before_.insert(set);
    }
    template <class Set = Symbol> void addAfterSet(Set set)
    {
        after_.insert(set);
    }
    const std::unordered_set<Symbol> &beforeSets() const
    {
        return before_;
    }
    const std::unordered_set<Symbol> &afterSets() const
    {
        return after_;
    }
    template <class Set = Symbol> Set beforeSet() const
    {
        if (before_.size() != 1) {
            throw Error("the argument has another number of alias sets than one");
        }
        return *before_.begin();
    }
    template <class Unused = void> bool isWildcardBefore() const
    {
        return before_.count(wildcardSet()) != 0;
    }
    template <class Unused = void> bool isWildcardAfter() const
    {
        return after_.count(wildcardSet()) != 0;
    }
    // Adds the information about the elements of a list.
    template <class Info = AliasInfo> void addContainedType(Info info)
    {
        contained_.push_back(std::move(info));
    }
    const std::vector<AliasInfo> &containedTypes() const
    {
        return contained_;
    }
    template <class Info> bool equals(const Info &other) const
    {
        return is_write_ == other.is_write_ && before_ == other.before_ && after_ == other.after_ &&
               contained_ == other.contained_;
    }

    // Parses a mark such as "(a! -> b|c)".
    template <class Info = AliasInfo> static Info parse(const std::string &text)
    {
        Info made;
        bool after = false;
        std::string word;
        for (const char c : text) {
            if (c == '!') {
                made.is_write_ = true;
            } else if (c == '-') {
                after = true;
                made.after_.clear();
            } else if ((c == '|' || c == ')' || c == ' ') && !word.empty()) {
                const Symbol set = Symbol::fromQualString("alias::" + word);
                if (!after) {
                    made.before_.insert(set);
                }
                made.after_.insert(set);
                word.clear();
            } else if (c != '(' && c != '>' && c != ' ' && c != '|') {
                word += c;
            }
        }
        return made;
    }

  private:
    std::unordered_set<Symbol> before_, after_;
    std::vector<AliasInfo> contained_;
    bool is_write_ = false;
};

template <class Info, std::enable_if_t<std::is_same<Info, AliasInfo>::value, int> = 0>
bool operator==(const Info &a, const Info &b)
{
    return a.equals(b);
}
template <class Info, std::enable_if_t<std::is_same<Info, AliasInfo>::value, int> = 0>
std::ostream &operator<<(std::ostream &out, const Info &info)
{
    const auto write = [&out](const std::unordered_set<Symbol> &sets) {
        bool is_first = true;
        for (const Symbol &each : sets) {
            out << (is_first ? "" : "|") << each.toUnqualString();
            is_first = false;
        }
    };
    out << "(";
    write(info.beforeSets());
    out << (info.isWrite() ? "!" : "");
    if (info.beforeSets() != info.afterSets()) {
        out << " -> ";
        write(info.afterSets());
    }
    return out << ")";
}

} // namespace c10

#endif
