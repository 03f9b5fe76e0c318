// SPDX-License-Identifier: BSD-2-Clause
// Makes tensors of ones for benchmarks, from texts such as "1,3,224,224".
#ifndef TAPER_TOOLS_ONES_H
#define TAPER_TOOLS_ONES_H

#include <taper/taper.h>

#include <stdbool.h>

// Parses `length` characters of comma-separated sizes and ignores empty ones. Failures are reported with `subject`.
bool ones_parse_sizes(const char *subject, const char *text, size_t length, int64_t sizes[TAPER_MAX_RANK],
                      size_t *rank);
// Makes a tensor with `number` in each element. dtype is TAPER_F32, TAPER_U8 or TAPER_I64. channels_last requires rank
// 4.
bool ones_tensor(const char *subject, taper_context *context, taper_error *error, taper_dtype dtype, size_t rank,
                 const int64_t *sizes, bool channels_last, int64_t number, taper_value **value);

#endif
