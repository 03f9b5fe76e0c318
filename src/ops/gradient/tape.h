// SPDX-License-Identifier: BSD-2-Clause
// The tape: what a run records so that gradients can be computed. Each call of a differentiable operator whose
// arguments need a gradient adds a node. A node holds the values that the formulas of the operator read, and an edge to
// the node of each argument. Gradients are computed from the results back to the inputs whose gradients are requested
// (backward.c).
//
// A node is an object. It is referred to by the histories of the tensors that it computed (ir/history.h), and by the
// edges of later nodes. A tape of one run lists its nodes, and empties them when the run ends; histories that are left
// then lead to nodes without content. A tape with `keeps` set lists no nodes: its nodes live as long as tensors refer
// to them, so the host can ask for gradients after runs. A run has one thread that calls operators, so a tape needs no
// lock.
#ifndef TAPER_OPS_TAPE_H
#define TAPER_OPS_TAPE_H

#include "ir/history.h"
#include "ops/gradient/gradient.h"

typedef struct taper_tape taper_tape;
typedef struct taper_tape_node taper_tape_node;

enum { TAPER_TAPE_CUT_ARGS = 8 }; // largest number of arguments of an operator that cuts argument 0 into views

typedef enum taper_tape_kind {
    TAPER_TAPE_OP,      // a call of an operator with derivatives
    TAPER_TAPE_UNKNOWN, // a call of an operator without derivatives: a gradient through it is refused
    TAPER_TAPE_LEAF,    // a tensor that was given, and not computed
    TAPER_TAPE_SLICES,  // the node that a view's base gets when the view is written to
    TAPER_TAPE_VIEW     // a view whose base was written to after the view was made
} taper_tape_kind;

typedef struct taper_tape_edge {
    taper_tape_node *node; // reference to the argument's node; NULL if the argument needs no gradient
    uint32_t output;       // index among the results of the node
} taper_tape_edge;

// The place of a tensor in its storage.
typedef struct taper_tape_place {
    int64_t offset;
    uint8_t dtype, rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
} taper_tape_place;

struct taper_tape_node {
    taper_blob_head head;
    taper_heap *heap;                 // heap of the node's memory
    taper_tape *tape;                 // the tape that lists the node; NULL when the tape has ended, or if `keeps` is
                                      // set
    taper_tape_node *previous, *next; // neighbours in the tape's list
    taper_tape_node *work;            // next node of a list that is being freed
    uint64_t number; // number of the node, larger than the numbers of the nodes to which its edges lead; in a tape,
                     // numbers follow the order of creation
    uint8_t kind;    // a taper_tape_kind
    bool cuts;       // true for an operator that returns views of parts of argument 0 (select, slice, split)
    bool freed;      // true after the computation of a gradient has freed the saved values
    bool visited;    // true during a computation if the outputs depend on the node
    bool wanted;     // true during a computation if a wanted gradient depends on this node
    const taper_op *op;
    const taper_gradient *gradient;
    taper_tape_edge *edges; // edges of the tensors among the arguments, in order; each item of a list has its own edge
    size_t edge_count;
    taper_val *args, *results; // saved values; None for a value that no formula reads
    size_t arg_count, ret_count;
    uint32_t *first_edges; // index of each argument's first edge; the last entry is the number of edges
    size_t output_count;   // number of results that are tensors, or of the items of a result that is a list
    taper_tape_place
        *outputs;     // if there are several outputs, their sizes and strides, for zeros that replace missing gradients
    taper_val *grads; // during a computation, the gradient of each output, or None; NULL before the first
                      // gradient
    // VIEW, SLICES: places of the view and of its base, the tensor of which it is a view. If `cuts` is set, base is the
    // place of argument 0. inner: for SLICES, the node of the write.
    taper_tape_place view, base;
    taper_tape_node *inner;
    taper_tensor *leaf; // LEAF: the tensor, a reference
};

struct taper_tape {
    taper_heap *heap;
    taper_tape_node *first;   // list of all nodes, the last one first; empty if `keeps` is set
    uint64_t numbers;         // largest number of a node of the tape so far
    bool keeps;               // true if nodes live as long as tensors refer to them; false if they end with the run
    bool off;                 // true after set_grad_enabled(False)
    bool rests;               // true if runs begin with `off` set
    bool records_steps;       // while an operator of a gradient runs: true if its steps are recorded (steps.h)
    taper_storage *element;   // storage of one element, for tensors of which only the shape is saved; NULL at first
    struct taper_mutex *lock; // held while gradients are computed, because threads may share nodes; NULL for one run
};

// Ends the recording of a run: empties all nodes, unless `keeps` is set. The tape can then be used for the next run.
void taper_tape_end(taper_tape *tape);

// Finds the node that computed a tensor. edge->node is NULL if the tensor needs no gradient; otherwise it is a
// reference.
TAPER_MUST_USE taper_status taper_tape_edge_of(taper_run *run, taper_tensor *tensor, taper_tape_edge *edge);
// Returns true if the tensor needs a gradient.
bool taper_tape_requires(const taper_tensor *tensor);
// Returns true if the tensor was computed from other tensors that need a gradient. A view that needs a gradient because
// of its base does not count as computed before an operator uses it, as in PyTorch.
bool taper_tape_is_computed(const taper_tensor *tensor);
// Makes a tensor over the same elements for use by formulas: it has no base, and its history leads to `edge`.
TAPER_MUST_USE taper_status taper_tape_shell(taper_run *run, const taper_tensor *tensor, const taper_tape_edge *edge,
                                             taper_tensor **shell);

// Creates the tape's storage of one element, if there is none yet.
TAPER_MUST_USE taper_status taper_tape_one_element(taper_run *run);

