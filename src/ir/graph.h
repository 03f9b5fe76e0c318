// SPDX-License-Identifier: BSD-2-Clause
// The program in memory: a function is a graph of nodes in nested blocks, in static single assignment form. The order
// of the nodes in a block is the order of effects. prim::If has two blocks without parameters; prim::Loop has one whose
// parameters are the trip number and the carried values and whose results are the next condition and the carried
// values.
//
// Everything of a graph lives in its arena: nodes that a pass unlinks are not freed one by one. Constants hold
// references.
#ifndef TAPER_IR_GRAPH_H
#define TAPER_IR_GRAPH_H

#include "base/arena.h"
#include "ir/value.h"

typedef enum taper_node_kind {
    TAPER_NODE_CONSTANT, // no inputs; constant
    TAPER_NODE_OP,       // op, schema: inputs are the arguments of the schema, all of them unless vararg
    TAPER_NODE_IF,       // condition
    TAPER_NODE_LOOP,     // most trips, condition, carried…
    TAPER_NODE_GET_ATTR, // object; own.slot
    TAPER_NODE_SET_ATTR, // object, value; own.slot
    TAPER_NODE_LIST,     // items; type is the list's type
    TAPER_NODE_TUPLE,    // items; type is a named tuple's type, otherwise NULL
    TAPER_NODE_DICT,     // key, value, key, value …; type is the dict's type
    TAPER_NODE_OBJECT,   // type is the class of the new object
    TAPER_NODE_LIST_UNPACK,
    TAPER_NODE_TUPLE_UNPACK,
    TAPER_NODE_TUPLE_SLICE, // tuple; own.slice
    TAPER_NODE_ISINSTANCE,  // value; types
    TAPER_NODE_CALL,        // object, arguments…: calls the method `name`
    TAPER_NODE_SEGMENT, // what block 1 takes from outside; a backend runs it (segment: ops/backend.h, name: its name)
                        // or the plain nodes of block 1, with the node's results; block 0 is empty. A third block is
                        // run instead of block 1: the same, with what another backend does of it
    TAPER_NODE_KIND_COUNT
} taper_node_kind;

typedef struct taper_node taper_node;
typedef struct taper_block taper_block;
typedef struct taper_graph taper_graph;

typedef struct taper_value_use {
    taper_node *user; // NULL: a result of block
    taper_block *block;
    uint32_t index; // which input (or result)
    struct taper_value_use *next, *previous;
} taper_value_use;

typedef struct taper_ir_value {
    taper_node *node;   // that defines it; NULL: a parameter of block
    taper_block *block; // where it is defined
    uint32_t index;     // which output or parameter
    uint32_t id;        // unique in the graph
    taper_value_use *uses;
    const taper_type *type; // in the model's table of types; NULL: not known
    uint32_t reg;           // for the planner
} taper_ir_value;

typedef struct taper_ir_input {
    taper_ir_value *value;
    taper_value_use use;
    bool last; // for the planner: nobody looks at the value after this
} taper_ir_input;

// What only nodes of one kind have; zero at first.
typedef union taper_node_own {
    int64_t slot; // GET_ATTR, SET_ATTR: which attribute of the class
    struct {
        int64_t begin, end; // of the items that the result has
    } slice;                // TUPLE_SLICE
    struct {
        // A list that its makers only look at: safe to fold.
        bool frozen;
        // A list of tensors: no graph puts others into it, and who is given it looks at it alone
        // (compiler/constant_lists.c).
        bool held;
        // The host may write to its tensors between runs, so what is computed of them is not constant.
        bool attribute;
    } constant; // CONSTANT
    struct {
        uint32_t counter, condition; // registers, given by the planner
    } loop;                          // LOOP
    size_t arguments_before;         // LIST in a segment: arguments of the segment that nodes before it take
    size_t prepared;                 // CALL while it is lowered: one more than the index of the body to inline, 0: none
    bool all_constant;               // TUPLE while it is lowered: its items are known to be constants
    struct {
        bool made_here; // a dequantize that this pass has made
        uint32_t value; // whose parameters its input has
    } quantized;        // OP while its graph is quantized
    uint64_t words[2];  // all of these, for comparing
} taper_node_own;

