// SPDX-License-Identifier: BSD-2-Clause
// Macros that omit entries of a list during preprocessing, because an #if cannot be inside an entry.
//
// TAPER_IF(flag, rows) expands to `rows` if the macro `flag` is defined to 1; TAPER_UNLESS(flag, rows) expands to
// `rows` if `flag` is not defined to 1.
#ifndef TAPER_BASE_CHOOSE_H
#define TAPER_BASE_CHOOSE_H

// TAPER_IS_ONE(x) is 1 if the macro x is defined to 1, otherwise 0. The Linux kernel's IS_ENABLED works in the same
// way.
#define TAPER_PLACE_1 0,
#define TAPER_SECOND(ignored, value, ...) value
#define TAPER_IS_ONE(x) TAPER_IS_ONE_(x)
#define TAPER_IS_ONE_(x) TAPER_IS_ONE__(TAPER_PLACE_##x)
#define TAPER_IS_ONE__(comma_or_junk) TAPER_SECOND(comma_or_junk 1, 0, 0)

#define TAPER_JOIN(a, b) TAPER_JOIN_(a, b)
#define TAPER_JOIN_(a, b) a##b
#define TAPER_ROWS_IF_0(...)
#define TAPER_ROWS_IF_1(...) __VA_ARGS__
#define TAPER_ROWS_UNLESS_0(...) __VA_ARGS__
#define TAPER_ROWS_UNLESS_1(...)
#define TAPER_IF(flag, ...) TAPER_JOIN(TAPER_ROWS_IF_, TAPER_IS_ONE(flag))(__VA_ARGS__)
#define TAPER_UNLESS(flag, ...) TAPER_JOIN(TAPER_ROWS_UNLESS_, TAPER_IS_ONE(flag))(__VA_ARGS__)

#endif