// Creates a node without content, which the tape lists. The caller owns the reference.
TAPER_MUST_USE taper_status taper_tape_node_new(taper_run *run, taper_tape_kind kind, size_t edges,
                                                taper_tape_node **node);
static inline void taper_tape_node_release(taper_tape_node *node)
{
    if (node != NULL) {
        taper_obj_release(&node->head.head);
    }
}
// Gives the node the next number of its tape, after its edges were set.
void taper_tape_node_count(taper_tape *tape, taper_tape_node *node);
void taper_tape_node_empty(taper_tape_node *node); // releases the saved values
taper_tape_place taper_tape_place_of(const taper_tensor *tensor);
// Returns true if elements at the place may share memory, as the elements of an expanded tensor do.
bool taper_tape_overlaps(const taper_tape_place *place);

// ---- recording (record.c)

// The facts about a call that are noted before it runs.
typedef struct taper_tape_call {
    taper_tape_node *node; // node for the call, or NULL if no argument needs a gradient
    bool later;            // true if the node is created after the call, because the results may have no gradients,
                           // such as the results of a comparison
    taper_tape_edge base;  // for an in-place write to a view, edge of the view's base
    uint32_t version;      // version of the storage of argument 0 before the call
} taper_tape_call;

// Notes the arguments of a call before the kernel runs. Fails if PyTorch forbids the call because of gradients.
TAPER_MUST_USE taper_status taper_tape_before(taper_call *call, taper_tape_call *noted);
// Gives the results of the call their histories. If status is not TAPER_OK, it only frees what was noted.
TAPER_MUST_USE taper_status taper_tape_after(taper_call *call, taper_tape_call *noted, taper_status status);

// Returns true if an argument of the call needs a gradient and the tape records.
bool taper_tape_records(const taper_call *call);
// Calls an operator by `kernel`, with user as its first argument, and records the call if an argument needs a gradient.
// A call that the table of derivatives composes of other operators does not use `kernel`.
typedef taper_status taper_tape_kernel(const void *user, taper_call *call);
TAPER_MUST_USE taper_status taper_tape_run(taper_call *call, taper_tape_kernel *kernel, const void *user);
// Returns true if the call is replaced by the composition that the table of derivatives gives for its operator.
bool taper_tape_composes(const taper_call *call);
// Computes the results of a call that taper_tape_composes accepts, and records the operators of the composition.
TAPER_MUST_USE taper_status taper_tape_compose(taper_call *call);

// ---- the tensors of a call (tape_views.c)

// Returns the number of edges of an argument: one for a tensor, and one for each item of a list with tensors.
size_t taper_tape_items(taper_val value);
// Returns a tensor, or an item of a list. Returns NULL if the value is not a tensor.
taper_tensor *taper_tape_item(taper_val value, size_t item);
// Returns true if the tensor is one of the arguments, or an item of an argument. The call then has not created it.
bool taper_tape_is_given(const taper_call *call, const taper_tensor *tensor);
// Returns true for an in-place operator, which writes argument 0.
bool taper_tape_writes(const taper_call *call);
// Fails if a write to the base of a view, or to the view itself (`direct`), is recorded and PyTorch forbids it for this
// view.
TAPER_MUST_USE taper_status taper_tape_check_view(const taper_run *run, const taper_tensor *view, bool direct);
// Fails if PyTorch forbids a recorded write to argument 0.
TAPER_MUST_USE taper_status taper_tape_check_writable(const taper_call *call, const taper_tensor *self);
// Fails if the call clears the flag requires_grad of a computed tensor.
TAPER_MUST_USE taper_status taper_tape_check_flag(const taper_call *call);
// Notes which new results are views of argument 0, so that a write to either of the two tensors reaches the history of
// the other one.
TAPER_MUST_USE taper_status taper_tape_note_views(const taper_call *call);
// Marks a result that is the data of a tensor (x.data): in PyTorch x.data has a version of its own, so that gradients
// do not notice writes to it. After a write to a marked tensor, restores the version of the storage.
TAPER_MUST_USE taper_status taper_tape_note_data(const taper_call *call, const taper_tape_call *noted);

// ---- gradients (backward.c)

typedef struct taper_tape_request {
    const taper_list *outputs, *inputs; // lists of tensors; inputs: NULL for all leaves (backward)
    const taper_list *grad_outputs;     // list of tensors and None, or NULL
    bool keep, create, allow_unused;
} taper_tape_request;

// Computes gradients. For aten::grad *found is a new list with a tensor or None for each input. If request->inputs is
// NULL, the gradients are added to the gradients of the leaves, and *found is None.
TAPER_MUST_USE taper_status taper_tape_gradients(taper_run *run, const taper_tape_request *request, taper_val *found);

// Calls an operator for a gradient, with its fast kernel if there is one. `user` points to a taper_tape_caller, which
// says if the call is recorded.
typedef struct taper_tape_caller {
    taper_run *run;
    bool records;
} taper_tape_caller;
// Fails if no gradient of the output is given and the output has more than one element.
TAPER_MUST_USE taper_status taper_tape_check_first(const taper_run *run, const taper_tensor *output, taper_val given);
// Finds the gradient of an output: the given tensor, whose sizes are checked, or ones.
TAPER_MUST_USE taper_status taper_tape_first(const taper_tape_caller *caller, taper_tensor *output, taper_val given,
                                             taper_val *grad);
TAPER_MUST_USE taper_status taper_tape_call_op(void *user, const taper_op *op, taper_val *args, size_t arg_count,
                                               taper_val *rets, size_t ret_count);

#endif
