/* SPDX-License-Identifier: BSD-2-Clause */
// Checks for tests of the C++ binding. Each check is counted, and the first failures are printed.
#ifndef TAPER_TESTS_CPP_CHECK_H
#define TAPER_TESTS_CPP_CHECK_H

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <ATen/ATen.h>

static int check_passed, check_failed;

static inline void check_that(bool holds, const char *what, int line, const char *more = "")
{
    if (holds) {
        check_passed++;
    } else {
        check_failed++;
        std::printf("FAILED line %d: %s %s\n", line, what, more);
    }
}

#define CHECK(what) check_that(static_cast<bool>(what), #what, __LINE__)

// Checks that the expression throws something derived from std::exception with a non-empty text that contains `part`.
#define CHECK_THROWS(expression, part)                                                                                 \
    do {                                                                                                               \
        std::string text_;                                                                                             \
        try {                                                                                                          \
            (void)(expression);                                                                                        \
        } catch (const std::exception &error_) {                                                                       \
            text_ = error_.what();                                                                                     \
        }                                                                                                              \
        check_that(!text_.empty() && text_.find(part) != std::string::npos, #expression " throws", __LINE__,           \
                   text_.c_str());                                                                                     \
    } while (false)

static inline int check_report()
{
    std::printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed == 0 && check_passed > 0 ? 0 : 1;
}

static inline bool same(const at::Tensor &a, const at::Tensor &b)
{
    const at::Tensor x = a.contiguous(), y = b.contiguous();
    return x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type() &&
           std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

#endif
