// SPDX-License-Identifier: BSD-2-Clause
// Constants for the folding of constants and the removal of code in SPIR-V. The numbers of opcodes are from the SPIR-V
// specification, section 3.49.
#ifndef TAPER_BACKENDS_SPIRV_WORDS_H
#define TAPER_BACKENDS_SPIRV_WORDS_H

enum {
    SPIRV_HEADER = 5,         // number of words before the first instruction
    SPIRV_BOUND = 3,          // index of the header word with the bound of all ids
    SPIRV_MOST_IDS = 1 << 20, // largest number of ids in a shader that are supported
    SPIRV_CONSTANT_TRUE = 41,
    SPIRV_CONSTANT_FALSE = 42,
    SPIRV_DECORATE = 71,
};

#endif
