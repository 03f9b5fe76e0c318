// SPDX-License-Identifier: BSD-2-Clause
// A program: a graph in a flat form for the interpreter. Instructions work on registers, one for each value of the
// graph. An operand says whether it is a constant and whether this instruction is its last use. The last use empties
// the register, which frees a tensor's memory as early as possible.
#ifndef TAPER_RUNTIME_PROGRAM_H
#define TAPER_RUNTIME_PROGRAM_H

#include "ir/graph.h"
#include "ops/call/call.h"

typedef enum taper_opcode {
    TAPER_DO_OP,           // runs op
    TAPER_DO_SEGMENT,      // if done, continues at target; if declined, with the plain nodes that follow
    TAPER_DO_SEGMENT_DONE, // the plain nodes are done: tells the backend how long they took
    TAPER_DO_MOVE,         // in[i] -> out[i], all at once
    TAPER_DO_JUMP,         // continues at target
    TAPER_DO_BRANCH,       // continues at target if in[0] is false
    TAPER_DO_LOOP_BEGIN,   // out[0] := 0 (the trip counter)
    // in: most trips, condition, counter. At the end of the loop it continues at target, otherwise out[0] := counter++.
    TAPER_DO_LOOP_TEST,
    TAPER_DO_CLEAR,  // empties in[i]
    TAPER_DO_RETURN, // returns in[0]
    TAPER_DO_NODE    // runs `node`, of another kind
} taper_opcode;

#define TAPER_OPERAND_CONSTANT 0x80000000u
#define TAPER_OPERAND_LAST 0x40000000u
// TAPER_OPERAND_FIXED is another bit.
#define TAPER_OPERAND_INDEX 0x1fffffffu

typedef struct taper_instruction {
    uint8_t opcode; // taper_opcode
    uint8_t kind;   // taper_node_kind, for TAPER_DO_NODE
    uint32_t in_count, out_count;
    uint32_t in, out; // numbers of the first operands in program->operands
    uint32_t target;  // number of an instruction
    uint32_t state;   // number of the operator's state
    const taper_op *op;
    const taper_schema *schema;
    taper_kernel kernel; // the backend's or the row's
    const struct taper_segment *segment;
    const taper_node *node; // node that the instruction was made from
} taper_instruction;

typedef struct taper_program {
    const taper_allocator *allocator;
    taper_graph *graph; // owned, because instructions point to its nodes
    taper_instruction *code;
    size_t code_count, code_capacity;
    uint32_t *operands;
    size_t operand_count, operand_capacity;
    size_t register_count, param_count;
    size_t scratch_count;  // most operands of one instruction
    size_t first_constant; // number of the program's first constant in the model's table
    size_t constant_count;
    size_t first_state, state_count;
} taper_program;

// Returns the kernel for a single operator, or NULL for the row's own.
typedef taper_kernel (*taper_kernel_chooser)(const taper_op *op, const void *user);

// Flattens a graph. The program then owns the graph. first_constant, first_state: the next free numbers in the model's
// tables. The constants of the program are those of the graph, in the order of taper_program_constants.
TAPER_MUST_USE taper_status taper_program_build(taper_graph *graph, taper_kernel_chooser choose, const void *user,
                                                size_t first_constant, size_t first_state, taper_program *program,
                                                taper_error *error);
void taper_program_free(taper_program *program);
// Returns true if calls with inputs of equal sizes and equal numbers run the same instructions. No branch and no size
// of a tensor may then depend on elements of tensors, or on data that an earlier call left.
bool taper_program_repeats(const taper_program *program);
// Calls visit for every constant in order. The values are borrowed.
void taper_program_constants(const taper_program *program, void (*visit)(void *user, taper_val value), void *user);

#endif
