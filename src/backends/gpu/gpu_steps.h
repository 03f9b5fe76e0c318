// SPDX-License-Identifier: BSD-2-Clause
// The steps behind a kernel: what is done to a vector before it is stored (step_with in shaders/common.glsl).
#ifndef TAPER_BACKENDS_GPU_STEPS_H
#define TAPER_BACKENDS_GPU_STEPS_H

#include "backends/gpu/gpu_view.h"

enum { TAPER_GPU_STEPS = 8 };

// v is the vector; s the other operand, or the number low.
typedef enum taper_gpu_step {
    TAPER_GPU_STEP_NONE,
    TAPER_GPU_STEP_CLAMP,     // to [low, high]
    TAPER_GPU_STEP_ADD,       // v + s high
    TAPER_GPU_STEP_SUB_FROM,  // s - v high
    TAPER_GPU_STEP_MUL,       // v s
    TAPER_GPU_STEP_DIV,       // v / s
    TAPER_GPU_STEP_DIV_INTO,  // s / v
    TAPER_GPU_STEP_MAX,       //
    TAPER_GPU_STEP_MIN,       //
    TAPER_GPU_STEP_HARDSWISH, //
    TAPER_GPU_STEP_HARDSIGMOID,
    TAPER_GPU_STEP_SIGMOID,
    TAPER_GPU_STEP_SILU,
    TAPER_GPU_STEP_TANH,
    TAPER_GPU_STEP_GELU,
    TAPER_GPU_STEP_GELU_TANH,
    TAPER_GPU_STEP_LEAKY_RELU, // slope low
    TAPER_GPU_STEP_ELU,        // alpha low
    TAPER_GPU_STEP_EXP,
    TAPER_GPU_STEP_LOG,
    TAPER_GPU_STEP_SQRT,
    TAPER_GPU_STEP_RSQRT,
    TAPER_GPU_STEP_ABS,
    TAPER_GPU_STEP_NEG,
    TAPER_GPU_STEP_RECIPROCAL,
    TAPER_GPU_STEP_SIN,
    TAPER_GPU_STEP_COS,
    TAPER_GPU_STEP_FLOOR,
    TAPER_GPU_STEP_CEIL,
    TAPER_GPU_STEP_ERF,
    TAPER_GPU_STEP_PRELU,      // slope s
    TAPER_GPU_STEP_HARDSHRINK, // low
    TAPER_GPU_STEP_THRESHOLD,  // low, high
    TAPER_GPU_STEP_SQUARE,
    TAPER_GPU_STEP_MISH,
    TAPER_GPU_STEP_SOFTPLUS, // beta low, threshold high
    // Truths are the numbers 1 and 0; whatever is not 0 is true.
    TAPER_GPU_STEP_EQ, // v and s
    TAPER_GPU_STEP_NE,
    TAPER_GPU_STEP_LT,
    TAPER_GPU_STEP_LE,
    TAPER_GPU_STEP_GT,
    TAPER_GPU_STEP_GE,
    TAPER_GPU_STEP_AND,
    TAPER_GPU_STEP_OR,
    TAPER_GPU_STEP_XOR,
    TAPER_GPU_STEP_NOT,
    TAPER_GPU_STEP_ISNAN,
    TAPER_GPU_STEP_MASK,   // high where s is true
    TAPER_GPU_STEP_UNMASK, // high where it is not
    TAPER_GPU_STEP_CHOOSE, // low where v is true, else high
    TAPER_GPU_STEP_SELECT, // E where v is true, else F
    TAPER_GPU_STEP_SIGN,
    TAPER_GPU_STEP_TRUNC,
    TAPER_GPU_STEP_ROUND,    // halves to the even one
    TAPER_GPU_STEP_QUANTIZE, // so rounded, plus low, from high to 255
    // Of the kernel that has nothing but steps.
    TAPER_GPU_STEP_POWER,        // v to the s
    TAPER_GPU_STEP_POWER_INTO,   // s to the v
    TAPER_GPU_STEP_REMAINDER,    // of v / s, with the sign of s
    TAPER_GPU_STEP_FMOD,         // the same, of v
    TAPER_GPU_STEP_FLOOR_DIVIDE, // of v by s
    TAPER_GPU_STEP_LOG2,
    TAPER_GPU_STEP_LOG1P,
    TAPER_GPU_STEP_EXPM1,
    // Of operators only: what becomes one of those above.
    TAPER_GPU_STEP_RELU,
    TAPER_GPU_STEP_SUB,
    TAPER_GPU_STEP_RSUB,
    TAPER_GPU_STEP_ADD_RELU,
    TAPER_GPU_STEP_POW,
    TAPER_GPU_STEP_IDENTITY
} taper_gpu_step;

enum {
    TAPER_GPU_FROM_NUMBER = 0,
    TAPER_GPU_FROM_E = 1,
    TAPER_GPU_FROM_F = 2,
    TAPER_GPU_SPLAT = 0x400,
    TAPER_GPU_SPLAT_F = 0x800 // of SELECT: that of F
};

static inline bool taper_gpu_step_is_truth(uint32_t step)
{
    return step >= TAPER_GPU_STEP_EQ && step <= TAPER_GPU_STEP_ISNAN;
}

// Those that every kernel does; shaders/common.glsl has the same ones.
static inline bool taper_gpu_step_is_plain(uint32_t step)
{
    return step <= TAPER_GPU_STEP_MUL || step == TAPER_GPU_STEP_HARDSWISH || step == TAPER_GPU_STEP_HARDSIGMOID ||
           step == TAPER_GPU_STEP_LEAKY_RELU || step == TAPER_GPU_STEP_PRELU || step == TAPER_GPU_STEP_QUANTIZE;
}

// Those that the kernel of steps alone does.
static inline bool taper_gpu_step_is_rare(uint32_t step)
{
    return step >= TAPER_GPU_STEP_POWER && step <= TAPER_GPU_STEP_EXPM1;
}

enum { TAPER_GPU_FEW_STEPS = 4 };

typedef struct taper_gpu_chain {
    uint32_t count;
    uint32_t codes[TAPER_GPU_STEPS]; // step | FROM << 8 | SPLAT
    float low[TAPER_GPU_STEPS], high[TAPER_GPU_STEPS];
    uint32_t operand_count, most_operands; // E, then F
    uint32_t most;                         // steps that the kernel does; 0: all
    bool only_plain;                       // of these only the cheap ones
    bool all;                              // also those that only the kernel of steps has
    taper_gpu_view operands[2];            // broadcast to the result's sizes
} taper_gpu_chain;

// Whether all of them are plain.
static inline bool taper_gpu_chain_is_plain(const taper_gpu_chain *chain)
{
    bool plain = true;
    for (uint32_t i = 0; i < chain->count; i++) {
        plain = plain && taper_gpu_step_is_plain(chain->codes[i] & 255);
    }
    return plain;
}

#endif
