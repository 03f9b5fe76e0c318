// SPDX-License-Identifier: BSD-2-Clause
// A program: a graph made flat for the interpreter. Instructions work on registers, one per value of the graph; an
// operand says whether it is a constant and whether the instruction is the last to look at it, in which case the
// register is emptied, so that a tensor's memory is free as early as possible.
#ifndef TAPER_RUNTIME_PROGRAM_H
#define TAPER_RUNTIME_PROGRAM_H

#include "ir/graph.h"
#include "ops/call/call.h"

typedef enum taper_opcode {
    TAPER_DO_OP,           // op
    TAPER_DO_SEGMENT,      // done: target, declined: goes on with the plain nodes behind it
    TAPER_DO_SEGMENT_DONE, // its plain nodes are done: the backend is told how long they took
    TAPER_DO_MOVE,         // in[i] -> out[i], all at once
    TAPER_DO_JUMP,         // target
    TAPER_DO_BRANCH,       // in[0] false: target
    TAPER_DO_LOOP_BEGIN,   // out[0] := 0 (the trip counter)
    TAPER_DO_LOOP_TEST,    // in: most trips, condition, counter; ends: target; else out[0] := counter++
    TAPER_DO_CLEAR,        // in[i] are emptied
    TAPER_DO_RETURN,       // in[0]
    TAPER_DO_NODE          // the other node kinds: node
} taper_opcode;

#define TAPER_OPERAND_CONSTANT 0x80000000u
#define TAPER_OPERAND_LAST 0x40000000u
// and TAPER_OPERAND_FIXED
#define TAPER_OPERAND_INDEX 0x1fffffffu

typedef struct taper_instruction {
    uint8_t opcode; // taper_opcode
    uint8_t kind;   // of TAPER_DO_NODE: taper_node_kind
    uint32_t in_count, out_count;
    uint32_t in, out; // first operand in program->operands
    uint32_t target;  // instruction
    uint32_t state;   // number of the operator's state slot
    const taper_op *op;
    const taper_schema *schema;
    taper_kernel kernel; // the backend's, or the row's
    const struct taper_segment *segment;
    const taper_node *node; // what it came from
} taper_instruction;

typedef struct taper_program {
    const taper_allocator *allocator;
    taper_graph *graph; // owned: nodes are referred to
    taper_instruction *code;
    size_t code_count, code_capacity;
    uint32_t *operands;
    size_t operand_count, operand_capacity;
    size_t register_count, param_count;
    size_t scratch_count;  // most operands of one instruction
    size_t first_constant; // number in the model's table of constants of the program's first one
    size_t constant_count;
    size_t first_state, state_count;
} taper_program;

// Chooses the kernel of a single operator; NULL: the row's own.
typedef taper_kernel (*taper_kernel_chooser)(const taper_op *op, const void *user);

// Flattens graph, which is then owned by the program. constants and states are counted from where the model's tables
// stand; the program's constants are its graph's, in the order of taper_program_constants.
TAPER_MUST_USE taper_status taper_program_build(taper_graph *graph, taper_kernel_chooser choose, const void *user,
                                                size_t first_constant, size_t first_state, taper_program *program,
                                                taper_error *error);
void taper_program_free(taper_program *program);
// Whether calls with inputs of the same sizes, and the same numbers among them, run the same instructions: nothing that
// decides where to go on, or how large a tensor is, depends on elements of tensors or on what an earlier call left.
bool taper_program_repeats(const taper_program *program);
// Calls visit for every constant in order (borrowed).
void taper_program_constants(const taper_program *program, void (*visit)(void *user, taper_val value), void *user);

#endif
