// SPDX-License-Identifier: BSD-2-Clause
// Steps of a kernel: operations on a vector before the vector is stored (step_with in shaders/common.glsl).
#ifndef TAPER_BACKENDS_GPU_STEPS_H
#define TAPER_BACKENDS_GPU_STEPS_H

#include "backends/gpu/gpu_view.h"

enum { TAPER_GPU_STEPS = 8 };

// Operations of the steps. v is the vector; s is the other operand, or the number `low`.
typedef enum taper_gpu_step {
    TAPER_GPU_STEP_NONE,
    TAPER_GPU_STEP_CLAMP,     // clamps v to [low, high]
    TAPER_GPU_STEP_ADD,       // v = v + s * high
    TAPER_GPU_STEP_SUB_FROM,  // v = s - v * high
    TAPER_GPU_STEP_MUL,       // v = v * s
    TAPER_GPU_STEP_DIV,       // v = v / s
    TAPER_GPU_STEP_DIV_INTO,  // v = s / v
    TAPER_GPU_STEP_MAX,       //
    TAPER_GPU_STEP_MIN,       //
    TAPER_GPU_STEP_HARDSWISH, //
    TAPER_GPU_STEP_HARDSIGMOID,
    TAPER_GPU_STEP_SIGMOID,
    TAPER_GPU_STEP_SILU,
    TAPER_GPU_STEP_TANH,
    TAPER_GPU_STEP_GELU,
    TAPER_GPU_STEP_GELU_TANH,
    TAPER_GPU_STEP_LEAKY_RELU, // leaky relu with slope `low`
    TAPER_GPU_STEP_ELU,        // elu with alpha `low`
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
    TAPER_GPU_STEP_PRELU,      // prelu with slope s
    TAPER_GPU_STEP_HARDSHRINK, // hardshrink with lambda `low`
    TAPER_GPU_STEP_THRESHOLD,  // threshold with threshold `low` and value `high`
    TAPER_GPU_STEP_SQUARE,
    TAPER_GPU_STEP_MISH,
    TAPER_GPU_STEP_SOFTPLUS, // softplus with beta `low` and threshold `high`
    // Truth values are the numbers 1 and 0. Every number except 0 is true.
    TAPER_GPU_STEP_EQ, // v = v == s
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
    TAPER_GPU_STEP_MASK,   // v = high if s is true
    TAPER_GPU_STEP_UNMASK, // v = high if s is false
    TAPER_GPU_STEP_CHOOSE, // v = low if v is true, otherwise high
    TAPER_GPU_STEP_SELECT, // v = operand E if v is true, otherwise operand F
    TAPER_GPU_STEP_SIGN,
    TAPER_GPU_STEP_TRUNC,
    TAPER_GPU_STEP_ROUND,    // rounds to the nearest integer; x.5 becomes the even integer
    TAPER_GPU_STEP_QUANTIZE, // v is rounded (x.5 to the even integer), increased by low, and clamped to [high, 255]
    // The following steps exist only in the element-wise kernel, the one that runs nothing but steps.
    TAPER_GPU_STEP_POWER,        // v = v to the power of s
    TAPER_GPU_STEP_POWER_INTO,   // v = s to the power of v
    TAPER_GPU_STEP_REMAINDER,    // v = remainder of v / s, with the sign of s
    TAPER_GPU_STEP_FMOD,         // v = remainder of v / s, with the sign of v
    TAPER_GPU_STEP_FLOOR_DIVIDE, // v = floor of v / s
    TAPER_GPU_STEP_LOG2,
    TAPER_GPU_STEP_LOG1P,
    TAPER_GPU_STEP_EXPM1,
    // The following steps occur only in the table of operators, and become one of the steps above.
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
    TAPER_GPU_SPLAT_F = 0x800 // the first lane of operand F of SELECT is used for all lanes
};

static inline bool taper_gpu_step_is_truth(uint32_t step)
{
    return step >= TAPER_GPU_STEP_EQ && step <= TAPER_GPU_STEP_ISNAN;
}

// Returns true for the steps that every kernel supports. shaders/common.glsl has the same list.
static inline bool taper_gpu_step_is_plain(uint32_t step)
{
    return step <= TAPER_GPU_STEP_MUL || step == TAPER_GPU_STEP_HARDSWISH || step == TAPER_GPU_STEP_HARDSIGMOID ||
           step == TAPER_GPU_STEP_LEAKY_RELU || step == TAPER_GPU_STEP_PRELU || step == TAPER_GPU_STEP_QUANTIZE;
}

// Returns true for the steps that only the element-wise kernel supports.
static inline bool taper_gpu_step_is_rare(uint32_t step)
{
    return step >= TAPER_GPU_STEP_POWER && step <= TAPER_GPU_STEP_EXPM1;
}

enum { TAPER_GPU_FEW_STEPS = 4 };

typedef struct taper_gpu_chain {
    uint32_t count;
    uint32_t codes[TAPER_GPU_STEPS]; // each entry is a step, a TAPER_GPU_FROM_ number << 8, and TAPER_GPU_SPLAT bits
    float low[TAPER_GPU_STEPS], high[TAPER_GPU_STEPS];
    // Number of operands (E, then F); number of operands that the kernel has bindings for.
    uint32_t operand_count, most_operands;
    uint32_t most;              // largest number of steps in the kernel; 0 for no limit
    bool only_plain;            // true if taper_gpu_step_is_plain must hold for all steps
    bool all;                   // true if the kernel supports the steps of taper_gpu_step_is_rare
    taper_gpu_view operands[2]; // operands E and F, broadcast to the result's sizes
} taper_gpu_chain;

// Returns true if all steps are plain.
static inline bool taper_gpu_chain_is_plain(const taper_gpu_chain *chain)
{
    bool plain = true;
    for (uint32_t i = 0; i < chain->count; i++) {
        plain = plain && taper_gpu_step_is_plain(chain->codes[i] & 255);
    }
    return plain;
}

#endif
