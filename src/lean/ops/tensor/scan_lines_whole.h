// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/scan_lines_whole.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_SCAN_LINES_WHOLE_H
#define TAPER_OPS_TENSOR_SCAN_LINES_WHOLE_H

#define LINE(name, type, better)                                                                                       \
    static inline bool name##_whole(int64_t size, size_t n, const char *x, int64_t x_step, char *y, int64_t y_step,    \
                                    char *p, int64_t p_step)                                                           \
    {                                                                                                                  \
        (void)size, (void)n, (void)x, (void)x_step, (void)y, (void)y_step, (void)p, (void)p_step;                      \
        return false;                                                                                                  \
    }

#endif