struct taper_node {
    uint8_t kind; // taper_node_kind
    uint32_t input_count, output_count, block_count, type_count;
    taper_ir_input *inputs;
    taper_ir_value *outputs;
    taper_block *blocks[3];
    taper_block *block; // it stands in
    taper_node *previous, *next;
    const struct taper_op *op; // ops/call/call.h
    const char *op_name;       // its schema's text, as nothing here knows what a schema is
    const struct taper_schema *schema;
    const struct taper_segment *segment;
    const char *why; // the model's device leaves it to the CPU, a static text; NULL: it does not, or nobody asked
    const taper_type *type;
    const taper_type *const *types;
    const char *name;
    taper_val constant;
    taper_node_own own;
    int32_t debug;        // handle of the file's debug map, -1: none
    uint32_t instruction; // offset in the file's function, for messages
};

struct taper_block {
    taper_graph *graph;
    taper_node *parent; // NULL: the function's body
    taper_ir_value *params;
    taper_ir_input *results;
    uint32_t param_count, result_count;
    taper_node *first, *last;
    uint32_t *clears; // for the planner: registers to clear on entry
    uint32_t clear_count;
};

struct taper_graph {
    taper_arena arena;
    const char *name; // "__torch__.Net.forward"
    taper_block *body;
    uint32_t value_count, node_count;
    struct taper_constant_ref *constant_refs;
};

TAPER_MUST_USE taper_status taper_graph_create(const taper_allocator *allocator, const char *name, size_t params,
                                               taper_graph **graph, taper_error *error);
void taper_graph_destroy(taper_graph *graph);

// Of the constant objects; NULL: there are none.
taper_heap *taper_graph_heap(const taper_graph *graph);

// A node that is not linked into a block yet. Inputs are set with taper_node_set_input.
TAPER_MUST_USE taper_status taper_node_create(taper_graph *graph, taper_node_kind kind, size_t inputs, size_t outputs,
                                              taper_node **node, taper_error *error);
// A CONSTANT; takes over the reference (released on failure too).
TAPER_MUST_USE taper_status taper_node_constant(taper_graph *graph, taper_val value, taper_node **node,
                                                taper_error *error);
TAPER_MUST_USE taper_status taper_block_create(taper_graph *graph, taper_node *parent, size_t params,
                                               taper_block **block, taper_error *error);
TAPER_MUST_USE taper_status taper_block_set_results(taper_block *block, taper_ir_value *const *values, size_t count,
                                                    taper_error *error);

void taper_node_append(taper_block *block, taper_node *node);
void taper_node_insert_before(taper_node *node, taper_node *before);
// Unlinks it and drops its uses; its outputs must have no users left. Its blocks' uses go too.
void taper_node_remove(taper_node *node);
void taper_node_set_input(taper_node *node, size_t index, taper_ir_value *value); // value NULL: none
void taper_value_replace_uses(taper_ir_value *old, taper_ir_value *with);
// Moves node to the end of another block (or of its own).
void taper_node_move(taper_node *node, taper_block *block);
// Moves node behind another.
void taper_node_move_after(taper_node *node, taper_node *after);
// Moves every node of block before `before`.
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
static inline const taper_node *taper_value_constant(const taper_ir_value *value) // NULL: not a constant
{
    return value->node != NULL && value->node->kind == TAPER_NODE_CONSTANT ? value->node : NULL;
}

// Every value is defined before it is used, in the same or an enclosing block; counts fit the kinds.
TAPER_MUST_USE taper_status taper_graph_verify(const taper_graph *graph, taper_error *error);
// For people: values by their ids, long constants cut short.
void taper_graph_print(const taper_graph *graph, taper_text *text);
// For tests: values numbered in order, constants whole (tensors up to 64 elements), and on a line of their own when
// they are objects that several nodes share.
void taper_graph_print_exact(const taper_graph *graph, taper_text *text);
const char *taper_node_kind_name(taper_node_kind kind);

#endif
