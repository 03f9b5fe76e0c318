// SPDX-License-Identifier: BSD-2-Clause
// Prints expressions with their values, for programs that must print the same with two libraries.
#ifndef TAPER_TESTS_CPP_SHOW_H
#define TAPER_TESTS_CPP_SHOW_H

#include <iostream>

#define SHOW(...) std::cout << #__VA_ARGS__ << " = " << (__VA_ARGS__) << "\n"
#define ERROR(...)                                                                                                     \
    try {                                                                                                              \
        std::cout << #__VA_ARGS__ << " = " << (__VA_ARGS__) << "\n";                                                   \
    } catch (const c10::Error &e) {                                                                                    \
        std::cout << e.what_without_backtrace() << "\n";                                                               \
    } catch (const std::exception &e) {                                                                                \
        std::cout << e.what() << "\n";                                                                                 \
    }

#endif
