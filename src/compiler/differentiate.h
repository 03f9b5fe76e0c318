// SPDX-License-Identifier: BSD-2-Clause
// Gradients that are computed ahead of time: aten::grad over a block without branches becomes nodes of the graph.
// differentiate.c is the pass. differentiate_paths.c examines the nodes between the inputs and the outputs of a
// request, and differentiate_writes.c the writes among them. differentiate_nodes.c makes the nodes, with the formulas
// of differentiate_formulas.c.
#ifndef TAPER_COMPILER_DIFFERENTIATE_H
#define TAPER_COMPILER_DIFFERENTIATE_H

#include "compiler/pass.h"
#include "ir/alias.h"
#include "ops/gradient/gradient.h"

// Facts about values, as bits. A list has the facts NEEDS and WANTED of its items.
enum {
    TAPER_AHEAD_REACHED = 1, // an output of the request depends on the value
    TAPER_AHEAD_NEEDS = 2,   // the value needs a gradient, because it was computed from a leaf
    TAPER_AHEAD_WANTED = 4,  // the value is an input of the request, or was computed from one
    TAPER_AHEAD_ASKED = 8,   // the value is an input of the request
    TAPER_AHEAD_USED = 16,   // an operator with a derivative has used the value before the value needed a gradient
    TAPER_AHEAD_OVERWRITTEN =
        32,                // an in-place operator has written to the value; later users take the operator's result
    TAPER_AHEAD_SEEN = 64, // the value's node comes before the node that is examined
    TAPER_AHEAD_OWNED =
        128,               // a later sum may be written to the value's gradient, because only later sums read it so far
    TAPER_AHEAD_HELD = 256 // a container or an attribute holds the value
};

enum {
    TAPER_AHEAD_OTHERS = 32, // largest number of tensors that might be the same object as an input
    TAPER_AHEAD_MOST = 1024  // largest number of items of a list on the way from the inputs to the outputs
};

// A request for gradients, and what is known about it.
typedef struct taper_ahead {
    taper_compilation *compilation;
    taper_arena *arena; // arena for the arrays below
    taper_node *ask;    // the call of aten::grad
    taper_block *block; // block that contains the call `ask`
    const taper_node *outputs, *inputs;
    const taper_node *grads_given; // list of given gradients, or NULL if none are given
    bool allows_unused;            // the argument allow_unused
    const char *why;               // reason why the request remains a call; NULL if it is replaced
    size_t value_count; // number of entries in `facts`, `grads` and `shapes`; values made later have larger numbers
    uint16_t *facts;    // TAPER_AHEAD_ bits by number of the value
    taper_aliases *aliases;
    bool *written;         // by alias set: true if a node writes to a tensor of the set after the first leaf
    bool started, escaped; // true after the first leaf; true after a container has taken a value that needs a gradient
    bool composes;         // true if some operator must first be replaced by its composition
    taper_ir_value *others[TAPER_AHEAD_OTHERS]; // tensors from outside that operators with derivatives use
    size_t other_count;
    taper_ir_value **grads;  // for each number of a value: the value's gradient so far, or NULL if it has none yet
    taper_ir_value **shapes; // for each number of a value: a value with its sizes and dtype, or NULL if none was made
    taper_node *before;      // the node before all nodes that are made, a constant that nothing uses
    taper_ir_value *made;    // the list of the gradients
} taper_ahead;

// Returns the facts about a value. A value that was made for the request has no facts.
static inline unsigned taper_ahead_facts(const taper_ahead *a, const taper_ir_value *value)
{
    return value->id < a->value_count ? a->facts[value->id] : 0;
}
static inline bool taper_ahead_has(const taper_ahead *a, const taper_ir_value *value, unsigned fact)
{
    return (taper_ahead_facts(a, value) & fact) != 0;
}
static inline void taper_ahead_mark(const taper_ahead *a, const taper_ir_value *value, unsigned fact)
{
    if (value->id < a->value_count) {
        a->facts[value->id] |= (uint16_t)fact;
    }
}
// Notes the first reason why the request remains a call.
static inline void taper_ahead_decline(taper_ahead *a, const char *why)
{
    a->why = a->why != NULL ? a->why : why;
}
// Reads the flag in argument `index`; None stands for `otherwise`. Returns false if the argument is not constant.
bool taper_ahead_read_flag(const taper_node *node, size_t index, bool otherwise, bool *flag);
// Reads the flags create_graph and retain_graph of a request. Returns false if the flags are not constant.
bool taper_ahead_read_flags(const taper_node *ask, bool *creates, bool *keeps);
// Returns the tensor that the value stands for: follows the value back through operators that return their argument
// (requires_grad_ and unwrapping).
taper_ir_value *taper_ahead_root(taper_ir_value *value);
bool taper_ahead_returns_argument(const taper_node *node); // true for the operators that taper_ahead_root follows
// Returns true if the operator may return an argument itself, as contiguous does.
bool taper_ahead_may_be_argument(const taper_node *node);
// Returns true if a result of the node has the fact, one of the bits TAPER_AHEAD_.
bool taper_ahead_any_output(const taper_ahead *a, const taper_node *node, unsigned fact);
// Returns, as bits, the arguments of the node that have the fact (a bit TAPER_AHEAD_), except arguments for which the
// operator has no gradient.
uint32_t taper_ahead_wanted(const taper_ahead *a, const taper_node *node, unsigned fact);
// Returns the list whose items are the results of the node, or NULL if its results are no list.
const taper_ir_value *taper_ahead_result_list(const taper_node *node);

// Returns true if the node, or a node in its blocks, writes to a tensor.
bool taper_ahead_writes_tensor(const taper_node *node);
// Returns true if the operator writes to a list or a dict.
bool taper_ahead_writes_container(const taper_node *node);
// Notes which tensors the node, or a node in its blocks, writes to.
void taper_ahead_note_writes(const taper_ahead *a, const taper_node *node);
// The node may write to a tensor that an operator of the block has made, and that only earlier readers and later users
// use. If so, the later users get the node's result instead of that tensor. Returns false for any other write.
bool taper_ahead_separate(const taper_ahead *a, taper_node *node);

// Finds which nodes the gradients go through, and declines a request for which the nodes would not give PyTorch's
// results or errors (differentiate_paths.c).
TAPER_MUST_USE taper_status taper_ahead_find_paths(taper_ahead *a);
// Makes the nodes before the request, and sets a->made and a->before (differentiate_nodes.c).
TAPER_MUST_USE taper_status taper_ahead_make_nodes(taper_ahead *a);
// Replaces a call of an operator by its composition. Declines the request if there is no composition for these
// arguments.
TAPER_MUST_USE taper_status taper_ahead_compose(taper_ahead *a, taper_node *node);

#endif
