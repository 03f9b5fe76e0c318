// SPDX-License-Identifier: BSD-2-Clause
// A program: a graph in a flat form for the interpreter. Instructions work on registers, one for each value of the
// graph. An operand states whether it is a constant, and whether this instruction is the last use of the value. The
// last use empties the register, so that a tensor's memory is freed as early as possible.
#ifndef TAPER_RUNTIME_PROGRAM_H
#define TAPER_RUNTIME_PROGRAM_H

#include "ir/graph.h"
#include "ops/call/call.h"

typedef enum taper_opcode {
    TAPER_DO_OP, // runs the operator of the instruction
    // Offers the call to a backend; if the backend runs the call, continues at `target`, otherwise with the original
    // nodes that follow.
    TAPER_DO_SEGMENT,
    TAPER_DO_SEGMENT_DONE, // after the original nodes: tells the backend how long they took
    TAPER_DO_MOVE,         // copies in[i] to out[i], all at the same time
    TAPER_DO_JUMP,         // continues at instruction `target`
    TAPER_DO_BRANCH,       // continues at `target` if in[0] is false
    TAPER_DO_LOOP_BEGIN,   // sets the loop counter out[0] to 0
    // in: maximum number of iterations, condition, counter. If another iteration runs, sets out[0] to the counter and
    // increments the counter. Otherwise continues at instruction `target`.
    TAPER_DO_LOOP_TEST,
    TAPER_DO_CLEAR,  // empties the registers in[i]
    TAPER_DO_RETURN, // returns in[0] from the function
    TAPER_DO_NODE    // runs `node`, which is neither an operator nor a call
} taper_opcode;

#define TAPER_OPERAND_CONSTANT 0x80000000u
// Bits of an operand that are an index. TAPER_OPERAND_FIXED and TAPER_OPERAND_LAST are separate bits (ops/call/call.h).
#define TAPER_OPERAND_INDEX 0x1fffffffu

typedef struct taper_instruction {
    uint8_t opcode; // a taper_opcode
    uint8_t kind;   // a taper_node_kind, for TAPER_DO_NODE
    uint32_t in_count, out_count;
    uint32_t in, out; // indices of the first input and output in program->operands
    uint32_t target;  // index of an instruction
    uint32_t state;   // index of the operator's state in the session
    const taper_op *op;
    const taper_schema *schema;
    taper_kernel kernel; // kernel of the backend, or the operator's own kernel
    const struct taper_segment *segment;
    const taper_node *node; // node from which the instruction was made
} taper_instruction;

typedef struct taper_program {
    const taper_allocator *allocator;
    taper_graph *graph; // graph, which the program owns because instructions point to its nodes
    taper_instruction *code;
    size_t code_count, code_capacity;
    uint32_t *operands;
    size_t operand_count, operand_capacity;
    size_t register_count, param_count;
    size_t scratch_count;  // largest number of operands of one instruction
    size_t first_constant; // index of the program's first constant in the model's table
    size_t constant_count;
    size_t first_state, state_count;
} taper_program;

// Returns a backend's kernel for a single operator, or NULL if the operator's own kernel should be used.
typedef taper_kernel (*taper_kernel_chooser)(const taper_op *op, const void *user);

// Converts a graph to a program, which then owns the graph. first_constant, first_state: next free indices in the
// model's tables. The program has the constants of the graph, in the order of taper_program_constants.
TAPER_MUST_USE taper_status taper_program_build(taper_graph *graph, taper_kernel_chooser choose, const void *user,
                                                size_t first_constant, size_t first_state, taper_program *program,
                                                taper_error *error);
void taper_program_free(taper_program *program);
// Returns true if all calls with inputs of equal sizes and equal numbers run the same instructions. This requires that
// no branch and no size of a tensor depends on elements of tensors, or on data from an earlier call.
bool taper_program_repeats(const taper_program *program);
// Calls `visit` for every constant of the program, in order. The values are borrowed.
void taper_program_constants(const taper_program *program, void (*visit)(void *user, taper_val value), void *user);

#endif
