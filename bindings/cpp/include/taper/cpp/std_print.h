/* SPDX-License-Identifier: BSD-2-Clause */
// Printing of standard containers. PyTorch's headers define these operators in namespace std, and programs use them.
#ifndef TAPER_CPP_STD_PRINT_H
#define TAPER_CPP_STD_PRINT_H

#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

namespace c10
{
// Prints at most 100 elements, with blanks between them.
template <class Iterator> void PrintSequence(std::ostream &out, Iterator begin, Iterator end)
{
    for (int i = 0; begin != end && i < 100; ++i, ++begin) {
        out << (i == 0 ? "" : " ") << *begin;
    }
    if (begin != end) {
        out << " ...";
    }
}
} // namespace c10

namespace std
{
template <class A, class B> ostream &operator<<(ostream &out, const pair<A, B> &both)
{
    return out << '(' << both.first << ", " << both.second << ')';
}
#define TAPER_CPP_PRINTED(container)                                                                                   \
    template <class... T> ostream &operator<<(ostream &out, const container<T...> &all)                                \
    {                                                                                                                  \
        c10::PrintSequence(out, all.begin(), all.end());                                                               \
        return out;                                                                                                    \
    }
TAPER_CPP_PRINTED(vector)
TAPER_CPP_PRINTED(map)
TAPER_CPP_PRINTED(set)
#undef TAPER_CPP_PRINTED
} // namespace std

#endif
