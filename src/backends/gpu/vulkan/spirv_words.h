// SPDX-License-Identifier: BSD-2-Clause
// Words of SPIR-V that both who folds constants and who cuts by them know. Numbers of opcodes: the specification, 3.49.
#ifndef TAPER_BACKENDS_SPIRV_WORDS_H
#define TAPER_BACKENDS_SPIRV_WORDS_H

enum {
    SPIRV_HEADER = 5,         // words before the first instruction
    SPIRV_BOUND = 3,          // which of them says above all ids
    SPIRV_MOST_IDS = 1 << 20, // that are looked at
    SPIRV_CONSTANT_TRUE = 41,
    SPIRV_CONSTANT_FALSE = 42,
    SPIRV_DECORATE = 71,
};

#endif
