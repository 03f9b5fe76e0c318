// SPDX-License-Identifier: BSD-2-Clause
// The program in memory. A function is a graph of nodes in nested blocks, in static single assignment form. The order
// of the nodes in a block is the order of their effects. prim::If has two blocks without parameters. prim::Loop has one
// block. The parameters of that block are the number of the iteration and the carried values; its results are the next
// condition and the carried values.
//
// The arena of a graph owns everything in the graph: a node that a pass unlinks is freed only with the graph. Constants
// hold references.
#ifndef TAPER_IR_GRAPH_H
#define TAPER_IR_GRAPH_H

#include "base/arena.h"
#include "ir/value.h"

typedef enum taper_node_kind {
    TAPER_NODE_CONSTANT, // no inputs; member `constant` is the value
    TAPER_NODE_OP, // members `op` and `schema`; inputs: all arguments of the schema, or any number for a vararg schema
    TAPER_NODE_IF, // inputs: condition
    TAPER_NODE_LOOP,     // inputs: maximum number of iterations, condition, carried values
    TAPER_NODE_GET_ATTR, // inputs: object; member `own.slot` is the attribute
    TAPER_NODE_SET_ATTR, // inputs: object, value; member `own.slot` is the attribute
    TAPER_NODE_LIST,     // inputs: items; member `type` is the list's type
    TAPER_NODE_TUPLE,    // inputs: items; member `type` is a named tuple's type, otherwise NULL
    TAPER_NODE_DICT,     // inputs: key, value, key, value …; member `type` is the dict's type
    TAPER_NODE_OBJECT,   // no inputs; member `type` is the class of the new object
    TAPER_NODE_LIST_UNPACK,
    TAPER_NODE_TUPLE_UNPACK,
    TAPER_NODE_TUPLE_SLICE, // inputs: tuple; member `own.slice` is the range
    TAPER_NODE_ISINSTANCE,  // inputs: value; member `types` lists the types to test
    TAPER_NODE_CALL,        // inputs: object, arguments…; member `name` is the method
    // Inputs: the values that block 1 takes from outside. Either a backend runs the whole node (member `segment`:
    // ops/backend.h; member `name`: name of the segment), or the original nodes in block 1 run and give the node's
    // results. Block 0 is empty. If a third block exists, it can run instead of block 1: it computes the same results,
    // with a part of the nodes on another backend.
    TAPER_NODE_SEGMENT,
    TAPER_NODE_KIND_COUNT
} taper_node_kind;

typedef struct taper_node taper_node;
typedef struct taper_block taper_block;
typedef struct taper_graph taper_graph;

typedef struct taper_value_use {
    taper_node *user; // node that uses the value; NULL if it is a result of a block
    taper_block *block;
    uint32_t index; // index among the inputs of the user, or among the results of the block
    struct taper_value_use *next, *previous;
} taper_value_use;

typedef struct taper_ir_value {
    taper_node *node;   // node that defines the value; NULL for a parameter of a block
    taper_block *block; // block in which the value is defined
    uint32_t index;     // index among the outputs or parameters
    uint32_t id;        // number of the value, unique in the graph
    taper_value_use *uses;
    const taper_type *type; // type in the model's table of types; NULL if unknown
    uint32_t reg;           // number of the register, set by runtime/program.c or compiler/emit_bytecode.c
} taper_ir_value;

typedef struct taper_ir_input {
    taper_ir_value *value;
    taper_value_use use;
    bool last; // true if nothing reads the value after this use; set by taper_liveness
} taper_ir_input;

// Members that only nodes of one kind have. All are zero at first.
typedef union taper_node_own {
    int64_t slot; // GET_ATTR, SET_ATTR: slot of the attribute in its class
    struct {
        int64_t begin, end; // index of the result's first item, and index after its last item
    } slice;                // for TUPLE_SLICE
    struct {
        // True for a list that all users only read, so that operators on it may be folded.
        bool frozen;
        // True for a list of tensors that no graph changes and all users only read (compiler/constant_lists.c).
        bool held;
        // True if the host may write to the tensors between runs; results computed from them are then not constant.
        bool attribute;
    } constant; // for CONSTANT
    struct {
        // Numbers of the registers for the iteration count and the condition, set by runtime/program.c.
        uint32_t counter, condition;
    } loop;                  // for LOOP
    size_t arguments_before; // LIST in a segment: number of the segment's arguments that nodes before the list take
    // CALL, while it is lowered: 1 + the index of the body to inline, or 0 if no body is inlined
    size_t prepared;
    bool all_constant; // TUPLE, while it is lowered: true if all items are constants
    struct {
        bool made_here; // true for a dequantize node that the quantization has inserted
        uint32_t value; // number of the value whose scale and zero point the node's input has
    } quantized;        // for OP, while its graph is quantized
    uint64_t words[2];  // all members above as words, for comparing two nodes
} taper_node_own;

struct taper_node {
    uint8_t kind; // a taper_node_kind
    uint32_t input_count, output_count, block_count, type_count;
    taper_ir_input *inputs;
    taper_ir_value *outputs;
    taper_block *blocks[3];
    taper_block *block; // block that contains the node
    taper_node *previous, *next;
    const struct taper_op *op; // operator, ops/call/call.h
    const char *op_name;       // text of the operator's schema, for code without the definition of taper_schema
    const struct taper_schema *schema;
    const struct taper_segment *segment;
    // Reason why the model's device declined the node, so that the CPU runs it (a static text). NULL if the device
    // accepted the node or was not asked.
    const char *why;
    const taper_type *type;
    const taper_type *const *types;
    const char *name;
    taper_val constant;
    taper_node_own own;
    int32_t debug;        // debug handle in the file's debug map, or -1 if it has none
    uint32_t instruction; // index of the instruction in the file's function, for messages
};

struct taper_block {
    taper_graph *graph;
    taper_node *parent; // node that contains the block; NULL for the body of the function
    taper_ir_value *params;
    taper_ir_input *results;
    uint32_t param_count, result_count;
    taper_node *first, *last;
    // Registers to clear when the block is entered, or after the loop for the body of a loop; set by taper_liveness.
    uint32_t *clears;
    uint32_t clear_count;
};

struct taper_graph {
    taper_arena arena;
    const char *name; // qualified name, such as "__torch__.Net.forward"
    taper_block *body;
    uint32_t value_count, node_count;
    struct taper_constant_ref *constant_refs;
};

TAPER_MUST_USE taper_status taper_graph_create(const taper_allocator *allocator, const char *name, size_t params,
                                               taper_graph **graph, taper_error *error);
void taper_graph_destroy(taper_graph *graph);

// Returns the heap of the objects among the constants, or NULL if no constant is an object.
taper_heap *taper_graph_heap(const taper_graph *graph);

// Creates a node that is not in a block. The caller sets its inputs with taper_node_set_input.
TAPER_MUST_USE taper_status taper_node_create(taper_graph *graph, taper_node_kind kind, size_t inputs, size_t outputs,
                                              taper_node **node, taper_error *error);
// Creates a CONSTANT. Takes over the reference to the value, even if it fails.
TAPER_MUST_USE taper_status taper_node_constant(taper_graph *graph, taper_val value, taper_node **node,
                                                taper_error *error);
TAPER_MUST_USE taper_status taper_block_create(taper_graph *graph, taper_node *parent, size_t params,
                                               taper_block **block, taper_error *error);
TAPER_MUST_USE taper_status taper_block_set_results(taper_block *block, taper_ir_value *const *values, size_t count,
                                                    taper_error *error);

void taper_node_append(taper_block *block, taper_node *node);
void taper_node_insert_before(taper_node *node, taper_node *before);
// Unlinks the node, and removes its uses of values and the uses by nodes in its blocks. Its outputs must have no users.
void taper_node_remove(taper_node *node);
void taper_node_set_input(taper_node *node, size_t index, taper_ir_value *value); // `value` may be NULL
void taper_value_replace_uses(taper_ir_value *old, taper_ir_value *with);
// Moves the node to the end of a block, which may be the block that contains the node.
void taper_node_move(taper_node *node, taper_block *block);
// Moves the node to directly after the node `after`.
void taper_node_move_after(taper_node *node, taper_node *after);
// Moves every node of the block to directly before the node `before`.
void taper_block_inline_before(taper_block *block, taper_node *before);

static inline taper_ir_value *taper_node_in(const taper_node *node, size_t index)
{
    return node->inputs[index].value;
}
static inline taper_block *taper_node_last_block(const taper_node *node)
{
    return node->blocks[node->block_count - 1];
}
static inline bool taper_value_used_once(const taper_ir_value *value)
{
    return value->uses != NULL && value->uses->next == NULL;
}
// Returns the CONSTANT node that defines the value, or NULL if the value is not a constant.
static inline const taper_node *taper_value_constant(const taper_ir_value *value)
{
    return value->node != NULL && value->node->kind == TAPER_NODE_CONSTANT ? value->node : NULL;
}

// Fails unless every value is defined before it is used, in the same block or in an enclosing block, and each node has
// the numbers of inputs, outputs and blocks that its kind requires.
TAPER_MUST_USE taper_status taper_graph_verify(const taper_graph *graph, taper_error *error);
// Prints the graph for people: values are shown with their ids, and long constants are shortened.
void taper_graph_print(const taper_graph *graph, taper_text *text);
// Prints the graph for tests: values are numbered in order, and constants are complete (tensors up to 64 elements). A
// constant object that several nodes share is printed once, on its own line.
void taper_graph_print_exact(const taper_graph *graph, taper_text *text);
const char *taper_node_kind_name(taper_node_kind kind);

#endif
